/* index.c: x[...] and x[...] = y on tensors. Reading the index is in index_read.c; without index
 * tensors the result is a view, with them a copy whose strides are those of PyTorch's
 * TensorIterator. */
#include "kernels/index.h"
#include "kernels/work.h"

#include <string.h>

#include "kernels/iterate.h"
#include "kernels/view.h"

/* ---- applying index tensors
 * ---------------------------------------------------------------------------- */

static bool is_indexed(const fxs_indexing *ix, int dim) {
    for (int i = 0; i < ix->nindex; i++)
        if (ix->index[i].dim == dim)
            return true;
    return false;
}

/* The view without the indexed dimensions. */
static fxs_tensor rest_of_view(const fxs_indexing *ix) {
    fxs_tensor rest = ix->view;
    rest.ndim = 0;
    for (int i = 0; i < ix->view.ndim; i++) {
        if (is_indexed(ix, i))
            continue;
        rest.sizes[rest.ndim] = ix->view.sizes[i];
        rest.strides[rest.ndim++] = ix->view.strides[i];
    }
    return rest;
}

/* An index tensor in the result's shape: the common shape between dimensions of size 1. */
static void index_strides(const fxs_indexing *ix, const fxs_index *t, int64_t *strides) {
    fxs_tensor common = {.ndim = ix->common_ndim};
    fxs_shape shape = {.ndim = ix->ndim};
    int pad = ix->common_ndim - t->ndim;
    for (int i = 0; i < ix->common_ndim; i++) {
        common.sizes[i] = ix->common[i];
        common.strides[i] =
            i < pad || (t->sizes[i - pad] == 1 && ix->common[i] != 1) ? 0 : t->strides[i - pad];
    }
    for (int i = 0; i < ix->ndim; i++)
        shape.sizes[i] = i >= ix->at && i < ix->at + ix->common_ndim ? ix->sizes[i] : 1;
    if (!fxs_view_strides(&common, &shape, strides))
        fxs_strides_of(shape.ndim, shape.sizes, NULL, strides);
    for (int i = 0; i < ix->ndim; i++)
        if (shape.sizes[i] == 1 && ix->sizes[i] != 1)
            strides[i] = 0;
}

/* No element, and index tensors of the result's shape: the operands are alike for TensorIterator,
 * and contiguous. */
static bool indexes_nothing(const fxs_indexing *ix, const fxs_tensor *rest) {
    bool none = false, alike = true;
    for (int i = 0; i < ix->ndim; i++)
        none |= ix->sizes[i] == 0;
    for (int i = 0; i < rest->ndim; i++)
        alike &= rest->sizes[i] == 1;
    return none && alike;
}

/* Operands as torch's index has them: the source with stride 0 where it is indexed, then the index
 * tensors. */
void fxs_indexed_strides(const fxs_indexing *ix, int64_t *strides) {
    int64_t operands[FXS_MAX_DIM + 1][FXS_MAX_DIM] = {{0}};
    fxs_tensor rest = rest_of_view(ix);
    if (indexes_nothing(ix, &rest)) {
        fxs_strides_of(ix->ndim, ix->sizes, NULL, strides);
        return;
    }
    for (int i = 0; i < rest.ndim; i++)
        operands[0][i + (i >= ix->at ? ix->common_ndim : 0)] = rest.strides[i];
    for (int k = 0; k < ix->nindex; k++)
        index_strides(ix, &ix->index[k], operands[k + 1]);
    fxs_iterator_strides(ix->ndim, ix->sizes, ix->nindex + 1, operands, strides);
}

/* Element of an index tensor at a row-major position of the common shape. */
static int64_t index_at(const fxs_indexing *ix, const fxs_index *t, int64_t position) {
    int64_t at = 0;
    for (int i = ix->common_ndim - 1; i >= 0; i--) {
        int64_t k = position % ix->common[i];
        int own = i - (ix->common_ndim - t->ndim);
        position /= ix->common[i];
        if (own >= 0 && t->sizes[own] != 1)
            at += k * t->strides[own];
    }
    return fxs_load_int(t->dtype, (const char *)t->data + at * (int64_t)fxs_dtype_size(t->dtype));
}

/* Offset, in elements of the view, of the part that a position of the common shape selects. */
static fxs_status part_offset(fxs_call *c, const fxs_indexing *ix, int64_t position,
                              int64_t *offset) {
    *offset = 0;
    for (int k = 0; k < ix->nindex; k++) {
        const fxs_index *t = &ix->index[k];
        int64_t i = index_at(ix, t, position), size = ix->view.sizes[t->dim];
        if (i < -size || i >= size)
            return FXS_REFUSE(c, FXS_EINDEX,
                              "index %lld is out of bounds for dimension %d with size %lld",
                              (long long)i, t->dim, (long long)size);
        *offset += (i < 0 ? i + size : i) * ix->view.strides[t->dim];
    }
    return FXS_OK;
}

static int64_t offset_in(const fxs_indexing *ix, const fxs_tensor *other, int64_t position) {
    int64_t at = 0;
    for (int i = ix->common_ndim - 1; i >= 0; i--) {
        at += position % ix->common[i] * other->strides[ix->at + i];
        position /= ix->common[i];
    }
    return at;
}

/* `other` without the index tensors' dimensions: what one position of them stands for. */
static fxs_tensor part_of(const fxs_indexing *ix, const fxs_tensor *other) {
    fxs_tensor part = *other;
    part.ndim = 0;
    for (int i = 0; i < other->ndim; i++) {
        if (i >= ix->at && i < ix->at + ix->common_ndim)
            continue;
        part.sizes[part.ndim] = other->sizes[i];
        part.strides[part.ndim++] = other->strides[i];
    }
    return part;
}

fxs_status fxs_index_copy(fxs_call *c, fxs_indexing *ix, fxs_tensor *other, bool put) {
    fxs_tensor in = rest_of_view(ix), out = part_of(ix, other);
    int64_t n = 1, in_base = in.offset, out_base = out.offset, offset;
    for (int i = 0; i < ix->common_ndim; i++)
        n *= ix->common[i];
    if (fxs_tensor_numel(other) == 0)
        return FXS_OK; /* indices of nothing are not looked at */
    for (int64_t i = 0; i < n; i++) {
        FXS_TRY(part_offset(c, ix, i, &offset));
        in.offset = in_base + offset;
        out.offset = out_base + offset_in(ix, other, i);
        if (put)
            fxs_tensor_copy(c->ctx, &in, &out);
        else
            fxs_tensor_copy(c->ctx, &out, &in);
    }
    return FXS_OK;
}

/* ---- getitem
 * ------------------------------------------------------------------------------------------- */

static fxs_status infer_getitem(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, 0), *v;
    fxs_indexing ix;
    int64_t strides[FXS_MAX_DIM];
    FXS_TRY(fxs_read_index(c, x, &c->arg[1], &ix));
    if (ix.nindex) {
        fxs_indexed_strides(&ix, strides);
        return fxs_out_new(c, x->dtype, ix.ndim, ix.sizes, strides);
    }
    FXS_TRY(fxs_out_view(c, x, &v));
    v->ndim = ix.view.ndim;
    v->offset = ix.view.offset;
    memcpy(v->sizes, ix.view.sizes, sizeof v->sizes);
    memcpy(v->strides, ix.view.strides, sizeof v->strides);
    return FXS_OK;
}

static fxs_status run_getitem(fxs_call *c) {
    fxs_indexing ix;
    FXS_TRY(fxs_read_index(c, fxs_arg_tensor(c, 0), &c->arg[1], &ix));
    return fxs_index_copy(c, &ix, c->out[0], false);
}

/* ---- setitem
 * ------------------------------------------------------------------------------------------- */

/* A value's shape may have ones in front that the place lacks. */
static fxs_status stretch_value(fxs_call *c, const fxs_tensor *value, int ndim,
                                const int64_t *sizes, fxs_tensor *out) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    fxs_tensor place = {.ndim = ndim};
    int skip = 0;
    memcpy(place.sizes, sizes, (size_t)ndim * sizeof *sizes);
    while (value->ndim - skip > ndim && value->sizes[skip] == 1)
        skip++;
    *out = *value;
    out->ndim = ndim;
    for (int i = ndim - 1, k = value->ndim - 1; i >= 0 || k >= skip; i--, k--) {
        int64_t size = k >= skip ? value->sizes[k] : 1;
        if (i < 0 || (size != 1 && size != sizes[i]))
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "shape mismatch: value tensor of shape %s cannot be broadcast to indexing "
                "result of shape %s",
                fxs_sizes_text(value, a), fxs_sizes_text(&place, b));
        out->sizes[i] = sizes[i];
        out->strides[i] = size == 1 ? 0 : value->strides[k];
    }
    return FXS_OK;
}

/* Index tensors of an index, and how many of them are masks of dimensions. A whole number in a
 * tensor is a number. */
static void count_indices(const fxs_value *index, int *tensors, int *masks) {
    const fxs_tensor *t = index->tag == FXS_V_TENSOR ? index->u.tensor : NULL;
    bool mask = t && (t->dtype == FXS_BOOL || t->dtype == FXS_UINT8);
    if (t) {
        *tensors += t->ndim || mask;
        *masks += t->ndim && mask;
    } else if (index->tag == FXS_V_LIST) {
        ++*tensors;
    }
    for (size_t i = 0; index->tag == FXS_V_TUPLE && i < fxs_value_len(index); i++)
        count_indices(fxs_value_item(index, i), tensors, masks);
}

/* Where index tensors say, only elements of x's type are put; one element under one mask is a
 * number. */
static fxs_status check_value_type(fxs_call *c, const fxs_tensor *x, const fxs_tensor *value) {
    int tensors = 0, masks = 0;
    count_indices(&c->arg[1], &tensors, &masks);
    bool number = tensors == 1 && masks == 1 && fxs_tensor_numel(value) == 1;
    if (number) /* it is filled in, as a number is */
        return fxs_check_fits(c, 2, x->dtype);
    return tensors ? fxs_check_same_dtype(c, x, value, "value") : FXS_OK;
}

static fxs_status check_distinct_places(fxs_call *c, const fxs_tensor *view) {
    for (int i = 0; i < view->ndim && fxs_tensor_numel(view); i++)
        if (view->sizes[i] > 1 && view->strides[i] == 0)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "more than one element of the written-to tensor refers to a single "
                              "memory location: clone() it before");
    return FXS_OK;
}

static fxs_status infer_setitem(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, 0), *value = fxs_arg_tensor(c, 2), stretched;
    fxs_indexing ix;
    if (!fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_computable(c, x->dtype));
    if (!value) /* a number; of tensors real parts are taken */
        FXS_TRY(fxs_check_fits(c, 2, x->dtype));
    if (value)
        FXS_TRY(check_value_type(c, x, value));
    fxs_status s = fxs_read_index(c, x, &c->arg[1], &ix);
    if (s == FXS_OK && !ix.nindex && value && value->ndim > 0) /* a number may go there often */
        FXS_TRY(check_distinct_places(c, &ix.view));
    if (s == FXS_EUNKNOWN && c->meta) {
        fxs_ctx_clear(c->ctx); /* whatever is written, the shape stays */
    } else {
        FXS_TRY(s);
        if (value)
            FXS_TRY(stretch_value(c, value, ix.nindex ? ix.ndim : ix.view.ndim,
                                  ix.nindex ? ix.sizes : ix.view.sizes, &stretched));
    }
    FXS_TRY(fxs_out_same(c, x));
    return fxs_out_value(c, fxs_none());
}

static fxs_status number_tensor(fxs_call *c, const fxs_value *v, fxs_tensor **out) {
    bool real = v->tag == FXS_V_FLOAT;
    if (v->tag == FXS_V_COMPLEX) {
        FXS_TRY(fxs_tensor_new(c->ctx, FXS_COMPLEX128, 0, NULL, out));
        fxs_store_pair(FXS_COMPLEX128, fxs_tensor_data(*out), v->u.c);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_new(c->ctx, real ? FXS_FLOAT64 : FXS_INT64, 0, NULL, out));
    if (real)
        *(double *)fxs_tensor_data(*out) = v->u.f;
    else
        *(int64_t *)fxs_tensor_data(*out) = v->tag == FXS_V_BOOL ? v->u.b : v->u.i;
    return FXS_OK;
}

static fxs_status complex_number(fxs_call *c, const fxs_value *v, fxs_tensor **out) {
    double re = v->tag == FXS_V_COMPLEX ? v->u.c[0]
                : v->tag == FXS_V_FLOAT ? v->u.f
                : v->tag == FXS_V_BOOL  ? v->u.b
                                        : (double)v->u.i;
    FXS_TRY(fxs_tensor_new(c->ctx, FXS_COMPLEX128, 0, NULL, out));
    double *to = fxs_tensor_data(*out);
    to[0] = re;
    to[1] = v->tag == FXS_V_COMPLEX ? v->u.c[1] : 0;
    return FXS_OK;
}

/* One of the two parts of a complex tensor, as a real one over the same memory. */
static fxs_tensor part(const fxs_tensor *t, int which) {
    fxs_tensor p = *t;
    p.dtype = t->dtype == FXS_COMPLEX64 ? FXS_FLOAT32 : FXS_FLOAT64;
    p.offset = 2 * t->offset + which;
    for (int i = 0; i < p.ndim; i++)
        p.strides[i] = 2 * t->strides[i];
    return p;
}

/* Any value as one of x's complex type; counted. */
static fxs_status complex_value(fxs_call *c, const fxs_tensor *x, fxs_tensor **out) {
    fxs_tensor *value = fxs_arg_tensor(c, 2), *number = NULL;
    if (!value) {
        FXS_TRY(complex_number(c, &c->arg[2], &number));
        value = number;
    }
    fxs_status s = fxs_tensor_new(c->ctx, x->dtype, value->ndim, value->sizes, out);
    for (int which = 0; s == FXS_OK && which < 2; which++) {
        fxs_tensor to = part(*out, which), from = *value;
        if (fxs_is_complex(value->dtype))
            from = part(value, which);
        else if (which == 1)
            break; /* zero */
        fxs_tensor_copy(c->ctx, &to, &from);
    }
    fxs_tensor_unref(number);
    return s;
}

static fxs_status write_item(fxs_call *c, fxs_tensor *value) {
    fxs_tensor *x = fxs_arg_tensor(c, 0), stretched;
    fxs_indexing ix;
    FXS_TRY(fxs_read_index(c, x, &c->arg[1], &ix));
    FXS_TRY(stretch_value(c, value, ix.nindex ? ix.ndim : ix.view.ndim,
                          ix.nindex ? ix.sizes : ix.view.sizes, &stretched));
    if (ix.nindex)
        return fxs_index_copy(c, &ix, &stretched, true);
    if (fxs_tensor_numel(&ix.view))
        fxs_tensor_copy(c->ctx, &ix.view, &stretched);
    return FXS_OK;
}

static fxs_status run_setitem(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, 0), *value = fxs_arg_tensor(c, 2), *own;
    if (value && value->storage != x->storage && !fxs_is_complex(x->dtype))
        return write_item(c, value);
    if (fxs_is_complex(x->dtype)) {
        FXS_TRY(complex_value(c, x, &own));
    } else if (value) { /* x[1:] = x[:-1]: read all before writing */
        FXS_TRY(fxs_tensor_new(c->ctx, value->dtype, value->ndim, value->sizes, &own));
        fxs_tensor_copy(c->ctx, own, value);
    } else {
        FXS_TRY(number_tensor(c, &c->arg[2], &own));
    }
    fxs_status s = write_item(c, own);
    fxs_tensor_unref(own);
    return s;
}

const fxs_op fxs_ops_index[] = {
    {"getitem", "(Tensor self, any index) -> Tensor", "operator.getitem Tensor.__getitem__",
     infer_getitem, run_getitem, NULL, FXS_OP_NO_INPLACE},
    {"setitem", "(Tensor self, any index, Tensor|Scalar value) -> None",
     "operator.setitem Tensor.__setitem__", infer_setitem, run_setitem, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_COMPLEX},
    {0},
};
