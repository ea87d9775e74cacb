/* test_winograd.c: Winograd's transforms in every kind of vectors against plain correlation, the
 * bounds of what they write, and whole convolutions with both sizes of tiles, whichever would be
 * chosen. */
#include "testing.h"

#include <math.h>

#include "kernels/conv.h"
#include "kernels/winograd.h"

enum { MOST = 37, LANES = FXS_WINOGRAD_LANES, SQUARE = FXS_WINOGRAD_SIDE * FXS_WINOGRAD_SIDE };

static uint32_t seed = 1;
static float any(void) {
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / (1 << 23) - 1;
}

/* n tiles side by side, each times a kernel of its own. */
typedef struct tiles {
    const fxs_winograd *method;
    int64_t n, plane, step, back_step;
    float lines[FXS_WINOGRAD_SIDE][4 * (MOST + LANES) + 2 * LANES];
    float kernels[MOST * FXS_WINOGRAD_KERNEL];
    float u[SQUARE][MOST + LANES], v[SQUARE][MOST + LANES];
    float results[4][4 * (MOST + LANES)];
} tiles;

static void correlate(tiles *t, float bias) {
    const fxs_winograd *m = t->method;
    int square = m->side * m->side;
    m->input(t->lines[0], t->step, t->n, t->v[0], t->plane);
    m->weight(t->kernels, t->n, t->u[0], t->plane);
    for (int p = 0; p < square; p++)
        for (int64_t i = 0; i < t->n; i++)
            t->v[p][i] *= t->u[p][i];
    m->output(t->v[0], t->plane, t->n, bias, t->results[0], t->back_step);
}

static double plain(const tiles *t, int64_t tile, int r, int k) {
    double sum = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            sum += (double)t->lines[r + y][tile * t->method->tile + k + x] *
                   t->kernels[tile * FXS_WINOGRAD_KERNEL + y * 3 + x];
    return sum;
}

static void check_tiles(const fxs_winograd *m, int64_t n) {
    static tiles t;
    t = (tiles){.method = m, .n = n, .plane = MOST + LANES};
    t.step = sizeof t.lines[0] / sizeof(float), t.back_step = sizeof t.results[0] / sizeof(float);
    for (int r = 0; r < FXS_WINOGRAD_SIDE; r++)
        for (int64_t i = 0; i < t.step; i++)
            t.lines[r][i] = any();
    for (int64_t i = 0; i < n * FXS_WINOGRAD_KERNEL; i++)
        t.kernels[i] = any();
    correlate(&t, 0.5f);
    for (int64_t i = 0; i < n; i++)
        for (int r = 0; r < m->tile; r++)
            for (int k = 0; k < m->tile; k++)
                assert_near(t.results[r][i * m->tile + k], plain(&t, i, r, k) + 0.5, 1e-4);
}

static void transforms_correlate(void **state) {
    static const int64_t counts[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 33, MOST};
    (void)state;
    for (const fxs_micro *m = fxs_micros; m->run; m++)
        for (size_t i = 0; m->here() && i < sizeof counts / sizeof *counts; i++) {
            assert_int_equal(fxs_winograd_of(m, 2)->tile, 2);
            assert_int_equal(fxs_winograd_of(m, 4)->tile, 4);
            check_tiles(fxs_winograd_of(m, 2), counts[i]);
            check_tiles(fxs_winograd_of(m, 4), counts[i]);
        }
}

/* Kernels are read to the last weight and no further: the sanitizers see the end of the array. */
static void kernels_are_read_to_their_end(void **state) {
    float out[SQUARE][2 * LANES];
    (void)state;
    for (const fxs_micro *m = fxs_micros; m->run; m++)
        for (int64_t n = 1; m->here() && n <= 2 * LANES - 1; n++) {
            float *w = malloc((size_t)(n * FXS_WINOGRAD_KERNEL) * sizeof *w);
            assert_non_null(w);
            for (int64_t i = 0; i < n * FXS_WINOGRAD_KERNEL; i++)
                w[i] = (float)i;
            fxs_winograd_of(m, 4)->weight(w, n, out[0], 2 * LANES);
            /* at infinity the kernel's corners stand as they are */
            for (int64_t i = 0; i < n; i++)
                assert_near(out[SQUARE - 1][i], (float)(i * FXS_WINOGRAD_KERNEL + 8), 0);
            free(w);
        }
}

/* ---- whole convolutions
 * ----------------------------------------------------------------------------- */

static double direct(const fxs_conv_data *d, int64_t n, int64_t m, int64_t r, int64_t k) {
    const fxs_conv *v = d->conv;
    const fxs_window *w = &v->window;
    double sum = d->bias ? ((const float *)d->bias)[m] : 0;
    for (int64_t c = 0; c < v->cin; c++)
        for (int64_t i = 0; i < 9; i++) {
            int64_t y = r + i / 3 - w->before[1], x = k + i % 3 - w->before[2];
            if (y >= 0 && y < w->in[1] && x >= 0 && x < w->in[2])
                sum += (double)((const float *)
                                    d->x)[((n * v->cin + c) * w->in[1] + y) * w->in[2] + x] *
                       ((const float *)d->weight)[(m * v->cin + c) * 9 + i];
        }
    return sum;
}

static float *anything(int64_t n) {
    float *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = any();
    return x;
}

/* Behind the result stands a value that must stay. */
static void check_conv(fxs_ctx *ctx, const fxs_conv *v, int tile) {
    const fxs_window *w = &v->window;
    int64_t in = v->batch * v->cin * w->in[1] * w->in[2],
            out = v->batch * v->cout * w->out[1] * w->out[2];
    float *x = anything(in), *weight = anything(v->cout * v->cin * 9), *bias = anything(v->cout),
          *y = anything(out + 1), after = y[out];
    fxs_conv_data d = {.conv = v, .ctx = ctx, .x = x, .weight = weight, .bias = bias, .y = y};
    fxs_arena scratch = {0};
    fxs_call call = {.ctx = ctx, .scratch = &scratch};
    fxs_work work = {.call = &call, .dtype = FXS_FLOAT32};
    bool finite = false;
    assert_ok(ctx, fxs_conv_winograd(&work, &d, tile, &finite));
    assert_true(finite);
    assert_ok(ctx, fxs_work_end(&work));
    fxs_arena_clear(&scratch);
    for (int64_t i = 0; i < out; i++) {
        int64_t plane = i / w->out[1] / w->out[2];
        assert_near(
            y[i],
            direct(&d, plane / v->cout, plane % v->cout, i / w->out[2] % w->out[1], i % w->out[2]),
            tile == 4 ? 1e-3 : 1e-4);
    }
    assert_near(y[out], after, 0);
    free(x);
    free(weight);
    free(bias);
    free(y);
}

typedef struct shape {
    int64_t batch, cin, cout, in[2], before[2], after[2];
} shape;

static void convolutions(fxs_ctx *ctx) {
    static const shape shapes[] = {
        {1, 1, 1, {3, 3}, {0, 0}, {0, 0}},     {1, 2, 3, {1, 1}, {1, 1}, {1, 1}},
        {2, 5, 13, {7, 7}, {1, 1}, {1, 1}},    {1, 130, 7, {14, 14}, {1, 1}, {1, 1}},
        {1, 17, 25, {28, 28}, {1, 1}, {1, 1}}, {3, 4, 24, {9, 30}, {0, 1}, {1, 0}},
        {1, 3, 2, {70, 68}, {1, 1}, {1, 1}},   {1, 2, 2, {3, 1100}, {1, 1}, {1, 1}},
        {1, 2, 50, {5, 6}, {1, 0}, {0, 1}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const shape *s = &shapes[i];
        fxs_conv v = {.batch = s->batch, .groups = 1, .cin = s->cin, .cout = s->cout};
        for (int d = 0; d < 3; d++) {
            v.window.kernel[d] = d ? 3 : 1;
            v.window.stride[d] = v.window.dilation[d] = 1;
            v.window.in[d] = d ? s->in[d - 1] : 1;
            v.window.before[d] = d ? s->before[d - 1] : 0;
            v.window.after[d] = d ? s->after[d - 1] : 0;
            v.window.out[d] =
                v.window.in[d] + v.window.before[d] + v.window.after[d] - v.window.kernel[d] + 1;
        }
        check_conv(ctx, &v, 2);
        check_conv(ctx, &v, 4);
    }
}

static void both_tiles_convolve(void **state) {
    for (const fxs_micro *m = fxs_micros; m->run; m++)
        for (int threads = 1; m->here() && threads <= 3; threads++) {
            fxs_micro_use(m);
            assert_ok(*state, fxs_ctx_set_threads(*state, threads));
            convolutions(*state);
        }
    fxs_micro_use(NULL);
    assert_ok(*state, fxs_ctx_set_threads(*state, 1));
}

static int chosen(int64_t cin, int64_t cout, int64_t height, int64_t width) {
    fxs_conv v = {.batch = 1, .groups = 1, .cin = cin, .cout = cout};
    for (int d = 0; d < 3; d++) {
        v.window.kernel[d] = d ? 3 : 1;
        v.window.stride[d] = v.window.dilation[d] = 1;
        v.window.before[d] = v.window.after[d] = d > 0;
        v.window.in[d] = v.window.out[d] = d == 0 ? 1 : d == 1 ? height : width;
    }
    return fxs_conv_winograd_tile(&v);
}

/* What is infinite, and what is so large that its multiples are, leaves all results alone that it
 * is no part of, as it does without transforms. */
static void infinite_values_spread_no_further(void **state) {
    enum { CHANNELS = 16, SIDE = 29, AT = 14 };
    static const float special[] = {INFINITY, NAN, 3e38f};
    fxs_ctx *ctx = *state;
    for (const fxs_micro *m = fxs_micros; m->run; m++)
        for (int threads = 1; m->here() && threads <= 2; threads++)
            for (size_t s = 0; s < sizeof special / sizeof *special; s++) {
                fxs_micro_use(m);
                assert_ok(ctx, fxs_ctx_set_threads(ctx, threads));
                assert_int_equal(chosen(CHANNELS, CHANNELS, SIDE, SIDE), 4);
                fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, CHANNELS, SIDE, SIDE), 1),
                           *w = random_tensor(ctx, FXS_FLOAT32, SIZES(CHANNELS, CHANNELS, 3, 3), 2);
                ((float *)fxs_tensor_data(x))[AT * SIDE + AT] = special[s];
                fxs_tensor *y = run_op(ctx, "torch.conv2d", TUPLE(ctx, TENSOR(x), TENSOR(w)),
                                       KEYWORDS(ctx, {"padding", fxs_int(1)}));
                for (int64_t i = 0; i < fxs_tensor_numel(y); i++) {
                    int64_t row = i / SIDE % SIDE, column = i % SIDE;
                    bool part = llabs(row - AT) <= 1 && llabs(column - AT) <= 1;
                    assert_true(part ? !(fabs(nth(y, i)) < 1e30) : fabs(nth(y, i)) < 1e3);
                }
                fxs_tensor_unref(x);
                fxs_tensor_unref(w);
                fxs_tensor_unref(y);
            }
    fxs_micro_use(NULL);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

/* Many pixels are worth large tiles, few small ones, a line none: half of each tile is empty. */
static void tiles_are_chosen_by_size(void **state) {
    (void)state;
    for (const fxs_micro *m = fxs_micros; m->run; m++) {
        if (!m->here())
            continue;
        fxs_micro_use(m);
        assert_int_equal(chosen(64, 64, 56, 56), 4);
        assert_int_equal(chosen(512, 512, 28, 28), 4);
        assert_int_equal(chosen(512, 512, 7, 7), 2);
        assert_int_equal(chosen(64, 64, 1, 3000), 0);
        assert_int_equal(chosen(64, 64, 1, 1), 0);
        assert_int_equal(chosen(3, 64, 224, 224), 0);
        assert_int_equal(chosen(256, 16, 8, 100000), 0); /* a line of tiles is 900 MB */
    }
    fxs_micro_use(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_correlate),
        cmocka_unit_test(kernels_are_read_to_their_end),
        cmocka_unit_test(both_tiles_convolve),
        cmocka_unit_test(tiles_are_chosen_by_size),
        cmocka_unit_test(infinite_values_spread_no_further),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
