/* view_dims.h: the transposed views that are attributes in Python: x.T and x.mT. */
#ifndef FXS_KERNELS_VIEW_DIMS_H
#define FXS_KERNELS_VIEW_DIMS_H

#include "op/op.h"

/* Output: t with its dimensions in reverse order (x.T). */
fxs_status fxs_out_reversed_dims(fxs_call *c, fxs_tensor *t);
/* Output: t with its last two dimensions swapped (x.mT). */
fxs_status fxs_out_matrix_transposed(fxs_call *c, fxs_tensor *t);
/* x.H: the last two dimensions swapped, and complex numbers conjugated, which needs the kernel. */
fxs_status fxs_adjoint_infer(fxs_call *c);
fxs_status fxs_adjoint_run(fxs_call *c);
/* x.t_() and the like change what x itself looks like: x, looking like output 0, takes the place of
 * it. */
fxs_status fxs_look_of_self(fxs_call *c);

#endif
