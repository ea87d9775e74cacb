/* checking.h: what tests of operators share beyond testing.h: calls that must agree with their
 * meta-mode run, and refusals by message. */
#ifndef FXS_TESTS_CHECKING_H
#define FXS_TESTS_CHECKING_H

#include "testing.h"

static inline fxs_tensor *tensor_at(const fxs_value *v, size_t i) {
    return v->tag == FXS_V_TENSOR ? v->u.tensor : fxs_value_item(v, i)->u.tensor;
}

/* Runs an operator in both modes; dtypes, sizes and strides must be the same, and floats not
 * computed in meta mode. */
static inline fxs_value run_both(fxs_ctx *ctx, const char *op, fxs_value args, fxs_value kwargs) {
    fxs_value out, meta;
    fxs_value_ref(args);
    fxs_value_ref(kwargs);
    assert_ok(ctx, try_op(ctx, true, op, args, kwargs, &meta));
    assert_ok(ctx, try_op(ctx, false, op, args, kwargs, &out));
    assert_int_equal(out.tag, meta.tag);
    size_t n = out.tag == FXS_V_TENSOR ? 1 : fxs_value_len(&out);
    for (size_t i = 0; i < n; i++) {
        const fxs_tensor *a = tensor_at(&out, i), *b = tensor_at(&meta, i);
        assert_int_equal(a->dtype, b->dtype);
        assert_shape(b, a->ndim, a->sizes);
        assert_strides(b, a->ndim, a->strides);
        assert_true(b->storage == NULL || !fxs_is_floating(b->dtype) ||
                    b->storage == a->storage); /* a view */
    }
    fxs_value_unref(&meta);
    return out;
}

static inline void refuses(fxs_ctx *ctx, const char *op, fxs_value args, fxs_value kwargs,
                           const char *message) {
    fxs_value out;
    fxs_status s = try_op(ctx, true, op, args, kwargs, &out);
    if (s == FXS_OK)
        fprintf(stderr, "%s was not refused; expected: %s\n", op, message);
    assert_int_not_equal(s, FXS_OK);
    assert_string_equal(fxs_ctx_error(ctx), message);
    fxs_ctx_clear(ctx);
}

/* t's values in other strides: dimensions in the order `perm` from the outside. Takes over t. */
static inline fxs_tensor *laid_out(fxs_ctx *ctx, fxs_tensor *t, const int *perm) {
    fxs_tensor *other;
    int64_t strides[FXS_MAX_DIM];
    fxs_strides_of(t->ndim, t->sizes, perm, strides);
    assert_ok(ctx, fxs_tensor_make(ctx, t->dtype, t->ndim, t->sizes, strides, &other));
    assert_ok(ctx, fxs_tensor_allocate(ctx, other));
    fxs_tensor_copy(ctx, other, t);
    fxs_tensor_unref(t);
    return other;
}

static inline double tolerance_of(fxs_dtype d) {
    return d == FXS_FLOAT32    ? 2e-5
           : d == FXS_FLOAT64  ? 1e-11
           : d == FXS_BFLOAT16 ? 2e-2
           : d == FXS_FLOAT16  ? 3e-3
                               : 0;
}

/* A float tensor of given values. */
static inline fxs_tensor *tensor_of_values(fxs_ctx *ctx, fxs_dtype d, int ndim,
                                           const int64_t *sizes, const double *v) {
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_new(ctx, d, ndim, sizes, &t));
    for (int64_t i = 0; i < fxs_tensor_numel(t); i++)
        fxs_store_double(d, (char *)fxs_tensor_data(t) + i * (int64_t)fxs_dtype_size(d), v[i]);
    return t;
}

#endif
