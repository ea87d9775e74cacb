/* random.c: rand randn randint randperm, their _like forms, normal_ uniform_ bernoulli and the
 * other ways to fill a tensor with numbers drawn from the call's seed. The numbers are repeatable,
 * but not PyTorch's. */
#include <math.h>

#include "base/rng.h"
#include "kernels/complex.h"
#include "kernels/create.h"
#include "kernels/iterate.h"

static fxs_status check_float(fxs_call *c, fxs_dtype d) {
    FXS_TRY(fxs_check_computable(c, d));
    if (!fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    return FXS_OK;
}

static void fill_integers(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, double a, double b) {
    fxs_fill_integers(ctx, t, seed, (int64_t)a, (int64_t)b);
}

/* A contiguous tensor as a row of real numbers: two of each complex one. */
static fxs_tensor reals_of(const fxs_tensor *t) {
    fxs_tensor r = *t;
    if (!fxs_is_complex(t->dtype))
        return r;
    r.dtype = fxs_real_of(t->dtype);
    r.offset *= 2;
    r.ndim = 1;
    r.sizes[0] = 2 * fxs_tensor_numel(t);
    r.strides[0] = 1;
    return r;
}

fxs_status fxs_fill(fxs_call *c, fxs_tensor *t, fxs_fill_fn *fn, double a, double b) {
    fxs_tensor *own;
    if (fxs_tensor_is_contiguous(t)) {
        fxs_tensor reals = reals_of(t);
        fn(c->ctx, &reals, c->seed, a, b);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_new(c->ctx, t->dtype, t->ndim, t->sizes, &own));
    fxs_tensor reals = reals_of(own);
    fn(c->ctx, &reals, c->seed, a, b);
    fxs_tensor_copy(c->ctx, t, own);
    fxs_tensor_unref(own);
    return FXS_OK;
}

/* ---- new tensors
 * --------------------------------------------------------------------------------------- */

/* rand(size, dtype, ...) */
static fxs_status infer_sizes(fxs_call *c) {
    FXS_TRY(check_float(c, fxs_dtype_arg(c, 1, FXS_FLOAT32)));
    return fxs_out_sizes(c, 0, fxs_dtype_arg(c, 1, FXS_FLOAT32));
}
/* rand_like(self, dtype, memory_format, ...) */
static fxs_status infer_like(fxs_call *c) {
    FXS_TRY(check_float(c, fxs_dtype_arg(c, 1, fxs_arg_tensor(c, 0)->dtype)));
    return fxs_out_as(c, 1, 2);
}

static fxs_status run_rand(fxs_call *c) { return fxs_fill(c, c->out[0], fxs_fill_uniform, 0, 1); }
static fxs_status run_randn(fxs_call *c) { return fxs_fill(c, c->out[0], fxs_fill_normal, 0, 1); }

fxs_status fxs_check_draws(fxs_call *c, fxs_dtype d, int64_t low, int64_t high) {
    int bits = d == FXS_FLOAT16    ? 11
               : d == FXS_BFLOAT16 ? 8
               : d == FXS_FLOAT32  ? 24
               : d == FXS_FLOAT64  ? 53
                                   : (int)fxs_dtype_size(d) * 8 - (d != FXS_UINT8);
    double most = d == FXS_BOOL        ? 1
                  : d == FXS_FLOAT16   ? 65504
                  : fxs_is_floating(d) ? INFINITY
                                       : ldexp(1, bits) - 1;
    double least = d == FXS_BOOL || d == FXS_UINT8 ? 0 : -most - !fxs_is_floating(d);
    if (fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    if ((double)low < least || (double)low > most)
        return FXS_REFUSE(c, FXS_EINVAL, "from = %lld is out of bounds for torch.%s",
                          (long long)low, fxs_dtype_name(d));
    if (low < high && ((double)high - 1 < least || (double)high - 1 > most))
        return FXS_REFUSE(c, FXS_EINVAL, "to - 1 = %lld is out of bounds for torch.%s",
                          (long long)high - 1, fxs_dtype_name(d));
    return FXS_OK;
}

static fxs_status check_range(fxs_call *c, fxs_dtype d, int64_t low, int64_t high) {
    FXS_TRY(fxs_check_draws(c, d, low, high));
    if (low >= high)
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
            (long long)low, (long long)high);
    return FXS_OK;
}

/* randint(high, size, dtype) */
static fxs_status infer_randint(fxs_call *c) {
    FXS_TRY(check_range(c, fxs_dtype_arg(c, 2, FXS_INT64), 0, fxs_arg_int(c, 0)));
    return fxs_out_sizes(c, 1, fxs_dtype_arg(c, 2, FXS_INT64));
}
static fxs_status run_randint(fxs_call *c) {
    return fxs_fill(c, c->out[0], fill_integers, 0, (double)(fxs_arg_int(c, 0) - 1));
}

/* randint(low, high, size, dtype) */
static fxs_status infer_randint_from(fxs_call *c) {
    FXS_TRY(check_range(c, fxs_dtype_arg(c, 3, FXS_INT64), fxs_arg_int(c, 0), fxs_arg_int(c, 1)));
    return fxs_out_sizes(c, 2, fxs_dtype_arg(c, 3, FXS_INT64));
}
static fxs_status run_randint_from(fxs_call *c) {
    return fxs_fill(c, c->out[0], fill_integers, (double)fxs_arg_int(c, 0),
                    (double)(fxs_arg_int(c, 1) - 1));
}

/* randperm(n, dtype): each number of 0..n-1 once. */
static fxs_status infer_randperm(fxs_call *c) {
    int64_t n = fxs_arg_int(c, 0);
    if (n < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "n must be non-negative, got %lld", (long long)n);
    fxs_dtype d = fxs_dtype_arg(c, 1, FXS_INT64);
    if (d == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    FXS_TRY(fxs_check_computable(c, d));
    FXS_TRY(fxs_check_draws(c, d, 0, n > 0 ? n : 1));
    return fxs_out_new(c, fxs_dtype_arg(c, 1, FXS_INT64), 1, &n, NULL);
}

static fxs_status run_randperm(fxs_call *c) {
    fxs_tensor *t = c->out[0];
    int64_t n = t->sizes[0];
    size_t size = fxs_dtype_size(t->dtype);
    int64_t *order = FXS_SCRATCH(c->scratch, int64_t, (size_t)(n ? n : 1));
    if (!order)
        return fxs_fail_memory(c->ctx);
    for (int64_t i = 0; i < n; i++) { /* Fisher and Yates, growing */
        int64_t k = (int64_t)((double)fxs_random_unit(c->seed, (uint64_t)i) * (double)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
    for (int64_t i = 0; i < n; i++)
        fxs_store_int(t->dtype, (char *)fxs_tensor_data(t) + (size_t)i * size, order[i]);
    return FXS_OK;
}

/* bernoulli(self): each element is a probability. bernoulli(self, p): one for all. */
static bool has_no_p(const fxs_call *c) { return c->nargs < 2; }

static fxs_status infer_bernoulli(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, t->dtype));
    if (has_no_p(c) && !c->in_place)
        FXS_TRY(check_float(c, t->dtype));
    else if (has_no_p(c))
        return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL); /* 0.5 for all */
    else if (!(fxs_arg_float(c, 1) >= 0 && fxs_arg_float(c, 1) <= 1))
        return FXS_REFUSE(c, FXS_EINVAL, "expects p to be in [0, 1], but got p=%g",
                          fxs_arg_float(c, 1));
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
}

static fxs_status run_bernoulli(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_tensor *o = c->out[0];
    int64_t n = fxs_tensor_numel(t), size = (int64_t)fxs_dtype_size(t->dtype);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, put = 0;
        for (int k = t->ndim - 1; k >= 0; k--) {
            at += rest % t->sizes[k] * t->strides[k];
            put += rest % t->sizes[k] * o->strides[k];
            rest /= t->sizes[k];
        }
        double p = c->in_place && has_no_p(c) ? 0.5 : fxs_arg_float(c, 1);
        if (has_no_p(c) && !c->in_place)
            p = fxs_load_double(t->dtype, (const char *)fxs_tensor_data(t) + at * size);
        if (!(p >= 0 && p <= 1))
            return FXS_REFUSE(c, FXS_EINVAL, "expected p_in >= 0 && p_in <= 1, but got %g", p);
        double draw = (double)fxs_random_unit(c->seed, (uint64_t)i);
        fxs_store_double(o->dtype, (char *)fxs_tensor_data(o) + put * size, draw < p);
    }
    return FXS_OK;
}

/* ---- filling in place
 * ---------------------------------------------------------------------------------- */

static fxs_status infer_fill(fxs_call *c) {
    if (!fxs_is_complex(fxs_arg_tensor(c, 0)->dtype))
        FXS_TRY(check_float(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

/* uniform_(self, from, to) */
static fxs_status infer_uniform(fxs_call *c) {
    if (fxs_arg_float(c, 1) > fxs_arg_float(c, 2))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "expects to return a [from, to) range, but found from=%g > to=%g",
                          fxs_arg_float(c, 1), fxs_arg_float(c, 2));
    return infer_fill(c);
}

fxs_status fxs_check_std(fxs_call *c, int i) {
    double std = fxs_arg_float(c, i);
    return std >= 0 ? FXS_OK
                    : FXS_REFUSE(c, FXS_EINVAL, "expects std >= 0.0, but found std %g", std);
}

/* normal_(self, mean, std) */
static fxs_status infer_normal(fxs_call *c) {
    FXS_TRY(fxs_check_std(c, 2));
    return infer_fill(c);
}

static fxs_status run_uniform(fxs_call *c) {
    return fxs_fill(c, fxs_arg_tensor(c, 0), fxs_fill_uniform, fxs_arg_float(c, 1),
                    fxs_arg_float(c, 2));
}
static fxs_status run_normal(fxs_call *c) {
    return fxs_fill(c, fxs_arg_tensor(c, 0), fxs_fill_normal, fxs_arg_float(c, 1),
                    fxs_arg_float(c, 2));
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD | FXS_OP_RANDOM)
#define WRITES (FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_RANDOM)
#define REST                                                                                       \
    "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False) " \
    "-> Tensor"
#define OPTIONS "*, dtype? dtype=None, " REST
#define LIKE "*, dtype? dtype=None, memory_format? memory_format=None, " REST

const fxs_op fxs_ops_random[] = {
    {"rand", "(int... size, " OPTIONS, "torch.rand", infer_sizes, run_rand, NULL,
     PURE | FXS_OP_COMPLEX},
    {"randn", "(int... size, " OPTIONS, "torch.randn", infer_sizes, run_randn, NULL,
     PURE | FXS_OP_COMPLEX},
    {"rand_like", "(Tensor self, " LIKE, "torch.rand_like", infer_like, run_rand, NULL,
     PURE | FXS_OP_COMPLEX},
    {"randn_like", "(Tensor self, " LIKE, "torch.randn_like", infer_like, run_randn, NULL,
     PURE | FXS_OP_COMPLEX},
    {"randint", "(int high, int[] size, " OPTIONS, "torch.randint", infer_randint, run_randint,
     NULL, PURE},
    {"randint", "(int low, int high, int[] size, " OPTIONS, "torch.randint", infer_randint_from,
     run_randint_from, NULL, PURE},
    {"randperm", "(int n, " OPTIONS, "torch.randperm", infer_randperm, run_randperm, NULL, PURE},
    {"bernoulli", "(Tensor self, float p) -> Tensor", "torch.bernoulli Tensor.bernoulli",
     infer_bernoulli, run_bernoulli, NULL, FXS_OP_RANDOM | FXS_OP_NO_GRAD},
    {"bernoulli", "(Tensor self) -> Tensor", "torch.bernoulli Tensor.bernoulli", infer_bernoulli,
     run_bernoulli, NULL, FXS_OP_RANDOM},
    {"uniform_", "(Tensor self, float from=0, float to=1) -> Tensor", "Tensor.uniform_",
     infer_uniform, run_uniform, NULL, WRITES | FXS_OP_COMPLEX},
    {"normal_", "(Tensor self, float mean=0, float std=1) -> Tensor", "Tensor.normal_",
     infer_normal, run_normal, NULL, WRITES | FXS_OP_COMPLEX},
    {0},
};
#undef PURE
#undef WRITES
#undef REST
#undef OPTIONS
#undef LIKE
