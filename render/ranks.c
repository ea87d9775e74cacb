/* ranks.c: see ranks.h. Called by view.c and the layouts. */
#include "ranks.h"

#include <limits.h>
#include <string.h>

/* Number of edges of the longest path that ends at each node. */
static void measure_depth(const fxs_view *v, int *depth) {
    memset(depth, 0, v->nnodes * sizeof *depth);
    for (size_t i = 0; i < v->nedges;
         i++) { /* edges come by target, so a source's depth is final */
        const fxs_view_edge *e = &v->edges[i];
        if (e->from < e->to && depth[e->to] <= depth[e->from])
            depth[e->to] = depth[e->from] + 1;
    }
}

/* What is known of a node while ranks sink. */
typedef struct sink {
    bool stays;     /* computed from an input of the graph */
    int first_user; /* rank of the first user, INT_MAX: none yet */
} sink;

static int sunk(const sink *s, int rank) {
    return s->stays || s->first_user == INT_MAX ? rank : s->first_user - 1;
}

/* Inputs, weights, and what is computed from weights alone, go down to just above their first user.
 */
static void sink_down(const fxs_view *v, sink *s, int *rank) {
    for (size_t i = 0; i < v->nnodes; i++)
        s[i] = (sink){.first_user = INT_MAX};
    for (size_t i = 0; i < v->nedges; i++) {
        const fxs_view_edge *e = &v->edges[i];
        if (e->from < e->to &&
            (s[e->from].stays || v->nodes[e->from].node->kind == FXS_PLACEHOLDER))
            s[e->to].stays = true;
    }
    for (size_t i = v->nedges;
         i-- > 0;) { /* by target, backwards: all users of a target were seen before it */
        const fxs_view_edge *e = &v->edges[i];
        if (e->from >= e->to)
            continue;
        int user = sunk(&s[e->to], rank[e->to]);
        if (user < s[e->from].first_user)
            s[e->from].first_user = user;
    }
    for (size_t i = 0; i < v->nnodes; i++)
        rank[i] = sunk(&s[i], rank[i]);
}

int fxs_ranks(const fxs_view *v, int *rank) {
    sink *s = fxs_alloc(v->nnodes, sizeof *s);
    if (!s)
        return -1;
    measure_depth(v, rank);
    sink_down(v, s, rank);
    fxs_free(s);
    int count = 0;
    for (size_t i = 0; i < v->nnodes; i++)
        count = rank[i] >= count ? rank[i] + 1 : count;
    return count;
}

double fxs_ranks_size(const fxs_view *v, const int *rank) {
    double size = (double)v->nnodes + (double)v->nedges;
    for (size_t i = 0; i < v->nedges; i++) {
        int span = rank[v->edges[i].to] - rank[v->edges[i].from];
        size += span > 1 ? 2.0 * (span - 1) : 0;
    }
    return size;
}

/* The main path is where the data goes: a way through a size is taken where there is no other. */
enum { TENSOR_LENGTH = 1000, OTHER_LENGTH = -1 };

typedef struct arrival {
    int64_t length; /* of the longest path that ends here */
    size_t edge;    /* its last edge; only when length is not 0 */
} arrival;

bool fxs_ranks_spine(fxs_view *v) {
    arrival *best = fxs_alloc0(v->nnodes, sizeof *best);
    size_t at = 0;
    if (!best)
        return false;
    for (size_t i = 0; i < v->nedges; i++) { /* by target, as above */
        const fxs_view_edge *e = &v->edges[i];
        int64_t length = best[e->from].length + (e->tensor ? TENSOR_LENGTH : OTHER_LENGTH);
        if (e->from < e->to && length > best[e->to].length)
            best[e->to] = (arrival){length, i};
    }
    for (size_t i = 1; i < v->nnodes; i++)
        at = best[i].length >= best[at].length ? i : at;
    for (; v->nnodes && best[at].length; at = v->edges[best[at].edge].from)
        v->edges[best[at].edge].spine = true;
    fxs_free(best);
    return true;
}
