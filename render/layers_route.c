/* layers_route.c: y of ranks, places where wires arrive, lanes, and curves: straight down through a
 * rank, a curve between two, so that no curve passes a box. Called by layout_layered.c. */
#include <math.h>
#include <stdlib.h>

#include "layers.h"

enum {
    MIN_GAP = 30, /* between ranks */
    MAX_GAP = 90,
    LABEL_GAP = 14, /* above and below labels of edges */
    PORT_DISTANCE = 12,
    CORNER = 8, /* ports stay clear of corners */
    LANE_DISTANCE = 10
};
/* Steps to the side that nobody would see are not made. */
#define SLACK 0.75
/* Control points of a quarter of a circle. */
#define ROUND 0.55

/* ---- ports
 * ---------------------------------------------------------------------------------------------- */

/* Where a link arrives at a node or leaves it. */
typedef struct port {
    double x, at; /* of the other end and of the port, from the box's middle */
    size_t link, slot;
} port;

static int by_x(const void *a, const void *b) {
    const port *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->slot < q->slot ? -1 : p->slot > q->slot;
}

/* Straight down where that meets the box, else as near to the other end as the box reaches. */
static double wish(const fxs_vertex *v, double x) {
    return fabs(x) <= v->left - CORNER / 2.0 ? x : copysign(fmax(v->left - CORNER, 0), x);
}

/* What goes straight through, of several the middle one; n: nothing, or an even number and nothing
 * else. */
static size_t find_anchor(const port *a, size_t n) {
    size_t first = 0, count = 0;
    while (first < n && fabs(a[first].x) >= 0.5)
        first++;
    while (first + count < n && fabs(a[first + count].x) < 0.5)
        count++;
    return count == 0 || (count == n && n % 2 == 0) ? n : first + (count - 1) / 2;
}

/* As near to what they wish as distances and the box allow: what goes straight through stays
 * straight, else half way between pushed to the right and pushed to the left. */
static void spread(port *a, size_t n, double step) {
    size_t anchor = find_anchor(a, n);
    if (anchor < n) {
        a[anchor].at = a[anchor].x;
        for (size_t i = anchor + 1; i < n; i++)
            a[i].at = fmax(a[i].at, a[i - 1].at + step);
        for (size_t i = anchor; i-- > 0;)
            a[i].at = fmin(a[i].at, a[i + 1].at - step);
        return;
    }
    double right = -INFINITY, left = INFINITY;
    for (size_t i = 0; i < n; i++) {
        right = fmax(a[i].at, right + step);
        a[i].x = right; /* no longer needed */
    }
    for (size_t i = n; i-- > 0;) {
        left = fmin(a[i].at, left - step);
        a[i].at = (left + a[i].x) / 2;
    }
}

/* Nothing is further left or right than that: what is pushes its neighbours back. */
static void fit(port *a, size_t n, double step, double left, double right) {
    for (size_t i = 0; i < n && a[i].at < left; i++, left += step)
        a[i].at = left;
    for (size_t i = n; i-- > 0 && a[i].at > right; right -= step)
        a[i].at = right;
}

static void set_ports(fxs_layers *g, size_t vertex, bool above, port *a) {
    const fxs_vertex *v = &g->vertices[vertex];
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    size_t n = 0;
    double room = fmax(v->left - CORNER / 2.0, 1), right = room;
    for (size_t i = start[vertex]; i < start[vertex + 1]; i++) {
        fxs_link *l = &g->links[list[i]];
        if (!above && l->row > 0) {
            l->up_off = fxs_row_way_out(g, l);
            if (g->view->lr) /* what carries all leaves above the rows */
                right = fmax(fmin(right, l->up_off - CORNER), 1 - room);
            continue;
        }
        const fxs_vertex *end = &g->vertices[above ? l->up : l->down];
        double x = end->x + (above ? l->up_off : l->down_off) - v->x;
        a[n++] = (port){x, wish(v, x), list[i], i};
    }
    if (n == 0)
        return;
    qsort(a, n, sizeof *a, by_x);
    double step = n > 1 ? fmin(PORT_DISTANCE, (room + right) / (double)(n - 1)) : 0;
    spread(a, n, step);
    fit(a, n, step, -room, right);
    for (size_t i = 0; i < n; i++)
        *(above ? &g->links[a[i].link].down_off : &g->links[a[i].link].up_off) = a[i].at;
}

/* A bus leaves from the middle, and so does what stands in its line. */
static bool has_trunk(const fxs_layers *g, size_t vertex) {
    bool any = false;
    for (size_t i = g->down_start[vertex]; i < g->down_start[vertex + 1]; i++)
        any |= g->links[g->downs[i]].trunk;
    return any;
}

/* What leaves looks for where it goes, then what arrives for where it comes from. */
static bool set_all_ports(fxs_layers *g) {
    port *work = FXS_NEW_N(g->arena, port, g->nlinks);
    if (!work)
        return false;
    for (int above = 0; above < 2; above++)
        for (size_t i = 0; i < g->nitems; i++)
            if (g->vertices[i].kind == FXS_VERTEX_NODE && (above || !has_trunk(g, i)))
                set_ports(g, i, above, work);
    return true;
}

/* ---- y
 * ----------------------------------------------------------------------------------------------------
 */

static double widest_run(const fxs_layers *g, int r) {
    double widest = 0;
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
        for (size_t k = g->down_start[g->order[i]]; k < g->down_start[g->order[i] + 1]; k++) {
            const fxs_link *l = &g->links[g->downs[k]];
            widest = fmax(widest, fabs(g->vertices[l->up].x + l->up_off - g->vertices[l->down].x -
                                       l->down_off));
        }
    return widest;
}

/* Whether there are labels and nothing higher in the rank. */
static bool has_labels_only(const fxs_layers *g, int r) {
    bool any = false;
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++) {
        any |= g->vertices[g->order[i]].kind == FXS_VERTEX_LABEL;
        if (g->vertices[g->order[i]].kind < FXS_VERTEX_JUNCTION)
            return false;
    }
    return any;
}

/* Whether the rank below is that of the ports in the lower side of a frame. */
static bool is_way_out(const fxs_layers *g, int r) {
    return r + 2 == g->nranks && g->vertices[g->order[g->start[r]]].kind != FXS_VERTEX_IN &&
           !has_labels_only(g, r) && g->vertices[g->order[g->start[r + 1]]].kind == FXS_VERTEX_OUT;
}

static bool place_y(fxs_layers *g) {
    g->top = FXS_NEW_N(g->arena, double, g->nranks);
    g->bottom = FXS_NEW_N(g->arena, double, g->nranks);
    if (!g->top || !g->bottom)
        return false;
    double y = 0;
    for (int r = 0; r < g->nranks; r++) {
        double h = 0;
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            h = fmax(h, g->vertices[g->order[i]].h);
        g->top[r] = y;
        g->bottom[r] = g->height = y + h;
        bool near = has_labels_only(g, r) || (r + 1 < g->nranks && has_labels_only(g, r + 1));
        double run = widest_run(g, r), least = near ? LABEL_GAP : MIN_GAP;
        if (run <= SLACK && is_way_out(g, r))
            least -=
                g->head; /* a frame has as much room below as it has above, but for the label */
        y += h + round(fmin(least + run * 0.08, MAX_GAP));
    }
    return true;
}

double fxs_vertex_top(const fxs_layers *g, const fxs_vertex *v) {
    return g->top[v->rank] + floor((g->bottom[v->rank] - g->top[v->rank] - v->h) / 2);
}

/* ---- lanes
 * ---------------------------------------------------------------------------------------------- */

typedef struct lane {
    int from, to; /* ranks */
    size_t value; /* vertex */
} lane;

static int by_start(const void *a, const void *b) {
    const lane *p = a, *q = b;
    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return p->value < q->value ? -1 : p->value > q->value;
}

/* One lane for each value, in the first column that is free again. */
static size_t assign_columns(const lane *lanes, size_t n, size_t *column, int *busy) {
    size_t columns = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = 0;
        while (c < columns && busy[c] >= lanes[i].from)
            c++;
        columns = c == columns ? columns + 1 : columns;
        busy[c] = lanes[i].to;
        column[lanes[i].value] = c;
    }
    return columns;
}

static bool place_lanes(fxs_layers *g) {
    size_t n = 0;
    lane *lanes = FXS_NEW_N(g->arena, lane, g->nvertices);
    size_t *column = FXS_NEW_N(g->arena, size_t, g->nvertices);
    int *busy = FXS_NEW_N(g->arena, int, g->nvertices);
    if (!lanes || !column || !busy)
        return false;
    for (size_t i = 0; i < g->nstrands; i++)
        if (g->strands[i].count == 0) {
            const fxs_strand *s = &g->strands[i];
            lane *l = &lanes[s->from];
            int to = g->vertices[s->to].rank;
            *l = (lane){g->vertices[s->from].rank, to > l->to ? to : l->to, s->from};
        }
    for (size_t i = 0; i < g->nitems; i++)
        if (lanes[i].to)
            lanes[n++] = lanes[i];
    qsort(lanes, n, sizeof *lanes, by_start);
    size_t columns = assign_columns(lanes, n, column, busy);
    double right = g->right;
    for (size_t i = 0; i < g->nstrands; i++)
        if (g->strands[i].count == 0)
            g->strands[i].lane = right + LANE_DISTANCE * (2 + (double)column[g->strands[i].from]);
    g->right += columns ? LANE_DISTANCE * (2 + (double)columns) : 0;
    return true;
}

/* ---- what is straight
 * --------------------------------------------------------------------------------------- */

static bool is_line(const fxs_layers *g, const fxs_strand *s) {
    for (size_t i = s->first; i < s->first + s->count; i++) {
        const fxs_link *l = &g->links[i];
        if (g->vertices[l->up].x + l->up_off != g->vertices[l->down].x + l->down_off ||
            g->vertices[l->down].kind == FXS_VERTEX_LABEL)
            return false;
    }
    return s->trunk;
}

static void find_lines(fxs_layers *g) {
    for (size_t i = g->nstrands; i-- > 0;) {
        fxs_strand *s = &g->strands[i];
        s->straight = FXS_NO_INDEX;
        if (!is_line(g, s))
            continue;
        bool goes_on = i + 1 < g->nstrands && s[1].from == s->to && s[1].straight != FXS_NO_INDEX;
        s->straight = goes_on ? s[1].straight : i;
    }
}

fxs_status fxs_layers_finish(fxs_layers *g) {
    g->left = INFINITY;
    g->right = -INFINITY;
    for (size_t i = 0; i < g->nvertices; i++) {
        g->left = fmin(g->left, g->vertices[i].x - g->vertices[i].left);
        g->right = fmax(g->right, g->vertices[i].x + g->vertices[i].right);
    }
    if (!set_all_ports(g) || !place_y(g) || !place_lanes(g))
        return FXS_ENOMEM;
    find_lines(g);
    return FXS_OK;
}

/* ---- curves
 * ------------------------------------------------------------------------------------------------
 */

static void add_point(fxs_path *p, double x, double y) {
    if (p->n == p->room) {
        size_t room = 2 * p->room + 16;
        fxs_point *more = fxs_realloc(p->points, room, sizeof *more);
        if (!more) {
            p->failed = true;
            return;
        }
        p->points = more;
        p->room = room;
    }
    p->points[p->n++] = (fxs_point){x, y};
}

static void curve_to(fxs_path *p, double x, double y) {
    if (p->failed)
        return;
    fxs_point from = p->points[p->n - 1];
    add_point(p, from.x, (from.y + y) / 2);
    add_point(p, x, (from.y + y) / 2);
    add_point(p, x, y);
}

/* Straight down; goes on the line that ended here, if there was one. */
static void line_to(fxs_path *p, double y) {
    if (p->failed)
        return;
    fxs_point *end = &p->points[p->n - 1], from = *end;
    if (fabs(from.y - y) < 0.01)
        return;
    if (p->n > 3 && end[-1].x == from.x && end[-2].x == from.x && end[-3].x == from.x) {
        p->n -= 3;
        from = p->points[p->n - 1];
    }
    add_point(p, from.x, from.y + (y - from.y) / 3);
    add_point(p, from.x, from.y + (y - from.y) * 2 / 3);
    add_point(p, from.x, y);
}

static void go(fxs_path *p, double x, double y) {
    if (p->failed || fabs(p->points[p->n - 1].x - x) <= SLACK)
        line_to(p, y);
    else
        curve_to(p, x, y);
}

/* Out of the row of a table to its side, where the way goes down. */
static void leave_row(const fxs_layers *g, const fxs_link *l, double dx, double dy, fxs_path *p) {
    const fxs_vertex *v = &g->vertices[l->up];
    double top = dy + fxs_vertex_top(g, v), y = top + l->row, x = dx + v->x + l->up_off,
           side = round(dx + v->x - v->left) + (l->side > 0 ? v->left + v->right : 0),
           down = fmin(y + fabs(x - side), top + v->h);
    add_point(p, side, y);
    add_point(p, side + (x - side) * ROUND, y);
    add_point(p, x, down - (down - y) * ROUND);
    add_point(p, x, down);
}

/* From the lower side of a vertex to the lower end of its rank. */
static void leave(const fxs_layers *g, const fxs_vertex *v, double off, double dx, double dy,
                  fxs_path *p) {
    if (p->n == 0)
        add_point(p, dx + v->x + off, dy + fxs_vertex_top(g, v) + v->h);
    line_to(p, dy + g->bottom[v->rank]);
}

/* The upper side of a vertex, which is where the arrow of a node begins. */
static void arrive(const fxs_layers *g, const fxs_vertex *v, double x, double dy, fxs_path *p) {
    double top = dy + fxs_vertex_top(g, v), end = top;
    if (v->kind == FXS_VERTEX_NODE)
        end -= FXS_ARROW_LENGTH;
    go(p, x, fmin(dy + g->top[v->rank], end));
    line_to(p, v->kind >= FXS_VERTEX_JUNCTION ? dy + g->bottom[v->rank] : end);
    if (!p->failed)
        p->tip = (fxs_point){p->points[p->n - 1].x, top};
}

static void place_label(const fxs_layers *g, const fxs_vertex *v, double dx, double dy,
                        fxs_path *p) {
    const fxs_face *face = &fxs_faces[FXS_INK_KEY];
    double top = dy + fxs_vertex_top(g, v);
    p->label = g->view->lr ? (fxs_point){dx + v->x - 4, top + FXS_PAD_X}
                           : (fxs_point){dx + v->x + 4, top + face->baseline};
}

static void follow_links(const fxs_layers *g, const fxs_strand *s, double dx, double dy,
                         fxs_path *p) {
    if (g->links[s->first].side)
        leave_row(g, &g->links[s->first], dx, dy, p);
    leave(g, &g->vertices[s->from], g->links[s->first].up_off, dx, dy, p);
    for (size_t i = s->first; i < s->first + s->count; i++) {
        const fxs_link *l = &g->links[i];
        const fxs_vertex *v = &g->vertices[l->down];
        arrive(g, v, dx + v->x + l->down_off, dy, p);
        if (v->kind == FXS_VERTEX_LABEL) {
            place_label(g, v, dx, dy, p);
            p->labelled = s->edge;
        }
    }
}

static void follow_lane(const fxs_layers *g, const fxs_strand *s, double dx, double dy,
                        fxs_path *p) {
    const fxs_vertex *from = &g->vertices[s->from], *to = &g->vertices[s->to];
    leave(g, from, fmax(from->right - CORNER, 0), dx, dy, p);
    go(p, dx + s->lane, dy + g->top[from->rank + 1]);
    line_to(p, dy + g->bottom[to->rank - 1]);
    arrive(g, to, dx + to->x + fmax(to->right - CORNER, 0), dy, p);
}

void fxs_layers_follow(const fxs_layers *g, const fxs_wire *w, double dx, double dy, fxs_path *p) {
    for (int part = 0; part < 3; part++)
        for (size_t i = w->part[part].first, end = i + w->part[part].count; i < end; i++) {
            const fxs_strand *s = &g->strands[i];
            if (s->count == 0)
                follow_lane(g, s, dx, dy, p);
            else if (s->straight == FXS_NO_INDEX)
                follow_links(g, s, dx, dy, p);
            else {
                i = s->straight < end ? s->straight : end - 1;
                line_to(p, dy + g->bottom[g->vertices[g->strands[i].to].rank]);
            }
        }
}
