/* numbers.c: a user's own number for each node, from a CSV file: see fxoutline.h. Called by
 * programs and `fxscope draw --overlay`. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/pytext.h"
#include "fxoutline.h"
#include "ir/graph.h"
#include "ir/module.h"

enum { MOST_BYTES = 1 << 28 };

typedef struct entry {
    const char *name;
    double value;
    int line;
    bool used, by_node; /* some model had it; and as a node that is no box */
} entry;

struct fxs_numbers {
    fxs_ctx *ctx;
    fxs_arena arena;
    fxs_map known; /* name -> entry */
    entry *entries;
    size_t n;
    const char *path, *title;
    entry heading; /* the first line, where its second field is no number; line 0: there is none */
};

/* ---- reading ---- */

static fxs_status read_all(fxs_ctx *ctx, const char *path, fxs_buf *out) {
    char chunk[65536];
    size_t n;
    FILE *f = fopen(path, "rbe");
    if (!f)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be opened: %s", path, strerror(errno));
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0 && out->len <= MOST_BYTES)
        fxs_buf_add(out, chunk, n);
    int error = ferror(f) ? errno : 0;
    fclose(f);
    if (error)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be read: %s", path, strerror(error));
    if (out->len > MOST_BYTES)
        return fxs_fail(ctx, FXS_ELIMIT, "%s: more than %d bytes are no list of nodes", path,
                        MOST_BYTES);
    fxs_buf_add(out, "", 0);
    return fxs_buf_status(ctx, out);
}

static void trim(char **s, char **end) {
    while (*s < *end && (**s == ' ' || **s == '\t'))
        ++*s;
    while (*end > *s && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\r'))
        --*end;
}

/* The field at *at, which ends at a comma or `end`: unquoted in place, ended with a NUL. *at is
 * NULL behind the last one. */
static char *field(char **at, char *end) {
    char *s = *at, *to, *stop;
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    if (s == end || *s != '"') {
        stop = memchr(s, ',', (size_t)(end - s));
        *at = stop ? stop + 1 : NULL;
        stop = stop ? stop : end;
        trim(&s, &stop);
        *stop = '\0';
        return s;
    }
    for (to = ++s, stop = s; stop < end && !(*stop == '"' && stop[1] != '"'); stop++) {
        *to++ = *stop;
        stop += *stop == '"';
    }
    char *comma = stop < end ? memchr(stop, ',', (size_t)(end - stop)) : NULL;
    *at = comma ? comma + 1 : NULL;
    *to = '\0';
    return s;
}

/* How much of a text a message has room for: no more bytes than that, and no part of a character.
 */
static int shown(const char *s, size_t most) {
    size_t len = strlen(s), n = len < most ? len : most;
    while (n < len && n && ((unsigned char)s[n] & 0xc0) == 0x80)
        n--;
    return (int)n;
}

enum { NAME = 100, NUMBER = 60 }; /* bytes of them in a message */

static fxs_status bad_number(const fxs_numbers *o, int line, const char *name, const char *text) {
    return fxs_fail(o->ctx, FXS_EINVAL, "%s:%d: '%.*s' is no number for node '%.*s'", o->path, line,
                    shown(text, NUMBER), text, shown(name, NAME), name);
}

static fxs_status add(fxs_numbers *o, int line, const char *name, const char *text, bool first) {
    double value;
    bool number = *text && fxs_read_float(text, strlen(text), &value);
    if (!number && *text && (strcmp(text, "NaN") == 0 || strcmp(text, "NAN") == 0)) {
        value = NAN;
        number = true;
    }
    if (!number && first && *text) {
        o->heading = (entry){.name = name, .line = line};
        o->title = text;
        return FXS_OK;
    }
    if (!number || isinf(value))
        return bad_number(o, line, name, text);
    const entry *before = fxs_map_get(&o->known, name);
    if (before)
        return fxs_fail(o->ctx, FXS_EINVAL, "%s:%d: node '%.*s' has a number already, in line %d",
                        o->path, line, shown(name, NAME), name, before->line);
    entry *e = &o->entries[o->n++];
    *e = (entry){.name = name, .value = value, .line = line};
    return fxs_map_put(&o->known, name, strlen(name), e) ? FXS_OK : fxs_fail_memory(o->ctx);
}

static fxs_status parse_line(fxs_numbers *o, int line, char *s, char *end, bool *first) {
    char *at = s;
    trim(&s, &end);
    if (s == end)
        return FXS_OK;
    if (memchr(s, '\0', (size_t)(end - s)))
        return fxs_fail(o->ctx, FXS_EINVAL, "%s:%d: a line of text is expected", o->path, line);
    const char *name = field(&at, end), *value = at ? field(&at, end) : NULL;
    if (!value || at || !*name)
        return fxs_fail(o->ctx, FXS_EINVAL, "%s:%d: 'node,number' is expected", o->path, line);
    bool was_first = *first;
    *first = false;
    return add(o, line, name, value, was_first);
}

static fxs_status parse(fxs_numbers *o, const fxs_buf *raw) {
    static const char mark[] = "\xef\xbb\xbf"; /* some programs write it before the text */
    char *text = fxs_arena_dup(&o->arena, raw->data, raw->len);
    size_t lines = 1, at = raw->len >= 3 && memcmp(raw->data, mark, 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < raw->len; i++)
        lines += raw->data[i] == '\n';
    o->entries = FXS_NEW_N(&o->arena, entry, lines);
    if (!text || !o->entries)
        return fxs_fail_memory(o->ctx);
    bool first = true;
    for (int line = 1; at < raw->len; line++) {
        char *end = memchr(text + at, '\n', raw->len - at);
        end = end ? end : text + raw->len;
        FXS_TRY(parse_line(o, line, text + at, end, &first));
        at = (size_t)(end - text) + 1;
    }
    return FXS_OK;
}

fxs_status fxs_numbers_read(fxs_ctx *ctx, const char *path, fxs_numbers **out) {
    fxs_buf raw = {0};
    *out = NULL;
    FXS_TRY(fxs_need_text(ctx, path, "fxs_numbers_read: the path"));
    fxs_numbers *o = *out = fxs_alloc0(1, sizeof *o);
    if (!o)
        return fxs_fail_memory(ctx);
    o->ctx = ctx;
    o->path = fxs_arena_dup(&o->arena, path, strlen(path));
    fxs_status s = o->path ? read_all(ctx, path, &raw) : fxs_fail_memory(ctx);
    if (s == FXS_OK)
        s = parse(o, &raw);
    fxs_buf_free(&raw);
    if (s != FXS_OK) {
        fxs_numbers_free(o);
        *out = NULL;
    }
    return s;
}

void fxs_numbers_free(fxs_numbers *o) {
    if (!o)
        return;
    fxs_map_free(&o->known);
    fxs_arena_clear(&o->arena);
    fxs_free(o);
}

const char *fxs_numbers_title(const fxs_numbers *o) { return o->title; }

/* ---- giving ---- */

fxs_status fxs_numbers_give(fxs_numbers *o, fxs_module *m) {
    if (!m->graph)
        return fxs_fail(o->ctx, FXS_EINVAL, "%s has no graph to give numbers to", m->class_name);
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        if (o->heading.line && strcmp(o->heading.name, n->name) == 0)
            return bad_number(o, o->heading.line, n->name, o->title);
        entry *e = fxs_map_get(&o->known, n->name);
        if (!e || e->used)
            continue;
        e->used = true;
        e->by_node = n->meta.inside == 0;
        fxs_node_set_overlay(n, e->value);
    }
    return FXS_OK;
}

void fxs_numbers_give_boxes(const fxs_numbers *o, fxs_module *m) {
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        const entry *e = n->meta.inside ? fxs_map_get(&o->known, n->name) : NULL;
        if (e && !e->by_node)
            fxs_node_set_overlay(n, e->value);
    }
}

fxs_status fxs_numbers_check(const fxs_numbers *o) {
    for (size_t i = 0; i < o->n; i++)
        if (!o->entries[i].used)
            return fxs_fail(
                o->ctx, FXS_ENOTFOUND, "%s:%d: there is no node '%.*s' (fxscope table lists them)",
                o->path, o->entries[i].line, shown(o->entries[i].name, NAME), o->entries[i].name);
    return FXS_OK;
}
