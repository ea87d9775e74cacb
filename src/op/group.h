/* group.h: which family of operators a name belongs to, as pictures and legends tell them. */
#ifndef FXS_OP_GROUP_H
#define FXS_OP_GROUP_H

#include "op/registry.h"

/* Of an operator's row: its table's group, but for the few operators that stand in a table for what
 * they share with it. */
FXS_API fxs_group fxs_group_of_op(const fxs_op *op);
/* Of a spelling ("torch.flatten", "Tensor.view"), of a layer's class; what is not known is
 * FXS_GROUP_OTHER. */
FXS_API fxs_status fxs_group_of_spelling(fxs_ctx *ctx, const char *spelling, fxs_group *out);
FXS_API fxs_status fxs_group_of_class(fxs_ctx *ctx, const char *class_name, fxs_group *out);
/* "convolution": a word for classes of SVG; "linear, matmul": what a legend says. */
FXS_API const char *fxs_group_class(fxs_group g);
FXS_API const char *fxs_group_text(fxs_group g);

#endif
