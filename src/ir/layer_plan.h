/* layer_plan.h: a layer's forward call, bound to its operator once: what the row and the layer's
 * arguments decide is in place, and a call only puts in its inputs and the layer's tensors. Kept by
 * the module; made by the interpreter's first call, dropped when the module's tensors change. */
#ifndef FXS_IR_LAYER_PLAN_H
#define FXS_IR_LAYER_PLAN_H

#include "ir/call_plan.h"

typedef struct fxs_layer_plan {
    fxs_arena arena;
    size_t ninputs;     /* the call has so many, by position */
    fxs_call_plan call; /* op NULL: the row can't be planned (tensors of children) */
} fxs_layer_plan;

/* Makes the plan: the first overload that takes all that is known; should it refuse what a call
 * puts in, the call has to be bound as any other, for another one may take it. */
fxs_call_plan *fxs_layer_plan_make(fxs_module *m, size_t ninputs, bool train);
void fxs_layer_plan_forget(fxs_module *m);

/* The plan for a call of m, which has a row, with so many positional arguments; NULL when there is
 * none, and the call has to be bound as any other. Borrowed from m. */
static inline fxs_call_plan *fxs_layer_plan_of(fxs_module *m, size_t ninputs, bool train) {
    fxs_layer_plan *plan = m->plans[train];
    if (!plan || plan->ninputs != ninputs)
        return fxs_layer_plan_make(m, ninputs, train);
    return plan->call.op ? &plan->call : NULL;
}

#endif
