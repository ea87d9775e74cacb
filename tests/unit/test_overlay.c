/* test_overlay.c: what the colours of a picture say: numbers on a scale, families, kinds, where NaN
 * begins; their legend; shapes beside edges; the rows that --show chooses. */
#include "geometry.h"
#include "golden.h"
#include "render_testing.h"

#include "emit/facts.h"
#include "render/layout.h"
#include "render/palette.h"

/* The SVG's group of a node: its classes, up to the tag's end; free it. */
static char *classes_of(const char *svg, const char *id) {
    char mark[100];
    snprintf(mark, sizeof mark, "<g id=\"node-%s\" class=\"", id);
    const char *at = strstr(svg, mark);
    if (!at)
        fail_msg("there is no node %s", id);
    at += strlen(mark);
    return strndup(at, strcspn(at, "\""));
}

static void has_class(const char *svg, const char *id, const char *class) {
    char *have = classes_of(svg, id);
    bool found = false;
    for (char *save = NULL, *w = strtok_r(have, " ", &save); w; w = strtok_r(NULL, " ", &save))
        found |= strcmp(w, class) == 0;
    if (!found)
        fail_msg("node %s has not the class %s", id, class);
    free(have);
}

/* The colour of a node's head. */
static fxs_color head_of(const char *svg, const char *id) {
    char mark[100];
    unsigned color;
    snprintf(mark, sizeof mark, "<g id=\"node-%s\"", id);
    const char *at = strstr(strstr(svg, mark), "class=\"head\"");
    assert_true(sscanf(strstr(at, "fill="), "fill=\"#%x\"", &color) == 1);
    return color;
}

static fxs_node *node_of(fxs_module *m, const char *name) {
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n))
        if (strcmp(n->name, name) == 0)
            return n;
    fail_msg("there is no node %s", name);
    return NULL;
}

/* x -> a -> b -> c, and c's output. */
static fxs_module *line_module(fxs_ctx *ctx) {
    static const char *const targets[] = {"torch.log", "torch.nn.functional.conv2d", "torch.cat"};
    static const char *const node_names[] = {"a", "b", "c"};
    fxs_module *m = new_graph_module(ctx, "Line");
    fxs_node *at = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
    set_done(at, TENSOR_OF(2, 3));
    for (int i = 0; i < 3; i++) {
        at = add_node(m, FXS_CALL_FUNCTION, targets[i], ONE(ctx, fxs_of_node(at)), node_names[i]);
        set_done(at, TENSOR_OF(2, 3));
    }
    at = add_node(m, FXS_OUTPUT, "output", ONE(ctx, fxs_of_node(at)), NULL);
    set_done(at, TENSOR_OF(2, 3));
    return m;
}

/* ---- numbers ---- */

static void numbers_become_steps(void **state) {
    fxs_module *m = line_module(*state);
    const fxs_palette *p = fxs_palette_find("safe", NULL);
    node_of(m, "a")->meta.flops = 1e3;
    node_of(m, "b")->meta.flops = 1e9;
    node_of(m, "c")->meta.flops = 1e6 + 1; /* the middle of a logarithmic scale */
    char *svg = draw(m, &(fxs_draw_options){.color_by = "flops"}, "svg", NULL);
    assert_true(xml_ok(svg));
    assert_int_equal(head_of(svg, "a"), p->step[0]);
    assert_int_equal(head_of(svg, "b"), p->step[FXS_PALETTE_STEPS - 1]);
    assert_int_equal(head_of(svg, "c"), p->step[FXS_PALETTE_STEPS / 2]);
    assert_int_equal(head_of(svg, "x"), p->none);
    has_class(svg, "a", "heat-1");
    has_class(svg, "b", "heat-12");
    has_class(svg, "x", "no-value");
    assert_non_null(strstr(svg, ">FLOPs, log scale<"));
    assert_non_null(strstr(svg, ". Colours: FLOPs, log scale, 1 kFLOP, 1 GFLOP, no value.</desc>"));
    assert_non_null(strstr(svg, ">1 kFLOP<"));
    assert_non_null(strstr(svg, ">1 GFLOP<"));
    assert_non_null(strstr(svg, ">no value<"));
    assert_int_equal(count_of(svg, "class=\"swatch\""), FXS_PALETTE_STEPS + 1);
    fxs_free(svg);
    svg = draw(
        m,
        &(fxs_draw_options){.color_by = "flops", .color_scale = FXS_SCALE_LINEAR, .theme = "dark"},
        "svg", NULL);
    p = fxs_palette_find("dark", NULL);
    assert_int_equal(head_of(svg, "c"), p->step[0]);
    assert_int_equal(head_of(svg, "b"), p->step[FXS_PALETTE_STEPS - 1]);
    assert_non_null(strstr(svg, ">FLOPs, linear scale<"));
    fxs_free(svg);
    fxs_module_unref(m);
}

static void the_users_own_numbers(void **state) {
    fxs_module *m = line_module(*state);
    const fxs_palette *p = fxs_palette_find("grey", NULL);
    fxs_draw_options opt = {
        .color_by = "overlay", .palette = "grey", .overlay_title = "<saliency>"};
    fxs_node_set_overlay(node_of(m, "a"), -1);
    fxs_node_set_overlay(node_of(m, "b"), 0);
    fxs_node_set_overlay(node_of(m, "c"), 3);
    char *svg = draw(m, &opt, "svg", NULL), *notes, *bytes;
    assert_true(xml_ok(svg));
    assert_int_equal(head_of(svg, "a"), p->step[0]);
    assert_int_equal(head_of(svg, "b"), p->step[3]);
    assert_int_equal(head_of(svg, "c"), p->step[11]);
    assert_non_null(strstr(svg, "&lt;saliency&gt;, linear scale"));
    fxs_free(svg);
    opt.color_scale = FXS_SCALE_LOG; /* which has no place for two of them */
    assert_ok(m->ctx, fxs_draw_memory(m, &opt, "svg", &bytes, NULL, &notes));
    assert_non_null(strstr(notes, "2 nodes have no colour"));
    assert_int_equal(head_of(bytes, "a"), p->none);
    fxs_free(notes), fxs_free(bytes);
    fxs_node_set_overlay(node_of(m, "c"), NAN); /* takes it away */
    opt.color_scale = FXS_SCALE_AUTO;
    svg = draw(m, &opt, "svg", NULL);
    has_class(svg, "c", "no-value");
    fxs_free(svg);
    fxs_module_unref(m);
}

static void one_number_is_no_range(void **state) {
    fxs_module *m = line_module(*state);
    node_of(m, "a")->meta.parameters = 64;
    char *svg = draw(m, &(fxs_draw_options){.color_by = "params"}, "svg", NULL), *notes;
    assert_int_equal(count_of(svg, "class=\"swatch\""), 2);
    assert_non_null(strstr(svg, ">parameters<"));
    fxs_free(svg);
    assert_ok(m->ctx, fxs_draw_memory(m, &(fxs_draw_options){.color_by = "flops"}, "svg", &svg,
                                      NULL, &notes));
    assert_non_null(strstr(notes, "no node has a number"));
    assert_int_equal(count_of(svg, "class=\"legend\""), 0);
    fxs_free(svg), fxs_free(notes);
    fxs_module_unref(m);
}

/* ---- words ---- */

static void families_and_kinds(void **state) {
    fxs_module *m = line_module(*state);
    const fxs_palette *p = fxs_palette_find("safe", NULL);
    char *svg = draw(m, &(fxs_draw_options){.color_by = "family"}, "svg", NULL);
    has_class(svg, "a", "family-elementwise");
    has_class(svg, "b", "family-convolution");
    has_class(svg, "c", "family-shape");
    has_class(svg, "x", "family-none");
    assert_int_equal(head_of(svg, "b"), p->family[FXS_GROUP_CONVOLUTION]);
    assert_int_equal(count_of(svg, "class=\"swatch\""), 4);
    assert_non_null(strstr(svg, ">shape, view<"));
    fxs_free(svg);
    set_message(node_of(m, "c"), FXS_FAILED, "does not fit");
    svg = draw(m, &(fxs_draw_options){.color_by = "family"}, "svg", NULL);
    assert_int_equal(head_of(svg, "c"),
                     fxs_theme_find(NULL)->style[FXS_STYLE_FAILED].head); /* failed says more */
    fxs_free(svg);
    svg = draw(m, &(fxs_draw_options){.color_by = "kind"}, "svg", NULL);
    assert_int_equal(count_of(svg, "class=\"swatch\""), 4);
    assert_non_null(strstr(svg, ">call_function<"));
    assert_non_null(strstr(svg, ">failed<"));
    fxs_free(svg);
    fxs_module_unref(m);
}

/* ---- NaN ---- */

static void give_stats(fxs_node *n, int64_t nan, int64_t inf) {
    fxs_stats *s = FXS_NEW_N(&n->graph->arena, fxs_stats, 1);
    *s = (fxs_stats){.nan = nan, .inf = inf, .numel = 6};
    n->meta.stats = s;
    n->meta.nstats = 1;
}

static void nan_is_marked_where_it_begins(void **state) {
    fxs_module *m = line_module(*state);
    const fxs_palette *p = fxs_palette_find("safe", NULL);
    give_stats(node_of(m, "x"), 0, 0);
    give_stats(node_of(m, "a"), 2, 1);
    give_stats(node_of(m, "b"), 0, 1);
    give_stats(node_of(m, "c"), 0, 0);
    size_t n;
    assert_ptr_equal(fxs_graph_nonfinite(m->graph, &n), node_of(m, "a"));
    assert_int_equal(n, 1);
    const fxs_draw_options opts[] = {{.color_by = "nan"},
                                     {.rows = FXS_ROW_NAME | FXS_ROW_STATS},
                                     {.color_by = "family", .rows = FXS_ROW_STATS}};
    for (int i = 0; i < 3; i++) {
        char *svg = draw(m, &opts[i], "svg", NULL), *classes = classes_of(svg, "c");
        has_class(svg, "a", "nonfinite-first");
        has_class(svg, "b", "nonfinite-inherited");
        assert_null(strstr(classes, "nonfinite"));
        assert_int_equal(count_of(svg, ">NaN or Inf begins here</text>"), i < 2 ? 2 : 1);
        if (i < 2) {
            assert_int_equal(head_of(svg, "a"), p->first);
            assert_int_equal(head_of(svg, "b"), p->inherited);
        }
        free(classes);
        fxs_free(svg);
    }
    char *dot = draw(m, &opts[0], "dot", NULL);
    assert_int_equal(count_of(dot, "nonfinite-first"), 1);
    assert_true(count_of(dot, "NaN or Inf begins here") == 2);
    fxs_free(dot);
    char *svg = draw(m, NULL, "svg", NULL); /* not asked for */
    assert_null(strstr(svg, "nonfinite"));
    fxs_free(svg);
    fxs_module_unref(m);
}

/* ---- rows ---- */

static void each_row_says_its_own(void **state) {
    fxs_module *m = line_module(*state);
    static const struct {
        unsigned rows;
        const char *says, *not ;
    } cases[] = {{FXS_ROW_KIND, ">call_function<", ">torch.log<"},
                 {FXS_ROW_TARGET, ">torch.log<", ">call_function<"},
                 {FXS_ROW_KIND | FXS_ROW_TARGET, ">call_function<", ">target<"},
                 {FXS_ROW_SHAPE, ">[2, 3]<", ">float32<"},
                 {FXS_ROW_DTYPE, ">float32<", ">[2, 3]<"},
                 {FXS_ROW_MEMORY, ">24 B<", ">float32<"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *svg = draw(m, &(fxs_draw_options){.rows = cases[i].rows}, "svg", NULL);
        if (!strstr(svg, cases[i].says) || strstr(svg, cases[i].not ))
            fail_msg("case %zu", i);
        fxs_free(svg);
    }
    fxs_module_unref(m);
}

/* ---- shapes beside edges ---- */

static void shapes_beside_edges(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    fxs_node_clear_meta(node_of(m, "y"));
    set_done(node_of(m, "y"), meta_tensor(ctx, FXS_INT64, SIZES(1, 4, 8, 8)));
    fxs_draw_options opt = {.edge_shapes = true};
    char *svg = draw(m, &opt, "svg", NULL), *dot = draw(m, &opt, "dot", NULL);
    assert_int_equal(count_of(svg, ">1\303\2273\303\22716\303\22716</text>"), 1);
    assert_int_equal(count_of(svg, ">int64 1\303\2274\303\2278\303\2278</text>"), 1);
    assert_int_equal(count_of(dot, "label=\"1\303\2273\303\22716\303\22716\""), 1);
    fxs_free(svg), fxs_free(dot);
    /* Several tensors: what they have in common, else one by one; of a box nobody knows which. */
    fxs_value equal = TUPLE(ctx, TENSOR_OF(2, 3), TENSOR_OF(2, 3)),
              two = TUPLE(ctx, TENSOR_OF(2, 3), meta_tensor(ctx, FXS_BOOL, SIZES(7))),
              four = TUPLE(ctx, TENSOR_OF(1), TENSOR_OF(2), TENSOR_OF(3), TENSOR_OF(4));
    const struct {
        fxs_value result;
        size_t inside;
        const char *says;
    } cases[] = {{equal, 0, "2\303\2273 (2 tensors)"},
                 {equal, 5, "2\303\2273"},
                 {two, 0, "2\303\2273, bool 7"},
                 {two, 5, NULL},
                 {four, 0, "4 tensors"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_node *y = node_of(m, "y");
        char label[100];
        fxs_node_clear_meta(y);
        set_done(y, fxs_value_ref(cases[i].result));
        y->meta.inside = cases[i].inside;
        dot = draw(m, &opt, "dot", NULL);
        snprintf(label, sizeof label, "\"y\" -> \"interpolate\"%s%s",
                 cases[i].says ? " [label=\"" : ";", cases[i].says ? cases[i].says : "");
        if (!strstr(dot, label))
            fail_msg("case %zu: no %s", i, label);
        fxs_free(dot);
    }
    fxs_value_unref(&equal), fxs_value_unref(&two), fxs_value_unref(&four);
    fxs_module_unref(m);
}

/* With every engine, in both directions, on real networks: labels lie on nothing, the legend over
 * everything and within the picture. */
static void legend_is_free(const fxs_scene *s) {
    double low = 0;
    for (size_t i = 0; i < s->view->legend.n; i++) {
        const fxs_legend_item *item = &s->view->legend.items[i];
        fxs_point at = s->swatch_texts[i];
        assert_true(at.x >= 0 && at.x + item->text.width <= s->w);
        low = fmax(low, at.y);
        for (size_t k = 0; item->swatch && k < i; k++)
            assert_false(s->view->legend.items[k].swatch &&
                         geo_overlap(&s->swatches[i], &s->swatches[k]));
    }
    for (size_t i = 0; i < s->view->nnodes; i++)
        assert_true(s->boxes[i].y > low);
}

static bool label_area(const fxs_scene *s, size_t edge, fxs_area *out) {
    const fxs_face *face = &fxs_faces[FXS_INK_KEY];
    fxs_point at = s->curves[edge].label;
    *out =
        (fxs_area){{at.x, at.y - face->baseline},
                   {at.x + s->view->edges[edge].label.width, at.y - face->baseline + face->line}};
    return fxs_label_shown(s, edge);
}

/* Labels on boxes and on each other. */
static void labels_are_free(const fxs_scene *s, const char *engine) {
    fxs_area a, b;
    for (size_t i = 0; i < s->view->nedges; i++) {
        if (!label_area(s, i, &a))
            continue;
        for (size_t k = 0; k < s->view->nnodes; k++) {
            b = geo_box(s, k);
            if (geo_overlap(&a, &b))
                fail_msg("%s: a label on box %s", engine, s->view->nodes[k].node->name);
        }
        for (size_t k = 0; k < i; k++)
            if (label_area(s, k, &b) && geo_overlap(&a, &b))
                fail_msg("%s: label on label: %s", engine, s->view->edges[i].label.text);
    }
}

static void check_places(fxs_module *m, const char *engine, const char *direction) {
    fxs_draw_options opt = {
        .edge_shapes = true, .direction = direction, .color_by = "family", .title = "Title"};
    fxs_fonts *fonts;
    fxs_view view;
    fxs_scene scene = {0};
    fxs_buf notes = {0};
    char what[300] = "";
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &fonts));
    assert_ok(m->ctx, fxs_view_make(m, &opt, fonts, &view));
    assert_ok(m->ctx, fxs_layout(m->ctx, &view, engine, 60, NULL, &scene, &notes));
    if (strcmp(engine, "layered") == 0 &&
        (geo_labels(&scene, what, sizeof what) || geo_overlaps(&scene, what, sizeof what)))
        fail_msg("%s %s: %s", m->class_name, direction, what);
    size_t shown = 0, labelled = 0;
    for (size_t i = 0; i < view.nedges; i++) {
        labelled += view.edges[i].label.len > 0;
        shown += fxs_label_shown(&scene, i);
    }
    assert_true(labelled > 0 && shown > 0);
    legend_is_free(&scene);
    labels_are_free(&scene, engine);
    fxs_buf_free(&notes);
    fxs_scene_free(&scene);
    fxs_view_free(&view);
    fxs_fonts_free(fonts);
}

/* Every network in both directions with our own engine; the first few with dot as well, which takes
 * its time. */
static void check_network(const char *name, void *user) {
    fxs_ctx *ctx = user;
    static const char *const small[] = {"resnet18", "alexnet", "squeezenet1_1", "vgg11"};
    size_t len;
    char *file = golden_file(name, &len);
    fxs_inputs *in = golden_inputs(ctx, name);
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    check_places(m, "layered", "TB");
    check_places(m, "layered", "LR");
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (strcmp(name, small[i]) == 0) {
            check_places(m, "dot", "TB");
            check_places(m, "dot", "LR");
        }
    fxs_inputs_free(in);
    fxs_module_unref(m);
    fxs_free(file);
}

static void labels_lie_on_nothing(void **state) {
    assert_true(for_each_golden(check_network, *state) > 20);
}

/* ---- what is refused; bytes; memory ---- */

static void wrong_options(void **state) {
    fxs_module *m = line_module(*state);
    static const struct {
        fxs_draw_options opt;
        const char *why;
    } cases[] = {{{.color_by = "mood"}, "known: kind, family, flops"},
                 {{.palette = "pink"}, "known: safe, dark, grey"},
                 {{.color_scale = (fxs_color_scale)9}, "scale"},
                 {{.color_by = "time"}, "run the model with values"},
                 {{.color_by = "nan"}, "with values and statistics"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bytes, *notes;
        assert_int_equal(fxs_draw_memory(m, &cases[i].opt, "svg", &bytes, NULL, &notes),
                         FXS_EINVAL);
        assert_non_null(strstr(fxs_ctx_error(m->ctx), cases[i].why));
        fxs_free(notes);
        fxs_ctx_clear(m->ctx);
    }
    fxs_module_unref(m);
}

typedef struct drawing {
    fxs_module *m;
    fxs_draw_options opt;
    const char *format;
} drawing;

static fxs_status draw_once(fxs_ctx *ctx, const void *data) {
    const drawing *d = data;
    char *bytes = NULL, *notes = NULL;
    (void)ctx;
    fxs_status s = fxs_draw_memory(d->m, &d->opt, d->format, &bytes, NULL, &notes);
    fxs_free(bytes), fxs_free(notes);
    return s;
}

static void same_bytes_and_no_memory(void **state) {
    fxs_module *m = line_module(*state);
    static const char *const formats[] = {"svg", "png", "pdf", "dot", "log"}, *const by[] = {
                                                                                  "family",
                                                                                  "memory", "nan"};
    give_stats(node_of(m, "a"), 1, 0);
    for (int f = 0; f < 5; f++)
        for (int k = 0; k < 3; k++) {
            drawing d = {
                m, {.color_by = by[k], .edge_shapes = true, .engine = "layered"}, formats[f]};
            size_t a, b;
            char *once = draw(m, &d.opt, d.format, &a), *again = draw(m, &d.opt, d.format, &b);
            assert_true(a == b && memcmp(once, again, a) == 0);
            fxs_free(once), fxs_free(again);
            if (f == 0 || f == 3)
                assert_survives(m->ctx, draw_once, &d);
        }
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_become_steps, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(the_users_own_numbers, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(one_number_is_no_range, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(families_and_kinds, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(nan_is_marked_where_it_begins, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(each_row_says_its_own, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(shapes_beside_edges, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(labels_lie_on_nothing, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(wrong_options, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(same_bytes_and_no_memory, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("overlay", tests, NULL, NULL);
}
