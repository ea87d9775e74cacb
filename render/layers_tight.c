/* layers_tight.c: strands become as short as they can be. Their length in all is the sum, over the
 * vertices, of rank times need: strands that come in less strands that go out. It is least exactly
 * when along strands that can't be shorter so much can flow to every vertex as it needs (and from
 * those with a negative need). Where a unit finds no way, all that it reached moves one way
 * together, which shortens more than it lengthens, until it can go on. Inside of frames ranks stay
 * as they come: of several ways that are equally short, equal blocks there would go different ones.
 * Called by layers_rank.c. */
#include <limits.h>

#include "layers_rank.h"

/* So many strands are looked at for each one; then ranks stay as good as they are. Networks take
 * less than 30; at 100,000 nodes it is a fraction of a second. */
enum { LOOKS_EACH = 200, LOOKS_ANYWAY = 100000 };

typedef struct tight {
    const fxs_ranker *w;
    fxs_layers *g;
    long *flow;            /* by strand */
    long *need;            /* by vertex: what does not flow to it yet */
    size_t *queue, nqueue; /* vertices that the unit reached, */
    size_t *by;            /* by which strand each */
    size_t *seen, search;  /* by vertex: the last search that reached it */
    double looks;          /* that are left */
} tight;

static bool is_tight(const fxs_layers *g, const fxs_strand *s) {
    return g->vertices[s->to].rank - g->vertices[s->from].rank == fxs_strand_length(s);
}

static void reach(tight *t, size_t vertex, size_t strand) {
    if (t->seen[vertex] == t->search)
        return;
    t->seen[vertex] = t->search;
    t->by[vertex] = strand;
    t->queue[t->nqueue++] = vertex;
}

/* Where what a vertex has too much of may go, or, `up`, where what it needs may come from: along
 * tight strands, and back along those in which it flows already. */
static void look_around(tight *t, size_t at, bool up) {
    const fxs_ranker *w = t->w;
    const fxs_layers *g = t->g;
    for (size_t i = w->out_start[at]; i < w->out_start[at + 1]; i++)
        if (up ? t->flow[w->outs[i]] > 0 : is_tight(g, &g->strands[w->outs[i]]))
            reach(t, g->strands[w->outs[i]].to, w->outs[i]);
    for (size_t i = w->in_start[at]; i < w->in_start[at + 1]; i++)
        if (up ? is_tight(g, &g->strands[w->ins[i]]) : t->flow[w->ins[i]] > 0)
            reach(t, g->strands[w->ins[i]].from, w->ins[i]);
    t->looks -=
        (double)(w->out_start[at + 1] - w->out_start[at] + w->in_start[at + 1] - w->in_start[at]);
}

/* A unit flows between `at`, which was found, and where the search began. */
static void flow_to(tight *t, size_t at, size_t begin, bool up) {
    t->need[at] += up ? 1 : -1;
    t->need[begin] += up ? -1 : 1;
    while (at != begin) {
        const fxs_strand *s = &t->g->strands[t->by[at]];
        bool is_end = s->to == at;
        t->flow[t->by[at]] += is_end != up ? 1 : -1;
        at = is_end ? s->from : s->to;
    }
}

/* Whether a unit found its way; else t->queue has all that it reached. */
static bool push_unit(tight *t, size_t begin, bool up) {
    t->nqueue = 0;
    t->search++;
    reach(t, begin, 0);
    for (size_t i = 0; i < t->nqueue; i++) {
        size_t at = t->queue[i];
        if (up ? t->need[at] < 0 : t->need[at] > 0) {
            flow_to(t, at, begin, up);
            return true;
        }
        look_around(t, at, up);
    }
    return false;
}

/* What was reached moves down, or up, as far as strands allow. */
static void move_reached(tight *t, bool up) {
    const fxs_ranker *w = t->w;
    const fxs_layers *g = t->g;
    const size_t *start = up ? w->in_start : w->out_start, *list = up ? w->ins : w->outs;
    int by = INT_MAX;
    for (size_t k = 0; k < t->nqueue; k++) {
        size_t v = t->queue[k];
        for (size_t i = start[v]; i < start[v + 1]; i++) {
            const fxs_strand *s = &g->strands[list[i]];
            int slack = g->vertices[s->to].rank - g->vertices[s->from].rank - fxs_strand_length(s);
            if (t->seen[up ? s->from : s->to] != t->search && slack < by)
                by = slack;
        }
    }
    for (size_t k = 0; k < t->nqueue; k++)
        t->g->vertices[t->queue[k]].rank += up ? -by : by;
}

static bool prepare(tight *t) {
    fxs_layers *g = t->g;
    t->flow = FXS_NEW_N(g->arena, long, g->nstrands);
    t->need = FXS_NEW_N(g->arena, long, g->nvertices);
    t->queue = FXS_NEW_N(g->arena, size_t, g->nvertices);
    t->by = FXS_NEW_N(g->arena, size_t, g->nvertices);
    t->seen = FXS_NEW_N(g->arena, size_t, g->nvertices);
    if (!t->flow || !t->need || !t->queue || !t->by || !t->seen)
        return false;
    for (size_t i = 0; i < g->nstrands; i++) {
        t->need[g->strands[i].to]++;
        t->need[g->strands[i].from]--;
    }
    return true;
}

fxs_status fxs_layers_tighten(const fxs_ranker *w) {
    fxs_layers *g = w->g;
    tight t = {.w = w, .g = g, .looks = LOOKS_ANYWAY + LOOKS_EACH * (double)g->nstrands};
    for (size_t v = 0; v < g->nvertices; v++)
        if (fxs_is_port(&g->vertices[v]))
            return FXS_OK;
    if (!prepare(&t))
        return FXS_ENOMEM;
    for (size_t v = 0; v < g->nvertices; v++)
        while (t.need[v] && t.looks > 0) {
            bool up = t.need[v] > 0;
            if (!push_unit(&t, v, up))
                move_reached(&t, up);
        }
    return FXS_OK;
}
