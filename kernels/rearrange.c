/* rearrange.c: flip roll rot90 repeat tile repeat_interleave tril triu diag meshgrid
 * broadcast_tensors atleast_nd: copies of the same elements in other places. */
#include <string.h>

#include "kernels/format.h"
#include "kernels/iterate.h"

/* ---- flip, rot90
 * --------------------------------------------------------------------------------------- */

/* A copy of from into to, whose element index is mirrored in the dimensions that are marked. */
static void copy_mirrored(fxs_ctx *ctx, const fxs_tensor *to, const fxs_tensor *from,
                          const bool *mirror) {
    fxs_tensor t =
        *to; /* walking the target backwards needs negative strides, which only live here */
    if (fxs_tensor_numel(from) == 0)
        return;
    for (int i = 0; i < t.ndim; i++) {
        if (!mirror[i])
            continue;
        t.offset += (t.sizes[i] - 1) * t.strides[i];
        t.strides[i] = -t.strides[i];
    }
    fxs_tensor_copy(ctx, &t, from);
}

static fxs_status read_mirrors(fxs_call *c, const fxs_tensor *t, int arg, bool *mirror) {
    int64_t dims[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, arg, dims, FXS_MAX_DIM);
    for (int i = 0; i < n && i < FXS_MAX_DIM; i++) {
        int d;
        FXS_TRY(fxs_wrap_dim(c, dims[i], t->ndim, &d));
        if (mirror[d])
            return FXS_REFUSE(c, FXS_EINVAL, "dim %d appears multiple times in the list of dims",
                              d);
        mirror[d] = true;
    }
    return FXS_OK;
}

static fxs_status infer_flip(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    bool mirror[FXS_MAX_DIM] = {false};
    FXS_TRY(read_mirrors(c, t, 1, mirror));
    return fxs_out_formatted(c, t, t->dtype, FXS_PRESERVE);
}

static fxs_status run_flip(fxs_call *c) {
    bool mirror[FXS_MAX_DIM] = {false};
    FXS_TRY(read_mirrors(c, fxs_arg_tensor(c, 0), 1, mirror));
    copy_mirrored(c->ctx, c->out[0], fxs_arg_tensor(c, 0), mirror);
    return FXS_OK;
}

/* fliplr mirrors the columns, flipud the rows. */
static fxs_status infer_flip_dim(fxs_call *c, int dim) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim <= dim)
        return FXS_REFUSE(c, FXS_ESHAPE, "input must be >= %d-d", dim + 1);
    return fxs_out_formatted(c, t, t->dtype, FXS_PRESERVE);
}
static fxs_status infer_fliplr(fxs_call *c) { return infer_flip_dim(c, 1); }
static fxs_status infer_flipud(fxs_call *c) { return infer_flip_dim(c, 0); }
static fxs_status run_flip_dim(fxs_call *c, int dim) {
    bool mirror[FXS_MAX_DIM] = {false};
    mirror[dim] = true;
    copy_mirrored(c->ctx, c->out[0], fxs_arg_tensor(c, 0), mirror);
    return FXS_OK;
}
static fxs_status run_fliplr(fxs_call *c) { return run_flip_dim(c, 1); }
static fxs_status run_flipud(fxs_call *c) { return run_flip_dim(c, 0); }

/* rot90(self, k, dims): k quarter turns from dims[0] to dims[1]; odd ones exchange the dimensions
 * after a flip. */
static fxs_status rotation(fxs_call *c, int *turns, int *a, int *b) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t dims[2];
    *turns = (int)((fxs_arg_int(c, 1) % 4 + 4) % 4);
    if (fxs_arg_ints(c, 2, dims, 2) != 2)
        return FXS_REFUSE(c, FXS_EINVAL, "expected total rotation dims == 2");
    if (t->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected total dims >= 2, but got total dims = %d",
                          t->ndim);
    FXS_TRY(fxs_wrap_dim(c, dims[0], t->ndim, a));
    FXS_TRY(fxs_wrap_dim(c, dims[1], t->ndim, b));
    if (*a == *b)
        return FXS_REFUSE(c, FXS_EINVAL, "expected rotation dims to be different");
    return FXS_OK;
}

static void swap_dims(fxs_tensor *t, int a, int b) {
    int64_t size = t->sizes[a], stride = t->strides[a];
    t->sizes[a] = t->sizes[b];
    t->strides[a] = t->strides[b];
    t->sizes[b] = size;
    t->strides[b] = stride;
}

static fxs_status infer_rot90(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int turns, a, b;
    FXS_TRY(rotation(c, &turns, &a, &b));
    FXS_TRY(fxs_out_formatted(c, t, t->dtype, turns == 0 ? FXS_CONTIGUOUS : FXS_PRESERVE));
    if (turns % 2)
        swap_dims(c->out[0], a, b);
    return FXS_OK;
}

static fxs_status run_rot90(fxs_call *c) {
    fxs_tensor to = *c->out[0];
    bool mirror[FXS_MAX_DIM] = {false};
    int turns, a, b;
    FXS_TRY(rotation(c, &turns, &a, &b));
    if (turns % 2)
        swap_dims(&to, a, b);
    mirror[a] = turns == 2 || turns == 3;
    mirror[b] = turns == 2 || turns == 1;
    copy_mirrored(c->ctx, &to, fxs_arg_tensor(c, 0), mirror);
    return FXS_OK;
}

/* ---- roll
 * ---------------------------------------------------------------------------------------------- */

/* Shifts by dimension, between 0 and its size; without dims the flat tensor is rolled, by shift[0].
 * `still`: one of the shifts in the list moves nothing. */
static fxs_status read_shifts(fxs_call *c, int64_t *shift, bool *flat, bool *still) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t shifts[FXS_MAX_DIM], dims[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, 1, shifts, FXS_MAX_DIM), m = fxs_arg_ints(c, 2, dims, FXS_MAX_DIM);
    *flat = m == 0 && n == 1;
    *still = false;
    memset(shift, 0, FXS_MAX_DIM * sizeof *shift);
    if (n == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "`shifts` required");
    if (*flat) {
        int64_t numel = fxs_tensor_numel(t);
        shift[0] = numel ? (shifts[0] % numel + numel) % numel : 0;
        return FXS_OK;
    }
    if (n != m || n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_EINVAL, "shifts and dimensions must align: shifts: %d, dims: %d",
                          n, m);
    for (int i = 0; i < n && fxs_tensor_numel(t); i++) { /* of nothing, no dimension is looked at */
        int d;
        FXS_TRY(fxs_wrap_dim(c, dims[i], t->ndim, &d));
        int64_t size = t->ndim ? t->sizes[d] : 1;
        *still |= size && shifts[i] % size == 0;
        if (size)
            shift[d] = ((shift[d] + shifts[i] % size) % size + size) % size;
    }
    return FXS_OK;
}

static fxs_status infer_roll(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t shift[FXS_MAX_DIM];
    bool flat, still;
    if (t->ndim == 0 && fxs_arg_ints(c, 2, shift, FXS_MAX_DIM) > 0)
        return FXS_REFUSE(c, FXS_EINDEX, "dimension specified as %lld but tensor has no dimensions",
                          (long long)shift[0]);
    FXS_TRY(read_shifts(c, shift, &flat, &still));
    if (fxs_tensor_numel(t) == 0 && (!flat || t->ndim == 1))
        return fxs_out_formatted(c, t, t->dtype, FXS_PRESERVE);
    /* PyTorch joins two parts by cat, which an empty part makes contiguous. */
    return fxs_out_formatted(c, t, t->dtype,
                             flat || still ? FXS_CONTIGUOUS : fxs_suggested_format(t));
}

/* Copies the two parts that every shifted dimension falls into; 2^k parts for k shifted dimensions.
 */
static void roll_from(fxs_ctx *ctx, fxs_tensor to, fxs_tensor from, const int64_t *shift, int dim) {
    while (dim < to.ndim && shift[dim] == 0)
        dim++;
    if (dim == to.ndim) {
        if (fxs_tensor_numel(&to))
            fxs_tensor_copy(ctx, &to, &from);
        return;
    }
    int64_t size = to.sizes[dim], tail = shift[dim];
    fxs_tensor a = to, b = from;
    a.sizes[dim] = b.sizes[dim] = size - tail; /* the head moves back by the shift */
    a.offset += tail * a.strides[dim];
    roll_from(ctx, a, b, shift, dim + 1);
    a = to;
    b = from;
    a.sizes[dim] = b.sizes[dim] = tail; /* the tail comes to the front */
    b.offset += (size - tail) * b.strides[dim];
    roll_from(ctx, a, b, shift, dim + 1);
}

static fxs_status run_roll(fxs_call *c) {
    fxs_tensor to = *c->out[0], *from;
    int64_t shift[FXS_MAX_DIM];
    bool flat, still;
    FXS_TRY(read_shifts(c, shift, &flat, &still));
    if (!flat) {
        roll_from(c->ctx, to, *fxs_arg_tensor(c, 0), shift, 0);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_contiguous(c->ctx, fxs_arg_tensor(c, 0), &from));
    fxs_tensor line = *from;
    line.ndim = to.ndim = 1;
    line.sizes[0] = to.sizes[0] = fxs_tensor_numel(from);
    line.strides[0] = to.strides[0] = 1;
    roll_from(c->ctx, to, line, shift, 0);
    fxs_tensor_unref(from);
    return FXS_OK;
}

/* ---- repeat, tile
 * -------------------------------------------------------------------------------------- */

/* Output sizes of times many copies along each dimension; shorter lists (tile) count for the last
 * dimensions. */
static fxs_status out_repeated(fxs_call *c, int n, const int64_t *times) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t sizes[FXS_MAX_DIM];
    int ndim = n > t->ndim ? n : t->ndim;
    if (ndim > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    for (int i = 0; i < ndim; i++) {
        int64_t k = i < ndim - n ? 1 : times[i - (ndim - n)],
                size = i < ndim - t->ndim ? 1 : t->sizes[i - (ndim - t->ndim)];
        if (k < 0)
            return FXS_REFUSE(c, FXS_EINVAL, "trying to create tensor with negative dimension %lld",
                              (long long)k);
        if (__builtin_mul_overflow(k, size, &sizes[i]))
            return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
    }
    return fxs_out_new(c, t->dtype, ndim, sizes, NULL);
}

static fxs_status infer_repeat(fxs_call *c) {
    int64_t times[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, 1, times, FXS_MAX_DIM);
    if (n < fxs_arg_tensor(c, 0)->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "number of dimensions of repeat dims (%d) can not be smaller than number "
                          "of dimensions of "
                          "tensor (%d)",
                          n, fxs_arg_tensor(c, 0)->ndim);
    return out_repeated(c, n, times);
}

static fxs_status infer_tile(fxs_call *c) {
    int64_t times[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, 1, times, FXS_MAX_DIM);
    return out_repeated(c, n, times);
}

/* The output seen as [k0, n0, k1, n1, ...] is the input expanded. */
static fxs_status run_repeat(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0), *o = c->out[0];
    fxs_tensor to = *o, from = *t;
    int64_t times[FXS_MAX_DIM];
    if (fxs_tensor_numel(o) == 0)
        return FXS_OK;
    for (int i = 0; i < o->ndim;
         i++) { /* the first copy, then the others one dimension at a time */
        int own = i - (o->ndim - t->ndim);
        to.sizes[i] = from.sizes[i] = own < 0 ? 1 : t->sizes[own];
        from.strides[i] = own < 0 ? 0 : t->strides[own];
        times[i] = o->sizes[i] / to.sizes[i];
    }
    from.ndim = o->ndim;
    fxs_tensor_copy(c->ctx, &to, &from);
    for (int d = o->ndim - 1; d >= 0; d--) {
        fxs_tensor first = to, next = to;
        for (int64_t k = 1; k < times[d]; k++) {
            next.offset = to.offset + k * to.sizes[d] * to.strides[d];
            fxs_tensor_copy(c->ctx, &next, &first);
        }
        to.sizes[d] = o->sizes[d];
    }
    return FXS_OK;
}

/* ---- repeat_interleave
 * --------------------------------------------------------------------------------- */

/* Times an element is repeated: an int, or a tensor of one count for all or of one for each. */
static fxs_status times_of(fxs_call *c, int64_t i, int64_t *out) {
    const fxs_tensor *t = fxs_arg_tensor(c, 1);
    *out = fxs_arg_int(c, 1);
    if (t && !t->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN, "the repeats are not known without computing values");
    if (t && t->dtype != FXS_INT64 && t->dtype != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "repeats has to be a tensor of int64 or int32, not torch.%s",
                          fxs_dtype_name(t->dtype));
    if (t) {
        int64_t at = t->ndim == 1 && t->sizes[0] > 1 ? i * t->strides[0] : 0;
        *out = fxs_load_int(t->dtype, (const char *)fxs_tensor_data(t) +
                                          at * (int64_t)fxs_dtype_size(t->dtype));
    }
    if (*out < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "repeats can not be negative");
    return FXS_OK;
}

/* repeat_interleave(self, repeats, dim): without dim the tensor counts as flat. */
static fxs_status infer_interleave(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0), *repeats = fxs_arg_tensor(c, 1);
    int64_t sizes[FXS_MAX_DIM] = {fxs_tensor_numel(t)}, total = 0;
    int dim = 0, ndim = 1;
    if (!fxs_arg_is_none(c, 2)) {
        FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), t->ndim, &dim));
        if (t->ndim == 0)
            return FXS_REFUSE(c, FXS_EINDEX,
                              "dimension specified as %lld but tensor has no dimensions",
                              (long long)fxs_arg_int(c, 2));
        ndim = t->ndim;
        memcpy(sizes, t->sizes, sizeof sizes);
    }
    int64_t n = ndim ? sizes[dim] : 1;
    if (repeats && repeats->ndim > 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "repeats must have no or one dimension, not %d",
                          repeats->ndim);
    if (repeats && repeats->dtype != FXS_INT64 && repeats->dtype != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE, "repeats must be of int64 or int32, not torch.%s",
                          fxs_dtype_name(repeats->dtype));
    if (n == 0 && (!repeats || repeats->ndim == 0 || repeats->sizes[0] < 2))
        return fxs_out_new(c, t->dtype, ndim, sizes, NULL); /* nothing, however often */
    if (repeats && repeats->ndim == 1 && repeats->sizes[0] != 1 && repeats->sizes[0] != n)
        return FXS_REFUSE(c, FXS_ESHAPE, "repeats must have the same size as input along dim");
    if (!repeats) {
        int64_t k;
        FXS_TRY(times_of(c, 0, &k));
        if (__builtin_mul_overflow(k, n, &total))
            return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
    }
    for (int64_t i = 0; repeats && i < n; i++) {
        int64_t k;
        FXS_TRY(times_of(c, i, &k));
        if (__builtin_add_overflow(total, k, &total))
            return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
    }
    if (!fxs_arg_is_none(c, 3) && fxs_arg_int(c, 3) != total)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "the result has size %lld along the dimension, but output_size is %lld",
                          (long long)total, (long long)fxs_arg_int(c, 3));
    if (ndim)
        sizes[dim] = total;
    return fxs_out_new(c, t->dtype, ndim, sizes, NULL);
}

static fxs_status run_interleave(fxs_call *c) {
    fxs_tensor *t = NULL;
    int dim = 0;
    if (!fxs_arg_is_none(c, 2))
        FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), fxs_arg_tensor(c, 0)->ndim, &dim));
    FXS_TRY(fxs_tensor_contiguous(c->ctx, fxs_arg_tensor(c, 0), &t));
    fxs_tensor from = *t, to = *c->out[0];
    if (fxs_arg_is_none(c, 2) || from.ndim == 0) {
        from.ndim = to.ndim = 1;
        from.sizes[0] = fxs_tensor_numel(t);
        from.strides[0] = to.strides[0] = 1;
    }
    int64_t n = from.sizes[dim];
    fxs_status s = FXS_OK;
    from.sizes[dim] = 1;
    int64_t step = from.strides[dim];
    from.strides[dim] = 0;
    for (int64_t i = 0; i < n && s == FXS_OK; i++, from.offset += step) {
        int64_t k = 0;
        s = times_of(c, i, &k);
        from.sizes[dim] = to.sizes[dim] = k;
        if (fxs_tensor_numel(&to))
            fxs_tensor_copy(c->ctx, &to, &from);
        to.offset += k * to.strides[dim];
    }
    fxs_tensor_unref(t);
    return s;
}

const fxs_op fxs_ops_rearrange[] = {
    {"flip", "(Tensor self, int... dims) -> Tensor", "torch.flip Tensor.flip", infer_flip, run_flip,
     NULL, FXS_OP_NO_INPLACE},
    {"fliplr", "(Tensor self) -> Tensor", "torch.fliplr Tensor.fliplr", infer_fliplr, run_fliplr,
     NULL, FXS_OP_NO_INPLACE},
    {"flipud", "(Tensor self) -> Tensor", "torch.flipud Tensor.flipud", infer_flipud, run_flipud,
     NULL, FXS_OP_NO_INPLACE},
    {"rot90", "(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", "torch.rot90 Tensor.rot90",
     infer_rot90, run_rot90, NULL, FXS_OP_NO_INPLACE},
    {"roll", "(Tensor self, int|int[] shifts, int|int[]? dims=[]) -> Tensor",
     "torch.roll Tensor.roll", infer_roll, run_roll, NULL, FXS_OP_NO_INPLACE},
    {"repeat", "(Tensor self, int... repeats) -> Tensor", "Tensor.repeat", infer_repeat, run_repeat,
     NULL, FXS_OP_NO_INPLACE},
    {"tile", "(Tensor self, int... dims) -> Tensor", "torch.tile Tensor.tile", infer_tile,
     run_repeat, NULL, FXS_OP_NO_INPLACE},
    {"repeat_interleave",
     "(Tensor self, Tensor|int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
     "torch.repeat_interleave Tensor.repeat_interleave", infer_interleave, run_interleave, NULL,
     FXS_OP_NO_INPLACE},
    {0},
};
