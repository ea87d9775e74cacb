/* winograd_lines.h: the transforms of one kind of vectors: winograd.c includes it once for each,
 * with WINO_LANES (floats of a vector), WINO_TARGET (an attribute) and WINO(name) (a suffix)
 * defined. A two-dimensional transform is the one-dimensional one applied down, then across; each
 * lane of a vector belongs to a tile, or to a kernel, of its own. */
typedef float WINO(vec) __attribute__((vector_size(4 * WINO_LANES)));
typedef float WINO(loose) __attribute__((vector_size(4 * WINO_LANES), aligned(4)));
typedef int WINO(places) __attribute__((vector_size(4 * WINO_LANES)));

#define VEC WINO(vec)
#define PUT(p) (*(WINO(loose) *)(p))
#define GET(p) (*(const WINO(loose) *)(p))
#define INLINE WINO_TARGET static inline __attribute__((always_inline))
#define PICK(a, b, where) __builtin_shuffle(a, b, where)

/* Places in two vectors behind each other: every second one; the next one, of which the last is the
 * second vector's first, or its second; the first halves or the last ones in turns. */
#if WINO_LANES == 16
#define EVEN ((WINO(places)){0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30})
#define ODD ((WINO(places)){1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31})
#define NEXT ((WINO(places)){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
#define NEXT_SECOND ((WINO(places)){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17})
#define FIRST_HALVES ((WINO(places)){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23})
#define LAST_HALVES ((WINO(places)){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31})
#elif WINO_LANES == 8
#define EVEN ((WINO(places)){0, 2, 4, 6, 8, 10, 12, 14})
#define ODD ((WINO(places)){1, 3, 5, 7, 9, 11, 13, 15})
#define NEXT ((WINO(places)){1, 2, 3, 4, 5, 6, 7, 8})
#define NEXT_SECOND ((WINO(places)){1, 2, 3, 4, 5, 6, 7, 9})
#define FIRST_HALVES ((WINO(places)){0, 8, 1, 9, 2, 10, 3, 11})
#define LAST_HALVES ((WINO(places)){4, 12, 5, 13, 6, 14, 7, 15})
#else
#define EVEN ((WINO(places)){0, 2, 4, 6})
#define ODD ((WINO(places)){1, 3, 5, 7})
#define NEXT ((WINO(places)){1, 2, 3, 4})
#define NEXT_SECOND ((WINO(places)){1, 2, 3, 5})
#define FIRST_HALVES ((WINO(places)){0, 4, 1, 5})
#define LAST_HALVES ((WINO(places)){2, 6, 3, 7})
#endif

/* ---- F(2, 3): points 0, 1, -1, infinity
 * ----------------------------------------------------------------------------- */

INLINE void WINO(in2)(const VEC x[4], VEC *y, int s) {
    y[0] = x[0] - x[2];
    y[s] = x[1] + x[2];
    y[2 * s] = x[2] - x[1];
    y[3 * s] = x[1] - x[3];
}

INLINE void WINO(kernel2)(const VEC x[3], VEC *y, int s) {
    VEC even = 0.5f * (x[0] + x[2]), odd = 0.5f * x[1];
    y[0] = x[0];
    y[s] = even + odd;
    y[2 * s] = even - odd;
    y[3 * s] = x[2];
}

INLINE void WINO(out2)(const VEC x[4], VEC *y, int s) {
    y[0] = x[0] + x[1] + x[2];
    y[s] = x[1] - x[2] - x[3];
}

/* ---- F(4, 3): points 0, 1, -1, 2, -2, infinity
 * ----------------------------------------------------------------------------- */

INLINE void WINO(in4)(const VEC x[6], VEC *y, int s) {
    VEC even1 = x[4] - 4 * x[2], odd1 = x[3] - 4 * x[1];
    VEC even2 = x[4] - x[2], odd2 = 2 * (x[3] - x[1]);
    y[0] = 4 * x[0] - 5 * x[2] + x[4];
    y[s] = even1 + odd1;
    y[2 * s] = even1 - odd1;
    y[3 * s] = even2 + odd2;
    y[4 * s] = even2 - odd2;
    y[5 * s] = 4 * x[1] - 5 * x[3] + x[5];
}

INLINE void WINO(kernel4)(const VEC x[3], VEC *y, int s) {
    VEC even1 = (x[0] + x[2]) * (-1 / 6.0f), odd1 = x[1] * (-1 / 6.0f);
    VEC even2 = x[0] * (1 / 24.0f) + x[2] * (1 / 6.0f), odd2 = x[1] * (1 / 12.0f);
    y[0] = 0.25f * x[0];
    y[s] = even1 + odd1;
    y[2 * s] = even1 - odd1;
    y[3 * s] = even2 + odd2;
    y[4 * s] = even2 - odd2;
    y[5 * s] = x[2];
}

INLINE void WINO(out4)(const VEC x[6], VEC *y, int s) {
    VEC sum1 = x[1] + x[2], dif1 = x[1] - x[2], sum2 = x[3] + x[4], dif2 = x[3] - x[4];
    y[0] = x[0] + sum1 + sum2;
    y[s] = dif1 + 2 * dif2;
    y[2 * s] = sum1 + 4 * sum2;
    y[3 * s] = dif1 + 8 * dif2 + x[5];
}

/* ---- lines to tiles, and back
 * ----------------------------------------------------------------------------- */

/* d[k]: of each tile the value k; tiles overlap by two. */
INLINE void WINO(spread2)(const float *x, VEC *d) {
    VEC a = GET(x), b = GET(x + WINO_LANES), after = GET(x + 2 * WINO_LANES);
    d[0] = PICK(a, b, EVEN);
    d[1] = PICK(a, b, ODD);
    d[2] = PICK(d[0], after, NEXT);
    d[3] = PICK(d[1], after, NEXT_SECOND);
}

INLINE void WINO(spread4)(const float *x, VEC *d) {
    VEC a = GET(x), b = GET(x + WINO_LANES), c = GET(x + 2 * WINO_LANES),
        e = GET(x + 3 * WINO_LANES), after = GET(x + 4 * WINO_LANES);
    VEC even1 = PICK(a, b, EVEN), odd1 = PICK(a, b, ODD), even2 = PICK(c, e, EVEN),
        odd2 = PICK(c, e, ODD);
    d[0] = PICK(even1, even2, EVEN);
    d[1] = PICK(odd1, odd2, EVEN);
    d[2] = PICK(even1, even2, ODD);
    d[3] = PICK(odd1, odd2, ODD);
    d[4] = PICK(d[0], after, NEXT);
    d[5] = PICK(d[1], after, NEXT_SECOND);
}

INLINE void WINO(weave2)(const VEC d[2], VEC bias, float *y) {
    PUT(y) = PICK(d[0], d[1], FIRST_HALVES) + bias;
    PUT(y + WINO_LANES) = PICK(d[0], d[1], LAST_HALVES) + bias;
}

INLINE void WINO(weave4)(const VEC d[4], VEC bias, float *y) {
    VEC even1 = PICK(d[0], d[2], FIRST_HALVES), even2 = PICK(d[0], d[2], LAST_HALVES);
    VEC odd1 = PICK(d[1], d[3], FIRST_HALVES), odd2 = PICK(d[1], d[3], LAST_HALVES);
    PUT(y) = PICK(even1, odd1, FIRST_HALVES) + bias;
    PUT(y + WINO_LANES) = PICK(even1, odd1, LAST_HALVES) + bias;
    PUT(y + 2 * WINO_LANES) = PICK(even2, odd2, FIRST_HALVES) + bias;
    PUT(y + 3 * WINO_LANES) = PICK(even2, odd2, LAST_HALVES) + bias;
}

/* d[k]: weight k of a vector of kernels, of which the last may be missing. */
INLINE void WINO(copy_kernels)(const float *w, int64_t n, VEC *d) {
    float each[FXS_WINOGRAD_KERNEL][WINO_LANES] __attribute__((aligned(64)));
    for (int c = 0; c < WINO_LANES; c++)
        for (int k = 0; k < FXS_WINOGRAD_KERNEL; k++)
            each[k][c] = c < n ? w[c * FXS_WINOGRAD_KERNEL + k] : 0;
    for (int k = 0; k < FXS_WINOGRAD_KERNEL; k++)
        d[k] = GET(each[k]);
}

#if WINO_LANES == 16
/* Nine vectors hold the kernels; weight k of kernel c is their value 9 * c + k. From the first two
 * vectors lanes are taken that the others fill when their turn comes. */
#define PLACE(c, k) (FXS_WINOGRAD_KERNEL * (c) + (k))
#define FIRST_TWO(c, k) (PLACE(c, k) < 2 * WINO_LANES ? PLACE(c, k) : 0)
#define FILL(c, k, j)                                                                              \
    (PLACE(c, k) / WINO_LANES == (j) ? WINO_LANES + PLACE(c, k) % WINO_LANES : (c))
#define LANES_OF(F, ...)                                                                           \
    ((WINO(places)){F(0, __VA_ARGS__), F(1, __VA_ARGS__), F(2, __VA_ARGS__), F(3, __VA_ARGS__),    \
                    F(4, __VA_ARGS__), F(5, __VA_ARGS__), F(6, __VA_ARGS__), F(7, __VA_ARGS__),    \
                    F(8, __VA_ARGS__), F(9, __VA_ARGS__), F(10, __VA_ARGS__), F(11, __VA_ARGS__),  \
                    F(12, __VA_ARGS__), F(13, __VA_ARGS__), F(14, __VA_ARGS__),                    \
                    F(15, __VA_ARGS__)})
#define FILL_FROM(k, j) d[k] = PICK(d[k], v##j, LANES_OF(FILL, k, j));
#define WEIGHT(k)                                                                                  \
    d[k] = PICK(v0, v1, LANES_OF(FIRST_TWO, k));                                                   \
    FILL_FROM(k, 2)                                                                                \
    FILL_FROM(k, 3)                                                                                \
    FILL_FROM(k, 4)                                                                                \
    FILL_FROM(k, 5)                                                                                \
    FILL_FROM(k, 6)                                                                                \
    FILL_FROM(k, 7)                                                                                \
    FILL_FROM(k, 8)
INLINE void WINO(take_kernels)(const float *w, int64_t n, VEC *d) {
    if (n < WINO_LANES) {
        WINO(copy_kernels)(w, n, d);
        return;
    }
    VEC v0 = GET(w), v1 = GET(w + WINO_LANES), v2 = GET(w + 2 * WINO_LANES),
        v3 = GET(w + 3 * WINO_LANES), v4 = GET(w + 4 * WINO_LANES), v5 = GET(w + 5 * WINO_LANES),
        v6 = GET(w + 6 * WINO_LANES), v7 = GET(w + 7 * WINO_LANES), v8 = GET(w + 8 * WINO_LANES);
    WEIGHT(0)
    WEIGHT(1)
    WEIGHT(2)
    WEIGHT(3)
    WEIGHT(4)
    WEIGHT(5)
    WEIGHT(6)
    WEIGHT(7)
    WEIGHT(8)
}
#else /* two vectors' lanes are not picked in one step */
INLINE void WINO(take_kernels)(const float *w, int64_t n, VEC *d) {
    if (n >= WINO_LANES)
        WINO(copy_kernels)(w, WINO_LANES, d);
    else
        WINO(copy_kernels)(w, n, d);
}
#endif

/* ---- the functions
 * ----------------------------------------------------------------------------- */

#define TRANSFORMS(tile, side)                                                                     \
    WINO_TARGET static void WINO(input_##tile)(const float *x, int64_t step, int64_t n,            \
                                               float *out, int64_t plane) {                        \
        for (int64_t i = 0; i < n; i += WINO_LANES, x += (tile)*WINO_LANES, out += WINO_LANES) {   \
            VEC d[side][side], half[side][side], column[side], all[side];                          \
            for (int r = 0; r < (side); r++)                                                       \
                WINO(spread##tile)(x + r * step, d[r]);                                            \
            for (int k = 0; k < (side); k++) {                                                     \
                for (int r = 0; r < (side); r++)                                                   \
                    column[r] = d[r][k];                                                           \
                WINO(in##tile)(column, &half[0][k], side);                                         \
            }                                                                                      \
            for (int r = 0; r < (side); r++) {                                                     \
                WINO(in##tile)(half[r], all, 1);                                                   \
                for (int k = 0; k < (side); k++)                                                   \
                    PUT(out + (r * (side) + k) * plane) = all[k];                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    WINO_TARGET static void WINO(weight_##tile)(const float *w, int64_t n, float *out,             \
                                                int64_t plane) {                                   \
        for (int64_t i = 0; i < n; i += WINO_LANES, out += WINO_LANES) {                           \
            VEC d[FXS_WINOGRAD_KERNEL], half[side][3], column[3], all[side];                       \
            WINO(take_kernels)(w + i * FXS_WINOGRAD_KERNEL, n - i, d);                             \
            for (int k = 0; k < 3; k++) {                                                          \
                for (int r = 0; r < 3; r++)                                                        \
                    column[r] = d[r * 3 + k];                                                      \
                WINO(kernel##tile)(column, &half[0][k], 3);                                        \
            }                                                                                      \
            for (int r = 0; r < (side); r++) {                                                     \
                WINO(kernel##tile)(half[r], all, 1);                                               \
                for (int k = 0; k < (side); k++)                                                   \
                    PUT(out + (r * (side) + k) * plane) = all[k];                                  \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    WINO_TARGET static bool WINO(output_##tile)(const float *in, int64_t plane, int64_t n,         \
                                                float bias, float *y, int64_t step) {              \
        const VEC zero = {0}, b = zero + bias;                                                     \
        VEC check[tile];                                                                           \
        bool finite = true;                                                                        \
        for (int k = 0; k < (tile); k++)                                                           \
            check[k] = zero;                                                                       \
        for (int64_t i = 0; i < n; i += WINO_LANES, in += WINO_LANES, y += (tile)*WINO_LANES) {    \
            VEC half[tile][side], column[side], all[tile];                                         \
            bool whole = n - i >= WINO_LANES;                                                      \
            for (int k = 0; k < (side); k++) {                                                     \
                for (int r = 0; r < (side); r++)                                                   \
                    column[r] = GET(in + (r * (side) + k) * plane);                                \
                WINO(out##tile)(column, &half[0][k], side);                                        \
            }                                                                                      \
            for (int r = 0; r < (tile); r++) {                                                     \
                WINO(out##tile)(half[r], all, 1);                                                  \
                WINO(weave##tile)(all, b, y + r * step);                                           \
                for (int k = 0; whole && k < (tile); k++)                                          \
                    check[k] += 0 * all[k];                                                        \
                for (int64_t t = 0; !whole && t < (tile) * (n - i); t++)                           \
                    finite &= 0 * y[r * step + t] == 0;                                            \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k < (tile); k++)                                                           \
            for (int c = 0; c < WINO_LANES; c++)                                                   \
                finite &= check[k][c] == 0;                                                        \
        return finite;                                                                             \
    }

TRANSFORMS(2, 4)
TRANSFORMS(4, 6)

static const fxs_winograd WINO(transforms)[] = {
    {2, 4, WINO(input_2), WINO(weight_2), WINO(output_2)},
    {4, 6, WINO(input_4), WINO(weight_4), WINO(output_4)},
};

#undef VEC
#undef PUT
#undef GET
#undef INLINE
#undef PICK
#undef EVEN
#undef ODD
#undef NEXT
#undef NEXT_SECOND
#undef FIRST_HALVES
#undef LAST_HALVES
#undef TRANSFORMS
