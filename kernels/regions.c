/* regions.c: what detectors do with boxes (x1, y1, x2, y2), by torchvision's names: nms keeps the
 * best of those that overlap, roi_align and roi_pool read the part of an image that each box
 * covers; what these share with regions_place.c stands in regions.h. */
#include <math.h>
#include <stdlib.h>

#include "kernels/families.h"
#include "kernels/regions.h"

/* ---- nms(dets, scores, iou_threshold) ---- */

enum { DETS, SCORES, THRESHOLD };

typedef struct scored {
    double score;
    int64_t at;
} scored;

/* Best first, NaN before all; equal ones stay in order. */
static int by_score(const void *p, const void *q) {
    const scored *a = p, *b = q;
    bool odd_a = isnan(a->score), odd_b = isnan(b->score);
    if (odd_a != odd_b)
        return odd_a ? -1 : 1;
    if (!odd_a && a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static double area(fxs_dtype d, const double *box) {
    return fxs_rounded(d, fxs_rounded(d, box[2] - box[0]) * fxs_rounded(d, box[3] - box[1]));
}

static bool overlap(fxs_dtype d, const double *a, const double *b, double threshold) {
    double w = fxs_rounded(d, fmin(a[2], b[2]) - fmax(a[0], b[0]));
    double h = fxs_rounded(d, fmin(a[3], b[3]) - fmax(a[1], b[1]));
    double shared = fxs_rounded(d, fmax(w, 0) * fmax(h, 0));
    double all = fxs_rounded(d, fxs_rounded(d, area(d, a) + area(d, b)) - shared);
    return fxs_rounded(d, shared / all) > threshold;
}

/* Puts the boxes that stay first in `kept`, best first; gives their number. */
static int64_t keep_best(fxs_dtype d, double threshold, const double *boxes, const scored *order,
                         bool *gone, int64_t *kept, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t best = order[i].at;
        if (gone[best])
            continue;
        kept[count++] = best;
        for (int64_t k = i + 1; k < n; k++) {
            int64_t other = order[k].at;
            if (!gone[other])
                gone[other] = overlap(d, boxes + 4 * best, boxes + 4 * other, threshold);
        }
    }
    return count;
}

/* *kept lives until w ends. */
static int64_t find_best(fxs_call *c, fxs_work *w, int64_t **kept) {
    int64_t n = fxs_arg_tensor(c, DETS)->sizes[0];
    const void *dets = fxs_work_data(w, fxs_arg_tensor(c, DETS));
    const void *scores = fxs_work_data(w, fxs_arg_tensor(c, SCORES));
    double *boxes = fxs_work_scratch(w, 4 * n, sizeof *boxes);
    scored *order = fxs_work_scratch(w, n, sizeof *order);
    bool *gone = fxs_work_scratch(w, n, sizeof *gone);
    *kept = fxs_work_scratch(w, n, sizeof **kept);
    if (w->status != FXS_OK)
        return 0;
    for (int64_t i = 0; i < n; i++) {
        order[i] = (scored){fxs_element(w->dtype, scores, i), i};
        gone[i] = false;
        for (int k = 0; k < 4; k++)
            boxes[4 * i + k] = fxs_element(w->dtype, dets, 4 * i + k);
    }
    if (n)
        qsort(order, (size_t)n, sizeof *order, by_score);
    return keep_best(w->dtype, fxs_arg_float(c, THRESHOLD), boxes, order, gone, *kept, n);
}

static fxs_status check_boxes(fxs_call *c) {
    const fxs_tensor *dets = fxs_arg_tensor(c, DETS), *scores = fxs_arg_tensor(c, SCORES);
    FXS_TRY(fxs_check_dtype(c, dets, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_check_same_dtype(c, dets, scores, "scores"));
    if (dets->ndim != 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "boxes should be a 2d tensor, got %dD", dets->ndim);
    if (dets->sizes[1] != 4)
        return FXS_REFUSE(c, FXS_ESHAPE, "boxes should have 4 elements in dimension 1, got %lld",
                          (long long)dets->sizes[1]);
    if (scores->ndim != 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "scores should be a 1d tensor, got %dD", scores->ndim);
    if (scores->sizes[0] != dets->sizes[0])
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "boxes and scores should have same number of elements in dimension 0, "
                          "got %lld and %lld",
                          (long long)dets->sizes[0], (long long)scores->sizes[0]);
    return FXS_OK;
}

static fxs_status infer_nms(fxs_call *c) {
    int64_t *kept, count;
    FXS_TRY(check_boxes(c));
    const fxs_tensor *dets = fxs_arg_tensor(c, DETS);
    if (dets->sizes[0] == 0)
        return fxs_out_new(c, FXS_INT64, 1, (int64_t[]){0}, NULL);
    if (!dets->storage || !fxs_arg_tensor(c, SCORES)->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "how many boxes stay depends on values, which are not computed: run with "
                          "values, not with shapes only");
    fxs_work w = fxs_work_begin(c, fxs_compute_dtype(dets->dtype));
    count = find_best(c, &w, &kept);
    FXS_TRY(fxs_work_end(&w));
    return fxs_out_new(c, FXS_INT64, 1, &count, NULL);
}

static fxs_status run_nms(fxs_call *c) {
    int64_t *kept;
    fxs_work w = fxs_work_begin(c, fxs_compute_dtype(fxs_arg_tensor(c, DETS)->dtype));
    int64_t count = find_best(c, &w, &kept), *out = fxs_tensor_data(c->out[0]);
    for (int64_t i = 0; i < count; i++)
        out[i] = kept[i];
    return fxs_work_end(&w);
}

/* 13 for each pair of boxes */
static fxs_cost cost_nms(const fxs_call *c) {
    double n = (double)fxs_arg_numel(c, SCORES);
    return (fxs_cost){.flops = 13 * n * (n - 1) / 2};
}

/* ---- roi_align, roi_pool (input, rois, spatial_scale, pooled_height, pooled_width, ...) ---- */

fxs_status fxs_regions_read(fxs_call *c, fxs_regions *r) {
    const fxs_tensor *x = fxs_arg_tensor(c, FXS_REGION_INPUT),
                     *rois = fxs_arg_tensor(c, FXS_REGION_ROIS);
    FXS_TRY(fxs_check_same_dtype(c, x, rois, "rois"));
    if (x->ndim != 4)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected input of 4 dimensions, got %d", x->ndim);
    if (rois->ndim != 2 || rois->sizes[1] != 5)
        return FXS_REFUSE(c, FXS_ESHAPE, "rois must have shape as Tensor[K, 5]");
    *r = (fxs_regions){.n = x->sizes[0],
                       .c = x->sizes[1],
                       .in = {x->sizes[2], x->sizes[3]},
                       .out = {fxs_arg_int(c, FXS_REGION_HEIGHT), fxs_arg_int(c, FXS_REGION_WIDTH)},
                       .scale = fxs_arg_float(c, FXS_REGION_SCALE)};
    if (r->out[0] <= 0 || r->out[1] <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "pooled size %lld x %lld is not positive",
                          (long long)r->out[0], (long long)r->out[1]);
    /* PyTorch looks at the type when there is something to read. */
    return rois->sizes[0] && r->c ? fxs_check_dtype(c, x, FXS_TAKES_FLOATS) : FXS_OK;
}

fxs_status fxs_regions_out(fxs_call *c, fxs_dtype dtype, const fxs_regions *r) {
    int64_t sizes[] = {fxs_arg_tensor(c, FXS_REGION_ROIS)->sizes[0], r->c, r->out[0], r->out[1]};
    return fxs_out_new(c, dtype, 4, sizes, NULL);
}

static fxs_status infer_roi_align(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(fxs_regions_read(c, &r));
    return fxs_regions_out(c, fxs_arg_tensor(c, FXS_REGION_INPUT)->dtype, &r);
}

static fxs_status infer_roi_pool(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(fxs_regions_read(c, &r));
    FXS_TRY(fxs_regions_out(c, fxs_arg_tensor(c, FXS_REGION_INPUT)->dtype, &r));
    c->constants = 2;
    return fxs_regions_out(c, FXS_INT32, &r);
}

/* Checked before. */
int64_t fxs_region_image(const fxs_regions *r, int64_t roi) {
    return (int64_t)fxs_element(r->dtype, r->rois, 5 * roi);
}

static fxs_status check_images(fxs_call *c, const fxs_regions *r) {
    for (int64_t i = 0, k = fxs_arg_tensor(c, FXS_REGION_ROIS)->sizes[0]; i < k; i++) {
        double image = fxs_element(r->dtype, r->rois, 5 * i);
        if (!(image > -1 && image < (double)r->n))
            return FXS_REFUSE(c, FXS_EINVAL, "box %lld is of image %g, but there are %lld images",
                              (long long)i, image, (long long)r->n);
    }
    return FXS_OK;
}

double fxs_region_edge(const fxs_regions *r, int64_t roi, int k) {
    return fxs_rounded(r->dtype, fxs_element(r->dtype, r->rois, 5 * roi + 1 + k) *
                                     fxs_rounded(r->dtype, r->scale));
}

enum { MOST_POINTS = 1 << 20 };

fxs_span fxs_region_span(const fxs_regions *r, int64_t roi, int axis) {
    fxs_dtype d = r->dtype;
    double shift = r->aligned ? 0.5 : 0;
    double start = fxs_rounded(d, fxs_region_edge(r, roi, 1 - axis) - shift);
    double length =
        fxs_rounded(d, fxs_rounded(d, fxs_region_edge(r, roi, 3 - axis) - shift) - start);
    if (!r->aligned)
        length = fmax(length, 1);
    double bin = fxs_rounded(d, length / (double)r->out[axis]), points = ceil(bin);
    int64_t own = isnan(points) ? 0 : (int64_t)fmin(fmax(points, -MOST_POINTS), MOST_POINTS);
    return (fxs_span){start, bin, r->samples > 0 ? r->samples : own};
}

/* Two neighbours on an axis, and how near the second is; false where the place is outside. */
static bool neighbours(double v, int64_t n, int64_t at[2], double *part) {
    if (!(v >= -1 && v <= (double)n))
        return false;
    v = fmax(v, 0);
    at[0] = (int64_t)v;
    if (at[0] >= n - 1) {
        at[0] = at[1] = n - 1;
        *part = 0;
    } else {
        at[1] = at[0] + 1;
        *part = v - (double)at[0];
    }
    return true;
}

static double place(const fxs_regions *r, const fxs_span *s, int64_t bin, int64_t point) {
    fxs_dtype d = r->dtype;
    double from = fxs_rounded(d, s->start + fxs_rounded(d, (double)bin * s->bin));
    return fxs_rounded(d, from + fxs_rounded(d, fxs_rounded(d, ((double)point + 0.5) * s->bin) /
                                                    (double)s->points));
}

static double between(const fxs_regions *r, int64_t plane, double y, double x) {
    int64_t v[2], h[2], width = r->in[1];
    double down, right;
    if (!neighbours(y, r->in[0], v, &down) || !neighbours(x, width, h, &right))
        return 0;
    double upper = (1 - right) * fxs_element(r->dtype, r->x, plane + v[0] * width + h[0]) +
                   right * fxs_element(r->dtype, r->x, plane + v[0] * width + h[1]);
    double lower = (1 - right) * fxs_element(r->dtype, r->x, plane + v[1] * width + h[0]) +
                   right * fxs_element(r->dtype, r->x, plane + v[1] * width + h[1]);
    return (1 - down) * upper + down * lower;
}

double fxs_region_sum(const fxs_regions *r, const fxs_span *v, const fxs_span *h, int64_t plane,
                      int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t i = 0; i < v->points; i++) {
        double y = place(r, v, row, i);
        for (int64_t k = 0; k < h->points; k++)
            sum += between(r, plane, y, place(r, h, column, k));
    }
    return sum;
}

/* Items are boxes in channels. */
static void align(void *user, int64_t begin, int64_t end, int thread) {
    const fxs_regions *r = user;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t roi = i / r->c;
        int64_t plane = (fxs_region_image(r, roi) * r->c + i % r->c) * r->in[0] * r->in[1];
        fxs_span v = fxs_region_span(r, roi, 0), h = fxs_region_span(r, roi, 1);
        double count = fmax((double)v.points * (double)h.points, 1);
        for (int64_t row = 0; row < r->out[0]; row++)
            for (int64_t column = 0; column < r->out[1]; column++)
                fxs_put_element(r->dtype, r->y, (i * r->out[0] + row) * r->out[1] + column,
                                r->in[0] && r->in[1]
                                    ? fxs_region_sum(r, &v, &h, plane, row, column) / count
                                    : 0);
    }
}

fxs_status fxs_regions_run(fxs_call *c, fxs_regions *r, fxs_parallel_fn *fn) {
    if (fxs_tensor_numel(c->out[0]) == 0)
        return FXS_OK;
    fxs_work w = fxs_work_begin(c, fxs_compute_dtype(fxs_arg_tensor(c, FXS_REGION_INPUT)->dtype));
    r->dtype = w.dtype;
    r->x = fxs_work_data(&w, fxs_arg_tensor(c, FXS_REGION_INPUT));
    r->rois = fxs_work_data(&w, fxs_arg_tensor(c, FXS_REGION_ROIS));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK)
        w.status = check_images(c, r);
    if (w.status == FXS_OK) {
        r->y = fxs_tensor_data(out);
        fxs_parallel(c->ctx, fxs_arg_tensor(c, FXS_REGION_ROIS)->sizes[0] * r->c, 16, fn, r);
    }
    return fxs_work_end(&w);
}

static fxs_status run_roi_align(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(fxs_regions_read(c, &r));
    r.samples = fxs_arg_int(c, FXS_REGION_SAMPLES);
    r.aligned = fxs_arg_bool(c, FXS_REGION_ALIGNED);
    return fxs_regions_run(c, &r, align);
}

fxs_cost fxs_region_cost(const fxs_call *c) {
    int64_t samples =
        fxs_arg_int(c, FXS_REGION_SAMPLES) > 0 ? fxs_arg_int(c, FXS_REGION_SAMPLES) : 2;
    return (fxs_cost){.flops = 10 * (double)samples * (double)samples *
                               (double)fxs_tensor_numel(c->out[0])};
}

static int64_t within(double v, int64_t n) { return !(v > 0) ? 0 : v < (double)n ? (int64_t)v : n; }

/* Which pixels bin number `bin` of an axis takes, [0] to [1]. */
static void bin_pixels(const fxs_regions *r, int64_t roi, int axis, int64_t bin, int64_t range[2]) {
    fxs_dtype d = r->dtype;
    double start = round(fxs_region_edge(r, roi, 1 - axis)),
           end = round(fxs_region_edge(r, roi, 3 - axis));
    double size = fxs_rounded(d, fmax(end - start + 1, 1) / (double)r->out[axis]);
    range[0] = within(floor(fxs_rounded(d, (double)bin * size)) + start, r->in[axis]);
    range[1] = within(ceil(fxs_rounded(d, (double)(bin + 1) * size)) + start, r->in[axis]);
}

static void greatest(const fxs_regions *r, int64_t plane, const int64_t v[2], const int64_t h[2],
                     int64_t to) {
    bool empty = v[1] <= v[0] || h[1] <= h[0];
    double best = empty ? 0 : r->dtype == FXS_FLOAT64 ? -(double)INFINITY : -3.4028234663852886e38;
    int64_t at = -1;
    for (int64_t y = v[0]; y < v[1]; y++)
        for (int64_t x = h[0]; x < h[1]; x++) {
            double seen = fxs_element(r->dtype, r->x, plane + y * r->in[1] + x);
            if (seen > best) {
                best = seen;
                at = y * r->in[1] + x;
            }
        }
    fxs_put_element(r->dtype, r->y, to, best);
    r->places[to] = (int32_t)at;
}

static void pool(void *user, int64_t begin, int64_t end, int thread) {
    const fxs_regions *r = user;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t roi = i / r->c, v[2], h[2];
        int64_t plane = (fxs_region_image(r, roi) * r->c + i % r->c) * r->in[0] * r->in[1];
        for (int64_t row = 0; row < r->out[0]; row++)
            for (int64_t column = 0; column < r->out[1]; column++) {
                bin_pixels(r, roi, 0, row, v);
                bin_pixels(r, roi, 1, column, h);
                greatest(r, plane, v, h, (i * r->out[0] + row) * r->out[1] + column);
            }
    }
}

static fxs_status run_roi_pool(fxs_call *c) {
    fxs_regions r = {0};
    FXS_TRY(fxs_regions_read(c, &r));
    r.places = fxs_tensor_data(c->out[1]);
    return fxs_regions_run(c, &r, pool);
}

const fxs_op fxs_ops_regions[] = {
    {"nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
     "torch.ops.torchvision.nms", infer_nms, run_nms, cost_nms, FXS_OP_NO_INPLACE},
    {"roi_align",
     "(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int "
     "sampling_ratio, bool aligned) -> Tensor",
     "torch.ops.torchvision.roi_align", infer_roi_align, run_roi_align, fxs_region_cost,
     FXS_OP_NO_INPLACE},
    {"roi_pool",
     "(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) -> "
     "(Tensor, Tensor)",
     "torch.ops.torchvision.roi_pool", infer_roi_pool, run_roi_pool, NULL, FXS_OP_NO_INPLACE},
    {0},
};
