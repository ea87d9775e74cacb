/* layout_layered.c: the engine "layered": ranks, few crossings, straight lines. Levels are laid out
 * from the innermost clusters outwards; a cluster is then one box of the level around. Called
 * through its row in layout.c. */
#include <math.h>
#include <string.h>

#include "layers_levels.h"

enum { COMPONENT_DISTANCE = 40, BACK_REACH = 40 };

/* ---- one level
 * ---------------------------------------------------------------------------------------------- */

static fxs_status arrange(fxs_layers *g, size_t *stuck) {
    fxs_stretch *list;
    size_t n;
    FXS_TRY(fxs_layers_gather(g));
    FXS_TRY(fxs_layers_rank(g, stuck));
    FXS_TRY(fxs_layers_build(g));
    FXS_TRY(fxs_layers_stretches(g, &list, &n));
    FXS_TRY(fxs_layers_order(g, list, n));
    FXS_TRY(fxs_layers_rows(g));
    FXS_TRY(fxs_layers_place(g, list, n));
    return fxs_layers_finish(g);
}

/* Components stand side by side, in rows that are about as wide as the picture is high. */
static void pack(fxs_levels *l, fxs_level *v) {
    double widest = 0, area = 0, x = 0, y = 0, high = 0;
    for (size_t i = 0; i < v->ngraphs; i++) {
        const fxs_layers *g = &l->graphs[v->first_graph + i];
        widest = fmax(widest, g->right - g->left);
        area += (g->right - g->left + COMPONENT_DISTANCE) * (g->height + COMPONENT_DISTANCE);
    }
    widest = fmax(widest, sqrt(area)) + 1;
    for (size_t i = 0; i < v->ngraphs; i++) {
        fxs_layers *g = &l->graphs[v->first_graph + i];
        if (x > 0 && x + g->right - g->left > widest) {
            x = 0;
            y += high + COMPONENT_DISTANCE;
            high = 0;
        }
        g->x = round(x - g->left);
        g->y = y;
        v->left = fmin(v->left, g->x + g->left);
        v->right = fmax(v->right, g->x + g->right);
        x += g->right - g->left + COMPONENT_DISTANCE;
        high = fmax(high, g->height);
        v->height = fmax(v->height, y + g->height);
    }
}

static bool has_ports(const fxs_layers *g, bool out) {
    for (size_t i = 0; i < g->nitems; i++)
        if (g->vertices[i].kind == (out ? FXS_VERTEX_OUT : FXS_VERTEX_IN))
            return true;
    return false;
}

/* Where the level around holds the cluster: at the port of the main path, else at the first one. */
static double find_line(const fxs_layers *g, double middle) {
    double line = NAN;
    for (size_t i = 0; i < g->nwires; i++) {
        const fxs_vertex *from = &g->vertices[g->wires[i].from], *to = &g->vertices[g->wires[i].to];
        const fxs_vertex *port = from->kind == FXS_VERTEX_IN  ? from
                                 : to->kind == FXS_VERTEX_OUT ? to
                                                              : NULL;
        if (port && (isnan(line) || g->wires[i].spine))
            line = port->x;
        if (port && g->wires[i].spine)
            break;
    }
    return isnan(line) ? middle : line;
}

/* How far to the side a curve between two ranks is when it has gone down so far: x over its width,
 * y over its height; see curve_to in layers_route.c. */
static double aside_at(double y) {
    double low = 0, high = 1;
    for (int i = 0; i < 30; i++) {
        double t = (low + high) / 2;
        *(1.5 * t * (1 - t) + t * t * t < y ? &low : &high) = t;
    }
    return low * low * (3 - 2 * low);
}

/* Would what enters at the top and turns to the left run into the label, which ends at x? */
static bool crosses_label(const fxs_layers *g, double x) {
    if (g->nranks < 2 || g->bottom[0] >= FXS_FRAME_HEAD)
        return false;
    double part = aside_at((FXS_FRAME_HEAD - g->bottom[0]) / (g->top[1] - g->bottom[0]));
    for (size_t i = 0; i < g->nstrands; i++) {
        const fxs_strand *s = &g->strands[i];
        const fxs_vertex *from = &g->vertices[s->from];
        if (from->kind != FXS_VERTEX_IN)
            continue;
        double to = s->lane;
        if (s->count) {
            const fxs_link *link = &g->links[s->first];
            to = g->vertices[link->down].x + link->down_off;
        }
        if (to < from->x && from->x + (to - from->x) * part < x)
            return true;
    }
    return false;
}

/* Lines turn only below the label. */
static void lower_ranks(fxs_layers *g) {
    double by = FXS_FRAME_HEAD - g->bottom[0];
    g->bottom[0] += by;
    for (int r = 1; r < g->nranks; r++) {
        g->top[r] += by;
        g->bottom[r] += by;
    }
    g->height += by;
}

/* The frame: padding, and room for the label, which no line crosses. */
static void frame(fxs_levels *l, size_t c) {
    fxs_level *v = &l->levels[c];
    fxs_layers *g = &l->graphs[v->first_graph];
    const fxs_line *label = &l->view->clusters[c].label;
    bool lr = l->view->lr;
    double head = label->len ? FXS_FRAME_HEAD : 0,
           w = label->len ? label->width + 2 * FXS_PAD_X : 0;
    double above = has_ports(g, false) ? 0 : FXS_FRAME_PAD + (lr ? 0 : head);
    double below = has_ports(g, true) ? 0 : FXS_FRAME_PAD;
    g->y = above;
    v->left = floor(g->left) - FXS_FRAME_PAD - (lr ? head : 0);
    v->right = ceil(g->right) + FXS_FRAME_PAD;
    if (!lr) {
        double first = v->right;
        for (size_t i = 0; i < g->nitems; i++)
            if (g->vertices[i].kind == FXS_VERTEX_IN)
                first = fmin(first, g->vertices[i].x - FXS_PAD_X);
        v->left = fmin(v->left, floor(first - w));
        if (label->len && crosses_label(g, v->left + w))
            lower_ranks(g);
    }
    v->height = above + g->height + below;
    if (lr)
        v->height = fmax(v->height, ceil(w));
    for (size_t i = 0; i < g->nitems; i++)
        if (g->vertices[i].kind == FXS_VERTEX_IN || g->vertices[i].kind == FXS_VERTEX_OUT)
            l->ports[g->vertices[i].of].x = g->vertices[i].x;
    v->line = find_line(g, round((v->left + v->right) / 2));
}

static fxs_status arrange_level(fxs_levels *l, size_t c, double deadline, size_t *stuck) {
    fxs_level *v = &l->levels[c];
    if (!v->nitems)
        return FXS_OK;
    FXS_TRY(fxs_levels_graphs(l, c, deadline));
    for (size_t i = 0; i < v->ngraphs; i++) {
        fxs_layers *g = &l->graphs[v->first_graph + i];
        fxs_status s = arrange(g, stuck);
        if (s == FXS_EINVAL)
            *stuck = g->vertices[*stuck].of;
        FXS_TRY(s);
    }
    if (c)
        frame(l, c);
    else
        pack(l, v);
    return FXS_OK;
}

/* ---- the picture
 * -------------------------------------------------------------------------------------------- */

static void place_boxes(fxs_levels *l, fxs_scene *s) {
    for (size_t c = 0; c < l->nlevels; c++) {
        const fxs_level *v = &l->levels[c];
        if (c && v->nitems)
            s->frames[c] = (fxs_area){{v->x + v->left, v->y}, {v->x + v->right, v->y + v->height}};
        for (size_t k = v->first_graph; k < v->first_graph + v->ngraphs; k++) {
            const fxs_layers *g = &l->graphs[k];
            for (size_t i = 0; i < g->nitems; i++) {
                const fxs_vertex *x = &g->vertices[i];
                double left = v->x + g->x + x->x, top = v->y + g->y + fxs_vertex_top(g, x);
                if (x->kind == FXS_VERTEX_NODE)
                    s->boxes[x->of] = (fxs_box){round(left - x->left), top};
                if (x->kind == FXS_VERTEX_CLUSTER) {
                    l->levels[x->of].x = left - l->levels[x->of].line;
                    l->levels[x->of].y = top;
                }
            }
        }
    }
}

/* An edge that closes a cycle goes around, at the side. */
static bool go_back(const fxs_view_edge *e, fxs_scene *s, fxs_curve *c) {
    bool lr = s->view->lr;
    const fxs_label *a = &s->view->nodes[e->from].label, *b = &s->view->nodes[e->to].label;
    fxs_point from = {s->boxes[e->from].x + (lr ? a->h : a->w),
                      s->boxes[e->from].y + (lr ? a->w : a->h) * 2 / 3},
              to = {s->boxes[e->to].x + (lr ? b->h : b->w),
                    s->boxes[e->to].y + (lr ? b->w : b->h) / 3};
    double out = fmax(from.x, to.x) + BACK_REACH;
    c->points = FXS_NEW_N(&s->arena, fxs_point, 4);
    if (!c->points)
        return false;
    c->n = 4;
    c->points[0] = from;
    c->points[1] = (fxs_point){out, from.y};
    c->points[2] = (fxs_point){out, to.y};
    c->points[3] = (fxs_point){to.x + FXS_ARROW_LENGTH, to.y};
    c->tip = to;
    c->label = (fxs_point){NAN, NAN};
    return true;
}

static bool place_curves(const fxs_levels *l, fxs_scene *s) {
    fxs_path p = {0};
    for (size_t e = 0; e < l->view->nedges && !p.failed; e++) {
        fxs_curve *c = &s->curves[e];
        if (l->back[e]) {
            p.failed = !go_back(&l->view->edges[e], s, c);
            continue;
        }
        p.n = 0;
        p.labelled = FXS_NO_INDEX;
        for (size_t i = l->path_start[e]; i < l->path_start[e + 1]; i++) {
            const fxs_level_wire *w = &l->wires[l->path[i]];
            const fxs_layers *g = &l->graphs[w->in_graph];
            const fxs_level *v = &l->levels[w->level];
            fxs_layers_follow(g, &g->wires[w->as], v->x + g->x, v->y + g->y, &p);
        }
        c->points = FXS_NEW_N(&s->arena, fxs_point, p.n);
        p.failed |= !c->points;
        if (p.failed)
            break;
        memcpy(c->points, p.points, p.n * sizeof *c->points);
        c->n = p.n;
        c->tip = p.tip;
        c->label = p.labelled == e ? p.label : (fxs_point){NAN, NAN};
    }
    fxs_free(p.points);
    return !p.failed;
}

static void turn(fxs_point *p) { *p = (fxs_point){p->y, p->x}; }

/* Top to bottom becomes left to right. */
static void turn_scene(fxs_scene *s) {
    for (size_t i = 0; i < s->view->nnodes; i++)
        s->boxes[i] = (fxs_box){s->boxes[i].y, s->boxes[i].x};
    for (size_t i = 0; i < s->view->nclusters; i++) {
        turn(&s->frames[i].low);
        turn(&s->frames[i].high);
    }
    for (size_t i = 0; i < s->view->nedges; i++) {
        for (size_t k = 0; k < s->curves[i].n; k++)
            turn(&s->curves[i].points[k]);
        turn(&s->curves[i].tip);
        turn(&s->curves[i].label);
    }
}

/* Innermost clusters first: they come last. *stuck is a cluster of a cycle after FXS_EINVAL. */
static fxs_status arrange_all(fxs_levels *l, double deadline, size_t *stuck) {
    FXS_TRY(fxs_levels_make(l));
    for (size_t c = l->nlevels; c-- > 0;)
        FXS_TRY(arrange_level(l, c, deadline, stuck));
    return FXS_OK;
}

/* A cluster that values leave and enter again can't be one box: it goes without a frame, and all is
 * done again. */
static fxs_status arrange_without_cycles(fxs_levels *l, double seconds, fxs_buf *why) {
    const fxs_view *v = l->view;
    double deadline = fxs_clock() + seconds;
    bool *shown = fxs_alloc(v->nclusters + 1, sizeof *shown);
    fxs_status status = shown ? FXS_OK : FXS_ENOMEM;
    size_t stuck = 0;
    for (size_t c = 0; c < v->nclusters && shown; c++)
        shown[c] = true;
    l->shown = shown;
    while (status == FXS_OK) {
        status = arrange_all(l, deadline, &stuck);
        if (status != FXS_EINVAL)
            break;
        shown[stuck] = false;
        fxs_arena_clear(&l->arena);
        status = FXS_OK;
    }
    fxs_free(shown);
    if (status == FXS_ELIMIT)
        fxs_buf_printf(why, "took longer than %g s", seconds);
    return status;
}

static fxs_status layout_layered(const fxs_view *v, double seconds, fxs_scene *s, fxs_buf *why) {
    fxs_levels l = {.view = v};
    fxs_status status = arrange_without_cycles(&l, seconds, why);
    if (status == FXS_OK) {
        place_boxes(&l, s);
        status = place_curves(&l, s) ? FXS_OK : FXS_ENOMEM;
    }
    if (status == FXS_OK && v->lr)
        turn_scene(s);
    if (status == FXS_ENOMEM)
        fxs_buf_puts(why, "out of memory");
    fxs_arena_clear(&l.arena);
    return status;
}

const fxs_engine fxs_engine_layered = {.name = "layered", .run = layout_layered};
