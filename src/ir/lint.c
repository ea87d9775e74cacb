/* lint.c: torch.fx's Graph.lint: each check, in its order, with its message. */
#include <string.h>

#include "ir/module.h"

static bool names_module(const fxs_node *n) {
    return n->kind == FXS_GET_ATTR || n->kind == FXS_CALL_MODULE;
}

/* The printout of a graph that torch adds to its message is left out: the place is named instead.
 * Two of torch's checks have nothing to find: an argument of another graph is refused when it is
 * given, and each name is given once. */
static fxs_status bad_argument(fxs_node *n, fxs_node *arg) {
    return fxs_fail(n->graph->ctx, FXS_ELINT,
                    "Argument '%s' of Node '%s' was used before it has been defined! Please check "
                    "that Nodes in the graph are "
                    "topologically ordered",
                    arg->name, n->name);
}

/* Says whether there are nodes whose targets are to be checked. */
static fxs_status check_order(fxs_graph *g, bool *targets) {
    uint64_t stamp = fxs_graph_stamp(g);
    *targets = false;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        for (size_t i = 0; i < n->ninputs; i++)
            if (n->inputs[i]->mark != stamp)
                return bad_argument(n, n->inputs[i]);
        n->mark = stamp;
        *targets = *targets || names_module(n);
    }
    return FXS_OK;
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
    bool targets;
    FXS_TRY(check_order(g, &targets));
    for (fxs_node *n = g->owner && targets ? fxs_graph_first(g) : NULL; n; n = fxs_node_next(n))
        if (names_module(n))
            FXS_TRY(check_target(n));
    return FXS_OK;
}
