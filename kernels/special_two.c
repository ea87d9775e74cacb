/* special_two.c: special functions of two arguments: incomplete gamma functions, zeta, polygamma,
 * mvlgamma, xlog1py, nextafter, and the orthogonal polynomials, whose degree is the second
 * argument. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/loops.h"
#include "kernels/special_math.h"

#define FLOATS_OF(op, expr32, expr64)                                                              \
    FXS_LOOP2(op##_f32, float, float, void, expr32)                                                \
    FXS_LOOP2(op##_f64, double, double, void, expr64)                                              \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false};                         \
    FXS_KERNEL(op, 2, fxs_common_float)
#define FLOATS(op, expr) FLOATS_OF(op, (float)(expr), expr)
#define POLYNOMIAL(op) FLOATS_OF(op, fxs_##op##f(x, degree((double)y)), fxs_##op(x, degree(y)))
#define SHIFTED(op)                                                                                \
    FLOATS_OF(shifted_##op, fxs_##op##f(2 * x - 1, degree((double)y)),                             \
              fxs_##op(2 * x - 1, degree(y)))

/* What is no int64 is no degree. */
static int64_t degree(double n) { return fabs(n) < 0x1p63 ? (int64_t)n : -1; }

FLOATS(igamma, fxs_gamma_lower((double)x, (double)y))
FLOATS(igammac, fxs_gamma_upper((double)x, (double)y))
FLOATS(zeta, fxs_zeta((double)x, (double)y))
FLOATS(xlog1py, isnan(y) ? (double)y : x == 0 ? 0 : (double)x * log1p((double)y))
POLYNOMIAL(chebyshev_t)
POLYNOMIAL(chebyshev_u)
POLYNOMIAL(chebyshev_v)
POLYNOMIAL(chebyshev_w)
SHIFTED(chebyshev_t)
SHIFTED(chebyshev_u)
SHIFTED(chebyshev_v)
SHIFTED(chebyshev_w)
POLYNOMIAL(hermite_h)
POLYNOMIAL(hermite_he)
POLYNOMIAL(laguerre_l)
POLYNOMIAL(legendre_p)
#undef POLYNOMIAL
#undef SHIFTED
#undef FLOATS
#undef FLOATS_OF

static fxs_status infer_float(fxs_call *c) {
    if (!fxs_arg_tensor(c, 0) && !fxs_arg_tensor(c, 1))
        return FXS_REFUSE(c, FXS_ETYPE, "one of the two arguments must be a tensor");
    fxs_operands o = fxs_operands_of(c, 0, 2);
    FXS_TRY(fxs_check_computable(c, fxs_common_float(&o)));
    return fxs_out_pointwise(c, &o, fxs_common_float(&o));
}

static fxs_status infer_only_float(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    return fxs_is_floating(d)
               ? infer_float(c)
               : FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
}

/* ---- nextafter: the neighbour in the tensor's own type
 * ------------------------------------------------------ */

/* bfloat16 is the upper half of float32. */
static float next_bfloat16(float x, float y) {
    uint32_t bits;
    if (isnan(x) || isnan(y) || x == y)
        return x == y ? y : NAN;
    memcpy(&bits, &x, sizeof bits);
    if (x == 0)
        bits = (y < 0 ? 0x80000000u : 0) | 0x10000u;
    else
        bits += (x < y) == (x > 0) ? 0x10000u : -0x10000u;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

FXS_LOOP2(nextafter_f32, float, float, bool, *p ? next_bfloat16(x, y) : nextafterf(x, y))
FXS_LOOP2(nextafter_f64, double, double, bool, nextafter(x, y))
static const fxs_loops nextafter_loops = {nextafter_f32, nextafter_f64, NULL, false};

static fxs_status run_nextafter(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    bool half = fxs_common_type(&o) == FXS_BFLOAT16;
    return fxs_loop_run(c, c->out[0], &nextafter_loops, &o, fxs_common_type(&o), &half);
}

static fxs_status infer_nextafter(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    return d == FXS_FLOAT32 || d == FXS_FLOAT64 || d == FXS_BFLOAT16
               ? fxs_out_pointwise(c, &o, d)
               : FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
}

/* ---- polygamma(n, x) and mvlgamma(x, p)
 * --------------------------------------------------------------------- */

static double multivariate(double x, int64_t p) {
    double sum = (double)(p * (p - 1)) / 4 * log(M_PI);
    for (int64_t i = 0; i < p; i++)
        sum += lgamma(x - (double)i / 2);
    return sum;
}

static double any_polygamma(double x, int64_t n) {
    return n == 0 ? fxs_digamma(x) : fxs_polygamma(n, x);
}

/* In float32 the sum underflows early; the factor n! stays in double. */
static float float_polygamma(float x, int64_t n) {
    if (n == 0)
        return (float)any_polygamma((double)x, n);
    if (n == 1 &&
        x < 0.5f) { /* the sine of a rounded multiple of pi is not 0, in PyTorch neither */
        float s = sinf((float)M_PI * x);
        return (float)(M_PI * M_PI) / (s * s) - (float)fxs_polygamma(1, 1 - (double)x);
    }
    return (float)((n % 2 ? 1 : -1) * tgamma((double)n + 1) *
                   (double)(float)fxs_zeta((double)n + 1, (double)x));
}

#define WITH_INT(op, function32, function)                                                         \
    FXS_LOOP1(op##_f32, float, float, int64_t, function32(x, *p))                                  \
    FXS_LOOP1(op##_f64, double, double, int64_t, function((double)x, *p))                          \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false};
WITH_INT(polygamma, float_polygamma, any_polygamma)
WITH_INT(mvlgamma, (float)multivariate, multivariate)
#undef WITH_INT

static fxs_status infer_with_int(fxs_call *c, int tensor) {
    fxs_operands o = fxs_operands_of(c, tensor, 1);
    FXS_TRY(fxs_check_computable(c, fxs_common_float(&o)));
    return fxs_out_like(c, fxs_arg_tensor(c, tensor), fxs_common_float(&o));
}

static fxs_status run_with_int(fxs_call *c, const fxs_loops *loops, int tensor) {
    fxs_operands o = fxs_operands_of(c, tensor, 1);
    int64_t n = fxs_arg_int(c, 1 - tensor);
    return fxs_loop_run(c, c->out[0], loops, &o, fxs_common_float(&o), &n);
}

static fxs_status infer_polygamma_at(fxs_call *c, int tensor) {
    if (fxs_arg_int(c, 1 - tensor) < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "n must not be negative");
    return infer_with_int(c, tensor);
}

static fxs_status infer_polygamma(fxs_call *c) { return infer_polygamma_at(c, 1); }
static fxs_status infer_x_polygamma(fxs_call *c) { return infer_polygamma_at(c, 0); }
static fxs_status run_polygamma(fxs_call *c) { return run_with_int(c, &polygamma_loops, 1); }
static fxs_status run_x_polygamma(fxs_call *c) { return run_with_int(c, &polygamma_loops, 0); }

static fxs_status infer_mvlgamma(fxs_call *c) {
    if (fxs_arg_int(c, 1) < 1)
        return FXS_REFUSE(c, FXS_EINVAL, "p has to be greater than or equal to 1");
    fxs_operands o = fxs_operands_of(c, 0, 1);
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_check_computable(c, t->dtype));
    if (t->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "the input tensor may not be a boolean tensor");
    return fxs_out_new(c, fxs_common_float(&o), t->ndim, t->sizes, NULL);
}
static fxs_status run_mvlgamma(fxs_call *c) { return run_with_int(c, &mvlgamma_loops, 0); }

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

#define SPECIAL(name) "torch._C._special.special_" name
#define BOTH(name) "torch." name " Tensor." name " "
#define ANY_PAIR(first, second) "(Tensor|Scalar " first ", Tensor|Scalar " second ") -> Tensor"
#define POINTWISE (FXS_OP_POINTWISE)
#define POLYNOMIAL(op)                                                                             \
    {                                                                                              \
#op, ANY_PAIR("x", "n"), SPECIAL(NAME_##op), infer_float, run_##op, fxs_cost_one,          \
            POINTWISE | FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD                                         \
    }
#define NAME_chebyshev_t "chebyshev_polynomial_t"
#define NAME_chebyshev_u "chebyshev_polynomial_u"
#define NAME_chebyshev_v "chebyshev_polynomial_v"
#define NAME_chebyshev_w "chebyshev_polynomial_w"
#define NAME_shifted_chebyshev_t "shifted_chebyshev_polynomial_t"
#define NAME_shifted_chebyshev_u "shifted_chebyshev_polynomial_u"
#define NAME_shifted_chebyshev_v "shifted_chebyshev_polynomial_v"
#define NAME_shifted_chebyshev_w "shifted_chebyshev_polynomial_w"
#define NAME_hermite_h "hermite_polynomial_h"
#define NAME_hermite_he "hermite_polynomial_he"
#define NAME_laguerre_l "laguerre_polynomial_l"
#define NAME_legendre_p "legendre_polynomial_p"

const fxs_op fxs_ops_special_two[] = {
    {"igamma", "(Tensor self, Tensor other) -> Tensor", BOTH("igamma") SPECIAL("gammainc"),
     infer_only_float, run_igamma, fxs_cost_one, POINTWISE},
    {"igammac", "(Tensor self, Tensor other) -> Tensor", BOTH("igammac") SPECIAL("gammaincc"),
     infer_only_float, run_igammac, fxs_cost_one, POINTWISE},
    {"zeta", ANY_PAIR("self", "other"), SPECIAL("zeta"), infer_float, run_zeta, fxs_cost_one,
     POINTWISE | FXS_OP_NO_INPLACE},
    {"xlog1py", ANY_PAIR("self", "other"), SPECIAL("xlog1py"), infer_float, run_xlog1py,
     fxs_cost_one, POINTWISE | FXS_OP_NO_INPLACE},
    {"nextafter", "(Tensor self, Tensor other) -> Tensor", BOTH("nextafter"), infer_nextafter,
     run_nextafter, fxs_cost_one, POINTWISE},
    {"polygamma", "(int n, Tensor self) -> Tensor", "torch.polygamma " SPECIAL("polygamma"),
     infer_polygamma, run_polygamma, fxs_cost_one, FXS_OP_NO_INPLACE},
    {"x_polygamma", "(Tensor self, int n) -> Tensor", "Tensor.polygamma", infer_x_polygamma,
     run_x_polygamma, fxs_cost_one, POINTWISE},
    {"mvlgamma", "(Tensor self, int p) -> Tensor", BOTH("mvlgamma") SPECIAL("multigammaln"),
     infer_mvlgamma, run_mvlgamma, fxs_cost_one, POINTWISE},
    POLYNOMIAL(chebyshev_t),
    POLYNOMIAL(chebyshev_u),
    POLYNOMIAL(chebyshev_v),
    POLYNOMIAL(chebyshev_w),
    POLYNOMIAL(shifted_chebyshev_t),
    POLYNOMIAL(shifted_chebyshev_u),
    POLYNOMIAL(shifted_chebyshev_v),
    POLYNOMIAL(shifted_chebyshev_w),
    POLYNOMIAL(hermite_h),
    POLYNOMIAL(hermite_he),
    POLYNOMIAL(laguerre_l),
    POLYNOMIAL(legendre_p),
    {0},
};
