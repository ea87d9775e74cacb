/* fx_trace.c: scripts tr_* whose output is more than graphs and their code; the others are compared
 * graph by graph in test_trace*.c. What they print is in tests/golden/trace. */
#include "fxcase.h"

/* ---- functions, modules and tracers
 * ------------------------------------------------------------------------------------------- */

LAMBDA(wrapped_times_4, fxs_mul(fxs_function(self, "__main__.h_fn", x[0]), 4))

/* h_fn itself, where the tracer goes through it. */
static fxs_proxy h_fn(fxs_proxy x) { return fxs_add(x, 1); }
LAMBDA(plain_times_4, fxs_mul(h_fn(x[0]), 4))

static void tr_autowrap(fxcase *c) {
    put_graph(c, fxs_module_graph(trace_c(c, "x", wrapped_times_4)));
    put_graph(c, fxs_module_graph(trace_c(c, "x", plain_times_4)));
}

/* A proxy knows the trace that it belongs to. */
static fxs_proxy note_tracing(fxs_proxy self, const fxs_proxy *x) {
    *(bool *)fxs_user(self) = x[0].tracer != NULL;
    return FXS_NONE;
}

static void tr_is_tracing(fxcase *c) {
    bool inside = false;
    fxs_module *m;
    OK(c, fxs_trace_function(c->ctx, "f", "x", note_tracing, &inside, NULL, &m));
    own(c, m);
    put(c, "[%s] %s\n", inside ? "True" : "False", fxs_i(1).tracer ? "True" : "False");
}

LAMBDA(asked_twice, (fxs_getattr(x[0], "foo"), fxs_getattr(x[0], "foo"), fxs_add(x[0], 1),
                     fxs_eq(x[0], 1), fxs_eq(x[0], 1), FXS_NONE))

static void tr_proxy_misc(fxcase *c) {
    python_lines(c, 8, "repr, hash and equality of Python's proxy; a parameter's repr");
    fxs_graph *g = fxs_module_graph(trace_c(c, "x", asked_twice));
    OK(c, fxs_graph_erase_node(g, node(g, "output"))); /* the script's graph has none */
    put_graph(c, g);
    python_lines(c, 1, "an attribute that is put into Python's proxy");
}

static fxs_proxy use_pair(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy pair = fxs_function(self, "gmod.Pair", x[1], x[1]);
    return fxs_method(fxs_method(x[0], "add", pair), "add", x[0]);
}

static void tr_proxyable(fxcase *c) {
    fxs_module *m = trace_c(c, "x: gmod.Pair, y: torch.Tensor", use_pair);
    char *code;
    put_graph(c, fxs_module_graph(m));
    OK(c, fxs_graph_python_code(fxs_module_graph(m), 0, &code, NULL));
    put(c, "%s\n", code + strspn(code, "\n"));
    fxs_free(code);
    instead(c, "torch.fx._symbolic_trace.wrap(\"gmod_Pair\")\n\ndef", "def",
            "a class without torch.fx's metaclass is recorded by wrapping");
    python_lines(c, 10, "a constant that is an object of a class of Python's");
}

LAMBDA(plain_plus_1, fxs_add(x[0], 1))

static void tr_traced_func_name(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M");
    fxs_nn_forward(m, "x", plain_plus_1, NULL); /* enc in the place of forward */
    put_graph(c, fxs_module_graph(trace_m(c, m)));
    python_lines(c, 1, "which method is traced is said by its pointer: it can't be missing");
}

static fxs_proxy outer_x;
static fxs_status inner_status;

LAMBDA(mixed, T("add", outer_x, x[0]))

static fxs_proxy with_another_trace(fxs_proxy self, const fxs_proxy *x) {
    fxcase *c = fxs_user(self);
    fxs_module *m;
    outer_x = x[0];
    inner_status = fxs_trace_function(c->ctx, "g", "b", mixed, NULL, NULL, &m);
    return x[0];
}

static void tr_tracers_mix(fxcase *c) {
    static const char ours[] = "Found multiple different tracers while trying to trace operations";
    fxs_module *m;
    fxs_trace_function(c->ctx, "f", "a", with_another_trace, c, NULL, &m);
    fxs_module_unref(m);
    assert_int_not_equal(inner_status, FXS_OK);
    assert_non_null(strstr(fxs_ctx_error(c->ctx), ours));
    fxs_ctx_clear(c->ctx);
    python_lines(c, 1, "the addresses of tracers");
    python_lines(c, 8, "a node of another graph is refused at once, and not only by lint");
}

/* ---- a table of functions, one line each
 * ----------------------------------------------------------------------------------------- */

typedef struct entry {
    const char *label;
    fxs_forward_fn *forward;
    const char *reason; /* why there is no forward */
} entry;

/* "label => NODE / NODE": the calls, and the output where it is asked for. */
static void put_entry(fxcase *c, const entry *e, fxs_tensor **tensors, bool with_output) {
    fxs_module *m;
    const char *between = "";
    OK(c, fxs_trace_function(c->ctx, "f", "x", e->forward, tensors, NULL, &m));
    put(c, "%s => ", e->label);
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(own(c, m))); n; n = fxs_node_next(n)) {
        char *text;
        if (fxs_node_kind(n) == FXS_PLACEHOLDER || (fxs_node_kind(n) == FXS_OUTPUT && !with_output))
            continue;
        OK(c, fxs_node_format(n, 0, &text));
        put(c, "%s%s", between, text);
        fxs_free(text);
        between = " / ";
    }
    put(c, "\n");
}

#define LEFT fxs_constant(((fxs_tensor **)fxs_user(self))[0])
#define LEFT_INT fxs_constant(((fxs_tensor **)fxs_user(self))[1])
#define OF_LEFT(op) LAMBDA(left_##op, fxs_##op(LEFT, x[0]))
#define OF_LEFT_INT(op) LAMBDA(left_##op, fxs_##op(LEFT_INT, x[0]))
OF_LEFT(add)
OF_LEFT(sub)
OF_LEFT(mul)
OF_LEFT(truediv)
OF_LEFT(floordiv)
OF_LEFT(mod)
OF_LEFT(pow)
OF_LEFT(matmul)
OF_LEFT(eq)
OF_LEFT(ne)
OF_LEFT(lt)
OF_LEFT(gt)
OF_LEFT(le)
OF_LEFT(ge)
OF_LEFT_INT(and)
OF_LEFT_INT(or)
OF_LEFT_INT(xor)
OF_LEFT_INT(lshift)
OF_LEFT_INT(rshift)
LAMBDA(left_index, fxs_index(LEFT, x[0]))
LAMBDA(left_m_add, fxs_method(LEFT, "add", x[0]))
LAMBDA(left_to, fxs_method(LEFT, "to", x[0]))
LAMBDA(left_masked_fill, fxs_method(LEFT, "masked_fill", x[0], 0))
LAMBDA(left_type_as, fxs_method(LEFT, "type_as", x[0]))
LAMBDA(left_torch_add, T("add", LEFT, x[0]))
LAMBDA(left_cat, T("cat", FXS_LIST(LEFT, x[0])))
LAMBDA(left_rsub, fxs_method(LEFT, "__rsub__", x[0]))
LAMBDA(right_add, fxs_add(x[0], LEFT))
LAMBDA(left_iadd, fxs_method(LEFT, "add_", x[0]))
LAMBDA(left_setitem, (fxs_method(LEFT, "__setitem__", 0, x[0]), FXS_NONE))

static const char refuses[] = "the tensor's own method refuses a proxy: methods are recorded here";

static const entry left[] = {
    {"+", left_add, NULL},
    {"-", left_sub, NULL},
    {"*", left_mul, NULL},
    {"/", left_truediv, NULL},
    {"//", left_floordiv, NULL},
    {"%", left_mod, NULL},
    {"**", left_pow, NULL},
    {"@", left_matmul, NULL},
    {"==", left_eq, NULL},
    {"!=", left_ne, NULL},
    {"<", left_lt, NULL},
    {">", left_gt, NULL},
    {"<=", left_le, NULL},
    {">=", left_ge, NULL},
    {"&", left_and, NULL},
    {"|", left_or, NULL},
    {"^", left_xor, NULL},
    {"<<", left_lshift, NULL},
    {">>", left_rshift, NULL},
    {"T[x]", left_index, NULL},
    {"T.add(x)", left_m_add, NULL},
    {"T.view(x)", NULL, refuses}, /* three lines */
    {"", NULL, refuses},
    {"", NULL, refuses},
    {"T[x:]", NULL, "a slice of a concrete tensor by a proxy is a TypeError of Python's"},
    {"T.expand(x,-1)", NULL, refuses},
    {"T.to(x)", left_to, NULL},
    {"T.masked_fill(x,0)", left_masked_fill, NULL},
    {"T.type_as(x)", left_type_as, NULL},
    {"torch.add(T,x)", left_torch_add, NULL},
    {"torch.cat([T,x])", left_cat, NULL},
    {"T.__rsub__", left_rsub, NULL},
    {"x+T", right_add, NULL},
    {"T+=x", left_iadd, NULL},
    {"T[0]=x", left_setitem, NULL},
};

LAMBDA(zeros_like, T("zeros_like", x[0]))
LAMBDA(rand_const, fxs_add(x[0], T("rand", 2)))
LAMBDA(new_zeros, fxs_method(x[0], "new_zeros", 2))
LAMBDA(new_zeros_like, fxs_method(x[0], "new_zeros", fxs_method(x[0], "size")))
LAMBDA(randn_like, T("randn_like", x[0]))
static fxs_proxy ones_to_device(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy one = T("ones", 1), y = fxs_method(one, "to", fxs_getattr(x[0], "device"));
    return y;
}
LAMBDA(as_parameter, fxs_method(fxs_method(x[0], "detach"), "requires_grad_", fxs_b(true)))
LAMBDA(view_size, fxs_method(x[0], "view", FXS_INTS(1, 2)))
LAMBDA(detach, fxs_method(x[0], "detach"))
LAMBDA(transposed, fxs_getattr(x[0], "T"))
LAMBDA(numel, T("numel", x[0]))
LAMBDA(is_floating_point, T("is_floating_point", x[0]))
LAMBDA(isnan_, T("isnan", x[0]))
LAMBDA(over_sqrt_size,
       fxs_truediv(x[0], fxs_function(self, "math.sqrt", fxs_method(x[0], "size", -1))))
LAMBDA(itself, x[0])
LAMBDA(broadcast_tensors, T("broadcast_tensors", x[0], x[0]))
LAMBDA(is_cpu, fxs_eq(fxs_getattr(x[0], "device"), fxs_device("cpu")))
LAMBDA(max_of, fxs_index(T("max", x[0], FXS_KW("dim", 1)), 0))
LAMBDA(addmm, T("addmm", x[0], x[0], x[0]))
LAMBDA(sum_of_stack, T("sum", T("stack", FXS_LIST(x[0], x[0]))))
LAMBDA(vstack, T("vstack", FXS_TUPLE(x[0], x[0])))
LAMBDA(repeat, fxs_method(x[0], "repeat", 1, 2))
LAMBDA(by_tensor, fxs_index(x[0], LEFT_INT))
LAMBDA(by_bool, fxs_index(x[0], fxs_gt(x[0], 0)))
LAMBDA(by_list, fxs_index(x[0], FXS_LIST(0, 1)))
LAMBDA(over_constant, fxs_truediv(x[0], T("sqrt", LEFT)))
LAMBDA(is_tensor, fxs_b(x[0].u.value.tag == FXS_V_TENSOR))

static const char python_calls[] = "a TypeError of a factory that Python runs on a proxy";

static const entry factories[] = {
    {"zeros_like", zeros_like, NULL},
    {"ones(x.size(0))", NULL, python_calls},
    {"ones(x.shape)", NULL, python_calls},
    {"ones(*x.shape)", NULL, "*x of Python's"},
    {"arange(n)", NULL, python_calls},
    {"full", NULL, python_calls},
    {"tensor(x)", NULL, python_calls},
    {"as_tensor", NULL, python_calls},
    {"rand_const", rand_const, NULL},
    {"x.new_zeros", new_zeros, NULL},
    {"x.new_zeros(x.size())", new_zeros_like, NULL},
    {"linspace", NULL, python_calls},
    {"eye", NULL, python_calls},
    {"randn_like", randn_like, NULL},
    {"to(device)", ones_to_device, NULL},
    {"ones(2,dtype=x.dtype)", NULL, python_calls},
    {"nn.Parameter(x)", as_parameter, NULL},
    {"no_grad", plain_plus_1, NULL},
    {"torch.Size", NULL, python_calls},
    {"view(torch.Size)", view_size, NULL},
    {"detach", detach, NULL},
    {"x.T", transposed, NULL},
    {"is_tensor", is_tensor, NULL},
    {"numel", numel, NULL},
    {"is_floating_point", is_floating_point, NULL},
    {"isnan", isnan_, NULL},
    {"torch.sqrt(torch.tensor(2.))", over_constant, NULL},
    {"math.sqrt(x.size(-1))", over_sqrt_size, NULL},
    {"jit.annotate", itself, NULL},
    {"torch.device", NULL, python_calls},
    {"broadcast_tensors", broadcast_tensors, NULL},
    {"x.device==", is_cpu, NULL},
    {"max3", max_of, NULL},
    {"addmm", addmm, NULL},
    {"torch.sum([x,x])", sum_of_stack, NULL},
    {"checkpoint", plain_plus_1, NULL},
    {"torch.vstack", vstack, NULL},
    {"repeat", repeat, NULL},
    {"index", by_tensor, NULL},
    {"bool idx", by_bool, NULL},
    {"list idx", by_list, NULL},
};

static void put_entries(fxcase *c, size_t n, const entry *e, bool with_output) {
    fxs_tensor *t[2];
    OK(c, fxs_tensor_new(c->ctx, FXS_FLOAT32, SIZES(2), &t[0]));
    OK(c, fxs_tensor_new(c->ctx, FXS_INT64, SIZES(2), &t[1]));
    for (size_t i = 0; i < n; i++) {
        if (e[i].forward)
            put_entry(c, &e[i], t, with_output);
        else
            python_lines(c, 1, e[i].reason);
    }
    fxs_tensor_unref(t[0]);
    fxs_tensor_unref(t[1]);
}

static void tr_const_tensor_left(fxcase *c) {
    put_entries(c, sizeof left / sizeof *left, left, false);
}

static void tr_factories(fxcase *c) {
    put_entries(c, sizeof factories / sizeof *factories, factories, true);
    instead(c,
            "to(device) => %getattr_1 : [#users=1] = call_function[target=builtins.getattr](args = "
            "(%x, device), kwargs = {}) / %_tensor_constant0 : [#users=1] = "
            "get_attr[target=_tensor_constant0]",
            "to(device) => %_tensor_constant0 : [#users=1] = get_attr[target=_tensor_constant0] / "
            "%getattr_1 : [#users=1] = call_function[target=builtins.getattr](args = (%x, device), "
            "kwargs = {})",
            "fxs_getattr makes its node at once, Python's attribute when it is used");
    python_lines(c, 1, "the library never prints");
}

/* ---- signatures, wrapping, tracing again
 * ------------------------------------------------------------------------------------------- */

/* print(gm.graph); print(gm.code.strip('\\n')) */
static void show(fxcase *c, const fxs_module *m) {
    char *code;
    put_graph(c, fxs_module_graph(m));
    OK(c, fxs_graph_python_code(fxs_module_graph(m), 0, &code, NULL));
    put(c, "%s\n", code + strspn(code, "\n"));
    fxs_free(code);
}

static fxs_proxy with_stars(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_add(x[0], fxs_index(x[1], 0));
    (void)self;
    y = fxs_add(y, x[2]);
    return fxs_add(y, fxs_index(x[3], "z"));
}

LAMBDA(ones_1, T("ones", 1))
LAMBDA(x_plus_y, fxs_add(x[0], x[1]))

static void tr_args(fxcase *c) {
    show(c, trace_c(c, "x, *a, k=1, **kw", with_stars));
    show(c, trace_c(c,
                    "x: torch.Tensor, y: typing.Optional[int]=None, *a: int, k: float=1.0, **kw: "
                    "str",
                    itself));
    show(c, trace_c(c, "", ones_1));
    show(c, trace_c(c, "x, y", x_plus_y));
    python_lines(c, 1, "a default that is a tensor, which Python's code has no name for");
}

static void tr_annot_return(fxcase *c) {
    show(c, trace_c(c, "x -> typing.Tuple[int, str]", itself));
}

static fxs_proxy seq_and_w(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_index(fxs_call(self, "seq", x[0]), 0);
    return fxs_add(y, fxs_attr(self, "w"));
}

static void tr_retrace(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M"), *seq = fxs_nn_add(m, "seq", "Sequential()");
    fxs_nn_add(seq, NULL, "Linear(2, 2)");
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_parameter(m, "w", "float32[2]");
    fxs_nn_forward(m, "x, y=None", seq_and_w, NULL);
    fxs_module *first = trace_m(c, m), *second = trace_m(c, fxs_module_ref(first));
    show(c, first);
    show(c, second);
    put_module(c, first);
    c->out.len--; /* print(first, '\\n', second) */
    put(c, " \n ");
    put_module(c, second);
}

static fxs_proxy use_leaves(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy sum = fxs_function(self, "gmod.leaf", x[0], FXS_KW("y", 2));
    sum = fxs_add(sum, fxs_function(self, "builtins.len", x[0]));
    sum = fxs_add(sum, fxs_function(self, "math.sqrt", x[0]));
    sum = fxs_add(sum, fxs_function(self, "gmod.deco_leaf", x[0]));
    sum = fxs_add(sum, 3); /* gmod.leaf(3), which is called at once */
    return fxs_add(sum, 2);
}

static void tr_wrap(fxcase *c) {
    fxs_module *m = trace_c(c, "x", use_leaves);
    show(c, m);
    python_lines(c, 1, "where in a Python file torch.fx.wrap is called");
    put_graph(c, fxs_module_graph(m));
    python_lines(c, 1, "a function is named by its text here: it can't be a number");
    show(c, trace_m(c, fxs_module_ref(m)));
}

/* ---- what a trace is asked for
 * ------------------------------------------------------------------------------------------- */

static void put_trace(fxcase *c, fxs_module *root, const fxs_trace_options *opt) {
    fxs_module *m;
    OK(c, fxs_trace(c->ctx, root, opt, &m));
    put_graph(c, fxs_module_graph(own(c, m)));
}

/* A trace that must fail because of control flow: the message behind the place. */
static void control_flow(fxcase *c, fxs_module *root) {
    fxs_module *m;
    assert_int_not_equal(fxs_trace(c->ctx, root, NULL, &m), FXS_OK);
    const char *text = strstr(fxs_ctx_error(c->ctx), "symbolically traced variables");
    assert_non_null(text);
    put(c, "TraceError: %s\n", text);
    fxs_ctx_clear(c->ctx);
}

static fxs_module *module_of(fxcase *c, fxs_forward_fn *f) {
    fxs_module *m = own(c, fxs_nn(c->ctx, "M"));
    OK(c, fxs_nn_forward(m, "x", f, NULL));
    return m;
}

static fxs_proxy assert_sum(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_assert(fxs_gt(fxs_method(x[0], "sum"), 0));
    return x[0];
}

static fxs_proxy assert_sum_and_dim(fxs_proxy self, const fxs_proxy *x) {
    assert_sum(self, x);
    fxs_assert(fxs_eq(fxs_method(x[0], "dim"), 2));
    fxs_assert(fxs_b(x[0].kind != FXS_P_ABSENT));
    return x[0];
}

static void tr_assert_trace(fxcase *c) {
    const fxs_trace_options opt = {.trace_asserts = true};
    put_trace(c, module_of(c, assert_sum), &opt);
    fxs_module *m = module_of(c, assert_sum_and_dim);
    put_trace(c, m, &opt);
    control_flow(c, m);
}

static fxs_proxy buffer_twice(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy sum = fxs_method(fxs_attr(self, "b"), "sum");
    sum = fxs_add(sum, fxs_attr(self, "b"));
    return fxs_add(sum, x[0]);
}

static void tr_proxy_buffer(fxcase *c) {
    fxs_module *m = module_of(c, buffer_twice);
    OK(c, fxs_nn_buffer(m, "b", "float32[2]"));
    put_trace(c, m, &(fxs_trace_options){.proxy_buffers = true});
    put_trace(c, m, NULL);
}

static fxs_proxy by_shape(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy w = fxs_attr(self, "w");
    if (fxs_truth(fxs_lt(fxs_index(fxs_getattr(w, "shape"), 0), 10)) &&
        fxs_truth(fxs_eq(fxs_method(w, "dim"), 2)) && fxs_truth(fxs_eq(fxs_method(w, "numel"), 6)))
        return fxs_add(x[0], w);
    return x[0];
}

static void tr_param_shape_const(fxcase *c) {
    fxs_module *m = module_of(c, by_shape);
    OK(c, fxs_nn_parameter(m, "w", "float32[2, 3]"));
    control_flow(c, m);
    put_trace(c, m, &(fxs_trace_options){.param_shapes_constant = true});
}

const fxcase_row fx_trace_rows[] = {
    {"tr_assert_trace", tr_assert_trace, NULL},
    {"tr_proxy_buffer", tr_proxy_buffer, NULL},
    {"tr_param_shape_const", tr_param_shape_const, NULL},
    {"tr_args", tr_args, NULL},
    {"tr_annot_return", tr_annot_return, NULL},
    {"tr_retrace", tr_retrace, NULL},
    {"tr_wrap", tr_wrap, NULL},
    {"tr_autowrap", tr_autowrap, NULL},
    {"tr_is_tracing", tr_is_tracing, NULL},
    {"tr_proxy_misc", tr_proxy_misc, NULL},
    {"tr_proxyable", tr_proxyable, NULL},
    {"tr_traced_func_name", tr_traced_func_name, NULL},
    {"tr_tracers_mix", tr_tracers_mix, NULL},
    {"tr_const_tensor_left", tr_const_tensor_left, NULL},
    {"tr_factories", tr_factories, NULL},
    {0},
};
