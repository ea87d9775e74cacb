/* bars.h: a profile as a chart: one bar a row, with its name in front and its figures behind. */
#ifndef FXS_RENDER_BARS_H
#define FXS_RENDER_BARS_H

#include "scene.h"

/* What is drawn when it is no graph. */
typedef struct fxs_chart {
    const fxs_profile *profile;
    fxs_profile_by by;
} fxs_chart;

/* Fills *v, which has no nodes, and *s, which has bars and notes only. Freed as after
 * fxs_view_make and fxs_layout, also after an error. */
fxs_status fxs_bars_make(const fxs_module *m, const fxs_chart *c, const fxs_draw_options *opt,
                         fxs_fonts *fonts, fxs_view *v, fxs_scene *s);

#endif
