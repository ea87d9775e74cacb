/* test_rearrange.c: the same elements in other places: flip roll rot90 repeat tile
 * repeat_interleave tril triu diag meshgrid and padding, each against an index formula over
 * layouts. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int

static fxs_tensor *run(fxs_ctx *ctx, const char *op, fxs_value args) {
    return run_both(ctx, op, args, NONE).u.tensor;
}

/* Where an element of the output comes from: fills `from`, or returns false for a zero. */
typedef bool source_fn(const int64_t *at, int64_t *from, const int64_t *sizes);

static void expect(fxs_tensor *y, const fxs_tensor *x, int ndim, const int64_t *sizes,
                   source_fn *source) {
    assert_shape(y, ndim, sizes);
    for (int64_t i = 0; i < fxs_tensor_numel(y); i++) {
        int64_t at[4] = {0}, from[4] = {0}, rest = i;
        for (int d = ndim - 1; d >= 0; d--) {
            at[d] = rest % sizes[d];
            rest /= sizes[d];
        }
        bool inside = source(at, from, x->sizes);
        assert_near(nth(y, i), inside ? element(x, from) : 0, 0);
    }
    fxs_tensor_unref(y);
}
#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

/* All for an input of [2, 3, 4]. */
#define SOURCE(name, a, b, c)                                                                      \
    static bool name(const int64_t *at, int64_t *from, const int64_t *sizes) {                     \
        (void)sizes;                                                                               \
        from[0] = (a), from[1] = (b), from[2] = (c);                                               \
        return true;                                                                               \
    }
SOURCE(mirrored_0_2, 1 - at[0], at[1], 3 - at[2])
SOURCE(rolled_1, at[0], (at[1] + 2) % 3, at[2])
SOURCE(rolled_twice, (at[0] + 1) % 2, at[1], (at[2] + 3) % 4)
SOURCE(turned_once, at[0], at[2], 3 - at[1])
SOURCE(turned_back, at[0], 2 - at[2], at[1])
SOURCE(turned_over, at[0], 2 - at[1], 3 - at[2])
SOURCE(repeated, at[1] % 2, at[2] % 3, at[3] % 4)
SOURCE(interleaved, at[0], at[1] / 3, at[2])
#undef SOURCE
static bool rolled_flat(const int64_t *at, int64_t *from, const int64_t *sizes) {
    int64_t i = (at[0] * 12 + at[1] * 4 + at[2] + 24 - 5) % 24;
    (void)sizes;
    from[0] = i / 12, from[1] = i / 4 % 3, from[2] = i % 4;
    return true;
}
static bool lower(const int64_t *at, int64_t *from, const int64_t *sizes) {
    (void)sizes;
    memcpy(from, at, 3 * sizeof *at);
    return at[2] <= at[1] + 1;
}
static bool upper(const int64_t *at, int64_t *from, const int64_t *sizes) {
    (void)sizes;
    memcpy(from, at, 3 * sizeof *at);
    return at[2] >= at[1] - 1;
}

static void moves_of_elements(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {2, 0, 1};
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_INT64, FXS_BOOL, FXS_FLOAT16};
    for (int t = 0; t < 4; t++)
        for (int layout = 0; layout < 2; layout++) {
            fxs_tensor *x = random_tensor(ctx, types[t], SIZES(2, 3, 4), 1);
            if (layout)
                x = laid_out(ctx, x, turned);
            expect(run(ctx, "torch.flip", TUPLE(ctx, TENSOR(x), LIST(ctx, I(0), I(-1)))), x,
                   DIMS(2, 3, 4), mirrored_0_2);
            expect(run(ctx, "torch.roll", TUPLE(ctx, TENSOR(x), I(1), I(1))), x, DIMS(2, 3, 4),
                   rolled_1);
            expect(run(ctx, "torch.roll",
                       TUPLE(ctx, TENSOR(x), LIST(ctx, I(-3), I(-7)), LIST(ctx, I(0), I(2)))),
                   x, DIMS(2, 3, 4), rolled_twice);
            expect(run(ctx, "torch.roll", TUPLE(ctx, TENSOR(x), I(5))), x, DIMS(2, 3, 4),
                   rolled_flat);
            expect(run(ctx, "torch.rot90", TUPLE(ctx, TENSOR(x), I(1), LIST(ctx, I(1), I(2)))), x,
                   DIMS(2, 4, 3), turned_once);
            expect(run(ctx, "torch.rot90", TUPLE(ctx, TENSOR(x), I(-1), LIST(ctx, I(1), I(2)))), x,
                   DIMS(2, 4, 3), turned_back);
            expect(run(ctx, "torch.rot90", TUPLE(ctx, TENSOR(x), I(6), LIST(ctx, I(1), I(2)))), x,
                   DIMS(2, 3, 4), turned_over);
            expect(run(ctx, "Tensor.repeat", TUPLE(ctx, TENSOR(x), I(2), I(1), I(3), I(2))), x,
                   DIMS(2, 2, 9, 8), repeated);
            expect(run(ctx, "torch.tile", TUPLE(ctx, TENSOR(x), LIST(ctx, I(3), I(1), I(2), I(2)))),
                   x, DIMS(3, 2, 6, 8), repeated);
            expect(run(ctx, "torch.repeat_interleave", TUPLE(ctx, TENSOR(x), I(3), I(1))), x,
                   DIMS(2, 9, 4), interleaved);
            expect(run(ctx, "torch.tril", TUPLE(ctx, TENSOR(x), I(1))), x, DIMS(2, 3, 4), lower);
            expect(run(ctx, "Tensor.triu", TUPLE(ctx, TENSOR(x), I(-1))), x, DIMS(2, 3, 4), upper);
            fxs_tensor_unref(x);
        }
}

static void counts_by_element(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_FLOAT32, SIZES(3), (double[]){1, 2, 3}),
               *n = tensor_of_values(ctx, FXS_INT64, SIZES(3), (double[]){2, 0, 1}), *unknown;
    fxs_tensor *y =
        run_op(ctx, "torch.repeat_interleave", TUPLE(ctx, TENSOR(x), TENSOR(n), I(0)), NONE);
    assert_shape(y, SIZES(3));
    assert_near(nth(y, 1), 1, 0);
    assert_near(nth(y, 2), 3, 0);
    assert_ok(ctx, fxs_tensor_new_meta(ctx, FXS_INT64, SIZES(3), &unknown));
    refuses(ctx, "torch.repeat_interleave", TUPLE(ctx, TENSOR(x), TENSOR(unknown), I(0)), NONE,
            "repeat_interleave: the repeats are not known without computing values");
    fxs_tensor_unref(x), fxs_tensor_unref(n), fxs_tensor_unref(unknown), fxs_tensor_unref(y);
}

static void diagonals_and_grids(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *v = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 1),
               *w = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 2),
               *m = run(ctx, "torch.diag", TUPLE(ctx, TENSOR(v), I(-1))),
               *back = run(ctx, "torch.diag", TUPLE(ctx, TENSOR(m), I(-1)));
    assert_shape(m, SIZES(4, 4));
    for (int64_t i = 0; i < 16; i++)
        assert_near(nth(m, i), i / 4 == i % 4 + 1 ? nth(v, i % 4) : 0, 0);
    assert_shape(back, SIZES(3));
    fxs_value grid =
        run_both(ctx, "torch.functional.meshgrid", TUPLE(ctx, TENSOR(v), TENSOR(w)), NONE);
    fxs_value swapped = run_both(ctx, "torch.meshgrid", TUPLE(ctx, LIST(ctx, TENSOR(v), TENSOR(w))),
                                 KEYWORDS(ctx, {"indexing", make_str(ctx, "xy")}));
    fxs_value both = run_both(ctx, "torch.functional.broadcast_tensors",
                              TUPLE(ctx, TENSOR(w), TENSOR(tensor_at(&grid, 0))), NONE);
    assert_shape(tensor_at(&both, 0), SIZES(3, 2));
    assert_strides(tensor_at(&both, 0), SIZES(0, 1));
    fxs_value_unref(&both);
    assert_shape(tensor_at(&grid, 0), SIZES(3, 2));
    assert_strides(tensor_at(&grid, 1), SIZES(0, 1));
    assert_shape(tensor_at(&swapped, 0), SIZES(2, 3));
    for (int64_t i = 0; i < 6; i++) {
        assert_near(nth(tensor_at(&grid, 0), i), nth(v, i / 2), 0);
        assert_near(nth(tensor_at(&swapped, 1), i), nth(w, i / 3), 0);
    }
    fxs_value_unref(&grid), fxs_value_unref(&swapped);
    fxs_tensor_unref(v), fxs_tensor_unref(w), fxs_tensor_unref(m), fxs_tensor_unref(back);
}

/* ---- padding
 * ------------------------------------------------------------------------------------------- */

static int64_t constant(int64_t i, int64_t n) { return i < 0 || i >= n ? -1 : i; }
static int64_t reflect(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
static int64_t replicate(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static int64_t circular(int64_t i, int64_t n) { return (i + n) % n; }

static void padding_modes(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {0, 2, 3, 1};
    static const struct {
        const char *mode;
        int64_t (*source)(int64_t, int64_t);
        double value;
    } modes[] = {{"constant", constant, 0},
                 {"constant", constant, 2.5},
                 {"reflect", reflect, 0},
                 {"replicate", replicate, 0},
                 {"circular", circular, 0}};
    for (int m = 0; m < 5; m++)
        for (int layout = 0; layout < 2; layout++) {
            fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 1);
            if (layout)
                x = laid_out(ctx, x, turned);
            fxs_tensor *y =
                run_both(ctx, "torch.nn.functional.pad",
                         TUPLE(ctx, TENSOR(x), LIST(ctx, I(1), I(2), I(3), I(0))),
                         KEYWORDS(ctx, {"mode", make_str(ctx, modes[m].mode)},
                                  {"value",
                                   modes[m].value != 0 ? fxs_float(modes[m].value) : fxs_none()}))
                    .u.tensor;
            assert_shape(y, SIZES(2, 3, 7, 8));
            assert_int_equal(y->strides[1],
                             layout && m < 2 ? 1 : 56); /* constant padding keeps channels last */
            for (int64_t i = 0; i < fxs_tensor_numel(y); i++) {
                int64_t h = modes[m].source(i / 8 % 7 - 3, 4), w = modes[m].source(i % 8 - 1, 5);
                int64_t from[] = {i / 168, i / 56 % 3, h, w};
                assert_near(nth(y, i), h < 0 || w < 0 ? modes[m].value : element(x, from), 0);
            }
            fxs_tensor_unref(x), fxs_tensor_unref(y);
        }
}

static void padding_crops_and_is_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 4), 1),
               *y = run(ctx, "torch.nn.functional.pad",
                        TUPLE(ctx, TENSOR(x), LIST(ctx, I(-1), I(-2), I(0), I(1))));
    assert_shape(y, SIZES(4, 1));
    for (int64_t i = 0; i < 4; i++)
        assert_near(nth(y, i), i < 3 ? nth(x, 4 * i + 1) : 0, 0);
    refuses(ctx, "torch.nn.functional.pad", TUPLE(ctx, TENSOR(x), LIST(ctx, I(-3), I(-2))), NONE,
            "pad: the input size 4, plus negative padding -3 and -2, resulted in a negative output "
            "size: shape [3, 4]");
    refuses(ctx, "torch.nn.functional.pad", TUPLE(ctx, TENSOR(x), LIST(ctx, I(1))), NONE,
            "pad: length of pad must be even but instead it equals 1");
    refuses(ctx, "torch.nn.functional.pad",
            TUPLE(ctx, TENSOR(x), LIST(ctx, I(4), I(0)), make_str(ctx, "reflect")), NONE,
            "pad: padding size should be less than the corresponding input dimension, but got: "
            "padding (4, 0) at "
            "dimension 1 "
            "of size 4");
    refuses(ctx, "torch.nn.functional.pad",
            TUPLE(ctx, TENSOR(x), LIST(ctx, I(1), I(0)), make_str(ctx, "mirror")), NONE,
            "pad: unrecognised padding mode mirror");
    refuses(ctx, "torch.nn.functional.pad", TUPLE(ctx, TENSOR(x), LIST(ctx, I(INT64_MAX), I(1))),
            NONE, "pad: a size beyond 2^63");
    fxs_tensor_unref(x), fxs_tensor_unref(y);
}

static void wrong_arguments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *none = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 0), 1);
    refuses(ctx, "Tensor.repeat", TUPLE(ctx, TENSOR(x), I(2)), NONE,
            "repeat: number of dimensions of repeat dims (1) can not be smaller than number of "
            "dimensions of tensor (2)");
    refuses(ctx, "torch.flip", TUPLE(ctx, TENSOR(x), LIST(ctx, I(0), I(-2))), NONE,
            "flip: dim 0 appears multiple times in the list of dims");
    refuses(ctx, "torch.roll", TUPLE(ctx, TENSOR(x), LIST(ctx, I(1), I(2)), I(0)), NONE,
            "roll: shifts and dimensions must align: shifts: 2, dims: 1");
    refuses(ctx, "Tensor.repeat", TUPLE(ctx, TENSOR(x), I((int64_t)1 << 62), I(1)), NONE,
            "repeat: a size beyond 2^63");
    fxs_tensor *a = run(ctx, "torch.roll", TUPLE(ctx, TENSOR(none), I(1), I(1))),
               *b = run(ctx, "torch.flip", TUPLE(ctx, TENSOR(none), LIST(ctx, I(0), I(1)))),
               *c = run(ctx, "Tensor.repeat", TUPLE(ctx, TENSOR(x), I(0), I(2))),
               *d = run(ctx, "torch.tril", TUPLE(ctx, TENSOR(none)));
    assert_shape(a, SIZES(2, 0));
    assert_shape(b, SIZES(2, 0));
    assert_shape(c, SIZES(0, 6));
    assert_shape(d, SIZES(2, 0));
    fxs_tensor_unref(x), fxs_tensor_unref(none), fxs_tensor_unref(a), fxs_tensor_unref(b),
        fxs_tensor_unref(c), fxs_tensor_unref(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_of_elements),
        cmocka_unit_test(counts_by_element),
        cmocka_unit_test(diagonals_and_grids),
        cmocka_unit_test(padding_modes),
        cmocka_unit_test(padding_crops_and_is_refused),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
