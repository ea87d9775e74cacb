/* reduce_arg.c: max and min along a dimension with their indices, argmax and argmin, median. The
 * first of equals wins; a NaN is the largest and the smallest. */
#include <math.h>

#include "kernels/lines.h"
#include "kernels/reduce.h"

/* ---- shapes
 * -------------------------------------------------------------------------------------------- */

static fxs_status infer_pair(fxs_call *c, const char *tuple_name) {
    fxs_reduction r;
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[1], fxs_arg_bool(c, 2), &r));
    FXS_TRY(fxs_check_computable(c, r.in->dtype));
    FXS_TRY(fxs_need_elements(c, &r));
    FXS_TRY(fxs_out_reduced(c, &r, r.in->dtype));
    c->tuple_name = tuple_name;
    return fxs_out_reduced(c, &r, FXS_INT64);
}

static fxs_status infer_max(fxs_call *c) { return infer_pair(c, "torch.return_types.max"); }
static fxs_status infer_min(fxs_call *c) { return infer_pair(c, "torch.return_types.min"); }

static fxs_status check_ordered(fxs_call *c) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    return FXS_OK;
}

static fxs_status infer_median(fxs_call *c) {
    FXS_TRY(check_ordered(c));
    return infer_pair(c, "torch.return_types.median");
}

/* argmax(self, dim=None, keepdim) */
static fxs_status infer_arg(fxs_call *c) {
    fxs_reduction r;
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    bool one_each = !fxs_arg_is_none(c, 1) && t->ndim; /* nothing to compare: no type is refused */
    if (one_each) {
        int dim;
        FXS_TRY(fxs_line_dim(c, 1, &dim));
        one_each = t->sizes[dim] == 1 || (fxs_tensor_numel(t) == 0 && t->sizes[dim]);
    }
    if (!one_each)
        FXS_TRY(check_ordered(c));
    if (fxs_arg_is_none(c, 1) && fxs_tensor_numel(t) == 0)
        return FXS_REFUSE(c, FXS_EINDEX,
                          "expected reduction dim to be specified for input.numel() == 0");
    FXS_TRY(fxs_read_reduction(c, t, &c->arg[1], fxs_arg_bool(c, 2), &r));
    FXS_TRY(fxs_need_elements(c, &r));
    return fxs_out_reduced(c, &r, FXS_INT64);
}

static fxs_status infer_full_median(fxs_call *c) {
    if (fxs_tensor_numel(fxs_arg_tensor(c, 0)))
        FXS_TRY(check_ordered(c));
    return fxs_out_new(c, fxs_arg_tensor(c, 0)->dtype, 0, NULL, NULL);
}

/* ---- lines
 * --------------------------------------------------------------------------------------------- */

static bool is_nan(const fxs_lines *l, const fxs_entry *e) { return l->real && isnan(e->f); }

static void pick_max(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (fxs_entry_order(l, &e[i], &e[best]) > 0)
            best = i;
    fxs_put_entry(l, line, 0, &e[best]);
}

static void pick_min(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    int64_t best = 0;
    for (int64_t i = 1; i < n && !is_nan(l, &e[best]); i++)
        if (is_nan(l, &e[i]) || fxs_entry_order(l, &e[i], &e[best]) < 0)
            best = i;
    fxs_put_entry(l, line, 0, &e[best]);
}

/* The lower of the two middle ones, or a NaN when there is one. */
static void pick_median(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    fxs_entry none = {.f = NAN, .i = INT64_MIN};
    for (int64_t i = 0; i < n; i++) {
        if (is_nan(l, &e[i])) {
            fxs_put_entry(l, line, 0, &e[i]);
            return;
        }
    }
    fxs_sort_entries(l, e, n);
    fxs_put_entry(l, line, 0, n ? &e[(n - 1) / 2] : &none);
}

static fxs_status run_pair(fxs_call *c, fxs_line_fn *fn) {
    fxs_lines l = {.values = c->out[0], .indices = c->out[1], .fn = fn};
    FXS_TRY(fxs_line_dim(c, 1, &l.dim));
    return fxs_lines_run(c, &l);
}

static fxs_status run_max(fxs_call *c) { return run_pair(c, pick_max); }
static fxs_status run_min(fxs_call *c) { return run_pair(c, pick_min); }
static fxs_status run_median(fxs_call *c) { return run_pair(c, pick_median); }

static fxs_status run_arg(fxs_call *c, fxs_line_fn *fn) {
    fxs_lines l = {.indices = c->out[0], .dim = -1, .fn = fn};
    if (!fxs_arg_is_none(c, 1))
        FXS_TRY(fxs_line_dim(c, 1, &l.dim));
    return fxs_lines_run(c, &l);
}

static fxs_status run_argmax(fxs_call *c) { return run_arg(c, pick_max); }
static fxs_status run_argmin(fxs_call *c) { return run_arg(c, pick_min); }

/* Of nothing it is NaN, in whatever integer that becomes. */
static fxs_status median_of_nothing(fxs_call *c) {
    fxs_tensor *out = c->out[0];
    fxs_dtype d = out->dtype;
    if (fxs_is_integral(d) || d == FXS_BOOL)
        fxs_store_int(d, fxs_tensor_data(out),
                      d == FXS_BOOL    ? 1
                      : d == FXS_INT32 ? INT32_MIN
                      : d == FXS_INT64 ? INT64_MIN
                                       : 0);
    else
        fxs_store_pair(d, fxs_tensor_data(out), (const double[2]){NAN, 0});
    return FXS_OK;
}

static fxs_status run_full_median(fxs_call *c) {
    if (fxs_tensor_numel(fxs_arg_tensor(c, 0)) == 0)
        return median_of_nothing(c);
    fxs_lines l = {.values = c->out[0], .dim = -1, .fn = pick_median};
    return fxs_lines_run(c, &l);
}

#define PURE FXS_OP_NO_INPLACE
#define ALONG "(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)"
#define ANYWHERE "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"

const fxs_op fxs_ops_reduce_arg[] = {
    {"max", ALONG, "torch.max Tensor.max", infer_max, run_max, fxs_cost_input, PURE},
    {"min", ALONG, "torch.min Tensor.min", infer_min, run_min, fxs_cost_input, PURE},
    {"argmax", ANYWHERE, "torch.argmax Tensor.argmax", infer_arg, run_argmax, fxs_cost_input, PURE},
    {"argmin", ANYWHERE, "torch.argmin Tensor.argmin", infer_arg, run_argmin, fxs_cost_input, PURE},
    {"median", "(Tensor self) -> Tensor", "torch.median Tensor.median", infer_full_median,
     run_full_median, fxs_cost_input, PURE},
    {"median", "(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
     "torch.median Tensor.median", infer_median, run_median, fxs_cost_input, PURE},
    {0},
};
#undef PURE
#undef ALONG
#undef ANYWHERE
