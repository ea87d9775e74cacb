/* panels.h: float32 products of matrices in panels: the right side is brought panel by panel into
 * the order that micro.c reads it in, by a function, so that it need not exist as a matrix: a
 * convolution packs its windows. Called by gemm.c and conv_implicit.c. */
#ifndef FXS_KERNELS_PANELS_H
#define FXS_KERNELS_PANELS_H

#include "base/ctx.h"

/* panel[k * tile + i] = right side's [k0 + k, n0 + i] for k < depth, i < count <= tile; what lies
 * behind count may be anything. A vector may be written behind the last row. */
typedef struct fxs_panels fxs_panels;
typedef void fxs_pack_fn(const fxs_panels *p, int64_t n0, int64_t count, int64_t k0, int64_t depth,
                         int64_t tile, float *panel);

/* C = A B, or C += A B, for one product. Strides count elements. */
struct fxs_panels {
    int64_t m, n, k;
    const float *a; /* [m, k] */
    int64_t a_row, a_col;
    float *c; /* [m, n] */
    int64_t c_row, c_col;
    bool accumulate;
    const float *bias; /* [m], added; NULL: none */
    fxs_pack_fn *pack;
    const void *user; /* of pack */
};

/* How a product is cut into pieces of work: row and column parts. */
typedef struct fxs_cut {
    int64_t rows, columns; /* of a piece */
    int64_t down, across;  /* pieces */
} fxs_cut;
/* `others` more products of this form are done at the same time. */
fxs_cut fxs_panels_cut(const fxs_panels *p, int threads, int64_t others);
/* Piece number 0 to down * across - 1, on the calling thread. */
void fxs_panels_run(const fxs_panels *p, const fxs_cut *cut, int64_t piece);
/* Whether this machine does it faster than plain loops and old BLAS kernels. */
bool fxs_panels_fast(void);

#endif
