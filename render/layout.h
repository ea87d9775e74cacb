/* layout.h: engines that give a view its places. An engine is a row; fxs_layout picks one, and the
 * next when it fails.
 */
#ifndef FXS_RENDER_LAYOUT_H
#define FXS_RENDER_LAYOUT_H

#include "scene.h"

/* Fills boxes and curves of a new scene, in points, y downwards, any origin, boxes at whole points.
 * A bad status comes with the reason in `why`; the context keeps no error, since another engine may
 * succeed. */
typedef fxs_status fxs_engine_fn(const fxs_view *v, double seconds, fxs_scene *s, fxs_buf *why);

typedef struct fxs_engine {
    const char *name;
    fxs_engine_fn *run;
    double limit; /* largest graph (fxs_ranks_size) that ends within 60 seconds; 0: any */
} fxs_engine;

extern const fxs_engine fxs_engine_dot, fxs_engine_layered;
/* "auto, dot, layered" */
const char *fxs_engine_names(void);
bool fxs_engine_known(const char *name);

enum { FXS_LAYOUT_SECONDS = 60 }; /* that an engine has when nothing else is said */

/* Seconds of a clock that only goes forward. */
double fxs_clock(void);

/* Lays the view out with the engine of that name, or, when that fails, with the others (NULL:
 * "auto", which is the first of the list that works; the list may be NULL for the usual one). What
 * went wrong on the way is added to `notes`, a line each. *s is to be freed also after an error. */
fxs_status fxs_layout(fxs_ctx *ctx, const fxs_view *v, const char *engine, double seconds,
                      const fxs_engine *const *list, fxs_scene *s, fxs_buf *notes);

#endif
