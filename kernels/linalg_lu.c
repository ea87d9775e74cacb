/* linalg_lu.c: LU factors with row exchanges, in the forms that torch has for them, and what takes
 * them apart. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/linalg_factor.h"

static fxs_tensor *matrices(const fxs_call *c) { return fxs_arg_tensor(c, 0); }

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
    fxs_factoring w;
    FXS_TRY(fxs_factor_begin(c, &w, 0, 0, 0));
    for (int64_t i = 0; i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
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
static void split_factors(const fxs_factoring *w, int *row) {
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

static fxs_status begin_plu(fxs_call *c, fxs_factoring *w, int **row) {
    const fxs_tensor *t = matrices(c);
    int64_t m = fxs_rows(t), n = fxs_columns(t), k = fxs_small_side(t);
    fxs_status s = fxs_factor_begin(c, w, m * m, m * k, k * n);
    *row = (int *)(void *)fxs_room(c, m, &s);
    return s;
}

static void store_plu(fxs_call *c, const fxs_factoring *w, int64_t i) {
    if (c->out[0]->ndim > 1)
        fxs_matrix_store(c->out[0], 2, &w->b, i, w->parts, w->x, w->m);
    if (c->out[1]->ndim == 1)
        return;
    fxs_matrix_store(c->out[1], 2, &w->b, i, w->parts, w->y, w->m);
    fxs_matrix_store(c->out[2], 2, &w->b, i, w->parts, w->z, w->k);
}

static fxs_status run_lu(fxs_call *c) {
    fxs_factoring w;
    int *row;
    FXS_TRY(begin_plu(c, &w, &row));
    for (int64_t i = 0; i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
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
    fxs_factoring w;
    int *row;
    fxs_status s = begin_plu(c, &w, &row);
    int64_t count = fxs_arg_bool(c, 3) ? given->sizes[given->ndim - 1] : 0;
    double *pivots = fxs_room(c, count, &s);
    for (int64_t i = 0; s == FXS_OK && i < w.b.count; i++) {
        fxs_factor_load(c, &w, i);
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

#define LINALG(name) "torch._C._linalg.linalg_" name
#define BOTH(name) " torch." name " Tensor." name
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_linalg_lu[] = {
    {"linalg_lu_factor", "(Tensor A, *, bool pivot=True) -> (Tensor, Tensor)", LINALG("lu_factor"),
     infer_lu_factor, run_lu_factor, fxs_cost_lu, PURE},
    {"linalg_lu_factor_ex",
     "(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor, Tensor, Tensor)",
     LINALG("lu_factor_ex"), infer_lu_factor_ex, run_lu_factor_ex, fxs_cost_lu, PURE},
    {"lu", "(Tensor A, bool pivot=True, bool get_infos=False) -> (Tensor, Tensor)",
     "torch.functional.lu Tensor.lu", infer_torch_lu, run_torch_lu, fxs_cost_lu, PURE},
    {"linalg_lu", "(Tensor A, *, bool pivot=True) -> (Tensor, Tensor, Tensor)", LINALG("lu"),
     infer_lu, run_lu, fxs_cost_lu, PURE},
    {"lu_unpack",
     "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
     "(Tensor, Tensor, Tensor)",
     "torch.lu_unpack", infer_lu_unpack, run_lu_unpack, NULL, PURE},
    {0},
};
