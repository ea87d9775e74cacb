/* test_outline.c: outlines: which module becomes one box, what stands for what is left out, equal
 * blocks once; from the scopes of a trace and from the paths of a text. */
#include "fxoutline.h"
#include "ir/family.h"
#include "ir/module.h"
#include "testing.h"

static const char net[] =
    "Net(\n"
    "  (stem): Linear(in_features=4, out_features=4, bias=True)\n"
    "  (blocks): ModuleList(\n"
    "    (0): Block(\n"
    "      (a): Linear(in_features=4, out_features=4, bias=True)\n"
    "      (b): ReLU()\n"
    "    )\n"
    "    (1): Block(\n"
    "      (a): Linear(in_features=4, out_features=4, bias=True)\n"
    "      (b): ReLU()\n"
    "    )\n"
    "    (2): Block(\n"
    "      (a): Linear(in_features=4, out_features=4, bias=True)\n"
    "      (b): Tanh()\n"
    "    )\n"
    "  )\n"
    "  (drop): Dropout(p=0.1, inplace=False)\n"
    ")\n"
    "graph():\n"
    "    %x : [#users=1] = placeholder[target=x]\n"
    "    %stem : [#users=2] = call_module[target=stem](args = (%x,), kwargs = {})\n"
    "    %blocks_0_a : [#users=1] = call_module[target=blocks.0.a](args = (%stem,), kwargs = {})\n"
    "    %add : [#users=1] = call_function[target=operator.add](args = (%blocks_0_a, %stem), "
    "kwargs = {})\n"
    "    %blocks_0_b : [#users=2] = call_module[target=blocks.0.b](args = (%add,), kwargs = {})\n"
    "    %blocks_1_a : [#users=1] = call_module[target=blocks.1.a](args = (%blocks_0_b,), kwargs = "
    "{})\n"
    "    %add_1 : [#users=1] = call_function[target=operator.add](args = (%blocks_1_a, "
    "%blocks_0_b), kwargs = {})\n"
    "    %blocks_1_b : [#users=2] = call_module[target=blocks.1.b](args = (%add_1,), kwargs = {})\n"
    "    %blocks_2_a : [#users=1] = call_module[target=blocks.2.a](args = (%blocks_1_b,), kwargs = "
    "{})\n"
    "    %add_2 : [#users=1] = call_function[target=operator.add](args = (%blocks_2_a, "
    "%blocks_1_b), kwargs = {})\n"
    "    %blocks_2_b : [#users=2] = call_module[target=blocks.2.b](args = (%add_2,), kwargs = {})\n"
    "    %drop : [#users=1] = call_module[target=drop](args = (%blocks_2_b,), kwargs = {})\n"
    "    %size : [#users=1] = call_method[target=size](args = (%blocks_2_b, 0), kwargs = {})\n"
    "    %view : [#users=1] = call_method[target=view](args = (%drop, %size, 4), kwargs = {})\n"
    "    return view\n";

static int new_net(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m;
    fxs_inputs *in;
    assert_ok(ctx, fxs_load_text(ctx, "net", net, strlen(net), &m));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "3x4"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    fxs_inputs_free(in);
    *state = m;
    return 0;
}

static int free_net(void **state) {
    fxs_ctx *ctx = ((fxs_module *)*state)->ctx;
    fxs_module_unref(*state);
    fxs_ctx_free(ctx);
    return 0;
}

/* "name<input,input" for each node, with blanks between. */
static char *shape_of(const fxs_module *m) {
    fxs_buf b = {0};
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(m)); n; n = fxs_node_next(n)) {
        fxs_buf_printf(&b, "%s%s", b.len ? " " : "", fxs_node_name(n));
        for (size_t i = 0; i < n->ninputs; i++)
            fxs_buf_printf(&b, "%s%s", i ? "," : "<", fxs_node_name(n->inputs[i]));
    }
    fxs_buf_add(&b, "", 1);
    return b.data;
}

static void assert_outline(fxs_module *m, const fxs_outline_options *opt, const char *expected,
                           const char *said) {
    fxs_module *out;
    char *notes;
    assert_ok(m->ctx, fxs_outline(m, opt, &out, &notes));
    char *have = shape_of(out);
    assert_string_equal(have, expected);
    if (!strstr(notes, said))
        fail_msg("'%s' does not say '%s'", notes, said);
    assert_ok(m->ctx, fxs_graph_lint(fxs_module_graph(out)));
    fxs_free(have);
    fxs_free(notes);
    fxs_module_unref(out);
}

#define LISTED(...)                                                                                \
    (const char *const[]) { __VA_ARGS__, NULL }

static void nothing_asked_nothing_changed(void **state) {
    char *before = shape_of(*state);
    assert_outline(*state, &(fxs_outline_options){0}, before, "");
    fxs_free(before);
}

static void modules_become_boxes(void **state) {
    static const char boxes[] = "x stem<x blocks_0<stem blocks_1<blocks_0 blocks_2<blocks_1 "
                                "drop<blocks_2 size<blocks_2 view<drop,size output<view";
    assert_outline(*state, &(fxs_outline_options){.collapse = LISTED("Block")}, boxes,
                   "3 modules are drawn as one box each");
    assert_outline(*state, &(fxs_outline_options){.collapse = LISTED("blocks.*")}, boxes, "");
    assert_outline(*state, &(fxs_outline_options){.depth = 1}, boxes, "");
    assert_outline(*state, &(fxs_outline_options){.depth = 1, .expand = LISTED("blocks.1")},
                   "x stem<x blocks_0<stem blocks_1_a<blocks_0 add_1<blocks_1_a,blocks_0 "
                   "blocks_1_b<add_1 blocks_2<blocks_1_b drop<blocks_2 size<blocks_2 "
                   "view<drop,size output<view",
                   "2 modules are drawn as one box each");
}

static void a_box_sums_up(void **state) {
    fxs_module *m = *state, *out;
    assert_ok(m->ctx, fxs_outline(m, &(fxs_outline_options){.depth = 1}, &out, NULL));
    const fxs_node *box = fxs_graph_find(fxs_module_graph(out), "blocks_1");
    const fxs_meta *meta = fxs_node_meta(box);
    double flops = 0;
    const char *const inside[] = {"blocks_1_a", "add_1", "blocks_1_b"};
    for (size_t i = 0; i < 3; i++)
        flops += fxs_node_meta(fxs_graph_find(fxs_module_graph(m), inside[i]))->flops;
    assert_string_equal(fxs_node_type(box), "Block");
    assert_int_equal(meta->inside, 3);
    assert_int_equal(meta->parameters, 20);
    assert_true(flops > 0 && meta->flops == flops);
    assert_int_equal(meta->outcome, FXS_DONE);
    assert_shape(meta->result.u.tensor, SIZES(3, 4));
    fxs_group group;
    bool none;
    assert_ok(m->ctx, fxs_node_family(box, out, &none, &group));
    assert_false(none);
    assert_int_equal(group, FXS_GROUP_LINEAR); /* two of three nodes, and nearly all FLOPs */
    fxs_module_unref(out);
}

static void equal_blocks_stand_once(void **state) {
    assert_outline(*state, &(fxs_outline_options){.fold = true},
                   "x stem<x blocks_0_a<stem add<blocks_0_a,stem blocks_0_b<add "
                   "blocks_2_a<blocks_0_b add_2<blocks_2_a,blocks_0_b blocks_2_b<add_2 "
                   "drop<blocks_2_b size<blocks_2_b view<drop,size output<view",
                   "blocks.0 stands for 2 equal blocks, up to blocks.1, each with weights of its "
                   "own");
    assert_outline(*state, &(fxs_outline_options){.fold = true, .depth = 1},
                   "x stem<x blocks_0<stem blocks_2<blocks_0 drop<blocks_2 size<blocks_2 "
                   "view<drop,size output<view",
                   "blocks.0 stands for 2 equal blocks");
}

static void one_module_in_focus(void **state) {
    assert_outline(*state, &(fxs_outline_options){.focus = "blocks.1"},
                   "blocks_0_b blocks_1_a<blocks_0_b add_1<blocks_1_a,blocks_0_b "
                   "blocks_1_b<add_1 output<blocks_1_b",
                   "");
}

static void depth_counts_from_the_focus(void **state) {
    static const char net_of_nets[] =
        "Net(\n"
        "  (a): Outer(\n"
        "    (b): Inner(\n"
        "      (c): Linear(in_features=4, out_features=4, bias=True)\n"
        "      (r): ReLU()\n"
        "    )\n"
        "    (t): Tanh()\n"
        "  )\n"
        ")\n"
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %c : [#users=1] = call_module[target=a.b.c](args = (%x,), kwargs = {})\n"
        "    %r : [#users=1] = call_module[target=a.b.r](args = (%c,), kwargs = {})\n"
        "    %t : [#users=1] = call_module[target=a.t](args = (%r,), kwargs = {})\n"
        "    return t\n";
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m, *out;
    (void)state;
    assert_ok(ctx, fxs_load_text(ctx, "net", net_of_nets, strlen(net_of_nets), &m));
    assert_outline(m, &(fxs_outline_options){.depth = 1}, "x a<x output<a", "");
    assert_outline(m, &(fxs_outline_options){.depth = 1, .focus = "a"}, "x a_b<x t<a_b output<t",
                   "1 module is drawn as one box");
    assert_outline(m, &(fxs_outline_options){.depth = 1, .focus = "a.b"}, "x c<x r<c output<r", "");
    assert_outline(m, &(fxs_outline_options){.depth = 2, .focus = "a"}, "x c<x r<c t<r output<t",
                   "");
    assert_outline(m, &(fxs_outline_options){.collapse = LISTED("a"), .focus = "a.b"},
                   "x c<x r<c output<r", ""); /* what is around it does not matter */
    assert_int_equal(
        fxs_outline(m, &(fxs_outline_options){.collapse = LISTED("a"), .focus = "a"}, &out, NULL),
        FXS_EINVAL);
    assert_string_equal(fxs_ctx_error(ctx), "'a' is in focus and collapsed at once");
    fxs_ctx_clear(ctx);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

static const char called_twice[] =
    "Net(\n"
    "  (b): Block(\n"
    "    (a): Linear(in_features=4, out_features=4, bias=True)\n"
    "    (r): ReLU()\n"
    "  )\n"
    "  (t): Tanh()\n"
    ")\n"
    "graph():\n"
    "    %x : [#users=1] = placeholder[target=x]\n"
    "    %a : [#users=1] = call_module[target=b.a](args = (%x,), kwargs = {})\n"
    "    %r : [#users=1] = call_module[target=b.r](args = (%a,), kwargs = {})\n"
    "    %t : [#users=1] = call_module[target=t](args = (%r,), kwargs = {})\n"
    "    %a_1 : [#users=1] = call_module[target=b.a](args = (%t,), kwargs = {})\n"
    "    %r_1 : [#users=1] = call_module[target=b.r](args = (%a_1,), kwargs = {})\n"
    "    return r_1\n";

static void assert_no_focus(fxs_module *m, const char *focus, const char *said) {
    fxs_module *out;
    assert_int_equal(fxs_outline(m, &(fxs_outline_options){.focus = focus}, &out, NULL),
                     FXS_ENOTFOUND);
    if (!strstr(fxs_ctx_error(m->ctx), said))
        fail_msg("'%s' does not say '%s'", fxs_ctx_error(m->ctx), said);
    fxs_ctx_clear(m->ctx);
}

static void a_call_can_be_in_focus(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m;
    (void)state;
    assert_ok(ctx, fxs_load_text(ctx, "net", called_twice, strlen(called_twice), &m));
    assert_outline(m, &(fxs_outline_options){.focus = "b"}, "x a<x r<a output<r",
                   "b is called 2 times; the first call is shown, b#2 is the other");
    assert_outline(m, &(fxs_outline_options){.focus = "b#1"}, "x a<x r<a output<r", "");
    assert_outline(m, &(fxs_outline_options){.focus = "b#2"}, "t a_1<t r_1<a_1 output<r_1", "");
    assert_outline(m, &(fxs_outline_options){.focus = "b (call 2)"}, "t a_1<t r_1<a_1 output<r_1", "");
    static const char *const none[] = {"b#3",  "b#0",       "b#",
                                       "b#2x", "b (call 2", "b#99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_no_focus(m, none[i], "is called that holds nodes of this graph (there are: b, b#2)");
    assert_no_focus(m, "t", "(there are: b, b#2)"); /* it holds no nodes: it is one */
    assert_true(fxs_outline_in_focus(&(fxs_outline_options){.focus = "b#2"}, "b", 1));
    assert_false(fxs_outline_in_focus(&(fxs_outline_options){.focus = "b#2"}, "b", 0));
    assert_true(fxs_outline_in_focus(&(fxs_outline_options){.focus = "b"}, "b", 0));
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* A part's output has the result that leaves the part, in an outline and in a level. */
static void assert_output_has_result(const fxs_module *part) {
    fxs_node *n = fxs_graph_first(fxs_module_graph(part));
    while (fxs_node_next(n))
        n = fxs_node_next(n);
    const fxs_meta *meta = fxs_node_meta(n);
    assert_string_equal(fxs_node_name(n), "output");
    assert_int_equal(meta->outcome, FXS_DONE);
    assert_string_equal(meta->type_name, "torch.Tensor");
    assert_true(meta->has_tensor);
    assert_shape(meta->result.u.tensor, SIZES(3, 4));
}

static void a_part_has_a_result(void **state) {
    fxs_module *m = *state, *out;
    fxs_levels *l;
    assert_ok(m->ctx, fxs_outline(m, &(fxs_outline_options){.focus = "blocks.1"}, &out, NULL));
    assert_output_has_result(out);
    fxs_module_unref(out);
    assert_ok(m->ctx, fxs_levels_new(m, &l));
    assert_ok(m->ctx, fxs_levels_model(l, 2, &out, NULL));
    assert_output_has_result(out);
    fxs_module_unref(out);
    fxs_levels_free(l);
}

static void nodes_are_left_out(void **state) {
    assert_outline(*state, &(fxs_outline_options){.hide = LISTED("Dropout", "size"), .depth = 1},
                   "x stem<x blocks_0<stem blocks_1<blocks_0 blocks_2<blocks_1 view<blocks_2 "
                   "output<view",
                   "2 nodes are left out");
    assert_outline(*state, &(fxs_outline_options){.hide = LISTED("Tanh"), .depth = 1},
                   "x stem<x blocks_0<stem blocks_1<blocks_0 blocks_2<blocks_1 drop<blocks_2 "
                   "size<blocks_2 view<drop,size output<view",
                   "3 modules are drawn as one box each"); /* it is in a box */
    assert_outline(*state, &(fxs_outline_options){.only_tensors = true, .depth = 1},
                   "x stem<x blocks_0<stem blocks_1<blocks_0 blocks_2<blocks_1 drop<blocks_2 "
                   "view<drop output<view",
                   "1 node is left out");
}

static void wrong_names_are_refused(void **state) {
    fxs_module *m = *state, *out;
    const fxs_outline_options wrong[] = {{.collapse = LISTED("Bock")},
                                         {.expand = LISTED("blocks.7")},
                                         {.hide = LISTED("getitem")},
                                         {.focus = "blocks.3"},
                                         {.focus = "stem"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(fxs_outline(m, &wrong[i], &out, NULL), FXS_ENOTFOUND);
        assert_null(out);
        fxs_ctx_clear(m->ctx);
    }
}

/* "path:" and the level's graph, with what each of its nodes is: n node, b box, i input, o output.
 */
static char *level_of(fxs_levels *l, size_t level) {
    fxs_module *m;
    const fxs_level_node *nodes;
    fxs_status s = fxs_levels_model(l, level, &m, &nodes);
    assert_int_equal(s, FXS_OK);
    assert_ok(m->ctx, fxs_graph_lint(fxs_module_graph(m)));
    char *graph = shape_of(m);
    fxs_buf b = {0};
    fxs_buf_printf(&b, "%s: %s ", fxs_levels_at(l, level)->path, graph);
    for (size_t i = 0; i < fxs_graph_len(fxs_module_graph(m)); i++)
        fxs_buf_printf(&b, "%c%zu", "nbio"[nodes[i].part], nodes[i].at);
    fxs_free(graph);
    fxs_module_unref(m);
    return fxs_buf_take(&b, NULL);
}

static void each_module_is_a_level(void **state) {
    static const char *const expected[] = {
        ": x stem<x blocks_0<stem blocks_1<blocks_0 blocks_2<blocks_1 drop<blocks_2 "
        "size<blocks_2 view<drop,size output<view n0n1b1b2b3n11n12n13n14",
        "blocks.0: stem blocks_0_a<stem add<blocks_0_a,stem blocks_0_b<add output<blocks_0_b "
        "i1n2n3n4o0",
        "blocks.1: blocks_0_b blocks_1_a<blocks_0_b add_1<blocks_1_a,blocks_0_b "
        "blocks_1_b<add_1 output<blocks_1_b i4n5n6n7o0",
        "blocks.2: blocks_1_b blocks_2_a<blocks_1_b add_2<blocks_2_a,blocks_1_b "
        "blocks_2_b<add_2 output<blocks_2_b i7n8n9n10o0"};
    fxs_module *m = *state;
    fxs_levels *l;
    assert_ok(m->ctx, fxs_levels_new(m, &l));
    assert_int_equal(fxs_levels_count(l), 4);
    for (int again = 0; again < 2; again++) /* what one level knows, the next does not */
        for (size_t i = 4; i-- > 0;) {
            char *have = level_of(l, i);
            assert_string_equal(have, expected[i]);
            fxs_free(have);
        }
    assert_int_equal(fxs_levels_at(l, 2)->parent, 0);
    assert_int_equal(fxs_levels_at(l, 2)->first, 5);
    assert_int_equal(fxs_levels_at(l, 2)->last, 7);
    assert_string_equal(fxs_levels_at(l, 2)->class_name, "Block");
    fxs_levels_free(l);
    assert_int_equal(fxs_levels_new(fxs_module_find(m, "stem"), &l), FXS_EINVAL);
    fxs_ctx_clear(m->ctx);
}

static fxs_status levels_once(fxs_ctx *ctx, const void *data) {
    fxs_levels *l;
    fxs_module *out = NULL;
    (void)ctx;
    fxs_status s = fxs_levels_new(data, &l);
    for (size_t i = 0; s == FXS_OK && i < fxs_levels_count(l); i++) {
        s = fxs_levels_model(l, i, &out, NULL);
        fxs_module_unref(out);
    }
    fxs_levels_free(l);
    return s;
}

static fxs_status outline_once(fxs_ctx *ctx, const void *data) {
    fxs_module *out = NULL;
    char *notes = NULL;
    const fxs_outline_options opt = {.fold = true, .depth = 1, .hide = LISTED("Dropout")};
    (void)ctx;
    fxs_status s = fxs_outline(data, &opt, &out, &notes);
    assert_true((s == FXS_OK) == (out != NULL));
    fxs_module_unref(out);
    fxs_free(notes);
    return s;
}

/* Without memory there is no outline, and no leak. */
static void memory_runs_out(void **state) {
    fxs_module *m = *state;
    assert_survives(m->ctx, outline_once, m);
    assert_survives(m->ctx, levels_once, m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_nothing_changed),
        cmocka_unit_test(modules_become_boxes),
        cmocka_unit_test(a_box_sums_up),
        cmocka_unit_test(equal_blocks_stand_once),
        cmocka_unit_test(one_module_in_focus),
        cmocka_unit_test(depth_counts_from_the_focus),
        cmocka_unit_test(a_call_can_be_in_focus),
        cmocka_unit_test(a_part_has_a_result),
        cmocka_unit_test(nodes_are_left_out),
        cmocka_unit_test(wrong_names_are_refused),
        cmocka_unit_test(each_module_is_a_level),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, new_net, free_net);
}
