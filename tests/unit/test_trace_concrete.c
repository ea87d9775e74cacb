/* test_trace_concrete.c: traces with concrete arguments: values that are fixed and checked, and
 * trees whose leaves become placeholders; their code, how they are called and run. What torch.fx
 * 1.13 gave is in tests/golden/trace. */
#include "tracing.h"

/* ---- fixed values
 * ---------------------------------------------------------------------------------------------- */

static fxs_proxy choose(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_truth(fxs_eq(x[1], fxs_b(true))) ? x[0] : fxs_mul(x[0], 2);
}

static fxs_proxy first_or_second(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return x[1].u.value.tag == FXS_V_NONE ? x[0] : x[1];
}

static fxs_proxy plus_one(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_add(x[0], 1);
}

static fxs_module *fixed(fxs_ctx *ctx, const char *signature, fxs_forward_fn *fn,
                         const char *arguments) {
    return trace_with(ctx, signature, fn, &(fxs_trace_options){.concrete_args = arguments});
}

static void test_fixed_values(void **state) {
    static const char h[] = "a, b=None, c=1.5, d='s', e=True, n=3";
    fxs_ctx *ctx = *state;
    assert_golden_code(fixed(ctx, "a, b", choose, "b=False"), "code_concrete", 0, 0);
    assert_golden_code(fixed(ctx, h, first_or_second, "b=None, c=1.5, d='s', e=True"),
                       "code_concrete", 1, 1);
    assert_golden_code(fixed(ctx, h, first_or_second, "PH, None, 1.5, 's', True, PH"),
                       "code_concrete", 3, 3);
    assert_golden(fixed(ctx, h, first_or_second, "a=torch.float32"), "code_concrete", 4);
    assert_golden(fixed(ctx, h, first_or_second, "zzz=1"), "code_concrete", 5);
    assert_refusal(ctx, h, first_or_second, &(fxs_trace_options){.concrete_args = "PH, None, 1.5"},
                   "Tracing expected 6 arguments but got 3 concrete arguments");
    assert_refusal(ctx, h, first_or_second, &(fxs_trace_options){.concrete_args = "b=[PH"},
                   "this '[' is never closed");
    /* What an Ellipsis or a slice was is not checked: torch.fx warns. */
    assert_golden_code(fixed(ctx, "x, s", plus_one, "s=..."), "pytrees", 6, 6);
}

/* ---- tensors
 * ---------------------------------------------------------------------------------------------- */

/* b is used three times, the second tensor in a tree is not used at all. */
static fxs_proxy uses_of_tensors(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy y = fxs_add(x[0], x[1]);
    y = fxs_sub(x[1], y);
    return fxs_mul(y, fxs_add(fxs_index(x[2], 0), x[1]));
}

static void test_fixed_tensors(void **state) {
    static const char h[] = "a, b=None, c=1.5, d='s', e=True, n=3";
    fxs_ctx *ctx = *state;
    fxs_tensor *t[] = {random_tensor(ctx, FXS_FLOAT32, SIZES(2), 1),
                       random_tensor(ctx, FXS_FLOAT32, SIZES(2), 2)};
    fxs_trace_options opt = {
        .concrete_args = "b=TENSOR", .concrete_tensors = t, .nconcrete_tensors = 1};
    assert_golden_code(trace_with(ctx, h, first_or_second, &opt), "code_concrete", 2, 2);
    opt = (fxs_trace_options){
        .concrete_args = "b=TENSOR, c=[PH, TENSOR]", .concrete_tensors = t, .nconcrete_tensors = 2};
    fxs_module *m = trace_with(ctx, "a, b, c", uses_of_tensors, &opt);
    assert_text(
        m->graph,
        "graph():\n    %a : [#users=1] = placeholder[target=a]\n"
        "    %b_1 : [#users=0] = placeholder[target=b_1]\n"
        "    %c_1 : [#users=1] = placeholder[target=c_1]\n"
        "    %c_2 : [#users=0] = placeholder[target=c_2]\n"
        "    %_tensor_constant0 : [#users=1] = get_attr[target=_tensor_constant0]\n"
        "    %add : [#users=1] = call_function[target=operator.add](args = (%a, "
        "%_tensor_constant0), kwargs = {})\n"
        "    %_tensor_constant0_1 : [#users=1] = get_attr[target=_tensor_constant0]\n"
        "    %sub : [#users=1] = call_method[target=sub](args = (%_tensor_constant0_1, %add), "
        "kwargs = {})\n"
        "    %_tensor_constant0_2 : [#users=1] = get_attr[target=_tensor_constant0]\n"
        "    %add_1 : [#users=1] = call_function[target=operator.add](args = (%c_1, "
        "%_tensor_constant0_2), kwargs = {})\n"
        "    %mul : [#users=1] = call_function[target=operator.mul](args = (%sub, %add_1), kwargs "
        "= {})\n    return [mul]\n");
    fxs_tensor_unref(t[1]);
    t[1] = NULL; /* the graph counts what it uses */
    fxs_run_summary summary;
    assert_ok(ctx, fxs_run_text(m, "2 2 2 2", NULL, &summary));
    assert_int_equal(summary.failed, 0);
    fxs_module_unref(m);
    static const char *const refusals[] = {
        "concrete_args has more TENSORs than concrete_tensors has tensors: 1",
        "concrete_args has 0 TENSORs for 1 concrete_tensors",
        "concrete_tensors are given, but no concrete_args"};
    static const char *const given[] = {"b=TENSOR, c=[PH, TENSOR]", "c=[PH, PH]", NULL};
    for (size_t i = 0; i < 3; i++) {
        opt = (fxs_trace_options){
            .concrete_args = given[i], .concrete_tensors = t, .nconcrete_tensors = 1};
        assert_refusal(ctx, "a, b, c", uses_of_tensors, &opt, refusals[i]);
    }
    opt.concrete_args = "c=[TENSOR, TENSOR]";
    opt.nconcrete_tensors = 2;
    assert_refusal(ctx, "a, b, c", uses_of_tensors, &opt, "concrete_tensors[1] is NULL");
    fxs_tensor_unref(t[0]);
}

static fxs_proxy sum_of_tree(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy y = fxs_add(fxs_index(x[0], "ids"), fxs_index(fxs_index(x[0], "pair"), 0));
    return fxs_add(y, x[1]);
}

/* Several as one value, with blanks between them, as the command line has them. */
static void test_trees_run(void **state) {
    static const char *const inputs[] = {"x={ids: 2x3, pair: [2x3, int:5]} int:2",
                                         " y=int:2  x={pair: (2x3, none), ids:2x3} ",
                                         "{ids: 2x3, pair: [2x3, int:5]} int:2",
                                         "x_1=2x3 x_2=2x3 int:5 y=int:2"},
                             *const broken[] = {"x={ids: 2x3, pair: [2x3, int:5] int:2",
                                                "x={ids: 2x3} int:2", "[2x3, 2x3] int:2",
                                                "z={ids: 2x3} int:2"},
                             *const messages[] = {
                                 "a bracket does not end", "input 'x': key 'pair' is missing",
                                 "input 'x': a dict expected, found list",
                                 "the model has no input 'z'; its inputs are: x_1, x_2, x_3, y, or "
                                 "with trees x, y"};
    fxs_ctx *ctx = *state;
    fxs_trace_options opt = {.concrete_args = "x={'ids': PH, 'pair': [PH, PH]}"};
    fxs_module *m;
    fxs_run_summary summary;
    assert_ok(ctx, fxs_trace_function(ctx, "f", "x, y", sum_of_tree, NULL, &opt, &m));
    for (size_t i = 0; i < 4; i++) {
        assert_ok(ctx, fxs_run_text(m, inputs[i], NULL, &summary));
        assert_int_equal(summary.failed, 0);
        assert_int_not_equal(fxs_run_text(m, broken[i], NULL, &summary), FXS_OK);
        assert_non_null(strstr(fxs_ctx_error(ctx), messages[i]));
        fxs_ctx_clear(ctx);
    }
    fxs_module_unref(m);
}

/* The checks stop a call with another value, wherever the graph runs. */
static void test_checks_run(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fixed(ctx, "a, b", choose, "b=False");
    fxs_interpreter *it;
    fxs_value result;
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_ok(ctx, fxs_interpreter_run(it, (fxs_value[]){fxs_int(3), fxs_bool(false)}, 2, &result));
    assert_int_equal(result.tag, FXS_V_INT);
    assert_int_equal(result.u.i, 6);
    fxs_interpreter_free(it);
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_int_not_equal(
        fxs_interpreter_run(it, (fxs_value[]){fxs_int(3), fxs_bool(true)}, 2, &result), FXS_OK);
    assert_non_null(strstr(fxs_ctx_error(ctx),
                           "b has been specialized to have value False but got another value"));
    fxs_ctx_clear(ctx);
    fxs_interpreter_free(it);
    fxs_module_unref(m);
}

/* ---- trees
 * ------------------------------------------------------------------------------------------------
 */

static fxs_proxy sum_of_dict(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy sum = fxs_i(0);
    (void)self;
    for (size_t i = 0; i < fxs_len(x[0]); i++)
        sum = fxs_add(sum, fxs_index(x[0], fxs_iter(x[0], i)));
    return sum;
}

static fxs_proxy trees(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy s = fxs_add(fxs_index(x[0], 0), fxs_index(x[1], "k"));
    return FXS_DICT("s", s, "t", FXS_TUPLE(x[2], fxs_index(x[0], 1)));
}

static fxs_proxy scaled(fxs_proxy self, const fxs_proxy *x) {
    return FXS_LIST(fxs_mul(fxs_index(x[0], 0), fxs_attr(self, "w")), x[1]);
}

static fxs_proxy first_part(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_index(x[0], 0);
}

static fxs_proxy first_part_plus(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_add(fxs_index(x[0], 0), x[1]);
}

static fxs_proxy constant(fxs_proxy self, const fxs_proxy *x) {
    (void)x;
    return fxs_i(fxs_module_of(self)->nchildren ? 3 : 1);
}

static fxs_proxy parts(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy y = fxs_index(x[0], 0);
    return FXS_TUPLE(y, FXS_NONE, FXS_LIST(y, FXS_SLICE(FXS_NONE, 2, FXS_NONE), 5));
}

static fxs_proxy index_by(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_index(fxs_index(x[0], 0), x[1]);
}

static fxs_proxy odd_keys(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_add(fxs_index(x[0], "a"), fxs_index(x[0], 1));
}

static fxs_proxy starred(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_add(fxs_index(x[0], 0), fxs_index(x[1], 0));
}

static void assert_spec(const fxs_value *v, const char *want) {
    fxs_buf b = {0};
    fxs_buf_repr(&b, v, &(fxs_repr){0});
    assert_string_equal(b.data, want);
    fxs_buf_free(&b);
}

static fxs_module *trees_of(fxs_ctx *ctx) {
    return fixed(ctx, "a, b, c", trees, "a=(PH, [PH]), b={'k': PH}");
}

static fxs_module *scaled_of(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_parameter(m, "w", "float32[1]");
    fxs_nn_forward(m, "a, b", scaled, NULL);
    return trace_module(ctx, m, &(fxs_trace_options){.concrete_args = "a=[PH, 5]"});
}

static void test_code_of_trees(void **state) {
    fxs_ctx *ctx = *state;
    assert_golden_code(fixed(ctx, "x", sum_of_dict, "x={'a': PH, 'b': PH, 'c': PH}"), "code_pytree",
                       0, 0);
    assert_golden_code(trees_of(ctx), "code_pytree", 2, 2);
    assert_golden_code(scaled_of(ctx), "code_pytree", 3, 3);
    assert_golden_code(fixed(ctx, "x", first_part, "x=[PH, None]"), "pytrees", 0, 0);
    assert_golden_code(fixed(ctx, "x, y, e", first_part_plus, "x=[PH, PH], e={}"), "pytrees", 1, 1);
    assert_golden_code(fixed(ctx, "x, e", constant, "x=[], e={}"), "pytrees", 2, 2);
    assert_golden_code(fixed(ctx, "input, x", first_part_plus, "input=[PH, PH]"), "pytrees", 3, 3);
    assert_golden_code(fixed(ctx, "x", parts, "x=[PH, PH]"), "pytrees", 4, 4);
    assert_golden_code(fixed(ctx, "x, s", index_by, "x=[PH], s=slice(None, 2, None)"), "pytrees", 5,
                       5);
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_nn_add(m, "child", "Child");
    fxs_nn_forward(m, "x", constant, NULL);
    assert_golden_code(trace_module(ctx, m, &(fxs_trace_options){.concrete_args = "x=[]"}),
                       "pytrees", 7, 7);
    assert_golden_code(fixed(ctx, "x", odd_keys, "x={'a': PH, 1: PH}"), "pytrees", 8, 8);
    assert_golden_code(
        fixed(ctx, "x, b -> torch.Tensor", first_part_plus, "x=(PH, [PH, {'q': PH}])"), "pytrees",
        9, 9);
}

/* Defaults, types and *args, where torch.fx's own code does not compile or can't be called. */
static void test_code_that_compiles(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fixed(ctx, "a, b, c=2", trees, "a=(PH, [PH]), b={'k': PH}");
    assert_code(m, "def forward(self, a, b, c = 2):\n"
                   "    a_1, a_2, b_1, c, = fx_pytree.tree_flatten_spec([a, b, c], self._in_spec)\n"
                   "    add = a_1 + b_1;  a_1 = b_1 = None\n"
                   "    return pytree.tree_unflatten([add, c, a_2], self._out_spec)\n    ");
    assert_golden(m, "code_pytree", 1);
    m = fixed(ctx, "x, b: torch.Tensor, k: int = 3, e=None", first_part_plus, "x=[PH], e={}");
    assert_code(m, "def forward(self, x, b : torch.Tensor, k : int = 3, e = {}):\n"
                   "    x_1, b, k, = fx_pytree.tree_flatten_spec([x, b, k, e], self._in_spec)\n"
                   "    add = x_1 + b;  x_1 = b = None\n"
                   "    return pytree.tree_unflatten([add], self._out_spec)\n    ");
    fxs_module_unref(m);
    m = fixed(ctx, "x, *a", starred, "x=[PH, PH]");
    assert_code(m, "def forward(self, x, *a):\n"
                   "    x_1, x_2, a, = fx_pytree.tree_flatten_spec([x, a], self._in_spec)\n"
                   "    _a = a\n"
                   "    getitem = _a[0];  _a = None\n"
                   "    add = x_1 + getitem;  x_1 = getitem = None\n"
                   "    return pytree.tree_unflatten([add], self._out_spec)\n    ");
    fxs_module_unref(m);
    /* Of two that would have one name, the second gives way. */
    m = fixed(ctx, "x, x_1", first_part_plus, "x=[PH]");
    assert_code(m, "def forward(self, x, x_1):\n"
                   "    x_1, x_2, = fx_pytree.tree_flatten_spec([x, x_1], self._in_spec)\n"
                   "    add = x_1 + x_2;  x_1 = x_2 = None\n"
                   "    return pytree.tree_unflatten([add], self._out_spec)\n    ");
    fxs_module_unref(m);
}

static void test_python_file_of_trees(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = scaled_of(ctx);
    char *text;
    assert_ok(ctx, fxs_module_python_file(m, 0, &text, NULL));
    assert_non_null(strstr(text, "import torch.fx._pytree as fx_pytree\n"
                                 "import torch.utils._pytree as pytree\n"));
    assert_non_null(strstr(text, "        self._in_spec = pytree.tree_flatten((0, [0, 0], 0,))[1]\n"
                                 "        self._out_spec = pytree.tree_flatten([0, 0])[1]\n"));
    fxs_free(text);
    fxs_module_unref(m);
    m = trees_of(ctx);
    assert_ok(ctx, fxs_module_python_file(m, 0, &text, NULL));
    assert_non_null(strstr(text, "tree_flatten(((0, [0]), {'k': 0}, 0,))[1]\n"));
    assert_non_null(strstr(text, "tree_flatten({'s': 0, 't': (0, [0])})[1]\n"));
    fxs_free(text);
    fxs_module_unref(m);
}

/* ---- calling
 * --------------------------------------------------------------------------------------------- */

typedef struct call {
    fxs_value args[3];
} call;

/* ((1, [2]), {'j': 0, 'k': 3}, 4) */
static call example(fxs_ctx *ctx) {
    call c;
    fxs_value list, two = fxs_int(2);
    assert_ok(ctx, fxs_value_list(ctx, 1, &two, &list));
    assert_ok(ctx, fxs_value_tuple(ctx, 2, (fxs_value[]){fxs_int(1), list}, &c.args[0]));
    fxs_value_unref(&list);
    assert_ok(ctx, fxs_value_dict(ctx, 2, (const char *[]){"j", "k"},
                                  (fxs_value[]){fxs_int(0), fxs_int(3)}, &c.args[1]));
    c.args[2] = fxs_int(4);
    return c;
}

static void drop(call *c) {
    for (int i = 0; i < 3; i++)
        fxs_value_unref(&c->args[i]);
}

static void assert_value(fxs_ctx *ctx, fxs_value *v, const char *want) {
    char *text;
    assert_ok(ctx, fxs_value_print(ctx, v, &text));
    assert_string_equal(text, want);
    fxs_free(text);
    fxs_value_unref(v);
}

static void test_flatten_and_unflatten(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = trees_of(ctx);
    call c = example(ctx);
    fxs_value flat, out, odd = fxs_none();
    assert_spec(&m->graph->pytree->inputs, "(('*', ['*']), {'k': '*'}, '*')");
    assert_spec(&m->graph->pytree->output, "{'s': '*', 't': ('*', ['*'])}");
    assert_false(m->graph->pytree->bound);
    assert_ok(ctx, fxs_graph_flatten_inps(m->graph, c.args, 3, &flat));
    assert_value(ctx, &flat, "[1, 2, 3, 4]");
    assert_ok(ctx, fxs_graph_flatten_inps(m->graph, c.args, 2, &flat)); /* defaults may follow */
    assert_value(ctx, &flat, "[1, 2, 3]");
    fxs_value four[] = {fxs_int(1), fxs_int(2), fxs_int(3), fxs_int(4)};
    assert_ok(ctx, fxs_graph_flatten_inps(m->graph, four, 4, &flat)); /* flat already */
    assert_int_equal(fxs_graph_unflatten_outs(m->graph, &odd, &out), FXS_EINVAL);
    assert_string_equal(fxs_ctx_error(ctx), "a list of 3 values expected, which the output's tree "
                                            "is made of, found NoneType of 0");
    fxs_ctx_clear(ctx);
    assert_value(ctx, &flat, "[1, 2, 3, 4]");
    assert_ok(ctx, fxs_value_list(ctx, 3, four, &flat));
    assert_ok(ctx, fxs_graph_unflatten_outs(m->graph, &flat, &out));
    assert_value(ctx, &out, "{'s': 1, 't': (2, [3])}");
    fxs_value_unref(&flat);
    /* Trees of another form. */
    fxs_value swapped[] = {c.args[1], c.args[0]}, one[] = {c.args[0], c.args[0]};
    assert_int_equal(fxs_graph_flatten_inps(m->graph, swapped, 2, &flat), FXS_ETYPE);
    assert_string_equal(fxs_ctx_error(ctx), "input 'a': a tuple expected, found dict");
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_graph_flatten_inps(m->graph, one, 2, &flat), FXS_ETYPE);
    assert_string_equal(fxs_ctx_error(ctx), "input 'b': a dict expected, found tuple");
    fxs_ctx_clear(ctx);
    fxs_value_unref(&one[0]);
    assert_ok(ctx, fxs_value_tuple(ctx, 1, four, &c.args[0]));
    assert_int_equal(fxs_graph_flatten_inps(m->graph, c.args, 3, &flat), FXS_EINDEX);
    assert_string_equal(fxs_ctx_error(ctx), "input 'a': item 1 of 2 is missing");
    fxs_ctx_clear(ctx);
    drop(&c);
    c = example(ctx);
    fxs_value_unref(&c.args[1]);
    assert_ok(ctx, fxs_value_dict(ctx, 1, (const char *[]){"j"}, four, &c.args[1]));
    assert_int_equal(fxs_graph_flatten_inps(m->graph, c.args, 3, &flat), FXS_ENOTFOUND);
    assert_string_equal(fxs_ctx_error(ctx), "input 'b': key 'k' is missing");
    fxs_ctx_clear(ctx);
    fxs_value five[] = {c.args[0], c.args[1], c.args[2], c.args[2]};
    assert_int_equal(fxs_graph_flatten_inps(m->graph, five, 4, &flat), FXS_ETYPE);
    assert_string_equal(fxs_ctx_error(ctx), "forward takes 3 inputs, but 4 were given");
    fxs_ctx_clear(ctx);
    drop(&c);
    fxs_module_unref(m);
    /* A graph without trees takes and gives what it is given. */
    m = fixed(ctx, "x", plus_one, NULL);
    assert_ok(ctx, fxs_graph_flatten_inps(m->graph, four, 2, &flat));
    assert_ok(ctx, fxs_graph_unflatten_outs(m->graph, &flat, &out));
    fxs_value_unref(&flat);
    assert_value(ctx, &out, "[1, 2]");
    fxs_module_unref(m);
}

static void assert_runs(fxs_ctx *ctx, fxs_module *m) {
    call c = example(ctx);
    fxs_interpreter *it;
    fxs_value out;
    assert_ok(ctx, fxs_interpreter_new(m, NULL, &it));
    assert_ok(ctx, fxs_interpreter_run(it, c.args, 3, &out));
    assert_value(ctx, &out, "{'s': 4, 't': (4, [2])}");
    fxs_interpreter_free(it);
    drop(&c);
}

/* The interpreter takes and gives trees; copies and transforms keep them. */
static void test_run_of_trees(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = trees_of(ctx), *copy;
    fxs_graph *g;
    fxs_interpreter *it;
    assert_runs(ctx, m);
    assert_ok(ctx, fxs_transformer_new(m, NULL, &it));
    assert_ok(ctx, fxs_transformer_run(it, &copy));
    fxs_interpreter_free(it);
    assert_runs(ctx, copy);
    fxs_module_unref(copy);
    assert_ok(ctx, fxs_graph_deep_copy(m->graph, &g));
    fxs_module_unref(m);
    m = fxs_nn(ctx, "M");
    fxs_module_set_graph(m, g);
    assert_runs(ctx, m);
    assert_golden_code(m, "code_pytree", 2, 2);
}

/* The n-th allocation fails, for every n. */
static void test_out_of_memory(void **state) {
    (void)state;
    bool done = false;
    for (long n = 0; !done; n++) {
        fxs_ctx *ctx = fxs_ctx_new();
        fxs_module *m = trees_of(ctx);
        call c = example(ctx);
        fxs_graph *copy = NULL;
        fxs_interpreter *it = NULL;
        fxs_value out = fxs_none();
        char *text = NULL;
        fxs_alloc_fail_after(n);
        fxs_status s = fxs_graph_deep_copy(m->graph, &copy);
        s = s ? s : fxs_graph_python_code(copy, 0, &text, NULL);
        s = s ? s : fxs_interpreter_new(m, NULL, &it);
        s = s ? s : fxs_interpreter_run(it, c.args, 3, &out);
        fxs_alloc_fail_after(-1);
        assert_true(s == FXS_OK || s == FXS_ENOMEM);
        done = s == FXS_OK;
        fxs_free(text);
        fxs_value_unref(&out);
        fxs_interpreter_free(it);
        fxs_graph_free(copy);
        drop(&c);
        fxs_module_unref(m);
        fxs_ctx_free(ctx);
        assert_true(n < 20000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fixed_values, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_fixed_tensors, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_checks_run, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_trees_run, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_code_of_trees, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_code_that_compiles, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_python_file_of_trees, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_flatten_and_unflatten, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_run_of_trees, new_ctx, free_ctx),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
