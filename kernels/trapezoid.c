/* trapezoid.c: integrals by trapezoids: trapezoid and cumulative_trapezoid over samples at places
 * x, or dx apart; compositions, step by step as PyTorch's. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* x without its first (from 1) or last (from 0) place */
static fxs_tensor *part(fxs_compose *k, fxs_tensor *x, int dim, int64_t from) {
    int64_t n = k->status == FXS_OK && x ? x->sizes[dim] : 0;
    return FXS_DO(k, "narrow", fxs_t(x), fxs_int(dim), fxs_int(from < n ? from : n),
                  fxs_int(n ? n - 1 : 0));
}

static void find_dim(fxs_compose *k, int *dim) {
    fxs_tensor *y = arg(k, 0);
    if (y->ndim == 0)
        fxs_stop(k, FXS_ESHAPE, "expects y to be at least one-dimensional");
    if (k->status == FXS_OK)
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2), y->ndim, dim);
}

static bool are_numbers(fxs_compose *k) {
    fxs_tensor *y = arg(k, 0), *x = arg(k, 1);
    fxs_tag dx = k->call->arg[1].tag;
    if (y->dtype == FXS_BOOL || (x && x->dtype == FXS_BOOL))
        fxs_stop(k, FXS_ETYPE, "received a bool input, but bool is not supported");
    if (!x && (dx == FXS_V_COMPLEX || dx == FXS_V_BOOL))
        fxs_stop(k, FXS_ETYPE, "dx has to be a real number");
    return k->status == FXS_OK;
}

/* (y[1:] + y[:-1]) * (x[1:] - x[:-1]), where x has the dimensions that it lacks in front, or is a
 * vector along dim; without x the first factor alone. */
static fxs_tensor *pieces(fxs_compose *k, int dim) {
    fxs_tensor *y = arg(k, 0), *x = arg(k, 1);
    int64_t sizes[FXS_MAX_DIM];
    if (x && x->ndim == 1 && x->sizes[0] != y->sizes[dim])
        fxs_stop(k, FXS_ESHAPE,
                 "there must be one x value for each sample point: %lld values for %lld points",
                 (long long)x->sizes[0], (long long)y->sizes[dim]);
    if (x && (x->ndim == 1 || x->ndim < y->ndim)) {
        for (int i = 0; i < y->ndim; i++) {
            int at = x->ndim == 1 ? i == dim ? 0 : -1 : i - (y->ndim - x->ndim);
            sizes[i] = at < 0 ? 1 : x->sizes[at];
        }
        x = FXS_DO(k, "view", fxs_t(x), fxs_ints(k, y->ndim, sizes));
    }
    fxs_tensor *dx = NULL;
    if (x) {
        fxs_tensor *left = part(k, x, dim, 0);
        dx = FXS_DO(k, "sub", fxs_t(part(k, x, dim, 1)), fxs_t(left));
    }
    fxs_tensor *left = part(k, y, dim, 0);
    fxs_tensor *sum = FXS_DO(k, "add", fxs_t(left), fxs_t(part(k, y, dim, 1)));
    return dx ? FXS_DO(k, "mul", fxs_t(sum), fxs_t(dx)) : sum;
}

static fxs_tensor *half(fxs_compose *k, fxs_tensor *t) {
    return FXS_DO(k, "div", fxs_t(t), fxs_float(2));
}

/* Of no samples the integral is 0. */
static void give_nothing(fxs_compose *k, int dim) {
    const fxs_tensor *y = arg(k, 0);
    int64_t sizes[FXS_MAX_DIM];
    int n = 0;
    for (int i = 0; i < y->ndim; i++)
        if (i != dim)
            sizes[n++] = y->sizes[i];
    fxs_give(k, FXS_DO_NAMED(k, "zeros", "dtype", fxs_of_dtype(y->dtype), fxs_ints(k, n, sizes)));
}

/* trapezoid(y, x, dim), trapezoid(y, dx, dim) */
static void make_trapezoid(fxs_compose *k) {
    fxs_tensor *y = arg(k, 0);
    fxs_value first, last;
    int dim = 0;
    k->own_grad = true;
    find_dim(k, &dim);
    if (k->status == FXS_OK && y->sizes[dim] == 0) {
        give_nothing(k, dim);
        return;
    }
    if (k->status != FXS_OK || !are_numbers(k))
        return;
    if (arg(k, 1)) {
        fxs_give(k, half(k, FXS_DO(k, "sum", fxs_t(pieces(k, dim)), FXS_INTS(k, dim))));
        return;
    }
    first = fxs_t(FXS_DO(k, "select", fxs_t(y), fxs_int(dim), fxs_int(0)));
    last = fxs_t(FXS_DO(k, "select", fxs_t(y), fxs_int(dim), fxs_int(-1)));
    fxs_tensor *ends = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "add", first, last)), fxs_float(0.5));
    fxs_tensor *sum = FXS_DO(k, "sum", fxs_t(y), FXS_INTS(k, dim));
    sum = FXS_DO(k, "sub", fxs_t(sum), fxs_t(ends));
    fxs_give(k, FXS_DO(k, "mul", fxs_t(sum), fxs_float(fxs_arg_float(k->call, 1))));
}

/* cumulative_trapezoid(y, x, dim), cumulative_trapezoid(y, dx, dim) */
static void make_cumulative_trapezoid(fxs_compose *k) {
    int dim = 0;
    find_dim(k, &dim);
    if (k->status != FXS_OK || !are_numbers(k))
        return;
    fxs_tensor *sum = pieces(k, dim);
    if (!arg(k, 1))
        sum = FXS_DO(k, "mul", fxs_t(sum), fxs_float(fxs_arg_float(k->call, 1) / 2));
    sum = FXS_DO(k, "cumsum", fxs_t(sum), fxs_int(dim));
    fxs_give(k, arg(k, 1) ? half(k, sum) : sum);
}

FXS_COMPOSED(trapezoid)
FXS_COMPOSED(cumulative_trapezoid)

#define ROW(name, args, spellings)                                                                 \
    {                                                                                              \
#name, "(Tensor y, " args ") -> Tensor", spellings, infer_##name, run_##name, cost_##name, \
            FXS_OP_NO_INPLACE                                                                      \
    }

const fxs_op fxs_ops_trapezoid[] = {
    ROW(trapezoid, "Tensor x, *, int dim=-1", "torch.trapezoid torch.trapz"),
    ROW(trapezoid, "*, Scalar dx=1, int dim=-1", "torch.trapezoid"),
    ROW(trapezoid, "*, number dx=1, int dim=-1", "torch.trapz"),
    ROW(cumulative_trapezoid, "Tensor x, *, int dim=-1", "torch.cumulative_trapezoid"),
    ROW(cumulative_trapezoid, "*, Scalar dx=1, int dim=-1", "torch.cumulative_trapezoid"),
    {0},
};
