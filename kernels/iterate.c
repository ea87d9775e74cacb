/* iterate.c: types, shapes and strides of element-by-element operators, see iterate.h; the loop
 * itself is in loop.c. */
#include "kernels/iterate.h"

#include "kernels/format.h"

#include <string.h>

fxs_operands fxs_operands_of(const fxs_call *c, int first, int n) {
    fxs_operands o = {.n = n};
    for (int i = 0; i < n; i++)
        o.v[i] = c->arg[first + i];
    return o;
}

/* ---- types
 * --------------------------------------------------------------------------------------------- */

enum { NO_TYPE = -1 };

static int promote(int a, int b) {
    return a == NO_TYPE ? b : b == NO_TYPE ? a : (int)fxs_promote((fxs_dtype)a, (fxs_dtype)b);
}

static int number_type(const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_BOOL:
        return FXS_BOOL;
    case FXS_V_INT:
        return FXS_INT64;
    case FXS_V_FLOAT:
        return FXS_FLOAT32;
    case FXS_V_COMPLEX:
        return FXS_COMPLEX64;
    default:
        return NO_TYPE;
    }
}

static fxs_dtype complex_of(fxs_dtype d) {
    return d == FXS_FLOAT64 ? FXS_COMPLEX128 : d == FXS_FLOAT16 ? FXS_COMPLEX32 : FXS_COMPLEX64;
}

/* A higher category keeps its own type unless the lower one is of a higher kind (int + float, float
 * + complex). */
static int combine(int higher, int lower) {
    if (higher == NO_TYPE || lower == NO_TYPE)
        return higher == NO_TYPE ? lower : higher;
    fxs_dtype h = (fxs_dtype)higher, l = (fxs_dtype)lower;
    if (fxs_is_complex(h))
        return h;
    if (fxs_is_floating(h))
        return fxs_is_complex(l) ? complex_of(h) : h;
    return h == FXS_BOOL || fxs_is_floating(l) || fxs_is_complex(l) ? promote(higher, lower)
                                                                    : higher;
}

fxs_dtype fxs_common_type(const fxs_operands *o) {
    int dim = NO_TYPE, zero = NO_TYPE, number = NO_TYPE;
    for (int i = 0; i < o->n; i++) {
        const fxs_value *v = &o->v[i];
        if (v->tag != FXS_V_TENSOR)
            number = promote(number, number_type(v));
        else if (v->u.tensor->ndim)
            dim = promote(dim, (int)v->u.tensor->dtype);
        else
            zero = promote(zero, (int)v->u.tensor->dtype);
    }
    int all = combine(dim, combine(zero, number));
    return all == NO_TYPE ? FXS_FLOAT32 : (fxs_dtype)all;
}

fxs_dtype fxs_common_float(const fxs_operands *o) {
    fxs_dtype d = fxs_common_type(o);
    return fxs_is_integral(d) || d == FXS_BOOL ? FXS_FLOAT32 : d;
}

fxs_status fxs_check_computable(fxs_call *c, fxs_dtype d) {
    bool pairs = (d == FXS_COMPLEX64 || d == FXS_COMPLEX128) && c->op->flags & FXS_OP_COMPLEX;
    if (!fxs_is_computable(d) && !pairs)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    return FXS_OK;
}

/* ---- shapes
 * -------------------------------------------------------------------------------------------- */

static void shape_text(int ndim, const int64_t *sizes, char text[FXS_SIZES_TEXT]) {
    fxs_tensor t = {.ndim = ndim};
    memcpy(t.sizes, sizes, (size_t)ndim * sizeof *sizes);
    fxs_sizes_text(&t, text);
}

static fxs_status no_common_shape(fxs_call *c, int dim, int ndim, const int64_t *sizes,
                                  int other_ndim, const int64_t *other) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int n = ndim > other_ndim ? ndim : other_ndim;
    shape_text(ndim, sizes, a);
    shape_text(other_ndim, other, b);
    return FXS_REFUSE(c, FXS_ESHAPE,
                      "the size of tensor a (%lld) must match the size of tensor b (%lld) at "
                      "dimension %d: shapes %s and %s",
                      (long long)sizes[dim - (n - ndim)], (long long)other[dim - (n - other_ndim)],
                      dim, a, b);
}

fxs_status fxs_broadcast_sizes(fxs_call *c, int *ndim, int64_t *sizes, int other_ndim,
                               const int64_t *other) {
    int n = *ndim > other_ndim ? *ndim : other_ndim, a = n - *ndim, b = n - other_ndim;
    int64_t out[FXS_MAX_DIM];
    for (int i = n - 1; i >= 0; i--) {
        int64_t x = i >= a ? sizes[i - a] : 1, y = i >= b ? other[i - b] : 1;
        if (x != y && x != 1 && y != 1)
            return no_common_shape(c, i, *ndim, sizes, other_ndim, other);
        out[i] = x == 1 ? y : x;
    }
    *ndim = n;
    memcpy(sizes, out, (size_t)n * sizeof *sizes);
    return FXS_OK;
}

fxs_status fxs_broadcast(fxs_call *c, const fxs_operands *o, int *ndim, int64_t *sizes) {
    *ndim = 0;
    for (int i = 0; i < o->n; i++)
        if (o->v[i].tag == FXS_V_TENSOR)
            FXS_TRY(fxs_broadcast_sizes(c, ndim, sizes, o->v[i].u.tensor->ndim,
                                        o->v[i].u.tensor->sizes));
    return FXS_OK;
}

/* ---- strides
 * ------------------------------------------------------------------------------------------- */

/* What TensorIterator knows of the operands: the shape, and each tensor's strides stretched to it.
 */
typedef struct layout {
    int ndim, n;
    const int64_t *sizes;
    int64_t (*strides)[FXS_MAX_DIM];
} layout;

bool fxs_is_dense(const fxs_tensor *t) {
    int perm[FXS_MAX_DIM], n = 0;
    int64_t step = 1;
    if (fxs_tensor_is_contiguous(t))
        return true;
    for (int i = 0; i < t->ndim; i++) { /* by stride, sizes of one left out */
        if (t->sizes[i] == 1)
            continue;
        int k = n++;
        for (; k > 0 && t->strides[perm[k - 1]] > t->strides[i]; k--)
            perm[k] = perm[k - 1];
        perm[k] = i;
    }
    for (int i = 0; i < n; i++) {
        if (t->strides[perm[i]] != step)
            return false;
        step *= t->sizes[perm[i]];
    }
    return true;
}

/* Above 0: dimension b lies inside dimension a; below: a inside b; 0: the operands do not say. */
static int compare_dims(const layout *l, int a, int b) {
    for (int k = 0; k < l->n; k++) {
        int64_t sa = l->strides[k][a], sb = l->strides[k][b];
        if (sa == 0 || sb == 0)
            continue;
        if (sa != sb)
            return sa < sb ? -1 : 1;
        if (l->sizes[a] > l->sizes[b])
            return 1;
    }
    return 0;
}

/* Dimensions from the inside to the outside: an insertion sort that stops at the first clear
 * answer, since answers need not be transitive and the order must be PyTorch's. */
static void sort_dims(const layout *l, int *perm) {
    for (int i = 0; i < l->ndim; i++)
        perm[i] = l->ndim - 1 - i;
    for (int i = 1; i < l->ndim; i++) {
        for (int at = i, k = i - 1; k >= 0; k--) {
            int order = compare_dims(l, perm[k], perm[at]);
            if (order < 0)
                break;
            if (order > 0) {
                int p = perm[k];
                perm[k] = perm[at];
                perm[at] = p;
                at = k;
            }
        }
    }
}

static void sorted_strides(const layout *l, int64_t *strides) {
    int perm[FXS_MAX_DIM];
    bool plain = true;
    int64_t step = 1;
    sort_dims(l, perm);
    for (int i = 0; i < l->ndim; i++)
        plain &= perm[i] == l->ndim - 1 - i;
    if (plain) {
        fxs_strides_of(l->ndim, l->sizes, NULL, strides);
        return;
    }
    for (int i = 0; i < l->ndim; i++) {
        strides[perm[i]] = step;
        step *= l->sizes[perm[i]];
    }
}

void fxs_iterator_strides(int ndim, const int64_t *sizes, int n, int64_t (*operands)[FXS_MAX_DIM],
                          int64_t *strides) {
    layout l = {.ndim = ndim, .n = n, .sizes = sizes, .strides = operands};
    sorted_strides(&l, strides);
}

static void stretch(layout *l, const fxs_tensor *t) {
    int64_t *s = l->strides[l->n++];
    int pad = l->ndim - t->ndim;
    for (int i = 0; i < l->ndim; i++)
        s[i] = i < pad || (t->sizes[i - pad] == 1 && l->sizes[i] != 1) ? 0 : t->strides[i - pad];
}

static bool same_ints(const int64_t *a, const int64_t *b, int n) {
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* TensorIterator's short way: all operands have one shape and one dense layout. False when they do
 * not. */
static bool uniform_strides(const fxs_operands *o, int64_t *strides) {
    const fxs_tensor *first = o->v[0].tag == FXS_V_TENSOR ? o->v[0].u.tensor : NULL;
    bool contiguous = true, last = true, dense = true;
    for (int i = 0; i < o->n; i++) {
        const fxs_tensor *t = o->v[i].tag == FXS_V_TENSOR ? o->v[i].u.tensor : NULL;
        if (!first || (!t && first->ndim) ||
            (t && (t->ndim != first->ndim || !same_ints(t->sizes, first->sizes, t->ndim))))
            return false;
        if (!t)
            continue;
        contiguous &= fxs_tensor_is_contiguous(t);
        last &= t->ndim == 4 && fxs_tensor_is_channels_last(t);
        dense &= fxs_is_dense(t) && same_ints(t->strides, first->strides, t->ndim);
    }
    if (contiguous)
        fxs_strides_of(first->ndim, first->sizes, NULL, strides);
    else if (last)
        fxs_channels_last_strides(4, first->sizes, strides);
    else if (dense)
        memcpy(strides, first->strides, (size_t)first->ndim * sizeof *strides);
    else
        return false;
    return true;
}

/* Operands of another type than the common one are converted first, and lose a layout that is not
 * dense: only then does TensorIterator look at their strides. The copies live in the call's
 * scratch. */
static fxs_status convert(fxs_call *c, fxs_operands *o, fxs_dtype common) {
    for (int i = 0; i < o->n; i++) {
        const fxs_tensor *t = o->v[i].tag == FXS_V_TENSOR ? o->v[i].u.tensor : NULL;
        if (!t || t->dtype == common || fxs_is_dense(t))
            continue;
        fxs_tensor *copy = FXS_NEW(c->scratch, fxs_tensor);
        if (!copy)
            return fxs_fail_memory(c->ctx);
        *copy = *t;
        FXS_TRY(fxs_format_strides(c, fxs_suggested_format(t), t->ndim, t->sizes, copy->strides));
        o->v[i].u.tensor = copy;
    }
    return FXS_OK;
}

/* Shape and strides that TensorIterator gives to a result of type dtype. */
static fxs_status iterate(fxs_call *c, const fxs_operands *given, fxs_dtype dtype, int *ndim,
                          int64_t *sizes, int64_t *strides) {
    fxs_operands converted = *given, *o = &converted;
    int64_t stretched[FXS_MAX_OPERANDS][FXS_MAX_DIM];
    layout l = {.sizes = sizes, .strides = stretched};
    FXS_TRY(convert(c, o, fxs_is_floating(dtype) ? dtype : fxs_common_type(o)));
    FXS_TRY(fxs_broadcast(c, o, ndim, sizes));
    l.ndim = *ndim;
    if (!uniform_strides(o, strides)) {
        for (int i = 0; i < o->n; i++)
            if (o->v[i].tag == FXS_V_TENSOR)
                stretch(&l, o->v[i].u.tensor);
        sorted_strides(&l, strides);
    }
    return FXS_OK;
}

fxs_status fxs_out_pointwise(fxs_call *c, const fxs_operands *o, fxs_dtype dtype) {
    int64_t strides[FXS_MAX_DIM], sizes[FXS_MAX_DIM];
    int ndim;
    FXS_TRY(iterate(c, o, dtype, &ndim, sizes, strides));
    return fxs_out_new(c, dtype, ndim, sizes, strides);
}

fxs_status fxs_iterated_strides(fxs_call *c, const fxs_tensor *t, bool with_number,
                                int64_t *strides) {
    fxs_operands o = {.n = with_number ? 2 : 1,
                      .v = {{.tag = FXS_V_TENSOR, .u.tensor = (fxs_tensor *)t}, fxs_float(0)}};
    int64_t sizes[FXS_MAX_DIM];
    int ndim;
    return iterate(c, &o, t->dtype, &ndim, sizes, strides);
}

/* In place, where no values are computed, the result need not be made to be thrown away. */
static bool is_written(const fxs_call *c, const fxs_tensor *t) {
    return c->meta && c->in_place && c->op->flags & FXS_OP_POINTWISE && !t->storage &&
           t == fxs_arg_tensor(c, 0);
}

fxs_status fxs_out_like(fxs_call *c, const fxs_tensor *t, fxs_dtype dtype) {
    if (t->dtype == dtype && fxs_is_floating(dtype) && fxs_tensor_is_contiguous(t))
        return is_written(c, t) ? fxs_out_same(c, (fxs_tensor *)t)
                                : fxs_out_new(c, dtype, t->ndim, t->sizes, NULL); /* as below */
    fxs_operands o = {.n = 1, .v = {{.tag = FXS_V_TENSOR, .u.tensor = (fxs_tensor *)t}}};
    return fxs_out_pointwise(c, &o, dtype);
}

fxs_status fxs_out_with_number(fxs_call *c, const fxs_tensor *t, fxs_dtype dtype) {
    fxs_operands o = {.n = 2,
                      .v = {{.tag = FXS_V_TENSOR, .u.tensor = (fxs_tensor *)t}, fxs_float(0)}};
    return fxs_out_pointwise(c, &o, dtype);
}

/* Like the order of sort_dims, but as PyTorch's infer_dense_strides does it: broadcast dimensions
 * say nothing. */
void fxs_strides_like(const fxs_tensor *t, int64_t *strides) {
    if (fxs_is_dense(t)) {
        memcpy(strides, t->strides, (size_t)t->ndim * sizeof *strides);
        return;
    }
    int64_t own[1][FXS_MAX_DIM];
    layout l = {.ndim = t->ndim, .sizes = t->sizes, .strides = own};
    stretch(&l, t);
    int perm[FXS_MAX_DIM], outward[FXS_MAX_DIM];
    sort_dims(&l, perm);
    for (int i = 0; i < t->ndim; i++)
        outward[t->ndim - 1 - i] = perm[i];
    fxs_strides_of(t->ndim, t->sizes, outward, strides);
}

fxs_cost fxs_cost_one(const fxs_call *c) {
    fxs_cost cost = {0};
    for (int i = 0; i < c->nout; i++)
        cost.flops += (double)fxs_tensor_numel(c->out[i]);
    return cost;
}
