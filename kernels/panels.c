/* panels.c: see panels.h. A piece goes through its columns in groups of panels that stay in the
 * second cache, and for each step in depth through its rows, a few at a time, which are copied
 * into the first one. */
#include "kernels/panels.h"

#include <string.h>

#include "base/thread_room.h"
#include "kernels/micro.h"

enum {
    GROUP = 8 * FXS_MICRO_TILE, /* columns that are packed at once: with their depth 256 KiB */
    PANELS = FXS_MICRO_DEPTH * GROUP,
    STACK_FLOATS = 2048
};
_Static_assert((PANELS + FXS_MICRO_TILE) * sizeof(float) <= FXS_THREAD_ROOM, "panels fit");

bool fxs_panels_fast(void) { return fxs_micro_here()->tile > 8; }

/* What a piece costs, in columns times rows: to pack a column takes as long as to multiply it by
 * so many rows, to copy a row as long as to multiply it by so many columns (measured). */
enum { PACK_ROWS = 16, COPY_COLUMNS = 6, PIECES_A_THREAD = 3 };

/* Columns behind the last whole tile, which are multiplied one by one; they go with the last piece
 * where a group of tiles leaves room for them. */
static int64_t loose_columns(int64_t n, int64_t tile) {
    int64_t loose = n % (tile / 2);
    return loose <= tile / 8 ? loose : 0;
}

/* How long `threads` take: as long as the fullest of them, when each takes the next piece. */
static double time_of(const fxs_panels *p, int64_t columns, int64_t rows, int64_t products,
                      int threads) {
    if (columns > p->n)
        columns = p->n;
    int64_t across = p->n / columns, down = (p->m + rows - 1) / rows;
    double all = (double)products * ((double)p->n * (double)(down * PACK_ROWS + p->m) +
                                     (double)(p->m * COPY_COLUMNS) * (double)across);
    double piece = (double)columns * (double)(PACK_ROWS + rows) + (double)(rows * COPY_COLUMNS);
    int64_t rounds = (across * down * products + threads - 1) / threads;
    double fullest = (double)rounds * piece;
    return all / threads > fullest ? all / threads : fullest;
}

/* Columns rather than rows, since what a piece packs is good for all its rows: but a few columns
 * can't be shared evenly. */
static void share(const fxs_panels *p, int threads, int64_t products, fxs_cut *cut) {
    int64_t tile = fxs_micro_here()->tile;
    double least = 0;
    for (int64_t columns = GROUP / tile * tile; columns > 0; columns -= tile)
        for (int64_t down = 1; down <= PIECES_A_THREAD * threads; down++) {
            int64_t rows = (p->m + down - 1) / down;
            rows = (rows + FXS_MICRO_ROWS - 1) / FXS_MICRO_ROWS * FXS_MICRO_ROWS;
            double time = time_of(p, columns, down == 1 ? p->m : rows, products, threads);
            if (least == 0 || time < least) {
                least = time;
                cut->columns = columns;
                cut->rows = down == 1 ? p->m : rows;
            }
            if (rows <= FXS_MICRO_ROWS)
                break;
        }
}

fxs_cut fxs_panels_cut(const fxs_panels *p, int threads, int64_t others) {
    fxs_cut cut = {.rows = p->m, .columns = GROUP};
    int64_t wanted = PIECES_A_THREAD * threads;
    if (threads > 1 && p->n > 0 && (p->n + GROUP - 1) / GROUP * (others + 1) < wanted)
        share(p, threads, others + 1, &cut);
    int64_t tile = fxs_micro_here()->tile, rest = p->n % cut.columns;
    cut.across = (p->n + cut.columns - 1) / cut.columns;
    if (cut.across > 1 && rest == loose_columns(p->n, tile) && cut.columns + tile <= GROUP)
        cut.across -= rest > 0;
    cut.down = (p->m + cut.rows - 1) / cut.rows;
    return cut;
}

/* The rows that are copied next lie far apart, in memory that is not in any cache: they come while
 * these are multiplied. */
static void fetch_rows(const float *from, int64_t depth) {
    for (int64_t k = 0; k < depth; k += 16)
        __builtin_prefetch(from + k);
}

static void copy_rows(const fxs_panels *p, int64_t m, int64_t rows, int64_t k0, int64_t depth,
                      float *out) {
    for (int64_t r = 0; r < rows; r++, out += FXS_MICRO_STEP) {
        const float *from = p->a + (m + r) * p->a_row + k0 * p->a_col;
        if (p->a_col == 1) {
            memcpy(out, from, (size_t)depth * sizeof *out);
            if (m + rows + r < p->m)
                fetch_rows(from + rows * p->a_row, depth);
        } else
            for (int64_t k = 0; k < depth; k++)
                out[k] = from[k * p->a_col];
    }
}

/* A tile that can't be written directly: it hangs over C's end, or C's columns are not in a row. */
static void fetch_tile(const fxs_panels *p, const float *c, int64_t rows, int64_t count,
                       float *tile) {
    for (int64_t r = 0; r < rows; r++, c += p->c_row, tile += FXS_MICRO_TILE)
        if (p->c_col == 1)
            memcpy(tile, c, (size_t)count * sizeof *c);
        else
            for (int64_t i = 0; i < count; i++)
                tile[i] = c[i * p->c_col];
}

static void put_tile(const fxs_panels *p, float *c, int64_t rows, int64_t count,
                     const float *tile) {
    for (int64_t r = 0; r < rows; r++, c += p->c_row, tile += FXS_MICRO_TILE)
        if (p->c_col == 1)
            memcpy(c, tile, (size_t)count * sizeof *c);
        else
            for (int64_t i = 0; i < count; i++)
                c[i * p->c_col] = tile[i];
}

static void lay_bias(const fxs_panels *p, int64_t m, int64_t rows, int64_t tile, float *c,
                     int64_t step) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < tile; i++)
            c[r * step + i] = p->bias[m + r];
}

static void multiply_tile(const fxs_panels *p, const fxs_micro *micro, const float *a,
                          const float *panel, int64_t m, int64_t rows, int64_t n, int64_t count,
                          int64_t k0, int64_t depth) {
    float edge[FXS_MICRO_ROWS * FXS_MICRO_TILE], *c = p->c + m * p->c_row + n * p->c_col;
    bool whole = count > micro->tile / 2, add = k0 > 0 || p->accumulate;
    int64_t wide = whole ? micro->tile : micro->tile / 2;
    bool direct = p->c_col == 1 && count == wide;
    float *to = direct ? c : edge;
    int64_t step = direct ? p->c_row : FXS_MICRO_TILE;
    if (!add && p->bias) {
        lay_bias(p, m, rows, wide, to, step);
        add = true;
    } else if (add && !direct) {
        fetch_tile(p, c, rows, count, edge);
    }
    micro->run[rows - 1][whole](a, panel, depth, to, step, add);
    if (!direct)
        put_tile(p, c, rows, count, edge);
}

/* ---- columns that are left behind the last whole tile
 * --------------------------------------------------------------------- */

/* Column i, of `depth` values, lies at x + i * depth. */
static void multiply_columns(const fxs_panels *p, const fxs_micro *micro, const float *a,
                             const float *x, int64_t m, int64_t rows, int64_t n, int64_t count,
                             int64_t k0, int64_t depth) {
    float sums[FXS_MICRO_ROWS];
    bool add = k0 > 0 || p->accumulate;
    for (int64_t i = 0; i < count; i++, x += depth) {
        float *c = p->c + m * p->c_row + (n + i) * p->c_col;
        micro->dots(a, x, rows, depth, sums);
        for (int64_t r = 0; r < rows; r++, c += p->c_row)
            *c = sums[r] + (add ? *c : p->bias ? p->bias[m + r] : 0);
    }
}

static void run_piece(const fxs_panels *p, const fxs_cut *cut, int64_t piece, float *panels) {
    const fxs_micro *micro = fxs_micro_here();
    float a[FXS_MICRO_ROWS * FXS_MICRO_STEP] __attribute__((aligned(64)));
    int64_t m0 = piece / cut->across * cut->rows, n0 = piece % cut->across * cut->columns;
    int64_t m1 = m0 + cut->rows < p->m ? m0 + cut->rows : p->m;
    bool last = piece % cut->across == cut->across - 1;
    int64_t n1 = last ? p->n : n0 + cut->columns, tile = micro->tile;
    int64_t loose = loose_columns(n1 - n0, tile);
    n1 -= loose;
    for (int64_t k0 = 0; k0 < p->k; k0 += FXS_MICRO_DEPTH) {
        int64_t depth = p->k - k0 < FXS_MICRO_DEPTH ? p->k - k0 : FXS_MICRO_DEPTH;
        float *panel = panels;
        for (int64_t n = n0; n < n1; n += tile, panel += depth * tile)
            p->pack(p, n, n1 - n < tile ? n1 - n : tile, k0, depth, tile, panel);
        for (int64_t i = 0; i < loose; i++)
            p->pack(p, n1 + i, 1, k0, depth, 1, panel + i * depth);
        for (int64_t m = m0, rows; m < m1; m += rows) {
            rows = m1 - m < micro->rows ? m1 - m : micro->rows;
            copy_rows(p, m, rows, k0, depth, a);
            panel = panels;
            for (int64_t n = n0; n < n1; n += tile, panel += depth * tile)
                multiply_tile(p, micro, a, panel, m, rows, n, n1 - n < tile ? n1 - n : tile, k0,
                              depth);
            multiply_columns(p, micro, a, panel, m, rows, n1, loose, k0, depth);
        }
    }
}

/* What small products touch is there already. */
static __attribute__((noinline)) void run_on_stack(const fxs_panels *p, const fxs_cut *cut,
                                                   int64_t piece) {
    float panels[PANELS + FXS_MICRO_TILE] __attribute__((aligned(64)));
    run_piece(p, cut, piece, panels);
}

void fxs_panels_run(const fxs_panels *p, const fxs_cut *cut, int64_t piece) {
    int64_t depth = p->k < FXS_MICRO_DEPTH ? p->k : FXS_MICRO_DEPTH;
    bool small = depth * cut->columns <= STACK_FLOATS;
    float *panels = small ? NULL : fxs_thread_room();
    if (panels)
        run_piece(p, cut, piece, panels);
    else
        run_on_stack(p, cut, piece);
}
