/* modules.c: print(model), and the whole file: module tree, declarations, graph. */
#include <string.h>

#include "base/pytext.h"
#include "emit/format.h"
#include "ir/pytree.h"

static void indent(fxs_buf *b, size_t depth) { fxs_buf_fill(b, ' ', 2 * depth); }

/* The module's arguments; `all`: those too that print(model) does not show. */
static void put_arguments(fxs_buf *b, const fxs_module *m, bool all) {
    size_t at = b->len, n = fxs_value_len(&m->kwargs);
    fxs_buf_layer_args(b, m);
    for (size_t i = n - m->nhidden; all && m->extra && i < n; i++) {
        fxs_buf_puts(b, b->len > at ? ", " : "");
        fxs_buf_printf(b, "%s=", fxs_value_text(fxs_value_key(&m->kwargs, i)));
        fxs_buf_node_repr(b, fxs_value_item(&m->kwargs, i));
    }
}

/* Lines of extra_repr inside a block. */
static void put_extra_lines(fxs_buf *b, const fxs_module *m, size_t depth, bool all) {
    fxs_buf extra = {0};
    put_arguments(&extra, m, all);
    for (const char *s = extra.data ? extra.data : ""; *s;) {
        size_t n = strcspn(s, "\n");
        indent(b, depth);
        fxs_buf_add(b, s, n);
        fxs_buf_putc(b, '\n');
        s += n + (s[n] == '\n');
    }
    b->failed |= extra.failed;
    fxs_buf_free(&extra);
}

static void put_module(fxs_buf *b, const fxs_module *m, size_t depth, bool all) {
    bool block = m->nchildren > 0 || (m->extra && strchr(m->extra, '\n'));
    fxs_buf_puts(b, m->class_name);
    fxs_buf_putc(b, '(');
    if (!block) {
        put_arguments(b, m, all);
        fxs_buf_puts(b, ")\n");
        return;
    }
    fxs_buf_putc(b, '\n');
    put_extra_lines(b, m, depth + 1, all);
    for (size_t i = 0; i < m->nchildren; i++) {
        indent(b, depth + 1);
        fxs_buf_printf(b, "(%s): ", m->children[i].name);
        put_module(b, m->children[i].module, depth + 1, all);
    }
    indent(b, depth);
    fxs_buf_puts(b, ")\n");
}

fxs_status fxs_module_print(const fxs_module *m, char **text, size_t *len) {
    fxs_buf b = {0};
    put_module(&b, m, 0, false);
    return fxs_buf_give(m->ctx, &b, text, len);
}

typedef struct declare_user {
    fxs_buf *out;
    fxs_map shared; /* address of a shared parameter -> the dotted name it was declared under */
    fxs_arena arena;
} declare_user;

static void put_dotted(fxs_buf *b, const char *path, const char *name) {
    fxs_buf_printf(b, "%s%s%s", path, *path ? "." : "", name);
}

/* How the values are made, where that is not how a declared tensor's are. */
static void put_init(fxs_buf *b, const fxs_parameter *p) {
    static const char *const words[] = {
        [FXS_INIT_ZEROS] = " zeros", [FXS_INIT_ONES] = " ones", [FXS_INIT_NORMAL] = " normal"};
    bool usual = p->is_buffer ? p->init == FXS_INIT_ZEROS
                              : p->init == FXS_INIT_UNIFORM && p->bound == FXS_DECLARED_BOUND;
    if (usual || p->given || p->declared)
        return;
    if (p->init == FXS_INIT_UNIFORM)
        fxs_buf_printf(b, " uniform(%.17g)", p->bound);
    else
        fxs_buf_puts(b, words[p->init]);
}

static fxs_status declare_module(void *user, const char *path, fxs_module *m) {
    declare_user *u = user;
    for (size_t i = 0; i < m->nattributes; i++) {
        const fxs_parameter *p = m->attributes[i].param;
        const char *key = (const char *)&m->attributes[i].param;
        void **first = p->refs > 1 ? fxs_map_at(&u->shared, key, sizeof p) : NULL;
        if (p->refs > 1 && !first) {
            fxs_buf name = {0};
            put_dotted(&name, path, m->attributes[i].name);
            char *kept = name.data ? fxs_arena_dup(&u->arena, name.data, name.len) : NULL;
            fxs_buf_free(&name);
            if (!kept || !fxs_map_put(&u->shared, key, sizeof p, kept))
                return fxs_fail_memory(m->ctx);
        }
        if (!first && p->implied && !p->declared && p->made_for == m)
            continue;
        fxs_buf_puts(u->out, p->is_buffer ? "buffer " : "parameter ");
        put_dotted(u->out, path, m->attributes[i].name);
        if (first) {
            fxs_buf_printf(u->out, " = %s\n", (const char *)*first);
            continue;
        }
        fxs_buf_puts(u->out, ": torch.");
        fxs_buf_tensor(u->out, p->spec);
        put_init(u->out, p);
        fxs_buf_putc(u->out, '\n');
    }
    return FXS_OK;
}

/* ---- graphs, with what print(graph) does not tell
 * ------------------------------------------------------------------------------------------ */

static fxs_status put_wraps(fxs_buf *b, const fxs_graph *g) {
    fxs_map seen = {0};
    fxs_status s = FXS_OK;
    for (const fxs_node *n = fxs_graph_first(g); n && s == FXS_OK; n = fxs_node_next(n)) {
        if (!n->wrapped || fxs_map_get(&seen, n->target))
            continue;
        fxs_buf_puts(b, "torch.fx.wrap(");
        fxs_buf_quoted(b, n->target, strlen(n->target));
        fxs_buf_puts(b, ")\n");
        if (!fxs_map_put(&seen, n->target, strlen(n->target), (void *)n))
            s = fxs_fail_memory(g->ctx);
    }
    fxs_map_free(&seen);
    return s;
}

/* "graph(self, a = ('*', ['*'])) -> {'s': '*'}:", or "graph() -> TYPE:" */
static void put_header(fxs_buf *b, const fxs_graph *g) {
    const fxs_pytree *t = g->pytree;
    const fxs_node *last = g->root.prev;
    fxs_buf_printf(b, "graph(%s", t && t->bound ? "self" : "");
    for (size_t i = 0; t && i < t->nparams; i++) {
        fxs_buf_printf(b, "%s%s = ", i || t->bound ? ", " : "", t->params[i]);
        fxs_buf_repr(b, fxs_value_item(&t->inputs, i), &(fxs_repr){0});
    }
    fxs_buf_puts(b, ")");
    if (t) {
        fxs_buf_puts(b, " -> ");
        fxs_buf_repr(b, &t->output, &(fxs_repr){0});
    } else if (last->kind == FXS_OUTPUT && last != &g->root && last->type) {
        fxs_buf_printf(b, " -> %s", last->type);
    }
    fxs_buf_puts(b, ":\n");
}

typedef struct graph_user {
    fxs_buf *out;
    unsigned flags;
} graph_user;

static fxs_status put_graph(void *user, const char *path, fxs_module *m) {
    graph_user *u = user;
    fxs_origin before = {0};
    if (!m->graph)
        return FXS_OK;
    FXS_TRY(put_wraps(u->out, m->graph));
    fxs_buf_printf(u->out, "%s%s", path, *path ? "." : "");
    put_header(u->out, m->graph);
    for (const fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        bool quoted = fxs_needs_quotes(n);
        fxs_buf_origin(u->out, n, &before);
        fxs_buf_puts(u->out, quoted ? "    # with quotes\n    " : "    ");
        fxs_buf_node_line(u->out, n, u->flags | (quoted ? FXS_LINE_QUOTED : 0));
        fxs_buf_putc(u->out, '\n');
    }
    return FXS_OK;
}

fxs_status fxs_module_print_file(const fxs_module *m, unsigned flags, char **text, size_t *len) {
    fxs_buf b = {0};
    declare_user u = {.out = &b};
    put_module(&b, m, 0, true);
    fxs_status s = fxs_module_walk((fxs_module *)m, declare_module, &u);
    fxs_map_free(&u.shared);
    fxs_arena_clear(&u.arena);
    if (s == FXS_OK)
        s = fxs_module_walk((fxs_module *)m, put_graph, &(graph_user){&b, flags});
    if (s == FXS_OK)
        return fxs_buf_give(m->ctx, &b, text, len);
    fxs_buf_free(&b);
    return s;
}
