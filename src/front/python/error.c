/* error.c: the context's error as a Python exception. Which class it is, torch decides: a type that
 * does not fit is a TypeError, an index an IndexError, nearly all else a RuntimeError. */
#include "front/python/fxpy.h"

static fxs_ctx *the_ctx;

fxs_ctx *fxpy_ctx(void) {
    if (!the_ctx)
        the_ctx = fxs_ctx_new();
    return the_ctx;
}

void fxpy_set_ctx(fxs_ctx *ctx) { the_ctx = ctx; }

static PyObject *class_of(fxs_status s) {
    switch (s) {
    case FXS_ETYPE:
        return PyExc_TypeError;
    case FXS_EINDEX:
        return PyExc_IndexError;
    case FXS_EUNKNOWN:
        return PyExc_NotImplementedError;
    case FXS_EIO:
        return PyExc_OSError;
    default:
        return PyExc_RuntimeError;
    }
}

PyObject *fxpy_raise(void) {
    fxs_ctx *ctx = fxpy_ctx();
    if (!PyErr_Occurred())
        PyErr_SetString(class_of(fxs_ctx_status(ctx)), fxs_ctx_error(ctx));
    fxs_ctx_clear(ctx);
    return NULL;
}
