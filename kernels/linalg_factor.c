/* linalg_factor.c: torch.linalg's factorisations: determinants, Cholesky, QR; LU is in
 * linalg_lu.c. LAPACK works on each matrix of the batch, in double. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/linalg_factor.h"

static fxs_tensor *matrices(const fxs_call *c) { return fxs_arg_tensor(c, 0); }

/* ---- determinants
 * ------------------------------------------------------------------------------------------- */

static fxs_status infer_det(fxs_call *c) {
    fxs_batch b;
    FXS_TRY(fxs_check_square(c, matrices(c)));
    b = fxs_batch_of(matrices(c), 2);
    return fxs_out_numbers(c, matrices(c)->dtype, &b);
}

static fxs_status infer_slogdet(fxs_call *c) {
    fxs_batch b;
    FXS_TRY(infer_det(c));
    b = fxs_batch_of(matrices(c), 2);
    return fxs_out_numbers(c, fxs_real_of(matrices(c)->dtype), &b);
}

/* sign * exp(log) is the determinant; sign has an absolute value of 1, or is 0. */
static fxs_status determinant(fxs_call *c, fxs_factoring *w, int64_t index, double sign[2],
                              double *log_) {
    fxs_tensor t = fxs_factored(matrices(c));
    fxs_matrix_load(&t, 2, &w->b, index, w->parts, w->a, w->m);
    int info =
        w->n ? fxs_lapack_lu(w->parts, fxs_single(matrices(c)), w->n, w->n, w->a, w->pivots) : 0;
    if (info < 0)
        return fxs_fail_memory(c->ctx);
    sign[0] = 1, sign[1] = 0;
    *log_ = 0;
    for (int i = 0; i < w->n; i++) {
        const double *d = w->a + ((int64_t)i * w->n + i) * w->parts;
        double re = d[0], im = w->parts == 2 ? d[1] : 0, size = hypot(re, im), old = sign[0];
        if (w->pivots[i] != i + 1)
            re = -re, im = -im;
        *log_ += log(size);
        re = size > 0 ? re / size : 0, im = size > 0 ? im / size : 0;
        sign[0] = old * re - sign[1] * im;
        sign[1] = old * im + sign[1] * re;
    }
    return FXS_OK;
}

static fxs_status run_determinants(fxs_call *c, bool with_sign) {
    fxs_factoring w;
    FXS_TRY(fxs_factor_begin(c, &w, 0, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        double sign[2], size;
        FXS_TRY(determinant(c, &w, i, sign, &size));
        if (with_sign) {
            fxs_matrix_store(c->out[1], 0, &w.b, i, 1, &size, 1);
        } else {
            double e = exp(size);
            sign[0] *= e, sign[1] *= e;
        }
        fxs_matrix_store(c->out[0], 0, &w.b, i, 2, sign, 1);
    }
    return FXS_OK;
}

static fxs_status run_det(fxs_call *c) { return run_determinants(c, false); }
static fxs_status run_slogdet(fxs_call *c) { return run_determinants(c, true); }

static fxs_status infer_linalg_slogdet(fxs_call *c) {
    c->tuple_name = "torch.return_types.linalg_slogdet";
    return infer_slogdet(c);
}
static fxs_status infer_torch_slogdet(fxs_call *c) {
    c->tuple_name = "torch.return_types.slogdet";
    return infer_slogdet(c);
}

/* ---- Cholesky: (A, upper) and (A, upper, check_errors)
 * -------------------------------------------------------- */

static fxs_status infer_cholesky(fxs_call *c) {
    fxs_batch b;
    FXS_TRY(fxs_check_square(c, matrices(c)));
    b = fxs_batch_of(matrices(c), 2);
    return fxs_out_columns(c, matrices(c)->dtype, &b, fxs_rows(matrices(c)), fxs_rows(matrices(c)));
}

/* The older function makes an empty result like its input. */
static fxs_status infer_torch_cholesky(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    return fxs_tensor_numel(t) ? infer_cholesky(c)
                               : fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
}

static fxs_status infer_cholesky_ex(fxs_call *c) {
    fxs_batch b;
    FXS_TRY(infer_cholesky(c));
    b = fxs_batch_of(matrices(c), 2);
    c->tuple_name = "torch.return_types.linalg_cholesky_ex";
    return fxs_out_numbers(c, FXS_INT32, &b);
}

/* Nothing of the input stays in the other triangle. */
static void clear_triangle(const fxs_factoring *w, bool lower) {
    for (int j = 0; j < w->n; j++)
        for (int i = lower ? j + 1 : 0; i < (lower ? w->m : j < w->m ? j : w->m); i++)
            memset(w->a + ((int64_t)j * w->m + i) * w->parts, 0, (size_t)w->parts * sizeof(double));
}

static fxs_status run_cholesky_checked(fxs_call *c, bool check) {
    bool upper = fxs_arg_bool(c, 1);
    fxs_factoring w;
    FXS_TRY(fxs_factor_begin(c, &w, 0, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
        int info = fxs_lapack_cholesky(w.parts, fxs_single(matrices(c)), upper, w.n, w.a);
        if (check || info < 0)
            FXS_TRY(fxs_lapack_status(c, info, &w.b, i,
                                      "the factorization could not be completed because the input "
                                      "is not positive-definite"));
        clear_triangle(&w, upper);
        fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.a, w.n);
        if (c->nout > 1)
            fxs_ints_store(c->out[1], 0, &w.b, i, &info);
    }
    return FXS_OK;
}

static fxs_status run_cholesky(fxs_call *c) { return run_cholesky_checked(c, true); }
static fxs_status run_torch_cholesky(fxs_call *c) {
    return fxs_tensor_numel(matrices(c)) ? run_cholesky(c) : FXS_OK;
}
static fxs_status run_cholesky_ex(fxs_call *c) {
    return run_cholesky_checked(c, fxs_arg_bool(c, 2));
}

/* ---- QR: (A, mode), and torch.qr's (A, some)
 * ------------------------------------------------------------------- */

static bool is_complete(const fxs_call *c) {
    return c->arg[1].tag == FXS_V_STR ? strcmp(fxs_arg_str(c, 1), "complete") == 0
                                      : !fxs_arg_bool(c, 1);
}
static bool is_r_only(const fxs_call *c) {
    return c->arg[1].tag == FXS_V_STR && strcmp(fxs_arg_str(c, 1), "r") == 0;
}

static fxs_status infer_qr(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    const char *mode = c->arg[1].tag == FXS_V_STR ? fxs_arg_str(c, 1) : "reduced";
    c->tuple_name =
        c->arg[1].tag == FXS_V_STR ? "torch.return_types.linalg_qr" : "torch.return_types.qr";
    FXS_TRY(fxs_check_matrices(c, t));
    if (strcmp(mode, "reduced") != 0 && strcmp(mode, "complete") != 0 && strcmp(mode, "r") != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "mode must be 'reduced', 'complete' or 'r', not '%s'",
                          mode);
    fxs_batch b = fxs_batch_of(t, 2);
    int64_t inner = is_complete(c) ? fxs_rows(t) : fxs_small_side(t), none = 0;
    FXS_TRY(is_r_only(c) ? fxs_out_new(c, t->dtype, 1, &none, NULL)
                         : fxs_out_columns(c, t->dtype, &b, fxs_rows(t), inner));
    return fxs_out_columns(c, t->dtype, &b, inner, fxs_columns(t));
}

static fxs_status run_qr(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    int64_t m = fxs_rows(t), inner = is_complete(c) ? m : fxs_small_side(t);
    fxs_factoring w;
    FXS_TRY(fxs_factor_begin(c, &w, m * inner, fxs_small_side(t), 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
        if (w.k && fxs_lapack_qr(w.parts, w.m, w.n, w.a, w.y) != 0)
            return fxs_fail_memory(c->ctx);
        memset(w.x, 0, (size_t)(m * inner * w.parts) * sizeof *w.x);
        memcpy(w.x, w.a, (size_t)(m * w.k * w.parts) * sizeof *w.x);
        if (!is_r_only(c) && m && inner) {
            if (fxs_lapack_q(w.parts, w.m, (int)inner, w.k, w.x, w.y) != 0)
                return fxs_fail_memory(c->ctx);
            fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.x, m);
        }
        clear_triangle(&w, true);
        fxs_matrix_store(c->out[1], 2, &w.b, i, w.parts, w.a, m);
    }
    return FXS_OK;
}

static fxs_status infer_geqrf(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    if (t->requires_grad && fxs_is_complex(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "PyTorch can't differentiate by complex numbers");
    c->tuple_name = "torch.return_types.geqrf";
    FXS_TRY(fxs_check_matrices(c, t));
    fxs_batch b = fxs_batch_of(t, 2);
    FXS_TRY(fxs_out_columns(c, t->dtype, &b, fxs_rows(t), fxs_columns(t)));
    return fxs_out_vectors(c, t->dtype, &b, fxs_small_side(t));
}

static fxs_status run_geqrf(fxs_call *c) {
    fxs_factoring w;
    FXS_TRY(fxs_factor_begin(c, &w, fxs_small_side(matrices(c)), 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
        if (w.k && fxs_lapack_qr(w.parts, w.m, w.n, w.a, w.x) != 0)
            return fxs_fail_memory(c->ctx);
        fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.a, w.m);
        fxs_matrix_store(c->out[1], 1, &w.b, i, w.parts, w.x, w.k);
    }
    return FXS_OK;
}

/* householder_product(A [m, n], tau [k]): the first n columns of the product of k reflectors */
static fxs_status infer_householder(fxs_call *c) {
    const fxs_tensor *t = matrices(c), *tau = fxs_arg_tensor(c, 1);
    FXS_TRY(fxs_check_matrices(c, t));
    bool fits = tau->dtype == t->dtype && tau->ndim == t->ndim - 1 && fxs_rows(t) >= fxs_columns(t);
    for (int i = 0; fits && i < tau->ndim - 1; i++)
        fits = tau->sizes[i] == t->sizes[i];
    if (!fits || tau->sizes[tau->ndim - 1] > fxs_columns(t))
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected matrices with no more columns than rows, and as many tau of the "
            "same type as columns, or fewer");
    fxs_batch b = fxs_batch_of(t, 2);
    return fxs_out_columns(c, t->dtype, &b, fxs_rows(t), fxs_columns(t));
}

static fxs_status run_householder(fxs_call *c) {
    const fxs_tensor *tau = fxs_arg_tensor(c, 1);
    int64_t k = tau->sizes[tau->ndim - 1];
    fxs_factoring w;
    FXS_TRY(fxs_factor_begin(c, &w, k, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
        fxs_matrix_load(tau, 1, &w.b, i, w.parts, w.x, k);
        if (w.n && fxs_lapack_q(w.parts, w.m, w.n, (int)k, w.a, w.x) != 0)
            return fxs_fail_memory(c->ctx);
        fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.a, w.m);
    }
    return FXS_OK;
}

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

static fxs_cost cost_cholesky(const fxs_call *c) {
    return (fxs_cost){.flops = fxs_factor_size(c) / 3};
}
static fxs_cost cost_qr(const fxs_call *c) { return (fxs_cost){.flops = fxs_factor_size(c) * 2}; }

#define LINALG(name) "torch._C._linalg.linalg_" name
#define BOTH(name) " torch." name " Tensor." name
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_linalg_factor[] = {
    {"linalg_det", "(Tensor A) -> Tensor", LINALG("det") BOTH("det"), infer_det, run_det,
     fxs_cost_lu, PURE},
    {"linalg_slogdet", "(Tensor A) -> (Tensor, Tensor)", LINALG("slogdet"), infer_linalg_slogdet,
     run_slogdet, fxs_cost_lu, PURE},
    {"slogdet", "(Tensor self) -> (Tensor, Tensor)", "torch.slogdet Tensor.slogdet",
     infer_torch_slogdet, run_slogdet, fxs_cost_lu, PURE},
    {"linalg_cholesky", "(Tensor self, *, bool upper=False) -> Tensor", LINALG("cholesky"),
     infer_cholesky, run_cholesky, cost_cholesky, PURE},
    {"cholesky", "(Tensor self, bool upper=False) -> Tensor", "torch.cholesky Tensor.cholesky",
     infer_torch_cholesky, run_torch_cholesky, cost_cholesky, PURE},
    {"linalg_cholesky_ex",
     "(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor, Tensor)",
     LINALG("cholesky_ex"), infer_cholesky_ex, run_cholesky_ex, cost_cholesky, PURE},
    {"linalg_qr", "(Tensor A, str mode='reduced') -> (Tensor, Tensor)", LINALG("qr"), infer_qr,
     run_qr, cost_qr, PURE},
    {"qr", "(Tensor self, bool some=True) -> (Tensor, Tensor)", "torch.qr Tensor.qr", infer_qr,
     run_qr, cost_qr, PURE},
    {"geqrf", "(Tensor self) -> (Tensor, Tensor)", "torch.geqrf Tensor.geqrf", infer_geqrf,
     run_geqrf, cost_qr, PURE},
    {"linalg_householder_product", "(Tensor input, Tensor tau) -> Tensor",
     LINALG("householder_product") BOTH("orgqr"), infer_householder, run_householder, cost_qr,
     PURE},
    {0},
};
