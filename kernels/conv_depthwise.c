/* conv_depthwise.c: float32 convolution with one input channel a group: every output row is a sum
 * of scaled input rows. Called by conv_run.c with a padded input. */
#include "base/pool.h"
#include "base/vector.h"
#include "kernels/conv.h"

/* y[0..n-1] += sum of nine scaled rows; the common kernel is 3x3. */
FXS_VECTOR static void row_3x3(const float *x, int64_t step, const float *w, float bias, int64_t n,
                               float *y) {
    const float *p = x, *q = x + step, *r = x + 2 * step;
    for (int64_t i = 0; i < n; i++)
        y[i] = bias + w[0] * p[i] + w[1] * p[i + 1] + w[2] * p[i + 2] + w[3] * q[i] +
               w[4] * q[i + 1] + w[5] * q[i + 2] + w[6] * r[i] + w[7] * r[i + 1] + w[8] * r[i + 2];
}

FXS_VECTOR static void row_3x3_stride2(const float *x, int64_t step, const float *w, float bias,
                                       int64_t n, float *y) {
    const float *p = x, *q = x + step, *r = x + 2 * step;
    for (int64_t i = 0; i < n; i++)
        y[i] = bias + w[0] * p[2 * i] + w[1] * p[2 * i + 1] + w[2] * p[2 * i + 2] +
               w[3] * q[2 * i] + w[4] * q[2 * i + 1] + w[5] * q[2 * i + 2] + w[6] * r[2 * i] +
               w[7] * r[2 * i + 1] + w[8] * r[2 * i + 2];
}

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
    return w->kernel[0] == 1 && w->kernel[1] == 3 && w->kernel[2] == 3 && w->dilation[1] == 1 &&
           w->dilation[2] == 1 && w->stride[2] <= 2;
}

static void one_plane(const fxs_window *w, const float *x, const float *weight, float bias,
                      float *y) {
    bool small = is_3x3(w);
    for (int64_t i = 0; i < w->out[0]; i++)
        for (int64_t j = 0; j < w->out[1]; j++, y += w->out[2]) {
            const float *corner = x + (i * w->stride[0] * w->in[1] + j * w->stride[1]) * w->in[2];
            if (!small)
                any_row(w, corner, weight, bias, y);
            else if (w->stride[2] == 1)
                row_3x3(corner, w->in[2], weight, bias, w->out[2], y);
            else
                row_3x3_stride2(corner, w->in[2], weight, bias, w->out[2], y);
        }
}

/* Planes begin..end-1 of the result [batch * cout]. */
static void run_planes(void *user, int64_t begin, int64_t end, int thread) {
    const fxs_conv_data *d = user;
    const fxs_conv *v = d->conv;
    int64_t in = fxs_volume(v->window.in), out = fxs_volume(v->window.out),
            kernel = fxs_volume(v->window.kernel);
    (void)thread;
    for (int64_t p = begin; p < end; p++) {
        int64_t n = p / v->cout, m = p % v->cout, g = m / (v->cout / v->groups);
        const float *bias = d->bias;
        one_plane(&v->window, (const float *)d->x + (n * v->cin + g) * in,
                  (const float *)d->weight + m * kernel, bias ? bias[m] : 0,
                  (float *)d->y + p * out);
    }
}

void fxs_conv_depthwise(const fxs_conv_data *d) {
    const fxs_conv *v = d->conv;
    int64_t out = fxs_volume(v->window.out) * fxs_volume(v->window.kernel);
    fxs_parallel(d->ctx, v->batch * v->cout, 1 + 65536 / (out + 1), run_planes, (void *)d);
}
