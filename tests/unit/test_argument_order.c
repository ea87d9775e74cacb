/* test_argument_order.c: arguments come to a node from left to right in their order unless that
 * costs a crossing. Found from the places alone: vertices are boxes and where edges pass a rank;
 * two of a rank can change places without a crossing more or less only together with those to which
 * links lead from both. No such set of changes may leave fewer pairs of arguments in the wrong
 * order. */
#include "pictures.h"

typedef struct spot { /* a box, or where an edge passes a rank */
    int rank;
    double x;
    size_t place;
} spot;

typedef struct link { /* from one rank to the next */
    size_t up, down, edge;
} link;

typedef struct want { /* `left` should stand left of `right` */
    size_t left, right;
} want;

typedef struct ranked {
    const fxs_scene *s;
    double *ranks; /* middles of the boxes of each rank */
    int nranks;
    spot *spots;
    link *links;
    want *wants;
    size_t nspots, nlinks, nwants;
    size_t *start, *base, npairs; /* of a rank: its first spot, its first pair */
    size_t *set;
    char *turned, *kept;
} ranked;

/* ---- from places to ranks
 * ----------------------------------------------------------------------------------- */

static double middle_y(const fxs_scene *s, size_t i) {
    fxs_area a = geo_box(s, i);
    return (a.low.y + a.high.y) / 2;
}

static int by_number(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void find_ranks(ranked *r) {
    size_t n = r->s->view->nnodes;
    r->ranks = calloc(n + 1, sizeof *r->ranks);
    for (size_t i = 0; i < n; i++)
        r->ranks[i] = middle_y(r->s, i);
    qsort(r->ranks, n, sizeof *r->ranks, by_number);
    for (size_t i = 0; i < n; i++)
        if (!r->nranks || r->ranks[i] > r->ranks[r->nranks - 1] + 2)
            r->ranks[r->nranks++] = r->ranks[i];
}

static int rank_of(const ranked *r, size_t node) {
    int k = 0;
    while (r->ranks[k] + 2 < middle_y(r->s, node))
        k++;
    return k;
}

/* x of a curve at a height that it passes. */
static double x_at(const fxs_curve *c, double y) {
    for (size_t k = 0; k + 3 < c->n; k += 3) {
        double low = 0, high = 1;
        if (c->points[k + 3].y < y)
            continue;
        for (int i = 0; i < 40; i++) {
            double t = (low + high) / 2;
            *(geo_at(&c->points[k], t).y < y ? &low : &high) = t;
        }
        return geo_at(&c->points[k], low).x;
    }
    return c->tip.x;
}

static size_t add_spot(ranked *r, int rank, double x) {
    r->spots[r->nspots] = (spot){.rank = rank, .x = x};
    return r->nspots++;
}

static void add_edge(ranked *r, size_t e) {
    const fxs_view_edge *edge = &r->s->view->edges[e];
    size_t up = edge->from;
    for (int k = r->spots[edge->from].rank + 1; k <= r->spots[edge->to].rank; k++) {
        bool ends = k == r->spots[edge->to].rank;
        size_t down = ends ? edge->to : add_spot(r, k, x_at(&r->s->curves[e], r->ranks[k]));
        r->links[r->nlinks++] = (link){up, down, e};
        up = down;
    }
}

static const spot *sorted_spots;
static int by_spot(const void *a, const void *b) {
    const spot *p = &sorted_spots[*(const size_t *)a], *q = &sorted_spots[*(const size_t *)b];
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static void find_places(ranked *r) {
    size_t *order = calloc(r->nspots + 1, sizeof *order);
    for (size_t i = 0; i < r->nspots; i++)
        order[i] = i;
    sorted_spots = r->spots;
    qsort(order, r->nspots, sizeof *order, by_spot);
    r->start = calloc((size_t)r->nranks + 1, sizeof *r->start);
    r->base = calloc((size_t)r->nranks + 1, sizeof *r->base);
    for (size_t i = 0; i < r->nspots; i++)
        r->start[r->spots[i].rank + 1]++;
    for (int k = 0; k < r->nranks; k++) {
        size_t w = r->start[k + 1];
        r->start[k + 1] += r->start[k];
        r->base[k + 1] = r->base[k] + w * w;
    }
    for (size_t i = 0; i < r->nspots; i++)
        r->spots[order[i]].place = i - r->start[r->spots[order[i]].rank];
    r->npairs = r->base[r->nranks];
    free(order);
}

/* ---- what turns together
 * ------------------------------------------------------------------------------------- */

static size_t width_of(const ranked *r, int k) { return r->start[k + 1] - r->start[k]; }

static size_t pair_at(const ranked *r, int k, size_t a, size_t b) {
    return r->base[k] + (a < b ? a : b) * width_of(r, k) + (a < b ? b : a);
}

static size_t set_of(const ranked *r, size_t pair) {
    while (r->set[pair] != pair)
        pair = r->set[pair];
    return pair;
}

static size_t set_of_two(const ranked *r, size_t a, size_t b) {
    const spot *p = &r->spots[a], *q = &r->spots[b];
    return set_of(r, pair_at(r, p->rank, p->place, q->place));
}

static void tie(ranked *r) {
    r->set = calloc(r->npairs + 1, sizeof *r->set);
    r->turned = calloc(r->npairs + 1, 1);
    r->kept = calloc(r->npairs + 1, 1);
    for (size_t i = 0; i < r->npairs; i++)
        r->set[i] = i;
    for (size_t i = 0; i < r->nlinks; i++)
        for (size_t k = i + 1; k < r->nlinks; k++) {
            const link *a = &r->links[i], *b = &r->links[k];
            if (r->spots[a->up].rank != r->spots[b->up].rank)
                continue;
            if (a->up != b->up && a->down != b->down)
                r->set[set_of_two(r, a->up, b->up)] = set_of_two(r, a->down, b->down);
            else if (a->down == b->down && a->up != b->up) /* edges come by arguments */
                r->wants[r->nwants++] =
                    a->edge < b->edge ? (want){a->up, b->up} : (want){b->up, a->up};
        }
}

static void rank_scene(const fxs_scene *s, ranked *r) {
    size_t links = 0;
    *r = (ranked){.s = s};
    find_ranks(r);
    for (size_t e = 0; e < s->view->nedges; e++)
        links += (size_t)(rank_of(r, s->view->edges[e].to) - rank_of(r, s->view->edges[e].from));
    r->spots = calloc(s->view->nnodes + links, sizeof *r->spots);
    r->links = calloc(links + 1, sizeof *r->links);
    r->wants = calloc(links * 8 + 1, sizeof *r->wants);
    for (size_t i = 0; i < s->view->nnodes; i++) {
        fxs_area box = geo_box(s, i);
        add_spot(r, rank_of(r, i), (box.low.x + box.high.x) / 2);
    }
    for (size_t e = 0; e < s->view->nedges; e++)
        add_edge(r, e);
    assert_int_equal(r->nlinks, links);
    find_places(r);
    tie(r);
    assert_true(r->nwants <= links * 8);
}

static void free_ranked(ranked *r) {
    free(r->ranks), free(r->spots), free(r->links), free(r->wants), free(r->start), free(r->base);
    free(r->set), free(r->turned), free(r->kept);
}

/* ---- turning
 * -------------------------------------------------------------------------------------------------
 */

static bool stands_left(const ranked *r, const char *turned, int k, size_t a, size_t b) {
    return (a < b) != turned[set_of(r, pair_at(r, k, a, b))];
}

static size_t count_wrong(const ranked *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->nwants; i++) {
        const spot *a = &r->spots[r->wants[i].left], *b = &r->spots[r->wants[i].right];
        n += !stands_left(r, r->turned, a->rank, a->place, b->place);
    }
    return n;
}

/* A set turns, and what it takes along so that each rank has an order; whether there is one. */
static bool turn(ranked *r, size_t set, bool with_right) {
    memcpy(r->kept, r->turned, r->npairs);
    r->turned[set] = !r->turned[set];
    for (bool again = true; again;) {
        again = false;
        for (int k = 0; k < r->nranks; k++)
            for (size_t n = width_of(r, k), a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++) {
                    if (a == b || !stands_left(r, r->kept, k, a, b) ||
                        stands_left(r, r->turned, k, a, b))
                        continue;
                    for (size_t c = 0; c < n; c++) {
                        if (c == a || c == b || !stands_left(r, r->turned, k, a, c) ||
                            !stands_left(r, r->turned, k, c, b))
                            continue;
                        size_t more =
                            set_of(r, with_right ? pair_at(r, k, c, b) : pair_at(r, k, a, c));
                        if (r->turned[more] != r->kept[more])
                            return false;
                        r->turned[more] = !r->turned[more];
                        again = true;
                    }
                }
    }
    return true;
}

/* The node whose arguments could come in a better order; NULL: there is none. */
static const char *find_better(ranked *r) {
    size_t wrong = count_wrong(r);
    for (size_t i = 0; i < r->nwants; i++) {
        const spot *a = &r->spots[r->wants[i].left], *b = &r->spots[r->wants[i].right];
        if (stands_left(r, r->turned, a->rank, a->place, b->place))
            continue;
        for (int with_right = 0; with_right < 2; with_right++) {
            bool better = turn(r, set_of(r, pair_at(r, a->rank, a->place, b->place)), with_right) &&
                          count_wrong(r) < wrong;
            memcpy(r->turned, r->kept, r->npairs);
            for (size_t k = 0; k < r->nlinks && better; k++)
                if (r->links[k].up == r->wants[i].left)
                    return r->s->view->nodes[r->s->view->edges[r->links[k].edge].to].id;
        }
    }
    return NULL;
}

typedef struct tally {
    fxs_ctx *ctx;
    size_t wants, mirrored;
} tally;

/* What is found when left and right change places. */
static bool mirror_is_worse(ranked *r) {
    for (size_t i = 0; i < r->nwants; i++) {
        size_t left = r->wants[i].left;
        r->wants[i].left = r->wants[i].right;
        r->wants[i].right = left;
    }
    return find_better(r) != NULL;
}

static void check_network(const char *name, void *user) {
    tally *t = user;
    size_t len;
    fxs_module *m;
    if (strncmp(name, "densenet", 8) == 0) /* the values of a bus are one line on purpose */
        return;
    char *file = golden_file(name, &len);
    assert_ok(t->ctx, fxs_load_text(t->ctx, name, file, len, &m));
    picture p;
    lay_out(m, 0, &p);
    ranked r;
    rank_scene(&p.scene, &r);
    const char *better = find_better(&r);
    if (better)
        fail_msg("%s: arguments of %s could come in their order without a crossing", name, better);
    t->wants += r.nwants;
    t->mirrored += mirror_is_worse(&r);
    free_ranked(&r);
    drop(&p);
    fxs_free(file);
    fxs_module_unref(m);
}

static void arguments_come_in_their_order(void **state) {
    tally t = {.ctx = *state};
    int networks = for_each_golden(check_network, &t);
    assert_true(t.wants >= 300);
    assert_true((int)t.mirrored >= networks - 7); /* five are chains, two have a bus */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arguments_come_in_their_order, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("order of arguments", tests, NULL, NULL);
}
