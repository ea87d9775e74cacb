/* overlay.h: what the heads of nodes say by their colour, and the legend of it. */
#ifndef FXS_RENDER_OVERLAY_H
#define FXS_RENDER_OVERLAY_H

#include "view.h"

/* Are the options that colours follow from known? */
fxs_status fxs_overlay_check(fxs_ctx *ctx, const fxs_draw_options *opt);
/* And is there in m's graph what they ask for? */
fxs_status fxs_overlay_fits(const fxs_module *m, const fxs_draw_options *opt);
/* Whether NaN and Inf are marked. */
bool fxs_overlay_marks(const fxs_module *m, const fxs_draw_options *opt);
/* Fills the colours and classes of v's nodes, and v's legend. */
fxs_status fxs_overlay_apply(fxs_view *v, const fxs_module *m, const fxs_draw_options *opt);

#endif
