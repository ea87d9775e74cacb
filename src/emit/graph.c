/* graph.c: print(graph), format_node and print_tabular. */
#include <string.h>

#include "emit/format.h"
#include "emit/grid.h"

fxs_status fxs_graph_print(const fxs_graph *g, unsigned flags, char **text, size_t *len) {
    fxs_buf b = {0};
    fxs_buf_puts(&b, "graph():\n");
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        fxs_buf_puts(&b, "    ");
        fxs_buf_node_line(&b, n, flags);
        fxs_buf_putc(&b, '\n');
    }
    return fxs_buf_give(g->ctx, &b, text, len);
}

fxs_status fxs_node_format(const fxs_node *n, unsigned flags, char **text) {
    fxs_buf b = {0};
    fxs_buf_node_line(&b, n, flags);
    return fxs_buf_give(n->graph->ctx, &b, text, NULL);
}

/* Python prints a callable with its address; here it goes without, so that the same graph prints
 * the same. */
static void put_callable(fxs_buf *b, const char *target) {
    const char *dot = strrchr(target, '.');
    const char *name = dot ? dot + 1 : target;
    if (strncmp(target, "operator.", 9) == 0 || strncmp(target, "builtins.", 9) == 0 ||
        strncmp(target, "math.", 5) == 0 || strncmp(target, "torch._C.", 9) == 0)
        fxs_buf_printf(b, "<built-in function %s>", name);
    else if (dot && dot - target == 5 && strncmp(target, "torch", 5) == 0)
        fxs_buf_printf(b, "<built-in method %s of type object>", name);
    else
        fxs_buf_printf(b, "<function %s>", name);
}

fxs_status fxs_graph_print_tabular(const fxs_graph *g, char **text, size_t *len) {
    static const char *const headers[] = {"opcode", "name", "target", "args", "kwargs"};
    fxs_grid grid;
    FXS_TRY(fxs_grid_init(g->ctx, &grid, 5, headers));
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        fxs_buf *row = fxs_grid_row(&grid);
        if (!row)
            break;
        fxs_buf_puts(&row[0], fxs_kind_name(n->kind));
        fxs_buf_puts(&row[1], n->name);
        if (n->kind == FXS_CALL_FUNCTION)
            put_callable(&row[2], n->target);
        else
            fxs_buf_puts(&row[2], n->target);
        fxs_buf_node_repr(&row[3], &n->args);
        fxs_buf_node_repr(&row[4], &n->kwargs);
    }
    fxs_buf b = {0};
    fxs_grid_simple(&grid, &b);
    fxs_grid_free(&grid);
    return fxs_buf_give(g->ctx, &b, text, len);
}
