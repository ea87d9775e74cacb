/* layer_plan.c: see layer_plan.h. A plan is found by binding a call whose inputs and tensors are
 * marks: where a mark comes out in the operator's arguments, there its value belongs. */
#include "ir/layer_plan.h"

#include <string.h>

enum { USUAL_BYTES = 2304 }; /* what the plan of a convolution or a normalisation needs */

/* Marks are nodes of no graph, by which fxs_schema_place knows what is not known yet. */
typedef struct planner {
    fxs_module *module;
    fxs_layer_plan *plan;
    fxs_node marks[FXS_MAX_ARGS];
    fxs_parameter *state[FXS_MAX_ARGS]; /* that a mark stands for, NULL: an input */
    size_t nmarks;
    bool unfit;
} planner;

static fxs_value mark(planner *p, fxs_parameter *state) {
    if (p->nmarks == FXS_MAX_ARGS) {
        p->unfit = true;
        return fxs_none();
    }
    p->state[p->nmarks] = state;
    return (fxs_value){.tag = FXS_V_NODE, .u.node = &p->marks[p->nmarks++]};
}

static fxs_status mark_state(void *user, const char *name, fxs_value *out) {
    planner *p = user;
    fxs_parameter *state = fxs_module_attribute(p->module, name, strlen(name));
    p->unfit |= strchr(name, '.') != NULL; /* a child's, which may change without the module */
    *out = state ? mark(p, state) : fxs_none();
    return FXS_OK;
}

/* Marks become the tensors and inputs that they stood for. */
static void name_slots(planner *p) {
    for (int i = 0; i < p->plan->call.nslots; i++) {
        fxs_plan_slot *slot = &p->plan->call.slots[i];
        slot->input = (size_t)(slot->node - p->marks);
        slot->state = p->state[slot->input];
        slot->node = NULL;
    }
}

static fxs_status bind(planner *p, bool train) {
    fxs_layer_plan *plan = p->plan;
    fxs_ctx *ctx = p->module->ctx;
    fxs_layer *layer = FXS_NEW(&plan->arena, fxs_layer);
    fxs_value args, none, op_args, op_kwargs;
    const fxs_candidate *op;
    const char *name;
    if (!layer)
        return fxs_fail_memory(ctx);
    FXS_TRY(fxs_make_seq(ctx, &plan->arena, FXS_V_TUPLE, plan->ninputs, &args));
    FXS_TRY(fxs_make_dict(ctx, &plan->arena, 0, &none));
    for (size_t i = 0; i < plan->ninputs; i++)
        args.u.seq->items[i] = mark(p, NULL);
    FXS_TRY(fxs_module_layer(p->module, &plan->arena, layer));
    FXS_TRY(fxs_layer_call(layer, &plan->arena, &args, &none, train, mark_state, p, &name, &op_args,
                           &op_kwargs));
    FXS_TRY(fxs_registry_find_op(ctx, name, &op));
    FXS_TRY(fxs_call_plan_bind(ctx, &plan->arena, op, &op_args, &op_kwargs, false, &plan->call));
    name_slots(p);
    plan->call.parameters = fxs_module_parameter_count(p->module);
    return FXS_OK;
}

static void free_plan(fxs_layer_plan *plan) {
    fxs_arena_clear(&plan->arena);
    fxs_free(plan);
}

fxs_call_plan *fxs_layer_plan_make(fxs_module *m, size_t ninputs, bool train) {
    fxs_layer_plan *plan = m->plans[train];
    if (plan)
        free_plan(plan);
    m->plans[train] = plan = fxs_alloc0(1, sizeof *plan);
    planner *p = plan ? fxs_alloc0(1, sizeof *p) : NULL;
    if (!p) {
        fxs_layer_plan_forget(m);
        return NULL;
    }
    *p = (planner){.module = m, .plan = plan};
    plan->ninputs = ninputs;
    plan->arena.reserve = USUAL_BYTES;
    /* What is wrong is said when the call itself is bound. */
    if (bind(p, train) != FXS_OK || p->unfit) {
        fxs_ctx_clear(m->ctx);
        plan->call.op = NULL;
    }
    fxs_free(p);
    return plan->call.op ? &plan->call : NULL;
}

void fxs_layer_plan_forget(fxs_module *m) {
    for (int i = 0; i < 2; i++) {
        if (m->plans[i])
            free_plan(m->plans[i]);
        m->plans[i] = NULL;
    }
}
