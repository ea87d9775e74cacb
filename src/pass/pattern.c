/* pattern.c: see pattern.h. A graph is written anew: its nodes in their order, but the nodes of a
 * match together, as a box that stands where all that it needs is there and nobody has asked for it
 * yet. */
#include "pass/pattern.h"

#include <string.h>

#include "fxpass.h"
#include "ir/spread.h"
#include "pass/outline.h"
#include "pass/spread.h"

typedef struct folding {
    const fxs_module *m;
    const char *name;
    const fxs_graph *from;
    fxs_graph *to;
    fxs_matches *matches;
    fxs_arena arena;
    fxs_node **node;  /* by position */
    size_t *match_of; /* by position: match + 1; 0: none */
    size_t *first;    /* by match: the first of its nodes, */
    size_t *next;     /* and by position the next one + 1; 0: it was the last */
    fxs_value *as;    /* by position: what stands for the node; FXS_V_UNKNOWN: nothing yet */
    bool *open;       /* by position of a unit's first node: it is being asked for */
} folding;

/* A unit is a node, or a match, known by its first node. */
static size_t unit_of(const folding *f, size_t at) {
    return f->match_of[at] ? f->first[f->match_of[at] - 1] : at;
}

static size_t after(const folding *f, size_t at) { return f->next[at]; }

/* ---- which nodes belong to matches ---- */

static bool in_match(const fxs_match_pair *p) {
    return p->pattern->kind != FXS_PLACEHOLDER && p->pattern->kind != FXS_OUTPUT &&
           p->target.tag == FXS_V_NODE;
}

/* Members are chained in the graph's order. */
static void chain_members(folding *f) {
    size_t *last = f->first; /* while the chains are built from the back */
    for (size_t i = f->from->len; i-- > 0;) {
        size_t k = f->match_of[i];
        if (!k)
            continue;
        f->next[i] = last[k - 1] == SIZE_MAX ? 0 : last[k - 1] + 1;
        last[k - 1] = i;
    }
}

static fxs_status make_room(folding *f) {
    size_t n = f->from->len, count = fxs_matches_count(f->matches);
    f->node = FXS_NEW_N(&f->arena, fxs_node *, n);
    f->match_of = FXS_NEW_N(&f->arena, size_t, n);
    f->next = FXS_NEW_N(&f->arena, size_t, n);
    f->first = FXS_NEW_N(&f->arena, size_t, count);
    f->as = FXS_NEW_N(&f->arena, fxs_value, n);
    f->open = FXS_NEW_N(&f->arena, bool, n);
    if (!f->node || !f->match_of || !f->next || !f->first || !f->as || !f->open)
        return fxs_fail_memory(f->m->ctx);
    for (fxs_node *at = fxs_graph_first(f->from); at; at = fxs_node_next(at)) {
        f->node[at->index] = at;
        f->as[at->index] = (fxs_value){.tag = FXS_V_UNKNOWN};
    }
    for (size_t k = 0; k < count; k++) {
        const fxs_match *match = fxs_matches_at(f->matches, k);
        f->first[k] = SIZE_MAX;
        for (size_t i = 0; i < match->nnodes; i++)
            if (in_match(&match->nodes[i]))
                f->match_of[match->nodes[i].target.u.node->index] = k + 1;
    }
    chain_members(f);
    return FXS_OK;
}

/* ---- a box ---- */

static bool is_member(const folding *f, const fxs_node *n, size_t match) {
    return f->match_of[n->index] == match;
}

/* What the members get from outside, each once, as the box's arguments. */
static fxs_status box_inputs(folding *f, size_t match, fxs_value *args) {
    size_t n = 0, cap = 0;
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1))
        cap += f->node[i - 1]->ninputs;
    fxs_value *items = FXS_NEW_N(&f->arena, fxs_value, cap);
    if (!items)
        return fxs_fail_memory(f->m->ctx);
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1)) {
        const fxs_node *member = f->node[i - 1];
        for (size_t k = 0; k < member->ninputs; k++) {
            const fxs_value *v = &f->as[member->inputs[k]->index];
            bool known = is_member(f, member->inputs[k], match);
            for (size_t j = 0; j < n && !known; j++)
                known = items[j].u.node == v->u.node;
            if (!known)
                items[n++] = *v;
        }
    }
    FXS_TRY(fxs_make_seq(f->m->ctx, &f->to->arena, FXS_V_TUPLE, n, args));
    if (n)
        memcpy(args->u.seq->items, items, n * sizeof *items);
    return FXS_OK;
}

/* "of": the members' names. */
static fxs_status box_members(folding *f, size_t match, fxs_value *kwargs) {
    fxs_buf names = {0};
    fxs_value text, key;
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1))
        fxs_buf_printf(&names, "%s%s", names.len ? ", " : "", f->node[i - 1]->name);
    fxs_status s = fxs_buf_status(f->m->ctx, &names);
    if (s == FXS_OK)
        s = fxs_make_text(f->m->ctx, &f->to->arena, FXS_V_STR, names.data, names.len, &text);
    fxs_buf_free(&names);
    if (s == FXS_OK)
        s = fxs_make_text(f->m->ctx, &f->to->arena, FXS_V_STR, "of", 2, &key);
    if (s == FXS_OK)
        s = fxs_make_dict(f->m->ctx, &f->to->arena, 1, kwargs);
    if (s == FXS_OK) {
        kwargs->u.dict->pairs[0].key = key;
        kwargs->u.dict->pairs[0].value = text;
    }
    return s;
}

static bool is_used_outside(const folding *f, const fxs_node *n) {
    for (size_t k = 0; k < n->nusers; k++)
        if (!is_member(f, n->users[k], f->match_of[n->index]))
            return true;
    return false;
}

static size_t depth_of(const fxs_scope *s) {
    size_t n = 0;
    for (; s; s = s->outer)
        n++;
    return n;
}

/* The innermost module that recorded all members. */
static const fxs_scope *common_scope(const folding *f, size_t match) {
    const fxs_scope *a = f->node[f->first[match - 1]]->scope;
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1)) {
        const fxs_scope *b = f->node[i - 1]->scope;
        size_t x = depth_of(a), y = depth_of(b);
        for (; x > y; x--)
            a = a->outer;
        for (; y > x; y--)
            b = b->outer;
        for (; a != b; b = b->outer)
            a = a->outer;
    }
    return a;
}

static fxs_status sum_up(folding *f, size_t match, fxs_node *box) {
    fxs_sum sum = {.m = f->m, .box = box};
    size_t n = 0, members = 0;
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1))
        members++;
    fxs_leaving *outputs = FXS_NEW_N(&f->arena, fxs_leaving, members);
    const fxs_scope *around = common_scope(f, match);
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1)) {
        FXS_TRY(fxs_sum_add(&sum, f->node[i - 1], 1));
        box->meta.parameters += f->node[i - 1]->meta.parameters;
        if (outputs && is_used_outside(f, f->node[i - 1]))
            outputs[n++] = (fxs_leaving){f->node[i - 1], fxs_runs_left(f->node[i - 1], around)};
    }
    FXS_TRY(fxs_sum_finish(&sum));
    return outputs ? fxs_spread_again(&sum, outputs, n) : fxs_fail_memory(f->m->ctx);
}

/* What leaves the box: one result, or a tuple of them. */
static fxs_status box_result(folding *f, size_t match, fxs_node *box) {
    const fxs_node *only = NULL;
    size_t n = 0, k = 0;
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1))
        if (is_used_outside(f, f->node[i - 1])) {
            only = f->node[i - 1];
            box->meta.has_tensor = box->meta.has_tensor || only->meta.has_tensor;
            FXS_TRY(fxs_node_copy_stats(box, only));
            n++;
        }
    if (n == 1) {
        box->meta.type_name = only->meta.type_name;
        return fxs_value_copy(f->m->ctx, NULL, &only->meta.result, &box->meta.result);
    }
    box->meta.type_name = "tuple";
    FXS_TRY(fxs_make_seq(f->m->ctx, NULL, FXS_V_TUPLE, n, &box->meta.result));
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1))
        if (is_used_outside(f, f->node[i - 1]))
            FXS_TRY(fxs_value_copy(f->m->ctx, NULL, &f->node[i - 1]->meta.result,
                                   &box->meta.result.u.seq->items[k++]));
    return FXS_OK;
}

static fxs_status write_box(folding *f, size_t match) {
    fxs_value args, kwargs;
    fxs_node *box;
    FXS_TRY(box_inputs(f, match, &args));
    FXS_TRY(box_members(f, match, &kwargs));
    FXS_TRY(fxs_graph_create_node(f->to, FXS_CALL_FUNCTION, f->name, &args, &kwargs, f->name, NULL,
                                  &box));
    FXS_TRY(sum_up(f, match, box));
    FXS_TRY(box_result(f, match, box));
    FXS_TRY(fxs_graph_scope_copy(f->to, common_scope(f, match), &box->scope));
    for (size_t i = f->first[match - 1] + 1; i; i = after(f, i - 1))
        f->as[i - 1] = fxs_of_node(box);
    return FXS_OK;
}

/* ---- the graph ---- */

static fxs_status stand_for(void *user, fxs_node *n, fxs_value *to) {
    folding *f = user;
    if (f->as[n->index].tag == FXS_V_UNKNOWN)
        return fxs_fail(f->m->ctx, FXS_EINVAL, "node %s is used before it is made", n->name);
    *to = fxs_value_ref(f->as[n->index]);
    return FXS_OK;
}

static fxs_status write_unit(folding *f, size_t unit) {
    fxs_node *made;
    if (f->match_of[unit])
        return write_box(f, f->match_of[unit]);
    FXS_TRY(fxs_graph_node_copy(f->to, f->node[unit], stand_for, f, &made));
    FXS_TRY(fxs_node_copy_stats(made, f->node[unit]));
    f->as[unit] = fxs_of_node(made);
    return FXS_OK;
}

/* A unit that this one needs and that is not there yet. */
static bool missing_input(const folding *f, size_t unit, size_t *missing) {
    for (size_t i = unit + 1; i; i = f->match_of[unit] ? after(f, i - 1) : 0) {
        const fxs_node *member = f->node[i - 1];
        for (size_t k = 0; k < member->ninputs; k++) {
            *missing = unit_of(f, member->inputs[k]->index);
            if (*missing != unit && f->as[*missing].tag == FXS_V_UNKNOWN)
                return true;
        }
    }
    return false;
}

/* Writes a unit, and before it all that it needs: without recursion, graphs are deep. */
static fxs_status write_all_of(folding *f, size_t unit, size_t *stack) {
    size_t depth = 0, missing;
    stack[depth++] = unit;
    f->open[unit] = true;
    while (depth) {
        size_t top = stack[depth - 1];
        if (!missing_input(f, top, &missing)) {
            FXS_TRY(write_unit(f, top));
            depth--;
            continue;
        }
        if (f->open[missing])
            return fxs_fail(f->m->ctx, FXS_EINVAL, "node %s needs its own result",
                            f->node[missing]->name);
        f->open[missing] = true;
        stack[depth++] = missing;
    }
    return FXS_OK;
}

/* A match waits for the last of its nodes, unless it is needed before. */
static fxs_status write_graph(folding *f) {
    size_t *stack = FXS_NEW_N(&f->arena, size_t, f->from->len);
    if (!stack)
        return fxs_fail_memory(f->m->ctx);
    for (size_t i = 0; i < f->from->len; i++) {
        bool waits = f->match_of[i] && after(f, i);
        if (!waits && f->as[i].tag == FXS_V_UNKNOWN)
            FXS_TRY(write_all_of(f, unit_of(f, i), stack));
    }
    return FXS_OK;
}

static fxs_status fold(folding *f, const fxs_graph *pattern, fxs_module **out) {
    fxs_match_options how = {.modules = f->m};
    FXS_TRY(fxs_graph_match(f->m->graph, pattern, &how, &f->matches));
    FXS_TRY(make_room(f));
    FXS_TRY(fxs_graph_new(f->m->ctx, &f->to));
    fxs_status s = write_graph(f);
    if (s == FXS_OK)
        s = fxs_module_with_graph(f->m, f->m->class_name, f->to, out);
    if (s != FXS_OK)
        fxs_graph_free(f->to);
    return s;
}

fxs_status fxs_pattern_fold(const fxs_module *m, const fxs_outline_pattern *pattern,
                            fxs_module **out, size_t *count) {
    folding f = {.m = m, .name = pattern->name, .from = m->graph};
    *out = NULL;
    fxs_graph_number(m->graph);
    fxs_status s = fold(&f, pattern->graph, out);
    *count = f.matches ? fxs_matches_count(f.matches) : 0;
    fxs_matches_free(f.matches);
    fxs_arena_clear(&f.arena);
    return s;
}
