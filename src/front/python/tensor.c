/* tensor.c: torch.Tensor as an object: its life, its unread state, its type. The class is made in
 * two steps, as torch's is: _TensorBase in C, and Tensor as an ordinary class over it, so that
 * attributes can be set on tensors and on the class. */
#include "front/python/tensor.h"

PyTypeObject *fxpy_tensor_base, *fxpy_tensor_type;
bool fxpy_grad_enabled = true;

extern PyGetSetDef fxpy_tensor_attributes[];
extern PyMethodDef fxpy_tensor_methods[];

/* ---- life ---- */

PyObject *fxpy_tensor_new_as(PyTypeObject *type, fxs_tensor *t) {
    PyObject *o = type->tp_alloc(type, 0);
    if (!o) {
        fxs_tensor_unref(t);
        return NULL;
    }
    ((FxpyTensor *)o)->t = t;
    return o;
}

PyObject *fxpy_tensor_new(fxs_tensor *t) { return fxpy_tensor_new_as(fxpy_tensor_type, t); }

PyObject *fxpy_tensor_alias(PyTypeObject *type, fxs_tensor *t, const FxpyTensor *like) {
    PyObject *o = fxpy_tensor_new_as(type, t);
    if (o && like) {
        FxpyTensor *x = (FxpyTensor *)o;
        x->lazy = t->storage ? NULL : fxpy_lazy_ref(like->lazy);
        x->meta = like->meta;
    }
    return o;
}

static void tensor_dealloc(PyObject *o) {
    FxpyTensor *x = (FxpyTensor *)o;
    PyTypeObject *type = Py_TYPE(o);
    fxs_tensor_unref(x->t);
    fxpy_lazy_unref(x->lazy);
    Py_XDECREF(x->grad);
    Py_XDECREF(x->backward_hooks);
    type->tp_free(o);
    Py_DECREF(type);
}

/* ---- reading ---- */

void fxpy_tensor_settle(FxpyTensor *x) {
    fxs_storage *s = x->lazy ? fxpy_lazy_storage(x->lazy) : NULL;
    if (!s)
        return;
    if (!x->t->storage)
        x->t->storage = fxs_storage_ref(s);
    fxpy_lazy_unref(x->lazy);
    x->lazy = NULL;
}

fxs_tensor *fxpy_tensor_get(PyObject *o) {
    FxpyTensor *x = (FxpyTensor *)o;
    if (x->lazy && fxpy_lazy_read(x->lazy) < 0)
        return NULL;
    fxpy_tensor_settle(x);
    if (x->t->storage)
        return x->t;
    PyErr_SetString(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    return NULL;
}

fxs_tensor *fxpy_tensor_meta(PyObject *o) {
    fxpy_tensor_settle((FxpyTensor *)o);
    return ((FxpyTensor *)o)->t;
}

bool fxpy_tensor_fill(PyObject *o, fxpy_fill *out) {
    FxpyTensor *x = (FxpyTensor *)o;
    if (!fxpy_tensor_unread(x))
        return false;
    fxpy_lazy_fill_of(x->lazy, out);
    return true;
}

/* ---- small protocols ---- */

static Py_hash_t tensor_hash(PyObject *o) { return _Py_HashPointer(o); }

static Py_ssize_t tensor_len(PyObject *o) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    if (t->ndim)
        return (Py_ssize_t)t->sizes[0];
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
}

/* As torch does: the slices of the first dimension, all at once. */
static PyObject *tensor_iter(PyObject *o) {
    if (fxpy_tensor_meta(o)->ndim == 0)
        return PyErr_Format(PyExc_TypeError, "iteration over a 0-d tensor");
    PyObject *parts = fxpy_call2("Tensor.unbind", o, NULL);
    PyObject *it = parts ? PyObject_GetIter(parts) : NULL;
    Py_XDECREF(parts);
    return it;
}

static int tensor_contains(PyObject *o, PyObject *item) {
    if (!fxpy_is_tensor(item) && !PyNumber_Check(item)) {
        PyErr_Format(PyExc_RuntimeError,
                     "Tensor.__contains__ only supports Tensor or scalar, but you passed in a %R.",
                     Py_TYPE(item));
        return -1;
    }
    PyObject *equal = fxpy_tensor_richcompare(o, item, Py_EQ);
    PyObject *any = equal ? fxpy_call2("Tensor.any", equal, NULL) : NULL;
    int yes = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(equal);
    Py_XDECREF(any);
    return yes;
}

/* ---- the buffer protocol: numpy.asarray(t), memoryview(t) ---- */

static const char *buffer_format(fxs_dtype d) {
    static const char *const formats[FXS_DTYPE_COUNT] = {
        [FXS_FLOAT32] = "f", [FXS_FLOAT64] = "d",    [FXS_FLOAT16] = "e",     [FXS_INT64] = "q",
        [FXS_INT32] = "i",   [FXS_INT16] = "h",      [FXS_INT8] = "b",        [FXS_UINT8] = "B",
        [FXS_BOOL] = "?",    [FXS_COMPLEX64] = "Zf", [FXS_COMPLEX128] = "Zd", [FXS_UINT16] = "H",
        [FXS_UINT32] = "I",  [FXS_UINT64] = "Q"};
    return formats[d];
}

static int tensor_getbuffer(PyObject *o, Py_buffer *view, int flags) {
    fxs_tensor *t = fxpy_tensor_get(o);
    const char *format = t ? buffer_format(t->dtype) : NULL;
    bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    view->obj = NULL;
    if (!t)
        return -1;
    if (!format || (!strided && !fxs_tensor_is_contiguous(t))) {
        PyErr_Format(PyExc_BufferError, "a tensor of torch.%s%s has no buffer",
                     fxs_dtype_name(t->dtype), format ? " that is not contiguous" : "");
        return -1;
    }
    Py_ssize_t *numbers = PyMem_New(Py_ssize_t, 2 * (size_t)t->ndim + 1);
    if (!numbers) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t size = (Py_ssize_t)fxs_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        numbers[i] = (Py_ssize_t)t->sizes[i];
        numbers[t->ndim + i] = (Py_ssize_t)t->strides[i] * size;
    }
    *view = (Py_buffer){.buf = fxs_tensor_data(t),
                        .obj = Py_NewRef(o),
                        .len = (Py_ssize_t)fxs_tensor_numel(t) * size,
                        .itemsize = size,
                        .ndim = t->ndim,
                        .format = flags & PyBUF_FORMAT ? (char *)format : NULL,
                        .shape = flags & PyBUF_ND ? numbers : NULL,
                        .strides = strided ? numbers + t->ndim : NULL,
                        .internal = numbers};
    return 0;
}

static void tensor_releasebuffer(PyObject *o, Py_buffer *view) {
    (void)o;
    PyMem_Free(view->internal);
}

/* ---- the metatype: isinstance(proxy, torch.Tensor) ---- */

/* Whether proxies count as tensors: a trace with known values says so. */
static bool proxies_are_tensors;

static PyObject *instance_check(PyObject *cls, PyObject *o) {
    if (proxies_are_tensors && cls == (PyObject *)fxpy_tensor_type && fxpy_is_proxy(o)) {
        PyObject *hint = fxpy_proxy_hint(o);
        return PyErr_Occurred() ? NULL : PyBool_FromLong(!hint || fxpy_is_tensor(hint));
    }
    return PyBool_FromLong(PyType_IsSubtype(Py_TYPE(o), (PyTypeObject *)cls));
}

static PyObject *set_proxies_are_tensors(PyObject *self, PyObject *yes) {
    (void)self;
    bool before = proxies_are_tensors;
    proxies_are_tensors = PyObject_IsTrue(yes) == 1;
    return PyBool_FromLong(before);
}

static PyMethodDef meta_methods[] = {
    {"__instancecheck__", instance_check, METH_O, NULL},
    {0},
};
static PyType_Slot meta_slots[] = {
    {Py_tp_methods, meta_methods},
    {0, NULL},
};
static PyType_Spec meta_spec = {
    .name = "torch._C._TensorMeta",
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = meta_slots,
};

/* ---- whether results require grad ---- */

static PyObject *is_grad_enabled(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyBool_FromLong(fxpy_grad_enabled);
}
static PyObject *set_grad_enabled(PyObject *self, PyObject *yes) {
    (void)self;
    bool before = fxpy_grad_enabled;
    fxpy_grad_enabled = PyObject_IsTrue(yes) == 1;
    return PyBool_FromLong(before);
}

static PyMethodDef functions[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, NULL},
    {"set_grad_enabled", set_grad_enabled, METH_O, NULL},
    {"_set_proxies_are_tensors", set_proxies_are_tensors, METH_O, NULL},
    {"set_meta_mode", fxpy_set_meta_mode, METH_O, NULL},
    {0},
};

/* ---- the types ---- */

static PyType_Slot base_slots[] = {
    {Py_tp_new, fxpy_tensor_new_legacy},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_repr, fxpy_tensor_repr},
    {Py_tp_hash, tensor_hash},
    {Py_tp_iter, tensor_iter},
    {Py_tp_richcompare, fxpy_tensor_richcompare},
    {Py_tp_methods, fxpy_tensor_methods},
    {Py_tp_getset, fxpy_tensor_attributes},
    {Py_sq_contains, tensor_contains},
    {Py_mp_length, tensor_len},
    {Py_mp_subscript, fxpy_tensor_subscript},
    {Py_mp_ass_subscript, fxpy_tensor_ass_subscript},
    {Py_bf_getbuffer, tensor_getbuffer},
    {Py_bf_releasebuffer, tensor_releasebuffer},
#define X(slot, method, operator_name) {Py_##slot, fxpy_##slot},
    FXPY_BINARY_MAP(X) FXPY_INPLACE_MAP(X)
#undef X
        {Py_nb_power, fxpy_nb_power},
    {Py_nb_inplace_power, fxpy_nb_inplace_power},
    {Py_nb_negative, fxpy_nb_negative},
    {Py_nb_positive, fxpy_nb_positive},
    {Py_nb_absolute, fxpy_nb_absolute},
    {Py_nb_invert, fxpy_nb_invert},
    {Py_nb_bool, fxpy_nb_bool},
    {Py_nb_int, fxpy_nb_int},
    {Py_nb_float, fxpy_nb_float},
    {Py_nb_index, fxpy_nb_index},
    {0, NULL},
};
static PyType_Spec base_spec = {
    .name = "torch._C._TensorBase",
    .basicsize = sizeof(FxpyTensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = base_slots,
};

int fxpy_init_tensor(PyObject *module) {
    PyObject *bases = PyTuple_Pack(1, &PyType_Type);
    PyObject *meta = bases ? PyType_FromSpecWithBases(&meta_spec, bases) : NULL;
    Py_XDECREF(bases);
    fxpy_tensor_base = meta ? (PyTypeObject *)PyType_FromSpec(&base_spec) : NULL;
    if (!fxpy_tensor_base)
        return -1;
    fxpy_tensor_type =
        (PyTypeObject *)PyObject_CallFunction(meta, "s(O){ssss}", "Tensor", fxpy_tensor_base,
                                              "__module__", "torch", "__qualname__", "Tensor");
    int bad = !fxpy_tensor_type || fxpy_add_type(module, "_TensorMeta", (PyTypeObject *)meta) < 0 ||
              fxpy_add_type(module, "_TensorBase", fxpy_tensor_base) < 0 ||
              fxpy_add_type(module, "Tensor", fxpy_tensor_type) < 0 ||
              PyModule_AddFunctions(module, functions) < 0;
    Py_DECREF(meta);
    return bad ? -1 : 0;
}
