/* fx_exec.c: the scripts it_*, tf_*, sp_*, gm_*: interpreting, transforming, GraphModules. */
#include "fxcase.h"

static fxs_proxy sub_forward(fxs_proxy self, const fxs_proxy *x) {
    return fxs_call(self, "lin", x[0]);
}

static fxs_proxy m_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "sub", x[0]);
    return fxs_mul(fxs_add(y, fxs_attr(self, "w")), x[1]);
}

/* The module that most of the scripts trace. */
static fxs_module *new_m(fxcase *c) {
    fxs_module *m = fxs_nn(c->ctx, "M"), *sub = fxs_nn_add(m, "sub", "Sub");
    fxs_nn_add(sub, "lin", "Linear(2, 2)");
    fxs_nn_forward(sub, "x", sub_forward, NULL);
    fxs_nn_parameter(m, "w", "float32[2]");
    fxs_nn_forward(m, "x, y=3", m_forward, NULL);
    return trace_m(c, m);
}

static fxs_value tensor(fxcase *c, int ndim, const int64_t *sizes) {
    fxs_tensor *t = random_tensor(c->ctx, FXS_FLOAT32, ndim, sizes, 1);
    return own_value(c, fxs_of_tensor(t));
}

static fxs_interpreter *interpreter(fxcase *c, fxs_module *m, const fxs_interpreter_options *opt) {
    fxs_interpreter *it;
    OK(c, fxs_interpreter_new(m, opt, &it));
    return it;
}

/* Names of what the environment holds, sorted as the script does, or in the graph's order. */
static void put_env(fxcase *c, fxs_interpreter *it, const fxs_graph *g, bool sorted) {
    const char *names[32];
    size_t n = 0;
    for (fxs_node *k = fxs_graph_first(g); k; k = fxs_node_next(k)) {
        if (!fxs_interpreter_env(it, k))
            continue;
        size_t at = n++;
        for (; sorted && at && strcmp(names[at - 1], fxs_node_name(k)) > 0; at--)
            names[at] = names[at - 1];
        names[at] = fxs_node_name(k);
    }
    put(c, "[");
    for (size_t i = 0; i < n; i++)
        put(c, i ? ", '%s'" : "'%s'", names[i]);
    put(c, "]");
}

static fxs_status log_node(fxs_interpreter *it, fxs_node *n, fxs_value *result) {
    fxcase *c = fxs_interpreter_user(it);
    fxs_status s = fxs_interpreter_run_node(it, n, result);
    put(c, "run %s %s ", fxs_kind_name(fxs_node_kind(n)), fxs_node_name(n));
    put_env(c, it, fxs_node_graph(n), true);
    put(c, "\n");
    return s;
}

static fxs_status log_call(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                           const fxs_value *kwargs, fxs_value *result) {
    fxcase *c = fxs_interpreter_user(it);
    put(c, "  cf %s [", strrchr(fxs_node_target(n), '.') + 1);
    for (size_t i = 0; i < fxs_value_len(args); i++) {
        const fxs_value *v = fxs_value_item(args, i);
        bool parameter = v->tag == FXS_V_TENSOR && fxs_tensor_requires_grad(v->u.tensor) &&
                         fxs_node_kind(n->inputs[i]) == FXS_GET_ATTR;
        put(c, i ? ", '%s'" : "'%s'",
            parameter                ? "Parameter"
            : v->tag == FXS_V_TENSOR ? "Tensor"
                                     : fxs_value_type_name(v));
    }
    put(c, "] ");
    put_value(c, kwargs);
    put(c, "\n");
    return fxs_interpreter_call_function(it, n, args, kwargs, result);
}

static void it_basic(fxcase *c) {
    fxs_module *m = new_m(c);
    fxs_graph *g = fxs_module_graph(m);
    fxs_interpreter *it =
        interpreter(c, m,
                    &(fxs_interpreter_options){
                        .methods = {.run_node = log_node, .call_function = log_call, .user = c}});
    fxs_value x = tensor(c, SIZES(1, 2)), args[] = {x, fxs_int(5)}, out;
    OK(c, fxs_interpreter_run(it, &x, 1, &out));
    put(c, "torch.Size([%lld, %lld])", (long long)out.u.tensor->sizes[0],
        (long long)out.u.tensor->sizes[1]);
    python_text(c, " ['output']\n",
                "the output's value is the run's result, and in no environment");
    fxs_value_unref(&out);
    fxs_interpreter_free(it);
    python_lines(c, 1, "which values die where is the interpreter's own");
    it = interpreter(c, m, &(fxs_interpreter_options){.keep_values = true});
    OK(c, fxs_interpreter_run(it, args, 2, &out));
    put_env(c, it, g, false);
    instead(c, "'add', 'mul']", "'add', 'mul', 'output']", "the output's value is the result");
    put(c, "\n");
    fxs_value_unref(&out);
    fxs_interpreter_free(it);
    python_lines(c, 1, "an attribute of a Python object");
}

static void it_env(fxcase *c) {
    fxs_module *m = new_m(c);
    fxs_graph *g = fxs_module_graph(m);
    fxs_interpreter *it = interpreter(c, m, NULL);
    fxs_value x = tensor(c, SIZES(1, 2)), zeros, out, seven[] = {x, fxs_int(7)};
    put_names(c, g);
    put(c, "\n");
    OK(c, fxs_tensor_new(c->ctx, FXS_FLOAT32, SIZES(1, 2), &zeros.u.tensor));
    zeros.tag = FXS_V_TENSOR;
    OK(c, fxs_interpreter_set_env(it, node(g, "sub_lin"), zeros));
    OK(c, fxs_interpreter_run(it, &x, 1, &out));
    assert_shape(out.u.tensor, SIZES(1, 2));
    python_lines(c, 1, "values of parameters that were made from another seed; gradients");
    fxs_value_unref(&out);
    OK(c, fxs_interpreter_set_env(it, node(g, "x"), fxs_value_ref(x)));
    OK(c, fxs_interpreter_set_env(it, node(g, "y"), fxs_int(2)));
    OK(c, fxs_interpreter_run(it, NULL, 0, &out));
    double twice = nth(out.u.tensor, 0);
    fxs_value_unref(&out);
    python_lines(c, 1, "values of parameters that were made from another seed; gradients");
    OK(c, fxs_interpreter_set_env(it, node(g, "y"), fxs_int(10)));
    OK(c, fxs_interpreter_run(it, seven, 2, &out));
    assert_near(nth(out.u.tensor, 0), 5 * twice, 1e-6);
    put(c, "torch.Size([%lld, %lld])\n", (long long)out.u.tensor->sizes[0],
        (long long)out.u.tensor->sizes[1]);
    fxs_value_unref(&out);
    fxs_interpreter_free(it);
}

/* E(Interpreter(gm).run, ...): "OK VALUE"; `ok` NULL prints the value alone. */
static void run(fxcase *c, fxs_module *m, bool flat, const char *ok, const char *args) {
    fxs_interpreter *it = interpreter(c, m, &(fxs_interpreter_options){.flat = flat});
    fxs_value in = py(c, fxs_module_graph(m), args), out;
    OK(c, fxs_interpreter_run(it, in.u.seq->items, in.u.seq->len, &out));
    put(c, "%s", ok);
    put_value(c, &out);
    put(c, "\n");
    fxs_value_unref(&out);
    fxs_interpreter_free(it);
}

LAMBDA(a_plus_1, fxs_add(fxs_index(x[0], "a"), 1))

static void it_varargs(fxcase *c) {
    fxs_graph *g = new_graph(c);
    fxs_module *m;
    input(c, g, "x", NULL);
    input(c, g, "*args", NULL);
    input(c, g, "**kw", NULL);
    output(c, g, "(x, _args, _kw)");
    run(c, wrap_graph(c, g), false, "OK ", "(1, 2, 3)");
    g = new_graph(c);
    input(c, g, "x", "None");
    output(c, g, "x");
    m = wrap_graph(c, g);
    run(c, m, false, "OK ", "()");
    run(c, m, false, "OK ", "(5, 6)");
    m = wrap_graph(c, new_graph(c));
    run(c, m, false, "OK ", "()");
    run(c, m, false, "OK ", "(1,)");
    OK(c, fxs_trace_function(c->ctx, "f", "x", a_plus_1, NULL,
                             &(fxs_trace_options){.concrete_args = "x={'a': PH}"}, &m));
    run(c, own(c, m), false, "", "({'a': 2},)");
    run(c, m, true, "OK ", "(2,)");
}

/* ---- transformers
 * --------------------------------------------------------------------------------------------- */

static fxs_module *transformed(fxcase *c, fxs_module *m, const fxs_interpreter_options *opt) {
    fxs_interpreter *it;
    fxs_module *out;
    OK(c, fxs_transformer_new(m, opt, &it));
    OK(c, fxs_transformer_run(it, &out));
    fxs_interpreter_free(it);
    return own(c, out);
}

static void put_paths(fxcase *c, const fxs_module *m, const char *prefix, bool parameters,
                      size_t *n) {
    if (!parameters)
        put(c, (*n)++ ? ", '%s'" : "'%s'", prefix);
    for (size_t i = 0; parameters && i < m->nattributes; i++)
        if (!m->attributes[i].param->is_buffer)
            put(c, (*n)++ ? ", '%s%s%s'" : "'%s%s%s'", prefix, *prefix ? "." : "",
                m->attributes[i].name);
    for (size_t i = 0; i < m->nchildren; i++) {
        char path[100];
        snprintf(path, sizeof path, "%.80s%s%.15s", prefix, *prefix ? "." : "",
                 m->children[i].name);
        put_paths(c, m->children[i].module, path, parameters, n);
    }
}

/* [n for n, _ in m.named_modules()], or named_parameters. */
static void put_named(fxcase *c, const fxs_module *m, bool parameters) {
    size_t n = 0;
    put(c, "[");
    put_paths(c, m, "", parameters, &n);
    put(c, "]");
}

LAMBDA(neg_of_sigmoid, fxs_method(T("sigmoid", x[0]), "neg"))
LAMBDA(containers, FXS_TUPLE(x[0], FXS_LIST(x[0]), FXS_DICT("k", x[0])))

/* A sigmoid becomes a neg, and a neg a sigmoid. */
static fxs_status swap_call(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                            const fxs_value *kwargs, fxs_value *result) {
    bool function = fxs_node_kind(n) == FXS_CALL_FUNCTION;
    fxs_node *made;
    if (strcmp(fxs_node_target(n), function ? "torch.sigmoid" : "neg") != 0)
        return fxs_transformer_record(it, n, args, kwargs, result);
    fxs_graph *g = fxs_transformer_graph(it);
    fxs_status s = function ? fxs_graph_call_function(g, "torch.neg", args, kwargs, &made)
                            : fxs_graph_call_method(g, "sigmoid", args, kwargs, &made);
    if (s == FXS_OK)
        *result = fxs_of_node(made);
    return s;
}

/* A layer becomes the function that it computes. */
static fxs_status inline_relu(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                              const fxs_value *kwargs, fxs_value *result) {
    fxs_value no = fxs_bool(false), inplace;
    fxs_node *made;
    (void)n;
    (void)kwargs;
    fxs_status s =
        fxs_value_dict(fxs_interpreter_ctx(it), 1, (const char *[]){"inplace"}, &no, &inplace);
    s = s ? s
          : fxs_graph_call_function(fxs_transformer_graph(it), "torch.nn.functional.relu", args,
                                    &inplace, &made);
    fxs_value_unref(&inplace);
    if (s == FXS_OK)
        *result = fxs_of_node(made);
    return s;
}

static void tf_basic(fxcase *c) {
    fxs_module *m = transformed(c, new_m(c), NULL), *seq;
    put_graph(c, fxs_module_graph(m));
    put(c, "%s ", fxs_module_class(m));
    put_named(c, m, false);
    put(c, " ");
    put_named(c, m, true);
    put(c, "\n");
    m = transformed(c, trace_c(c, "x", neg_of_sigmoid),
                    &(fxs_interpreter_options){
                        .methods = {.call_function = swap_call, .call_method = swap_call}});
    put_both(c, m);
    seq = fxs_nn(c->ctx, "Sequential()");
    fxs_nn_add(seq, NULL, "ReLU()");
    m = transformed(c, trace_m(c, seq),
                    &(fxs_interpreter_options){.methods = {.call_module = inline_relu}});
    put_graph(c, fxs_module_graph(m));
    python_lines(c, 1, "what print returned");
    put_graph(c, fxs_module_graph(transformed(c, trace_c(c, "x", containers), NULL)));
    fxs_graph *g = new_graph(c);
    fxs_node *n;
    typed_input(c, g, "x", "int", "2");
    OK(c, create(c, g, FXS_CALL_FUNCTION, "torch.relu", "x", NULL, "torch.Tensor", &n));
    OK(c, create(c, g, FXS_OUTPUT, "output", "relu", NULL, "int", &n));
    put_graph(c, fxs_module_graph(transformed(c, wrap_graph(c, g), NULL)));
    c->out.len--;
    python_text(c, " [{}, {'stack_trace': ''}, {}]\n",
                "1.13 puts an empty stack into meta; new nodes have none here");
    g = new_graph(c);
    input(c, g, "x", NULL);
    output(c, g, "None");
    put_graph(c, fxs_module_graph(transformed(c, wrap_graph(c, g), NULL)));
}

/* ---- ShapeProp
 * --------------------------------------------------------------------------------------------- */

static void put_sizes(fxcase *c, int n, const int64_t *sizes) {
    for (int i = 0; i < n; i++)
        put(c, i ? ", %lld" : "%lld", (long long)sizes[i]);
}

/* TensorMetadata(...) in the place of each tensor. */
static void put_tensor_meta(fxcase *c, const fxs_value *v) {
    static const char *const ends[] = {
        [FXS_V_LIST] = "[]", [FXS_V_TUPLE] = "()", [FXS_V_DICT] = "{}"};
    const fxs_tensor *t = v->u.tensor;
    if (v->tag == FXS_V_TENSOR) {
        put(c, "TensorMetadata(shape=torch.Size([");
        put_sizes(c, t->ndim, t->sizes);
        put(c, "]), dtype=torch.%s, requires_grad=%s, stride=(", fxs_dtype_name(t->dtype),
            fxs_tensor_requires_grad(t) ? "True" : "False");
        put_sizes(c, t->ndim, t->strides);
        put(c, "%s), memory_format=%s, is_quantized=False, qparams={})", t->ndim == 1 ? "," : "",
            fxs_memory_format_text(fxs_tensor_memory_format(t)));
        return;
    }
    if (v->tag != FXS_V_LIST && v->tag != FXS_V_TUPLE && v->tag != FXS_V_DICT) {
        put_value(c, v);
        return;
    }
    put(c, "%c", ends[v->tag][0]);
    for (size_t i = 0; i < fxs_value_len(v); i++) {
        put(c, i ? ", " : "");
        if (v->tag == FXS_V_DICT)
            put(c, "'%s': ", fxs_value_text(fxs_value_key(v, i)));
        put_tensor_meta(c, fxs_value_item(v, i));
    }
    put(c, "%c", ends[v->tag][1]);
}

static void propagate(fxcase *c, fxs_module *m, const char *first, const char *second) {
    fxs_inputs *in;
    fxs_run_summary sum;
    OK(c, fxs_inputs_new(c->ctx, &in));
    OK(c, fxs_inputs_add(in, first));
    if (second)
        OK(c, fxs_inputs_add(in, second));
    OK(c, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, &sum));
    fxs_inputs_free(in);
}

static void sp_basic(fxcase *c) {
    fxs_module *m = trace_m(c, test_model(c->ctx));
    propagate(c, m, "1x3x16x16", "1x2x8x8");
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(m)); n; n = fxs_node_next(n)) {
        const fxs_meta *meta = fxs_node_meta(n);
        put(c, "%s {", fxs_node_name(n));
        if (meta->has_tensor) {
            put(c, "'tensor_meta': ");
            put_tensor_meta(c, &meta->result);
            put(c, ", ");
        }
        put(c, "'type': <class '%s'>}\n", meta->type_name);
    }
}

static fxs_proxy structure(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy parts[2];
    fxs_unpack(T("max", x[0], 1), 2, parts);
    return FXS_DICT("m", parts[0], "l", FXS_LIST(parts[1], FXS_TUPLE(x[0], 3)), "n", FXS_NONE);
}

static void sp_struct(fxcase *c) {
    fxs_module *m = trace_c(c, "x", structure);
    propagate(c, m, "2x3", NULL);
    python_lines(c, 2, "the values of tensors");
    for (fxs_node *n = fxs_graph_first(fxs_module_graph(m)); n; n = fxs_node_next(n)) {
        put(c, "%s ", fxs_node_name(n));
        put_tensor_meta(c, &fxs_node_meta(n)->result);
        put(c, " <class '%s'>\n", fxs_node_meta(n)->type_name);
    }
    instead(c, "<class 'dict'>", "<class 'torch.fx.immutable_collections.immutable_dict'>",
            "containers have no other types in arguments");
}

static void sp_error(fxcase *c) {
    fxs_module *m = new_m(c);
    propagate(c, m, "1x3", NULL);
    fxs_node *n = node(fxs_module_graph(m), "sub_lin");
    assert_int_equal(fxs_node_meta(n)->outcome, FXS_FAILED);
    assert_non_null(strstr(fxs_node_meta(n)->message, "[1, 3]"));
    python_lines(c, 8, "a node that fails stops nothing here: its message is with the node");
}

/* ---- GraphModules
 * --------------------------------------------------------------------------------------------- */

LAMBDA(plus_1, fxs_add(x[0], 1))

static void gm_misc(fxcase *c) {
    fxs_module *m = new_m(c), *root, *out;
    fxs_graph *g;
    put_module(c, m);
    put_code(c, fxs_module_graph(m));
    m = trace_c(c, "x", plus_1);
    fxs_value two = fxs_int(2);
    OK(c, fxs_node_update_arg(node(fxs_module_graph(m), "add"), 1, &two));
    python_lines(c, 1, "there is no code to go out of date: recompile is implicit");
    run(c, m, false, "", "(1,)");
    python_lines(c, 3, "Python's types");
    g = new_graph(c);
    input(c, g, "x", NULL);
    mod(c, g, "a.b", "x");
    output(c, g, "a_b");
    OK(c, fxs_module_new(c->ctx, "Module", NULL, NULL, &root));
    other_words(c, fxs_graph_module_new(own(c, root), g, NULL, &out),
                "Node a_b: 'Module' object has no attribute 'a'",
                "RuntimeError: Node a_b referenced target a.b but that target was not provided in "
                "``root``!");
    python_lines(c, 1, "a root is a module always: there is no second message");
    OK(c, fxs_module_add_submodule(root, "a.b", own(c, fxs_nn(c->ctx, "ReLU()"))));
    OK(c, fxs_graph_module_new(root, g, "MyName", &out));
    c->graphs[c->ngraphs - 1] = NULL;
    put_module(c, own(c, out));
    c->out.len--;
    put(c, " %s\n", fxs_module_class(out));
    g = new_graph(c);
    attr(c, g, "p.q");
    attr(c, g, "t");
    output(c, g, "None");
    OK(c, fxs_module_new(c->ctx, "Module", NULL, NULL, &root));
    fxs_module *p = fxs_nn(c->ctx, "Module");
    OK(c, fxs_module_add_tensor(own(c, p), "q", false, FXS_FLOAT32, SIZES(1)));
    OK(c, fxs_module_add_submodule(own(c, root), "p", p));
    OK(c, fxs_module_add_tensor(root, "t", true, FXS_FLOAT32, SIZES(2)));
    OK(c, fxs_graph_module_new(root, g, NULL, &out));
    c->graphs[c->ngraphs - 1] = NULL;
    put_named(c, own(c, out), true);
    assert_true(out->nattributes == 1 && out->attributes[0].param->is_buffer);
    put(c, " ['%s'] ", out->attributes[0].name);
    char *text;
    OK(c, fxs_module_print(fxs_module_find(out, "p"), &text, NULL));
    put(c, "%s", text);
    fxs_free(text);
}

static void put_done(fxcase *c, fxs_status s, const char *behind) {
    put(c, "%s%s", s == FXS_OK ? "True" : "False", behind);
    fxs_ctx_clear(c->ctx);
}

static void gm_submods(fxcase *c) {
    fxs_module *seq = fxs_nn(c->ctx, "Sequential()"), *inner, *m;
    fxs_nn_add(seq, NULL, "Linear(1, 1)");
    inner = fxs_nn_add(seq, NULL, "Sequential()");
    fxs_nn_add(inner, NULL, "ReLU()");
    fxs_nn_add(inner, NULL, "Tanh()");
    m = trace_m(c, seq);
    put_done(c, fxs_module_add_submodule(m, "a.b.c", own(c, fxs_nn(c->ctx, "ReLU()"))), " ");
    put_done(c, fxs_module_add_submodule(m, "0.weight.z", own(c, fxs_nn(c->ctx, "ReLU()"))), " ");
    put_done(c, fxs_module_delete_submodule(m, "a.zz"), " ");
    put_done(c, fxs_module_delete_submodule(m, "0.weight"), " ");
    put_done(c, fxs_module_delete_submodule(m, "q.w.e"), "\n");
    put_module(c, m);
    OK(c, fxs_module_delete_all_unused_submodules(m, NULL));
    put_module(c, m);
    put_done(c, fxs_module_delete_submodule(m, "1.0"), "\n");
    put_named(c, m, false);
    put(c, "\n");
    refused(c, fxs_graph_lint(fxs_module_graph(m)), "RuntimeError");
}

static void gm_print_readable2(fxcase *c) {
    char *text;
    OK(c, fxs_module_print_readable(new_m(c), 0, &text, NULL));
    put(c, "%s\n", text);
    fxs_free(text);
}

const fxcase_row fx_exec_rows[] = {
    {"it_basic", it_basic, NULL},
    {"it_env", it_env, NULL},
    {"it_varargs", it_varargs, NULL},
    {"tf_basic", tf_basic, NULL},
    {"sp_basic", sp_basic, NULL},
    {"sp_struct", sp_struct, NULL},
    {"sp_error", sp_error, NULL},
    {"gm_misc", gm_misc, NULL},
    {"gm_submods", gm_submods, NULL},
    {"gm_print_readable2", gm_print_readable2, NULL},
    {"gm_call_error", NULL,
     "tracebacks of Python's code; the interpreter's errors name the node (test_interpreter)"},
    {0},
};
