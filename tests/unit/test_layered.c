/* test_layered.c: what the layered layout promises of every network in tests/golden/models and of
 * graphs that are made to be difficult, computed from the places alone: no edge through a box, no
 * overlap, frames around their members and nothing else, labels free, the same places again. */
#include "pictures.h"

#include "render/dot.h"

/* ---- networks
 * ---------------------------------------------------------------------------------------------- */

static size_t frames_shown(const fxs_scene *s) {
    size_t n = 0;
    for (size_t c = 1; c < s->view->nclusters; c++)
        n += fxs_frame_shown(&s->frames[c]);
    return n;
}

static void check_network(const char *name, void *user) {
    fxs_ctx *ctx = user;
    size_t len;
    char *file = golden_file(name, &len);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    fxs_free(file);
    for (int variant = 0; variant < VARIANTS; variant += STEP) {
        picture p, again;
        lay_out(m, variant, &p);
        check_picture(name, variant, &p.scene);
        lay_out(m, variant, &again);
        for (size_t i = 0; i < p.view.nnodes; i++)
            assert_memory_equal(&p.scene.boxes[i], &again.scene.boxes[i], sizeof(fxs_box));
        for (size_t i = 0; i < p.view.nedges; i++)
            assert_memory_equal(p.scene.curves[i].points, again.scene.curves[i].points,
                                p.scene.curves[i].n * sizeof(fxs_point));
        if (variant & CLUSTERS && strcmp(name, "resnet18") == 0)
            assert_int_equal(frames_shown(&p.scene), p.view.nclusters - 1);
        drop(&again);
        drop(&p);
    }
    fxs_module_unref(m);
}

static void networks_are_tidy(void **state) { for_each_golden(check_network, *state); }

/* Crossings and widths as they are today; more is a step back. */
static void few_crossings_and_narrow(void **state) {
    static const struct {
        const char *name;
        double crossings, width;
    } rows[] = {{"densenet121", 0, 551},   {"densenet169", 0, 557},        {"resnet18", 0, 707},
                {"googlenet", 0, 1435},    {"inception_v3", 0, 1744},      {"unet", 0, 446},
                {"text_encoder", 0, 1009}, {"vit_b_16", 0, 1695},          {"swin_t", 0, 1938},
                {"recurrent", 0, 825},     {"shufflenet_v2_x0_5", 32, 911}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len;
        char *file = golden_file(rows[i].name, &len);
        fxs_module *m;
        picture p;
        assert_ok(*state, fxs_load_text(*state, rows[i].name, file, len, &m));
        lay_out(m, 0, &p);
        double crossings = geo_crossings(&p.scene);
        if (crossings > rows[i].crossings || p.scene.w > rows[i].width)
            fail_msg("%s has %.0f crossings, and is %.0f wide", rows[i].name, crossings, p.scene.w);
        drop(&p);
        fxs_free(file);
        fxs_module_unref(m);
    }
}

/* ---- ports
 * ---------------------------------------------------------------------------------------------- */

/* A curve's end is in the side of its box, clear of the corners. */
static void check_end(const char *name, const fxs_scene *s, size_t node, fxs_point p, bool upper) {
    fxs_area box = geo_box(s, node);
    if (p.x < box.low.x + 3 || p.x > box.high.x - 3 ||
        fabs(p.y - (upper ? box.low.y : box.high.y)) > 1)
        fail_msg("%s: an end at %g, %g is not in the side of %s", name, p.x, p.y,
                 s->view->nodes[node].id);
}

static void check_ports(const char *name, const fxs_scene *s) {
    const fxs_view_edge *edges = s->view->edges;
    for (size_t e = 0; e < s->view->nedges; e++) {
        check_end(name, s, edges[e].from, s->curves[e].points[0], false);
        check_end(name, s, edges[e].to, s->curves[e].tip, true);
        for (size_t f = e + 1; f < s->view->nedges; f++) {
            double left = s->curves[f].points[0].x - s->curves[e].points[0].x;
            double came = s->curves[f].tip.x - s->curves[e].tip.x;
            if ((edges[e].from == edges[f].from && fabs(left) < 4) ||
                (edges[e].to == edges[f].to && fabs(came) < 4))
                fail_msg("%s: two edges of %s or %s meet", name, s->view->nodes[edges[e].from].id,
                         s->view->nodes[edges[e].to].id);
        }
    }
}

static void check_ports_of(const char *name, void *user) {
    fxs_ctx *ctx = user;
    size_t len;
    fxs_module *m;
    picture p;
    if (strncmp(name, "densenet", 8) == 0) /* a bus is one line on purpose */
        return;
    char *file = golden_file(name, &len);
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    fxs_free(file);
    lay_out(m, 0, &p);
    check_ports(name, &p.scene);
    drop(&p);
    fxs_module_unref(m);
}

/* Every edge leaves and arrives at a point of its own; in which order, test_argument_order.c says.
 */
static void edges_have_ports(void **state) { for_each_golden(check_ports_of, *state); }

/* Every allocation may fail, also with clusters, labels, a bus and lanes: a status, nothing lost.
 */
static void memory_runs_out(void **state) {
    fxs_ctx *ctx = *state;
    size_t len;
    char *file = golden_file("testmodel", &len);
    fxs_module *m;
    picture p;
    assert_ok(ctx, fxs_load_text(ctx, "testmodel", file, len, &m));
    fxs_free(file);
    lay_out(m, CLUSTERS | LABELS, &p);
    for (long n = 0;; n++) {
        fxs_scene s;
        fxs_buf notes = {0};
        fxs_alloc_fail_after(n);
        fxs_status status = fxs_layout(ctx, &p.view, "layered", 60, NULL, &s, &notes);
        fxs_alloc_fail_after(-1);
        fxs_scene_free(&s);
        fxs_buf_free(&notes);
        fxs_ctx_clear(ctx);
        if (status == FXS_OK)
            break;
        assert_int_equal(status, FXS_ENOMEM);
        assert_true(n < 5000);
    }
    drop(&p);
    fxs_module_unref(m);
}

/* Each node takes all before it, in frames of five; values leave and enter the frames many times.
 */
static void dense_blocks_in_frames(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "Dense");
    fxs_value used[40];
    used[0] = fxs_of_node(add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL));
    for (size_t i = 1; i < 40; i++)
        used[i] = fxs_of_node(add_node(
            m, FXS_CALL_FUNCTION, "torch.relu",
            ONE(ctx, fxs_of_node(add_node(m, FXS_CALL_FUNCTION, "torch.cat",
                                          ONE(ctx, make_list(ctx, FXS_V_LIST, i, used)), NULL))),
            NULL));
    for (int lr = 0; lr < 2; lr++) {
        picture p = {0};
        assert_ok(ctx, fxs_fonts_new(ctx, true, &p.fonts));
        fxs_draw_options opt = {.direction = lr ? "LR" : "TB"};
        assert_ok(ctx, fxs_view_make(m, &opt, p.fonts, &p.view));
        p.view.clusters = FXS_NEW_N(&p.view.arena, fxs_view_cluster, 50);
        assert_non_null(p.view.clusters);
        p.view.nclusters = 1;
        for (size_t i = 1; i < p.view.nnodes; i++) {
            char name[] = {(char)('a' + (i - 1) / 10), '\0'};
            p.view.nodes[i].cluster = find_cluster(&p.view, 0, name, 1);
        }
        assert_ok(ctx, fxs_layout(ctx, &p.view, NULL, 60, NULL, &p.scene, &p.notes));
        assert_int_equal(frames_shown(&p.scene), p.view.nclusters - 1);
        check_picture("dense", lr, &p.scene);
        drop(&p);
    }
    fxs_module_unref(m);
}

/* Skips from the first half of a long chain to the second: so many bends that most run in lanes. */
static void long_skips_run_in_lanes(void **state) {
    enum { N = 1200 };
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "U");
    fxs_node *nodes[N];
    nodes[0] = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
    for (int i = 1; i < N; i++)
        nodes[i] =
            add_node(m, FXS_CALL_FUNCTION, "torch.add",
                     i <= N / 2 ? ONE(ctx, fxs_of_node(nodes[i - 1]))
                                : TUPLE(ctx, fxs_of_node(nodes[i - 1]), fxs_of_node(nodes[N - i])),
                     NULL);
    picture p;
    lay_out(m, 0, &p);
    check_picture("long skips", 0, &p.scene);
    size_t points = 0;
    for (size_t i = 0; i < p.view.nedges; i++)
        points += p.scene.curves[i].n;
    assert_true(points < 30 * p.view.nedges);
    drop(&p);
    fxs_module_unref(m);
}

/* Two networks that share nothing, and inputs that nobody uses. */
static void components_stand_apart(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "Two");
    for (int k = 0; k < 3; k++) {
        fxs_node *x = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
        for (int i = 0; i < 5 * k; i++)
            x = add_node(m, FXS_CALL_FUNCTION, "torch.relu", ONE(ctx, fxs_of_node(x)), NULL);
    }
    for (int variant = 0; variant < VARIANTS; variant += LR) {
        picture p;
        lay_out(m, variant, &p);
        check_picture("two", variant, &p.scene);
        assert_true(geo_crossings(&p.scene) == 0);
        drop(&p);
    }
    fxs_module_unref(m);
}

/* Blocks that are equal look equal: every node stands where that of the block before stood, so
 * much further down. */
static void equal_blocks_look_equal(void **state) {
    enum { BLOCKS = 6, EACH = 6 };
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "Blocks");
    fxs_node *x = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), "node_000");
    for (int k = 0; k < BLOCKS; k++) {
        fxs_node *part[EACH];
        char name[40];
        for (int i = 0; i < EACH; i++) {
            snprintf(name, sizeof name, "node_%d_%d", k + 1, i);
            part[i] =
                add_node(m, FXS_CALL_FUNCTION, "torch.add",
                         i == EACH - 1 ? TUPLE(ctx, fxs_of_node(part[2]), fxs_of_node(part[4]))
                                       : ONE(ctx, fxs_of_node(i % 3 ? part[i - 1] : x)),
                         name);
        }
        x = part[EACH - 1];
    }
    picture p;
    lay_out(m, 0, &p);
    check_picture("blocks", 0, &p.scene);
    const fxs_box *b = p.scene.boxes;
    for (size_t i = 1 + EACH; i < p.view.nnodes; i++) {
        assert_true(b[i].x == b[i - EACH].x);
        assert_true(b[i].y - b[i - EACH].y == b[1 + EACH].y - b[1].y);
    }
    drop(&p);
    fxs_module_unref(m);
}

/* The DOT text has the frames and labels too, and stock dot takes it. */
static void dot_has_frames(void **state) {
    fxs_ctx *ctx = *state;
    size_t len;
    char *file = golden_file("resnet18", &len);
    fxs_module *m;
    picture p;
    fxs_buf dot = {0};
    assert_ok(ctx, fxs_load_text(ctx, "resnet18", file, len, &m));
    fxs_free(file);
    lay_out(m, CLUSTERS | LABELS, &p);
    fxs_dot_write(&p.view, &dot);
    fxs_buf_add(&dot, "", 0);
    assert_false(dot.failed);
    assert_int_equal(count_of(dot.data, "subgraph cluster"), p.view.nclusters - 1);
    assert_int_equal(count_of(dot.data, "{\n"), count_of(dot.data, "}\n"));
    assert_int_equal(count_of(dot.data, "label=\"1 x 64 x 56 x 56\""), p.view.nedges * 2 / 3);
    fxs_scene s;
    assert_ok(ctx, fxs_layout(ctx, &p.view, "dot", 60, NULL, &s, &p.notes));
    char what[300] = "";
    assert_int_equal(frames_shown(&s), p.view.nclusters - 1);
    if (geo_overlaps(&s, what, sizeof what))
        fail_msg("%s", what);
    fxs_scene_free(&s);
    if (system("command -v dot >/dev/null") == 0) {
        FILE *f = popen("dot -Tplain >/dev/null", "w");
        fputs(dot.data, f);
        assert_int_equal(pclose(f), 0);
    }
    fxs_buf_free(&dot);
    drop(&p);
    fxs_module_unref(m);
}

/* ---- hubs
 * --------------------------------------------------------------------------------------------------
 */

/* A chain in which every node also uses a mask. */
static fxs_module *mask_module(fxs_ctx *ctx, int n) {
    fxs_module *m = new_graph_module(ctx, "Masked");
    fxs_node *x = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL),
             *mask = add_node(m, FXS_PLACEHOLDER, "mask", fxs_none(), NULL);
    for (int i = 0; i < n; i++)
        x = add_node(m, FXS_CALL_FUNCTION, "torch.mul",
                     TUPLE(ctx, fxs_of_node(x), fxs_of_node(mask)), NULL);
    add_node(m, FXS_OUTPUT, "output", ONE(ctx, fxs_of_node(x)), NULL);
    return m;
}

static void hubs_get_references(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *few = mask_module(ctx, 32), *many = mask_module(ctx, 33);
    char *svg = draw(few, NULL, "svg", NULL), *notes;
    assert_int_equal(count_of(svg, "kind-placeholder reference\""), 0);
    fxs_free(svg);
    assert_ok(ctx, fxs_draw_memory(many, NULL, "svg", &svg, NULL, &notes));
    assert_true(xml_ok(svg));
    assert_int_equal(count_of(svg, "kind-placeholder reference\""), 32);
    assert_int_equal(count_of(svg, ">reference</text>"), 32);
    assert_int_equal(count_of(svg, "id=\"node-mask\""), 1);
    assert_int_equal(count_of(svg, "<g id=\"edge-"), 33 + 33 + 1);
    assert_string_equal(notes, "mask: used at so many places that each shows a reference\n");
    fxs_free(notes);
    fxs_free(svg);
    svg = draw(many, &(fxs_draw_options){.hub_uses = SIZE_MAX}, "svg", NULL);
    assert_int_equal(count_of(svg, "reference\""), 0);
    fxs_free(svg);
    svg = draw(few, &(fxs_draw_options){.hub_uses = 3}, "dot", NULL);
    assert_int_equal(count_of(svg, "\"mask@mul_"), 2 * 31);
    fxs_free(svg);
    picture p;
    lay_out(many, 0, &p);
    check_picture("masked", 0, &p.scene);
    assert_true(geo_crossings(&p.scene) == 0);
    drop(&p);
    fxs_module_unref(few);
    fxs_module_unref(many);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(networks_are_tidy, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(few_crossings_and_narrow, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(edges_have_ports, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(memory_runs_out, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(dense_blocks_in_frames, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(long_skips_run_in_lanes, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(components_stand_apart, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(equal_blocks_look_equal, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(dot_has_frames, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(hubs_get_references, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("layered layout", tests, NULL, NULL);
}
