/* pooling_run.c: computes maxima and averages over windows, sliding or adaptive. Called by
 * pooling.c and pooling_adaptive.c; the arguments are checked. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/pooling.h"

typedef struct run {
    const fxs_pooling *p;
    const void *x;
    void *y, *lines; /* lines: one input row a thread, `line` values apart */
    int64_t line;
    int64_t *indices;
    bool average;
} run;

#define T float
#define NAME(x) x##_float
#define LOWEST (-INFINITY)
#define NOT_A_NUMBER(x) ((x) != (x))
#include "kernels/pooling_planes.h"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_double
#include "kernels/pooling_planes.h"
#undef T
#undef NAME
#undef LOWEST
#undef NOT_A_NUMBER
#define T int64_t
#define NAME(x) x##_int64
#define LOWEST INT64_MIN
#define NOT_A_NUMBER(x) false
#include "kernels/pooling_planes.h"
#undef T
#undef NAME

static void run_pooling(fxs_work *w, run *j) {
    const fxs_pooling *p = j->p;
    j->lines = fxs_work_thread_scratch(w, p->in[2], fxs_dtype_size(w->dtype), &j->line);
    if (w->status != FXS_OK)
        return;
    fxs_parallel_fn *fn = w->dtype == FXS_FLOAT32   ? run_planes_float
                          : w->dtype == FXS_FLOAT64 ? run_planes_double
                                                    : run_planes_int64;
    fxs_parallel(w->call->ctx, p->planes, 1 + 16384 / (1 + p->in[0] * p->in[1] * p->in[2]), fn, j);
}

void fxs_pooling_max(fxs_work *w, const fxs_pooling *p, const void *x, void *y, int64_t *indices) {
    run_pooling(w, &(run){.p = p, .x = x, .y = y, .indices = indices});
}

void fxs_pooling_average(fxs_work *w, const fxs_pooling *p, const void *x, void *y) {
    run_pooling(w, &(run){.p = p, .x = x, .y = y, .average = true});
}

/* ---- taps
 * -------------------------------------------------------------------------------------------------
 */

static bool reserve(fxs_work *w, fxs_pooling *p) {
    for (int d = 0; d < 3; d++) {
        int64_t n = p->out[d], *all = fxs_work_scratch(w, 4 * n, sizeof *all);
        if (!all)
            return false;
        p->taps[d] = (fxs_taps){.step = 1,
                                .start = all,
                                .count = all + n,
                                .extent = all + 2 * n,
                                .outside = all + 3 * n};
    }
    return true;
}

static int64_t clip(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

void fxs_pooling_slide(fxs_work *w, fxs_pooling *p, const fxs_window *window, bool with_padding) {
    if (!reserve(w, p))
        return;
    for (int d = 0; d < 3; d++) {
        fxs_taps *t = &p->taps[d];
        int64_t n = p->in[d], step = window->dilation[d];
        t->step = step;
        t->stride = window->stride[d];
        t->whole_from = t->whole_to = 0;
        for (int64_t i = 0; i < p->out[d]; i++) {
            int64_t from = i * window->stride[d] - window->before[d];
            int64_t end = from + (window->kernel[d] - 1) * step + 1;
            bool whole = from >= 0 && end <= n;
            if (whole && t->whole_to == 0)
                t->whole_from = i;
            if (whole)
                t->whole_to = i + 1;
            int64_t padded_end = end < n + window->after[d] ? end : n + window->after[d];
            int64_t start = from < 0 ? from + (-from + step - 1) / step * step : from;
            int64_t stop = clip(end, 0, n);
            t->start[i] = clip(start, 0, n - 1);
            t->outside[i] = start;
            t->count[i] = start < stop ? (stop - 1 - start) / step + 1 : 0;
            t->extent[i] = with_padding ? padded_end - from : t->count[i];
        }
    }
}

void fxs_pooling_divide(fxs_work *w, fxs_pooling *p) {
    if (!reserve(w, p))
        return;
    for (int d = 0; d < 3; d++)
        for (int64_t i = 0; i < p->out[d]; i++) {
            int64_t start = i * p->in[d] / p->out[d],
                    end = ((i + 1) * p->in[d] + p->out[d] - 1) / p->out[d];
            p->taps[d].start[i] = p->taps[d].outside[i] = start;
            p->taps[d].count[i] = p->taps[d].extent[i] = end - start;
        }
}

void fxs_pooling_sizes(fxs_pooling *p, int dims, const fxs_tensor *x, const fxs_tensor *y) {
    fxs_window w = fxs_window_new(dims);
    fxs_window_sizes(&w, x, w.in);
    fxs_window_sizes(&w, y, w.out);
    memcpy(p->in, w.in, sizeof p->in);
    memcpy(p->out, w.out, sizeof p->out);
    p->planes = 1;
    for (int i = 0; i < x->ndim - dims; i++)
        p->planes *= x->sizes[i];
}

/* ---- results
 * ---------------------------------------------------------------------------------------------- */

fxs_status fxs_pooling_check(fxs_call *c, const fxs_tensor *x, int dims, bool channels) {
    char text[FXS_SIZES_TEXT];
    bool ok = x->ndim == dims + 1 || x->ndim == dims + 2;
    for (int i = x->ndim == dims + 2; ok && i < x->ndim; i++)
        ok = x->sizes[i] != 0 || (channels && i == x->ndim - dims - 1);
    return ok ? FXS_OK
              : FXS_REFUSE(c, FXS_ESHAPE,
                           "expected %dD or %dD (batch mode) tensor with optional 0 dim batch size "
                           "for input, but got: %s",
                           dims + 1, dims + 2, fxs_sizes_text(x, text));
}

/* One dimension is pooled as two, the first of size 1: so a transposed [N, L, C] looks like
 * channels_last. */
static bool keeps_channels_last(const fxs_tensor *x, int dims) {
    if (x->ndim != dims + 2 || dims == 3)
        return false;
    if (dims == 2)
        return fxs_suggests_channels_last(x);
    fxs_tensor t = *x;
    t.ndim = 4;
    t.sizes[3] = x->sizes[2], t.strides[3] = x->strides[2];
    t.sizes[2] = 1, t.strides[2] = x->sizes[2] * x->strides[2];
    return fxs_suggests_channels_last(&t);
}

fxs_status fxs_pooling_result(fxs_call *c, const fxs_tensor *x, int dims, const int64_t spatial[3],
                              bool keep_format, bool indices) {
    int64_t sizes[5], strides[5];
    int lead = x->ndim - dims;
    memcpy(sizes, x->sizes, (size_t)lead * sizeof *sizes);
    memcpy(sizes + lead, spatial + 3 - dims, (size_t)dims * sizeof *sizes);
    static const int last1[] = {0, 2, 1}, last2[] = {0, 2, 3, 1};
    bool last = keep_format && keeps_channels_last(x, dims);
    fxs_strides_of(x->ndim, sizes, !last ? NULL : dims == 1 ? last1 : last2, strides);
    FXS_TRY(fxs_out_new(c, x->dtype, x->ndim, sizes, strides));
    return indices ? fxs_out_new(c, FXS_INT64, x->ndim, sizes, strides) : FXS_OK;
}
