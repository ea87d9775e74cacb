/* pool.h: the thread pool. One parallel region a kernel; the caller takes part. */
#ifndef FXS_BASE_POOL_H
#define FXS_BASE_POOL_H

#include "base/ctx.h"

enum { FXS_MAX_THREADS = 256 };

typedef struct fxs_pool fxs_pool;
/* The body gets a half-open range of items, and the number of the thread that runs it (0 to
 * threads-1). */
typedef void fxs_parallel_fn(void *user, int64_t begin, int64_t end, int thread);

fxs_pool *fxs_pool_new(int threads);
void fxs_pool_free(fxs_pool *p);
int fxs_processor_count(void);
/* Threads of the context, 1 or more. */
int fxs_threads(const fxs_ctx *ctx);
/* Runs fn over 0..n in ranges of `grain` items (the last may be shorter); returns when all are
 * done. Runs on the caller alone when there is one thread or one range. Bodies must not call
 * fxs_parallel. */
void fxs_parallel(fxs_ctx *ctx, int64_t n, int64_t grain, fxs_parallel_fn *fn, void *user);

#endif
