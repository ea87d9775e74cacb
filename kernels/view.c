/* view.c: view, reshape, flatten, unflatten, expand and their kin. Strides are PyTorch's to the
 * last size-1 dimension, since they decide what later operators may view. */
#include "kernels/view.h"

#include <string.h>

#include "op/module_row.h"

fxs_status fxs_arg_shape(fxs_call *c, int i, fxs_shape *out) {
    out->ndim = fxs_arg_ints(c, i, out->sizes, FXS_MAX_DIM);
    if (out->ndim > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "%d dimensions; at most %d are supported", out->ndim,
                          FXS_MAX_DIM);
    return FXS_OK;
}

static char *shape_text(const fxs_shape *s, char text[FXS_SIZES_TEXT]) {
    fxs_tensor t = {.ndim = s->ndim};
    memcpy(t.sizes, s->sizes, sizeof t.sizes);
    return fxs_sizes_text(&t, text);
}

fxs_status fxs_fill_size(fxs_call *c, fxs_shape *s, int64_t numel) {
    char text[FXS_SIZES_TEXT];
    int open = -1;
    int64_t known = 1;
    bool fits = true;
    for (int i = 0; i < s->ndim; i++) {
        if (s->sizes[i] == -1) {
            if (open >= 0)
                return FXS_REFUSE(c, FXS_ESHAPE,
                                  "only one dimension can be inferred, but the shape is %s",
                                  shape_text(s, text));
            open = i;
        } else if (s->sizes[i] < 0) {
            return FXS_REFUSE(c, FXS_ESHAPE, "invalid shape dimension %lld",
                              (long long)s->sizes[i]);
        } else {
            fits &= !__builtin_mul_overflow(known, s->sizes[i], &known);
        }
    }
    if (fits && open >= 0 && known == 0 && numel == 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "cannot reshape a tensor of 0 elements into shape %s because the "
                          "unspecified dimension size -1 "
                          "can be any value and is ambiguous",
                          shape_text(s, text));
    if (!fits || (open >= 0 ? known == 0 || numel % known : known != numel))
        return FXS_REFUSE(c, FXS_ESHAPE, "shape %s is invalid for input of size %lld",
                          shape_text(s, text), (long long)numel);
    if (open >= 0)
        s->sizes[open] = numel / known;
    return FXS_OK;
}

/* Walks the old shape from the inside, in runs of dimensions that lie in memory as one; each run
 * must be filled exactly by dimensions of the new shape. */
bool fxs_view_strides(const fxs_tensor *t, const fxs_shape *s, int64_t *strides) {
    int at = s->ndim - 1;
    if (fxs_tensor_numel(t) == 0) {
        bool same = t->ndim == s->ndim &&
                    memcmp(t->sizes, s->sizes, (size_t)t->ndim * sizeof *s->sizes) == 0;
        if (same)
            memcpy(strides, t->strides, (size_t)t->ndim * sizeof *strides);
        else
            fxs_strides_of(s->ndim, s->sizes, NULL, strides);
        return true;
    }
    int64_t base = t->ndim ? t->strides[t->ndim - 1] : 1, run = 1, filled = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        run *= t->sizes[d];
        if (d > 0 && (t->sizes[d - 1] == 1 || t->strides[d - 1] == run * base))
            continue;
        for (; at >= 0 && (filled < run || s->sizes[at] == 1); at--) {
            strides[at] = filled * base;
            filled *= s->sizes[at];
        }
        if (filled != run)
            return false;
        if (d > 0)
            base = t->strides[d - 1];
        run = filled = 1;
    }
    for (; t->ndim == 0 && at >= 0; at--)
        strides[at] = 1;
    return at < 0;
}

fxs_status fxs_out_reshaped(fxs_call *c, fxs_tensor *t, const fxs_shape *s) {
    int64_t strides[FXS_MAX_DIM];
    fxs_tensor *v;
    if (!fxs_view_strides(t, s, strides))
        return fxs_out_new(c, t->dtype, s->ndim, s->sizes, NULL);
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim = s->ndim;
    memcpy(v->sizes, s->sizes, (size_t)s->ndim * sizeof *s->sizes);
    memcpy(v->strides, strides, (size_t)s->ndim * sizeof *strides);
    return FXS_OK;
}

fxs_status fxs_copy_reshaped(fxs_call *c) {
    const fxs_tensor *from = fxs_arg_tensor(c, 0);
    fxs_tensor to = *c->out[0];
    to.ndim = from->ndim;
    memcpy(to.sizes, from->sizes, sizeof to.sizes);
    fxs_strides_of(to.ndim, to.sizes, NULL, to.strides);
    fxs_tensor_copy(c->ctx, &to, from);
    return FXS_OK;
}

/* ---- view and reshape
 * ---------------------------------------------------------------------------------- */

static fxs_status reshape_to(fxs_call *c, fxs_shape *s, bool may_copy) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    FXS_TRY(fxs_fill_size(c, s, fxs_tensor_numel(t)));
    if (!may_copy && !fxs_view_strides(t, s, strides)) {
        char a[FXS_SIZES_TEXT];
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "view size is not compatible with input tensor's size and stride (at "
                          "least one dimension spans "
                          "across two contiguous subspaces); use .reshape(...) instead: shape %s",
                          fxs_sizes_text(t, a));
    }
    return fxs_out_reshaped(c, t, s);
}

static fxs_status infer_view(fxs_call *c) {
    fxs_shape s;
    FXS_TRY(fxs_arg_shape(c, 1, &s));
    return reshape_to(c, &s, false);
}

static fxs_status infer_reshape(fxs_call *c) {
    fxs_shape s;
    FXS_TRY(fxs_arg_shape(c, 1, &s));
    return reshape_to(c, &s, true);
}

static fxs_shape shape_of(const fxs_tensor *t) {
    fxs_shape s = {.ndim = t->ndim};
    memcpy(s.sizes, t->sizes, sizeof s.sizes);
    return s;
}

static fxs_status infer_view_as(fxs_call *c) {
    fxs_shape s = shape_of(fxs_arg_tensor(c, 1));
    return reshape_to(c, &s, false);
}

static fxs_status infer_reshape_as(fxs_call *c) {
    fxs_shape s = shape_of(fxs_arg_tensor(c, 1));
    return reshape_to(c, &s, true);
}

static fxs_status no_view(fxs_call *c, const fxs_tensor *t, fxs_dtype d, const char *why) {
    char text[FXS_SIZES_TEXT];
    return FXS_REFUSE(c, FXS_EINVAL, "torch.%s of shape %s can't be viewed as torch.%s: %s",
                      fxs_dtype_name(t->dtype), fxs_sizes_text(t, text), fxs_dtype_name(d), why);
}

/* view(dtype): the same bits as another type; of another size the last dimension grows or shrinks.
 */
static fxs_status infer_view_dtype(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    fxs_dtype d = c->arg[1].u.dtype;
    int64_t from = (int64_t)fxs_dtype_size(t->dtype), to = (int64_t)fxs_dtype_size(d);
    int last = t->ndim - 1;
    if (from != to && last < 0)
        return no_view(c, t, d, "a tensor without dimensions keeps the size of its type");
    if (from != to && t->strides[last] != 1)
        return no_view(c, t, d, "the last dimension must have stride 1");
    int64_t more = from > to ? from / to : 1, less = to > from ? to / from : 1;
    bool divides = t->offset % less == 0 && (last < 0 || t->sizes[last] % less == 0);
    for (int i = 0; i < last; i++)
        divides &= t->strides[i] % less == 0;
    if (!divides)
        return no_view(c, t, d,
                       "the last size, the offset and the other strides must be divisible");
    FXS_TRY(fxs_out_view(c, t, &v));
    v->dtype = d;
    v->requires_grad = false; /* PyTorch can't differentiate other bits */
    c->constants = 1;
    v->offset = v->offset * more / less;
    for (int i = 0; i < last; i++)
        v->strides[i] = v->strides[i] * more / less;
    if (last >= 0)
        v->sizes[last] = v->sizes[last] * more / less;
    return FXS_OK;
}

/* ---- flatten, unflatten, ravel
 * ------------------------------------------------------------------------- */

static fxs_status infer_flatten(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int start, end;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), t->ndim, &start));
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), t->ndim, &end));
    if (start > end)
        return FXS_REFUSE(c, FXS_EINVAL, "start_dim %d cannot come after end_dim %d", start, end);
    if (t->ndim == 0)
        return fxs_out_reshaped(c, t, &(fxs_shape){.ndim = 1, .sizes = {1}});
    if (start == end)
        return fxs_out_same(c, t);
    fxs_shape s = {0};
    for (int i = 0; i < t->ndim; i++) {
        if (i > start && i <= end)
            s.sizes[s.ndim - 1] *= t->sizes[i];
        else
            s.sizes[s.ndim++] = t->sizes[i];
    }
    return fxs_out_reshaped(c, t, &s);
}

/* PyTorch takes None for the name of the dimension that comes out; it counts no dimension from the
 * end then. */
static fxs_status infer_flatten_named(fxs_call *c) {
    if (!fxs_arg_is_none(c, 3))
        return FXS_REFUSE(c, FXS_EINVAL, "dimensions have no names, but out_dim is '%s'",
                          fxs_arg_str(c, 3));
    bool nothing = fxs_arg_tensor(c, 0)->ndim == 0; /* has dimensions 0 to -1 */
    if (fxs_arg_int(c, 1) < 0 || fxs_arg_int(c, 2) < -nothing)
        return FXS_REFUSE(c, FXS_EINDEX, "with out_dim, dimensions are counted from 0");
    return infer_flatten(c);
}

static fxs_status infer_ravel(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (fxs_tensor_is_contiguous(t) || t->ndim == 0)
        return fxs_out_reshaped(c, t, &(fxs_shape){.ndim = 1, .sizes = {fxs_tensor_numel(t)}});
    return fxs_out_new(c, t->dtype, 1, (int64_t[]){fxs_tensor_numel(t)}, NULL);
}

/* unflatten(dim, sizes) */
static fxs_status infer_unflatten(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_shape part, s = {0};
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), t->ndim, &dim));
    FXS_TRY(fxs_arg_shape(c, 2, &part));
    if (t->ndim == 0)
        return FXS_REFUSE(c, FXS_EINDEX, "dimension specified as %d but tensor has no dimensions",
                          dim);
    if (part.ndim == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "sizes must not be empty");
    FXS_TRY(fxs_fill_size(c, &part, t->sizes[dim]));
    if (t->ndim - 1 + part.ndim > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    for (int i = 0; i < t->ndim; i++) {
        for (int k = 0; i == dim && k < part.ndim; k++)
            s.sizes[s.ndim++] = part.sizes[k];
        if (i != dim)
            s.sizes[s.ndim++] = t->sizes[i];
    }
    return reshape_to(c, &s, false);
}

/* ---- expand
 * -------------------------------------------------------------------------------------------- */

static fxs_status expand_to(fxs_call *c, fxs_tensor *t, const fxs_shape *want) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int pad = want->ndim - t->ndim;
    fxs_tensor *v;
    if (pad < 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "the number of sizes provided (%d) must be greater or equal to the "
                          "number of dimensions in the "
                          "tensor (%d): shapes %s and %s",
                          want->ndim, t->ndim, shape_text(want, a), fxs_sizes_text(t, b));
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim = want->ndim;
    for (int i = want->ndim - 1; i >= 0; i--) {
        int64_t size = i < pad ? 1 : t->sizes[i - pad], target = want->sizes[i];
        int64_t stride = i >= pad             ? t->strides[i - pad]
                         : i + 1 < want->ndim ? v->sizes[i + 1] * v->strides[i + 1]
                                              : 1;
        if (target == -1 && i >= pad)
            target = size;
        if (target < 0)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "the expanded size of the tensor (%lld) isn't allowed in dimension "
                              "%d: shapes %s and %s",
                              (long long)target, i, shape_text(want, a), fxs_sizes_text(t, b));
        if (size != 1 && size != target)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "the expanded size of the tensor (%lld) must match the existing size "
                              "(%lld) at dimension "
                              "%d: shapes %s and %s",
                              (long long)target, (long long)size, i, shape_text(want, a),
                              fxs_sizes_text(t, b));
        v->sizes[i] = target;
        v->strides[i] = size == target ? stride : 0;
    }
    if (t->ndim == 0)
        memset(v->strides, 0, sizeof v->strides);
    int64_t bytes = (int64_t)fxs_dtype_size(t->dtype);
    for (int i = 0; i < v->ndim; i++)
        if (__builtin_mul_overflow(bytes, v->sizes[i] ? v->sizes[i] : 1, &bytes))
            return FXS_REFUSE(c, FXS_ELIMIT, "a tensor of more than 2^63 bytes");
    return FXS_OK;
}

static fxs_status infer_expand(fxs_call *c) {
    fxs_shape s;
    FXS_TRY(fxs_arg_shape(c, 1, &s));
    return expand_to(c, fxs_arg_tensor(c, 0), &s);
}

static fxs_status infer_expand_as(fxs_call *c) {
    fxs_shape s = shape_of(fxs_arg_tensor(c, 1));
    return expand_to(c, fxs_arg_tensor(c, 0), &s);
}

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_view[] = {
    {"view", "(Tensor self, dtype dtype) -> Tensor", "Tensor.view", infer_view_dtype, NULL, NULL,
     PURE},
    {"view", "(Tensor self, int... size) -> Tensor", "Tensor.view", infer_view, NULL, NULL, PURE},
    {"view_as", "(Tensor self, Tensor other) -> Tensor", "Tensor.view_as", infer_view_as, NULL,
     NULL, PURE | FXS_OP_GRAD_OF_SELF},
    {"reshape", "(Tensor self, int... shape) -> Tensor", "Tensor.reshape torch.reshape",
     infer_reshape, fxs_copy_reshaped, NULL, PURE},
    {"reshape_as", "(Tensor self, Tensor other) -> Tensor", "Tensor.reshape_as", infer_reshape_as,
     fxs_copy_reshaped, NULL, PURE | FXS_OP_GRAD_OF_SELF},
    {"flatten", "(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
     "torch.flatten Tensor.flatten", infer_flatten, fxs_copy_reshaped, NULL, PURE},
    {"flatten", "(Tensor self, int start_dim, int end_dim, str? out_dim) -> Tensor",
     "torch.flatten Tensor.flatten", infer_flatten_named, fxs_copy_reshaped, NULL, PURE},
    {"ravel", "(Tensor self) -> Tensor", "torch.ravel Tensor.ravel", infer_ravel, fxs_copy_reshaped,
     NULL, PURE},
    {"unflatten", "(Tensor self, int dim, int[] sizes) -> Tensor",
     "Tensor.unflatten torch.unflatten", infer_unflatten, NULL, NULL, PURE},
    {"expand", "(Tensor self, int... size, *, bool implicit=False) -> Tensor", "Tensor.expand",
     infer_expand, NULL, NULL, PURE},
    {"expand_as", "(Tensor self, Tensor other) -> Tensor", "Tensor.expand_as", infer_expand_as,
     NULL, NULL, PURE | FXS_OP_GRAD_OF_SELF},
    {"broadcast_to", "(Tensor self, int... size) -> Tensor",
     "torch.broadcast_to Tensor.broadcast_to", infer_expand, NULL, NULL, PURE},
    {0},
};
#undef PURE

const fxs_module_row fxs_modules_view[] = {
    {.name = "Flatten",
     .hyper = "start_dim=1, end_dim=-1",
     .repr = "start_dim=, end_dim=",
     .call = "flatten(input, start_dim, end_dim)",
     .trace = "Tensor.flatten(input, start_dim, end_dim)"},
    {.name = "Unflatten",
     .hyper = "dim, unflattened_size",
     .repr = "dim=, unflattened_size=",
     .call = "unflatten(input, dim, unflattened_size)",
     .trace = "Tensor.unflatten(input, dim, unflattened_size)"},
    {0},
};
