/* test_order.c: sort, topk, median and kthvalue along every dimension against an insertion sort,
 * and running sums, products and maxima against plain loops. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int

/* Offset of line `line` of [3, 5, 4] along dim, as a multi-index with at[dim] = 0. */
static void line_start(int dim, int64_t line, int64_t *at) {
    static const int64_t sizes[] = {3, 5, 4};
    for (int d = 2; d >= 0; d--) {
        at[d] = d == dim ? 0 : line % sizes[d];
        line /= d == dim ? 1 : sizes[d];
    }
}

/* Positions of a line's elements in order: stable, NaN last when ascending. */
static void order_of(const double *v, int n, bool down, int *order) {
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0; k--) {
            double a = v[order[k - 1]], b = v[i];
            bool after = down ? (isnan(b) ? !isnan(a) : b > a) : (isnan(a) ? !isnan(b) : a > b);
            if (!after)
                break;
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

typedef void line_check(const double *v, int n, const int *order, fxs_value *out, int64_t *at,
                        int dim);

static void each_line(fxs_tensor *x, int dim, bool down, fxs_value *out, line_check *check) {
    int n = (int)x->sizes[dim];
    for (int64_t line = 0; line < 60 / n; line++) {
        double v[5];
        int order[5];
        int64_t at[3];
        line_start(dim, line, at);
        for (at[dim] = 0; at[dim] < n; at[dim]++)
            v[at[dim]] = element(x, at);
        order_of(v, n, down, order);
        check(v, n, order, out, at, dim);
    }
    fxs_value_unref(out);
}

static void is_sorted(const double *v, int n, const int *order, fxs_value *out, int64_t *at,
                      int dim) {
    const fxs_tensor *values = tensor_at(out, 0), *indices = tensor_at(out, 1);
    int k = (int)values->sizes[dim] < n ? (int)values->sizes[dim] : n;
    for (at[dim] = 0; at[dim] < k; at[dim]++) {
        assert_near(element(values, at), v[order[at[dim]]], 0);
        assert_near(element(indices, at), order[at[dim]], 0);
    }
}

static fxs_tensor *ties(fxs_ctx *ctx, fxs_dtype d, uint64_t seed, bool turned) {
    static const int perm[] = {1, 2, 0};
    fxs_tensor *x = random_tensor(ctx, FXS_INT64, SIZES(3, 5, 4), seed), *y;
    fxs_fill_integers(ctx, x, seed, 0, 3);
    assert_ok(ctx, fxs_tensor_new(ctx, d, SIZES(3, 5, 4), &y));
    fxs_tensor_copy(ctx, y, x);
    fxs_tensor_unref(x);
    if (fxs_is_floating(d))
        fxs_store_double(d, (char *)fxs_tensor_data(y) + 7 * fxs_dtype_size(d), NAN);
    return turned ? laid_out(ctx, y, perm) : y;
}

static void sort_and_topk(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_INT64, FXS_INT8, FXS_BFLOAT16};
    for (int t = 0; t < 5; t++)
        for (int dim = 0; dim < 3; dim++)
            for (int way = 0; way < 4; way++) {
                bool down = way & 1;
                fxs_tensor *x = ties(ctx, types[t], (uint64_t)(t + dim), way & 2);
                fxs_value sorted = run_both(ctx, "torch.sort",
                                            TUPLE(ctx, TENSOR(x), I(dim), fxs_bool(down)), NONE);
                fxs_value best =
                    run_both(ctx, "torch.topk",
                             TUPLE(ctx, TENSOR(x), I(2), I(dim - 3), fxs_bool(down)), NONE);
                assert_string_equal(fxs_value_type_name(&sorted), "torch.return_types.sort");
                assert_strides(tensor_at(&sorted, 0), 3, x->strides);
                assert_int_equal(tensor_at(&best, 0)->sizes[dim], 2);
                fxs_tensor *only = run_op(ctx, "torch.argsort",
                                          TUPLE(ctx, TENSOR(x), I(dim), fxs_bool(down)), NONE);
                for (int64_t i = 0; i < 60; i++)
                    assert_near(nth(only, i), nth(tensor_at(&sorted, 1), i), 0);
                each_line(x, dim, down, &sorted, is_sorted);
                each_line(x, dim, down, &best, is_sorted);
                fxs_tensor_unref(x), fxs_tensor_unref(only);
            }
}

static void is_median(const double *v, int n, const int *order, fxs_value *out, int64_t *at,
                      int dim) {
    const fxs_tensor *values = tensor_at(out, 0), *indices = tensor_at(out, 1);
    int nan = -1;
    for (int i = n - 1; i >= 0; i--)
        nan = isnan(v[i]) ? i : nan;
    int want = nan >= 0 ? nan : order[(n - 1) / 2];
    at[dim] = 0;
    assert_near(element(values, at), v[want], 0);
    assert_near(element(indices, at), want, 0);
}

static void is_second(const double *v, int n, const int *order, fxs_value *out, int64_t *at,
                      int dim) {
    (void)n;
    at[dim] = 0;
    assert_near(element(tensor_at(out, 0), at), v[order[1]], 0);
    assert_near(element(tensor_at(out, 1), at), order[1], 0);
}

static void medians(void **state) {
    fxs_ctx *ctx = *state;
    for (int dim = 0; dim < 3; dim++) {
        fxs_tensor *x = ties(ctx, FXS_FLOAT32, (uint64_t)dim, true);
        fxs_value m =
            run_both(ctx, "torch.median", TUPLE(ctx, TENSOR(x), I(dim), fxs_bool(true)), NONE);
        fxs_value k = run_both(ctx, "torch.kthvalue",
                               TUPLE(ctx, TENSOR(x), I(2), I(dim), fxs_bool(true)), NONE);
        each_line(x, dim, false, &m, is_median);
        each_line(x, dim, false, &k, is_second);
        fxs_tensor_unref(x);
    }
    fxs_tensor *v = tensor_of_values(ctx, FXS_FLOAT64, SIZES(2, 2), (double[]){4, 1, 3, 2}),
               *m = run_both(ctx, "torch.median", TUPLE(ctx, TENSOR(v)), NONE).u.tensor;
    assert_int_equal(m->ndim, 0);
    assert_near(nth(m, 0), 2, 0); /* the lower of the two in the middle */
    fxs_tensor_unref(v), fxs_tensor_unref(m);
}

/* ---- running results
 * ----------------------------------------------------------------------------------- */

static double plus(double a, double b) { return a + b; }
static double times(double a, double b) { return a * b; }
static double log_plus(double a, double b) { return log(exp(a) + exp(b)); }

static void running_results(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {1, 2, 0};
    static const struct {
        const char *op;
        double (*step)(double, double);
    } cases[] = {
        {"torch.cumsum", plus}, {"torch.cumprod", times}, {"torch.logcumsumexp", log_plus}};
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_INT32};
    for (int c = 0; c < 3; c++)
        for (int t = 0; t < (c < 2 ? 3 : 2); t++)
            for (int dim = 0; dim < 3; dim++) {
                fxs_tensor *x = laid_out(
                    ctx, random_tensor(ctx, types[t], SIZES(3, 5, 4), (uint64_t)dim), turned);
                fxs_tensor *y =
                    run_both(ctx, cases[c].op, TUPLE(ctx, TENSOR(x), I(dim)), NONE).u.tensor;
                assert_int_equal(y->dtype, t == 2 ? FXS_INT64 : types[t]);
                for (int64_t line = 0; line < 60 / x->sizes[dim]; line++) {
                    int64_t at[3];
                    double running = 0;
                    line_start(dim, line, at);
                    for (; at[dim] < x->sizes[dim]; at[dim]++) {
                        running = at[dim] ? cases[c].step(running, element(x, at)) : element(x, at);
                        assert_near(element(y, at), running,
                                    types[t] == FXS_FLOAT32 ? 1e-6 : 1e-13);
                    }
                }
                fxs_tensor_unref(x), fxs_tensor_unref(y);
            }
}

static void running_extremes(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_FLOAT32, SIZES(7), (double[]){2, 1, 2, 3, 3, NAN, 9});
    static const double values[] = {2, 2, 2, 3, 3, NAN, NAN}, indices[] = {0, 0, 2, 3, 4, 5, 5},
                        least[] = {0, 1, 1, 1, 1, 5, 5};
    fxs_value up = run_both(ctx, "torch.cummax", TUPLE(ctx, TENSOR(x), I(0)), NONE),
              down = run_both(ctx, "torch.cummin", TUPLE(ctx, TENSOR(x), I(0)), NONE);
    for (int i = 0; i < 7; i++) {
        assert_near(nth(tensor_at(&up, 0), i), values[i], 0);
        assert_near(nth(tensor_at(&up, 1), i), indices[i], 0);
        assert_near(nth(tensor_at(&down, 1), i), least[i], 0);
    }
    fxs_value_unref(&up), fxs_value_unref(&down), fxs_tensor_unref(x);
}

static void wrong_arguments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *zero = random_tensor(ctx, FXS_FLOAT32, 0, NULL, 1),
               *b = random_tensor(ctx, FXS_BOOL, SIZES(3), 1);
    refuses(ctx, "torch.topk", TUPLE(ctx, TENSOR(x), I(4)), NONE,
            "topk: selected index k out of range: k is 4, but dimension 1 has size 3");
    refuses(ctx, "torch.sort", TUPLE(ctx, TENSOR(x), I(2)), NONE,
            "sort: dimension 2 is out of range: it must be in -2 to 1");
    refuses(ctx, "torch.kthvalue", TUPLE(ctx, TENSOR(x), I(0)), NONE,
            "kthvalue: selected number k out of range for dimension 1");
    refuses(ctx, "torch.median", TUPLE(ctx, TENSOR(b)), NONE,
            "median: not implemented for torch.bool");
    fxs_value out = run_both(ctx, "torch.sort", TUPLE(ctx, TENSOR(zero)), NONE);
    assert_near(nth(tensor_at(&out, 0), 0), nth(zero, 0), 0);
    fxs_value_unref(&out);
    fxs_tensor_unref(x), fxs_tensor_unref(zero), fxs_tensor_unref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_and_topk),   cmocka_unit_test(medians),
        cmocka_unit_test(running_results), cmocka_unit_test(running_extremes),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
