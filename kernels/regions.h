/* regions.h: boxes that are cut into bins, between regions.c, which reads them, and
 * regions_place.c, where each bin has a channel of its own. */
#ifndef FXS_KERNELS_REGIONS_H
#define FXS_KERNELS_REGIONS_H

#include "base/pool.h"
#include "kernels/work.h"

/* Where the arguments of all four operators stand. */
enum {
    FXS_REGION_INPUT,
    FXS_REGION_ROIS,
    FXS_REGION_SCALE,
    FXS_REGION_HEIGHT,
    FXS_REGION_WIDTH,
    FXS_REGION_SAMPLES,
    FXS_REGION_ALIGNED
};

/* x [n, c, in...], rois [k, 5]: the number of an image and a box (x1, y1, x2, y2); y has c channels
 * of out[0] x out[1] bins for each box. */
typedef struct fxs_regions {
    fxs_dtype dtype;
    const void *x, *rois;
    void *y;
    int32_t *places; /* the second output, where there is one */
    int64_t n, c, in[2], out[2], samples;
    double scale;
    bool aligned;
} fxs_regions;

/* Along one axis: where the box begins, how long a bin is, how many points it has. */
typedef struct fxs_span {
    double start, bin;
    int64_t points;
} fxs_span;

/* Each step of float32's arithmetic is rounded to float32: a box that lies on the border goes where
 * PyTorch puts it. */
static inline double fxs_rounded(fxs_dtype d, double v) {
    return d == FXS_FLOAT64 ? v : (double)(float)v;
}
static inline double fxs_element(fxs_dtype d, const void *data, int64_t i) {
    return d == FXS_FLOAT64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}
static inline void fxs_put_element(fxs_dtype d, void *data, int64_t i, double v) {
    if (d == FXS_FLOAT64)
        ((double *)data)[i] = v;
    else
        ((float *)data)[i] = (float)v;
}

/* Checks the arguments; r's facts, without data. */
fxs_status fxs_regions_read(fxs_call *c, fxs_regions *r);
/* An output of r's sizes. */
fxs_status fxs_regions_out(fxs_call *c, fxs_dtype dtype, const fxs_regions *r);
/* Computes c->out[0]: fn's items are boxes in channels of the output, its user is r. */
fxs_status fxs_regions_run(fxs_call *c, fxs_regions *r, fxs_parallel_fn *fn);
/* Which image a box is in. */
int64_t fxs_region_image(const fxs_regions *r, int64_t roi);
/* Edge number k of a box (x1, y1, x2, y2), in pixels. */
double fxs_region_edge(const fxs_regions *r, int64_t roi, int k);
fxs_span fxs_region_span(const fxs_regions *r, int64_t roi, int axis);
/* The sum over a bin's points; `plane` is where the channel begins. */
double fxs_region_sum(const fxs_regions *r, const fxs_span *v, const fxs_span *h, int64_t plane,
                      int64_t row, int64_t column);
/* 10 for each point that is read; where their number depends on the boxes, of 2 x 2. */
fxs_cost fxs_region_cost(const fxs_call *c);

#endif
