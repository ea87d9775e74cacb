/* shape_prop.c: torch.fx's ShapeProp as a user of the interpreter: after each node, writes down
 * what it computed. */
#include <stdio.h>

#include "fxscope.h"

static fxs_status shape_prop(fxs_interpreter *it, fxs_node *n, fxs_value *result) {
    char *text;
    fxs_status s = fxs_interpreter_run_node(it, n, result);
    s = s ? s : fxs_value_print(fxs_interpreter_ctx(it), result, &text);
    if (!s) {
        printf("%-16s %s\n", fxs_node_name(n), text);
        fxs_free(text);
    }
    return s;
}

int main(int argc, char **argv) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = NULL;
    fxs_interpreter *it = NULL;
    fxs_tensor *t[2] = {NULL, NULL};
    fxs_interpreter_options opt = {.methods = {.run_node = shape_prop}, .mode = FXS_RUN_META};
    fxs_status s = fxs_load(ctx, argc > 1 ? argv[1] : "samples/testmodel.fx", NULL, &m);
    s = s ? s : fxs_tensor_new_meta(ctx, FXS_FLOAT32, 4, (int64_t[]){1, 3, 16, 16}, &t[0]);
    s = s ? s : fxs_tensor_new_meta(ctx, FXS_FLOAT32, 4, (int64_t[]){1, 2, 8, 8}, &t[1]);
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
