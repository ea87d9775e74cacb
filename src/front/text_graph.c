/* text_graph.c: the lines of print(graph), into nodes. Read twice: the first time for the nodes,
 * the second for their arguments, so that a graph whose order is wrong can be read and looked at
 * (lint says what is wrong). */
#include <ctype.h>
#include <string.h>

#include "front/text.h"

typedef struct graph_reader {
    fxs_text *t;
    fxs_graph *g;
    bool second;
    fxs_node *next; /* in the second pass: the node of the line to read */
    int line;       /* of t->at; counted along, so that long files stay linear */
    const char *line_at;
    fxs_text_origin origin; /* of the nodes to come */
} graph_reader;

static int line_of(graph_reader *r, const char *where) {
    const char *end;
    while (r->line_at < where &&
           (end = memchr(r->line_at, '\n', (size_t)(where - r->line_at))) != NULL) {
        r->line++;
        r->line_at = end + 1;
    }
    if (r->line_at < where)
        r->line_at = where;
    return r->line;
}

static fxs_status add_node(graph_reader *r, const char *where, fxs_kind kind, const char *target,
                           size_t target_len, const char *name, size_t name_len, const char *type,
                           size_t type_len) {
    fxs_text *t = r->t;
    char *copies[3] = {fxs_arena_dup(t->arena, target, target_len),
                       name ? fxs_arena_dup(t->arena, name, name_len) : NULL,
                       type ? fxs_arena_dup(t->arena, type, type_len) : NULL};
    fxs_node *n;
    if (!copies[0] || (name && !copies[1]) || (type && !copies[2]))
        return fxs_fail_memory(t->ctx);
    FXS_TRY(fxs_graph_create_node(r->g, kind, copies[0], NULL, NULL, copies[1], copies[2], &n));
    if (name && strcmp(n->name, copies[1]) != 0) {
        if (fxs_map_at(&r->g->names, copies[1], name_len))
            return fxs_text_fail(t, where, "a second node %%%s", copies[1]);
        return fxs_text_fail(t, where, "'%s' can't be a node's name: torch.fx would call it %s",
                             copies[1], n->name);
    }
    n->line = line_of(r, where);
    n->scope = r->origin.scope;
    n->stack_trace = r->origin.stack;
    n->file = r->origin.file;
    if (n->file)
        n->line = r->origin.line;
    return FXS_OK;
}

/* Arguments of the node in turn; in the first pass there is nothing to do. */
static fxs_status set_args(graph_reader *r, const fxs_value *args, const fxs_value *kwargs) {
    return r->second ? fxs_node_set_args(r->next, args, kwargs) : FXS_OK;
}

static fxs_status output_line(graph_reader *r) {
    fxs_text *t = r->t;
    const char *start = t->at;
    fxs_value v, args;
    t->at += 7;
    size_t n = strcspn(t->at, "\n");
    while (n && (t->at[n - 1] == ' ' || t->at[n - 1] == '\r'))
        n--;
    if (memchr("([{", *t->at, 3) || strncmp(t->at, "slice(", 6) == 0 ||
        strncmp(t->at, "torch.Size(", 11) == 0) {
        FXS_TRY(fxs_text_value(t, FXS_IN_REPR, 0, &v));
    } else { /* a bare value by str: a node's name, or a string without quotes */
        bool is_node = t->nodes && fxs_map_at(t->nodes, t->at, n);
        FXS_TRY(fxs_text_word_value(t, is_node ? FXS_IN_REPR : FXS_IN_CALL, t->at, n, &v));
        t->at += n;
    }
    if (!r->second)
        return add_node(r, start, FXS_OUTPUT, "output", 6, NULL, 0, NULL, 0);
    FXS_TRY(fxs_make_seq(t->ctx, t->arena, FXS_V_TUPLE, 1, &args));
    args.u.seq->items[0] = v;
    return set_args(r, &args, NULL);
}

/* The first of "[#users=" (*old) and "[num_users=" in the line; most nodes have no type before it.
 */
static const char *find_users(const char *at, bool *old) {
    *old = strncmp(at, "[#users=", 8) == 0;
    if (*old || strncmp(at, "[num_users=", 11) == 0)
        return at;
    size_t len = strcspn(at, "\n");
    const char *a = memmem(at, len, "[#users=", 8), *b = memmem(at, len, "[num_users=", 11);
    *old = a && (!b || a < b);
    return *old ? a : b;
}

/* "[#users=1]" or "[num_users=1]", with an optional type in front. The count is made anew, so it is
 * only read. */
static fxs_status users_and_type(fxs_text *t, const char **type, size_t *type_len) {
    *type = NULL;
    *type_len = 0;
    bool old;
    const char *users = find_users(t->at, &old);
    if (!users)
        return fxs_text_expected(t, "[#users=N] or [num_users=N]");
    *type_len = (size_t)(users - t->at);
    while (*type_len && t->at[*type_len - 1] == ' ')
        --*type_len;
    if (*type_len)
        *type = t->at;
    t->at = users + (old ? 8 : 11);
    t->at += strspn(t->at, "0123456789");
    if (!fxs_text_accept(t, "]"))
        return fxs_text_expected(t, "a number of users and ']'");
    return FXS_OK;
}

static bool read_kind(fxs_text *t, fxs_kind *out) {
    size_t n = fxs_word_len(t->at);
    for (int k = 0; k < FXS_KIND_COUNT; k++) {
        const char *name = fxs_kind_name((fxs_kind)k);
        if (k != FXS_OUTPUT && strlen(name) == n && memcmp(name, t->at, n) == 0) {
            *out = (fxs_kind)k;
            t->at += n;
            return true;
        }
    }
    return false;
}

/* The end of [target=...]: brackets inside are counted. */
static const char *target_end(const fxs_text *t) {
    int depth = 0;
    for (const char *s = t->at; s < t->end && *s != '\n'; s++) {
        if (*s == '[')
            depth++;
        else if (*s == ']' && depth-- == 0)
            return s;
    }
    return NULL;
}

static fxs_status call_args(graph_reader *r) {
    fxs_text *t = r->t;
    fxs_value args, kwargs;
    if (!fxs_text_accept(t, "(args = "))
        return fxs_text_expected(t, "'(args = '");
    if (*t->at != '(')
        return fxs_text_expected(t, "'(' and the positional arguments");
    const char *start = t->at;
    FXS_TRY(fxs_text_value(t, FXS_IN_CALL, 0, &args));
    if (args.tag != FXS_V_TUPLE)
        return fxs_text_fail(t, start,
                             "expected a tuple of arguments: a single one has a comma behind it");
    if (!fxs_text_accept(t, ", kwargs = "))
        return fxs_text_expected(t, "', kwargs = '");
    if (*t->at != '{')
        return fxs_text_expected(t, "'{' and the keyword arguments");
    FXS_TRY(fxs_text_value(t, FXS_IN_CALL, 0, &kwargs));
    if (!fxs_text_accept(t, ")"))
        return fxs_text_expected(t, "')'");
    return set_args(r, &args, &kwargs);
}

static fxs_status default_value(graph_reader *r) {
    fxs_text *t = r->t;
    fxs_value args;
    if (!fxs_text_accept(t, "(default="))
        return FXS_OK;
    FXS_TRY(fxs_make_seq(t->ctx, t->arena, FXS_V_TUPLE, 1, &args));
    const char *end = t->at + strcspn(t->at, "\n");
    while (end > t->at && end[-1] != ')')
        end--;
    if (end == t->at)
        return fxs_text_expected(t, "a default value and ')'");
    if (memchr("([{", *t->at, 3)) {
        FXS_TRY(fxs_text_value(t, FXS_IN_REPR, 0, &args.u.seq->items[0]));
    } else {
        FXS_TRY(fxs_text_word_value(t, FXS_IN_CALL, t->at, (size_t)(end - 1 - t->at),
                                    &args.u.seq->items[0]));
        t->at = end - 1;
    }
    if (!fxs_text_accept(t, ")"))
        return fxs_text_expected(t, "')'");
    return set_args(r, &args, NULL);
}

/* %name : TYPE [#users=N] = KIND[target=TARGET](...) */
static fxs_status node_line(graph_reader *r) {
    fxs_text *t = r->t;
    const char *start = t->at, *name = t->at + 1, *type = NULL;
    size_t name_len = fxs_word_len(name), type_len = 0;
    fxs_kind kind;
    t->at = name + name_len;
    if (name_len == 0)
        return fxs_text_expected(t, "a node's name behind '%'");
    if (!fxs_text_accept(t, " : "))
        return fxs_text_expected(t, "' : '");
    FXS_TRY(users_and_type(t, &type, &type_len));
    if (!fxs_text_accept(t, " = "))
        return fxs_text_expected(t, "' = '");
    if (!read_kind(t, &kind))
        return fxs_text_expected(
            t, "placeholder, get_attr, call_function, call_module or call_method");
    if (!fxs_text_accept(t, "[target="))
        return fxs_text_expected(t, "[target=");
    const char *end = target_end(t), *target = t->at;
    if (!end)
        return fxs_text_fail(t, t->at, "the target's ']' is missing");
    t->at = end + 1;
    if (!r->second)
        FXS_TRY(add_node(r, start, kind, target, (size_t)(end - target), name, name_len, type,
                         type_len));
    if (kind == FXS_PLACEHOLDER)
        return default_value(r);
    return kind == FXS_GET_ATTR ? FXS_OK : call_args(r);
}

static fxs_status read_lines(graph_reader *r) {
    fxs_text *t = r->t;
    for (;;) {
        const char *line = t->at;
        fxs_text_blanks(t);
        if (t->at < t->end && *t->at == '\n') {
            t->at++;
            continue;
        }
        if (*t->at == '#') {
            if (!r->second)
                FXS_TRY(fxs_text_origin_line(t, r->g, &r->origin));
            fxs_text_next_line(t);
            continue;
        }
        if (*t->at == '%')
            FXS_TRY(node_line(r));
        else if (strncmp(t->at, "return ", 7) == 0)
            FXS_TRY(output_line(r));
        else {
            t->at = line;
            return FXS_OK;
        }
        fxs_text_blanks(t);
        if (t->at < t->end && *t->at != '\n')
            return fxs_text_expected(t, "the end of the line");
        if (r->second)
            r->next = fxs_node_next(r->next);
    }
}

fxs_status fxs_text_graph(fxs_text *t, fxs_graph *g) {
    const char *start = t->at;
    graph_reader first = {.t = t, .g = g, .line = fxs_text_line(t, start), .line_at = start};
    FXS_TRY(read_lines(&first));
    const char *end = t->at;
    fxs_map nodes = {0};
    fxs_status s = FXS_OK;
    for (fxs_node *n = fxs_graph_first(g); n && s == FXS_OK; n = fxs_node_next(n))
        if (!fxs_map_put(&nodes, n->name, strlen(n->name), n))
            s = fxs_fail_memory(t->ctx);
    graph_reader again = {.t = t, .g = g, .second = true, .next = fxs_graph_first(g)};
    t->nodes = &nodes;
    t->at = start;
    if (s == FXS_OK)
        s = read_lines(&again);
    t->nodes = NULL;
    fxs_map_free(&nodes);
    t->at = end;
    return s;
}
