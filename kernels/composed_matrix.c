/* composed_matrix.c: functions of vectors and matrices that are a formula or two of others: trace
 * cov corrcoef kron vander cross diagflat; see composed.c. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static fxs_value self(const fxs_compose *k) { return fxs_t(arg(k, 0)); }
static bool is_float(const fxs_tensor *t) {
    return fxs_is_floating(t->dtype) || fxs_is_complex(t->dtype);
}

static void make_trace(fxs_compose *k) {
    if (arg(k, 0)->ndim != 2 || arg(k, 0)->dtype == FXS_BOOL)
        fxs_stop(k, FXS_ESHAPE, "expected a matrix of numbers");
    fxs_give(k, FXS_DO(k, "sum", fxs_t(FXS_DO(k, "diagonal", self(k)))));
}

static bool has_negative(const fxs_tensor *t) {
    const char *p = fxs_tensor_data(t);
    for (int64_t i = 0; t->ndim == 0 ? i < 1 : i < t->sizes[0]; i++)
        if (fxs_load_double(t->dtype, p + (t->ndim ? i * t->strides[0] : 0) *
                                              (int64_t)fxs_dtype_size(t->dtype)) < 0)
            return true;
    return false;
}

static bool sums_to_zero(const fxs_compose *k, const fxs_tensor *total) {
    return !k->meta && total->storage && fxs_load_double(total->dtype, fxs_tensor_data(total)) == 0;
}

/* cov(input, *, correction, fweights, aweights): rows are variables */
static fxs_tensor *covariance(fxs_compose *k, fxs_tensor *x, fxs_value correction, fxs_tensor *f,
                              fxs_tensor *a) {
    if (x->ndim > 2)
        fxs_stop(k, FXS_ESHAPE, "expected input to have two or fewer dimensions but got %d",
                 x->ndim);
    if (x->dtype == FXS_BOOL)
        fxs_stop(k, FXS_ETYPE, "bool dtype is not supported for input");
    if (k->status != FXS_OK)
        return NULL;
    if (x->ndim < 2)
        x = FXS_DO(k, "view", fxs_t(x), FXS_INTS(k, 1, -1));
    if (x && !is_float(x))
        x = FXS_DO(k, "float", fxs_t(x));
    const fxs_tensor *weights[] = {f, a};
    for (int i = 0; i < 2 && k->status == FXS_OK; i++)
        if (weights[i] && (weights[i]->ndim > 1 || fxs_tensor_numel(weights[i]) != x->sizes[1] ||
                           weights[i]->dtype == FXS_BOOL || is_float(weights[i]) != (i == 1)))
            fxs_stop(k, FXS_ESHAPE,
                     "expected %s to be a vector of %s, one for each of %lld observations",
                     i ? "aweights" : "fweights", i ? "floats" : "integers",
                     (long long)x->sizes[1]);
    for (int i = 0; i < 2 && k->status == FXS_OK; i++)
        if (weights[i] && weights[i]->storage && has_negative(weights[i]))
            fxs_stop(k, FXS_EINVAL, "%s cannot be negative", i ? "aweights" : "fweights");
    if (k->status != FXS_OK)
        return NULL;
    fxs_tensor *w = f && a ? FXS_DO(k, "mul", fxs_t(f), fxs_t(a)) : f ? f : a, *mean, *norm;
    fxs_tensor *total = w ? FXS_DO(k, "sum", fxs_t(w)) : NULL, *wx = x;
    if (total && (fxs_tensor_numel(w) == 0 || sums_to_zero(k, total)))
        fxs_stop(k, FXS_EINVAL, "weights sum to zero, can't be normalized");
    if (w) {
        mean = FXS_DO(k, "sum", fxs_t(FXS_DO(k, "mul", fxs_t(x), fxs_t(w))), fxs_int(1),
                      fxs_bool(true));
        mean = FXS_DO(k, "div", fxs_t(mean), fxs_t(total));
        norm = total;
        fxs_tensor *less = a ? FXS_DO(k, "sum", fxs_t(FXS_DO(k, "mul", fxs_t(w), fxs_t(a)))) : NULL;
        if (less)
            less = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "div", fxs_t(less), fxs_t(total))), correction);
        norm = FXS_DO(k, "sub", fxs_t(total), less ? fxs_t(less) : correction);
        norm = FXS_DO(k, "clamp_min", fxs_t(norm), fxs_int(0));
    } else {
        int64_t n = x->sizes[1] - (correction.tag == FXS_V_INT ? correction.u.i : 0);
        mean = FXS_DO(k, "mean", fxs_t(x), fxs_int(1), fxs_bool(true));
        norm = FXS_DO_NAMED(k, "scalar_tensor", "dtype", fxs_of_dtype(FXS_INT64),
                            fxs_int(n > 0 ? n : 0));
    }
    x = FXS_DO(k, "sub", fxs_t(x), fxs_t(mean));
    wx = w ? FXS_DO(k, "mul", fxs_t(x), fxs_t(w)) : x;
    wx = FXS_DO(k, "t", fxs_t(wx));
    if (wx && fxs_is_complex(wx->dtype))
        wx = FXS_DO(k, "conj_physical", fxs_t(wx));
    x = FXS_DO(k, "mm", fxs_t(x), fxs_t(wx));
    x = FXS_DO(k, "div", fxs_t(x), fxs_t(norm));
    return FXS_DO(k, "squeeze", fxs_t(x));
}

static void make_cov(fxs_compose *k) {
    fxs_give(k, covariance(k, arg(k, 0), k->call->arg[1], arg(k, 2), arg(k, 3)));
}

static void make_corrcoef(fxs_compose *k) {
    fxs_tensor *c = covariance(k, arg(k, 0), fxs_int(1), NULL, NULL);
    if (k->status != FXS_OK)
        return;
    if (c->ndim == 0) {
        fxs_give(k, FXS_DO(k, "div", fxs_t(c), fxs_t(c)));
        return;
    }
    fxs_tensor *d = FXS_DO(k, "sqrt", fxs_t(FXS_DO(k, "diagonal", fxs_t(c))));
    c = FXS_DO(k, "div", fxs_t(c), fxs_t(FXS_DO(k, "view", fxs_t(d), FXS_INTS(k, -1, 1))));
    c = FXS_DO(k, "div", fxs_t(c), fxs_t(FXS_DO(k, "view", fxs_t(d), FXS_INTS(k, 1, -1))));
    fxs_give(k, fxs_is_complex(arg(k, 0)->dtype)
                    ? c
                    : FXS_DO(k, "clamp", fxs_t(c), fxs_int(-1), fxs_int(1)));
}

/* kron(a, b): each element of a times the whole of b */
static void make_kron(fxs_compose *k) {
    fxs_tensor *t[] = {arg(k, 0), arg(k, 1)};
    int n = t[0]->ndim > t[1]->ndim ? t[0]->ndim : t[1]->ndim;
    int64_t sizes[2][2 * FXS_MAX_DIM], out[FXS_MAX_DIM];
    if (2 * n > FXS_MAX_DIM) {
        fxs_stop(k, FXS_ESHAPE, "too many dimensions: %d", n);
        return;
    }
    for (int i = 0; i < n; i++) {
        int64_t each[2];
        for (int j = 0; j < 2; j++) {
            int at = i - (n - t[j]->ndim);
            each[j] = at < 0 ? 1 : t[j]->sizes[at];
            sizes[j][2 * i + j] = each[j];
            sizes[j][2 * i + 1 - j] = 1;
        }
        out[i] = each[0] * each[1];
    }
    for (int j = 0; j < 2; j++)
        t[j] = FXS_DO(k, "reshape", fxs_t(t[j]), fxs_ints(k, 2 * n, sizes[j]));
    fxs_tensor *x = FXS_DO(k, "mul", fxs_t(t[0]), fxs_t(t[1]));
    fxs_give(k, FXS_DO(k, "reshape", fxs_t(x), fxs_ints(k, n, out)));
}

/* vander(x, N, increasing): powers of x side by side. linalg_vander (x, *, N) takes batches. */
static fxs_tensor *powers(fxs_compose *k, fxs_tensor *x, fxs_value count, bool increasing) {
    if (x->ndim == 0)
        fxs_stop(k, FXS_ESHAPE, "expected at least one dimension");
    if (x->dtype == FXS_BOOL || fxs_is_integral(x->dtype))
        x = FXS_DO(k, "long", fxs_t(x));
    if (k->status != FXS_OK)
        return NULL;
    int64_t n = count.tag == FXS_V_INT ? count.u.i : x->sizes[x->ndim - 1], sizes[FXS_MAX_DIM + 1];
    int ndim = x->ndim;
    if (n < 0)
        fxs_stop(k, FXS_EINVAL, "N must be non-negative");
    memcpy(sizes, x->sizes, (size_t)ndim * sizeof *sizes);
    sizes[ndim] = n > 0 ? n - 1 : 0;
    x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(-1));
    fxs_tensor *one = FXS_DO(k, "ones_like", fxs_t(x));
    if (n == 0)
        one = FXS_DO(k, "narrow", fxs_t(one), fxs_int(-1), fxs_int(0), fxs_int(0));
    x = FXS_DO(k, "expand", fxs_t(x), fxs_ints(k, ndim + 1, sizes));
    x = FXS_DO(k, "cumprod", fxs_t(x), fxs_int(-1));
    x = FXS_DO(k, "cat", fxs_tensors(k, 2, (fxs_tensor *[]){one, x}), fxs_int(-1));
    return increasing ? x : FXS_DO(k, "flip", fxs_t(x), FXS_INTS(k, -1));
}

static void make_linalg_vander(fxs_compose *k) {
    const fxs_tensor *x = arg(k, 0);
    const fxs_value *n = &k->call->arg[1];
    if (x->dtype == FXS_BOOL)
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.bool");
    if (n->tag == FXS_V_INT ? n->u.i <= 1 : x->ndim == 0 || x->sizes[x->ndim - 1] <= 1)
        fxs_stop(k, FXS_EINVAL, "N must be greater than 1");
    fxs_value row = x->ndim ? self(k) : fxs_t(FXS_DO(k, "unsqueeze", self(k), fxs_int(0)));
    fxs_give(k, k->status == FXS_OK ? powers(k, row.u.tensor, *n, true) : NULL);
}

static void make_vander(fxs_compose *k) {
    if (arg(k, 0)->ndim != 1)
        fxs_stop(k, FXS_ESHAPE, "x must be a one-dimensional tensor");
    fxs_tensor *x = powers(k, arg(k, 0), k->call->arg[1], fxs_arg_bool(k->call, 2));
    k->own_grad = true; /* of one power there is none */
    fxs_give(k, x && x->sizes[x->ndim - 1] <= 1 ? FXS_DO(k, "detach", fxs_t(x)) : x);
}

/* cross(a, b, dim): of vectors of three */
static void make_cross(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1), *part[3];
    int dim = -1;
    if (fxs_arg_is_none(k->call, 2)) {
        for (int i = 0; i < a->ndim && dim < 0; i++)
            dim = a->sizes[i] == 3 ? i : -1;
        if (dim < 0)
            fxs_stop(k, FXS_ESHAPE, "no dimension of size 3 in input");
    } else if (k->status == FXS_OK) {
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2), a->ndim, &dim);
    }
    if (a->dtype != b->dtype)
        fxs_stop(k, FXS_ETYPE, "expected both of one type, but got torch.%s and torch.%s",
                 fxs_dtype_name(a->dtype), fxs_dtype_name(b->dtype));
    if (a->ndim != b->ndim)
        fxs_stop(k, FXS_ESHAPE, "inputs must have the same number of dimensions");
    if (k->status == FXS_OK && (a->ndim == 0 || a->sizes[dim] != 3 || b->sizes[dim] != 3))
        fxs_stop(k, FXS_ESHAPE, "inputs dimension %d must have length 3", dim);
    for (int i = 0; k->status == FXS_OK && i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        fxs_value d = fxs_int(dim);
        fxs_tensor *x = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "select", fxs_t(a), d, fxs_int(p))),
                               fxs_t(FXS_DO(k, "select", fxs_t(b), d, fxs_int(q))));
        fxs_tensor *y = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "select", fxs_t(a), d, fxs_int(q))),
                               fxs_t(FXS_DO(k, "select", fxs_t(b), d, fxs_int(p))));
        part[i] = FXS_DO(k, "sub", fxs_t(x), fxs_t(y));
    }
    if (k->status == FXS_OK)
        fxs_give(k, FXS_DO(k, "stack", fxs_tensors(k, 3, part), fxs_int(dim)));
}

/* diagflat(x, offset): the elements on a diagonal */
static void make_diagflat(fxs_compose *k) {
    fxs_give(k, FXS_DO(k, "diag", fxs_t(FXS_DO(k, "ravel", self(k))), k->call->arg[1]));
}

FXS_COMPOSED(trace)
FXS_COMPOSED(cov)
FXS_COMPOSED(corrcoef)
FXS_COMPOSED(kron)
FXS_COMPOSED(linalg_vander)
FXS_COMPOSED(vander)
FXS_COMPOSED(cross)
FXS_COMPOSED_FREE(diagflat)

#define PURE FXS_OP_NO_INPLACE
#define BOTH(name) "torch." name " Tensor." name
#define ROW(op, schema, spellings, flags)                                                          \
    { #op, schema " -> Tensor", spellings, infer_##op, run_##op, cost_##op, flags }
#define FREE(op, schema, spellings)                                                                \
    { #op, schema " -> Tensor", spellings, infer_##op, run_##op, NULL, PURE }

const fxs_op fxs_ops_composed_matrix[] = {
    ROW(trace, "(Tensor self)", BOTH("trace"), PURE),
    ROW(cov, "(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)",
        BOTH("cov"), PURE),
    ROW(corrcoef, "(Tensor self)", BOTH("corrcoef"), PURE),
    ROW(kron, "(Tensor self, Tensor other)", BOTH("kron"), PURE),
    ROW(linalg_vander, "(Tensor x, *, int? N=None)", "torch._C._linalg.linalg_vander", PURE),
    ROW(vander, "(Tensor x, int? N=None, bool increasing=False)", "torch.vander", PURE),
    ROW(cross, "(Tensor self, Tensor other, int? dim=None)", BOTH("cross"), PURE),
    {"linalg_cross", "(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
     "torch._C._linalg.linalg_cross", infer_cross, run_cross, cost_cross, PURE},
    FREE(diagflat, "(Tensor self, int offset=0)", BOTH("diagflat")),
    {0},
};
#undef PURE
#undef BOTH
#undef ROW
#undef FREE
