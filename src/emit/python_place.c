/* python_place.c: the stack trace of a node that has none, but knows its file and line: a model
 * that was traced from its source. Its text is what torch.fx keeps with record_stack_traces. */
#include <stdio.h>
#include <string.h>

#include "emit/python.h"

enum { MOST_BYTES = 16 << 20 };

/* The whole file in the arena, NULL when it can't be read; the last one is kept. */
static const char *source_of(fxs_py *p, const char *path) {
    if (p->source_path && strcmp(p->source_path, path) == 0)
        return p->source;
    fxs_buf b = {0};
    char part[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    while (f && b.len < MOST_BYTES && (n = fread(part, 1, sizeof part, f)) > 0)
        fxs_buf_add(&b, part, n);
    if (f)
        fclose(f);
    p->source_path = path;
    p->source = b.len && !b.failed ? fxs_arena_dup(&p->arena, b.data, b.len) : NULL;
    fxs_buf_free(&b);
    return p->source;
}

const char *fxs_py_node_trace(fxs_py *p, const fxs_node *n) {
    if (n->stack_trace || !n->file || n->line <= 0)
        return n->stack_trace;
    const char *line = source_of(p, n->file);
    for (int i = 1; line && i < n->line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    size_t len = line ? strcspn(line, "\r\n") : 0;
    fxs_buf b = {0};
    fxs_buf_printf(&b, "  File \"%s\", line %d, in forward\n    ", n->file, n->line);
    fxs_buf_add(&b, len ? line : "?", len ? len : 1);
    const char *text = b.failed ? NULL : fxs_arena_dup(&p->arena, b.data, b.len);
    p->failed |= !text;
    fxs_buf_free(&b);
    return text;
}
