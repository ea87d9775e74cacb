/* linalg_more.c: matrix_exp; ormqr, which multiplies by the Q of a QR; ldl_factor and ldl_solve,
 * for symmetric matrices that are not positive definite. */
#include <math.h>
#include <string.h>

#include "kernels/iterate.h"
#include "kernels/linalg.h"
#include "kernels/view.h"

/* ---- matrix_exp(self)
 * --------------------------------------------------------------------------------------------- */

/* The strides of PyTorch's result, which is made like the batch as one dimension. */
static fxs_status infer_matrix_exp(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    if (t->ndim < 2 || (t->dtype != FXS_BFLOAT16 && t->dtype != FXS_FLOAT16))
        FXS_TRY(fxs_check_square(c, t));
    else if (fxs_rows(t) != fxs_columns(t))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected batches of square matrices, but they are %lld by %lld",
                          (long long)fxs_rows(t), (long long)fxs_columns(t));
    int64_t n = fxs_rows(t);
    if (n == 1)
        return fxs_out_like(c, t, t->dtype);
    fxs_strides_like(t, strides);
    if (n && fxs_tensor_numel(t)) {
        fxs_shape flat = {.ndim = 3, .sizes = {fxs_batch_of(t, 2).count, n, n}}, own;
        fxs_tensor batch = {.dtype = t->dtype, .ndim = 3};
        own.ndim = t->ndim;
        memcpy(own.sizes, t->sizes, sizeof own.sizes);
        memcpy(batch.sizes, flat.sizes, 3 * sizeof *flat.sizes);
        if (!fxs_view_strides(t, &flat, batch.strides))
            return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
        fxs_strides_like(&batch, strides);
        memcpy(batch.strides, strides, 3 * sizeof *strides);
        fxs_view_strides(&batch, &own, strides);
    }
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, strides);
}

/* x = a b, of [n, n]. */
static void multiply(int64_t n, int parts, const double *a, const double *b, double *x) {
    memset(x, 0, (size_t)(n * n * parts) * sizeof *x);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < n; k++) {
            const double *from = a + k * n * parts, *by = b + (j * n + k) * parts;
            double *to = x + j * n * parts;
            if (parts == 1) {
                for (int64_t i = 0; i < n; i++)
                    to[i] += from[i] * by[0];
                continue;
            }
            for (int64_t i = 0; i < n; i++) {
                to[2 * i] += from[2 * i] * by[0] - from[2 * i + 1] * by[1];
                to[2 * i + 1] += from[2 * i] * by[1] + from[2 * i + 1] * by[0];
            }
        }
}

/* The largest sum of magnitudes of a column. */
static double norm_of(int64_t n, int parts, const double *a) {
    double most = 0;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum +=
                parts == 1 ? fabs(a[j * n + i]) : hypot(a[2 * (j * n + i)], a[2 * (j * n + i) + 1]);
        most = sum > most || isnan(sum) ? sum : most;
    }
    return most;
}

enum { TERMS = 16 }; /* 0.5^17 / 17! is below a double's last bit */

/* exp(a) = exp(a / 2^k)^(2^k): the series where the norm is at most one half, then squares. The
 * result is in x; all three are overwritten. */
static void exponential(int64_t n, int parts, double *a, double *x, double *room) {
    double norm = norm_of(n, parts, a);
    int halvings = 0;
    if (!isfinite(norm)) {
        for (int64_t i = 0; i < n * n * parts; i++)
            x[i] = NAN;
        return;
    }
    if (norm > 0.5)
        frexp(norm * 2, &halvings);
    for (int64_t i = 0; i < n * n * parts; i++)
        a[i] = ldexp(a[i], -halvings);
    fxs_identity(x, n, parts);
    for (int k = TERMS; k > 0; k--) { /* x = 1 + a x / k */
        multiply(n, parts, a, x, room);
        for (int64_t i = 0; i < n * n * parts; i++)
            x[i] = room[i] / k;
        for (int64_t i = 0; i < n; i++)
            x[(i * n + i) * parts] += 1;
    }
    for (int k = 0; k < halvings; k++) {
        multiply(n, parts, x, x, room);
        memcpy(x, room, (size_t)(n * n * parts) * sizeof *x);
    }
}

static fxs_status run_matrix_exp(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_batch b = fxs_batch_of(t, 2);
    int64_t n = fxs_rows(t);
    int parts = fxs_parts(t);
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, n * n * parts, &s), *x = fxs_room(c, n * n * parts, &s),
           *room = fxs_room(c, n * n * parts, &s);
    for (int64_t i = 0; s == FXS_OK && n && i < b.count; i++) {
        fxs_matrix_load(t, 2, &b, i, parts, a, n);
        exponential(n, parts, a, x, room);
        fxs_matrix_store(c->out[0], 2, &b, i, parts, x, n);
    }
    return s;
}

/* Products of matrices: the terms, and some squares. */
static fxs_cost cost_matrix_exp(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    return (fxs_cost){.flops =
                          2.0 * (TERMS + 4) * (double)fxs_tensor_numel(t) * (double)fxs_rows(t)};
}

/* ---- ormqr(input, tau, other, left, transpose)
 * ------------------------------------------------------------------------- */

static fxs_status infer_ormqr(fxs_call *c) {
    const fxs_tensor *a = fxs_arg_tensor(c, 0), *tau = fxs_arg_tensor(c, 1),
                     *other = fxs_arg_tensor(c, 2);
    bool left = fxs_arg_bool(c, 3);
    char x[FXS_SIZES_TEXT], y[FXS_SIZES_TEXT], z[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_matrices(c, a));
    FXS_TRY(fxs_check_matrices(c, other));
    if (tau->dtype != a->dtype || other->dtype != a->dtype)
        return FXS_REFUSE(
            c, FXS_ETYPE, "expected all of one type, but got torch.%s, torch.%s and torch.%s",
            fxs_dtype_name(a->dtype), fxs_dtype_name(tau->dtype), fxs_dtype_name(other->dtype));
    int64_t k = tau->ndim ? tau->sizes[tau->ndim - 1] : 0,
            side = left ? fxs_rows(other) : fxs_columns(other);
    bool fits = tau->ndim == a->ndim - 1 && other->ndim == a->ndim && side == fxs_rows(a) &&
                k <= fxs_columns(a) && k <= side;
    for (int i = 0; fits && i < a->ndim - 2; i++)
        fits = tau->sizes[i] == a->sizes[i] && other->sizes[i] == a->sizes[i];
    if (!fits)
        return FXS_REFUSE(c, FXS_ESHAPE, "shapes %s, %s and %s do not belong together",
                          fxs_sizes_text(a, x), fxs_sizes_text(tau, y), fxs_sizes_text(other, z));
    if (fxs_is_complex(a->dtype) &&
        (a->requires_grad || tau->requires_grad || other->requires_grad))
        return FXS_REFUSE(c, FXS_ETYPE, "does not support gradients of torch.%s",
                          fxs_dtype_name(a->dtype));
    fxs_batch b = fxs_batch_of(other, 2);
    return fxs_out_columns(c, other->dtype, &b, fxs_rows(other), fxs_columns(other));
}

/* Element i of the k-th reflector's vector. */
static void reflector(const double *a, int64_t rows, int64_t k, int64_t i, int parts, double z[2]) {
    z[0] = i == k;
    z[1] = 0;
    if (i > k)
        memcpy(z, a + (k * rows + i) * parts, (size_t)parts * sizeof *z);
}

/* x -= factor v (v^H x), where x is a line of n elements that lie `step` apart; the other side of
 * a matrix is its conjugate. */
static void reflect(const double *a, int64_t n, int64_t k, const double factor[2], bool conjugate,
                    int parts, double *x, int64_t step) {
    double dot[2] = {0}, v[2], sign = conjugate ? 1 : -1;
    for (int64_t i = k; i < n; i++) {
        const double *e = x + i * step * parts;
        reflector(a, n, k, i, parts, v);
        double imaginary = parts == 2 ? e[1] : 0;
        dot[0] += v[0] * e[0] - sign * v[1] * imaginary;
        dot[1] += v[0] * imaginary + sign * v[1] * e[0];
    }
    double by[2] = {factor[0] * dot[0] - factor[1] * dot[1],
                    factor[0] * dot[1] + factor[1] * dot[0]};
    for (int64_t i = k; i < n; i++) {
        double *e = x + i * step * parts;
        reflector(a, n, k, i, parts, v);
        e[0] -= by[0] * v[0] + sign * by[1] * v[1];
        if (parts == 2)
            e[1] -= by[1] * v[0] - sign * by[0] * v[1];
    }
}

static fxs_status run_ormqr(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0), *tau = fxs_arg_tensor(c, 1),
                     *other = fxs_arg_tensor(c, 2);
    bool left = fxs_arg_bool(c, 3), turned = fxs_arg_bool(c, 4);
    fxs_batch b = fxs_batch_of(other, 2);
    int parts = fxs_parts(t);
    int64_t n = fxs_rows(t), k = tau->sizes[tau->ndim - 1], m = fxs_rows(other),
            lines = left ? fxs_columns(other) : m;
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, n * fxs_columns(t) * parts, &s), *f = fxs_room(c, k * parts, &s),
           *x = fxs_room(c, m * fxs_columns(other) * parts, &s);
    for (int64_t i = 0; s == FXS_OK && i < b.count; i++) {
        fxs_matrix_load(t, 2, &b, i, parts, a, n);
        fxs_matrix_load(tau, 1, &b, i, parts, f, k);
        fxs_matrix_load(other, 2, &b, i, parts, x, m);
        for (int64_t j = 0; j < k;
             j++) { /* Q is the product in order: what is nearest comes first */
            int64_t at = left == turned ? j : k - 1 - j;
            double factor[2] = {f[at * parts], parts == 1 ? 0 : f[at * parts + 1]};
            factor[1] = turned ? -factor[1] : factor[1];
            for (int64_t line = 0; line < lines; line++)
                reflect(a, n, at, factor, !left, parts, x + line * (left ? m : 1) * parts,
                        left ? 1 : m);
        }
        fxs_matrix_store(c->out[0], 2, &b, i, parts, x, m);
    }
    return s;
}

/* Each reflector's product with each line, and its subtraction. */
static fxs_cost cost_ormqr(const fxs_call *c) {
    const fxs_tensor *tau = fxs_arg_tensor(c, 1);
    return (fxs_cost){.flops = 4 * (double)fxs_arg_numel(c, 2) * (double)tau->sizes[tau->ndim - 1]};
}

/* ---- ldl_factor(self, *, hermitian), ldl_solve(LD, pivots, B, *, hermitian)
 * ------------------------------------------------------- */

static fxs_status out_ldl(fxs_call *c, bool info) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_square(c, t));
    fxs_batch b = fxs_batch_of(t, 2);
    FXS_TRY(fxs_out_columns(c, t->dtype, &b, fxs_rows(t), fxs_rows(t)));
    FXS_TRY(fxs_out_vectors(c, FXS_INT32, &b, fxs_rows(t)));
    c->tuple_name =
        info ? "torch.return_types.linalg_ldl_factor_ex" : "torch.return_types.linalg_ldl_factor";
    return info ? fxs_out_numbers(c, FXS_INT32, &b) : FXS_OK;
}

static fxs_status infer_ldl_factor(fxs_call *c) { return out_ldl(c, false); }
static fxs_status infer_ldl_factor_ex(fxs_call *c) { return out_ldl(c, true); }

static fxs_status run_ldl_factor(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_batch b = fxs_batch_of(t, 2);
    int64_t n = fxs_rows(t);
    int parts = fxs_parts(t);
    bool check = c->nout < 3 || fxs_arg_bool(c, 2);
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, n * n * parts, &s);
    int *pivots = (int *)(void *)fxs_room(c, n, &s);
    for (int64_t i = 0; s == FXS_OK && i < b.count; i++) {
        fxs_matrix_load(t, 2, &b, i, parts, a, n);
        int info = n ? fxs_lapack_ldl(parts, fxs_arg_bool(c, 1), (int)n, a, pivots) : 0;
        if (check || info < 0)
            s = fxs_lapack_status(c, info, &b, i, "a block of D is zero: the matrix is singular");
        for (int64_t j = 1; j < n; j++) /* what is above the diagonal was not read */
            memset(a + j * n * parts, 0, (size_t)(j * parts) * sizeof *a);
        if (s != FXS_OK)
            break;
        fxs_matrix_store(c->out[0], 2, &b, i, parts, a, n);
        fxs_ints_store(c->out[1], 1, &b, i, pivots);
        if (c->nout > 2)
            fxs_ints_store(c->out[2], 0, &b, i, &info);
    }
    return s;
}

static fxs_status read_ldl(fxs_call *c, fxs_batch *b) {
    const fxs_tensor *ld = fxs_arg_tensor(c, 0), *pivots = fxs_arg_tensor(c, 1),
                     *rhs = fxs_arg_tensor(c, 2);
    char x[FXS_SIZES_TEXT], y[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_square(c, ld));
    bool same = pivots->ndim == ld->ndim - 1;
    for (int i = 0; same && i < pivots->ndim; i++)
        same = pivots->sizes[i] == ld->sizes[i];
    if (rhs->ndim < 2 || rhs->dtype != ld->dtype || fxs_rows(rhs) != fxs_rows(ld))
        return FXS_REFUSE(c, FXS_ESHAPE, "B %s of torch.%s does not belong to LD %s of torch.%s",
                          fxs_sizes_text(rhs, x), fxs_dtype_name(rhs->dtype), fxs_sizes_text(ld, y),
                          fxs_dtype_name(ld->dtype));
    if (!same || !fxs_is_integral(pivots->dtype))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected a pivot of an integer type for each row of LD, but got %s of "
                          "torch.%s",
                          fxs_sizes_text(pivots, x), fxs_dtype_name(pivots->dtype));
    *b = fxs_batch_of(ld, 2);
    fxs_batch other = fxs_batch_of(rhs, 2);
    return fxs_batch_join(c, b, &other);
}

static fxs_status infer_ldl_solve(fxs_call *c) {
    fxs_batch b;
    FXS_TRY(read_ldl(c, &b));
    const fxs_tensor *rhs = fxs_arg_tensor(c, 2);
    return fxs_out_columns(c, rhs->dtype, &b, fxs_rows(rhs), fxs_columns(rhs));
}

/* Rows that there are, and blocks of two that are complete: LAPACK trusts both. */
static fxs_status check_pivots(fxs_call *c, int64_t n, const double *given, int *pivots) {
    int64_t run = 0;
    for (int64_t k = 0; k < n; k++) {
        pivots[k] = fabs(given[k]) <= (double)n ? (int)given[k] : 0;
        if (pivots[k] == 0)
            return FXS_REFUSE(c, FXS_EINDEX, "pivot %g is out of range: there are %lld rows",
                              given[k], (long long)n);
        run = pivots[k] < 0 ? run + 1 : 0;
        if (run % 2 && (k + 1 == n || given[k + 1] > 0))
            return FXS_REFUSE(c, FXS_EINVAL, "negative pivots must come in pairs");
    }
    return FXS_OK;
}

static fxs_status run_ldl_solve(fxs_call *c) {
    const fxs_tensor *ld = fxs_arg_tensor(c, 0), *rhs = fxs_arg_tensor(c, 2);
    fxs_batch b;
    FXS_TRY(read_ldl(c, &b));
    int64_t n = fxs_rows(ld), k = fxs_columns(rhs);
    int parts = fxs_parts(ld);
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, n * n * parts, &s), *p = fxs_room(c, n, &s),
           *x = fxs_room(c, n * k * parts, &s);
    int *pivots = (int *)(void *)fxs_room(c, n, &s);
    for (int64_t i = 0; s == FXS_OK && n && k && i < b.count; i++) {
        fxs_matrix_load(ld, 2, &b, i, parts, a, n);
        fxs_matrix_load(fxs_arg_tensor(c, 1), 1, &b, i, 1, p, n);
        fxs_matrix_load(rhs, 2, &b, i, parts, x, n);
        FXS_TRY(check_pivots(c, n, p, pivots));
        fxs_lapack_ldl_solve(parts, fxs_arg_bool(c, 3), (int)n, (int)k, a, pivots, x);
        fxs_matrix_store(c->out[0], 2, &b, i, parts, x, n);
    }
    return s;
}

static fxs_cost cost_ldl(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    return (fxs_cost){.flops = (double)fxs_tensor_numel(t) * (double)fxs_rows(t) / 3};
}
/* Two triangles. */
static fxs_cost cost_ldl_solve(const fxs_call *c) {
    return (fxs_cost){.flops = 2 * (double)fxs_tensor_numel(c->out[0]) *
                               (double)fxs_rows(fxs_arg_tensor(c, 0))};
}

#define LINALG(name) "torch._C._linalg.linalg_" name
#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)

const fxs_op fxs_ops_linalg_more[] = {
    {"matrix_exp", "(Tensor self) -> Tensor",
     "torch.matrix_exp Tensor.matrix_exp " LINALG("matrix_exp"), infer_matrix_exp, run_matrix_exp,
     cost_matrix_exp, PURE},
    {"ormqr",
     "(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
     "torch.ormqr Tensor.ormqr", infer_ormqr, run_ormqr, cost_ormqr, PURE},
    {"linalg_ldl_factor", "(Tensor self, *, bool hermitian=False) -> (Tensor, Tensor)",
     LINALG("ldl_factor"), infer_ldl_factor, run_ldl_factor, cost_ldl, PURE},
    {"linalg_ldl_factor_ex",
     "(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor, Tensor, Tensor)",
     LINALG("ldl_factor_ex"), infer_ldl_factor_ex, run_ldl_factor, cost_ldl, PURE},
    {"linalg_ldl_solve", "(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
     LINALG("ldl_solve"), infer_ldl_solve, run_ldl_solve, cost_ldl_solve, PURE},
    {0},
};
#undef LINALG
#undef PURE
