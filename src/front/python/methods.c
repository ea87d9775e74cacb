/* methods.c: attributes of Tensor, and the methods that are no rows: they answer with Python's
 * objects, or change what the object itself is. */
#include "front/python/tensor.h"

/* ---- elements ---- */

PyObject *fxpy_element(const fxs_tensor *t, const void *p) {
    switch (t->dtype) {
    case FXS_BOOL:
        return PyBool_FromLong(*(const unsigned char *)p != 0);
    case FXS_COMPLEX64:
        return PyComplex_FromDoubles(((const float *)p)[0], ((const float *)p)[1]);
    case FXS_COMPLEX128:
        return PyComplex_FromDoubles(((const double *)p)[0], ((const double *)p)[1]);
    case FXS_UINT64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)p);
    default:
        if (!fxs_is_computable(t->dtype))
            return PyErr_Format(PyExc_NotImplementedError, "reading elements of torch.%s",
                                fxs_dtype_name(t->dtype));
        return fxs_is_floating(t->dtype) ? PyFloat_FromDouble(fxs_load_double(t->dtype, p))
                                         : PyLong_FromLongLong(fxs_load_int(t->dtype, p));
    }
}

PyObject *fxpy_tensor_item(PyObject *o, PyObject *unused) {
    (void)unused;
    if (fxs_tensor_numel(fxpy_tensor_meta(o)) != 1)
        return PyErr_Format(PyExc_ValueError,
                            "only one element tensors can be converted to Python scalars");
    const fxs_tensor *t = fxpy_tensor_get(o);
    return t ? fxpy_element(t, fxs_tensor_data(t)) : NULL;
}

static PyObject *nested(const fxs_tensor *t, int dim, const char *p) {
    if (dim == t->ndim)
        return fxpy_element(t, p);
    PyObject *list = PyList_New((Py_ssize_t)t->sizes[dim]);
    ptrdiff_t step = (ptrdiff_t)(t->strides[dim] * (int64_t)fxs_dtype_size(t->dtype));
    for (int64_t i = 0; list && i < t->sizes[dim]; i++, p += step) {
        PyObject *item = nested(t, dim + 1, p);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
    }
    return list;
}

PyObject *fxpy_tensor_tolist(PyObject *o, PyObject *unused) {
    (void)unused;
    const fxs_tensor *t = fxpy_tensor_get(o);
    return t ? nested(t, 0, fxs_tensor_data(t)) : NULL;
}

/* ---- what it is ---- */

static PyObject *get_shape(PyObject *o, void *unused) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    (void)unused;
    return fxpy_size(t->ndim, t->sizes);
}
static PyObject *get_dtype(PyObject *o, void *unused) {
    (void)unused;
    return fxpy_dtype(fxpy_tensor_meta(o)->dtype);
}
static PyObject *get_device(PyObject *o, void *unused) {
    (void)unused;
    return fxpy_device(((FxpyTensor *)o)->meta ? "meta" : "cpu");
}
static PyObject *get_layout(PyObject *o, void *unused) {
    (void)o, (void)unused;
    return fxpy_strided();
}
static PyObject *get_ndim(PyObject *o, void *unused) {
    (void)unused;
    return PyLong_FromLong(fxpy_tensor_meta(o)->ndim);
}
static PyObject *get_itemsize(PyObject *o, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(fxs_dtype_size(fxpy_tensor_meta(o)->dtype));
}
static PyObject *get_nbytes(PyObject *o, void *unused) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    (void)unused;
    return PyLong_FromLongLong(fxs_tensor_numel(t) * (int64_t)fxs_dtype_size(t->dtype));
}
static PyObject *get_false(PyObject *o, void *unused) {
    (void)o, (void)unused;
    Py_RETURN_FALSE;
}
static PyObject *get_none(PyObject *o, void *unused) {
    (void)o, (void)unused;
    Py_RETURN_NONE;
}
static PyObject *get_zero(PyObject *o, void *unused) {
    (void)o, (void)unused;
    return PyLong_FromLong(0);
}
static PyObject *get_is_meta(PyObject *o, void *unused) {
    (void)unused;
    return PyBool_FromLong(((FxpyTensor *)o)->meta);
}
static PyObject *get_is_cpu(PyObject *o, void *unused) {
    (void)unused;
    return PyBool_FromLong(!((FxpyTensor *)o)->meta);
}
static PyObject *get_names(PyObject *o, void *unused) {
    (void)unused;
    Py_ssize_t n = fxpy_tensor_meta(o)->ndim;
    PyObject *names = PyTuple_New(n);
    for (Py_ssize_t i = 0; names && i < n; i++)
        PyTuple_SET_ITEM(names, i, Py_NewRef(Py_None));
    return names;
}

/* The row that an attribute is: x.T is x.t() turned, x.real is torch.real(x). */
static PyObject *get_by_row(PyObject *o, void *spelling) { return fxpy_call2(spelling, o, NULL); }

/* All dimensions the other way round. */
static PyObject *get_transposed(PyObject *o, void *unused) {
    int n = fxpy_tensor_meta(o)->ndim;
    (void)unused;
    PyObject *dims = PyTuple_New(n);
    for (int i = 0; dims && i < n; i++)
        PyTuple_SET_ITEM(dims, i, PyLong_FromLong(n - 1 - i));
    PyObject *out = dims ? fxpy_call2("Tensor.permute", o, dims) : NULL;
    Py_XDECREF(dims);
    return out;
}

static PyObject *get_matrix_transposed(PyObject *o, void *unused) {
    (void)unused;
    PyObject *args = Py_BuildValue("(Oii)", o, -2, -1);
    PyObject *out = args ? fxpy_call_spelling("Tensor.transpose", args, NULL) : NULL;
    Py_XDECREF(args);
    return out;
}

/* ---- gradients, which nothing computes ---- */

static PyObject *get_requires_grad(PyObject *o, void *unused) {
    (void)unused;
    return PyBool_FromLong(fxpy_tensor_meta(o)->requires_grad);
}

static int set_grad_need(PyObject *o, int yes) {
    fxs_tensor *t = fxpy_tensor_meta(o);
    if (yes && !fxs_is_floating(t->dtype) && !fxs_is_complex(t->dtype)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "only Tensors of floating point dtype can require gradients");
        return -1;
    }
    if (!yes && ((FxpyTensor *)o)->made_by && t->requires_grad) {
        PyErr_SetString(PyExc_RuntimeError,
                        "you can only change requires_grad flags of leaf variables. If you want "
                        "to use a computed variable in a subgraph that doesn't require "
                        "differentiation use var_no_grad = var.detach().");
        return -1;
    }
    t->requires_grad = yes;
    return 0;
}

static int set_requires_grad(PyObject *o, PyObject *value, void *unused) {
    (void)unused;
    int yes = value ? PyObject_IsTrue(value) : -1;
    if (!value)
        PyErr_SetString(PyExc_RuntimeError, "can't delete requires_grad");
    return yes < 0 ? -1 : set_grad_need(o, yes);
}

static PyObject *requires_grad_(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"requires_grad", NULL};
    int yes = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:requires_grad_", names, &yes) ||
        set_grad_need(o, yes) < 0)
        return NULL;
    return Py_NewRef(o);
}

static PyObject *get_is_leaf(PyObject *o, void *unused) {
    (void)unused;
    return PyBool_FromLong(!fxpy_tensor_meta(o)->requires_grad || !((FxpyTensor *)o)->made_by);
}

static PyObject *get_grad(PyObject *o, void *unused) {
    PyObject *grad = ((FxpyTensor *)o)->grad;
    (void)unused;
    return Py_NewRef(grad ? grad : Py_None);
}
static int set_grad(PyObject *o, PyObject *value, void *unused) {
    (void)unused;
    if (value && value != Py_None && !fxpy_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got %R",
                     Py_TYPE(value));
        return -1;
    }
    Py_XSETREF(((FxpyTensor *)o)->grad, value && value != Py_None ? Py_NewRef(value) : NULL);
    return 0;
}

static PyObject *get_hooks(PyObject *o, void *unused) {
    PyObject *hooks = ((FxpyTensor *)o)->backward_hooks;
    (void)unused;
    return Py_NewRef(hooks ? hooks : Py_None);
}
static int set_hooks(PyObject *o, PyObject *value, void *unused) {
    (void)unused;
    Py_XSETREF(((FxpyTensor *)o)->backward_hooks, Py_XNewRef(value));
    return 0;
}

static PyObject *no_autograd(PyObject *o, PyObject *args, PyObject *kwargs) {
    (void)o, (void)args, (void)kwargs;
    return PyErr_Format(PyExc_NotImplementedError,
                        "Tensor.backward is not supported (fxscope computes no gradients)");
}

/* ---- the same memory as another object ---- */

static PyObject *alias_as(PyTypeObject *type, PyObject *o, bool grad) {
    fxs_tensor *t;
    if (fxs_tensor_view(fxpy_ctx(), fxpy_tensor_meta(o), &t) != FXS_OK)
        return fxpy_raise();
    t->requires_grad = grad;
    return fxpy_tensor_alias(type, t, (FxpyTensor *)o);
}

static PyObject *get_data(PyObject *o, void *unused) {
    (void)unused;
    return alias_as(fxpy_tensor_type, o, false);
}

static int set_data(PyObject *o, PyObject *value, void *unused) {
    FxpyTensor *x = (FxpyTensor *)o, *y = (FxpyTensor *)value;
    fxs_tensor *t;
    (void)unused;
    if (!value || !fxpy_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "Variable data has to be a tensor, but got %.100s",
                     value ? Py_TYPE(value)->tp_name : "nothing");
        return -1;
    }
    if (fxs_tensor_view(fxpy_ctx(), fxpy_tensor_meta(value), &t) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    t->requires_grad = x->t->requires_grad;
    t->is_parameter = x->t->is_parameter;
    fxpy_lazy *lazy = fxpy_lazy_ref(y->lazy);
    fxs_tensor_unref(x->t);
    fxpy_lazy_unref(x->lazy);
    x->t = t;
    x->lazy = lazy;
    x->meta = y->meta;
    return 0;
}

static PyObject *make_subclass(PyObject *unused, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"cls", "data", "require_grad", NULL};
    PyObject *data;
    PyTypeObject *type;
    int grad = 0;
    (void)unused;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!|p:_make_subclass", names, &PyType_Type,
                                     &type, fxpy_tensor_base, &data, &grad))
        return NULL;
    if (!PyType_IsSubtype(type, fxpy_tensor_base))
        return PyErr_Format(PyExc_TypeError, "cls must be a subclass of torch.Tensor");
    const fxs_tensor *t = fxpy_tensor_meta(data);
    if (grad && !fxs_is_floating(t->dtype) && !fxs_is_complex(t->dtype))
        return PyErr_Format(PyExc_RuntimeError,
                            "Only Tensors of floating point and complex dtype can require "
                            "gradients");
    PyObject *o = alias_as(type, data, grad);
    const char *name = strrchr(type->tp_name, '.');
    if (o)
        fxpy_tensor_meta(o)->is_parameter =
            strcmp(name ? name + 1 : type->tp_name, "Parameter") == 0;
    return o;
}

static PyObject *as_subclass(PyObject *o, PyObject *cls) {
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, fxpy_tensor_base))
        return PyErr_Format(PyExc_TypeError, "as_subclass(): cls must be a subclass of Tensor");
    return alias_as((PyTypeObject *)cls, o, fxpy_tensor_meta(o)->requires_grad);
}

/* The same class, the same values in memory of its own, the same attributes. */
static PyObject *tensor_deepcopy(PyObject *o, PyObject *memo) {
    PyObject *key = PyLong_FromVoidPtr(o);
    PyObject *known = key && PyDict_Check(memo) ? PyDict_GetItemWithError(memo, key) : NULL;
    if (known || !key || PyErr_Occurred()) {
        Py_XDECREF(key);
        return Py_XNewRef(known);
    }
    FxpyTensor *x = (FxpyTensor *)o;
    if (x->made_by && x->t->requires_grad) {
        Py_DECREF(key);
        return PyErr_Format(PyExc_RuntimeError,
                            "Only Tensors created explicitly by the user (graph leaves) support "
                            "the deepcopy protocol at the moment");
    }
    PyObject *copy = fxpy_call2("Tensor.clone", o, NULL), *out = NULL;
    if (copy)
        out = alias_as(Py_TYPE(o), copy, x->t->requires_grad);
    Py_XDECREF(copy);
    if (out)
        fxpy_tensor_meta(out)->is_parameter = x->t->is_parameter;
    PyObject *dict = out ? PyObject_GetAttrString(o, "__dict__") : NULL;
    PyObject *module = dict && PyDict_GET_SIZE(dict) ? PyImport_ImportModule("copy") : NULL;
    PyObject *deep = module ? PyObject_CallMethod(module, "deepcopy", "OO", dict, memo) : NULL;
    if (out && PyDict_Check(memo) && PyDict_SetItem(memo, key, out) < 0)
        Py_CLEAR(out);
    if (out && deep && PyObject_SetAttrString(out, "__dict__", deep) < 0)
        Py_CLEAR(out);
    if (out && PyErr_Occurred())
        Py_CLEAR(out);
    Py_XDECREF(dict);
    Py_XDECREF(module);
    Py_XDECREF(deep);
    Py_DECREF(key);
    return out;
}

/* The same memory under another object, as torch's copy.copy gives. */
static PyObject *tensor_copy(PyObject *o, PyObject *unused) {
    PyObject *out = alias_as(Py_TYPE(o), o, fxpy_tensor_meta(o)->requires_grad);
    PyObject *dict = out ? PyObject_GetAttrString(o, "__dict__") : NULL;
    (void)unused;
    PyObject *own = dict && PyDict_GET_SIZE(dict) ? PyDict_Copy(dict) : NULL;
    if (own && PyObject_SetAttrString(out, "__dict__", own) < 0)
        Py_CLEAR(out);
    Py_XDECREF(dict);
    Py_XDECREF(own);
    if (out && PyErr_Occurred())
        Py_CLEAR(out);
    return out;
}

/* For pickle: class, values as nested lists, dtype's name, sizes, requires_grad. */
static PyObject *tensor_reduce(PyObject *o, PyObject *unused) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    PyObject *utils = PyImport_ImportModule("torch._utils");
    PyObject *rebuild = utils ? PyObject_GetAttrString(utils, "_rebuild_tensor") : NULL;
    PyObject *values = rebuild ? fxpy_tensor_tolist(o, unused) : NULL, *out = NULL;
    PyObject *sizes = values ? fxpy_size(t->ndim, t->sizes) : NULL;
    if (sizes)
        out = Py_BuildValue("(O(OOsOO))", rebuild, Py_TYPE(o), values, fxs_dtype_name(t->dtype),
                            sizes, t->requires_grad ? Py_True : Py_False);
    Py_XDECREF(utils);
    Py_XDECREF(rebuild);
    Py_XDECREF(values);
    Py_XDECREF(sizes);
    return out;
}

/* ---- towards numpy and text ---- */

int fxpy_numpy_is_ours(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    int ours = array ? array == (PyObject *)fxpy_tensor_type : -1;
    Py_XDECREF(numpy);
    Py_XDECREF(array);
    PyErr_Clear();
    return ours;
}

static PyObject *to_numpy(PyObject *o, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    if (fxpy_tensor_meta(o)->requires_grad)
        return PyErr_Format(PyExc_RuntimeError, "Can't call numpy() on Tensor that requires grad. "
                                                "Use tensor.detach().numpy() instead.");
    if (fxpy_numpy_is_ours() == 1)
        return fxpy_call2("Tensor.detach", o, NULL);
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *view = numpy ? PyMemoryView_FromObject(o) : NULL;
    PyObject *out = view ? PyObject_CallMethod(numpy, "asarray", "O", view) : NULL;
    Py_XDECREF(numpy);
    Py_XDECREF(view);
    return out;
}

static PyObject *to_array(PyObject *o, PyObject *args) {
    PyObject *dtype = NULL;
    if (!PyArg_ParseTuple(args, "|O:__array__", &dtype))
        return NULL;
    PyObject *array = to_numpy(o, NULL, NULL);
    if (!array || !dtype || dtype == Py_None)
        return array;
    PyObject *out = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return out;
}

/* What numpy's functions made of a tensor. */
static PyObject *array_wrap(PyObject *o, PyObject *args) {
    (void)o;
    PyObject *array = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;
    return array ? fxpy_tensor_from_buffer(array)
                 : PyErr_Format(PyExc_TypeError, "__array_wrap__(array)");
}

/* numpy leaves operators to what has a higher one. */
static PyObject *get_priority(PyObject *o, void *unused) {
    (void)o, (void)unused;
    return PyLong_FromLong(1000);
}

static PyObject *tensor_format(PyObject *o, PyObject *spec) {
    if (fxpy_tensor_meta(o)->ndim == 0 && !((FxpyTensor *)o)->meta &&
        Py_TYPE(o) == fxpy_tensor_type) {
        PyObject *item = fxpy_tensor_item(o, NULL);
        PyObject *text = item ? PyObject_Format(item, spec) : NULL;
        Py_XDECREF(item);
        return text;
    }
    PyObject *text = PyObject_Str(o), *out = text ? PyObject_Format(text, spec) : NULL;
    Py_XDECREF(text);
    return out;
}

/* torch.FloatTensor and the like, by the dtype. */
PyObject *fxpy_tensor_type_name(PyObject *o) {
    static const char *const names[FXS_DTYPE_COUNT] = {[FXS_FLOAT32] = "Float",
                                                       [FXS_FLOAT64] = "Double",
                                                       [FXS_FLOAT16] = "Half",
                                                       [FXS_BFLOAT16] = "BFloat16",
                                                       [FXS_INT64] = "Long",
                                                       [FXS_INT32] = "Int",
                                                       [FXS_INT16] = "Short",
                                                       [FXS_INT8] = "Char",
                                                       [FXS_UINT8] = "Byte",
                                                       [FXS_BOOL] = "Bool",
                                                       [FXS_COMPLEX64] = "ComplexFloat",
                                                       [FXS_COMPLEX128] = "ComplexDouble"};
    const char *name = names[fxpy_tensor_meta(o)->dtype];
    return PyUnicode_FromFormat("torch.%sTensor", name ? name : "");
}

/* x.type() is a text; x.type(torch.float32), x.type('torch.FloatTensor') convert. */
static PyObject *tensor_type(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "non_blocking", NULL};
    PyObject *to = NULL, *unused = NULL, *found = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:type", names, &to, &unused))
        return NULL;
    if (!to || to == Py_None)
        return fxpy_tensor_type_name(o);
    fxs_dtype d;
    if (fxpy_is_dtype(to, &d))
        return fxpy_call2("Tensor.to", o, to);
    found = PyUnicode_Check(to) ? Py_NewRef(to) : PyObject_GetAttrString(to, "__name__");
    const char *s = found ? PyUnicode_AsUTF8(found) : NULL;
    char lower[40] = "";
    if (s && strrchr(s, '.'))
        s = strrchr(s, '.') + 1;
    for (size_t i = 0; s && s[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)(s[i] | 32), lower[i + 1] = '\0';
    char *end = strstr(lower, "tensor");
    static const char *const odd[][2] = {{"char", "int8"},
                                         {"byte", "uint8"},
                                         {"complexfloat", "cfloat"},
                                         {"complexdouble", "cdouble"}};
    if (end)
        *end = '\0';
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (strcmp(lower, odd[i][0]) == 0)
            snprintf(lower, sizeof lower, "%s", odd[i][1]);
    bool known = s && fxs_dtype_find(lower, strlen(lower), &d);
    Py_XDECREF(found);
    if (!known)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "invalid type: %R", to);
    PyObject *dtype = fxpy_dtype(d), *out = fxpy_call2("Tensor.to", o, dtype);
    Py_DECREF(dtype);
    return out;
}

static PyObject *data_ptr(PyObject *o, PyObject *unused) {
    (void)unused;
    const fxs_tensor *t = fxpy_tensor_get(o);
    return t ? PyLong_FromVoidPtr(fxs_tensor_data(t)) : NULL;
}

static PyObject *same(PyObject *o, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    return Py_NewRef(o);
}

static PyObject *nothing(PyObject *o, PyObject *args, PyObject *kwargs) {
    (void)o, (void)args, (void)kwargs;
    Py_RETURN_NONE;
}

#define WITH_KEYWORDS(f) (PyCFunction)(void (*)(void)) f, METH_VARARGS | METH_KEYWORDS, NULL

PyMethodDef fxpy_tensor_methods[] = {
    {"item", fxpy_tensor_item, METH_NOARGS, NULL},
    {"tolist", fxpy_tensor_tolist, METH_NOARGS, NULL},
    {"requires_grad_", WITH_KEYWORDS(requires_grad_)},
    {"backward", WITH_KEYWORDS(no_autograd)},
    {"retain_grad", WITH_KEYWORDS(nothing)},
    {"register_hook", WITH_KEYWORDS(nothing)},
    {"trunc_normal_", fxpy_tensor_trunc_normal, METH_VARARGS, NULL},
    {"numpy", WITH_KEYWORDS(to_numpy)},
    {"__array__", to_array, METH_VARARGS, NULL},
    {"__array_wrap__", array_wrap, METH_VARARGS, NULL},
    {"type", WITH_KEYWORDS(tensor_type)},
    {"data_ptr", data_ptr, METH_NOARGS, NULL},
    {"pin_memory", WITH_KEYWORDS(same)},
    {"share_memory_", WITH_KEYWORDS(same)},
    {"as_subclass", as_subclass, METH_O, NULL},
    {"_make_subclass", (PyCFunction)(void (*)(void))make_subclass,
     METH_VARARGS | METH_KEYWORDS | METH_STATIC, NULL},
    {"__copy__", tensor_copy, METH_NOARGS, NULL},
    {"__deepcopy__", tensor_deepcopy, METH_O, NULL},
    {"__reduce_ex__", tensor_reduce, METH_O, NULL},
    {"__format__", tensor_format, METH_O, NULL},
    {0},
};

PyGetSetDef fxpy_tensor_attributes[] = {
    {"shape", get_shape, NULL, NULL, NULL},
    {"dtype", get_dtype, NULL, NULL, NULL},
    {"device", get_device, NULL, NULL, NULL},
    {"layout", get_layout, NULL, NULL, NULL},
    {"ndim", get_ndim, NULL, NULL, NULL},
    {"itemsize", get_itemsize, NULL, NULL, NULL},
    {"nbytes", get_nbytes, NULL, NULL, NULL},
    {"names", get_names, NULL, NULL, NULL},
    {"T", get_transposed, NULL, NULL, NULL},
    {"mT", get_matrix_transposed, NULL, NULL, NULL},
    {"H", get_by_row, NULL, NULL, "Tensor.adjoint"},
    {"mH", get_by_row, NULL, NULL, "Tensor.adjoint"},
    {"real", get_by_row, NULL, NULL, "torch.real"},
    {"imag", get_by_row, NULL, NULL, "torch.imag"},
    {"data", get_data, set_data, NULL, NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, NULL, NULL},
    {"grad", get_grad, set_grad, NULL, NULL},
    {"_grad", get_grad, set_grad, NULL, NULL},
    {"_backward_hooks", get_hooks, set_hooks, NULL, NULL},
    {"__array_priority__", get_priority, NULL, NULL, NULL},
    {"grad_fn", get_none, NULL, NULL, NULL},
    {"_base", get_none, NULL, NULL, NULL},
    {"name", get_none, NULL, NULL, NULL},
    {"is_leaf", get_is_leaf, NULL, NULL, NULL},
    {"is_meta", get_is_meta, NULL, NULL, NULL},
    {"is_cuda", get_false, NULL, NULL, NULL},
    {"is_cpu", get_is_cpu, NULL, NULL, NULL},
    {"is_sparse", get_false, NULL, NULL, NULL},
    {"is_sparse_csr", get_false, NULL, NULL, NULL},
    {"is_quantized", get_false, NULL, NULL, NULL},
    {"is_mkldnn", get_false, NULL, NULL, NULL},
    {"is_mps", get_false, NULL, NULL, NULL},
    {"is_xpu", get_false, NULL, NULL, NULL},
    {"is_nested", get_false, NULL, NULL, NULL},
    {"retains_grad", get_false, NULL, NULL, NULL},
    {"output_nr", get_zero, NULL, NULL, NULL},
    {"_version", get_zero, NULL, NULL, NULL},
    {0},
};
