/* parts.h: one output that became several files: model.png is model-1.png, model-2.png, ... None is
 * in place before all are. */
#ifndef FXS_RENDER_PARTS_H
#define FXS_RENDER_PARTS_H

#include "base/sink.h"

typedef struct fxs_part {
    char *path;
    fxs_sink sink;
    struct fxs_part *next;
} fxs_part;

typedef struct fxs_parts {
    const char *path; /* of the output; NULL: memory, which has no parts */
    fxs_part *first, *last;
} fxs_parts;

/* Finishes the part before, and opens the one whose name ends in `suffix` before the extension.
 * FXS_EINVAL when the output can't be several files, what fxs_sink_open says otherwise. */
fxs_status fxs_parts_next(fxs_ctx *ctx, fxs_parts *p, const char *suffix, fxs_sink **out);
/* What was written last is complete. */
fxs_status fxs_parts_finish(fxs_ctx *ctx, fxs_parts *p);
/* Puts all in place. */
fxs_status fxs_parts_commit(fxs_ctx *ctx, fxs_parts *p);
/* Frees all; files that are not in place are removed. */
void fxs_parts_close(fxs_parts *p);

#endif
