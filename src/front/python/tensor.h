/* tensor.h: what the files about tensors share: filling that is put off, conversions that remember
 * which object a tensor came from, operators, calls. The rest of the front uses fxpy.h. */
#ifndef FXPY_TENSOR_H
#define FXPY_TENSOR_H

#include "front/python/fxpy.h"

/* ---- lazy.c
 * ------------------------------------------------------------------------------------------- */

/* A filling for all of t, which has no storage. NULL: memory is out, an exception is set. */
fxpy_lazy *fxpy_lazy_new(const fxs_tensor *t, const fxpy_fill *fill);
fxpy_lazy *fxpy_lazy_ref(fxpy_lazy *l);
void fxpy_lazy_unref(fxpy_lazy *l);
/* One that fills another tensor with the same values; NULL as above. */
fxpy_lazy *fxpy_lazy_copy(const fxpy_lazy *l);
/* Whether somebody has read it: then the memory is there. */
fxs_storage *fxpy_lazy_storage(const fxpy_lazy *l);
/* Fills now: -1 and an exception when memory is out. */
int fxpy_lazy_read(fxpy_lazy *l);
/* Its fillings into the memory of t, which it was made for. */
int fxpy_lazy_write(fxpy_lazy *l, fxs_tensor *t);
/* The part of it that `view` shows is to be filled so, whatever was to be there before. -1: memory
 * is out; 0: done; 1: too many parts, it has to be read. */
int fxpy_lazy_patch(fxpy_lazy *l, const fxs_tensor *view, const fxpy_fill *fill);
/* All its values times `scale` plus `shift`, where `view` is all of it; false: it has to be read.
 */
bool fxpy_lazy_affine(fxpy_lazy *l, const fxs_tensor *view, double scale, double shift);
/* Whether `view` shows all of it in its own order. */
bool fxpy_lazy_whole(const fxpy_lazy *l, const fxs_tensor *view);
/* The one filling of all of it. */
bool fxpy_lazy_fill_of(const fxpy_lazy *l, fxpy_fill *out);

/* ---- value.c
 * ------------------------------------------------------------------------------------------- */

typedef struct fxpy_source {
    const fxs_tensor *t;
    PyObject *o; /* borrowed: an argument of the call */
} fxpy_source;

/* One call's conversions. */
typedef struct fxpy_conversion {
    fxs_arena *arena;
    bool shapes_only; /* tensors may stay unread */
    bool meta;        /* set when one is on the meta device */
    fxpy_source *sources;
    size_t nsources, cap;
    FxpyTensor *unread; /* results without storage are views of it; NULL: there are none */
} fxpy_conversion;

int fxpy_convert(fxpy_conversion *c, PyObject *o, fxs_value *out);
/* A scalar of numpy as Python's number; NULL without an exception: it is none. */
PyObject *fxpy_plain_scalar(PyObject *o);
/* A result: a tensor that was an argument is the same object again. made_by: row name, for results
 * that require grad. */
PyObject *fxpy_result(fxpy_conversion *c, const fxs_value *v, const char *made_by);
void fxpy_conversion_end(fxpy_conversion *c);

/* ---- tensor.c
 * ------------------------------------------------------------------------------------------- */

extern bool fxpy_grad_enabled;
/* A tensor object over t (taken over) that shares the unread filling of `like`; NULL: none. */
PyObject *fxpy_tensor_alias(PyTypeObject *type, fxs_tensor *t, const FxpyTensor *like);
/* Attaches the memory when an alias was read meanwhile. */
void fxpy_tensor_settle(FxpyTensor *x);
static inline bool fxpy_tensor_unread(FxpyTensor *x) {
    fxpy_tensor_settle(x);
    return x->lazy != NULL;
}
PyObject *fxpy_tensor_repr(PyObject *o);
/* One element as a Python number. */
PyObject *fxpy_element(const fxs_tensor *t, const void *p);
PyObject *fxpy_tensor_tolist(PyObject *o, PyObject *unused);
/* "torch.FloatTensor" */
PyObject *fxpy_tensor_type_name(PyObject *o);
PyObject *fxpy_tensor_item(PyObject *o, PyObject *unused);

/* X(slot, method that a tracer sees, name in module operator) */
#define FXPY_BINARY_MAP(X)                                                                         \
    X(nb_add, add, add)                                                                            \
    X(nb_subtract, sub, sub)                                                                       \
    X(nb_multiply, mul, mul)                                                                       \
    X(nb_true_divide, div, truediv)                                                                \
    X(nb_floor_divide, __floordiv__, floordiv)                                                     \
    X(nb_remainder, remainder, mod)                                                                \
    X(nb_matrix_multiply, matmul, matmul)                                                          \
    X(nb_and, __and__, and_)                                                                       \
    X(nb_or, __or__, or_)                                                                          \
    X(nb_xor, __xor__, xor)                                                                        \
    X(nb_lshift, __lshift__, lshift)                                                               \
    X(nb_rshift, __rshift__, rshift)
#define FXPY_INPLACE_MAP(X)                                                                        \
    X(nb_inplace_add, add_, iadd)                                                                  \
    X(nb_inplace_subtract, sub_, isub)                                                             \
    X(nb_inplace_multiply, mul_, imul)                                                             \
    X(nb_inplace_true_divide, div_, itruediv)                                                      \
    X(nb_inplace_floor_divide, floor_divide_, ifloordiv)                                           \
    X(nb_inplace_remainder, remainder_, imod)                                                      \
    X(nb_inplace_and, __iand__, iand)                                                              \
    X(nb_inplace_or, __ior__, ior)                                                                 \
    X(nb_inplace_xor, __ixor__, ixor)                                                              \
    X(nb_inplace_lshift, __ilshift__, ilshift)                                                     \
    X(nb_inplace_rshift, __irshift__, irshift)
#define X(slot, method, operator_name) PyObject *fxpy_##slot(PyObject *a, PyObject *b);
FXPY_BINARY_MAP(X)
FXPY_INPLACE_MAP(X)
#undef X
PyObject *fxpy_nb_power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *fxpy_nb_inplace_power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *fxpy_nb_negative(PyObject *a);
PyObject *fxpy_nb_positive(PyObject *a);
PyObject *fxpy_nb_absolute(PyObject *a);
PyObject *fxpy_nb_invert(PyObject *a);
int fxpy_nb_bool(PyObject *o);
PyObject *fxpy_nb_int(PyObject *o);
PyObject *fxpy_nb_float(PyObject *o);
PyObject *fxpy_nb_index(PyObject *o);
PyObject *fxpy_tensor_subscript(PyObject *o, PyObject *key);
int fxpy_tensor_ass_subscript(PyObject *o, PyObject *key, PyObject *value);
PyObject *fxpy_tensor_richcompare(PyObject *a, PyObject *b, int op);

/* ---- call.c
 * ------------------------------------------------------------------------------------------- */

/* What a function does with tensors that nobody has read yet. */
enum { FXPY_READS, FXPY_LOOKS, FXPY_VIEWS, FXPY_MAKES, FXPY_FILLS, FXPY_SCALES, FXPY_CLONES };
unsigned char fxpy_laziness(const char *name, bool method);
PyObject *fxpy_call(FxpyFunction *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
/* set_meta_mode(yes): calls infer from now on, and compute nothing but small integers; gives what
 * it was before. */
PyObject *fxpy_set_meta_mode(PyObject *self, PyObject *yes);
PyObject *fxpy_call2(const char *spelling, PyObject *a, PyObject *b);

/* ---- create.c
 * ------------------------------------------------------------------------------------------- */

/* torch.tensor(data): dtype FXS_DTYPE_COUNT: as the data says. */
PyObject *fxpy_tensor_from_data(PyObject *data, fxs_dtype dtype);
/* A tensor over the memory of a buffer (copied); 0 when o has none. */
PyObject *fxpy_tensor_from_buffer(PyObject *o);
/* 1: numpy is the stand-in, whose arrays are tensors; 0: it is numpy; -1: neither is there. */
int fxpy_numpy_is_ours(void);
/* The same over o's own memory, where a tensor can have it: writing one writes the other. */
PyObject *fxpy_tensor_share_buffer(PyObject *o);
/* Functions without a row: they take any Python object. Ends with a row without a path. */
typedef struct fxpy_native {
    const char *path;
    PyObject *(*run)(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
} fxpy_native;
extern const fxpy_native fxpy_natives[];
PyObject *fxpy_tensor_trunc_normal(PyObject *o, PyObject *args);
PyObject *fxpy_tensor_new_legacy(PyTypeObject *type, PyObject *args, PyObject *kwargs);

#endif
