/* recurrent_run.c: computes recurrent networks: for each layer and direction the input's share of
 * all gates as one product over all steps, then step by step the hidden state's share and the cell.
 * Called by recurrent.c. */
#include "kernels/recurrent.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/vector.h"
#include "kernels/gemm.h"
#include "kernels/vecmath.h"

#define T float
#define NAME(x) x##_float
#define SIGMOID fxs_vec_sigmoid
#define TANH fxs_vec_tanh
#include "kernels/recurrent_cells.h"
#undef T
#undef NAME
#undef SIGMOID
#undef TANH

static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }

#define T double
#define NAME(x) x##_double
#define SIGMOID sigmoid
#define TANH tanh
#include "kernels/recurrent_cells.h"

typedef struct run {
    const fxs_recurrent *r;
    fxs_work *w;
    size_t size;                         /* of an element */
    char *gates_x, *gates_h, *raw, *seq; /* [T, N, G H], [N, G H], [N, H], two of [T, N, D P] */
    char *h, *c;                         /* [L D, N, P], [L D, N, H] */
} run;

/* Rows of y are bias, or zero. */
static void lay_rows(const run *u, char *y, int64_t rows, int64_t n, const void *bias) {
    for (int64_t i = 0; i < rows; i++, y += (size_t)n * u->size) {
        if (bias)
            memcpy(y, bias, (size_t)n * u->size);
        else
            memset(y, 0, (size_t)n * u->size);
    }
}

/* y [m, n] += x [m, k] weight [n, k]' */
static void add_product(const run *u, int64_t m, int64_t n, int64_t k, const void *x,
                        const void *weight, void *y) {
    fxs_gemm g = fxs_gemm_dense(u->w->dtype, m, n, k, x, weight, y);
    g.b_row = 1, g.b_col = k;
    g.accumulate = true;
    if (u->w->status == FXS_OK)
        u->w->status = fxs_gemm_run(u->w->call->ctx, &g);
}

/* Weights in the form of the computation. */
typedef struct dense {
    const void *input, *hidden, *input_bias, *hidden_bias, *projection;
} dense;

/* One step forward: from h to h (and c), then into the sequence. */
static void advance(const run *u, const dense *d, int64_t t, int direction, char *h, char *c,
                    char *to) {
    const fxs_recurrent *r = u->r;
    int64_t gates = r->gates * r->hidden;
    lay_rows(u, u->gates_h, r->batch, gates, d->hidden_bias);
    add_product(u, r->batch, gates, r->output, h, d->hidden, u->gates_h);
    const char *x = u->gates_x + (size_t)(t * r->batch * gates) * u->size;
    char *result = d->projection ? u->raw : h;
    if (u->w->dtype == FXS_FLOAT32)
        step_float(r, x, u->gates_h, c, result);
    else
        step_double(r, x, u->gates_h, c, result);
    if (d->projection) {
        lay_rows(u, h, r->batch, r->output, NULL);
        add_product(u, r->batch, r->output, r->hidden, u->raw, d->projection, h);
    }
    size_t row = (size_t)r->output * u->size;
    char *out = to + ((size_t)(t * r->batch) * (size_t)r->directions + (size_t)direction) * row;
    for (int64_t n = 0; n < r->batch; n++)
        memcpy(out + (size_t)(n * r->directions) * row, h + (size_t)n * row, row);
}

static void run_cell(run *u, int layer, int direction, const char *from, int64_t width, char *to) {
    const fxs_recurrent *r = u->r;
    int index = layer * r->directions + direction;
    const fxs_cell_weights *w = &r->weights[index];
    fxs_work parts = fxs_work_begin(u->w->call, u->w->dtype); /* weights live for one cell only */
    dense d = {.input = fxs_work_data(&parts, w->input),
               .hidden = fxs_work_data(&parts, w->hidden),
               .input_bias = fxs_work_data(&parts, w->input_bias),
               .hidden_bias = fxs_work_data(&parts, w->hidden_bias),
               .projection = fxs_work_data(&parts, w->projection)};
    if (parts.status == FXS_OK) {
        int64_t gates = r->gates * r->hidden;
        lay_rows(u, u->gates_x, r->steps * r->batch, gates, d.input_bias);
        add_product(u, r->steps * r->batch, gates, width, from, d.input, u->gates_x);
        char *h = u->h + (size_t)(index * r->batch * r->output) * u->size;
        char *c = u->c ? u->c + (size_t)(index * r->batch * r->hidden) * u->size : NULL;
        for (int64_t t = 0; t < r->steps; t++)
            advance(u, &d, direction ? r->steps - 1 - t : t, direction, h, c, to);
    }
    fxs_status s = fxs_work_end(&parts);
    u->w->status = s != FXS_OK ? s : u->w->status;
}

/* Drops elements of a layer's result in training. */
static void drop(const run *u, int layer, char *x, int64_t n) {
    double keep = 1 - u->r->dropout;
    uint64_t seed = u->w->call->seed + (uint64_t)layer;
    for (int64_t i = 0; u->r->dropout > 0 && i < n; i++, x += u->size) {
        bool kept = (double)fxs_random_unit(seed, (uint64_t)i) < keep;
        fxs_store_double(u->w->dtype, x, kept ? fxs_load_double(u->w->dtype, x) / keep : 0);
    }
}

static void run_layers(run *u, const void *x, char *result) {
    const fxs_recurrent *r = u->r;
    int64_t width = r->input, out = r->directions * r->output, n = r->steps * r->batch * out;
    const char *from = x;
    for (int layer = 0; layer < r->layers && u->w->status == FXS_OK; layer++) {
        bool last = layer + 1 == r->layers;
        char *to = last ? result : u->seq + (size_t)(layer % 2 * n) * u->size;
        for (int d = 0; d < r->directions; d++)
            run_cell(u, layer, d, from, width, to);
        if (!last)
            drop(u, layer, to, n);
        from = to;
        width = out;
    }
}

/* A state to start from: given, or zeros. Gives the place where it changes and ends. */
static char *start_state(fxs_work *w, fxs_tensor *given, fxs_tensor *end) {
    const void *from = fxs_work_data(w, given);
    fxs_tensor *to = fxs_work_out(w, end);
    if (w->status != FXS_OK)
        return NULL;
    size_t n = (size_t)fxs_tensor_numel(end) * fxs_dtype_size(w->dtype);
    char *p = fxs_tensor_data(to);
    if (n && from)
        memcpy(p, from, n);
    else if (n)
        memset(p, 0, n);
    return p;
}

/* t as [T, N, ...]: torch computes with time in front. */
static fxs_tensor time_first(const fxs_tensor *t, bool batch_first) {
    fxs_tensor v = *t;
    if (batch_first && t->ndim == 3) {
        v.sizes[0] = t->sizes[1], v.strides[0] = t->strides[1];
        v.sizes[1] = t->sizes[0], v.strides[1] = t->strides[0];
    }
    return v;
}

fxs_status fxs_recurrent_run(fxs_call *c, const fxs_recurrent *r, fxs_tensor *x, fxs_tensor *h,
                             fxs_tensor *c0) {
    fxs_work w = fxs_work_begin(c, x->dtype);
    run u = {.r = r, .w = &w, .size = fxs_dtype_size(w.dtype)};
    fxs_tensor in = time_first(x, r->batch_first), out = time_first(c->out[0], r->batch_first);
    const void *from = fxs_work_data(&w, &in);
    fxs_tensor *result = fxs_work_out(&w, &out);
    int64_t gates = r->gates * r->hidden, rows = r->steps * r->batch,
            width = r->directions * r->output;
    u.gates_x = fxs_work_scratch(&w, rows * gates, u.size);
    u.gates_h = fxs_work_scratch(&w, r->batch * gates, u.size);
    u.raw = fxs_work_scratch(&w, r->batch * r->hidden, u.size);
    u.seq = fxs_work_scratch(&w, 2 * rows * width, u.size);
    u.h = start_state(&w, h, c->out[1]);
    u.c = r->cell == FXS_LSTM ? start_state(&w, c0, c->out[2]) : NULL;
    if (w.status == FXS_OK && rows > 0)
        run_layers(&u, from, fxs_tensor_data(result));
    return fxs_work_end(&w);
}
