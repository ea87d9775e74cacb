/* linalg_norm.h: the nuclear norm of torch.norm, which the reductions hand over: (self, p, dim,
 * keepdim, ..., dtype). */
#ifndef FXS_KERNELS_LINALG_NORM_H
#define FXS_KERNELS_LINALG_NORM_H

#include "op/op.h"

/* torch.linalg's norms: `dtype` (or None) must hold what t's elements are, without narrowing. */
fxs_status fxs_check_order_dtype(fxs_call *c, const fxs_tensor *t, const fxs_value *dtype);
fxs_status fxs_nuclear_infer(fxs_call *c);
fxs_status fxs_nuclear_run(fxs_call *c);

#endif
