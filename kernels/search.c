/* search.c: searchsorted and bucketize, bincount and histc: finding places among edges, and
 * counting. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

/* ---- searchsorted
 * ------------------------------------------------------------------------------------------- */

/* What both forms come to: edges [rows, n] or [n], values of any shape. */
typedef struct lookup {
    fxs_tensor *edges;
    const fxs_value *values; /* a tensor, or a number */
    const fxs_tensor *sorter;
    fxs_dtype dtype;   /* in which edges and values are compared */
    bool right, small; /* small: int32 results */
} lookup;

static fxs_status read_lookup(fxs_call *c, int edges, int values, lookup *l) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    *l = (lookup){.edges = fxs_arg_tensor(c, edges), .values = &c->arg[values]};
    l->small = fxs_arg_bool(c, 2);
    l->right = fxs_arg_bool(c, 3);
    if (c->nargs > 4 && !fxs_arg_is_none(c, 4)) {
        const char *side = fxs_arg_str(c, 4);
        if (strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
            return FXS_REFUSE(c, FXS_EINVAL, "side can only be 'left' or 'right', not '%s'", side);
        if (l->right && strcmp(side, "left") == 0)
            return FXS_REFUSE(c, FXS_EINVAL, "side and right can't be set to opposites");
        l->right = strcmp(side, "right") == 0;
    }
    const fxs_tensor *e = l->edges,
                     *v = l->values->tag == FXS_V_TENSOR ? l->values->u.tensor : NULL;
    fxs_operands both = fxs_operands_of(c, 0, 2);
    l->dtype = fxs_common_type(&both);
    if ((fxs_is_complex(l->dtype) || l->dtype == FXS_BOOL) && (!v || fxs_tensor_numel(v)))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(l->dtype));
    if (c->nargs > 5 && (l->sorter = fxs_arg_tensor(c, 5))) {
        if (l->sorter->dtype != FXS_INT64)
            return FXS_REFUSE(c, FXS_ETYPE, "sorter must be a tensor of int64, not torch.%s",
                              fxs_dtype_name(l->sorter->dtype));
        bool same = l->sorter->ndim == e->ndim;
        for (int i = 0; same && i < e->ndim; i++)
            same = l->sorter->sizes[i] == e->sizes[i];
        if (!same)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "boundaries and sorter must have the same size, but are %s and %s",
                              fxs_sizes_text(e, a), fxs_sizes_text(l->sorter, b));
    }
    bool rows = e->ndim > 1, fits = e->ndim > 0 && (!rows || (v && v->ndim == e->ndim));
    for (int i = 0; fits && rows && i < e->ndim - 1; i++)
        fits = e->sizes[i] == v->sizes[i];
    if (!fits)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "boundaries must have 1 dimension, or as many as the values, all equal "
                          "but the last: %s and %s",
                          fxs_sizes_text(e, a), v ? fxs_sizes_text(v, b) : "a number");
    return FXS_OK;
}

static fxs_status infer_lookup(fxs_call *c, int edges, int values) {
    lookup l;
    FXS_TRY(read_lookup(c, edges, values, &l));
    fxs_dtype d = l.small ? FXS_INT32 : FXS_INT64;
    if (l.values->tag != FXS_V_TENSOR)
        return fxs_out_new(c, d, 0, NULL, NULL);
    return fxs_out_new(c, d, l.values->u.tensor->ndim, l.values->u.tensor->sizes, NULL);
}

static bool goes_before(const lookup *l, double edge, double value) {
    return l->right ? !(edge > value) : !(edge >= value);
}

/* order: where the edges are in rising order, NULL when they lie so */
static int64_t find(const lookup *l, fxs_dtype d, const char *edges, const int64_t *order,
                    int64_t n, double value) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        int64_t at = order ? order[mid] : mid;
        double e =
            at >= 0 && at < n ? fxs_load_double(d, edges + (size_t)at * fxs_dtype_size(d)) : NAN;
        if (goes_before(l, e, value))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static fxs_status run_lookup(fxs_call *c, int edges, int values) {
    lookup l;
    FXS_TRY(read_lookup(c, edges, values, &l));
    fxs_work w = fxs_work_begin(c, l.dtype), ints = fxs_work_begin(c, FXS_INT64);
    const int64_t *order = fxs_work_data(&ints, (fxs_tensor *)l.sorter);
    const char *e = fxs_work_data(&w, l.edges);
    bool number = l.values->tag != FXS_V_TENSOR;
    const char *v = number ? NULL : fxs_work_data(&w, l.values->u.tensor);
    int64_t n = l.edges->sizes[l.edges->ndim - 1], count = fxs_tensor_numel(c->out[0]);
    size_t size = fxs_dtype_size(w.dtype);
    if (w.status == FXS_OK) {
        int64_t each = l.edges->ndim > 1 ? l.values->u.tensor->sizes[l.edges->ndim - 1] : 0;
        for (int64_t i = 0; i < count; i++) {
            double x =
                number ? fxs_arg_float(c, values) : fxs_load_double(w.dtype, v + (size_t)i * size);
            int64_t first = each ? i / each * n : 0;
            int64_t at =
                find(&l, w.dtype, e + (size_t)first * size, order ? order + first : NULL, n, x);
            fxs_store_int(c->out[0]->dtype,
                          (char *)fxs_tensor_data(c->out[0]) + (size_t)i * (l.small ? 4 : 8), at);
        }
    }
    FXS_TRY(fxs_work_end(&ints));
    return fxs_work_end(&w);
}

static fxs_status infer_searchsorted(fxs_call *c) { return infer_lookup(c, 0, 1); }
static fxs_status run_searchsorted(fxs_call *c) { return run_lookup(c, 0, 1); }

static fxs_status infer_bucketize(fxs_call *c) {
    if (fxs_arg_tensor(c, 1)->ndim != 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "boundaries must have 1 dimension, but have %d",
                          fxs_arg_tensor(c, 1)->ndim);
    return infer_lookup(c, 1, 0);
}
static fxs_status run_bucketize(fxs_call *c) { return run_lookup(c, 1, 0); }

/* log2 of the edges for each value */
static fxs_cost cost_search(const fxs_call *c) {
    double n = 2;
    for (int i = 0; i < 2; i++)
        if (fxs_arg_tensor(c, i) && fxs_arg_tensor(c, i)->ndim)
            n = fmax(n, (double)fxs_arg_tensor(c, i)->sizes[fxs_arg_tensor(c, i)->ndim - 1]);
    return (fxs_cost){.flops = (double)fxs_tensor_numel(c->out[0]) * ceil(log2(n))};
}

/* ---- bincount(self, weights, minlength)
 * --------------------------------------------------------------------- */

static fxs_status infer_bincount(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0), *weights = fxs_arg_tensor(c, 1);
    int64_t n = fxs_arg_int(c, 2);
    if (n < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "minlength should be >= 0");
    if (!fxs_is_integral(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "only integer types are supported, not torch.%s",
                          fxs_dtype_name(t->dtype));
    if (t->ndim != 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "only 1-d non-negative integers are supported");
    if (weights && fxs_tensor_numel(t) &&
        (weights->ndim != 1 || weights->sizes[0] != fxs_tensor_numel(t)))
        return FXS_REFUSE(c, FXS_ESHAPE, "weights should be 1-d and have the same length as input");
    if (!t->storage && fxs_tensor_numel(t))
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "the shape of the result depends on values, which are not computed: run "
                          "with values, not "
                          "with shapes only");
    for (int64_t i = 0; i < fxs_tensor_numel(t); i++) {
        int64_t x =
            fxs_load_int(t->dtype, (const char *)fxs_tensor_data(t) +
                                       i * t->strides[0] * (int64_t)fxs_dtype_size(t->dtype));
        if (x < 0)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "only 1-d non-negative integers are supported, not %lld",
                              (long long)x);
        if (x >= INT32_MAX)
            return FXS_REFUSE(c, FXS_ELIMIT, "%lld bins", (long long)x + 1);
        n = x >= n ? x + 1 : n;
    }
    fxs_dtype d = !weights || !fxs_tensor_numel(t) ? FXS_INT64
                  : weights->dtype == FXS_FLOAT32  ? FXS_FLOAT32
                                                   : FXS_FLOAT64;
    return fxs_out_new(c, d, 1, &n, NULL);
}

static fxs_status run_bincount(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0), *w = fxs_arg_tensor(c, 1);
    fxs_tensor *out = c->out[0];
    memset(out->storage->data, 0, out->storage->bytes);
    for (int64_t i = 0; i < fxs_tensor_numel(t); i++) {
        int64_t x =
            fxs_load_int(t->dtype, (const char *)fxs_tensor_data(t) +
                                       i * t->strides[0] * (int64_t)fxs_dtype_size(t->dtype));
        char *p = (char *)fxs_tensor_data(out) + (size_t)x * fxs_dtype_size(out->dtype);
        if (out->dtype == FXS_INT64)
            ++*(int64_t *)(void *)p;
        else
            fxs_store_double(
                out->dtype, p,
                fxs_load_double(out->dtype, p) +
                    fxs_load_double(w->dtype,
                                    (const char *)fxs_tensor_data(w) +
                                        i * w->strides[0] * (int64_t)fxs_dtype_size(w->dtype)));
    }
    return FXS_OK;
}

/* ---- histc(self, bins, min, max)
 * ------------------------------------------------------------------------------ */

static fxs_status check_range(fxs_call *c, double low, double high) {
    return isfinite(low) && isfinite(high)
               ? FXS_OK
               : FXS_REFUSE(c, FXS_EINVAL, "the range from %g to %g is not finite", low, high);
}

static fxs_status infer_histc(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t bins = fxs_arg_int(c, 1);
    FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS));
    if (bins <= 0)
        return FXS_REFUSE(c, FXS_EINVAL, "bins must be > 0");
    if (fxs_arg_float(c, 2) > fxs_arg_float(c, 3))
        return FXS_REFUSE(c, FXS_EINVAL, "max must be larger than min");
    FXS_TRY(check_range(c, fxs_arg_float(c, 2), fxs_arg_float(c, 3)));
    return fxs_out_new(c, t->dtype, 1, &bins, NULL);
}

/* Without a range of their own, histograms span what there is. */
static void range_of(fxs_dtype d, const char *x, int64_t n, double *low, double *high) {
    size_t size = fxs_dtype_size(d);
    if (*low == *high && n > 0) {
        *low = *high = fxs_load_double(d, x);
        for (int64_t i = 0; i < n && !isnan(*low); i++) {
            double v = fxs_load_double(d, x + (size_t)i * size);
            *low = v < *low || isnan(v) ? v : *low;
            *high = v > *high || isnan(v) ? v : *high;
        }
    }
    if (*low == *high) {
        *low -= 1;
        *high += 1;
    }
}

/* x as type d holds it: each step of PyTorch's is rounded to the type of the elements. */
static double as_type(fxs_dtype d, double x) {
    char element[sizeof(double)];
    fxs_store_double(d, element, x);
    return fxs_load_double(d, element);
}

/* The bin of v, of `bins` between low and high; -1: it is outside. */
static int64_t bin_of(fxs_dtype d, double v, double low, double high, int64_t bins) {
    if (!(v >= low && v <= high))
        return -1;
    double part = as_type(d, as_type(d, v - low) / as_type(d, high - low));
    int64_t at = (int64_t)as_type(d, part * as_type(d, (double)bins));
    return at >= bins ? bins - 1 : at;
}

static fxs_status run_histc(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_work w = fxs_work_begin(c, t->dtype);
    const char *x = fxs_work_data(&w, t);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    double low = fxs_arg_float(c, 2), high = fxs_arg_float(c, 3);
    int64_t bins = fxs_arg_int(c, 1), n = fxs_tensor_numel(t);
    size_t size = fxs_dtype_size(w.dtype);
    int64_t *count = fxs_work_scratch(&w, bins, sizeof *count);
    if (w.status != FXS_OK)
        return fxs_work_end(&w);
    memset(count, 0, (size_t)bins * sizeof *count);
    range_of(w.dtype, x, n, &low, &high);
    low = as_type(t->dtype, low);
    high = as_type(t->dtype, high);
    w.status = check_range(c, low, high);
    for (int64_t i = 0; w.status == FXS_OK && i < n; i++) {
        double v = fxs_load_double(w.dtype, x + (size_t)i * size);
        int64_t at = bin_of(t->dtype, v, low, high, bins);
        if (at >= 0)
            count[at]++;
    }
    for (int64_t i = 0; i < bins; i++)
        fxs_store_double(w.dtype, (char *)fxs_tensor_data(out) + (size_t)i * size,
                         (double)count[i]);
    return fxs_work_end(&w);
}

const fxs_op fxs_ops_search[] = {
    {"searchsorted",
     "(Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, "
     "str? side=None, Tensor? sorter=None) -> Tensor",
     "torch.searchsorted", infer_searchsorted, run_searchsorted, cost_search, FXS_OP_NO_INPLACE},
    {"searchsorted",
     "(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
     "str? side=None, Tensor? sorter=None) -> Tensor",
     "torch.searchsorted", infer_searchsorted, run_searchsorted, cost_search, FXS_OP_NO_INPLACE},
    {"bucketize",
     "(Tensor|Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
     "torch.bucketize", infer_bucketize, run_bucketize, cost_search, FXS_OP_NO_INPLACE},
    {"bincount", "(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
     "torch.bincount Tensor.bincount", infer_bincount, run_bincount, NULL, FXS_OP_NO_INPLACE},
    {"histc", "(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
     "torch.histc Tensor.histc", infer_histc, run_histc, NULL, FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD},
    {0},
};
