/* test_einsum.c: Einstein sums against a loop over all labels; strides as torch gives them;
 * refusals. */
#include "checking.h"

#include <ctype.h>

enum { LETTERS = 26 };

/* Walks all values of all letters and adds up products; result labels given, sizes by letter. */
static double reference(const char *equation, fxs_tensor *const *ops, const int64_t *size,
                        const int64_t *fixed) {
    int64_t at[LETTERS], total = 1;
    bool used[LETTERS] = {false};
    double sum = 0;
    for (const char *s = equation; *s && *s != '-'; s++)
        if (isalpha((unsigned char)*s))
            used[*s - 'a'] = true;
    for (int l = 0; l < LETTERS; l++)
        total *= used[l] && fixed[l] < 0 ? size[l] : 1;
    for (int64_t k = 0; k < total; k++) {
        int64_t rest = k, index[FXS_MAX_DIM];
        for (int l = 0; l < LETTERS; l++) {
            at[l] = fixed[l] >= 0 ? fixed[l] : 0;
            if (used[l] && fixed[l] < 0)
                at[l] = rest % size[l], rest /= size[l];
        }
        double product = 1;
        int op = 0, n = 0;
        for (const char *s = equation;; s++) {
            if (islower((unsigned char)*s)) {
                index[n] = ops[op]->sizes[n] == 1 ? 0 : at[*s - 'a'];
                n++;
            } else {
                product *= element(ops[op++], index);
                n = 0;
                if (*s != ',')
                    break;
            }
        }
        sum += product;
    }
    return sum;
}

static const char *const equations[] = {
    "ij,jk->ik",
    "bij,bjk->bik",
    "bhqd,bhkd->bhqk",
    "bhqk,bhkd->bqhd",
    "ij->ij",
    "ii->i",
    "ii->",
    "ij->j",
    "ij->",
    "i,j->ij",
    "ij,ij->ij",
    "ij,ij->",
    "i,i->",
    "ij,k->ki",
    "bnd,de->bne",
    "bhwc,hkc->bhwk",
    "abc,abd,bce->ad",
    "ab,b,a->",
    "ij,jk,kl->li",
    "iij,j->i",
    "nkctv,kvw->nctw",
};

static void check(fxs_ctx *ctx, const char *equation, fxs_dtype d, bool turn) {
    static const int64_t size[LETTERS] = {2, 3, 4, 2, 5, 3, 4, 2, 3, 4, 2, 3, 2,
                                          3, 4, 2, 5, 2, 3, 4, 3, 2, 3, 4, 5, 2};
    fxs_tensor *ops[4];
    fxs_value items[5];
    int n = 0, ndim = 0;
    int64_t sizes[FXS_MAX_DIM];
    for (const char *s = equation;; s++) {
        if (islower((unsigned char)*s)) {
            sizes[ndim++] = size[*s - 'a'];
            continue;
        }
        ops[n] = random_tensor(ctx, d, ndim, sizes, (uint64_t)n);
        if (turn && ndim == 2)
            ops[n] = laid_out(ctx, ops[n], (int[]){1, 0});
        items[1 + n] = TENSOR(ops[n]);
        n++, ndim = 0;
        if (*s != ',')
            break;
    }
    items[0] = make_str(ctx, equation);
    fxs_value y = run_both(ctx, "torch.functional.einsum",
                           make_list(ctx, FXS_V_TUPLE, (size_t)n + 1, items), fxs_none());
    const char *result = strchr(equation, '>') + 1;
    assert_int_equal(y.u.tensor->ndim, (int)strlen(result));
    for (int64_t i = 0; i < fxs_tensor_numel(y.u.tensor); i++) {
        int64_t fixed[LETTERS], rest = i;
        for (int l = 0; l < LETTERS; l++)
            fixed[l] = -1;
        for (int k = y.u.tensor->ndim - 1; k >= 0; k--) {
            assert_int_equal(y.u.tensor->sizes[k], size[result[k] - 'a']);
            fixed[result[k] - 'a'] = rest % y.u.tensor->sizes[k];
            rest /= y.u.tensor->sizes[k];
        }
        assert_near(nth(y.u.tensor, i), reference(equation, ops, size, fixed), tolerance_of(d) * 4);
    }
    fxs_value_unref(&y);
    for (int i = 0; i < n; i++)
        fxs_tensor_unref(ops[i]);
}

static void sums_agree_with_loops(void **state) {
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_INT64};
    for (size_t e = 0; e < sizeof equations / sizeof *equations; e++)
        for (int t = 0; t < 6; t++)
            check(*state, equations[e], types[t % 3], t > 2);
}

static fxs_tensor *einsum(fxs_ctx *ctx, const char *equation, fxs_tensor *a, fxs_tensor *b) {
    fxs_value y = run_both(ctx, "torch.functional.einsum",
                           b ? TUPLE(ctx, make_str(ctx, equation), TENSOR(a), TENSOR(b))
                             : TUPLE(ctx, make_str(ctx, equation), LIST(ctx, TENSOR(a))),
                           fxs_none());
    return y.u.tensor;
}

static void ellipses_and_broadcasting(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 4, 5), 2);
    fxs_tensor *y = einsum(ctx, "...ij,...jk->...ik", a, b);
    assert_shape(y, 3, (int64_t[]){2, 3, 5});
    for (int64_t i = 0; i < 30; i++) {
        double want = 0;
        for (int64_t k = 0; k < 4; k++)
            want += nth(a, i / 5 * 4 + k) * nth(b, k * 5 + i % 5);
        assert_near(nth(y, i), want, 1e-5);
    }
    fxs_tensor_unref(y);
    y = einsum(ctx, "b...,b...", a, a); /* the result is implied: ... alone */
    assert_shape(y, 2, (int64_t[]){3, 4});
    assert_near(nth(y, 7), nth(a, 7) * nth(a, 7) + nth(a, 19) * nth(a, 19), 1e-5);
    fxs_tensor_unref(y);
    fxs_tensor_unref(a);
    fxs_tensor_unref(b);
}

static void strides_are_torchs(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 4), 2);
    fxs_tensor *y = einsum(ctx, "ij->ji", a, NULL); /* a view */
    assert_strides(y, 2, (int64_t[]){1, 3});
    assert_ptr_equal(fxs_tensor_data(y), fxs_tensor_data(a));
    fxs_tensor_unref(y);
    y = einsum(ctx, "ij,jk->ki", a, b); /* the product is [i, k], seen the other way */
    assert_strides(y, 2, (int64_t[]){1, 4});
    fxs_tensor_unref(y);
    fxs_tensor_unref(a);
    fxs_tensor_unref(b);
}

static void bad_equations_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *d = random_tensor(ctx, FXS_FLOAT64, SIZES(2, 3), 1);
    static const struct {
        const char *equation, *message;
    } cases[] = {
        {"ij,jk->iz", "einsum: subscript z of the result does not appear in any operand"},
        {"ij,ij->ii", "einsum: subscript i appears more than once in the result"},
        {"ijk,ij", "einsum: the number of subscripts for operand 0 in 'ijk,ij' does not fit its "
                   "shape [2, 3]"},
        {"ij", "einsum: the number of operands (2) is not that of the equation 'ij'"},
        {"ij,ij,ij", "einsum: the number of operands (2) is not that of the equation 'ij,ij,ij'"},
        {"i$,ij",
         "einsum: invalid subscript '$' in 'i$,ij': subscripts must be letters or one '...'"},
        {"ij,ij-ij", "einsum: '->' expected in 'ij,ij-ij'"},
        {"ij,ij->i,j", "einsum: 'ij,ij->i,j' goes on behind the result"},
        {"ij,jk->ik",
         "einsum: operands do not broadcast: a subscript has size 3, but 2 in shape [2, 3]"},
        {"ii,ij",
         "einsum: a subscript that is repeated for one operand has different sizes in [2, 3]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(ctx, "torch.functional.einsum",
                TUPLE(ctx, make_str(ctx, cases[i].equation), TENSOR(a), TENSOR(a)), fxs_none(),
                cases[i].message);
    refuses(
        ctx, "torch.functional.einsum", TUPLE(ctx, make_str(ctx, "ij,ij"), TENSOR(a), TENSOR(d)),
        fxs_none(),
        "einsum: bmm: expected both arguments to have the same dtype, but got float32 and float64");
    fxs_tensor_unref(a);
    fxs_tensor_unref(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_with_loops),
        cmocka_unit_test(ellipses_and_broadcasting),
        cmocka_unit_test(strides_are_torchs),
        cmocka_unit_test(bad_equations_are_refused),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
