/* fx_names.c: the scripts names_*: how nodes get their names. */
#include "fxcase.h"

static void quoted(fxcase *c, const char *text) {
    fxs_value v = own_value(c, make_str(c->ctx, text));
    put_value(c, &v);
}

static void names_namespace(fxcase *c) {
    static const char *const candidates[] = {
        "x",      "x",         "x_1",       "x",       "x_1",     "y_0",     "y_0",    "y",
        "z_007",  "z_7",       "1abc",      "1",       "a.b",     "a-b.c d", "main.0", "é",
        "_",      "_",         "__x__",     "foo_1_1", "foo_1_1", "foo_1",   "x_9",    "x_10",
        "x_9",    "sum",       "sum",       "max",     "input",   "None",    "class",  "self",
        "lambda", "match",     "getattr",   "torch",   "device",  "inf",     "nan",    "NoneType",
        "pytree", "fx_pytree", "copyright", "abs_1",   "abs"};
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        OK(c, create(c, g, FXS_GET_ATTR, "w", "", candidates[i], NULL, &n));
        quoted(c, candidates[i]);
        put(c, " -> %s\n", fxs_node_name(n));
    }
    OK(c, create(c, g, FXS_GET_ATTR, "w", "", "", NULL, &n));
    assert_string_equal(fxs_node_name(n), "_unnamed");
    python_lines(c, 1, "an empty candidate becomes _unnamed, as in 2.x, in place of a fault");
}

/* `a` is the script's way: names of a namespace that knows objects. */
static void names_obj(fxcase *c) {
    static const struct {
        const char *name;
        bool own;
    } asked[] = {{"abs", true}, {"abs", false}, {"inf", true}, {"inf", false}, {"torch", true}};
    fxs_map used = {0};
    fxs_arena a = {0};
    for (size_t i = 0; i < 5; i++) {
        const char *name;
        OK(c, fxs_name_unique(c->ctx, &a, &used, asked[i].name, strlen(asked[i].name), asked[i].own,
                              &name));
        put(c, i ? " %s" : "%s", name);
        if (i == 0)
            python_text(c, " abs", "an object that has a name keeps it: C has no such objects");
    }
    put(c, "\n");
    fxs_map_free(&used);
    fxs_arena_clear(&a);
}

static void names_snake(fxcase *c) {
    static const char *const texts[] = {
        "PascalCase", "ALL_CAPS", "camelCase", "MyHTTPServer", "main.0", "layer1.BatchNorm2d",
        "Conv2d",     "conv2dBN", "ABc",       "aB",           "a1B",    "A",
        "_A",         "FooBAR",   "__Foo_",    "relu6",        "aBcD",   "x.yZ"};
    fxs_arena a = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        /* as a target, __Foo__ would lose its underscores */
        const char *behind = strcmp(texts[i], "__Foo_") == 0 ? "_" : "";
        put(c, "'%s%s' -> '%s%s'\n", texts[i], behind,
            fxs_name_candidate(&a, FXS_GET_ATTR, texts[i]), behind);
    }
    python_lines(c, 1, "letters beyond ASCII become _ in a name, whatever their case");
    fxs_arena_clear(&a);
}

static void names_target(fxcase *c) {
    static const char *const targets[] = {"__call__", "__add__",           "____",
                                          "____a",    "layer1.0.Conv2dBN", "_foo"},
                             *const functions[] = {"_operator.add",
                                                   "torch.sum",
                                                   "torch.nn.functional.interpolate",
                                                   "__main__.Pair",
                                                   "__main__.<lambda>",
                                                   "getattr",
                                                   "_operator.and_",
                                                   "_operator.or_",
                                                   "math.sqrt"},
                             *const overloads[] = {"torch.ops.aten.add",
                                                   "torch.ops.aten.add.Tensor"};
    fxs_arena a = {0};
    for (size_t i = 0; i < 6; i++)
        put(c, "'%s' -> %s\nOK None\n", targets[i],
            fxs_name_candidate(&a, FXS_CALL_METHOD, targets[i]));
    for (size_t i = 0; i < 9; i++)
        put(c, "%s -> %s\nOK None\n", functions[i],
            fxs_name_candidate(&a, FXS_CALL_FUNCTION, functions[i]));
    python_lines(c, 1, "a function without a qualified name can't be a target here");
    for (size_t i = 0; i < 2; i++)
        put(c, "%s -> %s\nOK None\n", overloads[i],
            fxs_name_candidate(&a, FXS_CALL_FUNCTION, overloads[i]));
    python_lines(c, 1, "functools.partial is an object of Python");
    fxs_arena_clear(&a);
}

static fxs_proxy names_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "main", x[0]), z = fxs_call(self, "main", y);
    fxs_proxy a = T("sum", z), b = fxs_method(z, "sum"), f = fxs_method(z, "float"),
              d = fxs_method(z, "type", fxs_d(FXS_FLOAT32)), e = fxs_method(z, "abs");
    fxs_proxy sum = fxs_call(self, "Head", z);
    sum = fxs_add(sum, fxs_call(self, "bN", z));
    return fxs_add(fxs_add(fxs_add(fxs_add(fxs_add(fxs_add(sum, x[1]), a), b), f), d), e);
}

static void names_graph(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M"), *seq = fxs_nn_add(m, "main", "Sequential()");
    fxs_nn_add(seq, NULL, "Linear(2, 2)");
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_add(m, "Head", "Linear(2, 2)");
    fxs_nn_add(m, "bN", "BatchNorm1d(2)");
    fxs_nn_forward(m, "input, x_1, self_=1", names_forward, NULL);
    put_both(c, trace_m(c, m));
}

static void names_erase_noreuse(fxcase *c) {
    static const char *const names[] = {NULL, "relu_5", NULL, "relu_5", "MyName"};
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    input(c, g, "x", NULL);
    OK(c, fxs_graph_erase_node(g, fn(c, g, "torch.relu", "x")));
    for (size_t i = 0; i < 5; i++)
        OK(c, create(c, g, FXS_CALL_FUNCTION, "torch.relu", "x", names[i], NULL, &n));
    put_names(c, g);
    put(c, "\n");
}

const fxcase_row fx_names_rows[] = {
    {"names_namespace", names_namespace, NULL},
    {"names_obj", names_obj, NULL},
    {"names_snake", names_snake, NULL},
    {"names_target", names_target, NULL},
    {"names_graph", names_graph, NULL},
    {"names_erase_noreuse", names_erase_noreuse, NULL},
    {0},
};
