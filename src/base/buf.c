/* buf.c: see buf.h. */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

static bool reserve(fxs_buf *b, size_t more) {
    if (b->failed)
        return false;
    if (more < b->cap - b->len) /* one byte stays for the NUL */
        return true;
    size_t cap = b->cap ? b->cap * 2 : 128;
    while (cap && cap - b->len <= more)
        cap *= 2;
    char *p = cap ? fxs_realloc(b->data, cap, 1) : NULL;
    if (!p) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void fxs_buf_add(fxs_buf *b, const char *s, size_t n) {
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->len, s, n);
    b->len += n;
    b->data[b->len] = '\0';
}

char *fxs_buf_room(fxs_buf *b, size_t n) { return reserve(b, n) ? b->data + b->len : NULL; }

void fxs_buf_wrote(fxs_buf *b, size_t n) {
    b->len += n;
    b->data[b->len] = '\0';
}

void fxs_buf_puts(fxs_buf *b, const char *s) { fxs_buf_add(b, s, strlen(s)); }

void fxs_buf_putc(fxs_buf *b, char c) { fxs_buf_add(b, &c, 1); }

void fxs_buf_fill(fxs_buf *b, char c, size_t n) {
    if (!reserve(b, n))
        return;
    memset(b->data + b->len, c, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void fxs_buf_vprintf(fxs_buf *b, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    } else {
        b->failed = true;
    }
    va_end(again);
}

void fxs_buf_printf(fxs_buf *b, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fxs_buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void fxs_buf_cut(fxs_buf *b, size_t n) {
    if (n < b->len) {
        b->len = n;
        b->data[n] = '\0';
    }
}

char *fxs_buf_take(fxs_buf *b, size_t *len) {
    if (!b->data)
        fxs_buf_add(b, "", 0);
    char *s = b->failed ? NULL : b->data;
    if (len)
        *len = s ? b->len : 0;
    if (!s)
        fxs_free(b->data);
    *b = (fxs_buf){0};
    return s;
}

void fxs_buf_free(fxs_buf *b) {
    fxs_free(b->data);
    *b = (fxs_buf){0};
}
