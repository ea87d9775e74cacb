/* place.c: see place.h. */
#include "pass/place.h"

#include <stdlib.h>

enum { STEP_BITS = 24, NEAR = 256 };

void fxs_place_all(fxs_graph *g) {
    size_t i = 0;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        n->index = ++i << STEP_BITS;
}

/* Small steps: many replacements are put in before one and the same node. */
void fxs_place_new(fxs_graph *g, fxs_node *before, fxs_node *at) {
    size_t count = 0, low = before == &g->root ? 0 : before->index;
    for (fxs_node *n = before->next; n != at; n = n->next)
        count++;
    if (!count)
        return;
    size_t high = at == &g->root ? SIZE_MAX : at->index, step = (high - low) / (count + 1);
    if (step == 0) {
        fxs_place_all(g);
        return;
    }
    if (step > NEAR)
        step = NEAR;
    for (fxs_node *n = before->next; n != at; n = n->next)
        n->index = low += step;
}

static fxs_status add(fxs_placer *p, fxs_node *n) {
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 32;
        fxs_node **grown = fxs_realloc(p->nodes, cap, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(n->graph->ctx);
        p->nodes = grown;
        p->cap = cap;
    }
    p->nodes[p->n++] = n;
    return FXS_OK;
}

typedef struct finding {
    fxs_placer *p;
    fxs_node *at;
    uint64_t bad, seen;
    bool possible;
    fxs_status status;
} finding;

static bool look_at(void *user, const fxs_value *leaf) {
    finding *f = user;
    if (leaf->tag != FXS_V_NODE)
        return true;
    fxs_value v = fxs_subst_get(f->p->subst, leaf->u.node);
    if (v.tag != FXS_V_NODE)
        return true;
    fxs_node *n = v.u.node;
    if (n == f->at || n->mark == f->bad)
        f->possible = false;
    else if (n->mark != f->seen && n->index > f->at->index) {
        n->mark = f->seen;
        f->status = add(f->p, n);
    }
    return f->possible && f->status == FXS_OK;
}

static int by_place(const void *a, const void *b) {
    const fxs_node *x = *(fxs_node *const *)a, *y = *(fxs_node *const *)b;
    return x->index < y->index ? -1 : x->index > y->index;
}

fxs_status fxs_place_find(fxs_placer *p, const fxs_value *inputs, size_t ninputs, fxs_node *at,
                          uint64_t stamp, bool *possible) {
    finding f = {
        .p = p, .at = at, .bad = stamp, .seen = fxs_graph_stamp(at->graph), .possible = true};
    p->n = 0;
    for (size_t i = 0; i < ninputs; i++)
        fxs_value_visit(&inputs[i], look_at, &f);
    for (size_t i = 0; i < p->n && f.possible && f.status == FXS_OK; i++) {
        fxs_value_visit(&p->nodes[i]->args, look_at, &f);
        fxs_value_visit(&p->nodes[i]->kwargs, look_at, &f);
    }
    *possible = f.possible;
    if (p->n)
        qsort(p->nodes, p->n, sizeof *p->nodes, by_place);
    return f.status;
}

fxs_status fxs_place_move(fxs_placer *p, fxs_node *at) {
    fxs_node *before = at->prev;
    for (size_t i = 0; i < p->n; i++)
        FXS_TRY(fxs_node_prepend(at, p->nodes[i]));
    fxs_place_new(at->graph, before, at);
    return FXS_OK;
}
