/* vecmath.h: float32 exp, log, tanh, sigmoid and erf without branches and calls, so that the loops
 * they stand in become vector code. Errors stay within a few units of the last place. Own
 * polynomials: Taylor's where the interval is small, least squares for erf. Included by kernels;
 * knows nothing. */
#ifndef FXS_KERNELS_VECMATH_H
#define FXS_KERNELS_VECMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float fxs_vec_bits(int32_t i) {
    float f;
    memcpy(&f, &i, sizeof f);
    return f;
}

static inline int32_t fxs_vec_int(float f) {
    int32_t i;
    memcpy(&i, &f, sizeof i);
    return i;
}

/* x = n ln 2 + r with |r| <= ln 2 / 2; gives n in *n and exp(r) - 1. x must be within -200..200 or
 * NaN. */
static inline float fxs_vec_reduce(float x, int32_t *n) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: the sum rounds to an integer */
    float t = x * 1.44269504f + magic, k = t - magic;
    *n = fxs_vec_int(t) - 0x4b400000;
    float r = x - k * 0.693359375f + k * 2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return r + r * r * p;
}

/* 2^n for n in -126..127. */
static inline float fxs_vec_power(int32_t n) {
    return fxs_vec_bits((int32_t)((uint32_t)(n + 127) << 23));
}

static inline float fxs_vec_clamp(float x, float low, float high) {
    x = x < low ? low : x; /* a NaN stays one */
    return x > high ? high : x;
}

static inline float fxs_vec_exp(float x) {
    int32_t n;
    float e = fxs_vec_reduce(fxs_vec_clamp(x, -104.0f, 89.0f), &n) + 1.0f;
    int32_t half =
        n >> 1; /* in two steps: 2^n itself may be out of range where the result is not */
    return e * fxs_vec_power(half) * fxs_vec_power(n - half);
}

/* exp(x) - 1 for x in 0..80, exact to the last places near 0 too. */
static inline float fxs_vec_expm1(float x) {
    int32_t n;
    float e = fxs_vec_reduce(x, &n), s = fxs_vec_power(n);
    return s * e + (s - 1.0f);
}

static inline float fxs_vec_tanh(float x) {
    float a = fabsf(x);
    float e = fxs_vec_expm1(2.0f * (a > 10.0f ? 10.0f : a));
    return copysignf(e / (e + 2.0f), x);
}

static inline float fxs_vec_sigmoid(float x) { return 1.0f / (1.0f + fxs_vec_exp(-x)); }

static inline float fxs_vec_log(float x) {
    const float tiny = 1.17549435e-38f; /* below it numbers are denormal and need scaling */
    float scaled = x < tiny ? x * 8388608.0f : x;
    int32_t bits = fxs_vec_int(scaled);
    int32_t e = (int32_t)((uint32_t)bits - 0x3f3504f3u) >> 23; /* mantissa in sqrt(1/2)..sqrt(2) */
    float m = fxs_vec_bits((int32_t)((uint32_t)bits - ((uint32_t)e << 23))),
          k = (float)(e - (x < tiny ? 23 : 0));
    float f = m - 1.0f, s = f / (m + 1.0f), z = s * s;
    float p = 2.0f / 9;
    p = p * z + 2.0f / 7;
    p = p * z + 2.0f / 5;
    p = p * z + 2.0f / 3;
    /* log m = 2s + s z p, and 2s = f - s f: this way f, which is exact, leads */
    float y = (f - s * (f - z * p)) + k * -2.12194440e-4f + k * 0.693359375f;
    y = x == INFINITY || x != x ? x : y;
    y = x == 0.0f ? -INFINITY : y;
    return x < 0.0f ? NAN : y;
}

/* log(1 + x), with the rounding of 1 + x corrected. */
static inline float fxs_vec_log1p(float x) {
    float u = 1.0f + x, d = u - 1.0f;
    float y = fxs_vec_log(u) * (x / d);
    y = d == 0.0f ? x : y;
    return u == INFINITY ? u : y;
}

static inline float fxs_vec_erf(float x) {
    float a = fabsf(x), z = a * a;
    float in = 8.005944255e-05f;
    in = in * z - 8.053491474e-04f;
    in = in * z + 5.192930344e-03f;
    in = in * z - 2.685605548e-02f;
    in = in * z + 1.128363460e-01f;
    in = in * z - 3.761262894e-01f;
    in = in * z + 1.128379226f;
    float b = a > 4.2f ? 4.2f : a,
          u = 1.0f / (b + 1.0f); /* exp(b^2) erfc(b) as a polynomial in u */
    float out = -6.206412315e-01f;
    out = out * u + 1.357068062f;
    out = out * u - 6.849114299e-01f;
    out = out * u - 5.861301422e-01f;
    out = out * u + 4.106849432e-01f;
    out = out * u + 5.385899544e-01f;
    out = out * u + 5.667773485e-01f;
    out = out * u - 1.070185025e-04f;
    float y = a < 1.0f ? a * in : 1.0f - fxs_vec_exp(-b * b) * out;
    return copysignf(y, x);
}

#endif
