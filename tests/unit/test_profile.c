/* test_profile.c: results that take the place of arguments that die: they are the same as without,
 * inputs and values that are used again stay; the least memory of a graph is what it is by hand. */
#include "testing.h"

#include "fxprofile.h"

static const char chain[] =
    "Net(\n"
    "  (bn): BatchNorm1d(8, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
    "  (norm): LayerNorm((8,), eps=1e-05, elementwise_affine=True)\n"
    ")\n"
    "graph():\n"
    "    %x : [#users=2] = placeholder[target=x]\n"
    "    %a : [#users=2] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
    "    %b : [#users=1] = call_module[target=bn](args = (%a,), kwargs = {})\n"
    "    %c : [#users=1] = call_function[target=operator.add](args = (%b, %a), kwargs = {})\n"
    "    %d : [#users=1] = call_module[target=norm](args = (%c,), kwargs = {})\n"
    "    %e : [#users=1] = call_function[target=torch.softmax](args = (%d, 1), kwargs = {})\n"
    "    %f : [#users=1] = call_function[target=operator.mul](args = (%e, %e), kwargs = {})\n"
    "    %g : [#users=1] = call_function[target=operator.sub](args = (%f, %x), kwargs = {})\n"
    "    return g\n";

static fxs_module *load(fxs_ctx *ctx) {
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "chain", chain, sizeof chain - 1, &m));
    return m;
}

static fxs_tensor *run(fxs_ctx *ctx, fxs_module *m, fxs_tensor *x, bool keep_values) {
    fxs_interpreter *it;
    fxs_value in = fxs_of_tensor(x), out;
    assert_ok(ctx,
              fxs_interpreter_new(m, &(fxs_interpreter_options){.keep_values = keep_values}, &it));
    assert_ok(ctx, fxs_interpreter_run(it, &in, 1, &out));
    fxs_interpreter_free(it);
    assert_int_equal(out.tag, FXS_V_TENSOR);
    return out.u.tensor;
}

static void results_over_arguments(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = load(ctx);
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(5, 8), 3),
               *same = random_tensor(ctx, FXS_FLOAT32, SIZES(5, 8), 3);
    (void)state;
    fxs_tensor *over = run(ctx, m, x, false), *apart = run(ctx, m, x, true);
    assert_memory_equal(fxs_tensor_data(over), fxs_tensor_data(apart), 5 * 8 * sizeof(float));
    assert_memory_equal(fxs_tensor_data(x), fxs_tensor_data(same), 5 * 8 * sizeof(float));
    fxs_tensor_unref(over);
    fxs_tensor_unref(apart);
    fxs_tensor_unref(x);
    fxs_tensor_unref(same);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

static void memory_of_results(void **state) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = load(ctx);
    fxs_inputs *in;
    fxs_profile *p;
    size_t n;
    (void)state;
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "64x8"));
    assert_ok(ctx, fxs_profile_run(m, in, &(fxs_profile_options){.rounds = 2}, &p));
    const fxs_profile_totals *t = fxs_profile_all(p);
    const double one = 64 * 8 * 4;
    assert_int_equal(t->failed, 0);
    /* x stays to the end; a and b at one time, and layer_norm's result beside its input */
    assert_true(t->least == 3 * one);
    assert_true(t->activations == 3 * one);
    assert_true(t->steady > 0 && t->plain > 0 && t->first > 0);
    const fxs_profile_row *rows = fxs_profile_rows(p, FXS_BY_NODE, &n);
    assert_int_equal(n, 9);
    for (size_t i = 1; i < n; i++)
        assert_true(rows[i].seconds <= rows[i - 1].seconds);
    fxs_profile_free(p);
    fxs_inputs_free(in);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_over_arguments),
        cmocka_unit_test(memory_of_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
