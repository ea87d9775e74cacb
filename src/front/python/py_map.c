/* py_map.c: torch.fx's map_aggregate over Python values, and the table through which frozen Python
 * gives its classes to C. Called for the arguments of every node; knows no graph. */
#include "front/python/fxgraph.h"

static PyObject *registered; /* name -> object */

PyObject *fxpy_registered(const char *name) {
    PyObject *o = registered ? PyDict_GetItemString(registered, name) : NULL;
    if (!o && !PyErr_Occurred())
        PyErr_Format(PyExc_SystemError, "torch.fx has not registered %s yet", name);
    return o;
}

PyObject *fxpy_call_registered(const char *name, PyObject *const *args, size_t n) {
    PyObject *f = fxpy_registered(name);
    return f ? PyObject_Vectorcall(f, args, n, NULL) : NULL;
}

/* fx_register(name=object, ...) */
static PyObject *fx_register(PyObject *self, PyObject *args, PyObject *kwargs) {
    (void)self;
    (void)args;
    if (!registered && !(registered = PyDict_New()))
        return NULL;
    if (kwargs && PyDict_Update(registered, kwargs) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *map_tuple(PyObject *a, fxpy_leaf_fn *fn, void *user) {
    Py_ssize_t n = PyTuple_GET_SIZE(a);
    PyObject *t = PyTuple_New(n);
    bool same = PyTuple_CheckExact(a);
    for (Py_ssize_t i = 0; t && i < n; i++) {
        PyObject *item = fxpy_map(PyTuple_GET_ITEM(a, i), fn, user);
        if (!item)
            Py_CLEAR(t);
        else
            PyTuple_SET_ITEM(t, i, item);
        same = same && item == PyTuple_GET_ITEM(a, i);
    }
    if (!t || PyTuple_CheckExact(a)) {
        if (t && same)
            Py_SETREF(t, Py_NewRef(a));
        return t;
    }
    if (!PyObject_HasAttr(a, fxpy_str._fields))
        return t;
    Py_SETREF(t, PyObject_CallObject((PyObject *)Py_TYPE(a), t));
    return t;
}

static PyObject *map_list(PyObject *a, fxpy_leaf_fn *fn, void *user) {
    PyObject *cls = fxpy_registered("immutable_list"), *made = NULL;
    PyObject *list = cls ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(a); i++) {
        PyObject *item = fxpy_map(PyList_GET_ITEM(a, i), fn, user);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (list)
        made = PyObject_CallOneArg(cls, list);
    Py_XDECREF(list);
    return made;
}

static PyObject *map_dict(PyObject *a, fxpy_leaf_fn *fn, void *user) {
    PyObject *cls = fxpy_registered("immutable_dict"), *key, *value;
    PyObject *dict = cls ? PyObject_CallNoArgs(cls) : NULL;
    Py_ssize_t at = 0;
    while (dict && PyDict_Next(a, &at, &key, &value)) {
        PyObject *item = fxpy_map(value, fn, user);
        if (!item || PyDict_SetItem(dict, key, item) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(item);
    }
    return dict;
}

static PyObject *map_slice(PyObject *a, fxpy_leaf_fn *fn, void *user) {
    PySliceObject *s = (PySliceObject *)a;
    PyObject *start = fxpy_map(s->start, fn, user);
    PyObject *stop = start ? fxpy_map(s->stop, fn, user) : NULL;
    PyObject *step = stop ? fxpy_map(s->step, fn, user) : NULL;
    PyObject *made = step ? PySlice_New(start, stop, step) : NULL;
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    return made;
}

static PyObject *map_container(PyObject *a, fxpy_leaf_fn *fn, void *user) {
    if (PyTuple_Check(a))
        return map_tuple(a, fn, user);
    if (PyList_Check(a))
        return map_list(a, fn, user);
    return PyDict_Check(a) ? map_dict(a, fn, user) : map_slice(a, fn, user);
}

PyObject *fxpy_map(PyObject *a, fxpy_leaf_fn *fn, void *user) {
    if (!PyTuple_Check(a) && !PyList_Check(a) && !PyDict_Check(a) && !PySlice_Check(a))
        return fn(user, a);
    if (Py_EnterRecursiveCall(" in torch.fx.node.map_aggregate"))
        return NULL;
    PyObject *made = map_container(a, fn, user);
    Py_LeaveRecursiveCall();
    return made;
}

static PyObject *call_leaf(void *user, PyObject *leaf) { return PyObject_CallOneArg(user, leaf); }

static PyObject *call_node(void *user, PyObject *leaf) {
    return FXPY_IS_NODE(leaf) ? PyObject_CallOneArg(user, leaf) : Py_NewRef(leaf);
}

static PyObject *map_aggregate(PyObject *self, PyObject *args) {
    PyObject *a, *fn;
    (void)self;
    return PyArg_ParseTuple(args, "OO:map_aggregate", &a, &fn) ? fxpy_map(a, call_leaf, fn) : NULL;
}

static PyObject *map_arg(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"a", "fn", NULL};
    PyObject *a, *fn;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:map_arg", names, &a, &fn))
        return NULL;
    if (!PyCallable_Check(fn)) {
        PyErr_SetString(PyExc_AssertionError, "torch.fx.map_arg(a, fn): fn must be a callable");
        return NULL;
    }
    return fxpy_map(a, call_node, fn);
}

static PyMethodDef functions[] = {
    {"map_aggregate", map_aggregate, METH_VARARGS,
     "map_aggregate(a, fn): a with fn(leaf) in the place of each leaf."},
    {"map_arg", (PyCFunction)(void (*)(void))map_arg, METH_VARARGS | METH_KEYWORDS,
     "map_arg(a, fn): a with fn(node) in the place of each Node."},
    {"fx_register", (PyCFunction)(void (*)(void))fx_register, METH_VARARGS | METH_KEYWORDS,
     "fx_register(name=object, ...): what frozen torch.fx gives to C."},
    {"_format_arg", (PyCFunction)(void (*)(void))fxpy_format_arg, METH_VARARGS | METH_KEYWORDS,
     "_format_arg(arg, max_list_len=inf): an argument as format_node prints it."},
    {"_snake_case", fxpy_snake_case, METH_O, "_snake_case(s): as a node's name has it."},
    {NULL, NULL, 0, NULL}};

FxpyStrings fxpy_str;

static int intern_names(void) {
#define X(name)                                                                                    \
    if (!(fxpy_str.name = PyUnicode_InternFromString(#name)))                                      \
        return -1;
    FXPY_NAMES(X)
#undef X
    return 0;
}

int fxpy_init_graph(PyObject *module) {
    static const struct {
        PyTypeObject *type;
        const char *name;
    } types[] = {
        {&FxpyNames_Type, "_Namespace"},
        {&FxpyNode_Type, "_NodeBase"},
        {&FxpyGraph_Type, "_GraphBase"},
        {&FxpyTracer_Type, "_TracerBase"},
    };
    if (intern_names() < 0 || PyModule_AddFunctions(module, functions) < 0)
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (PyType_Ready(types[i].type) < 0 ||
            fxpy_add_type(module, types[i].name, types[i].type) < 0)
            return -1;
    return fxpy_proxy_init(module) < 0 || fxpy_record_init(module) < 0 ||
                   fxpy_schema_init(module) < 0
               ? -1
               : fxpy_lower_init(module);
}
