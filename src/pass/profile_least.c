/* profile_least.c: the least memory that a run's results need at one time, when each goes with its
 * last use and a pointwise operator writes over an input that goes with it. Watches one run:
 * results that share a storage count once, parameters not at all. Called by profile.c. */
#include "pass/profile.h"

/* A storage that is in use. */
typedef struct block {
    const fxs_storage *storage;
    double bytes;
    size_t last; /* node after which it goes */
    bool fixed;  /* not ours to count: a parameter */
    bool given;  /* an input: the caller wants it unchanged */
} block;

struct fxs_least {
    fxs_ctx *ctx;
    size_t *last_use; /* by node index; the node itself when it has no user */
    block *blocks;
    size_t n, cap;
    double live, most; /* bytes after the last node, most at one time */
};

fxs_status fxs_least_new(fxs_ctx *ctx, const fxs_graph *g, fxs_least **out) {
    fxs_least *l = *out = fxs_alloc0(1, sizeof *l);
    if (!l)
        return fxs_fail_memory(ctx);
    l->ctx = ctx;
    l->last_use = fxs_alloc(g->len, sizeof *l->last_use);
    if (!l->last_use)
        return fxs_fail_memory(ctx);
    size_t at = 0;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        n->index = at++;
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        l->last_use[n->index] = n->index;
        for (size_t i = 0; i < n->ninputs; i++)
            l->last_use[n->inputs[i]->index] = n->index;
    }
    return FXS_OK;
}

void fxs_least_free(fxs_least *l) {
    if (!l)
        return;
    fxs_free(l->last_use);
    fxs_free(l->blocks);
    fxs_free(l);
}

double fxs_least_bytes(const fxs_least *l) { return l->most; }

static block *find(fxs_least *l, const fxs_storage *s) {
    for (size_t i = l->n; i-- > 0;)
        if (l->blocks[i].storage == s)
            return &l->blocks[i];
    return NULL;
}

static block *add(fxs_least *l, block b) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 16;
        block *p = fxs_realloc(l->blocks, cap, sizeof *p);
        if (!p)
            return NULL;
        l->blocks = p;
        l->cap = cap;
    }
    l->blocks[l->n] = b;
    return &l->blocks[l->n++];
}

/* Does a storage of this size go with node `index`? Takes it over. */
static bool take_over(fxs_least *l, double bytes, size_t index) {
    for (size_t i = 0; i < l->n; i++) {
        block *b = &l->blocks[i];
        if (!b->fixed && !b->given && b->last == index && b->bytes == bytes) {
            b->bytes = 0;
            return true;
        }
    }
    return false;
}

typedef struct visit {
    fxs_least *least;
    const fxs_node *node;
    const fxs_step *step;
    bool failed;
} visit;

static bool see_tensor(void *user, const fxs_value *leaf) {
    visit *v = user;
    fxs_least *l = v->least;
    if (leaf->tag != FXS_V_TENSOR || !leaf->u.tensor->storage)
        return true;
    const fxs_storage *s = leaf->u.tensor->storage;
    size_t index = v->node->index, last = l->last_use[index];
    block *b = find(l, s);
    if (b) {
        b->last = last > b->last ? last : b->last;
        return true;
    }
    block fresh = {.storage = s,
                   .bytes = (double)s->bytes,
                   .last = last,
                   .fixed = v->node->kind == FXS_GET_ATTR,
                   .given = v->node->kind == FXS_PLACEHOLDER};
    bool pointwise = v->step->op && v->step->op->flags & (FXS_OP_POINTWISE | FXS_OP_OVER_INPUT);
    if (!fresh.fixed && !(pointwise && take_over(l, fresh.bytes, index)))
        l->live += fresh.bytes;
    v->failed |= !add(l, fresh);
    return !v->failed;
}

fxs_status fxs_least_after(void *user, fxs_node *n, const fxs_step *step) {
    fxs_least *l = user;
    visit v = {.least = l, .node = n, .step = step};
    if (step->outcome == FXS_DONE)
        fxs_value_visit(step->result, see_tensor, &v);
    if (v.failed)
        return fxs_fail_memory(l->ctx);
    l->most = l->live > l->most ? l->live : l->most;
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->blocks[i].last > n->index)
            l->blocks[kept++] = l->blocks[i];
        else if (!l->blocks[i].fixed)
            l->live -= l->blocks[i].bytes;
    }
    l->n = kept;
    return FXS_OK;
}
