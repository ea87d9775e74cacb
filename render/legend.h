/* legend.h: the line or lines under the title that say what colours mean: swatches with texts, and
 * steps of a scale that stand side by side. */
#ifndef FXS_RENDER_LEGEND_H
#define FXS_RENDER_LEGEND_H

#include "scene.h"

/* Builds a view's legend piece by piece. The text of a piece is what was put into `text`, which is
 * empty again after. Memory that is out is told by fxs_legend_finish. */
typedef struct fxs_legend_builder {
    fxs_view *v;
    fxs_buf text;
    fxs_legend_item items[64];
    size_t n;
    bool failed;
} fxs_legend_builder;

void fxs_legend_title(fxs_legend_builder *b);
void fxs_legend_text(fxs_legend_builder *b);
void fxs_legend_swatch(fxs_legend_builder *b, fxs_color fill, fxs_color line);
/* A swatch without a text or a gap before it. */
void fxs_legend_step(fxs_legend_builder *b, fxs_color fill);
/* Puts the pieces into the view, behind those that it has. */
bool fxs_legend_finish(fxs_legend_builder *b);

/* Gives the pieces of s's view places from 0, 0 on, in lines that are not wider than `room` where
 * that can be; what it covers. */
fxs_point fxs_legend_place(fxs_scene *s, double room);
void fxs_legend_shift(fxs_scene *s, double dx, double dy);

#endif
