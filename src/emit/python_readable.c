/* python_readable.c: a GraphModule and the GraphModules in it as Python classes with their
 * verbose code: what torch.fx's print_readable() shows. For reading: the classes have no __init__;
 * a file that runs is python_file.c's. Called by users. */
#include <string.h>

#include "emit/python.h"

static fxs_status put_class(const fxs_module *m, unsigned flags, int depth, fxs_buf *out);

/* torch.fx 1.13 fails where a child is a GraphModule; this is what it meant to write, and what 2.x
 * does. Other children are only called. */
static fxs_status put_children(const fxs_module *m, unsigned flags, int depth, fxs_buf *out) {
    fxs_status s = FXS_OK;
    for (size_t i = 0; i < m->nchildren && s == FXS_OK; i++) {
        fxs_buf child = {0};
        if (!m->children[i].module->graph)
            continue;
        s = put_class(m->children[i].module, flags, depth + 1, &child);
        fxs_buf_putc(out, '\n');
        if (s == FXS_OK)
            fxs_py_indent(out, child.data ? child.data : "", 4);
        fxs_buf_free(&child);
    }
    return s;
}

static fxs_status put_class(const fxs_module *m, unsigned flags, int depth, fxs_buf *out) {
    char *code;
    if (depth > FXS_MAX_DEPTH)
        return fxs_fail(m->ctx, FXS_ELIMIT, "GraphModules stand in each other deeper than %d",
                        FXS_MAX_DEPTH);
    FXS_TRY(fxs_graph_python_code(m->graph, flags, &code, NULL));
    fxs_buf_printf(out, "class %s(torch.nn.Module):\n", m->class_name);
    fxs_py_indent(out, code + strspn(code, "\n"), 4);
    fxs_free(code);
    FXS_TRY(fxs_buf_status(m->ctx, out));
    return put_children(m, flags, depth, out);
}

fxs_status fxs_module_print_readable(const fxs_module *m, unsigned flags, char **text,
                                     size_t *len) {
    fxs_buf out = {0};
    *text = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s has no graph, so it has no code",
                        m->class_name);
    fxs_status s = put_class(m, flags | FXS_CODE_VERBOSE, 0, &out);
    if (s == FXS_OK)
        return fxs_buf_give(m->ctx, &out, text, len);
    fxs_buf_free(&out);
    return s;
}
