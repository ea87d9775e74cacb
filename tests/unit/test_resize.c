/* test_resize.c: what changes the sizes and the memory of a tensor itself: resize_ resize_as_ set_.
 * What parity tests can't see is here: memory that grows, and memory that can't. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int

static fxs_tensor *counted(fxs_ctx *ctx, int ndim, const int64_t *sizes) {
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_FLOAT32, ndim, sizes, &t));
    for (int64_t i = 0; i < fxs_tensor_numel(t); i++)
        ((float *)fxs_tensor_data(t))[i] = (float)(i + 1);
    return t;
}

/* Calls an operator that gives its first argument back. */
static void in_place(fxs_ctx *ctx, bool meta, const char *op, fxs_tensor *t, fxs_value args) {
    fxs_value out;
    assert_ok(ctx, try_op(ctx, meta, op, args, NONE, &out));
    assert_ptr_equal(out.u.tensor, t);
    fxs_value_unref(&out);
}

static void memory_grows_by_zeros(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t = counted(ctx, SIZES(2, 3));
    in_place(ctx, false, "Tensor.resize_", t, TUPLE(ctx, TENSOR(t), I(2), I(5)));
    assert_shape(t, SIZES(2, 5));
    assert_strides(t, SIZES(5, 1));
    for (int i = 0; i < 10; i++)
        assert_near(nth(t, i), i < 6 ? i + 1 : 0, 0);
    in_place(ctx, false, "Tensor.resize_", t, TUPLE(ctx, TENSOR(t), I(3)));
    assert_shape(t, SIZES(3));
    in_place(ctx, false, "Tensor.resize_", t, TUPLE(ctx, TENSOR(t), I(6)));
    assert_near(nth(t, 5), 6, 0); /* memory that is there stays as it is */
    fxs_tensor_unref(t);
}

static void memory_of_views_does_not_grow(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t = counted(ctx, SIZES(2, 2)), *v;
    assert_ok(ctx, fxs_tensor_view(ctx, t, &v));
    refuses(ctx, "Tensor.resize_", TUPLE(ctx, TENSOR(t), I(5)), NONE,
            "resize_: 20 bytes are more than the 16 of the tensor's memory, which can't grow while "
            "other tensors are views of it: clone() the tensor before");
    assert_shape(t, SIZES(2, 2));
    in_place(ctx, false, "Tensor.resize_", t, TUPLE(ctx, TENSOR(t), I(3)));
    assert_shape(t, SIZES(3));
    assert_ptr_equal(t->storage, v->storage);
    fxs_tensor_unref(v);
    in_place(ctx, false, "Tensor.resize_", t, TUPLE(ctx, TENSOR(t), I(5)));
    assert_near(nth(t, 3), 4, 0);
    assert_near(nth(t, 4), 0, 0);
    fxs_tensor_unref(t);
}

static void sizes_alone_in_meta(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t, *other = counted(ctx, SIZES(4, 1));
    assert_ok(ctx, fxs_tensor_make(ctx, FXS_FLOAT32, SIZES(2, 3), NULL, &t));
    in_place(ctx, true, "Tensor.resize_", t, TUPLE(ctx, TENSOR(t), I(100), I(7)));
    assert_shape(t, SIZES(100, 7));
    assert_null(t->storage);
    in_place(ctx, true, "Tensor.resize_as_", t, TUPLE(ctx, TENSOR(t), TENSOR(other)));
    assert_shape(t, SIZES(4, 1));
    fxs_tensor_unref(t), fxs_tensor_unref(other);
}

static void set_looks_at_other_memory(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t = counted(ctx, SIZES(2, 3)), *other = counted(ctx, SIZES(4)), *ints;
    in_place(ctx, false, "Tensor.set_", t, TUPLE(ctx, TENSOR(t), TENSOR(other)));
    assert_shape(t, SIZES(4));
    assert_ptr_equal(t->storage, other->storage);
    in_place(ctx, false, "Tensor.set_", t, TUPLE(ctx, TENSOR(t), TENSOR(t)));
    assert_shape(t, SIZES(4));
    in_place(ctx, false, "Tensor.set_", t, TUPLE(ctx, TENSOR(t)));
    assert_shape(t, SIZES(0));
    assert_ok(ctx, fxs_tensor_make(ctx, FXS_INT64, SIZES(1), NULL, &ints));
    refuses(ctx, "Tensor.set_", TUPLE(ctx, TENSOR(t), TENSOR(ints)), NONE,
            "set_: a tensor of torch.float32 can't look at one of torch.int64");
    fxs_tensor_unref(t), fxs_tensor_unref(other), fxs_tensor_unref(ints);
}

static void bad_sizes_change_nothing(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t = counted(ctx, SIZES(2, 3));
    fxs_value out;
    assert_int_not_equal(
        try_op(ctx, false, "Tensor.resize_", TUPLE(ctx, TENSOR(t), I(2), I(-1)), NONE, &out),
        FXS_OK);
    fxs_ctx_clear(ctx);
    assert_int_not_equal(try_op(ctx, false, "Tensor.resize_",
                                TUPLE(ctx, TENSOR(t), I(INT64_MAX), I(INT64_MAX)), NONE, &out),
                         FXS_OK);
    fxs_ctx_clear(ctx);
    assert_shape(t, SIZES(2, 3));
    t->requires_grad = true;
    refuses(ctx, "Tensor.resize_", TUPLE(ctx, TENSOR(t), I(6)), NONE,
            "resize_: cannot resize variables that require grad");
    fxs_tensor_unref(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_grows_by_zeros),    cmocka_unit_test(memory_of_views_does_not_grow),
        cmocka_unit_test(sizes_alone_in_meta),      cmocka_unit_test(set_looks_at_other_memory),
        cmocka_unit_test(bad_sizes_change_nothing),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
