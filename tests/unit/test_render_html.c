/* test_render_html.c: the interactive page as bytes: what frames the data, that the data is JSON
 * which says every node once and points to nothing that is not there, hostile texts, same bytes
 * again, no memory. What a browser makes of it is tested in tests/svg/check_page.py, for which
 * `test_render_html FILE` writes the page of a hostile model. */
#include <jansson.h>
#include <unistd.h>

#include "fxoutline.h"
#include "ir/graph.h"
#include "render_testing.h"
#include "unit.h"

static const char *const hostile[] = {
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\"'`\\",
    "line\xe2\x80\xa8separator",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\x01\x1b[31m\xff\xc3",
    "\xe2\x80\xae!",
    "${alert(1)}",
    "__proto__",
    "constructor",
    "%s%n",
    "a\nb",
    " ",
};
enum { NHOSTILE = sizeof hostile / sizeof *hostile };

/* Every text as the name of a node, its target, an argument and a result; every second node in a
 * module with such a path and class. */
static fxs_module *hostile_module(fxs_ctx *ctx) {
    fxs_module *m = new_graph_module(ctx, hostile[0]);
    static char large[100001];
    const fxs_scope *root, *scope;
    fxs_node *before = NULL;
    memset(large, '<', sizeof large - 1);
    assert_ok(ctx, fxs_graph_scope(m->graph, NULL, "", "M", 0, &root));
    for (size_t i = 0; i <= NHOSTILE; i++) {
        const char *text = i < NHOSTILE ? hostile[i] : large;
        assert_ok(ctx, fxs_graph_scope(m->graph, root, text, text, 0, &scope));
        for (int k = 0; k < 3; k++) {
            fxs_value first = before ? fxs_of_node(before) : fxs_none();
            fxs_node *n =
                add_node(m, FXS_CALL_FUNCTION, text, TUPLE(ctx, first, make_str(ctx, text)), text);
            if (k == 0) /* the builder makes identifiers of names; none may matter all the same */
                n->name = fxs_arena_dup(&m->graph->arena, text, strlen(text));
            n->scope = k ? scope : root;
            if (k == 2 && i % 2)
                set_message(n, FXS_FAILED, text);
            else
                set_done(n, make_str(ctx, text));
            before = n;
        }
    }
    return m;
}

/* The data block; the page ends there. */
static char *data_of(char *page) {
    static const char start[] = "<script id=\"data\" type=\"application/json\">";
    char *data = strstr(page, start), *end = data ? strstr(data, "</script>") : NULL;
    assert_non_null(end);
    *end = 0;
    return data + strlen(start);
}

static json_t *read_data(char *page) {
    json_error_t error;
    json_t *data = json_loads(data_of(page), 0, &error);
    if (!data)
        fail_msg("line %d: %s", error.line, error.text);
    return data;
}

static json_int_t number(const json_t *list, size_t i) {
    const json_t *n = json_array_get(list, i);
    assert_true(json_is_integer(n));
    return json_integer_value(n);
}

/* Behind the facts at list[at], whose texts are there. */
static size_t behind_facts(const json_t *data, const json_t *list, size_t at) {
    size_t n = (size_t)number(list, at++);
    for (; n; n--, at += 2) {
        assert_in_range(number(list, at), 0, json_array_size(json_object_get(data, "facts")) - 1);
        assert_in_range(number(list, at + 1), 0,
                        json_array_size(json_object_get(data, "texts")) - 1);
    }
    return at;
}

static size_t check_nodes(const json_t *data) {
    const json_t *list = json_object_get(data, "nodes");
    size_t n = 0;
    for (size_t at = 0; at < json_array_size(list); n++) {
        size_t inputs = (size_t)number(list, at + 2);
        for (size_t i = 0; i < inputs; i++)
            assert_in_range(number(list, at + 3 + i), 0, n); /* of a node before */
        at = behind_facts(data, list, at + 3 + inputs);
    }
    return n;
}

/* Counts where each node is drawn; gives how many boxes the level has. */
static size_t check_items(const json_t *data, const json_t *list, int *drawn, size_t nnodes) {
    size_t n = 0, nlevels = json_array_size(json_object_get(data, "levels"));
    for (size_t at = 0; at < json_array_size(list); n++) {
        json_int_t part = number(list, at), of = number(list, at + 1);
        size_t rows = (size_t)number(list, at + 8);
        if (part == FXS_LEVEL_NODE)
            drawn[of]++;
        assert_in_range(of, 0, (part & 3) == FXS_LEVEL_BOX ? nlevels - 1 : nnodes - 1);
        for (at += 9; rows; rows--)
            at += number(list, at) & 8 ? 3 : 2;
        if (part == FXS_LEVEL_BOX)
            at = behind_facts(data, list, at);
    }
    return n;
}

static void check_edges(const json_t *list, size_t nitems) {
    for (size_t at = 0; at < json_array_size(list);) {
        assert_in_range(number(list, at), 0, nitems - 1);
        assert_in_range(number(list, at + 1), 0, nitems - 1);
        assert_int_equal(number(list, at + 3) % 3, 1);
        at += 6 + 2 * (size_t)number(list, at + 3) + (number(list, at + 2) & 2 ? 3 : 0);
    }
}

/* Every node is drawn once; gives the number of levels. */
static size_t check_data(const json_t *data) {
    const json_t *levels = json_object_get(data, "levels");
    size_t nnodes = check_nodes(data);
    int *drawn = calloc(nnodes + 1, sizeof *drawn);
    for (size_t i = 0; i < json_array_size(levels); i++) {
        const json_t *level = json_array_get(levels, i);
        assert_true(i == 0 || number(json_array_get(level, 0), 0) < (json_int_t)i);
        check_edges(json_array_get(level, 3),
                    check_items(data, json_array_get(level, 2), drawn, nnodes));
    }
    for (size_t i = 0; i < nnodes; i++)
        assert_int_equal(drawn[i], 1);
    free(drawn);
    return json_array_size(levels);
}

static void a_page_holds_every_node(void **state) {
    fxs_module *m = sample_module(*state);
    size_t len;
    char *page = draw(m, &(fxs_draw_options){.title = "A & B"}, "html", &len);
    assert_int_equal(strlen(page), len);
    assert_true(strncmp(page, "<!DOCTYPE html>", 15) == 0);
    assert_non_null(strstr(page, "<title>A &amp; B</title>"));
    assert_non_null(strstr(page, "default-src 'none'; script-src 'sha256-"));
    assert_int_equal(count_of(page, "<script"), 2);
    assert_string_equal(page + len - 8, "</html>\n");
    json_t *data = read_data(page);
    assert_int_equal(check_data(data), 1);
    assert_string_equal(json_string_value(json_object_get(data, "name")), "TestModel");
    assert_int_equal(json_integer_value(json_object_get(data, "parameters")), 0);
    json_decref(data);
    fxs_free(page);
    fxs_module_unref(m);
}

static void hostile_texts(void **state) {
    fxs_module *m = hostile_module(*state);
    char *page = draw(m, &(fxs_draw_options){.title = hostile[0]}, "html", NULL);
    assert_int_equal(count_of(page, "<script"), 2);
    assert_int_equal(count_of(page, "</script"), 2);
    assert_int_equal(count_of(page, "</title"), 1);
    assert_null(strstr(page, "\xe2\x80\xa8"));
    assert_null(strstr(page, "\xe2\x80\xae"));
    const char *start = strstr(page, "application/json\">") + strlen("application/json\">");
    json_t *data = read_data(page); /* UTF-8 too */
    for (const char *c = start; *c; c++)
        assert_true(*c == '\n' || ((unsigned char)*c >= 0x20 && !strchr("<>&", *c)));
    assert_int_equal(check_data(data), 1 + NHOSTILE + 1);
    json_decref(data);
    fxs_free(page);
    fxs_module_unref(m);
}

/* No time of the clock gets in unless it is asked for. */
static void same_bytes_again(void **state) {
    fxs_module *m = sample_module(*state);
    fxs_node *n = fxs_graph_find(m->graph, "conv");
    n->meta.seconds = 0.125;
    char *first = draw(m, NULL, "html", NULL);
    n->meta.seconds = 0.25;
    char *again = draw(m, NULL, "html", NULL);
    char *timed =
        draw(m, &(fxs_draw_options){.rows = FXS_ROW_DEFAULT | FXS_ROW_TIME}, "html", NULL);
    assert_string_equal(first, again);
    assert_null(strstr(first, "\n\"0.25\""));
    assert_non_null(strstr(timed, "\n\"0.25\""));
    fxs_free(first);
    fxs_free(again);
    fxs_free(timed);
    fxs_module_unref(m);
}

static void small_graphs(void **state) {
    fxs_module *m = new_graph_module(*state, "Empty");
    for (int i = 0; i < 2; i++) {
        char *page = draw(m, NULL, "html", NULL);
        json_t *data = read_data(page);
        assert_int_equal(check_data(data), 1);
        json_decref(data);
        fxs_free(page);
        add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
    }
    fxs_module_unref(m);
}

static fxs_status draw_once(fxs_ctx *ctx, const void *data) {
    char *page, *notes;
    (void)ctx;
    fxs_status s = fxs_draw_memory(data, NULL, "html", &page, NULL, &notes);
    assert_true((s == FXS_OK) == (page != NULL));
    fxs_free(page);
    fxs_free(notes);
    return s;
}

static void memory_runs_out(void **state) {
    fxs_module *m = sample_module(*state);
    assert_survives(*state, draw_once, m);
    fxs_module_unref(m);
}

static int write_hostile(const char *path) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = hostile_module(ctx);
    fxs_status s = fxs_draw(m, &(fxs_draw_options){.title = hostile[0]}, &path, 1, NULL);
    if (s != FXS_OK)
        fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
    return s != FXS_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_holds_every_node, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(hostile_texts, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(same_bytes_again, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(small_graphs, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(memory_runs_out, new_ctx, free_ctx),
    };
    return unit_argument ? write_hostile(unit_argument) : cmocka_run_group_tests(tests, NULL, NULL);
}
