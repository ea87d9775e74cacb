/* test_pass_golden.c: passes and splitting against what PyTorch 1.13's own passes make of the same
 * networks (tests/golden/passes, written by make.py there). Where the library differs on purpose,
 * the line is named with its reason. */
#include "golden.h"

typedef struct difference {
    const char *ours, *theirs; /* in the graph's text; theirs NULL: the line is not there */
} difference;

static fxs_module *load(fxs_ctx *ctx, const char *name) {
    char path[100];
    fxs_module *m;
    snprintf(path, sizeof path, "golden/passes/%s.before.fx", name);
    char *text = read_test_file(path, NULL);
    assert_ok(ctx, fxs_load_text(ctx, path, text, strlen(text), &m));
    fxs_free(text);
    return m;
}

/* The text with each of ours (which must be there once) as theirs. */
static char *as_theirs(char *text, size_t n, const difference *d) {
    for (size_t i = 0; i < n; i++) {
        fxs_buf b = {0};
        char *at = strstr(text, d[i].ours);
        assert_non_null(at);
        assert_null(strstr(at + 1, d[i].ours));
        fxs_buf_add(&b, text, (size_t)(at - text));
        fxs_buf_puts(&b, d[i].theirs ? d[i].theirs : "");
        fxs_buf_puts(&b, at + strlen(d[i].ours));
        fxs_free(text);
        text = fxs_buf_take(&b, NULL);
    }
    return text;
}

static void pass_is_torchs(fxs_ctx *ctx, const char *network, const char *pass, const char *golden,
                           size_t n, const difference *d) {
    char path[100], *have, *want;
    fxs_module *m = load(ctx, network);
    assert_ok(ctx, fxs_pass_run(m, pass, NULL));
    assert_ok(ctx, fxs_graph_lint(fxs_module_graph(m)));
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &have, NULL));
    snprintf(path, sizeof path, "golden/passes/%s.%s.txt", network, golden);
    want = read_test_file(path, NULL);
    have = as_theirs(have, n, d);
    assert_string_equal(have, want);
    fxs_free(have);
    fxs_free(want);
    fxs_module_unref(m);
}

/* torch.fx.experimental.optimization.fuse folds batch normalisation into a convolution that is
 * called a second time without it, and then computes something else. */
static void fuse(void **state) {
    static const difference shared[] = {
        {"    %bn2 : [#users=1] = call_module[target=bn2](args = (%shared,), kwargs = {})\n", NULL},
        {"operator.add](args = (%bn2, %shared_1)", "operator.add](args = (%shared, %shared_1)"}};
    pass_is_torchs(*state, "net", "fuse-conv-bn", "fuse-conv-bn", 2, shared);
}

static void remove_dropout(void **state) {
    pass_is_torchs(*state, "net", "remove-identity", "remove-dropout", 0, NULL);
}

/* torch.fx.experimental.normalize fills in defaults where a signature has them; the pass gives
 * names to what is there, and fxs_node_normalized_arguments does both. */
static void normalize(void **state) {
    static const difference defaults[] = {{"start_dim: 1}", "start_dim: 1, end_dim: -1}"}};
    pass_is_torchs(*state, "net", "normalize-args", "normalize-args", 1, defaults);
}

static void common_subexpressions(void **state) {
    pass_is_torchs(*state, "repeats", "cse", "cse", 0, NULL);
}

/* Five calls a part. */
static fxs_status by_five(void *user, const fxs_node *n, int64_t *part) {
    int64_t *calls = user;
    (void)n;
    *part = (*calls)++ / 5;
    return FXS_OK;
}

static void split(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, "net"), *out;
    fxs_buf have = {0};
    int64_t calls = 0;
    char name[40], *text, *want = read_test_file("golden/passes/net.split.txt", NULL);
    assert_ok(ctx, fxs_split_module(m, by_five, &calls, &out));
    for (int i = -1; i < (calls + 4) / 5; i++) {
        snprintf(name, sizeof name, "submod_%d", i);
        fxs_module *part = i < 0 ? out : fxs_module_find(out, name);
        assert_non_null(part);
        assert_ok(ctx, fxs_graph_lint(fxs_module_graph(part)));
        assert_ok(ctx, fxs_graph_print(fxs_module_graph(part), 0, &text, NULL));
        fxs_buf_printf(&have, "%s%s%s", i < 0 ? "" : name, i < 0 ? "" : "\n", text);
        fxs_free(text);
    }
    assert_string_equal(have.data, want);
    fxs_buf_free(&have);
    fxs_free(want);
    fxs_module_unref(out);
    fxs_module_unref(m);
}

static fxs_status neg_apart(void *user, const fxs_node *n, int64_t *part) {
    (void)user;
    *part = strcmp(fxs_node_name(n), "neg") == 0;
    return FXS_OK;
}

/* split_module of 1.13 raises an IndexError. */
static void a_part_that_nobody_needs(void **state) {
    static const char text[] =
        "graph():\n    %x : [#users=2] = placeholder[target=x]\n"
        "    %relu : [#users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
        "    %neg : [#users=0] = call_function[target=torch.neg](args = (%x,), kwargs = {})\n"
        "    return relu\n";
    fxs_module *m, *out;
    char *part;
    assert_ok(*state, fxs_load_text(*state, "m", text, strlen(text), &m));
    assert_ok(*state, fxs_split_module(m, neg_apart, NULL, &out));
    assert_ok(*state, fxs_graph_lint(fxs_module_graph(out)));
    assert_ok(*state,
              fxs_graph_print(fxs_module_graph(fxs_module_find(out, "submod_1")), 0, &part, NULL));
    assert_non_null(strstr(part, "    return None\n"));
    fxs_free(part);
    fxs_module_unref(out);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fuse),      cmocka_unit_test(remove_dropout),
        cmocka_unit_test(normalize), cmocka_unit_test(common_subexpressions),
        cmocka_unit_test(split),     cmocka_unit_test(a_part_that_nobody_needs),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
