/* tensor.h: what only the files about tensors share: filling that is put off, conversions that
 * remember which object a tensor came from, and the printed form. */
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
/* The part of it that `view` shows is to be filled so, whatever was to be there before. -1: memory
 * is out; 0: done; 1: too many parts, it has to be read. */
int fxpy_lazy_patch(fxpy_lazy *l, const fxs_tensor *view, const fxpy_fill *fill);
/* All its values times `scale` plus `shift`, where `view` is all of it; false: it has to be read.
 */
bool fxpy_lazy_affine(fxpy_lazy *l, const fxs_tensor *view, double scale, double shift);
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
} fxpy_conversion;

int fxpy_convert(fxpy_conversion *c, PyObject *o, fxs_value *out);
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
PyObject *fxpy_tensor_item(PyObject *o, PyObject *unused);

extern PyType_Slot fxpy_number_slots[];
PyObject *fxpy_tensor_subscript(PyObject *o, PyObject *key);
int fxpy_tensor_ass_subscript(PyObject *o, PyObject *key, PyObject *value);
PyObject *fxpy_tensor_richcompare(PyObject *a, PyObject *b, int op);

/* ---- call.c
 * ------------------------------------------------------------------------------------------- */

/* What a function does with tensors that nobody has read yet. */
enum { FXPY_READS, FXPY_LOOKS, FXPY_VIEWS, FXPY_MAKES, FXPY_FILLS, FXPY_SCALES, FXPY_CLONES };
unsigned char fxpy_laziness(const char *name, bool method);
PyObject *fxpy_call(FxpyFunction *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames);
PyObject *fxpy_call2(const char *spelling, PyObject *a, PyObject *b);

/* ---- create.c
 * ------------------------------------------------------------------------------------------- */

/* torch.tensor(data): dtype FXS_DTYPE_COUNT: as the data says. */
PyObject *fxpy_tensor_from_data(PyObject *data, fxs_dtype dtype);
/* A tensor over the memory of a buffer (copied); 0 when o has none. */
PyObject *fxpy_tensor_from_buffer(PyObject *o);
PyObject *fxpy_tensor_new_legacy(PyTypeObject *type, PyObject *args, PyObject *kwargs);

#endif
