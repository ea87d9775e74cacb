/* conv_run.c: picks how a convolution is computed: float32 without im2col (conv_implicit.c,
 * conv_winograd.c, conv_depthwise.c), 1x1 and other types as products of matrices over gathered
 * windows, transposed ones by the way back. Called by conv.c; the arguments are checked. */
#include "kernels/conv.h"

#include <string.h>

#include "base/pool.h"
#include "kernels/gemm.h"
#include "kernels/micro.h"

/* ---- bias
 * -------------------------------------------------------------------------------------------------
 */

/* y[n, c, :] = bias[c] */
static void lay_bias(const fxs_conv_data *d, fxs_dtype dtype, int64_t plane) {
    size_t size = fxs_dtype_size(dtype);
    char *y = d->y;
    for (int64_t i = 0; i < d->conv->batch * d->conv->cout; i++) {
        const char *b = (const char *)d->bias + (size_t)(i % d->conv->cout) * size;
        for (int64_t k = 0; k < plane; k++, y += size)
            memcpy(y, b, size);
    }
}

#define ADD_BIAS(name, type)                                                                       \
    static void name(const fxs_conv_data *d, int64_t plane) {                                      \
        const type *bias = d->bias;                                                                \
        type *y = d->y;                                                                            \
        for (int64_t i = 0; i < d->conv->batch * d->conv->cout; i++, y += plane) {                 \
            type b = bias[i % d->conv->cout];                                                      \
            for (int64_t k = 0; k < plane; k++)                                                    \
                y[k] = (type)(y[k] + b);                                                           \
        }                                                                                          \
    }
ADD_BIAS(add_bias_float, float)
ADD_BIAS(add_bias_double, double)
/* Integers wrap: unsigned sums have the same bits. */
ADD_BIAS(add_bias1, uint8_t)
ADD_BIAS(add_bias2, uint16_t)
ADD_BIAS(add_bias4, uint32_t)
ADD_BIAS(add_bias8, uint64_t)

static void add_bias(const fxs_conv_data *d, fxs_dtype dtype, int64_t plane) {
    size_t n = fxs_dtype_size(dtype);
    if (dtype == FXS_FLOAT32)
        add_bias_float(d, plane);
    else if (dtype == FXS_FLOAT64)
        add_bias_double(d, plane);
    else
        (n == 1 ? add_bias1 : n == 2 ? add_bias2 : n == 4 ? add_bias4 : add_bias8)(d, plane);
}

/* ---- by matrix products
 * ----------------------------------------------------------------------------------- */

static bool is_pointwise(const fxs_window *w) {
    for (int d = 0; d < 3; d++)
        if (w->kernel[d] != 1 || w->stride[d] != 1 || w->before[d] != 0 || w->after[d] != 0)
            return false;
    return true;
}

/* y[n, g] += weight[g] columns[n, g] */
static fxs_status forward_product(const fxs_conv_data *d, fxs_dtype dtype, const void *columns,
                                  int64_t n) {
    const fxs_conv *v = d->conv;
    int64_t m = v->cout / v->groups, k = v->cin / v->groups * fxs_volume(v->window.kernel);
    int64_t out = fxs_volume(v->window.out);
    size_t size = fxs_dtype_size(dtype);
    fxs_gemm g = fxs_gemm_dense(dtype, m, out, k, d->weight, columns,
                                (char *)d->y + (size_t)(n * v->cout * out) * size);
    g.accumulate = d->bias != NULL;
    g.batch_ndim = 1, g.batch[0] = v->groups;
    g.a_batch[0] = m * k, g.b_batch[0] = k * out, g.c_batch[0] = m * out;
    return fxs_gemm_run(d->ctx, &g);
}

static void run_forward(fxs_work *w, const fxs_conv_data *d) {
    const fxs_conv *v = d->conv;
    int64_t kernel = fxs_volume(v->window.kernel), out = fxs_volume(v->window.out),
            in = fxs_volume(v->window.in);
    bool pointwise = is_pointwise(&v->window);
    size_t size = fxs_dtype_size(w->dtype);
    void *columns =
        pointwise ? NULL
                  : fxs_work_scratch(w, v->cin * kernel * out, size); /* [cin * kernel, out] */
    if (w->status != FXS_OK)
        return;
    if (d->bias)
        lay_bias(d, w->dtype, out);
    for (int64_t n = 0; n < v->batch && w->status == FXS_OK; n++) {
        const char *x = (const char *)d->x + (size_t)(n * v->cin * in) * size;
        if (!pointwise)
            fxs_window_gather(&v->window, w->dtype, v->cin, x, columns);
        w->status = forward_product(d, w->dtype, pointwise ? x : columns, n);
    }
}

/* columns[g] = weight[g]' x[n, g], which are then added up where they overlap */
static void run_transposed(fxs_work *w, const fxs_conv_data *d) {
    const fxs_conv *v = d->conv;
    int64_t rows = v->cout / v->groups * fxs_volume(v->window.kernel), k = v->cin / v->groups;
    int64_t places = fxs_volume(v->window.out), plane = fxs_volume(v->window.in);
    size_t size = fxs_dtype_size(w->dtype);
    char *columns =
        fxs_work_scratch(w, rows * v->groups * places, size); /* [cout * kernel, places] */
    if (!columns)
        return;
    for (int64_t n = 0; n < v->batch; n++) {
        fxs_gemm g =
            fxs_gemm_dense(w->dtype, rows, places, k, d->weight,
                           (const char *)d->x + (size_t)(n * v->cin * places) * size, columns);
        g.a_row = 1, g.a_col = rows;
        g.batch_ndim = 1, g.batch[0] = v->groups;
        g.a_batch[0] = rows * k, g.b_batch[0] = k * places, g.c_batch[0] = rows * places;
        w->status = fxs_gemm_run(d->ctx, &g);
        if (w->status != FXS_OK)
            return;
        fxs_window_scatter(&v->window, w->dtype, v->cout, columns,
                           (char *)d->y + (size_t)(n * v->cout * plane) * size);
    }
    if (d->bias)
        add_bias(d, w->dtype, plane);
}

/* ---- the choice
 * ------------------------------------------------------------------------------------------- */

static void run_float(fxs_work *w, fxs_conv_data d) {
    fxs_conv padded = *d.conv;
    int tile = fxs_conv_winograd_tile(d.conv);
    bool done = false;
    if (tile)
        w->status = fxs_conv_winograd(w, &d, tile, &done);
    if (done || w->status != FXS_OK)
        return;
    if (fxs_conv_depthwise_padding(w, &d))
        return;
    const void *given = d.x;
    d.x = fxs_conv_pad(w, d.conv, d.x, &padded.window);
    d.conv = &padded;
    if (!d.x)
        return;
    if (padded.cin == padded.groups)
        fxs_conv_depthwise(&d, d.x != given);
    else
        w->status = fxs_conv_implicit(w, &d);
}

static void run_any(fxs_work *w, fxs_conv_data d) {
    fxs_conv padded = *d.conv;
    if (padded.padding != FXS_PAD_ZEROS) {
        d.x = fxs_conv_pad(w, d.conv, d.x, &padded.window);
        d.conv = &padded;
    }
    if (d.x)
        run_forward(w, &d);
}

fxs_status fxs_conv_run(fxs_call *c, const fxs_conv *v, fxs_tensor *x, fxs_tensor *weight,
                        fxs_tensor *bias) {
    fxs_work w = fxs_work_begin(c, x->dtype);
    fxs_conv_data d = {.conv = v, .ctx = c->ctx};
    d.x = fxs_work_data(&w, x);
    d.weight = fxs_work_data(&w, weight);
    d.bias = fxs_work_data(&w, bias);
    fxs_tensor *y = fxs_work_out(&w, c->out[0]);
    if (w.status != FXS_OK || fxs_tensor_numel(y) == 0)
        return fxs_work_end(&w);
    d.y = fxs_tensor_data(y);
    if (v->transposed)
        run_transposed(&w, &d);
    else if (w.dtype == FXS_FLOAT32 && v->cin > 0)
        run_float(&w, d);
    else
        run_any(&w, d);
    return fxs_work_end(&w);
}
