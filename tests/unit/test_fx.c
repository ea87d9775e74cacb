/* test_fx.c: runs the cases of fxcase.h: every file in tests/golden/fx has a case or a reason, and
 * the number of files that are reproduced byte for byte is counted. */
#include "fxcase.h"

static const fxcase_row *const groups[] = {fx_names_rows, fx_node_rows,    fx_graph_rows,
                                           fx_print_rows, fx_code_rows,    fx_exec_rows,
                                           fx_pass_rows,  fx_rewrite_rows, fx_more_rows};
enum { GROUPS = sizeof groups / sizeof *groups, WHOLE = 56, PARTLY = 46, NOT = 11 };

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

static size_t run_row(const fxcase_row *r) {
    char path[200];
    fxcase *c = calloc(1, sizeof *c);
    snprintf(path, sizeof path, "golden/fx/%s.txt", r->name);
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

static void every_script_prints_what_torch_fx_prints(void **state) {
    struct dirent **list;
    char path[512];
    const char *only = getenv("FXS_CASE");
    int whole = 0, partly = 0, not_at_all = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/golden/fx",
             getenv("FXS_TESTS") ? getenv("FXS_TESTS") : "tests");
    int n = scandir(path, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *dot = strstr(list[i]->d_name, ".txt");
        if (dot && (*dot = '\0', !only || strcmp(only, list[i]->d_name) == 0)) {
            const fxcase_row *r = find_row(list[i]->d_name);
            if (!r)
                fail_msg("%s has no case", list[i]->d_name);
            if (!r->fn)
                print_message("# %s: no case: %s\n", r->name, r->reason);
            *(!r->fn ? &not_at_all : run_row(r) == 0 ? &whole : &partly) += 1;
        }
        free(list[i]);
    }
    free(list);
    print_message("# %d of torch.fx's outputs are reproduced byte for byte, %d but for the lines "
                  "named above, %d are Python's alone\n",
                  whole, partly, not_at_all);
    if (!only) {
        assert_int_equal(whole, WHOLE);
        assert_int_equal(partly, PARTLY);
        assert_int_equal(not_at_all, NOT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_script_prints_what_torch_fx_prints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
