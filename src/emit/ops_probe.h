/* ops_probe.h: the types that an operator takes and the modes that it runs in, for the table of
 * operators: its row is asked. */
#ifndef FXS_EMIT_OPS_PROBE_H
#define FXS_EMIT_OPS_PROBE_H

#include "base/buf.h"
#include "op/op.h"

/* What a row was found to do. */
typedef struct fxs_op_facts {
    unsigned types;      /* 1u << fxs_op_kind, any of them */
    bool asked;          /* it has a tensor argument, and a call was found that it takes */
    bool without_values; /* a call in META gave a result */
} fxs_op_facts;

/* Finds out by calls in META. */
fxs_status fxs_op_find_facts(fxs_ctx *ctx, const fxs_op *op, fxs_op_facts *out);
/* Appends "float half int bool complex", those of them that a tensor argument may have; "-" when
 * there is no such argument, or simple arguments do not tell. */
void fxs_buf_op_types(fxs_buf *b, const fxs_op_facts *f);

#endif
