/* test_passes.c: passes over graphs, splitting, editing the module tree: what they print, and that
 * networks compute the same before and after. */
#include "golden.h"

#include "ir/module.h"

static fxs_module *load(fxs_ctx *ctx, const char *text) {
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "model", text, strlen(text), &m));
    return m;
}

static void assert_graph(const fxs_graph *g, const char *want) {
    char *text;
    assert_ok(g->ctx, fxs_graph_print(g, 0, &text, NULL));
    assert_string_equal(text, want);
    fxs_free(text);
}

static void assert_tree(const fxs_module *m, const char *want) {
    char *text;
    assert_ok(m->ctx, fxs_module_print(m, &text, NULL));
    assert_string_equal(text, want);
    fxs_free(text);
}

static void assert_refused(fxs_ctx *ctx, fxs_status s, const char *message) {
    assert_int_not_equal(s, FXS_OK);
    assert_string_equal(fxs_ctx_error(ctx), message);
    fxs_ctx_clear(ctx);
}

static bool run_pass(fxs_module *m, const char *name) {
    bool changed;
    assert_ok(m->ctx, fxs_pass_run(m, name, &changed));
    return changed;
}

/* The output for one or two inputs, made from a seed. */
static fxs_value outputs_of(fxs_module *m, size_t ninputs, int ndim, const int64_t *sizes) {
    fxs_interpreter *it;
    fxs_interpreter_options opt = {.mode = FXS_RUN_EXECUTE};
    fxs_value inputs[2], result;
    for (size_t i = 0; i < ninputs; i++)
        inputs[i] = fxs_of_tensor(random_tensor(m->ctx, FXS_FLOAT32, ndim, sizes, 11 + i));
    assert_ok(m->ctx, fxs_interpreter_new(m, &opt, &it));
    assert_ok(m->ctx, fxs_interpreter_run(it, inputs, ninputs, &result));
    fxs_interpreter_free(it);
    for (size_t i = 0; i < ninputs; i++)
        fxs_value_unref(&inputs[i]);
    return result;
}

static void assert_same_tensor(const fxs_value *a, const fxs_value *b, double tolerance) {
    const fxs_tensor *x = a->u.tensor, *y = b->u.tensor;
    assert_int_equal(a->tag, FXS_V_TENSOR);
    assert_int_equal(b->tag, FXS_V_TENSOR);
    assert_shape(x, y->ndim, y->sizes);
    for (int64_t i = 0; i < fxs_tensor_numel(x); i++)
        assert_near(nth(x, i), nth(y, i), tolerance);
}

#define LINE(name, kind, target, args)                                                             \
    "    %" name " : [#users=1] = " kind "[target=" target "](args = (" args "), kwargs = {})\n"
#define X1 "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
#define X2 "graph():\n    %x : [#users=2] = placeholder[target=x]\n"

/* ---- convolution and batch normalisation
 * ---------------------------------------------------------------- */

/* Statistics and weights that are not those of a new layer. */
static void train_bn(fxs_module *bn, int64_t n) {
    fxs_tensor *t = random_tensor(bn->ctx, FXS_FLOAT32, SIZES(n), 3);
    assert_ok(bn->ctx, fxs_module_put_tensor(bn, "running_mean", true, t));
    fxs_tensor_unref(t);
    t = random_tensor(bn->ctx, FXS_FLOAT32, SIZES(n), 4);
    for (int64_t i = 0; i < n; i++)
        ((float *)fxs_tensor_data(t))[i] = 0.1f + fabsf(((float *)fxs_tensor_data(t))[i]);
    assert_ok(bn->ctx, fxs_module_put_tensor(bn, "running_var", true, t));
    assert_ok(bn->ctx, fxs_module_put_tensor(bn, "weight", false, t));
    fxs_tensor_unref(t);
    t = random_tensor(bn->ctx, FXS_FLOAT32, SIZES(n), 5);
    assert_ok(bn->ctx, fxs_module_put_tensor(bn, "bias", false, t));
    fxs_tensor_unref(t);
}

static void fuse_case(fxs_ctx *ctx, const char *conv, const char *bn, int64_t channels,
                      const char *fused, int ndim) {
    static const int64_t sizes[] = {2, 4, 7, 6, 5};
    fxs_buf text = {0};
    fxs_buf_printf(&text, "Net(\n  (conv): %s\n  (bn): %s\n  (act): ReLU()\n)\n", conv, bn);
    fxs_buf_puts(&text, X1 LINE("conv", "call_module", "conv", "%x,")
                            LINE("bn", "call_module", "bn", "%conv,")
                                LINE("act", "call_module", "act", "%bn,") "    return act\n");
    fxs_module *m = load(ctx, text.data);
    fxs_buf_free(&text);
    train_bn(fxs_module_find(m, "bn"), channels);
    fxs_value before = outputs_of(m, 1, ndim, sizes);
    assert_true(run_pass(m, "fuse-conv-bn"));
    fxs_value after = outputs_of(m, 1, ndim, sizes);
    assert_same_tensor(&after, &before, 1e-5);
    fxs_value_unref(&before);
    fxs_value_unref(&after);
    fxs_buf tree = {0};
    fxs_buf_printf(&tree, "Net(\n  (conv): %s\n  (act): ReLU()\n)\n", fused);
    assert_tree(m, tree.data);
    fxs_buf_free(&tree);
    assert_graph(m->graph, X1 LINE("conv", "call_module", "conv", "%x,")
                               LINE("act", "call_module", "act", "%conv,") "    return act\n");
    assert_int_equal(fxs_module_given_tensors(m), 2);
    assert_false(run_pass(m, "fuse-conv-bn"));
    fxs_module_unref(m);
}

static void conv_bn_fusion(void **state) {
    fuse_case(*state, "Conv1d(4, 6, kernel_size=(3,), stride=(1,))",
              "BatchNorm1d(6, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)", 6,
              "Conv1d(4, 6, kernel_size=(3,), stride=(1,))", 3);
    fuse_case(
        *state,
        "Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2, bias=False)",
        "BatchNorm2d(6, eps=0.001, momentum=0.1, affine=True, track_running_stats=True)", 6,
        "Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2)", 4);
    fuse_case(*state, "Conv3d(4, 3, kernel_size=(2, 2, 2), stride=(1, 1, 1), bias=False)",
              "BatchNorm3d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)", 3,
              "Conv3d(4, 3, kernel_size=(2, 2, 2), stride=(1, 1, 1))", 5);
    fuse_case(*state,
              "ConvTranspose2d(4, 6, kernel_size=(2, 2), stride=(2, 2), groups=2, bias=False)",
              "BatchNorm2d(6, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)", 6,
              "ConvTranspose2d(4, 6, kernel_size=(2, 2), stride=(2, 2), groups=2)", 4);
}

#define CONV "  (conv): Conv2d(4, 4, kernel_size=(1, 1), stride=(1, 1))\n"
#define BN                                                                                         \
    "  (bn): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"

static void what_is_not_fused(void **state) {
    static const char *const models[] = {
        /* the convolution is called twice */
        "N(\n" CONV BN ")\n" X1 LINE("a", "call_module", "conv", "%x,")
            LINE("b", "call_module", "conv", "%a,")
                LINE("c", "call_module", "bn", "%b,") "    return c\n",
        /* its result has another user */
        "N(\n" CONV BN ")\n" X1 LINE("a", "call_module", "conv", "%x,")
            LINE("b", "call_module", "bn", "%a,") "    return (a, b)\n",
        /* its weight is read elsewhere */
        "N(\n" CONV BN ")\n" X1 LINE("a", "call_module", "conv", "%x,")
            LINE("b", "call_module", "bn",
                 "%a,") "    %w : [#users=1] = get_attr[target=conv.weight]\n    return (w, b)\n",
        /* no running statistics */
        "N(\n" CONV "  (bn): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, "
        "track_running_stats=False)\n)\n" X1 LINE("a", "call_module", "conv", "%x,")
            LINE("b", "call_module", "bn", "%a,") "    return b\n",
        /* another rank, which would fail when run */
        "N(\n" CONV "  (bn): BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, "
        "track_running_stats=True)\n)\n" X1 LINE("a", "call_module", "conv", "%x,")
            LINE("b", "call_module", "bn", "%a,") "    return b\n",
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        fxs_module *m = load(*state, models[i]);
        assert_false(run_pass(m, "fuse-conv-bn"));
        fxs_module_unref(m);
    }
    /* batch normalisation that is used once more stays in the tree */
    fxs_module *m = load(*state, "N(\n" CONV BN ")\n" X1 LINE("a", "call_module", "conv", "%x,")
                                     LINE("b", "call_module", "bn", "%a,")
                                         LINE("c", "call_module", "bn", "%b,") "    return c\n");
    assert_true(run_pass(m, "fuse-conv-bn"));
    assert_non_null(fxs_module_find(m, "bn"));
    assert_int_equal(fxs_graph_len(m->graph), 4);
    fxs_module_unref(m);
}

/* A whole network, with its pooling and shortcuts. */
static void resnet18_fused(void **state) {
    fxs_ctx *ctx = *state;
    size_t len;
    char *text = sample_file("resnet18", &len);
    fxs_module *m = load(ctx, text);
    fxs_free(text);
    fxs_value before = outputs_of(m, 1, 4, (int64_t[]){1, 3, 32, 32});
    assert_true(run_pass(m, "fuse-conv-bn"));
    fxs_value after = outputs_of(m, 1, 4, (int64_t[]){1, 3, 32, 32});
    assert_same_tensor(&after, &before, 1e-5);
    fxs_value_unref(&before);
    fxs_value_unref(&after);
    assert_int_equal(fxs_graph_len(m->graph), 51);
    fxs_module_unref(m);
}

/* ---- what does nothing
 * ---------------------------------------------------------------------------------- */

static void identities(void **state) {
    fxs_module *m = load(
        *state,
        "N(\n  (a): Identity()\n  (d): Dropout(p=0.5, inplace=False)\n  (r): ReLU()\n)\n" X1 LINE(
            "a", "call_module", "a", "%x,") LINE("r", "call_module", "r", "%a,")
            LINE("d", "call_module", "d",
                 "%r,") "    %f : [#users=1] = "
                        "call_function[target=torch.nn.functional.dropout](args = (%d,), kwargs = "
                        "{p: 0.5, training: False, inplace: False})\n"
                        "    %g : [#users=1] = "
                        "call_function[target=torch.nn.functional.dropout](args = (%f,), kwargs = "
                        "{p: 0.5, training: True, inplace: False})\n"
                        "    return (x, g)\n");
    assert_true(run_pass(m, "remove-identity"));
    assert_graph(m->graph,
                 "graph():\n"
                 "    %x : [#users=2] = placeholder[target=x]\n" LINE(
                     "r", "call_module", "r",
                     "%x,") "    %g : [#users=1] = "
                            "call_function[target=torch.nn.functional.dropout](args = (%r,), "
                            "kwargs = {p: 0.5, training: True, inplace: False})\n"
                            "    return (x, g)\n");
    assert_tree(m, "N(\n  (r): ReLU()\n)\n");
    assert_false(run_pass(m, "remove-identity"));
    fxs_module_unref(m);
}

/* ---- common subexpressions
 * ------------------------------------------------------------------------------ */

static void common_subexpressions(void **state) {
    fxs_module *m = load(
        *state,
        "N(\n  (t): Tanh()\n  (u): ReLU(inplace=True)\n)\n"
        "graph():\n"
        "    %x : [#users=9] = placeholder[target=x]\n" LINE(
            "a", "call_function", "torch.sin", "%x,") LINE("b", "call_function", "torch.sin", "%x,")
            LINE("c", "call_method", "exp", "%a,") LINE("d", "call_method", "exp", "%b,")
                LINE("e", "call_module", "t", "%c,") LINE("f", "call_module", "t", "%d,")
                    LINE("g", "call_function", "torch.add", "%e, 1")
                        LINE("h", "call_function", "torch.add", "%f, 1")
                            LINE("i", "call_function", "torch.add", "%f, 1.0")
                                LINE("j", "call_function", "torch.rand_like", "%x,")
                                    LINE("k", "call_function", "torch.rand_like", "%x,")
                                        LINE("l", "call_function", "no.such.function", "%x,")
                                            LINE("n", "call_function", "torch.sin",
                                                 "%x,") "    return (g, h, i, j, k, l, n)\n");
    assert_true(run_pass(m, "cse"));
    /* the last sin stands behind a function that may do anything to x */
    assert_graph(m->graph,
                 "graph():\n"
                 "    %x : [#users=5] = placeholder[target=x]\n" LINE("a", "call_function",
                                                                      "torch.sin", "%x,")
                     LINE("c", "call_method", "exp",
                          "%a,") "    %e : [#users=2] = call_module[target=t](args = (%c,), "
                                 "kwargs = {})\n" LINE("g", "call_function", "torch.add", "%e, 1")
                                     LINE("i", "call_function", "torch.add", "%e, 1.0")
                                         LINE("j", "call_function", "torch.rand_like", "%x,") LINE(
                                             "k", "call_function", "torch.rand_like", "%x,")
                                             LINE("l", "call_function", "no.such.function", "%x,")
                                                 LINE("n", "call_function", "torch.sin",
                                                      "%x,") "    return (g, g, i, j, k, l, n)\n");
    assert_false(run_pass(m, "cse"));
    fxs_module_unref(m);
}

/* A result that is written in place is nobody else's, and neither is one that the writer's argument
 * is a view of. */
static void in_place_writes_keep_expressions_apart(void **state) {
    static const char *const models[] = {
        X2 LINE("a", "call_function", "torch.sin", "%x,")
            LINE("b", "call_function", "torch.sin", "%x,")
                LINE("w", "call_method", "add_", "%b, 1") "    return (a, w)\n",
        X2 LINE("a", "call_function", "torch.sin", "%x,")
            LINE("b", "call_function", "torch.sin", "%x,")
                LINE("v", "call_method", "view", "%b, -1")
                    LINE("w", "call_function", "torch.nn.functional.relu",
                         "%v, True") "    return (a, b, w)\n",
        "N(\n  (u): ReLU(inplace=True)\n)\n" X2 LINE("a", "call_module", "u", "%x,")
            LINE("b", "call_module", "u", "%x,") "    return (a, b)\n",
        X2 LINE("a", "call_function", "torch.sin", "%x,") LINE("w", "call_method", "mul_", "%x, 2")
            LINE("b", "call_function", "torch.sin", "%x,") "    return (a, b)\n",
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        fxs_module *m = load(*state, models[i]);
        fxs_value before = outputs_of(m, 1, 2, (int64_t[]){2, 3});
        assert_false(run_pass(m, "cse"));
        run_pass(m, "dead-code"); /* nor is a write dropped whose result nobody uses */
        fxs_value after = outputs_of(m, 1, 2, (int64_t[]){2, 3});
        for (size_t k = 0; k < fxs_value_len(&before); k++)
            assert_same_tensor(fxs_value_item(&after, k), fxs_value_item(&before, k), 0);
        fxs_value_unref(&before);
        fxs_value_unref(&after);
        fxs_module_unref(m);
    }
}

static void dead_code(void **state) {
    fxs_module *m = load(*state, X2 LINE("a", "call_function", "torch.sin",
                                         "%x,") LINE("b", "call_function", "torch.cos", "%a,")
                                     LINE("w", "call_method", "mul_", "%x, 2") "    return x\n");
    assert_true(run_pass(m, "dead-code"));
    assert_graph(m->graph,
                 "graph():\n"
                 "    %x : [#users=2] = placeholder[target=x]\n"
                 "    %w : [#users=0] = call_method[target=mul_](args = (%x, 2), kwargs = {})\n"
                 "    return x\n");
    assert_false(run_pass(m, "dead-code"));
    fxs_module_unref(m);
}

/* ---- constants
 * ------------------------------------------------------------------------------------------ */

static void constants(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m =
        load(ctx, "N()\nparameter w: torch.float32[2, 3]\nbuffer k: torch.float32[3]\n" X1
                  "    %w : [#users=2] = get_attr[target=w]\n"
                  "    %k : [#users=1] = get_attr[target=k]\n" LINE("t", "call_method", "t", "%w,")
                      LINE("n", "call_function", "torch.exp", "%t,")
                          LINE("s", "call_method", "size", "%w, 0")
                              LINE("u", "call_function", "operator.add", "%s, -2")
                                  LINE("z", "call_method", "add_", "%k, 1")
                                      LINE("r", "call_function", "torch.rand", "3,")
                                          LINE("m", "call_function", "torch.matmul", "%x, %n")
                                              LINE("v", "call_function", "torch.sum",
                                                   "%m, %u") "    return (v, z, r)\n");
    fxs_value before = outputs_of(m, 1, 2, (int64_t[]){2, 3});
    assert_true(run_pass(m, "constant-fold"));
    fxs_value after = outputs_of(m, 1, 2, (int64_t[]){2, 3});
    assert_same_tensor(fxs_value_item(&after, 0), fxs_value_item(&before, 0), 0);
    fxs_value_unref(&before);
    fxs_value_unref(&after);
    char *text;
    assert_ok(ctx, fxs_module_print_file(m, 0, &text, NULL));
    assert_string_equal(
        text,
        "N()\n"
        "parameter w: torch.float32[2, 3]\n"
        "buffer k: torch.float32[3]\n"
        "buffer _folded_n: torch.float32[3, 2]\n" X1 "    %k : [#users=1] = get_attr[target=k]\n"
        "    %_folded_n : [#users=1] = get_attr[target=_folded_n]\n" LINE(
            "z", "call_method", "add_", "%k, 1") LINE("r", "call_function", "torch.rand", "3,")
            LINE("m", "call_function", "torch.matmul", "%x, %_folded_n")
                LINE("v", "call_function", "torch.sum", "%m, 0") "    return (v, z, r)\n");
    fxs_free(text);
    assert_int_equal(fxs_module_given_tensors(m), 1);
    assert_false(run_pass(m, "constant-fold"));
    fxs_module_unref(m);
}

/* ---- arguments by name
 * ---------------------------------------------------------------------------------- */

/* normalize.txt, where 1.13 calls the choice of a schema ambiguous, it is the first that takes the
 * arguments here. */
static void normalized_arguments(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *node, *as_given, *keywords;
    } want[] = {
        {"x", NULL, NULL},
        {"conv", "(x,) {}", "() {'input': x}"},
        {"relu", "(conv,) {'inplace': False}", "() {'input': conv, 'inplace': False}"},
        {"add", "(x, 1) {'alpha': 1}", "() {'input': x, 'other': 1, 'alpha': 1}"},
        {"add_1", NULL, NULL}, /* operator.add takes no keywords */
        {"view", NULL, NULL},
        {"max_pool2d",
         "(x, 2) {'stride': None, 'padding': 0, 'dilation': 1, 'ceil_mode': False, "
         "'return_indices': "
         "False}",
         "() {'input': x, 'kernel_size': 2, 'stride': None, 'padding': 0, 'dilation': 1, "
         "'ceil_mode': False, "
         "'return_indices': False}"},
        /* torch.relu has no inplace, though its row, which F.relu shares, does */
        {"relu_1", "(x,) {}", "() {'input': x}"},
        {"dropout", "(x, 0.5, False) {}", "() {'input': x, 'p': 0.5, 'train': False}"},
        {"transpose", "(x, 0, 1) {}", "() {'input': x, 'dim0': 0, 'dim1': 1}"},
        {"flatten", "(x, 1) {'end_dim': -1}", "() {'input': x, 'start_dim': 1, 'end_dim': -1}"},
    };
    fxs_module *m = load(
        ctx,
        "M(\n  (conv): Conv2d(1, 1, kernel_size=(1, 1), stride=(1, 1))\n)\n"
        "graph():\n"
        "    %x : [#users=8] = placeholder[target=x]\n" LINE("conv", "call_module", "conv", "%x,")
            LINE("relu", "call_function", "torch.nn.functional.relu",
                 "%conv,") LINE("add", "call_function", "torch.add", "%x, 1")
                LINE("add_1", "call_function", "operator.add",
                     "%relu, %add") LINE("view", "call_method", "view", "%x, -1")
                    LINE("max_pool2d", "call_function", "torch.nn.functional.max_pool2d", "%x, 2")
                        LINE("relu_1", "call_function", "torch.relu", "%x,")
                            LINE("dropout", "call_function", "torch.dropout", "%x, 0.5, False")
                                LINE("transpose", "call_function", "torch.transpose", "%x, 0, 1")
                                    LINE("flatten", "call_function", "torch.flatten",
                                         "%x, 1") "    return (add_1, view, max_pool2d, relu_1, "
                                                  "dropout, transpose, flatten)\n");
    for (size_t i = 0; i < 2 * sizeof want / sizeof *want; i++) {
        bool keywords = i & 1, known;
        const char *text = keywords ? want[i / 2].keywords : want[i / 2].as_given;
        fxs_value args, kwargs;
        fxs_buf b = {0};
        assert_ok(ctx, fxs_node_normalized_arguments(fxs_graph_find(m->graph, want[i / 2].node),
                                                     FXS_NORMALIZE_DEFAULTS |
                                                         (keywords ? FXS_NORMALIZE_KEYWORDS : 0),
                                                     &args, &kwargs, &known));
        assert_int_equal(known, text != NULL);
        fxs_buf_repr(&b, &args, &(fxs_repr){.node = fxs_node_put_name});
        fxs_buf_putc(&b, ' ');
        fxs_buf_repr(&b, &kwargs, &(fxs_repr){.node = fxs_node_put_name});
        assert_string_equal(b.data, text ? text : "() {}");
        fxs_buf_free(&b);
    }
    assert_true(run_pass(m, "normalize-args"));
    fxs_value out = outputs_of(m, 1, 4, (int64_t[]){2, 1, 4, 4});
    fxs_value_unref(&out);
    fxs_module_unref(m);
    fxs_graph *g;
    fxs_node *n;
    fxs_value args, kwargs;
    bool known;
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    assert_ok(ctx, fxs_graph_call_module(g, "zz", NULL, NULL, &n));
    assert_refused(ctx, fxs_node_normalized_arguments(n, 0, &args, &kwargs, &known),
                   "Tried to normalize node with target zz but root did not have that target!");
    fxs_graph_free(g);
}

/* ---- order: tools.txt
 * ----------------------------------------------------------------------------------- */

#define RELU(users)                                                                                \
    "    %relu : [#users=" users "] = call_function[target=torch.relu](args = (%x,), kwargs = "    \
    "{})\n"

static void legalize(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(
        ctx, X1 RELU("1") LINE("neg", "call_function", "torch.neg", "%relu,") "    return neg\n");
    fxs_node *x = fxs_graph_find(m->graph, "x"), *relu = fxs_graph_find(m->graph, "relu");
    fxs_node *neg = fxs_graph_find(m->graph, "neg");
    assert_false(run_pass(m, "legalize"));
    assert_ok(ctx, fxs_node_append(x, neg));
    assert_refused(ctx, fxs_graph_lint(m->graph),
                   "Argument 'relu' of Node 'neg' was used before it has been defined! Please "
                   "check that Nodes in the "
                   "graph are topologically ordered");
    assert_true(run_pass(m, "legalize"));
    assert_graph(m->graph, X1 RELU("1") LINE("neg", "call_function", "torch.neg",
                                             "%relu,") "    return neg\n");
    assert_ok(ctx, fxs_node_replace_input_with(relu, x, neg));
    assert_refused(ctx, fxs_pass_run(m, "legalize", NULL),
                   "pass legalize: Input graph has cycles, unable to add [relu, neg, output]");
    fxs_module_unref(m);
}

static void passes_by_name(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, X1 "    return x\n");
    size_t n = 0;
    for (; fxs_pass_name(n); n++) {
        assert_non_null(fxs_pass_text(n));
        assert_false(run_pass(m, fxs_pass_name(n)));
    }
    assert_int_equal(n, 8);
    assert_null(fxs_pass_text(n));
    assert_refused(ctx, fxs_pass_run(m, "nothing", NULL),
                   "there is no pass 'nothing'; known: dead-code, cse, constant-fold, "
                   "fuse-conv-bn, remove-identity, "
                   "normalize-args, legalize, unused-modules");
    fxs_module_unref(m);
}

/* ---- splitting: split_mod.txt
 * --------------------------------------------------------------------------- */

static const char whole[] =
    "MyModule(\n  (linear): Linear(in_features=4, out_features=5, bias=True)\n)\n"
    "parameter param: torch.float32[3, 4]\n"
    "graph():\n"
    "    %x : [#users=1] = placeholder[target=x]\n"
    "    %y : [#users=1] = placeholder[target=y]\n"
    "    %param : [#users=1] = get_attr[target=param]\n"
    "    %add : [#users=1] = call_function[target=operator.add](args = (%x, %param), kwargs = {})\n"
    "    %linear : [#users=1] = call_module[target=linear](args = (%add,), kwargs = {})\n"
    "    %clamp : [#users=1] = call_method[target=clamp](args = (%linear,), kwargs = {min: 0.0, "
    "max: 1.0})\n"
    "    %linear_1 : [#users=1] = call_module[target=linear](args = (%y,), kwargs = {})\n"
    "    %clamp_1 : [#users=1] = call_method[target=clamp](args = (%linear_1,), kwargs = {min: "
    "0.0, max: 1.0})\n"
    "    %add_1 : [#users=1] = call_function[target=operator.add](args = (%clamp, %clamp_1), "
    "kwargs = {})\n"
    "    return add_1\n";

static fxs_status in_turn(void *user, const fxs_node *n, int64_t *part) {
    (void)n;
    *part = (*(int64_t *)user)++ % 3;
    return FXS_OK;
}

/* The script's second call: parts that need each other. */
static fxs_status crossing(void *user, const fxs_node *n, int64_t *part) {
    (void)user;
    *part = strcmp(n->name, "linear") == 0                                 ? 1
            : strcmp(n->name, "add") == 0 || strcmp(n->name, "clamp") == 0 ? 0
                                                                           : 2;
    return FXS_OK;
}

static fxs_status one_part(void *user, const fxs_node *n, int64_t *part) {
    (void)user;
    (void)n;
    *part = 0;
    return FXS_OK;
}

static void splitting(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, whole), *split;
    int64_t turn = 0;
    assert_ok(ctx, fxs_split_module(m, in_turn, &turn, &split));
    assert_tree(split, "GraphModule(\n"
                       "  (submod_0): GraphModule(\n"
                       "    (linear): Linear(in_features=4, out_features=5, bias=True)\n"
                       "  )\n"
                       "  (submod_1): GraphModule(\n"
                       "    (linear): Linear(in_features=4, out_features=5, bias=True)\n"
                       "  )\n"
                       "  (submod_2): GraphModule()\n"
                       ")\n");
    assert_graph(split->graph,
                 "graph():\n"
                 "    %x : [#users=1] = placeholder[target=x]\n"
                 "    %y : [#users=1] = placeholder[target=y]\n"
                 "    %param : [#users=1] = get_attr[target=param]\n"
                 "    %submod_0 : [#users=2] = call_module[target=submod_0](args = (%x, %param, "
                 "%y), kwargs = {})\n"
                 "    %getitem : [#users=1] = call_function[target=operator.getitem](args = "
                 "(%submod_0, 0), kwargs = "
                 "{})\n"
                 "    %getitem_1 : [#users=1] = call_function[target=operator.getitem](args = "
                 "(%submod_0, 1), kwargs = "
                 "{})\n"
                 "    %submod_1 : [#users=2] = call_module[target=submod_1](args = (%getitem, "
                 "%getitem_1), kwargs = "
                 "{})\n"
                 "    %getitem_2 : [#users=1] = call_function[target=operator.getitem](args = "
                 "(%submod_1, 0), kwargs = "
                 "{})\n"
                 "    %getitem_3 : [#users=1] = call_function[target=operator.getitem](args = "
                 "(%submod_1, 1), kwargs = "
                 "{})\n"
                 "    %submod_2 : [#users=1] = call_module[target=submod_2](args = (%getitem_2, "
                 "%getitem_3), kwargs = "
                 "{})\n"
                 "    return submod_2\n");
    assert_graph(
        fxs_module_find(split, "submod_0")->graph,
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %param : [#users=1] = placeholder[target=param]\n"
        "    %y : [#users=1] = placeholder[target=y]\n"
        "    %add : [#users=1] = call_function[target=operator.add](args = (%x, %param), kwargs = "
        "{})\n"
        "    %linear : [#users=1] = call_module[target=linear](args = (%y,), kwargs = {})\n"
        "    return (add, linear)\n");
    assert_graph(
        fxs_module_find(split, "submod_1")->graph,
        "graph():\n"
        "    %add : [#users=1] = placeholder[target=add]\n"
        "    %linear_1 : [#users=1] = placeholder[target=linear_1]\n"
        "    %linear : [#users=1] = call_module[target=linear](args = (%add,), kwargs = {})\n"
        "    %clamp : [#users=1] = call_method[target=clamp](args = (%linear_1,), kwargs = {min: "
        "0.0, max: "
        "1.0})\n"
        "    return (linear, clamp)\n");
    assert_graph(fxs_module_find(split, "submod_2")->graph,
                 "graph():\n"
                 "    %linear : [#users=1] = placeholder[target=linear]\n"
                 "    %clamp_1 : [#users=1] = placeholder[target=clamp_1]\n"
                 "    %clamp : [#users=1] = call_method[target=clamp](args = (%linear,), kwargs = "
                 "{min: 0.0, max: "
                 "1.0})\n"
                 "    %add : [#users=1] = call_function[target=operator.add](args = (%clamp, "
                 "%clamp_1), kwargs = {})\n"
                 "    return add\n");
    fxs_value before = outputs_of(m, 2, 2, (int64_t[]){3, 4}),
              after = outputs_of(split, 2, 2, (int64_t[]){3, 4});
    assert_same_tensor(&after, &before, 0);
    fxs_value_unref(&before);
    fxs_value_unref(&after);
    fxs_module_unref(split);
    assert_refused(ctx, fxs_split_module(m, crossing, NULL, &split),
                   "cycle exists between partitions!");
    assert_null(split);
    assert_ok(ctx, fxs_split_module(m, one_part, NULL, &split));
    fxs_module_unref(m); /* the parts count what they share */
    assert_tree(split, "GraphModule(\n"
                       "  (submod_0): GraphModule(\n"
                       "    (linear): Linear(in_features=4, out_features=5, bias=True)\n"
                       "  )\n"
                       ")\n");
    fxs_module_unref(split);
}

/* ---- the module tree: gm_submods.txt
 * -------------------------------------------------------------------- */

static void submodules(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *relu;
    size_t deleted;
    fxs_module *m = load(
        ctx, "Sequential(\n"
             "  (0): Linear(in_features=1, out_features=1, bias=True)\n"
             "  (1): Module(\n"
             "    (0): ReLU()\n"
             "    (1): Tanh()\n"
             "  )\n"
             ")\n"
             "graph():\n"
             "    %input_1 : [#users=1] = placeholder[target=input]\n" LINE(
                 "_0", "call_module", "0", "%input_1,") LINE("_1_0", "call_module", "1.0", "%_0,")
                 LINE("_1_1", "call_module", "1.1", "%_1_0,") "    return _1_1\n");
    assert_ok(ctx, fxs_module_new(ctx, "ReLU", NULL, NULL, &relu));
    assert_ok(ctx, fxs_module_add_submodule(m, "a.b.c", relu));
    assert_refused(ctx, fxs_module_add_submodule(m, "0.weight.z", relu),
                   "'0.weight' is a tensor: it can't hold 'z'");
    assert_refused(ctx, fxs_module_delete_submodule(m, "a.zz"), "there is no submodule 'a.zz'");
    assert_refused(ctx, fxs_module_delete_submodule(m, "0.weight"),
                   "there is no submodule '0.weight'");
    assert_refused(ctx, fxs_module_delete_submodule(m, "q.w.e"), "there is no submodule 'q.w.e'");
    fxs_module_unref(relu);
    assert_tree(m, "Sequential(\n"
                   "  (0): Linear(in_features=1, out_features=1, bias=True)\n"
                   "  (1): Module(\n"
                   "    (0): ReLU()\n"
                   "    (1): Tanh()\n"
                   "  )\n"
                   "  (a): Module(\n"
                   "    (b): Module(\n"
                   "      (c): ReLU()\n"
                   "    )\n"
                   "  )\n"
                   ")\n");
    assert_ok(ctx, fxs_module_delete_all_unused_submodules(m, &deleted));
    assert_int_equal(deleted, 1);
    assert_tree(m, "Sequential(\n"
                   "  (0): Linear(in_features=1, out_features=1, bias=True)\n"
                   "  (1): Module(\n"
                   "    (0): ReLU()\n"
                   "    (1): Tanh()\n"
                   "  )\n"
                   ")\n");
    assert_ok(ctx, fxs_module_delete_submodule(m, "1.0"));
    assert_tree(m, "Sequential(\n"
                   "  (0): Linear(in_features=1, out_features=1, bias=True)\n"
                   "  (1): Module(\n"
                   "    (1): Tanh()\n"
                   "  )\n"
                   ")\n");
    assert_refused(ctx, fxs_graph_lint(m->graph),
                   "Node _1_0 target 1.0 references nonexistent attribute 0 of 1");
    assert_refused(ctx, fxs_module_add_submodule(m, "1..0", m),
                   "'1..0' is no path of a submodule or tensor");
    fxs_module_unref(m);
}

/* ---- whole networks
 * ------------------------------------------------------------------------------------- */

static void passes_keep_a_network(const char *name, void *user) {
    static const char *const passes[] = {"legalize",       "remove-identity", "cse", "dead-code",
                                         "normalize-args", "unused-modules",  "cse"};
    fxs_ctx *ctx = user;
    size_t len;
    char *file = golden_file(name, &len);
    fxs_module *m = load(ctx, file);
    fxs_run_summary before, after;
    fxs_inputs *none;
    fxs_free(file);
    assert_ok(ctx, fxs_inputs_new(ctx, &none));
    assert_ok(ctx, fxs_run(m, none, &(fxs_run_options){.mode = FXS_RUN_META}, &before));
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        run_pass(m, passes[i]);
    assert_ok(ctx, fxs_run(m, none, &(fxs_run_options){.mode = FXS_RUN_META}, &after));
    assert_true(after.failed <=
                before.failed); /* inputs are not given: at least those placeholders */
    assert_true(after.unknown <= before.unknown);
    char *text, *again;
    assert_ok(ctx, fxs_module_print_file(m, 0, &text, NULL));
    fxs_module *read = load(ctx, text);
    assert_ok(ctx, fxs_module_print_file(read, 0, &again, NULL));
    assert_string_equal(text, again);
    fxs_free(text);
    fxs_free(again);
    fxs_module_unref(read);
    fxs_module_unref(m);
    fxs_inputs_free(none);
}

static void whole_networks(void **state) { for_each_golden(passes_keep_a_network, *state); }

/* ---- memory
 * --------------------------------------------------------------------------------------------------------------------
 */

/* data: the name of a pass; NULL: split_module. */
static fxs_status pass_over(fxs_ctx *ctx, const void *pass) {
    static const char model[] =
        "N(\n  (conv): Conv2d(1, 2, kernel_size=(1, 1), stride=(1, 1), bias=False)\n"
        "  (bn): BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
        "  (d): Dropout(p=0.5, inplace=False)\n  (unused): Tanh()\n)\nbuffer k: "
        "torch.float32[2]\n" X1 LINE("conv", "call_module", "conv", "%x,") LINE("bn", "call_module",
                                                                                "bn", "%conv,")
            LINE("d", "call_module", "d", "%bn,") "    %k : [#users=1] = get_attr[target=k]\n" LINE(
                "e", "call_method", "exp", "%k,") LINE("f", "call_function", "torch.sin", "%d,")
                LINE("g", "call_function", "torch.sin", "%d,")
                    LINE("h", "call_function", "torch.add", "%f, %g")
                        LINE("dead", "call_function", "torch.sum", "%h,") "    return (h, e)\n";
    fxs_module *m = NULL, *split = NULL;
    fxs_status s = fxs_load_text(ctx, "model", model, strlen(model), &m);
    if (s == FXS_OK)
        s = pass ? fxs_pass_run(m, pass, NULL) : fxs_split_module(m, one_part, NULL, &split);
    fxs_module_unref(split);
    fxs_module_unref(m);
    return s;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    for (size_t i = 0; i == 0 || fxs_pass_name(i - 1); i++) {
        print_message("# %s\n", i ? fxs_pass_name(i - 1) : "split");
        assert_survives(NULL, pass_over, i ? fxs_pass_name(i - 1) : NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_bn_fusion),
        cmocka_unit_test(what_is_not_fused),
        cmocka_unit_test(resnet18_fused),
        cmocka_unit_test(identities),
        cmocka_unit_test(common_subexpressions),
        cmocka_unit_test(in_place_writes_keep_expressions_apart),
        cmocka_unit_test(dead_code),
        cmocka_unit_test(constants),
        cmocka_unit_test(normalized_arguments),
        cmocka_unit_test(legalize),
        cmocka_unit_test(passes_by_name),
        cmocka_unit_test(splitting),
        cmocka_unit_test(submodules),
        cmocka_unit_test(whole_networks),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
