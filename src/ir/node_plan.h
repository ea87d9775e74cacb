/* node_plan.h: a node's call of a function or a method, bound to its operator. Kept by the node,
 * made when it is run for the second time: of most graphs no node is. graph.c and edit.c drop it
 * when target or arguments change. */
#ifndef FXS_IR_NODE_PLAN_H
#define FXS_IR_NODE_PLAN_H

#include "ir/call_plan.h"

/* What a call of a function or a method means: the first of its overloads, NULL when there is none.
 * A method is one of tensors: of what, is not known before a run. */
fxs_status fxs_node_ops(const fxs_node *n, const fxs_candidate **ops);
/* The plan for values that are all tensors; NULL when there is none (yet). Borrowed from the node's
 * graph. */
fxs_call_plan *fxs_node_plan_of(fxs_node *n);

#endif
