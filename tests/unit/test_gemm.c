/* test_gemm.c: products of matrices against a plain sum in double: every micro kernel that this
 * processor can do, every layout, edges of tiles, batches, accumulation, one row or column,
 * threads; that OpenBLAS starts none of its own.
 */
#include "testing.h"

#include <sched.h>

#include "blas_library.h"
#include "folder.h"
#include "kernels/gemm.h"
#include "kernels/micro.h"
#include "kernels/panels.h"

/* ---- micro kernels
 * ------------------------------------------------------------------------------------------ */

static void check_micro(const fxs_micro *m, int rows, bool whole, int64_t depth, bool add) {
    static float a[FXS_MICRO_ROWS * FXS_MICRO_STEP], panel[FXS_MICRO_DEPTH * FXS_MICRO_TILE],
        c[FXS_MICRO_ROWS * FXS_MICRO_TILE], want[FXS_MICRO_ROWS * FXS_MICRO_TILE];
    int width = whole ? m->tile : m->tile / 2;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (float)((int)(i * 7 % 23) - 11) / 8;
    for (size_t i = 0; i < sizeof panel / sizeof *panel; i++)
        panel[i] = (float)((int)(i * 5 % 19) - 9) / 4;
    for (int i = 0; i < FXS_MICRO_ROWS * FXS_MICRO_TILE; i++)
        want[i] = c[i] = (float)i;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++) {
            float *to = &want[r * FXS_MICRO_TILE + i];
            *to = add ? *to : 0;
            for (int64_t k = 0; k < depth; k++) /* exact: small multiples of a power of two */
                *to += a[r * FXS_MICRO_STEP + k] * panel[k * m->tile + i];
        }
    m->run[rows - 1][whole](a, panel, depth, c, FXS_MICRO_TILE, add);
    assert_memory_equal(c, want, sizeof c); /* what is not of the tile stays */
}

static void check_dots(const fxs_micro *m, int rows, int64_t depth) {
    static float a[FXS_MICRO_ROWS * FXS_MICRO_STEP], x[FXS_MICRO_DEPTH];
    float have[FXS_MICRO_ROWS], want[FXS_MICRO_ROWS];
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (float)((int)(i * 7 % 23) - 11) / 8;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)((int)(i * 5 % 19) - 9) / 4;
    for (int r = 0; r < FXS_MICRO_ROWS; r++) {
        have[r] = -1;
        want[r] = r < rows ? 0 : -1;
        for (int64_t k = 0; r < rows && k < depth; k++)
            want[r] += a[r * FXS_MICRO_STEP + k] * x[k];
    }
    m->dots(a, x, rows, depth, have);
    assert_memory_equal(have, want, sizeof have); /* exact, in any order */
}

static void micro_kernels(void **state) {
    int seen = 0;
    (void)state;
    for (const fxs_micro *m = fxs_micros; m->run; m++) {
        if (!m->here())
            continue;
        assert_true(m->rows <= FXS_MICRO_ROWS && m->tile <= FXS_MICRO_TILE);
        for (int rows = 1; rows <= m->rows; rows++)
            for (int k = 0; k < 4; k++)
                check_micro(m, rows, k & 1, k & 2 ? 1 : FXS_MICRO_DEPTH, k >= 1 && k <= 2);
        for (int rows = 1; rows <= m->rows; rows++)
            for (int64_t depth = 1; depth <= FXS_MICRO_DEPTH; depth += 15)
                check_dots(m, rows, depth);
        seen++;
    }
    assert_true(seen >= 1);
    assert_true(fxs_micro_here()->here());
}

/* ---- products
 * -----------------------------------------------------------------------------------------------
 */

typedef struct form {
    int64_t m, n, k;
    bool a_turned, b_turned, c_turned, accumulate;
    int gap; /* elements between neighbours of a row, where the sides have no unit stride */
} form;

static float value(int64_t i) { return (float)((i * 2654435761u >> 7) % 1000) / 1000 - 0.5f; }

static float *numbers(int64_t n, int64_t from) {
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = value(from + i);
    return x;
}

static void lay(bool across, int64_t rows, int64_t cols, int gap, int64_t *row, int64_t *col) {
    *row = across ? gap : cols * gap;
    *col = across ? rows * gap : gap;
}

static void check_product(fxs_ctx *ctx, const form *f) {
    enum { BATCH = 3 };
    int64_t as = f->m * f->k * f->gap, bs = f->k * f->n * f->gap, cs = f->m * f->n * f->gap;
    float *a = numbers(BATCH * as, 1), *b = numbers(BATCH * bs, 77), *c = numbers(BATCH * cs, 5);
    fxs_gemm g = {.dtype = FXS_FLOAT32,
                  .m = f->m,
                  .n = f->n,
                  .k = f->k,
                  .a = a,
                  .b = b,
                  .c = c,
                  .accumulate = f->accumulate,
                  .batch_ndim = 1,
                  .batch = {BATCH},
                  .a_batch = {as},
                  .b_batch = {bs},
                  .c_batch = {cs}};
    lay(f->a_turned, f->m, f->k, f->gap, &g.a_row, &g.a_col);
    lay(f->b_turned, f->k, f->n, f->gap, &g.b_row, &g.b_col);
    lay(f->c_turned, f->m, f->n, f->gap, &g.c_row, &g.c_col);
    assert_int_equal(fxs_gemm_run(ctx, &g), FXS_OK);
    float *before = numbers(BATCH * cs, 5);
    for (int64_t t = 0; t < BATCH; t++)
        for (int64_t i = 0; i < f->m; i++)
            for (int64_t j = 0; j < f->n; j++) {
                int64_t at = t * cs + i * g.c_row + j * g.c_col;
                double want = f->accumulate ? (double)before[at] : 0;
                for (int64_t k = 0; k < f->k; k++)
                    want += (double)a[t * as + i * g.a_row + k * g.a_col] *
                            (double)b[t * bs + k * g.b_row + j * g.b_col];
                if (fabs(want - (double)c[at]) > 2e-6 * sqrt((double)f->k))
                    fail_msg("%lldx%lldx%lld at %lld,%lld: %g, not %g", (long long)f->m,
                             (long long)f->n, (long long)f->k, (long long)i, (long long)j,
                             (double)c[at], want);
            }
    free(before);
    free(a);
    free(b);
    free(c);
}

static void all_layouts(void **state) {
    static const int64_t sizes[][3] = {{1, 1, 1},   {1, 5, 9},    {7, 1, 33},    {3, 4, 5},
                                       {12, 32, 8}, {13, 33, 17}, {25, 49, 300}, {14, 196, 260},
                                       {5, 50, 7},  {40, 70, 64}, {1, 300, 40},  {300, 1, 40},
                                       {2, 600, 10}};
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        assert_ok(ctx, fxs_ctx_set_threads(ctx, threads));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int bits = 0; bits < 32; bits++)
                check_product(ctx, &(form){sizes[i][0], sizes[i][1], sizes[i][2], bits & 1,
                                           bits & 2, bits & 4, bits & 8, bits & 16 ? 2 : 1});
    }
    fxs_ctx_free(ctx);
}

static void large_products_over_threads(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        assert_ok(ctx, fxs_ctx_set_threads(ctx, threads));
        check_product(ctx, &(form){100, 300, 520, .gap = 1});
        check_product(ctx, &(form){200, 50, 130, .b_turned = true, .gap = 1});
    }
    fxs_ctx_free(ctx);
}

/* However a product is cut, each place is in one piece, and what a piece packs has room. */
static void cuts_cover_all_once(void **state) {
    static const int64_t rows[] = {1, 11, 12, 13, 24, 32, 100, 576, 1280};
    enum { MOST = 700, ROOM = 8 * FXS_MICRO_TILE };
    (void)state;
    for (int threads = 1; threads <= 9; threads += threads < 4 ? 1 : 5)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int64_t n = 1; n < MOST; n += n < 120 ? 1 : 37)
                for (int64_t others = 0; others < 4; others += 3) {
                    fxs_panels p = {.m = rows[i], .n = n, .k = 10};
                    fxs_cut c = fxs_panels_cut(&p, threads, others);
                    int64_t last = n - (c.across - 1) * c.columns;
                    assert_true(c.across > 0 && c.columns > 0 && last > 0 && last <= ROOM);
                    assert_true(c.across == 1 || c.columns <= ROOM);
                    assert_true(c.down > 0 && c.rows * c.down >= p.m &&
                                c.rows * (c.down - 1) < p.m);
                }
}

/* Shares of columns and rows, single columns behind the last tile with them. */
static void all_widths_over_threads(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    for (int threads = 2; threads <= 5; threads += 3) {
        assert_ok(ctx, fxs_ctx_set_threads(ctx, threads));
        for (int64_t n = 1; n < 270; n += n < 70 ? 1 : 13)
            for (int64_t m = 5; m < 80; m += 27)
                check_product(ctx, &(form){m, n, 270, .gap = 1});
    }
    fxs_ctx_free(ctx);
}

/* An empty sum is zero, or what was there. */
static void nothing_to_sum(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    float c[4] = {1, 2, 3, 4}, x = 0;
    (void)state;
    fxs_gemm g = fxs_gemm_dense(FXS_FLOAT32, 2, 2, 0, &x, &x, c);
    g.accumulate = true;
    assert_int_equal(fxs_gemm_run(ctx, &g), FXS_OK);
    assert_memory_equal(c, ((float[]){1, 2, 3, 4}), sizeof c);
    g.accumulate = false;
    assert_int_equal(fxs_gemm_run(ctx, &g), FXS_OK);
    assert_memory_equal(c, ((float[]){0, 0, 0, 0}), sizeof c);
    fxs_ctx_free(ctx);
}

/* OpenBLAS is opened here, by the first product of float64. */
static void openblas_starts_no_thread(void **state) {
    (void)state;
    fxs_ctx *ctx = fxs_ctx_new();
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
    double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {0};
    cpu_set_t before, after;
    int tasks = folder_entries("/proc/self/task");
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_false(fxs_library_is_open(&fxs_blas_library));
    fxs_gemm g = fxs_gemm_dense(FXS_FLOAT64, 2, 2, 2, a, b, c);
    assert_ok(ctx, fxs_gemm_run(ctx, &g));
    assert_true(fxs_library_is_open(&fxs_blas_library));
    assert_true(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
    assert_int_equal(folder_entries("/proc/self/task"), tasks);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    fxs_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openblas_starts_no_thread), /* before any other opens it */
        cmocka_unit_test(micro_kernels),
        cmocka_unit_test(all_layouts),
        cmocka_unit_test(large_products_over_threads),
        cmocka_unit_test(cuts_cover_all_once),
        cmocka_unit_test(all_widths_over_threads),
        cmocka_unit_test(nothing_to_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
