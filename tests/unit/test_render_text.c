/* test_render_text.c: what the model says becomes text that any picture can hold: cleaning,
 * wrapping, escaping; and the tables of nodes. */
#include "render_testing.h"

#include <pthread.h>

#include "render/escape.h"
#include "render/fonts.h"
#include "render/ranks.h"
#include "render/theme.h"

/* ---- texts
 * ------------------------------------------------------------------------------------------------
 */

static void check_clean(const char *s, size_t len, size_t max, bool lines, const char *want) {
    fxs_buf b = {0};
    fxs_clean(&b, s, len, max, lines);
    fxs_buf_add(&b, "", 0);
    assert_string_equal(b.data, want);
    fxs_buf_free(&b);
}

static void cleaning(void **state) {
    (void)state;
    check_clean("plain", 5, 100, false, "plain");
    check_clean("a\x01z\x1b\x7f", 5, 100, false, "a\\x01z\\x1b\\x7f");
    check_clean("a\tb\r\n", 5, 100, false, "a\\tb\\r\\n");
    check_clean("a\nb", 3, 100, true, "a\nb");
    check_clean("\0x", 2, 100, false, "\\x00x");
    check_clean("\xff\xfe", 2, 100, false, "\xef\xbf\xbd\xef\xbf\xbd");
    check_clean("\xe4\xb8", 2, 100, false, "\xef\xbf\xbd\xef\xbf\xbd"); /* torn */
    check_clean("\xed\xa0\x80", 3, 100, false,
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
    check_clean("\xe4\xb8\xad\xf0\x9f\x98\x80", 7, 100, false, "\xe4\xb8\xad\xf0\x9f\x98\x80");
    check_clean("\xef\xbf\xbe", 3, 100, false, "\\ufffe");   /* XML has no such character */
    check_clean("\xe2\x80\xae!", 4, 100, false, "\\u202e!"); /* would turn the rest around */
    check_clean("\xc2\x85", 2, 100, false, "\\x85");
    check_clean("\xd8\x9c\xc2\xad\xf3\xa0\x80\x81", 8, 100, false, "\\u061c\\xad\\U000e0001");
    check_clean("e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x81\xcc\x81o\xcc\x81", 16, 100, false,
                "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\\u0301\\u0301o\xcc\x81");
    check_clean("abcdef", 6, 3, false, "abc\xe2\x80\xa6");
    check_clean("\xe4\xb8\xad\xe4\xb8\xad", 6, 1, false, "\xe4\xb8\xad\xe2\x80\xa6");
}

static void check_wrap(const char *s, size_t width, const char *want) {
    fxs_buf b = {0};
    fxs_span line;
    size_t at = 0;
    while (fxs_wrap_next(s, strlen(s), width, &at, &line))
        fxs_buf_printf(&b, "%.*s|", (int)line.len, s + line.at);
    fxs_buf_add(&b, "", 0);
    assert_string_equal(b.data, want);
    fxs_buf_free(&b);
}

static void wrapping(void **state) {
    (void)state;
    check_wrap("", 10, "");
    check_wrap("short", 10, "short|");
    check_wrap("exactly 10", 10, "exactly 10|");
    check_wrap("aaaa, bbbb, cccc", 10, "aaaa,|bbbb, cccc|");
    check_wrap("one\ntwo\n\nthree", 10, "one|two||three|");
    check_wrap("aaaaaaaaaaaaaaa", 10, "aaaaaaaaaa|aaaaa|");
    check_wrap("torch.nn.functional.x", 10, "torch.nn.|functional|.x|");
    check_wrap("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 2, "\xe4\xb8\xad\xe4\xb8\xad|\xe4\xb8\xad|");
    /* Not inside of brackets while there is a comma outside of them. */
    check_wrap("Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))", 60,
               "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1),|padding=(1, 1))|");
}

static void check_escape(void (*escape)(fxs_buf *, const char *, size_t), const char *s,
                         const char *want) {
    fxs_buf b = {0};
    escape(&b, s, strlen(s));
    fxs_buf_add(&b, "", 0);
    assert_string_equal(b.data, want);
    fxs_buf_free(&b);
}

static void escaping(void **state) {
    (void)state;
    check_escape(fxs_escape_xml, "a<b>&\"'\\;]]>", "a&lt;b&gt;&amp;&quot;'\\;]]&gt;");
    check_escape(fxs_escape_xml, "&amp;", "&amp;amp;");
    check_escape(fxs_escape_dot, "a\"b\\n<>&'\\", "a\\\"b\\\\n<>&'\\\\");
    check_escape(fxs_escape_dot_label, "&#1;\"\\&amp;", "&amp;#1;\\\"\\\\&amp;amp;");
    fxs_buf b = {0};
    fxs_escape_id(&b, "a.b-c_1 \"<\xc3\xa9");
    assert_string_equal(b.data, "a.b-c_1_20_22_3c_c3_a9");
    fxs_buf_free(&b);
}

/* ---- tables
 * ------------------------------------------------------------------------------------------------
 */

typedef struct drawing {
    fxs_fonts *fonts;
    fxs_view view;
} drawing;

static drawing make_view(fxs_module *m, unsigned rows) {
    drawing d;
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &d.fonts));
    assert_ok(m->ctx, fxs_view_make(m, &(fxs_draw_options){.rows = rows}, d.fonts, &d.view));
    return d;
}

static void free_view(drawing *d) {
    fxs_view_free(&d->view);
    fxs_fonts_free(d->fonts);
}

/* "a / b" for two cells, '|' between lines. */
static void check_row(const fxs_label *l, size_t row, const char *want) {
    fxs_buf b = {0};
    assert_true(row < l->nrows);
    for (int k = 0; k < l->rows[row].ncells; k++) {
        const fxs_cell *c = &l->rows[row].cell[k];
        fxs_buf_puts(&b, k ? " / " : "");
        for (size_t i = 0; i < c->nlines; i++)
            fxs_buf_printf(&b, i ? "|%.*s" : "%.*s", (int)c->lines[i].len, c->lines[i].text);
    }
    assert_string_equal(b.data, want);
    fxs_buf_free(&b);
}

/* Cells fill the table without gaps, and texts fit into cells. */
static void check_geometry(const fxs_label *l) {
    double y = 0;
    for (size_t i = 0; i < l->nrows; i++) {
        const fxs_label_row *row = &l->rows[i];
        double w = row->cell[0].w + (row->ncells == 2 ? row->cell[1].w : 0);
        assert_true(w == l->w && row->cell[0].y == y && w == floor(w) && y == floor(y));
        y += row->cell[0].h;
        for (int k = 0; k < row->ncells; k++)
            for (size_t n = 0; n < row->cell[k].nlines; n++)
                assert_true(row->cell[k].lines[n].width + 2 * FXS_PAD_X <= row->cell[k].w);
    }
    assert_true(y == l->h);
}

static void tables(void **state) {
    fxs_module *m = sample_module(*state);
    drawing d = make_view(m, 0);
    const fxs_label *conv = &d.view.nodes[2].label;
    assert_int_equal(conv->nrows, 4);
    check_row(conv, 0, "conv");
    check_row(conv, 1, "call_module / conv");
    check_row(conv, 2, "Pointwise(3, 4)");
    check_row(conv, 3, "result / float32[1, 4, 16, 16]");
    check_row(&d.view.nodes[3].label, 2, "result / torch.Size([1, 4, 16, 16])");
    for (size_t i = 0; i < d.view.nnodes; i++)
        check_geometry(&d.view.nodes[i].label);
    free_view(&d);
    fxs_module_unref(m);
}

static void all_rows(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    fxs_node *conv = fxs_graph_find(m->graph, "conv");
    fxs_stats stats = {
        .min = -1.5, .max = 2, .mean = 0.25, .zeros = 0.5, .nan = 1, .inf = 2, .numel = 1024};
    conv->meta.parameters = 1234567;
    conv->meta.flops = 118013952;
    conv->meta.seconds = 0.00123;
    conv->meta.stats = &stats;
    conv->meta.nstats = 1;
    drawing d = make_view(m, (1u << FXS_ROW_COUNT) - 1);
    const fxs_label *l = &d.view.nodes[2].label;
    static const char *const want[] = {"conv",
                                       "call_module / conv",
                                       "Pointwise(3, 4)",
                                       "args / (%x,)",
                                       "result / float32[1, 4, 16, 16]",
                                       "shape / [1, 4, 16, 16]",
                                       "dtype / float32",
                                       "stride / (1024, 256, 16, 1)",
                                       "params / 1,234,567",
                                       "flops / 118 MFLOP",
                                       "memory / 4.10 kB",
                                       "time / 1.23 ms",
                                       "stats / min -1.5, max 2, mean 0.25, zeros 50%",
                                       "1 NaN, 2 Inf of 1,024",
                                       "NaN or Inf begins here"};
    assert_int_equal(l->nrows, sizeof want / sizeof *want);
    for (size_t i = 0; i < l->nrows; i++)
        check_row(l, i, want[i]);
    check_geometry(l);
    free_view(&d);
    d = make_view(m, FXS_ROW_TIME); /* nothing to say: the name at least */
    check_row(&d.view.nodes[0].label, 0, "x");
    free_view(&d);
    fxs_module_unref(m);
}

static void results_with_parts(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "M");
    fxs_node *split = add_node(m, FXS_CALL_FUNCTION, "torch.split", fxs_none(), NULL);
    fxs_value many[20];
    for (int i = 0; i < 20; i++)
        many[i] = TENSOR_OF(i);
    set_done(split, make_list(ctx, FXS_V_TUPLE, 20, many));
    fxs_node *dict = add_node(m, FXS_CALL_FUNCTION, "f", fxs_none(), NULL);
    set_done(dict, KEYWORDS(ctx, {"out", TENSOR_OF(2)}, {"aux", fxs_int(3)}));
    fxs_node *numbers = add_node(m, FXS_CALL_FUNCTION, "g", fxs_none(), NULL);
    set_done(numbers, TUPLE(ctx, fxs_int(1), fxs_int(2)));
    drawing d = make_view(m, 0);
    const fxs_label *l = &d.view.nodes[0].label;
    assert_int_equal(l->nrows, 2 + 8 + 1);
    check_row(l, 2, "0 / float32[0]");
    check_row(l, 9, "7 / float32[7]");
    check_row(l, 10, "... 12 more");
    check_row(&d.view.nodes[1].label, 2, "'out' / float32[2]");
    check_row(&d.view.nodes[1].label, 3, "'aux' / 3");
    check_row(&d.view.nodes[2].label, 2, "result / (1, 2)");
    free_view(&d);
    fxs_module_unref(m);
}

static void bad_nodes(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = sample_module(ctx);
    fxs_node *conv = fxs_graph_find(m->graph, "conv"), *size = fxs_graph_find(m->graph, "size");
    fxs_node *last = fxs_graph_find(m->graph, "add_1");
    fxs_node_clear_meta(conv);
    fxs_node_clear_meta(size);
    fxs_node_clear_meta(last);
    set_message(conv, FXS_FAILED, "conv: expected 3 channels, got 4");
    set_message(last, FXS_UNKNOWN, "there is no operator 'frobnicate'");
    size->meta.outcome = FXS_BLOCKED;
    size->meta.culprit = conv;
    drawing d = make_view(m, 0);
    check_row(&d.view.nodes[2].label, 3, "conv: expected 3 channels, got 4");
    assert_int_equal(d.view.nodes[2].label.rows[3].cell[0].ink, FXS_INK_ERROR);
    assert_int_equal(d.view.nodes[2].style, FXS_STYLE_FAILED);
    check_row(&d.view.nodes[3].label, 2, "result / ?");
    assert_int_equal(d.view.nodes[3].style, FXS_STYLE_BLOCKED);
    assert_non_null(strstr(d.view.nodes[3].tip.text, "needs the result of conv"));
    check_row(&d.view.nodes[6].label, 3, "there is no operator 'frobnicate'");
    assert_non_null(strstr(d.view.description, "1 failed, 1 unknown, 1 blocked"));
    free_view(&d);
    fxs_module_unref(m);
}

static void long_texts_are_cut(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "M");
    static char text[100001];
    memset(text, 'w', sizeof text - 1);
    add_node(m, FXS_CALL_FUNCTION, text, ONE(ctx, make_str(ctx, text)), "long");
    drawing d = make_view(m, FXS_ROW_NAME | FXS_ROW_KIND | FXS_ROW_TARGET | FXS_ROW_ARGS);
    const fxs_label *l = &d.view.nodes[0].label;
    assert_int_equal(l->nrows, 3);
    for (size_t i = 1; i < 3; i++) {
        const fxs_cell *c = &l->rows[i].cell[1];
        assert_true(c->nlines >= 6 && c->nlines <= 9);
        const fxs_line *last = &c->lines[c->nlines - 1];
        assert_memory_equal(last->text + last->len - 3, "\xe2\x80\xa6", 3);
    }
    assert_true(l->w < 1000 && l->h < 1000 && d.view.nodes[0].tip.len < 5000);
    check_geometry(l);
    free_view(&d);
    fxs_module_unref(m);
}

/* ---- edges and ranks
 * ----------------------------------------------------------------------------------------- */

static void edges(void **state) {
    fxs_module *m = sample_module(*state);
    drawing d = make_view(m, 0);
    static const fxs_view_edge want[] = {
        {0, 2, 0, FXS_NO_ITEM, true, true},  {2, 3, 0, FXS_NO_ITEM, false, false},
        {1, 4, 0, FXS_NO_ITEM, true, false}, {3, 4, 0, FXS_NO_ITEM, false, false},
        {2, 5, 0, FXS_NO_ITEM, true, true},  {4, 5, 0, FXS_NO_ITEM, true, false},
        {5, 6, 0, FXS_NO_ITEM, true, true},  {5, 6, 1, FXS_NO_ITEM, true, false},
        {6, 7, 0, FXS_NO_ITEM, true, true},
    };
    assert_int_equal(d.view.nedges, sizeof want / sizeof *want);
    for (size_t i = 0; i < d.view.nedges; i++) {
        const fxs_view_edge *e = &d.view.edges[i];
        assert_int_equal(e->from, want[i].from);
        assert_int_equal(e->to, want[i].to);
        assert_int_equal(e->use, want[i].use);
        assert_true(e->item == want[i].item);
        assert_int_equal(e->tensor, want[i].tensor);
        assert_int_equal(e->spine, want[i].spine);
    }
    int rank[8];
    static const int ranks[] = {0, 2, 1, 2, 3, 4, 5, 6}; /* y sinks to just above its first user */
    assert_int_equal(fxs_ranks(&d.view, rank), 7);
    for (int i = 0; i < 8; i++)
        assert_int_equal(rank[i], ranks[i]);
    assert_int_equal((int)fxs_ranks_size(&d.view, rank), 8 + 9 + 2 * 2);
    free_view(&d);
    fxs_module_unref(m);
}

/* Whether there is a tensor is not known before a run, nor of what failed: such edges are drawn as
 * tensors. */
static void edges_of_unknown(void **state) {
    fxs_module *m = sample_module(*state);
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n))
        fxs_node_clear_meta(n);
    drawing d = make_view(m, 0);
    for (size_t i = 0; i < d.view.nedges; i++)
        assert_true(d.view.edges[i].tensor);
    free_view(&d);
    fxs_module_unref(m);
}

/* What the colours say must be seen: light edges from others, each bad outcome from every kind,
 * text from its ground. */
static void themes_keep_meanings_apart(void **state) {
    static const char *const names[] = {"light", "dark"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const fxs_theme *t = fxs_theme_find(names[i]);
        assert_non_null(t);
        assert_int_not_equal(t->edge, t->nontensor);
        assert_int_not_equal(t->nontensor, t->background);
        assert_int_not_equal(t->ink[FXS_INK_TEXT], t->body);
        for (int bad = FXS_STYLE_FAILED; bad < FXS_STYLE_COUNT; bad++)
            for (int kind = 0; kind < bad; kind++)
                assert_true(t->style[bad].head != t->style[kind].head ||
                            t->style[bad].line != t->style[kind].line);
    }
}

/* ---- fonts ---- */

enum { DRAWERS = 4 };

typedef struct drawer {
    pthread_barrier_t *all_here; /* NULL: alone */
    bool ok;
    double width;
} drawer;

static void *measure(void *data) {
    drawer *d = data;
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_fonts *fonts = NULL;
    d->ok = ctx && fxs_fonts_new(ctx, false, &fonts) == FXS_OK;
    if (d->all_here)
        pthread_barrier_wait(d->all_here);
    d->ok = d->ok && fxs_fonts_width(fonts, FXS_INK_TEXT, "conv1", 5, &d->width);
    if (d->all_here)
        pthread_barrier_wait(d->all_here);
    fxs_fonts_free(fonts);
    fxs_ctx_free(ctx);
    return NULL;
}

/* What a picture's fonts were made of is used by the next picture, never by two at a time. */
static void fonts_are_taken_over(void **state) {
    (void)state;
    pthread_barrier_t here;
    pthread_barrier_init(&here, NULL, DRAWERS);
    drawer first = {0}, d[DRAWERS];
    pthread_t t[DRAWERS];
    measure(&first);
    assert_true(first.ok && first.width > 20);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < DRAWERS; i++) {
            d[i] = (drawer){.all_here = &here};
            assert_int_equal(pthread_create(&t[i], NULL, measure, &d[i]), 0);
        }
        for (int i = 0; i < DRAWERS; i++) {
            pthread_join(t[i], NULL);
            assert_true(d[i].ok && d[i].width == first.width);
        }
    }
    pthread_barrier_destroy(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(themes_keep_meanings_apart),
        cmocka_unit_test(cleaning),
        cmocka_unit_test(wrapping),
        cmocka_unit_test(escaping),
        cmocka_unit_test(fonts_are_taken_over),
        cmocka_unit_test_setup_teardown(tables, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(all_rows, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(results_with_parts, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(bad_nodes, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(long_texts_are_cut, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(edges, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(edges_of_unknown, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("render text", tests, NULL, NULL);
}
