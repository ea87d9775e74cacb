/* test_spread.c: blocks in a row that are drawn once though their sizes vary, or that repeat in
 * pairs: which are, what the node that is drawn has together with the others, and what it says. */
#include "emit/facts.h"
#include "fxoutline.h"
#include "golden.h"
#include "ir/module.h"
#include "ir/spread.h"

/* ---- networks ---- */

static fxs_module *load(fxs_ctx *ctx, const char *text, const char *input) {
    fxs_module *m;
    fxs_inputs *in;
    assert_ok(ctx, fxs_load_text(ctx, "net", text, strlen(text), &m));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, input));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    fxs_inputs_free(in);
    return m;
}

static fxs_module *densenet(fxs_ctx *ctx) {
    char *text = golden_file("densenet121", NULL);
    fxs_module *m = load(ctx, text, "1x3x64x64");
    fxs_free(text);
    return m;
}

/* Blocks of a layer, which has a text, and a ReLU, in a chain. */
static fxs_module *chain(fxs_ctx *ctx, const char *const *layers, size_t n, const char *input) {
    fxs_buf tree = {0}, graph = {0};
    fxs_buf_puts(&tree, "Net(\n  (blocks): ModuleList(\n");
    fxs_buf_puts(&graph, "graph():\n    %x : [#users=1] = placeholder[target=x]\n");
    for (size_t i = 0; i < n; i++) {
        fxs_buf_printf(&tree, "    (%zu): Block(\n      (a): %s\n      (b): ReLU()\n    )\n", i,
                       layers[i]);
        fxs_buf_printf(&graph,
                       "    %%a_%zu : [#users=1] = call_module[target=blocks.%zu.a](args = ", i, i);
        fxs_buf_printf(&graph, i ? "(%%b_%zu,), kwargs = {})\n" : "(%%x,), kwargs = {})\n", i - 1);
        fxs_buf_printf(&graph,
                       "    %%b_%zu : [#users=1] = call_module[target=blocks.%zu.b](args = "
                       "(%%a_%zu,), kwargs = {})\n",
                       i, i, i);
    }
    fxs_buf_printf(&tree, "  )\n)\n%s    return b_%zu\n", graph.data, n - 1);
    fxs_module *m = load(ctx, tree.data, input);
    fxs_buf_free(&tree);
    fxs_buf_free(&graph);
    return m;
}

#define CHAIN(ctx, input, ...)                                                                     \
    chain(ctx, (const char *const[]){__VA_ARGS__},                                                 \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), input)

static fxs_module *folded(fxs_module *m, fxs_outline_options opt, char **notes) {
    fxs_module *out;
    assert_ok(m->ctx, fxs_outline(m, &opt, &out, notes));
    assert_ok(m->ctx, fxs_graph_lint(fxs_module_graph(out)));
    return out;
}

static const fxs_node *node(const fxs_module *m, const char *name) {
    const fxs_node *n = fxs_graph_find(fxs_module_graph(m), name);
    if (!n)
        fail_msg("there is no node %s", name);
    return n;
}

/* What a picture says when it is folded so: of each node its name and for how many it stands. */
static void assert_folds(fxs_module *m, fxs_fold how, const char *expected) {
    fxs_module *out = folded(m, (fxs_outline_options){.fold = how}, NULL);
    fxs_buf b = {0};
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(out)); n; n = fxs_node_next(n)) {
        const fxs_spread *s = fxs_node_meta(n)->spread;
        fxs_buf_printf(&b, "%s%s", b.len ? " " : "", fxs_node_name(n));
        if (s)
            fxs_buf_printf(&b, "*%zu", s->nodes);
    }
    assert_string_equal(b.data, expected);
    fxs_buf_free(&b);
    fxs_module_unref(out);
}

static void assert_said(const char *notes, const char *what) {
    if (!strstr(notes, what))
        fail_msg("'%s' does not say '%s'", notes, what);
}

/* ---- which blocks ---- */

#define CONV(in, out, more) "Conv2d(" #in ", " #out ", kernel_size=(3, 3), stride=(1, 1)" more ")"

static void channels_vary_only_when_asked_for(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4x16x16", CONV(4, 8, ""), CONV(8, 16, ""), CONV(16, 32, ""));
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0*3 b_0*3 output");
    assert_folds(m, FXS_FOLD_AUTO, "x a_0 b_0 a_1 b_1 a_2 b_2 output");
    assert_folds(m, FXS_FOLD_EQUAL, "x a_0 b_0 a_1 b_1 a_2 b_2 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* The same layers on maps that get smaller. */
static void shapes_vary_unasked(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4x16x16", CONV(4, 4, ""), CONV(4, 4, ""), CONV(4, 4, ""));
    assert_folds(m, FXS_FOLD_AUTO, "x a_0*3 b_0*3 output");
    assert_folds(m, FXS_FOLD_EQUAL, "x a_0 b_0 a_1 b_1 a_2 b_2 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* Kernels, strides, dilation, a bias: whatever says how it is computed. */
static void nothing_but_sizes_varies(void **state) {
    static const char *const others[] = {
        "Conv2d(8, 16, kernel_size=(1, 1), stride=(1, 1))",
        "Conv2d(8, 16, kernel_size=(3, 3), stride=(2, 2))",
        "Conv2d(8, 16, kernel_size=(3, 3), stride=(1, 1), dilation=(2, 2))",
        "Conv2d(8, 16, kernel_size=(3, 3), stride=(1, 1), bias=False)",
        "Conv2d(8, 16, kernel_size=(3, 3), stride=(1, 1), groups=2)",
        "MaxPool2d(kernel_size=3, stride=1, padding=0, dilation=1, ceil_mode=False)",
    };
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        fxs_module *m = CHAIN(ctx, "1x4x16x16", CONV(4, 8, ""), others[i]);
        assert_folds(m, FXS_FOLD_SIMILAR, "x a_0 b_0 a_1 b_1 output");
        fxs_module_unref(m);
    }
    fxs_module *m = CHAIN(ctx, "1x4", "Act(limit=6)", "Act(limit=7)"); /* what is a limit? */
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0 b_0 a_1 b_1 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* The chance of dropout grows from block to block, which are the same network all the same. */
static void chances_vary_unasked(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    char *notes;
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4", "Dropout(p=0.1, inplace=False)",
                          "Dropout(p=0.018181818181818184, inplace=False)");
    assert_folds(m, FXS_FOLD_EQUAL, "x a_0 b_0 a_1 b_1 output");
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0*2 b_0*2 output");
    fxs_module *out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO}, &notes);
    assert_said(notes, "blocks.0 stands for 2 blocks that differ in numbers alone");
    assert_string_equal(fxs_node_meta(node(out, "a_0"))->spread->layer,
                        "Dropout(p=0.01818\xe2\x80\xa6"
                        "0.1, inplace=False)");
    fxs_free(notes);
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* Whatever else is a float: a slope says how something is computed. */
static void floats_vary_only_when_asked_for(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m =
        CHAIN(ctx, "1x4", "LeakyReLU(negative_slope=0.1)", "LeakyReLU(negative_slope=0.2)");
    assert_folds(m, FXS_FOLD_AUTO, "x a_0 b_0 a_1 b_1 output");
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0*2 b_0*2 output");
    fxs_module_unref(m);
    m = CHAIN(ctx, "1x4", "LeakyReLU(negative_slope=-0.1)", "LeakyReLU(negative_slope=0.2)");
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0 b_0 a_1 b_1 output"); /* a range has no sign */
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* A note, where it would make much of a difference, and nowhere else. */
static void what_similar_ones_would_save_is_said(void **state) {
    static const struct {
        fxs_fold how;
        int in, out; /* channels of the second layer */
        bool said;
    } cases[] = {{FXS_FOLD_AUTO, 8, 16, true},
                 {FXS_FOLD_EQUAL, 8, 16, true},
                 {FXS_FOLD_SIMILAR, 8, 16, false},
                 {FXS_FOLD_AUTO, 8, 8, false}};
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char second[80], *notes;
        snprintf(second, sizeof second,
                 "Conv2d(%d, %d, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))", cases[i].in,
                 cases[i].out);
        fxs_module *m =
            CHAIN(ctx, "1x8x16x16",
                  "Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))", second);
        fxs_module *out = folded(m, (fxs_outline_options){.fold = cases[i].how}, &notes);
        bool said = strstr(notes, "fold=similar would leave out 2 nodes more") != NULL;
        assert_int_equal(said, cases[i].said);
        fxs_free(notes);
        fxs_module_unref(out);
        fxs_module_unref(m);
    }
    fxs_ctx_free(ctx);
}

/* A group for each channel: their number follows from that of the channels. */
static void depthwise_groups_follow_the_channels(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4x16x16", CONV(4, 8, ", groups=4"), CONV(8, 16, ", groups=8"));
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0*2 b_0*2 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* Equal ones first; as one run only when that is asked for. */
static void equal_ones_come_first(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4", "Linear(in_features=4, out_features=8, bias=True)",
                          "Linear(in_features=8, out_features=8, bias=True)",
                          "Linear(in_features=8, out_features=8, bias=True)");
    assert_folds(m, FXS_FOLD_AUTO, "x a_0 b_0 a_1*2 b_1*2 output");
    assert_folds(m, FXS_FOLD_SIMILAR, "x a_0*3 b_0*3 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

#define NARROW "Linear(in_features=8, out_features=4, bias=True)"
#define WIDE "Linear(in_features=4, out_features=8, bias=True)"
#define SAME "Linear(in_features=8, out_features=8, bias=True)"

static void pairs_repeat(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    char *notes;
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x8", NARROW, WIDE, NARROW, WIDE, NARROW, WIDE, SAME);
    assert_folds(m, FXS_FOLD_AUTO, "x a_0*3 b_0*3 a_1*3 b_1*3 a_6 b_6 output");
    fxs_module *out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_EQUAL}, &notes);
    assert_said(notes, "blocks.0 and blocks.1 stand for 3 equal pairs of blocks, up to blocks.5, "
                       "each with weights of its own");
    fxs_free(notes);
    const fxs_scope *block = fxs_node_scope(node(out, "b_1"));
    assert_string_equal(block->path, "blocks.1");
    assert_int_equal(block->times, 1);
    assert_string_equal(block->outer->path, "blocks.0, blocks.1");
    assert_string_equal(block->outer->class_name, "2 blocks");
    assert_int_equal(block->outer->times, 3);
    assert_ptr_equal(fxs_node_scope(node(out, "a_0"))->outer, block->outer);
    assert_string_equal(block->outer->outer->path, "");
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

static void periods_go_up_to_four(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x8", SAME, NARROW, WIDE, SAME, NARROW, WIDE);
    assert_folds(m, FXS_FOLD_EQUAL, "x a_0*2 b_0*2 a_1*2 b_1*2 a_2*2 b_2*2 output");
    fxs_module_unref(m);
    m = CHAIN(ctx, "1x8", NARROW, WIDE, SAME, "Tanh()", NARROW, WIDE, SAME, "Tanh()");
    assert_folds(m, FXS_FOLD_EQUAL, "x a_0*2 b_0*2 a_1*2 b_1*2 a_2*2 b_2*2 a_3*2 b_3*2 output");
    fxs_module_unref(m);
    m = CHAIN(ctx, "1x8", NARROW, WIDE, SAME, "Tanh()", "Sigmoid()", NARROW, WIDE, SAME, "Tanh()",
              "Sigmoid()");
    assert_folds(m, FXS_FOLD_EQUAL,
                 "x a_0 b_0 a_1 b_1 a_2 b_2 a_3 b_3 a_4 b_4 a_5 b_5 a_6 b_6 a_7 "
                 "b_7 a_8 b_8 a_9 b_9 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* S S N W S S N W: two equal ones fold by themselves, and no longer period takes them. */
static void a_shorter_period_comes_first(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x8", SAME, SAME, NARROW, WIDE, SAME, SAME, NARROW, WIDE);
    assert_folds(m, FXS_FOLD_EQUAL,
                 "x a_0*2 b_0*2 a_2 b_2 a_3 b_3 a_4*2 b_4*2 a_6 b_6 a_7 b_7 output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* What each gives goes to another place: all skips would begin at the one that is drawn. */
static void skips_from_each_are_no_run(void **state) {
    static const char net[] =
        "Net(\n"
        "  (d): ModuleList(\n"
        "    (0-2): 3 x Block(\n"
        "      (a): Linear(in_features=4, out_features=4, bias=True)\n"
        "      (b): ReLU()\n"
        "    )\n"
        "  )\n"
        ")\n"
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %a_0 : [#users=1] = call_module[target=d.0.a](args = (%x,), kwargs = {})\n"
        "    %b_0 : [#users=2] = call_module[target=d.0.b](args = (%a_0,), kwargs = {})\n"
        "    %a_1 : [#users=1] = call_module[target=d.1.a](args = (%b_0,), kwargs = {})\n"
        "    %b_1 : [#users=2] = call_module[target=d.1.b](args = (%a_1,), kwargs = {})\n"
        "    %a_2 : [#users=1] = call_module[target=d.2.a](args = (%b_1,), kwargs = {})\n"
        "    %b_2 : [#users=1] = call_module[target=d.2.b](args = (%a_2,), kwargs = {})\n"
        "    %up : [#users=1] = call_function[target=operator.add](args = (%b_2, %b_1), kwargs = "
        "{})\n"
        "    %top : [#users=1] = call_function[target=operator.sub](args = (%up, %b_0), kwargs = "
        "{})\n"
        "    return top\n";
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = load(ctx, net, "2x4");
    assert_folds(m, FXS_FOLD_AUTO, "x a_0 b_0 a_1 b_1 a_2 b_2 up top output");
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* ---- what is drawn ---- */

static void a_dense_block_has_ranges(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    char *notes;
    (void)state;
    fxs_module *m = densenet(ctx);
    fxs_module *out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO}, &notes);
    assert_said(notes, "features.denseblock1.denselayer1 stands for 6 blocks that differ in sizes "
                       "alone, up to features.denseblock1.denselayer6, each with weights of its "
                       "own; each gets the results of all before it");
    fxs_free(notes);
    const fxs_spread *norm =
        fxs_node_meta(node(out, "features_denseblock1_denselayer1_norm1"))->spread;
    assert_int_equal(norm->nodes, 6);
    assert_true(norm->varies);
    assert_shape(norm->least.u.tensor, SIZES(1, 64, 16, 16));
    assert_shape(norm->most.u.tensor, SIZES(1, 224, 16, 16));
    assert_string_equal(norm->layer, "BatchNorm2d(64\xe2\x80\xa6"
                                     "224, eps=1e-05, momentum=0.1, "
                                     "affine=True, track_running_stats=True)");
    const fxs_spread *cat = fxs_node_meta(node(out, "cat_1"))->spread;
    assert_int_equal(cat->fewest_inputs, 2);
    assert_int_equal(cat->most_inputs, 7);
    assert_string_equal(cat->args, "([%features_pool0, %features_denseblock1_denselayer1_conv2, "
                                   "... 2\xe2\x80\xa6"
                                   "7 in all], 1)");
    assert_int_equal(norm->parameters[0], 128);
    assert_int_equal(norm->parameters[1], 448);
    assert_int_equal(fxs_node_meta(node(out, "features_denseblock1_denselayer1_norm1"))->parameters,
                     128 + 192 + 256 + 320 + 384 + 448);
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* What is drawn has together what the network has, however it is folded. */
static void nothing_is_lost(void **state) {
    static const fxs_outline_options ways[] = {{.fold = FXS_FOLD_AUTO},
                                               {.fold = FXS_FOLD_AUTO, .depth = 3},
                                               {.fold = FXS_FOLD_SIMILAR, .depth = 2}};
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = densenet(ctx);
    double flops = 0;
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(m)); n; n = fxs_node_next(n))
        flops += fxs_node_meta(n)->flops;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fxs_module *out = folded(m, ways[i], NULL);
        double sum = 0;
        int64_t parameters = 0;
        for (fxs_node *n = fxs_graph_first(fxs_module_graph(out)); n; n = fxs_node_next(n)) {
            sum += fxs_node_meta(n)->flops;
            parameters += fxs_node_meta(n)->parameters;
        }
        assert_true(sum == flops);
        assert_int_equal(parameters, fxs_module_parameter_count(m));
        fxs_module_unref(out);
    }
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

static void a_box_has_what_all_have(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = densenet(ctx);
    fxs_module *out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO, .depth = 3}, NULL);
    const fxs_meta *box = fxs_node_meta(node(out, "features_denseblock1_denselayer1"));
    assert_int_equal(box->times, 6);
    assert_int_equal(box->inside, 7);
    assert_int_equal(box->parameters, 335040);
    assert_int_equal(box->spread->parameters[0], 45440);
    assert_int_equal(box->spread->parameters[1], 66240);
    assert_true(box->spread->flops[0] < box->spread->flops[1]);
    assert_true(box->flops > 6 * box->spread->flops[0] && box->flops < 6 * box->spread->flops[1]);
    assert_int_equal(box->spread->ninputs, 1);
    assert_string_equal(box->spread->inputs[0], "2\xe2\x80\xa6"
                                                "7 results, float32[1, 32\xe2\x80"
                                                "\xa6"
                                                "224, 16, 16]");
    assert_shape(box->spread->most.u.seq->items[1].u.tensor, SIZES(1, 256, 16, 16));
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* What follows a run gets the last one's result, which is no range. */
static void a_box_behind_a_run_gets_what_the_last_gives(void **state) {
    static const char *const transitions[] = {"features.transition?", "features.denseblock2", NULL};
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = densenet(ctx);
    fxs_module *out =
        folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO, .collapse = transitions}, NULL);
    const fxs_spread *box = fxs_node_meta(node(out, "features_transition1"))->spread;
    assert_int_equal(box->nodes, 1);
    assert_int_equal(box->ninputs, 1);
    assert_string_equal(box->inputs[0], "float32[1, 256, 16, 16]");
    assert_null(fxs_node_meta(node(out, "features_denseblock2"))->spread); /* nothing is folded */
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* The same block called three times: its parameters are there once, its work is not. */
static void shared_weights_count_once(void **state) {
    static const char net[] =
        "Net(\n"
        "  (b): Block(\n"
        "    (a): Linear(in_features=4, out_features=4, bias=True)\n"
        "    (r): ReLU()\n"
        "  )\n"
        ")\n"
        "graph():\n"
        "    # in Net\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    # in Net > b: Block\n"
        "    %a_0 : [#users=1] = call_module[target=b.a](args = (%x,), kwargs = {})\n"
        "    %r_0 : [#users=1] = call_module[target=b.r](args = (%a_0,), kwargs = {})\n"
        "    # in Net > b: Block (call 2)\n"
        "    %a_1 : [#users=1] = call_module[target=b.a](args = (%r_0,), kwargs = {})\n"
        "    %r_1 : [#users=1] = call_module[target=b.r](args = (%a_1,), kwargs = {})\n"
        "    # in Net\n"
        "    return r_1\n";
    fxs_ctx *ctx = fxs_ctx_new();
    char *notes;
    (void)state;
    fxs_module *m = load(ctx, net, "2x4");
    fxs_module *out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO}, &notes);
    assert_said(notes, "b stands for 2 equal blocks, which share their weights");
    fxs_free(notes);
    const fxs_meta *a = fxs_node_meta(node(out, "a_0"));
    assert_int_equal(a->spread->nodes, 2);
    assert_int_equal(a->parameters, 20);
    assert_true(a->flops == 2 * a->spread->flops[0]);
    fxs_module_unref(out);
    out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO, .depth = 1}, NULL);
    assert_int_equal(fxs_node_meta(node(out, "b"))->parameters, 20);
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* A page makes its boxes of the folded graph. */
static void levels_of_what_is_folded_keep_the_sums(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_levels *l;
    fxs_module *top;
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x8", NARROW, WIDE, NARROW, WIDE, NARROW, WIDE);
    fxs_module *out = folded(m, (fxs_outline_options){.fold = FXS_FOLD_AUTO}, NULL);
    assert_ok(ctx, fxs_levels_new(out, &l));
    assert_ok(ctx, fxs_levels_model(l, 0, &top, NULL));
    const fxs_node *box = fxs_node_next(fxs_graph_first(fxs_module_graph(top)));
    const fxs_meta *meta = fxs_node_meta(box);
    assert_string_equal(fxs_node_type(box), "2 blocks");
    assert_int_equal(meta->inside, 4);
    assert_true(fxs_levels_at(l, 1)->group);
    assert_false(fxs_levels_at(l, 2)->group);
    assert_int_equal(meta->parameters, fxs_module_parameter_count(m));
    assert_int_equal(meta->spread->nodes, 3);
    assert_int_equal(meta->spread->parameters[0], fxs_module_parameter_count(m) / 3);
    assert_true(meta->flops == 3 * meta->spread->flops[0]);
    fxs_module_unref(top);
    fxs_levels_free(l);
    fxs_module_unref(out);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* A pattern's box in a block that is drawn for several. */
static void a_pattern_in_a_block_has_ranges(void **state) {
    static const char text[] =
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %a : [#users=1] = call_module[target=class:Conv2d](args = (%x,), kwargs = {})\n"
        "    %b : [#users=1] = call_module[target=class:ReLU](args = (%a,), kwargs = {})\n"
        "    return b\n";
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *pattern;
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4x16x16", CONV(4, 8, ""), CONV(8, 16, ""), CONV(16, 32, ""));
    assert_ok(ctx, fxs_load_text(ctx, "p", text, strlen(text), &pattern));
    const fxs_outline_pattern one = {"conv_relu", fxs_module_graph(pattern)};
    fxs_module *out = folded(
        m, (fxs_outline_options){.fold = FXS_FOLD_SIMILAR, .patterns = &one, .npatterns = 1}, NULL);
    const fxs_meta *box = fxs_node_meta(node(out, "conv_relu"));
    assert_int_equal(box->inside, 2);
    assert_int_equal(box->spread->nodes, 3);
    assert_shape(box->spread->least.u.tensor, SIZES(1, 8, 10, 10));
    assert_shape(box->spread->most.u.tensor, SIZES(1, 32, 14, 14));
    assert_int_equal(box->parameters, fxs_module_parameter_count(m));
    assert_true(box->spread->flops[0] == 0); /* the sums of the members' least are of no block */
    fxs_module_unref(out);
    fxs_module_unref(pattern);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

/* ---- texts ---- */

static void assert_ranges(const char *const *texts, size_t n, const char *expected) {
    fxs_buf b = {0};
    fxs_buf_puts(&b, ":");
    assert_int_equal(fxs_buf_ranges(&b, texts, n), expected != NULL);
    assert_string_equal(b.data + 1, expected ? expected : "");
    fxs_buf_free(&b);
}

#define RANGES(expected, ...)                                                                      \
    assert_ranges((const char *const[]){__VA_ARGS__},                                              \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), expected)

static void numbers_become_ranges(void **state) {
    (void)state;
    RANGES("[1, 64\xe2\x80\xa6"
           "224, 56]",
           "[1, 96, 56]", "[1, 64, 56]", "[1, 224, 56]");
    RANGES("a1 2\xe2\x80\xa6"
           "10",
           "a1 10", "a1 2");
    RANGES("same", "same", "same");
    RANGES(NULL, "[1]", "[1, 2]");
    RANGES(NULL, "a", "1");
    RANGES(NULL, "-1", "1");
    RANGES("p=0\xe2\x80\xa6"
           "0.02, 3",
           "p=0.0, 3", "p=0.02, 3");
    RANGES("1e-06\xe2\x80\xa6"
           "0.1",
           "0.1", "1e-06");
    RANGES("18446744073709551614\xe2\x80\xa6"
           "18446744073709551615",
           "18446744073709551615", "18446744073709551614");
    RANGES("\xe2\x89\x88"
           "0.1",
           "0.1", "0.1000001"); /* alike but for what four digits leave out */
}

static void put_short(fxs_buf *b, double x) { fxs_buf_printf(b, "%.1f M", x); }

static void assert_each(double sum, double least, double most, const char *expected) {
    fxs_buf b = {0};
    fxs_buf_each(&b, sum, least, most, put_short);
    assert_string_equal(b.data ? b.data : "", expected);
    fxs_buf_free(&b);
}

/* What prints alike at both ends is no range. */
static void ends_that_read_alike_are_one(void **state) {
    (void)state;
    assert_each(5, 2, 3,
                " (2.0 M\xe2\x80\xa6"
                "3.0 M each)");
    assert_each(5, 2.5, 2.5, " (2.5 M each)");
    assert_each(5, 2.51, 2.49,
                " (\xe2\x89\x88"
                "2.5 M each)");
    assert_each(5, 5, 5, "");
}

typedef struct work {
    const fxs_module *m;
    fxs_outline_options opt;
} work;

static fxs_status outline_once(fxs_ctx *ctx, const void *data) {
    const work *w = data;
    fxs_module *out = NULL;
    char *notes = NULL;
    (void)ctx;
    fxs_status s = fxs_outline(w->m, &w->opt, &out, &notes);
    assert_true((s == FXS_OK) == (out != NULL));
    fxs_module_unref(out);
    fxs_free(notes);
    return s;
}

/* Without memory nothing is folded otherwise, and nothing leaks. */
static void memory_runs_out(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    (void)state;
    fxs_module *m = CHAIN(ctx, "1x4x16x16", CONV(4, 8, ""), CONV(8, 16, ""), CONV(16, 32, ""));
    for (int depth = 0; depth < 2; depth++)
        assert_survives(ctx, outline_once,
                        &(work){.m = m, .opt = {.fold = FXS_FOLD_SIMILAR, .depth = depth}});
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_vary_only_when_asked_for),
        cmocka_unit_test(shapes_vary_unasked),
        cmocka_unit_test(nothing_but_sizes_varies),
        cmocka_unit_test(chances_vary_unasked),
        cmocka_unit_test(floats_vary_only_when_asked_for),
        cmocka_unit_test(what_similar_ones_would_save_is_said),
        cmocka_unit_test(depthwise_groups_follow_the_channels),
        cmocka_unit_test(equal_ones_come_first),
        cmocka_unit_test(pairs_repeat),
        cmocka_unit_test(periods_go_up_to_four),
        cmocka_unit_test(a_shorter_period_comes_first),
        cmocka_unit_test(skips_from_each_are_no_run),
        cmocka_unit_test(a_dense_block_has_ranges),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(a_box_has_what_all_have),
        cmocka_unit_test(a_box_behind_a_run_gets_what_the_last_gives),
        cmocka_unit_test(shared_weights_count_once),
        cmocka_unit_test(levels_of_what_is_folded_keep_the_sums),
        cmocka_unit_test(a_pattern_in_a_block_has_ranges),
        cmocka_unit_test(numbers_become_ranges),
        cmocka_unit_test(ends_that_read_alike_are_one),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
