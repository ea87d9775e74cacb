/* canvas_graphml.c: the scene as GraphML, for yEd, Gephi, Cytoscape, NetworkX, igraph: what is
 * known of each node as typed data, places, and the same looks in yEd's own elements. Clusters are
 * nodes that hold a graph. Called through its row in draw.c. */
#include <string.h>

#include "canvas.h"
#include "emit/facts.h"
#include "emit/format.h"
#include "escape.h"
#include "write.h"

/* The data: X(id, "node" or "edge", type, name). Times are not among them: a file is the same every
 * time. */
#define KEY_MAP(X)                                                                                 \
    X("name", "node", "string", "name")                                                            \
    X("kind", "node", "string", "kind")                                                            \
    X("target", "node", "string", "target")                                                        \
    X("module", "node", "string", "module")                                                        \
    X("outcome", "node", "string", "outcome")                                                      \
    X("result", "node", "string", "result")                                                        \
    X("message", "node", "string", "message")                                                      \
    X("parameters", "node", "long", "parameters")                                                  \
    X("flops", "node", "double", "flops")                                                          \
    X("reference", "node", "boolean", "reference")                                                 \
    X("label", "node", "string", "label")                                                          \
    X("color", "node", "string", "color")                                                          \
    X("x", "node", "double", "x")                                                                  \
    X("y", "node", "double", "y")                                                                  \
    X("width", "node", "double", "width")                                                          \
    X("height", "node", "double", "height")                                                        \
    X("tensor", "edge", "boolean", "tensor")                                                       \
    X("text", "edge", "string", "label")                                                           \
    X("description", "graph", "string", "description")                                             \
    X("legend", "graph", "string", "legend")

typedef struct writer {
    fxs_buf buf;
    fxs_sink *out;
    const fxs_scene *s;
    const fxs_view *v;
} writer;

/* What colours mean, a line each. */
static void put_legend(writer *w) {
    const fxs_legend *l = &w->v->legend;
    if (l->n == 0)
        return;
    fxs_buf_puts(&w->buf, "<data key=\"legend\">");
    for (size_t i = 0; i < l->n; i++) {
        const fxs_legend_item *item = &l->items[i];
        fxs_buf_puts(&w->buf, i ? "\n" : "");
        if (item->swatch)
            fxs_buf_printf(&w->buf, "#%06x ", item->fill);
        fxs_escape_xml(&w->buf, item->text.len ? item->text.text : "", item->text.len);
    }
    fxs_buf_puts(&w->buf, "</data>\n");
}

static void put_head(writer *w) {
    fxs_buf_puts(&w->buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml "
                          "xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
                          "xmlns:y=\"http://www.yworks.com/xml/graphml\">\n"
#define X(id, of, type, name)                                                                      \
    "<key id=\"" id "\" for=\"" of "\" attr.name=\"" name "\" attr.type=\"" type "\"/>\n"
                 KEY_MAP(X)
#undef X
                     "<key id=\"nodelooks\" for=\"node\" yfiles.type=\"nodegraphics\"/>\n"
                     "<key id=\"edgelooks\" for=\"edge\" yfiles.type=\"edgegraphics\"/>\n"
                     "<graph id=\"g\" edgedefault=\"directed\">\n<data key=\"description\">");
    fxs_escape_xml(&w->buf, w->v->description, strlen(w->v->description));
    fxs_buf_puts(&w->buf, "</data>\n");
    put_legend(w);
}

/* ---- data
 * ------------------------------------------------------------------------------------------------
 */

static void put_text(fxs_buf *b, const char *key, const char *s, size_t len) {
    fxs_buf clean = {0};
    fxs_clean(&clean, s, len, FXS_TIP_CHARS, true);
    fxs_buf_printf(b, "<data key=\"%s\">", key);
    fxs_escape_xml(b, clean.data, clean.len);
    fxs_buf_puts(b, "</data>\n");
    b->failed |= clean.failed;
    fxs_buf_free(&clean);
}

static void put_data(fxs_buf *b, const char *key, double x) {
    fxs_buf_printf(b, "<data key=\"%s\">", key);
    fxs_put_number(b, x);
    fxs_buf_puts(b, "</data>\n");
}

static void put_result(fxs_buf *b, const fxs_meta *meta) {
    fxs_buf text = {0};
    fxs_buf_node_result(&text, meta);
    put_text(b, "result", text.data ? text.data : "", text.len);
    b->failed |= text.failed;
    fxs_buf_free(&text);
}

static void put_facts(fxs_buf *b, const fxs_view_node *n) {
    static const char *const outcomes[] = {
#define X(name, text) text,
        FXS_OUTCOME_MAP(X)
#undef X
    };
    const fxs_node *node = n->node;
    const fxs_meta *meta = &node->meta;
    const fxs_scope *scope = fxs_node_scope(node);
    put_text(b, "name", node->name, strlen(node->name));
    put_text(b, "kind", fxs_kind_name(node->kind), strlen(fxs_kind_name(node->kind)));
    put_text(b, "target", node->target, strlen(node->target));
    if (scope)
        put_text(b, "module", scope->path, strlen(scope->path));
    put_text(b, "outcome", outcomes[meta->outcome], strlen(outcomes[meta->outcome]));
    if (meta->outcome == FXS_DONE)
        put_result(b, meta);
    if (meta->message)
        put_text(b, "message", meta->message, strlen(meta->message));
    if (meta->parameters > 0)
        fxs_buf_printf(b, "<data key=\"parameters\">%lld</data>\n", (long long)meta->parameters);
    if (meta->flops > 0)
        fxs_buf_printf(b, "<data key=\"flops\">%.17g</data>\n", meta->flops);
    fxs_buf_printf(b, "<data key=\"reference\">%s</data>\n", n->reference ? "true" : "false");
}

/* The table as lines of text. */
static void put_label(fxs_buf *b, const fxs_label *l) {
    for (size_t r = 0; r < l->nrows; r++)
        for (int k = 0; k < l->rows[r].ncells; k++) {
            const fxs_cell *c = &l->rows[r].cell[k];
            for (size_t i = 0; i < c->nlines; i++) {
                fxs_buf_puts(b, i ? "\n" : k ? "  " : r ? "\n" : "");
                fxs_escape_xml(b, c->lines[i].text, c->lines[i].len);
            }
        }
}

/* ---- looks
 * ------------------------------------------------------------------------------------------------
 */

static void put_attribute(fxs_buf *b, const char *name, double x) {
    fxs_buf_printf(b, " %s=\"", name);
    fxs_put_number(b, x);
    fxs_buf_putc(b, '"');
}

static void put_geometry(fxs_buf *b, double x, double y, double w, double h) {
    fxs_buf_puts(b, "<y:Geometry");
    put_attribute(b, "x", x);
    put_attribute(b, "y", y);
    put_attribute(b, "width", w);
    put_attribute(b, "height", h);
    fxs_buf_puts(b, "/>");
}

static void put_node_looks(const writer *w, fxs_buf *b, const fxs_view_node *n,
                           const fxs_box *box) {
    fxs_buf_puts(b, "<data key=\"nodelooks\"><y:ShapeNode>");
    put_geometry(b, box->x, box->y, n->label.w, n->label.h);
    fxs_buf_printf(b,
                   "<y:Fill color=\"#%06x\" transparent=\"false\"/><y:BorderStyle color=\"#%06x\" "
                   "type=\"line\" width=\"1.0\"/><y:NodeLabel alignment=\"left\" fontSize=\"10\" "
                   "textColor=\"#%06x\">",
                   n->head, n->line, fxs_view_ink(w->v, n, 0, FXS_INK_TEXT));
    put_label(b, &n->label);
    fxs_buf_puts(b, "</y:NodeLabel><y:Shape type=\"rectangle\"/></y:ShapeNode></data>\n");
}

static void put_node(void *user, size_t i) {
    writer *w = user;
    fxs_buf *b = &w->buf;
    const fxs_view_node *n = &w->v->nodes[i];
    const fxs_box *box = &w->s->boxes[i];
    fxs_buf_printf(b, "<node id=\"n%zu\">\n", i);
    put_facts(b, n);
    fxs_buf_puts(b, "<data key=\"label\">");
    put_label(b, &n->label);
    fxs_buf_puts(b, "</data>\n");
    fxs_buf_printf(b, "<data key=\"color\">#%06x</data>\n", n->head);
    put_data(b, "x", box->x);
    put_data(b, "y", box->y);
    put_data(b, "width", n->label.w);
    put_data(b, "height", n->label.h);
    put_node_looks(w, b, n, box);
    fxs_buf_puts(b, "</node>\n");
    fxs_flush(b, w->out, FXS_FLUSH);
}

static void open_cluster(void *user, size_t c) {
    writer *w = user;
    fxs_buf *b = &w->buf;
    const fxs_line *label = &w->v->clusters[c].label;
    const fxs_area *f = &w->s->frames[c];
    fxs_buf_printf(b, "<node id=\"c%zu\" yfiles.foldertype=\"group\">\n<data key=\"label\">", c);
    fxs_escape_xml(b, label->len ? label->text : "", label->len);
    fxs_buf_puts(b, "</data>\n<data key=\"nodelooks\"><y:ProxyAutoBoundsNode><y:Realizers "
                    "active=\"0\"><y:GroupNode>");
    if (fxs_frame_shown(f))
        put_geometry(b, f->low.x, f->low.y, f->high.x - f->low.x, f->high.y - f->low.y);
    fxs_buf_printf(b,
                   "<y:Fill hasColor=\"false\" transparent=\"true\"/><y:BorderStyle "
                   "color=\"#%06x\" type=\"line\" width=\"1.0\"/><y:NodeLabel fontSize=\"10\" "
                   "modelName=\"internal\" modelPosition=\"tl\" textColor=\"#%06x\">",
                   w->v->theme->nontensor, w->v->theme->ink[FXS_INK_KEY]);
    fxs_escape_xml(b, label->len ? label->text : "", label->len);
    fxs_buf_printf(b,
                   "</y:NodeLabel><y:Shape type=\"roundrectangle\"/><y:State closed=\"false\"/>"
                   "</y:GroupNode></y:Realizers></y:ProxyAutoBoundsNode></data>\n<graph "
                   "id=\"g%zu\" edgedefault=\"directed\">\n",
                   c);
}

static void close_cluster(void *user, size_t c) {
    (void)c;
    fxs_buf_puts(&((writer *)user)->buf, "</graph>\n</node>\n");
}

static void put_point(fxs_buf *b, fxs_point p) {
    fxs_buf_puts(b, "<y:Point");
    put_attribute(b, "x", p.x);
    put_attribute(b, "y", p.y);
    fxs_buf_puts(b, "/>");
}

/* Bends where curves meet, and on the way of those that turn. */
static void put_bends(fxs_buf *b, const fxs_curve *c) {
    for (size_t k = 0; k + 3 < c->n; k += 3) {
        const fxs_point *p = &c->points[k];
        if (k)
            put_point(b, p[0]);
        for (int i = 1; i < 3 && !fxs_is_straight(p); i++)
            put_point(b, fxs_curve_at(p, i / 3.0));
    }
}

static void put_edge(writer *w, size_t i) {
    fxs_buf *b = &w->buf;
    const fxs_view_edge *e = &w->v->edges[i];
    fxs_buf_printf(b,
                   "<edge id=\"e%zu\" source=\"n%zu\" target=\"n%zu\">\n<data "
                   "key=\"tensor\">%s</data>\n",
                   i, e->from, e->to, e->tensor ? "true" : "false");
    if (e->label.len)
        put_text(b, "text", e->label.text, e->label.len);
    fxs_buf_puts(b, "<data key=\"edgelooks\"><y:PolyLineEdge><y:Path>");
    put_bends(b, &w->s->curves[i]);
    fxs_buf_printf(b, "</y:Path><y:LineStyle color=\"#%06x\" type=\"%s\" width=\"1.0\"/>",
                   e->tensor ? w->v->theme->edge : w->v->theme->nontensor,
                   e->tensor ? "line" : "dashed");
    fxs_buf_puts(b, "<y:Arrows source=\"none\" target=\"standard\"/>");
    if (fxs_label_shown(w->s, i)) {
        fxs_buf_puts(b, "<y:EdgeLabel fontSize=\"10\">");
        fxs_escape_xml(b, e->label.text, e->label.len);
        fxs_buf_puts(b, "</y:EdgeLabel>");
    }
    fxs_buf_puts(b, "<y:BendStyle smoothed=\"true\"/></y:PolyLineEdge></data>\n</edge>\n");
    fxs_flush(b, w->out, FXS_FLUSH);
}

fxs_status fxs_canvas_graphml(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                              fxs_sink *out) {
    static const fxs_nesting nesting = {open_cluster, put_node, close_cluster};
    writer w = {.out = out, .s = s, .v = s->view};
    (void)opt;
    put_head(&w);
    bool ok = fxs_nest(w.v, &nesting, &w);
    for (size_t i = 0; i < w.v->nedges; i++)
        put_edge(&w, i);
    fxs_buf_puts(&w.buf, "</graph>\n</graphml>\n");
    fxs_flush(&w.buf, out, 0);
    fxs_buf_free(&w.buf);
    return ok ? FXS_OK : fxs_fail_memory(ctx);
}
