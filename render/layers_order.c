/* layers_order.c: the order of vertices in each rank, with few crossings, stretch by stretch:
 * sweeps down and up put every vertex at the mean or median place of its neighbours, then pairs
 * that are better the other way round change places. The best order of several starts is kept; of
 * two mirror images the one that follows the order of arguments. Called by layout_layered.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers_order.h"

enum {
    SWEEPS = 24,          /* at most */
    PATIENCE = 6,         /* sweeps without gain */
    LARGE = 4000,         /* links: a stretch of more is swept less, */
    HUGE_STRETCH = 60000, /* and of more with one start only and without changing pairs */
    LARGE_SWEEPS = 10,
    HUGE_SWEEPS = 6,
    EXCHANGES = 8, /* passes over all pairs */
    STARTS = 4,
    SMALL =
        400, /* links: a stretch of no more that still has crossings is tried from more starts, */
    SHUFFLES = 24 /* which are random, the same every time */
};

typedef struct keyed {
    double key;
    size_t place, vertex;
} keyed;

typedef struct orderer {
    fxs_layers *g;
    keyed *keys;
    size_t *tree; /* sums, for counting */
    size_t *canon, *second, *best, *was;
    size_t *canon_place; /* of each vertex */
    const fxs_stretch *s;
    size_t links; /* of the stretch */
} orderer;

static int by_key(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place; /* stable, reproducible */
}

/* ---- sweeps
 * -------------------------------------------------------------------------------------------------
 */

/* Mean place of the neighbours above (or below); its own when there are none. */
static double mean_place(const fxs_layers *g, size_t vertex, bool above) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    size_t n = start[vertex + 1] - start[vertex];
    double sum = 0;
    for (size_t i = start[vertex]; i < start[vertex + 1]; i++)
        sum += fxs_end_place(g, &g->links[list[i]], above);
    return sum / (double)n;
}

/* The median, between two medians nearer to where the places are dense. */
static double median_place(const fxs_layers *g, size_t vertex, bool above) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    size_t n = start[vertex + 1] - start[vertex];
    double p[FXS_MANY_ENDS];
    if (n < 3 || n > FXS_MANY_ENDS)
        return mean_place(g, vertex, above);
    for (size_t i = 0; i < n; i++) {
        double x = fxs_end_place(g, &g->links[list[start[vertex] + i]], above);
        size_t k = i;
        for (; k > 0 && p[k - 1] > x; k--)
            p[k] = p[k - 1];
        p[k] = x;
    }
    size_t m = n / 2;
    double left = p[m - 1] - p[0], right = p[n - 1] - p[m];
    if (n % 2 || left + right == 0)
        return n % 2 ? p[m] : (p[m - 1] + p[m]) / 2;
    return (p[m - 1] * right + p[m] * left) / (left + right);
}

static void sort_rank(orderer *o, int r, bool above, bool median) {
    fxs_layers *g = o->g;
    size_t at = g->start[r], n = fxs_rank_width(g, r);
    const size_t *start = above ? g->up_start : g->down_start;
    double scale = (double)fxs_rank_width(g, above ? r - 1 : r + 1) / (double)n;
    for (size_t i = 0; i < n; i++) {
        size_t v = g->order[at + i];
        double key = start[v] == start[v + 1] ? ((double)i + 0.5) * scale - 0.5
                     : median                 ? median_place(g, v, above)
                                              : mean_place(g, v, above);
        o->keys[i] = (keyed){key, i, v};
    }
    qsort(o->keys, n, sizeof *o->keys, by_key);
    for (size_t i = 0; i < n; i++) {
        g->order[at + i] = o->keys[i].vertex;
        g->vertices[o->keys[i].vertex].place = i;
    }
}

static void sweep(orderer *o, bool down, bool median) {
    const fxs_stretch *s = o->s;
    for (int i = 1; i <= s->last - s->first; i++) {
        int r = down ? s->first + i : s->last - i;
        if (fxs_rank_width(o->g, r) > 1)
            sort_rank(o, r, down, median);
    }
}

/* ---- exchanges
 * ---------------------------------------------------------------------------------------------- */

/* Crossings of the links of a with those of b when a stands left of b, less those when it stands
 * right. */
static long gain_of(const fxs_layers *g, size_t a, size_t b, bool above) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    long gain = 0;
    for (size_t i = start[a]; i < start[a + 1]; i++)
        for (size_t k = start[b]; k < start[b + 1]; k++) {
            double x = fxs_end_place(g, &g->links[list[i]], above),
                   y = fxs_end_place(g, &g->links[list[k]], above);
            gain += (x > y) - (x < y);
        }
    return gain;
}

static size_t ends_of(const fxs_layers *g, size_t v) {
    return g->up_start[v + 1] - g->up_start[v] + g->down_start[v + 1] - g->down_start[v];
}

static bool exchange_rank(fxs_layers *g, const fxs_stretch *s, int r) {
    bool changed = false;
    for (size_t i = g->start[r]; i + 1 < g->start[r + 1]; i++) {
        size_t a = g->order[i], b = g->order[i + 1];
        if (ends_of(g, a) > FXS_MANY_ENDS || ends_of(g, b) > FXS_MANY_ENDS)
            continue;
        long gain = (r > s->first ? gain_of(g, a, b, true) : 0) +
                    (r < s->last ? gain_of(g, a, b, false) : 0);
        if (gain <= 0)
            continue;
        g->order[i] = b;
        g->order[i + 1] = a;
        g->vertices[b].place--;
        g->vertices[a].place++;
        changed = true;
    }
    return changed;
}

static void exchange(orderer *o) {
    bool changed = true;
    for (int pass = 0; pass < EXCHANGES && changed; pass++) {
        changed = false;
        for (int r = o->s->first; r <= o->s->last; r++)
            changed |= exchange_rank(o->g, o->s, r);
    }
}

/* ---- one stretch
 * -------------------------------------------------------------------------------------------- */

static void set_order(orderer *o, const size_t *order) {
    fxs_layers *g = o->g;
    size_t from = g->start[o->s->first], end = g->start[o->s->last + 1];
    memmove(g->order + from, order + from, (end - from) * sizeof *order);
    for (int r = o->s->first; r <= o->s->last; r++)
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            g->vertices[g->order[i]].place = i - g->start[r];
}

static void keep(orderer *o) {
    size_t from = o->g->start[o->s->first], end = o->g->start[o->s->last + 1];
    memcpy(o->best + from, o->g->order + from, (end - from) * sizeof *o->best);
}

static void shuffle(orderer *o, unsigned seed) {
    fxs_layers *g = o->g;
    for (int r = o->s->first; r <= o->s->last; r++)
        for (size_t i = fxs_rank_width(g, r); i-- > 1;) {
            seed = seed * 1664525u + 1013904223u;
            size_t a = g->start[r] + i, b = g->start[r] + (seed >> 8) % (i + 1), v = g->order[a];
            g->order[a] = g->order[b];
            g->order[b] = v;
        }
    set_order(o, g->order);
}

static fxs_status improve(orderer *o, int start, fxs_order_cost *least) {
    int sweeps = o->links > HUGE_STRETCH ? HUGE_SWEEPS : o->links > LARGE ? LARGE_SWEEPS : SWEEPS;
    set_order(o, start % 2 ? o->second : o->canon);
    if (start >= STARTS)
        shuffle(o, (unsigned)start);
    int idle = 0;
    for (int i = 0; i <= sweeps && idle < PATIENCE; i++, idle++) {
        if (fxs_clock() > o->g->deadline)
            return FXS_ELIMIT;
        if (i)
            sweep(o, (i + start) % 2 == 0, start / 2 % 2);
        if (i && o->links <= HUGE_STRETCH)
            exchange(o);
        fxs_order_cost c = fxs_layers_cost(o->g, o->s, o->tree);
        if (!fxs_cost_better(c, *least))
            continue;
        *least = c;
        idle = 0;
        keep(o);
    }
    return FXS_OK;
}

/* Of two mirror images, the one in which arguments come in their order. */
static void mirror(orderer *o) {
    fxs_layers *g = o->g;
    fxs_order_cost c = fxs_layers_cost(g, o->s, o->tree);
    if (2 * c.swaps <= c.pairs)
        return;
    for (int r = o->s->first; r <= o->s->last; r++)
        for (size_t i = g->start[r], k = g->start[r + 1]; i + 1 < k--; i++) {
            size_t v = g->order[i];
            g->order[i] = g->order[k];
            g->order[k] = v;
        }
    set_order(o, g->order);
}

static bool has_ports(const fxs_layers *g, const fxs_stretch *s) {
    for (size_t i = g->start[s->first]; i < g->start[s->last + 1]; i++)
        if (g->vertices[g->order[i]].kind == FXS_VERTEX_CLUSTER)
            return true;
    return false;
}

static fxs_status order_stretch(orderer *o) {
    fxs_layers *g = o->g;
    size_t widest = 0;
    o->links = 0;
    for (int r = o->s->first; r <= o->s->last; r++) {
        size_t n = fxs_rank_width(g, r);
        widest = n > widest ? n : widest;
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            o->links += g->down_start[g->order[i] + 1] - g->down_start[g->order[i]];
    }
    if (widest < 2)
        return FXS_OK;
    fxs_order_cost least = {INFINITY, INFINITY};
    int starts = o->links > LARGE ? o->links > HUGE_STRETCH ? 1 : 2 : STARTS;
    for (int i = 0; i < starts && (least.crossings > 0 || least.swaps > 0); i++)
        FXS_TRY(improve(o, i, &least));
    for (int i = STARTS; i < STARTS + SHUFFLES && o->links <= SMALL && least.crossings > 0; i++)
        FXS_TRY(improve(o, i, &least));
    set_order(o, o->best);
    bool done;
    FXS_TRY(fxs_layers_turn(g, o->s, o->tree, o->was, &done));
    if (!done && !has_ports(g, o->s)) /* these are not mirrored themselves */
        mirror(o);
    return FXS_OK;
}

/* The order of a stretch that is equal, found before. */
static void copy_order(orderer *o, const fxs_stretch *twin) {
    fxs_layers *g = o->g;
    for (int k = 0; k <= o->s->last - o->s->first; k++) {
        size_t from = g->start[twin->first + k], to = g->start[o->s->first + k];
        for (size_t i = 0; i < fxs_rank_width(g, twin->first + k); i++) {
            size_t place = o->canon_place[g->order[from + i]];
            g->order[to + i] = o->canon[to + place];
            g->vertices[g->order[to + i]].place = i;
        }
    }
}

fxs_status fxs_layers_order(fxs_layers *g, const fxs_stretch *list, size_t n) {
    size_t widest = 0;
    for (int r = 0; r < g->nranks; r++)
        widest = fxs_rank_width(g, r) > widest ? fxs_rank_width(g, r) : widest;
    orderer o = {.g = g,
                 .keys = FXS_NEW_N(g->arena, keyed, widest),
                 .tree = FXS_NEW_N(g->arena, size_t, widest + 1),
                 .canon = FXS_NEW_N(g->arena, size_t, g->nvertices),
                 .second = FXS_NEW_N(g->arena, size_t, g->nvertices),
                 .best = FXS_NEW_N(g->arena, size_t, g->nvertices),
                 .was = FXS_NEW_N(g->arena, size_t, g->nvertices),
                 .canon_place = FXS_NEW_N(g->arena, size_t, g->nvertices)};
    if (!o.keys || !o.tree || !o.canon || !o.second || !o.best || !o.was || !o.canon_place)
        return FXS_ENOMEM;
    memcpy(o.canon, g->order, g->nvertices * sizeof *o.canon);
    for (size_t i = 0; i < g->nvertices; i++)
        o.canon_place[i] = g->vertices[i].place;
    FXS_TRY(fxs_layers_walk(g, false));
    memcpy(o.second, g->order, g->nvertices * sizeof *o.second);
    for (size_t i = 0; i < n; i++) {
        o.s = &list[i];
        if (list[i].twin == FXS_NO_INDEX) {
            set_order(&o, o.canon);
            FXS_TRY(order_stretch(&o));
        } else
            copy_order(&o, &list[list[i].twin]);
    }
    return FXS_OK;
}
