/* index_read.c: an index as Python writes it (ints, slices, None, ..., bools, lists, tensors) ->
 * fxs_indexing. Called by getitem and setitem in index.c. */
#include <string.h>

#include "kernels/index.h"
#include "kernels/iterate.h"

typedef struct reader {
    fxs_call *call;
    fxs_indexing *ix;
    int dim;                              /* of the view, that the next item is for */
    int rest;                             /* dimensions that no item names: those of the ellipsis */
    const fxs_tensor *masks[FXS_MAX_DIM]; /* beside ix->index: a mask that is yet to be expanded */
} reader;

static void remove_dim(fxs_tensor *v, int dim) {
    v->ndim--;
    for (int i = dim; i < v->ndim; i++) {
        v->sizes[i] = v->sizes[i + 1];
        v->strides[i] = v->strides[i + 1];
    }
}

static fxs_status insert_dim(reader *r) {
    fxs_tensor *v = &r->ix->view;
    if (v->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(r->call, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    int64_t step = r->dim < v->ndim ? v->sizes[r->dim] * v->strides[r->dim] : 1;
    for (int i = v->ndim++; i > r->dim; i--) {
        v->sizes[i] = v->sizes[i - 1];
        v->strides[i] = v->strides[i - 1];
    }
    v->sizes[r->dim] = 1;
    v->strides[r->dim] = step;
    return FXS_OK;
}

static fxs_status need_dim(reader *r) {
    if (r->dim >= r->ix->view.ndim)
        return FXS_REFUSE(r->call, FXS_EINDEX, "too many indices for tensor of dimension %d",
                          r->ix->view.ndim);
    return FXS_OK;
}

static fxs_status take_int(reader *r, int64_t i) {
    fxs_tensor *v = &r->ix->view;
    if (v->ndim == 0)
        return FXS_REFUSE(
            r->call, FXS_EINDEX,
            "invalid index of a 0-dim tensor: use tensor.item() to convert it to a number");
    FXS_TRY(need_dim(r));
    int64_t size = v->sizes[r->dim];
    if (i < -size || i >= size)
        return FXS_REFUSE(r->call, FXS_EINDEX,
                          "index %lld is out of bounds for dimension %d with size %lld",
                          (long long)i, r->dim, (long long)size);
    v->offset += (i < 0 ? i + size : i) * v->strides[r->dim];
    remove_dim(v, r->dim);
    return FXS_OK;
}

static fxs_status int_of(reader *r, const fxs_value *v, int64_t otherwise, int64_t *out) {
    const fxs_tensor *t = v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
    *out = otherwise;
    if (v->tag == FXS_V_NONE)
        return FXS_OK;
    if (v->tag == FXS_V_INT || v->tag == FXS_V_BOOL) {
        *out = v->tag == FXS_V_INT ? v->u.i : v->u.b;
        return FXS_OK;
    }
    if (v->tag == FXS_V_UNKNOWN || (t && !t->storage))
        return FXS_REFUSE(r->call, FXS_EUNKNOWN, "an index is not known without computing values");
    if (!t || fxs_tensor_numel(t) != 1 || fxs_is_floating(t->dtype))
        return FXS_REFUSE(r->call, FXS_ETYPE, "slice indices must be integers or None, not %s",
                          fxs_value_type_name(v));
    *out = fxs_load_int(t->dtype, fxs_tensor_data(t));
    return FXS_OK;
}

static int64_t clip(int64_t x, int64_t size) {
    if (x < 0)
        x = x < -size ? 0 : x + size;
    return x > size ? size : x;
}

static fxs_status take_slice(reader *r, const fxs_value *slice) {
    fxs_tensor *v = &r->ix->view;
    int64_t start, stop, step;
    FXS_TRY(need_dim(r));
    FXS_TRY(int_of(r, fxs_value_item(slice, 0), 0, &start));
    FXS_TRY(int_of(r, fxs_value_item(slice, 1), INT64_MAX, &stop));
    FXS_TRY(int_of(r, fxs_value_item(slice, 2), 1, &step));
    if (step <= 0)
        return FXS_REFUSE(r->call, FXS_EINVAL, "step must be greater than zero, not %lld",
                          (long long)step);
    int64_t size = v->sizes[r->dim];
    start = clip(start, size);
    stop = clip(stop, size);
    if (stop < start)
        stop = start;
    v->offset += start * v->strides[r->dim];
    v->sizes[r->dim] = (stop - start) / step + ((stop - start) % step != 0);
    if (__builtin_mul_overflow(v->strides[r->dim], step, &v->strides[r->dim]))
        v->strides[r->dim] = INT64_MAX; /* at most one element: the stride is never taken */
    r->dim++;
    return FXS_OK;
}

/* ---- index tensors
 * ------------------------------------------------------------------------------------- */

static fxs_status add_index(reader *r, fxs_index index) {
    FXS_TRY(need_dim(r));
    if (r->ix->nindex == FXS_MAX_DIM)
        return FXS_REFUSE(r->call, FXS_ELIMIT, "more than %d index tensors", FXS_MAX_DIM);
    index.dim = r->dim++;
    r->ix->index[r->ix->nindex++] = index;
    return FXS_OK;
}

static fxs_index vector(const int64_t *data, int64_t n) {
    return (fxs_index){.ndim = 1, .sizes = {n}, .strides = {1}, .dtype = FXS_INT64, .data = data};
}

/* True and False: a new dimension, of which one element is taken or none. */
static fxs_status take_bool(reader *r, bool b) {
    static const int64_t zero = 0;
    FXS_TRY(insert_dim(r));
    return add_index(r, vector(&zero, b));
}

/* Coordinates of the mask's true elements as index tensors k, k + 1, ... for dimensions dim, dim +
 * 1, ... */
static fxs_status find_true(reader *r, const fxs_tensor *mask, int k, int dim) {
    int64_t numel = fxs_tensor_numel(mask), count = 0;
    int64_t *found =
        FXS_SCRATCH(r->call->scratch, int64_t, (size_t)(numel ? numel : 1) * (size_t)mask->ndim);
    if (!found)
        return fxs_fail_memory(r->call->ctx);
    const char *data = fxs_tensor_data(mask); /* bool and uint8: one byte an element */
    for (int64_t i = 0; i < numel; i++) {
        int64_t rest = i, at = 0, index[FXS_MAX_DIM];
        for (int d = mask->ndim - 1; d >= 0; d--) {
            index[d] = rest % mask->sizes[d];
            rest /= mask->sizes[d];
            at += index[d] * mask->strides[d];
        }
        if (!data[at])
            continue;
        for (int d = 0; d < mask->ndim; d++)
            found[d * numel + count] = index[d];
        count++;
    }
    for (int i = 0; i < mask->ndim; i++) {
        r->ix->index[k + i] = vector(found + i * numel, count);
        r->ix->index[k + i].dim = dim + i;
        r->masks[k + i] = NULL;
    }
    return FXS_OK;
}

/* Replaces a mask at position k of the list by the index tensors of mask.nonzero(), one for each of
 * its dimensions. */
static fxs_status expand_mask(reader *r, int k) {
    fxs_indexing *ix = r->ix;
    const fxs_tensor *v = &ix->view, *mask = r->masks[k];
    int dim = ix->index[k].dim;
    for (int i = 0; i < mask->ndim; i++)
        if (dim + i >= v->ndim || mask->sizes[i] != v->sizes[dim + i]) {
            char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
            return FXS_REFUSE(r->call, FXS_EINDEX,
                              "the shape of the mask %s at index %d does not match the shape of "
                              "the indexed tensor %s at "
                              "index %d",
                              fxs_sizes_text(mask, a), i, fxs_sizes_text(v, b), dim + i);
        }
    if (!mask->storage)
        return FXS_REFUSE(r->call, FXS_EUNKNOWN,
                          "the number of true elements of a mask is not known without computing "
                          "values: run with values, not with shapes only");
    int more = mask->ndim - 1;
    if (ix->nindex + more > FXS_MAX_DIM)
        return FXS_REFUSE(r->call, FXS_ELIMIT, "more than %d index tensors", FXS_MAX_DIM);
    for (int i = ix->nindex - 1; i > k; i--) { /* what follows is for later dimensions */
        ix->index[i + more] = ix->index[i];
        ix->index[i + more].dim += more;
        r->masks[i + more] = r->masks[i];
    }
    ix->nindex += more;
    return find_true(r, mask, k, dim);
}

static fxs_status not_an_index(reader *r, const fxs_tensor *t) {
    return FXS_REFUSE(r->call, FXS_EINDEX,
                      "tensors used as indices must be long, byte or bool tensors, not torch.%s",
                      fxs_dtype_name(t->dtype));
}

/* An index that is not known yet: the first place stands for it. */
static fxs_status take_any(reader *r) {
    fxs_tensor *v = &r->ix->view;
    if (r->dim < v->ndim && v->sizes[r->dim] == 0)
        return FXS_REFUSE(r->call, FXS_EINDEX, "index is out of bounds for a dimension of size 0");
    return take_int(r, 0);
}

static fxs_status take_tensor(reader *r, const fxs_tensor *t) {
    bool mask = t->dtype == FXS_BOOL || t->dtype == FXS_UINT8;
    if (!mask && !fxs_is_integral(t->dtype))
        return not_an_index(r, t);
    if (t->ndim == 0 && !mask && !t->storage && r->call->meta)
        return take_any(r); /* whichever it is, the shape is the same */
    if (t->ndim == 0) {
        int64_t i;
        fxs_value v = fxs_of_tensor((fxs_tensor *)t);
        FXS_TRY(int_of(r, &v, 0, &i));
        return mask ? take_bool(r, i != 0) : take_int(r, i);
    }
    if (mask) { /* counts as one dimension until all items are read, as in PyTorch */
        FXS_TRY(add_index(r, (fxs_index){0}));
        r->masks[r->ix->nindex - 1] = t;
        return FXS_OK;
    }
    if (t->dtype != FXS_INT64)
        return not_an_index(r, t);
    fxs_index index = {.ndim = t->ndim, .dtype = t->dtype, .data = fxs_tensor_data(t)};
    memcpy(index.sizes, t->sizes, sizeof index.sizes);
    memcpy(index.strides, t->strides, sizeof index.strides);
    return add_index(r, index);
}

/* ---- lists
 * --------------------------------------------------------------------------------------------- */

static bool is_list(const fxs_value *v) { return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE; }

/* Nested lists of ints or bools, in order. */
static fxs_status flatten(reader *r, const fxs_value *v, const fxs_index *shape, int depth,
                          int64_t **at, bool *bools) {
    if (depth < shape->ndim) {
        if (!is_list(v) || (int64_t)fxs_value_len(v) != shape->sizes[depth])
            return FXS_REFUSE(r->call, FXS_EINDEX, "a list of indices must be regular");
        for (size_t i = 0; i < fxs_value_len(v); i++)
            FXS_TRY(flatten(r, fxs_value_item(v, i), shape, depth + 1, at, bools));
        return FXS_OK;
    }
    *bools &= v->tag == FXS_V_BOOL;
    return int_of(r, v, 0, (*at)++);
}

static fxs_status take_list(reader *r, const fxs_value *list) {
    fxs_index index = {.dtype = FXS_INT64};
    int64_t n = 1;
    for (const fxs_value *v = list; v && is_list(v) && index.ndim < FXS_MAX_DIM;
         v = fxs_value_item(v, 0)) {
        index.sizes[index.ndim++] = (int64_t)fxs_value_len(v);
        if (__builtin_mul_overflow(n, (int64_t)fxs_value_len(v), &n))
            return FXS_REFUSE(r->call, FXS_ELIMIT, "a list of too many indices");
    }
    fxs_strides_of(index.ndim, index.sizes, NULL, index.strides);
    int64_t *data = FXS_NEW_N(r->call->scratch, int64_t, (size_t)(n ? n : 1)), *at = data;
    bool bools = n > 0;
    if (!data)
        return fxs_fail_memory(r->call->ctx);
    FXS_TRY(flatten(r, list, &index, 0, &at, &bools));
    index.data = data;
    if (!bools)
        return add_index(r, index);
    if (index.ndim > 1 || n != (r->dim < r->ix->view.ndim ? r->ix->view.sizes[r->dim] : n))
        return FXS_REFUSE(r->call, FXS_EINDEX,
                          "a list of %lld bools does not match the indexed dimension",
                          (long long)n);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (data[i])
            data[count++] = i;
    return add_index(r, vector(data, count));
}

/* ---- the whole index
 * ----------------------------------------------------------------------------------- */

/* Dimensions of x that an item is for. */
static int dims_of(const fxs_value *v) {
    if (v->tag == FXS_V_NONE || v->tag == FXS_V_ELLIPSIS || v->tag == FXS_V_BOOL)
        return 0;
    if (v->tag == FXS_V_TENSOR &&
        (v->u.tensor->dtype == FXS_BOOL || v->u.tensor->dtype == FXS_UINT8))
        return v->u.tensor->ndim;
    return 1;
}

static fxs_status take(reader *r, const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_INT:
        return take_int(r, v->u.i);
    case FXS_V_BOOL:
        return take_bool(r, v->u.b);
    case FXS_V_SLICE:
        return take_slice(r, v);
    case FXS_V_NONE:
        FXS_TRY(insert_dim(r));
        r->dim++;
        return FXS_OK;
    case FXS_V_ELLIPSIS:
        r->dim += r->rest;
        return FXS_OK;
    case FXS_V_TENSOR:
        return take_tensor(r, v->u.tensor);
    case FXS_V_LIST:
    case FXS_V_TUPLE:
        return take_list(r, v);
    case FXS_V_UNKNOWN:
        return FXS_REFUSE(r->call, FXS_EUNKNOWN, "an index is not known without computing values");
    default:
        return FXS_REFUSE(r->call, FXS_EINDEX,
                          "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                          "Variables are valid "
                          "indices (got %s)",
                          fxs_value_type_name(v));
    }
}

/* A list counts as a tuple when anything but numbers is in it. */
static bool is_tuple(const fxs_value *v) {
    if (v->tag != FXS_V_LIST)
        return v->tag == FXS_V_TUPLE;
    for (size_t i = 0; i < fxs_value_len(v); i++) {
        fxs_tag tag = fxs_value_item(v, i)->tag;
        if (tag != FXS_V_INT && tag != FXS_V_BOOL)
            return true;
    }
    return false;
}

/* The index tensors' common shape, its place in the result, and the result's sizes. */
static fxs_status find_result(fxs_call *c, fxs_indexing *ix) {
    int dims[FXS_MAX_DIM];
    bool indexed[FXS_MAX_DIM] = {false}, adjacent = true;
    for (int i = 0; i < ix->nindex; i++) {
        const fxs_index *t = &ix->index[i];
        FXS_TRY(fxs_broadcast_sizes(c, &ix->common_ndim, ix->common, t->ndim, t->sizes));
        indexed[t->dim] = true;
        dims[i] = t->dim;
        adjacent &= i == 0 || dims[i] == dims[i - 1] + 1;
    }
    bool any = true;
    for (int i = 0; i < ix->common_ndim; i++)
        any &= ix->common[i] != 0;
    for (int i = 0; i < ix->nindex; i++)
        if (any && ix->view.sizes[dims[i]] == 0)
            return FXS_REFUSE(c, FXS_EINDEX, "index is out of bounds for dimension %d with size 0",
                              dims[i]);
    if (ix->view.ndim - ix->nindex + ix->common_ndim > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    int kept = 0;
    ix->at = adjacent && ix->nindex ? dims[0] : 0;
    for (int i = 0; i < ix->view.ndim; i++) {
        if (indexed[i])
            continue;
        ix->sizes[kept + (kept >= ix->at ? ix->common_ndim : 0)] = ix->view.sizes[i];
        kept++;
    }
    memcpy(ix->sizes + ix->at, ix->common, (size_t)ix->common_ndim * sizeof *ix->common);
    ix->ndim = kept + ix->common_ndim;
    return FXS_OK;
}

fxs_status fxs_read_index(fxs_call *c, fxs_tensor *x, const fxs_value *index, fxs_indexing *out) {
    *out = (fxs_indexing){.view = *x};
    reader r = {.call = c, .ix = out};
    bool tuple = is_tuple(index);
    size_t n = tuple ? fxs_value_len(index) : 1;
    int given = 0;
    for (size_t i = 0; i < n; i++) {
        const fxs_value *v = tuple ? fxs_value_item(index, i) : index;
        given += dims_of(v);
    }
    if (given > x->ndim && !(x->ndim == 0 && n == 1))
        return FXS_REFUSE(c, FXS_EINDEX, "too many indices for tensor of dimension %d", x->ndim);
    r.rest = x->ndim - given;
    for (size_t i = 0; i < n; i++) {
        const fxs_value *v = tuple ? fxs_value_item(index, i) : index;
        FXS_TRY(take(&r, v));
    }
    for (int k = out->nindex - 1; k >= 0; k--)
        if (r.masks[k])
            FXS_TRY(expand_mask(&r, k));
    return out->nindex ? find_result(c, out) : FXS_OK;
}
