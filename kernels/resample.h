/* resample.h: resizing as weights: along each dimension every output place is a weighted sum of a
 * few input places. Between resample.c (arguments and shapes) and resample_run.c. */
#ifndef FXS_KERNELS_RESAMPLE_H
#define FXS_KERNELS_RESAMPLE_H

#include "kernels/window.h"
#include "kernels/work.h"

typedef enum fxs_filter {
    FXS_NEAREST,
    FXS_NEAREST_EXACT,
    FXS_LINEAR,
    FXS_CUBIC,
    FXS_AREA
} fxs_filter;

typedef struct fxs_resample {
    int dims;
    fxs_filter filter;
    bool align_corners, antialias;
    int64_t planes, in[3], out[3]; /* as in fxs_window */
    double factor[3]; /* output over input as the caller gave it; 0: the sizes say it */
} fxs_resample;

/* x and y: dense [planes, in...] and [planes, out...] of the work's type. */
void fxs_resample_run(fxs_work *w, const fxs_resample *r, const void *x, void *y);

#endif
