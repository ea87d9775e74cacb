/* test_render_draw.c: pictures as a program asks for them: formats, the same bytes each time, what
 * SVG and DOT say, hostile texts, wrong options; and the golden list of draw calls. */
#include "render_testing.h"

#include <unistd.h>

#include "golden.h"
#include "render/layout.h"

static void same_input_same_bytes(void **state) {
    fxs_module *m = sample_module(*state);
    const char *format;
    for (size_t i = 0; (format = fxs_draw_format_name(i)); i++) {
        size_t n1, n2;
        char *a = draw(m, NULL, format, &n1), *b = draw(m, NULL, format, &n2);
        assert_int_equal(n1, n2);
        assert_true(n1 > 100);
        assert_memory_equal(a, b, n1);
        fxs_free(a);
        fxs_free(b);
    }
    fxs_module_unref(m);
}

static void svg_says_what_it_shows(void **state) {
    fxs_module *m = sample_module(*state);
    char *svg = draw(m, &(fxs_draw_options){.title = "A <title> & \"more\""}, "svg", NULL);
    assert_true(xml_ok(svg));
    static const char *const said[] = {
        "role=\"img\"",
        "<title id=\"title\">A &lt;title&gt; &amp; &quot;more&quot;</title>",
        "TestModel: a graph of 8 nodes and 9 edges, inputs x float32[1, 3, 16, 16], y float32[1, "
        "4, 8, 8].",
        "<g id=\"node-conv\" class=\"node kind-call_module\"><title>%conv : [#users=2] = "
        "call_module[target=conv](",
        "<g id=\"edge-add-add_1-0\" class=\"edge tensor\">",
        "<g id=\"edge-add-add_1-1\" class=\"edge tensor\">",
        "<g id=\"edge-conv-size-0\" class=\"edge nontensor\">",
        ">Pointwise(3, 4)</text>",
        ">float32[1, 4, 16, 16]</text>",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(svg, said[i]))
            fail_msg("the SVG does not say %s", said[i]);
    assert_int_equal(count_of(svg, "<g id=\"node-"), 8);
    assert_int_equal(count_of(svg, "<g id=\"edge-"), 9);
    assert_int_equal(count_of(svg, "stroke-dasharray"), 2); /* the two edges of `size` */
    assert_int_equal(count_of(svg, "class=\"edge nontensor\""), 2);
    static const char *const never[] = {"<script", "href",   "url(",         "<style",
                                        "@import", "<image", "foreignObject"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_null(strstr(svg, never[i]));
    assert_int_equal(count_of(svg, "http"), 1); /* the namespace */
    fxs_free(svg);
    fxs_module_unref(m);
}

static void any_dot_is_drawn(void **state) {
    fxs_ctx *ctx = *state;
    char *bytes;
    size_t len;
    const char *dot = "digraph { a [label=<<table><tr><td>x &amp; y</td></tr></table>>]; "
                      "a -> b [style=dashed, color=lightgrey] }";
    assert_int_equal(fxs_draw_dot(ctx, dot, "svg", 0, &bytes, &len), FXS_OK);
    assert_non_null(strstr(bytes, "x &amp; y"));
    assert_non_null(strstr(bytes, "stroke-dasharray"));
    fxs_free(bytes);
    assert_int_equal(fxs_draw_dot(ctx, dot, "png", 0, &bytes, &len), FXS_OK);
    assert_memory_equal(bytes, "\211PNG", 4);
    fxs_free(bytes);
    assert_int_equal(fxs_draw_dot(ctx, "digraph { a -> ", "svg", 0, &bytes, &len), FXS_EPARSE);
    assert_null(bytes);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_draw_dot(ctx, dot, "bmp", 0, &bytes, &len), FXS_EINVAL);
    fxs_ctx_clear(ctx);
}

static void dot_says_the_same(void **state) {
    fxs_module *m = sample_module(*state);
    char *dot = draw(m, NULL, "dot", NULL);
    assert_int_equal(count_of(dot, " -> "), 9);
    assert_int_equal(count_of(dot, "style=dashed"), 2);
    assert_int_equal(count_of(dot, "fixedsize=\"true\""), 1);
    assert_int_equal(count_of(dot, "<table "), 8);
    assert_non_null(strstr(dot, "Pointwise(3, 4)</td>"));
    char *gv = draw(m, NULL, "gv", NULL);
    assert_string_equal(dot, gv);
    fxs_free(dot);
    fxs_free(gv);
    fxs_module_unref(m);
}

/* ---- hostile texts
 * ------------------------------------------------------------------------------------------ */

static fxs_module *hostile_module(fxs_ctx *ctx) {
    static const char *const texts[] = {
        "&",
        "<",
        ">",
        "\"",
        "'",
        "\\",
        "\n",
        "\t",
        "\x01",
        "\x1b[31m",
        "\xff",
        "\xc3",
        "]]>",
        "--><!--",
        "&#1;",
        "&foo;",
        "</text></svg>",
        "\\n\\l\\N\\E",
        "\"];}",
        "a\\",
        "<b>x</table>>];",
        "\xe4\xb8\xad\xe6\x96\x87",
        "\xf0\x9f\x98\x80",
        "\xe2\x80\xae!",
        "",
        " ",
        "${x}",
        "%s%n",
        "\xed\xa0\x80",
    };
    fxs_module *m = new_graph_module(ctx, "M<&\"'\\\x01>");
    size_t n = sizeof texts / sizeof *texts;
    static char large[100001];
    memset(large, '<', sizeof large - 1);
    for (size_t i = 0; i <= n; i++) {
        const char *text = i < n ? texts[i] : large, *target = *text ? text : " ";
        fxs_node *node =
            add_node(m, FXS_CALL_FUNCTION, target, ONE(ctx, make_str(ctx, text)), text);
        if (i % 2)
            set_message(node, i % 4 == 1 ? FXS_FAILED : FXS_UNKNOWN, text);
        else
            set_done(node, make_str(ctx, text));
    }
    return m;
}

static void hostile_texts(void **state) {
    fxs_module *m = hostile_module(*state);
    fxs_draw_options all = {.rows = (1u << FXS_ROW_COUNT) - 1, .title = "\xff<&\"'\x01\n</svg>"};
    char *svg = draw(m, &all, "svg", NULL);
    if (!xml_ok(svg))
        fail_msg("not well-formed");
    for (const char *c = svg; *c; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    assert_true(strlen(svg) < 300000);
    fxs_free(svg);
    char *dot = draw(m, &all, "dot", NULL);
    for (const char *c = dot; *c; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    /* Stock dot understands it, when it is there: every label is kept, and at most said to be a bit
     * wide. */
    char path[] = "/tmp/fxs-hostile-XXXXXX", command[200];
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fputs(dot, f);
    fclose(f);
    snprintf(command, sizeof command,
             "command -v dot >/dev/null || exit 0; ! dot -Tsvg %s 2>&1 >/dev/null | grep -v 'too "
             "small for label'",
             path);
    int status = system(command);
    unlink(path);
    assert_int_equal(status, 0);
    fxs_free(dot);
    fxs_free(draw(m, &all, "png", NULL));
    fxs_free(draw(m, &all, "pdf", NULL));
    fxs_module_unref(m);
}

/* ---- small and odd graphs
 * ------------------------------------------------------------------------------------ */

static void odd_graphs(void **state) {
    fxs_ctx *ctx = *state;
    const char *format;
    fxs_module *empty = new_graph_module(ctx, "Empty"), *one = chain_module(ctx, 1),
               *wide = new_graph_module(ctx, "W");
    fxs_node *x = add_node(wide, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
    fxs_value outs[20];
    for (int i = 0; i < 20; i++)
        outs[i] = fxs_of_node(
            add_node(wide, FXS_CALL_FUNCTION, "torch.relu", ONE(ctx, fxs_of_node(x)), NULL));
    add_node(wide, FXS_OUTPUT, "output", ONE(ctx, make_list(ctx, FXS_V_TUPLE, 20, outs)), NULL);
    fxs_module *all[] = {empty, one, wide};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; (format = fxs_draw_format_name(k)); k++)
            fxs_free(draw(all[i], NULL, format, NULL));
        char *svg =
            draw(all[i], &(fxs_draw_options){.direction = "LR", .theme = "dark"}, "svg", NULL);
        assert_true(xml_ok(svg));
        fxs_free(svg);
        fxs_module_unref(all[i]);
    }
}

/* An edge against the order, and one to itself: lint refuses these, a picture must not fall over.
 */
static void unlinted_graphs(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = chain_module(ctx, 4);
    fxs_node *first = fxs_graph_first(m->graph), *second = fxs_node_next(first),
             *third = fxs_node_next(second);
    fxs_value args = TUPLE(ctx, fxs_of_node(third), fxs_of_node(second), fxs_of_node(first));
    assert_ok(ctx, fxs_node_set_args(second, &args, NULL));
    fxs_value_unref(&args);
    static const char *const engines[] = {"dot", "layered"};
    for (int i = 0; i < 2; i++) {
        char *svg = draw(m, &(fxs_draw_options){.engine = engines[i]}, "svg", NULL);
        assert_true(xml_ok(svg));
        assert_int_equal(count_of(svg, "<g id=\"edge-"), 5);
        fxs_free(svg);
    }
    fxs_module_unref(m);
}

static void expect_refused(fxs_module *m, fxs_draw_options opt, const char *format,
                           const char *why) {
    char *bytes, *notes;
    assert_int_equal(fxs_draw_memory(m, &opt, format, &bytes, NULL, &notes), FXS_EINVAL);
    if (!strstr(fxs_ctx_error(m->ctx), why))
        fail_msg("\"%s\" does not say \"%s\"", fxs_ctx_error(m->ctx), why);
    assert_null(bytes);
    fxs_free(notes);
    fxs_ctx_clear(m->ctx);
}

static void wrong_options(void **state) {
    fxs_module *m = sample_module(*state);
    expect_refused(m, (fxs_draw_options){0}, "gif", "known: svg, png, pdf, html, dot");
    expect_refused(m, (fxs_draw_options){.theme = "pink"}, "svg", "known: light, dark");
    expect_refused(m, (fxs_draw_options){.direction = "RL"}, "svg", "TB or LR");
    expect_refused(m, (fxs_draw_options){.engine = "neato"}, "svg", "known: auto, layered, dot");
    expect_refused(m, (fxs_draw_options){.rows = 1u << FXS_ROW_COUNT}, "svg", "rows");
    expect_refused(m, (fxs_draw_options){.dpi = NAN}, "svg", "dpi");
    expect_refused(m, (fxs_draw_options){.dpi = -1}, "svg", "dpi");
    expect_refused(m, (fxs_draw_options){.dpi = 1e9}, "svg", "dpi");
    expect_refused(m, (fxs_draw_options){.layout_seconds = -1}, "svg", "seconds");
    expect_refused(m, (fxs_draw_options){.layout_seconds = INFINITY}, "svg", "seconds");
    expect_refused(m, (fxs_draw_options){.png_fit = (fxs_png_fit)7}, "png", "fit");
    fxs_module *leaf;
    assert_ok(*state, fxs_module_new(*state, "Leaf", NULL, NULL, &leaf));
    expect_refused(leaf, (fxs_draw_options){0}, "svg", "Leaf has no graph");
    fxs_module_unref(leaf);
    fxs_module_unref(m);
}

static void rows_by_name(void **state) {
    (void)state;
    unsigned bit;
    assert_true(fxs_draw_row_find("result", &bit));
    assert_int_equal(bit, FXS_ROW_RESULT);
    assert_false(fxs_draw_row_find("results", &bit));
    static const struct {
        const char *list;
        unsigned rows;
    } lists[] = {
        {"name,result", FXS_ROW_NAME | FXS_ROW_RESULT},
        {"+time", FXS_ROW_DEFAULT | FXS_ROW_TIME},
        {"-kind,target", FXS_ROW_DEFAULT & ~(FXS_ROW_KIND | FXS_ROW_TARGET)},
        {"+time,-kind,+flops", (FXS_ROW_DEFAULT & ~FXS_ROW_KIND) | FXS_ROW_TIME | FXS_ROW_FLOPS},
        {"name,kind,-name", FXS_ROW_KIND},
        {"name,,kind", 0},
        {"name,", 0},
        {"++time", 0},
        {"+", 0},
        {"a-name-that-is-longer-than-any-row-has", 0}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        unsigned rows = 0;
        assert_int_equal(fxs_draw_rows(lists[i].list, &rows), lists[i].rows != 0);
        assert_int_equal(rows, lists[i].rows);
    }
    assert_string_equal(fxs_draw_row_name(0), "name");
    assert_null(fxs_draw_row_name(FXS_ROW_COUNT));
}

/* The list of draw calls is the same on every machine: no font is asked, and the engine is our own.
 * FXS_UPDATE=1 writes the files anew. */
static void golden_draw_calls(void **state) {
    fxs_module *m = sample_module(*state);
    static const char *const directions[] = {"TB", "LR"}, *const files[] = {
                                                              "golden/picture-tb.log",
                                                              "golden/picture-lr.log"};
    for (int i = 0; i < 2; i++) {
        char *log = draw(m, &(fxs_draw_options){.direction = directions[i], .title = "Sample"},
                         "log", NULL);
        if (getenv("FXS_UPDATE")) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", getenv("FXS_TESTS"), files[i]);
            FILE *f = fopen(path, "w");
            assert_non_null(f);
            fputs(log, f);
            fclose(f);
        }
        char *want = read_test_file(files[i], NULL);
        assert_string_equal(log, want);
        fxs_free(want);
        fxs_free(log);
    }
    fxs_module_unref(m);
}

typedef struct drawing {
    fxs_module *m;
    const fxs_draw_options *opt;
    const char *format;
} drawing;

static fxs_status draw_once(fxs_ctx *ctx, const void *data) {
    const drawing *d = data;
    char *bytes = NULL, *notes = NULL;
    (void)ctx;
    fxs_status s = fxs_draw_memory(d->m, d->opt, d->format, &bytes, NULL, &notes);
    fxs_free(bytes);
    fxs_free(notes);
    return s;
}

/* Every allocation of ours may fail: a status, nothing lost, and the next drawing works. */
static void memory_runs_out(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    static const char *const formats[] = {"svg", "png", "dot", "log"};
    for (size_t i = 0; i < 4; i++) {
        fxs_draw_options opt = {.engine = "layered", .title = "T"};
        fxs_free(draw(m, &opt, formats[i], NULL));
        assert_survives(ctx, draw_once, &(drawing){m, &opt, formats[i]});
    }
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_input_same_bytes, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(svg_says_what_it_shows, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(dot_says_the_same, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(hostile_texts, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(odd_graphs, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(unlinted_graphs, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(wrong_options, new_ctx, free_ctx),
        cmocka_unit_test(rows_by_name),
        cmocka_unit_test_setup_teardown(any_dot_is_drawn, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(golden_draw_calls, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(memory_runs_out, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("render draw", tests, NULL, NULL);
}
