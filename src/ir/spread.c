/* spread.c: see spread.h. */
#include "ir/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/pytext.h"

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
    for (size_t i = 0; i < c->s.neach; i++)
        fxs_value_unref((fxs_value *)&c->s.each[i]); /* in the arena, and nobody else's */
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

static size_t count_digits(const char *s) { return strspn(s, "0123456789"); }

/* Length of 12, 0.5, 1e-05 at s, and whether it is more than digits. */
static size_t number_length(const char *s, bool *real) {
    size_t n = count_digits(s);
    if (s[n] == '.' && is_digit(s[n + 1])) {
        *real = true;
        n += 1 + count_digits(s + n + 1);
    }
    size_t sign = s[n] == 'e' && (s[n + 1] == '-' || s[n + 1] == '+') ? 2 : 1;
    if (s[n] == 'e' && is_digit(s[n + sign])) {
        *real = true;
        n += sign + count_digits(s + n + sign);
    }
    return n;
}

static void put_real(fxs_buf *b, double x) { fxs_buf_printf(b, "%.4g", x); }

static void put_reals(fxs_buf *b, const reader *r) {
    double least = 0, most = 0;
    for (size_t i = 0; i < r->n; i++) {
        const char *s = r->texts[i] + r->at[i];
        bool real;
        double x = 0;
        fxs_read_float(s, number_length(s, &real), &x);
        least = i == 0 || x < least ? x : least;
        most = i == 0 || x > most ? x : most;
    }
    fxs_buf_least_most(b, least, most, put_real);
}

static void put_wholes(fxs_buf *b, const reader *r) {
    unsigned long long least = 0, most = 0;
    for (size_t i = 0; i < r->n; i++) {
        unsigned long long x = strtoull(r->texts[i] + r->at[i], NULL, 10);
        least = i == 0 || x < least ? x : least;
        most = i == 0 || x > most ? x : most;
    }
    fxs_buf_printf(b, "%llu", least);
    if (least != most)
        fxs_buf_printf(b, "\xe2\x80\xa6%llu", most); /* an ellipsis */
}

/* A number at the place of each text. */
static void put_range(fxs_buf *b, reader *r) {
    bool exact = true, real = false;
    const char *first = r->texts[0] + r->at[0];
    size_t len = number_length(first, &real);
    for (size_t i = 1; i < r->n; i++) {
        const char *s = r->texts[i] + r->at[i];
        exact = number_length(s, &real) == len && memcmp(s, first, len) == 0 && exact;
    }
    if (exact)
        fxs_buf_add(b, first, len);
    else if (real)
        put_reals(b, r);
    else
        put_wholes(b, r);
    for (size_t i = 0; i < r->n; i++)
        r->at[i] += number_length(r->texts[i] + r->at[i], &real);
}

void fxs_buf_least_most(fxs_buf *b, double least, double most, void (*put)(fxs_buf *b, double x)) {
    fxs_buf low = {0}, high = {0};
    put(&low, least);
    put(&high, most);
    b->failed = b->failed || low.failed || high.failed;
    if (!b->failed && low.len == high.len && memcmp(low.data, high.data, low.len) == 0)
        fxs_buf_puts(b, least == most ? "" : "\xe2\x89\x88"); /* almost equal */
    else if (!b->failed)
        fxs_buf_printf(b, "%.*s\xe2\x80\xa6", (int)low.len, low.data); /* an ellipsis */
    if (!b->failed)
        fxs_buf_add(b, high.data, high.len);
    fxs_buf_free(&low);
    fxs_buf_free(&high);
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

/* ---- what leaves a run ---- */

static bool is_around(const fxs_scope *s, const fxs_scope *inner) {
    while (inner && inner != s)
        inner = inner->outer;
    return inner != NULL;
}

size_t fxs_runs_left(const fxs_node *n, const fxs_scope *to) {
    size_t runs = n->meta.times > 1 ? n->meta.times : 1;
    for (const fxs_scope *s = n->scope; s && !is_around(s, to); s = s->outer)
        runs *= s->times > 1 ? s->times : 1;
    return runs;
}
