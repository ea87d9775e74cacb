/* test_activation.c: activation functions against double-precision references, in all their
 * spellings; their layers through the operators that the rows name; dropout and its kin. */
#include "checking.h"

#define NONE fxs_none()

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return log1p(exp(-fabs(x))) + fmax(x, 0); }
static double relu(double x) { return fmax(x, 0); }
static double relu6(double x) { return fmin(fmax(x, 0), 6); }
static double leaky(double x) { return x > 0 ? x : 0.2 * x; }
static double elu(double x) { return x > 0 ? x : 1.5 * expm1(x); }
static double celu(double x) { return x > 0 ? x : 2 * expm1(x / 2); }
static double selu(double x) {
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
}
static double gelu(double x) { return x * 0.5 * (1 + erf(x / sqrt(2))); }
static double gelu_tanh(double x) {
    return x * 0.5 * (1 + tanh(sqrt(2 / 3.141592653589793) * (x + 0.044715 * x * x * x)));
}
static double silu(double x) { return x * sigmoid(x); }
static double mish(double x) { return x * tanh(softplus(x)); }
static double hardtanh(double x) { return fmin(fmax(x, -2), 1.5); }
static double hardsigmoid(double x) { return fmin(fmax(x + 3, 0), 6) / 6; }
static double hardswish(double x) { return x * hardsigmoid(x); }
static double softplus2(double x) { return 2 * x > 5 ? x : softplus(2 * x) / 2; }
static double softsign(double x) { return x / (1 + fabs(x)); }
static double tanhshrink(double x) { return x - tanh(x); }
static double softshrink(double x) { return x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : 0; }
static double hardshrink(double x) { return fabs(x) <= 0.5 ? 0 : x; }
static double threshold(double x) { return x > 0.5 ? x : 2; }
static double logsigmoid(double x) { return -softplus(-x); }
static double rrelu(double x) { return x < 0 ? x * (0.125 + 1.0 / 3) / 2 : x; }

#define F "torch.nn.functional."
#define NN "torch._C._nn."
static const struct {
    const char *spelling;
    double (*of)(double);
    const char *name;
    double value;
    const char *name2;
    double value2;
} cases[] = {
    {F "relu", relu, NULL, 0, NULL, 0},
    {"torch.relu", relu, NULL, 0, NULL, 0},
    {"Tensor.relu", relu, NULL, 0, NULL, 0},
    {F "relu6", relu6, NULL, 0, NULL, 0},
    {F "leaky_relu", leaky, "negative_slope", 0.2, NULL, 0},
    {F "elu", elu, "alpha", 1.5, NULL, 0},
    {F "celu", celu, "alpha", 2, NULL, 0},
    {F "selu", selu, NULL, 0, NULL, 0},
    {NN "gelu", gelu, NULL, 0, NULL, 0},
    {F "silu", silu, NULL, 0, NULL, 0},
    {F "mish", mish, NULL, 0, NULL, 0},
    {F "hardtanh", hardtanh, "min_val", -2, "max_val", 1.5},
    {F "hardsigmoid", hardsigmoid, NULL, 0, NULL, 0},
    {F "hardswish", hardswish, NULL, 0, NULL, 0},
    {NN "softplus", softplus2, "beta", 2, "threshold", 5},
    {F "softsign", softsign, NULL, 0, NULL, 0},
    {F "tanhshrink", tanhshrink, NULL, 0, NULL, 0},
    {NN "softshrink", softshrink, "lambd", 0.5, NULL, 0},
    {"torch.hardshrink", hardshrink, "lambd", 0.5, NULL, 0},
    {F "_threshold", threshold, "threshold", 0.5, "value", 2},
    {NN "log_sigmoid", logsigmoid, NULL, 0, NULL, 0},
    {F "rrelu", rrelu, NULL, 0, NULL, 0},
    {F "sigmoid", sigmoid, NULL, 0, NULL, 0},
    {F "tanh", tanh, NULL, 0, NULL, 0},
};

static fxs_value keywords_of(fxs_ctx *ctx, size_t i) {
    if (!cases[i].name)
        return NONE;
    if (!cases[i].name2)
        return KEYWORDS(ctx, {cases[i].name, fxs_float(cases[i].value)});
    return KEYWORDS(ctx, {cases[i].name, fxs_float(cases[i].value)},
                    {cases[i].name2, fxs_float(cases[i].value2)});
}

static void check(fxs_ctx *ctx, size_t i, fxs_tensor *x) {
    fxs_tensor *y =
        run_both(ctx, cases[i].spelling, TUPLE(ctx, TENSOR(x)), keywords_of(ctx, i)).u.tensor;
    assert_int_equal(y->dtype, x->dtype);
    assert_shape(y, x->ndim, x->sizes);
    for (int64_t k = 0; k < fxs_tensor_numel(x); k++)
        assert_near(nth(y, k), cases[i].of(nth(x, k)),
                    x->dtype == FXS_FLOAT32 ? 1e-6 : tolerance_of(x->dtype));
    fxs_tensor_unref(y);
}

static void functions_in_every_type_and_layout(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_FLOAT16};
    static const int turned[] = {1, 2, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int t = 0; t < 4; t++) {
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(5, 6, 11), i),
                       *none = random_tensor(ctx, types[t], SIZES(2, 0), 1);
            fxs_fill_uniform(ctx, x, i, -8, 8);
            check(ctx, i, x);
            x = laid_out(ctx, x, turned);
            check(ctx, i, x);
            fxs_fill_uniform(ctx, x, i, -0.01,
                             0.01); /* where 1 - exp(x) loses digits; the layout is dense */
            check(ctx, i, x);
            check(ctx, i, none);
            fxs_tensor_unref(x), fxs_tensor_unref(none);
        }
}

static void gelu_has_two_forms(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(300), 1);
    fxs_fill_uniform(ctx, x, 1, -6, 6);
    fxs_tensor *y = run_op(ctx, NN "gelu", TUPLE(ctx, TENSOR(x)),
                           KEYWORDS(ctx, {"approximate", make_str(ctx, "tanh")}));
    for (int64_t i = 0; i < 300; i++)
        assert_near(nth(y, i), gelu_tanh(nth(x, i)), 1e-6);
    refuses(ctx, NN "gelu", TUPLE(ctx, TENSOR(x)),
            KEYWORDS(ctx, {"approximate", make_str(ctx, "sine")}),
            "gelu: approximate argument must be either none or tanh, not 'sine'");
    fxs_tensor_unref(x), fxs_tensor_unref(y);
}

static void not_a_number_stays_one(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int d = 0; d < 2; d++) {
            fxs_tensor *x =
                tensor_of_values(ctx, d ? FXS_FLOAT64 : FXS_FLOAT32, SIZES(1), (double[]){NAN});
            fxs_tensor *y =
                run_op(ctx, cases[i].spelling, TUPLE(ctx, TENSOR(x)), keywords_of(ctx, i));
            if (cases[i].of != threshold && !isnan(nth(y, 0)))
                fail_msg("%s(nan) is %g", cases[i].spelling, nth(y, 0));
            fxs_tensor_unref(x), fxs_tensor_unref(y);
        }
}

static void inplace_writes_the_input(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const marked[] = {"torch.relu_", "Tensor.relu_", NN "leaky_relu_",
                                         NN "elu_",     NN "hardtanh_", "torch.selu_",
                                         NN "silu_"};
    static const char *const asked[] = {F "relu",      F "relu6", F "silu",
                                        F "hardswish", F "elu",   F "mish"};
    for (size_t i = 0; i < 13; i++) {
        bool by_keyword = i >= 7;
        fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(40), 1),
                   *first = random_tensor(ctx, FXS_FLOAT32, SIZES(40), 1);
        const char *op = by_keyword ? asked[i - 7] : marked[i];
        fxs_tensor *y = run_op(ctx, op, TUPLE(ctx, TENSOR(x)),
                               by_keyword ? KEYWORDS(ctx, {"inplace", fxs_bool(true)}) : NONE);
        assert_ptr_equal(x, y);
        bool changed = false;
        for (int64_t k = 0; k < 40; k++)
            changed |= nth(x, k) != nth(first, k);
        assert_true(changed || strstr(op, "hardtanh"));
        fxs_tensor_unref(x), fxs_tensor_unref(y), fxs_tensor_unref(first);
    }
}

static void prelu_has_a_weight_a_channel(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {0, 2, 3, 1};
    for (int many = 0; many < 2; many++)
        for (int last = 0; last < 2; last++) {
            fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 1),
                       *w = random_tensor(ctx, FXS_FLOAT32, SIZES(many ? 3 : 1), 2);
            if (last)
                x = laid_out(ctx, x, turned);
            fxs_tensor *y =
                run_both(ctx, "torch.prelu", TUPLE(ctx, TENSOR(x), TENSOR(w)), NONE).u.tensor;
            for (int64_t i = 0; i < 120; i++) {
                double v = nth(x, i);
                assert_near(nth(y, i), v > 0 ? v : v * nth(w, many ? i / 20 % 3 : 0), 1e-6);
            }
            assert_int_equal(y->strides[1], last ? 1 : 20);
            fxs_tensor_unref(x), fxs_tensor_unref(w), fxs_tensor_unref(y);
        }
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *w = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 2);
    refuses(ctx, "torch.prelu", TUPLE(ctx, TENSOR(x), TENSOR(w)), NONE,
            "prelu: the number of weights (2) must be 1 or the channel size (3)");
    fxs_tensor_unref(x), fxs_tensor_unref(w);
}

static void glu_halves_a_dimension(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 4, 3), 1);
    fxs_tensor *y = run_both(ctx, F "glu", TUPLE(ctx, TENSOR(x), fxs_int(1)), NONE).u.tensor;
    assert_shape(y, SIZES(2, 2, 3));
    for (int64_t i = 0; i < 12; i++) {
        int64_t a[] = {i / 6, i / 3 % 2, i % 3}, b[] = {a[0], a[1] + 2, a[2]};
        assert_near(nth(y, i), element(x, a) * sigmoid(element(x, b)), 1e-6);
    }
    refuses(ctx, F "glu", TUPLE(ctx, TENSOR(x), fxs_int(2)), NONE,
            "glu: halving dimension must be even, but dimension 2 is size 3");
    fxs_tensor_unref(x), fxs_tensor_unref(y);
}

static void wrong_arguments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *n = random_tensor(ctx, FXS_INT64, SIZES(3), 1),
               *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 1),
               *u = random_tensor(ctx, FXS_UINT8, SIZES(3), 1);
    refuses(ctx, NN "gelu", TUPLE(ctx, TENSOR(n)), NONE, "gelu: not implemented for torch.int64");
    refuses(ctx, F "hardtanh", TUPLE(ctx, TENSOR(u), fxs_int(-2), fxs_int(1)), NONE,
            "hardtanh: cannot do hardtanh on an unsigned type with negative limits");
    refuses(ctx, NN "softshrink", TUPLE(ctx, TENSOR(x), fxs_int(-1)), NONE,
            "softshrink: lambda must be greater or equal to 0, but found to be -1");
    refuses(ctx, F "celu", TUPLE(ctx, TENSOR(x), fxs_int(0)), NONE,
            "celu: alpha can't be 0 (ZeroDivisionError)");
    fxs_tensor *y = run_op(ctx, "torch.relu", TUPLE(ctx, TENSOR(n)), NONE);
    assert_int_equal(y->dtype, FXS_INT64);
    fxs_tensor_unref(n), fxs_tensor_unref(x), fxs_tensor_unref(u), fxs_tensor_unref(y);
}

/* ---- dropout
 * ------------------------------------------------------------------------------------------- */

static fxs_value drop_keywords(fxs_ctx *ctx, double p, bool training) {
    return KEYWORDS(ctx, {"p", fxs_float(p)}, {"training", fxs_bool(training)},
                    {"inplace", fxs_bool(false)});
}

static void outside_training_the_input_comes_back(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const ops[] = {F "dropout",   F "dropout1d",     F "dropout2d",
                                      F "dropout3d", F "alpha_dropout", F "feature_alpha_dropout"};
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1);
    for (int i = 0; i < 6; i++) {
        fxs_tensor *y = run_op(ctx, ops[i], TUPLE(ctx, TENSOR(x)), drop_keywords(ctx, 0.5, false));
        assert_ptr_equal(x, y);
        fxs_tensor_unref(y);
        refuses(ctx, ops[i], TUPLE(ctx, TENSOR(x)), drop_keywords(ctx, 1.5, true),
                i == 0   ? "dropout: dropout probability has to be between 0 and 1, but got 1.5"
                : i == 1 ? "dropout1d: dropout probability has to be between 0 and 1, but got 1.5"
                : i == 2 ? "dropout2d: dropout probability has to be between 0 and 1, but got 1.5"
                : i == 3 ? "dropout3d: dropout probability has to be between 0 and 1, but got 1.5"
                : i == 4
                    ? "alpha_dropout: dropout probability has to be between 0 and 1, but got 1.5"
                    : "feature_alpha_dropout: dropout probability has to be between 0 and 1, but "
                      "got 1.5");
    }
    fxs_tensor_unref(x);
}

static void training_drops_and_scales(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {2, 0, 1};
    fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(20, 30, 40), 1), turned);
    fxs_tensor *y = run_op(ctx, F "dropout", TUPLE(ctx, TENSOR(x)), drop_keywords(ctx, 0.25, true));
    fxs_tensor *z =
        run_op(ctx, F "dropout2d", TUPLE(ctx, TENSOR(x)), drop_keywords(ctx, 0.25, true));
    fxs_tensor *all = run_op(ctx, F "dropout", TUPLE(ctx, TENSOR(x)), drop_keywords(ctx, 1, true));
    int64_t dropped = 0, channels = 0;
    for (int64_t i = 0; i < 24000; i++) {
        dropped += nth(y, i) == 0;
        assert_true(nth(y, i) == 0 || fabs(nth(y, i) - nth(x, i) / 0.75) < 1e-5);
        assert_near(nth(all, i), 0, 0);
        if (i % 40 == 0)
            channels += nth(z, i) == 0;
        assert_int_equal(nth(z, i) == 0, nth(z, i - i % 40) == 0); /* a channel goes as a whole */
    }
    assert_near((double)dropped / 24000, 0.25, 0.02);
    assert_near((double)channels / 600, 0.25, 0.06);
    fxs_tensor_unref(x), fxs_tensor_unref(y), fxs_tensor_unref(z), fxs_tensor_unref(all);
}

/* Alpha dropout keeps mean and variance of a standard normal input. */
static void alpha_dropout_keeps_the_moments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(100000), 1);
    fxs_fill_normal(ctx, x, 5, 0, 1);
    fxs_tensor *y =
        run_op(ctx, F "alpha_dropout", TUPLE(ctx, TENSOR(x)), drop_keywords(ctx, 0.2, true));
    double mean = 0, square = 0;
    for (int64_t i = 0; i < 100000; i++) {
        mean += nth(y, i) / 100000;
        square += nth(y, i) * nth(y, i) / 100000;
    }
    assert_near(mean, 0, 0.02);
    assert_near(square, 1, 0.02);
    fxs_tensor_unref(x), fxs_tensor_unref(y);
}

static void stochastic_depth_drops_rows(void **state) {
    fxs_ctx *ctx = *state;
    static const char op[] = "torchvision.ops.stochastic_depth.stochastic_depth";
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(400, 3), 1);
    fxs_tensor *same =
        run_op(ctx, op,
               TUPLE(ctx, TENSOR(x), fxs_float(0.5), make_str(ctx, "row"), fxs_bool(false)), NONE);
    fxs_tensor *y = run_op(
        ctx, op, TUPLE(ctx, TENSOR(x), fxs_float(0.5), make_str(ctx, "row"), fxs_bool(true)), NONE);
    int rows = 0;
    assert_ptr_equal(same, x);
    for (int64_t i = 0; i < 400; i++) {
        bool gone = nth(y, 3 * i) == 0;
        rows += gone;
        for (int64_t k = 0; k < 3; k++)
            assert_near(nth(y, 3 * i + k), gone ? 0 : 2 * nth(x, 3 * i + k), 1e-6);
    }
    assert_near(rows / 400.0, 0.5, 0.08);
    refuses(ctx, op, TUPLE(ctx, TENSOR(x), fxs_float(0.5), make_str(ctx, "column")), NONE,
            "stochastic_depth: mode has to be either 'batch' or 'row', but got 'column'");
    fxs_tensor_unref(x), fxs_tensor_unref(y), fxs_tensor_unref(same);
}

/* Every layer of these families binds and calls an operator with its arguments. */
static fxs_status no_state(void *user, const char *name, fxs_value *out) {
    fxs_ctx *ctx = user;
    *out = NONE;
    if (strcmp(name, "weight") == 0)
        *out = fxs_of_tensor(tensor_of_values(ctx, FXS_FLOAT32, SIZES(1), (double[]){0.25}));
    return FXS_OK;
}

static void layers_call_their_operators(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *name;
        double (*of)(double);
    } layers[] = {{"ReLU", relu},
                  {"ReLU6", relu6},
                  {"SELU", selu},
                  {"GELU", gelu},
                  {"SiLU", silu},
                  {"Mish", mish},
                  {"Hardsigmoid", hardsigmoid},
                  {"Hardswish", hardswish},
                  {"Softplus", softplus},
                  {"Softsign", softsign},
                  {"Tanh", tanh},
                  {"Sigmoid", sigmoid},
                  {"Tanhshrink", tanhshrink},
                  {"Softshrink", softshrink},
                  {"Hardshrink", hardshrink},
                  {"LogSigmoid", logsigmoid},
                  {"RReLU", rrelu},
                  {"Dropout", NULL},
                  {"Dropout2d", NULL},
                  {"AlphaDropout", NULL},
                  {"Identity", NULL}};
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 7), 1);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        fxs_arena a = {0};
        const fxs_module_row *row;
        const fxs_candidate *op;
        fxs_value empty = TUPLE(ctx, NONE), given = TUPLE(ctx, TENSOR(x)), args, kwargs;
        fxs_layer *layer = FXS_NEW(&a, fxs_layer);
        const char *name;
        fxs_applied out = {0};
        empty.u.seq->len = 0;
        assert_ok(ctx, fxs_registry_find_module(ctx, layers[i].name, &row));
        assert_non_null(row);
        assert_ok(ctx, fxs_layer_bind(ctx, &a, row, &empty, &(fxs_value){0}, layer));
        assert_ok(ctx, fxs_layer_call(layer, &a, &given, &(fxs_value){0}, false, no_state, ctx,
                                      &name, &args, &kwargs));
        assert_ok(ctx, fxs_registry_find_op(ctx, name, &op));
        assert_ok(ctx, fxs_op_apply(ctx, op, &args, &kwargs, &(fxs_apply){.scratch = &a}, &out));
        for (int64_t k = 0; k < 28; k++)
            assert_near(nth(out.result.u.tensor, k),
                        layers[i].of ? layers[i].of(nth(x, k)) : nth(x, k), 1e-6);
        fxs_value_unref(&out.result);
        fxs_value_unref(&empty);
        fxs_value_unref(&given);
        fxs_arena_clear(&a);
    }
    fxs_tensor_unref(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_in_every_type_and_layout),
        cmocka_unit_test(gelu_has_two_forms),
        cmocka_unit_test(not_a_number_stays_one),
        cmocka_unit_test(inplace_writes_the_input),
        cmocka_unit_test(prelu_has_a_weight_a_channel),
        cmocka_unit_test(glu_halves_a_dimension),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(outside_training_the_input_comes_back),
        cmocka_unit_test(training_drops_and_scales),
        cmocka_unit_test(alpha_dropout_keeps_the_moments),
        cmocka_unit_test(stochastic_depth_drops_rows),
        cmocka_unit_test(layers_call_their_operators),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
