/* norm_layer.c: layer_norm and group_norm, and their layers: rows of an input are normalised by
 * their own mean and variance. The row functions are in norm.c. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "kernels/families.h"
#include "kernels/norm.h"

/* Rows of n elements; weight and bias go with the elements (layer_norm) or with blocks of them
 * (group_norm). */
typedef struct job {
    fxs_dtype dtype;
    const void *x, *weight, *bias;
    void *y;
    double eps;
    int64_t n;
    int64_t groups, channels,
        plane; /* of group_norm: n = channels * plane, row r is group r % groups */
} job;

static void row_moments(const job *j, const void *x, double *mean, double *scale) {
    *mean = fxs_row_sum(j->dtype, x, j->n) / (double)j->n;
    *scale = 1 / sqrt(fxs_row_squares(j->dtype, x, j->n, *mean) / (double)j->n + j->eps);
}

static void layer_rows(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    (void)thread;
    for (int64_t r = begin; r < end; r++) {
        const void *x = fxs_from(j->dtype, j->x, r * j->n);
        double mean, scale;
        row_moments(j, x, &mean, &scale);
        fxs_row_affine(j->dtype, x, j->n, mean, scale, j->weight, j->bias,
                       (void *)fxs_from(j->dtype, j->y, r * j->n));
    }
}

static void group_rows(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    (void)thread;
    for (int64_t r = begin; r < end; r++) {
        double mean, scale;
        row_moments(j, fxs_from(j->dtype, j->x, r * j->n), &mean, &scale);
        for (int64_t c = 0; c < j->channels; c++) {
            int64_t at = r * j->n + c * j->plane, channel = r % j->groups * j->channels + c;
            double a = scale * (j->weight ? fxs_at(j->dtype, j->weight, channel) : 1);
            double b = (j->bias ? fxs_at(j->dtype, j->bias, channel) : 0) - mean * a;
            fxs_row_scale(j->dtype, fxs_from(j->dtype, j->x, at), j->plane, a, b,
                          (void *)fxs_from(j->dtype, j->y, at));
        }
    }
}

static fxs_status run_rows(fxs_call *c, fxs_tensor *x, fxs_tensor *weight, fxs_tensor *bias, job *j,
                           fxs_parallel_fn *fn) {
    fxs_work w = fxs_work_begin(c, x->dtype);
    j->dtype = w.dtype;
    j->x = fxs_work_data(&w, x);
    j->weight = fxs_work_data(&w, weight);
    j->bias = fxs_work_data(&w, bias);
    fxs_tensor *y = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK && fxs_tensor_numel(y) > 0) {
        j->y = fxs_tensor_data(y);
        fxs_parallel(c->ctx, fxs_tensor_numel(y) / j->n, 1 + 16384 / j->n, fn, j);
    }
    return fxs_work_end(&w);
}

/* 1 sum for the mean, 3 for the variance, a difference and a product; a product and a sum with
 * weight and bias */
static fxs_cost cost_rows(const fxs_call *c, int weight, int bias) {
    double each = 6 + (fxs_arg_tensor(c, weight) ? 1 : 0) + (fxs_arg_tensor(c, bias) ? 1 : 0);
    return (fxs_cost){.flops = each * (double)fxs_tensor_numel(c->out[0])};
}

/* ---- layer_norm
 * ------------------------------------------------------------------------------------------- */

enum { L_INPUT, L_SHAPE, L_WEIGHT, L_BIAS, L_EPS };

static char *shape_text(int n, const int64_t *shape, char text[FXS_SIZES_TEXT]) {
    fxs_tensor t = {.ndim = n};
    memcpy(t.sizes, shape, (size_t)n * sizeof *shape);
    return fxs_sizes_text(&t, text);
}

static fxs_status check_shape_of(fxs_call *c, const fxs_tensor *t, int n, const int64_t *shape,
                                 const char *name) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (t && (t->ndim != n || memcmp(t->sizes, shape, (size_t)n * sizeof *shape) != 0))
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected %s to be of same shape as normalized_shape, but got %s of shape %s and "
            "normalized_shape = %s",
            name, name, fxs_sizes_text(t, a), shape_text(n, shape, b));
    return FXS_OK;
}

/* *x is the input, or for channels-first layers its view with the channels last. */
static fxs_status check_layer(fxs_call *c, const fxs_tensor *x) {
    int64_t shape[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, L_SHAPE, shape, FXS_MAX_DIM);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    if (n < 1 || n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_EINVAL, "expected normalized_shape to be at least 1-dimensional");
    if (x->ndim < n || memcmp(x->sizes + x->ndim - n, shape, (size_t)n * sizeof *shape) != 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "given normalized_shape=%s, expected input with that shape at its end, "
                          "but got input of shape %s",
                          shape_text(n, shape, b), fxs_sizes_text(x, a));
    FXS_TRY(check_shape_of(c, fxs_arg_tensor(c, L_WEIGHT), n, shape, "weight"));
    FXS_TRY(check_shape_of(c, fxs_arg_tensor(c, L_BIAS), n, shape, "bias"));
    FXS_TRY(fxs_check_norm_dtype(c, x, fxs_arg_tensor(c, L_WEIGHT), "weight"));
    return fxs_check_norm_dtype(c, x, fxs_arg_tensor(c, L_BIAS), "bias");
}

static fxs_status infer_layer(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, L_INPUT);
    FXS_TRY(check_layer(c, x));
    return fxs_out_new(c, x->dtype, x->ndim, x->sizes, NULL);
}

static int64_t row_length(const fxs_call *c) {
    int64_t shape[FXS_MAX_DIM], n = 1;
    int dims = fxs_arg_ints(c, L_SHAPE, shape, FXS_MAX_DIM);
    for (int i = 0; i < dims; i++)
        n *= shape[i];
    return n;
}

static fxs_status run_layer(fxs_call *c) {
    job j = {.eps = fxs_arg_float(c, L_EPS), .n = row_length(c)};
    return run_rows(c, fxs_arg_tensor(c, L_INPUT), fxs_arg_tensor(c, L_WEIGHT),
                    fxs_arg_tensor(c, L_BIAS), &j, layer_rows);
}

static fxs_cost cost_layer(const fxs_call *c) { return cost_rows(c, L_WEIGHT, L_BIAS); }

/* ---- layer_norm over the channels of [N, C, H, W] (torchvision's LayerNorm2d)
 * ----------------------------- */

/* [N, C, H, W] seen as [N, H, W, C] */
static fxs_tensor channels_behind(const fxs_tensor *t) {
    static const int order[] = {0, 2, 3, 1};
    fxs_tensor v = *t;
    for (int i = 0; i < 4; i++)
        v.sizes[i] = t->sizes[order[i]], v.strides[i] = t->strides[order[i]];
    return v;
}

static fxs_status infer_channels(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, L_INPUT);
    char text[FXS_SIZES_TEXT];
    if (x->ndim != 4)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected 4D input, but got input of shape %s",
                          fxs_sizes_text(x, text));
    fxs_tensor view = channels_behind(x);
    FXS_TRY(check_layer(c, &view));
    return fxs_out_format(c, x->dtype, 4, x->sizes, true);
}

static fxs_status run_channels(fxs_call *c) {
    fxs_tensor x = channels_behind(fxs_arg_tensor(c, L_INPUT)), y = channels_behind(c->out[0]),
               *out = &y;
    job j = {.eps = fxs_arg_float(c, L_EPS), .n = row_length(c)};
    fxs_call inner = *c;
    inner.out = &out;
    return run_rows(&inner, &x, fxs_arg_tensor(c, L_WEIGHT), fxs_arg_tensor(c, L_BIAS), &j,
                    layer_rows);
}

/* ---- group_norm
 * ------------------------------------------------------------------------------------------- */

enum { G_INPUT, G_GROUPS, G_WEIGHT, G_BIAS, G_EPS };

static fxs_status infer_group(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, G_INPUT);
    int64_t groups = fxs_arg_int(c, G_GROUPS);
    char text[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    if (x->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected at least 2D input, but got input of shape %s",
                          fxs_sizes_text(x, text));
    if (groups < 1 || x->sizes[1] % groups != 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected number of channels in input to be divisible by num_groups, but "
                          "got input of shape %s "
                          "and num_groups=%lld",
                          fxs_sizes_text(x, text), (long long)groups);
    FXS_TRY(fxs_check_vector(c, fxs_arg_tensor(c, G_WEIGHT), x->sizes[1], "weight"));
    FXS_TRY(fxs_check_vector(c, fxs_arg_tensor(c, G_BIAS), x->sizes[1], "bias"));
    FXS_TRY(fxs_check_norm_dtype(c, x, fxs_arg_tensor(c, G_WEIGHT), "weight"));
    FXS_TRY(fxs_check_norm_dtype(c, x, fxs_arg_tensor(c, G_BIAS), "bias"));
    if (fxs_is_functional(c) && fxs_tensor_numel(x) > 0 && fxs_tensor_numel(x) == groups)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected more than 1 value per channel when training, but got input of shape %s",
            fxs_sizes_text(x, text));
    return fxs_out_format(c, x->dtype, x->ndim, x->sizes, fxs_suggests_channels_last(x));
}

static fxs_status run_group(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, G_INPUT);
    job j = {.eps = fxs_arg_float(c, G_EPS), .groups = fxs_arg_int(c, G_GROUPS), .plane = 1};
    j.channels = x->sizes[1] / j.groups;
    for (int i = 2; i < x->ndim; i++)
        j.plane *= x->sizes[i];
    j.n = j.channels * j.plane;
    return run_rows(c, x, fxs_arg_tensor(c, G_WEIGHT), fxs_arg_tensor(c, G_BIAS), &j, group_rows);
}

static fxs_cost cost_group(const fxs_call *c) { return cost_rows(c, G_WEIGHT, G_BIAS); }

#define LAYER_SCHEMA                                                                               \
    "(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "        \
    "eps=1e-05, "                                                                                  \
    "bool cudnn_enable=True) -> Tensor"

const fxs_op fxs_ops_norm_layer[] = {
    {.name = "layer_norm",
     .schema = LAYER_SCHEMA,
     .torch = "torch.nn.functional.layer_norm torch.layer_norm",
     .infer = infer_layer,
     .kernel = run_layer,
     .cost = cost_layer,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_OVER_INPUT},
    {.name = "layer_norm2d",
     .schema = LAYER_SCHEMA,
     .infer = infer_channels,
     .kernel = run_channels,
     .cost = cost_layer},
    {.name = "group_norm",
     .schema =
         "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
         "bool cudnn_enabled=True) -> Tensor",
     .torch = "torch.nn.functional.group_norm torch.group_norm",
     .infer = infer_group,
     .kernel = run_group,
     .cost = cost_group,
     .flags = FXS_OP_NO_INPLACE},
    {0},
};

#define LAYER_ROW(title, op)                                                                       \
    {                                                                                              \
        .name = title, .hyper = "normalized_shape, eps=1e-05, elementwise_affine=True",            \
        .state = "weight[*normalized_shape] = ones if elementwise_affine; "                        \
                 "bias[*normalized_shape] = zeros if elementwise_affine",                          \
        .repr = "normalized_shape(1), eps=, elementwise_affine=",                                  \
        .call = op "(input, normalized_shape, weight, bias, eps)"                                  \
    }

const fxs_module_row fxs_modules_norm_layer[] = {
    LAYER_ROW("LayerNorm", "layer_norm"),
    LAYER_ROW("LayerNorm2d", "layer_norm2d"),
    {.name = "GroupNorm",
     .hyper = "num_groups, num_channels, eps=1e-05, affine=True",
     .state = "weight[num_channels] = ones if affine; bias[num_channels] = zeros if affine",
     .repr = "num_groups, num_channels, eps=, affine=",
     .call = "group_norm(input, num_groups, weight, bias, eps)"},
    {0},
};
