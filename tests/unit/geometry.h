/* geometry.h: what can be said of a picture from its places alone: crossings, length and bends of
 * its curves, and whether anything lies where it must not. For tests and for `./dev bench
 * --layout`; knows no engine. */
#ifndef FXS_TESTS_GEOMETRY_H
#define FXS_TESTS_GEOMETRY_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/scene.h"

enum {
    GEO_STEPS = 9, /* pieces of a curve; odd, so that two that mirror each other meet within one */
    GEO_SLAB = 40  /* points; pieces are compared within slabs of this height */
};
#define GEO_NEAR 12.0 /* points from an end that two edges share: meeting there is no crossing */

typedef struct geo_piece {
    fxs_point a, b;
    size_t edge;
} geo_piece;

typedef struct geo_figures {
    double crossings, length, bends;
    double w, h;
} geo_figures;

static inline fxs_point geo_at(const fxs_point *p, double t) {
    double a = (1 - t) * (1 - t) * (1 - t), b = 3 * t * (1 - t) * (1 - t), c = 3 * t * t * (1 - t),
           d = t * t * t;
    return (fxs_point){a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
                       a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

static inline bool geo_is_line(const fxs_point *p) {
    double dx = p[3].x - p[0].x, dy = p[3].y - p[0].y, len = hypot(dx, dy);
    for (int i = 1; i < 3; i++)
        if (fabs((p[i].x - p[0].x) * dy - (p[i].y - p[0].y) * dx) > 0.01 * len)
            return false;
    return true;
}

/* All curves as straight pieces; free them. */
static inline geo_piece *geo_pieces(const fxs_scene *s, size_t *n) {
    size_t room = 0;
    for (size_t e = 0; e < s->view->nedges; e++)
        room += (s->curves[e].n / 3 + 1) * GEO_STEPS;
    geo_piece *out = malloc((room + 1) * sizeof *out);
    *n = 0;
    for (size_t e = 0; out && e < s->view->nedges; e++) {
        const fxs_curve *c = &s->curves[e];
        for (size_t k = 0; k + 3 < c->n; k += 3) {
            int steps = geo_is_line(&c->points[k]) ? 1 : GEO_STEPS;
            fxs_point from = c->points[k];
            for (int i = 1; i <= steps; i++) {
                fxs_point to =
                    i == steps ? c->points[k + 3] : geo_at(&c->points[k], (double)i / steps);
                out[(*n)++] = (geo_piece){from, to, e};
                from = to;
            }
        }
        if (c->n)
            out[(*n)++] = (geo_piece){c->points[c->n - 1], c->tip, e};
    }
    return out;
}

static inline double geo_side(fxs_point a, fxs_point b, fxs_point p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

static inline bool geo_opposite(double x, double y) {
    return (x > 1e-6 && y < -1e-6) || (x < -1e-6 && y > 1e-6);
}

/* Whether two pieces go through each other, and where; touching and lying on each other is not. */
static inline bool geo_cross(const geo_piece *p, const geo_piece *q, fxs_point *where) {
    double a = geo_side(p->a, p->b, q->a), b = geo_side(p->a, p->b, q->b);
    if (!geo_opposite(a, b) ||
        !geo_opposite(geo_side(q->a, q->b, p->a), geo_side(q->a, q->b, p->b)))
        return false;
    double t = a / (a - b);
    *where = (fxs_point){q->a.x + t * (q->b.x - q->a.x), q->a.y + t * (q->b.y - q->a.y)};
    return true;
}

static inline double geo_distance(fxs_point a, fxs_point b) { return hypot(a.x - b.x, a.y - b.y); }

/* Edges that share a node meet there. */
static inline bool geo_is_meeting(const fxs_scene *s, size_t e, size_t f, fxs_point where) {
    const fxs_view_edge *a = &s->view->edges[e], *b = &s->view->edges[f];
    const fxs_curve *c = &s->curves[e];
    return (a->from == b->from && geo_distance(c->points[0], where) < GEO_NEAR) ||
           (a->to == b->to && geo_distance(c->tip, where) < GEO_NEAR);
}

/* Pieces by the slabs that they touch. */
typedef struct geo_index {
    geo_piece *pieces;
    size_t n, nslabs, *start, *list;
} geo_index;

static inline size_t geo_slab(const geo_index *x, double y) {
    double k = floor(y / GEO_SLAB);
    return k < 0 ? 0 : k < (double)x->nslabs ? (size_t)k : x->nslabs - 1;
}

static inline size_t geo_first(const geo_index *x, const geo_piece *p) {
    return geo_slab(x, fmin(p->a.y, p->b.y));
}

static inline size_t geo_last(const geo_index *x, const geo_piece *p) {
    return geo_slab(x, fmax(p->a.y, p->b.y));
}

static inline geo_index geo_index_new(const fxs_scene *s) {
    geo_index x = {.nslabs = (size_t)(s->h / GEO_SLAB) + 2};
    x.pieces = geo_pieces(s, &x.n);
    x.start = calloc(x.nslabs + 2, sizeof *x.start);
    for (size_t i = 0; i < x.n; i++)
        for (size_t k = geo_first(&x, &x.pieces[i]); k <= geo_last(&x, &x.pieces[i]); k++)
            x.start[k + 2]++;
    for (size_t k = 1; k <= x.nslabs; k++)
        x.start[k + 1] += x.start[k];
    x.list = malloc((x.start[x.nslabs + 1] + 1) * sizeof *x.list);
    for (size_t i = 0; i < x.n; i++)
        for (size_t k = geo_first(&x, &x.pieces[i]); k <= geo_last(&x, &x.pieces[i]); k++)
            x.list[x.start[k + 1]++] = i;
    return x;
}

static inline void geo_index_free(geo_index *x) {
    free(x->pieces);
    free(x->start);
    free(x->list);
}

static inline double geo_crossings(const fxs_scene *s) {
    geo_index x = geo_index_new(s);
    double crossings = 0;
    for (size_t k = 0; k < x.nslabs; k++)
        for (size_t i = x.start[k]; i < x.start[k + 1]; i++)
            for (size_t j = i + 1; j < x.start[k + 1]; j++) {
                const geo_piece *a = &x.pieces[x.list[i]], *b = &x.pieces[x.list[j]];
                fxs_point where;
                if (a->edge == b->edge || fmax(a->a.x, a->b.x) < fmin(b->a.x, b->b.x) ||
                    fmax(b->a.x, b->b.x) < fmin(a->a.x, a->b.x) || !geo_cross(a, b, &where))
                    continue;
                crossings +=
                    geo_slab(&x, where.y) == k && !geo_is_meeting(s, a->edge, b->edge, where);
            }
    geo_index_free(&x);
    return crossings;
}

/* A bend is where a curve turns by five degrees or more, all to one side. */
static inline geo_figures geo_measure(const fxs_scene *s) {
    geo_figures f = {.w = s->w, .h = s->h, .crossings = geo_crossings(s)};
    size_t n;
    geo_piece *p = geo_pieces(s, &n);
    double turned = 0, before = 0;
    for (size_t i = 0; i < n; i++) {
        f.length += geo_distance(p[i].a, p[i].b);
        double angle = atan2(p[i].b.y - p[i].a.y, p[i].b.x - p[i].a.x), by = angle - before;
        by = i && p[i].edge == p[i - 1].edge ? remainder(by, 2 * 3.14159265358979323846) : 0;
        bool ends = by * turned < 0 || fabs(by) < 1e-3 || (i && p[i].edge != p[i - 1].edge);
        if (ends) {
            f.bends += fabs(turned) > 0.087;
            turned = 0;
        }
        turned += by;
        before = angle;
    }
    f.bends += fabs(turned) > 0.087;
    free(p);
    return f;
}

/* ---- what must not be; each is a number of faults, the first one is described in `what` ---- */

static inline void geo_say(char *what, size_t size, const char *kind, const char *a,
                           const char *b) {
    if (!*what)
        snprintf(what, size, "%s: %s, %s", kind, a, b);
}

static inline fxs_area geo_box(const fxs_scene *s, size_t node) {
    const fxs_label *l = &s->view->nodes[node].label;
    const fxs_box *b = &s->boxes[node];
    return (fxs_area){{b->x, b->y}, {b->x + l->w, b->y + l->h}};
}

static inline bool geo_overlap(const fxs_area *a, const fxs_area *b) {
    return a->low.x < b->high.x && a->high.x > b->low.x && a->low.y < b->high.y &&
           a->high.y > b->low.y;
}

static inline bool geo_within(const fxs_area *in, const fxs_area *out) {
    return in->low.x >= out->low.x && in->high.x <= out->high.x && in->low.y >= out->low.y &&
           in->high.y <= out->high.y;
}

/* Whether a piece goes through the inside of an area. */
static inline bool geo_enters(const geo_piece *p, const fxs_area *a) {
    double t0 = 0, t1 = 1, d[2] = {p->b.x - p->a.x, p->b.y - p->a.y};
    double low[2] = {a->low.x - p->a.x, a->low.y - p->a.y},
           high[2] = {a->high.x - p->a.x, a->high.y - p->a.y};
    for (int i = 0; i < 2; i++) {
        if (d[i] == 0) {
            if (low[i] >= 0 || high[i] <= 0)
                return false;
            continue;
        }
        double u = low[i] / d[i], v = high[i] / d[i];
        t0 = fmax(t0, fmin(u, v));
        t1 = fmin(t1, fmax(u, v));
    }
    return t0 < t1;
}

static inline bool geo_is_in(const fxs_view *v, size_t cluster, size_t outer) {
    while (cluster && cluster != outer)
        cluster = v->clusters[cluster].parent;
    return cluster == outer;
}

/* Boxes on boxes; frames on boxes and frames that are not theirs; members outside of their frame;
 * anything outside of the picture. */
static inline int geo_overlaps(const fxs_scene *s, char *what, size_t size) {
    const fxs_view *v = s->view;
    fxs_area page = {{0, 0}, {s->w, s->h}};
    int faults = 0;
    for (size_t i = 0; i < v->nnodes; i++) {
        fxs_area a = geo_box(s, i);
        const char *name = v->nodes[i].node->name;
        if (!geo_within(&a, &page) && ++faults)
            geo_say(what, size, "outside of the picture", name, "");
        for (size_t k = 0; k < i; k++) {
            fxs_area b = geo_box(s, k);
            if (geo_overlap(&a, &b) && ++faults)
                geo_say(what, size, "boxes overlap", name, v->nodes[k].node->name);
        }
        for (size_t c = 1; c < v->nclusters; c++) {
            const fxs_area *f = &s->frames[c];
            if (!fxs_frame_shown(f))
                continue;
            bool member = geo_is_in(v, v->nodes[i].cluster, c);
            if ((member ? !geo_within(&a, f) : geo_overlap(&a, f)) && ++faults)
                geo_say(what, size, member ? "outside of its frame" : "in a frame of others", name,
                        v->clusters[c].label.text);
        }
    }
    for (size_t c = 1; c < v->nclusters; c++)
        for (size_t d = 1; d < v->nclusters; d++) {
            const fxs_area *f = &s->frames[c], *g = &s->frames[d];
            if (c == d || !fxs_frame_shown(f) || !fxs_frame_shown(g) || geo_is_in(v, d, c))
                continue;
            if ((geo_is_in(v, c, d) ? !geo_within(f, g) : geo_overlap(f, g)) && ++faults)
                geo_say(what, size, "frames overlap", v->clusters[c].label.text,
                        v->clusters[d].label.text);
        }
    return faults;
}

/* How many pieces go through the inside of an area. */
static inline int geo_count_entering(const geo_index *x, const fxs_area *a) {
    int n = 0;
    for (size_t k = geo_slab(x, a->low.y); k <= geo_slab(x, a->high.y); k++)
        for (size_t i = x->start[k]; i < x->start[k + 1]; i++)
            n += geo_enters(&x->pieces[x->list[i]], a);
    return n;
}

/* Edges through boxes. */
static inline int geo_passes(const fxs_scene *s, char *what, size_t size) {
    geo_index x = geo_index_new(s);
    int faults = 0;
    for (size_t i = 0; i < s->view->nnodes; i++) {
        fxs_area box = fxs_area_grown(geo_box(s, i), -1);
        int n = geo_count_entering(&x, &box);
        faults += n;
        if (n)
            geo_say(what, size, "an edge through a box", s->view->nodes[i].node->name, "");
    }
    geo_index_free(&x);
    return faults;
}

/* A text that lies under an edge or a box. */
static inline int geo_covered(const fxs_scene *s, const geo_index *x, const fxs_line *l,
                              const fxs_area *text, char *what, size_t size) {
    int faults = geo_count_entering(x, text);
    if (faults)
        geo_say(what, size, "an edge through a label", l->text, "");
    for (size_t i = 0; i < s->view->nnodes; i++) {
        fxs_area box = geo_box(s, i);
        if (geo_overlap(text, &box) && ++faults)
            geo_say(what, size, "a box on a label", l->text, s->view->nodes[i].node->name);
    }
    return faults;
}

/* Labels of frames and of edges: inside of their frame, under nothing. */
static inline int geo_labels(const fxs_scene *s, char *what, size_t size) {
    const fxs_view *v = s->view;
    const fxs_face *face = &fxs_faces[FXS_INK_KEY];
    geo_index x = geo_index_new(s);
    int faults = 0;
    for (size_t c = 1; c < v->nclusters; c++) {
        const fxs_line *l = &v->clusters[c].label;
        fxs_point at = fxs_frame_label(&s->frames[c]);
        fxs_area text = {{at.x, at.y - face->baseline},
                         {at.x + l->width, at.y - face->baseline + face->line}};
        if (!fxs_frame_shown(&s->frames[c]) || !l->len)
            continue;
        if (!geo_within(&text, &s->frames[c]) && ++faults)
            geo_say(what, size, "label outside of its frame", l->text, "");
        faults += geo_covered(s, &x, l, &text, what, size);
    }
    for (size_t e = 0; e < v->nedges; e++) {
        fxs_point at = s->curves[e].label;
        fxs_area text = {{at.x, at.y - face->baseline}, {at.x + v->edges[e].label.width, at.y}};
        if (fxs_label_shown(s, e))
            faults += geo_covered(s, &x, &v->edges[e].label, &text, what, size);
    }
    geo_index_free(&x);
    return faults;
}

#endif
