/* linalg_eigen.c: singular values and eigenvalues, with their vectors: svd svdvals eigh eigvalsh
 * eig eigvals. LAPACK works on each matrix of the batch; vectors have the signs that it
 * gives them. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/linalg.h"

static fxs_tensor *matrices(const fxs_call *c) { return fxs_arg_tensor(c, 0); }

static bool is_single(const fxs_call *c) { return fxs_real_of(matrices(c)->dtype) == FXS_FLOAT32; }

/* ---- singular values: linalg_svd(A, full_matrices), svdvals(A), torch.svd(A, some, compute_uv)
 * ------------------ */

typedef struct triple {
    fxs_batch b;
    int64_t m, n, k, columns, rows; /* of U [m, columns] and V^H [rows, n] */
    int parts;
    char job;
    double *a, *s, *u, *vt;
} triple;

static triple triple_of(const fxs_call *c, bool full, bool vectors) {
    const fxs_tensor *t = matrices(c);
    triple w = {.b = fxs_batch_of(t, 2),
                .m = fxs_rows(t),
                .n = fxs_columns(t),
                .k = fxs_small_side(t),
                .parts = fxs_parts(t),
                .job = !vectors ? 'N'
                       : full   ? 'A'
                                : 'S'};
    w.columns = full ? w.m : w.k;
    w.rows = full ? w.n : w.k;
    return w;
}

static fxs_status take_room(fxs_call *c, triple *w) {
    fxs_status s = FXS_OK;
    w->a = fxs_room(c, w->m * w->n * w->parts, &s);
    w->s = fxs_room(c, w->k, &s);
    w->u = fxs_room(c, w->m * w->columns * w->parts, &s);
    w->vt = fxs_room(c, w->rows * w->n * w->parts, &s);
    return s;
}

static fxs_status decompose(fxs_call *c, const triple *w, int64_t i) {
    fxs_matrix_load(matrices(c), 2, &w->b, i, w->parts, w->a, w->m);
    if (w->k == 0) { /* the vectors of nothing */
        if (w->job == 'A') {
            fxs_identity(w->u, w->m, w->parts);
            fxs_identity(w->vt, w->n, w->parts);
        }
        return FXS_OK;
    }
    int info = fxs_lapack_svd(w->parts, is_single(c), w->job, (int)w->m, (int)w->n, w->a, w->s,
                              w->u, w->vt);
    return fxs_lapack_status(c, info, &w->b, i, "the algorithm failed to converge");
}

static fxs_status infer_svd(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    c->tuple_name = "torch.return_types.linalg_svd";
    FXS_TRY(fxs_check_matrices(c, t));
    triple w = triple_of(c, fxs_arg_bool(c, 1), true);
    FXS_TRY(fxs_out_columns(c, t->dtype, &w.b, w.m, w.columns));
    FXS_TRY(fxs_out_vectors(c, fxs_real_of(t->dtype), &w.b, w.k));
    return fxs_out_columns(c, t->dtype, &w.b, w.rows, w.n);
}

static fxs_status run_svd(fxs_call *c) {
    triple w = triple_of(c, fxs_arg_bool(c, 1), true);
    FXS_TRY(take_room(c, &w));
    for (int64_t i = 0; i < w.b.count; i++) {
        FXS_TRY(decompose(c, &w, i));
        fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.u, w.m);
        fxs_matrix_store(c->out[1], 1, &w.b, i, 1, w.s, w.k);
        fxs_matrix_store(c->out[2], 2, &w.b, i, w.parts, w.vt, w.rows);
    }
    return FXS_OK;
}

static fxs_status infer_svdvals(fxs_call *c) {
    FXS_TRY(fxs_check_matrices(c, matrices(c)));
    triple w = triple_of(c, false, false);
    return fxs_out_vectors(c, fxs_real_of(matrices(c)->dtype), &w.b, w.k);
}

static fxs_status run_svdvals(fxs_call *c) {
    triple w = triple_of(c, false, false);
    FXS_TRY(take_room(c, &w));
    for (int64_t i = 0; i < w.b.count; i++) {
        FXS_TRY(decompose(c, &w, i));
        fxs_matrix_store(c->out[0], 1, &w.b, i, 1, w.s, w.k);
    }
    return FXS_OK;
}

/* V rather than its transpose, which therefore lies row by row; zeros without compute_uv. */
static fxs_status infer_torch_svd(fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    bool vectors = fxs_arg_bool(c, 2);
    c->tuple_name = "torch.return_types.svd";
    FXS_TRY(fxs_check_matrices(c, t));
    triple w = triple_of(c, !fxs_arg_bool(c, 1) || !vectors, true);
    c->constants = vectors ? 0 : 1 << 0 | 1 << 2;
    FXS_TRY(vectors ? fxs_out_columns(c, t->dtype, &w.b, w.m, w.columns)
                    : fxs_out_rows(c, t->dtype, &w.b, w.m, w.columns));
    FXS_TRY(fxs_out_vectors(c, fxs_real_of(t->dtype), &w.b, w.k));
    return vectors ? fxs_out_rows(c, t->dtype, &w.b, w.n, w.rows)
                   : fxs_out_columns(c, t->dtype, &w.b, w.n, w.rows);
}

/* out [n, rows] is the conjugate transpose of vt [rows, n] */
static void store_turned(fxs_tensor *out, const triple *w, int64_t index, double *v) {
    for (int64_t j = 0; j < w->rows; j++)
        for (int64_t i = 0; i < w->n; i++) {
            const double *from = w->vt + (i * w->rows + j) * w->parts;
            double *to = v + (j * w->n + i) * w->parts;
            to[0] = from[0];
            if (w->parts == 2)
                to[1] = -from[1];
        }
    fxs_matrix_store(out, 2, &w->b, index, w->parts, v, w->n);
}

static fxs_status run_torch_svd(fxs_call *c) {
    bool vectors = fxs_arg_bool(c, 2);
    triple w = triple_of(c, !fxs_arg_bool(c, 1) || !vectors, vectors);
    fxs_status s = take_room(c, &w);
    double *v = fxs_room(c, w.rows * w.n * w.parts, &s);
    if (s == FXS_OK && !vectors) {
        memset(w.u, 0, (size_t)(w.m * w.columns * w.parts) * sizeof *w.u);
        memset(w.vt, 0, (size_t)(w.rows * w.n * w.parts) * sizeof *w.vt);
    }
    for (int64_t i = 0; s == FXS_OK && i < w.b.count; i++) {
        s = decompose(c, &w, i);
        fxs_matrix_store(c->out[0], 2, &w.b, i, w.parts, w.u, w.m);
        fxs_matrix_store(c->out[1], 1, &w.b, i, 1, w.s, w.k);
        store_turned(c->out[2], &w, i, v);
    }
    return s;
}

/* ---- eigenvalues
 * -------------------------------------------------------------------------------------------- */

typedef struct eigen {
    fxs_batch b;
    int64_t n;
    int parts;
    double *a, *values, *vectors;
} eigen;

static fxs_status begin(fxs_call *c, eigen *w) {
    const fxs_tensor *t = matrices(c);
    fxs_status s = FXS_OK;
    *w = (eigen){.b = fxs_batch_of(t, 2), .n = fxs_rows(t), .parts = fxs_parts(t)};
    w->a = fxs_room(c, w->n * w->n * w->parts, &s);
    w->values = fxs_room(c, 2 * w->n, &s);
    w->vectors = fxs_room(c, 2 * w->n * w->n, &s);
    return s;
}

/* Values of dtype d, and vectors when there are any. */
static fxs_status out_eigen(fxs_call *c, fxs_dtype values, fxs_dtype vectors, bool both) {
    const fxs_tensor *t = matrices(c);
    fxs_batch b = fxs_batch_of(t, 2);
    FXS_TRY(fxs_out_vectors(c, values, &b, fxs_rows(t)));
    return both ? fxs_out_columns(c, vectors, &b, fxs_rows(t), fxs_rows(t)) : FXS_OK;
}

/* (A, UPLO='L') */
static fxs_status infer_symmetric(fxs_call *c, bool both) {
    const char *uplo = fxs_arg_str(c, 1);
    if (strlen(uplo) != 1 || !strchr("LUlu", *uplo))
        return FXS_REFUSE(c, FXS_EINVAL, "UPLO must be 'L' or 'U', not '%s'", uplo);
    FXS_TRY(fxs_check_any_square(c, matrices(c)));
    return out_eigen(c, fxs_real_of(matrices(c)->dtype), matrices(c)->dtype, both);
}

static fxs_status infer_eigh(fxs_call *c) {
    c->tuple_name = "torch.return_types.linalg_eigh";
    return infer_symmetric(c, true);
}
static fxs_status infer_eigvalsh(fxs_call *c) { return infer_symmetric(c, false); }

static fxs_status run_symmetric(fxs_call *c, bool both) {
    bool upper = strchr("Uu", *fxs_arg_str(c, 1)) != NULL;
    eigen w;
    FXS_TRY(begin(c, &w));
    for (int64_t i = 0; w.n && i < w.b.count; i++) {
        fxs_matrix_load(matrices(c), 2, &w.b, i, w.parts, w.a, w.n);
        int info = fxs_lapack_eigh(w.parts, is_single(c), both, upper, (int)w.n, w.a, w.values);
        FXS_TRY(fxs_lapack_status(c, info, &w.b, i, "the algorithm failed to converge"));
        fxs_matrix_store(c->out[0], 1, &w.b, i, 1, w.values, w.n);
        if (both)
            fxs_matrix_store(c->out[1], 2, &w.b, i, w.parts, w.a, w.n);
    }
    return FXS_OK;
}

static fxs_status run_eigh(fxs_call *c) { return run_symmetric(c, true); }
static fxs_status run_eigvalsh(fxs_call *c) { return run_symmetric(c, false); }

static fxs_status infer_eig(fxs_call *c) {
    FXS_TRY(fxs_check_square(c, matrices(c)));
    fxs_dtype d = fxs_complex_of(matrices(c)->dtype);
    c->tuple_name = "torch.return_types.linalg_eig";
    return out_eigen(c, d, d, true);
}
static fxs_status infer_eigvals(fxs_call *c) {
    FXS_TRY(fxs_check_square(c, matrices(c)));
    return out_eigen(c, fxs_complex_of(matrices(c)->dtype), FXS_COMPLEX64, false);
}

static fxs_status run_general(fxs_call *c, bool both) {
    eigen w;
    FXS_TRY(begin(c, &w));
    for (int64_t i = 0; w.n && i < w.b.count; i++) {
        fxs_matrix_load(matrices(c), 2, &w.b, i, w.parts, w.a, w.n);
        int info =
            fxs_lapack_eig(w.parts, is_single(c), (int)w.n, w.a, w.values, both ? w.vectors : NULL);
        FXS_TRY(fxs_lapack_status(c, info, &w.b, i, "the algorithm failed to converge"));
        fxs_matrix_store(c->out[0], 1, &w.b, i, 2, w.values, w.n);
        if (both)
            fxs_matrix_store(c->out[1], 2, &w.b, i, 2, w.vectors, w.n);
    }
    return FXS_OK;
}

static fxs_status run_eig(fxs_call *c) { return run_general(c, true); }
static fxs_status run_eigvals(fxs_call *c) { return run_general(c, false); }

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

/* About 10 n^2 m for what walks until it converges. */
static fxs_cost cost_walk(const fxs_call *c) {
    const fxs_tensor *t = matrices(c);
    return (fxs_cost){.flops = 10 * (double)fxs_tensor_numel(t) * (double)fxs_small_side(t)};
}

#define LINALG(name) "torch._C._linalg.linalg_" name
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_linalg_eigen[] = {
    {"linalg_svd",
     "(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor, Tensor, Tensor)",
     LINALG("svd"), infer_svd, run_svd, cost_walk, PURE},
    {"linalg_svdvals", "(Tensor A, *, str? driver=None) -> Tensor", LINALG("svdvals"),
     infer_svdvals, run_svdvals, cost_walk, PURE},
    {"svd", "(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor, Tensor, Tensor)",
     "torch.svd Tensor.svd", infer_torch_svd, run_torch_svd, cost_walk, PURE},
    {"linalg_eigh", "(Tensor self, str UPLO='L') -> (Tensor, Tensor)", LINALG("eigh"), infer_eigh,
     run_eigh, cost_walk, PURE},
    {"linalg_eigvalsh", "(Tensor self, str UPLO='L') -> Tensor", LINALG("eigvalsh"), infer_eigvalsh,
     run_eigvalsh, cost_walk, PURE},
    {"linalg_eig", "(Tensor self) -> (Tensor, Tensor)", LINALG("eig"), infer_eig, run_eig,
     cost_walk, PURE},
    {"linalg_eigvals", "(Tensor self) -> Tensor", LINALG("eigvals"), infer_eigvals, run_eigvals,
     cost_walk, PURE},
    {0},
};
