/* linalg_factor.c: torch.linalg's factorisations: determinants, Cholesky, LU, QR, singular values,
 * eigenvalues. LAPACK works on each matrix of the batch, in double. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/linalg.h"

static fxs_tensor *matrices(const fxs_call *c) { return fxs_arg_tensor(c, 0); }

/* One matrix at work. */
typedef struct work {
    fxs_batch b;
    int parts, m, n, k; /* k: the smaller of both */
    double *a, *x, *y, *z;
    int *pivots;
} work;

/* Room for a [m, n], and for as much as each family asks besides. */
static fxs_status begin(fxs_call *c, work *w, int64_t x, int64_t y, int64_t z) {
    const fxs_tensor *t = matrices(c);
    fxs_status s = FXS_OK;
    *w = (work){.b = fxs_batch_of(t, 2),
                .parts = fxs_parts(t),
                .m = (int)fxs_rows(t),
                .n = (int)fxs_columns(t),
                .k = (int)fxs_small_side(t)};
    w->a = fxs_room(c, (int64_t)w->m * w->n * w->parts, &s);
    w->x = fxs_room(c, x * w->parts, &s);
    w->y = fxs_room(c, y * w->parts, &s);
    w->z = fxs_room(c, z * w->parts, &s);
    w->pivots = (int *)(void *)fxs_room(c, w->k, &s);
    return s;
}

static void load(const fxs_call *c, work *w, int64_t i) {
    fxs_matrix_load(matrices(c), 2, &w->b, i, w->parts, w->a, w->m);
}

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
static fxs_status determinant(fxs_call *c, work *w, int64_t index, double sign[2], double *log_) {
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
    work w;
    FXS_TRY(begin(c, &w, 0, 0, 0));
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
static void clear_triangle(const work *w, bool lower) {
    for (int j = 0; j < w->n; j++)
        for (int i = lower ? j + 1 : 0; i < (lower ? w->m : j < w->m ? j : w->m); i++)
            memset(w->a + ((int64_t)j * w->m + i) * w->parts, 0, (size_t)w->parts * sizeof(double));
}

static fxs_status run_cholesky_checked(fxs_call *c, bool check) {
    bool upper = fxs_arg_bool(c, 1);
    work w;
    FXS_TRY(begin(c, &w, 0, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        load(c, &w, i);
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

/* ---- LU: (A, pivot) and (A, pivot, check_errors)
 * --------------------------------------------------------------- */

static fxs_status check_lu(fxs_call *c) {
    FXS_TRY(fxs_check_any_matrices(c, matrices(c)));
    if (!fxs_arg_bool(c, 1) && fxs_tensor_numel(matrices(c)))
        return FXS_REFUSE(c, FXS_EUNKNOWN, "LU without pivoting is not implemented on the CPU");
    return FXS_OK;
}

static fxs_status infer_factors(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    fxs_batch b;
    FXS_TRY(check_lu(c));
    b = fxs_batch_of(t, 2);
    FXS_TRY(fxs_out_columns(c, t->dtype, &b, fxs_rows(t), fxs_columns(t)));
    return fxs_out_vectors(c, FXS_INT32, &b, fxs_small_side(t));
}

static fxs_status infer_lu_factor(fxs_call *c) {
    c->tuple_name = "torch.return_types.linalg_lu_factor";
    return infer_factors(c);
}

static fxs_status infer_lu_factor_ex(fxs_call *c) {
    fxs_batch b;
    c->tuple_name = "torch.return_types.linalg_lu_factor_ex";
    FXS_TRY(infer_factors(c));
    b = fxs_batch_of(matrices(c), 2);
    return fxs_out_numbers(c, FXS_INT32, &b);
}

static fxs_status infer_torch_lu(fxs_call *c) {
    c->out_tuple = true;
    FXS_TRY(infer_factors(c));
    if (!fxs_arg_bool(c, 2))
        return FXS_OK;
    if (c->spelling && strncmp(c->spelling, "torch.", 6) == 0)
        c->tuple_name = "torch.return_types._lu_with_info";
    fxs_batch b = fxs_batch_of(matrices(c), 2);
    return fxs_out_numbers(c, FXS_INT32, &b);
}

static fxs_status run_factors(fxs_call *c, bool check) {
    work w;
    FXS_TRY(begin(c, &w, 0, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        load(c, &w, i);
        int info =
            w.k ? fxs_lapack_lu(w.parts, fxs_single(matrices(c)), w.m, w.n, w.a, w.pivots) : 0;
        if (check || info < 0)
            FXS_TRY(fxs_lapack_status(c, info, &w.b, i,
                                      "a pivot is zero, and what is solved with it would be "
                                      "divided by it"));
        fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.a, w.m);
        fxs_ints_store(c->out[1], 1, &w.b, i, w.pivots);
        if (c->nout > 2)
            fxs_ints_store(c->out[2], 0, &w.b, i, &info);
    }
    return FXS_OK;
}

static fxs_status run_lu_factor(fxs_call *c) { return run_factors(c, true); }
static fxs_status run_lu_factor_ex(fxs_call *c) { return run_factors(c, fxs_arg_bool(c, 2)); }
static fxs_status run_torch_lu(fxs_call *c) { return run_factors(c, false); }

static fxs_status out_plu(fxs_call *c, const fxs_tensor *t, bool p, bool lu) {
    fxs_batch b = fxs_batch_of(t, 2);
    int64_t none = 0;
    c->constants = 1 << 0; /* P */
    FXS_TRY(p ? fxs_out_rows(c, t->dtype, &b, fxs_rows(t), fxs_rows(t))
              : fxs_out_new(c, t->dtype, 1, &none, NULL));
    if (!lu) {
        FXS_TRY(fxs_out_new(c, t->dtype, 1, &none, NULL));
        return fxs_out_new(c, t->dtype, 1, &none, NULL);
    }
    FXS_TRY(fxs_out_rows(c, t->dtype, &b, fxs_rows(t), fxs_small_side(t)));
    return fxs_out_rows(c, t->dtype, &b, fxs_small_side(t), fxs_columns(t));
}

static fxs_status infer_lu(fxs_call *c) {
    c->tuple_name = "torch.return_types.linalg_lu";
    FXS_TRY(check_lu(c));
    return out_plu(c, matrices(c), fxs_arg_bool(c, 1), true);
}

/* The row that stands at place i after the exchanges that pivots say. */
static void rows_of_pivots(const int *pivots, int k, int m, int *row) {
    for (int i = 0; i < m; i++)
        row[i] = i;
    for (int i = 0; i < k; i++) {
        int other = pivots[i] - 1, kept = row[i];
        if (other < 0 || other >= m)
            continue;
        row[i] = row[other];
        row[other] = kept;
    }
}

/* P [m, m] into x, L [m, k] into y, U [k, n] into z, out of a and the pivots. */
static void split_factors(const work *w, int *row) {
    int p = w->parts;
    size_t one = (size_t)p * sizeof(double);
    memset(w->x, 0, (size_t)w->m * (size_t)w->m * one);
    memset(w->y, 0, (size_t)w->m * (size_t)w->k * one);
    memset(w->z, 0, (size_t)w->k * (size_t)w->n * one);
    rows_of_pivots(w->pivots, w->k, w->m, row);
    for (int i = 0; i < w->m; i++)
        w->x[((int64_t)i * w->m + row[i]) * p] = 1;
    for (int j = 0; j < w->n; j++)
        for (int i = 0; i < w->m; i++) {
            const double *from = w->a + ((int64_t)j * w->m + i) * p;
            if (i <= j && i < w->k)
                memcpy(w->z + ((int64_t)j * w->k + i) * p, from, one);
            else if (j < w->k)
                memcpy(w->y + ((int64_t)j * w->m + i) * p, from, one);
        }
    for (int j = 0; j < w->k; j++)
        w->y[((int64_t)j * w->m + j) * p] = 1;
}

static fxs_status begin_plu(fxs_call *c, work *w, int **row) {
    const fxs_tensor *t = matrices(c);
    int64_t m = fxs_rows(t), n = fxs_columns(t), k = fxs_small_side(t);
    fxs_status s = begin(c, w, m * m, m * k, k * n);
    *row = (int *)(void *)fxs_room(c, m, &s);
    return s;
}

static void store_plu(fxs_call *c, const work *w, int64_t i) {
    if (c->out[0]->ndim > 1)
        fxs_matrix_store(c->out[0], 2, &w->b, i, w->parts, w->x, w->m);
    if (c->out[1]->ndim == 1)
        return;
    fxs_matrix_store(c->out[1], 2, &w->b, i, w->parts, w->y, w->m);
    fxs_matrix_store(c->out[2], 2, &w->b, i, w->parts, w->z, w->k);
}

static fxs_status run_lu(fxs_call *c) {
    work w;
    int *row;
    FXS_TRY(begin_plu(c, &w, &row));
    for (int64_t i = 0; i < w.b.count; i++) {
        load(c, &w, i);
        if (w.k && fxs_lapack_lu(w.parts, fxs_single(matrices(c)), w.m, w.n, w.a, w.pivots) < 0)
            return fxs_fail_memory(c->ctx);
        split_factors(&w, row);
        store_plu(c, &w, i);
    }
    return FXS_OK;
}

/* lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots) */
static fxs_status infer_lu_unpack(fxs_call *c) {
    const fxs_tensor *t = matrices(c), *p = fxs_arg_tensor(c, 1);
    c->tuple_name = "torch.return_types.lu_unpack";
    bool data = fxs_arg_bool(c, 2), pivots = fxs_arg_bool(c, 3);
    if (t->ndim < 2)
        return fxs_check_matrices(c, t);
    if (!pivots)
        return out_plu(c, t, false, data);
    if (p->dtype != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE, "LU_pivots must be of type int32, but are torch.%s",
                          fxs_dtype_name(p->dtype));
    bool fits = p->ndim == t->ndim - 1 && p->sizes[p->ndim - 1] >= fxs_small_side(t);
    for (int i = 0; fits && i < p->ndim - 1; i++)
        fits = p->sizes[i] == t->sizes[i];
    if (!fits)
        return FXS_REFUSE(c, FXS_ESHAPE, "LU_data and LU_pivots do not belong together");
    return out_plu(c, t, true, data);
}

static fxs_status run_lu_unpack(fxs_call *c) {
    const fxs_tensor *given = fxs_arg_tensor(c, 1);
    work w;
    int *row;
    fxs_status s = begin_plu(c, &w, &row);
    int64_t count = fxs_arg_bool(c, 3) ? given->sizes[given->ndim - 1] : 0;
    double *pivots = fxs_room(c, count, &s);
    for (int64_t i = 0; s == FXS_OK && i < w.b.count; i++) {
        load(c, &w, i);
        if (count)
            fxs_matrix_load(given, 1, &w.b, i, 1, pivots, count);
        for (int64_t k = 0; count && k < w.k; k++)
            if (pivots[k] < 1 || pivots[k] > w.m)
                return FXS_REFUSE(c, FXS_EINDEX, "pivot %g is out of range: there are %d rows",
                                  pivots[k], w.m);
        for (int k = 0; k < w.k; k++)
            w.pivots[k] = count ? (int)pivots[k] : k + 1;
        split_factors(&w, row);
        store_plu(c, &w, i);
    }
    return s;
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
    work w;
    FXS_TRY(begin(c, &w, m * inner, fxs_small_side(t), 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        load(c, &w, i);
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
    work w;
    FXS_TRY(begin(c, &w, fxs_small_side(matrices(c)), 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        load(c, &w, i);
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
    work w;
    FXS_TRY(begin(c, &w, k, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        load(c, &w, i);
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

/* 2/3 n^3 for LU, twice that for QR of [m, n]: the leading terms of LAPACK's own counts. */
static double size_of(const fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    return (double)fxs_tensor_numel(t) * (double)fxs_small_side(t);
}
static fxs_cost cost_lu(const fxs_call *c) { return (fxs_cost){.flops = size_of(c) * 2 / 3}; }
static fxs_cost cost_cholesky(const fxs_call *c) { return (fxs_cost){.flops = size_of(c) / 3}; }
static fxs_cost cost_qr(const fxs_call *c) { return (fxs_cost){.flops = size_of(c) * 2}; }

#define LINALG(name) "torch._C._linalg.linalg_" name
#define BOTH(name) " torch." name " Tensor." name
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_linalg_factor[] = {
    {"linalg_det", "(Tensor A) -> Tensor", LINALG("det") BOTH("det"), infer_det, run_det, cost_lu,
     PURE},
    {"linalg_slogdet", "(Tensor A) -> (Tensor, Tensor)", LINALG("slogdet"), infer_linalg_slogdet,
     run_slogdet, cost_lu, PURE},
    {"slogdet", "(Tensor self) -> (Tensor, Tensor)", "torch.slogdet Tensor.slogdet",
     infer_torch_slogdet, run_slogdet, cost_lu, PURE},
    {"linalg_cholesky", "(Tensor self, *, bool upper=False) -> Tensor", LINALG("cholesky"),
     infer_cholesky, run_cholesky, cost_cholesky, PURE},
    {"cholesky", "(Tensor self, bool upper=False) -> Tensor", "torch.cholesky Tensor.cholesky",
     infer_torch_cholesky, run_torch_cholesky, cost_cholesky, PURE},
    {"linalg_cholesky_ex",
     "(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor, Tensor)",
     LINALG("cholesky_ex"), infer_cholesky_ex, run_cholesky_ex, cost_cholesky, PURE},
    {"linalg_lu_factor", "(Tensor A, *, bool pivot=True) -> (Tensor, Tensor)", LINALG("lu_factor"),
     infer_lu_factor, run_lu_factor, cost_lu, PURE},
    {"linalg_lu_factor_ex",
     "(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor, Tensor, Tensor)",
     LINALG("lu_factor_ex"), infer_lu_factor_ex, run_lu_factor_ex, cost_lu, PURE},
    {"lu", "(Tensor A, bool pivot=True, bool get_infos=False) -> (Tensor, Tensor)",
     "torch.functional.lu Tensor.lu", infer_torch_lu, run_torch_lu, cost_lu, PURE},
    {"linalg_lu", "(Tensor A, *, bool pivot=True) -> (Tensor, Tensor, Tensor)", LINALG("lu"),
     infer_lu, run_lu, cost_lu, PURE},
    {"lu_unpack",
     "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
     "(Tensor, Tensor, Tensor)",
     "torch.lu_unpack", infer_lu_unpack, run_lu_unpack, NULL, PURE},
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
