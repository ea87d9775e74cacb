/* repeat.c: runs of blocks that are the same (same.h), of which only the first is drawn. A block is
 * a call, or two to four neighbouring ones where fewer do not repeat. Runs of equal blocks come
 * first; what they leave, and where sizes may vary, runs of blocks that differ in sizes alone. */
#include <string.h>

#include "pass/same.h"

/* The calls of one parent that are shown, in order. */
typedef struct siblings {
    fxs_outline_plan *p;
    fxs_fold how;
    size_t *calls, n;
} siblings;

typedef struct run {
    const siblings *s;
    size_t at, period, times, most; /* most: blocks that are looked at */
    fxs_block first;
    bool sizes, varies, reals, grows;
} run;

/* ---- calls ---- */

static bool is_shown(const fxs_outline_plan *p, size_t call) {
    return p->plan[call].state == FXS_CALL_OPEN || p->plan[call].state == FXS_CALL_BOX;
}

/* Not in a run yet. */
static bool is_free(const siblings *s, size_t i) {
    const fxs_call_plan *plan = &s->p->plan[s->calls[i]];
    return plan->state != FXS_CALL_FOLDED && !plan->in_run;
}

/* The call behind `call` that has the same parent; 0: there is none. */
static size_t next_sibling(const fxs_outline_plan *p, size_t call) {
    for (size_t i = call + 1; i < p->calls.n; i++) {
        if (p->calls.items[i].depth < p->calls.items[call].depth)
            return 0;
        if (p->calls.items[i].parent == p->calls.items[call].parent)
            return i;
    }
    return 0;
}

static void find_siblings(siblings *s, size_t parent) {
    const fxs_module_calls *c = &s->p->calls;
    s->n = 0;
    size_t i = parent + 1 < c->n && c->items[parent + 1].parent == parent ? parent + 1 : 0;
    for (; i; i = next_sibling(s->p, i))
        if (is_shown(s->p, i))
            s->calls[s->n++] = i;
}

/* The block of n calls from the i-th on; false where they are not neighbours, or in a run. */
static bool block_at(const siblings *s, size_t i, size_t n, fxs_block *out) {
    const fxs_module_call *items = s->p->calls.items;
    if (i + n > s->n)
        return false;
    for (size_t k = 0; k < n; k++) {
        out->calls[k] = s->calls[i + k];
        if (!is_free(s, i + k) ||
            (k && items[s->calls[i + k]].first != items[s->calls[i + k - 1]].last + 1))
            return false;
    }
    out->n = n;
    out->first = items[out->calls[0]].first;
    out->last = items[out->calls[n - 1]].last;
    return true;
}

/* ---- how long is a run ---- */

static fxs_status measure(run *r) {
    fxs_chain chain = {0};
    fxs_block a = r->first, b;
    fxs_status s = FXS_OK;
    for (size_t i = r->at + r->period; r->times < r->most && block_at(r->s, i, r->period, &b);
         i += r->period) {
        fxs_comparison c = {.p = r->s->p,
                            .a = &a,
                            .b = &b,
                            .sizes = r->sizes,
                            .layers = r->s->how == FXS_FOLD_SIMILAR,
                            .chain = &chain};
        bool same = fxs_same_block(&c);
        if (c.out_of_memory)
            s = fxs_fail_memory(r->s->p->m->ctx);
        if (!same)
            break;
        r->varies = r->varies || c.varies;
        r->reals = r->reals || c.reals;
        r->grows = r->grows || c.grows;
        r->times++;
        a = b;
    }
    fxs_free(chain.items);
    return s;
}

static size_t start_of(const run *r, size_t block) {
    return r->s->p->calls.items[r->s->calls[r->at + block * r->period]].first;
}

static size_t length_of(const run *r) { return r->first.last - r->first.first + 1; }

/* The next user of n from the *i-th on that is behind the run; NULL: none. */
static const fxs_node *user_behind(const run *r, const fxs_node *n, size_t *i) {
    size_t end = start_of(r, r->times - 1) + length_of(r);
    while (*i < n->nusers) {
        const fxs_node *user = n->users[(*i)++];
        if (user->index >= end)
            return user;
    }
    return NULL;
}

static bool is_in_list(const fxs_node *user, const fxs_node *n) {
    for (size_t i = 0; i < fxs_value_len(&user->args); i++) {
        const fxs_value *v = fxs_value_item(&user->args, i);
        if (v->tag == FXS_V_NODE && v->u.node == n)
            return false;
    }
    return true;
}

/* The same nodes use both, in lists: the sum of two that are drawn as one would be x + x. */
static bool same_users(const run *r, const fxs_node *x, const fxs_node *y) {
    size_t i = 0, k = 0;
    const fxs_node *a, *b;
    do {
        a = user_behind(r, x, &i);
        b = user_behind(r, y, &k);
    } while (a && a == b && is_in_list(a, x));
    return a == b && !a;
}

/* A picture of one block shows who uses its results: the same nodes must use those of all blocks,
 * or those of the last one only. Skips from each block to somewhere else would all begin at the
 * one that is drawn. */
static bool ends_alike(const run *r) {
    const fxs_outline_plan *p = r->s->p;
    for (size_t at = 0; at < length_of(r); at++) {
        const fxs_node *last = p->node[start_of(r, r->times - 1) + at];
        bool none = true, same = true;
        for (size_t k = 0; k + 1 < r->times; k++) {
            const fxs_node *n = p->node[start_of(r, k) + at];
            size_t i = 0;
            none = none && !user_behind(r, n, &i);
            same = same && same_users(r, n, last);
        }
        if (!none && !same)
            return false;
    }
    return true;
}

/* ---- folding ---- */

static void fold_call(fxs_outline_plan *p, size_t call, size_t like) {
    for (size_t i = call; i < p->calls.n && fxs_module_call_within(&p->calls, i, call); i++)
        p->plan[i] = (fxs_call_plan){.state = FXS_CALL_FOLDED, .like = like, .times = 1};
}

static const char *word_for(size_t period) {
    static const char *const words[] = {"blocks", "blocks", "pairs of blocks", "groups of 3 blocks",
                                        "groups of 4 blocks"};
    return words[period];
}

static void tell_weights(fxs_buf *notes, fxs_sharing weights) {
    static const char *const words[] = {
        [FXS_SHARING_NONE] = "which have no weights",
        [FXS_SHARING_UNKNOWN] = "whose layers are not in the module tree",
        [FXS_SHARING_OWN] = "each with weights of its own",
        [FXS_SHARING_SOME] = "which share some of their weights",
        [FXS_SHARING_ALL] = "which share their weights",
    };
    fxs_buf_printf(notes, ", %s", words[weights]);
}

static void tell_run(const run *r, fxs_sharing weights) {
    fxs_outline_plan *p = r->s->p;
    const fxs_module_call *items = p->calls.items;
    const size_t *calls = r->s->calls + r->at;
    const char *first = items[calls[0]].path, *end = items[calls[r->period - 1]].path,
               *last = items[calls[r->period * r->times - 1]].path;
    if (r->period > 1)
        fxs_buf_printf(&p->notes, "%s %s %s stand", first, r->period == 2 ? "and" : "to", end);
    else
        fxs_buf_printf(&p->notes, "%s stands", first);
    fxs_buf_printf(&p->notes, " for %zu %s%s%s", r->times, r->varies ? "" : "equal ",
                   word_for(r->period),
                   r->reals    ? " that differ in numbers alone"
                   : r->varies ? " that differ in sizes alone"
                               : "");
    if (strcmp(first, last) != 0)
        fxs_buf_printf(&p->notes, ", up to %s", last);
    tell_weights(&p->notes, weights);
    fxs_buf_puts(&p->notes, r->grows ? "; each gets the results of all before it\n" : "\n");
}

/* Of blocks some of which are runs already. */
static fxs_sharing both_sharings(fxs_sharing a, fxs_sharing b) {
    bool a_says = a > FXS_SHARING_UNKNOWN, b_says = b > FXS_SHARING_UNKNOWN;
    return a == b || !b_says ? a : !a_says ? b : FXS_SHARING_SOME;
}

static fxs_status fold_run(const run *r) {
    fxs_outline_plan *p = r->s->p;
    const size_t *calls = r->s->calls + r->at;
    fxs_sharing weights;
    FXS_TRY(fxs_same_weights(p, start_of(r, 0), length_of(r), r->times, &weights));
    for (size_t i = 0; i < r->period; i++) {
        fxs_call_plan *plan = &p->plan[calls[i]];
        plan->in_run = true;
        if (r->period == 1) {
            plan->times += r->times - 1;
            plan->weights = both_sharings(plan->weights, weights);
        } else {
            plan->group = calls[0];
        }
    }
    p->plan[calls[0]].group_weights = weights;
    p->plan[calls[0]].period = r->period;
    p->plan[calls[0]].repeats = r->times;
    for (size_t i = r->period; i < r->period * r->times; i++)
        fold_call(p, calls[i], calls[i % r->period]);
    tell_run(r, weights);
    return FXS_OK;
}

static fxs_status fold_at(const siblings *s, size_t at, size_t period, bool sizes) {
    run whole = {.s = s, .at = at, .period = period, .times = 1, .most = s->n, .sizes = sizes}, r;
    if (!block_at(s, at, period, &whole.first))
        return FXS_OK;
    r = whole;
    FXS_TRY(measure(&whole));
    while (whole.times > 1 && !ends_alike(&whole))
        whole.times--;
    r.most = whole.times;
    FXS_TRY(measure(&r)); /* once more: what the last ones said does not count where they are cut */
    return r.times > 1 ? fold_run(&r) : FXS_OK;
}

static fxs_status fold_siblings(const siblings *s, bool sizes) {
    for (size_t period = 1; period <= FXS_MOST_CALLS; period++)
        for (size_t i = 0; i + period < s->n; i++)
            FXS_TRY(fold_at(s, i, period, sizes));
    return FXS_OK;
}

static fxs_status fold_all(siblings *s) {
    for (size_t parent = 0; parent < s->p->calls.n; parent++) {
        find_siblings(s, parent);
        if (s->how != FXS_FOLD_SIMILAR)
            FXS_TRY(fold_siblings(s, false));
        if (s->how != FXS_FOLD_EQUAL)
            FXS_TRY(fold_siblings(s, true));
    }
    return FXS_OK;
}

static size_t count_folded(const fxs_outline_plan *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->m->graph->len; i++)
        n += p->plan[p->calls.of[i]].state == FXS_CALL_FOLDED;
    return n;
}

/* Where similar blocks would make the picture much smaller: by a quarter of all nodes, and twice as
 * much as what was folded did. The plan that they would have is made for their number alone. */
static fxs_status tell_similar(siblings *s, fxs_call_plan *unfolded) {
    fxs_outline_plan *p = s->p;
    fxs_call_plan *plan = p->plan;
    size_t before = p->notes.len, now = count_folded(p);
    p->plan = unfolded;
    s->how = FXS_FOLD_SIMILAR;
    fxs_status status = fold_all(s);
    size_t then = count_folded(p);
    fxs_buf_cut(&p->notes, before);
    p->plan = plan;
    if (then >= 2 * now && (then - now) * 4 >= p->m->graph->len)
        fxs_buf_printf(&p->notes,
                       "fold=similar would leave out %zu nodes more, of blocks that differ in "
                       "numbers\n",
                       then - now);
    return status;
}

fxs_status fxs_outline_fold(fxs_outline_plan *p) {
    siblings s = {.p = p, .how = p->opt->fold, .calls = FXS_NEW_N(&p->arena, size_t, p->calls.n)};
    fxs_call_plan *unfolded = FXS_NEW_N(&p->arena, fxs_call_plan, p->calls.n);
    if (!s.calls || !unfolded)
        return fxs_fail_memory(p->m->ctx);
    memcpy(unfolded, p->plan, p->calls.n * sizeof *unfolded);
    FXS_TRY(fold_all(&s));
    if (s.how != FXS_FOLD_SIMILAR)
        FXS_TRY(tell_similar(&s, unfolded));
    return p->notes.failed ? fxs_fail_memory(p->m->ctx) : FXS_OK;
}

/* ---- what stands for what ---- */

const fxs_node *fxs_outline_like(const fxs_outline_plan *p, const fxs_node *n) {
    size_t call = p->calls.of[n->index];
    while (p->plan[call].state == FXS_CALL_FOLDED) {
        size_t like = p->plan[call].like, top = call;
        while (p->plan[p->calls.items[top].parent].state == FXS_CALL_FOLDED &&
               p->plan[p->calls.items[top].parent].like == like)
            top = p->calls.items[top].parent;
        n = p->node[p->calls.items[like].first + (n->index - p->calls.items[top].first)];
        call = p->calls.of[n->index];
    }
    return n;
}

/* The call at the place of `call` in what it is folded into; itself when it is not. */
static size_t like_call(const fxs_outline_plan *p, size_t call) {
    const fxs_module_calls *c = &p->calls;
    const fxs_node *first = fxs_outline_like(p, p->node[c->items[call].first]);
    size_t like = c->of[first->index];
    while (c->items[like].depth > c->items[call].depth)
        like = c->items[like].parent;
    return p->plan[call].state == FXS_CALL_FOLDED ? like : call;
}

/* Chains from what is drawn to all that it is drawn for, in order. */
fxs_status fxs_outline_link(fxs_outline_plan *p) {
    size_t nnodes = p->m->graph->len;
    p->next_node = FXS_NEW_N(&p->arena, size_t, nnodes + 1);
    p->next_call = FXS_NEW_N(&p->arena, size_t, p->calls.n);
    if (!p->next_node || !p->next_call)
        return fxs_fail_memory(p->m->ctx);
    for (size_t i = nnodes; p->opt->fold && i-- > 0;) {
        size_t like = fxs_outline_like(p, p->node[i])->index;
        if (like == i)
            continue;
        p->next_node[i] = p->next_node[like];
        p->next_node[like] = i;
    }
    for (size_t i = p->calls.n; p->opt->fold && i-- > 0;) {
        size_t like = like_call(p, i);
        if (like == i)
            continue;
        p->next_call[i] = p->next_call[like];
        p->next_call[like] = i;
    }
    return FXS_OK;
}
