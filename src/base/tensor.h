/* tensor.h: the tensor: dtype, sizes, strides, offset, counted storage. Views share storage; a meta
 * tensor has none. */
#ifndef FXS_BASE_TENSOR_H
#define FXS_BASE_TENSOR_H

#include "base/ctx.h"
#include "base/dtype.h"
#include "base/storage.h"

struct fxs_tensor {
    int refs;
    fxs_dtype dtype;
    int ndim;
    bool requires_grad;
    bool is_parameter; /* Python's type is Parameter */
    int64_t offset;    /* elements */
    fxs_storage *storage;
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM];
};

/* A meta tensor with the given strides (NULL: contiguous); checks sizes, dimensions and overflow.
 */
FXS_API fxs_status fxs_tensor_make(fxs_ctx *ctx, fxs_dtype dtype, int ndim, const int64_t *sizes,
                                   const int64_t *strides, fxs_tensor **out);
/* A new tensor with t's facts over t's storage (none if t has none): change its sizes, strides,
 * offset. */
FXS_API fxs_status fxs_tensor_view(fxs_ctx *ctx, fxs_tensor *t, fxs_tensor **out);
/* t's facts without storage. */
FXS_API fxs_status fxs_tensor_to_meta(fxs_ctx *ctx, const fxs_tensor *t, fxs_tensor **out);
/* Gives a meta tensor storage for all that its strides reach (uninitialised). */
FXS_API fxs_status fxs_tensor_allocate(fxs_ctx *ctx, fxs_tensor *t);
/* A contiguous tensor with t's values: t itself (counted) when it is contiguous already. */
FXS_API fxs_status fxs_tensor_contiguous(fxs_ctx *ctx, fxs_tensor *t, fxs_tensor **out);
/* Copies src into dst, which has the same sizes, any strides, any computable dtype. Both have
 * storage. */
FXS_API void fxs_tensor_copy(fxs_ctx *ctx, fxs_tensor *dst, const fxs_tensor *src);
/* The same on the calling thread, for bodies of fxs_parallel. */
void fxs_tensor_copy_alone(fxs_tensor *dst, const fxs_tensor *src);

FXS_API bool fxs_tensor_is_contiguous(const fxs_tensor *t);
bool fxs_tensor_is_channels_last(const fxs_tensor *t);
/* Same dtype, sizes, strides, offset and storage: writing one writes the other, element for
 * element. */
FXS_API bool fxs_tensor_same_place(const fxs_tensor *a, const fxs_tensor *b);
/* Fills strides so that dimension perm[i] is the i-th from the outside. perm NULL: 0, 1, 2, ... A
 * size of 0 counts as 1. */
FXS_API void fxs_strides_of(int ndim, const int64_t *sizes, const int *perm, int64_t *strides);
/* Strides of torch.channels_last (4 dimensions) or channels_last_3d (5). */
void fxs_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* "[1, 3, 224, 224]" */
void fxs_buf_sizes(fxs_buf *b, int ndim, const int64_t *sizes);
/* The same as a C string in a caller's array, for messages; returns it. */
#define FXS_SIZES_TEXT 128
FXS_API char *fxs_sizes_text(const fxs_tensor *t, char text[FXS_SIZES_TEXT]);

/* ---- bodies
 * -------------------------------------------------------------------------------------------- */

/* All of t but what lies beyond its dimensions; nothing is counted. */
void fxs_tensor_copy_facts(fxs_tensor *to, const fxs_tensor *t);

/* What unref does when nobody has t any more. */
FXS_API void fxs_tensor_free(fxs_tensor *t);

FXS_INLINE fxs_tensor *fxs_tensor_ref(fxs_tensor *t) {
    if (t)
        t->refs++;
    return t;
}

FXS_INLINE void fxs_tensor_unref(fxs_tensor *t) {
    if (t && --t->refs <= 0)
        fxs_tensor_free(t);
}

FXS_INLINE int64_t fxs_tensor_numel(const fxs_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->ndim; i++)
        n *= t->sizes[i];
    return n;
}

#endif
