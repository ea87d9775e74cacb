/* buffer.c: tensors from objects that show their memory: numpy's arrays and scalars, array.array.
 */
#include "front/python/tensor.h"

static fxs_dtype dtype_of_format(const char *f, Py_ssize_t size) {
    static const struct {
        const char *codes;
        fxs_dtype by_size[9];
    } rows[] = {
        {"bhilqn", {[1] = FXS_INT8, [2] = FXS_INT16, [4] = FXS_INT32, [8] = FXS_INT64}},
        {"BHILQN", {[1] = FXS_UINT8, [2] = FXS_UINT16, [4] = FXS_UINT32, [8] = FXS_UINT64}},
        {"efd", {[2] = FXS_FLOAT16, [4] = FXS_FLOAT32, [8] = FXS_FLOAT64}},
    };
    f += strspn(f, "@=<");
    if (strcmp(f, "?") == 0)
        return FXS_BOOL;
    if (strcmp(f, "Zf") == 0)
        return FXS_COMPLEX64;
    if (strcmp(f, "Zd") == 0)
        return FXS_COMPLEX128;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && *f && !f[1]; i++)
        if (strchr(rows[i].codes, *f) && size >= 1 && size <= 8 &&
            (rows[i].by_size[size] || (i == 2 && size == 4)))
            return rows[i].by_size[size];
    return FXS_DTYPE_COUNT;
}

/* The dtype of the elements; false with an exception: there is none. */
static bool readable(const Py_buffer *view, fxs_dtype *d) {
    *d = dtype_of_format(view->format ? view->format : "B", view->itemsize);
    if (*d != FXS_DTYPE_COUNT && view->ndim <= FXS_MAX_DIM)
        return true;
    PyErr_Format(PyExc_TypeError,
                 "can't convert np.ndarray of type %.20s. The only supported types are: "
                 "float64, float32, float16, complex64, complex128, int64, int32, int16, "
                 "int8, uint8, and bool.",
                 view->format ? view->format : "?");
    return false;
}

static PyObject *copy_of(const Py_buffer *view, fxs_dtype d) {
    int64_t sizes[FXS_MAX_DIM];
    fxs_tensor *t;
    for (int i = 0; i < view->ndim; i++)
        sizes[i] = view->shape[i];
    if (fxs_tensor_new(fxpy_ctx(), d, view->ndim, sizes, &t) != FXS_OK)
        return fxpy_raise();
    if (PyBuffer_ToContiguous(fxs_tensor_data(t), view, view->len, 'C') < 0) {
        fxs_tensor_unref(t);
        return NULL;
    }
    return fxpy_tensor_new(t);
}

PyObject *fxpy_tensor_from_buffer(PyObject *o) {
    Py_buffer view;
    fxs_dtype d;
    if (PyObject_GetBuffer(o, &view, PyBUF_FULL_RO) < 0)
        return NULL;
    PyObject *t = readable(&view, &d) ? copy_of(&view, d) : NULL;
    PyBuffer_Release(&view);
    return t;
}

/* ---- the same memory ---- */

/* Python may have ended before the last tensor. */
static void release(void *owner) {
    if (Py_IsInitialized())
        PyBuffer_Release(owner);
    PyMem_RawFree(owner);
}

/* Can a tensor have these elements where they are? */
static bool fits(const Py_buffer *v) {
    bool fits = !v->readonly && (uintptr_t)v->buf % (size_t)v->itemsize == 0;
    for (int i = 0; fits && i < v->ndim; i++)
        fits = v->strides[i] >= 0 && v->strides[i] % v->itemsize == 0;
    return fits && !v->suboffsets;
}

/* Takes the view over; NULL with an exception, and the view is released. */
static PyObject *tensor_over(Py_buffer *view, fxs_dtype d) {
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM], last = 0;
    fxs_tensor *t = NULL;
    for (int i = 0; i < view->ndim; i++) {
        sizes[i] = view->shape[i];
        strides[i] = view->strides[i] / view->itemsize;
        last += sizes[i] ? (sizes[i] - 1) * strides[i] : 0;
    }
    fxs_storage *s =
        fxs_storage_borrow(view->buf, (size_t)(last + 1) * (size_t)view->itemsize, release, view);
    if (!s) {
        release(view);
        return PyErr_NoMemory();
    }
    if (fxs_tensor_make(fxpy_ctx(), d, view->ndim, sizes, strides, &t) != FXS_OK) {
        fxs_storage_unref(s);
        return fxpy_raise();
    }
    t->storage = s;
    return fxpy_tensor_new(t);
}

PyObject *fxpy_tensor_share_buffer(PyObject *o) {
    Py_buffer *view = PyMem_RawMalloc(sizeof *view);
    fxs_dtype d;
    PyObject *t = NULL;
    if (!view)
        return PyErr_NoMemory();
    if (PyObject_GetBuffer(o, view, PyBUF_FULL_RO) < 0) {
        PyMem_RawFree(view);
        return NULL;
    }
    bool good = readable(view, &d);
    if (good && view->len && fits(view))
        return tensor_over(view, d);
    if (good)
        t = copy_of(view, d);
    release(view);
    return t;
}
