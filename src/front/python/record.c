/* record.c: calls in which a proxy stands, towards the tracer. */
#include "front/python/fxpy.h"

PyTypeObject *fxpy_proxy_type;

PyObject *fxpy_record_function(PyObject *tracer, PyObject *func, PyObject *args, PyObject *kwargs) {
    (void)tracer, (void)args, (void)kwargs;
    PyErr_Format(PyExc_NotImplementedError, "%s of a proxy", fxpy_function_path(func));
    return NULL;
}

PyObject *fxpy_record_method(PyObject *tracer, const char *name, PyObject *args, PyObject *kwargs) {
    (void)tracer, (void)args, (void)kwargs;
    PyErr_Format(PyExc_NotImplementedError, "Tensor.%s of a proxy", name);
    return NULL;
}
