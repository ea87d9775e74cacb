/* test_linear.c: products of matrices by all their names against plain loops, over ranks, broadcast
 * batches, strides and types; linear and bilinear; refusals. */
#include "checking.h"

static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16,
                                  FXS_FLOAT16, FXS_INT64,   FXS_UINT8};

/* a [.., M, K] @ b [.., K, N] with both seen as 4-dimensional; vectors get a dimension of 1. */
static double reference(const fxs_tensor *a, const fxs_tensor *b, const int64_t batch[2], int64_t m,
                        int64_t n, int64_t k) {
    double sum = 0;
    for (int64_t i = 0; i < k; i++) {
        int64_t x[4] = {0}, y[4] = {0};
        int at = a->ndim, bt = b->ndim;
        x[at - 1] = i;
        if (at > 1)
            x[at - 2] = m;
        y[bt > 1 ? bt - 2 : 0] = i;
        if (bt > 1)
            y[bt - 1] = n;
        for (int d = 0; d < 2; d++) {
            if (at - 3 - d >= 0)
                x[at - 3 - d] = a->sizes[at - 3 - d] == 1 ? 0 : batch[1 - d];
            if (bt - 3 - d >= 0)
                y[bt - 3 - d] = b->sizes[bt - 3 - d] == 1 ? 0 : batch[1 - d];
        }
        sum += element(a, x) * element(b, y);
    }
    return sum;
}

typedef struct pair {
    int na, nb;
    int64_t a[4], b[4];
    int64_t batch[2]; /* of the result, right-aligned */
} pair;

static const pair pairs[] = {
    {1, 1, {5}, {5}, {1, 1}},
    {2, 1, {3, 5}, {5}, {1, 1}},
    {1, 2, {5}, {5, 4}, {1, 1}},
    {2, 2, {3, 5}, {5, 4}, {1, 1}},
    {3, 2, {2, 3, 5}, {5, 4}, {1, 2}},
    {2, 3, {3, 5}, {2, 5, 4}, {1, 2}},
    {3, 1, {2, 3, 5}, {5}, {1, 2}},
    {1, 3, {5}, {2, 5, 4}, {1, 2}},
    {3, 3, {2, 3, 5}, {1, 5, 4}, {1, 2}},
    {4, 3, {3, 1, 3, 5}, {2, 5, 4}, {3, 2}},
    {4, 4, {3, 2, 3, 5}, {3, 2, 5, 1}, {3, 2}},
    {4, 2, {3, 2, 1, 5}, {5, 4}, {3, 2}},
    {2, 2, {3, 0}, {0, 4}, {1, 1}},
    {2, 2, {0, 5}, {5, 4}, {1, 1}},
    {3, 3, {2, 17, 40}, {2, 40, 19}, {1, 2}},
};

/* The last two dimensions stored the other way round, or rows with gaps, or a repeated column. */
static fxs_tensor *disturb(fxs_ctx *ctx, fxs_tensor *t, int how) {
    int n = t->ndim, perm[FXS_MAX_DIM];
    if (how == 0 || n < 2)
        return t;
    for (int i = 0; i < n; i++)
        perm[i] = i;
    perm[n - 1] = n - 2, perm[n - 2] = n - 1;
    if (how == 1)
        return laid_out(ctx, t, perm);
    fxs_tensor *view;
    int64_t wide[FXS_MAX_DIM];
    memcpy(wide, t->sizes, (size_t)n * sizeof *wide);
    wide[n - 1] *= 2;
    fxs_tensor *base = random_tensor(ctx, t->dtype, n, wide, 9);
    assert_ok(ctx, fxs_tensor_view(ctx, base, &view));
    view->sizes[n - 1] = t->sizes[n - 1];
    view->strides[n - 1] = how == 2 ? 2 : how == 3 ? 1 : 0;
    fxs_tensor_unref(base);
    fxs_tensor_unref(t);
    return view;
}

static void check_matmul(fxs_ctx *ctx, const char *op, const pair *p, fxs_dtype d, int how_a,
                         int how_b) {
    fxs_tensor *a = disturb(ctx, random_tensor(ctx, d, p->na, p->a, 1), how_a);
    fxs_tensor *b = disturb(ctx, random_tensor(ctx, d, p->nb, p->b, 2), how_b);
    fxs_value y = run_both(ctx, op, TUPLE(ctx, TENSOR(a), TENSOR(b)), fxs_none());
    int64_t m = p->na > 1 ? p->a[p->na - 2] : 1, n = p->nb > 1 ? p->b[p->nb - 1] : 1,
            k = p->a[p->na - 1];
    assert_int_equal(fxs_tensor_numel(y.u.tensor), p->batch[0] * p->batch[1] * m * n);
    assert_int_equal(y.u.tensor->dtype, d);
    assert_true(fxs_tensor_is_contiguous(y.u.tensor));
    for (int64_t i = 0; i < fxs_tensor_numel(y.u.tensor); i++) {
        int64_t batch[2] = {i / (m * n) / p->batch[1], i / (m * n) % p->batch[1]};
        double want = reference(a, b, batch, i / n % m, i % n, k);
        if (d == FXS_UINT8)
            want = (double)((int64_t)want & 255);
        assert_near(nth(y.u.tensor, i), want, tolerance_of(d) * 4);
    }
    fxs_value_unref(&y);
    fxs_tensor_unref(a);
    fxs_tensor_unref(b);
}

static void matmul_of_all_ranks(void **state) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (size_t t = 0; t < 6; t++)
            for (int how = 0; how < 5; how++)
                check_matmul(*state, how % 2 ? "torch.matmul" : "operator.matmul", &pairs[i],
                             types[t], how, (how + (int)i) % 5);
}

static void other_names(void **state) {
    for (int how = 0; how < 4; how++) {
        check_matmul(*state, "torch.dot", &pairs[0], types[how], 0, 0);
        check_matmul(*state, "torch.mv", &pairs[1], types[how], how, 0);
        check_matmul(*state, "torch.mm", &pairs[3], types[how], how, 1);
        check_matmul(*state, "torch.bmm", &pairs[14], types[how], how, 2);
        check_matmul(*state, "Tensor.__matmul__", &pairs[9], types[how], how, 2);
    }
    fxs_tensor *a = random_tensor(*state, FXS_FLOAT32, SIZES(3, 5), 1),
               *b = random_tensor(*state, FXS_FLOAT32, SIZES(2, 3), 2);
    fxs_value y =
        run_both(*state, "Tensor.__rmatmul__", TUPLE(*state, TENSOR(a), TENSOR(b)), fxs_none());
    assert_shape(y.u.tensor, 2, (int64_t[]){2, 5});
    assert_near(nth(y.u.tensor, 6), reference(b, a, (int64_t[]){0, 0}, 1, 1, 3), 1e-5);
    fxs_value_unref(&y);
    fxs_tensor_unref(a);
    fxs_tensor_unref(b);
}

static void threads_do_not_change_results(void **state) {
    fxs_ctx *ctx = *state;
    static const pair large[] = {{2, 2, {65, 130}, {130, 33}, {1, 1}},
                                 {2, 2, {9, 300}, {300, 170}, {1, 1}},
                                 {3, 3, {2, 60, 50}, {2, 50, 70}, {1, 2}},
                                 {2, 1, {500, 300}, {300}, {1, 1}},
                                 {1, 2, {300}, {300, 500}, {1, 1}}};
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 3));
    for (size_t i = 0; i < 5; i++)
        for (int how = 0; how < 4; how++)
            check_matmul(ctx, "torch.matmul", &large[i], types[how % 2], how, how);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

static void linear_layers(void **state) {
    fxs_ctx *ctx = *state;
    static const int64_t inputs[][3] = {{0, 0, 6}, {0, 4, 6}, {2, 4, 6}};
    for (int t = 0; t < 5; t++)
        for (int n = 1; n <= 3; n++)
            for (int form = 0; form < 3; form++) {
                fxs_tensor *x =
                    disturb(ctx, random_tensor(ctx, types[t], n, inputs[n - 1] + 3 - n, 1), form);
                fxs_tensor *w =
                    disturb(ctx, random_tensor(ctx, types[t], SIZES(5, 6), 2), form % 2);
                fxs_tensor *b = form ? random_tensor(ctx, types[t], SIZES(5), 3) : NULL;
                fxs_value y = run_both(ctx, "torch._C._nn.linear",
                                       TUPLE(ctx, TENSOR(x), TENSOR(w), b ? TENSOR(b) : fxs_none()),
                                       fxs_none());
                assert_int_equal(y.u.tensor->ndim, n);
                assert_int_equal(y.u.tensor->sizes[n - 1], 5);
                for (int64_t i = 0; i < fxs_tensor_numel(y.u.tensor); i++) {
                    double want = b ? nth(b, i % 5) : 0;
                    for (int64_t k = 0; k < 6; k++)
                        want += nth(x, i / 5 * 6 + k) * element(w, (int64_t[]){i % 5, k});
                    assert_near(nth(y.u.tensor, i), want, tolerance_of(types[t]) * 4);
                }
                fxs_value_unref(&y);
                fxs_tensor_unref(x);
                fxs_tensor_unref(w);
                fxs_tensor_unref(b);
            }
}

static void bilinear_layers(void **state) {
    fxs_ctx *ctx = *state;
    for (int t = 0; t < 2; t++) {
        fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 3, 4), 1),
                   *z = random_tensor(ctx, types[t], SIZES(2, 3, 5), 2);
        fxs_tensor *w = random_tensor(ctx, types[t], SIZES(7, 4, 5), 3),
                   *b = random_tensor(ctx, types[t], SIZES(7), 4);
        fxs_value y = run_both(
            ctx, "torch.bilinear",
            TUPLE(ctx, TENSOR(x), TENSOR(z), TENSOR(w), t ? TENSOR(b) : fxs_none()), fxs_none());
        assert_shape(y.u.tensor, 3, (int64_t[]){2, 3, 7});
        for (int64_t i = 0; i < 42; i++) {
            double want = t ? nth(b, i % 7) : 0;
            for (int64_t k = 0; k < 20; k++)
                want +=
                    nth(x, i / 7 * 4 + k / 5) * nth(w, i % 7 * 20 + k) * nth(z, i / 7 * 5 + k % 5);
            assert_near(nth(y.u.tensor, i), want, tolerance_of(types[t]));
        }
        fxs_value_unref(&y);
        fxs_tensor *const all[] = {x, z, w, b};
        for (int i = 0; i < 4; i++)
            fxs_tensor_unref(all[i]);
    }
}

static void scaled_sums(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype kinds[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_INT64};
    for (int t = 0; t < 4; t++) {
        fxs_tensor *a = random_tensor(ctx, kinds[t], SIZES(3, 4), 1),
                   *b = random_tensor(ctx, kinds[t], SIZES(4, 5), 2);
        fxs_tensor *row = random_tensor(ctx, kinds[t], SIZES(5), 3),
                   *v = random_tensor(ctx, kinds[t], SIZES(4), 4);
        fxs_tensor *batch = random_tensor(ctx, kinds[t], SIZES(2, 3, 4), 5),
                   *other = random_tensor(ctx, kinds[t], SIZES(2, 4, 5), 6);
        fxs_tensor *single = random_tensor(ctx, kinds[t], SIZES(1), 7);
        for (int beta = 0; beta <= 2; beta += 2) {
            double scale = 3, tolerance = tolerance_of(kinds[t]) * 8;
#define SCALES KEYWORDS(ctx, {"beta", fxs_int(beta)}, {"alpha", fxs_int(3)})
            fxs_value y =
                run_both(ctx, "torch.addmm", TUPLE(ctx, TENSOR(row), TENSOR(a), TENSOR(b)), SCALES);
            for (int64_t i = 0; i < 15; i++)
                assert_near(nth(y.u.tensor, i),
                            beta * nth(row, i % 5) +
                                scale * reference(a, b, (int64_t[]){0, 0}, i / 5, i % 5, 4),
                            tolerance);
            fxs_value_unref(&y);
            y = run_both(ctx, "torch.baddbmm",
                         TUPLE(ctx, TENSOR(row), TENSOR(batch), TENSOR(other)), SCALES);
            for (int64_t i = 0; i < 30; i++)
                assert_near(nth(y.u.tensor, i),
                            beta * nth(row, i % 5) + scale * reference(batch, other,
                                                                       (int64_t[]){0, i / 15},
                                                                       i / 5 % 3, i % 5, 4),
                            tolerance);
            fxs_value_unref(&y);
            y = run_both(ctx, "torch.addmv", TUPLE(ctx, TENSOR(single), TENSOR(a), TENSOR(v)),
                         SCALES);
            for (int64_t i = 0; i < 3; i++)
                assert_near(nth(y.u.tensor, i),
                            beta * nth(single, 0) +
                                scale * reference(a, v, (int64_t[]){0, 0}, i, 0, 4),
                            tolerance);
            fxs_value_unref(&y);
        }
        fxs_tensor *const all[] = {a, b, row, v, batch, other, single};
        for (int i = 0; i < 7; i++)
            fxs_tensor_unref(all[i]);
    }
}

static void outer_products(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype kinds[][3] = {{FXS_FLOAT32, FXS_FLOAT32, FXS_FLOAT32},
                                         {FXS_INT64, FXS_FLOAT64, FXS_FLOAT64},
                                         {FXS_BOOL, FXS_BOOL, FXS_BOOL},
                                         {FXS_INT32, FXS_INT64, FXS_INT64}};
    for (int t = 0; t < 4; t++) {
        fxs_tensor *a = random_tensor(ctx, kinds[t][0], SIZES(3), 1),
                   *b = random_tensor(ctx, kinds[t][1], SIZES(4), 2);
        fxs_value y = run_both(ctx, "torch.outer", TUPLE(ctx, TENSOR(a), TENSOR(b)), fxs_none());
        assert_int_equal(y.u.tensor->dtype, kinds[t][2]);
        for (int64_t i = 0; i < 12; i++)
            assert_near(nth(y.u.tensor, i), nth(a, i / 4) * nth(b, i % 4), 1e-6);
        fxs_value_unref(&y);
        fxs_tensor_unref(a);
        fxs_tensor_unref(b);
    }
}

static void bad_arguments_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_value none = fxs_none();
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 5), 2),
               *d = random_tensor(ctx, FXS_FLOAT64, SIZES(3, 5), 2),
               *f = random_tensor(ctx, FXS_BOOL, SIZES(3, 3), 1),
               *c3 = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 3), 1),
               *d3 = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 3, 3), 1),
               *s = random_tensor(ctx, FXS_FLOAT32, 0, NULL, 1),
               *v = random_tensor(ctx, FXS_FLOAT32, SIZES(4), 1);
    refuses(ctx, "torch.mm", TUPLE(ctx, TENSOR(a), TENSOR(b)), none,
            "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
    refuses(ctx, "torch.matmul", TUPLE(ctx, TENSOR(a), TENSOR(d)), none,
            "matmul: expected both arguments to have the same dtype, but got float32 and float64");
    refuses(ctx, "torch.matmul", TUPLE(ctx, TENSOR(f), TENSOR(f)), none,
            "matmul: not implemented for type bool");
    refuses(ctx, "torch.matmul", TUPLE(ctx, TENSOR(a), TENSOR(s)), none,
            "matmul: both arguments need to be at least 1-dimensional, but they are [2, 3] and []");
    refuses(ctx, "torch.matmul", TUPLE(ctx, TENSOR(c3), TENSOR(d3)), none,
            "matmul: batch dimensions do not broadcast: [2, 3, 3] and [3, 3, 3]");
    refuses(ctx, "torch.matmul", TUPLE(ctx, TENSOR(c3), TENSOR(b)), none,
            "matmul: shapes cannot be multiplied: [2, 3, 3] and [4, 5]");
    refuses(ctx, "torch.bmm", TUPLE(ctx, TENSOR(c3), TENSOR(d3)), none,
            "bmm: expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: "
            "[3, 3]");
    refuses(ctx, "torch.mm", TUPLE(ctx, TENSOR(a), TENSOR(v)), none,
            "mm: argument 'mat2' must have 2 dimensions, but its shape is [4]");
    refuses(ctx, "torch.dot", TUPLE(ctx, TENSOR(a), TENSOR(v)), none,
            "dot: argument 'input' must have 1 dimension, but its shape is [2, 3]");
    refuses(ctx, "torch._C._nn.linear", TUPLE(ctx, TENSOR(a), TENSOR(b)), none,
            "linear: expected input with 5 features in its last dimension for weight of shape [4, "
            "5], but got input of "
            "shape [2, 3]");
    refuses(ctx, "torch._C._nn.linear", TUPLE(ctx, TENSOR(a), TENSOR(a), TENSOR(v)), none,
            "linear: a bias of shape [4] can't be added to a result of shape [2, 2]");
    refuses(ctx, "torch._C._nn.linear", TUPLE(ctx, TENSOR(a), TENSOR(d)), none,
            "linear: expected argument 'weight' of type float32 as the input, but got float64");
    refuses(ctx, "torch.addmm", TUPLE(ctx, TENSOR(v), TENSOR(a), TENSOR(c3)), none,
            "addmm: argument 'mat2' must have 2 dimensions, but its shape is [2, 3, 3]");
    refuses(ctx, "torch.bilinear", TUPLE(ctx, TENSOR(a), TENSOR(a), TENSOR(c3)),
            KEYWORDS(ctx, {"bias", TENSOR(v)}),
            "bilinear: expected bias of shape [2], but got bias of shape [4]");
    fxs_tensor *const all[] = {a, b, d, f, c3, d3, s, v};
    for (int i = 0; i < 8; i++)
        fxs_tensor_unref(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_of_all_ranks),
        cmocka_unit_test(other_names),
        cmocka_unit_test(threads_do_not_change_results),
        cmocka_unit_test(linear_layers),
        cmocka_unit_test(bilinear_layers),
        cmocka_unit_test(scaled_sums),
        cmocka_unit_test(outer_products),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
