/* index_gather.c: gather scatter scatter_add take_along_dim index_select index_add index_copy
 * index_fill take: reads and writes at places that an index tensor names along one dimension.
 * Indices are checked in the kernel: infer may not look at values. */
#include <complex.h>
#include <string.h>

#include "kernels/iterate.h"
#include "kernels/work.h"

/* ---- walking
 * ------------------------------------------------------------------------------------------- */

/* A row-major position over t's shape as an offset in another tensor's strides. */
static int64_t offset_at(int ndim, const int64_t *sizes, const int64_t *strides, int64_t position,
                         int skip) {
    int64_t at = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        if (i != skip)
            at += position % sizes[i] * strides[i];
        position /= sizes[i];
    }
    return at;
}

static char *element(const fxs_tensor *t, int64_t offset) {
    return (char *)fxs_tensor_data(t) + offset * (int64_t)fxs_dtype_size(t->dtype);
}

/* The index at a position of the index tensor, from the end when negative and `wrap`. */
static fxs_status index_in(fxs_call *c, const fxs_tensor *index, int64_t position, int dim,
                           int64_t size, bool wrap, int64_t *out) {
    int64_t at = offset_at(index->ndim, index->sizes, index->strides, position, -1);
    int64_t i = fxs_load_int(index->dtype, element(index, at));
    if (i >= size || i < (wrap ? -size : 0))
        return FXS_REFUSE(c, FXS_EINDEX,
                          "index %lld is out of bounds for dimension %d with size %lld",
                          (long long)i, dim, (long long)size);
    *out = i < 0 ? i + size : i;
    return FXS_OK;
}

static int64_t size_at(const fxs_tensor *t, int dim) { return t->ndim ? t->sizes[dim] : 1; }
static int64_t stride_at(const fxs_tensor *t, int dim) { return t->ndim ? t->strides[dim] : 0; }

static fxs_status check_long(fxs_call *c, const fxs_tensor *index) {
    if (index->dtype != FXS_INT64)
        return FXS_REFUSE(c, FXS_ETYPE, "expected dtype int64 for index, not torch.%s",
                          fxs_dtype_name(index->dtype));
    return FXS_OK;
}

static fxs_status shapes_differ(fxs_call *c, const char *what, const fxs_tensor *a,
                                const fxs_tensor *b) {
    char x[FXS_SIZES_TEXT], y[FXS_SIZES_TEXT];
    return FXS_REFUSE(c, FXS_ESHAPE, "%s: shapes %s and %s", what, fxs_sizes_text(a, x),
                      fxs_sizes_text(b, y));
}

/* The index may be smaller than self outside of dim, and no larger than src anywhere. */
static fxs_status check_index_shape(fxs_call *c, const fxs_tensor *self, int dim,
                                    const fxs_tensor *index, const fxs_tensor *src) {
    if (fxs_tensor_numel(index) == 0)
        return FXS_OK;
    FXS_TRY(check_long(c, index));
    if (src && (src->ndim ? src->ndim : 1) != (index->ndim ? index->ndim : 1))
        return shapes_differ(
            c, "index tensor must have the same number of dimensions as src tensor", index, src);
    if ((self->ndim ? self->ndim : 1) != (index->ndim ? index->ndim : 1))
        return shapes_differ(
            c, "index tensor must have the same number of dimensions as self tensor", index, self);
    for (int i = 0; i < index->ndim; i++)
        if ((i != dim && index->sizes[i] > size_at(self, i)) ||
            (src && index->sizes[i] > size_at(src, i)))
            return shapes_differ(c,
                                 "size does not match: expected index to be smaller than self and "
                                 "src apart from the "
                                 "dimension that it indexes",
                                 index, src && index->sizes[i] > size_at(src, i) ? src : self);
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
        FXS_TRY(index_in(c, index, i, dim, size_at(self, dim), false, &k));
        int64_t at = offset_at(self->ndim ? index->ndim : 0, index->sizes, self->strides, i, dim);
        int64_t put = offset_at(index->ndim, index->sizes, out->strides, i, -1);
        memcpy(element(out, put), element(self, at + k * stride_at(self, dim)), size);
    }
    return FXS_OK;
}

/* Elements of self as if it were flat; the output is contiguous. */
static fxs_status take_flat(fxs_call *c, const fxs_tensor *self, const fxs_tensor *index,
                            bool wrap) {
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(index_in(c, index, i, 0, fxs_tensor_numel(self), wrap, &k));
        memcpy(element(c->out[0], i),
               element(self, offset_at(self->ndim, self->sizes, self->strides, k, -1)),
               fxs_dtype_size(self->dtype));
    }
    return FXS_OK;
}

/* take_along_dim(self, indices, dim): gather of shapes that are broadcast outside of dim; without
 * dim, of flat ones. */
static fxs_status along_operands(fxs_call *c, fxs_tensor *self, fxs_tensor *index, int *dim) {
    *self = *fxs_arg_tensor(c, 0);
    *index = *fxs_arg_tensor(c, 1);
    FXS_TRY(check_long(c, index));
    if (fxs_arg_is_none(c, 2)) {
        *dim = 0;
        return FXS_OK;
    }
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), self->ndim, dim));
    if (self->ndim != index->ndim)
        return shapes_differ(c, "input and indices should have the same number of dimensions", self,
                             index);
    for (int i = 0; i < self->ndim; i++) {
        int64_t a = self->sizes[i], b = index->sizes[i];
        if (i == *dim)
            continue;
        if (a != b && a != 1 && b != 1)
            return shapes_differ(c, "input and indices must have broadcastable shapes", self,
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
        FXS_TRY(index_in(c, &index, i, dim, size_at(&self, dim), false, &k));
        int64_t at = offset_at(index.ndim, index.sizes, self.strides, i, dim);
        memcpy(element(out, offset_at(index.ndim, index.sizes, out->strides, i, -1)),
               element(&self, at + k * stride_at(&self, dim)), fxs_dtype_size(self.dtype));
    }
    return FXS_OK;
}

/* ---- scatter
 * ------------------------------------------------------------------------------------------- */

static fxs_status out_like_self(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, self->dtype));
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, NULL);
}

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
    return out_like_self(c);
}

static fxs_status copy_self(fxs_call *c) {
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    return FXS_OK;
}

typedef enum putting { SET, ADD, MULTIPLY } putting;

/* A number in the three ways that types take it. */
typedef struct number {
    double complex f;
    int64_t i;
} number;

static number load_number(fxs_dtype d, const void *p) {
    double z[2];
    fxs_load_pair(d, p, z);
    return (number){.f = CMPLX(z[0], z[1]), .i = fxs_load_int(d, p)};
}

static void put_one(fxs_tensor *t, int64_t at, putting how, number new_one) {
    char *p = element(t, at);
    double complex f = new_one.f;
    if (fxs_is_complex(t->dtype)) {
        double complex old = load_number(t->dtype, p).f;
        f = how == ADD ? old + f : how == MULTIPLY ? old * f : f;
        fxs_store_pair(t->dtype, p, (const double[2]){creal(f), cimag(f)});
    } else if (fxs_is_floating(t->dtype)) {
        double old = fxs_load_double(t->dtype, p), x = creal(f);
        fxs_store_double(t->dtype, p, how == ADD ? old + x : how == MULTIPLY ? old * x : x);
    } else {
        uint64_t old = (uint64_t)fxs_load_int(t->dtype, p), new = (uint64_t)new_one.i;
        fxs_store_int(t->dtype, p,
                      (int64_t)(how == ADD        ? old + new
                                : how == MULTIPLY ? old *new
                                                  : new));
    }
}

/* A number as it is written into a type. */
static number number_for(const fxs_call *c, int i) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    if (t)
        return load_number(t->dtype, fxs_tensor_data(t));
    if (c->arg[i].tag == FXS_V_COMPLEX)
        return (number){.f = CMPLX(c->arg[i].u.c[0], c->arg[i].u.c[1])};
    double f = fxs_arg_float(c, i);
    return (number){.f = f,
                    .i = fxs_arg_tensor(c, 0)->dtype == FXS_BOOL ? f != 0 : fxs_arg_int(c, i)};
}

static fxs_status scatter(fxs_call *c, putting how) {
    fxs_tensor *out = c->out[0];
    const fxs_tensor *index = fxs_arg_tensor(c, 2), *src = source_of(c);
    number x = {0};
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), out->ndim, &dim));
    FXS_TRY(copy_self(c));
    if (!src)
        x = number_for(c, 3);
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(index_in(c, index, i, dim, size_at(out, dim), false, &k));
        if (src) {
            int64_t at = offset_at(src->ndim ? index->ndim : 0, index->sizes, src->strides, i, -1);
            x = load_number(src->dtype, element(src, at));
        }
        int64_t put = offset_at(out->ndim ? index->ndim : 0, index->sizes, out->strides, i, dim);
        put_one(out, put + k * stride_at(out, dim), how, x);
    }
    return FXS_OK;
}

static fxs_status run_scatter(fxs_call *c) {
    return scatter(c, fxs_arg_is_none(c, 4)                   ? SET
                      : strcmp(fxs_arg_str(c, 4), "add") == 0 ? ADD
                                                              : MULTIPLY);
}
static fxs_status run_scatter_add(fxs_call *c) { return scatter(c, ADD); }

/* ---- whole slices
 * -------------------------------------------------------------------------------------- */

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
        FXS_TRY(index_in(c, index, i, dim, size_at(self, dim), false, &k));
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
    if (fxs_tensor_numel(index) != size_at(source, dim))
        return shapes_differ(
            c, "number of indices must be equal to the source's size in that dimension", index,
            source);
    if (self->ndim <= 1 && source->ndim > 1)
        return shapes_differ(c, "the source must be a vector, as self is", source, self);
    if (self->ndim <= 1 || fxs_tensor_numel(index))
        FXS_TRY(fxs_check_number(c, 4, self->dtype));
    if (self->ndim > 1 && fxs_tensor_numel(index)) {
        fxs_tensor to = slice_of(self, dim, 0), from = slice_of(source, dim, 0);
        if (self->sizes[dim] == 0)
            return FXS_REFUSE(c, FXS_EINDEX, "index 0 is out of range in a dimension of size 0");
        if (!stretch_slice(&to, &from))
            return shapes_differ(c, "a slice of the source can't be broadcast to one of self",
                                 source, self);
    }
    return out_like_self(c);
}

/* index_copy(self, dim, index, source) */
static fxs_status infer_index_copy(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 2),
                     *source = fxs_arg_tensor(c, 3);
    int dim;
    FXS_TRY(check_source(c, &dim));
    FXS_TRY(check_long(c, index));
    bool one = self->ndim <= 1 && source->ndim <= 1; /* a number counts as one element */
    if (size_at(source, source->ndim ? dim : 0) != fxs_tensor_numel(index) ||
        (source->ndim != self->ndim && !one))
        return shapes_differ(
            c, "number of indices must be equal to the source's size in that dimension", index,
            source);
    for (int i = 0; i < self->ndim; i++)
        if (i != dim && source->ndim && self->sizes[i] != source->sizes[i])
            return shapes_differ(c, "source/destination must have the same slice shapes", source,
                                 self);
    return out_like_self(c);
}

static fxs_status put_slices(fxs_call *c, bool add, number alpha) {
    fxs_tensor *out = c->out[0];
    const fxs_tensor *index = fxs_arg_tensor(c, 2), *source = fxs_arg_tensor(c, 3);
    int dim;
    if (out->dtype == FXS_BOOL)
        alpha.i = alpha.f != 0;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), out->ndim, &dim));
    FXS_TRY(copy_self(c));
    if (!add && fxs_tensor_numel(source) == 0)
        return FXS_OK; /* no element, and no index that is looked at */
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t k;
        FXS_TRY(index_in(c, index, i, dim, size_at(out, dim), false, &k));
        fxs_tensor from = slice_of(source, dim, i), to = slice_of(out, dim, k);
        stretch_slice(&to, &from);
        for (int64_t e = 0, m = fxs_tensor_numel(&to); e < m; e++) {
            const char *p = element(&from, offset_at(from.ndim, from.sizes, from.strides, e, -1));
            number x = load_number(from.dtype, p);
            x.f *= alpha.f;
            x.i = (int64_t)((uint64_t)alpha.i * (uint64_t)x.i);
            put_one(&to, offset_at(to.ndim, to.sizes, to.strides, e, -1), add ? ADD : SET, x);
        }
    }
    return FXS_OK;
}

static fxs_status run_index_add(fxs_call *c) { return put_slices(c, true, number_for(c, 4)); }
static fxs_status run_index_copy(fxs_call *c) {
    return put_slices(c, false, (number){.f = 1, .i = 1});
}

/* index_fill(self, dim, index, value) */
static fxs_status infer_index_fill(fxs_call *c) {
    const fxs_tensor *value = fxs_arg_tensor(c, 3);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), fxs_arg_tensor(c, 0)->ndim, &dim));
    FXS_TRY(check_vector(c, fxs_arg_tensor(c, 2)));
    FXS_TRY(check_long(c, fxs_arg_tensor(c, 2)));
    if (value && value->ndim)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "only supports a 0-dimensional value tensor, but got one with %d dimensions",
            value->ndim);
    const fxs_tensor *self = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    FXS_TRY(fxs_check_computable(c, self->dtype));
    FXS_TRY(fxs_check_fits(c, 3, self->dtype));
    fxs_strides_like(self, strides);
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, strides);
}

static fxs_status run_index_fill(fxs_call *c) {
    fxs_tensor *out = c->out[0];
    const fxs_tensor *index = fxs_arg_tensor(c, 2);
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), out->ndim, &dim));
    FXS_TRY(copy_self(c));
    number x = number_for(c, 3);
    int64_t n = fxs_tensor_numel(out) ? fxs_tensor_numel(index) : 0, others = 1;
    for (int i = 0; i < out->ndim; i++)
        others *= i == dim ? 1 : out->sizes[i];
    if (out->ndim && out->sizes[dim] == 0 && others && fxs_tensor_numel(index))
        return FXS_REFUSE(c, FXS_EINDEX, "dimension %d has no places to fill", dim);
    for (int64_t i = 0; i < n; i++) {
        int64_t k;
        FXS_TRY(index_in(c, index, i, dim, size_at(out, dim), true, &k));
        fxs_tensor to = slice_of(out, dim, k);
        for (int64_t e = 0, m = fxs_tensor_numel(&to); e < m; e++)
            put_one(&to, offset_at(to.ndim, to.sizes, to.strides, e, -1), SET, x);
    }
    return FXS_OK;
}

/* take(self, index): self counts as flat. */
static fxs_status infer_take(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 1);
    FXS_TRY(check_long(c, index));
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
static fxs_cost cost_index_add(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, 3)};
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
    {"take", "(Tensor self, Tensor index) -> Tensor", "torch.take Tensor.take", infer_take,
     run_take, NULL, PURE},
    {0},
};
#undef PURE
