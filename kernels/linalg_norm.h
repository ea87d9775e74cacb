/* linalg_norm.h: the nuclear norm of torch.norm, which the reductions hand over: (self, p, dim,
 * keepdim, ..., dtype). */
#ifndef FXS_KERNELS_LINALG_NORM_H
#define FXS_KERNELS_LINALG_NORM_H

#include "op/op.h"

fxs_status fxs_nuclear_infer(fxs_call *c);
fxs_status fxs_nuclear_run(fxs_call *c);

#endif
