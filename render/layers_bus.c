/* layers_bus.c: wires become strands. Where each of several nodes takes all that the one before it
 * took and then something new, as the concatenations of a dense block do, the values run in one
 * bus: what joins it goes to every node further down, so that nothing crosses and nothing is said
 * twice. Called by layout_layered.c. */
#include <string.h>

#include "layers.h"

/* Shorter growth is not worth a bus: so many nodes take from it, and so much the last one. */
enum { MIN_TAKERS = 3, MIN_TAKEN = 4 };

typedef struct taker {
    size_t wire, count; /* its wires */
    size_t before;      /* the node that took all but the last of it, FXS_NO_INDEX: none */
    size_t last;        /* last node of the bus, for its first one */
    size_t length;      /* nodes so far */
    size_t junction;    /* vertex, FXS_NO_INDEX: not in a bus */
    size_t trunk;       /* strand from the junction before to its own */
    size_t tail;        /* strand from the junction */
} taker;

typedef struct gatherer {
    fxs_layers *g;
    taker *takers;     /* by vertex */
    size_t *last_with; /* by vertex: the last taker whose first value it is */
    size_t *head;      /* by wire: the strand that brings the value to the bus */
} gatherer;

/* Whether two wires bring the same value. */
static bool is_same(const fxs_wire *a, const fxs_wire *b) {
    return a->from == b->from && a->from_off == b->from_off && a->row == b->row;
}

/* All come in at one place, and no value comes twice. */
static bool is_plain(const gatherer *w, const taker *t) {
    for (size_t i = t->wire; i < t->wire + t->count; i++) {
        if (w->g->wires[i].to_off != w->g->wires[t->wire].to_off)
            return false;
        for (size_t k = t->wire; k < i && t->count < 8; k++)
            if (is_same(&w->g->wires[k], &w->g->wires[i]))
                return false;
    }
    return true;
}

static bool takes_all_of(const gatherer *w, const taker *t, const taker *earlier) {
    if (t->count <= earlier->count)
        return false;
    for (size_t i = 0; i < earlier->count; i++)
        if (!is_same(&w->g->wires[t->wire + i], &w->g->wires[earlier->wire + i]))
            return false;
    return true;
}

/* Who takes what another took, in the order of the wires. */
static void find_chains(gatherer *w) {
    const fxs_layers *g = w->g;
    for (size_t i = 0; i < g->nitems; i++) {
        w->takers[i].before = w->takers[i].junction = FXS_NO_INDEX;
        w->last_with[i] = FXS_NO_INDEX;
    }
    for (size_t i = 0, n; i < g->nwires; i += n) {
        size_t to = g->wires[i].to, value = g->wires[i].from;
        for (n = 1; i + n < g->nwires && g->wires[i + n].to == to; n++)
            ;
        taker *t = &w->takers[to];
        t->wire = i;
        t->count = n;
        t->length = 1;
        if (g->vertices[to].kind == FXS_VERTEX_OUT || !is_plain(w, t))
            continue;
        size_t before = w->last_with[value];
        if (before != FXS_NO_INDEX && !takes_all_of(w, t, &w->takers[before]))
            continue;
        t->before = before;
        t->length = before == FXS_NO_INDEX ? 1 : w->takers[before].length + 1;
        w->last_with[value] = to;
    }
}

/* From the last node of a chain that is long enough back to the first: they get junctions. */
static void mark_chains(gatherer *w) {
    fxs_layers *g = w->g;
    for (size_t i = 0; i < g->nitems; i++) {
        size_t last = w->last_with[i];
        if (last == FXS_NO_INDEX || w->takers[last].length < MIN_TAKERS ||
            w->takers[last].count < MIN_TAKEN)
            continue;
        for (size_t at = last; at != FXS_NO_INDEX; at = w->takers[at].before) {
            w->takers[at].junction = g->nvertices;
            g->vertices[g->nvertices++] = (fxs_vertex){.kind = FXS_VERTEX_JUNCTION,
                                                       .left = FXS_BEND_WIDTH / 2.0,
                                                       .right = FXS_BEND_WIDTH / 2.0};
        }
    }
}

/* A label stands where the value comes from, once. */
static size_t add_strand(fxs_layers *g, size_t from, size_t to, const fxs_wire *w) {
    g->strands[g->nstrands] = (fxs_strand){.from = from,
                                           .to = to,
                                           .from_off = from == w->from ? w->from_off : 0,
                                           .to_off = to == w->to ? w->to_off : 0,
                                           .row = from == w->from ? w->row : 0,
                                           .edge = w->edge,
                                           .spine = w->spine,
                                           .labelled = w->labelled && from == w->from};
    return g->nstrands++;
}

/* The strands of one bus from its first node down: along it without a gap in their numbers. */
static void add_bus(gatherer *w, size_t last) {
    fxs_layers *g = w->g;
    size_t n = w->takers[last].length, first = g->nstrands;
    g->nstrands += n - 1;
    size_t at = last;
    for (size_t k = n; k-- > 1; at = w->takers[at].before) {
        size_t above = w->takers[at].before;
        w->takers[at].trunk = first + k - 1;
        g->strands[first + k - 1] = (fxs_strand){.from = w->takers[above].junction,
                                                 .to = w->takers[at].junction,
                                                 .edge = g->wires[w->takers[at].wire].edge,
                                                 .trunk = true};
    }
    w->takers[at].trunk = first - 1; /* so that what joins at k runs in the strands from its
                                        trunk + 1 to the trunk of where it leaves */
    for (at = last; at != FXS_NO_INDEX; at = w->takers[at].before) {
        taker *t = &w->takers[at];
        size_t known = t->before == FXS_NO_INDEX ? 0 : w->takers[t->before].count;
        for (size_t i = t->wire + known; i < t->wire + t->count; i++)
            w->head[i] = add_strand(g, g->wires[i].from, t->junction, &g->wires[i]);
        t->tail = add_strand(g, t->junction, at, &g->wires[t->wire + t->count - 1]);
    }
}

/* Wire i of a taker came to the bus with the first node that took so many. */
static void route_in_bus(gatherer *w, size_t to) {
    const taker *t = &w->takers[to];
    size_t at = to;
    for (size_t i = t->count; i-- > 0;) {
        while (w->takers[at].before != FXS_NO_INDEX && i < w->takers[w->takers[at].before].count)
            at = w->takers[at].before;
        const taker *joined = &w->takers[at];
        fxs_wire *wire = &w->g->wires[t->wire + i];
        wire->part[0] = (fxs_strands){w->head[joined->wire + i], 1};
        wire->part[1] = (fxs_strands){joined->trunk + 1, t->trunk - joined->trunk};
        wire->part[2] = (fxs_strands){t->tail, 1};
    }
}

static bool prepare(gatherer *w) {
    fxs_layers *g = w->g;
    w->takers = FXS_NEW_N(g->arena, taker, g->nitems);
    w->last_with = FXS_NEW_N(g->arena, size_t, g->nitems);
    w->head = FXS_NEW_N(g->arena, size_t, g->nwires);
    /* A junction for each target at most; then two strands more. */
    g->strands = FXS_NEW_N(g->arena, fxs_strand, g->nwires + 2 * g->nitems);
    return w->takers && w->last_with && w->head && g->strands;
}

fxs_status fxs_layers_gather(fxs_layers *g) {
    gatherer w = {.g = g};
    if (!prepare(&w))
        return FXS_ENOMEM;
    find_chains(&w);
    mark_chains(&w);
    for (size_t i = 0; i < g->nitems; i++)
        if (w.last_with[i] != FXS_NO_INDEX && w.takers[w.last_with[i]].junction != FXS_NO_INDEX)
            add_bus(&w, w.last_with[i]);
    for (size_t i = 0; i < g->nwires; i++) {
        size_t to = g->wires[i].to;
        if (w.takers[to].junction == FXS_NO_INDEX)
            g->wires[i].part[0] =
                (fxs_strands){add_strand(g, g->wires[i].from, to, &g->wires[i]), 1};
        else if (w.takers[to].wire == i)
            route_in_bus(&w, to);
    }
    return FXS_OK;
}
