/* origin.c: where nodes come from, as comments in a model file: the modules whose forward recorded
 * them, the place in a source, the stack of the call. Each holds for the nodes behind it until the
 * next one of its kind. The text front end reads them back (text_origin.c). Called by modules.c.
 *
 *     # in TestModel > main: Sequential > main.0: Block (call 2)
 *     # at model.py:12 */
#include <string.h>

#include "base/pytext.h"
#include "emit/format.h"

static bool is_clean(const char *s) {
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

/* What needs no quotes: no blank and nothing that ends it. */
static bool is_plain(const char *s) {
    size_t n = strlen(s);
    return n > 0 && strcspn(s, " :\"'\\") == n && is_clean(s);
}

static void put_word(fxs_buf *b, const char *s) {
    if (is_plain(s))
        fxs_buf_puts(b, s);
    else
        fxs_buf_quoted(b, s, strlen(s));
}

/* The root's path is left out; but a class alone, which is not the class at the top of the file,
 * would read as a remark. */
static void put_scope(fxs_buf *b, const fxs_scope *s, const char *class_name) {
    if (s->outer) {
        put_scope(b, s->outer, s->outer->class_name);
        fxs_buf_puts(b, " > ");
    }
    bool alone = !s->outer && !s->call && (!class_name || strcmp(s->class_name, class_name) != 0);
    if (*s->path || s->outer || alone) {
        put_word(b, s->path);
        fxs_buf_puts(b, ": ");
    }
    put_word(b, s->class_name);
    if (s->call)
        fxs_buf_printf(b, " (call %u)", s->call + 1);
}

/* "in forward": the stack of the call is that one line, as the tracer makes it. */
static void put_place(fxs_buf *b, const char *file, int line, bool in_forward) {
    fxs_buf_puts(b, "    # at");
    if (file) {
        fxs_buf_putc(b, ' ');
        if (*file && !strchr("'\" ", *file) && is_clean(file))
            fxs_buf_puts(b, file);
        else
            fxs_buf_quoted(b, file, strlen(file));
        fxs_buf_printf(b, ":%d%s", line, in_forward ? " in forward" : "");
    }
    fxs_buf_putc(b, '\n');
}

static void put_stack(fxs_buf *b, const char *stack) {
    fxs_buf_puts(b, stack ? "    # stack " : "    # stack");
    if (stack)
        fxs_buf_quoted(b, stack, strlen(stack));
    fxs_buf_putc(b, '\n');
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_line_in_forward(const char *stack, const char *file, int line, fxs_buf *b) {
    fxs_buf want = {0};
    fxs_buf_stack_line(&want, file, line);
    bool is = want.data && strcmp(want.data, stack) == 0;
    b->failed = b->failed || want.failed;
    fxs_buf_free(&want);
    return is;
}

static const char *class_of(const fxs_graph *g) { return g->owner ? g->owner->class_name : NULL; }

void fxs_buf_origin(fxs_buf *b, const fxs_node *n, fxs_origin *before) {
    fxs_origin now = {.scope = n->scope, .file = n->file, .stack = n->stack_trace};
    now.line = n->file ? n->line : 0;
    if (now.scope != before->scope) {
        fxs_buf_puts(b, now.scope ? "    # in " : "    # in");
        if (now.scope)
            put_scope(b, now.scope, class_of(n->graph));
        fxs_buf_putc(b, '\n');
    }
    bool moved = !same_text(now.file, before->file) || now.line != before->line;
    bool implied =
        moved && now.file && now.stack && is_line_in_forward(now.stack, now.file, now.line, b);
    if (moved)
        put_place(b, now.file, now.line, implied);
    if (!implied && !same_text(now.stack, moved ? NULL : before->stack))
        put_stack(b, now.stack);
    *before = now;
}
