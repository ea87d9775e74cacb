/* random_draw.c: drawing from given weights and ranges: multinomial random_ randint_like normal (of
 * tensors) exponential_. The numbers are repeatable, but not PyTorch's. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

/* ---- multinomial(self, num_samples, replacement)
 * --------------------------------------------------------------- */

static fxs_status infer_multinomial(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t n = fxs_arg_int(c, 1), sizes[2];
    FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS));
    if (t->ndim != 1 && t->ndim != 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "prob_dist must be 1 or 2 dim, but has %d", t->ndim);
    if (n <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "cannot sample n_sample <= 0 samples");
    if (!fxs_arg_bool(c, 2) && n > t->sizes[t->ndim - 1])
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    sizes[0] = t->sizes[0];
    sizes[t->ndim - 1] = n;
    return fxs_out_new(c, FXS_INT64, t->ndim, sizes, NULL);
}

/* A place of the running sum of n weights. */
static int64_t draw(const double *weights, int64_t n, double total, double at) {
    double sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += weights[i];
        if (weights[i] > 0)
            last = i;
        if (weights[i] > 0 && sum > at * total)
            return i;
    }
    return last;
}

static fxs_status draw_row(fxs_call *c, double *weights, int64_t n, int64_t samples, uint64_t seed,
                           int64_t *out) {
    double total = 0;
    int64_t positive = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return FXS_REFUSE(c, FXS_EINVAL,
                              "probability tensor contains either inf, nan or element < 0");
        total += weights[i];
        positive += weights[i] > 0;
    }
    if (positive == 0 || (!fxs_arg_bool(c, 2) && positive < samples))
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "invalid multinomial distribution: %lld probabilities above 0, %lld samples",
            (long long)positive, (long long)samples);
    for (int64_t k = 0; k < samples; k++) {
        out[k] = draw(weights, n, total, (double)fxs_random_unit(seed, (uint64_t)k));
        if (!fxs_arg_bool(c, 2)) {
            total -= weights[out[k]];
            weights[out[k]] = 0;
        }
    }
    return FXS_OK;
}

static fxs_status run_multinomial(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_work w = fxs_work_begin(c, t->dtype);
    const char *x = fxs_work_data(&w, t);
    int64_t n = t->sizes[t->ndim - 1], rows = t->ndim == 2 ? t->sizes[0] : 1,
            samples = fxs_arg_int(c, 1);
    double *weights = fxs_work_scratch(&w, n, sizeof *weights);
    for (int64_t r = 0; w.status == FXS_OK && r < rows; r++) {
        for (int64_t i = 0; i < n; i++)
            weights[i] =
                fxs_load_double(w.dtype, x + (size_t)(r * n + i) * fxs_dtype_size(w.dtype));
        w.status = draw_row(c, weights, n, samples, c->seed + (uint64_t)r,
                            (int64_t *)fxs_tensor_data(c->out[0]) + r * samples);
    }
    return fxs_work_end(&w);
}

/* ---- whole numbers
 * ------------------------------------------------------------------------------------------------
 */

/* What a type can hold: all of 0 to 2^mantissa for floats. */
static double most_of(fxs_dtype d) {
    switch (d) {
    case FXS_BOOL:
        return 1;
    case FXS_UINT8:
        return 255;
    case FXS_INT8:
        return 127;
    case FXS_INT16:
        return 32767;
    case FXS_FLOAT16:
        return 2048;
    case FXS_BFLOAT16:
        return 256;
    case FXS_FLOAT32:
        return 16777216;
    case FXS_INT32:
        return 2147483647;
    default:
        return 0x1p53;
    }
}

static fxs_status fill(fxs_call *c, fxs_tensor *t, double low, double high) {
    fxs_tensor *own;
    FXS_TRY(fxs_tensor_new(c->ctx, t->dtype, t->ndim, t->sizes, &own));
    fxs_fill_integers(c->ctx, own, c->seed, (int64_t)low, (int64_t)high);
    fxs_tensor_copy(c->ctx, t, own);
    fxs_tensor_unref(own);
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

/* random_(self), random_(self, to), random_(self, from, to) */
static fxs_status infer_random(fxs_call *c) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    if (c->nargs > 2) /* the last argument is the generator */
        FXS_TRY(check_range(c, fxs_arg_tensor(c, 0)->dtype, c->nargs > 3 ? fxs_arg_int(c, 1) : 0,
                            fxs_arg_int(c, c->nargs - 2)));
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static fxs_status run_random(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    double low = c->nargs > 3 ? (double)fxs_arg_int(c, 1) : 0;
    return fill(c, t, low,
                c->nargs > 2 ? (double)fxs_arg_int(c, c->nargs - 2) - 1 : most_of(t->dtype));
}

/* randint_like(self, high, dtype, memory_format, ...) and with low before high */
static fxs_status infer_randint_like(fxs_call *c) {
    FXS_TRY(check_range(c, fxs_dtype_arg(c, 2, fxs_arg_tensor(c, 0)->dtype), 0, fxs_arg_int(c, 1)));
    return fxs_out_as(c, 2, 3);
}
static fxs_status run_randint_like(fxs_call *c) {
    return fill(c, c->out[0], 0, (double)fxs_arg_int(c, 1) - 1);
}

static fxs_status infer_randint_like_from(fxs_call *c) {
    FXS_TRY(check_range(c, fxs_dtype_arg(c, 3, fxs_arg_tensor(c, 0)->dtype), fxs_arg_int(c, 1),
                        fxs_arg_int(c, 2)));
    return fxs_out_as(c, 3, 4);
}
static fxs_status run_randint_like_from(fxs_call *c) {
    return fill(c, c->out[0], (double)fxs_arg_int(c, 1), (double)fxs_arg_int(c, 2) - 1);
}

/* ---- normal
 * -------------------------------------------------------------------------------------------------------
 */

/* normal(mean, std): one number for each pair, of which either may be one for all */
static fxs_status infer_normal(fxs_call *c) {
    fxs_operands o = {0};
    for (int i = 0; i < 2; i++)
        if (c->arg[i].tag == FXS_V_TENSOR)
            o.v[o.n++] = c->arg[i];
    fxs_dtype d = o.v[0].u.tensor->dtype;
    const fxs_tensor *std = fxs_arg_tensor(c, 1);
    if (std && fxs_is_complex(std->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "expects the standard deviation to be no complex number");
    if (!fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    if (!std)
        FXS_TRY(fxs_check_std(c, 1));
    for (int i = 0; i < 2 && fxs_is_complex(d); i++)
        if (c->arg[i].tag == FXS_V_TENSOR)
            FXS_TRY(fxs_check_no_grad(c, i, i == 0 ? "mean" : "std"));
    int ndim = 0;
    int64_t sizes[FXS_MAX_DIM];
    FXS_TRY(fxs_broadcast(c, &o, &ndim, sizes));
    return fxs_out_new(c, d, ndim, sizes, NULL);
}

/* Of the argument for one element, its real part or its imaginary one. */
static double parameter(const fxs_call *c, int i, const fxs_tensor *out, int64_t position,
                        int part) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    int64_t at = 0;
    if (!t)
        return part ? 0 : fxs_arg_float(c, i);
    for (int k = out->ndim - 1; k >= 0; k--) {
        int own = k - (out->ndim - t->ndim);
        if (own >= 0 && t->sizes[own] != 1)
            at += position % out->sizes[k] * t->strides[own];
        position /= out->sizes[k];
    }
    double z[2];
    fxs_load_pair(t->dtype,
                  (const char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype), z);
    return z[part];
}

static fxs_status run_normal(fxs_call *c) {
    fxs_tensor *out = c->out[0];
    for (int64_t i = 0, n = fxs_tensor_numel(out); i < n; i++) {
        double std = parameter(c, 1, out, i, 0), z[2];
        if (!(std >= 0))
            return FXS_REFUSE(c, FXS_EINVAL, "expects all elements of std >= 0.0, but found %g",
                              std);
        /* of a complex number both parts share the deviation */
        for (int part = 0; part < 2; part++)
            z[part] = parameter(c, 0, out, i, part) +
                      (fxs_is_complex(out->dtype) ? std * M_SQRT1_2 : std) *
                          fxs_random_normal(c->seed, (uint64_t)(part ? n + i : i));
        fxs_store_pair(out->dtype,
                       (char *)fxs_tensor_data(out) + (size_t)i * fxs_dtype_size(out->dtype), z);
    }
    return FXS_OK;
}

/* normal(mean, std, size, dtype, ...) */
static fxs_status infer_normal_sizes(fxs_call *c) {
    fxs_dtype d = fxs_dtype_arg(c, 3, FXS_FLOAT32);
    if (!fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    FXS_TRY(fxs_check_std(c, 1));
    return fxs_out_sizes(c, 2, d);
}
static fxs_status run_normal_sizes(fxs_call *c) {
    return fxs_fill(c, c->out[0], fxs_fill_normal, fxs_arg_float(c, 0), fxs_arg_float(c, 1));
}

/* exponential_(self, lambd) */
static fxs_status infer_exponential(fxs_call *c) {
    FXS_TRY(fxs_check_dtype(c, fxs_arg_tensor(c, 0), FXS_TAKES_FLOATS));
    if (!(fxs_arg_float(c, 1) >= 0)) /* nor NaN */
        return FXS_REFUSE(c, FXS_EINVAL, "expects lambda >= 0.0, but found lambda=%g",
                          fxs_arg_float(c, 1));
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static fxs_status run_exponential(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *own;
    FXS_TRY(fxs_tensor_new(c->ctx, t->dtype, t->ndim, t->sizes, &own));
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++)
        fxs_store_double(
            t->dtype, (char *)fxs_tensor_data(own) + (size_t)i * fxs_dtype_size(t->dtype),
            -log1p(-(double)fxs_random_unit(c->seed, (uint64_t)i)) / fxs_arg_float(c, 1));
    fxs_tensor_copy(c->ctx, t, own);
    fxs_tensor_unref(own);
    return FXS_OK;
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD | FXS_OP_RANDOM)
#define WRITES (FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_RANDOM)
#define REST                                                                                       \
    "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False) " \
    "-> Tensor"
#define LIKE "*, dtype? dtype=None, memory_format? memory_format=None, " REST
#define GENERATOR "*, any generator=None) -> Tensor"

const fxs_op fxs_ops_random_draw[] = {
    {"multinomial", "(Tensor self, int num_samples, bool replacement=False, " GENERATOR,
     "torch.multinomial Tensor.multinomial", infer_multinomial, run_multinomial, NULL, PURE},
    {"random_", "(Tensor self, " GENERATOR, "Tensor.random_", infer_random, run_random, NULL,
     WRITES},
    {"random_", "(Tensor self, int to, " GENERATOR, "Tensor.random_", infer_random, run_random,
     NULL, WRITES},
    {"random_", "(Tensor self, int from, int to, " GENERATOR, "Tensor.random_", infer_random,
     run_random, NULL, WRITES},
    {"randint_like", "(Tensor self, int high, " LIKE, "torch.randint_like", infer_randint_like,
     run_randint_like, NULL, PURE},
    {"randint_like", "(Tensor self, int low, int high, " LIKE, "torch.randint_like",
     infer_randint_like_from, run_randint_like_from, NULL, PURE},
    {"normal", "(Tensor mean, Tensor|float std=1.0, " GENERATOR, "torch.normal", infer_normal,
     run_normal, NULL, FXS_OP_NO_INPLACE | FXS_OP_RANDOM | FXS_OP_COMPLEX},
    {"normal", "(float mean, Tensor std, " GENERATOR, "torch.normal", infer_normal, run_normal,
     NULL, FXS_OP_NO_INPLACE | FXS_OP_RANDOM},
    {"normal", "(float mean, float std, int[] size, *, dtype? dtype=None, " REST, "torch.normal",
     infer_normal_sizes, run_normal_sizes, NULL, PURE | FXS_OP_COMPLEX},
    {"exponential_", "(Tensor self, float lambd=1, " GENERATOR, "Tensor.exponential_",
     infer_exponential, run_exponential, NULL, WRITES},
    {0},
};
#undef PURE
#undef WRITES
#undef REST
#undef LIKE
#undef GENERATOR
