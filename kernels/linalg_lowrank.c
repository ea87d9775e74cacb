/* linalg_lowrank.c: a few singular or eigenvalues of a matrix. svd_lowrank and pca_lowrank look for
 * the range of the matrix from a random start, as Halko et al. (2009) do; lobpcg's eigenpairs,
 * which PyTorch iterates towards from a random start, are computed whole here. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

static fxs_tensor *times(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, "matmul", fxs_t(a), fxs_t(b));
}
static fxs_tensor *turned(fxs_compose *k, fxs_tensor *a) {
    return a && a->ndim > 1 ? FXS_DO(k, "transpose", fxs_t(a), fxs_int(-2), fxs_int(-1)) : a;
}

/* ---- svd_lowrank, pca_lowrank
 * ---------------------------------------------------------------------------------- */

/* (a - m) b */
static fxs_tensor *product(fxs_compose *k, fxs_tensor *a, fxs_tensor *m, fxs_tensor *b) {
    fxs_tensor *x = times(k, a, b);
    return m ? FXS_DO(k, "sub", fxs_t(x), fxs_t(times(k, m, b))) : x;
}

static fxs_tensor *orthogonal(fxs_compose *k, fxs_tensor *x) {
    FXS_DO(k, "linalg_qr", fxs_t(x));
    return fxs_do_item(k, 0);
}

/* The random start is of float32 beside what is no such type: products by it take no columns then.
 */
static fxs_dtype start_type(fxs_dtype d) {
    return d == FXS_FLOAT16 || d == FXS_FLOAT64 ? d : FXS_FLOAT32;
}

/* q orthogonal columns that nearly span the range of a - m */
static fxs_tensor *basis(fxs_compose *k, fxs_tensor *a, fxs_tensor *m, int64_t q, int64_t niter) {
    if (k->status != FXS_OK)
        return NULL;
    fxs_tensor *r = FXS_DO_NAMED(k, "randn", "dtype", fxs_of_dtype(start_type(a->dtype)),
                                 FXS_INTS(k, a->sizes[a->ndim - 1], q));
    fxs_tensor *ah = turned(k, a), *mh = turned(k, m);
    fxs_tensor *x = orthogonal(k, product(k, a, m, r));
    for (int64_t i = 0; i < niter && k->status == FXS_OK; i++) {
        x = orthogonal(k, product(k, ah, mh, x));
        x = orthogonal(k, product(k, a, m, x));
    }
    return x;
}

static void give_svd(fxs_compose *k, fxs_tensor *a, fxs_tensor *m, int64_t q, int64_t niter) {
    int64_t rows = a->sizes[a->ndim - 2], columns = a->sizes[a->ndim - 1];
    bool wide = rows < columns || columns > q;
    fxs_tensor *at = turned(k, a), *mt = turned(k, m), *x, *b, *u, *v;
    if (q < 0) {
        fxs_stop(k, FXS_EINVAL, "q must be at least 0, but it is %lld", (long long)q);
        return;
    }
    x = wide ? basis(k, at, mt, q, niter) : basis(k, a, m, q, niter);
    b = wide ? product(k, a, m, x) : turned(k, product(k, at, mt, x));
    if (k->status != FXS_OK)
        return;
    int64_t have = b->sizes[b->ndim - 2], width = b->sizes[b->ndim - 1];
    if ((wide ? width : have) != q || width > have) { /* a basis has no more than there are */
        fxs_stop(k, FXS_EINVAL, "q must be at most the smaller size of the matrix, but it is %lld",
                 (long long)q);
        return;
    }
    FXS_DO(k, "linalg_svd", fxs_t(b), fxs_bool(false));
    u = fxs_do_item(k, 0);
    fxs_tensor *s = fxs_do_item(k, 1);
    v = turned(k, fxs_do_item(k, 2));
    fxs_give(k, wide ? u : times(k, x, u));
    fxs_give(k, s);
    fxs_give(k, wide ? times(k, x, v) : v);
}

static bool is_matrix(fxs_compose *k) {
    if (arg(k, 0)->ndim < 2)
        fxs_stop(k, FXS_ESHAPE, "expected a matrix or a batch of them, but got %d dimensions",
                 arg(k, 0)->ndim);
    return k->status == FXS_OK;
}
static bool is_real_matrix(fxs_compose *k) {
    if (is_matrix(k) && !fxs_is_floating(arg(k, 0)->dtype))
        fxs_stop(k, FXS_ETYPE, "expected a real floating point matrix, but got torch.%s",
                 fxs_dtype_name(arg(k, 0)->dtype));
    return k->status == FXS_OK;
}

/* svd_lowrank(A, q, niter, M) */
static void make_svd_lowrank(fxs_compose *k) {
    if (is_matrix(k))
        give_svd(k, arg(k, 0), arg(k, 3), fxs_arg_int(k->call, 1), fxs_arg_int(k->call, 2));
}

/* pca_lowrank(A, q, center, niter): of a matrix whose columns have the mean 0 */
static void make_pca_lowrank(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0);
    if (!is_matrix(k))
        return;
    int64_t rows = a->sizes[a->ndim - 2], columns = a->sizes[a->ndim - 1], niter,
            most = rows < columns ? rows : columns, q = most < 6 ? most : 6;
    niter = fxs_arg_int(k->call, 3);
    if (!fxs_arg_is_none(k->call, 1))
        q = fxs_arg_int(k->call, 1);
    if (q < 0 || q > most)
        fxs_stop(k, FXS_EINVAL,
                 "q(=%lld) must be non-negative integer and not greater than min(m, n)=%lld",
                 (long long)q, (long long)most);
    if (niter < 0)
        fxs_stop(k, FXS_EINVAL, "niter(=%lld) must be non-negative integer", (long long)niter);
    if (fxs_arg_bool(k->call, 2))
        a = FXS_DO(k, "sub", fxs_t(a),
                   fxs_t(FXS_DO(k, "mean", fxs_t(a), FXS_INTS(k, -2), fxs_bool(true))));
    if (k->status == FXS_OK)
        give_svd(k, a, NULL, q, niter);
}

/* ---- lobpcg
 * -----------------------------------------------------------------------------------------------------
 */

/* lobpcg(A, k, B, X, ...) */
enum { A, K, B, X, N, LARGEST = 8, METHOD };

/* A as it is taken: where a gradient is asked for it is made symmetric first, also of one row. */
static fxs_tensor *symmetric(fxs_compose *k) {
    fxs_tensor *a = arg(k, A), *b = arg(k, B);
    if (!is_real_matrix(k) || !(a->requires_grad || (b && b->requires_grad)))
        return a;
    fxs_tensor *other = FXS_DO(k, "transpose", fxs_t(a), fxs_int(-1), fxs_int(-2));
    return FXS_DO(k, "mul", fxs_t(FXS_DO(k, "add", fxs_t(a), fxs_t(other))), fxs_float(0.5));
}

static bool same_shape(const fxs_tensor *a, const fxs_tensor *b) {
    return a->ndim == b->ndim &&
           memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
}

/* What is asked for: `have` columns, of which the first `count` are given. */
static void check_lobpcg(fxs_compose *k, const fxs_tensor *a, int64_t *have, int64_t *count) {
    const fxs_tensor *start = arg(k, X);
    if (k->status != FXS_OK)
        return;
    int64_t rows = a->sizes[a->ndim - 1];
    *count = fxs_arg_is_none(k->call, K) ? 1 : fxs_arg_int(k->call, K);
    *have = *count;
    bool fits = !start || start->ndim == a->ndim;
    for (int i = 0; start && fits && i < a->ndim - 1; i++)
        fits = start->sizes[i] == (i < a->ndim - 2 ? a->sizes[i] : rows);
    if (!fits) {
        fxs_stop(k, FXS_ESHAPE, "X must be as A but for its columns, with %lld rows",
                 (long long)rows);
        return;
    }
    if (arg(k, B) && !same_shape(arg(k, B), arg(k, A)))
        fxs_stop(k, FXS_ESHAPE, "A and B must have the same shape");
    if (arg(k, B) && arg(k, B)->dtype != a->dtype)
        fxs_stop(k, FXS_ETYPE, "expected B of torch.%s, as A, but it is torch.%s",
                 fxs_dtype_name(a->dtype), fxs_dtype_name(arg(k, B)->dtype));
    if (!fxs_arg_is_none(k->call, N))
        *have = fxs_arg_int(k->call, N);
    if (start)
        *have = start->sizes[start->ndim - 1];
    if (start && fxs_arg_is_none(k->call, K))
        *count = *have;
    *count = *count < *have ? *count : *have;
    if (a->sizes[a->ndim - 2] != rows)
        fxs_stop(k, FXS_ESHAPE, "A must be symmetric");
    if (*count < 1 || rows < 3 * *have)
        fxs_stop(k, FXS_EINVAL,
                 "not applicable when the number of A rows (=%lld) is smaller than 3 x the number "
                 "of requested eigenpairs (=%lld)",
                 (long long)rows, (long long)*have);
    const char *method = fxs_arg_is_none(k->call, METHOD) ? "ortho" : fxs_arg_str(k->call, METHOD);
    if (strcmp(method, "ortho") != 0 && strcmp(method, "basic") != 0)
        fxs_stop(k, FXS_EINVAL, "method must be 'ortho' or 'basic', not '%s'", method);
}

static fxs_tensor *solved(fxs_compose *k, fxs_tensor *l, fxs_tensor *b, bool upper) {
    return FXS_DO_NAMED(k, "linalg_solve_triangular", "upper", fxs_bool(upper), fxs_t(l), fxs_t(b));
}

/* A x = e B x; with B = L L', of L^-1 A L'^-1 y = e y, where x is L'^-1 y. */
static void make_lobpcg(fxs_compose *k) {
    int64_t have = 1, count = 1;
    fxs_tensor *a = symmetric(k), *l = NULL;
    k->any_grad = true;
    check_lobpcg(k, a, &have, &count);
    int64_t asked = fxs_arg_is_none(k->call, K) ? count : fxs_arg_int(k->call, K);
    bool batch = a && a->ndim > 2;
    if (batch && asked > have && have > 1)
        fxs_stop(k, FXS_ESHAPE, "there are %lld columns, not %lld", (long long)have,
                 (long long)asked);
    if (k->status == FXS_OK && arg(k, B)) {
        l = FXS_DO(k, "linalg_cholesky", fxs_t(arg(k, B)));
        a = solved(k, l, turned(k, solved(k, l, a, false)), false);
    }
    if (k->status != FXS_OK)
        return;
    bool largest = fxs_arg_is_none(k->call, LARGEST) || fxs_arg_bool(k->call, LARGEST);
    int64_t from = largest ? a->sizes[a->ndim - 1] - have : 0;
    FXS_DO(k, "linalg_eigh", fxs_t(a));
    fxs_tensor *e = fxs_do_item(k, 0), *x = fxs_do_item(k, 1), *both[2] = {e, x};
    if (l)
        both[1] = solved(k, turned(k, l), x, true);
    for (int i = 0; i < 2; i++) {
        fxs_tensor *t =
            FXS_DO(k, "narrow", fxs_t(both[i]), fxs_int(-1), fxs_int(from), fxs_int(have));
        if (largest)
            t = FXS_DO(k, "flip", fxs_t(t), FXS_INTS(k, -1));
        fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
        t = FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(t));
        t = FXS_DO(k, "narrow", fxs_t(t), fxs_int(-1), fxs_int(0), fxs_int(count));
        if (batch && t) { /* written into results of their own, where one column fills several */
            int64_t sizes[FXS_MAX_DIM];
            memcpy(sizes, t->sizes, sizeof sizes);
            sizes[t->ndim - 1] = asked > count ? asked : count;
            t = FXS_DO(k, "expand", fxs_t(t), fxs_ints(k, t->ndim, sizes));
            t = FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(t));
        }
        fxs_give(k, t);
    }
}

FXS_COMPOSED(svd_lowrank)
FXS_COMPOSED(pca_lowrank)
FXS_COMPOSED(lobpcg)

#define RANDOM (FXS_OP_NO_INPLACE | FXS_OP_RANDOM)

const fxs_op fxs_ops_linalg_lowrank[] = {
    {"svd_lowrank", "(Tensor A, int q=6, int niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)",
     "torch._lowrank.svd_lowrank torch.svd_lowrank", infer_svd_lowrank, run_svd_lowrank,
     cost_svd_lowrank, RANDOM | FXS_OP_COMPLEX},
    {"pca_lowrank",
     "(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor, Tensor, Tensor)",
     "torch._lowrank.pca_lowrank torch.pca_lowrank", infer_pca_lowrank, run_pca_lowrank,
     cost_pca_lowrank, RANDOM | FXS_OP_COMPLEX},
    {"lobpcg",
     "(Tensor A, int? k=None, Tensor? B=None, Tensor? X=None, int? n=None, Tensor? iK=None, int? "
     "niter=None, float? tol=None, bool? largest=None, str? method=None, any tracker=None, any "
     "ortho_iparams=None, any ortho_fparams=None, any ortho_bparams=None) -> (Tensor, Tensor)",
     "torch._lobpcg.lobpcg torch.lobpcg", infer_lobpcg, run_lobpcg, cost_lobpcg, FXS_OP_NO_INPLACE},
    {0},
};
#undef RANDOM
