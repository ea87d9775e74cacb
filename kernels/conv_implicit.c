/* conv_implicit.c: float32 convolution as a matrix product whose right side is never written down:
 * for 16 output places a panel of input values is packed into the first cache and multiplied with
 * all output channels. Any kernel, stride, dilation and groups. Called by conv_run.c with a padded
 * input. */
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/conv.h"

enum {
    TILE = 16, /* output places of a panel: two vectors */
    ROWS = 6, /* output channels at once: with TILE, 12 vectors of sums, which is what the registers
                 hold */
    DEPTH = 288 /* weights of a panel: 18 KiB, and a multiple of 9 */
};

typedef float v8 __attribute__((vector_size(32)));
typedef float v8_loose __attribute__((vector_size(32), aligned(4)));

/* y[r, 0..15] += w[r, 0..depth-1] x[0..depth-1, 0..15] for some rows r. The sums must be named
 * variables: GCC keeps an array of vectors in memory. */
#define LOAD(r)                                                                                    \
    v8 a##r = *(const v8_loose *)(y + r * y_step), b##r = *(const v8_loose *)(y + r * y_step + 8);
#define STEP(r)                                                                                    \
    a##r += w[r * w_step + k] * p;                                                                 \
    b##r += w[r * w_step + k] * q;
#define STORE(r)                                                                                   \
    *(v8_loose *)(y + r * y_step) = a##r;                                                          \
    *(v8_loose *)(y + r * y_step + 8) = b##r;
#define MICRO(name, EACH)                                                                          \
    FXS_VECTOR static void name(const float *x, int64_t depth, const float *w, int64_t w_step,     \
                                float *y, int64_t y_step) {                                        \
        EACH(LOAD)                                                                                 \
        for (int64_t k = 0; k < depth; k++, x += TILE) {                                           \
            v8 p = *(const v8_loose *)x, q = *(const v8_loose *)(x + 8);                           \
            EACH(STEP)                                                                             \
        }                                                                                          \
        EACH(STORE)                                                                                \
    }
#define EACH1(X) X(0)
#define EACH2(X) X(0) X(1)
#define EACH4(X) X(0) X(1) X(2) X(3)
#define EACH6(X) X(0) X(1) X(2) X(3) X(4) X(5)
MICRO(micro1, EACH1)
MICRO(micro2, EACH2)
MICRO(micro4, EACH4)
MICRO(micro6, EACH6)

typedef void micro_fn(const float *x, int64_t depth, const float *w, int64_t w_step, float *y,
                      int64_t y_step);

/* How many rows the next step takes, and by which kernel. */
static int64_t choose_micro(int64_t rows, micro_fn **f) {
    *f = rows >= 6 ? micro6 : rows >= 4 ? micro4 : rows >= 2 ? micro2 : micro1;
    return rows >= 6 ? 6 : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

typedef struct job {
    const fxs_conv_data *data;
    const int64_t *offset; /* [k]: of weight k's input value from the window's corner */
    int64_t k, m, places;  /* weights, output channels of a group; output places */
    int64_t tiles, parts;  /* pieces of the places, and of a group's output channels */
} job;

/* One piece of work: output channels m0..m1-1 of a group, over up to 16 places from `place` on. */
typedef struct piece {
    int64_t image, group, m0, m1, place, count;
    const float *x;
    int64_t corner[TILE]; /* offset of each place's window */
    bool in_a_row;        /* the corners are neighbours */
} piece;

static void find_corners(const fxs_window *w, piece *p) {
    int64_t c = p->place % w->out[2], r = p->place / w->out[2] % w->out[1],
            z = p->place / w->out[2] / w->out[1];
    p->in_a_row = p->count == TILE;
    for (int64_t j = 0; j < p->count; j++) {
        p->corner[j] =
            (z * w->stride[0] * w->in[1] + r * w->stride[1]) * w->in[2] + c * w->stride[2];
        p->in_a_row &= p->corner[j] == p->corner[0] + j;
        if (++c == w->out[2]) {
            c = 0;
            if (++r == w->out[1])
                r = 0, z++;
        }
    }
    for (int64_t j = p->count; j < TILE; j++)
        p->corner[j] = p->corner[0];
}

static piece piece_of(const job *j, int64_t index) {
    const fxs_conv *v = j->data->conv;
    int64_t part = index / j->tiles % j->parts;
    piece p = {.place = index % j->tiles * TILE};
    int64_t rest = index / j->tiles / j->parts;
    int64_t step = (j->m + j->parts * ROWS - 1) / (j->parts * ROWS) * ROWS;
    p.group = rest % v->groups;
    p.image = rest / v->groups;
    p.m0 = part * step < j->m ? part * step : j->m;
    p.m1 = p.m0 + step < j->m ? p.m0 + step : j->m;
    p.count = j->places - p.place < TILE ? j->places - p.place : TILE;
    p.x = (const float *)j->data->x +
          (p.image * v->cin + p.group * (v->cin / v->groups)) * fxs_volume(v->window.in);
    find_corners(&v->window, &p);
    return p;
}

/* panel[k, 0..15] */
FXS_VECTOR static void pack(const piece *p, const int64_t *offset, int64_t depth, float *panel) {
    for (int64_t k = 0; k < depth; k++, panel += TILE) {
        const float *x = p->x + offset[k];
        if (p->in_a_row)
            memcpy(panel, x + p->corner[0], TILE * sizeof *panel);
        else
            for (int i = 0; i < TILE; i++)
                panel[i] = x[p->corner[i]];
    }
}

/* Multiplies one packed panel with all rows of the piece. */
static void multiply(const job *j, const piece *p, const float *panel, int64_t k0, int64_t depth) {
    const fxs_conv_data *d = j->data;
    int64_t channel = p->group * j->m;
    float *y = (float *)d->y + (p->image * d->conv->cout + channel) * j->places + p->place;
    const float *weight = (const float *)d->weight + channel * j->k + k0;
    const float *bias = d->bias ? (const float *)d->bias + channel : NULL;
    float edge[ROWS * TILE] = {0}; /* a tile that the result's end cuts off */
    micro_fn *micro;
    for (int64_t m = p->m0, rows; m < p->m1; m += rows) {
        rows = choose_micro(p->m1 - m, &micro);
        float *to = p->count < TILE ? edge : y + m * j->places;
        int64_t step = p->count < TILE ? TILE : j->places;
        for (int64_t r = 0; r < rows; r++) {
            if (k0 == 0)
                for (int64_t i = 0; i < TILE; i++)
                    to[r * step + i] = bias ? bias[m + r] : 0;
            else if (to == edge)
                memcpy(edge + r * TILE, y + (m + r) * j->places, (size_t)p->count * sizeof *y);
        }
        micro(panel, depth, weight + m * j->k, j->k, to, step);
        for (int64_t r = 0; to == edge && r < rows; r++)
            memcpy(y + (m + r) * j->places, edge + r * TILE, (size_t)p->count * sizeof *y);
    }
}

static void run_pieces(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    float panel[DEPTH * TILE] __attribute__((aligned(64)));
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        piece p = piece_of(j, i);
        for (int64_t k0 = 0; k0 < j->k && p.m0 < p.m1; k0 += DEPTH) {
            int64_t depth = j->k - k0 < DEPTH ? j->k - k0 : DEPTH;
            pack(&p, j->offset + k0, depth, panel);
            multiply(j, &p, panel, k0, depth);
        }
    }
}

static void fill_offsets(const fxs_window *w, int64_t k, int64_t *offset) {
    int64_t kernel = fxs_volume(w->kernel);
    for (int64_t i = 0; i < k; i++) {
        int64_t at = i % kernel, z = at / w->kernel[2] / w->kernel[1],
                y = at / w->kernel[2] % w->kernel[1];
        offset[i] = i / kernel * fxs_volume(w->in) +
                    (z * w->dilation[0] * w->in[1] + y * w->dilation[1]) * w->in[2] +
                    at % w->kernel[2] * w->dilation[2];
    }
}

fxs_status fxs_conv_implicit(fxs_work *w, const fxs_conv_data *d) {
    const fxs_conv *v = d->conv;
    job j = {.data = d,
             .k = v->cin / v->groups * fxs_volume(v->window.kernel),
             .m = v->cout / v->groups,
             .places = fxs_volume(v->window.out),
             .parts = 1};
    int64_t *offset = fxs_work_scratch(w, j.k, sizeof *offset);
    if (!offset)
        return w->status;
    fill_offsets(&v->window, j.k, offset);
    j.offset = offset;
    j.tiles = (j.places + TILE - 1) / TILE;
    int64_t threads = fxs_threads(d->ctx), pieces = v->batch * v->groups * j.tiles;
    if (threads > 1 && pieces < 8 * threads)
        j.parts = 2 * threads;
    double work = (double)v->batch * (double)v->cout * (double)j.places * (double)j.k;
    fxs_parallel(d->ctx, pieces * j.parts, work > 1 << 16 ? 1 : INT64_MAX, run_pieces, &j);
    return FXS_OK;
}
