/* test_repeat.c: which blocks are equal, and whose the functions between them are where a text does
 * not say it. */
#include "fxoutline.h"
#include "ir/module.h"
#include "testing.h"

typedef struct text {
    fxs_buf tree, graph;
} text;

/* n blocks of one Linear each, "layers.0" to "layers.<n-1>", the last `odd` of them with a Tanh. */
static void add_blocks(text *t, int n, int odd) {
    fxs_buf_puts(&t->tree, "Net(\n  (layers): Sequential(\n");
    for (int i = 0; i < n; i++)
        fxs_buf_printf(&t->tree,
                       "    (%d): Block(\n"
                       "      (a): Linear(in_features=4, out_features=4, bias=True)\n"
                       "      (b): %s()\n    )\n",
                       i, i < n - odd ? "ReLU" : "Tanh");
    fxs_buf_puts(&t->tree, "  )\n  (last): ReLU()\n)\n");
}

static void add_node(text *t, const char *name, const char *kind, const char *target,
                     const char *args) {
    fxs_buf_printf(&t->graph, "    %%%s : [#users=1] = %s[target=%s](args = (%s), kwargs = {})\n",
                   name, kind, target, args);
}

/* Block i of `in`: layers_i_a, layers_i_b. */
static void add_block(text *t, int i, const char *in) {
    char name[32], target[32], args[64];
    for (const char *part = "ab"; *part; part++) {
        snprintf(args, sizeof args, "%%%s,", in);
        snprintf(name, sizeof name, "layers_%d_%c", i, *part);
        snprintf(target, sizeof target, "layers.%d.%c", i, *part);
        add_node(t, name, "call_module", target, args);
        in = name;
    }
}

static void add_function(text *t, const char *name, const char *target, const char *args) {
    add_node(t, name, "call_function", target, args);
}

/* The names of the outline's nodes, and what was said. */
static void assert_folds(text *t, const fxs_outline_options *opt, const char *expected,
                         const char *said) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m, *out;
    fxs_inputs *in;
    char *notes;
    fxs_buf names = {0};
    fxs_buf_printf(&t->tree, "graph():\n    %%x : [#users=1] = placeholder[target=x]\n%s",
                   t->graph.data);
    assert_ok(ctx, fxs_load_text(ctx, "net", t->tree.data, t->tree.len, &m));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "3x4"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    fxs_inputs_free(in);
    assert_ok(ctx, fxs_outline(m, opt, &out, &notes));
    assert_ok(ctx, fxs_graph_lint(fxs_module_graph(out)));
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(out)); n; n = fxs_node_next(n))
        fxs_buf_printf(&names, "%s%s", names.len ? " " : "", fxs_node_name(n));
    assert_string_equal(names.data, expected);
    if (!strstr(notes, said))
        fail_msg("'%s' does not say '%s'", notes, said);
    fxs_buf_free(&names);
    fxs_buf_free(&t->tree);
    fxs_buf_free(&t->graph);
    fxs_free(notes);
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

static const fxs_outline_options fold = {.fold = true};

/* x + block(x), n times; then the layer `last`. */
static void add_residual_blocks(text *t, int n) {
    char in[32] = "x", sum[32], args[96];
    for (int i = 0; i < n; i++) {
        add_block(t, i, in);
        snprintf(sum, sizeof sum, "add_%d", i);
        snprintf(args, sizeof args, "%%%s, %%layers_%d_b", in, i);
        add_function(t, sum, "operator.add", args);
        snprintf(in, sizeof in, "%s", sum);
    }
    snprintf(args, sizeof args, "%%%s,", in);
    add_node(t, "last", "call_module", "last", args);
    fxs_buf_puts(&t->graph, "    return last\n");
}

static void residual_blocks_of_a_text_are_folded(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 4, 0);
    add_residual_blocks(&t, 4);
    assert_folds(&t, &fold, "x layers_0_a layers_0_b add_0 last output",
                 "layers.0 stands for 4 equal blocks, up to layers.3");
}

static void what_was_guessed_is_said(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 3, 0);
    add_residual_blocks(&t, 3);
    assert_folds(&t, &fold, "x layers_0_a layers_0_b add_0 last output",
                 "3 functions between equal blocks are drawn in them: the text does not say");
}

static void without_folding_nothing_is_guessed(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 2, 0);
    add_residual_blocks(&t, 2);
    assert_folds(&t, &(fxs_outline_options){.depth = 2},
                 "x layers_0 add_0 layers_1 add_1 last output", "2 modules are drawn as one box");
}

static void a_folded_box_holds_its_addition(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 3, 0);
    add_residual_blocks(&t, 3);
    assert_folds(&t, &(fxs_outline_options){.fold = true, .depth = 2}, "x layers_0 last output",
                 "layers.0 stands for 3 equal blocks");
}

/* The last one has nothing behind it that the others have. */
static void a_run_ends_where_the_additions_end(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 3, 0);
    add_block(&t, 0, "x");
    add_function(&t, "add_0", "operator.add", "%x, %layers_0_b");
    add_block(&t, 1, "add_0");
    add_function(&t, "add_1", "operator.add", "%add_0, %layers_1_b");
    add_block(&t, 2, "add_1");
    add_node(&t, "last", "call_module", "last", "%layers_2_b,");
    fxs_buf_puts(&t.graph, "    return last\n");
    assert_folds(&t, &fold, "x layers_0_a layers_0_b add_0 layers_2_a layers_2_b last output",
                 "layers.0 stands for 2 equal blocks, up to layers.1");
}

/* What precedes every block, the first one too, begins a block; messages name other nodes. */
static void assertions_before_each_block_are_its_own(void **state) {
    (void)state;
    text t = {0};
    char in[32] = "x", name[32], args[128];
    add_blocks(&t, 3, 0);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "dim_%d", i);
        snprintf(args, sizeof args, "%%%s,", in);
        add_node(&t, name, "call_method", "dim", args);
        snprintf(name, sizeof name, "eq_%d", i);
        snprintf(args, sizeof args, "%%dim_%d, 2", i);
        add_function(&t, name, "operator.eq", args);
        snprintf(name, sizeof name, "_assert_%d", i);
        snprintf(args, sizeof args, "%%eq_%d, Expected 2 dimensions but got Proxy(dim_%d)!", i, i);
        add_function(&t, name, "torch._assert", args);
        add_block(&t, i, in);
        snprintf(name, sizeof name, "add_%d", i);
        snprintf(args, sizeof args, "%%%s, %%layers_%d_b", in, i);
        add_function(&t, name, "operator.add", args);
        snprintf(in, sizeof in, "%s", name);
    }
    add_node(&t, "last", "call_module", "last", "%add_2,");
    fxs_buf_puts(&t.graph, "    return last\n");
    assert_folds(&t, &fold, "x dim_0 eq_0 _assert_0 layers_0_a layers_0_b add_0 last output",
                 "layers.0 stands for 3 equal blocks, up to layers.2");
}

static void blocks_of_another_kind_stay(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 4, 2);
    add_residual_blocks(&t, 4);
    assert_folds(&t, &fold, "x layers_0_a layers_0_b add_0 layers_2_a layers_2_b add_2 last output",
                 "layers.2 stands for 2 equal blocks, up to layers.3");
}

/* Both get x: drawing one of them would lose a branch. */
static void blocks_side_by_side_are_no_run(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 2, 0);
    add_block(&t, 0, "x");
    add_block(&t, 1, "x");
    add_function(&t, "cat", "torch.cat", "[%layers_0_b, %layers_1_b], 1");
    fxs_buf_puts(&t.graph, "    return cat\n");
    assert_folds(&t, &fold, "x layers_0_a layers_0_b layers_1_a layers_1_b cat output", "");
}

/* Numbers between the blocks that differ keep them apart, unless what has them is left out. */
static void what_is_left_out_need_not_be_equal(void **state) {
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        text t = {0};
        add_blocks(&t, 2, 0);
        add_block(&t, 0, "x");
        add_function(&t, "mul_0", "operator.mul", "%layers_0_b, 0.1");
        add_block(&t, 1, "mul_0");
        add_function(&t, "mul_1", "operator.mul", "%layers_1_b, 0.2");
        add_node(&t, "last", "call_module", "last", "%mul_1,");
        fxs_buf_puts(&t.graph, "    return last\n");
        const char *const names[] = {hidden ? "mul" : NULL, NULL};
        assert_folds(&t, &(fxs_outline_options){.fold = true, .hide = names},
                     hidden ? "x layers_0_a layers_0_b last output"
                            : "x layers_0_a layers_0_b mul_0 layers_1_a layers_1_b mul_1 "
                              "last output",
                     "");
    }
}

/* The chance of a function's dropout is no more of its structure than that of a layer's. */
static void chances_of_functions_vary(void **state) {
    (void)state;
    text t = {0};
    add_blocks(&t, 2, 0);
    add_block(&t, 0, "x");
    add_function(&t, "drop_0", "torch.nn.functional.dropout", "%layers_0_b, 0.1, False");
    add_block(&t, 1, "drop_0");
    add_function(&t, "drop_1", "torch.nn.functional.dropout", "%layers_1_b, 0.2, False");
    add_node(&t, "last", "call_module", "last", "%drop_1,");
    fxs_buf_puts(&t.graph, "    return last\n");
    assert_folds(&t, &fold, "x layers_0_a layers_0_b drop_0 last output",
                 "layers.0 stands for 2 blocks that differ in numbers alone, up to layers.1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_blocks_of_a_text_are_folded),
        cmocka_unit_test(what_was_guessed_is_said),
        cmocka_unit_test(without_folding_nothing_is_guessed),
        cmocka_unit_test(a_folded_box_holds_its_addition),
        cmocka_unit_test(a_run_ends_where_the_additions_end),
        cmocka_unit_test(assertions_before_each_block_are_its_own),
        cmocka_unit_test(blocks_of_another_kind_stay),
        cmocka_unit_test(blocks_side_by_side_are_no_run),
        cmocka_unit_test(what_is_left_out_need_not_be_equal),
        cmocka_unit_test(chances_of_functions_vary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
