/* size.c: torch.Size, a tuple that shows what it is and stays what it is when it is cut, joined or
 * repeated. */
#include "front/python/fxpy.h"

PyTypeObject *fxpy_size_type;

static PyObject *as_size(PyObject *tuple) {
    if (!tuple || !PyTuple_Check(tuple))
        return tuple;
    PyObject *args = PyTuple_Pack(1, tuple);
    PyObject *size = args ? PyTuple_Type.tp_new(fxpy_size_type, args, NULL) : NULL;
    Py_XDECREF(args);
    Py_DECREF(tuple);
    return size;
}

PyObject *fxpy_size(int n, const int64_t *sizes) {
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *o = PyLong_FromLongLong(sizes[i]);
        if (!o)
            Py_CLEAR(t);
        else
            PyTuple_SET_ITEM(t, i, o);
    }
    return as_size(t);
}

static PyObject *size_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *size = PyTuple_Type.tp_new(type, args, kwargs);
    for (Py_ssize_t i = 0; size && i < PyTuple_GET_SIZE(size); i++) {
        PyObject *item = PyTuple_GET_ITEM(size, i), *number;
        if (PyLong_Check(item) || (fxpy_is_proxy(item) && !fxpy_strict))
            continue;
        number = fxpy_is_tensor(item) || PyIndex_Check(item) ? PyNumber_Index(item) : NULL;
        if (!number) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError,
                         "torch.Size() takes an iterable of 'int' (item %zd is '%.100s')", i,
                         Py_TYPE(item)->tp_name);
            Py_CLEAR(size);
        } else {
            PyTuple_SET_ITEM(size, i, number);
            Py_DECREF(item);
        }
    }
    return size;
}

static PyObject *size_repr(PyObject *self) {
    PyObject *list = PySequence_List(self);
    PyObject *text = list ? PyUnicode_FromFormat("torch.Size(%R)", list) : NULL;
    Py_XDECREF(list);
    return text;
}

static PyObject *size_concat(PyObject *a, PyObject *b) {
    return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
static PyObject *size_repeat(PyObject *a, Py_ssize_t n) {
    return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(a, n));
}
static PyObject *size_subscript(PyObject *self, PyObject *key) {
    PyObject *item = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
    return PySlice_Check(key) ? as_size(item) : item;
}

static PyObject *size_numel(PyObject *self, PyObject *unused) {
    int64_t n = 1;
    (void)unused;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
        long long k = PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
        if (k == -1 && PyErr_Occurred())
            return NULL;
        if (__builtin_mul_overflow(n, k, &n))
            return PyErr_Format(PyExc_OverflowError, "numel: more than 2^63 elements");
    }
    return PyLong_FromLongLong(n);
}

static PyObject *size_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *plain = PySequence_Tuple(self), *list = PySequence_List(self);
    PyObject *out =
        plain && list ? Py_BuildValue("O(N)", fxpy_size_type, PyList_AsTuple(list)) : NULL;
    Py_XDECREF(plain);
    Py_XDECREF(list);
    return out;
}

static PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, NULL},
    {"__reduce__", size_reduce, METH_NOARGS, NULL},
    {0},
};
static PyType_Slot size_slots[] = {
    {Py_tp_new, size_new},         {Py_tp_repr, size_repr},
    {Py_tp_str, size_repr},        {Py_sq_concat, size_concat},
    {Py_sq_repeat, size_repeat},   {Py_mp_subscript, size_subscript},
    {Py_tp_methods, size_methods}, {0, NULL},
};
static PyType_Spec size_spec = {
    .name = "torch.Size",
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = size_slots,
};

int fxpy_init_size(PyObject *module) {
    PyObject *bases = PyTuple_Pack(1, &PyTuple_Type);
    fxpy_size_type = bases ? (PyTypeObject *)PyType_FromSpecWithBases(&size_spec, bases) : NULL;
    Py_XDECREF(bases);
    return fxpy_size_type ? fxpy_add_type(module, "Size", fxpy_size_type) : -1;
}
