/* mlp.c: the first program: writes a network, traces it, changes its graph, prints graph and code,
 * runs it, draws it. usage: sample-mlp [PICTURE.svg] */
#include <stdio.h>
#include <string.h>

#include "fxops.h"
#ifdef FXS_HAVE_RENDER
#include "fxrender.h"
#endif

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_relu(fxs_call(self, "hidden", x[0]));
    return fxs_add(fxs_call(self, "out", y), fxs_attr(self, "shift"));
}

static fxs_module *mlp(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "MLP");
    fxs_nn_add(m, "hidden", "Linear(16, 32)");
    fxs_nn_add(m, "out", "Linear(32, 4)");
    fxs_nn_parameter(m, "shift", "float32[4]");
    fxs_nn_forward(m, "x", forward, NULL);
    return m;
}

/* Puts a gelu in the place of each relu. */
static fxs_status relu_to_gelu(fxs_graph *g) {
    fxs_status s = FXS_OK;
    for (fxs_node *n = fxs_graph_first(g), *gelu; n && s == FXS_OK; n = fxs_node_next(n)) {
        if (strcmp(fxs_node_target(n), "torch.nn.functional.relu") != 0)
            continue;
        s = fxs_graph_inserting_after(g, n, NULL);
        s = s ? s : fxs_graph_call_function(g, "torch._C._nn.gelu", fxs_node_args(n), NULL, &gelu);
        s = s ? s : fxs_node_replace_all_uses_with(n, gelu, NULL, NULL, false, NULL);
        s = s ? s : fxs_graph_erase_node(g, n);
    }
    return s;
}

static fxs_status show(fxs_module *m, const char *picture) {
    char *graph = NULL, *code = NULL, *table = NULL;
    fxs_status s = fxs_graph_print(fxs_module_graph(m), 0, &graph, NULL);
    s = s ? s : fxs_graph_python_code(fxs_module_graph(m), 0, &code, NULL);
    s = s ? s : fxs_module_print_table(m, FXS_TABLE_TEXT, &table, NULL);
    if (!s)
        printf("%s%s\n%s", graph, code, table);
#ifdef FXS_HAVE_RENDER
    if (picture)
        s = s ? s : fxs_draw(m, NULL, &picture, 1, NULL);
#else
    (void)picture;
#endif
    fxs_free(graph);
    fxs_free(code);
    fxs_free(table);
    return s;
}

int main(int argc, char **argv) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *model = mlp(ctx), *traced = NULL;
    fxs_inputs *in = NULL;
    fxs_status s = fxs_trace(ctx, model, NULL, &traced);
    s = s ? s : relu_to_gelu(fxs_module_graph(traced));
    s = s ? s : fxs_inputs_new(ctx, &in);
    s = s ? s : fxs_inputs_add(in, "x=8x16");
    s = s ? s
          : fxs_run(traced, in, &(fxs_run_options){.mode = FXS_RUN_EXECUTE, .stats = true}, NULL);
    s = s ? s : show(traced, argc > 1 ? argv[1] : NULL);
    if (s)
        fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
    fxs_inputs_free(in);
    fxs_module_unref(traced);
    fxs_module_unref(model);
    fxs_ctx_free(ctx);
    return s != FXS_OK;
}
