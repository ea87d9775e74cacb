/* test_leaving.c: runs of blocks that are drawn once: whose weights they have, and which shape goes
 * along the edges into a run, inside of it and out of it, in a picture and in the levels of a
 * page. */
#include "render_testing.h"

#include "fxoutline.h"
#include "render/view.h"

#define LAYER(in, out) "      (a): Conv2d(" #in ", " #out ", kernel_size=(3, 3), stride=(1, 1))\n"
#define BLOCK(i, in, out) "    (" #i "): Block(\n" LAYER(in, out) "      (b): ReLU()\n    )\n"

static const char tree[] =
    "Net(\n"
    "  (l): Layers(\n" BLOCK(0, 4, 8) BLOCK(1, 8, 16)
        BLOCK(2, 16, 32) "  )\n"
                         "  (c): Conv2d(32, 4, kernel_size=(3, 3), stride=(1, 1))\n"
                         ")\n";

static const char chain[] =
    "graph():\n"
    "    %x : [num_users=1] = placeholder[target=x]\n"
    "    %a0 : [num_users=1] = call_module[target=l.0.a](args = (%x,), kwargs = {})\n"
    "    %b0 : [num_users=1] = call_module[target=l.0.b](args = (%a0,), kwargs = {})\n"
    "    %a1 : [num_users=1] = call_module[target=l.1.a](args = (%b0,), kwargs = {})\n"
    "    %b1 : [num_users=1] = call_module[target=l.1.b](args = (%a1,), kwargs = {})\n"
    "    %a2 : [num_users=1] = call_module[target=l.2.a](args = (%b1,), kwargs = {})\n"
    "    %b2 : [num_users=1] = call_module[target=l.2.b](args = (%a2,), kwargs = {})\n"
    "    %c : [num_users=1] = call_module[target=c](args = (%b2,), kwargs = {})\n"
    "    return c\n";

/* b0, b1 and b2 are used together: what leaves the run is all of them. */
static const char joined[] =
    "graph():\n"
    "    %x : [num_users=1] = placeholder[target=x]\n"
    "    %a0 : [num_users=1] = call_module[target=l.0.a](args = (%x,), kwargs = {})\n"
    "    %b0 : [num_users=2] = call_module[target=l.0.b](args = (%a0,), kwargs = {})\n"
    "    %a1 : [num_users=1] = call_module[target=l.1.a](args = (%b0,), kwargs = {})\n"
    "    %b1 : [num_users=2] = call_module[target=l.1.b](args = (%a1,), kwargs = {})\n"
    "    %a2 : [num_users=1] = call_module[target=l.2.a](args = (%b1,), kwargs = {})\n"
    "    %b2 : [num_users=1] = call_module[target=l.2.b](args = (%a2,), kwargs = {})\n"
    "    %each : [num_users=1] = call_function[target=torch.atleast_1d](args = ([%b0, %b1, "
    "%b2],), kwargs = {})\n"
    "    return each\n";

static fxs_module *load(fxs_ctx *ctx, const char *graph, fxs_fold how,
                        const char *const *collapse) {
    fxs_module *m, *out;
    fxs_inputs *in;
    fxs_buf text = {0};
    fxs_buf_printf(&text, "%s%s", tree, graph);
    assert_ok(ctx, fxs_load_text(ctx, "net", text.data, text.len, &m));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "1x4x16x16"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    assert_ok(
        ctx, fxs_outline(m, &(fxs_outline_options){.fold = how, .collapse = collapse}, &out, NULL));
    fxs_inputs_free(in);
    fxs_module_unref(m);
    fxs_buf_free(&text);
    return out;
}

/* Every edge as "FROM>TO SHAPE". */
static void assert_edges(const fxs_module *m, const char *expected) {
    fxs_fonts *fonts;
    fxs_view v;
    fxs_buf b = {0};
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &fonts));
    assert_ok(m->ctx, fxs_view_make(m, &(fxs_draw_options){.edge_shapes = true}, fonts, &v));
    for (size_t i = 0; i < v.nedges; i++)
        fxs_buf_printf(&b, "%s%s>%s %.*s", i ? "; " : "", v.nodes[v.edges[i].from].name,
                       v.nodes[v.edges[i].to].name, (int)v.edges[i].label.len,
                       v.edges[i].label.len ? v.edges[i].label.text : "");
    fxs_buf_add(&b, "", 0);
    assert_string_equal(b.data, expected);
    fxs_buf_free(&b);
    fxs_view_free(&v);
    fxs_fonts_free(fonts);
}

#define X "\303\227"
#define TO "\342\200\246"
#define FIRST "1" X "4" X "16" X "16"
#define INSIDE "1" X "8" TO "32" X "10" TO "14" X "10" TO "14"
#define LAST "1" X "32" X "10" X "10"

static void what_leaves_a_run_is_the_last_blocks(void **state) {
    static const char *const blocks[] = {"Block", NULL}, *const layers[] = {"Layers", NULL};
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, chain, FXS_FOLD_SIMILAR, NULL);
    assert_edges(m,
                 "x>a0 " FIRST "; a0>b0 " INSIDE "; b0>c " LAST "; c>output 1" X "4" X "8" X "8");
    fxs_module_unref(m);
    m = load(ctx, chain, FXS_FOLD_SIMILAR, blocks);
    assert_edges(m, "x>l_0 " FIRST "; l_0>c " LAST "; c>output 1" X "4" X "8" X "8");
    fxs_module_unref(m);
    m = load(ctx, chain, FXS_FOLD_SIMILAR, layers);
    assert_edges(m, "x>l " FIRST "; l>c " LAST "; c>output 1" X "4" X "8" X "8");
    fxs_module_unref(m);
}

static void what_is_joined_behind_a_run_is_all_of_it(void **state) {
    fxs_module *m = load(*state, joined, FXS_FOLD_SIMILAR, NULL);
    assert_edges(m, "x>a0 " FIRST "; a0>b0 " INSIDE "; b0>each " INSIDE "; each>output "
                    "1" X "8" X "14" X "14, 1" X "16" X "12" X "12, " LAST);
    fxs_module_unref(m);
}

static void assert_level(fxs_levels *l, size_t level, const char *expected) {
    fxs_module *m;
    assert_int_equal(fxs_levels_model(l, level, &m, NULL), FXS_OK);
    assert_edges(m, expected);
    fxs_module_unref(m);
}

/* Closed, a level is a box around the run, or of it; open, it has the run's parts. */
static void levels_say_the_same(void **state) {
    fxs_ctx *ctx = *state;
    fxs_levels *l;
    fxs_module *m = load(ctx, chain, FXS_FOLD_SIMILAR, NULL), *top;
    assert_ok(ctx, fxs_levels_new(m, &l));
    assert_int_equal(fxs_levels_count(l), 3);
    assert_level(l, 0, "x>l " FIRST "; l>c " LAST "; c>output 1" X "4" X "8" X "8");
    assert_level(l, 1, "x>l_0 " FIRST "; l_0>output " LAST);
    assert_level(l, 2, "x>a0 " FIRST "; a0>b0 " INSIDE "; b0>output " LAST);
    assert_ok(ctx, fxs_levels_model(l, 0, &top, NULL));
    const fxs_node *box = fxs_graph_find(fxs_module_graph(top), "l");
    assert_shape(fxs_node_meta(box)->result.u.tensor, SIZES(1, 32, 10, 10));
    fxs_module_unref(top);
    fxs_levels_free(l);
    fxs_module_unref(m);
    m = load(ctx, joined, FXS_FOLD_SIMILAR, NULL);
    assert_ok(ctx, fxs_levels_new(m, &l));
    assert_level(l, 2, "x>a0 " FIRST "; a0>b0 " INSIDE "; b0>output " INSIDE);
    fxs_levels_free(l);
    fxs_module_unref(m);
}

/* ---- weights ---- */

#define LINEAR(name)                                                                               \
    "  (" name "): Block(\n    (a): Linear(in_features=4, out_features=4, bias=True)\n  )\n"
#define CALL(i, from, path, nth)                                                                   \
    "    # in Net > " path ": Block" nth "\n"                                                      \
    "    %a" #i " : [#users=1] = call_module[target=" path ".a](args = (%" from                    \
    ",), kwargs = {})\n"                                                                           \
    "    %r" #i " : [#users=1] = call_function[target=torch.relu](args = (%a" #i                   \
    ",), kwargs = {})\n"

static void assert_frame(fxs_ctx *ctx, const char *graph, const char *input, const char *expected) {
    fxs_module *m, *out;
    fxs_inputs *in;
    fxs_fonts *fonts;
    fxs_view v;
    assert_ok(ctx, fxs_load_text(ctx, "net", graph, strlen(graph), &m));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, input));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    assert_ok(ctx, fxs_outline(m, &(fxs_outline_options){.fold = FXS_FOLD_AUTO}, &out, NULL));
    assert_ok(ctx, fxs_fonts_new(ctx, true, &fonts));
    assert_ok(ctx, fxs_view_make(out, &(fxs_draw_options){.clusters = true}, fonts, &v));
    assert_true(v.nclusters > 1);
    assert_string_equal(v.clusters[1].label.text, expected);
    fxs_view_free(&v);
    fxs_fonts_free(fonts);
    fxs_inputs_free(in);
    fxs_module_unref(out);
    fxs_module_unref(m);
}

#define BEGIN "graph():\n    # in Net\n    %x : [#users=1] = placeholder[target=x]\n"
#define END(last) "    # in Net\n    return " last "\n"

/* Two sets in turns: no two neighbours share any, and none has its own. */
static void a_frame_says_whose_weights_the_blocks_have(void **state) {
    fxs_ctx *ctx = *state;
    assert_frame(ctx,
                 "Net(\n" LINEAR("p") LINEAR("q") ")\n" BEGIN CALL(0, "x", "p", "")
                     CALL(1, "r0", "q", "") END("r1"),
                 "2x4", "p  Block  " X " 2, own weights");
    assert_frame(ctx,
                 "Net(\n" LINEAR("p") ")\n" BEGIN CALL(0, "x", "p", "")
                     CALL(1, "r0", "p", " (call 2)") END("r1"),
                 "2x4", "p  Block  " X " 2, shared weights");
    assert_frame(ctx,
                 "Net(\n" LINEAR("p") LINEAR("q") ")\n" BEGIN CALL(0, "x", "p", "")
                     CALL(1, "r0", "q", "") CALL(2, "r1", "p", " (call 2)")
                         CALL(3, "r2", "q", " (call 2)") END("r3"),
                 "2x4", "p  Block  " X " 4, partly shared weights");
    assert_frame(ctx,
                 "Net(\n  (p): Block(\n    (a): Tanh()\n  )\n)\n" BEGIN CALL(0, "x", "p", "")
                     CALL(1, "r0", "p", " (call 2)") END("r1"),
                 "2x4", "p  Block  " X " 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leaves_a_run_is_the_last_blocks),
        cmocka_unit_test(what_is_joined_behind_a_run_is_all_of_it),
        cmocka_unit_test(levels_say_the_same),
        cmocka_unit_test(a_frame_says_whose_weights_the_blocks_have),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
