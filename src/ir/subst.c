/* subst.c: see subst.h. Keeps users right, as graph.c does: first all nodes that will change are
 * taken out of the users of their inputs, in one walk, then each gets its new arguments. */
#include "ir/subst.h"

fxs_status fxs_subst_init(fxs_subst *s, fxs_graph *g) {
    *s = (fxs_subst){.graph = g, .n = g->next_id};
    s->to = fxs_alloc(s->n, sizeof *s->to);
    s->erase = fxs_alloc0(s->n, sizeof *s->erase);
    if (!s->to || !s->erase) {
        s->n = 0;
        fxs_subst_free(s);
        return fxs_fail_memory(g->ctx);
    }
    for (size_t i = 0; i < s->n; i++)
        s->to[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    return FXS_OK;
}

void fxs_subst_free(fxs_subst *s) {
    for (size_t i = 0; i < s->n; i++)
        fxs_value_unref(&s->to[i]);
    fxs_free(s->to);
    fxs_free(s->erase);
    *s = (fxs_subst){0};
}

fxs_status fxs_subst_set(fxs_subst *s, const fxs_node *n, const fxs_value *v) {
    if (n->graph != s->graph || n->id >= s->n)
        return fxs_fail(s->graph->ctx, FXS_EINVAL,
                        "Node %s is new or of another graph: it can't be replaced", n->name);
    fxs_value_unref(&s->to[n->id]);
    return fxs_value_copy(s->graph->ctx, NULL, v, &s->to[n->id]);
}

/* A node that stands for itself in the end ends the walk too. */
fxs_value fxs_subst_get(const fxs_subst *s, fxs_node *n) {
    fxs_value v = fxs_of_node(n);
    for (size_t steps = 0; v.tag == FXS_V_NODE && v.u.node->id < s->n && steps <= s->n; steps++) {
        const fxs_value *next = &s->to[v.u.node->id];
        if (next->tag == FXS_V_UNKNOWN)
            break;
        v = *next;
    }
    return v;
}

static fxs_status map_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    const fxs_subst *s = user;
    fxs_value v = leaf->tag == FXS_V_NODE ? fxs_subst_get(s, leaf->u.node) : *leaf;
    if (v.tag == FXS_V_NODE) {
        *out = v;
        return FXS_OK;
    }
    return fxs_value_copy(s->graph->ctx, &s->graph->arena, &v, out);
}

fxs_status fxs_subst_value(const fxs_subst *s, const fxs_value *v, fxs_value *out) {
    return fxs_value_map(s->graph->ctx, &s->graph->arena, v, map_leaf, (void *)s, out);
}

static bool uses_replaced(const fxs_subst *s, const fxs_node *n) {
    for (size_t i = 0; i < n->ninputs; i++)
        if (n->inputs[i]->id < s->n && s->to[n->inputs[i]->id].tag != FXS_V_UNKNOWN)
            return true;
    return false;
}

void fxs_graph_detach(fxs_graph *g, uint64_t stamp) {
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        size_t kept = 0;
        for (size_t i = 0; i < n->nusers; i++)
            if (n->users[i]->mark != stamp)
                n->users[kept++] = n->users[i];
        n->nusers = kept;
        if (n->mark == stamp)
            n->ninputs = 0;
    }
}

static void detach(fxs_subst *s) {
    uint64_t stamp = fxs_graph_stamp(s->graph);
    for (fxs_node *n = fxs_graph_first(s->graph); n; n = fxs_node_next(n))
        if (fxs_subst_erases(s, n) || uses_replaced(s, n))
            n->mark = stamp;
    fxs_graph_detach(s->graph, stamp);
}

/* No inputs, but nodes in its arguments: it was detached. */
static bool names_node(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_NODE;
}

static bool is_detached(const fxs_node *n) {
    return n->ninputs == 0 && !(fxs_value_visit(&n->args, names_node, NULL) &&
                                fxs_value_visit(&n->kwargs, names_node, NULL));
}

fxs_status fxs_subst_apply(fxs_subst *s) {
    fxs_graph *g = s->graph;
    detach(s);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        fxs_value args, kwargs;
        if (fxs_subst_erases(s, n) || !is_detached(n))
            continue;
        FXS_TRY(fxs_subst_value(s, &n->args, &args));
        FXS_TRY(fxs_subst_value(s, &n->kwargs, &kwargs));
        FXS_TRY(fxs_node_adopt_args(n, &args, &kwargs));
    }
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (fxs_subst_erases(s, n))
            FXS_TRY(fxs_graph_erase_node(g, n));
    return FXS_OK;
}
