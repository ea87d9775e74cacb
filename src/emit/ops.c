/* ops.c: the operator table and the layer classes, from the rows themselves. */
#include <string.h>

#include "emit/grid.h"
#include "emit/ops_probe.h"
#include "op/module_row.h"
#include "op/op.h"

static bool wanted(const char *filter, const char *family, const char *name, const char *torch) {
    return !filter || !*filter || strstr(name, filter) || strstr(family, filter) ||
           (torch && strstr(torch, filter));
}

/* META: sizes and types are found without values. A row without a kernel gives views, or values
 * that infer knows. */
static void add_modes(fxs_buf *b, const fxs_op *op, const fxs_op_facts *f) {
    fxs_buf_puts(b, f->asked && !f->without_values ? "EXECUTE" : "META EXECUTE");
    if (!op->kernel)
        fxs_buf_puts(b, " (no kernel)");
}

static fxs_status add_ops(fxs_grid *g, const char *filter) {
    for (const fxs_family *f = fxs_families; f->name; f++) {
        for (const fxs_op *op = f->ops; op && op->name; op++) {
            if (!wanted(filter, f->name, op->name, op->torch))
                continue;
            fxs_buf *row = fxs_grid_row(g);
            if (!row)
                return fxs_fail_memory(g->ctx);
            fxs_buf_puts(&row[0], f->name);
            fxs_buf_puts(&row[1], op->name);
            fxs_op_facts facts;
            FXS_TRY(fxs_op_find_facts(g->ctx, op, &facts));
            fxs_buf_op_types(&row[2], &facts);
            add_modes(&row[3], op, &facts);
            fxs_buf_puts(&row[4], op->schema);
            fxs_buf_puts(&row[5], op->torch ? op->torch : "");
        }
    }
    return FXS_OK;
}

static fxs_status add_layers(fxs_grid *g, const char *filter) {
    for (const fxs_family *f = fxs_families; f->name; f++) {
        for (const fxs_module_row *m = f->modules; m && m->name; m++) {
            if (!wanted(filter, f->name, m->name, m->call))
                continue;
            fxs_buf *row = fxs_grid_row(g);
            if (!row)
                return fxs_fail_memory(g->ctx);
            fxs_buf_puts(&row[0], f->name);
            fxs_buf_puts(&row[1], m->name);
            fxs_buf_puts(&row[2], m->hyper ? m->hyper : "");
            fxs_buf_puts(&row[3], m->call);
        }
    }
    return FXS_OK;
}

fxs_status fxs_print_ops(fxs_ctx *ctx, const char *filter, char **text, size_t *len) {
    static const char *const op_headers[] = {"family", "operator", "tensors",
                                             "modes",  "schema",   "spellings"};
    static const char *const layer_headers[] = {"family", "layer", "arguments", "forward"};
    fxs_grid ops, layers;
    fxs_buf b = {0};
    FXS_TRY(fxs_grid_init(ctx, &ops, 6, op_headers));
    FXS_TRY(fxs_grid_init(ctx, &layers, 4, layer_headers));
    fxs_status s = add_ops(&ops, filter);
    if (s == FXS_OK)
        s = add_layers(&layers, filter);
    if (s == FXS_OK && ops.rows)
        fxs_grid_simple(&ops, &b);
    if (s == FXS_OK && ops.rows && layers.rows)
        fxs_buf_putc(&b, '\n');
    if (s == FXS_OK && layers.rows)
        fxs_grid_simple(&layers, &b);
    if (s == FXS_OK)
        fxs_buf_printf(&b, "%s%zu operators, %zu layers\n", b.len ? "\n" : "", ops.rows,
                       layers.rows);
    fxs_grid_free(&ops);
    fxs_grid_free(&layers);
    if (s != FXS_OK) {
        fxs_buf_free(&b);
        return s;
    }
    return fxs_buf_give(ctx, &b, text, len);
}
