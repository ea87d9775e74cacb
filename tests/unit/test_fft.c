/* test_fft.c: Fourier transforms, by kissfft where it is there and by the plain recursion in
 * double, against the sums that define them: over lengths (primes too), dimensions, layouts, cuts
 * and paddings. */
#include "checking.h"

#include <math.h>

typedef struct form {
    const char *op;
    bool inverse, real_in, real_out;
} form;

static const form forms[] = {
    {"torch.fft.fft", false, false, false},
    {"torch.fft.ifft", true, false, false},
    {"torch.fft.rfft", false, true, false},
    {"torch.fft.irfft", true, false, true},
};

/* Random numbers, complex ones too. */
static fxs_tensor *random_numbers(fxs_ctx *ctx, fxs_dtype d, const int64_t *sizes, int64_t seed) {
    fxs_tensor *part[2], *t;
    for (int k = 0; k < 2; k++)
        part[k] = random_tensor(ctx, FXS_FLOAT64, 3, sizes, (uint64_t)(2 * seed + k));
    assert_ok(ctx, fxs_tensor_new(ctx, d, 3, sizes, &t));
    for (int64_t i = 0; i < fxs_tensor_numel(t); i++) {
        double z[2] = {nth(part[0], i), nth(part[1], i)};
        char *p = (char *)fxs_tensor_data(t) + i * (int64_t)fxs_dtype_size(d);
        if (fxs_is_complex(d))
            fxs_store_pair(d, p, z);
        else
            fxs_store_double(d, p, z[0]);
    }
    fxs_tensor_unref(part[0]);
    fxs_tensor_unref(part[1]);
    return t;
}

/* A number of t at a place in row-major order; of real types the second part is 0. */
static void pair_at(const fxs_tensor *t, int64_t i, double z[2]) {
    int64_t at = 0;
    for (int k = t->ndim - 1; k >= 0; k--) {
        at += i % t->sizes[k] * t->strides[k];
        i /= t->sizes[k];
    }
    const char *p = (const char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype);
    z[0] = z[1] = 0;
    if (fxs_is_complex(t->dtype))
        fxs_load_pair(t->dtype, p, z);
    else
        z[0] = fxs_load_double(t->dtype, p);
}

/* Element k of a signal of n numbers that stands in `have` of them: cut, or padded by zeros; of
 * half a spectrum the other half is the conjugate. */
static void signal_at(const double *line, int64_t have, int64_t n, int64_t k, bool half,
                      double z[2]) {
    bool mirrored = half && k > n / 2;
    int64_t at = mirrored ? n - k : k;
    z[0] = at < have ? line[2 * at] : 0;
    z[1] = at < have ? line[2 * at + 1] : 0;
    if (half && (at == 0 || 2 * at == n)) /* these two are their own conjugates */
        z[1] = 0;
    z[1] = mirrored ? -z[1] : z[1];
}

static void sum_of(const double *line, int64_t have, int64_t n, int64_t j, const form *f,
                   double z[2]) {
    z[0] = z[1] = 0;
    for (int64_t k = 0; k < n; k++) {
        double x[2], angle = (f->inverse ? 2 : -2) * M_PI * (double)(j * k % n) / (double)n;
        signal_at(line, have, n, k, f->real_out, x);
        z[0] += x[0] * cos(angle) - x[1] * sin(angle);
        z[1] += x[0] * sin(angle) + x[1] * cos(angle);
    }
    if (f->inverse)
        z[0] /= (double)n, z[1] /= (double)n;
}

/* x is [outer, have, inner]; the transform is along the middle. */
static void check_form(fxs_ctx *ctx, const form *f, fxs_dtype d, const int64_t *sizes, int64_t n,
                       const int *perm) {
    fxs_tensor *x = laid_out(ctx, random_numbers(ctx, d, sizes, n + sizes[1]), perm);
    fxs_value y = run_both(ctx, f->op, TUPLE(ctx, TENSOR(x), fxs_int(n), fxs_int(1)), fxs_none());
    int64_t out = f->real_in ? n / 2 + 1 : n, have = sizes[1], inner = sizes[2];
    double *line = malloc((size_t)(2 * have + 1) * sizeof *line), want[2], got[2];
    bool single = d == FXS_FLOAT32 || d == FXS_COMPLEX64;
    assert_shape(y.u.tensor, 3, ((int64_t[]){sizes[0], out, inner}));
    for (int64_t row = 0; row < sizes[0] * inner; row++) {
        int64_t o = row / inner, i = row % inner;
        for (int64_t k = 0; k < have; k++)
            pair_at(x, (o * have + k) * inner + i, line + 2 * k);
        for (int64_t j = 0; j < out; j++) {
            sum_of(line, have, n, j, f, want);
            pair_at(y.u.tensor, (o * out + j) * inner + i, got);
            for (int part = 0; part < 2; part++)
                assert_true(fabs(got[part] - want[part]) <=
                            (single ? 3e-6 : 1e-13) * (f->inverse ? 1 : (double)n) * 4);
        }
    }
    free(line);
    fxs_value_unref(&y);
    fxs_tensor_unref(x);
}

static void transforms_are_their_sums(void **state) {
    fxs_ctx *ctx = *state;
    static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   11, 12,
                                      15, 16, 17, 30, 31, 64, 97, 100, 128, 210};
    static const int perms[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int single = 0; single < 2; single++) {
                bool real = forms[f].real_in;
                fxs_dtype d = real ? (single ? FXS_FLOAT32 : FXS_FLOAT64)
                                   : (single ? FXS_COMPLEX64 : FXS_COMPLEX128);
                int64_t n = lengths[l], own = forms[f].real_out ? n / 2 + 1 : n;
                for (int64_t more = -1; more < 2; more++) /* padded, as it is, cut */
                    if (own + more > 0)
                        check_form(ctx, &forms[f], d, (int64_t[]){2, own + more, 3}, n,
                                   perms[(l + (size_t)more + 1) % 3]);
            }
}

/* Several dimensions are one after the other. */
static void planes_are_lines_of_lines(void **state) {
    fxs_ctx *ctx = *state;
    for (int single = 0; single < 2; single++) {
        fxs_dtype d = single ? FXS_COMPLEX64 : FXS_COMPLEX128;
        fxs_tensor *x = random_numbers(ctx, d, (int64_t[]){2, 5, 12}, 3);
        fxs_value both = run_both(ctx, "torch.fft.fft2", TUPLE(ctx, TENSOR(x)), fxs_none()), a, b;
        a = run_both(ctx, "torch.fft.fft", TUPLE(ctx, TENSOR(x), fxs_none(), fxs_int(1)),
                     fxs_none());
        b = run_both(ctx, "torch.fft.fft", TUPLE(ctx, TENSOR(a.u.tensor), fxs_none(), fxs_int(2)),
                     fxs_none());
        for (int64_t i = 0; i < fxs_tensor_numel(x); i++) {
            double p[2], q[2];
            pair_at(both.u.tensor, i, p);
            pair_at(b.u.tensor, i, q);
            assert_true(fabs(p[0] - q[0]) + fabs(p[1] - q[1]) <= (single ? 1e-4 : 1e-12));
        }
        fxs_value_unref(&both);
        fxs_value_unref(&a);
        fxs_value_unref(&b);
        fxs_tensor_unref(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_are_their_sums),
        cmocka_unit_test(planes_are_lines_of_lines),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
