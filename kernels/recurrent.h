/* recurrent.h: a recurrent network as numbers, between recurrent.c (arguments, shapes, layers) and
 * recurrent_run.c. */
#ifndef FXS_KERNELS_RECURRENT_H
#define FXS_KERNELS_RECURRENT_H

#include "kernels/work.h"

typedef enum fxs_cell { FXS_LSTM, FXS_GRU, FXS_RNN_TANH, FXS_RNN_RELU } fxs_cell;

/* The weights of one layer in one direction; biases and projection may be NULL. */
typedef struct fxs_cell_weights {
    fxs_tensor *input, *hidden, *input_bias, *hidden_bias, *projection;
} fxs_cell_weights;

typedef struct fxs_recurrent {
    fxs_cell cell;
    int gates; /* 4 of LSTM, 3 of GRU, 1 */
    int layers, directions;
    bool batch_first, batched;
    double dropout;                              /* between layers; 0 outside of training */
    int64_t steps, batch, input, hidden, output; /* output: hidden, or less with a projection */
    fxs_cell_weights *weights; /* layers times directions; in the call's scratch */
} fxs_recurrent;

/* Fills c->out: sequence, last hidden state, and of an LSTM the last cell state. h and c0 may be
 * NULL: zeros. */
fxs_status fxs_recurrent_run(fxs_call *c, const fxs_recurrent *r, fxs_tensor *x, fxs_tensor *h,
                             fxs_tensor *c0);

#endif
