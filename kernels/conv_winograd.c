/* conv_winograd.c: float32 3x3 convolution of stride 1 by Winograd's minimal filtering: tiles of
 * 2x2 or 4x4 outputs are transformed, multiplied as 16 or 36 matrix products, and transformed back,
 * with 2.25 or 4 times fewer multiplications. Each two-dimensional transform is the one-dimensional
 * one applied down, then across. Called by conv_run.c. */
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/conv.h"
#include "kernels/gemm.h"

enum {
    SIDE_MAX = 6,
    BLOCK_FLOATS =
        1 << 21 /* transformed values that wait at once: they should stay in the last cache */
};

/* ---- the transforms in one dimension, over n neighbours
 * ----------------------------------------------------- */

typedef void transform_fn(int64_t n, const float *const in[], float *const out[]);

/* F(2, 3): points 0, 1, -1, infinity */
FXS_VECTOR static void input2(int64_t n, const float *const in[], float *const out[]) {
    const float *a = in[0], *b = in[1], *c = in[2], *d = in[3];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3];
    for (int64_t i = 0; i < n; i++) {
        p[i] = a[i] - c[i];
        q[i] = b[i] + c[i];
        r[i] = c[i] - b[i];
        s[i] = b[i] - d[i];
    }
}

FXS_VECTOR static void weight2(int64_t n, const float *const in[], float *const out[]) {
    const float *a = in[0], *b = in[1], *c = in[2];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3];
    for (int64_t i = 0; i < n; i++) {
        p[i] = a[i];
        q[i] = 0.5f * (a[i] + c[i] + b[i]);
        r[i] = 0.5f * (a[i] + c[i] - b[i]);
        s[i] = c[i];
    }
}

FXS_VECTOR static void output2(int64_t n, const float *const in[], float *const out[]) {
    const float *a = in[0], *b = in[1], *c = in[2], *d = in[3];
    float *restrict p = out[0], *restrict q = out[1];
    for (int64_t i = 0; i < n; i++) {
        p[i] = a[i] + b[i] + c[i];
        q[i] = b[i] - c[i] - d[i];
    }
}

/* F(4, 3): points 0, 1, -1, 2, -2, infinity */
FXS_VECTOR static void input4(int64_t n, const float *const in[], float *const out[]) {
    const float *a = in[0], *b = in[1], *c = in[2], *d = in[3], *e = in[4], *f = in[5];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3],
                    *restrict t = out[4], *restrict u = out[5];
    for (int64_t i = 0; i < n; i++) {
        float even1 = e[i] - 4 * c[i], odd1 = d[i] - 4 * b[i], even2 = e[i] - c[i],
              odd2 = 2 * (d[i] - b[i]);
        p[i] = 4 * a[i] - 5 * c[i] + e[i];
        q[i] = even1 + odd1;
        r[i] = even1 - odd1;
        s[i] = even2 + odd2;
        t[i] = even2 - odd2;
        u[i] = 4 * b[i] - 5 * d[i] + f[i];
    }
}

FXS_VECTOR static void weight4(int64_t n, const float *const in[], float *const out[]) {
    const float *a = in[0], *b = in[1], *c = in[2];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3],
                    *restrict t = out[4], *restrict u = out[5];
    for (int64_t i = 0; i < n; i++) {
        float even1 = (a[i] + c[i]) * (-1 / 6.0f), odd1 = b[i] * (-1 / 6.0f);
        float even2 = a[i] * (1 / 24.0f) + c[i] * (1 / 6.0f), odd2 = b[i] * (1 / 12.0f);
        p[i] = 0.25f * a[i];
        q[i] = even1 + odd1;
        r[i] = even1 - odd1;
        s[i] = even2 + odd2;
        t[i] = even2 - odd2;
        u[i] = c[i];
    }
}

FXS_VECTOR static void output4(int64_t n, const float *const in[], float *const out[]) {
    const float *a = in[0], *b = in[1], *c = in[2], *d = in[3], *e = in[4], *f = in[5];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3];
    for (int64_t i = 0; i < n; i++) {
        float sum1 = b[i] + c[i], dif1 = b[i] - c[i], sum2 = d[i] + e[i], dif2 = d[i] - e[i];
        p[i] = a[i] + sum1 + sum2;
        q[i] = dif1 + 2 * dif2;
        r[i] = sum1 + 4 * sum2;
        s[i] = dif1 + 8 * dif2 + f[i];
    }
}

/* One line of overlapping tiles as one array a position in the tile: out[k][i] = line[tile * i +
 * k]. */
FXS_VECTOR static void spread2(int64_t n, const float *const in[], float *const out[]) {
    const float *x = in[0];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3];
    for (int64_t i = 0; i < n; i++, x += 2)
        p[i] = x[0], q[i] = x[1], r[i] = x[2], s[i] = x[3];
}

FXS_VECTOR static void spread4(int64_t n, const float *const in[], float *const out[]) {
    const float *x = in[0];
    float *restrict p = out[0], *restrict q = out[1], *restrict r = out[2], *restrict s = out[3],
                    *restrict t = out[4], *restrict u = out[5];
    for (int64_t i = 0; i < n; i++, x += 4)
        p[i] = x[0], q[i] = x[1], r[i] = x[2], s[i] = x[3], t[i] = x[4], u[i] = x[5];
}

/* And back, tiles side by side: line[tile * i + k] = in[k][i]. */
FXS_VECTOR static void weave2(int64_t n, const float *const in[], float *const out[]) {
    const float *p = in[0], *q = in[1];
    float *restrict y = out[0];
    for (int64_t i = 0; i < n; i++, y += 2)
        y[0] = p[i], y[1] = q[i];
}

FXS_VECTOR static void weave4(int64_t n, const float *const in[], float *const out[]) {
    const float *p = in[0], *q = in[1], *r = in[2], *s = in[3];
    float *restrict y = out[0];
    for (int64_t i = 0; i < n; i++, y += 4)
        y[0] = p[i], y[1] = q[i], y[2] = r[i], y[3] = s[i];
}

typedef struct method {
    int tile, side; /* side = tile + 2: of the transformed tile */
    transform_fn *input, *weight, *output, *spread, *weave;
} method;

static const method methods[] = {{2, 4, input2, weight2, output2, spread2, weave2},
                                 {4, 6, input4, weight4, output4, spread4, weave4}};

/* ---- the three stages
 * --------------------------------------------------------------------------------------- */

typedef struct job {
    const fxs_conv_data *data;
    method m;
    int64_t across, down; /* tiles of the result */
    int64_t line;         /* floats of an input line that all tiles together read */
    float *u, *v, *q;     /* [side^2][cout, cin], [side^2][cin, tiles], [side^2][cout, tiles] */
    int64_t u_plane, v_plane, q_plane; /* floats from one of the side^2 to the next */
    float *spare;                      /* [threads, spare_size] */
    int64_t spare_size;
    int64_t image, row, rows,
        tiles; /* the block in work: tile rows row..row+rows-1, tiles = rows * across */
} job;

/* n arrays of `size` floats behind each other */
static float *lay_out(float *at, int n, int64_t size, float **out) {
    for (int i = 0; i < n; i++, at += size)
        out[i] = at;
    return at;
}

static void transform_weights(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    int64_t cin = j->data->conv->cin, plane = j->u_plane;
    int side = j->m.side;
    float *in[9], *half[SIDE_MAX * 3], *out[SIDE_MAX];
    float *next = lay_out(j->spare + thread * j->spare_size, 9, cin, in);
    lay_out(next, side * 3, cin, half);
    for (int64_t m = begin; m < end; m++) {
        const float *w = (const float *)j->data->weight + m * cin * 9;
        for (int64_t c = 0; c < cin; c++)
            for (int k = 0; k < 9; k++)
                in[k][c] = w[c * 9 + k];
        for (int k = 0; k < 3; k++) {
            for (int r = 0; r < side; r++)
                out[r] = half[r * 3 + k];
            j->m.weight(cin, (const float *const[]){in[k], in[3 + k], in[6 + k]}, out);
        }
        for (int r = 0; r < side; r++) {
            lay_out(j->u + r * side * plane + m * cin, side, plane, out);
            j->m.weight(cin, (const float *const *)&half[r * 3], out);
        }
    }
}

/* Input line y of a channel, with zeros where it lies outside. */
static void fetch_line(const job *j, const float *channel, int64_t y, float *line) {
    const fxs_window *w = &j->data->conv->window;
    memset(line, 0, (size_t)j->line * sizeof *line);
    if (y >= 0 && y < w->in[1])
        memcpy(line + w->before[2], channel + y * w->in[2], (size_t)w->in[2] * sizeof *line);
}

/* All tiles of a channel at once: down line by line, then across. */
static void transform_input(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    const fxs_conv *v = j->data->conv;
    int side = j->m.side;
    int64_t plane = j->v_plane;
    float *lines[SIDE_MAX], *half[SIDE_MAX], *parts[SIDE_MAX], *out[SIDE_MAX], *at[SIDE_MAX];
    float *next = lay_out(j->spare + thread * j->spare_size, side, j->line, lines);
    next = lay_out(next, side, j->rows * j->line, half);
    lay_out(next, side, j->tiles, parts);
    for (int64_t c = begin; c < end; c++) {
        const float *channel =
            (const float *)j->data->x + (j->image * v->cin + c) * v->window.in[1] * v->window.in[2];
        for (int64_t i = 0; i < j->rows; i++) {
            int kept = i ? 2 : 0; /* lines that the tiles above read too */
            for (int r = 0; r < kept; r++) {
                float *line = lines[r];
                lines[r] = lines[side - 2 + r];
                lines[side - 2 + r] = line;
            }
            for (int r = kept; r < side; r++)
                fetch_line(j, channel, (j->row + i) * j->m.tile + r - v->window.before[1],
                           lines[r]);
            for (int r = 0; r < side; r++)
                at[r] = half[r] + i * j->line;
            j->m.input(j->line, (const float *const *)lines, at);
        }
        for (int r = 0; r < side; r++) {
            for (int64_t i = 0; i < j->rows; i++) {
                for (int k = 0; k < side; k++)
                    at[k] = parts[k] + i * j->across;
                j->m.spread(j->across, (const float *const[]){half[r] + i * j->line}, at);
            }
            lay_out(j->v + r * side * plane + c * j->tiles, side, plane, out);
            j->m.input(j->tiles, (const float *const *)parts, out);
        }
    }
}

static void multiply(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    int64_t m = j->data->conv->cout, k = j->data->conv->cin;
    (void)thread;
    for (int64_t p = begin; p < end; p++) {
        fxs_gemm g = fxs_gemm_dense(FXS_FLOAT32, m, j->tiles, k, j->u + p * j->u_plane,
                                    j->v + p * j->v_plane, j->q + p * j->q_plane);
        fxs_gemm_one(&g);
    }
}

/* The last tiles may hang over the result's end. */
static void put_line(const job *j, int64_t m, int64_t y, const float *line) {
    const fxs_conv *v = j->data->conv;
    const fxs_window *w = &v->window;
    float b = j->data->bias ? ((const float *)j->data->bias)[m] : 0;
    float *to = (float *)j->data->y + ((j->image * v->cout + m) * w->out[1] + y) * w->out[2];
    if (y < w->out[1])
        for (int64_t i = 0; i < w->out[2]; i++)
            to[i] = line[i] + b;
}

static void transform_output(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    int side = j->m.side, tile = j->m.tile;
    int64_t plane = j->q_plane;
    float *half[4][SIDE_MAX], *parts[4], *at[4], *line, *in[SIDE_MAX], *out[4];
    float *next = j->spare + thread * j->spare_size;
    for (int r = 0; r < tile; r++)
        next = lay_out(next, side, j->tiles, half[r]);
    next = lay_out(next, tile, j->tiles, parts);
    line = next;
    for (int64_t m = begin; m < end; m++) {
        for (int k = 0; k < side; k++) { /* down */
            lay_out(j->q + k * plane + m * j->tiles, side, side * plane, in);
            for (int r = 0; r < tile; r++)
                out[r] = half[r][k];
            j->m.output(j->tiles, (const float *const *)in, out);
        }
        for (int r = 0; r < tile; r++) { /* across */
            j->m.output(j->tiles, (const float *const *)half[r], parts);
            for (int64_t i = 0; i < j->rows; i++) {
                for (int k = 0; k < tile; k++)
                    at[k] = parts[k] + i * j->across;
                j->m.weave(j->across, (const float *const *)at, &line);
                put_line(j, m, (j->row + i) * tile + r, line);
            }
        }
    }
}

/* ---- blocks
 * -------------------------------------------------------------------------------------------------
 */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Planes that are written side by side must not share places in the cache, as powers of two do. */
static int64_t spread_out(int64_t floats) { return (floats + 15) / 32 * 32 + 48; }

static fxs_status reserve(fxs_work *w, job *j) {
    const fxs_conv *v = j->data->conv;
    int64_t square = (int64_t)j->m.side * j->m.side, side = j->m.side, most = j->rows * j->across;
    j->spare_size =
        larger((9 + 3 * side) * v->cin, larger(side * (j->line + j->rows * j->line + most),
                                               (4 * side + 4) * most + j->line));
    j->u_plane = spread_out(v->cout * v->cin);
    j->v_plane = spread_out(v->cin * most);
    j->q_plane = spread_out(v->cout * most);
    j->u = fxs_work_scratch(w, square * j->u_plane, sizeof *j->u);
    j->v = fxs_work_scratch(w, square * j->v_plane, sizeof *j->v);
    j->q = fxs_work_scratch(w, square * j->q_plane, sizeof *j->q);
    j->spare = fxs_work_scratch(w, j->spare_size * fxs_threads(j->data->ctx), sizeof *j->spare);
    return w->status;
}

fxs_status fxs_conv_winograd(fxs_work *w, const fxs_conv_data *d, int tile) {
    const fxs_conv *v = d->conv;
    job j = {.data = d, .m = methods[tile == 4]};
    j.across = (v->window.out[2] + tile - 1) / tile;
    j.down = (v->window.out[1] + tile - 1) / tile;
    j.line = larger(j.across * tile + 2, v->window.in[2] + v->window.before[2]);
    int64_t a_row = (int64_t)j.m.side * j.m.side * (v->cin + v->cout) * j.across,
            rows = BLOCK_FLOATS / a_row;
    rows = rows < 1 ? 1 : rows > j.down ? j.down : rows;
    j.rows = rows;
    FXS_TRY(reserve(w, &j));
    FXS_TRY(fxs_gemm_start(d->ctx, FXS_FLOAT32));
    fxs_parallel(d->ctx, v->cout, 4, transform_weights, &j);
    for (j.image = 0; j.image < v->batch; j.image++)
        for (j.row = 0; j.row < j.down; j.row += rows) {
            j.rows = j.down - j.row < rows ? j.down - j.row : rows;
            j.tiles = j.rows * j.across;
            fxs_parallel(d->ctx, v->cin, 2, transform_input, &j);
            fxs_parallel(d->ctx, (int64_t)j.m.side * j.m.side, 1, multiply, &j);
            fxs_parallel(d->ctx, v->cout, 2, transform_output, &j);
        }
    return FXS_OK;
}
