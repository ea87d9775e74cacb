/* canvas_svg.c: the scene as SVG: real text, ids and classes for scripts and style sheets, tool
 * tips, prose for screen readers. Looks are presentation attributes, so that browsers, Inkscape and
 * LaTeX agree; no script, no reference to anything outside. Lengths are points; the picture's own
 * size is in CSS pixels (96 an inch). Called through its row in draw.c. */
#include <math.h>
#include <string.h>

#include "canvas.h"
#include "escape.h"
#include "write.h"

enum { FLUSH = FXS_FLUSH };
/* A reader without DejaVu Sans sees one of these; a line that fills more than this share of its
 * cell gets a fixed length. */
#define FAMILIES "DejaVu Sans, Verdana, Arial, sans-serif"
#define FULL 0.9
#define PIXELS (96 / 72.0) /* CSS pixels a point */

typedef struct svg {
    fxs_buf buf;
    fxs_sink *sink;
    const fxs_scene *scene;
    const fxs_theme *theme;
} svg;

static void flush(svg *s, size_t over) { fxs_flush(&s->buf, s->sink, over); }
static void put_number(fxs_buf *b, double x) { fxs_put_number(b, x); }

/* Curves and texts need no more than hundredths. */
static fxs_point coarse(double x, double y) {
    return (fxs_point){round(x * 100) / 100, round(y * 100) / 100};
}

static void put_point(fxs_buf *b, const char *before, fxs_point p) {
    fxs_buf_puts(b, before);
    put_number(b, p.x);
    fxs_buf_putc(b, ' ');
    put_number(b, p.y);
}

static void put_attribute(fxs_buf *b, const char *name, double x) {
    fxs_buf_printf(b, " %s=\"", name);
    put_number(b, x);
    fxs_buf_putc(b, '"');
}

static void put_color(fxs_buf *b, const char *name, fxs_color c) {
    fxs_buf_printf(b, " %s=\"#%06x\"", name, c);
}

static void put_title(fxs_buf *b, const char *text, size_t len) {
    fxs_buf_puts(b, "<title>");
    fxs_escape_xml(b, text, len);
    fxs_buf_puts(b, "</title>");
}

static void put_head(svg *s, double scale) {
    const fxs_view *v = s->scene->view;
    fxs_buf *b = &s->buf;
    fxs_buf_puts(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" xml:lang=\"en\" "
                    "aria-labelledby=\"title desc\"");
    put_attribute(b, "width", ceil(s->scene->w * PIXELS * scale - 1e-6));
    put_attribute(b, "height", ceil(s->scene->h * PIXELS * scale - 1e-6));
    fxs_buf_puts(b, " viewBox=\"0 0 ");
    put_number(b, s->scene->w);
    fxs_buf_putc(b, ' ');
    put_number(b, s->scene->h);
    fxs_buf_puts(b, "\" font-family=\"" FAMILIES "\" font-size=\"10\">\n<title id=\"title\">");
    if (v->title.len)
        fxs_escape_xml(b, v->title.text, v->title.len);
    else
        fxs_escape_xml(b, v->name, strlen(v->name));
    fxs_buf_puts(b, "</title>\n<desc id=\"desc\">");
    fxs_escape_xml(b, v->description, strlen(v->description));
    fxs_buf_puts(b, "</desc>\n<rect class=\"background\" width=\"100%\" height=\"100%\"");
    put_color(b, "fill", s->theme->background);
    fxs_buf_puts(b, "/>\n");
}

/* Centred lines (the default of the group) stay centred when another font is used. */
static void put_colored(svg *s, fxs_ink ink, fxs_color color, fxs_point p, const fxs_line *line,
                        double room, bool centred) {
    fxs_buf *b = &s->buf;
    if (line->len == 0)
        return;
    p = coarse(centred ? p.x + line->width / 2 : p.x, p.y);
    fxs_buf_puts(b, "<text");
    put_attribute(b, "x", p.x);
    put_attribute(b, "y", p.y);
    if (!centred)
        fxs_buf_puts(b, " text-anchor=\"start\"");
    if (color != s->theme->ink[FXS_INK_TEXT])
        put_color(b, "fill", color);
    if (fxs_faces[ink].bold)
        fxs_buf_puts(b, " font-weight=\"bold\"");
    if (fxs_faces[ink].size != fxs_faces[FXS_INK_TEXT].size)
        put_attribute(b, "font-size", fxs_faces[ink].size);
    if (line->width > room * FULL) {
        put_attribute(b, "textLength", round(line->width * 100) / 100);
        fxs_buf_puts(b, " lengthAdjust=\"spacingAndGlyphs\"");
    }
    fxs_buf_putc(b, '>');
    fxs_escape_xml(b, line->text, line->len);
    fxs_buf_puts(b, "</text>\n");
}

static void put_text(svg *s, fxs_ink ink, fxs_point p, const fxs_line *line, double room,
                     bool centred) {
    put_colored(s, ink, s->theme->ink[ink], p, line, room, centred);
}

static void put_cell(svg *s, const fxs_view_node *n, size_t row, int column, const fxs_box *box) {
    const fxs_cell *c = &n->label.rows[row].cell[column];
    fxs_color color = fxs_view_ink(s->scene->view, n, row, c->ink);
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_point p = fxs_cell_line_at(c, i);
        put_colored(s, c->ink, color, (fxs_point){box->x + p.x, box->y + p.y}, &c->lines[i], c->w,
                    c->nlines == 1);
    }
}

/* Lines of tables are one CSS pixel wide and lie on pixels, so that they are crisp at the picture's
 * own size. */
static double grid(double x) { return fxs_grid(x, PIXELS); }

static void put_line(fxs_buf *b, double x, double y, char direction, double to) {
    put_point(b, "M", (fxs_point){grid(x), grid(y)});
    fxs_buf_putc(b, direction);
    put_number(b, grid(to));
}

static void put_rectangle(fxs_buf *b, const char *class, double x, double y, double w, double h) {
    fxs_buf_printf(b, "<rect class=\"%s\"", class);
    put_attribute(b, "x", grid(x));
    put_attribute(b, "y", grid(y));
    put_attribute(b, "width", grid(x + w) - grid(x));
    put_attribute(b, "height", grid(y + h) - grid(y));
}

/* The frame, the head over it, the other lines as one path. */
static void put_table(svg *s, const fxs_view_node *n, const fxs_box *box) {
    fxs_buf *b = &s->buf;
    const fxs_label *l = &n->label;
    put_rectangle(b, "table", box->x, box->y, l->w, l->h);
    put_color(b, "fill", s->theme->body);
    fxs_buf_puts(b, "/>\n");
    put_rectangle(b, "head", box->x, box->y, l->w, l->rows[0].cell[0].h);
    put_color(b, "fill", n->head);
    fxs_buf_puts(b, "/>\n");
    if (l->nrows < 2)
        return;
    fxs_buf_puts(b, "<path fill=\"none\" d=\"");
    for (size_t i = 1; i < l->nrows; i++) {
        const fxs_cell *c = &l->rows[i].cell[0];
        if (i > 1)
            put_line(b, box->x, box->y + c->y, 'H', box->x + l->w);
        if (l->rows[i].ncells == 2)
            put_line(b, box->x + l->split, box->y + c->y, 'V', box->y + c->y + c->h);
    }
    fxs_buf_puts(b, "\"/>\n");
}

static void put_node(svg *s, const fxs_view_node *n, const fxs_box *box) {
    fxs_buf *b = &s->buf;
    fxs_buf_puts(b, "<g id=\"node-");
    fxs_escape_id(b, n->id);
    fxs_buf_printf(b, "\" class=\"node kind-%s", fxs_kind_name(n->node->kind));
    if (n->reference)
        fxs_buf_puts(b, " reference");
    if (n->style != (fxs_style)n->node->kind)
        fxs_buf_printf(b, " %s", fxs_style_class(n->style));
    if (n->classes)
        fxs_buf_printf(b, " %s", n->classes);
    fxs_buf_puts(b, "\">");
    put_title(b, n->tip.text, n->tip.len);
    fxs_buf_puts(b, "\n<g stroke-width=\"0.75\"");
    put_color(b, "stroke", n->line);
    fxs_buf_puts(b, ">\n");
    put_table(s, n, box);
    fxs_buf_puts(b, "</g>\n");
    for (size_t i = 0; i < n->label.nrows; i++)
        for (int k = 0; k < n->label.rows[i].ncells; k++)
            put_cell(s, n, i, k, box);
    fxs_buf_puts(b, "</g>\n");
}

static void put_edge_name(fxs_buf *b, const fxs_view *v, const fxs_view_edge *e) {
    fxs_escape_id(b, v->nodes[e->from].id);
    fxs_buf_putc(b, '-');
    fxs_escape_id(b, v->nodes[e->to].id);
}

static void put_edge(svg *s, const fxs_view_edge *e, const fxs_curve *c) {
    fxs_buf *b = &s->buf;
    const fxs_view *v = s->scene->view;
    fxs_color color = e->tensor ? s->theme->edge : s->theme->nontensor;
    fxs_buf_puts(b, "<g id=\"edge-");
    put_edge_name(b, v, e);
    fxs_buf_printf(b, "-%zu\" class=\"edge %s\"><title>", e->use,
                   e->tensor ? "tensor" : "nontensor");
    fxs_escape_xml(b, v->nodes[e->from].name, strlen(v->nodes[e->from].name));
    fxs_buf_puts(b, " → ");
    fxs_escape_xml(b, v->nodes[e->to].name, strlen(v->nodes[e->to].name));
    fxs_buf_puts(b, "</title>\n<path fill=\"none\"");
    put_color(b, "stroke", color);
    if (!e->tensor)
        fxs_buf_puts(b, " stroke-dasharray=\"5 3\"");
    put_point(b, " d=\"M", coarse(c->points[0].x, c->points[0].y));
    for (size_t k = 1; k < c->n; k++)
        put_point(b, k == 1 ? "C" : " ", coarse(c->points[k].x, c->points[k].y));
    fxs_point corner[3];
    fxs_curve_arrow(c, corner);
    fxs_buf_puts(b, "\"/><path");
    put_color(b, "fill", color);
    put_point(b, " d=\"M", coarse(corner[0].x, corner[0].y));
    put_point(b, "L", coarse(corner[1].x, corner[1].y));
    put_point(b, "L", coarse(corner[2].x, corner[2].y));
    fxs_buf_puts(b, "z\"/></g>\n");
}

static void put_frames(svg *s) {
    const fxs_view *v = s->scene->view;
    fxs_buf *b = &s->buf;
    if (v->nclusters == 0)
        return;
    fxs_buf_puts(b, "<g class=\"clusters\" stroke-width=\"0.75\"");
    put_color(b, "stroke", s->theme->nontensor);
    put_color(b, "fill", s->theme->ink[FXS_INK_TEXT]);
    fxs_buf_puts(b, " text-anchor=\"middle\">\n");
    for (size_t i = 1; i < v->nclusters; i++) {
        const fxs_area *f = &s->scene->frames[i];
        const fxs_line *label = &v->clusters[i].label;
        if (!fxs_frame_shown(f))
            continue;
        put_rectangle(b, "cluster", f->low.x, f->low.y, f->high.x - f->low.x, f->high.y - f->low.y);
        fxs_buf_puts(b, " fill=\"none\" rx=\"4\"/>\n<g stroke=\"none\">\n");
        put_text(s, FXS_INK_KEY, fxs_frame_label(f), label, f->high.x - f->low.x, false);
        fxs_buf_puts(b, "</g>\n");
    }
    fxs_buf_puts(b, "</g>\n");
}

static void put_edge_labels(svg *s) {
    const fxs_view *v = s->scene->view;
    for (size_t i = 0; i < v->nedges; i++)
        if (fxs_label_shown(s->scene, i))
            put_text(s, FXS_INK_KEY, s->scene->curves[i].label, &v->edges[i].label, INFINITY, true);
}

static void put_edges(svg *s) {
    const fxs_view *v = s->scene->view;
    fxs_buf_puts(&s->buf, "<g class=\"edges\">\n");
    for (size_t i = 0; i < v->nedges; i++) {
        if (s->scene->curves[i].n)
            put_edge(s, &v->edges[i], &s->scene->curves[i]);
        flush(s, FLUSH);
    }
    fxs_buf_puts(&s->buf, "</g>\n");
}

static void put_chart(svg *s) {
    const fxs_scene *scene = s->scene;
    if (scene->nbars == 0)
        return;
    fxs_buf_puts(&s->buf, "<g class=\"bars\" stroke-width=\"0.75\"");
    put_color(&s->buf, "fill", s->theme->style[FXS_STYLE_CALL_MODULE].head);
    put_color(&s->buf, "stroke", s->theme->style[FXS_STYLE_CALL_MODULE].line);
    fxs_buf_puts(&s->buf, ">\n");
    for (size_t i = 0; i < scene->nbars; i++) {
        const fxs_area *a = &scene->bars[i];
        put_rectangle(&s->buf, "bar", a->low.x, a->low.y, a->high.x - a->low.x,
                      a->high.y - a->low.y);
        fxs_buf_puts(&s->buf, "/>\n");
    }
    fxs_buf_puts(&s->buf, "</g>\n<g class=\"notes\"");
    put_color(&s->buf, "fill", s->theme->ink[FXS_INK_TEXT]);
    fxs_buf_puts(&s->buf, ">\n");
    for (size_t i = 0; i < scene->nnotes; i++)
        put_text(s, scene->notes[i].ink, scene->notes[i].at, &scene->notes[i].line,
                 scene->notes[i].line.width, false);
    fxs_buf_puts(&s->buf, "</g>\n");
}

static void put_legend(svg *s) {
    const fxs_legend *l = &s->scene->view->legend;
    fxs_buf *b = &s->buf;
    if (l->n == 0)
        return;
    fxs_buf_puts(b, "<g class=\"legend\" stroke-width=\"0.75\"");
    put_color(b, "fill", s->theme->ink[FXS_INK_TEXT]);
    fxs_buf_puts(b, ">\n");
    for (size_t i = 0; i < l->n; i++) {
        const fxs_legend_item *item = &l->items[i];
        const fxs_area *a = &s->scene->swatches[i];
        if (item->swatch) {
            put_rectangle(b, "swatch", a->low.x, a->low.y, a->high.x - a->low.x,
                          a->high.y - a->low.y);
            put_color(b, "fill", item->fill);
            put_color(b, "stroke", item->line);
            fxs_buf_puts(b, "/>\n");
        }
        put_text(s, item->ink, s->scene->swatch_texts[i], &item->text, INFINITY, false);
    }
    fxs_buf_puts(b, "</g>\n");
}

static void put_nodes(svg *s) {
    const fxs_view *v = s->scene->view;
    fxs_buf_puts(&s->buf, "<g class=\"nodes\"");
    put_color(&s->buf, "fill", s->theme->ink[FXS_INK_TEXT]);
    fxs_buf_puts(&s->buf, " text-anchor=\"middle\">\n");
    for (size_t i = 0; i < v->nnodes; i++) {
        put_node(s, &v->nodes[i], &s->scene->boxes[i]);
        flush(s, FLUSH);
    }
    put_edge_labels(s);
    if (v->title.len)
        put_text(s, FXS_INK_TITLE, s->scene->title, &v->title, s->scene->w, true);
    fxs_buf_puts(&s->buf, "</g>\n");
}

fxs_status fxs_canvas_svg(fxs_ctx *ctx, const fxs_scene *scene, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    (void)ctx;
    svg s = {.sink = out, .scene = scene, .theme = scene->view->theme};
    put_head(&s, fxs_canvas_scale(scene, opt, 1 / PIXELS, "svg"));
    put_legend(&s);
    put_frames(&s);
    put_chart(&s);
    if (!scene->over)
        put_edges(&s);
    put_nodes(&s);
    if (scene->over)
        put_edges(&s);
    fxs_buf_puts(&s.buf, "</svg>\n");
    flush(&s, 0);
    fxs_buf_free(&s.buf);
    return FXS_OK;
}
