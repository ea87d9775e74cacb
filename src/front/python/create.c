/* create.c: tensors from Python's data: nested sequences, numbers, buffers (numpy's arrays), and
 * the old constructor torch.Tensor(...). What torch infers of dtypes and refuses is inferred and
 * refused here. */
#include "front/python/tensor.h"

#include <math.h>

/* ---- elements ---- */

static bool is_sequence(PyObject *o) {
    return !fxpy_is_tensor(o) && PySequence_Check(o) && !PyDict_Check(o);
}

static bool is_text(PyObject *o) { return PyUnicode_Check(o) || PyBytes_Check(o); }

static int invalid_type(PyObject *o) {
    PyErr_Format(PyExc_TypeError, "new(): invalid data type '%.100s'", Py_TYPE(o)->tp_name);
    return -1;
}

/* Widens *d by what o holds; FXS_DTYPE_COUNT is nothing yet. */
static int infer(PyObject *o, fxs_dtype *d) {
    fxs_dtype own;
    PyObject *scalar = PyFloat_CheckExact(o) || PyLong_CheckExact(o) ? NULL : fxpy_plain_scalar(o);
    if (!scalar && PyErr_Occurred())
        return -1;
    if (scalar) { /* numpy's scalars know their own dtype */
        PyObject *t = fxpy_tensor_from_buffer(o);
        Py_DECREF(scalar);
        if (!t)
            return -1;
        own = fxpy_tensor_meta(t)->dtype;
        Py_DECREF(t);
    } else if (fxpy_is_tensor(o)) {
        own = fxpy_tensor_meta(o)->dtype;
    } else if (PyFloat_Check(o)) {
        own = fxpy_default_dtype();
    } else if (PyBool_Check(o)) {
        own = FXS_BOOL;
    } else if (PyLong_Check(o) || (PyIndex_Check(o) && !is_sequence(o))) {
        own = FXS_INT64;
    } else if (PyComplex_Check(o)) {
        own = fxpy_default_dtype() == FXS_FLOAT64 ? FXS_COMPLEX128 : FXS_COMPLEX64;
    } else if (is_text(o)) {
        return invalid_type(o);
    } else if (!is_sequence(o)) {
        PyErr_Format(PyExc_RuntimeError, "Could not infer dtype of %.100s", Py_TYPE(o)->tp_name);
        return -1;
    } else {
        PyObject *fast = PySequence_Fast(o, "a sequence expected");
        int bad = !fast || Py_EnterRecursiveCall(" while reading nested data") ? -1 : 0;
        for (Py_ssize_t i = 0; !bad && i < PySequence_Fast_GET_SIZE(fast); i++)
            bad = infer(PySequence_Fast_ITEMS(fast)[i], d);
        if (fast)
            Py_LeaveRecursiveCall();
        Py_XDECREF(fast);
        return bad;
    }
    *d = *d == FXS_DTYPE_COUNT ? own : fxs_promote(*d, own);
    return 0;
}

static int sizes_of(PyObject *o, int *ndim, int64_t *sizes) {
    PyObject *at = Py_NewRef(o);
    *ndim = 0;
    while (at && is_sequence(at)) {
        Py_ssize_t n = PySequence_Size(at);
        if (n < 0)
            break;
        if (is_text(at) || *ndim == FXS_MAX_DIM) {
            PyErr_Format(PyExc_ValueError, "too many dimensions '%.100s'", Py_TYPE(at)->tp_name);
            break;
        }
        sizes[(*ndim)++] = n;
        if (n == 0)
            break;
        Py_SETREF(at, PySequence_GetItem(at, 0));
    }
    Py_XDECREF(at);
    return PyErr_Occurred() ? -1 : 0;
}

static int store_complex(fxs_dtype d, char *p, PyObject *o) {
    Py_complex z = PyComplex_AsCComplex(o);
    float f[] = {(float)z.real, (float)z.imag};
    double g[] = {z.real, z.imag};
    if (PyErr_Occurred())
        return -1;
    memcpy(p, d == FXS_COMPLEX64 ? (void *)f : (void *)g, fxs_dtype_size(d));
    return 0;
}

/* The range of an integer dtype. Negative numbers wrap around in unsigned ones. */
static int check_range(fxs_dtype d, double x, bool whole) {
    double high = d == FXS_UINT64 ? 0x1p64 : 0x1p63, low;
    bool is_unsigned = d == FXS_UINT8 || d == FXS_UINT16 || d == FXS_UINT32 || d == FXS_UINT64;
    if (fxs_dtype_size(d) < 8)
        high = ldexp(1, 8 * (int)fxs_dtype_size(d) - !is_unsigned);
    low = !is_unsigned ? -high : whole ? 1 - high : 0;
    if (x >= low && (x < high || (whole && x <= high && high == 0x1p63)))
        return 0;
    PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow",
                 fxs_dtype_name(d));
    return -1;
}

static int store(fxs_dtype d, char *p, PyObject *o) {
    if (fxpy_is_tensor(o)) {
        PyObject *item = fxpy_tensor_item(o, NULL);
        int bad = item ? store(d, p, item) : -1;
        Py_XDECREF(item);
        return bad;
    }
    if (d == FXS_COMPLEX64 || d == FXS_COMPLEX128)
        return store_complex(d, p, o);
    if (d == FXS_BOOL && PyComplex_Check(o)) {
        fxs_store_int(d, p, PyObject_IsTrue(o));
        return 0;
    }
    if (fxs_is_floating(d) || PyFloat_Check(o)) {
        double x = PyFloat_AsDouble(o);
        if (x == -1 && PyErr_Occurred())
            return -1;
        if (fxs_is_integral(d) && check_range(d, x, false) < 0)
            return -1;
        if (d == FXS_BOOL)
            fxs_store_int(d, p, x != 0);
        else
            fxs_store_double(d, p, x);
        return 0;
    }
    PyObject *whole = PyNumber_Index(o);
    int overflow = 0;
    long long i = whole ? PyLong_AsLongLongAndOverflow(whole, &overflow) : -1;
    Py_XDECREF(whole);
    if (overflow)
        PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
    if (PyErr_Occurred())
        return -1;
    if (fxs_is_integral(d) && check_range(d, (double)i, true) < 0)
        return -1;
    fxs_store_int(d, p, d == FXS_BOOL ? i != 0 : i);
    return 0;
}

static int fill(fxs_tensor *t, int dim, char **p, PyObject *o) {
    if (dim == t->ndim) {
        if (store(t->dtype, *p, o) < 0)
            return -1;
        *p += fxs_dtype_size(t->dtype);
        return 0;
    }
    PyObject *fast = is_sequence(o) ? PySequence_Fast(o, "not a sequence") : NULL;
    if (!fast) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "not a sequence");
        return -1;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    int bad = 0;
    if (n != t->sizes[dim]) {
        PyErr_Format(PyExc_ValueError, "expected sequence of length %lld at dim %d (got %zd)",
                     (long long)t->sizes[dim], dim, n);
        bad = -1;
    }
    for (Py_ssize_t i = 0; !bad && i < n; i++)
        bad = fill(t, dim + 1, p, PySequence_Fast_ITEMS(fast)[i]);
    Py_DECREF(fast);
    return bad;
}

static bool has_buffer(PyObject *o) {
    return PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o) &&
           !fxpy_is_tensor(o);
}

/* ---- torch.tensor ---- */

static PyObject *cast(PyObject *t, fxs_dtype dtype) { /* takes t over */
    if (!t || dtype == FXS_DTYPE_COUNT || fxpy_tensor_meta(t)->dtype == dtype)
        return t;
    PyObject *d = fxpy_dtype(dtype), *out = fxpy_call2("Tensor.to", t, d);
    Py_DECREF(d);
    Py_DECREF(t);
    return out;
}

static PyObject *from_nested(PyObject *data, fxs_dtype dtype) {
    int64_t sizes[FXS_MAX_DIM];
    int ndim;
    fxs_tensor *t;
    if (is_text(data)) {
        invalid_type(data);
        return NULL;
    }
    if (sizes_of(data, &ndim, sizes) < 0 || (dtype == FXS_DTYPE_COUNT && infer(data, &dtype) < 0))
        return NULL;
    if (dtype == FXS_DTYPE_COUNT)
        dtype = fxpy_default_dtype(); /* nothing is in it */
    if (fxs_tensor_new(fxpy_ctx(), dtype, ndim, sizes, &t) != FXS_OK)
        return fxpy_raise();
    char *p = fxs_tensor_data(t);
    if (fxs_tensor_numel(t) > 0 && fill(t, 0, &p, data) < 0) {
        fxs_tensor_unref(t);
        return NULL;
    }
    return fxpy_tensor_new(t);
}

PyObject *fxpy_tensor_from_data(PyObject *data, fxs_dtype dtype) {
    if (fxpy_is_tensor(data)) {
        PyObject *copy = fxpy_call2("Tensor.clone", data, NULL);
        if (copy) {
            fxpy_tensor_meta(copy)->requires_grad = false;
            ((FxpyTensor *)copy)->made_by = NULL;
        }
        return cast(copy, dtype);
    }
    return has_buffer(data) ? cast(fxpy_tensor_from_buffer(data), dtype) : from_nested(data, dtype);
}

/* ---- their arguments ---- */

static int parse(PyObject *const *args, Py_ssize_t n, PyObject *kwnames, const char *format,
                 char **names, ...) {
    PyObject *tuple = PyTuple_New(n), *dict = PyDict_New();
    Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    int good = tuple && dict;
    va_list ap;
    for (Py_ssize_t i = 0; good && i < n; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; good && i < named; i++)
        good = PyDict_SetItem(dict, PyTuple_GET_ITEM(kwnames, i), args[n + i]) == 0;
    va_start(ap, names);
    good = good && PyArg_VaParseTupleAndKeywords(tuple, dict, format, names, ap);
    va_end(ap);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return good ? 0 : -1;
}

static int optional_dtype(PyObject *o, fxs_dtype *out) {
    *out = FXS_DTYPE_COUNT;
    if (!o || o == Py_None || fxpy_is_dtype(o, out))
        return 0;
    PyErr_Format(PyExc_TypeError, "argument 'dtype' must be torch.dtype, not %.100s",
                 Py_TYPE(o)->tp_name);
    return -1;
}

/* A tensor on device='meta' has no values. */
static PyObject *on_device(PyObject *t, PyObject *device) {
    char text[32];
    const char *s = device && PyUnicode_Check(device) ? PyUnicode_AsUTF8(device) : NULL;
    if (device && fxpy_device_text(device, text))
        s = text;
    if (!t || !s || strcmp(s, "meta") != 0)
        return t;
    fxs_tensor *m;
    fxs_status status = fxs_tensor_to_meta(fxpy_ctx(), fxpy_tensor_meta(t), &m);
    Py_DECREF(t);
    PyObject *o = status == FXS_OK ? fxpy_tensor_new(m) : fxpy_raise();
    if (o)
        ((FxpyTensor *)o)->meta = true;
    return o;
}

static PyObject *run_tensor(PyObject *self, PyObject *const *args, Py_ssize_t n,
                            PyObject *kwnames) {
    static char *names[] = {"data", "dtype", "device", "requires_grad", "pin_memory", NULL};
    PyObject *data, *dtype = NULL, *device = NULL, *pin = NULL;
    int grad = 0;
    fxs_dtype d;
    (void)self;
    if (parse(args, n, kwnames, "O|$OOpO:tensor", names, &data, &dtype, &device, &grad, &pin) < 0 ||
        optional_dtype(dtype, &d) < 0)
        return NULL;
    PyObject *t = on_device(fxpy_tensor_from_data(data, d), device);
    if (t && grad && !fxs_is_floating(fxpy_tensor_meta(t)->dtype) &&
        !fxs_is_complex(fxpy_tensor_meta(t)->dtype)) {
        Py_DECREF(t);
        return PyErr_Format(PyExc_RuntimeError, "Only Tensors of floating point and complex dtype "
                                                "can require gradients");
    }
    if (t)
        fxpy_tensor_meta(t)->requires_grad = grad;
    return t;
}

static PyObject *run_as_tensor(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    static char *names[] = {"data", "dtype", "device", "copy", "requires_grad", NULL};
    PyObject *data, *dtype = NULL, *device = NULL, *copy = NULL, *grad = NULL;
    fxs_dtype d;
    (void)self;
    if (parse(args, n, kwnames, "O|OO$OO:as_tensor", names, &data, &dtype, &device, &copy, &grad) <
            0 ||
        optional_dtype(dtype, &d) < 0)
        return NULL;
    bool shared = !(copy && PyObject_IsTrue(copy) == 1);
    if (shared && fxpy_is_tensor(data))
        return on_device(cast(Py_NewRef(data), d), device);
    if (shared && has_buffer(data))
        return on_device(cast(fxpy_tensor_share_buffer(data), d), device);
    return on_device(fxpy_tensor_from_data(data, d), device);
}

static PyObject *run_from_numpy(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *kwnames) {
    (void)self;
    if (n != 1 || kwnames)
        return PyErr_Format(PyExc_TypeError, "from_numpy() takes exactly one argument (%zd given)",
                            n);
    if (fxpy_numpy_is_ours() == 1 && fxpy_is_tensor(args[0]))
        return Py_NewRef(args[0]);
    if (!has_buffer(args[0]))
        return PyErr_Format(PyExc_TypeError, "expected np.ndarray (got %.100s)",
                            Py_TYPE(args[0])->tp_name);
    return fxpy_tensor_share_buffer(args[0]);
}

static PyObject *run_is_tensor(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *kwnames) {
    (void)self;
    if (n != 1 || kwnames)
        return PyErr_Format(PyExc_TypeError, "is_tensor() takes exactly one argument");
    return PyBool_FromLong(fxpy_is_tensor(args[0]));
}

/* torch._assert(condition, message): Python's own assertion. */
static PyObject *run_assert(PyObject *self, PyObject *const *args, Py_ssize_t n,
                            PyObject *kwnames) {
    (void)self;
    if (n != 2 || kwnames)
        return PyErr_Format(PyExc_TypeError, "_assert() takes a condition and a message");
    int yes = PyObject_IsTrue(args[0]);
    if (yes == 0)
        PyErr_SetObject(PyExc_AssertionError, args[1]);
    return yes > 0 ? Py_NewRef(Py_None) : NULL;
}

/* ---- dtypes of results ---- */

static int two_dtypes(const char *name, PyObject *const *args, Py_ssize_t n, fxs_dtype *a,
                      fxs_dtype *b) {
    if (n == 2 && fxpy_is_dtype(args[0], a) && fxpy_is_dtype(args[1], b))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() takes two dtypes", name);
    return -1;
}

static PyObject *run_promote_types(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                   PyObject *kwnames) {
    fxs_dtype a, b;
    (void)self, (void)kwnames;
    return two_dtypes("promote_types", args, n, &a, &b) < 0 ? NULL : fxpy_dtype(fxs_promote(a, b));
}

/* b c i f: what a dtype of one class can't lose by a cast to a dtype of another. */
static int class_of(fxs_dtype d) {
    return d == FXS_BOOL ? 0 : fxs_is_floating(d) ? 2 : fxs_is_complex(d) ? 3 : 1;
}

static PyObject *run_can_cast(PyObject *self, PyObject *const *args, Py_ssize_t n,
                              PyObject *kwnames) {
    fxs_dtype a, b;
    (void)self, (void)kwnames;
    return two_dtypes("can_cast", args, n, &a, &b) < 0
               ? NULL
               : PyBool_FromLong(class_of(a) <= class_of(b));
}

/* The dtype of a + b. */
static PyObject *run_result_type(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                 PyObject *kwnames) {
    (void)self, (void)kwnames;
    if (n != 2)
        return PyErr_Format(PyExc_TypeError, "result_type() takes two tensors or numbers");
    PyObject *x = fxpy_tensor_from_data(args[0], FXS_DTYPE_COUNT);
    PyObject *y = x ? fxpy_tensor_from_data(args[1], FXS_DTYPE_COUNT) : NULL;
    PyObject *sum = y ? PyNumber_Add(fxpy_is_tensor(args[0]) ? args[0] : x,
                                     fxpy_is_tensor(args[0]) ? args[1] : y)
                      : NULL;
    PyObject *out = sum ? fxpy_dtype(fxpy_tensor_meta(sum)->dtype) : NULL;
    Py_XDECREF(x);
    Py_XDECREF(y);
    Py_XDECREF(sum);
    return out;
}

const fxpy_native fxpy_natives[] = {
    {"torch.tensor", run_tensor},           {"torch.as_tensor", run_as_tensor},
    {"torch.asarray", run_as_tensor},       {"torch.from_numpy", run_from_numpy},
    {"torch.is_tensor", run_is_tensor},     {"torch._assert", run_assert},
    {"torch.can_cast", run_can_cast},       {"torch.promote_types", run_promote_types},
    {"torch.result_type", run_result_type}, {0},
};

/* ---- torch.Tensor(2, 3), torch.Tensor([1, 2]) ---- */

static PyObject *of_sizes(fxs_dtype d, PyObject *sizes) {
    PyObject *dtype = fxpy_dtype(d), *kwargs = Py_BuildValue("{sO}", "dtype", dtype);
    PyObject *args = PyTuple_Pack(1, sizes);
    PyObject *out = kwargs && args ? fxpy_call_spelling("torch.empty", args, kwargs) : NULL;
    Py_DECREF(dtype);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    return out;
}

static PyObject *legacy(fxs_dtype d, PyObject *args) {
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    PyObject *first = n ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (n == 0) {
        PyObject *size = Py_BuildValue("(i)", 0), *out = size ? of_sizes(d, size) : NULL;
        Py_XDECREF(size);
        return out;
    }
    if (n == 1 && fxpy_is_tensor(first))
        return cast(fxpy_call2("Tensor.detach", first, NULL), d);
    if (n == 1 && Py_TYPE(first) == fxpy_size_type)
        return of_sizes(d, first);
    bool array = n == 1 && has_buffer(first) && PySequence_Check(first);
    if (array || (n == 1 && !PyIndex_Check(first)))
        return fxpy_tensor_from_data(first, d);
    return of_sizes(d, args);
}

PyObject *fxpy_tensor_new_legacy(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *data = kwargs ? PyDict_GetItemString(kwargs, "data") : NULL;
    PyObject *all = data ? PyTuple_Pack(1, data) : Py_NewRef(args);
    PyObject *t = all ? legacy(fxpy_default_dtype(), all) : NULL, *out = NULL;
    Py_XDECREF(all);
    if (!t || type == fxpy_tensor_type)
        return t;
    FxpyTensor *x = (FxpyTensor *)t; /* a user's class */
    out = fxpy_tensor_alias(type, fxs_tensor_ref(x->t), x);
    Py_DECREF(t);
    return out;
}

/* _legacy_tensor(dtype, *args): torch.FloatTensor and the like. */
static PyObject *legacy_tensor(PyObject *self, PyObject *args) {
    fxs_dtype d;
    (void)self;
    if (PyTuple_GET_SIZE(args) < 1 || !fxpy_is_dtype(PyTuple_GET_ITEM(args, 0), &d))
        return PyErr_Format(PyExc_TypeError, "_legacy_tensor(dtype, ...)");
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
    PyObject *out = rest ? legacy(d, rest) : NULL;
    Py_XDECREF(rest);
    return out;
}

/* tensor.trunc_normal_(mean, std, a, b): for torch.nn.init. */
PyObject *fxpy_tensor_trunc_normal(PyObject *o, PyObject *args) {
    PyObject *generator = NULL;
    fxpy_fill f = {.kind = FXPY_FILL_TRUNC_NORMAL, .b = 1, .low = -2, .high = 2};
    if (!PyArg_ParseTuple(args, "|ddddO:trunc_normal_", &f.a, &f.b, &f.low, &f.high, &generator))
        return NULL;
    FxpyTensor *x = (FxpyTensor *)o;
    f.seed = fxpy_next_seed(generator);
    if (fxpy_tensor_unread(x)) {
        int status = fxpy_lazy_patch(x->lazy, x->t, &f);
        if (status <= 0)
            return status < 0 ? NULL : Py_NewRef(o);
    }
    if (x->meta)
        return Py_NewRef(o);
    fxs_tensor *t = fxpy_tensor_get(o);
    fxpy_lazy *l = t ? fxpy_lazy_new(t, &f) : NULL;
    if (!l || fxpy_lazy_write(l, t) < 0) {
        fxpy_lazy_unref(l);
        return NULL;
    }
    fxpy_lazy_unref(l);
    return Py_NewRef(o);
}

static PyMethodDef functions[] = {
    {"_legacy_tensor", legacy_tensor, METH_VARARGS, NULL},
    {0},
};

int fxpy_init_create(PyObject *module) { return PyModule_AddFunctions(module, functions); }
