/* test_conv.c: convolutions and transposed convolutions against plain loops, over shapes,
 * arguments, layouts and types; every way in which they are computed; refusals and their messages;
 * layers. */
#include "checking.h"

#include "kernels/micro.h"

/* One convolution of `dims` dimensions as numbers; what is not there is 1. */
typedef struct plan {
    int dims;
    int64_t batch, groups, cin, cout, in[3], kernel[3], stride[3], padding[3], dilation[3],
        extra[3];
    bool bias, transposed;
} plan;

static int64_t flat(const int64_t *index, const int64_t *sizes, int n) {
    int64_t at = 0;
    for (int i = 0; i < n; i++)
        at = at * sizes[i] + index[i];
    return at;
}

/* Sizes of the tensors, with all three spatial dimensions. */
static void result_size(const plan *p, int64_t out[3]) {
    for (int d = 0; d < 3; d++) {
        int64_t extent = p->dilation[d] * (p->kernel[d] - 1) + 1;
        out[d] = p->transposed
                     ? (p->in[d] - 1) * p->stride[d] - 2 * p->padding[d] + extent + p->extra[d]
                     : (p->in[d] + 2 * p->padding[d] - extent) / p->stride[d] + 1;
    }
}

/* Adds up every meeting of an input element, a weight and a result; x, w, b, y are double arrays.
 */
static void reference(const plan *p, const double *x, const double *w, const double *b, double *y) {
    int64_t out[3], cg = p->cin / p->groups, mg = p->cout / p->groups;
    result_size(p, out);
    for (int64_t i = 0; i < p->batch * p->cout * out[0] * out[1] * out[2]; i++)
        y[i] = b ? b[i / (out[0] * out[1] * out[2]) % p->cout] : 0;
    const int64_t *small = p->transposed ? p->in : out, *large = p->transposed ? out : p->in;
    const int64_t ranges[] = {p->batch, p->groups, mg,           cg,           small[0],
                              small[1], small[2],  p->kernel[0], p->kernel[1], p->kernel[2]};
    int64_t at[10] = {0}, total = 1;
    for (int i = 0; i < 10; i++)
        total *= ranges[i];
    for (int64_t step = 0; step < total; step++) {
        int64_t rest = step, pos[3];
        bool inside = true;
        for (int i = 9; i >= 0; i--)
            at[i] = rest % ranges[i], rest /= ranges[i];
        for (int d = 0; d < 3; d++) {
            pos[d] = at[4 + d] * p->stride[d] - p->padding[d] + at[7 + d] * p->dilation[d];
            inside &= pos[d] >= 0 && pos[d] < large[d];
        }
        if (!inside)
            continue;
        int64_t c = at[1] * cg + at[3], m = at[1] * mg + at[2];
        const int64_t *in_pos = p->transposed ? at + 4 : pos,
                      *out_pos = p->transposed ? pos : at + 4;
        int64_t kernel = flat(at + 7, p->kernel, 3),
                volume = p->kernel[0] * p->kernel[1] * p->kernel[2];
        int64_t wi = (p->transposed ? c * mg + at[2] : m * cg + at[3]) * volume + kernel;
        int64_t xi = flat((int64_t[]){at[0], c, in_pos[0], in_pos[1], in_pos[2]},
                          (int64_t[]){p->batch, p->cin, p->in[0], p->in[1], p->in[2]}, 5);
        int64_t yi = flat((int64_t[]){at[0], m, out_pos[0], out_pos[1], out_pos[2]},
                          (int64_t[]){p->batch, p->cout, out[0], out[1], out[2]}, 5);
        y[yi] += x[xi] * w[wi];
    }
}

static double *doubles(const fxs_tensor *t) {
    int64_t n = fxs_tensor_numel(t);
    double *d = malloc((size_t)(n + 1) * sizeof *d);
    for (int64_t i = 0; i < n; i++)
        d[i] = nth(t, i);
    return d;
}

static fxs_value int_list(fxs_ctx *ctx, const plan *p, const int64_t *v) {
    fxs_value items[3];
    for (int k = 0; k < p->dims; k++)
        items[k] = fxs_int(v[3 - p->dims + k]);
    return make_list(ctx, FXS_V_LIST, (size_t)p->dims, items);
}

static void tensor_of(fxs_ctx *ctx, const plan *p, fxs_dtype d, int64_t a, int64_t b,
                      const int64_t *spatial, uint64_t seed, fxs_tensor **out) {
    int64_t sizes[5] = {a, b};
    memcpy(sizes + 2, spatial + 3 - p->dims, (size_t)p->dims * sizeof *sizes);
    *out = random_tensor(ctx, d, p->dims + 2, sizes, seed);
}

/* The same values, laid out as channels_last. */
static fxs_tensor *channels_last(fxs_ctx *ctx, fxs_tensor *t) {
    fxs_tensor *last;
    int64_t strides[4];
    fxs_channels_last_strides(4, t->sizes, strides);
    assert_ok(ctx, fxs_tensor_make(ctx, t->dtype, 4, t->sizes, strides, &last));
    assert_ok(ctx, fxs_tensor_allocate(ctx, last));
    fxs_tensor_copy(ctx, last, t);
    fxs_tensor_unref(t);
    return last;
}

static fxs_value call_conv(fxs_ctx *ctx, const plan *p, bool meta, fxs_tensor *x, fxs_tensor *w,
                           fxs_tensor *b) {
    char name[32];
    fxs_value out, kwargs;
    snprintf(name, sizeof name, "torch.conv%s%dd", p->transposed ? "_transpose" : "", p->dims);
    if (p->transposed)
        kwargs = KEYWORDS(
            ctx, {"stride", int_list(ctx, p, p->stride)}, {"padding", int_list(ctx, p, p->padding)},
            {"dilation", int_list(ctx, p, p->dilation)}, {"groups", fxs_int(p->groups)},
            {"output_padding", int_list(ctx, p, p->extra)});
    else
        kwargs = KEYWORDS(
            ctx, {"stride", int_list(ctx, p, p->stride)}, {"padding", int_list(ctx, p, p->padding)},
            {"dilation", int_list(ctx, p, p->dilation)}, {"groups", fxs_int(p->groups)});
    assert_ok(ctx,
              try_op(ctx, meta, name, TUPLE(ctx, TENSOR(x), TENSOR(w), b ? TENSOR(b) : fxs_none()),
                     kwargs, &out));
    assert_int_equal(out.tag, FXS_V_TENSOR);
    return out;
}

static void compare(fxs_ctx *ctx, const plan *p, fxs_tensor *x, fxs_tensor *w, fxs_tensor *b,
                    double tolerance) {
    int64_t out[3];
    result_size(p, out);
    fxs_value y = call_conv(ctx, p, false, x, w, b), meta = call_conv(ctx, p, true, x, w, b);
    assert_int_equal(fxs_tensor_numel(y.u.tensor), p->batch * p->cout * out[0] * out[1] * out[2]);
    assert_shape(meta.u.tensor, y.u.tensor->ndim, y.u.tensor->sizes);
    assert_strides(meta.u.tensor, y.u.tensor->ndim, y.u.tensor->strides);
    double *dx = doubles(x), *dw = doubles(w), *db = b ? doubles(b) : NULL,
           *want = doubles(y.u.tensor);
    reference(p, dx, dw, db, want);
    for (int64_t i = 0; i < fxs_tensor_numel(y.u.tensor); i++)
        assert_near(nth(y.u.tensor, i), want[i], tolerance);
    free(dx), free(dw), free(db), free(want);
    fxs_value_unref(&y);
    fxs_value_unref(&meta);
}

/* layout: 0 plain, 1 channels_last input, 2 channels_last weight */
static void check(fxs_ctx *ctx, const plan *p, fxs_dtype d, int layout, double tolerance) {
    fxs_tensor *x, *w, *b = p->bias ? random_tensor(ctx, d, 1, &p->cout, 3) : NULL;
    tensor_of(ctx, p, d, p->batch, p->cin, p->in, 1, &x);
    tensor_of(ctx, p, d, p->transposed ? p->cin : p->cout,
              (p->transposed ? p->cout : p->cin) / p->groups, p->kernel, 2, &w);
    if (layout == 1)
        x = channels_last(ctx, x);
    if (layout == 2)
        w = channels_last(ctx, w);
    compare(ctx, p, x, w, b, tolerance);
    fxs_tensor_unref(x);
    fxs_tensor_unref(w);
    fxs_tensor_unref(b);
}

#define P2(n, g, ci, co, h, ww, k, s, pad, dil, b)                                                 \
    {                                                                                              \
        .dims = 2, .batch = n, .groups = g, .cin = ci, .cout = co, .in = {1, h, ww},               \
        .kernel = {1, k, k}, .stride = {1, s, s}, .padding = {0, pad, pad},                        \
        .dilation = {1, dil, dil}, .bias = b                                                       \
    }

static const plan plans[] = {
    P2(1, 1, 3, 7, 8, 9, 3, 1, 1, 1, true),
    P2(2, 1, 5, 13, 7, 6, 3, 2, 1, 1, false), /* implicit GEMM */
    P2(1, 2, 6, 4, 9, 9, 3, 1, 2, 2, true),
    P2(1, 1, 40, 6, 5, 5, 3, 1, 1, 1, true), /* several panels */
    P2(3, 1, 4, 5, 6, 7, 1, 1, 0, 1, true),
    P2(1, 1, 4, 5, 6, 7, 1, 2, 0, 1, false), /* pointwise */
    P2(2, 4, 4, 4, 9, 11, 3, 1, 1, 1, true),
    P2(2, 4, 4, 8, 9, 11, 3, 2, 1, 1, false), /* depthwise */
    P2(3, 5, 5, 5, 8, 8, 3, 1, 1, 1, true),
    P2(2, 3, 3, 6, 7, 7, 3, 1, 1, 1, true),
    P2(2, 3, 3, 3, 5, 4, 3, 2, 2, 1, false),
    P2(2, 40, 40, 40, 1, 1, 3, 1, 1, 1, true),
    P2(2, 3, 3, 3, 3, 3, 3, 1, 1, 1, true),
    P2(1, 70, 70, 70, 17, 23, 3, 2, 1, 1, true), /* several threads */
    P2(1, 3, 3, 3, 12, 12, 5, 1, 2, 1, true),
    P2(1, 3, 3, 3, 9, 9, 3, 3, 1, 2, true),
    P2(1, 1, 1, 1, 1, 1, 1, 1, 0, 1, false),
    P2(2, 1, 3, 2, 4, 4, 4, 1, 0, 1, true),
    {.dims = 1,
     .batch = 2,
     .groups = 1,
     .cin = 3,
     .cout = 4,
     .in = {1, 1, 11},
     .kernel = {1, 1, 4},
     .stride = {1, 1, 2},
     .padding = {0, 0, 3},
     .dilation = {1, 1, 2},
     .bias = true},
    {.dims = 2,
     .batch = 1,
     .groups = 1,
     .cin = 2,
     .cout = 3,
     .in = {1, 7, 9},
     .kernel = {1, 1, 5},
     .stride = {1, 2, 1},
     .padding = {0, 0, 2},
     .dilation = {1, 1, 1},
     .bias = true},
    {.dims = 3,
     .batch = 2,
     .groups = 2,
     .cin = 4,
     .cout = 6,
     .in = {4, 5, 6},
     .kernel = {2, 3, 3},
     .stride = {1, 2, 1},
     .padding = {1, 0, 1},
     .dilation = {1, 1, 2},
     .bias = true},
    {.dims = 3,
     .batch = 1,
     .groups = 3,
     .cin = 3,
     .cout = 3,
     .in = {4, 5, 6},
     .kernel = {3, 3, 3},
     .stride = {1, 1, 1},
     .padding = {1, 1, 1},
     .dilation = {1, 1, 1},
     .bias = false},
};

static void convolutions_agree_with_loops(void **state) {
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16,
                                      FXS_FLOAT16, FXS_INT64,   FXS_UINT8};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            plan p = plans[i];
            if (types[t] == FXS_UINT8 && p.cin * p.kernel[1] * p.kernel[2] > 3)
                continue; /* sums would wrap */
            check(*state, &p, types[t], 0, tolerance_of(types[t]));
        }
}

static void layouts_are_followed(void **state) {
    fxs_ctx *ctx = *state;
    for (int layout = 1; layout <= 2; layout++)
        for (size_t i = 0; i < 8; i++)
            check(ctx, &plans[i], FXS_FLOAT32, layout, tolerance_of(FXS_FLOAT32));
    static const plan p = P2(2, 1, 3, 4, 5, 6, 3, 1, 1, 1, false);
    fxs_tensor *x, *w;
    tensor_of(ctx, &p, FXS_FLOAT32, 2, 3, p.in, 1, &x);
    tensor_of(ctx, &p, FXS_FLOAT32, 4, 3, p.kernel, 2, &w);
    x = channels_last(ctx, x);
    fxs_value y = call_conv(ctx, &p, true, x, w, NULL);
    assert_strides(y.u.tensor, 4, (int64_t[]){120, 1, 24, 4});
    fxs_value_unref(&y);
    fxs_tensor *image; /* unbatched: [C, H, W] of channels_last gives plain rows */
    assert_ok(ctx, fxs_tensor_view(ctx, x, &image));
    image->ndim = 3;
    memmove(image->sizes, image->sizes + 1, 3 * sizeof(int64_t));
    memmove(image->strides, image->strides + 1, 3 * sizeof(int64_t));
    y = call_conv(ctx, &p, false, image, w, NULL);
    assert_shape(y.u.tensor, 3, (int64_t[]){4, 5, 6});
    assert_strides(y.u.tensor, 3, (int64_t[]){30, 6, 1});
    fxs_value_unref(&y);
    fxs_tensor_unref(image);
    fxs_tensor_unref(x);
    fxs_tensor_unref(w);
}

/* Larger images: against the same operator in float64, which is computed another way and agrees
 * with loops above. */
static void check_against_double(fxs_ctx *ctx, const plan *p, double tolerance) {
    fxs_tensor *x, *w, *b = random_tensor(ctx, FXS_FLOAT32, 1, &p->cout, 3), *wide[3];
    tensor_of(ctx, p, FXS_FLOAT32, p->batch, p->cin, p->in, 1, &x);
    tensor_of(ctx, p, FXS_FLOAT32, p->cout, p->cin, p->kernel, 2, &w);
    fxs_tensor *const narrow[] = {x, w, b};
    for (int i = 0; i < 3; i++) {
        assert_ok(ctx,
                  fxs_tensor_new(ctx, FXS_FLOAT64, narrow[i]->ndim, narrow[i]->sizes, &wide[i]));
        fxs_tensor_copy(ctx, wide[i], narrow[i]);
    }
    fxs_value have = call_conv(ctx, p, false, x, w, b),
              want = call_conv(ctx, p, false, wide[0], wide[1], wide[2]);
    for (int64_t i = 0; i < fxs_tensor_numel(have.u.tensor); i++)
        assert_near(nth(have.u.tensor, i), nth(want.u.tensor, i), tolerance);
    fxs_value_unref(&have);
    fxs_value_unref(&want);
    for (int i = 0; i < 3; i++) {
        fxs_tensor_unref(narrow[i]);
        fxs_tensor_unref(wide[i]);
    }
}

static void winograd_agrees_with_loops(void **state) {
    static const plan small[] = {P2(1, 1, 16, 64, 13, 15, 3, 1, 1, 1, true),
                                 P2(1, 1, 16, 16, 29, 31, 3, 1, 1, 1, false)};
    static const plan large[] = {
        P2(2, 1, 17, 66, 14, 15, 3, 1, 0, 1, true), P2(2, 1, 18, 17, 30, 28, 3, 1, 0, 1, true),
        P2(1, 1, 16, 16, 66, 63, 3, 1, 1, 1, true),
        P2(1, 1, 64, 64, 121, 57, 3, 1, 1, 1, true), /* several blocks */
    };
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        check(*state, &small[i], FXS_FLOAT32, 0, 1e-4);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        check_against_double(*state, &large[i], i == 3 ? 5e-4 : 1e-4);
}

static void transposed_convolutions_agree_with_loops(void **state) {
    static const plan backs[] = {
        {.dims = 2,
         .batch = 2,
         .groups = 1,
         .cin = 3,
         .cout = 4,
         .in = {1, 4, 5},
         .kernel = {1, 2, 2},
         .stride = {1, 2, 2},
         .padding = {0, 0, 0},
         .dilation = {1, 1, 1},
         .bias = true,
         .transposed = true},
        {.dims = 2,
         .batch = 1,
         .groups = 2,
         .cin = 4,
         .cout = 6,
         .in = {1, 5, 4},
         .kernel = {1, 3, 3},
         .stride = {1, 2, 2},
         .padding = {0, 1, 1},
         .dilation = {1, 1, 1},
         .extra = {0, 1, 1},
         .transposed = true},
        {.dims = 1,
         .batch = 2,
         .groups = 1,
         .cin = 2,
         .cout = 3,
         .in = {1, 1, 6},
         .kernel = {1, 1, 4},
         .stride = {1, 1, 3},
         .padding = {0, 0, 2},
         .dilation = {1, 1, 2},
         .bias = true,
         .transposed = true},
        {.dims = 3,
         .batch = 1,
         .groups = 1,
         .cin = 2,
         .cout = 2,
         .in = {2, 3, 4},
         .kernel = {3, 2, 3},
         .stride = {2, 1, 2},
         .padding = {1, 0, 1},
         .dilation = {1, 1, 1},
         .bias = true,
         .transposed = true},
    };
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_INT64, FXS_BFLOAT16};
    for (size_t i = 0; i < sizeof backs / sizeof *backs; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            check(*state, &backs[i], types[t], 0, tolerance_of(types[t]));
}

static void threads_do_not_change_results(void **state) {
    fxs_ctx *ctx = *state;
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 3));
    convolutions_agree_with_loops(state);
    winograd_agrees_with_loops(state);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

/* What the processor can do decides which way is taken: all of them give the same. */
static void every_kind_of_vectors(void **state) {
    for (const fxs_micro *m = fxs_micros; m->run; m++) {
        if (!m->here())
            continue;
        fxs_micro_use(m);
        convolutions_agree_with_loops(state);
        winograd_agrees_with_loops(state);
    }
    fxs_micro_use(NULL);
}

static void named_padding(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 2, 6, 7), 1);
    fxs_tensor *w = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 2, 4, 3), 2);
    fxs_tensor *same = run_op(ctx, "torch.conv2d", TUPLE(ctx, TENSOR(x), TENSOR(w)),
                              KEYWORDS(ctx, {"padding", make_str(ctx, "same")}));
    assert_shape(same, 4, (int64_t[]){1, 3, 6, 7});
    for (int64_t i = 0; i < 126; i++) { /* of four rows, one pads in front and two behind */
        double want = 0;
        int64_t m = i / 42, r = i / 7 % 6, col = i % 7;
        for (int64_t k = 0; k < 24; k++) {
            int64_t c = k / 12, y = r - 1 + k / 3 % 4, z = col - 1 + k % 3;
            if (y >= 0 && y < 6 && z >= 0 && z < 7)
                want += element(x, (int64_t[]){0, c, y, z}) *
                        element(w, (int64_t[]){m, c, k / 3 % 4, k % 3});
        }
        assert_near(nth(same, i), want, 1e-5);
    }
    fxs_tensor *valid = run_op(ctx, "torch.conv2d", TUPLE(ctx, TENSOR(x), TENSOR(w)),
                               KEYWORDS(ctx, {"padding", make_str(ctx, "valid")}));
    assert_shape(valid, 4, (int64_t[]){1, 3, 3, 5});
    fxs_tensor_unref(same);
    fxs_tensor_unref(valid);
    fxs_tensor_unref(x);
    fxs_tensor_unref(w);
}

/* Where padding reads: as torch.nn.functional.pad's modes. */
static int64_t padded_source(const char *mode, int64_t i, int64_t n) {
    if (i >= 0 && i < n)
        return i;
    if (strcmp(mode, "reflect") == 0)
        return i < 0 ? -i : 2 * n - 2 - i;
    if (strcmp(mode, "replicate") == 0)
        return i < 0 ? 0 : n - 1;
    return (i + n) % n;
}

static void padding_modes_of_layers(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const modes[] = {"reflect", "replicate", "circular"};
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64};
    for (int i = 0; i < 6; i++) {
        const char *mode = modes[i % 3];
        fxs_arena scratch = {0};
        fxs_tensor *x = random_tensor(ctx, types[i / 3], SIZES(2, 2, 5, 4), 1);
        fxs_tensor *w = random_tensor(ctx, types[i / 3], SIZES(3, 2, 3, 3), 2);
        fxs_value args = TUPLE(ctx, TENSOR(x), TENSOR(w), fxs_none());
        fxs_value kwargs = KEYWORDS(ctx, {"padding", LIST(ctx, fxs_int(2), fxs_int(1))},
                                    {"padding_mode", make_str(ctx, mode)});
        const fxs_candidate *op;
        fxs_applied got;
        fxs_apply how = {.scratch = &scratch};
        assert_ok(ctx, fxs_registry_find_op(ctx, "conv2d", &op));
        assert_ok(ctx, fxs_op_apply(ctx, op, &args, &kwargs, &how, &got));
        assert_shape(got.result.u.tensor, 4, (int64_t[]){2, 3, 7, 4});
        for (int64_t k = 0; k < 168; k++) {
            double want = 0;
            int64_t n = k / 84, m = k / 28 % 3, r = k / 4 % 7, col = k % 4;
            for (int64_t t = 0; t < 18; t++) {
                int64_t y = padded_source(mode, r - 2 + t / 3 % 3, 5),
                        z = padded_source(mode, col - 1 + t % 3, 4);
                want += element(x, (int64_t[]){n, t / 9, y, z}) *
                        element(w, (int64_t[]){m, t / 9, t / 3 % 3, t % 3});
            }
            assert_near(nth(got.result.u.tensor, k), want, 1e-5);
        }
        fxs_value_unref(&got.result);
        fxs_value_unref(&args);
        fxs_value_unref(&kwargs);
        fxs_tensor_unref(x);
        fxs_tensor_unref(w);
        fxs_arena_clear(&scratch);
    }
}

static void empty_batches_give_empty_results(void **state) {
    static const plan p = P2(0, 1, 3, 4, 8, 8, 3, 1, 1, 1, true);
    plan back = p;
    back.transposed = true;
    check(*state, &p, FXS_FLOAT32, 0, 0);
    check(*state, &back, FXS_FLOAT32, 0, 0);
}

static void refuses_conv(fxs_ctx *ctx, const char *op, fxs_tensor *x, fxs_tensor *w, fxs_tensor *b,
                         fxs_value kwargs, const char *message) {
    refuses(ctx, op, TUPLE(ctx, TENSOR(x), TENSOR(w), b ? TENSOR(b) : fxs_none()), kwargs, message);
}

static void bad_arguments_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 4, 8, 8), 1);
    fxs_tensor *w = random_tensor(ctx, FXS_FLOAT32, SIZES(6, 4, 3, 3), 2);
    fxs_tensor *stem = random_tensor(ctx, FXS_FLOAT32, SIZES(64, 3, 7, 7), 2);
    fxs_tensor *b = random_tensor(ctx, FXS_FLOAT32, SIZES(5), 2),
               *flags = random_tensor(ctx, FXS_BOOL, SIZES(1, 4, 8, 8), 1);
    fxs_tensor *d = random_tensor(ctx, FXS_FLOAT64, SIZES(6, 4, 3, 3), 2),
               *wide = random_tensor(ctx, FXS_FLOAT32, SIZES(6, 4, 9, 9), 2);
    fxs_tensor *flat_x = random_tensor(ctx, FXS_FLOAT32, SIZES(8, 8), 1);
    refuses_conv(ctx, "torch.conv2d", x, stem, NULL, fxs_none(),
                 "conv2d: expected input with 3 channels for weight of shape [64, 3, 7, 7], but "
                 "got input of shape [1, 4, "
                 "8, 8]");
    refuses_conv(
        ctx, "torch.conv2d", x, w, b, fxs_none(),
        "conv2d: given weight of shape [6, 4, 3, 3], expected bias of shape [6], but got [5]");
    refuses_conv(
        ctx, "torch.conv2d", x, d, NULL, fxs_none(),
        "conv2d: expected argument 'weight' of type float32 as the input, but got float64");
    refuses_conv(ctx, "torch.conv2d", flags, flags, NULL, fxs_none(),
                 "conv2d: not implemented for type bool");
    refuses_conv(
        ctx, "torch.conv2d", flat_x, w, NULL, fxs_none(),
        "conv2d: expected 3D (unbatched) or 4D (batched) input, but got input of shape [8, 8]");
    refuses_conv(ctx, "torch.conv2d", x, flat_x, NULL, fxs_none(),
                 "conv2d: expected weight of 4 dimensions, but got weight of shape [8, 8]");
    refuses_conv(ctx, "torch.conv2d", x, wide, NULL, fxs_none(),
                 "conv2d: calculated padded input size per channel: (8 x 8). Kernel size: (9 x 9). "
                 "Kernel size can't be greater "
                 "than actual input size");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"stride", fxs_int(0)}),
                 "conv2d: stride should be greater than zero, but got (0 x 0)");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"dilation", fxs_int(-1)}),
                 "conv2d: dilation should be greater than zero, but got (-1 x -1)");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"padding", fxs_int(-1)}),
                 "conv2d: negative padding is not supported, but got (-1 x -1)");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"groups", fxs_int(0)}),
                 "conv2d: non-positive groups is not supported, but got 0");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"groups", fxs_int(4)}),
                 "conv2d: given groups=4, expected weight to be divisible by 4 at dimension 0, but "
                 "got weight of shape [6, "
                 "4, 3, 3]");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"padding", make_str(ctx, "full")}),
                 "conv2d: invalid padding string: 'full' ('same' and 'valid' are known)");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL,
                 KEYWORDS(ctx, {"padding", make_str(ctx, "same")}, {"stride", fxs_int(2)}),
                 "conv2d: padding='same' is not supported for strided convolutions");
    refuses_conv(ctx, "torch.conv2d", x, w, NULL, KEYWORDS(ctx, {"padding", fxs_int(INT64_MAX)}),
                 "conv2d: sizes beyond 2^63");
    refuses_conv(ctx, "torch.conv_transpose2d", x, stem, NULL, fxs_none(),
                 "conv_transpose2d: expected input with 64 channels for weight of shape [64, 3, 7, "
                 "7], but got input of shape "
                 "[1, 4, 8, 8]");
    refuses_conv(ctx, "torch.conv_transpose2d", x, x, NULL,
                 KEYWORDS(ctx, {"output_padding", fxs_int(1)}),
                 "conv_transpose2d: expected input with 1 channels for weight of shape [1, 4, 8, "
                 "8], but got input of shape "
                 "[1, 4, 8, 8]");
    fxs_tensor *const all[] = {x, w, stem, b, flags, d, wide, flat_x};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fxs_tensor_unref(all[i]);
}

static void output_padding_must_be_small(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 2, 3, 3), 1);
    fxs_tensor *w = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 2, 2, 2), 1);
    refuses_conv(ctx, "torch.conv_transpose2d", x, w, NULL,
                 KEYWORDS(ctx, {"output_padding", fxs_int(1)}),
                 "conv_transpose2d: output padding must be smaller than either stride or dilation, "
                 "but got (1 x 1)");
    refuses_conv(
        ctx, "torch.conv_transpose2d", x, w, NULL, KEYWORDS(ctx, {"padding", fxs_int(2)}),
        "conv_transpose2d: calculated output size per channel: (0 x 0). Output size is too small");
    fxs_tensor_unref(x);
    fxs_tensor_unref(w);
}

static void cost_counts_products_and_sums(void **state) {
    fxs_ctx *ctx = *state;
    fxs_arena scratch = {0};
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 8, 8), 1);
    fxs_tensor *w = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 3, 3, 3), 1),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(4), 1);
    fxs_value args = TUPLE(ctx, TENSOR(x), TENSOR(w), TENSOR(b));
    const fxs_candidate *op;
    fxs_applied got;
    fxs_apply how = {.meta = true, .scratch = &scratch};
    assert_ok(ctx, fxs_registry_find(ctx, "torch.conv2d", &op));
    assert_ok(ctx, fxs_op_apply(ctx, op, &args, NULL, &how, &got));
    assert_true(got.cost.flops == 4 * 36 * (2 * 27 + 1));
    fxs_value_unref(&got.result);
    fxs_value_unref(&args);
    fxs_tensor_unref(x);
    fxs_tensor_unref(w);
    fxs_tensor_unref(b);
    fxs_arena_clear(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_agree_with_loops),
        cmocka_unit_test(layouts_are_followed),
        cmocka_unit_test(winograd_agrees_with_loops),
        cmocka_unit_test(every_kind_of_vectors),
        cmocka_unit_test(transposed_convolutions_agree_with_loops),
        cmocka_unit_test(threads_do_not_change_results),
        cmocka_unit_test(named_padding),
        cmocka_unit_test(padding_modes_of_layers),
        cmocka_unit_test(empty_batches_give_empty_results),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(output_padding_must_be_small),
        cmocka_unit_test(cost_counts_products_and_sums),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
