/* test_trace_saved.c: a traced model that is saved in the text format and loaded again has all that
 * its graph had: modules that were running, places in the source, stacks of calls. */
#include "fxoutline.h"
#include "tracing.h"

static fxs_proxy twice_doubled(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "double", x[0]);
    return fxs_call(self, "double", fxs_relu(y));
}

static fxs_proxy doubled(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "lin", x[0]);
    return fxs_add(y, y);
}

static fxs_proxy through_both(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "block", fxs_call(self, "it's a path", x[0]));
    return fxs_sub(y, x[0]);
}

static fxs_module *nested(fxs_ctx *ctx, bool record_source) {
    fxs_module *m = fxs_nn(ctx, "Net");
    fxs_module *block = fxs_nn_add(m, "block", "Block");
    fxs_module *inner = fxs_nn_add(block, "double", "Double");
    fxs_module *odd = fxs_nn_add(m, "it's a path", "Double");
    fxs_nn_add(inner, "lin", "Linear(2, 2)");
    fxs_nn_add(odd, "lin", "Linear(2, 2)");
    fxs_nn_forward(m, "x", through_both, NULL);
    fxs_nn_forward(block, "x", twice_doubled, NULL);
    fxs_nn_forward(inner, "x", doubled, NULL);
    fxs_nn_forward(odd, "x", doubled, NULL);
    return trace_module(ctx, m, &(fxs_trace_options){.record_source = record_source});
}

static char *file_of(const fxs_module *m) {
    char *text;
    assert_ok(m->ctx, fxs_module_print_file(m, 0, &text, NULL));
    return text;
}

static fxs_module *load(fxs_ctx *ctx, const char *text) {
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "saved", text, strlen(text), &m));
    return m;
}

static void assert_same_text(const char *a, const char *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (a)
        assert_string_equal(a, b);
}

static void assert_same_scopes(const fxs_scope *a, const fxs_scope *b) {
    for (; a && b; a = a->outer, b = b->outer) {
        assert_string_equal(a->path, b->path);
        assert_string_equal(a->class_name, b->class_name);
        assert_int_equal(a->call, b->call);
    }
    assert_true(!a && !b);
}

static void assert_same_origins(const fxs_module *a, const fxs_module *b) {
    const fxs_node *m = fxs_graph_first(a->graph), *n = fxs_graph_first(b->graph);
    for (; m && n; m = fxs_node_next(m), n = fxs_node_next(n)) {
        assert_same_scopes(fxs_node_scope(m), fxs_node_scope(n));
        fxs_place p = fxs_node_place(m), q = fxs_node_place(n);
        assert_same_text(p.file, q.file);
        assert_int_equal(p.line, q.line);
        assert_same_text(fxs_node_stack_trace(m), fxs_node_stack_trace(n));
    }
    assert_true(!m && !n);
}

/* Saved, loaded, and saved again: m's origins and the same bytes. */
static void assert_kept(const fxs_module *m) {
    char *text = file_of(m);
    fxs_module *back = load(m->ctx, text);
    char *again = file_of(back);
    assert_same_origins(m, back);
    assert_string_equal(text, again);
    fxs_free(text);
    fxs_free(again);
    fxs_module_unref(back);
}

static void origins_are_kept(void **state) {
    fxs_ctx *ctx = *state;
    for (int record = 0; record < 2; record++) {
        fxs_module *m = nested(ctx, record);
        assert_kept(m);
        fxs_module_unref(m);
    }
    fxs_module *m = nested(ctx, true);
    char *text = file_of(m);
    assert_non_null(strstr(text, "    # in Net > block: Block > block.double: Double (call 2)\n"));
    assert_non_null(strstr(text, "    # in Net > \"it's a path\": Double\n"));
    assert_non_null(strstr(text, "test_trace_saved.c:"));
    assert_null(strstr(text, "# stack"));
    fxs_free(text);
    fxs_module_unref(m);
}

/* What passes, programs and other front ends may leave in nodes. */
static void odd_origins_are_kept(void **state) {
    static const char *const files[] = {"a b.py", " x",           "'q'.c",    "a:b:3", "new\nline",
                                        "",       "x in forward", "\xff\x01", NULL};
    static const char *const stacks[] = {"  File \"a b.py\", line 7, in forward\n",
                                         "one\n  'two'\n\ttabs", "", NULL, "x # in y"};
    fxs_ctx *ctx = *state;
    fxs_module *m = nested(ctx, false);
    fxs_graph *g = m->graph;
    size_t i = 0;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n), i++) {
        const char *file = files[i % 9], *stack = stacks[i % 5];
        n->file = file ? fxs_arena_dup(&g->arena, file, strlen(file)) : NULL;
        n->stack_trace = stack ? fxs_arena_dup(&g->arena, stack, strlen(stack)) : NULL;
        n->line = (int)i * 7;
        if (i % 4 == 1)
            n->scope = NULL;
    }
    assert_true(i > 9);
    assert_kept(m);
    fxs_module_unref(m);
}

/* Comments are no part of the graph, wherever they stand and whatever they look like. */
static void other_comments_change_nothing(void **state) {
    static const char text[] =
        "A()\ngraph():\n    # what comes in\n    # in the beginning\n    # in short\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "# in A > b: B\n# in A > b\n# inner\n# at\n# at nowhere\n# at :3\n# at a:99999999999\n"
        "# at 'a:3\n# stack 'never closed\n# stack 3\n# in A > > B\n#\n"
        "# in 'A\n# in A (call 0)\n# in A (call 1)\n# in A (call 2) x\n"
        "    %y : [#users=1] = call_function[target=torch.relu](args = (%x,), "
        "kwargs = {})\n    # the end\n    return y\n# after\n";
    static const char want[] =
        "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
        "    # in A > b: B\n"
        "    %y : [#users=1] = call_function[target=torch.relu](args = (%x,), "
        "kwargs = {})\n    return y\n";
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, text);
    char *have = file_of(m);
    assert_string_equal(strstr(have, "graph():"), want);
    assert_string_equal(fxs_ctx_error(ctx), "");
    fxs_free(have);
    fxs_module_unref(m);
}

/* A class alone is a scope when it is the class of the tree, or has the root's path in front. */
static void classes_alone(void **state) {
    static const struct {
        const char *comment, *scope;
    } cases[] = {{"in Net", "Net"},          {"in Other", NULL}, {"in '': Other", "Other"},
                 {"in Net (call 2)", "Net"}, {"in word", NULL},  {"in \"Net\"", "Net"}};
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "Net()\ngraph():\n    # %s\n    %%x : [#users=1] = placeholder[target=x]\n"
                 "    return x\n",
                 cases[i].comment);
        fxs_module *m = load(ctx, text);
        const fxs_scope *s = fxs_node_scope(fxs_graph_first(m->graph));
        assert_int_equal(s != NULL, cases[i].scope != NULL);
        if (s) {
            assert_string_equal(s->class_name, cases[i].scope);
            assert_string_equal(s->path, "");
        }
        assert_kept(m);
        fxs_module_unref(m);
    }
}

static char *outlined(fxs_module *m) {
    fxs_module *out;
    char *text;
    assert_ok(m->ctx, fxs_outline(m, &(fxs_outline_options){.depth = 1}, &out, NULL));
    assert_ok(m->ctx, fxs_graph_print(out->graph, 0, &text, NULL));
    fxs_module_unref(out);
    return text;
}

static void outlines_are_the_same(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = nested(ctx, false);
    char *text = file_of(m);
    fxs_module *back = load(ctx, text);
    char *want = outlined(m), *have = outlined(back);
    assert_string_equal(have, want);
    assert_null(strstr(have, "operator.add")); /* which only the scope says is in a box */
    fxs_free(want);
    fxs_free(have);
    fxs_free(text);
    fxs_module_unref(back);
    fxs_module_unref(m);
}

static void memory_may_be_out(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = nested(ctx, true), *back = NULL;
    char *text = file_of(m);
    fxs_status s = FXS_ENOMEM;
    for (long n = 0; s != FXS_OK; n++) {
        fxs_alloc_fail_after(n);
        s = fxs_load_text(ctx, "saved", text, strlen(text), &back);
        fxs_alloc_fail_after(-1);
        assert_true(s == FXS_OK || s == FXS_ENOMEM);
        fxs_ctx_clear(ctx);
    }
    assert_same_origins(m, back);
    fxs_free(text);
    s = FXS_ENOMEM;
    for (long n = 0; s != FXS_OK; n++) {
        fxs_alloc_fail_after(n);
        s = fxs_module_print_file(m, 0, &text, NULL);
        fxs_alloc_fail_after(-1);
        assert_true(s == FXS_OK || s == FXS_ENOMEM);
        fxs_ctx_clear(ctx);
    }
    fxs_free(text);
    fxs_module_unref(back);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(origins_are_kept, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(odd_origins_are_kept, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(other_comments_change_nothing, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(classes_alone, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(outlines_are_the_same, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(memory_may_be_out, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
