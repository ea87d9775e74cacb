/* layers_route.c: boxes and curves of the engine "simple" from the places of vertices: straight
 * down through a rank, a curve between two. Called by layout_simple.c. */
#include <math.h>

#include "layers.h"

enum { LONG_REACH = 30, SIDE_REACH = 40 };
/* Steps to the side that nobody would see are not made: at a bend, and at a box. */
#define BEND_SLACK 2
#define BOX_SLACK 0.75

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

/* `slack` is how far x may be missed. */
static void go(fxs_curve *c, double x, double y, double slack) {
    if (fabs(c->points[c->n - 1].x - x) <= slack)
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
        go(c, bend->x, g->top[bend->rank], BEND_SLACK);
        line_to(c, g->bottom[bend->rank]);
    }
    const fxs_vertex *down = &g->vertices[piece[n - 1].down];
    double top = box_top(g, down);
    go(c, piece[n - 1].down_x, fmin(g->top[down->rank], top - FXS_ARROW_LENGTH), BOX_SLACK);
    line_to(c, top - FXS_ARROW_LENGTH);
    c->tip = (fxs_point){c->points[c->n - 1].x, top};
    return true;
}

/* Edges without pieces: against the order (only in graphs that lint refuses), or too long for
 * bends. */
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
        c->points[1] = (fxs_point){from->x, c->points[0].y + LONG_REACH};
        c->points[2] = (fxs_point){to->x, c->tip.y - LONG_REACH};
        return true;
    }
    double out = fmax(from->x + from->w / 2, to->x + to->w / 2) + SIDE_REACH;
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
