/* scene.c: see scene.h. Called by layout.c. */
#include "scene.h"

#include <math.h>

#include "legend.h"

enum { MARGIN = 12, TITLE_GAP = 10, LEAST_LEGEND = 420 };

fxs_status fxs_scene_new(const fxs_view *v, fxs_scene *s) {
    *s = (fxs_scene){.view = v};
    s->boxes = FXS_NEW_N(&s->arena, fxs_box, v->nnodes);
    s->curves = FXS_NEW_N(&s->arena, fxs_curve, v->nedges);
    s->frames = FXS_NEW_N(&s->arena, fxs_area, v->nclusters);
    s->swatches = FXS_NEW_N(&s->arena, fxs_area, v->legend.n);
    s->swatch_texts = FXS_NEW_N(&s->arena, fxs_point, v->legend.n);
    return s->boxes && s->curves && s->frames && s->swatches && s->swatch_texts ? FXS_OK
                                                                                : FXS_ENOMEM;
}

void fxs_scene_free(fxs_scene *s) { fxs_arena_clear(&s->arena); }

fxs_area fxs_area_none(void) { return (fxs_area){{INFINITY, INFINITY}, {-INFINITY, -INFINITY}}; }

void fxs_area_reach(fxs_area *a, double x, double y) {
    a->low.x = fmin(a->low.x, x);
    a->low.y = fmin(a->low.y, y);
    a->high.x = fmax(a->high.x, x);
    a->high.y = fmax(a->high.y, y);
}

fxs_area fxs_area_grown(fxs_area a, double by) {
    return (fxs_area){{a.low.x - by, a.low.y - by}, {a.high.x + by, a.high.y + by}};
}

bool fxs_area_touches(const fxs_area *a, const fxs_area *b) {
    return a->low.x <= b->high.x && a->high.x >= b->low.x && a->low.y <= b->high.y &&
           a->high.y >= b->low.y;
}

static fxs_area measure(const fxs_scene *s) {
    fxs_area e = fxs_area_none();
    for (size_t i = 0; i < s->view->nnodes; i++) {
        const fxs_label *l = &s->view->nodes[i].label;
        fxs_area_reach(&e, s->boxes[i].x, s->boxes[i].y);
        fxs_area_reach(&e, s->boxes[i].x + l->w, s->boxes[i].y + l->h);
    }
    for (size_t i = 0; i < s->view->nclusters; i++)
        if (fxs_frame_shown(&s->frames[i])) {
            fxs_area_reach(&e, s->frames[i].low.x, s->frames[i].low.y);
            fxs_area_reach(&e, s->frames[i].high.x, s->frames[i].high.y);
        }
    for (size_t i = 0; i < s->view->nedges; i++) {
        const fxs_curve *c = &s->curves[i];
        const fxs_line *label = &s->view->edges[i].label;
        for (size_t k = 0; k < c->n; k++)
            fxs_area_reach(&e, c->points[k].x, c->points[k].y);
        if (c->n)
            fxs_area_reach(&e, c->tip.x, c->tip.y);
        if (fxs_label_shown(s, i)) {
            fxs_area_reach(&e, c->label.x, c->label.y - fxs_faces[FXS_INK_KEY].line);
            fxs_area_reach(&e, c->label.x + label->width, c->label.y);
        }
    }
    if (e.low.x > e.high.x) /* an empty graph */
        e = (fxs_area){{0, 0}, {0, 0}};
    return e;
}

static void shift_point(fxs_point *p, double dx, double dy) {
    p->x += dx;
    p->y += dy;
}

static void shift_curve(fxs_curve *c, double dx, double dy) {
    fxs_area area = fxs_area_none();
    shift_point(&c->tip, dx, dy);
    shift_point(&c->label, dx, dy);
    fxs_area_reach(&area, c->tip.x, c->tip.y);
    for (size_t k = 0; k < c->n; k++) {
        shift_point(&c->points[k], dx, dy);
        fxs_area_reach(&area, c->points[k].x, c->points[k].y);
    }
    c->area = fxs_area_grown(area, FXS_ARROW_LENGTH);
}

void fxs_scene_finish(fxs_scene *s) {
    const fxs_line *title = &s->view->title;
    fxs_area e = measure(s);
    double heading = title->len ? fxs_faces[FXS_INK_TITLE].line + TITLE_GAP : 0;
    double w = fmax(e.high.x - e.low.x, title->len ? ceil(title->width) : 0);
    fxs_point legend = fxs_legend_place(s, fmax(w, LEAST_LEGEND));
    double above = MARGIN + heading;
    w = fmax(w, legend.x);
    heading += legend.y > 0 ? legend.y + TITLE_GAP : 0;
    s->w = ceil(w + 2 * MARGIN);
    s->h = ceil(e.high.y - e.low.y + 2 * MARGIN + heading);
    /* Boxes come at whole points from the engines; the shift keeps them there. */
    double dx = round((s->w - (e.high.x - e.low.x)) / 2 - e.low.x),
           dy = ceil(MARGIN + heading - e.low.y);
    s->title = (fxs_point){(s->w - title->width) / 2, MARGIN + fxs_faces[FXS_INK_TITLE].baseline};
    s->h = fmax(s->h, ceil(e.high.y + dy + MARGIN));
    fxs_legend_shift(s, round((s->w - legend.x) / 2), above);
    for (size_t i = 0; i < s->view->nnodes; i++) {
        s->boxes[i].x += dx;
        s->boxes[i].y += dy;
    }
    for (size_t i = 0; i < s->view->nclusters; i++)
        if (fxs_frame_shown(&s->frames[i])) {
            shift_point(&s->frames[i].low, dx, dy);
            shift_point(&s->frames[i].high, dx, dy);
        }
    for (size_t i = 0; i < s->view->nedges; i++)
        shift_curve(&s->curves[i], dx, dy);
}

bool fxs_label_shown(const fxs_scene *s, size_t edge) {
    return s->curves[edge].n && s->view->edges[edge].label.len && !isnan(s->curves[edge].label.x);
}

bool fxs_frame_shown(const fxs_area *frame) { return frame->low.x < frame->high.x; }

fxs_point fxs_frame_label(const fxs_area *frame) {
    const fxs_face *face = &fxs_faces[FXS_INK_KEY];
    double above = (FXS_FRAME_HEAD - face->line) / 2;
    return (fxs_point){frame->low.x + FXS_PAD_X, frame->low.y + above + face->baseline};
}

double fxs_grid(double x, double scale) { return (floor(x * scale) + 0.5) / scale; }

void fxs_curve_arrow(const fxs_curve *c, fxs_point corner[3]) {
    fxs_point end = c->points[c->n - 1];
    double dx = c->tip.x - end.x, dy = c->tip.y - end.y, length = hypot(dx, dy);
    double half = 0.36 * FXS_ARROW_LENGTH / (length > 0.01 ? length : 1);
    corner[0] = c->tip;
    corner[1] = (fxs_point){end.x - dy * half, end.y + dx * half};
    corner[2] = (fxs_point){end.x + dy * half, end.y - dx * half};
}
