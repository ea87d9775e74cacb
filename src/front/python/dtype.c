/* dtype.c: torch.dtype and torch.memory_format: the library's enumerations as Python's singletons.
 */
#include "front/python/fxpy.h"

typedef struct FxpyDtype {
    PyObject_HEAD fxs_dtype d;
} FxpyDtype;

typedef struct FxpyFormat {
    PyObject_HEAD fxs_memory_format f;
} FxpyFormat;

static PyTypeObject *dtype_type, *format_type;
static PyObject *dtypes[FXS_DTYPE_COUNT], *formats[FXS_MEMORY_FORMAT_COUNT];
static fxs_dtype default_dtype = FXS_FLOAT32;

PyObject *fxpy_dtype(fxs_dtype d) { return Py_NewRef(dtypes[d]); }
fxs_dtype fxpy_default_dtype(void) { return default_dtype; }
PyObject *fxpy_memory_format(fxs_memory_format f) {
    return Py_NewRef(f < FXS_MEMORY_FORMAT_COUNT ? formats[f] : Py_None);
}

bool fxpy_is_dtype(PyObject *o, fxs_dtype *out) {
    if (Py_TYPE(o) != dtype_type)
        return false;
    *out = ((FxpyDtype *)o)->d;
    return true;
}

bool fxpy_is_format(PyObject *o, fxs_memory_format *out) {
    if (Py_TYPE(o) != format_type)
        return false;
    *out = ((FxpyFormat *)o)->f;
    return true;
}

/* ---- torch.dtype ---- */

static PyObject *dtype_repr(PyObject *o) {
    return PyUnicode_FromFormat("torch.%s", fxs_dtype_name(((FxpyDtype *)o)->d));
}
/* pickle and copy find the singleton by its name in torch. */
static PyObject *dtype_reduce(PyObject *o, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(fxs_dtype_name(((FxpyDtype *)o)->d));
}
static PyObject *same(PyObject *o, PyObject *unused) {
    (void)unused;
    return Py_NewRef(o);
}
static PyObject *is_floating_point(PyObject *o, void *unused) {
    (void)unused;
    return PyBool_FromLong(fxs_is_floating(((FxpyDtype *)o)->d));
}
static PyObject *is_complex(PyObject *o, void *unused) {
    (void)unused;
    return PyBool_FromLong(fxs_is_complex(((FxpyDtype *)o)->d));
}
static PyObject *is_signed(PyObject *o, void *unused) {
    fxs_dtype d = ((FxpyDtype *)o)->d;
    (void)unused;
    return PyBool_FromLong(!(d == FXS_UINT8 || d == FXS_BOOL || d == FXS_UINT16 ||
                             d == FXS_UINT32 || d == FXS_UINT64 || d == FXS_QUINT8 ||
                             d == FXS_QUINT4X2 || d == FXS_QUINT2X4));
}
static PyObject *itemsize(PyObject *o, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(fxs_dtype_size(((FxpyDtype *)o)->d));
}

static PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, NULL},
    {"__copy__", same, METH_NOARGS, NULL},
    {"__deepcopy__", same, METH_O, NULL},
    {0},
};
static PyGetSetDef dtype_attributes[] = {
    {"is_floating_point", is_floating_point, NULL, NULL, NULL},
    {"is_complex", is_complex, NULL, NULL, NULL},
    {"is_signed", is_signed, NULL, NULL, NULL},
    {"itemsize", itemsize, NULL, NULL, NULL},
    {0},
};
static PyType_Slot dtype_slots[] = {
    {Py_tp_repr, dtype_repr},
    {Py_tp_methods, dtype_methods},
    {Py_tp_getset, dtype_attributes},
    {0, NULL},
};
static PyType_Spec dtype_spec = {
    .name = "torch.dtype",
    .basicsize = sizeof(FxpyDtype),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = dtype_slots,
};

/* ---- torch.memory_format ---- */

static const char *const format_texts[] = {
#define X(name, text) text,
    FXS_MEMORY_FORMAT_MAP(X)
#undef X
};

static PyObject *format_repr(PyObject *o) {
    return PyUnicode_FromString(format_texts[((FxpyFormat *)o)->f]);
}
static PyObject *format_reduce(PyObject *o, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(format_texts[((FxpyFormat *)o)->f] + strlen("torch."));
}

static PyMethodDef format_methods[] = {
    {"__reduce__", format_reduce, METH_NOARGS, NULL},
    {"__copy__", same, METH_NOARGS, NULL},
    {"__deepcopy__", same, METH_O, NULL},
    {0},
};
static PyType_Slot format_slots[] = {
    {Py_tp_repr, format_repr},
    {Py_tp_methods, format_methods},
    {0, NULL},
};
static PyType_Spec format_spec = {
    .name = "torch.memory_format",
    .basicsize = sizeof(FxpyFormat),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = format_slots,
};

/* ---- the default ---- */

static PyObject *get_default(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return fxpy_dtype(default_dtype);
}

static PyObject *set_default(PyObject *self, PyObject *o) {
    fxs_dtype d;
    (void)self;
    if (!fxpy_is_dtype(o, &d))
        return PyErr_Format(PyExc_TypeError, "invalid dtype object");
    if (!fxs_is_floating(d))
        return PyErr_Format(PyExc_TypeError,
                            "only floating-point types are supported as the default type");
    default_dtype = d;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"get_default_dtype", get_default, METH_NOARGS, NULL},
    {"set_default_dtype", set_default, METH_O, NULL},
    {0},
};

/* Names that torch has for the same dtype. */
static const struct {
    const char *name;
    fxs_dtype d;
} aliases[] = {
    {"float", FXS_FLOAT32},   {"double", FXS_FLOAT64},   {"half", FXS_FLOAT16},
    {"long", FXS_INT64},      {"int", FXS_INT32},        {"short", FXS_INT16},
    {"chalf", FXS_COMPLEX32}, {"cfloat", FXS_COMPLEX64}, {"cdouble", FXS_COMPLEX128},
};

static int add_dtypes(PyObject *table) {
    for (int d = 0; d < FXS_DTYPE_COUNT; d++) {
        FxpyDtype *o = PyObject_New(FxpyDtype, dtype_type);
        if (!o)
            return -1;
        o->d = (fxs_dtype)d;
        dtypes[d] = (PyObject *)o;
        if (PyDict_SetItemString(table, fxs_dtype_name((fxs_dtype)d), dtypes[d]) < 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (PyDict_SetItemString(table, aliases[i].name, dtypes[aliases[i].d]) < 0)
            return -1;
    return 0;
}

static int add_formats(PyObject *table) {
    for (int f = 0; f < FXS_MEMORY_FORMAT_COUNT; f++) {
        FxpyFormat *o = PyObject_New(FxpyFormat, format_type);
        if (!o)
            return -1;
        o->f = (fxs_memory_format)f;
        formats[f] = (PyObject *)o;
        if (PyDict_SetItemString(table, format_texts[f] + strlen("torch."), formats[f]) < 0)
            return -1;
    }
    return 0;
}

/* _fxscope.dtypes and .memory_formats: name -> object, as they stand in torch. */
int fxpy_init_dtype(PyObject *module) {
    PyObject *d = PyDict_New(), *f = PyDict_New();
    dtype_type = (PyTypeObject *)PyType_FromSpec(&dtype_spec);
    format_type = (PyTypeObject *)PyType_FromSpec(&format_spec);
    int bad = !d || !f || !dtype_type || !format_type ||
              fxpy_add_type(module, "dtype", dtype_type) < 0 ||
              fxpy_add_type(module, "memory_format", format_type) < 0 || add_dtypes(d) < 0 ||
              add_formats(f) < 0 || PyModule_AddFunctions(module, functions) < 0 ||
              PyModule_AddObjectRef(module, "dtypes", d) < 0 ||
              PyModule_AddObjectRef(module, "memory_formats", f) < 0;
    Py_XDECREF(d);
    Py_XDECREF(f);
    return bad ? -1 : 0;
}
