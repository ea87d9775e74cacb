/* recurrent_cell.c: single steps of recurrent networks, as torch's functions and as the layers
 * RNNCell, LSTMCell and GRUCell: composed of linear and pointwise operators. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

enum { INPUT, STATE, W_INPUT, W_HIDDEN, B_INPUT, B_HIDDEN };

/* Rows of gates: [N, gates * H] */
static fxs_tensor *gates(fxs_compose *k, fxs_tensor *x, int weight, int bias) {
    return FXS_DO(k, "linear", fxs_t(x), k->call->arg[weight], k->call->arg[bias]);
}

static fxs_tensor *sigmoid(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, "sigmoid", fxs_t(FXS_DO(k, "add", fxs_t(a), fxs_t(b))));
}

static fxs_tensor *times(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, "mul", fxs_t(a), fxs_t(b));
}

static void split(fxs_compose *k, fxs_tensor *x, int n, fxs_tensor **out) {
    FXS_DO(k, "chunk", fxs_t(x), fxs_int(n), fxs_int(-1));
    for (int i = 0; i < n; i++)
        out[i] = fxs_do_item(k, i);
}

static int64_t hidden_size(const fxs_call *c, int gate_count) {
    const fxs_tensor *w = fxs_arg_tensor(c, W_HIDDEN);
    return w->ndim == 2 ? w->sizes[0] / gate_count : 0;
}

static char *sizes_of(const fxs_tensor *t, char *text) { return fxs_sizes_text(t, text); }

/* The state, checked; zeros when none is given. */
static fxs_tensor *state(fxs_compose *k, fxs_tensor *h, int gate_count) {
    const fxs_tensor *x = fxs_arg_tensor(k->call, INPUT);
    int64_t n = hidden_size(k->call, gate_count), sizes[2] = {x->sizes[0], n};
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (x->ndim != 1 && x->ndim != 2) {
        fxs_stop(k, FXS_ESHAPE, "expected input to be 1-D or 2-D, but its shape is %s",
                 sizes_of(x, a));
        return NULL;
    }
    if (!h)
        return FXS_DO(k, "new_zeros", k->call->arg[INPUT],
                      x->ndim == 2 ? fxs_ints(k, 2, sizes) : fxs_ints(k, 1, &n));
    if (h->ndim != x->ndim || h->sizes[h->ndim - 1] != n ||
        (x->ndim == 2 && h->sizes[0] != x->sizes[0]))
        fxs_stop(k, FXS_ESHAPE,
                 "a state of shape %s does not fit input of shape %s and hidden_size %lld",
                 sizes_of(h, a), sizes_of(x, b), (long long)n);
    return h;
}

static void make_rnn(fxs_compose *k, const char *function) {
    fxs_tensor *h = state(k, fxs_arg_tensor(k->call, STATE), 1),
               *x = fxs_arg_tensor(k->call, INPUT);
    x = FXS_DO(k, "add", fxs_t(gates(k, x, W_INPUT, B_INPUT)),
               fxs_t(gates(k, h, W_HIDDEN, B_HIDDEN)));
    fxs_give(k, FXS_DO(k, function, fxs_t(x)));
}

static void make_tanh_cell(fxs_compose *k) { make_rnn(k, "tanh"); }
static void make_relu_cell(fxs_compose *k) { make_rnn(k, "relu"); }
/* Of the layer, which says which of the two it is. */
static void make_rnn_cell(fxs_compose *k) {
    enum { NONLINEARITY = B_HIDDEN + 1 };
    const char *function = fxs_arg_str(k->call, NONLINEARITY);
    make_rnn(k, function && strcmp(function, "relu") == 0 ? "relu" : "tanh");
}

/* reset, update, new: h' = new + update * (h - new) */
static void make_gru_cell(fxs_compose *k) {
    fxs_tensor *h = state(k, fxs_arg_tensor(k->call, STATE), 3), *a[3], *b[3];
    split(k, gates(k, fxs_arg_tensor(k->call, INPUT), W_INPUT, B_INPUT), 3, a);
    split(k, gates(k, h, W_HIDDEN, B_HIDDEN), 3, b);
    fxs_tensor *reset = sigmoid(k, a[0], b[0]), *update = sigmoid(k, a[1], b[1]);
    fxs_tensor *next = FXS_DO(k, "add", fxs_t(a[2]), fxs_t(times(k, reset, b[2])));
    next = FXS_DO(k, "tanh", fxs_t(next));
    fxs_tensor *d = times(k, FXS_DO(k, "sub", fxs_t(h), fxs_t(next)), update);
    fxs_give(k, FXS_DO(k, "add", fxs_t(d), fxs_t(next)));
}

/* input, forget, cell, output */
static void make_lstm_cell(fxs_compose *k) {
    fxs_tensor *h = state(k, fxs_arg_tensor_at(k->call, STATE, 0), 4), *g[4];
    fxs_tensor *c = state(k, fxs_arg_tensor_at(k->call, STATE, 1), 4);
    fxs_tensor *x = gates(k, fxs_arg_tensor(k->call, INPUT), W_INPUT, B_INPUT);
    split(k, FXS_DO(k, "add", fxs_t(x), fxs_t(gates(k, h, W_HIDDEN, B_HIDDEN))), 4, g);
    for (int i = 0; i < 4; i++)
        g[i] = FXS_DO(k, i == 2 ? "tanh" : "sigmoid", fxs_t(g[i]));
    c = FXS_DO(k, "add", fxs_t(times(k, g[1], c)), fxs_t(times(k, g[0], g[2])));
    fxs_give(k, times(k, g[3], FXS_DO(k, "tanh", fxs_t(c))));
    fxs_give(k, c);
}

FXS_COMPOSED(tanh_cell)
FXS_COMPOSED(relu_cell)
FXS_COMPOSED(rnn_cell)
FXS_COMPOSED(gru_cell)
FXS_COMPOSED(lstm_cell)

#define WEIGHTS "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"
#define ROW(title, state, op, result)                                                              \
    {                                                                                              \
        title, "(Tensor input, " state " hx, " WEIGHTS ") -> " result,                             \
            "torch." title " torch._VF." title, infer_##op, run_##op, cost_##op, FXS_OP_NO_INPLACE \
    }

const fxs_op fxs_ops_recurrent_cell[] = {
    ROW("rnn_tanh_cell", "Tensor?", tanh_cell, "Tensor"),
    ROW("rnn_relu_cell", "Tensor?", relu_cell, "Tensor"),
    {"rnn_cell", "(Tensor input, Tensor? hx, " WEIGHTS ", str nonlinearity='tanh') -> Tensor", NULL,
     infer_rnn_cell, run_rnn_cell, cost_rnn_cell, FXS_OP_NO_INPLACE},
    ROW("gru_cell", "Tensor?", gru_cell, "Tensor"),
    ROW("lstm_cell", "Tensor[]?", lstm_cell, "(Tensor, Tensor)"),
    {0},
};
#undef WEIGHTS
#undef ROW

#define STATE_OF(gates)                                                                            \
    "weight_ih[" gates " * hidden_size, input_size] = uniform(hidden_size); "                      \
    "weight_hh[" gates " * hidden_size, hidden_size] = uniform(hidden_size); "                     \
    "bias_ih[" gates " * hidden_size] = uniform(hidden_size) if bias; "                            \
    "bias_hh[" gates " * hidden_size] = uniform(hidden_size) if bias"
#define CALL(op) op "(input, hx, weight_ih, weight_hh, bias_ih, bias_hh)"

const fxs_module_row fxs_modules_recurrent_cell[] = {
    {.name = "RNNCell",
     .hyper = "input_size, hidden_size, bias=True, nonlinearity='tanh'",
     .state = STATE_OF("1"),
     .call = "rnn_cell(input, hx, weight_ih, weight_hh, bias_ih, bias_hh, nonlinearity)",
     .forward = "input, hx?",
     .repr = "input_size, hidden_size, bias=?, nonlinearity=?"},
    {.name = "GRUCell",
     .hyper = "input_size, hidden_size, bias=True",
     .state = STATE_OF("3"),
     .call = CALL("gru_cell"),
     .forward = "input, hx?",
     .repr = "input_size, hidden_size, bias=?"},
    {.name = "LSTMCell",
     .hyper = "input_size, hidden_size, bias=True",
     .state = STATE_OF("4"),
     .call = CALL("lstm_cell"),
     .forward = "input, hx?",
     .repr = "input_size, hidden_size, bias=?"},
    {0},
};
#undef STATE_OF
#undef CALL
