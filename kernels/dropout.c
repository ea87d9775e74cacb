/* dropout.c: dropout, dropout1d/2d/3d, the alpha dropouts, torchvision's stochastic depth, rrelu,
 * and Identity. Outside training all of them give their input itself; in training masks are drawn
 * from the call's seed, so that a run is repeatable, but not PyTorch's numbers. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "op/module_row.h"

/* Where the argument `training` and the probability stand in a schema, and over what one draw
 * spreads. */
typedef enum spread { EACH, ROWS, CHANNELS, BATCH } spread;

static bool draws(const fxs_call *c) { return fxs_arg_float(c, 1) != 0 && fxs_arg_bool(c, 2); }

static fxs_status check_probability(fxs_call *c) {
    double p = fxs_arg_float(c, 1);
    if (!(p >= 0 && p <= 1))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "dropout probability has to be between 0 and 1, but got %g", p);
    return FXS_OK;
}

/* x times noise, which is like x or has a number for each draw; what the alpha dropouts add is
 * added in place. Where nothing is kept the noise is the number 0, of any type. */
static fxs_status out_noisy(fxs_call *c, fxs_tensor *x, spread s, bool alpha) {
    fxs_tensor noise = *x;
    double p = fxs_arg_float(c, 1);
    if (p < 1 || s == BATCH || s == ROWS)
        FXS_TRY(fxs_check_computable(c, x->dtype));
    if (!fxs_is_floating(x->dtype) && p < 1)
        return FXS_REFUSE(c, FXS_ETYPE, "the scaled noise can't be cast to torch.%s",
                          fxs_dtype_name(x->dtype));
    if (p == 1 && s != BATCH && s != ROWS)
        return fxs_out_with_number(c, x, x->dtype);
    if (s == EACH) {
        fxs_strides_like(x, noise.strides);
        if (!alpha && !fxs_tensor_is_contiguous(x))
            return fxs_out_new(c, x->dtype, x->ndim, x->sizes, noise.strides);
    }
    for (int i = s == EACH ? x->ndim : s == BATCH ? 0 : s == ROWS ? 1 : 2; i < x->ndim; i++)
        noise.sizes[i] = 1;
    if (s != EACH)
        fxs_strides_of(x->ndim, noise.sizes, NULL, noise.strides);
    fxs_operands o = {.n = 2, .v = {fxs_of_tensor(x), fxs_of_tensor(&noise)}};
    return fxs_out_pointwise(c, &o, x->dtype);
}

static fxs_status infer_noise(fxs_call *c, spread s, bool alpha) {
    fxs_tensor *x = fxs_arg_tensor(c, 0);
    FXS_TRY(check_probability(c));
    if (!draws(c) || (fxs_tensor_numel(x) == 0 && s != ROWS))
        return fxs_out_same(c, x);
    if (s == CHANNELS && x->ndim < 2 && fxs_arg_float(c, 1) < 1)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "feature dropout requires at least 2 dimensions in the input, not %d",
                          x->ndim);
    return out_noisy(c, x, s, alpha);
}

static fxs_status infer_dropout(fxs_call *c) { return infer_noise(c, EACH, false); }
static fxs_status infer_feature_dropout(fxs_call *c) { return infer_noise(c, CHANNELS, false); }
static fxs_status infer_alpha_dropout(fxs_call *c) { return infer_noise(c, EACH, true); }
static fxs_status infer_feature_alpha(fxs_call *c) { return infer_noise(c, CHANNELS, true); }
static fxs_status infer_drop_path(fxs_call *c) { return infer_noise(c, ROWS, false); }

/* Elements that share one draw: index of the draw from the row-major position. */
static int64_t draw_of(const fxs_tensor *x, spread s, int64_t position) {
    int64_t inner = 1;
    if (s == EACH)
        return position;
    if (s == BATCH)
        return 0;
    for (int i = x->ndim - 1; i >= (s == ROWS ? 1 : 2); i--)
        inner *= x->sizes[i];
    return inner ? position / inner : 0;
}

/* y = kept ? x * scale + shift : x * 0 + dropped */
typedef struct dropping {
    double keep, scale, shift, dropped;
    spread spread;
} dropping;

static fxs_status drop(fxs_call *c, const dropping *d) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    fxs_tensor *y = c->out[0];
    int64_t n = fxs_tensor_numel(x), size = (int64_t)fxs_dtype_size(x->dtype);
    const char *from = fxs_tensor_data(x);
    char *to = fxs_tensor_data(y);
    if (fxs_is_complex(x->dtype)) { /* of which none is kept */
        fxs_fill_tensor(c, y, &(fxs_value){.tag = FXS_V_FLOAT});
        return FXS_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, put = 0;
        for (int k = x->ndim - 1; k >= 0; k--) {
            int64_t index = rest % x->sizes[k];
            rest /= x->sizes[k];
            at += index * x->strides[k];
            put += index * y->strides[k];
        }
        bool kept = (double)fxs_random_unit(c->seed, (uint64_t)draw_of(x, d->spread, i)) < d->keep;
        double v = fxs_load_double(x->dtype, from + at * size);
        fxs_store_double(y->dtype, to + put * size, kept ? v * d->scale + d->shift : d->dropped);
    }
    return FXS_OK;
}

static fxs_status run_plain(fxs_call *c, spread s) {
    double keep = 1 - fxs_arg_float(c, 1);
    dropping d = {.keep = keep, .scale = keep > 0 ? 1 / keep : 0, .spread = s};
    return drop(c, &d);
}

static fxs_status run_dropout(fxs_call *c) { return run_plain(c, EACH); }
static fxs_status run_feature_dropout(fxs_call *c) { return run_plain(c, CHANNELS); }

/* Keeps mean and variance of SELU's output: dropped elements become -alpha', the rest is scaled and
 * shifted. */
static fxs_status run_alpha(fxs_call *c, spread s) {
    double p = fxs_arg_float(c, 1), alpha = 1.7580993408473766;
    double a = p < 1 ? 1 / sqrt((alpha * alpha * p + 1) * (1 - p)) : 0;
    dropping d = {.keep = 1 - p,
                  .scale = a,
                  .shift = a * alpha * p,
                  .dropped = a * alpha * (p - 1),
                  .spread = s};
    return drop(c, &d);
}

static fxs_status run_alpha_dropout(fxs_call *c) { return run_alpha(c, EACH); }
static fxs_status run_feature_alpha_dropout(fxs_call *c) { return run_alpha(c, CHANNELS); }

/* One draw a call would be the same for any unbatched input: dropout1d takes [C, L] as channels of
 * one example. */
static fxs_status infer_channels(fxs_call *c, int least, int most) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    if (x->ndim < least || x->ndim > most)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected %d to %d dimensions, but got %d", least, most,
                          x->ndim);
    return infer_feature_dropout(c);
}
static fxs_status infer_dropout1d(fxs_call *c) { return infer_channels(c, 2, 3); }

/* ---- stochastic depth
 * ---------------------------------------------------------------------------------- */

/* stochastic_depth(input, p, mode, training): drops whole examples, or the whole batch. */
static bool depth_draws(const fxs_call *c) {
    return fxs_arg_float(c, 1) != 0 && fxs_arg_bool(c, 3);
}

static fxs_status infer_stochastic_depth(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, 0);
    const char *mode = fxs_arg_str(c, 2);
    double p = fxs_arg_float(c, 1);
    if (!(p >= 0 && p <= 1))
        return FXS_REFUSE(c, FXS_EINVAL, "drop probability has to be between 0 and 1, but got %g",
                          p);
    if (strcmp(mode, "row") != 0 && strcmp(mode, "batch") != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "mode has to be either 'batch' or 'row', but got '%s'",
                          mode);
    if (!depth_draws(c))
        return fxs_out_same(c, x);
    return out_noisy(c, x, mode[0] == 'r' ? ROWS : BATCH, false);
}

static fxs_status run_stochastic_depth(fxs_call *c) {
    return run_plain(c, fxs_arg_str(c, 2)[0] == 'r' ? ROWS : BATCH);
}

/* timm's drop_path(x, drop_prob, training, scale_by_keep) drops rows. */
static fxs_status run_drop_path(fxs_call *c) {
    double keep = 1 - fxs_arg_float(c, 1);
    dropping d = {
        .keep = keep, .scale = keep > 0 && fxs_arg_bool(c, 3) ? 1 / keep : 1, .spread = ROWS};
    return drop(c, &d);
}

/* ---- rrelu and identity
 * -------------------------------------------------------------------------------- */

static fxs_status infer_rrelu(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, 0);
    if (!fxs_is_floating(x->dtype) || !fxs_is_computable(x->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    if (!(fxs_arg_float(c, 1) <= fxs_arg_float(c, 2)))
        return FXS_REFUSE(c, FXS_EINVAL, "the lower bound %g is greater than the upper bound %g",
                          fxs_arg_float(c, 1), fxs_arg_float(c, 2));
    return fxs_out_new(c, x->dtype, x->ndim, x->sizes, NULL);
}

/* rrelu(input, lower, upper, training): negative elements are scaled, by the mean slope outside
 * training. */
static fxs_status run_rrelu(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    fxs_tensor *y = c->out[0];
    double lower = fxs_arg_float(c, 1), upper = fxs_arg_float(c, 2), sum = lower + upper;
    if (c->arg[1].tag == FXS_V_BOOL && c->arg[2].tag == FXS_V_BOOL)
        sum = sum > 0; /* as PyTorch adds two bools */
    int64_t n = fxs_tensor_numel(x), size = (int64_t)fxs_dtype_size(x->dtype);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, put = 0;
        for (int k = x->ndim - 1; k >= 0; k--) {
            at += rest % x->sizes[k] * x->strides[k];
            put += rest % x->sizes[k] * y->strides[k];
            rest /= x->sizes[k];
        }
        double v = fxs_load_double(x->dtype, (const char *)fxs_tensor_data(x) + at * size),
               slope = sum / 2;
        if (fxs_arg_bool(c, 3))
            slope = lower + (upper - lower) * (double)fxs_random_unit(c->seed, (uint64_t)i);
        fxs_store_double(y->dtype, (char *)fxs_tensor_data(y) + put * size, v < 0 ? v * slope : v);
    }
    return FXS_OK;
}

static fxs_status infer_identity(fxs_call *c) { return fxs_out_value(c, fxs_value_ref(c->arg[0])); }

#define F "torch.nn.functional."
#define RANDOM (FXS_OP_RANDOM | FXS_OP_POINTWISE)
#define DROPPING (RANDOM | FXS_OP_IDLE_IN_EVAL)
#define KEEPS_ALL "(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor"
#define DROPS "(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor"

/* torch's own functions name their arguments otherwise than torch.nn.functional's. */
#define TRAIN "(Tensor input, float p, bool train) -> Tensor"

const fxs_op fxs_ops_dropout[] = {
    {"dropout", DROPS, F "dropout", infer_dropout, run_dropout, fxs_cost_one, DROPPING},
    {"dropout1d", DROPS, F "dropout1d", infer_dropout1d, run_feature_dropout, fxs_cost_one,
     DROPPING},
    {"dropout2d", DROPS, F "dropout2d", infer_feature_dropout, run_feature_dropout, fxs_cost_one,
     DROPPING},
    {"dropout3d", DROPS, F "dropout3d", infer_feature_dropout, run_feature_dropout, fxs_cost_one,
     DROPPING},
    {"alpha_dropout", KEEPS_ALL, F "alpha_dropout", infer_alpha_dropout, run_alpha_dropout,
     fxs_cost_one, DROPPING},
    {"feature_alpha_dropout", KEEPS_ALL, F "feature_alpha_dropout", infer_feature_alpha,
     run_feature_alpha_dropout, fxs_cost_one, DROPPING},
    {"torch_dropout", TRAIN, "torch.dropout", infer_dropout, run_dropout, fxs_cost_one, DROPPING},
    {"feature_dropout", TRAIN, "torch.feature_dropout", infer_feature_dropout, run_feature_dropout,
     fxs_cost_one, DROPPING},
    {"torch_alpha_dropout", TRAIN, "torch.alpha_dropout", infer_alpha_dropout, run_alpha_dropout,
     fxs_cost_one, DROPPING},
    {"torch_feature_alpha_dropout", TRAIN, "torch.feature_alpha_dropout", infer_feature_alpha,
     run_feature_alpha_dropout, fxs_cost_one, DROPPING},
    {"stochastic_depth", "(Tensor input, float p, str mode, bool training=True) -> Tensor",
     "torchvision.ops.stochastic_depth.stochastic_depth torchvision.ops.stochastic_depth",
     infer_stochastic_depth, run_stochastic_depth, fxs_cost_one, DROPPING | FXS_OP_NO_INPLACE},
    {"drop_path",
     "(Tensor x, float drop_prob=0.0, bool training=False, bool scale_by_keep=True) -> Tensor",
     "torchvision.ops.drop_path timm.layers.drop.drop_path timm.models.layers.drop.drop_path",
     infer_drop_path, run_drop_path, fxs_cost_one, DROPPING | FXS_OP_NO_INPLACE},
    {"rrelu",
     "(Tensor input, number lower=0.125, number upper=0.3333333333333333, bool training=False, "
     "bool inplace=False) -> "
     "Tensor",
     F "rrelu torch.rrelu", infer_rrelu, run_rrelu, fxs_cost_one, RANDOM},
    {"identity", "(any input) -> any", NULL, infer_identity, NULL, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_IDLE_IN_EVAL},
    {0},
};

#define DROP_LAYER(class, op)                                                                      \
    {                                                                                              \
        .name = class, .hyper = "p=0.5, inplace=False",                                            \
        .repr = "p=, inplace=", .call = op "(input, p, training, inplace=inplace)"                 \
    }
/* Their forward does not hand inplace on; fxscope's does. */
#define ALPHA_LAYER(class, op)                                                                     \
    {                                                                                              \
        .name = class, .hyper = "p=0.5, inplace=False",                                            \
        .repr = "p=, inplace=", .call = op "(input, p, training, inplace=inplace)",                \
        .trace = "torch.nn.functional." op "(input, p, training)"                                  \
    }
const fxs_module_row fxs_modules_dropout[] = {
    DROP_LAYER("Dropout", "dropout"),
    DROP_LAYER("Dropout1d", "dropout1d"),
    DROP_LAYER("Dropout2d", "dropout2d"),
    DROP_LAYER("Dropout3d", "dropout3d"),
    ALPHA_LAYER("AlphaDropout", "alpha_dropout"),
    ALPHA_LAYER("FeatureAlphaDropout", "feature_alpha_dropout"),
    {.name = "StochasticDepth",
     .hyper = "p, mode",
     .repr = "p=, mode=",
     .call = "stochastic_depth(input, p, mode, training)"},
    {.name = "DropPath",
     .hyper = "drop_prob=0.0, scale_by_keep=True",
     .call = "drop_path(input, drop_prob, training, scale_by_keep)"},
    {.name = "RReLU",
     .hyper = "lower=0.125, upper=0.3333333333333333, inplace=False",
     .repr = "lower=, upper=, inplace=?",
     .call = "rrelu(input, lower, upper, training, inplace=inplace)"},
    {.name = "Identity", .hyper = "*", .repr = "", .call = "identity(input)", .trace = "input"},
    {0},
};
#undef F
#undef RANDOM
#undef DROPPING
#undef KEEPS_ALL
#undef DROPS
#undef DROP_LAYER
