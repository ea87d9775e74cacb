/* trace_children.c: the modules that a layer's constructor puts under it, from the .children of its
 * row: each a line in the style of a constructor, with the layer's own arguments in it. Called when
 * a layer is built from its constructor; one that is read from print(model) brings its children
 * along. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "front/trace.h"

enum { MAX_COPIES = 10000 };

/* A name of the layer's arguments is replaced by its value, unless it is a keyword itself. */
static const char *put_word(fxs_buf *b, const fxs_layer *layer, const char *s, const char *end) {
    char name[64];
    size_t n = fxs_word_len(s);
    const fxs_value *v = NULL;
    if (n < sizeof name && s + n <= end && s[n] != '=' && s[n] != '(') {
        memcpy(name, s, n);
        name[n] = '\0';
        v = fxs_layer_hyper(layer, name);
    }
    if (v)
        fxs_buf_repr(b, v, &(fxs_repr){0});
    else
        fxs_buf_add(b, s, n);
    return s + n;
}

static fxs_status filled_in(const fxs_layer *layer, const char *s, const char *end, fxs_buf *b) {
    while (s < end) {
        if (isalpha((unsigned char)*s) || *s == '_')
            s = put_word(b, layer, s, end);
        else
            fxs_buf_putc(b, *s++);
    }
    return fxs_buf_status(layer->ctx, b);
}

static fxs_status add_made(fxs_module *m, const char *name, const fxs_buf *line) {
    static const char *const containers[] = {"ModuleList", "Sequential"};
    fxs_module *child = NULL;
    size_t n = fxs_word_len(line->data);
    for (int i = 0; i < 2; i++)
        if (strlen(containers[i]) == n && strncmp(containers[i], line->data, n) == 0)
            FXS_TRY(fxs_module_new(m->ctx, containers[i], NULL, NULL, &child));
    if (!child)
        FXS_TRY(fxs_module_from_line(m->ctx, line->data, line->len, &child));
    fxs_status s = fxs_module_add_child(m, name, child);
    fxs_module_unref(child);
    return s;
}

/* A ModuleList of `count` modules that are made alike. */
static fxs_status add_list(const fxs_layer *layer, fxs_module *m, const char *name,
                           const char *count, const fxs_buf *line) {
    fxs_module *list;
    char number[24];
    int64_t n = fxs_layer_int(layer, count, -1);
    if (n < 0 || n > MAX_COPIES)
        return fxs_fail(m->ctx, n < 0 ? FXS_ETYPE : FXS_ELIMIT,
                        "%s: argument '%s' must be an int from 0 to %d", layer->row->name, count,
                        MAX_COPIES);
    FXS_TRY(fxs_module_new(m->ctx, "ModuleList", NULL, NULL, &list));
    fxs_status s = fxs_module_add_child(m, name, list);
    fxs_module_unref(list);
    for (int64_t i = 0; i < n && s == FXS_OK; i++) {
        snprintf(number, sizeof number, "%lld", (long long)i);
        s = add_made(list, number, line);
    }
    return s;
}

/* Where the last name of a path belongs: the module that the names before it lead to. */
static fxs_module *place_of(fxs_module *m, char **name) {
    for (char *dot; m && (dot = strchr(*name, '.')); *name = dot + 1)
        m = fxs_module_child(m, *name, (size_t)(dot - *name));
    return m;
}

/* NAME = LINE, or NAME[COUNT] = LINE; NAME may be a path */
static fxs_status add_entry(fxs_text *t, const fxs_layer *layer, fxs_module *m, const char *s,
                            size_t len) {
    size_t n = strcspn(s, "[ =");
    const char *equals = memchr(s, '=', len), *end = s + len;
    char *name = fxs_arena_dup(t->arena, s, n), *count = NULL;
    fxs_buf line = {0};
    if (s[n] == '[')
        count = fxs_arena_dup(t->arena, s + n + 1, fxs_word_len(s + n + 1));
    if (!name || (s[n] == '[' && !count))
        return fxs_fail_memory(t->ctx);
    m = place_of(m, &name);
    if (!m)
        return fxs_fail(t->ctx, FXS_EINVAL, "%s: there is no place for %s", layer->row->name, name);
    const char *from = equals + 1 + strspn(equals + 1, " ");
    fxs_status status = filled_in(layer, from, end, &line);
    if (status == FXS_OK && strcmp(line.data, "None") == 0)
        status = count ? fxs_fail(t->ctx, FXS_ETYPE, "%s: argument '%.*s' is missing",
                                  layer->row->name, (int)(end - from), from)
                       : FXS_OK;
    else if (status == FXS_OK)
        status = count ? add_list(layer, m, name, count, &line) : add_made(m, name, &line);
    fxs_buf_free(&line);
    return status;
}

static fxs_status add_entries(fxs_text *t, const fxs_layer *layer, fxs_module *m, const char *s) {
    for (s += strspn(s, "; "); *s; s += strspn(s, "; ")) {
        size_t n = strcspn(s, ";");
        FXS_TRY(add_entry(t, layer, m, s, n));
        s += n;
    }
    return FXS_OK;
}

fxs_status fxs_layer_children(fxs_text *t, const fxs_layer *layer, fxs_module *m) {
    fxs_buf b = {0};
    if (layer->row->children)
        FXS_TRY(add_entries(t, layer, m, layer->row->children));
    if (!layer->row->plan)
        return FXS_OK;
    fxs_status s = layer->row->plan(layer, &b);
    if (s == FXS_OK)
        s = fxs_buf_status(t->ctx, &b);
    if (s == FXS_OK && b.data)
        s = add_entries(t, layer, m, b.data);
    fxs_buf_free(&b);
    return s;
}
