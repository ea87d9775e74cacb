/* test_trace.c: modules, parameters, signatures and errors of a trace, as torch.fx
 * has them. */
#include "tracing.h"

/* ---- modules
 * ---------------------------------------------------------------------------------------------------------
 */

static fxs_proxy inner_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "lin", x[0]);
    y = fxs_mul(y, fxs_attr(self, "w"));
    return fxs_add(y, fxs_attr(self, "buf"));
}

static fxs_module *inner(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "Inner");
    fxs_nn_parameter(m, "w", "float32[2]");
    fxs_nn_add(m, "lin", "Linear(2, 2)");
    fxs_nn_buffer(m, "buf", "float32[2]");
    fxs_nn_forward(m, "x", inner_forward, NULL);
    return m;
}

static fxs_proxy nested_forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_call(self, "seq", fxs_call(self, "a", in[0]));
    fxs_proxy list = fxs_attr(self, "ml");
    for (size_t i = 0; i < fxs_len(list); i++)
        x = fxs_apply(fxs_iter(list, i), x);
    x = fxs_call(self, "md.k", x);
    x = fxs_add(x, fxs_attr(self, "pl.0"));
    x = fxs_call(self, "shared", x);
    x = fxs_call(self, "a", x);
    x = fxs_add(x, fxs_attr(self, "a.w"));
    x = fxs_add(x, fxs_attr(self, "a.buf"));
    return fxs_add(x, fxs_attr(self, "a.lin.weight"));
}

static fxs_module *nested(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_put(m, "a", inner(ctx));
    fxs_module *seq = fxs_nn_add(m, "seq", "Sequential()");
    fxs_nn_put(seq, NULL, inner(ctx));
    fxs_module *within = fxs_nn_add(seq, NULL, "Sequential()");
    fxs_nn_add(within, NULL, "ReLU()");
    fxs_nn_add(within, NULL, "Dropout(0.5)");
    fxs_module *list = fxs_nn_add(m, "ml", "ModuleList()");
    fxs_module *first = fxs_nn_add(list, NULL, "Linear(2, 2)");
    fxs_nn_add(list, NULL, "Linear(2, 2)");
    fxs_nn_add(fxs_nn_add(m, "md", "ModuleDict()"), "k", "Tanh()");
    fxs_nn_parameter(fxs_nn_add(m, "pl", "ParameterList()"), "0", "float32[1]");
    fxs_nn_put(m, "shared", fxs_module_ref(first));
    fxs_nn_forward(m, "x", nested_forward, NULL);
    return m;
}

static fxs_proxy cached_forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0];
    fxs_proxy sum = fxs_add(x, fxs_attr(self, "w"));
    sum = fxs_add(sum, fxs_mul(fxs_attr(self, "w"), fxs_attr(self, "w")));
    sum = fxs_add(sum, fxs_linear(x, fxs_attr(self, "lin.weight"), fxs_attr(self, "lin.bias")));
    sum = fxs_add(sum, fxs_cat(FXS_LIST(fxs_attr(self, "w"), fxs_attr(self, "w"))));
    return fxs_add(sum, fxs_m_sum(fxs_attr(self, "w")));
}

static fxs_proxy names_forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy z = fxs_call(self, "main", fxs_call(self, "main", in[0]));
    fxs_proxy a = fxs_sum(z);
    fxs_proxy b = fxs_m_sum(z);
    fxs_proxy c = fxs_m_float(z);
    fxs_proxy d = fxs_method(z, "type", fxs_d(FXS_FLOAT32));
    fxs_proxy e = fxs_m_abs(z);
    fxs_proxy sum = fxs_add(fxs_call(self, "Head", z), fxs_call(self, "bN", z));
    sum = fxs_add(sum, in[1]);
    sum = fxs_add(sum, a);
    sum = fxs_add(sum, b);
    sum = fxs_add(sum, c);
    sum = fxs_add(sum, d);
    return fxs_add(sum, e);
}

static void test_modules(void **state) {
    fxs_ctx *ctx = *state;
    assert_golden(trace_module(ctx, nested(ctx), NULL), "tr_nested", 0);
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_parameter(m, "w", "float32[2]");
    fxs_nn_add(m, "lin", "Linear(2, 2)");
    fxs_nn_forward(m, "x", cached_forward, NULL);
    assert_golden(trace_module(ctx, m, NULL), "tr_param_cache", 0);
    m = fxs_nn(ctx, "M");
    fxs_module *seq = fxs_nn_add(m, "main", "Sequential()");
    fxs_nn_add(seq, NULL, "Linear(2, 2)");
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_add(m, "Head", "Linear(2, 2)");
    fxs_nn_add(m, "bN", "BatchNorm1d(2)");
    fxs_nn_forward(m, "input, x_1, self_=1", names_forward, NULL);
    assert_golden(trace_module(ctx, m, NULL), "names_graph", 0);
}

static fxs_proxy retraced_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_index(fxs_call(self, "seq", x[0]), 0);
    return fxs_add(y, fxs_attr(self, "w"));
}

/* A GraphModule traces into the same graph, and as a part of another into what it computes. */
static void test_retrace(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_module *seq = fxs_nn_add(m, "seq", "Sequential()");
    fxs_nn_add(seq, NULL, "Linear(2, 2)");
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_parameter(m, "w", "float32[2]");
    fxs_nn_forward(m, "x, y=None", retraced_forward, NULL);
    m = trace_module(ctx, m, NULL);
    fxs_module *again = trace_module(ctx, fxs_module_ref(m), NULL);
    assert_golden(again, "tr_retrace", 1);
    fxs_module *outer = fxs_nn(ctx, "Sequential()");
    fxs_nn_put(outer, "inside", m);
    outer = trace_module(ctx, outer, NULL);
    assert_text(outer->graph,
                "graph():\n"
                "    %input_1 : [#users=1] = placeholder[target=input]\n"
                "    %inside_seq_0 : [#users=1] = call_module[target=inside.seq.0](args = "
                "(%input_1,), kwargs = {})\n"
                "    %inside_seq_1 : [#users=1] = call_module[target=inside.seq.1](args = "
                "(%inside_seq_0,), kwargs = {})\n"
                "    %getitem : [#users=1] = call_function[target=operator.getitem](args = "
                "(%inside_seq_1, 0), kwargs = "
                "{})\n"
                "    %inside_w : [#users=1] = get_attr[target=inside.w]\n"
                "    %add : [#users=1] = call_function[target=operator.add](args = (%getitem, "
                "%inside_w), kwargs = {})\n"
                "    return add\n");
    fxs_module_unref(outer);
}

/* Layers as roots: what they compute. */
static void test_layers_as_roots(void **state) {
    fxs_ctx *ctx = *state;
    assert_golden(trace_module(ctx, fxs_nn(ctx, "Linear(2, 2)"), NULL), "tr_unregistered_module",
                  0);
    assert_golden(trace_module(ctx, fxs_nn(ctx, "ReLU()"), NULL), "tr_unregistered_module", 1);
    fxs_module *m = fxs_nn(ctx, "Sequential()");
    fxs_nn_add(m, NULL, "Linear(2, 2)");
    fxs_nn_add(m, NULL, "ReLU()");
    assert_golden(trace_module(ctx, m, NULL), "tr_unregistered_module", 2);
    m = fxs_nn(ctx, "Sequential()"); /* shared: the first path */
    fxs_module *relu = fxs_nn_add(m, NULL, "ReLU()");
    fxs_nn_put(m, NULL, fxs_module_ref(relu));
    assert_golden(trace_module(ctx, m, NULL), "tr_path", 0);
}

static fxs_proxy leaf_forward(fxs_proxy self, const fxs_proxy *x) {
    return fxs_call(self, "q", fxs_call(self, "a", x[0]));
}

static bool only_inner(void *user, const fxs_module *m, const char *path, bool usual) {
    fxs_buf *seen = user;
    fxs_buf_printf(seen, "%s %s %d\n", fxs_module_class(m), path, usual);
    return strcmp(fxs_module_class(m), "Inner") == 0;
}

static const char *renamed(void *user, const fxs_module *m, const char *usual) {
    (void)user, (void)m;
    return usual && strcmp(usual, "q.0") == 0 ? "q.0" : usual;
}

static void test_hooks(void **state) {
    fxs_ctx *ctx = *state;
    fxs_buf seen = {0};
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_put(m, "a", inner(ctx));
    fxs_nn_add(fxs_nn_add(m, "q", "Sequential()"), NULL, "ReLU()");
    fxs_nn_forward(m, "x", leaf_forward, NULL);
    fxs_trace_options opt = {
        .is_leaf_module = only_inner, .path_of_module = renamed, .user = &seen};
    assert_golden(trace_module(ctx, m, &opt), "tr_leaf_custom", 0);
    assert_string_equal(seen.data, "Inner a 0\nSequential q 0\nReLU q.0 1\n");
    fxs_buf_free(&seen);
}

/* The GraphModule shares what the graph names, and shows bare modules on the way, as torch.fx's
 * does. */
static void test_graph_module(void **state) {
    fxs_ctx *ctx = *state;
    char *text;
    fxs_module *m = trace_module(ctx, nested(ctx), NULL);
    assert_ok(ctx, fxs_module_print(m, &text, NULL));
    assert_string_equal(text, "M(\n"
                              "  (a): Module(\n"
                              "    (lin): Linear(in_features=2, out_features=2, bias=True)\n"
                              "  )\n"
                              "  (seq): Module(\n"
                              "    (0): Module(\n"
                              "      (lin): Linear(in_features=2, out_features=2, bias=True)\n"
                              "    )\n"
                              "    (1): Module(\n"
                              "      (0): ReLU()\n"
                              "      (1): Dropout(p=0.5, inplace=False)\n"
                              "    )\n"
                              "  )\n"
                              "  (ml): Module(\n"
                              "    (0): Linear(in_features=2, out_features=2, bias=True)\n"
                              "    (1): Linear(in_features=2, out_features=2, bias=True)\n"
                              "  )\n"
                              "  (md): Module(\n"
                              "    (k): Tanh()\n"
                              "  )\n"
                              "  (pl): Module()\n"
                              ")\n");
    fxs_free(text);
    /* What is printed as a file reads back, and prints the same. */
    size_t len;
    char *again;
    fxs_module *read;
    assert_ok(ctx, fxs_module_print_file(m, 0, &text, &len));
    assert_ok(ctx, fxs_load_text(ctx, "m", text, len, &read));
    assert_ok(ctx, fxs_module_print_file(read, 0, &again, NULL));
    assert_string_equal(again, text);
    fxs_free(text);
    fxs_free(again);
    fxs_module_unref(read);
    fxs_inputs *in;
    fxs_run_summary sum;
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "x=2x2"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_EXECUTE}, &sum));
    if (sum.first)
        fprintf(stderr, "%s: %s\n", fxs_node_name(sum.first), fxs_node_meta(sum.first)->message);
    assert_int_equal(sum.failed + sum.unknown + sum.blocked, 0);
    fxs_inputs_free(in);
    fxs_module_unref(m);
}

/* Scope of each node, and its source. */
static void test_scopes(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = trace_module(ctx, nested(ctx), &(fxs_trace_options){.record_source = true});
    fxs_graph *copy;
    assert_ok(ctx, fxs_graph_deep_copy(m->graph, &copy));
    for (int k = 0; k < 2; k++) {
        fxs_node *n = fxs_graph_find(k ? copy : m->graph, "mul_1");
        const fxs_scope *s = fxs_node_scope(n);
        assert_string_equal(s->path, "seq.0");
        assert_string_equal(s->class_name, "Inner");
        assert_string_equal(s->outer->path, "seq");
        assert_string_equal(s->outer->outer->class_name, "M");
        assert_null(s->outer->outer->outer);
        assert_non_null(strstr(fxs_node_place(n).file, "test_trace.c"));
        assert_true(fxs_node_place(n).line > 5);
    }
    assert_string_equal(fxs_node_scope(fxs_graph_first(m->graph))->path, "");
    fxs_graph_free(copy);
    fxs_module_unref(m);
}

/* Constructor style, as print(model) shows it. */
static void test_printed_layers(void **state) {
    static const char *const pairs[][2] = {
        {"Conv2d(3, 64, 7, stride=2, padding=3, bias=False)",
         "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)"},
        {"Conv2d(3,4,(3,5),padding='same')",
         "Conv2d(3, 4, kernel_size=(3, 5), stride=(1, 1), padding=same)"},
        {"Conv2d(3, 4, 3, 2, 1, 2, bias=False, padding_mode='reflect')",
         "Conv2d(3, 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), dilation=(2, 2), "
         "bias=False, "
         "padding_mode=reflect)"},
        {"Conv1d(1, 2, 3)", "Conv1d(1, 2, kernel_size=(3,), stride=(1,))"},
        {"ConvTranspose2d(3, 4, 3, stride=2, output_padding = 1)",
         "ConvTranspose2d(3, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))"},
        {"BatchNorm2d(3, eps=0.001, momentum=None, affine=False)",
         "BatchNorm2d(3, eps=0.001, momentum=None, affine=False, track_running_stats=True)"},
        {"InstanceNorm2d(3)",
         "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)"},
        {"LayerNorm((3, 4))", "LayerNorm((3, 4), eps=1e-05, elementwise_affine=True)"},
        {"LayerNorm(5, elementwise_affine=False)",
         "LayerNorm((5,), eps=1e-05, elementwise_affine=False)"},
        {"GroupNorm(2, 4)", "GroupNorm(2, 4, eps=1e-05, affine=True)"},
        {"LocalResponseNorm(2)", "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)"},
        {"MaxPool2d(2)",
         "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"},
        {"MaxPool2d(3, 2, 1, ceil_mode=True)",
         "MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=True)"},
        {"AvgPool2d(2, count_include_pad=False)", "AvgPool2d(kernel_size=2, stride=2, padding=0)"},
        {"AdaptiveAvgPool2d((1, 1))", "AdaptiveAvgPool2d(output_size=(1, 1))"},
        {"AdaptiveMaxPool2d((None, 2))", "AdaptiveMaxPool2d(output_size=(None, 2))"},
        {"LPPool2d(2, 2)", "LPPool2d(norm_type=2, kernel_size=2, stride=None, ceil_mode=False)"},
        {"ReLU()", "ReLU()"},
        {"ReLU(True)", "ReLU(inplace=True)"},
        {"LeakyReLU(0.2)", "LeakyReLU(negative_slope=0.2)"},
        {"GELU()", "GELU(approximate='none')"},
        {"GELU('tanh')", "GELU(approximate='tanh')"},
        {"Softmax(dim=1)", "Softmax(dim=1)"},
        {"Softplus()", "Softplus(beta=1, threshold=20)"},
        {"Hardtanh()", "Hardtanh(min_val=-1.0, max_val=1.0)"},
        {"Threshold(0.1, 20)", "Threshold(threshold=0.1, value=20)"},
        {"Dropout(0.5)", "Dropout(p=0.5, inplace=False)"},
        {"Dropout2d(0.2, True)", "Dropout2d(p=0.2, inplace=True)"},
        {"Embedding(3, 4)", "Embedding(3, 4)"},
        {"Embedding(3, 4, padding_idx=0)", "Embedding(3, 4, padding_idx=0)"},
        {"Linear(3, 4, bias=False)", "Linear(in_features=3, out_features=4, bias=False)"},
        {"Bilinear(1, 2, 3)",
         "Bilinear(in1_features=1, in2_features=2, out_features=3, bias=True)"},
        {"Upsample(scale_factor=2)", "Upsample(scale_factor=2.0, mode=nearest)"},
        {"Upsample(size=(2, 2), mode='bilinear')", "Upsample(size=(2, 2), mode=bilinear)"},
        {"PixelShuffle(2)", "PixelShuffle(upscale_factor=2)"},
        {"Fold((2, 2), 2)",
         "Fold(output_size=(2, 2), kernel_size=2, dilation=1, padding=0, stride=1)"},
        {"Flatten()", "Flatten(start_dim=1, end_dim=-1)"},
        {"Unflatten(1, (2, 3))", "Unflatten(dim=1, unflattened_size=(2, 3))"},
        {"Hardshrink()", "Hardshrink(0.5)"},
        {"RReLU()", "RReLU(lower=0.125, upper=0.3333333333333333)"},
        {"LSTM(2, 3, num_layers=2, batch_first=True, bidirectional=True)",
         "LSTM(2, 3, num_layers=2, batch_first=True, bidirectional=True)"},
        {"GRU(2, 3)", "GRU(2, 3)"},
        {"ZeroPad2d(1)", "ZeroPad2d((1, 1, 1, 1))"},
        {"ReflectionPad2d((1, 2, 3, 4))", "ReflectionPad2d((1, 2, 3, 4))"},
        {"ConstantPad2d(1, 2.5)", "ConstantPad2d(padding=(1, 1, 1, 1), value=2.5)"},
        {"UpsamplingNearest2d(size=3)", "UpsamplingNearest2d(size=3, mode=nearest)"},
        {"UpsamplingBilinear2d(scale_factor=2)",
         "UpsamplingBilinear2d(scale_factor=2.0, mode=bilinear)"},
        {"MyOwn", "MyOwn()"},
        {"MyOwn(3, k=4)", "MyOwn(3, k=4)"},
    };
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *text;
        fxs_module *m = fxs_nn(ctx, "%s", pairs[i][0]);
        if (!m)
            fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
        assert_non_null(m);
        assert_ok(ctx, fxs_module_print(m, &text, NULL));
        text[strlen(text) - 1] = '\0';
        assert_string_equal(text, pairs[i][1]);
        fxs_free(text);
        fxs_module_unref(m);
    }
    assert_null(fxs_nn(ctx, "Conv2d(3, 64)"));
    assert_string_equal(fxs_ctx_error(ctx), "Conv2d: argument 'kernel_size' is missing");
    fxs_ctx_clear(ctx);
    assert_null(fxs_nn(ctx, "Conv2d(3, 64, 3, strid=2)"));
    assert_string_equal(fxs_ctx_error(ctx), "Conv2d: there is no argument 'strid'");
    fxs_ctx_clear(ctx);
    fxs_module *m =
        fxs_nn(ctx, "M(\n  (a): ReLU()\n  (b): Sequential(\n    (0): Linear(2, 2)\n  )\n)");
    assert_non_null(fxs_module_find(m, "b.0"));
    fxs_module_unref(m);
}

/* ---- signatures and outputs
 * -------------------------------------------------------------------------------------------- */

static fxs_proxy starred(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy sum = fxs_add(x[0], fxs_index(x[1], 0));
    sum = fxs_add(sum, x[2]);
    return fxs_add(sum, fxs_index(x[3], "z"));
}

static fxs_proxy first(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return x[0];
}

static fxs_proxy sum_of_two(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_add(x[0], x[1]);
}

static fxs_proxy calls_starred(fxs_proxy self, const fxs_proxy *x) {
    return fxs_call(self, "s", x[0], x[0], FXS_KW("z", x[0]), FXS_KW("k", 5));
}

static fxs_proxy output_form(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0];
    switch (*(int *)fxs_user(self)) {
    case 0:
        return FXS_NONE;
    case 1:
        return FXS_TUPLE(x, x);
    case 2:
        return FXS_LIST(x, 1);
    case 3:
        return FXS_DICT("a", x, "b", FXS_LIST(x));
    case 4:
        return FXS_TUPLE(x, "s", 1.5, fxs_d(FXS_FLOAT32), FXS_NONE, FXS_ELLIPSIS,
                         FXS_SLICE(FXS_NONE, x, FXS_NONE));
    case 5:
        return fxs_getattr(x, "shape");
    default:
        return fxs_sequence_of(FXS_V_TUPLE, 0, NULL);
    }
}

static void test_signatures(void **state) {
    fxs_ctx *ctx = *state;
    assert_golden(trace_fn(ctx, "x, *a, k=1, **kw", starred), "tr_args", 0);
    assert_golden(
        trace_fn(
            ctx,
            "x: torch.Tensor, y: typing.Optional[int]=None, *a: int, k: float = 1.0, **kw: str",
            first),
        "tr_args", 1);
    assert_golden(trace_fn(ctx, "x, y", sum_of_two), "tr_args", 3);
    assert_golden(trace_fn(ctx, "x -> typing.Tuple[int, str]", first), "tr_annot_return", 0);
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_forward(fxs_nn_add(m, "s", "S"), "x, *a, k=1, **kw", starred, NULL);
    fxs_nn_forward(m, "x", calls_starred, NULL);
    m = trace_module(ctx, m, NULL);
    assert_text(
        m->graph,
        "graph():\n"
        "    %x : [#users=2] = placeholder[target=x]\n"
        "    %add : [#users=1] = call_function[target=operator.add](args = (%x, %x), kwargs = {})\n"
        "    %add_1 : [#users=1] = call_function[target=operator.add](args = (%add, 5), kwargs = "
        "{})\n"
        "    %add_2 : [#users=1] = call_function[target=operator.add](args = (%add_1, %x), kwargs "
        "= "
        "{})\n"
        "    return add_2\n");
    fxs_module_unref(m);
    static const char *const outputs[] = {
        "None",
        "(x, x)",
        "[x, 1]",
        "{'a': x, 'b': [x]}",
        "(x, 's', 1.5, torch.float32, None, Ellipsis, slice(None, x, None))",
        "getattr_1",
        "()"};
    for (int i = 0; i < 7; i++) {
        char *text;
        assert_ok(ctx, fxs_trace_function(ctx, "f", "x", output_form, &i, NULL, &m));
        assert_ok(ctx, fxs_node_format(m->graph->root.prev, 0, &text));
        assert_string_equal(text + 7, outputs[i]);
        fxs_free(text);
        fxs_module_unref(m);
    }
}

/* ---- errors
 * ----------------------------------------------------------------------------------------------------------------------
 */

static fxs_proxy branches(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_truth(fxs_gt(fxs_m_sum(x[0]), 0)) ? x[0] : fxs_neg(x[0]);
}

static fxs_proxy loops(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_iter(x[0], 0);
}

static fxs_proxy measures(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_i((int64_t)fxs_len(x[0]));
}

static fxs_proxy node_as_key(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return FXS_DICT(x[0], 1);
}

static fxs_proxy missing_module(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "zzz", x[0]);
    y = fxs_add(y, 1); /* does nothing any more */
    return fxs_call(self, "yyy", y);
}

static fxs_proxy too_many(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, "F.relu", x[0], fxs_b(true), 3);
}

static fxs_proxy asserts(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_assert(fxs_gt(fxs_m_sum(x[0]), 0));
    fxs_assert(fxs_eq(fxs_m_dim(x[0]), 2));
    fxs_assert(fxs_ne(1, 2));
    return x[0];
}

static fxs_proxy mutates(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, "torch.relu_", x[0]);
}

static fxs_proxy outer_of_bad(fxs_proxy self, const fxs_proxy *x) {
    return fxs_call(self, "a.b", x[0]);
}

static void test_errors(void **state) {
    fxs_ctx *ctx = *state;
    static const char control[] =
        "symbolically traced variables cannot be used as inputs to control flow";
    assert_refusal(ctx, "x", branches, NULL, control);
    assert_refusal(ctx, "x", loops, NULL,
                   "Where the number of items is known, fxs_unpack records one getitem for each");
    assert_refusal(ctx, "x", measures, NULL, "call fxs_function(self, \"builtins.len\", x)");
    assert_refusal(ctx, "x", node_as_key, NULL,
                   "Keys for dictionaries used as an argument cannot contain a Node. Got key: x");
    assert_refusal(ctx, "x", missing_module, NULL,
                   "in f.forward: 'f' object has no attribute 'zzz'");
    assert_refusal(
        ctx, "x", too_many, NULL,
        "torch.nn.functional.relu: the call does not fit its parameters: too many arguments");
    assert_refusal(ctx, "x", asserts, NULL, control);
    assert_refusal(ctx, "x=[1", first, NULL, "this '[' is never closed");
    assert_refusal(ctx, "x y", first, NULL,
                   "signature:1:3: expected ',' between parameters, found 'y'");
    assert_refusal(ctx, "x", mutates, &(fxs_trace_options){.refuse_mutation = true},
                   "Tried to trace mutable operation torch.relu_. FX only supports functional "
                   "code, so operations that "
                   "mutate operands in-place (e.g. via `out` arguments) are not supported");
    fxs_module *m = trace_with(ctx, "x", asserts, &(fxs_trace_options){.trace_asserts = true});
    assert_golden(m, "tr_assert_trace", 1);
    /* The place is named: file, line, and the module that was running. */
    fxs_module *traced, *root = fxs_nn(ctx, "M");
    fxs_nn_forward(fxs_nn_add(fxs_nn_add(root, "a", "Sequential()"), "b", "Bad"), "x", branches,
                   NULL);
    fxs_nn_forward(root, "x", outer_of_bad, NULL);
    assert_int_not_equal(fxs_trace(ctx, root, NULL, &traced), FXS_OK);
    assert_non_null(strstr(fxs_ctx_error(ctx), "test_trace.c:"));
    assert_non_null(strstr(fxs_ctx_error(ctx), "in Bad.forward of 'a.b': symbolically traced"));
    fxs_ctx_clear(ctx);
    fxs_module_unref(root);
    /* What went wrong in building surfaces in the trace. */
    root = fxs_nn(ctx, "M");
    fxs_nn_add(root, "a", "Conv2d(1)");
    assert_int_equal(fxs_trace(ctx, root, NULL, &traced), FXS_ETYPE);
    assert_string_equal(fxs_ctx_error(ctx), "Conv2d: argument 'out_channels' is missing");
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_trace(ctx, root, NULL, &traced), FXS_EINVAL);
    assert_string_equal(fxs_ctx_error(ctx),
                        "Module [M] is missing the required \"forward\" function");
    fxs_ctx_clear(ctx);
    fxs_module_unref(root);
}

/* ---- retracing, memory, size
 * ------------------------------------------------------------------------------------------------------
 */

static fxs_status trace_test_model(fxs_ctx *ctx, const void *data) {
    fxs_module *root = test_model(ctx), *traced = NULL;
    (void)data;
    fxs_status s = fxs_trace(
        ctx, root, &(fxs_trace_options){.record_source = true, .concrete_args = "y=PH"}, &traced);
    assert_true((s == FXS_OK) == (traced != NULL));
    if (s == FXS_OK)
        assert_int_equal(fxs_graph_len(fxs_module_graph(traced)), 14);
    fxs_module_unref(traced);
    fxs_module_unref(root);
    return s;
}

/* No crash, no leak, and an error or the whole graph. */
static void test_out_of_memory(void **state) {
    (void)state;
    assert_survives(NULL, trace_test_model, NULL);
}

static fxs_proxy long_forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0];
    for (int i = 0; i < 50000; i++)
        x = fxs_relu(fxs_add(x, fxs_attr(self, "w")));
    return x;
}

static void test_long_trace(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_parameter(m, "w", "float32[1]");
    fxs_nn_forward(m, "x", long_forward, NULL);
    m = trace_module(ctx, m, NULL);
    assert_int_equal(fxs_graph_len(m->graph), 100003);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_modules, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_retrace, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_layers_as_roots, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_hooks, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_graph_module, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_scopes, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_printed_layers, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_signatures, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_errors, new_ctx, free_ctx),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test_setup_teardown(test_long_trace, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
