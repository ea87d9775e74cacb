/* gemm_float.c: float32 products: in panels (panels.c), and for one row or column as sums of
 * scaled rows or as dot products. Called by gemm.c for machines with wide vectors; the plain loops
 * there are the reference. */
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/gemm.h"
#include "kernels/panels.h"

typedef float v8 __attribute__((vector_size(32)));
typedef float v8_loose __attribute__((vector_size(32), aligned(4)));
typedef int v8i __attribute__((vector_size(32)));

/* The right side as it lies in memory: element [k, n] at k * row + n * col. */
typedef struct right {
    const float *b;
    int64_t row, col;
} right;

/* ---- packing
 * ------------------------------------------------------------------------------------------------
 */

static void pack_any(const fxs_panels *p, int64_t n0, int64_t count, int64_t k0, int64_t depth,
                     int64_t tile, float *panel) {
    const right *r = p->user;
    const float *b = r->b + k0 * r->row + n0 * r->col;
    for (int64_t k = 0; k < depth; k++, panel += tile)
        for (int64_t i = 0; i < count; i++)
            panel[i] = b[k * r->row + i * r->col];
}

static void pack_rows(const fxs_panels *p, int64_t n0, int64_t count, int64_t k0, int64_t depth,
                      int64_t tile, float *panel) {
    const right *r = p->user;
    const float *b = r->b + k0 * r->row + n0;
    for (int64_t k = 0; k < depth; k++, panel += tile, b += r->row)
        if (count == tile)
            memcpy(panel, b, (size_t)tile * sizeof *panel);
        else
            memcpy(panel, b, (size_t)count * sizeof *panel);
}

#define LOW(a, b) __builtin_shuffle(a, b, (v8i){0, 8, 1, 9, 4, 12, 5, 13})
#define HIGH(a, b) __builtin_shuffle(a, b, (v8i){2, 10, 3, 11, 6, 14, 7, 15})
#define LOW2(a, b) __builtin_shuffle(a, b, (v8i){0, 1, 8, 9, 4, 5, 12, 13})
#define HIGH2(a, b) __builtin_shuffle(a, b, (v8i){2, 3, 10, 11, 6, 7, 14, 15})
#define LOW4(a, b) __builtin_shuffle(a, b, (v8i){0, 1, 2, 3, 8, 9, 10, 11})
#define HIGH4(a, b) __builtin_shuffle(a, b, (v8i){4, 5, 6, 7, 12, 13, 14, 15})

/* to[k, i] = from[i, k] for 8 by 8 elements */
static inline __attribute__((always_inline)) void turn8(const float *from, int64_t from_row,
                                                        float *to, int64_t to_row) {
    v8 a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = *(const v8_loose *)(from + i * from_row);
    for (int i = 0; i < 8; i += 2)
        b[i] = LOW(a[i], a[i + 1]), b[i + 1] = HIGH(a[i], a[i + 1]);
    for (int i = 0; i < 8; i += 4) {
        a[i] = LOW2(b[i], b[i + 2]), a[i + 1] = HIGH2(b[i], b[i + 2]);
        a[i + 2] = LOW2(b[i + 1], b[i + 3]), a[i + 3] = HIGH2(b[i + 1], b[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        *(v8_loose *)(to + i * to_row) = LOW4(a[i], a[i + 4]);
        *(v8_loose *)(to + (i + 4) * to_row) = HIGH4(a[i], a[i + 4]);
    }
}

/* Columns lie in a row in memory: eight by eight are turned. */
FXS_VECTOR static void pack_columns(const fxs_panels *p, int64_t n0, int64_t count, int64_t k0,
                                    int64_t depth, int64_t tile, float *panel) {
    const right *r = p->user;
    const float *b = r->b + k0 + n0 * r->col;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const float *from = b + i * r->col;
        int64_t k = 0;
        for (; k + 8 <= depth; k += 8)
            turn8(from + k, r->col, panel + k * tile + i, tile);
        for (; k < depth; k++)
            for (int j = 0; j < 8; j++)
                panel[k * tile + i + j] = from[j * r->col + k];
    }
    for (; i < count; i++)
        for (int64_t k = 0; k < depth; k++)
            panel[k * tile + i] = b[i * r->col + k];
}

static fxs_panels panels_of(const fxs_gemm *g, right *r) {
    *r = (right){g->b, g->b_row, g->b_col};
    return (fxs_panels){.m = g->m,
                        .n = g->n,
                        .k = g->k,
                        .a = g->a,
                        .a_row = g->a_row,
                        .a_col = g->a_col,
                        .c = g->c,
                        .c_row = g->c_row,
                        .c_col = g->c_col,
                        .accumulate = g->accumulate,
                        .pack = g->b_col == 1   ? pack_rows
                                : g->b_row == 1 ? pack_columns
                                                : pack_any,
                        .user = r};
}

/* ---- one row
 * ------------------------------------------------------------------------------------------------
 */

typedef float v16 __attribute__((vector_size(64)));
typedef float v16_loose __attribute__((vector_size(64), aligned(4)));

static inline __attribute__((always_inline)) void add_halves(const v16 *v, v8 *sum) {
    v8 half[2];
    memcpy(half, v, sizeof half);
    *sum = half[0] + half[1];
}

typedef float v4 __attribute__((vector_size(16)));
typedef float v4_loose __attribute__((vector_size(16), aligned(4)));

/* Sums of w[r, k] x[k] for four rows; as one vector, since what is stored in parts is not there at
 * once to be read as a whole. */
FXS_VECTOR_WIDE static v4 dots4(int64_t k, const float *w, int64_t row, const float *x) {
    const float *w1 = w + row, *w2 = w1 + row, *w3 = w2 + row;
    v16 p = {0}, q = {0}, r4 = {0}, s4 = {0};
    int64_t i = 0;
    for (; i + 16 <= k; i += 16) {
        v16 v = *(const v16_loose *)(x + i);
        p += v * *(const v16_loose *)(w + i);
        q += v * *(const v16_loose *)(w1 + i);
        r4 += v * *(const v16_loose *)(w2 + i);
        s4 += v * *(const v16_loose *)(w3 + i);
    }
    v8 a, b, c, d;
    add_halves(&p, &a), add_halves(&q, &b), add_halves(&r4, &c), add_halves(&s4, &d);
    /* all four rows' lanes are added at once */
    v8 s = LOW(a, b) + HIGH(a, b), t = LOW(c, d) + HIGH(c, d), u = LOW2(s, t) + HIGH2(s, t);
    v4 half[2];
    memcpy(half, &u, sizeof half);
    v4 sums = half[0] + half[1];
    for (; i < k; i++)
        sums += x[i] * (v4){w[i], w1[i], w2[i], w3[i]};
    return sums;
}

/* c[j] (+)= b[:, j] x for columns j0..j1-1 that lie in a row */
static void dot_columns(const fxs_gemm *g, const float *x, int64_t j0, int64_t j1) {
    const float *b = (const float *)g->b;
    float *c = g->c;
    int64_t j = j0;
    for (; j + 4 <= j1; j += 4) {
        v4_loose *row = (v4_loose *)(c + j);
        v4 sums = dots4(g->k, b + j * g->b_col, g->b_col, x);
        if (g->c_col == 1)
            *row = g->accumulate ? *row + sums : sums;
        for (int r = 0; g->c_col != 1 && r < 4; r++)
            c[(j + r) * g->c_col] = sums[r] + (g->accumulate ? c[(j + r) * g->c_col] : 0);
    }
    for (; j < j1; j++) { /* the same row four times, so that nothing behind the matrix is read */
        float sum = dots4(g->k, b + j * g->b_col, 0, x)[0], *to = c + j * g->c_col;
        *to = g->accumulate ? *to + sum : sum;
    }
}

FXS_VECTOR static void add_rows4(int64_t n, const float x[4], const float *b, int64_t row,
                                 float *restrict c) {
    const float *b1 = b + row, *b2 = b1 + row, *b3 = b2 + row;
    for (int64_t i = 0; i < n; i++)
        c[i] += x[0] * b[i] + x[1] * b1[i] + (x[2] * b2[i] + x[3] * b3[i]);
}

FXS_VECTOR static void add_row(int64_t n, float x, const float *b, float *restrict c) {
    for (int64_t i = 0; i < n; i++)
        c[i] += x * b[i];
}

/* The same where rows lie in a row, and c too. */
static void add_rows(const fxs_gemm *g, const float *x, int64_t j0, int64_t j1) {
    float *c = (float *)g->c + j0;
    const float *b = (const float *)g->b + j0;
    int64_t k = 0, n = j1 - j0;
    if (!g->accumulate)
        memset(c, 0, (size_t)n * sizeof *c);
    for (; k + 4 <= g->k; k += 4)
        add_rows4(n, x + k, b + k * g->b_row, g->b_row, c);
    for (; k < g->k; k++)
        add_row(n, x[k], b + k * g->b_row, c);
}

/* One row times a matrix: x lies in a row, and so does one side of the matrix. */
static bool is_row(const fxs_gemm *g) {
    return g->m == 1 && (g->a_col == 1 || g->k == 1) &&
           (g->b_row == 1 || (g->b_col == 1 && g->c_col == 1));
}

static void row_part(const fxs_gemm *g, int64_t j0, int64_t j1) {
    if (g->b_row == 1)
        dot_columns(g, g->a, j0, j1);
    else
        add_rows(g, g->a, j0, j1);
}

/* ---- jobs
 * ---------------------------------------------------------------------------------------------------
 */

enum { ROW_PART = 256 }; /* columns of a piece of a single row's product */

bool fxs_gemm_float_takes(const fxs_gemm *g) {
    return g->dtype == FXS_FLOAT32 && g->k > 0 && fxs_panels_fast();
}

/* Turned so that a product of one column is one of one row, and C's rows are rows in memory. */
static fxs_gemm turned(const fxs_gemm *g) {
    bool column = g->n == 1 && g->m > 1, lying = g->c_row == 1 && g->c_col != 1 && g->m > 1;
    return column || (lying && g->n > 1) ? fxs_gemm_flip(g) : *g;
}

typedef struct job {
    const fxs_gemm *g; /* turned */
    bool row;
    fxs_cut cut;
} job;

static job job_of(const fxs_gemm *g, int threads, int64_t others) {
    job j = {.g = g, .row = is_row(g)};
    right r;
    fxs_panels p = panels_of(g, &r);
    if (j.row)
        j.cut = (fxs_cut){
            .rows = 1, .columns = ROW_PART, .down = 1, .across = (g->n + ROW_PART - 1) / ROW_PART};
    else
        j.cut = fxs_panels_cut(&p, threads, others);
    return j;
}

/* Piece `piece` of the product g, which is one of those that the job was made for. */
static void run_piece(const job *j, const fxs_gemm *g, int64_t piece) {
    if (j->row) {
        int64_t j0 = piece * ROW_PART, j1 = j0 + ROW_PART < g->n ? j0 + ROW_PART : g->n;
        row_part(g, j0, j1);
        return;
    }
    right r;
    fxs_panels p = panels_of(g, &r);
    fxs_panels_run(&p, &j->cut, piece);
}

void fxs_gemm_float_one(const fxs_gemm *given) {
    fxs_gemm g = turned(given);
    job j = job_of(&g, 1, 0);
    for (int64_t i = 0; i < j.cut.down * j.cut.across; i++)
        run_piece(&j, &g, i);
}

static void run_jobs(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    int64_t pieces = j->cut.down * j->cut.across;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        fxs_gemm g = *j->g;
        fxs_gemm_select(&g, i / pieces);
        run_piece(j, &g, i % pieces);
    }
}

void fxs_gemm_float_run(fxs_ctx *ctx, const fxs_gemm *given, int64_t batch, bool parallel) {
    fxs_gemm g = turned(given);
    job j = job_of(&g, parallel ? fxs_threads(ctx) : 1, batch - 1);
    fxs_parallel(ctx, batch * j.cut.down * j.cut.across, parallel ? 1 : INT64_MAX, run_jobs, &j);
}
