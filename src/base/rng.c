/* rng.c: see rng.h. The float32 paths are the ones that networks' parameters take, so they are
 * plain loops that the compiler turns into vectors. */
#include "base/rng.h"

#include <math.h>

#include "base/pool.h"
#include "base/vector.h"

__extension__ typedef unsigned __int128 wide;

typedef struct fill_job {
    fxs_tensor *t;
    uint64_t seed;
    double a, b;
    int64_t low;
    uint64_t span;
} fill_job;

double fxs_random_normal(uint64_t seed, uint64_t i) {
    double u = (double)((fxs_random_bits(seed, 2 * i) >> 8) + 1) * 0x1p-24; /* (0, 1] */
    double v = (double)fxs_random_unit(seed, 2 * i + 1);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void store(const fill_job *j, int64_t i, double x) {
    fxs_store_double(j->t->dtype,
                     (char *)fxs_tensor_data(j->t) + i * (int64_t)fxs_dtype_size(j->t->dtype), x);
}

FXS_VECTOR
static void uniform_floats(float *p, int64_t begin, int64_t end, uint64_t seed, float low,
                           float width) {
    for (int64_t i = begin; i < end; i++)
        p[i] = low + width * fxs_random_unit(seed, (uint64_t)i);
}

static void uniform_range(void *user, int64_t begin, int64_t end, int thread) {
    const fill_job *j = user;
    (void)thread;
    if (j->t->dtype == FXS_FLOAT32) {
        uniform_floats(fxs_tensor_data(j->t), begin, end, j->seed, (float)j->a,
                       (float)(j->b - j->a));
        return;
    }
    for (int64_t i = begin; i < end; i++)
        store(j, i, j->a + (j->b - j->a) * (double)fxs_random_unit(j->seed, (uint64_t)i));
}

static void normal_range(void *user, int64_t begin, int64_t end, int thread) {
    const fill_job *j = user;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        store(j, i, j->a + j->b * fxs_random_normal(j->seed, (uint64_t)i));
}

static void integer_range(void *user, int64_t begin, int64_t end, int thread) {
    const fill_job *j = user;
    (void)thread;
    size_t size = fxs_dtype_size(j->t->dtype);
    for (int64_t i = begin; i < end; i++) {
        uint64_t r = (uint64_t)fxs_random_bits(j->seed, (uint64_t)i) << 32 |
                     fxs_random_bits(~j->seed, (uint64_t)i);
        uint64_t x = j->span ? (uint64_t)(((wide)r * j->span) >> 64) : r;
        fxs_store_int(j->t->dtype, (char *)fxs_tensor_data(j->t) + (size_t)i * size,
                      (int64_t)((uint64_t)j->low + x));
    }
}

static void constant_range(void *user, int64_t begin, int64_t end, int thread) {
    const fill_job *j = user;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        store(j, i, j->a);
}

enum { GRAIN = 65536 };

void fxs_fill_uniform(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, double low, double high) {
    fill_job j = {.t = t, .seed = seed, .a = low, .b = high};
    fxs_parallel(ctx, fxs_tensor_numel(t), GRAIN, uniform_range, &j);
}

void fxs_fill_normal(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, double mean, double deviation) {
    fill_job j = {.t = t, .seed = seed, .a = mean, .b = deviation};
    fxs_parallel(ctx, fxs_tensor_numel(t), GRAIN, normal_range, &j);
}

void fxs_fill_integers(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, int64_t low, int64_t high) {
    fill_job j = {.t = t, .seed = seed, .low = low, .span = (uint64_t)high - (uint64_t)low + 1};
    fxs_parallel(ctx, fxs_tensor_numel(t), GRAIN, integer_range, &j);
}

void fxs_fill_constant(fxs_ctx *ctx, fxs_tensor *t, double x) {
    fill_job j = {.t = t, .a = x};
    fxs_parallel(ctx, fxs_tensor_numel(t), GRAIN, constant_range, &j);
}
