/* recurrent.c: LSTM, GRU and plain recurrent networks, as torch's functions and as layers:
 * arguments, shapes, costs. All sizes follow from the weights. The arithmetic is in
 * recurrent_run.c. */
#include "kernels/recurrent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/recurrent_steps.h"

/* Arguments of torch.lstm and its like, and of the layers' rows. */
enum {
    INPUT,
    STATE,
    PARAMS,
    HAS_BIASES,
    LAYERS,
    DROPOUT,
    TRAIN,
    BIDIRECTIONAL,
    BATCH_FIRST,
    NONLINEARITY
};

/* ---- weights
 * ---------------------------------------------------------------------------------------------- */

static fxs_status bad_weight(fxs_call *c, const fxs_tensor *t, const char *name, const char *want) {
    char text[FXS_SIZES_TEXT];
    return FXS_REFUSE(c, FXS_ESHAPE, "expected %s of shape %s, but got %s", name, want,
                      t ? fxs_sizes_text(t, text) : "None");
}

static fxs_status check_matrix(fxs_call *c, const fxs_tensor *x, const fxs_tensor *t, int64_t rows,
                               int64_t cols, const char *name) {
    char want[FXS_SIZES_TEXT];
    snprintf(want, sizeof want, "[%lld, %lld]", (long long)rows, (long long)cols);
    if (!t || t->ndim != 2 || t->sizes[0] != rows || t->sizes[1] != cols)
        return bad_weight(c, t, name, want);
    return fxs_check_same_dtype(c, x, t, name);
}

static fxs_status check_bias(fxs_call *c, const fxs_tensor *x, const fxs_tensor *t, int64_t n,
                             const char *name) {
    char want[FXS_SIZES_TEXT];
    snprintf(want, sizeof want, "[%lld]", (long long)n);
    if (t && (t->ndim != 1 || t->sizes[0] != n))
        return bad_weight(c, t, name, want);
    return fxs_check_same_dtype(c, x, t, name);
}

/* Sizes by the first cell's weights; then every cell must agree with them. */
static fxs_status check_weights(fxs_call *c, fxs_recurrent *r, const fxs_tensor *x) {
    const fxs_cell_weights *first = &r->weights[0];
    if (!first->input || first->input->ndim != 2 || !first->hidden || first->hidden->ndim != 2 ||
        first->input->sizes[0] % r->gates != 0)
        return bad_weight(c, first->input, "the first weight", "[gates * hidden_size, input_size]");
    r->hidden = first->input->sizes[0] / r->gates;
    r->output =
        first->projection && first->projection->ndim == 2 ? first->projection->sizes[0] : r->hidden;
    r->input = first->input->sizes[1];
    int64_t width = r->input, gates = r->hidden * r->gates;
    for (int i = 0; i < r->layers * r->directions; i++) {
        const fxs_cell_weights *w = &r->weights[i];
        if (i == r->directions)
            width = r->output * r->directions;
        FXS_TRY(check_matrix(c, x, w->input, gates, width, "weight_ih"));
        FXS_TRY(check_matrix(c, x, w->hidden, gates, r->output, "weight_hh"));
        FXS_TRY(check_bias(c, x, w->input_bias, gates, "bias_ih"));
        FXS_TRY(check_bias(c, x, w->hidden_bias, gates, "bias_hh"));
        if (first->projection)
            FXS_TRY(check_matrix(c, x, w->projection, r->output, r->hidden, "weight_hr"));
    }
    return FXS_OK;
}

static int gates_of(fxs_cell cell) { return cell == FXS_LSTM ? 4 : cell == FXS_GRU ? 3 : 1; }

static fxs_status set_layers(fxs_call *c, fxs_recurrent *r) {
    int64_t layers = fxs_arg_int(c, LAYERS);
    if (layers < 1 || layers > fxs_arg_len(c, PARAMS))
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "num_layers must be 1 or more, and have weights, but it is %lld with %d weights",
            (long long)layers, fxs_arg_len(c, PARAMS));
    r->layers = (int)layers;
    r->directions = fxs_arg_bool(c, BIDIRECTIONAL) ? 2 : 1;
    r->weights = FXS_NEW_N(c->scratch, fxs_cell_weights, (size_t)(r->layers * r->directions));
    return r->weights ? FXS_OK : fxs_fail_memory(c->ctx);
}

/* torch's functions and the layers pass a flat list, cell by cell. */
static fxs_status read_arguments(fxs_call *c, fxs_recurrent *r) {
    FXS_TRY(set_layers(c, r));
    int per = fxs_arg_bool(c, HAS_BIASES) ? 4 : 2, cells = r->layers * r->directions,
        n = fxs_arg_len(c, PARAMS);
    bool projects = r->cell == FXS_LSTM && n == cells * (per + 1);
    if (!projects && n != cells * per)
        return FXS_REFUSE(c, FXS_EINVAL, "expected %d weights, but got %d", cells * per, n);
    for (int i = 0; i < cells; i++) {
        int at = i * (per + projects);
        fxs_cell_weights *w = &r->weights[i];
        w->input = fxs_arg_tensor_at(c, PARAMS, at);
        w->hidden = fxs_arg_tensor_at(c, PARAMS, at + 1);
        w->input_bias = per == 4 ? fxs_arg_tensor_at(c, PARAMS, at + 2) : NULL;
        w->hidden_bias = per == 4 ? fxs_arg_tensor_at(c, PARAMS, at + 3) : NULL;
        w->projection = projects ? fxs_arg_tensor_at(c, PARAMS, at + per) : NULL;
    }
    r->batch_first = fxs_arg_bool(c, BATCH_FIRST);
    r->dropout = fxs_arg_bool(c, TRAIN) ? fxs_arg_float(c, DROPOUT) : 0;
    if (r->cell == FXS_RNN_TANH && c->nargs > NONLINEARITY &&
        strcmp(fxs_arg_str(c, NONLINEARITY), "relu") == 0)
        r->cell = FXS_RNN_RELU;
    return FXS_OK;
}

/* ---- input and state
 * -------------------------------------------------------------------------------------- */

static fxs_status read_input(fxs_call *c, fxs_recurrent *r, const fxs_tensor *x) {
    char text[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    if (x->ndim != 3 && (x->ndim != 2 || c->spelling)) /* only layers know of a missing batch */
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "input must have 3 dimensions (2 without a batch), but its shape is %s",
                          fxs_sizes_text(x, text));
    FXS_TRY(check_weights(c, r, x));
    if (x->sizes[x->ndim - 1] != r->input)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "input.size(-1) must be equal to input_size: expected %lld, but got input of shape %s",
            (long long)r->input, fxs_sizes_text(x, text));
    r->batched = x->ndim == 3;
    r->batch_first &= r->batched;
    r->steps = x->sizes[r->batch_first ? 1 : 0];
    r->batch = r->batched ? x->sizes[r->batch_first ? 0 : 1] : 1;
    return r->steps > 0
               ? FXS_OK
               : FXS_REFUSE(c, FXS_ESHAPE,
                            "expected sequence length to be larger than 0, but got input of "
                            "shape %s",
                            fxs_sizes_text(x, text));
}

static void state_sizes(const fxs_recurrent *r, int64_t width, int *ndim, int64_t sizes[3]) {
    *ndim = r->batched ? 3 : 2;
    sizes[0] = r->layers * r->directions;
    sizes[1] = r->batched ? r->batch : width;
    sizes[2] = width;
}

static fxs_status check_state(fxs_call *c, const fxs_recurrent *r, const fxs_tensor *x,
                              const fxs_tensor *t, int64_t width, const char *name) {
    fxs_tensor want = {0};
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (!t)
        return FXS_OK;
    state_sizes(r, width, &want.ndim, want.sizes);
    bool same = t->ndim == want.ndim;
    for (int i = 0; same && i < t->ndim; i++)
        same = t->sizes[i] == want.sizes[i];
    if (!same)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected %s of shape %s, but got %s", name,
                          fxs_sizes_text(&want, a), fxs_sizes_text(t, b));
    return fxs_check_same_dtype(c, x, t, name);
}

/* The state to start from: a tensor, a pair of tensors, or nothing. */
static fxs_tensor *state_at(const fxs_call *c, int k) {
    const fxs_value *v = &c->arg[STATE];
    if (v->tag == FXS_V_TENSOR)
        return k == 0 ? v->u.tensor : NULL;
    return fxs_arg_tensor_at(c, STATE, k);
}

static fxs_status read_all(fxs_call *c, fxs_cell cell, fxs_recurrent *r) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    *r = (fxs_recurrent){.cell = cell, .gates = gates_of(cell)};
    FXS_TRY(read_arguments(c, r));
    FXS_TRY(read_input(c, r, x));
    FXS_TRY(check_state(c, r, x, state_at(c, 0), r->output, "hidden state"));
    return check_state(c, r, x, state_at(c, 1), r->hidden, "cell state");
}

/* ---- results
 * ---------------------------------------------------------------------------------------------- */

static fxs_status new_outputs(fxs_call *c, const fxs_recurrent *r) {
    fxs_dtype d = fxs_arg_tensor(c, INPUT)->dtype;
    int64_t width = r->directions * r->output, sizes[3];
    static const int time_first[] = {1, 0, 2};
    int64_t sequence[] = {r->batch_first ? r->batch : r->steps,
                          r->batch_first ? r->steps : r->batch, width},
            strides[3];
    fxs_strides_of(3, sequence, r->batch_first ? time_first : NULL, strides);
    int ndim;
    if (r->batched)
        FXS_TRY(fxs_out_new(c, d, 3, sequence, strides));
    else
        FXS_TRY(fxs_out_new(c, d, 2, (int64_t[]){r->steps, width}, NULL));
    state_sizes(r, r->output, &ndim, sizes);
    FXS_TRY(fxs_out_new(c, d, ndim, sizes, NULL));
    state_sizes(r, r->hidden, &ndim, sizes);
    return r->cell == FXS_LSTM ? fxs_out_new(c, d, ndim, sizes, NULL) : FXS_OK;
}

/* torch's functions, unlike the layers, take whatever their steps take. */
static bool goes_by_steps(const fxs_call *c, fxs_status s) {
    return c->spelling && s != FXS_OK && s != FXS_ENOMEM;
}

static fxs_status infer(fxs_call *c, fxs_cell cell) {
    fxs_recurrent *r = FXS_NEW(c->scratch, fxs_recurrent);
    if (!r)
        return fxs_fail_memory(c->ctx);
    fxs_status s = read_all(c, cell, r);
    if (goes_by_steps(c, s))
        return fxs_compose_infer(c, fxs_recurrent_steps(cell));
    FXS_TRY(s);
    return new_outputs(c, r);
}

/* An LSTM layer gives (sequence, (hidden, cell)). */
static fxs_status nest(fxs_call *c) {
    fxs_value pair, all;
    FXS_TRY(fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, 2, &pair));
    pair.u.seq->items[0] = fxs_of_tensor(fxs_tensor_ref(c->out[1]));
    pair.u.seq->items[1] = fxs_of_tensor(fxs_tensor_ref(c->out[2]));
    fxs_status s = fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, 2, &all);
    if (s != FXS_OK) {
        fxs_value_unref(&pair);
        return s;
    }
    all.u.seq->items[0] = fxs_of_tensor(fxs_tensor_ref(c->out[0]));
    all.u.seq->items[1] = pair;
    return fxs_out_value(c, all);
}

static fxs_status run(fxs_call *c, fxs_cell cell) {
    fxs_recurrent *r = FXS_NEW(c->scratch, fxs_recurrent);
    if (!r)
        return fxs_fail_memory(c->ctx);
    fxs_status s = read_all(c, cell, r);
    if (goes_by_steps(c, s))
        return fxs_compose_run(c, fxs_recurrent_steps(cell));
    FXS_TRY(s);
    return fxs_recurrent_run(c, r, fxs_arg_tensor(c, INPUT), state_at(c, 0), state_at(c, 1));
}

/* 2 for each weight matrix's element, step and image; of each hidden element about 10 operations of
 * an LSTM's or a GRU's gates, 2 of a plain cell */
static fxs_cost cost(const fxs_call *c, fxs_cell cell) {
    fxs_recurrent *r = FXS_NEW(c->scratch, fxs_recurrent);
    double weights = 0;
    if (!r)
        return (fxs_cost){0};
    fxs_status s = read_all((fxs_call *)c, cell, r);
    if (s != FXS_OK)
        return goes_by_steps(c, s) ? fxs_compose_cost(c, fxs_recurrent_steps(cell)) : (fxs_cost){0};
    for (int i = 0; i < r->layers * r->directions; i++) {
        const fxs_cell_weights *w = &r->weights[i];
        weights += (double)fxs_tensor_numel(w->input) + (double)fxs_tensor_numel(w->hidden) +
                   (w->projection ? (double)fxs_tensor_numel(w->projection) : 0);
    }
    double cells = (double)r->layers * r->directions * (double)r->hidden;
    return (fxs_cost){.flops = (double)r->steps * (double)r->batch *
                               (2 * weights + (r->gates > 1 ? 10 : 2) * cells)};
}

#define FORMS(name, cell)                                                                          \
    static fxs_status infer_##name(fxs_call *c) { return infer(c, cell); }                         \
    static fxs_status run_##name(fxs_call *c) { return run(c, cell); }                             \
    static fxs_cost cost_##name(const fxs_call *c) { return cost(c, cell); }
FORMS(lstm, FXS_LSTM)
FORMS(gru, FXS_GRU)
FORMS(rnn_tanh, FXS_RNN_TANH)
FORMS(rnn_relu, FXS_RNN_RELU)
#undef FORMS

static fxs_status infer_lstm_layer(fxs_call *c) {
    FXS_TRY(infer(c, FXS_LSTM));
    return nest(c);
}

/* ---- the layers' state
 * ------------------------------------------------------------------------------------ */

static fxs_status add_state(fxs_layer *l, const char *name, int layer, bool reverse, int ndim,
                            int64_t rows, int64_t cols, double bound) {
    char text[64];
    int n = snprintf(text, sizeof text, "%s_l%d%s", name, layer, reverse ? "_reverse" : "");
    fxs_state s = {.name = fxs_arena_dup(l->arena, text, (size_t)n),
                   .dtype = FXS_FLOAT32,
                   .ndim = ndim,
                   .sizes = {rows, cols},
                   .init = FXS_INIT_UNIFORM,
                   .bound = bound};
    return s.name ? fxs_layer_add(l, &s) : fxs_fail_memory(l->ctx);
}

static fxs_status expand(fxs_layer *l, int gates) {
    int64_t input = fxs_layer_int(l, "input_size", 0), hidden = fxs_layer_int(l, "hidden_size", 0),
            rows;
    int64_t layers = fxs_layer_int(l, "num_layers", 1),
            projection = fxs_layer_int(l, "proj_size", 0);
    int64_t output = projection ? projection : hidden,
            directions = fxs_layer_int(l, "bidirectional", 0) ? 2 : 1;
    double bound = hidden > 0 ? 1 / sqrt((double)hidden) : 0;
    if (__builtin_mul_overflow(hidden, gates, &rows) || output < 0 || output > INT64_MAX / 2)
        return fxs_fail(l->ctx, FXS_ELIMIT, "%s: a size beyond 2^63", l->row->name);
    for (int64_t i = 0; i < layers; i++) /* fxs_layer_add has a limit */
        for (int64_t d = 0; d < directions; d++) {
            int64_t width = i == 0 ? input : output * directions;
            FXS_TRY(add_state(l, "weight_ih", (int)i, d, 2, rows, width, bound));
            FXS_TRY(add_state(l, "weight_hh", (int)i, d, 2, rows, output, bound));
            if (fxs_layer_int(l, "bias", 1)) {
                FXS_TRY(add_state(l, "bias_ih", (int)i, d, 1, rows, 0, bound));
                FXS_TRY(add_state(l, "bias_hh", (int)i, d, 1, rows, 0, bound));
            }
            if (projection)
                FXS_TRY(add_state(l, "weight_hr", (int)i, d, 2, projection, hidden, bound));
        }
    return FXS_OK;
}

static fxs_status expand_lstm(fxs_layer *l) { return expand(l, 4); }
static fxs_status expand_gru(fxs_layer *l) { return expand(l, 3); }
static fxs_status expand_rnn(fxs_layer *l) { return expand(l, 1); }

/* ---- rows
 * -------------------------------------------------------------------------------------------------
 */

#define REST                                                                                       \
    " hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool "      \
    "bidirectional, "                                                                              \
    "bool batch_first"
#define FUNCTION(title, state, result)                                                             \
    {                                                                                              \
        .name = #title, .schema = "(Tensor input, " state REST ") -> " result,                     \
        .torch = "torch." #title " torch._VF." #title, .infer = infer_##title,                     \
        .kernel = run_##title, .cost = cost_##title, .flags = FXS_OP_RANDOM | FXS_OP_NO_INPLACE    \
    }
#define LAYER(title, state, result, infer_it, form)                                                \
    {                                                                                              \
        .name = title,                                                                             \
        .schema = "(Tensor input, " state "?" REST ", str nonlinearity) -> " result,               \
        .infer = infer_it, .kernel = run_##form, .cost = cost_##form, .flags = FXS_OP_RANDOM       \
    }

const fxs_op fxs_ops_recurrent[] = {
    FUNCTION(lstm, "Tensor[]", "(Tensor, Tensor, Tensor)"),
    FUNCTION(gru, "Tensor", "(Tensor, Tensor)"),
    FUNCTION(rnn_tanh, "Tensor", "(Tensor, Tensor)"),
    FUNCTION(rnn_relu, "Tensor", "(Tensor, Tensor)"),
    LAYER("lstm_layer", "Tensor[]", "(Tensor, (Tensor, Tensor))", infer_lstm_layer, lstm),
    LAYER("gru_layer", "Tensor", "(Tensor, Tensor)", infer_gru, gru),
    LAYER("rnn_layer", "Tensor", "(Tensor, Tensor)", infer_rnn_tanh, rnn_tanh),
    {0},
};
#undef FUNCTION
#undef LAYER
#undef REST

#define CALL(op, nonlinearity)                                                                     \
    op "_layer(input, hx, parameters, bias, num_layers, dropout, training, bidirectional, "        \
       "batch_first, " nonlinearity ")"

const fxs_module_row fxs_modules_recurrent[] = {
    {.name = "LSTM",
     .hyper = "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, "
              "bidirectional=False, "
              "proj_size=0",
     .repr = "input_size, hidden_size, proj_size=?, num_layers=?, bias=?, batch_first=?, "
             "dropout=?, bidirectional=?",
     .call = CALL("lstm", "'tanh'"),
     .forward = "input, hx?",
     .expand = expand_lstm},
    {.name = "GRU",
     .hyper = "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, "
              "bidirectional=False",
     .repr =
         "input_size, hidden_size, num_layers=?, bias=?, batch_first=?, dropout=?, bidirectional=?",
     .call = CALL("gru", "'tanh'"),
     .forward = "input, hx?",
     .expand = expand_gru},
    {.name = "RNN", /* print(model) does not show the nonlinearity: tanh is torch's default */
     .hyper = "input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, "
              "batch_first=False, dropout=0.0, "
              "bidirectional=False",
     .repr =
         "input_size, hidden_size, num_layers=?, bias=?, batch_first=?, dropout=?, bidirectional=?",
     .call = CALL("rnn", "nonlinearity"),
     .forward = "input, hx?",
     .expand = expand_rnn},
    {0},
};
