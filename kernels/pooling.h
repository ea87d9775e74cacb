/* pooling.h: pooling as numbers, between pooling.c and pooling_adaptive.c (arguments and shapes)
 * and pooling_run.c. */
#ifndef FXS_KERNELS_POOLING_H
#define FXS_KERNELS_POOLING_H

#include "kernels/window.h"
#include "kernels/work.h"

/* Which inputs each output place of one dimension takes: `count` from `start` on, `step` apart. */
typedef struct fxs_taps {
    int64_t step;
    int64_t *start, *count;
    int64_t *outside; /* of a sliding window that begins behind the input: where; else start */
    int64_t *extent;  /* what this dimension adds to an average's divisor */
    int64_t whole_from, whole_to, stride; /* places with whole windows, which begin `stride` apart;
                                             none: whole_to is 0 */
} fxs_taps;

typedef struct fxs_pooling {
    int64_t planes;        /* batch * channels */
    int64_t in[3], out[3]; /* as in fxs_window */
    fxs_taps taps[3];
    int64_t divisor; /* of every average; 0: the product of the extents */
} fxs_pooling;

/* The result of pooling: [N, C, spatial...] in torch's memory format (of two dimensions
 * channels_last is kept, and of one where it comes from two). `indices` adds a second output of
 * int64. */
fxs_status fxs_pooling_result(fxs_call *c, const fxs_tensor *x, int dims, const int64_t spatial[3],
                              bool keep_format, bool indices);
/* Refuses what is not [C, spatial...] or [N, C, spatial...]; only a batch may be empty, and
 * channels where `channels`.
 */
fxs_status fxs_pooling_check(fxs_call *c, const fxs_tensor *x, int dims, bool channels);
/* taps of a sliding window, clipped to the input; extents count padding when `with_padding`. */
void fxs_pooling_slide(fxs_work *w, fxs_pooling *p, const fxs_window *window, bool with_padding);
/* taps of windows that divide the input evenly. */
void fxs_pooling_divide(fxs_work *w, fxs_pooling *p);
/* Fills planes, in and out from a dense input and result of `dims` spatial dimensions. */
void fxs_pooling_sizes(fxs_pooling *p, int dims, const fxs_tensor *x, const fxs_tensor *y);

/* x, y: planes of the work's type (float32, float64; averages of int64 too); indices may be NULL.
 */
void fxs_pooling_max(fxs_work *w, const fxs_pooling *p, const void *x, void *y, int64_t *indices);
void fxs_pooling_average(fxs_work *w, const fxs_pooling *p, const void *x, void *y);

#endif
