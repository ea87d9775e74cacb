/* mlp.c: the first program: writes a network, traces it, changes its graph, prints graph and code,
 * runs it, draws it. usage: sample-mlp [PICTURE.svg] */
#include <stdio.h>
#include <string.h>

#include "fxops.h"
#include "fxrender.h"

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

/* Each relu becomes a gelu, which has no argument inplace. */
static fxs_status relu_to_gelu(fxs_graph *g) {
    fxs_status s = FXS_OK;
    for (fxs_node *n = fxs_graph_first(g); n && s == FXS_OK; n = fxs_node_next(n)) {
        if (strcmp(fxs_node_target(n), "torch.nn.functional.relu") != 0)
            continue;
        s = fxs_node_set_target(n, "torch._C._nn.gelu");
        s = s ? s : fxs_node_set_args(n, fxs_node_args(n), NULL);
    }
    return s;
}

int main(int argc, char **argv) {
    const char *picture = argc > 1 ? argv[1] : NULL;
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *model = mlp(ctx), *traced = NULL;
    fxs_status s = fxs_trace(ctx, model, NULL, &traced);
    s = s ? s : relu_to_gelu(fxs_module_graph(traced));
    s = s ? s : fxs_graph_lint(fxs_module_graph(traced));
    s = s ? s : fxs_module_write(traced, "graph", stdout);
    s = s ? s : fxs_module_write(traced, "code", stdout);
    s = s ? s : fxs_run_text(traced, "x=8x16", &(fxs_run_options){.stats = true}, NULL);
    s = s ? s : fxs_module_write(traced, "table", stdout);
    if (picture && !s)
        s = fxs_draw(traced, NULL, &picture, 1, NULL);
    if (s)
        fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
    fxs_module_unref(traced);
    fxs_module_unref(model);
    fxs_ctx_free(ctx);
    return s != FXS_OK;
}
