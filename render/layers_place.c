/* layers_place.c: coordinates for the engine "simple", and its curves. Each rank is placed as close
 * to its neighbours as the order and the distances allow (weighted isotonic regression), over and
 * over in both directions. Called by layout_simple.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"

enum {
    ROUNDS = 24,
    STRAIGHT_PASSES = 3,
    DISTANCE = 20,
    BEND_DISTANCE = 10,
    MIN_GAP = 30,
    MAX_GAP = 90,
    PORT_DISTANCE = 10
};

/* A run of vertices that stand as close as they may. */
typedef struct block {
    double target, weight; /* of its first vertex */
    size_t n;
} block;

/* ---- x
 * -----------------------------------------------------------------------------------------------------
 */

static void pull(const fxs_layers *g, size_t vertex, bool above, double *sum, double *weight) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    for (size_t i = start[vertex]; i < start[vertex + 1]; i++) {
        const fxs_segment *s = &g->segments[list[i]];
        *sum += s->weight * g->vertices[above ? s->up : s->down].x;
        *weight += s->weight;
    }
}

static double distance(const fxs_vertex *a, const fxs_vertex *b) {
    return (a->w + b->w) / 2 + (a->bend && b->bend ? BEND_DISTANCE : DISTANCE);
}

static void place_rank(fxs_layers *g, int r, bool above, bool below, block *work) {
    size_t at = g->start[r], n = g->start[r + 1] - at, nblocks = 0;
    double offset = 0;
    for (size_t i = 0; i < n; i++) {
        size_t vertex = g->order[at + i];
        double sum = 0, weight = 0;
        if (above)
            pull(g, vertex, true, &sum, &weight);
        if (below)
            pull(g, vertex, false, &sum, &weight);
        if (i)
            offset += distance(&g->vertices[g->order[at + i - 1]], &g->vertices[vertex]);
        if (weight == 0) {
            weight = 0.1;
            sum = weight * g->vertices[vertex].x;
        }
        work[nblocks++] = (block){sum / weight - offset, weight, 1};
        while (nblocks > 1 && work[nblocks - 2].target >= work[nblocks - 1].target) {
            block *a = &work[nblocks - 2], *b = &work[nblocks - 1];
            a->target = (a->target * a->weight + b->target * b->weight) / (a->weight + b->weight);
            a->weight += b->weight;
            a->n += b->n;
            nblocks--;
        }
    }
    offset = 0;
    for (size_t b = 0, i = 0; b < nblocks; b++)
        for (size_t k = 0; k < work[b].n; k++, i++) {
            fxs_vertex *v = &g->vertices[g->order[at + i]];
            if (i)
                offset += distance(&g->vertices[g->order[at + i - 1]], v);
            v->x = work[b].target + offset;
        }
}

/* Ranks of one vertex are where everything passes: they stand in one line, which keeps long nets
 * from drifting. */
static bool is_pinned(const fxs_layers *g, int r) { return g->start[r + 1] - g->start[r] == 1; }

static void pack(fxs_layers *g, int r) {
    double x = 0;
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++) {
        fxs_vertex *v = &g->vertices[g->order[i]];
        if (i > g->start[r])
            x += distance(&g->vertices[g->order[i - 1]], v);
        v->x = x;
    }
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
        g->vertices[g->order[i]].x -= x / 2;
}

static bool place_x(fxs_layers *g) {
    block *work = FXS_NEW_N(&g->arena, block, g->nvertices);
    if (!work)
        return false;
    for (int r = 0; r < g->nranks; r++)
        pack(g, r);
    for (int round = 0; round < ROUNDS; round++) {
        bool down = round % 2 == 0, both = round >= ROUNDS / 2;
        for (int i = 0; i < g->nranks; i++) {
            int r = down ? i : g->nranks - 1 - i;
            if (!is_pinned(g, r))
                place_rank(g, r, down || both, !down || both, work);
        }
    }
    return true;
}

/* ---- straight lines
 * ------------------------------------------------------------------------------------------ */

/* Where a vertex may go while its neighbours stay. */
static void find_room(const fxs_layers *g, size_t vertex, double *low, double *high) {
    const fxs_vertex *v = &g->vertices[vertex];
    size_t at = g->start[v->rank] + v->place;
    *low = -INFINITY;
    *high = INFINITY;
    if (at > g->start[v->rank]) {
        const fxs_vertex *left = &g->vertices[g->order[at - 1]];
        *low = left->x + distance(left, v);
    }
    if (at + 1 < g->start[v->rank + 1]) {
        const fxs_vertex *right = &g->vertices[g->order[at + 1]];
        *high = right->x - distance(v, right);
    }
    *low = fmin(*low, v->x); /* rounding may have left no room at all */
    *high = fmax(*high, v->x);
}

/* From `first` along `next`: as many vertices as have a common place go there; then the rest in the
 * same way. */
static void straighten_path(fxs_layers *g, size_t first, const size_t *next) {
    while (first != FXS_NO_SEGMENT) {
        double low = -INFINITY, high = INFINITY, sum = 0, n = 0;
        size_t end = first;
        for (; end != FXS_NO_SEGMENT; end = next[end]) {
            double from, to;
            find_room(g, end, &from, &to);
            if (fmax(low, from) > fmin(high, to))
                break;
            low = fmax(low, from);
            high = fmin(high, to);
            sum += g->vertices[end].x;
            n++;
        }
        for (; first != end; first = next[first])
            g->vertices[first].x = fmin(fmax(sum / n, low), high);
    }
}

/* Paths that shall be straight: the main path, and wherever there is one way only. */
static bool straighten(fxs_layers *g) {
    size_t *next = FXS_NEW_N(&g->arena, size_t, g->nvertices);
    bool *entered = FXS_NEW_N(&g->arena, bool, g->nvertices);
    if (!next || !entered)
        return false;
    for (size_t i = 0; i < g->nvertices; i++)
        next[i] = FXS_NO_SEGMENT;
    for (int spine = 1; spine >= 0; spine--)
        for (size_t i = 0; i < g->nsegments; i++) {
            const fxs_segment *s = &g->segments[i];
            bool only = g->down_start[s->up + 1] - g->down_start[s->up] == 1 &&
                        g->up_start[s->down + 1] - g->up_start[s->down] == 1;
            if ((spine ? s->spine : only) && next[s->up] == FXS_NO_SEGMENT && !entered[s->down]) {
                next[s->up] = s->down;
                entered[s->down] = true;
            }
        }
    for (int pass = 0; pass < STRAIGHT_PASSES; pass++)
        for (size_t i = 0; i < g->nvertices; i++)
            if (!entered[i])
                straighten_path(g, i, next);
    return true;
}

/* ---- y and ports
 * -------------------------------------------------------------------------------------------- */

static double widest_run(const fxs_layers *g, int r) {
    double widest = 0;
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
        for (size_t k = g->down_start[g->order[i]]; k < g->down_start[g->order[i] + 1]; k++) {
            const fxs_segment *s = &g->segments[g->downs[k]];
            widest = fmax(widest, fabs(s->up_x - s->down_x));
        }
    return widest;
}

static void place_y(fxs_layers *g) {
    double y = 0;
    for (int r = 0; r < g->nranks; r++) {
        double h = 0;
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            h = fmax(h, g->vertices[g->order[i]].h);
        g->top[r] = y;
        g->bottom[r] = y + h;
        y += h + round(fmin(MIN_GAP + widest_run(g, r) * 0.08, MAX_GAP));
    }
}

typedef struct port {
    double x; /* of the other end */
    size_t segment;
} port;

static int by_x(const void *a, const void *b) {
    const port *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->segment < q->segment ? -1 : p->segment > q->segment;
}

/* Segments share one side of a vertex, in the order of their other ends, so that they do not cross
 * there. */
static void set_ports(fxs_layers *g, size_t vertex, bool below, port *work) {
    const size_t *start = below ? g->down_start : g->up_start, *list = below ? g->downs : g->ups;
    const fxs_vertex *v = &g->vertices[vertex];
    size_t n = start[vertex + 1] - start[vertex];
    for (size_t i = 0; i < n; i++) {
        const fxs_segment *s = &g->segments[list[start[vertex] + i]];
        work[i] = (port){g->vertices[below ? s->down : s->up].x, list[start[vertex] + i]};
    }
    if (n > 1)
        qsort(work, n, sizeof *work, by_x);
    double step = n > 1 ? fmin(PORT_DISTANCE, v->w * 0.8 / (double)(n - 1)) : 0;
    for (size_t i = 0; i < n; i++) {
        double x = v->x + ((double)i - (double)(n - 1) / 2) * step;
        if (below)
            g->segments[work[i].segment].up_x = x;
        else
            g->segments[work[i].segment].down_x = x;
    }
}

bool fxs_layers_place(fxs_layers *g) {
    g->top = FXS_NEW_N(&g->arena, double, g->nranks);
    g->bottom = FXS_NEW_N(&g->arena, double, g->nranks);
    port *work = FXS_NEW_N(&g->arena, port, g->nsegments);
    if (!g->top || !g->bottom || !work || !place_x(g) || !straighten(g))
        return false;
    for (size_t i = 0; i < g->view->nnodes; i++) /* boxes begin at whole points */
        g->vertices[i].x = round(g->vertices[i].x - g->vertices[i].w / 2) + g->vertices[i].w / 2;
    for (size_t i = 0; i < g->nvertices; i++) {
        set_ports(g, i, false, work);
        set_ports(g, i, true, work);
    }
    place_y(g);
    return true;
}
