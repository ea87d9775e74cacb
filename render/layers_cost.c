/* layers_cost.c: what an order of the vertices of a stretch costs. Called by layers_order.c and
 * layers_turn.c. */
#include <string.h>

#include "layers_order.h"

bool fxs_cost_better(fxs_order_cost a, fxs_order_cost b) {
    return a.crossings != b.crossings ? a.crossings < b.crossings : a.swaps < b.swaps;
}

/* Pairs of links between rank r and the next that cross: inversions, counted with a tree of partial
 * sums. */
static double count_between(const fxs_layers *g, int r, size_t *tree) {
    size_t width = fxs_rank_width(g, r + 1);
    double crossings = 0;
    size_t seen = 0;
    memset(tree, 0, (width + 1) * sizeof *tree);
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++) {
        size_t up = g->order[i];
        for (size_t k = g->down_start[up]; k < g->down_start[up + 1]; k++) {
            size_t left = 0; /* earlier links that end at this place or further left */
            for (size_t p = g->vertices[g->links[g->downs[k]].down].place + 1; p; p &= p - 1)
                left += tree[p];
            crossings += (double)(seen - left);
        }
        for (size_t k = g->down_start[up]; k < g->down_start[up + 1]; k++, seen++)
            for (size_t p = g->vertices[g->links[g->downs[k]].down].place + 1; p <= width;
                 p += p & -p)
                tree[p]++;
    }
    return crossings;
}

/* Pairs of arguments that come to a vertex in the wrong order. */
static void count_swaps(const fxs_layers *g, size_t v, fxs_order_cost *c) {
    size_t first = g->up_start[v], end = g->up_start[v + 1];
    for (size_t a = first; a < end && end - first <= FXS_MANY_ENDS; a++)
        for (size_t b = a + 1; b < end; b++) {
            double x = fxs_end_place(g, &g->links[g->ups[a]], true),
                   y = fxs_end_place(g, &g->links[g->ups[b]], true);
            c->swaps += x > y;
            c->pairs += x != y;
        }
}

static double count_fans(const fxs_layers *g, size_t v) {
    size_t first = g->down_start[v], end = g->down_start[v + 1];
    double fans = 0;
    for (size_t a = first; a < end && end - first <= FXS_MANY_ENDS; a++)
        for (size_t b = a + 1; b < end; b++)
            fans += g->vertices[g->links[g->downs[a]].down].place >
                    g->vertices[g->links[g->downs[b]].down].place;
    return fans;
}

/* Lines that cross beside a cluster, since the ports where they leave or enter it are as they are.
 */
static double count_ports(const fxs_layers *g, size_t v, bool above) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    double crossings = 0;
    if (start[v + 1] - start[v] > FXS_MANY_ENDS)
        return 0;
    for (size_t i = start[v]; i < start[v + 1]; i++)
        for (size_t k = i + 1; k < start[v + 1]; k++) {
            const fxs_link *a = &g->links[list[i]], *b = &g->links[list[k]];
            double at = above ? a->down_off - b->down_off : a->up_off - b->up_off,
                   from = fxs_end_place(g, a, above) - fxs_end_place(g, b, above);
            crossings += at * from < 0;
        }
    return crossings;
}

fxs_order_cost fxs_layers_cost(const fxs_layers *g, const fxs_stretch *s, size_t *tree) {
    fxs_order_cost c = {0};
    for (int r = s->first; r < s->last; r++)
        c.crossings += count_between(g, r, tree);
    for (size_t i = g->start[s->first + 1]; i < g->start[s->last + 1]; i++)
        count_swaps(g, g->order[i], &c);
    for (size_t i = g->start[s->first]; i < g->start[s->last]; i++)
        if (g->order[i] < g->nitems) {
            c.crossings += fxs_rows_crossings(g, g->order[i], &c.swaps, &c.pairs);
            c.fans += count_fans(g, g->order[i]);
        }
    for (size_t i = g->start[s->first]; i < g->start[s->last + 1]; i++) {
        const fxs_vertex *v = &g->vertices[g->order[i]];
        if (v->kind == FXS_VERTEX_CLUSTER)
            c.crossings += (v->rank > s->first ? count_ports(g, g->order[i], true) : 0) +
                           (v->rank < s->last ? count_ports(g, g->order[i], false) : 0);
    }
    return c;
}
