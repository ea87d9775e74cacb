/* canvas_cairo.c: see canvas_cairo.h. Called by canvas_png.c and canvas_pdf.c. */
#include "canvas_cairo.h"

#include <math.h>

#include "canvas.h"

#define TABLE_LINE 0.75 /* points: one pixel at 96 dpi */

static void set_color(cairo_t *cr, fxs_color c) {
    cairo_set_source_rgb(cr, (c >> 16 & 0xff) / 255.0, (c >> 8 & 0xff) / 255.0, (c & 0xff) / 255.0);
}

static void paint_edge(cairo_t *cr, const fxs_theme *t, const fxs_view_edge *e, const fxs_curve *c) {
    static const double dashes[] = {5, 3};
    fxs_point corner[3];
    set_color(cr, e->tensor ? t->edge : t->nontensor);
    cairo_set_dash(cr, dashes, e->tensor ? 0 : 2, 0);
    cairo_move_to(cr, c->points[0].x, c->points[0].y);
    for (size_t k = 1; k + 2 < c->n; k += 3)
        cairo_curve_to(cr, c->points[k].x, c->points[k].y, c->points[k + 1].x, c->points[k + 1].y, c->points[k + 2].x,
                       c->points[k + 2].y);
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

static void rectangle(cairo_t *cr, fxs_point a, fxs_point b) { cairo_rectangle(cr, a.x, a.y, b.x - a.x, b.y - a.y); }

static void paint_table(cairo_t *cr, const fxs_theme *t, const fxs_view_node *n, const fxs_box *box, bool crisp) {
    const fxs_label *l = &n->label;
    fxs_point low = on_grid(cr, box->x, box->y, crisp), high = on_grid(cr, box->x + l->w, box->y + l->h, crisp);
    fxs_point head = on_grid(cr, box->x, box->y + l->rows[0].cell[0].h, crisp);
    set_color(cr, t->body);
    rectangle(cr, low, high);
    cairo_fill(cr);
    set_color(cr, t->style[n->style].head);
    rectangle(cr, low, (fxs_point){high.x, head.y});
    cairo_fill(cr);
    set_color(cr, t->style[n->style].line);
    rectangle(cr, low, high);
    double split = on_grid(cr, box->x + l->split, box->y, crisp).x;
    for (size_t i = 1; i < l->nrows; i++) {
        const fxs_cell *c = &l->rows[i].cell[0];
        double top = on_grid(cr, box->x, box->y + c->y, crisp).y;
        line(cr, (fxs_point){low.x, top}, (fxs_point){high.x, top});
        if (l->rows[i].ncells == 2)
            line(cr, (fxs_point){split, top}, (fxs_point){split, on_grid(cr, 0, box->y + c->y + c->h, crisp).y});
    }
    cairo_stroke(cr);
}

static void paint_cell(cairo_t *cr, const fxs_view *v, const fxs_box *box, const fxs_cell *c, double top,
                       double bottom) {
    set_color(cr, v->theme->ink[c->ink]);
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_point p = fxs_cell_line_at(c, i);
        double y = box->y + p.y, reach = 1.5 * fxs_faces[c->ink].size;
        if (c->lines[i].len && y + reach >= top && y - reach <= bottom)
            fxs_fonts_show(v->fonts, cr, c->ink, c->lines[i].text, c->lines[i].len, box->x + p.x, y);
    }
}

static void paint_node(cairo_t *cr, const fxs_view *v, const fxs_view_node *n, const fxs_box *box, double top,
                       double bottom, bool crisp) {
    paint_table(cr, v->theme, n, box, crisp);
    for (size_t i = 0; i < n->label.nrows; i++)
        for (int k = 0; k < n->label.rows[i].ncells; k++)
            paint_cell(cr, v, box, &n->label.rows[i].cell[k], top, bottom);
}

static void paint_edges(cairo_t *cr, const fxs_scene *s, double top, double bottom) {
    const fxs_view *v = s->view;
    cairo_set_line_width(cr, 1);
    for (size_t i = 0; i < v->nedges; i++)
        if (s->curves[i].n && s->curves[i].bottom >= top && s->curves[i].top <= bottom)
            paint_edge(cr, v->theme, &v->edges[i], &s->curves[i]);
    cairo_set_dash(cr, NULL, 0, 0);
}

static void paint_nodes(cairo_t *cr, const fxs_scene *s, double top, double bottom, bool crisp) {
    const fxs_view *v = s->view;
    cairo_set_line_width(cr, TABLE_LINE);
    for (size_t i = 0; i < v->nnodes; i++)
        if (s->boxes[i].y + v->nodes[i].label.h + 2 >= top && s->boxes[i].y - 2 <= bottom)
            paint_node(cr, v, &v->nodes[i], &s->boxes[i], top, bottom, crisp);
    if (v->title.len && s->title.y + FXS_ARROW_LENGTH >= top) {
        set_color(cr, v->theme->ink[FXS_INK_TITLE]);
        fxs_fonts_show(v->fonts, cr, FXS_INK_TITLE, v->title.text, v->title.len, s->title.x, s->title.y);
    }
}

void fxs_paint(cairo_t *cr, const fxs_scene *s, double top, double bottom, bool crisp) {
    set_color(cr, s->view->theme->background);
    cairo_paint(cr);
    if (!s->over)
        paint_edges(cr, s, top, bottom);
    paint_nodes(cr, s, top, bottom, crisp);
    if (s->over)
        paint_edges(cr, s, top, bottom);
}
