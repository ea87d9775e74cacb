/* py_proxy.c: torch.fx's Proxy and Attribute for Python: what a forward does with them becomes
 * nodes. Two flavours: plain ones, which refuse what torch.fx can't trace, and hinted ones, which
 * answer int(), len(), bool() and iteration from the value that the node has for the example
 * inputs. */
#include "front/python/fxgraph.h"

PyTypeObject *fxpy_proxy_type;
static PyTypeObject *attribute_type, *hinted_type, *hinted_attribute_type;

/* ---- the protocol of an object
 * ----------------------------------------------------------------------------------- */

static int proxy_traverse(PyObject *self, visitproc visit, void *arg) {
    FxpyProxy *p = (FxpyProxy *)self;
    Py_VISIT(p->tracer);
    Py_VISIT(p->node);
    Py_VISIT(p->root);
    Py_VISIT(p->attr);
    Py_VISIT(p->dict);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int proxy_clear(PyObject *self) {
    FxpyProxy *p = (FxpyProxy *)self;
    Py_CLEAR(p->tracer);
    Py_CLEAR(p->node);
    Py_CLEAR(p->root);
    Py_CLEAR(p->attr);
    Py_CLEAR(p->dict);
    return 0;
}

static void proxy_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((FxpyProxy *)self)->weak)
        PyObject_ClearWeakRefs(self);
    proxy_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Proxy(node, tracer=None): without a tracer, calls are appended to the node's graph. */
static int proxy_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"node", "tracer", NULL};
    FxpyProxy *p = (FxpyProxy *)self;
    PyObject *node, *tracer = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:Proxy", names, &node, &tracer))
        return -1;
    if (tracer != Py_None) {
        Py_INCREF(tracer);
    } else {
        PyObject *graph = PyObject_GetAttrString(node, "graph");
        tracer = graph ? fxpy_call_registered("GraphAppendingTracer", &graph, 1) : NULL;
        Py_XDECREF(graph);
    }
    if (!tracer)
        return -1;
    Py_XSETREF(p->tracer, tracer);
    Py_XSETREF(p->node, Py_NewRef(node));
    return 0;
}

/* Attribute(root, attr) */
static int attribute_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"root", "attr", NULL};
    FxpyProxy *p = (FxpyProxy *)self;
    PyObject *root, *attr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!U:Attribute", names, fxpy_proxy_type, &root,
                                     &attr))
        return -1;
    Py_XSETREF(p->root, Py_NewRef(root));
    Py_XSETREF(p->attr, Py_NewRef(attr));
    Py_XSETREF(p->tracer, Py_XNewRef(((FxpyProxy *)root)->tracer));
    return 0;
}

static PyObject *get_node(PyObject *self, void *unused) {
    FxpyProxy *p = (FxpyProxy *)self;
    (void)unused;
    if (!p->node && p->root) {
        PyObject *getattr = PyDict_GetItemString(PyEval_GetBuiltins(), "getattr");
        PyObject *args = getattr ? PyTuple_Pack(2, p->root, p->attr) : NULL;
        PyObject *made =
            args ? fxpy_record(p->tracer, fxpy_str.call_function, getattr, args, NULL) : NULL;
        if (made)
            p->node = PyObject_GetAttr(made, fxpy_str.node);
        Py_XDECREF(args);
        Py_XDECREF(made);
        if (!p->node)
            return NULL;
    }
    return Py_NewRef(p->node ? p->node : Py_None);
}

static int put_node(PyObject *self, PyObject *v, void *unused) {
    (void)unused;
    Py_XSETREF(((FxpyProxy *)self)->node, Py_XNewRef(v));
    return 0;
}

static PyObject *proxy_repr(PyObject *self) {
    PyObject *node = get_node(self, NULL);
    PyObject *name = node ? PyObject_GetAttrString(node, "name") : NULL;
    PyObject *s = name ? PyUnicode_FromFormat("%s(%S)", "Proxy", name) : NULL;
    Py_XDECREF(node);
    Py_XDECREF(name);
    return s;
}

static bool is_hinted(PyObject *self) {
    return PyObject_TypeCheck(self, hinted_type) || PyObject_TypeCheck(self, hinted_attribute_type);
}

static PyObject *attribute_of(PyObject *self, PyObject *name) {
    bool hinted = is_hinted(self);
    const char *text = hinted && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (text && strncmp(text, "__array_", 8) == 0) /* numpy asks, and __array__ is the answer */
        return PyErr_Format(PyExc_AttributeError, "'Proxy' object has no attribute '%U'", name);
    if (hinted) { /* sizes that are concrete in this trace */
        PyObject *args[] = {self, name};
        PyObject *r = fxpy_call_registered("concrete_attribute", args, 2);
        if (r != Py_NotImplemented)
            return r;
        Py_DECREF(r);
    }
    PyTypeObject *type = hinted ? hinted_attribute_type : attribute_type;
    FxpyProxy *a = (FxpyProxy *)type->tp_alloc(type, 0);
    if (a) {
        a->root = Py_NewRef(self);
        a->attr = Py_NewRef(name);
        a->tracer = Py_XNewRef(((FxpyProxy *)self)->tracer);
    }
    return (PyObject *)a;
}

static PyObject *proxy_getattro(PyObject *self, PyObject *name) {
    PyObject *v = _PyObject_GenericGetAttrWithDict(self, name, NULL, 1);
    return v || PyErr_Occurred() ? v : attribute_of(self, name);
}

/* Both what a proxy and what an attribute does when it is called. */
static PyObject *proxy_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    FxpyProxy *p = (FxpyProxy *)self;
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *first = p->root ? p->root : self, *all = PyTuple_New(n + 1), *r = NULL;
    if (p->root && is_hinted(self)) {
        PyObject *given[] = {self, args, kwargs ? kwargs : Py_None};
        r = fxpy_call_registered("concrete_call", given, 3);
        if (r != Py_NotImplemented) {
            Py_XDECREF(all);
            return r;
        }
        Py_DECREF(r);
        r = NULL;
    }
    if (!all)
        return NULL;
    PyTuple_SET_ITEM(all, 0, Py_NewRef(first));
    for (Py_ssize_t i = 0; i < n; i++)
        PyTuple_SET_ITEM(all, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    r = fxpy_record(p->tracer, fxpy_str.call_method, p->root ? p->attr : fxpy_str.__call__, all,
                    kwargs);
    Py_DECREF(all);
    return r;
}

/* ---- operators
 * ---------------------------------------------------------------------------------------------------
 */

static PyObject *tracer_of(PyObject *a, PyObject *b) {
    return ((FxpyProxy *)(FXPY_IS_PROXY(a) ? a : b))->tracer;
}

/* A function of the module operator, found once. Borrowed. */
static PyObject *operator_function(PyObject **cache, const char *name) {
    if (!*cache) {
        PyObject *m = PyImport_ImportModule("operator");
        *cache = m ? PyObject_GetAttrString(m, name) : NULL;
        Py_XDECREF(m);
    }
    return *cache;
}

static PyObject *binary(PyObject **cache, const char *name, PyObject *a, PyObject *b) {
    PyObject *f = operator_function(cache, name), *args = f ? PyTuple_Pack(2, a, b) : NULL;
    PyObject *r = args ? fxpy_record(tracer_of(a, b), fxpy_str.call_function, f, args, NULL) : NULL;
    Py_XDECREF(args);
    return r;
}

static PyObject *unary(PyObject **cache, const char *name, PyObject *a) {
    PyObject *f = operator_function(cache, name), *args = f ? PyTuple_Pack(1, a) : NULL;
    PyObject *r = args ? fxpy_record(tracer_of(a, a), fxpy_str.call_function, f, args, NULL) : NULL;
    Py_XDECREF(args);
    return r;
}

#define BINARY(slot, name)                                                                         \
    static PyObject *proxy_##slot(PyObject *a, PyObject *b) {                                      \
        static PyObject *f;                                                                        \
        return binary(&f, name, a, b);                                                             \
    }
BINARY(add, "add")
BINARY(sub, "sub")
BINARY(mul, "mul")
BINARY(floordiv, "floordiv")
BINARY(truediv, "truediv")
BINARY(mod, "mod")
BINARY(lshift, "lshift")
BINARY(rshift, "rshift")
BINARY(and, "and_")
BINARY(or, "or_")
BINARY(xor, "xor")
BINARY(matmul, "matmul")
BINARY(getitem, "getitem")
BINARY(eq, "eq")
BINARY(ne, "ne")
BINARY(lt, "lt")
BINARY(le, "le")
BINARY(gt, "gt")
BINARY(ge, "ge")
BINARY(power, "pow")

#define UNARY(slot, name)                                                                          \
    static PyObject *proxy_##slot(PyObject *a) {                                                   \
        static PyObject *f;                                                                        \
        return unary(&f, name, a);                                                                 \
    }
UNARY(neg, "neg")
UNARY(pos, "pos")
UNARY(invert, "invert")

static PyObject *proxy_pow(PyObject *a, PyObject *b, PyObject *c) {
    if (c != Py_None)
        return PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for pow(): a Proxy and "
                                             "a third argument");
    return proxy_power(a, b);
}

static PyObject *proxy_compare(PyObject *a, PyObject *b, int op) {
    static binaryfunc const functions[] = {
        [Py_LT] = proxy_lt, [Py_LE] = proxy_le, [Py_EQ] = proxy_eq,
        [Py_NE] = proxy_ne, [Py_GT] = proxy_gt, [Py_GE] = proxy_ge};
    return functions[op](a, b);
}

/* reversed() and the like need a sequence; they end at len(). */
static PyObject *proxy_item(PyObject *self, Py_ssize_t i) {
    PyObject *at = PyLong_FromSsize_t(i), *r = at ? proxy_getitem(self, at) : NULL;
    Py_XDECREF(at);
    return r;
}

/* x[i] = v. torch.fx refuses it: torch.fx.proxy does so in strict mode, else it records. */
static int proxy_setitem(PyObject *self, PyObject *key, PyObject *v) {
    PyObject *args[] = {self, key, v ? v : Py_None};
    PyObject *r = fxpy_call_registered(v ? "record_setitem" : "refuse_delitem", args, 3);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static Py_ssize_t proxy_len(PyObject *self) {
    (void)self;
    PyErr_SetString(PyExc_RuntimeError,
                    "'len' is not supported in symbolic tracing by default. If you want this call "
                    "to be recorded, please call torch.fx.wrap('len') at module scope");
    return -1;
}

/* ---- control flow
 * ---------------------------------------------------------------------------------------------- */

static int proxy_bool(PyObject *self) {
    PyObject *tracer = ((FxpyProxy *)self)->tracer;
    PyObject *asserts = PyObject_GetAttr(tracer, fxpy_str.trace_asserts);
    int traced = asserts ? PyObject_IsTrue(asserts) : 0;
    Py_XDECREF(asserts);
    if (!asserts)
        PyErr_Clear();
    if (traced > 0) {
        PyObject *r = fxpy_call_registered("trace_assert", &self, 1);
        traced = r ? PyObject_IsTrue(r) : -1;
        Py_XDECREF(r);
    }
    if (traced)
        return traced;
    PyObject *r = PyObject_CallMethodOneArg(tracer, fxpy_str.to_bool, self);
    int yes = r ? PyObject_IsTrue(r) : -1;
    Py_XDECREF(r);
    return yes;
}

/* How many values the instruction that runs now unpacks (a, b = x); -1 for another instruction. */
static Py_ssize_t unpack_count(void) {
    static int unpack; /* its number, 0: not known yet */
    PyFrameObject *f = PyEval_GetFrame();
    Py_ssize_t count = -1, len;
    char *text;
    if (!f)
        return -1;
    if (!unpack) {
        PyObject *m = PyImport_ImportModule("opcode");
        PyObject *map = m ? PyObject_GetAttrString(m, "opmap") : NULL;
        PyObject *n = map ? PyMapping_GetItemString(map, "UNPACK_SEQUENCE") : NULL;
        unpack = n ? (int)PyLong_AsLong(n) : -1;
        Py_XDECREF(m);
        Py_XDECREF(map);
        Py_XDECREF(n);
        PyErr_Clear();
    }
#if PY_VERSION_HEX >= 0x030b0000
    int at = PyFrame_GetLasti(f);
    PyCodeObject *code = PyFrame_GetCode(f);
    PyObject *bytes = PyCode_GetCode(code);
    Py_DECREF(code);
#else
    PyObject *lasti = PyObject_GetAttrString((PyObject *)f, "f_lasti");
    int at = lasti ? (int)PyLong_AsLong(lasti) : -1;
    PyCodeObject *code = PyFrame_GetCode(f);
    PyObject *bytes = PyObject_GetAttrString((PyObject *)code, "co_code");
    Py_XDECREF(lasti);
    Py_DECREF(code);
#endif
    if (bytes && PyBytes_AsStringAndSize(bytes, &text, &len) == 0 && at >= 0 && at + 1 < len &&
        (unsigned char)text[at] == unpack)
        count = (unsigned char)text[at + 1];
    Py_XDECREF(bytes);
    PyErr_Clear();
    return count;
}

static PyObject *proxy_iter(PyObject *self) {
    Py_ssize_t n = unpack_count();
    if (n < 0)
        return PyObject_CallMethodOneArg(((FxpyProxy *)self)->tracer, fxpy_str.iter, self);
    PyObject *items = PyTuple_New(n), *iter = NULL;
    for (Py_ssize_t i = 0; items && i < n; i++) {
        PyObject *item = proxy_item(self, i);
        if (!item)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, i, item);
    }
    if (items)
        iter = PyObject_GetIter(items);
    Py_XDECREF(items);
    return iter;
}

static PyObject *proxy_keys(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_CallMethodOneArg(((FxpyProxy *)self)->tracer, fxpy_str.keys, self);
}

/* __torch_function__(orig_method, types, args=None, kwargs=None) */
static PyObject *torch_function(PyObject *cls, PyObject *args) {
    PyObject *function, *types, *a = NULL, *k = NULL;
    (void)cls;
    if (!PyArg_ParseTuple(args, "OO|OO:__torch_function__", &function, &types, &a, &k))
        return NULL;
    PyObject *given[] = {function, a ? a : Py_None, k ? k : Py_None};
    return fxpy_call_registered("torch_function", given, 3);
}

/* ---- hints
 * ------------------------------------------------------------------------------------------------------
 */

PyObject *fxpy_proxy_hint(PyObject *proxy) {
    PyObject *node = get_node(proxy, NULL), *hint = NULL;
    if (node && FXPY_IS_NODE(node))
        hint = ((FxpyNode *)node)->hint;
    Py_XDECREF(node); /* its graph holds it */
    return hint;
}

/* The value of the proxy for the example inputs: new reference, NULL with an exception. */
static PyObject *value_of(PyObject *self) { return fxpy_call_registered("hint_value", &self, 1); }

static PyObject *hinted_int(PyObject *self) {
    PyObject *v = value_of(self), *r = v ? PyNumber_Long(v) : NULL;
    Py_XDECREF(v);
    return r;
}

static PyObject *hinted_index(PyObject *self) {
    PyObject *v = value_of(self), *r = v ? PyNumber_Index(v) : NULL;
    Py_XDECREF(v);
    return r;
}

static PyObject *hinted_float(PyObject *self) {
    PyObject *v = value_of(self), *r = v ? PyNumber_Float(v) : NULL;
    Py_XDECREF(v);
    return r;
}

/* Of a tensor, its shape is enough. */
static Py_ssize_t hinted_len(PyObject *self) {
    PyObject *v = Py_XNewRef(fxpy_proxy_hint(self));
    if (!v && !PyErr_Occurred())
        v = value_of(self);
    Py_ssize_t n = v ? PyObject_Size(v) : -1;
    Py_XDECREF(v);
    return n;
}

/* numpy's functions: what they make of the value is a constant of the trace. */
static PyObject *hinted_array(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *v = value_of(self), *numpy = v ? PyImport_ImportModule("numpy") : NULL;
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", v) : NULL;
    PyObject *dtype = array && PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;
    (void)kwargs;
    if (dtype && dtype != Py_None)
        Py_SETREF(array, PyObject_CallMethod(array, "astype", "O", dtype));
    Py_XDECREF(v);
    Py_XDECREF(numpy);
    return array;
}

static PyObject *hinted_round(PyObject *self, PyObject *args) {
    PyObject *v = value_of(self), *builtins = v ? PyEval_GetBuiltins() : NULL; /* borrowed */
    PyObject *round = builtins ? PyDict_GetItemString(builtins, "round") : NULL, *r = NULL;
    PyObject *digits = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : Py_None;
    if (round)
        r = PyObject_CallFunctionObjArgs(round, v, digits, NULL);
    Py_XDECREF(v);
    return r;
}

static PyMethodDef hinted_methods[] = {
    {"__array__", (PyCFunction)(void (*)(void))hinted_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__round__", hinted_round, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

/* Numbers, texts and tuples find themselves in a dict, as einops needs it. */
static Py_hash_t hinted_hash(PyObject *self) {
    PyObject *v = fxpy_proxy_hint(self);
    if (v && (PyLong_Check(v) || PyUnicode_Check(v) || PyTuple_Check(v)))
        return PyObject_Hash(v);
    PyErr_Clear();
    return _Py_HashPointer(self);
}

/* ---- the types
 * ---------------------------------------------------------------------------------------------------
 */

static PyMethodDef methods[] = {
    {"keys", proxy_keys, METH_NOARGS, "What **proxy asks for; see Tracer.keys."},
    {"__torch_function__", torch_function, METH_VARARGS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"tracer", T_OBJECT, offsetof(FxpyProxy, tracer), 0, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(FxpyProxy, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FxpyProxy, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyMemberDef attribute_members[] = {{"root", T_OBJECT, offsetof(FxpyProxy, root), 0, NULL},
                                          {"attr", T_OBJECT, offsetof(FxpyProxy, attr), 0, NULL},
                                          {NULL, 0, 0, 0, NULL}};

static PyGetSetDef getset[] = {
    {"node", get_node, put_node, "The node that it stands for.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* Made at start-up: error messages of Python name a type by its tp_name, which for these is "Proxy"
 * as for a class that is written in Python. */
static PyType_Slot proxy_slots[] = {
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, proxy_init},
    {Py_tp_dealloc, proxy_dealloc},
    {Py_tp_traverse, proxy_traverse},
    {Py_tp_clear, proxy_clear},
    {Py_tp_repr, proxy_repr},
    {Py_tp_getattro, proxy_getattro},
    {Py_tp_call, proxy_call},
    {Py_tp_hash, _Py_HashPointer},
    {Py_tp_richcompare, proxy_compare},
    {Py_tp_iter, proxy_iter},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, getset},
    {Py_nb_add, proxy_add},
    {Py_nb_subtract, proxy_sub},
    {Py_nb_multiply, proxy_mul},
    {Py_nb_floor_divide, proxy_floordiv},
    {Py_nb_true_divide, proxy_truediv},
    {Py_nb_remainder, proxy_mod},
    {Py_nb_power, proxy_pow},
    {Py_nb_lshift, proxy_lshift},
    {Py_nb_rshift, proxy_rshift},
    {Py_nb_and, proxy_and},
    {Py_nb_or, proxy_or},
    {Py_nb_xor, proxy_xor},
    {Py_nb_matrix_multiply, proxy_matmul},
    {Py_nb_negative, proxy_neg},
    {Py_nb_positive, proxy_pos},
    {Py_nb_invert, proxy_invert},
    {Py_nb_bool, proxy_bool},
    {Py_sq_length, proxy_len},
    {Py_sq_item, proxy_item},
    {Py_mp_length, proxy_len},
    {Py_mp_subscript, proxy_getitem},
    {Py_mp_ass_subscript, proxy_setitem},
    {0, NULL},
};
static PyType_Slot attribute_slots[] = {
    {Py_tp_init, attribute_init},
    {Py_tp_members, attribute_members},
    {0, NULL},
};
static PyType_Slot hinted_slots[] = {
    {Py_tp_hash, hinted_hash},   {Py_tp_richcompare, proxy_compare}, {Py_nb_int, hinted_int},
    {Py_nb_index, hinted_index}, {Py_nb_float, hinted_float},        {Py_sq_length, hinted_len},
    {Py_mp_length, hinted_len},  {Py_tp_methods, hinted_methods},    {0, NULL},
};

static PyTypeObject *make_type(PyObject *module, const char *name, PyType_Slot *slots,
                               PyTypeObject *base) {
    char full[64];
    snprintf(full, sizeof full, "torch.fx.proxy.%s", name);
    PyType_Spec spec = {.name = full,
                        .basicsize = sizeof(FxpyProxy),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                 (base ? 0 : Py_TPFLAGS_HAVE_GC),
                        .slots = slots};
    PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
    PyTypeObject *type =
        base && !bases ? NULL : (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases);
    Py_XDECREF(bases);
    if (!type)
        return NULL;
    type->tp_name = name;
    return PyModule_AddObjectRef(module, name, (PyObject *)type) < 0 ? NULL : type;
}

int fxpy_proxy_init(PyObject *module) {
    fxpy_proxy_type = make_type(module, "Proxy", proxy_slots, NULL);
    if (fxpy_proxy_type)
        attribute_type = make_type(module, "Attribute", attribute_slots, fxpy_proxy_type);
    if (attribute_type)
        hinted_type = make_type(module, "HintedProxy", hinted_slots, fxpy_proxy_type);
    if (hinted_type)
        hinted_attribute_type = make_type(module, "HintedAttribute", hinted_slots, attribute_type);
    return hinted_attribute_type ? 0 : -1;
}
