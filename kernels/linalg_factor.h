/* linalg_factor.h: one matrix of a batch at work, as the factorisations share it. */
#ifndef FXS_KERNELS_LINALG_FACTOR_H
#define FXS_KERNELS_LINALG_FACTOR_H

#include "kernels/linalg.h"

/* One matrix at work. */
typedef struct fxs_factoring {
    fxs_batch b;
    int parts, m, n, k; /* k: the smaller of both */
    double *a, *x, *y, *z;
    int *pivots;
} fxs_factoring;

/* Room for a [m, n], and for as much as each family asks besides. */
static inline fxs_status fxs_factor_begin(fxs_call *c, fxs_factoring *w, int64_t x, int64_t y,
                                          int64_t z) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_status s = FXS_OK;
    *w = (fxs_factoring){.b = fxs_batch_of(t, 2),
                         .parts = fxs_parts(t),
                         .m = (int)fxs_rows(t),
                         .n = (int)fxs_columns(t),
                         .k = (int)fxs_small_side(t)};
    w->a = fxs_room(c, (int64_t)w->m * w->n * w->parts, &s);
    w->x = fxs_room(c, x * w->parts, &s);
    w->y = fxs_room(c, y * w->parts, &s);
    w->z = fxs_room(c, z * w->parts, &s);
    w->pivots = (int *)(void *)fxs_room(c, w->k, &s);
    return s;
}

static inline void fxs_factor_load(const fxs_call *c, fxs_factoring *w, int64_t i) {
    fxs_matrix_load(fxs_arg_tensor(c, 0), 2, &w->b, i, w->parts, w->a, w->m);
}

/* 2/3 n^3 for LU, twice that for QR of [m, n]: the leading terms of LAPACK's own counts. */
static inline double fxs_factor_size(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    return t->ndim < 2 ? 0 /* torch.cholesky takes nothing, too */
                       : (double)fxs_tensor_numel(t) * (double)fxs_small_side(t);
}
static inline fxs_cost fxs_cost_lu(const fxs_call *c) {
    return (fxs_cost){.flops = fxs_factor_size(c) * 2 / 3};
}

#endif
