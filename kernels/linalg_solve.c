/* linalg_solve.c: systems of equations: inv solve solve_triangular cholesky_solve cholesky_inverse
 * lu_solve. LAPACK works on each matrix of the batch, in double. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/linalg.h"

static const char *const singular = "the input matrix is singular";

/* ---- inverses
 * -----------------------------------------------------------------------------------------------
 */

static fxs_status infer_inv(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_square(c, t));
    fxs_batch b = fxs_batch_of(t, 2);
    return fxs_out_columns(c, t->dtype, &b, fxs_rows(t), fxs_rows(t));
}

static fxs_status infer_inv_ex(fxs_call *c) {
    FXS_TRY(infer_inv(c));
    fxs_batch b = fxs_batch_of(fxs_arg_tensor(c, 0), 2);
    c->tuple_name = "torch.return_types.linalg_inv_ex";
    return fxs_out_numbers(c, FXS_INT32, &b);
}

static fxs_status run_inverse(fxs_call *c, bool check) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_batch b = fxs_batch_of(t, 2);
    fxs_tensor factored = fxs_factored(t);
    char trans = factored.strides[t->ndim - 1] == t->strides[t->ndim - 1] ? 'N' : 'T';
    int64_t n = fxs_rows(t);
    int parts = fxs_parts(t);
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, n * n * parts, &s), *x = fxs_room(c, n * n * parts, &s);
    int *pivots = (int *)(void *)fxs_room(c, n, &s);
    for (int64_t i = 0; s == FXS_OK && i < b.count; i++) {
        fxs_matrix_load(&factored, 2, &b, i, parts, a, n);
        fxs_identity(x, n, parts);
        int info = n ? fxs_lapack_lu(parts, fxs_single(t), (int)n, (int)n, a, pivots) : 0;
        if (check || info < 0)
            s = fxs_lapack_status(c, info, &b, i, singular);
        if (s == FXS_OK && n)
            fxs_lapack_lu_solve(parts, fxs_single(t), trans, (int)n, (int)n, a, pivots, x);
        fxs_matrix_store(c->out[0], 2, &b, i, parts, x, n);
        if (c->nout > 1)
            fxs_ints_store(c->out[1], 0, &b, i, &info);
    }
    return s;
}

static fxs_status run_inv(fxs_call *c) { return run_inverse(c, true); }
static fxs_status run_inv_ex(fxs_call *c) { return run_inverse(c, fxs_arg_bool(c, 1)); }

/* One triangle, conjugated, into the other. */
static void mirror(double *a, int64_t n, int parts, bool upper) {
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++) { /* (i, j) lies above the diagonal */
            double *above = a + (j * n + i) * parts, *below = a + (i * n + j) * parts;
            memcpy(upper ? below : above, upper ? above : below, (size_t)parts * sizeof *a);
            if (parts == 2)
                (upper ? below : above)[1] *= -1;
        }
}

/* cholesky_inverse(L, upper): of L L^H */
static fxs_status run_cholesky_inverse(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_batch b = fxs_batch_of(t, 2);
    int64_t n = fxs_rows(t);
    int parts = fxs_parts(t);
    bool upper = fxs_arg_bool(c, 1);
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, n * n * parts, &s);
    for (int64_t i = 0; s == FXS_OK && n && i < b.count; i++) {
        fxs_matrix_load(t, 2, &b, i, parts, a, n);
        int info = fxs_lapack_cholesky_inverse(parts, fxs_single(t), upper, (int)n, a);
        s = fxs_lapack_status(c, info, &b, i, singular);
        mirror(a, n, parts, upper);
        fxs_matrix_store(c->out[0], 2, &b, i, parts, a, n);
    }
    return s;
}

/* ---- A X = B
 * ------------------------------------------------------------------------------------------------
 */

/* Where A and B stand among the arguments, and how they belong together. */
typedef struct system {
    const fxs_tensor *a, *b;
    fxs_batch batch;
    int item; /* 1: B is a batch of vectors */
    int64_t n, rows, columns;
    int parts;
    bool left;
} equations;

/* `converts`: B may be of any type, A's counts. */
static fxs_status read_equations(fxs_call *c, int a, int b, bool left, bool vectors, bool converts,
                                 equations *e) {
    char x[FXS_SIZES_TEXT], y[FXS_SIZES_TEXT];
    *e = (equations){.a = fxs_arg_tensor(c, a), .b = fxs_arg_tensor(c, b), .item = 2, .left = left};
    FXS_TRY(fxs_check_square(c, e->a));
    if (!converts && e->b->dtype != e->a->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "expected both of one type, but got torch.%s and torch.%s",
                          fxs_dtype_name(e->a->dtype), fxs_dtype_name(e->b->dtype));
    /* B is a vector, or its shape is that of A without the last dimension. */
    bool is_vector = e->b->ndim == 1 || e->b->ndim == e->a->ndim - 1;
    for (int i = 0; is_vector && e->b->ndim > 1 && i < e->b->ndim; i++)
        is_vector = e->b->sizes[i] == e->a->sizes[i];
    e->item = vectors && is_vector ? 1 : 2;
    if (e->item == 1 && !left)
        return FXS_REFUSE(c, FXS_ESHAPE, "vectors can't stand in B of XA = B");
    if (e->b->ndim < e->item)
        return FXS_REFUSE(c, FXS_ESHAPE, "B must have at least 2 dimensions, but its shape is %s",
                          fxs_sizes_text(e->b, y));
    e->n = fxs_rows(e->a);
    e->rows = e->item == 2 ? fxs_rows(e->b) : fxs_columns(e->b);
    e->columns = e->item == 2 ? fxs_columns(e->b) : 1;
    e->parts = fxs_parts(e->a);
    if ((left ? e->rows : e->columns) != e->n)
        return FXS_REFUSE(c, FXS_ESHAPE, "shapes %s and %s do not fit the equation %s",
                          fxs_sizes_text(e->a, x), fxs_sizes_text(e->b, y),
                          left ? "AX = B" : "XA = B");
    e->batch = fxs_batch_of(e->a, 2);
    fxs_batch other = fxs_batch_of(e->b, e->item);
    return fxs_batch_join(c, &e->batch, &other);
}

/* Column by column, as LAPACK solves it; of vectors, all are the columns of one such matrix. X of
 * XA = B is a transpose. */
static fxs_status out_solution(fxs_call *c, const equations *e, bool transposed) {
    if (e->item == 2)
        return (e->left || !transposed ? fxs_out_columns : fxs_out_rows)(c, e->a->dtype, &e->batch,
                                                                         e->rows, e->columns);
    FXS_TRY(fxs_out_vectors(c, e->a->dtype, &e->batch, e->rows));
    fxs_tensor *t = c->out[c->nout - 1];
    if (t->ndim > 1) {
        int64_t rows = t->sizes[t->ndim - 2];
        t->strides[t->ndim - 2] = 1;
        t->strides[t->ndim - 1] = rows > 1 ? rows : 1;
    }
    return FXS_OK;
}

static fxs_status infer_solve(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 0, 1, fxs_arg_bool(c, 2), true, false, &e));
    return out_solution(c, &e, true);
}

static fxs_status infer_solve_ex(fxs_call *c) {
    FXS_TRY(infer_solve(c));
    fxs_batch b = fxs_batch_of(fxs_arg_tensor(c, 0), 2);
    c->tuple_name = "torch.return_types.linalg_solve_ex";
    return fxs_out_numbers(c, FXS_INT32, &b);
}

/* X A = B is A^T X^T = B^T: turned [rows, columns] in place of x [columns, rows]. */
static void turn(int64_t rows, int64_t columns, int parts, const double *x, double *turned) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            memcpy(turned + (j * rows + i) * parts, x + (i * columns + j) * parts,
                   (size_t)parts * sizeof *x);
}

static fxs_status run_solver(fxs_call *c, bool check) {
    equations e;
    FXS_TRY(read_equations(c, 0, 1, fxs_arg_bool(c, 2), true, false, &e));
    int64_t n = e.n, size = e.rows * e.columns * e.parts;
    fxs_batch own = fxs_batch_of(e.a, 2);
    fxs_tensor factored = fxs_factored(e.a);
    bool turned = factored.strides[e.a->ndim - 1] != e.a->strides[e.a->ndim - 1];
    fxs_status s = FXS_OK;
    if (c->nout > 1 && e.batch.count == 0)
        memset(fxs_tensor_data(c->out[1]), 0, (size_t)own.count * sizeof(int32_t));
    double *a = fxs_room(c, n * n * e.parts, &s), *x = fxs_room(c, size, &s),
           *y = fxs_room(c, size, &s);
    int *pivots = (int *)(void *)fxs_room(c, n, &s);
    for (int64_t i = 0; s == FXS_OK && i < e.batch.count; i++) {
        fxs_matrix_load(&factored, 2, &e.batch, i, e.parts, a, n);
        fxs_matrix_load(e.b, e.item, &e.batch, i, e.parts, x, e.rows);
        int info = n ? fxs_lapack_lu(e.parts, fxs_single(e.a), (int)n, (int)n, a, pivots) : 0;
        if (check || info < 0)
            s = fxs_lapack_status(c, info, &e.batch, i, singular);
        if (!e.left)
            turn(e.columns, e.rows, e.parts, x, y);
        if (s == FXS_OK && size)
            fxs_lapack_lu_solve(e.parts, fxs_single(e.a), e.left != turned ? 'N' : 'T', (int)n,
                                (int)(e.left ? e.columns : e.rows), a, pivots, e.left ? x : y);
        if (!e.left)
            turn(e.rows, e.columns, e.parts, y, x);
        fxs_matrix_store(c->out[0], e.item, &e.batch, i, e.parts, x, e.rows);
        if (c->nout > 1 && own.count)
            fxs_ints_store(c->out[1], 0, &own, i % own.count, &info);
    }
    return s;
}

static fxs_status run_solve(fxs_call *c) { return run_solver(c, true); }
static fxs_status run_solve_ex(fxs_call *c) { return run_solver(c, fxs_arg_bool(c, 3)); }

/* ---- with a triangle: a function of loaded A and B
 * ------------------------------------------------------------- */

typedef void solve_fn(fxs_call *c, const equations *e, const double *a, double *x);

static fxs_status run_each(fxs_call *c, const equations *e, solve_fn *fn) {
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, e->n * e->n * e->parts, &s),
           *x = fxs_room(c, e->rows * e->columns * e->parts, &s);
    for (int64_t i = 0; s == FXS_OK && i < e->batch.count; i++) {
        fxs_matrix_load(e->a, 2, &e->batch, i, e->parts, a, e->n);
        fxs_matrix_load(e->b, 2, &e->batch, i, e->parts, x, e->rows);
        fn(c, e, a, x);
        fxs_matrix_store(c->out[0], 2, &e->batch, i, e->parts, x, e->rows);
    }
    return s;
}

/* linalg_solve_triangular(A, B, upper, left, unitriangular) */
static fxs_status infer_solve_triangular(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 0, 1, fxs_arg_bool(c, 3), false, true, &e));
    return out_solution(c, &e, false);
}

static void by_triangle(fxs_call *c, const equations *e, const double *a, double *x) {
    fxs_lapack_triangle(e->parts, e->left, fxs_arg_bool(c, 2), 'N', fxs_arg_bool(c, 4),
                        (int)e->rows, (int)e->columns, a, x);
}

static fxs_status run_solve_triangular(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 0, 1, fxs_arg_bool(c, 3), false, true, &e));
    return run_each(c, &e, by_triangle);
}

/* triangular_solve(b, A, upper, transpose, unitriangular): the solution, and a copy of A */
static fxs_status infer_triangular_solve(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 1, 0, true, false, false, &e));
    FXS_TRY(out_solution(c, &e, false));
    c->tuple_name = "torch.return_types.triangular_solve";
    return fxs_out_columns(c, e.a->dtype, &e.batch, e.n, e.n);
}

static void by_turned_triangle(fxs_call *c, const equations *e, const double *a, double *x) {
    fxs_lapack_triangle(e->parts, true, fxs_arg_bool(c, 2), fxs_arg_bool(c, 3) ? 'T' : 'N',
                        fxs_arg_bool(c, 4), (int)e->rows, (int)e->columns, a, x);
}

static fxs_status run_triangular_solve(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 1, 0, true, false, false, &e));
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, e.n * e.n * e.parts, &s);
    for (int64_t i = 0; s == FXS_OK && i < e.batch.count; i++) {
        fxs_matrix_load(e.a, 2, &e.batch, i, e.parts, a, e.n);
        fxs_matrix_store(c->out[1], 2, &e.batch, i, e.parts, a, e.n);
    }
    return s == FXS_OK ? run_each(c, &e, by_turned_triangle) : s;
}

/* cholesky_solve(B, L, upper) */
static fxs_status infer_cholesky_solve(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 1, 0, true, false, false, &e));
    return out_solution(c, &e, false);
}

static void by_cholesky(fxs_call *c, const equations *e, const double *a, double *x) {
    bool upper = fxs_arg_bool(c, 2);
    for (int k = 0; k < 2; k++)
        fxs_lapack_triangle(e->parts, true, upper, upper == (k == 0) ? 'C' : 'N', false,
                            (int)e->rows, (int)e->columns, a, x);
}

static fxs_status run_cholesky_solve(fxs_call *c) {
    equations e;
    FXS_TRY(read_equations(c, 1, 0, true, false, false, &e));
    return run_each(c, &e, by_cholesky);
}

/* ---- lu_solve(b, LU_data, LU_pivots), linalg_lu_solve(LU, pivots, B)
 * ------------------------------------------- */

static fxs_status read_lu(fxs_call *c, bool old, equations *e, const fxs_tensor **pivots) {
    *pivots = fxs_arg_tensor(c, old ? 2 : 1);
    if ((*pivots)->dtype != FXS_INT32 || (*pivots)->ndim < 1)
        return FXS_REFUSE(c, FXS_ETYPE, "expected pivots of type int32, but got torch.%s",
                          fxs_dtype_name((*pivots)->dtype));
    FXS_TRY(read_equations(c, old ? 1 : 0, old ? 0 : 2, true, false, false, e));
    bool fits = (*pivots)->ndim == e->a->ndim - 1;
    for (int i = 0; fits && i < (*pivots)->ndim; i++)
        fits = (*pivots)->sizes[i] == e->a->sizes[i];
    if (!fits)
        return FXS_REFUSE(c, FXS_ESHAPE, "LU and pivots do not belong together");
    return FXS_OK;
}

static fxs_status infer_lu_solution(fxs_call *c, bool old) {
    const fxs_tensor *pivots;
    equations e;
    FXS_TRY(read_lu(c, old, &e, &pivots));
    return out_solution(c, &e, false);
}

static fxs_status run_lu_solution(fxs_call *c, bool old) {
    const fxs_tensor *given;
    equations e;
    FXS_TRY(read_lu(c, old, &e, &given));
    fxs_status s = FXS_OK;
    double *a = fxs_room(c, e.n * e.n * e.parts, &s), *p = fxs_room(c, e.n, &s),
           *x = fxs_room(c, e.rows * e.columns * e.parts, &s);
    int *pivots = (int *)(void *)fxs_room(c, e.n, &s);
    for (int64_t i = 0; s == FXS_OK && e.n && i < e.batch.count; i++) {
        fxs_matrix_load(e.a, 2, &e.batch, i, e.parts, a, e.n);
        fxs_matrix_load(e.b, 2, &e.batch, i, e.parts, x, e.rows);
        fxs_matrix_load(given, 1, &e.batch, i, 1, p, e.n);
        for (int64_t k = 0; k < e.n; k++) {
            pivots[k] = (int)p[k];
            if (pivots[k] < 1 || pivots[k] > e.n)
                return FXS_REFUSE(c, FXS_EINDEX, "pivot %d is out of range: there are %lld rows",
                                  pivots[k], (long long)e.n);
        }
        fxs_lapack_lu_solve(e.parts, fxs_single(e.a), 'N', (int)e.n, (int)e.columns, a, pivots, x);
        fxs_matrix_store(c->out[0], 2, &e.batch, i, e.parts, x, e.rows);
    }
    return s;
}

static fxs_status infer_lu_solve(fxs_call *c) { return infer_lu_solution(c, true); }
static fxs_status infer_linalg_lu_solve(fxs_call *c) { return infer_lu_solution(c, false); }
static fxs_status run_lu_solve(fxs_call *c) { return run_lu_solution(c, true); }
static fxs_status run_linalg_lu_solve(fxs_call *c) { return run_lu_solution(c, false); }

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

/* 2/3 n^3 to factor, and 2 n^2 for each column: 2 n^3 for an inverse. */
static fxs_cost cost_inv(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    return (fxs_cost){.flops = 2 * (double)fxs_tensor_numel(t) * (double)fxs_rows(t)};
}
static fxs_cost cost_solve(const fxs_call *c) {
    const fxs_tensor *a = fxs_arg_tensor(c, 0);
    double n = (double)fxs_columns(a);
    return (fxs_cost){.flops = (double)fxs_tensor_numel(a) * n * 2 / 3 +
                               2 * n * (double)fxs_tensor_numel(c->out[0])};
}
/* n^2 for each column: a triangle of multiplications and additions */
static fxs_cost cost_triangle(const fxs_call *c) {
    const fxs_tensor *x = c->out[0];
    return (fxs_cost){.flops = (double)fxs_tensor_numel(x) * (double)fxs_rows(x)};
}
static fxs_cost cost_two_triangles(const fxs_call *c) {
    return (fxs_cost){.flops = 2 * cost_triangle(c).flops};
}

#define LINALG(name) "torch._C._linalg.linalg_" name
#define BOTH(name) "torch." name " Tensor." name
#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_linalg_solve[] = {
    {"linalg_inv", "(Tensor A) -> Tensor", LINALG("inv") " " BOTH("inverse"), infer_inv, run_inv,
     cost_inv, PURE},
    {"linalg_inv_ex", "(Tensor A, *, bool check_errors=False) -> (Tensor, Tensor)",
     LINALG("inv_ex"), infer_inv_ex, run_inv_ex, cost_inv, PURE},
    {"cholesky_inverse", "(Tensor self, bool upper=False) -> Tensor", BOTH("cholesky_inverse"),
     infer_inv, run_cholesky_inverse, cost_inv, PURE},
    {"linalg_solve", "(Tensor A, Tensor B, *, bool left=True) -> Tensor", LINALG("solve"),
     infer_solve, run_solve, cost_solve, PURE},
    {"linalg_solve_ex",
     "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor, Tensor)",
     LINALG("solve_ex"), infer_solve_ex, run_solve_ex, cost_solve, PURE},
    {"linalg_solve_triangular",
     "(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
     LINALG("solve_triangular"), infer_solve_triangular, run_solve_triangular, cost_triangle, PURE},
    {"triangular_solve",
     "(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
     "(Tensor, Tensor)",
     BOTH("triangular_solve"), infer_triangular_solve, run_triangular_solve, cost_triangle, PURE},
    {"cholesky_solve", "(Tensor self, Tensor input2, bool upper=False) -> Tensor",
     BOTH("cholesky_solve"), infer_cholesky_solve, run_cholesky_solve, cost_two_triangles, PURE},
    {"lu_solve", "(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", BOTH("lu_solve"),
     infer_lu_solve, run_lu_solve, cost_two_triangles, PURE},
    {"linalg_lu_solve", "(Tensor LU, Tensor pivots, Tensor B) -> Tensor", LINALG("lu_solve"),
     infer_linalg_lu_solve, run_linalg_lu_solve, cost_two_triangles, PURE},
    {0},
};
