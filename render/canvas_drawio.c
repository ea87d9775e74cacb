/* canvas_drawio.c: the scene as a draw.io (diagrams.net) file, to be edited there: each node one
 * shape whose label is its table, each edge a connector that keeps its ends when shapes are moved,
 * clusters as containers. Not compressed, so that version control can compare it. Called through
 * its row in draw.c. */
#include <math.h>
#include <string.h>

#include "canvas.h"
#include "escape.h"
#include "write.h"

typedef struct writer {
    fxs_buf buf, html;
    fxs_sink *out;
    const fxs_scene *s;
    const fxs_view *v;
} writer;

static void put_attribute(fxs_buf *b, const char *name, double x) {
    fxs_buf_printf(b, " %s=\"", name);
    fxs_put_number(b, x);
    fxs_buf_putc(b, '"');
}

/* `at` is where the parent's corner is. */
static void put_geometry(fxs_buf *b, fxs_point at, double x, double y, double w, double h) {
    fxs_buf_puts(b, "<mxGeometry");
    put_attribute(b, "x", x - at.x);
    put_attribute(b, "y", y - at.y);
    put_attribute(b, "width", w);
    put_attribute(b, "height", h);
    fxs_buf_puts(b, " as=\"geometry\"/>");
}

static void put_point(fxs_buf *b, fxs_point p) {
    fxs_buf_puts(b, "<mxPoint");
    put_attribute(b, "x", p.x);
    put_attribute(b, "y", p.y);
    fxs_buf_puts(b, "/>");
}

/* An attribute that holds HTML. */
static void put_html(writer *w) {
    fxs_escape_xml(&w->buf, w->html.data ? w->html.data : "", w->html.len);
    w->buf.failed |= w->html.failed;
    fxs_buf_cut(&w->html, 0);
}

/* ---- clusters
 * --------------------------------------------------------------------------------------------- */

/* The innermost cluster with a frame that holds cluster c or is it; 0: the page. */
static size_t framed(const fxs_scene *s, size_t c) {
    while (c && !fxs_frame_shown(&s->frames[c]))
        c = s->view->clusters[c].parent;
    return c;
}

/* " parent=" of what is in cluster c; the corner that its place counts from. */
static fxs_point put_parent(fxs_buf *b, const fxs_scene *s, size_t c) {
    c = framed(s, c);
    fxs_buf_printf(b, c ? " parent=\"c%zu\"" : " parent=\"1\"", c);
    return c ? s->frames[c].low : (fxs_point){0, 0};
}

static void put_cluster(writer *w, size_t c) {
    fxs_buf *b = &w->buf;
    const fxs_area *f = &w->s->frames[c];
    const fxs_line *label = &w->v->clusters[c].label;
    if (!fxs_frame_shown(f))
        return;
    fxs_escape_xml(&w->html, label->len ? label->text : "", label->len);
    fxs_buf_printf(b, "<mxCell id=\"c%zu\" value=\"", c);
    put_html(w);
    fxs_buf_printf(
        b,
        "\" style=\"rounded=1;arcSize=4;absoluteArcSize=1;container=1;collapsible=0;foldable=0;"
        "html=1;fillColor=none;strokeColor=#%06x;fontColor=#%06x;fontSize=10;align=left;"
        "verticalAlign=top;spacingLeft=6;\" vertex=\"1\"",
        w->v->theme->nontensor, w->v->theme->ink[FXS_INK_KEY]);
    fxs_point at = put_parent(b, w->s, w->v->clusters[c].parent);
    fxs_buf_putc(b, '>');
    put_geometry(b, at, f->low.x, f->low.y, f->high.x - f->low.x, f->high.y - f->low.y);
    fxs_buf_puts(b, "</mxCell>\n");
}

/* ---- nodes
 * ------------------------------------------------------------------------------------------------
 */

static void put_cell(const writer *w, fxs_buf *b, const fxs_view_node *n, size_t row, int k) {
    const fxs_cell *c = &n->label.rows[row].cell[k];
    bool wide = n->label.columns && n->label.rows[row].ncells == 1;
    fxs_buf_printf(b,
                   "<td%s style=\"box-sizing:border-box;height:%.0fpx;width:%.0fpx;padding:0 %dpx;"
                   "line-height:1;text-align:%s",
                   wide ? " colspan=\"2\"" : "", c->h, c->w, FXS_PAD_X,
                   c->nlines > 1 ? "left" : "center");
    if (row == 0)
        fxs_buf_printf(b, ";background:#%06x", n->head);
    else
        fxs_buf_printf(b, ";border-top:1px solid #%06x", n->line);
    if (k)
        fxs_buf_printf(b, ";border-left:1px solid #%06x", n->line);
    fxs_buf_printf(b, ";color:#%06x\">%s", fxs_view_ink(w->v, n, row, c->ink),
                   fxs_faces[c->ink].bold ? "<b>" : "");
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_buf_puts(b, i ? "<br>" : "");
        fxs_escape_xml(b, c->lines[i].text, c->lines[i].len);
    }
    fxs_buf_puts(b, fxs_faces[c->ink].bold ? "</b></td>" : "</td>");
}

static void put_table(const writer *w, fxs_buf *b, const fxs_view_node *n) {
    fxs_buf_printf(b,
                   "<table style=\"width:100%%;height:100%%;border-collapse:collapse;"
                   "white-space:nowrap;border:1px solid #%06x\">",
                   n->line);
    for (size_t r = 0; r < n->label.nrows; r++) {
        fxs_buf_puts(b, "<tr>");
        for (int k = 0; k < n->label.rows[r].ncells; k++)
            put_cell(w, b, n, r, k);
        fxs_buf_puts(b, "</tr>");
    }
    fxs_buf_puts(b, "</table>");
}

static void put_node(writer *w, size_t i) {
    fxs_buf *b = &w->buf;
    const fxs_view_node *n = &w->v->nodes[i];
    put_table(w, &w->html, n);
    fxs_buf_printf(b, "<UserObject id=\"n%zu\" label=\"", i);
    put_html(w);
    fxs_buf_puts(b, "\" tooltip=\"");
    for (size_t k = 0; k < n->tip.len; k++) /* a newline in an attribute would become a space */
        if (n->tip.text[k] == '\n')
            fxs_buf_puts(b, "&#10;");
        else
            fxs_escape_xml(b, n->tip.text + k, 1);
    fxs_buf_printf(b,
                   "\" class=\"%s\"><mxCell style=\"html=1;overflow=fill;fillColor=#%06x;"
                   "strokeColor=#%06x;fontColor=#%06x;fontSize=10;fontFamily=DejaVu Sans;\" "
                   "vertex=\"1\"",
                   fxs_style_class(n->style), w->v->theme->body, n->line,
                   w->v->theme->ink[FXS_INK_TEXT]);
    fxs_point at = put_parent(b, w->s, w->v->nclusters ? n->cluster : 0);
    fxs_buf_putc(b, '>');
    put_geometry(b, at, w->s->boxes[i].x, w->s->boxes[i].y, n->label.w, n->label.h);
    fxs_buf_puts(b, "</mxCell></UserObject>\n");
    fxs_flush(b, w->out, FXS_FLUSH);
}

/* ---- edges
 * ------------------------------------------------------------------------------------------------
 */

static double share(double x, double of) { return of > 0 ? fmin(fmax(x / of, 0), 1) : 0; }

/* "exitX=0.5;exitY=1;exitDx=0;exitDy=0;": where on the box of the node an edge is tied. */
static void put_tie(const writer *w, fxs_buf *b, const char *end, size_t node, fxs_point p) {
    const fxs_label *l = &w->v->nodes[node].label;
    const fxs_box *box = &w->s->boxes[node];
    fxs_buf_printf(b, "%sX=", end);
    fxs_put_number(b, share(p.x - box->x, l->w));
    fxs_buf_printf(b, ";%sY=", end);
    fxs_put_number(b, share(p.y - box->y, l->h));
    fxs_buf_printf(b, ";%sDx=0;%sDy=0;%sPerimeter=0;", end, end, end);
}

/* draw.io's curved connector turns around the points that it is given, as a quadratic spline: the
 * inner points of our cubic curves. Where a straight piece begins or ends, its end is one of them,
 * so that it stays straight. */
static void put_points(fxs_buf *b, const fxs_curve *c) {
    bool before = true; /* a straight piece, as the arrow is in the end */
    fxs_buf_puts(b, "<Array as=\"points\">");
    for (size_t k = 0; k + 3 < c->n; k += 3) {
        const fxs_point *p = &c->points[k];
        bool straight = fxs_is_straight(p);
        if (k && (straight || before))
            put_point(b, p[0]);
        for (int i = 1; i < 3 && !straight; i++)
            put_point(b, p[i]);
        before = straight;
    }
    if (c->n && !before)
        put_point(b, c->points[c->n - 1]);
    fxs_buf_puts(b, "</Array>");
}

/* Where on an edge its label is, from -1 at its beginning to 1 at its end. */
static double label_place(const fxs_curve *c) {
    enum { STEPS = 32 };
    fxs_point from = c->n ? c->points[0] : c->tip;
    const double middle = fxs_faces[FXS_INK_KEY].size / 3; /* of a line, over its baseline */
    double length = 0, at = 0, nearest = INFINITY;
    for (size_t k = 0; k + 3 < c->n; k += 3)
        for (int i = 1; i <= STEPS; i++) {
            fxs_point to = fxs_curve_at(&c->points[k], (double)i / STEPS);
            double far = hypot(to.x - c->label.x, to.y - (c->label.y - middle));
            length += hypot(to.x - from.x, to.y - from.y);
            at = far < nearest ? length : at;
            nearest = fmin(nearest, far);
            from = to;
        }
    length += hypot(c->tip.x - from.x, c->tip.y - from.y);
    return length > 0 ? 2 * at / length - 1 : 0;
}

static void put_edge(writer *w, size_t i) {
    fxs_buf *b = &w->buf;
    const fxs_view_edge *e = &w->v->edges[i];
    const fxs_curve *c = &w->s->curves[i];
    if (fxs_label_shown(w->s, i))
        fxs_escape_xml(&w->html, e->label.text, e->label.len);
    fxs_buf_printf(b, "<mxCell id=\"e%zu\" value=\"", i);
    put_html(w);
    fxs_buf_printf(b,
                   "\" style=\"html=1;curved=1;rounded=0;endArrow=block;endFill=1;endSize=4;"
                   "strokeColor=#%06x;fontSize=10;fontColor=#%06x;labelBackgroundColor=none;%s%s",
                   e->tensor ? w->v->theme->edge : w->v->theme->nontensor,
                   w->v->theme->ink[FXS_INK_KEY],
                   w->v->lr ? "verticalAlign=bottom;" : "align=left;spacingLeft=4;",
                   e->tensor ? "" : "dashed=1;");
    if (c->n) {
        put_tie(w, b, "exit", e->from, c->points[0]);
        put_tie(w, b, "entry", e->to, c->tip);
    }
    fxs_buf_printf(b, "\" edge=\"1\" parent=\"1\" source=\"n%zu\" target=\"n%zu\">", e->from,
                   e->to);
    fxs_buf_puts(b, "<mxGeometry relative=\"1\"");
    if (fxs_label_shown(w->s, i))
        put_attribute(b, "x", label_place(c));
    fxs_buf_puts(b, " as=\"geometry\">");
    put_points(b, c);
    fxs_buf_puts(b, "</mxGeometry></mxCell>\n");
    fxs_flush(b, w->out, FXS_FLUSH);
}

/* ---- the file
 * ---------------------------------------------------------------------------------------------- */

static void put_head(writer *w) {
    fxs_buf *b = &w->buf;
    fxs_buf_puts(b, "<mxfile host=\"fxscope\" compressed=\"false\">\n<diagram id=\"page\" name=\"");
    fxs_escape_xml(b, w->v->name, strlen(w->v->name));
    fxs_buf_puts(b, "\">\n<mxGraphModel grid=\"0\" page=\"1\" pageScale=\"1\" math=\"0\"");
    put_attribute(b, "pageWidth", w->s->w);
    put_attribute(b, "pageHeight", w->s->h);
    fxs_buf_printf(b,
                   " background=\"#%06x\">\n<root>\n<mxCell id=\"0\"/>\n<mxCell id=\"1\" "
                   "parent=\"0\"/>\n",
                   w->v->theme->background);
}

/* A text that belongs to no node, with the left end of its baseline at p. */
static void put_text(writer *w, const char *id, size_t number, fxs_ink ink, fxs_point p,
                     const fxs_line *l) {
    const fxs_face *face = &fxs_faces[ink];
    if (l->len == 0)
        return;
    fxs_escape_xml(&w->html, l->text, l->len);
    fxs_buf_printf(&w->buf, "<mxCell id=\"%s%zu\" value=\"", id, number);
    put_html(w);
    fxs_buf_printf(&w->buf,
                   "\" style=\"text;html=1;fillColor=none;strokeColor=none;align=center;"
                   "verticalAlign=middle;fontStyle=%d;fontSize=%.0f;fontColor=#%06x;\" "
                   "vertex=\"1\" parent=\"1\">",
                   face->bold, face->size, w->v->theme->ink[ink]);
    put_geometry(&w->buf, (fxs_point){0, 0}, p.x, p.y - face->baseline, l->width, face->line);
    fxs_buf_puts(&w->buf, "</mxCell>\n");
}

static void put_legend(writer *w) {
    const fxs_legend *l = &w->v->legend;
    for (size_t i = 0; i < l->n; i++) {
        const fxs_area *a = &w->s->swatches[i];
        if (l->items[i].swatch) {
            fxs_buf_printf(&w->buf,
                           "<mxCell id=\"swatch%zu\" style=\"fillColor=#%06x;strokeColor=#%06x;\" "
                           "vertex=\"1\" parent=\"1\">",
                           i, l->items[i].fill, l->items[i].line);
            put_geometry(&w->buf, (fxs_point){0, 0}, a->low.x, a->low.y, a->high.x - a->low.x,
                         a->high.y - a->low.y);
            fxs_buf_puts(&w->buf, "</mxCell>\n");
        }
        put_text(w, "legend", i, l->items[i].ink, w->s->swatch_texts[i], &l->items[i].text);
    }
}

fxs_status fxs_canvas_drawio(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                             fxs_sink *out) {
    writer w = {.out = out, .s = s, .v = s->view};
    (void)ctx;
    (void)opt;
    put_head(&w);
    put_text(&w, "title", 0, FXS_INK_TITLE, s->title, &w.v->title);
    put_legend(&w);
    for (size_t c = 1; c < w.v->nclusters; c++)
        put_cluster(&w, c);
    for (size_t i = 0; i < w.v->nnodes; i++)
        put_node(&w, i);
    for (size_t i = 0; i < w.v->nedges; i++) /* behind the ends that they name */
        put_edge(&w, i);
    fxs_buf_puts(&w.buf, "</root>\n</mxGraphModel>\n</diagram>\n</mxfile>\n");
    fxs_flush(&w.buf, out, 0);
    fxs_buf_free(&w.buf);
    fxs_buf_free(&w.html);
    return FXS_OK;
}
