/* layer_plan.h: a layer's forward call, bound to its operator once: what the row and the layer's
 * arguments decide is in place, and a call only puts in its inputs and the layer's tensors. Kept by
 * the module; made by the interpreter's first call, dropped when the module's tensors change. */
#ifndef FXS_IR_LAYER_PLAN_H
#define FXS_IR_LAYER_PLAN_H

#include "ir/module.h"
#include "op/registry.h"

/* A parameter of the operator that each call fills. */
typedef struct fxs_plan_slot {
    int param;
    size_t input;         /* which argument of forward, ... */
    fxs_parameter *state; /* ... or this tensor of the layer; borrowed, NULL: an input */
} fxs_plan_slot;

typedef struct fxs_layer_plan {
    fxs_arena arena;
    size_t ninputs;           /* the call has so many, by position */
    const fxs_candidate *op;  /* NULL: the row can't be planned (lists of tensors, children) */
    const fxs_schema *schema; /* op's */
    const fxs_value *bound;   /* the operator's arguments; slots hold nothing */
    fxs_plan_slot slots[FXS_MAX_ARGS];
    int nslots;
} fxs_layer_plan;

/* The first overload that takes all that is known is the plan's; should it refuse what a call puts
 * in, the call has to be bound as any other, for another one may take it. */
/* The plan for a call of m, which has a row, with so many positional arguments; NULL when there is
 * none, and the call has to be bound as any other. Borrowed from m. */
const fxs_layer_plan *fxs_layer_plan_of(fxs_module *m, size_t ninputs, bool train);
void fxs_layer_plan_forget(fxs_module *m);

#endif
