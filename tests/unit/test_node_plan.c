/* test_node_plan.c: calls of functions and methods bound once: which are, when a plan is dropped,
 * that a planned call gives what an unplanned one does, and that recorded shapes stay as they were
 * when a later call writes in place. */
#include "golden.h"

#include "fxtrace.h"
#include "ir/node_plan.h"

static const char head[] = "Net(\n)\ngraph():\n    %x : [#users=1] = placeholder[target=x]\n"
                           "    %y : [#users=1] = placeholder[target=y]\n";

/* The nodes' lines behind x and y, each with its newline. */
static fxs_module *load(fxs_ctx *ctx, const char *lines) {
    fxs_buf text = {0};
    fxs_module *m;
    fxs_buf_puts(&text, head);
    fxs_buf_puts(&text, lines);
    assert_ok(ctx, fxs_load_text(ctx, "net", text.data, text.len, &m));
    fxs_buf_free(&text);
    return m;
}

static void record(fxs_ctx *ctx, fxs_module *m, const char *inputs, fxs_run_mode mode) {
    fxs_run_options opt = {.mode = mode};
    fxs_run_summary s;
    assert_ok(ctx, fxs_run_text(m, inputs, &opt, &s));
    assert_int_equal(s.failed + s.unknown + s.blocked, 0);
}

#define CALL(name, target, args)                                                                   \
    "    %" name " : [#users=1] = call_function[target=" target "](args = (" args                  \
    "), kwargs = {})\n"
#define METHOD(name, target, args)                                                                 \
    "    %" name " : [#users=1] = call_method[target=" target "](args = (" args "), kwargs = "     \
    "{})\n"

static const char many[] = CALL("add", "operator.add", "%x, %y")
    CALL("half", "operator.mul", "%add, 0.5") CALL("cat", "torch.cat", "[%x, %half, %y], 1")
        METHOD("view", "view", "%cat, -1, 2") CALL("f", "torch.nn.functional.relu", "%view,")
            CALL("shape", "builtins.getattr", "%f, shape")
                CALL("rows", "operator.getitem", "%shape, 0")
                    METHOD("back", "view", "%f, %rows, 2") "    return back\n";

static fxs_call_plan *plan_of(fxs_module *m, const char *name) {
    fxs_node *n = fxs_graph_find(m->graph, name);
    return n->plan && n->plan->op ? n->plan : NULL;
}

/* The second run makes them, where all that nodes stand for can be tensors. */
static void second_run_plans(void **state) {
    static const struct {
        const char *name;
        int slots; /* 0: can't be planned */
    } rows[] = {{"add", 2}, {"half", 1}, {"cat", 3}, {"view", 1}, {"f", 1}, {"back", 0}};
    fxs_module *m = load(*state, many);
    for (int round = 0; round < 3; round++) {
        record(*state, m, "2x3 2x3", round == 1 ? FXS_RUN_EXECUTE : FXS_RUN_META);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            fxs_call_plan *p = plan_of(m, rows[i].name);
            assert_int_equal(p ? p->nslots : 0, round ? rows[i].slots : 0);
        }
    }
    fxs_module_unref(m);
}

static void check_same(fxs_module *a, fxs_module *b) {
    const fxs_node *n = fxs_graph_first(a->graph), *o = fxs_graph_first(b->graph);
    for (; n; n = fxs_node_next(n), o = fxs_node_next(o)) {
        char *x, *y;
        fxs_buf left = {0}, right = {0};
        fxs_buf_repr(&left, &n->meta.result, &(fxs_repr){0});
        fxs_buf_repr(&right, &o->meta.result, &(fxs_repr){0});
        x = left.data, y = right.data;
        assert_string_equal(x, y);
        assert_true(n->meta.flops == o->meta.flops && n->meta.bytes_read == o->meta.bytes_read);
        fxs_buf_free(&left);
        fxs_buf_free(&right);
    }
}

/* Whatever the runs before were: of other sizes, with values or without. */
static void planned_calls_are_calls(void **state) {
    static const char *const inputs[] = {"2x3 2x3", "4x5 4x5", "2x3 2x3"};
    static const char lines[] = CALL("add", "operator.add", "%x, %y")
        CALL("cat", "torch.cat", "[%x, %add, %y], 1") METHOD("t", "t", "%cat,")
            CALL("mm", "torch.matmul", "%cat, %t") CALL("pair", "torch.max", "%mm, 0")
                CALL("best", "operator.getitem", "%pair, 0") "    return best\n";
    fxs_module *again = load(*state, lines);
    for (size_t i = 0; i < 3; i++) {
        fxs_module *once = load(*state, lines);
        for (int mode = 0; mode < 2; mode++) {
            record(*state, once, inputs[i], mode ? FXS_RUN_META : FXS_RUN_EXECUTE);
            record(*state, again, inputs[i], mode ? FXS_RUN_META : FXS_RUN_EXECUTE);
            check_same(once, again);
        }
        fxs_module_unref(once);
    }
    fxs_module_unref(again);
}

/* A number where a tensor was: the call is bound as any other. */
static void other_kinds_of_values_fit_too(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, CALL("add", "operator.add", "%x, %y") "    return add\n");
    fxs_value in[2] = {fxs_int(3), fxs_int(4)}, result;
    fxs_interpreter *it;
    record(ctx, m, "2 2", FXS_RUN_META);
    record(ctx, m, "2 2", FXS_RUN_META);
    assert_non_null(plan_of(m, "add"));
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_ok(ctx, fxs_interpreter_run(it, in, 2, &result));
    assert_int_equal(result.u.i, 7);
    fxs_interpreter_free(it);
    fxs_module_unref(m);
}

/* Other arguments, another target: the old plan is gone. */
static void changes_drop_the_plan(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, CALL("c", "torch.cat", "[%x, %y], 1") "    return c\n");
    fxs_node *c = fxs_graph_find(m->graph, "c");
    for (int i = 0; i < 2; i++)
        record(ctx, m, "2x3 2x3", FXS_RUN_META);
    assert_non_null(plan_of(m, "c"));
    fxs_value dim = fxs_int(0);
    assert_ok(ctx, fxs_node_update_arg(c, 1, &dim));
    assert_null(c->plan);
    for (int i = 0; i < 2; i++)
        record(ctx, m, "2x3 2x3", FXS_RUN_META);
    assert_shape(c->meta.result.u.tensor, SIZES(4, 3));
    assert_ok(ctx, fxs_node_set_target(c, "torch.stack"));
    assert_null(c->plan);
    for (int i = 0; i < 2; i++)
        record(ctx, m, "2x3 2x3", FXS_RUN_META);
    assert_shape(c->meta.result.u.tensor, SIZES(2, 2, 3));
    fxs_module_unref(m);
}

/* What was recorded of a node is what it gave then, whatever is done to the tensor later. */
static void records_stay(void **state) {
    static const struct {
        const char *line;
        int64_t sizes[3], strides[3];
        int ndim;
    } rows[] = {{METHOD("w", "t_", "%a,"), {3, 2}, {1, 3}, 2},
                {METHOD("w", "unsqueeze_", "%a, 0"), {1, 2, 3}, {6, 3, 1}, 3},
                {METHOD("w", "transpose_", "%a, 0, 1"), {3, 2}, {1, 3}, 2},
                {METHOD("w", "resize_", "%a, (1, 6)"), {1, 6}, {6, 1}, 2},
                {METHOD("w", "requires_grad_", "%a,"), {2, 3}, {3, 1}, 2},
                {METHOD("w", "mul_", "%a, 2"), {2, 3}, {3, 1}, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fxs_buf lines = {0};
        fxs_buf_puts(&lines, CALL("a", "operator.add", "%x, %y"));
        fxs_buf_puts(&lines, rows[i].line);
        fxs_buf_puts(&lines, CALL("b", "operator.mul", "%a, 3") "    return (w, b)\n");
        fxs_module *m = load(*state, lines.data);
        const fxs_node *a = fxs_graph_find(m->graph, "a"), *w = fxs_graph_find(m->graph, "w");
        for (int round = 0; round < 3; round++) {
            record(*state, m, "2x3 2x3", FXS_RUN_META);
            assert_shape(a->meta.result.u.tensor, SIZES(2, 3));
            assert_strides(a->meta.result.u.tensor, SIZES(3, 1));
            assert_false(a->meta.result.u.tensor->requires_grad);
            assert_shape(w->meta.result.u.tensor, rows[i].ndim, rows[i].sizes);
            assert_strides(w->meta.result.u.tensor, rows[i].ndim, rows[i].strides);
            assert_int_equal(w->meta.result.u.tensor->requires_grad,
                             strcmp(w->target, "requires_grad_") == 0);
        }
        fxs_module_unref(m);
        fxs_buf_free(&lines);
    }
}

/* The caller's own inputs are not the records: what the caller does to them later changes none. */
static void inputs_are_copied(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, METHOD("w", "contiguous", "%x,") "    return w\n");
    fxs_run_options opt = {.mode = FXS_RUN_META};
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3), 1), *meta;
    fxs_inputs *in;
    assert_ok(ctx, fxs_tensor_to_meta(ctx, x, &meta));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add_value(in, "x", fxs_of_tensor(meta)));
    assert_ok(ctx, fxs_inputs_add(in, "y=1"));
    assert_ok(ctx, fxs_run(m, in, &opt, NULL));
    meta->sizes[0] = 7; /* both nodes' result is the input itself */
    assert_shape(fxs_graph_find(m->graph, "x")->meta.result.u.tensor, SIZES(2, 3));
    assert_shape(fxs_graph_find(m->graph, "w")->meta.result.u.tensor, SIZES(2, 3));
    fxs_inputs_free(in); /* which has taken meta over */
    fxs_tensor_unref(x);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(second_run_plans, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(planned_calls_are_calls, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(other_kinds_of_values_fit_too, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(changes_drop_the_plan, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(records_stay, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(inputs_are_copied, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("calls bound once", tests, NULL, NULL);
}
