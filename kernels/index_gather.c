/* index_gather.c: gather scatter scatter_add take_along_dim take: reads and writes of elements at
 * places that an index tensor names along one dimension. Indices are checked in the kernel: infer
 * may not look at values. Whole slices are in index_slices.c. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/index_walk.h"

/* The index may be smaller than self outside of dim, and no larger than src anywhere. */
static fxs_status check_index_shape(fxs_call *c, const fxs_tensor *self, int dim,
                                    const fxs_tensor *index, const fxs_tensor *src) {
    if (fxs_tensor_numel(index) == 0)
        return FXS_OK;
    FXS_TRY(fxs_check_long(c, index));
    if (src && (src->ndim ? src->ndim : 1) != (index->ndim ? index->ndim : 1))
        return fxs_shapes_differ(
            c, "index tensor must have the same number of dimensions as src tensor", index, src);
    if ((self->ndim ? self->ndim : 1) != (index->ndim ? index->ndim : 1))
        return fxs_shapes_differ(
            c, "index tensor must have the same number of dimensions as self tensor", index, self);
    for (int i = 0; i < index->ndim; i++)
        if ((i != dim && index->sizes[i] > fxs_size_at(self, i)) ||
            (src && index->sizes[i] > fxs_size_at(src, i)))
            return fxs_shapes_differ(
                c,
                "size does not match: expected index to be smaller than self and "
                "src apart from the "
                "dimension that it indexes",
                index, src && index->sizes[i] > fxs_size_at(src, i) ? src : self);
    return FXS_OK;
}

/* ---- gather
 * -------------------------------------------------------------------------------------------- */

static fxs_status infer_gather(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), self->ndim, &dim));
    FXS_TRY(check_index_shape(c, self, dim, index, NULL));
    return fxs_out_new(c, self->dtype, index->ndim, index->sizes, NULL);
}

static fxs_status run_gather(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2), *out = c->out[0];
    size_t size = fxs_dtype_size(self->dtype);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), self->ndim, &dim));
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, index, i, dim, fxs_size_at(self, dim), false, &k));
        int64_t at =
            fxs_offset_at(self->ndim ? index->ndim : 0, index->sizes, self->strides, i, dim);
        int64_t put = fxs_offset_at(index->ndim, index->sizes, out->strides, i, -1);
        memcpy(fxs_element(out, put), fxs_element(self, at + k * fxs_stride_at(self, dim)), size);
    }
    return FXS_OK;
}

/* Elements of self as if it were flat; the output is contiguous. */
static fxs_status take_flat(fxs_call *c, const fxs_tensor *self, const fxs_tensor *index,
                            bool wrap) {
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, index, i, 0, fxs_tensor_numel(self), wrap, &k));
        memcpy(fxs_element(c->out[0], i),
               fxs_element(self, fxs_offset_at(self->ndim, self->sizes, self->strides, k, -1)),
               fxs_dtype_size(self->dtype));
    }
    return FXS_OK;
}

/* take_along_dim(self, indices, dim): gather of shapes that are broadcast outside of dim; without
 * dim, of flat ones. */
static fxs_status along_operands(fxs_call *c, fxs_tensor *self, fxs_tensor *index, int *dim) {
    *self = *fxs_arg_tensor(c, 0);
    *index = *fxs_arg_tensor(c, 1);
    FXS_TRY(fxs_check_long(c, index));
    if (fxs_arg_is_none(c, 2)) {
        *dim = 0;
        return FXS_OK;
    }
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), self->ndim, dim));
    if (self->ndim == 0)
        return FXS_REFUSE(c, FXS_EINDEX, "a tensor without dimensions has none to take along");
    if (self->ndim != index->ndim)
        return fxs_shapes_differ(c, "input and indices should have the same number of dimensions",
                                 self, index);
    for (int i = 0; i < self->ndim; i++) {
        int64_t a = self->sizes[i], b = index->sizes[i];
        if (i == *dim)
            continue;
        if (a != b && a != 1 && b != 1)
            return fxs_shapes_differ(c, "input and indices must have broadcastable shapes", self,
                                     index);
        self->strides[i] = a == 1 ? 0 : self->strides[i];
        index->strides[i] = b == 1 ? 0 : index->strides[i];
        self->sizes[i] = index->sizes[i] = a == 1 ? b : a;
    }
    return FXS_OK;
}

static fxs_status infer_take_along(fxs_call *c) {
    fxs_tensor self, index;
    int dim;
    FXS_TRY(along_operands(c, &self, &index, &dim));
    int64_t flat = fxs_tensor_numel(&index);
    return fxs_arg_is_none(c, 2) ? fxs_out_new(c, self.dtype, 1, &flat, NULL)
                                 : fxs_out_new(c, self.dtype, index.ndim, index.sizes, NULL);
}

static fxs_status run_take_along(fxs_call *c) {
    fxs_tensor self, index;
    const fxs_tensor *out = c->out[0];
    int dim;
    FXS_TRY(along_operands(c, &self, &index, &dim));
    if (fxs_arg_is_none(c, 2))
        return take_flat(c, &self, &index, false);
    for (int64_t i = 0, n = fxs_tensor_numel(&index); i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, &index, i, dim, fxs_size_at(&self, dim), false, &k));
        int64_t at = fxs_offset_at(index.ndim, index.sizes, self.strides, i, dim);
        memcpy(fxs_element(out, fxs_offset_at(index.ndim, index.sizes, out->strides, i, -1)),
               fxs_element(&self, at + k * fxs_stride_at(&self, dim)), fxs_dtype_size(self.dtype));
    }
    return FXS_OK;
}

/* ---- scatter
 * ------------------------------------------------------------------------------------------- */

/* The tensor that is scattered; NULL where it is one value for all, of the row that has `value`. */
static const fxs_tensor *source_of(const fxs_call *c) {
    return strstr(c->op->schema, "value") ? NULL : fxs_arg_tensor(c, 3);
}

/* scatter(self, dim, index, src) */
static fxs_status infer_scatter(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *src = source_of(c);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), self->ndim, &dim));
    if (!src && fxs_arg_tensor(c, 3) && fxs_arg_tensor(c, 3)->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "the value must be a number or a tensor without dimensions");
    if (!src)
        FXS_TRY(fxs_check_fits(c, 3, self->dtype));
    if (c->nargs > 4 && !fxs_arg_is_none(c, 4) && strcmp(fxs_arg_str(c, 4), "add") != 0 &&
        strcmp(fxs_arg_str(c, 4), "multiply") != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "reduce argument must be either add or multiply, not '%s'",
                          fxs_arg_str(c, 4));
    if (src && src->dtype != self->dtype)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected self.dtype to be equal to src.dtype: torch.%s and torch.%s",
                          fxs_dtype_name(self->dtype), fxs_dtype_name(src->dtype));
    FXS_TRY(check_index_shape(c, self, dim, fxs_arg_tensor(c, 2), src));
    return fxs_out_like_self(c);
}

static fxs_status scatter(fxs_call *c, fxs_putting how) {
    fxs_tensor *out = c->out[0];
    const fxs_tensor *index = fxs_arg_tensor(c, 2), *src = source_of(c);
    fxs_element_number x = {0};
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), out->ndim, &dim));
    FXS_TRY(fxs_copy_self(c));
    if (!src)
        x = fxs_number_for(c, 3);
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(fxs_index_in(c, index, i, dim, fxs_size_at(out, dim), false, &k));
        if (src) {
            int64_t at =
                fxs_offset_at(src->ndim ? index->ndim : 0, index->sizes, src->strides, i, -1);
            x = fxs_load_number(src->dtype, fxs_element(src, at));
        }
        int64_t put =
            fxs_offset_at(out->ndim ? index->ndim : 0, index->sizes, out->strides, i, dim);
        fxs_put_one(out, put + k * fxs_stride_at(out, dim), how, x);
    }
    return FXS_OK;
}

static fxs_status run_scatter(fxs_call *c) {
    return scatter(c, fxs_arg_is_none(c, 4)                   ? FXS_PUT_SET
                      : strcmp(fxs_arg_str(c, 4), "add") == 0 ? FXS_PUT_ADD
                                                              : FXS_PUT_MULTIPLY);
}
static fxs_status run_scatter_add(fxs_call *c) { return scatter(c, FXS_PUT_ADD); }

/* take(self, index): self counts as flat. */
static fxs_status infer_take(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 1);
    FXS_TRY(fxs_check_long(c, index));
    if (fxs_tensor_numel(self) == 0 && fxs_tensor_numel(index) != 0)
        return FXS_REFUSE(c, FXS_EINDEX, "tried to take from an empty tensor");
    return fxs_out_new(c, self->dtype, index->ndim, index->sizes, NULL);
}

static fxs_status run_take(fxs_call *c) {
    return take_flat(c, fxs_arg_tensor(c, 0), fxs_arg_tensor(c, 1), true);
}

/* Scatters that add: one FLOP for each element of the index or source. */
static fxs_cost cost_scatter_add(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, 2)};
}
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_index_gather[] = {
    {"gather", "(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
     "torch.gather Tensor.gather", infer_gather, run_gather, NULL, PURE},
    {"take_along_dim", "(Tensor self, Tensor indices, int? dim=None) -> Tensor",
     "torch.take_along_dim Tensor.take_along_dim", infer_take_along, run_take_along, NULL, PURE},
    {"scatter", "(Tensor self, int dim, Tensor index, Tensor src, *, str reduce=None) -> Tensor",
     "torch.scatter Tensor.scatter", infer_scatter, run_scatter, NULL, FXS_OP_COMPLEX},
    {"scatter",
     "(Tensor self, int dim, Tensor index, Tensor|Scalar value, *, str reduce=None) -> Tensor",
     "torch.scatter Tensor.scatter", infer_scatter, run_scatter, NULL, FXS_OP_COMPLEX},
    {"scatter_add", "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
     "torch.scatter_add Tensor.scatter_add", infer_scatter, run_scatter_add, cost_scatter_add,
     FXS_OP_COMPLEX},
    {"take", "(Tensor self, Tensor index) -> Tensor", "torch.take Tensor.take", infer_take,
     run_take, NULL, PURE},
    {0},
};
#undef PURE
