/* arithmetic_special.c: two-argument functions that networks seldom call: xlogy logaddexp
 * logaddexp2 heaviside gcd lcm. They work as those of arithmetic.c do. */
#include <math.h>
#include <stdlib.h>

#include "kernels/families.h"
#include "kernels/loops.h"

static inline int64_t gcd(int64_t a, int64_t b) {
    uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a, y = b < 0 ? -(uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return (int64_t)x;
}

static inline int64_t lcm(int64_t a, int64_t b) {
    int64_t g = gcd(a, b), x;
    return g == 0 ? 0 : __builtin_mul_overflow(a / g, b, &x) ? 0 : llabs(x);
}

static inline double logaddexp(double x, double y) {
    if (isinf(x) && x == y)
        return x;
    return fmax(x, y) + log1p(exp(-fabs(x - y)));
}

static inline double logaddexp2(double x, double y) {
    if (isinf(x) && x == y)
        return x;
    return fmax(x, y) + log1p(exp2(-fabs(x - y))) * 1.4426950408889634;
}

#define FLOATS(op, expr)                                                                           \
    FXS_LOOP2(op##_f32, float, float, void, (float)(expr))                                         \
    FXS_LOOP2(op##_f64, double, double, void, expr)
FLOATS(xlogy, isnan(y) ? (double)y : x == 0 ? 0 : (double)x * log((double)y))
FLOATS(logaddexp, isnan(x) || isnan(y) ? (double)x + (double)y : logaddexp((double)x, (double)y))
FLOATS(logaddexp2, isnan(x) || isnan(y) ? (double)x + (double)y : logaddexp2((double)x, (double)y))
FLOATS(heaviside, x == 0 ? (double)y : x > 0 ? 1.0 : 0.0)
FXS_LOOP2(heaviside_i64, int64_t, int64_t, void, x == 0 ? y : x > 0)
FXS_LOOP2(gcd_i64, int64_t, int64_t, void, gcd(x, y))
FXS_LOOP2(lcm_i64, int64_t, int64_t, void, lcm(x, y))
#undef FLOATS

static const fxs_loops xlogy_loops = {xlogy_f32, xlogy_f64, NULL, false},
                       logaddexp_loops = {logaddexp_f32, logaddexp_f64, NULL, false},
                       logaddexp2_loops = {logaddexp2_f32, logaddexp2_f64, NULL, false},
                       heaviside_loops = {heaviside_f32, heaviside_f64, heaviside_i64, false},
                       gcd_loops = {NULL, NULL, gcd_i64, false},
                       lcm_loops = {NULL, NULL, lcm_i64, false};

static fxs_status infer_any_float(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    FXS_TRY(fxs_check_computable(c, fxs_common_float(&o)));
    return fxs_out_pointwise(c, &o, fxs_common_float(&o));
}

static fxs_status refuse_type(fxs_call *c, fxs_dtype d) {
    return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
}

static fxs_status infer_real(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    return fxs_is_floating(d) ? fxs_out_pointwise(c, &o, d) : refuse_type(c, d);
}

static fxs_status infer_whole(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    return fxs_is_integral(d) ? fxs_out_pointwise(c, &o, d) : refuse_type(c, d);
}

static fxs_status infer_heaviside(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    if (fxs_arg_tensor(c, 0)->dtype != fxs_arg_tensor(c, 1)->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "is not implemented for tensors of different types");
    FXS_TRY(fxs_check_computable(c, d));
    return fxs_out_pointwise(c, &o, d);
}

FXS_KERNEL(xlogy, 2, fxs_common_float)
FXS_KERNEL(logaddexp, 2, fxs_common_type)
FXS_KERNEL(logaddexp2, 2, fxs_common_type)
FXS_KERNEL(heaviside, 2, fxs_common_type)
FXS_KERNEL(gcd, 2, fxs_common_type)
FXS_KERNEL(lcm, 2, fxs_common_type)

#define PAIR "(Tensor self, Tensor other) -> Tensor"
#define BOTH(name) "torch." name " Tensor." name

const fxs_op fxs_ops_arithmetic_special[] = {
    {"xlogy", "(Tensor self, Tensor|Scalar other) -> Tensor",
     BOTH("xlogy") " torch._C._special.special_xlogy", infer_any_float, run_xlogy, fxs_cost_one,
     FXS_OP_POINTWISE},
    {"xlogy", "(Scalar self, Tensor other) -> Tensor",
     "torch.xlogy torch._C._special.special_xlogy", infer_any_float, run_xlogy, fxs_cost_one,
     FXS_OP_NO_INPLACE},
    {"logaddexp", PAIR, BOTH("logaddexp"), infer_real, run_logaddexp, fxs_cost_one,
     FXS_OP_NO_INPLACE},
    {"logaddexp2", PAIR, BOTH("logaddexp2"), infer_real, run_logaddexp2, fxs_cost_one,
     FXS_OP_NO_INPLACE},
    {"heaviside", "(Tensor self, Tensor values) -> Tensor", BOTH("heaviside"), infer_heaviside,
     run_heaviside, fxs_cost_one, FXS_OP_POINTWISE},
    {"gcd", PAIR, BOTH("gcd"), infer_whole, run_gcd, fxs_cost_one, FXS_OP_POINTWISE},
    {"lcm", PAIR, BOTH("lcm"), infer_whole, run_lcm, fxs_cost_one, FXS_OP_POINTWISE},
    {0},
};
#undef PAIR
#undef BOTH
