/* fxrender.h: the public interface of the picture part: a model with a graph becomes SVG, PNG, PDF,
 * DOT, Mermaid, GraphML, draw.io, TikZ, or an interactive page (HTML).
 *
 * Works before a run (structure alone) and after one (results, failures, costs on each node). The
 * picture is the same, byte for byte, for the same model, options and fonts. Messages of errors are
 * in the model's context. */
#ifndef FXRENDER_H
#define FXRENDER_H

#include "fxprofile.h"
#include "fxscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a node's table can show, from top to bottom: X(NAME, name on the command line, what it is)
 */
#define FXS_ROW_MAP(X)                                                                             \
    X(NAME, "name", "the node's name")                                                             \
    X(KIND, "kind", "kind of node")                                                                \
    X(TARGET, "target", "what it calls, or the input's or attribute's name")                       \
    X(LAYER, "layer", "the layer as PyTorch prints it")                                            \
    X(ARGS, "args", "arguments")                                                                   \
    X(RESULT, "result", "dtype and shape of what came out, one row an element")                    \
    X(SHAPE, "shape", "shape of what came out, alone")                                             \
    X(DTYPE, "dtype", "dtype of what came out, alone")                                             \
    X(STRIDE, "stride", "strides and memory format")                                               \
    X(PARAMS, "params", "elements of own parameters")                                              \
    X(FLOPS, "flops", "floating point operations")                                                 \
    X(MEMORY, "memory", "bytes that the result takes")                                             \
    X(TIME, "time", "time spent")                                                                  \
    X(STATS, "stats", "value statistics")                                                          \
    X(SOURCE, "source", "file and line that it was recorded from")                                 \
    X(MODULE, "module", "module that was running when it was recorded")                            \
    X(MESSAGE, "message", "why the node failed or is unknown")

enum {
#define X(name, text, what) FXS_ROW_INDEX_##name,
    FXS_ROW_MAP(X)
#undef X
        FXS_ROW_COUNT
};

typedef enum fxs_row {
#define X(name, text, what) FXS_ROW_##name = 1 << FXS_ROW_INDEX_##name,
    FXS_ROW_MAP(X)
#undef X
        FXS_ROW_DEFAULT = FXS_ROW_NAME | FXS_ROW_KIND | FXS_ROW_TARGET | FXS_ROW_LAYER |
                          FXS_ROW_RESULT | FXS_ROW_MESSAGE
} fxs_row;

/* Finds a row's bit by its name ("result"); false when there is none. */
FXS_API bool fxs_draw_row_find(const char *name, unsigned *bit);
/* Reads a list of names with commas between, as `fxscope draw --show` has it: "name,result". "+" in
 * front of the first name begins with the default, "+" and "-" in front of any add it and all that
 * follow, and take them away: "+time,-kind,target". False, *rows as it was: a name is not known. */
FXS_API bool fxs_draw_rows(const char *list, unsigned *rows);
/* Name of the i-th row, NULL from FXS_ROW_COUNT on. */
FXS_API const char *fxs_draw_row_name(size_t i);

/* What to do with a PNG of more than 32767 pixels a side, which many programs refuse (or of more
 * than png_tile says). */
typedef enum fxs_png_fit {
    FXS_FIT_FULL,  /* write it at full size, and say so */
    FXS_FIT_SCALE, /* scale it down until it fits, and say by how much; FXS_ELIMIT when text would
                      be less than 6 pixels high, unless `force` is set */
    FXS_FIT_ERROR, /* FXS_ELIMIT */
    FXS_FIT_TILE,  /* several files that overlap a little, a.png becomes a-r1-c1.png, a-r1-c2.png,
                      ..., and notes name them */
    FXS_FIT_STRIP  /* several files, a-1.png, a-2.png, ..., cut between ranks */
} fxs_png_fit;

/* How numbers become colours. */
typedef enum fxs_color_scale {
    FXS_SCALE_AUTO, /* logarithmic when all are positive and the largest is 100 times the smallest
                     */
    FXS_SCALE_LINEAR,
    FXS_SCALE_LOG /* what is not positive has no colour */
} fxs_color_scale;

/* All zero is a good default. */
typedef struct fxs_draw_options {
    const char *theme;     /* "light" (NULL), "dark", or "grey" for print */
    const char *direction; /* "TB" (NULL) or "LR" */
    unsigned rows;         /* fxs_row bits; 0: FXS_ROW_DEFAULT */
    const char *title;     /* written over the picture; NULL: none */
    double dpi;            /* of PNG, 1 to 2400; 0: 96 */
    const char *engine;    /* "auto" (NULL: layered), "layered", "dot"; when one fails or takes too
                              long the other draws, and *notes says so */
    double layout_seconds; /* time that an engine may take; 0: 60 */
    size_t max_nodes;      /* FXS_ELIMIT for a graph of more; 0: 200000 */
    size_t hub_uses; /* a value used at more places than this is drawn as a small reference box
                        at each but the first; 0: 32, SIZE_MAX: never */
    fxs_png_fit png_fit;
    /* What the colours of nodes' heads say, explained by a legend in the picture: "kind", "family"
     * (of operators), "flops", "params", "memory" (bytes of the result), "time" (after a run with
     * values), "nan" (where NaN or Inf begins; after one with statistics), "overlay" (what
     * fxs_node_set_overlay gave). NULL: the kind, without a legend. Boxes of an outline have the
     * sum of what is inside, for memory their result's. A node without a number stays pale, one
     * that failed keeps the colour of that. */
    const char *color_by;
    const char *palette;         /* "safe", "dark", "grey"; NULL: as the theme is */
    fxs_color_scale color_scale; /* of numbers */
    const char *overlay_title;   /* what the legend calls the numbers of "overlay"; NULL: "value" */
    bool edge_shapes; /* the shape of what goes along each edge, beside it; the dtype only where it
                         is not float32 */
    const char *png_tile;  /* "WIDTHxHEIGHT": most pixels of a tile or strip; NULL: 32767x32767 */
    bool force;            /* PNG is also written when dpi, fit_width or png_fit make its text less
                              than 6 pixels high; else that is FXS_ELIMIT */
    const char *fit_width; /* the picture is scaled to this width: "170mm", "6.5in", "480pt", "480"
                              (points), "800px" (pixels of PNG, else 96 an inch), 16 points or
                              pixels at least, or, with `page`, "page"; NULL: not scaled */
    const char *page;      /* PDF in pages of this size: "a3", "a4", "a5", "letter", "legal",
                              "tabloid", or "WIDTHxHEIGHT" with mm, in or pt behind it; NULL: one
                              page as large as the picture, or pages of 14400 points when that is
                              not enough */
    bool landscape;        /* with `page`: its longer side is the width */
    size_t columns;        /* a long picture is cut between ranks and wrapped into so many columns
                              side by side (rows, when it goes left to right); 0: not */
    /* HTML: the modules that begin closed, by depth, collapse and expand of an outline; all others
     * begin open. NULL: so many are open that there are a few boxes to see. */
    const struct fxs_outline_options *closed;
    const struct fxs_numbers
        *numbers;  /* HTML: of boxes that have numbers of their own (fxoutline.h);
                      NULL: all have the sums of what is in them */
    bool clusters; /* a frame with a name around the nodes that each module recorded */
    /* Is told what begins ("arranging the nodes", "writing pdf"), a text that stays; NULL: nobody
     * wants to know. */
    void (*doing)(void *user, const char *what);
    void *user; /* of doing */
} fxs_draw_options;

/* The errors of fxs_draw that follow from the options alone: before a model is read and run. */
FXS_API fxs_status fxs_draw_check(fxs_ctx *ctx, const fxs_draw_options *opt);
/* Draws m's graph into files; the format of each follows from its extension (see
 * fxs_draw_format_name). The layout is made once for all of them. Nothing is put in place unless
 * all of them could be written. `opt` may be NULL. *notes (may be NULL) gets what the user should
 * know (an engine that failed, a scale), one a line, "" when there is nothing; yours to fxs_free,
 * also after an error. Errors: FXS_EINVAL for an option or extension that is not known or a module
 * without a graph, FXS_EIO with path and reason, FXS_ELIMIT for a picture that is too large. */
FXS_API fxs_status fxs_draw(const fxs_module *m, const fxs_draw_options *opt,
                            const char *const *paths, size_t npaths, char **notes);
/* Draws the longest rows of m's profile as bars, each with its time, share and rate, into .svg,
 * .png, .pdf or .tex files. Of the options title, theme, dpi and png_fit count. Otherwise as
 * fxs_draw. */
FXS_API fxs_status fxs_draw_profile(const fxs_module *m, const fxs_profile *p, fxs_profile_by by,
                                    const fxs_draw_options *opt, const char *const *paths,
                                    size_t npaths, char **notes);
/* The same as fxs_draw into memory, in one format; *bytes is yours to fxs_free and has a NUL behind
 * it. */
FXS_API fxs_status fxs_draw_memory(const fxs_module *m, const fxs_draw_options *opt,
                                   const char *format, char **bytes, size_t *len, char **notes);
/* Any text in the DOT language as "svg", "png", "pdf", "dot", by Graphviz's own layout and writers,
 * in a process of its own that may take so long (0: 60 seconds). *bytes is yours to fxs_free. A
 * text that is no graph is FXS_EPARSE. */
FXS_API fxs_status fxs_draw_dot(fxs_ctx *ctx, const char *dot, const char *format, double seconds,
                                char **bytes, size_t *len);
/* Name of the i-th format, which is also its extension: "svg", "png", "pdf", "html", "dot", "gv",
 * "mmd" (Mermaid), "graphml", "drawio", "tex" (TikZ), "log"; NULL behind the last. */
FXS_API const char *fxs_draw_format_name(size_t i);

#ifdef __cplusplus
}
#endif
#endif
