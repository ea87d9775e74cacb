/* match.c: finds a pattern in a graph: torch.fx's SubgraphMatcher. replace.c calls it, and programs
 * do. Its rules are those of torch.fx 1.13, but where 1.13 fails:
 * - A walk that fails takes back all that it bound; 1.13 leaves bindings behind, and then finds too
 * little or too much.
 * - An anchor that nothing in the graph can stand for is no match; in 1.13 it is a KeyError.
 * - A parameter that the pattern does not use is allowed, and stands for nothing.
 * - Lists and tuples are compared item by item, so that f([a], b) is no f(a, [b]), and inside
 * keywords and slices too; a placeholder may stand for a whole list. In positional arguments a list
 * is as good as a tuple.
 * - A pattern's own parameter is never an anchor: a pattern that only returns one is refused.
 * Matches are filtered as they are found, so that nodes of a kept match are not tried again: the
 * time is linear in the graph for patterns whose anchors hang together. */
#include "pass/match_search.h"

#include <stdlib.h>
#include <string.h>

/* ---- what makes a complete match a good one
 * ------------------------------------------------------------- */

static bool is_free(void *user, const fxs_value *leaf) {
    const fxs_search *s = user;
    size_t role = leaf->tag == FXS_V_NODE ? s->role[leaf->u.node->index] : 0;
    return !role || !fxs_search_computes(s->plan->nodes[role - 1]);
}

/* What is computed inside and not returned has no user outside; a list that a placeholder stands
 * for holds nothing of the inside. */
static bool is_contained(const fxs_search *s) {
    for (size_t i = 0; i < s->ntrail; i++) {
        const fxs_node *p = s->plan->nodes[s->trail[i]];
        const fxs_value *t = &s->bound[s->trail[i]];
        if (t->tag != FXS_V_NODE && !fxs_value_visit(t, is_free, (void *)s))
            return false;
        if (p->kind == FXS_PLACEHOLDER || s->plan->returned[s->trail[i]])
            continue;
        for (size_t u = 0; u < t->u.node->nusers; u++)
            if (!s->role[t->u.node->users[u]->index])
                return false;
    }
    return true;
}

static bool is_inside(const fxs_search *s, const fxs_node *n) {
    return s->role[n->index] && fxs_search_computes(s->plan->nodes[s->role[n->index] - 1]);
}

/* Whether a way leads from a returned node out of the match and back in: as one node it would need
 * itself. Goes back from the inputs, not further than to the first returned node. */
static bool makes_cycle(const fxs_search *s) {
    size_t first = SIZE_MAX, depth = 0;
    uint64_t stamp = fxs_graph_stamp(s->g);
    if (s->plan->nreturning == 1)
        return false; /* everything inside leads to the only node that has users outside */
    for (size_t i = 0; i < s->plan->nreturning; i++) {
        const fxs_value *t = &s->bound[s->plan->returning[i]];
        if (t->tag == FXS_V_NODE && is_inside(s, t->u.node) && t->u.node->index < first)
            first = t->u.node->index;
    }
    for (size_t i = 0; i < s->ntrail; i++)
        if (s->bound[s->trail[i]].tag == FXS_V_NODE &&
            fxs_search_computes(s->plan->nodes[s->trail[i]])) {
            fxs_node *n = s->bound[s->trail[i]].u.node;
            n->mark = stamp;
            s->walk[depth++] = n;
        }
    while (depth) {
        const fxs_node *n = s->walk[--depth];
        bool outside = !is_inside(s, n);
        for (size_t i = 0; i < n->ninputs; i++) {
            fxs_node *in = n->inputs[i];
            if (outside && is_inside(s, in))
                return true;
            if (in->mark == stamp || in->index <= first)
                continue;
            in->mark = stamp;
            s->walk[depth++] = in;
        }
    }
    return false;
}

/* ---- keeping a match
 * ------------------------------------------------------------------------------------ */

static fxs_status keep_value(fxs_search *s, size_t position, fxs_value *out) {
    const fxs_value *v = &s->bound[position];
    return fxs_value_copy(s->ctx, &s->out->arena, v, out);
}

/* Borrowed from the match's pairs. */
static fxs_value kept_value(const fxs_search *s, size_t position) {
    return s->bound[position].tag == FXS_V_UNKNOWN ? s->bound[position] : s->kept[position];
}

static fxs_status fill_match(fxs_search *s, fxs_match *m) {
    const fxs_plan *plan = s->plan;
    fxs_arena *a = &s->out->arena;
    const fxs_node **anchors = FXS_NEW_N(a, const fxs_node *, plan->nanchors);
    fxs_match_pair *nodes = FXS_NEW_N(a, fxs_match_pair, s->ntrail);
    fxs_value *placeholders = FXS_NEW_N(a, fxs_value, plan->nplaceholders);
    fxs_value *returning = FXS_NEW_N(a, fxs_value, plan->nreturning);
    *m = (fxs_match){
        .anchors = anchors, .nodes = nodes, .placeholders = placeholders, .returning = returning};
    if (!anchors || !nodes || !placeholders || !returning)
        return fxs_fail_memory(s->ctx);
    for (size_t i = 0; i < plan->nanchors; i++)
        anchors[m->nanchors++] = plan->nodes[plan->anchors[i].node];
    for (size_t i = 0; i < s->ntrail; i++) {
        nodes[i].pattern = plan->nodes[s->trail[i]];
        FXS_TRY(keep_value(s, s->trail[i], &nodes[i].target));
        s->kept[s->trail[i]] = nodes[i].target;
        m->nnodes++; /* what is counted is dropped with the list */
    }
    for (size_t i = 0; i < plan->nplaceholders; i++)
        placeholders[i] = kept_value(s, plan->placeholders[i]);
    for (size_t i = 0; i < plan->nreturning; i++)
        returning[i] = kept_value(s, plan->returning[i]);
    m->nplaceholders = plan->nplaceholders;
    m->nreturning = plan->nreturning;
    return FXS_OK;
}

static fxs_status keep_match(fxs_search *s) {
    fxs_matches *out = s->out;
    if (out->len == out->cap) {
        size_t cap = out->cap ? out->cap * 2 : 16;
        fxs_match *grown = fxs_realloc(out->items, cap, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(s->ctx);
        out->items = grown;
        out->cap = cap;
    }
    out->items[out->len] = (fxs_match){0};
    fxs_status status = fill_match(s, &out->items[out->len++]);
    for (size_t i = 0; i < s->ntrail && !s->opt->keep_overlapping; i++)
        if (fxs_search_computes(s->plan->nodes[s->trail[i]]))
            s->taken[s->bound[s->trail[i]].u.node->index] = true;
    return status;
}

/* ---- candidates
 * ----------------------------------------------------------------------------------------- */

static fxs_status add_candidate(fxs_search *s, fxs_search_level *l, size_t index) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 16;
        size_t *grown = fxs_realloc(l->candidates, cap, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(s->ctx);
        l->candidates = grown;
        l->cap = cap;
    }
    l->candidates[l->n++] = index;
    return FXS_OK;
}

static fxs_status find_whole(fxs_search *s) {
    for (size_t k = 0; k < s->plan->nanchors; k++)
        for (size_t i = 0; i < s->g->len; i++)
            if (fxs_search_fits(s, s->plan->nodes[s->plan->anchors[k].node], s->by_index[i]))
                FXS_TRY(add_candidate(s, &s->whole[k], i));
    return FXS_OK;
}

static int compare_indices(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Nodes at the end of the anchor's way from a bound node, in the graph's order. */
static fxs_status follow_way(fxs_search *s, const fxs_plan_anchor *a, fxs_node *from,
                             fxs_search_level *l) {
    l->n = 0;
    FXS_TRY(add_candidate(s, l, from->index));
    for (size_t step = 0; step < a->npath; step++) {
        size_t end = l->n, kept = 0;
        uint64_t stamp = fxs_graph_stamp(s->g);
        for (size_t i = 0; i < end; i++) {
            const fxs_node *n = s->by_index[l->candidates[i]];
            for (size_t u = 0; u < n->nusers; u++) {
                s->steps++;
                if (n->users[u]->mark == stamp ||
                    !fxs_search_fits(s, s->plan->nodes[a->path[step]], n->users[u]))
                    continue;
                n->users[u]->mark = stamp;
                FXS_TRY(add_candidate(s, l, n->users[u]->index));
            }
        }
        kept = l->n - end;
        memmove(l->candidates, l->candidates + end, kept * sizeof *l->candidates);
        l->n = kept;
    }
    qsort(l->candidates, l->n, sizeof *l->candidates, compare_indices);
    return FXS_OK;
}

/* The whole graph's candidates, without those at the front that are taken. */
static void use_whole(fxs_search *s, size_t k) {
    fxs_search_level *l = &s->levels[k], *whole = &s->whole[k];
    while (whole->next < whole->n && s->taken[whole->candidates[whole->next]])
        whole->next++;
    l->shared = true;
    l->next = whole->next;
}

static fxs_status enter_level(fxs_search *s, size_t k) {
    const fxs_plan_anchor *a = &s->plan->anchors[k];
    fxs_search_level *l = &s->levels[k];
    const fxs_value *from = a->npath ? &s->bound[a->from] : NULL;
    l->trail = s->ntrail;
    use_whole(s, k);
    if (!from || from->tag != FXS_V_NODE || from->u.node->nusers > s->whole[k].n - l->next)
        return FXS_OK;
    l->shared = false;
    l->next = 0;
    return follow_way(s, a, from->u.node, l);
}

static fxs_node *next_candidate(fxs_search *s, size_t k) {
    fxs_search_level *l = &s->levels[k];
    const fxs_search_level *list = l->shared ? &s->whole[k] : l;
    return l->next < list->n ? s->by_index[list->candidates[l->next++]] : NULL;
}

/* ---- the search
 * ----------------------------------------------------------------------------------------- */

/* Everything is bound. Returns the level to go on from: where overlapping matches are dropped, no
 * other match can share this one's first anchor. */
static fxs_status complete(fxs_search *s, size_t k, size_t *go_on) {
    *go_on = k;
    if (!is_contained(s) || makes_cycle(s))
        return FXS_OK;
    FXS_TRY(keep_match(s));
    if (!s->opt->keep_overlapping)
        *go_on = 0;
    return FXS_OK;
}

static fxs_status search_all(fxs_search *s) {
    size_t k = 0;
    FXS_TRY(enter_level(s, 0));
    for (;;) {
        bool fits;
        fxs_search_unbind(s, s->levels[k].trail);
        fxs_node *target = next_candidate(s, k);
        if (!target && k == 0)
            return FXS_OK;
        if (!target) {
            k--;
            continue;
        }
        FXS_TRY(fxs_search_walk(s, s->plan->anchors[k].node, target, &fits));
        if (!fits)
            continue;
        if (k + 1 == s->plan->nanchors)
            FXS_TRY(complete(s, k, &k));
        else
            FXS_TRY(enter_level(s, ++k));
    }
}

static fxs_status make_room(fxs_search *s) {
    size_t len = s->g->len, n = s->plan->n, nanchors = s->plan->nanchors;
    s->by_index = FXS_NEW_N(&s->arena, fxs_node *, len);
    s->role = FXS_NEW_N(&s->arena, size_t, len);
    s->taken = FXS_NEW_N(&s->arena, bool, len);
    s->walk = FXS_NEW_N(&s->arena, fxs_node *, len);
    s->bound = FXS_NEW_N(&s->arena, fxs_value, n);
    s->kept = FXS_NEW_N(&s->arena, fxs_value, n);
    s->trail = FXS_NEW_N(&s->arena, size_t, n);
    s->levels = FXS_NEW_N(&s->arena, fxs_search_level, nanchors);
    s->whole = FXS_NEW_N(&s->arena, fxs_search_level, nanchors);
    if (!s->by_index || !s->role || !s->taken || !s->walk || !s->bound || !s->kept || !s->trail ||
        !s->levels || !s->whole)
        return fxs_fail_memory(s->ctx);
    for (size_t i = 0; i < n; i++)
        s->bound[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    fxs_graph_number(s->g);
    for (fxs_node *node = fxs_graph_first(s->g); node; node = fxs_node_next(node))
        s->by_index[node->index] = node;
    return FXS_OK;
}

static void drop_search(fxs_search *s) {
    for (size_t k = 0; k < s->plan->nanchors; k++) {
        if (s->levels)
            fxs_free(s->levels[k].candidates);
        if (s->whole)
            fxs_free(s->whole[k].candidates);
    }
    fxs_free(s->stack);
    fxs_arena_clear(&s->arena);
}

fxs_status fxs_match_search(fxs_graph *g, const fxs_plan *plan, const fxs_match_options *opt,
                            fxs_matches **out) {
    fxs_search s = {
        .ctx = g->ctx, .g = g, .plan = plan, .opt = opt, .out = fxs_alloc0(1, sizeof **out)};
    *out = s.out;
    if (!s.out)
        return fxs_fail_memory(g->ctx);
    s.out->ctx = g->ctx;
    fxs_status status = make_room(&s);
    if (status == FXS_OK)
        status = find_whole(&s);
    if (status == FXS_OK)
        status = search_all(&s);
    drop_search(&s);
    if (status != FXS_OK) {
        fxs_matches_free(s.out);
        *out = NULL;
    }
    return status;
}

/* ---- public
 * --------------------------------------------------------------------------------------------- */

fxs_status fxs_graph_match(fxs_graph *g, const fxs_graph *pattern, const fxs_match_options *opt,
                           fxs_matches **out) {
    fxs_match_options defaults = {0};
    fxs_arena a = {0};
    fxs_plan plan;
    *out = NULL;
    fxs_status s = fxs_plan_make(&a, pattern, opt && opt->match_output, &plan);
    if (s == FXS_OK)
        s = fxs_match_search(g, &plan, opt ? opt : &defaults, out);
    fxs_arena_clear(&a);
    return s;
}

fxs_status fxs_graph_same(fxs_graph *g, const fxs_graph *other, bool *same) {
    fxs_matches *m;
    *same = false;
    FXS_TRY(fxs_graph_match(
        g, other, &(fxs_match_options){.match_output = true, .match_placeholder = true}, &m));
    *same = m->len > 0;
    fxs_matches_free(m);
    return FXS_OK;
}

void fxs_matches_free(fxs_matches *m) {
    if (!m)
        return;
    for (size_t i = 0; i < m->len; i++)
        for (size_t k = 0; k < m->items[i].nnodes; k++) {
            fxs_value v = m->items[i].nodes[k].target;
            fxs_value_unref(&v);
        }
    fxs_free(m->items);
    fxs_arena_clear(&m->arena);
    fxs_free(m);
}

size_t fxs_matches_count(const fxs_matches *m) { return m->len; }
const fxs_match *fxs_matches_at(const fxs_matches *m, size_t i) {
    return i < m->len ? &m->items[i] : NULL;
}
