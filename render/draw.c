/* draw.c: the public functions: options are checked, then module -> view -> scene -> files. Called
 * by programs and the command; the formats are the table below. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bars.h"
#include "canvas.h"
#include "columns.h"
#include "layout.h"
#include "overlay.h"
#include "pages.h"

enum { DEFAULT_NODES = 200000, NEEDED_DESCRIPTORS = 4 /* pairs */ };

#define FORMAT(format, ...)                                                                        \
    { .name = format, .doing = "writing " format, __VA_ARGS__ }
static const fxs_canvas canvases[] = {
    FORMAT("svg", .write = fxs_canvas_svg, .placed = true, .charts = true),
    FORMAT("png", .write = fxs_canvas_png, .placed = true, .charts = true),
    FORMAT("pdf", .write = fxs_canvas_pdf, .placed = true, .charts = true),
    FORMAT("html", .write = fxs_canvas_html),
    FORMAT("dot", .write = fxs_canvas_dot),
    FORMAT("gv", .write = fxs_canvas_dot),
    FORMAT("mmd", .write = fxs_canvas_mermaid),
    FORMAT("graphml", .write = fxs_canvas_graphml, .placed = true),
    FORMAT("drawio", .write = fxs_canvas_drawio, .placed = true),
    FORMAT("tex", .write = fxs_canvas_tikz, .placed = true, .charts = true),
    FORMAT("log", .write = fxs_canvas_log, .placed = true, .fixed = true),
};
#undef FORMAT
enum { NCANVASES = sizeof canvases / sizeof *canvases };

static const char *const row_names[] = {
#define X(name, text, what) text,
    FXS_ROW_MAP(X)
#undef X
};

bool fxs_draw_row_find(const char *name, unsigned *bit) {
    for (unsigned i = 0; name && i < FXS_ROW_COUNT; i++)
        if (strcmp(row_names[i], name) == 0) {
            *bit = 1u << i;
            return true;
        }
    return false;
}

bool fxs_draw_rows(const char *list, unsigned *rows) {
    unsigned bits = list && (*list == '+' || *list == '-') ? FXS_ROW_DEFAULT : 0, bit;
    bool less = false;
    for (const char *s = list;; s++) {
        char name[32];
        if (!s)
            return false;
        less = *s == '-' || (less && *s != '+');
        s += *s == '+' || *s == '-';
        size_t n = strcspn(s, ",");
        if (n >= sizeof name)
            return false;
        memcpy(name, s, n);
        name[n] = '\0';
        if (!fxs_draw_row_find(name, &bit))
            return false;
        bits = less ? bits & ~bit : bits | bit;
        s += n;
        if (!*s)
            break;
    }
    *rows = bits;
    return true;
}

const char *fxs_draw_row_name(size_t i) { return i < FXS_ROW_COUNT ? row_names[i] : NULL; }
const char *fxs_draw_format_name(size_t i) { return i < NCANVASES ? canvases[i].name : NULL; }

/* ---- checks
 * ------------------------------------------------------------------------------------------------
 */

static const fxs_canvas *find_canvas(const char *name) {
    for (size_t i = 0; i < NCANVASES; i++)
        if (strcmp(canvases[i].name, name) == 0)
            return &canvases[i];
    return NULL;
}

static const fxs_canvas *canvas_of_path(const char *path) {
    const char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
    return dot ? find_canvas(dot + 1) : NULL;
}

static fxs_status check_sizes(fxs_ctx *ctx, const fxs_draw_options *o) {
    fxs_length width = {0};
    double w, h;
    if ((unsigned)o->png_fit > FXS_FIT_STRIP)
        return fxs_fail(ctx, FXS_EINVAL, "there is no way %d to fit a png", (int)o->png_fit);
    if (o->png_tile && !fxs_tile_parse(o->png_tile, &w, &h))
        return fxs_fail(ctx, FXS_EINVAL,
                        "a tile must be WIDTHxHEIGHT, 64 to 32767 pixels each, not '%s'",
                        o->png_tile);
    if (o->fit_width && !fxs_length_parse(o->fit_width, &width))
        return fxs_fail(ctx, FXS_EINVAL,
                        "a width must be a number with mm, cm, in, pt or px, or page, not '%s'",
                        o->fit_width);
    if (o->fit_width && !width.page && width.value < FXS_LEAST_WIDTH)
        return fxs_fail(ctx, FXS_EINVAL,
                        "a picture can't have a width of %s: %d points or pixels are the least",
                        o->fit_width, FXS_LEAST_WIDTH);
    if (width.page && !o->page)
        return fxs_fail(ctx, FXS_EINVAL, "the width of a page needs the size of a page");
    if (o->page && !fxs_paper_parse(o->page, &w, &h))
        return fxs_fail(
            ctx, FXS_EINVAL,
            "there is no page of size '%s' (known: %s, or WIDTHxHEIGHT with mm, in or pt, "
            "of 144 to 14400 points)",
            o->page, fxs_paper_names());
    if (o->landscape && !o->page)
        return fxs_fail(ctx, FXS_EINVAL, "landscape needs the size of a page");
    if (o->columns > FXS_MAX_COLUMNS)
        return fxs_fail(ctx, FXS_EINVAL, "there may be %d columns, not %zu", FXS_MAX_COLUMNS,
                        o->columns);
    return FXS_OK;
}

static fxs_status check_options(fxs_ctx *ctx, const fxs_draw_options *o) {
    if (!fxs_theme_find(o->theme))
        return fxs_fail(ctx, FXS_EINVAL, "there is no theme '%s' (known: %s)", o->theme,
                        fxs_theme_names());
    if (o->direction && strcmp(o->direction, "TB") != 0 && strcmp(o->direction, "LR") != 0)
        return fxs_fail(ctx, FXS_EINVAL, "direction must be TB or LR, not '%s'", o->direction);
    if (o->rows >> FXS_ROW_COUNT)
        return fxs_fail(ctx, FXS_EINVAL, "rows hold bits that are no row: 0x%x", o->rows);
    if (o->dpi != 0 && !(o->dpi >= 1 && o->dpi <= 2400))
        return fxs_fail(ctx, FXS_EINVAL, "dpi must be 1 to 2400, not %g", o->dpi);
    FXS_TRY(fxs_overlay_check(ctx, o));
    if (!fxs_engine_known(o->engine))
        return fxs_fail(ctx, FXS_EINVAL, "there is no layout engine '%s' (known: %s)", o->engine,
                        fxs_engine_names());
    if (o->layout_seconds != 0 && !(o->layout_seconds > 0 && o->layout_seconds <= 1e6))
        return fxs_fail(ctx, FXS_EINVAL,
                        "the time for the layout must be 0 to 1000000 seconds, not %g",
                        o->layout_seconds);
    return check_sizes(ctx, o);
}

static fxs_status check(const fxs_module *m, const fxs_draw_options *o) {
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "%s has no graph to draw", m->class_name);
    FXS_TRY(check_options(m->ctx, o));
    size_t most = o->max_nodes ? o->max_nodes : DEFAULT_NODES;
    if (m->graph->len > most)
        return fxs_fail(m->ctx, FXS_ELIMIT,
                        "%s has %zu nodes, and a picture may have %zu: raise the limit (max_nodes, "
                        "--max-nodes), or draw a part of it",
                        m->class_name, m->graph->len, most);
    return fxs_overlay_fits(m, o);
}

/* Fonts are opened when they are needed, deep inside of libraries that go on with no glyphs when
 * they can't: so it is found out before whether there are descriptors left. */
static fxs_status check_descriptors(fxs_ctx *ctx) {
    int fds[NEEDED_DESCRIPTORS][2];
    int n = 0, error = 0;
    while (n < NEEDED_DESCRIPTORS && pipe2(fds[n], O_CLOEXEC) == 0)
        n++;
    if (n < NEEDED_DESCRIPTORS)
        error = errno;
    for (int i = 0; i < n; i++) {
        close(fds[i][0]);
        close(fds[i][1]);
    }
    return error ? fxs_fail(ctx, FXS_EIO, "can't draw: fonts and layout need descriptors: %s",
                            strerror(error))
                 : FXS_OK;
}

/* ---- one drawing
 * -------------------------------------------------------------------------------------------- */

typedef struct target {
    const fxs_canvas *canvas;
    fxs_sink sink;
    fxs_parts parts; /* files that take the place of the one file */
} target;

/* A module's graph, or a chart about it. */
typedef struct subject {
    const fxs_module *m;
    const fxs_chart *chart; /* NULL: the graph */
} subject;

static void paper_of(const fxs_draw_options *o, double *w, double *h) {
    fxs_paper_parse(o->page, w, h);
    if (o->landscape && *w < *h) {
        double longer = *h;
        *h = *w;
        *w = longer;
    }
}

/* Title and legend stay on one page, unless the picture is scaled, perhaps to that page. Where
 * pages follow to the right they leave half of the first one for cuts between boxes. */
static double heading_room(const fxs_draw_options *o, bool lr) {
    double w, h;
    if (!o->page || o->fit_width)
        return 0;
    paper_of(o, &w, &h);
    fxs_area inside = fxs_pages_inside(w, h);
    return (inside.high.x - inside.low.x - 2 * FXS_PAGES_AROUND) / (lr ? 2 : 1);
}

static void tell_hubs(const fxs_view *v, fxs_buf *notes) {
    fxs_buf_printf(notes, "%s", v->hub->name);
    if (v->nhubs > 1)
        fxs_buf_printf(notes, " and %zu other value%s", v->nhubs - 1, v->nhubs > 2 ? "s" : "");
    fxs_buf_puts(notes, ": used at so many places that each shows a reference\n");
}

static void tell_doing(const fxs_draw_options *o, const char *what) {
    if (o->doing)
        o->doing(o->user, what);
}

static fxs_status make_graph(const fxs_module *m, const fxs_draw_options *o, bool placed,
                             fxs_fonts *fonts, fxs_view *view, fxs_scene *scene, fxs_buf *notes) {
    tell_doing(o, "measuring the nodes");
    FXS_TRY(fxs_view_make(m, o, fonts, view));
    view->heading_room = heading_room(o, view->lr);
    if (view->nhubs)
        tell_hubs(view, notes);
    if (view->note)
        fxs_buf_puts(notes, view->note);
    if (!placed)
        return FXS_OK;
    tell_doing(o, "arranging the nodes");
    FXS_TRY(fxs_layout(m->ctx, view, o->engine,
                       o->layout_seconds != 0 ? o->layout_seconds : FXS_LAYOUT_SECONDS, NULL, scene,
                       notes));
    return fxs_columns(m->ctx, o->columns, scene, notes);
}

/* What check_sizes() found good. */
static fxs_canvas_options canvas_options(const fxs_draw_options *o, fxs_buf *notes) {
    fxs_canvas_options options = FXS_CANVAS_DEFAULTS;
    options.dpi = o->dpi != 0 ? o->dpi : options.dpi;
    options.fit = o->png_fit;
    options.force = o->force;
    options.notes = notes;
    if (o->png_tile)
        fxs_tile_parse(o->png_tile, &options.most_w, &options.most_h);
    if (o->fit_width)
        fxs_length_parse(o->fit_width, &options.width);
    if (o->page)
        paper_of(o, &options.page_w, &options.page_h);
    return options;
}

static fxs_status write_target(fxs_ctx *ctx, const fxs_scene *s, fxs_canvas_options *options,
                               target *t) {
    options->parts = &t->parts;
    tell_doing(options->draw, t->canvas->doing);
    FXS_TRY(t->canvas->write(ctx, s, options, &t->sink));
    FXS_TRY(fxs_parts_finish(ctx, &t->parts));
    return fxs_sink_finish(ctx, &t->sink);
}

/* Canvases that share a way to measure share a view and a layout: first all with real fonts, then
 * all with fixed ones.
 */
static fxs_status draw_group(const subject *what, const fxs_draw_options *o, bool fixed, target *t,
                             size_t n, fxs_buf *notes) {
    bool any = false, placed = false;
    for (size_t i = 0; i < n; i++) {
        any |= t[i].canvas->fixed == fixed;
        placed |= t[i].canvas->fixed == fixed && t[i].canvas->placed;
    }
    if (!any)
        return FXS_OK;
    fxs_ctx *ctx = what->m->ctx;
    fxs_canvas_options options = canvas_options(o, notes);
    options.m = what->m;
    options.draw = o;
    fxs_fonts *fonts;
    fxs_view view = {0};
    fxs_scene scene = {.view = &view};
    FXS_TRY(check_descriptors(ctx));
    fxs_status status = fxs_fonts_new(ctx, fixed, &fonts);
    options.fonts = fonts;
    if (status == FXS_OK)
        status = what->chart ? fxs_bars_make(what->m, what->chart, o, fonts, &view, &scene)
                             : make_graph(what->m, o, placed, fonts, &view, &scene, notes);
    for (size_t i = 0; i < n && status == FXS_OK; i++)
        if (t[i].canvas->fixed == fixed)
            status = write_target(ctx, &scene, &options, &t[i]);
    fxs_scene_free(&scene);
    fxs_view_free(&view);
    fxs_fonts_free(fonts);
    return status;
}

static fxs_status draw_all(const subject *what, const fxs_draw_options *o, target *t, size_t n,
                           char **notes) {
    fxs_buf said = {0};
    fxs_status status = draw_group(what, o, false, t, n, &said);
    if (status == FXS_OK)
        status = draw_group(what, o, true, t, n, &said);
    if (notes) {
        *notes = fxs_buf_take(&said, NULL);
        if (!*notes && status == FXS_OK)
            status = fxs_fail_memory(what->m->ctx);
    }
    fxs_buf_free(&said);
    return status;
}

static fxs_status fail_format(fxs_ctx *ctx, const char *what, const char *name, bool chart) {
    fxs_buf known = {0};
    for (size_t i = 0; i < NCANVASES; i++)
        if (canvases[i].charts || !chart)
            fxs_buf_printf(&known, known.len ? ", %s" : "%s", canvases[i].name);
    fxs_status s = fxs_fail(ctx, FXS_EINVAL, "%s '%s' names no picture format (known: %s)", what,
                            name, known.failed ? "svg" : known.data);
    fxs_buf_free(&known);
    return s;
}

/* ---- public
 * -------------------------------------------------------------------------------------------------
 */

static fxs_status draw_files(const subject *what, const fxs_draw_options *o,
                             const char *const *paths, target *t, size_t n, size_t *opened,
                             char **notes) {
    fxs_ctx *ctx = what->m->ctx;
    for (size_t i = 0; i < n; i++) {
        FXS_TRY(fxs_need_text(ctx, paths ? paths[i] : NULL, "the path of a picture"));
        t[i].canvas = canvas_of_path(paths[i]);
        if (!t[i].canvas || (what->chart && !t[i].canvas->charts))
            return fail_format(ctx, "file", paths[i], what->chart != NULL);
    }
    for (size_t i = 0; i < n; i++) {
        *opened = i + 1;
        t[i].parts.path = paths[i];
        FXS_TRY(fxs_sink_open(ctx, paths[i], &t[i].sink));
    }
    FXS_TRY(draw_all(what, o, t, n, notes));
    for (size_t i = 0; i < n; i++)
        FXS_TRY(t[i].parts.first ? fxs_parts_commit(ctx, &t[i].parts)
                                 : fxs_sink_commit(ctx, &t[i].sink));
    return FXS_OK;
}

static const fxs_draw_options no_options;

static fxs_status draw_subject(const subject *what, const fxs_draw_options *opt,
                               const char *const *paths, size_t npaths, char **notes) {
    opt = opt ? opt : &no_options;
    if (notes)
        *notes = NULL;
    FXS_TRY(check(what->m, opt));
    target *t = fxs_alloc0(npaths, sizeof *t);
    if (!t)
        return fxs_fail_memory(what->m->ctx);
    size_t opened = 0;
    fxs_status status = draw_files(what, opt, paths, t, npaths, &opened, notes);
    for (size_t i = 0; i < opened; i++) {
        fxs_sink_close(&t[i].sink);
        fxs_parts_close(&t[i].parts);
    }
    fxs_free(t);
    return status;
}

fxs_status fxs_draw_check(fxs_ctx *ctx, const fxs_draw_options *opt) {
    return check_options(ctx, opt ? opt : &no_options);
}

fxs_status fxs_draw(const fxs_module *m, const fxs_draw_options *opt, const char *const *paths,
                    size_t npaths, char **notes) {
    return draw_subject(&(subject){.m = m}, opt, paths, npaths, notes);
}

fxs_status fxs_draw_profile(const fxs_module *m, const fxs_profile *p, fxs_profile_by by,
                            const fxs_draw_options *opt, const char *const *paths, size_t npaths,
                            char **notes) {
    return draw_subject(&(subject){m, &(fxs_chart){p, by}}, opt, paths, npaths, notes);
}

fxs_status fxs_draw_memory(const fxs_module *m, const fxs_draw_options *opt, const char *format,
                           char **bytes, size_t *len, char **notes) {
    opt = opt ? opt : &no_options;
    *bytes = NULL;
    if (len)
        *len = 0;
    if (notes)
        *notes = NULL;
    FXS_TRY(fxs_need_text(m->ctx, format, "fxs_draw_memory: format"));
    FXS_TRY(check(m, opt));
    target t = {.canvas = find_canvas(format)};
    if (!t.canvas)
        return fail_format(m->ctx, "format", format, false);
    fxs_sink_memory(&t.sink);
    fxs_status status = draw_all(&(subject){.m = m}, opt, &t, 1, notes);
    if (status == FXS_OK)
        status = fxs_buf_give(m->ctx, &t.sink.buf, bytes, len);
    fxs_sink_close(&t.sink);
    fxs_parts_close(&t.parts);
    return status;
}
