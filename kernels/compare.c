/* compare.c: comparisons, and logical and bitwise operators, of tensors with tensors or numbers.
 * Results of comparisons and logical operators are bool; bitwise ones keep the common integer type.
 */
#include <complex.h>

#include "kernels/loops.h"

/* ---- elements
 * ------------------------------------------------------------------------------------------ */

#define COMPARE(op, sign)                                                                          \
    FXS_LOOP2(op##_f32, uint8_t, float, void, x sign y)                                            \
    FXS_LOOP2(op##_f64, uint8_t, double, void, x sign y)                                           \
    FXS_LOOP2(op##_i64, uint8_t, int64_t, void, x sign y)                                          \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, true, op##_c128};           \
    FXS_KERNEL(op, 2, fxs_common_type)
FXS_LOOP2(eq_c128, uint8_t, double complex, void, x == y)
FXS_LOOP2(ne_c128, uint8_t, double complex, void, x != y)
COMPARE(eq, ==)
COMPARE(ne, !=)
#define lt_c128 NULL /* complex numbers have no order */
#define le_c128 NULL
#define gt_c128 NULL
#define ge_c128 NULL
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)
#undef COMPARE

/* Every operand is looked at as a double, or two of a complex number: zero or not is the same
 * there, whatever the types. */
static fxs_dtype as_double(const fxs_operands *o) {
    for (int i = 0; i < o->n; i++)
        if (o->v[i].tag == FXS_V_TENSOR && fxs_is_complex(o->v[i].u.tensor->dtype))
            return FXS_COMPLEX128;
    return FXS_FLOAT64;
}
#define LOGICAL(op, n, loop, expr)                                                                 \
    loop(op##_f64, uint8_t, double, void, expr)                                                    \
        loop(op##_c128, uint8_t, double complex, void,                                             \
             expr) static const fxs_loops op##_loops = {NULL, op##_f64, NULL, true, op##_c128};    \
    FXS_KERNEL(op, n, as_double)
LOGICAL(logical_and, 2, FXS_LOOP2, (x != 0) & (y != 0))
LOGICAL(logical_or, 2, FXS_LOOP2, (x != 0) | (y != 0))
LOGICAL(logical_xor, 2, FXS_LOOP2, (x != 0) ^ (y != 0))
LOGICAL(logical_not, 1, FXS_LOOP1, x == 0)
#undef LOGICAL

/* Shifts beyond the width give what torch's CPU gives: 0, or the sign. */
static inline int64_t shift_left(int64_t x, int64_t y) {
    return y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y);
}
static inline int64_t shift_right(int64_t x, int64_t y) { return x >> (y < 0 || y > 63 ? 63 : y); }

#define BITWISE(op, n, loop, expr)                                                                 \
    loop(op##_i64, int64_t, int64_t, void,                                                         \
         expr) static const fxs_loops op##_loops = {NULL, NULL, op##_i64, false};                  \
    FXS_KERNEL(op, n, fxs_common_type)
BITWISE(bitwise_and, 2, FXS_LOOP2, x &y)
BITWISE(bitwise_or, 2, FXS_LOOP2, x | y)
BITWISE(bitwise_xor, 2, FXS_LOOP2, x ^ y)
BITWISE(shift_left, 2, FXS_LOOP2, shift_left(x, y))
BITWISE(shift_right, 2, FXS_LOOP2, shift_right(x, y))
FXS_LOOP1(invert_i64, int64_t, int64_t, void, ~x)
static const fxs_loops invert_loops = {NULL, NULL, invert_i64, false};
#undef BITWISE

static fxs_status run_bitwise_not(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL)
        return run_logical_not(c);
    return fxs_loop_run(c, c->out[0], &invert_loops, &o, fxs_common_type(&o), NULL);
}

/* ---- infer
 * --------------------------------------------------------------------------------------------- */

static fxs_status infer_compare(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    FXS_TRY(fxs_check_computable(c, fxs_common_type(&o)));
    return fxs_out_pointwise(c, &o, FXS_BOOL);
}

static fxs_status infer_logical_not(fxs_call *c) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_out_like(c, fxs_arg_tensor(c, 0), FXS_BOOL);
}

static fxs_status check_bits(fxs_call *c, fxs_dtype d, bool bool_too) {
    FXS_TRY(fxs_check_computable(c, d));
    if (fxs_is_floating(d) || (d == FXS_BOOL && !bool_too))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    return FXS_OK;
}

static fxs_status infer_bitwise(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    FXS_TRY(check_bits(c, d, true));
    return fxs_out_pointwise(c, &o, d);
}

static fxs_status infer_shift(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype d = fxs_common_type(&o);
    FXS_TRY(check_bits(c, d, false));
    return fxs_out_pointwise(c, &o, d);
}

static fxs_status infer_bitwise_not(fxs_call *c) {
    fxs_dtype d = fxs_arg_tensor(c, 0)->dtype;
    FXS_TRY(check_bits(c, d, true));
    return fxs_out_like(c, fxs_arg_tensor(c, 0), d);
}

#define TWO "(Tensor self, Tensor|Scalar other) -> Tensor"
#define NUMBER_FIRST "(Scalar self, Tensor other) -> Tensor"
#define SPELL(op, sign) "torch." op " Tensor." op " operator." sign " Tensor.__" sign "__"
#define COMPARE(op, more, flags)                                                                   \
    {                                                                                              \
#op, TWO, SPELL(#op, #op) more, infer_compare, run_##op, fxs_cost_one,                     \
            FXS_OP_POINTWISE | (flags)                                                             \
    }
/* 3 < x is x > 3, and so Python calls it. */
#define COMPARE_NUMBER(op, flags)                                                                  \
    {                                                                                              \
#op, NUMBER_FIRST, "operator." #op, infer_compare, run_##op, fxs_cost_one,                 \
            FXS_OP_NO_INPLACE | (flags)                                                            \
    }
#define LOGICAL(op)                                                                                \
    {                                                                                              \
#op, "(Tensor self, Tensor other) -> Tensor", "torch." #op " Tensor." #op, infer_compare,  \
            run_##op, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_NO_GRAD | FXS_OP_COMPLEX             \
    }
/* Python spells operator.and_ but operator.xor. */
#define BITWISE(op, infer, torch, sign, python)                                                    \
    {#op,                                                                                          \
     TWO,                                                                                          \
     torch " operator." python " operator.i" sign "! Tensor.__" sign "__ Tensor.__i" sign "__!",   \
     infer,                                                                                        \
     run_##op,                                                                                     \
     fxs_cost_one,                                                                                 \
     FXS_OP_POINTWISE},                                                                            \
        {#op,                                                                                      \
         NUMBER_FIRST,                                                                             \
         "torch." #op " operator." python " operator.i" sign,                                      \
         infer,                                                                                    \
         run_##op,                                                                                 \
         fxs_cost_one,                                                                             \
         FXS_OP_NO_INPLACE},

const fxs_op fxs_ops_compare[] = {
    COMPARE(eq, "", FXS_OP_COMPLEX),
    COMPARE(ne, " torch.not_equal Tensor.not_equal", FXS_OP_COMPLEX),
    COMPARE(lt, " torch.less Tensor.less", 0),
    COMPARE(le, " torch.less_equal Tensor.less_equal", 0),
    COMPARE(gt, " torch.greater Tensor.greater", 0),
    COMPARE(ge, " torch.greater_equal Tensor.greater_equal", 0),
    COMPARE_NUMBER(eq, FXS_OP_COMPLEX),
    COMPARE_NUMBER(ne, FXS_OP_COMPLEX),
    COMPARE_NUMBER(lt, 0),
    COMPARE_NUMBER(le, 0),
    COMPARE_NUMBER(gt, 0),
    COMPARE_NUMBER(ge, 0),
    LOGICAL(logical_and),
    LOGICAL(logical_or),
    LOGICAL(logical_xor),
    {"logical_not", "(Tensor self) -> Tensor", "torch.logical_not Tensor.logical_not",
     infer_logical_not, run_logical_not, fxs_cost_one, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    BITWISE(bitwise_and, infer_bitwise, "torch.bitwise_and Tensor.bitwise_and Tensor.__rand__",
            "and",
            "and_") BITWISE(bitwise_or, infer_bitwise,
                            "torch.bitwise_or Tensor.bitwise_or Tensor.__ror__", "or",
                            "or_") BITWISE(bitwise_xor, infer_bitwise,
                                           "torch.bitwise_xor Tensor.bitwise_xor Tensor.__rxor__",
                                           "xor", "xor")
        BITWISE(shift_left, infer_shift, "torch.bitwise_left_shift Tensor.bitwise_left_shift",
                "lshift", "lshift") BITWISE(shift_right, infer_shift,
                                            "torch.bitwise_right_shift Tensor.bitwise_right_shift",
                                            "rshift", "rshift"){
            "bitwise_not", "(Tensor self) -> Tensor",
            "torch.bitwise_not Tensor.bitwise_not operator.invert operator.inv Tensor.__invert__",
            infer_bitwise_not, run_bitwise_not, fxs_cost_one, FXS_OP_POINTWISE},
    {0},
};
#undef COMPARE
#undef COMPARE_NUMBER
#undef LOGICAL
#undef BITWISE
