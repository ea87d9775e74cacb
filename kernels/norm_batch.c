/* norm_batch.c: batch_norm and instance_norm, and their layers: every channel is normalised by
 * statistics that are given, taken over the batch, or taken from each image. Running statistics are
 * read and never written: a run leaves the model as it was. The row functions are in norm.c. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/norm.h"

/* The two functions' arguments in one order. */
typedef struct batch {
    fxs_tensor *x, *mean, *var, *weight, *bias;
    bool own;       /* statistics come from the input */
    bool per_image; /* of each image alone */
    double eps;
    int64_t images, channels, plane;
} batch;

enum { INPUT, MEAN, VAR, WEIGHT, BIAS, TRAINING, MOMENTUM, EPS, TRACK, RANK };
enum { T_WEIGHT = 1, T_BIAS, T_MEAN, T_VAR };

static void read_sizes(batch *b) {
    b->images = b->x->ndim > 0 ? b->x->sizes[0] : 1;
    b->channels = b->x->ndim > 1 ? b->x->sizes[1] : 0;
    b->plane = 1;
    for (int i = 2; i < b->x->ndim; i++)
        b->plane *= b->x->sizes[i];
}

/* Of any shape. */
static fxs_status check_elements(fxs_call *c, const fxs_tensor *t, int64_t n, const char *name) {
    return t && fxs_tensor_numel(t) == n ? FXS_OK : fxs_check_vector(c, t, n, name);
}

/* All of the input's type, or all of float32 beside a small float. */
static fxs_status check_types(fxs_call *c, const batch *b) {
    static const char *const names[] = {"running_mean", "running_var", "weight", "bias"};
    const fxs_tensor *t[] = {b->mean, b->var, b->weight, b->bias};
    bool mixed = false;
    for (int i = 0; i < 4; i++) {
        FXS_TRY(fxs_check_norm_dtype(c, b->x, t[i], names[i]));
        mixed = mixed || (t[i] && t[i]->dtype != b->x->dtype);
    }
    for (int i = 0; i < 4; i++)
        if (mixed && t[i] && t[i]->dtype != FXS_FLOAT32)
            return FXS_REFUSE(c, FXS_ETYPE,
                              "mixed types: expected %s of type float32 as another parameter, but "
                              "got %s",
                              names[i], fxs_dtype_name(t[i]->dtype));
    return FXS_OK;
}

static fxs_status check(fxs_call *c, const batch *b) {
    char text[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, b->x, FXS_TAKES_FLOATS));
    if (b->x->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected at least 2D input, but got input of shape %s",
                          fxs_sizes_text(b->x, text));
    FXS_TRY(fxs_check_vector(c, b->mean, b->channels, "running_mean"));
    FXS_TRY(fxs_check_vector(c, b->var, b->channels, "running_var"));
    FXS_TRY(check_elements(c, b->weight, b->channels, "weight"));
    FXS_TRY(check_elements(c, b->bias, b->channels, "bias"));
    if ((b->mean && b->mean->requires_grad) || (b->var && b->var->requires_grad))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "is not differentiable with respect to running_mean and running_var, but "
                          "one requires grad");
    FXS_TRY(check_types(c, b));
    if (b->own && b->per_image && b->channels > 1 &&
        ((b->mean && b->mean->strides[0] == 0) || (b->var && b->var->strides[0] == 0)))
        return FXS_REFUSE(c, FXS_EINVAL, "stretched running statistics can't be written");
    if (!b->own && (!b->mean || !b->var))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "running_mean and running_var must be defined in evaluation mode");
    int64_t values = b->per_image ? b->plane : b->plane * b->images;
    if (b->own && values == 1 && fxs_is_functional(c))
        return FXS_REFUSE(
            c, FXS_ESHAPE, "expected more than 1 %s when training, but got input of shape %s",
            b->per_image ? "spatial element" : "value per channel", fxs_sizes_text(b->x, text));
    return FXS_OK;
}

/* ---- the kernel
 * ------------------------------------------------------------------------------------------- */

typedef struct job {
    const batch *b;
    fxs_dtype dtype;
    const void *x, *mean, *var, *weight, *bias;
    void *y;
} job;

static const void *plane_of(const job *j, const void *p, int64_t image, int64_t channel) {
    return fxs_from(j->dtype, p, (image * j->b->channels + channel) * j->b->plane);
}

/* Mean and variance of one channel over images first..last-1. */
static void moments(const job *j, int64_t channel, int64_t first, int64_t last, double *mean,
                    double *var) {
    double sum = 0, squares = 0, n = (double)(last - first) * (double)j->b->plane;
    for (int64_t i = first; i < last; i++)
        sum += fxs_row_sum(j->dtype, plane_of(j, j->x, i, channel), j->b->plane);
    *mean = sum / n;
    for (int64_t i = first; i < last; i++)
        squares += fxs_row_squares(j->dtype, plane_of(j, j->x, i, channel), j->b->plane, *mean);
    *var = squares / n;
}

static void scale_planes(const job *j, int64_t channel, int64_t first, int64_t last, double mean,
                         double var) {
    double scale = (j->weight ? fxs_at(j->dtype, j->weight, channel) : 1) / sqrt(var + j->b->eps);
    double shift = (j->bias ? fxs_at(j->dtype, j->bias, channel) : 0) - mean * scale;
    for (int64_t i = first; i < last; i++)
        fxs_row_scale(j->dtype, plane_of(j, j->x, i, channel), j->b->plane, scale, shift,
                      (void *)plane_of(j, j->y, i, channel));
}

/* Items are channels where statistics come from the batch, and planes otherwise. */
static void run_items(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        bool whole = j->b->own && !j->b->per_image;
        int64_t channel = whole ? i : i % j->b->channels, first = whole ? 0 : i / j->b->channels;
        int64_t last = whole ? j->b->images : first + 1;
        double mean, var;
        if (j->b->own) {
            moments(j, channel, first, last, &mean, &var);
        } else {
            mean = fxs_at(j->dtype, j->mean, channel);
            var = fxs_at(j->dtype, j->var, channel);
        }
        scale_planes(j, channel, first, last, mean, var);
    }
}

static fxs_status run(fxs_call *c, const batch *b) {
    fxs_work w = fxs_work_begin(c, b->x->dtype);
    job j = {.b = b, .dtype = w.dtype};
    j.x = fxs_work_data(&w, b->x);
    j.mean = fxs_work_data(&w, b->mean);
    j.var = fxs_work_data(&w, b->var);
    j.weight = fxs_work_data(&w, b->weight);
    j.bias = fxs_work_data(&w, b->bias);
    fxs_tensor *y = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK && fxs_tensor_numel(y) > 0) {
        j.y = fxs_tensor_data(y);
        bool whole = b->own && !b->per_image;
        fxs_parallel(c->ctx, whole ? b->channels : b->images * b->channels, 1 + 16384 / b->plane,
                     run_items, &j);
    }
    return fxs_work_end(&w);
}

/* ---- batch_norm
 * ------------------------------------------------------------------------------------------- */

/* Of nothing PyTorch makes a copy, times the first weight, plus the first bias. */
static void make_nothing(fxs_compose *k) {
    fxs_call *c = k->call;
    bool builtin = c->spelling && strcmp(c->spelling, "torch.batch_norm") == 0;
    fxs_tensor *x = FXS_DO(k, "clone", fxs_t(fxs_arg_tensor(c, INPUT)));
    fxs_tensor *part[] = {fxs_arg_tensor(c, builtin ? T_WEIGHT : WEIGHT),
                          fxs_arg_tensor(c, builtin ? T_BIAS : BIAS)};
    for (int i = 0; i < 2; i++)
        if (part[i])
            x = FXS_DO(k, i == 0 ? "mul" : "add", fxs_t(x),
                       fxs_t(FXS_DO(k, "select", fxs_t(part[i]), fxs_int(0), fxs_int(0))));
    fxs_give(k, x);
}

static bool has_nothing(const batch *b) {
    return b->x->ndim > 1 && fxs_tensor_numel(b->x) == 0 && !b->per_image;
}

/* torch keeps channels_last where nothing says contiguous; of volumes where their strides say so.
 */
static fxs_status infer_batch(fxs_call *c, const batch *b) {
    if (has_nothing(b))
        return fxs_compose_infer(c, make_nothing);
    FXS_TRY(check(c, b));
    bool last = !fxs_tensor_is_contiguous(b->x) &&
                ((b->x->ndim == 4 && fxs_tensor_is_channels_last(b->x)) ||
                 fxs_suggests_channels_last(b->x));
    return fxs_out_format(c, b->x->dtype, b->x->ndim, b->x->sizes, last);
}

static batch read_functional(const fxs_call *c) {
    batch b = {.x = fxs_arg_tensor(c, INPUT),
               .mean = fxs_arg_tensor(c, MEAN),
               .var = fxs_arg_tensor(c, VAR),
               .weight = fxs_arg_tensor(c, WEIGHT),
               .bias = fxs_arg_tensor(c, BIAS),
               .own = fxs_arg_bool(c, TRAINING) || (c->nargs > TRACK && !fxs_arg_bool(c, TRACK)),
               .eps = fxs_arg_float(c, EPS)};
    read_sizes(&b);
    return b;
}

static batch read_builtin(const fxs_call *c) {
    batch b = {.x = fxs_arg_tensor(c, INPUT),
               .weight = fxs_arg_tensor(c, T_WEIGHT),
               .bias = fxs_arg_tensor(c, T_BIAS),
               .mean = fxs_arg_tensor(c, T_MEAN),
               .var = fxs_arg_tensor(c, T_VAR),
               .own = fxs_arg_bool(c, TRAINING),
               .eps = fxs_arg_float(c, EPS)};
    read_sizes(&b);
    return b;
}

/* The layers know how many dimensions they want: RANK, or for BatchNorm1d's 3 also one less. */
static fxs_status check_rank(fxs_call *c, const batch *b) {
    int64_t rank = c->nargs > RANK ? fxs_arg_int(c, RANK) : 0;
    char text[FXS_SIZES_TEXT];
    if (rank == 0 || b->x->ndim == rank || (rank == 3 && b->x->ndim == 2))
        return FXS_OK;
    return FXS_REFUSE(c, FXS_ESHAPE, "expected %s%lldD input, but got %dD input of shape %s",
                      rank == 3 ? "2D or " : "", (long long)rank, b->x->ndim,
                      fxs_sizes_text(b->x, text));
}

static fxs_status infer_functional(fxs_call *c) {
    batch b = read_functional(c);
    FXS_TRY(check_rank(c, &b));
    return infer_batch(c, &b);
}

static fxs_status run_functional(fxs_call *c) {
    batch b = read_functional(c);
    return has_nothing(&b) ? FXS_OK : run(c, &b);
}

static fxs_status infer_builtin(fxs_call *c) {
    batch b = read_builtin(c);
    return infer_batch(c, &b);
}

static fxs_status run_builtin(fxs_call *c) {
    batch b = read_builtin(c);
    return has_nothing(&b) ? FXS_OK : run(c, &b);
}

/* a product and a sum an element; with statistics of its own also a sum for the mean, and a
 * difference, a product and a sum for the variance */
static fxs_cost cost_batch(const fxs_call *c) {
    double n = (double)fxs_tensor_numel(c->out[0]);
    bool own = fxs_arg_bool(c, TRAINING) || (c->nargs > TRACK && !fxs_arg_bool(c, TRACK));
    return (fxs_cost){.flops = (own ? 6 : 2) * n};
}

/* ---- instance_norm
 * ---------------------------------------------------------------------------------------- */

static batch read_instance(const fxs_call *c) {
    batch b = read_functional(c);
    bool given = b.mean && b.var;
    b.own = fxs_arg_bool(c, TRAINING) || (c->nargs > TRACK && !given);
    b.per_image = true;
    return b;
}

/* Layers take images without a batch too: [C, ...] is one image. */
static fxs_status add_batch(fxs_call *c, batch *b, fxs_tensor *image) {
    int64_t rank = c->nargs > RANK ? fxs_arg_int(c, RANK) : 0;
    char text[FXS_SIZES_TEXT];
    if (rank == 0 || b->x->ndim == rank)
        return FXS_OK;
    if (b->x->ndim != rank - 1)
        return FXS_REFUSE(
            c, FXS_ESHAPE, "expected %lldD or %lldD input, but got %dD input of shape %s",
            (long long)rank - 1, (long long)rank, b->x->ndim, fxs_sizes_text(b->x, text));
    *image = *b->x;
    for (int i = image->ndim++; i > 0; i--)
        image->sizes[i] = b->x->sizes[i - 1], image->strides[i] = b->x->strides[i - 1];
    image->sizes[0] = 1;
    b->x = image;
    read_sizes(b);
    return FXS_OK;
}

/* Of no elements batch_norm's rule for nothing holds, whatever the types. */
static bool has_no_elements(const batch *b) {
    return b->x->ndim > 1 && fxs_tensor_numel(b->x) == 0;
}

static fxs_status check_no_elements(fxs_call *c, const batch *b) {
    const fxs_tensor *running[] = {b->mean, b->var};
    if (!b->own && !(b->mean && b->var))
        return check(c, b);
    for (int i = 0; i < 2; i++) /* their means over the images are written back */
        if (running[i] && (!fxs_is_floating(running[i]->dtype) || running[i]->ndim != 1 ||
                           running[i]->sizes[0] != b->channels))
            return FXS_REFUSE(c, FXS_ESHAPE, "expected %s of %lld floats",
                              i == 0 ? "running_mean" : "running_var", (long long)b->channels);
    return FXS_OK;
}

static fxs_status infer_instance(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    batch b = read_instance(c);
    fxs_tensor image;
    FXS_TRY(add_batch(c, &b, &image));
    FXS_TRY(has_no_elements(&b) ? check_no_elements(c, &b) : check(c, &b));
    for (int i = INPUT + 1; i <= INPUT + 4; i++) /* each is repeated for every image */
        if (fxs_arg_tensor(c, i) && fxs_arg_tensor(c, i)->ndim > 1)
            return FXS_REFUSE(c, FXS_ESHAPE, "argument %d has %d dimensions, not one", i,
                              fxs_arg_tensor(c, i)->ndim);
    if (b.images * b.channels == 0 && (b.weight || b.bias))
        return FXS_REFUSE(c, FXS_EINDEX, "of no channels there is no first weight");
    if (has_no_elements(&b)) {
        FXS_TRY(fxs_compose_infer(c, make_nothing));
        if (b.images != 1) /* which are laid out as channels; one is copied as it is */
            fxs_strides_of(x->ndim, x->sizes, NULL, c->out[0]->strides);
        return FXS_OK;
    }
    return fxs_out_new(c, x->dtype, x->ndim, x->sizes, NULL);
}

static fxs_status run_instance(fxs_call *c) {
    batch b = read_instance(c);
    fxs_tensor image;
    FXS_TRY(add_batch(c, &b, &image));
    return has_no_elements(&b) ? FXS_OK : run(c, &b);
}

static fxs_cost cost_instance(const fxs_call *c) {
    batch b = read_instance(c);
    return (fxs_cost){.flops = (b.own ? 6 : 2) * (double)fxs_tensor_numel(c->out[0])};
}

/* ---- rows
 * -------------------------------------------------------------------------------------------------
 */

#define BATCH_SCHEMA(momentum)                                                                     \
    "(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? "      \
    "bias=None, "                                                                                  \
    "bool training=False, " momentum " momentum=0.1, float eps=1e-05"
#define INSTANCE_SCHEMA                                                                            \
    "(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, "    \
    "Tensor? bias=None, "                                                                          \
    "bool use_input_stats=True, float momentum=0.1, float eps=1e-05"
/* What layers alone say; their rows come first, as layers look operators up by name. */
#define LAYER_SCHEMA ", *, bool track_running_stats, int rank) -> Tensor"

const fxs_op fxs_ops_norm_batch[] = {
    {.name = "batch_norm",
     .schema = BATCH_SCHEMA("float?") LAYER_SCHEMA,
     .infer = infer_functional,
     .kernel = run_functional,
     .cost = cost_batch,
     .flags = FXS_OP_OVER_INPUT},
    {.name = "batch_norm",
     .schema = BATCH_SCHEMA("float") ") -> Tensor",
     .torch = "torch.nn.functional.batch_norm",
     .infer = infer_functional,
     .kernel = run_functional,
     .cost = cost_batch,
     .flags = FXS_OP_OVER_INPUT},
    {.name = "batch_norm",
     .schema = "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, "
               "float momentum, float eps, bool cudnn_enabled=True) -> Tensor",
     .torch = "torch.batch_norm",
     .infer = infer_builtin,
     .kernel = run_builtin,
     .cost = cost_batch,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_OVER_INPUT},
    {.name = "instance_norm",
     .schema = INSTANCE_SCHEMA LAYER_SCHEMA,
     .infer = infer_instance,
     .kernel = run_instance,
     .cost = cost_instance,
     .flags = FXS_OP_OVER_INPUT},
    {.name = "instance_norm",
     .schema = INSTANCE_SCHEMA ") -> Tensor",
     .torch = "torch.nn.functional.instance_norm",
     .infer = infer_instance,
     .kernel = run_instance,
     .cost = cost_instance,
     .flags = FXS_OP_OVER_INPUT},
    {0},
};

#define NORM_STATE                                                                                 \
    "weight[num_features] = ones if affine; bias[num_features] = zeros if affine; "                \
    "buffer running_mean[num_features] = zeros if track_running_stats; "                           \
    "buffer running_var[num_features] = ones if track_running_stats; "                             \
    "buffer int64 num_batches_tracked[] = zeros if track_running_stats"
#define BATCH_LAYER(title, rank)                                                                   \
    {                                                                                              \
        .name = title,                                                                             \
        .hyper = "num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True",   \
        .state = NORM_STATE,                                                                       \
        .repr = "num_features, eps=, momentum=, affine=, track_running_stats=",                    \
        .call = "batch_norm(input, running_mean, running_var, weight, bias, training=training, "   \
                "momentum=momentum, "                                                              \
                "eps=eps, track_running_stats=track_running_stats, rank=" rank ")",                \
        .trace = "torch.nn.functional.batch_norm(input, running_mean, running_var, weight, bias, " \
                 "training, momentum, eps)"                                                        \
    }
#define INSTANCE_LAYER(title, rank)                                                                \
    {                                                                                              \
        .name = title,                                                                             \
        .hyper = "num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False", \
        .state = NORM_STATE,                                                                       \
        .repr = "num_features, eps=, momentum=, affine=, track_running_stats=",                    \
        .call =                                                                                    \
            "instance_norm(input, running_mean, running_var, weight, bias, "                       \
            "use_input_stats=training, "                                                           \
            "momentum=momentum, eps=eps, track_running_stats=track_running_stats, rank=" rank ")", \
        .trace = "torch.nn.functional.instance_norm(input, running_mean, running_var, weight, "    \
                 "bias, training, momentum, eps)"                                                  \
    }

const fxs_module_row fxs_modules_norm_batch[] = {
    BATCH_LAYER("BatchNorm1d", "3"),       BATCH_LAYER("BatchNorm2d", "4"),
    BATCH_LAYER("BatchNorm3d", "5"),       BATCH_LAYER("SyncBatchNorm", "0"),
    INSTANCE_LAYER("InstanceNorm1d", "3"), INSTANCE_LAYER("InstanceNorm2d", "4"),
    INSTANCE_LAYER("InstanceNorm3d", "5"), {0},
};
