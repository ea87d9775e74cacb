/* view.h: what operators that look at a tensor in another shape share: sizes with a -1, the strides
 * of a view, and the copy where no view can be. */
#ifndef FXS_KERNELS_VIEW_H
#define FXS_KERNELS_VIEW_H

#include "op/op.h"

/* A shape as it was asked for; one size may be -1 until fxs_fill_size. */
typedef struct fxs_shape {
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
} fxs_shape;

/* The int list in argument i. */
fxs_status fxs_arg_shape(fxs_call *c, int i, fxs_shape *out);
/* Puts the size that numel leaves in the place of a -1; refuses shapes of another number of
 * elements. */
fxs_status fxs_fill_size(fxs_call *c, fxs_shape *s, int64_t numel);
/* Strides with which t's memory reads as the shape; false when only a copy can have it. */
bool fxs_view_strides(const fxs_tensor *t, const fxs_shape *s, int64_t *strides);
/* Output: t as the shape, a view where possible, else new and to be filled by fxs_copy_reshaped. */
fxs_status fxs_out_reshaped(fxs_call *c, fxs_tensor *t, const fxs_shape *s);
/* Kernel of the above: copies argument 0, in row-major order, into output 0. */
fxs_kernel_fn fxs_copy_reshaped;

#endif
