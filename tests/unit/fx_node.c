/* fx_node.c: the scripts node_*, graph_*, lint_ and their like: nodes, and what is done to a graph.
 */
#include "fxcase.h"

/* x, y, add(x, y), relu(add), cat([add, relu, x], dim=y), output(cat). */
typedef struct six {
    fxs_graph *g;
    fxs_node *x, *y, *a, *b, *c, *o;
} six;

static six mk(fxcase *c) {
    six s = {.g = new_graph(c)};
    s.x = input(c, s.g, "x", NULL);
    s.y = input(c, s.g, "y", NULL);
    s.a = fn(c, s.g, "torch.add", "x, y");
    s.b = fn(c, s.g, "torch.relu", "add");
    s.c = fn(c, s.g, "torch.cat", "[add, relu, x], dim=y");
    s.o = output(c, s.g, "cat");
    return s;
}

static void put_bool(fxcase *c, bool b) { put(c, b ? "True" : "False"); }

static void node_basic(fxcase *c) {
    six s = mk(c);
    put_args(c, s.c);
    put(c, " ");
    put_kwargs(c, s.c);
    put(c, " ");
    put_inputs(c, s.c);
    put(c, " ");
    put_users(c, s.a);
    put(c, " ");
    put_users(c, s.x);
    put(c, " %zu\n", fxs_node_users(s.x, NULL, 0));
    python_lines(c, 1, "Python's types of containers");
    put(c, "%s ", fxs_node_name(fxs_node_next(s.x)));
    put_bool(c, fxs_node_prev(s.x) == NULL);
    put(c, " ");
    put_bool(c, fxs_node_next(s.o) == NULL);
    put(c, " %s", fxs_node_name(fxs_graph_first(s.g)));
    python_text(c, " root ''\n", "walks end with NULL: the list's sentinel is not seen");
    put(c, "%zu [", fxs_graph_len(s.g));
    for (fxs_node *n = s.o; n; n = fxs_node_prev(n))
        put(c, n == s.o ? "'%s'" : ", '%s'", fxs_node_name(n));
    put(c, "] %s %s ", fxs_node_name(s.o), fxs_node_target(s.o));
    put_args(c, s.o);
    put(c, " %s %s", fxs_kind_name(fxs_node_kind(s.o)),
        fxs_node_type(s.c) ? fxs_node_type(s.c) : "None");
    put(c, " ");
    put_meta(c, s.c);
    put(c, " ");
    put_bool(c, fxs_node_graph(s.c) == s.g);
    put(c, "\n");
    fxs_node *d = fn(c, s.g, "torch.add", "x, x, alpha=x");
    put_inputs(c, d);
    put(c, " ");
    put_users(c, s.x);
    put(c, " %zu\n", fxs_node_users(s.x, NULL, 0));
    put_inputs(c, fn(c, s.g, "torch.add", "(y, [x, {'k': add}], slice(relu, None, cat)), z=add_1"));
    put(c, "\n");
}

static void set_args(fxcase *c, fxs_node *n, const char *args) {
    fxs_value v = py(c, fxs_node_graph(n), args);
    OK(c, fxs_node_set_args(n, &v, fxs_node_kwargs(n)));
}

static void node_assign(fxcase *c) {
    six s = mk(c);
    fxs_value v;
    set_args(c, s.b, "(x,)");
    put_users(c, s.a);
    put(c, " ");
    put_users(c, s.x);
    put(c, " ");
    put_args(c, s.b);
    put(c, "\n");
    v = py(c, s.g, "{'dim': 1, 'k': [relu]}");
    OK(c, fxs_node_set_args(s.c, fxs_node_args(s.c), &v));
    put_kwargs(c, s.c);
    put(c, " ");
    put_users(c, s.y);
    put(c, " ");
    put_users(c, s.b);
    put(c, "\n");
    v = py(c, s.g, "[x]");
    other_words(c, fxs_node_set_args(s.b, &v, NULL), "args must be a tuple", "OK None");
    python_lines(c, 1, "args are a tuple always");
    v = fxs_of_node(s.x);
    other_words(c, fxs_node_set_args(s.b, &v, NULL), "args must be a tuple", "OK None\nx");
    v = fxs_of_node(s.a);
    OK(c, fxs_node_update_arg(s.b, 0, &v));
    put_args(c, s.b);
    put(c, "\n");
    other_words(c, fxs_node_update_arg(s.b, 3, &v),
                "Node relu has 1 arguments, so there is no argument 3",
                "IndexError: list assignment index out of range");
    v = fxs_of_node(s.y);
    OK(c, fxs_node_update_kwarg(s.b, "new", &v));
    put_kwargs(c, s.b);
    put(c, " ");
    put_users(c, s.y);
    put(c, "\n");
    v = fxs_of_node(s.x);
    OK(c, fxs_node_update_arg(s.b, -1, &v));
    put_args(c, s.b);
    put(c, "\n");
    python_lines(c, 16,
                 "__class__() and methods of Python's lists and dicts; arguments are const here");
    fxs_value x = fxs_of_node(s.x), list, args; /* a list that changes once it was given */
    OK(c, fxs_value_list(c->ctx, 1, &x, &list));
    OK(c, fxs_value_tuple(c->ctx, 1, &list, &args));
    own_value(c, list);
    own_value(c, args);
    fxs_node *n;
    OK(c, fxs_graph_call_function(s.g, "torch.cat", &args, NULL, &n));
    list.u.seq->items[0] = fxs_of_node(s.y);
    put_args(c, n);
    put(c, " ");
    put_inputs(c, n);
    put(c, "\n");
}

static void node_move(fxcase *c) {
    six s = mk(c);
#define MOVED(call)                                                                                \
    OK(c, call);                                                                                   \
    put_names(c, s.g);                                                                             \
    put(c, "\n")
    MOVED(fxs_node_prepend(s.a, s.b));
    refused(c, fxs_graph_lint(s.g), "RuntimeError");
    put_graph(c, s.g);
    MOVED(fxs_node_append(s.a, s.b));
    MOVED(fxs_node_append(s.x, s.o));
    MOVED(fxs_node_append(s.o, s.c));
    MOVED(fxs_node_prepend(s.x, s.x));
    MOVED(fxs_node_append(s.x, s.x));
    MOVED(fxs_node_append(s.a, fxs_node_next(s.a)));
#undef MOVED
    refused(c, fxs_node_append(s.a, input(c, new_graph(c), "z", NULL)), "AssertionError");
    python_lines(c, 2, "a move that changes nothing is no error, and the library never prints");
}

static bool is_add(void *user, const fxs_node *candidate) { return candidate == user; }

/* The changed users, in their order. */
static void replaced(fxcase *c, fxs_node *n, fxs_node *with, fxs_node *only) {
    fxs_node *users[8];
    size_t changed, k = fxs_node_users(n, users, 8);
    put(c, "[");
    for (size_t i = 0, shown = 0; i < k; i++)
        if (!only || users[i] == only)
            put(c, shown++ ? ", %s" : "%s", fxs_node_name(users[i]));
    put(c, "]");
    OK(c, fxs_node_replace_all_uses_with(n, with, only ? is_add : NULL, only, false, &changed));
    assert_int_equal(changed, only ? 1 : k);
}

static void node_rauw(fxcase *c) {
    six s = mk(c);
    replaced(c, s.a, s.b, NULL);
    put(c, " ");
    put_args(c, s.b);
    put(c, " ");
    put_args(c, s.c);
    put(c, " ");
    put_users(c, s.a);
    put(c, " ");
    put_users(c, s.b);
    put(c, "\n");
    put_graph(c, s.g);
    s = mk(c);
    replaced(c, s.x, s.y, s.a);
    put(c, " ");
    put_args(c, s.a);
    put(c, " ");
    put_args(c, s.c);
    put(c, " ");
    put_users(c, s.x);
    put(c, " ");
    put_users(c, s.y);
    put(c, "\n");
    s = mk(c);
    other_words(c, fxs_node_replace_all_uses_with(s.a, s.a, NULL, NULL, false, NULL),
                "Node add can't be replaced by itself", "AssertionError: ");
    s = mk(c);
    put(c, "OK ");
    replaced(c, s.a, NULL, NULL);
    put(c, "\n");
    put_args(c, s.b);
    put(c, "\n");
    s = mk(c);
    replaced(c, s.c, s.a, NULL);
    put(c, " ");
    put_args(c, s.o);
    put(c, "\n");
    s = mk(c);
    set_meta(c, s.x, "k", "1");
    OK(c, fxs_node_replace_all_uses_with(s.x, s.y, NULL, NULL, false, NULL));
    put_meta(c, s.y);
    put(c, " %s\n", fxs_node_type(s.y) ? fxs_node_type(s.y) : "None");
}

static void node_replace_input(fxcase *c) {
    six s = mk(c);
    OK(c, fxs_node_replace_input_with(s.c, s.a, s.y));
    put_args(c, s.c);
    put(c, " ");
    put_kwargs(c, s.c);
    put(c, " ");
    put_users(c, s.a);
    put(c, " ");
    put_users(c, s.y);
    put(c, "\n");
    OK(c, fxs_node_replace_input_with(s.c, s.o, s.x));
    put_args(c, s.c);
    put(c, "\n");
}

static void node_erase(fxcase *c) {
    six s = mk(c);
    refused(c, fxs_graph_erase_node(s.g, s.a), "RuntimeError");
    refused(c, fxs_graph_erase_node(s.g, s.x), "RuntimeError");
    OK(c, fxs_graph_erase_node(s.g, s.o));
    OK(c, fxs_graph_erase_node(s.g, s.c));
    put_names(c, s.g);
    put(c, " %zu ", fxs_graph_len(s.g));
    python_text(c, "True", "a flag that the library keeps to itself: an erased node is refused");
    put(c, " ");
    put_args(c, s.c);
    put(c, " ");
    put_kwargs(c, s.c);
    put(c, " ");
    put_users(c, s.a);
    put(c, " ");
    put_bool(c, fxs_node_graph(s.c) == s.g);
    put(c, "\n");
    other_words(c, fxs_graph_erase_node(s.g, s.c), "Node cat is erased already", "OK None");
    python_lines(c, 1, "1.13 counts a node that is erased twice as two");
    OK(c, fxs_graph_erase_node(s.g, s.b));
    OK(c, fxs_graph_erase_node(s.g, s.a));
    OK(c, fxs_graph_erase_node(s.g, s.x));
    put_names(c, s.g);
    put(c, "\n");
    six first = mk(c), second = mk(c);
    other_words(c, fxs_graph_erase_node(second.g, first.o),
                "Attempting to remove output from wrong graph!", "OK None");
    python_lines(c, 1, "1.13 takes the node out of the other graph and counts wrong in this one");
}

static void node_iter_mutation(fxcase *c) {
    six s = mk(c);
    put(c, "[");
    for (fxs_node *n = fxs_graph_first(s.g); n; n = fxs_node_next(n)) {
        put(c, n == s.x ? "'%s'" : ", '%s'", fxs_node_name(n));
        if (n == s.a) {
            OK(c, fxs_graph_inserting_after(s.g, n, NULL));
            fn(c, s.g, "torch.neg", "add");
        }
        if (n == s.b) {
            OK(c, fxs_node_replace_all_uses_with(n, s.a, NULL, NULL, false, NULL));
            OK(c, fxs_graph_erase_node(s.g, n));
        }
    }
    put(c, "] ");
    put_names(c, s.g);
    put(c, "\n");
}

static void node_ctor_errors(fxcase *c) {
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    fxs_value v = fxs_int(3);
    input(c, g, "x", NULL);
    other_words(c, create(c, g, (fxs_kind)17, "t", "", NULL, NULL, &n), "17 is no kind of a node",
                "AssertionError: ");
    python_lines(c, 4, "a target is a text of its kind: a function can't be given for a method");
    refused(c, fxs_graph_create_node(g, FXS_CALL_FUNCTION, "torch.add", &v, NULL, NULL, NULL, &n),
            "AssertionError");
    v = py(c, g, "()");
    refused(c, fxs_graph_create_node(g, FXS_CALL_FUNCTION, "torch.add", NULL, &v, NULL, NULL, &n),
            "AssertionError");
    python_lines(c, 5, "the root is no kind; an empty name becomes _unnamed; a number is no text");
    put_names(c, g);
    put(c, "\n");
    python_lines(c, 1, "an empty name becomes _unnamed, as in 2.x, in place of a fault");
}

static void node_impure(fxcase *c) {
    fxs_module *seq = fxs_nn(c->ctx, "Sequential()");
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_graph *g = fxs_module_graph(trace_m(c, seq)), *g3 = new_graph(c);
    bool impure;
    BEFORE(c, g, node(g, "output")) {
        fn(c, g, "torch._assert", "1, 'm'");
        fn(c, g, "operator.setitem", "input_1, 0, 1");
        method(c, g, "add_", "input_1, 1");
        attr(c, g, "0");
        fn(c, g, "builtins.print", "1");
    }
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        OK(c, fxs_node_is_impure(n, &impure));
        put(c, "%s %s ", fxs_node_name(n), fxs_kind_name(fxs_node_kind(n)));
        put_bool(c, impure);
        put(c, "\n");
    }
    python_lines(c, 2, "the set of functions and a module's _is_impure belong to Python's objects");
    other_words(c, fxs_node_is_impure(mod(c, g3, "m", ""), &impure),
                "graph.owning_module not set for purity check of Node m",
                "AssertionError: self.graph.owning_module not set for purity check");
    g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "torch.relu_", "x");
    output(c, g, "x");
    put_graph(c, g);
    size_t erased;
    OK(c, fxs_graph_eliminate_dead_code(g, &erased));
    put_bool(c, erased > 0);
    put(c, "\n");
    put_graph(c, g);
}

static bool dead_code(fxcase *c, fxs_graph *g) {
    size_t erased;
    OK(c, fxs_graph_eliminate_dead_code(g, &erased));
    return erased > 0;
}

static void node_dce(fxcase *c) {
    six s = mk(c);
    BEFORE(c, s.g, s.o) {
        fn(c, s.g, "torch.neg", "cat");
        method(c, s.g, "foo", "neg");
        attr(c, s.g, "w");
        input(c, s.g, "unused", NULL);
        fn(c, s.g, "torch._assert", "neg, 'x'");
        fn(c, s.g, "operator.iadd", "add, 1");
    }
    put_graph(c, s.g);
    put_bool(c, dead_code(c, s.g));
    put(c, "\n");
    put_graph(c, s.g);
    put_bool(c, dead_code(c, s.g));
    put(c, "\n");
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "torch.relu", "x");
    fn(c, g, "torch.neg", "relu");
    set_args(c, node(g, "relu"), "(neg,)");
    refused(c, fxs_graph_eliminate_dead_code(g, NULL), "RuntimeError");
    put_graph(c, g);
    g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "torch.relu", "x");
    put_bool(c, dead_code(c, g));
    put(c, " ");
    put_names(c, g);
    put(c, "\n");
    fxs_module *seq = fxs_nn(c->ctx, "Sequential()");
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_add(seq, NULL, "Tanh()");
    fxs_module *gm = trace_m(c, seq);
    g = fxs_module_graph(gm);
    set_args(c, node(g, "output"), "(input_1,)");
    put_bool(c, dead_code(c, g));
    put(c, " ");
    put_graph(c, g);
    c->out.len--; /* print(graph, list) puts the list on the last line */
    put(c, " [");
    put(c, fxs_module_find(gm, "0") ? "'0'" : "");
    put(c, fxs_module_find(gm, "1") ? ", '1'" : "");
    put(c, "]\n");
}

static void node_insert_points(fxcase *c) {
    fxs_graph *g = new_graph(c), *g2 = new_graph(c);
    fxs_node *x = input(c, g, "x", NULL), *a = fn(c, g, "torch.relu", "x"),
             *o = output(c, g, "relu");
#define NAMED()                                                                                    \
    put_names(c, g);                                                                               \
    put(c, "\n")
    BEFORE(c, g, a) fn(c, g, "torch.neg", "x"), fn(c, g, "torch.abs", "neg");
    AFTER(c, g, a) fn(c, g, "torch.sin", "relu"), fn(c, g, "torch.cos", "relu");
    NAMED();
    BEFORE(c, g, NULL) input(c, g, "first", NULL), input(c, g, "first2", NULL);
    AFTER(c, g, NULL) fn(c, g, "torch.exp", "relu"), fn(c, g, "torch.log", "relu");
    NAMED();
    fn(c, g, "torch.tan", "relu");
    NAMED();
    OK(c, fxs_graph_inserting_before(g, o, NULL));
    fxs_node *l = fn(c, g, "torch.ceil", "relu");
    fn(c, g, "torch.floor", "relu");
    NAMED();
    refused(c, fxs_graph_inserting_before(g2, a, NULL), "AssertionError");
    refused(c, fxs_graph_inserting_after(g2, a, NULL), "AssertionError");
    OK(c, fxs_graph_inserting_before(g, l, NULL));
    fxs_insert_point was;
    OK(c, fxs_graph_inserting_after(g, x, &was));
    BEFORE(c, g, o) fn(c, g, "torch.round", "relu");
    fn(c, g, "torch.frac", "relu");
    fxs_graph_restore_insert_point(g, was);
    fn(c, g, "torch.trunc", "relu");
    NAMED();
    OK(c, fxs_graph_inserting_after(g, x, &was)); /* a block that fails */
    fxs_graph_restore_insert_point(g, was);
    fn(c, g, "torch.sign", "relu");
    NAMED();
    g = new_graph(c);
    input(c, g, "x", NULL);
    a = fn(c, g, "torch.relu", "x");
    OK(c, fxs_graph_inserting_before(g, a, NULL));
    OK(c, fxs_graph_erase_node(g, a));
    fn(c, g, "torch.neg", "x");
    put_names(c, g);
    put(c, " %zu\n", fxs_graph_len(g));
#undef NAMED
}

const fxcase_row fx_node_rows[] = {
    {"node_basic", node_basic, NULL},
    {"node_assign", node_assign, NULL},
    {"node_move", node_move, NULL},
    {"node_rauw", node_rauw, NULL},
    {"node_replace_input", node_replace_input, NULL},
    {"node_erase", node_erase, NULL},
    {"node_iter_mutation", node_iter_mutation, NULL},
    {"node_ctor_errors", node_ctor_errors, NULL},
    {"node_impure", node_impure, NULL},
    {"node_dce", node_dce, NULL},
    {"node_insert_points", node_insert_points, NULL},
    {0},
};
