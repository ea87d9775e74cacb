/* legalize.c: nodes in topological order, as torch.fx's legalize_graph gives it: Kahn's algorithm
 * with a queue. opt.c lists it. */
#include "pass/opt.h"

static fxs_status has_cycle(const fxs_graph *g, const size_t *waits) {
    fxs_buf names = {0};
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (waits[n->index])
            fxs_buf_printf(&names, names.len ? ", %s" : "%s", n->name);
    fxs_status s =
        names.failed
            ? fxs_fail_memory(g->ctx)
            : fxs_fail(g->ctx, FXS_ELINT, "Input graph has cycles, unable to add [%s]", names.data);
    fxs_buf_free(&names);
    return s;
}

static fxs_status sort_nodes(fxs_graph *g, fxs_node **queue, size_t *waits, bool *changed) {
    size_t head = 0, tail = 0;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        waits[n->index] = n->ninputs;
        if (!n->ninputs)
            queue[tail++] = n;
    }
    while (head < tail) {
        const fxs_node *n = queue[head++];
        for (size_t i = 0; i < n->nusers; i++)
            if (--waits[n->users[i]->index] == 0)
                queue[tail++] = n->users[i];
    }
    if (tail < g->len)
        return has_cycle(g, waits);
    for (size_t i = 0; i < tail; i++) {
        *changed |= queue[i]->index != i;
        FXS_TRY(fxs_node_prepend(&g->root, queue[i]));
    }
    return FXS_OK;
}

fxs_status fxs_pass_legalize(fxs_module *m, bool *changed) {
    fxs_graph *g = m->graph;
    fxs_arena a = {0};
    fxs_node **queue = FXS_NEW_N(&a, fxs_node *, g->len);
    size_t *waits = FXS_NEW_N(&a, size_t, g->len);
    fxs_graph_number(g);
    fxs_status s = queue && waits ? sort_nodes(g, queue, waits, changed) : fxs_fail_memory(g->ctx);
    fxs_arena_clear(&a);
    return s;
}
