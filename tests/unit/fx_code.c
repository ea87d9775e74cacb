/* fx_code.c: the scripts code_*: the Python that is generated from graphs. */
#include "fxcase.h"

/* Code as the script prints it, then its globals. */
static void show(fxcase *c, const fxs_graph *g) {
    put_code(c, g);
    put_globals(c, g);
}

/* A call of each function with the same arguments. */
static void call_each(fxcase *c, fxs_graph *g, const char *prefix, const char *names,
                      const char *args) {
    char *list = strdup(names), *save = NULL, target[100];
    for (char *n = strtok_r(list, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
        snprintf(target, sizeof target, "%s%s", prefix, n);
        fn(c, g, target, args);
    }
    free(list);
}

static void code_infix(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    input(c, g, "y", NULL);
    call_each(c, g, "operator.",
              "add sub mul floordiv truediv mod pow lshift rshift and_ or_ xor matmul eq ne lt gt "
              "le ge getitem",
              "x, y");
    call_each(c, g, "operator.", "pos neg invert", "x");
    call_each(c, g, "operator.",
              "iadd iand ifloordiv ilshift imod imul imatmul ior ipow irshift isub itruediv ixor",
              "x, y");
    fn(c, g, "operator.setitem", "x, 0, y");
    fn(c, g, "operator.not_", "x");
    fn(c, g, "operator.is_", "x, None");
    fn(c, g, "operator.abs", "x");
    fn(c, g, "operator.contains", "x, 1");
    fn(c, g, "operator.concat", "x, y");
    fn(c, g, "operator.add", "x, y");
    fn(c, g, "operator.add", "-1, x");
    fn(c, g, "operator.neg", "-1");
    fn(c, g, "operator.add", "'a', 1.5");
    fn(c, g, "operator.truth", "x");
    fn(c, g, "operator.index", "x");
    output(c, g, "getitem");
    put_graph(c, g);
    show(c, g);
}

static void code_getitem(fxcase *c) {
    static const char *const indices[] = {"0",
                                          "-1",
                                          "slice(None)",
                                          "slice(1, None)",
                                          "slice(None, None, 2)",
                                          "(slice(None), 0)",
                                          "(..., None)",
                                          "(slice(x, None),)",
                                          "'k'",
                                          "[1, 2]",
                                          "None",
                                          "(0,)",
                                          "x",
                                          "torch.float32",
                                          "...",
                                          "()"};
    fxs_graph *g = new_graph(c);
    char args[64];
    input(c, g, "x", NULL);
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        snprintf(args, sizeof args, "x, %s", indices[i]);
        fn(c, g, "operator.getitem", args);
    }
    output(c, g, "getitem_15");
    show(c, g);
}

static void code_getattr(fxcase *c) {
    static const char *const args[] = {"x, 'shape'", "x, 'a.b'", "x, 'shape', None",
                                       "x, '1'",     "x, x",     "x, 'class'"};
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        fn(c, g, "builtins.getattr", args[i]);
    method(c, g, "0bad", "x");
    method(c, g, "a.b", "x");
    method(c, g, "size", "x, -1");
    method(c, g, "relu", "'lit'");
    method(c, g, "relu", "3");
    method(c, g, "__call__", "x, k=1");
    output(c, g, "call");
    show(c, g);
    instead(c, "getattr(x, 'class')", "x.class", "a keyword is no attribute's name: it compiles");
    instead(c, "(3).relu()", "3.relu()", "it compiles");
}

static void code_targets(fxcase *c) {
    static const char *const paths[] = {"a",       "a.b", "a.0",   "0",  "a.0.b",
                                        "a.0.1.c", "a-b", "class", "_x", "a.__b__"};
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        attr(c, g, paths[i]);
        mod(c, g, paths[i], "x, k=[x]");
    }
    output(c, g, "a___b___1");
    show(c, g);
    instead(c, "class_1 = getattr(self, \"class\")\n", "class_1 = self.class\n", "it compiles");
    instead(c, "getattr(self, \"class\")(", "self.class(", "it compiles");
    char *code;
    OK(c, fxs_graph_python_code_with_root(g, "root_mod", 0, &code, NULL));
    put(c, "%s\n", code);
    fxs_free(code);
    instead(c, "class_1 = getattr(root_mod, \"class\")\n", "class_1 = root_mod.class\n",
            "it compiles");
    instead(c, "getattr(root_mod, \"class\")(", "root_mod.class(", "it compiles");
}

static void code_functions(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    call_each(c, g, "",
              "torch.relu torch.nn.functional.relu torch.conv2d torch._C._nn.linear "
              "torch.ops.aten.relu.default torch.ops.aten.relu math.sqrt __main__.userfn "
              "__main__.UserT __main__.<lambda> builtins.len builtins.print operator.itemgetter "
              "collections.OrderedDict __main__.P torch.Tensor torch.nn.parameter.Parameter "
              "torch.device torch._assert torch._C._fft.fft_fft torch.add builtins.abs "
              "torch._C._special.special_erf torch._C._linalg.linalg_norm torch.cuda.synchronize "
              "torch.randn",
              "x, k=1");
    output(c, g, "randn");
    show(c, g);
}

static void code_args(fxcase *c) {
    static const char *const calls[] = {
        "",
        "x",
        "(x,)",
        "[x]",
        "()",
        "[]",
        "{}",
        "{'k': x, 'm': {'n': (x, 1)}}",
        "{1: x, (1, 2): 2}",
        "slice(None)",
        "(slice(1, x), ..., None)",
        "True, False, None, ...",
        "1.0, 1e-05, 1e16, inf, -inf, nan, -0.0, 2+3j, 100000000000000000000",
        "'str', \"it's\", 'a\"b', 'b\\'\"c', 'new\\nline\\t\\\\', '\u00e9', ''",
        "torch.float32, torch.bool, device('cpu'), device('cuda:0'), device('cuda')",
        "torch.channels_last, torch.strided, torch.qint8, torch.per_tensor_affine",
        "Size(1, 2), P(x, 1), opaque('range(0, 3)'), opaque(\"b'by'\")"};
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        fn(c, g, "torch.add", calls[i]);
    fn(c, g, "torch.add", "[opaque('P(a=x, b=1)')]"); /* what Python writes there names nothing */
    fn(c, g, "torch.add", "dim=-1, keepdim=True, nt=P(x, 2)");
    fn(c, g, "torch.add", "x, dim=-1");
    fn(c, g, "torch.add", "opaque('tensor([1., 2.])')");
    fn(c, g, "torch.add", "opaque('<function userfn at 0x...>'), opaque(\"<class 'int'>\")");
    fn(c, g, "torch.add", "0");
    show(c, g);
    instead(c, "add(_function_userfn_at_0x_, int)",
            "add(<function userfn at 0x...>, <class 'int'>)", "functions and types have names");
    instead(c, ", '_function_userfn_at_0x_', 'int']", "]", "so they are globals");
    instead(c, "torch.Size([1, 2])", "(1, 2)", "a size stays one: 1.13 makes it a plain tuple");
}

static void code_free(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    input(c, g, "y", NULL);
    input(c, g, "unused", NULL);
    fn(c, g, "torch.add", "x, y, alpha=x");
    fn(c, g, "torch.cat", "[add, y, x]");
    fn(c, g, "torch.relu", "cat");
    fn(c, g, "torch.neg", "add");
    fn(c, g, "torch.max", "cat, other=neg, z=add");
    fn(c, g, "torch.sin", "max_1");
    attr(c, g, "w");
    mod(c, g, "m", "max_1, w");
    output(c, g, "(m, max_1)");
    show(c, g);
}

static void typed_output(fxcase *c, fxs_graph *g, const char *value, const char *type) {
    fxs_node *n;
    OK(c, create(c, g, FXS_OUTPUT, "output", value, NULL, type, &n));
}

static void code_placeholders(fxcase *c) {
    fxs_graph *g = new_graph(c);
    typed_input(c, g, "a", "torch.Tensor", NULL);
    input(c, g, "b", "None");
    typed_input(c, g, "c", "int", "3");
    input(c, g, "d", "torch.float32");
    input(c, g, "input", NULL);
    typed_input(c, g, "t", "typing.Optional[torch.Tensor]", "None");
    input(c, g, "*args", NULL);
    input(c, g, "**kwargs", NULL);
    typed_output(c, g, "(a, input_1, _args, _kwargs)", "typing.Tuple[torch.Tensor, ...]");
    show(c, g);
    put_graph(c, g);
}

static void code_placeholder_self(fxcase *c) {
    for (int i = 0; i < 2; i++) {
        fxs_graph *g = new_graph(c);
        input(c, g, i ? "x" : "self", NULL);
        input(c, g, i ? "self" : "x", NULL);
        output(c, g, "(self, x)");
        show(c, g);
    }
}

static void code_placeholder_late(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "torch.relu", "x");
    input(c, g, "y", NULL);
    output(c, g, "(relu, y)");
    show(c, g);
}

static void code_empty(fxcase *c) {
    static const char *const outputs[] = {NULL, NULL, "None", "'s'"};
    for (size_t i = 0; i < 4; i++) {
        fxs_graph *g = new_graph(c);
        if (i == 1)
            input(c, g, "x", NULL);
        if (outputs[i])
            output(c, g, outputs[i]);
        show(c, g);
        if (i == 3) {
            char *code;
            OK(c, fxs_graph_python_code(g, 0, &code, NULL));
            fxs_value v = own_value(c, make_str(c->ctx, code));
            put_value(c, &v);
            put(c, "\n");
            fxs_free(code);
        }
    }
}

static void code_multi_output(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    output(c, g, "x");
    fn(c, g, "torch.relu", "x");
    output(c, g, "relu");
    show(c, g);
    put_graph(c, g);
}

static void code_wrapped(fxcase *c) {
    fxs_graph *g = new_graph(c);
    char *code;
    input(c, g, "x", NULL);
    fn(c, g, "__main__.userfn", "x")->wrapped = true; /* set by those who build graphs */
    fn(c, g, "builtins.len", "userfn")->wrapped = true;
    fn(c, g, "math.sqrt", "len_1")->wrapped = true;
    output(c, g, "sqrt");
    show(c, g);
    OK(c, fxs_graph_python_code(g, 0, &code, NULL));
    code[60] = '\0';
    fxs_value v = own_value(c, make_str(c->ctx, code));
    put_value(c, &v);
    put(c, "\n");
    fxs_free(code);
}

static void code_conflict(fxcase *c) {
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    input(c, g, "x", NULL);
    OK(c, create(c, g, FXS_CALL_FUNCTION, "torch.relu", "x", "math_sqrt", NULL, &n));
    fn(c, g, "math.sqrt", "math_sqrt");
    fn(c, g, "math.sqrt", "sqrt");
    OK(c, create(c, g, FXS_CALL_FUNCTION, "torch.relu", "sqrt_1", "typing_List", NULL, &n));
    OK(c,
       create(c, g, FXS_CALL_FUNCTION, "torch.relu", "typing_List", NULL, "typing.List[int]", &n));
    output(c, g, "relu");
    show(c, g);
    put_names(c, g);
    put(c, "\n");
    g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "math.sqrt", "x");
    OK(c, create(c, g, FXS_CALL_FUNCTION, "torch.relu", "sqrt", "math_sqrt", NULL, &n));
    output(c, g, "math_sqrt");
    show(c, g);
}

static void code_types(fxcase *c) {
    static const struct {
        fxs_kind kind;
        const char *target, *args, *type;
    } nodes[] = {
        {FXS_CALL_FUNCTION, "torch.relu", "x", "torch.Tensor"},
        {FXS_CALL_METHOD, "m", "relu", "typing.Dict[str, typing.List[__main__.UserT]]"},
        {FXS_CALL_MODULE, "mm", "m", "typing.Tuple[torch.Tensor, int]"},
        {FXS_GET_ATTR, "q", "", "torch.nn.parameter.Parameter"},
        {FXS_CALL_FUNCTION, "operator.add", "mm, q", "typing.Optional[float]"},
        {FXS_CALL_FUNCTION, "builtins.getattr", "add, 'shape'", "torch.Size"},
        {FXS_CALL_FUNCTION, "operator.iadd", "x, relu", "int"},
        {FXS_CALL_FUNCTION, "torch.relu", "x", "()"},
    };
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    typed_input(c, g, "x", "typing.List[torch.Tensor]", NULL);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        OK(c, create(c, g, nodes[i].kind, nodes[i].target, nodes[i].args, NULL, nodes[i].type, &n));
    typed_output(c, g, "relu_1", "typing.Tuple[int, ...]");
    show(c, g);
    put_graph(c, g);
}

static void code_verbose(fxcase *c) {
    static const struct {
        const char *target, *arg, *trace;
    } nodes[] = {
        {"torch.relu", "x", "  File \"/u/model.py\", line 12, in forward\n    y = torch.relu(x)\n"},
        {"torch.neg", "relu",
         "  File \"/u/model.py\", line 12, in forward\n    y = torch.relu(x)\n"},
        {"torch.abs", "neg", NULL},
        {"torch.abs", "abs_1", NULL},
        {"torch.abs", "abs_2",
         "Module stack: {}\nGradient addition node\n  File \"<x y>.py\", line 3, in <module>\n"
         "    zz\nextra"},
        {"torch.abs", "abs_3", "no file line"},
    };
    fxs_graph *g = new_graph(c);
    char *text;
    input(c, g, "x", NULL);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        fn(c, g, nodes[i].target, nodes[i].arg)->stack_trace = nodes[i].trace;
    output(c, g, "abs_4");
    OK(c, fxs_graph_python_code(g, FXS_CODE_VERBOSE, &text, NULL));
    put(c, "%s\n", text);
    fxs_free(text);
}

/* ---- traced with fixed arguments
 * --------------------------------------------------------------------------------------------- */

static fxs_module *fixed(fxcase *c, const char *signature, fxs_forward_fn *f, const char *values) {
    fxs_module *m;
    OK(c, fxs_trace_function(c->ctx, "f", signature, f, NULL,
                             &(fxs_trace_options){.concrete_args = values}, &m));
    return own(c, m);
}

static void run(fxcase *c, fxs_module *m, const char *ok, const char *args) {
    fxs_interpreter *it;
    fxs_value in = py(c, fxs_module_graph(m), args), out;
    OK(c, fxs_interpreter_new(m, NULL, &it));
    fxs_status s = fxs_interpreter_run(it, in.u.seq->items, in.u.seq->len, &out);
    if (s == FXS_OK) {
        put(c, "%s", ok);
        put_value(c, &out);
        put(c, "\n");
        fxs_value_unref(&out);
    } else {
        char *end = strstr((char *)fxs_ctx_error(c->ctx), "\n\nWhile executing");
        *end = '\0';

        assert_int_equal(strncmp(fxs_ctx_error(c->ctx), "assert: ", 8), 0);
        put(c, "AssertionError: %s\n", fxs_ctx_error(c->ctx) + 8);
        fxs_ctx_clear(c->ctx);
    }
    fxs_interpreter_free(it);
}

static fxs_proxy a_or_twice(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_truth(fxs_eq(x[1], fxs_b(true))) ? x[0] : fxs_mul(x[0], 2);
}

static fxs_proxy a_if_b_is_none(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return x[1].kind == FXS_P_VALUE && x[1].u.value.tag == FXS_V_NONE ? x[0] : x[1];
}

static void code_concrete(fxcase *c) {
    static const char h[] = "a, b=None, c=1.5, d='s', e=True, n=3";
    fxs_module *m = fixed(c, "a, b", a_or_twice, "b=False"), *none = NULL;
    put_both(c, m);
    run(c, m, "OK ", "(3, False)");
    run(c, m, "OK ", "(3, True)");
    python_lines(c, 1, "Python's call of forward: the interpreter says which input is missing");
    m = fixed(c, h, a_if_b_is_none, "b=None, c=1.5, d='s', e=True");
    put_both(c, m);
    run(c, m, "OK ", "(3,)");
    python_lines(c, 1, "an object of a class of Python's");
    fxs_tensor *two = random_tensor(c->ctx, FXS_FLOAT32, SIZES(2), 1);
    fxs_status s = fxs_trace_function(c->ctx, "h", h, a_if_b_is_none, NULL,
                                      &(fxs_trace_options){.concrete_args = "b=TENSOR",
                                                           .concrete_tensors = &two,
                                                           .nconcrete_tensors = 1},
                                      &m);
    fxs_tensor_unref(two);
    OK(c, s);
    put_both(c, own(c, m));
    refused(c,
            fxs_trace_function(c->ctx, "h", h, a_if_b_is_none, NULL,
                               &(fxs_trace_options){.concrete_args = "PH, None, 1.5"}, &none),
            "RuntimeError");
    instead(c, "RuntimeError: in h.forward: ", "RuntimeError: ", "it says where");
    put_both(c, fixed(c, h, a_if_b_is_none, "PH, None, 1.5, 's', True, PH"));
    put_graph(c, fxs_module_graph(fixed(c, h, a_if_b_is_none, "a=torch.float32")));
    put_graph(c, fxs_module_graph(fixed(c, h, a_if_b_is_none, "zzz=1")));
    python_lines(c, 2, "the library never prints");
}

/* sum(x.values()) */
static fxs_proxy sum_of_values(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy out = fxs_i(0);
    out = fxs_add(out, fxs_index(x[0], "a"));
    out = fxs_add(out, fxs_index(x[0], "b"));
    out = fxs_add(out, fxs_index(x[0], "c"));
    return out;
}

static fxs_proxy dict_of_parts(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy s = fxs_add(fxs_index(x[0], 0), fxs_index(x[1], "k"));
    return FXS_DICT("s", s, "t", FXS_TUPLE(x[2], fxs_index(x[0], 1)));
}

static fxs_proxy times_w(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy first = fxs_mul(fxs_index(x[0], 0), fxs_attr(self, "w"));
    return FXS_LIST(first, x[1]);
}

static void code_pytree(fxcase *c) {
    static const char parts[] = "a=(PH, [PH]), b={'k': PH}";
    fxs_module *m = fixed(c, "x", sum_of_values, "x={'a': PH, 'b': PH, 'c': PH}"), *traced;
    put_both(c, m);
    run(c, m, "", "({'a': 1, 'b': 2, 'c': 4},)");
    python_lines(c, 1, "a TreeSpec is an object of Python's");
    python_lines(c, 1, "a KeyError of Python's");
    run(c, m, "", "({'a': 1, 'b': 2, 'c': 4, 'd': 8},)");
    python_lines(c, 1, "1.13's code for a default beside trees does not compile");
    put_both(c, fixed(c, "a, b, c=2", dict_of_parts, parts));
    instead(c, "def forward(self, a, b, c = 2):\n    a_1, a_2, b_1, c, =",
            "def forward(self, a, b, c):\n    a_1, a_2, b_1, c = 2, =", "it compiles");
    m = fixed(c, "a, b, c", dict_of_parts, parts);
    put_both(c, m);
    python_lines(c, 1, "TreeSpecs");
    run(c, m, "OK ", "((1, [2]), {'k': 3}, 4)");
    python_lines(c, 2, "Python's call of forward; methods of the graph's codegen");
    fxs_module *root = fxs_nn(c->ctx, "M");
    fxs_nn_parameter(root, "w", "float32[1]");
    fxs_nn_forward(root, "a, b", times_w, NULL);
    OK(c, fxs_trace(c->ctx, own(c, root), &(fxs_trace_options){.concrete_args = "a=[PH, 5]"},
                    &traced));
    put_both(c, own(c, traced));
    run(c, traced, "OK ", "([1, 5], 2)");
    instead(c, "[float32[1], 2]", "[tensor([1.], grad_fn=<MulBackward0>), 2]",
            "a tensor is written by its form");
    run(c, traced, "OK ", "([1, 6], 2)");
}

/* ---- on_generate_code */

typedef struct insertion {
    fxcase *c;
    const char *before, *behind;
    fxs_code_transform inner;
} insertion;

static fxs_status insert_lines(void *user, const char *body, fxs_put_fn *give, void *out) {
    const insertion *i = user;
    give(out, i->before);
    fxs_status s = FXS_OK;
    if (i->inner.fn)
        s = i->inner.fn(i->inner.user, body, give, out);
    else
        give(out, body);
    give(out, i->behind);
    if (i->before)
        assert_string_equal(body, "relu = torch.relu(x);  x = None\nadd = relu + 1;  relu = None\n"
                                  "return add\n");
    return s;
}

static fxs_status refuse_code(void *user, const char *body, fxs_put_fn *give, void *out) {
    give(out, body);
    return user ? FXS_EINVAL : FXS_OK;
}

LAMBDA(relu_plus_1, fxs_add(T("relu", x[0]), 1))

static void code_on_generate(fxcase *c) {
    fxs_graph *g = fxs_module_graph(trace_c(c, "x", relu_plus_1));
    insertion hi = {.before = "print(\"hi\")\n"}, tail = {.behind = "# tail\n"},
              tail2 = {.behind = "# tail2\n"};
    char *code;
    python_lines(c, 1, "the body is one text here, no list of pieces; compared where it is given");
    fxs_code_transform was = fxs_graph_on_generate_code(g, (fxs_code_transform){insert_lines, &hi});
    put_code(c, g);
    fxs_graph_on_generate_code(g, was);
    put_code(c, g);
    tail.inner = fxs_graph_on_generate_code(g, (fxs_code_transform){insert_lines, &tail});
    put_code(c, g);
    tail2.inner = fxs_graph_on_generate_code(g, (fxs_code_transform){insert_lines, &tail2});
    put_code(c, g);
    fxs_graph_on_generate_code(g, (fxs_code_transform){refuse_code, g});
    assert_int_equal(fxs_graph_python_code(g, 0, &code, NULL), FXS_EINVAL);
    assert_null(code);
    fxs_ctx_clear(c->ctx);
}

const fxcase_row fx_code_rows[] = {
    {"code_infix", code_infix, NULL},
    {"code_getitem", code_getitem, NULL},
    {"code_getattr", code_getattr, NULL},
    {"code_targets", code_targets, NULL},
    {"code_functions", code_functions, NULL},
    {"code_args", code_args, NULL},
    {"code_free", code_free, NULL},
    {"code_placeholders", code_placeholders, NULL},
    {"code_placeholder_self", code_placeholder_self, NULL},
    {"code_placeholder_late", code_placeholder_late, NULL},
    {"code_empty", code_empty, NULL},
    {"code_multi_output", code_multi_output, NULL},
    {"code_wrapped", code_wrapped, NULL},
    {"code_conflict", code_conflict, NULL},
    {"code_types", code_types, NULL},
    {"code_verbose", code_verbose, NULL},
    {"code_concrete", code_concrete, NULL},
    {"code_pytree", code_pytree, NULL},
    {"code_on_generate", code_on_generate, NULL},
    {0},
};
