/* softmax.h: softmax of rows, for the kernels of attention. */
#ifndef FXS_KERNELS_SOFTMAX_H
#define FXS_KERNELS_SOFTMAX_H

#include "op/op.h"

/* y = softmax of each of `rows` rows of n elements, float32 or float64; y may be x. */
void fxs_softmax_rows(fxs_ctx *ctx, fxs_dtype d, int64_t rows, int64_t n, const void *x, void *y);

#endif
