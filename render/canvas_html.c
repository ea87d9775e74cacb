/* canvas_html.c: a model as one page that a browser opens without a network: modules open and close
 * in place, every node tells its facts. The layout of each level (fxoutline.h) is made here; the
 * page puts them together, so that what it shows is as large as the graph and not as the number of
 * ways to open it. Called through its row in draw.c. */
#include <math.h>
#include <string.h>

#include "escape.h"
#include "fxoutline.h"
#include "html.h"
#include "layout.h"
#include "op/group.h"
#include "palette.h"

enum { FLUSH = 1 << 16, FACT_CHARS = 4000 };

/* ---- the data's grammar ---- */

void fxs_html_flush(fxs_html *h, size_t over) {
    h->failed |= h->buf.failed;
    if (h->buf.len <= over || h->failed)
        return;
    fxs_sink_write(h->sink, h->buf.data, h->buf.len);
    fxs_buf_cut(&h->buf, 0);
}

void fxs_html_puts(fxs_html *h, const char *text) {
    fxs_buf_puts(&h->buf, text);
    h->after_number = false;
}

void fxs_html_int(fxs_html *h, long long n) {
    fxs_buf_printf(&h->buf, h->after_number ? ",%lld" : "%lld", n);
    h->after_number = true;
}

/* `<` and its like never stand in the data, so that no text can end the script element. */
void fxs_html_json(fxs_html *h, const char *s, size_t len) {
    fxs_buf *b = &h->buf;
    fxs_buf_putc(b, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            fxs_buf_printf(b, "\\%c", c);
        else if (c == '\n')
            fxs_buf_puts(b, "\\n");
        else if (c < 0x20 || c == '<' || c == '>' || c == '&')
            fxs_buf_printf(b, "\\u%04x", c);
        else
            fxs_buf_putc(b, (char)c);
    }
    fxs_buf_putc(b, '"');
    h->after_number = false;
}

static bool room_for_text(fxs_html *h) {
    if (h->ntexts < h->cap)
        return true;
    size_t cap = h->cap ? 2 * h->cap : 1024;
    const char **texts = FXS_NEW_N(&h->arena, const char *, cap);
    if (!texts)
        return false;
    if (h->ntexts)
        memcpy(texts, h->texts, h->ntexts * sizeof *texts);
    h->texts = texts;
    h->cap = cap;
    return true;
}

size_t fxs_html_text(fxs_html *h, const char *s, size_t len) {
    void **at = fxs_map_at(&h->known, s, len);
    if (at)
        return (size_t)(uintptr_t)*at - 1;
    const char *kept = fxs_arena_dup(&h->arena, s, len);
    if (!kept || !room_for_text(h) ||
        !fxs_map_put(&h->known, kept, len, (void *)(uintptr_t)(h->ntexts + 1))) {
        h->failed = true;
        return 0;
    }
    h->texts[h->ntexts] = kept;
    return h->ntexts++;
}

size_t fxs_html_raw(fxs_html *h) {
    fxs_clean(&h->clean, h->raw.data ? h->raw.data : "", h->raw.len, FACT_CHARS, true);
    h->failed |= h->raw.failed || h->clean.failed;
    size_t text =
        h->failed ? 0 : fxs_html_text(h, h->clean.data ? h->clean.data : "", h->clean.len);
    fxs_buf_cut(&h->raw, 0);
    fxs_buf_cut(&h->clean, 0);
    return text;
}

static size_t text_of(fxs_html *h, const char *s) {
    fxs_buf_puts(&h->raw, s);
    return fxs_html_raw(h);
}

/* ---- what the page is drawn with ---- */

static void put_colors(fxs_html *h, const fxs_theme *t) {
    fxs_html_puts(h, "[");
    fxs_html_int(h, t->background);
    fxs_html_int(h, t->body);
    fxs_html_int(h, t->edge);
    fxs_html_int(h, t->nontensor);
    for (int i = 0; i < FXS_INK_COUNT; i++)
        fxs_html_int(h, t->ink[i]);
    for (int i = 0; i < FXS_STYLE_COUNT; i++) {
        fxs_html_int(h, t->style[i].head);
        fxs_html_int(h, t->style[i].line);
    }
    fxs_html_puts(h, "]");
}

/* The steps of a scale; no value, where NaN begins, where it came from; the families. */
static void put_palette(fxs_html *h, const fxs_palette *p) {
    fxs_html_puts(h, "[");
    for (int i = 0; i < FXS_PALETTE_STEPS; i++)
        fxs_html_int(h, p->step[i]);
    fxs_html_int(h, p->none);
    fxs_html_int(h, p->first);
    fxs_html_int(h, p->inherited);
    for (int i = 0; i < FXS_GROUP_COUNT; i++)
        fxs_html_int(h, p->family[i]);
    fxs_html_puts(h, "]");
}

static void put_words(fxs_html *h, const char *name, size_t n, const char *(*word)(size_t i)) {
    fxs_html_puts(h, name);
    for (size_t i = 0; i < n; i++) {
        fxs_html_puts(h, i ? "," : "[");
        fxs_html_json(h, word(i), strlen(word(i)));
    }
    fxs_html_puts(h, "]");
}

static const char *style_name(size_t i) { return fxs_style_class((fxs_style)i); }
static const char *family_name(size_t i) { return fxs_group_text((fxs_group)i); }

static void put_inks(fxs_html *h) {
    fxs_html_puts(h, ",\n\"inks\":[");
    for (int i = 0; i < FXS_INK_COUNT; i++) {
        fxs_html_puts(h, i ? ",[" : "[");
        fxs_html_int(h, fxs_faces[i].bold);
        fxs_html_int(h, lround(fxs_faces[i].size * 100));
        fxs_html_int(h, lround(fxs_faces[i].line * 100));
        fxs_html_int(h, lround(fxs_faces[i].baseline * 100));
        fxs_html_puts(h, "]");
    }
    fxs_html_puts(h, "]");
}

/* The page has a light and a dark look; another theme takes the light one's place. */
static void put_looks(fxs_html *h, const fxs_draw_options *o) {
    bool other = o->theme && strcmp(o->theme, "dark") != 0;
    const fxs_theme *light = fxs_theme_find(other ? o->theme : "light"),
                    *dark = fxs_theme_find("dark");
    put_words(h, ",\n\"styles\":", FXS_STYLE_COUNT, style_name);
    put_words(h, ",\n\"families\":", FXS_GROUP_COUNT, family_name);
    put_inks(h);
    fxs_html_puts(h, ",\n\"themes\":{\"light\":");
    put_colors(h, light);
    fxs_html_puts(h, ",\"dark\":");
    put_colors(h, dark);
    fxs_html_puts(h, "},\n\"palettes\":{\"light\":");
    put_palette(h, fxs_palette_find(o->palette, light));
    fxs_html_puts(h, ",\"dark\":");
    put_palette(h, fxs_palette_find(o->palette, dark));
    fxs_html_puts(h, "}");
}

/* A member with a text, which may be anything. */
static void put_member(fxs_html *h, const char *name, const char *value) {
    fxs_html_puts(h, ",\n");
    fxs_html_json(h, name, strlen(name));
    fxs_html_puts(h, ":");
    fxs_clean(&h->clean, value, strlen(value), FACT_CHARS, false);
    fxs_html_json(h, h->clean.data ? h->clean.data : "", h->clean.len);
    h->failed |= h->clean.failed;
    fxs_buf_cut(&h->clean, 0);
}

static void put_head(fxs_html *h, const fxs_view *v, const fxs_canvas_options *opt) {
    const char *title = v->title.len ? v->title.text : v->name;
    fxs_html_puts(h, fxs_html_parts[0]);
    fxs_escape_xml(&h->buf, title, strlen(title));
    fxs_html_puts(h, fxs_html_parts[1]);
    fxs_html_puts(h, "{\"format\":1");
    put_member(h, "name", v->name);
    put_member(h, "title", title);
    put_member(h, "description", v->description);
    const fxs_draw_options *o = opt->draw;
    put_member(h, "theme", !o->theme ? "" : strcmp(o->theme, "dark") == 0 ? "dark" : "light");
    put_member(h, "colorBy", o->color_by ? o->color_by : "");
    put_member(h, "valueTitle", o->overlay_title ? o->overlay_title : "value");
    fxs_html_puts(h, ",\n\"scale\":");
    fxs_html_int(h, o->color_scale);
    fxs_html_puts(h, ",\n\"lr\":");
    fxs_html_int(h, v->lr);
    fxs_html_puts(h, ",\n\"parameters\":");
    fxs_html_int(h, (long long)fxs_module_parameter_count(opt->m));
    put_looks(h, o);
    fxs_html_puts(h, ",\n\"facts\":");
    fxs_html_fact_names(h);
}

/* ---- nodes and levels ---- */

/* name, style, inputs: count and positions, facts */
static void put_nodes(fxs_html *h, const fxs_module *m) {
    fxs_html_puts(h, ",\n\"nodes\":[");
    for (const fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        fxs_html_int(h, (long long)text_of(h, n->name));
        fxs_html_int(h, (int)fxs_style_of(n->kind, n->meta.outcome));
        fxs_html_int(h, (long long)n->ninputs);
        for (size_t i = 0; i < n->ninputs; i++)
            fxs_html_int(h, (long long)n->inputs[i]->index);
        fxs_html_facts(h, m, n);
        fxs_html_flush(h, FLUSH);
    }
    fxs_html_puts(h, "]");
}

static fxs_status name_ports(fxs_view *v, const fxs_level_node *what) {
    for (size_t i = 0; i < v->nnodes; i++) {
        fxs_view_node *n = &v->nodes[i];
        fxs_level_part part = what[n->node->index].part;
        if (!n->reference && (part == FXS_LEVEL_INPUT || part == FXS_LEVEL_OUTPUT))
            FXS_TRY(fxs_label_name(v, n));
    }
    return FXS_OK;
}

static fxs_status put_level_model(fxs_html *h, const fxs_module *level, const fxs_level_node *what,
                                  const fxs_canvas_options *opt) {
    fxs_draw_options how = *opt->draw;
    fxs_view view = {0};
    fxs_scene scene = {.view = &view};
    how.title = NULL;
    how.clusters = false;
    how.color_by = NULL; /* the page colours */
    fxs_status s = fxs_view_make(level, &how, opt->fonts, &view);
    if (s == FXS_OK)
        s = name_ports(&view, what);
    if (s == FXS_OK)
        s = fxs_layout(h->ctx, &view, how.engine,
                       how.layout_seconds != 0 ? how.layout_seconds : FXS_LAYOUT_SECONDS, NULL,
                       &scene, opt->notes);
    if (s == FXS_OK)
        fxs_html_level(h, level, &scene, what);
    fxs_scene_free(&scene);
    fxs_view_free(&view);
    return s;
}

/* [parent, path, class, call, first, last], [width, height, edges over boxes], items, edges */
static fxs_status put_level(fxs_html *h, fxs_levels *levels, size_t i,
                            const fxs_canvas_options *opt) {
    const fxs_level *level = fxs_levels_at(levels, i);
    const fxs_level_node *what;
    fxs_module *m;
    fxs_html_puts(h, i ? ",\n[[" : "\n[[");
    fxs_html_int(h, (long long)level->parent);
    fxs_html_int(h, (long long)text_of(h, level->path));
    fxs_html_int(h, (long long)text_of(h, level->class_name));
    fxs_html_int(h, (long long)level->nth);
    fxs_html_int(h, (long long)level->first);
    fxs_html_int(h, (long long)level->last);
    fxs_html_puts(h, "],");
    FXS_TRY(fxs_levels_model(levels, i, &m, &what));
    if (opt->draw->numbers)
        fxs_numbers_give_boxes(opt->draw->numbers, m);
    fxs_status s = put_level_model(h, m, what, opt);
    fxs_module_unref(m);
    fxs_html_puts(h, "]");
    return s;
}

/* The level that is in focus; 0: all are. */
static size_t focus_of(const fxs_levels *levels, const fxs_outline_options *closed) {
    for (size_t i = 1; i < fxs_levels_count(levels); i++) {
        const fxs_level *l = fxs_levels_at(levels, i);
        if (fxs_outline_in_focus(closed, l->path, l->nth))
            return i;
    }
    return 0;
}

static bool is_around(const fxs_levels *levels, size_t outer, size_t inner) {
    while (inner > outer)
        inner = fxs_levels_at(levels, inner)->parent;
    return inner == outer;
}

/* What is in a closed module is closed too: it opens one step at a time. What is in focus, and what
 * is around it, is open, and depth counts from there. */
static void put_open(fxs_html *h, const fxs_levels *levels, const fxs_outline_options *closed) {
    size_t n = fxs_levels_count(levels), *depth = FXS_NEW_N(&h->arena, size_t, n);
    size_t focus = focus_of(levels, closed);
    bool *open = FXS_NEW_N(&h->arena, bool, n);
    if (!depth || !open) {
        h->failed = true;
        return;
    }
    fxs_html_puts(h, ",\n\"open\":[");
    for (size_t i = 0; i < n; i++) {
        const fxs_level *l = fxs_levels_at(levels, i);
        bool around = is_around(levels, i, focus);
        depth[i] = around ? 0 : depth[l->parent] + !l->group;
        open[i] =
            around || (open[l->parent] &&
                       (l->group || !fxs_outline_closes(closed, l->path, l->class_name, depth[i])));
        if (i && open[i])
            fxs_html_int(h, (long long)i);
    }
    fxs_html_puts(h, "]");
}

static fxs_status put_levels(fxs_html *h, const fxs_canvas_options *opt) {
    fxs_levels *levels;
    fxs_status s = fxs_levels_new(opt->m, &levels);
    fxs_html_puts(h, ",\n\"levels\":[");
    for (size_t i = 0; s == FXS_OK && i < fxs_levels_count(levels); i++)
        s = h->failed ? fxs_fail_memory(h->ctx) : put_level(h, levels, i, opt);
    fxs_html_puts(h, "]");
    if (s == FXS_OK && opt->draw->closed)
        put_open(h, levels, opt->draw->closed);
    fxs_levels_free(levels);
    return s;
}

static void put_texts(fxs_html *h) {
    fxs_html_puts(h, ",\n\"texts\":[");
    for (size_t i = 0; i < h->ntexts; i++) {
        fxs_html_puts(h, i ? ",\n" : "\n");
        fxs_html_json(h, h->texts[i], strlen(h->texts[i]));
        fxs_html_flush(h, FLUSH);
    }
    fxs_html_puts(h, "]}");
}

static fxs_status put_page(fxs_html *h, const fxs_view *v, const fxs_canvas_options *opt) {
    put_head(h, v, opt);
    put_nodes(h, opt->m);
    FXS_TRY(put_levels(h, opt));
    put_texts(h);
    fxs_html_puts(h, fxs_html_parts[2]);
    fxs_html_flush(h, 0);
    return h->failed ? fxs_fail_memory(h->ctx) : FXS_OK;
}

fxs_status fxs_canvas_html(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                           fxs_sink *out) {
    const fxs_draw_options *o = opt->draw;
    bool by_time = o->color_by && strcmp(o->color_by, "time") == 0;
    fxs_html h = {.ctx = ctx, .sink = out, .times = by_time || o->rows & FXS_ROW_TIME};
    fxs_status status = put_page(&h, s->view, opt);
    fxs_buf_free(&h.buf);
    fxs_buf_free(&h.raw);
    fxs_buf_free(&h.clean);
    fxs_map_free(&h.known);
    fxs_arena_clear(&h.arena);
    return status;
}
