/* scalar_math.c: Python's math module, int(), float() and round() on values that are no tensors (a
 * tensor of one known element counts as its item). Domain errors are refused as Python refuses
 * them. */
#include <math.h>

#include "kernels/python.h"

static fxs_status number(fxs_call *c, int i, fxs_number *n) {
    fxs_value item;
    if (fxs_arg_tensor(c, i))
        FXS_TRY(fxs_item(c, fxs_arg_tensor(c, i), &item));
    if (!fxs_number_of(&c->arg[i], n))
        return FXS_REFUSE(c, FXS_ETYPE, "must be a real number, not %s",
                          fxs_value_type_name(&c->arg[i]));
    return FXS_OK;
}

static fxs_status real_result(fxs_call *c, double x, double result) {
    if (isnan(result) && !isnan(x))
        return FXS_REFUSE(c, FXS_EINVAL, "math domain error");
    if (isinf(result) && isfinite(x))
        return FXS_REFUSE(c, FXS_EINVAL, "math range error");
    return fxs_out_float(c, result);
}

#define FUNCTION(name, call)                                                                       \
    static fxs_status infer_##name(fxs_call *c) {                                                  \
        fxs_number n;                                                                              \
        FXS_TRY(number(c, 0, &n));                                                                 \
        double x = n.f;                                                                            \
        return real_result(c, x, call);                                                            \
    }
FUNCTION(sqrt, sqrt(x))
FUNCTION(exp, exp(x))
FUNCTION(log2, log2(x))
FUNCTION(log10, log10(x))
FUNCTION(log1p, log1p(x))
FUNCTION(sin, sin(x))
FUNCTION(cos, cos(x))
FUNCTION(tan, tan(x))
FUNCTION(asin, asin(x))
FUNCTION(acos, acos(x))
FUNCTION(atan, atan(x))
FUNCTION(tanh, tanh(x))
FUNCTION(fabs, fabs(x))
FUNCTION(degrees, x * 57.29577951308232)
FUNCTION(radians, x * 0.017453292519943295)
#undef FUNCTION

/* log(x[, base]) */
static fxs_status infer_log(fxs_call *c) {
    fxs_number n, base;
    FXS_TRY(number(c, 0, &n));
    if (fxs_arg_is_none(c, 1))
        return real_result(c, n.f, log(n.f));
    FXS_TRY(number(c, 1, &base));
    if (!(n.f > 0 && base.f > 0))
        return FXS_REFUSE(c, FXS_EINVAL, "math domain error");
    if (base.f == 1)
        return FXS_REFUSE(c, FXS_EINVAL, "division by zero (ZeroDivisionError)");
    return fxs_out_float(c, log(n.f) / log(base.f));
}

static fxs_status infer_pow(fxs_call *c) {
    fxs_number a, b;
    FXS_TRY(number(c, 0, &a));
    FXS_TRY(number(c, 1, &b));
    double r = pow(a.f, b.f);
    if ((isnan(r) && !isnan(a.f) && !isnan(b.f)) || (isinf(r) && isfinite(a.f) && isfinite(b.f)))
        return FXS_REFUSE(c, FXS_EINVAL,
                          a.f == 0 || isnan(r) ? "math domain error" : "math range error");
    return fxs_out_float(c, r);
}

/* A float that is to be an int. */
static fxs_status whole(fxs_call *c, double x) {
    if (isnan(x))
        return FXS_REFUSE(c, FXS_EINVAL, "cannot convert float NaN to integer");
    if (isinf(x))
        return FXS_REFUSE(c, FXS_EINVAL, "cannot convert float infinity to integer");
    if (x < -9223372036854775808.0 || x >= 9223372036854775808.0)
        return FXS_REFUSE(c, FXS_ELIMIT, "the result is an integer of more than 64 bits");
    return fxs_out_int(c, (int64_t)x);
}

static fxs_status to_whole(fxs_call *c, double (*how)(double)) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    return n.real ? whole(c, how(n.f)) : fxs_out_int(c, n.i);
}

static fxs_status infer_floor(fxs_call *c) { return to_whole(c, floor); }
static fxs_status infer_ceil(fxs_call *c) { return to_whole(c, ceil); }
static fxs_status infer_trunc(fxs_call *c) { return to_whole(c, trunc); }

static fxs_status infer_float(fxs_call *c) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    return fxs_out_float(c, n.f);
}

/* round(x[, digits]): halves to even; with digits the result stays a float. */
static fxs_status infer_round(fxs_call *c) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    if (fxs_arg_is_none(c, 1))
        return n.real ? whole(c, rint(n.f)) : fxs_out_int(c, n.i);
    int64_t digits = fxs_arg_int(c, 1);
    if (!n.real && digits >= 0)
        return fxs_out_int(c, n.i);
    if (digits > 300 || !isfinite(n.f))
        return fxs_out_float(c, n.f);
    long double scale = powl(10, (long double)digits);
    double r = digits < -300 ? 0 : (double)(rintl((long double)n.f * scale) / scale);
    return n.real ? fxs_out_float(c, r) : whole(c, r);
}

static fxs_status infer_isnan(fxs_call *c) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    return fxs_out_bool(c, isnan(n.f));
}

static fxs_status infer_isinf(fxs_call *c) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    return fxs_out_bool(c, isinf(n.f));
}

/* math.gcd(a, b) */
static fxs_status infer_gcd(fxs_call *c) {
    uint64_t a = (uint64_t)fxs_arg_int(c, 0), b = (uint64_t)fxs_arg_int(c, 1);
    if (fxs_arg_int(c, 0) < 0)
        a = 0 - a;
    if (fxs_arg_int(c, 1) < 0)
        b = 0 - b;
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    if (a > INT64_MAX)
        return FXS_REFUSE(c, FXS_ELIMIT, "the result is an integer of more than 64 bits");
    return fxs_out_int(c, (int64_t)a);
}

#define ROW(name, schema, spellings)                                                               \
    { "math_" #name, schema, spellings, infer_##name, NULL, NULL, FXS_OP_NO_INPLACE }
#define ONE(name) ROW(name, "(any x) -> float", "math." #name)

const fxs_op fxs_ops_scalar_math[] = {
    ONE(sqrt),
    ONE(exp),
    ONE(log2),
    ONE(log10),
    ONE(log1p),
    ONE(sin),
    ONE(cos),
    ONE(tan),
    ONE(asin),
    ONE(acos),
    ONE(atan),
    ONE(tanh),
    ONE(fabs),
    ONE(degrees),
    ONE(radians),
    ROW(log, "(any x, any base=None) -> float", "math.log"),
    ROW(pow, "(any x, any y) -> float", "math.pow"),
    ROW(floor, "(any x) -> int", "math.floor"),
    ROW(ceil, "(any x) -> int", "math.ceil"),
    ROW(trunc, "(any x) -> int", "math.trunc builtins.int"),
    ROW(float, "(any x) -> float", "builtins.float"),
    ROW(round, "(any number, int|bool? ndigits=None) -> any", "builtins.round"),
    ROW(isnan, "(any x) -> bool", "math.isnan"),
    ROW(isinf, "(any x) -> bool", "math.isinf"),
    ROW(gcd, "(int a, int b) -> int", "math.gcd"),
    {0},
};
#undef ROW
#undef ONE
