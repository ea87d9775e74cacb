/* layers_rank.c: the rank of each item of a working graph: longest paths, then whatever makes wires
 * shorter. Called by layout_layered.c; also says that a graph has a cycle. */
#include <limits.h>

#include "layers_rank.h"

enum { PASSES = 8, FARTHEST = 1000 /* ranks that are looked at for room */ };

static bool list_strands(const fxs_layers *g, bool by_from, size_t **start, size_t **list) {
    *start = FXS_NEW_N(g->arena, size_t, g->nvertices + 1);
    *list = FXS_NEW_N(g->arena, size_t, g->nstrands);
    size_t *filled = FXS_NEW_N(g->arena, size_t, g->nvertices);
    if (!*start || !*list || !filled)
        return false;
    for (size_t i = 0; i < g->nstrands; i++)
        (*start)[by_from ? g->strands[i].from : g->strands[i].to]++;
    fxs_sum_up(*start, g->nvertices);
    for (size_t i = 0; i < g->nstrands; i++) {
        size_t end = by_from ? g->strands[i].from : g->strands[i].to;
        (*list)[(*start)[end] + filled[end]++] = i;
    }
    return true;
}

/* Sources first; false leaves *stuck at a cluster that waits for itself. */
static bool sort(fxs_ranker *w, size_t *waiting, size_t *stuck) {
    const fxs_layers *g = w->g;
    size_t done = 0, n = 0;
    for (size_t i = 0; i < g->nvertices; i++) {
        waiting[i] = w->in_start[i + 1] - w->in_start[i];
        if (waiting[i] == 0)
            w->sorted[n++] = i;
    }
    for (; done < n; done++) {
        size_t at = w->sorted[done];
        for (size_t i = w->out_start[at]; i < w->out_start[at + 1]; i++) {
            size_t to = g->strands[w->outs[i]].to;
            if (--waiting[to] == 0)
                w->sorted[n++] = to;
        }
    }
    if (n == g->nvertices)
        return true;
    size_t at = 0;
    while (waiting[at] == 0)
        at++;
    /* Upwards for so long ends in a cycle; it has a cluster, for without clusters there is none. */
    for (size_t step = 0; step < g->nvertices || g->vertices[at].kind != FXS_VERTEX_CLUSTER;
         step++) {
        size_t i = w->in_start[at];
        while (waiting[g->strands[w->ins[i]].from] == 0)
            i++;
        at = g->strands[w->ins[i]].from;
    }
    *stuck = at;
    return false;
}

/* Longest paths from the top. */
static void fall(fxs_ranker *w) {
    fxs_layers *g = w->g;
    for (size_t k = 0; k < g->nvertices; k++) {
        fxs_vertex *v = &g->vertices[w->sorted[k]];
        for (size_t i = w->in_start[w->sorted[k]]; i < w->in_start[w->sorted[k] + 1]; i++) {
            const fxs_strand *s = &g->strands[w->ins[i]];
            const fxs_vertex *up = &g->vertices[s->from];
            int rank = up->rank + fxs_strand_length(s);
            v->rank = rank > v->rank ? rank : v->rank;
            v->sinks &= up->sinks && (up->kind != FXS_VERTEX_NODE ||
                                      g->view->nodes[up->of].node->kind != FXS_PLACEHOLDER);
        }
    }
}

static int highest(const fxs_ranker *w, size_t at) {
    int rank = 0;
    for (size_t i = w->in_start[at]; i < w->in_start[at + 1]; i++) {
        const fxs_strand *s = &w->g->strands[w->ins[i]];
        int least = w->g->vertices[s->from].rank + fxs_strand_length(s);
        rank = least > rank ? least : rank;
    }
    return rank;
}

static int lowest(const fxs_ranker *w, size_t at) {
    int rank = INT_MAX;
    for (size_t i = w->out_start[at]; i < w->out_start[at + 1]; i++) {
        const fxs_strand *s = &w->g->strands[w->outs[i]];
        int most = w->g->vertices[s->to].rank - fxs_strand_length(s);
        rank = most < rank ? most : rank;
    }
    return rank == INT_MAX ? w->g->vertices[at].rank : rank;
}

/* How many values come in, and whether anything goes out: one value is one line, however many use
 * it near by. */
static bool wants_down(const fxs_ranker *w, size_t at) {
    size_t in = w->in_start[at + 1] - w->in_start[at],
           out = w->out_start[at + 1] - w->out_start[at];
    return out && (w->g->vertices[at].sinks || out > in);
}

static bool wants_up(const fxs_ranker *w, size_t at) {
    size_t in = w->in_start[at + 1] - w->in_start[at],
           out = w->out_start[at + 1] - w->out_start[at];
    return !w->g->vertices[at].sinks && in > out;
}

/* What shortens more wires than it lengthens moves as far as it can; over and over. */
static void tighten(fxs_ranker *w) {
    fxs_layers *g = w->g;
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        for (size_t k = g->nvertices; k-- > 0;) {
            size_t at = w->sorted[k];
            int to = wants_down(w, at) && !fxs_is_port(&g->vertices[at]) ? lowest(w, at)
                                                                         : g->vertices[at].rank;
            moved |= to != g->vertices[at].rank;
            g->vertices[at].rank = to;
        }
        for (size_t k = 0; k < g->nvertices; k++) {
            size_t at = w->sorted[k];
            int to = wants_up(w, at) && !fxs_is_port(&g->vertices[at]) ? highest(w, at)
                                                                       : g->vertices[at].rank;
            moved |= to != g->vertices[at].rank;
            g->vertices[at].rank = to;
        }
    }
}

static double width_of(const fxs_vertex *v) { return v->left + v->right; }

/* What a rank may measure with the newcomer, as a part of the one that it leaves; found by trying
 * on the networks of the tests. */
#define WORTH_IT 0.9

/* The narrowest rank of those where the vertex may stand, of equal ones the lowest; its own when
 * none would be clearly narrower with it. */
static int roomiest(const fxs_ranker *w, const double *width, size_t at) {
    const fxs_vertex *v = &w->g->vertices[at];
    int high = highest(w, at), low = lowest(w, at), best = v->rank;
    double least = width[v->rank] - width_of(v);
    high = high < low - FARTHEST ? low - FARTHEST : high;
    for (int rank = low; rank >= high; rank--) {
        if (rank == v->rank || width[rank] >= least ||
            width[rank] + width_of(v) >= WORTH_IT * width[v->rank])
            continue;
        least = width[rank];
        best = rank;
    }
    return best;
}

/* What makes as many wires longer as shorter leaves ranks that are crowded: a mask that many blocks
 * cut their part from stays one line until it is used. */
static fxs_status spread(fxs_ranker *w) {
    fxs_layers *g = w->g;
    int high = 0;
    for (size_t i = 0; i < g->nvertices; i++)
        high = g->vertices[i].rank > high ? g->vertices[i].rank : high;
    double *width = FXS_NEW_N(g->arena, double, (size_t)high + 1);
    if (!width)
        return FXS_ENOMEM;
    for (size_t i = 0; i < g->nvertices; i++)
        width[g->vertices[i].rank] += width_of(&g->vertices[i]);
    for (size_t k = g->nvertices; k-- > 0;) {
        size_t at = w->sorted[k];
        fxs_vertex *v = &g->vertices[at];
        size_t in = w->in_start[at + 1] - w->in_start[at],
               out = w->out_start[at + 1] - w->out_start[at];
        if (in != out || out == 0 || v->sinks || fxs_is_port(v))
            continue;
        int to = roomiest(w, width, at);
        width[v->rank] -= width_of(v);
        width[to] += width_of(v);
        v->rank = to;
    }
    return FXS_OK;
}

/* The first rank is 0, ports out are in the last one. */
static void level(fxs_layers *g) {
    int low = INT_MAX, high = 0;
    for (size_t i = 0; i < g->nvertices; i++)
        low = g->vertices[i].rank < low ? g->vertices[i].rank : low;
    for (size_t i = 0; i < g->nvertices; i++) {
        g->vertices[i].rank -= low;
        high = g->vertices[i].rank > high ? g->vertices[i].rank : high;
    }
    for (size_t i = 0; i < g->nvertices; i++)
        if (g->vertices[i].kind == FXS_VERTEX_OUT)
            g->vertices[i].rank = high;
    g->nranks = g->nvertices ? high + 1 : 0;
}

fxs_status fxs_layers_rank(fxs_layers *g, size_t *stuck) {
    fxs_ranker w = {.g = g};
    size_t *waiting = FXS_NEW_N(g->arena, size_t, g->nvertices);
    w.sorted = FXS_NEW_N(g->arena, size_t, g->nvertices);
    if (!waiting || !w.sorted || !list_strands(g, true, &w.out_start, &w.outs) ||
        !list_strands(g, false, &w.in_start, &w.ins))
        return FXS_ENOMEM;
    if (!sort(&w, waiting, stuck))
        return FXS_EINVAL;
    bool in = false;
    for (size_t i = 0; i < g->nvertices; i++) {
        fxs_vertex *v = &g->vertices[i];
        in |= v->kind == FXS_VERTEX_IN;
        v->sinks = v->kind != FXS_VERTEX_IN;
    }
    for (size_t i = 0; i < g->nvertices; i++) /* nothing stands beside the ports above */
        g->vertices[i].rank = in && g->vertices[i].kind != FXS_VERTEX_IN;
    fall(&w);
    /* The ports below, before anything sinks towards them. */
    int last = 0;
    for (size_t i = 0; i < g->nvertices; i++) {
        int rank = g->vertices[i].rank + (g->vertices[i].kind != FXS_VERTEX_OUT);
        last = rank > last ? rank : last;
    }
    for (size_t i = 0; i < g->nvertices; i++)
        if (g->vertices[i].kind == FXS_VERTEX_OUT)
            g->vertices[i].rank = last;
    tighten(&w);
    FXS_TRY(fxs_layers_tighten(&w));
    level(g);
    FXS_TRY(spread(&w));
    level(g);
    return FXS_OK;
}
