/* conv_pad.c: lays the padding of a convolution around its input: zeros, or values of the input
 * itself (reflect, replicate, circular). Called by conv_run.c. */
#include <string.h>

#include "base/pool.h"
#include "kernels/conv.h"

/* Where position i (which may lie outside of 0..n-1) is read; -1: nowhere, it is 0. */
static int64_t source(fxs_padding how, int64_t i, int64_t n) {
    if (i >= 0 && i < n)
        return i;
    switch (how) {
    case FXS_PAD_REFLECT:
        return i < 0 ? -i : 2 * (n - 1) - i;
    case FXS_PAD_REPLICATE:
        return i < 0 ? 0 : n - 1;
    case FXS_PAD_CIRCULAR:
        return i < 0 ? i + n : i - n;
    default:
        return -1;
    }
}

enum { PAD_GRAIN = 8192 }; /* values: what is less is not worth another thread */

typedef struct pad_job {
    const fxs_conv *conv;
    const fxs_window *padded;
    const char *x;
    char *out;
    size_t size;
} pad_job;

static void pad_row(const pad_job *j, const char *from, char *to) {
    const fxs_window *w = &j->conv->window;
    size_t size = j->size, before = (size_t)w->before[2] * size, row = (size_t)w->in[2] * size;
    if (j->conv->padding == FXS_PAD_ZEROS) {
        memset(to, 0, before);
        memset(to + before + row, 0, (size_t)w->after[2] * size);
    } else {
        for (int64_t i = 0; i < j->padded->in[2]; i++) {
            int64_t at = source(j->conv->padding, i - w->before[2], w->in[2]);
            memcpy(to + (size_t)i * size, from + (size_t)at * size, size);
        }
    }
    memcpy(to + before, from, row);
}

/* Planes begin..end-1 of [batch * channels]. */
static void pad_planes(void *user, int64_t begin, int64_t end, int thread) {
    const pad_job *j = user;
    const fxs_window *w = &j->conv->window, *p = j->padded;
    size_t in_row = (size_t)w->in[2] * j->size, out_row = (size_t)p->in[2] * j->size;
    char *to = j->out + (size_t)(begin * fxs_volume(p->in)) * j->size;
    (void)thread;
    for (int64_t c = begin; c < end; c++) {
        const char *plane = j->x + (size_t)(c * fxs_volume(w->in)) * j->size;
        for (int64_t z = 0; z < p->in[0]; z++)
            for (int64_t y = 0; y < p->in[1]; y++, to += out_row) {
                int64_t sz = source(j->conv->padding, z - w->before[0], w->in[0]);
                int64_t sy = source(j->conv->padding, y - w->before[1], w->in[1]);
                if (sz < 0 || sy < 0)
                    memset(to, 0, out_row);
                else
                    pad_row(j, plane + (size_t)(sz * w->in[1] + sy) * in_row, to);
            }
    }
}

bool fxs_conv_widen(fxs_window *w) {
    bool any = false;
    for (int d = 0; d < 3; d++) {
        any |= w->before[d] != 0 || w->after[d] != 0;
        w->in[d] += w->before[d] + w->after[d];
        w->before[d] = w->after[d] = 0;
    }
    return any;
}

const void *fxs_conv_pad(fxs_work *w, const fxs_conv *v, const void *x, fxs_window *padded) {
    *padded = v->window;
    if (!fxs_conv_widen(padded))
        return x;
    int64_t n;
    if (__builtin_mul_overflow(v->batch * v->cin, fxs_volume(padded->in), &n)) {
        w->status = fxs_fail_memory(w->call->ctx);
        return NULL;
    }
    pad_job j = {.conv = v, .padded = padded, .x = x, .size = fxs_dtype_size(w->dtype)};
    j.out =
        n <= INT64_MAX - FXS_CONV_SLACK ? fxs_work_scratch(w, n + FXS_CONV_SLACK, j.size) : NULL;
    if (j.out)
        fxs_parallel(w->call->ctx, v->batch * v->cin, 1 + PAD_GRAIN / fxs_volume(padded->in),
                     pad_planes, &j);
    return j.out;
}
