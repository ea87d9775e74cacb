/* match_walk.c: one walk of a search: the pattern from an anchor towards its inputs, beside the
 * graph from a candidate. The rules of what may stand for what are here; match.c calls it. */
#include <fnmatch.h>
#include <string.h>

#include "ir/module.h"
#include "pass/match_search.h"

/* Comparisons of one search: a pattern of independent parts that never fit together would take
 * forever. */
enum { MAX_STEPS = 200000000 };

/* "class:Conv*": any layer of such a class. */
static bool fits_class(const fxs_search *s, const fxs_node *p, const fxs_node *t) {
    static const char mark[] = "class:";
    if (!s->opt->modules || p->kind != FXS_CALL_MODULE ||
        strncmp(p->target, mark, sizeof mark - 1) != 0)
        return false;
    const fxs_module *layer = fxs_module_find(s->opt->modules, t->target);
    return layer && fnmatch(p->target + sizeof mark - 1, layer->class_name, 0) == 0;
}

bool fxs_search_fits(const fxs_search *s, const fxs_node *p, const fxs_node *t) {
    if (p->kind == FXS_PLACEHOLDER && !s->opt->match_placeholder)
        return true;
    if (p->kind != t->kind)
        return false;
    return p->kind == FXS_PLACEHOLDER || p->kind == FXS_OUTPUT ||
           strcmp(p->target, t->target) == 0 || fits_class(s, p, t);
}

/* Python's == between values of the same type; 1 is neither 1.0 nor True. */
static bool same_literal(const fxs_value *a, const fxs_value *b) {
    if (a->tag != b->tag)
        return false;
    size_t n = fxs_value_len(a);
    if (a->tag != FXS_V_LIST && a->tag != FXS_V_TUPLE && a->tag != FXS_V_SLICE &&
        a->tag != FXS_V_DICT)
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

static fxs_status push(fxs_search *s, const fxs_value *pattern, const fxs_value *target,
                       bool strict) {
    if (s->depth == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        fxs_search_pair *grown = fxs_realloc(s->stack, cap, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(s->ctx);
        s->stack = grown;
        s->cap = cap;
    }
    s->stack[s->depth++] = (fxs_search_pair){pattern, target, strict};
    return FXS_OK;
}

static void bind(fxs_search *s, size_t position, const fxs_value *target) {
    s->bound[position] = *target;
    s->trail[s->ntrail++] = position;
    if (target->tag == FXS_V_NODE)
        s->role[target->u.node->index] = position + 1;
}

void fxs_search_unbind(fxs_search *s, size_t ntrail) {
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

/* Items are pushed last first, so that they are compared in order: that is the order of discovery.
 */
static fxs_status push_items(fxs_search *s, const fxs_value *p, const fxs_value *t, bool strict,
                             bool *fits) {
    size_t n = fxs_value_len(p);
    *fits = n == fxs_value_len(t);
    for (size_t i = n; *fits && i-- > 0;) {
        const fxs_value *other =
            p->tag == FXS_V_DICT ? dict_find(t, fxs_value_key(p, i)) : fxs_value_item(t, i);
        *fits = other != NULL;
        if (other)
            FXS_TRY(push(s, fxs_value_item(p, i), other, strict));
    }
    return FXS_OK;
}

static bool no_tensor_inside(const fxs_value *v) {
    return v->tag == FXS_V_TENSOR || fxs_value_len(v) == 0 || !fxs_value_has_tensor(v);
}

static fxs_status meet_node(fxs_search *s, const fxs_node *p, const fxs_value *t, bool *fits) {
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
    if (s->role[n->index] || !fxs_search_fits(s, p, n) ||
        (fxs_search_computes(p) && s->taken[n->index]))
        return FXS_OK;
    *fits = true;
    bind(s, position, t);
    if (p->kind == FXS_PLACEHOLDER)
        return FXS_OK;
    FXS_TRY(push_items(s, &p->kwargs, &n->kwargs, true, fits));
    return *fits ? push_items(s, &p->args, &n->args, false, fits) : FXS_OK;
}

static bool is_sequence(const fxs_value *v) {
    return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE;
}

static fxs_status compare(fxs_search *s, fxs_search_pair c, bool *fits) {
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

fxs_status fxs_search_walk(fxs_search *s, size_t anchor, fxs_node *target, bool *fits) {
    fxs_value p = fxs_of_node((fxs_node *)s->plan->nodes[anchor]), t = fxs_of_node(target);
    s->depth = 0;
    *fits = true;
    FXS_TRY(push(s, &p, &t, false));
    while (*fits && s->depth) {
        if (++s->steps > MAX_STEPS)
            return fxs_fail(s->ctx, FXS_ELIMIT,
                            "the pattern's parts fit in too many ways: over %d comparisons",
                            MAX_STEPS);
        FXS_TRY(compare(s, s->stack[--s->depth], fits));
    }
    return FXS_OK;
}
