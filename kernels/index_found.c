/* index_found.c: what depends on which elements are true or equal: nonzero, masked_select,
 * masked_scatter, unique. The shapes follow from values, so infer looks at them, and without values
 * (META mode) refuses. */
#include <stdlib.h>
#include <string.h>

#include "kernels/index.h"
#include "kernels/lines.h"
#include "kernels/work.h"

static char *element(const fxs_tensor *t, int64_t offset) {
    return (char *)fxs_tensor_data(t) + offset * (int64_t)fxs_dtype_size(t->dtype);
}

/* Offset of a row-major position, as if t had the given sizes and strides. */
static int64_t offset_at(const fxs_tensor *t, int64_t position) {
    int64_t at = 0;
    for (int i = t->ndim - 1; i >= 0; i--) {
        at += position % t->sizes[i] * t->strides[i];
        position /= t->sizes[i];
    }
    return at;
}

static bool is_true(const fxs_tensor *t, int64_t position) {
    double z[2];
    fxs_load_pair(t->dtype, element(t, offset_at(t, position)), z);
    return z[0] != 0 || z[1] != 0;
}

static fxs_status need_values(fxs_call *c, const fxs_tensor *t) {
    if (!t->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "the shape of the result depends on values, which are not computed: run "
                          "with values, not with "
                          "shapes only");
    return FXS_OK;
}

static int64_t count_true(const fxs_tensor *t) {
    int64_t count = 0;
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++)
        count += is_true(t, i);
    return count;
}

/* ---- nonzero
 * ------------------------------------------------------------------------------------------- */

/* nonzero(self, as_tuple): coordinates as rows [n, ndim] (stored column by column, as PyTorch
 * does), or as columns. */
static fxs_status infer_nonzero(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, t->dtype));
    FXS_TRY(need_values(c, t));
    int64_t n = count_true(t);
    if (!fxs_arg_bool(c, 1))
        return fxs_out_new(c, FXS_INT64, 2, (int64_t[]){n, t->ndim}, (int64_t[]){1, n});
    for (int i = 0; i < (t->ndim ? t->ndim : 1); i++)
        FXS_TRY(fxs_out_new(c, FXS_INT64, 1, &n, NULL));
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status run_nonzero(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    bool columns = fxs_arg_bool(c, 1);
    int64_t found = 0;
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++) {
        int64_t rest = i;
        if (!is_true(t, i))
            continue;
        if (columns && t->ndim == 0)
            *(int64_t *)(void *)element(c->out[0], found) = 0;
        for (int k = t->ndim - 1; k >= 0; k--) {
            const fxs_tensor *o = columns ? c->out[k] : c->out[0];
            int64_t at = columns ? found : found * o->strides[0] + k * o->strides[1];
            *(int64_t *)(void *)element(o, at) = rest % t->sizes[k];
            rest /= t->sizes[k];
        }
        found++;
    }
    return FXS_OK;
}

static fxs_status infer_where_nonzero(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, t->dtype));
    FXS_TRY(need_values(c, t));
    int64_t n = count_true(t);
    for (int i = 0; i < (t->ndim ? t->ndim : 1); i++)
        FXS_TRY(fxs_out_new(c, FXS_INT64, 1, &n, NULL));
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status run_where_nonzero(fxs_call *c) {
    fxs_value args[2] = {c->arg[0], fxs_bool(true)};
    fxs_call columns = *c;
    columns.arg = args;
    columns.nargs = 2;
    return run_nonzero(&columns);
}

/* ---- masked_select and masked_scatter
 * ------------------------------------------------------------------ */

/* self and mask stretched to their common shape. */
static fxs_status stretch_pair(fxs_call *c, fxs_tensor *self, fxs_tensor *mask) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    fxs_tensor *both[] = {self, mask};
    if (fxs_arg_tensor(c, 1)->dtype != FXS_BOOL && fxs_arg_tensor(c, 1)->dtype != FXS_UINT8)
        return FXS_REFUSE(c, FXS_ETYPE, "expected BoolTensor or ByteTensor for mask, not torch.%s",
                          fxs_dtype_name(fxs_arg_tensor(c, 1)->dtype));
    FXS_TRY(fxs_broadcast(c, &o, &ndim, sizes));
    for (int k = 0; k < 2; k++) {
        const fxs_tensor *t = fxs_arg_tensor(c, k);
        *both[k] = *t;
        both[k]->ndim = ndim;
        for (int i = 0; i < ndim; i++) {
            int own = i - (ndim - t->ndim);
            both[k]->sizes[i] = sizes[i];
            both[k]->strides[i] =
                own < 0 || (t->sizes[own] == 1 && sizes[i] != 1) ? 0 : t->strides[own];
        }
    }
    return FXS_OK;
}

static fxs_status infer_masked_select(fxs_call *c) {
    fxs_tensor self, mask;
    FXS_TRY(stretch_pair(c, &self, &mask));
    FXS_TRY(fxs_check_mask_bytes(c, fxs_arg_tensor(c, 1)));
    FXS_TRY(need_values(c, &mask));
    return fxs_out_new(c, self.dtype, 1, (int64_t[]){count_true(&mask)}, NULL);
}

static fxs_status run_masked_select(fxs_call *c) {
    fxs_tensor self, mask;
    int64_t found = 0;
    FXS_TRY(stretch_pair(c, &self, &mask));
    for (int64_t i = 0, n = fxs_tensor_numel(&mask); i < n; i++)
        if (is_true(&mask, i))
            memcpy(element(c->out[0], found++), element(&self, offset_at(&self, i)),
                   fxs_dtype_size(self.dtype));
    return FXS_OK;
}

/* masked_scatter(self, mask, source): true elements become source's, in order. */
static fxs_status infer_masked_scatter(fxs_call *c) {
    fxs_tensor self, mask;
    FXS_TRY(stretch_pair(c, &self, &mask));
    FXS_TRY(fxs_check_mask_bytes(c, fxs_arg_tensor(c, 1)));
    if (fxs_arg_tensor(c, 2)->dtype != self.dtype)
        return FXS_REFUSE(
            c, FXS_ETYPE,
            "expected self and source to have same dtypes but got torch.%s and torch.%s",
            fxs_dtype_name(self.dtype), fxs_dtype_name(fxs_arg_tensor(c, 2)->dtype));
    return fxs_out_new(c, self.dtype, self.ndim, self.sizes, NULL);
}

/* In place elements are taken in the order in which TensorIterator walks over self and mask: the
 * strides of that order. */
static void order_of_walk(const fxs_call *c, const fxs_tensor *self, const fxs_tensor *mask,
                          int64_t *step) {
    int64_t both[2][FXS_MAX_DIM];
    fxs_strides_of(self->ndim, self->sizes, NULL, step);
    if (!c->in_place || (fxs_tensor_is_contiguous(self) && fxs_tensor_is_contiguous(mask)))
        return;
    memcpy(both[0], self->strides, sizeof both[0]);
    memcpy(both[1], mask->strides, sizeof both[1]);
    fxs_iterator_strides(self->ndim, self->sizes, 2, both, step);
}

static int64_t offset_of_step(const fxs_tensor *t, const int64_t *step, int64_t i) {
    int64_t at = 0;
    for (int d = 0; d < t->ndim; d++)
        at += i / step[d] % t->sizes[d] * t->strides[d];
    return at;
}

static fxs_status run_masked_scatter(fxs_call *c) {
    const fxs_tensor *source = fxs_arg_tensor(c, 2);
    fxs_tensor self, mask;
    int64_t taken = 0, have = fxs_tensor_numel(source), step[FXS_MAX_DIM];
    FXS_TRY(stretch_pair(c, &self, &mask));
    order_of_walk(c, &self, &mask, step);
    fxs_tensor_copy(c->ctx, c->out[0], &self);
    for (int64_t i = 0, n = fxs_tensor_numel(&mask); i < n; i++) {
        if (!*element(&mask, offset_of_step(&mask, step, i)))
            continue;
        if (taken == have)
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "the number of elements of source (%lld) is less than the number of ones in "
                "mask",
                (long long)have);
        memcpy(element(c->out[0], offset_of_step(c->out[0], step, i)),
               element(source, offset_at(source, taken++)), fxs_dtype_size(self.dtype));
    }
    return FXS_OK;
}

/* ---- unique
 * -------------------------------------------------------------------------------------------- */

static fxs_status sorted_entries(fxs_call *c, bool sort, fxs_entry **out, fxs_lines *how) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t n = fxs_tensor_numel(t);
    fxs_entry *e = FXS_SCRATCH(c->scratch, fxs_entry, (size_t)(n ? n : 1));
    if (!e)
        return fxs_fail_memory(c->ctx);
    *how = (fxs_lines){.real = fxs_is_floating(t->dtype)};
    for (int64_t i = 0; i < n; i++) {
        const char *p = element(t, offset_at(t, i));
        e[i] = (fxs_entry){
            .f = fxs_load_double(t->dtype, p), .i = fxs_load_int(t->dtype, p), .index = i};
    }
    if (sort)
        fxs_sort_entries(how, e, n);
    *out = e;
    return FXS_OK;
}

static bool differ(const fxs_lines *how, const fxs_entry *a, const fxs_entry *b) {
    return fxs_entry_order(how, a, b) != 0 ||
           (how->real && a->f != a->f); /* each NaN is unlike any other */
}

fxs_unique_want fxs_unique_wanted(const fxs_call *c, fxs_unique_how how, int at) {
    bool first = fxs_arg_bool(c, at);
    bool second = how != FXS_UNIQUE_INVERSE && fxs_arg_bool(c, at + 1);
    switch (how) {
    case FXS_UNIQUE_COUNTS:
        return (fxs_unique_want){.counts = second};
    case FXS_UNIQUE_INVERSE:
        return (fxs_unique_want){.counts = first, .unasked = true};
    case FXS_UNIQUE_PLACED:
        return (fxs_unique_want){second, first, first != second};
    default:
        return (fxs_unique_want){first, second, false};
    }
}

static fxs_status infer_unique_by(fxs_call *c, bool sort, fxs_unique_want want) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_entry *e;
    fxs_lines how;
    int64_t n = fxs_tensor_numel(t), count = 0, none = 0;
    FXS_TRY(fxs_check_computable(c, t->dtype));
    FXS_TRY(need_values(c, t));
    FXS_TRY(sorted_entries(c, sort, &e, &how));
    for (int64_t i = 0; i < n; i++)
        count += i == 0 || differ(&how, &e[i - 1], &e[i]);
    FXS_TRY(fxs_out_new(c, t->dtype, 1, &count, NULL));
    if (want.unasked)
        return want.inverse || want.counts ? fxs_out_new(c, FXS_INT64, 1, &none, NULL) : FXS_OK;
    if (want.inverse)
        FXS_TRY(fxs_out_new(c, FXS_INT64, t->ndim, t->sizes, NULL));
    return want.counts ? fxs_out_new(c, FXS_INT64, 1, &count, NULL) : FXS_OK;
}

static fxs_status run_unique_by(fxs_call *c, bool sort, fxs_unique_want want) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_tensor *inverse = want.inverse && !want.unasked ? c->out[1] : NULL;
    fxs_tensor *counts = want.counts && !want.unasked ? c->out[c->nout - 1] : NULL;
    fxs_entry *e;
    fxs_lines how;
    int64_t at = -1;
    FXS_TRY(sorted_entries(c, sort, &e, &how));
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++) {
        if (i == 0 || differ(&how, &e[i - 1], &e[i])) {
            at++;
            memcpy(element(c->out[0], at), element(t, offset_at(t, e[i].index)),
                   fxs_dtype_size(t->dtype));
            if (counts)
                *(int64_t *)(void *)element(counts, at) = 0;
        }
        if (inverse)
            *(int64_t *)(void *)element(inverse, e[i].index) = at;
        if (counts)
            ++*(int64_t *)(void *)element(counts, at);
    }
    return FXS_OK;
}

#define UNIQUE(name, sort, how, at)                                                                \
    static fxs_status infer_##name(fxs_call *c) {                                                  \
        return infer_unique_by(c, sort, fxs_unique_wanted(c, how, at));                            \
    }                                                                                              \
    static fxs_status run_##name(fxs_call *c) {                                                    \
        return run_unique_by(c, sort, fxs_unique_wanted(c, how, at));                              \
    }
UNIQUE(unique, true, FXS_UNIQUE_NAMED, 2)
UNIQUE(consecutive, false, FXS_UNIQUE_NAMED, 1)
UNIQUE(consecutive_counts, false, FXS_UNIQUE_COUNTS, 1)
UNIQUE(consecutive_inverse, false, FXS_UNIQUE_INVERSE, 1)
UNIQUE(consecutive_placed, false, FXS_UNIQUE_PLACED, 1)
#undef UNIQUE

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_index_found[] = {
    {"nonzero", "(Tensor self, *, bool as_tuple=False) -> Tensor", "torch.nonzero Tensor.nonzero",
     infer_nonzero, run_nonzero, NULL, PURE | FXS_OP_COMPLEX},
    {"where_nonzero", "(Tensor condition) -> Tensor[]", "torch.where", infer_where_nonzero,
     run_where_nonzero, NULL, PURE | FXS_OP_COMPLEX},
    {"masked_select", "(Tensor self, Tensor mask) -> Tensor",
     "torch.masked_select Tensor.masked_select", infer_masked_select, run_masked_select, NULL,
     PURE},
    {"masked_scatter", "(Tensor self, Tensor mask, Tensor source) -> Tensor",
     "torch.masked_scatter Tensor.masked_scatter", infer_masked_scatter, run_masked_scatter, NULL,
     0},
    {"unique",
     "(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? "
     "dim=None) -> Tensor",
     "torch.functional.unique torch.unique Tensor.unique", infer_unique, run_unique, NULL, PURE},
    {"unique_consecutive",
     "(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor",
     "Tensor.unique_consecutive", infer_consecutive, run_consecutive, NULL, PURE},
#define FUNCTION(args, how)                                                                        \
    {"unique_consecutive",                                                                         \
     "(Tensor self, " args "int? dim=None) -> Tensor",                                             \
     "torch.functional.unique_consecutive torch.unique_consecutive",                               \
     infer_##how,                                                                                  \
     run_##how,                                                                                    \
     NULL,                                                                                         \
     PURE},
    FXS_CONSECUTIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0},
};
#undef PURE
