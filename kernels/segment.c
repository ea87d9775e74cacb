/* segment.c: segment_reduce, one number for each run of neighbours along a dimension, whose lengths
 * are given. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/work.h"

/* (data, reduce, lengths, indices, axis, unsafe, initial) */
enum { DATA, REDUCE, LENGTHS, INDICES, AXIS, UNSAFE, INITIAL };

typedef enum kind { SUM, MEAN, MAX, MIN, PROD, KINDS } kind;
static const char *const names[KINDS] = {"sum", "mean", "max", "min", "prod"};

static kind kind_of(const fxs_call *c) {
    kind k = SUM;
    while (k < KINDS && strcmp(names[k], fxs_arg_str(c, REDUCE)) != 0)
        k++;
    return k;
}

/* Data is [outer..., axis, inner...], lengths [outer..., segments]. */
static fxs_status infer_segment_reduce(fxs_call *c) {
    const fxs_tensor *data = fxs_arg_tensor(c, DATA), *lengths = fxs_arg_tensor(c, LENGTHS);
    int64_t sizes[FXS_MAX_DIM], axis = fxs_arg_int(c, AXIS);
    if (kind_of(c) == KINDS)
        return FXS_REFUSE(c, FXS_EINVAL, "unsupported reduction given: '%s'",
                          fxs_arg_str(c, REDUCE));
    if (fxs_arg_tensor(c, INDICES))
        return FXS_REFUSE(c, FXS_EINVAL, "indices based reduction is not supported");
    if (!lengths)
        return FXS_REFUSE(c, FXS_EINVAL, "lengths must be given");
    FXS_TRY(fxs_check_dtype(c, data, FXS_TAKES_FLOATS));
    if (lengths->dtype != FXS_INT64 && lengths->dtype != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE, "expected lengths of type int32 or int64, not torch.%s",
                          fxs_dtype_name(lengths->dtype));
    if (fxs_tensor_numel(data) == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected data of at least one element");
    if (fxs_tensor_numel(lengths) == 0 && !fxs_arg_bool(c, UNSAFE))
        return FXS_REFUSE(c, FXS_ESHAPE, "expected lengths of at least one segment");
    if (axis < 0)
        axis += data->ndim;
    if (lengths->ndim == 0 || axis != lengths->ndim - 1 || axis >= data->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected axis to be the last dimension of lengths, which has %d, but "
                          "got %lld",
                          lengths->ndim, (long long)axis);
    for (int i = 0; i < axis; i++)
        if (lengths->sizes[i] != data->sizes[i])
            return FXS_REFUSE(c, FXS_ESHAPE, "data and lengths differ in dimension %d: %lld, %lld",
                              i, (long long)data->sizes[i], (long long)lengths->sizes[i]);
    memcpy(sizes, data->sizes, sizeof sizes);
    sizes[axis] = lengths->sizes[axis];
    return fxs_out_new(c, data->dtype, data->ndim, sizes, NULL);
}

/* Of no elements: the number that changes nothing, or what was given. */
static double start_of(const fxs_call *c, kind k) {
    static const double neutral[KINDS] = {0, 0, -INFINITY, INFINITY, 1};
    return fxs_arg_is_none(c, INITIAL) ? neutral[k] : fxs_arg_float(c, INITIAL);
}

static double joined(kind k, double a, double x) {
    switch (k) {
    case MAX:
        return isnan(a) || a > x ? a : x;
    case MIN:
        return isnan(a) || a < x ? a : x;
    case PROD:
        return a * x;
    default:
        return a + x;
    }
}

/* One segment at one inner place: n elements, `step` apart. */
static double reduced(const fxs_call *c, kind k, const double *x, int64_t n, int64_t step) {
    double a = start_of(c, k);
    for (int64_t i = 0; i < n; i++)
        a = joined(k, a, x[i * step]);
    if (k != MEAN)
        return a;
    if (n)
        return a / (double)n;
    return fxs_arg_is_none(c, INITIAL) ? (double)NAN : a;
}

/* The lengths of one row must be those of its elements; unsafe: at most. */
static fxs_status check_row(fxs_call *c, const int64_t *lengths, int64_t n, int64_t size) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] < 0)
            return FXS_REFUSE(c, FXS_EINVAL, "lengths contains negative value: %lld",
                              (long long)lengths[i]);
        if (__builtin_add_overflow(sum, lengths[i], &sum))
            sum = INT64_MAX;
    }
    if (sum == size || (sum < size && fxs_arg_bool(c, UNSAFE)))
        return FXS_OK;
    return FXS_REFUSE(c, FXS_EINVAL, "lengths add up to %lld, but there are %lld elements",
                      (long long)sum, (long long)size);
}

static fxs_status run_segment_reduce(fxs_call *c) {
    const fxs_tensor *data = fxs_arg_tensor(c, DATA), *lengths = fxs_arg_tensor(c, LENGTHS);
    int axis = lengths->ndim - 1;
    int64_t outer = 1, inner = 1, size = data->sizes[axis], n = lengths->sizes[axis];
    kind k = kind_of(c);
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64), ints = fxs_work_begin(c, FXS_INT64);
    const double *x = fxs_work_data(&w, fxs_arg_tensor(c, DATA));
    const int64_t *length = fxs_work_data(&ints, fxs_arg_tensor(c, LENGTHS));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    for (int i = 0; i < axis; i++)
        outer *= data->sizes[i];
    for (int i = axis + 1; i < data->ndim; i++)
        inner *= data->sizes[i];
    if (w.status == FXS_OK)
        w.status = ints.status;
    double *y = w.status == FXS_OK ? fxs_tensor_data(out) : NULL;
    for (int64_t row = 0; row < outer && w.status == FXS_OK; row++) {
        const double *at = x + row * size * inner;
        w.status = check_row(c, length, n, size);
        for (int64_t s = 0; s < n && w.status == FXS_OK; s++) {
            for (int64_t i = 0; i < inner; i++)
                *y++ = reduced(c, k, at + i, length[s], inner);
            at += length[s] * inner;
        }
        length += n;
    }
    fxs_status s = fxs_work_end(&ints), t = fxs_work_end(&w);
    return t != FXS_OK ? t : s;
}

/* one FLOP for each element of the input */
static fxs_cost cost_segment_reduce(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, DATA)};
}

const fxs_op fxs_ops_segment[] = {
    {"segment_reduce",
     "(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, int axis=0, bool "
     "unsafe=False, number? initial=None) -> Tensor",
     "torch.segment_reduce", infer_segment_reduce, run_segment_reduce, cost_segment_reduce,
     FXS_OP_NO_INPLACE},
    {0},
};
