/* pooling.c: pooling by a sliding window: max_pool, avg_pool and lp_pool of one to three
 * dimensions, and their layers. The loops are in pooling_run.c. */
#include "kernels/pooling.h"

#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

/* Arguments of max_pool; avg_pool goes on behind PADDING in its own way. */
enum { INPUT, KERNEL, STRIDE, PADDING, DILATION, CEIL, INDICES };
enum { A_CEIL = PADDING + 1, A_INCLUDE_PAD, A_DIVISOR };
enum { LP_INPUT, LP_NORM, LP_KERNEL, LP_STRIDE, LP_CEIL };

/* ---- geometry
 * --------------------------------------------------------------------------------------------- */

/* (in + padding - extent) / stride + 1, rounded down, or up when `ceil`: but the last window must
 * begin inside. */
/* least: 1, or 0 where PyTorch takes an empty result */
static fxs_status output_sizes(fxs_call *c, fxs_window *w, bool ceil, int64_t least) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    bool negative = false;
    for (int d = 3 - w->dims; d < 3; d++) { /* in front is one place */
        int64_t room, extent = fxs_window_extent(w, d);
        if (__builtin_add_overflow(w->in[d], 2 * w->before[d], &room) || extent == INT64_MAX)
            return FXS_REFUSE(c, FXS_ELIMIT, "sizes beyond 2^63");
        room -= extent;
        negative |= room < -w->stride[d];
        if (ceil && room >= -w->stride[d]) {
            int64_t windows = room < 0 ? 0 : room / w->stride[d] + (room % w->stride[d] != 0);
            w->out[d] = room < 0 ? room + w->stride[d] > 0 : windows + 1;
            if (w->out[d] > 0 &&
                (w->out[d] - 1) >= (w->in[d] + w->before[d] + w->stride[d] - 1) / w->stride[d])
                w->out[d]--;
        } else {
            w->out[d] = room < 0 ? 0 : fxs_steps(room, w->stride[d]) + 1;
        }
    }
    for (int d = 0; d < 3; d++)
        if (w->out[d] < least || negative)
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "given input size: %s. Calculated output size: %s. Output size is too small",
                fxs_window_text(w, w->in, a), fxs_window_text(w, w->out, b));
    return FXS_OK;
}

/* Kernel, stride (None: the kernel) and padding; dilation where there is one. */
static fxs_status read_window(fxs_call *c, fxs_window *w, int kernel, int stride, int padding,
                              int dilation) {
    fxs_window_read(c, kernel, w, w->kernel);
    memcpy(w->stride, w->kernel, sizeof w->stride);
    fxs_window_read(c, stride, w, w->stride);
    if (padding >= 0)
        fxs_window_read(c, padding, w, w->before);
    if (dilation >= 0)
        fxs_window_read(c, dilation, w, w->dilation);
    memcpy(w->after, w->before, sizeof w->after);
    FXS_TRY(fxs_window_check(c, w));
    for (int d = 0; d < 3; d++)
        if (w->before[d] > w->kernel[d] / 2)
            return FXS_REFUSE(
                c, FXS_EINVAL,
                "pad should be at most half of kernel size, but got pad=%lld and kernel_size=%lld",
                (long long)w->before[d], (long long)w->kernel[d]);
    return FXS_OK;
}

/* ---- max_pool
 * --------------------------------------------------------------------------------------------- */

/* torch's one-dimensional maximum without gradient and indices is a kernel of its own. */
static bool row_maximum(const fxs_call *c, int dims) {
    return dims == 1 && !fxs_arg_tensor(c, INPUT)->requires_grad &&
           !fxs_arg_bool(c, c->nargs - 1) && strstr(c->op->name, "indices") == NULL;
}

static fxs_status read_max(fxs_call *c, int dims, fxs_window *w) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_window_clear(w, dims);
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_pooling_check(c, x, dims, false));
    FXS_TRY(read_window(c, w, KERNEL, STRIDE, PADDING, DILATION));
    fxs_window_sizes(w, x, w->in);
    return output_sizes(c, w, fxs_arg_bool(c, CEIL), row_maximum(c, dims) ? 0 : 1);
}

static fxs_status infer_max(fxs_call *c, int dims, bool indices) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_window w;
    FXS_TRY(read_max(c, dims, &w));
    /* torch's one-dimensional maximum without gradient and indices is a kernel of its own, which
     * gives dense rows. */
    return fxs_pooling_result(c, x, dims, w.out, dims != 1 || indices || x->requires_grad, indices);
}

static fxs_status run_max(fxs_call *c, int dims) {
    fxs_window window;
    FXS_TRY(read_max(c, dims, &window));
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    fxs_tensor *x = fxs_work_in(&w, fxs_arg_tensor(c, INPUT)), *y = fxs_work_out(&w, c->out[0]);
    fxs_tensor *indices = NULL, *flat = NULL;
    fxs_work ints = fxs_work_begin(c, FXS_INT64);
    if (c->nout > 1 && w.status == FXS_OK)
        indices = flat = fxs_work_out(&ints, c->out[1]);
    if (w.status == FXS_OK && ints.status == FXS_OK && fxs_tensor_numel(y) > 0) {
        fxs_pooling p = {0};
        fxs_pooling_sizes(&p, dims, x, y);
        fxs_pooling_slide(&w, &p, &window, false);
        if (w.status == FXS_OK)
            fxs_pooling_max(&w, &p, fxs_tensor_data(x), fxs_tensor_data(y),
                            indices ? fxs_tensor_data(flat) : NULL);
    }
    fxs_status s = fxs_work_end(&ints);
    fxs_status t = fxs_work_end(&w);
    return s != FXS_OK ? s : t;
}

/* kernel comparisons for each element of the result, all dimensions together */
static fxs_cost cost_window(const fxs_call *c, int kernel, int dims, double each, double more) {
    fxs_window w = fxs_window_new(dims);
    fxs_window_read(c, kernel, &w, w.kernel);
    double k = (double)w.kernel[0] * (double)w.kernel[1] * (double)w.kernel[2];
    return (fxs_cost){.flops = (each * k + more) * (double)fxs_tensor_numel(c->out[0])};
}

#define MAX(n)                                                                                     \
    static fxs_status infer_max##n(fxs_call *c) {                                                  \
        return infer_max(c, n, fxs_arg_bool(c, INDICES));                                          \
    }                                                                                              \
    static fxs_status infer_max_indices##n(fxs_call *c) { return infer_max(c, n, true); }          \
    static fxs_status run_max##n(fxs_call *c) { return run_max(c, n); }                            \
    static fxs_cost cost_max##n(const fxs_call *c) { return cost_window(c, KERNEL, n, 1, 0); }
MAX(1)
MAX(2)
MAX(3)

/* ---- avg_pool
 * --------------------------------------------------------------------------------------------- */

static fxs_status read_average(fxs_call *c, int dims, fxs_window *w) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_window_clear(w, dims);
    FXS_TRY(
        fxs_check_dtype(c, x, FXS_TAKES_FLOATS | (x->dtype == FXS_INT64 ? FXS_TAKES_INTEGERS : 0)));
    FXS_TRY(fxs_pooling_check(c, x, dims, false));
    FXS_TRY(read_window(c, w, KERNEL, STRIDE, PADDING, -1));
    fxs_window_sizes(w, x, w->in);
    if (c->nargs > A_DIVISOR && !fxs_arg_is_none(c, A_DIVISOR) && fxs_arg_int(c, A_DIVISOR) == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "divisor must be not zero");
    for (int d = 0; dims == 3 && d < 3;
         d++) /* PyTorch looks at the input without its padding here */
        if (w->in[d] < w->kernel[d])
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "input of size %lld is smaller than the kernel of size %lld",
                              (long long)w->in[d], (long long)w->kernel[d]);
    return output_sizes(c, w, fxs_arg_bool(c, A_CEIL), 1);
}

static fxs_status infer_average(fxs_call *c, int dims) {
    fxs_window w;
    FXS_TRY(read_average(c, dims, &w));
    return fxs_pooling_result(c, fxs_arg_tensor(c, INPUT), dims, w.out, true, false);
}

static fxs_status run_average(fxs_call *c, int dims) {
    fxs_window window;
    FXS_TRY(read_average(c, dims, &window));
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    fxs_tensor *x = fxs_work_in(&w, fxs_arg_tensor(c, INPUT)), *y = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK) {
        fxs_pooling p = {.divisor = c->nargs > A_DIVISOR ? fxs_arg_int(c, A_DIVISOR) : 0};
        fxs_pooling_sizes(&p, dims, x, y);
        fxs_pooling_slide(&w, &p, &window, fxs_arg_bool(c, A_INCLUDE_PAD));
        if (w.status == FXS_OK)
            fxs_pooling_average(&w, &p, fxs_tensor_data(x), fxs_tensor_data(y));
    }
    return fxs_work_end(&w);
}

/* kernel sums and one division for each element of the result */
#define AVERAGE(n)                                                                                 \
    static fxs_status infer_average##n(fxs_call *c) { return infer_average(c, n); }                \
    static fxs_status run_average##n(fxs_call *c) { return run_average(c, n); }                    \
    static fxs_cost cost_average##n(const fxs_call *c) { return cost_window(c, KERNEL, n, 1, 1); }
AVERAGE(1)
AVERAGE(2)
AVERAGE(3)

/* ---- lp_pool: (sum of x^p)^(1/p)
 * -------------------------------------------------------------------------- */

static fxs_status read_lp(fxs_call *c, int dims, fxs_window *w) {
    const fxs_tensor *x = fxs_arg_tensor(c, LP_INPUT);
    fxs_window_clear(w, dims);
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_pooling_check(c, x, dims, false));
    FXS_TRY(read_window(c, w, LP_KERNEL, LP_STRIDE, -1, -1));
    fxs_window_sizes(w, x, w->in);
    return output_sizes(c, w, fxs_arg_bool(c, LP_CEIL), 1);
}

/* PyTorch's steps, which decide the strides, and compute integers. */
static void make_lp(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    int dims = k->call->op->name[strlen("lp_pool")] - '0';
    double norm = fxs_arg_float(k->call, LP_NORM);
    int64_t kernel[2] = {1, 1}, places = 1;
    int n = fxs_arg_ints(k->call, LP_KERNEL, kernel, 2);
    for (int i = 0; i < n && i < 2; i++)
        places *= kernel[i];
    if (norm == 0)
        fxs_stop(k, FXS_EINVAL, "norm_type is 0, which has no root");
    fxs_tensor *x = FXS_DO(k, "pow", a[LP_INPUT], a[LP_NORM]), *sign;
    x = FXS_DO(k, dims == 1 ? "avg_pool1d" : "avg_pool2d", fxs_t(x), a[LP_KERNEL], a[LP_STRIDE],
               fxs_int(0), a[LP_CEIL]);
    sign = FXS_DO(k, "sign", fxs_t(x));
    x = FXS_DO(k, "relu", fxs_t(FXS_DO(k, "abs", fxs_t(x))));
    x = FXS_DO(k, "mul", fxs_t(sign), fxs_t(x));
    x = FXS_DO(k, "mul", fxs_t(x), fxs_int(places));
    fxs_give(k, FXS_DO(k, "pow", fxs_t(x), fxs_float(1 / norm)));
}

static fxs_status infer_lp(fxs_call *c, int dims) {
    fxs_window w;
    if (fxs_is_floating(fxs_arg_tensor(c, LP_INPUT)->dtype))
        FXS_TRY(read_lp(c, dims, &w));
    return fxs_compose_infer(c, make_lp);
}

static void raise_all(fxs_dtype d, int64_t n, void *x, double p) {
    float *f = x;
    double *g = x;
    for (int64_t i = 0; i < n; i++)
        if (d == FXS_FLOAT32)
            f[i] = powf(f[i], (float)p);
        else
            g[i] = pow(g[i], p);
}

/* torch averages x^p, so that a window which the edge cuts counts as a whole one. */
static double finish(double average, double kernel, double p) {
    return pow(average * kernel, 1 / p);
}

static fxs_status run_lp(fxs_call *c, int dims) {
    fxs_window window;
    double norm = fxs_arg_float(c, LP_NORM);
    if (!fxs_is_floating(fxs_arg_tensor(c, LP_INPUT)->dtype))
        return fxs_compose_run(c, make_lp);
    FXS_TRY(read_lp(c, dims, &window));
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    fxs_tensor *x = fxs_work_in(&w, fxs_arg_tensor(c, LP_INPUT)), *y = fxs_work_out(&w, c->out[0]);
    int64_t n = x ? fxs_tensor_numel(x) : 0;
    size_t size = fxs_dtype_size(w.dtype);
    void *powers = fxs_work_scratch(&w, n, size);
    if (w.status == FXS_OK) {
        fxs_pooling p = {0};
        memcpy(powers, fxs_tensor_data(x), (size_t)n * size);
        raise_all(w.dtype, n, powers, norm);
        fxs_pooling_sizes(&p, dims, x, y);
        fxs_pooling_slide(&w, &p, &window, true);
        if (w.status == FXS_OK)
            fxs_pooling_average(&w, &p, powers, fxs_tensor_data(y));
        char *out = fxs_tensor_data(y);
        for (int64_t i = 0; w.status == FXS_OK && i < fxs_tensor_numel(y); i++, out += size)
            fxs_store_double(
                w.dtype, out,
                finish(fxs_load_double(w.dtype, out), (double)fxs_volume(window.kernel), norm));
    }
    return fxs_work_end(&w);
}

/* kernel powers and sums, a division and a power for each element of the result */
#define LP(n)                                                                                      \
    static fxs_status infer_lp##n(fxs_call *c) { return infer_lp(c, n); }                          \
    static fxs_status run_lp##n(fxs_call *c) { return run_lp(c, n); }                              \
    static fxs_cost cost_lp##n(const fxs_call *c) { return cost_window(c, LP_KERNEL, n, 2, 2); }
LP(1)
LP(2)

/* ---- rows
 * -------------------------------------------------------------------------------------------------
 */

#define MAX_SCHEMA(n)                                                                              \
    "(Tensor input, int[" #n "] kernel_size, int[" #n "]? stride=None, int[" #n                    \
    "] padding=0, int[" #n "] dilation=1, bool ceil_mode=False, bool return_indices=False) -> "
#define MAX_ROWS(n)                                                                                \
    {.name = "max_pool" #n "d",                                                                    \
     .schema = MAX_SCHEMA(n) "Tensor",                                                             \
     .torch = "torch.nn.functional.max_pool" #n "d torch.max_pool" #n "d",                         \
     .infer = infer_max##n,                                                                        \
     .kernel = run_max##n,                                                                         \
     .cost = cost_max##n,                                                                          \
     .flags = FXS_OP_NO_INPLACE},                                                                  \
    {                                                                                              \
        .name = "max_pool" #n "d_with_indices", .schema = MAX_SCHEMA(n) "(Tensor, Tensor)",        \
        .torch =                                                                                   \
            "torch.nn.functional.max_pool" #n "d_with_indices torch.max_pool" #n "d_with_indices " \
            "torch._C._nn.max_pool" #n "d_with_indices",                                           \
        .infer = infer_max_indices##n, .kernel = run_max##n, .cost = cost_max##n,                  \
        .flags = FXS_OP_NO_INPLACE                                                                 \
    }
#define AVERAGE_ROW(n, more)                                                                       \
    {                                                                                              \
        .name = "avg_pool" #n "d",                                                                 \
        .schema =                                                                                  \
            "(Tensor input, int[" #n "] kernel_size, int[" #n "]? stride=None, int[" #n            \
            "] padding=0, bool ceil_mode=False, bool count_include_pad=True" more ") -> Tensor",   \
        .torch = "torch._C._nn.avg_pool" #n "d torch.avg_pool" #n                                  \
                 "d torch.nn.functional.avg_pool" #n "d",                                          \
        .infer = infer_average##n, .kernel = run_average##n, .cost = cost_average##n,              \
        .flags = FXS_OP_NO_INPLACE                                                                 \
    }
#define LP_ROW(n)                                                                                  \
    {                                                                                              \
        .name = "lp_pool" #n "d",                                                                  \
        .schema = "(Tensor input, Scalar norm_type, int[" #n "] kernel_size, int[" #n              \
                  "]? stride=None, bool ceil_mode=False) -> Tensor",                               \
        .torch = "torch.nn.functional.lp_pool" #n "d", .infer = infer_lp##n, .kernel = run_lp##n,  \
        .cost = cost_lp##n                                                                         \
    }

const fxs_op fxs_ops_pooling[] = {
    MAX_ROWS(1),
    MAX_ROWS(2),
    MAX_ROWS(3),
    AVERAGE_ROW(1, ""),
    AVERAGE_ROW(2, ", int? divisor_override=None"),
    AVERAGE_ROW(3, ", int? divisor_override=None"),
    LP_ROW(1),
    LP_ROW(2),
    {0},
};

#define MAX_LAYER(n)                                                                               \
    {                                                                                              \
        .name = "MaxPool" #n "d",                                                                  \
        .hyper = "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, "         \
                 "ceil_mode=False",                                                                \
        .repr = "kernel_size=, stride|kernel_size=, padding=, dilation=, ceil_mode=",              \
        .call = "max_pool" #n                                                                      \
                "d(input, kernel_size, stride=stride, padding=padding, dilation=dilation, "        \
                "ceil_mode=ceil_mode, return_indices=return_indices)"                              \
    }
#define AVERAGE_LAYER(n, pool_tuple, hyper_more, call_more)                                        \
    {                                                                                              \
        .name = "AvgPool" #n "d",                                                                  \
        .hyper = "kernel_size, stride=None, padding=0, ceil_mode=False, "                          \
                 "count_include_pad=True" hyper_more,                                              \
        .repr = "kernel_size" pool_tuple "=, stride" pool_tuple                                    \
                "|kernel_size=, padding" pool_tuple "=",                                           \
        .call =                                                                                    \
            "avg_pool" #n                                                                          \
            "d(input, kernel_size, stride, padding, ceil_mode, count_include_pad" call_more ")"    \
    }
#define LP_LAYER(n)                                                                                \
    {                                                                                              \
        .name = "LPPool" #n "d", .hyper = "norm_type, kernel_size, stride=None, ceil_mode=False",  \
        .repr = "norm_type=, kernel_size=, stride=, ceil_mode=",                                   \
        .call = "lp_pool" #n "d(input, norm_type, kernel_size, stride, ceil_mode)",                \
        .trace = "torch.nn.functional.lp_pool" #n                                                  \
                 "d(input, norm_type(f), kernel_size, stride, ceil_mode)"                          \
    }

const fxs_module_row fxs_modules_pooling[] = {
    MAX_LAYER(1),
    MAX_LAYER(2),
    MAX_LAYER(3),
    AVERAGE_LAYER(1, "(1)", "", ""),
    AVERAGE_LAYER(2, "", ", divisor_override=None", ", divisor_override"),
    AVERAGE_LAYER(3, "", ", divisor_override=None", ", divisor_override"),
    LP_LAYER(1),
    LP_LAYER(2),
    {0},
};
