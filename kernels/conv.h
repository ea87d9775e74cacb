/* conv.h: a convolution as numbers, between conv.c (arguments and shapes) and the files that
 * compute it. */
#ifndef FXS_KERNELS_CONV_H
#define FXS_KERNELS_CONV_H

#include "kernels/window.h"
#include "kernels/work.h"

typedef enum fxs_padding {
    FXS_PAD_ZEROS,
    FXS_PAD_REFLECT,
    FXS_PAD_REPLICATE,
    FXS_PAD_CIRCULAR
} fxs_padding;

/* Weights are [cout, cin / groups, kernel...], of a transposed convolution [cin, cout / groups,
 * kernel...]. The window of a transposed convolution slides over its result: window.in is the
 * result's size. */
typedef struct fxs_conv {
    fxs_window window;
    fxs_padding padding;
    bool transposed;
    int64_t batch, groups, cin, cout;
} fxs_conv;

/* Dense operands: x [batch, cin, in...], weight, bias [cout] or NULL, y [batch, cout, out...]. */
typedef struct fxs_conv_data {
    const fxs_conv *conv;
    fxs_ctx *ctx;
    const void *x, *weight, *bias;
    void *y;
} fxs_conv_data;

/* Computes c->out[0]. */
fxs_status fxs_conv_run(fxs_call *c, const fxs_conv *v, fxs_tensor *x, fxs_tensor *weight,
                        fxs_tensor *bias);

enum { FXS_CONV_SLACK = 32 }; /* values that may be read behind a padded input */
/* The padding becomes part of the input; false: there is none. */
bool fxs_conv_widen(fxs_window *w);
/* x with its padding laid around, of any float type; *window gets the padded size and no padding.
 * Gives x itself when there is nothing to pad. NULL: the error sticks in w. */
const void *fxs_conv_pad(fxs_work *w, const fxs_conv *v, const void *x, fxs_window *padded);

/* float32 by implicit GEMM: d->x is padded already, d->conv's window has no padding. */
fxs_status fxs_conv_implicit(fxs_work *w, const fxs_conv_data *d);
/* float32, one input channel a group: d->x is padded already; `slack`: FXS_CONV_SLACK holds. */
void fxs_conv_depthwise(const fxs_conv_data *d, bool slack);
/* The same, padding itself: 3x3 kernels and zeros alone, else false and nothing is done. */
bool fxs_conv_depthwise_padding(fxs_work *w, const fxs_conv_data *d);
/* 2 or 4 where the next function with such tiles is the fastest way for float32; else 0. */
int fxs_conv_winograd_tile(const fxs_conv *v);
/* float32, 3x3, stride 1, dilation 1, by Winograd's transforms; padding by zeros is its own. Where
 * not all results are *finite they are of no use: NaN spreads over a tile; nor are they where it
 * would take too much memory. */
fxs_status fxs_conv_winograd(fxs_work *w, const fxs_conv_data *d, int tile, bool *finite);

#endif
