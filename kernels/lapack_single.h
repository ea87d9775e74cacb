/* lapack_single.h: LAPACK in the matrices' own precision: kernels keep matrices in buffers of
 * double, which are converted to float32 and back around a routine of that precision, so that
 * rounding turns a sign, or makes a pivot vanish, where it does in PyTorch. Called by lapack*.c
 * alone. */
#ifndef FXS_KERNELS_LAPACK_SINGLE_H
#define FXS_KERNELS_LAPACK_SINGLE_H

#include <stdbool.h>

#include "base/mem.h"

enum { FXS_BUFFERS = 4 };

/* Up to four buffers of double as float, and back. NULL stays NULL. */
typedef struct fxs_narrowed {
    double *from[FXS_BUFFERS];
    float *to[FXS_BUFFERS];
    size_t n[FXS_BUFFERS];
    int count;
    bool failed;
} fxs_narrowed;

static inline float *fxs_narrow(fxs_narrowed *all, double *x, size_t n) {
    int i = all->count++;
    all->from[i] = x, all->n[i] = n, all->to[i] = NULL;
    if (!x)
        return NULL;
    all->to[i] = fxs_alloc(n ? n : 1, sizeof(float));
    all->failed |= !all->to[i];
    for (size_t k = 0; all->to[i] && k < n; k++)
        all->to[i][k] = (float)x[k];
    return all->to[i];
}

static inline int fxs_widen(fxs_narrowed *all, int info) {
    for (int i = 0; i < all->count; i++) {
        for (size_t k = 0; !all->failed && all->to[i] && k < all->n[i]; k++)
            all->from[i][k] = (double)all->to[i][k];
        fxs_free(all->to[i]);
    }
    return all->failed ? FXS_LAPACK_MEMORY : info;
}

#endif
