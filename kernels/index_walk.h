/* index_walk.h: places in tensors that index tensors name, and numbers of any type that are put
 * there: what gather, scatter and the functions of whole slices share. */
#ifndef FXS_KERNELS_INDEX_WALK_H
#define FXS_KERNELS_INDEX_WALK_H

#include <complex.h>

#include "kernels/iterate.h"
#include "kernels/work.h"

/* ---- walking
 * ------------------------------------------------------------------------------------------- */

/* A row-major position over t's shape as an offset in another tensor's strides. */
static inline int64_t fxs_offset_at(int ndim, const int64_t *sizes, const int64_t *strides,
                                    int64_t position, int skip) {
    int64_t at = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        if (i != skip)
            at += position % sizes[i] * strides[i];
        position /= sizes[i];
    }
    return at;
}

static inline char *fxs_element(const fxs_tensor *t, int64_t offset) {
    return (char *)fxs_tensor_data(t) + offset * (int64_t)fxs_dtype_size(t->dtype);
}

/* The index at a position of the index tensor, from the end when negative and `wrap`. */
static inline fxs_status fxs_index_in(fxs_call *c, const fxs_tensor *index, int64_t position,
                                      int dim, int64_t size, bool wrap, int64_t *out) {
    int64_t at = fxs_offset_at(index->ndim, index->sizes, index->strides, position, -1);
    int64_t i = fxs_load_int(index->dtype, fxs_element(index, at));
    *out = 0;
    if (i >= size || i < (wrap ? -size : 0))
        return FXS_REFUSE(c, FXS_EINDEX,
                          "index %lld is out of bounds for dimension %d with size %lld",
                          (long long)i, dim, (long long)size);
    *out = i < 0 ? i + size : i;
    return FXS_OK;
}

static inline int64_t fxs_size_at(const fxs_tensor *t, int dim) {
    return t->ndim ? t->sizes[dim] : 1;
}
static inline int64_t fxs_stride_at(const fxs_tensor *t, int dim) {
    return t->ndim ? t->strides[dim] : 0;
}

static inline fxs_status fxs_check_long(fxs_call *c, const fxs_tensor *index) {
    if (index->dtype != FXS_INT64)
        return FXS_REFUSE(c, FXS_ETYPE, "expected dtype int64 for index, not torch.%s",
                          fxs_dtype_name(index->dtype));
    return FXS_OK;
}

static inline fxs_status fxs_shapes_differ(fxs_call *c, const char *what, const fxs_tensor *a,
                                           const fxs_tensor *b) {
    char x[FXS_SIZES_TEXT], y[FXS_SIZES_TEXT];
    return FXS_REFUSE(c, FXS_ESHAPE, "%s: shapes %s and %s", what, fxs_sizes_text(a, x),
                      fxs_sizes_text(b, y));
}

static inline fxs_status fxs_out_like_self(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, self->dtype));
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, NULL);
}

static inline fxs_status fxs_copy_self(fxs_call *c) {
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    return FXS_OK;
}

typedef enum fxs_putting { FXS_PUT_SET, FXS_PUT_ADD, FXS_PUT_MULTIPLY } fxs_putting;

/* A number in the three ways that types take it. */
typedef struct fxs_element_number {
    double complex f;
    int64_t i;
} fxs_element_number;

static inline fxs_element_number fxs_load_number(fxs_dtype d, const void *p) {
    double z[2];
    fxs_load_pair(d, p, z);
    return (fxs_element_number){.f = CMPLX(z[0], z[1]), .i = fxs_load_int(d, p)};
}

static inline void fxs_put_one(fxs_tensor *t, int64_t at, fxs_putting how,
                               fxs_element_number new_one) {
    char *p = fxs_element(t, at);
    double complex f = new_one.f;
    if (fxs_is_complex(t->dtype)) {
        double complex old = fxs_load_number(t->dtype, p).f;
        f = how == FXS_PUT_ADD ? old + f : how == FXS_PUT_MULTIPLY ? old * f : f;
        fxs_store_pair(t->dtype, p, (const double[2]){creal(f), cimag(f)});
    } else if (fxs_is_floating(t->dtype)) {
        double old = fxs_load_double(t->dtype, p), x = creal(f);
        fxs_store_double(t->dtype, p,
                         how == FXS_PUT_ADD        ? old + x
                         : how == FXS_PUT_MULTIPLY ? old * x
                                                   : x);
    } else {
        uint64_t old = (uint64_t)fxs_load_int(t->dtype, p), new = (uint64_t)new_one.i;
        fxs_store_int(t->dtype, p,
                      (int64_t)(how == FXS_PUT_ADD        ? old + new
                                : how == FXS_PUT_MULTIPLY ? old *new
                                                          : new));
    }
}

/* A number as it is written into a type. */
static inline fxs_element_number fxs_number_for(const fxs_call *c, int i) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    if (t) {
        fxs_element_number n = fxs_load_number(t->dtype, fxs_tensor_data(t));
        if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
            n.i = creal(n.f) != 0;
        return n;
    }
    if (c->arg[i].tag == FXS_V_COMPLEX)
        return (fxs_element_number){.f = CMPLX(c->arg[i].u.c[0], c->arg[i].u.c[1])};
    double f = fxs_arg_float(c, i);
    return (fxs_element_number){
        .f = f, .i = fxs_arg_tensor(c, 0)->dtype == FXS_BOOL ? f != 0 : fxs_arg_int(c, i)};
}

#endif
