/* test_quotes.c: a graph whose strings are anything reads back from its file with the same strings:
 * random ones, of pieces that mean something to the reader, wherever a graph holds any. */
#include "base/pytext.h"
#include "ir/graph.h"
#include "testing.h"

static const char *const pieces[] = {"\n",
                                     "\r",
                                     "\t",
                                     " ",
                                     ", ",
                                     ",",
                                     ": ",
                                     ":",
                                     "'",
                                     "\"",
                                     "[",
                                     "]",
                                     "(",
                                     ")",
                                     "{",
                                     "}",
                                     "\\",
                                     "%x",
                                     "%",
                                     "a",
                                     "x",
                                     "mean",
                                     "1",
                                     "-1",
                                     ".5",
                                     "1e5",
                                     "None",
                                     "True",
                                     "torch",
                                     ".float32",
                                     "cpu",
                                     "cuda:0",
                                     "inf",
                                     "nan",
                                     "j",
                                     "<",
                                     ">",
                                     "slice",
                                     "=",
                                     "#",
                                     "\x80",
                                     "\xff",
                                     "\xc3",
                                     "\xc3\xa9",
                                     "\x7f",
                                     "\x01",
                                     "\xe2\x80\xae",
                                     "\xed\xa0\x80",
                                     "\xed\xb2\x80",
                                     "\xf0\x9f\x98\x80",
                                     "->",
                                     "[#users=1]",
                                     "return",
                                     "device(type='cpu')",
                                     "object('a')",
                                     "b'x'",
                                     "torch.Size([1])",
                                     "\xc2\x85"};

typedef struct source {
    fxs_ctx *ctx;
    fxs_arena *arena;
    uint64_t seed, at;
} source;

static size_t pick(source *r, size_t n) { return fxs_random_bits(r->seed, r->at++) % n; }

/* Up to four pieces; a zero byte among them where `zero`. */
static void random_text(source *r, bool zero, fxs_buf *b) {
    for (size_t n = pick(r, 5); n > 0; n--)
        if (zero && pick(r, 40) == 0)
            fxs_buf_putc(b, '\0');
        else
            fxs_buf_puts(b, pieces[pick(r, sizeof pieces / sizeof *pieces)]);
}

static fxs_value random_string(source *r, fxs_tag tag) {
    fxs_buf b = {0};
    fxs_value v;
    random_text(r, tag == FXS_V_STR, &b);
    assert_ok(r->ctx, fxs_make_text(r->ctx, r->arena, tag, b.data ? b.data : "", b.len, &v));
    fxs_buf_free(&b);
    return v;
}

static fxs_value random_value(source *r, fxs_node *x, int depth);

static fxs_value random_sequence(source *r, fxs_node *x, fxs_tag tag, size_t n, int depth) {
    fxs_value v;
    assert_ok(r->ctx, fxs_make_seq(r->ctx, r->arena, tag, n, &v));
    for (size_t i = 0; i < n; i++)
        v.u.seq->items[i] = random_value(r, x, depth + 1);
    return v;
}

static fxs_value random_dict(source *r, fxs_node *x, int depth) {
    size_t n = pick(r, 3);
    fxs_value v;
    assert_ok(r->ctx, fxs_make_dict(r->ctx, r->arena, n, &v));
    for (size_t i = 0; i < n; i++) {
        v.u.dict->pairs[i].key = random_string(r, FXS_V_STR);
        v.u.dict->pairs[i].value = random_value(r, x, depth + 1);
    }
    return v;
}

/* A device prints as the string does that is its name. */
static fxs_value random_value(source *r, fxs_node *x, int depth) {
    fxs_value v;
    switch (pick(r, depth < 3 ? 10 : 6)) {
    case 0:
        return fxs_of_node(x);
    case 1:
        return fxs_int((int64_t)pick(r, 9) - 4);
    case 2:
        assert_ok(r->ctx, fxs_make_text(r->ctx, r->arena, FXS_V_DEVICE, "cuda:0", 6, &v));
        return v;
    case 6:
        return random_sequence(r, x, FXS_V_LIST, pick(r, 4), depth);
    case 7:
        return random_sequence(r, x, FXS_V_TUPLE, pick(r, 4), depth);
    case 8:
        return random_dict(r, x, depth);
    case 9:
        return random_sequence(r, x, FXS_V_SLICE, 3, depth);
    default:
        return random_string(r, FXS_V_STR);
    }
}

/* A text for the target or the type of a node, NULL for none. */
static const char *random_word(source *r) {
    fxs_buf b = {0};
    random_text(r, false, &b);
    const char *s = b.len ? fxs_arena_dup(r->arena, b.data, b.len) : NULL;
    fxs_buf_free(&b);
    return s;
}

static fxs_graph *random_graph(source *r) {
    fxs_graph *g;
    fxs_node *x, *n;
    assert_ok(r->ctx, fxs_graph_new(r->ctx, &g));
    fxs_value given;
    assert_ok(r->ctx, fxs_make_seq(r->ctx, r->arena, FXS_V_TUPLE, 1, &given));
    given.u.seq->items[0] = random_string(r, FXS_V_STR);
    assert_ok(r->ctx, fxs_graph_create_node(g, FXS_PLACEHOLDER, "x", &given, NULL, "x",
                                            random_word(r), &x));
    fxs_value args = random_sequence(r, x, FXS_V_TUPLE, pick(r, 4), 0), kwargs;
    assert_ok(r->ctx, fxs_make_dict(r->ctx, r->arena, 1, &kwargs));
    kwargs.u.dict->pairs[0].key = random_string(r, FXS_V_STR);
    kwargs.u.dict->pairs[0].value = random_value(r, x, 0);
    const char *target = random_word(r);
    assert_ok(r->ctx, fxs_graph_create_node(g, FXS_CALL_FUNCTION, target ? target : "f", &args,
                                            &kwargs, "a", random_word(r), &n));
    fxs_value out = random_value(r, n, 0);
    assert_ok(r->ctx, fxs_graph_output(g, &out, &n));
    return g;
}

/* ---- what is compared ---- */

static const char *word(const char *s) { return s ? s : ""; }

/* Nodes of two graphs are the same when their names are. */
static void put_repr(fxs_buf *b, const fxs_value *v) {
    fxs_buf_repr(b, v, &(fxs_repr){.node = fxs_node_put_name});
}

static bool same_nodes(const fxs_node *a, const fxs_node *b) {
    fxs_buf p = {0}, q = {0};
    put_repr(&p, &a->args);
    put_repr(&p, &a->kwargs);
    put_repr(&q, &b->args);
    put_repr(&q, &b->kwargs);
    bool same = p.len == q.len && memcmp(p.data, q.data, p.len) == 0 && a->kind == b->kind &&
                strcmp(a->target, b->target) == 0 && strcmp(word(a->type), word(b->type)) == 0;
    fxs_buf_free(&p);
    fxs_buf_free(&q);
    return same;
}

static bool same_graphs(const fxs_graph *a, const fxs_graph *b) {
    const fxs_node *n = fxs_graph_first(a), *m = fxs_graph_first(b);
    for (; n && m && same_nodes(n, m); n = fxs_node_next(n), m = fxs_node_next(m)) {
    }
    return !n && !m;
}

static void assert_reads_back(fxs_ctx *ctx, const fxs_module *m, unsigned flags) {
    fxs_module *again;
    char *text, *twice;
    size_t len;
    assert_ok(ctx, fxs_module_print_file(m, flags, &text, &len));
    fxs_status s = fxs_load_text(ctx, "again", text, len, &again);
    if (s != FXS_OK)
        fprintf(stderr, "%s\n", text);
    assert_ok(ctx, s);
    if (!same_graphs(fxs_module_graph(m), fxs_module_graph(again))) {
        fprintf(stderr, "reads back as something else:\n%s\n", text);
        fail();
    }
    assert_ok(ctx, fxs_module_print_file(again, flags, &twice, NULL));
    assert_string_equal(twice, text);
    fxs_free(text);
    fxs_free(twice);
    fxs_module_unref(again);
}

static void any_string_reads_back(void **state) {
    fxs_ctx *ctx = *state;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        fxs_arena arena = {0};
        source r = {.ctx = ctx, .arena = &arena, .seed = seed};
        fxs_graph *g = random_graph(&r);
        fxs_module *m;
        assert_ok(ctx, fxs_module_new(ctx, "M", NULL, NULL, &m));
        fxs_module_set_graph(m, g);
        assert_reads_back(ctx, m, seed % 2 ? FXS_PRINT_TORCH2 : 0);
        fxs_module_unref(m);
        fxs_arena_clear(&arena);
    }
}

/* Strings and what is only text are told apart, also by lines with both. */
static void texts_stay_what_they_were(void **state) {
    fxs_ctx *ctx = *state;
    fxs_arena arena = {0};
    fxs_value args, v;
    fxs_graph *g;
    fxs_module *m, *again;
    char *text;
    assert_ok(ctx, fxs_make_seq(ctx, &arena, FXS_V_TUPLE, 2, &args));
    assert_ok(ctx, fxs_make_text(ctx, &arena, FXS_V_STR, "range(0, 3)", 11, &v));
    args.u.seq->items[0] = v;
    assert_ok(ctx, fxs_make_text(ctx, &arena, FXS_V_OPAQUE, "tensor([1,\n2])", 14, &v));
    args.u.seq->items[1] = v;
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    fxs_node *n;
    assert_ok(ctx, fxs_graph_call_function(g, "f", &args, NULL, &n));
    assert_ok(ctx, fxs_module_new(ctx, "M", NULL, NULL, &m));
    fxs_module_set_graph(m, g);
    assert_ok(ctx, fxs_module_print_file(m, 0, &text, NULL));
    assert_ok(ctx, fxs_load_text(ctx, "again", text, strlen(text), &again));
    const fxs_value *read = &fxs_graph_first(fxs_module_graph(again))->args;
    assert_true(fxs_value_equal(fxs_value_item(read, 0), &args.u.seq->items[0]));
    assert_true(fxs_value_equal(fxs_value_item(read, 1), &args.u.seq->items[1]));
    assert_int_equal(fxs_value_item(read, 1)->tag, FXS_V_OPAQUE);
    fxs_free(text);
    fxs_module_unref(again);
    fxs_module_unref(m);
    fxs_arena_clear(&arena);
}

/* What torch.fx prints is what it was: lines that need no quotes have none, and a comment holds for
 * one line. */
static void quotes_are_where_they_are_needed(void **state) {
    fxs_ctx *ctx = *state;
    static const char text[] =
        "graph():\n    %x : [#users=2] = placeholder[target=x]\n"
        "    %a : [#users=1] = call_function[target=torch.einsum](args = (ij,jk->ik, %x), "
        "kwargs = {mode: 'constant'})\n"
        "    # with quotes\n"
        "    %b : [#users=1] = call_function[target=f](args = (%a, 'a b'), kwargs = {'k': 'cpu'})\n"
        "    %c : [#users=0] = call_method[target=to](args = (%b, cpu), kwargs = {})\n"
        "    return x\n";
    fxs_module *m;
    char *out;
    assert_ok(ctx, fxs_load_text(ctx, "m", text, strlen(text), &m));
    const fxs_node *a = fxs_node_next(fxs_graph_first(fxs_module_graph(m))), *b = fxs_node_next(a);
    assert_string_equal(fxs_value_item(&b->args, 1)->u.s->text, "a b");
    assert_int_equal(fxs_value_item(&b->args, 1)->tag, FXS_V_STR);
    assert_int_equal(fxs_value_item(&fxs_node_next(b)->args, 1)->tag, FXS_V_DEVICE);
    assert_string_equal(a->kwargs.u.dict->pairs[0].value.u.s->text, "'constant'");
    assert_ok(ctx, fxs_module_print_file(m, 0, &out, NULL));
    assert_non_null(strstr(out, "    # with quotes\n    %b : [#users=1] = call_function[target=f]("
                                "args = (%a, 'a b'), kwargs = {'k': 'cpu'})\n    %c"));
    assert_non_null(strstr(out, "(args = (%b, cpu), kwargs = {})"));
    fxs_free(out);
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &out, NULL));
    assert_non_null(strstr(out, "(args = (%a, a b), kwargs = {k: cpu})"));
    fxs_free(out);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_string_reads_back),
        cmocka_unit_test(texts_stay_what_they_were),
        cmocka_unit_test(quotes_are_where_they_are_needed),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
