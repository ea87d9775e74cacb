/* layers_turn.c: arguments come to a node in their order wherever that costs no crossing. Which of
 * two vertices of a rank stands left decides it for others: where links lead from both to two
 * vertices of the next rank, these must change places too, or a crossing comes or goes. So pairs
 * fall into sets that turn together, and whatever turns, crossings stay what they are. Each set is
 * turned when more of its arguments are wrong than right. Called by layers_order.c. */
#include <string.h>

#include "layers_order.h"

/* Larger stretches are not turned, pairs of vertices and of links being squares. */
enum { MOST_VERTEX_PAIRS = 400000, MOST_LINK_PAIRS = 4000000, PASSES = 50 };
/* Weights of votes: where lines would cross, arguments of a node, users of a value. */
enum { CROSSING = 1000000, ARGUMENT = 1000, USER = 1 };

/* Which one of a pair should stand left, for a node below or a cluster's ports. */
typedef struct vote {
    size_t pair;
    bool first; /* the one that stood left in the beginning */
    long weight;
} vote;

typedef struct turner {
    fxs_arena arena;
    fxs_layers *g;
    const fxs_stretch *s;
    size_t *tree;
    size_t *was;   /* by vertex: its place in the beginning */
    size_t *order; /* of the stretch, in the beginning */
    size_t *base;  /* by rank of the stretch: the number of its first pair */
    size_t *set;   /* by pair: another one of its set; itself: the one that stands for it */
    char *turned;  /* by set */
    char *kept;    /* the same, before what is being tried */
    long *wrong;   /* by set: weight of the votes against it */
    size_t npairs, nvotes, widest;
    vote *votes;
} turner;

/* ---- pairs and sets
 * ------------------------------------------------------------------------------------------- */

static size_t pair_at(const turner *t, int r, size_t i, size_t k) {
    size_t low = i < k ? i : k, high = i < k ? k : i;
    return t->base[r - t->s->first] + low * fxs_rank_width(t->g, r) + high;
}

static size_t pair_of(const turner *t, size_t a, size_t b) {
    return pair_at(t, t->g->vertices[a].rank, t->was[a], t->was[b]);
}

static size_t set_of(turner *t, size_t pair) {
    while (t->set[pair] != pair)
        pair = t->set[pair] = t->set[t->set[pair]];
    return pair;
}

/* Whether the vertex that was at place i of rank r stands left of that which was at k. */
static bool is_left(turner *t, const char *turned, int r, size_t i, size_t k) {
    return (i < k) != turned[set_of(t, pair_at(t, r, i, k))];
}

static void add_vote(turner *t, size_t left, size_t right, long weight) {
    t->votes[t->nvotes++] = (vote){pair_of(t, left, right), t->was[left] < t->was[right], weight};
}

/* What two links that share an end, of which a comes first, say of their other ends. */
static void vote_on(turner *t, const fxs_link *a, const fxs_link *b) {
    bool above = a->down == b->down;
    size_t x = above ? a->up : a->down, y = above ? b->up : b->down;
    double at = above ? a->down_off : a->up_off, to = above ? b->down_off : b->up_off;
    long weight = CROSSING; /* at ports lines cross */
    if (at == to && above)
        weight = ARGUMENT;
    else if (at == to) { /* from rows that go down at both sides they need not */
        at = a->row;
        to = b->row;
        weight = at == to || at == 0 || to == 0 ? USER : t->g->view->lr ? CROSSING : ARGUMENT;
        if (weight == USER)
            at = to;
    }
    add_vote(t, at <= to ? x : y, at <= to ? y : x, weight);
}

static void tie(turner *t, const fxs_link *a, const fxs_link *b) {
    if (a->up == b->up && a->down == b->down)
        return;
    if (a->up == b->up || a->down == b->down)
        vote_on(t, a, b);
    else
        t->set[set_of(t, pair_of(t, a->up, b->up))] = set_of(t, pair_of(t, a->down, b->down));
}

/* All pairs of links between rank r and the next; `links` has room for them. */
static void tie_rank(turner *t, int r, size_t *links) {
    const fxs_layers *g = t->g;
    size_t n = 0;
    for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
        for (size_t k = g->down_start[g->order[i]]; k < g->down_start[g->order[i] + 1]; k++)
            links[n++] = g->downs[k];
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            size_t a = links[i] < links[k] ? links[i] : links[k], b = links[i] + links[k] - a;
            tie(t, &g->links[a], &g->links[b]);
        }
}

/* Sizes of everything; false: it is too large. */
static bool measure(turner *t, size_t *links, size_t *votes) {
    const fxs_layers *g = t->g;
    size_t link_pairs = 0;
    *links = *votes = 0;
    for (int r = t->s->first; r <= t->s->last; r++) {
        size_t w = fxs_rank_width(g, r), n = 0;
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++) {
            size_t v = g->order[i], up = g->up_start[v + 1] - g->up_start[v],
                   down = g->down_start[v + 1] - g->down_start[v];
            *votes += r > t->s->first ? up * up / 2 : 0;
            *votes += r < t->s->last ? down * down / 2 : 0;
            n += r < t->s->last ? down : 0;
        }
        t->npairs += w * w;
        t->widest = w > t->widest ? w : t->widest;
        link_pairs += n * n / 2;
        *links = n > *links ? n : *links;
        if (t->npairs > MOST_VERTEX_PAIRS || link_pairs > MOST_LINK_PAIRS)
            return false;
    }
    return true;
}

static fxs_status prepare(turner *t, bool *fits) {
    fxs_layers *g = t->g;
    size_t links, votes, at = 0, from = g->start[t->s->first], n = g->start[t->s->last + 1] - from;
    *fits = measure(t, &links, &votes);
    if (!*fits)
        return FXS_OK;
    size_t *room = FXS_NEW_N(&t->arena, size_t, links);
    t->order = FXS_NEW_N(&t->arena, size_t, n);
    t->base = FXS_NEW_N(&t->arena, size_t, t->s->last - t->s->first + 1);
    t->set = FXS_NEW_N(&t->arena, size_t, t->npairs);
    t->turned = FXS_NEW_N(&t->arena, char, t->npairs);
    t->kept = FXS_NEW_N(&t->arena, char, t->npairs);
    t->wrong = FXS_NEW_N(&t->arena, long, t->npairs);
    t->votes = FXS_NEW_N(&t->arena, vote, votes);
    if (!room || !t->order || !t->base || !t->set || !t->turned || !t->kept || !t->wrong ||
        !t->votes)
        return FXS_ENOMEM;
    memcpy(t->order, g->order + from, n * sizeof *t->order);
    for (size_t i = 0; i < t->npairs; i++)
        t->set[i] = i;
    for (int r = t->s->first; r <= t->s->last; r++) {
        t->base[r - t->s->first] = at;
        at += fxs_rank_width(g, r) * fxs_rank_width(g, r);
        for (size_t i = g->start[r]; i < g->start[r + 1]; i++)
            t->was[g->order[i]] = i - g->start[r];
    }
    for (int r = t->s->first; r < t->s->last; r++)
        tie_rank(t, r, room);
    return FXS_OK;
}

/* ---- turning
 * --------------------------------------------------------------------------------------------------
 */

/* When i and k of a rank change places, what stands between goes along with i or, `with_k`, with k.
 * Whether sets were added to those that turn. */
static bool close_rank(turner *t, int r, bool with_k, bool *ok) {
    size_t n = fxs_rank_width(t->g, r);
    bool added = false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (i == k || !is_left(t, t->kept, r, i, k) || is_left(t, t->turned, r, i, k))
                continue;
            for (size_t j = 0; j < n; j++) {
                if (j == i || j == k || !is_left(t, t->turned, r, i, j) ||
                    !is_left(t, t->turned, r, j, k))
                    continue;
                size_t set = set_of(t, with_k ? pair_at(t, r, j, k) : pair_at(t, r, i, j));
                *ok &= t->turned[set] == t->kept[set]; /* else it would turn back */
                t->turned[set] = !t->kept[set];
                added = true;
            }
        }
    return added;
}

static bool close_all(turner *t, bool with_k) {
    bool ok = true, added = true;
    while (added && ok) {
        added = false;
        for (int r = t->s->first; r <= t->s->last && ok; r++)
            added |= close_rank(t, r, with_k, &ok);
    }
    return ok;
}

/* The order that t->turned says; what it says is an order. */
static void set_order(turner *t) {
    fxs_layers *g = t->g;
    for (int r = t->s->first; r <= t->s->last; r++) {
        size_t n = fxs_rank_width(g, r), at = g->start[r];
        const size_t *order = t->order + (at - g->start[t->s->first]);
        for (size_t i = 0; i < n; i++) {
            size_t place = 0;
            for (size_t k = 0; k < n; k++)
                place += k != i && is_left(t, t->turned, r, k, i);
            g->order[at + place] = order[i];
            g->vertices[order[i]].place = place;
        }
    }
}

static bool try_set(turner *t, size_t set, fxs_order_cost *least) {
    for (int with_k = 0; with_k < 2; with_k++) {
        memcpy(t->kept, t->turned, t->npairs);
        t->turned[set] = !t->turned[set];
        if (close_all(t, with_k)) {
            set_order(t);
            fxs_order_cost c = fxs_layers_cost(t->g, t->s, t->tree);
            if (fxs_cost_better(c, *least) ||
                (!fxs_cost_better(*least, c) && c.fans < least->fans)) {
                *least = c;
                return true;
            }
        }
        memcpy(t->turned, t->kept, t->npairs);
    }
    return false;
}

static void count_votes(turner *t) {
    memset(t->wrong, 0, t->npairs * sizeof *t->wrong);
    for (size_t i = 0; i < t->nvotes; i++) {
        size_t set = set_of(t, t->votes[i].pair);
        t->wrong[set] +=
            t->votes[i].first == t->turned[set] ? t->votes[i].weight : -t->votes[i].weight;
    }
}

static fxs_status turn(turner *t) {
    fxs_order_cost least = fxs_layers_cost(t->g, t->s, t->tree);
    bool changed = true;
    for (int pass = 0; pass < PASSES && changed; pass++) {
        changed = false;
        count_votes(t);
        for (size_t set = 0; set < t->npairs; set++) {
            if (t->wrong[set] <= 0)
                continue;
            if (fxs_clock() > t->g->deadline)
                return FXS_ELIMIT;
            if (!try_set(t, set, &least))
                continue;
            changed = true;
            count_votes(t);
        }
    }
    set_order(t);
    return FXS_OK;
}

fxs_status fxs_layers_turn(fxs_layers *g, const fxs_stretch *s, size_t *tree, size_t *was,
                           bool *done) {
    turner t = {.g = g, .s = s, .tree = tree, .was = was};
    fxs_status status = prepare(&t, done);
    if (status == FXS_OK && *done)
        status = turn(&t);
    fxs_arena_clear(&t.arena);
    return status;
}
