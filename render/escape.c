/* escape.c: see escape.h. */
#include "escape.h"

#include <string.h>

#include "base/pytext.h"

static unsigned decode(const char *s, size_t n) {
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned c = (unsigned char)s[0] & lead[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

typedef struct range {
    unsigned first, last;
} range;

static bool is_in(const range *ranges, size_t n, unsigned c) {
    for (size_t i = 0; i < n && c >= ranges[i].first; i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

/* Characters that XML forbids, that move the cursor, that turn the direction of what follows, or
 * that nobody sees. */
static bool is_hidden(unsigned c) {
    static const range hidden[] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},     {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5}, {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff9, 0xfffb},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };
    return (c & 0xfffe) == 0xfffe || is_in(hidden, sizeof hidden / sizeof *hidden, c);
}

/* Accents and the like, which are drawn over or under the character before. */
static bool is_accent(unsigned c) {
    static const range accents[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x1ab0, 0x1aff},
                                    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}};
    return is_in(accents, sizeof accents / sizeof *accents, c);
}

static void put_hidden(fxs_buf *out, unsigned c) {
    if (c == '\n')
        fxs_buf_puts(out, "\\n");
    else if (c == '\t')
        fxs_buf_puts(out, "\\t");
    else if (c == '\r')
        fxs_buf_puts(out, "\\r");
    else
        fxs_buf_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

void fxs_clean(fxs_buf *out, const char *s, size_t len, size_t max, bool lines) {
    size_t count = 0;
    size_t accents = 0;
    for (size_t i = 0; i < len; count++) {
        if (count == max) {
            fxs_buf_puts(out, "\xe2\x80\xa6");
            return;
        }
        size_t n = fxs_utf8_len(s + i, len - i);
        if (n == 0) {
            fxs_buf_puts(out, "\xef\xbf\xbd");
            accents = 0;
            i++;
            continue;
        }
        unsigned c = decode(s + i, n);
        accents = is_accent(c) ? accents + 1 : 0;
        if (accents > FXS_MOST_ACCENTS || (is_hidden(c) && !(lines && c == '\n')))
            put_hidden(out, c);
        else
            fxs_buf_add(out, s + i, n);
        i += n;
    }
}

static int depth_after(char c, int depth) {
    if (strchr("([{", c))
        return depth + 1;
    return strchr(")]}", c) && depth > 0 ? depth - 1 : depth;
}

/* How bad it is to end a line after the byte s[i]; -1: not at all. Commas outside of brackets are
 * best. */
static int badness(const char *s, size_t i, int depth) {
    if (s[i] == ' ')
        return depth * 4 + (i && strchr(",;:", s[i - 1]) ? 0 : 1);
    return strchr(",;=([{/._-", s[i]) ? depth * 4 + 30 : -1;
}

bool fxs_wrap_next(const char *s, size_t len, size_t width, size_t *at, fxs_span *line) {
    size_t i = *at, chars = 0, best_at = 0;
    int depth = 0, best = 0;
    if (i >= len)
        return false;
    line->at = i;
    while (i < len && s[i] != '\n' && chars < width) {
        size_t n = fxs_utf8_len(s + i, len - i);
        depth = depth_after(s[i], depth);
        int bad = ++chars * 5 < width * 2
                      ? -1
                      : badness(s, i, depth); /* a very short line leaves a ragged edge */
        i += n ? n : 1;
        if (bad >= 0 && (!best_at || bad <= best)) {
            best = bad;
            best_at = i;
        }
    }
    if (i < len && s[i] == '\n') {
        line->len = i - line->at;
        *at = i + 1;
        return true;
    }
    if (i < len && best_at)
        i = best_at;
    *at = i;
    line->len = i - line->at;
    while (line->len && s[line->at + line->len - 1] == ' ')
        line->len--;
    return true;
}

void fxs_escape_xml(fxs_buf *out, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) {
        switch (s[i]) {
        case '&':
            fxs_buf_puts(out, "&amp;");
            break;
        case '<':
            fxs_buf_puts(out, "&lt;");
            break;
        case '>':
            fxs_buf_puts(out, "&gt;");
            break;
        case '"':
            fxs_buf_puts(out, "&quot;");
            break;
        default:
            fxs_buf_putc(out, s[i]);
        }
    }
}

void fxs_escape_dot(fxs_buf *out, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"' || s[i] == '\\')
            fxs_buf_putc(out, '\\');
        fxs_buf_putc(out, s[i]);
    }
}

void fxs_escape_dot_label(fxs_buf *out, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (s[i] == '&')
            fxs_buf_puts(out, "&amp;");
        else
            fxs_escape_dot(out, s + i, 1);
}

void fxs_escape_id(fxs_buf *out, const char *s) {
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            strchr("_-.", c))
            fxs_buf_putc(out, *s);
        else
            fxs_buf_printf(out, "_%02x", c);
    }
}
