/* norm_local.c: local_response_norm, which divides each element by a power of its neighbour
 * channels' mean square, and normalize, which divides by the norm along a dimension; with the layer
 * of the first. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/norm.h"

/* ---- local_response_norm
 * ---------------------------------------------------------------------------------- */

enum { INPUT, SIZE, ALPHA, BETA, K };

/* int64 is pooled as it is, and divides as float32. */
static fxs_dtype computed_type(const fxs_tensor *x) {
    return x->dtype == FXS_INT64 ? FXS_FLOAT32 : x->dtype;
}

/* [N, C, L] as [N, 1, C, L], or [N, C, H, ...] as [N, 1, C, H, W] */
static fxs_tensor *in_one_channel(fxs_compose *k, const fxs_tensor *x, fxs_tensor *t) {
    if (x->ndim == 3)
        return FXS_DO(k, "unsqueeze", fxs_t(t), fxs_int(1));
    return FXS_DO(k, "reshape", fxs_t(t),
                  FXS_INTS(k, x->sizes[0], 1, x->sizes[1], x->sizes[2], -1));
}

/* PyTorch's steps, which decide the strides: a pool of `size` channels of the squares, by which the
 * input is divided. */
static void make_local(fxs_compose *k) {
    fxs_tensor *x = fxs_arg_tensor(k->call, INPUT), *square = FXS_DO(k, "mul", fxs_t(x), fxs_t(x));
    int64_t size = fxs_arg_int(k->call, SIZE), before = size / 2, behind = (size - 1) / 2;
    fxs_tensor *mean = in_one_channel(k, x, square);
    mean = FXS_DO(k, "pad", fxs_t(mean),
                  x->ndim == 3 ? FXS_INTS(k, 0, 0, before, behind)
                               : FXS_INTS(k, 0, 0, 0, 0, before, behind));
    mean = x->ndim == 3 ? FXS_DO(k, "avg_pool2d", fxs_t(mean), FXS_INTS(k, size, 1), fxs_int(1))
                        : FXS_DO(k, "avg_pool3d", fxs_t(mean), FXS_INTS(k, size, 1, 1), fxs_int(1));
    mean = FXS_DO(k, "squeeze", fxs_t(mean), fxs_int(1));
    if (x->ndim > 3)
        mean = FXS_DO(k, "reshape", fxs_t(mean), fxs_ints(k, x->ndim, x->sizes));
    mean = FXS_DO(k, "mul", fxs_t(mean), k->call->arg[ALPHA]);
    fxs_give(k, FXS_DO(k, "div", fxs_t(x), fxs_t(mean)));
}

static fxs_status infer_local(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    char text[FXS_SIZES_TEXT];
    if (fxs_tensor_numel(x) && x->dtype != FXS_INT64)
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    for (int i = ALPHA; fxs_tensor_numel(x) && i <= K; i++)
        if (c->arg[i].tag != FXS_V_FLOAT && c->arg[i].tag != FXS_V_INT &&
            c->arg[i].tag != FXS_V_BOOL)
            return FXS_REFUSE(c, FXS_ETYPE, "alpha, beta and k must be numbers, not %s",
                              fxs_value_type_name(&c->arg[i]));
    if (x->ndim < 3)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected 3D or higher dimensionality input, but got input of shape %s",
                          fxs_sizes_text(x, text));
    if (fxs_tensor_numel(x) == 0)
        return fxs_out_same(c, fxs_arg_tensor(c, INPUT));
    if (c->arg[SIZE].tag != FXS_V_INT)
        return FXS_REFUSE(c, FXS_ETYPE, "size must be an int, not %s",
                          fxs_value_type_name(&c->arg[SIZE]));
    if (fxs_arg_int(c, SIZE) < 1)
        return FXS_REFUSE(c, FXS_EINVAL, "size should be greater than zero, but got %lld",
                          (long long)fxs_arg_int(c, SIZE));
    return fxs_compose_infer(c, make_local);
}

/* The window is size / 2 channels before and (size - 1) / 2 behind; channels outside count as 0. */
static void respond(const fxs_call *c, fxs_dtype d, const void *x, int64_t channels, int64_t plane,
                    int64_t i, char *y) {
    int64_t size = fxs_arg_int(c, SIZE), channel = i / plane % channels;
    int64_t from = channel - size / 2, to = from + size;
    double sum = 0;
    for (int64_t k = from > 0 ? from : 0; k < (to < channels ? to : channels); k++) {
        double v = fxs_at(d, x, i + (k - channel) * plane);
        sum += v * v;
    }
    sum /= (double)size;
    if (fxs_arg_tensor(c, INPUT)->dtype == FXS_INT64)
        sum = trunc(sum);
    double divisor =
        pow(fxs_arg_float(c, K) + fxs_arg_float(c, ALPHA) * sum, fxs_arg_float(c, BETA));
    fxs_store_double(d, y, fxs_at(d, x, i) / divisor);
}

static fxs_status run_local(fxs_call *c) {
    fxs_tensor *input = fxs_arg_tensor(c, INPUT);
    fxs_work w = fxs_work_begin(c, computed_type(input));
    const void *x = fxs_work_data(&w, input);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    int64_t plane = 1, n = fxs_tensor_numel(input);
    for (int i = 2; i < input->ndim; i++)
        plane *= input->sizes[i];
    char *y = w.status == FXS_OK ? fxs_tensor_data(out) : NULL;
    for (int64_t i = 0; y && i < n; i++)
        respond(c, w.dtype, x, input->sizes[1], plane, i, y + i * (int64_t)fxs_dtype_size(w.dtype));
    return fxs_work_end(&w);
}

/* size squares and sums, then a division, a product, a sum, a power and a division */
static fxs_cost cost_local(const fxs_call *c) {
    return (fxs_cost){.flops = (2 * (double)fxs_arg_int(c, SIZE) + 5) *
                               (double)fxs_tensor_numel(c->out[0])};
}

/* ---- normalize
 * -------------------------------------------------------------------------------------------- */

enum { N_INPUT, N_P, N_DIM, N_EPS, N_OUT };

/* None and 'fro' are 2. */
static double order_of(const fxs_call *c) {
    const fxs_value *p = &c->arg[N_P];
    return p->tag == FXS_V_INT || p->tag == FXS_V_FLOAT ? fxs_arg_float(c, N_P) : 2;
}

/* PyTorch's steps, which decide the strides; complex numbers are computed so, too. */
static void make_normalize(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_tensor *norm = FXS_DO(k, "norm", a[N_INPUT], a[N_P], a[N_DIM], fxs_bool(true));
    norm = FXS_DO(k, "clamp_min", fxs_t(norm), a[N_EPS]);
    norm = FXS_DO(k, "expand_as", fxs_t(norm), a[N_INPUT]);
    fxs_give(k, FXS_DO(k, "div", a[N_INPUT], fxs_t(norm)));
}

static fxs_status infer_normalize(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, N_INPUT);
    int dim;
    if (fxs_value_text(&c->arg[N_P]) && strcmp(fxs_value_text(&c->arg[N_P]), "fro") != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "the norm '%s' is not known",
                          fxs_value_text(&c->arg[N_P]));
    if (!fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, N_DIM), x->ndim, &dim));
    return fxs_compose_infer(c, make_normalize);
}

/* The p-norm of n elements, `step` apart. */
static double norm_of(fxs_dtype d, const void *x, int64_t n, int64_t step, double p) {
    double sum = 0, most = 0, least = INFINITY;
    int64_t nonzero = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = fabs(fxs_at(d, x, i * step));
        sum += p == 2 ? v * v : p == 1 ? v : isinf(p) || p == 0 ? 0 : pow(v, p);
        most = v > most || isnan(v) ? v : most;
        least = v < least || isnan(v) ? v : least;
        nonzero += v != 0;
    }
    if (isinf(p))
        return p > 0 ? most : least;
    return p == 0 ? (double)nonzero : p == 2 ? sqrt(sum) : p == 1 ? sum : pow(sum, 1 / p);
}

static fxs_status run_normalize(fxs_call *c) {
    fxs_tensor *input = fxs_arg_tensor(c, N_INPUT);
    if (fxs_is_complex(input->dtype))
        return fxs_compose_run(c, make_normalize);
    fxs_work w = fxs_work_begin(c, input->dtype);
    const void *x = fxs_work_data(&w, input);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    int dim = 0;
    int64_t step = 1, all = fxs_tensor_numel(input);
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, N_DIM), input->ndim, &dim));
    for (int i = dim + 1; i < input->ndim; i++)
        step *= input->sizes[i];
    int64_t n = input->ndim ? input->sizes[dim] : 1;
    char *y = w.status == FXS_OK ? fxs_tensor_data(out) : NULL;
    size_t size = fxs_dtype_size(w.dtype);
    for (int64_t r = 0; y && all > 0 && r < all / n; r++) {
        int64_t at = r / step * step * n + r % step;
        double norm = norm_of(w.dtype, fxs_from(w.dtype, x, at), n, step, order_of(c));
        double eps = fxs_arg_float(c, N_EPS), divisor = norm < eps ? eps : norm;
        for (int64_t i = 0; i < n; i++)
            fxs_store_double(w.dtype, y + (size_t)(at + i * step) * size,
                             fxs_at(w.dtype, x, at + i * step) / divisor);
    }
    return fxs_work_end(&w);
}

/* a power, a sum and a division an element */
static fxs_cost cost_normalize(const fxs_call *c) {
    return (fxs_cost){.flops = 3 * (double)fxs_tensor_numel(c->out[0])};
}

const fxs_op fxs_ops_norm_local[] = {
    {.name = "local_response_norm",
     .schema =
         "(Tensor input, int|bool? size, any alpha=0.0001, any beta=0.75, any k=1.0) -> Tensor",
     .torch = "torch.nn.functional.local_response_norm",
     .infer = infer_local,
     .kernel = run_local,
     .cost = cost_local},
    {.name = "normalize",
     .schema =
         "(Tensor input, number|str? p=2.0, int dim=1, float eps=1e-12, any out=None) -> Tensor",
     .torch = "torch.nn.functional.normalize",
     .infer = infer_normalize,
     .kernel = run_normalize,
     .cost = cost_normalize,
     .flags = FXS_OP_COMPLEX},
    {0},
};

const fxs_module_row fxs_modules_norm_local[] = {
    {.name = "LocalResponseNorm",
     .hyper = "size, alpha=0.0001, beta=0.75, k=1.0",
     .repr = "size, alpha=, beta=, k=",
     .call = "local_response_norm(input, size, alpha, beta, k)"},
    {0},
};
