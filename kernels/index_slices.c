/* index_slices.c: index_select index_add index_copy index_fill: whole slices at the places that a
 * vector of indices names along one dimension. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/index_walk.h"

static fxs_status check_vector(fxs_call *c, const fxs_tensor *index) {
    if (index->ndim > 1)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "index is supposed to be a vector, but it has %d dimensions",
                          index->ndim);
    if (index->dtype != FXS_INT64 && index->dtype != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE, "expected dtype int32 or int64 for index, not torch.%s",
                          fxs_dtype_name(index->dtype));
    return FXS_OK;
}

/* t at one index of dim, as a struct over its storage. */
static fxs_tensor slice_of(const fxs_tensor *t, int dim, int64_t i) {
    fxs_tensor s = *t;
    if (t->ndim == 0)
        return s;
    s.offset += i * t->strides[dim];
    s.ndim--;
    for (int k = dim; k < s.ndim; k++) {
        s.sizes[k] = t->sizes[k + 1];
        s.strides[k] = t->strides[k + 1];
    }
    return s;
}

static fxs_status infer_index_select(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2);
    int64_t sizes[FXS_MAX_DIM];
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), self->ndim, &dim));
    FXS_TRY(check_vector(c, index));
    memcpy(sizes, self->sizes, sizeof sizes);
    if (self->ndim)
        sizes[dim] = fxs_tensor_numel(index);
    return fxs_out_new(c, self->dtype, self->ndim, sizes, NULL);
}

static fxs_status run_index_select(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), self->ndim, &dim));
    if (fxs_tensor_numel(index) == 0) /* of a tensor without dimensions one element is left */
        memset(fxs_tensor_data(c->out[0]), 0,
               (size_t)fxs_tensor_numel(c->out[0]) * fxs_dtype_size(self->dtype));
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, index, i, dim, fxs_size_at(self, dim), false, &k));
        fxs_tensor from = slice_of(self, dim, k), to = slice_of(c->out[0], dim, i);
        fxs_tensor_copy(c->ctx, &to, &from);
    }
    return FXS_OK;
}

static fxs_status check_source(fxs_call *c, int *dim) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *source = fxs_arg_tensor(c, 3);
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), self->ndim, dim));
    FXS_TRY(check_vector(c, fxs_arg_tensor(c, 2)));
    return source->dtype == self->dtype
               ? FXS_OK
               : FXS_REFUSE(c, FXS_ETYPE,
                            "self (torch.%s) and source (torch.%s) must have the same scalar type",
                            fxs_dtype_name(self->dtype), fxs_dtype_name(source->dtype));
}

/* A slice of the source with the sizes of a slice of self, to which it is stretched. */
static bool stretch_slice(const fxs_tensor *to, fxs_tensor *from) {
    int pad = to->ndim - from->ndim;
    fxs_tensor s = *from;
    for (int i = 0; pad >= 0 && i < to->ndim; i++) {
        int64_t size = i < pad ? 1 : from->sizes[i - pad];
        if (size != to->sizes[i] && size != 1)
            return false;
        s.sizes[i] = to->sizes[i];
        s.strides[i] = size == 1 ? 0 : from->strides[i - pad];
    }
    s.ndim = to->ndim;
    *from = s;
    return pad >= 0;
}

/* index_add(self, dim, index, source, alpha): slices are stretched */
static fxs_status infer_index_add(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2),
                     *source = fxs_arg_tensor(c, 3);
    int dim;
    FXS_TRY(check_source(c, &dim));
    if (dim && dim >= source->ndim)
        return FXS_REFUSE(c, FXS_EINDEX, "the source has no dimension %d", dim);
    if (fxs_tensor_numel(index) != fxs_size_at(source, dim))
        return fxs_shapes_differ(
            c, "number of indices must be equal to the source's size in that dimension", index,
            source);
    if (self->ndim <= 1 && source->ndim > 1)
        return fxs_shapes_differ(c, "the source must be a vector, as self is", source, self);
    if (self->dtype != FXS_BOOL && (self->ndim <= 1 || fxs_tensor_numel(index)))
        FXS_TRY(fxs_check_fits(c, 4, self->dtype));
    if (self->ndim > 1 && fxs_tensor_numel(index)) {
        fxs_tensor to = slice_of(self, dim, 0), from = slice_of(source, dim, 0);
        if (self->sizes[dim] == 0)
            return FXS_REFUSE(c, FXS_EINDEX, "index 0 is out of range in a dimension of size 0");
        if (!stretch_slice(&to, &from))
            return fxs_shapes_differ(c, "a slice of the source can't be broadcast to one of self",
                                     source, self);
    }
    return fxs_out_like_self(c);
}

/* index_copy(self, dim, index, source) */
static fxs_status infer_index_copy(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2),
                     *source = fxs_arg_tensor(c, 3);
    int dim;
    FXS_TRY(check_source(c, &dim));
    FXS_TRY(fxs_check_long(c, index));
    bool one = self->ndim <= 1 && source->ndim <= 1; /* a number counts as one element */
    if (fxs_size_at(source, source->ndim ? dim : 0) != fxs_tensor_numel(index) ||
        (source->ndim != self->ndim && !one))
        return fxs_shapes_differ(
            c, "number of indices must be equal to the source's size in that dimension", index,
            source);
    for (int i = 0; i < self->ndim; i++)
        if (i != dim && source->ndim && self->sizes[i] != source->sizes[i])
            return fxs_shapes_differ(c, "source/destination must have the same slice shapes",
                                     source, self);
    return fxs_out_like_self(c);
}

static fxs_status put_slices(fxs_call *c, bool add, fxs_element_number alpha) {
    fxs_tensor *out = c->out[0];
    const fxs_tensor *index = fxs_arg_tensor(c, 2), *source = fxs_arg_tensor(c, 3);
    int dim;
    if (out->dtype == FXS_BOOL)
        alpha.i = creal(alpha.f) != 0; /* the real part decides */
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), out->ndim, &dim));
    FXS_TRY(fxs_copy_self(c));
    if (!add && fxs_tensor_numel(source) == 0)
        return FXS_OK; /* no element, and no index that is looked at */
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, index, i, dim, fxs_size_at(out, dim), false, &k));
        fxs_tensor from = slice_of(source, dim, i), to = slice_of(out, dim, k);
        stretch_slice(&to, &from);
        for (int64_t e = 0, m = fxs_tensor_numel(&to); e < m; e++) {
            const char *p =
                fxs_element(&from, fxs_offset_at(from.ndim, from.sizes, from.strides, e, -1));
            fxs_element_number x = fxs_load_number(from.dtype, p);
            x.f *= alpha.f;
            x.i = (int64_t)((uint64_t)alpha.i * (uint64_t)x.i);
            fxs_put_one(&to, fxs_offset_at(to.ndim, to.sizes, to.strides, e, -1),
                        add ? FXS_PUT_ADD : FXS_PUT_SET, x);
        }
    }
    return FXS_OK;
}

static fxs_status run_index_add(fxs_call *c) { return put_slices(c, true, fxs_number_for(c, 4)); }
static fxs_status run_index_copy(fxs_call *c) {
    return put_slices(c, false, (fxs_element_number){.f = 1, .i = 1});
}

/* index_fill(self, dim, index, value) */
static fxs_status infer_index_fill(fxs_call *c) {
    const fxs_tensor *value = fxs_arg_tensor(c, 3);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), fxs_arg_tensor(c, 0)->ndim, &dim));
    FXS_TRY(check_vector(c, fxs_arg_tensor(c, 2)));
    FXS_TRY(fxs_check_long(c, fxs_arg_tensor(c, 2)));
    if (value && value->ndim)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "only supports a 0-dimensional value tensor, but got one with %d dimensions",
            value->ndim);
    const fxs_tensor *self = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    FXS_TRY(fxs_check_computable(c, self->dtype));
    FXS_TRY(fxs_check_fits(c, 3, self->dtype));
    bool pair = c->arg[3].tag == FXS_V_COMPLEX || (value && fxs_is_complex(value->dtype));
    if (pair && !fxs_is_complex(self->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "a complex number can't be put into torch.%s",
                          fxs_dtype_name(self->dtype));
    fxs_strides_like(self, strides);
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, strides);
}

static fxs_status run_index_fill(fxs_call *c) {
    fxs_tensor *out = c->out[0];
    const fxs_tensor *index = fxs_arg_tensor(c, 2);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), out->ndim, &dim));
    FXS_TRY(fxs_copy_self(c));
    fxs_element_number x = fxs_number_for(c, 3);
    int64_t n = fxs_tensor_numel(out) ? fxs_tensor_numel(index) : 0, others = 1;
    for (int i = 0; i < out->ndim; i++)
        others *= i == dim ? 1 : out->sizes[i];
    if (out->ndim && out->sizes[dim] == 0 && others && fxs_tensor_numel(index))
        return FXS_REFUSE(c, FXS_EINDEX, "dimension %d has no places to fill", dim);
    for (int64_t i = 0; i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, index, i, dim, fxs_size_at(out, dim), true, &k));
        fxs_tensor to = slice_of(out, dim, k);
        for (int64_t e = 0, m = fxs_tensor_numel(&to); e < m; e++)
            fxs_put_one(&to, fxs_offset_at(to.ndim, to.sizes, to.strides, e, -1), FXS_PUT_SET, x);
    }
    return FXS_OK;
}

/* one FLOP for each element of the source */
static fxs_cost cost_index_add(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, 3)};
}

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_index_slices[] = {
    {"index_select", "(Tensor self, int dim, Tensor index) -> Tensor",
     "torch.index_select Tensor.index_select", infer_index_select, run_index_select, NULL, PURE},
    {"index_add",
     "(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
     "torch.index_add Tensor.index_add", infer_index_add, run_index_add, cost_index_add,
     FXS_OP_COMPLEX},
    {"index_copy", "(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
     "torch.index_copy Tensor.index_copy", infer_index_copy, run_index_copy, NULL, FXS_OP_COMPLEX},
    {"index_fill", "(Tensor self, int dim, Tensor index, Tensor|Scalar value) -> Tensor",
     "torch.index_fill Tensor.index_fill", infer_index_fill, run_index_fill, NULL, FXS_OP_COMPLEX},
    {0},
};
#undef PURE
