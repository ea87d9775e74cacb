/* spread.c: see spread.h. */
#include "ir/spread.h"

#include <stdlib.h>
#include <string.h>

typedef struct counted {
    fxs_spread s; /* first: callers hold a pointer to it */
    int refs;
    fxs_arena arena;
} counted;

fxs_spread *fxs_spread_new(fxs_arena **arena) {
    counted *c = fxs_alloc0(1, sizeof *c);
    if (!c)
        return NULL;
    c->refs = 1;
    c->s.least = c->s.most = fxs_none();
    *arena = &c->arena;
    return &c->s;
}

void fxs_spread_ref(const fxs_spread *s) {
    if (s)
        ((counted *)s)->refs++;
}

void fxs_spread_unref(const fxs_spread *s) {
    counted *c = (counted *)s;
    if (!c || --c->refs > 0)
        return;
    fxs_value_unref(&c->s.least);
    fxs_value_unref(&c->s.most);
    fxs_arena_clear(&c->arena);
    fxs_free(c);
}

/* ---- ranges ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Positions in the texts that are read side by side. */
typedef struct reader {
    const char *const *texts;
    size_t *at, n;
} reader;

static char here(const reader *r, size_t i) { return r->texts[i][r->at[i]]; }

/* -1: they differ in whether there is a number; 0: none; 1: all have one. */
static int numbers_here(const reader *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->n; i++)
        count += is_digit(here(r, i));
    return count == 0 ? 0 : count == r->n ? 1 : -1;
}

static void put_range(fxs_buf *b, reader *r) {
    unsigned long long least = 0, most = 0;
    bool exact = true;
    const char *first = r->texts[0] + r->at[0];
    size_t len = strspn(first, "0123456789");
    for (size_t i = 0; i < r->n; i++) {
        const char *s = r->texts[i] + r->at[i];
        char *end;
        unsigned long long x = strtoull(s, &end, 10);
        exact = exact && (size_t)(end - s) == len && memcmp(s, first, len) == 0;
        least = i == 0 || x < least ? x : least;
        most = i == 0 || x > most ? x : most;
        r->at[i] += (size_t)(end - s);
    }
    if (exact)
        fxs_buf_add(b, first, len);
    else
        fxs_buf_printf(b, "%llu\xe2\x80\xa6%llu", least, most); /* an ellipsis */
}

static bool put_char(fxs_buf *b, reader *r) {
    char c = here(r, 0);
    for (size_t i = 0; i < r->n; i++)
        if (r->texts[i][r->at[i]++] != c)
            return false;
    fxs_buf_putc(b, c);
    return true;
}

static bool is_at_end(const reader *r) {
    for (size_t i = 0; i < r->n; i++)
        if (here(r, i))
            return false;
    return true;
}

bool fxs_buf_ranges(fxs_buf *b, const char *const *texts, size_t n) {
    size_t before = b->len;
    reader r = {texts, fxs_alloc0(n, sizeof *r.at), n};
    bool ok = r.at != NULL;
    b->failed = b->failed || !ok;
    while (ok && !is_at_end(&r)) {
        int numbers = numbers_here(&r);
        if (numbers == 1)
            put_range(b, &r);
        else
            ok = numbers == 0 && put_char(b, &r);
    }
    fxs_free(r.at);
    if (!ok)
        fxs_buf_cut(b, before);
    return ok;
}
