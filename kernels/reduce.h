/* reduce.h: reading which dimensions a reduction folds, the output that is left, and the loop over
 * what each output element is made of. Shared by the families of reductions; knows none of them. */
#ifndef FXS_KERNELS_REDUCE_H
#define FXS_KERNELS_REDUCE_H

#include "kernels/iterate.h"

typedef struct fxs_reduction {
    const fxs_tensor *in;
    bool folded[FXS_MAX_DIM];
    int ndim; /* of the output */
    int64_t sizes[FXS_MAX_DIM];
    int64_t count; /* elements folded into each output element */
} fxs_reduction;

/* dims: None or an empty list: all; an int or a list of ints. keepdim keeps folded dimensions with
 * size 1. */
fxs_status fxs_read_reduction(fxs_call *c, fxs_tensor *in, const fxs_value *dims, bool keepdim,
                              fxs_reduction *out);
/* Refuses to fold dimensions of size 0: there is no largest of nothing. */
fxs_status fxs_need_elements(fxs_call *c, const fxs_reduction *r);
static inline fxs_status fxs_out_reduced(fxs_call *c, const fxs_reduction *r, fxs_dtype d) {
    return fxs_out_new(c, d, r->ndim, r->sizes, NULL);
}

/* What a fold keeps while it walks. */
typedef struct fxs_acc {
    double a, b, d;
    int64_t i, n; /* n: elements so far */
} fxs_acc;

/* Adds n elements that lie in a row. */
typedef struct fxs_fold {
    void (*f32)(fxs_acc *acc, const float *x, int64_t n, const void *user);
    void (*f64)(fxs_acc *acc, const double *x, int64_t n, const void *user);
    void (*i64)(fxs_acc *acc, const int64_t *x, int64_t n, const void *user);
    /* Stores an output element: the result may be any of acc's fields. `out` has output o's type.
     */
    void (*store)(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user);
    fxs_acc start;
    /* n complex numbers, of rows that are marked FXS_OP_COMPLEX */
    void (*c128)(fxs_acc *acc, const double *pairs, int64_t n, const void *user);
} fxs_fold;

/* Folds r->in in the type to compute `common` in, and stores every output element (outputs are
 * contiguous). */
void fxs_reduce_run(fxs_call *c, const fxs_reduction *r, fxs_dtype common, const fxs_fold *fold,
                    const void *user);
/* Element `at` of a contiguous tensor. */
static inline void fxs_put_double(fxs_tensor *t, int64_t at, double x) {
    fxs_store_double(t->dtype, (char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype),
                     x);
}
static inline void fxs_put_int(fxs_tensor *t, int64_t at, int64_t x) {
    fxs_store_int(t->dtype, (char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype), x);
}

/* One FLOP for each element of argument 0. */
fxs_cost_fn fxs_cost_input;

#endif
