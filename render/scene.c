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

/* Where everything is, for those who look at a part of the picture. */
static fxs_status note_areas(fxs_scene *s) {
    const fxs_view *v = s->view;
    if (!fxs_areas_open(&s->node_areas, v->nnodes, &s->arena) ||
        !fxs_areas_open(&s->edge_areas, v->nedges, &s->arena) ||
        !fxs_areas_open(&s->frame_areas, v->nclusters, &s->arena))
        return FXS_ENOMEM;
    for (size_t i = 0; i < v->nnodes; i++)
        s->node_areas.level[0][i] = fxs_scene_box(s, i);
    for (size_t i = 0; i < v->nedges; i++) {
        fxs_area *a = &s->edge_areas.level[0][i];
        *a = s->curves[i].n ? s->curves[i].area : fxs_area_none();
        if (fxs_label_shown(s, i)) {
            fxs_area label = fxs_scene_label(s, i);
            fxs_area_join(a, &label);
        }
    }
    for (size_t i = 0; i < v->nclusters; i++)
        s->frame_areas.level[0][i] =
            i && fxs_frame_shown(&s->frames[i]) ? s->frames[i] : fxs_area_none();
    fxs_areas_close(&s->node_areas);
    fxs_areas_close(&s->edge_areas);
    fxs_areas_close(&s->frame_areas);
    return FXS_OK;
}

/* Title and legend, centred in `width` points from the picture's left end on. */
static void place_heading(fxs_scene *s, double width, fxs_point legend) {
    const fxs_line *title = &s->view->title;
    double top = MARGIN, bottom = MARGIN, widest = fmax(legend.x, title->len ? title->width : 0);
    s->title = (fxs_point){(width - title->width) / 2, MARGIN + fxs_faces[FXS_INK_TITLE].baseline};
    if (title->len)
        bottom += fxs_faces[FXS_INK_TITLE].line;
    double below = bottom + (title->len ? TITLE_GAP : 0);
    if (legend.y > 0) {
        fxs_legend_shift(s, round((width - legend.x) / 2), below);
        bottom = below + legend.y;
    }
    double left = floor((width - widest) / 2);
    if (bottom > top)
        s->heading = (fxs_area){{left, top}, {left + ceil(widest) + 1, bottom}};
}

fxs_status fxs_scene_finish(fxs_scene *s) {
    const fxs_view *v = s->view;
    const fxs_line *title = &v->title;
    fxs_area e = measure(s);
    double heading = title->len ? fxs_faces[FXS_INK_TITLE].line + TITLE_GAP : 0;
    double w = fmax(e.high.x - e.low.x, title->len ? ceil(title->width) : 0),
           room = fmax(w, LEAST_LEGEND), most = v->heading_room > 0 ? v->heading_room : INFINITY;
    fxs_point legend = fxs_legend_place(s, fmin(room, most));
    w = fmax(w, legend.x);
    heading += legend.y > 0 ? legend.y + TITLE_GAP : 0;
    s->w = ceil(w + 2 * MARGIN);
    s->h = ceil(e.high.y - e.low.y + 2 * MARGIN + heading);
    /* Boxes come at whole points from the engines; the shift keeps them there. */
    double dx = round((s->w - (e.high.x - e.low.x)) / 2 - e.low.x),
           dy = ceil(MARGIN + heading - e.low.y);
    s->h = fmax(s->h, ceil(e.high.y + dy + MARGIN));
    /* A picture that goes on to the right over many pages has it where it begins. */
    place_heading(s, v->lr ? fmin(s->w, most + 2 * MARGIN) : s->w, legend);
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
    return note_areas(s);
}

bool fxs_scene_other(const fxs_scene *s, size_t i, fxs_area *out) {
    *out = fxs_area_none();
    if (i == 0) {
        if (fxs_frame_shown(&s->heading))
            *out = s->heading;
        return true;
    }
    i--;
    if (i < s->nbars) {
        *out = s->bars[i];
        return true;
    }
    i -= s->nbars;
    if (i >= s->nnotes)
        return false;
    const fxs_note *n = &s->notes[i];
    *out =
        (fxs_area){{n->at.x, n->at.y - fxs_faces[n->ink].line}, {n->at.x + n->line.width, n->at.y}};
    return true;
}

fxs_area fxs_scene_box(const fxs_scene *s, size_t node) {
    const fxs_label *l = &s->view->nodes[node].label;
    const fxs_box *b = &s->boxes[node];
    return (fxs_area){{b->x, b->y}, {b->x + l->w, b->y + l->h}};
}

fxs_area fxs_scene_label(const fxs_scene *s, size_t edge) {
    const fxs_face *face = &fxs_faces[FXS_INK_KEY];
    fxs_point at = s->curves[edge].label;
    return (fxs_area){
        {at.x, at.y - face->baseline},
        {at.x + s->view->edges[edge].label.width, at.y - face->baseline + face->line}};
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
