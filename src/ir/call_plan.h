/* call_plan.h: a call bound to its operator once: what is known of its arguments is in place, and a
 * run only puts in the values that nodes stand for. Layers (layer_plan.h) and calls of functions
 * and methods (node_plan.h) are bound so; the interpreter fills plans. */
#ifndef FXS_IR_CALL_PLAN_H
#define FXS_IR_CALL_PLAN_H

#include "ir/graph.h"
#include "ir/module.h"
#include "op/registry.h"

/* A place that each run fills. */
typedef struct fxs_plan_slot {
    int param;            /* of the operator, ... */
    int item;             /* ... of whose list of tensors this one, -1: the parameter itself */
    bool takes_tensor;    /* as it is */
    const fxs_node *node; /* whose value it is; of a layer's plan NULL, and: */
    size_t input;         /* which argument of forward, ... */
    fxs_parameter *state; /* ... or this tensor of the layer; borrowed, NULL: an input */
} fxs_plan_slot;

typedef struct fxs_call_plan {
    const fxs_candidate *op; /* NULL: can't be planned */
    const fxs_schema *schema;
    fxs_value *bound; /* the operator's arguments; each run writes its values into the slots */
    fxs_plan_slot *slots;
    int nslots;
    int64_t parameters; /* elements of the layer's own; 0: it is no layer's call */
} fxs_call_plan;

/* An object of the front end's is among the arguments: no operator of ours takes one. */
bool fxs_args_have_object(const fxs_value *args);

/* Binds args and kwargs, in which nodes stand for what is not known yet, to the first overload that
 * takes them; what the plan consists of goes to `a`. tensors_only: an overload is not taken if a
 * node would be anything but a tensor. plan->op stays NULL where the call can't be planned (nodes
 * inside of slices and numbers) or bound; the context keeps no error but that memory is out. */
fxs_status fxs_call_plan_bind(fxs_ctx *ctx, fxs_arena *a, const fxs_candidate *ops,
                              const fxs_value *args, const fxs_value *kwargs, bool tensors_only,
                              fxs_call_plan *plan);

#endif
