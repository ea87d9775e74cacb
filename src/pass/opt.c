/* opt.c: the table of passes, found by name; and the passes that are one step. */
#include "pass/opt.h"

#include <string.h>

#include "pass/effect.h"

typedef struct pass_row {
    const char *name, *text;
    fxs_pass_fn *run;
} pass_row;

static const pass_row rows[] = {
#define X(id, name, text) {name, text, fxs_pass_##id},
    FXS_PASS_MAP(X)
#undef X
};
enum { NROWS = sizeof rows / sizeof *rows };

const char *fxs_pass_name(size_t i) { return i < NROWS ? rows[i].name : NULL; }
const char *fxs_pass_text(size_t i) { return i < NROWS ? rows[i].text : NULL; }

static fxs_status no_such_pass(fxs_ctx *ctx, const char *name) {
    fxs_buf known = {0};
    for (size_t i = 0; i < NROWS; i++)
        fxs_buf_printf(&known, i ? ", %s" : "%s", rows[i].name);
    fxs_status s = known.failed ? fxs_fail_memory(ctx)
                                : fxs_fail(ctx, FXS_ENOTFOUND, "there is no pass '%s'; known: %s",
                                           name, known.data);
    fxs_buf_free(&known);
    return s;
}

fxs_status fxs_pass_run(fxs_module *gm, const char *name, bool *changed) {
    bool ignored;
    const pass_row *row = NULL;
    for (size_t i = 0; i < NROWS; i++)
        if (name && strcmp(rows[i].name, name) == 0)
            row = &rows[i];
    if (!changed)
        changed = &ignored;
    *changed = false;
    FXS_TRY(fxs_need_text(gm->ctx, name, "fxs_pass_run: name"));
    if (!row)
        return no_such_pass(gm->ctx, name);
    if (!gm->graph)
        return fxs_fail(gm->ctx, FXS_EINVAL, "module %s has no graph", gm->class_name);
    if (row->run(gm, changed) != FXS_OK || fxs_graph_lint(gm->graph) != FXS_OK)
        return fxs_fail_where(gm->ctx, "pass %s", name);
    return FXS_OK;
}

/* ---- passes of one step
 * --------------------------------------------------------------------------------- */

/* As fxs_graph_eliminate_dead_code, but what writes into a tensor stays: torch.fx 1.13 drops an
 * in-place method whose result nobody uses. */
fxs_status fxs_pass_dead_code(fxs_module *m, bool *changed) {
    fxs_graph *g = m->graph;
    fxs_arena a = {0};
    fxs_effects e;
    FXS_TRY(fxs_graph_lint(g));
    fxs_status s = fxs_effects_find(m, &a, &e);
    for (fxs_node *n = g->root.prev; n != &g->root && s == FXS_OK; n = n->prev) {
        bool impure = true;
        if (n->nusers || e.of[n->index] == FXS_WRITES)
            continue;
        s = fxs_node_is_impure(n, &impure);
        if (s == FXS_OK && !impure) {
            s = fxs_graph_erase_node(g, n);
            *changed = true;
        }
    }
    fxs_arena_clear(&a);
    return s;
}

fxs_status fxs_pass_unused_modules(fxs_module *m, bool *changed) {
    size_t deleted;
    FXS_TRY(fxs_module_delete_all_unused_submodules(m, &deleted));
    *changed = deleted > 0;
    return FXS_OK;
}
