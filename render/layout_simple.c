/* layout_simple.c: the engine "simple", the fallback when dot fails or would take too long:
 * layered, and linear but for sorting. Edges go straight down through ranks and curve only between
 * them, so that no edge crosses a box. */
#include <string.h>

#include "layers.h"
#include "ranks.h"

/* More bends than this are not made: then the longest edges go straight, behind the boxes. */
enum { MAX_BENDS = 2000000, BEND_WIDTH = 8 };

static int span_of(const fxs_view *v, const int *rank, size_t edge) {
    const fxs_view_edge *e = &v->edges[edge];
    return e->from < e->to ? rank[e->to] - rank[e->from] : 0;
}

/* The longest span that gets bends, so that their number stays in bounds; their number goes to
 * *bends. */
static int longest_span(const fxs_view *v, const int *rank, int nranks, size_t *bends) {
    for (int limit = nranks;; limit /= 2) {
        *bends = 0;
        for (size_t i = 0; i < v->nedges; i++) {
            int span = span_of(v, rank, i);
            if (span > 1 && span <= limit)
                *bends += (size_t)span - 1;
        }
        if (*bends <= MAX_BENDS)
            return limit;
    }
}

/* Straightness counts most where an edge is nothing but a line, and on the main path. By number of
 * ends that bend. */
static const double weights[2][3] = {{1, 2, 8}, {16, 16, 16}};

static void add_edge(fxs_layers *g, const int *rank, size_t edge, int span) {
    const fxs_view_edge *e = &g->view->edges[edge];
    size_t from = e->from;
    g->first[edge] = g->nsegments;
    g->count[edge] = (size_t)span;
    for (int k = 1; k <= span; k++) {
        size_t to = e->to;
        if (k < span) {
            to = g->nvertices++;
            g->vertices[to] =
                (fxs_vertex){.rank = rank[e->from] + k, .bend = true, .w = BEND_WIDTH};
        }
        g->segments[g->nsegments++] =
            (fxs_segment){.up = from,
                          .down = to,
                          .spine = e->spine,
                          .weight = weights[e->spine][(from >= g->view->nnodes) + (k < span)]};
        from = to;
    }
}

static bool make_vertices(fxs_layers *g, const int *rank) {
    const fxs_view *v = g->view;
    size_t bends;
    int longest = longest_span(v, rank, g->nranks, &bends);
    g->vertices = FXS_NEW_N(&g->arena, fxs_vertex, v->nnodes + bends);
    g->segments = FXS_NEW_N(&g->arena, fxs_segment, v->nedges + bends);
    g->first = FXS_NEW_N(&g->arena, size_t, v->nedges);
    g->count = FXS_NEW_N(&g->arena, size_t, v->nedges);
    if (!g->vertices || !g->segments || !g->first || !g->count)
        return false;
    for (size_t i = 0; i < v->nnodes; i++) {
        const fxs_label *l = &v->nodes[i].label;
        g->vertices[i] =
            (fxs_vertex){.rank = rank[i], .w = v->lr ? l->h : l->w, .h = v->lr ? l->w : l->h};
    }
    g->nvertices = v->nnodes;
    for (size_t i = 0; i < v->nedges; i++) {
        int span = span_of(v, rank, i);
        g->first[i] = FXS_NO_SEGMENT;
        if (span > 0 && span <= longest)
            add_edge(g, rank, i, span);
    }
    return true;
}

/* Counts become starts; start has n + 1 places and the last one gets the total. */
static void sum_up(size_t *start, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t count = start[i];
        start[i] = sum;
        sum += count;
    }
}

static bool list_ranks(fxs_layers *g) {
    size_t nranks = (size_t)g->nranks;
    g->start = FXS_NEW_N(&g->arena, size_t, nranks + 1);
    g->order = FXS_NEW_N(&g->arena, size_t, g->nvertices);
    size_t *filled = FXS_NEW_N(&g->arena, size_t, nranks + 1);
    if (!g->start || !g->order || !filled)
        return false;
    for (size_t i = 0; i < g->nvertices; i++)
        g->start[g->vertices[i].rank]++;
    sum_up(g->start, nranks);
    for (size_t i = 0; i < g->nvertices; i++) {
        fxs_vertex *x = &g->vertices[i];
        x->place = filled[x->rank]++;
        g->order[g->start[x->rank] + x->place] = i;
    }
    return true;
}

/* The lists of segments by one of their ends. */
static bool list_ends(fxs_layers *g, bool by_up, size_t **start, size_t **list) {
    *start = FXS_NEW_N(&g->arena, size_t, g->nvertices + 1);
    *list = FXS_NEW_N(&g->arena, size_t, g->nsegments);
    size_t *filled = FXS_NEW_N(&g->arena, size_t, g->nvertices);
    if (!*start || !*list || !filled)
        return false;
    for (size_t i = 0; i < g->nsegments; i++)
        (*start)[by_up ? g->segments[i].up : g->segments[i].down]++;
    sum_up(*start, g->nvertices);
    for (size_t i = 0; i < g->nsegments; i++) {
        size_t end = by_up ? g->segments[i].up : g->segments[i].down;
        (*list)[(*start)[end] + filled[end]++] = i;
    }
    return true;
}

static fxs_status layout_simple(const fxs_view *v, double seconds, fxs_scene *s, fxs_buf *why) {
    (void)seconds;
    fxs_layers g = {.view = v};
    int *rank = FXS_NEW_N(&g.arena, int, v->nnodes);
    g.nranks = rank ? fxs_ranks(v, rank) : -1;
    bool ok = g.nranks >= 0 && make_vertices(&g, rank) && list_ranks(&g) &&
              list_ends(&g, true, &g.down_start, &g.downs) &&
              list_ends(&g, false, &g.up_start, &g.ups) && fxs_layers_order(&g) &&
              fxs_layers_place(&g) && fxs_layers_route(&g, s);
    fxs_arena_clear(&g.arena);
    if (!ok)
        fxs_buf_puts(why, "out of memory");
    return ok ? FXS_OK : FXS_ENOMEM;
}

const fxs_engine fxs_engine_simple = {.name = "simple", .run = layout_simple};
