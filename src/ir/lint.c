/* lint.c: torch.fx's Graph.lint: each check, in its order, with its message. */
#include <string.h>

#include "ir/module.h"

/* The printout of a graph that torch adds to its message is left out: the place is named instead.
 * That an argument is of another graph, which torch checks here, is refused when it is given. */
static fxs_status bad_argument(fxs_node *n, fxs_node *arg) {
    return fxs_fail(n->graph->ctx, FXS_ELINT,
                    "Argument '%s' of Node '%s' was used before it has been defined! Please check "
                    "that Nodes in the graph are "
                    "topologically ordered",
                    arg->name, n->name);
}

static fxs_status check_order(fxs_graph *g) {
    uint64_t stamp = fxs_graph_stamp(g);
    fxs_map names = {0};
    fxs_status s = FXS_OK;
    for (fxs_node *n = fxs_graph_first(g); n && s == FXS_OK; n = fxs_node_next(n)) {
        for (size_t i = 0; i < n->ninputs && s == FXS_OK; i++)
            if (n->inputs[i]->mark != stamp)
                s = bad_argument(n, n->inputs[i]);
        if (s == FXS_OK && fxs_map_at(&names, n->name, strlen(n->name)))
            s = fxs_fail(g->ctx, FXS_ELINT, "Node redefined name %s!", n->name);
        if (s == FXS_OK && !fxs_map_put(&names, n->name, strlen(n->name), n))
            s = fxs_fail_memory(g->ctx);
        n->mark = stamp;
    }
    fxs_map_free(&names);
    return s;
}

static fxs_status check_target(fxs_node *n) {
    fxs_lookup at = fxs_module_lookup(n->graph->owner, n->target);
    if (at.module || (at.param && n->kind == FXS_GET_ATTR))
        return FXS_OK;
    if (at.param) {
        const char *dot = strrchr(n->target, '.');
        return fxs_fail(n->graph->ctx, FXS_ELINT,
                        "Node %s target %s %s of %.*s does not reference an nn.Module", n->name,
                        n->target, dot ? dot + 1 : n->target, dot ? (int)(dot - n->target) : 0,
                        n->target);
    }
    return fxs_fail(n->graph->ctx, FXS_ELINT,
                    "Node %s target %s references nonexistent attribute %.*s of %.*s", n->name,
                    n->target, (int)at.missing_len, at.missing, (int)at.prefix_len, n->target);
}

fxs_status fxs_graph_lint(fxs_graph *g) {
    FXS_TRY(check_order(g));
    if (!g->owner)
        return FXS_OK;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (n->kind == FXS_GET_ATTR || n->kind == FXS_CALL_MODULE)
            FXS_TRY(check_target(n));
    return FXS_OK;
}
