/* resample_run.c: computes resizing, one dimension after the other: each is a sparse matrix with a
 * few weights a row. Positions are computed in the input's precision, as torch does: a rounding
 * decides which neighbour is nearest. Called by resample.c; the arguments are checked. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/resample.h"

/* Weights of one dimension: row o has count[o] of at most `width`. */
typedef struct axis {
    int64_t in, out, width;
    bool few;               /* every step is rounded to bfloat16 */
    int64_t *count, *index; /* [out], [out, width] */
    double *weight;         /* [out, width] */
} axis;

/* ---- weights
 * ---------------------------------------------------------------------------------------------- */

/* x rounded to the type that positions are computed in */
static double rounded(fxs_dtype d, double x) { return d == FXS_FLOAT64 ? x : (double)(float)x; }

/* x rounded to bfloat16 */
static float few(float x) {
    uint16_t bits;
    fxs_store_double(FXS_BFLOAT16, &bits, x);
    return (float)fxs_load_double(FXS_BFLOAT16, &bits);
}

static double scale_of(const fxs_resample *r, fxs_dtype t, int d) {
    if (r->align_corners)
        return r->out[d] > 1 ? rounded(t, (double)(r->in[d] - 1) / (double)(r->out[d] - 1)) : 0;
    if (r->factor[d] > 0)
        return rounded(t, 1 / r->factor[d]);
    return rounded(t, (double)r->in[d] / (double)r->out[d]);
}

static int64_t clamp(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static void put(axis *a, int64_t o, int64_t index, double weight) {
    int64_t at = o * a->width + a->count[o]++;
    a->index[at] = clamp(index, a->in);
    a->weight[at] = weight;
}

/* Catmull-Rom-like cubic of parameter `a`, at distance x */
static double cubic(double x, double a) {
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* The same in bfloat16 with a = -0.75, step by step as PyTorch has it: its terms nearly cancel out,
 * so what the steps lose is a part of the result. */
static double cubic_few(float x) {
    if (x <= 1)
        return few(few(few(few(few(1.25F * x) - 2.25F) * x) * x) + 1);
    return few(few(few(few(few(few(-0.75F * x) + 3.75F) * x) - 6) * x) + 3);
}

static void nearest_row(axis *a, const fxs_resample *r, fxs_dtype t, double scale, int64_t o) {
    double at = rounded(t, ((double)o + (r->filter == FXS_NEAREST_EXACT ? 0.5 : 0)) * scale);
    put(a, o, (int64_t)floor(at), 1);
}

static void smooth_row(axis *a, const fxs_resample *r, fxs_dtype t, double scale, int64_t o) {
    double at = r->align_corners ? rounded(t, scale * (double)o)
                                 : rounded(t, rounded(t, scale * ((double)o + 0.5)) - 0.5);
    if (r->filter == FXS_LINEAR) {
        at = at < 0 ? 0 : at;
        int64_t first = clamp((int64_t)at, a->in);
        double fraction = at - (double)first < 1 ? at - (double)first : 1;
        put(a, o, first, 1 - fraction);
        put(a, o, first + 1, fraction);
        return;
    }
    double first = floor(at), fraction = at - first;
    if (a->few) {
        float past = few((float)fraction), rest = few(1 - past);
        const float away[] = {few(past + 1), past, rest, few(rest + 1)};
        for (int k = 0; k < 4; k++)
            put(a, o, (int64_t)first + k - 1, cubic_few(away[k]));
        return;
    }
    for (int k = -1; k <= 2; k++)
        put(a, o, (int64_t)first + k, cubic(fraction - k, -0.75));
}

/* All inputs under a filter that is as wide as the image shrinks. */
static void antialias_row(axis *a, const fxs_resample *r, double scale, int64_t o) {
    double wide = scale > 1 ? scale : 1, support = (r->filter == FXS_LINEAR ? 1 : 2) * wide;
    double centre = scale * ((double)o + 0.5), total = 0;
    int64_t from = (int64_t)(centre - support + 0.5), to = (int64_t)(centre + support + 0.5);
    from = from < 0 ? 0 : from;
    to = to > a->in ? a->in : to;
    for (int64_t i = from; i < to; i++) {
        double x = ((double)i - centre + 0.5) / wide;
        double v = r->filter == FXS_LINEAR ? (fabs(x) < 1 ? 1 - fabs(x) : 0) : cubic(x, -0.5);
        put(a, o, i, v);
        total += v;
    }
    for (int64_t k = 0; k < a->count[o] && total != 0; k++)
        a->weight[o * a->width + k] /= total;
}

static void area_row(axis *a, int64_t o) {
    int64_t from = o * a->in / a->out, to = ((o + 1) * a->in + a->out - 1) / a->out;
    for (int64_t i = from; i < to; i++)
        put(a, o, i, 1 / (double)(to - from));
}

/* The most weights of a row. */
static int64_t width_of(const fxs_resample *r, double scale, int d) {
    if (r->filter == FXS_AREA)
        return r->in[d] / r->out[d] + 2;
    if (r->antialias)
        return (int64_t)(2 * (r->filter == FXS_LINEAR ? 1 : 2) * (scale > 1 ? scale : 1)) + 3;
    return r->filter == FXS_CUBIC ? 4 : r->filter == FXS_LINEAR ? 2 : 1;
}

static void fill(fxs_work *w, const fxs_resample *r, int d, axis *a) {
    double scale = scale_of(r, w->dtype, d);
    bool rounds = r->filter == FXS_CUBIC && !r->antialias &&
                  fxs_arg_tensor(w->call, 0)->dtype == FXS_BFLOAT16;
    scale = rounds ? few((float)scale) : scale;
    *a = (axis){.in = r->in[d], .out = r->out[d], .width = width_of(r, scale, d), .few = rounds};
    a->count = fxs_work_scratch(w, a->out, sizeof *a->count);
    a->index = fxs_work_scratch(w, a->out * a->width, sizeof *a->index);
    a->weight = fxs_work_scratch(w, a->out * a->width, sizeof *a->weight);
    if (w->status != FXS_OK)
        return;
    memset(a->count, 0, (size_t)a->out * sizeof *a->count);
    for (int64_t o = 0; o < a->out; o++) {
        if (d < 3 - r->dims || (r->filter == FXS_LINEAR && !r->antialias && a->in == a->out))
            put(a, o, o, 1); /* a size that stays is copied, whatever the factor */
        else if (r->filter == FXS_AREA)
            area_row(a, o);
        else if (r->filter == FXS_NEAREST || r->filter == FXS_NEAREST_EXACT)
            nearest_row(a, r, w->dtype, scale, o);
        else if (r->antialias)
            antialias_row(a, r, scale, o);
        else
            smooth_row(a, r, w->dtype, scale, o);
    }
}

/* ---- application
 * ------------------------------------------------------------------------------------------ */

/* x [outer, a.in, inner] -> y [outer, a.out, inner] */
#define APPLY(name, type)                                                                          \
    FXS_VECTOR static void name(const axis *a, int64_t outer, int64_t inner, const type *x,        \
                                type *y) {                                                         \
        for (int64_t b = 0; b < outer; b++, x += a->in * inner)                                    \
            for (int64_t o = 0; o < a->out; o++, y += inner) {                                     \
                const int64_t *index = a->index + o * a->width;                                    \
                const double *weight = a->weight + o * a->width;                                   \
                for (int64_t i = 0; i < inner; i++)                                                \
                    y[i] = (type)weight[0] * x[index[0] * inner + i];                              \
                for (int64_t k = 1; k < a->count[o]; k++)                                          \
                    for (int64_t i = 0; i < inner; i++)                                            \
                        y[i] += (type)weight[k] * x[index[k] * inner + i];                         \
            }                                                                                      \
    }
APPLY(apply_float, float)
APPLY(apply_double, double)

static void apply_few(const axis *a, int64_t outer, int64_t inner, const float *x, float *y) {
    for (int64_t b = 0; b < outer; b++, x += a->in * inner)
        for (int64_t o = 0; o < a->out; o++, y += inner) {
            const int64_t *index = a->index + o * a->width;
            const double *weight = a->weight + o * a->width;
            for (int64_t i = 0; i < inner; i++) {
                y[i] = few((float)weight[0] * x[index[0] * inner + i]);
                for (int64_t k = 1; k < a->count[o]; k++)
                    y[i] = few(y[i] + few((float)weight[k] * x[index[k] * inner + i]));
            }
        }
}

typedef struct job {
    const fxs_resample *r;
    fxs_dtype dtype;
    axis axes[3];
    const char *x;
    char *y, *spare;          /* spare: two images a thread */
    int64_t half, spare_size; /* values of an image; to the next thread's */
} job;

#define MOVE(name, type)                                                                           \
    static void name(const int64_t *index, int64_t n, const void *from, void *to) {                \
        const type *x = from;                                                                      \
        type *y = to;                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = x[index[i]];                                                                    \
    }
MOVE(move1, uint8_t)
MOVE(move2, uint16_t)
MOVE(move4, uint32_t)
MOVE(move8, uint64_t)

/* Nearest moves elements: any type, and exact. A row that repeats the one before is copied. */
static void move_plane(const job *j, const char *x, char *y) {
    const axis *a = j->axes;
    size_t size = fxs_dtype_size(j->dtype), row = (size_t)a[2].out * size;
    void (*move)(const int64_t *, int64_t, const void *, void *) = size == 1   ? move1
                                                                   : size == 2 ? move2
                                                                   : size == 4 ? move4
                                                                               : move8;
    for (int64_t d = 0; d < a[0].out; d++)
        for (int64_t h = 0; h < a[1].out; h++, y += row) {
            if (h > 0 && a[1].index[h] == a[1].index[h - 1])
                memcpy(y, y - row, row);
            else
                move(a[2].index, a[2].out,
                     x + (size_t)((a[0].index[d] * a[1].in + a[1].index[h]) * a[2].in) * size, y);
        }
}

/* Width, height, depth, one after the other. */
static void weigh_plane(const job *j, const char *x, char *y, char *spare) {
    const fxs_resample *r = j->r;
    char *a = spare, *b = spare + (size_t)j->half * fxs_dtype_size(j->dtype);
    int64_t outer = r->in[0] * r->in[1], inner = 1;
    int first = 3 - r->dims;
    const char *from = x;
    for (int d = 2; d >= first; d--) {
        char *to = d == first ? y : d == 2 ? a : b;
        if (j->axes[d].few)
            apply_few(&j->axes[d], outer, inner, (const float *)from, (float *)to);
        else if (j->dtype == FXS_FLOAT32)
            apply_float(&j->axes[d], outer, inner, (const float *)from, (float *)to);
        else
            apply_double(&j->axes[d], outer, inner, (const double *)from, (double *)to);
        inner *= r->out[d];
        outer = d > 0 ? outer / r->in[d - 1] : outer;
        from = to;
    }
}

static void run_planes(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    size_t size = fxs_dtype_size(j->dtype), in = (size_t)fxs_volume(j->r->in) * size;
    size_t out = (size_t)fxs_volume(j->r->out) * size;
    bool nearest = j->r->filter == FXS_NEAREST || j->r->filter == FXS_NEAREST_EXACT;
    for (int64_t p = begin; p < end; p++) {
        if (nearest)
            move_plane(j, j->x + (size_t)p * in, j->y + (size_t)p * out);
        else
            weigh_plane(j, j->x + (size_t)p * in, j->y + (size_t)p * out,
                        j->spare + (size_t)(thread * j->spare_size) * size);
    }
}

void fxs_resample_run(fxs_work *w, const fxs_resample *r, const void *x, void *y) {
    job j = {.r = r, .dtype = w->dtype, .x = x, .y = y};
    int64_t after_width = r->in[0] * r->in[1] * r->out[2],
            after_height = r->in[0] * r->out[1] * r->out[2];
    for (int d = 0; d < 3; d++)
        fill(w, r, d, &j.axes[d]);
    j.half = after_width > after_height ? after_width : after_height;
    j.spare = fxs_work_thread_scratch(w, 2 * j.half, fxs_dtype_size(w->dtype), &j.spare_size);
    if (w->status == FXS_OK)
        fxs_parallel(w->call->ctx, r->planes, 1 + 16384 / (1 + fxs_volume(r->out)), run_planes, &j);
}
