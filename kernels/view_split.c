/* view_split.c: views of parts: select narrow chunk split unbind diagonal unfold as_strided, and
 * tensor_split with its kin. One call may give many views, which all share the input's storage. */
#include "op/op.h"

#include "kernels/view_dims.h"

#include <string.h>

/* Output: t from `start`, `length` elements along dim, every `step`-th. */
static fxs_status out_slice(fxs_call *c, fxs_tensor *t, int dim, int64_t start, int64_t length) {
    fxs_tensor *v;
    FXS_TRY(fxs_out_view(c, t, &v));
    v->offset += start * t->strides[dim];
    v->sizes[dim] = length;
    return FXS_OK;
}

/* Output: t at one index of dim, without that dimension. */
static fxs_status out_select(fxs_call *c, fxs_tensor *t, int dim, int64_t index) {
    fxs_tensor *v;
    FXS_TRY(fxs_out_view(c, t, &v));
    v->offset += index * t->strides[dim];
    v->ndim--;
    for (int i = dim; i < v->ndim; i++) {
        v->sizes[i] = t->sizes[i + 1];
        v->strides[i] = t->strides[i + 1];
    }
    return FXS_OK;
}

/* The dimension in argument i of a tensor that has any. */
static fxs_status real_dim(fxs_call *c, int i, int *dim) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "expects at least a 1-dimensional tensor");
    return fxs_wrap_dim(c, fxs_arg_int(c, i), t->ndim, dim);
}

/* ---- one part
 * ------------------------------------------------------------------------------------------ */

static fxs_status infer_select(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int dim;
    FXS_TRY(real_dim(c, 1, &dim));
    int64_t index = fxs_arg_int(c, 2), size = t->sizes[dim];
    if (index < -size || index >= size)
        return FXS_REFUSE(c, FXS_EINDEX,
                          "index %lld is out of range for dimension %d with size %lld",
                          (long long)index, dim, (long long)size);
    return out_select(c, t, dim, index < 0 ? index + size : index);
}

static fxs_status infer_narrow(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int dim;
    FXS_TRY(real_dim(c, 1, &dim));
    int64_t start = fxs_arg_int(c, 2), length = fxs_arg_int(c, 3), size = t->sizes[dim];
    if (length < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "length must be non-negative");
    if (start < -size || start > size)
        return FXS_REFUSE(c, FXS_EINDEX,
                          "start %lld is out of range for dimension %d with size %lld",
                          (long long)start, dim, (long long)size);
    if (start < 0)
        start += size;
    if (length > size - start)
        return FXS_REFUSE(c, FXS_EINDEX,
                          "start (%lld) + length (%lld) exceeds dimension size (%lld)",
                          (long long)start, (long long)length, (long long)size);
    return out_slice(c, t, dim, start, length);
}

static fxs_status infer_diagonal(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    int64_t offset = fxs_arg_int(c, 1);
    int a, b;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), t->ndim, &a));
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 3), t->ndim, &b));
    if (a == b)
        return FXS_REFUSE(c, FXS_EINVAL, "the diagonal dimensions cannot be identical: %d and %d",
                          a, b);
    int64_t rows = t->sizes[a] - (offset < 0 ? -offset : 0),
            columns = t->sizes[b] - (offset > 0 ? offset : 0);
    int64_t length = rows < columns ? rows : columns;
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (i == a || i == b)
            continue;
        v->sizes[v->ndim] = t->sizes[i];
        v->strides[v->ndim++] = t->strides[i];
    }
    v->sizes[v->ndim] = length > 0 ? length : 0;
    v->strides[v->ndim++] = t->strides[a] + t->strides[b];
    if (length > 0)
        v->offset += offset > 0 ? offset * t->strides[b] : -offset * t->strides[a];
    return FXS_OK;
}

/* x.unfold(dimension, size, step): windows become a last dimension. */
static fxs_status infer_unfold(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    int64_t size = fxs_arg_int(c, 2), step = fxs_arg_int(c, 3);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), t->ndim, &dim));
    int64_t have = t->ndim ? t->sizes[dim] : 1;
    if (size < 0 || size > have)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "maximum size for the tensor at dimension %d is %lld, but size is %lld",
                          dim, (long long)have, (long long)size);
    if (step <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "step is %lld but must be > 0", (long long)step);
    if (t->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    FXS_TRY(fxs_out_view(c, t, &v));
    v->sizes[v->ndim] = size;
    v->strides[v->ndim++] = t->ndim ? t->strides[dim] : 1;
    if (t->ndim) {
        v->sizes[dim] = (have - size) / step + 1;
        if (__builtin_mul_overflow(step, t->strides[dim], &v->strides[dim]))
            v->strides[dim] = t->strides[dim]; /* one window: the stride is never taken */
    }
    return FXS_OK;
}

/* as_strided(size, stride, storage_offset): only within the storage. */
static fxs_status infer_as_strided(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM], end, room = INT64_MAX;
    int n = fxs_arg_ints(c, 1, sizes, FXS_MAX_DIM), m = fxs_arg_ints(c, 2, strides, FXS_MAX_DIM);
    if (n != m)
        return FXS_REFUSE(c, FXS_EINVAL, "mismatch in length of strides (%d) and shape (%d)", m, n);
    if (n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    fxs_tensor *checked; /* sizes that can be, by the one place that knows */
    FXS_TRY(fxs_tensor_make(c->ctx, t->dtype, n, sizes, NULL, &checked));
    bool empty = fxs_tensor_numel(checked) == 0;
    fxs_tensor_unref(checked);
    int64_t offset = fxs_arg_is_none(c, 3) ? t->offset : fxs_arg_int(c, 3);
    end = offset;
    if (offset < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "storage offset %lld is negative", (long long)offset);
    if (t->storage)
        room = (int64_t)(t->storage->bytes / fxs_dtype_size(t->dtype));
    for (int i = 0; i < n; i++) {
        int64_t reach;
        if (strides[i] < 0)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "negative strides are not supported, got strides[%d] = %lld", i,
                              (long long)strides[i]);
        if (!empty && (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
                       __builtin_add_overflow(end, reach, &end)))
            return FXS_REFUSE(c, FXS_ELIMIT, "strides reach beyond 2^63");
    }
    if (!empty && end >= room)
        return FXS_REFUSE(c, FXS_EINDEX, "reaches element %lld of a storage of %lld elements",
                          (long long)end, (long long)room);
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim = n;
    v->offset = offset;
    memcpy(v->sizes, sizes, (size_t)n * sizeof *sizes);
    memcpy(v->strides, strides, (size_t)n * sizeof *strides);
    return fxs_look_of_self(c);
}

/* ---- many parts
 * ---------------------------------------------------------------------------------------- */

enum { MAX_PARTS = 1 << 20 };

static fxs_status too_many(fxs_call *c, int64_t n) {
    return FXS_REFUSE(c, FXS_ELIMIT, "%lld parts; at most %d are supported", (long long)n,
                      MAX_PARTS);
}

static fxs_status split_evenly(fxs_call *c, fxs_tensor *t, int dim, int64_t length) {
    int64_t size = t->sizes[dim], n = length ? (size + length - 1) / length : 1;
    if (n > MAX_PARTS)
        return too_many(c, n);
    for (int64_t i = 0, start = 0; i < (n ? n : 1); i++, start += length)
        FXS_TRY(out_slice(c, t, dim, start, size - start < length ? size - start : length));
    c->out_tuple = true;
    return FXS_OK;
}

/* split(split_size, dim) */
static fxs_status infer_split(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t length = fxs_arg_int(c, 1);
    int dim;
    FXS_TRY(real_dim(c, 2, &dim));
    if (length < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "split_size must be non-negative, but got %lld",
                          (long long)length);
    if (length == 0 && t->sizes[dim] != 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "split_size can only be 0 if the dimension size is 0, but it is %lld",
                          (long long)t->sizes[dim]);
    if (length > t->sizes[dim])
        length = t->sizes[dim];
    return split_evenly(c, t, dim, length);
}

/* split(sizes, dim) */
static fxs_status infer_split_sizes(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    const fxs_value *sizes = &c->arg[1];
    int64_t start = 0;
    int dim;
    FXS_TRY(real_dim(c, 2, &dim));
    for (size_t i = 0; i < fxs_value_len(sizes); i++) {
        int64_t length = fxs_value_item(sizes, i)->u.i;
        if (length < 0)
            return FXS_REFUSE(c, FXS_EINVAL, "split sizes must be non-negative, but got %lld",
                              (long long)length);
        if (length > t->sizes[dim] - start)
            start = INT64_MAX;
        if (start == INT64_MAX)
            break;
        FXS_TRY(out_slice(c, t, dim, start, length));
        start += length;
    }
    if (start != t->sizes[dim])
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "split sizes must sum exactly to %lld (the tensor's size at dimension %d)",
            (long long)t->sizes[dim], dim);
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status infer_chunk(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t chunks = fxs_arg_int(c, 1);
    int dim;
    FXS_TRY(real_dim(c, 2, &dim));
    if (chunks <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "expects `chunks` to be greater than 0, got %lld",
                          (long long)chunks);
    int64_t size = t->sizes[dim], length = size / chunks + (size % chunks != 0);
    if (length > 0)
        return split_evenly(c, t, dim, length);
    if (chunks > MAX_PARTS)
        return too_many(c, chunks);
    for (int64_t i = 0; i < chunks; i++) /* of nothing there are as many parts as were asked for */
        FXS_TRY(out_slice(c, t, dim, 0, 0));
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status infer_unbind(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int dim;
    FXS_TRY(real_dim(c, 1, &dim));
    if (t->sizes[dim] > MAX_PARTS)
        return too_many(c, t->sizes[dim]);
    for (int64_t i = 0; i < t->sizes[dim]; i++)
        FXS_TRY(out_select(c, t, dim, i));
    c->out_tuple = true;
    return FXS_OK;
}

/* n parts whose sizes differ by one at most, the longer ones first. */
static fxs_status split_sections(fxs_call *c, fxs_tensor *t, int dim, int64_t n) {
    if (n <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "number of sections must be larger than 0, got %lld",
                          (long long)n);
    if (n > MAX_PARTS)
        return too_many(c, n);
    int64_t least = t->sizes[dim] / n, longer = t->sizes[dim] % n, start = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t length = least + (i < longer);
        FXS_TRY(out_slice(c, t, dim, start, length));
        start += length;
    }
    c->out_tuple = true;
    return FXS_OK;
}

static int64_t clip(int64_t x, int64_t size) {
    if (x < 0)
        x += size;
    return x < 0 ? 0 : x > size ? size : x;
}

/* Cuts before each index. */
static fxs_status split_indices(fxs_call *c, fxs_tensor *t, int dim, const fxs_value *indices) {
    int64_t start = 0, size = t->sizes[dim];
    for (size_t i = 0; i <= fxs_value_len(indices); i++) {
        int64_t end =
            i < fxs_value_len(indices) ? clip(fxs_value_item(indices, i)->u.i, size) : size;
        FXS_TRY(out_slice(c, t, dim, start, end > start ? end - start : 0));
        start = end;
    }
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status split_either(fxs_call *c, int dim) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    return c->arg[1].tag == FXS_V_LIST ? split_indices(c, t, dim, &c->arg[1])
                                       : split_sections(c, t, dim, fxs_arg_int(c, 1));
}

static fxs_status infer_tensor_split(fxs_call *c) {
    int dim;
    FXS_TRY(real_dim(c, 2, &dim));
    return split_either(c, dim);
}

/* hsplit, vsplit, dsplit: along dimension `dim` of tensors with at least `least`; sections must be
 * equal. */
static fxs_status split_along(fxs_call *c, int dim, int least) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t n = fxs_arg_int(c, 1);
    if (t->ndim < least)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "requires a tensor with at least %d dimensions, but got one with %d",
                          least, t->ndim);
    if (c->arg[1].tag != FXS_V_LIST && (n == 0 || t->sizes[dim] % n != 0))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "the size %lld of dimension %d is not divisible by the split_size %lld",
                          (long long)t->sizes[dim], dim, (long long)n);
    return split_either(c, dim);
}

static fxs_status infer_hsplit(fxs_call *c) {
    return split_along(c, fxs_arg_tensor(c, 0)->ndim == 1 ? 0 : 1, 1);
}
static fxs_status infer_vsplit(fxs_call *c) { return split_along(c, 0, 2); }
static fxs_status infer_dsplit(fxs_call *c) { return split_along(c, 2, 3); }

#define PURE FXS_OP_NO_INPLACE
#define BOTH(name) "Tensor." name " torch." name
#define EITHER(name)                                                                               \
    {                                                                                              \
        #name, "(Tensor self, int sections) -> Tensor[]", BOTH(#name), infer_##name, NULL, NULL,   \
        PURE},                                                                                     \
        {#name,                                                                                    \
         "(Tensor self, int[] indices) -> Tensor[]",                                               \
         "torch." #name,                                                                           \
         infer_##name,                                                                             \
         NULL,                                                                                     \
         NULL,                                                                                     \
         PURE},                                                                                    \
    {                                                                                              \
#name, "(Tensor self, int... indices) -> Tensor[]", "Tensor." #name, infer_##name, NULL,   \
            NULL, PURE                                                                             \
    }

const fxs_op fxs_ops_view_split[] = {
    {"select", "(Tensor self, int dim, int index) -> Tensor", "Tensor.select torch.select",
     infer_select, NULL, NULL, PURE},
    {"narrow", "(Tensor self, int dim, int start, int length) -> Tensor",
     "Tensor.narrow torch.narrow", infer_narrow, NULL, NULL, PURE},
    {"diagonal", "(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
     "Tensor.diagonal torch.diagonal", infer_diagonal, NULL, NULL, PURE},
    {"linalg_diagonal", "(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
     "torch._C._linalg.linalg_diagonal", infer_diagonal, NULL, NULL, PURE},
    {"unfold", "(Tensor self, int dimension, int size, int step) -> Tensor", "Tensor.unfold",
     infer_unfold, NULL, NULL, PURE},
    {"as_strided", "(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
     "Tensor.as_strided torch.as_strided", infer_as_strided, NULL, NULL, 0},
    {"split", "(Tensor self, int split_size, int dim=0) -> Tensor[]", "Tensor.split", infer_split,
     NULL, NULL, PURE},
    {"split", "(Tensor self, int[] split_size, int dim=0) -> Tensor[]", "Tensor.split",
     infer_split_sizes, NULL, NULL, PURE},
    {"split", "(Tensor tensor, int split_size_or_sections, int dim=0) -> Tensor[]",
     "torch.functional.split torch.split", infer_split, NULL, NULL, PURE},
    {"split", "(Tensor tensor, int[] split_size_or_sections, int dim=0) -> Tensor[]",
     "torch.functional.split torch.split", infer_split_sizes, NULL, NULL, PURE},
    {"split_with_sizes", "(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
     "Tensor.split_with_sizes torch.split_with_sizes", infer_split_sizes, NULL, NULL, PURE},
    {"chunk", "(Tensor self, int chunks, int dim=0) -> Tensor[]", "Tensor.chunk torch.chunk",
     infer_chunk, NULL, NULL, PURE},
    {"unbind", "(Tensor self, int dim=0) -> Tensor[]", "Tensor.unbind torch.unbind", infer_unbind,
     NULL, NULL, PURE},
    {"tensor_split", "(Tensor self, int sections, int dim=0) -> Tensor[]",
     "Tensor.tensor_split torch.tensor_split", infer_tensor_split, NULL, NULL, PURE},
    {"tensor_split", "(Tensor self, int[] indices, int dim=0) -> Tensor[]",
     "Tensor.tensor_split torch.tensor_split", infer_tensor_split, NULL, NULL, PURE},
    EITHER(hsplit),
    EITHER(vsplit),
    EITHER(dsplit),
    /* "unsafe" to autograd, which does not know that the parts share memory */
    {"unsafe_split", "(Tensor self, int split_size, int dim=0) -> Tensor[]", BOTH("unsafe_split"),
     infer_split, NULL, NULL, PURE},
    {"unsafe_split_with_sizes", "(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
     BOTH("unsafe_split_with_sizes"), infer_split_sizes, NULL, NULL, PURE},
    {"unsafe_chunk", "(Tensor self, int chunks, int dim=0) -> Tensor[]", BOTH("unsafe_chunk"),
     infer_chunk, NULL, NULL, PURE},
    {0},
};
#undef PURE
#undef BOTH
#undef EITHER
