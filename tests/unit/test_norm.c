/* test_norm.c: normalisations against plain loops: statistics given, of the batch, of an image, of
 * a group, of a row; layouts, mixed types, layers' own rules, refusals. */
#include "checking.h"

static double at_or(const fxs_tensor *t, int64_t i, double otherwise) {
    return t ? nth(t, i) : otherwise;
}

/* (x - mean) / sqrt(var + eps) * weight + bias */
static double normal(double x, double mean, double var, double weight, double bias) {
    return (x - mean) / sqrt(var + 1e-5) * weight + bias;
}

/* Mean and variance of the elements of x (dense order) that `same` puts together with element i. */
typedef int64_t group_fn(int64_t i, const int64_t *s);
static int64_t by_channel(int64_t i, const int64_t *s) { return i / (s[2] * s[3]) % s[1]; }
static int64_t by_plane(int64_t i, const int64_t *s) { return i / (s[2] * s[3]); }
static int64_t by_group(int64_t i, const int64_t *s) { return i / (s[2] * s[3] * (s[1] / 2)); }
static int64_t by_row(int64_t i, const int64_t *s) { return i / s[3]; }
static int64_t by_two(int64_t i, const int64_t *s) { return i / (s[2] * s[3]); }

static void moments(const fxs_tensor *x, group_fn *group, int64_t i, double *mean, double *var) {
    double n = 0, sum = 0, squares = 0;
    int64_t all = fxs_tensor_numel(x);
    for (int64_t k = 0; k < all; k++)
        if (group(k, x->sizes) == group(i, x->sizes))
            n++, sum += nth(x, k);
    *mean = sum / n;
    for (int64_t k = 0; k < all; k++)
        if (group(k, x->sizes) == group(i, x->sizes))
            squares += (nth(x, k) - *mean) * (nth(x, k) - *mean);
    *var = squares / n;
}

/* Compares y with x normalised by groups of its own; weights go by `item`. */
static void expect_own(fxs_value y, const fxs_tensor *x, group_fn *group, group_fn *item,
                       const fxs_tensor *w, const fxs_tensor *b, double tolerance) {
    for (int64_t i = 0; i < fxs_tensor_numel(x); i++) {
        double mean, var;
        int64_t k = item(i, x->sizes);
        moments(x, group, i, &mean, &var);
        assert_near(nth(y.u.tensor, i),
                    normal(nth(x, i), mean, var, at_or(w, k, 1), at_or(b, k, 0)), tolerance);
    }
    fxs_value_unref(&y);
}

static fxs_tensor *positive(fxs_ctx *ctx, fxs_dtype d, int64_t n) {
    fxs_tensor *t = random_tensor(ctx, d, 1, &n, 5);
    fxs_fill_uniform(ctx, t, 5, 0.5, 2);
    return t;
}

static fxs_value maybe(fxs_tensor *t) { return t ? TENSOR(t) : fxs_none(); }

static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_FLOAT16};
static const int last[] = {0, 2, 3, 1}, odd[] = {0, 1, 3, 2};

static void given_statistics(void **state) {
    fxs_ctx *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int form = 0; form < 3; form++) {
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 3, 4, 5), 1);
            fxs_dtype d =
                form == 1 ? FXS_FLOAT32 : types[t]; /* float32 statistics for small floats */
            if (form == 1 && t == 1)
                d = types[t];
            fxs_tensor *mean = random_tensor(ctx, d, SIZES(3), 2), *var = positive(ctx, d, 3);
            fxs_tensor *w = form ? random_tensor(ctx, d, SIZES(3), 3) : NULL,
                       *b = form == 2 ? random_tensor(ctx, d, SIZES(3), 4) : NULL;
            if (form == 2)
                x = laid_out(ctx, x, t % 2 ? odd : last);
            fxs_value y =
                run_both(ctx, "torch.nn.functional.batch_norm",
                         TUPLE(ctx, TENSOR(x), TENSOR(mean), TENSOR(var)),
                         KEYWORDS(ctx, {"weight", maybe(w)}, {"bias", maybe(b)},
                                  {"training", fxs_bool(false)}, {"momentum", fxs_float(0.1)},
                                  {"eps", fxs_float(1e-5)}));
            for (int64_t i = 0; i < 120; i++) {
                int64_t c = by_channel(i, x->sizes);
                assert_near(
                    nth(y.u.tensor, i),
                    normal(nth(x, i), nth(mean, c), nth(var, c), at_or(w, c, 1), at_or(b, c, 0)),
                    tolerance_of(types[t]));
            }
            int64_t plain[] = {60, 20, 5, 1}, channels[] = {60, 1, 15, 3};
            assert_strides(y.u.tensor, 4, form == 2 && t % 2 == 0 ? channels : plain);
            fxs_value_unref(&y);
            fxs_tensor *const all[] = {x, mean, var, w, b};
            for (int i = 0; i < 5; i++)
                fxs_tensor_unref(all[i]);
        }
}

static void own_statistics(void **state) {
    fxs_ctx *ctx = *state;
    for (int t = 0; t < 4; t++) {
        double tolerance = t == 0 ? 1e-4 : tolerance_of(types[t]) * 3;
        fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 4, 3, 5), 1),
                   *w = random_tensor(ctx, types[t], SIZES(4), 2),
                   *b = random_tensor(ctx, types[t], SIZES(4), 3),
                   *row = random_tensor(ctx, types[t], SIZES(5), 4);
        fxs_value none = fxs_none();
        expect_own(run_both(ctx, "torch.nn.functional.batch_norm",
                            TUPLE(ctx, TENSOR(x), none, none, TENSOR(w), TENSOR(b), fxs_bool(true)),
                            none),
                   x, by_channel, by_channel, w, b, tolerance);
        expect_own(run_both(ctx, "torch.batch_norm",
                            TUPLE(ctx, TENSOR(x), TENSOR(w), none, none, none, fxs_bool(true),
                                  fxs_float(0.1), fxs_float(1e-5), fxs_bool(true)),
                            none),
                   x, by_channel, by_channel, w, NULL, tolerance);
        expect_own(run_both(ctx, "torch.nn.functional.instance_norm",
                            TUPLE(ctx, TENSOR(x), none, none, TENSOR(w), TENSOR(b)), none),
                   x, by_plane, by_channel, w, b, tolerance);
        expect_own(run_both(ctx, "torch.nn.functional.group_norm",
                            TUPLE(ctx, TENSOR(x), fxs_int(2), TENSOR(w), TENSOR(b)), none),
                   x, by_group, by_channel, w, b, tolerance);
        expect_own(run_both(ctx, "torch.nn.functional.layer_norm",
                            TUPLE(ctx, TENSOR(x), TUPLE(ctx, fxs_int(3), fxs_int(5))), none),
                   x, by_two, by_two, NULL, NULL, tolerance);
        fxs_value y =
            run_both(ctx, "torch.nn.functional.layer_norm",
                     TUPLE(ctx, TENSOR(x), TUPLE(ctx, fxs_int(5)), TENSOR(row), TENSOR(row)), none);
        for (int64_t i = 0; i < 120; i++) {
            double mean, var, k = nth(row, i % 5);
            moments(x, by_row, i, &mean, &var);
            assert_near(nth(y.u.tensor, i), normal(nth(x, i), mean, var, k, k), tolerance);
        }
        fxs_value_unref(&y);
        fxs_tensor *const all[] = {x, w, b, row};
        for (int i = 0; i < 4; i++)
            fxs_tensor_unref(all[i]);
    }
}

/* A long row of large numbers with small differences: single-precision sums would lose them. */
static void long_rows_keep_their_digits(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 100003), 1);
    float *v = fxs_tensor_data(x);
    for (int64_t i = 0; i < 100003; i++)
        v[i] = 1000 + (float)(i % 2);
    fxs_value y = run_both(ctx, "torch.nn.functional.layer_norm",
                           TUPLE(ctx, TENSOR(x), TUPLE(ctx, fxs_int(100003))), fxs_none());
    assert_near(nth(y.u.tensor, 0), -1, 1e-3);
    assert_near(nth(y.u.tensor, 100001), 1, 1e-3);
    fxs_value_unref(&y);
    fxs_tensor_unref(x);
}

/* An operator by its row name: what layers call. */
static fxs_status apply_row(fxs_ctx *ctx, const char *name, fxs_value args, fxs_value kwargs,
                            fxs_value *out) {
    fxs_arena scratch = {0};
    const fxs_candidate *op;
    fxs_applied got = {0};
    fxs_apply how = {.scratch = &scratch};
    assert_ok(ctx, fxs_registry_find_op(ctx, name, &op));
    fxs_status s =
        fxs_op_apply(ctx, op, &args, kwargs.tag == FXS_V_DICT ? &kwargs : NULL, &how, &got);
    *out = got.result;
    fxs_value_unref(&args);
    fxs_value_unref(&kwargs);
    fxs_arena_clear(&scratch);
    return s;
}

static void layers_have_rules_of_their_own(void **state) {
    fxs_ctx *ctx = *state;
    fxs_value out, none = fxs_none();
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 4, 3, 5), 1),
               *image = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 3, 5), 1);
    /* without running statistics a batch_norm layer takes the batch's, training or not */
    assert_ok(ctx, apply_row(ctx, "batch_norm", TUPLE(ctx, TENSOR(x), none, none),
                             KEYWORDS(ctx, {"track_running_stats", fxs_bool(false)},
                                      {"rank", fxs_int(4)}),
                             &out));
    expect_own(out, x, by_channel, by_channel, NULL, NULL, 1e-4);
    assert_int_equal(
        apply_row(ctx, "batch_norm", TUPLE(ctx, TENSOR(image), none, none),
                  KEYWORDS(ctx, {"track_running_stats", fxs_bool(false)}, {"rank", fxs_int(4)}),
                  &out),
        FXS_ESHAPE);
    assert_string_equal(fxs_ctx_error(ctx),
                        "batch_norm: expected 4D input, but got 3D input of shape [4, 3, 5]");
    fxs_ctx_clear(ctx);
    /* an instance_norm layer takes one image without a batch */
    assert_ok(ctx, apply_row(ctx, "instance_norm", TUPLE(ctx, TENSOR(image)),
                             KEYWORDS(ctx, {"track_running_stats", fxs_bool(false)},
                                      {"rank", fxs_int(4)}, {"use_input_stats", fxs_bool(false)}),
                             &out));
    assert_shape(out.u.tensor, 3, image->sizes);
    for (int64_t c = 0; c < 4; c++) {
        double sum = 0;
        for (int64_t i = 0; i < 15; i++)
            sum += nth(out.u.tensor, c * 15 + i);
        assert_near(sum, 0, 1e-4);
    }
    fxs_value_unref(&out);
    /* LayerNorm2d: along the channels; the result looks permuted */
    assert_ok(ctx, apply_row(ctx, "layer_norm2d", TUPLE(ctx, TENSOR(x), TUPLE(ctx, fxs_int(4))),
                             none, &out));
    assert_strides(out.u.tensor, 4, (int64_t[]){60, 1, 20, 4});
    for (int64_t i = 0; i < 120; i++) {
        int64_t n = i / 60, r = i / 5 % 3, q = i % 5;
        double mean = 0, var = 0;
        for (int64_t c = 0; c < 4; c++)
            mean += element(x, (int64_t[]){n, c, r, q}) / 4;
        for (int64_t c = 0; c < 4; c++)
            var += pow(element(x, (int64_t[]){n, c, r, q}) - mean, 2) / 4;
        assert_near(nth(out.u.tensor, i), normal(nth(x, i), mean, var, 1, 0), 1e-4);
    }
    fxs_value_unref(&out);
    fxs_tensor_unref(x);
    fxs_tensor_unref(image);
}

static void local_response(void **state) {
    fxs_ctx *ctx = *state;
    for (int64_t size = 1; size <= 5; size++) {
        fxs_tensor *x = random_tensor(ctx, types[size % 3], SIZES(2, 6, 3), 1);
        fxs_value y = run_both(ctx, "torch.nn.functional.local_response_norm",
                               TUPLE(ctx, TENSOR(x), fxs_int(size)),
                               KEYWORDS(ctx, {"alpha", fxs_float(0.5)}, {"beta", fxs_float(0.75)},
                                        {"k", fxs_float(2)}));
        for (int64_t i = 0; i < 36; i++) {
            double sum = 0;
            for (int64_t k = -(size / 2); k <= (size - 1) / 2; k++)
                if (i / 3 % 6 + k >= 0 && i / 3 % 6 + k < 6)
                    sum += pow(nth(x, i + 3 * k), 2);
            assert_near(nth(y.u.tensor, i), nth(x, i) / pow(2 + 0.5 * sum / (double)size, 0.75),
                        tolerance_of(x->dtype));
        }
        fxs_value_unref(&y);
        fxs_tensor_unref(x);
    }
}

static void unit_norms(void **state) {
    fxs_ctx *ctx = *state;
    static const double norms[] = {1, 2, 3, INFINITY};
    for (int k = 0; k < 4; k++) {
        fxs_tensor *x = random_tensor(ctx, types[k % 2], SIZES(2, 5, 3), (uint64_t)k);
        fxs_value y = run_both(ctx, "torch.nn.functional.normalize", TUPLE(ctx, TENSOR(x)),
                               KEYWORDS(ctx, {"p", fxs_float(norms[k])}, {"dim", fxs_int(1)},
                                        {"eps", fxs_float(1e-12)}, {"out", fxs_none()}));
        for (int64_t i = 0; i < 30; i++) {
            double sum = 0, most = 0;
            for (int64_t c = 0; c < 5; c++) {
                double v = fabs(element(x, (int64_t[]){i / 15, c, i % 3}));
                sum += pow(v, norms[k]), most = v > most ? v : most;
            }
            assert_near(nth(y.u.tensor, i), nth(x, i) / (k == 3 ? most : pow(sum, 1 / norms[k])),
                        1e-5);
        }
        fxs_value_unref(&y);
        fxs_tensor_unref(x);
    }
}

static void empty_inputs(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(0, 4, 3), 1),
               *v = random_tensor(ctx, FXS_FLOAT32, SIZES(4), 1);
    fxs_value y = run_both(ctx, "torch.nn.functional.batch_norm",
                           TUPLE(ctx, TENSOR(x), TENSOR(v), TENSOR(v)), fxs_none());
    assert_shape(y.u.tensor, 3, x->sizes);
    fxs_value_unref(&y);
    y = run_both(ctx, "torch.nn.functional.layer_norm",
                 TUPLE(ctx, TENSOR(x), TUPLE(ctx, fxs_int(3))), fxs_none());
    assert_shape(y.u.tensor, 3, x->sizes);
    fxs_value_unref(&y);
    y = run_both(ctx, "torch.nn.functional.group_norm", TUPLE(ctx, TENSOR(x), fxs_int(2)),
                 fxs_none());
    assert_shape(y.u.tensor, 3, x->sizes);
    fxs_value_unref(&y);
    fxs_tensor_unref(x);
    fxs_tensor_unref(v);
}

static void bad_arguments_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_value none = fxs_none();
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1),
               *four = random_tensor(ctx, FXS_FLOAT32, SIZES(4), 1),
               *three = random_tensor(ctx, FXS_FLOAT64, SIZES(3), 1),
               *one = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 1), 1),
               *n = random_tensor(ctx, FXS_INT64, SIZES(2, 3, 4), 1),
               *flat = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1);
    refuses(ctx, "torch.nn.functional.batch_norm",
            TUPLE(ctx, TENSOR(x), TENSOR(four), TENSOR(four)), none,
            "batch_norm: running_mean should contain 3 elements, but its shape is [4]");
    refuses(ctx, "torch.nn.functional.batch_norm",
            TUPLE(ctx, TENSOR(x), TENSOR(three), TENSOR(three)), none,
            "batch_norm: expected argument 'running_mean' of type float32 as the input, but got "
            "float64");
    refuses(ctx, "torch.nn.functional.batch_norm", TUPLE(ctx, TENSOR(x), none, none), none,
            "batch_norm: running_mean and running_var must be defined in evaluation mode");
    refuses(ctx, "torch.nn.functional.batch_norm",
            TUPLE(ctx, TENSOR(one), none, none, none, none, fxs_bool(true)), none,
            "batch_norm: expected more than 1 value per channel when training, but got input of "
            "shape [1, 3, 1]");
    refuses(ctx, "torch.nn.functional.batch_norm", TUPLE(ctx, TENSOR(four), none, none), none,
            "batch_norm: expected at least 2D input, but got input of shape [4]");
    refuses(ctx, "torch.nn.functional.instance_norm", TUPLE(ctx, TENSOR(one)), none,
            "instance_norm: expected more than 1 spatial element when training, but got input of "
            "shape [1, 3, 1]");
    refuses(ctx, "torch.nn.functional.layer_norm", TUPLE(ctx, TENSOR(x), TUPLE(ctx, fxs_int(3))),
            none,
            "layer_norm: given normalized_shape=[3], expected input with that shape at its end, "
            "but got input of shape "
            "[2, 3, 4]");
    refuses(ctx, "torch.nn.functional.layer_norm",
            TUPLE(ctx, TENSOR(flat), TUPLE(ctx, fxs_int(3)), TENSOR(four)), none,
            "layer_norm: expected weight to be of same shape as normalized_shape, but got weight "
            "of shape [4] and "
            "normalized_shape = [3]");
    refuses(ctx, "torch.nn.functional.layer_norm", TUPLE(ctx, TENSOR(n), TUPLE(ctx, fxs_int(4))),
            none, "layer_norm: not implemented for type int64");
    refuses(ctx, "torch.nn.functional.group_norm", TUPLE(ctx, TENSOR(x), fxs_int(2)), none,
            "group_norm: expected number of channels in input to be divisible by num_groups, but "
            "got input of shape "
            "[2, 3, 4] and num_groups=2");
    refuses(ctx, "torch.nn.functional.group_norm", TUPLE(ctx, TENSOR(x), fxs_int(0)), none,
            "group_norm: expected number of channels in input to be divisible by num_groups, but "
            "got input of shape "
            "[2, 3, 4] and num_groups=0");
    refuses(ctx, "torch.nn.functional.local_response_norm", TUPLE(ctx, TENSOR(flat), fxs_int(2)),
            none,
            "local_response_norm: expected 3D or higher dimensionality input, but got input of "
            "shape [2, 3]");
    refuses(ctx, "torch.nn.functional.normalize", TUPLE(ctx, TENSOR(x), fxs_float(2), fxs_int(3)),
            none, "normalize: dimension 3 is out of range: it must be in -3 to 2");
    fxs_tensor *const all[] = {x, four, three, one, n, flat};
    for (int i = 0; i < 6; i++)
        fxs_tensor_unref(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_statistics),
        cmocka_unit_test(own_statistics),
        cmocka_unit_test(long_rows_keep_their_digits),
        cmocka_unit_test(layers_have_rules_of_their_own),
        cmocka_unit_test(local_response),
        cmocka_unit_test(unit_norms),
        cmocka_unit_test(empty_inputs),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
