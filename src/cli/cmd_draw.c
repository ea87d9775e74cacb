/* cmd_draw.c: `fxscope draw`: runs a model and draws it, with what every node gave, into picture
 * files. */
#include <stdlib.h>
#include <string.h>

#include "python.h"
#include "session.h"

#include "render/fxrender.h"

static const char *const formats[] = {"svg", "png",     "pdf",    "html", "dot",
                                      "mmd", "graphml", "drawio", "tex",  NULL};
static const char *const themes[] = {"light", "dark", "grey", NULL};
static const char *const directions[] = {"TB", "LR", NULL};
static const char *const engines[] = {"auto", "layered", "dot", NULL};
static const char *const fits[] = {"full", "scale", "error",
                                   "tile", "strip", NULL}; /* in the order of fxs_png_fit */
static const char *const color_words[] = {"kind",   "family", "flops", "params",
                                          "memory", "time",   "nan",   NULL};
static const char *const palettes[] = {"safe", "dark", "grey", NULL};
static const char *const scales[] = {"auto", "linear", "log",
                                     NULL}; /* in the order of fxs_color_scale */
static const char *const row_words[] = {
#define X(name, text, what) text,
    FXS_ROW_MAP(X)
#undef X
        NULL};

static const cli_option options[] = {
    CLI_INPUT_ROW,
    {"output", 'o', "FILE",
     "picture to write, its extension says which kind: .svg, .png, .pdf, .html (a page in which "
     "modules open and nodes tell all their facts), .dot, .mmd (Mermaid), .graphml, .drawio, .tex "
     "(TikZ); may be repeated",
     CLI_LIST, CLI_AT(outputs)},
    {"format", 0, "KIND", "kind of picture of '-o -', which is standard output", CLI_TEXT,
     CLI_AT(picture_format), formats},
    {"title", 0, "TEXT", "title over the picture", CLI_TEXT, CLI_AT(title)},
    {"theme", 0, "THEME", "colours (default: light)", CLI_TEXT, CLI_AT(theme), themes},
    {"direction", 0, "DIR", "top to bottom or left to right (default: TB)", CLI_TEXT,
     CLI_AT(direction), directions},
    {"show", 0, "ROWS",
     "what a node shows, with commas between; '+' in front of a word adds to the default, which is "
     "name,kind,target,layer,result,message, and '-' takes away",
     CLI_WORDS, CLI_AT(rows), row_words},
    {"rows", 0, "ROWS", "the same as --show", CLI_WORDS, CLI_AT(rows), row_words},
    {"color-by", 0, "WHAT",
     "what the colours of nodes say, with a legend: the kind, the family of operators, a number, "
     "or "
     "where NaN or Inf begins",
     CLI_TEXT, CLI_AT(color_by), color_words},
    {"overlay", 0, "FILE",
     "colour nodes by numbers of your own: lines 'node,number', perhaps with a line of headings",
     CLI_TEXT, CLI_AT(overlay)},
    {"scale", 0, "SCALE",
     "how numbers become colours; auto is log when the largest is 100 times the smallest (default: "
     "auto)",
     CLI_INDEX, CLI_AT(color_scale), scales},
    {"palette", 0, "NAME",
     "colours of --color-by and --overlay; safe and dark can be told apart by the colour-blind, "
     "grey "
     "is for print (default: as the theme is)",
     CLI_TEXT, CLI_AT(palette), palettes},
    {"edge-shapes", 0, NULL, "write the shape of what goes along each edge beside it", CLI_FLAG,
     CLI_AT(edge_shapes)},
    {"dpi", 0, "N", "resolution of PNG (default: 96)", CLI_REAL, CLI_AT(dpi), NULL, 1, 2400},
    {"layout", 0, "ENGINE",
     "what arranges the nodes: layered is our own, dot is Graphviz; auto is layered (default: "
     "auto)",
     CLI_TEXT, CLI_AT(engine), engines},
    {"layout-seconds", 0, "N",
     "how long the layout may take; dot is stopped then, and layered draws (default: 60)", CLI_REAL,
     CLI_AT(layout_seconds), NULL, 0.001, 86400},
    {"ghost-hubs", 0, "N",
     "draw a value that is used at more than N places as a small box at each (default: 32)",
     CLI_INT, CLI_AT(hub_uses), NULL, 1, 1e9},
    {"max-nodes", 0, "N", "refuse a graph of more nodes (default: 200000)", CLI_INT,
     CLI_AT(max_nodes), NULL, 1, 1e9},
    {"columns", 0, "N",
     "wrap a long picture into N columns side by side (rows, when it goes left to right); with "
     "--page all of them have to fit on one page",
     CLI_INT, CLI_AT(columns), NULL, 1, 100},
    {"fit-width", 0, "W",
     "scale the picture to that width: 170mm, 6.5in, 480pt, 800px (16pt or 16px at least), or, "
     "with "
     "--page, page",
     CLI_TEXT, CLI_AT(fit_width)},
    {"png-fit", 0, "HOW",
     "a PNG of more than 32767 pixels a side: written all the same (full), scaled down, refused, "
     "or "
     "written as several files: tiles FILE-r1-c1.png, or strips FILE-1.png cut between nodes "
     "(default: full)",
     CLI_INDEX, CLI_AT(png_fit), fits},
    {"tile", 0, "WxH", "most pixels of a PNG file, for --png-fit (default: 32767x32767)", CLI_TEXT,
     CLI_AT(png_tile)},
    {"force", 0, NULL,
     "write a PNG also when its text can't be read any more, by --png-fit scale, --fit-width or "
     "--dpi",
     CLI_FLAG, CLI_AT(force)},
    {"page", 0, "SIZE",
     "PDF in pages: a3, a4, a5, letter, legal, tabloid, or WxH with mm, in or pt behind it; lines "
     "that leave a page say where they go on, and a frame that began before is named again, "
     "as (continued)",
     CLI_TEXT, CLI_AT(page)},
    {"landscape", 0, NULL, "turn the pages, so that the longer side is the width", CLI_FLAG,
     CLI_AT(landscape)},
    CLI_META_ROW,
    {"stats", 0, NULL, "show least, greatest and mean value, zeros, NaN and Inf of every result",
     CLI_FLAG, CLI_AT(stats)},
    CLI_OUTLINE_ROWS,
    {"clusters", 0, NULL, "draw a frame around the nodes of each module", CLI_FLAG,
     CLI_AT(clusters)},
    CLI_WEIGHTS_ROW,
    CLI_TRAIN_ROW,
    CLI_SEED_ROW,
    CLI_THREADS_ROW,
    CLI_PYTHON_ROWS,
    CLI_HELP_ROW,
    {0},
};

#ifdef FXS_HAVE_RENDER

static cli_exit check_extension(const char *path) {
    const char *base = strrchr(path, '/');
    const char *dot = strrchr(base ? base : path, '.');
    const char *name;
    for (size_t i = 0; dot && (name = fxs_draw_format_name(i)); i++)
        if (strcmp(dot + 1, name) == 0)
            return CLI_OK;
    return cli_usage_error(
        "draw",
        "%s: what kind of picture? Name it .svg, .png, .pdf, .html, .dot, .mmd, .graphml, "
        ".drawio or .tex",
        path);
}

/* All that can be wrong with the outputs and is known before the work. *files are the outputs but
 * "-". */
static cli_exit check_outputs(const cli_settings *s, cli_list *files, bool *to_stdout) {
    if (s->outputs.len == 0)
        return cli_usage_error("draw", "no output is given: add -o FILE.svg");
    for (size_t i = 0; i < s->outputs.len; i++) {
        const char *path = s->outputs.items[i];
        if (strcmp(path, "-") == 0) {
            *to_stdout = true;
            continue;
        }
        cli_exit e = check_extension(path);
        if (e != CLI_OK)
            return e;
        files->items[files->len++] = path; /* in place: never ahead of i */
    }
    if (*to_stdout && !s->picture_format)
        return cli_usage_error("draw", "'-o -' needs the kind of picture: add --format svg");
    if (!*to_stdout && s->picture_format)
        return cli_usage_error("draw",
                               "--format is for '-o -' only; a file's extension says its kind");
    return CLI_OK;
}

/* The words are known: the parser checked them. */
static unsigned row_bits(const cli_settings *s) {
    unsigned bits = FXS_ROW_DEFAULT;
    if (s->rows)
        fxs_draw_rows(s->rows, &bits);
    return bits | (s->stats ? FXS_ROW_STATS : 0);
}

/* Statistics are recorded where they are shown. */
static bool needs_stats(const cli_settings *s) {
    return row_bits(s) & FXS_ROW_STATS || (s->color_by && strcmp(s->color_by, "nan") == 0);
}

static cli_exit check_colors(const cli_settings *s) {
    bool time = s->color_by && strcmp(s->color_by, "time") == 0;
    if (s->meta && (row_bits(s) & FXS_ROW_TIME || needs_stats(s) || time))
        return cli_usage_error("draw", "with --meta there are no values and times to show");
    if (s->color_by && s->overlay)
        return cli_usage_error("draw", "--color-by and --overlay both say what colours mean: "
                                       "give one of them");
    return CLI_OK;
}

/* What fxs_draw refuses as an argument was on the command line. */
static cli_exit drawn(cli_session *w, fxs_status status) {
    if (status == FXS_OK)
        return CLI_OK;
    cli_exit e = cli_session_fail(w);
    return status == FXS_EINVAL ? CLI_USAGE : e;
}

/* Those of a drawing that was not made led to its error, which tells them. */
static void tell_notes(fxs_status status, char *notes) {
    if (status == FXS_OK)
        cli_tell_notes(notes);
    else
        fxs_free(notes);
}

static bool is_page(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".html") == 0;
}

static bool draws_page(const cli_settings *s, const cli_list *files, bool to_stdout) {
    for (size_t i = 0; i < files->len; i++)
        if (is_page(files->items[i]))
            return true;
    return to_stdout && strcmp(s->picture_format, "html") == 0;
}

static cli_exit draw_files(cli_session *w, const fxs_module *m, const fxs_draw_options *how,
                           const char *const *paths, size_t n) {
    char *notes = NULL;
    if (n == 0)
        return CLI_OK;
    cli_drawing_begin();
    fxs_status status = fxs_draw(m, how, paths, n, &notes);
    cli_drawing_end();
    cli_exit e = drawn(w, status);
    tell_notes(status, notes);
    return e;
}

/* Pages hold more than pictures when w->page is there, and are drawn after them. */
static cli_exit draw_all_files(cli_session *w, const fxs_draw_options *how,
                               const fxs_draw_options *page, const cli_list *files) {
    if (!w->page)
        return draw_files(w, w->model, how, files->items, files->len);
    const char **sorted = calloc(files->len + 1, sizeof *sorted);
    size_t npictures = 0, n = 0;
    if (!sorted)
        return cli_no_memory();
    for (int pages = 0; pages < 2; pages++)
        for (size_t i = 0; i < files->len; i++)
            if (is_page(files->items[i]) == pages) {
                sorted[n++] = files->items[i];
                npictures += !pages;
            }
    cli_exit e = draw_files(w, w->model, how, sorted, npictures);
    if (e == CLI_OK)
        e = draw_files(w, w->page, page, sorted + npictures, n - npictures);
    free(sorted);
    return e;
}

static cli_exit draw(cli_session *w, const cli_settings *s, const fxs_draw_options *how,
                     const cli_list *files, bool to_stdout) {
    fxs_draw_options page = *how;
    char *notes = NULL, *picture = NULL;
    size_t len;
    page.closed = w->page ? &w->shown : NULL;
    page.numbers = w->page ? w->numbers : NULL;
    cli_exit e = draw_all_files(w, how, &page, files);
    if (e != CLI_OK || !to_stdout)
        return e;
    bool as_page = w->page && strcmp(s->picture_format, "html") == 0;
    cli_drawing_begin();
    fxs_status status = fxs_draw_memory(as_page ? w->page : w->model, as_page ? &page : how,
                                        s->picture_format, &picture, &len, &notes);
    cli_drawing_end();
    e = drawn(w, status);
    tell_notes(status, notes);
    if (e == CLI_OK)
        cli_out_bytes(picture, len);
    fxs_free(picture);
    return e;
}

/* What is wrong in the file of numbers was given on the command line. */
static cli_exit numbered(cli_session *w, fxs_status status) {
    if (status == FXS_OK)
        return CLI_OK;
    cli_exit e = cli_session_fail(w);
    return status == FXS_EINVAL || status == FXS_ENOTFOUND ? CLI_USAGE : e;
}

/* The numbers of --overlay were given to the nodes that ran, and are for the boxes of the outline
 * too. */
static cli_exit outline_and_number(cli_session *w, const cli_settings *s) {
    bool modules = s->clusters || row_bits(s) & FXS_ROW_MODULE;
    if (!w->numbers)
        return cli_session_outline(w, s, modules);
    cli_exit e = cli_session_outline(w, s, modules);
    if (e == CLI_OK)
        e = numbered(w, fxs_numbers_give(w->numbers, w->model));
    return e == CLI_OK ? numbered(w, fxs_numbers_check(w->numbers)) : e;
}

static fxs_draw_options options_of(const cli_settings *s) {
    return (fxs_draw_options){.theme = s->theme,
                              .direction = s->direction,
                              .rows = row_bits(s),
                              .title = s->title,
                              .dpi = s->dpi,
                              .engine = s->engine,
                              .layout_seconds = s->layout_seconds,
                              .hub_uses = (size_t)s->hub_uses,
                              .max_nodes = (size_t)s->max_nodes,
                              .color_by = s->overlay ? "overlay" : s->color_by,
                              .palette = s->palette,
                              .color_scale = (fxs_color_scale)s->color_scale,
                              .edge_shapes = s->edge_shapes,
                              .clusters =
                                  s->clusters || s->depth || s->collapse.len || s->fold || s->focus,
                              .png_fit = (fxs_png_fit)s->png_fit,
                              .png_tile = s->png_tile,
                              .force = s->force,
                              .fit_width = s->fit_width,
                              .page = s->page,
                              .landscape = s->landscape,
                              .columns = (size_t)s->columns,
                              .doing = cli_drawing_does};
}

static cli_exit run_and_draw(cli_session *w, const cli_settings *s, const cli_list *files,
                             bool to_stdout) {
    fxs_draw_options how = options_of(s);
    how.overlay_title = w->numbers ? fxs_numbers_title(w->numbers) : NULL;
    cli_exit e = cli_session_run(w, s, s->meta ? FXS_RUN_META : FXS_RUN_EXECUTE, needs_stats(s));
    if (e != CLI_OK)
        return e;
    cli_exit findings = cli_report(w);
    if (w->numbers)
        e = numbered(w, fxs_numbers_give(w->numbers, w->model));
    if (e == CLI_OK && draws_page(s, files, to_stdout))
        e = cli_session_outline_page(w, s);
    if (e == CLI_OK)
        e = outline_and_number(w, s);
    if (e != CLI_OK)
        return e;
    e = draw(w, s, &how, files, to_stdout);
    return e != CLI_OK ? e : findings;
}

static cli_exit run_draw(const cli_settings *s) {
    cli_session w = {0};
    bool to_stdout = false;
    cli_list files = {.items = s->outputs.items};
    cli_exit e = check_colors(s);
    if (e == CLI_OK)
        e = check_outputs(s, &files, &to_stdout);
    if (e != CLI_OK)
        return e;
    fxs_draw_options how = options_of(s);
    e = cli_session_begin(&w, &cli_draw, s);
    if (e == CLI_OK)
        e = drawn(&w, fxs_draw_check(w.ctx, &how));
    if (e == CLI_OK)
        e = cli_session_read(&w, s);
    if (e == CLI_OK && s->overlay)
        e = numbered(&w, fxs_numbers_read(w.ctx, s->overlay, &w.numbers));
    if (e == CLI_OK)
        e = run_and_draw(&w, s, &files, to_stdout);
    cli_session_close(&w);
    return e;
}

#else

static cli_exit run_draw(const cli_settings *s) {
    (void)s;
    cli_error("this fxscope was built without pictures: build it again with meson setup "
              "-Drender=enabled");
    return CLI_FAILURE;
}

#endif

const cli_command cli_draw = {
    .name = "draw",
    .usage = "MODEL [-i SPEC]... -o FILE...",
    .summary = "run a model, and draw it with what every node computes",
    .details =
        "Runs the model node by node on the inputs given, and draws its graph: for each "
        "node its name, what it "
        "calls, and the dtype and shape of its result. A node that fails is drawn with the "
        "reason, and nodes "
        "that need its result are left empty.\n"
        "All outputs are drawn from one layout, and none is written unless all can be.\n"
        "A model file in Python is a program, and drawing it runs it, with your rights. The "
        "network, other programs and writing of files are refused to it (--allow), and its "
        "time is limited (--timeout): a seat belt, not a sandbox. Do not draw files that you "
        "do not trust.",
    .example = "fxscope draw resnet18.fx -i 1x3x224x224 -o resnet18.svg -o resnet18.png\n"
               "fxscope draw model.fx -i x=2x50:int64:0..999 --show +params,flops -o model.svg\n"
               "fxscope draw model.fx -i 1x3x224x224 --color-by flops -o model.svg\n"
               "fxscope draw model.py -i 1x3x224x224 -o model.html",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_draw,
};
