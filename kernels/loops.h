/* loops.h: macros that write the chunk functions of fxs_loops (iterate.h) from one expression. x,
 * y, z are the elements of the operands, p points to what the kernel passed as `user`. Included by
 * the families of pointwise operators. */
#ifndef FXS_KERNELS_LOOPS_H
#define FXS_KERNELS_LOOPS_H

#include "kernels/iterate.h"

#define FXS_LOOP1(name, result, type, user_type, expr)                                             \
    FXS_LOOP1_AS(FXS_VECTOR, name, result, type, user_type, expr)
/* For expressions of many operations. */
#define FXS_LOOP1_WIDE(name, result, type, user_type, expr)                                        \
    FXS_LOOP1_AS(FXS_VECTOR_WIDE, name, result, type, user_type, expr)
#define FXS_LOOP1_AS(how, name, result, type, user_type, expr)                                     \
    how static void name(int64_t n, void *out, const void *const *in, const void *user) {          \
        result *o = out;                                                                           \
        const type *a = in[0];                                                                     \
        const user_type *p = user;                                                                 \
        (void)p;                                                                                   \
        FXS_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x = a[i];                                                                         \
            o[i] = (result)(expr);                                                                 \
        }                                                                                          \
    }

#define FXS_LOOP2(name, result, type, user_type, expr)                                             \
    FXS_VECTOR static void name(int64_t n, void *out, const void *const *in, const void *user) {   \
        result *o = out;                                                                           \
        const type *a = in[0], *b = in[1];                                                         \
        const user_type *p = user;                                                                 \
        (void)p;                                                                                   \
        FXS_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x = a[i], y = b[i];                                                               \
            o[i] = (result)(expr);                                                                 \
        }                                                                                          \
    }

#define FXS_LOOP3(name, result, type, user_type, expr)                                             \
    FXS_VECTOR static void name(int64_t n, void *out, const void *const *in, const void *user) {   \
        result *o = out;                                                                           \
        const type *a = in[0], *b = in[1], *d = in[2];                                             \
        const user_type *p = user;                                                                 \
        (void)p;                                                                                   \
        FXS_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x = a[i], y = b[i], z = d[i];                                                     \
            o[i] = (result)(expr);                                                                 \
        }                                                                                          \
    }

/* A kernel that runs OP_loops over the first n arguments in their common type. */
#define FXS_KERNEL(op, n, common_of)                                                               \
    static fxs_status run_##op(fxs_call *c) {                                                      \
        fxs_operands o = fxs_operands_of(c, 0, n);                                                 \
        return fxs_loop_run(c, c->out[0], &op##_loops, &o, common_of(&o), NULL);                   \
    }

#endif
