/* initialise.c: the functions of torch.nn.init that a traced graph shows by their own names; the
 * others show the methods that they call. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/create.h"
#include "kernels/families.h"

static fxs_tensor *self(const fxs_compose *k) { return fxs_arg_tensor(k->call, 0); }

/* uniform_(tensor, a, b), normal_(tensor, mean, std), constant_(tensor, val) */
static void make_init_uniform(fxs_compose *k) {
    FXS_DO(k, "uniform_", fxs_t(self(k)), k->call->arg[1], k->call->arg[2]);
}
static void make_init_normal(fxs_compose *k) {
    FXS_DO(k, "normal_", fxs_t(self(k)), k->call->arg[1], k->call->arg[2]);
}
static void make_init_constant(fxs_compose *k) {
    FXS_DO(k, "fill_", fxs_t(self(k)), k->call->arg[1]);
}

/* What a function does to the spread of its input, by which weights are scaled; 0: not known. */
static double gain_of(const char *name, double slope) {
    static const char *const ones[] = {"linear",           "sigmoid",         "conv1d",
                                       "conv2d",           "conv3d",          "conv_transpose1d",
                                       "conv_transpose2d", "conv_transpose3d"};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (strcmp(name, ones[i]) == 0)
            return 1;
    return strcmp(name, "tanh") == 0         ? 5.0 / 3
           : strcmp(name, "relu") == 0       ? sqrt(2)
           : strcmp(name, "selu") == 0       ? 0.75
           : strcmp(name, "leaky_relu") == 0 ? sqrt(2 / (1 + slope * slope))
                                             : 0;
}

/* kaiming_uniform_(tensor, a, mode, nonlinearity): within gain * sqrt(3 / fan) */
static fxs_status kaiming_bound(fxs_call *c, double *bound) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    const char *mode = fxs_arg_str(c, 2);
    double gain = gain_of(fxs_arg_str(c, 3), fxs_arg_float(c, 1)), fan = 1;
    *bound = 0;
    if (t->ndim > 0 && fxs_tensor_numel(t) == 0)
        return FXS_OK;
    if (strcmp(mode, "fan_in") != 0 && strcmp(mode, "fan_out") != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "mode must be 'fan_in' or 'fan_out', not '%s'", mode);
    if (t->ndim < 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "fan in and fan out can not be computed for tensor with fewer than 2 "
                          "dimensions");
    if (gain == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "unsupported nonlinearity '%s'", fxs_arg_str(c, 3));
    for (int i = 0; i < t->ndim; i++)
        if (i != (strcmp(mode, "fan_in") == 0 ? 0 : 1))
            fan *= (double)t->sizes[i];
    *bound = sqrt(3) * gain / sqrt(fan);
    return FXS_OK;
}

static void make_init_kaiming(fxs_compose *k) {
    double bound = 0;
    k->status = kaiming_bound(k->call, &bound);
    if (k->status == FXS_OK && fxs_tensor_numel(self(k)))
        FXS_DO(k, "uniform_", fxs_t(self(k)), fxs_float(-bound), fxs_float(bound));
}

static fxs_status infer_init(fxs_call *c) { return fxs_out_same(c, fxs_arg_tensor(c, 0)); }
static fxs_status infer_init_drawn(fxs_call *c) {
    fxs_dtype d = fxs_arg_tensor(c, 0)->dtype;
    return fxs_is_floating(d) || fxs_is_complex(d)
               ? infer_init(c)
               : FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
}
static fxs_status infer_init_uniform(fxs_call *c) {
    double a = fxs_arg_float(c, 1), b = fxs_arg_float(c, 2);
    return a <= b ? infer_init_drawn(c)
                  : FXS_REFUSE(c, FXS_EINVAL, "expects a range [a, b), but a = %g > b = %g", a, b);
}
static fxs_status infer_init_normal(fxs_call *c) {
    FXS_TRY(fxs_check_std(c, 2));
    return infer_init_drawn(c);
}
static fxs_status infer_init_kaiming(fxs_call *c) {
    double bound;
    FXS_TRY(kaiming_bound(c, &bound));
    return fxs_arg_numel(c, 0) ? infer_init_drawn(c) : infer_init(c);
}
#define RUN(name)                                                                                  \
    static fxs_status run_##name(fxs_call *c) { return fxs_compose_run(c, make_##name); }
RUN(init_uniform)
RUN(init_normal)
RUN(init_constant)
RUN(init_kaiming)
#undef RUN

#define ROW(op, function, arguments, infer, more)                                                  \
    {                                                                                              \
#op, "(Tensor tensor, " arguments ") -> Tensor", "torch.nn.init." function "!", infer,     \
            run_##op, NULL,                                                                        \
            FXS_OP_NO_INPLACE | FXS_OP_WRITES_SELF | FXS_OP_NO_GRAD | FXS_OP_COMPLEX | (more)      \
    }

const fxs_op fxs_ops_initialise[] = {
    ROW(init_uniform, "uniform_", "float a=0.0, float b=1.0", infer_init_uniform, FXS_OP_RANDOM),
    ROW(init_normal, "normal_", "float mean=0.0, float std=1.0", infer_init_normal, FXS_OP_RANDOM),
    ROW(init_constant, "constant_", "Scalar val", infer_init, 0),
    ROW(init_kaiming, "kaiming_uniform_",
        "number a=0, str mode='fan_in', str nonlinearity='leaky_relu'", infer_init_kaiming,
        FXS_OP_RANDOM),
    {0},
};
#undef ROW
