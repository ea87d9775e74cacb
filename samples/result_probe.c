/* result_probe.c: the article's ResultProbe as a user of the interpreter: which values hold a
 * tensor, and so which edges of a picture are drawn light. Prints the edges that carry none. */
#include <stdio.h>

#include "fxscope.h"

/* True when v is a tensor or holds one. */
static bool find_tensor(const fxs_value *v) {
    bool found = v->tag == FXS_V_TENSOR;
    for (size_t i = 0; i < fxs_value_len(v) && !found; i++)
        found = find_tensor(fxs_value_item(v, i));
    return found;
}

static fxs_status result_probe(fxs_interpreter *it, fxs_node *n, fxs_value *result) {
    fxs_node *inputs[64];
    size_t count = fxs_node_inputs(n, inputs, 64);
    fxs_status s = fxs_interpreter_run_node(it, n, result);
    for (size_t i = 0; !s && i < count && i < 64; i++)
        if (!find_tensor(result) || !find_tensor(fxs_interpreter_env(it, inputs[i])))
            printf("%s -> %s\n", fxs_node_name(inputs[i]), fxs_node_name(n));
    return s;
}

int main(int argc, char **argv) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = NULL;
    fxs_interpreter *it = NULL;
    fxs_tensor *t[2] = {NULL, NULL};
    fxs_interpreter_options opt = {.methods = {.run_node = result_probe}};
    fxs_status s = fxs_load(ctx, argc > 1 ? argv[1] : "samples/testmodel.fx", NULL, &m);
    s = s ? s : fxs_tensor_new(ctx, FXS_FLOAT32, 4, (int64_t[]){1, 3, 16, 16}, &t[0]);
    s = s ? s : fxs_tensor_new(ctx, FXS_FLOAT32, 4, (int64_t[]){1, 2, 8, 8}, &t[1]);
    s = s ? s : fxs_interpreter_new(m, &opt, &it);
    fxs_value args[2] = {fxs_of_tensor(t[0]), fxs_of_tensor(t[1])}, result = fxs_none();
    s = s ? s : fxs_interpreter_run(it, args, 2, &result);
    if (s)
        fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
    fxs_value_unref(&result);
    fxs_interpreter_free(it);
    fxs_tensor_unref(t[0]);
    fxs_tensor_unref(t[1]);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
    return s != FXS_OK;
}
