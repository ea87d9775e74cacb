/* dot.c: see dot.h. Called by draw.c for `-o x.dot`. Each node carries its table as an HTML-like
 * label that is fixed to the measured size; stock dot measures a bit differently, and the smaller
 * padding here leaves it room to do so. */
#include "dot.h"

#include <string.h>

#include "escape.h"
#include "scene.h"
#include "write.h"

const fxs_dot_attribute fxs_dot_layout[] = {
    {FXS_DOT_GRAPH, "nodesep", "0.3"},     {FXS_DOT_GRAPH, "ranksep", "0.4"},
    {FXS_DOT_GRAPH, "searchsize", "2000"}, /* stops the sideways drift of long nets, and is faster
                                              than the default */
    {FXS_DOT_GRAPH, "splines", "spline"},  {FXS_DOT_NODE, "shape", "none"},
    {FXS_DOT_NODE, "margin", "0"},         {FXS_DOT_NODE, "fixedsize", "true"},
    {FXS_DOT_EDGE, "arrowsize", "0.7"},    {0},
};

static void put_color(fxs_buf *out, const char *name, fxs_color c) {
    fxs_buf_printf(out, " %s=\"#%06x\"", name, c);
}

static void put_layout(fxs_dot_class class, fxs_buf *out) {
    for (const fxs_dot_attribute *a = fxs_dot_layout; a->name; a++)
        if (a->class == class)
            fxs_buf_printf(out, ", %s=\"%s\"", a->name, a->value);
}

static void put_colored(fxs_buf *out, fxs_color color, const fxs_line *line) {
    fxs_buf_puts(out, "<font point-size=\"10\"");
    put_color(out, "color", color);
    fxs_buf_putc(out, '>');
    fxs_escape_xml(out, line->text, line->len);
    fxs_buf_puts(out, "</font>");
}

/* The pieces side by side: a table in the graph's label. */
static void put_legend(const fxs_view *v, fxs_buf *out) {
    fxs_buf_puts(out, "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\"><tr>");
    for (size_t i = 0; i < v->legend.n; i++) {
        const fxs_legend_item *item = &v->legend.items[i];
        if (i && !item->step && item->swatch)
            fxs_buf_puts(out, "<td width=\"10\"></td>");
        if (item->swatch) {
            fxs_buf_printf(out, "<td width=\"%d\" height=\"12\"", item->step ? 16 : 12);
            put_color(out, "bgcolor", item->fill);
            fxs_buf_puts(out, "></td>");
        }
        if (item->text.len) {
            fxs_buf_puts(out, "<td>");
            put_colored(out, v->theme->ink[item->ink], &item->text);
            fxs_buf_puts(out, "</td>");
        }
    }
    fxs_buf_puts(out, "</tr></table>");
}

static void put_heading(const fxs_view *v, fxs_buf *out) {
    if (v->legend.n) {
        fxs_buf_puts(out, ", labelloc=t, label=<");
        fxs_buf_puts(out, "<table border=\"0\" cellborder=\"0\">");
        if (v->title.len) {
            fxs_buf_puts(out, "<tr><td>");
            fxs_escape_xml(out, v->title.text, v->title.len);
            fxs_buf_puts(out, "</td></tr>");
        }
        fxs_buf_puts(out, "<tr><td>");
        put_legend(v, out);
        fxs_buf_puts(out, "</td></tr></table>>");
    } else if (v->title.len) {
        fxs_buf_puts(out, ", labelloc=t, label=\"");
        fxs_escape_dot_label(out, v->title.text, v->title.len);
        fxs_buf_puts(out, "\"");
    }
}

static void put_head(const fxs_view *v, fxs_buf *out) {
    const fxs_theme *t = v->theme;
    fxs_buf_puts(out, "digraph \"");
    fxs_escape_dot(out, v->name, strlen(v->name));
    fxs_buf_printf(out, "\" {\n    graph [rankdir=%s", v->lr ? "LR" : "TB");
    put_layout(FXS_DOT_GRAPH, out);
    fxs_buf_puts(out, ", charset=\"UTF-8\", pad=\"0.17\", fontname=\"" FXS_FONT_FAMILY
                      "\", fontsize=14,");
    put_color(out, "fontcolor", t->ink[FXS_INK_TITLE]);
    fxs_buf_puts(out, ",");
    put_color(out, "bgcolor", t->background);
    put_heading(v, out);
    fxs_buf_puts(out, "];\n    node [fontname=\"" FXS_FONT_FAMILY "\", fontsize=10,");
    put_color(out, "fontcolor", t->ink[FXS_INK_TEXT]);
    put_layout(FXS_DOT_NODE, out);
    fxs_buf_puts(out, "];\n    edge [fontname=\"" FXS_FONT_FAMILY "\", fontsize=10,");
    put_color(out, "fontcolor", t->ink[FXS_INK_KEY]);
    fxs_buf_putc(out, ',');
    put_color(out, "color", t->edge);
    put_layout(FXS_DOT_EDGE, out);
    fxs_buf_puts(out, "];\n");
}

static void put_lines(const fxs_cell *c, fxs_buf *out) {
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_escape_xml(out, c->lines[i].text, c->lines[i].len);
        if (c->nlines > 1)
            fxs_buf_puts(out, "<br align=\"left\"/>");
        else if (c->lines[i].len == 0)
            fxs_buf_putc(out, ' ');
    }
}

static void put_cell(const fxs_view *v, const fxs_view_node *n, const fxs_cell *c, bool head,
                     bool span, fxs_buf *out) {
    fxs_color ink = fxs_view_ink(v, n, head ? 0 : 1, c->ink);
    fxs_buf_printf(out, "<td%s width=\"%.0f\" height=\"%.0f\"", span ? " colspan=\"2\"" : "", c->w,
                   c->h);
    if (head)
        put_color(out, "bgcolor", n->head);
    if (c->nlines > 1)
        fxs_buf_puts(out, " align=\"left\" balign=\"left\"");
    fxs_buf_putc(out, '>');
    bool colored = ink != v->theme->ink[FXS_INK_TEXT];
    if (colored) {
        fxs_buf_puts(out, "<font");
        put_color(out, "color", ink);
        fxs_buf_putc(out, '>');
    }
    if (fxs_faces[c->ink].bold)
        fxs_buf_puts(out, "<b>");
    put_lines(c, out);
    if (fxs_faces[c->ink].bold)
        fxs_buf_puts(out, "</b>");
    if (colored)
        fxs_buf_puts(out, "</font>");
    fxs_buf_puts(out, "</td>");
}

static void put_node(const fxs_view *v, const fxs_view_node *n, fxs_buf *out) {
    fxs_buf_puts(out, "    \"");
    fxs_escape_dot(out, n->id, strlen(n->id));
    fxs_buf_puts(out, "\" [id=\"node-");
    fxs_escape_id(out, n->id);
    fxs_buf_printf(
        out,
        "\", class=\"%s%s%s\", width=%.4f, height=%.4f,\n        label=<<table border=\"0\" "
        "cellborder=\"1\" "
        "cellspacing=\"0\" cellpadding=\"2\"",
        fxs_style_class(n->style), n->classes ? " " : "", n->classes ? n->classes : "",
        n->label.w / FXS_POINTS_PER_INCH, n->label.h / FXS_POINTS_PER_INCH);
    put_color(out, "color", n->line);
    put_color(out, "bgcolor", v->theme->body);
    fxs_buf_puts(out, ">");
    for (size_t i = 0; i < n->label.nrows; i++) {
        const fxs_label_row *row = &n->label.rows[i];
        fxs_buf_puts(out, "\n        <tr>");
        for (int k = 0; k < row->ncells; k++)
            put_cell(v, n, &row->cell[k], i == 0, row->ncells == 1 && n->label.columns, out);
        fxs_buf_puts(out, "</tr>");
    }
    fxs_buf_puts(out, "</table>>];\n");
}

/* With the bracket or comma that comes before it. */
static void put_attribute(fxs_buf *out, char *before, const char *text) {
    fxs_buf_printf(out, *before == '[' ? " [%s" : ", %s", text);
    *before = ',';
}

/* Edges name no ports: dot arranges worse with them. On the 27 networks of tests/golden/models that
 * dot finishes in a minute, with shapes, downwards: 94 crossings without ports; with one at each
 * row that shows an element, 111 (dot picks the side), 96 and 29 % more area (the upper half of the
 * rows to the left, the others to the right); with slots for arguments along the upper side, 131
 * and 85 % more area. To the right: 97 without, 99 with ports at rows and 18 % more area. */
static void put_edge(const fxs_view *v, const fxs_view_edge *e, fxs_buf *out) {
    fxs_buf_puts(out, "    \"");
    fxs_escape_dot(out, v->nodes[e->from].id, strlen(v->nodes[e->from].id));
    fxs_buf_puts(out, "\" -> \"");
    fxs_escape_dot(out, v->nodes[e->to].id, strlen(v->nodes[e->to].id));
    fxs_buf_putc(out, '"');
    char before = '[';
    if (e->spine)
        put_attribute(out, &before, "weight=" FXS_DOT_SPINE_WEIGHT);
    if (!e->tensor) {
        put_attribute(out, &before, "style=dashed, class=nontensor,");
        put_color(out, "color", v->theme->nontensor);
    }
    if (e->label.len) {
        put_attribute(out, &before, "label=\"");
        fxs_escape_dot_label(out, e->label.text, e->label.len);
        fxs_buf_puts(out, "\"");
    }
    fxs_buf_puts(out, before == '[' ? ";\n" : "];\n");
}

typedef struct writer {
    const fxs_view *v;
    fxs_buf *out;
    bool inside; /* of a cluster */
} writer;

static void open_cluster(void *user, size_t c) {
    writer *w = user;
    fxs_buf *out = w->out;
    const fxs_line *label = &w->v->clusters[c].label;
    w->inside = true;
    fxs_buf_printf(out, "    subgraph cluster%zu {\n    graph [labeljust=l, fontsize=10, label=\"",
                   c);
    fxs_escape_dot_label(out, label->len ? label->text : "", label->len);
    fxs_buf_printf(out, "\", margin=%d", FXS_FRAME_PAD);
    put_color(out, "fontcolor", w->v->theme->ink[FXS_INK_KEY]);
    put_color(out, "color", w->v->theme->nontensor);
    fxs_buf_puts(out, "];\n");
}

static void name_member(void *user, size_t i) {
    const writer *w = user;
    if (!w->inside)
        return;
    fxs_buf_puts(w->out, "    \"");
    fxs_escape_dot(w->out, w->v->nodes[i].id, strlen(w->v->nodes[i].id));
    fxs_buf_puts(w->out, "\";\n");
}

static void close_cluster(void *user, size_t c) {
    const writer *w = user;
    (void)c;
    fxs_buf_puts(w->out, "    }\n");
}

static void put_clusters(const fxs_view *v, fxs_buf *out) {
    static const fxs_nesting nesting = {open_cluster, name_member, close_cluster};
    if (v->nclusters > 1 && !fxs_nest(v, &nesting, &(writer){.v = v, .out = out}))
        out->failed = true;
}

void fxs_dot_write(const fxs_view *v, fxs_buf *out) {
    put_head(v, out);
    for (size_t i = 0; i < v->nnodes; i++)
        put_node(v, &v->nodes[i], out);
    put_clusters(v, out);
    for (size_t i = 0; i < v->nedges; i++)
        put_edge(v, &v->edges[i], out);
    fxs_buf_puts(out, "}\n");
}
