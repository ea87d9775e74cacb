/* order_more.c: mode, nanmedian, quantile, nanquantile: what is found in sorted lines. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/lines.h"
#include "kernels/reduce.h"

/* ---- mode and nanmedian
 * ------------------------------------------------------------------------------------------- */

static bool is_nan(const fxs_lines *l, const fxs_entry *e) { return l->real && isnan(e->f); }

/* The smallest of the most frequent, and the last place where it is. NaNs are unlike each other. */
static void pick_mode(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    int64_t best = 0, most = 0, count = 0;
    fxs_sort_entries(l, e, n);
    for (int64_t i = 0; i < n; i++) {
        count++;
        if (i + 1 < n && fxs_entry_order(l, &e[i], &e[i + 1]) == 0 && !is_nan(l, &e[i]))
            continue;
        if (count > most) {
            most = count;
            best = i;
        }
        count = 0;
    }
    fxs_put_entry(l, line, 0, &e[best]);
}

/* The lower of the two middle ones of those that are numbers. */
static void pick_nanmedian(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    bool wide = fxs_dtype_size(l->in->dtype) == 8;
    const fxs_entry none = {.f = NAN, .i = wide ? INT64_MIN : INT32_MIN};
    int64_t nans = 0;
    for (int64_t i = 0; i < n; i++)
        nans += is_nan(l, &e[i]);
    fxs_sort_entries(l, e, n); /* NaNs come last */
    fxs_put_entry(l, line, 0, n == 0 ? &none : n == nans ? &e[0] : &e[(n - nans - 1) / 2]);
}

static fxs_status infer_pair(fxs_call *c, const char *tuple_name) {
    fxs_reduction r;
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[1], fxs_arg_bool(c, 2), &r));
    FXS_TRY(fxs_check_computable(c, t->dtype));
    FXS_TRY(fxs_need_elements(c, &r));
    FXS_TRY(fxs_out_reduced(c, &r, t->dtype));
    c->tuple_name = tuple_name;
    return fxs_out_reduced(c, &r, FXS_INT64);
}

static fxs_status refuse_bool(fxs_call *c) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_arg_tensor(c, 0)->dtype == FXS_BOOL
               ? FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool")
               : FXS_OK;
}

/* A tensor without dimensions is its own mode, whatever its type; so is one without elements. */
static fxs_status infer_mode(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_reduction r;
    if (fxs_tensor_numel(t) && t->ndim)
        return infer_pair(c, "torch.return_types.mode");
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[1], fxs_arg_bool(c, 2), &r));
    FXS_TRY(fxs_need_elements(c, &r));
    FXS_TRY(fxs_out_reduced(c, &r, t->dtype));
    c->tuple_name = "torch.return_types.mode";
    return fxs_out_reduced(c, &r, FXS_INT64);
}
static fxs_status infer_nanmedian(fxs_call *c) {
    FXS_TRY(refuse_bool(c));
    return infer_pair(c, "torch.return_types.nanmedian");
}
static fxs_status infer_full_nanmedian(fxs_call *c) {
    if (fxs_arg_numel(c, 0)) /* of nothing it is NaN, which is true */
        FXS_TRY(refuse_bool(c));
    return fxs_out_new(c, fxs_arg_tensor(c, 0)->dtype, 0, NULL, NULL);
}

static fxs_status run_pair(fxs_call *c, fxs_line_fn *fn) {
    fxs_lines l = {.values = c->out[0], .indices = c->out[1], .fn = fn};
    FXS_TRY(fxs_line_dim(c, 1, &l.dim));
    return fxs_lines_run(c, &l);
}

static fxs_status run_mode(fxs_call *c) {
    if (fxs_arg_tensor(c, 0)->ndim)
        return run_pair(c, pick_mode);
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    fxs_put_int(c->out[1], 0, 0);
    return FXS_OK;
}
static fxs_status run_nanmedian(fxs_call *c) { return run_pair(c, pick_nanmedian); }
static fxs_status run_full_nanmedian(fxs_call *c) {
    fxs_lines l = {.values = c->out[0], .dim = -1, .fn = pick_nanmedian};
    return fxs_lines_run(c, &l);
}

/* ---- quantile(input, q, dim, keepdim, *, interpolation)
 * --------------------------------------------------------------------- */

static const char *const between[] = {"linear", "lower", "higher", "midpoint", "nearest"};
enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST, WAYS };

static fxs_tensor *ranks_of(fxs_compose *k, fxs_tensor *sorted, fxs_tensor *q, bool skip_nan) {
    fxs_tensor *nan = FXS_DO(k, "isnan", fxs_t(sorted)), *rank, *none;
    int64_t n = k->status == FXS_OK ? sorted->sizes[sorted->ndim - 1] : 0;
    if (skip_nan) { /* of the numbers in each line */
        fxs_tensor *is = FXS_DO(k, "logical_not", fxs_t(nan));
        is = FXS_DO(k, "sum", fxs_t(is), fxs_int(-1), fxs_bool(true));
        rank = FXS_DO(k, "mul", fxs_t(q), fxs_t(FXS_DO(k, "sub", fxs_t(is), fxs_int(1))));
        none = FXS_DO(k, "lt", fxs_t(rank), fxs_int(0));
        return FXS_DO(k, "masked_fill", fxs_t(rank), fxs_t(none), fxs_int(0));
    }
    none = FXS_DO(k, "any", fxs_t(nan), fxs_int(-1), fxs_bool(true));
    rank = FXS_DO(k, "mul", fxs_t(q), fxs_int(n - 1)); /* where a NaN is, the last is NaN */
    return FXS_DO(k, "masked_fill", fxs_t(rank), fxs_t(none), fxs_int(n - 1));
}

/* Lines along the last dimension, sorted, and q as a vector beside them. */
static void make_quantile_of(fxs_compose *k, fxs_tensor *x, fxs_tensor *q, int dim, int way,
                             bool skip_nan) {
    bool all = fxs_arg_is_none(k->call, 2) || x->ndim == 0, keep = fxs_arg_bool(k->call, 3);
    int64_t ones[FXS_MAX_DIM];
    int ndim = x->ndim, qdim = q->ndim;
    if (all)
        x = FXS_DO(k, "flatten", fxs_t(x));
    else if (dim != ndim - 1)
        x = FXS_DO(k, "transpose", fxs_t(FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(-1))),
                   fxs_int(dim), fxs_int(-1));
    FXS_DO(k, "sort", fxs_t(x));
    x = fxs_do_item(k, 0);
    fxs_tensor *rank = ranks_of(k, x, q, skip_nan), *low, *high, *weight;
    if (way == LOWER)
        rank = FXS_DO(k, "floor", fxs_t(rank));
    if (way == HIGHER)
        rank = FXS_DO(k, "ceil", fxs_t(rank));
    if (way == NEAREST)
        rank = FXS_DO(k, "round", fxs_t(rank));
    low = FXS_DO(k, "long", fxs_t(rank));
    fxs_tensor *out = FXS_DO(k, "gather", fxs_t(x), fxs_int(-1), fxs_t(low));
    if (way == LINEAR || way == MIDPOINT) {
        weight = way == LINEAR ? FXS_DO(k, "sub", fxs_t(rank), fxs_t(low))
                               : FXS_DO(k, "full_like", fxs_t(rank), fxs_float(0.5));
        high = FXS_DO(k, "long", fxs_t(FXS_DO(k, "ceil", fxs_t(rank))));
        high = FXS_DO(k, "gather", fxs_t(x), fxs_int(-1), fxs_t(high));
        out = FXS_DO(k, "lerp", fxs_t(out), fxs_t(high), fxs_t(weight));
    }
    if (k->status != FXS_OK)
        return;
    /* what is folded comes back as 1, or goes; q's dimension goes to the front */
    if (all && keep && ndim) {
        for (int i = 0; i < ndim; i++)
            ones[i] = 1;
        ones[ndim] = -1;
        out = FXS_DO(k, "reshape", fxs_t(out), fxs_ints(k, ndim + 1, ones));
    } else if (!all && keep && dim == ndim - 1) {
        out = FXS_DO(k, "unsqueeze", fxs_t(out), fxs_int(-2));
    } else if (!all && !keep && dim != ndim - 1) {
        out = FXS_DO(k, "squeeze", fxs_t(out), fxs_int(dim));
    }
    if (qdim == 0) {
        fxs_give(k, FXS_DO(k, "squeeze", fxs_t(out), fxs_int(-1)));
        return;
    }
    out = FXS_DO(k, "transpose", fxs_t(FXS_DO(k, "unsqueeze", fxs_t(out), fxs_int(0))), fxs_int(0),
                 fxs_int(-1));
    fxs_give(k, FXS_DO(k, "squeeze", fxs_t(out), fxs_int(-1)));
}

static void check_levels(fxs_compose *k, const fxs_tensor *q) {
    if (k->status == FXS_OK && q && q->storage && !k->meta)
        for (int64_t i = 0, n = q->ndim ? q->sizes[0] : 1; i < n; i++) {
            double x = fxs_load_double(q->dtype, (const char *)fxs_tensor_data(q) +
                                                     i * (q->ndim ? q->strides[0] : 1) *
                                                         (int64_t)fxs_dtype_size(q->dtype));
            if (!(x >= 0 && x <= 1))
                fxs_stop(k, FXS_EINVAL, "q values must be in the range [0, 1], but one is %g", x);
        }
}

static void make_either_quantile(fxs_compose *k, bool skip_nan) {
    fxs_tensor *x = fxs_arg_tensor(k->call, 0), *q = fxs_arg_tensor(k->call, 1);
    const char *how = fxs_arg_str(k->call, 4);
    int dim = 0, way = 0;
    if (x->dtype != FXS_FLOAT32 && x->dtype != FXS_FLOAT64)
        fxs_stop(k, FXS_ETYPE, "the input tensor must be either float or double, not torch.%s",
                 fxs_dtype_name(x->dtype));
    if (!q) {
        double level = fxs_arg_float(k->call, 1);
        if (!(level >= 0 && level <= 1))
            fxs_stop(k, FXS_EINVAL, "q must be in the range [0, 1], but is %g", level);
        q = FXS_DO_NAMED(k, "scalar_tensor", "dtype", fxs_of_dtype(x->dtype), fxs_float(level));
    }
    if (k->status == FXS_OK && q->ndim > 1)
        fxs_stop(k, FXS_ESHAPE, "q must be a scalar or 1D tensor, but has %d dimensions", q->ndim);
    if (k->status == FXS_OK && q->dtype != x->dtype)
        fxs_stop(k, FXS_ETYPE, "q must be torch.%s as the input, but is torch.%s",
                 fxs_dtype_name(x->dtype), fxs_dtype_name(q->dtype));
    while (way < WAYS && strcmp(how, between[way]) != 0)
        way++;
    if (way == WAYS)
        fxs_stop(k, FXS_EINVAL,
                 "interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                 "%s",
                 how);
    if (k->status == FXS_OK && !fxs_arg_is_none(k->call, 2))
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2), x->ndim, &dim);
    if (k->status == FXS_OK && fxs_tensor_numel(x) == 0)
        fxs_stop(k, FXS_ESHAPE, "the input tensor must be non-empty");
    check_levels(k, q);
    if (k->status == FXS_OK)
        make_quantile_of(k, x, q, dim, way, skip_nan);
}

static void make_quantile(fxs_compose *k) { make_either_quantile(k, false); }
static void make_nanquantile(fxs_compose *k) { make_either_quantile(k, true); }
FXS_COMPOSED(quantile)
FXS_COMPOSED(nanquantile)

#define PURE FXS_OP_NO_INPLACE
#define BOTH(name) "torch." name " Tensor." name
#define PAIR "(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)"
#define QUANTILE(name)                                                                             \
    {                                                                                              \
#name,                                                                                     \
            "(Tensor self, Tensor|float q, int? dim=None, bool keepdim=False, *, "                 \
            "str interpolation='linear') -> Tensor",                                               \
            BOTH(#name), infer_##name, run_##name, cost_##name, PURE                               \
    }

const fxs_op fxs_ops_order_more[] = {
    {"mode", PAIR, BOTH("mode"), infer_mode, run_mode, fxs_cost_input, PURE | FXS_OP_REAL_GRAD},
    {"nanmedian", "(Tensor self) -> Tensor", BOTH("nanmedian"), infer_full_nanmedian,
     run_full_nanmedian, fxs_cost_input, PURE},
    {"nanmedian", "(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
     BOTH("nanmedian"), infer_nanmedian, run_nanmedian, fxs_cost_input, PURE},
    QUANTILE(quantile),
    QUANTILE(nanquantile),
    {0},
};
#undef PURE
#undef BOTH
#undef PAIR
#undef QUANTILE
