/* areas.c: see areas.h. */
#include "areas.h"

#include <math.h>

fxs_area fxs_area_none(void) { return (fxs_area){{INFINITY, INFINITY}, {-INFINITY, -INFINITY}}; }

void fxs_area_reach(fxs_area *a, double x, double y) {
    a->low.x = fmin(a->low.x, x);
    a->low.y = fmin(a->low.y, y);
    a->high.x = fmax(a->high.x, x);
    a->high.y = fmax(a->high.y, y);
}

void fxs_area_join(fxs_area *a, const fxs_area *other) {
    fxs_area_reach(a, other->low.x, other->low.y);
    fxs_area_reach(a, other->high.x, other->high.y);
}

fxs_area fxs_area_grown(fxs_area a, double by) {
    return (fxs_area){{a.low.x - by, a.low.y - by}, {a.high.x + by, a.high.y + by}};
}

bool fxs_area_touches(const fxs_area *a, const fxs_area *b) {
    return a->low.x <= b->high.x && a->high.x >= b->low.x && a->low.y <= b->high.y &&
           a->high.y >= b->low.y;
}

static size_t blocks_of(size_t n) { return (n + FXS_AREAS_BLOCK - 1) / FXS_AREAS_BLOCK; }

bool fxs_areas_open(fxs_areas *t, size_t n, fxs_arena *a) {
    *t = (fxs_areas){.n = n};
    for (;; n = blocks_of(n)) {
        if (!(t->level[t->nlevels++] = FXS_NEW_N(a, fxs_area, n)))
            return false;
        if (n <= FXS_AREAS_BLOCK)
            return true;
    }
}

void fxs_areas_close(fxs_areas *t) {
    size_t n = t->n;
    for (size_t l = 1; l < t->nlevels; l++, n = blocks_of(n)) {
        for (size_t b = 0; b < blocks_of(n); b++)
            t->level[l][b] = fxs_area_none();
        for (size_t i = 0; i < n; i++) {
            const fxs_area *a = &t->level[l - 1][i];
            if (a->low.x <= a->high.x && a->low.y <= a->high.y) /* nothing: it covers no point */
                fxs_area_join(&t->level[l][i / FXS_AREAS_BLOCK], a);
        }
    }
}

/* How many numbers from i on are known not to touch: the largest block that begins there. */
static size_t skipped(const fxs_areas *t, const fxs_area *in, size_t i) {
    size_t skip = 0, size = 1;
    for (size_t l = 0; l < t->nlevels && i % size == 0; l++, size *= FXS_AREAS_BLOCK) {
        if (fxs_area_touches(&t->level[l][i / size], in))
            break;
        skip = size;
    }
    return skip;
}

size_t fxs_areas_next(const fxs_areas *t, const fxs_area *in, size_t from) {
    size_t skip;
    for (size_t i = from; i < t->n; i += skip)
        if (!(skip = skipped(t, in, i)))
            return i;
    return t->n;
}
