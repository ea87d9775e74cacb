/* test_resample.c: interpolate by all modes against plain formulas; pixel and channel shuffles,
 * fold and unfold; layouts and refusals. */
#include "checking.h"

/* One dimension of resizing: `in` to `out` places. */
typedef struct line {
    int64_t in, out;
    double scale;
} line;

typedef double weight_fn(const line *l, bool align, int64_t o, int64_t i);

static int64_t edge(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static double position(const line *l, bool align, int64_t o) {
    return align ? (double)o * l->scale : ((double)o + 0.5) * l->scale - 0.5;
}

static double nearest(const line *l, bool align, int64_t o, int64_t i) {
    (void)align;
    return edge((int64_t)floor((double)(float)((double)o * l->scale)), l->in) == i;
}

static double nearest_exact(const line *l, bool align, int64_t o, int64_t i) {
    (void)align;
    return edge((int64_t)floor((double)(float)(((double)o + 0.5) * l->scale)), l->in) == i;
}

static double linear(const line *l, bool align, int64_t o, int64_t i) {
    double x = fmax(position(l, align, o), 0), f = x - floor(x);
    if (l->in == l->out)
        return i == o;
    return (edge((int64_t)x, l->in) == i ? 1 - f : 0) + (edge((int64_t)x + 1, l->in) == i ? f : 0);
}

static double bump(double x, double a) {
    x = fabs(x);
    return x < 1   ? (a + 2) * x * x * x - (a + 3) * x * x + 1
           : x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a
                   : 0;
}

static double cubic(const line *l, bool align, int64_t o, int64_t i) {
    double x = position(l, align, o), sum = 0;
    for (int k = -1; k <= 2; k++)
        if (edge((int64_t)floor(x) + k, l->in) == i)
            sum += bump(x - floor(x) - k, -0.75);
    return sum;
}

static double area(const line *l, bool align, int64_t o, int64_t i) {
    int64_t from = o * l->in / l->out, to = ((o + 1) * l->in + l->out - 1) / l->out;
    (void)align;
    return i >= from && i < to ? 1 / (double)(to - from) : 0;
}

static double smooth(const line *l, int64_t o, int64_t i, double half, double a) {
    double wide = fmax(l->scale, 1), centre = l->scale * ((double)o + 0.5), total = 0, own = 0;
    int64_t from = edge((int64_t)(centre - half * wide + 0.5), l->in + 1),
            to = (int64_t)(centre + half * wide + 0.5);
    for (int64_t k = from; k < to && k < l->in; k++) {
        double x = ((double)k - centre + 0.5) / wide,
               v = half == 1 ? fmax(1 - fabs(x), 0) : bump(x, a);
        total += v;
        own += k == i ? v : 0;
    }
    return own / total;
}

static double smooth_linear(const line *l, bool align, int64_t o, int64_t i) {
    return (void)align, smooth(l, o, i, 1, 0);
}
static double smooth_cubic(const line *l, bool align, int64_t o, int64_t i) {
    return (void)align, smooth(l, o, i, 2, -0.5);
}

/* x [2, 3, spatial of `dims` sizes], to sizes out, by a weight in each dimension. */
static void expect(const fxs_tensor *y, const fxs_tensor *x, int dims, const line *lines,
                   weight_fn *weight, bool align, double tolerance) {
    for (int64_t i = 0; i < fxs_tensor_numel(y); i++) {
        int64_t o[5], rest = i, total = 1;
        double want = 0;
        for (int d = dims + 1; d >= 0; d--)
            o[d] = rest % y->sizes[d], rest /= y->sizes[d];
        for (int d = 0; d < dims; d++)
            total *= lines[d].in;
        for (int64_t k = 0; k < total; k++) {
            int64_t at[5] = {o[0], o[1]};
            double w = 1;
            rest = k;
            for (int d = dims - 1; d >= 0; d--)
                at[2 + d] = rest % lines[d].in, rest /= lines[d].in;
            for (int d = 0; d < dims && w != 0; d++)
                w *= weight(&lines[d], align, o[2 + d], at[2 + d]);
            want += w != 0 ? w * element(x, at) : 0;
        }
        assert_near(nth(y, i), want, tolerance);
    }
}

static const struct way {
    const char *mode;
    int dims; /* 0: any */
    bool antialias;
    weight_fn *weight;
} ways[] = {{"nearest", 0, false, nearest},    {"nearest-exact", 0, false, nearest_exact},
            {"linear", 1, false, linear},      {"bilinear", 2, false, linear},
            {"trilinear", 3, false, linear},   {"bicubic", 2, false, cubic},
            {"area", 0, false, area},          {"bilinear", 2, true, smooth_linear},
            {"bicubic", 2, true, smooth_cubic}};

static fxs_value resize(fxs_ctx *ctx, const struct way *w, fxs_tensor *x, fxs_value size,
                        fxs_value factor, int align) {
    return run_both(
        ctx, "torch.nn.functional.interpolate", TUPLE(ctx, TENSOR(x)),
        KEYWORDS(ctx, {"size", size}, {"scale_factor", factor}, {"mode", make_str(ctx, w->mode)},
                 {"align_corners", align < 0 ? fxs_none() : fxs_bool(align)},
                 {"recompute_scale_factor", fxs_none()}, {"antialias", fxs_bool(w->antialias)}));
}

static void check(fxs_ctx *ctx, const struct way *w, fxs_dtype d, int dims, const int64_t *in,
                  const int64_t *out, int align) {
    int64_t sizes[5] = {2, 3};
    line lines[3];
    fxs_value items[3];
    memcpy(sizes + 2, in, (size_t)dims * sizeof *in);
    for (int k = 0; k < dims; k++) {
        double scale = align == 1 ? (out[k] > 1 ? (double)(in[k] - 1) / (double)(out[k] - 1) : 0)
                                  : (double)in[k] / (double)out[k];
        lines[k] = (line){in[k], out[k], d == FXS_FLOAT64 ? scale : (double)(float)scale};
        items[k] = fxs_int(out[k]);
    }
    fxs_tensor *x = random_tensor(ctx, d, dims + 2, sizes, 1);
    fxs_value y =
        resize(ctx, w, x, make_list(ctx, FXS_V_TUPLE, (size_t)dims, items), fxs_none(), align);
    expect(y.u.tensor, x, dims, lines, w->weight, align == 1, tolerance_of(d) * 3);
    fxs_value_unref(&y);
    fxs_tensor_unref(x);
}

static void sizes_of_every_mode(void **state) {
    static const int64_t ins[][3] = {{4, 5, 3}, {7, 3, 4}, {1, 6, 2}},
                         outs[][3] = {{8, 5, 7}, {3, 2, 4}, {5, 9, 3}};
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        for (int dims = 1; dims <= 3; dims++)
            for (int i = 0; i < 3; i++) {
                bool smooths = strstr(ways[k].mode, "linear") || strstr(ways[k].mode, "cubic");
                if (ways[k].dims && ways[k].dims != dims)
                    continue;
                check(*state, &ways[k], types[i], dims, ins[i], outs[i], -1);
                if (smooths)
                    check(*state, &ways[k], types[i], dims, ins[i], outs[i], 1);
            }
}

/* scale_factor fixes both the size (rounded down) and the step, which is not in / out then. */
static void factors(void **state) {
    fxs_ctx *ctx = *state;
    static const int pick[] = {0, 1, 3, 5};
    for (int k = 0; k < 4; k++) {
        fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 5, 7), 1);
        line lines[] = {{5, 8, (double)(float)(1 / 1.7)}, {7, 17, (double)(float)(1 / 2.5)}};
        fxs_value y = resize(ctx, &ways[pick[k]], x, fxs_none(),
                             TUPLE(ctx, fxs_float(1.7), fxs_float(2.5)), -1);
        assert_shape(y.u.tensor, 4, (int64_t[]){2, 3, 8, 17});
        expect(y.u.tensor, x, 2, lines, ways[pick[k]].weight, false, 1e-4);
        fxs_value_unref(&y);
        fxs_tensor_unref(x);
    }
}

static void layouts(void **state) {
    fxs_ctx *ctx = *state;
    static const int last[] = {0, 2, 3, 1};
    fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(2, 4, 5, 6), 1), last);
    int64_t plain[] = {480, 120, 12, 1}, channels[] = {480, 1, 48, 4};
    static const int pick[] = {0, 3, 6, 5};
    for (int k = 0; k < 4; k++) {
        fxs_value y = resize(ctx, &ways[pick[k]], x, fxs_none(), fxs_int(2), -1);
        assert_strides(y.u.tensor, 4, k == 3 ? plain : channels);
        line lines[] = {{5, 10, 0.5}, {6, 12, 0.5}};
        expect(y.u.tensor, x, 2, lines, ways[pick[k]].weight, false, 1e-4);
        fxs_value_unref(&y);
    }
    fxs_tensor_unref(x);
}

static void pixels_move(void **state) {
    fxs_ctx *ctx = *state;
    static const int last[] = {0, 2, 3, 1};
    for (int form = 0; form < 2; form++) {
        fxs_tensor *x = random_tensor(ctx, form ? FXS_INT64 : FXS_FLOAT32, SIZES(2, 8, 3, 5), 1);
        if (form)
            x = laid_out(ctx, x, last);
        fxs_value y =
            run_both(ctx, "torch.pixel_shuffle", TUPLE(ctx, TENSOR(x), fxs_int(2)), fxs_none());
        assert_shape(y.u.tensor, 4, (int64_t[]){2, 2, 6, 10});
        for (int64_t i = 0; i < 240; i++) {
            int64_t n = i / 120, c = i / 60 % 2, r = i / 10 % 6, q = i % 10;
            assert_near(nth(y.u.tensor, i),
                        element(x, (int64_t[]){n, c * 4 + r % 2 * 2 + q % 2, r / 2, q / 2}), 0);
        }
        fxs_value back = run_both(ctx, "torch.pixel_unshuffle",
                                  TUPLE(ctx, TENSOR(y.u.tensor), fxs_int(2)), fxs_none());
        for (int64_t i = 0; i < 240; i++)
            assert_near(nth(back.u.tensor, i), nth(x, i), 0);
        fxs_value_unref(&back);
        fxs_value_unref(&y);
        y = run_both(ctx, "torch.channel_shuffle", TUPLE(ctx, TENSOR(x), fxs_int(2)), fxs_none());
        for (int64_t i = 0; i < 240; i++) {
            int64_t c = i / 15 % 8;
            assert_near(nth(y.u.tensor, i),
                        element(x, (int64_t[]){i / 120, c % 2 * 4 + c / 2, i / 5 % 3, i % 5}), 0);
        }
        fxs_value_unref(&y);
        fxs_tensor_unref(x);
    }
}

static void blocks_unfold_and_fold(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16};
    for (int t = 0; t < 3; t++) {
        fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 3, 6, 5), 1);
        fxs_value how = TUPLE(ctx, fxs_int(2), fxs_int(3)),
                  stride = TUPLE(ctx, fxs_int(2), fxs_int(1));
        fxs_value_ref(how), fxs_value_ref(stride);
        fxs_value y = run_both(
            ctx, "torch.nn.functional.unfold", TUPLE(ctx, TENSOR(x), how),
            KEYWORDS(ctx, {"dilation", fxs_int(1)}, {"padding", fxs_int(1)}, {"stride", stride}));
        assert_shape(y.u.tensor, 3, (int64_t[]){2, 18, 20});
        for (int64_t i = 0; i < 720; i++) {
            int64_t n = i / 360, k = i / 20 % 18, l = i % 20, r = l / 5 * 2 + k / 3 % 2 - 1,
                    q = l % 5 + k % 3 - 1;
            double want =
                r >= 0 && r < 6 && q >= 0 && q < 5 ? element(x, (int64_t[]){n, k / 6, r, q}) : 0;
            assert_near(nth(y.u.tensor, i), want, 0);
        }
        fxs_value sum = run_both(
            ctx, "torch.nn.functional.fold",
            TUPLE(ctx, TENSOR(y.u.tensor), TUPLE(ctx, fxs_int(6), fxs_int(5)), how),
            KEYWORDS(ctx, {"dilation", fxs_int(1)}, {"padding", fxs_int(1)}, {"stride", stride}));
        for (int64_t i = 0; i < 180;
             i++) { /* as often as blocks hold it: once down, thrice across */
            int64_t q = i % 5;
            assert_near(nth(sum.u.tensor, i), (q == 0 || q == 4 ? 2 : 3) * nth(x, i),
                        tolerance_of(types[t]));
        }
        fxs_value_unref(&sum);
        fxs_value_unref(&y);
        fxs_tensor_unref(x);
    }
}

static void bad_arguments_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_value none = fxs_none();
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 4, 5), 1),
               *f = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 5), 1);
    const char *op = "torch.nn.functional.interpolate";
#define X TUPLE(ctx, TENSOR(x))
    refuses(ctx, op, X, none, "interpolate: either size or scale_factor should be defined");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", fxs_int(2)}, {"scale_factor", fxs_int(2)}),
            "interpolate: only one of size or scale_factor should be defined");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", fxs_int(2)}, {"align_corners", fxs_bool(true)}),
            "interpolate: align_corners can only be set with the modes linear, bilinear, bicubic "
            "and trilinear");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", fxs_int(2)}, {"mode", make_str(ctx, "linear")}),
            "interpolate: got 4D input, but linear mode needs 3D input");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", fxs_int(2)}, {"mode", make_str(ctx, "cubic")}),
            "interpolate: only 3D, 4D and 5D input tensors are supported (got 4D) for the modes "
            "nearest, linear, bilinear, "
            "bicubic, trilinear, area and nearest-exact (got cubic)");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", fxs_int(0)}),
            "interpolate: input and output sizes should be greater than 0, but got input (4 x 5) "
            "output (0 x 0)");
    refuses(ctx, op, X, KEYWORDS(ctx, {"scale_factor", fxs_float(1e300)}),
            "interpolate: an output size beyond 2^53");
    refuses(ctx, op, X, KEYWORDS(ctx, {"scale_factor", fxs_float(-1)}),
            "interpolate: input and output sizes should be greater than 0, but got input (4 x 5) "
            "output (0 x 0)");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", TUPLE(ctx, fxs_int(1), fxs_int(1), fxs_int(1))}),
            "interpolate: input and output size must have the same number of spatial dimensions, "
            "but got 2 and 3");
    refuses(ctx, op, X, KEYWORDS(ctx, {"size", fxs_int(2)}, {"antialias", fxs_bool(true)}),
            "interpolate: anti-alias option is only supported for bilinear and bicubic modes");
    refuses(ctx, op, X,
            KEYWORDS(ctx, {"size", fxs_int(2)}, {"recompute_scale_factor", fxs_bool(true)}),
            "interpolate: recompute_scale_factor is not meaningful with an explicit size");
    refuses(ctx, "torch.pixel_shuffle", TUPLE(ctx, TENSOR(x), fxs_int(2)), none,
            "pixel_shuffle: input of shape [1, 3, 4, 5] can't be divided by a factor of 2");
    refuses(ctx, "torch.pixel_shuffle", TUPLE(ctx, TENSOR(f), fxs_int(2)), none,
            "pixel_shuffle: expects input to have at least 3 dimensions, but got input of shape "
            "[4, 5]");
    refuses(ctx, "torch.pixel_unshuffle", TUPLE(ctx, TENSOR(x), fxs_int(0)), none,
            "pixel_unshuffle: expects a positive downscale_factor, but got 0");
    refuses(ctx, "torch.channel_shuffle", TUPLE(ctx, TENSOR(x), fxs_int(2)), none,
            "channel_shuffle: number of channels must be divisible by groups, but got input of "
            "shape [1, 3, 4, 5] and 2 "
            "groups");
    refuses(ctx, "torch.nn.functional.unfold", TUPLE(ctx, TENSOR(x), fxs_int(6)), none,
            "unfold_image: given spatial size (4 x 5), the calculated shape of the array of "
            "sliding blocks is (0 x 0), but "
            "its components must be at least one");
    refuses(ctx, "torch.nn.functional.fold", TUPLE(ctx, TENSOR(f), fxs_int(4), fxs_int(2)), none,
            "fold: expected (3 x 3) sliding blocks, but got input of shape [4, 5]");
    refuses(ctx, "torch.nn.functional.fold", TUPLE(ctx, TENSOR(f), fxs_int(4), fxs_int(3)), none,
            "fold: expected size of input's channel dimension to be divisible by the product of "
            "kernel_size (3 x 3), "
            "but got "
            "input of shape [4, 5]");
    fxs_tensor_unref(x);
    fxs_tensor_unref(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_every_mode),
        cmocka_unit_test(factors),
        cmocka_unit_test(layouts),
        cmocka_unit_test(pixels_move),
        cmocka_unit_test(blocks_unfold_and_fold),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
