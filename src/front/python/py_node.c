/* py_node.c: torch.fx's Node for Python: its arguments, users and place in the list. The class
 * torch.fx.node.Node derives from it and adds what is written in Python. */
#include "front/python/fxgraph.h"

/* ---- construction
 * ----------------------------------------------------------------------------------------- */

PyObject *fxpy_node_op(PyObject *op) {
    PyObject *const ops[] = {fxpy_str.call_function, fxpy_str.call_method, fxpy_str.call_module,
                             fxpy_str.placeholder,   fxpy_str.get_attr,    fxpy_str.output,
                             fxpy_str.root};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i] || (PyUnicode_Check(op) && PyUnicode_Compare(op, ops[i]) == 0))
            return ops[i];
    if (!PyErr_Occurred())
        PyErr_SetNone(PyExc_AssertionError);
    return NULL;
}

static int add_use(FxpyNode *user, FxpyNode *input) {
    return PyDict_SetDefault(user->inputs, (PyObject *)input, Py_None) &&
                   PyDict_SetDefault(input->users, (PyObject *)user, Py_None)
               ? 0
               : -1;
}

static PyObject *use_leaf(void *user, PyObject *leaf) {
    if (FXPY_IS_NODE(leaf) && add_use(user, (FxpyNode *)leaf) < 0)
        return NULL;
    return Py_NewRef(leaf);
}

static PyObject *forget(PyObject *dict, PyObject *key) {
    PyObject *there = PyDict_GetItemWithError(dict, key);
    if (there && PyDict_DelItem(dict, key) < 0)
        return NULL;
    return PyErr_Occurred() ? NULL : Py_None;
}

/* Both are new: the users of all nodes are put right. kwargs NULL: none. */
static int set_args(FxpyNode *n, PyObject *args, PyObject *kwargs) {
    PyObject *input, *none;
    Py_ssize_t at = 0;
    while (PyDict_Next(n->inputs, &at, &input, &none))
        if (!forget(((FxpyNode *)input)->users, (PyObject *)n))
            return -1;
    PyDict_Clear(n->inputs);
    PyObject *a = fxpy_map(args, use_leaf, n);
    PyObject *k = !a ? NULL : kwargs ? fxpy_map(kwargs, use_leaf, n) : NULL;
    if (!a || (kwargs && !k)) {
        Py_XDECREF(a);
        return -1;
    }
    Py_XSETREF(n->args, a);
    Py_XSETREF(n->kwargs, k);
    return 0;
}

/* torch.fx.node.Node; borrowed. */
static PyTypeObject *node_class(void) {
    static PyTypeObject *cls; /* asked for by every node */
    if (!cls)
        cls = (PyTypeObject *)fxpy_registered("Node");
    return cls;
}

static int check_target(PyObject *graph, PyObject *name, PyObject *op, PyObject *target) {
    bool function = op == fxpy_str.call_function;
    if (function ? PyCallable_Check(target) : PyUnicode_Check(target))
        return 0;
    PyObject *args[] = {graph, name, target, function ? Py_True : Py_False};
    Py_XDECREF(fxpy_call_registered("bad_target", args, 4));
    return -1;
}

FxpyNode *fxpy_node_new(PyObject *graph, PyObject *name, PyObject *op, PyObject *target,
                        PyObject *args, PyObject *kwargs, PyObject *type) {
    PyTypeObject *cls = node_class();
    if (!cls || !(op = fxpy_node_op(op)) || check_target(graph, name, op, target) < 0)
        return NULL;
    FxpyNode *n = (FxpyNode *)cls->tp_alloc(cls, 0);
    if (!n)
        return NULL;
    n->graph = Py_NewRef(graph);
    n->name = Py_NewRef(name);
    n->op = Py_NewRef(op);
    n->target = Py_NewRef(target);
    n->type = Py_NewRef(type ? type : Py_None);
    n->users = PyDict_New();
    n->inputs = PyDict_New();
    n->prev = (FxpyNode *)Py_NewRef(n);
    n->next = (FxpyNode *)Py_NewRef(n);
    if (!n->users || !n->inputs || set_args(n, args, kwargs) < 0)
        Py_CLEAR(n);
    return n;
}

/* Node(graph, name, op, target, args, kwargs, return_type=None) */
static PyObject *node_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"graph", "name", "op", "target", "args", "kwargs", "return_type", NULL};
    PyObject *graph, *name, *op, *target, *a, *k, *returns = NULL;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OUOOOO|O:Node", names, &graph, &name, &op,
                                     &target, &a, &k, &returns))
        return NULL;
    return (PyObject *)fxpy_node_new(graph, name, op, target, a, k, returns);
}

static int node_traverse(PyObject *self, visitproc visit, void *arg) {
    FxpyNode *n = (FxpyNode *)self;
    Py_VISIT(n->graph);
    Py_VISIT(n->target);
    Py_VISIT(n->type);
    Py_VISIT(n->args);
    Py_VISIT(n->kwargs);
    Py_VISIT(n->users);
    Py_VISIT(n->inputs);
    Py_VISIT(n->meta);
    Py_VISIT(n->repr_fn);
    Py_VISIT(n->prev);
    Py_VISIT(n->next);
    Py_VISIT(n->scope);
    Py_VISIT(n->hint);
    return 0;
}

static int node_clear(PyObject *self) {
    FxpyNode *n = (FxpyNode *)self;
    Py_CLEAR(n->graph);
    Py_CLEAR(n->target);
    Py_CLEAR(n->type);
    Py_CLEAR(n->args);
    Py_CLEAR(n->kwargs);
    Py_CLEAR(n->users);
    Py_CLEAR(n->inputs);
    Py_CLEAR(n->meta);
    Py_CLEAR(n->repr_fn);
    Py_CLEAR(n->prev);
    Py_CLEAR(n->next);
    Py_CLEAR(n->scope);
    Py_CLEAR(n->hint);
    return 0;
}

static void node_dealloc(PyObject *self) {
    FxpyNode *n = (FxpyNode *)self;
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, node_dealloc) if (n->weak) PyObject_ClearWeakRefs(self);
    node_clear(self);
    Py_CLEAR(n->name);
    Py_CLEAR(n->op);
    Py_CLEAR(n->code);
    Py_TYPE(self)->tp_free(self);
    Py_TRASHCAN_END
}

static PyObject *node_repr(PyObject *self) {
    FxpyNode *n = (FxpyNode *)self;
    if (n->repr_fn && n->repr_fn != Py_None)
        return PyObject_CallOneArg(n->repr_fn, self);
    return n->name ? Py_NewRef(n->name) : PyUnicode_FromString("?");
}

/* ---- the list
 * --------------------------------------------------------------------------------------------- */

static void unlink_node(FxpyNode *n) {
    FxpyNode *prev = n->prev, *next = n->next;
    Py_XSETREF(prev->next, (FxpyNode *)Py_NewRef(next));
    Py_XSETREF(next->prev, (FxpyNode *)Py_NewRef(prev));
}

void fxpy_node_link(FxpyNode *n, FxpyNode *x) {
    FxpyNode *prev = (FxpyNode *)Py_NewRef(n->prev);
    Py_XSETREF(prev->next, (FxpyNode *)Py_NewRef(x));
    Py_XSETREF(x->prev, prev);
    Py_XSETREF(x->next, (FxpyNode *)Py_NewRef(n));
    Py_XSETREF(n->prev, (FxpyNode *)Py_NewRef(x));
}

static PyObject *put_before(FxpyNode *n, PyObject *x) {
    if (!FXPY_IS_NODE(x))
        return PyErr_Format(PyExc_TypeError, "a Node expected, got %s", Py_TYPE(x)->tp_name);
    if (((FxpyNode *)x)->graph != n->graph) {
        PyErr_SetString(PyExc_AssertionError, "Attempting to move a Node into a different Graph");
        return NULL;
    }
    if ((PyObject *)n == x) {
        if (PyErr_WarnEx(PyExc_UserWarning,
                         "Trying to prepend a node to itself. This behavior has no effect on the "
                         "graph.",
                         1) < 0)
            return NULL;
        Py_RETURN_NONE;
    }
    Py_INCREF(x);
    unlink_node((FxpyNode *)x);
    fxpy_node_link(n, (FxpyNode *)x);
    Py_DECREF(x);
    Py_RETURN_NONE;
}

static PyObject *prepend(PyObject *self, PyObject *x) { return put_before((FxpyNode *)self, x); }

static PyObject *append(PyObject *self, PyObject *x) {
    return put_before(((FxpyNode *)self)->next, x);
}

static PyObject *remove_from_list(PyObject *self, PyObject *unused) {
    (void)unused;
    unlink_node((FxpyNode *)self);
    Py_RETURN_NONE;
}

/* ---- arguments and users
 * ---------------------------------------------------------------------------------- */

static PyObject *get_args(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(((FxpyNode *)self)->args);
}

/* Most nodes have none, and are never asked for them. */
static PyObject *get_kwargs(PyObject *self, void *unused) {
    FxpyNode *n = (FxpyNode *)self;
    (void)unused;
    if (!n->kwargs) {
        PyObject *cls = fxpy_registered("immutable_dict");
        n->kwargs = cls ? PyObject_CallNoArgs(cls) : NULL;
    }
    return Py_XNewRef(n->kwargs);
}

static int put_args(PyObject *self, PyObject *v, void *unused) {
    FxpyNode *n = (FxpyNode *)self;
    (void)unused;
    PyObject *kwargs = Py_XNewRef(n->kwargs);
    int r = v ? set_args(n, v, kwargs) : -1;
    Py_XDECREF(kwargs);
    return r;
}

static int put_kwargs(PyObject *self, PyObject *v, void *unused) {
    FxpyNode *n = (FxpyNode *)self;
    (void)unused;
    PyObject *args = Py_NewRef(n->args);
    int r = v ? set_args(n, args, v) : -1;
    Py_DECREF(args);
    return r;
}

typedef struct Swap {
    PyObject *from, *to;
} Swap;

static PyObject *swap_leaf(void *user, PyObject *leaf) {
    Swap *s = user;
    return Py_NewRef(leaf == s->from ? s->to : leaf);
}

static int swap_input(FxpyNode *n, PyObject *from, PyObject *to) {
    Swap s = {from, to};
    PyObject *args = fxpy_map(n->args, swap_leaf, &s), *kwargs = NULL;
    if (args && n->kwargs)
        kwargs = fxpy_map(n->kwargs, swap_leaf, &s);
    int r = args && (kwargs || !n->kwargs) ? set_args(n, args, kwargs) : -1;
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return r;
}

/* Accepts every user where there is no callback. */
static int accepted(PyObject *callback, PyObject *user) {
    if (!callback)
        return 1;
    PyObject *r = PyObject_CallOneArg(callback, user);
    int yes = r ? PyObject_IsTrue(r) : -1;
    Py_XDECREF(r);
    return yes;
}

static PyObject *replace_all_uses_with(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"replace_with", "delete_user_cb", NULL};
    FxpyNode *n = (FxpyNode *)self;
    PyObject *with, *callback = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:replace_all_uses_with", names, &with,
                                     &callback))
        return NULL;
    PyObject *users = PySequence_List(n->users), *done = PyList_New(0);
    Py_ssize_t skipped = 0;
    for (Py_ssize_t i = 0; users && done && i < PyList_GET_SIZE(users); i++) {
        PyObject *user = PyList_GET_ITEM(users, i);
        int yes = accepted(callback, user);
        skipped += yes == 0;
        if (yes < 0 || (yes && (PyList_Append(done, user) < 0 ||
                                swap_input((FxpyNode *)user, self, with) < 0)))
            Py_CLEAR(done);
    }
    if (users && done && PyDict_GET_SIZE(n->users) != skipped) {
        PyErr_SetNone(PyExc_AssertionError);
        Py_CLEAR(done);
    }
    Py_XDECREF(users);
    return done;
}

static PyObject *replace_input_with(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"old_input", "new_input", NULL};
    PyObject *from, *to;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:replace_input_with", names, &from, &to) ||
        swap_input((FxpyNode *)self, from, to) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *all_input_nodes(PyObject *self, void *unused) {
    (void)unused;
    return PySequence_List(((FxpyNode *)self)->inputs);
}

/* ---- other attributes
 * ------------------------------------------------------------------------------------ */

static PyObject *get_meta(PyObject *self, void *unused) {
    FxpyNode *n = (FxpyNode *)self;
    (void)unused;
    if (!n->meta)
        n->meta = PyDict_New();
    return Py_XNewRef(n->meta);
}

static int put_meta(PyObject *self, PyObject *v, void *unused) {
    (void)unused;
    Py_XSETREF(((FxpyNode *)self)->meta, Py_XNewRef(v));
    return 0;
}

static PyObject *get_stack_trace(PyObject *self, void *unused) {
    FxpyNode *n = (FxpyNode *)self;
    PyObject *trace = NULL;
    (void)unused;
    if (n->meta && PyDict_Check(n->meta))
        trace = PyDict_GetItemWithError(n->meta, fxpy_str.stack_trace);
    return PyErr_Occurred() ? NULL : Py_NewRef(trace ? trace : Py_None);
}

static int put_stack_trace(PyObject *self, PyObject *v, void *unused) {
    PyObject *meta = get_meta(self, unused);
    int r = meta && v ? PyObject_SetItem(meta, fxpy_str.stack_trace, v) : -1;
    Py_XDECREF(meta);
    return r;
}

/* Where the user's code recorded it: its file and line; (None, 0) when it was not traced. */
static PyObject *get_place(PyObject *self, void *unused) {
    FxpyNode *n = (FxpyNode *)self;
    (void)unused;
    if (!n->code)
        return Py_BuildValue("(Oi)", Py_None, 0);
    PyCodeObject *code = (PyCodeObject *)n->code;
    return Py_BuildValue("(Oi)", code->co_filename, PyCode_Addr2Line(code, n->lasti));
}

static PyObject *get_next(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)((FxpyNode *)self)->next);
}

static PyObject *get_prev(PyObject *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)((FxpyNode *)self)->prev);
}

static PyMethodDef methods[] = {
    {"prepend", prepend, METH_O, "prepend(x): puts x before this node."},
    {"append", append, METH_O, "append(x): puts x behind this node."},
    {"_remove_from_list", remove_from_list, METH_NOARGS, NULL},
    {"replace_all_uses_with", (PyCFunction)(void (*)(void))replace_all_uses_with,
     METH_VARARGS | METH_KEYWORDS,
     "replace_all_uses_with(replace_with, delete_user_cb=None): rewrites every use of this node in "
     "the users that the callback accepts; gives the list of these."},
    {"replace_input_with", (PyCFunction)(void (*)(void))replace_input_with,
     METH_VARARGS | METH_KEYWORDS,
     "replace_input_with(old_input, new_input): rewrites every use of old_input in this node."},
    {"_format_line", fxpy_node_line, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {{"graph", T_OBJECT, offsetof(FxpyNode, graph), 0, NULL},
                                {"name", T_OBJECT, offsetof(FxpyNode, name), 0, NULL},
                                {"op", T_OBJECT, offsetof(FxpyNode, op), 0, NULL},
                                {"target", T_OBJECT, offsetof(FxpyNode, target), 0, NULL},
                                {"type", T_OBJECT, offsetof(FxpyNode, type), 0, NULL},
                                {"users", T_OBJECT, offsetof(FxpyNode, users), 0, NULL},
                                {"_input_nodes", T_OBJECT, offsetof(FxpyNode, inputs), 0, NULL},
                                {"_repr_fn", T_OBJECT, offsetof(FxpyNode, repr_fn), 0, NULL},
                                {"_scope", T_OBJECT, offsetof(FxpyNode, scope), 0, NULL},
                                {"_hint", T_OBJECT, offsetof(FxpyNode, hint), 0, NULL},
                                {"_erased", T_BOOL, offsetof(FxpyNode, erased), 0, NULL},
                                {NULL, 0, 0, 0, NULL}};

static PyGetSetDef getset[] = {
    {"args", get_args, put_args, "The positional arguments; immutable, may be assigned.", NULL},
    {"kwargs", get_kwargs, put_kwargs, "The keyword arguments; immutable, may be assigned.", NULL},
    {"_args", get_args, put_args, NULL, NULL},
    {"_kwargs", get_kwargs, put_kwargs, NULL, NULL},
    {"all_input_nodes", all_input_nodes, NULL,
     "Nodes whose value this one uses, each once, in argument order.", NULL},
    {"meta", get_meta, put_meta, "A dict for whatever belongs to this node.", NULL},
    {"stack_trace", get_stack_trace, put_stack_trace, "meta['stack_trace'], or None.", NULL},
    {"_place", get_place, NULL, "(file, line) of the user's code.", NULL},
    {"next", get_next, NULL, "The next node in the list.", NULL},
    {"prev", get_prev, NULL, "The node before in the list.", NULL},
    {"_next", get_next, NULL, NULL, NULL},
    {"_prev", get_prev, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject FxpyNode_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.fx.node._NodeBase",
    .tp_basicsize = sizeof(FxpyNode),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = node_tp_new,
    .tp_dealloc = node_dealloc,
    .tp_traverse = node_traverse,
    .tp_clear = node_clear,
    .tp_repr = node_repr,
    .tp_weaklistoffset = offsetof(FxpyNode, weak),
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = getset,
};
