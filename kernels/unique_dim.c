/* unique_dim.c: unique and unique_consecutive along a dimension: slices that are equal count once.
 * The shape follows from values, so infer looks at them, and without values (META mode) refuses. */
#include <stdlib.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/index.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

/* Slices as rows, the dimension swapped to the front: that is the order in which PyTorch compares
 * them. */
typedef struct slices {
    fxs_dtype dtype;
    fxs_tensor *rows; /* contiguous; counted */
    const char *data;
    int64_t n, width; /* rows, elements of each */
    int64_t *order;   /* rows in the order of the result; in scratch */
} slices;

static fxs_tensor swapped(const fxs_tensor *t, int dim) {
    fxs_tensor v = *t;
    if (t->ndim) {
        v.sizes[0] = t->sizes[dim], v.strides[0] = t->strides[dim];
        v.sizes[dim] = t->sizes[0], v.strides[dim] = t->strides[0];
    }
    return v;
}

static int compare_rows(const slices *s, int64_t a, int64_t b) {
    size_t size = fxs_dtype_size(s->dtype);
    for (int64_t i = 0; i < s->width; i++) {
        const char *p = s->data + (size_t)(a * s->width + i) * size,
                   *q = s->data + (size_t)(b * s->width + i) * size;
        if (fxs_is_floating(s->dtype)) {
            double x = fxs_load_double(s->dtype, p), y = fxs_load_double(s->dtype, q);
            if (x != y)
                return x < y ? -1 : 1;
        } else {
            int64_t x = fxs_load_int(s->dtype, p), y = fxs_load_int(s->dtype, q);
            if (x != y)
                return x < y ? -1 : 1;
        }
    }
    return 0;
}

static int by_row(const void *a, const void *b, void *s) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int order = compare_rows(s, x, y);
    return order ? order : (x > y) - (x < y);
}

static fxs_status read_slices(fxs_call *c, bool sort, int dim_at, slices *s, int *dim) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim == 0)
        return FXS_REFUSE(c, FXS_EINDEX, "dimension specified as %lld but tensor has no dimensions",
                          (long long)fxs_arg_int(c, dim_at));
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, dim_at), t->ndim, dim));
    if (!t->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "the shape of the result depends on values, which are not computed: run "
                          "with values, not "
                          "with shapes only");
    fxs_tensor v = swapped(t, *dim);
    *s = (slices){.dtype = t->dtype, .n = t->ndim ? t->sizes[*dim] : 1};
    s->width = s->n ? fxs_tensor_numel(t) / s->n : 0;
    int none = 0;
    for (int i = 0; i < t->ndim; i++)
        none += t->sizes[i] == 0;
    if (none > (s->n == 0)) /* of nothing along dim alone there is nothing that is unique */
        return FXS_REFUSE(c, FXS_EINVAL, "there are no elements, so unique is not applicable");
    s->order = FXS_NEW_N(c->scratch, int64_t, (size_t)s->n + 1);
    if (!s->order)
        return fxs_fail_memory(c->ctx);
    FXS_TRY(fxs_tensor_make(c->ctx, t->dtype, v.ndim, v.sizes, NULL, &s->rows));
    fxs_status status = fxs_tensor_allocate(c->ctx, s->rows);
    if (status != FXS_OK) {
        fxs_tensor_unref(s->rows);
        return status;
    }
    if (s->n)
        fxs_tensor_copy(c->ctx, s->rows, &v);
    s->data = fxs_tensor_data(s->rows);
    for (int64_t i = 0; i < s->n; i++)
        s->order[i] = i;
    if (sort)
        qsort_r(s->order, (size_t)s->n, sizeof *s->order, by_row, s);
    return FXS_OK;
}

static bool starts(const slices *s, int64_t i) {
    return i == 0 || compare_rows(s, s->order[i - 1], s->order[i]) != 0;
}

static fxs_status promise(fxs_call *c, const slices *s, int dim, fxs_unique_want want) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_tensor v = swapped(t, dim);
    int64_t count = 0, none = 0, strides[FXS_MAX_DIM];
    for (int64_t i = 0; i < s->n; i++)
        count += starts(s, i);
    v.sizes[0] = v.ndim ? count : 0;
    fxs_strides_of(v.ndim, v.sizes, NULL, strides);
    memcpy(v.strides, strides, sizeof strides);
    v = swapped(&v, dim);
    FXS_TRY(fxs_out_new(c, t->dtype, v.ndim, v.sizes, s->n ? v.strides : NULL));
    if (want.unasked)
        return want.inverse || want.counts ? fxs_out_new(c, FXS_INT64, 1, &none, NULL) : FXS_OK;
    if (want.inverse)
        FXS_TRY(fxs_out_new(c, FXS_INT64, 1, &s->n, NULL));
    return want.counts ? fxs_out_new(c, FXS_INT64, 1, &count, NULL) : FXS_OK;
}

/* Of slices PyTorch always counts, of a vector's elements only what is asked for; a vector's last
 * dimension has slices, the same one as its first has elements. */
static fxs_unique_want wanted(fxs_call *c, fxs_unique_how how, int at, int dim_at) {
    fxs_unique_want want = fxs_unique_wanted(c, how, at);
    want.unasked = want.unasked && fxs_arg_tensor(c, 0)->ndim == 1 && fxs_arg_int(c, dim_at) == 0;
    return want;
}

static fxs_status infer_by(fxs_call *c, bool sort, int dim_at, fxs_unique_want want) {
    slices s;
    int dim;
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    FXS_TRY(read_slices(c, sort, dim_at, &s, &dim));
    fxs_status status = promise(c, &s, dim, want);
    fxs_tensor_unref(s.rows);
    return status;
}

static fxs_status run_by(fxs_call *c, bool sort, int dim_at, fxs_unique_want want) {
    slices s;
    int dim;
    int64_t at = -1;
    FXS_TRY(read_slices(c, sort, dim_at, &s, &dim));
    int64_t *inverse = want.inverse && !want.unasked ? fxs_tensor_data(c->out[1]) : NULL;
    int64_t *counts = want.counts && !want.unasked ? fxs_tensor_data(c->out[c->nout - 1]) : NULL;
    size_t row = (size_t)s.width * fxs_dtype_size(s.dtype);
    char *out = fxs_tensor_data(c->out[0]); /* its memory is rows too */
    for (int64_t i = 0; i < s.n; i++) {
        if (starts(&s, i)) {
            at++;
            memcpy(out + (size_t)at * row, s.data + (size_t)s.order[i] * row, row);
            if (counts)
                counts[at] = 0;
        }
        if (inverse)
            inverse[s.order[i]] = at;
        if (counts)
            counts[at]++;
    }
    fxs_tensor_unref(s.rows);
    return FXS_OK;
}

#define UNIQUE(name, sort, how, at, dim_at)                                                        \
    static fxs_status infer_##name(fxs_call *c) {                                                  \
        return infer_by(c, sort, dim_at, wanted(c, how, at, dim_at));                              \
    }                                                                                              \
    static fxs_status run_##name(fxs_call *c) {                                                    \
        return run_by(c, sort, dim_at, wanted(c, how, at, dim_at));                                \
    }
UNIQUE(unique, true, FXS_UNIQUE_NAMED, 2, 4)
UNIQUE(consecutive, false, FXS_UNIQUE_NAMED, 1, 3)
UNIQUE(consecutive_counts, false, FXS_UNIQUE_COUNTS, 1, 3)
UNIQUE(consecutive_inverse, false, FXS_UNIQUE_INVERSE, 1, 2)
UNIQUE(consecutive_placed, false, FXS_UNIQUE_PLACED, 1, 3)
#undef UNIQUE

/* Before the rows of index_found.c: those take what has no dim. */
const fxs_op fxs_ops_unique_dim[] = {
    {"unique",
     "(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int "
     "dim) -> Tensor",
     "torch.functional.unique torch.unique Tensor.unique", infer_unique, run_unique, NULL,
     FXS_OP_NO_INPLACE},
    {"unique_consecutive",
     "(Tensor self, bool return_inverse=False, bool return_counts=False, int dim) -> Tensor",
     "Tensor.unique_consecutive", infer_consecutive, run_consecutive, NULL, FXS_OP_NO_INPLACE},
#define FUNCTION(args, how)                                                                        \
    {"unique_consecutive",                                                                         \
     "(Tensor self, " args "int dim) -> Tensor",                                                   \
     "torch.functional.unique_consecutive torch.unique_consecutive",                               \
     infer_##how,                                                                                  \
     run_##how,                                                                                    \
     NULL,                                                                                         \
     FXS_OP_NO_INPLACE},
    FXS_CONSECUTIVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0},
};
