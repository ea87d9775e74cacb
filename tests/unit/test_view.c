/* test_view.c: views share storage and have PyTorch's strides, copies are made where no view can
 * be; parts; conversions and memory formats; cat and stack. Every result is compared element by
 * element with an index formula. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int

static fxs_tensor *run(fxs_ctx *ctx, const char *op, fxs_value args) {
    return run_both(ctx, op, args, NONE).u.tensor;
}

static bool shares(const fxs_tensor *a, const fxs_tensor *b) { return a->storage == b->storage; }

static fxs_value ints(fxs_ctx *ctx, int n, const int64_t *v) {
    fxs_value list;
    assert_ok(ctx, fxs_make_seq(ctx, NULL, FXS_V_LIST, (size_t)n, &list));
    for (int i = 0; i < n; i++)
        list.u.seq->items[i] = I(v[i]);
    return list;
}

/* Facts of PyTorch 1.13: the input's strides, the shape asked for, and the strides of the view
 * ({-9}: no view can be).
 */
static void view_strides(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        int n, m;
        int64_t sizes[4], strides[4], shape[6], out[6];
    } cases[] = {
        {3, 2, {2, 3, 4}, {12, 4, 1}, {6, 4}, {4, 1}},
        {3, 2, {2, 3, 4}, {12, 4, 1}, {-1, 2}, {2, 1}},
        {3, 4, {2, 3, 4}, {12, 4, 1}, {2, 3, 2, 2}, {12, 4, 2, 1}},
        {3, 1, {2, 3, 4}, {1, 2, 6}, {24}, {-9}},
        {3, 3, {2, 3, 4}, {1, 2, 6}, {2, 3, 4}, {1, 2, 6}},
        {3, 4, {2, 3, 4}, {1, 2, 6}, {1, 2, 3, 4}, {2, 1, 2, 6}},
        {2, 3, {4, 6}, {24, 2}, {4, 2, 3}, {24, 6, 2}},
        {2, 1, {4, 6}, {24, 2}, {24}, {-9}},
        {3, 2, {2, 1, 3}, {3, 7, 1}, {2, 3}, {3, 1}},
        {2, 4, {1, 3}, {9, 1}, {1, 1, 3, 1}, {3, 3, 1, 1}},
        {2, 3, {3, 1}, {1, 3}, {3, 1, 1}, {1, 3, 3}},
        {2, 2, {0, 3}, {3, 1}, {3, 0}, {1, 1}},
        {0, 2, {0}, {0}, {1, 1}, {1, 1}},
        {2, 1, {5, 4}, {0, 1}, {20}, {-9}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_tensor *x, *y;
        fxs_value out;
        assert_ok(ctx, fxs_tensor_make(ctx, FXS_FLOAT32, cases[i].n, cases[i].sizes,
                                       cases[i].strides, &x));
        assert_ok(ctx, fxs_tensor_allocate(ctx, x));
        memset(x->storage->data, 0, x->storage->bytes);
        for (int64_t k = 0; k < (int64_t)(x->storage->bytes / 4); k++)
            ((float *)x->storage->data)[k] = (float)k;
        bool fits = cases[i].out[0] != -9;
        fxs_status s =
            try_op(ctx, false, "Tensor.view",
                   TUPLE(ctx, TENSOR(x), ints(ctx, cases[i].m, cases[i].shape)), NONE, &out);
        assert_int_equal(s, fits ? FXS_OK : FXS_ESHAPE);
        fxs_ctx_clear(ctx);
        if (fits) {
            assert_strides(out.u.tensor, cases[i].m, cases[i].out);
            assert_true(shares(out.u.tensor, x));
            fxs_value_unref(&out);
        }
        y = run(ctx, "torch.reshape", TUPLE(ctx, TENSOR(x), ints(ctx, cases[i].m, cases[i].shape)));
        assert_int_equal(shares(y, x), fits);
        assert_int_equal(fxs_tensor_numel(y), fxs_tensor_numel(x));
        for (int64_t k = 0; k < fxs_tensor_numel(x); k++)
            assert_near(nth(y, k), nth(x, k), 0);
        fxs_tensor_unref(x), fxs_tensor_unref(y);
    }
}

static void shapes_that_do_not_fit(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *none = random_tensor(ctx, FXS_FLOAT32, SIZES(0, 3), 1);
    refuses(ctx, "Tensor.view", TUPLE(ctx, TENSOR(x), I(4)), NONE,
            "view: shape [4] is invalid for input of size 6");
    refuses(ctx, "Tensor.view", TUPLE(ctx, TENSOR(x), I(4), I(-1)), NONE,
            "view: shape [4, -1] is invalid for input of size 6");
    refuses(ctx, "Tensor.view", TUPLE(ctx, TENSOR(x), I(-1), I(-1)), NONE,
            "view: only one dimension can be inferred, but the shape is [-1, -1]");
    refuses(ctx, "Tensor.reshape", TUPLE(ctx, TENSOR(x), I(-2), I(-3)), NONE,
            "reshape: invalid shape dimension -2");
    refuses(ctx, "Tensor.view", TUPLE(ctx, TENSOR(none), I(0), I(-1)), NONE,
            "view: cannot reshape a tensor of 0 elements into shape [0, -1] because the "
            "unspecified dimension size -1 "
            "can be "
            "any value and is ambiguous");
    refuses(ctx, "Tensor.view", TUPLE(ctx, TENSOR(x), I((int64_t)1 << 40), I((int64_t)1 << 40)),
            NONE, "view: shape [1099511627776, 1099511627776] is invalid for input of size 6");
    refuses(ctx, "torch.flatten", TUPLE(ctx, TENSOR(x), I(1), I(0)), NONE,
            "flatten: start_dim 1 cannot come after end_dim 0");
    refuses(ctx, "Tensor.expand", TUPLE(ctx, TENSOR(x), I(2), I(4)), NONE,
            "expand: the expanded size of the tensor (4) must match the existing size (3) at "
            "dimension 1: shapes [2, "
            "4] and "
            "[2, 3]");
    refuses(ctx, "Tensor.expand", TUPLE(ctx, TENSOR(x), I(-1), I(2), I(3)), NONE,
            "expand: the expanded size of the tensor (-1) isn't allowed in dimension 0: shapes "
            "[-1, 2, 3] and [2, 3]");
    refuses(ctx, "torch.permute", TUPLE(ctx, TENSOR(x), LIST(ctx, I(0), I(0))), NONE,
            "permute: dimension 0 stands twice in the ordering");
    refuses(ctx, "torch.permute", TUPLE(ctx, TENSOR(x), LIST(ctx, I(0))), NONE,
            "permute: the tensor has 2 dimensions, but the ordering has 1");
    fxs_tensor_unref(x), fxs_tensor_unref(none);
}

/* Each dimension of the result is a dimension of the input (or -1: a new one); checks strides and
 * elements. */
static void reordered_dimensions(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 1, 4, 3), 1);
    const struct {
        const char *op;
        fxs_value args;
        int ndim, from[5];
        int64_t new_stride;
    } cases[] = {
        {"Tensor.permute", TUPLE(ctx, TENSOR(x), I(3), I(-2), I(0), I(1)), 4, {3, 2, 0, 1}, 0},
        {"torch.permute",
         TUPLE(ctx, TENSOR(x), LIST(ctx, I(0), I(2), I(3), I(1))),
         4,
         {0, 2, 3, 1},
         0},
        {"Tensor.transpose", TUPLE(ctx, TENSOR(x), I(0), I(-1)), 4, {3, 1, 2, 0}, 0},
        {"torch.swapaxes", TUPLE(ctx, TENSOR(x), I(1), I(2)), 4, {0, 2, 1, 3}, 0},
        {"torch.movedim", TUPLE(ctx, TENSOR(x), I(0), I(2)), 4, {1, 2, 0, 3}, 0},
        {"torch.movedim",
         TUPLE(ctx, TENSOR(x), LIST(ctx, I(0), I(1)), LIST(ctx, I(-1), I(0))),
         4,
         {1, 2, 3, 0},
         0},
        {"Tensor.squeeze", TUPLE(ctx, TENSOR(x)), 3, {0, 2, 3}, 0},
        {"Tensor.squeeze", TUPLE(ctx, TENSOR(x), I(1)), 3, {0, 2, 3}, 0},
        {"Tensor.squeeze", TUPLE(ctx, TENSOR(x), I(0)), 4, {0, 1, 2, 3}, 0},
        {"Tensor.unsqueeze", TUPLE(ctx, TENSOR(x), I(0)), 5, {-1, 0, 1, 2, 3}, 24},
        {"Tensor.unsqueeze", TUPLE(ctx, TENSOR(x), I(-1)), 5, {0, 1, 2, 3, -1}, 1},
        {"Tensor.unsqueeze", TUPLE(ctx, TENSOR(x), I(2)), 5, {0, 1, -1, 2, 3}, 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_tensor *y = run(ctx, cases[i].op, cases[i].args);
        assert_int_equal(y->ndim, cases[i].ndim);
        assert_true(shares(x, y));
        for (int d = 0; d < y->ndim; d++) {
            assert_int_equal(y->sizes[d], cases[i].from[d] < 0 ? 1 : x->sizes[cases[i].from[d]]);
            assert_int_equal(y->strides[d], cases[i].from[d] < 0 ? cases[i].new_stride
                                                                 : x->strides[cases[i].from[d]]);
        }
        fxs_tensor_unref(y);
    }
    fxs_tensor_unref(x);
}

static void views_in_place_change_the_tensor(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1);
    fxs_tensor *a = run_op(ctx, "Tensor.t_", TUPLE(ctx, TENSOR(x)), NONE),
               *b = run_op(ctx, "Tensor.unsqueeze_", TUPLE(ctx, TENSOR(x), I(0)), NONE);
    assert_ptr_equal(a, x);
    assert_ptr_equal(b, x);
    assert_shape(x, SIZES(1, 3, 2));
    assert_strides(x, SIZES(3, 1, 3));
    fxs_tensor_unref(x), fxs_tensor_unref(a), fxs_tensor_unref(b);
}

static void stretched_dimensions_have_stride_0(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 1), 1),
               *other = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1);
    fxs_tensor *y = run(ctx, "Tensor.expand", TUPLE(ctx, TENSOR(x), I(2), I(-1), I(4))),
               *z = run(ctx, "Tensor.expand_as", TUPLE(ctx, TENSOR(x), TENSOR(other)));
    fxs_tensor *one = run(ctx, "Tensor.expand", TUPLE(ctx, TENSOR(x), I(1), I(3), I(1)));
    assert_shape(y, SIZES(2, 3, 4));
    assert_strides(y, SIZES(0, 1, 0));
    assert_strides(z, SIZES(0, 1, 0));
    assert_strides(one, SIZES(3, 1, 1)); /* a new dimension of size 1 is not stretched */
    for (int64_t i = 0; i < 24; i++)
        assert_near(nth(y, i), nth(x, i / 4 % 3), 0);
    fxs_tensor_unref(x), fxs_tensor_unref(other), fxs_tensor_unref(y), fxs_tensor_unref(z),
        fxs_tensor_unref(one);
}

static void flatten_and_unflatten(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {1, 0, 2};
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1),
               *t = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1), turned);
    fxs_tensor *a = run(ctx, "torch.flatten", TUPLE(ctx, TENSOR(x), I(1))),
               *b = run(ctx, "torch.flatten", TUPLE(ctx, TENSOR(t), I(0), I(1)));
    fxs_tensor *same = run_op(ctx, "Tensor.flatten", TUPLE(ctx, TENSOR(x), I(2)), NONE),
               *u = run(ctx, "Tensor.unflatten",
                        TUPLE(ctx, TENSOR(x), I(-1), LIST(ctx, I(2), I(-1))));
    assert_shape(a, SIZES(2, 12));
    assert_true(shares(a, x));
    assert_shape(b, SIZES(6, 4));
    assert_false(shares(b, t));
    assert_ptr_equal(same, x);
    assert_shape(u, SIZES(2, 3, 2, 2));
    for (int64_t i = 0; i < 24; i++)
        assert_near(nth(b, i), nth(t, i), 0);
    fxs_tensor_unref(x), fxs_tensor_unref(t), fxs_tensor_unref(a), fxs_tensor_unref(b),
        fxs_tensor_unref(same), fxs_tensor_unref(u);
}

/* ---- parts
 * --------------------------------------------------------------------------------------------- */

/* A tuple of parts along `dim` with these lengths that together are x. */
static void expect_parts(fxs_ctx *ctx, const char *op, fxs_value args, fxs_tensor *x, int dim,
                         int n, const int64_t *lengths) {
    fxs_value out = run_both(ctx, op, args, NONE);
    int64_t start = 0;
    assert_int_equal(out.tag, FXS_V_TUPLE);
    assert_int_equal(fxs_value_len(&out), n);
    for (int i = 0; i < n; i++) {
        const fxs_tensor *p = tensor_at(&out, (size_t)i);
        assert_int_equal(p->sizes[dim], lengths[i]);
        assert_int_equal(p->offset, start * x->strides[dim]);
        assert_true(shares(p, x));
        start += lengths[i];
    }
    fxs_value_unref(&out);
}

static void tensors_are_cut_into_parts(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 7), 1);
    expect_parts(ctx, "Tensor.chunk", TUPLE(ctx, TENSOR(x), I(3), I(1)), x, 1, 3,
                 (int64_t[]){3, 3, 1});
    expect_parts(ctx, "Tensor.chunk", TUPLE(ctx, TENSOR(x), I(5), I(1)), x, 1, 4,
                 (int64_t[]){2, 2, 2, 1});
    expect_parts(ctx, "torch.chunk", TUPLE(ctx, TENSOR(x), I(1)), x, 0, 1, (int64_t[]){3});
    expect_parts(ctx, "Tensor.split", TUPLE(ctx, TENSOR(x), I(4), I(-1)), x, 1, 2,
                 (int64_t[]){4, 3});
    expect_parts(ctx, "torch.functional.split",
                 TUPLE(ctx, TENSOR(x), LIST(ctx, I(2), I(0), I(5)), I(1)), x, 1, 3,
                 (int64_t[]){2, 0, 5});
    expect_parts(ctx, "torch.tensor_split", TUPLE(ctx, TENSOR(x), I(3), I(1)), x, 1, 3,
                 (int64_t[]){3, 2, 2});
    expect_parts(ctx, "torch.tensor_split", TUPLE(ctx, TENSOR(x), LIST(ctx, I(1), I(-2)), I(1)), x,
                 1, 3, (int64_t[]){1, 4, 2});
    fxs_value rows = run_both(ctx, "Tensor.unbind", TUPLE(ctx, TENSOR(x), I(1)), NONE);
    assert_int_equal(fxs_value_len(&rows), 7);
    for (size_t i = 0; i < 7; i++) {
        assert_shape(tensor_at(&rows, i), SIZES(3));
        assert_near(nth(tensor_at(&rows, i), 2), nth(x, 14 + (int64_t)i), 0);
    }
    fxs_value_unref(&rows);
    refuses(ctx, "Tensor.split", TUPLE(ctx, TENSOR(x), LIST(ctx, I(2), I(4)), I(1)), NONE,
            "split: split sizes must sum exactly to 7 (the tensor's size at dimension 1)");
    refuses(ctx, "Tensor.split", TUPLE(ctx, TENSOR(x), I(0)), NONE,
            "split: split_size can only be 0 if the dimension size is 0, but it is 3");
    refuses(ctx, "Tensor.chunk", TUPLE(ctx, TENSOR(x), I(0)), NONE,
            "chunk: expects `chunks` to be greater than 0, got 0");
    fxs_tensor_unref(x);
}

static void single_parts(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(4, 5), 1);
    fxs_tensor *s = run(ctx, "Tensor.select", TUPLE(ctx, TENSOR(x), I(1), I(-2))),
               *n = run(ctx, "Tensor.narrow", TUPLE(ctx, TENSOR(x), I(0), I(-3), I(2)));
    fxs_tensor *d = run(ctx, "torch.diagonal", TUPLE(ctx, TENSOR(x), I(1))),
               *w = run(ctx, "Tensor.unfold", TUPLE(ctx, TENSOR(x), I(1), I(3), I(2)));
    fxs_tensor *a = run(ctx, "torch.as_strided",
                        TUPLE(ctx, TENSOR(x), LIST(ctx, I(2), I(2)), LIST(ctx, I(1), I(5)), I(3)));
    assert_shape(w, SIZES(4, 2, 3));
    assert_strides(w, SIZES(5, 2, 1));
    for (int64_t i = 0; i < 4; i++) {
        assert_near(nth(s, i), nth(x, 5 * i + 3), 0);
        assert_near(nth(d, i), nth(x, 6 * i + 1), 0);
        assert_near(nth(a, i), nth(x, 3 + i / 2 + i % 2 * 5), 0);
    }
    for (int64_t i = 0; i < 10; i++)
        assert_near(nth(n, i), nth(x, 5 + i), 0);
    for (int64_t i = 0; i < 24; i++)
        assert_near(nth(w, i), nth(x, i / 6 * 5 + i / 3 % 2 * 2 + i % 3), 0);
    refuses(ctx, "Tensor.select", TUPLE(ctx, TENSOR(x), I(1), I(5)), NONE,
            "select: index 5 is out of range for dimension 1 with size 5");
    refuses(ctx, "Tensor.narrow", TUPLE(ctx, TENSOR(x), I(0), I(2), I(3)), NONE,
            "narrow: start (2) + length (3) exceeds dimension size (4)");
    refuses(ctx, "Tensor.unfold", TUPLE(ctx, TENSOR(x), I(1), I(6), I(1)), NONE,
            "unfold: maximum size for the tensor at dimension 1 is 5, but size is 6");
    refuses(ctx, "torch.as_strided", TUPLE(ctx, TENSOR(x), LIST(ctx, I(3)), LIST(ctx, I(10))), NONE,
            "as_strided: reaches element 20 of a storage of 20 elements");
    fxs_tensor_unref(x), fxs_tensor_unref(s), fxs_tensor_unref(n), fxs_tensor_unref(d),
        fxs_tensor_unref(w), fxs_tensor_unref(a);
}

/* ---- conversions and formats
 * --------------------------------------------------------------------------- */

static void conversions_keep_the_layout(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {0, 2, 3, 1};
    static const struct {
        const char *op;
        fxs_dtype dtype;
    } cases[] = {{"Tensor.double", FXS_FLOAT64},    {"Tensor.half", FXS_FLOAT16},
                 {"Tensor.bfloat16", FXS_BFLOAT16}, {"Tensor.long", FXS_INT64},
                 {"Tensor.int", FXS_INT32},         {"Tensor.short", FXS_INT16},
                 {"Tensor.char", FXS_INT8},         {"Tensor.bool", FXS_BOOL}};
    fxs_tensor *x = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 1), turned);
    fxs_fill_uniform(ctx, x, 3, -9, 9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_tensor *y = run(ctx, cases[i].op, TUPLE(ctx, TENSOR(x)));
        assert_int_equal(y->dtype, cases[i].dtype);
        assert_strides(y, 4, x->strides);
        for (int64_t k = 0; k < 120; k++)
            assert_near(nth(y, k),
                        cases[i].dtype == FXS_BOOL        ? nth(x, k) != 0
                        : fxs_is_floating(cases[i].dtype) ? nth(x, k)
                                                          : trunc(nth(x, k)),
                        tolerance_of(cases[i].dtype));
        fxs_tensor_unref(y);
    }
    static const char *const same[] = {"Tensor.float", "Tensor.cpu", "Tensor.cuda",
                                       "Tensor.detach"};
    for (int i = 0; i < 3; i++) {
        fxs_tensor *y = run_op(ctx, same[i], TUPLE(ctx, TENSOR(x)), NONE);
        assert_ptr_equal(y, x);
        fxs_tensor_unref(y);
    }
    x->requires_grad = true;
    fxs_tensor *d = run_op(ctx, same[3], TUPLE(ctx, TENSOR(x)), NONE),
               *c = run_op(ctx, "Tensor.clone", TUPLE(ctx, TENSOR(x)), NONE);
    assert_true(shares(d, x) && !d->requires_grad);
    assert_true(!shares(c, x) && c->requires_grad);
    fxs_tensor_unref(x), fxs_tensor_unref(d), fxs_tensor_unref(c);
}

static void the_forms_of_to(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 1),
               *n = random_tensor(ctx, FXS_INT64, SIZES(3), 1);
    fxs_value f64 = {.tag = FXS_V_DTYPE, .u.dtype = FXS_FLOAT64},
              f32 = {.tag = FXS_V_DTYPE, .u.dtype = FXS_FLOAT32}, device;
    assert_ok(ctx, fxs_make_text(ctx, NULL, FXS_V_DEVICE, "cuda:0", 6, &device));
    fxs_tensor *a = run(ctx, "Tensor.to", TUPLE(ctx, TENSOR(x), f64)),
               *b = run(ctx, "Tensor.to", TUPLE(ctx, TENSOR(x), fxs_value_ref(device), f64)),
               *o = run(ctx, "Tensor.to", TUPLE(ctx, TENSOR(x), TENSOR(n))),
               *d = run(ctx, "Tensor.type_as", TUPLE(ctx, TENSOR(n), TENSOR(x)));
    fxs_tensor *same = run_op(ctx, "Tensor.to", TUPLE(ctx, TENSOR(x), device), NONE),
               *copy = run_op(ctx, "Tensor.to", TUPLE(ctx, TENSOR(x), f32),
                              KEYWORDS(ctx, {"copy", fxs_bool(true)}));
    assert_int_equal(a->dtype, FXS_FLOAT64);
    assert_int_equal(b->dtype, FXS_FLOAT64);
    assert_int_equal(o->dtype, FXS_INT64);
    assert_int_equal(d->dtype, FXS_FLOAT32);
    assert_ptr_equal(same, x);
    assert_false(shares(copy, x));
    fxs_tensor_unref(x), fxs_tensor_unref(n), fxs_tensor_unref(a), fxs_tensor_unref(b),
        fxs_tensor_unref(o), fxs_tensor_unref(d);
    fxs_tensor_unref(same), fxs_tensor_unref(copy);
}

static fxs_value format(fxs_memory_format f) {
    return (fxs_value){.tag = FXS_V_MEMORY_FORMAT, .u.format = f};
}

static void memory_formats(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 1),
               *v = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 1);
    fxs_tensor *last = run_both(ctx, "Tensor.contiguous", TUPLE(ctx, TENSOR(x)),
                                KEYWORDS(ctx, {"memory_format", format(FXS_CHANNELS_LAST)}))
                           .u.tensor;
    fxs_tensor *back = run(ctx, "Tensor.contiguous", TUPLE(ctx, TENSOR(last))),
               *same = run_op(ctx, "Tensor.contiguous", TUPLE(ctx, TENSOR(x)), NONE);
    fxs_tensor *kept = run(ctx, "Tensor.clone", TUPLE(ctx, TENSOR(last)));
    assert_strides(last, SIZES(60, 1, 15, 3));
    assert_strides(back, SIZES(60, 20, 5, 1));
    assert_strides(kept, SIZES(60, 1, 15, 3));
    assert_ptr_equal(same, x);
    for (int64_t i = 0; i < 120; i++) {
        assert_near(nth(last, i), nth(x, i), 0);
        assert_near(nth(back, i), nth(x, i), 0);
    }
    refuses(
        ctx, "Tensor.contiguous", TUPLE(ctx, TENSOR(v)),
        KEYWORDS(ctx, {"memory_format", format(FXS_CHANNELS_LAST)}),
        "contiguous: required rank 4 tensor to use the channels_last format, but it has rank 1");
    fxs_tensor_unref(x), fxs_tensor_unref(v), fxs_tensor_unref(last), fxs_tensor_unref(back),
        fxs_tensor_unref(same), fxs_tensor_unref(kept);
}

/* ---- cat and stack
 * ------------------------------------------------------------------------------------- */

static void cat_along_every_dimension(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {1, 2, 0};
    for (int dim = 0; dim < 3; dim++) {
        int64_t sizes[] = {2, 3, 4};
        fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, 3, sizes, 1), *b,
                   *none = random_tensor(ctx, FXS_FLOAT32, SIZES(0), 1);
        sizes[dim] = 5;
        b = laid_out(ctx, random_tensor(ctx, FXS_INT32, 3, sizes, 2), turned);
        fxs_tensor *y = run(ctx, "torch.cat",
                            TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(none), TENSOR(b)), I(dim)));
        sizes[dim] = a->sizes[dim] + 5;
        assert_shape(y, 3, sizes);
        assert_int_equal(y->dtype, FXS_FLOAT32);
        for (int64_t i = 0; i < fxs_tensor_numel(y); i++) {
            int64_t at[] = {i / (sizes[1] * sizes[2]), i / sizes[2] % sizes[1], i % sizes[2]};
            bool second = at[dim] >= a->sizes[dim];
            at[dim] -= second ? a->sizes[dim] : 0;
            assert_near(nth(y, i), element(second ? b : a, at), 0);
        }
        fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(none), fxs_tensor_unref(y);
    }
}

/* Large ones: two that all threads copy together, in pieces that do not come out even, and many of
 * which each thread takes some. */
static void threads_join(void **state) {
    fxs_ctx *ctx = *state;
    static const int64_t widths[] = {40001, 30000, 7, 0, 50000};
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 3));
    for (int n = 2; n <= 5; n += 3)
        for (int rows = 1; rows <= 2; rows++) {
            fxs_tensor *part[5];
            fxs_value list = LIST(ctx, I(0), I(0), I(0), I(0), I(0));
            list.u.seq->len = (size_t)n;
            int64_t total = 0;
            for (int i = 0; i < n; i++) {
                part[i] = random_tensor(ctx, FXS_FLOAT32, SIZES(rows, widths[i]), (uint64_t)i + 1);
                list.u.seq->items[i] = TENSOR(part[i]);
                total += widths[i];
            }
            fxs_tensor *y = run_op(ctx, "torch.cat", TUPLE(ctx, list, I(1)), NONE);
            assert_shape(y, SIZES(rows, total));
            for (int64_t r = 0; r < rows; r++)
                for (int64_t i = 0, at = r * total; i < n; at += widths[i++])
                    assert_memory_equal((float *)fxs_tensor_data(y) + at,
                                        (float *)fxs_tensor_data(part[i]) + r * widths[i],
                                        (size_t)widths[i] * sizeof(float));
            fxs_tensor_unref(y);
            for (int i = 0; i < n; i++)
                fxs_tensor_unref(part[i]);
        }
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

static void joined_tensors_keep_channels_last(void **state) {
    fxs_ctx *ctx = *state;
    static const int turned[] = {0, 2, 3, 1};
    fxs_tensor *a = laid_out(ctx, random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 1), turned),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4, 5), 2);
    fxs_tensor *both = run(ctx, "torch.cat", TUPLE(ctx, TUPLE(ctx, TENSOR(a), TENSOR(a)), I(1))),
               *mixed = run(ctx, "torch.cat", TUPLE(ctx, TUPLE(ctx, TENSOR(a), TENSOR(b)), I(1)));
    fxs_tensor *piled = run(ctx, "torch.stack", TUPLE(ctx, TUPLE(ctx, TENSOR(a), TENSOR(a)), I(1)));
    assert_strides(both, SIZES(120, 1, 30, 6));
    assert_strides(mixed, SIZES(120, 20, 5, 1));
    assert_strides(piled, SIZES(120, 3, 1, 30, 6)); /* a cat that is split */
    for (int64_t i = 0; i < 240; i++)
        assert_near(nth(piled, i), nth(a, i / 120 * 60 + i % 60), 0);
    fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(both), fxs_tensor_unref(mixed),
        fxs_tensor_unref(piled);
}

static void stacks(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 2),
               *v = random_tensor(ctx, FXS_FLOAT32, SIZES(3), 2);
    fxs_tensor *s = run(ctx, "torch.stack", TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(b)), I(-1))),
               *h = run(ctx, "torch.hstack", TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(b)))),
               *r = run(ctx, "torch.vstack", TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(v)))),
               *d = run(ctx, "torch.dstack", TUPLE(ctx, LIST(ctx, TENSOR(v), TENSOR(v))));
    assert_shape(s, SIZES(2, 3, 2));
    assert_shape(h, SIZES(2, 6));
    assert_shape(r, SIZES(3, 3));
    assert_shape(d, SIZES(1, 3, 2));
    for (int64_t i = 0; i < 12; i++)
        assert_near(nth(s, i), nth(i % 2 ? b : a, i / 2), 0);
    refuses(ctx, "torch.stack", TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(v))), NONE,
            "stack: expects each tensor to be equal size, but got [2, 3] at entry 0 and [3] at "
            "entry 1");
    refuses(
        ctx, "torch.cat", TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(v))), NONE,
        "cat: tensors must have the same number of dimensions: got 2 and 1: shapes [2, 3] and [3]");
    refuses(ctx, "torch.cat", TUPLE(ctx, LIST(ctx, TENSOR(a), TENSOR(r)), I(1)), NONE,
            "cat: sizes of tensors must match except in dimension 1: shapes [2, 3] and [3, 3] "
            "(tensor number 1 in the "
            "list)");
    fxs_tensor_unref(a), fxs_tensor_unref(b), fxs_tensor_unref(v), fxs_tensor_unref(s),
        fxs_tensor_unref(h), fxs_tensor_unref(r), fxs_tensor_unref(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(view_strides),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(reordered_dimensions),
        cmocka_unit_test(views_in_place_change_the_tensor),
        cmocka_unit_test(stretched_dimensions_have_stride_0),
        cmocka_unit_test(flatten_and_unflatten),
        cmocka_unit_test(tensors_are_cut_into_parts),
        cmocka_unit_test(single_parts),
        cmocka_unit_test(conversions_keep_the_layout),
        cmocka_unit_test(the_forms_of_to),
        cmocka_unit_test(memory_formats),
        cmocka_unit_test(cat_along_every_dimension),
        cmocka_unit_test(threads_join),
        cmocka_unit_test(joined_tensors_keep_channels_last),
        cmocka_unit_test(stacks),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
