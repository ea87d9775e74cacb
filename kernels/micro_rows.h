/* micro_rows.h: the functions of one fxs_micro: micro.c includes it once for each size of vectors,
 * with MICRO_BYTES, MICRO_TARGET (an attribute) and MICRO(name) (a suffix) defined. The sums must
 * be named variables: GCC keeps an array of vectors in memory. */
typedef float MICRO(vec) __attribute__((vector_size(MICRO_BYTES)));
typedef float MICRO(loose) __attribute__((vector_size(MICRO_BYTES), aligned(4)));

#define VEC MICRO(vec)
#define AT(p) (*(MICRO(loose) *)(p))
#define GET(p) (*(const MICRO(loose) *)(p))

#define LOAD(r) VEC s##r = add ? GET(c + r * c_row) : zero;
#define STEP(r) s##r += MICRO(splat)(a[r * FXS_MICRO_STEP]) * p;
#define STORE(r) AT(c + r * c_row) = s##r;
#define LOAD2(r)                                                                                   \
    VEC s##r = add ? GET(c + r * c_row) : zero, t##r = add ? GET(c + r * c_row + LANES) : zero;
#define STEP2(r)                                                                                   \
    {                                                                                              \
        VEC x = MICRO(splat)(a[r * FXS_MICRO_STEP]);                                               \
        s##r += x * p;                                                                             \
        t##r += x * q;                                                                             \
    }
#define STORE2(r)                                                                                  \
    AT(c + r * c_row) = s##r;                                                                      \
    AT(c + r * c_row + LANES) = t##r;

#define LANES (MICRO_BYTES / 4)
#define FUNCTIONS(n, EACH)                                                                         \
    MICRO_TARGET static void MICRO(half##n)(const float *a, const float *panel, int64_t depth,     \
                                            float *c, int64_t c_row, bool add) {                   \
        const VEC zero = {0};                                                                      \
        EACH(LOAD)                                                                                 \
        for (int64_t k = 0; k < depth; k++, a++, panel += 2 * LANES) {                             \
            VEC p = GET(panel);                                                                    \
            EACH(STEP)                                                                             \
        }                                                                                          \
        EACH(STORE)                                                                                \
    }                                                                                              \
    MICRO_TARGET static void MICRO(whole##n)(const float *a, const float *panel, int64_t depth,    \
                                             float *c, int64_t c_row, bool add) {                  \
        const VEC zero = {0};                                                                      \
        EACH(LOAD2)                                                                                \
        for (int64_t k = 0; k < depth; k++, a++, panel += 2 * LANES) {                             \
            VEC p = GET(panel), q = GET(panel + LANES);                                            \
            EACH(STEP2)                                                                            \
        }                                                                                          \
        EACH(STORE2)                                                                               \
    }

MICRO_TARGET static inline VEC MICRO(splat)(float x) {
#if MICRO_BYTES ==                                                                                 \
    64 /* written out: of a loop GCC makes a shuffle, which takes a multiplier's place */
    return (VEC){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#elif MICRO_BYTES == 32
    return (VEC){x, x, x, x, x, x, x, x};
#else
    return (VEC){x, x, x, x};
#endif
}

FUNCTIONS(1, EACH1)
FUNCTIONS(2, EACH2)
FUNCTIONS(3, EACH3)
FUNCTIONS(4, EACH4)
FUNCTIONS(5, EACH5)
FUNCTIONS(6, EACH6)
#if MICRO_BYTES == 64 /* 32 registers */
FUNCTIONS(7, EACH7)
FUNCTIONS(8, EACH8)
FUNCTIONS(9, EACH9)
FUNCTIONS(10, EACH10)
FUNCTIONS(11, EACH11)
FUNCTIONS(12, EACH12)
#endif

static inline float MICRO(sum)(VEC v) {
    float h[LANES];
    memcpy(h, &v, sizeof h);
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            h[i] += h[i + n];
    return h[0];
}

/* Four rows, or the same one four times. */
MICRO_TARGET static void MICRO(dots4)(const float *a, int64_t row, const float *x, int64_t depth,
                                      float out[4]) {
    VEC s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    int64_t k = 0;
    for (; k + LANES <= depth; k += LANES) {
        VEC v = GET(x + k);
        s0 += GET(a + k) * v;
        s1 += GET(a + row + k) * v;
        s2 += GET(a + 2 * row + k) * v;
        s3 += GET(a + 3 * row + k) * v;
    }
    out[0] = MICRO(sum)(s0), out[1] = MICRO(sum)(s1);
    out[2] = MICRO(sum)(s2), out[3] = MICRO(sum)(s3);
    for (; k < depth; k++)
        for (int r = 0; r < 4; r++)
            out[r] += a[r * row + k] * x[k];
}

MICRO_TARGET static void MICRO(dots)(const float *a, const float *x, int64_t rows, int64_t depth,
                                     float *out) {
    float last[4];
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4)
        MICRO(dots4)(a + r * FXS_MICRO_STEP, FXS_MICRO_STEP, x, depth, out + r);
    for (; r < rows; r++) {
        MICRO(dots4)(a + r * FXS_MICRO_STEP, 0, x, depth, last);
        out[r] = last[0];
    }
}

#define PAIR(n)                                                                                    \
    { MICRO(half##n), MICRO(whole##n) }
static fxs_micro_fn *const MICRO(functions)[][2] = {
    PAIR(1), PAIR(2), PAIR(3), PAIR(4),  PAIR(5),  PAIR(6),
#if MICRO_BYTES == 64
    PAIR(7), PAIR(8), PAIR(9), PAIR(10), PAIR(11), PAIR(12),
#endif
};

#undef VEC
#undef AT
#undef GET
#undef LOAD
#undef STEP
#undef STORE
#undef LOAD2
#undef STEP2
#undef STORE2
#undef LANES
#undef FUNCTIONS
#undef PAIR
