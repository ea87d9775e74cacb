/* recurrent_steps.h: recurrent networks and their cells, composed of other operators. */
#ifndef FXS_KERNELS_RECURRENT_STEPS_H
#define FXS_KERNELS_RECURRENT_STEPS_H

#include "kernels/compose.h"
#include "kernels/recurrent.h"

typedef struct fxs_step_state {
    fxs_tensor *h, *c; /* c: of an LSTM alone */
} fxs_step_state;

/* One step: x are the input's gates [N, gates * hidden]; the new state replaces s. */
void fxs_recurrent_step(fxs_compose *k, fxs_cell cell, const fxs_cell_weights *w, fxs_tensor *x,
                        fxs_step_state *s);

/* Makes torch.lstm and its like of other operators. */
fxs_compose_fn *fxs_recurrent_steps(fxs_cell cell);

#endif
