/* test_pattern.c: patterns whose layers are matched by class; places where a pattern stands as one
 * box: what it sums up, gets and gives, and that the graph around it stays a graph. */
#include "fxoutline.h"
#include "fxpass.h"
#include "ir/family.h"
#include "ir/module.h"
#include "testing.h"

static const char net[] =
    "Net(\n"
    "  (a): Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1))\n"
    "  (an): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
    "  (r): ReLU()\n"
    "  (b): Conv2d(4, 4, kernel_size=(1, 1), stride=(1, 1))\n"
    "  (bn): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
    "  (t): Tanh()\n"
    ")\n"
    "graph():\n"
    "    %x : [#users=1] = placeholder[target=x]\n"
    "    %a : [#users=1] = call_module[target=a](args = (%x,), kwargs = {})\n"
    "    %an : [#users=1] = call_module[target=an](args = (%a,), kwargs = {})\n"
    "    %r : [#users=2] = call_module[target=r](args = (%an,), kwargs = {})\n"
    "    %b : [#users=1] = call_module[target=b](args = (%r,), kwargs = {})\n"
    "    %bn : [#users=2] = call_module[target=bn](args = (%b,), kwargs = {})\n"
    "    %r_1 : [#users=1] = call_module[target=r](args = (%bn,), kwargs = {})\n"
    "    %t : [#users=1] = call_module[target=t](args = (%bn,), kwargs = {})\n"
    "    %add : [#users=1] = call_function[target=operator.add](args = (%r_1, %r), kwargs = {})\n"
    "    %add_1 : [#users=1] = call_function[target=operator.add](args = (%add, %t), kwargs = {})\n"
    "    return add_1\n";

#define LAYER(name, target, of)                                                                    \
    "    %" name " : [#users=1] = call_module[target=" target "](args = (%" of ",), kwargs = "     \
    "{})\n"
#define X "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
static const char conv_bn[] =
    X LAYER("c", "class:Conv*", "x") LAYER("n", "class:*Norm2d", "c") "    return n\n";
static const char conv_bn_relu[] = X LAYER("c", "class:Conv2d", "x")
    LAYER("n", "class:BatchNorm?d", "c") LAYER("r", "class:ReLU", "n") "    return r\n";
/* Gives two results, of which the first is there long before the second. */
static const char two_ways[] = X LAYER("n", "class:BatchNorm2d", "x") LAYER("r", "class:ReLU", "n")
    LAYER("t", "class:Tanh", "n") "    return (r, t)\n";

static fxs_module *load(fxs_ctx *ctx, const char *text) {
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "text", text, strlen(text), &m));
    return m;
}

static fxs_module *run_net(fxs_ctx *ctx) {
    fxs_module *m = load(ctx, net);
    fxs_inputs *in;
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "2x3x5x5"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.stats = true}, NULL));
    fxs_inputs_free(in);
    return m;
}

static fxs_node *find(fxs_module *m, const char *name) {
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n))
        if (strcmp(n->name, name) == 0)
            return n;
    return NULL;
}

static size_t count(fxs_ctx *ctx, fxs_module *m, const char *pattern, const fxs_module *modules) {
    fxs_module *p = load(ctx, pattern);
    fxs_matches *found;
    assert_ok(
        ctx, fxs_graph_match(m->graph, p->graph, &(fxs_match_options){.modules = modules}, &found));
    size_t n = fxs_matches_count(found);
    fxs_matches_free(found);
    fxs_module_unref(p);
    return n;
}

static void classes_stand_for_layers(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = run_net(ctx);
    assert_int_equal(count(ctx, m, conv_bn_relu, m), 1); /* bn has a second user */
    assert_int_equal(count(ctx, m, conv_bn_relu, NULL), 0);
    assert_int_equal(count(ctx, m, conv_bn, m), 2);
    assert_int_equal(count(ctx, m, X LAYER("c", "class:Linear", "x") "    return c\n", m), 0);
    assert_int_equal(count(ctx, m, X LAYER("c", "class:", "x") "    return c\n", m), 0);
    assert_int_equal(count(ctx, m, X LAYER("c", "a", "x") "    return c\n", m), 1);
    fxs_module_unref(m);
}

/* In replace_pattern too, by itself. */
static void replacing_by_class(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, net),
               *p = load(ctx, X LAYER("r", "class:ReLU", "x") "    return r\n"),
               *by = load(ctx, X "    %g : [#users=1] = call_function[target=torch.tanh](args = "
                                 "(%x,), kwargs = {})\n    return g\n");
    size_t n;
    assert_ok(ctx, fxs_replace_pattern(m, p->graph, by->graph, NULL, NULL, NULL, &n));
    assert_int_equal(n, 2);
    assert_null(find(m, "r"));
    size_t tanhs = 0;
    for (fxs_node *at = fxs_graph_first(m->graph); at; at = fxs_node_next(at))
        tanhs += strcmp(at->target, "torch.tanh") == 0;
    assert_int_equal(tanhs, 2);
    fxs_module_unref(m), fxs_module_unref(p), fxs_module_unref(by);
}

static fxs_module *fold(fxs_ctx *ctx, const fxs_module *m, size_t n, const char *const *names,
                        const char *const *texts, char **notes) {
    fxs_outline_pattern patterns[3];
    fxs_module *files[3], *out;
    for (size_t i = 0; i < n; i++) {
        files[i] = load(ctx, texts[i]);
        patterns[i] = (fxs_outline_pattern){names[i], files[i]->graph};
    }
    assert_ok(ctx, fxs_outline(m, &(fxs_outline_options){.patterns = patterns, .npatterns = n},
                               &out, notes));
    for (size_t i = 0; i < n; i++)
        fxs_module_unref(files[i]);
    assert_ok(ctx, fxs_graph_lint(out->graph));
    return out;
}

static void a_box_sums_up(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = run_net(ctx);
    static const char *const names[] = {"conv_bn_relu", "conv_bn", "none"},
                             *const texts[] = {conv_bn_relu, conv_bn,
                                               X LAYER("c", "class:GELU", "x") "    return c\n"};
    char *notes;
    fxs_node_set_overlay(find(m, "a"), 2);
    fxs_node_set_overlay(find(m, "r"), 0.5);
    fxs_module *out = fold(ctx, m, 3, names, texts, &notes);
    assert_non_null(strstr(notes, "1 place with the pattern conv_bn_relu is one box\n"));
    assert_non_null(strstr(notes, "1 place with the pattern conv_bn is one box\n"));
    assert_non_null(strstr(notes, "the pattern none is nowhere\n"));
    fxs_free(notes);
    assert_int_equal(out->graph->len, m->graph->len - 3);
    const fxs_node *box = find(out, "conv_bn_relu"), *a = find(m, "a"), *an = find(m, "an"),
                   *r = find(m, "r");
    assert_non_null(box);
    assert_int_equal(box->kind, FXS_CALL_FUNCTION);
    assert_string_equal(box->target, "conv_bn_relu");
    assert_int_equal(box->meta.inside, 3);
    assert_int_equal(box->meta.parameters, 16 + 8);
    fxs_group group;
    bool none;
    assert_ok(ctx, fxs_node_family(box, out, &none, &group));
    assert_true(!none && group == FXS_GROUP_CONVOLUTION);
    assert_true(box->meta.flops == a->meta.flops + an->meta.flops + r->meta.flops);
    assert_true(box->meta.seconds == a->meta.seconds + an->meta.seconds + r->meta.seconds);
    assert_true(box->meta.has_overlay && box->meta.overlay == 2.5);
    assert_int_equal(box->ninputs, 1);
    assert_string_equal(box->inputs[0]->name, "x");
    assert_int_equal(box->nusers, 2);
    assert_true(fxs_value_equal(&box->meta.result, &r->meta.result) ||
                box->meta.result.u.tensor->ndim == 4);
    assert_int_equal(box->meta.nstats, 1);
    assert_true(box->meta.stats[0].max == r->meta.stats[0].max);
    const char *of = fxs_value_text(fxs_value_item(&box->kwargs, 0));
    assert_string_equal(of, "a, an, r");
    assert_null(find(out, "an"));
    fxs_module_unref(out);
    fxs_module_unref(m);
}

/* Its two results leave as a tuple; the nodes between them stand behind it. */
static void a_box_with_two_results(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = run_net(ctx);
    static const char *const names[] = {"two ways"}, *const texts[] = {two_ways};
    fxs_module *out = fold(ctx, m, 1, names, texts, NULL);
    const fxs_node *box = NULL;
    for (fxs_node *n = fxs_graph_first(out->graph); n; n = fxs_node_next(n))
        if (n->meta.inside)
            box = n;
    assert_non_null(box);
    assert_string_equal(box->target, "two ways");
    assert_int_equal(box->meta.result.tag, FXS_V_TUPLE);
    assert_int_equal(fxs_value_len(&box->meta.result), 2);
    assert_int_equal(box->meta.nstats, 2);
    assert_int_equal(box->nusers, 2);
    fxs_module_unref(out);
    fxs_module_unref(m);
}

/* What needs the first result stands before the last of the pattern's nodes: the box comes first.
 */
static void a_box_is_there_when_it_is_needed(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m =
        load(ctx, X
             "    %a : [#users=2] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
             "    %far : [#users=1] = call_function[target=torch.exp](args = (%a,), kwargs = {})\n"
             "    %y : [#users=1] = call_function[target=torch.tanh](args = (%x,), kwargs = {})\n"
             "    %b : [#users=1] = call_function[target=torch.add](args = (%a, %y), kwargs = {})\n"
             "    return (far, b)\n");
    static const char *const names[] = {"p"};
    static const char *const texts[] = {
        "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
        "    %y : [#users=1] = placeholder[target=y]\n"
        "    %a : [#users=2] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
        "    %b : [#users=1] = call_function[target=torch.add](args = (%a, %y), kwargs = {})\n"
        "    return (a, b)\n"};
    fxs_module *out = fold(ctx, m, 1, names, texts, NULL); /* lint has looked at the order */
    assert_int_equal(out->graph->len, 5);
    assert_string_equal(fxs_node_next(fxs_node_next(fxs_graph_first(out->graph)))->name, "p");
    fxs_module_unref(out);
    fxs_module_unref(m);
}

static fxs_status fold_once(fxs_ctx *ctx, const void *data) {
    const fxs_outline_options *opt = ((const void *const *)data)[1];
    fxs_module *out = NULL;
    (void)ctx;
    fxs_status s = fxs_outline(((const void *const *)data)[0], opt, &out, NULL);
    fxs_module_unref(out);
    return s;
}

static void wrong_patterns_and_no_memory(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = run_net(ctx), *p = load(ctx, conv_bn_relu), *out,
               *empty = load(ctx, X "    return x\n");
    fxs_outline_pattern one = {"p", p->graph},
                        bad[] = {
                            {"p", NULL}, {"", p->graph}, {NULL, p->graph}, {"p", empty->graph}};
    fxs_outline_options opt = {.patterns = &one, .npatterns = 1};
    assert_survives(ctx, fold_once, (const void *[]){m, &opt});
    for (size_t i = 0; i < 4; i++) {
        opt.patterns = &bad[i];
        assert_int_equal(fxs_outline(m, &opt, &out, NULL), FXS_EINVAL);
        assert_null(out);
        fxs_ctx_clear(ctx);
    }
    fxs_module_unref(m), fxs_module_unref(p), fxs_module_unref(empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(classes_stand_for_layers, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(replacing_by_class, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_box_sums_up, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_box_with_two_results, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_box_is_there_when_it_is_needed, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(wrong_patterns_and_no_memory, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
