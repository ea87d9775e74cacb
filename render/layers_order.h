/* layers_order.h: what layers_order.c and layers_turn.c share: what an order of the vertices costs.
 */
#ifndef FXS_RENDER_LAYERS_ORDER_H
#define FXS_RENDER_LAYERS_ORDER_H

#include "layers.h"

/* Crossings count; among equals, pairs of arguments that come in the wrong order, and of rows of a
 * table that go out so. */
typedef struct fxs_order_cost {
    double crossings, swaps;
    double pairs; /* of which so many are swapped */
    double fans;  /* pairs of users of one value that stand in another order than they come */
} fxs_order_cost;

enum { FXS_MANY_ENDS = 64 /* of a vertex with more links pairs are not looked at */ };

static inline size_t fxs_rank_width(const fxs_layers *g, int r) {
    return g->start[r + 1] - g->start[r];
}

/* Place of a link's end; ports of a cluster's box and rows of a table are between its neighbours.
 */
static inline double fxs_end_place(const fxs_layers *g, const fxs_link *l, bool up) {
    const fxs_vertex *v = &g->vertices[up ? l->up : l->down];
    double off = up ? l->up_off + fxs_row_off(g, l) : l->down_off, w = v->left + v->right;
    return (double)v->place + (w > 0 ? 0.9 * off / (2 * w) : 0);
}

bool fxs_cost_better(fxs_order_cost a, fxs_order_cost b);
/* `tree` has room for a number more than the widest rank has vertices. */
fxs_order_cost fxs_layers_cost(const fxs_layers *g, const fxs_stretch *s, size_t *tree);
/* layers_turn.c: arguments come in their order wherever that costs no crossing. *done is false for
 * a stretch that is too large for that. `was` has room for a number by vertex. */
fxs_status fxs_layers_turn(fxs_layers *g, const fxs_stretch *s, size_t *tree, size_t *was,
                           bool *done);

#endif
