/* node_plan.c: see node_plan.h. */
#include "ir/node_plan.h"

/* A node that was run once; op NULL: it has no plan. */
static fxs_call_plan run_once;

fxs_status fxs_node_ops(const fxs_node *n, const fxs_candidate **ops) {
    fxs_graph *g = n->graph;
    fxs_buf name = {0};
    *ops = NULL;
    if (n->kind == FXS_CALL_FUNCTION)
        return fxs_registry_find(g->ctx, n->target, ops);
    fxs_buf_printf(&name, "Tensor.%s", n->target);
    fxs_status s =
        name.failed ? fxs_fail_memory(g->ctx) : fxs_registry_find(g->ctx, name.data, ops);
    fxs_buf_free(&name);
    return s;
}

/* What goes wrong is said when the call itself is bound. */
static fxs_call_plan *make_plan(fxs_node *n) {
    fxs_graph *g = n->graph;
    const fxs_candidate *ops = NULL;
    fxs_call_plan *plan = FXS_NEW(&g->arena, fxs_call_plan);
    const fxs_value *first = fxs_value_item(&n->args, 0);
    bool calls = n->kind == FXS_CALL_FUNCTION ||
                 (n->kind == FXS_CALL_METHOD && first && first->tag == FXS_V_NODE);
    fxs_status s = !plan ? FXS_ENOMEM : calls ? fxs_node_ops(n, &ops) : FXS_OK;
    if (s == FXS_OK && ops)
        s = fxs_call_plan_bind(g->ctx, &g->arena, ops, &n->args, &n->kwargs, true, plan);
    if (s == FXS_OK)
        return plan;
    fxs_ctx_clear(g->ctx);
    return &run_once;
}

fxs_call_plan *fxs_node_plan_of(fxs_node *n) {
    if (!n->plan) {
        n->plan = &run_once;
        return NULL;
    }
    if (n->plan == &run_once)
        n->plan = make_plan(n);
    return n->plan->op ? n->plan : NULL;
}
