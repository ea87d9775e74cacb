/* host.c: what a run of the core asks of Python: functions of the user's program that torch.fx.wrap
 * was told of, classes of named tuples, methods of objects that are none of ours. They are called
 * with the values that the run has, as torch's own tensors. */
#include "front/python/host.h"

#include "front/python/place.h"
#include "front/python/tensor.h"

void (*fxpy_host_enter)(void), (*fxpy_host_leave)(void);

/* ---- functions by their names ---- */

static PyObject *root;    /* the GraphModule whose graph the core runs */
static PyObject *targets; /* name -> callable; None: several have that name */

void fxpy_host_root(PyObject *module) { Py_XSETREF(root, Py_XNewRef(module)); }

int fxpy_host_put(const char *name, PyObject *callable) {
    const fxs_candidate *ops;
    if (fxs_registry_find(fxpy_ctx(), name, &ops) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    if (!targets && !(targets = PyDict_New()))
        return -1;
    PyObject *known = PyDict_GetItemString(targets, name);
    return PyDict_SetItemString(targets, name, known && known != callable ? Py_None : callable);
}

/* ---- named tuples and dataclasses ---- */

/* As long as the process: values that travel refer to it. */
typedef struct fields {
    struct fields *next;
    PyObject *type;
    const char *name;
    const char *names[];
} fields;

static fields *known_fields;
static fxs_arena texts;

static const char *text(const char *s) { return s ? fxs_arena_dup(&texts, s, strlen(s)) : NULL; }

/* "module.Class", as torch.fx prints it. */
static const char *name_of(PyObject *type) {
    PyObject *module = PyObject_GetAttrString(type, "__module__");
    PyObject *name = PyObject_GetAttrString(type, "__name__");
    PyObject *path = module && name ? PyUnicode_FromFormat("%S.%S", module, name) : NULL;
    const char *s = path ? text(PyUnicode_AsUTF8(path)) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(name);
    Py_XDECREF(path);
    PyErr_Clear();
    return s ? s : "tuple";
}

/* names: a sequence of str */
static const fields *fields_of(PyObject *type, PyObject *names) {
    for (const fields *f = known_fields; f; f = f->next)
        if (f->type == type)
            return f;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(names);
    fields *f = fxs_arena_alloc(&texts, 1, sizeof *f + ((size_t)n + 1) * sizeof *f->names);
    if (!f) {
        PyErr_NoMemory();
        return NULL;
    }
    *f = (fields){.next = known_fields, .type = Py_NewRef(type), .name = name_of(type)};
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *s = PyUnicode_AsUTF8(PySequence_Fast_ITEMS(names)[i]);
        f->names[i] = s ? text(s) : "";
        PyErr_Clear();
    }
    f->names[n] = NULL;
    return known_fields = f;
}

/* _make gets round constructors that want something else. */
PyObject *fxpy_host_named(const char *const *names, PyObject *items) {
    const fields *f = known_fields;
    while (f && f->names != names)
        f = f->next;
    if (!f)
        return Py_NewRef(items);
    if (PyObject_HasAttrString(f->type, "_make"))
        return PyObject_CallMethod(f->type, "_make", "(O)", items);
    PyObject *kwargs = PyDict_New(), *none = PyTuple_New(0), *out = NULL;
    int bad = !kwargs || !none;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(items) && names[i]; i++)
        bad = PyDict_SetItemString(kwargs, names[i], PyTuple_GET_ITEM(items, i)) < 0;
    if (!bad)
        out = PyObject_Call(f->type, none, kwargs);
    Py_XDECREF(kwargs);
    Py_XDECREF(none);
    return out;
}

/* The names of a dataclass's fields as a list; NULL without an exception: it is none. */
static PyObject *dataclass_names(PyObject *o) {
    PyObject *all = PyType_Check(o) ? NULL : PyObject_GetAttrString(o, "__dataclass_fields__");
    PyErr_Clear();
    PyObject *names = all && PyDict_Check(all) ? PyDict_Keys(all) : NULL;
    Py_XDECREF(all);
    return names;
}

static int value_of(PyObject *o, fxs_value *out);

/* A tuple of what each name gives: structure that can be drawn. */
static int value_of_fields(PyObject *o, PyObject *names, fxs_value *out) {
    PyObject *fast = PySequence_Fast(names, "the names of fields must be a sequence");
    const fields *f = fast ? fields_of((PyObject *)Py_TYPE(o), fast) : NULL;
    size_t n = f ? (size_t)PySequence_Fast_GET_SIZE(fast) : 0;
    int bad = !f || fxs_make_seq(fxpy_ctx(), NULL, FXS_V_TUPLE, n, out) != FXS_OK ? -1 : 0;
    if (!bad) {
        out->u.seq->kind = FXS_TUPLE_NAMED;
        out->u.seq->type_name = f->name;
        out->u.seq->fields = f->names;
    }
    for (size_t i = 0; !bad && i < n; i++) {
        PyObject *item = PyObject_GetAttr(o, PySequence_Fast_ITEMS(fast)[i]);
        bad = item ? value_of(item, &out->u.seq->items[i]) : -1;
        Py_XDECREF(item);
        if (bad)
            fxs_value_unref(out);
    }
    Py_XDECREF(fast);
    return bad;
}

static int value_of_sequence(PyObject *o, fxs_tag tag, fxs_value *out) {
    size_t n = (size_t)PySequence_Fast_GET_SIZE(o);
    if (fxs_make_seq(fxpy_ctx(), NULL, tag, n, out) != FXS_OK)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (value_of(PySequence_Fast_ITEMS(o)[i], &out->u.seq->items[i]) < 0) {
            fxs_value_unref(out);
            return -1;
        }
    }
    return 0;
}

/* A result as a counted value. */
static int value_of(PyObject *o, fxs_value *out) {
    int bad;
    *out = fxs_none();
    if (Py_EnterRecursiveCall(" in a result"))
        return -1;
    PyObject *names = PyTuple_Check(o) && Py_TYPE(o) != fxpy_size_type && !PyTuple_CheckExact(o)
                          ? PyObject_GetAttrString(o, "_fields")
                      : PyDict_Check(o) || PyList_Check(o) ? NULL
                                                           : dataclass_names(o);
    PyErr_Clear();
    if (names)
        bad = value_of_fields(o, names, out);
    else if (PyTuple_CheckExact(o) || PyList_CheckExact(o))
        bad = value_of_sequence(o, PyTuple_CheckExact(o) ? FXS_V_TUPLE : FXS_V_LIST, out);
    else
        bad = fxpy_value_from_py(o, NULL, out);
    Py_XDECREF(names);
    Py_LeaveRecursiveCall();
    return bad;
}

/* ---- calls ---- */

static PyObject *as_tuple(const fxs_value *args) {
    Py_ssize_t n = (Py_ssize_t)fxs_value_len(args);
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++) {
        PyObject *item = fxpy_value_to_py(fxs_value_item(args, (size_t)i));
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* "model.py:12: TypeError: text" of the exception that is set, which is cleared. */
static fxs_status fail(const char *target, bool meta) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *said = value ? PyObject_Str(value) : NULL;
    PyErr_Clear();
    const char *what = said ? PyUnicode_AsUTF8(said) : NULL, *name = "exception", *dot;
    if (what && !*what)
        what = NULL;
    if (type && (dot = strrchr(name = ((PyTypeObject *)type)->tp_name, '.')))
        name = dot + 1;
    fxpy_place p = fxpy_place_of_traceback(traceback);
    const char *file = p.file ? PyUnicode_AsUTF8(p.file) : NULL;
    bool absent = strcmp(name, "Unsupported") == 0 || strcmp(name, "MissingPackage") == 0 ||
                  (!meta && type && PyErr_GivenExceptionMatches(type, PyExc_NotImplementedError));
    fxs_status s = meta || absent ? FXS_EUNKNOWN : FXS_EINVAL;
    PyErr_Clear();
    const char *hint = meta && !absent ? " (without --meta it would have values)" : "";
    if (file)
        fxs_fail(fxpy_ctx(), s, "%s:%ld: %s: %s%s", file, p.line, name,
                 what ? what : "it does not say why", hint);
    else
        fxs_fail(fxpy_ctx(), s, "%s: %s: %s%s", target, name, what ? what : "it does not say why",
                 hint);
    fxpy_place_clear(&p);
    Py_XDECREF(said);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return s;
}

/* function(*args, **kwargs); takes all three over. */
static fxs_status call(const char *target, PyObject *function, PyObject *args, PyObject *kwargs,
                       bool meta, fxs_value *result) {
    PyObject *out = NULL;
    PyObject *before = fxpy_set_meta_mode(NULL, meta ? Py_True : Py_False);
    if (fxpy_host_enter)
        fxpy_host_enter();
    if (function && args && kwargs)
        out = PyObject_Call(function, args, kwargs);
    fxs_status s = out && value_of(out, result) == 0 ? FXS_OK : FXS_EINVAL;
    if (s != FXS_OK && !PyErr_Occurred())
        fxpy_raise();
    if (s != FXS_OK)
        s = fail(target, meta);
    if (fxpy_host_leave)
        fxpy_host_leave();
    Py_XDECREF(before ? fxpy_set_meta_mode(NULL, before) : NULL);
    Py_XDECREF(before);
    Py_XDECREF(out);
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return s;
}

static PyObject *as_dict(const fxs_value *kwargs) {
    return fxs_value_len(kwargs) ? fxpy_value_to_py(kwargs) : PyDict_New();
}

static fxs_status call_function(void *user, const char *target, const fxs_value *args,
                                const fxs_value *kwargs, bool meta, fxs_value *result) {
    PyObject *function = targets ? PyDict_GetItemString(targets, target) : NULL;
    (void)user;
    if (!function || function == Py_None)
        return fxs_fail(
            fxpy_ctx(), FXS_EUNKNOWN,
            function ? "there are several functions %s" : "there is no operator %s here", target);
    return call(target, Py_NewRef(function), as_tuple(args), as_dict(kwargs), meta, result);
}

static fxs_status call_method(void *user, const char *name, const fxs_value *args,
                              const fxs_value *kwargs, bool meta, fxs_value *result) {
    PyObject *all = as_tuple(args), *method = NULL, *rest = NULL;
    (void)user;
    if (all && PyTuple_GET_SIZE(all)) {
        method = PyObject_GetAttrString(PyTuple_GET_ITEM(all, 0), name);
        if (!method && PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            Py_DECREF(all);
            return fxs_fail(fxpy_ctx(), FXS_EUNKNOWN, "there is no method %s.%s here",
                            fxs_value_type_name(fxs_value_item(args, 0)), name);
        }
        rest = PyTuple_GetSlice(all, 1, PyTuple_GET_SIZE(all));
    }
    Py_XDECREF(all);
    return call(name, method, rest, as_dict(kwargs), meta, result);
}

static fxs_status call_module(void *user, const char *path, const fxs_value *args,
                              const fxs_value *kwargs, bool meta, fxs_value *result) {
    (void)user;
    if (!root)
        return fxs_fail(fxpy_ctx(), FXS_EUNKNOWN, "there is no module %s here", path);
    PyObject *module = PyObject_CallMethod(root, "get_submodule", "s", path);
    return call(path, module, as_tuple(args), as_dict(kwargs), meta, result);
}

const fxs_host fxpy_host = {
    .call_function = call_function, .call_method = call_method, .call_module = call_module};
