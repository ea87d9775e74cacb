/* linalg.c: see linalg.h. */
#include "kernels/linalg.h"

#include <string.h>

#include "kernels/blas.h"

static fxs_status check_shape(fxs_call *c, const fxs_tensor *t, bool square) {
    char text[FXS_SIZES_TEXT];
    if (t->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "the input must have at least 2 dimensions, but its shape is %s",
                          fxs_sizes_text(t, text));
    if (fxs_rows(t) > INT32_MAX || fxs_columns(t) > INT32_MAX)
        return FXS_REFUSE(c, FXS_ESHAPE, "matrices of shape %s are too large",
                          fxs_sizes_text(t, text));
    if (square && fxs_rows(t) != fxs_columns(t))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected batches of square matrices, but they are %lld by %lld",
                          (long long)fxs_rows(t), (long long)fxs_columns(t));
    return FXS_OK;
}

static fxs_status check_type(fxs_call *c, const fxs_tensor *t) {
    if (fxs_is_floating(t->dtype) && fxs_tensor_numel(t) == 0)
        return FXS_OK; /* PyTorch learns it from kernels that no element reaches */
    if (t->dtype != FXS_FLOAT32 && t->dtype != FXS_FLOAT64 && t->dtype != FXS_COMPLEX64 &&
        t->dtype != FXS_COMPLEX128)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected float32, float64, complex64 or complex128, but got torch.%s",
                          fxs_dtype_name(t->dtype));
    return FXS_OK;
}

fxs_status fxs_check_matrices(fxs_call *c, const fxs_tensor *t) {
    FXS_TRY(check_shape(c, t, false));
    return check_type(c, t);
}

fxs_status fxs_check_square(fxs_call *c, const fxs_tensor *t) {
    FXS_TRY(check_shape(c, t, false));
    FXS_TRY(check_type(c, t));
    return check_shape(c, t, true);
}

fxs_status fxs_check_any_matrices(fxs_call *c, const fxs_tensor *t) {
    FXS_TRY(check_shape(c, t, false));
    return fxs_tensor_numel(t) ? check_type(c, t) : FXS_OK;
}

fxs_status fxs_check_any_square(fxs_call *c, const fxs_tensor *t) {
    FXS_TRY(fxs_check_any_matrices(c, t));
    return check_shape(c, t, true);
}

fxs_batch fxs_batch_of(const fxs_tensor *t, int item) {
    fxs_batch b = {.n = t->ndim - item, .count = 1};
    for (int i = 0; i < b.n; i++) {
        b.sizes[i] = t->sizes[i];
        b.count *= t->sizes[i];
    }
    return b;
}

fxs_status fxs_batch_join(fxs_call *c, fxs_batch *b, const fxs_batch *other) {
    FXS_TRY(fxs_broadcast_sizes(c, &b->n, b->sizes, other->n, other->sizes));
    b->count = 1;
    for (int i = 0; i < b->n; i++)
        b->count *= b->sizes[i];
    return FXS_OK;
}

/* ---- outputs
 * ------------------------------------------------------------------------------------------------
 */

static fxs_status out_of(fxs_call *c, fxs_dtype d, const fxs_batch *b, int item,
                         const int64_t *own) {
    int64_t sizes[FXS_MAX_DIM];
    if (b->n + item > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ESHAPE, "there are more than %d dimensions", FXS_MAX_DIM);
    memcpy(sizes, b->sizes, sizeof sizes);
    for (int i = 0; i < item; i++)
        sizes[b->n + i] = own[i];
    return fxs_out_new(c, d, b->n + item, sizes, NULL);
}

fxs_status fxs_out_rows(fxs_call *c, fxs_dtype d, const fxs_batch *b, int64_t rows,
                        int64_t columns) {
    return out_of(c, d, b, 2, (int64_t[]){rows, columns});
}

fxs_status fxs_out_columns(fxs_call *c, fxs_dtype d, const fxs_batch *b, int64_t rows,
                           int64_t columns) {
    FXS_TRY(fxs_out_rows(c, d, b, rows, columns));
    fxs_tensor *t = c->out[c->nout - 1];
    t->strides[t->ndim - 2] = 1;
    t->strides[t->ndim - 1] = rows > 1 ? rows : 1;
    return FXS_OK;
}

fxs_status fxs_out_vectors(fxs_call *c, fxs_dtype d, const fxs_batch *b, int64_t n) {
    return out_of(c, d, b, 1, &n);
}

fxs_status fxs_out_numbers(fxs_call *c, fxs_dtype d, const fxs_batch *b) {
    return out_of(c, d, b, 0, NULL);
}

/* ---- buffers
 * ------------------------------------------------------------------------------------------------
 */

/* Offset of item `index` of b in t, whose batch may be shorter, or have ones. */
static int64_t item_offset(const fxs_tensor *t, int item, const fxs_batch *b, int64_t index) {
    int64_t at = 0;
    int own = t->ndim - item - 1;
    for (int i = b->n - 1; i >= 0; i--, own--) {
        int64_t place = index % b->sizes[i];
        index /= b->sizes[i];
        if (own >= 0 && t->sizes[own] != 1)
            at += place * t->strides[own];
    }
    return at;
}

typedef struct extent {
    int64_t rows, columns, down, across;
} extent;

static extent extent_of(const fxs_tensor *t, int item) {
    int n = t->ndim;
    return (extent){.rows = item == 2   ? t->sizes[n - 2]
                            : item == 1 ? t->sizes[n - 1]
                                        : 1,
                    .columns = item == 2 ? t->sizes[n - 1] : 1,
                    .down = item == 2   ? t->strides[n - 2]
                            : item == 1 ? t->strides[n - 1]
                                        : 0,
                    .across = item == 2 ? t->strides[n - 1] : 0};
}

fxs_tensor fxs_factored(const fxs_tensor *t) {
    fxs_tensor f = *t;
    int n = t->ndim;
    if (fxs_is_complex(t->dtype) || !fxs_tensor_is_contiguous(t))
        return f;
    f.sizes[n - 2] = t->sizes[n - 1], f.sizes[n - 1] = t->sizes[n - 2];
    f.strides[n - 2] = t->strides[n - 1], f.strides[n - 1] = t->strides[n - 2];
    return f;
}

void fxs_matrix_load(const fxs_tensor *t, int item, const fxs_batch *b, int64_t index, int parts,
                     double *buffer, int64_t ld) {
    int64_t at = item_offset(t, item, b, index);
    extent e = extent_of(t, item);
    for (int64_t j = 0; j < e.columns; j++)
        for (int64_t i = 0; i < e.rows; i++) {
            double z[2];
            fxs_load_complex(t, at + i * e.down + j * e.across, z);
            memcpy(buffer + (j * ld + i) * parts, z, (size_t)parts * sizeof *z);
        }
}

void fxs_matrix_store(fxs_tensor *t, int item, const fxs_batch *b, int64_t index, int parts,
                      const double *buffer, int64_t ld) {
    int64_t at = item_offset(t, item, b, index);
    extent e = extent_of(t, item);
    for (int64_t j = 0; j < e.columns; j++)
        for (int64_t i = 0; i < e.rows; i++) {
            double z[2] = {0};
            memcpy(z, buffer + (j * ld + i) * parts, (size_t)parts * sizeof *z);
            fxs_store_complex(t, at + i * e.down + j * e.across, z);
        }
}

void fxs_ints_store(fxs_tensor *t, int item, const fxs_batch *b, int64_t index, const int *ints) {
    int64_t at = item_offset(t, item, b, index), size = (int64_t)fxs_dtype_size(t->dtype);
    extent e = extent_of(t, item);
    for (int64_t i = 0; i < e.rows; i++)
        fxs_store_int(t->dtype, (char *)fxs_tensor_data(t) + (at + i * e.down) * size, ints[i]);
}

void fxs_identity(double *buffer, int64_t n, int parts) {
    memset(buffer, 0, (size_t)(n * n * parts) * sizeof *buffer);
    for (int64_t i = 0; i < n; i++)
        buffer[(i * n + i) * parts] = 1;
}

double *fxs_room(fxs_call *c, int64_t n, fxs_status *s) {
    if (*s == FXS_OK)
        *s = fxs_blas_need(c->ctx);
    double *p = *s == FXS_OK ? FXS_SCRATCH(c->scratch, double, (size_t)(n > 0 ? n : 1)) : NULL;
    if (!p && *s == FXS_OK)
        *s = fxs_fail_memory(c->ctx);
    return p;
}

fxs_status fxs_lapack_status(fxs_call *c, int info, const fxs_batch *b, int64_t index,
                             const char *what) {
    if (info == 0)
        return FXS_OK;
    if (info < 0)
        return fxs_fail_memory(c->ctx);
    if (b->n == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "%s (at row %d)", what, info);
    return FXS_REFUSE(c, FXS_EINVAL, "batch element %lld: %s (at row %d)", (long long)index, what,
                      info);
}
