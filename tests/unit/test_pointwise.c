/* test_pointwise.c: arithmetic, comparisons, functions of one element, selection: every one against
 * a double-precision reference over types, layouts and broadcasting; the types, strides and
 * refusals that PyTorch 1.13 gives. */
#include "checking.h"

#define NONE fxs_none()

static fxs_tensor *run(fxs_ctx *ctx, const char *op, fxs_value args) {
    return run_both(ctx, op, args, NONE).u.tensor;
}

/* x's element that takes part in row-major element i of a broadcast result. */
static double broadcast_at(const fxs_tensor *x, const fxs_tensor *out, int64_t i) {
    int64_t index[FXS_MAX_DIM];
    for (int d = out->ndim - 1; d >= 0; d--) {
        int own = d - (out->ndim - x->ndim);
        if (own >= 0)
            index[own] = x->sizes[own] == 1 ? 0 : i % out->sizes[d];
        i /= out->sizes[d];
    }
    return element(x, index);
}

static double tolerance(fxs_dtype d) { return d == FXS_FLOAT32 ? 3e-6 : tolerance_of(d); }

/* ---- functions of one element
 * -------------------------------------------------------------------------- */

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double inverse(double x) { return 1 / x; }
static double sign(double x) { return (x > 0) - (x < 0); }
static double square(double x) { return x * x; }
static double frac(double x) { return x - trunc(x); }
static double negated(double x) { return -x; }
static double is_not_a_number(double x) { return isnan(x) != 0; }
static double is_infinite(double x) { return isinf(x) != 0; }
static double is_finite(double x) { return isfinite(x) != 0; }
static double is_zero(double x) { return x == 0; }
static double is_negative(double x) { return signbit(x) != 0; }

typedef enum result { REAL, SAME, TRUTH } result;

static const struct {
    const char *name;
    double (*of)(double);
    double low, high;
    result kind;
} functions[] = {
    {"exp", exp, -5, 5, REAL},
    {"expm1", expm1, -2, 2, REAL},
    {"exp2", exp2, -4, 4, REAL},
    {"log", log, 0.01, 9, REAL},
    {"log1p", log1p, -0.9, 5, REAL},
    {"log2", log2, 0.01, 9, REAL},
    {"log10", log10, 0.01, 9, REAL},
    {"sqrt", sqrt, 0, 9, REAL},
    {"rsqrt", rsqrt, 0.1, 9, REAL},
    {"reciprocal", inverse, 1, 9, REAL},
    {"sin", sin, -5, 5, REAL},
    {"cos", cos, -5, 5, REAL},
    {"tan", tan, -1, 1, REAL},
    {"asin", asin, -1, 1, REAL},
    {"acos", acos, -1, 1, REAL},
    {"atan", atan, -5, 5, REAL},
    {"sinh", sinh, -2, 2, REAL},
    {"cosh", cosh, -2, 2, REAL},
    {"tanh", tanh, -12, 12, REAL},
    {"asinh", asinh, -5, 5, REAL},
    {"acosh", acosh, 1.1, 9, REAL},
    {"atanh", atanh, -0.9, 0.9, REAL},
    {"erf", erf, -5, 5, REAL},
    {"erfc", erfc, -2, 2, REAL},
    {"lgamma", lgamma, 0.1, 9, REAL},
    {"sigmoid", sigmoid, -20, 20, REAL},
    {"abs", fabs, -9, 9, SAME},
    {"neg", negated, -9, 9, SAME},
    {"sign", sign, -2, 2, SAME},
    {"square", square, -9, 9, SAME},
    {"frac", frac, -9, 9, SAME},
    {"floor", floor, -9, 9, SAME},
    {"ceil", ceil, -9, 9, SAME},
    {"trunc", trunc, -9, 9, SAME},
    {"round", rint, -9, 9, SAME},
    {"isnan", is_not_a_number, -9, 9, TRUTH},
    {"isinf", is_infinite, -9, 9, TRUTH},
    {"isfinite", is_finite, -9, 9, TRUTH},
    {"logical_not", is_zero, -2, 2, TRUTH},
    {"signbit", is_negative, -2, 2, TRUTH},
};

static void check_function(fxs_ctx *ctx, size_t f, fxs_tensor *x) {
    char spelling[64];
    bool real = fxs_is_floating(x->dtype);
    snprintf(spelling, sizeof spelling, "torch.%s", functions[f].name);
    fxs_tensor *y = run(ctx, spelling, TUPLE(ctx, TENSOR(x)));
    assert_int_equal(y->dtype, functions[f].kind == TRUTH  ? FXS_BOOL
                               : functions[f].kind == REAL ? (real ? x->dtype : FXS_FLOAT32)
                                                           : x->dtype);
    assert_shape(y, x->ndim, x->sizes);
    for (int64_t i = 0; i < fxs_tensor_numel(x); i++)
        assert_near(nth(y, i), functions[f].of(nth(x, i)), tolerance(y->dtype));
    fxs_tensor_unref(y);
}

static void functions_of_one_element(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32,  FXS_FLOAT64, FXS_FLOAT16,
                                      FXS_BFLOAT16, FXS_INT64,   FXS_INT8};
    static const int turned[] = {2, 0, 1};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            if (functions[f].of == frac && !fxs_is_floating(types[t]))
                continue;
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(3, 4, 7), f);
            if (fxs_is_floating(types[t]))
                fxs_fill_uniform(ctx, x, f, functions[f].low, functions[f].high);
            else
                fxs_fill_integers(ctx, x, f,
                                  functions[f].low < 0 ? (int64_t)functions[f].low
                                                       : (int64_t)ceil(functions[f].low),
                                  (int64_t)functions[f].high);
            check_function(ctx, f, x);
            x = laid_out(ctx, x, turned);
            check_function(ctx, f, x);
            fxs_tensor *stretched =
                run_op(ctx, "Tensor.expand",
                       TUPLE(ctx, TENSOR(x), fxs_int(2), fxs_int(3), fxs_int(4), fxs_int(7)), NONE);
            check_function(ctx, f, stretched);
            fxs_tensor *none = random_tensor(ctx, types[t], SIZES(0, 3), 1),
                       *one = random_tensor(ctx, types[t], 0, NULL, 1);
            check_function(ctx, f, none);
            fxs_fill_constant(ctx, one, functions[f].high >= 1 ? 1 : 0);
            check_function(ctx, f, one);
            fxs_tensor_unref(x), fxs_tensor_unref(stretched), fxs_tensor_unref(none),
                fxs_tensor_unref(one);
        }
}

/* Edges of the float32 functions that are polynomials of our own. */
static void edges_of_own_polynomials(void **state) {
    fxs_ctx *ctx = *state;
    static const double x[] = {0,    -0.0,  1e-45, 1e-40,     1e-20, -1e-20, 1e-3,     88.7,
                               88.8, -87.5, -100,  -110,      3e38,  -3e38,  INFINITY, -INFINITY,
                               NAN,  0.5,   -0.5,  0.9999999, 4.2,   -4.2,   7,        -1};
    static const struct {
        const char *name;
        double (*of)(double);
    } cases[] = {{"torch.exp", exp},   {"torch.log", log}, {"torch.log1p", log1p},
                 {"torch.tanh", tanh}, {"torch.erf", erf}, {"torch.sigmoid", sigmoid}};
    int n = (int)(sizeof x / sizeof *x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fxs_tensor *t = tensor_of_values(ctx, FXS_FLOAT32, SIZES(n), x),
                   *y = run(ctx, cases[c].name, TUPLE(ctx, TENSOR(t)));
        for (int i = 0; i < n; i++) {
            double want = (double)(float)cases[c].of(nth(t, i)), have = nth(y, i);
            if (isnan(want) ? !isnan(have)
                            : have != want &&
                                  fabs(have - want) >
                                      4e-7 * fabs(want) + (cases[c].of == sigmoid ? 1e-37 : 2e-45))
                fail_msg("%s(%.9g) is %.9g, want %.9g", cases[c].name, nth(t, i), have, want);
        }
        fxs_tensor_unref(t), fxs_tensor_unref(y);
    }
}

/* ---- two operands
 * -------------------------------------------------------------------------------------- */

static double plus(double x, double y) { return x + y; }
static double minus(double x, double y) { return x - y; }
static double times(double x, double y) { return x * y; }
static double over(double x, double y) { return x / y; }
static double floor_over(double x, double y) { return floor(x / y); }
static double modulo(double x, double y) { return x - y * floor(x / y); }
static double larger(double x, double y) { return x > y ? x : y; }
static double smaller(double x, double y) { return x < y ? x : y; }
static double equal(double x, double y) { return x == y; }
static double unequal(double x, double y) { return x != y; }
static double less(double x, double y) { return x < y; }
static double at_most(double x, double y) { return x <= y; }
static double more(double x, double y) { return x > y; }
static double at_least(double x, double y) { return x >= y; }
static double both(double x, double y) { return x != 0 && y != 0; }
static double either(double x, double y) { return x != 0 || y != 0; }
static double one_of(double x, double y) { return (x != 0) != (y != 0); }

static const struct {
    const char *torch, *python;
    double (*of)(double, double);
    result kind;
    double low; /* of the second operand */
} operators[] = {
    {"torch.add", "operator.add", plus, SAME, -5},
    {"torch.sub", "operator.sub", minus, SAME, -5},
    {"torch.mul", "operator.mul", times, SAME, -5},
    {"torch.div", "operator.truediv", over, REAL, 1},
    {"torch.floor_divide", "operator.floordiv", floor_over, SAME, 1},
    {"torch.remainder", "operator.mod", modulo, SAME, 1},
    {"torch.fmod", NULL, fmod, SAME, 1},
    {"torch.maximum", NULL, larger, SAME, -5},
    {"torch.minimum", NULL, smaller, SAME, -5},
    {"torch.atan2", NULL, atan2, REAL, 1},
    {"torch.hypot", NULL, hypot, REAL, 1},
    {"torch.eq", "operator.eq", equal, TRUTH, -5},
    {"torch.ne", "operator.ne", unequal, TRUTH, -5},
    {"torch.lt", "operator.lt", less, TRUTH, -5},
    {"torch.le", "operator.le", at_most, TRUTH, -5},
    {"torch.gt", "operator.gt", more, TRUTH, -5},
    {"torch.ge", "operator.ge", at_least, TRUTH, -5},
    {"torch.logical_and", NULL, both, TRUTH, -5},
    {"torch.logical_or", NULL, either, TRUTH, -5},
    {"torch.logical_xor", NULL, one_of, TRUTH, -5},
};

static void check_operator(fxs_ctx *ctx, size_t o, const char *spelling, fxs_tensor *a,
                           fxs_tensor *b, fxs_dtype common) {
    fxs_tensor *y = run(ctx, spelling, TUPLE(ctx, TENSOR(a), TENSOR(b)));
    assert_int_equal(y->dtype, operators[o].kind == TRUTH                              ? FXS_BOOL
                               : operators[o].kind == REAL && !fxs_is_floating(common) ? FXS_FLOAT32
                                                                                       : common);
    for (int64_t i = 0; i < fxs_tensor_numel(y); i++)
        assert_near(nth(y, i), operators[o].of(broadcast_at(a, y, i), broadcast_at(b, y, i)),
                    tolerance(y->dtype));
    fxs_tensor_unref(y);
}

static void operators_on_two_tensors(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype pairs[][3] = {
        {FXS_FLOAT32, FXS_FLOAT32, FXS_FLOAT32}, {FXS_FLOAT64, FXS_FLOAT32, FXS_FLOAT64},
        {FXS_INT64, FXS_INT32, FXS_INT64},       {FXS_INT8, FXS_UINT8, FXS_INT16},
        {FXS_INT32, FXS_FLOAT32, FXS_FLOAT32},   {FXS_FLOAT16, FXS_INT64, FXS_FLOAT16}};
    static const struct {
        int na, nb;
        int64_t a[4], b[4];
    } shapes[] = {{3, 3, {2, 3, 4}, {2, 3, 4}},
                  {3, 1, {2, 3, 4}, {4}},
                  {4, 3, {2, 1, 4, 1}, {3, 1, 5}},
                  {0, 2, {0}, {2, 3}},
                  {2, 2, {0, 3}, {1, 3}},
                  {3, 0, {2, 3, 4}, {0}},
                  {1, 1, {1}, {700}}};
    static const int turned[] = {1, 0, 2};
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                if (pairs[p][1] == FXS_UINT8 && !shapes[s].na != !shapes[s].nb)
                    continue; /* the common type would be one that does not hold both */
                fxs_tensor *a = random_tensor(ctx, pairs[p][0], shapes[s].na, shapes[s].a, o + s);
                fxs_tensor *b =
                    random_tensor(ctx, pairs[p][1], shapes[s].nb, shapes[s].b, o + s + 9);
                if (fxs_is_floating(b->dtype))
                    fxs_fill_uniform(ctx, b, s, operators[o].low, 6);
                else
                    fxs_fill_integers(ctx, b, s,
                                      b->dtype == FXS_UINT8 || operators[o].low > 0 ? 1 : -5, 6);
                fxs_dtype common = pairs[p][2];
                if (!shapes[s].na !=
                    !shapes[s].nb) /* a tensor without dimensions has no say among its own kind */
                    common = fxs_is_floating(a->dtype) == fxs_is_floating(b->dtype)
                                 ? (shapes[s].na ? a : b)->dtype
                             : fxs_is_floating(a->dtype) ? a->dtype
                                                         : b->dtype;
                if (operators[o].of == hypot && !fxs_is_floating(common)) {
                    fxs_tensor_unref(a), fxs_tensor_unref(b);
                    continue; /* not implemented for integers */
                }
                check_operator(ctx, o, operators[o].torch, a, b, common);
                if (operators[o].python)
                    check_operator(ctx, o, operators[o].python, a, b, common);
                if (a->ndim == 3) {
                    a = laid_out(ctx, a, turned);
                    check_operator(ctx, o, operators[o].torch, a, b, common);
                }
                fxs_tensor_unref(a), fxs_tensor_unref(b);
            }
}

/* tensor OP number and number OP tensor. */
static void operators_with_numbers(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 5), 1);
    fxs_fill_uniform(ctx, x, 3, 1, 4);
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++) {
        if (!operators[o].python)
            continue;
        fxs_tensor *y = run(ctx, operators[o].python, TUPLE(ctx, TENSOR(x), fxs_float(2.5)));
        fxs_tensor *z = run(ctx, operators[o].python, TUPLE(ctx, fxs_int(3), TENSOR(x)));
        for (int64_t i = 0; i < 10; i++) {
            assert_near(nth(y, i), operators[o].of(nth(x, i), 2.5), 1e-6);
            assert_near(nth(z, i), operators[o].of(3, nth(x, i)), 1e-6);
        }
        fxs_tensor_unref(y), fxs_tensor_unref(z);
    }
    fxs_tensor_unref(x);
}

static void types_follow_the_categories(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        fxs_dtype tensor;
        fxs_value number;
        fxs_dtype sum;
    } cases[] = {{FXS_INT8, {.tag = FXS_V_INT, .u.i = 300}, FXS_INT8},
                 {FXS_INT8, {.tag = FXS_V_FLOAT, .u.f = 1}, FXS_FLOAT32},
                 {FXS_FLOAT16, {.tag = FXS_V_FLOAT, .u.f = 1}, FXS_FLOAT16},
                 {FXS_BOOL, {.tag = FXS_V_INT, .u.i = 1}, FXS_INT64},
                 {FXS_BOOL, {.tag = FXS_V_BOOL, .u.b = true}, FXS_BOOL},
                 {FXS_UINT8, {.tag = FXS_V_BOOL, .u.b = true}, FXS_UINT8},
                 {FXS_FLOAT64, {.tag = FXS_V_INT, .u.i = 1}, FXS_FLOAT64},
                 {FXS_BFLOAT16, {.tag = FXS_V_INT, .u.i = 1}, FXS_BFLOAT16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_tensor *x = random_tensor(ctx, cases[i].tensor, SIZES(3), 1);
        fxs_tensor *y = run(ctx, "torch.add", TUPLE(ctx, TENSOR(x), cases[i].number));
        assert_int_equal(y->dtype, cases[i].sum);
        fxs_tensor_unref(x), fxs_tensor_unref(y);
    }
}

/* ---- integers
 * ------------------------------------------------------------------------------------------ */

static void expect_ints(fxs_ctx *ctx, const char *op, fxs_dtype d, const double *a, const double *b,
                        int n, const double *want) {
    fxs_tensor *x = tensor_of_values(ctx, d, SIZES(n), a),
               *y = tensor_of_values(ctx, d, SIZES(n), b);
    fxs_tensor *z = run(ctx, op, TUPLE(ctx, TENSOR(x), TENSOR(y)));
    assert_int_equal(z->dtype, d);
    for (int i = 0; i < n; i++)
        assert_near(nth(z, i), want[i], 0);
    fxs_tensor_unref(x), fxs_tensor_unref(y), fxs_tensor_unref(z);
}

static void integers_divide_wrap_and_shift(void **state) {
    fxs_ctx *ctx = *state;
    static const double a[] = {7, -7, 7, -7, 6}, b[] = {2, 2, -2, -2, 3};
    expect_ints(ctx, "torch.floor_divide", FXS_INT32, a, b, 5, (double[]){3, -4, -4, 3, 2});
    expect_ints(ctx, "torch.remainder", FXS_INT64, a, b, 5, (double[]){1, 1, -1, -1, 0});
    expect_ints(ctx, "torch.fmod", FXS_INT16, a, b, 5, (double[]){1, -1, 1, -1, 0});
    expect_ints(ctx, "torch.add", FXS_UINT8, (double[]){200, 255}, (double[]){100, 1}, 2,
                (double[]){44, 0});
    expect_ints(ctx, "torch.mul", FXS_INT8, (double[]){100, -128}, (double[]){2, -1}, 2,
                (double[]){-56, -128});
    expect_ints(ctx, "torch.pow", FXS_INT64, (double[]){2, -3, -1, 5, 1},
                (double[]){10, 3, -3, -1, -2}, 5, (double[]){1024, -27, -1, 0, 1});
    expect_ints(ctx, "torch.bitwise_and", FXS_INT32, (double[]){12, -1}, (double[]){10, 7}, 2,
                (double[]){8, 7});
    expect_ints(ctx, "torch.bitwise_or", FXS_BOOL, (double[]){1, 0}, (double[]){0, 0}, 2,
                (double[]){1, 0});
    expect_ints(ctx, "torch.bitwise_xor", FXS_INT64, (double[]){12, -1}, (double[]){10, 7}, 2,
                (double[]){6, -8});
    expect_ints(ctx, "operator.lshift", FXS_INT64, (double[]){3, 1}, (double[]){2, 70}, 2,
                (double[]){12, 0});
    expect_ints(ctx, "operator.rshift", FXS_INT64, (double[]){-8, -8}, (double[]){1, 70}, 2,
                (double[]){-4, -1});
}

static void integer_division_by_zero_is_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_INT64, SIZES(4), 1);
    static const char *const ops[] = {"torch.floor_divide", "torch.remainder", "torch.fmod"};
    for (int i = 0; i < 3; i++) {
        fxs_value out;
        assert_int_equal(try_op(ctx, false, ops[i], TUPLE(ctx, TENSOR(x), fxs_int(0)), NONE, &out),
                         FXS_EINVAL);
        assert_non_null(strstr(fxs_ctx_error(ctx), "division by zero (ZeroDivisionError)"));
        fxs_ctx_clear(ctx);
    }
    fxs_tensor_unref(x);
}

static void powers(void **state) {
    fxs_ctx *ctx = *state;
    static const double exponents[] = {2, 3, 0.5, -0.5, -1, -2, 0, 1, 2.7, -3.1};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++)
        for (int d = 0; d < 2; d++) {
            fxs_tensor *x = random_tensor(ctx, d ? FXS_FLOAT64 : FXS_FLOAT32, SIZES(50), e);
            fxs_fill_uniform(ctx, x, e, 0.2, 3);
            fxs_tensor *y =
                run(ctx, "operator.pow", TUPLE(ctx, TENSOR(x), fxs_float(exponents[e])));
            fxs_tensor *z = run(ctx, "operator.pow", TUPLE(ctx, fxs_float(1.5), TENSOR(x)));
            for (int64_t i = 0; i < 50; i++) {
                assert_near(nth(y, i), pow(nth(x, i), exponents[e]), tolerance(x->dtype));
                assert_near(nth(z, i), pow(1.5, nth(x, i)), tolerance(x->dtype));
            }
            fxs_tensor_unref(x), fxs_tensor_unref(y), fxs_tensor_unref(z);
        }
}

static void rounding_modes_and_alpha(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_FLOAT32, SIZES(4), (double[]){7, -7, 7, -7}),
               *y = tensor_of_values(ctx, FXS_FLOAT32, SIZES(4), (double[]){2, 2, -2, -2});
    static const double down[] = {3, -4, -4, 3}, zero[] = {3, -3, -3, 3}, scaled[] = {8, -6, 6, -8};
    fxs_tensor *a = run_op(ctx, "torch.div", TUPLE(ctx, TENSOR(x), TENSOR(y)),
                           KEYWORDS(ctx, {"rounding_mode", make_str(ctx, "floor")}));
    fxs_tensor *b = run_op(ctx, "torch.div", TUPLE(ctx, TENSOR(x), TENSOR(y)),
                           KEYWORDS(ctx, {"rounding_mode", make_str(ctx, "trunc")}));
    fxs_tensor *s = run_op(ctx, "torch.add", TUPLE(ctx, TENSOR(x), TENSOR(y)),
                           KEYWORDS(ctx, {"alpha", fxs_float(0.5)}));
    for (int i = 0; i < 4; i++) {
        assert_near(nth(a, i), down[i], 0);
        assert_near(nth(b, i), zero[i], 0);
        assert_near(nth(s, i), scaled[i], 0);
    }
    refuses(ctx, "torch.div", TUPLE(ctx, TENSOR(x), TENSOR(y)),
            KEYWORDS(ctx, {"rounding_mode", make_str(ctx, "up")}),
            "div: rounding_mode must be None, 'trunc' or 'floor', not 'up'");
    fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(s), fxs_tensor_unref(x),
        fxs_tensor_unref(y);
}

/* ---- strides
 * ------------------------------------------------------------------------------------------- */

/* Facts of PyTorch 1.13's TensorIterator: operands' strides (0 dimensions: none) and the result's.
 */
static void strides_follow_the_operands(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        int ndim;
        int64_t sizes[4], a[4], b[4], out[4];
    } cases[] = {
        {4, {2, 3, 4, 5}, {60, 1, 15, 3}, {60, 1, 15, 3}, {60, 1, 15, 3}}, /* channels last stays */
        {4,
         {2, 3, 4, 5},
         {60, 1, 15, 3},
         {60, 20, 5, 1},
         {60, 1, 15, 3}}, /* the first operand leads */
        {4, {2, 3, 4, 5}, {60, 20, 5, 1}, {60, 1, 15, 3}, {60, 20, 5, 1}},
        {3, {2, 3, 4}, {1, 8, 2}, {1, 8, 2}, {1, 8, 2}}, /* dense, whatever the order */
        {3,
         {2, 3, 4},
         {96, 16, 2},
         {96, 16, 2},
         {12, 4, 1}},                                     /* not dense: packed in the same order */
        {3, {2, 3, 4}, {0, 4, 1}, {0, 4, 1}, {12, 4, 1}}, /* stretched */
        {3, {2, 3, 4}, {1, 0, 2}, {0, 1, 3}, {3, 1, 6}}, /* dimension 1 says nothing in the first */
        {4,
         {1, 3, 1, 1},
         {3, 1, 3, 3},
         {3, 1, 1, 1},
         {3, 1, 1, 1}}, /* both contiguous and channels last */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_tensor *a, *b, *y;
        assert_ok(ctx,
                  fxs_tensor_make(ctx, FXS_FLOAT32, cases[i].ndim, cases[i].sizes, cases[i].a, &a));
        assert_ok(ctx,
                  fxs_tensor_make(ctx, FXS_FLOAT32, cases[i].ndim, cases[i].sizes, cases[i].b, &b));
        assert_ok(ctx, fxs_tensor_allocate(ctx, a));
        assert_ok(ctx, fxs_tensor_allocate(ctx, b));
        memset(a->storage->data, 0, a->storage->bytes);
        memset(b->storage->data, 0, b->storage->bytes);
        y = run(ctx, "torch.add", TUPLE(ctx, TENSOR(a), TENSOR(b)));
        assert_strides(y, cases[i].ndim, cases[i].out);
        fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(y);
    }
    fxs_tensor *x, *y; /* of equal strides the larger dimension goes outside */
    assert_ok(ctx, fxs_tensor_make(ctx, FXS_FLOAT32, SIZES(1, 4), (int64_t[]){1, 1}, &x));
    assert_ok(ctx, fxs_tensor_allocate(ctx, x));
    memset(x->storage->data, 0, x->storage->bytes);
    y = run(ctx, "torch.add", TUPLE(ctx, TENSOR(x), fxs_int(1)));
    assert_strides(y, SIZES(1, 1));
    fxs_tensor_unref(x), fxs_tensor_unref(y);
}

/* ---- in place
 * ------------------------------------------------------------------------------------------ */

static void calls_in_place_write_their_argument(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const ops[] = {"Tensor.add_", "operator.iadd", "Tensor.__iadd__"};
    static const int turned[] = {1, 0};
    for (int i = 0; i < 3; i++) {
        fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(30, 50), 1), turned);
        fxs_tensor *before = random_tensor(ctx, FXS_FLOAT32, SIZES(30, 50), 2),
                   *row = random_tensor(ctx, FXS_FLOAT32, SIZES(50), 3);
        fxs_tensor_copy(ctx, before, x);
        fxs_tensor *y = run_op(ctx, ops[i], TUPLE(ctx, TENSOR(x), TENSOR(row)), NONE);
        assert_ptr_equal(y, x);
        for (int64_t k = 0; k < 1500; k++)
            assert_near(nth(x, k), (double)(float)(nth(before, k) + nth(row, k % 50)), 0);
        fxs_tensor_unref(y);
        fxs_tensor_copy(ctx, before, x);
        y = run_op(ctx, ops[i], TUPLE(ctx, TENSOR(x), TENSOR(x)),
                   NONE); /* an operand is the output itself */
        for (int64_t k = 0; k < 1500; k++)
            assert_near(nth(x, k), 2 * nth(before, k), 0);
        fxs_tensor_unref(y), fxs_tensor_unref(x), fxs_tensor_unref(before), fxs_tensor_unref(row);
    }
}

/* x[1:] += x[:-1] reads what was there before. */
static void overlapping_operands_are_read_first(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_FLOAT32, SIZES(5), (double[]){1, 2, 3, 4, 5}), *head,
               *tail;
    static const double want[] = {1, 3, 5, 7, 9};
    assert_ok(ctx, fxs_tensor_view(ctx, x, &head));
    assert_ok(ctx, fxs_tensor_view(ctx, x, &tail));
    head->sizes[0] = tail->sizes[0] = 4;
    tail->offset = 1;
    fxs_tensor *y = run_op(ctx, "Tensor.add_", TUPLE(ctx, TENSOR(tail), TENSOR(head)), NONE);
    for (int i = 0; i < 5; i++)
        assert_near(nth(x, i), want[i], 0);
    fxs_tensor_unref(x), fxs_tensor_unref(head), fxs_tensor_unref(tail), fxs_tensor_unref(y);
}

static void calls_in_place_keep_the_type(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *n = random_tensor(ctx, FXS_INT32, SIZES(3), 1),
               *b = random_tensor(ctx, FXS_BOOL, SIZES(3), 1),
               *f = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 1),
               *d = random_tensor(ctx, FXS_FLOAT64, SIZES(3), 2),
               *wide = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1);
    refuses(ctx, "Tensor.add_", TUPLE(ctx, TENSOR(n), fxs_float(0.5)), NONE,
            "add: in place: a result of type float32 can't be written into a tensor of type int32");
    refuses(ctx, "Tensor.add_", TUPLE(ctx, TENSOR(b), fxs_int(1)), NONE,
            "add: in place: a result of type int64 can't be written into a tensor of type bool");
    refuses(ctx, "Tensor.add_", TUPLE(ctx, TENSOR(f), TENSOR(wide)), NONE,
            "add: in place: the result has shape [2, 3], but the tensor to write has shape [3]");
    fxs_tensor_unref(f); /* in meta mode it was forgotten what was in it */
    f = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 1);
    fxs_tensor *y = run_op(ctx, "Tensor.mul_", TUPLE(ctx, TENSOR(f), TENSOR(d)), NONE);
    assert_int_equal(y->dtype, FXS_FLOAT32);
    fxs_tensor *z = run_op(ctx, "Tensor.lt_", TUPLE(ctx, TENSOR(f), fxs_int(0)), NONE);
    assert_int_equal(z->dtype, FXS_FLOAT32);
    fxs_tensor_unref(n), fxs_tensor_unref(b), fxs_tensor_unref(f), fxs_tensor_unref(d),
        fxs_tensor_unref(y), fxs_tensor_unref(z);
    fxs_tensor_unref(wide);
}

/* ---- threads
 * ------------------------------------------------------------------------------------------- */

static void threads_do_not_change_results(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 101, 701), 1),
               *row = random_tensor(ctx, FXS_FLOAT64, SIZES(701), 2);
    fxs_tensor *a = run_op(ctx, "torch.mul", TUPLE(ctx, TENSOR(x), TENSOR(row)), NONE), *b;
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 3));
    b = run_op(ctx, "torch.mul", TUPLE(ctx, TENSOR(x), TENSOR(row)), NONE);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
    assert_int_equal(a->dtype, FXS_FLOAT64);
    assert_memory_equal(fxs_tensor_data(a), fxs_tensor_data(b), 3 * 101 * 701 * sizeof(double));
    for (int64_t i = 0; i < 3 * 101 * 701; i += 997)
        assert_near(nth(a, i), nth(x, i) * nth(row, i % 701), 1e-15);
    fxs_tensor_unref(x), fxs_tensor_unref(row), fxs_tensor_unref(a), fxs_tensor_unref(b);
}

/* ---- refusals
 * ------------------------------------------------------------------------------------------ */

static void what_torch_refuses_is_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *c = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 4), 1),
               *b = random_tensor(ctx, FXS_BOOL, SIZES(2, 3), 1),
               *n = random_tensor(ctx, FXS_INT64, SIZES(2, 3), 1);
    refuses(ctx, "torch.add", TUPLE(ctx, TENSOR(a), TENSOR(c)), NONE,
            "add: the size of tensor a (3) must match the size of tensor b (4) at dimension 1: "
            "shapes [2, 3] and [2, 4]");
    refuses(ctx, "operator.sub", TUPLE(ctx, TENSOR(b), TENSOR(b)), NONE,
            "sub: subtraction, the `-` operator, with a bool tensor is not supported: to invert a "
            "mask, use the `~` or "
            "`logical_not()` operator instead");
    refuses(ctx, "operator.neg", TUPLE(ctx, TENSOR(b)), NONE,
            "neg: negation, the `-` operator, on a bool tensor is not supported: to invert a mask, "
            "use the `~` or "
            "`logical_not()` operator instead");
    refuses(ctx, "torch.bitwise_and", TUPLE(ctx, TENSOR(a), fxs_int(1)), NONE,
            "bitwise_and: not implemented for torch.float32");
    refuses(ctx, "torch.pow", TUPLE(ctx, TENSOR(n), fxs_int(-1)), NONE,
            "pow: integers to negative integer powers are not allowed");
    refuses(ctx, "torch.add", TUPLE(ctx, TENSOR(n), TENSOR(n)),
            KEYWORDS(ctx, {"alpha", fxs_float(0.5)}),
            "add: for integral tensors, argument 'alpha' must not be a floating point number");
    refuses(ctx, "torch.floor", TUPLE(ctx, TENSOR(b)), NONE,
            "floor: not implemented for torch.bool");
    refuses(ctx, "torch.frac", TUPLE(ctx, TENSOR(n)), NONE,
            "frac: not implemented for torch.int64");
    refuses(ctx, "operator.add", TUPLE(ctx, TENSOR(a), make_str(ctx, "x")), NONE,
            "python_add: unsupported operand type(s) for +: 'torch.Tensor' and 'str'");
    fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(c), fxs_tensor_unref(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_element),
        cmocka_unit_test(edges_of_own_polynomials),
        cmocka_unit_test(operators_on_two_tensors),
        cmocka_unit_test(operators_with_numbers),
        cmocka_unit_test(types_follow_the_categories),
        cmocka_unit_test(integers_divide_wrap_and_shift),
        cmocka_unit_test(integer_division_by_zero_is_refused),
        cmocka_unit_test(powers),
        cmocka_unit_test(rounding_modes_and_alpha),
        cmocka_unit_test(strides_follow_the_operands),
        cmocka_unit_test(calls_in_place_write_their_argument),
        cmocka_unit_test(overlapping_operands_are_read_first),
        cmocka_unit_test(calls_in_place_keep_the_type),
        cmocka_unit_test(threads_do_not_change_results),
        cmocka_unit_test(what_torch_refuses_is_refused),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
