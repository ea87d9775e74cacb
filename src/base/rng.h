/* rng.h: random numbers by counter: element i of stream `seed` is the same whoever computes it, on
 * any thread. */
#ifndef FXS_BASE_RNG_H
#define FXS_BASE_RNG_H

#include "base/ctx.h"
#include "base/tensor.h"

/* 32 well-mixed bits for (seed, i). */
static inline uint32_t fxs_random_bits(uint64_t seed, uint64_t i) {
    uint32_t x = (uint32_t)i * 0x9e3779b9u ^ (uint32_t)seed ^ (uint32_t)(i >> 32) * 0x85ebca6bu;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu ^ (uint32_t)(seed >> 32);
    x = (x ^ x >> 16) * 0x7feb352du;
    return x ^ x >> 15;
}

/* In [0, 1), steps of 2^-24. */
static inline float fxs_random_unit(uint64_t seed, uint64_t i) {
    return (float)(fxs_random_bits(seed, i) >> 8) * 0x1p-24f;
}

/* Standard normal, by Box and Muller from elements 2i and 2i+1. */
FXS_API double fxs_random_normal(uint64_t seed, uint64_t i);

/* Fill a contiguous tensor of a computable dtype. */
FXS_API void fxs_fill_uniform(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, double low, double high);
FXS_API void fxs_fill_normal(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, double mean,
                             double deviation);
/* Integers low to high, both included. */
FXS_API void fxs_fill_integers(fxs_ctx *ctx, fxs_tensor *t, uint64_t seed, int64_t low,
                               int64_t high);
FXS_API void fxs_fill_constant(fxs_ctx *ctx, fxs_tensor *t, double x);

#endif
