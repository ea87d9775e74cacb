/* py_record.c: calls of torch's functions and of Tensor's methods in which a proxy stands, towards
 * the tracer. How torch.fx sees a function is the core's decision (fxs_spell); here its arguments
 * go there and come back as the same objects. */
#include "front/python/fxgraph.h"

#include <string.h>

/* ---- arguments to values and back
 * ----------------------------------------------------------------------------------- */

static int put_object(fxs_arena *a, PyObject *o, fxs_value *out) {
    fxs_object *made = FXS_NEW(a, fxs_object);
    if (!made) {
        PyErr_NoMemory();
        return -1;
    }
    *made = (fxs_object){.type = &fxpy_object_type, .data = o};
    *out = (fxs_value){.tag = FXS_V_OBJECT, .u.object = made};
    return 0;
}

/* Only what a spelling may depend on is shown: None, bools, and the containers of arguments. */
static int put(fxs_arena *a, PyObject *o, int depth, fxs_value *out) {
    bool tuple = PyTuple_CheckExact(o);
    *out = fxs_none();
    if (o == Py_None)
        return 0;
    if (PyBool_Check(o)) {
        *out = fxs_bool(o == Py_True);
        return 0;
    }
    if (depth <= 0 || (!tuple && !PyList_CheckExact(o)))
        return put_object(a, o, out);
    size_t n = (size_t)PySequence_Fast_GET_SIZE(o);
    if (fxs_make_seq(fxpy_ctx(), a, tuple ? FXS_V_TUPLE : FXS_V_LIST, n, out) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (put(a, PySequence_Fast_ITEMS(o)[i], depth - 1, &out->u.seq->items[i]) < 0)
            return -1;
    return 0;
}

static int put_kwargs(fxs_arena *a, PyObject *kwargs, fxs_value *out) {
    PyObject *key, *value;
    Py_ssize_t at = 0, len;
    size_t n = kwargs ? (size_t)PyDict_GET_SIZE(kwargs) : 0;
    if (fxs_make_dict(fxpy_ctx(), a, n, out) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    for (size_t i = 0; n && PyDict_Next(kwargs, &at, &key, &value); i++) {
        const char *text = PyUnicode_AsUTF8AndSize(key, &len);
        fxs_pair *p = &out->u.dict->pairs[i];
        if (!text || put(a, value, 1, &p->value) < 0)
            return -1;
        if (fxs_make_text(fxpy_ctx(), a, FXS_V_STR, text, (size_t)len, &p->key) != FXS_OK) {
            fxpy_raise();
            return -1;
        }
    }
    return 0;
}

static PyObject *back(const fxs_value *v) {
    bool tuple = v->tag == FXS_V_TUPLE;
    if (v->tag == FXS_V_OBJECT && v->u.object->type == &fxpy_object_type)
        return Py_NewRef((PyObject *)v->u.object->data);
    if (!tuple && v->tag != FXS_V_LIST)
        return fxpy_value_to_py(v);
    Py_ssize_t n = (Py_ssize_t)fxs_value_len(v);
    PyObject *made = tuple ? PyTuple_New(n) : PyList_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) {
        PyObject *item = back(fxs_value_item(v, (size_t)i));
        if (!item)
            Py_CLEAR(made);
        else if (tuple)
            PyTuple_SET_ITEM(made, i, item);
        else
            PyList_SET_ITEM(made, i, item);
    }
    return made;
}

static PyObject *back_kwargs(const fxs_value *v) {
    PyObject *made = PyDict_New();
    for (size_t i = 0; made && i < fxs_value_len(v); i++) {
        PyObject *item = back(fxs_value_item(v, i));
        if (!item || PyDict_SetItemString(made, fxs_value_text(fxs_value_key(v, i)), item) < 0)
            Py_CLEAR(made);
        Py_XDECREF(item);
    }
    return made;
}

/* ---- one tracer
 * --------------------------------------------------------------------------------------------- */

static int note_tracer(PyObject *tracers, PyObject *o, int depth) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (FXPY_IS_PROXY(o))
        return PyDict_SetItem(tracers, ((FxpyProxy *)o)->tracer, Py_None);
    if (depth > 0 && (PyTuple_Check(o) || PyList_Check(o)))
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++)
            if (note_tracer(tracers, PySequence_Fast_ITEMS(o)[i], depth - 1) < 0)
                return -1;
    if (depth > 0 && PyDict_Check(o))
        while (PyDict_Next(o, &at, &key, &value))
            if (note_tracer(tracers, value, depth - 1) < 0)
                return -1;
    return 0;
}

static bool is_of(PyObject *o, PyObject *tracer) {
    return !FXPY_IS_PROXY(o) || ((FxpyProxy *)o)->tracer == tracer;
}

/* Proxies of two traces in one call can't be recorded. */
static int check_tracers(PyObject *tracer, PyObject *func, PyObject *args, PyObject *kwargs) {
    bool one = !kwargs || PyDict_GET_SIZE(kwargs) == 0;
    for (Py_ssize_t i = 0; one && i < PyTuple_GET_SIZE(args); i++) {
        PyObject *o = PyTuple_GET_ITEM(args, i);
        one = is_of(o, tracer) && !PyTuple_Check(o) && !PyList_Check(o) && !PyDict_Check(o);
    }
    if (one)
        return 0;
    PyObject *tracers = PyDict_New();
    int bad = !tracers || note_tracer(tracers, args, 4) < 0 ||
              (kwargs && note_tracer(tracers, kwargs, 4) < 0);
    if (!bad && PyDict_GET_SIZE(tracers) > 1) {
        PyObject *list = PyDict_Keys(tracers);
        PyErr_Format(PyExc_RuntimeError,
                     "Found multiple different tracers %R while trying to trace operations %R",
                     list, func);
        Py_XDECREF(list);
        bad = 1;
    }
    Py_XDECREF(tracers);
    return bad ? -1 : 0;
}

/* ---- calls
 * -------------------------------------------------------------------------------------------------
 */

static bool is_python(const char *path) {
    return strncmp(path, "torch.nn.functional.", 20) == 0 ||
           strncmp(path, "torch.functional.", 17) == 0;
}

/* F.sigmoid, F.tanh: torch says so at each call. */
static int warn_deprecated(const char *name) {
    return PyErr_WarnFormat(PyExc_UserWarning, 1,
                            "nn.functional.%s is deprecated. Use torch.%s instead.", name, name);
}

static PyObject *record_as(PyObject *tracer, PyObject *func, const fxs_spelled *as) {
    if (as->method && warn_deprecated(as->target) < 0)
        return NULL;
    PyObject *target = as->method ? PyUnicode_FromString(as->target)
                       : strcmp(as->target, fxpy_function_path(func)) == 0
                           ? Py_NewRef(func)
                           : fxpy_function_exact(as->target);
    PyObject *args = target ? back(&as->args) : NULL, *kwargs = NULL, *out = NULL;
    if (args)
        kwargs = back_kwargs(&as->kwargs);
    if (kwargs)
        out = fxpy_record(tracer, as->method ? fxpy_str.call_method : fxpy_str.call_function,
                          target, args, kwargs);
    if (!target && !PyErr_Occurred())
        PyErr_Format(PyExc_NotImplementedError, "%s is not known", as->target);
    Py_XDECREF(target);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return out;
}

/* Functions that are written in Python show themselves in another form than they were called in. */
static PyObject *record_python(PyObject *tracer, PyObject *func, PyObject *args, PyObject *kwargs) {
    fxs_arena a = {0};
    fxs_value av, kv;
    fxs_spelled as;
    PyObject *out = NULL;
    if (put(&a, args, 2, &av) == 0 && put_kwargs(&a, kwargs, &kv) == 0) {
        if (fxs_spell(fxpy_ctx(), &a, fxpy_function_path(func), &av, &kv, &as) == FXS_OK)
            out = record_as(tracer, func, &as);
        else
            fxpy_raise();
    }
    fxs_arena_clear(&a);
    return out;
}

/* In strict mode: what torch's own argument parser would say. */
static int check_strict(PyObject *func, PyObject *args, PyObject *kwargs) {
    if (!fxpy_strict)
        return 0;
    PyObject *given[] = {func, args, kwargs ? kwargs : Py_None};
    PyObject *r = fxpy_call_registered("check_strict", given, 3);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

PyObject *fxpy_record_function(PyObject *tracer, PyObject *func, PyObject *args, PyObject *kwargs) {
    if (check_tracers(tracer, func, args, kwargs) < 0)
        return NULL;
    if (is_python(fxpy_function_path(func)))
        return record_python(tracer, func, args, kwargs);
    if (check_strict(func, args, kwargs) < 0)
        return NULL;
    return fxpy_record(tracer, fxpy_str.call_function, func, args, kwargs);
}

PyObject *fxpy_record_method(PyObject *tracer, const char *name, PyObject *args, PyObject *kwargs) {
    PyObject *target = PyUnicode_InternFromString(name), *out = NULL;
    if (target && check_strict(target, args, kwargs) == 0)
        out = fxpy_record(tracer, fxpy_str.call_method, target, args, kwargs);
    Py_XDECREF(target);
    return out;
}

/* ---- strictness
 * -----------------------------------------------------------------------------------------------
 */

bool fxpy_strict;

static PyObject *get_strict(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    return PyBool_FromLong(fxpy_strict);
}

static PyObject *set_strict(PyObject *self, PyObject *yes) {
    (void)self;
    bool before = fxpy_strict;
    fxpy_strict = PyObject_IsTrue(yes) == 1;
    return PyBool_FromLong(before);
}

static PyMethodDef functions[] = {
    {"strict", get_strict, METH_NOARGS, "Whether what torch.fx 1.13 refuses is refused."},
    {"set_strict", set_strict, METH_O, "set_strict(yes): gives what it was before."},
    {NULL, NULL, 0, NULL}};

int fxpy_record_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
