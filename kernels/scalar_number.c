/* scalar_number.c: Python's arithmetic, comparisons and math module on values that are no tensors,
 * as graphs record them on sizes. Integers beyond 64 bits are refused, not wrapped. Rows stand
 * last, behind those of tensors. */
#include <math.h>
#include <string.h>

#include "kernels/python.h"

static fxs_status overflow(fxs_call *c) {
    return FXS_REFUSE(c, FXS_ELIMIT, "the result is an integer of more than 64 bits");
}

static fxs_status by_zero(fxs_call *c) {
    return FXS_REFUSE(c, FXS_EINVAL, "division by zero (ZeroDivisionError)");
}

static bool both_numbers(const fxs_call *c, fxs_number *a, fxs_number *b) {
    return fxs_number_of(&c->arg[0], a) && fxs_number_of(&c->arg[1], b);
}

/* ---- sequences that are added and repeated
 * ------------------------------------------------------------- */

static bool is_seq(const fxs_value *v) { return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE; }
static bool repeats(const fxs_value *v) { return is_seq(v) || v->tag == FXS_V_STR; }

/* a + b of lists or tuples: the left one says what comes out (torch.Size stays one). */
static fxs_status concatenate(fxs_call *c) {
    const fxs_value *a = &c->arg[0], *b = &c->arg[1];
    size_t n = fxs_value_len(a), m = fxs_value_len(b);
    fxs_value out;
    if (a->tag != b->tag)
        return FXS_REFUSE(c, FXS_ETYPE, "can only concatenate %s (not \"%s\") to %s",
                          a->tag == FXS_V_LIST ? "list" : "tuple", fxs_value_type_name(b),
                          a->tag == FXS_V_LIST ? "list" : "tuple");
    FXS_TRY(fxs_make_seq(c->ctx, NULL, a->tag, n + m, &out));
    out.u.seq->kind = a->u.seq->kind == FXS_TUPLE_SIZE ? FXS_TUPLE_SIZE : FXS_TUPLE_PLAIN;
    for (size_t i = 0; i < n + m; i++)
        out.u.seq->items[i] = fxs_value_ref(i < n ? a->u.seq->items[i] : b->u.seq->items[i - n]);
    return fxs_out_value(c, out);
}

/* The text as a result; it is freed. */
static fxs_status give_text(fxs_call *c, fxs_buf *text) {
    fxs_value out;
    fxs_status s = fxs_buf_status(c->ctx, text);
    if (s == FXS_OK)
        s = fxs_make_text(c->ctx, NULL, FXS_V_STR, text->data ? text->data : "", text->len, &out);
    fxs_buf_free(text);
    return s == FXS_OK ? fxs_out_value(c, out) : s;
}

static fxs_status join_texts(fxs_call *c, const fxs_value *a, const fxs_value *b) {
    fxs_buf text = {0};
    fxs_buf_add(&text, a->u.s->text, a->u.s->len);
    fxs_buf_add(&text, b->u.s->text, b->u.s->len);
    return give_text(c, &text);
}

static fxs_status repeat_text(fxs_call *c, const fxs_value *a, size_t times) {
    fxs_buf text = {0};
    for (size_t i = 0; i < times && a->u.s->len; i++)
        fxs_buf_add(&text, a->u.s->text, a->u.s->len);
    return give_text(c, &text);
}

/* A list, tuple or text, so many times. */
static fxs_status repeat(fxs_call *c, const fxs_value *seq, int64_t times) {
    size_t n = seq->tag == FXS_V_STR ? seq->u.s->len : fxs_value_len(seq), total;
    fxs_value out;
    if (times < 0)
        times = 0;
    if (__builtin_mul_overflow(n, (size_t)times, &total) || total > 1 << 24)
        return FXS_REFUSE(c, FXS_ELIMIT, "a sequence of too many items");
    if (seq->tag == FXS_V_STR)
        return repeat_text(c, seq, (size_t)times);
    FXS_TRY(fxs_make_seq(c->ctx, NULL, seq->tag, total, &out));
    out.u.seq->kind = seq->u.seq->kind == FXS_TUPLE_SIZE ? FXS_TUPLE_SIZE : FXS_TUPLE_PLAIN;
    for (size_t i = 0; i < total; i++)
        out.u.seq->items[i] = fxs_value_ref(seq->u.seq->items[i % n]);
    return fxs_out_value(c, out);
}

/* ---- arithmetic
 * ---------------------------------------------------------------------------------------- */

static fxs_status infer_add(fxs_call *c) {
    fxs_number a, b;
    int64_t r;
    if (is_seq(&c->arg[0]) && is_seq(&c->arg[1]))
        return concatenate(c);
    if (c->arg[0].tag == FXS_V_STR && c->arg[1].tag == FXS_V_STR)
        return join_texts(c, &c->arg[0], &c->arg[1]);
    if (fxs_any_complex(c))
        return fxs_complex_sum(c, 1);
    if (!both_numbers(c, &a, &b))
        return fxs_bad_operands(c, "+");
    if (a.real || b.real)
        return fxs_out_float(c, a.f + b.f);
    return __builtin_add_overflow(a.i, b.i, &r) ? overflow(c) : fxs_out_int(c, r);
}

static fxs_status infer_sub(fxs_call *c) {
    fxs_number a, b;
    int64_t r;
    if (fxs_any_complex(c))
        return fxs_complex_sum(c, -1);
    if (!both_numbers(c, &a, &b))
        return fxs_bad_operands(c, "-");
    if (a.real || b.real)
        return fxs_out_float(c, a.f - b.f);
    return __builtin_sub_overflow(a.i, b.i, &r) ? overflow(c) : fxs_out_int(c, r);
}

/* A sequence times an integer tensor of one element, whose value is not known without computing:
 * Python asks for its index, but not of a tensor that is to be multiplied in place. */
static fxs_status check_times(fxs_call *c) {
    for (int i = 0; i < 2; i++) {
        const fxs_value *seq = &c->arg[i], *times = &c->arg[1 - i];
        fxs_value item;
        if (!repeats(seq) || times->tag != FXS_V_TENSOR)
            continue;
        if (i == 1 && c->spelling && strcmp(c->spelling, "operator.imul") == 0)
            return fxs_bad_operands(c, "*=");
        const fxs_tensor *t = times->u.tensor;
        if ((fxs_is_integral(t->dtype) || t->dtype == FXS_BOOL) && !t->storage)
            return fxs_item(c, t, &item);
    }
    return FXS_OK;
}

static fxs_status infer_mul(fxs_call *c) {
    fxs_number a, b;
    int64_t r;
    FXS_TRY(check_times(c));
    if (repeats(&c->arg[0]) && fxs_number_of(&c->arg[1], &b) && !b.real)
        return repeat(c, &c->arg[0], b.i);
    if (repeats(&c->arg[1]) && fxs_number_of(&c->arg[0], &a) && !a.real)
        return repeat(c, &c->arg[1], a.i);
    if (fxs_any_complex(c))
        return fxs_complex_product(c);
    if (!both_numbers(c, &a, &b))
        return fxs_bad_operands(c, "*");
    if (a.real || b.real)
        return fxs_out_float(c, a.f * b.f);
    return __builtin_mul_overflow(a.i, b.i, &r) ? overflow(c) : fxs_out_int(c, r);
}

static fxs_status infer_truediv(fxs_call *c) {
    fxs_number a, b;
    if (fxs_any_complex(c))
        return fxs_complex_division(c);
    if (!both_numbers(c, &a, &b))
        return fxs_bad_operands(c, "/");
    if (b.f == 0)
        return by_zero(c);
    if (a.real || b.real)
        return fxs_out_float(c, a.f / b.f);
    return fxs_out_float(
        c, (double)((long double)a.i / (long double)b.i)); /* ints above 2^53 count in full */
}

/* Quotient and remainder of floats as Python defines them: the remainder has the divisor's sign. */
static void float_divmod(double x, double y, double *quotient, double *rest) {
    double m = fmod(x, y), q = (x - m) / y;
    if (m != 0 && (y < 0) != (m < 0)) {
        m += y;
        q -= 1;
    } else if (m == 0) {
        m = copysign(0, y);
    }
    double f = floor(q);
    *quotient = q == 0 ? copysign(0, x / y) : q - f > 0.5 ? f + 1 : f;
    *rest = m;
}

/* The same of ints; b is not 0, and -2^63 // -1 is refused before. */
static void int_divmod(int64_t a, int64_t b, int64_t *quotient, int64_t *rest) {
    int64_t q = a / b, r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    *quotient = q;
    *rest = r;
}

static fxs_status divide(fxs_call *c, const char *sign, bool want_rest) {
    fxs_number a, b;
    if (!both_numbers(c, &a, &b))
        return fxs_bad_operands(c, sign);
    if (b.f == 0)
        return by_zero(c);
    if (a.real || b.real) {
        double q, r;
        float_divmod(a.f, b.f, &q, &r);
        return fxs_out_float(c, want_rest ? r : q);
    }
    if (a.i == INT64_MIN && b.i == -1)
        return want_rest ? fxs_out_int(c, 0) : overflow(c);
    int64_t q, r;
    int_divmod(a.i, b.i, &q, &r);
    return fxs_out_int(c, want_rest ? r : q);
}

static fxs_status infer_floordiv(fxs_call *c) { return divide(c, "//", false); }
static fxs_status infer_mod(fxs_call *c) { return divide(c, "%", true); }

static fxs_status int_power(fxs_call *c, int64_t base, int64_t exponent) {
    int64_t r = 1;
    if (base == 0 || base == 1 || base == -1)
        return fxs_out_int(c, exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base);
    for (int64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(r, base, &r)) /* after 63 steps at the latest */
            return overflow(c);
    return fxs_out_int(c, r);
}

/* A negative number to a power that is not whole, as Python has it: by angle and length. */
static fxs_status turned_power(fxs_call *c, double a, double b) {
    double length = pow(-a, b), angle = acos(-1) * b;
    return fxs_out_value(
        c, (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {length * cos(angle), length * sin(angle)}});
}

static fxs_status infer_pow(fxs_call *c) {
    fxs_number a, b;
    if (fxs_any_complex(c))
        return fxs_complex_power(c);
    if (!both_numbers(c, &a, &b))
        return fxs_bad_operands(c, "** or pow()");
    if (!a.real && !b.real && b.i >= 0)
        return int_power(c, a.i, b.i);
    if (a.f == 0 && b.f < 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "0.0 cannot be raised to a negative power (ZeroDivisionError)");
    if (a.f < 0 && isfinite(a.f) && isfinite(b.f) && b.f != floor(b.f))
        return turned_power(c, a.f, b.f);
    double r = pow(a.f, b.f);
    if (isinf(r) && isfinite(a.f) && isfinite(b.f))
        return FXS_REFUSE(c, FXS_ELIMIT, "numerical result out of range (OverflowError)");
    return fxs_out_float(c, r);
}

/* a * b modulo m, of numbers from 0 below m, by doubling. */
static int64_t product_mod(int64_t a, int64_t b, int64_t m) {
    uint64_t sum = 0, x = (uint64_t)a, size = (uint64_t)m;
    for (; b; b /= 2, x = (x + x) % size)
        if (b % 2)
            sum = (sum + x) % size;
    return (int64_t)sum;
}

/* x with x * a = 1 modulo m, or 0: there is none. */
static int64_t inverse_mod(int64_t a, int64_t m) {
    int64_t r = m, next = a, x = 0, y = 1;
    while (next) {
        int64_t q = r / next, kept = r - q * next;
        r = next, next = kept;
        kept = x - q * y;
        x = y, y = kept;
    }
    return r == 1 ? x < 0 ? x + m : x : 0;
}

/* pow(a, b, mod): the remainder has mod's sign. */
static fxs_status infer_pow_mod(fxs_call *c) {
    fxs_number a, b, mod;
    if (fxs_arg_is_none(c, 2))
        return infer_pow(c);
    if (!both_numbers(c, &a, &b) || !fxs_number_of(&c->arg[2], &mod) || a.real || b.real ||
        mod.real)
        return FXS_REFUSE(c, FXS_ETYPE, "pow() with a 3rd argument takes integers");
    if (mod.i == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "pow() 3rd argument cannot be 0");
    if (mod.i == INT64_MIN || b.i == INT64_MIN)
        return FXS_REFUSE(c, FXS_ELIMIT, "pow() is out of range");
    int64_t m = mod.i < 0 ? -mod.i : mod.i, base = (a.i % m + m) % m, r = 1 % m, n = b.i;
    if (n < 0) {
        base = inverse_mod(base, m);
        n = -n;
        if (!base && m != 1)
            return FXS_REFUSE(c, FXS_EINVAL, "base is not invertible for the given modulus");
    }
    for (; n; n /= 2, base = product_mod(base, base, m))
        if (n % 2)
            r = product_mod(r, base, m);
    return fxs_out_int(c, mod.i < 0 && r ? r - m : r);
}

/* One number, negated, as it is, without its sign. */
static fxs_status one_number(fxs_call *c, const char *sign, fxs_number *n) {
    fxs_value item = c->arg[0];
    if (item.tag == FXS_V_TENSOR)
        FXS_TRY(fxs_item(c, item.u.tensor, &item));
    if (!fxs_number_of(&item, n))
        return FXS_REFUSE(c, FXS_ETYPE, "bad operand type for %s: '%s'", sign,
                          fxs_value_type_name(&c->arg[0]));
    return FXS_OK;
}

static fxs_status infer_neg(fxs_call *c) {
    fxs_number n;
    if (fxs_any_complex(c))
        return fxs_complex_unary(c, '-');
    FXS_TRY(one_number(c, "unary -", &n));
    if (n.real)
        return fxs_out_float(c, -n.f);
    return n.i == INT64_MIN ? overflow(c) : fxs_out_int(c, -n.i);
}

static fxs_status infer_pos(fxs_call *c) {
    fxs_number n;
    if (fxs_any_complex(c))
        return fxs_complex_unary(c, '+');
    FXS_TRY(one_number(c, "unary +", &n));
    return n.real ? fxs_out_float(c, n.f) : fxs_out_int(c, n.i);
}

static fxs_status infer_index(fxs_call *c) {
    fxs_number n;
    FXS_TRY(one_number(c, "index()", &n));
    if (n.real)
        return FXS_REFUSE(c, FXS_ETYPE, "'%s' object cannot be interpreted as an integer",
                          fxs_value_type_name(&c->arg[0]));
    return fxs_out_int(c, n.i);
}

static fxs_status infer_abs(fxs_call *c) {
    fxs_number n;
    if (fxs_any_complex(c))
        return fxs_complex_unary(c, '|');
    FXS_TRY(one_number(c, "abs()", &n));
    if (n.real)
        return fxs_out_float(c, fabs(n.f));
    return n.i == INT64_MIN ? overflow(c) : fxs_out_int(c, n.i < 0 ? -n.i : n.i);
}

/* ---- bits
 * ---------------------------------------------------------------------------------------------- */

static fxs_status infer_invert(fxs_call *c) {
    fxs_number n;
    FXS_TRY(one_number(c, "unary ~", &n));
    if (n.real)
        return FXS_REFUSE(c, FXS_ETYPE, "bad operand type for unary ~: 'float'");
    return fxs_out_int(c, ~n.i);
}

static fxs_status bits(fxs_call *c, const char *sign, int64_t (*of)(int64_t, int64_t)) {
    fxs_number a, b;
    if (!both_numbers(c, &a, &b) || a.real || b.real)
        return fxs_bad_operands(c, sign);
    int64_t r = of(a.i, b.i);
    if (c->arg[0].tag == FXS_V_BOOL && c->arg[1].tag == FXS_V_BOOL)
        return fxs_out_bool(c, r != 0);
    return fxs_out_int(c, r);
}

static int64_t bit_and(int64_t a, int64_t b) { return a & b; }
static int64_t bit_or(int64_t a, int64_t b) { return a | b; }
static int64_t bit_xor(int64_t a, int64_t b) { return a ^ b; }
static fxs_status infer_and(fxs_call *c) { return bits(c, "&", bit_and); }
static fxs_status infer_or(fxs_call *c) { return bits(c, "|", bit_or); }
static fxs_status infer_xor(fxs_call *c) { return bits(c, "^", bit_xor); }

static fxs_status shift_operands(fxs_call *c, const char *sign, fxs_number *a, fxs_number *b) {
    if (!both_numbers(c, a, b) || a->real || b->real)
        return fxs_bad_operands(c, sign);
    if (b->i < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "negative shift count");
    return FXS_OK;
}

static fxs_status infer_lshift(fxs_call *c) {
    fxs_number a, b;
    int64_t r;
    FXS_TRY(shift_operands(c, "<<", &a, &b));
    if (a.i == 0)
        return fxs_out_int(c, 0);
    if (b.i > 62 || __builtin_mul_overflow(a.i, (int64_t)1 << b.i, &r))
        return overflow(c);
    return fxs_out_int(c, r);
}

static fxs_status infer_rshift(fxs_call *c) {
    fxs_number a, b;
    FXS_TRY(shift_operands(c, ">>", &a, &b));
    return fxs_out_int(c, a.i >> (b.i > 63 ? 63 : b.i));
}

/* ---- comparisons and truth
 * ----------------------------------------------------------------------------- */

static fxs_status infer_eq(fxs_call *c) {
    return fxs_out_bool(c, fxs_python_equal(&c->arg[0], &c->arg[1]));
}
static fxs_status infer_ne(fxs_call *c) {
    return fxs_out_bool(c, !fxs_python_equal(&c->arg[0], &c->arg[1]));
}

#define COMPARE(name, sign)                                                                        \
    static fxs_status infer_##name(fxs_call *c) {                                                  \
        int order;                                                                                 \
        bool unordered;                                                                            \
        FXS_TRY(fxs_python_compare(c, &c->arg[0], &c->arg[1], &order, &unordered));                \
        return fxs_out_bool(c, !unordered && order sign 0);                                        \
    }
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)
#undef COMPARE

/* Identity: of tensors and None exact, of numbers and texts as CPython's small ones behave. */
static bool is_same(const fxs_value *a, const fxs_value *b) {
    return a->tag == b->tag && fxs_value_equal(a, b);
}
static fxs_status infer_is(fxs_call *c) { return fxs_out_bool(c, is_same(&c->arg[0], &c->arg[1])); }
static fxs_status infer_is_not(fxs_call *c) {
    return fxs_out_bool(c, !is_same(&c->arg[0], &c->arg[1]));
}

static fxs_status infer_not(fxs_call *c) {
    bool b;
    FXS_TRY(fxs_truth(c, &c->arg[0], &b));
    return fxs_out_bool(c, !b);
}

static fxs_status infer_truth(fxs_call *c) {
    bool b;
    FXS_TRY(fxs_truth(c, &c->arg[0], &b));
    return fxs_out_bool(c, b);
}

#define TWO "(any a, any b) -> any"
#define ONE "(any a) -> any"
#define ROW(name, schema, spellings, infer)                                                        \
    { name, schema, spellings, infer, NULL, NULL, FXS_OP_NO_INPLACE }

const fxs_op fxs_ops_scalar_number[] = {
    ROW("python_add", TWO, "operator.add operator.iadd operator.concat", infer_add),
    ROW("python_sub", TWO, "operator.sub operator.isub", infer_sub),
    ROW("python_mul", TWO, "operator.mul operator.imul", infer_mul),
    ROW("python_truediv", TWO, "operator.truediv operator.itruediv", infer_truediv),
    ROW("python_floordiv", TWO, "operator.floordiv operator.ifloordiv", infer_floordiv),
    ROW("python_mod", TWO, "operator.mod operator.imod", infer_mod),
    ROW("python_pow", TWO, "operator.pow operator.ipow", infer_pow),
    ROW("python_pow", "(any a, any b, any mod=None) -> any", "builtins.pow", infer_pow_mod),
    ROW("python_neg", ONE, "operator.neg", infer_neg),
    ROW("python_pos", ONE, "operator.pos", infer_pos),
    ROW("index", "(any a) -> int", "operator.index Tensor.__index__", infer_index),
    ROW("python_abs", ONE, "operator.abs builtins.abs", infer_abs),
    ROW("python_invert", ONE, "operator.invert operator.inv", infer_invert),
    ROW("python_and", TWO, "operator.and_ operator.iand", infer_and),
    ROW("python_or", TWO, "operator.or_ operator.ior", infer_or),
    ROW("python_xor", TWO, "operator.xor operator.ixor", infer_xor),
    ROW("python_lshift", TWO, "operator.lshift operator.ilshift", infer_lshift),
    ROW("python_rshift", TWO, "operator.rshift operator.irshift", infer_rshift),
    ROW("python_eq", TWO, "operator.eq", infer_eq),
    ROW("python_ne", TWO, "operator.ne", infer_ne),
    ROW("python_lt", TWO, "operator.lt", infer_lt),
    ROW("python_le", TWO, "operator.le", infer_le),
    ROW("python_gt", TWO, "operator.gt", infer_gt),
    ROW("python_ge", TWO, "operator.ge", infer_ge),
    ROW("is", TWO, "operator.is_", infer_is),
    ROW("is_not", TWO, "operator.is_not", infer_is_not),
    ROW("not", ONE, "operator.not_", infer_not),
    ROW("truth", ONE, "operator.truth builtins.bool", infer_truth),
    {0},
};
#undef ROW
