/* unary.c: functions of one element: abs neg exp log sqrt sin ... and their in-place forms. Float32
 * exp, log, tanh, sigmoid and erf are vector code (vecmath.h), the rest calls libm. */
#include <complex.h>
#include <string.h>

#include "kernels/complex.h"
#include "kernels/loops.h"
#include "kernels/vecmath.h"

/* ---- elements
 * ------------------------------------------------------------------------------------------ */

static inline int64_t int_abs(int64_t x) { return x < 0 ? (int64_t)(0 - (uint64_t)x) : x; }
static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline float float_sign(float x) { return (float)((x > 0) - (x < 0)); }
static inline double double_sign(double x) { return (double)((x > 0) - (x < 0)); }
static inline double complex complex_sign(double complex x) { return x == 0 ? 0 : x / cabs(x); }
static inline double logit(double x) { return log(x / (1 - x)); }

/* Inverse of the error function: Winitzki's estimate, then Newton steps; erfc keeps the tails
 * exact. */
static double erfinv(double y) {
    double m = fabs(y);
    if (!(m < 1))
        return m == 1 ? copysign(INFINITY, y) : NAN;
    double w = log((1 - m) * (1 + m)), a = 4.330746750799873 + w / 2;
    double x = sqrt(fmax(0, sqrt(a * a - w / 0.147) - a));
    for (int i = 0; i < 3; i++)
        x -= ((1 - m) - erfc(x)) / (1.1283791670955126 * exp(-x * x));
    return copysign(x, y);
}

#define FLOATS(op, expr32, expr64)                                                                 \
    FXS_LOOP1(op##_f32, float, float, void, expr32)                                                \
    FXS_LOOP1(op##_f64, double, double, void, expr64)                                              \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false};                         \
    FXS_KERNEL(op, 1, fxs_common_float)
#define NUMBERS(op, expr32, expr64, int_expr)                                                      \
    FXS_LOOP1(op##_f32, float, float, void, expr32)                                                \
    FXS_LOOP1(op##_f64, double, double, void, expr64)                                              \
    FXS_LOOP1(op##_i64, int64_t, int64_t, void, int_expr)                                          \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, false};                     \
    FXS_KERNEL(op, 1, fxs_common_type)
#define FLOATS_COMPLEX(op, expr32, expr64, complex_expr)                                           \
    FXS_LOOP1(op##_f32, float, float, void, expr32)                                                \
    FXS_LOOP1(op##_f64, double, double, void, expr64)                                              \
    FXS_LOOP1(op##_c128, double complex, double complex, void, complex_expr)                       \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false, op##_c128};              \
    FXS_KERNEL(op, 1, fxs_common_float)
#define NUMBERS_COMPLEX(op, expr32, expr64, int_expr, complex_expr)                                \
    FXS_LOOP1(op##_f32, float, float, void, expr32)                                                \
    FXS_LOOP1(op##_f64, double, double, void, expr64)                                              \
    FXS_LOOP1(op##_i64, int64_t, int64_t, void, int_expr)                                          \
    FXS_LOOP1(op##_c128, double complex, double complex, void, complex_expr)                       \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, false, op##_c128};          \
    FXS_KERNEL(op, 1, fxs_common_type)
#define PREDICATE_COMPLEX(op, expr, int_expr, complex_expr)                                        \
    FXS_LOOP1(op##_f32, uint8_t, float, void, expr)                                                \
    FXS_LOOP1(op##_f64, uint8_t, double, void, expr)                                               \
    FXS_LOOP1(op##_i64, uint8_t, int64_t, void, int_expr)                                          \
    FXS_LOOP1(op##_c128, uint8_t, double complex, void, complex_expr)                              \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, true, op##_c128};           \
    FXS_KERNEL(op, 1, fxs_common_type)
#define PREDICATE(op, expr, int_expr)                                                              \
    FXS_LOOP1(op##_f32, uint8_t, float, void, expr)                                                \
    FXS_LOOP1(op##_f64, uint8_t, double, void, expr)                                               \
    FXS_LOOP1(op##_i64, uint8_t, int64_t, void, int_expr)                                          \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, true};                      \
    FXS_KERNEL(op, 1, fxs_common_type)

/* As PyTorch has it: an infinite length times a sine of 0 is NaN. */
static double complex complex_exp(double complex x) {
    double length = exp(creal(x));
    return CMPLX(length * cos(cimag(x)), length * sin(cimag(x)));
}

/* i / 2 log((i + x) / (i - x)): where the function jumps (imaginary numbers beyond i) PyTorch's
 * formula takes another side than C, and it has no value where it divides by 0 or infinity. */
static double complex complex_atan(double complex x) {
    double complex y = catan(x);
    bool jumps = creal(x) == 0 && fabs(cimag(x)) > 1;
    if (!isfinite(creal(x)) || !isfinite(cimag(x)))
        return CMPLX(NAN, NAN);
    if (creal(x) == 0 && fabs(cimag(x)) == 1)
        return CMPLX(NAN, cimag(x) > 0 ? NAN : -INFINITY);
    return jumps ? CMPLX(cimag(x) > 0 ? -M_PI_2 : M_PI_2, cimag(y)) : y;
}

FLOATS_COMPLEX(exp, fxs_vec_exp(x), exp(x), complex_exp(x))
FLOATS(exp2, exp2f(x), exp2(x))
FLOATS(expm1, expm1f(x), expm1(x))
FLOATS_COMPLEX(log, fxs_vec_log(x), log(x), clog(x))
FLOATS(log1p, fxs_vec_log1p(x), log1p(x))
FLOATS_COMPLEX(log2, log2f(x), log2(x), clog(x) / 0.6931471805599453)
FLOATS_COMPLEX(log10, log10f(x), log10(x), clog(x) / 2.302585092994046)
FLOATS_COMPLEX(sqrt, sqrtf(x), sqrt(x), csqrt(x))
FLOATS_COMPLEX(rsqrt, 1.0f / sqrtf(x), 1 / sqrt(x), fxs_complex_quotient(1, csqrt(x)))
FLOATS_COMPLEX(reciprocal, 1.0f / x, 1 / x, fxs_complex_quotient(1, x))
FLOATS_COMPLEX(sin, sinf(x), sin(x), csin(x))
FLOATS_COMPLEX(cos, cosf(x), cos(x), ccos(x))
FLOATS_COMPLEX(tan, tanf(x), tan(x), ctan(x))
FLOATS_COMPLEX(asin, asinf(x), asin(x), casin(x))
FLOATS_COMPLEX(acos, acosf(x), acos(x), cacos(x))
FLOATS_COMPLEX(atan, atanf(x), atan(x), complex_atan(x))
FLOATS_COMPLEX(sinh, sinhf(x), sinh(x), csinh(x))
FLOATS_COMPLEX(cosh, coshf(x), cosh(x), ccosh(x))
FLOATS_COMPLEX(tanh, fxs_vec_tanh(x), tanh(x), ctanh(x))
FLOATS_COMPLEX(asinh, asinhf(x), asinh(x), casinh(x))
FLOATS_COMPLEX(acosh, acoshf(x), acosh(x), cacosh(x))
FLOATS_COMPLEX(atanh, atanhf(x), atanh(x), catanh(x))
FLOATS(erf, fxs_vec_erf(x), erf(x))
FLOATS(erfc, erfcf(x), erfc(x))
FLOATS(erfinv, (float)erfinv((double)x), erfinv(x))
FLOATS(lgamma, (float)lgamma((double)x), lgamma(x))
FLOATS_COMPLEX(sigmoid, fxs_vec_sigmoid(x), sigmoid(x),
               fxs_complex_quotient(1, 1 + complex_exp(-x)))
FLOATS(logit, (float)logit((double)x), logit(x))
FLOATS(deg2rad, x * 0.017453292f, x * 0.017453292519943295)
FLOATS(rad2deg, x * 57.29578f, x * 57.29577951308232)
NUMBERS(abs, fabsf(x), fabs(x), int_abs(x))
NUMBERS_COMPLEX(neg, -x, -x, 0 - (uint64_t)x, -x)
NUMBERS(sign, float_sign(x), double_sign(x), (x > 0) - (x < 0))
NUMBERS_COMPLEX(square, x *x, x *x, (uint64_t)x *(uint64_t)x, x *x)
NUMBERS_COMPLEX(sgn, float_sign(x), double_sign(x), (x > 0) - (x < 0), complex_sign(x))
NUMBERS(floor, floorf(x), floor(x), x)
NUMBERS(ceil, ceilf(x), ceil(x), x)
NUMBERS(trunc, truncf(x), trunc(x), x)
NUMBERS(frac, x - truncf(x), x - trunc(x), x & 0)
PREDICATE_COMPLEX(isnan, x != x, (x & 0) != 0, x != x)
PREDICATE_COMPLEX(isinf, x - x != x - x && x == x, (x & 0) != 0, isinf(creal(x)) || isinf(cimag(x)))
PREDICATE_COMPLEX(isfinite, x - x == x - x, (x & 0) == 0, isfinite(creal(x)) && isfinite(cimag(x)))
PREDICATE(signbit, signbit(x) != 0, x < 0)
PREDICATE(isposinf, x == (float)INFINITY, (x & 0) != 0)
PREDICATE(isneginf, x == (float)-INFINITY, (x & 0) != 0)
#undef FLOATS
#undef FLOATS_COMPLEX
#undef NUMBERS
#undef NUMBERS_COMPLEX
#undef PREDICATE
#undef PREDICATE_COMPLEX

/* round(self, decimals): halves go to the even neighbour. */
typedef struct scale {
    double up, down;
} scale;
FXS_LOOP1(round_f32, float, float, scale, rintf(x))
FXS_LOOP1(round_f64, double, double, scale, rint(x))
FXS_LOOP1(round_i64, int64_t, int64_t, scale, x)
FXS_LOOP1(round_to_f32, float, float, scale,
          rintf(x *(float)p->up / (float)p->down) * (float)p->down / (float)p->up)
FXS_LOOP1(round_to_f64, double, double, scale, rint(x * p->up / p->down) * p->down / p->up)
static const fxs_loops round_loops = {round_f32, round_f64, round_i64, false},
                       round_to_loops = {round_to_f32, round_to_f64, NULL, false};

static fxs_status run_round(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    int64_t decimals = fxs_arg_int(c, 1);
    scale s = {.up = decimals > 0 ? pow(10, (double)decimals) : 1,
               .down = decimals < 0 ? pow(10, -(double)decimals) : 1};
    return fxs_loop_run(c, c->out[0], decimals ? &round_to_loops : &round_loops, &o,
                        fxs_common_type(&o), &s);
}

static fxs_status run_copy(fxs_call *c) {
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    return FXS_OK;
}

/* ---- infer
 * --------------------------------------------------------------------------------------------- */

static fxs_status infer_as(fxs_call *c, fxs_dtype result) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_out_like(c, fxs_arg_tensor(c, 0), result);
}

static fxs_status infer_float(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    return infer_as(c, fxs_common_float(&o));
}

static fxs_status infer_same(fxs_call *c) { return infer_as(c, fxs_arg_tensor(c, 0)->dtype); }
static fxs_status infer_bool(fxs_call *c) { return infer_as(c, FXS_BOOL); }

/* deg2rad and rad2deg multiply into a tensor like their argument. */
static fxs_status infer_degrees(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    int64_t strides[FXS_MAX_DIM];
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_strides_like(t, strides);
    return fxs_out_new(c, fxs_common_float(&o), t->ndim, t->sizes, strides);
}

/* isinf is |x| == inf, and isfinite (x == x) * (|x| != inf): of complex numbers by their parts, of
 * integers a tensor like x. */
static fxs_status infer_infinite(fxs_call *c) {
    fxs_tensor t = *fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, t.dtype));
    if (!fxs_is_floating(t.dtype) && !fxs_is_complex(t.dtype)) {
        int64_t strides[FXS_MAX_DIM];
        fxs_strides_like(&t, strides);
        return fxs_out_new(c, FXS_BOOL, t.ndim, t.sizes, strides);
    }
    for (int i = 0; i < t.ndim && fxs_is_complex(t.dtype); i++)
        t.strides[i] *= 2;
    t.dtype = fxs_real_of(t.dtype);
    FXS_TRY(fxs_iterated_strides(c, &t, false, t.strides)); /* |x| */
    fxs_tensor absolute = t, other;
    FXS_TRY(fxs_iterated_strides(c, &absolute, true, absolute.strides));
    if (strcmp(c->op->name, "isinf") == 0)
        return fxs_out_new(c, FXS_BOOL, t.ndim, t.sizes, absolute.strides);
    other = absolute;
    fxs_operands o = {.n = 2, .v = {fxs_of_tensor(&t), fxs_of_tensor(&other)}};
    t.dtype = other.dtype = FXS_BOOL;
    return fxs_out_pointwise(c, &o, FXS_BOOL);
}

static fxs_status infer_not_bool(fxs_call *c) {
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    return infer_same(c);
}

static fxs_status infer_neg(fxs_call *c) {
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "negation, the `-` operator, on a bool tensor is not supported: to "
                          "invert a mask, use the "
                          "`~` or `logical_not()` operator instead");
    return infer_same(c);
}

/* bool squares to int64, as pow(bool, 2) does. */
static fxs_status infer_square(fxs_call *c) {
    fxs_dtype d = fxs_arg_tensor(c, 0)->dtype;
    return infer_as(c, d == FXS_BOOL ? FXS_INT64 : d);
}

static fxs_status infer_frac(fxs_call *c) {
    if (!fxs_is_floating(fxs_arg_tensor(c, 0)->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s",
                          fxs_dtype_name(fxs_arg_tensor(c, 0)->dtype));
    return infer_same(c);
}

static fxs_status infer_round(fxs_call *c) {
    return fxs_arg_int(c, 1) ? infer_frac(c) : infer_not_bool(c);
}

/* positive(x) is x itself. */
static fxs_status infer_positive(fxs_call *c) {
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "the `+` operator, on a bool tensor is not supported");
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static fxs_status infer_abs(fxs_call *c) {
    return fxs_is_complex(fxs_arg_tensor(c, 0)->dtype) ? fxs_complex_abs_infer(c)
                                                       : infer_not_bool(c);
}

static fxs_status run_any_abs(fxs_call *c) {
    return fxs_is_complex(fxs_arg_tensor(c, 0)->dtype) ? fxs_complex_abs_run(c) : run_abs(c);
}

/* Two and a half dozen rows that differ in name and function only. */
#define ROW(op, infer, spellings)                                                                  \
    {                                                                                              \
#op, "(Tensor self) -> Tensor", "torch." #op " Tensor." #op spellings, infer, run_##op,    \
            fxs_cost_one, FXS_OP_POINTWISE                                                         \
    }
#define COMPLEX_ROW(op, infer, spellings)                                                          \
    {                                                                                              \
#op, "(Tensor self) -> Tensor", "torch." #op " Tensor." #op spellings, infer, run_##op,    \
            fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_COMPLEX                                        \
    }
#define QUESTION(op, infer, flags)                                                                 \
    {                                                                                              \
#op, "(Tensor self) -> Tensor", "torch." #op " Tensor." #op, infer, run_##op,              \
            fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_NO_INPLACE | (flags)                           \
    }

const fxs_op fxs_ops_unary[] = {
    COMPLEX_ROW(exp, infer_float, ""),
    ROW(exp2, infer_float, " torch._C._special.special_exp2"),
    ROW(expm1, infer_float, " torch._C._special.special_expm1"),
    COMPLEX_ROW(log, infer_float, ""),
    ROW(log1p, infer_float, " torch._C._special.special_log1p"),
    COMPLEX_ROW(log2, infer_float, ""),
    COMPLEX_ROW(log10, infer_float, ""),
    COMPLEX_ROW(sqrt, infer_float, ""),
    COMPLEX_ROW(rsqrt, infer_float, ""),
    COMPLEX_ROW(reciprocal, infer_float, ""),
    COMPLEX_ROW(sin, infer_float, ""),
    COMPLEX_ROW(cos, infer_float, ""),
    COMPLEX_ROW(tan, infer_float, ""),
    COMPLEX_ROW(asin, infer_float, " torch.arcsin Tensor.arcsin"),
    COMPLEX_ROW(acos, infer_float, " torch.arccos Tensor.arccos"),
    COMPLEX_ROW(atan, infer_float, " torch.arctan Tensor.arctan"),
    COMPLEX_ROW(sinh, infer_float, ""),
    COMPLEX_ROW(cosh, infer_float, ""),
    COMPLEX_ROW(tanh, infer_float, " torch.nn.functional.tanh"),
    COMPLEX_ROW(asinh, infer_float, " torch.arcsinh Tensor.arcsinh"),
    COMPLEX_ROW(acosh, infer_float, " torch.arccosh Tensor.arccosh"),
    COMPLEX_ROW(atanh, infer_float, " torch.arctanh Tensor.arctanh"),
    ROW(erf, infer_float, " torch._C._special.special_erf"),
    ROW(erfc, infer_float, " torch._C._special.special_erfc"),
    ROW(erfinv, infer_float, " torch._C._special.special_erfinv"),
    ROW(lgamma, infer_float, " torch._C._special.special_gammaln"),
    COMPLEX_ROW(sigmoid, infer_float,
                " torch.nn.functional.sigmoid torch._C._special.special_expit"),
    ROW(logit, infer_float, " torch._C._special.special_logit"),
    ROW(deg2rad, infer_degrees, ""),
    ROW(rad2deg, infer_degrees, ""),
    {"abs", "(Tensor self) -> Tensor",
     "torch.abs Tensor.abs torch.absolute Tensor.absolute operator.abs builtins.abs Tensor.__abs__",
     infer_abs, run_any_abs, fxs_cost_one, FXS_OP_POINTWISE},
    COMPLEX_ROW(neg, infer_neg, " torch.negative Tensor.negative operator.neg Tensor.__neg__"),
    ROW(sign, infer_same, ""),
    COMPLEX_ROW(sgn, infer_same, ""),
    COMPLEX_ROW(square, infer_square, ""),
    ROW(floor, infer_not_bool, ""),
    ROW(ceil, infer_not_bool, ""),
    ROW(trunc, infer_not_bool, " torch.fix Tensor.fix"),
    ROW(frac, infer_frac, ""),
    {"round", "(Tensor self, *, int decimals=0) -> Tensor",
     "torch.round Tensor.round torch._C._special.special_round", infer_round, run_round,
     fxs_cost_one, FXS_OP_POINTWISE},
    {"positive", "(Tensor self) -> Tensor",
     "torch.positive Tensor.positive operator.pos Tensor.__pos__", infer_positive, run_copy, NULL,
     FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    QUESTION(isnan, infer_bool, FXS_OP_COMPLEX),
    QUESTION(isinf, infer_infinite, FXS_OP_COMPLEX),
    QUESTION(isfinite, infer_infinite, FXS_OP_COMPLEX),
    QUESTION(signbit, infer_bool, 0),
    QUESTION(isposinf, infer_bool, 0),
    QUESTION(isneginf, infer_bool, 0),
    {0},
};
#undef ROW
#undef COMPLEX_ROW
#undef QUESTION
