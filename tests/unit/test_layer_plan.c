/* test_layer_plan.c: layers bound once: which are, what a call fills in, when a plan is dropped,
 * and that a planned call gives what an unplanned one does. */
#include "golden.h"

#include "ir/layer_plan.h"

static const char layers[] =
    "Net(\n"
    "  (same): Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=same)\n"
    "  (conv): Conv2d(4, 4, kernel_size=(1, 1), stride=(1, 1), bias=False)\n"
    "  (norm): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
    "  (drop): Dropout(p=0.5, inplace=False)\n"
    "  (rnn): LSTM(4, 5, num_layers=2)\n"
    ")\n"
    "graph():\n"
    "    %x : [#users=1] = placeholder[target=x]\n";

/* Each layer but the last gets the one before it, as `form` says. */
static fxs_module *load(fxs_ctx *ctx, const char *form) {
    static const char *const names[] = {"x", "same", "conv", "norm", "drop"};
    fxs_buf text = {0};
    fxs_module *m;
    fxs_buf_puts(&text, layers);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        fxs_buf_printf(&text, "    %%%s : [#users=1] = call_module[target=%s](", names[i],
                       names[i]);
        fxs_buf_printf(&text, form, names[i - 1]);
        fxs_buf_puts(&text, ")\n");
    }
    fxs_buf_puts(&text, "    return drop\n");
    assert_ok(ctx, fxs_load_text(ctx, "net", text.data, text.len, &m));
    fxs_buf_free(&text);
    return m;
}
#define BY_POSITION "args = (%%%s,), kwargs = {}"
#define BY_KEYWORD "args = (), kwargs = {input: %%%s}"

static const fxs_call_plan *plan_of(fxs_module *m, const char *name, size_t ninputs, bool train) {
    return fxs_layer_plan_of(fxs_module_child(m, name, strlen(name)), ninputs, train);
}

/* Which layers can be planned, and how many inputs and tensors are left open. */
static void plans_are_for_one_operator(void **state) {
    fxs_module *m = load(*state, BY_POSITION);
    static const struct {
        const char *name, *op;
        int slots;
    } rows[] = {{"same", "conv2d", 3},
                {"conv", "conv2d", 2},
                {"norm", "batch_norm", 5},
                {"drop", "dropout", 1},
                {"rnn", "lstm_layer", 9}}; /* its eight weights are a list */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const fxs_call_plan *p = plan_of(m, rows[i].name, 1, false);
        assert_non_null(p);
        assert_string_equal(p->op->op->name, rows[i].op);
        assert_int_equal(p->nslots, rows[i].slots);
        assert_ptr_equal(plan_of(m, rows[i].name, 1, false), p); /* kept */
    }
    assert_null(plan_of(m, "conv", 2, false)); /* more inputs than forward has */
    assert_null(plan_of(m, "conv", 0, false));
    assert_int_equal(fxs_ctx_status(*state), FXS_OK);
    assert_non_null(plan_of(m, "conv", 1, false));
    fxs_module_unref(m);
}

static fxs_value run(fxs_ctx *ctx, fxs_module *m, bool train, fxs_run_mode mode) {
    fxs_interpreter_options opt = {.mode = mode, .train = train};
    fxs_interpreter *it;
    fxs_value result, x = fxs_of_tensor(random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 5, 5), 1));
    assert_ok(ctx, fxs_interpreter_new(m, &opt, &it));
    assert_ok(ctx, fxs_interpreter_run(it, &x, 1, &result));
    fxs_interpreter_free(it);
    fxs_value_unref(&x);
    return result;
}

static void check_equal(const fxs_value *a, const fxs_value *b) {
    const fxs_tensor *x = a->u.tensor, *y = b->u.tensor;
    assert_shape(x, y->ndim, y->sizes);
    assert_strides(x, y->ndim, y->strides);
    assert_int_equal(x->requires_grad, y->requires_grad);
    for (int64_t i = 0; x->storage && i < fxs_tensor_numel(x); i++)
        assert_near(nth(x, i), nth(y, i), 0);
}

/* A call with a keyword is bound anew each time: the two ways agree, in training too, where
 * BatchNorm writes its running statistics. */
static void planned_calls_are_calls(void **state) {
    for (int how = 0; how < 4; how++) {
        fxs_module *planned = load(*state, BY_POSITION), *bound = load(*state, BY_KEYWORD);
        bool train = how & 1;
        fxs_run_mode mode = how & 2 ? FXS_RUN_META : FXS_RUN_EXECUTE;
        for (int round = 0; round < 2; round++) {
            fxs_value a = run(*state, planned, train, mode), b = run(*state, bound, train, mode);
            check_equal(&a, &b);
            fxs_value_unref(&a);
            fxs_value_unref(&b);
        }
        assert_non_null(fxs_module_child(planned, "conv", 4)->plans[train]);
        assert_null(fxs_module_child(bound, "conv", 4)->plans[train]);
        fxs_module_unref(planned);
        fxs_module_unref(bound);
    }
}

/* Another tensor under the same name: the next call takes it. */
static void new_tensors_are_taken(void **state) {
    fxs_module *m = load(*state, BY_POSITION);
    fxs_module *same = fxs_module_child(m, "same", 4), *conv = fxs_module_child(m, "conv", 4);
    fxs_module *norm = fxs_module_child(m, "norm", 4);
    fxs_value before = run(*state, m, false, FXS_RUN_EXECUTE);
    /* conv gets a bias, norm another one */
    assert_ok(*state, fxs_module_share(conv, "bias", fxs_module_attribute(same, "bias", 4)));
    assert_ok(*state, fxs_module_share(norm, "bias", fxs_module_attribute(same, "bias", 4)));
    assert_null(norm->plans[0]);
    assert_int_equal(plan_of(m, "conv", 1, false)->nslots, 3);
    fxs_value after = run(*state, m, false, FXS_RUN_EXECUTE);
    assert_true(nth(before.u.tensor, 0) != nth(after.u.tensor, 0));
    fxs_value_unref(&before);
    fxs_value_unref(&after);
    fxs_module_unref(m);
}

/* Another module under the same name, or none: what an earlier run found there is forgotten. */
static void removed_layers_are_not_called(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = load(ctx, BY_POSITION), *other;
    fxs_value before = run(ctx, m, false, FXS_RUN_META);
    assert_shape(before.u.tensor, SIZES(2, 4, 5, 5));
    assert_ok(ctx, fxs_module_delete_submodule(m, "drop"));
    fxs_interpreter *it;
    fxs_value result, x = fxs_of_tensor(random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 5, 5), 1));
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_int_equal(fxs_interpreter_run(it, &x, 1, &result), FXS_ENOTFOUND);
    assert_non_null(strstr(fxs_ctx_error(ctx), "there is no 'drop' in Net"));
    fxs_ctx_clear(ctx);
    fxs_interpreter_free(it);
    fxs_value_unref(&x);
    assert_ok(ctx, fxs_module_new(ctx, "Flatten", NULL, NULL, &other));
    assert_ok(ctx, fxs_module_add_submodule(m, "drop", other));
    fxs_module_unref(other);
    fxs_value after = run(ctx, m, false, FXS_RUN_META);
    assert_shape(after.u.tensor, SIZES(2, 100));
    fxs_value_unref(&after);
    assert_ok(ctx, fxs_module_new(ctx, "ReLU", NULL, NULL, &other)); /* in the place of the other */
    assert_ok(ctx, fxs_module_add_submodule(m, "drop", other));
    fxs_module_unref(other);
    after = run(ctx, m, false, FXS_RUN_META);
    assert_shape(after.u.tensor, SIZES(2, 4, 5, 5));
    fxs_value_unref(&before);
    fxs_value_unref(&after);
    fxs_module_unref(m);
}

/* What the plan's operator does not take is refused in the words of a call that is not planned. */
static void errors_are_the_same(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const forms[] = {BY_POSITION, BY_KEYWORD};
    char said[2][300];
    for (size_t i = 0; i < 2; i++) {
        fxs_module *m = load(ctx, forms[i]);
        fxs_interpreter *it;
        fxs_value result, x = fxs_int(3);
        assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
        assert_int_equal(fxs_interpreter_run(it, &x, 1, &result), FXS_ETYPE);
        snprintf(said[i], sizeof said[i], "%s", fxs_ctx_error(ctx));
        *strchr(said[i], '\n') = '\0'; /* then the node, which is written otherwise */
        fxs_ctx_clear(ctx);
        fxs_interpreter_free(it);
        fxs_module_unref(m);
    }
    assert_string_equal(said[0], said[1]);
    assert_non_null(strstr(said[0], "must be Tensor, not int"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plans_are_for_one_operator, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(planned_calls_are_calls, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(new_tensors_are_taken, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(removed_layers_are_not_called, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(errors_are_the_same, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("layers bound once", tests, NULL, NULL);
}
