/* blas.h: OpenBLAS, opened by the first product or factorization that needs it: its routines are
 * called through the table of blas_library.h, and only after fxs_blas_need. Called by gemm.c,
 * lapack*.c and linalg*.c. */
#ifndef FXS_KERNELS_BLAS_H
#define FXS_KERNELS_BLAS_H

#include "base/ctx.h"

/* Opens OpenBLAS, and holds it to one thread. FXS_EIO: it is not there. */
fxs_status fxs_blas_need(fxs_ctx *ctx);

#endif
