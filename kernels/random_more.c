/* random_more.c: numbers drawn from distributions with a shape of their own: poisson binomial
 * cauchy_ geometric_ log_normal_. The numbers are repeatable, but not PyTorch's. */
#include <math.h>

#include "base/rng.h"
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

/* The draws of one element: as many as it needs, the same whoever makes them. */
typedef struct draws {
    uint64_t seed, next;
} draws;

static draws draws_of(uint64_t seed, int64_t element) {
    return (draws){.seed = seed + 0x9e3779b97f4a7c15u * ((uint64_t)element + 1)};
}

/* In (0, 1), in steps of 2^-48. */
static double unit(draws *d) {
    double high = (double)fxs_random_unit(d->seed, d->next++);
    double low = (double)fxs_random_unit(d->seed, d->next++);
    return high + (low + 0x1p-25) * 0x1p-24;
}

/* ---- poisson(self)
 * -------------------------------------------------------------------------------------------------
 */

/* log(k!) */
static double log_factorial(double k) { return lgamma(k + 1); }

/* Multiplies until the product is below exp(-rate). */
static double few_events(draws *d, double rate) {
    double floor_ = exp(-rate), product = unit(d), k = 0;
    while (product > floor_) {
        product *= unit(d);
        k++;
    }
    return k;
}

/* Hörmann's transformed rejection with squeeze. */
static double many_events(draws *d, double rate) {
    double root = sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = unit(d) - 0.5, v = unit(d), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b) <=
            k * log(rate) - rate - log_factorial(k))
            return k;
    }
}

static fxs_status infer_poisson(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS));
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
}

static fxs_status run_poisson(fxs_call *c) {
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64);
    const double *rate = fxs_work_data(&w, fxs_arg_tensor(c, 0));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    for (int64_t i = 0, n = out ? fxs_tensor_numel(out) : 0; w.status == FXS_OK && i < n; i++) {
        draws d = draws_of(c->seed, i);
        if (!(rate[i] >= 0))
            w.status = FXS_REFUSE(c, FXS_EINVAL,
                                  "rates must be non-negative (invalid Poisson rate %g)", rate[i]);
        else
            ((double *)fxs_tensor_data(out))[i] = rate[i] < 10     ? few_events(&d, rate[i])
                                                  : isinf(rate[i]) ? rate[i]
                                                                   : many_events(&d, rate[i]);
    }
    return fxs_work_end(&w);
}

/* ---- binomial(count, prob)
 * ------------------------------------------------------------------------------------------- */

/* Jumps from success to success. */
static double few_successes(draws *d, double n, double p) {
    double sum = 0, count = 0;
    for (;;) {
        sum += ceil(log(unit(d)) / log1p(-p));
        if (sum > n)
            return count;
        count++;
    }
}

/* The part of Stirling's series that log(k!) has beyond its leading terms. */
static double stirling_rest(double k) {
    return log_factorial(k) - (0.5 * log(2 * M_PI) + (k + 0.5) * log(k + 1) - (k + 1));
}

/* Hörmann's transformed rejection, for p of at most one half. */
static double many_successes(draws *d, double n, double p) {
    double spread = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread,
           a = -0.0873 + 0.0248 * b + 0.01 * p, centre = n * p + 0.5, v_r = 0.92 - 4.2 / b,
           r = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread, m = floor((n + 1) * p);
    for (;;) {
        double u = unit(d) - 0.5, v = unit(d), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + centre);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || k > n)
            continue;
        v = log(v * alpha / (a / (us * us) + b));
        double most = (m + 0.5) * log((m + 1) / (r * (n - m + 1))) +
                      (n + 1) * log((n - m + 1) / (n - k + 1)) +
                      (k + 0.5) * log(r * (n - k + 1) / (k + 1)) + stirling_rest(m) +
                      stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
        if (v <= most)
            return k;
    }
}

static double successes(draws *d, double n, double p) {
    if (isnan(n) || isnan(p))
        return NAN;
    if (n <= 0 || p <= 0)
        return 0;
    if (p >= 1)
        return n;
    double q = p <= 0.5 ? p : 1 - p;
    double k = n * q < 10 ? few_successes(d, n, q) : many_successes(d, n, q);
    return p <= 0.5 ? k : n - k;
}

static fxs_status infer_binomial(fxs_call *c) {
    const fxs_tensor *count = fxs_arg_tensor(c, 0), *p = fxs_arg_tensor(c, 1);
    fxs_operands o = fxs_operands_of(c, 0, 2);
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    FXS_TRY(fxs_check_dtype(c, count, FXS_TAKES_FLOATS));
    if (p->dtype != count->dtype)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected count and prob of one type, but got torch.%s and "
                          "torch.%s",
                          fxs_dtype_name(count->dtype), fxs_dtype_name(p->dtype));
    FXS_TRY(fxs_broadcast(c, &o, &ndim, sizes));
    bool same = ndim == count->ndim;
    for (int i = 0; same && i < ndim; i++)
        same = sizes[i] == count->sizes[i];
    return same ? fxs_out_new(c, count->dtype, ndim, sizes, NULL)
                : fxs_out_pointwise(c, &o, count->dtype);
}

/* Argument i, stretched to the output's shape, in double. */
static const double *stretched(fxs_work *w, int i, fxs_tensor **own) {
    const fxs_tensor *t = fxs_arg_tensor(w->call, i), *out = w->call->out[0];
    fxs_tensor wide = *t;
    if (w->status != FXS_OK)
        return NULL;
    wide.ndim = out->ndim;
    for (int d = 0; d < out->ndim; d++) {
        int at = d - (out->ndim - t->ndim);
        wide.sizes[d] = out->sizes[d];
        wide.strides[d] = at < 0 || (t->sizes[at] == 1 && out->sizes[d] != 1) ? 0 : t->strides[at];
    }
    w->status = fxs_tensor_new(w->call->ctx, FXS_FLOAT64, out->ndim, out->sizes, own);
    if (w->status != FXS_OK)
        return NULL;
    fxs_tensor_copy(w->call->ctx, *own, &wide);
    return fxs_tensor_data(*own);
}

static fxs_status run_binomial(fxs_call *c) {
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]), *own[2] = {NULL, NULL};
    const double *count = stretched(&w, 0, &own[0]), *p = stretched(&w, 1, &own[1]);
    for (int64_t i = 0, n = out ? fxs_tensor_numel(out) : 0; w.status == FXS_OK && i < n; i++) {
        draws d = draws_of(c->seed, i);
        ((double *)fxs_tensor_data(out))[i] = successes(&d, count[i], p[i]);
    }
    for (int i = 0; i < 2; i++)
        if (own[i])
            fxs_tensor_unref(own[i]);
    return fxs_work_end(&w);
}

/* ---- in place
 * ----------------------------------------------------------------------------------------------------
 */

/* An element from its draws; a and b are arguments 1 and 2. */
typedef double sample_fn(draws *d, double a, double b);

static double cauchy(draws *d, double a, double b) { return a + b * tan(M_PI * (unit(d) - 0.5)); }
static double log_normal(draws *d, double a, double b) {
    double r = sqrt(-2 * log(unit(d)));
    return exp(a + b * r * cos(2 * M_PI * unit(d)));
}
/* The number of the first success. */
static double geometric(draws *d, double a, double b) {
    (void)b;
    return ceil(log(unit(d)) / log1p(-a));
}

static fxs_status sample(fxs_call *c, sample_fn *fn) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *own;
    double a = fxs_arg_float(c, 1), b = c->nargs > 3 ? fxs_arg_float(c, 2) : 0;
    FXS_TRY(fxs_tensor_new(c->ctx, t->dtype, t->ndim, t->sizes, &own));
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++) {
        draws d = draws_of(c->seed, i);
        fxs_store_double(t->dtype,
                         (char *)fxs_tensor_data(own) + (size_t)i * fxs_dtype_size(t->dtype),
                         fn(&d, a, b));
    }
    fxs_tensor_copy(c->ctx, t, own);
    fxs_tensor_unref(own);
    return FXS_OK;
}

static fxs_status infer_cauchy(fxs_call *c) {
    FXS_TRY(fxs_check_dtype(c, fxs_arg_tensor(c, 0), FXS_TAKES_FLOATS));
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static fxs_status infer_log_normal(fxs_call *c) {
    if (!(fxs_arg_float(c, 2) > 0))
        return FXS_REFUSE(c, FXS_EINVAL, "expects std > 0.0, but found std=%g",
                          fxs_arg_float(c, 2));
    return infer_cauchy(c);
}

static fxs_status infer_geometric(fxs_call *c) {
    double p = fxs_arg_float(c, 1);
    FXS_TRY(fxs_check_dtype(c, fxs_arg_tensor(c, 0), FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS));
    if (!(p > 0 && p < 1))
        return FXS_REFUSE(c, FXS_EINVAL, "expects p to be in (0, 1), but got p=%g", p);
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static fxs_status run_cauchy(fxs_call *c) { return sample(c, cauchy); }
static fxs_status run_log_normal(fxs_call *c) { return sample(c, log_normal); }
static fxs_status run_geometric(fxs_call *c) { return sample(c, geometric); }

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_RANDOM)
#define WRITES (FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_RANDOM)

const fxs_op fxs_ops_random_more[] = {
    {"poisson", "(Tensor self, any generator=None) -> Tensor", "torch.poisson", infer_poisson,
     run_poisson, NULL, PURE},
    {"binomial", "(Tensor count, Tensor prob, any generator=None) -> Tensor", "torch.binomial",
     infer_binomial, run_binomial, NULL, PURE},
    {"cauchy_", "(Tensor self, float median=0, float sigma=1, *, any generator=None) -> Tensor",
     "Tensor.cauchy_", infer_cauchy, run_cauchy, NULL, WRITES},
    {"log_normal_", "(Tensor self, float mean=1, float std=2, *, any generator=None) -> Tensor",
     "Tensor.log_normal_", infer_log_normal, run_log_normal, NULL, WRITES},
    {"geometric_", "(Tensor self, float p, *, any generator=None) -> Tensor", "Tensor.geometric_",
     infer_geometric, run_geometric, NULL, WRITES},
    {0},
};
#undef PURE
#undef WRITES
