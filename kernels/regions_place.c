/* regions_place.c: boxes whose bins have channels of their own, by torchvision's names:
 * ps_roi_align and ps_roi_pool read channel (c * height + row) * width + column of the input for
 * bin (row, column) of channel c. What a box and its bins are is regions.c's. */
#include <math.h>

#include "kernels/families.h"
#include "kernels/regions.h"

static fxs_status read_places(fxs_call *c, fxs_regions *r) {
    int64_t bins;
    FXS_TRY(fxs_regions_read(c, r));
    if (__builtin_mul_overflow(r->out[0], r->out[1], &bins) || r->c % bins != 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "input channels must be a multiple of pooling height * pooling width: "
                          "%lld are none of %lld * %lld",
                          (long long)r->c, (long long)r->out[0], (long long)r->out[1]);
    r->c /= bins;
    r->aligned = true;
    return FXS_OK;
}

static fxs_status infer_places(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(read_places(c, &r));
    FXS_TRY(fxs_regions_out(c, fxs_arg_tensor(c, FXS_REGION_INPUT)->dtype, &r));
    c->constants = 2;
    return fxs_regions_out(c, FXS_INT32, &r);
}

/* What a bin comes to, from the channel that begins at `plane`. */
typedef double bin_fn(const fxs_regions *r, int64_t roi, int64_t row, int64_t column,
                      int64_t plane);

static void each_bin(const fxs_regions *r, int64_t begin, int64_t end, bin_fn *fn) {
    int64_t bins = r->out[0] * r->out[1], area = r->in[0] * r->in[1];
    for (int64_t i = begin * bins; i < end * bins; i++) {
        int64_t roi = i / bins / r->c, channel = i % (bins * r->c), bin = i % bins;
        int64_t plane = (fxs_region_image(r, roi) * r->c * bins + channel) * area;
        fxs_put_element(r->dtype, r->y, i, fn(r, roi, bin / r->out[1], bin % r->out[1], plane));
        r->places[i] = (int32_t)channel;
    }
}

/* ---- ps_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio) ----
 */

/* NaN where the box has no points. */
static double point_mean(const fxs_regions *r, int64_t roi, int64_t row, int64_t column,
                         int64_t plane) {
    fxs_span v = fxs_region_span(r, roi, 0), h = fxs_region_span(r, roi, 1);
    double count = (double)v.points * (double)h.points;
    return r->in[0] && r->in[1] ? fxs_region_sum(r, &v, &h, plane, row, column) / count : 0 / count;
}

static void align(void *user, int64_t begin, int64_t end, int thread) {
    (void)thread;
    each_bin(user, begin, end, point_mean);
}

static fxs_status run_ps_roi_align(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(read_places(c, &r));
    r.samples = fxs_arg_int(c, FXS_REGION_SAMPLES);
    r.places = fxs_tensor_data(c->out[1]);
    return fxs_regions_run(c, &r, align);
}

/* ---- ps_roi_pool(input, rois, spatial_scale, pooled_height, pooled_width) ---- */

static int64_t within(double v, int64_t n) {
    return !(v > 0) ? 0 : v < (double)(n - 1) ? (int64_t)v : n - 1;
}

/* Which pixels bin number `bin` of an axis takes, [0] to [1]; never the last one. */
static void bin_pixels(const fxs_regions *r, int64_t roi, int axis, int64_t bin, int64_t range[2]) {
    fxs_dtype d = r->dtype;
    double start = round(fxs_region_edge(r, roi, 1 - axis));
    double end = round(fxs_region_edge(r, roi, 3 - axis));
    double size = fxs_rounded(d, fmax(end - start, 1) / (double)r->out[axis]);
    range[0] = within(floor(fxs_rounded(d, (double)bin * size)) + start, r->in[axis]);
    range[1] = within(ceil(fxs_rounded(d, (double)(bin + 1) * size)) + start, r->in[axis]);
}

static double pixel_mean(const fxs_regions *r, int64_t roi, int64_t row, int64_t column,
                         int64_t plane) {
    int64_t v[2], h[2];
    double sum = 0;
    bin_pixels(r, roi, 0, row, v);
    bin_pixels(r, roi, 1, column, h);
    if (v[1] <= v[0] || h[1] <= h[0])
        return 0;
    for (int64_t y = v[0]; y < v[1]; y++)
        for (int64_t x = h[0]; x < h[1]; x++)
            sum += fxs_element(r->dtype, r->x, plane + y * r->in[1] + x);
    return sum / (double)((v[1] - v[0]) * (h[1] - h[0]));
}

static void pool(void *user, int64_t begin, int64_t end, int thread) {
    (void)thread;
    each_bin(user, begin, end, pixel_mean);
}

static fxs_status run_ps_roi_pool(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(read_places(c, &r));
    r.places = fxs_tensor_data(c->out[1]);
    return fxs_regions_run(c, &r, pool);
}

/* 1 for each pixel of a box, taken for the whole image, and for each mean. */
static fxs_cost cost_ps_roi_pool(const fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, FXS_REGION_INPUT), *y = c->out[0];
    double pixels = (double)fxs_arg_tensor(c, FXS_REGION_ROIS)->sizes[0] * (double)y->sizes[1] *
                    (double)x->sizes[2] * (double)x->sizes[3];
    return (fxs_cost){.flops = pixels + (double)fxs_tensor_numel(y)};
}

#define PLACES                                                                                     \
    "(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
const fxs_op fxs_ops_regions_place[] = {
    {"ps_roi_align", PLACES ", int sampling_ratio) -> (Tensor, Tensor)",
     "torch.ops.torchvision.ps_roi_align", infer_places, run_ps_roi_align, fxs_region_cost,
     FXS_OP_NO_INPLACE},
    {"ps_roi_pool", PLACES ") -> (Tensor, Tensor)", "torch.ops.torchvision.ps_roi_pool",
     infer_places, run_ps_roi_pool, cost_ps_roi_pool, FXS_OP_NO_INPLACE},
    {0},
};
#undef PLACES
