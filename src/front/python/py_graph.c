/* py_graph.c: torch.fx's Graph for Python: the ring of nodes and where new ones go. The class
 * torch.fx.graph.Graph derives from it and adds what is written in Python. */
#include "front/python/fxgraph.h"

static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    FxpyGraph *g = (FxpyGraph *)type->tp_alloc(type, 0);
    (void)args;
    (void)kwargs;
    if (!g)
        return NULL;
    PyObject *empty = PyUnicode_FromString(""), *none = PyTuple_New(0);
    g->names = PyObject_CallNoArgs((PyObject *)&FxpyNames_Type);
    if (empty && none && g->names)
        g->root = fxpy_node_new((PyObject *)g, empty, fxpy_str.root, empty, none, NULL, NULL);
    Py_XDECREF(empty);
    Py_XDECREF(none);
    if (!g->root)
        Py_CLEAR(g);
    else
        g->insert_at = (FxpyNode *)Py_NewRef(g->root);
    return (PyObject *)g;
}

static int graph_traverse(PyObject *self, visitproc visit, void *arg) {
    FxpyGraph *g = (FxpyGraph *)self;
    Py_VISIT(g->names);
    Py_VISIT(g->root);
    Py_VISIT(g->insert_at);
    return 0;
}

static int graph_clear(PyObject *self) {
    FxpyGraph *g = (FxpyGraph *)self;
    Py_CLEAR(g->names);
    Py_CLEAR(g->root);
    Py_CLEAR(g->insert_at);
    return 0;
}

static void graph_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    graph_clear(self);
    Py_TYPE(self)->tp_free(self);
}

PyObject *fxpy_graph_create(FxpyGraph *g, PyObject *op, PyObject *target, PyObject *args,
                            PyObject *kwargs, PyObject *name, PyObject *type) {
    PyObject *candidate = name ? Py_NewRef(name) : fxpy_target_name(target);
    PyObject *unique = candidate ? fxpy_names_create(g->names, candidate, NULL) : NULL;
    FxpyNode *n = NULL;
    if (unique)
        n = fxpy_node_new((PyObject *)g, unique, op, target, args, kwargs, type);
    Py_XDECREF(candidate);
    Py_XDECREF(unique);
    if (!n)
        return NULL;
    fxpy_node_link(g->insert_after ? g->insert_at->next : g->insert_at, n);
    g->len++;
    return (PyObject *)n;
}

static int check_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    const char *wrong = args && !PyTuple_Check(args)      ? "args must be a tuple"
                        : kwargs && !PyDict_Check(kwargs) ? "kwargs must be a dict"
                                                          : NULL;
    PyObject *known = fxpy_node_op(op);
    if (!known)
        return -1;
    if (known == fxpy_str.root)
        PyErr_SetNone(PyExc_AssertionError);
    else if (wrong)
        PyErr_SetString(PyExc_AssertionError, wrong);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *given(PyObject *o) { return o == Py_None ? NULL : o; }

/* create_node(op, target, args=None, kwargs=None, name=None, type_expr=None) */
static PyObject *create_node(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"op", "target", "args", "kwargs", "name", "type_expr", NULL};
    PyObject *op, *target, *a = NULL, *k = NULL, *name = NULL, *type = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOOO:create_node", names, &op, &target, &a,
                                     &k, &name, &type))
        return NULL;
    a = given(a);
    k = given(k);
    name = given(name);
    if (check_call(op, a, k) < 0)
        return NULL;
    if (name && !PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "a node's name is a str, not %s",
                            Py_TYPE(name)->tp_name);
    PyObject *none = a ? Py_NewRef(a) : PyTuple_New(0);
    if (!none)
        return NULL;
    PyObject *n = fxpy_graph_create((FxpyGraph *)self, op, target, none,
                                    k && PyDict_GET_SIZE(k) ? k : NULL, name, type);
    Py_DECREF(none);
    return n;
}

static PyObject *target_to_str(PyObject *self, PyObject *target) {
    (void)self;
    return fxpy_target_name(target);
}

/* _set_insert(node, after): where new nodes go; gives what it was. */
static PyObject *set_insert(PyObject *self, PyObject *args) {
    FxpyGraph *g = (FxpyGraph *)self;
    PyObject *node;
    int after;
    if (!PyArg_ParseTuple(args, "O!p:_set_insert", &FxpyNode_Type, &node, &after))
        return NULL;
    PyObject *before = Py_BuildValue("(OO)", g->insert_at, g->insert_after ? Py_True : Py_False);
    if (!before)
        return NULL;
    Py_XSETREF(g->insert_at, (FxpyNode *)Py_NewRef(node));
    g->insert_after = after;
    return before;
}

static PyMethodDef methods[] = {
    {"create_node", (PyCFunction)(void (*)(void))create_node, METH_VARARGS | METH_KEYWORDS,
     "create_node(op, target, args=None, kwargs=None, name=None, type_expr=None): a new node at "
     "the insert point."},
    {"_target_to_str", target_to_str, METH_O, NULL},
    {"_set_insert", set_insert, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {{"_root", T_OBJECT, offsetof(FxpyGraph, root), READONLY, NULL},
                                {"_graph_namespace", T_OBJECT, offsetof(FxpyGraph, names), 0, NULL},
                                {"_len", T_PYSSIZET, offsetof(FxpyGraph, len), 0, NULL},
                                {NULL, 0, 0, 0, NULL}};

PyTypeObject FxpyGraph_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.fx.graph._GraphBase",
    .tp_basicsize = sizeof(FxpyGraph),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = graph_new,
    .tp_dealloc = graph_dealloc,
    .tp_traverse = graph_traverse,
    .tp_clear = graph_clear,
    .tp_methods = methods,
    .tp_members = members,
};
