/* fx_pass.c: the scripts normalize, split_mod, tools: passes over graphs. */
#include "fxcase.h"

#define FN(name, ...) fxs_function(self, "torch.nn.functional." name, __VA_ARGS__)

static fxs_proxy many_calls(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy in = x[0], sum = FN("relu", fxs_call(self, "conv", in));
    sum = fxs_add(sum, T("add", in, 1));
    sum = fxs_add(sum, T("sum", in, 1));
    sum = fxs_add(sum, fxs_method(in, "view", -1));
    sum = fxs_add(sum, T("cat", FXS_LIST(in, in), 1));
    sum = fxs_add(sum, FN("max_pool2d", in, 2));
    sum = fxs_add(sum, T("relu", in));
    sum = fxs_add(sum, T("conv2d", in, in, FXS_NONE, 1));
    sum = fxs_add(sum, T("transpose", in, 0, 1));
    sum = fxs_add(sum, T("clamp", in, 0));
    sum = fxs_add(sum, T("flatten", in, 1));
    return fxs_add(sum, T("softmax", in, 1));
}

/* "ArgsKwargsPair(args=(x,), kwargs={})", or None. */
static void put_normalized(fxcase *c, const fxs_node *n, unsigned flags) {
    fxs_value args, kwargs;
    bool known;
    OK(c, fxs_node_normalized_arguments(n, flags, &args, &kwargs, &known));
    if (!known) {
        put(c, "None\n");
        return;
    }
    put(c, "ArgsKwargsPair(args=");
    put_value(c, &args);
    put(c, ", kwargs=");
    put_value(c, &kwargs);
    put(c, ")\n");
}

/* 1.13 calls the schema of most functions ambiguous; here the operator's own decides. */
static bool is_ambiguous(const char *name) {
    static const char *const names[] = {"add",       "sum_1", "cat",    "conv2d",
                                        "transpose", "clamp", "softmax"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void normalize(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M");
    fxs_nn_add(m, "conv", "Conv2d(1, 1, 1)");
    fxs_nn_forward(m, "x", many_calls, NULL);
    fxs_graph *g = fxs_module_graph(trace_m(c, m));
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        const char *name = fxs_node_name(n);
        for (int k = 0; k < 2; k++) {
            if (is_ambiguous(name)) {
                bool short_text = strcmp(name, "add") == 0 || strcmp(name, "cat") == 0 ||
                                  strcmp(name, "transpose") == 0 || strcmp(name, "softmax") == 0;
                python_lines(c, short_text ? 3 : 2, "the operator's schema decides");
                continue;
            }
            put(c, "%s %s ", name, k ? "True" : "False");
            /* the flag that 1.13 takes and ignores */
            put_normalized(c, n, FXS_NORMALIZE_DEFAULTS);
        }
    }
    /* normalize_function, by calls of a graph's own */
    python_lines(c, 3, "the signature of a function of Python's");
    static const struct {
        const char *target, *args, *ours, *theirs;
    } calls[] = {
        {"torch.relu", "y", "{'input': y}", "{'input': 1}"},
        {"torch.flatten", "y, 1", "{'input': y, 'start_dim'", "{'input': 1, 'start_dim'"},
        {"torch.nn.functional.interpolate", "y, 2", "{'input': y, 'size'", "{'input': 1, 'size'"}};
    g = new_graph(c);
    input(c, g, "y", NULL);
    for (size_t i = 0; i < 3; i++) {
        put_normalized(c, fn(c, g, calls[i].target, calls[i].args),
                       FXS_NORMALIZE_DEFAULTS | FXS_NORMALIZE_KEYWORDS);
        instead(c, calls[i].ours, calls[i].theirs, "a number is no tensor: a node stands for it");
        if (i == 0)
            python_lines(c, 17, "the operator's schema decides; what a tensor's values print");
    }
}

/* ---- split_module
 * --------------------------------------------------------------------------------------------- */

static fxs_proxy two_linears(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy low = FXS_KW("min", 0.0), high = FXS_KW("max", 1.0), param = fxs_attr(self, "param");
    fxs_proxy z = fxs_call(self, "linear", fxs_add(x[0], param));
    z = fxs_method(z, "clamp", low, high);
    fxs_proxy w = fxs_call(self, "linear", x[1]);
    w = fxs_method(w, "clamp", low, high);
    return fxs_add(z, w);
}

static fxs_module *my_module(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "MyModule");
    fxs_nn_parameter(m, "param", "float32[3, 4]");
    fxs_nn_add(m, "linear", "Linear(4, 5)");
    fxs_nn_forward(m, "x, y", two_linears, NULL);
    return trace_m(c, m);
}

static fxs_status by_turns(void *user, const fxs_node *n, int64_t *part) {
    int64_t *next = user;
    (void)n;
    *part = (*next)++ % 3;
    return FXS_OK;
}

static fxs_status by_name(void *user, const fxs_node *n, int64_t *part) {
    const char *name = fxs_node_name(n);
    (void)user;
    *part = strcmp(name, "add") == 0 || strcmp(name, "clamp") == 0 ? 0
            : strcmp(name, "linear") == 0                          ? 1
                                                                   : 2;
    return FXS_OK;
}

static fxs_status all_in_one(void *user, const fxs_node *n, int64_t *part) {
    (void)user;
    (void)n;
    *part = 0;
    return FXS_OK;
}

static void split_mod(fxcase *c) {
    static const char *const parts[] = {"submod_0", "submod_1", "submod_2"};
    fxs_module *out;
    int64_t next = 0;
    OK(c, fxs_split_module(my_module(c), by_turns, &next, &out));
    put_module(c, own(c, out));
    python_lines(c, 1, "the layers' old paths: a layer is the same object in the part");
    for (size_t i = 0; i < 3; i++) {
        put(c, "%s ", parts[i]);
        put_code(c, fxs_module_graph(fxs_module_find(out, parts[i])));
    }
    refused(c, fxs_split_module(my_module(c), by_name, NULL, &out), "RuntimeError");
    OK(c, fxs_split_module(my_module(c), all_in_one, NULL, &out));
    put_module(c, own(c, out));
}

LAMBDA(neg_of_relu, T("neg", T("relu", x[0])))

static void tools(fxcase *c) {
    fxs_module *m = trace_c(c, "x", neg_of_relu);
    fxs_graph *g = fxs_module_graph(m);
    OK(c, fxs_node_append(node(g, "x"), node(g, "neg")));
    refused(c, fxs_graph_lint(g), "RuntimeError");
    put_graph(c, g);
    OK(c, fxs_pass_run(m, "legalize", NULL));
    put_graph(c, g);
    fxs_value args = py(c, g, "(neg,)");
    OK(c, fxs_node_set_args(node(g, "relu"), &args, NULL));
    refused(c, fxs_pass_run(m, "legalize", NULL), "RuntimeError");
    instead(c, "pass legalize: Input", "Input", "it says which pass");
}

const fxcase_row fx_pass_rows[] = {
    {"normalize", normalize, NULL},
    {"split_mod", split_mod, NULL},
    {"tools", tools, NULL},
    {0},
};
