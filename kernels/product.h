/* product.h: torch.matmul on tensors: broadcast batches, vectors, any strides. Shared by linear
 * layers, matmul, einsum and attention. */
#ifndef FXS_KERNELS_PRODUCT_H
#define FXS_KERNELS_PRODUCT_H

#include "kernels/work.h"

/* out = a @ b by torch.matmul's rules; `out` (from fxs_work_out) is contiguous, of w->dtype, and
 * has torch's shape or any other of as many elements. `accumulate` adds to what stands in out. a
 * and b may have any strides. */
void fxs_product(fxs_work *w, fxs_tensor *a, fxs_tensor *b, fxs_tensor *out, bool accumulate);
/* The result's sizes (at most FXS_MAX_DIM), after checking a against b as torch does. */
fxs_status fxs_product_sizes(fxs_call *c, const fxs_tensor *a, const fxs_tensor *b, int *ndim,
                             int64_t *sizes);
/* 2 M N K for each matrix of the batch: K products and K sums an element. */
double fxs_product_flops(const fxs_tensor *a, const fxs_tensor *out);
/* Refuses a beta of more than d's kind, as PyTorch does where it multiplies the input by it alone,
 * without products: a floating point number for integers, say. beta = 0 is always fine. */
fxs_status fxs_check_beta_alone(fxs_call *c, int i, fxs_dtype d);

#endif
