/* planned.c: see planned.h. A plan's own list of arguments is written to at each run: no call runs
 * inside of itself. */
#include "run/planned.h"

/* What is to be given back when the call is over. */
typedef struct borrowed {
    fxs_tensor *state[FXS_MAX_ARGS];
    int n;
} borrowed;

/* META reads the shape alone, and a layer does not change what it is made of. */
static fxs_status state_of(fxs_interpreter *it, fxs_parameter *p, borrowed *b, fxs_value *out) {
    if (it->mode == FXS_RUN_META) {
        out->tag = FXS_V_TENSOR;
        out->u.tensor = p->spec;
        return FXS_OK;
    }
    FXS_TRY(fxs_interpreter_parameter(it, p, out));
    b->state[b->n++] = out->u.tensor;
    return FXS_OK;
}

/* The value that belongs into a slot, NULL: it is not there. `args` may hold nodes. */
static const fxs_value *input_of(const fxs_interpreter *it, const fxs_plan_slot *slot,
                                 const fxs_value *args) {
    if (slot->node)
        return fxs_value_of(it, slot->node);
    const fxs_value *v = fxs_value_item(args, slot->input);
    return v && v->tag == FXS_V_NODE ? fxs_value_of(it, v->u.node) : v;
}

static fxs_status fill_slot(fxs_interpreter *it, fxs_call_plan *plan, const fxs_plan_slot *slot,
                            const fxs_value *args, borrowed *b) {
    fxs_value state, *to = &plan->bound[slot->param];
    const fxs_value *v = &state;
    if (slot->item >= 0)
        to = &to->u.seq->items[slot->item];
    if (slot->state)
        FXS_TRY(state_of(it, slot->state, b, &state));
    else
        v = input_of(it, slot, args);
    if (v && v->tag == FXS_V_TENSOR && slot->takes_tensor) {
        fxs_value_move(to, v);
        return FXS_OK;
    }
    /* A list may hold nodes that have to be looked up first. */
    if (!v || slot->node || slot->item >= 0 || fxs_value_has_node(v))
        return FXS_ETYPE;
    return fxs_schema_put(it->ctx, &it->scratch, NULL, plan->schema, slot->param, v, plan->bound);
}

fxs_status fxs_run_plan(fxs_interpreter *it, const fxs_node *n, fxs_call_plan *plan,
                        const fxs_value *args, bool *fits, fxs_value *result) {
    borrowed b;
    fxs_status s = FXS_OK;
    b.n = 0;
    for (int i = 0; i < plan->nslots && s == FXS_OK; i++)
        s = fill_slot(it, plan, &plan->slots[i], args, &b);
    *fits = s == FXS_OK || fxs_ctx_status(it->ctx) != FXS_OK;
    if (s == FXS_OK) {
        const fxs_apply *how = fxs_interpreter_apply(it, n);
        fxs_applied done;
        s = fxs_op_apply_bound(it->ctx, plan->op, plan->schema, plan->bound, how, &done);
        fxs_value_move(result, &done.result);
        it->op = plan->op->op;
        it->cost = done.cost;
    }
    while (b.n > 0)
        fxs_tensor_unref(b.state[--b.n]);
    return s;
}
