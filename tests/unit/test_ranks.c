/* test_ranks.c: no ranks make the lines of a picture shorter. The proof is a flow: the total length
 * of lines is the sum, over all vertices, of the rank times (lines that come in less lines that go
 * out); it is least exactly when as much as that difference can flow to every vertex along lines
 * that are as short as they may be (complementary slackness of the linear program). */
#include "golden.h"
#include "render_testing.h"

#include "render/layers_levels.h"

typedef struct net {
    const fxs_layers *g;
    long *flow; /* by strand */
    long *need; /* by vertex: what must still come (or, negative, go) */
    size_t *queue, *by;
    bool *seen;
} net;

static bool is_tight(const fxs_layers *g, const fxs_strand *s) {
    return g->vertices[s->to].rank - g->vertices[s->from].rank == (s->labelled ? 2 : 1);
}

/* One unit from a vertex that has too much to one that has too little; false: there is no way. */
static bool push_unit(net *n, size_t from) {
    const fxs_layers *g = n->g;
    size_t done = 0, count = 0;
    memset(n->seen, 0, g->nvertices * sizeof *n->seen);
    n->queue[count++] = from;
    n->seen[from] = true;
    for (; done < count; done++) {
        size_t at = n->queue[done];
        if (n->need[at] > 0) {
            for (size_t v = at; v != from;) {
                const fxs_strand *s = &g->strands[n->by[v]];
                n->flow[n->by[v]] += s->to == v ? 1 : -1;
                v = s->to == v ? s->from : s->to;
            }
            n->need[at]--;
            n->need[from]++;
            return true;
        }
        for (size_t i = 0; i < g->nstrands; i++) {
            const fxs_strand *s = &g->strands[i];
            bool down = s->from == at && is_tight(g, s), up = s->to == at && n->flow[i] > 0;
            size_t next = down ? s->to : s->from;
            if ((!down && !up) || n->seen[next])
                continue;
            n->seen[next] = true;
            n->by[next] = i;
            n->queue[count++] = next;
        }
    }
    return false;
}

/* How much can't flow: 0 when the ranks are the best. */
static long lacking(const fxs_layers *g) {
    net n = {.g = g,
             .flow = calloc(g->nstrands + 1, sizeof *n.flow),
             .need = calloc(g->nvertices, sizeof *n.need),
             .queue = calloc(g->nvertices, sizeof *n.queue),
             .by = calloc(g->nvertices, sizeof *n.by),
             .seen = calloc(g->nvertices, sizeof *n.seen)};
    long lack = 0;
    for (size_t i = 0; i < g->nstrands; i++) {
        n.need[g->strands[i].to]++;
        n.need[g->strands[i].from]--;
    }
    for (size_t v = 0; v < g->nvertices; v++) {
        while (n.need[v] < 0 && push_unit(&n, v))
            ;
        lack -= n.need[v] < 0 ? n.need[v] : 0;
    }
    free(n.flow), free(n.need), free(n.queue), free(n.by), free(n.seen);
    return lack;
}

/* Ranks of all components of a picture without frames. `move`: the first vertex above which there
 * is nothing moves up by so much after that. */
static long lacking_of(fxs_module *m, bool shapes, int move) {
    fxs_fonts *fonts;
    fxs_view view;
    bool shown = true;
    fxs_levels l = {.view = &view, .shown = &shown};
    size_t stuck;
    long lack = 0;
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &fonts));
    assert_ok(m->ctx, fxs_view_make(m, &(fxs_draw_options){.edge_shapes = shapes}, fonts, &view));
    assert_int_equal(fxs_levels_make(&l), FXS_OK);
    assert_int_equal(fxs_levels_graphs(&l, 0, INFINITY), FXS_OK);
    for (size_t i = 0; i < l.ngraphs; i++) {
        fxs_layers *g = &l.graphs[i];
        assert_int_equal(fxs_layers_gather(g), FXS_OK);
        assert_int_equal(fxs_layers_rank(g, &stuck), FXS_OK);
        for (size_t k = 0; k < g->nstrands; k++) {
            const fxs_strand *s = &g->strands[k];
            assert_true(g->vertices[s->to].rank - g->vertices[s->from].rank >=
                        (s->labelled ? 2 : 1));
        }
        g->vertices[0].rank -= move;
        lack += lacking(g);
    }
    fxs_arena_clear(&l.arena);
    fxs_view_free(&view);
    fxs_fonts_free(fonts);
    return lack;
}

static void check_network(const char *name, void *user) {
    fxs_ctx *ctx = user;
    size_t len;
    fxs_module *m;
    char *file = golden_file(name, &len);
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    fxs_free(file);
    for (int shapes = 0; shapes < 2; shapes++) {
        if (shapes) {
            fxs_inputs *in = golden_inputs(ctx, name);
            assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
            fxs_inputs_free(in);
        }
        long lack = lacking_of(m, shapes, 0);
        if (lack)
            fail_msg("%s%s: lines could be shorter, %ld find no way", name,
                     shapes ? " with shapes" : "", lack);
        assert_true(lacking_of(m, shapes, 1) > 0);
    }
    fxs_module_unref(m);
}

static void lines_are_as_short_as_can_be(void **state) { for_each_golden(check_network, *state); }

/* Nodes that take up to three others from far above and from near by. */
static void so_are_those_of_random_graphs(void **state) {
    fxs_ctx *ctx = *state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        fxs_module *m = new_graph_module(ctx, "Random");
        fxs_value nodes[150];
        unsigned random = seed;
        for (unsigned i = 0; i < 20 + 3 * seed; i++) {
            fxs_value args[3];
            size_t n = 0;
            for (; n < 3 && n < i; n++) {
                random = random * 1103515245 + 12345;
                args[n] = nodes[n ? (random >> 16) % i : i - 1 - (random >> 16) % (i < 4 ? i : 4)];
            }
            nodes[i] = fxs_of_node(add_node(
                m, i % 11 ? FXS_CALL_FUNCTION : FXS_PLACEHOLDER, i % 11 ? "torch.add" : "x",
                i % 11 ? make_list(ctx, FXS_V_TUPLE, n, args) : fxs_none(), NULL));
        }
        assert_int_equal(lacking_of(m, false, 0), 0);
        fxs_module_unref(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_as_short_as_can_be, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(so_are_those_of_random_graphs, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
