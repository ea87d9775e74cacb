/* canvas_log.c: the list of draw calls as text, places rounded to whole points: what golden tests
 * compare. Also the small canvas "dot", which writes the DOT text, and the place of a cell's lines
 * and the scale, which all canvases share. */
#include <math.h>

#include "canvas.h"
#include "dot.h"

fxs_point fxs_cell_line_at(const fxs_cell *c, size_t line) {
    const fxs_face *face = &fxs_faces[c->ink];
    double above = (c->h - (double)c->nlines * face->line) / 2;
    double x = c->nlines == 1 ? c->x + (c->w - c->lines[line].width) / 2 : c->x + FXS_PAD_X;
    return (fxs_point){x, c->y + above + (double)line * face->line + face->baseline};
}

bool fxs_canvas_unreadable(double scale) {
    enum { READABLE = 6 }; /* points of paper, pixels of a screen */
    return fxs_faces[FXS_INK_TEXT].size * scale < READABLE - 1e-9;
}

double fxs_canvas_scale(const fxs_scene *s, const fxs_canvas_options *opt, double px,
                        const char *format) {
    double wanted = opt->width.value * (opt->width.pixels ? px : 1);
    double scale = wanted > 0 && s->w > 0 ? wanted / s->w : 1;
    if (fxs_canvas_unreadable(scale))
        fxs_buf_printf(opt->notes, "%s: at this width text is %.2g points high\n", format,
                       fxs_faces[FXS_INK_TEXT].size * scale);
    return scale;
}

static long whole(double x) { return lround(x); }

static void log_cell(fxs_buf *out, const fxs_box *b, const fxs_cell *c) {
    static const char *const inks[] = {"name", "text", "key", "error", "title"};
    fxs_buf_printf(out, "  cell %ld %ld %ld %ld\n", whole(b->x + c->x), whole(b->y + c->y),
                   whole(c->w), whole(c->h));
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_point p = fxs_cell_line_at(c, i);
        fxs_buf_printf(out, "    %s %ld %ld %.*s\n", inks[c->ink], whole(b->x + p.x),
                       whole(b->y + p.y), (int)c->lines[i].len, c->lines[i].text);
    }
}

static void log_node(fxs_buf *out, const fxs_view_node *n, const fxs_box *b) {
    fxs_buf_printf(out, "box %ld %ld %ld %ld %s %s\n", whole(b->x), whole(b->y), whole(n->label.w),
                   whole(n->label.h), fxs_style_class(n->style), n->id);
    for (size_t i = 0; i < n->label.nrows; i++)
        for (int k = 0; k < n->label.rows[i].ncells; k++)
            log_cell(out, b, &n->label.rows[i].cell[k]);
}

static void log_edge(fxs_buf *out, const fxs_scene *s, size_t edge) {
    const fxs_view *v = s->view;
    const fxs_view_edge *e = &v->edges[edge];
    const fxs_curve *c = &s->curves[edge];
    fxs_buf_printf(out, "edge %s %s %zu %s", v->nodes[e->from].id, v->nodes[e->to].id, e->use,
                   e->tensor ? "tensor" : "nontensor");
    for (size_t k = 0; k < c->n; k++)
        fxs_buf_printf(out, " %ld,%ld", whole(c->points[k].x), whole(c->points[k].y));
    fxs_buf_printf(out, " tip %ld,%ld\n", whole(c->tip.x), whole(c->tip.y));
    if (fxs_label_shown(s, edge))
        fxs_buf_printf(out, "  label %ld %ld %.*s\n", whole(c->label.x), whole(c->label.y),
                       (int)e->label.len, e->label.text);
}

static void log_frames(fxs_buf *out, const fxs_scene *s) {
    for (size_t i = 1; i < s->view->nclusters; i++) {
        const fxs_area *f = &s->frames[i];
        const fxs_line *label = &s->view->clusters[i].label;
        if (fxs_frame_shown(f))
            fxs_buf_printf(out, "frame %ld %ld %ld %ld %.*s\n", whole(f->low.x), whole(f->low.y),
                           whole(f->high.x - f->low.x), whole(f->high.y - f->low.y),
                           (int)label->len, label->len ? label->text : "");
    }
}

static void log_legend(fxs_buf *out, const fxs_scene *s) {
    for (size_t i = 0; i < s->view->legend.n; i++) {
        const fxs_legend_item *item = &s->view->legend.items[i];
        if (item->swatch)
            fxs_buf_printf(out, "swatch %ld %ld #%06x\n", whole(s->swatches[i].low.x),
                           whole(s->swatches[i].low.y), item->fill);
        if (item->text.len)
            fxs_buf_printf(out, "legend %ld %ld %s\n", whole(s->swatch_texts[i].x),
                           whole(s->swatch_texts[i].y), item->text.text);
    }
}

fxs_status fxs_canvas_log(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    (void)ctx;
    (void)opt;
    const fxs_view *v = s->view;
    fxs_buf *b = &out->buf;
    fxs_buf_printf(b, "page %ld %ld %s\n", whole(s->w), whole(s->h), v->description);
    if (v->title.len)
        fxs_buf_printf(b, "title %ld %ld %s\n", whole(s->title.x), whole(s->title.y),
                       v->title.text);
    log_legend(b, s);
    log_frames(b, s);
    for (size_t i = 0; i < v->nedges; i++)
        log_edge(b, s, i);
    for (size_t i = 0; i < v->nnodes; i++)
        log_node(b, &v->nodes[i], &s->boxes[i]);
    return FXS_OK;
}

fxs_status fxs_canvas_dot(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    (void)ctx;
    (void)opt;
    fxs_dot_write(s->view, &out->buf);
    return FXS_OK;
}
