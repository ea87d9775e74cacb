/* first.c: the program of docs/start.md: a model from a file, each sigmoid made a tanh, printed as
 * Python. usage: sample-first MODEL.fx */
#include <stdio.h>
#include <string.h>

#include "fxscope.h"

int main(int argc, char **argv) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = NULL;
    fxs_node *n, *tanh = NULL;
    char *text = NULL;
    fxs_status s = fxs_load(ctx, argc > 1 ? argv[1] : "-", NULL, &m);
    for (n = s ? NULL : fxs_graph_first(fxs_module_graph(m)); n && !s; n = fxs_node_next(n)) {
        if (strcmp(fxs_node_target(n), "torch.sigmoid") != 0)
            continue; /* each sigmoid becomes a tanh */
        fxs_graph *g = fxs_node_graph(n);
        s = fxs_graph_inserting_after(g, n, NULL);
        s = s ? s : fxs_graph_call_function(g, "torch.tanh", fxs_node_args(n), NULL, &tanh);
        s = s ? s : fxs_node_replace_all_uses_with(n, tanh, NULL, NULL, false, NULL);
    }
    s = s ? s : fxs_pass_run(m, "dead-code", NULL);
    s = s ? s : fxs_graph_python_code(fxs_module_graph(m), 0, &text, NULL);
    puts(s ? fxs_ctx_error(ctx) : text);
    fxs_free(text);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
    return s != FXS_OK;
}
