/* format.h: memory formats as PyTorch guesses and asks for them, and new outputs that keep them. */
#ifndef FXS_KERNELS_FORMAT_H
#define FXS_KERNELS_FORMAT_H

#include "op/op.h"

/* Tensor.suggest_memory_format(): the channels-last format that the strides look like, else
 * FXS_CONTIGUOUS. */
fxs_memory_format fxs_suggested_format(const fxs_tensor *t);
/* Strides of a shape in a format; refuses channels_last where the shape has other than 4 (5)
 * dimensions. */
fxs_status fxs_format_strides(fxs_call *c, fxs_memory_format f, int ndim, const int64_t *sizes,
                              int64_t *strides);
/* True when t lies exactly in the format (FXS_PRESERVE asks for contiguous). */
bool fxs_has_format(const fxs_tensor *t, fxs_memory_format f);
/* Output of t's shape in a format (FXS_PRESERVE: like empty_like(t)). */
fxs_status fxs_out_formatted(fxs_call *c, const fxs_tensor *t, fxs_dtype dtype,
                             fxs_memory_format f);
/* Kernel: copies argument 0 into output 0, converting. */
fxs_kernel_fn fxs_copy_first;

/* Refuses argument i when it is a device that PyTorch has no name for. */
fxs_status fxs_check_device(fxs_call *c, int i);

#endif
