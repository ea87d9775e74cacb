/* layers_build.c: strands become links from rank to rank with bends between them, the vertices are
 * listed by rank in a first order, and the graph is cut into stretches. Called by
 * layout_layered.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"

/* More bends than these are not made: then the longest strands run in lanes beside everything, and
 * memory stays linear. */
enum { BENDS_EACH = 6, BENDS_ANYWAY = 20000 };

/* Straightness counts most where a strand is nothing but a line. By number of ends that are bends.
 */
static const double weights[3] = {1, 2, 8};
#define SPINE_WEIGHT 4

void fxs_sum_up(size_t *start, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t count = start[i];
        start[i] = sum;
        sum += count;
    }
}

static int span_of(const fxs_layers *g, size_t strand) {
    const fxs_strand *s = &g->strands[strand];
    return g->vertices[s->to].rank - g->vertices[s->from].rank;
}

static bool may_be_lane(const fxs_layers *g, const fxs_strand *s) {
    return !s->labelled && !s->trunk && s->row == 0 &&
           g->vertices[s->from].kind == FXS_VERTEX_NODE &&
           g->vertices[s->to].kind == FXS_VERTEX_NODE;
}

/* The longest span that gets bends, so that their number stays in bounds; it goes to *bends. */
static int longest_span(const fxs_layers *g, size_t *bends) {
    size_t most = BENDS_ANYWAY + BENDS_EACH * (g->nitems + g->nstrands);
    for (int limit = g->nranks;; limit /= 2) {
        *bends = 0;
        for (size_t i = 0; i < g->nstrands; i++) {
            int span = span_of(g, i);
            if (span > 1 && (span <= limit || !may_be_lane(g, &g->strands[i])))
                *bends += (size_t)span - 1;
        }
        if (*bends <= most || limit <= 1)
            return limit;
    }
}

static fxs_vertex bend_of(const fxs_view *v, const fxs_strand *s, int rank, bool label) {
    fxs_vertex b = {.kind = FXS_VERTEX_BEND,
                    .of = s->edge,
                    .rank = rank,
                    .left = FXS_BEND_WIDTH / 2.0,
                    .right = FXS_BEND_WIDTH / 2.0};
    if (label) {
        double w = ceil(v->edges[s->edge].label.width), h = ceil(fxs_faces[FXS_INK_KEY].line);
        b.kind = FXS_VERTEX_LABEL;
        b.left = v->lr ? h + 2 : b.left;
        b.right = v->lr ? b.right : w + FXS_PAD_X;
        b.h = v->lr ? w + 2 * FXS_PAD_X : h;
    }
    return b;
}

static void add_links(fxs_layers *g, fxs_strand *s, int span) {
    size_t from = s->from;
    s->first = g->nlinks;
    s->count = (size_t)span;
    for (int k = 1; k <= span; k++) {
        size_t to = s->to;
        if (k < span) {
            to = g->nvertices++;
            g->vertices[to] =
                bend_of(g->view, s, g->vertices[s->from].rank + k, s->labelled && k == span / 2);
        }
        const fxs_vertex *up = &g->vertices[from], *down = &g->vertices[to];
        int bends = (up->kind >= FXS_VERTEX_JUNCTION) + (down->kind >= FXS_VERTEX_JUNCTION);
        g->links[g->nlinks++] =
            (fxs_link){.up = from,
                       .down = to,
                       .up_off = k == 1 ? s->from_off : 0,
                       .row = k == 1 ? s->row : 0,
                       .down_off = k == span ? s->to_off : 0,
                       .weight = weights[bends] * (s->spine || s->trunk ? SPINE_WEIGHT : 1),
                       .spine = s->spine,
                       .trunk = s->trunk,
                       .tensor = g->view->edges[s->edge].tensor,
                       .free = down->kind == FXS_VERTEX_NODE};
        from = to;
    }
}

static bool add_all_links(fxs_layers *g) {
    size_t bends;
    int longest = longest_span(g, &bends);
    fxs_vertex *all = FXS_NEW_N(g->arena, fxs_vertex, g->nvertices + bends);
    g->links = FXS_NEW_N(g->arena, fxs_link, g->nstrands + bends);
    if (!all || !g->links)
        return false;
    memcpy(all, g->vertices, g->nvertices * sizeof *all);
    g->vertices = all;
    for (size_t i = 0; i < g->nstrands; i++) {
        int span = span_of(g, i);
        if (span <= longest || !may_be_lane(g, &g->strands[i]))
            add_links(g, &g->strands[i], span);
    }
    return true;
}

/* The lists of links by one of their ends. */
static bool list_ends(fxs_layers *g, bool by_up, size_t **start, size_t **list) {
    *start = FXS_NEW_N(g->arena, size_t, g->nvertices + 1);
    *list = FXS_NEW_N(g->arena, size_t, g->nlinks);
    size_t *filled = FXS_NEW_N(g->arena, size_t, g->nvertices);
    if (!*start || !*list || !filled)
        return false;
    for (size_t i = 0; i < g->nlinks; i++)
        (*start)[by_up ? g->links[i].up : g->links[i].down]++;
    fxs_sum_up(*start, g->nvertices);
    for (size_t i = 0; i < g->nlinks; i++) {
        size_t end = by_up ? g->links[i].up : g->links[i].down;
        (*list)[(*start)[end] + filled[end]++] = i;
    }
    return true;
}

/* ---- a first order
 * ------------------------------------------------------------------------------------------ */

typedef struct walk {
    fxs_layers *g;
    bool up;
    size_t *stack, *filled;
    bool *seen;
} walk;

/* Everything that can be reached from `root`, children in the order of arguments: a place in its
 * rank for each. */
static void walk_from(walk *w, size_t root) {
    fxs_layers *g = w->g;
    const size_t *start = w->up ? g->up_start : g->down_start, *list = w->up ? g->ups : g->downs;
    size_t depth = 0;
    w->stack[depth++] = root;
    w->seen[root] = true;
    while (depth) {
        size_t at = w->stack[--depth];
        fxs_vertex *v = &g->vertices[at];
        v->place = w->filled[v->rank]++;
        g->order[g->start[v->rank] + v->place] = at;
        for (size_t i = start[at + 1]; i-- > start[at];) {
            const fxs_link *l = &g->links[list[i]];
            size_t next = w->up ? l->up : l->down;
            if (!w->seen[next]) {
                w->seen[next] = true;
                w->stack[depth++] = next;
            }
        }
    }
}

fxs_status fxs_layers_walk(fxs_layers *g, bool up) {
    walk w = {.g = g,
              .up = up,
              .stack = FXS_NEW_N(g->arena, size_t, g->nvertices),
              .filled = FXS_NEW_N(g->arena, size_t, g->nranks),
              .seen = FXS_NEW_N(g->arena, bool, g->nvertices)};
    if (!w.stack || !w.filled || !w.seen)
        return FXS_ENOMEM;
    for (size_t k = 0; k < g->nvertices; k++) {
        const size_t *start = up ? g->down_start : g->up_start;
        size_t i = up ? g->nvertices - 1 - k : k;
        if (!w.seen[i] && start[i] == start[i + 1])
            walk_from(&w, i);
    }
    return FXS_OK;
}

static bool list_ranks(fxs_layers *g) {
    g->start = FXS_NEW_N(g->arena, size_t, g->nranks + 1);
    g->order = FXS_NEW_N(g->arena, size_t, g->nvertices);
    if (!g->start || !g->order)
        return false;
    for (size_t i = 0; i < g->nvertices; i++)
        g->start[g->vertices[i].rank]++;
    fxs_sum_up(g->start, (size_t)g->nranks);
    return true;
}

fxs_status fxs_layers_build(fxs_layers *g) {
    if (!add_all_links(g) || !list_ranks(g) || !list_ends(g, true, &g->down_start, &g->downs) ||
        !list_ends(g, false, &g->up_start, &g->ups))
        return FXS_ENOMEM;
    return fxs_layers_walk(g, true);
}

/* ---- stretches
 * ---------------------------------------------------------------------------------------------- */

static void put_number(fxs_buf *b, double x) { fxs_buf_add(b, (const char *)&x, sizeof x); }

/* All that decides about a stretch's arrangement, as bytes. */
static void describe(const fxs_layers *g, const fxs_stretch *s, fxs_buf *b) {
    fxs_buf_cut(b, 0);
    for (int r = s->first; r <= s->last; r++) {
        put_number(b, (double)(g->start[r + 1] - g->start[r]));
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++) {
            const fxs_vertex *v = &g->vertices[g->order[i]];
            put_number(b, v->kind >= FXS_VERTEX_LABEL);
            put_number(b, v->left);
            put_number(b, v->right);
            size_t first = g->down_start[g->order[i]], end = g->down_start[g->order[i] + 1];
            for (size_t k = first; k < end && r < s->last; k++) {
                const fxs_link *l = &g->links[g->downs[k]];
                put_number(b, (double)g->vertices[l->down].place);
                put_number(b, l->weight);
                put_number(b, l->up_off);
                put_number(b, l->row);
                put_number(b, l->down_off);
                put_number(b, l->spine);
            }
        }
    }
}

static uint64_t hash_of(const fxs_buf *b) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < b->len; i++)
        h = (h ^ (unsigned char)b->data[i]) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* Equal ones find each other in a table of open addresses. */
static fxs_status find_twins(fxs_layers *g, fxs_stretch *list, size_t n) {
    size_t size = 16;
    while (size < 2 * n)
        size *= 2;
    size_t *table = FXS_NEW_N(g->arena, size_t, size);
    uint64_t *hash = FXS_NEW_N(g->arena, uint64_t, n);
    fxs_buf a = {0}, b = {0};
    if (!table || !hash)
        return FXS_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        describe(g, &list[i], &a);
        hash[i] = hash_of(&a);
        size_t at = hash[i] & (size - 1);
        for (; table[at] && !a.failed && !b.failed; at = (at + 1) & (size - 1)) {
            size_t other = table[at] - 1;
            if (hash[other] != hash[i])
                continue;
            describe(g, &list[other], &b);
            if (a.len == b.len && memcmp(a.data, b.data, a.len) == 0) {
                list[i].twin = other;
                break;
            }
        }
        if (list[i].twin == FXS_NO_INDEX)
            table[at] = i + 1;
        if (a.failed || b.failed)
            break;
    }
    bool failed = a.failed || b.failed;
    fxs_buf_free(&a);
    fxs_buf_free(&b);
    return failed ? FXS_ENOMEM : FXS_OK;
}

bool fxs_layers_cut(const fxs_layers *g, int r) { return g->start[r + 1] - g->start[r] == 1; }

fxs_status fxs_layers_stretches(fxs_layers *g, fxs_stretch **list, size_t *n) {
    *n = 0;
    *list = FXS_NEW_N(g->arena, fxs_stretch, g->nranks);
    if (!*list)
        return FXS_ENOMEM;
    int first = 0;
    for (int r = 1; r < g->nranks; r++)
        if (r == g->nranks - 1 || fxs_layers_cut(g, r)) {
            (*list)[(*n)++] = (fxs_stretch){first, r, FXS_NO_INDEX};
            first = r;
        }
    if (g->nranks == 1)
        (*list)[(*n)++] = (fxs_stretch){0, 0, FXS_NO_INDEX};
    return find_twins(g, *list, *n);
}
