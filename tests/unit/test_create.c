/* test_create.c: tensors from sizes, ranges and Python's numbers; random ones by seed and moments;
 * filling in place. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int
#define R fxs_float

static fxs_value dtype(fxs_dtype d) { return (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d}; }

/* Runs without keywords, or with a dtype; all elements must be as given (NULL: not compared). */
static void gives(fxs_ctx *ctx, const char *op, fxs_value args, int with_dtype, fxs_dtype want,
                  int ndim, const int64_t *sizes, const double *v) {
    fxs_tensor *y =
        run_both(ctx, op, args,
                 with_dtype < 0 ? NONE : KEYWORDS(ctx, {"dtype", dtype((fxs_dtype)with_dtype)}))
            .u.tensor;
    assert_int_equal(y->dtype, want);
    assert_shape(y, ndim, sizes);
    for (int64_t i = 0; v && i < fxs_tensor_numel(y); i++)
        assert_near(nth(y, i), v[i], 1e-7);
    fxs_tensor_unref(y);
}
#define V(...)                                                                                     \
    (double[]) { __VA_ARGS__ }
#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

static void constants(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT64, SIZES(3), 1);
    gives(ctx, "torch.zeros", TUPLE(ctx, I(2), I(2)), -1, FXS_FLOAT32, DIMS(2, 2), V(0, 0, 0, 0));
    gives(ctx, "torch.ones", TUPLE(ctx, LIST(ctx, I(3))), FXS_INT8, FXS_INT8, DIMS(3), V(1, 1, 1));
    gives(ctx, "torch.full", TUPLE(ctx, LIST(ctx, I(2)), R(1.5)), -1, FXS_FLOAT32, DIMS(2),
          V(1.5, 1.5));
    gives(ctx, "torch.full", TUPLE(ctx, LIST(ctx, I(2)), I(7)), -1, FXS_INT64, DIMS(2), V(7, 7));
    gives(ctx, "torch.full", TUPLE(ctx, LIST(ctx, I(1)), fxs_bool(true)), -1, FXS_BOOL, DIMS(1),
          V(1));
    gives(ctx, "Tensor.new_ones", TUPLE(ctx, TENSOR(x), I(2)), -1, FXS_FLOAT64, DIMS(2), V(1, 1));
    gives(ctx, "Tensor.new_full", TUPLE(ctx, TENSOR(x), LIST(ctx, I(2)), I(4)), FXS_INT32,
          FXS_INT32, DIMS(2), V(4, 4));
    gives(ctx, "torch.full_like", TUPLE(ctx, TENSOR(x), I(9)), -1, FXS_FLOAT64, DIMS(3),
          V(9, 9, 9));
    gives(ctx, "torch.eye", TUPLE(ctx, I(2), I(3)), -1, FXS_FLOAT32, DIMS(2, 3),
          V(1, 0, 0, 0, 1, 0));
    gives(ctx, "torch.empty", TUPLE(ctx, I(0), I(2)), -1, FXS_FLOAT32, DIMS(0, 2), NULL);
    refuses(ctx, "torch.zeros", TUPLE(ctx, I(-1)), NONE,
            "a size can't be negative, but dimension 0 has -1");
    refuses(ctx, "torch.ones", TUPLE(ctx, I((int64_t)1 << 40), I((int64_t)1 << 40)), NONE,
            "a tensor of more than 2^63 bytes");
    refuses(ctx, "torch.eye", TUPLE(ctx, I(-1)), NONE,
            "eye: n and m must be greater or equal to 0, got -1 and -1");
    fxs_tensor_unref(x);
}

static void likeness_keeps_strides(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {0, 2, 3, 1};
    fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 1), turned);
    fxs_tensor *z = run_both(ctx, "torch.zeros_like", TUPLE(ctx, TENSOR(x)), NONE).u.tensor;
    fxs_tensor *o = run_both(ctx, "torch.ones_like", TUPLE(ctx, TENSOR(x)),
                             KEYWORDS(ctx, {"dtype", dtype(FXS_INT16)},
                                      {"memory_format",
                                       {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS}}))
                        .u.tensor;
    assert_strides(z, 4, x->strides);
    assert_strides(o, SIZES(60, 20, 5, 1));
    for (int64_t i = 0; i < 120; i++) {
        assert_near(nth(z, i), 0, 0);
        assert_near(nth(o, i), 1, 0);
    }
    fxs_tensor_unref(x), fxs_tensor_unref(z), fxs_tensor_unref(o);
}

static void ranges(void **state) {
    fxs_ctx *ctx = *state;
    gives(ctx, "torch.arange", TUPLE(ctx, I(4)), -1, FXS_INT64, DIMS(4), V(0, 1, 2, 3));
    gives(ctx, "torch.arange", TUPLE(ctx, I(5), I(0), I(-2)), -1, FXS_INT64, DIMS(3), V(5, 3, 1));
    gives(ctx, "torch.arange", TUPLE(ctx, I(1), I(2), R(0.25)), -1, FXS_FLOAT32, DIMS(4),
          V(1, 1.25, 1.5, 1.75));
    gives(ctx, "torch.arange", TUPLE(ctx, I(3)), FXS_FLOAT64, FXS_FLOAT64, DIMS(3), V(0, 1, 2));
    gives(ctx, "torch.arange", TUPLE(ctx, I(3), I(3)), -1, FXS_INT64, DIMS(0), NULL);
    gives(ctx, "torch.linspace", TUPLE(ctx, I(0), I(1), I(5)), -1, FXS_FLOAT32, DIMS(5),
          V(0, 0.25, 0.5, 0.75, 1));
    gives(ctx, "torch.linspace", TUPLE(ctx, I(3), I(9), I(1)), -1, FXS_FLOAT32, DIMS(1), V(3));
    refuses(ctx, "torch.arange", TUPLE(ctx, I(1), I(5), I(0)), NONE,
            "arange: step must be nonzero");
    refuses(ctx, "torch.arange", TUPLE(ctx, I(5), I(1)), NONE,
            "arange: upper bound and larger bound inconsistent with step sign");
    refuses(ctx, "torch.arange", TUPLE(ctx, R(INFINITY)), NONE,
            "arange: unsupported range: 0 -> inf");
    refuses(ctx, "torch.linspace", TUPLE(ctx, I(0), I(1), I(-1)), NONE,
            "linspace: number of steps must be non-negative");
}

/* Values that stand in the graph are known in both modes. */
static void knows(fxs_ctx *ctx, const char *op, fxs_value args, int with_dtype, fxs_dtype want,
                  int ndim, const int64_t *sizes, const double *v) {
    for (int meta = 0; meta < 2; meta++) {
        fxs_value out;
        fxs_value_ref(args);
        assert_ok(
            ctx,
            try_op(ctx, meta, op, args,
                   with_dtype < 0 ? NONE : KEYWORDS(ctx, {"dtype", dtype((fxs_dtype)with_dtype)}),
                   &out));
        assert_int_equal(out.u.tensor->dtype, want);
        assert_shape(out.u.tensor, ndim, sizes);
        for (int64_t i = 0; i < fxs_tensor_numel(out.u.tensor); i++)
            assert_near(nth(out.u.tensor, i), v[i], 0);
        fxs_value_unref(&out);
    }
    fxs_value_unref(&args);
}

static void tensors_from_numbers(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 1);
    knows(ctx, "torch.tensor", TUPLE(ctx, I(3)), -1, FXS_INT64, 0, NULL, V(3));
    knows(ctx, "torch.tensor",
          TUPLE(ctx, LIST(ctx, LIST(ctx, I(1), I(2)), TUPLE(ctx, I(3), R(4.5)))), -1, FXS_FLOAT32,
          DIMS(2, 2), V(1, 2, 3, 4.5));
    knows(ctx, "torch.tensor", TUPLE(ctx, LIST(ctx, fxs_bool(true), fxs_bool(false))), -1, FXS_BOOL,
          DIMS(2), V(1, 0));
    knows(ctx, "torch.tensor", TUPLE(ctx, LIST(ctx, I(1))), FXS_FLOAT64, FXS_FLOAT64, DIMS(1),
          V(1));
    knows(ctx, "Tensor.new_tensor", TUPLE(ctx, TENSOR(x), LIST(ctx, I(1), I(2))), -1, FXS_FLOAT32,
          DIMS(2), V(1, 2));
    knows(ctx, "torch.scalar_tensor", TUPLE(ctx, I(3)), -1, FXS_FLOAT32, 0, NULL, V(3));
    fxs_tensor *same = run_op(ctx, "torch.as_tensor", TUPLE(ctx, TENSOR(x)), NONE),
               *copy = run_op(ctx, "torch.tensor", TUPLE(ctx, TENSOR(x)), NONE);
    assert_ptr_equal(same, x);
    assert_ptr_not_equal(copy->storage, x->storage);
    refuses(ctx, "torch.tensor", TUPLE(ctx, LIST(ctx, LIST(ctx, I(1)), LIST(ctx, I(1), I(2)))),
            NONE, "tensor: expected sequences of equal length at dim 1");
    refuses(ctx, "torch.tensor", TUPLE(ctx, make_str(ctx, "x")), NONE,
            "tensor: could not infer dtype of str");
    fxs_tensor_unref(x), fxs_tensor_unref(same), fxs_tensor_unref(copy);
}

/* ---- random
 * -------------------------------------------------------------------------------------------- */

static void moments(const fxs_tensor *t, double *mean, double *variance) {
    int64_t n = fxs_tensor_numel(t);
    *mean = *variance = 0;
    for (int64_t i = 0; i < n; i++)
        *mean += nth(t, i) / (double)n;
    for (int64_t i = 0; i < n; i++)
        *variance += (nth(t, i) - *mean) * (nth(t, i) - *mean) / (double)n;
}

static void random_tensors_have_their_moments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(200, 200), 1);
    const struct {
        const char *op;
        fxs_value args;
        double mean, variance;
    } cases[] = {
        {"torch.rand", TUPLE(ctx, I(40000)), 0.5, 1.0 / 12},
        {"torch.randn", TUPLE(ctx, I(200), I(200)), 0, 1},
        {"torch.rand_like", TUPLE(ctx, TENSOR(x)), 0.5, 1.0 / 12},
        {"torch.randn_like", TUPLE(ctx, TENSOR(x)), 0, 1},
        {"torch.randint", TUPLE(ctx, I(10), LIST(ctx, I(40000))), 4.5, 8.25},
        {"torch.randint", TUPLE(ctx, I(-3), I(3), LIST(ctx, I(40000))), -0.5, 35.0 / 12},
        {"Tensor.bernoulli", TUPLE(ctx, TENSOR(x), R(0.25)), 0.25, 0.1875},
        {"Tensor.uniform_", TUPLE(ctx, TENSOR(x), I(2), I(4)), 3, 1.0 / 3},
        {"Tensor.normal_", TUPLE(ctx, TENSOR(x), I(5), I(2)), 5, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_value_ref(cases[i].args);
        fxs_tensor *a = run_op(ctx, cases[i].op, cases[i].args, NONE);
        double mean, variance, first = nth(a, 17);
        moments(a, &mean, &variance);
        assert_near(mean, cases[i].mean, 0.03);
        assert_near(variance, cases[i].variance, 0.03);
        fxs_tensor *b = run_op(ctx, cases[i].op, cases[i].args, NONE);
        assert_near(nth(b, 17), first, 0); /* the same seed, the same numbers */
        fxs_tensor_unref(a), fxs_tensor_unref(b);
    }
    fxs_tensor *p = run_op(ctx, "torch.randperm", TUPLE(ctx, I(1000)), NONE);
    bool seen[1000] = {false}, moved = false;
    for (int64_t i = 0; i < 1000; i++) {
        seen[(int64_t)nth(p, i)] = true;
        moved |= nth(p, i) != (double)i;
    }
    for (int i = 0; i < 1000; i++)
        assert_true(seen[i]);
    assert_true(moved);
    refuses(ctx, "torch.randint", TUPLE(ctx, I(3), I(3), LIST(ctx, I(1))), NONE,
            "randint: random_ expects 'from' to be less than 'to', but got from=3 >= to=3");
    refuses(ctx, "torch.rand", TUPLE(ctx, I(2)), KEYWORDS(ctx, {"dtype", dtype(FXS_INT64)}),
            "rand: not implemented for torch.int64");
    fxs_tensor_unref(x), fxs_tensor_unref(p);
}

/* ---- filling
 * ------------------------------------------------------------------------------------------- */

static void filling_writes_the_tensor(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {1, 0};
    fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(3, 4), 1), turned),
               *row = random_tensor(ctx, FXS_INT16, SIZES(4), 2), *column;
    fxs_tensor *a = run_op(ctx, "Tensor.copy_", TUPLE(ctx, TENSOR(x), TENSOR(row)), NONE);
    assert_ptr_equal(a, x);
    for (int64_t i = 0; i < 12; i++)
        assert_near(nth(x, i), nth(row, i % 4), 0);
    assert_ok(ctx, fxs_tensor_view(ctx, x, &column));
    column->ndim = 1;
    fxs_tensor *b = run_op(ctx, "Tensor.fill_", TUPLE(ctx, TENSOR(column), R(0.5)),
                           NONE); /* a view is filled, the rest stays */
    for (int64_t i = 0; i < 12; i++)
        assert_near(nth(x, i), i % 4 ? nth(row, i % 4) : 0.5, 0);
    fxs_tensor *c = run_op(ctx, "Tensor.zero_", TUPLE(ctx, TENSOR(x)), NONE);
    for (int64_t i = 0; i < 12; i++)
        assert_near(nth(x, i), 0, 0);
    refuses(ctx, "Tensor.copy_", TUPLE(ctx, TENSOR(row), TENSOR(x)), NONE,
            "copy_: the source of shape [3, 4] can't be broadcast to shape [4]");
    fxs_tensor_unref(x), fxs_tensor_unref(row), fxs_tensor_unref(column), fxs_tensor_unref(a),
        fxs_tensor_unref(b), fxs_tensor_unref(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(likeness_keeps_strides),
        cmocka_unit_test(ranges),
        cmocka_unit_test(tensors_from_numbers),
        cmocka_unit_test(random_tensors_have_their_moments),
        cmocka_unit_test(filling_writes_the_tensor),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
