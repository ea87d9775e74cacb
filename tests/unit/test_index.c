/* test_index.c: x[...] in all the forms of an index, as views and as copies; x[...] = y; gather,
 * scatter and their kin; what depends on which elements are true. References index by formula. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int
#define ELLIPSIS ((fxs_value){.tag = FXS_V_ELLIPSIS})
#define SLICE(ctx, ...) make_list((ctx), FXS_V_SLICE, 3, (fxs_value[]){__VA_ARGS__})

static fxs_tensor *run(fxs_ctx *ctx, const char *op, fxs_value args) {
    return run_both(ctx, op, args, NONE).u.tensor;
}

static fxs_tensor *get(fxs_ctx *ctx, fxs_tensor *x, fxs_value index) {
    return run(ctx, "operator.getitem", TUPLE(ctx, TENSOR(x), index));
}

static fxs_tensor *longs(fxs_ctx *ctx, int ndim, const int64_t *sizes, const int64_t *v) {
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_INT64, ndim, sizes, &t));
    memcpy(fxs_tensor_data(t), v, (size_t)fxs_tensor_numel(t) * sizeof *v);
    return t;
}

/* x counts up, so that an element says where it came from. */
static fxs_tensor *counting(fxs_ctx *ctx, int ndim, const int64_t *sizes) {
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_FLOAT32, ndim, sizes, &t));
    for (int64_t i = 0; i < fxs_tensor_numel(t); i++)
        ((float *)fxs_tensor_data(t))[i] = (float)i;
    return t;
}

static void expect(fxs_tensor *y, int ndim, const int64_t *sizes, const int64_t *strides,
                   const double *v) {
    assert_shape(y, ndim, sizes);
    assert_strides(y, ndim, strides);
    for (int64_t i = 0; i < fxs_tensor_numel(y); i++)
        assert_near(nth(y, i), v[i], 0);
    fxs_tensor_unref(y);
}
#define VALUES(...)                                                                                \
    (double[]) { __VA_ARGS__ }
#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }
#define STRIDES(...)                                                                               \
    (int64_t[]) { __VA_ARGS__ }

static void ints_and_slices_give_views(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = counting(ctx, SIZES(2, 3, 4)), *y = get(ctx, x, I(-1));
    assert_ptr_equal(y->storage, x->storage);
    assert_int_equal(y->offset, 12);
    fxs_tensor_unref(y);
    expect(get(ctx, x, TUPLE(ctx, I(1), I(-2))), DIMS(4), STRIDES(1), VALUES(16, 17, 18, 19));
    expect(get(ctx, x, TUPLE(ctx, I(0), SLICE(ctx, NONE, NONE, NONE), I(2))), DIMS(3), STRIDES(4),
           VALUES(2, 6, 10));
    expect(get(ctx, x, TUPLE(ctx, ELLIPSIS, SLICE(ctx, I(-3), I(100), I(2)))), DIMS(2, 3, 2),
           STRIDES(12, 4, 2), VALUES(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23));
    expect(get(ctx, x, TUPLE(ctx, NONE, I(0), ELLIPSIS, NONE, I(0))), DIMS(1, 3, 1),
           STRIDES(24, 4, 4), VALUES(0, 4, 8));
    expect(get(ctx, x, TUPLE(ctx, I(0), I(0), SLICE(ctx, I(3), I(1), NONE))), DIMS(0), STRIDES(1),
           VALUES(0));
    fxs_tensor *k = longs(ctx, 0, NULL, (int64_t[]){1});
    expect(get(ctx, x, TUPLE(ctx, TENSOR(k), I(0))), DIMS(4), STRIDES(1),
           VALUES(12, 13, 14, 15)); /* a tensor as an int */
    fxs_tensor_unref(x), fxs_tensor_unref(k);
}

/* Strides are facts of PyTorch 1.13. */
static void index_tensors_give_copies(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = counting(ctx, SIZES(2, 3, 4)), *a = longs(ctx, SIZES(2), (int64_t[]){2, -3}),
               *b = longs(ctx, SIZES(2, 1), (int64_t[]){0, 1}),
               *z = longs(ctx, SIZES(2), (int64_t[]){0, -1});
    fxs_value all = SLICE(ctx, NONE, NONE, NONE);
    expect(get(ctx, x, TUPLE(ctx, fxs_value_ref(all), TENSOR(a), I(0))), DIMS(2, 2), STRIDES(2, 1),
           VALUES(8, 0, 20, 12));
    expect(get(ctx, x, TUPLE(ctx, TENSOR(b), TENSOR(a), I(1))), DIMS(2, 2), STRIDES(2, 1),
           VALUES(9, 1, 21, 13));
    expect(get(ctx, x, TUPLE(ctx, TENSOR(z), fxs_value_ref(all), TENSOR(a))), DIMS(2, 3),
           STRIDES(3, 1), VALUES(2, 6, 10, 13, 17, 21)); /* apart: to the front */
    expect(get(ctx, x, TUPLE(ctx, I(1), LIST(ctx, I(2), I(0)))), DIMS(2, 4), STRIDES(4, 1),
           VALUES(20, 21, 22, 23, 12, 13, 14, 15));
    expect(get(ctx, x, LIST(ctx, I(1))), DIMS(1, 3, 4), STRIDES(12, 4, 1),
           VALUES(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23));
    expect(get(ctx, x, TUPLE(ctx, I(0), I(0), fxs_bool(true))), DIMS(1, 4), STRIDES(4, 1),
           VALUES(0, 1, 2, 3));
    fxs_value_unref(&all);
    fxs_tensor_unref(x), fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(z);
}

static void masks_choose_elements(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = counting(ctx, SIZES(2, 3)),
               *m = tensor_of_values(ctx, FXS_BOOL, SIZES(2, 3), VALUES(0, 1, 0, 1, 0, 1)),
               *r = tensor_of_values(ctx, FXS_BOOL, SIZES(2), VALUES(0, 1)), *unknown;
    expect(run_op(ctx, "operator.getitem", TUPLE(ctx, TENSOR(x), TENSOR(m)), NONE), DIMS(3),
           STRIDES(1), VALUES(1, 3, 5));
    expect(run_op(ctx, "operator.getitem", TUPLE(ctx, TENSOR(x), TENSOR(r)), NONE), DIMS(1, 3),
           STRIDES(3, 1), VALUES(3, 4, 5));
    expect(
        run_op(ctx, "Tensor.__getitem__", TUPLE(ctx, TENSOR(x), TUPLE(ctx, TENSOR(r), I(2))), NONE),
        DIMS(1), STRIDES(1), VALUES(5));
    fxs_tensor *wide = counting(ctx, SIZES(2, 2, 3, 2)),
               *k = longs(ctx, SIZES(2), (int64_t[]){1, 0});
    fxs_tensor *both = tensor_of_values(ctx, FXS_BOOL, SIZES(2, 2),
                                        VALUES(0, 1, 1, 0)); /* two dimensions, then one more */
    fxs_value mixed = TUPLE(ctx, TENSOR(both), SLICE(ctx, NONE, NONE, NONE), TENSOR(k));
    expect(run_op(ctx, "operator.getitem", TUPLE(ctx, TENSOR(wide), mixed), NONE), DIMS(2, 3),
           STRIDES(3, 1), VALUES(7, 9, 11, 12, 14, 16));
    fxs_tensor_unref(wide), fxs_tensor_unref(k), fxs_tensor_unref(both);
    assert_ok(ctx, fxs_tensor_new_meta(ctx, FXS_BOOL, SIZES(2), &unknown));
    refuses(ctx, "operator.getitem", TUPLE(ctx, TENSOR(x), TENSOR(unknown)), NONE,
            "getitem: the number of true elements of a mask is not known without computing values: "
            "run with values, "
            "not with "
            "shapes only");
    fxs_tensor_unref(x), fxs_tensor_unref(m), fxs_tensor_unref(r), fxs_tensor_unref(unknown);
}

static void wrong_indices(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = counting(ctx, SIZES(2, 3)), *f = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 1),
               *m = tensor_of_values(ctx, FXS_BOOL, SIZES(3), VALUES(0, 1, 0)),
               *k = longs(ctx, SIZES(1), (int64_t[]){7}), *none = counting(ctx, SIZES(0, 3)),
               *zero = counting(ctx, 0, NULL);
    fxs_value out;
    const struct {
        fxs_value x, index;
        const char *message;
    } cases[] = {
        {TENSOR(x), I(2), "getitem: index 2 is out of bounds for dimension 0 with size 2"},
        {TENSOR(x), TUPLE(ctx, I(0), I(0), I(0)),
         "getitem: too many indices for tensor of dimension 2"},
        {TENSOR(x), SLICE(ctx, NONE, NONE, I(-1)),
         "getitem: step must be greater than zero, not -1"},
        {TENSOR(x), TENSOR(f),
         "getitem: tensors used as indices must be long, byte or bool tensors, not torch.float32"},
        {TENSOR(x), TENSOR(m),
         "getitem: the shape of the mask [3] at index 0 does not match the shape of the indexed "
         "tensor [2, 3] at index "
         "0"},
        {TENSOR(x), make_str(ctx, "a"),
         "getitem: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
         "are valid indices "
         "(got str)"},
        {TENSOR(none), TENSOR(k), "getitem: index is out of bounds for dimension 0 with size 0"},
        {TENSOR(zero), I(0),
         "getitem: invalid index of a 0-dim tensor: use tensor.item() to convert it to a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(ctx, "operator.getitem", TUPLE(ctx, cases[i].x, cases[i].index), NONE,
                cases[i].message);
    assert_int_equal(
        try_op(ctx, false, "operator.getitem", TUPLE(ctx, TENSOR(x), TENSOR(k)), NONE, &out),
        FXS_EINDEX); /* seen when values are */
    assert_string_equal(fxs_ctx_error(ctx),
                        "getitem: index 7 is out of bounds for dimension 0 with size 2");
    fxs_ctx_clear(ctx);
    fxs_tensor_unref(x), fxs_tensor_unref(f), fxs_tensor_unref(m), fxs_tensor_unref(k),
        fxs_tensor_unref(none), fxs_tensor_unref(zero);
}

/* x[index] = value, then all of x. */
static void set(fxs_ctx *ctx, int ndim, const int64_t *sizes, fxs_value index, fxs_value value,
                const double *want) {
    fxs_tensor *x = counting(ctx, ndim, sizes);
    fxs_value out;
    assert_ok(ctx, try_op(ctx, false, "operator.setitem", TUPLE(ctx, TENSOR(x), index, value), NONE,
                          &out));
    assert_int_equal(out.tag, FXS_V_NONE);
    for (int64_t i = 0; i < fxs_tensor_numel(x); i++)
        assert_near(nth(x, i), want[i], 0);
    fxs_tensor_unref(x);
}

static void assignment_writes_through(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *row = tensor_of_values(ctx, FXS_INT32, SIZES(1, 1, 3), VALUES(7, 8, 9)),
               *m = tensor_of_values(ctx, FXS_BOOL, SIZES(2, 3), VALUES(1, 0, 0, 0, 0, 1)),
               *k = longs(ctx, SIZES(2), (int64_t[]){2, 0}),
               *pair = tensor_of_values(ctx, FXS_FLOAT32, SIZES(2), VALUES(-1, -2));
    set(ctx, SIZES(2, 3), I(1), fxs_float(0.5), VALUES(0, 1, 2, 0.5, 0.5, 0.5));
    set(ctx, SIZES(2, 3), SLICE(ctx, NONE, NONE, NONE), TENSOR(row), VALUES(7, 8, 9, 7, 8, 9));
    set(ctx, SIZES(2, 3), TENSOR(m), I(-5), VALUES(-5, 1, 2, 3, 4, -5));
    set(ctx, SIZES(2, 3), TUPLE(ctx, I(1), TENSOR(k)), TENSOR(pair), VALUES(0, 1, 2, -2, 4, -1));
    set(ctx, SIZES(2, 3), TUPLE(ctx, ELLIPSIS, I(0)), TENSOR(pair), VALUES(-1, 1, 2, -2, 4, 5));
    fxs_tensor *x = counting(ctx, SIZES(5)), *head;
    static const double moved[] = {0, 0, 1, 2, 3};
    fxs_value out;
    assert_ok(ctx, fxs_tensor_view(ctx, x, &head));
    head->sizes[0] = 4; /* x[1:] = x[:-1] */
    assert_ok(ctx, try_op(ctx, false, "Tensor.__setitem__",
                          TUPLE(ctx, TENSOR(x), SLICE(ctx, I(1), NONE, NONE), TENSOR(head)), NONE,
                          &out));
    for (int i = 0; i < 5; i++)
        assert_near(nth(x, i), moved[i], 0);
    refuses(ctx, "operator.setitem", TUPLE(ctx, TENSOR(x), I(0), TENSOR(pair)), NONE,
            "setitem: shape mismatch: value tensor of shape [2] cannot be broadcast to indexing "
            "result of shape []");
    fxs_tensor_unref(row), fxs_tensor_unref(m), fxs_tensor_unref(k), fxs_tensor_unref(pair),
        fxs_tensor_unref(x), fxs_tensor_unref(head);
}

/* ---- along one dimension
 * ------------------------------------------------------------------------------- */

static void gather_and_scatter(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {2, 0, 1};
    for (int dim = 0; dim < 3; dim++) {
        int64_t sizes[] = {3, 4, 5};
        fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT64, 3, sizes, 1), turned);
        sizes[0] = 2, sizes[1] = 3, sizes[2] = 4;
        fxs_tensor *k = random_tensor(ctx, FXS_INT64, 3, sizes, 2),
                   *src = random_tensor(ctx, FXS_FLOAT64, 3, sizes, 3);
        fxs_fill_integers(ctx, k, 2, 0, x->sizes[dim] - 1);
        fxs_tensor *g = run(ctx, "torch.gather", TUPLE(ctx, TENSOR(x), I(dim), TENSOR(k)));
        fxs_tensor *put = run(ctx, "torch.scatter",
                              TUPLE(ctx, TENSOR(x), I(dim - 3), TENSOR(k), fxs_float(9))),
                   *sum = run(ctx, "Tensor.scatter_add",
                              TUPLE(ctx, TENSOR(x), I(dim), TENSOR(k), TENSOR(src)));
        double want[60], marked[60];
        for (int i = 0; i < 60; i++)
            want[i] = marked[i] = nth(x, i);
        for (int64_t i = 0; i < 24; i++) {
            int64_t at[] = {i / 12, i / 4 % 3, i % 4};
            at[dim] = (int64_t)nth(k, i);
            assert_near(nth(g, i), element(x, at), 0);
            marked[at[0] * 20 + at[1] * 5 + at[2]] = 9;
            want[at[0] * 20 + at[1] * 5 + at[2]] += nth(src, i);
        }
        for (int i = 0; i < 60; i++) {
            assert_near(nth(put, i), marked[i], 0);
            assert_near(nth(sum, i), want[i], 1e-14);
        }
        fxs_tensor_unref(x), fxs_tensor_unref(k), fxs_tensor_unref(src), fxs_tensor_unref(g),
            fxs_tensor_unref(put), fxs_tensor_unref(sum);
    }
}

static void whole_slices(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = counting(ctx, SIZES(3, 4)), *k = longs(ctx, SIZES(3), (int64_t[]){2, 0, 2}),
               *ones = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 3), 1),
               *flat = longs(ctx, SIZES(2, 1), (int64_t[]){11, -12});
    fxs_fill_constant(ctx, ones, 1);
    expect(run(ctx, "torch.index_select", TUPLE(ctx, TENSOR(x), I(0), TENSOR(k))), DIMS(3, 4),
           STRIDES(4, 1), VALUES(8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11));
    expect(run(ctx, "torch.index_select", TUPLE(ctx, TENSOR(x), I(1), TENSOR(k))), DIMS(3, 3),
           STRIDES(3, 1), VALUES(2, 0, 2, 6, 4, 6, 10, 8, 10));
    expect(run(ctx, "torch.index_add", TUPLE(ctx, TENSOR(x), I(1), TENSOR(k), TENSOR(ones))),
           DIMS(3, 4), STRIDES(4, 1), VALUES(1, 1, 4, 3, 5, 5, 8, 7, 9, 9, 12, 11));
    expect(run(ctx, "torch.index_fill", TUPLE(ctx, TENSOR(x), I(1), TENSOR(k), fxs_int(-1))),
           DIMS(3, 4), STRIDES(4, 1), VALUES(-1, 1, -1, 3, -1, 5, -1, 7, -1, 9, -1, 11));
    expect(run(ctx, "torch.take", TUPLE(ctx, TENSOR(x), TENSOR(flat))), DIMS(2, 1), STRIDES(1, 1),
           VALUES(11, 0));
    refuses(ctx, "torch.index_select", TUPLE(ctx, TENSOR(x), I(0), TENSOR(flat)), NONE,
            "index_select: index is supposed to be a vector, but it has 2 dimensions");
    refuses(ctx, "torch.gather", TUPLE(ctx, TENSOR(x), I(0), TENSOR(x)), NONE,
            "gather: expected dtype int64 for index, not torch.float32");
    refuses(ctx, "torch.gather", TUPLE(ctx, TENSOR(x), I(0), TENSOR(k)), NONE,
            "gather: index tensor must have the same number of dimensions as self tensor: shapes "
            "[3] and [3, 4]");
    fxs_tensor_unref(x), fxs_tensor_unref(k), fxs_tensor_unref(ones), fxs_tensor_unref(flat);
}

/* ---- by value
 * ------------------------------------------------------------------------------------------ */

static void shapes_that_depend_on_values(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = tensor_of_values(ctx, FXS_FLOAT32, SIZES(2, 3), VALUES(0, 2, 0, -1, 0, 3)),
               *m = tensor_of_values(ctx, FXS_BOOL, SIZES(3), VALUES(1, 0, 1)), *unknown;
    expect(run_op(ctx, "torch.nonzero", TUPLE(ctx, TENSOR(x)), NONE), DIMS(3, 2), STRIDES(1, 3),
           VALUES(0, 1, 1, 0, 1, 2));
    expect(run_op(ctx, "torch.masked_select", TUPLE(ctx, TENSOR(x), TENSOR(m)), NONE), DIMS(4),
           STRIDES(1), VALUES(0, 0, -1, 3));
    expect(run(ctx, "torch.masked_scatter", TUPLE(ctx, TENSOR(x), TENSOR(m), TENSOR(x))),
           DIMS(2, 3), STRIDES(3, 1), VALUES(0, 2, 2, 0, 0, -1));
    fxs_value pair = NONE;
    assert_ok(ctx, try_op(ctx, false, "torch.nonzero", TUPLE(ctx, TENSOR(x)),
                          KEYWORDS(ctx, {"as_tuple", fxs_bool(true)}), &pair));
    assert_int_equal(fxs_value_len(&pair), 2);
    assert_near(nth(tensor_at(&pair, 1), 2), 2, 0);
    fxs_value_unref(&pair);
    assert_ok(ctx, fxs_tensor_new_meta(ctx, FXS_FLOAT32, SIZES(3), &unknown));
    refuses(ctx, "torch.nonzero", TUPLE(ctx, TENSOR(unknown)), NONE,
            "nonzero: the shape of the result depends on values, which are not computed: run with "
            "values, not with "
            "shapes only");
    fxs_tensor_unref(x), fxs_tensor_unref(m), fxs_tensor_unref(unknown);
}

static void unique_values(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = longs(ctx, SIZES(2, 4), (int64_t[]){3, 1, 1, 3, 2, 3, 3, -1});
    fxs_value out;
    static const double values[] = {-1, 1, 2, 3}, inverse[] = {3, 1, 1, 3, 2, 3, 3, 0},
                        counts[] = {1, 2, 1, 4}, runs[] = {3, 1, 3, 2, 3, -1};
    assert_ok(ctx,
              try_op(ctx, false, "torch.functional.unique", TUPLE(ctx, TENSOR(x)),
                     KEYWORDS(ctx, {"sorted", fxs_bool(true)}, {"return_inverse", fxs_bool(true)},
                              {"return_counts", fxs_bool(true)}, {"dim", NONE}),
                     &out));
    assert_shape(tensor_at(&out, 1), SIZES(2, 4));
    for (int i = 0; i < 4; i++) {
        assert_near(nth(tensor_at(&out, 0), i), values[i], 0);
        assert_near(nth(tensor_at(&out, 2), i), counts[i], 0);
    }
    for (int i = 0; i < 8; i++)
        assert_near(nth(tensor_at(&out, 1), i), inverse[i], 0);
    fxs_value_unref(&out);
    expect(run_op(ctx, "torch.functional.unique_consecutive", TUPLE(ctx, TENSOR(x)), NONE), DIMS(6),
           STRIDES(1), runs);
    fxs_tensor_unref(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ints_and_slices_give_views),
        cmocka_unit_test(index_tensors_give_copies),
        cmocka_unit_test(masks_choose_elements),
        cmocka_unit_test(wrong_indices),
        cmocka_unit_test(assignment_writes_through),
        cmocka_unit_test(gather_and_scatter),
        cmocka_unit_test(whole_slices),
        cmocka_unit_test(shapes_that_depend_on_values),
        cmocka_unit_test(unique_values),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
