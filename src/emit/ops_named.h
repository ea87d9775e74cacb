/* ops_named.h: the types of rows that have to be told. */
#ifndef FXS_EMIT_OPS_NAMED_H
#define FXS_EMIT_OPS_NAMED_H

#include "op/op.h"

/* Of "float half int bool complex"; NULL: calls tell. */
const char *fxs_op_named_types(const fxs_op *op);

#endif
