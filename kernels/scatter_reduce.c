/* scatter_reduce.c: writing at many places at once where several values may meet: scatter_reduce
 * folds them, index_put adds them or keeps the last. Indices are checked in the kernels. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/index.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

/* ---- scatter_reduce(self, dim, index, src, reduce, include_self)
 * -------------------------------------------- */

enum { SELF, DIM, INDEX, SRC, REDUCE, INCLUDE };
typedef enum fold { SUM, PROD, MEAN, AMAX, AMIN, NFOLDS } fold;

static fxs_status read_fold(fxs_call *c, fold *out) {
    static const char *const names[] = {"sum", "prod", "mean", "amax", "amin"};
    for (int i = 0; i < NFOLDS; i++)
        if (strcmp(fxs_arg_str(c, REDUCE), names[i]) == 0) {
            *out = (fold)i;
            return FXS_OK;
        }
    return FXS_REFUSE(c, FXS_EINVAL,
                      "reduce argument must be sum, prod, mean, amax or amin, not '%s'",
                      fxs_arg_str(c, REDUCE));
}

static fxs_status infer_scatter_reduce(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, SELF), *index = fxs_arg_tensor(c, INDEX),
                     *src = fxs_arg_tensor(c, SRC);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    fold f = SUM;
    int dim;
    FXS_TRY(read_fold(c, &f));
    if (f == MEAN && self->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "the mean of torch.bool is not implemented");
    if ((f == AMAX || f == AMIN) && fxs_is_complex(self->dtype) && fxs_tensor_numel(index))
        return FXS_REFUSE(c, FXS_ETYPE, "complex numbers have no largest or smallest");
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, DIM), self->ndim, &dim));
    FXS_TRY(fxs_check_same_dtype(c, self, src, "src"));
    if (index->dtype != FXS_INT64 && fxs_tensor_numel(index))
        return FXS_REFUSE(c, FXS_ETYPE, "expected dtype int64 for index, not torch.%s",
                          fxs_dtype_name(index->dtype));
    bool fits = (self->ndim ? self->ndim : 1) == (index->ndim ? index->ndim : 1) &&
                (src->ndim ? src->ndim : 1) == (index->ndim ? index->ndim : 1);
    for (int i = 0; fits && i < index->ndim; i++)
        fits = index->sizes[i] <= (src->ndim ? src->sizes[i] : 1) &&
               (i == dim || index->sizes[i] <= (self->ndim ? self->sizes[i] : 1));
    if (!fits && fxs_tensor_numel(index))
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected index %s to be smaller than self %s apart from dimension %d, and than src",
            fxs_sizes_text(index, a), fxs_sizes_text(self, b), dim);
    c->constants = !self->requires_grad && !src->requires_grad; /* whatever the index has */
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, NULL);
}

/* A number of either kind. */
typedef struct number {
    double f, imaginary;
    int64_t i;
} number;

static number load(fxs_dtype d, const void *base, int64_t at) {
    const char *p = (const char *)base + at * (int64_t)fxs_dtype_size(d);
    double z[2] = {0};
    if (fxs_is_floating(d) || fxs_is_complex(d))
        fxs_load_pair(d, p, z);
    return (number){.f = z[0], .imaginary = z[1], .i = fxs_is_floating(d) ? 0 : fxs_load_int(d, p)};
}

static void store(fxs_dtype d, void *base, int64_t at, number n) {
    char *p = (char *)base + at * (int64_t)fxs_dtype_size(d);
    if (fxs_is_floating(d) || fxs_is_complex(d))
        fxs_store_pair(d, p, (const double[2]){n.f, n.imaginary});
    else
        fxs_store_int(d, p, n.i);
}

static number combine(fold f, number a, number b) {
    switch (f) {
    case PROD:
        return (number){a.f * b.f - a.imaginary * b.imaginary,
                        a.f * b.imaginary + a.imaginary * b.f,
                        (int64_t)((uint64_t)a.i * (uint64_t)b.i)};
    case AMAX:
        return (number){a.f != a.f || a.f > b.f ? a.f : b.f, 0, a.i > b.i ? a.i : b.i};
    case AMIN:
        return (number){a.f != a.f || a.f < b.f ? a.f : b.f, 0, a.i < b.i ? a.i : b.i};
    default:
        return (number){a.f + b.f, a.imaginary + b.imaginary,
                        (int64_t)((uint64_t)a.i + (uint64_t)b.i)};
    }
}

typedef struct target {
    fxs_call *c;
    fxs_dtype dtype;
    fold fold;
    bool include;
    void *out;
    int64_t *count; /* values that met at each place, self not counted */
} target;

static void meet(const target *t, int64_t at, number value) {
    bool first = t->count[at]++ == 0 && !t->include;
    store(t->dtype, t->out, at,
          first ? value : combine(t->fold, load(t->dtype, t->out, at), value));
}

static void divide(const target *t, int64_t n) {
    for (int64_t i = 0; t->fold == MEAN && i < n; i++) {
        int64_t count = t->count[i] + (t->include && t->count[i] > 0);
        number x = load(t->dtype, t->out, i);
        if (count < 2)
            continue;
        x.f /= (double)count;
        x.imaginary /= (double)count;
        x.i = x.i / count - (x.i % count != 0 && (x.i < 0) != (count < 0));
        store(t->dtype, t->out, i, x);
    }
}

/* Everything is contiguous here. Position i of the index as a place of src and of self. */
static fxs_status walk(const target *t, const fxs_tensor *self, int dim, const fxs_tensor *index,
                       const int64_t *at, const fxs_tensor *src, const void *from) {
    int64_t size = self->ndim ? self->sizes[dim] : 1;
    for (int64_t i = 0, n = fxs_tensor_numel(index); i < n; i++) {
        int64_t rest = i, put = index->ndim ? 0 : at[i], get = 0, self_step = 1, src_step = 1;
        if (at[i] < 0 || at[i] >= size)
            return FXS_REFUSE(t->c, FXS_EINDEX,
                              "index %lld is out of bounds for dimension %d with size %lld",
                              (long long)at[i], dim, (long long)size);
        for (int k = index->ndim - 1; k >= 0; k--) {
            int64_t place = rest % index->sizes[k];
            get += place * src_step;
            put += (k == dim ? at[i] : place) * self_step;
            rest /= index->sizes[k];
            self_step *= self->ndim ? self->sizes[k] : 1;
            src_step *= src->ndim ? src->sizes[k] : 1;
        }
        meet(t, put, load(t->dtype, from, get));
    }
    return FXS_OK;
}

static fxs_status run_scatter_reduce(fxs_call *c) {
    fxs_tensor *self = fxs_arg_tensor(c, SELF), *index = fxs_arg_tensor(c, INDEX),
               *src = fxs_arg_tensor(c, SRC);
    target t = {.c = c, .include = fxs_arg_bool(c, INCLUDE)};
    int dim;
    FXS_TRY(read_fold(c, &t.fold));
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, DIM), self->ndim, &dim));
    fxs_tensor_copy(c->ctx, c->out[0], self);
    fxs_work w = fxs_work_begin(c, self->dtype), ints = fxs_work_begin(c, FXS_INT64);
    t.dtype = w.dtype;
    const void *from = fxs_work_data(&w, src);
    const int64_t *at = fxs_work_data(&ints, index);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    int64_t n = fxs_tensor_numel(self);
    t.count = fxs_work_scratch(&w, n, sizeof *t.count);
    if (w.status == FXS_OK && ints.status == FXS_OK) {
        if (out != c->out[0]) /* computed in float32: the copy above has to be seen there too */
            fxs_tensor_copy(c->ctx, out, self);
        t.out = fxs_tensor_data(out);
        memset(t.count, 0, (size_t)n * sizeof *t.count);
        w.status = walk(&t, self, dim, index, at, src, from);
        divide(&t, n);
    }
    fxs_status s = fxs_work_end(&ints);
    return s != FXS_OK ? s : fxs_work_end(&w);
}

/* ---- index_put(self, indices, values, accumulate)
 * ------------------------------------------------------------ */

enum { P_SELF, P_INDICES, P_VALUES, P_ACCUMULATE };

/* v stretched to the shape of what is indexed. */
static fxs_status stretch(fxs_call *c, const fxs_indexing *ix, const fxs_tensor *v,
                          fxs_tensor *out) {
    char text[FXS_SIZES_TEXT];
    *out = *v;
    out->ndim = ix->ndim;
    for (int i = 0; i < ix->ndim; i++) {
        int at = i - (ix->ndim - v->ndim);
        int64_t size = at < 0 ? 1 : v->sizes[at];
        if (size != 1 && size != ix->sizes[i])
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "values of shape %s can't be broadcast to what is indexed",
                              fxs_sizes_text(v, text));
        out->sizes[i] = ix->sizes[i];
        out->strides[i] = size == 1 ? 0 : v->strides[at];
    }
    return v->ndim > ix->ndim
               ? FXS_REFUSE(c, FXS_ESHAPE, "values of shape %s have too many dimensions",
                            fxs_sizes_text(v, text))
               : FXS_OK;
}

/* Without index tensors the view is the result. */
static void as_result(fxs_indexing *ix) {
    if (ix->nindex)
        return;
    ix->ndim = ix->view.ndim;
    memcpy(ix->sizes, ix->view.sizes, sizeof ix->sizes);
}

/* Masks need values to know how many places they mean: those are checked in the kernel. */
static fxs_status check_places(fxs_call *c) {
    fxs_indexing ix;
    fxs_tensor values;
    fxs_value tuple = c->arg[P_INDICES];
    tuple.tag = FXS_V_TUPLE;
    for (int i = 0; i < fxs_arg_len(c, P_INDICES); i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, P_INDICES, i);
        if (t && (t->dtype == FXS_BOOL || t->dtype == FXS_UINT8))
            return FXS_OK;
    }
    FXS_TRY(fxs_read_index(c, fxs_arg_tensor(c, P_SELF), &tuple, &ix));
    as_result(&ix);
    return stretch(c, &ix, fxs_arg_tensor(c, P_VALUES), &values);
}

/* One element under one mask is a number, which PyTorch fills in. */
static bool fills_in(const fxs_call *c) {
    int masks = 0, indices = 0;
    for (int i = 0; i < fxs_arg_len(c, P_INDICES); i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, P_INDICES, i);
        indices += t != NULL;
        masks += t && (t->dtype == FXS_BOOL || t->dtype == FXS_UINT8);
    }
    return masks == 1 && indices == 1 && fxs_arg_numel(c, P_VALUES) == 1 &&
           !fxs_arg_bool(c, P_ACCUMULATE);
}

static fxs_status check_index_types(fxs_call *c) {
    for (int i = 0; i < fxs_arg_len(c, P_INDICES); i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, P_INDICES, i);
        if (t && t->dtype != FXS_INT64 && t->dtype != FXS_BOOL && t->dtype != FXS_UINT8)
            return FXS_REFUSE(c, FXS_ETYPE, "indices must be int64, uint8 or bool, not torch.%s",
                              fxs_dtype_name(t->dtype));
    }
    return FXS_OK;
}

static fxs_status infer_index_put(fxs_call *c) {
    const fxs_tensor *self = fxs_arg_tensor(c, P_SELF);
    FXS_TRY(fxs_check_computable(c, self->dtype));
    FXS_TRY(check_index_types(c));
    FXS_TRY(fills_in(c) ? fxs_check_fits(c, P_VALUES, self->dtype)
                        : fxs_check_same_dtype(c, self, fxs_arg_tensor(c, P_VALUES), "values"));
    if (fxs_arg_len(c, P_INDICES) > self->ndim)
        return FXS_REFUSE(c, FXS_EINDEX, "too many indices for a tensor of %d dimensions",
                          self->ndim);
    FXS_TRY(check_places(c));
    int64_t strides[FXS_MAX_DIM];
    fxs_strides_like(self, strides);
    return fxs_out_new(c, self->dtype, self->ndim, self->sizes, strides);
}

/* Every element of `places` says where in out the same element of `values` goes. */
static void put_all(fxs_tensor *out, const fxs_tensor *places, const fxs_tensor *values, bool add) {
    const int64_t *place = fxs_tensor_data(places);
    fxs_dtype d = out->dtype;
    for (int64_t i = 0, n = fxs_tensor_numel(places); i < n; i++) {
        int64_t rest = i, at = 0, from = 0;
        for (int k = places->ndim - 1; k >= 0; k--) {
            from += rest % places->sizes[k] * values->strides[k];
            at += rest % places->sizes[k] * places->strides[k];
            rest /= places->sizes[k];
        }
        number x = load(d, fxs_tensor_data(values), from);
        int64_t to = place[at];
        store(d, fxs_tensor_data(out), to,
              add ? combine(SUM, load(d, fxs_tensor_data(out), to), x) : x);
    }
}

/* Where in t's memory the element of a row-major position is. */
static int64_t place_of(const fxs_tensor *t, int64_t position) {
    int64_t at = 0;
    for (int k = t->ndim - 1; k >= 0; k--) {
        at += position % t->sizes[k] * t->strides[k];
        position /= t->sizes[k];
    }
    return at;
}

/* What is put: as it is given, or the number that it is in self's type. */
static fxs_status source_of(fxs_call *c, fxs_tensor **out) {
    fxs_tensor given = *fxs_arg_tensor(c, P_VALUES);
    FXS_TRY(fxs_tensor_new(c->ctx, fxs_arg_tensor(c, P_SELF)->dtype, fills_in(c) ? 0 : given.ndim,
                           given.sizes, out));
    given.ndim = (*out)->ndim;
    fxs_tensor_copy(c->ctx, *out, &given);
    return FXS_OK;
}

/* The places are found by indexing a tensor that holds the numbers of its own elements. */
static fxs_status run_index_put(fxs_call *c) {
    fxs_tensor *self = fxs_arg_tensor(c, P_SELF), *numbers, *places = NULL, *source = NULL, values;
    fxs_indexing ix;
    int64_t strides[FXS_MAX_DIM];
    fxs_value tuple = c->arg[P_INDICES];
    tuple.tag = FXS_V_TUPLE;
    fxs_tensor_copy(c->ctx, c->out[0], self);
    FXS_TRY(fxs_tensor_new(c->ctx, FXS_INT64, self->ndim, self->sizes, &numbers));
    for (int64_t i = 0, n = fxs_tensor_numel(numbers); i < n; i++)
        ((int64_t *)fxs_tensor_data(numbers))[i] = place_of(c->out[0], i);
    fxs_status s = fxs_read_index(c, numbers, &tuple, &ix);
    as_result(&ix);
    if (s == FXS_OK)
        s = source_of(c, &source);
    if (s == FXS_OK)
        s = stretch(c, &ix, source, &values);
    if (s == FXS_OK) {
        fxs_strides_of(ix.ndim, ix.sizes, NULL, strides);
        s = fxs_tensor_make(c->ctx, FXS_INT64, ix.ndim, ix.sizes, strides, &places);
    }
    if (s == FXS_OK)
        s = fxs_tensor_allocate(c->ctx, places);
    if (s == FXS_OK && ix.nindex)
        s = fxs_index_copy(c, &ix, places, false);
    if (s == FXS_OK && !ix.nindex)
        fxs_tensor_copy(c->ctx, places, &ix.view);
    if (s == FXS_OK)
        put_all(c->out[0], places, &values, fxs_arg_bool(c, P_ACCUMULATE));
    fxs_tensor_unref(source);
    fxs_tensor_unref(places);
    fxs_tensor_unref(numbers);
    return s;
}

const fxs_op fxs_ops_scatter_reduce[] = {
    {"scatter_reduce",
     "(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
     "Tensor",
     "torch.scatter_reduce Tensor.scatter_reduce", infer_scatter_reduce, run_scatter_reduce, NULL,
     FXS_OP_REAL_GRAD},
    {"index_put", "(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
     "torch.index_put Tensor.index_put", infer_index_put, run_index_put, NULL, FXS_OP_COMPLEX},
    {0},
};
