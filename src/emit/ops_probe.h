/* ops_probe.h: the types that an operator takes, for the table of operators. */
#ifndef FXS_EMIT_OPS_PROBE_H
#define FXS_EMIT_OPS_PROBE_H

#include "base/buf.h"
#include "op/op.h"

/* Appends "float half int bool complex", those of them that a tensor argument may have; "-" when
 * there is no such argument, or simple arguments do not tell. */
fxs_status fxs_buf_op_types(fxs_ctx *ctx, fxs_buf *b, const fxs_op *op);

#endif
