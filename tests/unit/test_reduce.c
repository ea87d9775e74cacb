/* test_reduce.c: reductions against sums over multi-indices in double precision: every choice of
 * dimensions, keepdim, types and layouts; what is refused; folds over nothing. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int

/* What the reference folds: the elements of one output element, in row-major order. */
typedef double fold_fn(const double *v, int n);

static double sum(const double *v, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += v[i];
    return s;
}
static double mean(const double *v, int n) { return sum(v, n) / n; }
static double prod(const double *v, int n) {
    double p = 1;
    for (int i = 0; i < n; i++)
        p *= v[i];
    return p;
}
static double amax(const double *v, int n) {
    double m = v[0];
    for (int i = 1; i < n; i++)
        m = v[i] > m ? v[i] : m;
    return m;
}
static double amin(const double *v, int n) {
    double m = v[0];
    for (int i = 1; i < n; i++)
        m = v[i] < m ? v[i] : m;
    return m;
}
static double any(const double *v, int n) {
    for (int i = 0; i < n; i++)
        if (v[i] != 0)
            return 1;
    return 0;
}
static double all(const double *v, int n) {
    for (int i = 0; i < n; i++)
        if (v[i] == 0)
            return 0;
    return 1;
}
static double count(const double *v, int n) {
    int k = 0;
    for (int i = 0; i < n; i++)
        k += v[i] != 0;
    return k;
}
static double argmax(const double *v, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (v[i] > v[best])
            best = i;
    return best;
}
static double argmin(const double *v, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (v[i] < v[best])
            best = i;
    return best;
}
static double norm_of(const double *v, int n, double p) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += pow(fabs(v[i]), p);
    return pow(s, 1 / p);
}
static double norm1(const double *v, int n) { return norm_of(v, n, 1); }
static double norm2(const double *v, int n) { return norm_of(v, n, 2); }
static double norm3(const double *v, int n) { return norm_of(v, n, 3); }
static double norm_most(const double *v, int n) {
    double m = 0;
    for (int i = 0; i < n; i++)
        m = fmax(m, fabs(v[i]));
    return m;
}
static double variance_by(const double *v, int n, int correction) {
    double m = mean(v, n), s = 0;
    for (int i = 0; i < n; i++)
        s += (v[i] - m) * (v[i] - m);
    return s / (n - correction);
}
static double variance(const double *v, int n) { return variance_by(v, n, 1); }
static double biased(const double *v, int n) { return variance_by(v, n, 0); }
static double deviation(const double *v, int n) { return sqrt(variance(v, n)); }

/* Compares y with the fold of x over the marked dimensions. */
static void expect(fxs_tensor *y, const fxs_tensor *x, const bool *folded, bool keep, fold_fn *fold,
                   double tolerance) {
    int64_t kept[FXS_MAX_DIM], shape[FXS_MAX_DIM];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        kept[d] = folded[d] ? 1 : x->sizes[d];
        if (!folded[d] || keep)
            shape[ndim++] = kept[d];
    }
    assert_shape(y, ndim, shape);
    assert_true(fxs_tensor_is_contiguous(y));
    double *v = malloc((size_t)fxs_tensor_numel(x) * sizeof *v + 8);
    for (int64_t o = 0; o < fxs_tensor_numel(y); o++) {
        int64_t at[FXS_MAX_DIM], index[FXS_MAX_DIM], rest = o;
        int n = 0;
        for (int d = x->ndim - 1; d >= 0; d--) {
            at[d] = rest % kept[d];
            rest /= kept[d];
        }
        for (int64_t i = 0; i < fxs_tensor_numel(x); i++) {
            bool mine = true;
            int64_t r = i;
            for (int d = x->ndim - 1; d >= 0; d--) {
                index[d] = r % x->sizes[d];
                r /= x->sizes[d];
                mine &= folded[d] || index[d] == at[d];
            }
            if (mine)
                v[n++] = element(x, index);
        }
        assert_near(nth(y, o), fold(v, n), tolerance);
    }
    free(v);
    fxs_tensor_unref(y);
}

static const struct {
    const char *op;
    fold_fn *fold;
    bool many, ints; /* takes several dimensions; takes integers */
    int type;        /* 0: the input's; else the result's dtype + 1; -1: int64 for integers */
} folds[] = {
    {"sum", sum, true, true, -1},
    {"mean", mean, true, false, 0},
    {"prod", prod, false, true, -1},
    {"amax", amax, true, true, 0},
    {"amin", amin, true, true, 0},
    {"any", any, false, true, FXS_BOOL + 1},
    {"all", all, false, true, FXS_BOOL + 1},
    {"argmax", argmax, false, true, FXS_INT64 + 1},
    {"argmin", argmin, false, true, FXS_INT64 + 1},
    {"var", variance, true, false, 0},
    {"std", deviation, true, false, 0},
};

static void check_fold(fxs_ctx *ctx, size_t f, fxs_tensor *x, fxs_value dims, const bool *folded,
                       bool keep) {
    char spelling[32];
    snprintf(spelling, sizeof spelling, "torch.%s", folds[f].op);
    fxs_tensor *y = run_both(ctx, spelling, TUPLE(ctx, TENSOR(x)),
                             KEYWORDS(ctx, {"dim", dims}, {"keepdim", fxs_bool(keep)}))
                        .u.tensor;
    bool real = fxs_is_floating(x->dtype);
    assert_int_equal(y->dtype, folds[f].type > 0            ? folds[f].type - 1
                               : folds[f].type < 0 && !real ? FXS_INT64
                                                            : (int)x->dtype);
    expect(y, x, folded, keep, folds[f].fold,
           x->dtype == FXS_FLOAT32 ? 1e-6 : tolerance_of(x->dtype));
}

static void every_choice_of_dimensions(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_INT64, FXS_INT16, FXS_BFLOAT16};
    static const int turned[] = {1, 2, 0};
    for (size_t f = 0; f < sizeof folds / sizeof *folds; f++)
        for (int t = 0; t < 5; t++) {
            if (!folds[f].ints && !fxs_is_floating(types[t]))
                continue;
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(3, 5, 4), f);
            if (!fxs_is_floating(types[t]))
                fxs_fill_integers(ctx, x, f, -2, 2);
            for (int layout = 0; layout < 2; layout++, x = laid_out(ctx, x, turned))
                for (int set = 1; set < 8; set++)
                    for (int keep = 0; keep < 2; keep++) {
                        bool folded[] = {set & 1, set & 2, set & 4};
                        int n = folded[0] + folded[1] + folded[2];
                        if (n == 1)
                            check_fold(ctx, f, x,
                                       I(folded[0]   ? 0
                                         : folded[1] ? -2
                                                     : 2),
                                       folded, keep);
                        else if (folds[f].many)
                            check_fold(ctx, f, x,
                                       n == 3      ? LIST(ctx, I(2), I(0), I(1))
                                       : folded[0] ? LIST(ctx, I(0), I(folded[1] ? 1 : -1))
                                                   : LIST(ctx, I(2), I(1)),
                                       folded, keep);
                    }
            bool everything[] = {true, true, true};
            char spelling[32];
            snprintf(spelling, sizeof spelling, "Tensor.%s", folds[f].op);
            expect(run_both(ctx, spelling, TUPLE(ctx, TENSOR(x)), NONE).u.tensor, x, everything,
                   false, folds[f].fold, x->dtype == FXS_FLOAT32 ? 1e-6 : tolerance_of(x->dtype));
            fxs_tensor_unref(x);
        }
}

static void stretched_and_long_inputs(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *row = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 700), 1),
               *x = run_op(ctx, "Tensor.expand", TUPLE(ctx, TENSOR(row), I(3), I(-1)), NONE);
    bool first[] = {true, false}, last[] = {false, true};
    expect(run_both(ctx, "torch.sum", TUPLE(ctx, TENSOR(x), I(0)), NONE).u.tensor, x, first, false,
           sum, 1e-6);
    expect(run_both(ctx, "torch.sum", TUPLE(ctx, TENSOR(x), I(1)), NONE).u.tensor, x, last, false,
           sum, 1e-6);
    fxs_tensor *big = random_tensor(ctx, FXS_FLOAT32, SIZES(1 << 20), 1);
    fxs_fill_constant(ctx, big, 0.1);
    fxs_tensor *s = run_op(ctx, "torch.sum", TUPLE(ctx, TENSOR(big)), NONE);
    assert_near(nth(s, 0), (double)0.1f * (1 << 20),
                1e-7); /* float32 sums alone would be off in the fourth digit */
    fxs_tensor_unref(row), fxs_tensor_unref(x), fxs_tensor_unref(big), fxs_tensor_unref(s);
}

static void threads_do_not_change_results(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(300, 701), 1),
               *a = run_op(ctx, "torch.var", TUPLE(ctx, TENSOR(x), I(1)), NONE), *b;
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 3));
    b = run_op(ctx, "torch.var", TUPLE(ctx, TENSOR(x), I(1)), NONE);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
    assert_memory_equal(fxs_tensor_data(a), fxs_tensor_data(b), 300 * sizeof(float));
    fxs_tensor_unref(x), fxs_tensor_unref(a), fxs_tensor_unref(b);
}

static void forms_of_var(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT64, SIZES(4, 600), 1);
    bool last[] = {false, true}, both[] = {true, true};
    expect(run_both(ctx, "Tensor.var", TUPLE(ctx, TENSOR(x), fxs_bool(false)), NONE).u.tensor, x,
           both, false, biased, 1e-13);
    expect(run_both(ctx, "Tensor.var", TUPLE(ctx, TENSOR(x), I(1), fxs_bool(false)), NONE).u.tensor,
           x, last, false, biased, 1e-13);
    expect(run_both(ctx, "torch.var", TUPLE(ctx, TENSOR(x)),
                    KEYWORDS(ctx, {"dim", I(1)}, {"correction", I(0)}))
               .u.tensor,
           x, last, false, biased, 1e-13);
    fxs_value pair = run_both(ctx, "torch.var_mean", TUPLE(ctx, TENSOR(x), I(1)), NONE);
    expect(fxs_tensor_ref(tensor_at(&pair, 0)), x, last, false, variance, 1e-13);
    expect(fxs_tensor_ref(tensor_at(&pair, 1)), x, last, false, mean, 1e-13);
    fxs_value_unref(&pair);
    fxs_tensor *one = random_tensor(ctx, FXS_FLOAT32, SIZES(1), 1),
               *v = run_op(ctx, "torch.var", TUPLE(ctx, TENSOR(one)), NONE);
    assert_true(isnan(nth(v, 0)));
    fxs_tensor_unref(x), fxs_tensor_unref(one), fxs_tensor_unref(v);
}

static void norms(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 7), 1);
    bool last[] = {false, true}, both[] = {true, true};
    static const struct {
        double p;
        fold_fn *fold;
    } orders[] = {{1, norm1}, {2, norm2}, {3, norm3}, {INFINITY, norm_most}, {0, count}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        expect(
            run_both(ctx, "Tensor.norm", TUPLE(ctx, TENSOR(x), fxs_float(orders[i].p), I(-1)), NONE)
                .u.tensor,
            x, last, false, orders[i].fold, 1e-6);
        expect(run_both(ctx, "torch._C._linalg.linalg_vector_norm",
                        TUPLE(ctx, TENSOR(x), fxs_float(orders[i].p)), NONE)
                   .u.tensor,
               x, both, false, orders[i].fold, 1e-6);
    }
    expect(run_both(ctx, "torch.functional.norm", TUPLE(ctx, TENSOR(x)),
                    KEYWORDS(ctx, {"p", make_str(ctx, "fro")}, {"dim", NONE},
                             {"keepdim", fxs_bool(false)}, {"out", NONE}, {"dtype", NONE}))
               .u.tensor,
           x, both, false, norm2, 1e-6);
    expect(run_both(ctx, "torch._C._linalg.linalg_norm", TUPLE(ctx, TENSOR(x)), NONE).u.tensor, x,
           both, false, norm2, 1e-6);
    refuses(ctx, "Tensor.norm", TUPLE(ctx, TENSOR(x), make_str(ctx, "max")), NONE,
            "norm: the norm 'max' is not supported");
    fxs_tensor_unref(x);
}

static void extremes_with_indices(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_INT32, SIZES(3, 8), 1);
    fxs_fill_integers(ctx, x, 4, 0, 3); /* many ties: the first wins */
    bool last[] = {false, true};
    fxs_value most = run_both(ctx, "torch.max", TUPLE(ctx, TENSOR(x), I(1)), NONE),
              least = run_both(ctx, "Tensor.min", TUPLE(ctx, TENSOR(x)),
                               KEYWORDS(ctx, {"dim", I(1)}, {"keepdim", fxs_bool(true)}));
    assert_string_equal(fxs_value_type_name(&most), "torch.return_types.max");
    expect(fxs_tensor_ref(tensor_at(&most, 0)), x, last, false, amax, 0);
    expect(fxs_tensor_ref(tensor_at(&most, 1)), x, last, false, argmax, 0);
    expect(fxs_tensor_ref(tensor_at(&least, 0)), x, last, true, amin, 0);
    expect(fxs_tensor_ref(tensor_at(&least, 1)), x, last, true, argmin, 0);
    fxs_tensor *two = run_both(ctx, "torch.max", TUPLE(ctx, TENSOR(x), TENSOR(x)), NONE)
                          .u.tensor; /* the other overload */
    assert_shape(two, SIZES(3, 8));
    fxs_tensor *nan = tensor_of_values(ctx, FXS_FLOAT32, SIZES(4), (double[]){1, NAN, 3, NAN}),
               *at = run_op(ctx, "torch.argmin", TUPLE(ctx, TENSOR(nan)), NONE),
               *top = run_op(ctx, "torch.amax", TUPLE(ctx, TENSOR(nan)), NONE);
    assert_near(nth(at, 0), 1, 0);
    assert_true(isnan(nth(top, 0)));
    fxs_value_unref(&most), fxs_value_unref(&least);
    fxs_tensor_unref(x), fxs_tensor_unref(two), fxs_tensor_unref(nan), fxs_tensor_unref(at),
        fxs_tensor_unref(top);
}

static void integers_add_up_in_64_bits(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_UINT8, SIZES(3), (double[]){200, 200, 200}),
               *b = tensor_of_values(ctx, FXS_BOOL, SIZES(3), (double[]){1, 1, 0});
    fxs_tensor *s = run_op(ctx, "torch.sum", TUPLE(ctx, TENSOR(x)), NONE),
               *t = run_op(ctx, "torch.sum", TUPLE(ctx, TENSOR(b)), NONE),
               *p = run_op(ctx, "torch.prod", TUPLE(ctx, TENSOR(x)), NONE);
    fxs_tensor *f = run_op(ctx, "torch.sum", TUPLE(ctx, TENSOR(x)),
                           KEYWORDS(ctx, {"dtype", {.tag = FXS_V_DTYPE, .u.dtype = FXS_UINT8}}));
    fxs_tensor *y = run_op(ctx, "torch.any", TUPLE(ctx, TENSOR(x)), NONE),
               *n = run_op(ctx, "torch.count_nonzero", TUPLE(ctx, TENSOR(b)), NONE);
    assert_near(nth(s, 0), 600, 0);
    assert_near(nth(t, 0), 2, 0);
    assert_near(nth(p, 0), 8000000, 0);
    assert_near(nth(f, 0), 600 - 512, 0);
    assert_int_equal(y->dtype, FXS_UINT8); /* as ever for uint8 */
    assert_near(nth(n, 0), 2, 0);
    fxs_tensor_unref(x), fxs_tensor_unref(b), fxs_tensor_unref(s), fxs_tensor_unref(t),
        fxs_tensor_unref(p), fxs_tensor_unref(f), fxs_tensor_unref(y), fxs_tensor_unref(n);
}

static void folds_over_nothing(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(0, 3), 1);
    static const struct {
        const char *op;
        double value;
    } cases[] = {{"torch.sum", 0},
                 {"torch.prod", 1},
                 {"torch.mean", NAN},
                 {"torch.any", 0},
                 {"torch.all", 1}};
    for (int i = 0; i < 5; i++) {
        fxs_tensor *y = run_both(ctx, cases[i].op, TUPLE(ctx, TENSOR(x), I(0)), NONE).u.tensor,
                   *z = run_both(ctx, cases[i].op, TUPLE(ctx, TENSOR(x), I(1)), NONE).u.tensor;
        assert_shape(y, SIZES(3));
        assert_near(nth(y, 2), cases[i].value, 0);
        assert_shape(z, SIZES(0));
        fxs_tensor_unref(y), fxs_tensor_unref(z);
    }
    refuses(ctx, "torch.amax", TUPLE(ctx, TENSOR(x), I(0)), NONE,
            "amax: expected reduction dim 0 to have non-zero size");
    refuses(ctx, "torch.max", TUPLE(ctx, TENSOR(x)), NONE,
            "max: expected reduction dim to be specified for input.numel() == 0");
    refuses(ctx, "torch.argmax", TUPLE(ctx, TENSOR(x)), NONE,
            "argmax: expected reduction dim to be specified for input.numel() == 0");
    fxs_tensor_unref(x);
}

static void refused_arguments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *n = random_tensor(ctx, FXS_INT64, SIZES(2, 3), 1),
               *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1);
    refuses(ctx, "torch.mean", TUPLE(ctx, TENSOR(n)), NONE,
            "mean: could not infer output dtype: input dtype must be either a floating point or "
            "complex dtype, got "
            "torch.int64");
    refuses(ctx, "torch.sum", TUPLE(ctx, TENSOR(x), LIST(ctx, I(0), I(-2))), NONE,
            "sum: dim 0 appears multiple times in the list of dims");
    refuses(ctx, "torch.sum", TUPLE(ctx, TENSOR(x), I(2)), NONE,
            "sum: dimension 2 is out of range: it must be in -2 to 1");
    refuses(ctx, "torch.var", TUPLE(ctx, TENSOR(n)), NONE,
            "var: only floating point and complex dtypes are supported, not torch.int64");
    fxs_tensor *y =
        run_op(ctx, "Tensor.sum", TUPLE(ctx, TENSOR(x)),
               KEYWORDS(ctx, {"axis", I(1)}, {"keepdims", fxs_bool(true)})); /* numpy's names */
    assert_shape(y, SIZES(2, 1));
    fxs_tensor_unref(n), fxs_tensor_unref(x), fxs_tensor_unref(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_of_dimensions),
        cmocka_unit_test(stretched_and_long_inputs),
        cmocka_unit_test(threads_do_not_change_results),
        cmocka_unit_test(forms_of_var),
        cmocka_unit_test(norms),
        cmocka_unit_test(extremes_with_indices),
        cmocka_unit_test(integers_add_up_in_64_bits),
        cmocka_unit_test(folds_over_nothing),
        cmocka_unit_test(refused_arguments),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
