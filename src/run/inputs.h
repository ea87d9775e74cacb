/* inputs.h: what the user gives for the placeholders: shapes to be filled, files, plain values. */
#ifndef FXS_RUN_INPUTS_H
#define FXS_RUN_INPUTS_H

#include "ir/module.h"

/* A value for each placeholder of the graph, in order; FXS_V_UNKNOWN where none is given. In META
 * mode tensors have no storage. The values are counted; free with fxs_input_values_free. `in` may
 * be NULL. */
fxs_status fxs_inputs_bind(const fxs_inputs *in, const fxs_graph *g, fxs_run_mode mode,
                           fxs_value **out);
void fxs_input_values_free(fxs_value *values, const fxs_graph *g);

/* A NumPy .npy file (version 1 to 3) as a tensor. */
fxs_status fxs_npy_read(fxs_ctx *ctx, const char *path, fxs_tensor **out);

#endif
