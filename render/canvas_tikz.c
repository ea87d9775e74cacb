/* canvas_tikz.c: the scene as a LaTeX document of one page with a TikZ picture, for papers: text in
 * the document's fonts, colours with names, boxes that are TikZ nodes. Compiles with pdflatex,
 * lualatex and xelatex. Called through its row in draw.c. */
#include <math.h>
#include <string.h>

#include "base/pytext.h"
#include "canvas.h"
#include "escape.h"
#include "write.h"

/* Points of a side: TeX can't add up more than 16383 of its own, readers of PDF go up to this. */
#define MOST 14400.0
/* Texts and lines of one picture for which pdflatex's memory suffices as it is set up (18,000 by
 * measurement); a node has about so many. */
enum { MOST_PARTS = 15000, PARTS_OF_NODE = 10 };

typedef struct writer {
    fxs_buf buf;
    fxs_sink *out;
    const fxs_scene *s;
    const fxs_view *v;
    double scale;
} writer;

/* ---- texts
 * ------------------------------------------------------------------------------------------------
 */

/* What TeX would take for its own, or join with its neighbour. */
static const char *tex_of(char c) {
    static const struct {
        char c;
        const char *tex;
    } table[] = {
        {'\\', "\\textbackslash{}"},
        {'{', "\\{"},
        {'}', "\\}"},
        {'$', "\\$"},
        {'&', "\\&"},
        {'#', "\\#"},
        {'%', "\\%"},
        {'_', "\\_"},
        {'^', "\\textasciicircum{}"},
        {'~', "\\textasciitilde{}"},
        {'<', "\\textless{}"},
        {'>', "\\textgreater{}"},
        {'|', "\\textbar{}"},
        {'"', "{\\char34}"},
        {'\'', "\\fxsquote{}"},
        {'`', "\\fxsgrave{}"},
        {'-', "{-}"},
        {',', "{,}"},
        {'?', "{?}"},
        {'!', "{!}"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].c == c)
            return table[i].tex;
    return NULL;
}

/* Characters that labels have on their own, in whatever font. */
static const char *tex_of_wide(const char *s, size_t n) {
    static const struct {
        const char *utf8, *tex;
    } table[] = {{"\xc3\x97", "\\ensuremath{\\times}"},  {"\xe2\x80\xa6", "\\ldots{}"},
                 {"\xe2\x86\x92", "\\ensuremath{\\to}"}, {"\xe2\x89\xa4", "\\ensuremath{\\le}"},
                 {"\xe2\x89\xa5", "\\ensuremath{\\ge}"}, {"\xe2\x89\x88", "\\ensuremath{\\approx}"},
                 {"\xc2\xb7", "\\ensuremath{\\cdot}"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].utf8) == n && memcmp(table[i].utf8, s, n) == 0)
            return table[i].tex;
    return NULL;
}

static unsigned code_of(const char *s, size_t n) {
    unsigned c = (unsigned char)s[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

/* The text is clean: valid UTF-8. */
static void put_text(fxs_buf *b, const char *s, size_t len) {
    for (size_t i = 0, n; i < len; i += n) {
        n = fxs_utf8_len(s + i, len - i);
        n = n ? n : 1;
        const char *tex = n == 1 ? tex_of(s[i]) : tex_of_wide(s + i, n);
        bool space = s[i] == ' ' && (i == 0 || i + 1 == len || s[i - 1] == ' ');
        if (tex)
            fxs_buf_puts(b, tex);
        else if (space)
            fxs_buf_puts(b, "\\ ");
        else if (n == 1)
            fxs_buf_putc(b, s[i]);
        else
            fxs_buf_printf(b, "\\fxschar{%.*s}{%X}", (int)n, s + i, code_of(s + i, n));
    }
}

/* ---- pieces
 * -----------------------------------------------------------------------------------------------
 */

static void put_place(fxs_buf *b, const char *before, double x, double y) {
    fxs_buf_printf(b, "%s(", before);
    fxs_put_number(b, x);
    fxs_buf_putc(b, ',');
    fxs_put_number(b, y);
    fxs_buf_putc(b, ')');
}

/* In places, which are scaled points; `x` is in the scene's. */
static double scaled(const writer *w, double x) { return x * w->scale; }

static void put_at(writer *w, const char *before, fxs_point p) {
    put_place(&w->buf, before, scaled(w, p.x), scaled(w, p.y));
}

static const char *const inks[] = {[FXS_INK_NAME] = "name",
                                   [FXS_INK_TEXT] = "text",
                                   [FXS_INK_KEY] = "key",
                                   [FXS_INK_ERROR] = "error",
                                   [FXS_INK_TITLE] = "title"};

/* \fxstext{ink}{left, or nothing}{{x}{y}}{room}{text} */
static void put_line(writer *w, fxs_ink ink, fxs_point p, const fxs_line *l, double room,
                     bool centred) {
    if (l->len == 0)
        return;
    p.x += centred ? l->width / 2 : 0;
    fxs_buf_printf(&w->buf, "\\fxstext{%s}{%s}{{", inks[ink], centred ? "" : "left");
    fxs_put_number(&w->buf, scaled(w, p.x));
    fxs_buf_puts(&w->buf, "}{");
    fxs_put_number(&w->buf, scaled(w, p.y));
    fxs_buf_puts(&w->buf, "}}{");
    fxs_put_number(&w->buf, scaled(w, room));
    fxs_buf_puts(&w->buf, "}{");
    put_text(&w->buf, l->text, l->len);
    fxs_buf_puts(&w->buf, "}\n");
}

static void put_cell(writer *w, const fxs_box *box, const fxs_cell *c) {
    for (size_t i = 0; i < c->nlines; i++) {
        fxs_point p = fxs_cell_line_at(c, i);
        put_line(w, c->ink, (fxs_point){box->x + p.x, box->y + p.y}, &c->lines[i], c->w - FXS_PAD_X,
                 c->nlines == 1);
    }
}

static const char *style_name(fxs_style s) {
    static const char *const names[] = {
        [FXS_STYLE_PLACEHOLDER] = "placeholder", [FXS_STYLE_GET_ATTR] = "attribute",
        [FXS_STYLE_CALL_FUNCTION] = "function",  [FXS_STYLE_CALL_MODULE] = "module",
        [FXS_STYLE_CALL_METHOD] = "method",      [FXS_STYLE_OUTPUT] = "output",
        [FXS_STYLE_FAILED] = "failed",           [FXS_STYLE_UNKNOWN] = "unknown",
        [FXS_STYLE_BLOCKED] = "blocked"};
    return names[s];
}

static void put_color(fxs_buf *b, const char *name, const char *more, fxs_color c) {
    fxs_buf_printf(b, "\\definecolor{fxs%s%s}{HTML}{%06X}\n", name, more, c);
}

/* Begins a group in which the style has the node's colours. */
static void put_own_colors(writer *w, const fxs_view_node *n) {
    fxs_buf_puts(&w->buf, "{");
    put_color(&w->buf, style_name(n->style), "head", n->head);
    put_color(&w->buf, style_name(n->style), "line", n->line);
    put_color(&w->buf, inks[FXS_INK_NAME], "", fxs_view_ink(w->v, n, 0, FXS_INK_NAME));
}

/* \fxsbox{id}{style}{x,y}{width}{height}{height of the head} */
static void put_node(writer *w, size_t i) {
    fxs_buf *b = &w->buf;
    const fxs_view_node *n = &w->v->nodes[i];
    const fxs_box *box = &w->s->boxes[i];
    const fxs_label *l = &n->label;
    bool own = n->head != w->v->theme->style[n->style].head || n->inked;
    if (own)
        put_own_colors(w, n);
    fxs_buf_printf(b, "\\fxsbox{n%zu}{%s}", i, style_name(n->style));
    put_at(w, "{", (fxs_point){box->x, box->y});
    const double sizes[] = {l->w, l->h, l->rows[0].cell[0].h};
    for (int k = 0; k < 3; k++) {
        fxs_buf_puts(b, "}{");
        fxs_put_number(b, scaled(w, sizes[k]));
    }
    fxs_buf_puts(b, "}\n");
    for (size_t r = 1; r < l->nrows; r++) {
        const fxs_cell *c = &l->rows[r].cell[0];
        fxs_buf_printf(b, "\\draw[fxs%s]", style_name(n->style));
        put_at(w, "", (fxs_point){box->x, box->y + c->y});
        put_at(w, "--", (fxs_point){box->x + l->w, box->y + c->y});
        if (l->rows[r].ncells == 2) {
            put_at(w, "", (fxs_point){box->x + l->split, box->y + c->y});
            put_at(w, "--", (fxs_point){box->x + l->split, box->y + c->y + c->h});
        }
        fxs_buf_puts(b, ";\n");
    }
    for (size_t r = 0; r < l->nrows; r++)
        for (int k = 0; k < l->rows[r].ncells; k++)
            put_cell(w, box, &l->rows[r].cell[k]);
    fxs_buf_puts(b, own ? "}\n" : "");
    fxs_flush(b, w->out, FXS_FLUSH);
}

static void put_edge(writer *w, size_t i) {
    fxs_buf *b = &w->buf;
    const fxs_curve *c = &w->s->curves[i];
    const char *style = w->v->edges[i].tensor ? "edge" : "nontensor";
    if (c->n == 0)
        return;
    fxs_buf_printf(b, "\\draw[fxs%s]", style);
    put_at(w, "", c->points[0]);
    for (size_t k = 1; k + 2 < c->n; k += 3) {
        if (fxs_is_straight(&c->points[k - 1])) {
            put_at(w, "--", c->points[k + 2]);
            continue;
        }
        put_at(w, "..controls", c->points[k]);
        put_at(w, "and", c->points[k + 1]);
        put_at(w, "..", c->points[k + 2]);
    }
    fxs_point corner[3];
    fxs_curve_arrow(c, corner);
    fxs_buf_printf(b, ";\\fill[fxs%s]", style);
    for (int k = 0; k < 3; k++)
        put_at(w, k ? "--" : "", corner[k]);
    fxs_buf_puts(b, "--cycle;\n");
    if (fxs_label_shown(w->s, i))
        put_line(w, FXS_INK_KEY, c->label, &w->v->edges[i].label, w->v->edges[i].label.width, true);
    fxs_flush(b, w->out, FXS_FLUSH);
}

static void put_rectangle(writer *w, const char *command, const fxs_area *a) {
    fxs_buf_puts(&w->buf, command);
    put_at(w, "", a->low);
    put_at(w, "rectangle", a->high);
    fxs_buf_puts(&w->buf, ";\n");
}

static void put_frames(writer *w) {
    for (size_t i = 1; i < w->v->nclusters; i++) {
        const fxs_area *f = &w->s->frames[i];
        if (!fxs_frame_shown(f))
            continue;
        put_rectangle(w, "\\draw[fxsframe]", f);
        put_line(w, FXS_INK_KEY, fxs_frame_label(f), &w->v->clusters[i].label,
                 f->high.x - f->low.x - 2 * FXS_PAD_X, false);
    }
}

static void put_legend(writer *w) {
    const fxs_legend *l = &w->v->legend;
    for (size_t i = 0; i < l->n; i++) {
        const fxs_legend_item *item = &l->items[i];
        if (item->swatch) {
            put_color(&w->buf, "swatch", "", item->fill);
            put_color(&w->buf, "swatchline", "", item->line);
            put_rectangle(w, "\\filldraw[draw=fxsswatchline,fill=fxsswatch]", &w->s->swatches[i]);
        }
        put_line(w, item->ink, w->s->swatch_texts[i], &item->text, item->text.width, false);
    }
}

static void put_chart(writer *w) {
    for (size_t i = 0; i < w->s->nbars; i++)
        put_rectangle(w, "\\filldraw[fxsmodule,fill=fxsmodulehead]", &w->s->bars[i]);
    for (size_t i = 0; i < w->s->nnotes; i++) {
        const fxs_note *n = &w->s->notes[i];
        put_line(w, n->ink, n->at, &n->line, n->line.width, false);
    }
}

/* ---- the document
 * ------------------------------------------------------------------------------------------ */

/* What the picture's commands do; they stand inside of the document, so that a paper can take the
 * lines between \begin{document} and \end{document} as they are. */
static const char commands[] =
    "\\makeatletter\n"
    "\\providecommand\\fxsquote{\\ifcsname T1/lmss/m/n\\endcsname\\textquotesingle\\else'\\fi}\n"
    "\\providecommand\\fxsgrave{\\ifcsname T1/lmss/m/n\\endcsname\\textasciigrave\\else`\\fi}\n"
    "% a character, and its number where the font has none\n"
    "\\providecommand\\fxsnumber[1]{\\fbox{\\tiny #1}}\n"
    "\\ifdefined\\Umathchar\n"
    "\\providecommand\\fxschar[2]{\\iffontchar\\font\"#2 #1\\else\\fxsnumber{#2}\\fi}\n"
    "\\else\n"
    "\\providecommand\\fxschar[2]{\\ifcsname "
    "u8:\\detokenize{#1}\\endcsname#1\\else\\fxsnumber{#2}\\fi}\n"
    "\\fi\n"
    "\\ifdefined\\fxsline\\else\\newsavebox\\fxsline\\fi\n"
    "% ink, alignment, place, room, text: narrower where there is no room for it\n"
    "\\def\\fxstext#1#2#3#4#5{\\pgftext[base,#2,at={\\pgfpointxy#3}]{\\color{fxs#1}%\n"
    "  \\sbox\\fxsline{\\fboxsep1pt\\csname fxsfont#1\\endcsname #5}%\n"
    "  \\ifdim\\wd\\fxsline>#4bp\\resizebox{#4bp}{\\height}{\\usebox\\fxsline}%\n"
    "  \\else\\usebox\\fxsline\\fi}}\n"
    "% name, style, place, width, height, height of the head\n"
    "\\def\\fxsbox#1#2#3#4#5#6{%\n"
    "  \\node[fxs#2,draw,fill=fxsbody,inner sep=0pt,outer sep=0pt,anchor=north west,\n"
    "    minimum width=#4bp,minimum height=#5bp] (#1) at #3 {};\n"
    "  \\filldraw[fxs#2,fill=fxs#2head] #3 rectangle ++(#4,#6);}\n"
    "\\makeatother\n";

static void put_colors(writer *w) {
    const fxs_theme *t = w->v->theme;
    fxs_buf *b = &w->buf;
    put_color(b, "background", "", t->background);
    put_color(b, "body", "", t->body);
    put_color(b, "edge", "", t->edge);
    put_color(b, "nontensor", "", t->nontensor);
    for (int i = 0; i < FXS_INK_COUNT; i++) {
        put_color(b, inks[i], "", t->ink[i]);
        double size = fxs_faces[i].size * w->scale;
        fxs_buf_printf(b, "\\def\\fxsfont%s{\\normalfont\\sffamily%s\\fontsize{", inks[i],
                       fxs_faces[i].bold ? "\\bfseries" : "");
        fxs_put_number(b, size);
        fxs_buf_puts(b, "bp}{");
        fxs_put_number(b, size * 1.2);
        fxs_buf_puts(b, "bp}\\selectfont}\n");
    }
    for (fxs_style s = 0; s < FXS_STYLE_COUNT; s++) {
        put_color(b, style_name(s), "head", t->style[s].head);
        put_color(b, style_name(s), "line", t->style[s].line);
    }
}

static void put_page(writer *w) {
    fxs_buf *b = &w->buf;
    double wide = scaled(w, w->s->w), high = scaled(w, w->s->h);
    fxs_buf_puts(b, "% to be compiled with pdflatex, lualatex or xelatex\n"
                    "\\documentclass{article}\n\\usepackage[margin=0bp,paperwidth=");
    fxs_put_number(b, wide);
    fxs_buf_puts(b, "bp,paperheight=");
    fxs_put_number(b, high);
    fxs_buf_puts(b, "bp]{geometry}\n\\usepackage{tikz}\n"
                    "\\ifdefined\\Umathchar\\else\\IfFileExists{lmodern.sty}{\\usepackage[T1]"
                    "{fontenc}\\usepackage{lmodern}}{}\\fi\n"
                    "\\pagestyle{empty}\\parindent0pt\\topskip0pt\n\\begin{document}\n");
    fxs_buf_puts(b, commands);
    put_colors(w);
    fxs_buf_puts(b, "\\vbox to 0pt{\\hbox to 0pt{%\n\\begin{tikzpicture}[x=1bp,y=-1bp,line width=");
    fxs_put_number(b, 0.75 * w->scale);
    fxs_buf_puts(b, "bp,\n");
    for (fxs_style s = 0; s < FXS_STYLE_COUNT; s++)
        fxs_buf_printf(b, "  fxs%s/.style={draw=fxs%sline},\n", style_name(s), style_name(s));
    fxs_buf_printf(b,
                   "  fxsedge/.style={color=fxsedge,line width=%.3gbp},\n  "
                   "fxsnontensor/.style={color=fxsnontensor,line width=%.3gbp,dash pattern=on "
                   "%.3gbp off %.3gbp},\n  "
                   "fxsframe/.style={draw=fxsnontensor,rounded corners=%.3gbp}]\n",
                   w->scale, w->scale, 5 * w->scale, 3 * w->scale, 4 * w->scale);
    put_rectangle(w, "\\useasboundingbox", &(fxs_area){{0, 0}, {w->s->w, w->s->h}});
    put_rectangle(w, "\\fill[fxsbackground]", &(fxs_area){{0, 0}, {w->s->w, w->s->h}});
}

static void tell_limits(const writer *w, fxs_buf *notes) {
    size_t parts = PARTS_OF_NODE * w->v->nnodes + w->v->nedges;
    if (w->scale < 1)
        fxs_buf_printf(notes,
                       "tex: scaled to %.3g %%, since %.0f points are the most that TeX and "
                       "readers of PDF take\n",
                       w->scale * 100, MOST);
    if (parts > MOST_PARTS)
        fxs_buf_printf(
            notes,
            "tex: %zu nodes and %zu edges may be too many for pdflatex's memory: lualatex "
            "has no such limit\n",
            w->v->nnodes, w->v->nedges);
}

fxs_status fxs_canvas_tikz(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                           fxs_sink *out) {
    double side = fmax(s->w, s->h);
    writer w = {.out = out, .s = s, .v = s->view, .scale = side > MOST ? MOST / side : 1};
    (void)ctx;
    put_page(&w);
    put_legend(&w);
    put_frames(&w);
    put_chart(&w);
    for (size_t i = 0; i < w.v->nedges && !s->over; i++)
        put_edge(&w, i);
    for (size_t i = 0; i < w.v->nnodes; i++)
        put_node(&w, i);
    for (size_t i = 0; i < w.v->nedges && s->over; i++)
        put_edge(&w, i);
    if (w.v->title.len)
        put_line(&w, FXS_INK_TITLE, s->title, &w.v->title, s->w, true);
    fxs_buf_puts(&w.buf, "\\end{tikzpicture}\\hss}\\vss}\n\\end{document}\n");
    fxs_flush(&w.buf, out, 0);
    fxs_buf_free(&w.buf);
    tell_limits(&w, opt->notes);
    return FXS_OK;
}
