/* test_fx.c: runs the cases of fxcase.h: every file in tests/golden/fx, and every tr_* in
 * tests/golden/trace, has a case, a reason, or another program that compares graphs of it. At
 * the end stands a table of all files, and the number that are reproduced byte for byte. */
#include "fxcase.h"

static const fxcase_row *const groups[] = {
    fx_names_rows, fx_node_rows, fx_graph_rows,   fx_print_rows, fx_code_rows,
    fx_exec_rows,  fx_pass_rows, fx_rewrite_rows, fx_more_rows,  fx_trace_rows};
enum { GROUPS = sizeof groups / sizeof *groups, WHOLE = 74, PARTLY = 53, NOT = 9, ELSEWHERE = 12 };

/* Scripts whose graphs, and the code behind them, another program compares; where they print more
 * than that, not all of it. */
static const char *const elsewhere[][2] = {
    {"tr_fn_consts", "test_trace_calls"},
    {"tr_functional_modules", "test_trace_calls"},
    {"tr_inplace", "test_trace_calls"},
    {"tr_leaf_custom", "test_trace"},
    {"tr_math", "test_trace_calls"},
    {"tr_methods", "test_trace_calls"},
    {"tr_module_train", "test_trace_facts"},
    {"tr_mutable", "test_trace_facts"},
    {"tr_nested", "test_trace"},
    {"tr_ops", "test_trace_calls"},
    {"tr_outputs", "test_trace_facts"},
    {"tr_param_cache", "test_trace"},
    {"tr_param_direct", "test_trace_facts"},
    {"tr_param_ops", "test_trace_calls"},
    {"tr_path", "test_trace"},
    {"tr_root_kinds", "test_trace_facts"},
    {"tr_tensor_consts", "test_trace_facts"},
    {"tr_torch_fns", "test_trace_calls"},
    {"tr_unpack", "test_trace_calls"},
    {"tr_unregistered_module", "test_trace"},
};

static const fxcase_row *find_row(const char *name) {
    for (size_t i = 0; i < GROUPS; i++)
        for (const fxcase_row *r = groups[i]; r->name; r++)
            if (strcmp(r->name, name) == 0)
                return r;
    return NULL;
}

/* The first line that differs, so that a long text need not be searched. */
static void say_difference(const fxcase *c) {
    const char *have = c->out.data, *want = c->want;
    size_t line = 1, i = 0, start = 0;
    for (; have[i] && have[i] == want[i]; i++)
        if (have[i] == '\n')
            line++, start = i + 1;
    fprintf(stderr, "%s:%zu\nhave: %.*s\nwant: %.*s\n", c->name, line,
            (int)strcspn(have + start, "\n"), have + start, (int)strcspn(want + start, "\n"),
            want + start);
}

static size_t run_row(const char *folder, const fxcase_row *r) {
    char path[200];
    fxcase *c = calloc(1, sizeof *c);
    snprintf(path, sizeof path, "%s/%s.txt", folder, r->name);
    char *want = read_test_file(path, NULL);
    c->ctx = fxs_ctx_new();
    c->name = r->name;
    c->want = want;
    r->fn(c);
    fxs_buf_puts(&c->out, "");
    if (strcmp(c->out.data, want) != 0)
        say_difference(c);
    assert_string_equal(c->out.data, want);
    size_t differences = c->differences;
    for (size_t i = 0; i < c->ngraphs; i++)
        fxs_graph_free(c->graphs[i]);
    for (size_t i = 0; i < c->nmodules; i++)
        fxs_module_unref(c->modules[i]);
    for (size_t i = 0; i < c->nvalues; i++)
        fxs_value_unref(&c->values[i]);
    fxs_buf_free(&c->out);
    fxs_ctx_free(c->ctx);
    fxs_free(want);
    free(c);
    return differences;
}

typedef struct counts {
    int whole, partly, not_at_all, elsewhere;
} counts;

/* The file is one graph, perhaps with its code behind: all of it is what assert_golden (tracing.h)
 * compares. */
static bool is_one_graph(const char *folder, const char *name) {
    static const char *const begins[] = {"    ", "\n", "graph():\n", "def forward(",
                                         "torch.fx._symbolic_trace.wrap("};
    char path[512];
    size_t graphs = 0;
    bool only = true;
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    char *text = read_test_file(path, NULL);
    for (const char *line = text; *line && only; line += line[0] == '\n') {
        only = false;
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            only = only || strncmp(line, begins[i], strlen(begins[i])) == 0;
        graphs += strncmp(line, "graph():\n", 9) == 0;
        line += strcspn(line, "\n");
    }
    fxs_free(text);
    return only && graphs == 1;
}

static void run_file(const char *folder, const char *name, fxs_buf *table, counts *n) {
    const fxcase_row *r = find_row(name);
    for (size_t i = 0; !r && i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (strcmp(elsewhere[i][0], name) != 0)
            continue;
        bool whole = is_one_graph(folder, name);
        fxs_buf_printf(table, "# %-26s %s, in %s\n", name,
                       whole ? "whole" : "in part: graphs and code of it", elsewhere[i][1]);
        *(whole ? &n->whole : &n->elsewhere) += 1;
        return;
    }
    if (!r)
        fail_msg("%s/%s has no case", folder, name);
    if (!r->fn) {
        fxs_buf_printf(table, "# %-26s not: %s\n", name, r->reason);
        n->not_at_all++;
        return;
    }
    size_t differences = run_row(folder, r);
    if (differences)
        fxs_buf_printf(table, "# %-26s in part: %zu place%s named above\n", name, differences,
                       differences > 1 ? "s" : "");
    else
        fxs_buf_printf(table, "# %-26s whole\n", name);
    *(differences ? &n->partly : &n->whole) += 1;
}

static void run_folder(const char *folder, const char *prefix, fxs_buf *table, counts *n) {
    struct dirent **list;
    char path[512];
    const char *only = getenv("FXS_CASE"), *tests = getenv("FXS_TESTS");
    snprintf(path, sizeof path, "%s/%s", tests ? tests : "tests", folder);
    int count = scandir(path, &list, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char *dot = strstr(list[i]->d_name, ".txt");
        if (dot && strncmp(list[i]->d_name, prefix, strlen(prefix)) == 0 &&
            (*dot = '\0', !only || strcmp(only, list[i]->d_name) == 0))
            run_file(folder, list[i]->d_name, table, n);
        free(list[i]);
    }
    free(list);
}

static void every_script_prints_what_torch_fx_prints(void **state) {
    fxs_buf table = {0};
    counts n = {0};
    (void)state;
    run_folder("golden/fx", "", &table, &n);
    run_folder("golden/trace", "tr_", &table, &n);
    /* A line at a time: cmocka cuts long messages. */
    for (size_t at = 0; at < table.len; at++) {
        size_t start = at;
        at += strcspn(table.data + at, "\n");
        print_message("%.*s\n", (int)(at - start), table.data + start);
    }
    print_message("# %d of torch.fx's outputs are reproduced byte for byte, %d but for the lines "
                  "named above, graphs and code of %d in other programs, %d are Python's alone\n",
                  n.whole, n.partly, n.elsewhere, n.not_at_all);
    fxs_buf_free(&table);
    if (getenv("FXS_CASE"))
        return;
    assert_int_equal(n.whole, WHOLE);
    assert_int_equal(n.partly, PARTLY);
    assert_int_equal(n.not_at_all, NOT);
    assert_int_equal(n.elsewhere, ELSEWHERE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_script_prints_what_torch_fx_prints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
