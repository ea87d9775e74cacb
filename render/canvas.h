/* canvas.h: writers that draw a scene. A canvas is a row; draw.c finds it by the format's name. */
#ifndef FXS_RENDER_CANVAS_H
#define FXS_RENDER_CANVAS_H

#include "base/sink.h"
#include "paper.h"
#include "parts.h"
#include "scene.h"

typedef struct fxs_canvas_options {
    double dpi;
    fxs_png_fit fit;
    double most_w, most_h; /* pixels of a PNG file */
    bool force;
    fxs_length width;      /* that was asked for */
    double page_w, page_h; /* points of a PDF page; 0: as large as the picture */
    fxs_parts *parts;      /* NULL: the output is one file */
    size_t band_bytes;     /* memory for one band of a PNG */
    uint32_t tile;         /* pixels of width that are painted at once, at most 32767 */
    fxs_buf *notes;
    /* For a canvas that makes layouts of its own; borrowed. */
    const fxs_module *m;
    const fxs_draw_options *draw;
    fxs_fonts *fonts;
} fxs_canvas_options;

#define FXS_CANVAS_DEFAULTS                                                                        \
    { .dpi = 96, .most_w = 32767, .most_h = 32767, .band_bytes = (size_t)32 << 20, .tile = 32000 }

typedef fxs_status fxs_canvas_fn(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                                 fxs_sink *out);
typedef struct fxs_canvas {
    const char *name, *doing;
    fxs_canvas_fn *write;
    bool charts; /* draws charts too, which have bars and no nodes */
    bool placed; /* needs a layout; without one a scene has no boxes and curves */
    bool fixed;  /* wants the fixed widths of fonts.h and the engine that is the same everywhere */
} fxs_canvas;

fxs_status fxs_canvas_svg(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out);
fxs_status fxs_canvas_png(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out);
fxs_status fxs_canvas_pdf(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out);
fxs_status fxs_canvas_html(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                           fxs_sink *out);
fxs_status fxs_canvas_dot(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out);
fxs_status fxs_canvas_mermaid(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                              fxs_sink *out);
fxs_status fxs_canvas_graphml(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                              fxs_sink *out);
fxs_status fxs_canvas_drawio(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                             fxs_sink *out);
fxs_status fxs_canvas_tikz(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                           fxs_sink *out);
fxs_status fxs_canvas_log(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out);

/* How much larger than in points the scene becomes by the width that was asked for, 1 when none
 * was; `px` is points a pixel. Says so when text gets smaller than 6 points; `format` begins the
 * note. */
double fxs_canvas_scale(const fxs_scene *s, const fxs_canvas_options *opt, double px,
                        const char *format);
/* Whether text would be less than 6 high at that scale. */
bool fxs_canvas_unreadable(double scale);

/* Where a line of a cell is written: left end of its baseline, from the box's top left corner. One
 * line is centred, several begin at the left. */
fxs_point fxs_cell_line_at(const fxs_cell *c, size_t line);

#endif
