/* composed.c: functions that are a formula or two of others, and need no loop of their own: diff
 * dist isclose rms_norm nansum aminmax and the like. */
#include <math.h>

#include "kernels/compose.h"
#include "kernels/families.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* ---- element by element
 * ------------------------------------------------------------------------------------ */

/* isclose(a, b, rtol, atol, equal_nan) */
static fxs_tensor *close_to(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1);
    if (a->dtype != b->dtype)
        fxs_stop(k, FXS_ETYPE, "the arguments have different types: torch.%s and torch.%s",
                 fxs_dtype_name(a->dtype), fxs_dtype_name(b->dtype));
    if (!(fxs_arg_float(k->call, 2) >= 0 && fxs_arg_float(k->call, 3) >= 0))
        fxs_stop(k, FXS_EINVAL, "rtol and atol must be at least 0");
    fxs_tensor *same = FXS_DO(k, "eq", fxs_t(a), fxs_t(b)), *near, *first = same;
    if (fxs_arg_bool(k->call, 4)) {
        bool grown = same && same->ndim != a->ndim;
        for (int i = 0; same && !grown && i < a->ndim; i++)
            grown = same->sizes[i] != a->sizes[i];
        if (grown && !fxs_is_integral(a->dtype) && a->dtype != FXS_BOOL)
            fxs_stop(k, FXS_ESHAPE, "with equal_nan the second argument can't widen the first");
        near = FXS_DO(k, "logical_and", fxs_t(FXS_DO(k, "isnan", fxs_t(a))),
                      fxs_t(FXS_DO(k, "isnan", fxs_t(b))));
        same = FXS_DO(k, "logical_or", fxs_t(same), fxs_t(near));
    }
    if (fxs_is_integral(a->dtype) || a->dtype == FXS_BOOL) {
        a = FXS_DO(k, "double", fxs_t(a));
        b = FXS_DO(k, "double", fxs_t(b));
    }
    fxs_tensor *room = FXS_DO(k, "abs", fxs_t(FXS_DO(k, "mul", fxs_t(b), k->call->arg[2])));
    room = FXS_DO(k, "add", fxs_t(room), k->call->arg[3]);
    fxs_tensor *d = FXS_DO(k, "abs", fxs_t(FXS_DO(k, "sub", fxs_t(a), fxs_t(b))));
    near = FXS_DO(k, "le", fxs_t(d), fxs_t(room));
    near = FXS_DO(k, "logical_and", fxs_t(near), fxs_t(FXS_DO(k, "isfinite", fxs_t(d))));
    near = FXS_DO(k, "logical_or", fxs_t(same), fxs_t(near));
    return FXS_DO(k, "copy_", fxs_t(first), fxs_t(near)); /* it lies as the first step did */
}

static void make_isclose(fxs_compose *k) { fxs_give(k, close_to(k)); }

/* logit(x, eps): x no nearer than eps to 0 and 1 */
static void make_logit_within(fxs_compose *k) {
    double eps = fxs_arg_float(k->call, 1);
    fxs_tensor *x = arg(k, 0);
    if (!fxs_arg_is_none(k->call, 1))
        x = FXS_DO(k, "clamp", fxs_t(x), fxs_float(eps), fxs_float(1 - eps));
    fxs_give(k, FXS_DO(k, "logit", fxs_t(x)));
}

/* float_power(a, b): in double */
static void make_float_power(fxs_compose *k) {
    fxs_value a = k->call->arg[0], b = k->call->arg[1];
    fxs_value *both[] = {&a, &b};
    if (k->call->in_place && a.tag == FXS_V_TENSOR && a.u.tensor->dtype != FXS_FLOAT64 &&
        a.u.tensor->dtype != FXS_COMPLEX128)
        fxs_stop(k, FXS_ETYPE, "the result is float64, which can't be written into torch.%s",
                 fxs_dtype_name(a.u.tensor->dtype));
    for (int i = 0; i < 2; i++)
        if (both[i]->tag == FXS_V_TENSOR && !fxs_is_complex(both[i]->u.tensor->dtype))
            *both[i] = fxs_t(FXS_DO(k, "double", *both[i]));
        else if (both[i]->tag == FXS_V_TENSOR)
            *both[i] = fxs_t(FXS_DO(k, "to", *both[i],
                                    ((fxs_value){.tag = FXS_V_DTYPE, .u.dtype = FXS_COMPLEX128})));
    fxs_give(k, FXS_DO(k, "pow", a, b));
}

/* ---- along dimensions
 * ------------------------------------------------------------------------------------------------
 */

/* rms_norm(input, normalized_shape, weight, eps) */
static void make_rms_norm(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *w = arg(k, 2);
    int64_t dims[FXS_MAX_DIM], shape[FXS_MAX_DIM];
    int n = fxs_arg_ints(k->call, 1, shape, FXS_MAX_DIM);
    bool fits = n >= 1 && n <= x->ndim;
    for (int i = 0; i < n && fits; i++) {
        dims[i] = x->ndim - n + i;
        fits = x->sizes[dims[i]] == shape[i];
    }
    if (!fits) {
        fxs_stop(k, FXS_ESHAPE, "normalized_shape does not match the last dimensions of the input");
        return;
    }
    double eps = fxs_arg_is_none(k->call, 3) ? x->dtype == FXS_FLOAT64 ? 0x1p-52 : 0x1p-23
                                             : fxs_arg_float(k->call, 3);
    fxs_tensor *m = FXS_DO(k, "mean", fxs_t(FXS_DO(k, "mul", fxs_t(x), fxs_t(x))),
                           fxs_ints(k, n, dims), fxs_bool(true));
    m = FXS_DO(k, "rsqrt", fxs_t(FXS_DO(k, "add", fxs_t(m), fxs_float(eps))));
    x = FXS_DO(k, "mul", fxs_t(x), fxs_t(m));
    fxs_give(k, w ? FXS_DO(k, "mul", fxs_t(x), fxs_t(w)) : x);
}

/* ---- along a dimension
 * ----------------------------------------------------------------------------------------- */

/* x without its first (from 1) or last (from 0) place */
static fxs_tensor *part(fxs_compose *k, fxs_tensor *x, int dim, int64_t from) {
    int64_t n = k->status == FXS_OK ? x->sizes[dim] : 0;
    return FXS_DO(k, "narrow", fxs_t(x), fxs_int(dim), fxs_int(from < n ? from : n),
                  fxs_int(n ? n - 1 : 0));
}

/* What is put in front or behind has x's sizes, but in dim. */
static void check_joined(fxs_compose *k, const fxs_tensor *t) {
    const fxs_tensor *x = arg(k, 0);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int dim = 0;
    if (!t)
        return;
    k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2), x->ndim, &dim);
    bool fits = t->ndim == x->ndim;
    for (int i = 0; fits && i < x->ndim; i++)
        fits = i == dim || t->sizes[i] == x->sizes[i];
    if (!fits)
        fxs_stop(k, FXS_ESHAPE,
                 "expects prepend or append of the sizes of the input but in dimension %d: %s and "
                 "%s",
                 dim, fxs_sizes_text(t, a), fxs_sizes_text(x, b));
}

/* diff(input, n, dim, prepend, append) */
static void make_diff(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *joined[3];
    int64_t n = fxs_arg_int(k->call, 1);
    int dim = 0, count = 0;
    if (x->ndim == 0)
        fxs_stop(k, FXS_EINVAL, "expects input to be at least one-dimensional");
    if (k->status == FXS_OK && n != 0) /* torch does not look at dim when there is nothing to do */
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2), x->ndim, &dim);
    if (k->status != FXS_OK)
        return;
    for (int i = 3; i < 5 && k->status == FXS_OK; i++)
        check_joined(k, arg(k, i));
    if (n < 0 && !arg(k, 3) && !arg(k, 4)) {
        k->view = true;
        fxs_give(k, x);
        return;
    }
    if (n != 0 && (arg(k, 3) || arg(k, 4))) {
        if (arg(k, 3))
            joined[count++] = arg(k, 3);
        joined[count++] = x;
        if (arg(k, 4))
            joined[count++] = arg(k, 4);
        x = FXS_DO(k, "cat", fxs_tensors(k, count, joined), fxs_int(dim));
    }
    if (k->status == FXS_OK && n > x->sizes[dim])
        n = x->sizes[dim];
    for (int64_t i = 0; i < n && k->status == FXS_OK; i++) {
        fxs_tensor *from = part(k, x, dim, 1), *less = part(k, x, dim, 0);
        x = FXS_DO(k, x->dtype == FXS_BOOL ? "logical_xor" : "sub", fxs_t(from), fxs_t(less));
    }
    fxs_give(k, n != 0 ? x : FXS_DO(k, "clone", fxs_t(x)));
}

/* dist(a, b, p) */
static void make_dist(fxs_compose *k) {
    fxs_tensor *d = FXS_DO(k, "sub", fxs_t(arg(k, 0)), fxs_t(arg(k, 1)));
    bool none = d && fxs_tensor_numel(d) == 0; /* of nothing it is 0, whatever the order */
    fxs_give(k, none ? FXS_DO(k, "norm", fxs_t(d)) : FXS_DO(k, "norm", fxs_t(d), k->call->arg[2]));
}

/* nansum(input, dim, keepdim, dtype) */
static void make_nansum(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    fxs_dtype d = k->call->arg[3].tag == FXS_V_DTYPE ? k->call->arg[3].u.dtype : x->dtype;
    bool rounds = fxs_tensor_numel(x) && fxs_is_floating(x->dtype) && !fxs_is_floating(d);
    if (fxs_is_complex(x->dtype) || rounds)
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s and a result of torch.%s",
                 fxs_dtype_name(x->dtype), fxs_dtype_name(d));
    if (fxs_is_floating(x->dtype))
        x = FXS_DO(k, "masked_fill", fxs_t(x), fxs_t(FXS_DO(k, "isnan", fxs_t(x))), fxs_int(0));
    if (k->call->arg[3].tag == FXS_V_DTYPE)
        x = FXS_DO(k, "to", fxs_t(x), k->call->arg[3]);
    x = FXS_DO(k, "sum", fxs_t(x), k->call->arg[1], k->call->arg[2]);
    fxs_give(k,
             k->call->arg[3].tag == FXS_V_DTYPE ? FXS_DO(k, "to", fxs_t(x), k->call->arg[3]) : x);
}

/* aminmax(input, dim, keepdim) */
static void make_aminmax(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    static const char *const names[] = {"amin", "amax"};
    int64_t ones[FXS_MAX_DIM];
    for (int i = 0; i < x->ndim; i++)
        ones[i] = 1;
    if (fxs_is_complex(x->dtype))
        fxs_stop(k, FXS_ETYPE, "complex numbers have no smallest or largest");
    for (int i = 0; i < 2; i++) {
        fxs_tensor *m = fxs_arg_is_none(k->call, 1)
                            ? FXS_DO(k, names[i], fxs_t(x))
                            : FXS_DO(k, names[i], fxs_t(x), k->call->arg[1], k->call->arg[2]);
        if (fxs_arg_is_none(k->call, 1) && fxs_arg_bool(k->call, 2))
            m = FXS_DO(k, "reshape", fxs_t(m), fxs_ints(k, x->ndim, ones));
        else if (x->ndim == 0 && !fxs_arg_is_none(k->call, 1) && fxs_arg_bool(k->call, 2))
            m = FXS_DO(k, "reshape", fxs_t(m), FXS_INTS(k, 1)); /* a number keeps one dimension */
        fxs_give(k, m);
    }
}

/* cdist(x1 [..., P, M], x2 [..., R, M], p): distances of all pairs of rows */
static void make_cdist(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1);
    char s[FXS_SIZES_TEXT], t[FXS_SIZES_TEXT];
    double p = fxs_arg_float(k->call, 2);
    if (a->ndim < 2 || b->ndim < 2 || a->sizes[a->ndim - 1] != b->sizes[b->ndim - 1])
        fxs_stop(
            k, FXS_ESHAPE,
            "expected two tensors of at least 2 dimensions with equal last ones, but got %s and %s",
            fxs_sizes_text(a, s), fxs_sizes_text(b, t));
    if (!fxs_is_floating(a->dtype) || !fxs_is_floating(b->dtype))
        fxs_stop(k, FXS_ETYPE, "only supports floating-point dtypes, but got torch.%s and torch.%s",
                 fxs_dtype_name(a->dtype), fxs_dtype_name(b->dtype));
    if (a->dtype != b->dtype && fxs_tensor_numel(a) && fxs_tensor_numel(b))
        fxs_stop(k, FXS_ETYPE, "expected both inputs to be torch.%s, but the second is torch.%s",
                 fxs_dtype_name(a->dtype), fxs_dtype_name(b->dtype));
    if (p < 0)
        fxs_stop(k, FXS_EINVAL, "only supports non-negative p values");
    a = FXS_DO(k, "unsqueeze", fxs_t(a), fxs_int(-2));
    b = FXS_DO(k, "unsqueeze", fxs_t(b), fxs_int(-3));
    a = FXS_DO(k, "sub", fxs_t(a), fxs_t(b));
    fxs_dtype d = fxs_arg_tensor(k->call, 0)->dtype;
    a = FXS_DO(k, "linalg_vector_norm", fxs_t(a), k->call->arg[2], fxs_int(-1));
    a = FXS_DO(k, "contiguous", fxs_t(a));
    fxs_give(k, FXS_DO(k, "to", fxs_t(a), ((fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d})));
}

FXS_COMPOSED(cdist)
FXS_COMPOSED(isclose)
FXS_COMPOSED(logit_within)
FXS_COMPOSED(float_power)
FXS_COMPOSED(rms_norm)
FXS_COMPOSED(diff)
FXS_COMPOSED(dist)
FXS_COMPOSED(nansum)
FXS_COMPOSED(aminmax)

/* ---- answers in Python
 * ---------------------------------------------------------------------------------------- */

/* All elements of a bool tensor, as Python's bool. */
static fxs_status all_true(fxs_call *c, fxs_compose *k, const fxs_tensor *t) {
    fxs_value item = fxs_none();
    if (k->status == FXS_OK && t && !t->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "the answer depends on values, which are not computed: run with values, "
                          "not with shapes only");
    fxs_tensor *all = FXS_DO(k, "all", fxs_t((fxs_tensor *)t));
    if (all && all->storage)
        item = fxs_bool(fxs_load_int(FXS_BOOL, fxs_tensor_data(all)) != 0);
    return k->status == FXS_OK ? fxs_out_value(c, item) : k->status;
}

/* equal(a, b): the same shape and the same elements */
static fxs_status infer_equal(fxs_call *c) {
    const fxs_tensor *a = fxs_arg_tensor(c, 0), *b = fxs_arg_tensor(c, 1);
    fxs_compose k = {.call = c, .meta = !a->storage || !b->storage};
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < a->ndim; i++)
        same = a->sizes[i] == b->sizes[i];
    if (!same)
        return fxs_out_value(c, fxs_bool(false));
    fxs_status s = all_true(c, &k, FXS_DO(&k, "eq", c->arg[0], c->arg[1]));
    fxs_compose_end(&k);
    return s;
}

static fxs_status infer_allclose(fxs_call *c) {
    fxs_compose k = {.call = c,
                     .meta = !fxs_arg_tensor(c, 0)->storage || !fxs_arg_tensor(c, 1)->storage};
    fxs_status s = all_true(c, &k, close_to(&k));
    fxs_compose_end(&k);
    return s;
}

static fxs_status infer_named_aminmax(fxs_call *c) {
    c->tuple_name = "torch.return_types.aminmax";
    return infer_aminmax(c);
}

#define ROW(op, schema)                                                                            \
    { #op, schema, "torch." #op " Tensor." #op, infer_##op, run_##op, cost_##op, 0 }
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_composed[] = {
    {"logit_within", "(Tensor self, float? eps) -> Tensor",
     "torch.logit Tensor.logit torch._C._special.special_logit", infer_logit_within,
     run_logit_within, cost_logit_within, 0},
    {"isclose",
     "(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> "
     "Tensor",
     "torch.isclose Tensor.isclose", infer_isclose, run_isclose, cost_isclose, PURE},
    ROW(float_power, "(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor"),
    {"rms_norm",
     "(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
     "torch.nn.functional.rms_norm torch.rms_norm", infer_rms_norm, run_rms_norm, cost_rms_norm,
     PURE},
    {"diff",
     "(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
     "torch.diff Tensor.diff", infer_diff, run_diff, cost_diff, PURE},
    {"dist", "(Tensor self, Tensor other, number p=2) -> Tensor", "torch.dist Tensor.dist",
     infer_dist, run_dist, cost_dist, PURE},
    {"nansum",
     "(Tensor self, int|int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
     "torch.nansum Tensor.nansum", infer_nansum, run_nansum, cost_nansum, PURE},
    {"cdist",
     "(Tensor x1, Tensor x2, number p=2.0, any compute_mode='use_mm_for_euclid_dist_if_necessary') "
     "-> Tensor",
     "torch.functional.cdist torch.cdist", infer_cdist, run_cdist, cost_cdist, PURE},
    {"equal", "(Tensor self, Tensor other) -> bool", "torch.equal Tensor.equal", infer_equal, NULL,
     NULL, PURE},
    {"allclose",
     "(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> "
     "bool",
     "torch.allclose Tensor.allclose", infer_allclose, NULL, NULL, PURE},
    {"aminmax", "(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor, Tensor)",
     "torch.aminmax Tensor.aminmax", infer_named_aminmax, run_aminmax, cost_aminmax, PURE},
    {0},
};
#undef ROW
#undef PURE

const fxs_module_row fxs_modules_composed[] = {
    {.name = "RMSNorm",
     .hyper = "normalized_shape, eps=None, elementwise_affine=True",
     .state = "weight[*normalized_shape] = ones if elementwise_affine",
     .call = "rms_norm(input, normalized_shape, weight, eps)",
     .repr = "normalized_shape(1), eps=, elementwise_affine="},
    {0},
};
