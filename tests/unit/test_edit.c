/* test_edit.c: insert points, moving, erasing, replacing, copying, dead code: the rule scripts of
 * torch.fx written again, with torch's outputs. */
#include "golden.h"

#include "ir/graph.h"

/* x, y, add(x, y), relu(add), cat([add, relu, x], dim=y), output(cat): the graph of the scripts. */
static const char base[] =
    "graph():\n"
    "    %x : [#users=2] = placeholder[target=x]\n"
    "    %y : [#users=2] = placeholder[target=y]\n"
    "    %add : [#users=2] = call_function[target=torch.add](args = (%x, %y), kwargs = {})\n"
    "    %relu : [#users=1] = call_function[target=torch.relu](args = (%add,), kwargs = {})\n"
    "    %cat : [#users=1] = call_function[target=torch.cat](args = ([%add, %relu, %x],), kwargs = "
    "{dim: %y})\n"
    "    return cat\n";

typedef struct fixture {
    fxs_ctx *ctx;
    fxs_module *m;
    fxs_graph *g;
    fxs_node *x, *y, *add, *relu, *cat, *output;
} fixture;

static fixture make(fxs_ctx *ctx) {
    fixture f = {.ctx = ctx};
    assert_ok(ctx, fxs_load_text(ctx, "base", base, strlen(base), &f.m));
    f.g = fxs_module_graph(f.m);
    f.x = fxs_graph_find(f.g, "x");
    f.y = fxs_graph_find(f.g, "y");
    f.add = fxs_graph_find(f.g, "add");
    f.relu = fxs_graph_find(f.g, "relu");
    f.cat = fxs_graph_find(f.g, "cat");
    f.output = fxs_graph_find(f.g, "output");
    return f;
}

static void drop(fixture *f) { fxs_module_unref(f->m); }

static void assert_graph(const fxs_graph *g, const char *want) {
    char *text;
    assert_ok(g->ctx, fxs_graph_print(g, 0, &text, NULL));
    assert_string_equal(text, want);
    fxs_free(text);
}

/* Names, separated by blanks. */
static void assert_names(const fxs_graph *g, const char *want) {
    fxs_buf b = {0};
    size_t n = 0;
    for (const fxs_node *node = fxs_graph_first(g); node; node = fxs_node_next(node), n++)
        fxs_buf_printf(&b, n ? " %s" : "%s", node->name);
    assert_string_equal(b.data ? b.data : "", want);
    assert_int_equal(n, fxs_graph_len(g));
    fxs_buf_free(&b);
}

static void assert_users(const fxs_node *n, const char *want) {
    fxs_buf b = {0};
    for (size_t i = 0; i < n->nusers; i++)
        fxs_buf_printf(&b, i ? " %s" : "%s", n->users[i]->name);
    assert_string_equal(b.data ? b.data : "", want);
    fxs_buf_free(&b);
}

static void assert_args(const fxs_node *n, const char *want) {
    fxs_buf b = {0};
    fxs_buf_repr(&b, &n->args, &(fxs_repr){.node = fxs_node_put_name});
    assert_string_equal(b.data, want);
    fxs_buf_free(&b);
}

static void assert_refused(fxs_ctx *ctx, fxs_status s, const char *message) {
    assert_int_not_equal(s, FXS_OK);
    assert_string_equal(fxs_ctx_error(ctx), message);
    fxs_ctx_clear(ctx);
}

static fxs_node *call(fxs_graph *g, const char *target, fxs_node *arg) {
    fxs_node *out;
    fxs_value args = TUPLE(g->ctx, fxs_of_node(arg));
    assert_ok(g->ctx, fxs_graph_call_function(g, target, &args, NULL, &out));
    fxs_value_unref(&args);
    return out;
}

static void insert_points(void **state) {
    fxs_ctx *ctx = *state;
    fxs_graph *g, *other;
    fxs_node *x, *a, *o, *l, *n;
    fxs_insert_point was, inner;
    fxs_value v;
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    assert_ok(ctx, fxs_graph_placeholder(g, "x", NULL, &x));
    a = call(g, "torch.relu", x);
    v = fxs_of_node(a);
    assert_ok(ctx, fxs_graph_output(g, &v, &o));
    assert_ok(ctx, fxs_graph_inserting_before(g, a, &was));
    call(g, "torch.abs", call(g, "torch.neg", x));
    fxs_graph_restore_insert_point(g, was);
    assert_ok(ctx, fxs_graph_inserting_after(g, a, &was));
    call(g, "torch.sin", a);
    call(g, "torch.cos", a);
    fxs_graph_restore_insert_point(g, was);
    assert_names(g, "x neg abs_1 relu cos sin output");
    assert_ok(ctx, fxs_graph_inserting_before(g, NULL, &was));
    assert_ok(ctx, fxs_graph_placeholder(g, "first", NULL, &n));
    assert_ok(ctx, fxs_graph_placeholder(g, "first2", NULL, &n));
    fxs_graph_restore_insert_point(g, was);
    assert_ok(ctx, fxs_graph_inserting_after(g, NULL, &was));
    call(g, "torch.exp", a);
    call(g, "torch.log", a);
    fxs_graph_restore_insert_point(g, was);
    assert_names(g, "first2 first x neg abs_1 relu cos sin output exp log");
    call(g, "torch.tan", a);
    assert_names(g, "first2 first x neg abs_1 relu cos sin output exp log tan");
    assert_ok(ctx, fxs_graph_inserting_before(g, o, NULL));
    l = call(g, "torch.ceil", a);
    call(g, "torch.floor", a);
    assert_names(g, "first2 first x neg abs_1 relu cos sin ceil floor output exp log tan");
    assert_ok(ctx, fxs_graph_new(ctx, &other));
    assert_refused(ctx, fxs_graph_inserting_before(other, a, NULL),
                   "Node to insert before is not in graph.");
    assert_refused(ctx, fxs_graph_inserting_after(other, a, NULL),
                   "Node to insert after is not in graph.");
    fxs_graph_free(other);
    assert_ok(ctx, fxs_graph_inserting_before(g, l, NULL));
    assert_ok(ctx, fxs_graph_inserting_after(g, x, &was));
    assert_ok(ctx, fxs_graph_inserting_before(g, o, &inner));
    call(g, "torch.round", a);
    fxs_graph_restore_insert_point(g, inner);
    call(g, "torch.frac", a);
    fxs_graph_restore_insert_point(g, was);
    call(g, "torch.trunc", a);
    assert_names(
        g,
        "first2 first x frac neg abs_1 relu cos sin trunc ceil floor round_1 output exp log tan");
    fxs_graph_free(g);
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    assert_ok(ctx, fxs_graph_placeholder(g, "x", NULL, &x));
    a = call(g, "torch.relu", x);
    assert_ok(ctx, fxs_graph_inserting_before(g, a, NULL));
    assert_ok(ctx, fxs_graph_erase_node(g, a));
    call(g, "torch.neg", x);
    assert_names(g, "x neg");
    fxs_graph_free(g);
}

static void moving(void **state) {
    fixture f = make(*state);
    assert_ok(f.ctx, fxs_node_prepend(f.add, f.relu));
    assert_names(f.g, "x y relu add cat output");
    assert_refused(f.ctx, fxs_graph_lint(f.g),
                   "Argument 'add' of Node 'relu' was used before it has been defined! Please "
                   "check that Nodes in the graph "
                   "are topologically ordered");
    assert_ok(f.ctx, fxs_node_append(f.add, f.relu));
    assert_names(f.g, "x y add relu cat output");
    assert_ok(f.ctx, fxs_node_append(f.x, f.output));
    assert_names(f.g, "x output y add relu cat");
    assert_ok(f.ctx, fxs_node_append(f.output, f.cat));
    assert_names(f.g, "x output cat y add relu");
    assert_ok(f.ctx, fxs_node_prepend(f.x, f.x));
    assert_ok(f.ctx, fxs_node_append(f.x, f.x));
    assert_ok(f.ctx, fxs_node_append(f.add, f.relu));
    assert_ok(f.ctx, fxs_node_append(f.relu, f.relu));
    assert_names(f.g, "x output cat y add relu");
    fxs_graph *other;
    fxs_node *z;
    assert_ok(f.ctx, fxs_graph_new(f.ctx, &other));
    assert_ok(f.ctx, fxs_graph_placeholder(other, "z", NULL, &z));
    assert_refused(f.ctx, fxs_node_append(f.add, z),
                   "Attempting to move a Node into a different Graph");
    fxs_graph_free(other);
    drop(&f);
}

static void erasing(void **state) {
    fixture f = make(*state);
    assert_refused(
        f.ctx, fxs_graph_erase_node(f.g, f.add),
        "Tried to erase Node add but it still had 2 users in the graph: {relu: None, cat: None}!");
    assert_refused(
        f.ctx, fxs_graph_erase_node(f.g, f.x),
        "Tried to erase Node x but it still had 2 users in the graph: {add: None, cat: None}!");
    assert_ok(f.ctx, fxs_graph_erase_node(f.g, f.output));
    assert_ok(f.ctx, fxs_graph_erase_node(f.g, f.cat));
    assert_names(f.g, "x y add relu");
    assert_args(f.cat, "([None, None, None],)");
    assert_users(f.add, "relu");
    assert_ptr_equal(f.cat->graph, f.g);
    assert_refused(f.ctx, fxs_graph_erase_node(f.g, f.cat), "Node cat is erased already");
    /* a name that is gone is not given again */
    assert_string_equal(call(f.g, "torch.cat", f.x)->name, "cat_1");
    drop(&f);
}

static bool is_add(void *user, const fxs_node *candidate) {
    (void)user;
    return strcmp(candidate->name, "add") == 0;
}

static void replacing_uses(void **state) {
    size_t changed;
    fixture f = make(*state);
    assert_ok(f.ctx, fxs_node_replace_all_uses_with(f.add, f.relu, NULL, NULL, false, &changed));
    assert_int_equal(changed, 2);
    assert_args(f.relu, "(relu,)");
    assert_args(f.cat, "([relu, relu, x],)");
    assert_users(f.add, "");
    assert_users(f.relu, "relu cat");
    drop(&f);
    f = make(*state);
    assert_ok(f.ctx, fxs_node_replace_all_uses_with(f.x, f.y, is_add, NULL, false, &changed));
    assert_int_equal(changed, 1);
    assert_args(f.add, "(y, y)");
    assert_args(f.cat, "([add, relu, x],)");
    assert_users(f.x, "cat");
    assert_users(f.y, "cat add");
    drop(&f);
    f = make(*state);
    assert_refused(f.ctx, fxs_node_replace_all_uses_with(f.add, f.add, NULL, NULL, false, NULL),
                   "Node add can't be replaced by itself");
    assert_ok(f.ctx, fxs_node_replace_all_uses_with(f.add, NULL, NULL, NULL, false, &changed));
    assert_args(f.relu, "(None,)");
    drop(&f);
    f = make(*state);
    assert_ok(f.ctx, fxs_node_replace_all_uses_with(f.cat, f.add, NULL, NULL, false, &changed));
    assert_args(f.output, "(add,)");
    f.relu->meta.outcome = FXS_DONE;
    f.relu->meta.flops = 7;
    assert_ok(f.ctx, fxs_node_replace_all_uses_with(f.relu, f.add, NULL, NULL, true, NULL));
    assert_near(f.add->meta.flops, 7, 0);
    drop(&f);
}

static void replacing_inputs_and_arguments(void **state) {
    fixture f = make(*state);
    assert_ok(f.ctx, fxs_node_replace_input_with(f.cat, f.add, f.y));
    assert_args(f.cat, "([y, relu, x],)");
    assert_users(f.add, "relu");
    assert_users(f.y, "add cat");
    assert_ok(f.ctx, fxs_node_replace_input_with(f.cat, f.output, f.x));
    assert_args(f.cat, "([y, relu, x],)");
    fxs_value five = fxs_int(5), x = fxs_of_node(f.x);
    assert_ok(f.ctx, fxs_node_update_arg(f.add, -1, &five));
    assert_args(f.add, "(x, 5)");
    assert_refused(f.ctx, fxs_node_update_arg(f.add, 2, &five),
                   "Node add has 2 arguments, so there is no argument 2");
    assert_ok(f.ctx, fxs_node_update_kwarg(f.cat, "dim", &five));
    assert_ok(f.ctx, fxs_node_update_kwarg(f.cat, "out", &x));
    assert_users(f.y, "cat");
    assert_graph(
        f.g,
        "graph():\n"
        "    %x : [#users=2] = placeholder[target=x]\n"
        "    %y : [#users=1] = placeholder[target=y]\n"
        "    %add : [#users=1] = call_function[target=torch.add](args = (%x, 5), kwargs = {})\n"
        "    %relu : [#users=1] = call_function[target=torch.relu](args = (%add,), kwargs = {})\n"
        "    %cat : [#users=1] = call_function[target=torch.cat](args = ([%y, %relu, %x],), kwargs "
        "= "
        "{dim: 5, out: %x})\n"
        "    return cat\n");
    drop(&f);
}

static void walking_while_editing(void **state) {
    fixture f = make(*state);
    fxs_buf seen = {0};
    for (fxs_node *n = fxs_graph_first(f.g); n; n = fxs_node_next(n)) {
        fxs_buf_printf(&seen, seen.len ? " %s" : "%s", n->name);
        if (n == f.add) {
            assert_ok(f.ctx, fxs_graph_inserting_after(f.g, n, NULL));
            call(f.g, "torch.neg", n);
        } else if (n == f.relu) {
            assert_ok(f.ctx, fxs_node_replace_all_uses_with(n, f.add, NULL, NULL, false, NULL));
            assert_ok(f.ctx, fxs_graph_erase_node(f.g, n));
        }
    }
    assert_string_equal(seen.data, "x y add neg relu cat output");
    assert_names(f.g, "x y add neg cat output");
    fxs_buf_free(&seen);
    drop(&f);
}

static void dead_code(void **state) {
    fixture f = make(*state);
    size_t erased;
    fxs_node *neg, *n;
    fxs_value args;
    assert_ok(f.ctx, fxs_graph_inserting_before(f.g, f.output, NULL));
    neg = call(f.g, "torch.neg", f.cat);
    args = TUPLE(f.ctx, fxs_of_node(neg));
    assert_ok(f.ctx, fxs_graph_call_method(f.g, "foo", &args, NULL, &n));
    fxs_value_unref(&args);
    assert_ok(f.ctx, fxs_graph_get_attr(f.g, "w", &n));
    assert_ok(f.ctx, fxs_graph_placeholder(f.g, "unused", NULL, &n));
    call(f.g, "torch._assert", neg);
    call(f.g, "operator.iadd", f.add);
    fxs_graph *g = f.g; /* without owner, so that lint asks for no attribute w */
    g->owner = NULL;
    assert_ok(f.ctx, fxs_graph_eliminate_dead_code(f.g, &erased));
    assert_int_equal(erased, 3);
    assert_names(f.g, "x y add relu cat neg unused _assert output");
    assert_ok(f.ctx, fxs_graph_eliminate_dead_code(f.g, &erased));
    assert_int_equal(erased, 0);
    drop(&f);
}

static void copying(void **state) {
    fixture f = make(*state);
    fxs_graph *h, *deep;
    fxs_node *n;
    fxs_val_map *map;
    fxs_value out;
    assert_ok(f.ctx, fxs_graph_new(f.ctx, &h));
    assert_int_equal(fxs_graph_node_copy(h, f.add, NULL, NULL, &n), FXS_ELINT);
    fxs_ctx_clear(f.ctx);
    fxs_graph_free(h);
    assert_ok(f.ctx, fxs_graph_new(f.ctx, &h));
    assert_ok(f.ctx, fxs_graph_placeholder(h, "x", NULL, &n));
    assert_ok(f.ctx, fxs_val_map_new(f.g, &map));
    assert_ok(f.ctx, fxs_graph_copy_into(h, f.g, map, &out));
    assert_int_equal(out.tag, FXS_V_NODE);
    assert_string_equal(out.u.node->name, "cat");
    assert_string_equal(fxs_val_map_get(map, f.x)->u.node->name, "x_1");
    assert_null(fxs_val_map_get(map, f.output));
    fxs_val_map_free(map);
    assert_graph(
        h,
        "graph():\n"
        "    %x : [#users=0] = placeholder[target=x]\n"
        "    %x_1 : [#users=2] = placeholder[target=x]\n"
        "    %y : [#users=2] = placeholder[target=y]\n"
        "    %add : [#users=2] = call_function[target=torch.add](args = (%x_1, %y), kwargs = {})\n"
        "    %relu : [#users=1] = call_function[target=torch.relu](args = (%add,), kwargs = {})\n"
        "    %cat : [#users=0] = call_function[target=torch.cat](args = ([%add, %relu, %x_1],), "
        "kwargs = {dim: %y})\n");
    /* spliced: y becomes a constant */
    fxs_value seven = fxs_int(7), x = fxs_of_node(n);
    assert_ok(f.ctx, fxs_val_map_new(f.g, &map));
    assert_ok(f.ctx, fxs_val_map_set(map, f.y, seven));
    assert_ok(f.ctx, fxs_val_map_set(map, f.x, x));
    assert_ok(f.ctx, fxs_graph_copy_into(h, f.g, map, &out));
    assert_args(fxs_val_map_get(map, f.add)->u.node, "(x, 7)");
    fxs_val_map_free(map);
    fxs_graph_free(h);
    assert_ok(f.ctx, fxs_graph_deep_copy(f.g, &deep));
    assert_graph(deep, base);
    assert_null(deep->owner);
    fxs_graph_free(deep);
    /* within the same graph */
    assert_ok(f.ctx, fxs_graph_node_copy(f.g, f.add, NULL, NULL, &n));
    assert_string_equal(n->name, "add_1");
    assert_args(n, "(x, y)");
    drop(&f);
}

/* Everything above in one go, with each allocation failing once. */
static fxs_status edit_everything(fxs_ctx *ctx, const void *data) {
    (void)data;
    fxs_module *m = NULL;
    fxs_graph *deep = NULL;
    size_t n;
    fxs_value five = fxs_int(5);
    fxs_status s = fxs_load_text(ctx, "base", base, strlen(base), &m);
    if (s == FXS_OK) {
        fxs_graph *g = fxs_module_graph(m);
        fxs_node *x = fxs_graph_first(g), *y = fxs_node_next(x), *add = fxs_node_next(y),
                 *relu = fxs_node_next(add);
        s = fxs_graph_deep_copy(g, &deep);
        if (s == FXS_OK)
            s = fxs_node_update_kwarg(relu, "k", &five);
        if (s == FXS_OK)
            s = fxs_node_set_user_meta(relu, "k", &five);
        if (s == FXS_OK)
            s = fxs_node_replace_all_uses_with(relu, add, NULL, NULL, true, &n);
        if (s == FXS_OK)
            s = fxs_graph_eliminate_dead_code(g, &n);
    }
    fxs_graph_free(deep);
    fxs_module_unref(m);
    return s;
}

static void assert_user_meta(const fxs_node *n, const char *want) {
    const fxs_value *meta = fxs_node_user_meta(n, NULL);
    char *text;
    assert_non_null(meta);
    assert_ok(n->graph->ctx, fxs_value_print(n->graph->ctx, meta, &text));
    assert_string_equal(text, want);
    fxs_free(text);
}

static void user_meta(void **state) {
    fixture f = make(*state);
    fxs_tensor *t;
    fxs_graph *copy;
    fxs_value one = fxs_int(1), two = fxs_int(2), tensor, list, node = fxs_of_node(f.x);
    assert_null(fxs_node_user_meta(f.add, NULL));
    assert_null(fxs_node_user_meta(f.add, "a"));
    assert_ok(f.ctx, fxs_node_set_user_meta(f.add, "a", &one));
    assert_ok(f.ctx, fxs_node_set_user_meta(f.add, "b", &two));
    assert_ok(f.ctx, fxs_tensor_new(f.ctx, FXS_FLOAT32, 1, (int64_t[]){3}, &t));
    tensor = fxs_of_tensor(t);
    assert_ok(f.ctx, fxs_value_list(f.ctx, 1, &tensor, &list));
    assert_ok(f.ctx, fxs_node_set_user_meta(f.add, "a", &list));
    fxs_value_unref(&list);
    fxs_value_unref(&tensor);
    assert_user_meta(f.add, "{'a': [float32[3]], 'b': 2}");
    /* a copy's is its own from the first change on */
    assert_ok(f.ctx, fxs_graph_deep_copy(f.g, &copy));
    fxs_node *add = fxs_graph_find(copy, "add");
    assert_ok(f.ctx, fxs_node_set_user_meta(add, "b", NULL));
    assert_ok(f.ctx, fxs_node_set_user_meta(add, "nothing", NULL));
    assert_user_meta(add, "{'a': [float32[3]]}");
    fxs_graph_free(copy);
    assert_user_meta(f.add, "{'a': [float32[3]], 'b': 2}");
    assert_int_equal(fxs_node_set_user_meta(f.add, "n", &node), FXS_EINVAL);
    fxs_ctx_clear(f.ctx);
    /* inherited where it lacks, and kept by what is erased */
    assert_ok(f.ctx, fxs_node_set_user_meta(f.y, "b", &one));
    assert_ok(f.ctx, fxs_node_replace_all_uses_with(f.add, f.y, NULL, NULL, true, NULL));
    assert_user_meta(f.y, "{'b': 1, 'a': [float32[3]]}");
    assert_ok(f.ctx, fxs_graph_erase_node(f.g, f.add));
    assert_user_meta(f.add, "{'a': [float32[3]], 'b': 2}");
    drop(&f);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    assert_survives(NULL, edit_everything, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insert_points),
        cmocka_unit_test(moving),
        cmocka_unit_test(erasing),
        cmocka_unit_test(replacing_uses),
        cmocka_unit_test(replacing_inputs_and_arguments),
        cmocka_unit_test(walking_while_editing),
        cmocka_unit_test(dead_code),
        cmocka_unit_test(copying),
        cmocka_unit_test(user_meta),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
