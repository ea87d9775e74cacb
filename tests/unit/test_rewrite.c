/* test_rewrite.c: matching and replacing patterns. Most cases are data: tests/golden/fx_rewrite.txt
 * holds the scripts rp_* and match_* of torch.fx's rules, as graphs, with torch 1.13's matches and
 * resulting graphs. */
#include "golden.h"

#include "ir/module.h"

static void assert_graph(const fxs_graph *g, const char *want) {
    char *text;
    assert_ok(g->ctx, fxs_graph_print(g, 0, &text, NULL));
    assert_string_equal(text, want);
    fxs_free(text);
}

static fxs_module *load(fxs_ctx *ctx, const char *text) {
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "graph", text, strlen(text), &m));
    return m;
}

static void assert_refused(fxs_ctx *ctx, fxs_status s, const char *message) {
    assert_int_not_equal(s, FXS_OK);
    assert_string_equal(fxs_ctx_error(ctx), message);
    fxs_ctx_clear(ctx);
}

/* "relu_1=relu_3 relu=relu_2 x=relu_1", one line a match. */
static char *matches_text(const fxs_matches *m) {
    fxs_buf b = {0};
    for (size_t i = 0; i < fxs_matches_count(m); i++) {
        const fxs_match *match = fxs_matches_at(m, i);
        for (size_t k = 0; k < match->nnodes; k++) {
            fxs_buf_printf(&b, k ? " %s=" : "%s=", fxs_node_name(match->nodes[k].pattern));
            fxs_buf_repr(&b, &match->nodes[k].target, &(fxs_repr){.node = fxs_node_put_name});
        }
        fxs_buf_putc(&b, '\n');
    }
    return fxs_buf_take(&b, NULL);
}

/* ---- cases from the file
 * -------------------------------------------------------------------------------- */

typedef struct section {
    const char *name;
    char *text;
} section;

typedef struct test_case {
    const char *title;
    section sections[8];
    size_t n;
} test_case;

static const char *part(const test_case *c, const char *name) {
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->sections[i].name, name) == 0)
            return c->sections[i].text;
    return NULL;
}

static void replace_case(fxs_ctx *ctx, const test_case *c, fxs_module *m,
                         const fxs_graph *pattern) {
    fxs_module *r = load(ctx, part(c, "replacement"));
    fxs_matches *found = NULL;
    size_t count;
    fxs_status s = fxs_replace_pattern(m, pattern, fxs_module_graph(r), NULL, NULL, &found, &count);
    const char *refused = part(c, "refused");
    if (refused) {
        char want[256];
        snprintf(want, sizeof want, "%.*s", (int)strcspn(refused, "\n"), refused);
        assert_refused(ctx, s, want);
        assert_null(found);
        assert_graph(fxs_module_graph(m), part(c, "model"));
    } else {
        assert_ok(ctx, s);
        assert_int_equal(count, fxs_matches_count(found));
        char *text = matches_text(found);
        assert_string_equal(text, part(c, "matches"));
        fxs_free(text);
        assert_graph(fxs_module_graph(m), part(c, "result"));
    }
    fxs_matches_free(found);
    fxs_module_unref(r);
}

static void match_case(fxs_ctx *ctx, const test_case *c, fxs_module *m, const fxs_graph *pattern) {
    const char *options = part(c, "options");
    fxs_match_options opt = {.match_output = options && strstr(options, "match_output"),
                             .match_placeholder = options && strstr(options, "match_placeholder"),
                             .keep_overlapping = options && strstr(options, "keep_overlapping")};
    fxs_matches *found;
    assert_ok(ctx, fxs_graph_match(fxs_module_graph(m), pattern, &opt, &found));
    char *text = matches_text(found);
    assert_string_equal(text, part(c, "matches"));
    fxs_free(text);
    fxs_matches_free(found);
}

static void run_case(fxs_ctx *ctx, const test_case *c) {
    print_message("# %s\n", c->title);
    fxs_module *m = load(ctx, part(c, "model")), *p = load(ctx, part(c, "pattern"));
    if (part(c, "replacement"))
        replace_case(ctx, c, m, fxs_module_graph(p));
    else
        match_case(ctx, c, m, fxs_module_graph(p));
    fxs_module_unref(m);
    fxs_module_unref(p);
}

/* Cuts the file in place: a line "=== TITLE" begins a case, "--- NAME" a section, '#' a comment. */
static size_t for_each_case(fxs_ctx *ctx, char *file) {
    test_case c = {0};
    size_t n = 0;
    for (char *line = file; *line;) {
        char *end = strchr(line, '\n'), *next = end + 1;
        if (strncmp(line, "===", 3) == 0 || strncmp(line, "---", 3) == 0 || *line == '#')
            *line = *end = '\0'; /* ends the section before */
        if (!*line && line[1] == '=') {
            if (c.n)
                run_case(ctx, &c);
            n += c.n > 0;
            c = (test_case){.title = line + 4};
        } else if (!*line && line[1] == '-') {
            c.sections[c.n++] = (section){.name = line + 4, .text = next};
        }
        line = next;
    }
    run_case(ctx, &c);
    return n + 1;
}

static void as_torch_does(void **state) {
    char *file = read_test_file("golden/fx_rewrite.txt", NULL);
    assert_int_equal(for_each_case(*state, file), 73);
    fxs_free(file);
}

/* ---- what the file can't say
 * ---------------------------------------------------------------------------- */

#define HEAD "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
#define RELU                                                                                       \
    HEAD "    %relu : [#users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n " \
         "   return relu\n"
#define NEG                                                                                        \
    HEAD "    %neg : [#users=1] = call_function[target=torch.neg](args = (%x,), kwargs = {})\n   " \
         " return neg\n"

/* match_opts: the parts of a match, and the patterns that are refused; compare_graphs. */
static void parts_of_a_match(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *p = load(ctx, RELU), *again = load(ctx, RELU), *other = load(ctx, NEG);
    fxs_matches *found;
    fxs_graph *empty;
    bool same;
    assert_ok(ctx, fxs_graph_match(fxs_module_graph(again), fxs_module_graph(p), NULL, &found));
    assert_int_equal(fxs_matches_count(found), 1);
    const fxs_match *m = fxs_matches_at(found, 0);
    assert_null(fxs_matches_at(found, 1));
    assert_int_equal(m->nanchors, 1);
    assert_ptr_equal(m->anchors[0], fxs_graph_find(fxs_module_graph(p), "relu"));
    assert_int_equal(m->nplaceholders, 1);
    assert_ptr_equal(m->placeholders[0].u.node, fxs_graph_find(fxs_module_graph(again), "x"));
    assert_int_equal(m->nreturning, 1);
    assert_ptr_equal(m->returning[0].u.node, fxs_graph_find(fxs_module_graph(again), "relu"));
    fxs_matches_free(found);
    assert_ok(ctx, fxs_graph_new(ctx, &empty));
    assert_refused(ctx, fxs_graph_match(fxs_module_graph(p), empty, NULL, &found),
                   "SubgraphMatcher cannot be initialized with an empty pattern");
    fxs_graph_free(empty);
    fxs_module *dead = load(
        ctx,
        "graph():\n"
        "    %x : [#users=2] = placeholder[target=x]\n"
        "    %relu : [#users=0] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
        "    return x\n");
    assert_refused(
        ctx, fxs_graph_match(fxs_module_graph(p), fxs_module_graph(dead), NULL, &found),
        "SubgraphMatcher cannot be initialized with an pattern with dead code: Node relu");
    assert_ok(ctx, fxs_graph_same(fxs_module_graph(p), fxs_module_graph(again), &same));
    assert_true(same);
    assert_ok(ctx, fxs_graph_same(fxs_module_graph(p), fxs_module_graph(other), &same));
    assert_false(same);
    fxs_module_unref(dead);
    fxs_module_unref(p);
    fxs_module_unref(again);
    fxs_module_unref(other);
}

#define CALL(target, name, arg)                                                                    \
    "    %" name " : [#users=1] = call_module[target=" target "](args = (%" arg ",), kwargs = "    \
    "{})\n"

/* rp_modules (its expected text is under address-dependent/): modules of the replacement are put
 * in, gm's own win. Where 1.13 refuses a parameter of the replacement, it is put in as well; what
 * is nowhere is refused. */
static void modules_of_the_replacement(void **state) {
    fxs_ctx *ctx = *state;
    size_t count;
    fxs_module *gm = load(
        ctx, "M(\n  (lin): Linear(in_features=2, out_features=2, bias=True)\n  (other): ReLU()\n"
             "  (unused): Tanh()\n)\n" HEAD CALL("lin", "lin", "x")
                 CALL("other", "other", "lin") "    return other\n");
    fxs_module *p =
        load(ctx, "P(\n  (lin): Linear(in_features=2, out_features=2, bias=True)\n)\n" HEAD CALL(
                      "lin", "lin", "x") "    return lin\n");
    fxs_module *r =
        load(ctx, "R(\n  (lin): Linear(in_features=2, out_features=2, bias=True)\n  (tanh): "
                  "Tanh()\n  (w): Module()\n)\n"
                  "parameter w.v: torch.float32[1]\n" HEAD CALL("lin", "lin", "x")
                      CALL("tanh", "tanh",
                           "lin") "    %w_v : [#users=1] = get_attr[target=w.v]\n"
                                  "    %mul : [#users=1] = call_function[target=operator.mul](args "
                                  "= (%tanh, %w_v), "
                                  "kwargs = {})\n    return mul\n");
    const fxs_module *own = fxs_module_find(gm, "lin");
    char *before, *after;
    assert_ok(ctx, fxs_module_print_file(gm, 0, &before, NULL));
    assert_refused(
        ctx,
        fxs_replace_pattern(gm, fxs_module_graph(p), fxs_module_graph(r), NULL, NULL, NULL, &count),
        "Attempted to create a \"call_module\" node during subgraph rewriting with target tanh, "
        "but what it references "
        "does not exist in either the original GraphModule or the replacement");
    assert_ok(ctx, fxs_module_print_file(gm, 0, &after, NULL));
    assert_string_equal(before, after);
    fxs_free(before);
    fxs_free(after);
    assert_ok(ctx, fxs_replace_pattern(gm, fxs_module_graph(p), fxs_module_graph(r), r, NULL, NULL,
                                       &count));
    assert_int_equal(count, 1);
    fxs_module_unref(r); /* gm counts what it took */
    fxs_module_unref(p);
    assert_ptr_equal(fxs_module_find(gm, "lin"), own);
    assert_ok(ctx, fxs_module_print_file(gm, 0, &after, NULL));
    assert_string_equal(
        after, "M(\n"
               "  (lin): Linear(in_features=2, out_features=2, bias=True)\n"
               "  (other): ReLU()\n"
               "  (tanh): Tanh()\n"
               "  (w): Module()\n"
               ")\n"
               "parameter w.v: torch.float32[1]\n" HEAD CALL("lin", "lin_1", "x")
                   CALL("tanh", "tanh",
                        "lin_1") "    %w_v : [#users=1] = get_attr[target=w.v]\n"
                                 "    %mul : [#users=1] = call_function[target=operator.mul](args "
                                 "= (%tanh, %w_v), kwargs = "
                                 "{})\n" CALL("other", "other", "mul") "    return other\n");
    fxs_free(after);
    fxs_module_unref(gm);
}

/* rp_meta: what was recorded for nodes that stay is kept, new nodes have none. rp_users_order:
 * users follow the graph's order. */
static void meta_and_users(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *p = load(ctx, RELU), *r = load(ctx, NEG);
    fxs_module *gm = load(
        ctx,
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %relu : [#users=2] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
        "    %a : [#users=1] = call_function[target=torch.sin](args = (%relu,), kwargs = {})\n"
        "    %b : [#users=1] = call_function[target=torch.cos](args = (%relu,), kwargs = {})\n"
        "    %add : [#users=1] = call_function[target=torch.add](args = (%b, %a), kwargs = {})\n"
        "    return add\n");
    fxs_graph *g = fxs_module_graph(gm);
    fxs_node *old = fxs_graph_find(g, "relu"), *users[2];
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        n->meta.flops = 7;
    assert_ok(ctx, fxs_replace_pattern(gm, fxs_module_graph(p), fxs_module_graph(r), NULL, NULL,
                                       NULL, NULL));
    assert_true(old->erased);
    assert_near(fxs_graph_find(g, "neg")->meta.flops, 0, 0);
    assert_near(fxs_graph_find(g, "a")->meta.flops, 7, 0);
    assert_int_equal(fxs_node_users(fxs_graph_find(g, "neg"), users, 2), 2);
    assert_string_equal(users[0]->name, "a");
    assert_string_equal(users[1]->name, "b");
    fxs_module_unref(gm);
    fxs_module_unref(p);
    fxs_module_unref(r);
}

/* A chain and a fan of many nodes: all of them are replaced, and the names go up without gaps. */
static void many_matches(void **state) {
    fxs_ctx *ctx = *state;
    enum { MANY = 2000 };
    fxs_module *p = load(ctx, RELU), *r = load(ctx, NEG);
    for (int fan = 0; fan < 2; fan++) {
        fxs_buf text = {0}, all = {0};
        size_t count;
        fxs_buf_puts(&text, HEAD);
        for (int i = 0; i < MANY; i++) {
            fxs_buf_printf(
                &text, "    %%relu_%d : [#users=1] = call_function[target=torch.relu](args = (%%",
                i + 1);
            fxs_buf_printf(&text,
                           fan || i == 0 ? "x,), kwargs = {})\n" : "relu_%d,), kwargs = {})\n", i);
            fxs_buf_printf(&all, i ? ", relu_%d" : "relu_%d", i + 1);
        }
        fxs_buf_printf(&text, fan ? "    return [%s]\n" : "    return relu_2000\n", all.data);
        fxs_module *gm = load(ctx, text.data);
        assert_ok(ctx, fxs_replace_pattern(gm, fxs_module_graph(p), fxs_module_graph(r), NULL, NULL,
                                           NULL, &count));
        assert_int_equal(count, MANY);
        assert_int_equal(fxs_graph_len(fxs_module_graph(gm)), MANY + 2);
        assert_non_null(fxs_graph_find(fxs_module_graph(gm), "neg_1999"));
        fxs_module_unref(gm);
        fxs_buf_free(&text);
        fxs_buf_free(&all);
    }
    fxs_module_unref(p);
    fxs_module_unref(r);
}

/* ---- memory
 * --------------------------------------------------------------------------------------------- */

/* data: the texts of model, pattern and replacement. */
static fxs_status rewrite(fxs_ctx *ctx, const void *data) {
    const char *const *texts = data, *model = texts[0], *pattern = texts[1],
                      *replacement = texts[2];
    fxs_module *gm = NULL, *p = NULL, *r = NULL;
    fxs_matches *found = NULL;
    size_t count;
    fxs_status s = fxs_load_text(ctx, "model", model, strlen(model), &gm);
    if (s == FXS_OK)
        s = fxs_load_text(ctx, "pattern", pattern, strlen(pattern), &p);
    if (s == FXS_OK)
        s = fxs_load_text(ctx, "replacement", replacement, strlen(replacement), &r);
    if (s == FXS_OK)
        s = fxs_replace_pattern(gm, fxs_module_graph(p), fxs_module_graph(r), r, NULL, &found,
                                &count);
    fxs_matches_free(found);
    fxs_module_unref(gm);
    fxs_module_unref(p);
    fxs_module_unref(r);
    return s;
}

static void every_failed_allocation_is_survived(void **state) {
    static const char model[] = HEAD
        "    %relu : [#users=2] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
        "    %add : [#users=1] = call_function[target=torch.add](args = (%relu, text), kwargs = "
        "{})\n"
        "    %neg : [#users=1] = call_function[target=torch.neg](args = (%relu,), kwargs = {})\n"
        "    %cat : [#users=1] = call_function[target=torch.cat](args = ([%add, %neg],), kwargs = "
        "{})\n"
        "    return cat\n";
    static const char pattern[] =
        "graph():\n"
        "    %a : [#users=2] = placeholder[target=a]\n"
        "    %b : [#users=1] = placeholder[target=b]\n"
        "    %add : [#users=1] = call_function[target=torch.add](args = (%a, %b), kwargs = {})\n"
        "    %neg : [#users=1] = call_function[target=torch.neg](args = (%a,), kwargs = {})\n"
        "    return (add, neg)\n";
    static const char replacement[] =
        "R(\n  (t): Tanh()\n)\nbuffer w: torch.float32[1]\n"
        "graph():\n"
        "    %a : [#users=1] = placeholder[target=a]\n"
        "    %b : [#users=1] = placeholder[target=b]\n"
        "    %w : [#users=1] = get_attr[target=w]\n"
        "    %t : [#users=1] = call_module[target=t](args = (%a,), kwargs = {})\n"
        "    %sub : [#users=1] = call_function[target=torch.sub](args = (%w, %b), kwargs = {})\n"
        "    return (t, sub)\n";
    static const char *const texts[] = {model, pattern, replacement};
    (void)state;
    assert_survives(NULL, rewrite, texts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_torch_does),
        cmocka_unit_test(parts_of_a_match),
        cmocka_unit_test(modules_of_the_replacement),
        cmocka_unit_test(meta_and_users),
        cmocka_unit_test(many_matches),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
