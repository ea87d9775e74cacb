/* near.c: see near.h. How far two names are apart is the number of letters to add, take away or
 * change, whatever their case; a star of the pattern stands for no letter. */
#include "pass/near.h"

#include <ctype.h>
#include <string.h>

enum { MOST = 48 }; /* of letters that are compared */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t letters(const char *s, char *out) {
    size_t n = 0;
    for (; *s && n < MOST; s++)
        if (!strchr("*?[]", *s))
            out[n++] = (char)tolower((unsigned char)*s);
    return n;
}

static size_t distance(const char *a, const char *b) {
    char x[MOST], y[MOST];
    size_t n = letters(a, x), m = letters(b, y), row[MOST + 1];
    for (size_t k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            size_t change = corner + (x[i - 1] != y[k - 1]);
            corner = row[k];
            row[k] = least(change, least(row[k], row[k - 1]) + 1);
        }
    }
    return row[m];
}

/* Of a path its last part may be what is meant. */
static size_t how_far(const char *wanted, const char *name) {
    const char *dot = strrchr(name, '.');
    size_t whole = distance(wanted, name);
    return dot && !strchr(wanted, '.') ? least(whole, distance(wanted, dot + 1) + 1) : whole;
}

void fxs_near_offer(fxs_near *p, const char *name) {
    if (!name || !*name)
        return;
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->name[i], name) == 0)
            return;
    size_t far = how_far(p->wanted, name), at = p->n;
    while (at > 0 && far < p->far[at - 1])
        at--;
    if (at == FXS_NEAR_NAMES)
        return;
    p->n += p->n < FXS_NEAR_NAMES;
    memmove(p->name + at + 1, p->name + at, (p->n - 1 - at) * sizeof *p->name);
    memmove(p->far + at + 1, p->far + at, (p->n - 1 - at) * sizeof *p->far);
    p->name[at] = name;
    p->far[at] = far;
}

void fxs_near_put(const fxs_near *p, fxs_buf *b) {
    fxs_buf_puts(b, p->n ? " (near: " : " (there is none)");
    for (size_t i = 0; i < p->n; i++)
        fxs_buf_printf(b, "%s%s", i ? ", " : "", p->name[i]);
    if (p->n)
        fxs_buf_putc(b, ')');
}
