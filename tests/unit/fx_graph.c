/* fx_graph.c: the scripts graph_*, node_copy_, deepcopy_, lint_, owning, immut, map_agg: whole
 * graphs and what their arguments are made of. */
#include "fxcase.h"

static fxs_graph *six_nodes(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    input(c, g, "y", NULL);
    fn(c, g, "torch.add", "x, y");
    fn(c, g, "torch.relu", "add");
    fn(c, g, "torch.cat", "[add, relu, x], dim=y");
    output(c, g, "cat");
    return g;
}

static fxs_module *sequential(fxcase *c, const char *first, const char *second) {
    fxs_module *seq = fxs_nn(c->ctx, "Sequential()");
    fxs_nn_add(seq, NULL, "%s", first);
    if (second)
        fxs_nn_add(seq, NULL, "%s", second);
    return seq;
}

static fxs_val_map *new_map(fxcase *c, const fxs_graph *of) {
    fxs_val_map *m;
    OK(c, fxs_val_map_new(of, &m));
    return m;
}

static void put_line_of(fxcase *c, const fxs_value *v) {
    put_value(c, v);
    put(c, "\n");
}

static void graph_copy_(fxcase *c) {
    fxs_graph *g = new_graph(c), *h = new_graph(c);
    fxs_node *a, *p;
    fxs_value v;
    input(c, g, "x", NULL);
    input(c, g, "y", NULL);
    OK(c, create(c, g, FXS_CALL_FUNCTION, "torch.add", "x, y", NULL, "torch.Tensor", &a));
    fn(c, g, "torch.relu", "add");
    fn(c, g, "torch.cat", "[add, relu, x], dim=y");
    output(c, g, "cat");
    set_meta(c, a, "m", "[1]");
    input(c, h, "x", NULL);
    fxs_val_map *map = new_map(c, g), *again = new_map(c, g);
    OK(c, fxs_graph_copy_into(h, g, map, &v));
    put_value(c, &v);
    python_text(c, " <class 'torch.fx.node.Node'> ", "a tag in place of Python's type");
    assert_int_equal(v.tag, FXS_V_NODE);
    put_names(c, h);
    put(c, " {");
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (fxs_val_map_get(map, n))
            put(c, "%s'%s': '%s'", n == fxs_graph_first(g) ? "" : ", ", fxs_node_name(n),
                fxs_node_name(fxs_val_map_get(map, n)->u.node));
    put(c, "}\n");
    put_graph(c, h);
    OK(c, fxs_graph_copy_into(h, g, again, &v));
    put(c, "(");
    put_value(c, &v);
    put(c, ", output)\n"); /* return_output_node: the node is where the caller can find it */
    fxs_value old = *fxs_val_map_get(map, node(g, "cat"));
    OK(c, fxs_graph_output(h, &old, &p));
    put_graph(c, h);
    put_meta(c, fxs_val_map_get(map, a)->u.node);
    python_text(c, " False True\n", "which of Python's dicts and lists are one object");
    fxs_val_map_free(map);
    fxs_val_map_free(again);
    h = new_graph(c);
    p = input(c, h, "p", NULL);
    map = new_map(c, g);
    OK(c, fxs_val_map_set(map, node(g, "x"), fxs_of_node(p)));
    OK(c, fxs_val_map_set(map, node(g, "y"), fxs_of_node(p)));
    OK(c, fxs_graph_copy_into(h, g, map, &v));
    put_graph(c, h);
    c->out.len--;
    put(c, " ");
    put_line_of(c, &v);
    fxs_val_map_free(map);
    map = new_map(c, g);
    OK(c, fxs_val_map_set(map, node(g, "x"), fxs_of_node(p)));
    OK(c, fxs_val_map_set(map, node(g, "add"), fxs_of_node(p)));
    other_words(c, fxs_graph_copy_into(new_graph(c), g, map, &v),
                "Argument 'p' of Node 'relu' does not belong to this Graph, but was used as an "
                "argument! If you are copying nodes from another graph, map them in "
                "fxs_graph_node_copy",
                "OK cat");
    fxs_val_map_free(map);
    g = new_graph(c);
    h = new_graph(c);
    input(c, g, "x", NULL);
    map = new_map(c, g);
    OK(c, fxs_graph_copy_into(h, g, map, &v));
    put_value(c, &v);
    put(c, " ");
    put_graph(c, h);
    fxs_val_map_free(map);
    output(c, g, "(x, {'k': x})");
    map = new_map(c, g);
    OK(c, fxs_graph_copy_into(new_graph(c), g, map, &v));
    put_value(c, &v);
    fxs_val_map_free(map);
    python_text(c, " <class 'tuple'>", "a tag in place of Python's type");
    put(c, "\n");
}

static fxs_status mapped(void *user, fxs_node *from, fxs_value *to) {
    const fxs_value *v = fxs_val_map_get(user, from);
    assert_non_null(v);
    *to = *v;
    return FXS_OK;
}

static fxs_status always_five(void *user, fxs_node *from, fxs_value *to) {
    (void)user;
    (void)from;
    *to = fxs_int(5);
    return FXS_OK;
}

static void node_copy_(fxcase *c) {
    fxs_graph *g = six_nodes(c), *h = new_graph(c);
    fxs_node *n;
    other_words(c, fxs_graph_node_copy(h, node(g, "add"), NULL, NULL, &n),
                "Argument 'x' of Node 'add' does not belong to this Graph, but was used as an "
                "argument! If you are copying nodes from another graph, map them in "
                "fxs_graph_node_copy",
                "OK add");
    python_lines(c, 5, "a node of another graph is refused at once, not by lint");
    h = new_graph(c);
    fxs_val_map *map = new_map(c, g);
    for (fxs_node *from = fxs_graph_first(g); from; from = fxs_node_next(from)) {
        OK(c, fxs_graph_node_copy(h, from, mapped, map, &n));
        OK(c, fxs_val_map_set(map, from, fxs_of_node(n)));
    }
    fxs_val_map_free(map);
    put_graph(c, h);
    OK(c, fxs_graph_lint(h));
    python_lines(c, 1, "a mistake in the script itself");
    OK(c, fxs_graph_node_copy(g, node(g, "add"), NULL, NULL, &n));
    put(c, "%s ", fxs_node_name(n));
    put_args(c, n);
    put(c, "\n");
    OK(c, fxs_graph_node_copy(g, node(g, "add"), always_five, NULL, &n));
    put_args(c, n);
    put(c, "\n");
}

static void deepcopy_(fxcase *c) {
    fxs_graph *g = new_graph(c), *d;
    fxs_node *o;
    input(c, g, "x", NULL);
    input(c, g, "y", NULL);
    set_meta(c, fn(c, g, "torch.add", "x, y"), "m", "1");
    fn(c, g, "torch.relu", "add");
    fn(c, g, "torch.cat", "[add, relu, x], dim=y");
    OK(c, create(c, g, FXS_OUTPUT, "output", "cat", NULL, "int", &o));
    OK(c, fxs_graph_deep_copy(g, &d));
    c->graphs[c->ngraphs++] = d;
    put_graph(c, d);
    for (fxs_node *n = fxs_graph_first(d); n; n = fxs_node_next(n)) {
        put(c, n == fxs_graph_first(d) ? "[" : ", ");
        put_meta(c, n);
    }
    put(c, "] ");
    put(c, "<class '%s'> ", fxs_node_type(node(d, "output")));
    put(c, d->owner ? "owned\n" : "None\n");
    for (int i = 0; i < 2; i++) { /* an empty graph, and one without output */
        g = new_graph(c);
        if (i)
            input(c, g, "x", NULL);
        OK(c, fxs_graph_deep_copy(g, &d));
        c->graphs[c->ngraphs++] = d;
        assert_int_equal(fxs_graph_len(d), i);
    }
    python_lines(c, 2, "a graph without output can be copied here");
    fxs_module *gm = trace_m(c, sequential(c, "Linear(2, 2)", "ReLU()")), *copy;
    OK(c, fxs_graph_deep_copy(fxs_module_graph(gm), &d));
    OK(c, fxs_graph_module_new(gm, d, "GraphModule", &copy));
    put_module(c, own(c, copy));
    put(c, "%s\n", fxs_module_class(copy));
    OK(c, fxs_graph_lint(fxs_module_graph(copy)));
    python_lines(c, 1, "a graph has one owner always");
    put_graph(c, fxs_module_graph(copy));
    python_lines(c, 1, "pickle is Python's; fxs_module_print_file keeps a module");
}

static void lint_orders(fxcase *c) {
    static const struct {
        const char *change, *args;
    } cases[] = {{NULL, NULL}, {"args", "(relu,)"}, {"kwargs", "{'k': cat}"}};
    for (size_t i = 0; i < 3; i++) {
        fxs_graph *g = six_nodes(c);
        fxs_node *b = node(g, "relu");
        fxs_value v = fxs_none();
        OK(c, fxs_graph_lint(g));
        if (!cases[i].change)
            OK(c, fxs_node_prepend(node(g, "add"), node(g, "cat")));
        else if ((v = py(c, g, cases[i].args)).tag == FXS_V_TUPLE)
            OK(c, fxs_node_set_args(b, &v, NULL));
        else
            OK(c, fxs_node_set_args(b, fxs_node_args(b), &v));
        refused(c, fxs_graph_lint(g), "RuntimeError");
        put_graph(c, g);
        if (i == 0)
            python_lines(c, 12,
                         "name, kind and graph of a node can't be assigned; a node of another "
                         "graph is refused where it is given (node_copy_, tr_tracers_mix)");
    }
}

/* What a target may be, of a layer's call and of get_attr. */
static void lint_targets(fxcase *c) {
    static const char *const targets[] = {"5", "0.zz.q", "0.weight", "foo"};
    fxs_module *gm = trace_m(c, sequential(c, "Linear(2, 2)", "ReLU()"));
    fxs_graph *g = fxs_module_graph(gm);
    fxs_node *n = node(g, "_0");
    OK(c, fxs_module_add_tensor(gm, "foo", true, FXS_FLOAT32, SIZES(1)));
    for (size_t i = 0; i < 4; i++) {
        OK(c, fxs_node_set_target(n, targets[i]));
        refused(c, fxs_graph_lint(g), "RuntimeError");
    }
    OK(c, fxs_node_set_target(n, "0"));
    BEFORE(c, g, n) n = attr(c, g, "foo"); /* instead of a change of the kind */
    OK(c, fxs_graph_lint(g));
    put(c, "OK None\n");
    OK(c, fxs_node_set_target(n, "0.bias"));
    OK(c, fxs_graph_lint(g));
    put(c, "OK None\n");
    OK(c, fxs_node_set_target(n, "training"));
    assert_int_equal(fxs_graph_lint(g), FXS_ELINT);
    fxs_ctx_clear(c->ctx);
    python_lines(c, 3,
                 "'training' is an attribute of Python's alone; a target is a text always, which "
                 "its kind reads");
}

static void lint_(fxcase *c) {
    lint_orders(c);
    lint_targets(c);
    fxs_module *gm = trace_m(c, sequential(c, "Linear(2, 2)", "ReLU()"));
    fxs_graph *g = fxs_module_graph(gm);
    fn(c, g, "torch.relu", "input_1");
    OK(c, fxs_graph_lint(g));
    put_graph(c, g);
    output(c, g, "input_1");
    OK(c, fxs_graph_lint(g));
    put_graph(c, g);
    g = new_graph(c);
    mod(c, g, "nope", "");
    OK(c, fxs_graph_lint(g));
    put(c, "OK None\n");
    python_lines(c, 3, "the library never prints: what is wrong is an error, the rest is right");
}

static void graph_get_attr_warn(fxcase *c) {
    static const char *const paths[] = {"0.weight", "0", "nope", "nope.x", "plain"};
    fxs_graph *g = fxs_module_graph(trace_m(c, sequential(c, "Linear(2, 2)", "ReLU()")));
    BEFORE(c, g, node(g, "output")) {
        for (size_t i = 0; i < 5; i++)
            put(c, "OK %s\n", fxs_node_name(attr(c, g, paths[i])));
        put(c, "OK %s\n", fxs_node_name(mod(c, g, "0", "")));
    }
    python_lines(c, 2, "what is not there is lint's to say, as of get_attr");
    put_graph(c, g);
    assert_int_equal(fxs_graph_lint(g), FXS_ELINT);
    assert_non_null(strstr(fxs_ctx_error(c->ctx), "Node nope target nope references nonexistent"));
    python_lines(c, 4, "the library never prints: lint says it");
}

/* map_aggregate and map_arg, as the copying functions use them. */
typedef struct mapping {
    fxcase *c;
    size_t seen;
} mapping;

static fxs_status see(void *user, const fxs_value *leaf, fxs_value *out) {
    mapping *m = user;
    put(m->c, m->seen++ ? ", " : "");
    put_value(m->c, leaf);
    *out = fxs_value_ref(*out);
    return FXS_OK;
}

static fxs_status node_to_n(void *user, const fxs_value *leaf, fxs_value *out) {
    (void)leaf;
    if (out->tag == FXS_V_NODE)
        *out = make_str(((mapping *)user)->c->ctx, "N");
    else
        *out = fxs_value_ref(*out);
    return FXS_OK;
}

static fxs_status node_to_name(void *user, const fxs_value *leaf, fxs_value *out) {
    if (leaf->tag == FXS_V_NODE)
        *out = make_str(((mapping *)user)->c->ctx, fxs_node_name(leaf->u.node));
    else
        *out = fxs_value_ref(*out);
    return FXS_OK;
}

static void map_agg(fxcase *c) {
    fxs_graph *g = new_graph(c);
    mapping m = {.c = c};
    fxs_value out;
    input(c, g, "x", NULL);
    fxs_value v = py(c, g,
                     "(1, [x, (2,)], {'k': x, 3: [4]}, slice(x, None, 5), Pt(x, 1), Size(1, 2), "
                     "{'a': 1}, opaque('{1, 2}'), opaque('range(0, 2)'), None, 's')");
    for (size_t i = 0; i < fxs_value_len(&v); i++) {
        const fxs_value *item = fxs_value_item(&v, i);
        OK(c, fxs_value_map(c->ctx, NULL, item, node_to_n, &m, &out));
        put(c, i ? ", " : "(");
        own_value(c, out);
        if (i == 4)
            python_text(c, "Pt(a='N', b=1)", "a named tuple is a plain one");
        else if (i == 5)
            python_text(c, "(1, 2)", "torch.Size stays what it is");
        else
            put_value(c, &out);
    }
    put(c, ")\n[");
    OK(c, fxs_value_map(c->ctx, NULL, &v, see, &m, &out));
    own_value(c, out);
    put(c, "]\n");
    python_lines(c, 2, "Python's types; a function pointer can't be a number");
    v = py(c, g, "[x, 1, {'z': x}]");
    OK(c, fxs_value_map(c->ctx, NULL, &v, node_to_name, &m, &out));
    put_line_of(c, &out);
    own_value(c, out);
    python_lines(c, 1, "Python's types of containers");
}

const fxcase_row fx_graph_rows[] = {
    {"graph_copy_", graph_copy_, NULL},
    {"node_copy_", node_copy_, NULL},
    {"deepcopy_", deepcopy_, NULL},
    {"lint_", lint_, NULL},
    {"graph_get_attr_warn", graph_get_attr_warn, NULL},
    {"owning", NULL, "a graph belongs to the module that took it over: there is no second owner"},
    {"immut", NULL, "methods of Python's lists and dicts: arguments are const here"},
    {"map_agg", map_agg, NULL},
    {0},
};
