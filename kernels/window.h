/* window.h: a window that slides over one to three spatial dimensions: the geometry that
 * convolution, pooling, fold and unfold share, and the two moves between an image and the matrix of
 * its windows. Knows no operator. */
#ifndef FXS_KERNELS_WINDOW_H
#define FXS_KERNELS_WINDOW_H

#include "op/op.h"

/* Always three dimensions (depth, height, width); those that are not there have size 1 and stand in
 * front. */
typedef struct fxs_window {
    int dims; /* that are there: 1 to 3 */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3];
    int64_t before[3], after[3]; /* padding */
} fxs_window;

/* A window whose every number is neutral. */
static inline void fxs_window_clear(fxs_window *w, int dims) {
    w->dims = dims;
    for (int d = 0; d < 3; d++) {
        w->in[d] = w->out[d] = w->kernel[d] = w->stride[d] = w->dilation[d] = 1;
        w->before[d] = w->after[d] = 0;
    }
}
static inline fxs_window fxs_window_new(int dims) {
    fxs_window w;
    fxs_window_clear(&w, dims);
    return w;
}
/* Argument i (dims ints) into a window's array; a missing one (None, or an empty list) leaves it as
 * it is. */
void fxs_window_read(const fxs_call *c, int i, const fxs_window *w, int64_t out[3]);
/* The last dims sizes of t into out. */
void fxs_window_sizes(const fxs_window *w, const fxs_tensor *t, int64_t out[3]);
/* "(2 x 3)": the numbers of the dimensions that are there. */
char *fxs_window_text(const fxs_window *w, const int64_t v[3], char text[FXS_SIZES_TEXT]);
/* Refuses a kernel, stride or dilation below 1 and a negative padding. */
fxs_status fxs_window_check(fxs_call *c, const fxs_window *w);
/* dilation * (kernel - 1) + 1 in dimension d, or INT64_MAX where that overflows. */
int64_t fxs_window_extent(const fxs_window *w, int d);

/* n / stride: a division takes as long as all else that is done of a dimension. */
static inline int64_t fxs_steps(int64_t n, int64_t stride) {
    return stride == 1 ? n : stride == 2 && n >= 0 ? n >> 1 : n / stride;
}

static inline int64_t fxs_volume(const int64_t v[3]) { return v[0] * v[1] * v[2]; }

/* x [channels, in...] -> columns [channels * kernel..., out...]; places outside of x give 0. Any
 * dtype. */
void fxs_window_gather(const fxs_window *w, fxs_dtype d, int64_t channels, const void *x,
                       void *columns);
/* The way back: every window is added into y [channels, in...], which is zeroed first. Float and
 * integer types. */
void fxs_window_scatter(const fxs_window *w, fxs_dtype d, int64_t channels, const void *columns,
                        void *y);

#endif
