/* operators.c: Python's operators on tensors: each is the row of operator.NAME. With a proxy on the
 * right the tensor answers with its method of that name, which the tracer records. */
#include "front/python/tensor.h"

/* What tensors can be computed with. */
static bool is_operand(PyObject *o) {
    return fxpy_is_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) ||
           (!PyType_Check(o) && PyIndex_Check(o) && !PyObject_CheckBuffer(o));
}

/* numpy's scalars are numbers, its arrays tensors. NULL without an exception: neither. */
static PyObject *plain_operand(PyObject *o) {
    if (is_operand(o))
        return Py_NewRef(o);
    PyObject *scalar = fxpy_plain_scalar(o);
    if (scalar || PyErr_Occurred())
        return scalar;
    return PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o)
               ? fxpy_tensor_from_buffer(o)
               : NULL;
}

static PyObject *record(PyObject *proxy, const char *method, PyObject *a, PyObject *b) {
    PyObject *tracer = PyObject_GetAttrString(proxy, "tracer");
    PyObject *args = tracer ? PyTuple_Pack(2, a, b) : NULL;
    PyObject *out = args ? fxpy_record_method(tracer, method, args, NULL) : NULL;
    Py_XDECREF(tracer);
    Py_XDECREF(args);
    return out;
}

static PyObject *binary(const char *method, const char *spelling, PyObject *a, PyObject *b) {
    if (fxpy_is_proxy(b))
        return record(b, method, a, b);
    if (fxpy_is_proxy(a)) { /* its own operator was asked first: this is t.__rsub__(a) */
        char reflected[32];
        snprintf(reflected, sizeof reflected, "__r%s__", method);
        return record(a, reflected, b, a);
    }
    PyObject *x = plain_operand(a), *y = x ? plain_operand(b) : NULL, *out = NULL;
    bool tensors = x && y && fxpy_is_tensor(x) && fxpy_is_tensor(y);
    if (x && y && (tensors || strcmp(method, "matmul") != 0))
        out = fxpy_call2(spelling, x, y);
    else if (!PyErr_Occurred())
        out = Py_NewRef(Py_NotImplemented);
    Py_XDECREF(x);
    Py_XDECREF(y);
    return out;
}

#define X(slot, method, operator_name)                                                             \
    PyObject *fxpy_##slot(PyObject *a, PyObject *b) {                                              \
        return binary(#method, "operator." #operator_name, a, b);                                  \
    }
FXPY_BINARY_MAP(X)
FXPY_INPLACE_MAP(X)
#undef X

PyObject *fxpy_nb_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return binary("pow", "operator.pow", a, b);
}
PyObject *fxpy_nb_inplace_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return binary("pow_", "operator.ipow", a, b);
}

PyObject *fxpy_nb_negative(PyObject *a) { return fxpy_call2("operator.neg", a, NULL); }
PyObject *fxpy_nb_positive(PyObject *a) { return Py_NewRef(a); }
PyObject *fxpy_nb_absolute(PyObject *a) { return fxpy_call2("operator.abs", a, NULL); }
PyObject *fxpy_nb_invert(PyObject *a) { return fxpy_call2("operator.invert", a, NULL); }

/* ---- comparisons ---- */

PyObject *fxpy_tensor_richcompare(PyObject *a, PyObject *b, int op) {
    static const char *const methods[] = {[Py_LT] = "lt", [Py_LE] = "le", [Py_EQ] = "eq",
                                          [Py_NE] = "ne", [Py_GT] = "gt", [Py_GE] = "ge"};
    static const char *const spellings[] = {
        [Py_LT] = "operator.lt", [Py_LE] = "operator.le", [Py_EQ] = "operator.eq",
        [Py_NE] = "operator.ne", [Py_GT] = "operator.gt", [Py_GE] = "operator.ge"};
    return binary(methods[op], spellings[op], a, b);
}

/* ---- one element as Python's number ---- */

int fxpy_nb_bool(PyObject *o) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    int64_t n = fxs_tensor_numel(t);
    if (n != 1) {
        PyErr_Format(PyExc_RuntimeError, "Boolean value of Tensor with %s is ambiguous",
                     n ? "more than one value" : "no values");
        return -1;
    }
    PyObject *item = fxpy_tensor_item(o, NULL);
    int yes = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return yes;
}

static PyObject *as_number(PyObject *o, PyObject *(*convert)(PyObject *)) {
    PyObject *item = fxpy_tensor_item(o, NULL);
    PyObject *out = item ? convert(item) : NULL;
    Py_XDECREF(item);
    return out;
}
PyObject *fxpy_nb_int(PyObject *o) { return as_number(o, PyNumber_Long); }
PyObject *fxpy_nb_float(PyObject *o) { return as_number(o, PyNumber_Float); }

PyObject *fxpy_nb_index(PyObject *o) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    if (fxs_tensor_numel(t) != 1 || fxs_is_floating(t->dtype) || fxs_is_complex(t->dtype))
        return PyErr_Format(PyExc_TypeError,
                            "only integer tensors of a single element can be converted to an "
                            "index");
    return as_number(o, PyNumber_Index);
}

/* ---- indexing ---- */

static PyObject *record_index(PyObject *proxy, PyObject *o, PyObject *key, PyObject *value) {
    /* torch wraps the index of __getitem__ only */
    PyObject *index = value || PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    PyObject *tracer = index ? PyObject_GetAttrString(proxy, "tracer") : NULL, *out = NULL;
    PyObject *args = !tracer ? NULL
                     : value ? PyTuple_Pack(3, o, index, value)
                             : PyTuple_Pack(2, o, index);
    if (args)
        out = fxpy_record_method(tracer, value ? "__setitem__" : "__getitem__", args, NULL);
    Py_XDECREF(index);
    Py_XDECREF(tracer);
    Py_XDECREF(args);
    return out;
}

/* numpy's arrays and ranges as indices. */
static PyObject *plain_index(PyObject *key) {
    if (PyRange_Check(key))
        return PySequence_List(key);
    if (!PyLong_Check(key) && PyObject_CheckBuffer(key) && !fxpy_is_tensor(key) &&
        !PyBytes_Check(key))
        return fxpy_tensor_from_buffer(key);
    if (!PyTuple_CheckExact(key))
        return Py_NewRef(key);
    Py_ssize_t n = PyTuple_GET_SIZE(key);
    PyObject *out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out && i < n; i++) {
        PyObject *part = PyTuple_GET_ITEM(key, i);
        part = PyTuple_Check(part) ? PySequence_List(part) : plain_index(part);
        if (!part)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, i, part);
    }
    return out;
}

PyObject *fxpy_tensor_subscript(PyObject *o, PyObject *key) {
    PyObject *proxy = fxpy_find_proxy(key, 3);
    if (proxy)
        return record_index(proxy, o, key, NULL);
    PyObject *index = plain_index(key);
    PyObject *out = index ? fxpy_call2("Tensor.__getitem__", o, index) : NULL;
    Py_XDECREF(index);
    return out;
}

int fxpy_tensor_ass_subscript(PyObject *o, PyObject *key, PyObject *value) {
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
        return -1;
    }
    PyObject *proxy = fxpy_find_proxy(key, 3), *out = NULL;
    if (!proxy)
        proxy = fxpy_find_proxy(value, 0);
    if (proxy) {
        out = record_index(proxy, o, key, value);
    } else {
        PyObject *index = plain_index(key), *what = plain_operand(value);
        if (index && !what && !PyErr_Occurred()) {
            PyObject *type = fxpy_tensor_type_name(o);
            PyErr_Format(PyExc_TypeError, "can't assign a %.100s to a %U", Py_TYPE(value)->tp_name,
                         type);
            Py_XDECREF(type);
        }
        PyObject *args = index && what ? PyTuple_Pack(3, o, index, what) : NULL;
        out = args ? fxpy_call_spelling("Tensor.__setitem__", args, NULL) : NULL;
        Py_XDECREF(index);
        Py_XDECREF(what);
        Py_XDECREF(args);
    }
    Py_XDECREF(out);
    return out ? 0 : -1;
}
