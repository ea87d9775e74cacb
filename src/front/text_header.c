/* text_header.c: what a model file says of a graph beside what print(graph) gives: whose graph it
 * is, the type that it returns, the trees that its callers pass, and the functions that
 * torch.fx.wrap was told of. Called by text.c at the line that begins a graph. */
#include <string.h>

#include "front/text.h"
#include "ir/pytree.h"

/* Names of torch.fx.wrap('NAME'), for the graph that follows. */
struct fxs_text_wrap {
    const char *name;
    struct fxs_text_wrap *next;
};

bool fxs_text_is_wrap(const char *line) { return strncmp(line, "torch.fx.wrap(", 14) == 0; }

fxs_status fxs_text_wrap_line(fxs_text *t, struct fxs_text_wrap **list) {
    struct fxs_text_wrap *w = FXS_NEW(t->arena, struct fxs_text_wrap);
    fxs_value name;
    if (!w)
        return fxs_fail_memory(t->ctx);
    fxs_text_accept(t, "torch.fx.wrap(");
    FXS_TRY(fxs_text_value(t, FXS_IN_REPR, 0, &name));
    if (name.tag != FXS_V_STR || !fxs_text_accept(t, ")"))
        return fxs_text_expected(t, "the name of a function in quotes, and ')'");
    *w = (struct fxs_text_wrap){.name = fxs_value_text(&name), .next = *list};
    *list = w;
    return FXS_OK;
}

size_t fxs_text_graph_path(const char *line, bool *is_graph) {
    size_t n = 0;
    while (line[n] && !strchr(" \t\r\n()=:,", line[n]))
        n++;
    *is_graph = line[n] == '(' && ((n == 5 && memcmp(line, "graph", 5) == 0) ||
                                   (n > 6 && memcmp(line + n - 6, ".graph", 6) == 0));
    return *is_graph && n > 6 ? n - 6 : 0;
}

/* ---- the header: graph(self, a = ('*', ['*'])) -> TYPE:
 * ------------------------------------------------------------------------------------------------
 */

static fxs_status tree_param(fxs_text *t, const char **name, fxs_value *spec) {
    size_t stars = strspn(t->at, "*"), n = fxs_word_len(t->at + stars);
    if (n == 0 || stars > 2)
        return fxs_text_expected(t, "the name of a parameter");
    *name = fxs_arena_dup(t->arena, t->at, stars + n);
    if (!*name)
        return fxs_fail_memory(t->ctx);
    t->at += stars + n;
    if (!fxs_text_accept(t, " = "))
        return fxs_text_expected(t, "' = ' and the tree of the parameter");
    return fxs_text_value(t, FXS_IN_REPR, 0, spec);
}

static fxs_status read_trees(fxs_text *t, fxs_graph *g, fxs_pytree **out) {
    const char *names[FXS_MAX_ARGS];
    fxs_value specs[FXS_MAX_ARGS];
    size_t n = 0;
    bool bound = fxs_text_accept(t, "self"), first = !bound;
    while (*t->at != ')') {
        if (!first && !fxs_text_accept(t, ", "))
            return fxs_text_expected(t, "', ' or ')'");
        first = false;
        if (n == FXS_MAX_ARGS)
            return fxs_text_fail(t, t->at, "more than %d parameters", FXS_MAX_ARGS);
        FXS_TRY(tree_param(t, &names[n], &specs[n]));
        n++;
    }
    FXS_TRY(fxs_pytree_new(g, n, out));
    (*out)->bound = bound;
    for (size_t i = 0; i < n; i++) {
        (*out)->params[i] = fxs_arena_dup(&g->arena, names[i], strlen(names[i]));
        if (!(*out)->params[i])
            return fxs_fail_memory(t->ctx);
        FXS_TRY(fxs_pytree_spec(g, &specs[i], &(*out)->inputs.u.seq->items[i]));
    }
    return FXS_OK;
}

/* " -> TYPE:", where a type may have any text in it. */
static fxs_status returned_type(fxs_text *t, const char **type) {
    size_t n = strcspn(t->at, "\r\n");
    while (n && t->at[n - 1] != ':')
        n--;
    if (n < 2)
        return fxs_text_expected(t, "a type and ':'");
    *type = fxs_arena_dup(t->arena, t->at, n - 1);
    t->at += n - 1;
    return *type ? FXS_OK : fxs_fail_memory(t->ctx);
}

static fxs_status header(fxs_text *t, fxs_graph *g, fxs_pytree **tree, const char **type) {
    fxs_value output;
    if (*t->at == ')' || *t->at == '%') /* the inputs, as torch 1.5 has them */
        t->at += strcspn(t->at, ")\n");
    else
        FXS_TRY(read_trees(t, g, tree));
    if (!fxs_text_accept(t, ")"))
        return fxs_text_expected(t, "'):'");
    if (*tree) {
        if (!fxs_text_accept(t, " -> "))
            return fxs_text_expected(t, "' -> ' and the tree of the output");
        FXS_TRY(fxs_text_value(t, FXS_IN_REPR, 0, &output));
        FXS_TRY(fxs_pytree_spec(g, &output, &(*tree)->output));
    } else if (fxs_text_accept(t, " -> ")) {
        FXS_TRY(returned_type(t, type));
    }
    return fxs_text_accept(t, ":") ? FXS_OK : fxs_text_expected(t, "'):'");
}

static size_t count_placeholders(const fxs_graph *g) {
    size_t n = 0;
    for (const fxs_node *p = fxs_graph_first(g); p; p = fxs_node_next(p))
        n += p->kind == FXS_PLACEHOLDER;
    return n;
}

fxs_status fxs_text_whole_graph(fxs_text *t, fxs_graph *g, const struct fxs_text_wrap *wraps) {
    const char *start = t->at, *type = NULL;
    fxs_pytree *tree = NULL;
    FXS_TRY(header(t, g, &tree, &type));
    FXS_TRY(fxs_text_graph(t, g));
    for (fxs_node *n = type || wraps ? fxs_graph_first(g) : NULL; n; n = fxs_node_next(n)) {
        if (n->kind == FXS_OUTPUT && type) {
            n->type = fxs_arena_dup(&g->arena, type, strlen(type));
            if (!n->type)
                return fxs_fail_memory(t->ctx);
        }
        for (const struct fxs_text_wrap *w = wraps; w && n->kind == FXS_CALL_FUNCTION; w = w->next)
            n->wrapped = n->wrapped || strcmp(w->name, n->target) == 0;
    }
    size_t leaves = tree ? fxs_pytree_leaves(&tree->inputs) : 0;
    if (tree && leaves != count_placeholders(g))
        return fxs_text_fail(t, start, "trees of %zu leaves for %zu placeholders", leaves,
                             count_placeholders(g));
    g->pytree = tree;
    return FXS_OK;
}
