/* ctx.h: the context: the first error, the seed, the threads, the memory of tensors. fxs_fail is
 * the only place where an error begins; outer layers add where it was with fxs_fail_where. */
#ifndef FXS_BASE_CTX_H
#define FXS_BASE_CTX_H

#include "base/arena.h"
#include "base/buf.h"

struct fxs_pool;
struct fxs_blocks;
struct fxs_registry;
struct fxs_value;

/* What a front end computes that the library has no operator for: functions of the user's program,
 * methods of its objects (FXS_V_OBJECT). `meta`: tensors have no values. Results as those of the
 * interpreter's methods; FXS_EUNKNOWN: not known there either. */
typedef struct fxs_host {
    fxs_status (*call_function)(void *user, const char *target, const struct fxs_value *args,
                                const struct fxs_value *kwargs, bool meta,
                                struct fxs_value *result);
    fxs_status (*call_method)(void *user, const char *name, const struct fxs_value *args,
                              const struct fxs_value *kwargs, bool meta, struct fxs_value *result);
    fxs_status (*call_module)(void *user, const char *path, const struct fxs_value *args,
                              const struct fxs_value *kwargs, bool meta, struct fxs_value *result);
    void *user;
} fxs_host;

struct fxs_ctx {
    fxs_status status;
    fxs_buf message;
    uint64_t seed;
    uint64_t stamp; /* of walks over graphs: one counter, so that nodes of several graphs may meet
                       in one walk */
    struct fxs_pool *pool;     /* base/pool.c; NULL: one thread */
    struct fxs_blocks *blocks; /* base/blocks.c; counted: storages may outlive the context */
    fxs_arena scratch;         /* of the last interpreter, for the next one */
    uint64_t removals; /* of modules from their parents: what was found by path may be gone */
    struct fxs_registry *registry; /* op/registry.c, made at first use */
    void (*registry_free)(struct fxs_registry *r);
    const fxs_host *host; /* NULL: there is none; not owned */
};

/* Sets status and message unless an error is already kept (the first one wins), and returns the
 * status that is kept. */
FXS_API fxs_status fxs_fail(fxs_ctx *ctx, fxs_status s, const char *fmt, ...) FXS_PRINTF(3, 4);
/* Puts "where: " before the kept message; returns the kept status. */
FXS_API fxs_status fxs_fail_where(fxs_ctx *ctx, const char *fmt, ...) FXS_PRINTF(2, 3);
FXS_API fxs_status fxs_fail_memory(fxs_ctx *ctx);
/* FXS_OK, or FXS_ENOMEM when the buffer failed. */
FXS_API fxs_status fxs_buf_status(fxs_ctx *ctx, const fxs_buf *b);
/* Gives the buffer's text to a public out-parameter. */
FXS_API fxs_status fxs_buf_give(fxs_ctx *ctx, fxs_buf *b, char **text, size_t *len);

/* FXS_EINVAL for a text that a public function was not given: NULL; and for one that is empty too.
 * `what` is the function and its argument: "fxs_load: path". */
FXS_API fxs_status fxs_need(fxs_ctx *ctx, const void *p, const char *what);
FXS_API fxs_status fxs_need_text(fxs_ctx *ctx, const char *s, const char *what);

#define FXS_TRY(e)                                                                                 \
    do {                                                                                           \
        fxs_status s_ = (e);                                                                       \
        if (s_ != FXS_OK)                                                                          \
            return s_;                                                                             \
    } while (0)

#endif
