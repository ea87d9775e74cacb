/* pool.c: workers wait awake for the next region, then sleep. Each thread has a part of the ranges,
 * and helps the others when its own is done: so what a thread wrote in one region it reads in the
 * next, from its own cache. A region ends when its ranges are done: a worker that the system has
 * not woken by then is not waited for, and finds the region closed. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* To wake a worker takes longer than most kernels do: so it stays awake for as long as what is done
 * between two regions of a run may take (about half a millisecond), but gives its processor to
 * whoever wants it. */
enum { SPINS = 2000, YIELDS = 1000, OPEN = 1 << 15, INSIDE = OPEN - 1, REGION = 16, LINE = 64 };

typedef struct worker {
    fxs_pool *pool;
    pthread_t thread;
    int index;
} worker;

/* A thread's ranges that nobody has taken. Alone in its line of the cache, as `state` is: what one
 * thread changes all the time must not take from the others what they read. */
typedef struct part {
    atomic_llong next;
    int64_t end;
    char apart[LINE];
} part;

struct fxs_pool {
    int threads;
    worker workers[FXS_MAX_THREADS];
    int started;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* From bit REGION on the number of the region; OPEN while it may be entered; below it how many
     * workers are inside. What a region is (n, grain, fn, user) only those inside may read. */
    char apart[LINE];
    atomic_ullong state;
    char apart_too[LINE];
    atomic_bool stop;
    int64_t n, grain;
    fxs_parallel_fn *fn;
    void *user;
    char before_parts[LINE];
    part parts[FXS_MAX_THREADS];
};

static void take_part(fxs_pool *p, part *of, int thread) {
    for (;;) {
        int64_t range = atomic_fetch_add(&of->next, 1);
        if (range >= of->end)
            return;
        int64_t begin = range * p->grain, left = p->n - begin;
        p->fn(p->user, begin, begin + (left < p->grain ? left : p->grain), thread);
    }
}

static void take_ranges(fxs_pool *p, int thread) {
    for (int i = 0; i < p->threads; i++)
        take_part(p, &p->parts[(thread + i) % p->threads], thread);
}

static void share_out(fxs_pool *p) {
    int64_t ranges = (p->n - 1) / p->grain + 1, each = ranges / p->threads,
            more = ranges % p->threads, at = 0;
    for (int i = 0; i < p->threads; i++) {
        atomic_store(&p->parts[i].next, at);
        p->parts[i].end = at += each + (i < more);
    }
}

static void pause_shortly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static unsigned long long region_of(fxs_pool *p) { return atomic_load(&p->state) >> REGION; }

static unsigned long long wait_for_region(fxs_pool *p, unsigned long long seen) {
    for (int i = 0; i < SPINS; i++) {
        if (region_of(p) != seen)
            return region_of(p);
        pause_shortly();
    }
    for (int i = 0; i < YIELDS; i++) {
        if (region_of(p) != seen)
            return region_of(p);
        sched_yield();
    }
    pthread_mutex_lock(&p->lock);
    while (region_of(p) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return region_of(p);
}

/* False when the region is closed, or another one already. */
static bool enter(fxs_pool *p, unsigned long long region) {
    unsigned long long s = atomic_load(&p->state);
    while (s >> REGION == region && s & OPEN)
        if (atomic_compare_exchange_weak(&p->state, &s, s + 1))
            return true;
    return false;
}

static void *work(void *arg) {
    worker *w = arg;
    for (unsigned long long seen = 0;;) {
        seen = wait_for_region(w->pool, seen);
        if (atomic_load(&w->pool->stop))
            return NULL;
        if (enter(w->pool, seen)) {
            take_ranges(w->pool, w->index);
            atomic_fetch_sub(&w->pool->state, 1);
        }
    }
}

/* Nobody is inside of the region before, which is closed. */
static void open_region(fxs_pool *p) {
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->state, (region_of(p) + 1) << REGION | OPEN);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static void close_region(fxs_pool *p) {
    atomic_fetch_and(&p->state, ~(unsigned long long)OPEN);
    for (int i = 0; atomic_load(&p->state) & INSIDE; i++) {
        if (i < SPINS)
            pause_shortly();
        else
            sched_yield(); /* the one inside may wait for this processor */
    }
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
    share_out(p);
    open_region(p);
    take_ranges(p, 0);
    close_region(p);
}
