/* text_origin.c: comments in a graph that tell where the nodes behind them are from, as a model
 * file has them (emit/origin.c writes them). A comment that only looks like one is a comment: it is
 * passed over, and changes nothing. Called by text_graph.c. */
#include <limits.h>
#include <string.h>

#include "base/pytext.h"
#include "front/text.h"

/* A cursor over one line; *end is where it ends. */
typedef struct line {
    fxs_text t;
    fxs_graph *g;
    bool no_memory;
} line;

static bool at_end(const line *l) { return l->t.at >= l->t.end; }

static const char *keep(line *l, const char *s, size_t n) {
    char *copy = fxs_arena_dup(&l->g->arena, s, n);
    l->no_memory = l->no_memory || !copy;
    return copy;
}

/* A text in quotes, or one up to a blank or colon; in the graph's arena. False: there is none. */
static bool read_word(line *l, const char **out) {
    const char *start = l->t.at;
    size_t n = 0;
    *out = NULL;
    if (*start == '\'' || *start == '"') {
        fxs_value v;
        fxs_status s = fxs_text_value(&l->t, FXS_IN_REPR, 0, &v);
        l->no_memory = l->no_memory || s == FXS_ENOMEM;
        if (s == FXS_OK && v.tag == FXS_V_STR && strlen(v.u.s->text) == v.u.s->len)
            *out = keep(l, v.u.s->text, v.u.s->len);
        return *out != NULL;
    }
    while (start + n < l->t.end && start[n] != ' ' && start[n] != ':')
        n++;
    *out = n ? keep(l, start, n) : NULL;
    l->t.at += n;
    return *out != NULL;
}

/* Digits, from 0 to INT_MAX - 1. */
static bool read_count(line *l, int *out) {
    size_t n = strspn(l->t.at, "0123456789");
    int64_t v;
    if (!n || !fxs_read_int(l->t.at, n, &v) || v >= INT_MAX)
        return false;
    l->t.at += n;
    *out = (int)v;
    return true;
}

/* [PATH: ]CLASS[ (call N)]; only the first of all may have no path: it is the root. */
static bool read_step(line *l, bool first, const char **path, const char **class_name, int *call) {
    *path = "";
    *call = 1;
    if (!read_word(l, class_name))
        return false;
    if (fxs_text_accept(&l->t, ": ")) {
        *path = *class_name;
        if (!read_word(l, class_name))
            return false;
    } else if (!first) {
        return false;
    }
    if (!fxs_text_accept(&l->t, " (call "))
        return true;
    return read_count(l, call) && *call > 1 && fxs_text_accept(&l->t, ")");
}

/* STEP > STEP: is it that, to the end? Only then scopes are made (make): one that is there is found
 * by its path, so that a comment must not leave any behind. */
static fxs_status read_steps(line l, bool make, const fxs_scope **out, bool *whole) {
    const char *path, *class_name;
    const fxs_scope *outer = NULL;
    int call;
    *whole = false;
    for (int depth = 0; !at_end(&l); depth++) {
        if (depth == FXS_MAX_DEPTH || (depth && !fxs_text_accept(&l.t, " > ")) ||
            !read_step(&l, depth == 0, &path, &class_name, &call))
            return l.no_memory ? fxs_fail_memory(l.t.ctx) : FXS_OK;
        if (make)
            FXS_TRY(fxs_graph_scope(l.g, outer, path, class_name, (unsigned)call - 1, &outer));
    }
    *whole = true;
    *out = outer;
    return FXS_OK;
}

/* One word is a scope when it is the class of the graph's module, and else may be anybody's remark:
 * "# in short". */
static bool is_remark(const line *l) {
    size_t n = (size_t)(l->t.end - l->t.at);
    const char *name = l->t.class_name;
    bool word = !memchr(l->t.at, ':', n) && !memchr(l->t.at, ' ', n) && !strchr("'\"", *l->t.at);
    return word && !(name && strlen(name) == n && memcmp(name, l->t.at, n) == 0);
}

static fxs_status read_scope(line *l, fxs_text_origin *o) {
    const fxs_scope *scope = NULL;
    bool whole;
    if (is_remark(l))
        return FXS_OK;
    FXS_TRY(read_steps(*l, false, &scope, &whole));
    if (whole)
        FXS_TRY(read_steps(*l, true, &o->scope, &whole));
    return FXS_OK;
}

static fxs_status read_place(line *l, fxs_text_origin *o) {
    static const char in_forward[] = " in forward";
    size_t n = sizeof in_forward - 1;
    const char *file = NULL, *stack = NULL;
    int number = 0;
    bool one_line = (size_t)(l->t.end - l->t.at) > n && memcmp(l->t.end - n, in_forward, n) == 0;
    const char *end = l->t.end - (one_line ? n : 0), *colon = end;
    while (colon > l->t.at && colon[-1] != ':')
        colon--;
    if (*l->t.at == '\'' || *l->t.at == '"') {
        if (!read_word(l, &file) || l->t.at != colon - 1)
            return FXS_OK;
    } else if (colon - l->t.at > 1) {
        file = keep(l, l->t.at, (size_t)(colon - 1 - l->t.at));
    }
    l->t.at = colon;
    if (!file || !read_count(l, &number) || l->t.at != end)
        return FXS_OK;
    if (one_line) {
        fxs_buf b = {0};
        fxs_buf_stack_line(&b, file, number);
        stack = b.failed ? NULL : keep(l, b.data, b.len);
        l->no_memory = l->no_memory || b.failed;
        fxs_buf_free(&b);
    }
    o->file = file;
    o->line = number;
    o->stack = stack;
    return FXS_OK;
}

static fxs_status read_stack(line *l, fxs_text_origin *o) {
    const char *stack;
    if (strchr("'\"", *l->t.at) && read_word(l, &stack) && at_end(l))
        o->stack = stack;
    return FXS_OK;
}

static fxs_status read_comment(line *l, fxs_text_origin *o) {
    if (fxs_text_accept(&l->t, "in")) {
        if (at_end(l))
            o->scope = NULL;
        else if (fxs_text_accept(&l->t, " "))
            return read_scope(l, o);
    } else if (fxs_text_accept(&l->t, "at")) {
        if (at_end(l))
            o->file = o->stack = NULL;
        else if (fxs_text_accept(&l->t, " "))
            return read_place(l, o);
    } else if (fxs_text_accept(&l->t, "stack")) {
        if (at_end(l))
            o->stack = NULL;
        else if (fxs_text_accept(&l->t, " "))
            return read_stack(l, o);
    }
    return FXS_OK;
}

fxs_status fxs_text_origin_line(fxs_text *t, fxs_graph *g, fxs_text_origin *o) {
    line l = {.t = *t, .g = g};
    l.t.end = t->at + strcspn(t->at, "\r\n");
    while (l.t.end > t->at && (l.t.end[-1] == ' ' || l.t.end[-1] == '\t'))
        l.t.end--;
    if (!fxs_text_accept(&l.t, "# "))
        return FXS_OK;
    bool clean = t->ctx->status == FXS_OK;
    FXS_TRY(read_comment(&l, o));
    if (l.no_memory)
        return fxs_fail_memory(t->ctx);
    if (clean && t->ctx->status != FXS_OK) /* of a quote that does not end: it is a comment */
        fxs_ctx_clear(t->ctx);
    return FXS_OK;
}
