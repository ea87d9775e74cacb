/* effect.c: see effect.h. Nothing is known by name here: rows of operators say what they do. */
#include "pass/effect.h"

#include <string.h>

#include "ir/node_plan.h"

/* ---- the operator of a call
 * ----------------------------------------------------------------------------- */

fxs_status fxs_node_call_of(const fxs_node *n, fxs_arena *a, fxs_node_call *out) {
    fxs_ctx *ctx = n->graph->ctx;
    const fxs_candidate *ops;
    *out = (fxs_node_call){0};
    FXS_TRY(fxs_node_ops(n, &ops));
    for (; ops; ops = ops->next) {
        FXS_TRY(fxs_registry_schema(ctx, ops->op, &out->schema));
        fxs_status s = fxs_schema_place(ctx, a, ops->op->name, NULL, out->schema, &n->args,
                                        &n->kwargs, out->arg, out->given);
        if (s == FXS_ENOMEM)
            return s;
        if (s == FXS_OK) {
            out->ops = ops;
            return FXS_OK;
        }
        fxs_ctx_clear(ctx); /* the next overload may take them */
    }
    return FXS_OK;
}

const fxs_value *fxs_node_call_arg(const fxs_node_call *c, const char *name) {
    int i = c->ops ? fxs_schema_index(c->schema, name) : -1;
    return i < 0 ? NULL : &c->arg[i];
}

fxs_status fxs_layer_op(const fxs_module *m, const fxs_op **out) {
    const fxs_candidate *ops;
    char name[64];
    *out = NULL;
    if (!m->row || m->graph)
        return FXS_OK;
    size_t len = strcspn(m->row->call, "(");
    if (len >= sizeof name)
        return FXS_OK;
    memcpy(name, m->row->call, len);
    name[len] = '\0';
    FXS_TRY(fxs_registry_find_op(m->ctx, name, &ops));
    *out = ops ? ops->op : NULL;
    return FXS_OK;
}

/* ---- effects
 * -------------------------------------------------------------------------------------------- */

/* False only for what is certain: no such argument, or a False. */
static bool may_be_true(const fxs_value *v) { return v && (v->tag != FXS_V_BOOL || v->u.b); }

static fxs_effect effect_of_call(const fxs_node_call *c) {
    const fxs_value *out = fxs_node_call_arg(c, "out");
    bool trains = may_be_true(fxs_node_call_arg(c, "training")) ||
                  may_be_true(fxs_node_call_arg(c, "train")) ||
                  may_be_true(fxs_node_call_arg(c, "use_input_stats"));
    if (!c->ops)
        return FXS_MAY_WRITE;
    if (c->ops->in_place || c->ops->op->flags & FXS_OP_WRITES_SELF ||
        (out && out->tag != FXS_V_NONE) || may_be_true(fxs_node_call_arg(c, "inplace")))
        return FXS_WRITES;
    if (c->ops->op->flags & FXS_OP_IDLE_IN_EVAL && !trains)
        return FXS_PURE;
    if (c->ops->op->flags & FXS_OP_RANDOM)
        return FXS_IMPURE;
    return trains ? FXS_WRITES : FXS_PURE; /* running statistics */
}

static fxs_status effect_of_layer(const fxs_module *m, fxs_arena *a, fxs_effect *out) {
    const fxs_op *op;
    fxs_layer *layer = FXS_NEW(a, fxs_layer);
    *out = FXS_MAY_WRITE;
    if (!layer)
        return fxs_fail_memory(m->ctx);
    FXS_TRY(fxs_layer_op(m, &op));
    if (!op)
        return FXS_OK;
    FXS_TRY(fxs_module_layer(m, a, layer));
    if (may_be_true(fxs_layer_hyper(layer, "inplace")))
        *out = FXS_WRITES;
    else
        *out =
            op->flags & FXS_OP_RANDOM && !(op->flags & FXS_OP_IDLE_IN_EVAL) ? FXS_IMPURE : FXS_PURE;
    return FXS_OK;
}

/* Views, and what may give its argument itself, compute nothing: they have no cost. */
static bool may_share(const fxs_op *op) {
    return !op || !op->kernel || !op->cost ||
           op->flags & (FXS_OP_IDLE_IN_EVAL | FXS_OP_WRITES_SELF);
}

/* *shares: the result may look at the storage of an argument. */
static fxs_status effect_of(fxs_module *m, const fxs_node *n, fxs_arena *a, fxs_effect *out,
                            bool *shares) {
    fxs_node_call *call;
    bool impure;
    const fxs_op *op = NULL;
    *out = FXS_PURE;
    *shares = n->kind != FXS_PLACEHOLDER && n->kind != FXS_GET_ATTR;
    if (n->kind == FXS_CALL_MODULE) {
        const fxs_module *layer = fxs_module_find(m, n->target);
        *out = FXS_MAY_WRITE;
        if (!layer)
            return FXS_OK;
        FXS_TRY(effect_of_layer(layer, a, out));
        FXS_TRY(fxs_layer_op(layer, &op));
        *shares = *out != FXS_PURE || may_share(op);
        return FXS_OK;
    }
    if (n->kind != FXS_CALL_FUNCTION && n->kind != FXS_CALL_METHOD)
        return FXS_OK;
    FXS_TRY(fxs_node_is_impure(n, &impure));
    if (impure) {
        *out = FXS_IMPURE;
        return FXS_OK;
    }
    call = FXS_NEW(a, fxs_node_call);
    if (!call)
        return fxs_fail_memory(m->ctx);
    FXS_TRY(fxs_node_call_of(n, a, call));
    *out = effect_of_call(call);
    *shares = *out == FXS_WRITES || *out == FXS_MAY_WRITE || may_share(call->ops->op);
    return FXS_OK;
}

/* From each node that writes to its arguments, and on to what they may be views of. */
static void mark_written(fxs_graph *g, const fxs_effects *e, const bool *shares) {
    for (fxs_node *n = g->root.prev; n != &g->root; n = n->prev) {
        bool writes = e->of[n->index] == FXS_WRITES || e->of[n->index] == FXS_MAY_WRITE;
        if (!writes && !(e->written[n->index] && shares[n->index]))
            continue;
        e->written[n->index] = true;
        for (size_t i = 0; i < n->ninputs; i++)
            e->written[n->inputs[i]->index] = true;
    }
}

fxs_status fxs_effects_find(fxs_module *m, fxs_arena *a, fxs_effects *out) {
    fxs_graph *g = m->graph;
    fxs_arena scratch = {0};
    fxs_status s = FXS_OK;
    out->of = FXS_NEW_N(a, fxs_effect, g->len);
    out->written = FXS_NEW_N(a, bool, g->len);
    bool *shares = FXS_NEW_N(a, bool, g->len);
    if (!out->of || !out->written || !shares)
        return fxs_fail_memory(m->ctx);
    fxs_graph_number(g);
    for (fxs_node *n = fxs_graph_first(g); n && s == FXS_OK; n = fxs_node_next(n)) {
        s = effect_of(m, n, &scratch, &out->of[n->index], &shares[n->index]);
        fxs_arena_reset(&scratch);
    }
    fxs_arena_clear(&scratch);
    if (s == FXS_OK)
        mark_written(g, out, shares);
    return s;
}
