/* analysis.c: frexp, which takes numbers apart; gradient, the slope along dimensions; pdist, the
 * distances of all pairs of rows. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "kernels/python.h"
#include "kernels/reduce.h"
#include "kernels/work.h"

/* ---- frexp(self): self = mantissa * 2^exponent
 * --------------------------------------------------------------------- */

static fxs_status infer_frexp(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS));
    int64_t strides[FXS_MAX_DIM];
    fxs_strides_like(t, strides);
    FXS_TRY(fxs_out_new(c, t->dtype, t->ndim, t->sizes, strides));
    c->tuple_name = "torch.return_types.frexp";
    return fxs_out_new(c, FXS_INT32, t->ndim, t->sizes, strides);
}

static fxs_status run_frexp(fxs_call *c) {
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64), e = fxs_work_begin(c, FXS_INT32);
    const double *x = fxs_work_data(&w, fxs_arg_tensor(c, 0));
    fxs_tensor *mantissa = fxs_work_out(&w, c->out[0]), *exponent = fxs_work_out(&e, c->out[1]);
    for (int64_t i = 0, n = fxs_arg_numel(c, 0); w.status == FXS_OK && e.status == FXS_OK && i < n;
         i++) {
        int power = 0;
        ((double *)fxs_tensor_data(mantissa))[i] = isfinite(x[i]) ? frexp(x[i], &power) : x[i];
        ((int32_t *)fxs_tensor_data(exponent))[i] = power;
    }
    fxs_status s = fxs_work_end(&w), t = fxs_work_end(&e);
    return s != FXS_OK ? s : t;
}

/* ---- gradient(self, *, spacing, dim, edge_order)
 * ---------------------------------------------------------------------- */

/* One dimension's spacing: a number, or the places of the samples. */
static const fxs_value unit_step = {.tag = FXS_V_INT, .u.i = 1};

static const fxs_value *spacing_at(const fxs_call *c, int i) {
    const fxs_value *v = &c->arg[1];
    if (v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE)
        return fxs_value_item(v, fxs_value_len(v) == 1 ? 0 : (size_t)i);
    return v->tag == FXS_V_NONE ? &unit_step : v;
}

static fxs_status check_spacing(fxs_call *c, int i, int n, int dim) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    bool list = c->arg[1].tag == FXS_V_LIST || c->arg[1].tag == FXS_V_TUPLE;
    int64_t count = list ? (int64_t)fxs_value_len(&c->arg[1]) : 1;
    if (list && count != n)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "expected spacing to be unspecified, a scalar, or a list of %d, one for "
                          "each dimension, but got %lld",
                          n, (long long)count);
    const fxs_value *v = spacing_at(c, i);
    if (v->tag == FXS_V_TENSOR && list) {
        if (v->u.tensor->ndim != 1 || v->u.tensor->sizes[0] != t->sizes[dim])
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "the coordinates of dimension %d must be a vector of %lld", dim,
                              (long long)t->sizes[dim]);
        return FXS_OK;
    }
    if (v->tag != FXS_V_INT && v->tag != FXS_V_FLOAT && v->tag != FXS_V_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "spacing must be numbers or tensors, not %s",
                          fxs_value_type_name(v));
    return FXS_OK;
}

/* The dimensions in argument 2; all when it is None. */
static fxs_status gradient_dims(fxs_call *c, int *n, int *dims) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t given[FXS_MAX_DIM], order = fxs_arg_int(c, 3);
    bool seen[FXS_MAX_DIM] = {false}, all = fxs_arg_is_none(c, 2);
    *n = all ? t->ndim : fxs_arg_ints(c, 2, given, FXS_MAX_DIM);
    if (t->dtype == FXS_BOOL || t->dtype == FXS_UINT8 ||
        (!fxs_is_complex(t->dtype) && !fxs_is_computable(t->dtype)))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(t->dtype));
    if (order != 1 && order != 2)
        return FXS_REFUSE(c, FXS_EINVAL, "only supports edge_order=1 and edge_order=2");
    for (int i = 0; i < *n && i < FXS_MAX_DIM; i++) {
        dims[i] = i;
        if (!all)
            FXS_TRY(fxs_wrap_dim(c, given[i], t->ndim, &dims[i]));
        if (t->ndim == 0 || seen[dims[i]])
            return FXS_REFUSE(c, FXS_EINVAL, "dim %d appears multiple times in the list of dims",
                              dims[i]);
        seen[dims[i]] = true;
        if (t->sizes[dims[i]] < order + 1)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "expected each dimension size to be at least edge_order+1 = %lld",
                              (long long)order + 1);
        FXS_TRY(check_spacing(c, i, *n, dims[i]));
    }
    return FXS_OK;
}

/* `length` places of t from `start` on (from the end when negative). */
static fxs_value part(fxs_compose *k, fxs_tensor *t, int dim, int64_t start, int64_t length) {
    if (k->status != FXS_OK)
        return fxs_none();
    return fxs_t(FXS_DO(k, "narrow", fxs_t(t), fxs_int(dim),
                        fxs_int(start < 0 ? start + t->sizes[dim] : start), fxs_int(length)));
}

static fxs_value minus(fxs_compose *k, fxs_value a, fxs_value b) {
    return fxs_t(FXS_DO(k, "sub", a, b));
}
static fxs_value plus(fxs_compose *k, fxs_value a, fxs_value b) {
    return fxs_t(FXS_DO(k, "add", a, b));
}
static fxs_value times(fxs_compose *k, fxs_value a, fxs_value b) {
    return fxs_t(FXS_DO(k, "mul", a, b));
}
static fxs_value over(fxs_compose *k, fxs_value a, fxs_value b) {
    return fxs_t(FXS_DO(k, "div", a, b));
}

/* weight[0] f[0] + weight[1] f[1] + weight[2] f[2] */
static fxs_value weighted(fxs_compose *k, const fxs_value f[3], const fxs_value weight[3]) {
    fxs_value sum = plus(k, times(k, weight[0], f[0]), times(k, weight[1], f[1]));
    return plus(k, sum, times(k, weight[2], f[2]));
}

/* The slope of the parabola through three places that lie h1 and h2 apart: in the middle one, or in
 * the first. */
static fxs_value parabola(fxs_compose *k, const fxs_value f[3], fxs_value h1, fxs_value h2,
                          bool first) {
    fxs_value both = plus(k, h1, h2), outer = times(k, h1, both), inner = times(k, h2, both);
    fxs_value minus_one = fxs_int(-1), weight[3];
    if (first) {
        weight[0] = over(k, times(k, plus(k, both, h1), minus_one), outer);
        weight[1] = over(k, both, times(k, h1, h2));
        weight[2] = over(k, times(k, h1, minus_one), inner);
    } else {
        weight[0] = over(k, times(k, h2, minus_one), outer);
        weight[1] = over(k, minus(k, h2, h1), times(k, h1, h2));
        weight[2] = over(k, h1, inner);
    }
    return weighted(k, f, weight);
}

/* The same in the first place for steps of h. */
static fxs_value even_parabola(fxs_compose *k, const fxs_value f[3], double h) {
    const fxs_value weight[3] = {fxs_float(-1.5 / h), fxs_float(2 / h), fxs_float(-0.5 / h)};
    return plus(k, plus(k, times(k, f[0], weight[0]), times(k, f[1], weight[1])),
                times(k, f[2], weight[2]));
}

static fxs_tensor *slope(fxs_compose *k, fxs_tensor *f, int dim, const fxs_value *spacing,
                         int64_t order) {
    int64_t n = f->sizes[dim];
    fxs_value inner, ends[2], h[4];
    fxs_tensor *joined[3];
    bool even = spacing->tag != FXS_V_TENSOR;
    for (int i = 0; i < 4; i++)
        h[i] = fxs_float(fxs_arg_float(&(fxs_call){.arg = spacing}, 0));
    if (even) {
        inner = n > 2 ? over(k, minus(k, part(k, f, dim, 2, n - 2), part(k, f, dim, 0, n - 2)),
                             fxs_float(2 * h[0].u.f))
                      : fxs_none();
    } else {
        int64_t sizes[FXS_MAX_DIM];
        for (int i = 0; i < f->ndim; i++)
            sizes[i] = i == dim ? -1 : 1;
        fxs_tensor *x = FXS_DO(k, "reshape", *spacing, fxs_ints(k, f->ndim, sizes));
        x = FXS_DO(k, "diff", fxs_t(x), fxs_int(1), fxs_int(dim));
        h[0] = part(k, x, dim, 0, 1), h[1] = part(k, x, dim, n > 2 ? 1 : 0, 1);
        h[2] = part(k, x, dim, -1, 1), h[3] = part(k, x, dim, n > 2 ? -2 : -1, 1);
        const fxs_value f3[3] = {part(k, f, dim, 0, n - 2), part(k, f, dim, 1, n - 2),
                                 part(k, f, dim, 2, n - 2)};
        inner = parabola(k, f3, part(k, x, dim, 0, n - 2), part(k, x, dim, 1, n - 2), false);
    }
    ends[0] = over(k, minus(k, part(k, f, dim, 1, 1), part(k, f, dim, 0, 1)), h[0]);
    ends[1] = over(k, minus(k, part(k, f, dim, -1, 1), part(k, f, dim, -2, 1)), h[2]);
    if (order == 2) {
        fxs_value front[3], back[3];
        for (int i = 0; i < 3; i++) {
            front[i] = part(k, f, dim, i, 1);
            back[i] = part(k, f, dim, -1 - i, 1);
        }
        ends[0] = even ? even_parabola(k, front, h[0].u.f) : parabola(k, front, h[0], h[1], true);
        ends[1] = even ? even_parabola(k, back, h[0].u.f) : parabola(k, back, h[2], h[3], true);
        ends[1] = times(k, ends[1], fxs_int(-1));
    }
    if (k->status != FXS_OK)
        return NULL;
    joined[0] = ends[0].u.tensor;
    joined[1] = inner.tag == FXS_V_TENSOR ? inner.u.tensor : ends[1].u.tensor;
    joined[2] = ends[1].u.tensor;
    return FXS_DO(k, "cat", fxs_tensors(k, inner.tag == FXS_V_TENSOR ? 3 : 2, joined),
                  fxs_int(dim));
}

static fxs_status each_slope(fxs_call *c, bool meta) {
    int n, dims[FXS_MAX_DIM];
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(gradient_dims(c, &n, dims));
    for (int i = 0; i < n; i++) {
        fxs_compose k = {.call = c, .meta = meta};
        const fxs_tensor *s = slope(&k, t, dims[i], spacing_at(c, i), fxs_arg_int(c, 3));
        if (s && meta)
            k.status = fxs_out_new(c, s->dtype, s->ndim, s->sizes, s->strides);
        if (meta && k.status == FXS_OK)
            c->out[i]->requires_grad = s->requires_grad;
        if (s && !meta)
            fxs_tensor_copy(c->ctx, c->out[i], s);
        FXS_TRY(fxs_compose_end(&k));
    }
    c->out_tuple = c->knows_grad = true;
    return FXS_OK;
}

static fxs_status infer_gradient(fxs_call *c) { return each_slope(c, true); }
static fxs_status run_gradient(fxs_call *c) { return each_slope(c, false); }

/* Two subtractions and divisions an element. */
static fxs_cost cost_gradient(const fxs_call *c) {
    return (fxs_cost){.flops = 2 * (double)c->nout * (double)fxs_arg_numel(c, 0)};
}

/* ---- pdist(self, p): rows i < j, in the order of i
 * -------------------------------------------------------------------------- */

static fxs_status infer_pdist(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim != 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "only supports 2D tensors, got: %dD", t->ndim);
    if (t->dtype != FXS_FLOAT32 && t->dtype != FXS_FLOAT64 &&
        !(fxs_is_floating(t->dtype) && (t->sizes[0] < 2 || t->sizes[1] == 0)))
        return FXS_REFUSE(c, FXS_ETYPE, "only supports floating-point dtypes, not torch.%s",
                          fxs_dtype_name(t->dtype));
    if (!(fxs_arg_float(c, 1) >= 0))
        return FXS_REFUSE(c, FXS_EINVAL, "only supports non-negative p values");
    int64_t n = t->sizes[0], pairs;
    if (__builtin_mul_overflow(n, n > 0 ? n - 1 : 0, &pairs))
        return FXS_REFUSE(c, FXS_ELIMIT, "too many pairs of rows");
    return fxs_out_new(c, t->dtype, 1, (int64_t[]){pairs / 2}, NULL);
}

static double distance(const double *a, const double *b, int64_t n, double p) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs(a[i] - b[i]);
        if (p == 0)
            sum += d != 0;
        else if (isinf(p))
            sum = d > sum || isnan(d) ? d : sum;
        else
            sum += p == 1 ? d : p == 2 ? d * d : pow(d, p);
    }
    return p == 2 ? sqrt(sum) : p == 0 || p == 1 || isinf(p) ? sum : pow(sum, 1 / p);
}

static fxs_status run_pdist(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64);
    const double *x = fxs_work_data(&w, fxs_arg_tensor(c, 0));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    int64_t n = t->sizes[0], m = t->sizes[1], at = 0;
    for (int64_t i = 0; w.status == FXS_OK && i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            ((double *)fxs_tensor_data(out))[at++] =
                distance(x + i * m, x + j * m, m, fxs_arg_float(c, 1));
    return fxs_work_end(&w);
}

/* Three operations for each element of each pair. */
static fxs_cost cost_pdist(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    return (fxs_cost){.flops = 3 * (double)fxs_tensor_numel(c->out[0]) * (double)t->sizes[1]};
}

#define PURE FXS_OP_NO_INPLACE
#define BOTH(name) "torch." name " Tensor." name

const fxs_op fxs_ops_analysis[] = {
    {"frexp", "(Tensor self) -> (Tensor, Tensor)", BOTH("frexp"), infer_frexp, run_frexp,
     fxs_cost_input, PURE},
    {"gradient",
     "(Tensor self, *, any spacing=None, int|int[]? dim=None, int edge_order=1) -> Tensor[]",
     "torch.gradient", infer_gradient, run_gradient, cost_gradient, PURE | FXS_OP_COMPLEX},
    {"pdist", "(Tensor self, float p=2) -> Tensor", "torch.pdist", infer_pdist, run_pdist,
     cost_pdist, PURE},
    {0},
};
#undef PURE
#undef BOTH
