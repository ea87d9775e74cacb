/* py_tracer.c: torch.fx's TracerBase for Python: how a recorded call becomes a node. Methods that a
 * class of the user's replaces are called through Python, all others directly. */
#include "front/python/fxgraph.h"

#include <string.h>

/* ---- which methods are ours
 * --------------------------------------------------------------------------------------- */

/* Does the tracer's class have the method as it is written here? */
static bool is_own(PyObject *tracer, PyObject *name) {
    return _PyType_Lookup(Py_TYPE(tracer), name) == _PyType_Lookup(&FxpyTracer_Type, name);
}

static int flag(PyObject *tracer, PyObject *name) {
    PyObject *v = PyObject_GetAttr(tracer, name);
    int yes = v ? PyObject_IsTrue(v) : -1;
    Py_XDECREF(v);
    return yes;
}

/* ---- arguments
 * -----------------------------------------------------------------------------------------------
 */

static PyObject *make_arg(PyObject *tracer, PyObject *a);

static PyObject *sub_arg(PyObject *tracer, bool own, PyObject *a) {
    return own ? make_arg(tracer, a) : PyObject_CallMethodOneArg(tracer, fxpy_str.create_arg, a);
}

static PyObject *tuple_arg(PyObject *tracer, bool own, PyObject *a) {
    Py_ssize_t n = PyTuple_GET_SIZE(a);
    PyObject *t = PyTuple_New(n);
    bool same = PyTuple_CheckExact(a);
    for (Py_ssize_t i = 0; t && i < n; i++) {
        PyObject *item = sub_arg(tracer, own, PyTuple_GET_ITEM(a, i));
        if (!item)
            Py_CLEAR(t);
        else
            PyTuple_SET_ITEM(t, i, item);
        same = same && item == PyTuple_GET_ITEM(a, i);
    }
    if (t && same)
        Py_SETREF(t, Py_NewRef(a));
    if (!t || PyTuple_CheckExact(a))
        return t;
    if (PyObject_HasAttr(a, fxpy_str._fields))
        Py_SETREF(t, PyObject_CallObject((PyObject *)Py_TYPE(a), t));
    else if (Py_TYPE(a) != fxpy_size_type) /* which holds numbers only */
        Py_SETREF(t, PyObject_CallOneArg((PyObject *)Py_TYPE(a), t));
    return t;
}

static PyObject *list_arg(PyObject *tracer, bool own, PyObject *a) {
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(a); i++) {
        PyObject *item = sub_arg(tracer, own, PyList_GET_ITEM(a, i));
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (list && !PyList_CheckExact(a))
        Py_SETREF(list, PyObject_CallOneArg((PyObject *)Py_TYPE(a), list));
    return list;
}

static PyObject *refuse_node(void *user, PyObject *leaf) {
    (void)user;
    if (!FXPY_IS_NODE(leaf))
        return Py_NewRef(leaf);
    PyErr_SetString(PyExc_RuntimeError, "Keys for dictionaries used as an argument cannot contain "
                                        "a Node. Got key: {k}");
    return NULL;
}

static PyObject *dict_arg(PyObject *tracer, bool own, PyObject *a) {
    PyObject *dict = PyDict_New(), *key, *value;
    Py_ssize_t at = 0;
    while (dict && PyDict_Next(a, &at, &key, &value)) {
        PyObject *k = PyUnicode_CheckExact(key) ? Py_NewRef(key) : sub_arg(tracer, own, key);
        if (k && !PyUnicode_CheckExact(k))
            Py_SETREF(k, fxpy_map(k, refuse_node, NULL));
        PyObject *v = k ? sub_arg(tracer, own, value) : NULL;
        if (!v || PyDict_SetItem(dict, k, v) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(k);
        Py_XDECREF(v);
    }
    return dict;
}

static PyObject *slice_arg(PyObject *tracer, bool own, PyObject *a) {
    PySliceObject *s = (PySliceObject *)a;
    PyObject *start = sub_arg(tracer, own, s->start);
    PyObject *stop = start ? sub_arg(tracer, own, s->stop) : NULL;
    PyObject *step = stop ? sub_arg(tracer, own, s->step) : NULL;
    PyObject *made = step ? PySlice_New(start, stop, step) : NULL;
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    return made;
}

/* What is not of an exact built-in type. */
static PyObject *other_arg(PyObject *tracer, bool own, PyObject *a) {
    PyObject *r = PyObject_CallMethodOneArg(tracer, fxpy_str._create_special, a);
    if (r != Py_NotImplemented)
        return r;
    Py_DECREF(r);
    if (_PyObject_LookupAttr(a, fxpy_str.__fx_create_arg__, &r) < 0)
        return NULL;
    if (r) {
        Py_SETREF(r, PyObject_CallOneArg(r, tracer));
        return r;
    }
    if (PyTuple_Check(a))
        return tuple_arg(tracer, own, a);
    if (PyList_Check(a))
        return list_arg(tracer, own, a);
    if (PyDict_Check(a))
        return dict_arg(tracer, own, a);
    PyObject *types = fxpy_registered("base_types");
    int base = !types ? -1 : FXPY_IS_NODE(a) ? 1 : PyObject_IsInstance(a, types);
    if (base == 0)
        PyErr_Format(PyExc_NotImplementedError, "argument of type: %R", Py_TYPE(a));
    return base > 0 ? Py_NewRef(a) : NULL;
}

static bool is_plain(PyObject *a) {
    PyTypeObject *t = Py_TYPE(a);
    return a == Py_None || a == Py_Ellipsis || t == &PyLong_Type || t == &PyUnicode_Type ||
           t == &PyFloat_Type || t == &PyBool_Type || t == &PyComplex_Type;
}

static PyObject *make_arg(PyObject *tracer, PyObject *a) {
    if (is_plain(a))
        return Py_NewRef(a);
    if (FXPY_IS_PROXY(a)) {
        PyObject *node = ((FxpyProxy *)a)->node;
        return node ? Py_NewRef(node) : PyObject_GetAttr(a, fxpy_str.node);
    }
    if (Py_EnterRecursiveCall(" in create_arg"))
        return NULL;
    bool own = is_own(tracer, fxpy_str.create_arg);
    PyObject *made = PyTuple_CheckExact(a)  ? tuple_arg(tracer, own, a)
                     : PyList_CheckExact(a) ? list_arg(tracer, own, a)
                     : PyDict_CheckExact(a) ? dict_arg(tracer, own, a)
                     : PySlice_Check(a)     ? slice_arg(tracer, own, a)
                                            : other_arg(tracer, own, a);
    Py_LeaveRecursiveCall();
    return made;
}

static PyObject *create_special(PyObject *self, PyObject *a) {
    (void)self;
    (void)a;
    Py_RETURN_NOTIMPLEMENTED;
}

/* ---- nodes
 * ---------------------------------------------------------------------------------------------------
 */

/* Frames of frozen Python (torch itself) are nobody's source. */
static bool is_frozen(PyCodeObject *code) {
    PyObject *f = code->co_filename;
    return PyUnicode_GET_LENGTH(f) > 7 && PyUnicode_READ_CHAR(f, 0) == '<' &&
           PyUnicode_READ_CHAR(f, 1) == 'f' && PyUnicode_READ_CHAR(f, 2) == 'x' &&
           PyUnicode_READ_CHAR(f, 3) == 's';
}

/* Keeps where the user's code is now; its line is counted when it is asked for. */
static void remember_place(FxpyNode *n) {
    PyFrameObject *f = PyEval_GetFrame();
    Py_XINCREF(f);
    while (f) {
        PyCodeObject *code = PyFrame_GetCode(f);
        if (!is_frozen(code)) {
            Py_XSETREF(n->code, (PyObject *)code);
#if PY_VERSION_HEX >= 0x030b0000
            n->lasti = PyFrame_GetLasti(f);
#else
            n->lasti = -PyFrame_GetLineNumber(f);
#endif
            Py_DECREF(f);
            return;
        }
        Py_DECREF(code);
        Py_SETREF(f, PyFrame_GetBack(f));
    }
}

static PyObject *make_node(FxpyTracerObject *t, PyObject *op, PyObject *target, PyObject *args,
                           PyObject *kwargs, PyObject *name, PyObject *type) {
    if (!t->graph || !FXPY_IS_GRAPH(t->graph)) {
        PyErr_SetString(PyExc_AttributeError, "the tracer has no graph yet: see Tracer.trace");
        return NULL;
    }
    if (!PyTuple_Check(args) || (kwargs && !PyDict_Check(kwargs))) {
        PyErr_SetString(PyExc_AssertionError,
                        PyTuple_Check(args) ? "kwargs must be a dict" : "args must be a tuple");
        return NULL;
    }
    if (kwargs && !PyDict_GET_SIZE(kwargs))
        kwargs = NULL;
    PyObject *n = fxpy_graph_create((FxpyGraph *)t->graph, op, target, args, kwargs, name, type);
    if (n) {
        remember_place((FxpyNode *)n);
        ((FxpyNode *)n)->scope = Py_XNewRef(t->scope);
    }
    return n;
}

static int check_mutation(PyObject *tracer, PyObject *op, PyObject *target, PyObject *args,
                          PyObject *kwargs) {
    int asked = op == fxpy_str.call_function ? flag(tracer, fxpy_str.check_mutable_operations) : 0;
    if (asked <= 0)
        return asked;
    PyObject *given[] = {target, args, kwargs ? kwargs : Py_None};
    PyObject *r = fxpy_call_registered("check_for_mutable_operation", given, 3);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static PyObject *none_to_null(PyObject *o) { return o == Py_None ? NULL : o; }

static PyObject *create_node(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"kind", "target", "args", "kwargs", "name", "type_expr", NULL};
    PyObject *op, *target, *a, *k, *name = NULL, *type = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO|OO:create_node", names, &op, &target, &a,
                                     &k, &name, &type) ||
        !(op = fxpy_node_op(op)) || check_mutation(self, op, target, a, k) < 0)
        return NULL;
    return make_node((FxpyTracerObject *)self, op, target, a, none_to_null(k), none_to_null(name),
                     type);
}

/* ---- proxies
 * -------------------------------------------------------------------------------------------------
 */

static PyObject *make_proxy(PyObject *tracer, PyObject *node) {
    FxpyProxy *p = (FxpyProxy *)fxpy_proxy_type->tp_alloc(fxpy_proxy_type, 0);
    if (p) {
        p->tracer = Py_NewRef(tracer);
        p->node = Py_NewRef(node);
    }
    return (PyObject *)p;
}

static PyObject *proxy(PyObject *self, PyObject *node) { return make_proxy(self, node); }

static PyObject *node_of(PyObject *tracer, PyObject *op, PyObject *target, PyObject *args,
                         PyObject *kwargs, PyObject *name, PyObject *type) {
    if (is_own(tracer, fxpy_str.create_node)) {
        if (!(op = fxpy_node_op(op)) || check_mutation(tracer, op, target, args, kwargs) < 0)
            return NULL;
        return make_node((FxpyTracerObject *)tracer, op, target, args, kwargs, name, type);
    }
    PyObject *none = kwargs ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *r =
        none ? PyObject_CallMethodObjArgs(tracer, fxpy_str.create_node, op, target, args, none,
                                          name ? name : Py_None, type ? type : Py_None, NULL)
             : NULL;
    Py_XDECREF(none);
    return r;
}

/* The stack as text, where the tracer was asked for it. */
static int record_stack(PyObject *tracer, PyObject *node) {
    int asked = flag(tracer, fxpy_str.record_stack_traces);
    if (asked <= 0)
        return asked;
    PyObject *r = fxpy_call_registered("record_stack_trace", &node, 1);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static PyObject *arg_of(PyObject *tracer, PyObject *a) {
    return sub_arg(tracer, is_own(tracer, fxpy_str.create_arg), a);
}

static PyObject *record(PyObject *tracer, PyObject *op, PyObject *target, PyObject *args,
                        PyObject *kwargs, PyObject *name, PyObject *type, PyObject *factory) {
    PyObject *a = arg_of(tracer, args), *k = NULL, *node = NULL, *made = NULL;
    if (a && kwargs && PyDict_Size(kwargs))
        k = arg_of(tracer, kwargs);
    if (a && !PyErr_Occurred())
        node = node_of(tracer, op, target, a, k, name, type);
    if (node && factory)
        made = PyObject_CallOneArg(factory, node);
    else if (node && is_own(tracer, fxpy_str.proxy))
        made = make_proxy(tracer, node);
    else if (node)
        made = PyObject_CallMethodOneArg(tracer, fxpy_str.proxy, node);
    if (made && record_stack(tracer, node) < 0)
        Py_CLEAR(made);
    Py_XDECREF(a);
    Py_XDECREF(k);
    Py_XDECREF(node);
    return made;
}

PyObject *fxpy_record(PyObject *tracer, PyObject *op, PyObject *target, PyObject *args,
                      PyObject *kwargs) {
    if (PyObject_TypeCheck(tracer, &FxpyTracer_Type) && is_own(tracer, fxpy_str.create_proxy))
        return record(tracer, op, target, args, kwargs, NULL, NULL, NULL);
    PyObject *none = kwargs ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *r = none ? PyObject_CallMethodObjArgs(tracer, fxpy_str.create_proxy, op, target, args,
                                                    none, NULL)
                       : NULL;
    Py_XDECREF(none);
    return r;
}

static PyObject *create_proxy(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"kind",      "target",           "args", "kwargs", "name",
                            "type_expr", "proxy_factory_fn", NULL};
    PyObject *op, *target, *a, *k, *name = NULL, *type = NULL, *factory = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO|OOO:create_proxy", names, &op, &target, &a,
                                     &k, &name, &type, &factory))
        return NULL;
    return record(self, op, target, a, none_to_null(k), none_to_null(name), type,
                  factory && factory != Py_None ? factory : NULL);
}

static PyObject *create_arg(PyObject *self, PyObject *a) { return make_arg(self, a); }

/* ---- the type
 * ------------------------------------------------------------------------------------------------
 */

static int tracer_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((FxpyTracerObject *)self)->graph);
    Py_VISIT(((FxpyTracerObject *)self)->scope);
    return 0;
}

static int tracer_clear(PyObject *self) {
    Py_CLEAR(((FxpyTracerObject *)self)->graph);
    Py_CLEAR(((FxpyTracerObject *)self)->scope);
    return 0;
}

static void tracer_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    tracer_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"create_node", (PyCFunction)(void (*)(void))create_node, METH_VARARGS | METH_KEYWORDS,
     "create_node(kind, target, args, kwargs, name=None, type_expr=None): puts a node into the "
     "graph."},
    {"create_proxy", (PyCFunction)(void (*)(void))create_proxy, METH_VARARGS | METH_KEYWORDS,
     "create_proxy(kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None): "
     "records a call, and gives the Proxy of its node."},
    {"create_arg", create_arg, METH_O, "create_arg(a): a as an argument of a node."},
    {"proxy", proxy, METH_O, "proxy(node): a Proxy of that node."},
    {"_create_special", create_special, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {{"graph", T_OBJECT_EX, offsetof(FxpyTracerObject, graph), 0, NULL},
                                {"_scope", T_OBJECT, offsetof(FxpyTracerObject, scope), 0, NULL},
                                {NULL, 0, 0, 0, NULL}};

PyTypeObject FxpyTracer_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.fx.proxy._TracerBase",
    .tp_basicsize = sizeof(FxpyTracerObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = tracer_dealloc,
    .tp_traverse = tracer_traverse,
    .tp_clear = tracer_clear,
    .tp_methods = methods,
    .tp_members = members,
};
