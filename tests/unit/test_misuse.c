/* test_misuse.c: wrong arguments of public calls are refused, and nothing has changed afterwards.
 */
#include "ir/module.h"
#include "testing.h"

static fxs_graph *chain(fxs_ctx *ctx, fxs_node *n[3]) {
    fxs_graph *g;
    fxs_value x;
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    assert_ok(ctx, fxs_graph_placeholder(g, "x", NULL, &n[0]));
    fxs_value arg = fxs_of_node(n[0]);
    assert_ok(ctx, fxs_value_tuple(ctx, 1, &arg, &x));
    assert_ok(ctx, fxs_graph_call_function(g, "torch.relu", &x, NULL, &n[1]));
    arg = fxs_of_node(n[1]);
    assert_ok(ctx, fxs_graph_output(g, &arg, &n[2]));
    fxs_value_unref(&x);
    return g;
}

static void users_stay_after_a_refusal(void **state) {
    fxs_ctx *ctx = *state;
    fxs_node *a[3], *b[3];
    fxs_graph *g = chain(ctx, a), *other = chain(ctx, b);
    assert_int_equal(fxs_node_replace_all_uses_with(a[1], b[1], NULL, NULL, false, NULL),
                     FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_node_users(a[1], NULL, 0), 1);
    assert_int_equal(fxs_graph_erase_node(g, a[1]), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    fxs_graph_free(g);
    fxs_graph_free(other);
}

static void erased_nodes_have_no_place(void **state) {
    fxs_ctx *ctx = *state;
    fxs_node *n[3], *spare;
    fxs_graph *g = chain(ctx, n);
    assert_ok(ctx, fxs_graph_call_function(g, "torch.tanh", NULL, NULL, &spare));
    assert_ok(ctx, fxs_graph_erase_node(g, spare));
    assert_int_equal(fxs_node_prepend(n[1], spare), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_node_prepend(spare, n[1]), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_node_append(spare, n[1]), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_graph_len(g), 3);
    assert_ptr_equal(fxs_node_next(n[0]), n[1]);
    assert_ptr_equal(fxs_node_next(n[1]), n[2]);
    fxs_graph_free(g);
}

static void insert_points_are_of_their_graph(void **state) {
    fxs_ctx *ctx = *state;
    fxs_node *a[3], *b[3], *made;
    fxs_graph *g = chain(ctx, a), *other = chain(ctx, b);
    fxs_insert_point p = {0};
    fxs_graph_restore_insert_point(g, p);
    assert_ok(ctx, fxs_graph_inserting_before(other, b[1], &p));
    fxs_graph_restore_insert_point(g, (fxs_insert_point){.at = b[1]});
    assert_ok(ctx, fxs_graph_call_function(g, "torch.tanh", NULL, NULL, &made));
    assert_int_equal(fxs_graph_len(g), 4);
    assert_ptr_equal(fxs_node_prev(made), a[2]);
    fxs_graph_free(g);
    fxs_graph_free(other);
}

static void keys_of_kwargs_are_names(void **state) {
    fxs_ctx *ctx = *state;
    fxs_node *n[3];
    fxs_graph *g = chain(ctx, n);
    fxs_value kwargs;
    assert_ok(ctx, fxs_make_dict(ctx, NULL, 1, &kwargs));
    kwargs.u.dict->pairs[0] = (fxs_pair){fxs_int(3), fxs_int(1)};
    assert_int_equal(fxs_node_set_args(n[1], NULL, &kwargs), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    fxs_value_unref(&kwargs);
    fxs_graph_free(g);
}

static void a_graph_has_one_owner(void **state) {
    fxs_ctx *ctx = *state;
    fxs_node *n[3];
    fxs_module *a, *b;
    fxs_graph *g = chain(ctx, n);
    assert_ok(ctx, fxs_module_new(ctx, "A", NULL, NULL, &a));
    assert_ok(ctx, fxs_module_new(ctx, "B", NULL, NULL, &b));
    assert_null(fxs_graph_owning_module(g));
    fxs_module_set_graph(a, g);
    assert_ptr_equal(fxs_graph_owning_module(g), a);
    fxs_module_set_graph(b, g);
    assert_ptr_equal(fxs_graph_owning_module(g), b);
    assert_null(fxs_module_graph(a));
    fxs_module_unref(a);
    fxs_module_unref(b);
}

static void trees_stay_trees(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m, *child, *grandchild;
    static const char *const wrong[] = {"", "a.b", "a\nb"};
    assert_ok(ctx, fxs_module_new(ctx, "M", NULL, NULL, &m));
    assert_ok(ctx, fxs_module_new(ctx, "C", NULL, NULL, &child));
    assert_ok(ctx, fxs_module_new(ctx, "G", NULL, NULL, &grandchild));
    assert_ok(ctx, fxs_module_add_child(m, "c", child));
    assert_ok(ctx, fxs_module_add_child(child, "g", grandchild));
    assert_int_equal(fxs_module_add_child(m, "m", m), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_module_add_child(grandchild, "m", m), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(fxs_module_add_child(m, wrong[i], grandchild), FXS_EINVAL);
        fxs_ctx_clear(ctx);
        assert_int_equal(fxs_module_add_tensor(m, wrong[i], true, FXS_FLOAT32, 0, NULL),
                         FXS_EINVAL);
        fxs_ctx_clear(ctx);
    }
    assert_int_equal(fxs_module_add_submodule(m, "p.q..r", grandchild), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_null(fxs_module_find(m, "p"));
    assert_int_equal(fxs_module_add_tensor(m, "t", true, (fxs_dtype)99, 0, NULL), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    fxs_module_unref(grandchild);
    fxs_module_unref(child);
    fxs_module_unref(m);
}

static void a_graph_is_no_replacement_in_itself(void **state) {
    fxs_ctx *ctx = *state;
    fxs_node *a[3], *b[3];
    fxs_module *m;
    fxs_graph *g = chain(ctx, a), *pattern = chain(ctx, b);
    assert_ok(ctx, fxs_module_new(ctx, "M", NULL, NULL, &m));
    fxs_module_set_graph(m, g);
    assert_int_equal(fxs_replace_pattern(m, pattern, g, NULL, NULL, NULL, NULL), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_graph_len(g), 3);
    fxs_graph_free(pattern);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(users_stay_after_a_refusal, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(erased_nodes_have_no_place, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(insert_points_are_of_their_graph, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(keys_of_kwargs_are_names, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_graph_has_one_owner, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(trees_stay_trees, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_graph_is_no_replacement_in_itself, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
