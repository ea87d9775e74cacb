/* text_graph.c: the lines of print(graph), into nodes. Each is read once, but for those that name a
 * node to come: a graph whose order is wrong can be read and looked at (lint says what is wrong),
 * so that they are read again when all nodes are there. */
#include <ctype.h>
#include <string.h>

#include "front/text.h"

/* A line to be read again. */
typedef struct later {
    const char *at;
    fxs_node *node;
    fxs_notation how;
} later;

typedef struct graph_reader {
    fxs_text *t;
    fxs_graph *g;
    fxs_arena *scratch; /* the file's */
    bool again;
    fxs_node *node;    /* of the line */
    const char *begin; /* of the line's text */
    fxs_notation
        how; /* of its values: FXS_IN_CALL, or FXS_IN_QUOTED behind a comment that says so */
    later *later;
    size_t nlater, later_cap;
    const char *start; /* of the lines */
    size_t guess;      /* see expect: at that many nodes */
    int line;          /* of t->at; counted along, so that long files stay linear */
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
    fxs_node *n;
    FXS_TRY(fxs_graph_bare_node(r->g, kind, target, target_len, name, name_len, type, type_len,
                                &r->node));
    n = r->node;
    if (name && (strncmp(n->name, name, name_len) != 0 || n->name[name_len])) {
        if (fxs_map_at(&r->g->names, name, name_len))
            return fxs_text_fail(t, where, "a second node %%%.*s", (int)name_len, name);
        return fxs_text_fail(t, where, "'%.*s' can't be a node's name: torch.fx would call it %s",
                             (int)name_len, name, n->name);
    }
    n->line = line_of(r, where);
    n->scope = r->origin.scope;
    n->stack_trace = r->origin.stack;
    n->file = r->origin.file;
    if (n->file)
        n->line = r->origin.line;
    return FXS_OK;
}

static fxs_status read_later(graph_reader *r) {
    if (r->nlater == r->later_cap) {
        size_t cap = r->later_cap ? r->later_cap * 2 : 16;
        later *p = fxs_realloc(r->later, cap, sizeof *p);
        if (!p)
            return fxs_fail_memory(r->t->ctx);
        r->later = p;
        r->later_cap = cap;
    }
    r->later[r->nlater++] = (later){r->begin, r->node, r->how};
    return FXS_OK;
}

static bool keys_are_names(const fxs_value *kwargs) {
    for (size_t i = 0; i < fxs_value_len(kwargs); i++)
        if (fxs_value_key(kwargs, i)->tag != FXS_V_STR)
            return false;
    return true;
}

/* The node of the line gets its arguments. What is wrong with them is said behind what is wrong
 * with the lines themselves. */
static fxs_status set_args(graph_reader *r, const fxs_value *args, const fxs_value *kwargs) {
    if (r->again)
        return fxs_node_set_args(r->node, args, kwargs);
    if (r->t->unknown || !keys_are_names(kwargs))
        return read_later(r);
    return fxs_node_adopt_args(r->node, args, fxs_value_len(kwargs) ? kwargs : &r->g->no_kwargs);
}

static fxs_status output_line(graph_reader *r) {
    fxs_text *t = r->t;
    const char *start = t->at;
    fxs_value v, args;
    t->at += 7;
    bool quoted = r->how == FXS_IN_QUOTED;
    size_t n = strcspn(t->at, "\n");
    while (n && (t->at[n - 1] == ' ' || t->at[n - 1] == '\r'))
        n--;
    if (quoted) {
        FXS_TRY(fxs_text_value(t, r->how, 0, &v));
    } else if (memchr("([{", *t->at, 3) || strncmp(t->at, "slice(", 6) == 0 ||
               strncmp(t->at, "torch.Size(", 11) == 0) {
        FXS_TRY(fxs_text_value(t, FXS_IN_REPR, 0, &v));
    } else { /* a bare value by str: a node's name, or a string without quotes */
        fxs_notation how = fxs_text_node(t, t->at, n, &v) ? FXS_IN_REPR : FXS_IN_CALL;
        FXS_TRY(fxs_text_word_value(t, how, t->at, n, &v));
        t->at += n;
    }
    if (!r->again)
        FXS_TRY(add_node(r, start, FXS_OUTPUT, "output", 6, NULL, 0, NULL, 0));
    FXS_TRY(fxs_make_seq(t->ctx, t->arena, FXS_V_TUPLE, 1, &args));
    args.u.seq->items[0] = v;
    return set_args(r, &args, &r->g->no_kwargs);
}

/* The first of "[#users=" (*old) and "[num_users=" in the line. */
static const char *find_users(const char *at, bool *old) {
    size_t len = strcspn(at, "\n");
    const char *a = memmem(at, len, "[#users=", 8), *b = memmem(at, len, "[num_users=", 11);
    *old = a && (!b || a < b);
    return *old ? a : b;
}

/* In a line with quotes, types and targets that could be misread have them too. */
static bool is_quoted(const graph_reader *r) {
    return r->how == FXS_IN_QUOTED && (*r->t->at == '\'' || *r->t->at == '"');
}

static fxs_status quoted_word(graph_reader *r, const char **word, size_t *len) {
    fxs_value v;
    FXS_TRY(fxs_text_value(r->t, FXS_IN_QUOTED, 0, &v));
    *word = v.u.s->text;
    *len = v.u.s->len;
    return FXS_OK;
}

/* "[#users=1]" or "[num_users=1]", with an optional type in front. The count is made anew, so it is
 * only read. */
static fxs_status users_and_type(graph_reader *r, const char **type, size_t *type_len) {
    fxs_text *t = r->t;
    *type = NULL;
    *type_len = 0;
    if (is_quoted(r)) {
        FXS_TRY(quoted_word(r, type, type_len));
        if (!fxs_text_accept(t, " "))
            return fxs_text_expected(t, "a blank behind the type");
    }
    if (!fxs_text_accept(t, "[#users=") && !fxs_text_accept(t, "[num_users=")) {
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
    }
    while (*t->at >= '0' && *t->at <= '9')
        t->at++;
    if (!fxs_text_accept(t, "]"))
        return fxs_text_expected(t, "a number of users and ']'");
    return FXS_OK;
}

static bool read_kind(fxs_text *t, fxs_kind *out) {
    static const size_t lengths[] = {
#define X(name, text) sizeof text - 1,
        FXS_KIND_MAP(X)
#undef X
    };
    size_t n = fxs_word_len(t->at);
    for (int k = 0; k < FXS_KIND_COUNT; k++) {
        if (k != FXS_OUTPUT && lengths[k] == n &&
            memcmp(fxs_kind_name((fxs_kind)k), t->at, n) == 0) {
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

static fxs_status read_target(graph_reader *r, const char **target, size_t *len) {
    fxs_text *t = r->t;
    if (!fxs_text_accept(t, "[target="))
        return fxs_text_expected(t, "[target=");
    if (is_quoted(r)) {
        FXS_TRY(quoted_word(r, target, len));
        return fxs_text_accept(t, "]") ? FXS_OK : fxs_text_expected(t, "']'");
    }
    const char *end = target_end(t);
    if (!end)
        return fxs_text_fail(t, t->at, "the target's ']' is missing");
    *target = t->at;
    *len = (size_t)(end - t->at);
    t->at = end + 1;
    return FXS_OK;
}

static fxs_status call_args(graph_reader *r) {
    fxs_text *t = r->t;
    fxs_value args, kwargs;
    if (!fxs_text_accept(t, "(args = "))
        return fxs_text_expected(t, "'(args = '");
    if (*t->at != '(')
        return fxs_text_expected(t, "'(' and the positional arguments");
    const char *start = t->at;
    FXS_TRY(fxs_text_value(t, r->how, 0, &args));
    if (args.tag != FXS_V_TUPLE)
        return fxs_text_fail(t, start,
                             "expected a tuple of arguments: a single one has a comma behind it");
    if (!fxs_text_accept(t, ", kwargs = "))
        return fxs_text_expected(t, "', kwargs = '");
    if (*t->at != '{')
        return fxs_text_expected(t, "'{' and the keyword arguments");
    if (fxs_text_accept(t, "{}"))
        kwargs = r->g->no_kwargs;
    else
        FXS_TRY(fxs_text_value(t, r->how, 0, &kwargs));
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
    if (r->how == FXS_IN_QUOTED) {
        FXS_TRY(fxs_text_value(t, r->how, 0, &args.u.seq->items[0]));
    } else if (memchr("([{", *t->at, 3)) {
        FXS_TRY(fxs_text_value(t, FXS_IN_REPR, 0, &args.u.seq->items[0]));
    } else {
        FXS_TRY(fxs_text_word_value(t, FXS_IN_CALL, t->at, (size_t)(end - 1 - t->at),
                                    &args.u.seq->items[0]));
        t->at = end - 1;
    }
    if (!fxs_text_accept(t, ")"))
        return fxs_text_expected(t, "')'");
    return set_args(r, &args, &r->g->no_kwargs);
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
    FXS_TRY(users_and_type(r, &type, &type_len));
    if (!fxs_text_accept(t, " = "))
        return fxs_text_expected(t, "' = '");
    if (!read_kind(t, &kind))
        return fxs_text_expected(
            t, "placeholder, get_attr, call_function, call_module or call_method");
    const char *target = NULL;
    size_t target_len = 0;
    FXS_TRY(read_target(r, &target, &target_len));
    if (!r->again)
        FXS_TRY(add_node(r, start, kind, target, target_len, name, name_len, type, type_len));
    if (kind == FXS_PLACEHOLDER)
        return default_value(r);
    return kind == FXS_GET_ATTR ? FXS_OK : call_args(r);
}

/* What a large graph will take by what its lines took so far, so that its names are hashed once and
 * its nodes lie in huge pages: at most GUESS times what is there, since the rest of the file may be
 * something else. */
static void expect(graph_reader *r) {
    enum { GUESS = 16, LARGE = 1 << 18, HUGE_PAGE = 1 << 21 };
    const fxs_text *t = r->t;
    size_t left = (size_t)(t->end - t->at), nodes = r->g->len,
           line = (size_t)(t->at - r->start) / nodes + 1, more = left / line;
    r->guess = nodes * GUESS;
    fxs_map_reserve(&r->g->names, nodes + (more < r->guess ? more : r->guess)); /* or it grows */
    if (left > LARGE)
        r->g->arena.room = HUGE_PAGE;
}

/* The node or the value of the line. False: it is none of a graph's. */
static bool is_graph_line(const char *s) { return *s == '%' || strncmp(s, "return ", 7) == 0; }

static fxs_status graph_line(graph_reader *r) {
    fxs_text *t = r->t;
    r->begin = t->at;
    t->unknown = false;
    t->arena = r->again ? r->scratch : &r->g->arena; /* the first time, arguments stay */
    fxs_status s = *t->at == '%' ? node_line(r) : output_line(r);
    t->arena = r->scratch;
    if (s != FXS_OK)
        return s;
    fxs_text_blanks(t);
    return t->at < t->end && *t->at != '\n' ? fxs_text_expected(t, "the end of the line") : FXS_OK;
}

/* The comment before a line whose strings are quoted. */
static bool says_quotes(const char *s) {
    static const char text[] = "# with quotes";
    size_t n = sizeof text - 1;
    return strncmp(s, text, n) == 0 && s[n + strspn(s + n, " \t\r")] == '\n';
}

static fxs_status read_lines(graph_reader *r) {
    fxs_text *t = r->t;
    for (;;) {
        const char *line = t->at;
        fxs_text_blanks(t);
        if (t->at < t->end && *t->at == '\n') {
            t->at++;
        } else if (*t->at == '#') {
            if (says_quotes(t->at))
                r->how = FXS_IN_QUOTED;
            FXS_TRY(fxs_text_origin_line(t, r->g, &r->origin));
            fxs_text_next_line(t);
        } else if (is_graph_line(t->at)) {
            FXS_TRY(graph_line(r));
            r->how = FXS_IN_CALL;
            if (r->g->len == r->guess)
                expect(r);
        } else {
            t->at = line;
            return FXS_OK;
        }
    }
}

static fxs_status read_again(graph_reader *r) {
    r->again = r->t->complete = true;
    for (size_t i = 0; i < r->nlater; i++) {
        r->t->at = r->later[i].at;
        r->node = r->later[i].node;
        r->how = r->later[i].how;
        FXS_TRY(graph_line(r));
    }
    return FXS_OK;
}

fxs_status fxs_text_graph(fxs_text *t, fxs_graph *g) {
    enum { FIRST_GUESS = 512 }; /* nodes */
    graph_reader r = {.t = t,
                      .guess = FIRST_GUESS,
                      .start = t->at,
                      .g = g,
                      .scratch = t->arena,
                      .how = FXS_IN_CALL,
                      .line = fxs_text_line(t, t->at),
                      .line_at = t->at};
    t->graph = g;
    t->complete = false;
    fxs_status s = read_lines(&r);
    const char *end = t->at;
    if (s == FXS_OK)
        s = read_again(&r);
    t->graph = NULL;
    t->at = end;
    fxs_free(r.later);
    return s;
}
