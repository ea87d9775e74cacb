/* test_graph.c: names, users, lint, print_tabular, and every graph that torch printed for the rule
 * scripts. */
#include "golden.h"

#include "emit/format.h"

static void names_are_torchs(void **state) {
    /* candidate, name; one after another in one namespace */
    static const char *const cases[][2] = {
        {"x", "x"},
        {"x", "x_1"},
        {"x_1", "x_2"},
        {"x", "x_3"},
        {"x_1", "x_4"},
        {"y_0", "y_0"},
        {"y_0", "y_1"},
        {"y", "y"},
        {"z_007", "z_7"},
        {"z_7", "z_8"},
        {"1abc", "_1abc"},
        {"1", "_1"},
        {"a.b", "a_b"},
        {"a-b.c d", "a_b_c_d"},
        {"main.0", "main_0"},
        {"\xc3\xa9", "_"},
        {"_", "__1"},
        {"_", "__2"},
        {"__x__", "__x__"},
        {"foo_1_1", "foo_1_1"},
        {"foo_1_1", "foo_1_2"},
        {"foo_1", "foo_1"},
        {"x_9", "x_9"},
        {"x_10", "x_10"},
        {"x_9", "x_11"},
        {"sum", "sum_1"},
        {"sum", "sum_2"},
        {"max", "max_1"},
        {"input", "input_1"},
        {"None", "None_1"},
        {"class", "class_1"},
        {"self", "self"},
        {"lambda", "lambda_1"},
        {"match", "match"},
        {"getattr", "getattr_1"},
        {"torch", "torch_1"},
        {"device", "device_1"},
        {"inf", "inf_1"},
        {"nan", "nan_1"},
        {"NoneType", "NoneType_1"},
        {"pytree", "pytree_1"},
        {"fx_pytree", "fx_pytree_1"},
        {"copyright", "copyright_1"},
        {"abs_1", "abs_1"},
        {"abs", "abs_2"},
        {"", "_unnamed"},
    };
    fxs_graph *g;
    assert_ok(*state, fxs_graph_new(*state, &g));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_node n = {.graph = g};
        assert_ok(*state, fxs_name_create(&n, cases[i][0], strlen(cases[i][0])));
        assert_string_equal(n.name, cases[i][1]);
        assert_ptr_equal(fxs_graph_named(g, n.name, strlen(n.name)), &n);
    }
    fxs_graph_free(g);
}

static void targets_become_snake_case(void **state) {
    static const struct {
        fxs_kind kind;
        const char *target, *name;
    } cases[] = {{FXS_CALL_MODULE, "PascalCase", "pascal_case"},
                 {FXS_CALL_MODULE, "ALL_CAPS", "all_caps"},
                 {FXS_CALL_MODULE, "camelCase", "camel_case"},
                 {FXS_CALL_MODULE, "MyHTTPServer", "my_httpserver"},
                 {FXS_CALL_MODULE, "layer1.BatchNorm2d", "layer1_batch_norm2d"},
                 {FXS_CALL_MODULE, "conv2dBN", "conv2d_bn"},
                 {FXS_CALL_MODULE, "ABc", "abc"},
                 {FXS_CALL_MODULE, "a1B", "a1b"},
                 {FXS_CALL_MODULE, "aBcD", "a_bc_d"},
                 {FXS_CALL_METHOD, "__call__", "call"},
                 {FXS_CALL_METHOD, "____a", "____a"},
                 {FXS_CALL_FUNCTION, "torch._C._nn.linear", "linear"},
                 {FXS_CALL_FUNCTION, "operator.and_", "and_"},
                 {FXS_CALL_FUNCTION, "torch.ops.aten.add.Tensor", "add_tensor"},
                 {FXS_CALL_FUNCTION, "torch.ops.aten.relu", "relu"},
                 {FXS_CALL_FUNCTION, "__main__.<lambda>", "_lambda_"},
                 {FXS_CALL_FUNCTION, "collections.OrderedDict", "ordered_dict"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_graph *g;
        fxs_node n = {.kind = cases[i].kind, .target = cases[i].target};
        assert_ok(*state, fxs_graph_new(*state, &g));
        n.graph = g;
        assert_ok(*state, fxs_name_from_target(&n));
        assert_string_equal(n.name, cases[i].name);
        fxs_graph_free(g);
    }
}

static fxs_node *add_node(fxs_ctx *ctx, fxs_graph *g, fxs_kind kind, const char *target, size_t n,
                          fxs_node *const *inputs) {
    fxs_node *node;
    fxs_value args = make_list(ctx, FXS_V_TUPLE, 0, NULL);
    fxs_value_unref(&args);
    assert_ok(ctx, fxs_make_seq(ctx, NULL, FXS_V_TUPLE, n, &args));
    for (size_t i = 0; i < n; i++)
        args.u.seq->items[i] = fxs_of_node(inputs[i]);
    assert_ok(ctx, fxs_graph_create_node(g, kind, target, &args, NULL, NULL, NULL, &node));
    fxs_value_unref(&args);
    return node;
}

/* Re-assigned arguments move a node to the end of its inputs' users; one user counts once. */
static void users_follow_arguments(void **state) {
    fxs_ctx *ctx = *state;
    fxs_graph *g;
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    fxs_node *x = add_node(ctx, g, FXS_PLACEHOLDER, "x", 0, NULL),
             *y = add_node(ctx, g, FXS_PLACEHOLDER, "y", 0, NULL);
    fxs_node *add = add_node(ctx, g, FXS_CALL_FUNCTION, "torch.add", 2, (fxs_node *[]){x, x});
    fxs_node *relu = add_node(ctx, g, FXS_CALL_FUNCTION, "torch.relu", 1, (fxs_node *[]){x});
    fxs_node *users[4], *inputs[4];
    assert_int_equal(fxs_node_users(x, users, 4), 2);
    assert_ptr_equal(users[0], add);
    assert_ptr_equal(users[1], relu);
    fxs_value args = TUPLE(ctx, fxs_of_node(y), LIST(ctx, fxs_of_node(x), fxs_of_node(y)));
    assert_ok(ctx, fxs_node_set_args(add, &args, NULL));
    fxs_value_unref(&args);
    assert_int_equal(fxs_node_users(x, users, 4), 2);
    assert_ptr_equal(users[0], relu);
    assert_ptr_equal(users[1], add);
    assert_int_equal(fxs_node_users(y, users, 4), 1);
    assert_int_equal(fxs_node_inputs(add, inputs, 4), 2);
    assert_ptr_equal(inputs[0], y);
    assert_ptr_equal(inputs[1], x);
    assert_int_equal(fxs_graph_len(g), 4);
    fxs_graph_free(g);
}

static const struct {
    const char *text, *error;
} lint_cases[] = {
    {"graph():\n    %x : [#users=2] = placeholder[target=x]\n"
     "    %cat : [#users=1] = call_function[target=torch.cat](args = ([%add, %x],), kwargs = {})\n"
     "    %add : [#users=1] = call_function[target=torch.add](args = (%x, 1), kwargs = {})\n    "
     "return cat\n",
     "Argument 'add' of Node 'cat' was used before it has been defined! Please check that Nodes in "
     "the graph are "
     "topologically "
     "ordered"},
    {"graph():\n    %relu : [#users=1] = call_function[target=torch.relu](args = (%relu,), kwargs "
     "= {})\n    return "
     "relu\n",
     "Argument 'relu' of Node 'relu' was used before it has been defined! Please check that Nodes "
     "in the graph are "
     "topologically "
     "ordered"},
    {"Sequential(\n  (0): ReLU()\n)\ngraph():\n    %x : [#users=1] = placeholder[target=x]\n"
     "    %_0 : [#users=1] = call_module[target=0.zz.q](args = (%x,), kwargs = {})\n    return "
     "_0\n",
     "Node _0 target 0.zz.q references nonexistent attribute zz of 0"},
    {"Sequential(\n  (0): ReLU()\n)\ngraph():\n    %x : [#users=1] = placeholder[target=x]\n"
     "    %_0 : [#users=1] = call_module[target=5](args = (%x,), kwargs = {})\n    return _0\n",
     "Node _0 target 5 references nonexistent attribute 5 of "},
    {"Sequential(\n  (0): Linear(in_features=1, out_features=1, bias=True)\n)\ngraph():\n    %x : "
     "[#users=1] = "
     "placeholder[target=x]\n"
     "    %_0 : [#users=1] = call_module[target=0.weight](args = (%x,), kwargs = {})\n    return "
     "_0\n",
     "Node _0 target 0.weight weight of 0 does not reference an nn.Module"},
};

static void lint_says_what_torch_says(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof lint_cases / sizeof *lint_cases; i++) {
        fxs_module *m;
        assert_ok(ctx, fxs_load_text(ctx, "m", lint_cases[i].text, strlen(lint_cases[i].text), &m));
        assert_int_equal(fxs_graph_lint(fxs_module_graph(m)), FXS_ELINT);
        assert_string_equal(fxs_ctx_error(ctx), lint_cases[i].error);
        fxs_ctx_clear(ctx);
        fxs_module_unref(m);
    }
}

static void tabular_is_laid_out_as_tabulate_does(void **state) {
    fxs_ctx *ctx = *state;
    static const char graph[] =
        "graph():\n    %x : [#users=1] = placeholder[target=x](default=None)\n"
        "    %w : [#users=0] = get_attr[target=w]\n"
        "    %add : [#users=1] = call_function[target=torch.add](args = (%x, s, torch.float32), "
        "kwargs = "
        "{k: slice(x, None, None), d: cuda:0})\n"
        "    %view : [#users=1] = call_method[target=view](args = (%add, (1, 2), [3]), kwargs = "
        "{})\n"
        "    return (view,)\n";
    static const char want[] =
        "opcode         name    target                                args                     "
        "kwargs\n"
        "-------------  ------  ------------------------------------  -----------------------  "
        "--------------------------------------------------------------\n"
        "placeholder    x       x                                     (None,)                  {}\n"
        "get_attr       w       w                                     ()                       {}\n"
        "call_function  add     <built-in method add of type object>  (x, 's', torch.float32)  "
        "{'k': slice(x, None, "
        "None), 'd': "
        "device(type='cuda', index=0)}\n"
        "call_method    view    view                                  (add, (1, 2), [3])       {}\n"
        "output         output  output                                ((view,),)               "
        "{}\n";
    static const char numeric[] =
        "graph():\n    %_1 : [#users=0] = placeholder[target=1]\n"
        "    %_2 : [#users=0] = call_method[target=2](args = (), kwargs = {})\n";
    static const char numeric_want[] = "opcode       name      target  args    kwargs\n"
                                       "-----------  ------  --------  ------  --------\n"
                                       "placeholder  _1             1  ()      {}\n"
                                       "call_method  _2             2  ()      {}\n";
    static const char *const cases[][2] = {{graph, want},
                                           {numeric, numeric_want},
                                           {"graph():\n",
                                            "opcode    name    target    args    kwargs\n"
                                            "--------  ------  --------  ------  --------\n"}};
    for (size_t i = 0; i < 3; i++) {
        fxs_module *m;
        char *text;
        assert_ok(ctx, fxs_load_text(ctx, "m", cases[i][0], strlen(cases[i][0]), &m));
        assert_ok(ctx, fxs_graph_print_tabular(fxs_module_graph(m), &text, NULL));
        assert_string_equal(text, cases[i][1]);
        fxs_free(text);
        fxs_module_unref(m);
    }
}

static void long_lists_are_cut(void **state) {
    fxs_ctx *ctx = *state;
    fxs_buf b = {0};
    fxs_value v = LIST(ctx, fxs_int(0), fxs_int(1), fxs_int(2)), t = TUPLE(ctx, fxs_int(7));
    fxs_buf_arg(&b, &v, 2);
    fxs_buf_arg(&b, &v, 3);
    fxs_buf_arg(&b, &t, 8);
    assert_string_equal(b.data, "[0, 1, ...[total_len=3]][0, 1, 2](7,)");
    fxs_buf_free(&b);
    fxs_value_unref(&v);
    fxs_value_unref(&t);
}

/* tests/golden/fx_graphs.txt: each graph behind a line "=== SCRIPT". Left out are eight of 113:
 * four to which the script itself printed something more, three with nodes of another graph, one
 * whose object prints itself as what it likes. */
static void every_graph_of_the_rule_scripts_is_kept(void **state) {
    fxs_ctx *ctx = *state;
    int graphs = 0, bad = 0;
    char *file = read_test_file("golden/fx_graphs.txt", NULL);
    for (char *at = strstr(file, "=== "); at; graphs++) {
        char *name = at + 4, *graph = strchr(name, '\n') + 1, *text = NULL;
        at = strstr(graph, "\n=== ");
        size_t len = at ? (size_t)(at + 1 - graph) : strlen(graph);
        at = at ? at + 1 : NULL;
        fxs_module *m = NULL;
        graph[-1] = '\0';
        fxs_status s = fxs_load_text(ctx, name, graph, len, &m);
        if (s == FXS_OK)
            assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &text, NULL));
        if (s != FXS_OK || strlen(text) != len || memcmp(text, graph, len) != 0) {
            fprintf(stderr, "%s: %s\n%.*s%s\n", name, fxs_ctx_error(ctx), (int)len, graph,
                    text ? text : "");
            bad++;
        }
        fxs_ctx_clear(ctx);
        fxs_free(text);
        fxs_module_unref(m);
    }
    fxs_free(file);
    assert_int_equal(bad, 0);
    assert_true(graphs > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_torchs),
        cmocka_unit_test(targets_become_snake_case),
        cmocka_unit_test(users_follow_arguments),
        cmocka_unit_test(lint_says_what_torch_says),
        cmocka_unit_test(tabular_is_laid_out_as_tabulate_does),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(every_graph_of_the_rule_scripts_is_kept),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
