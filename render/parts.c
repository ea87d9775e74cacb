/* parts.c: see parts.h. Called by draw.c and canvas_png.c. */
#include "parts.h"

#include <string.h>

/* "a/model.png" and "-1": "a/model-1.png" */
static char *name_part(const char *path, const char *suffix) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    size_t stem = dot ? (size_t)(dot - path) : strlen(path);
    fxs_buf name = {0};
    fxs_buf_add(&name, path, stem);
    fxs_buf_puts(&name, suffix);
    fxs_buf_puts(&name, path + stem);
    return fxs_buf_take(&name, NULL);
}

fxs_status fxs_parts_next(fxs_ctx *ctx, fxs_parts *p, const char *suffix, fxs_sink **out) {
    if (!p->path)
        return fxs_fail(ctx, FXS_EINVAL,
                        "png: the picture becomes several files, which need a file's name, not "
                        "standard output or memory");
    FXS_TRY(fxs_parts_finish(ctx, p));
    fxs_part *part = fxs_alloc0(1, sizeof *part);
    if (!part)
        return fxs_fail_memory(ctx);
    part->sink.fd = -1;
    *(p->last ? &p->last->next : &p->first) = part;
    p->last = part;
    part->path = name_part(p->path, suffix);
    if (!part->path)
        return fxs_fail_memory(ctx);
    FXS_TRY(fxs_sink_open(ctx, part->path, &part->sink));
    *out = &part->sink;
    return FXS_OK;
}

fxs_status fxs_parts_finish(fxs_ctx *ctx, fxs_parts *p) {
    return p->last && p->last->sink.fd >= 0 ? fxs_sink_finish(ctx, &p->last->sink) : FXS_OK;
}

fxs_status fxs_parts_commit(fxs_ctx *ctx, fxs_parts *p) {
    for (fxs_part *at = p->first; at; at = at->next)
        FXS_TRY(fxs_sink_commit(ctx, &at->sink));
    return FXS_OK;
}

void fxs_parts_close(fxs_parts *p) {
    for (fxs_part *at = p->first, *next; at; at = next) {
        next = at->next;
        fxs_sink_close(&at->sink);
        fxs_free(at->path);
        fxs_free(at);
    }
    *p = (fxs_parts){0};
}
