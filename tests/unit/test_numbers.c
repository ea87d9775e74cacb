/* test_numbers.c: CSV files with numbers for nodes: what is read, what is refused and in which
 * line, and the sums of boxes. */
#include "testing.h"

#include <unistd.h>

#include "fxoutline.h"
#include "ir/module.h"

static const char model[] = "graph():\n"
                            "    %x : [num_users=1] = placeholder[target=x]\n"
                            "    %a : [num_users=1] = call_function[target=torch.relu](args = "
                            "(%x,), kwargs = {})\n"
                            "    %b : [num_users=1] = call_function[target=torch.relu](args = "
                            "(%a,), kwargs = {})\n"
                            "    return b\n";

static char path[40];

static void put_file(const char *text, size_t len) {
    strcpy(path, "/tmp/fxs-numbers-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    close(fd);
}

static fxs_module *load(fxs_ctx *ctx) {
    fxs_module *m;
    put_file(model, strlen(model));
    assert_ok(ctx, fxs_load(ctx, path, NULL, &m));
    unlink(path);
    return m;
}

static const fxs_meta *meta_of(fxs_module *m, const char *name) {
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n))
        if (strcmp(n->name, name) == 0)
            return &n->meta;
    fail();
    return NULL;
}

static fxs_status give(fxs_ctx *ctx, fxs_module *m, const char *text, size_t len, char title[40]) {
    fxs_numbers *o = NULL;
    put_file(text, len);
    fxs_status s = fxs_numbers_read(ctx, path, &o);
    unlink(path);
    if (s == FXS_OK)
        s = fxs_numbers_give(o, m);
    if (s == FXS_OK)
        s = fxs_numbers_check(o);
    if (o && title)
        snprintf(title, 40, "%s", fxs_numbers_title(o) ? fxs_numbers_title(o) : "");
    fxs_numbers_free(o);
    return s;
}

static void what_is_read(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *text, *title;
        double a, b; /* NAN: none */
    } cases[] = {
        {"a,1.5\nb,-2\n", "", 1.5, -2},
        {"node,\"mean, of |grad|\"\r\na , 1e-3\r\n\r\n\"b\", 7\r\n", "mean, of |grad|", 1e-3, 7},
        {"\xef\xbb\xbfname,it\nb,NaN\na,nan", "it", NAN, NAN},
        {"a,3", "", 3, NAN},
        {"", "", NAN, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_module *m = load(ctx);
        char title[40];
        assert_ok(ctx, give(ctx, m, cases[i].text, strlen(cases[i].text), title));
        assert_string_equal(title, cases[i].title);
        const fxs_meta *a = meta_of(m, "a"), *b = meta_of(m, "b");
        assert_int_equal(a->has_overlay, !isnan(cases[i].a));
        assert_int_equal(b->has_overlay, !isnan(cases[i].b));
        assert_true(!a->has_overlay || a->overlay == cases[i].a);
        assert_true(!b->has_overlay || b->overlay == cases[i].b);
        fxs_module_unref(m);
    }
}

static void what_is_refused(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *text, *why;
        fxs_status status;
    } cases[] = {
        {"a,1\nnone,2\n", ":2: there is no node 'none'", FXS_ENOTFOUND},
        {"node,x\n\na,1\nb,2\na,3\n", ":5: node 'a' has a number already, in line 3", FXS_EINVAL},
        {"node,x\na,12x\n", ":2: '12x' is no number for node 'a'", FXS_EINVAL},
        {"a,12x\n", ":1: '12x' is no number for node 'a'", FXS_EINVAL}, /* no heading: a node */
        {"a,1\nb,inf\n", ":2: 'inf' is no number", FXS_EINVAL},
        {"a,1\nb,\n", ":2: '' is no number", FXS_EINVAL},
        {"a\n", ":1: 'node,number' is expected", FXS_EINVAL},
        {"a,1,2\n", ":1: 'node,number' is expected", FXS_EINVAL},
        {",1\n", ":1: 'node,number' is expected", FXS_EINVAL},
        {"a,1\n\"b,2\n", ":2: 'node,number' is expected", FXS_EINVAL},
    };
    fxs_module *m = load(ctx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(give(ctx, m, cases[i].text, strlen(cases[i].text), NULL), cases[i].status);
        if (!strstr(fxs_ctx_error(ctx), cases[i].why))
            fail_msg("\"%s\" does not say \"%s\"", fxs_ctx_error(ctx), cases[i].why);
        fxs_ctx_clear(ctx);
    }
    assert_int_equal(give(ctx, m, "a,1\n\0b,2\n", 10, NULL), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    fxs_numbers *o;
    assert_int_equal(fxs_numbers_read(ctx, "/no/such/file.csv", &o), FXS_EIO);
    assert_null(o);
    fxs_ctx_clear(ctx);
    fxs_module_unref(m);
}

/* A name of 102 bytes in a message ends with a whole character. */
static void a_long_name_is_cut_between_characters(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx);
    char text[256] = "x";
    for (int i = 0; i < 51; i++)
        strcat(text, "\xc3\xa9");
    strcat(text, ",1\n");
    assert_int_equal(give(ctx, m, text, strlen(text), NULL), FXS_ENOTFOUND);
    assert_non_null(strstr(fxs_ctx_error(ctx), "\xc3\xa9' (fxscope table"));
    fxs_ctx_clear(ctx);
    fxs_module_unref(m);
}

/* Boxes of the levels of a model whose nodes have their numbers: named ones have their own. */
static void boxes_have_their_own(void **state) {
    static const char net[] =
        "Net(\n"
        "  (p): Block(\n    (a): ReLU()\n    (b): Tanh()\n  )\n"
        "  (q): Block(\n    (a): ReLU()\n    (b): Tanh()\n  )\n"
        ")\n"
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %p_a : [#users=1] = call_module[target=p.a](args = (%x,), kwargs = {})\n"
        "    %p_b : [#users=1] = call_module[target=p.b](args = (%p_a,), kwargs = {})\n"
        "    %q_a : [#users=1] = call_module[target=q.a](args = (%p_b,), kwargs = {})\n"
        "    %q_b : [#users=1] = call_module[target=q.b](args = (%q_a,), kwargs = {})\n"
        "    return q_b\n";
    fxs_ctx *ctx = *state;
    fxs_numbers *o;
    fxs_levels *l;
    fxs_module *m, *top;
    assert_ok(ctx, fxs_load_text(ctx, "net", net, strlen(net), &m));
    put_file("p_a,1\np_b,2\nq_a,3\nq,40\n", 23);
    assert_ok(ctx, fxs_numbers_read(ctx, path, &o));
    unlink(path);
    assert_ok(ctx, fxs_numbers_give(o, m));
    assert_int_equal(fxs_numbers_check(o), FXS_ENOTFOUND); /* of q: it is no node of m's */
    fxs_ctx_clear(ctx);
    assert_ok(ctx, fxs_levels_new(m, &l));
    assert_ok(ctx, fxs_levels_model(l, 0, &top, NULL));
    assert_true(meta_of(top, "q")->overlay == 3);
    for (int again = 0; again < 2; again++)
        fxs_numbers_give_boxes(o, top);
    assert_true(meta_of(top, "p")->overlay == 3);
    assert_true(meta_of(top, "q")->overlay == 40);
    fxs_module_unref(top);
    fxs_levels_free(l);
    fxs_numbers_free(o);
    fxs_module_unref(m);
}

static fxs_status give_again(fxs_ctx *ctx, const void *data) {
    fxs_numbers *o = NULL;
    fxs_status s = fxs_numbers_read(ctx, data, &o);
    fxs_numbers_free(o);
    return s;
}

static void memory_runs_out(void **state) {
    put_file("node,x\na,1\nb,2\n", 15);
    assert_survives(*state, give_again, path);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(what_is_refused, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_long_name_is_cut_between_characters, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(boxes_have_their_own, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(memory_runs_out, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
