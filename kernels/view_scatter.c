/* view_scatter.c: copies of a tensor in which a part is replaced, the part being what a view shows:
 * select_scatter slice_scatter diagonal_scatter as_strided_scatter; fill_diagonal_, diag_embed, and
 * put, which replaces elements by their number. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "kernels/python.h"

/* ---- the part that is replaced
 * --------------------------------------------------------------------------------------------- */

/* Gives the view of `base` that the arguments from number 2 on say. */
typedef fxs_status part_fn(fxs_call *c, fxs_tensor *base, fxs_tensor *part);

/* A view that another row makes. */
static fxs_status part_by(fxs_call *c, const char *op, fxs_tensor *base, int n, fxs_tensor *part) {
    fxs_compose k = {.call = c, .meta = base->storage == NULL};
    fxs_value args[FXS_MAX_ARGS] = {fxs_t(base)};
    for (int i = 0; i < n; i++)
        args[1 + i] = c->arg[2 + i];
    const fxs_tensor *v = fxs_do(&k, op, (size_t)n + 1, args);
    if (v) {
        *part = *v;
        part->storage = base->storage; /* which outlives the step */
    }
    return fxs_compose_end(&k);
}

static fxs_status selected(fxs_call *c, fxs_tensor *base, fxs_tensor *part) {
    return part_by(c, "select", base, 2, part);
}

static fxs_status on_diagonal(fxs_call *c, fxs_tensor *base, fxs_tensor *part) {
    return part_by(c, "diagonal", base, 3, part);
}

static int64_t bound(const fxs_call *c, int i, int64_t size, int64_t otherwise) {
    int64_t x = fxs_arg_is_none(c, i) ? otherwise : fxs_arg_int(c, i);
    if (x < 0)
        x += size;
    return x < 0 ? 0 : x > size ? size : x;
}

/* slice_scatter(self, src, dim, start, end, step) */
static fxs_status sliced(fxs_call *c, fxs_tensor *base, fxs_tensor *part) {
    int dim;
    if (base->ndim == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "a 0-dim tensor has no slices");
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), base->ndim, &dim));
    int64_t size = base->sizes[dim], step = fxs_arg_int(c, 5), from = bound(c, 3, size, 0),
            to = bound(c, 4, size, size);
    if (step <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "the step must be positive, but is %lld", (long long)step);
    *part = *base;
    part->sizes[dim] = to > from ? (to - from - 1) / step + 1 : 0;
    part->offset += from * base->strides[dim];
    if (part->sizes[dim] > 1)
        part->strides[dim] *= step;
    return FXS_OK;
}

/* as_strided_scatter(self, src, size, stride, storage_offset): of a storage that holds no more than
 * self. */
static fxs_status strided(fxs_call *c, fxs_tensor *base, fxs_tensor *part) {
    int64_t room = fxs_tensor_numel(base), end;
    fxs_tensor packed = *base;
    packed.offset = 0;
    packed.storage = NULL;
    FXS_TRY(part_by(c, "as_strided", &packed, 3, part));
    end = part->offset;
    for (int i = 0; i < part->ndim; i++)
        end += (part->sizes[i] - 1) * part->strides[i];
    if (fxs_tensor_numel(part) && end >= room)
        return FXS_REFUSE(c, FXS_EINDEX, "reaches element %lld of a storage of %lld elements",
                          (long long)end, (long long)room);
    part->storage = base->storage;
    part->offset += base->offset;
    return FXS_OK;
}

/* ---- the copy
 * ---------------------------------------------------------------------------------------------- */

/* A clone of self. */
static fxs_status out_scattered(fxs_call *c, part_fn *part_of, bool complex_grad) {
    fxs_tensor *self = fxs_arg_tensor(c, 0), meta = *self, part;
    const fxs_tensor *src = fxs_arg_tensor(c, 1);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    meta.storage = NULL;
    meta.offset = 0;
    fxs_strides_like(self, meta.strides);
    FXS_TRY(part_of(c, &meta, &part));
    bool same = part.ndim == src->ndim;
    for (int i = 0; same && i < src->ndim; i++)
        same = part.sizes[i] == src->sizes[i];
    if (!same)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected src to have a size equal to the part of self: %s, but it has %s",
            fxs_sizes_text(&part, a), fxs_sizes_text(src, b));
    if (!complex_grad && fxs_is_complex(self->dtype) && (self->requires_grad || src->requires_grad))
        return FXS_REFUSE(c, FXS_ETYPE, "does not support gradients of torch.%s",
                          fxs_dtype_name(self->dtype));
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, meta.strides);
}

static fxs_status run_scattered(fxs_call *c, part_fn *part_of) {
    fxs_tensor part;
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    FXS_TRY(part_of(c, c->out[0], &part));
    fxs_tensor_copy(c->ctx, &part, fxs_arg_tensor(c, 1));
    return FXS_OK;
}

#define SCATTERED(name, part_of, complex_grad)                                                     \
    static fxs_status infer_##name(fxs_call *c) {                                                  \
        return out_scattered(c, part_of, complex_grad);                                            \
    }                                                                                              \
    static fxs_status run_##name(fxs_call *c) { return run_scattered(c, part_of); }
SCATTERED(select_scatter, selected, false)
SCATTERED(slice_scatter, sliced, false)
SCATTERED(diagonal_scatter, on_diagonal, false)
SCATTERED(as_strided_scatter, strided, true)
#undef SCATTERED

/* ---- diagonals
 * ---------------------------------------------------------------------------------------------- */

/* diag_embed(self, offset, dim1, dim2): vectors of the last dimension on diagonals of zeros */
static void make_diag_embed(fxs_compose *k) {
    fxs_tensor *x = fxs_arg_tensor(k->call, 0);
    int64_t offset = fxs_arg_int(k->call, 1), sizes[FXS_MAX_DIM], side;
    int dim[2], n = x->ndim + 1, at = 0;
    if (n > FXS_MAX_DIM)
        fxs_stop(k, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    for (int i = 0; i < 2 && k->status == FXS_OK; i++)
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2 + i), n, &dim[i]);
    if (k->status == FXS_OK && dim[0] == dim[1])
        fxs_stop(k, FXS_EINVAL, "the diagonal dimensions cannot be identical: %d and %d", dim[0],
                 dim[1]);
    if (x->ndim == 0)
        fxs_stop(k, FXS_EINDEX, "expects a tensor of at least one dimension");
    if (k->status != FXS_OK)
        return;
    if (offset == INT64_MIN ||
        __builtin_add_overflow(x->sizes[x->ndim - 1], offset < 0 ? -offset : offset, &side)) {
        fxs_stop(k, FXS_ELIMIT, "offset %lld is too large", (long long)offset);
        return;
    }
    for (int i = 0; i < n; i++)
        sizes[i] = i == dim[0] || i == dim[1] ? side : x->sizes[at++];
    k->any_grad = true;
    fxs_tensor *out =
        FXS_DO_NAMED(k, "zeros", "dtype", fxs_of_dtype(x->dtype), fxs_ints(k, n, sizes));
    fxs_tensor *diagonal =
        FXS_DO(k, "diagonal", fxs_t(out), fxs_int(offset), fxs_int(dim[0]), fxs_int(dim[1]));
    FXS_DO(k, "copy_", fxs_t(diagonal), fxs_t(x));
    fxs_give(k, out);
}
FXS_COMPOSED_FREE(diag_embed)

/* fill_diagonal_(self, fill_value, wrap) */
static fxs_status infer_fill_diagonal(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "dimensions must be at least 2, but there are %d",
                          t->ndim);
    for (int i = 1; t->ndim > 2 && i < t->ndim; i++)
        if (t->sizes[i] != t->sizes[0])
            return FXS_REFUSE(c, FXS_ESHAPE, "all dimensions of input must be of equal length");
    FXS_TRY(fxs_check_computable(c, t->dtype));
    if (c->arg[1].tag == FXS_V_COMPLEX && !fxs_is_complex(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "a complex number can't be written into torch.%s",
                          fxs_dtype_name(t->dtype));
    if (!fxs_type_holds(t->dtype, &c->arg[1]))
        return FXS_REFUSE(c, FXS_EINVAL, "the value can't be converted to torch.%s",
                          fxs_dtype_name(t->dtype));
    return fxs_out_same(c, t);
}

static fxs_status run_fill_diagonal(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), line = *t;
    int64_t step = 0, side = t->sizes[0];
    for (int i = 0; i < t->ndim; i++) {
        step += t->strides[i];
        side = t->sizes[i] < side ? t->sizes[i] : side;
    }
    line.ndim = 1;
    line.sizes[0] = side;
    line.strides[0] = step;
    fxs_fill_tensor(c, &line, &c->arg[1]);
    /* A tall matrix gets more diagonals, with a row between them: places are counted on as if they
     * lay row by row, which is what PyTorch does. */
    if (!fxs_arg_bool(c, 2) || t->ndim != 2 || t->sizes[0] <= t->sizes[1] + 1)
        return FXS_OK;
    int64_t size = (int64_t)fxs_dtype_size(t->dtype), over = t->sizes[1] + 1;
    line.sizes[0] = (fxs_tensor_numel(t) + over - 1) / over - side;
    line.offset = t->offset + t->strides[0] * over;
    if (line.sizes[0] > 0 &&
        (line.offset + (line.sizes[0] - 1) * step + 1) * size > (int64_t)t->storage->bytes)
        return FXS_REFUSE(c, FXS_EINDEX, "the wrapped diagonal reaches beyond the storage");
    if (line.sizes[0] > 0)
        fxs_fill_tensor(c, &line, &c->arg[1]);
    return FXS_OK;
}

/* ---- put
 * ----------------------------------------------------------------------------------------------------
 */

/* put(self, index, source, accumulate): elements by their number in row-major order */
static fxs_status infer_put(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 1),
                     *source = fxs_arg_tensor(c, 2);
    int64_t strides[FXS_MAX_DIM];
    if (index->dtype != FXS_INT64)
        return FXS_REFUSE(c, FXS_ETYPE, "expected an index of torch.int64, but got torch.%s",
                          fxs_dtype_name(index->dtype));
    if (source->dtype != self->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "expected a source of torch.%s, but got torch.%s",
                          fxs_dtype_name(self->dtype), fxs_dtype_name(source->dtype));
    if (fxs_tensor_numel(index) != fxs_tensor_numel(source))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected as many elements in source as in index: %lld, but got %lld",
                          (long long)fxs_tensor_numel(index), (long long)fxs_tensor_numel(source));
    if (fxs_tensor_numel(self) == 0 && fxs_tensor_numel(index))
        return FXS_REFUSE(c, FXS_EINDEX, "tried to put elements into an empty tensor");
    FXS_TRY(fxs_check_computable(c, self->dtype));
    fxs_strides_like(self, strides);
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, strides);
}

static char *element_at(const fxs_tensor *t, int64_t position) {
    int64_t at = 0;
    for (int i = t->ndim - 1; i >= 0; i--) {
        at += position % t->sizes[i] * t->strides[i];
        position /= t->sizes[i];
    }
    return (char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype);
}

/* Adds one element to another of the same type. */
static void accumulate(fxs_dtype d, char *to, const char *from) {
    double x[2], y[2];
    if (d == FXS_BOOL) {
        fxs_store_int(d, to, fxs_load_int(d, to) || fxs_load_int(d, from));
    } else if (fxs_is_floating(d)) {
        fxs_store_double(d, to, fxs_load_double(d, to) + fxs_load_double(d, from));
    } else if (fxs_is_complex(d)) {
        fxs_load_pair(d, to, x);
        fxs_load_pair(d, from, y);
        fxs_store_pair(d, to, (double[]){x[0] + y[0], x[1] + y[1]});
    } else {
        fxs_store_int(d, to,
                      (int64_t)((uint64_t)fxs_load_int(d, to) + (uint64_t)fxs_load_int(d, from)));
    }
}

static fxs_status run_put(fxs_call *c) {
    const fxs_tensor *index = fxs_arg_tensor(c, 1), *source = fxs_arg_tensor(c, 2);
    fxs_tensor *out = c->out[0];
    int64_t room = fxs_tensor_numel(out);
    fxs_tensor_copy(c->ctx, out, fxs_arg_tensor(c, 0));
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t at = fxs_load_int(FXS_INT64, element_at(index, i));
        if (at < -room || at >= room)
            return FXS_REFUSE(c, FXS_EINDEX, "index %lld is out of range for %lld elements",
                              (long long)at, (long long)room);
        char *to = element_at(out, at < 0 ? at + room : at);
        if (fxs_arg_bool(c, 3))
            accumulate(out->dtype, to, element_at(source, i));
        else
            memcpy(to, element_at(source, i), fxs_dtype_size(out->dtype));
    }
    return FXS_OK;
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)
#define BOTH(name) "torch." name " Tensor." name
#define ROW(name, schema)                                                                          \
    { #name, schema " -> Tensor", BOTH(#name), infer_##name, run_##name, NULL, PURE }

const fxs_op fxs_ops_view_scatter[] = {
    ROW(select_scatter, "(Tensor self, Tensor src, int dim, int index)"),
    ROW(slice_scatter,
        "(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1)"),
    ROW(diagonal_scatter, "(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1)"),
    ROW(as_strided_scatter,
        "(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None)"),
    ROW(diag_embed, "(Tensor self, int offset=0, int dim1=-2, int dim2=-1)"),
    {"fill_diagonal_", "(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor",
     "Tensor.fill_diagonal_", infer_fill_diagonal, run_fill_diagonal, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_COMPLEX},
    {"put", "(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
     BOTH("put"), infer_put, run_put, NULL, FXS_OP_COMPLEX},
    {0},
};
#undef PURE
#undef BOTH
#undef ROW
