/* canvas_mermaid.c: the view as a Mermaid flowchart, which GitHub, GitLab and many others show
 * where it stands in a Markdown file. Mermaid arranges it itself; shapes and classes say the kinds.
 * Called through its row in draw.c. */
#include <string.h>

#include "canvas.h"
#include "escape.h"
#include "palette.h"
#include "write.h"

/* What Mermaid shows unless its settings (maxEdges, maxTextSize) are changed, which a file can't
 * do, and GitHub does not. */
enum { MOST_EDGES = 500, MOST_CHARS = 50000 };
/* Pixels at which Mermaid would break a line; ours are broken already. */
enum { LINE_PIXELS = 1000 };
#define JOINER                                                                                     \
    "\xe2\x81\xa0" /* a word joiner: takes no room, and parts what must not be read as one */

typedef struct writer {
    fxs_buf buf;
    fxs_sink *out;
    const fxs_view *v;
    size_t chars; /* as Mermaid counts them: UTF-16 */
} writer;

static void pass_on(writer *w, size_t over) {
    if (w->buf.len <= over)
        return;
    for (size_t i = 0; i < w->buf.len; i++) {
        unsigned char c = (unsigned char)w->buf.data[i];
        w->chars += (c & 0xc0) != 0x80;
        w->chars += c >= 0xf0;
    }
    fxs_flush(&w->buf, w->out, 0);
}

/* ---- texts: between double quotes, where Mermaid would still read its entities and directives,
 * HTML, Markdown and TeX
 * -----------------------------------------------------------------------------------------------
 */

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether s[i] could begin or end something; `digits`: the line holds nothing but digits so far. */
static bool is_special(const char *s, size_t len, size_t i, bool digits) {
    char c = s[i], next = i + 1 < len ? s[i + 1] : ' ';
    if (strchr("\"#&<>%:;`*~$\\!|{}^", c))
        return true;
    if (c == '_')
        return i == 0 || !is_word(s[i - 1]) || !is_word(next);
    if (strchr(".)", c))
        return i > 0 && digits; /* a numbered list */
    if (strchr("-+= ", c))
        return i == 0;
    return strchr("([:", c) && i > 0 && s[i - 1] == ']'; /* a link */
}

/* What Mermaid looks for after all is decoded: formulas, line breaks, icons ("fa:fa-ban"). */
static bool is_late(const char *s, size_t len, size_t i) {
    static const char *const late[] = {"$$", "\\n", "\\N", ":fa-"};
    for (size_t k = 0; k < sizeof late / sizeof *late; k++)
        if (len - i >= strlen(late[k]) && memcmp(s + i, late[k], strlen(late[k])) == 0)
            return true;
    return false;
}

static void put_text(fxs_buf *b, const char *s, size_t len) {
    bool digits = true;
    for (size_t i = 0; i < len; i++) {
        if (is_special(s, len, i, digits))
            fxs_buf_printf(b, "#%d;", s[i]);
        else
            fxs_buf_putc(b, s[i]);
        if (is_late(s, len, i))
            fxs_buf_puts(b, JOINER);
        digits &= s[i] >= '0' && s[i] <= '9';
    }
}

static void put_lines(fxs_buf *b, const fxs_cell *c) {
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_buf_puts(b, i ? "<br/>" : "");
        put_text(b, c->lines[i].text, c->lines[i].len);
    }
}

/* A text of YAML in double quotes. */
static void put_yaml(fxs_buf *b, const char *s, size_t len) {
    fxs_buf_putc(b, '"');
    fxs_escape_dot(b, s, len); /* the same two characters */
    fxs_buf_putc(b, '"');
}

/* ---- nodes
 * ------------------------------------------------------------------------------------------------
 */

/* What stands around the label, by kind. */
static const struct {
    const char *open, *close;
} shapes[FXS_STYLE_COUNT] = {
    [FXS_PLACEHOLDER] = {"([", "])"}, [FXS_GET_ATTR] = {"[(", ")]"},
    [FXS_CALL_FUNCTION] = {"(", ")"}, [FXS_CALL_MODULE] = {"[", "]"},
    [FXS_CALL_METHOD] = {"{{", "}}"}, [FXS_OUTPUT] = {"([", "])"},
};

static const char *class_name(fxs_style s) {
    const char *name = fxs_style_class(s), *kind = "kind-";
    return strncmp(name, kind, strlen(kind)) == 0 ? name + strlen(kind) : name;
}

static void put_node(void *user, size_t i) {
    writer *w = user;
    fxs_buf *b = &w->buf;
    const fxs_view_node *n = &w->v->nodes[i];
    bool box = n->node->meta.inside > 0;
    fxs_buf_printf(b, "n%zu%s\"", i, box ? "[[" : shapes[n->node->kind].open);
    for (size_t r = 0; r < n->label.nrows; r++) {
        const fxs_label_row *row = &n->label.rows[r];
        fxs_buf_puts(b, r ? "<br/>" : "");
        for (int k = 0; k < row->ncells; k++) {
            fxs_buf_puts(b, k ? " " : "");
            put_lines(b, &row->cell[k]);
        }
    }
    fxs_buf_printf(b, "\"%s:::%s\n", box ? "]]" : shapes[n->node->kind].close,
                   class_name(n->style));
    pass_on(w, FXS_FLUSH);
}

static void open_cluster(void *user, size_t c) {
    writer *w = user;
    const fxs_line *label = &w->v->clusters[c].label;
    fxs_buf_printf(&w->buf, "subgraph c%zu[\"", c);
    if (label->len)
        put_text(&w->buf, label->text, label->len);
    else
        fxs_buf_putc(&w->buf, ' ');
    fxs_buf_puts(&w->buf, "\"]\n");
}

static void close_cluster(void *user, size_t c) {
    (void)c;
    fxs_buf_puts(&((writer *)user)->buf, "end\n");
}

/* ---- the file
 * ---------------------------------------------------------------------------------------------- */

static void put_head(writer *w) {
    fxs_buf_puts(&w->buf, "---\n");
    if (w->v->title.len) {
        fxs_buf_puts(&w->buf, "title: ");
        put_yaml(&w->buf, w->v->title.text, w->v->title.len);
        fxs_buf_putc(&w->buf, '\n');
    }
    fxs_buf_printf(&w->buf, "config:\n  flowchart:\n    wrappingWidth: %d\n---\nflowchart %s\n",
                   LINE_PIXELS, w->v->lr ? "LR" : "TB");
}

static void put_edges(writer *w) {
    for (size_t i = 0; i < w->v->nedges; i++) {
        const fxs_view_edge *e = &w->v->edges[i];
        fxs_buf_printf(&w->buf, "n%zu %s", e->from, e->tensor ? "-->" : "-.->");
        if (e->label.len) {
            fxs_buf_puts(&w->buf, "|\"");
            put_text(&w->buf, e->label.text, e->label.len);
            fxs_buf_puts(&w->buf, "\"|");
        }
        fxs_buf_printf(&w->buf, " n%zu\n", e->to);
        pass_on(w, FXS_FLUSH);
    }
}

/* Of nodes whose colours say more than their kind. */
static void put_own_colors(writer *w) {
    for (size_t i = 0; i < w->v->nnodes; i++) {
        const fxs_view_node *n = &w->v->nodes[i];
        if (n->head != w->v->theme->style[n->style].head || n->inked)
            fxs_buf_printf(&w->buf, "style n%zu fill:#%06x,stroke:#%06x,color:#%06x\n", i, n->head,
                           n->line, fxs_view_ink(w->v, n, 0, FXS_INK_TEXT));
        pass_on(w, FXS_FLUSH);
    }
}

/* What the colours mean, as boxes in a row. */
static void put_legend(writer *w) {
    const fxs_legend *l = &w->v->legend;
    fxs_buf *b = &w->buf;
    if (l->n == 0)
        return;
    fxs_buf_puts(b, "subgraph legend[\" \"]\n");
    for (size_t i = 0; i < l->n; i++) {
        fxs_buf_printf(b, "l%zu[\"", i);
        if (l->items[i].text.len)
            put_text(b, l->items[i].text.text, l->items[i].text.len);
        else
            fxs_buf_putc(b, ' ');
        fxs_buf_puts(b, "\"]\n");
    }
    fxs_buf_puts(b, "end\nstyle legend fill:none,stroke:none\n");
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].swatch)
            fxs_buf_printf(b, "style l%zu fill:#%06x,stroke:#%06x,color:#%06x\n", i,
                           l->items[i].fill, l->items[i].line, fxs_ink_on(l->items[i].fill));
        else
            fxs_buf_printf(b, "style l%zu fill:none,stroke:none\n", i);
}

static void put_looks(writer *w) {
    const fxs_theme *t = w->v->theme;
    bool used[FXS_STYLE_COUNT] = {false}, any = false;
    for (size_t i = 0; i < w->v->nnodes; i++)
        used[w->v->nodes[i].style] = true;
    for (fxs_style s = 0; s < FXS_STYLE_COUNT; s++)
        if (used[s])
            fxs_buf_printf(&w->buf, "classDef %s fill:#%06x,stroke:#%06x,color:#%06x\n",
                           class_name(s), t->style[s].head, t->style[s].line, t->ink[FXS_INK_TEXT]);
    put_own_colors(w);
    for (size_t i = 1; i < w->v->nclusters; i++)
        fxs_buf_printf(&w->buf, "style c%zu fill:none,stroke:#%06x\n", i, t->nontensor);
    for (size_t i = 0; i < w->v->nedges; i++)
        if (!w->v->edges[i].tensor) {
            fxs_buf_printf(&w->buf, any ? ",%zu" : "linkStyle %zu", i);
            any = true;
        }
    if (any)
        fxs_buf_printf(&w->buf, " stroke:#%06x\n", t->nontensor);
}

static void tell_limits(const writer *w, fxs_buf *notes) {
    if (w->v->nedges > MOST_EDGES)
        fxs_buf_printf(notes,
                       "mermaid: %zu edges, and Mermaid on GitHub shows no more than %d: draw an "
                       "outline (--depth, --fold), or raise maxEdges in its settings\n",
                       w->v->nedges, MOST_EDGES);
    if (w->chars > MOST_CHARS)
        fxs_buf_printf(notes,
                       "mermaid: %zu characters, and Mermaid on GitHub shows no more than %d: draw "
                       "an outline (--depth, --fold), show fewer rows, or raise maxTextSize in its "
                       "settings\n",
                       w->chars, MOST_CHARS);
}

fxs_status fxs_canvas_mermaid(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                              fxs_sink *out) {
    static const fxs_nesting nesting = {open_cluster, put_node, close_cluster};
    writer w = {.out = out, .v = s->view};
    put_head(&w);
    put_legend(&w);
    bool ok = fxs_nest(w.v, &nesting, &w);
    put_edges(&w);
    put_looks(&w);
    pass_on(&w, 0);
    if (w.buf.failed)
        out->buf.failed = true;
    fxs_buf_free(&w.buf);
    tell_limits(&w, opt->notes);
    return ok ? FXS_OK : fxs_fail_memory(ctx);
}
