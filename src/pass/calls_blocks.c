/* calls_blocks.c: the functions that stand between equal blocks of a graph that was read from text:
 * `x = x + block(x)`, where nothing says to which module the addition belongs. In a run of equal
 * blocks with equal functions between them, they are given to the blocks, so that the run can be
 * drawn once. Those behind the last block and before the first one tell where to cut: what also
 * follows the last block ends a block, what also precedes the first one begins a block. Where both
 * leave something, the run is one block shorter, and all of it ends a block. */
#include "pass/calls.h"

#include <string.h>

typedef struct blocks {
    const fxs_module *m;
    fxs_module_calls *calls;
    fxs_node **node; /* by position */
    size_t n;
    const char **paths; /* by position: to be changed */
    bool *taken;        /* by position: given to a block */
    bool *done;         /* by call: in a run */
} blocks;

/* A node in the place of another: positions count from where their blocks begin. */
typedef struct pair {
    const fxs_module_call *a, *b;
} pair;

static const fxs_module_call *call_at(const blocks *k, size_t call) {
    return &k->calls->items[call];
}

/* ---- equal in structure: no shapes, no numbers ---- */

static const char *below(const char *target, const char *path) {
    size_t n = strlen(path);
    return strncmp(target, path, n) == 0 && target[n] == '.' ? target + n : target;
}

static bool same_target(const blocks *k, pair p, const fxs_node *x, const fxs_node *y) {
    if (x->kind != FXS_CALL_MODULE && x->kind != FXS_GET_ATTR)
        return strcmp(x->target, y->target) == 0;
    if (strcmp(below(x->target, p.a->path), below(y->target, p.b->path)) != 0)
        return false;
    const fxs_module *m = fxs_module_find(k->m, x->target), *o = fxs_module_find(k->m, y->target);
    return !m == !o && (!m || strcmp(m->class_name, o->class_name) == 0);
}

static bool same_input(pair p, const fxs_node *x, const fxs_node *y) {
    bool inside = x->index >= p.a->first;
    return inside == (y->index >= p.b->first) &&
           (!inside || x->index - p.a->first == y->index - p.b->first);
}

static bool takes_list(const fxs_node *n) {
    const fxs_value *first = fxs_value_item(&n->args, 0);
    return n->kind == FXS_CALL_FUNCTION && first && first->tag == FXS_V_LIST;
}

/* The next input of n from the *i-th on that is in the block, which begins at `first`; NULL: none.
 */
static const fxs_node *input_in(const fxs_node *n, size_t first, size_t *i) {
    while (*i < n->ninputs) {
        const fxs_node *input = n->inputs[(*i)++];
        if (input->index >= first)
            return input;
    }
    return NULL;
}

/* Of lists: a dense block's concatenations get more and more from outside. */
static bool same_inside(pair p, const fxs_node *x, const fxs_node *y) {
    size_t i = 0, k = 0;
    const fxs_node *a, *b;
    do {
        a = input_in(x, p.a->first, &i);
        b = input_in(y, p.b->first, &k);
        if (!a != !b || (a && a->index - p.a->first != b->index - p.b->first))
            return false;
    } while (a);
    return true;
}

static bool same_node(const blocks *k, pair p, size_t i, size_t j) {
    const fxs_node *x = k->node[i], *y = k->node[j];
    if (x->kind != y->kind || !same_target(k, p, x, y))
        return false;
    if (x->ninputs != y->ninputs)
        return takes_list(x) && takes_list(y) && same_inside(p, x, y);
    for (size_t e = 0; e < x->ninputs; e++)
        if (!same_input(p, x->inputs[e], y->inputs[e]))
            return false;
    return true;
}

static bool same_block(const blocks *k, pair p) {
    if (p.a->last - p.a->first != p.b->last - p.b->first)
        return false;
    for (size_t i = 0; i <= p.a->last - p.a->first; i++)
        if (!same_node(k, p, p.a->first + i, p.b->first + i))
            return false;
    return true;
}

/* ---- what stands around a block ---- */

/* May the node go to the block: a function that so far is of a module around the block. */
static bool is_free(const blocks *k, size_t at, size_t block) {
    const fxs_node *n = k->node[at];
    return (n->kind == FXS_CALL_FUNCTION || n->kind == FXS_CALL_METHOD) && !k->taken[at] &&
           fxs_module_call_within(k->calls, block, k->calls->of[at]);
}

static bool all_free(const blocks *k, size_t first, size_t n, size_t block) {
    for (size_t i = 0; i < n; i++)
        if (!is_free(k, first + i, block))
            return false;
    return true;
}

/* How many of the n nodes behind a also stand behind b, from the first on. */
static size_t common_behind(const blocks *k, pair p, size_t n, size_t block) {
    size_t i = 0;
    while (i < n && p.b->last + 1 + i < k->n && is_free(k, p.b->last + 1 + i, block) &&
           same_node(k, p, p.a->last + 1 + i, p.b->last + 1 + i))
        i++;
    return i;
}

/* How many of the n nodes before b also stand before a, from the last on; p is (a, b). What they
 * get from each other is compared, what comes from further away is outside of both. */
static size_t common_before(const blocks *k, pair p, size_t n, size_t block) {
    size_t i = 0;
    while (i < n && p.a->first > i && is_free(k, p.a->first - 1 - i, block)) {
        fxs_module_call a = *p.a, b = *p.b;
        a.first -= i + 1;
        b.first -= i + 1;
        if (!same_node(k, (pair){&a, &b}, a.first, b.first))
            break;
        i++;
    }
    return i;
}

static void give(blocks *k, size_t first, size_t n, const char *path) {
    for (size_t i = 0; i < n; i++) {
        k->paths[first + i] = path;
        k->taken[first + i] = true;
        k->calls->guessed++;
    }
}

/* ---- runs ---- */

/* The call behind `call` that has the same parent; 0: there is none. */
static size_t next_sibling(const blocks *k, size_t call) {
    for (size_t i = call + 1; i < k->calls->n; i++) {
        if (call_at(k, i)->depth < call_at(k, call)->depth)
            return 0;
        if (call_at(k, i)->parent == call_at(k, call)->parent)
            return i;
    }
    return 0;
}

static size_t gap_behind(const blocks *k, size_t call, size_t next) {
    return call_at(k, next)->first - call_at(k, call)->last - 1;
}

/* Does `next` follow `call` as the second block of the run follows its first? */
static bool goes_on(const blocks *k, size_t first, size_t gap, size_t call, size_t next) {
    pair p = {call_at(k, call), call_at(k, next)}, gaps = {call_at(k, first), p.a};
    if (gap_behind(k, call, next) != gap || !all_free(k, p.a->last + 1, gap, call) ||
        !same_block(k, p))
        return false;
    for (size_t i = 0; i < gap; i++)
        if (!same_node(k, gaps, gaps.a->last + 1 + i, gaps.b->last + 1 + i))
            return false;
    return true;
}

static void take_run(blocks *k, size_t first) {
    size_t second = next_sibling(k, first), last = first, before = first, next = second;
    size_t gap = second ? gap_behind(k, first, second) : 0;
    if (!gap)
        return;
    for (; next && goes_on(k, first, gap, last, next); next = next_sibling(k, next)) {
        k->done[next] = true;
        before = last;
        last = next;
    }
    if (last == first)
        return;
    size_t ends = common_behind(k, (pair){call_at(k, first), call_at(k, last)}, gap, last);
    size_t begins = common_before(k, (pair){call_at(k, first), call_at(k, second)}, gap, first);
    if (ends + begins < gap) { /* the last one is of another kind; what is behind the one before it
                                  is as behind the first */
        if (before == first)
            return;
        last = before;
        ends = gap;
    }
    begins = gap - ends;
    for (size_t i = first;; i = next_sibling(k, i)) {
        const fxs_module_call *c = call_at(k, i);
        give(k, c->last + 1, ends, c->path);
        give(k, c->first - begins, begins, c->path);
        if (i == last)
            return;
    }
}

bool fxs_module_calls_adopt(const fxs_module *m, fxs_module_calls *calls, fxs_arena *scratch,
                            const char **paths) {
    size_t n = m->graph->len;
    blocks k = {.m = m, .calls = calls, .n = n, .paths = paths};
    k.node = FXS_NEW_N(scratch, fxs_node *, n);
    k.taken = FXS_NEW_N(scratch, bool, n);
    k.done = FXS_NEW_N(scratch, bool, calls->n);
    if (!k.node || !k.taken || !k.done)
        return false;
    for (fxs_node *node = fxs_graph_first(m->graph); node; node = fxs_node_next(node))
        k.node[node->index] = node;
    for (size_t i = 1; i < calls->n; i++)
        if (!k.done[i])
            take_run(&k, i);
    return true;
}
