/* recurrent_steps.c: recurrent networks step by step, of linear and pointwise operators. This is
 * how PyTorch makes them, so biases, states and types that recurrent_run.c has no kernel for
 * broadcast and promote here as they do there. */
#include "kernels/recurrent_steps.h"

#include <string.h>

enum { INPUT, STATE, PARAMS, HAS_BIASES, LAYERS, DROPOUT, TRAIN, BIDIRECTIONAL, BATCH_FIRST };

static fxs_tensor *act(fxs_compose *k, const char *op, fxs_tensor *x) {
    return FXS_DO(k, op, fxs_t(x));
}

static fxs_tensor *times(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, "mul", fxs_t(a), fxs_t(b));
}

/* a += b: the sum has a's shape and type */
static fxs_tensor *add_into(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    fxs_tensor *sum = FXS_DO(k, "add", fxs_t(a), fxs_t(b));
    if (k->status != FXS_OK)
        return NULL;
    bool same = sum->ndim == a->ndim && fxs_dtype_keeps(a->dtype, sum->dtype);
    for (int i = 0; same && i < a->ndim; i++)
        same = sum->sizes[i] == a->sizes[i];
    if (!same)
        fxs_stop(k, FXS_ESHAPE, "the input's gates do not fit the hidden state's");
    return k->status == FXS_OK && sum->dtype != a->dtype
               ? FXS_DO(k, "to", fxs_t(sum), fxs_of_dtype(a->dtype))
               : sum;
}

/* x becomes op(x), so its type must hold that. */
static fxs_tensor *act_into(fxs_compose *k, const char *op, fxs_tensor *x) {
    if (k->status == FXS_OK && !fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype))
        fxs_stop(k, FXS_ETYPE, "gates of torch.%s can't hold their activation",
                 fxs_dtype_name(x->dtype));
    return act(k, op, x);
}

static void split(fxs_compose *k, fxs_tensor *x, int n, fxs_tensor **out) {
    if (k->status != FXS_OK)
        return;
    int64_t size = x->ndim > 1 ? x->sizes[1] : 0;
    if (x->ndim < 2 || (size && (size + (size + n - 1) / n - 1) / ((size + n - 1) / n) != n)) {
        fxs_stop(k, FXS_ESHAPE, "%lld rows of gates can't be split into %d", (long long)size, n);
        return;
    }
    FXS_DO(k, "chunk", fxs_t(x), fxs_int(n), fxs_int(1));
    for (int i = 0; i < n; i++)
        out[i] = fxs_do_item(k, i);
}

static fxs_tensor *linear(fxs_compose *k, fxs_tensor *x, fxs_tensor *weight, fxs_tensor *bias) {
    return FXS_DO(k, "linear", fxs_t(x), fxs_t(weight), fxs_t(bias));
}

/* reset, update, new: h' = new + update * (h - new) */
static void step_gru(fxs_compose *k, const fxs_cell_weights *w, fxs_tensor *x, fxs_step_state *s) {
    fxs_tensor *a[3] = {0}, *b[3] = {0};
    split(k, x, 3, a);
    split(k, linear(k, s->h, w->hidden, w->hidden_bias), 3, b);
    fxs_tensor *reset = act_into(k, "sigmoid", add_into(k, b[0], a[0])),
               *update = act_into(k, "sigmoid", add_into(k, b[1], a[1])),
               *next = act(k, "tanh", FXS_DO(k, "add", fxs_t(a[2]), fxs_t(times(k, b[2], reset))));
    fxs_tensor *less = times(k, FXS_DO(k, "sub", fxs_t(s->h), fxs_t(next)), update);
    s->h = add_into(k, less, next);
}

/* input, forget, cell, output */
static void step_lstm(fxs_compose *k, const fxs_cell_weights *w, fxs_tensor *x, fxs_step_state *s) {
    fxs_tensor *g[4] = {0};
    split(k, add_into(k, linear(k, s->h, w->hidden, w->hidden_bias), x), 4, g);
    for (int i = 0; i < 4; i++)
        g[i] = act_into(k, i == 2 ? "tanh" : "sigmoid", g[i]);
    s->c = add_into(k, times(k, g[1], s->c), times(k, g[0], g[2]));
    s->h = times(k, g[3], act(k, "tanh", s->c));
    if (w->projection)
        s->h = FXS_DO(k, "matmul", fxs_t(s->h), fxs_t(act(k, "t", w->projection)));
}

void fxs_recurrent_step(fxs_compose *k, fxs_cell cell, const fxs_cell_weights *w, fxs_tensor *x,
                        fxs_step_state *s) {
    if (cell == FXS_LSTM)
        step_lstm(k, w, x, s);
    else if (cell == FXS_GRU)
        step_gru(k, w, x, s);
    else
        s->h = act(k, cell == FXS_RNN_RELU ? "relu" : "tanh",
                   add_into(k, linear(k, s->h, w->hidden, w->hidden_bias), x));
}

/* ---- whole networks
 * ----------------------------------------------------------------------------------------- */

typedef struct network {
    fxs_cell cell;
    int layers, directions, per, steps;
    bool biases, projects;
    fxs_tensor *h, *c;  /* the first states, layer by layer */
    fxs_tensor **parts; /* room for a list of a tensor each step, each cell */
} network;

static fxs_cell_weights weights_of(const fxs_compose *k, const network *n, int i) {
    const fxs_call *c = k->call;
    int at = i * n->per;
    return (fxs_cell_weights){
        .input = fxs_arg_tensor_at(c, PARAMS, at),
        .hidden = fxs_arg_tensor_at(c, PARAMS, at + 1),
        .input_bias = n->biases ? fxs_arg_tensor_at(c, PARAMS, at + 2) : NULL,
        .hidden_bias = n->biases ? fxs_arg_tensor_at(c, PARAMS, at + 3) : NULL,
        .projection = n->projects ? fxs_arg_tensor_at(c, PARAMS, at + n->per - 1) : NULL,
    };
}

static bool fits_layers(const network *n, const fxs_tensor *t) {
    return t && t->ndim > 0 && t->sizes[0] == (int64_t)n->layers * n->directions;
}

static void read_network(fxs_compose *k, network *n) {
    fxs_call *c = k->call;
    int64_t layers = fxs_arg_int(c, LAYERS);
    bool lstm = n->cell == FXS_LSTM;
    n->h = lstm ? fxs_arg_tensor_at(c, STATE, 0) : fxs_arg_tensor(c, STATE);
    n->c = lstm ? fxs_arg_tensor_at(c, STATE, 1) : NULL;
    n->directions = fxs_arg_bool(c, BIDIRECTIONAL) ? 2 : 1;
    n->biases = fxs_arg_bool(c, HAS_BIASES);
    if (layers < 1 || layers > fxs_arg_len(c, PARAMS) ||
        (lstm && (fxs_arg_len(c, STATE) != 2 || !n->c || n->c->ndim < 3 || n->h->ndim < 3))) {
        fxs_stop(k, FXS_EINVAL, "states, layers and weights do not fit");
        return;
    }
    n->layers = (int)layers;
    n->projects = lstm && n->h->sizes[2] != n->c->sizes[2];
    n->per = (n->biases ? 4 : 2) + n->projects;
    if (n->layers * n->directions * n->per != fxs_arg_len(c, PARAMS))
        fxs_stop(k, FXS_EINVAL, "expected %d weights, but got %d",
                 n->layers * n->directions * n->per, fxs_arg_len(c, PARAMS));
    else if (!fits_layers(n, n->h) || (lstm && !fits_layers(n, n->c)))
        fxs_stop(k, FXS_ESHAPE, "expected a state for each of %d layers",
                 n->layers * n->directions);
}

/* One cell along the sequence x [T, ...]; its outputs stacked. */
static fxs_tensor *run_cell(fxs_compose *k, const network *n, int i, bool reverse, fxs_tensor *x,
                            fxs_step_state *s) {
    fxs_cell_weights w = weights_of(k, n, i);
    *s = (fxs_step_state){.h = FXS_DO(k, "select", fxs_t(n->h), fxs_int(0), fxs_int(i))};
    if (n->c)
        s->c = FXS_DO(k, "select", fxs_t(n->c), fxs_int(0), fxs_int(i));
    x = linear(k, x, w.input, w.input_bias);
    for (int t = 0; t < n->steps && k->status == FXS_OK; t++) {
        int at = reverse ? n->steps - 1 - t : t;
        fxs_recurrent_step(k, n->cell, &w, FXS_DO(k, "select", fxs_t(x), fxs_int(0), fxs_int(at)),
                           s);
        n->parts[at] = s->h;
    }
    return k->status == FXS_OK ? FXS_DO(k, "stack", fxs_tensors(k, n->steps, n->parts)) : NULL;
}

/* Steps are what lies along the first dimension of the gates: of a vector each is a gate's number,
 * which adds to all the gates of the hidden state. */
static int count_steps(fxs_compose *k, const network *n, const fxs_tensor *x) {
    const fxs_tensor *weight = weights_of(k, n, 0).input, *along = x->ndim == 1 ? weight : x;
    if (x->ndim < 1 || !along || along->ndim < 1 || along->sizes[0] < 1 ||
        along->sizes[0] > 1 << 20) {
        fxs_stop(k, FXS_ESHAPE, "expected a sequence of one step or more");
        return 0;
    }
    return (int)along->sizes[0];
}

static void make_network(fxs_compose *k, network *n) {
    fxs_tensor *x = fxs_arg_tensor(k->call, INPUT), *y[2];
    bool batch_first = fxs_arg_bool(k->call, BATCH_FIRST);
    int cells = n->layers * n->directions;
    if (batch_first)
        x = FXS_DO(k, "transpose", fxs_t(x), fxs_int(0), fxs_int(1));
    if (k->status == FXS_OK)
        n->steps = count_steps(k, n, x);
    if (k->status != FXS_OK)
        return;
    n->parts = FXS_NEW_N(k->call->scratch, fxs_tensor *, (size_t)n->steps);
    fxs_tensor **h = FXS_NEW_N(k->call->scratch, fxs_tensor *, (size_t)cells),
               **c = FXS_NEW_N(k->call->scratch, fxs_tensor *, (size_t)cells);
    if (!n->parts || !h || !c) {
        k->status = fxs_fail_memory(k->call->ctx);
        return;
    }
    for (int i = 0; i < cells && k->status == FXS_OK; i++) {
        fxs_step_state s;
        y[i % n->directions] = run_cell(k, n, i, i % n->directions, x, &s);
        h[i] = s.h, c[i] = s.c;
        if (i % n->directions != n->directions - 1 || k->status != FXS_OK)
            continue;
        x = n->directions == 2 ? FXS_DO(k, "cat", fxs_tensors(k, 2, y), fxs_int(y[0]->ndim - 1))
                               : y[0];
        if (i < cells - 1 && fxs_arg_bool(k->call, TRAIN) && fxs_arg_float(k->call, DROPOUT) > 0)
            x = FXS_DO(k, "dropout", fxs_t(x), k->call->arg[DROPOUT], fxs_bool(true));
    }
    if (k->status != FXS_OK)
        return;
    fxs_give(k, batch_first ? FXS_DO(k, "transpose", fxs_t(x), fxs_int(0), fxs_int(1)) : x);
    fxs_give(k, FXS_DO(k, "stack", fxs_tensors(k, cells, h)));
    if (n->c)
        fxs_give(k, FXS_DO(k, "stack", fxs_tensors(k, cells, c)));
}

static void make_sequence(fxs_compose *k, fxs_cell cell) {
    network n = {.cell = cell};
    read_network(k, &n);
    if (k->status == FXS_OK)
        make_network(k, &n);
}

static void make_lstm(fxs_compose *k) { make_sequence(k, FXS_LSTM); }
static void make_gru(fxs_compose *k) { make_sequence(k, FXS_GRU); }
static void make_tanh(fxs_compose *k) { make_sequence(k, FXS_RNN_TANH); }
static void make_relu(fxs_compose *k) { make_sequence(k, FXS_RNN_RELU); }

fxs_compose_fn *fxs_recurrent_steps(fxs_cell cell) {
    return cell == FXS_LSTM       ? make_lstm
           : cell == FXS_GRU      ? make_gru
           : cell == FXS_RNN_RELU ? make_relu
                                  : make_tanh;
}
