/* pool.c: workers spin shortly for the next region, then sleep. Ranges are handed out by an atomic
 * counter. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SPINS = 2000 };

typedef struct worker {
    fxs_pool *pool;
    pthread_t thread;
    int index;
} worker;

struct fxs_pool {
    int threads;
    worker workers[FXS_MAX_THREADS];
    int started;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint generation; /* counts regions */
    atomic_bool stop;
    atomic_int busy; /* workers that have not finished the region */
    atomic_llong next;
    int64_t n, grain;
    fxs_parallel_fn *fn;
    void *user;
};

static void take_ranges(fxs_pool *p, int thread) {
    for (;;) {
        int64_t begin = atomic_fetch_add(&p->next, p->grain);
        if (begin >= p->n)
            return;
        int64_t end = p->n - begin < p->grain ? p->n : begin + p->grain;
        p->fn(p->user, begin, end, thread);
    }
}

static unsigned wait_for_region(fxs_pool *p, unsigned seen) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&p->generation) != seen)
            return atomic_load(&p->generation);
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->generation) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return atomic_load(&p->generation);
}

static void *work(void *arg) {
    worker *w = arg;
    for (unsigned seen = 0;;) {
        seen = wait_for_region(w->pool, seen);
        if (atomic_load(&w->pool->stop))
            return NULL;
        take_ranges(w->pool, w->index);
        atomic_fetch_sub(&w->pool->busy, 1);
    }
}

static void open_region(fxs_pool *p) {
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->generation, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

fxs_pool *fxs_pool_new(int threads) {
    fxs_pool *p = fxs_alloc0(1, sizeof *p);
    if (!p)
        return NULL;
    p->threads = threads;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    for (int i = 1; i < threads; i++) {
        worker *w = &p->workers[i];
        *w = (worker){.pool = p, .index = i};
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break; /* fewer threads are slower, not wrong */
        p->started++;
    }
    return p;
}

void fxs_pool_free(fxs_pool *p) {
    if (!p)
        return;
    atomic_store(&p->stop, true);
    open_region(p);
    for (int i = 1; i <= p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    fxs_free(p);
}

int fxs_processor_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > FXS_MAX_THREADS ? FXS_MAX_THREADS : (int)n;
}

int fxs_threads(const fxs_ctx *ctx) { return ctx->pool ? ctx->pool->threads : 1; }

void fxs_parallel(fxs_ctx *ctx, int64_t n, int64_t grain, fxs_parallel_fn *fn, void *user) {
    if (n <= 0)
        return;
    if (grain < 1)
        grain = 1;
    fxs_pool *p = ctx->pool;
    if (!p || p->started == 0 || n <= grain) {
        fn(user, 0, n, 0);
        return;
    }
    p->n = n;
    p->grain = grain;
    p->fn = fn;
    p->user = user;
    atomic_store(&p->next, 0);
    atomic_store(&p->busy, p->started);
    open_region(p);
    take_ranges(p, 0);
    while (atomic_load(&p->busy) > 0) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}
