/* canvas_cairo.c: see canvas_cairo.h. Called by canvas_png.c and canvas_pdf.c. */
#include "canvas_cairo.h"

#include <math.h>
#include <stdint.h>

#include "canvas.h"
#include "cuts.h"

#define TABLE_LINE 0.75 /* points: one pixel at 96 dpi */
#define LINE_REACH 2    /* points that a line can stand out of its place */
#define FINEST 0.5      /* points of paper: lines that are closer are seen as one */

static void set_color(cairo_t *cr, fxs_color c) {
    cairo_set_source_rgb(cr, (c >> 16 & 0xff) / 255.0, (c >> 8 & 0xff) / 255.0, (c & 0xff) / 255.0);
}

enum { PASSING_ROOM = 2048 };

/* Lines from end to end of what is seen. Thousands of edges may pass as one line, and in a file of
 * vectors each would be there: so one is painted of those that differ by less than can be seen. */
typedef struct passing {
    double grain; /* what can be seen, in the scene */
    size_t n;
    uint64_t key[2 * PASSING_ROOM]; /* a hash table; 0: free */
} passing;

static bool is_known(passing *known, uint64_t key) {
    size_t at = key * 0x9e3779b97f4a7c15u >> 32;
    for (;; at++) {
        uint64_t *slot = &known->key[at % (2 * PASSING_ROOM)];
        if (*slot == key)
            return true;
        if (*slot)
            continue;
        if (known->n < PASSING_ROOM) {
            *slot = key;
            known->n++;
        }
        return false;
    }
}

/* Whether a piece only repeats such a line; one that is new is noted. `known` NULL: none is. */
static bool is_repeated(const fxs_point p[4], const fxs_area *seen, unsigned style,
                        passing *known) {
    for (unsigned x = 0; x < 2 && known; x++) {
        double low = (x ? seen->low.x : seen->low.y) - LINE_REACH,
               high = (x ? seen->high.x : seen->high.y) + LINE_REACH, t[3];
        double from = x ? p[0].x : p[0].y, to = x ? p[3].x : p[3].y;
        if (fmin(from, to) > low || fmax(from, to) < high)
            continue;
        uint64_t key = 1 + 2 * style + x;
        for (int end = 0; end < 2; end++) {
            fxs_point first[4], second[4];
            if (fxs_bezier_crossings(p, x, end ? high : low, t) != 1)
                return false;
            fxs_bezier_split(p, t[0], first, second);
            double across = (x ? first[3].y : first[3].x) / known->grain;
            key = key << 29 ^ ((uint64_t)(int64_t)floor(across) & 0x1fffffff);
        }
        return is_known(known, key);
    }
    return false;
}

static bool is_seen(const fxs_point *p, size_t n, const fxs_area *seen) {
    fxs_area area = fxs_area_none();
    for (size_t i = 0; i < n; i++)
        fxs_area_reach(&area, p[i].x, p[i].y);
    area = fxs_area_grown(area, LINE_REACH);
    return fxs_area_touches(&area, seen);
}

static void add_piece(cairo_t *cr, const fxs_point p[4], bool *connected) {
    if (!*connected)
        cairo_move_to(cr, p[0].x, p[0].y);
    cairo_curve_to(cr, p[1].x, p[1].y, p[2].x, p[2].y, p[3].x, p[3].y);
    *connected = true;
}

/* The pieces of a curve that can be seen: cairo would work through all of a long one for each band.
 * False: there are none, here and below. */
static bool trace_curve(cairo_t *cr, const fxs_curve *c, const fxs_area *seen, passing *known) {
    bool connected = false, any = false;
    for (size_t k = 0; k + 3 < c->n; k += 3) {
        const fxs_point *p = &c->points[k];
        if (is_seen(p, 4, seen) && !is_repeated(p, seen, 0, known))
            add_piece(cr, p, &connected);
        else
            connected = false;
        any |= connected;
    }
    return any;
}

/* Dashes need the whole, if any of it is seen. */
static bool trace_dashes(cairo_t *cr, const fxs_curve *c, const fxs_area *seen, passing *known) {
    bool connected = false, any = false;
    for (size_t k = 0; k + 3 < c->n && !any; k += 3)
        any = is_seen(&c->points[k], 4, seen) && !is_repeated(&c->points[k], seen, 1, known);
    for (size_t k = 0; k + 3 < c->n && any; k += 3)
        add_piece(cr, &c->points[k], &connected);
    return any;
}

static void paint_edge(cairo_t *cr, const fxs_theme *t, const fxs_view_edge *e, const fxs_curve *c,
                       const fxs_area *seen, passing *known) {
    static const double dashes[] = {5, 3};
    fxs_point corner[3];
    set_color(cr, e->tensor ? t->edge : t->nontensor);
    cairo_set_dash(cr, dashes, e->tensor ? 0 : 2, 0);
    if (e->tensor ? trace_curve(cr, c, seen, known) : trace_dashes(cr, c, seen, known))
        cairo_stroke(cr);
    fxs_curve_arrow(c, corner);
    if (!is_seen(corner, 3, seen))
        return;
    cairo_move_to(cr, corner[0].x, corner[0].y);
    cairo_line_to(cr, corner[1].x, corner[1].y);
    cairo_line_to(cr, corner[2].x, corner[2].y);
    cairo_close_path(cr);
    cairo_fill(cr);
}

/* A point of a table's frame, on the device's grid when lines shall be crisp. */
static fxs_point on_grid(cairo_t *cr, double x, double y, bool crisp) {
    if (crisp) {
        cairo_user_to_device(cr, &x, &y);
        x = fxs_grid(x, 1);
        y = fxs_grid(y, 1);
        cairo_device_to_user(cr, &x, &y);
    }
    return (fxs_point){x, y};
}

static void line(cairo_t *cr, fxs_point a, fxs_point b) {
    cairo_move_to(cr, a.x, a.y);
    cairo_line_to(cr, b.x, b.y);
}

static void rectangle(cairo_t *cr, fxs_point a, fxs_point b) {
    cairo_rectangle(cr, a.x, a.y, b.x - a.x, b.y - a.y);
}

static void paint_table(cairo_t *cr, const fxs_theme *t, const fxs_view_node *n, const fxs_box *box,
                        bool crisp) {
    const fxs_label *l = &n->label;
    fxs_point low = on_grid(cr, box->x, box->y, crisp),
              high = on_grid(cr, box->x + l->w, box->y + l->h, crisp);
    fxs_point head = on_grid(cr, box->x, box->y + l->rows[0].cell[0].h, crisp);
    set_color(cr, t->body);
    rectangle(cr, low, high);
    cairo_fill(cr);
    set_color(cr, n->head);
    rectangle(cr, low, (fxs_point){high.x, head.y});
    cairo_fill(cr);
    set_color(cr, n->line);
    rectangle(cr, low, high);
    double split = on_grid(cr, box->x + l->split, box->y, crisp).x;
    for (size_t i = 1; i < l->nrows; i++) {
        const fxs_cell *c = &l->rows[i].cell[0];
        double top = on_grid(cr, box->x, box->y + c->y, crisp).y;
        line(cr, (fxs_point){low.x, top}, (fxs_point){high.x, top});
        if (l->rows[i].ncells == 2)
            line(cr, (fxs_point){split, top},
                 (fxs_point){split, on_grid(cr, 0, box->y + c->y + c->h, crisp).y});
    }
    cairo_stroke(cr);
}

static void paint_cell(cairo_t *cr, const fxs_view *v, fxs_color color, const fxs_box *box,
                       const fxs_cell *c, const fxs_area *seen) {
    set_color(cr, color);
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_point p = fxs_cell_line_at(c, i);
        double x = box->x + p.x, y = box->y + p.y, size = fxs_faces[c->ink].size;
        fxs_area area = {{x - size, y - 1.5 * size},
                         {x + c->lines[i].width + size, y + 1.5 * size}};
        if (c->lines[i].len && fxs_area_touches(&area, seen))
            fxs_fonts_show(v->fonts, cr, c->ink, c->lines[i].text, c->lines[i].len, x, y);
    }
}

static void paint_node(cairo_t *cr, const fxs_view *v, const fxs_view_node *n, const fxs_box *box,
                       const fxs_area *seen, bool crisp) {
    paint_table(cr, v->theme, n, box, crisp);
    for (size_t i = 0; i < n->label.nrows; i++)
        for (int k = 0; k < n->label.rows[i].ncells; k++) {
            const fxs_cell *c = &n->label.rows[i].cell[k];
            paint_cell(cr, v, fxs_view_ink(v, n, i, c->ink), box, c, seen);
        }
}

static void paint_line(cairo_t *cr, const fxs_view *v, fxs_ink ink, const fxs_line *l, fxs_point p,
                       const fxs_area *seen) {
    fxs_area area = {{p.x, p.y - fxs_faces[ink].line}, {p.x + l->width, p.y + fxs_faces[ink].line}};
    if (!l->len || !fxs_area_touches(&area, seen))
        return;
    set_color(cr, v->theme->ink[ink]);
    fxs_fonts_show(v->fonts, cr, ink, l->text, l->len, p.x, p.y);
}

static void paint_frames(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, fxs_paint_as as) {
    const fxs_view *v = s->view;
    bool crisp = as == FXS_PAINT_PIXELS;
    cairo_set_line_width(cr, TABLE_LINE);
    fxs_area in = fxs_area_grown(*seen, LINE_REACH);
    FXS_AREAS_EACH (i, s->frame_areas, in) {
        const fxs_area *f = &s->frames[i];
        set_color(cr, v->theme->nontensor);
        rectangle(cr, on_grid(cr, f->low.x, f->low.y, crisp),
                  on_grid(cr, f->high.x, f->high.y, crisp));
        cairo_stroke(cr);
        if (as != FXS_PAINT_SMALL)
            paint_line(cr, v, FXS_INK_KEY, &v->clusters[i].label, fxs_frame_label(f), seen);
    }
}

static void paint_chart(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp) {
    const fxs_theme *t = s->view->theme;
    cairo_set_line_width(cr, TABLE_LINE);
    for (size_t i = 0; i < s->nbars; i++) {
        const fxs_area *a = &s->bars[i];
        fxs_area area = fxs_area_grown(*a, LINE_REACH);
        if (!fxs_area_touches(&area, seen))
            continue;
        rectangle(cr, on_grid(cr, a->low.x, a->low.y, crisp),
                  on_grid(cr, a->high.x, a->high.y, crisp));
        set_color(cr, t->style[FXS_STYLE_CALL_MODULE].head);
        cairo_fill_preserve(cr);
        set_color(cr, t->style[FXS_STYLE_CALL_MODULE].line);
        cairo_stroke(cr);
    }
    for (size_t i = 0; i < s->nnotes; i++)
        paint_line(cr, s->view, s->notes[i].ink, &s->notes[i].line, s->notes[i].at, seen);
}

static void paint_legend(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp) {
    cairo_set_line_width(cr, TABLE_LINE);
    for (size_t i = 0; i < s->view->legend.n; i++) {
        const fxs_legend_item *item = &s->view->legend.items[i];
        const fxs_area *a = &s->swatches[i];
        fxs_area area = fxs_area_grown(*a, LINE_REACH);
        if (item->swatch && fxs_area_touches(&area, seen)) {
            rectangle(cr, on_grid(cr, a->low.x, a->low.y, crisp),
                      on_grid(cr, a->high.x, a->high.y, crisp));
            set_color(cr, item->fill);
            cairo_fill_preserve(cr);
            set_color(cr, item->line);
            cairo_stroke(cr);
        }
        paint_line(cr, s->view, item->ink, &item->text, s->swatch_texts[i], seen);
    }
}

/* On pixels a line that is painted again is a little darker, so there all are painted, as they are
 * in the whole picture. */
static void paint_edges(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp) {
    const fxs_view *v = s->view;
    double x0 = 0, y0 = 0, x1 = FINEST, y1 = 0;
    passing known = {.n = 0};
    cairo_device_to_user(cr, &x0, &y0);
    cairo_device_to_user(cr, &x1, &y1);
    known.grain = hypot(x1 - x0, y1 - y0);
    cairo_set_line_width(cr, 1);
    FXS_AREAS_EACH (i, s->edge_areas, *seen)
        if (s->curves[i].n && fxs_area_touches(&s->curves[i].area, seen))
            paint_edge(cr, v->theme, &v->edges[i], &s->curves[i], seen, crisp ? NULL : &known);
    cairo_set_dash(cr, NULL, 0, 0);
}

static void paint_nodes(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp) {
    const fxs_view *v = s->view;
    cairo_set_line_width(cr, TABLE_LINE);
    fxs_area in = fxs_area_grown(*seen, LINE_REACH);
    FXS_AREAS_EACH (i, s->node_areas, in)
        paint_node(cr, v, &v->nodes[i], &s->boxes[i], seen, crisp);
    in = fxs_area_grown(*seen, fxs_faces[FXS_INK_KEY].line); /* as paint_line sees labels */
    FXS_AREAS_EACH (i, s->edge_areas, in)
        if (fxs_label_shown(s, i))
            paint_line(cr, v, FXS_INK_KEY, &v->edges[i].label, s->curves[i].label, seen);
    paint_line(cr, v, FXS_INK_TITLE, &v->title, s->title, seen);
}

/* Texts would be specks, and lines within a box too. */
static void paint_small_nodes(cairo_t *cr, const fxs_scene *s, const fxs_area *seen) {
    FXS_AREAS_EACH (i, s->node_areas, *seen) {
        fxs_area box = fxs_scene_box(s, i);
        set_color(cr, s->view->nodes[i].line);
        rectangle(cr, box.low, box.high);
        cairo_fill(cr);
    }
}

void fxs_paint(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, fxs_paint_as as) {
    bool crisp = as == FXS_PAINT_PIXELS, small = as == FXS_PAINT_SMALL;
    set_color(cr, s->view->theme->background);
    cairo_paint(cr);
    if (!small)
        paint_legend(cr, s, seen, crisp);
    paint_frames(cr, s, seen, as);
    if (!small)
        paint_chart(cr, s, seen, crisp);
    if (!s->over)
        paint_edges(cr, s, seen, crisp);
    if (small)
        paint_small_nodes(cr, s, seen);
    else
        paint_nodes(cr, s, seen, crisp);
    if (s->over)
        paint_edges(cr, s, seen, crisp);
}
