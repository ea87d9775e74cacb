/* test_trace_files.c: a model saved as a file and loaded again is the same model: tree, graphs of
 * GraphModules inside, code with types and wrapped functions, trees of arguments, parameters. Over
 * the golden networks, the samples, and what is traced here. */
#include "tracing.h"

/* ---- the same model
 * --------------------------------------------------------------------------------------------- */

typedef struct pair {
    fxs_module *before, *after;
} pair;

static fxs_status same_parameters(void *user, const char *path, fxs_module *m) {
    pair *p = user;
    fxs_module *other = fxs_module_find(p->after, path);
    assert_non_null(other);
    assert_int_equal(m->nattributes, other->nattributes);
    for (size_t i = 0; i < m->nattributes; i++) {
        fxs_parameter *a = m->attributes[i].param;
        fxs_parameter *b =
            fxs_module_attribute(other, m->attributes[i].name, strlen(m->attributes[i].name));
        assert_non_null(b);
        assert_int_equal(a->is_buffer, b->is_buffer);
        assert_int_equal(a->spec->dtype, b->spec->dtype);
        assert_int_equal(a->spec->ndim, b->spec->ndim);
        assert_memory_equal(a->spec->sizes, b->spec->sizes,
                            (size_t)a->spec->ndim * sizeof(int64_t));
        int64_t n = fxs_tensor_numel(a->spec);
        if (n > 1000 || a->given) /* values that were given are no part of a file */
            continue;
        fxs_tensor *x, *y;
        assert_ok(m->ctx, fxs_parameter_read(m->ctx, a, &x));
        assert_ok(m->ctx, fxs_parameter_read(m->ctx, b, &y));
        assert_memory_equal(fxs_tensor_data(x), fxs_tensor_data(y),
                            (size_t)n * fxs_dtype_size(a->spec->dtype));
    }
    return FXS_OK;
}

static char *text_of(fxs_module *m,
                     fxs_status (*print)(const fxs_module *, unsigned, char **, size_t *)) {
    char *text;
    assert_ok(m->ctx, print(m, 0, &text, NULL));
    return text;
}

static fxs_status print_code(const fxs_module *m, unsigned flags, char **text, size_t *len) {
    return fxs_graph_python_code(m->graph, flags, text, len);
}

/* Saved and loaded, once more: the same text, code and parameters. The caller's. */
static fxs_module *round_trip(fxs_module *m) {
    static fxs_status (*const prints[])(const fxs_module *, unsigned, char **, size_t *) = {
        fxs_module_print_file, print_code, fxs_module_print_readable};
    fxs_module *read;
    char *file = text_of(m, fxs_module_print_file);
    assert_ok(m->ctx, fxs_load_text(m->ctx, "file", file, strlen(file), &read));
    fxs_free(file);
    assert_ok(m->ctx, fxs_graph_lint(read->graph));
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        char *have = text_of(read, prints[i]), *want = text_of(m, prints[i]);
        if (i < 2 || !m->graph->root.next->stack_trace) /* those are of a program's source */
            assert_string_equal(have, want);
        fxs_free(have);
        fxs_free(want);
    }
    assert_ok(m->ctx, fxs_module_name_parameters(m));
    assert_ok(m->ctx, fxs_module_name_parameters(read));
    assert_ok(m->ctx, fxs_module_walk(m, same_parameters, &(pair){m, read}));
    assert_ok(m->ctx, fxs_module_walk(read, same_parameters, &(pair){read, m}));
    return read;
}

/* ---- networks
 * ------------------------------------------------------------------------------------------------
 */

/* With the type that its forward returns, where its code has one. */
static void golden_round_trip(const char *name, void *user) {
    fxs_ctx *ctx = user;
    fxs_module *m, *read;
    size_t len;
    char *file = golden_file(name, &len), *want = read_golden(name, ".code.txt", NULL);
    char *arrow = strstr(want, ") -> torch.Tensor:"), *have;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    fxs_free(file);
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        n->wrapped = n->kind == FXS_CALL_FUNCTION && strncmp(n->target, "torchvision.", 12) == 0;
        if (n->kind == FXS_OUTPUT && arrow)
            n->type = "torch.Tensor";
    }
    read = round_trip(m);
    have = text_of(read, print_code);
    if (arrow || !strstr(want, ") -> ")) /* other types are in test_python.c */
        assert_string_equal(have, want);
    fxs_free(have);
    fxs_free(want);
    fxs_module_unref(read);
    fxs_module_unref(m);
}

static void test_golden_networks(void **state) {
    assert_int_equal(for_each_golden(golden_round_trip, *state), 29);
}

static void test_samples(void **state) {
    static const char *const names[] = {"mobilenet_v2", "resnet18", "testmodel", "text_encoder",
                                        "unet"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len;
        fxs_module *m;
        char *file = sample_file(names[i], &len);
        assert_ok(*state, fxs_load_text(*state, names[i], file, len, &m));
        fxs_free(file);
        fxs_module_unref(round_trip(m));
        fxs_module_unref(m);
    }
}

/* ---- GraphModules inside
 * ------------------------------------------------------------------------------------------------
 */

static fxs_proxy inner_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_mul(fxs_call(self, "lin", x[0]), fxs_attr(self, "w"));
    fxs_proxy n = fxs_function(self, "math.sqrt", fxs_method(x[0], "size", 0));
    return fxs_truediv(y, n);
}

static fxs_proxy outer_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "block.inner", x[0]);
    return fxs_add(fxs_call(self, "seq", y), fxs_call(self, "lin", x[0]));
}

static bool graphs_are_leaves(void *user, const fxs_module *m, const char *path, bool usual) {
    (void)user;
    (void)path;
    return usual || m->graph;
}

/* Outer { block { inner: a graph }, seq: a graph that was a Sequential, lin: a graph that was a
 * Linear } */
static fxs_module *outer(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "Outer"), *inner = fxs_nn(ctx, "Inner"),
               *seq = fxs_nn(ctx, "Sequential()"), *block = fxs_nn_add(m, "block", "Block");
    fxs_nn_add(inner, "lin", "Linear(4, 4)");
    fxs_nn_parameter(inner, "w", "float32[4]");
    fxs_nn_forward(inner, "x: torch.Tensor -> torch.Tensor", inner_forward, NULL);
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_add(seq, NULL, "Linear(4, 2)");
    fxs_nn_put(block, "inner", trace_module(ctx, inner, NULL));
    fxs_nn_put(m, "seq", trace_module(ctx, seq, NULL));
    fxs_nn_put(m, "lin", trace_module(ctx, fxs_nn(ctx, "Linear(4, 2)"), NULL));
    fxs_nn_forward(m, "x", outer_forward, NULL);
    return trace_module(ctx, m, &(fxs_trace_options){.is_leaf_module = graphs_are_leaves});
}

/* The result for one input; counted. */
static fxs_value result_of(fxs_module *m) {
    fxs_tensor *x = random_tensor(m->ctx, FXS_FLOAT32, SIZES(9, 4), 3);
    fxs_value v = fxs_of_tensor(x), out;
    fxs_interpreter *it;
    assert_ok(m->ctx, fxs_interpreter_new(m, NULL, &it));
    assert_ok(m->ctx, fxs_interpreter_run(it, &v, 1, &out));
    fxs_interpreter_free(it);
    fxs_tensor_unref(x);
    return out;
}

static void test_graphs_inside(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = outer(ctx), *read = round_trip(m);
    assert_non_null(fxs_module_graph(fxs_module_find(read, "block.inner")));
    assert_non_null(fxs_module_graph(fxs_module_find(read, "seq")));
    assert_non_null(fxs_module_graph(fxs_module_find(read, "lin")));
    char *file = text_of(m, fxs_module_print_file);
    assert_non_null(strstr(file, "torch.fx.wrap('math.sqrt')\nblock.inner.graph() -> "
                                 "torch.Tensor:\n    # in ")); /* its class */
    assert_non_null(strstr(file, "\n    %x : torch.Tensor [#users=2]"));
    fxs_free(file);
    fxs_value a = result_of(m), b = result_of(read);
    assert_int_equal(a.u.tensor->ndim, 2);
    assert_int_equal(a.u.tensor->sizes[0], 9);
    assert_int_equal(a.u.tensor->sizes[1], 2);
    for (int64_t i = 0; i < 18; i++)
        assert_true(nth(a.u.tensor, i) == nth(b.u.tensor, i));
    fxs_value_unref(&a);
    fxs_value_unref(&b);
    /* A copy of the graph, traced through where it is no leaf, gives the same. */
    fxs_module *flat = NULL;
    assert_ok(ctx, fxs_trace(ctx, read, NULL, &flat));
    a = result_of(flat);
    b = result_of(m);
    for (int64_t i = 0; i < 18; i++)
        assert_true(nth(a.u.tensor, i) == nth(b.u.tensor, i));
    fxs_value_unref(&a);
    fxs_value_unref(&b);
    fxs_module_unref(flat);
    fxs_module_unref(read);
    fxs_module_unref(m);
}

/* ---- trees, layers
 * ------------------------------------------------------------------------------------------------
 */

static fxs_proxy scaled(fxs_proxy self, const fxs_proxy *x) {
    return FXS_LIST(fxs_mul(fxs_index(x[0], 0), fxs_attr(self, "w")), x[1]);
}

static fxs_proxy tree_of_three(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy s = fxs_add(fxs_index(x[0], 0), fxs_index(x[1], "k"));
    return FXS_DICT("s", s, "t", FXS_TUPLE(x[2], fxs_index(x[0], 1)));
}

static void test_trees(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fxs_nn(ctx, "M"), *read;
    fxs_nn_parameter(m, "w", "float32[1]");
    fxs_nn_forward(m, "a, b", scaled, NULL);
    m = trace_module(ctx, m, &(fxs_trace_options){.concrete_args = "a=[PH, 5]"});
    read = round_trip(m);
    assert_golden_code(read, "code_pytree", 3, 3);
    fxs_module_unref(m);
    m = trace_with(ctx, "a, b, c=2", tree_of_three,
                   &(fxs_trace_options){.concrete_args = "a=(PH, [PH]), b={'k': PH}"});
    char *file = text_of(m, fxs_module_print_file);
    assert_non_null(strstr(file, "graph(a = ('*', ['*']), b = {'k': '*'}, c = '*') -> "
                                 "{'s': '*', 't': ('*', ['*'])}:\n"));
    fxs_free(file);
    fxs_module_unref(round_trip(m));
    fxs_module_unref(m);
}

static void test_layer_as_root(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const layers[] = {"Linear(3, 4)", "Conv2d(3, 4, 3, bias=False)", "GELU()",
                                         "BatchNorm2d(4)", "Embedding(5, 3)"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        fxs_module *m = trace_module(ctx, fxs_nn(ctx, "%s", layers[i]), NULL);
        fxs_module_unref(round_trip(m));
        fxs_module_unref(m);
    }
}

/* ---- damaged files
 * ------------------------------------------------------------------------------------------------
 */

static void test_refusals(void **state) {
#define G "    %x : [#users=1] = placeholder[target=x]\n    return x\n"
    static const char *const pairs[][2] = {
        {"graph():\n" G "graph():\n" G, "f:4:1: a second graph; one file holds one"},
        {"M(\n  (a): A()\n)\ngraph():\n" G "a.graph():\n" G "a.graph():\n" G,
         "f:10:1: a second graph; each module holds one"},
        {"M(\n  (a): A()\n)\ngraph():\n" G "b.graph():\n" G,
         "f:7:1: there is no module 'b' that had this graph"},
        {"M(\n  (a): A()\n)\na.graph():\n" G, NULL},
        {"graph() -> :\n" G, "f:1:12: expected a type and ':', found ':'"},
        {"graph(x = ['*', '*']) -> '*':\n" G, "f:1:7: trees of 2 leaves for 1 placeholders"},
        {"graph(x = ['*']):\n" G, "f:1:17: expected ' -> ' and the tree of the output, found ':'"},
        {"graph(x):\n" G, "f:1:8: expected ' = ' and the tree of the parameter, found '):'"},
        {"graph(self x = '*') -> '*':\n" G,
         "f:1:11: expected ', ' or ')', found \" x = '*') -> '*':\""},
        {"torch.fx.wrap(x)\ngraph():\n" G, NULL},
    };
#undef G
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        fxs_module *m = NULL;
        assert_int_equal(fxs_load_text(ctx, "f", pairs[i][0], strlen(pairs[i][0]), &m), FXS_EPARSE);
        assert_null(m);
        if (pairs[i][1])
            assert_string_equal(fxs_ctx_error(ctx), pairs[i][1]);
        fxs_ctx_clear(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_golden_networks, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_samples, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_graphs_inside, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_trees, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_layer_as_root, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_refusals, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
