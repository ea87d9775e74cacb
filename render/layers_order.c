/* layers_order.c: the order of vertices in each rank, with few crossings: sweeps down and up put
 * every vertex at the mean place of its neighbours. Called by layout_simple.c. */
#include <stdlib.h>
#include <string.h>

#include "layers.h"

enum { SWEEPS = 10 };

typedef struct keyed {
    double key;
    size_t place, vertex;
} keyed;

static int by_key(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place
               ? -1
               : x->place > y->place; /* the graph's order breaks ties: stable, reproducible */
}

/* Mean place of the neighbours above (or below); its own place when there are none. */
static double mean_place(const fxs_layers *g, size_t vertex, bool above) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    double sum = 0;
    size_t n = start[vertex + 1] - start[vertex];
    for (size_t i = start[vertex]; i < start[vertex + 1]; i++) {
        const fxs_segment *s = &g->segments[list[i]];
        sum += (double)g->vertices[above ? s->up : s->down].place;
    }
    return n ? sum / (double)n : (double)g->vertices[vertex].place;
}

static void sort_rank(fxs_layers *g, int r, bool above, keyed *work) {
    size_t at = g->start[r], n = g->start[r + 1] - at;
    for (size_t i = 0; i < n; i++) {
        size_t vertex = g->order[at + i];
        work[i] = (keyed){mean_place(g, vertex, above), i, vertex};
    }
    qsort(work, n, sizeof *work, by_key);
    for (size_t i = 0; i < n; i++) {
        g->order[at + i] = work[i].vertex;
        g->vertices[work[i].vertex].place = i;
    }
}

/* Pairs of segments between rank r and the next that cross: inversions, counted with a tree of
 * partial sums. */
static double count_between(const fxs_layers *g, int r, size_t *tree) {
    size_t width = g->start[r + 2] - g->start[r + 1];
    double crossings = 0, seen = 0;
    memset(tree, 0, (width + 1) * sizeof *tree);
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++) {
        size_t up = g->order[i];
        for (size_t k = g->down_start[up]; k < g->down_start[up + 1]; k++) {
            size_t left = 0; /* earlier segments that end at this place or further left */
            for (size_t p = g->vertices[g->segments[g->downs[k]].down].place + 1; p; p &= p - 1)
                left += tree[p];
            crossings += seen - (double)left;
            seen++;
            for (size_t p = g->vertices[g->segments[g->downs[k]].down].place + 1; p <= width;
                 p += p & -p)
                tree[p]++;
        }
    }
    return crossings;
}

static double count_crossings(const fxs_layers *g, size_t *tree) {
    double sum = 0;
    for (int r = 0; r + 1 < g->nranks; r++)
        sum += count_between(g, r, tree);
    return sum;
}

static void restore(fxs_layers *g, const size_t *best) {
    memcpy(g->order, best, g->nvertices * sizeof *best);
    for (int r = 0; r < g->nranks; r++)
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            g->vertices[g->order[i]].place = i - g->start[r];
}

bool fxs_layers_order(fxs_layers *g) {
    size_t widest = 0;
    for (int r = 0; r < g->nranks; r++)
        widest = g->start[r + 1] - g->start[r] > widest ? g->start[r + 1] - g->start[r] : widest;
    keyed *work = FXS_NEW_N(&g->arena, keyed, widest);
    size_t *tree = FXS_NEW_N(&g->arena, size_t, widest + 1),
           *best = FXS_NEW_N(&g->arena, size_t, g->nvertices);
    if (!work || !tree || !best)
        return false;
    double fewest = -1;
    for (int sweep = 0; sweep < SWEEPS && fewest != 0; sweep++) {
        bool down = sweep % 2 == 0;
        for (int i = 1; i < g->nranks; i++)
            sort_rank(g, down ? i : g->nranks - 1 - i, down, work);
        double crossings = count_crossings(g, tree);
        if (fewest < 0 || crossings < fewest) {
            fewest = crossings;
            memcpy(best, g->order, g->nvertices * sizeof *best);
        }
    }
    if (fewest >= 0)
        restore(g, best);
    return true;
}
