/* linalg_made.c: what linear algebra makes of factors and products: logdet matrix_power matrix_rank
 * pinv cond, matrix norms, multi_dot, tensorinv, tensorsolve, vecdot. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/linalg.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static fxs_value self(const fxs_compose *k) { return fxs_t(arg(k, 0)); }

/* Checks of linalg.h within a composition. */
static bool are_matrices(fxs_compose *k, const fxs_tensor *t, bool square) {
    if (k->status == FXS_OK)
        k->status = (square ? fxs_check_square : fxs_check_matrices)(k->call, t);
    return k->status == FXS_OK;
}

static bool is_empty(const fxs_tensor *t) { return fxs_tensor_numel(t) == 0; }

/* ---- determinant and powers
 * --------------------------------------------------------------------------------- */

static void make_logdet(fxs_compose *k) {
    if (!are_matrices(k, arg(k, 0), true))
        return;
    FXS_DO(k, "linalg_slogdet", self(k));
    fxs_tensor *sign = fxs_do_item(k, 0), *size = fxs_do_item(k, 1);
    if (k->status == FXS_OK && fxs_is_complex(sign->dtype)) {
        fxs_give(k, FXS_DO(k, "add", fxs_t(FXS_DO(k, "log", fxs_t(sign))), fxs_t(size)));
        return;
    }
    fxs_tensor *below = FXS_DO(k, "eq", fxs_t(sign), fxs_float(-1));
    fxs_give(k, FXS_DO(k, "where", fxs_t(below), fxs_float(NAN), fxs_t(size)));
}

static fxs_tensor *power(fxs_compose *k, fxs_tensor *x, int64_t n) {
    fxs_tensor *result = NULL;
    for (; n && k->status == FXS_OK; n /= 2) {
        if (n % 2)
            result = result ? FXS_DO(k, "matmul", fxs_t(result), fxs_t(x)) : x;
        if (n > 1)
            x = FXS_DO(k, "matmul", fxs_t(x), fxs_t(x));
    }
    return result;
}

static fxs_tensor *contiguous_copy(fxs_compose *k, fxs_tensor *x) {
    fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
    return FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(x));
}

static void make_matrix_power(fxs_compose *k) {
    int64_t n = fxs_arg_int(k->call, 1);
    fxs_tensor *x = arg(k, 0);
    k->any_grad = true;
    if (x->ndim < 2 || fxs_rows(x) != fxs_columns(x)) {
        k->status = fxs_check_any_square(k->call, x);
        return;
    }
    if (n < 0) {
        x = FXS_DO(k, "linalg_inv", fxs_t(x));
        n = -n;
    }
    if (n == 0) {
        fxs_tensor *eye =
            FXS_DO_NAMED(k, "eye", "dtype", fxs_of_dtype(x->dtype), fxs_int(fxs_rows(x)));
        eye = FXS_DO(k, "expand", fxs_t(eye), fxs_ints(k, x->ndim, x->sizes));
        fxs_give(k, contiguous_copy(k, eye));
        return;
    }
    if (n == 1)
        fxs_give(k, x == arg(k, 0) ? contiguous_copy(k, x) : x);
    else
        fxs_give(k, power(k, x, n));
}

/* ---- ranks and pseudo-inverses: singular values below a tolerance count as zero
 * ------------------------------------- */

typedef struct tolerances {
    fxs_value absolute, relative; /* numbers, tensors of a number a matrix, or None */
    bool hermitian;
} tolerances;

static double epsilon_of(const fxs_tensor *t) {
    return fxs_real_of(t->dtype) == FXS_FLOAT64 ? 0x1p-52 : 0x1p-23;
}

/* [..., k] > the tolerance of each matrix. values are not negative. */
static fxs_tensor *above(fxs_compose *k, const fxs_tensor *x, fxs_tensor *values,
                         const tolerances *t) {
    int64_t large = fxs_rows(x) > fxs_columns(x) ? fxs_rows(x) : fxs_columns(x);
    fxs_value relative = t->relative, absolute = t->absolute;
    bool has_absolute = absolute.tag != FXS_V_NONE;
    if (relative.tag == FXS_V_NONE)
        relative =
            fxs_float(has_absolute && absolute.tag != FXS_V_TENSOR &&
                              (absolute.tag == FXS_V_INT ? absolute.u.i > 0 : absolute.u.f > 0)
                          ? 0
                          : epsilon_of(x) * (double)large);
    fxs_tensor *most = FXS_DO(k, "amax", fxs_t(values), fxs_int(-1), fxs_bool(true));
    if (relative.tag == FXS_V_TENSOR)
        relative = fxs_t(FXS_DO(k, "unsqueeze", relative, fxs_int(-1)));
    if (absolute.tag == FXS_V_TENSOR)
        absolute = fxs_t(FXS_DO(k, "unsqueeze", absolute, fxs_int(-1)));
    fxs_tensor *limit = FXS_DO(k, "mul", fxs_t(most), relative);
    if (absolute.tag == FXS_V_TENSOR)
        limit = FXS_DO(k, "maximum", fxs_t(limit), absolute);
    else if (has_absolute)
        limit = FXS_DO(k, "clamp_min", fxs_t(limit), absolute);
    return FXS_DO(k, "gt", fxs_t(values), fxs_t(limit));
}

/* Of no matrices the rank is 0, whatever their shape, and their type where it says no tolerance. */
static bool may_have_rank(fxs_compose *k, const fxs_tensor *x, const tolerances *t) {
    const fxs_value *given[] = {&t->relative, &t->absolute};
    for (int i = 0; i < 2 && k->status == FXS_OK; i++)
        if (given[i]->tag == FXS_V_TENSOR && fxs_is_complex(given[i]->u.tensor->dtype))
            fxs_stop(k, FXS_ETYPE, "tolerances of a complex type are not supported");
    fxs_dtype real = fxs_real_of(x->dtype);
    if (t->relative.tag == FXS_V_NONE && real != FXS_FLOAT32 && real != FXS_FLOAT64)
        fxs_stop(k, FXS_ETYPE, "torch.%s has no tolerance of its own", fxs_dtype_name(x->dtype));
    if (k->status == FXS_OK && is_empty(x) && t->relative.tag != FXS_V_NONE)
        k->status = fxs_check_any_matrices(k->call, x);
    return k->status == FXS_OK && (is_empty(x) && t->relative.tag != FXS_V_NONE
                                       ? true
                                       : are_matrices(k, x, t->hermitian && !is_empty(x)));
}

static void give_rank(fxs_compose *k, const tolerances *t) {
    fxs_tensor *x = arg(k, 0);
    if (!may_have_rank(k, x, t))
        return;
    if (is_empty(x)) {
        fxs_batch b = fxs_batch_of(x, 2);
        fxs_give(k, FXS_DO_NAMED(k, "zeros", "dtype", fxs_of_dtype(FXS_INT64),
                                 fxs_ints(k, b.n, b.sizes)));
        return;
    }
    fxs_tensor *values = t->hermitian
                             ? FXS_DO(k, "abs", fxs_t(FXS_DO(k, "linalg_eigvalsh", fxs_t(x))))
                             : FXS_DO(k, "linalg_svdvals", fxs_t(x));
    fxs_give(k, FXS_DO(k, "sum", fxs_t(above(k, x, values, t)), fxs_int(-1)));
}

/* (self, *, atol, rtol, hermitian) */
static tolerances new_tolerances(fxs_compose *k) {
    const fxs_tensor *t[] = {arg(k, 1), arg(k, 2)};
    for (int i = 0; i < 2; i++)
        if (t[i] && t[i]->ndim > 0 && !t[1 - i] && !fxs_arg_is_none(k->call, 2 - i))
            fxs_stop(k, FXS_ETYPE, "atol and rtol must both be tensors, or both be numbers");
    return (tolerances){k->call->arg[1], k->call->arg[2], fxs_arg_bool(k->call, 3)};
}

static void make_matrix_rank(fxs_compose *k) {
    tolerances t = new_tolerances(k);
    give_rank(k, &t);
}

/* (self, tol, hermitian): an absolute tolerance */
static void make_rank_above(fxs_compose *k) {
    tolerances t = {k->call->arg[1], fxs_float(0), fxs_arg_bool(k->call, 2)};
    give_rank(k, &t);
}

static fxs_tensor *turned(fxs_compose *k, fxs_tensor *t) {
    t = FXS_DO(k, "transpose", fxs_t(t), fxs_int(-2), fxs_int(-1));
    return t && fxs_is_complex(t->dtype) ? FXS_DO(k, "conj_physical", fxs_t(t)) : t;
}

/* Tolerances are real. */
static void check_tolerance(fxs_compose *k, const fxs_value *v, const char *name) {
    if (v->tag == FXS_V_TENSOR && fxs_is_complex(v->u.tensor->dtype))
        fxs_stop(k, FXS_ETYPE, "%s of a complex type is not supported", name);
}

static void give_inverse(fxs_compose *k, const tolerances *t) {
    fxs_tensor *x = arg(k, 0), *u, *values, *v, *size;
    k->any_grad = true;
    for (int i = 1; i < k->call->nargs && k->status == FXS_OK; i++)
        k->status = fxs_check_no_grad(k->call, i, i == 1 ? "atol" : "rtol");
    check_tolerance(k, &t->absolute, "atol");
    check_tolerance(k, &t->relative, "rtol");
    if (k->status != FXS_OK || !are_matrices(k, x, t->hermitian && !is_empty(x)))
        return;
    if (is_empty(x)) {
        int64_t sizes[FXS_MAX_DIM];
        memcpy(sizes, x->sizes, sizeof sizes);
        sizes[x->ndim - 2] = fxs_columns(x), sizes[x->ndim - 1] = fxs_rows(x);
        fxs_give(k, FXS_DO(k, "new_empty", fxs_t(x), fxs_ints(k, x->ndim, sizes)));
        return;
    }
    if (t->hermitian) {
        FXS_DO(k, "linalg_eigh", fxs_t(x));
        values = fxs_do_item(k, 0), u = fxs_do_item(k, 1), v = u;
        size = FXS_DO(k, "abs", fxs_t(values));
    } else {
        FXS_DO(k, "linalg_svd", fxs_t(x), fxs_bool(false));
        u = fxs_do_item(k, 0), values = size = fxs_do_item(k, 1), v = fxs_do_item(k, 2);
        v = turned(k, v);
    }
    fxs_tensor *kept = above(k, x, size, t);
    values = FXS_DO(k, "where", fxs_t(kept), fxs_t(FXS_DO(k, "reciprocal", fxs_t(values))),
                    fxs_t(FXS_DO(k, "zeros_like", fxs_t(values))));
    v = FXS_DO(k, "mul", fxs_t(v), fxs_t(FXS_DO(k, "unsqueeze", fxs_t(values), fxs_int(-2))));
    fxs_give(k, FXS_DO(k, "matmul", fxs_t(v), fxs_t(turned(k, u))));
}

static void make_linalg_pinv(fxs_compose *k) {
    tolerances t = new_tolerances(k);
    give_inverse(k, &t);
}

/* (self, rcond, hermitian): a relative tolerance */
static void make_pinv_within(fxs_compose *k) {
    tolerances t = {fxs_float(0), k->call->arg[1], k->call->nargs > 2 && fxs_arg_bool(k->call, 2)};
    give_inverse(k, &t);
}

/* Refuses an order that is none of cond's. 0 x 0 matrices have the condition 0. */
static bool may_have_cond(fxs_compose *k, fxs_tensor *x, const char *name, double order) {
    bool known = name ? strcmp(name, "fro") == 0 || strcmp(name, "nuc") == 0
                      : fabs(order) == 1 || fabs(order) == 2 || isinf(order);
    k->status = fxs_check_any_matrices(k->call, x);
    if (k->status == FXS_OK && (name || (!is_empty(x) && fabs(order) != 2)))
        k->status = fxs_check_any_square(k->call, x);
    if (k->status == FXS_OK && !known)
        fxs_stop(k, FXS_EINVAL, "the order is none of None, 1, -1, 2, -2, inf, -inf, 'fro', 'nuc'");
    if (k->status != FXS_OK || !is_empty(x))
        return k->status == FXS_OK;
    fxs_batch b = fxs_batch_of(x, 2);
    fxs_dtype d = name ? x->dtype : fxs_real_of(x->dtype);
    fxs_give(k, FXS_DO_NAMED(k, "zeros", "dtype", fxs_of_dtype(d), fxs_ints(k, b.n, b.sizes)));
    return false;
}

/* cond(A, p): the largest singular value by the smallest, or norm(A) * norm(inverse) */
static void make_cond(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *values, *first, *second;
    fxs_value p = k->call->arg[1];
    const char *name = fxs_value_text(&p);
    double order = p.tag == FXS_V_NONE ? 2 : name ? 0 : fxs_arg_float(k->call, 1);
    k->own_grad = true;
    if (!may_have_cond(k, x, name, order))
        return;
    if (name && strcmp(name, "nuc") == 0) {
        values = FXS_DO(k, "linalg_svdvals", fxs_t(x));
        first = FXS_DO(k, "sum", fxs_t(values), fxs_int(-1));
        second = FXS_DO(k, "sum", fxs_t(FXS_DO(k, "reciprocal", fxs_t(values))), fxs_int(-1));
        fxs_give(k, FXS_DO(k, "mul", fxs_t(first), fxs_t(second)));
        return;
    }
    if (fabs(order) == 2) {
        values = FXS_DO(k, "linalg_svdvals", fxs_t(x));
        first = FXS_DO(k, order > 0 ? "amax" : "amin", fxs_t(values), fxs_int(-1));
        second = FXS_DO(k, order > 0 ? "amin" : "amax", fxs_t(values), fxs_int(-1));
        fxs_give(k, FXS_DO(k, "div", fxs_t(first), fxs_t(second)));
        return;
    }
    FXS_DO(k, "linalg_inv_ex", fxs_t(x));
    fxs_tensor *inverse = fxs_do_item(k, 0), *info = fxs_do_item(k, 1);
    first = FXS_DO(k, "linalg_matrix_norm", fxs_t(x), p);
    second = FXS_DO(k, "linalg_matrix_norm", fxs_t(inverse), p);
    first = FXS_DO(k, "mul", fxs_t(first), fxs_t(second));
    fxs_give(k, FXS_DO(k, "masked_fill", fxs_t(first),
                       fxs_t(FXS_DO(k, "ne", fxs_t(info), fxs_int(0))), fxs_float(INFINITY)));
}

/* ---- products
 * -----------------------------------------------------------------------------------------------
 */

enum { MAX_CHAIN = 24 };

typedef struct chain {
    fxs_compose *k;
    fxs_tensor *t[MAX_CHAIN];
    int64_t size[MAX_CHAIN + 1]; /* t[i] is [size[i], size[i + 1]] */
    double cost[MAX_CHAIN][MAX_CHAIN];
    int cut[MAX_CHAIN][MAX_CHAIN];
} chain;

/* The cheapest order to multiply in, by length of the part. */
static void plan(chain *c, int n) {
    for (int length = 1; length < n; length++)
        for (int i = 0; i + length < n; i++) {
            int j = i + length;
            c->cost[i][j] = INFINITY;
            for (int m = i; m < j; m++) {
                double cost = c->cost[i][m] + c->cost[m + 1][j] +
                              (double)c->size[i] * (double)c->size[m + 1] * (double)c->size[j + 1];
                if (cost < c->cost[i][j])
                    c->cost[i][j] = cost, c->cut[i][j] = m;
            }
        }
}

static fxs_tensor *multiply(const chain *c, int i, int j) {
    if (i == j)
        return c->t[i];
    fxs_tensor *a = multiply(c, i, c->cut[i][j]), *b = multiply(c, c->cut[i][j] + 1, j);
    return FXS_DO(c->k, "mm", fxs_t(a), fxs_t(b));
}

static bool read_chain(fxs_compose *k, chain *c, int n, bool vectors) {
    char text[FXS_SIZES_TEXT];
    for (int i = 0; i < n; i++) {
        fxs_tensor *t = fxs_arg_tensor_at(k->call, 0, i);
        bool may = vectors && (i == 0 || i == n - 1);
        if (t && t->ndim == 1 && may)
            t = FXS_DO(k, "unsqueeze", fxs_t(t), fxs_int(i == 0 ? 0 : 1));
        if (!t || k->status != FXS_OK)
            return false;
        if (t->ndim != 2) {
            fxs_stop(k, FXS_ESHAPE, "tensor %d must be a matrix%s, but its shape is %s", i,
                     may ? " or a vector" : "", fxs_sizes_text(t, text));
            return false;
        }
        c->t[i] = t;
        c->size[i] = t->sizes[0];
        c->size[i + 1] = t->sizes[1];
        if (i && c->t[i - 1]->sizes[1] != t->sizes[0]) {
            fxs_stop(k, FXS_ESHAPE, "tensors %d and %d can't be multiplied: %lld and %lld", i - 1,
                     i, (long long)c->t[i - 1]->sizes[1], (long long)t->sizes[0]);
            return false;
        }
    }
    return true;
}

static void give_chain(fxs_compose *k, bool vectors) {
    int n = fxs_arg_len(k->call, 0);
    chain c = {.k = k};
    if (n > MAX_CHAIN || n < (vectors ? 2 : 1))
        fxs_stop(k, FXS_EINVAL, "expected %d to %d tensors, but got %d", vectors ? 2 : 1, MAX_CHAIN,
                 n);
    for (int i = 1; i < n && k->status == FXS_OK; i++)
        if (fxs_arg_tensor_at(k->call, 0, i) && fxs_arg_tensor_at(k->call, 0, 0) &&
            fxs_arg_tensor_at(k->call, 0, i)->dtype != fxs_arg_tensor_at(k->call, 0, 0)->dtype)
            fxs_stop(k, FXS_ETYPE, "all tensors must have one type, but tensor %d has another", i);
    if (k->status != FXS_OK || !read_chain(k, &c, n, vectors))
        return;
    plan(&c, n);
    fxs_tensor *x = multiply(&c, 0, n - 1);
    if (vectors && fxs_arg_tensor_at(k->call, 0, n - 1)->ndim == 1)
        x = FXS_DO(k, "squeeze", fxs_t(x), fxs_int(-1));
    if (vectors && fxs_arg_tensor_at(k->call, 0, 0)->ndim == 1)
        x = FXS_DO(k, "squeeze", fxs_t(x), fxs_int(0));
    fxs_give(k, x);
}

static void make_multi_dot(fxs_compose *k) { give_chain(k, true); }
static void make_chain_matmul(fxs_compose *k) { give_chain(k, false); }

/* vecdot(x, y, dim) */
static void make_vecdot(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    if (!fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype))
        fxs_stop(k, FXS_ETYPE, "expected a floating point or complex tensor, but got torch.%s",
                 fxs_dtype_name(x->dtype));
    if (arg(k, 1)->dtype != x->dtype)
        fxs_stop(k, FXS_ETYPE, "expected x and y of one type, but got torch.%s and torch.%s",
                 fxs_dtype_name(x->dtype), fxs_dtype_name(arg(k, 1)->dtype));
    if (k->status == FXS_OK && fxs_is_complex(x->dtype))
        x = FXS_DO(k, "conj_physical", fxs_t(x));
    bool one = x && x->ndim == 1 && arg(k, 1)->ndim == 1; /* of two vectors dim says nothing */
    if (one && x->sizes[0] != arg(k, 1)->sizes[0])
        fxs_stop(k, FXS_ESHAPE, "two vectors must be of one size, but they are of %lld and %lld",
                 (long long)x->sizes[0], (long long)arg(k, 1)->sizes[0]);
    x = FXS_DO(k, "mul", fxs_t(x), fxs_t(arg(k, 1)));
    fxs_give(k, FXS_DO(k, "sum", fxs_t(x), one ? fxs_int(0) : k->call->arg[2]));
}

/* ---- tensors as matrices
 * ------------------------------------------------------------------------------------- */

static int64_t product(const int64_t *sizes, int from, int to) {
    int64_t n = 1;
    for (int i = from; i < to; i++)
        n *= sizes[i];
    return n;
}

/* tensorinv(A, ind): the first ind dimensions are the rows */
static void make_tensorinv(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    int64_t ind = fxs_arg_int(k->call, 1), sizes[FXS_MAX_DIM];
    if (ind <= 0 || ind > x->ndim) {
        fxs_stop(k, FXS_EINVAL, "expected ind to be 1 or more, but got %lld", (long long)ind);
        return;
    }
    int64_t rows = product(x->sizes, 0, (int)ind), columns = product(x->sizes, (int)ind, x->ndim);
    if (rows != columns)
        fxs_stop(k, FXS_ESHAPE,
                 "expected the first %lld dimensions to hold as much as the others, but they hold "
                 "%lld and %lld",
                 (long long)ind, (long long)rows, (long long)columns);
    for (int i = 0; i < x->ndim; i++)
        sizes[i] = x->sizes[(i + ind) % x->ndim];
    int ndim = x->ndim;
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, rows, columns));
    x = FXS_DO(k, "linalg_inv", fxs_t(x));
    fxs_give(k, FXS_DO(k, "reshape", fxs_t(x), fxs_ints(k, ndim, sizes)));
}

/* tensorsolve(A, B, dims): A X = B, where A's first dimensions are those of B */
static void make_tensorsolve(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1);
    int64_t n = fxs_tensor_numel(b), sizes[FXS_MAX_DIM];
    if (!fxs_arg_is_none(k->call, 2)) {
        int64_t dims[FXS_MAX_DIM], ends[FXS_MAX_DIM];
        int count = fxs_arg_ints(k->call, 2, dims, FXS_MAX_DIM);
        for (int i = 0; i < count; i++)
            ends[i] = a->ndim - count + i;
        a = FXS_DO(k, "movedim", fxs_t(a), fxs_ints(k, count, dims), fxs_ints(k, count, ends));
    }
    if (k->status != FXS_OK)
        return;
    if (b->ndim > a->ndim || n != product(a->sizes, b->ndim, a->ndim) ||
        n != product(a->sizes, 0, b->ndim)) {
        fxs_stop(k, FXS_ESHAPE, "expected A to hold a square of the elements of B");
        return;
    }
    int rest = a->ndim - b->ndim;
    memcpy(sizes, a->sizes + b->ndim, (size_t)rest * sizeof *sizes);
    a = FXS_DO(k, "reshape", fxs_t(a), FXS_INTS(k, n, n));
    b = FXS_DO(k, "linalg_solve", fxs_t(a), fxs_t(FXS_DO(k, "ravel", fxs_t(b))));
    fxs_give(k, FXS_DO(k, "reshape", fxs_t(b), fxs_ints(k, rest, sizes)));
}

FXS_COMPOSED(logdet)
FXS_COMPOSED(matrix_power)
FXS_COMPOSED(matrix_rank)
FXS_COMPOSED(rank_above)
FXS_COMPOSED(linalg_pinv)
FXS_COMPOSED(pinv_within)
FXS_COMPOSED(cond)
FXS_COMPOSED(multi_dot)
FXS_COMPOSED(chain_matmul)
FXS_COMPOSED(vecdot)
FXS_COMPOSED(tensorinv)
FXS_COMPOSED(tensorsolve)

#define LINALG(name) "torch._C._linalg.linalg_" name
#define PURE FXS_OP_NO_INPLACE
#define ROW(op, function, schema, spellings)                                                       \
    { op, schema, spellings, infer_##function, run_##function, cost_##function, PURE }

const fxs_op fxs_ops_linalg_made[] = {
    ROW("logdet", logdet, "(Tensor self) -> Tensor", "torch.logdet Tensor.logdet"),
    ROW("linalg_matrix_power", matrix_power, "(Tensor self, int n) -> Tensor",
        LINALG("matrix_power") " torch.matrix_power Tensor.matrix_power"),
    ROW("linalg_matrix_rank", rank_above,
        "(Tensor input, Tensor|number tol, bool hermitian=False) -> Tensor", LINALG("matrix_rank")),
    ROW("linalg_matrix_rank", matrix_rank,
        "(Tensor input, *, Tensor|number? atol=None, Tensor|number? rtol=None, bool "
        "hermitian=False) -> Tensor",
        LINALG("matrix_rank")),
    ROW("linalg_pinv", pinv_within,
        "(Tensor self, Tensor|number rcond, bool hermitian=False) -> Tensor", LINALG("pinv")),
    ROW("linalg_pinv", linalg_pinv,
        "(Tensor self, *, Tensor|number? atol=None, Tensor|number? rtol=None, bool "
        "hermitian=False) -> Tensor",
        LINALG("pinv")),
    ROW("pinverse", pinv_within, "(Tensor self, number rcond=1e-15) -> Tensor",
        "torch.pinverse Tensor.pinverse"),
    ROW("linalg_cond", cond, "(Tensor self, Scalar|str? p=None) -> Tensor", LINALG("cond")),
    ROW("linalg_multi_dot", multi_dot, "(Tensor[] tensors) -> Tensor", LINALG("multi_dot")),
    ROW("linalg_vecdot", vecdot, "(Tensor x, Tensor y, *, int dim=-1) -> Tensor", LINALG("vecdot")),
    ROW("linalg_tensorinv", tensorinv, "(Tensor self, int ind=2) -> Tensor", LINALG("tensorinv")),
    ROW("linalg_tensorsolve", tensorsolve,
        "(Tensor self, Tensor other, int[]? dims=None) -> Tensor", LINALG("tensorsolve")),
    ROW("chain_matmul", chain_matmul, "(Tensor... matrices) -> Tensor", "torch.chain_matmul"),
    {0},
};
