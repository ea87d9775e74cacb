/* recurrent_cells.h: what the cells of recurrent networks do at one step, for one element type;
 * included by recurrent_run.c with T, NAME(x), SIGMOID and TANH defined. a: input's share of the
 * gates, b: the hidden state's. */

/* a [4 n]: input, forget, cell, output gate. c is the cell state, h the result. */
FXS_VECTOR static void NAME(lstm)(int64_t n, const T *a, const T *b, T *restrict c, T *restrict h) {
    for (int64_t i = 0; i < n; i++) {
        T in = SIGMOID(a[i] + b[i]), forget = SIGMOID(a[n + i] + b[n + i]);
        T cell = TANH(a[2 * n + i] + b[2 * n + i]), out = SIGMOID(a[3 * n + i] + b[3 * n + i]);
        c[i] = forget * c[i] + in * cell;
        h[i] = out * TANH(c[i]);
    }
}

/* a, b [3 n]: reset, update, new. The hidden share of `new` is gated before it is added. */
FXS_VECTOR static void NAME(gru)(int64_t n, const T *a, const T *b, T *restrict h) {
    for (int64_t i = 0; i < n; i++) {
        T reset = SIGMOID(a[i] + b[i]), update = SIGMOID(a[n + i] + b[n + i]);
        T next = TANH(a[2 * n + i] + reset * b[2 * n + i]);
        h[i] = next + update * (h[i] - next);
    }
}

FXS_VECTOR static void NAME(rnn_tanh)(int64_t n, const T *a, const T *b, T *restrict h) {
    for (int64_t i = 0; i < n; i++)
        h[i] = TANH(a[i] + b[i]);
}

static void NAME(rnn_relu)(int64_t n, const T *a, const T *b, T *restrict h) {
    for (int64_t i = 0; i < n; i++) {
        T v = a[i] + b[i];
        h[i] = v < 0 ? 0 : v; /* a NaN stays one */
    }
}

/* One step of the whole batch. Of an LSTM, `h` gets the unprojected result. */
static void NAME(step)(const fxs_recurrent *r, const void *input, const void *hidden, void *c,
                       void *h) {
    const T *a = input, *b = hidden;
    T *cell = c, *out = h;
    for (int64_t i = 0; i < r->batch;
         i++, a += r->gates * r->hidden, b += r->gates * r->hidden, out += r->hidden) {
        if (r->cell == FXS_LSTM)
            NAME(lstm)(r->hidden, a, b, cell + i * r->hidden, out);
        else if (r->cell == FXS_GRU)
            NAME(gru)(r->hidden, a, b, out);
        else if (r->cell == FXS_RNN_TANH)
            NAME(rnn_tanh)(r->hidden, a, b, out);
        else
            NAME(rnn_relu)(r->hidden, a, b, out);
    }
}
