/* fx_more.c: the scripts chk_* and more_*: corners of all of it. */
#include "fxcase.h"

static fxs_proxy attr_root(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy a = fxs_getattr(x[0], "shape"), first = fxs_index(a, 0);
    return FXS_TUPLE(x[0], "shape", "x", first);
}

/* a.root and a.attr are fields of Python's proxy: what they hold is known here. */
static void chk_attr_root(fxcase *c) { put_code(c, fxs_module_graph(trace_c(c, "x", attr_root))); }

static void chk_burn(fxcase *c) {
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    fxs_value no_tuple = fxs_int(1);
    input(c, g, "x", NULL);
    assert_int_equal(fxs_graph_call_method(g, "relu", &no_tuple, NULL, &n), FXS_EINVAL);
    fxs_ctx_clear(c->ctx);
    python_lines(c, 2, "a function can't be given for a method");
    put(c, "%s\n", fxs_node_name(fn(c, g, "torch.relu", "x")));
}

static void chk_users_order(fxcase *c) {
    fxs_graph *g = new_graph(c);
    fxs_node *x = input(c, g, "x", NULL), *a = fn(c, g, "torch.relu", "x");
    fn(c, g, "torch.neg", "x");
    fxs_value args = py(c, g, "(x,)"), kwargs = py(c, g, "{'k': 1}");
    put_users(c, x);
    put(c, "\n");
    OK(c, fxs_node_set_args(a, &args, NULL));
    put_users(c, x);
    put(c, "\n");
    OK(c, fxs_node_set_args(a, &args, &kwargs));
    put_users(c, x);
    put(c, "\n");
}

static fxs_proxy unused_w(fxs_proxy self, const fxs_proxy *x) {
    fxs_attr(self, "w"); /* if self.w is not None */
    return fxs_add(x[0], 1);
}

static void chk_unused_bias(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M");
    fxs_nn_parameter(m, "w", "float32[1]");
    fxs_nn_forward(m, "x", unused_w, NULL);
    put_graph(c, fxs_module_graph(trace_m(c, m)));
}

static fxs_proxy two_shapes(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy a = fxs_index(fxs_getattr(x[0], "shape"), 0);
    return FXS_TUPLE(a, fxs_index(fxs_getattr(x[0], "shape"), 1));
}

static void chk_getattr_twice(fxcase *c) {
    put_code(c, fxs_module_graph(trace_c(c, "x", two_shapes)));
}

/* A trace that must fail: the message behind the place. */
static void trace_error(fxcase *c, fxs_forward_fn *f, const char *message) {
    fxs_module *m;
    assert_int_not_equal(fxs_trace_function(c->ctx, "f", "x", f, NULL, NULL, &m), FXS_OK);
    const char *text = strstr(fxs_ctx_error(c->ctx), message);
    assert_non_null(text);
    put(c, "TraceError: %s\n", text);
    fxs_ctx_clear(c->ctx);
}

LAMBDA(x_or_2, fxs_truth(fxs_eq(x[0], 1)) ? x[0] : fxs_i(2))
LAMBDA(foo_or_2, fxs_truth(fxs_getattr(x[0], "foo")) ? x[0] : fxs_i(2))

static void chk_isinst_error(fxcase *c) {
    trace_error(c, foo_or_2, "symbolically traced");
    trace_error(c, x_or_2, "symbolically traced");
}

static fxs_proxy with_constant(fxs_proxy self, const fxs_proxy *x) {
    return fxs_add(fxs_method(x[0], "view", FXS_LIST(1, 2)), fxs_constant(fxs_user(self)));
}

static fxs_module *trace_with_tensor(fxcase *c, fxs_forward_fn *f, int ndim, const int64_t *sizes) {
    fxs_tensor *t;
    fxs_module *m;
    OK(c, fxs_tensor_new(c->ctx, FXS_FLOAT32, ndim, sizes, &t));
    fxs_status s = fxs_trace_function(c->ctx, "f", "x", f, t, NULL, &m);
    fxs_tensor_unref(t);
    OK(c, s);
    return own(c, m);
}

static void chk_list_attr(fxcase *c) {
    put_graph(c, fxs_module_graph(trace_with_tensor(c, with_constant, SIZES(1))));
}

static fxs_proxy set_first(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_constant(fxs_user(self));
    fxs_method(y, "__setitem__", 0, x[0]); /* y[0] = x */
    return y;
}

static void chk_setitem_tensor(fxcase *c) {
    put_both(c, trace_with_tensor(c, set_first, SIZES(2)));
}

LAMBDA(first_or_second, x[0].kind == FXS_P_ABSENT ? x[0] : fxs_index(x[0], 0))

static void chk_pt_none(fxcase *c) {
    fxs_module *m;
    OK(c, fxs_trace_function(c->ctx, "f", "x", first_or_second, NULL,
                             &(fxs_trace_options){.concrete_args = "x=[PH, None]"}, &m));
    put_both(c, own(c, m));
}

LAMBDA(size_of, fxs_method(x[0], "size"))

static void chk_str_result(fxcase *c) {
    fxs_interpreter *it;
    fxs_value x = own_value(c, fxs_of_tensor(random_tensor(c->ctx, FXS_FLOAT32, SIZES(2, 3), 1))),
              out;
    OK(c, fxs_interpreter_new(trace_c(c, "x", size_of), NULL, &it));
    OK(c, fxs_interpreter_run(it, &x, 1, &out));
    put_value(c, &out);
    put(c, "\n");
    fxs_value_unref(&out);
    fxs_interpreter_free(it);
}

LAMBDA(add_x, fxs_add(x[0], x[1]))
static fxs_proxy first_two(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy a = fxs_index(x[0], 0);
    return fxs_add(a, fxs_index(x[0], 1));
}

static void chk_rename_arg_conflict(fxcase *c) {
    put_code(c, fxs_module_graph(trace_c(c, "add, x", add_x)));
    put_code(c, fxs_module_graph(trace_c(c, "x, getitem, getitem_1", first_two)));
}

/* ---- more
 * --------------------------------------------------------------------------------------------- */

LAMBDA(where_nan, T("where", x[1], fxs_f(NAN), x[0]))
LAMBDA(to_device, fxs_add(fxs_method(x[0], "to", x[2]), x[3]))
LAMBDA(plus_len, fxs_add(x[0], x[2]))
LAMBDA(add_type, T("add", x[0], x[1]))

static void more_shadow(fxcase *c) {
    put_code(c, fxs_module_graph(trace_c(c, "x, nan", where_nan)));
    put_code(c, fxs_module_graph(trace_c(c, "x, torch_=1, device=None, inf=2", to_device)));
    fxs_graph *g = new_graph(c);
    input(c, g, "torch", NULL);
    fn(c, g, "torch.relu", "torch_1");
    output(c, g, "relu");
    put_code(c, g);
    python_lines(c, 1, "Python's call of that code");
    put_code(c, fxs_module_graph(trace_c(c, "x, self_, len", plus_len)));
    put_code(c, fxs_module_graph(trace_c(c, "x, type", add_type)));
}

LAMBDA(annotated, fxs_annotate(fxs_add(x[0], 1), "int"))
LAMBDA(annotated_twice, fxs_annotate(fxs_annotate(fxs_add(x[0], 1), "int"), "float"))

static void more_annotate(fxcase *c) {
    fxs_module *m = trace_c(c, "x", annotated);
    put_graph(c, fxs_module_graph(m));
    c->out.len--;
    put(c, " ");
    put_code(c, fxs_module_graph(m));
    assert_int_not_equal(fxs_trace_function(c->ctx, "f", "x", annotated_twice, NULL, NULL, &m),
                         FXS_OK);
    assert_non_null(strstr(fxs_ctx_error(c->ctx), "already had a type"));
    fxs_ctx_clear(c->ctx);
    python_lines(c, 1, "a type is a text, and file and line stand in front");
    python_lines(c, 1, "a constant has no node to annotate");
}

static fxs_proxy two_sums(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy a = fxs_add(x[0], 1), b = fxs_add(x[0], 1);
    return FXS_TUPLE(a, b, x[0]);
}

static void more_free_vars_tuple_out(fxcase *c) {
    put_code(c, fxs_module_graph(trace_c(c, "x", two_sums)));
}

static fxs_proxy numeric_view(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy a = fxs_mul(fxs_index(fxs_getattr(x[0], "shape"), 0), 2);
    fxs_proxy b = fxs_floordiv(fxs_index(fxs_method(x[0], "size"), 1), 2);
    return fxs_method(x[0], "view", a, b, -1);
}

static void more_size_numeric(fxcase *c) { put_both(c, trace_c(c, "x", numeric_view)); }

static fxs_proxy dropouts(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, "torch.nn.functional.dropout", fxs_call(self, "d", x[0]), 0.5,
                        fxs_b(fxs_training(self)));
}

static void more_dropout_train(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M");
    fxs_nn_add(m, "d", "Dropout(0.5)");
    fxs_nn_forward(m, "x", dropouts, NULL);
    m = trace_m(c, m);
    put_code(c, fxs_module_graph(m));
    fxs_nn_train(m, false);
    put_code(c, fxs_module_graph(m));
    c->out.len--;
    put(c, " %s %s\n", m->eval ? "False" : "True",
        fxs_module_find(m, "d")->eval ? "False" : "True");
}

static void more_assign_attr_collision(fxcase *c) {
    fxs_module *root = fxs_nn(c->ctx, "Module"), *m;
    fxs_nn_add(root, "lin", "Linear(2, 2)");
    own(c, root);
    for (int attribute_first = 0; attribute_first < 2; attribute_first++) {
        fxs_graph *g = new_graph(c);
        if (attribute_first)
            attr(c, g, "lin.weight");
        input(c, g, "x", NULL);
        mod(c, g, "lin", "x");
        if (!attribute_first)
            attr(c, g, "lin.weight");
        output(c, g, "(lin, lin_weight)");
        OK(c, fxs_graph_module_new(root, g, "GraphModule", &m));
        c->graphs[c->ngraphs - 1] = NULL;
        const fxs_module *lin = fxs_module_find(own(c, m), "lin");
        put(c, "['lin.%s', 'lin.%s']", lin->attributes[0].name, lin->attributes[1].name);
        put(c, attribute_first ? " " : "\n");
    }
    put_module(c, m);
}

static void more_import_block(fxcase *c) {
    fxs_graph *g = new_graph(c);
    char *text;
    typed_input(c, g, "x", "typing.List[torch.Tensor]", NULL);
    fn(c, g, "math.sqrt", "x");
    fn(c, g, "operator.not_", "sqrt");
    fn(c, g, "builtins.len", "not_");
    output(c, g, "len_1");
    OK(c, fxs_module_python_file(wrap_graph(c, g), 0, &text, NULL));
    assert_non_null(strstr(text, "from math import sqrt as math_sqrt\n"));
    assert_non_null(strstr(text, "from typing import List as typing_List\n"));
    assert_non_null(strstr(text, "from _operator import not_ as _operator_not_\n"));
    fxs_free(text);
    python_lines(c, 1, "a whole file imports what it needs, and no more");
}

LAMBDA(iterate, fxs_iter(x[0], 0))
LAMBDA(iterate_keys, fxs_iter(fxs_method(x[0], "keys"), 0))

static void more_proxy_keys(fxcase *c) {
    static const char ours[] =
        "Proxy object cannot be iterated. This can be attempted when the "
        "Proxy is used in a loop or as a *args or **kwargs function argument.";
    fxs_forward_fn *const fns[] = {iterate, iterate_keys};
    for (size_t i = 0; i < 2; i++) {
        fxs_module *m;
        assert_int_not_equal(fxs_trace_function(c->ctx, "f", "x", fns[i], NULL, NULL, &m), FXS_OK);
        assert_non_null(strstr(fxs_ctx_error(c->ctx), ours));
        fxs_ctx_clear(c->ctx);
        python_lines(c, 1, "what it says after the first sentences is about C");
    }
    python_lines(c, 10,
                 "tracers of Python's that say what a loop goes through: in C a loop has a "
                 "bound of its own");
}

static const char *const layers[] = {
    "Identity()",
    "Flatten()",
    "Unflatten(1,(2,3))",
    "Linear(3,4,bias=False)",
    "Bilinear(1,2,3)",
    "Conv1d(1,2,3)",
    "Conv2d(3,4,3,stride=2,padding=1,dilation=2,groups=1,bias=False,padding_mode='reflect')",
    "Conv2d(3,4,(3,5),padding='same')",
    "Conv3d(1,2,3)",
    "ConvTranspose2d(3,4,3,stride=2,output_padding=1)",
    "BatchNorm1d(3)",
    "BatchNorm2d(3,eps=1e-3,momentum=None,affine=False)",
    "InstanceNorm2d(3)",
    "LayerNorm([3,4])",
    "LayerNorm(5,elementwise_affine=False)",
    "GroupNorm(2,4)",
    "LocalResponseNorm(2)",
    "MaxPool2d(2)",
    "MaxPool2d(3,stride=2,padding=1,ceil_mode=True)",
    "AvgPool2d(2)",
    "AdaptiveAvgPool2d((1,1))",
    "AdaptiveAvgPool2d(1)",
    "AdaptiveMaxPool2d((None,2))",
    "LPPool2d(2,2)",
    "ReLU()",
    "ReLU(True)",
    "ReLU6()",
    "LeakyReLU(0.2)",
    "PReLU()",
    "ELU()",
    "SELU()",
    "CELU()",
    "GELU()",
    "GELU(approximate='tanh')",
    "SiLU()",
    "Mish()",
    "Sigmoid()",
    "Tanh()",
    "Softmax(dim=1)",
    "LogSoftmax(1)",
    "Softplus()",
    "Softsign()",
    "Hardtanh()",
    "Hardsigmoid()",
    "Hardswish()",
    "Threshold(0.1,20)",
    "GLU()",
    "Dropout()",
    "Dropout2d(0.2,True)",
    "AlphaDropout()",
    "Embedding(3,4)",
    "Embedding(3,4,padding_idx=0)",
    "EmbeddingBag(3,4)",
    "Upsample(scale_factor=2)",
    "Upsample(size=(2,2),mode='bilinear',align_corners=True)",
    "PixelShuffle(2)",
    "PixelUnshuffle(2)",
    "ChannelShuffle(2)",
    "ZeroPad2d(1)",
    "ReflectionPad2d((1,2,3,4))",
    "ConstantPad2d(1,2.5)",
    "ReplicationPad1d(2)",
    "Fold((2,2),2)",
    "Unfold(2)",
    "CosineSimilarity()",
    "PairwiseDistance()",
    "LSTM(2,3,num_layers=2,batch_first=True,bidirectional=True)",
    "GRU(2,3)",
    "RNN(2,3)",
    "LSTMCell(2,3)",
    "MultiheadAttention(4,2)",
    "TransformerEncoderLayer(4,2)",
    "CrossEntropyLoss()",
    "MSELoss()",
    "L1Loss()",
    "Softmax2d()",
    "Hardshrink()",
    "Softshrink()",
    "Tanhshrink()",
    "LogSigmoid()",
    "RReLU()",
    "Softmin()",
    "UpsamplingBilinear2d(scale_factor=2)",
    "UpsamplingNearest2d(size=3)",
    "MaxUnpool2d(2)",
    "FractionalMaxPool2d(2,output_size=3)",
    "SyncBatchNorm(3)",
    "Identity()",
};

static void put_tree(fxcase *c, fxs_module *m) {
    char *text;
    OK(c, fxs_module_print(own(c, m), &text, NULL));
    put(c, "%s", text);
    fxs_free(text);
}

static void more_module_repr(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "My(\n  x=1, y=2\n  (a): Linear(in_features=1, out_features=2, "
                                   "bias=True)\n  (b): Sequential(\n    "
                                   "(0): ReLU()\n    (1): Sequential()\n  )\n)");
    put_tree(c, m);
    put_tree(c, fxs_nn(c->ctx, "E1(\n  l1\n  l2\n)"));
    put_tree(c, fxs_nn(c->ctx, "Module()"));
    put_tree(c, fxs_nn(c->ctx, "Sequential()"));
    m = fxs_nn(c->ctx, "ModuleList()");
    fxs_nn_add(m, NULL, "ReLU()");
    fxs_nn_add(m, NULL, "ReLU()");
    put_tree(c, m);
    m = fxs_nn(c->ctx, "ModuleList()");
    for (int i = 0; i < 3; i++)
        fxs_nn_add(m, NULL, "Linear(1, 1)");
    fxs_nn_add(m, NULL, "Tanh()");
    put_tree(c, m);
    m = fxs_nn(c->ctx, "ModuleDict()");
    fxs_nn_add(m, "k", "ReLU()");
    put_tree(c, m);
    python_lines(c, 2, "lists of parameters print what they hold");
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        put_tree(c, fxs_nn(c->ctx, "%s", layers[i]));
}

const fxcase_row fx_more_rows[] = {
    {"chk_attr_root", chk_attr_root, NULL},
    {"chk_burn", chk_burn, NULL},
    {"chk_users_order", chk_users_order, NULL},
    {"chk_unused_bias", chk_unused_bias, NULL},
    {"chk_getattr_twice", chk_getattr_twice, NULL},
    {"chk_isinst_error", chk_isinst_error, NULL},
    {"chk_list_attr", chk_list_attr, NULL},
    {"chk_setitem_tensor", chk_setitem_tensor, NULL},
    {"chk_pt_none", chk_pt_none, NULL},
    {"chk_str_result", chk_str_result, NULL},
    {"chk_rename_arg_conflict", chk_rename_arg_conflict, NULL},
    {"chk_module_hooks", NULL, "forward hooks are Python's; a forward in C calls what it wants to"},
    {"chk_interp_kwargs", NULL, "Python's check of a call's keywords"},
    {"chk_copy_attr_nonmod", NULL, "an attribute that is a number: a module in C has none"},
    {"more_shadow", more_shadow, NULL},
    {"more_annotate", more_annotate, NULL},
    {"more_free_vars_tuple_out", more_free_vars_tuple_out, NULL},
    {"more_size_numeric", more_size_numeric, NULL},
    {"more_dropout_train", more_dropout_train, NULL},
    {"more_assign_attr_collision", more_assign_attr_collision, NULL},
    {"more_import_block", more_import_block, NULL},
    {"more_proxy_keys", more_proxy_keys, NULL},
    {"more_module_repr", more_module_repr, NULL},
    {"more_custom_codegen", NULL, "a class of Python's that writes the text"},
    {0},
};
