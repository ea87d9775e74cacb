/* gemm.h: products of matrices, one or a batch, in any layout: our own panels for float32 where the
 * machine has wide vectors, OpenBLAS for float64 and elsewhere, plain loops for integers. Called by
 * kernels only. */
#ifndef FXS_KERNELS_GEMM_H
#define FXS_KERNELS_GEMM_H

#include "op/op.h"

/* C = A B (or C += A B) for every index of the batch. Strides count elements. float16 and bfloat16
 * do not come here: the callers widen them. */
typedef struct fxs_gemm {
    fxs_dtype dtype;
    bool accumulate;
    int64_t m, n, k; /* A: [m, k], B: [k, n], C: [m, n] */
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    int batch_ndim;
    int64_t batch[FXS_MAX_DIM], a_batch[FXS_MAX_DIM], b_batch[FXS_MAX_DIM], c_batch[FXS_MAX_DIM];
} fxs_gemm;

/* A gemm of contiguous row-major matrices without batch. */
fxs_gemm fxs_gemm_dense(fxs_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                        const void *b, void *c);
/* Whether BLAS can take a matrix of these strides as it is; callers copy other ones. */
bool fxs_gemm_takes(int64_t rows, int64_t cols, int64_t row, int64_t col);
/* Splits the work over the context's threads. FXS_EIO: it needs OpenBLAS, which is not there. */
fxs_status fxs_gemm_run(fxs_ctx *ctx, const fxs_gemm *g);
/* One product on the calling thread, ignoring the batch: for use inside parallel regions. */
void fxs_gemm_one(const fxs_gemm *g);
/* The same product seen from the other side: C' = B' A'. */
fxs_gemm fxs_gemm_flip(const fxs_gemm *g);
/* Makes g product number `index` of its batch. */
void fxs_gemm_select(fxs_gemm *g, int64_t index);
/* To be called before fxs_gemm_one is used in a parallel region; opens OpenBLAS where it does
 * products of that dtype. */
fxs_status fxs_gemm_start(fxs_ctx *ctx, fxs_dtype dtype);

/* ---- gemm_float.c, called by gemm.c alone ---- */

/* Whether the two below do this product on this machine. */
bool fxs_gemm_float_takes(const fxs_gemm *g);
void fxs_gemm_float_one(const fxs_gemm *g);
void fxs_gemm_float_run(fxs_ctx *ctx, const fxs_gemm *g, int64_t batch, bool parallel);

#endif
