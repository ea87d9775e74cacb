/* test_select.c: operators of three operands against plain loops: where masked_fill clamp lerp
 * addcmul addcdiv nan_to_num, their broadcasting, types and refusals. */
#include "checking.h"

#define NONE fxs_none()

static fxs_tensor *run(fxs_ctx *ctx, const char *op, fxs_value args) {
    return run_both(ctx, op, args, NONE).u.tensor;
}

static void where_chooses(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *m = random_tensor(ctx, FXS_BOOL, SIZES(4, 1), 1),
               *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 4, 5), 2),
               *y = random_tensor(ctx, FXS_FLOAT64, SIZES(5), 3),
               *n = random_tensor(ctx, FXS_INT64, SIZES(3, 4, 5), 4);
    fxs_tensor *a = run(ctx, "torch.where", TUPLE(ctx, TENSOR(m), TENSOR(x), TENSOR(y)));
    fxs_tensor *b = run(ctx, "Tensor.where", TUPLE(ctx, TENSOR(x), TENSOR(m), fxs_int(7)));
    fxs_tensor *c = run(ctx, "torch.where", TUPLE(ctx, TENSOR(m), fxs_int(1), fxs_int(0)));
    fxs_tensor *d = run(ctx, "Tensor.where", TUPLE(ctx, TENSOR(n), TENSOR(m), fxs_float(0.5)));
    assert_int_equal(a->dtype, FXS_FLOAT64);
    assert_int_equal(b->dtype, FXS_FLOAT32);
    assert_int_equal(c->dtype, FXS_INT64);
    assert_int_equal(d->dtype, FXS_FLOAT32); /* a float raises integers to the default type */
    for (int64_t i = 0; i < 60; i++) {
        bool yes = nth(m, i / 5 % 4) != 0;
        assert_near(nth(a, i), yes ? nth(x, i) : nth(y, i % 5), 0);
        assert_near(nth(b, i), yes ? nth(x, i) : 7, 0);
        assert_near(nth(d, i), yes ? nth(n, i) : 0.5, 0);
    }
    for (int64_t i = 0; i < 4; i++)
        assert_near(nth(c, i), nth(m, i), 0);
    refuses(ctx, "torch.where", TUPLE(ctx, TENSOR(x), TENSOR(x), TENSOR(x)), NONE,
            "where: expected condition to be a boolean tensor, but got a tensor with dtype "
            "torch.float32");
    refuses(ctx, "Tensor.where", TUPLE(ctx, TENSOR(x), TENSOR(m), NONE), NONE,
            "where_method: argument 'other' must be Tensor or number, not NoneType");
    fxs_tensor_unref(m), fxs_tensor_unref(x), fxs_tensor_unref(y), fxs_tensor_unref(a),
        fxs_tensor_unref(b), fxs_tensor_unref(c), fxs_tensor_unref(d), fxs_tensor_unref(n);
}

static void masked_fill_is_contiguous(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {1, 2, 0};
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_INT32,
                                      FXS_UINT8,   FXS_BOOL,    FXS_FLOAT16};
    for (int t = 0; t < 6; t++) {
        fxs_tensor *x = laid_out(ctx, random_tensor(ctx, types[t], SIZES(3, 4, 5), 1), turned),
                   *m = random_tensor(ctx, FXS_BOOL, SIZES(4, 5), 2);
        fxs_tensor *y =
            run(ctx, "Tensor.masked_fill", TUPLE(ctx, TENSOR(x), TENSOR(m), fxs_int(1)));
        assert_true(fxs_tensor_is_contiguous(y));
        assert_int_equal(y->dtype, types[t]);
        for (int64_t i = 0; i < 60; i++)
            assert_near(nth(y, i), nth(m, i % 20) != 0 ? 1 : nth(x, i), 0);
        fxs_tensor *z =
            run_op(ctx, "Tensor.masked_fill_", TUPLE(ctx, TENSOR(x), TENSOR(m), fxs_int(1)), NONE);
        assert_ptr_equal(z, x);
        for (int64_t i = 0; i < 60; i++)
            assert_near(nth(x, i), nth(y, i), 0);
        fxs_tensor_unref(x), fxs_tensor_unref(m), fxs_tensor_unref(y), fxs_tensor_unref(z);
    }
    fxs_tensor *n = random_tensor(ctx, FXS_INT64, SIZES(2), 1),
               *m = random_tensor(ctx, FXS_BOOL, SIZES(2), 1);
    refuses(ctx, "Tensor.masked_fill", TUPLE(ctx, TENSOR(n), TENSOR(m), fxs_float(-INFINITY)), NONE,
            "masked_fill: the value can't be converted to type int64 without overflow");
    refuses(ctx, "Tensor.masked_fill", TUPLE(ctx, TENSOR(n), TENSOR(n), fxs_int(0)), NONE,
            "masked_fill: expected mask to be a boolean tensor, but got a tensor with dtype "
            "torch.int64");
    refuses(ctx, "Tensor.masked_fill", TUPLE(ctx, TENSOR(n), TENSOR(m), TENSOR(n)), NONE,
            "masked_fill: only a value of 0 dimensions is supported, but it has 1");
    fxs_tensor_unref(n), fxs_tensor_unref(m);
}

static void clamp_with_numbers(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16,
                                      FXS_INT64,   FXS_INT32,   FXS_INT8};
    for (int t = 0; t < 6; t++) {
        fxs_tensor *x = random_tensor(ctx, types[t], SIZES(6, 7), 1);
        if (t < 3)
            fxs_fill_uniform(ctx, x, 1, -9, 9);
        fxs_tensor *both = run(ctx, "torch.clamp", TUPLE(ctx, TENSOR(x), fxs_int(2), fxs_int(5)));
        fxs_tensor *low = run(ctx, "Tensor.clamp", TUPLE(ctx, TENSOR(x), fxs_int(3)));
        fxs_tensor *high = run(ctx, "torch.clip", TUPLE(ctx, TENSOR(x), NONE, fxs_int(4)));
        fxs_tensor *least = run(ctx, "torch.clamp_min", TUPLE(ctx, TENSOR(x), fxs_int(3)));
        for (int64_t i = 0; i < 42; i++) {
            assert_near(nth(both, i), fmin(fmax(nth(x, i), 2), 5), 0);
            assert_near(nth(low, i), fmax(nth(x, i), 3), 0);
            assert_near(nth(high, i), fmin(nth(x, i), 4), 0);
            assert_near(nth(least, i), fmax(nth(x, i), 3), 0);
        }
        fxs_tensor_unref(x), fxs_tensor_unref(both), fxs_tensor_unref(low), fxs_tensor_unref(high),
            fxs_tensor_unref(least);
    }
}

static void clamp_with_tensors_and_its_refusals(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 5), 1),
               *low = random_tensor(ctx, FXS_FLOAT32, SIZES(5), 2),
               *n = random_tensor(ctx, FXS_INT8, SIZES(3), 1),
               *b = random_tensor(ctx, FXS_BOOL, SIZES(3), 1);
    fxs_tensor *high = tensor_of_values(ctx, FXS_FLOAT32, SIZES(1), (double[]){0.25});
    fxs_tensor *y = run(ctx, "torch.clamp", TUPLE(ctx, TENSOR(x), TENSOR(low), TENSOR(high)));
    for (int64_t i = 0; i < 20; i++)
        assert_near(nth(y, i), fmin(fmax(nth(x, i), nth(low, i % 5)), 0.25), 0);
    refuses(ctx, "torch.clamp", TUPLE(ctx, TENSOR(x), TENSOR(low), fxs_float(0.25)), NONE,
            "clamp: min and max must both be tensors, or both be numbers");
    fxs_tensor *f = run(ctx, "torch.clamp", TUPLE(ctx, TENSOR(n), fxs_float(2.5)));
    assert_int_equal(f->dtype, FXS_FLOAT32);
    fxs_tensor *nan = tensor_of_values(ctx, FXS_FLOAT32, SIZES(2), (double[]){NAN, 1}),
               *still = run(ctx, "torch.clamp", TUPLE(ctx, TENSOR(nan), fxs_int(0), fxs_int(1)));
    assert_true(isnan(nth(still, 0)));
    refuses(ctx, "torch.clamp", TUPLE(ctx, TENSOR(x)), NONE,
            "clamp: at least one of 'min' or 'max' must not be None");
    refuses(ctx, "torch.clamp", TUPLE(ctx, TENSOR(n), fxs_int(-1000)), NONE,
            "clamp: value cannot be converted to type int8 without overflow: -1000");
    refuses(ctx, "torch.clamp", TUPLE(ctx, TENSOR(b), fxs_bool(true)), NONE,
            "clamp: not implemented for torch.bool");
    fxs_tensor_unref(x), fxs_tensor_unref(low), fxs_tensor_unref(n), fxs_tensor_unref(b),
        fxs_tensor_unref(y), fxs_tensor_unref(f);
    fxs_tensor_unref(nan), fxs_tensor_unref(still), fxs_tensor_unref(high);
}

static void lerp_and_fused_forms(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT64, SIZES(3, 4), 1),
               *b = random_tensor(ctx, FXS_FLOAT64, SIZES(4), 2),
               *w = random_tensor(ctx, FXS_FLOAT64, SIZES(3, 1), 3),
               *n = random_tensor(ctx, FXS_INT64, SIZES(3, 4), 4);
    fxs_fill_uniform(ctx, b, 2, 1, 2);
    fxs_tensor *x = run(ctx, "torch.lerp", TUPLE(ctx, TENSOR(a), TENSOR(b), TENSOR(w)));
    fxs_tensor *y = run(ctx, "torch.lerp", TUPLE(ctx, TENSOR(a), TENSOR(b), fxs_float(0.75)));
    fxs_tensor *m = run_both(ctx, "torch.addcmul", TUPLE(ctx, TENSOR(a), TENSOR(b), TENSOR(w)),
                             KEYWORDS(ctx, {"value", fxs_float(0.5)}))
                        .u.tensor;
    fxs_tensor *d = run_both(ctx, "torch.addcdiv", TUPLE(ctx, TENSOR(a), TENSOR(w), TENSOR(b)),
                             KEYWORDS(ctx, {"value", fxs_int(2)}))
                        .u.tensor;
    fxs_tensor *k = run_both(ctx, "torch.addcmul", TUPLE(ctx, TENSOR(n), TENSOR(n), TENSOR(n)),
                             KEYWORDS(ctx, {"value", fxs_int(3)}))
                        .u.tensor;
    for (int64_t i = 0; i < 12; i++) {
        double p = nth(a, i), q = nth(b, i % 4), r = nth(w, i / 4), v = nth(n, i);
        assert_near(nth(x, i), p + r * (q - p), 1e-14);
        assert_near(nth(y, i), p + 0.75 * (q - p), 1e-14);
        assert_near(nth(m, i), p + 0.5 * q * r, 1e-14);
        assert_near(nth(d, i), p + 2 * r / q, 1e-14);
        assert_near(nth(k, i), v + 3 * v * v, 0);
    }
    refuses(ctx, "torch.lerp", TUPLE(ctx, TENSOR(n), TENSOR(n), fxs_float(0.5)), NONE,
            "lerp: not implemented for torch.int64");
    refuses(ctx, "torch.lerp", TUPLE(ctx, TENSOR(a), TENSOR(n), fxs_float(0.5)), NONE,
            "lerp: expected dtype torch.float64 for argument 2 but got dtype torch.int64");
    refuses(ctx, "torch.addcdiv", TUPLE(ctx, TENSOR(a), TENSOR(n), TENSOR(n)), NONE,
            "addcdiv: integer division with addcdiv is no longer supported: tensor1 and tensor2 "
            "are integers");
    fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(w), fxs_tensor_unref(n),
        fxs_tensor_unref(x), fxs_tensor_unref(y);
    fxs_tensor_unref(m), fxs_tensor_unref(d), fxs_tensor_unref(k);
}

static void nan_to_num_replaces(void **state) {
    fxs_ctx *ctx = *state;
    static const double in[] = {NAN, INFINITY, -INFINITY, 1.5};
    static const struct {
        fxs_dtype dtype;
        double most;
    } cases[] = {{FXS_FLOAT32, 3.4028234663852886e38},
                 {FXS_FLOAT64, 1.7976931348623157e308},
                 {FXS_FLOAT16, 65504}};
    for (int i = 0; i < 3; i++) {
        fxs_tensor *x = tensor_of_values(ctx, cases[i].dtype, SIZES(4), in),
                   *y = run(ctx, "torch.nan_to_num", TUPLE(ctx, TENSOR(x), fxs_int(7)));
        const double want[] = {7, cases[i].most, -cases[i].most, 1.5};
        for (int k = 0; k < 4; k++)
            assert_near(nth(y, k), want[k], 0);
        fxs_tensor_unref(x), fxs_tensor_unref(y);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_chooses),
        cmocka_unit_test(masked_fill_is_contiguous),
        cmocka_unit_test(clamp_with_numbers),
        cmocka_unit_test(clamp_with_tensors_and_its_refusals),
        cmocka_unit_test(lerp_and_fused_forms),
        cmocka_unit_test(nan_to_num_replaces),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
