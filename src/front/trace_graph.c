/* trace_graph.c: tracing through a module that is a graph already: its nodes are recorded again,
 * one by one, as torch.fx does when it runs the code of a GraphModule on proxies. */
#include <string.h>

#include "front/trace.h"

/* The parameters of a graph's placeholders. */
static fxs_status graph_param(fxs_ctx *ctx, struct fxs_forward *f, const fxs_node *n) {
    fxs_forward_param *p = &f->params[f->nparams];
    const fxs_value *fallback = fxs_value_item(&n->args, 0);
    size_t stars = strspn(n->target, "*");
    if (f->nparams == FXS_MAX_ARGS)
        return fxs_fail(ctx, FXS_ELIMIT, "a graph with more than %d placeholders can't be called",
                        FXS_MAX_ARGS);
    *p = (fxs_forward_param){.stars = (int)stars, .has_default = fallback != NULL};
    p->name = fxs_arena_dup(&f->arena, n->target + stars, strlen(n->target + stars));
    p->type = n->type ? fxs_arena_dup(&f->arena, n->type, strlen(n->type)) : NULL;
    if (!p->name || (n->type && !p->type))
        return fxs_fail_memory(ctx);
    f->nparams++;
    return fallback ? fxs_value_copy(ctx, &f->arena, fallback, &p->fallback) : FXS_OK;
}

fxs_status fxs_forward_of_graph(fxs_ctx *ctx, const fxs_module *m, struct fxs_forward **out) {
    FXS_TRY(fxs_forward_new(ctx, "", fxs_forward_graph, NULL, out));
    fxs_status s = FXS_OK;
    for (const fxs_node *n = fxs_graph_first(m->graph); n && s == FXS_OK; n = fxs_node_next(n)) {
        if (n->kind == FXS_PLACEHOLDER)
            s = graph_param(ctx, *out, n);
        else if (n->kind == FXS_OUTPUT && n->type)
            (*out)->returns = fxs_arena_dup(&(*out)->arena, n->type, strlen(n->type));
    }
    if (s != FXS_OK) {
        fxs_forward_free(*out);
        *out = NULL;
    }
    return s;
}

/* ---- recording again
 * ---------------------------------------------------------------------------------------------------
 */

typedef struct replay {
    fxs_tracer *t;
    fxs_proxy self;
    fxs_val_map *values; /* node of the graph -> what it is in the trace */
} replay;

static fxs_status look_up(void *user, const fxs_value *leaf, fxs_value *out) {
    replay *r = user;
    *out = *leaf;
    if (leaf->tag != FXS_V_NODE)
        return FXS_OK;
    const fxs_value *v = fxs_val_map_get(r->values, leaf->u.node);
    if (!v)
        return fxs_fail(r->t->ctx, FXS_ELINT, "Node %s is used before it has been defined",
                        leaf->u.node->name);
    *out = *v;
    return FXS_OK;
}

static fxs_status call_child(replay *r, const fxs_node *n, const fxs_value *args,
                             const fxs_value *kwargs, fxs_proxy *out) {
    size_t nargs = fxs_value_len(args), nkwargs = fxs_value_len(kwargs);
    fxs_proxy *p = FXS_NEW_N(&r->t->arena, fxs_proxy, nargs + nkwargs + 2);
    if (!p)
        return fxs_fail_memory(r->t->ctx);
    p[0] = r->self;
    p[1] = fxs_s(n->target);
    for (size_t i = 0; i < nargs; i++)
        p[2 + i] = fxs_made(r->t, *fxs_value_item(args, i));
    for (size_t i = 0; i < nkwargs; i++)
        p[2 + nargs + i] = fxs_keyword(fxs_value_text(fxs_value_key(kwargs, i)),
                                       fxs_made(r->t, *fxs_value_item(kwargs, i)));
    *out = fxs_record_call(r->t->at, nargs + nkwargs + 2, p);
    return FXS_OK;
}

/* *out: what the node is now; for the output, its value. */
static fxs_status replay_node(replay *r, const fxs_node *n, fxs_proxy *out) {
    fxs_tracer *t = r->t;
    fxs_value args, kwargs;
    FXS_TRY(fxs_value_map(t->ctx, &t->arena, &n->args, look_up, r, &args));
    FXS_TRY(fxs_value_map(t->ctx, &t->arena, &n->kwargs, look_up, r, &kwargs));
    switch (n->kind) {
    case FXS_GET_ATTR:
        *out = fxs_record_attr(t->at, r->self, n->target);
        break;
    case FXS_CALL_FUNCTION:
        *out = fxs_tracer_function(t, n->target, &args, &kwargs);
        break;
    case FXS_CALL_METHOD:
        *out = fxs_tracer_method(t, n->target, &args, &kwargs);
        break;
    case FXS_CALL_MODULE:
        return call_child(r, n, &args, &kwargs, out);
    default: /* the output */
        *out = fxs_made(t, fxs_value_len(&args) ? *fxs_value_item(&args, 0) : fxs_none());
    }
    return FXS_OK;
}

static fxs_status replay_all(replay *r, const fxs_graph *g, const fxs_proxy *x, fxs_proxy *out) {
    size_t nparams = 0;
    *out = FXS_NONE;
    for (const fxs_node *n = fxs_graph_first(g); n && !r->t->failed; n = fxs_node_next(n)) {
        fxs_proxy made = {0};
        fxs_value v;
        if (n->kind == FXS_PLACEHOLDER)
            made = x[nparams++];
        else
            FXS_TRY(replay_node(r, n, &made));
        if (r->t->failed)
            return r->t->ctx->status;
        if (n->kind == FXS_OUTPUT) {
            *out = made;
            return FXS_OK;
        }
        if (made.kind ==
            FXS_P_MODULE) /* an attribute that is a module: nothing but a call could use it */
            continue;
        if (!fxs_proxy_value(r->t, &r->t->arena, &made, &v))
            return r->t->ctx->status;
        FXS_TRY(fxs_val_map_set(r->values, n, v));
    }
    return FXS_OK;
}

fxs_proxy fxs_forward_graph(fxs_proxy self, const fxs_proxy *x) {
    fxs_tracer *t = self.tracer;
    fxs_module *m = fxs_module_of(self);
    replay r = {.t = t, .self = self};
    fxs_proxy out = fxs_poison(t);
    fxs_status s = fxs_val_map_new(m->graph, &r.values);
    if (s == FXS_OK)
        s = replay_all(&r, m->graph, x, &out);
    fxs_val_map_free(r.values);
    return s == FXS_OK ? out : fxs_tracer_failed(t, s);
}
