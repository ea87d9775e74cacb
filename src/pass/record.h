/* record.h: observers that write what a run shows into the nodes' meta. */
#ifndef FXS_PASS_RECORD_H
#define FXS_PASS_RECORD_H

#include "run/interpret.h"

/* An fxs_observer's function: outcome, result without storage, cost, time. user: the fxs_ctx. */
fxs_status fxs_record_meta(void *user, fxs_node *n, const fxs_step *step);
/* Statistics of each tensor of the result; after fxs_record_meta. user: the fxs_ctx. */
fxs_status fxs_record_stats(void *user, fxs_node *n, const fxs_step *step);
/* Statistics of one tensor with storage. */
void fxs_tensor_stats(fxs_ctx *ctx, const fxs_tensor *t, fxs_stats *out);

#endif
