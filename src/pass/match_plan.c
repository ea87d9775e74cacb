/* match_plan.c: a pattern graph becomes a plan for the search: its nodes by position, what it
 * returns, its anchors, and for each anchor but the first a way to it from what is bound by then.
 * Called by match.c and replace.c; knows nothing of the graph that is searched. */
#include <string.h>

#include "pass/match.h"

typedef struct planner {
    fxs_ctx *ctx;
    fxs_arena *arena;
    fxs_plan *plan;
    bool *bound;                /* by position: earlier anchors reach it */
    size_t *stack, *came, *way; /* room for each position */
    uint64_t *seen, stamp;      /* by position */
} planner;

static fxs_status number_nodes(planner *p, const fxs_graph *g) {
    fxs_plan *plan = p->plan;
    size_t len = fxs_graph_len(g);
    plan->nodes = FXS_NEW_N(p->arena, const fxs_node *, len);
    plan->position = FXS_NEW_N(p->arena, size_t, g->next_id);
    plan->returned = FXS_NEW_N(p->arena, bool, len);
    plan->returning = FXS_NEW_N(p->arena, size_t, len);
    plan->placeholders = FXS_NEW_N(p->arena, size_t, len);
    plan->anchors = FXS_NEW_N(p->arena, fxs_plan_anchor, len);
    p->bound = FXS_NEW_N(p->arena, bool, len);
    p->stack = FXS_NEW_N(p->arena, size_t, len);
    p->came = FXS_NEW_N(p->arena, size_t, len);
    p->way = FXS_NEW_N(p->arena, size_t, len);
    p->seen = FXS_NEW_N(p->arena, uint64_t, len);
    if (!plan->nodes || !plan->position || !plan->returned || !plan->returning ||
        !plan->placeholders || !plan->anchors || !p->bound || !p->stack || !p->came || !p->way ||
        !p->seen)
        return fxs_fail_memory(p->ctx);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        plan->position[n->id] = plan->n;
        plan->nodes[plan->n++] = n;
        if (n->kind == FXS_PLACEHOLDER)
            plan->placeholders[plan->nplaceholders++] = plan->position[n->id];
        if (n->kind == FXS_OUTPUT)
            plan->output = n;
    }
    return FXS_OK;
}

static bool note_returned(void *user, const fxs_value *leaf) {
    fxs_plan *plan = user;
    if (leaf->tag != FXS_V_NODE)
        return true;
    size_t at = plan->position[leaf->u.node->id];
    if (!plan->returned[at])
        plan->returning[plan->nreturning++] = at;
    plan->returned[at] = true;
    return true;
}

/* torch.fx refuses an unused placeholder too; here it only stands for nothing. */
static fxs_status check_pattern(planner *p, bool match_output) {
    const fxs_plan *plan = p->plan;
    if (plan->n == 0)
        return fxs_fail(p->ctx, FXS_EINVAL,
                        "SubgraphMatcher cannot be initialized with an empty pattern");
    if (!plan->output)
        return fxs_fail(p->ctx, FXS_EINVAL, "the pattern has no output");
    for (size_t i = 0; i < plan->n; i++) {
        const fxs_node *n = plan->nodes[i];
        if (!n->nusers && n->kind != FXS_OUTPUT && n->kind != FXS_PLACEHOLDER)
            return fxs_fail(
                p->ctx, FXS_EINVAL,
                "SubgraphMatcher cannot be initialized with an pattern with dead code: Node %s",
                n->name);
        if (n->kind == FXS_PLACEHOLDER && n->nusers == 1 && plan->returned[i] && !match_output)
            return fxs_fail(p->ctx, FXS_EINVAL,
                            "the pattern returns its parameter '%s' without using it", n->name);
    }
    return FXS_OK;
}

/* ---- ways to later anchors
 * ------------------------------------------------------------------------------ */

static void bind_from(planner *p, size_t anchor) {
    size_t depth = 0;
    if (p->bound[anchor])
        return;
    p->bound[anchor] = true;
    p->stack[depth++] = anchor;
    while (depth) {
        const fxs_node *n = p->plan->nodes[p->stack[--depth]];
        for (size_t i = 0; i < n->ninputs; i++) {
            size_t at = p->plan->position[n->inputs[i]->id];
            if (!p->bound[at])
                p->stack[depth++] = at;
            p->bound[at] = true;
        }
    }
}

/* The nearest node above the anchor that is bound; one that computes is better than a placeholder,
 * which may have many users. Returns false when there is none. came[] leads back. */
static bool nearest_bound(planner *p, size_t anchor, size_t *found) {
    size_t head = 0, tail = 0;
    bool placeholder = false;
    p->stamp++;
    p->seen[anchor] = p->stamp;
    p->stack[tail++] = anchor;
    while (head < tail) {
        size_t here = p->stack[head++];
        const fxs_node *n = p->plan->nodes[here];
        for (size_t i = 0; i < n->ninputs; i++) {
            size_t at = p->plan->position[n->inputs[i]->id];
            if (p->seen[at] == p->stamp)
                continue;
            p->seen[at] = p->stamp;
            p->came[at] = here;
            if (!p->bound[at]) {
                p->stack[tail++] = at;
            } else if (p->plan->nodes[at]->kind != FXS_PLACEHOLDER) {
                *found = at;
                return true;
            } else if (!placeholder) {
                placeholder = true;
                *found = at;
            }
        }
    }
    return placeholder;
}

static fxs_status plan_way(planner *p, fxs_plan_anchor *a) {
    size_t n = 0;
    if (!nearest_bound(p, a->node, &a->from))
        return FXS_OK;
    for (size_t at = a->from; at != a->node;) {
        at = p->came[at];
        p->way[n++] = at;
    }
    size_t *path = FXS_NEW_N(p->arena, size_t, n);
    if (!path)
        return fxs_fail_memory(p->ctx);
    memcpy(path, p->way, n * sizeof *path);
    a->path = path;
    a->npath = n;
    return FXS_OK;
}

static fxs_status add_anchor(planner *p, size_t node) {
    fxs_plan_anchor *a = &p->plan->anchors[p->plan->nanchors++];
    a->node = node;
    if (p->plan->nanchors > 1)
        FXS_TRY(plan_way(p, a));
    bind_from(p, node);
    return FXS_OK;
}

fxs_status fxs_plan_make(fxs_arena *a, const fxs_graph *pattern, bool match_output, fxs_plan *out) {
    planner p = {.ctx = pattern->ctx, .arena = a, .plan = out};
    *out = (fxs_plan){.pattern = pattern};
    FXS_TRY(number_nodes(&p, pattern));
    if (out->output)
        fxs_value_visit(&out->output->args, note_returned, out);
    FXS_TRY(check_pattern(&p, match_output));
    if (match_output)
        return add_anchor(&p, out->position[out->output->id]);
    for (size_t i = 0; i < out->nreturning; i++) {
        const fxs_node *n = out->nodes[out->returning[i]];
        if (n->nusers == 1 && n->kind != FXS_PLACEHOLDER)
            FXS_TRY(add_anchor(&p, out->returning[i]));
    }
    if (!out->nanchors)
        return fxs_fail(p.ctx, FXS_EINVAL, "the pattern computes nothing");
    return FXS_OK;
}
