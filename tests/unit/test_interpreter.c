/* test_interpreter.c: the interpreter and the transformer as their users see them: overridden
 * steps, initial environment, dropped values, errors with their node, new graphs. */
#include "golden.h"

#include "ir/graph.h"

static const char net[] =
    "Net(\n  (sub): Module(\n    (lin): Linear(in_features=3, out_features=2, bias=True)\n  )\n)\n"
    "parameter w: torch.float32[2]\n"
    "graph():\n"
    "    %x : [#users=1] = placeholder[target=x]\n"
    "    %y : [#users=1] = placeholder[target=y](default=3)\n"
    "    %sub_lin : [#users=1] = call_module[target=sub.lin](args = (%x,), kwargs = {})\n"
    "    %w : [#users=1] = get_attr[target=w]\n"
    "    %add : [#users=1] = call_function[target=operator.add](args = (%sub_lin, %w), kwargs = "
    "{})\n"
    "    %mul : [#users=1] = call_function[target=operator.mul](args = (%add, %y), kwargs = {})\n"
    "    return mul\n";

static fxs_module *load(fxs_ctx *ctx) {
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "net", net, strlen(net), &m));
    return m;
}

/* Each node with what is in the environment when it runs: golden it_basic. */
static fxs_status log_node(fxs_interpreter *it, fxs_node *n, fxs_value *result) {
    fxs_buf *log = fxs_interpreter_user(it);
    fxs_buf_printf(log, "run %s %s [", fxs_kind_name(fxs_node_kind(n)), fxs_node_name(n));
    size_t count = 0;
    for (fxs_node *e = fxs_graph_first(fxs_node_graph(n)); e; e = fxs_node_next(e))
        if (fxs_interpreter_env(it, e))
            fxs_buf_printf(log, count++ ? ", %s" : "%s", fxs_node_name(e));
    fxs_buf_puts(log, "]\n");
    return fxs_interpreter_run_node(it, n, result);
}

static void values_are_dropped_at_their_last_use(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx);
    fxs_buf log = {0};
    fxs_interpreter *it;
    fxs_value result, x = fxs_of_tensor(random_tensor(ctx, FXS_FLOAT32, SIZES(1, 3), 1));
    fxs_interpreter_options opt = {.methods = {.run_node = log_node, .user = &log}};
    assert_ok(ctx, fxs_interpreter_new(m, &opt, &it));
    assert_ok(ctx, fxs_interpreter_run(it, &x, 1, &result));
    assert_string_equal(log.data, "run placeholder x []\n"
                                  "run placeholder y [x]\n"
                                  "run call_module sub_lin [x, y]\n"
                                  "run get_attr w [y, sub_lin]\n"
                                  "run call_function add [y, sub_lin, w]\n"
                                  "run call_function mul [y, add]\n"
                                  "run output output [mul]\n");
    assert_shape(result.u.tensor, 2, (int64_t[]){1, 2});
    fxs_value_unref(&result);
    fxs_interpreter_free(it);
    fxs_buf_free(&log);
    opt = (fxs_interpreter_options){.keep_values = true, .mode = FXS_RUN_META};
    assert_ok(ctx, fxs_interpreter_new(m, &opt, &it));
    assert_ok(ctx, fxs_interpreter_run(it, &x, 1, &result));
    assert_non_null(fxs_interpreter_env(it, fxs_graph_find(fxs_module_graph(m), "x")));
    assert_null(fxs_tensor_data(result.u.tensor));
    fxs_value_unref(&result);
    fxs_interpreter_free(it);
    fxs_value_unref(&x);
    fxs_module_unref(m);
}

static fxs_status neg_for_add(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                              const fxs_value *kwargs, fxs_value *result) {
    if (strcmp(fxs_node_target(n), "operator.add") != 0)
        return fxs_interpreter_call_function(it, n, args, kwargs, result);
    *result = fxs_value_ref(*fxs_value_item(args, 0));
    return FXS_OK;
}

static void steps_may_be_replaced_and_values_given(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx);
    fxs_graph *g = fxs_module_graph(m);
    fxs_interpreter *it;
    fxs_value result, y = fxs_int(2);
    fxs_tensor *given = random_tensor(ctx, FXS_FLOAT32, SIZES(1, 2), 1);
    fxs_interpreter_options opt = {.methods = {.call_function = neg_for_add}};
    assert_ok(ctx, fxs_interpreter_new(m, &opt, &it));
    /* with sub_lin given, x is not needed by anything that runs */
    assert_ok(ctx, fxs_interpreter_set_env(it, fxs_graph_find(g, "sub_lin"), TENSOR(given)));
    assert_ok(ctx, fxs_interpreter_set_env(it, fxs_graph_find(g, "x"), fxs_none()));
    assert_ok(ctx, fxs_interpreter_run(it, &y, 1, &result));
    for (int i = 0; i < 2; i++)
        assert_near(nth(result.u.tensor, i), 2 * nth(given, i), 1e-6);
    fxs_value_unref(&result);
    fxs_interpreter_free(it);
    fxs_tensor_unref(given);
    fxs_module_unref(m);
}

static void errors_name_the_node(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx);
    fxs_interpreter *it;
    fxs_value result, x = fxs_of_tensor(random_tensor(ctx, FXS_FLOAT32, SIZES(1, 5), 1));
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_int_equal(fxs_interpreter_run(it, NULL, 0, &result), FXS_EINVAL);
    assert_non_null(
        strstr(fxs_ctx_error(ctx), "\n\nWhile executing %x : [#users=1] = placeholder[target=x]"));
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_interpreter_run(it, &x, 1, &result), FXS_ESHAPE);
    assert_non_null(strstr(fxs_ctx_error(ctx), "[1, 5]"));
    assert_non_null(strstr(fxs_ctx_error(ctx),
                           "While executing %sub_lin : [#users=1] = call_module[target=sub.lin]"));
    fxs_ctx_clear(ctx);
    fxs_interpreter_free(it);
    fxs_value_unref(&x);
    fxs_module_unref(m);
}

static void star_arguments_take_the_rest(void **state) {
    fxs_ctx *ctx = *state;
    static const char text[] =
        "graph():\n    %a : [#users=1] = placeholder[target=a]\n"
        "    %_args : [#users=1] = placeholder[target=*args]\n"
        "    %_kw : [#users=1] = placeholder[target=**kw]\n    return (a, _args, _kw)\n";
    fxs_module *m;
    fxs_interpreter *it;
    fxs_value result, args[] = {fxs_int(1), fxs_int(2), fxs_int(3)};
    char *out;
    assert_ok(ctx, fxs_load_text(ctx, "m", text, strlen(text), &m));
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_ok(ctx, fxs_interpreter_run(it, args, 3, &result));
    assert_ok(ctx, fxs_value_print(ctx, &result, &out));
    assert_string_equal(out, "(1, [2, 3], [])");
    fxs_free(out);
    fxs_value_unref(&result);
    fxs_interpreter_free(it);
    fxs_module_unref(m);
}

/* A call to operator.add becomes torch.neg of its first argument, the method form for mul: golden
 * tf_basic. */
static fxs_status rewrite_function(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                   const fxs_value *kwargs, fxs_value *result) {
    fxs_graph *g = fxs_transformer_graph(it);
    fxs_node *node;
    fxs_value one;
    if (strcmp(fxs_node_target(n), "operator.add") != 0)
        return fxs_transformer_record(it, n, args, kwargs, result);
    fxs_status s = fxs_value_tuple(fxs_interpreter_ctx(it), 1, fxs_value_item(args, 0), &one);
    if (s == FXS_OK)
        s = fxs_graph_call_function(g, "torch.neg", &one, NULL, &node);
    fxs_value_unref(&one);
    if (s == FXS_OK)
        *result = fxs_of_node(node);
    return s;
}

static void transformers_write_new_graphs(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx), *out;
    fxs_interpreter *it;
    char *text, *before;
    assert_ok(ctx, fxs_transformer_new(m, NULL, &it));
    assert_ok(ctx, fxs_transformer_run(it, &out));
    fxs_interpreter_free(it);
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(out), 0, &text, NULL));
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &before, NULL));
    assert_string_equal(text, before);
    assert_string_equal(fxs_module_class(out), "GraphModule");
    assert_ok(ctx, fxs_graph_lint(fxs_module_graph(out)));
    assert_int_equal(fxs_module_parameter_count(out), fxs_module_parameter_count(m));
    fxs_free(text);
    fxs_free(before);
    fxs_module_unref(out);
    fxs_interpreter_options opt = {.methods = {.call_function = rewrite_function}};
    assert_ok(ctx, fxs_transformer_new(m, &opt, &it));
    assert_ok(ctx, fxs_transformer_run(it, &out));
    fxs_interpreter_free(it);
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(out), 0, &text, NULL));
    assert_string_equal(
        text,
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %y : [#users=1] = placeholder[target=y](default=3)\n"
        "    %sub_lin : [#users=1] = call_module[target=sub.lin](args = (%x,), kwargs = {})\n"
        "    %w : [#users=0] = get_attr[target=w]\n"
        "    %neg : [#users=1] = call_function[target=torch.neg](args = (%sub_lin,), kwargs = {})\n"
        "    %mul : [#users=1] = call_function[target=operator.mul](args = (%neg, %y), kwargs = "
        "{})\n"
        "    return mul\n");
    fxs_free(text);
    fxs_module_unref(out);
    fxs_module_unref(m);
}

static fxs_status transform_and_run(fxs_ctx *ctx, const void *data) {
    (void)data;
    fxs_module *m = NULL, *out = NULL;
    fxs_interpreter *it = NULL;
    fxs_tensor *t = NULL;
    fxs_value result = fxs_none();
    fxs_status s = fxs_load_text(ctx, "net", net, strlen(net), &m);
    if (s == FXS_OK)
        s = fxs_transformer_new(m, NULL, &it);
    if (s == FXS_OK)
        s = fxs_transformer_run(it, &out);
    fxs_interpreter_free(it);
    it = NULL;
    if (s == FXS_OK)
        s = fxs_tensor_new(ctx, FXS_FLOAT32, 2, (int64_t[]){1, 3}, &t);
    if (s == FXS_OK)
        s = fxs_interpreter_new(out, NULL, &it);
    if (s == FXS_OK)
        s = fxs_interpreter_run(it, &(fxs_value){.tag = FXS_V_TENSOR, .u.tensor = t}, 1, &result);
    fxs_value_unref(&result);
    fxs_interpreter_free(it);
    fxs_tensor_unref(t);
    fxs_module_unref(out);
    fxs_module_unref(m);
    return s;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    assert_survives(NULL, transform_and_run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_dropped_at_their_last_use),
        cmocka_unit_test(steps_may_be_replaced_and_values_given),
        cmocka_unit_test(errors_name_the_node),
        cmocka_unit_test(star_arguments_take_the_rest),
        cmocka_unit_test(transformers_write_new_graphs),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
