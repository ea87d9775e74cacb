/* histogram.c: how many values lie in each of some bins: histogram of all elements, histogramdd of
 * the rows of a matrix, in boxes. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/python.h"
#include "kernels/reduce.h"
#include "kernels/work.h"

/* The bins of one dimension. */
typedef struct axis {
    const fxs_tensor *given; /* edges; NULL: bins of equal width */
    int64_t bins;
    double low, high; /* where ranged */
    double *edges;    /* bins + 1 */
} axis;

typedef struct histogram {
    const fxs_tensor *x, *weight;
    bool ranged, density;
    int64_t rows;
    int naxes;
    axis axes[FXS_MAX_DIM];
} histogram;

/* ---- arguments
 * -----------------------------------------------------------------------------------------------
 */

static fxs_status read_edges(fxs_call *c, const histogram *h, axis *a, const fxs_tensor *edges) {
    if (edges->ndim != 1 || edges->sizes[0] < 1 + (h->naxes == 0))
        return FXS_REFUSE(c, FXS_ESHAPE, "bins must be a vector of at least two edges");
    if (edges->sizes[0] < 2)
        return FXS_REFUSE(c, FXS_EINVAL, "bins must be > 0, but there is one edge");
    if (edges->dtype != h->x->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "expected bins of torch.%s, but got torch.%s",
                          fxs_dtype_name(h->x->dtype), fxs_dtype_name(edges->dtype));
    a->given = edges;
    a->bins = edges->sizes[0] - 1;
    return FXS_OK;
}

static fxs_status read_count(fxs_call *c, axis *a, int64_t bins) {
    a->bins = bins;
    return bins > 0 ? FXS_OK
                    : FXS_REFUSE(c, FXS_EINVAL, "bins must be > 0, but got %lld", (long long)bins);
}

/* A pair of numbers for each axis. */
static fxs_status read_range(fxs_call *c, histogram *h, const fxs_value *v, int n) {
    if (v->tag == FXS_V_NONE)
        return FXS_OK;
    if (fxs_value_len(v) != 2 * (size_t)n)
        return FXS_REFUSE(c, FXS_EINVAL, "range must be two numbers for each dimension: %d", 2 * n);
    h->ranged = true;
    for (int i = 0; i < n; i++) {
        fxs_number low, high;
        if (!fxs_number_of(fxs_value_item(v, 2 * (size_t)i), &low) ||
            !fxs_number_of(fxs_value_item(v, 2 * (size_t)i + 1), &high))
            return FXS_REFUSE(c, FXS_EINVAL, "range must be two numbers for each dimension: %d",
                              2 * n);
        h->axes[i].low = low.f, h->axes[i].high = high.f;
        if (!isfinite(low.f) || !isfinite(high.f) || low.f > high.f)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "range [%g, %g] is not finite, or its min exceeds its max", low.f,
                              high.f);
    }
    return FXS_OK;
}

static fxs_status read_weight(fxs_call *c, histogram *h, int at) {
    h->weight = fxs_arg_tensor(c, at);
    h->density = fxs_arg_bool(c, at + 1);
    if (!h->weight)
        return FXS_OK;
    return h->weight->dtype == h->x->dtype && fxs_tensor_numel(h->weight) == h->rows
               ? FXS_OK
               : FXS_REFUSE(c, FXS_ESHAPE,
                            "weight must have as many elements as the input, and its type");
}

static fxs_status begin(fxs_call *c, histogram *h) {
    *h = (histogram){.x = fxs_arg_tensor(c, 0)};
    h->rows = fxs_tensor_numel(h->x);
    return fxs_is_floating(h->x->dtype) ? FXS_OK
                                        : FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s",
                                                     fxs_dtype_name(h->x->dtype));
}

/* histogram(self, bins, *, weight, density) with edges, (self, bins, *, range, weight, density) */
static fxs_status read_all(fxs_call *c, histogram *h) {
    const fxs_tensor *edges = fxs_arg_tensor(c, 1);
    FXS_TRY(begin(c, h));
    if (edges)
        FXS_TRY(read_edges(c, h, &h->axes[0], edges));
    else
        FXS_TRY(read_count(c, &h->axes[0], fxs_arg_int(c, 1)));
    h->naxes = 1;
    if (!edges)
        FXS_TRY(read_range(c, h, &c->arg[2], 1));
    return read_weight(c, h, c->nargs - 2);
}

/* histogramdd(self, bins, range, weight, density): bins is a number, one for each dimension, or
 * edges for each */
static fxs_status read_rows(fxs_call *c, histogram *h) {
    const fxs_value *bins = &c->arg[1];
    bool list = bins->tag == FXS_V_LIST || bins->tag == FXS_V_TUPLE, edges = false;
    FXS_TRY(begin(c, h));
    if (h->x->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "input tensor should have at least 2 dimensions");
    int64_t n = h->x->sizes[h->x->ndim - 1];
    if (n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "a histogram of more than %d dimensions", FXS_MAX_DIM);
    h->rows = 1;
    for (int i = 0; i < h->x->ndim - 1; i++)
        h->rows *= h->x->sizes[i];
    if (list && fxs_value_len(bins) != (size_t)n)
        return FXS_REFUSE(c, FXS_EINVAL, "expected bins for each of %lld dimensions, but got %zu",
                          (long long)n, fxs_value_len(bins));
    for (h->naxes = 0; h->naxes < n; h->naxes++) {
        const fxs_value *v = list ? fxs_value_item(bins, (size_t)h->naxes) : bins;
        axis *a = &h->axes[h->naxes];
        edges |= v->tag == FXS_V_TENSOR;
        FXS_TRY(v->tag == FXS_V_TENSOR ? read_edges(c, h, a, v->u.tensor)
                                       : read_count(c, a, v->u.i));
    }
    FXS_TRY(read_range(c, h, &c->arg[2], (int)n));
    h->ranged &= !edges;
    const fxs_tensor *weight = fxs_arg_tensor(c, 3);
    int outer = h->x->ndim - 1;
    bool one = weight && weight->ndim == 0 && outer == 1 && h->x->sizes[0] == 1;
    if (weight && !one &&
        (weight->ndim != outer ||
         memcmp(weight->sizes, h->x->sizes, (size_t)outer * sizeof *weight->sizes) != 0))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "weight must have the shape of the input without its last dimension");
    return read_weight(c, h, 3);
}

/* ---- infer
 * -------------------------------------------------------------------------------------------------
 */

static fxs_status out_all(fxs_call *c, const histogram *h) {
    int64_t sizes[FXS_MAX_DIM];
    for (int i = 0; i < h->naxes; i++)
        sizes[i] = h->axes[i].bins;
    FXS_TRY(fxs_out_new(c, h->x->dtype, h->naxes, sizes, NULL));
    for (int i = 0; i < h->naxes; i++) {
        fxs_tensor *given = (fxs_tensor *)h->axes[i].given;
        if (given && c->nargs == 5) { /* histogramdd gives them back, as they were */
            FXS_TRY(fxs_out_same(c, given));
            c->constants |= 1u << (1 + i);
        } else {
            FXS_TRY(fxs_out_new(c, h->x->dtype, 1, (int64_t[]){h->axes[i].bins + 1}, NULL));
        }
    }
    return FXS_OK;
}

static fxs_status infer_histogram(fxs_call *c) {
    histogram h;
    FXS_TRY(read_all(c, &h));
    c->tuple_name = "torch.return_types.histogram";
    return out_all(c, &h);
}

/* (hist, (edges, edges, ...)) */
static fxs_status infer_histogramdd(fxs_call *c) {
    histogram h;
    fxs_value edges, both;
    FXS_TRY(read_rows(c, &h));
    FXS_TRY(out_all(c, &h));
    FXS_TRY(fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, (size_t)h.naxes, &edges));
    for (int i = 0; i < h.naxes; i++)
        edges.u.seq->items[i] = fxs_of_tensor(fxs_tensor_ref(c->out[1 + i]));
    fxs_status s = fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, 2, &both);
    if (s != FXS_OK) {
        fxs_value_unref(&edges);
        return s;
    }
    both.u.seq->kind = FXS_TUPLE_NAMED;
    both.u.seq->type_name = "torch.return_types.histogramdd";
    both.u.seq->items[0] = fxs_of_tensor(fxs_tensor_ref(c->out[0]));
    both.u.seq->items[1] = edges;
    return fxs_out_value(c, both);
}

/* ---- kernel
 * -------------------------------------------------------------------------------------------------
 */

/* From the smallest to the largest of n numbers, `step` apart; a width of 0 becomes 1. */
static fxs_status find_range(fxs_call *c, const histogram *h, axis *a, const double *x,
                             int64_t step) {
    int64_t n = h->rows;
    if (!h->ranged && n) {
        a->low = a->high = x[0];
        for (int64_t i = 0; i < n; i++) {
            double v = x[i * step];
            if (!isfinite(v))
                return FXS_REFUSE(c, FXS_EINVAL, "the range of the input is not finite: it has %g",
                                  v);
            a->low = v < a->low ? v : a->low;
            a->high = v > a->high ? v : a->high;
        }
    }
    if (a->low == a->high)
        a->low -= 0.5, a->high += 0.5;
    if (!h->ranged && n == 0)
        a->low = 0, a->high = 1;
    return FXS_OK;
}

static fxs_status fill_edges(fxs_call *c, const histogram *h, axis *a, const double *x,
                             int64_t stride) {
    if (a->given) {
        size_t size = fxs_dtype_size(a->given->dtype);
        for (int64_t i = 0; i <= a->bins; i++)
            a->edges[i] =
                fxs_load_double(a->given->dtype, (const char *)fxs_tensor_data(a->given) +
                                                     i * a->given->strides[0] * (int64_t)size);
        return FXS_OK;
    }
    FXS_TRY(find_range(c, h, a, x, stride));
    double step = (a->high - a->low) / (double)a->bins;
    float low = (float)a->low, high = (float)a->high, short_step = (high - low) / (float)a->bins;
    bool single = h->x->dtype != FXS_FLOAT64;
    for (int64_t i = 0; i <= a->bins; i++) { /* from the nearer end, in the type of x */
        if (i < (a->bins + 1) / 2)
            a->edges[i] =
                single ? (double)(low + short_step * (float)i) : a->low + step * (double)i;
        else
            a->edges[i] = single ? (double)(high - short_step * (float)(a->bins - i))
                                 : a->high - step * (double)(a->bins - i);
    }
    return FXS_OK;
}

/* The last bin whose left edge is not above x; the last edge is in the last bin. -1: outside. */
static int64_t bin_of(const axis *a, double x) {
    int64_t low = 0, high = a->bins;
    if (a->bins == 0 || !(x >= a->edges[0] && x <= a->edges[a->bins]))
        return -1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(x >= a->edges[middle] ? &low : &high) = middle;
    }
    return low;
}

/* The box that row i is in; -1: none. */
static int64_t box_of(const histogram *h, const double *row) {
    int64_t box = 0;
    for (int d = 0; d < h->naxes; d++) {
        int64_t at = bin_of(&h->axes[d], row[d]);
        if (at < 0)
            return -1;
        box = box * h->axes[d].bins + at;
    }
    return box;
}

/* Counts become shares of all by the volume of their boxes. */
static void to_density(const histogram *h, double *count, int64_t boxes) {
    double sum = 0;
    for (int64_t i = 0; i < boxes; i++)
        sum += count[i];
    for (int64_t i = 0; i < boxes; i++) {
        int64_t rest = i;
        double volume = 1;
        for (int d = h->naxes - 1; d >= 0; d--) {
            const double *e = h->axes[d].edges + rest % h->axes[d].bins;
            volume *= e[1] - e[0];
            rest /= h->axes[d].bins;
        }
        count[i] /= sum * volume;
    }
}

static fxs_status run(fxs_call *c, histogram *h) {
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64);
    const double *x = fxs_work_data(&w, fxs_arg_tensor(c, 0)),
                 *weight = fxs_work_data(&w, (fxs_tensor *)h->weight);
    fxs_tensor *counts = fxs_work_out(&w, c->out[0]);
    for (int d = 0; d < h->naxes; d++) {
        h->axes[d].edges = fxs_work_scratch(&w, h->axes[d].bins + 1, sizeof(double));
        if (w.status == FXS_OK)
            w.status = fill_edges(c, h, &h->axes[d], x + d, h->naxes);
    }
    if (w.status != FXS_OK)
        return fxs_work_end(&w);
    double *count = fxs_tensor_data(counts);
    int64_t boxes = fxs_tensor_numel(counts);
    memset(count, 0, (size_t)boxes * sizeof *count);
    for (int64_t i = 0; i < h->rows; i++) {
        int64_t at = box_of(h, x + i * h->naxes);
        if (at >= 0)
            count[at] += weight ? weight[i] : 1;
    }
    if (h->naxes == 0) /* no dimension counts nothing */
        *count = 0;
    if (h->density)
        to_density(h, count, boxes);
    for (int d = 0; d < h->naxes; d++)
        for (int64_t i = 0; c->out[1 + d] != h->axes[d].given && i <= h->axes[d].bins; i++)
            fxs_store_double(h->x->dtype,
                             (char *)fxs_tensor_data(c->out[1 + d]) +
                                 i * (int64_t)fxs_dtype_size(h->x->dtype),
                             h->axes[d].edges[i]);
    return fxs_work_end(&w);
}

static fxs_status run_histogram(fxs_call *c) {
    histogram h;
    FXS_TRY(read_all(c, &h));
    return run(c, &h);
}

static fxs_status run_histogramdd(fxs_call *c) {
    histogram h;
    FXS_TRY(read_rows(c, &h));
    return run(c, &h);
}

#define PURE FXS_OP_NO_INPLACE
#define BOTH "torch.histogram Tensor.histogram"
#define REST "Tensor? weight=None, bool density=False) -> "
#define BOXES(bins)                                                                                \
    {                                                                                              \
        "histogramdd", "(Tensor self, " bins ", any range=None, " REST "(Tensor, Tensor[])",       \
            "torch.histogramdd", infer_histogramdd, run_histogramdd, fxs_cost_input, PURE          \
    }

const fxs_op fxs_ops_histogram[] = {
    {"histogram", "(Tensor self, Tensor bins, *, " REST "(Tensor, Tensor)", BOTH, infer_histogram,
     run_histogram, fxs_cost_input, PURE},
    {"histogram", "(Tensor self, int bins=100, *, any range=None, " REST "(Tensor, Tensor)", BOTH,
     infer_histogram, run_histogram, fxs_cost_input, PURE},
    BOXES("int bins"),
    BOXES("int[] bins"),
    BOXES("Tensor[] bins"),
    {0},
};
#undef PURE
#undef BOTH
#undef REST
#undef BOXES
