/* python_trace.c: comments in generated code that say from which source line the next nodes were
 * traced, as torch.fx's print_readable has them. Called for each statement; it knows stack traces
 * as text, and no nodes. */
#include <ctype.h>
#include <string.h>

#include "emit/python.h"

typedef struct line {
    const char *s;
    size_t n; /* without blanks at either end */
} line;

/* The line at *at, and *at to the next; false behind the last. Blank lines at the end of the text
 * are none. */
static bool next_line(const char **at, line *out) {
    if ((*at)[strspn(*at, " \t\r\n")] == '\0')
        return false;
    size_t n = strcspn(*at, "\n");
    out->s = *at;
    out->n = n;
    *at += n + ((*at)[n] == '\n');
    while (out->n && isspace((unsigned char)out->s[0]))
        out->s++, out->n--;
    while (out->n && isspace((unsigned char)out->s[out->n - 1]))
        out->n--;
    return true;
}

/* File "PATH", line N, in NAME */
static bool read_frame(const line *l, line *path, line *number, line *name) {
    if (l->n < 6 || memcmp(l->s, "File \"", 6) != 0)
        return false;
    const char *end = l->s + l->n;
    for (const char *s = end; s > l->s + 6; s--) {
        if (end - s < 8 || memcmp(s, "\", line ", 8) != 0)
            continue;
        const char *digits = s + 8, *after = digits;
        while (after < end && isdigit((unsigned char)*after))
            after++;
        if (after == digits || end - after < 6 || memcmp(after, ", in ", 5) != 0)
            continue;
        *path = (line){l->s + 6, (size_t)(s - l->s - 6)};
        *number = (line){digits, (size_t)(after - digits)};
        *name = (line){after + 5, (size_t)(end - after - 5)};
        return true;
    }
    return false;
}

static void put(fxs_buf *b, const char *before, const line *l) {
    fxs_buf_puts(b, before);
    fxs_buf_add(b, l->s, l->n);
}

/* 1.13: what stands before the first frame, that frame, and its source line. */
static void put_first_frame(fxs_buf *b, const char *trace) {
    line l, path, number, name;
    const char *between = "";
    bool found = false;
    while (!found && next_line(&trace, &l)) {
        found = l.n >= 5 && memcmp(l.s, "File ", 5) == 0;
        if (!found) {
            put(b, between, &l);
            between = ", ";
        }
    }
    line code;
    if (!found || !next_line(&trace, &code))
        return;
    if (read_frame(&l, &path, &number, &name)) {
        fxs_buf_puts(b, between);
        put(b, "File: ", &path);
        put(b, ":", &number);
        between = ", ";
    }
    fxs_buf_puts(b, between);
    put(b, "code: ", &code);
}

/* 2.x: the last frame, where the innermost stands there. */
static void put_last_frame(fxs_buf *b, const char *trace) {
    line l, code, path, number, name;
    size_t start = b->len;
    while (next_line(&trace, &l)) {
        const char *behind = trace;
        if (!read_frame(&l, &path, &number, &name) || !next_line(&behind, &code))
            continue;
        fxs_buf_cut(b, start);
        put(b, "File: ", &path);
        put(b, ":", &number);
        put(b, " in ", &name);
        put(b, ", code: ", &code);
    }
}

void fxs_py_trace_comment(fxs_buf *b, const char *trace, const char **before, unsigned flags) {
    bool torch2 = flags & FXS_CODE_TORCH2;
    if (!trace)
        trace = "";
    if (*before && strcmp(trace, *before) == 0)
        return;
    *before = trace;
    if (!*trace) {
        fxs_buf_printf(b, "\n# No stacktrace found for following nodes%s\n", torch2 ? "" : " ");
        return;
    }
    fxs_buf_puts(b, "\n# ");
    trace += strspn(trace, " \t\r\n");
    if (torch2)
        put_last_frame(b, trace);
    else
        put_first_frame(b, trace);
    fxs_buf_putc(b, '\n');
}
