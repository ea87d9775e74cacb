/* ctx.c: see ctx.h. */
#include "base/ctx.h"

#include <stdio.h>

#include "base/pool.h"
#include "base/storage.h"

static const char *const status_names[] = {
#define X(name, text) #name,
    FXS_STATUS_MAP(X)
#undef X
};
static const char *const status_texts[] = {
#define X(name, text) text,
    FXS_STATUS_MAP(X)
#undef X
};

const char *fxs_status_name(fxs_status s) {
    return (unsigned)s < FXS_STATUS_COUNT ? status_names[s] : "?";
}

const char *fxs_status_text(fxs_status s) {
    return (unsigned)s < FXS_STATUS_COUNT ? status_texts[s] : "?";
}

const char *fxs_version(void) { return FXS_VERSION; }

fxs_ctx *fxs_ctx_new(void) {
    fxs_ctx *ctx = fxs_alloc0(1, sizeof *ctx);
    if (!ctx)
        return NULL;
    ctx->blocks = fxs_blocks_new();
    if (!ctx->blocks) {
        fxs_free(ctx);
        return NULL;
    }
    return ctx;
}

void fxs_ctx_free(fxs_ctx *ctx) {
    if (!ctx)
        return;
    if (ctx->registry)
        ctx->registry_free(ctx->registry);
    fxs_pool_free(ctx->pool);
    fxs_blocks_unref(ctx->blocks);
    fxs_arena_clear(&ctx->scratch);
    fxs_buf_free(&ctx->message);
    fxs_free(ctx);
}

const char *fxs_ctx_error(const fxs_ctx *ctx) {
    if (ctx->status == FXS_OK)
        return "";
    return ctx->message.data && !ctx->message.failed ? ctx->message.data
                                                     : fxs_status_text(ctx->status);
}

fxs_status fxs_ctx_status(const fxs_ctx *ctx) { return ctx->status; }

void fxs_ctx_clear(fxs_ctx *ctx) {
    ctx->status = FXS_OK;
    fxs_buf_cut(&ctx->message, 0);
    ctx->message.failed = false;
}

void fxs_ctx_set_seed(fxs_ctx *ctx, uint64_t seed) { ctx->seed = seed; }

fxs_status fxs_ctx_set_threads(fxs_ctx *ctx, int threads) {
    if (threads < 0 || threads > FXS_MAX_THREADS)
        return fxs_fail(ctx, FXS_EINVAL, "threads must be 0 to %d, not %d", FXS_MAX_THREADS,
                        threads);
    fxs_pool_free(ctx->pool);
    ctx->pool = NULL;
    if (threads == 0)
        threads = fxs_processor_count();
    if (threads == 1)
        return FXS_OK;
    ctx->pool = fxs_pool_new(threads);
    return ctx->pool ? FXS_OK : fxs_fail_memory(ctx);
}

fxs_status fxs_fail(fxs_ctx *ctx, fxs_status s, const char *fmt, ...) {
    if (ctx->status != FXS_OK)
        return ctx->status;
    ctx->status = s;
    fxs_buf_cut(&ctx->message, 0);
    va_list ap;
    va_start(ap, fmt);
    fxs_buf_vprintf(&ctx->message, fmt, ap);
    va_end(ap);
    return s;
}

fxs_status fxs_fail_where(fxs_ctx *ctx, const char *fmt, ...) {
    fxs_buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    fxs_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    fxs_buf_puts(&b, ": ");
    fxs_buf_puts(&b, fxs_ctx_error(ctx));
    if (b.failed) { /* the bare message is better than none */
        fxs_buf_free(&b);
        return ctx->status;
    }
    fxs_buf_free(&ctx->message);
    ctx->message = b;
    return ctx->status;
}

fxs_status fxs_fail_memory(fxs_ctx *ctx) {
    if (ctx->status == FXS_OK) {
        ctx->status = FXS_ENOMEM;
        fxs_buf_cut(&ctx->message, 0);
        ctx->message.failed =
            true; /* no allocation here: fxs_ctx_error falls back on the status text */
    }
    return ctx->status;
}

fxs_status fxs_need(fxs_ctx *ctx, const void *p, const char *what) {
    return p ? FXS_OK : fxs_fail(ctx, FXS_EINVAL, "%s is NULL", what);
}

fxs_status fxs_need_text(fxs_ctx *ctx, const char *s, const char *what) {
    FXS_TRY(fxs_need(ctx, s, what));
    return *s ? FXS_OK : fxs_fail(ctx, FXS_EINVAL, "%s is empty", what);
}

fxs_status fxs_buf_status(fxs_ctx *ctx, const fxs_buf *b) {
    return b->failed ? fxs_fail_memory(ctx) : FXS_OK;
}

fxs_status fxs_buf_give(fxs_ctx *ctx, fxs_buf *b, char **text, size_t *len) {
    *text = fxs_buf_take(b, len);
    return *text ? FXS_OK : fxs_fail_memory(ctx);
}
