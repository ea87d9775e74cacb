/* test_flow.c: the whole flow of a program in C over TestModel, trace, edit, print, code, rewrite,
 * interpret, with every allocation failing once: a clean error each time, and nothing is lost. */
#include "tracing.h"

static fxs_proxy sigmoid(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, "torch.sigmoid", x[0]);
}

static fxs_proxy twice_tanh(fxs_proxy self, const fxs_proxy *x) {
    return fxs_method(fxs_function(self, "torch.tanh", x[0]), "mul", 2);
}

/* A neg behind the clamp, for all its users; the node before goes through a copy of the graph. */
static fxs_status edit(fxs_graph *g) {
    fxs_node *clamp = fxs_graph_first(g), *neg;
    fxs_graph *copy = NULL;
    fxs_value arg = fxs_none(), two = fxs_int(2);
    fxs_insert_point before;
    size_t erased;
    while (strcmp(fxs_node_name(clamp), "clamp") != 0)
        clamp = fxs_node_next(clamp);
    fxs_value of = fxs_of_node(clamp);
    fxs_status s = fxs_graph_inserting_after(g, clamp, &before);
    s = s ? s : fxs_value_tuple(fxs_graph_ctx(g), 1, &of, &arg);
    s = s ? s : fxs_graph_call_function(g, "torch.neg", &arg, NULL, &neg);
    s = s ? s : fxs_node_replace_all_uses_with(clamp, neg, NULL, NULL, true, NULL);
    s = s ? s : fxs_node_set_args(neg, &arg, NULL);
    s = s ? s : fxs_node_update_arg(clamp, 2, &two);
    fxs_graph_restore_insert_point(g, before);
    s = s ? s : fxs_graph_deep_copy(g, &copy);
    s = s ? s : fxs_graph_eliminate_dead_code(g, &erased);
    s = s ? s : fxs_graph_lint(g);
    fxs_value_unref(&arg);
    fxs_graph_free(copy);
    return s;
}

static fxs_status print(fxs_module *m) {
    char *texts[6] = {0};
    fxs_status s = fxs_graph_print(fxs_module_graph(m), 0, &texts[0], NULL);
    s = s ? s : fxs_graph_print_tabular(fxs_module_graph(m), &texts[1], NULL);
    s = s ? s : fxs_module_print(m, &texts[2], NULL);
    s = s ? s : fxs_module_print_file(m, 0, &texts[3], NULL);
    s = s ? s
          : fxs_graph_python_code(fxs_module_graph(m), FXS_CODE_VERBOSE | FXS_CODE_SHAPES,
                                  &texts[4], NULL);
    s = s ? s : fxs_module_python_file(m, 0, &texts[5], NULL);
    for (size_t i = 0; i < 6; i++) {
        assert_true(s != FXS_OK || texts[i]);
        fxs_free(texts[i]);
    }
    return s;
}

static fxs_status rewrite(fxs_ctx *ctx, fxs_module *m) {
    fxs_module *pattern = NULL, *replacement = NULL;
    fxs_matches *found = NULL;
    size_t count = 0;
    fxs_status s = fxs_trace_function(ctx, "p", "x", sigmoid, NULL, NULL, &pattern);
    s = s ? s : fxs_trace_function(ctx, "r", "x", twice_tanh, NULL, NULL, &replacement);
    s = s ? s
          : fxs_replace_pattern(m, fxs_module_graph(pattern), fxs_module_graph(replacement),
                                replacement, NULL, &found, &count);
    if (s == FXS_OK)
        assert_int_equal(count, 1);
    fxs_matches_free(found);
    fxs_module_unref(pattern);
    fxs_module_unref(replacement);
    return s;
}

static fxs_status interpret(fxs_ctx *ctx, fxs_module *m) {
    fxs_interpreter *it = NULL;
    fxs_value in[2] = {fxs_none(), fxs_none()}, out = fxs_none();
    fxs_tensor *x, *y;
    fxs_status s = fxs_tensor_new(ctx, FXS_FLOAT32, SIZES(1, 3, 4, 4), &x);
    if (s == FXS_OK)
        in[0] = fxs_of_tensor(x);
    s = s ? s : fxs_tensor_new(ctx, FXS_FLOAT32, SIZES(1, 2, 3, 3), &y);
    if (s == FXS_OK)
        in[1] = fxs_of_tensor(y);
    s = s ? s : fxs_interpreter_new(m, NULL, &it);
    s = s ? s : fxs_interpreter_run(it, in, 2, &out);
    if (s == FXS_OK)
        assert_shape(out.u.tensor, SIZES(1, 4, 4, 4));
    fxs_value_unref(&out);
    fxs_value_unref(&in[0]);
    fxs_value_unref(&in[1]);
    fxs_interpreter_free(it);
    return s;
}

static fxs_status whole_flow(fxs_ctx *ctx, const void *data) {
    fxs_module *root = test_model(ctx), *m = NULL;
    (void)data;
    fxs_status s = fxs_trace(ctx, root, &(fxs_trace_options){.record_source = true}, &m);
    s = s ? s : edit(fxs_module_graph(m));
    s = s ? s : print(m);
    s = s ? s : rewrite(ctx, m);
    s = s ? s : interpret(ctx, m);
    fxs_module_unref(m);
    fxs_module_unref(root);
    return s;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    assert_survives(NULL, whole_flow, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_failed_allocation_is_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
