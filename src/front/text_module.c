/* text_module.c: a module tree as print(model) gives it, into modules. Repeated children that
 * torch 2.x folds
 * ("(0-11): 12 x Block(...)") are made one by one. */
#include <string.h>

#include "base/pytext.h"
#include "front/text.h"

enum { MAX_MODULES = 200000 };

static fxs_status module_at(fxs_text *t, int depth, fxs_module **out);

/* The end of the arguments on this line: the parenthesis that closes t->at's. NULL when it is not
 * on this line. */
static const char *closing_on_line(const fxs_text *t) {
    int depth = 0;
    for (const char *s = t->at; s < t->end && *s != '\n'; s++) {
        if (*s == '\'' || *s == '"') {
            const char *q = s + 1;
            while (q < t->end && *q != *s && *q != '\n')
                q += *q == '\\' ? 2 : 1;
            if (q < t->end && *q == *s)
                s = q; /* an apostrophe alone is no quote */
        } else if (*s == '(' || *s == '[' || *s == '{') {
            depth++;
        } else if (*s == ')' || *s == ']' || *s == '}') {
            if (depth == 0 && *s == ')')
                return s;
            depth--;
        }
    }
    return NULL;
}

static fxs_status make_module(fxs_text *t, const char *name, size_t name_len, const char *extra,
                              size_t extra_len, fxs_module **out) {
    bool fits = true;
    fxs_value args, kwargs;
    *out = NULL;
    if (++t->modules > MAX_MODULES)
        return fxs_text_fail(t, name, "more than %d modules", MAX_MODULES);
    char *class_name = fxs_arena_dup(t->arena, name, name_len);
    if (!class_name)
        return fxs_fail_memory(t->ctx);
    FXS_TRY(fxs_text_arguments(t, extra, extra_len, &fits, &args, &kwargs));
    fxs_status s = fxs_module_new(t->ctx, class_name, &args, &kwargs, out);
    if (s == FXS_ETYPE && extra_len == 0) { /* a layer that was traced: it is a graph now */
        fxs_ctx_clear(t->ctx);
        s = fxs_module_new_bare(t->ctx, class_name, out);
    }
    if (s != FXS_OK && s != FXS_ENOMEM) {
        char *why = fxs_arena_dup(t->arena, fxs_ctx_error(t->ctx), strlen(fxs_ctx_error(t->ctx)));
        fxs_ctx_clear(t->ctx);
        return why ? fxs_text_fail(t, name, "%s", why) : fxs_fail_memory(t->ctx);
    }
    FXS_TRY(s);
    if (extra_len) {
        (*out)->extra = fxs_memdup0(extra, extra_len);
        if (!(*out)->extra) {
            fxs_module_unref(*out);
            *out = NULL;
            return fxs_fail_memory(t->ctx);
        }
    }
    return FXS_OK;
}

/* "(0-11): 12 x " in front of a child: *count children, from number *first. */
static fxs_status repetition(fxs_text *t, const char *name, size_t len, int64_t *first,
                             int64_t *count) {
    const char *dash = memchr(name, '-', len);
    int64_t last, times;
    size_t digits = strspn(t->at, "0123456789");
    *count = 1;
    if (!dash || !digits || strncmp(t->at + digits, " x ", 3) != 0)
        return FXS_OK;
    if (!fxs_read_int(name, (size_t)(dash - name), first) ||
        !fxs_read_int(dash + 1, len - (size_t)(dash + 1 - name), &last) ||
        !fxs_read_int(t->at, digits, &times))
        return FXS_OK;
    if (last < *first || last - *first + 1 != times)
        return fxs_text_fail(t, t->at, "(%.*s) are %lld children, not %lld", (int)len, name,
                             (long long)(last - *first + 1), (long long)times);
    if (times > MAX_MODULES)
        return fxs_text_fail(t, t->at, "more than %d modules", MAX_MODULES);
    t->at += digits + 3;
    *count = times;
    return FXS_OK;
}

/* "Parameter containing: [torch.float32 of size 2x3 (cuda:0)]", as ParameterList shows its items.
 */
static fxs_status parameter_item(fxs_text *t, fxs_module *m, const char *name, size_t name_len) {
    fxs_dtype dtype = FXS_FLOAT32;
    int64_t sizes[FXS_MAX_DIM];
    int ndim = 0;
    size_t n = strcspn(t->at, " ]\n");
    if (n > 6 &&
        !fxs_dtype_find(t->at, n, &dtype)) /* torch.FloatTensor of 1.x: an old name for float32 */
        dtype = strstr(t->at, "LongTensor") == t->at + 6 ? FXS_INT64 : FXS_FLOAT32;
    t->at += n;
    if (!fxs_text_accept(t, " of size "))
        return fxs_text_expected(t, "' of size '");
    for (;;) {
        size_t digits = strspn(t->at, "0123456789");
        if (ndim == FXS_MAX_DIM || !fxs_read_int(t->at, digits, &sizes[ndim]))
            break;
        ndim++;
        t->at += digits;
        if (!fxs_text_accept(t, "x"))
            break;
    }
    t->at += strcspn(t->at, "\n");
    char *key = fxs_arena_dup(t->arena, name, name_len);
    return key ? fxs_module_add_tensor(m, key, false, dtype, ndim, sizes) : fxs_fail_memory(t->ctx);
}

static fxs_status add_child(fxs_text *t, fxs_module *m, const char *name, size_t len,
                            fxs_module *child) {
    char *key = fxs_arena_dup(t->arena, name, len);
    if (!key)
        return fxs_fail_memory(t->ctx);
    if (fxs_module_child(m, key, len))
        return fxs_text_fail(t, name, "a second child '%s'", key);
    return fxs_module_add_child(m, key, child);
}

/* "(name): Class(...)" with t->at behind "(name): ". */
static fxs_status child_at(fxs_text *t, fxs_module *m, const char *name, size_t len, int depth) {
    int64_t first = 0, count;
    FXS_TRY(repetition(t, name, len, &first, &count));
    const char *body = t->at;
    for (int64_t i = 0; i < count; i++) {
        fxs_module *child;
        fxs_buf number = {0};
        t->at = body;
        FXS_TRY(module_at(t, depth + 1, &child));
        if (count > 1)
            fxs_buf_printf(&number, "%lld", (long long)(first + i));
        fxs_status s = number.failed ? fxs_fail_memory(t->ctx)
                       : count > 1   ? add_child(t, m, number.data, number.len, child)
                                     : add_child(t, m, name, len, child);
        fxs_buf_free(&number);
        fxs_module_unref(child);
        FXS_TRY(s);
    }
    return FXS_OK;
}

/* One line of a block: a child, a parameter, or a line of extra_repr. */
static fxs_status block_line(fxs_text *t, fxs_module *m, int depth) {
    if (*t->at == '(') {
        const char *name = t->at + 1, *colon = memmem(name, strcspn(name, "\n"), "): ", 3);
        if (colon) {
            t->at = colon + 3;
            if (fxs_text_accept(t, "Parameter containing: ["))
                return parameter_item(t, m, name, (size_t)(colon - name));
            return child_at(t, m, name, (size_t)(colon - name), depth);
        }
    }
    t->at += strcspn(t->at, "\n");
    return FXS_OK;
}

/* Lines of extra_repr come first in a block: how many bytes they take, so that the module can be
 * made with them. */
static const char *extra_lines_end(const fxs_text *t) {
    const char *s = t->at;
    for (;;) {
        const char *line = s + strspn(s, " \t");
        if (*line == '(' || *line == ')' || *line == '\0')
            return s;
        const char *nl = memchr(line, '\n', (size_t)(t->end - line));
        if (!nl)
            return t->end;
        s = nl + 1;
    }
}

/* The lines between begin and end without their indentation, joined by newlines. */
static fxs_status extra_text(fxs_text *t, const char *begin, const char *end, fxs_buf *out) {
    for (const char *s = begin; s < end;) {
        s += strspn(s, " \t");
        size_t n = strcspn(s, "\n");
        if (out->len)
            fxs_buf_putc(out, '\n');
        fxs_buf_add(out, s, n);
        s += n + 1;
    }
    return fxs_buf_status(t->ctx, out);
}

static fxs_status block_items(fxs_text *t, const char *open, fxs_module *m, int depth) {
    for (;;) {
        fxs_text_blanks(t);
        if (t->at >= t->end)
            return fxs_text_fail(t, open, "this module's ')' is missing: the file ends before it");
        if (fxs_text_accept(t, ")"))
            return FXS_OK;
        if (*t->at != '\n')
            FXS_TRY(block_line(t, m, depth));
        fxs_text_blanks(t);
        if (*t->at == '\n')
            t->at++;
        else if (t->at < t->end && *t->at != ')')
            return fxs_text_expected(t, "the end of the line");
    }
}

static fxs_status block_module(fxs_text *t, const char *name, size_t len, int depth,
                               fxs_module **out) {
    fxs_buf extra = {0};
    fxs_text_next_line(t);
    const char *end = extra_lines_end(t);
    fxs_status s = extra_text(t, t->at, end, &extra);
    if (s == FXS_OK)
        s = make_module(t, name, len, extra.data ? extra.data : "", extra.len, out);
    fxs_buf_free(&extra);
    FXS_TRY(s);
    t->at = end;
    s = block_items(t, name, *out, depth);
    if (s != FXS_OK) {
        fxs_module_unref(*out);
        *out = NULL;
    }
    return s;
}

static fxs_status module_at(fxs_text *t, int depth, fxs_module **out) {
    const char *name = t->at;
    size_t len = 0;
    *out = NULL;
    if (depth >= FXS_MAX_DEPTH)
        return fxs_text_fail(t, t->at, "modules are nested deeper than %d", FXS_MAX_DEPTH);
    while (fxs_is_name_byte(name[len]) || (name[len] && strchr(".<>-", name[len])))
        len++;
    if (len == 0)
        return fxs_text_expected(t, "a module: CLASS(...)");
    t->at += len;
    if (!fxs_text_accept(t, "("))
        return fxs_text_expected(t, "'(' behind the module's class");
    fxs_text_blanks(t);
    if (*t->at == '\n')
        return block_module(t, name, len, depth, out);
    const char *close = closing_on_line(t);
    if (!close) /* ParameterList of 1.x begins its items on the same line */
        return fxs_text_fail(t, t->at - 1, "this '(' is not closed on its line");
    const char *extra = t->at;
    t->at = close + 1;
    return make_module(t, name, len, extra, (size_t)(close - extra), out);
}

fxs_status fxs_text_module(fxs_text *t, fxs_module **out) { return module_at(t, 0, out); }
