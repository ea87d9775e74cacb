/* paper.c: see paper.h. Called by draw.c. */
#include "paper.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MM (72 / 25.4)
enum { SMALLEST_PAPER = 144, LARGEST_PAPER = 14400 };
enum { SMALLEST_TILE = 64, LARGEST_TILE = 32767 };

static const struct {
    const char *name;
    double w, h;
} papers[] = {
    {"a3", 297 * MM, 420 * MM}, {"a4", 210 * MM, 297 * MM}, {"a5", 148 * MM, 210 * MM},
    {"letter", 612, 792},       {"legal", 612, 1008},       {"tabloid", 792, 1224},
};

const char *fxs_paper_names(void) { return "a3, a4, a5, letter, legal, tabloid"; }

/* Digits with a point; strtod alone takes hexadecimal, infinity and blanks too. */
static bool read_number(const char **at, double *value) {
    size_t n = strspn(*at, "0123456789.");
    char digits[32], *end;
    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, *at, n);
    digits[n] = '\0';
    *value = strtod(digits, &end);
    *at += n;
    return *end == '\0' && *value > 0 && *value < 1e6;
}

static bool read_unit(const char *unit, double *points) {
    static const struct {
        const char *name;
        double points;
    } units[] = {{"", 1}, {"pt", 1}, {"mm", MM}, {"cm", 10 * MM}, {"in", 72}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *points = units[i].points;
            return true;
        }
    return false;
}

bool fxs_length_parse(const char *text, fxs_length *out) {
    double points;
    *out = (fxs_length){0};
    if (strcmp(text, "page") == 0) {
        out->page = true;
        return true;
    }
    if (!read_number(&text, &out->value))
        return false;
    out->pixels = strcmp(text, "px") == 0;
    if (out->pixels)
        return true;
    if (!read_unit(text, &points))
        return false;
    out->value *= points;
    return true;
}

bool fxs_paper_parse(const char *text, double *w, double *h) {
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (strcasecmp(text, papers[i].name) == 0) {
            *w = papers[i].w;
            *h = papers[i].h;
            return true;
        }
    double points;
    if (!read_number(&text, w) || *text++ != 'x' || !read_number(&text, h) ||
        !read_unit(text, &points))
        return false;
    *w *= points;
    *h *= points;
    return *w >= SMALLEST_PAPER && *h >= SMALLEST_PAPER && *w <= LARGEST_PAPER &&
           *h <= LARGEST_PAPER;
}

bool fxs_tile_parse(const char *text, double *w, double *h) {
    return read_number(&text, w) && *text++ == 'x' && read_number(&text, h) && *text == '\0' &&
           *w == (int)*w && *h == (int)*h && *w >= SMALLEST_TILE && *h >= SMALLEST_TILE &&
           *w <= LARGEST_TILE && *h <= LARGEST_TILE;
}
