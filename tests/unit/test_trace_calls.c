/* test_trace_calls.c: functions, methods, operators and constants inside a traced forward, as
 * torch.fx records them. */
#include "tracing.h"

#define RETURN(...) return fxs_sequence_of(FXS_V_TUPLE, FXS_ALL_OF(__VA_ARGS__))

static fxs_proxy ops(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0], y = in[1], out[30];
    size_t n = 0;
    (void)self;
    out[n++] = fxs_add(x, y);
    out[n++] = fxs_sub(x, 1);
    out[n++] = fxs_sub(1, x);
    out[n++] = fxs_mul(2, x);
    out[n++] = fxs_truediv(x, y);
    out[n++] = fxs_truediv(1, x);
    out[n++] = fxs_floordiv(x, 2);
    out[n++] = fxs_mod(x, 2);
    out[n++] = fxs_pow(2, x);
    out[n++] = fxs_pow(x, 2);
    out[n++] = fxs_matmul(x, y);
    out[n++] = fxs_neg(x);
    out[n++] = fxs_pos(x);
    out[n++] = fxs_invert(x);
    out[n++] = fxs_lt(x, y);
    out[n++] = fxs_gt(x, 1);
    out[n++] = fxs_eq(x, y);
    out[n++] = fxs_ne(x, 1);
    out[n++] = fxs_ge(x, y);
    out[n++] = fxs_and(x, y);
    out[n++] = fxs_or(x, 1);
    out[n++] = fxs_or(1, x);
    out[n++] = fxs_xor(x, y);
    out[n++] = fxs_lshift(x, 1);
    out[n++] = fxs_rshift(2, x);
    out[n++] = fxs_index(x, 0);
    out[n++] = fxs_index(x, FXS_SLICE(1, FXS_NONE, FXS_NONE), FXS_NONE);
    out[n++] = fxs_index(x, y);
    out[n++] = fxs_index(y, FXS_ELLIPSIS, 0);
    return fxs_sequence_of(FXS_V_TUPLE, n, out);
}

static fxs_proxy methods(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0];
    (void)self;
    fxs_proxy size = fxs_m_size(x, fxs_i(0));
    fxs_proxy a = fxs_method(x, "view", size, -1);
    fxs_proxy b = fxs_getattr(a, "T");
    fxs_proxy c = fxs_index(fxs_getattr(b, "shape"), 0);
    fxs_proxy d = fxs_m_dim(x);
    fxs_proxy e =
        fxs_method(fxs_m_contiguous(fxs_method(x, "permute", 0, 1)), "to", fxs_d(FXS_FLOAT32));
    fxs_proxy g = fxs_method(x, "fill_", 0);
    fxs_proxy k = fxs_m_mm(fxs_m_t(x), x);
    fxs_proxy m = fxs_method(fxs_getattr(fxs_getattr(x, "foo"), "bar"), "baz", 1);
    fxs_proxy q = fxs_m_size(x);
    fxs_proxy r = fxs_method(x, "to", "cpu", FXS_KW("non_blocking", fxs_b(true)));
    fxs_proxy h = fxs_getattr(x, "is_cuda");
    fxs_proxy i = fxs_getattr(x, "grad");
    fxs_proxy o = fxs_getattr(fxs_getattr(x, "foo"), "bar");
    RETURN(a, b, c, d, e, g, h, i, k, m, o, q, r);
}

static fxs_proxy unpack(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0], ab[2], max[2], cd[2], hw[2];
    (void)self;
    fxs_unpack(x, 2, ab);
    fxs_unpack(fxs_max(x, fxs_i(1)), 2, max);
    fxs_unpack(max[0], 2, cd);
    fxs_unpack(fxs_index(fxs_getattr(x, "shape"), FXS_SLICE(-2, FXS_NONE, FXS_NONE)), 2, hw);
    fxs_proxy sum = fxs_add(ab[0], ab[1]);
    sum = fxs_add(sum, cd[0]);
    sum = fxs_add(sum, cd[1]);
    sum = fxs_add(sum, max[1]);
    RETURN(sum, hw[0], hw[1], x);
}

static fxs_proxy torch_functions(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0], y = in[1];
    fxs_proxy a = fxs_cat(FXS_LIST(x, y), .dim = fxs_i(1));
    fxs_proxy b = fxs_stack(FXS_TUPLE(x, y));
    fxs_proxy c = fxs_torch_add(x, y, .alpha = fxs_i(2));
    fxs_proxy d = fxs_sum(x, .dim = fxs_i(-1));
    fxs_proxy e = fxs_topk(d, fxs_i(3));
    fxs_proxy g = fxs_max(x, fxs_i(1));
    fxs_proxy h = fxs_function(self, "torch.einsum", "ij,jk->ik", x, y);
    fxs_proxy i = fxs_split(x, fxs_i(2));
    fxs_proxy j = fxs_chunk(x, fxs_i(2));
    fxs_proxy k = fxs_where(fxs_gt(x, 0), x, y);
    fxs_proxy l = fxs_torch_matmul(x, y);
    fxs_proxy m = fxs_relu(x, .inplace = fxs_b(true));
    fxs_proxy n = fxs_function(self, "F.relu", x);
    fxs_proxy o = fxs_dropout(x, .p = fxs_f(0.3), .training = fxs_b(true));
    fxs_proxy p = fxs_function(self, "torch.zeros_like", x);
    fxs_proxy q = fxs_norm(x);
    fxs_proxy r =
        fxs_function(self, "torch.functional.meshgrid", x, y, FXS_KW("indexing", FXS_NONE));
    fxs_tensor *t;
    assert_int_equal(fxs_tensor_new(fxs_module_of(self)->ctx, FXS_INT64, 1, (int64_t[]){3}, &t),
                     FXS_OK);
    fxs_proxy s = fxs_add(fxs_constant(t), x);
    fxs_proxy u = fxs_flatten(x, fxs_i(1));
    fxs_tensor_unref(t);
    fxs_proxy e0 = fxs_index(e, 0);
    fxs_proxy g1 = fxs_index(g, 1);
    fxs_proxy i0 = fxs_index(i, 0);
    RETURN(e0, g1, i0, j, k, l, m, n, o, p, q, r, s, u, a, b, c, h);
}

static fxs_proxy inplace(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_add(in[0], in[1]);
    x = fxs_sub(x, 1);
    x = fxs_mul(x, in[1]);
    x = fxs_truediv(x, 2);
    fxs_proxy z = fxs_m_clone(x);
    fxs_method(z, "add_", in[1]);
    fxs_function(self, "torch.relu_", z);
    RETURN(x, z);
}

/* Python's math is computed where nothing is a proxy. */
static fxs_proxy math_functions(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy a = fxs_math_sqrt(in[0]);
    fxs_proxy b = fxs_math_floor(fxs_m_sum(in[0]));
    fxs_proxy sum = fxs_add(a, b);
    fxs_proxy c = fxs_math_pow(fxs_i(2), in[0]);
    sum = fxs_add(sum, c);
    sum = fxs_add(sum, fxs_function(self, "math.sqrt", 4));
    return fxs_add(sum, 3.141592653589793);
}

static fxs_proxy wrapped(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0];
    fxs_proxy a = fxs_function(self, "gmod.leaf", x, FXS_KW("y", 2));
    fxs_proxy b = fxs_builtin_len(x);
    fxs_proxy sum = fxs_add(a, b);
    fxs_proxy c = fxs_math_sqrt(x);
    sum = fxs_add(sum, c);
    fxs_proxy d = fxs_function(self, "gmod.deco_leaf", x);
    sum = fxs_add(sum, d);
    sum = fxs_add(sum, 3);
    return fxs_add(sum, fxs_len(FXS_LIST(1, 2)));
}

static fxs_proxy functionals(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = in[0], w = in[1], b = in[2], out[40];
    size_t n = 0;
    out[n++] = fxs_conv2d(x, w, b, .stride = fxs_i(2));
    out[n++] = fxs_linear(x, w);
    out[n++] = fxs_batch_norm(x, w, b);
    out[n++] = fxs_max_pool2d(x, fxs_i(2));
    out[n++] = fxs_avg_pool2d(x, fxs_i(2));
    out[n++] = fxs_adaptive_avg_pool2d(x, FXS_INTS(1, 1));
    out[n++] = fxs_softmax(x, .dim = fxs_i(1));
    out[n++] = fxs_log_softmax(x, fxs_i(1));
    out[n++] = fxs_gelu(x);
    out[n++] = fxs_silu(x);
    out[n++] = fxs_function(self, "F.pad", x, FXS_INTS(1, 1));
    out[n++] = fxs_layer_norm(x, FXS_LIST(2));
    out[n++] = fxs_embedding(x, w);
    out[n++] = fxs_function(self, "F.cross_entropy", x, w);
    out[n++] = fxs_hardswish(x);
    out[n++] = fxs_interpolate(x, .scale_factor = fxs_i(2));
    out[n++] = fxs_leaky_relu(x);
    out[n++] = fxs_one_hot(x);
    out[n++] = fxs_unfold(x, fxs_i(2));
    out[n++] = fxs_function(self, "F.sigmoid", x);
    out[n++] = fxs_function(self, "F.tanh", x);
    out[n++] = fxs_softplus(x);
    out[n++] = fxs_elu(x);
    out[n++] = fxs_relu6(x);
    out[n++] = fxs_hardtanh(x);
    out[n++] = fxs_normalize(x);
    out[n++] = fxs_function(self, "F.mse_loss", x, w);
    out[n++] = fxs_max_pool2d(x, fxs_i(2), .return_indices = fxs_b(true));
    out[n++] = fxs_function(self, "F.grid_sample", x, w);
    out[n++] = fxs_conv_transpose2d(x, w);
    out[n++] = fxs_prelu(x, w);
    out[n++] = fxs_glu(x);
    out[n++] = fxs_pixel_shuffle(x, fxs_i(2));
    out[n++] = fxs_group_norm(x, fxs_i(2));
    out[n++] = fxs_instance_norm(x);
    out[n++] = fxs_lp_pool2d(x, fxs_i(2), fxs_i(2));
    out[n++] = fxs_function(self, "F.cosine_similarity", x, w);
    return fxs_sequence_of(FXS_V_TUPLE, n, out);
}

static fxs_proxy annotated(fxs_proxy self, const fxs_proxy *in) {
    (void)self;
    return fxs_annotate(fxs_add(in[0], 1), "torch.Tensor");
}

static void test_calls(void **state) {
    fxs_ctx *ctx = *state;
    assert_golden(trace_fn(ctx, "x, y", ops), "tr_ops", 0);
    assert_golden(trace_fn(ctx, "x", methods), "tr_methods", 0);
    assert_golden(trace_fn(ctx, "x", unpack), "tr_unpack", 0);
    assert_golden(trace_fn(ctx, "x, y", torch_functions), "tr_torch_fns", 0);
    assert_golden(trace_fn(ctx, "x, y", inplace), "tr_inplace", 0);
    assert_golden(trace_fn(ctx, "x", math_functions), "tr_math", 0);
    assert_golden(trace_fn(ctx, "x", wrapped), "tr_wrap", 0);
    fxs_module *m = trace_fn(ctx, "x", annotated);
    assert_text(
        m->graph,
        "graph():\n"
        "    %x : [#users=1] = placeholder[target=x]\n"
        "    %add : torch.Tensor [#users=1] = call_function[target=operator.add](args = (%x, 1), "
        "kwargs = {})\n"
        "    return add\n");
    fxs_module_unref(m);
}

/* Is the function of this line in the library? What is not is recorded as it was called. */
static bool is_known(fxs_ctx *ctx, const char *line) {
    const char *target = strstr(line, "[target="), *end = target ? strchr(target, ']') : NULL;
    const fxs_candidate *c = NULL;
    char spelling[200];
    if (!end)
        return false;
    snprintf(spelling, sizeof spelling, "%.*s", (int)(end - target - 8), target + 8);
    assert_ok(ctx, fxs_registry_find(ctx, spelling, &c));
    return c != NULL;
}

static void test_functionals(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = trace_fn(ctx, "x, w, b", functionals);
    char *want = golden_graph("tr_functional_modules", 0), *save = NULL,
         *line = strtok_r(want, "\n", &save);
    int compared = 0;
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        char *text;
        line = strtok_r(NULL, "\n", &save);
        assert_non_null(line);
        if (n->kind == FXS_CALL_FUNCTION && !is_known(ctx, line))
            continue;
        assert_ok(ctx, fxs_node_format(n, 0, &text));
        assert_string_equal(text, line + 4);
        fxs_free(text);
        compared++;
    }
    assert_true(compared >= 36);
    fxs_free(want);
    fxs_module_unref(m);
}

/* ---- every functional, as measured: functional_table.txt
 * ------------------------------------------------------------
 */

typedef struct functional {
    const char *name;
    size_t n;
} functional;

static fxs_proxy call_functional(fxs_proxy self, const fxs_proxy *x) {
    const functional *f = fxs_user(self);
    char name[200];
    fxs_proxy p[FXS_MAX_ARGS + 2] = {self};
    snprintf(name, sizeof name, "F.%s", f->name);
    p[1] = fxs_s(name);
    for (size_t i = 0; i < f->n; i++)
        p[2 + i] = x[i];
    fxs_record_function(FXS_HERE, f->n + 2, p);
    return FXS_NONE;
}

/* The required parameters of "['input', 'stride=1']" as a signature "p_input". */
static size_t required_signature(const char *list, fxs_buf *out) {
    size_t n = 0;
    for (const char *s = list + strcspn(list, "'\""); *s; s += strcspn(s, "'\"")) {
        const char quote[] = {*s++, '\0'};
        size_t len = strcspn(s, quote);
        if (!memchr(s, '=', len))
            fxs_buf_printf(out, n++ ? ", p_%.*s" : "p_%.*s", (int)len, s);
        s += len + 1;
    }
    fxs_buf_add(out, "", 0);
    return n;
}

static bool check_functional(fxs_ctx *ctx, const char *name, const char *params, const char *want) {
    fxs_buf signature = {0};
    functional f = {.name = name, .n = required_signature(params, &signature)};
    char *text;
    fxs_module *m;
    if (!is_known(ctx, want) || strstr(want, "kwargs = {})")) {
        fxs_buf_free(&signature);
        return false;
    }
    assert_ok(ctx, fxs_trace_function(ctx, "f", signature.data, call_functional, &f, NULL, &m));
    fxs_node *n = fxs_node_prev(m->graph->root.prev);
    assert_ok(ctx, fxs_node_format(n, 0, &text));
    assert_string_equal(text, want);
    fxs_free(text);
    fxs_buf_free(&signature);
    fxs_module_unref(m);
    return true;
}

static void test_functional_table(void **state) {
    char *table = read_test_file("golden/trace/functional_table.txt", NULL), *save = NULL;
    char name[100] = "", params[2000] = "";
    int checked = 0;
    for (char *line = strtok_r(table, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (sscanf(line, "## %99s %1999[^\n]", name, params) >= 1 && line[0] == '#')
            continue;
        if (strncmp(line, "    req : %", 11) == 0)
            checked += check_functional(*state, name, params, line + 10);
    }
    fxs_free(table);
    assert_true(checked >= 40);
}

/* ---- tensors
 * ----------------------------------------------------------------------------------------------------------------
 */

static fxs_tensor *two(fxs_proxy self) {
    fxs_tensor *t;
    assert_int_equal(fxs_tensor_new(fxs_module_of(self)->ctx, FXS_FLOAT32, 1, (int64_t[]){2}, &t),
                     FXS_OK);
    return t;
}

static const char *const left[] = {"add",    "sub", "mul", "truediv", "floordiv", "mod", "pow",
                                   "matmul", "eq",  "ne",  "lt",      "gt",       "le",  "ge",
                                   "and_",   "or_", "xor", "lshift",  "rshift"};
static const char *const left_signs[] = {"+", "-", "*",  "/",  "//", "%", "**", "@",  "==", "!=",
                                         "<", ">", "<=", ">=", "&",  "|", "^",  "<<", ">>"};

static fxs_proxy constant_left(fxs_proxy self, const fxs_proxy *x) {
    fxs_tensor *t = two(self);
    size_t *i = fxs_user(self);
    fxs_proxy p[] = {fxs_constant(t), x[0]};
    fxs_proxy out = fxs_record_operator(FXS_HERE, left[*i], 2, p);
    fxs_tensor_unref(t);
    return out;
}

static void test_constant_on_the_left(void **state) {
    char *table = read_test_file("golden/trace/tr_const_tensor_left.txt", NULL);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char want[400], *a, *b;
        fxs_module *m;
        assert_ok(*state, fxs_trace_function(*state, "f", "x", constant_left, &i, NULL, &m));
        fxs_node *attr = fxs_node_next(fxs_graph_first(m->graph));
        assert_ok(*state, fxs_node_format(attr, 0, &a));
        assert_ok(*state, fxs_node_format(fxs_node_next(attr), 0, &b));
        snprintf(want, sizeof want, "%s => %s / %s\n", left_signs[i], a, b);
        if (!strstr(table, want))
            fprintf(stderr, "%s", want);
        assert_non_null(strstr(table, want));
        fxs_free(a);
        fxs_free(b);
        fxs_module_unref(m);
    }
    fxs_free(table);
}

static fxs_proxy one_constant(fxs_proxy self, const fxs_proxy *x) {
    fxs_tensor *t = two(self);
    fxs_proxy out = fxs_add(x[0], fxs_constant(t));
    fxs_tensor_unref(t);
    return out;
}

static fxs_proxy parameter_operators(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy w = fxs_attr(self, "w");
    fxs_proxy b = fxs_attr(self, "b");
    fxs_proxy out[8];
    out[0] = fxs_add(w, x[0]);
    out[1] = fxs_add(b, x[0]);
    out[2] = fxs_method(b, "view", -1);
    out[3] = fxs_method(w, "view", -1);
    out[4] = fxs_mul(b, w);
    out[5] = fxs_mul(w, b);
    out[6] = fxs_mul(3, x[0]);
    out[7] = fxs_add(b, 1);
    return fxs_sequence_of(FXS_V_TUPLE, 8, out);
}

static fxs_proxy buffer_sum(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy b = fxs_attr(self, "b");
    fxs_proxy sum = fxs_m_sum(b);
    return fxs_add(fxs_add(sum, b), x[0]);
}

static void test_tensors(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = trace_fn(ctx, "x", one_constant);
    assert_int_equal(m->nattributes, 1);
    assert_golden(m, "tr_fn_consts", 0);
    for (int proxied = 1; proxied >= 0; proxied--) {
        fxs_module *root = fxs_nn(ctx, "M");
        fxs_nn_buffer(root, "b", "float32[2]");
        fxs_nn_forward(root, "x", buffer_sum, NULL);
        assert_golden(trace_module(ctx, root, &(fxs_trace_options){.proxy_buffers = proxied}),
                      "tr_proxy_buffer", 1 - proxied);
    }
    fxs_module *root = fxs_nn(ctx, "M");
    fxs_nn_parameter(root, "w", "float32[2]");
    fxs_nn_buffer(root, "b", "float32[2]");
    fxs_nn_forward(root, "x", parameter_operators, NULL);
    assert_golden(trace_module(ctx, root, NULL), "tr_param_ops", 0);
}

/* ---- print_readable
 * --------------------------------------------------------------------------------------- */

static fxs_proxy relu_and_length(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_method(x[0], "relu");
    return fxs_add(y, fxs_function(self, "builtins.len", x[0]));
}

static fxs_proxy with_graphs(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "lin", fxs_call(self, "a", x[0]));
    return fxs_add(y, fxs_call(self, "b", x[0]));
}

static bool graphs_are_leaves(void *user, const fxs_module *m, const char *path, bool usual) {
    (void)user;
    (void)path;
    return usual || m->graph;
}

/* A module with two GraphModules in it, which are called. */
static fxs_module *nested_graphs(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "Outer"), *inner = fxs_nn(ctx, "Inner");
    fxs_module *seq = fxs_nn(ctx, "Sequential()");
    fxs_nn_forward(inner, "x", relu_and_length, NULL);
    fxs_nn_add(seq, NULL, "ReLU()");
    fxs_nn_put(m, "a", trace_module(ctx, inner, NULL));
    fxs_nn_add(m, "lin", "Linear(2, 2)");
    fxs_nn_put(m, "b", trace_module(ctx, seq, NULL));
    fxs_nn_forward(m, "x, y=3", with_graphs, NULL);
    return trace_module(ctx, m, &(fxs_trace_options){.is_leaf_module = graphs_are_leaves});
}

static void test_readable(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = nested_graphs(ctx), *plain = fxs_nn(ctx, "M");
    char *want = read_test_file("golden/trace/readable.txt", NULL), *text;
    assert_ok(ctx, fxs_module_print_readable(m, 0, &text, NULL));
    want[strlen(want) - 1] = '\0'; /* of Python's print */
    assert_string_equal(text, want);
    fxs_free(text);
    fxs_free(want);
    fxs_inputs *in;
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "3x2"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    assert_ok(ctx, fxs_module_print_readable(m, FXS_CODE_SHAPES, &text, NULL));
    assert_non_null(strstr(text, "        lin = self.lin(a);  a = None  # float32[3, 2]\n"));
    fxs_free(text);
    fxs_inputs_free(in);
    fxs_module_unref(m);
    assert_int_equal(fxs_module_print_readable(plain, 0, &text, NULL), FXS_EINVAL);
    assert_null(text);
    fxs_ctx_clear(ctx);
    fxs_module_unref(plain);
}

/* ---- calls that lack an argument */

static fxs_proxy without_weight(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_conv2d(x[0], .stride = FXS_INTS(2, 2));
}

static fxs_proxy without_input(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, "F.relu", FXS_KW("inplace", x[0]));
}

static const char *called; /* by lacking */

static fxs_proxy lacking(fxs_proxy self, const fxs_proxy *x) {
    return fxs_function(self, called, x[0]);
}

/* Whether some row of that spelling takes one argument. */
static bool takes_one(fxs_ctx *ctx, const char *spelling) {
    const fxs_candidate *c;
    bool takes = false;
    assert_ok(ctx, fxs_registry_find(ctx, spelling, &c));
    for (; c; c = c->next) {
        const fxs_schema *s;
        bool needs_more = false;
        assert_ok(ctx, fxs_registry_schema(ctx, c->op, &s));
        for (int i = 0; i < s->nparams; i++) /* the one given goes to the first */
            needs_more |= !s->params[i].has_default && (i > 0 || s->params[i].keyword_only);
        takes |= !needs_more;
    }
    return takes;
}

static size_t call_with_one(fxs_ctx *ctx, const char *spelling) {
    fxs_module *m;
    called = spelling;
    bool fine = fxs_trace_function(ctx, "f", "x", lacking, NULL, NULL, &m) == FXS_OK;
    const char *error = fxs_ctx_error(ctx);
    if (fine != takes_one(ctx, spelling))
        fail_msg("%s: %s", spelling, fine ? "is recorded" : error);
    if (!fine) {
        assert_non_null(strstr(error, "test_trace_calls.c:"));
        assert_non_null(strstr(error, "() missing a required argument: '"));
        assert_non_null(strstr(error, strrchr(spelling, '.') + 1));
    }
    fxs_ctx_clear(ctx);
    fxs_module_unref(m);
    return !fine;
}

/* Of every function of every row. */
static void test_missing_arguments(void **state) {
    fxs_ctx *ctx = *state;
    size_t refused = 0;
    for (const fxs_family *f = fxs_families; f->name; f++)
        for (const fxs_op *op = f->ops; op && op->name; op++)
            for (const char *s = op->torch ? op->torch : ""; *s;) {
                size_t n = strcspn(s, " ");
                char spelling[200];
                snprintf(spelling, sizeof spelling, "%.*s", (int)(n - (s[n - 1] == '!')), s);
                if (strncmp(spelling, "Tensor.", 7) != 0)
                    refused += call_with_one(ctx, spelling);
                s += n + (s[n] == ' ');
            }
    assert_true(refused > 300);
    assert_refusal(ctx, "x", without_weight, NULL,
                   "in f.forward: torch.conv2d() missing a required argument: 'weight'");
    assert_refusal(ctx, "x", without_input, NULL,
                   "in f.forward: torch.nn.functional.relu() missing a required argument: 'input'");
}

/* fxs_softmax(x, 1) and fxs_softmax(x, .dim = -1), as C sees them. */
static fxs_proxy bare_position(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_softmax_args a = {.a0 = x[0], .a1 = {.tracer = (fxs_tracer *)1, .keyword = (char *)2}};
    a.a1.kind = 3;
    return fxs_record_fields(FXS_HERE, "torch.softmax", "input", 2, &a.a0);
}

static fxs_proxy bare_name(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy bare = {.tracer = (fxs_tracer *)(intptr_t)-1};
    return fxs_softmax(x[0], .dim = bare);
}

static void test_bare_numbers(void **state) {
    fxs_ctx *ctx = *state;
    assert_refusal(ctx, "x", bare_position, NULL,
                   "in f.forward: torch.softmax: a number can't be an argument as it is: write "
                   "fxs_i(2), fxs_f(0.5) or fxs_b(true)");
    assert_refusal(ctx, "x", bare_name, NULL,
                   "in f.forward: torch.nn.functional.softmax: a number can't be an argument as it "
                   "is: write fxs_i(2), fxs_f(0.5) or fxs_b(true)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_functionals, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_functional_table, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_constant_on_the_left, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_tensors, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_readable, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_missing_arguments, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_bare_numbers, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
