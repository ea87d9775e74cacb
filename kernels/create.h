/* create.h: what operators that make tensors from sizes share. */
#ifndef FXS_KERNELS_CREATE_H
#define FXS_KERNELS_CREATE_H

#include "op/op.h"

/* The dtype in argument i, `otherwise` when there is none. */
fxs_dtype fxs_dtype_arg(const fxs_call *c, int i, fxs_dtype otherwise);
/* A new contiguous output of the sizes in argument i. */
fxs_status fxs_out_sizes(fxs_call *c, int i, fxs_dtype d);
/* A new output like argument 0, in the dtype and memory format of two arguments (None: its own). */
fxs_status fxs_out_as(fxs_call *c, int dtype_at, int format_at);
/* Writes a number (or the element of a tensor) over all of t, whatever its strides. */
void fxs_fill_tensor(fxs_call *c, fxs_tensor *t, const fxs_value *v);

/* Can an element of type d be made of the number? Negative ints may wrap around. */
bool fxs_type_holds(fxs_dtype d, const fxs_value *v);

/* ---- drawing */
/* Fills t, of any strides and of real or complex numbers. */
typedef void fxs_fill_fn(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, double a, double b);
fxs_status fxs_fill(fxs_call *c, fxs_tensor *t, fxs_fill_fn *fn, double a, double b);
/* Refuses a standard deviation, in argument i, that is below 0 or NaN. */
fxs_status fxs_check_std(fxs_call *c, int i);
/* Refuses integers from low to high - 1 that type d can't hold. */
fxs_status fxs_check_draws(fxs_call *c, fxs_dtype d, int64_t low, int64_t high);

#endif
