/* conv_winograd.c: float32 3x3 convolution of stride 1 by Winograd's minimal filtering
 * (winograd.h): tiles of 2x2 or 4x4 outputs are transformed, multiplied as 16 or 36 matrix
 * products, and transformed back, with 2.25 or 4 times fewer multiplications. A piece is some lines
 * of tiles for some output channels, and is done by one thread from the input to the result: what
 * it transforms stays in its processor's caches. The input is transformed straight into the panels
 * that micro.h's products read; weights are transformed a few rows at a time, and what is
 * multiplied is transformed back while it is in the second cache. Called by conv_run.c. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "kernels/conv.h"
#include "kernels/winograd.h"

enum {
    BLOCK_TILES = 256, /* of the result, whose products of a few rows stay in the second cache */
    BLOCK_FLOATS = 1 << 22, /* of the transformed input: it should stay in the last one */
    DEPTH = 128,           /* channels whose weights are transformed at once, for the same reason */
    LOOSE_TILES = 2,       /* are multiplied faster one by one than as a vector */
    MOST_FLOATS = 1 << 27, /* of all threads together */
    CHANNELS_MIN = 16
};
_Static_assert((int)DEPTH <= (int)FXS_MICRO_DEPTH, "rows of transformed weights fit");

typedef struct job {
    const fxs_conv_data *data;
    const fxs_micro *micro;
    const fxs_winograd *method;
    int64_t square;                  /* products: side * side */
    int64_t across, down;            /* tiles of the result */
    int64_t line;                    /* floats of an input line, padded */
    int64_t lines, blocks;           /* of tiles in a piece; pieces below each other */
    int64_t channels, cuts;          /* of the result in a piece; pieces beside each other */
    int64_t v_plane, q_plane, q_row; /* floats from one of the square to the next, of a row */
    atomic_bool *infinite;           /* a result is not finite, or a part of it */
    float *spare;                    /* [threads, spare_size] */
    int64_t spare_size;
} job;

/* What a thread works on. */
typedef struct piece {
    const job *j;
    int64_t image, row, lines; /* lines of tiles */
    /* `loose` of the tiles are behind the last whole vector and multiplied one by one */
    int64_t tiles, loose;
    float *v;    /* transformed input: [square][panel][cin][micro->tile] */
    float *last; /* of the loose tiles: [square][loose][cin] */
    float *rest; /* for what is needed in between */
} piece;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
static int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* Planes that are written side by side must not share places in the cache, as powers of two do. */
static int64_t spread_out(int64_t floats) { return (floats + 15) / 32 * 32 + 48; }

static int64_t loose_tiles(int64_t tiles, const fxs_micro *micro) {
    int64_t loose = tiles % (micro->tile / 2);
    return loose <= LOOSE_TILES ? loose : 0;
}

/* ---- what it costs
 * -----------------------------------------------------------------------------------------------
 */

static bool takes(const fxs_conv *v) {
    const fxs_window *w = &v->window;
    if (w->kernel[0] != 1 || w->in[0] != 1 || w->before[0] != 0 || v->groups != 1 ||
        v->padding != FXS_PAD_ZEROS || v->cin < CHANNELS_MIN || v->cout < CHANNELS_MIN)
        return false;
    for (int d = 1; d < 3; d++)
        if (w->kernel[d] != 3 || w->stride[d] != 1 || w->dilation[d] != 1 || w->before[d] > 1 ||
            w->after[d] > 1)
            return false;
    return true;
}

/* So many tiles take as long as these. */
static double in_vectors(int64_t tiles) {
    const fxs_micro *micro = fxs_micro_here();
    return (double)(loose_tiles(tiles, micro) ? tiles : round_up(tiles, micro->tile / 2));
}

/* Of a piece, in products: those of the tiles; transforms of kernels, of tiles for each input
 * channel, and back for each output channel. The factors are measured. */
static double cost(const fxs_conv *v, int tile, int64_t tiles, int64_t channels) {
    double square = (tile + 2) * (tile + 2), kernel = tile == 4 ? 350 : 150,
           input = tile == 4 ? 300 : 100, output = tile == 4 ? 250 : 80;
    double cin = (double)v->cin, cout = (double)channels, n = (double)tiles;
    return cin * cout * (square * in_vectors(tiles) + kernel) + cin * n * input + cout * n * output;
}

/* A piece is a line of tiles at least: what a very wide one needs must stay in bounds. */
static bool fits(const fxs_conv *v, int tile) {
    return (double)(tile + 2) * (tile + 2) * (double)v->cin *
               (double)parts(v->window.out[2], tile) <=
           BLOCK_FLOATS;
}

/* F(4x4) loses a digit of accuracy: it must be worth it. */
int fxs_conv_winograd_tile(const fxs_conv *v) {
    if (!takes(v) || !fits(v, 2) || !fits(v, 4))
        return 0;
    const int64_t *out = v->window.out;
    double direct = 9 * (double)v->cin * (double)v->cout * in_vectors(out[1] * out[2]);
    double small = cost(v, 2, parts(out[1], 2) * parts(out[2], 2), v->cout);
    double large = cost(v, 4, parts(out[1], 4) * parts(out[2], 4), v->cout);
    if (large < 0.9 * small && large < direct)
        return 4;
    return small < direct ? 2 : 0;
}

/* ---- the input
 * -----------------------------------------------------------------------------------------------
 */

/* The piece's lines of a channel, with zeros where they lie outside. */
static void fetch_lines(const piece *p, int64_t c, float *to) {
    const job *j = p->j;
    const fxs_conv *v = j->data->conv;
    const fxs_window *w = &v->window;
    const float *channel =
        (const float *)j->data->x + (p->image * v->cin + c) * w->in[1] * w->in[2];
    int64_t tile = j->method->tile, n = p->lines * tile + 2;
    int64_t y = p->row * tile - w->before[1], left = w->before[2];
    for (int64_t i = 0; i < n; i++, y++, to += j->line) {
        if (y < 0 || y >= w->in[1]) {
            memset(to, 0, (size_t)j->line * sizeof *to);
            continue;
        }
        memset(to, 0, (size_t)left * sizeof *to);
        memcpy(to + left, channel + y * w->in[2], (size_t)w->in[2] * sizeof *to);
        memset(to + left + w->in[2], 0, (size_t)(j->line - left - w->in[2]) * sizeof *to);
    }
}

/* Tiles side by side to panels: one place a channel in each. */
static void deal_out(const piece *p, const float *all, int64_t c) {
    const job *j = p->j;
    int64_t wide = j->micro->tile, cin = j->data->conv->cin, whole = p->tiles - p->loose;
    for (int64_t s = 0; s < j->square; s++, all += j->q_row) {
        float *to = p->v + s * j->v_plane + c * wide;
        for (int64_t t = 0; t < whole; t += wide, to += wide * cin)
            if (wide == FXS_MICRO_TILE)
                memcpy(to, all + t, FXS_MICRO_TILE * sizeof *to);
            else
                memcpy(to, all + t, (size_t)wide * sizeof *to);
        for (int64_t i = 0; i < p->loose; i++)
            p->last[(s * p->loose + i) * cin + c] = all[whole + i];
    }
}

static void transform_input(const piece *p) {
    const job *j = p->j;
    float *all = p->rest, *lines = all + j->square * j->q_row;
    int64_t step = j->method->tile * j->line;
    for (int64_t c = 0; c < j->data->conv->cin; c++) {
        fetch_lines(p, c, lines);
        for (int64_t i = 0; i < p->lines; i++)
            j->method->input(lines + i * step, j->line, j->across, all + i * j->across, j->q_row);
        deal_out(p, all, c);
    }
}

/* ---- products and results
 * -----------------------------------------------------------------------------------------------
 */

static void fetch(const float *from, int64_t n) {
    for (int64_t i = 0; i < n; i += 16)
        __builtin_prefetch(from + i);
}

/* Rows m to m + rows - 1 of the weights for channels k to k + depth - 1. A row's weights are far
 * from the last one's, in memory that is not in any cache: they come while these are transformed.
 */
static void transform_weights(const job *j, int64_t m, int64_t rows, int64_t k, int64_t depth,
                              float *u) {
    int64_t row = j->data->conv->cin * FXS_WINOGRAD_KERNEL;
    const float *w = (const float *)j->data->weight + m * row + k * FXS_WINOGRAD_KERNEL;
    for (int64_t r = 0; r < rows; r++, w += row, u += FXS_MICRO_STEP) {
        if (r + 1 < rows)
            fetch(w + row, depth * FXS_WINOGRAD_KERNEL);
        j->method->weight(w, depth, u, j->micro->rows * FXS_MICRO_STEP);
    }
}

static void multiply_column(const job *j, const float *u, const float *v, int64_t rows,
                            int64_t depth, float *q, bool add) {
    float sums[FXS_MICRO_ROWS];
    j->micro->dots(u, v, rows, depth, sums);
    for (int64_t r = 0; r < rows; r++, q += j->q_row)
        *q = sums[r] + (add ? *q : 0);
}

/* q[s, r, t] (+)= u[s, r, k] v[s, k, t] for channels k0 to k0 + depth - 1 */
static void multiply(const piece *p, const float *u, float *q, int64_t rows, int64_t k0,
                     int64_t depth) {
    const job *j = p->j;
    int64_t wide = j->micro->tile, cin = j->data->conv->cin, whole = p->tiles - p->loose;
    fxs_micro_fn *const *run = j->micro->run[rows - 1];
    for (int64_t s = 0; s < j->square; s++) {
        const float *v = p->v + s * j->v_plane + k0 * wide;
        for (int64_t t = 0; t < whole; t += wide)
            run[whole - t > wide / 2](u, v + t * cin, depth, q + t, j->q_row, k0 > 0);
        for (int64_t i = 0; i < p->loose; i++)
            multiply_column(j, u, p->last + (s * p->loose + i) * cin + k0, rows, depth,
                            q + whole + i, k0 > 0);
        u += j->micro->rows * FXS_MICRO_STEP;
        q += j->q_plane;
    }
}

/* The last tiles may hang over the result's end. */
static bool put_channel(const piece *p, int64_t m, const float *q, float *lines) {
    const job *j = p->j;
    const fxs_conv *v = j->data->conv;
    const fxs_window *w = &v->window;
    int64_t tile = j->method->tile, step = j->q_row * tile;
    float bias = j->data->bias ? ((const float *)j->data->bias)[m] : 0;
    float *y = (float *)j->data->y + (p->image * v->cout + m) * w->out[1] * w->out[2];
    if (!j->method->output(q, j->q_plane, p->tiles, bias, lines, step))
        return false;
    for (int64_t i = 0; i < p->lines; i++)
        for (int64_t r = 0, at = (p->row + i) * tile; r < tile && at < w->out[1]; r++, at++)
            memcpy(y + at * w->out[2], lines + r * step + i * j->across * tile,
                   (size_t)w->out[2] * sizeof *y);
    return true;
}

/* False where one is not finite. Results m to end - 1, in steps of as many rows as are multiplied
 * at once, or nearly so. */
static bool make_channels(const piece *p, int64_t m, int64_t end) {
    const job *j = p->j;
    int64_t cin = j->data->conv->cin, step = parts(end - m, parts(end - m, j->micro->rows));
    float *u = p->rest, *q = u + j->square * j->micro->rows * FXS_MICRO_STEP,
          *lines = q + j->square * j->q_plane;
    for (int64_t rows; m < end; m += rows) {
        rows = end - m < step ? end - m : step;
        for (int64_t k = 0; k < cin; k += DEPTH) {
            int64_t depth = cin - k < DEPTH ? cin - k : DEPTH;
            transform_weights(j, m, rows, k, depth, u);
            multiply(p, u, q, rows, k, depth);
        }
        for (int64_t r = 0; r < rows; r++)
            if (!put_channel(p, m + r, q + r * j->q_row, lines))
                return false;
    }
    return true;
}

/* ---- pieces
 * -------------------------------------------------------------------------------------------------
 */

static void run_pieces(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    piece p = {.j = j, .v = j->spare + thread * j->spare_size};
    p.last = p.v + j->square * j->v_plane;
    p.rest = p.last + spread_out(j->square * LOOSE_TILES * j->data->conv->cin);
    for (int64_t i = begin; i < end && !atomic_load(j->infinite); i++) {
        int64_t block = i / j->cuts, m = i % j->cuts * j->channels, cout = j->data->conv->cout - m;
        p.image = block / j->blocks;
        p.row = block % j->blocks * j->lines;
        p.lines = j->down - p.row < j->lines ? j->down - p.row : j->lines;
        p.tiles = p.lines * j->across;
        p.loose = loose_tiles(p.tiles, j->micro);
        transform_input(&p);
        if (!make_channels(&p, m, m + (cout < j->channels ? cout : j->channels)))
            atomic_store(j->infinite, true);
    }
}

/* How the work is cut: lines of tiles need their own kernels, channels their own input. */
static void cut(job *j) {
    const fxs_conv *v = j->data->conv;
    int64_t threads = fxs_threads(j->data->ctx), tiles = BLOCK_FLOATS / (j->square * v->cin);
    int64_t most = larger(1, (tiles < BLOCK_TILES ? tiles : BLOCK_TILES) / j->across);
    double least = INFINITY;
    for (int64_t b = parts(j->down, most); b <= j->down; b++) {
        int64_t lines = parts(j->down, b), blocks = parts(j->down, lines);
        for (int64_t n = 1; n <= threads; n++) {
            int64_t channels = parts(v->cout, n), cuts = parts(v->cout, channels);
            double rounds = (double)parts(v->batch * blocks * cuts, threads);
            double time = rounds * cost(v, j->method->tile, lines * j->across, channels);
            if (time < least) {
                least = time;
                j->lines = lines, j->blocks = blocks, j->channels = channels, j->cuts = cuts;
            }
        }
        if (v->batch * blocks >= 4 * threads)
            break;
    }
}

static void plan(job *j) {
    const fxs_conv *v = j->data->conv;
    int64_t tile = j->method->tile, side = j->method->side, wide = j->micro->tile;
    j->square = side * side;
    j->across = parts(v->window.out[2], tile);
    j->down = parts(v->window.out[1], tile);
    cut(j);
    /* lines are read in whole vectors of tiles */
    j->line = larger(round_up(j->across, FXS_WINOGRAD_LANES) * tile + FXS_WINOGRAD_LANES,
                     v->window.in[2] + v->window.before[2]);
    /* the last vector may begin at the last tile */
    j->q_row = round_up(j->lines * j->across + FXS_WINOGRAD_LANES, wide) + 16;
    j->q_plane = spread_out(j->micro->rows * j->q_row);
    j->v_plane = spread_out(v->cin * round_up(j->lines * j->across, wide));
}

static int64_t spare_of(const job *j) {
    int64_t tile = j->method->tile, lines = j->lines * tile + 2;
    int64_t input = j->square * j->q_row + lines * j->line,
            output =
                j->square * (j->micro->rows * FXS_MICRO_STEP + j->q_plane) + tile * tile * j->q_row;
    return j->square * j->v_plane + spread_out(j->square * LOOSE_TILES * j->data->conv->cin) +
           spread_out(larger(input, output));
}

static fxs_status reserve(fxs_work *w, job *j) {
    j->spare = fxs_work_thread_scratch(w, spare_of(j), sizeof *j->spare, &j->spare_size);
    return w->status;
}

fxs_status fxs_conv_winograd(fxs_work *w, const fxs_conv_data *d, int tile, bool *finite) {
    atomic_bool infinite = false;
    job j = {.data = d, .micro = fxs_micro_here(), .infinite = &infinite};
    j.method = fxs_winograd_of(j.micro, tile);
    plan(&j);
    *finite = false;
    if (spare_of(&j) > MOST_FLOATS / fxs_threads(d->ctx))
        return FXS_OK;
    FXS_TRY(reserve(w, &j));
    fxs_parallel(d->ctx, d->conv->batch * j.blocks * j.cuts, 1, run_pieces, &j);
    *finite = !infinite;
    return FXS_OK;
}
