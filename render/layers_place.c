/* layers_place.c: x of every vertex of a working graph, stretch by stretch. Vertices that stand
 * under each other become chains with one x: long strands are straight by construction, and so are
 * rows of nodes. Then every chain goes to the mean of what it is connected to, as near as the order
 * and the distances allow. Called by layout_layered.c. */
#include <math.h>
#include <string.h>

#include "layers.h"

enum { ROUNDS = 20, DISTANCE = 20, BEND_DISTANCE = 8, MIXED_DISTANCE = 12, WIDE_FORK = 3 };
enum { LONG_STRETCH = 16 /* ranks */, SIZES = 3, LOOSE = 4 };

typedef struct chain {
    size_t head; /* its first vertex, the next ones by `next` */
    double x, target, low, high;
    bool fixed;
    size_t waiting;
} chain;

/* b stands at least `gap` to the right of a. */
typedef struct fence {
    size_t a, b; /* chains */
    double gap;
} fence;

typedef struct placer {
    fxs_layers *g;
    const fxs_stretch *s;
    size_t *chain_of, *next, *before; /* by vertex */
    double *shift;                    /* of a vertex from its chain's x */
    bool *rigid;                      /* by link */
    bool *leads;                      /* by vertex: to the end of the stretch */
    double *aside;                    /* of a vertex from the line of its chain, in a branch */
    size_t *accepted;                 /* links between two ranks, from left to right */
    chain *chains;
    size_t nchains;
    fence *fences;
    size_t nfences;
    size_t *in_start, *ins, *out_start, *outs, *filled; /* fences by their ends */
    size_t *sorted;                                     /* chains, from left to right */
    double *pushed;
    bool spine;     /* stays straight in this stretch */
    bool sizes;     /* so do chains that carry no tensor, */
    bool any_sizes; /* of which there are some */
} placer;

/* ---- chains
 * -------------------------------------------------------------------------------------------------
 */

static bool is_bend(const fxs_vertex *v) { return v->kind >= FXS_VERTEX_JUNCTION; }

static size_t fan(const size_t *start, size_t v) { return start[v + 1] - start[v]; }

static double distance(const fxs_vertex *a, const fxs_vertex *b) {
    double gap = is_bend(a) && is_bend(b)   ? BEND_DISTANCE
                 : is_bend(a) || is_bend(b) ? MIXED_DISTANCE
                                            : DISTANCE;
    return a->right + a->room[1] + b->room[0] + b->left + gap;
}

/* The smaller, the more it matters that the link is straight; LOOSE: it does not. */
static int urgency(const placer *p, const fxs_link *l) {
    const fxs_layers *g = p->g;
    if (l->trunk || (l->spine && p->spine))
        return 0;
    if (is_bend(&g->vertices[l->up]) && is_bend(&g->vertices[l->down]))
        return 1;
    if (fan(g->down_start, l->up) == 1 && fan(g->up_start, l->down) == 1)
        return l->tensor ? 2 : p->sizes ? SIZES : LOOSE;
    return LOOSE;
}

/* Puts the link among those accepted between two ranks, unless it crosses one of them. */
static void accept(placer *p, size_t link, size_t *n) {
    const fxs_layers *g = p->g;
    const fxs_link *l = &g->links[link];
    size_t up = g->vertices[l->up].place, down = g->vertices[l->down].place, at = 0, end = *n;
    if (p->next[l->up] != FXS_NO_INDEX || p->before[l->down] != FXS_NO_INDEX)
        return;
    while (at < end) {
        size_t mid = (at + end) / 2;
        if (g->vertices[g->links[p->accepted[mid]].up].place < up)
            at = mid + 1;
        else
            end = mid;
    }
    if ((at > 0 && g->vertices[g->links[p->accepted[at - 1]].down].place >= down) ||
        (at < *n && g->vertices[g->links[p->accepted[at]].down].place <= down))
        return;
    memmove(p->accepted + at + 1, p->accepted + at, (*n - at) * sizeof *p->accepted);
    p->accepted[at] = link;
    (*n)++;
    p->next[l->up] = l->down;
    p->before[l->down] = l->up;
    p->rigid[link] = true;
}

/* Straight links that do not cross each other: so chains do not cross. */
static void join_ranks(placer *p, int r) {
    const fxs_layers *g = p->g;
    size_t n = 0;
    for (int class = 0; class < LOOSE; class ++)
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            for (size_t k = g->down_start[g->order[i]]; k < g->down_start[g->order[i] + 1]; k++)
                if (urgency(p, &g->links[g->downs[k]]) == class) {
                    accept(p, g->downs[k], &n);
                    p->any_sizes |= class == SIZES;
                }
}

static void add_chain(placer *p, size_t head) {
    const fxs_layers *g = p->g;
    double shift = 0;
    p->chains[p->nchains] = (chain){.head = head, .low = -INFINITY, .high = INFINITY};
    for (size_t v = head;;) {
        p->chain_of[v] = p->nchains;
        p->shift[v] = shift + p->aside[v];
        if (p->next[v] == FXS_NO_INDEX)
            break;
        for (size_t k = g->down_start[v]; k < g->down_start[v + 1]; k++) {
            const fxs_link *l = &g->links[g->downs[k]];
            if (p->rigid[g->downs[k]])
                shift += l->up_off - l->down_off;
        }
        v = p->next[v];
    }
    p->nchains++;
}

static size_t below(const fxs_layers *g, size_t v) {
    return g->links[g->downs[g->down_start[v]]].down;
}

/* Whether one link comes and one goes, in the vertex' own line. */
static bool is_straight(const fxs_layers *g, size_t v) {
    return fan(g->up_start, v) == 1 && fan(g->down_start, v) == 1 &&
           g->links[g->ups[g->up_start[v]]].down_off == 0 &&
           g->links[g->downs[g->down_start[v]]].up_off == 0;
}

/* Two branches from one node to another, both of them chains, side by side and equally long: they
 * stand around a line with its ends. */
typedef struct twins {
    size_t left, right, end; /* the first vertex of each, and where they end */
    double gap;              /* between their lines */
} twins;

static bool find_twins(const placer *p, size_t u, twins *t) {
    const fxs_layers *g = p->g;
    size_t nodes = 0;
    if (g->vertices[u].kind != FXS_VERTEX_NODE || fan(g->down_start, u) != 2)
        return false;
    size_t a = below(g, u), b = g->links[g->downs[g->down_start[u] + 1]].down;
    bool turned = g->vertices[a].place > g->vertices[b].place;
    *t = (twins){.left = turned ? b : a, .right = turned ? a : b};
    a = t->left;
    b = t->right;
    for (; a != b; a = below(g, a), b = below(g, b)) {
        const fxs_vertex *x = &g->vertices[a], *y = &g->vertices[b];
        if (x->kind != y->kind || x->rank >= p->s->last || y->place != x->place + 1 ||
            !is_straight(g, a) || !is_straight(g, b))
            return false;
        nodes += !is_bend(x);
        t->gap = fmax(t->gap, 2 * ceil(distance(x, y) / 2));
    }
    t->end = a;
    return nodes && fan(g->up_start, a) == 2 && g->vertices[a].kind == FXS_VERTEX_NODE;
}

static size_t append(placer *p, size_t end, size_t v, double aside) {
    p->next[end] = v;
    p->before[v] = end;
    p->aside[v] = aside;
    for (size_t k = p->g->up_start[v]; k < p->g->up_start[v + 1]; k++)
        p->rigid[p->g->ups[k]] = true;
    return v;
}

/* Branches and their ends are one chain. */
static void join_twins(placer *p) {
    const fxs_layers *g = p->g;
    for (size_t i = g->start[p->s->first]; i < g->start[p->s->last]; i++) {
        size_t end = g->order[i];
        twins t;
        if (!find_twins(p, end, &t))
            continue;
        for (size_t v = t.left; v != t.end; v = below(g, v))
            end = append(p, end, v, -t.gap / 2);
        for (size_t v = t.right; v != t.end; v = below(g, v))
            end = append(p, end, v, t.gap / 2);
        append(p, end, t.end, 0);
    }
}

static void make_chains(placer *p, bool pairs, bool join) {
    const fxs_layers *g = p->g;
    const fxs_stretch *s = p->s;
    p->nchains = 0;
    for (size_t i = g->start[s->first]; i < g->start[s->last + 1]; i++) {
        size_t v = g->order[i];
        p->next[v] = p->before[v] = FXS_NO_INDEX;
        p->aside[v] = 0;
        for (size_t k = g->down_start[v]; k < g->down_start[v + 1]; k++)
            p->rigid[g->downs[k]] = false;
    }
    if (pairs)
        join_twins(p);
    for (int r = s->first; r < s->last && join; r++)
        join_ranks(p, r);
    for (size_t i = g->start[s->first]; i < g->start[s->last + 1]; i++)
        if (p->before[g->order[i]] == FXS_NO_INDEX)
            add_chain(p, g->order[i]);
}

/* ---- fences
 * -------------------------------------------------------------------------------------------------
 */

static void make_fences(placer *p) {
    const fxs_layers *g = p->g;
    p->nfences = 0;
    for (int r = p->s->first; r <= p->s->last; r++)
        for (size_t i = g->start[r]; i + 1 < g->start[r + 1]; i++) {
            size_t a = g->order[i], b = g->order[i + 1];
            if (p->chain_of[a] == p->chain_of[b]) /* two branches that keep their distance */
                continue;
            p->fences[p->nfences++] =
                (fence){p->chain_of[a], p->chain_of[b],
                        distance(&g->vertices[a], &g->vertices[b]) + p->shift[a] - p->shift[b]};
        }
}

static void list_fences(placer *p, bool by_a, size_t *start, size_t *list) {
    memset(start, 0, (p->nchains + 1) * sizeof *start);
    memset(p->filled, 0, p->nchains * sizeof *p->filled);
    for (size_t i = 0; i < p->nfences; i++)
        start[by_a ? p->fences[i].a : p->fences[i].b]++;
    fxs_sum_up(start, p->nchains);
    for (size_t i = 0; i < p->nfences; i++) {
        size_t end = by_a ? p->fences[i].a : p->fences[i].b;
        list[start[end] + p->filled[end]++] = i;
    }
}

/* From left to right; false when chains wind around each other, which straight links alone do not.
 */
static bool sort_chains(placer *p) {
    size_t n = 0;
    list_fences(p, true, p->out_start, p->outs);
    list_fences(p, false, p->in_start, p->ins);
    for (size_t c = 0; c < p->nchains; c++) {
        p->chains[c].waiting = fan(p->in_start, c);
        if (!p->chains[c].waiting)
            p->sorted[n++] = c;
    }
    for (size_t done = 0; done < n; done++)
        for (size_t i = p->out_start[p->sorted[done]]; i < p->out_start[p->sorted[done] + 1]; i++)
            if (--p->chains[p->fences[p->outs[i]].b].waiting == 0)
                p->sorted[n++] = p->fences[p->outs[i]].b;
    return n == p->nchains;
}

/* ---- places
 * -------------------------------------------------------------------------------------------------
 */

/* What fixed chains leave to the others; false when they do not leave anything. */
static bool find_bounds(placer *p) {
    bool ok = true;
    for (size_t k = 0; k < p->nchains; k++) {
        chain *c = &p->chains[p->sorted[k]];
        c->low = c->fixed ? c->x : -INFINITY;
        for (size_t i = p->in_start[p->sorted[k]]; i < p->in_start[p->sorted[k] + 1]; i++) {
            const fence *f = &p->fences[p->ins[i]];
            c->low = fmax(c->low, p->chains[f->a].low + f->gap);
        }
        ok &= !c->fixed || c->low <= c->x;
    }
    for (size_t k = p->nchains; k-- > 0;) {
        chain *c = &p->chains[p->sorted[k]];
        c->high = c->fixed ? c->x : INFINITY;
        for (size_t i = p->out_start[p->sorted[k]]; i < p->out_start[p->sorted[k] + 1]; i++) {
            const fence *f = &p->fences[p->outs[i]];
            c->high = fmin(c->high, p->chains[f->b].high - f->gap);
        }
        ok &= !c->fixed || c->high >= c->x;
    }
    return ok;
}

/* The fences hold when everything is pushed to the right, and when everything is pushed to the
 * left; half way between, they hold too, and nothing goes further than it must. */
static void keep_fences(placer *p) {
    for (size_t k = 0; k < p->nchains; k++) {
        size_t c = p->sorted[k];
        double x = fmin(fmax(p->chains[c].target, p->chains[c].low), p->chains[c].high);
        p->chains[c].target = x;
        for (size_t i = p->in_start[c]; i < p->in_start[c + 1]; i++) {
            const fence *f = &p->fences[p->ins[i]];
            x = fmax(x, p->pushed[f->a] + f->gap);
        }
        p->pushed[c] = x;
    }
    for (size_t k = p->nchains; k-- > 0;) {
        chain *c = &p->chains[p->sorted[k]];
        double x = c->target;
        for (size_t i = p->out_start[p->sorted[k]]; i < p->out_start[p->sorted[k] + 1]; i++) {
            const fence *f = &p->fences[p->outs[i]];
            x = fmin(x, p->chains[f->b].x - f->gap);
        }
        c->x = x;
    }
    for (size_t c = 0; c < p->nchains; c++)
        p->chains[c].x = (p->chains[c].x + p->pushed[c]) / 2;
}

static void pull(const placer *p, size_t v, bool above, double *sum, double *weight) {
    const fxs_layers *g = p->g;
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    for (size_t i = start[v]; i < start[v + 1]; i++) {
        if (p->rigid[list[i]])
            continue;
        const fxs_link *l = &g->links[list[i]];
        size_t other = above ? l->up : l->down;
        double off = above ? l->up_off - l->down_off : l->down_off - l->up_off;
        double w = l->spine && !p->spine ? 1 : l->weight;
        *sum += w * (p->chains[p->chain_of[other]].target + p->shift[other] + off - p->shift[v]);
        *weight += w;
    }
}

static void aim(placer *p, size_t c) {
    const fxs_layers *g = p->g;
    double sum = 0, weight = 0;
    if (p->chains[c].fixed)
        return;
    for (size_t v = p->chains[c].head; v != FXS_NO_INDEX; v = p->next[v]) {
        int r = g->vertices[v].rank;
        if (r > p->s->first)
            pull(p, v, true, &sum, &weight);
        if (r < p->s->last)
            pull(p, v, false, &sum, &weight);
    }
    if (weight > 0)
        p->chains[c].target = sum / weight;
}

static void settle(placer *p) {
    for (size_t c = 0; c < p->nchains; c++)
        p->chains[c].target = p->chains[c].x;
    keep_fences(p);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t c = 0; c < p->nchains; c++)
            p->chains[c].target = p->chains[c].x;
        for (size_t k = 0; k < p->nchains; k++)
            aim(p, round % 2 ? p->nchains - 1 - k : k);
        keep_fences(p);
    }
}

/* ---- one stretch
 * -------------------------------------------------------------------------------------------- */

static void fix(placer *p, size_t v, double x) {
    chain *c = &p->chains[p->chain_of[v]];
    if (!c->fixed)
        c->x = x - p->shift[v];
    c->fixed = true;
}

/* The ends are in one line; in a graph without ends, the main path or the longest chain is. */
static void fix_ends(placer *p) {
    const fxs_layers *g = p->g;
    const fxs_stretch *s = p->s;
    bool top = fxs_layers_cut(g, s->first), bottom = fxs_layers_cut(g, s->last);
    if (top)
        fix(p, g->order[g->start[s->first]], 0);
    if (bottom) {
        size_t v = g->order[g->start[s->last]];
        bool was = p->chains[p->chain_of[v]].fixed;
        fix(p, v, 0);
        if (!find_bounds(p) && !was)
            p->chains[p->chain_of[v]].fixed = false;
    }
    if (top || bottom)
        return;
    size_t best = 0, most = 0;
    for (size_t c = 0; c < p->nchains; c++) {
        size_t n = 0;
        for (size_t v = p->chains[c].head; v != FXS_NO_INDEX; v = p->next[v])
            n += 1 + (g->vertices[v].kind == FXS_VERTEX_NODE);
        best = n > most ? c : best;
        most = n > most ? n : most;
    }
    if (p->nchains)
        p->chains[best].fixed = true;
}

/* Whether all links of a vertex, of which there are at least two, go to nodes on one side. */
static bool has_nodes_only(const fxs_layers *g, size_t v, bool above) {
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    for (size_t i = start[v]; i < start[v + 1]; i++) {
        const fxs_link *l = &g->links[list[i]];
        if (is_bend(&g->vertices[above ? l->up : l->down]))
            return false;
    }
    return fan(start, v) > 1;
}

/* Whether a vertex leads to the last rank of its stretch, to which dead ends do not. */
static void find_ways(placer *p) {
    const fxs_layers *g = p->g;
    for (size_t i = g->start[p->s->last + 1]; i-- > g->start[p->s->first];) {
        size_t v = g->order[i];
        p->leads[v] = g->vertices[v].rank == p->s->last;
        for (size_t k = g->down_start[v]; k < g->down_start[v + 1] && !p->leads[v]; k++)
            p->leads[v] = p->leads[g->links[g->downs[k]].down];
    }
}

/* Branches that begin or end at a vertex. In a long stretch what carries no tensor counts for none:
 * a size that is taken at its top is no reason to bend the main path all the way down. A size that
 * is only looked at never is. */
static size_t branches(const placer *p, size_t v, bool above) {
    const fxs_layers *g = p->g;
    const size_t *start = above ? g->up_start : g->down_start, *list = above ? g->ups : g->downs;
    size_t n = 0;
    for (size_t i = start[v]; i < start[v + 1]; i++) {
        const fxs_link *l = &g->links[list[i]];
        n += l->tensor || (p->s->last - p->s->first < LONG_STRETCH && p->leads[l->down]);
    }
    return n;
}

/* Where many branches begin or end, and where two are equally long, they stand evenly around the
 * middle; else the main path goes straight through. */
static bool keeps_spine(placer *p) {
    const fxs_layers *g = p->g;
    const fxs_stretch *s = p->s;
    bool top = fxs_layers_cut(g, s->first), bottom = fxs_layers_cut(g, s->last);
    size_t first = g->order[g->start[s->first]], last = g->order[g->start[s->last]];
    find_ways(p);
    if ((top && branches(p, first, false) >= WIDE_FORK) ||
        (bottom && branches(p, last, true) >= WIDE_FORK))
        return false;
    return !(top && bottom && has_nodes_only(g, first, false) && has_nodes_only(g, last, true));
}

static void arrange(placer *p) {
    for (int loose = 0; loose < 3; loose++) { /* chains that do not wind around each other */
        make_chains(p, loose < 1, loose < 2);
        make_fences(p);
        if (sort_chains(p))
            break;
    }
    fix_ends(p);
    find_bounds(p);
    settle(p);
}

static double width_of(const placer *p) {
    double left = INFINITY, right = -INFINITY;
    for (size_t c = 0; c < p->nchains; c++)
        for (size_t v = p->chains[c].head; v != FXS_NO_INDEX; v = p->next[v]) {
            const fxs_vertex *x = &p->g->vertices[v];
            left = fmin(left, p->chains[c].x + p->shift[v] - x->left);
            right = fmax(right, p->chains[c].x + p->shift[v] + x->right);
        }
    return right - left;
}

/* Sizes that are asked in every layer stand side by side with the next layer's: were their chains
 * straight, each would push the one before further out. */
#define WORTH_STRAIGHT 1.1

static void place_stretch(placer *p, double at) {
    const fxs_layers *g = p->g;
    const fxs_stretch *s = p->s;
    p->spine = keeps_spine(p);
    p->sizes = true;
    p->any_sizes = false;
    arrange(p);
    if (s->last - s->first >= LONG_STRETCH && p->any_sizes) {
        double straight = width_of(p);
        p->sizes = false;
        arrange(p);
        p->sizes = straight <= WORTH_STRAIGHT * width_of(p);
        if (p->sizes)
            arrange(p);
    }
    for (size_t i = g->start[s->first]; i < g->start[s->last + 1]; i++) {
        size_t v = g->order[i];
        g->vertices[v].x = at + round(p->chains[p->chain_of[v]].x + p->shift[v]);
    }
}

static double x_of_first(const fxs_layers *g, const fxs_stretch *s) {
    return g->vertices[g->order[g->start[s->first]]].x;
}

static void copy_places(fxs_layers *g, const fxs_stretch *s, const fxs_stretch *twin) {
    double dx = x_of_first(g, s) - x_of_first(g, twin);
    for (int k = s->first == 0 ? 0 : 1; k <= s->last - s->first; k++)
        for (size_t i = 0; i < g->start[s->first + k + 1] - g->start[s->first + k]; i++)
            g->vertices[g->order[g->start[s->first + k] + i]].x =
                g->vertices[g->order[g->start[twin->first + k] + i]].x + dx;
}

static bool prepare(placer *p, fxs_layers *g) {
    *p = (placer){.g = g,
                  .chain_of = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .next = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .before = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .shift = FXS_NEW_N(g->arena, double, g->nvertices),
                  .rigid = FXS_NEW_N(g->arena, bool, g->nlinks),
                  .leads = FXS_NEW_N(g->arena, bool, g->nvertices),
                  .aside = FXS_NEW_N(g->arena, double, g->nvertices),
                  .accepted = FXS_NEW_N(g->arena, size_t, g->nlinks + 1),
                  .chains = FXS_NEW_N(g->arena, chain, g->nvertices),
                  .fences = FXS_NEW_N(g->arena, fence, g->nvertices),
                  .in_start = FXS_NEW_N(g->arena, size_t, g->nvertices + 1),
                  .ins = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .out_start = FXS_NEW_N(g->arena, size_t, g->nvertices + 1),
                  .outs = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .filled = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .sorted = FXS_NEW_N(g->arena, size_t, g->nvertices),
                  .pushed = FXS_NEW_N(g->arena, double, g->nvertices)};
    return p->chain_of && p->next && p->before && p->shift && p->rigid && p->aside && p->leads &&
           p->accepted && p->chains && p->fences && p->in_start && p->ins && p->out_start &&
           p->outs && p->filled && p->sorted && p->pushed;
}

fxs_status fxs_layers_place(fxs_layers *g, const fxs_stretch *list, size_t n) {
    placer p;
    if (!prepare(&p, g))
        return FXS_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        p.s = &list[i];
        if (fxs_clock() > g->deadline)
            return FXS_ELIMIT;
        if (list[i].twin == FXS_NO_INDEX)
            place_stretch(&p, i ? x_of_first(g, p.s) : 0);
        else
            copy_places(g, p.s, &list[list[i].twin]);
    }
    return FXS_OK;
}
