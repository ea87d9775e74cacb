/* layers_place.c: coordinates for the engine "simple", and its curves. Each rank is placed as close to its neighbours
 * as the order and the distances allow (weighted isotonic regression), over and over in both directions. Called by
 * layout_simple.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"

enum { ROUNDS = 16, DISTANCE = 20, BEND_DISTANCE = 10, MIN_GAP = 30, MAX_GAP = 90, PORT_DISTANCE = 10 };

/* A run of vertices that stand as close as they may. */
typedef struct block {
    double target, weight; /* of its first vertex */
    size_t n;
} block;

/* ---- x ----------------------------------------------------------------------------------------------------- */

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

/* Ranks of one vertex are where everything passes: they stand in one line, which keeps long nets from drifting. */
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

/* ---- y and ports -------------------------------------------------------------------------------------------- */

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

/* Segments share one side of a vertex, in the order of their other ends, so that they do not cross there. */
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
    if (!g->top || !g->bottom || !work || !place_x(g))
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

/* ---- curves -------------------------------------------------------------------------------------------------- */

static double box_top(const fxs_layers *g, const fxs_vertex *v) {
    return g->top[v->rank] + floor((g->bottom[v->rank] - g->top[v->rank] - v->h) / 2);
}

static void curve_to(fxs_curve *c, fxs_point to) {
    fxs_point from = c->points[c->n - 1];
    double mid = (from.y + to.y) / 2;
    c->points[c->n++] = (fxs_point){from.x, mid};
    c->points[c->n++] = (fxs_point){to.x, mid};
    c->points[c->n++] = to;
}

/* Straight down; goes on the line that ended here, if there was one. */
static void line_to(fxs_curve *c, double y) {
    fxs_point *end = &c->points[c->n - 1], from = *end;
    if (fabs(from.y - y) < 0.01)
        return;
    if (c->n > 3 && end[-1].x == from.x && end[-2].x == from.x && end[-3].x == from.x) {
        c->n -= 3;
        from = c->points[c->n - 1];
    }
    c->points[c->n++] = (fxs_point){from.x, from.y + (y - from.y) / 3};
    c->points[c->n++] = (fxs_point){from.x, from.y + (y - from.y) * 2 / 3};
    c->points[c->n++] = (fxs_point){from.x, y};
}

static void go(fxs_curve *c, double x, double y) {
    if (fabs(c->points[c->n - 1].x - x) < 0.01)
        line_to(c, y);
    else
        curve_to(c, (fxs_point){x, y});
}

static bool route_edge(fxs_layers *g, size_t edge, fxs_scene *s) {
    fxs_curve *c = &s->curves[edge];
    const fxs_segment *piece = &g->segments[g->first[edge]];
    size_t n = g->count[edge];
    c->points = FXS_NEW_N(&s->arena, fxs_point, 4 + 6 * n);
    if (!c->points)
        return false;
    const fxs_vertex *up = &g->vertices[piece->up];
    c->points[c->n++] = (fxs_point){piece->up_x, box_top(g, up) + up->h};
    line_to(c, g->bottom[up->rank]);
    for (size_t i = 0; i + 1 < n; i++) {
        const fxs_vertex *bend = &g->vertices[piece[i].down];
        go(c, bend->x, g->top[bend->rank]);
        line_to(c, g->bottom[bend->rank]);
    }
    const fxs_vertex *down = &g->vertices[piece[n - 1].down];
    double top = box_top(g, down);
    go(c, piece[n - 1].down_x, fmin(g->top[down->rank], top - FXS_ARROW_LENGTH));
    line_to(c, top - FXS_ARROW_LENGTH);
    c->tip = (fxs_point){piece[n - 1].down_x, top};
    return true;
}

/* Edges without pieces: against the order (only in graphs that lint refuses), or too long for bends. */
static bool route_direct(fxs_layers *g, size_t edge, fxs_scene *s) {
    const fxs_view_edge *e = &g->view->edges[edge];
    const fxs_vertex *from = &g->vertices[e->from], *to = &g->vertices[e->to];
    fxs_curve *c = &s->curves[edge];
    c->points = FXS_NEW_N(&s->arena, fxs_point, 4);
    if (!c->points)
        return false;
    c->n = 4;
    if (e->from < e->to) {
        c->tip = (fxs_point){to->x, box_top(g, to)};
        c->points[0] = (fxs_point){from->x, box_top(g, from) + from->h};
        c->points[3] = (fxs_point){to->x, c->tip.y - FXS_ARROW_LENGTH};
        c->points[1] = (fxs_point){from->x, c->points[0].y + MIN_GAP};
        c->points[2] = (fxs_point){to->x, c->tip.y - MIN_GAP};
        return true;
    }
    double out = fmax(from->x + from->w / 2, to->x + to->w / 2) + 2 * DISTANCE;
    c->tip = (fxs_point){to->x + to->w / 2, box_top(g, to) + to->h / 3};
    c->points[0] = (fxs_point){from->x + from->w / 2, box_top(g, from) + from->h * 2 / 3};
    c->points[3] = (fxs_point){c->tip.x + FXS_ARROW_LENGTH, c->tip.y};
    c->points[1] = (fxs_point){out, c->points[0].y};
    c->points[2] = (fxs_point){out, c->tip.y};
    return true;
}

static void turn(fxs_point *p) { *p = (fxs_point){p->y, p->x}; }

/* Top to bottom becomes left to right. */
static void turn_scene(fxs_scene *s) {
    for (size_t i = 0; i < s->view->nnodes; i++)
        s->boxes[i] = (fxs_box){s->boxes[i].y, s->boxes[i].x};
    for (size_t i = 0; i < s->view->nedges; i++) {
        for (size_t k = 0; k < s->curves[i].n; k++)
            turn(&s->curves[i].points[k]);
        turn(&s->curves[i].tip);
    }
}

bool fxs_layers_route(fxs_layers *g, fxs_scene *s) {
    for (size_t i = 0; i < g->view->nnodes; i++) {
        const fxs_vertex *v = &g->vertices[i];
        s->boxes[i] = (fxs_box){v->x - v->w / 2, box_top(g, v)};
    }
    for (size_t i = 0; i < g->view->nedges; i++)
        if (!(g->first[i] == FXS_NO_SEGMENT ? route_direct(g, i, s) : route_edge(g, i, s)))
            return false;
    if (g->view->lr)
        turn_scene(s);
    return true;
}
