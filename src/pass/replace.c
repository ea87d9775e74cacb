/* replace.c: torch.fx's replace_pattern: matches become copies of a replacement graph. Everything
 * that can be refused is checked before the graph is touched. All replacements are put in first,
 * then all uses are rewritten and the matched nodes erased in one go, so that the time is linear in
 * the graph. Names and places are torch.fx 1.13's: a copy stands before the first user of what it
 * replaces. Where its inputs stand behind that (the parts of a match may lie far apart), they are
 * moved up; 1.13 leaves a graph that lint refuses. A match whose replacement would have to feed
 * itself, through that of another match, stays as it is. */
#include <string.h>

#include "ir/module.h"
#include "pass/match.h"
#include "pass/place.h"

typedef struct replacing {
    fxs_ctx *ctx;
    fxs_module *gm;
    fxs_graph *g;
    const fxs_graph *replacement;
    const fxs_module *from;
    const fxs_plan *plan;
    const fxs_node **params; /* of the replacement */
    size_t nparams;
    const fxs_value *result; /* what the replacement's output returns */
    fxs_matches *matches;
    fxs_subst subst;
    fxs_placer placer;
} replacing;

/* ---- checks
 * --------------------------------------------------------------------------------------------- */

static bool is_container(const fxs_value *v) {
    return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_DICT;
}

/* The i-th of the values that a graph returns. */
static const fxs_value *returned_value(const fxs_value *result, size_t i) {
    return is_container(result) ? fxs_value_item(result, i) : result;
}

static fxs_status check_order(const replacing *r, const fxs_node *n, const bool *seen) {
    for (size_t i = 0; i < n->ninputs; i++)
        if (!seen[n->inputs[i]->id])
            return fxs_fail(r->ctx, FXS_ELINT,
                            "replacement: Argument '%s' of Node '%s' was used before it has been "
                            "defined",
                            n->inputs[i]->name, n->name);
    return FXS_OK;
}

static fxs_status check_target(const replacing *r, const fxs_node *n) {
    fxs_lookup have = fxs_module_lookup(r->gm, n->target), give = {0};
    bool attribute = n->kind == FXS_GET_ATTR;
    if (have.module || (have.param && attribute))
        return FXS_OK;
    if (r->from)
        give = fxs_module_lookup(r->from, n->target);
    bool in_the_way =
        have.param || fxs_module_attribute(have.parent, have.missing, have.missing_len);
    if ((give.module || (give.param && attribute)) && !in_the_way)
        return FXS_OK;
    if (in_the_way)
        return fxs_fail(r->ctx, FXS_EINVAL,
                        "the replacement's target %s can't be put in: a tensor of that name is "
                        "there",
                        n->target);
    return fxs_fail(r->ctx, FXS_ENOTFOUND,
                    "Attempted to create a \"%s\" node during subgraph rewriting with target %s, "
                    "but what it references "
                    "does not exist in either the original GraphModule or the replacement",
                    fxs_kind_name(n->kind), n->target);
}

/* Notes the parameters and the output on the way. */
static fxs_status check_replacement(replacing *r, fxs_arena *a) {
    if (r->replacement == r->g)
        return fxs_fail(r->ctx, FXS_EINVAL,
                        "a graph can't be the replacement in itself: deep copy it first");
    bool *seen = FXS_NEW_N(a, bool, r->replacement->next_id);
    r->params = FXS_NEW_N(a, const fxs_node *, r->replacement->len);
    if (!seen || !r->params)
        return fxs_fail_memory(r->ctx);
    for (fxs_node *n = fxs_graph_first(r->replacement); n && !r->result; n = fxs_node_next(n)) {
        FXS_TRY(check_order(r, n, seen));
        seen[n->id] = true;
        if (n->kind == FXS_PLACEHOLDER)
            r->params[r->nparams++] = n;
        if (n->kind == FXS_CALL_MODULE || n->kind == FXS_GET_ATTR)
            FXS_TRY(check_target(r, n));
        if (n->kind == FXS_OUTPUT)
            r->result = fxs_value_item(&n->args, 0);
    }
    return r->result ? FXS_OK : fxs_fail(r->ctx, FXS_EINVAL, "the replacement has no output");
}

/* A parameter that both graphs only hand through. */
static fxs_status check_returned_parameter(const replacing *r, size_t i) {
    size_t at = r->plan->returning[i];
    const fxs_value *v = returned_value(r->result, i);
    for (size_t k = 0; k < r->nparams; k++)
        if (r->plan->placeholders[k] == at && v->tag == FXS_V_NODE && v->u.node == r->params[k])
            return FXS_OK;
    return fxs_fail(r->ctx, FXS_EINVAL,
                    "the pattern returns its parameter '%s', so the replacement must return its "
                    "own in that place",
                    r->plan->nodes[at]->name);
}

static fxs_status check_pair(const replacing *r) {
    const fxs_plan *plan = r->plan;
    size_t n = is_container(r->result) ? fxs_value_len(r->result) : 1;
    if (plan->nplaceholders != r->nparams)
        return fxs_fail(r->ctx, FXS_EINVAL,
                        "the pattern has %zu parameters, but the replacement %zu",
                        plan->nplaceholders, r->nparams);
    if (plan->nreturning != n)
        return fxs_fail(r->ctx, FXS_EINVAL,
                        "the pattern returns %zu values, but the replacement %zu", plan->nreturning,
                        n);
    for (size_t k = 0; k < r->nparams; k++)
        if (!plan->nodes[plan->placeholders[k]]->nusers && r->params[k]->nusers)
            return fxs_fail(r->ctx, FXS_EINVAL,
                            "the replacement uses '%s', but the pattern does not use its '%s'",
                            r->params[k]->name, plan->nodes[plan->placeholders[k]]->name);
    for (size_t i = 0; i < plan->nreturning; i++)
        if (plan->nodes[plan->returning[i]]->kind == FXS_PLACEHOLDER)
            FXS_TRY(check_returned_parameter(r, i));
    return FXS_OK;
}

static bool is_replaced(const replacing *r, size_t i) {
    return r->plan->nodes[r->plan->returning[i]]->kind != FXS_PLACEHOLDER;
}

static fxs_status check_users(const replacing *r) {
    for (size_t k = 0; k < r->matches->len; k++) {
        const fxs_match *m = &r->matches->items[k];
        size_t users = 0;
        for (size_t i = 0; i < m->nreturning; i++)
            users += is_replaced(r, i) ? m->returning[i].u.node->nusers : 0;
        if (!users)
            return fxs_fail(
                r->ctx, FXS_EINVAL,
                "The returning_nodes should have at least one user node: Node %s is dead code",
                m->nodes[0].target.u.node->name);
    }
    return FXS_OK;
}

/* ---- one match
 * ------------------------------------------------------------------------------------------ */

static bool computes(const fxs_match_pair *p) { return p->pattern->kind != FXS_PLACEHOLDER; }

/* Of all that is returned, among users that stay. */
static fxs_node *first_user(const replacing *r, const fxs_match *m) {
    fxs_node *first = NULL;
    for (size_t i = 0; i < m->nreturning; i++) {
        const fxs_node *n = is_replaced(r, i) ? m->returning[i].u.node : NULL;
        for (size_t u = 0; n && u < n->nusers; u++)
            if (!fxs_subst_erases(&r->subst, n->users[u]) &&
                (!first || n->users[u]->index < first->index))
                first = n->users[u];
    }
    return first;
}

static fxs_status map_parameters(replacing *r, const fxs_match *m, fxs_val_map *map) {
    for (size_t k = 0; k < r->nparams; k++) {
        fxs_value v = fxs_none();
        if (m->placeholders[k].tag != FXS_V_UNKNOWN)
            FXS_TRY(fxs_subst_value(&r->subst, &m->placeholders[k], &v));
        fxs_status s = fxs_val_map_set(map, r->params[k], v);
        fxs_value_unref(&v); /* the map counts it */
        FXS_TRY(s);
    }
    return FXS_OK;
}

static bool drop_leaf(void *user, const fxs_value *leaf) {
    fxs_value v = *leaf;
    (void)user;
    fxs_value_unref(&v);
    return true;
}

static fxs_status copy_replacement(replacing *r, const fxs_match *m, fxs_node *at,
                                   fxs_val_map *map) {
    fxs_node *before = at->prev;
    fxs_insert_point was;
    fxs_value result = fxs_none();
    FXS_TRY(map_parameters(r, m, map));
    FXS_TRY(fxs_graph_inserting_before(r->g, at, &was));
    fxs_status s = fxs_graph_copy_into(r->g, r->replacement, map, &result);
    fxs_graph_restore_insert_point(r->g, was);
    for (fxs_node *n = before->next; n != at; n = n->next)
        n->line = 0; /* a line of another file */
    fxs_place_new(r->g, before, at);
    for (size_t i = 0; i < m->nreturning && s == FXS_OK; i++)
        if (is_replaced(r, i))
            s = fxs_subst_set(&r->subst, m->returning[i].u.node, returned_value(&result, i));
    fxs_value_visit(&result, drop_leaf, NULL);
    return s;
}

/* *done is false when the match has to stay. */
static fxs_status replace_match(replacing *r, const fxs_match *m, bool *done) {
    fxs_node *at = first_user(r, m);
    fxs_val_map *map = NULL;
    uint64_t stamp = fxs_graph_stamp(r->g);
    *done = true;
    for (size_t i = 0; i < m->nnodes; i++)
        if (computes(&m->nodes[i]))
            m->nodes[i].target.u.node->mark = stamp;
    if (at) { /* else the replacements so far do not need it */
        FXS_TRY(fxs_place_find(&r->placer, m->placeholders, m->nplaceholders, at, stamp, done));
        if (!*done)
            return FXS_OK;
        FXS_TRY(fxs_place_move(&r->placer, at));
        FXS_TRY(fxs_val_map_new(r->replacement, &map));
        fxs_status s = copy_replacement(r, m, at, map);
        fxs_val_map_free(map);
        FXS_TRY(s);
    }
    for (size_t i = 0; i < m->nnodes; i++)
        if (computes(&m->nodes[i]))
            fxs_subst_erase(&r->subst, m->nodes[i].target.u.node);
    return FXS_OK;
}

/* ---- all of them
 * ---------------------------------------------------------------------------------------- */

static void drop_match(const fxs_match *m) {
    for (size_t i = 0; i < m->nnodes; i++)
        drop_leaf(NULL, &m->nodes[i].target);
}

static fxs_status replace_all(replacing *r) {
    size_t kept = 0;
    FXS_TRY(fxs_subst_init(&r->subst, r->g));
    fxs_place_all(r->g);
    for (size_t i = 0; i < r->matches->len; i++) {
        fxs_match *m = &r->matches->items[i];
        bool done;
        FXS_TRY(replace_match(r, m, &done));
        if (!done)
            drop_match(m);
        fxs_match moved = *m;
        m->nnodes = 0; /* so that what it counts is dropped once */
        if (done)
            r->matches->items[kept++] = moved;
    }
    r->matches->len = kept;
    return fxs_subst_apply(&r->subst);
}

static fxs_status put_target(const replacing *r, const fxs_node *n) {
    fxs_lookup have = fxs_module_lookup(r->gm, n->target);
    if (have.module || have.param || !r->from)
        return FXS_OK;
    fxs_lookup give = fxs_module_lookup(r->from, n->target);
    if (give.module)
        return fxs_module_add_submodule(r->gm, n->target, give.module);
    return fxs_module_share_at(r->gm, n->target, give.param);
}

static fxs_status put_modules(const replacing *r) {
    for (const fxs_node *n = fxs_graph_first(r->replacement); n && n->kind != FXS_OUTPUT;
         n = fxs_node_next(n))
        if (n->kind == FXS_CALL_MODULE || n->kind == FXS_GET_ATTR)
            FXS_TRY(put_target(r, n));
    return FXS_OK;
}

static fxs_status run(replacing *r, fxs_arena *a, const fxs_graph *pattern,
                      const fxs_match_options *opt) {
    fxs_plan plan;
    if (!r->g)
        return fxs_fail(r->ctx, FXS_EINVAL, "module %s has no graph", r->gm->class_name);
    if (opt->match_output || opt->keep_overlapping)
        return fxs_fail(r->ctx, FXS_EINVAL,
                        "matches that hold the output or overlap can't be replaced");
    FXS_TRY(fxs_plan_make(a, pattern, false, &plan));
    r->plan = &plan;
    FXS_TRY(check_replacement(r, a));
    FXS_TRY(check_pair(r));
    FXS_TRY(fxs_graph_lint(r->g));
    FXS_TRY(fxs_match_search(r->g, &plan, opt, &r->matches));
    FXS_TRY(check_users(r));
    if (!r->matches->len)
        return FXS_OK;
    FXS_TRY(replace_all(r));
    FXS_TRY(put_modules(r));
    if (r->from)
        FXS_TRY(fxs_module_delete_all_unused_submodules(r->gm, NULL));
    return fxs_graph_lint(r->g);
}

fxs_status fxs_replace_pattern(fxs_module *gm, const fxs_graph *pattern,
                               const fxs_graph *replacement, const fxs_module *from,
                               const fxs_match_options *opt, fxs_matches **out, size_t *count) {
    fxs_match_options how = opt ? *opt : (fxs_match_options){0};
    fxs_arena a = {0};
    replacing r = {
        .ctx = gm->ctx, .gm = gm, .g = gm->graph, .replacement = replacement, .from = from};
    r.placer.subst = &r.subst;
    if (out)
        *out = NULL;
    if (count)
        *count = 0;
    how.modules = gm;
    fxs_status s = run(&r, &a, pattern, &how);
    if (s == FXS_OK && count)
        *count = r.matches->len;
    if (s == FXS_OK && out)
        *out = r.matches;
    else
        fxs_matches_free(r.matches);
    fxs_subst_free(&r.subst);
    fxs_free(r.placer.nodes);
    fxs_arena_clear(&a);
    return s;
}
