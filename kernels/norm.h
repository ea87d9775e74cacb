/* norm.h: what the normalising families share: sums that keep their accuracy over long rows, and
 * rows scaled and shifted. Rows are contiguous, of float32 or float64. */
#ifndef FXS_KERNELS_NORM_H
#define FXS_KERNELS_NORM_H

#include "kernels/work.h"

/* Sum of x[0..n-1], in double. */
double fxs_row_sum(fxs_dtype d, const void *x, int64_t n);
/* Sum of (x - mean)^2. */
double fxs_row_squares(fxs_dtype d, const void *x, int64_t n, double mean);
/* y = x * scale + shift */
void fxs_row_scale(fxs_dtype d, const void *x, int64_t n, double scale, double shift, void *y);
/* y = (x - mean) * scale * weight[i] + bias[i]; weight and bias may be NULL. */
void fxs_row_affine(fxs_dtype d, const void *x, int64_t n, double mean, double scale,
                    const void *weight, const void *bias, void *y);

/* Element i of a dense array, in double. */
static inline double fxs_at(fxs_dtype d, const void *p, int64_t i) {
    return d == FXS_FLOAT32 ? (double)((const float *)p)[i] : ((const double *)p)[i];
}
/* The address of element i. */
static inline const void *fxs_from(fxs_dtype d, const void *p, int64_t i) {
    return (const char *)p + i * (int64_t)fxs_dtype_size(d);
}

/* Refuses a weight or bias whose dtype is neither the input's nor, for a small float input,
 * float32. */
fxs_status fxs_check_norm_dtype(fxs_call *c, const fxs_tensor *x, const fxs_tensor *t,
                                const char *name);
/* Refuses a tensor that is not [n]; NULL is fine. */
fxs_status fxs_check_vector(fxs_call *c, const fxs_tensor *t, int64_t n, const char *name);

#endif
