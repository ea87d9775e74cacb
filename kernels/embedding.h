/* embedding.h: what the operators that read rows of a table share. */
#ifndef FXS_KERNELS_EMBEDDING_H
#define FXS_KERNELS_EMBEDDING_H

#include "op/op.h"

/* What a row of the weight, which lies densely and of type d at `row`, is multiplied by, so that
 * its p-norm is at most `most`. It can't be where the weight has one element for the whole row. */
fxs_status fxs_norm_scale(fxs_call *c, const fxs_tensor *weight, fxs_dtype d, const char *row,
                          double p, double most, double *scale);

#endif
