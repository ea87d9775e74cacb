/* winograd.h: the transforms of Winograd's minimal filtering for 3x3 kernels, F(2x2, 3x3) and
 * F(4x4, 3x3), over many tiles or many kernels at once. There are versions for each kind of
 * vectors, as of micro.h's products. Called by conv_winograd.c.
 *
 * Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. A tile of
 * `tile` x `tile` results has side = tile + 2, its transform side * side values. */
#ifndef FXS_KERNELS_WINOGRAD_H
#define FXS_KERNELS_WINOGRAD_H

#include "kernels/micro.h"

enum {
    FXS_WINOGRAD_SIDE = 6,   /* largest side */
    FXS_WINOGRAD_LANES = 16, /* results are written in vectors, so far behind n at most */
    FXS_WINOGRAD_KERNEL = 9  /* weights of a kernel */
};

/* From `side` lines that begin at x, x + step, ...: tile i's value at [r, k] is x[r * step + tile *
 * i + k]. out[p * plane + i] is value p of the transform of tile i < n. Up to `tile` *
 * FXS_WINOGRAD_LANES + FXS_WINOGRAD_LANES values behind the lines are read. */
typedef void fxs_winograd_input_fn(const float *x, int64_t step, int64_t n, float *out,
                                   int64_t plane);
/* n kernels of 9 weights behind each other: out[p * plane + i]. */
typedef void fxs_winograd_weight_fn(const float *w, int64_t n, float *out, int64_t plane);
/* Back: in[p * plane + i] of tile i < n; y[r * step + tile * i + k] = its result at [r, k], plus
 * bias. False when one of them is not finite: a transform makes NaN of a tile that an infinite
 * value touches, or one so large that its multiples are infinite, where the sum itself may be
 * finite. */
typedef bool fxs_winograd_output_fn(const float *in, int64_t plane, int64_t n, float bias, float *y,
                                    int64_t step);

typedef struct fxs_winograd {
    int tile, side;
    fxs_winograd_input_fn *input;
    fxs_winograd_weight_fn *weight;
    fxs_winograd_output_fn *output;
} fxs_winograd;

/* The one with tile 2 or 4 in the vectors of m. */
const fxs_winograd *fxs_winograd_of(const fxs_micro *m, int tile);

#endif
