/* activation.c: activation functions and their layers. Functionals have an argument `inplace` that
 * makes the call in place (apply.c sees to it). Dropout and its kin are in dropout.c, softmax in
 * softmax.c, sigmoid and tanh in unary.c.
 */
#include <complex.h>

#include "kernels/format.h"
#include "kernels/loops.h"
#include "kernels/vecmath.h"
#include "kernels/work.h"
#include "op/module_row.h"

typedef struct extra {
    float a, b; /* of float32 */
    double da, db;
    int64_t ia, ib;
} extra;

/* ---- elements
 * ------------------------------------------------------------------------------------------ */

static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
/* log(1 + exp(x)) without overflow. */
static inline float softplus32(float x) {
    return (x > 0 ? x : 0) + fxs_vec_log1p(fxs_vec_exp(-fabsf(x)));
}
static inline double softplus64(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }
/* exp(x) - 1, for x <= 0 but where alpha is negative: the vector exp is not exact enough near 0,
 * where the series is. */
static inline float below_zero(float x) {
    float series =
        x *
        (1 + x * (0.5f + x * (1.0f / 6 + x * (1.0f / 24 + x * (1.0f / 120 + x * (1.0f / 720))))));
    return x > -0.35f && x < 0.35f ? series : fxs_vec_exp(x) - 1;
}
static inline double gelu_tanh(double x) {
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* NaN stays NaN in all of these: conditions are written so that it falls through. */
#define FLOATS(op, expr32, expr64)                                                                 \
    FXS_LOOP1(op##_f32, float, float, extra, expr32)                                               \
    FXS_LOOP1(op##_f64, double, double, extra, expr64)                                             \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false};
#define NUMBERS(op, expr32, expr64, int_expr)                                                      \
    FXS_LOOP1(op##_f32, float, float, extra, expr32)                                               \
    FXS_LOOP1(op##_f64, double, double, extra, expr64)                                             \
    FXS_LOOP1(op##_i64, int64_t, int64_t, extra, int_expr)                                         \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, false};

NUMBERS(relu, x < 0 ? 0 : x, x < 0 ? 0 : x, x < 0 ? 0 : x)
/* The upper limit wins where they cross. */
static inline double clamp_double(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}
static inline int64_t clamp_int(int64_t x, int64_t low, int64_t high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}
NUMBERS(hardtanh, fxs_vec_clamp(x, p->a, p->b), clamp_double(x, p->da, p->db),
        clamp_int(x, p->ia, p->ib))
NUMBERS(threshold, x <= p->a ? p->b : x, x <= p->da ? p->db : x, x <= p->ia ? p->ib : x)
FLOATS(leaky_relu, x > 0 ? x : x * p->a, x > 0 ? x : x * p->da)
FXS_LOOP1_WIDE(gelu_f32, float, float, extra, 0.5f * x * (1 + fxs_vec_erf(x * 0.70710678f)))
FXS_LOOP1(gelu_f64, double, double, extra, 0.5 * x * (1 + erf(x * 0.7071067811865476)))
static const fxs_loops gelu_loops = {gelu_f32, gelu_f64, NULL, false, NULL};
FLOATS(gelu_tanh, 0.5f * x * (1 + fxs_vec_tanh(0.79788456f * (x + 0.044715f * x * x * x))),
       gelu_tanh(x))
FXS_LOOP1(silu_f32, float, float, extra, x *fxs_vec_sigmoid(x))
FXS_LOOP1(silu_f64, double, double, extra, x *sigmoid(x))
FXS_LOOP1(silu_c128, double complex, double complex, extra, x / (1 + cexp(-x)))
static const fxs_loops silu_loops = {silu_f32, silu_f64, NULL, false, silu_c128};
FLOATS(mish, x *fxs_vec_tanh(softplus32(x)), x *tanh(softplus64(x)))
FLOATS(hardsigmoid, fxs_vec_clamp(x + 3, 0, 6) / 6, (x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6)
FLOATS(hardswish, x *fxs_vec_clamp(x + 3, 0, 6) / 6, x *(x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6)
FLOATS(softplus, x * p->a > p->b ? x : softplus32(x * p->a) / p->a,
       x * p->da > p->db ? x : softplus64(x * p->da) / p->da)
FXS_LOOP1(softsign_f32, float, float, extra, x / (1 + fabsf(x)))
FXS_LOOP1(softsign_f64, double, double, extra, x / (1 + fabs(x)))
FXS_LOOP1(softsign_c128, double complex, double complex, extra, x / (1 + cabs(x)))
static const fxs_loops softsign_loops = {softsign_f32, softsign_f64, NULL, false, softsign_c128};
FXS_LOOP1(tanhshrink_f32, float, float, extra, x - fxs_vec_tanh(x))
FXS_LOOP1(tanhshrink_f64, double, double, extra, x - tanh(x))
FXS_LOOP1(tanhshrink_c128, double complex, double complex, extra, x - ctanh(x))
static const fxs_loops tanhshrink_loops = {tanhshrink_f32, tanhshrink_f64, NULL, false,
                                           tanhshrink_c128};
FLOATS(softshrink,
       x > p->a    ? x - p->a
       : x < -p->a ? x + p->a
                   : x * 0,
       x > p->da    ? x - p->da
       : x < -p->da ? x + p->da
                    : x * 0)
FLOATS(hardshrink, x >= -p->a && x <= p->a ? 0 : x, x >= -p->da && x <= p->da ? 0 : x)
FLOATS(log_sigmoid, -softplus32(-x), -softplus64(-x))
FLOATS(elu, x > 0 ? x : below_zero(x) * p->a, x > 0 ? x : expm1(x) * p->da)
FLOATS(celu, x > 0 ? x : below_zero(x * (1 / p->a)) * p->a, x > 0 ? x : expm1(x / p->da) * p->da)
FLOATS(selu, (x > 0 ? x : below_zero(x) * 1.6732632f) * 1.0507010f,
       (x > 0 ? x : expm1(x) * 1.6732632423543772) * 1.0507009873554805)
#undef FLOATS
#undef NUMBERS
FXS_LOOP2(prelu_f32, float, float, void, x > 0 ? x : x * y)
FXS_LOOP2(prelu_f64, double, double, void, x > 0 ? x : x * y)
FXS_LOOP2(glu_f32, float, float, void, x *fxs_vec_sigmoid(y))
FXS_LOOP2(glu_f64, double, double, void, x *sigmoid(y))
static const fxs_loops prelu_loops = {prelu_f32, prelu_f64, NULL, false},
                       glu_loops = {glu_f32, glu_f64, NULL, false};

/* ---- infer
 * --------------------------------------------------------------------------------------------- */

static fxs_status infer_number(fxs_call *c) {
    fxs_tensor *self = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, self->dtype));
    if (self->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "boolean inputs are not supported");
    return fxs_out_like(c, self, self->dtype);
}

static fxs_status infer_float(fxs_call *c) {
    fxs_tensor *self = fxs_arg_tensor(c, 0);
    for (int i = 1; i < c->nargs; i++)
        FXS_TRY(fxs_check_number(c, i, FXS_FLOAT64));
    FXS_TRY(fxs_check_computable(c, self->dtype));
    if (!fxs_is_floating(self->dtype) && !fxs_is_complex(self->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s",
                          fxs_dtype_name(self->dtype));
    return fxs_out_like(c, self, self->dtype);
}

static fxs_status infer_contiguous(fxs_call *c) {
    FXS_TRY(infer_float(c));
    fxs_strides_of(c->out[0]->ndim, c->out[0]->sizes, NULL, c->out[0]->strides);
    return FXS_OK;
}

/* Functions that PyTorch composes of others, which take integers to float32. */
static fxs_status infer_composed(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    return fxs_out_like(c, fxs_arg_tensor(c, 0), fxs_common_float(&o));
}

static fxs_status infer_gelu(fxs_call *c) {
    const char *how = fxs_arg_str(c, 1);
    if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "approximate argument must be either none or tanh, not '%s'", how);
    return infer_float(c);
}

/* Computed into a tensor like the input. */
static fxs_status infer_relu6(fxs_call *c) {
    FXS_TRY(infer_number(c));
    fxs_strides_like(fxs_arg_tensor(c, 0), c->out[0]->strides);
    return FXS_OK;
}

static fxs_status infer_hardtanh(fxs_call *c) {
    if (fxs_arg_tensor(c, 0)->dtype == FXS_UINT8 &&
        (fxs_arg_float(c, 1) <= -1 || fxs_arg_float(c, 2) <= -1))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "cannot do hardtanh on an unsigned type with negative limits");
    return infer_relu6(c);
}

static fxs_status infer_softshrink(fxs_call *c) {
    if (!(fxs_arg_float(c, 1) >= 0))
        return FXS_REFUSE(c, FXS_EINVAL, "lambda must be greater or equal to 0, but found to be %g",
                          fxs_arg_float(c, 1));
    return infer_float(c);
}

static fxs_status infer_celu(fxs_call *c) {
    if (fxs_arg_float(c, 1) == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "alpha can't be 0 (ZeroDivisionError)");
    return infer_float(c);
}

/* prelu(input, weight): one weight, or one for each channel. */
static fxs_status infer_prelu(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0), *w = fxs_arg_tensor(c, 1);
    int64_t n = fxs_tensor_numel(w), channels = x->ndim > 1 ? x->sizes[1] : 1;
    if (w->dtype != x->dtype && !(x->dtype == FXS_BFLOAT16 && !fxs_is_complex(w->dtype)))
        return FXS_REFUSE(c, FXS_ETYPE, "weight has type torch.%s, but input has torch.%s",
                          fxs_dtype_name(w->dtype), fxs_dtype_name(x->dtype));
    if (w->ndim > 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "weight must have 0 or 1 dimensions, but has %d", w->ndim);
    if (x->ndim == 0 && n != 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "input has no dimensions, but there are %lld weights",
                          (long long)n);
    if (n != 1 && n != channels)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "the number of weights (%lld) must be 1 or the channel size (%lld)",
                          (long long)n, (long long)channels);
    FXS_TRY(fxs_check_computable(c, x->dtype));
    if (!fxs_is_floating(x->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    return fxs_out_formatted(c, x, x->dtype, fxs_suggested_format(x));
}

/* Halves of the input along a dimension. */
static fxs_status glu_halves(fxs_call *c, fxs_tensor *a, fxs_tensor *b) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    int dim;
    if (x->ndim == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "0-dimensional tensors are not supported");
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), x->ndim, &dim));
    if (x->sizes[dim] % 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "halving dimension must be even, but dimension %d is size %lld", dim,
                          (long long)x->sizes[dim]);
    *a = *x;
    a->sizes[dim] /= 2;
    *b = *a;
    b->offset += a->sizes[dim] * a->strides[dim];
    return FXS_OK;
}

static fxs_status infer_glu(fxs_call *c) {
    fxs_tensor a, b;
    FXS_TRY(glu_halves(c, &a, &b));
    FXS_TRY(fxs_check_computable(c, a.dtype));
    if (!fxs_is_floating(a.dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(a.dtype));
    fxs_operands o = {.n = 2, .v = {fxs_of_tensor(&a), fxs_of_tensor(&b)}};
    return fxs_out_pointwise(c, &o, a.dtype);
}

/* ---- kernels
 * ------------------------------------------------------------------------------------------- */

static fxs_status run_with(fxs_call *c, const fxs_loops *loops, double a, double b) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    extra e = {.a = (float)a, .b = (float)b, .da = a, .db = b};
    if (!fxs_is_floating(c->out[0]->dtype)) {
        fxs_store_double(FXS_INT64, &e.ia, a);
        fxs_store_double(FXS_INT64, &e.ib, b);
    }
    return fxs_loop_run(c, c->out[0], loops, &o, c->out[0]->dtype, &e);
}

#define KERNEL(op, a, b)                                                                           \
    static fxs_status run_##op(fxs_call *c) { return run_with(c, &op##_loops, a, b); }
KERNEL(relu, 0, 0)
KERNEL(hardtanh, fxs_arg_float(c, 1), fxs_arg_float(c, 2))
KERNEL(threshold, fxs_arg_float(c, 1), fxs_arg_float(c, 2))
KERNEL(leaky_relu, fxs_arg_float(c, 1), 0)
KERNEL(silu, 0, 0)
KERNEL(mish, 0, 0)
KERNEL(hardsigmoid, 0, 0)
KERNEL(hardswish, 0, 0)
KERNEL(softplus, fxs_arg_float(c, 1), fxs_arg_float(c, 2))
KERNEL(softsign, 0, 0)
KERNEL(tanhshrink, 0, 0)
KERNEL(softshrink, fxs_arg_float(c, 1), 0)
KERNEL(hardshrink, fxs_arg_float(c, 1), 0)
KERNEL(log_sigmoid, 0, 0)
KERNEL(elu, fxs_arg_float(c, 1), 0)
KERNEL(celu, fxs_arg_float(c, 1), 0)
KERNEL(selu, 0, 0)
#undef KERNEL

static fxs_status run_relu6(fxs_call *c) { return run_with(c, &hardtanh_loops, 0, 6); }

static fxs_status run_gelu(fxs_call *c) {
    return run_with(c, fxs_arg_str(c, 1)[0] == 't' ? &gelu_tanh_loops : &gelu_loops, 0, 0);
}

/* The weight as a tensor that broadcasts along dimension 1 of the input. */
static fxs_status run_prelu(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    fxs_tensor w = *fxs_arg_tensor(c, 1);
    int64_t n = fxs_tensor_numel(&w), step = w.ndim ? w.strides[0] : 1;
    w.ndim = x->ndim;
    for (int i = 0; i < x->ndim; i++) {
        w.sizes[i] = i == 1 ? n : 1;
        w.strides[i] = i == 1 ? step : 0;
    }
    fxs_operands o = {.n = 2, .v = {c->arg[0], fxs_of_tensor(&w)}};
    return fxs_loop_run(c, c->out[0], &prelu_loops, &o, x->dtype, NULL);
}

static fxs_status run_glu(fxs_call *c) {
    fxs_tensor a, b;
    FXS_TRY(glu_halves(c, &a, &b));
    fxs_operands o = {.n = 2, .v = {fxs_of_tensor(&a), fxs_of_tensor(&b)}};
    return fxs_loop_run(c, c->out[0], &glu_loops, &o, a.dtype, NULL);
}

/* ---- rows
 * ---------------------------------------------------------------------------------------------- */

#define F " torch.nn.functional."
#define NN "torch._C._nn."
#define FLAGGED_ROW(op, args, infer, spellings, flags)                                             \
    {                                                                                              \
#op, "(Tensor input" args ") -> Tensor", spellings, infer, run_##op, fxs_cost_one,         \
            FXS_OP_POINTWISE | (flags)                                                             \
    }
#define ROW(op, args, infer, spellings) FLAGGED_ROW(op, args, infer, spellings, 0)
#define COMPLEX_ROW(op, args, infer, spellings)                                                    \
    FLAGGED_ROW(op, args, infer, spellings, FXS_OP_COMPLEX)
#define IN_PLACE(f) f " " f "_!"

const fxs_op fxs_ops_activation[] = {
    ROW(relu, ", bool inplace=False", infer_number,
        "torch.relu Tensor.relu" F "relu torch.nn.functional.relu_!"),
    ROW(relu6, ", bool inplace=False", infer_relu6, "torch.relu6" F "relu6 " IN_PLACE(NN "relu6")),
    ROW(leaky_relu, ", Scalar negative_slope=0.01, bool inplace=False", infer_float,
        "torch.nn.functional.leaky_relu " IN_PLACE(NN "leaky_relu")),
    ROW(elu, ", Scalar alpha=1.0, bool inplace=False", infer_float, "torch.nn.functional.elu"),
    ROW(selu, ", bool inplace=False", infer_float, "torch.selu" F "selu"),
    ROW(celu, ", Scalar alpha=1.0, bool inplace=False", infer_celu, "torch.celu" F "celu"),
    ROW(gelu, ", *, str approximate='none'", infer_gelu, NN "gelu" F "gelu"),
    FLAGGED_ROW(silu, ", bool inplace=False", infer_float,
                "torch.nn.functional.silu " IN_PLACE(NN "silu"), FXS_OP_COMPLEX | FXS_OP_REAL_GRAD),
    ROW(mish, ", bool inplace=False", infer_float, "torch.nn.functional.mish " IN_PLACE(NN "mish")),
    ROW(hardtanh, ", number min_val=-1.0, number max_val=1.0, bool inplace=False", infer_hardtanh,
        "torch.nn.functional.hardtanh " IN_PLACE(NN "hardtanh")),
    ROW(hardsigmoid, ", bool inplace=False", infer_float,
        "torch.nn.functional.hardsigmoid " IN_PLACE(NN "hardsigmoid")),
    ROW(hardswish, ", bool inplace=False", infer_float,
        "torch.nn.functional.hardswish " IN_PLACE(NN "hardswish")),
    ROW(softplus, ", Scalar beta=1, Scalar threshold=20", infer_float, NN "softplus" F "softplus"),
    COMPLEX_ROW(softsign, "", infer_composed, "torch.nn.functional.softsign"),
    COMPLEX_ROW(tanhshrink, "", infer_composed, "torch.nn.functional.tanhshrink"),
    ROW(softshrink, ", Scalar lambd=0.5", infer_softshrink, NN "softshrink" F "softshrink"),
    ROW(hardshrink, ", Scalar lambd=0.5", infer_float,
        "torch.hardshrink Tensor.hardshrink" F "hardshrink"),
    FLAGGED_ROW(threshold, ", Scalar threshold, Scalar value, bool inplace=False", infer_number,
                "torch.threshold" F "_threshold" F "threshold", FXS_OP_STRETCHED),
    ROW(log_sigmoid, "", infer_contiguous, NN "log_sigmoid" F "logsigmoid"),
    ROW(prelu, ", Tensor weight", infer_prelu, "torch.prelu Tensor.prelu" F "prelu"),
    {"glu", "(Tensor input, int dim=-1) -> Tensor", "torch.nn.functional.glu torch._C._nn.glu",
     infer_glu, run_glu, fxs_cost_one, FXS_OP_NO_INPLACE},
    {0},
};
#undef F
#undef NN
#undef ROW
#undef COMPLEX_ROW
#undef FLAGGED_ROW
#undef IN_PLACE

const fxs_module_row fxs_modules_activation[] = {
    {.name = "ReLU",
     .hyper = "inplace=False",
     .repr = "inplace=?",
     .call = "relu(input, inplace=inplace)"},
    {.name = "ReLU6",
     .hyper = "min_val=0.0, max_val=6.0, inplace=False",
     .repr = "inplace=?",
     .call = "relu6(input, inplace=inplace)",
     .trace = "torch.nn.functional.hardtanh(input, 0.0, 6.0, inplace)"},
    {.name = "LeakyReLU",
     .hyper = "negative_slope=0.01, inplace=False",
     .repr = "negative_slope=, inplace=?",
     .call = "leaky_relu(input, negative_slope, inplace=inplace)"},
    {.name = "ELU",
     .hyper = "alpha=1.0, inplace=False",
     .repr = "alpha=, inplace=?",
     .call = "elu(input, alpha, inplace=inplace)"},
    {.name = "SELU",
     .hyper = "inplace=False",
     .repr = "inplace=?",
     .call = "selu(input, inplace=inplace)"},
    {.name = "CELU",
     .hyper = "alpha=1.0, inplace=False",
     .repr = "alpha=, inplace=?",
     .call = "celu(input, alpha, inplace=inplace)"},
    {.name = "GELU",
     .hyper = "approximate='none'",
     .repr = "approximate=!",
     .call = "gelu(input, approximate=approximate)"},
    {.name = "SiLU",
     .hyper = "inplace=False",
     .repr = "inplace=?",
     .call = "silu(input, inplace=inplace)"},
    {.name = "Mish",
     .hyper = "inplace=False",
     .repr = "inplace=?",
     .call = "mish(input, inplace=inplace)"},
    {.name = "Hardtanh",
     .hyper = "min_val=-1.0, max_val=1.0, inplace=False",
     .repr = "min_val=, max_val=, inplace=?",
     .call = "hardtanh(input, min_val, max_val, inplace=inplace)"},
    {.name = "Hardsigmoid",
     .hyper = "inplace=False",
     .repr = "",
     .call = "hardsigmoid(input, inplace=inplace)"},
    {.name = "Hardswish",
     .hyper = "inplace=False",
     .repr = "",
     .call = "hardswish(input, inplace=inplace)"},
    {.name = "Softplus",
     .hyper = "beta=1, threshold=20",
     .repr = "beta=, threshold=",
     .call = "softplus(input, beta, threshold)"},
    {.name = "Softsign", .repr = "", .call = "softsign(input)"},
    {.name = "Tanh", .repr = "", .call = "tanh(input)", .trace = "torch.tanh(input)"},
    {.name = "Sigmoid", .repr = "", .call = "sigmoid(input)", .trace = "torch.sigmoid(input)"},
    {.name = "Tanhshrink", .repr = "", .call = "tanhshrink(input)"},
    {.name = "Softshrink",
     .hyper = "lambd=0.5",
     .repr = "lambd",
     .call = "softshrink(input, lambd)"},
    {.name = "Hardshrink",
     .hyper = "lambd=0.5",
     .repr = "lambd",
     .call = "hardshrink(input, lambd)"},
    {.name = "Threshold",
     .hyper = "threshold, value, inplace=False",
     .repr = "threshold=, value=, inplace=?",
     .call = "threshold(input, threshold, value, inplace=inplace)"},
    {.name = "LogSigmoid", .repr = "", .call = "log_sigmoid(input)"},
    {.name = "PReLU",
     .hyper = "num_parameters=1, init=0.25",
     .state = "weight[num_parameters] = ones",
     .repr = "num_parameters=",
     .call = "prelu(input, weight)"},
    {.name = "GLU", .hyper = "dim=-1", .repr = "dim=", .call = "glu(input, dim)"},
    {0},
};
