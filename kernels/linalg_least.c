/* linalg_least.c: torch.linalg.lstsq: least squares by LAPACK's drivers, for each matrix of the
 * batch, in its own precision. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/linalg.h"

/* ---- linalg_lstsq(A [m, n], B [m, k] or [m], rcond, driver)
 * ---------------------------------------------------- */

typedef struct least {
    const fxs_tensor *a, *b;
    fxs_batch batch;
    int item, parts;
    int64_t m, n, k, small, large;
    fxs_driver driver;
} least;

static fxs_status read_least(fxs_call *c, least *l) {
    *l = (least){.a = fxs_arg_tensor(c, 0), .b = fxs_arg_tensor(c, 1)};
    static const char *const drivers[] = {"gels", "gelsy", "gelsd", "gelss"};
    const char *name = fxs_arg_is_none(c, 3) ? "gelsy" : fxs_arg_str(c, 3);
    int driver = 0;
    FXS_TRY(fxs_check_matrices(c, l->a));
    if (l->a->dtype == FXS_FLOAT16 || l->a->dtype == FXS_BFLOAT16) /* rcond has no eps for them */
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for type %s", fxs_dtype_name(l->a->dtype));
    if (l->b->dtype != l->a->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "expected both of one type, but got torch.%s and torch.%s",
                          fxs_dtype_name(l->a->dtype), fxs_dtype_name(l->b->dtype));
    while (driver < 4 && strcmp(name, drivers[driver]) != 0)
        driver++;
    if (driver == 4)
        return FXS_REFUSE(c, FXS_EINVAL, "driver must be gels, gelsy, gelsd or gelss, not '%s'",
                          name);
    l->driver = (fxs_driver)driver;
    bool fewer = l->b->ndim == l->a->ndim - 1, vectors = fewer;
    for (int i = 0; vectors && i < l->b->ndim; i++)
        vectors = l->b->sizes[i] == l->a->sizes[i];
    l->item = vectors ? 1 : 2;
    if (l->b->ndim != l->a->ndim && !fewer)
        return FXS_REFUSE(c, FXS_ESHAPE, "B must have as many dimensions as A, or one fewer");
    if (fewer && (l->b->ndim < l->item || fxs_columns(l->b) != fxs_rows(l->a)))
        return FXS_REFUSE(c, FXS_ESHAPE, "A and B must have as many rows");
    l->m = fxs_rows(l->a), l->n = fxs_columns(l->a);
    l->k = l->item == 2 ? fxs_columns(l->b) : 1;
    l->small = l->m < l->n ? l->m : l->n, l->large = l->m < l->n ? l->n : l->m;
    if ((l->item == 2 ? fxs_rows(l->b) : fxs_columns(l->b)) != l->m)
        return FXS_REFUSE(c, FXS_ESHAPE, "A and B must have as many rows");
    l->parts = fxs_parts(l->a);
    l->batch = fxs_batch_of(l->a, 2);
    fxs_batch other = fxs_batch_of(l->b, l->item);
    FXS_TRY(fxs_batch_join(c, &l->batch, &other));
    if (!fewer || vectors)
        return FXS_OK;
    other = fxs_batch_of(l->b, 1); /* as many of B's sizes as A's batch has count as B's batch */
    return fxs_batch_join(c, &l->batch, &other);
}

static bool gives_rank(const least *l) { return l->driver != FXS_GELS; }
static bool gives_values(const least *l) {
    return l->driver == FXS_GELSD || l->driver == FXS_GELSS;
}

/* The solution lies in LAPACK's buffer of max(m, n) rows. */
static fxs_status out_least(fxs_call *c, const least *l) {
    FXS_TRY(l->item == 2 ? fxs_out_columns(c, l->a->dtype, &l->batch, l->n, l->k)
                         : fxs_out_vectors(c, l->a->dtype, &l->batch, l->n));
    fxs_tensor *t = c->out[0];
    int64_t step = l->large > 1 ? l->large : 1, width = l->k > 1 ? l->k : 1;
    if (l->item == 2)
        t->strides[t->ndim - 1] = step;
    step *= width;
    for (int i = l->batch.n - 1; i >= 0; i--) {
        t->strides[i] = step;
        step *= l->batch.sizes[i] > 1 ? l->batch.sizes[i] : 1;
    }
    return FXS_OK;
}

static double least_rcond(fxs_call *c, const least *l) {
    double eps = fxs_single(l->a) ? 0x1p-23 : 0x1p-52;
    if (c->arg[2].tag == FXS_V_NONE)
        return eps * (double)l->large;
    return fxs_arg_float(c, 2);
}

/* Buffers for one system: a [m, n], b [max(m, n), k], and singular values. */
typedef struct least_room {
    double *a, *b, *values;
} least_room;

static fxs_status take_least(fxs_call *c, const least *l, least_room *r) {
    fxs_status s = FXS_OK;
    r->a = fxs_room(c, l->m * l->n * l->parts, &s);
    r->b = fxs_room(c, l->large * l->k * l->parts, &s);
    r->values = fxs_room(c, l->small, &s);
    return s;
}

static fxs_status solve_least(fxs_call *c, const least *l, int64_t i, least_room *r, int *rank) {
    int info = 0;
    memset(r->b, 0, (size_t)(l->large * l->k * l->parts) * sizeof *r->b);
    fxs_matrix_load(l->a, 2, &l->batch, i, l->parts, r->a, l->m);
    fxs_matrix_load(l->b, l->item, &l->batch, i, l->parts, r->b, l->large);
    *rank = 0;
    if (l->small && l->k)
        info = fxs_lapack_least_squares(l->driver, l->parts, fxs_single(l->a), (int)l->m, (int)l->n,
                                        (int)l->k, r->a, r->b, r->values, least_rcond(c, l), rank);
    return fxs_lapack_status(c, info, &l->batch, i,
                             l->driver == FXS_GELS ? "the input matrix does not have full rank"
                                                   : "the algorithm failed to converge");
}

/* Are there residuals? Not of fewer equations than unknowns, and where ranks are found only when
 * all are full, which values say; gelsy's are never given. */
static fxs_status find_residuals(fxs_call *c, const least *l, bool *has) {
    least_room r;
    int rank;
    *has = l->m > l->n && l->driver != FXS_GELSY;
    if (!*has || l->driver == FXS_GELS)
        return FXS_OK;
    if (!l->a->storage || !l->b->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "whether there are residuals depends on the values of A");
    FXS_TRY(take_least(c, l, &r));
    for (int64_t i = 0; *has && i < l->batch.count; i++) {
        FXS_TRY(solve_least(c, l, i, &r, &rank));
        *has = rank == l->n;
    }
    return FXS_OK;
}

static fxs_status infer_lstsq(fxs_call *c) {
    least l;
    bool residuals;
    int64_t none = 0;
    FXS_TRY(read_least(c, &l));
    fxs_dtype real = fxs_real_of(l.a->dtype);
    c->tuple_name = "torch.return_types.linalg_lstsq";
    c->constants = 1 << 1 | 1 << 3;
    FXS_TRY(out_least(c, &l));
    FXS_TRY(find_residuals(c, &l, &residuals));
    FXS_TRY(residuals ? fxs_out_vectors(c, real, &l.batch, l.k)
                      : fxs_out_new(c, real, 1, &none, NULL));
    FXS_TRY(gives_rank(&l) ? fxs_out_numbers(c, FXS_INT64, &l.batch)
                           : fxs_out_new(c, FXS_INT64, 1, &none, NULL));
    return gives_values(&l) ? fxs_out_vectors(c, real, &l.batch, l.small)
                            : fxs_out_new(c, real, 1, &none, NULL);
}

/* b [max(m, n), k]: below the solution lies what is left over of each column. */
static void store_residuals(fxs_call *c, const least *l, int64_t i, const double *b, double *sums) {
    for (int64_t j = 0; j < l->k; j++) {
        sums[j] = 0;
        if (l->driver == FXS_GELS &&
            !l->n) /* LAPACK's gels leaves zeros when there is nothing to do */
            continue;
        for (int64_t r = l->n * l->parts; r < l->m * l->parts; r++)
            sums[j] += b[j * l->large * l->parts + r] * b[j * l->large * l->parts + r];
    }
    fxs_matrix_store(c->out[1], 1, &l->batch, i, 1, sums, l->k);
}

static fxs_status run_lstsq(fxs_call *c) {
    least l;
    least_room r;
    FXS_TRY(read_least(c, &l));
    fxs_status s = take_least(c, &l, &r);
    double *sums = fxs_room(c, l.k, &s);
    for (int64_t i = 0; s == FXS_OK && i < l.batch.count; i++) {
        int rank = 0;
        s = solve_least(c, &l, i, &r, &rank);
        fxs_matrix_store(c->out[0], l.item, &l.batch, i, l.parts, r.b, l.large);
        if (c->out[1]->ndim != 1 || c->out[1]->sizes[0])
            store_residuals(c, &l, i, r.b, sums);
        if (gives_rank(&l))
            fxs_ints_store(c->out[2], 0, &l.batch, i, &rank);
        if (gives_values(&l))
            fxs_matrix_store(c->out[3], 1, &l.batch, i, 1, r.values, l.small);
    }
    return s;
}

/* 2/3 n^3 to factor, and 2 n^2 for each column. */
static fxs_cost cost_lstsq(const fxs_call *c) {
    const fxs_tensor *a = fxs_arg_tensor(c, 0);
    double n = (double)fxs_columns(a);
    return (fxs_cost){.flops = (double)fxs_tensor_numel(a) * n * 2 / 3 +
                               2 * n * (double)fxs_tensor_numel(c->out[0])};
}

const fxs_op fxs_ops_linalg_least[] = {
    {"linalg_lstsq",
     "(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor, Tensor, Tensor, "
     "Tensor)",
     "torch._C._linalg.linalg_lstsq", infer_lstsq, run_lstsq, cost_lstsq, FXS_OP_NO_INPLACE},
    {0},
};
