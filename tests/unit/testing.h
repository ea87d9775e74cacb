/* testing.h: what unit tests share: cmocka with its includes, contexts, tensors from lists, calls
 * of operators by name, and comparison with plain double-precision references. */
#ifndef FXS_TESTS_TESTING_H
#define FXS_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "op/registry.h"

#define SIZES(...)                                                                                 \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

static inline void assert_ok_at(fxs_ctx *ctx, fxs_status s, const char *file, int line) {
    if (s != FXS_OK)
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, fxs_status_name(s), fxs_ctx_error(ctx));
    _assert_int_equal((uintmax_t)s, FXS_OK, file, line);
}
#define assert_ok(ctx, call) assert_ok_at((ctx), (call), __FILE__, __LINE__)

/* Uniform random numbers in -1..1 (float types), 0..9 (integers) or 0..1 (bool), by seed. */
static inline fxs_tensor *random_tensor(fxs_ctx *ctx, fxs_dtype d, int ndim, const int64_t *sizes,
                                        uint64_t seed) {
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_new(ctx, d, ndim, sizes, &t));
    if (fxs_is_floating(d))
        fxs_fill_uniform(ctx, t, seed, -1, 1);
    else
        fxs_fill_integers(ctx, t, seed, 0, d == FXS_BOOL ? 1 : 9);
    return t;
}

/* Element at a multi-index, whatever the strides. */
static inline double element(const fxs_tensor *t, const int64_t *index) {
    int64_t at = 0;
    for (int i = 0; i < t->ndim; i++)
        at += index[i] * t->strides[i];
    return fxs_load_double(t->dtype, (const char *)fxs_tensor_data(t) +
                                         at * (int64_t)fxs_dtype_size(t->dtype));
}

/* Element by row-major position, whatever the strides. */
static inline double nth(const fxs_tensor *t, int64_t n) {
    int64_t index[FXS_MAX_DIM];
    for (int i = t->ndim - 1; i >= 0; i--) {
        index[i] = n % t->sizes[i];
        n /= t->sizes[i];
    }
    return element(t, index);
}

static inline void assert_near(double have, double want, double tolerance) {
    if (isnan(want) ? !isnan(have)
                    : have != want && !(fabs(have - want) <= tolerance * (1 + fabs(want)))) {
        fprintf(stderr, "have %.9g, want %.9g\n", have, want);
        fail();
    }
}

static inline void assert_shape(const fxs_tensor *t, int ndim, const int64_t *sizes) {
    assert_int_equal(t->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(t->sizes[i], sizes[i]);
}

static inline void assert_strides(const fxs_tensor *t, int ndim, const int64_t *strides) {
    assert_int_equal(t->ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(t->strides[i], strides[i]);
}

/* A heap list or tuple of values; takes over their references. */
static inline fxs_value make_list(fxs_ctx *ctx, fxs_tag tag, size_t n, const fxs_value *items) {
    fxs_value v;
    assert_ok(ctx, fxs_make_seq(ctx, NULL, tag, n, &v));
    for (size_t i = 0; i < n; i++)
        v.u.seq->items[i] = items[i];
    return v;
}
#define LIST(ctx, ...)                                                                             \
    make_list((ctx), FXS_V_LIST, sizeof((fxs_value[]){__VA_ARGS__}) / sizeof(fxs_value),           \
              (fxs_value[]){__VA_ARGS__})
#define TUPLE(ctx, ...)                                                                            \
    make_list((ctx), FXS_V_TUPLE, sizeof((fxs_value[]){__VA_ARGS__}) / sizeof(fxs_value),          \
              (fxs_value[]){__VA_ARGS__})
#define TENSOR(t) fxs_of_tensor(fxs_tensor_ref(t))

static inline fxs_value make_str(fxs_ctx *ctx, const char *s) {
    fxs_value v;
    assert_ok(ctx, fxs_make_text(ctx, NULL, FXS_V_STR, s, strlen(s), &v));
    return v;
}

/* Keywords as name, value pairs. */
typedef struct keyword {
    const char *name;
    fxs_value value;
} keyword;

static inline fxs_value make_keywords(fxs_ctx *ctx, size_t n, const keyword *k) {
    fxs_value v;
    assert_ok(ctx, fxs_make_dict(ctx, NULL, n, &v));
    for (size_t i = 0; i < n; i++) {
        v.u.dict->pairs[i].key = make_str(ctx, k[i].name);
        v.u.dict->pairs[i].value = k[i].value;
    }
    return v;
}
#define KEYWORDS(ctx, ...)                                                                         \
    make_keywords((ctx), sizeof((keyword[]){__VA_ARGS__}) / sizeof(keyword),                       \
                  (keyword[]){__VA_ARGS__})

/* Calls an operator by a graph's spelling ("torch.conv2d", "Tensor.view"); args (a tuple) and
 * kwargs (a dict or none) are dropped after. The status is returned so that refusals can be tested;
 * *out is the counted result. */
static inline fxs_status try_op(fxs_ctx *ctx, bool meta, const char *spelling, fxs_value args,
                                fxs_value kwargs, fxs_value *out) {
    fxs_arena scratch = {0};
    const fxs_candidate *ops;
    fxs_applied applied = {0};
    assert_ok(ctx, fxs_registry_find(ctx, spelling, &ops));
    if (!ops)
        fprintf(stderr, "no operator is spelled %s\n", spelling);
    assert_non_null(ops);
    fxs_apply how = {.meta = meta, .seed = 1, .scratch = &scratch};
    fxs_status s =
        fxs_op_apply(ctx, ops, &args, kwargs.tag == FXS_V_DICT ? &kwargs : NULL, &how, &applied);
    *out = applied.result;
    fxs_value_unref(&args);
    fxs_value_unref(&kwargs);
    fxs_arena_clear(&scratch);
    return s;
}

/* The same for calls that must succeed and give one tensor. */
static inline fxs_tensor *run_op(fxs_ctx *ctx, const char *spelling, fxs_value args,
                                 fxs_value kwargs) {
    fxs_value out;
    assert_ok(ctx, try_op(ctx, false, spelling, args, kwargs, &out));
    assert_int_equal(out.tag, FXS_V_TENSOR);
    return out.u.tensor;
}

/* ---- memory
 * ---------------------------------------------------------------------------------------------- */

/* Work that frees all that it makes, whether it succeeds or not. */
typedef fxs_status fallible(fxs_ctx *ctx, const void *data);

/* The context, or a fresh one (NULL: not even for that), with so many allocations granted. Where
 * each item of an arena is an allocation, its table of operators is thousands, which are there
 * before: test_base has them fail. */
static inline fxs_ctx *grant(fxs_ctx *ctx, long granted) {
#ifdef FXS_DEBUG_ARENA
    const fxs_candidate *ops;
    ctx = ctx ? ctx : fxs_ctx_new();
    assert_ok(ctx, fxs_registry_find(ctx, "torch.relu", &ops));
#endif
    fxs_alloc_fail_after(granted);
    return ctx ? ctx : fxs_ctx_new();
}

/* Does the work again and again with one more allocation granted each time, until it is done:
 * before that it must say that memory is out, and nothing else. ctx NULL: a fresh context each
 * time, whose allocations count too. */
static inline void assert_survives(fxs_ctx *ctx, fallible *work, const void *data) {
    fxs_status s = FXS_ENOMEM;
    for (long granted = 0; s != FXS_OK; granted += granted < 3000 ? 1 : 7) {
        fxs_ctx *in = grant(ctx, granted);
        s = in ? work(in, data) : FXS_ENOMEM;
        fxs_alloc_fail_after(-1);
        bool clean = (s == FXS_OK || s == FXS_ENOMEM) && (!in || fxs_ctx_status(in) == s);
        if (!clean)
            fprintf(stderr, "%ld allocations granted: %s: %s\n", granted, fxs_status_name(s),
                    in ? fxs_ctx_error(in) : "");
        assert_true(clean);
        assert_true(granted < 100000);
        if (ctx)
            fxs_ctx_clear(ctx);
        else
            fxs_ctx_free(in);
    }
}

static inline int new_ctx(void **state) {
    *state = fxs_ctx_new();
    return *state ? 0 : -1;
}

static inline int free_ctx(void **state) {
    fxs_ctx_free(*state);
    return 0;
}

#endif
