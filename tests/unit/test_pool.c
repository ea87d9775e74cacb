/* test_pool.c: pooling against plain loops, sliding and adaptive, over shapes, arguments, layouts
 * and types; indices, NaN, refusals. */
#include "checking.h"

typedef enum variant { MAX, AVERAGE, LP } variant;

/* One pooling as numbers, always in three dimensions. */
typedef struct plan {
    int dims;
    int64_t in[3], kernel[3], stride[3], padding[3], dilation[3], out[3];
    bool ceil, include_pad;
    int64_t divisor;
} plan;

static void fill_sizes(plan *p) {
    for (int d = 0; d < 3; d++) {
        double room =
            (double)(p->in[d] + 2 * p->padding[d] - p->dilation[d] * (p->kernel[d] - 1) - 1);
        double steps = room / (double)p->stride[d];
        p->out[d] = (int64_t)(p->ceil ? ceil(steps) : floor(steps)) + 1;
        if (p->ceil && (p->out[d] - 1) * p->stride[d] >= p->in[d] + p->padding[d])
            p->out[d]--;
    }
}

static double value_at(const fxs_tensor *x, const plan *p, int64_t channel, const int64_t pos[3]) {
    int64_t index[5] = {0, channel};
    for (int d = 0; d < 3; d++)
        if (pos[d] < 0 || pos[d] >= p->in[d])
            return NAN;
    for (int k = 0; k < p->dims; k++)
        index[2 + k] = pos[3 - p->dims + k];
    return element(x, index);
}

/* What one window gives; *index is the place of a maximum. */
static double window(const fxs_tensor *x, const plan *p, variant kind, double norm, int64_t channel,
                     const int64_t o[3], int64_t *index) {
    double best = -INFINITY, sum = 0;
    int64_t inside = 0, padded = 1, volume = p->kernel[0] * p->kernel[1] * p->kernel[2];
    for (int64_t k = 0; k < volume; k++) {
        int64_t at[3] = {k / p->kernel[2] / p->kernel[1], k / p->kernel[2] % p->kernel[1],
                         k % p->kernel[2]},
                pos[3];
        bool in = true;
        for (int d = 0; d < 3; d++) {
            pos[d] = o[d] * p->stride[d] - p->padding[d] + at[d] * p->dilation[d];
            in &= pos[d] >= 0 && pos[d] < p->in[d];
        }
        if (!in)
            continue;
        double v = value_at(x, p, channel, pos);
        inside++;
        sum += kind == LP ? pow(v, norm) : v;
        if (v > best || isnan(v)) {
            best = v;
            *index = (pos[0] * p->in[1] + pos[1]) * p->in[2] + pos[2];
        }
    }
    for (int d = 0; d < 3; d++) {
        int64_t from = o[d] * p->stride[d] - p->padding[d], end = from + p->kernel[d];
        padded *= (end < p->in[d] + p->padding[d] ? end : p->in[d] + p->padding[d]) - from;
    }
    if (kind == MAX)
        return best;
    if (kind == LP)
        return pow(sum / (double)padded * (double)volume, 1 / norm);
    return sum / (double)(p->divisor ? p->divisor : p->include_pad ? padded : inside);
}

static fxs_value ints(fxs_ctx *ctx, const plan *p, const int64_t *v) {
    fxs_value items[3];
    for (int k = 0; k < p->dims; k++)
        items[k] = fxs_int(v[3 - p->dims + k]);
    return make_list(ctx, FXS_V_LIST, (size_t)p->dims, items);
}

static fxs_value call(fxs_ctx *ctx, const plan *p, variant kind, double norm, bool indices,
                      fxs_tensor *x) {
    char op[64];
    if (kind == MAX) {
        snprintf(op, sizeof op, "torch.nn.functional.max_pool%dd%s", p->dims,
                 indices ? "_with_indices" : "");
        return run_both(
            ctx, op, TUPLE(ctx, TENSOR(x), ints(ctx, p, p->kernel)),
            KEYWORDS(ctx, {"stride", ints(ctx, p, p->stride)},
                     {"padding", ints(ctx, p, p->padding)}, {"dilation", ints(ctx, p, p->dilation)},
                     {"ceil_mode", fxs_bool(p->ceil)}, {"return_indices", fxs_bool(indices)}));
    }
    if (kind == LP) {
        snprintf(op, sizeof op, "torch.nn.functional.lp_pool%dd", p->dims);
        return run_both(
            ctx, op, TUPLE(ctx, TENSOR(x), fxs_float(norm), ints(ctx, p, p->kernel)),
            KEYWORDS(ctx, {"stride", ints(ctx, p, p->stride)}, {"ceil_mode", fxs_bool(p->ceil)}));
    }
    snprintf(op, sizeof op, p->dims == 1 ? "torch.avg_pool%dd" : "torch._C._nn.avg_pool%dd",
             p->dims);
    fxs_value args = TUPLE(ctx, TENSOR(x), ints(ctx, p, p->kernel), ints(ctx, p, p->stride),
                           ints(ctx, p, p->padding), fxs_bool(p->ceil), fxs_bool(p->include_pad));
    return run_both(ctx, op, args,
                    p->divisor ? KEYWORDS(ctx, {"divisor_override", fxs_int(p->divisor)})
                               : fxs_none());
}

static void check(fxs_ctx *ctx, const plan *given, variant kind, double norm, bool indices,
                  fxs_tensor *x) {
    plan p = *given;
    fill_sizes(&p);
    fxs_value got = call(ctx, &p, kind, norm, indices, x);
    const fxs_tensor *y = tensor_at(&got, 0);
    int64_t plane = p.out[0] * p.out[1] * p.out[2], index = 0;
    assert_int_equal(fxs_tensor_numel(y), x->sizes[1] * plane);
    for (int64_t i = 0; i < x->sizes[1] * plane; i++) {
        int64_t o[3] = {i % plane / p.out[2] / p.out[1], i % plane / p.out[2] % p.out[1],
                        i % p.out[2]};
        double want = window(x, &p, kind, norm, i / plane, o, &index);
        if (y->dtype == FXS_INT64)
            want = trunc(want);
        assert_near(nth(y, i), want, tolerance_of(y->dtype));
        if (indices)
            assert_int_equal((int64_t)nth(tensor_at(&got, 1), i), index);
    }
    fxs_value_unref(&got);
}

#define PLAN2(h, w, k, s, pad, dil, c)                                                             \
    {                                                                                              \
        .dims = 2, .in = {1, h, w}, .kernel = {1, k, k}, .stride = {1, s, s},                      \
        .padding = {0, pad, pad}, .dilation = {1, dil, dil}, .ceil = c                             \
    }

static const plan plans[] = {
    PLAN2(8, 9, 3, 2, 1, 1, false),
    PLAN2(7, 7, 2, 2, 0, 1, true),
    PLAN2(9, 8, 3, 1, 1, 2, false),
    PLAN2(6, 5, 4, 3, 2, 1, true),
    PLAN2(5, 5, 5, 5, 0, 1, false),
    {.dims = 1,
     .in = {1, 1, 10},
     .kernel = {1, 1, 3},
     .stride = {1, 1, 2},
     .padding = {0, 0, 1},
     .dilation = {1, 1, 1},
     .ceil = true},
    {.dims = 3,
     .in = {4, 5, 6},
     .kernel = {2, 3, 2},
     .stride = {2, 1, 2},
     .padding = {1, 1, 0},
     .dilation = {1, 1, 1}},
};

static fxs_tensor *input_for(fxs_ctx *ctx, const plan *p, fxs_dtype d, uint64_t seed) {
    int64_t sizes[5] = {1, 3};
    memcpy(sizes + 2, p->in + 3 - p->dims, (size_t)p->dims * sizeof *sizes);
    return random_tensor(ctx, d, p->dims + 2, sizes, seed);
}

static void maxima_agree_with_loops(void **state) {
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_FLOAT16};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (size_t t = 0; t < 4; t++) {
            fxs_tensor *x = input_for(*state, &plans[i], types[t], i);
            check(*state, &plans[i], MAX, 0, false, x);
            check(*state, &plans[i], MAX, 0, true, x);
            fxs_tensor_unref(x);
        }
}

static void averages_agree_with_loops(void **state) {
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16, FXS_INT64};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (size_t t = 0; t < 4; t++)
            for (int form = 0; form < 3; form++) {
                plan p = plans[i];
                for (int d = 0; d < 3; d++)
                    p.dilation[d] = 1;
                p.include_pad = form == 0;
                p.divisor = form == 2 && p.dims > 1 ? 3 : 0;
                fxs_tensor *x = input_for(*state, &p, types[t], i);
                check(*state, &p, AVERAGE, 0, false, x);
                fxs_tensor_unref(x);
            }
}

static void lp_pools_agree_with_loops(void **state) {
    fxs_ctx *ctx = *state;
    static const plan p = PLAN2(7, 8, 3, 2, 0, 1, true);
    static const plan line = {.dims = 1,
                              .in = {1, 1, 9},
                              .kernel = {1, 1, 2},
                              .stride = {1, 1, 2},
                              .dilation = {1, 1, 1}};
    for (int norm = 1; norm <= 3; norm++) {
        fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 7, 8), 1),
                   *y = input_for(ctx, &line, FXS_FLOAT64, 2);
        fxs_fill_uniform(ctx, x, 1, 0, 1);
        fxs_fill_uniform(ctx, y, 1, 0, 1);
        check(ctx, &p, LP, norm, false, x);
        check(ctx, &line, LP, norm, false, y);
        fxs_tensor_unref(x);
        fxs_tensor_unref(y);
    }
}

static void layouts_are_kept(void **state) {
    fxs_ctx *ctx = *state;
    static const int last[] = {0, 2, 3, 1}, rows[] = {0, 2, 1};
    fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 8, 9), 1), last);
    check(ctx, &plans[0], MAX, 0, true, x);
    fxs_tensor *y = run_op(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(2)), fxs_none());
    assert_strides(y, 4, (int64_t[]){48, 1, 12, 3});
    fxs_tensor_unref(y);
    y = run_op(ctx, "torch.nn.functional.adaptive_avg_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(2)),
               fxs_none());
    assert_strides(y, 4, (int64_t[]){12, 1, 6, 3});
    fxs_tensor_unref(y);
    fxs_tensor_unref(x);
    /* one dimension: a transposed input keeps its order, but not for the maximum without gradient
     */
    x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 8), 1), rows);
    y = run_op(ctx, "torch.avg_pool1d", TUPLE(ctx, TENSOR(x), fxs_int(2)), fxs_none());
    assert_strides(y, 3, (int64_t[]){12, 1, 3});
    fxs_tensor_unref(y);
    y = run_op(ctx, "torch.max_pool1d", TUPLE(ctx, TENSOR(x), fxs_int(2)), fxs_none());
    assert_strides(y, 3, (int64_t[]){12, 4, 1});
    fxs_tensor_unref(y);
    x->requires_grad = true;
    y = run_op(ctx, "torch.max_pool1d", TUPLE(ctx, TENSOR(x), fxs_int(2)), fxs_none());
    assert_strides(y, 3, (int64_t[]){12, 1, 3});
    fxs_tensor_unref(y);
    fxs_tensor_unref(x);
}

static void nan_wins_a_maximum(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 8, 9), 1);
    ((float *)fxs_tensor_data(x))[30] = NAN;
    check(ctx, &plans[0], MAX, 0, false, x);
    check(ctx, &plans[0], MAX, 0, true, x);
    fxs_tensor_unref(x);
}

/* Window i of n over size s is floor(i s / n) to ceil((i + 1) s / n). */
static void adaptive_pools_agree_with_loops(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16};
    static const int64_t outs[][2] = {{1, 1}, {3, 4}, {7, 6}, {10, 5}};
    for (size_t t = 0; t < 3; t++)
        for (size_t k = 0; k < 4; k++) {
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 3, 7, 6), k);
            int64_t oh = outs[k][0], ow = outs[k][1];
            fxs_value size = TUPLE(ctx, fxs_int(oh), ow == 6 ? fxs_none() : fxs_int(ow));
            fxs_value_ref(size);
            fxs_value mean = run_both(ctx, "torch.nn.functional.adaptive_avg_pool2d",
                                      TUPLE(ctx, TENSOR(x), size), fxs_none());
            fxs_value most = run_both(ctx, "torch.nn.functional.adaptive_max_pool2d_with_indices",
                                      TUPLE(ctx, TENSOR(x), size), fxs_none());
            for (int64_t i = 0; i < 6 * oh * ow; i++) {
                int64_t c = i / (oh * ow), r = i / ow % oh, q = i % ow, n = 0, index = 0;
                double sum = 0, best = -INFINITY;
                for (int64_t a = r * 7 / oh; a < ((r + 1) * 7 + oh - 1) / oh; a++)
                    for (int64_t b = q * 6 / ow; b < ((q + 1) * 6 + ow - 1) / ow; b++) {
                        double v = element(x, (int64_t[]){c / 3, c % 3, a, b});
                        sum += v, n++;
                        if (v > best)
                            best = v, index = a * 6 + b;
                    }
                assert_near(nth(tensor_at(&mean, 0), i), sum / (double)n, tolerance_of(types[t]));
                assert_near(nth(tensor_at(&most, 0), i), best, 0);
                assert_int_equal((int64_t)nth(tensor_at(&most, 1), i), index);
            }
            fxs_value_unref(&mean);
            fxs_value_unref(&most);
            fxs_tensor_unref(x);
        }
}

static void empty_batches_give_empty_results(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(0, 3, 8, 8), 1);
    static const char *const ops[] = {"torch.max_pool2d", "torch._C._nn.avg_pool2d",
                                      "torch.nn.functional.adaptive_avg_pool2d",
                                      "torch.nn.functional.adaptive_max_pool2d"};
    for (int i = 0; i < 4; i++) {
        fxs_value y = run_both(ctx, ops[i], TUPLE(ctx, TENSOR(x), fxs_int(4)), fxs_none());
        assert_shape(y.u.tensor, 4, i < 2 ? (int64_t[]){0, 3, 2, 2} : (int64_t[]){0, 3, 4, 4});
        fxs_value_unref(&y);
    }
    fxs_tensor_unref(x);
}

static void bad_arguments_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3, 8, 8), 1),
               *v = random_tensor(ctx, FXS_FLOAT32, SIZES(8), 1);
    fxs_tensor *none = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 0, 8, 8), 1),
               *n = random_tensor(ctx, FXS_INT64, SIZES(1, 3, 8, 8), 1);
    refuses(
        ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(2)),
        KEYWORDS(ctx, {"padding", fxs_int(2)}),
        "max_pool2d: pad should be at most half of kernel size, but got pad=2 and kernel_size=2");
    refuses(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(9)), fxs_none(),
            "max_pool2d: given input size: (8 x 8). Calculated output size: (0 x 0). Output size "
            "is too small");
    refuses(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(2), fxs_int(0)), fxs_none(),
            "max_pool2d: stride should be greater than zero, but got (0 x 0)");
    refuses(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(0)), fxs_none(),
            "max_pool2d: kernel size should be greater than zero, but got (0 x 0)");
    refuses(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(v), fxs_int(2)), fxs_none(),
            "max_pool2d: expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for "
            "input, but got: [8]");
    refuses(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(none), fxs_int(2)), fxs_none(),
            "max_pool2d: expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for "
            "input, but got: "
            "[1, 0, 8, 8]");
    refuses(ctx, "torch.max_pool2d", TUPLE(ctx, TENSOR(n), fxs_int(2)), fxs_none(),
            "max_pool2d: not implemented for type int64");
    refuses(ctx, "torch._C._nn.avg_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(2)),
            KEYWORDS(ctx, {"divisor_override", fxs_int(0)}),
            "avg_pool2d: divisor must be not zero");
    refuses(ctx, "torch.nn.functional.adaptive_avg_pool2d", TUPLE(ctx, TENSOR(x), fxs_int(-1)),
            fxs_none(),
            "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0, but "
            "got -1");
    refuses(ctx, "torch.nn.functional.adaptive_avg_pool2d",
            TUPLE(ctx, TENSOR(x), LIST(ctx, fxs_int(1), fxs_int(1), fxs_int(1))), fxs_none(),
            "adaptive_avg_pool2d: output_size must be 2 numbers");
    refuses(ctx, "torch.nn.functional.adaptive_max_pool2d",
            TUPLE(ctx, TENSOR(x), make_str(ctx, "a")), fxs_none(),
            "adaptive_max_pool2d: output_size must be 2 numbers");
    fxs_tensor_unref(x);
    fxs_tensor_unref(v);
    fxs_tensor_unref(none);
    fxs_tensor_unref(n);
}

static void threads_do_not_change_results(void **state) {
    assert_ok(*state, fxs_ctx_set_threads(*state, 3));
    maxima_agree_with_loops(state);
    averages_agree_with_loops(state);
    assert_ok(*state, fxs_ctx_set_threads(*state, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maxima_agree_with_loops),
        cmocka_unit_test(averages_agree_with_loops),
        cmocka_unit_test(lp_pools_agree_with_loops),
        cmocka_unit_test(layouts_are_kept),
        cmocka_unit_test(nan_wins_a_maximum),
        cmocka_unit_test(adaptive_pools_agree_with_loops),
        cmocka_unit_test(empty_batches_give_empty_results),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(threads_do_not_change_results),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
