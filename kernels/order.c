/* order.c: sort, argsort, topk, kthvalue along a dimension, and unique. Equal elements keep their
 * order (so does PyTorch's stable sort; its topk promises none). */
#include <math.h>

#include "kernels/lines.h"
#include "kernels/work.h"

static void put_first_k(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    fxs_sort_entries(l, e, n);
    for (int64_t j = 0; j < (l->k < n ? l->k : n); j++)
        fxs_put_entry(l, line, j, &e[j]);
}

static void put_kth(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line) {
    fxs_sort_entries(l, e, n);
    fxs_put_entry(l, line, 0, &e[l->k - 1]);
}

/* ---- sort
 * ---------------------------------------------------------------------------------------------- */

static fxs_status out_sorted(fxs_call *c, fxs_dtype d) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    fxs_strides_like(t, strides);
    return fxs_out_new(c, d, t->ndim, t->sizes, strides);
}

/* Positions of dim and descending: the overloads with `stable` have it before them. */
static int dim_at(const fxs_call *c) { return c->nargs > 3 ? 2 : 1; }
static bool descends(const fxs_call *c) { return fxs_arg_bool(c, dim_at(c) + 1); }

/* sort(self, dim, descending), sort(self, stable, dim, descending) */
static fxs_status infer_sort(fxs_call *c) {
    int dim;
    FXS_TRY(fxs_line_dim(c, dim_at(c), &dim));
    if (fxs_arg_tensor(c, 0)->ndim)
        FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    FXS_TRY(out_sorted(c, fxs_arg_tensor(c, 0)->dtype));
    c->tuple_name = "torch.return_types.sort";
    return out_sorted(c, FXS_INT64);
}

static fxs_status infer_argsort(fxs_call *c) {
    int dim;
    FXS_TRY(fxs_line_dim(c, dim_at(c), &dim));
    if (fxs_arg_tensor(c, 0)->ndim)
        FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return out_sorted(c, FXS_INT64);
}

static fxs_status run_sort(fxs_call *c) {
    fxs_lines l = {
        .values = c->out[0], .indices = c->out[1], .descending = descends(c), .fn = put_first_k};
    FXS_TRY(fxs_line_dim(c, dim_at(c), &l.dim));
    if (fxs_arg_tensor(c, 0)->ndim == 0) { /* of any type: there is nothing to compare */
        fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
        *(int64_t *)fxs_tensor_data(c->out[1]) = 0;
        return FXS_OK;
    }
    l.k = INT64_MAX;
    return fxs_lines_run(c, &l);
}

static fxs_status run_argsort(fxs_call *c) {
    fxs_lines l = {
        .indices = c->out[0], .descending = descends(c), .k = INT64_MAX, .fn = put_first_k};
    FXS_TRY(fxs_line_dim(c, dim_at(c), &l.dim));
    return fxs_lines_run(c, &l);
}

/* ---- topk and kthvalue
 * --------------------------------------------------------------------------------- */

/* topk(self, k, dim, largest, sorted) */
static fxs_status infer_topk(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t sizes[FXS_MAX_DIM] = {0}, k = fxs_arg_int(c, 1);
    int dim;
    FXS_TRY(fxs_line_dim(c, 2, &dim));
    FXS_TRY(fxs_check_computable(c, t->dtype));
    if (t->dtype == FXS_BOOL && t->ndim)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    if (k < 0 || k > (t->ndim ? t->sizes[dim] : 1))
        return FXS_REFUSE(
            c, FXS_EINDEX,
            "selected index k out of range: k is %lld, but dimension %d has size %lld",
            (long long)k, dim, (long long)(t->ndim ? t->sizes[dim] : 1));
    for (int i = 0; i < t->ndim; i++)
        sizes[i] = i == dim ? k : t->sizes[i];
    FXS_TRY(fxs_out_new(c, t->dtype, t->ndim, sizes, NULL));
    c->tuple_name = "torch.return_types.topk";
    return fxs_out_new(c, FXS_INT64, t->ndim, sizes, NULL);
}

static fxs_status run_topk(fxs_call *c) {
    fxs_lines l = {.values = c->out[0],
                   .indices = c->out[1],
                   .descending = fxs_arg_bool(c, 3),
                   .fn = put_first_k};
    l.k = fxs_arg_tensor(c, 0)->ndim ? fxs_arg_int(c, 1) : 1;
    FXS_TRY(fxs_line_dim(c, 2, &l.dim));
    return fxs_lines_run(c, &l);
}

/* kthvalue(self, k, dim, keepdim): the k-th smallest, counted from 1. */
static fxs_status infer_kthvalue(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t sizes[FXS_MAX_DIM], k = fxs_arg_int(c, 1);
    int dim, n = 0;
    FXS_TRY(fxs_line_dim(c, 2, &dim));
    FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS));
    if (k < 1 || k > (t->ndim ? t->sizes[dim] : 1))
        return FXS_REFUSE(c, FXS_EINDEX, "selected number k out of range for dimension %d", dim);
    for (int i = 0; i < t->ndim; i++)
        if (i != dim || fxs_arg_bool(c, 3))
            sizes[n++] = i == dim ? 1 : t->sizes[i];
    FXS_TRY(fxs_out_new(c, t->dtype, n, sizes, NULL));
    c->tuple_name = "torch.return_types.kthvalue";
    return fxs_out_new(c, FXS_INT64, n, sizes, NULL);
}

static fxs_status run_kthvalue(fxs_call *c) {
    fxs_lines l = {
        .values = c->out[0], .indices = c->out[1], .k = fxs_arg_int(c, 1), .fn = put_kth};
    FXS_TRY(fxs_line_dim(c, 2, &l.dim));
    return fxs_lines_run(c, &l);
}

/* n log2 n comparisons for each line of n. */
static fxs_cost cost_sort(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    double numel = (double)fxs_tensor_numel(t), n = 1;
    int64_t dim = fxs_arg_int(c, dim_at(c));
    dim += dim < 0 ? t->ndim : 0;
    if (dim >= 0 && dim < t->ndim)
        n = (double)t->sizes[dim];
    return (fxs_cost){.flops = n > 1 ? numel * log2(n) : 0};
}

/* A comparison with each element: a heap of k is small beside n. */
static fxs_cost cost_topk(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, 0)};
}

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_order[] = {
    {"sort", "(Tensor self, int dim=-1, bool descending=False) -> (Tensor, Tensor)",
     "torch.sort Tensor.sort", infer_sort, run_sort, cost_sort, PURE | FXS_OP_REAL_GRAD},
    {"sort",
     "(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor, Tensor)",
     "torch.sort Tensor.sort", infer_sort, run_sort, cost_sort, PURE | FXS_OP_REAL_GRAD},
    {"argsort", "(Tensor self, int dim=-1, bool descending=False) -> Tensor",
     "torch.argsort Tensor.argsort", infer_argsort, run_argsort, cost_sort,
     PURE | FXS_OP_REAL_GRAD},
    {"argsort", "(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
     "torch.argsort Tensor.argsort", infer_argsort, run_argsort, cost_sort,
     PURE | FXS_OP_REAL_GRAD},
    {"topk",
     "(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor, Tensor)",
     "torch.topk Tensor.topk", infer_topk, run_topk, cost_topk, PURE},
    {"kthvalue", "(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)",
     "torch.kthvalue Tensor.kthvalue", infer_kthvalue, run_kthvalue, cost_topk, PURE},
    {0},
};
#undef PURE
