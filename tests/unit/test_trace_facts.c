/* test_trace_facts.c: what a trace makes of tensors, parameters, training, factories and of what it
 * can't follow, each against what torch.fx 1.13 gave (tests/golden/trace). */
#include "tracing.h"

/* ---- tensors
 * --------------------------------------------------------------------------------------------- */

/* Two equal tensors, which are two constants all the same. */
static fxs_proxy tensor_constants(fxs_proxy self, const fxs_proxy *x) {
    fxs_tensor *const *t = fxs_user(self);
    fxs_proxy c = fxs_constant(t[0]), d = fxs_constant(t[1]);
    fxs_proxy y = fxs_add(x[0], fxs_attr(self, "plain"));
    y = fxs_add(y, fxs_attr(self, "sub.plain2"));
    y = fxs_add(y, c);
    y = fxs_add(y, d);
    y = fxs_add(y, c);
    y = fxs_add(y, fxs_attr(self, "sub.buf"));
    return fxs_add(y, fxs_function(self, "torch.add", x[0], FXS_KW("other", c)));
}

static void test_tensor_constants(void **state) {
    fxs_ctx *ctx = *state;
    static const char *const kept[] = {"plain", "_tensor_constant0", "_tensor_constant1",
                                       "sub.plain2", "sub.buf"};
    fxs_tensor *t[2];
    for (int i = 0; i < 2; i++)
        t[i] = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 7);
    fxs_module *m = fxs_nn(ctx, "M"), *sub = fxs_nn_add(m, "sub", "Inner");
    fxs_nn_buffer(m, "plain", "float32[2]");
    fxs_nn_buffer(sub, "plain2", "float32[3]");
    fxs_nn_buffer(sub, "buf", "float32[2]");
    fxs_nn_forward(m, "x", tensor_constants, t);
    m = trace_module(ctx, m, NULL);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_non_null(fxs_module_lookup(m, kept[i]).param);
    /* The GraphModule holds the very tensors. */
    assert_ptr_equal(fxs_module_lookup(m, "_tensor_constant0").param->data, t[0]);
    assert_ptr_equal(fxs_module_lookup(m, "_tensor_constant1").param->data, t[1]);
    assert_golden_code(m, "tr_tensor_consts", 0, 0);
    for (int i = 0; i < 2; i++)
        fxs_tensor_unref(t[i]);
}

/* A parameter that the program holds itself, not read through its module: a node at each use. */
static fxs_proxy parameter_thrice(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy w = fxs_constant(fxs_user(self)), y = fxs_add(x[0], w);
    y = fxs_add(y, w);
    return fxs_add(y, w);
}

/* Read through its module: one node. */
static fxs_proxy attribute_thrice(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_add(x[0], fxs_attr(self, "w"));
    y = fxs_add(y, fxs_attr(self, "w"));
    return fxs_add(y, fxs_attr(self, "w"));
}

static void test_parameters(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 7);
    for (int direct = 0; direct < 2; direct++) {
        fxs_module *m = fxs_nn(ctx, "M");
        assert_ok(ctx, fxs_module_put_tensor(m, "w", false, t));
        fxs_nn_forward(m, "x", direct ? parameter_thrice : attribute_thrice, t);
        m = trace_module(ctx, m, NULL);
        if (direct) {
            assert_golden_code(m, "tr_param_direct", 0, 0);
            continue;
        }
        assert_text(m->graph,
                    "graph():\n"
                    "    %x : [#users=1] = placeholder[target=x]\n"
                    "    %w : [#users=3] = get_attr[target=w]\n"
                    "    %add : [#users=1] = call_function[target=operator.add](args = (%x, %w), "
                    "kwargs = {})\n"
                    "    %add_1 : [#users=1] = call_function[target=operator.add](args = (%add, "
                    "%w), kwargs = {})\n"
                    "    %add_2 : [#users=1] = call_function[target=operator.add](args = (%add_1, "
                    "%w), kwargs = {})\n"
                    "    return add_2\n");
        fxs_module_unref(m);
    }
    fxs_tensor_unref(t);
}

/* A parameter's shape, as a value where the trace was asked for that. */
static fxs_proxy looks_at_shape(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy w = fxs_attr(self, "w");
    if (fxs_truth(fxs_lt(fxs_index(fxs_getattr(w, "shape"), 0), 10)) &&
        fxs_truth(fxs_eq(fxs_method(w, "dim"), 2)) && fxs_truth(fxs_eq(fxs_m_numel(w), 6)))
        return fxs_add(x[0], w);
    return x[0];
}

static void test_parameter_shapes(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fxs_nn(ctx, "M"), *traced;
    fxs_nn_parameter(m, "w", "float32[2, 3]");
    fxs_nn_forward(m, "x", looks_at_shape, NULL);
    assert_int_not_equal(fxs_trace(ctx, m, NULL, &traced), FXS_OK);
    assert_non_null(strstr(fxs_ctx_error(ctx), "cannot be used as inputs to control flow"));
    fxs_ctx_clear(ctx);
    assert_golden(trace_module(ctx, m, &(fxs_trace_options){.param_shapes_constant = true}),
                  "tr_param_shape_const", 0);
}

/* ---- training
 * -------------------------------------------------------------------------------------------- */

static fxs_proxy drops(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, "F.dropout", x[0], 0.2, FXS_KW("training", fxs_training(self)));
}

static void test_training(void **state) {
    fxs_ctx *ctx = *state;
    char *code = golden_code("tr_module_train", 0);
    fxs_module *m = fxs_nn(ctx, "M"), *traced;
    fxs_nn_forward(m, "x", drops, NULL);
    traced = trace_module(ctx, fxs_module_ref(m), NULL);
    assert_code(traced, code);
    assert_false(traced->eval);
    fxs_module_unref(traced);
    fxs_nn_train(m, false);
    traced = trace_module(ctx, m, NULL);
    assert_text(traced->graph,
                "graph():\n"
                "    %x : [#users=1] = placeholder[target=x]\n"
                "    %dropout : [#users=1] = call_function[target=torch.nn.functional.dropout]"
                "(args = (%x,), kwargs = {p: 0.2, training: False, inplace: False})\n"
                "    return dropout\n");
    fxs_module_unref(traced);
    fxs_free(code);
    m = fxs_nn(ctx, "Sequential()"); /* the flag is the GraphModule's, and its layers' */
    fxs_nn_add(m, NULL, "Dropout(0.1)");
    fxs_nn_add(m, NULL, "BatchNorm1d(2)");
    fxs_nn_train(m, false);
    m = trace_module(ctx, m, NULL);
    assert_true(m->eval && m->children[0].module->eval && m->children[1].module->eval);
    fxs_module_unref(m);
}

/* ---- factories
 * ------------------------------------------------------------------------------------------- */

static fxs_proxy makes(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0], n = fxs_method(x, "size", 0);
    switch (*(int *)fxs_user(self)) {
    case 0:
        return fxs_function(self, "torch.zeros", n, 2);
    case 1:
        return fxs_function(self, "torch.ones", FXS_LIST(n, n));
    case 2:
        return fxs_function(self, "torch.arange", n);
    case 3:
        return fxs_function(self, "torch.full", FXS_TUPLE(n), 1.5);
    case 4:
        return fxs_function(self, "torch.eye", n);
    case 5:
        return fxs_function(self, "torch.linspace", 0, 1, n);
    default:
        return fxs_method(x, "new_zeros", fxs_method(x, "size"));
    }
}

/* torch.fx 1.13 refuses all but the last: its factories do not know proxies. Here they are calls
 * like others, which run, and whose code runs in Python. */
static void test_factories(void **state) {
    static const char *const shapes[] = {"float32[3, 2]", "float32[3, 3]", "int64[3]",
                                         "float32[3]",    "float32[3, 3]", "float32[3]",
                                         "float32[3, 4]"};
    fxs_ctx *ctx = *state;
    for (int i = 0; i < 7; i++) {
        fxs_module *m;
        char *text;
        assert_ok(ctx, fxs_trace_function(ctx, "f", "x", makes, &i, NULL, &m));
        assert_ok(ctx, fxs_run_text(m, "3x4", &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
        const fxs_node *out = m->graph->root.prev;
        assert_int_equal(out->prev->kind, i < 6 ? FXS_CALL_FUNCTION : FXS_CALL_METHOD);
        assert_int_equal(fxs_node_meta(out)->outcome, FXS_DONE);
        assert_ok(ctx, fxs_value_print(ctx, &fxs_node_meta(out)->result, &text));
        assert_string_equal(text, shapes[i]);
        fxs_free(text);
        fxs_module_unref(m);
    }
}

/* Without a node among its arguments a factory is called at once: a constant. */
static fxs_proxy adds_random(fxs_proxy self, const fxs_proxy *x) {
    return fxs_add(x[0], fxs_function(self, "torch.rand", 2));
}

static void test_constant_factory(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = trace_fn(ctx, "x", adds_random);
    assert_text(m->graph, "graph():\n"
                          "    %x : [#users=1] = placeholder[target=x]\n"
                          "    %_tensor_constant0 : [#users=1] = "
                          "get_attr[target=_tensor_constant0]\n"
                          "    %add : [#users=1] = call_function[target=operator.add](args = (%x, "
                          "%_tensor_constant0), kwargs = {})\n"
                          "    return add\n");
    fxs_module_unref(m);
}

/* ---- what a trace can't follow: the message has the place
 * ---------------------------------------------------------------------------------------------- */

static int line_of_fault;

static fxs_proxy branches(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    line_of_fault = __LINE__ + 1;
    return fxs_truth(fxs_gt(x[0], 0)) ? x[0] : fxs_neg(x[0]);
}

static fxs_proxy iterates(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    line_of_fault = __LINE__ + 1;
    return fxs_iter(x[0], 0);
}

static fxs_proxy measures(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    line_of_fault = __LINE__ + 1;
    return fxs_i((int64_t)fxs_len(x[0]));
}

static fxs_proxy asserts(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    line_of_fault = __LINE__ + 1;
    fxs_assert(fxs_eq(x[0], 1));
    return x[0];
}

static fxs_proxy calls_nothing(fxs_proxy self, const fxs_proxy *x) {
    line_of_fault = __LINE__ + 1;
    return fxs_call(self, "nowhere", x[0]);
}

static void test_places(void **state) {
    static const struct {
        fxs_forward_fn *fn;
        const char *message;
    } cases[] = {
        {branches, "symbolically traced variables cannot be used as inputs to control flow"},
        {iterates, "Proxy object cannot be iterated"},
        {measures, "'len' is not supported in symbolic tracing"},
        {asserts, "symbolically traced variables cannot be used as inputs to control flow"},
        {calls_nothing, "'Inner' object has no attribute 'nowhere'"},
    };
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_module *m = fxs_nn(ctx, "Sequential()"), *traced;
        char place[80];
        fxs_nn_forward(fxs_nn_add(m, NULL, "Inner"), "x", cases[i].fn, NULL);
        assert_int_not_equal(fxs_trace(ctx, m, NULL, &traced), FXS_OK);
        assert_null(traced);
        snprintf(place, sizeof place,
                 "test_trace_facts.c:%d: in Inner.forward of '0': ", line_of_fault);
        const char *at = strstr(fxs_ctx_error(ctx), place);
        if (!at || !strstr(at, cases[i].message))
            fprintf(stderr, "%s\n", fxs_ctx_error(ctx));
        assert_non_null(at);
        assert_non_null(strstr(at, cases[i].message));
        fxs_ctx_clear(ctx);
        fxs_module_unref(m);
    }
}

/* ---- outputs, methods in place
 * ------------------------------------------------------------------------------------------- */

static fxs_proxy odd_keys(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return FXS_DICT(1, x[0], FXS_INTS(1, 2), x[0]);
}

static fxs_proxy adds_in_place(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_method(x[0], "add_", 1);
}

static fxs_proxy doubled_sum(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_mul(fxs_add(x[0], x[1]), 2);
}

static void test_odds(void **state) {
    fxs_ctx *ctx = *state;
    assert_golden_code(trace_fn(ctx, "x", odd_keys), "tr_outputs", 1, 1);
    assert_golden(
        trace_with(ctx, "x", adds_in_place, &(fxs_trace_options){.refuse_mutation = true}),
        "tr_mutable", 0); /* methods are never refused */
    assert_golden_code(trace_fn(ctx, "x, y=2", doubled_sum), "tr_root_kinds", 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tensor_constants, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_parameters, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_parameter_shapes, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_training, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_factories, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_constant_factory, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_places, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_odds, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
