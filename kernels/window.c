/* window.c: see window.h. */
#include "kernels/window.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

void fxs_window_read(const fxs_call *c, int i, const fxs_window *w, int64_t out[3]) {
    const fxs_value *v = &c->arg[i];
    int first = 3 - w->dims;
    bool list = v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE;
    size_t n = list ? v->u.seq->len : v->tag == FXS_V_NONE ? 0 : 1;
    const fxs_value *item = list ? v->u.seq->items : v;
    if (n == 0)
        return;
    size_t step = n == 1 ? 0 : 1;
    for (int64_t *to = out + first; to < out + 3; to++, item += step)
        *to = item->u.i;
}

void fxs_window_sizes(const fxs_window *w, const fxs_tensor *t, int64_t out[3]) {
    for (int d = 3 - w->dims, at = t->ndim - w->dims; d < 3; d++, at++)
        out[d] = t->sizes[at];
}

char *fxs_window_text(const fxs_window *w, const int64_t v[3], char text[FXS_SIZES_TEXT]) {
    size_t at = 0;
    for (int d = 3 - w->dims; d < 3; d++)
        at += (size_t)snprintf(text + at, FXS_SIZES_TEXT - at, at ? " x %lld" : "(%lld",
                               (long long)v[d]);
    snprintf(text + at, FXS_SIZES_TEXT - at, ")");
    return text;
}

fxs_status fxs_window_check(fxs_call *c, const fxs_window *w) {
    char text[FXS_SIZES_TEXT];
    for (int d = 3 - w->dims; d < 3; d++) { /* those in front are neutral */
        if (w->kernel[d] < 1)
            return FXS_REFUSE(c, FXS_EINVAL, "kernel size should be greater than zero, but got %s",
                              fxs_window_text(w, w->kernel, text));
        if (w->stride[d] < 1)
            return FXS_REFUSE(c, FXS_EINVAL, "stride should be greater than zero, but got %s",
                              fxs_window_text(w, w->stride, text));
        if (w->dilation[d] < 1)
            return FXS_REFUSE(c, FXS_EINVAL, "dilation should be greater than zero, but got %s",
                              fxs_window_text(w, w->dilation, text));
        if (w->before[d] < 0 || w->after[d] < 0)
            return FXS_REFUSE(c, FXS_EINVAL, "negative padding is not supported, but got %s",
                              fxs_window_text(w, w->before, text));
    }
    return FXS_OK;
}

int64_t fxs_window_extent(const fxs_window *w, int d) {
    int64_t n;
    if (__builtin_mul_overflow(w->dilation[d], w->kernel[d] - 1, &n) ||
        __builtin_add_overflow(n, 1, &n))
        return INT64_MAX;
    return n;
}

/* ---- image and columns
 * ------------------------------------------------------------------------------------ */

/* Of one window element along one dimension: output places from..to-1 read inside of the image. */
static void inside(const fxs_window *w, int d, int64_t k, int64_t *from, int64_t *to) {
    int64_t first = w->before[d] - k * w->dilation[d]; /* image position = out * stride - first */
    int64_t lo = first > 0 ? (first + w->stride[d] - 1) / w->stride[d] : 0;
    int64_t end = w->in[d] + first, hi = end > 0 ? (end + w->stride[d] - 1) / w->stride[d] : 0;
    *from = lo < w->out[d] ? lo : w->out[d];
    *to = hi < w->out[d] ? hi : w->out[d];
    if (*to < *from)
        *to = *from;
}

/* One row of the window matrix: window element k[0..2] of one channel, over all output places. */
typedef struct line {
    int64_t from[3], to[3], base; /* image offset of output place 0 (it may lie outside) */
} line;

static line line_of(const fxs_window *w, const int64_t k[3]) {
    line l = {.base = 0};
    for (int d = 0; d < 3; d++) {
        inside(w, d, k[d], &l.from[d], &l.to[d]);
        l.base = l.base * w->in[d] + k[d] * w->dilation[d] - w->before[d];
    }
    return l;
}

#define GATHER(name, type)                                                                         \
    static void name(const fxs_window *w, const line *l, const void *image, void *out) {           \
        const type *x = image;                                                                     \
        type *o = out;                                                                             \
        for (int64_t i = 0; i < w->out[0]; i++)                                                    \
            for (int64_t j = 0; j < w->out[1]; j++, o += w->out[2]) {                              \
                bool row = i >= l->from[0] && i < l->to[0] && j >= l->from[1] && j < l->to[1];     \
                int64_t lo = row ? l->from[2] : 0, hi = row ? l->to[2] : 0;                        \
                int64_t at =                                                                       \
                    l->base + (i * w->stride[0] * w->in[1] + j * w->stride[1]) * w->in[2];         \
                for (int64_t k = 0; k < lo; k++)                                                   \
                    o[k] = 0;                                                                      \
                for (int64_t k = lo; k < hi; k++)                                                  \
                    o[k] = x[at + k * w->stride[2]];                                               \
                for (int64_t k = hi; k < w->out[2]; k++)                                           \
                    o[k] = 0;                                                                      \
            }                                                                                      \
    }
GATHER(gather1, uint8_t)
GATHER(gather2, uint16_t)
GATHER(gather4, uint32_t)
GATHER(gather8, uint64_t)
GATHER(gather16, double complex)

#define SCATTER(name, type)                                                                        \
    static void name(const fxs_window *w, const line *l, const void *columns, void *image) {       \
        const type *o = columns;                                                                   \
        type *x = image;                                                                           \
        for (int64_t i = l->from[0]; i < l->to[0]; i++)                                            \
            for (int64_t j = l->from[1]; j < l->to[1]; j++) {                                      \
                int64_t at =                                                                       \
                    l->base + (i * w->stride[0] * w->in[1] + j * w->stride[1]) * w->in[2];         \
                const type *p = o + (i * w->out[1] + j) * w->out[2];                               \
                for (int64_t k = l->from[2]; k < l->to[2]; k++)                                    \
                    x[at + k * w->stride[2]] = (type)(x[at + k * w->stride[2]] + p[k]);            \
            }                                                                                      \
    }
SCATTER(scatter_float, float)
SCATTER(scatter_double, double)
SCATTER(scatter_complex64, float complex)
SCATTER(scatter_complex128, double complex)
/* Integers wrap: unsigned sums have the same bits. */
SCATTER(scatter1, uint8_t)
SCATTER(scatter2, uint16_t)
SCATTER(scatter4, uint32_t)
SCATTER(scatter8, uint64_t)

typedef void gather_fn(const fxs_window *w, const line *l, const void *image, void *columns);
typedef void scatter_fn(const fxs_window *w, const line *l, const void *columns, void *image);

static gather_fn *gather_for(fxs_dtype d) {
    size_t n = fxs_dtype_size(d);
    return n == 1 ? gather1 : n == 2 ? gather2 : n == 4 ? gather4 : n == 8 ? gather8 : gather16;
}

static scatter_fn *scatter_for(fxs_dtype d) {
    size_t n = fxs_dtype_size(d);
    if (d == FXS_FLOAT32)
        return scatter_float;
    if (d == FXS_FLOAT64)
        return scatter_double;
    if (fxs_is_complex(d))
        return d == FXS_COMPLEX64 ? scatter_complex64 : scatter_complex128;
    return n == 1 ? scatter1 : n == 2 ? scatter2 : n == 4 ? scatter4 : scatter8;
}

void fxs_window_gather(const fxs_window *w, fxs_dtype d, int64_t channels, const void *x,
                       void *columns) {
    size_t size = fxs_dtype_size(d), plane = size * (size_t)fxs_volume(w->in),
           row = size * (size_t)fxs_volume(w->out);
    gather_fn *gather = gather_for(d);
    char *to = columns;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t k = 0; k < fxs_volume(w->kernel); k++, to += row) {
            line l = line_of(w, (int64_t[]){k / w->kernel[2] / w->kernel[1],
                                            k / w->kernel[2] % w->kernel[1], k % w->kernel[2]});
            gather(w, &l, (const char *)x + (size_t)c * plane, to);
        }
}

void fxs_window_scatter(const fxs_window *w, fxs_dtype d, int64_t channels, const void *columns,
                        void *y) {
    size_t size = fxs_dtype_size(d), plane = size * (size_t)fxs_volume(w->in),
           row = size * (size_t)fxs_volume(w->out);
    scatter_fn *scatter = scatter_for(d);
    const char *from = columns;
    memset(y, 0, plane * (size_t)channels);
    for (int64_t c = 0; c < channels; c++)
        for (int64_t k = 0; k < fxs_volume(w->kernel); k++, from += row) {
            line l = line_of(w, (int64_t[]){k / w->kernel[2] / w->kernel[1],
                                            k / w->kernel[2] % w->kernel[1], k % w->kernel[2]});
            scatter(w, &l, from, (char *)y + (size_t)c * plane);
        }
}
