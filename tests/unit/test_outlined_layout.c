/* test_outlined_layout.c: every network of tests/golden/models as its users draw it: after a run of
 * shapes, with modules as boxes, equal blocks once, frames, colours' legend, shapes on edges, in
 * both directions. Computed from the places alone: no edge through a box, nothing on top of
 * another, frames around their members and nothing else, labels free. */
#include "geometry.h"
#include "golden.h"
#include "render_testing.h"

#include "fxoutline.h"
#include "render/columns.h"
#include "render/layout.h"

static const struct {
    const char *name;
    fxs_outline_options outline;
    bool clusters, edge_shapes;
    size_t columns;
    double crossings; /* of all networks downwards, as they are today; more is a step back */
} forms[] = {
    {.name = "plain", .crossings = 64},
    {.name = "edge shapes", .crossings = 67, .edge_shapes = true},
    {.name = "frames", .crossings = 64, .clusters = true},
    {.name = "depth 1", .crossings = 12, .outline = {.depth = 1}, .clusters = true},
    {.name = "depth 2", .crossings = 64, .outline = {.depth = 2}, .clusters = true},
    {.name = "depth 2 with shapes",
     .crossings = 64,
     .outline = {.depth = 2},
     .clusters = true,
     .edge_shapes = true},
    {.name = "depth 3", .crossings = 64, .outline = {.depth = 3}, .clusters = true},
    {.name = "folded", .crossings = 24, .outline = {.fold = true}, .clusters = true},
    {.name = "depth 2, folded",
     .crossings = 12,
     .outline = {.depth = 2, .fold = true},
     .clusters = true},
    {.name = "columns", .crossings = 64, .columns = 3},
    {.name = "depth 2, folded, columns",
     .crossings = 12,
     .outline = {.depth = 2, .fold = true},
     .clusters = true,
     .columns = 3},
    {.name = "depth 3, folded, columns",
     .crossings = 24,
     .outline = {.depth = 3, .fold = true},
     .clusters = true,
     .columns = 4},
    {.name = "similar",
     .crossings = 24,
     .outline = {.fold = FXS_FOLD_SIMILAR},
     .clusters = true,
     .edge_shapes = true},
    {.name = "depth 2, similar",
     .crossings = 12,
     .outline = {.depth = 2, .fold = FXS_FOLD_SIMILAR},
     .clusters = true},
    {.name = "tensors, folded", .outline = {.only_tensors = true, .fold = true}, .clusters = true},
};
enum { NFORMS = sizeof forms / sizeof *forms };
#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 3 }; /* sanitized layouts are slow */
#else
enum { STEP = 1 };
#endif

static int faults_of(fxs_module *m, int form, bool lr, double *crossings, char *what, size_t size) {
    fxs_fonts *fonts;
    fxs_view view;
    fxs_scene scene;
    fxs_buf notes = {0};
    const fxs_draw_options opt = {.direction = lr ? "LR" : "TB",
                                  .clusters = forms[form].clusters,
                                  .edge_shapes = forms[form].edge_shapes};
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &fonts));
    assert_ok(m->ctx, fxs_view_make(m, &opt, fonts, &view));
    assert_ok(m->ctx, fxs_layout(m->ctx, &view, "layered", 60, NULL, &scene, &notes));
    assert_ok(m->ctx, fxs_columns(m->ctx, forms[form].columns, &scene, &notes));
    int faults = geo_overlaps(&scene, what, size) + geo_passes(&scene, what, size) +
                 geo_labels(&scene, what, size);
    for (size_t i = 0; i < view.nedges; i++)
        if (!scene.curves[i].n && ++faults)
            geo_say(what, size, "an edge that is not drawn", view.nodes[view.edges[i].from].id,
                    view.nodes[view.edges[i].to].id);
    *crossings += lr ? 0 : geo_crossings(&scene); /* which looks at slabs from top to bottom */
    fxs_buf_free(&notes);
    fxs_scene_free(&scene);
    fxs_view_free(&view);
    fxs_fonts_free(fonts);
    return faults;
}

typedef struct tally {
    fxs_ctx *ctx;
    int pictures, bad;
    double crossings[NFORMS];
} tally;

static void check_network(const char *name, void *user) {
    tally *t = user;
    size_t len;
    char *file = golden_file(name, &len);
    fxs_module *m;
    fxs_inputs *in = golden_inputs(t->ctx, name);
    assert_ok(t->ctx, fxs_load_text(t->ctx, name, file, len, &m));
    assert_ok(t->ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    for (int form = 0; form < NFORMS; form += STEP) {
        fxs_module *outlined;
        assert_ok(t->ctx, fxs_outline(m, &forms[form].outline, &outlined, NULL));
        for (int lr = 0; lr < 2; lr++) {
            char what[300] = "";
            int faults = faults_of(forms[form].clusters ? outlined : m, form, lr,
                                   &t->crossings[form], what, sizeof what);
            t->pictures++;
            t->bad += faults > 0;
            if (faults)
                print_error("%s, %s, %s: %d faults, the first: %s\n", name, forms[form].name,
                            lr ? "LR" : "TB", faults, what);
        }
        fxs_module_unref(outlined);
    }
    fxs_inputs_free(in);
    fxs_free(file);
    fxs_module_unref(m);
}

static void every_form_of_every_network(void **state) {
    tally t = {.ctx = *state};
    int networks = for_each_golden(check_network, &t);
    assert_int_equal(t.pictures, networks * 2 * ((NFORMS + STEP - 1) / STEP));
    assert_int_equal(t.bad, 0);
    for (int form = 0; form < NFORMS; form++)
        if (t.crossings[form] > forms[form].crossings)
            fail_msg("%s: %.0f crossings", forms[form].name, t.crossings[form]);
}

/* Sizes that are asked on the way, layer after layer, do not push the main path aside: a picture is
 * about as wide as what stands side by side, however long it is. */
static void long_networks_stay_narrow(void **state) {
    static const struct {
        const char *name;
        int depth;
        double most;
    } rows[] = {{"vit_b_16", 3, 2300}, {"swin_t", 3, 700}, {"shufflenet_v2_x1_0", 2, 1100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len;
        char *file = golden_file(rows[i].name, &len);
        fxs_module *m, *outlined;
        fxs_inputs *in = golden_inputs(*state, rows[i].name);
        assert_ok(*state, fxs_load_text(*state, rows[i].name, file, len, &m));
        assert_ok(*state, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
        assert_ok(*state,
                  fxs_outline(m, &(fxs_outline_options){.depth = rows[i].depth}, &outlined, NULL));
        char *svg = draw(outlined, &(fxs_draw_options){.clusters = true}, "svg", NULL);
        double w = 0;
        assert_int_equal(sscanf(strstr(svg, "viewBox=\"0 0 "), "viewBox=\"0 0 %lf", &w), 1);
        if (w > rows[i].most)
            fail_msg("%s is %.0f points wide", rows[i].name, w);
        fxs_free(svg);
        fxs_module_unref(outlined);
        fxs_inputs_free(in);
        fxs_free(file);
        fxs_module_unref(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_form_of_every_network, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(long_networks_stay_narrow, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("outlined layout", tests, NULL, NULL);
}
