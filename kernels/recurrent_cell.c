/* recurrent_cell.c: single steps of recurrent networks, as torch's functions and as the layers
 * RNNCell, LSTMCell and GRUCell: composed of linear and pointwise operators. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/recurrent_steps.h"

enum { INPUT, STATE, W_INPUT, W_HIDDEN, B_INPUT, B_HIDDEN };

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

/* torch's functions look at the sizes at two places alone. */
static void check_function(fxs_compose *k, const fxs_tensor *h) {
    const fxs_tensor *x = fxs_arg_tensor(k->call, INPUT), *wi = fxs_arg_tensor(k->call, W_INPUT),
                     *wh = fxs_arg_tensor(k->call, W_HIDDEN);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    bool fits = x->ndim > 1 && h->ndim > 1 && wi->ndim > 1 && wh->ndim > 1 &&
                x->sizes[1] == wi->sizes[1] && h->sizes[0] == x->sizes[0] &&
                h->sizes[1] == wh->sizes[1];
    if (!fits)
        fxs_stop(k, FXS_ESHAPE,
                 "a state of shape %s does not fit input of shape %s and the weights",
                 sizes_of(h, a), sizes_of(x, b));
}

static fxs_tensor *checked(fxs_compose *k, fxs_tensor *h, int gate_count) {
    if (k->call->spelling && !h)
        fxs_stop(k, FXS_ETYPE, "argument 'hx' is missing");
    if (!k->call->spelling || !h)
        return state(k, h, gate_count);
    check_function(k, h);
    return h;
}

static void make_cell(fxs_compose *k, fxs_cell cell) {
    int count = cell == FXS_LSTM ? 4 : cell == FXS_GRU ? 3 : 1;
    fxs_call *c = k->call;
    fxs_cell_weights w = {.hidden = fxs_arg_tensor(c, W_HIDDEN),
                          .hidden_bias = fxs_arg_tensor(c, B_HIDDEN)};
    fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    bool one = x->ndim == 1;
    fxs_step_state s = {
        .h =
            checked(k, cell == FXS_LSTM ? fxs_arg_tensor_at(c, STATE, 0) : fxs_arg_tensor(c, STATE),
                    count)};
    if (cell == FXS_LSTM)
        s.c = checked(k, fxs_arg_tensor_at(c, STATE, 1), count);
    x = FXS_DO(k, "linear", fxs_t(x), c->arg[W_INPUT], c->arg[B_INPUT]);
    if (one) { /* a row without a batch */
        x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0));
        s.h = FXS_DO(k, "unsqueeze", fxs_t(s.h), fxs_int(0));
        s.c = s.c ? FXS_DO(k, "unsqueeze", fxs_t(s.c), fxs_int(0)) : NULL;
    }
    fxs_recurrent_step(k, cell, &w, x, &s);
    fxs_give(k, one ? FXS_DO(k, "squeeze", fxs_t(s.h), fxs_int(0)) : s.h);
    if (cell == FXS_LSTM)
        fxs_give(k, one ? FXS_DO(k, "squeeze", fxs_t(s.c), fxs_int(0)) : s.c);
}

static void make_tanh_cell(fxs_compose *k) { make_cell(k, FXS_RNN_TANH); }
static void make_relu_cell(fxs_compose *k) { make_cell(k, FXS_RNN_RELU); }
static void make_gru_cell(fxs_compose *k) { make_cell(k, FXS_GRU); }
static void make_lstm_cell(fxs_compose *k) { make_cell(k, FXS_LSTM); }
/* Of the layer, which says which of the two it is. */
static void make_rnn_cell(fxs_compose *k) {
    enum { NONLINEARITY = B_HIDDEN + 1 };
    const char *function = fxs_arg_str(k->call, NONLINEARITY);
    make_cell(k, function && strcmp(function, "relu") == 0 ? FXS_RNN_RELU : FXS_RNN_TANH);
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
