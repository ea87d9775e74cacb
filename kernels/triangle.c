/* triangle.c: tril triu diag, and views that stretch several tensors to one shape: meshgrid,
 * broadcast_tensors. */
#include <string.h>

#include "kernels/iterate.h"

/* ---- triangles
 * ----------------------------------------------------------------------------------------- */

static fxs_status infer_triangle(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim < 2 && (t->ndim == 0 || fxs_tensor_numel(t)))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "input tensor must have at least 2 dimensions, but it has %d", t->ndim);
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
}

/* Zeroes what lies above (tril) or below (triu) the diagonal, row by row. */
static fxs_status keep_triangle(fxs_call *c, bool lower) {
    const fxs_tensor *o = c->out[0];
    int64_t k = fxs_arg_int(c, 1), size = (int64_t)fxs_dtype_size(o->dtype),
            n = fxs_tensor_numel(o);
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    if (n == 0)
        return FXS_OK;
    int64_t rows = o->sizes[o->ndim - 2], columns = o->sizes[o->ndim - 1];
    char *row = fxs_tensor_data(o);
    for (int64_t r = 0; r < n / columns; r++, row += columns * size) {
        int64_t i = r % rows, edge; /* row i keeps columns up to i + k, or from there on */
        if (__builtin_add_overflow(i, lower ? (k < INT64_MAX ? k + 1 : k) : k, &edge))
            edge = k > 0 ? columns : 0;
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        if (lower)
            memset(row + edge * size, 0, (size_t)((columns - edge) * size));
        else
            memset(row, 0, (size_t)(edge * size));
    }
    return FXS_OK;
}

static fxs_status run_tril(fxs_call *c) { return keep_triangle(c, true); }
static fxs_status run_triu(fxs_call *c) { return keep_triangle(c, false); }

/* ---- diag
 * ---------------------------------------------------------------------------------------------- */

/* A matrix's diagonal as a struct over its storage. */
static fxs_tensor diagonal_of(const fxs_tensor *t, int64_t k) {
    fxs_tensor d = *t;
    int64_t rows = t->sizes[0] - (k < 0 ? -k : 0), columns = t->sizes[1] - (k > 0 ? k : 0);
    int64_t n = rows < columns ? rows : columns;
    d.ndim = 1;
    d.sizes[0] = n > 0 ? n : 0;
    d.strides[0] = t->strides[0] + t->strides[1];
    if (n > 0)
        d.offset += k > 0 ? k * t->strides[1] : -k * t->strides[0];
    return d;
}

static fxs_status infer_diag(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t k = fxs_arg_int(c, 1), n;
    if (t->ndim != 1 && t->ndim != 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "supports 1D or 2D tensors, not %dD", t->ndim);
    if (k == INT64_MIN || __builtin_add_overflow(t->sizes[0], k < 0 ? -k : k, &n))
        return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
    if (t->ndim == 2)
        return fxs_out_new(c, t->dtype, 1, diagonal_of(t, k).sizes, NULL);
    return fxs_out_new(c, t->dtype, 2, (int64_t[]){n, n}, NULL);
}

static fxs_status run_diag(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_tensor part;
    if (t->ndim == 2) {
        part = diagonal_of(t, fxs_arg_int(c, 1));
        fxs_tensor_copy(c->ctx, c->out[0], &part);
        return FXS_OK;
    }
    memset(c->out[0]->storage->data, 0, c->out[0]->storage->bytes);
    part = diagonal_of(c->out[0], fxs_arg_int(c, 1));
    fxs_tensor_copy(c->ctx, &part, t);
    return FXS_OK;
}

/* ---- stretched views
 * ----------------------------------------------------------------------------------- */

static fxs_status check_list(fxs_call *c) {
    if (fxs_arg_len(c, 0) == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "expects a non-empty list of tensors");
    for (int i = 0; i < fxs_arg_len(c, 0); i++)
        if (!fxs_arg_tensor_at(c, 0, i))
            return FXS_REFUSE(c, FXS_ETYPE,
                              "expected a tensor as element %d of the list, but got None", i);
    return FXS_OK;
}

/* meshgrid(tensors, indexing): "xy" exchanges the first two. */
static fxs_status infer_meshgrid(fxs_call *c) {
    const char *indexing = fxs_arg_is_none(c, 1) ? "ij" : fxs_arg_str(c, 1);
    int n = fxs_arg_len(c, 0);
    bool swap = strcmp(indexing, "xy") == 0;
    int64_t sizes[FXS_MAX_DIM];
    FXS_TRY(check_list(c));
    if (!swap && strcmp(indexing, "ij") != 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "indexing must be one of \"xy\" or \"ij\", but received: %s", indexing);
    if (n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    swap = swap && n >= 2;
    for (int i = 0; i < n; i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, 0, i);
        if (t->ndim > 1)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "expected 0D or 1D tensors, but got one with %d dimensions", t->ndim);
        if (t->dtype != fxs_arg_tensor_at(c, 0, 0)->dtype)
            return FXS_REFUSE(c, FXS_ETYPE, "expects all tensors to have the same dtype");
        sizes[swap && i < 2 ? 1 - i : i] = t->ndim ? t->sizes[0] : 1;
    }
    for (int i = 0; i < n; i++) {
        fxs_tensor *t = fxs_arg_tensor_at(c, 0, i), *v;
        int own = swap && i < 2 ? 1 - i : i;
        bool kept = t->ndim && (t->sizes[0] || n == 1); /* else the view begins anew */
        int64_t step = kept ? t->strides[0] : 1;
        int64_t row = sizes[own] > 1 ? step * sizes[own] : step;
        FXS_TRY(fxs_out_view(c, t, &v));
        v->ndim = n;
        for (int k = 0; k < n; k++) {
            v->sizes[k] = sizes[k];
            if (sizes[k] == 1) /* as in a view of shape [1, n, 1] */
                v->strides[k] = k < own ? row : step;
            else
                v->strides[k] = k == own ? step : 0;
        }
    }
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status infer_broadcast(fxs_call *c) {
    int64_t sizes[FXS_MAX_DIM];
    int ndim = 0;
    FXS_TRY(check_list(c));
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, 0, i);
        FXS_TRY(fxs_broadcast_sizes(c, &ndim, sizes, t->ndim, t->sizes));
    }
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        fxs_tensor *t = fxs_arg_tensor_at(c, 0, i), *v;
        FXS_TRY(fxs_out_view(c, t, &v));
        v->ndim = ndim;
        for (int k = ndim - 1; k >= 0; k--) {
            int own = k - (ndim - t->ndim);
            int64_t size = own < 0 ? 1 : t->sizes[own];
            v->sizes[k] = sizes[k];
            v->strides[k] = size != sizes[k] ? 0
                            : own >= 0       ? t->strides[own]
                            : k + 1 < ndim   ? v->sizes[k + 1] * v->strides[k + 1]
                                             : 1;
            if (t->ndim == 0)
                v->strides[k] = 0;
        }
    }
    c->out_tuple = true;
    return FXS_OK;
}

const fxs_op fxs_ops_triangle[] = {
    {"tril", "(Tensor self, int diagonal=0) -> Tensor", "torch.tril Tensor.tril", infer_triangle,
     run_tril, NULL, 0},
    {"triu", "(Tensor self, int diagonal=0) -> Tensor", "torch.triu Tensor.triu", infer_triangle,
     run_triu, NULL, 0},
    {"diag", "(Tensor self, int diagonal=0) -> Tensor", "torch.diag Tensor.diag", infer_diag,
     run_diag, NULL, FXS_OP_NO_INPLACE},
    {"meshgrid", "(Tensor... tensors, *, str? indexing=None) -> Tensor[]",
     "torch.functional.meshgrid torch.meshgrid", infer_meshgrid, NULL, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_GRAD_EACH},
    {"broadcast_tensors", "(Tensor... tensors) -> Tensor[]",
     "torch.functional.broadcast_tensors torch.broadcast_tensors", infer_broadcast, NULL, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_GRAD_EACH},
    {0},
};
