/* arithmetic.c: add sub mul div floor_divide remainder fmod pow maximum minimum atan2 and their
 * reflected forms, on tensors with tensors or numbers. Numbers with numbers are in scalar_number.c.
 * Types and strides come from iterate.c.
 */
#include <complex.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/complex.h"
#include "kernels/compose.h"
#include "kernels/loops.h"

/* What loops may need besides elements. */
typedef struct extra {
    double f;
    float f32;
    int64_t i;
    double complex c;
    atomic_bool *by_zero;
} extra;

/* ---- elements
 * ------------------------------------------------------------------------------------------ */

static inline int64_t wrap_add(int64_t x, int64_t y) {
    return (int64_t)((uint64_t)x + (uint64_t)y);
}
static inline int64_t wrap_mul(int64_t x, int64_t y) {
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

/* By the formula alone, as PyTorch multiplies: an infinity times 0 is NaN. */
static inline double complex plain_product(double complex a, double complex b) {
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b),
                 creal(a) * cimag(b) + cimag(a) * creal(b));
}

static inline int64_t trunc_div(int64_t x, int64_t y, const extra *p) {
    if (y == 0) {
        atomic_store_explicit(p->by_zero, true, memory_order_relaxed);
        return 0;
    }
    return y == -1 ? wrap_mul(x, -1) : x / y;
}

static inline int64_t floor_div(int64_t x, int64_t y, const extra *p) {
    int64_t q = trunc_div(x, y, p);
    return y != 0 && y != -1 && x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

static inline int64_t int_fmod(int64_t x, int64_t y, const extra *p) {
    trunc_div(0, y, p);
    return y == 0 || y == -1 ? 0 : x % y;
}

static inline int64_t int_remainder(int64_t x, int64_t y, const extra *p) {
    int64_t m = int_fmod(x, y, p);
    return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

/* Python's floor division of floats: exact where x / y rounds over an integer. */
static inline double float_floor_div(double x, double y) {
    if (y == 0)
        return x / y;
    double m = fmod(x, y), q = (x - m) / y;
    if (m != 0 && (y < 0) != (m < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, x / y);
    double f = floor(q);
    return q - f > 0.5 ? f + 1 : f;
}

static inline double float_remainder(double x, double y) {
    double m = fmod(x, y);
    return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

static inline int64_t int_pow(int64_t x, int64_t y) {
    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    int64_t r = 1;
    for (; y; y >>= 1) {
        if (y & 1)
            r = wrap_mul(r, x);
        x = wrap_mul(x, x);
    }
    return r;
}

/* Exact for the powers that PyTorch does without logarithms. */
static double complex complex_pow(double complex x, double complex y) {
    return y == 0 ? 1 : y == 1 ? x : y == 2 ? x * x : cpow(x, y);
}

#define FLOATS(op, expr32, expr64)                                                                 \
    FXS_LOOP2(op##_f32, float, float, extra, expr32)                                               \
    FXS_LOOP2(op##_f64, double, double, extra, expr64)
#define NUMBERS(op, expr32, expr64, int_expr)                                                      \
    FLOATS(op, expr32, expr64)                                                                     \
    FXS_LOOP2(op##_i64, int64_t, int64_t, extra, int_expr)                                         \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, false};

#define NUMBERS_COMPLEX(op, expr32, expr64, int_expr, complex_expr)                                \
    FLOATS(op, expr32, expr64)                                                                     \
    FXS_LOOP2(op##_i64, int64_t, int64_t, extra, int_expr)                                         \
    FXS_LOOP2(op##_c128, double complex, double complex, extra, complex_expr)                      \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, false, op##_c128};

NUMBERS_COMPLEX(add, x + p->f32 * y, x + p->f * y, wrap_add(x, wrap_mul(p->i, y)),
                x + plain_product(p->c, y))
NUMBERS_COMPLEX(rsub, y - p->f32 * x, y - p->f * x, wrap_add(y, wrap_mul(-p->i, x)),
                y - plain_product(p->c, x))
NUMBERS_COMPLEX(mul, x *y, x *y, wrap_mul(x, y), plain_product(x, y))
NUMBERS(floor_divide, float_floor_div(x, y), float_floor_div(x, y), floor_div(x, y, p))
NUMBERS(trunc_divide, truncf(x / y), trunc(x / y), trunc_div(x, y, p))
NUMBERS(remainder, float_remainder(x, y), float_remainder(x, y), int_remainder(x, y, p))
NUMBERS(fmod, fmodf(x, y), fmod(x, y), int_fmod(x, y, p))
NUMBERS_COMPLEX(pow, powf(x, y), pow(x, y), int_pow(x, y), complex_pow(x, y))
NUMBERS(maximum, x > y || x != x ? x : y, x > y || x != x ? x : y, x > y ? x : y)
NUMBERS(minimum, x < y || x != x ? x : y, x < y || x != x ? x : y, x < y ? x : y)
NUMBERS(fmax, fmaxf(x, y), fmax(x, y), x > y ? x : y)
NUMBERS(fmin, fminf(x, y), fmin(x, y), x < y ? x : y)
FLOATS(div, x / y, x / y)
FXS_LOOP2(div_c128, double complex, double complex, extra, fxs_complex_quotient(x, y))
static const fxs_loops div_loops = {div_f32, div_f64, NULL, false, div_c128};
FLOATS(atan2, atan2f(x, y), atan2(x, y))
static const fxs_loops atan2_loops = {atan2_f32, atan2_f64, NULL, false};
FLOATS(copysign, copysignf(x, y), copysign(x, y))
static const fxs_loops copysign_loops = {copysign_f32, copysign_f64, NULL, false};
FLOATS(hypot, hypotf(x, y), hypot(x, y))
static const fxs_loops hypot_loops = {hypot_f32, hypot_f64, NULL, false};
#undef FLOATS
#undef NUMBERS
#undef NUMBERS_COMPLEX

/* Powers that networks use, without pow. */
#define POWER(op, expr)                                                                            \
    FXS_LOOP1(op##_f32, float, float, extra, expr)                                                 \
    FXS_LOOP1(op##_f64, double, double, extra, expr)                                               \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false};
POWER(square, x *x)
POWER(cube, x *x *x)
POWER(inverse, 1 / x)
POWER(inverse_square, 1 / (x * x))
#undef POWER
FXS_LOOP1(root_f32, float, float, extra, sqrtf(x))
FXS_LOOP1(root_f64, double, double, extra, sqrt(x))
FXS_LOOP1(inverse_root_f32, float, float, extra, 1 / sqrtf(x))
FXS_LOOP1(inverse_root_f64, double, double, extra, 1 / sqrt(x))
static const fxs_loops root_loops = {root_f32, root_f64, NULL, false},
                       inverse_root_loops = {inverse_root_f32, inverse_root_f64, NULL, false};

/* ---- infer
 * --------------------------------------------------------------------------------------------- */

/* Two numbers of one type are tensors of that type to PyTorch: of Python's, which have 64 bits. Of
 * two types they become one of the default types. */
static fxs_dtype arithmetic_type(const fxs_operands *o) {
    fxs_dtype d = fxs_common_type(o);
    bool alike = o->n > 1 && o->v[0].tag != FXS_V_TENSOR && o->v[0].tag == o->v[1].tag;
    if (!alike)
        return d;
    return d == FXS_FLOAT32 ? FXS_FLOAT64 : d == FXS_COMPLEX64 ? FXS_COMPLEX128 : d;
}
static fxs_dtype arithmetic_float(const fxs_operands *o) {
    fxs_dtype d = arithmetic_type(o);
    return fxs_is_integral(d) || d == FXS_BOOL ? FXS_FLOAT32 : d;
}

static fxs_dtype common_of(const fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    return arithmetic_type(&o);
}

static fxs_dtype common_float_of(const fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    return arithmetic_float(&o);
}

static fxs_status infer_common(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = arithmetic_type(&o);
    FXS_TRY(fxs_check_computable(c, d));
    return fxs_out_pointwise(c, &o, d);
}

static fxs_status infer_float(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = arithmetic_float(&o);
    FXS_TRY(fxs_check_computable(c, d));
    return fxs_out_pointwise(c, &o, d);
}

static fxs_status infer_floats_only(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = arithmetic_type(&o);
    if (!fxs_is_floating(d))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    return infer_float(c);
}

static fxs_status infer_not_bool(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    if (arithmetic_type(&o) == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    return infer_common(c);
}

/* torch.remainder(other, self): the other comes first; for pow it is copied. */
static fxs_status infer_reflected(fxs_call *c) {
    fxs_operands o = {.n = 2, .v = {c->arg[1], c->arg[0]}};
    fxs_tensor copy;
    if (fxs_arg_tensor(c, 1) && strcmp(c->op->name, "rpow") == 0) {
        copy = *fxs_arg_tensor(c, 1);
        fxs_strides_like(fxs_arg_tensor(c, 1), copy.strides);
        o.v[0] = fxs_of_tensor(&copy);
    }
    fxs_dtype d = arithmetic_type(&o);
    FXS_TRY(fxs_check_computable(c, d));
    if (d == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    return fxs_out_pointwise(c, &o, d);
}

/* Reflected division is self.reciprocal() * other, rounding and strides included. */
static void make_rdiv(fxs_compose *k) {
    fxs_tensor *r = FXS_DO(k, "reciprocal", k->call->arg[0]);
    fxs_give(k, FXS_DO(k, "mul", fxs_t(r), k->call->arg[1]));
}
/* 2 / x, as Python calls it */
static void make_number_div(fxs_compose *k) {
    fxs_tensor *r = FXS_DO(k, "reciprocal", k->call->arg[1]);
    fxs_give(k, FXS_DO(k, "mul", fxs_t(r), k->call->arg[0]));
}
FXS_COMPOSED_FREE(rdiv)
FXS_COMPOSED_FREE(number_div)

static bool is_bool(const fxs_value *v) {
    return v->tag == FXS_V_TENSOR ? v->u.tensor->dtype == FXS_BOOL : v->tag == FXS_V_BOOL;
}

/* add(self, other, *, alpha) and its kin: alpha must be of a kind that the result can hold. */
static fxs_status infer_add(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = arithmetic_type(&o);
    if (c->arg[2].tag == FXS_V_COMPLEX && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "for non-complex tensors, argument 'alpha' must not be a complex number");
    if (c->arg[2].tag == FXS_V_FLOAT && !fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(
            c, FXS_ETYPE,
            "for integral tensors, argument 'alpha' must not be a floating point number");
    if (c->arg[2].tag == FXS_V_BOOL && d != FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "a boolean 'alpha' is only supported for boolean results");
    return infer_common(c);
}

static fxs_status infer_sub(fxs_call *c) {
    if (is_bool(&c->arg[0]) || is_bool(&c->arg[1]))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "subtraction, the `-` operator, with a bool tensor is not supported: to "
                          "invert a mask, use "
                          "the `~` or `logical_not()` operator instead");
    return infer_add(c);
}

/* sub(other, self) */
static fxs_status infer_rsub(fxs_call *c) {
    fxs_value swapped[] = {c->arg[1], c->arg[0], c->arg[2]};
    const fxs_value *given = c->arg;
    c->arg = swapped;
    fxs_status s = infer_sub(c);
    c->arg = given;
    return s;
}

static fxs_status infer_div(fxs_call *c) {
    const char *mode = fxs_arg_str(c, 2);
    if (fxs_arg_is_none(c, 2))
        return infer_float(c);
    if (strcmp(mode, "trunc") != 0 && strcmp(mode, "floor") != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "rounding_mode must be None, 'trunc' or 'floor', not '%s'",
                          mode);
    if (fxs_is_complex(common_of(c)))
        return FXS_REFUSE(c, FXS_ETYPE, "rounding_mode '%s' is not implemented for torch.%s", mode,
                          fxs_dtype_name(common_of(c)));
    return infer_not_bool(c);
}

/* torch.pow of a number lies row by row; Python's operator asks x.__rpow__. */
static fxs_status infer_pow_of_number(fxs_call *c) {
    FXS_TRY(infer_not_bool(c));
    if (!c->spelling || strncmp(c->spelling, "torch.", 6) == 0)
        fxs_strides_of(c->out[0]->ndim, c->out[0]->sizes, NULL, c->out[0]->strides);
    return FXS_OK;
}

static fxs_status infer_pow(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = arithmetic_type(&o);
    FXS_TRY(fxs_check_computable(c, d));
    if (d == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    if (c->arg[1].tag == FXS_V_TENSOR)
        return fxs_out_pointwise(c, &o, d);
    if (!fxs_is_floating(d) && !fxs_is_complex(d) && fxs_arg_float(c, 1) < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "integers to negative integer powers are not allowed");
    return fxs_out_like(c, fxs_arg_tensor(c, 0), d);
}

/* ---- kernels
 * ------------------------------------------------------------------------------------------- */

/* Runs over (first, second); a division of integers by zero is an error, as in PyTorch. */
static fxs_status run_two(fxs_call *c, const fxs_loops *loops, fxs_value first, fxs_value second,
                          fxs_dtype common) {
    atomic_bool by_zero = false;
    fxs_operands o = {.n = 2, .v = {first, second}};
    extra e = {.f = 1, .f32 = 1, .i = 1, .by_zero = &by_zero};
    FXS_TRY(fxs_loop_run(c, c->out[0], loops, &o, common, &e));
    if (by_zero)
        return FXS_REFUSE(c, FXS_EINVAL, "division by zero (ZeroDivisionError)");
    return FXS_OK;
}

static fxs_status run_scaled(fxs_call *c, const fxs_loops *loops, double sign) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    bool pair = c->arg[2].tag == FXS_V_COMPLEX;
    double alpha = sign * (pair ? c->arg[2].u.c[0] : fxs_arg_float(c, 2));
    int64_t whole = pair || c->arg[2].tag == FXS_V_FLOAT ? 0 : fxs_arg_int(c, 2);
    extra e = {.f = alpha,
               .f32 = (float)alpha,
               .i = sign < 0 ? wrap_mul(whole, -1) : whole,
               .c = CMPLX(alpha, pair ? sign * c->arg[2].u.c[1] : 0)};
    return fxs_loop_run(c, c->out[0], loops, &o, arithmetic_type(&o), &e);
}

static fxs_status run_add(fxs_call *c) { return run_scaled(c, &add_loops, 1); }

static fxs_status run_sub(fxs_call *c) { return run_scaled(c, &add_loops, -1); }

static fxs_status run_rsub(fxs_call *c) { return run_scaled(c, &rsub_loops, 1); }

#define KERNEL(op, common)                                                                         \
    static fxs_status run_##op(fxs_call *c) {                                                      \
        return run_two(c, &op##_loops, c->arg[0], c->arg[1], common(c));                           \
    }
KERNEL(floor_divide, common_of)
KERNEL(remainder, common_of)
KERNEL(fmod, common_of)
KERNEL(maximum, common_of)
KERNEL(minimum, common_of)
KERNEL(fmax, common_of)
KERNEL(fmin, common_of)
KERNEL(atan2, common_float_of)
KERNEL(copysign, common_float_of)
KERNEL(hypot, common_float_of)
#undef KERNEL

static fxs_status run_mul(fxs_call *c) {
    return run_two(c, &mul_loops, c->arg[0], c->arg[1], common_of(c));
}

static fxs_status run_rpow(fxs_call *c) {
    return run_two(c, &pow_loops, c->arg[1], c->arg[0], common_of(c));
}
static fxs_status run_rfloor_divide(fxs_call *c) {
    return run_two(c, &floor_divide_loops, c->arg[1], c->arg[0], common_of(c));
}
static fxs_status run_rremainder(fxs_call *c) {
    return run_two(c, &remainder_loops, c->arg[1], c->arg[0], common_of(c));
}

static fxs_status run_div(fxs_call *c) {
    if (fxs_arg_is_none(c, 2))
        return run_two(c, &div_loops, c->arg[0], c->arg[1], common_float_of(c));
    bool down = fxs_arg_str(c, 2)[0] == 'f';
    return run_two(c, down ? &floor_divide_loops : &trunc_divide_loops, c->arg[0], c->arg[1],
                   common_of(c));
}

static fxs_status run_pow(fxs_call *c) {
    static const struct {
        double exponent;
        const fxs_loops *loops;
    } short_ways[] = {
        {2, &square_loops},   {0.5, &root_loops},          {3, &cube_loops},
        {-1, &inverse_loops}, {-0.5, &inverse_root_loops}, {-2, &inverse_square_loops}};
    fxs_dtype common = common_of(c);
    if (c->arg[1].tag != FXS_V_TENSOR && fxs_is_floating(common)) {
        fxs_operands o = fxs_operands_of(c, 0, 1);
        for (size_t i = 0; i < sizeof short_ways / sizeof *short_ways; i++)
            if (fxs_arg_float(c, 1) == short_ways[i].exponent)
                return fxs_loop_run(c, c->out[0], short_ways[i].loops, &o, common, NULL);
    }
    return run_two(c, &pow_loops, c->arg[0], c->arg[1], common);
}

/* Multiply and add where alpha is not 1, one FLOP otherwise. */
static fxs_cost cost_add(const fxs_call *c) {
    fxs_cost cost = fxs_cost_one(c);
    if (c->nargs > 2 && fxs_arg_float(c, 2) != 1)
        cost.flops *= 2;
    return cost;
}

#define WITH_OTHER "(Tensor self, Tensor|Scalar other) -> Tensor"
#define NUMBER_FIRST "(Scalar self, Tensor other) -> Tensor"
#define WITH_ALPHA "(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor"
#define NUMBER_ALPHA "(Scalar self, Tensor other, *, Scalar alpha=1) -> Tensor"

const fxs_op fxs_ops_arithmetic[] = {
    {"add", WITH_ALPHA,
     "operator.add Tensor.add torch.add Tensor.__add__ Tensor.__radd__ operator.iadd! "
     "Tensor.__iadd__!",
     infer_add, run_add, cost_add, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"add", NUMBER_ALPHA, "operator.add operator.iadd torch.add", infer_add, run_add, cost_add,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"sub", WITH_ALPHA,
     "operator.sub Tensor.sub torch.sub Tensor.subtract torch.subtract Tensor.__sub__ "
     "operator.isub! Tensor.__isub__!",
     infer_sub, run_sub, cost_add, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"sub", NUMBER_ALPHA, "operator.sub operator.isub torch.sub torch.subtract", infer_sub, run_sub,
     cost_add, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    /* Two numbers are tensors without dimensions for these. */
    {"add", "(Scalar self, Scalar other, *, Scalar alpha=1) -> Tensor", "torch.add", infer_add,
     run_add, cost_add, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"sub", "(Scalar self, Scalar other, *, Scalar alpha=1) -> Tensor", "torch.sub torch.subtract",
     infer_sub, run_sub, cost_add, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"mul", "(Scalar self, Scalar other) -> Tensor", "torch.mul torch.multiply", infer_common,
     run_mul, fxs_cost_one, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"div", "(Scalar self, Scalar other, *, str? rounding_mode=None) -> Tensor",
     "torch.div torch.divide torch.true_divide", infer_div, run_div, fxs_cost_one,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"floor_divide", "(Scalar self, Scalar other) -> Tensor", "torch.floor_divide", infer_not_bool,
     run_floor_divide, fxs_cost_one, FXS_OP_NO_INPLACE},
    {"rsub", WITH_ALPHA, "torch.rsub Tensor.__rsub__", infer_rsub, run_rsub, cost_add,
     FXS_OP_POINTWISE | FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"mul", WITH_OTHER,
     "operator.mul Tensor.mul torch.mul Tensor.multiply torch.multiply Tensor.__mul__ "
     "Tensor.__rmul__ operator.imul! "
     "Tensor.__imul__!",
     infer_common, run_mul, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"mul", NUMBER_FIRST, "operator.mul operator.imul torch.mul torch.multiply", infer_common,
     run_mul, fxs_cost_one, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"div", "(Tensor self, Tensor|Scalar other, *, str? rounding_mode=None) -> Tensor",
     "operator.truediv Tensor.div torch.div Tensor.divide torch.divide Tensor.true_divide "
     "torch.true_divide "
     "Tensor.__truediv__ Tensor.__div__ operator.itruediv! Tensor.__itruediv__! Tensor.__idiv__!",
     infer_div, run_div, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"div", "(Scalar self, Tensor other, *, str? rounding_mode=None) -> Tensor",
     "torch.div torch.divide torch.true_divide", infer_div, run_div, fxs_cost_one,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"div", NUMBER_FIRST, "operator.truediv operator.itruediv", infer_number_div, run_number_div,
     fxs_cost_one, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"rdiv", WITH_OTHER, "Tensor.__rtruediv__ Tensor.__rdiv__", infer_rdiv, run_rdiv, fxs_cost_one,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"floor_divide", WITH_OTHER,
     "operator.floordiv Tensor.floor_divide torch.floor_divide Tensor.__floordiv__ "
     "operator.ifloordiv! "
     "Tensor.__ifloordiv__!",
     infer_not_bool, run_floor_divide, fxs_cost_one, FXS_OP_POINTWISE},
    {"floor_divide", NUMBER_FIRST, "operator.floordiv operator.ifloordiv torch.floor_divide",
     infer_not_bool, run_floor_divide, fxs_cost_one, FXS_OP_NO_INPLACE},
    {"rfloor_divide", WITH_OTHER, "Tensor.__rfloordiv__", infer_reflected, run_rfloor_divide,
     fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    {"remainder", WITH_OTHER,
     "operator.mod Tensor.remainder torch.remainder Tensor.__mod__ operator.imod! Tensor.__imod__!",
     infer_not_bool, run_remainder, fxs_cost_one, FXS_OP_POINTWISE},
    {"remainder", NUMBER_FIRST, "operator.mod operator.imod torch.remainder", infer_not_bool,
     run_remainder, fxs_cost_one, FXS_OP_NO_INPLACE},
    {"rremainder", WITH_OTHER, "Tensor.__rmod__", infer_reflected, run_rremainder, fxs_cost_one,
     FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    {"fmod", WITH_OTHER, "Tensor.fmod torch.fmod", infer_not_bool, run_fmod, fxs_cost_one,
     FXS_OP_POINTWISE},
    {"pow", "(Tensor self, Tensor|Scalar exponent) -> Tensor",
     "operator.pow Tensor.pow torch.pow Tensor.__pow__ operator.ipow! "
     "Tensor.__ipow__!",
     infer_pow, run_pow, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"pow", "(Scalar self, Tensor exponent) -> Tensor", "operator.pow operator.ipow torch.pow",
     infer_pow_of_number, run_pow, fxs_cost_one, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"rpow", WITH_OTHER, "Tensor.__rpow__", infer_reflected, run_rpow, fxs_cost_one,
     FXS_OP_POINTWISE | FXS_OP_NO_INPLACE | FXS_OP_COMPLEX | FXS_OP_GRAD_OF_SELF},
    {"maximum", "(Tensor self, Tensor other) -> Tensor",
     "torch.maximum Tensor.maximum torch.max Tensor.max", infer_common, run_maximum, fxs_cost_one,
     FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    {"minimum", "(Tensor self, Tensor other) -> Tensor",
     "torch.minimum Tensor.minimum torch.min Tensor.min", infer_common, run_minimum, fxs_cost_one,
     FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    {"fmax", "(Tensor self, Tensor other) -> Tensor", "torch.fmax Tensor.fmax", infer_common,
     run_fmax, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    {"fmin", "(Tensor self, Tensor other) -> Tensor", "torch.fmin Tensor.fmin", infer_common,
     run_fmin, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_NO_INPLACE},
    {"atan2", "(Tensor self, Tensor other) -> Tensor",
     "torch.atan2 Tensor.atan2 torch.arctan2 Tensor.arctan2", infer_float, run_atan2, fxs_cost_one,
     FXS_OP_POINTWISE},
    {"copysign", WITH_OTHER, "torch.copysign Tensor.copysign", infer_float, run_copysign,
     fxs_cost_one, FXS_OP_POINTWISE},
    {"hypot", "(Tensor self, Tensor other) -> Tensor", "torch.hypot Tensor.hypot",
     infer_floats_only, run_hypot, fxs_cost_one, FXS_OP_POINTWISE},
    {0},
};
