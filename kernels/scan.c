/* scan.c: running sums, products, maxima along a dimension: cumsum cumprod logcumsumexp cummax
 * cummin. */
#include <math.h>
#include <string.h>

#include "kernels/complex.h"
#include "kernels/lines.h"
#include "kernels/work.h"

static void run_sum(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    for (int64_t i = 0; i < n; i++) {
        if (i) {
            e[i].f += e[i - 1].f;
            e[i].i = (int64_t)((uint64_t)e[i].i + (uint64_t)e[i - 1].i);
        }
        fxs_put_entry(l, line, i, &e[i]);
    }
}

static void run_product(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    for (int64_t i = 0; i < n; i++) {
        if (i) {
            e[i].f *= e[i - 1].f;
            e[i].i = (int64_t)((uint64_t)e[i].i * (uint64_t)e[i - 1].i);
        }
        fxs_put_entry(l, line, i, &e[i]);
    }
}

/* log(exp(a) + exp(b)) from the larger one. */
static void run_log_sum(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    for (int64_t i = 0; i < n; i++) {
        if (i) {
            double a = fmax(e[i].f, e[i - 1].f), b = fmin(e[i].f, e[i - 1].f);
            bool nan = isnan(e[i].f) || isnan(e[i - 1].f);
            e[i].f = nan ? NAN : isinf(a) ? a : a + log1p(exp(b - a));
        }
        fxs_put_entry(l, line, i, &e[i]);
    }
}

/* The last of equals wins, and so does the first NaN. */
static void run_best(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line, int sign) {
    fxs_entry best = {0};
    for (int64_t i = 0; i < n; i++) {
        bool nan = i && l->real && isnan(best.f), new_nan = l->real && isnan(e[i].f);
        if (i == 0 || new_nan || (!nan && fxs_entry_order(l, &e[i], &best) * sign >= 0))
            best = e[i];
        fxs_put_entry(l, line, i, &best);
    }
}
static void run_max(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    run_best(l, e, n, line, 1);
}
static void run_min(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    run_best(l, e, n, line, -1);
}

/* cumsum(self, dim, dtype) */
static fxs_status infer_sum(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_dtype d = fxs_is_integral(t->dtype) || t->dtype == FXS_BOOL ? FXS_INT64 : t->dtype;
    int dim;
    if (!fxs_arg_is_none(c, 2))
        d = c->arg[2].u.dtype;
    if (c->in_place && fxs_arg_is_none(c, 2))
        d = t->dtype;
    if (d == FXS_BOOL && t->ndim && fxs_tensor_numel(t))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    if (c->in_place && d != t->dtype)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "bad in-place call: a result of torch.%s for a tensor of torch.%s",
                          fxs_dtype_name(d), fxs_dtype_name(t->dtype));
    FXS_TRY(fxs_line_dim(c, 1, &dim));
    FXS_TRY(fxs_check_computable(c, t->dtype));
    FXS_TRY(fxs_check_computable(c, d));
    if (t->ndim == 0 && t->dtype != d) /* it is filled in as a number */
        FXS_TRY(fxs_check_fits(c, 0, d));
    return fxs_out_new(c, d, t->ndim, t->sizes, NULL);
}

static fxs_status infer_log_sum(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int dim;
    FXS_TRY(fxs_line_dim(c, 1, &dim));
    FXS_TRY(fxs_check_computable(c, t->dtype));
    if (!fxs_is_floating(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(t->dtype));
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
}

static fxs_status infer_pair(fxs_call *c, const char *tuple_name) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int dim;
    if (fxs_is_complex(t->dtype) && t->requires_grad)
        return FXS_REFUSE(c, FXS_EINVAL, "complex numbers can't be differentiated");
    if (t->ndim && fxs_tensor_numel(t)) { /* else PyTorch looks at nothing */
        FXS_TRY(fxs_line_dim(c, 1, &dim));
        FXS_TRY(fxs_check_computable(c, t->dtype));
    }
    FXS_TRY(fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL));
    c->tuple_name = tuple_name;
    return fxs_out_new(c, FXS_INT64, t->ndim, t->sizes, NULL);
}

static fxs_status infer_cummax(fxs_call *c) { return infer_pair(c, "torch.return_types.cummax"); }
static fxs_status infer_cummin(fxs_call *c) { return infer_pair(c, "torch.return_types.cummin"); }

static fxs_status scan(fxs_call *c, fxs_line_fn *fn) {
    fxs_lines l = {.values = c->out[0], .indices = c->nout > 1 ? c->out[1] : NULL, .fn = fn};
    fxs_dtype d = c->out[0]->dtype;
    if (fxs_arg_tensor(c, 0)->ndim == 0 && (fxs_is_complex(d) || d == FXS_BOOL)) {
        fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
        if (c->nout > 1)
            memset(fxs_tensor_data(c->out[1]), 0, sizeof(int64_t));
        return FXS_OK;
    }
    if (fxs_tensor_numel(c->out[0]) == 0)
        return FXS_OK;
    if (fxs_arg_tensor(c, 0)->ndim)
        FXS_TRY(fxs_line_dim(c, 1, &l.dim));
    return fxs_lines_run(c, &l);
}

/* Complex numbers, or their real parts: one element from its predecessor, in any order of memory.
 */
static fxs_status scan_pairs(fxs_call *c, bool product) {
    fxs_tensor *in = fxs_arg_tensor(c, 0), *out = c->out[0];
    int dim;
    FXS_TRY(fxs_line_dim(c, 1, &dim));
    fxs_tensor_copy(c->ctx, out, in);
    for (int64_t i = 0, n = fxs_tensor_numel(out); i < n; i++) {
        int64_t rest = i, at = 0, place = 0;
        double x[2], z[2];
        for (int k = out->ndim - 1; k >= 0; k--) {
            int64_t p = rest % out->sizes[k];
            place = k == dim ? p : place;
            at += p * out->strides[k];
            rest /= out->sizes[k];
        }
        if (place == 0)
            continue;
        fxs_load_complex(out, at - out->strides[dim], x);
        fxs_load_complex(out, at, z);
        double re = product ? x[0] * z[0] - x[1] * z[1] : x[0] + z[0];
        z[1] = product ? x[0] * z[1] + x[1] * z[0] : x[1] + z[1];
        z[0] = re;
        fxs_store_complex(out, at, z);
    }
    return FXS_OK;
}

static bool meets_pairs(const fxs_call *c) {
    return fxs_is_complex(c->out[0]->dtype) || fxs_is_complex(fxs_arg_tensor(c, 0)->dtype);
}

static fxs_status scan_sum(fxs_call *c) {
    return meets_pairs(c) ? scan_pairs(c, false) : scan(c, run_sum);
}
static fxs_status scan_product(fxs_call *c) {
    return meets_pairs(c) ? scan_pairs(c, true) : scan(c, run_product);
}
static fxs_status scan_log_sum(fxs_call *c) { return scan(c, run_log_sum); }
static fxs_status scan_max(fxs_call *c) { return scan(c, run_max); }
static fxs_status scan_min(fxs_call *c) { return scan(c, run_min); }

const fxs_op fxs_ops_scan[] = {
    {"cumsum", "(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
     "torch.cumsum Tensor.cumsum", infer_sum, scan_sum, fxs_cost_one, FXS_OP_COMPLEX},
    {"cumprod", "(Tensor self, int dim, *, dtype? dtype=None) -> Tensor",
     "torch.cumprod Tensor.cumprod", infer_sum, scan_product, fxs_cost_one, FXS_OP_COMPLEX},
    {"logcumsumexp", "(Tensor self, int dim) -> Tensor", "torch.logcumsumexp Tensor.logcumsumexp",
     infer_log_sum, scan_log_sum, fxs_cost_one, FXS_OP_NO_INPLACE},
    {"cummax", "(Tensor self, int dim) -> (Tensor, Tensor)", "torch.cummax Tensor.cummax",
     infer_cummax, scan_max, fxs_cost_one, FXS_OP_NO_INPLACE},
    {"cummin", "(Tensor self, int dim) -> (Tensor, Tensor)", "torch.cummin Tensor.cummin",
     infer_cummin, scan_min, fxs_cost_one, FXS_OP_NO_INPLACE},
    {0},
};
