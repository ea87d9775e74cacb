/* test_softmax.c: softmax and its like against plain loops; logsumexp; embedding and one_hot with
 * their indices out of range. */
#include "checking.h"

static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_FLOAT16};

typedef double finish_fn(double x, double most, double sum);
static double plain(double x, double most, double sum) { return exp(x - most) / sum; }
static double logarithm(double x, double most, double sum) { return x - most - log(sum); }

/* Along dimension `dim` of [2, 5, 37]; sign -1 is softmin. */
static void expect(fxs_value y, const fxs_tensor *x, int dim, double sign, finish_fn *finish,
                   double tolerance) {
    for (int64_t i = 0; i < fxs_tensor_numel(x); i++) {
        int64_t at[] = {i / 37 / 5, i / 37 % 5, i % 37}, own = at[dim];
        double most = -INFINITY, sum = 0;
        for (at[dim] = 0; at[dim] < x->sizes[dim]; at[dim]++)
            most = fmax(most, sign * element(x, at));
        for (at[dim] = 0; at[dim] < x->sizes[dim]; at[dim]++)
            sum += exp(sign * element(x, at) - most);
        at[dim] = own;
        assert_near(nth(y.u.tensor, i), finish(sign * element(x, at), most, sum), tolerance);
    }
    fxs_value_unref(&y);
}

static void lines_of_every_dimension(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {1, 2, 0};
    fxs_value none = fxs_none();
    for (int t = 0; t < 4; t++)
        for (int dim = 0; dim < 3; dim++) {
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 5, 37), (uint64_t)dim);
            fxs_fill_uniform(ctx, x, 1, -20, 20);
            if (dim == 1)
                x = laid_out(ctx, x, turned);
            double e = tolerance_of(types[t]);
            expect(run_both(ctx, "torch.softmax", TUPLE(ctx, TENSOR(x), fxs_int(dim)), none), x,
                   dim, 1, plain, e);
            expect(
                run_both(ctx, "Tensor.log_softmax", TUPLE(ctx, TENSOR(x), fxs_int(dim - 3)), none),
                x, dim, 1, logarithm, e);
            expect(run_both(ctx, "torch.nn.functional.softmin", TUPLE(ctx, TENSOR(x)),
                            KEYWORDS(ctx, {"dim", fxs_int(dim)}, {"_stacklevel", fxs_int(3)},
                                     {"dtype", fxs_none()})),
                   x, dim, -1, plain, e);
            fxs_tensor_unref(x);
        }
}

static void dim_and_dtype_may_be_left_open(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 5, 37), 1),
               *n = random_tensor(ctx, FXS_INT64, SIZES(2, 5, 37), 1);
    fxs_value as_double = {.tag = FXS_V_DTYPE, .u.dtype = FXS_FLOAT64};
    expect(run_both(ctx, "torch.nn.functional.softmax", TUPLE(ctx, TENSOR(x)),
                    KEYWORDS(ctx, {"dim", fxs_none()})),
           x, 0, 1, plain, 1e-5);
    fxs_value y =
        run_both(ctx, "torch.softmax", TUPLE(ctx, TENSOR(n), fxs_int(2), as_double), fxs_none());
    assert_int_equal(y.u.tensor->dtype, FXS_FLOAT64);
    expect(y, n, 2, 1, plain, 1e-12);
    refuses(ctx, "torch.softmax", TUPLE(ctx, TENSOR(n), fxs_int(2)), fxs_none(),
            "softmax: not implemented for type int64");
    refuses(ctx, "torch.softmax", TUPLE(ctx, TENSOR(x), fxs_int(3)), fxs_none(),
            "softmax: dimension 3 is out of range: it must be in -3 to 2");
    fxs_tensor_unref(x);
    fxs_tensor_unref(n);
}

static void infinities_and_nan(void **state) {
    fxs_ctx *ctx = *state;
    for (int t = 0; t < 2; t++) {
        fxs_tensor *x = tensor_of_values(ctx, types[t], SIZES(4, 3),
                                         (double[]){-INFINITY, 0, 0, INFINITY, 0, 0, NAN, 0, 0,
                                                    -INFINITY, -INFINITY, -INFINITY});
        fxs_value y = run_both(ctx, "torch.softmax", TUPLE(ctx, TENSOR(x), fxs_int(1)), fxs_none());
        static const double want[] = {0, 0.5, 0.5, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
        for (int i = 0; i < 12; i++)
            assert_near(nth(y.u.tensor, i), want[i], 1e-6);
        fxs_value_unref(&y);
        y = run_both(ctx, "torch.logsumexp", TUPLE(ctx, TENSOR(x), fxs_int(1)), fxs_none());
        static const double sums[] = {0.6931471805599453, INFINITY, NAN, -INFINITY};
        for (int i = 0; i < 4; i++)
            assert_near(nth(y.u.tensor, i), sums[i], 1e-6);
        fxs_value_unref(&y);
        fxs_tensor_unref(x);
    }
}

static void logsumexp_over_dimensions(void **state) {
    fxs_ctx *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int keep = 0; keep < 2; keep++) {
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(3, 4, 5), 1);
            fxs_value y = run_both(ctx, "torch.logsumexp",
                                   TUPLE(ctx, TENSOR(x), LIST(ctx, fxs_int(0), fxs_int(-1))),
                                   KEYWORDS(ctx, {"keepdim", fxs_bool(keep)}));
            assert_shape(y.u.tensor, keep ? 3 : 1, keep ? (int64_t[]){1, 4, 1} : (int64_t[]){4});
            for (int64_t j = 0; j < 4; j++) {
                double sum = 0;
                for (int64_t i = 0; i < 15; i++)
                    sum += exp(element(x, (int64_t[]){i / 5, j, i % 5}));
                assert_near(nth(y.u.tensor, j), log(sum), tolerance_of(types[t]));
            }
            fxs_value_unref(&y);
            fxs_tensor_unref(x);
        }
    fxs_tensor *n = random_tensor(ctx, FXS_INT64, SIZES(2, 2), 1);
    fxs_value y = run_both(ctx, "torch.logsumexp", TUPLE(ctx, TENSOR(n), fxs_int(0)), fxs_none());
    assert_int_equal(y.u.tensor->dtype, FXS_FLOAT32);
    fxs_value_unref(&y);
    refuses(ctx, "torch.logsumexp", TUPLE(ctx, TENSOR(n), LIST(ctx, fxs_int(1), fxs_int(-1))),
            fxs_none(), "logsumexp: dim 1 appears multiple times in the list of dims");
    fxs_tensor_unref(n);
}

static void empty_and_scalar_inputs(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 0), 1),
               *s = random_tensor(ctx, FXS_FLOAT32, 0, NULL, 1);
    fxs_value y = run_both(ctx, "torch.softmax", TUPLE(ctx, TENSOR(x), fxs_int(1)), fxs_none());
    assert_shape(y.u.tensor, 2, x->sizes);
    fxs_value_unref(&y);
    y = run_both(ctx, "torch.logsumexp", TUPLE(ctx, TENSOR(x), fxs_int(1)), fxs_none());
    assert_near(nth(y.u.tensor, 1), -INFINITY, 0);
    fxs_value_unref(&y);
    y = run_both(ctx, "torch.softmax", TUPLE(ctx, TENSOR(s), fxs_int(0)), fxs_none());
    assert_near(nth(y.u.tensor, 0), 1, 0);
    fxs_value_unref(&y);
    fxs_tensor_unref(x);
    fxs_tensor_unref(s);
}

/* ---- embedding
 * -------------------------------------------------------------------------------------------- */

static void embedding_takes_rows(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype tables[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_INT64},
                           kinds[] = {FXS_INT64, FXS_INT32};
    static const int turned[] = {1, 0};
    for (int t = 0; t < 8; t++) {
        fxs_tensor *w = random_tensor(ctx, tables[t / 2], SIZES(10, 4), 1),
                   *x = random_tensor(ctx, kinds[t % 2], SIZES(2, 3), 2);
        if (t % 3 == 0)
            w = laid_out(ctx, w, turned), x = laid_out(ctx, x, turned);
        fxs_value y =
            run_both(ctx, "torch.nn.functional.embedding", TUPLE(ctx, TENSOR(x), TENSOR(w)),
                     KEYWORDS(ctx, {"padding_idx", fxs_none()}, {"max_norm", fxs_none()},
                              {"norm_type", fxs_float(2)}, {"scale_grad_by_freq", fxs_bool(false)},
                              {"sparse", fxs_bool(false)}));
        assert_shape(y.u.tensor, 3, (int64_t[]){2, 3, 4});
        for (int64_t i = 0; i < 24; i++)
            assert_near(nth(y.u.tensor, i), element(w, (int64_t[]){(int64_t)nth(x, i / 4), i % 4}),
                        0);
        fxs_value_unref(&y);
        fxs_tensor_unref(w);
        fxs_tensor_unref(x);
    }
}

static void bad_indices_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *w = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 4), 1),
               *f = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 1);
    static const double values[] = {7, -1};
    static const char *const messages[] = {
        "embedding: index out of range: index 7, but there are 3 embeddings",
        "embedding: index out of range: index -1, but there are 3 embeddings"};
    for (int i = 0; i < 2; i++) {
        fxs_tensor *x = tensor_of_values(ctx, FXS_INT64, SIZES(1), &values[i]);
        fxs_value out;
        assert_int_equal(try_op(ctx, false, "torch.nn.functional.embedding",
                                TUPLE(ctx, TENSOR(x), TENSOR(w)), fxs_none(), &out),
                         FXS_EINDEX);
        assert_string_equal(fxs_ctx_error(ctx), messages[i]);
        fxs_ctx_clear(ctx);
        /* shapes do not depend on them */
        assert_ok(ctx, try_op(ctx, true, "torch.nn.functional.embedding",
                              TUPLE(ctx, TENSOR(x), TENSOR(w)), fxs_none(), &out));
        fxs_value_unref(&out);
        fxs_tensor_unref(x);
    }
    refuses(ctx, "torch.nn.functional.embedding", TUPLE(ctx, TENSOR(f), TENSOR(w)), fxs_none(),
            "embedding: expected indices of type int64 or int32, but got float32");
    fxs_tensor *x = random_tensor(ctx, FXS_INT64, SIZES(2), 1);
    refuses(ctx, "torch.nn.functional.embedding", TUPLE(ctx, TENSOR(x), TENSOR(f)), fxs_none(),
            "embedding: 'weight' must be 2-D, but its shape is [2]");
    refuses(ctx, "torch.nn.functional.embedding", TUPLE(ctx, TENSOR(x), TENSOR(w), fxs_int(3)),
            fxs_none(), "embedding: padding_idx must be within num_embeddings, but it is 3 of 3");
    fxs_tensor_unref(x);
    fxs_tensor_unref(w);
    fxs_tensor_unref(f);
}

static void one_hot_rows(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_INT64, SIZES(2, 2), (double[]){1, 0, 3, 1});
    for (int given = 0; given < 2; given++) {
        fxs_value out;
        assert_ok(ctx, try_op(ctx, false, "torch._C._nn.one_hot",
                              TUPLE(ctx, TENSOR(x), fxs_int(given ? 6 : -1)), fxs_none(), &out));
        int64_t classes = given ? 6 : 4;
        assert_shape(out.u.tensor, 3, (int64_t[]){2, 2, classes});
        for (int64_t i = 0; i < 4 * classes; i++)
            assert_near(nth(out.u.tensor, i), nth(x, i / classes) == (double)(i % classes), 0);
        fxs_value_unref(&out);
    }
    fxs_value out;
    assert_int_equal(try_op(ctx, false, "torch._C._nn.one_hot", TUPLE(ctx, TENSOR(x), fxs_int(3)),
                            fxs_none(), &out),
                     FXS_EINDEX);
    assert_string_equal(fxs_ctx_error(ctx), "one_hot: class values must be non-negative and "
                                            "smaller than num_classes, but 3 is not in 0 to 2");
    fxs_ctx_clear(ctx);
    fxs_tensor *meta;
    assert_ok(ctx, fxs_tensor_new_meta(ctx, FXS_INT64, 2, x->sizes, &meta));
    refuses(ctx, "torch._C._nn.one_hot", TUPLE(ctx, fxs_of_tensor(meta)), fxs_none(),
            "one_hot: num_classes=-1 needs the values of the input, which are not computed");
    fxs_tensor_unref(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_every_dimension),
        cmocka_unit_test(dim_and_dtype_may_be_left_open),
        cmocka_unit_test(infinities_and_nan),
        cmocka_unit_test(logsumexp_over_dimensions),
        cmocka_unit_test(empty_and_scalar_inputs),
        cmocka_unit_test(embedding_takes_rows),
        cmocka_unit_test(bad_indices_are_refused),
        cmocka_unit_test(one_hot_rows),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
