/* stats.c: value statistics: one pass over each tensor. NaN and Inf are counted and take no part in
 * min, max and mean. Sums are made over blocks of fixed size and added in order, so that threads do
 * not change them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "pass/record.h"

enum { BLOCK = 32768 };

typedef struct partial {
    double min, max, sum;
    int64_t zeros, nan, inf;
} partial;

static const partial nothing = {.min = INFINITY, .max = -INFINITY};

static void add_value(partial *p, double x) {
    if (isnan(x)) {
        p->nan++;
    } else if (isinf(x)) {
        p->inf++;
    } else {
        p->min = x < p->min ? x : p->min;
        p->max = x > p->max ? x : p->max;
        p->sum += x;
        p->zeros += x == 0;
    }
}

enum { LANES = 32 };

/* Sums, extremes and zeros of n values, a multiple of LANES; several lanes, so that the compiler
 * can use vectors without reordering a sum. False when a value is not finite, or the sum. */
FXS_VECTOR_WIDE
static bool add_finite(partial *p, const float *x, int64_t n) {
    float min[LANES], max[LANES], sum[LANES], check = 0;
    int32_t zeros[LANES];
    for (int k = 0; k < LANES; k++) {
        min[k] = FLT_MAX, max[k] = -FLT_MAX, sum[k] = 0;
        zeros[k] = 0;
    }
    for (int64_t i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            float v = x[i + k];
            min[k] = v < min[k] ? v : min[k];
            max[k] = v > max[k] ? v : max[k];
            sum[k] += v;
            zeros[k] += v == 0.0f;
        }
    for (int k = 0; k < LANES; k++)
        check += sum[k] * 0.0f;
    if (check != 0) /* NaN */
        return false;
    for (int k = 0; k < LANES; k++) {
        p->min = (double)min[k] < p->min ? (double)min[k] : p->min;
        p->max = (double)max[k] > p->max ? (double)max[k] : p->max;
        p->sum += (double)sum[k];
        p->zeros += zeros[k];
    }
    return true;
}

static void add_floats(partial *p, const float *x, int64_t n) {
    int64_t whole = n / LANES * LANES;
    if (whole == 0 || !add_finite(p, x, whole))
        whole = 0; /* rare: one by one */
    for (int64_t i = whole; i < n; i++)
        add_value(p, (double)x[i]);
}

typedef struct job {
    const fxs_tensor *t;
    partial *blocks;
    bool contiguous;
    int64_t numel;
} job;

static void add_strided(const job *j, partial *p, int64_t begin, int64_t end) {
    const fxs_tensor *t = j->t;
    const char *data = fxs_tensor_data(t);
    int64_t size = (int64_t)fxs_dtype_size(t->dtype);
    for (int64_t i = begin; i < end; i++) {
        int64_t rest = i, at = 0;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += rest % t->sizes[d] * t->strides[d];
            rest /= t->sizes[d];
        }
        add_value(p, fxs_load_double(t->dtype, data + at * size));
    }
}

static void run_blocks(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    (void)thread;
    for (int64_t b = begin; b < end; b++) {
        int64_t from = b * BLOCK, to = from + BLOCK < j->numel ? from + BLOCK : j->numel;
        j->blocks[b] = nothing;
        if (j->contiguous && j->t->dtype == FXS_FLOAT32)
            add_floats(&j->blocks[b], (const float *)fxs_tensor_data(j->t) + from, to - from);
        else
            add_strided(j, &j->blocks[b], from, to);
    }
}

/* All elements are read once in any order, so a dense tensor (permuted, channels_last) is as good
 * as a contiguous one.
 */
static bool is_dense(const fxs_tensor *t) {
    int64_t expected = 1;
    for (int done = 0; done < t->ndim; done++) {
        bool found = false;
        int64_t before = expected;
        for (int d = 0; d < t->ndim && !found; d++) {
            if (t->sizes[d] != 1 && t->strides[d] == before) {
                expected *= t->sizes[d];
                found = true;
            }
        }
        if (!found)
            break;
    }
    return expected == fxs_tensor_numel(t);
}

void fxs_tensor_stats(fxs_ctx *ctx, const fxs_tensor *t, fxs_stats *out) {
    int64_t n = fxs_tensor_numel(t), count = (n + BLOCK - 1) / BLOCK;
    partial total = nothing;
    *out = (fxs_stats){.min = (double)NAN, .max = (double)NAN, .mean = (double)NAN, .numel = n};
    job j = {.t = t,
             .numel = n,
             .contiguous = is_dense(t),
             .blocks = fxs_alloc((size_t)count, sizeof *j.blocks)};
    if (!j.blocks || n == 0 || !t->storage || !fxs_is_computable(t->dtype)) {
        fxs_free(j.blocks);
        return;
    }
    fxs_parallel(ctx, count, 4, run_blocks, &j);
    for (int64_t b = 0; b < count; b++) {
        const partial *p = &j.blocks[b];
        total.min = p->min < total.min ? p->min : total.min;
        total.max = p->max > total.max ? p->max : total.max;
        total.sum += p->sum;
        total.zeros += p->zeros;
        total.nan += p->nan;
        total.inf += p->inf;
    }
    fxs_free(j.blocks);
    int64_t finite = n - total.nan - total.inf;
    out->nan = total.nan;
    out->inf = total.inf;
    out->zeros = (double)total.zeros / (double)n;
    if (finite > 0) {
        out->min = total.min;
        out->max = total.max;
        out->mean = total.sum / (double)finite;
    }
}

typedef struct stats_user {
    fxs_ctx *ctx;
    fxs_stats *out; /* NULL: count only */
    size_t n;
} stats_user;

static bool each_tensor(void *user, const fxs_value *leaf) {
    stats_user *u = user;
    if (leaf->tag != FXS_V_TENSOR)
        return true;
    if (u->out)
        fxs_tensor_stats(u->ctx, leaf->u.tensor, &u->out[u->n]);
    u->n++;
    return true;
}

fxs_status fxs_record_stats(void *user, fxs_node *n, const fxs_step *step) {
    stats_user u = {.ctx = user};
    if (step->outcome != FXS_DONE)
        return FXS_OK;
    fxs_value_visit(step->result, each_tensor, &u);
    if (u.n == 0)
        return FXS_OK;
    fxs_stats *stats = FXS_NEW_N(&n->graph->arena, fxs_stats, u.n);
    if (!stats)
        return fxs_fail_memory(u.ctx);
    u.out = stats;
    u.n = 0;
    fxs_value_visit(step->result, each_tensor, &u);
    n->meta.stats = stats;
    n->meta.nstats = u.n;
    return FXS_OK;
}
