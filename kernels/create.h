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

#endif
