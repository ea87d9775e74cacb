/* embedding.h: what the operators that read rows of a table share. */
#ifndef FXS_KERNELS_EMBEDDING_H
#define FXS_KERNELS_EMBEDDING_H

#include "op/op.h"

/* What a row of n elements is multiplied by, so that its p-norm is at most `most`. */
double fxs_norm_scale(fxs_dtype d, const char *row, int64_t n, double p, double most);

#endif
