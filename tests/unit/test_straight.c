/* test_straight.c: what makes a picture of a network quiet, on every network of
 * tests/golden/models, from the places alone: equal blocks look equal, chains are straight, two
 * branches of equal structure stand evenly around their fork, long edges are vertical on their way.
 * Where that can't be, the exception is said here and is as narrow as it can be. */
#include "geometry.h"
#include "golden.h"
#include "render_testing.h"

#include "fxoutline.h"
#include "pass/outline.h"
#include "render/layout.h"

/* Boxes stand at whole points, so that their middles are half a point off at most, each. */
#define TOLERANCE 1.0
enum { LONG = 16 /* ranks without one through which all passes, as in layers_place.c */ };

typedef struct picture {
    fxs_fonts *fonts;
    fxs_view view;
    fxs_scene scene;
    size_t *at;           /* by position in the graph: the node of the view */
    size_t *in, *out;     /* by node of the view: number of its edges, */
    size_t (*leaving)[2]; /* and the last two that begin there */
} picture;

static void lay_out(fxs_module *m, bool clusters, picture *p) {
    fxs_buf notes = {0};
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &p->fonts));
    assert_ok(m->ctx,
              fxs_view_make(m, &(fxs_draw_options){.clusters = clusters}, p->fonts, &p->view));
    assert_ok(m->ctx, fxs_layout(m->ctx, &p->view, "layered", 60, NULL, &p->scene, &notes));
    fxs_buf_free(&notes);
    size_t n = p->view.nnodes;
    p->at = calloc(n, sizeof *p->at);
    p->in = calloc(n, sizeof *p->in);
    p->out = calloc(n, sizeof *p->out);
    p->leaving = calloc(n, sizeof *p->leaving);
    for (size_t i = 0; i < n; i++) {
        assert_false(p->view.nodes[i].reference);
        p->at[p->view.nodes[i].node->index] = i;
    }
    for (size_t e = 0; e < p->view.nedges; e++) {
        const fxs_view_edge *edge = &p->view.edges[e];
        p->in[edge->to]++;
        p->leaving[edge->from][p->out[edge->from]++ % 2] = e;
    }
}

static void drop(picture *p) {
    free(p->at);
    free(p->in);
    free(p->out);
    free(p->leaving);
    fxs_scene_free(&p->scene);
    fxs_view_free(&p->view);
    fxs_fonts_free(p->fonts);
}

static double x_of(const picture *p, size_t i) {
    return p->scene.boxes[i].x + p->view.nodes[i].label.w / 2;
}
static double y_of(const picture *p, size_t i) {
    return p->scene.boxes[i].y + p->view.nodes[i].label.h / 2;
}
static const char *id(const picture *p, size_t i) { return p->view.nodes[i].id; }
static bool is_apart(double a, double b) { return fabs(a - b) > TOLERANCE; }

/* How many were looked at, how many are faulty; the first fault. */
typedef struct finding {
    size_t seen, faults;
    char what[300];
} finding;

static void add_fault(finding *f, const char *kind, const char *a, const char *b) {
    f->faults++;
    geo_say(f->what, sizeof f->what, kind, a, b);
}

/* ---- blocks
 * ------------------------------------------------------------------------------------------------
 */

typedef struct block {
    const picture *p;
    const fxs_module_call *call;
    double top, bottom;
} block;

static bool is_member(const block *b, size_t i) {
    size_t index = b->p->view.nodes[i].node->index;
    return index >= b->call->first && index <= b->call->last;
}

/* With frames, the functions of a block that stand in the frame around it are not of it. */
static bool is_shown_in(const picture *p, size_t i, const char *path) {
    const fxs_scope *s = fxs_node_scope(p->view.nodes[i].node);
    return !p->view.nclusters || (s && strncmp(s->path, path, strlen(path)) == 0);
}

static block block_of(const picture *p, const fxs_module_call *call) {
    block b = {p, call, INFINITY, -INFINITY};
    for (size_t i = 0; i < p->view.nnodes; i++)
        if (is_member(&b, i) && is_shown_in(p, i, call->path)) {
            fxs_area box = geo_box(&p->scene, i);
            b.top = fmin(b.top, box.low.y);
            b.bottom = fmax(b.bottom, box.high.y);
        }
    return b;
}

/* Whether another box stands beside the block, or an edge of others passes it. */
static bool is_disturbed(const block *b) {
    const picture *p = b->p;
    for (size_t i = 0; i < p->view.nnodes; i++) {
        fxs_area box = geo_box(&p->scene, i);
        if (!is_member(b, i) && box.high.y > b->top && box.low.y < b->bottom)
            return true;
    }
    for (size_t e = 0; e < p->view.nedges; e++) {
        size_t from = p->view.edges[e].from, to = p->view.edges[e].to;
        if (!is_member(b, from) && !is_member(b, to) && y_of(p, from) < b->top &&
            y_of(p, to) > b->bottom)
            return true;
    }
    return false;
}

static bool is_on_spine(const picture *p, size_t i) {
    for (size_t e = 0; e < p->view.nedges; e++)
        if (p->view.edges[e].spine && (p->view.edges[e].from == i || p->view.edges[e].to == i))
            return true;
    return false;
}

/* Folding also joins blocks that differ in sizes, as those of a dense network do: here all boxes
 * must be as high, and get as many values. */
static bool is_like(const picture *p, const fxs_module_call *x, const fxs_module_call *y) {
    bool like = x->last - x->first == y->last - y->first;
    for (size_t i = 0; like && i <= x->last - x->first; i++) {
        size_t u = p->at[x->first + i], v = p->at[y->first + i];
        like = p->view.nodes[u].label.h == p->view.nodes[v].label.h && p->in[u] == p->in[v];
    }
    return like;
}

/* Equal blocks, as folding finds them, have the same places inside. In a picture without frames,
 * where something else stands or passes beside one of them, only the main path has: straight where
 * that of the other is. */
static void compare(const picture *p, const fxs_module_call *x, const fxs_module_call *y,
                    finding *f) {
    block a = block_of(p, x), b = block_of(p, y);
    bool apart = !p->view.nclusters && (is_disturbed(&a) || is_disturbed(&b));
    double dx = NAN, dy = NAN;
    if (!is_like(p, x, y))
        return;
    f->seen += !apart;
    for (size_t i = 0; i <= x->last - x->first; i++) {
        size_t u = p->at[x->first + i], v = p->at[y->first + i];
        if (!is_shown_in(p, u, x->path) || !is_shown_in(p, v, y->path) ||
            (apart && (!is_on_spine(p, u) || !is_on_spine(p, v))))
            continue;
        if (isnan(dx)) {
            dx = x_of(p, v) - x_of(p, u);
            dy = y_of(p, v) - y_of(p, u);
        }
        if (is_apart(x_of(p, v) - x_of(p, u), dx) ||
            (!apart && is_apart(y_of(p, v) - y_of(p, u), dy)))
            add_fault(f, "equal blocks differ", id(p, u), id(p, v));
    }
}

/* Each with the one before it that it is equal to. */
static void check_blocks(const fxs_module *m, const picture *p, finding *f) {
    static const fxs_outline_options fold = {.fold = true};
    fxs_outline_plan plan = {.m = m, .opt = &fold};
    assert_ok(m->ctx, fxs_outline_plan_begin(&plan));
    assert_ok(m->ctx, fxs_outline_fold(&plan));
    for (size_t c = 1; c < plan.calls.n; c++) {
        const fxs_module_call *calls = plan.calls.items;
        size_t before = plan.plan[c].like;
        if (plan.plan[c].state != FXS_CALL_FOLDED ||
            plan.plan[calls[c].parent].state == FXS_CALL_FOLDED)
            continue;
        for (size_t b = before + 1; b < c; b++)
            if (plan.plan[b].state == FXS_CALL_FOLDED && plan.plan[b].like == plan.plan[c].like &&
                calls[b].parent == calls[c].parent)
                before = b;
        compare(p, &calls[before], &calls[c], f);
    }
    fxs_module_calls_free(&plan.calls);
    fxs_arena_clear(&plan.arena);
    fxs_buf_free(&plan.notes);
}

/* ---- chains
 * ------------------------------------------------------------------------------------------------
 */

/* Whether everything passes through node i: nothing stands beside it, no edge goes past. */
static bool is_cut(const picture *p, size_t i) {
    fxs_area at = geo_box(&p->scene, i);
    for (size_t k = 0; k < p->view.nnodes; k++)
        if (k != i && fabs(y_of(p, k) - y_of(p, i)) < 2)
            return false;
    for (size_t e = 0; e < p->view.nedges; e++)
        if (p->view.edges[e].from != i && p->view.edges[e].to != i &&
            y_of(p, p->view.edges[e].from) < at.low.y && y_of(p, p->view.edges[e].to) > at.high.y)
            return false;
    return true;
}

static int by_number(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ranks from the last cut above node i to the first one below. */
static size_t stretch_of(const picture *p, size_t i) {
    double above = -INFINITY, below = INFINITY, *ys = calloc(p->view.nnodes, sizeof *ys);
    size_t n = 0, ranks = 0;
    for (size_t k = 0; k < p->view.nnodes; k++)
        if (is_cut(p, k)) {
            above = y_of(p, k) <= y_of(p, i) ? fmax(above, y_of(p, k)) : above;
            below = y_of(p, k) > y_of(p, i) ? fmin(below, y_of(p, k)) : below;
        }
    for (size_t k = 0; k < p->view.nnodes; k++)
        if (y_of(p, k) > above && y_of(p, k) <= below)
            ys[n++] = y_of(p, k);
    qsort(ys, n, sizeof *ys, by_number);
    for (size_t k = 0; k < n; k++)
        ranks += k == 0 || ys[k] > ys[k - 1] + 2;
    free(ys);
    return ranks;
}

/* A node that has one user, of which it is the only input, stands above it. What carries no tensor
 * may give way in a long stretch (sizes that every layer asks for would push the ones before them
 * further and further out); with frames only tensors are looked at. */
static void check_chains(const picture *p, finding *f) {
    for (size_t e = 0; e < p->view.nedges; e++) {
        size_t u = p->view.edges[e].from, v = p->view.edges[e].to;
        if (p->out[u] != 1 || p->in[v] != 1 || p->view.nodes[u].cluster != p->view.nodes[v].cluster)
            continue;
        f->seen++;
        if (is_apart(x_of(p, u), x_of(p, v)) &&
            (p->view.edges[e].tensor || (!p->view.nclusters && stretch_of(p, u) < LONG)))
            add_fault(f, "a chain is not straight", id(p, u), id(p, v));
    }
}

/* ---- branches
 * ---------------------------------------------------------------------------------------------- */

enum { MOST = 50 /* nodes of a branch */ };

/* Where the chain that begins with edge e ends; its nodes. */
static size_t follow(const picture *p, size_t e, size_t *nodes, size_t *n) {
    for (*n = 0; *n < MOST; e = p->leaving[nodes[*n - 1]][0]) {
        size_t v = p->view.edges[e].to;
        if (p->in[v] != 1 || p->out[v] != 1)
            return v;
        nodes[(*n)++] = v;
    }
    return SIZE_MAX;
}

/* Two chains of as many nodes from one node to another, to which nothing else comes, mirror each
 * other: the nodes at one height are equally far from the fork's line, in which they end. */
static void check_branches(const picture *p, finding *f) {
    for (size_t u = 0; u < p->view.nnodes; u++) {
        size_t a[MOST], b[MOST], n, m;
        if (p->out[u] != 2)
            continue;
        size_t end = follow(p, p->leaving[u][0], a, &n);
        if (end != follow(p, p->leaving[u][1], b, &m) || end == SIZE_MAX || n != m || n == 0 ||
            p->in[end] != 2 || p->view.nodes[end].cluster != p->view.nodes[u].cluster)
            continue;
        f->seen++;
        bool even = !is_apart(x_of(p, end), x_of(p, u));
        for (size_t i = 0; i < n; i++)
            even = even && !is_apart((x_of(p, a[i]) + x_of(p, b[i])) / 2, x_of(p, u)) &&
                   is_apart(x_of(p, a[i]), x_of(p, b[i]));
        if (!even)
            add_fault(f, "branches do not mirror each other", id(p, u), id(p, end));
    }
}

/* ---- long edges
 * -------------------------------------------------------------------------------------------- */

/* The first and the last rank between two heights, as areas; false: there is none. */
static bool find_between(const picture *p, double a, double b, fxs_area *first, fxs_area *last) {
    double high = INFINITY, low = -INFINITY;
    *first = *last = fxs_area_none();
    for (size_t i = 0; i < p->view.nnodes; i++) {
        double y = y_of(p, i);
        if (y > a + 2 && y < b - 2) {
            high = fmin(high, y);
            low = fmax(low, y);
        }
    }
    for (size_t i = 0; i < p->view.nnodes; i++) {
        fxs_area box = geo_box(&p->scene, i);
        if (fabs(y_of(p, i) - high) < 2)
            fxs_area_join(first, &box);
        if (fabs(y_of(p, i) - low) < 2)
            fxs_area_join(last, &box);
    }
    return high < INFINITY;
}

/* From the first rank that an edge passes to the last one it is one vertical line. */
static void check_long_edges(const picture *p, finding *f) {
    for (size_t e = 0; e < p->view.nedges; e++) {
        const fxs_curve *c = &p->scene.curves[e];
        size_t u = p->view.edges[e].from, v = p->view.edges[e].to;
        fxs_area first, last;
        if (!find_between(p, y_of(p, u), y_of(p, v), &first, &last))
            continue;
        bool bent = false;
        for (size_t k = 0; k + 3 < c->n; k += 3)
            bent |= is_apart(c->points[k].x, c->points[k + 3].x) &&
                    c->points[k + 3].y > first.low.y + TOLERANCE &&
                    c->points[k].y < last.high.y - TOLERANCE;
        f->seen++;
        if (bent)
            add_fault(f, "a long edge bends on its way", id(p, u), id(p, v));
    }
}

/* ---- frames
 * ------------------------------------------------------------------------------------------------
 */

/* Room between a frame's sides and what is in it, label excepted, is the same above and below but
 * for what a line needs to turn, which may be more at either side. */
static void check_frames(const picture *p, finding *f) {
    enum { DIFFERENCE = 4 /* where values come in at the one side, and go out at none */ };
    const fxs_scene *s = &p->scene;
    for (size_t c = 1; c < p->view.nclusters; c++) {
        fxs_area in = fxs_area_none();
        for (size_t i = 0; i < p->view.nnodes; i++) {
            fxs_area box = geo_box(s, i);
            if (p->view.nodes[i].cluster == c)
                fxs_area_join(&in, &box);
        }
        for (size_t d = c + 1; d < p->view.nclusters; d++)
            if (p->view.clusters[d].parent == c)
                fxs_area_join(&in, &s->frames[d]);
        double above = in.low.y - s->frames[c].low.y - FXS_FRAME_HEAD,
               below = s->frames[c].high.y - in.high.y;
        bool turns = false;
        for (size_t e = 0; e < p->view.nedges; e++)
            for (size_t k = 0; k + 3 < s->curves[e].n; k += 3) {
                const fxs_point *q = &s->curves[e].points[k];
                turns |= is_apart(q[0].x, q[3].x) && q[0].x > s->frames[c].low.x &&
                         q[0].x < s->frames[c].high.x &&
                         ((q[0].y < in.low.y && q[3].y > s->frames[c].low.y) ||
                          (q[0].y < s->frames[c].high.y && q[3].y > in.high.y));
            }
        f->seen += !turns;
        if (turns || fabs(above - below) <= DIFFERENCE)
            continue;
        char rooms[60];
        snprintf(rooms, sizeof rooms, "%g above, %g below", above, below);
        add_fault(f, "a frame has more room at one side", p->view.clusters[c].label.text, rooms);
    }
}

/* ---- networks
 * ---------------------------------------------------------------------------------------------- */

typedef struct tally {
    fxs_ctx *ctx;
    finding blocks, framed_blocks, chains, branches, edges, frames;
} tally;

static void expect_none(const char *name, const finding *f) {
    if (f->faults)
        fail_msg("%s: %zu faults, the first: %s", name, f->faults, f->what);
}

static fxs_module *load(fxs_ctx *ctx, const char *name) {
    size_t len;
    fxs_module *m;
    char *file = golden_file(name, &len);
    fxs_inputs *in = golden_inputs(ctx, name);
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    fxs_inputs_free(in);
    fxs_free(file);
    return m;
}

static void check_network(const char *name, void *user) {
    tally *t = user;
    picture p;
    fxs_module *m = load(t->ctx, name), *scoped;
    lay_out(m, false, &p);
    check_blocks(m, &p, &t->blocks);
    check_chains(&p, &t->chains);
    check_branches(&p, &t->branches);
    check_long_edges(&p, &t->edges);
    drop(&p);
    assert_ok(t->ctx, fxs_outline(m, &(fxs_outline_options){0}, &scoped, NULL));
    lay_out(scoped, true, &p);
    check_blocks(m, &p, &t->framed_blocks);
    check_chains(&p, &t->chains);
    check_branches(&p, &t->branches);
    check_frames(&p, &t->frames);
    drop(&p);
    expect_none(name, &t->frames);
    expect_none(name, &t->blocks);
    expect_none(name, &t->framed_blocks);
    expect_none(name, &t->chains);
    expect_none(name, &t->branches);
    expect_none(name, &t->edges);
    fxs_module_unref(scoped);
    fxs_module_unref(m);
}

static void networks_are_quiet(void **state) {
    tally t = {.ctx = *state};
    for_each_golden(check_network, &t);
    assert_true(t.blocks.seen >= 83 && t.framed_blocks.seen >= 97 && t.branches.seen >= 16);
    assert_true(t.frames.seen >= 1100);
    assert_true(t.chains.seen >= 7000 && t.edges.seen >= 2300);
}

/* Each rule finds what is moved a little. */
static void faults_are_found(void **state) {
    picture p;
    fxs_module *m = load(*state, "inception_v3");
    lay_out(m, false, &p);
    for (size_t i = 0; i < p.view.nnodes; i++)
        if (strcmp(id(&p, i), "relu_78") == 0)
            p.scene.boxes[i].x += 3;
    finding chains = {0}, branches = {0}, edges = {0};
    check_chains(&p, &chains);
    check_branches(&p, &branches);
    assert_int_equal(chains.faults, 1); /* bn above it */
    assert_int_equal(branches.faults, 1);
    for (size_t e = 0; e < p.view.nedges; e++)
        if (p.scene.curves[e].n == 7)
            p.scene.curves[e].points[3].x += 3;
    check_long_edges(&p, &edges);
    assert_true(edges.faults > 20);
    drop(&p);
    fxs_module_unref(m);
    m = load(*state, "resnet50");
    lay_out(m, false, &p);
    finding none = {0}, blocks = {0};
    check_blocks(m, &p, &none);
    assert_true(none.seen == 8 && none.faults == 0);
    for (size_t i = 0; i < p.view.nnodes; i++)
        if (strcmp(id(&p, i), "layer2_2_conv2") == 0)
            p.scene.boxes[i].y += 3;
    check_blocks(m, &p, &blocks);
    assert_int_equal(blocks.faults, 2); /* beside the one before, and the one behind */
    drop(&p);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(networks_are_quiet, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(faults_are_found, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("straight", tests, NULL, NULL);
}
