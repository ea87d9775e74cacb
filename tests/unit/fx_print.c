/* fx_print.c: the scripts print_*: how graphs, nodes, arguments, targets and types are written. */
#include "fxcase.h"

static fxs_node *typed(fxcase *c, fxs_graph *g, fxs_kind kind, const char *target, const char *args,
                       const char *type) {
    fxs_node *n;
    OK(c, create(c, g, kind, target, args, NULL, type, &n));
    return n;
}

static void print_all_ops(fxcase *c) {
    fxs_graph *g = new_graph(c);
    typed_input(c, g, "x", "torch.Tensor", NULL);
    input(c, g, "y", "None");
    typed_input(c, g, "z", "int", "3");
    input(c, g, "*args", NULL);
    input(c, g, "**kwargs", NULL);
    attr(c, g, "lin.weight");
    typed(c, g, FXS_GET_ATTR, "lin.bias", "", "torch.Tensor");
    fn(c, g, "torch.add", "x, y, alpha=2");
    typed(c, g, FXS_CALL_FUNCTION, "operator.add", "add, 1", "typing.List[torch.Tensor]");
    method(c, g, "view", "add_1, -1, 2");
    mod(c, g, "net.0", "view");
    fn(c, g, "builtins.getattr", "net_0, 'shape'");
    typed(c, g, FXS_CALL_FUNCTION, "__main__.userfn", "getattr_1", "__main__.UserT");
    typed(c, g, FXS_CALL_FUNCTION, "__main__.<lambda>", "userfn", "'str_annot'");
    fn(c, g, "__main__.UserT", "");
    typed(c, g, FXS_CALL_FUNCTION, "math.sqrt", "2.0", "typing.Optional[int]");
    fn(c, g, "torch.ops.aten.relu.default", "_lambda_");
    fn(c, g, "torch.ops.aten.relu", "relu_default");
    typed(c, g, FXS_OUTPUT, "output", "{'r': [relu, (x,)], 's': 'txt'}",
          "typing.Dict[str, typing.Any]");
    put_graph(c, g);
}

static void print_args(fxcase *c) {
    static const char *const calls[] = {
        "",
        "x",
        "(x,)",
        "[x]",
        "[]",
        "()",
        "[(x,), [x, [x]], {}]",
        "{'k': x, 'm': {'n': (x, 1)}}",
        "{1: x, (1, 2): 2}",
        "slice(None)",
        "slice(x, None, 2)",
        "(slice(1, x), ..., None)",
        "[slice(0, x, None)]",
        "True, False, None, ...",
        "1.0, 1e-05, 1e16, 1e15, 123456789.0, 0.1, inf, -inf, nan, -0.0, 2+3j, "
        "100000000000000000000",
        "'str', \"it's\", 'a\"b', 'new\\nline', ''",
        "['str', {'k': 'v'}]",
        "torch.float32, torch.bool, torch.int64, torch.bfloat16",
        "device('cpu'), device('cuda:0'), device('cuda')",
        "torch.channels_last, torch.contiguous_format, torch.preserve_format, torch.strided, "
        "torch.sparse_coo, torch.qint8, torch.per_tensor_affine",
        "Size(1, 2), P(x, 1), opaque('range(0, 3)'), opaque(\"b'by'\"), opaque('frozenset({1})')",
        "opaque('<function userfn at 0x...>'), opaque('<built-in method add of type object at "
        "0x...>'), opaque('<built-in function add>'), opaque(\"<class '__main__.UserT'>\"), "
        "opaque(\"<class 'int'>\"), opaque(\"<class 'torch.nn.modules.activation.ReLU'>\")",
        "opaque('tensor([1., 2.])')",
        "x, dim=-1, keepdim=True, out=None, name='q', lst=[x]"};
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        put_node(c, fn(c, g, "torch.add", calls[i]));
}

static void print_output_forms(fxcase *c) {
    static const char *const forms[] = {"x",
                                        "(x,)",
                                        "[x]",
                                        "(x,x)",
                                        "{\"a\":x}",
                                        "None",
                                        "\"s\"",
                                        "1.5",
                                        "(x,\"s\",None,torch.float32,slice(x,1,None))",
                                        "torch.float32",
                                        "()",
                                        "[]",
                                        "{\"a\":[x,{\"b\":x}]}",
                                        "torch.device(\"cuda:1\")",
                                        "(torch.device(\"cuda:1\"),)"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        fxs_graph *g = new_graph(c);
        input(c, g, "x", NULL);
        fxs_node *o = output(c, g, forms[i]);
        put(c, "'%s' =>     ", forms[i]);
        put_node(c, o);
    }
    fxs_graph *g = new_graph(c);
    fxs_node *x = input(c, g, "x", NULL);
    const fxs_value *meta = fxs_node_user_meta(x, NULL);
    assert_null(meta); /* what was never set is empty */
    put(c, "'x.meta' =>     ");
    put_node(c, output(c, g, "{}"));
}

static void print_format_node_names(fxcase *c) {
    fxs_graph *g = new_graph(c);
    fxs_node *x = typed_input(c, g, "x", "torch.Tensor", NULL);
    input(c, g, "y", NULL);
    fxs_node *o = typed(c, g, FXS_OUTPUT, "output", "x", "torch.Tensor");
    python_lines(c, 1, "format_node's lists, with which Graph.__str__ of 1.13 does nothing");
    put_node(c, x);
    c->out.len--;
    python_text(c, " []\n", "format_node's list");
    put_node(c, o);
    c->out.len--;
    python_text(c, " [' -> torch.Tensor']\n", "format_node's list");
    put(c, "%s %s\n", fxs_node_name(x), fxs_node_name(x));
}

static void print_empty(fxcase *c) {
    fxs_graph *g = new_graph(c);
    char *text;
    put_graph(c, g);
    output(c, g, "None");
    put_graph(c, g);
    OK(c, fxs_graph_print(g, 0, &text, NULL));
    text[strlen(text) - 1] = '\0'; /* the C text ends its last line */
    fxs_value v = own_value(c, make_str(c->ctx, text));
    put_value(c, &v);
    put(c, "\n");
    fxs_free(text);
}

static void print_types(fxcase *c) {
    static const char *const types[] = {"torch.Tensor",
                                        "int",
                                        "str",
                                        NULL,
                                        "NoneType",
                                        "list",
                                        "typing.List",
                                        "typing.List[int]",
                                        "typing.Dict[str, torch.Tensor]",
                                        "typing.Optional[torch.Tensor]",
                                        "typing.Union[int, str]",
                                        "typing.Tuple[int, ...]",
                                        "typing.Tuple[()]",
                                        "typing.Any",
                                        "typing.Callable",
                                        "typing.Callable[[int], str]",
                                        "'fwd'",
                                        "__main__.UserT",
                                        "torch.nn.modules.linear.Linear",
                                        "torch.dtype",
                                        "torch.device",
                                        "userfn",
                                        "...",
                                        "list[int]",
                                        "int | str",
                                        "~T",
                                        "__main__.P",
                                        "torch.Size",
                                        "torch.nn.parameter.Parameter",
                                        "typing.Literal['a']",
                                        "1"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        fxs_graph *g = new_graph(c);
        char *text, *code;
        input(c, g, "x", NULL);
        OK(c,
           fxs_node_format(typed(c, g, FXS_CALL_FUNCTION, "torch.relu", "x", types[i]), 0, &text));
        output(c, g, "relu");
        OK(c, fxs_graph_python_code(g, 0, &code, NULL));
        const char *line = code;
        for (int k = 0; k < 4; k++)
            line = strchr(line, '\n') + 1;
        put(c, "%.*s | %s | %.*s\n", (int)strcspn(text, "="), text, types[i] ? types[i] : "None",
            (int)strcspn(line, "\n"), line);
        fxs_free(text);
        fxs_free(code);
    }
}

/* A printed target and the name that a node gets from it. */
static void print_targets(fxcase *c) {
    char *want = strdup(c->want), *save = NULL;
    fxs_arena a = {0};
    for (char *line = strtok_r(want, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *bar = strstr(line, "  |  "), *text;
        fxs_graph *g = new_graph(c);
        input(c, g, "x", NULL);
        *bar = '\0';
        if (strchr(line, ' ')) { /* AttributeError */
            python_lines(c, 1, "a function without a qualified name can't be a target here");
            c->ngraphs--;
            fxs_graph_free(g);
            continue;
        }
        OK(c, fxs_node_format(fn(c, g, line, "x"), 0, &text));
        char *target = strstr(text, "target=") + 7;
        put(c, "%.*s  |  %s\n", (int)strcspn(target, "]"), target,
            fxs_name_candidate(&a, FXS_CALL_FUNCTION, line));
        fxs_free(text);
        c->ngraphs--;
        fxs_graph_free(g);
    }
    free(want);
    fxs_arena_clear(&a);
}

const fxcase_row fx_print_rows[] = {
    {"print_all_ops", print_all_ops, NULL},
    {"print_args", print_args, NULL},
    {"print_output_forms", print_output_forms, NULL},
    {"print_format_node_names", print_format_node_names, NULL},
    {"print_empty", print_empty, NULL},
    {"print_types", print_types, NULL},
    {"print_targets", print_targets, NULL},
    {"print_maxlist", NULL, "a parameter of torch.fx's private _format_arg, for its drawer alone"},
    {"print_custom_repr", NULL, "a function of Python's that stands in for a node's repr"},
    {0},
};
