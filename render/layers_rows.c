/* layers_rows.c: what a node hands on one by one (an LSTM's output and state, the parts of a chunk)
 * begins at the row of the node's table that shows it. Where ranks go to the right, rows end there
 * anyway. Where they go down, a link leaves its row at the left or the right side and goes down
 * beside the box, from upper rows further out: so none crosses another. Called by
 * layout_layered.c. */
#include <math.h>
#include <stdlib.h>

#include "layers.h"

enum {
    REACH = 10, /* of the way down from the box, */
    STEP = 8,   /* and from one to the next */
    APART = 5,  /* from end to end at one row, */
    SPAN = 12,  /* and of all of them together */
    MANY = 64   /* links from rows of one node: then all leave at the right */
};

/* A link from one node. */
typedef struct way {
    size_t link;
    double to, row; /* row 0: it leaves at the lower side */
} way;

static int by_end(const void *a, const void *b) {
    const way *p = a, *q = b;
    if (p->to != q->to)
        return p->to < q->to ? -1 : 1;
    return p->link < q->link ? -1 : p->link > q->link;
}

/* From the box outwards: lower rows first, of one row what goes least far to that side. */
static int by_left_lane(const void *a, const void *b) {
    const way *p = a, *q = b;
    return p->row != q->row ? (p->row > q->row ? -1 : 1) : by_end(b, a);
}
static int by_right_lane(const void *a, const void *b) {
    const way *p = a, *q = b;
    return p->row != q->row ? (p->row > q->row ? -1 : 1) : by_end(a, b);
}

static int by_row(const void *a, const void *b) {
    const way *p = a, *q = b;
    return p->row != q->row ? (p->row < q->row ? -1 : 1) : by_end(a, b);
}

/* Whether a and b cross, a's end being further left, when those before `left` leave at the left
 * side and the others at the right. */
static bool cross(const way *ways, size_t a, size_t b, size_t left) {
    double up = ways[a].row, down = ways[b].row;
    if (up == 0 || down == 0)
        return up == 0 ? down > 0 && b < left : a >= left;
    if (a >= left)
        return up < down;
    return b < left && up > down;
}

/* How many leave at the left side: few crossings, then as many as at the right. */
static size_t find_split(const way *ways, size_t n, double *crossings) {
    size_t best = 0;
    double least = INFINITY;
    *crossings = 0;
    for (size_t left = 0; left <= n && n <= MANY; left++) {
        double cost = 0, uneven = 0;
        for (size_t b = 0; b < n; b++) {
            for (size_t a = 0; a < b; a++)
                cost += cross(ways, a, b, left);
            uneven += ways[b].row == 0 ? 0 : b < left ? 1 : -1;
        }
        uneven = fabs(uneven) / (2 * MANY);
        if (cost + uneven < least) {
            least = cost + uneven;
            *crossings = cost;
            best = left;
        }
    }
    return best;
}

/* The ways out of a vertex from left to right; whether some begin at rows. */
static bool list_ways(const fxs_layers *g, size_t v, way *ways, size_t *n) {
    bool any = false;
    *n = 0;
    for (size_t i = g->down_start[v]; i < g->down_start[v + 1]; i++) {
        const fxs_link *l = &g->links[g->downs[i]];
        ways[(*n)++] = (way){g->downs[i], (double)g->vertices[l->down].place, l->row};
        any |= l->row > 0;
    }
    if (any)
        qsort(ways, *n, sizeof *ways, by_end);
    return any;
}

double fxs_rows_crossings(const fxs_layers *g, size_t v, double *swaps, double *pairs) {
    way ways[MANY];
    double crossings = 0;
    size_t n = g->down_start[v + 1] - g->down_start[v];
    if (n > MANY || !list_ways(g, v, ways, &n))
        return 0;
    if (!g->view->lr)
        find_split(ways, n, &crossings);
    for (size_t b = 0; b < n; b++)
        for (size_t a = 0; a < b; a++) {
            bool wrong = ways[a].row > ways[b].row, both = ways[a].row > 0 && ways[b].row > 0;
            crossings += g->view->lr && wrong; /* what is no row's leaves above the rows */
            *swaps += wrong && both;
            *pairs += both && ways[a].row != ways[b].row;
        }
    return crossings;
}

/* Ends at one row, of which there are n, stand apart in it: how far the i-th is below its middle.
 */
static double nudge(size_t i, size_t n) {
    double step = n > 1 ? fmin(APART, (double)SPAN / (double)(n - 1)) : 0;
    return ((double)i - (double)(n - 1) / 2) * step;
}

/* Places of ends at rows; ways to one row stand together, the lowest or, `up`, the highest last. */
static void spread(fxs_layers *g, const way *ways, size_t n, bool up) {
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && ways[i + same].row == ways[i].row; same++)
            ;
        for (size_t k = 0; k < same && ways[i].row > 0; k++)
            g->links[ways[i + k].link].row += up ? -nudge(k, same) : nudge(k, same);
    }
}

static void give_lanes(fxs_layers *g, way *ways, size_t n, int side) {
    size_t lane = 0;
    qsort(ways, n, sizeof *ways, side < 0 ? by_left_lane : by_right_lane);
    spread(g, ways, n, true);
    for (size_t i = 0; i < n && ways[i].row > 0; i++) { /* those without a row come last */
        fxs_link *l = &g->links[ways[i].link];
        l->side = side;
        l->lane = lane++;
        g->vertices[l->up].room[side > 0] = REACH + STEP * (double)l->lane;
    }
}

fxs_status fxs_layers_rows(fxs_layers *g) {
    way *ways = FXS_NEW_N(g->arena, way, g->nlinks);
    if (!ways)
        return FXS_ENOMEM;
    for (size_t v = 0; v < g->nitems; v++) {
        size_t n;
        double crossings;
        if (!list_ways(g, v, ways, &n))
            continue;
        if (g->view->lr) {
            qsort(ways, n, sizeof *ways, by_row);
            spread(g, ways, n, false);
            continue;
        }
        size_t left = find_split(ways, n, &crossings);
        give_lanes(g, ways, left, -1);
        give_lanes(g, ways + left, n - left, 1);
    }
    return FXS_OK;
}

double fxs_row_way_out(const fxs_layers *g, const fxs_link *l) {
    const fxs_vertex *v = &g->vertices[l->up];
    return l->side == 0  ? fxs_row_off(g, l)
           : l->side < 0 ? -v->left - REACH - STEP * (double)l->lane
                         : v->right + REACH + STEP * (double)l->lane;
}
