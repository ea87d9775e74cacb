/* test_lowrank.c: svd_lowrank, pca_lowrank and lobpcg, whose vectors PyTorch starts at random: the
 * factors give the matrix back, singular values are those of the whole decomposition, eigenpairs
 * are eigenpairs. */
#include <math.h>

#include "checking.h"

#define NONE fxs_none()
#define I fxs_int

static fxs_tensor *op(fxs_ctx *ctx, const char *name, fxs_value args) {
    return run_both(ctx, name, args, NONE).u.tensor;
}

/* A matrix of rank 2. */
static fxs_tensor *of_rank_2(fxs_ctx *ctx, int64_t rows, int64_t columns) {
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT64, SIZES(rows, 2), 1),
               *b = random_tensor(ctx, FXS_FLOAT64, SIZES(2, columns), 2);
    fxs_tensor *out = op(ctx, "torch.matmul", TUPLE(ctx, TENSOR(a), TENSOR(b)));
    fxs_tensor_unref(a), fxs_tensor_unref(b);
    return out;
}

static double at(const fxs_tensor *t, int64_t i, int64_t j) { return nth(t, i * t->sizes[1] + j); }

/* U diag(S) V' is a - mean. */
static void check_product(const fxs_tensor *a, const fxs_value *usv, const double *mean) {
    const fxs_tensor *u = tensor_at(usv, 0), *s = tensor_at(usv, 1), *v = tensor_at(usv, 2);
    for (int64_t i = 0; i < a->sizes[0]; i++)
        for (int64_t j = 0; j < a->sizes[1]; j++) {
            double sum = 0;
            for (int64_t q = 0; q < s->sizes[0]; q++)
                sum += at(u, i, q) * nth(s, q) * at(v, j, q);
            assert_near(sum, at(a, i, j) - (mean ? mean[j] : 0), 1e-9);
        }
}

static void svd_of_low_rank_is_whole(void **state) {
    fxs_ctx *ctx = *state;
    static const int64_t sizes[][2] = {{7, 5}, {5, 7}, {4, 2}, {6, 6}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fxs_tensor *a = of_rank_2(ctx, sizes[i][0], sizes[i][1]);
        fxs_value usv = run_both(ctx, "torch.svd_lowrank", TUPLE(ctx, TENSOR(a), I(2)), NONE);
        fxs_tensor *all = op(ctx, "torch._C._linalg.linalg_svdvals", TUPLE(ctx, TENSOR(a)));
        for (int q = 0; q < 2; q++)
            assert_near(nth(tensor_at(&usv, 1), q), nth(all, q), 1e-9);
        check_product(a, &usv, NULL);
        fxs_value_unref(&usv);
        fxs_tensor_unref(a), fxs_tensor_unref(all);
    }
}

static void pca_is_of_centred_columns(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = of_rank_2(ctx, 8, 5);
    double mean[5] = {0};
    for (int64_t i = 0; i < 8; i++)
        for (int64_t j = 0; j < 5; j++)
            mean[j] += at(a, i, j) / 8;
    fxs_value usv = run_both(ctx, "torch.pca_lowrank", TUPLE(ctx, TENSOR(a), I(3)), NONE);
    check_product(a, &usv, mean);
    fxs_value_unref(&usv);
    refuses(ctx, "torch.pca_lowrank", TUPLE(ctx, TENSOR(a), I(6)), NONE,
            "pca_lowrank: q(=6) must be non-negative integer and not greater than min(m, n)=5");
    fxs_tensor_unref(a);
}

/* A x = e B x, for symmetric A and positive B. */
static void lobpcg_gives_eigenpairs(void **state) {
    fxs_ctx *ctx = *state;
    enum { SIDE = 9 };
    fxs_tensor *r = random_tensor(ctx, FXS_FLOAT64, SIZES(SIDE, SIDE), 3), *b, *a;
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_FLOAT64, SIZES(SIDE, SIDE), &a));
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_FLOAT64, SIZES(SIDE, SIDE), &b));
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            ((double *)fxs_tensor_data(a))[i * SIDE + j] = at(r, i, j) + at(r, j, i);
            ((double *)fxs_tensor_data(b))[i * SIDE + j] = i == j ? 3 + i : 0.25;
        }
    for (int k = 0; k < 4; k++) {
        bool general = k & 1, largest = k & 2;
        fxs_value pairs = run_both(ctx, "torch.lobpcg",
                                   TUPLE(ctx, TENSOR(a), I(3), general ? TENSOR(b) : NONE, NONE,
                                         NONE, NONE, NONE, NONE, fxs_bool(largest)),
                                   NONE);
        const fxs_tensor *e = tensor_at(&pairs, 0), *x = tensor_at(&pairs, 1);
        assert_shape(e, SIZES(3));
        assert_shape(x, SIZES(SIDE, 3));
        for (int q = 0; q < 3; q++) {
            assert_true(q == 0 || (nth(e, q) <= nth(e, q - 1)) == largest);
            for (int i = 0; i < SIDE; i++) {
                double left = 0, right = general ? 0 : at(x, i, q);
                for (int j = 0; j < SIDE; j++) {
                    left += at(a, i, j) * at(x, j, q);
                    right += general ? at(b, i, j) * at(x, j, q) : 0;
                }
                assert_near(left, nth(e, q) * right, 1e-9);
            }
        }
        fxs_value_unref(&pairs);
    }
    fxs_tensor_unref(r), fxs_tensor_unref(a), fxs_tensor_unref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd_of_low_rank_is_whole),
        cmocka_unit_test(pca_is_of_centred_columns),
        cmocka_unit_test(lobpcg_gives_eigenpairs),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
