/* gemm.c: see gemm.h. What OpenBLAS does is split over the pool here. Called by linear, matmul,
 * convolution, attention and recurrent kernels. */
#include "kernels/gemm.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/pool.h"
#include "blas_library.h"
#include "kernels/blas.h"
#include "kernels/panels.h"

/* Below this many multiplications a second thread costs more than it saves. */
enum { SERIAL_BELOW = 1 << 16 };

fxs_gemm fxs_gemm_dense(fxs_dtype dtype, int64_t m, int64_t n, int64_t k, const void *a,
                        const void *b, void *c) {
    return (fxs_gemm){.dtype = dtype,
                      .m = m,
                      .n = n,
                      .k = k,
                      .a = a,
                      .b = b,
                      .c = c,
                      .a_row = k,
                      .a_col = 1,
                      .b_row = n,
                      .b_col = 1,
                      .c_row = n,
                      .c_col = 1};
}

/* Leading dimension for BLAS when `inner` is the unit stride; 0 when the matrix does not have that
 * form. */
static int64_t leading(int64_t outer_size, int64_t inner_size, int64_t outer, int64_t inner) {
    int64_t least = inner_size > 1 ? inner_size : 1;
    if (inner != 1 && inner_size > 1)
        return 0;
    if (outer_size <= 1)
        return least;
    return outer >= least ? outer : 0;
}

bool fxs_gemm_takes(int64_t rows, int64_t cols, int64_t row, int64_t col) {
    return leading(rows, cols, row, col) || leading(cols, rows, col, row);
}

/* ---- plain loops
 * ------------------------------------------------------------------------------------------ */

#define PLAIN(name, type, sum)                                                                     \
    static void name(const fxs_gemm *g) {                                                          \
        const type *a = g->a, *b = g->b;                                                           \
        type *c = g->c;                                                                            \
        for (int64_t i = 0; i < g->m; i++)                                                         \
            for (int64_t j = 0; j < g->n; j++) {                                                   \
                sum s = g->accumulate ? (sum)c[i * g->c_row + j * g->c_col] : 0;                   \
                for (int64_t k = 0; k < g->k; k++)                                                 \
                    s +=                                                                           \
                        (sum)a[i * g->a_row + k * g->a_col] * (sum)b[k * g->b_row + j * g->b_col]; \
                c[i * g->c_row + j * g->c_col] = (type)s;                                          \
            }                                                                                      \
    }
/* Integers wrap as torch's do: sums are unsigned, so that overflow is defined. */
PLAIN(plain_float, float, float)
PLAIN(plain_double, double, double)
PLAIN(plain_int64, int64_t, uint64_t)
PLAIN(plain_int32, int32_t, uint64_t)
PLAIN(plain_int16, int16_t, uint64_t)
PLAIN(plain_int8, int8_t, uint64_t)
PLAIN(plain_uint8, uint8_t, uint64_t)

static void plain(const fxs_gemm *g) {
    static void (*const by_dtype[FXS_DTYPE_COUNT])(const fxs_gemm *) = {
        [FXS_FLOAT32] = plain_float, [FXS_FLOAT64] = plain_double, [FXS_INT64] = plain_int64,
        [FXS_INT32] = plain_int32,   [FXS_INT16] = plain_int16,    [FXS_INT8] = plain_int8,
        [FXS_UINT8] = plain_uint8,
    };
    by_dtype[g->dtype](g);
}

/* ---- BLAS
 * -------------------------------------------------------------------------------------------------
 */

/* One matrix as BLAS names it. */
typedef struct side {
    CBLAS_TRANSPOSE trans;
    blasint ld;
} side;

static bool side_of(int64_t rows, int64_t cols, int64_t row, int64_t col, side *out) {
    int64_t ld = leading(rows, cols, row, col);
    out->trans = CblasNoTrans;
    if (!ld) {
        ld = leading(cols, rows, col, row);
        out->trans = CblasTrans;
    }
    out->ld = (blasint)ld;
    return ld > 0 && ld <= INT32_MAX;
}

/* y = M x: a product with one column is four times as fast as gemv. rows and cols are M's. */
static void gemv(const fxs_gemm *g, side m, int64_t rows, int64_t cols, const void *matrix,
                 const void *x, int64_t dx, int64_t dy) {
    blasint r = (blasint)(m.trans == CblasNoTrans ? rows : cols),
            c = (blasint)(m.trans == CblasNoTrans ? cols : rows);
    double beta = g->accumulate ? 1 : 0;
    if (g->dtype == FXS_FLOAT32)
        cblas_sgemv(CblasRowMajor, m.trans, r, c, 1, matrix, m.ld, x, (blasint)dx, (float)beta,
                    g->c, (blasint)dy);
    else
        cblas_dgemv(CblasRowMajor, m.trans, r, c, 1, matrix, m.ld, x, (blasint)dx, beta, g->c,
                    (blasint)dy);
}

static bool has_blas(fxs_dtype d) { return d == FXS_FLOAT32 || d == FXS_FLOAT64; }

static bool fits_blas(const fxs_gemm *g) {
    return has_blas(g->dtype) && g->m <= INT32_MAX && g->n <= INT32_MAX && g->k <= INT32_MAX &&
           g->k > 0;
}

static bool vector_stride(int64_t d) { return d > 0 && d <= INT32_MAX; }

/* OpenBLAS maps work space at its first call and tries for ever when it gets none; where memory is
 * limited (ulimit -v) the plain loops do. Asked once; another thread that asks at the same time
 * gets the same answer. */
static bool blas_has_room(void) {
    enum { UNKNOWN, YES, NO };
    static atomic_int room = UNKNOWN;
    int r = atomic_load(&room);
    if (r == UNKNOWN) {
        size_t bytes = (size_t)1 << 29;
        void *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        r = probe == MAP_FAILED ? NO : YES;
        if (r == YES)
            munmap(probe, bytes);
        atomic_store(&room, r);
    }
    return r == YES;
}

fxs_status fxs_gemm_start(fxs_ctx *ctx, fxs_dtype dtype) {
    bool own = dtype == FXS_FLOAT32 && fxs_panels_fast();
    return has_blas(dtype) && !own && blas_has_room() ? fxs_blas_need(ctx) : FXS_OK;
}

static bool with_blas(const fxs_gemm *g) {
    side a, b;
    if (!fits_blas(g) || !blas_has_room() || !side_of(g->m, g->k, g->a_row, g->a_col, &a) ||
        !side_of(g->k, g->n, g->b_row, g->b_col, &b))
        return false;
    int64_t c_ld = leading(g->m, g->n, g->c_row, g->c_col);
    if (g->n == 1 && vector_stride(g->b_row) && vector_stride(g->c_row)) {
        gemv(g, a, g->m, g->k, g->a, g->b, g->b_row, g->c_row);
        return true;
    }
    if (g->m == 1 && vector_stride(g->a_col) && vector_stride(g->c_col)) {
        side flipped = {b.trans == CblasNoTrans ? CblasTrans : CblasNoTrans, b.ld};
        gemv(g, flipped, g->n, g->k, g->b, g->a, g->a_col, g->c_col);
        return true;
    }
    if (!c_ld || c_ld > INT32_MAX)
        return false;
    blasint m = (blasint)g->m, n = (blasint)g->n, k = (blasint)g->k, ldc = (blasint)c_ld;
    double beta = g->accumulate ? 1 : 0;
    if (g->dtype == FXS_FLOAT32)
        cblas_sgemm(CblasRowMajor, a.trans, b.trans, m, n, k, 1, g->a, a.ld, g->b, b.ld,
                    (float)beta, g->c, ldc);
    else
        cblas_dgemm(CblasRowMajor, a.trans, b.trans, m, n, k, 1, g->a, a.ld, g->b, b.ld, beta, g->c,
                    ldc);
    return true;
}

fxs_gemm fxs_gemm_flip(const fxs_gemm *g) {
    fxs_gemm f = *g;
    f.m = g->n, f.n = g->m;
    f.a = g->b, f.a_row = g->b_col, f.a_col = g->b_row;
    f.b = g->a, f.b_row = g->a_col, f.b_col = g->a_row;
    f.c_row = g->c_col, f.c_col = g->c_row;
    memcpy(f.a_batch, g->b_batch, sizeof f.a_batch);
    memcpy(f.b_batch, g->a_batch, sizeof f.b_batch);
    return f;
}

void fxs_gemm_one(const fxs_gemm *g) {
    if (g->m == 0 || g->n == 0)
        return;
    if (fxs_gemm_float_takes(g)) {
        fxs_gemm_float_one(g);
        return;
    }
    if (with_blas(g))
        return;
    fxs_gemm f = fxs_gemm_flip(g);
    if (!with_blas(&f))
        plain(g);
}

/* ---- over threads
 * ----------------------------------------------------------------------------------------- */

typedef struct split {
    const fxs_gemm *g;
    int64_t parts; /* of each product */
    bool by_columns;
} split;

static const void *move(const void *p, fxs_dtype d, int64_t n) {
    return (const char *)p + n * (int64_t)fxs_dtype_size(d);
}

void fxs_gemm_select(fxs_gemm *g, int64_t index) {
    int64_t a = 0, b = 0, c = 0;
    for (int i = g->batch_ndim - 1; i >= 0; i--) {
        int64_t at = index % g->batch[i];
        index /= g->batch[i];
        a += at * g->a_batch[i];
        b += at * g->b_batch[i];
        c += at * g->c_batch[i];
    }
    g->a = move(g->a, g->dtype, a);
    g->b = move(g->b, g->dtype, b);
    g->c = (void *)move(g->c, g->dtype, c);
}

/* Rows or columns of one part; multiples of 16 keep BLAS's kernels whole. */
static void select_part(fxs_gemm *g, const split *s, int64_t part) {
    int64_t whole = s->by_columns ? g->n : g->m;
    int64_t step = ((whole + s->parts - 1) / s->parts + 15) / 16 * 16;
    int64_t from = part * step < whole ? part * step : whole;
    int64_t count = whole - from < step ? whole - from : step;
    if (s->by_columns) {
        g->b = move(g->b, g->dtype, from * g->b_col);
        g->n = count;
    } else {
        g->a = move(g->a, g->dtype, from * g->a_row);
        g->m = count;
    }
    g->c = (void *)move(g->c, g->dtype, from * (s->by_columns ? g->c_col : g->c_row));
}

static void run_jobs(void *user, int64_t begin, int64_t end, int thread) {
    const split *s = user;
    (void)thread;
    for (int64_t j = begin; j < end; j++) {
        fxs_gemm g = *s->g;
        fxs_gemm_select(&g, j / s->parts);
        if (s->parts > 1)
            select_part(&g, s, j % s->parts);
        fxs_gemm_one(&g);
    }
}

fxs_status fxs_gemm_run(fxs_ctx *ctx, const fxs_gemm *g) {
    split s = {.g = g, .parts = 1, .by_columns = g->n >= 2 * g->m};
    int64_t batch = 1, threads = fxs_threads(ctx);
    for (int i = 0; i < g->batch_ndim; i++)
        batch *= g->batch[i];
    FXS_TRY(fxs_gemm_start(ctx, g->dtype));
    double work = (double)batch * (double)g->m * (double)g->n * (double)g->k;
    if (fxs_gemm_float_takes(g)) {
        if (work > 0)
            fxs_gemm_float_run(ctx, g, batch, work > SERIAL_BELOW);
        return FXS_OK;
    }
    if (threads > 1 && work > SERIAL_BELOW && batch < 4 * threads)
        s.parts = batch >= threads ? 2 : threads;
    fxs_parallel(ctx, batch * s.parts, work > SERIAL_BELOW ? 1 : INT64_MAX, run_jobs, &s);
    return FXS_OK;
}
