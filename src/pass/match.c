/* match.c: finds a pattern in a graph: torch.fx's SubgraphMatcher. replace.c calls it, and programs do. Its rules are
 * those of torch.fx 1.13, but where 1.13 fails:
 * - A walk that fails takes back all that it bound; 1.13 leaves bindings behind, and then finds too little or too much.
 * - An anchor that nothing in the graph can stand for is no match; in 1.13 it is a KeyError.
 * - A parameter that the pattern does not use is allowed, and stands for nothing.
 * - Lists and tuples are compared item by item, so that f([a], b) is no f(a, [b]), and inside keywords and slices too;
 *   a placeholder may stand for a whole list. In positional arguments a list is as good as a tuple.
 * - A pattern's own parameter is never an anchor: a pattern that only returns one is refused.
 * Matches are filtered as they are found, so that nodes of a kept match are not tried again: the time is linear in the
 * graph for patterns whose anchors hang together. */
#include "pass/match.h"

#include <stdlib.h>
#include <string.h>

/* Comparisons of one search: a pattern of independent parts that never fit together would take forever. */
enum { MAX_STEPS = 200000000 };

typedef struct level {
    size_t *candidates, n, cap, next; /* positions in the graph */
    bool shared;                      /* candidates are those of the whole graph */
    size_t trail;                     /* how much was bound before this level */
} level;

typedef struct pair {
    const fxs_value *pattern, *target;
    bool strict; /* a list is no tuple */
} pair;

typedef struct search {
    fxs_ctx *ctx;
    fxs_graph *g;
    const fxs_plan *plan;
    const fxs_match_options *opt;
    fxs_arena arena;
    fxs_node **by_index;
    fxs_value *bound; /* by pattern position; FXS_V_UNKNOWN: not yet */
    fxs_value *kept;  /* by pattern position: what the match that is being kept holds */
    size_t *trail, ntrail;
    size_t *role;          /* by target index: pattern position + 1 */
    bool *taken;           /* by target index: it computes in a match that is kept */
    level *levels, *whole; /* whole: for each anchor, the candidates of the whole graph */
    pair *stack;
    size_t depth, cap;
    fxs_node **walk; /* room for each node */
    size_t steps;
    fxs_matches *out;
} search;

/* ---- one walk from an anchor to its inputs -------------------------------------------------------------------------
 */

static bool computes(const fxs_node *pattern_node) {
    return pattern_node->kind != FXS_PLACEHOLDER && pattern_node->kind != FXS_OUTPUT;
}

static bool nodes_fit(const search *s, const fxs_node *p, const fxs_node *t) {
    if (p->kind == FXS_PLACEHOLDER && !s->opt->match_placeholder)
        return true;
    if (p->kind != t->kind)
        return false;
    return p->kind == FXS_PLACEHOLDER || p->kind == FXS_OUTPUT || strcmp(p->target, t->target) == 0;
}

/* Python's == between values of the same type; 1 is neither 1.0 nor True. */
static bool same_literal(const fxs_value *a, const fxs_value *b) {
    if (a->tag != b->tag)
        return false;
    size_t n = fxs_value_len(a);
    if (a->tag != FXS_V_LIST && a->tag != FXS_V_TUPLE && a->tag != FXS_V_SLICE && a->tag != FXS_V_DICT)
        return fxs_value_equal(a, b);
    if (n != fxs_value_len(b))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (a->tag == FXS_V_DICT && !same_literal(fxs_value_key(a, i), fxs_value_key(b, i)))
            return false;
        if (!same_literal(fxs_value_item(a, i), fxs_value_item(b, i)))
            return false;
    }
    return true;
}

static fxs_status push(search *s, const fxs_value *pattern, const fxs_value *target, bool strict) {
    if (s->depth == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        pair *grown = fxs_realloc(s->stack, cap, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(s->ctx);
        s->stack = grown;
        s->cap = cap;
    }
    s->stack[s->depth++] = (pair){pattern, target, strict};
    return FXS_OK;
}

static void bind(search *s, size_t position, const fxs_value *target) {
    s->bound[position] = *target;
    s->trail[s->ntrail++] = position;
    if (target->tag == FXS_V_NODE)
        s->role[target->u.node->index] = position + 1;
}

static void unbind_to(search *s, size_t ntrail) {
    while (s->ntrail > ntrail) {
        fxs_value *v = &s->bound[s->trail[--s->ntrail]];
        if (v->tag == FXS_V_NODE)
            s->role[v->u.node->index] = 0;
        *v = (fxs_value){.tag = FXS_V_UNKNOWN};
    }
}

static const fxs_value *dict_find(const fxs_value *dict, const fxs_value *key) {
    for (size_t i = 0; i < fxs_value_len(dict); i++)
        if (same_literal(fxs_value_key(dict, i), key))
            return fxs_value_item(dict, i);
    return NULL;
}

/* Items are pushed last first, so that they are compared in order: that is the order of discovery. */
static fxs_status push_items(search *s, const fxs_value *p, const fxs_value *t, bool strict, bool *fits) {
    size_t n = fxs_value_len(p);
    *fits = n == fxs_value_len(t);
    for (size_t i = n; *fits && i-- > 0;) {
        const fxs_value *other = p->tag == FXS_V_DICT ? dict_find(t, fxs_value_key(p, i)) : fxs_value_item(t, i);
        *fits = other != NULL;
        if (other)
            FXS_TRY(push(s, fxs_value_item(p, i), other, strict));
    }
    return FXS_OK;
}

static bool no_tensor_inside(const fxs_value *v) {
    return v->tag == FXS_V_TENSOR || fxs_value_len(v) == 0 || !fxs_value_has_tensor(v);
}

static fxs_status meet_node(search *s, const fxs_node *p, const fxs_value *t, bool *fits) {
    size_t position = s->plan->position[p->id];
    *fits = false;
    if (s->bound[position].tag != FXS_V_UNKNOWN) {
        *fits = same_literal(&s->bound[position], t);
        return FXS_OK;
    }
    if (t->tag != FXS_V_NODE) {
        *fits = p->kind == FXS_PLACEHOLDER && !s->opt->match_placeholder && no_tensor_inside(t);
        if (*fits)
            bind(s, position, t);
        return FXS_OK;
    }
    const fxs_node *n = t->u.node;
    if (s->role[n->index] || !nodes_fit(s, p, n) || (computes(p) && s->taken[n->index]))
        return FXS_OK;
    *fits = true;
    bind(s, position, t);
    if (p->kind == FXS_PLACEHOLDER)
        return FXS_OK;
    FXS_TRY(push_items(s, &p->kwargs, &n->kwargs, true, fits));
    return *fits ? push_items(s, &p->args, &n->args, false, fits) : FXS_OK;
}

static bool is_sequence(const fxs_value *v) { return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE; }

static fxs_status compare(search *s, pair c, bool *fits) {
    const fxs_value *p = c.pattern, *t = c.target;
    if (p->tag == FXS_V_NODE)
        return meet_node(s, p->u.node, t, fits);
    bool container = is_sequence(p) || p->tag == FXS_V_DICT || p->tag == FXS_V_SLICE;
    *fits = p->tag == t->tag || (!c.strict && is_sequence(p) && is_sequence(t));
    if (!*fits)
        return FXS_OK;
    if (container)
        return push_items(s, p, t, c.strict, fits);
    *fits = same_literal(p, t);
    return FXS_OK;
}

static fxs_status walk_from(search *s, size_t anchor, fxs_node *target, bool *fits) {
    fxs_value p = fxs_of_node((fxs_node *)s->plan->nodes[anchor]), t = fxs_of_node(target);
    s->depth = 0;
    *fits = true;
    FXS_TRY(push(s, &p, &t, false));
    while (*fits && s->depth) {
        if (++s->steps > MAX_STEPS)
            return fxs_fail(s->ctx, FXS_ELIMIT, "the pattern's parts fit in too many ways: over %d comparisons",
                            MAX_STEPS);
        FXS_TRY(compare(s, s->stack[--s->depth], fits));
    }
    return FXS_OK;
}

/* ---- what makes a complete match a good one
 * --------------------------------------------------------------------------- */

static bool is_free(void *user, const fxs_value *leaf) {
    const search *s = user;
    size_t role = leaf->tag == FXS_V_NODE ? s->role[leaf->u.node->index] : 0;
    return !role || !computes(s->plan->nodes[role - 1]);
}

/* What is computed inside and not returned has no user outside; a list that a placeholder stands for holds nothing of
 * the inside. */
static bool is_contained(const search *s) {
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

static bool is_inside(const search *s, const fxs_node *n) {
    return s->role[n->index] && computes(s->plan->nodes[s->role[n->index] - 1]);
}

/* Whether a way leads from a returned node out of the match and back in: as one node it would need itself. Goes back
 * from the inputs, not further than to the first returned node. */
static bool makes_cycle(const search *s) {
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
        if (s->bound[s->trail[i]].tag == FXS_V_NODE && computes(s->plan->nodes[s->trail[i]])) {
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
 * --------------------------------------------------------------------------------------------------- */

static fxs_status keep_value(search *s, size_t position, fxs_value *out) {
    const fxs_value *v = &s->bound[position];
    return fxs_value_copy(s->ctx, &s->out->arena, v, out);
}

/* Borrowed from the match's pairs. */
static fxs_value kept_value(const search *s, size_t position) {
    return s->bound[position].tag == FXS_V_UNKNOWN ? s->bound[position] : s->kept[position];
}

static fxs_status fill_match(search *s, fxs_match *m) {
    const fxs_plan *plan = s->plan;
    fxs_arena *a = &s->out->arena;
    const fxs_node **anchors = FXS_NEW_N(a, const fxs_node *, plan->nanchors);
    fxs_match_pair *nodes = FXS_NEW_N(a, fxs_match_pair, s->ntrail);
    fxs_value *placeholders = FXS_NEW_N(a, fxs_value, plan->nplaceholders);
    fxs_value *returning = FXS_NEW_N(a, fxs_value, plan->nreturning);
    *m = (fxs_match){.anchors = anchors, .nodes = nodes, .placeholders = placeholders, .returning = returning};
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

static fxs_status keep_match(search *s) {
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
        if (computes(s->plan->nodes[s->trail[i]]))
            s->taken[s->bound[s->trail[i]].u.node->index] = true;
    return status;
}

/* ---- candidates
 * --------------------------------------------------------------------------------------------------------- */

static fxs_status add_candidate(search *s, level *l, size_t index) {
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

static fxs_status find_whole(search *s) {
    for (size_t k = 0; k < s->plan->nanchors; k++)
        for (size_t i = 0; i < s->g->len; i++)
            if (nodes_fit(s, s->plan->nodes[s->plan->anchors[k].node], s->by_index[i]))
                FXS_TRY(add_candidate(s, &s->whole[k], i));
    return FXS_OK;
}

static int compare_indices(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Nodes at the end of the anchor's way from a bound node, in the graph's order. */
static fxs_status follow_way(search *s, const fxs_plan_anchor *a, fxs_node *from, level *l) {
    l->n = 0;
    FXS_TRY(add_candidate(s, l, from->index));
    for (size_t step = 0; step < a->npath; step++) {
        size_t end = l->n, kept = 0;
        uint64_t stamp = fxs_graph_stamp(s->g);
        for (size_t i = 0; i < end; i++) {
            const fxs_node *n = s->by_index[l->candidates[i]];
            for (size_t u = 0; u < n->nusers; u++) {
                s->steps++;
                if (n->users[u]->mark == stamp || !nodes_fit(s, s->plan->nodes[a->path[step]], n->users[u]))
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
static void use_whole(search *s, size_t k) {
    level *l = &s->levels[k], *whole = &s->whole[k];
    while (whole->next < whole->n && s->taken[whole->candidates[whole->next]])
        whole->next++;
    l->shared = true;
    l->next = whole->next;
}

static fxs_status enter_level(search *s, size_t k) {
    const fxs_plan_anchor *a = &s->plan->anchors[k];
    level *l = &s->levels[k];
    const fxs_value *from = a->npath ? &s->bound[a->from] : NULL;
    l->trail = s->ntrail;
    use_whole(s, k);
    if (!from || from->tag != FXS_V_NODE || from->u.node->nusers > s->whole[k].n - l->next)
        return FXS_OK;
    l->shared = false;
    l->next = 0;
    return follow_way(s, a, from->u.node, l);
}

static fxs_node *next_candidate(search *s, size_t k) {
    level *l = &s->levels[k];
    const level *list = l->shared ? &s->whole[k] : l;
    return l->next < list->n ? s->by_index[list->candidates[l->next++]] : NULL;
}

/* ---- the search
 * ------------------------------------------------------------------------------------------------------------ */

/* Everything is bound. Returns the level to go on from: where overlapping matches are dropped, no other match can share
 * this one's first anchor. */
static fxs_status complete(search *s, size_t k, size_t *go_on) {
    *go_on = k;
    if (!is_contained(s) || makes_cycle(s))
        return FXS_OK;
    FXS_TRY(keep_match(s));
    if (!s->opt->keep_overlapping)
        *go_on = 0;
    return FXS_OK;
}

static fxs_status search_all(search *s) {
    size_t k = 0;
    FXS_TRY(enter_level(s, 0));
    for (;;) {
        bool fits;
        unbind_to(s, s->levels[k].trail);
        fxs_node *target = next_candidate(s, k);
        if (!target && k == 0)
            return FXS_OK;
        if (!target) {
            k--;
            continue;
        }
        FXS_TRY(walk_from(s, s->plan->anchors[k].node, target, &fits));
        if (!fits)
            continue;
        if (k + 1 == s->plan->nanchors)
            FXS_TRY(complete(s, k, &k));
        else
            FXS_TRY(enter_level(s, ++k));
    }
}

static fxs_status make_room(search *s) {
    size_t len = s->g->len, n = s->plan->n, nanchors = s->plan->nanchors;
    s->by_index = FXS_NEW_N(&s->arena, fxs_node *, len);
    s->role = FXS_NEW_N(&s->arena, size_t, len);
    s->taken = FXS_NEW_N(&s->arena, bool, len);
    s->walk = FXS_NEW_N(&s->arena, fxs_node *, len);
    s->bound = FXS_NEW_N(&s->arena, fxs_value, n);
    s->kept = FXS_NEW_N(&s->arena, fxs_value, n);
    s->trail = FXS_NEW_N(&s->arena, size_t, n);
    s->levels = FXS_NEW_N(&s->arena, level, nanchors);
    s->whole = FXS_NEW_N(&s->arena, level, nanchors);
    if (!s->by_index || !s->role || !s->taken || !s->walk || !s->bound || !s->kept || !s->trail || !s->levels ||
        !s->whole)
        return fxs_fail_memory(s->ctx);
    for (size_t i = 0; i < n; i++)
        s->bound[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    fxs_graph_number(s->g);
    for (fxs_node *node = fxs_graph_first(s->g); node; node = fxs_node_next(node))
        s->by_index[node->index] = node;
    return FXS_OK;
}

static void drop_search(search *s) {
    for (size_t k = 0; k < s->plan->nanchors; k++) {
        if (s->levels)
            fxs_free(s->levels[k].candidates);
        if (s->whole)
            fxs_free(s->whole[k].candidates);
    }
    fxs_free(s->stack);
    fxs_arena_clear(&s->arena);
}

fxs_status fxs_match_search(fxs_graph *g, const fxs_plan *plan, const fxs_match_options *opt, fxs_matches **out) {
    search s = {.ctx = g->ctx, .g = g, .plan = plan, .opt = opt, .out = fxs_alloc0(1, sizeof **out)};
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
 * ---------------------------------------------------------------------------------------------------------------- */

fxs_status fxs_graph_match(fxs_graph *g, const fxs_graph *pattern, const fxs_match_options *opt, fxs_matches **out) {
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
    FXS_TRY(fxs_graph_match(g, other, &(fxs_match_options){.match_output = true, .match_placeholder = true}, &m));
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
const fxs_match *fxs_matches_at(const fxs_matches *m, size_t i) { return i < m->len ? &m->items[i] : NULL; }
