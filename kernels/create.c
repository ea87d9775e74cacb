/* create.c: zeros ones full empty arange linspace eye tensor scalar_tensor and their _like and new_
 * forms: tensors from sizes and numbers. Random ones are in random.c. Devices and pinning mean
 * nothing here and are taken as they come. */
#include "kernels/create.h"
#include "kernels/work.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/format.h"
#include "kernels/iterate.h"
#include "kernels/python.h"

fxs_dtype fxs_dtype_arg(const fxs_call *c, int i, fxs_dtype otherwise) {
    return c->arg[i].tag == FXS_V_DTYPE ? c->arg[i].u.dtype : otherwise;
}

fxs_status fxs_out_sizes(fxs_call *c, int i, fxs_dtype d) {
    int64_t sizes[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, i, sizes, FXS_MAX_DIM);
    FXS_TRY(fxs_check_computable(c, d));
    return fxs_out_new(c, d, n, sizes, NULL);
}

fxs_status fxs_out_as(fxs_call *c, int dtype_at, int format_at) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_memory_format f =
        c->arg[format_at].tag == FXS_V_MEMORY_FORMAT ? c->arg[format_at].u.format : FXS_PRESERVE;
    FXS_TRY(fxs_check_computable(c, fxs_dtype_arg(c, dtype_at, t->dtype)));
    return fxs_out_formatted(c, t, fxs_dtype_arg(c, dtype_at, t->dtype), f);
}

void fxs_fill_tensor(fxs_call *c, fxs_tensor *t, const fxs_value *v) {
    fxs_tensor one = {.ndim = t->ndim};
    int64_t at = t->offset;
    if (fxs_tensor_numel(t) == 0 ||
        !fxs_store_value(t->dtype,
                         (char *)t->storage->data + at * (int64_t)fxs_dtype_size(t->dtype), v))
        return;
    memcpy(one.sizes, t->sizes, sizeof one.sizes); /* the first element, stretched over all */
    one.dtype = t->dtype;
    one.storage = t->storage;
    one.offset = at;
    fxs_tensor_copy(c->ctx, t, &one);
}

static const fxs_value zero = {.tag = FXS_V_INT}, one = {.tag = FXS_V_INT, .u.i = 1};

/* ---- sizes first
 * --------------------------------------------------------------------------------------- */

/* zeros(size, dtype, ...) */
static fxs_status infer_sizes(fxs_call *c) {
    return fxs_out_sizes(c, 0, fxs_dtype_arg(c, 1, FXS_FLOAT32));
}

/* empty(size, dtype, memory_format, ...) */
static fxs_status infer_empty(fxs_call *c) {
    FXS_TRY(infer_sizes(c));
    fxs_tensor *t = c->out[0];
    if (c->arg[2].tag != FXS_V_MEMORY_FORMAT)
        return FXS_OK;
    if (c->arg[2].u.format == FXS_PRESERVE)
        return FXS_REFUSE(c, FXS_EINVAL, "unsupported memory format: preserve_format");
    return fxs_format_strides(c, c->arg[2].u.format, t->ndim, t->sizes, t->strides);
}

/* full(size, fill_value, dtype): the value's type when none is given. */
static fxs_status infer_full(fxs_call *c) {
    fxs_operands value = fxs_operands_of(c, 1, 1);
    fxs_dtype d = fxs_dtype_arg(c, 2, fxs_common_type(&value));
    FXS_TRY(fxs_check_fits(c, 1, d));
    return fxs_out_sizes(c, 0, d);
}

static fxs_status run_zeros(fxs_call *c) {
    fxs_fill_tensor(c, c->out[0], &zero);
    return FXS_OK;
}

static fxs_status run_ones(fxs_call *c) {
    fxs_fill_tensor(c, c->out[0], &one);
    return FXS_OK;
}

/* full(size, fill_value), full_like(self, fill_value) */
static fxs_status run_full(fxs_call *c) {
    fxs_fill_tensor(c, c->out[0], &c->arg[1]);
    return FXS_OK;
}

/* ---- as another tensor
 * --------------------------------------------------------------------------------- */

/* zeros_like(self, dtype, memory_format, ...) */
static fxs_status infer_like(fxs_call *c) { return fxs_out_as(c, 1, 2); }
/* full_like(self, fill_value, dtype, memory_format, ...) */
static fxs_status infer_full_like(fxs_call *c) {
    FXS_TRY(fxs_check_fits(c, 1, fxs_dtype_arg(c, 2, fxs_arg_tensor(c, 0)->dtype)));
    return fxs_out_as(c, 2, 3);
}
/* new_zeros(self, size, dtype, ...) */
static fxs_status infer_new(fxs_call *c) {
    return fxs_out_sizes(c, 1, fxs_dtype_arg(c, 2, fxs_arg_tensor(c, 0)->dtype));
}
/* new(self, size) */
static fxs_status infer_new_sizes(fxs_call *c) {
    return fxs_out_sizes(c, 1, fxs_arg_tensor(c, 0)->dtype);
}
/* new_full(self, size, fill_value, dtype, ...) */
static fxs_status infer_new_full(fxs_call *c) {
    fxs_dtype d = fxs_dtype_arg(c, 3, fxs_arg_tensor(c, 0)->dtype);
    FXS_TRY(fxs_check_fits(c, 2, d));
    return fxs_out_sizes(c, 1, d);
}

static fxs_status run_new_full(fxs_call *c) {
    fxs_fill_tensor(c, c->out[0], &c->arg[2]);
    return FXS_OK;
}

/* Storage that nobody filled would make runs differ: empty tensors are zero here. */
#define run_empty run_zeros

/* ---- ranges
 * -------------------------------------------------------------------------------------------- */

/* start, end, step of arange's overloads: (end), (start, end), (start, end, step). */
typedef struct range {
    fxs_number start, end, step;
    fxs_dtype dtype;
    int64_t count;
    bool imaginary; /* a number is complex, and not real */
} range;

static fxs_status finish_range(fxs_call *c, range *r, int dtype_at) {
    bool real = r->start.real || r->end.real || r->step.real;
    r->dtype = fxs_dtype_arg(c, dtype_at, real ? FXS_FLOAT32 : FXS_INT64);
    if (!fxs_is_computable(r->dtype) || r->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(r->dtype));
    if (r->imaginary && !fxs_is_complex(r->dtype) && !fxs_is_floating(r->dtype))
        return FXS_REFUSE(c, FXS_EINVAL, "a complex number is none of torch.%s",
                          fxs_dtype_name(r->dtype));
    if (!(fabs(r->start.f) < 0x1p63) || !(fabs(r->end.f) < 0x1p63) || !(fabs(r->step.f) < 0x1p63))
        return FXS_REFUSE(c, FXS_EINVAL, "unsupported range: %g -> %g", r->start.f, r->end.f);
    if (r->dtype == FXS_INT64) /* the end too */
        r->start.f = trunc(r->start.f), r->end.f = trunc(r->end.f), r->step.f = trunc(r->step.f);
    if (!fxs_is_floating(r->dtype)) { /* integers count in whole steps */
        r->start.i = r->start.real ? (int64_t)r->start.f : r->start.i;
        r->step.i = r->step.real ? (int64_t)r->step.f : r->step.i;
    }
    if (r->step.f == 0 || (!fxs_is_floating(r->dtype) && r->step.i == 0))
        return FXS_REFUSE(c, FXS_EINVAL, "step must be nonzero");
    if ((r->step.f > 0) != (r->end.f >= r->start.f) && r->end.f != r->start.f)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "upper bound and larger bound inconsistent with step sign");
    double count = ceil((r->end.f - r->start.f) / r->step.f);
    if (!(count < 0x1p62))
        return FXS_REFUSE(c, FXS_ELIMIT, "invalid size, possible overflow?");
    r->count = (int64_t)count;
    return FXS_OK;
}

static fxs_number number_at(const fxs_call *c, int i) {
    fxs_number n = {0};
    fxs_number_of(&c->arg[i], &n);
    return n;
}

static const fxs_number none = {0}, unit = {.i = 1, .f = 1};

static fxs_status read_to(fxs_call *c, range *r) {
    *r = (range){.start = none, .end = number_at(c, 0), .step = unit};
    r->imaginary = c->arg[0].tag == FXS_V_COMPLEX && c->arg[0].u.c[1] != 0;
    return finish_range(c, r, 1);
}
static fxs_status read_from_to(fxs_call *c, range *r) {
    *r = (range){.start = number_at(c, 0), .end = number_at(c, 1), .step = number_at(c, 2)};
    for (int i = 0; i < 3; i++)
        r->imaginary |= c->arg[i].tag == FXS_V_COMPLEX && c->arg[i].u.c[1] != 0;
    return finish_range(c, r, 3);
}

static fxs_status out_range(fxs_call *c, const range *r) {
    return fxs_out_new(c, r->dtype, 1, &r->count, NULL);
}

static fxs_status infer_arange(fxs_call *c) {
    range r;
    FXS_TRY(read_to(c, &r));
    return out_range(c, &r);
}
static fxs_status infer_arange_from(fxs_call *c) {
    range r;
    FXS_TRY(read_from_to(c, &r));
    return out_range(c, &r);
}

static char *nth(const fxs_tensor *t, int64_t i) {
    return (char *)fxs_tensor_data(t) + i * (int64_t)fxs_dtype_size(t->dtype);
}

static void fill_range(fxs_tensor *t, const range *r) {
    bool whole = !fxs_is_floating(t->dtype);
    for (int64_t i = 0; i < r->count; i++) {
        if (whole)
            fxs_store_int(t->dtype, nth(t, i),
                          (int64_t)((uint64_t)r->start.i + (uint64_t)i * (uint64_t)r->step.i));
        else
            fxs_store_double(t->dtype, nth(t, i), r->start.f + (double)i * r->step.f);
    }
}

static fxs_status run_arange(fxs_call *c) {
    range r;
    FXS_TRY(read_to(c, &r));
    fill_range(c->out[0], &r);
    return FXS_OK;
}
static fxs_status run_arange_from(fxs_call *c) {
    range r;
    FXS_TRY(read_from_to(c, &r));
    fill_range(c->out[0], &r);
    return FXS_OK;
}

/* linspace(start, end, steps, dtype): both ends are in; counted from the nearer end, as PyTorch
 * rounds. */
static fxs_status infer_linspace(fxs_call *c) {
    int64_t steps = fxs_arg_int(c, 2);
    fxs_dtype d = fxs_dtype_arg(c, 3, FXS_FLOAT32);
    if (steps < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "number of steps must be non-negative");
    FXS_TRY(fxs_check_computable(c, d));
    if (d == FXS_BOOL && steps > 1)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    for (int i = 0; i < 2 && i < steps; i++)
        FXS_TRY(fxs_check_fits(c, i, d));
    return fxs_out_new(c, d, 1, &steps, NULL);
}

static fxs_status run_linspace(fxs_call *c) {
    fxs_tensor *t = c->out[0];
    int64_t n = t->sizes[0];
    double start = fxs_arg_float(c, 0), end = fxs_arg_float(c, 1);
    if (fxs_is_integral(t->dtype) || t->dtype == FXS_BOOL) /* integers count from whole ends */
        start = trunc(start), end = trunc(end);
    if (t->dtype == FXS_UINT8) /* an end below 0 wraps around before steps are counted */
        start = (uint8_t)(int64_t)start, end = (uint8_t)(int64_t)end;
    double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        fxs_store_double(t->dtype, nth(t, i),
                         i < n / 2 || n == 1 ? start + step * (double)i
                                             : end - step * (double)(n - 1 - i));
    return FXS_OK;
}

/* eye(n, m, dtype) */
static fxs_status infer_eye(fxs_call *c) {
    int64_t n = fxs_arg_int(c, 0), m = fxs_arg_is_none(c, 1) ? n : fxs_arg_int(c, 1);
    if (n < 0 || m < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "n and m must be greater or equal to 0, got %lld and %lld",
                          (long long)n, (long long)m);
    FXS_TRY(fxs_check_computable(c, fxs_dtype_arg(c, 2, FXS_FLOAT32)));
    return fxs_out_new(c, fxs_dtype_arg(c, 2, FXS_FLOAT32), 2, (int64_t[]){n, m}, NULL);
}

static fxs_status run_eye(fxs_call *c) {
    fxs_tensor diagonal = *c->out[0];
    fxs_fill_tensor(c, c->out[0], &zero);
    diagonal.ndim = 1;
    diagonal.sizes[0] =
        diagonal.sizes[0] < diagonal.sizes[1] ? diagonal.sizes[0] : diagonal.sizes[1];
    diagonal.strides[0] = diagonal.strides[0] + diagonal.strides[1];
    fxs_fill_tensor(c, &diagonal, &one);
    return FXS_OK;
}

/* ---- filling in place
 * ---------------------------------------------------------------------------------- */

static fxs_status infer_write(fxs_call *c) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static fxs_status infer_fill(fxs_call *c) {
    const fxs_tensor *v = fxs_arg_tensor(c, 1);
    if (v && v->ndim)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "only supports 0-dimension value tensor but got tensor with %d dimensions", v->ndim);
    FXS_TRY(infer_write(c));
    return fxs_check_fits(c, 1, c->out[0]->dtype);
}

/* copy_(self, src): src is stretched to self. */
static fxs_status stretched_source(fxs_call *c, fxs_tensor *out) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *src = fxs_arg_tensor(c, 1);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int pad = self->ndim - src->ndim;
    *out = *src;
    out->ndim = self->ndim;
    for (int i = self->ndim - 1; i >= 0 || pad < 0; i--) {
        int64_t size = i < pad ? 1 : src->sizes[i - pad];
        if (pad < 0 || (size != 1 && size != self->sizes[i]))
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "the source of shape %s can't be broadcast to shape %s",
                              fxs_sizes_text(src, b), fxs_sizes_text(self, a));
        out->sizes[i] = self->sizes[i];
        out->strides[i] = size != self->sizes[i] || i < pad ? 0 : src->strides[i - pad];
    }
    return FXS_OK;
}

static fxs_status infer_copy(fxs_call *c) {
    fxs_tensor src;
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 1)->dtype));
    FXS_TRY(stretched_source(c, &src));
    FXS_TRY(infer_write(c));
    const fxs_tensor *t = c->out[0];
    for (int i = 0; fxs_tensor_numel(t) && i < t->ndim; i++)
        if (t->sizes[i] > 1 && t->strides[i] == 0)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "several elements of the tensor to write are one place in memory");
    return FXS_OK;
}

static fxs_status run_copy(fxs_call *c) {
    fxs_tensor *self = fxs_arg_tensor(c, 0), src, *own;
    FXS_TRY(stretched_source(c, &src));
    if (src.storage != self->storage) {
        fxs_tensor_copy(c->ctx, self, &src);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_new(c->ctx, src.dtype, src.ndim, src.sizes,
                           &own)); /* may overlap: read all before writing */
    fxs_tensor_copy(c->ctx, own, &src);
    fxs_tensor_copy(c->ctx, self, own);
    fxs_tensor_unref(own);
    return FXS_OK;
}

/* copy_ of a number: of a tensor without dimensions that holds it. */
static fxs_status of_number(fxs_call *c, fxs_kernel_fn *copy) {
    fxs_value given = c->arg[1];
    bool complex = given.tag == FXS_V_COMPLEX;
    double pair[2] = {complex ? given.u.c[0] : fxs_arg_float(c, 1), complex ? given.u.c[1] : 0};
    fxs_dtype d = complex ? FXS_COMPLEX128 : given.tag == FXS_V_FLOAT ? FXS_FLOAT64 : FXS_INT64;
    fxs_tensor *src;
    FXS_TRY(fxs_tensor_new(c->ctx, d, 0, NULL, &src));
    if (d == FXS_INT64)
        *(int64_t *)fxs_tensor_data(src) = fxs_arg_int(c, 1);
    else
        fxs_store_pair(d, fxs_tensor_data(src), pair);
    const fxs_value *args = c->arg, both[] = {args[0], fxs_of_tensor(src)};
    c->arg = both;
    fxs_status s = copy(c);
    c->arg = args;
    fxs_tensor_unref(src);
    return s;
}

static fxs_status infer_copy_number(fxs_call *c) { return of_number(c, infer_copy); }
static fxs_status run_copy_number(fxs_call *c) { return of_number(c, run_copy); }

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD | FXS_OP_COMPLEX)
#define WRITES (FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_COMPLEX)
#define REST                                                                                       \
    "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False) " \
    "-> Tensor"
#define OPTIONS "*, dtype? dtype=None, " REST
#define LIKE "*, dtype? dtype=None, memory_format? memory_format=None, " REST

const fxs_op fxs_ops_create[] = {
    {"zeros", "(int... size, " OPTIONS, "torch.zeros", infer_sizes, run_zeros, NULL, PURE},
    {"ones", "(int... size, " OPTIONS, "torch.ones", infer_sizes, run_ones, NULL, PURE},
    {"empty", "(int... size, *, dtype? dtype=None, memory_format? memory_format=None, " REST,
     "torch.empty", infer_empty, run_empty, NULL, PURE},
    {"full", "(int[] size, Scalar fill_value, " OPTIONS, "torch.full", infer_full, run_full, NULL,
     PURE},
    {"zeros_like", "(Tensor self, " LIKE, "torch.zeros_like", infer_like, run_zeros, NULL, PURE},
    {"ones_like", "(Tensor self, " LIKE, "torch.ones_like", infer_like, run_ones, NULL, PURE},
    {"empty_like", "(Tensor self, " LIKE, "torch.empty_like", infer_like, run_empty, NULL, PURE},
    {"full_like", "(Tensor self, Scalar fill_value, " LIKE, "torch.full_like", infer_full_like,
     run_full, NULL, PURE},
    {"new_zeros", "(Tensor self, int... size, " OPTIONS, "Tensor.new_zeros", infer_new, run_zeros,
     NULL, PURE},
    {"new_ones", "(Tensor self, int... size, " OPTIONS, "Tensor.new_ones", infer_new, run_ones,
     NULL, PURE},
    {"new_empty", "(Tensor self, int... size, " OPTIONS, "Tensor.new_empty", infer_new, run_empty,
     NULL, PURE},
    {"new_empty", "(Tensor self, int... size, *, device? device=None) -> Tensor", "Tensor.new",
     infer_new_sizes, run_empty, NULL, PURE},
    {"new_full", "(Tensor self, int[] size, Scalar fill_value, " OPTIONS, "Tensor.new_full",
     infer_new_full, run_new_full, NULL, PURE},
    {"arange", "(Scalar end, " OPTIONS, "torch.arange", infer_arange, run_arange, NULL, PURE},
    {"arange", "(Scalar start, Scalar end, Scalar step=1, " OPTIONS, "torch.arange",
     infer_arange_from, run_arange_from, NULL, PURE},
    {"linspace", "(Scalar start, Scalar end, int steps, " OPTIONS, "torch.linspace", infer_linspace,
     run_linspace, NULL, PURE},
    {"eye", "(int n, int m=None, " OPTIONS, "torch.eye", infer_eye, run_eye, NULL, PURE},
    {"fill_", "(Tensor self, Tensor|Scalar value) -> Tensor", "Tensor.fill_ torch.fill_",
     infer_fill, run_full, NULL, WRITES},
    {"zero_", "(Tensor self) -> Tensor", "Tensor.zero_ torch.zero_", infer_write, run_zeros, NULL,
     WRITES},
    {"copy_", "(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", "Tensor.copy_",
     infer_copy, run_copy, NULL, WRITES},
    {"copy_", "(Tensor self, Scalar src, bool non_blocking=False) -> Tensor", "Tensor.copy_",
     infer_copy_number, run_copy_number, NULL, WRITES},
    {0},
};
#undef PURE
#undef WRITES
#undef REST
#undef OPTIONS
#undef LIKE
#undef run_empty
