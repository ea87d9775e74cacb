/* test_writers.c: Mermaid, GraphML, draw.io and TikZ: every node, edge and frame is there, texts
 * that look like syntax stay texts, limits are told, the same bytes again. Called with a folder it
 * writes its pictures there, for check_tools.sh, which gives them to the programs they are for. */
#include <sys/stat.h>
#include <unistd.h>

#include "hostile.h"
#include "unit.h"

static const char *const formats[] = {"mmd", "graphml", "drawio", "tex"};
enum { NFORMATS = sizeof formats / sizeof *formats };

/* ---- networks
 * ---------------------------------------------------------------------------------------------- */

static const fxs_draw_options all_rows = {.rows = (1u << FXS_ROW_COUNT) - 1,
                                          .clusters = true,
                                          .title = "\xff<&\"'\x01\n</svg> \\end{x} %_$"};

/* A layer in a block in a network, and a node of each kind around them. */
static fxs_module *framed_module(fxs_ctx *ctx) {
    fxs_module *m = sample_module(ctx);
    static const fxs_scope root = {.path = "", .class_name = "TestModel"},
                           block = {.outer = &root, .path = "block<\"", .class_name = "Block & Co"},
                           layer = {.outer = &block, .path = "block.layer", .class_name = "L"};
    int i = 0;
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n), i++)
        n->scope = i == 2 || i == 3 ? &layer : i == 4 ? &block : &root;
    return m;
}

static const fxs_draw_options with_frames = {.clusters = true, .title = "Frames"};

static const fxs_draw_options colored = {
    .color_by = "family", .edge_shapes = true, .theme = "dark", .direction = "LR"};

/* ---- what is in the files
 * ---------------------------------------------------------------------------------- */

static void everything_is_there(void **state) {
    fxs_module *m = framed_module(*state);
    char *mmd = draw(m, &with_frames, "mmd", NULL);
    assert_int_equal(count_of(mmd, ":::"), 8);
    assert_int_equal(count_of(mmd, " --> "), 7);
    assert_int_equal(count_of(mmd, " -.-> "), 2);
    assert_non_null(strstr(mmd, "linkStyle 1,3 stroke:#bcc2c9\n"));
    assert_non_null(strstr(mmd, "flowchart TB\n"));
    assert_non_null(strstr(mmd, "subgraph c1[\"block#60;#34;  Block #38; Co\"]\nn4"));
    assert_non_null(strstr(mmd, "subgraph c2["));
    assert_int_equal(count_of(mmd, "\nend\nend\n"), 1);
    assert_non_null(strstr(mmd, "n0([\"x<br/>placeholder x<br/>result float32[1, 3, 16, 16]\"])"));
    fxs_free(mmd);
    char *graphml = draw(m, &with_frames, "graphml", NULL);
    assert_true(xml_ok(strchr(graphml, '\n')));
    assert_int_equal(count_of(graphml, "<node id=\"n"), 8);
    assert_int_equal(count_of(graphml, "<node id=\"c"), 2);
    assert_int_equal(count_of(graphml, "<edge "), 9);
    assert_int_equal(count_of(graphml, "<data key=\"tensor\">false</data>"), 2);
    assert_non_null(strstr(graphml, "<data key=\"result\">float32[1, 3, 16, 16]</data>"));
    fxs_free(graphml);
    char *drawio = draw(m, &with_frames, "drawio", NULL);
    assert_true(xml_ok(drawio));
    assert_int_equal(count_of(drawio, "<UserObject id=\"n"), 8);
    assert_int_equal(count_of(drawio, "container=1"), 2);
    assert_int_equal(count_of(drawio, "edge=\"1\""), 9);
    assert_int_equal(count_of(drawio, "dashed=1"), 2);
    assert_int_equal(count_of(drawio, "parent=\"c2\""), 2);
    assert_int_equal(count_of(drawio, "parent=\"c1\""), 2); /* a node, and the inner frame */
    fxs_free(drawio);
    char *tex = draw(m, &with_frames, "tex", NULL);
    assert_int_equal(count_of(tex, "\n\\fxsbox{n"), 8);
    assert_int_equal(count_of(tex, "\\draw[fxsedge]"), 7);
    assert_int_equal(count_of(tex, "\\draw[fxsnontensor]"), 2);
    assert_int_equal(count_of(tex, "\\draw[fxsframe]"), 2);
    fxs_free(tex);
    fxs_module_unref(m);
}

/* Colours that say more than the kind are in every file, with what they mean; so are the shapes on
 * edges. */
static void colors_and_edge_labels(void **state) {
    fxs_module *m = framed_module(*state);
    char *plain[NFORMATS], *with[NFORMATS];
    for (int i = 0; i < NFORMATS; i++) {
        plain[i] = draw(m, &(fxs_draw_options){.theme = "dark"}, formats[i], NULL);
        with[i] = draw(m, &colored, formats[i], NULL);
        assert_non_null(strstr(with[i], strcmp(formats[i], "tex") ? "1\303\2274\303\22716\303\22716"
                                                                  : "1\\ensuremath{\\times}4"));
    }
    assert_null(strstr(plain[0], "style n"));
    assert_non_null(strstr(with[0], "style n0 fill:#"));
    assert_non_null(strstr(with[0], "subgraph legend["));
    assert_int_equal(count_of(with[0], "|\""), 8);
    assert_non_null(strstr(with[1], "<data key=\"legend\">"));
    assert_int_equal(count_of(with[1], "<data key=\"text\">"), 8);
    assert_non_null(strstr(with[2], "id=\"swatch"));
    assert_true(xml_ok(with[2]));
    assert_non_null(strstr(with[3], "{fxsswatch}{HTML}"));
    assert_true(count_of(with[3], "\n\\fxstext{key}{}") > count_of(plain[3], "\n\\fxstext{key}{}"));
    for (int i = 0; i < NFORMATS; i++) {
        fxs_free(plain[i]);
        fxs_free(with[i]);
    }
    fxs_module_unref(m);
}

/* ---- texts
 * ------------------------------------------------------------------------------------------------
 */

/* Between the quotes of a label nothing is left that Mermaid, HTML or Markdown would read. */
static void check_mermaid_label(const char *s, const char *end) {
    for (; s < end; s++) {
        if (strncmp(s, "<br/>", 5) == 0) {
            s += 4;
            continue;
        }
        if (*s == '#') {
            s++;
            assert_true(*s >= '0' && *s <= '9');
            s += strspn(s, "0123456789");
            assert_int_equal(*s, ';');
            continue;
        }
        if (strchr("<>&\"`*\\$%:;|{}~", *s))
            fail_msg("a bare %c: %.60s", *s, s - 20);
    }
}

static void check_mermaid(const char *text) {
    size_t labels = 0;
    for (const char *line = strstr(text, "flowchart TB\n"); line && *line;) {
        const char *end = strchr(line, '\n'), *open = memchr(line, '"', (size_t)(end - line)),
                   *close = memrchr(line, '"', (size_t)(end - line));
        if (open) {
            assert_true(close > open);
            check_mermaid_label(open + 1, close);
            labels++;
        }
        line = end + 1;
    }
    assert_int_equal(labels, NHOSTILE + NLARGE + count_of(text, "subgraph c"));
}

/* Braces are balanced, and every command is one of ours. */
static void check_tex(const char *text) {
    static const char *const known[] = {"textbackslash{}",
                                        "{",
                                        "}",
                                        "$",
                                        "&",
                                        "#",
                                        "%",
                                        "_",
                                        " ",
                                        "fxschar{",
                                        "fxsgrave{}",
                                        "textasciicircum{}",
                                        "textasciitilde{}",
                                        "char34}",
                                        "fxsquote{}",
                                        "ldots{}",
                                        "ensuremath{",
                                        "textless{}",
                                        "textgreater{}",
                                        "textbar{}"};
    static const char *const maths[] = {"times}", "to}"};
    size_t texts = 0;
    for (const char *s = text; (s = strstr(s, "\n\\fxstext{"));) {
        int depth = 0;
        const char *end = strchr(s += 10, '\n');
        for (; s < end; s++) {
            depth += (*s == '{') - (*s == '}');
            bool ours = *s != '\\';
            for (size_t i = 0; i < sizeof known / sizeof *known && !ours; i++)
                if (strncmp(s + 1, known[i], strlen(known[i])) == 0) {
                    ours = true;
                    s += known[i][1] ? 0 : 1; /* an escaped brace is no brace */
                }
            for (size_t i = 0; i < 2 && !ours; i++)
                ours = strncmp(s + 1, maths[i], strlen(maths[i])) == 0;
            if (!ours)
                fail_msg("TeX would see %.30s", s);
        }
        assert_int_equal(depth, -1); /* the search took the first brace */
        texts++;
    }
    assert_true(texts > 3 * NHOSTILE);
}

static void hostile_texts(void **state) {
    fxs_module *m = hostile_module(*state);
    for (int i = 0; i < NFORMATS; i++) {
        size_t len;
        char *text = draw(m, &all_rows, formats[i], &len);
        assert_int_equal(strlen(text), len);
        for (const char *c = text; *c; c++)
            assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        if (strcmp(formats[i], "graphml") == 0)
            assert_true(xml_ok(strchr(text, '\n')));
        if (strcmp(formats[i], "drawio") == 0)
            assert_true(xml_ok(text));
        if (strcmp(formats[i], "mmd") == 0)
            check_mermaid(text);
        if (strcmp(formats[i], "tex") == 0)
            check_tex(text);
        fxs_free(text);
    }
    fxs_module_unref(m);
}

/* ---- limits, reruns, memory
 * -------------------------------------------------------------------------------- */

static char *notes_of(fxs_module *m, const fxs_draw_options *opt, const char *format) {
    char *bytes, *notes;
    assert_ok(m->ctx, fxs_draw_memory(m, opt, format, &bytes, NULL, &notes));
    fxs_free(bytes);
    return notes;
}

static void limits_are_told(void **state) {
    fxs_module *edges = chain_module(*state, 502), *fits = chain_module(*state, 501);
    fxs_draw_options names = {.rows = FXS_ROW_NAME};
    char *notes = notes_of(fits, &names, "mmd");
    assert_string_equal(notes, "");
    fxs_free(notes);
    notes = notes_of(edges, &names, "mmd");
    assert_non_null(strstr(notes, "mermaid: 501 edges"));
    assert_null(strstr(notes, "characters"));
    fxs_free(notes);
    notes = notes_of(edges, &(fxs_draw_options){.rows = FXS_ROW_DEFAULT | FXS_ROW_ARGS}, "mmd");
    assert_non_null(strstr(notes, "characters, and Mermaid on GitHub shows no more than 50000"));
    fxs_free(notes);
    char *tex, *none;
    assert_ok(*state, fxs_draw_memory(edges, NULL, "tex", &tex, NULL, &notes));
    assert_non_null(strstr(notes, "tex: scaled to "));
    assert_non_null(strstr(tex, "paperheight=14400bp"));
    fxs_free(notes);
    fxs_free(tex);
    none = notes_of(edges, NULL, "graphml");
    assert_string_equal(none, "");
    fxs_free(none);
    fxs_module_unref(edges);
    fxs_module_unref(fits);
}

static void same_bytes_of_hostile_texts(void **state) {
    fxs_module *m = hostile_module(*state);
    const char *format;
    for (size_t i = 0; (format = fxs_draw_format_name(i)); i++) {
        size_t n1, n2;
        char *a = draw(m, &all_rows, format, &n1), *b = draw(m, &all_rows, format, &n2);
        assert_int_equal(n1, n2);
        assert_memory_equal(a, b, n1);
        fxs_free(a);
        fxs_free(b);
    }
    fxs_module_unref(m);
}

static void same_bytes_again(void **state) {
    fxs_module *m = framed_module(*state);
    for (int i = 0; i < NFORMATS; i++)
        for (int lr = 0; lr < 2; lr++) {
            fxs_draw_options opt = {
                .clusters = true, .direction = lr ? "LR" : "TB", .theme = lr ? "dark" : "light"};
            char *a = draw(m, &opt, formats[i], NULL), *b = draw(m, &opt, formats[i], NULL);
            assert_string_equal(a, b);
            fxs_free(a);
            fxs_free(b);
        }
    fxs_module_unref(m);
}

static void memory_runs_out(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = framed_module(ctx);
    for (int i = 0; i < NFORMATS; i++)
        for (long n = 0;; n++) {
            char *bytes, *notes;
            fxs_alloc_fail_after(n);
            fxs_status status = fxs_draw_memory(m, &with_frames, formats[i], &bytes, NULL, &notes);
            fxs_alloc_fail_after(-1);
            fxs_free(bytes);
            fxs_free(notes);
            fxs_ctx_clear(ctx);
            if (status == FXS_OK)
                break;
            assert_int_equal(status, FXS_ENOMEM);
            assert_true(n < 5000);
        }
    fxs_module_unref(m);
}

/* ---- for check_tools.sh
 * ------------------------------------------------------------------------------------ */

static int write_pictures(const char *folder) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *modules[] = {hostile_module(ctx), framed_module(ctx), framed_module(ctx)};
    const fxs_draw_options *options[] = {&all_rows, &with_frames, &colored};
    static const char *const names[] = {"hostile", "framed", "colored"};
    fxs_status status = FXS_OK;
    for (int k = 0; k < 3; k++) {
        enum { MOST = 16 };
        char paths[MOST][1024], *notes = NULL;
        const char *list[MOST], *format;
        size_t n = 0;
        for (; n < MOST && (format = fxs_draw_format_name(n)); n++) {
            snprintf(paths[n], sizeof paths[n], "%s/%s.%s", folder, names[k], format);
            list[n] = paths[n];
        }
        if (status == FXS_OK)
            status = fxs_draw(modules[k], options[k], list, n, &notes);
        fxs_free(notes);
        fxs_module_unref(modules[k]);
    }
    if (status != FXS_OK)
        fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
    fxs_ctx_free(ctx);
    return status != FXS_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_is_there, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(colors_and_edge_labels, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(hostile_texts, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(same_bytes_of_hostile_texts, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(limits_are_told, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(same_bytes_again, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(memory_runs_out, new_ctx, free_ctx),
    };
    if (unit_argument)
        return write_pictures(unit_argument);
    return cmocka_run_group_tests_name("writers", tests, NULL, NULL);
}
