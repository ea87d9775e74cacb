/* conv_depthwise.c: float32 convolution with one input channel a group: every output row is a sum
 * of scaled input rows. Called by conv_run.c with a padded input. */
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/conv.h"

typedef float v8 __attribute__((vector_size(32)));
typedef float v8_loose __attribute__((vector_size(32), aligned(4)));
typedef int v8i __attribute__((vector_size(32)));

#define GET(p) (*(const v8_loose *)(p))
#define EVEN(p) __builtin_shuffle(GET(p), GET((p) + 8), (v8i){0, 2, 4, 6, 8, 10, 12, 14})
#define ODD(p) __builtin_shuffle(GET(p), GET((p) + 8), (v8i){1, 3, 5, 7, 9, 11, 13, 15})

/* Eight places of one row of a 3x3 kernel. */
#define ROW1(p, w) (w)[0] * GET(p) + (w)[1] * GET((p) + 1) + (w)[2] * GET((p) + 2)
#define ROW2(p, w) (w)[0] * EVEN(p) + (w)[1] * ODD(p) + (w)[2] * EVEN((p) + 2)

/* A plane under the common kernel, 3x3, of stride 1 or 2 along rows, eight places at once: the last
 * eight of a row overlap those before; shorter rows are cut from a whole vector. Reads up to
 * FXS_CONV_SLACK values behind the plane. */
#define PLANE(name, step, ROW)                                                                     \
    FXS_VECTOR static void name(const fxs_window *v, const float *x, const float *w, float bias,   \
                                float *y) {                                                        \
        int64_t n = v->out[2], row = v->in[2];                                                     \
        for (int64_t r = 0; r < v->out[1]; r++, y += n)                                            \
            for (int64_t i = 0; i < n; i += 8) {                                                   \
                int64_t at = i + 8 > n && n >= 8 ? n - 8 : i;                                      \
                const float *p = x + r * v->stride[1] * row + step * at;                           \
                v8 s = bias + (ROW(p, w)) + (ROW(p + row, w + 3)) + (ROW(p + 2 * row, w + 6));     \
                if (n >= 8)                                                                        \
                    *(v8_loose *)(y + at) = s;                                                     \
                else                                                                               \
                    memcpy(y, &s, (size_t)n * sizeof *y);                                          \
            }                                                                                      \
    }
PLANE(plane_3x3, 1, ROW1)
PLANE(plane_3x3_stride2, 2, ROW2)

FXS_VECTOR static void add_scaled(const float *x, float w, int64_t n, float *y) {
    for (int64_t i = 0; i < n; i++)
        y[i] += w * x[i];
}

static void add_scaled_strided(const float *x, int64_t step, float w, int64_t n, float *y) {
    for (int64_t i = 0; i < n; i++)
        y[i] += w * x[i * step];
}

/* One output row; `corner` is the input value under the window's first weight at its first place.
 */
static void any_row(const fxs_window *w, const float *corner, const float *weight, float bias,
                    float *y) {
    int64_t n = w->out[2];
    for (int64_t i = 0; i < n; i++)
        y[i] = bias;
    for (int64_t a = 0; a < w->kernel[0]; a++)
        for (int64_t b = 0; b < w->kernel[1]; b++)
            for (int64_t k = 0; k < w->kernel[2]; k++, weight++) {
                const float *x = corner +
                                 (a * w->dilation[0] * w->in[1] + b * w->dilation[1]) * w->in[2] +
                                 k * w->dilation[2];
                if (w->stride[2] == 1)
                    add_scaled(x, *weight, n, y);
                else
                    add_scaled_strided(x, w->stride[2], *weight, n, y);
            }
}

static bool is_3x3(const fxs_window *w) {
    return w->in[0] == 1 && w->kernel[0] == 1 && w->kernel[1] == 3 && w->kernel[2] == 3 &&
           w->dilation[1] == 1 && w->dilation[2] == 1 && w->stride[2] <= 2;
}

static void any_plane(const fxs_window *w, const float *x, const float *weight, float bias,
                      float *y) {
    for (int64_t i = 0; i < w->out[0]; i++)
        for (int64_t j = 0; j < w->out[1]; j++, y += w->out[2])
            any_row(w, x + (i * w->stride[0] * w->in[1] + j * w->stride[1]) * w->in[2], weight,
                    bias, y);
}

typedef void plane_fn(const fxs_window *w, const float *x, const float *weight, float bias,
                      float *y);

static plane_fn *choose_plane(const fxs_window *w, bool slack) {
    if (!slack || !is_3x3(w))
        return any_plane;
    return w->stride[2] == 1 ? plane_3x3 : plane_3x3_stride2;
}

/* As a whole tensor, a padded input would go through memory once more, and to copy its short rows
 * one by one takes longer than to multiply them: planes are padded one by one. */

typedef float v4_loose __attribute__((vector_size(16), aligned(4)));

/* Rows of n values to every `step`; the last vector of a row overlaps the one before. */
FXS_VECTOR static void copy_rows(int64_t n, int64_t rows, const float *from, float *to,
                                 int64_t step) {
    for (int64_t r = 0; r < rows; r++, from += n, to += step)
        if (n >= 8) {
            for (int64_t i = 0; i + 8 < n; i += 8)
                *(v8_loose *)(to + i) = GET(from + i);
            *(v8_loose *)(to + n - 8) = GET(from + n - 8);
        } else if (n >= 4) {
            *(v4_loose *)to = *(const v4_loose *)from;
            *(v4_loose *)(to + n - 4) = *(const v4_loose *)(from + n - 4);
        } else {
            for (int64_t i = 0; i < n; i++)
                to[i] = from[i];
        }
}

typedef struct job {
    const fxs_conv_data *data;
    fxs_window window; /* of a plane with its padding */
    plane_fn *plane;
    /* One a thread, of `size` floats and `step` apart, for those that are to be padded; else NULL.
     * Its border is 0 from the first range on. */
    float *planes;
    int64_t size, step;
    bool *bordered; /* [threads] */
} job;

static void pad_plane(const job *j, const float *from, float *plane) {
    const fxs_window *w = &j->data->conv->window;
    copy_rows(w->in[2], w->in[1], from, plane + w->before[1] * j->window.in[2] + w->before[2],
              j->window.in[2]);
}

/* Planes begin..end-1 of the result [batch * cout]. */
static void run_planes(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    const fxs_conv_data *d = j->data;
    const fxs_conv *v = d->conv;
    int64_t in = fxs_volume(v->window.in), out = fxs_volume(v->window.out),
            kernel = fxs_volume(v->window.kernel), held = -1;
    float *plane = j->planes ? j->planes + thread * j->step : NULL;
    if (plane && !j->bordered[thread])
        memset(plane, 0, (size_t)j->size * sizeof *plane);
    if (plane)
        j->bordered[thread] = true;
    for (int64_t p = begin; p < end; p++) {
        int64_t n = p / v->cout, m = p % v->cout, channel = n * v->cin + m / (v->cout / v->groups);
        const float *bias = d->bias, *x = (const float *)d->x + channel * in;
        if (plane && channel != held)
            pad_plane(j, x, plane);
        held = channel;
        j->plane(&j->window, plane ? plane : x, (const float *)d->weight + m * kernel,
                 bias ? bias[m] : 0, (float *)d->y + p * out);
    }
}

static void run(job *j) {
    const fxs_conv *v = j->data->conv;
    int64_t work = fxs_volume(v->window.out) * fxs_volume(v->window.kernel);
    fxs_parallel(j->data->ctx, v->batch * v->cout, 1 + 65536 / (work + 1), run_planes, j);
}

void fxs_conv_depthwise(const fxs_conv_data *d, bool slack) {
    const fxs_window *w = &d->conv->window;
    run(&(job){.data = d, .window = *w, .plane = choose_plane(w, slack)});
}

bool fxs_conv_depthwise_padding(fxs_work *w, const fxs_conv_data *d) {
    const fxs_conv *v = d->conv;
    job j = {.data = d, .window = v->window};
    if (v->cin != v->groups || v->padding != FXS_PAD_ZEROS || !is_3x3(&v->window) ||
        v->window.before[0] != 0 || v->window.after[0] != 0 || !fxs_conv_widen(&j.window))
        return false;
    j.plane = choose_plane(&j.window, true);
    j.size = fxs_volume(j.window.in) + FXS_CONV_SLACK;
    j.planes = fxs_work_thread_scratch(w, j.size, sizeof *j.planes, &j.step);
    j.bordered = fxs_work_scratch(w, fxs_threads(d->ctx), sizeof *j.bordered);
    if (w->status == FXS_OK) {
        memset(j.bordered, 0, (size_t)fxs_threads(d->ctx) * sizeof *j.bordered);
        run(&j);
    }
    return true;
}
