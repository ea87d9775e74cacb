/* linalg.h: what the linalg families share: checks of matrices, outputs that lie column by column,
 * and matrices of a batch carried to and from LAPACK's buffers. Knows no operator. */
#ifndef FXS_KERNELS_LINALG_H
#define FXS_KERNELS_LINALG_H

#include "kernels/complex.h"
#include "kernels/lapack.h"

/* The dimensions in front of matrices. */
typedef struct fxs_batch {
    int n;
    int64_t sizes[FXS_MAX_DIM], count;
} fxs_batch;

/* ---- for infer
 * ---------------------------------------------------------------------------------------------- */

/* Refuses what is no batch of matrices of float32, float64 or their complex types; or not square.
 */
fxs_status fxs_check_matrices(fxs_call *c, const fxs_tensor *t);
fxs_status fxs_check_square(fxs_call *c, const fxs_tensor *t);
/* The same where PyTorch learns the type from its kernels, which matrices without elements never
 * reach. */
fxs_status fxs_check_any_matrices(fxs_call *c, const fxs_tensor *t);
fxs_status fxs_check_any_square(fxs_call *c, const fxs_tensor *t);
/* All dimensions but the last `item`. */
fxs_batch fxs_batch_of(const fxs_tensor *t, int item);
/* The batch that both broadcast to. */
fxs_status fxs_batch_join(fxs_call *c, fxs_batch *b, const fxs_batch *other);
/* New outputs: matrices column by column, as LAPACK leaves them, or row by row; one vector, or one
 * number a matrix. */
fxs_status fxs_out_columns(fxs_call *c, fxs_dtype d, const fxs_batch *b, int64_t rows,
                           int64_t columns);
fxs_status fxs_out_rows(fxs_call *c, fxs_dtype d, const fxs_batch *b, int64_t rows,
                        int64_t columns);
fxs_status fxs_out_vectors(fxs_call *c, fxs_dtype d, const fxs_batch *b, int64_t n);
fxs_status fxs_out_numbers(fxs_call *c, fxs_dtype d, const fxs_batch *b);

/* ---- for kernels
 * -------------------------------------------------------------------------------------------- */

static inline int fxs_parts(const fxs_tensor *t) { return fxs_is_complex(t->dtype) ? 2 : 1; }
/* Are its numbers of float32? */
static inline bool fxs_single(const fxs_tensor *t) { return fxs_real_of(t->dtype) == FXS_FLOAT32; }
static inline int64_t fxs_rows(const fxs_tensor *t) { return t->sizes[t->ndim - 2]; }
static inline int64_t fxs_columns(const fxs_tensor *t) { return t->sizes[t->ndim - 1]; }
static inline int64_t fxs_small_side(const fxs_tensor *t) {
    return fxs_rows(t) < fxs_columns(t) ? fxs_rows(t) : fxs_columns(t);
}

/* t, or its transposes where PyTorch factors those, since they lie column by column: rounding
 * decides what becomes of singular matrices. */
fxs_tensor fxs_factored(const fxs_tensor *t);

/* Matrix `index` of the batch b, to which t broadcasts, into a buffer of ld rows (of `parts`
 * doubles). A vector (item 1) is a matrix of one column. */
void fxs_matrix_load(const fxs_tensor *t, int item, const fxs_batch *b, int64_t index, int parts,
                     double *buffer, int64_t ld);
/* And back into an output; parts that the output has not are dropped. */
void fxs_matrix_store(fxs_tensor *t, int item, const fxs_batch *b, int64_t index, int parts,
                      const double *buffer, int64_t ld);
/* The same for integers: item 1 or 0. */
void fxs_ints_store(fxs_tensor *t, int item, const fxs_batch *b, int64_t index, const int *ints);
/* The identity [n, n] in a buffer. */
void fxs_identity(double *buffer, int64_t n, int parts);
/* Room for n doubles of LAPACK's until the call ends; NULL sets the status. Every kernel that calls
 * LAPACK asks for some first, so that this is where OpenBLAS is opened. */
double *fxs_room(fxs_call *c, int64_t n, fxs_status *s);
/* LAPACK's info as a status: below 0 no memory, above 0 `what` failed. */
fxs_status fxs_lapack_status(fxs_call *c, int info, const fxs_batch *b, int64_t index,
                             const char *what);

#endif
