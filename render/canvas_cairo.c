/* canvas_cairo.c: see canvas_cairo.h. Called by canvas_png.c and canvas_pdf.c. */
#include "canvas_cairo.h"

#include <math.h>

#include "canvas.h"

#define TABLE_LINE 0.75 /* points: one pixel at 96 dpi */
#define LINE_REACH 2    /* points that a line can stand out of its place */

static void set_color(cairo_t *cr, fxs_color c) {
    cairo_set_source_rgb(cr, (c >> 16 & 0xff) / 255.0, (c >> 8 & 0xff) / 255.0, (c & 0xff) / 255.0);
}

/* The pieces of a curve that can be seen: cairo would work through all of a long one for each band.
 * Dashes need the whole. */
static void trace_curve(cairo_t *cr, const fxs_curve *c, bool whole, const fxs_area *seen) {
    bool connected = false;
    for (size_t k = 0; k + 3 < c->n; k += 3) {
        const fxs_point *p = &c->points[k];
        fxs_area area = fxs_area_none();
        for (int i = 0; i < 4; i++)
            fxs_area_reach(&area, p[i].x, p[i].y);
        area = fxs_area_grown(area, LINE_REACH);
        if (!whole && !fxs_area_touches(&area, seen)) {
            connected = false;
            continue;
        }
        if (!connected)
            cairo_move_to(cr, p[0].x, p[0].y);
        cairo_curve_to(cr, p[1].x, p[1].y, p[2].x, p[2].y, p[3].x, p[3].y);
        connected = true;
    }
}

static void paint_edge(cairo_t *cr, const fxs_theme *t, const fxs_view_edge *e, const fxs_curve *c,
                       const fxs_area *seen) {
    static const double dashes[] = {5, 3};
    fxs_point corner[3];
    set_color(cr, e->tensor ? t->edge : t->nontensor);
    cairo_set_dash(cr, dashes, e->tensor ? 0 : 2, 0);
    trace_curve(cr, c, !e->tensor, seen);
    cairo_stroke(cr);
    fxs_curve_arrow(c, corner);
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

static void paint_frames(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp) {
    const fxs_view *v = s->view;
    cairo_set_line_width(cr, TABLE_LINE);
    fxs_area in = fxs_area_grown(*seen, LINE_REACH);
    FXS_AREAS_EACH (i, s->frame_areas, in) {
        const fxs_area *f = &s->frames[i];
        set_color(cr, v->theme->nontensor);
        rectangle(cr, on_grid(cr, f->low.x, f->low.y, crisp),
                  on_grid(cr, f->high.x, f->high.y, crisp));
        cairo_stroke(cr);
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

static void paint_edges(cairo_t *cr, const fxs_scene *s, const fxs_area *seen) {
    const fxs_view *v = s->view;
    cairo_set_line_width(cr, 1);
    FXS_AREAS_EACH (i, s->edge_areas, *seen)
        if (s->curves[i].n && fxs_area_touches(&s->curves[i].area, seen))
            paint_edge(cr, v->theme, &v->edges[i], &s->curves[i], seen);
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

void fxs_paint(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp) {
    set_color(cr, s->view->theme->background);
    cairo_paint(cr);
    paint_legend(cr, s, seen, crisp);
    paint_frames(cr, s, seen, crisp);
    paint_chart(cr, s, seen, crisp);
    if (!s->over)
        paint_edges(cr, s, seen);
    paint_nodes(cr, s, seen, crisp);
    if (s->over)
        paint_edges(cr, s, seen);
}
