/* fx_rewrite.c: the scripts rp_* and match_*: SubgraphMatcher and replace_pattern over traced
 * functions. */
#include "fxcase.h"

#define RELU(x) T("relu", x)
#define NEG(x) T("neg", x)

static void put_map(fxcase *c, const fxs_match *m, const char *quote) {
    put(c, "{");
    for (size_t i = 0; i < m->nnodes; i++) {
        const fxs_value *v = &m->nodes[i].target;
        put(c, "%s%s%s%s: ", i ? ", " : "", quote, fxs_node_name(m->nodes[i].pattern), quote);
        if (v->tag == FXS_V_NODE)
            put(c, "%s%s%s", quote, fxs_node_name(v->u.node), quote);
        else
            put_value(c, v);
    }
    put(c, "}");
}

/* What the script's sm(ms) prints. */
static void put_matches(fxcase *c, const fxs_matches *found) {
    for (size_t i = 0; i < fxs_matches_count(found); i++) {
        const fxs_match *m = fxs_matches_at(found, i);
        put(c, " Match anchor=%s map=", fxs_node_name(m->anchors[0]));
        put_map(c, m, "'");
        put(c, "\n");
    }
}

/* "[Match(anchor=add, nodes_map={add: add, x: x})]", as a list of them prints. */
static void put_match_list(fxcase *c, const fxs_matches *found) {
    put(c, "[");
    for (size_t i = 0; i < fxs_matches_count(found); i++) {
        const fxs_match *m = fxs_matches_at(found, i);
        put(c, "%sMatch(anchor=%s, nodes_map=", i ? ", " : "", fxs_node_name(m->anchors[0]));
        put_map(c, m, "");
        put(c, ")");
    }
    put(c, "]\n");
}

/* print(gm.graph); print(gm.code.strip('\n')) */
static void show(fxcase *c, const fxs_module *m) {
    char *code;
    put_graph(c, fxs_module_graph(m));
    OK(c, fxs_graph_python_code(fxs_module_graph(m), 0, &code, NULL));
    put(c, "%s\n", code + strspn(code, "\n"));
    fxs_free(code);
}

static fxs_status replace(fxs_module *gm, const fxs_module *p, const fxs_module *r,
                          fxs_matches **found) {
    return fxs_replace_pattern(gm, fxs_module_graph(p), fxs_module_graph(r), r, NULL, found, NULL);
}

/* Replaces in a traced function, prints the matches and the result. */
static fxs_module *replaced(fxcase *c, const char *signature, fxs_forward_fn *f, const char *params,
                            fxs_forward_fn *pattern, fxs_forward_fn *replacement) {
    fxs_module *gm = trace_c(c, signature, f);
    fxs_matches *found;
    OK(c, replace(gm, trace_c(c, params, pattern), trace_c(c, params, replacement), &found));
    put_matches(c, found);
    show(c, gm);
    fxs_matches_free(found);
    return gm;
}

/* The same without a word: how many matches there were. */
static size_t count(fxcase *c, fxs_module *gm, const char *params, fxs_forward_fn *pattern,
                    fxs_forward_fn *replacement) {
    fxs_matches *found;
    OK(c, replace(gm, trace_c(c, params, pattern), trace_c(c, params, replacement), &found));
    size_t n = fxs_matches_count(found);
    fxs_matches_free(found);
    return n;
}

LAMBDA(relu1, RELU(x[0]))
LAMBDA(relu2, RELU(RELU(x[0])))
LAMBDA(relu3, RELU(RELU(RELU(x[0]))))
LAMBDA(relu4, RELU(RELU(RELU(RELU(x[0])))))
LAMBDA(relu_plus_1, fxs_add(RELU(x[0]), 1))
LAMBDA(neg1, NEG(x[0]))
LAMBDA(neg_plus_1, fxs_add(NEG(x[0]), 1))
LAMBDA(sin1, T("sin", x[0]))
LAMBDA(exp1, T("exp", x[0]))
LAMBDA(same, x[0])
LAMBDA(sum_of_cat, fxs_method(T("cat", FXS_LIST(x[0], x[1])), "sum"))
LAMBDA(stack2, T("stack", FXS_LIST(x[0], x[1])))

static fxs_proxy doc_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy m1 = fxs_method(T("cat", FXS_LIST(x[1], x[2])), "sum");
    fxs_proxy m2 = fxs_method(T("cat", FXS_LIST(x[1], x[2])), "sum");
    fxs_proxy first = fxs_add(x[0], T("max", m1));
    return fxs_add(first, T("max", m2));
}

static void rp_doc(fxcase *c) {
    fxs_module *gm = trace_c(c, "x, w1, w2", doc_forward);
    fxs_matches *found;
    put_graph(c, fxs_module_graph(gm));
    OK(c, replace(gm, trace_c(c, "w1, w2", sum_of_cat), trace_c(c, "w1, w2", stack2), &found));
    put_matches(c, found);
    show(c, gm);
    assert_ptr_not_equal(fxs_node_graph(fxs_matches_at(found, 0)->anchors[0]),
                         fxs_module_graph(gm));
    python_lines(c, 1, "Python's types; the anchor is a node of the pattern here as well");
    fxs_matches_free(found);
}

static void rp_overlap(fxcase *c) {
    replaced(c, "x", relu3, "x", relu2, neg1);
    replaced(c, "x", relu4, "x", relu2, neg1);
}

static void rp_consec(fxcase *c) { replaced(c, "x", relu2, "x", relu1, neg_plus_1); }

LAMBDA(add_int, T("add", x[0], 1))
LAMBDA(add_float, T("add", x[0], 1.0))
LAMBDA(add_true, T("add", x[0], fxs_b(true)))
LAMBDA(add_xy, T("add", x[0], x[1]))
LAMBDA(sum_kw, T("sum", x[0], FXS_KW("dim", 1)))
LAMBDA(sum_pos, T("sum", x[0], 1))
LAMBDA(sum_all, T("sum", x[0]))
LAMBDA(sum_keep, T("sum", x[0], FXS_KW("dim", 1), FXS_KW("keepdim", fxs_b(true))))
LAMBDA(sum_keep2, T("sum", x[0], FXS_KW("keepdim", fxs_b(true)), FXS_KW("dim", 1)))
LAMBDA(view1, fxs_method(x[0], "view", 1, -1))
LAMBDA(from1, fxs_index(x[0], FXS_SLICE(1, FXS_NONE, FXS_NONE)))
LAMBDA(from2, fxs_index(x[0], FXS_SLICE(2, FXS_NONE, FXS_NONE)))
LAMBDA(cat_list, T("cat", FXS_LIST(x[0], x[0])))
LAMBDA(cat_tuple, T("cat", FXS_TUPLE(x[0], x[0])))
LAMBDA(cat_xy, T("cat", FXS_LIST(x[0], x[1])))
LAMBDA(x_plus_x, fxs_add(x[0], x[0]))
LAMBDA(x_plus_y, fxs_add(x[0], x[1]))
LAMBDA(x_plus_1, fxs_add(x[0], 1))
LAMBDA(to_float, fxs_method(x[0], "to", fxs_d(FXS_FLOAT32)))
LAMBDA(sum_dims, T("sum", x[0], FXS_KW("dim", FXS_LIST(0, 1))))
LAMBDA(sum_dims2, T("sum", x[0], FXS_KW("dim", FXS_TUPLE(0, 1))))

static size_t matches(fxcase *c, const char *params, fxs_forward_fn *f, const char *pattern_params,
                      fxs_forward_fn *pattern, const fxs_match_options *opt) {
    fxs_matches *found;
    OK(c, fxs_graph_match(fxs_module_graph(trace_c(c, params, f)),
                          fxs_module_graph(trace_c(c, pattern_params, pattern)), opt, &found));
    size_t n = fxs_matches_count(found);
    fxs_matches_free(found);
    return n;
}

static void rp_literals(fxcase *c) {
    static const struct {
        const char *params, *pattern_params;
        fxs_forward_fn *f, *pattern;
    } cases[] = {
        {"x", "x", sum_kw, sum_kw},        {"x", "x", sum_kw, sum_pos},
        {"x", "x", sum_kw, sum_all},       {"x", "x", sum_keep, sum_keep2},
        {"x", "x", view1, view1},          {"x", "x", from1, from1},
        {"x", "x", from1, from2},          {"x", "x", cat_list, cat_tuple},
        {"x", "x, y", cat_list, cat_xy},   {"x, y", "x", cat_xy, cat_list},
        {"x", "x, y", x_plus_x, x_plus_y}, {"x", "x, y", x_plus_1, x_plus_y},
        {"x", "x", to_float, to_float},    {"x", "x", sum_dims, sum_dims},
        {"x", "x", sum_dims, sum_dims2},
    };
    fxs_forward_fn *const patterns[] = {add_int, add_float, add_xy, add_true};
    for (size_t i = 0; i < 4; i++) {
        const char *params = i == 2 ? "x, y" : "x";
        fxs_module *p = trace_c(c, params, patterns[i]);
        fxs_matches *found;
        OK(c, replace(trace_c(c, "x", add_int), p, p, &found));
        put(c, "OK ");
        put_match_list(c, found);
        put(c, "%zu\n", fxs_matches_count(found));
        fxs_matches_free(found);
    }
    put(c, "%zu\n", matches(c, "x", add_int, "x, y", add_xy, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        put(c, "%zu\n",
            matches(c, cases[i].params, cases[i].f, cases[i].pattern_params, cases[i].pattern,
                    NULL));
}

static fxs_proxy leaking(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]), b = NEG(a);
    return fxs_add(b, a);
}

static fxs_proxy neg_and_relu(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]), b = NEG(a);
    return FXS_TUPLE(b, a);
}

LAMBDA(neg_relu, NEG(RELU(x[0])))
LAMBDA(sigmoid1, T("sigmoid", x[0]))
LAMBDA(sigmoid_and_x, FXS_TUPLE(T("sigmoid", x[0]), x[0]))

static void rp_leak(fxcase *c) {
    put_graph(c, fxs_module_graph(trace_c(c, "x", leaking)));
    replaced(c, "x", leaking, "x", neg_relu, sigmoid1);
    replaced(c, "x", leaking, "x", neg_and_relu, sigmoid_and_x);
}

static fxs_proxy relu_plus_neg(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]);
    return fxs_add(a, NEG(x[1]));
}

static fxs_proxy relu_and_neg(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]);
    return FXS_TUPLE(a, NEG(x[1]));
}

static fxs_proxy sin_and_cos(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = T("sin", x[0]);
    return FXS_TUPLE(a, T("cos", x[1]));
}

static fxs_proxy relu_and_neg_of_relu(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]), b = RELU(x[0]);
    return FXS_TUPLE(a, NEG(b));
}

static void rp_multi_out(fxcase *c) {
    replaced(c, "x, y", relu_plus_neg, "a, b", relu_and_neg, sin_and_cos);
    replaced(c, "x", relu_and_neg_of_relu, "a", relu1, sin1);
}

static fxs_proxy sin_and_a(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = T("sin", x[0]);
    return FXS_TUPLE(a, x[0]);
}

LAMBDA(three, x[0].kind == FXS_P_ABSENT ? x[0] : fxs_i(3))

/* Each refusal leaves the graph as it was; in 1.13 what was copied stays in it. */
static void rp_output(fxcase *c) {
    static const struct {
        const char *params, *replacement_params, *message, *theirs;
        fxs_forward_fn *pattern, *replacement;
    } bad[] = {
        {"a", "a", "the pattern returns 1 values, but the replacement 2", "AssertionError: ", relu1,
         sin_and_a},
        {"a", "a, b", "the pattern has 1 parameters, but the replacement 2",
         "AssertionError: ", relu1, sin1},
        {"a", "a", "the pattern returns its parameter 'a' without using it",
         "AssertionError: The returning_nodes should have at least one user node", same, sin1},
    };
    fxs_graph *g;
    replaced(c, "x", relu1, "a", relu1, same);
    fxs_module *gm = trace_c(c, "x", relu_plus_1);
    for (size_t i = 0; i < 3; i++) {
        other_words(c,
                    replace(gm, trace_c(c, bad[i].params, bad[i].pattern),
                            trace_c(c, bad[i].replacement_params, bad[i].replacement), NULL),
                    bad[i].message, bad[i].theirs);
        if (i == 1) { /* a parameter that the pattern does not use does no harm */
            assert_int_equal(count(c, trace_c(c, "x", relu_plus_1), "a, b", relu1, sin1), 1);
            python_lines(c, 1, "a pattern may have a parameter that it does not use");
        }
    }
    g = fxs_module_graph(gm);
    assert_int_equal(fxs_graph_len(g), 4);
    assert_string_equal(fxs_node_target(fxs_node_next(fxs_graph_first(g))), "torch.relu");
    assert_int_equal(count(c, gm, "a", relu1, three), 1);
    assert_int_equal(fxs_value_item(fxs_node_args(node(g, "add")), 0)->u.i, 3);
    python_lines(c, 9,
                 "the graph was not changed by what was refused; a value may become a literal");
    other_words(c, replace(gm, trace_c(c, "a", three), trace_c(c, "a", three), NULL),
                "the pattern computes nothing",
                "AssertionError: SubgraphMatcher cannot be initialized with an pattern with dead "
                "code");
    python_lines(c, 1, "no match is no error");
}

static void rp_dead(fxcase *c) {
    fxs_graph *g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "torch.relu", "x");
    output(c, g, "x");
    fxs_module *gm = wrap_graph(c, g);
    refused(c, replace(gm, trace_c(c, "a", relu1), trace_c(c, "a", neg1), NULL), "AssertionError");
    instead(c, ": Node relu is dead code", "", "it says which node");
    put_graph(c, g);
}

static fxs_proxy chain4(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]), b = RELU(x[1]), first = fxs_mul(a, b);
    fxs_proxy d = RELU(x[0]), e = RELU(x[1]);
    return fxs_add(first, fxs_mul(d, e));
}

static fxs_proxy relu_times_relu(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]);
    return fxs_mul(a, RELU(x[1]));
}

static fxs_proxy two_adds(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = T("add", x[0], x[0]);
    return T("add", a, T("add", x[0], x[0]));
}

LAMBDA(relu_of_mul, RELU(fxs_mul(x[0], x[1])))
LAMBDA(mul_op, fxs_mul(x[0], x[1]))
LAMBDA(mul_xy, T("mul", x[0], x[1]))

static void rp_chain(fxcase *c) {
    replaced(c, "x, y", chain4, "a, b", relu_times_relu, relu_of_mul);
    replaced(c, "x", x_plus_x, "a, b", x_plus_y, mul_op);
    replaced(c, "x", two_adds, "a, b", add_xy, mul_xy);
}

LAMBDA(add_relu, T("add", RELU(x[0]), x[1]))
LAMBDA(mul_yx, T("mul", x[1], x[0]))
LAMBDA(neg_relu2, NEG(RELU(RELU(x[0]))))

static void rp_placeholder_repl(fxcase *c) {
    replaced(c, "x, y", add_relu, "a, b", add_xy, mul_yx);
    replaced(c, "x", neg_relu2, "a", relu1, same);
}

static void match_opts(fxcase *c) {
    static const struct {
        const char *text;
        fxs_match_options opt;
    } cases[] = {{"{}", {0}},
                 {"{'match_output': True}", {.match_output = true}},
                 {"{'match_placeholder': True}", {.match_placeholder = true}},
                 {"{'match_output': True, 'match_placeholder': True}",
                  {.match_output = true, .match_placeholder = true}}};
    fxs_graph *pat = fxs_module_graph(trace_c(c, "x", relu1)),
              *tg = fxs_module_graph(trace_c(c, "q", neg_relu)), *g;
    fxs_matches *found;
    bool same_graphs;
    for (size_t i = 0; i < 4; i++) {
        OK(c, fxs_graph_match(tg, pat, &cases[i].opt, &found));
        put(c, "%s [", cases[i].text);
        for (size_t k = 0; k < fxs_matches_count(found); k++) {
            put(c, k ? ", " : "");
            put_map(c, fxs_matches_at(found, k), "'");
        }
        put(c, "]\n");
        fxs_matches_free(found);
    }
    OK(c, fxs_graph_match(tg, pat, NULL, &found));
    const fxs_match *m = fxs_matches_at(found, 0);
    put(c, "[%s] [%s] [%s]\n", fxs_node_name(m->anchors[0]),
        fxs_node_name(m->placeholders[0].u.node), fxs_node_name(m->returning[0].u.node));
    fxs_matches_free(found);
    refused(c, fxs_graph_match(tg, new_graph(c), NULL, &found), "ValueError");
    g = new_graph(c);
    input(c, g, "x", NULL);
    fn(c, g, "torch.relu", "x");
    output(c, g, "x");
    refused(c, fxs_graph_match(tg, g, NULL, &found), "AssertionError");
    instead(c, "dead code: Node relu", "dead code", "it says which node");
    put(c, "%zu\n",
        matches(c, "x", relu3, "x", relu2, &(fxs_match_options){.keep_overlapping = true}));
    OK(c, fxs_graph_same(pat, fxs_module_graph(trace_c(c, "zz", relu1)), &same_graphs));
    put(c, same_graphs ? "True " : "False ");
    OK(c, fxs_graph_same(pat, tg, &same_graphs));
    put(c, same_graphs ? "True\n" : "False\n");
}

static fxs_proxy cyclic(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]), b = NEG(a), s = T("sin", b);
    fxs_proxy sum = fxs_add(a, s);
    return FXS_TUPLE(sum, T("cos", a));
}

static fxs_proxy relu_and_sin(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]);
    return FXS_TUPLE(a, T("sin", x[1]));
}

static void match_cycle(fxcase *c) {
    assert_int_equal(matches(c, "x", cyclic, "x, z", relu_and_sin, NULL), 0);
    put(c, "[]\n");
}

LAMBDA(relu_sum, fxs_method(RELU(x[0]), "sum"))
LAMBDA(both, FXS_TUPLE(x[0], x[1]))

static void rp_nomatch(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", neg1);
    assert_int_equal(count(c, gm, "x", relu1, sin1), 0);
    python_lines(c, 1, "no match is no error");
    put_graph(c, fxs_module_graph(gm));
    put(c, count(c, trace_c(c, "x", relu_sum), "x", relu2, sin1) ? "?" : "OK []\n");
    assert_int_equal(count(c, trace_c(c, "x", relu1), "x, y", relu_and_neg, both), 0);
    python_lines(c, 1, "no match is no error");
}

static fxs_proxy add_relu_neg(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]);
    return T("add", a, NEG(x[1]));
}

static fxs_proxy add_relu_relu(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]);
    return T("add", a, RELU(x[1]));
}

static fxs_proxy two_candidates(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy first = T("add", RELU(x[0]), 1), b = RELU(x[1]);
    return fxs_add(first, T("add", b, RELU(x[0])));
}

static void put_internal(fxcase *c, const fxs_value *values, size_t n) {
    put(c, "[");
    for (size_t i = 0; i < n; i++)
        put(c, i ? ", %s" : "%s", fxs_node_name(values[i].u.node));
    put(c, "]");
}

static void rp_backtrack_bug(fxcase *c) {
    fxs_module *p = trace_c(c, "a, b", add_relu_relu);
    fxs_matches *found;
    OK(c, fxs_graph_match(fxs_module_graph(trace_c(c, "x, y", add_relu_neg)), fxs_module_graph(p),
                          NULL, &found));
    put(c, "%s", fxs_matches_count(found) ? "?" : "[]\n");
    fxs_matches_free(found);
    OK(c, fxs_graph_match(fxs_module_graph(trace_c(c, "x, y", two_candidates)), fxs_module_graph(p),
                          NULL, &found));
    const fxs_match *m = fxs_matches_at(found, 0);
    put(c, "[InternalMatch(anchors=[%s], nodes_map=", fxs_node_name(m->anchors[0]));
    put_map(c, m, "");
    put(c, ", placeholder_nodes=");
    put_internal(c, m->placeholders, m->nplaceholders);
    put(c, ", returning_nodes=");
    put_internal(c, m->returning, m->nreturning);
    put(c, ")]\n");
    fxs_matches_free(found);
}

static fxs_proxy two_matmuls(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = T("matmul", x[0], x[1]);
    return fxs_add(a, T("matmul", x[1], x[0]));
}

LAMBDA(matmul2, T("matmul", x[0], x[1]))
LAMBDA(matmul1, T("matmul", x[0], x[0]))
LAMBDA(mm2, T("mm", x[0], x[1]))

static void rp_same_target_twice(fxcase *c) {
    fxs_module *gm = trace_c(c, "x, y", two_matmuls);
    count(c, gm, "a, b", matmul2, mm2);
    put_code(c, fxs_module_graph(gm));
    put(c, "%zu\n", count(c, trace_c(c, "x", matmul1), "a, b", matmul2, mm2));
}

static fxs_proxy relu_shape(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy first = fxs_index(fxs_getattr(fxs_method(x[0], "relu"), "shape"), 0);
    return fxs_add(first, fxs_method(x[0], "size", 0));
}

LAMBDA(relu_method, fxs_method(x[0], "relu"))
LAMBDA(size_0, fxs_method(x[0], "size", 0))
LAMBDA(shape_0, fxs_index(fxs_getattr(x[0], "shape"), 0))

static void rp_method_attr(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", relu_shape);
    count(c, gm, "x", relu_method, relu1);
    put_code(c, fxs_module_graph(gm));
    count(c, gm, "x", size_0, shape_0);
    put_code(c, fxs_module_graph(gm));
}

LAMBDA(sub_xy, T("sub", x[0], x[1]))

static void rp_default_args(fxcase *c) {
    fxs_module *gm = trace_c(c, "x, y=2", add_xy);
    count(c, gm, "a, b", add_xy, sub_xy);
    put_code(c, fxs_module_graph(gm));
}

LAMBDA(add_relu_self, T("add", RELU(x[0]), x[0]))
LAMBDA(mul_2, T("mul", x[0], 2))

static void rp_wildcard_reuse(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", add_relu_self);
    size_t n = count(c, gm, "a", add_relu_self, mul_2);
    put_code(c, fxs_module_graph(gm));
    c->out.len--;
    put(c, " %zu\n%zu\n", n, count(c, trace_c(c, "x, y", add_relu), "a", add_relu_self, mul_2));
}

static void rp_const_bind(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", add_int);
    fxs_matches *found;
    OK(c, replace(gm, trace_c(c, "x, y", add_xy), trace_c(c, "x, y", sub_xy), &found));
    put(c, "OK ");
    put_match_list(c, found);
    fxs_matches_free(found);
    put_graph(c, fxs_module_graph(gm));
}

static fxs_proxy fan(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy a = RELU(x[0]), b = NEG(a), s = T("sin", a);
    return fxs_add(s, b);
}

static void rp_users_order(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", fan);
    count(c, gm, "x", relu1, exp1);
    put_code(c, fxs_module_graph(gm));
}

static void rp_graphmodule_pattern(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", relu_plus_1);
    fxs_matches *found;
    OK(c, replace(gm, trace_c(c, "x", relu1), trace_c(c, "x", neg1), &found));
    put(c, "OK ");
    put_match_list(c, found);
    fxs_matches_free(found);
    put_code(c, fxs_module_graph(gm));
}

static void rp_meta(fxcase *c) {
    fxs_module *gm = trace_c(c, "x", relu_plus_1);
    fxs_graph *g = fxs_module_graph(gm);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        char text[64];
        snprintf(text, sizeof text, "'%s'", fxs_node_name(n));
        set_meta(c, n, "m", text);
    }
    count(c, gm, "x", relu1, neg1);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        put(c, n == fxs_graph_first(g) ? "[('%s', " : ", ('%s', ", fxs_node_name(n));
        put_meta(c, n);
        put(c, ")");
    }
    put(c, "]\n");
}

const fxcase_row fx_rewrite_rows[] = {
    {"rp_doc", rp_doc, NULL},
    {"rp_overlap", rp_overlap, NULL},
    {"rp_consec", rp_consec, NULL},
    {"rp_literals", rp_literals, NULL},
    {"rp_leak", rp_leak, NULL},
    {"rp_multi_out", rp_multi_out, NULL},
    {"rp_output", rp_output, NULL},
    {"rp_dead", rp_dead, NULL},
    {"rp_chain", rp_chain, NULL},
    {"rp_placeholder_repl", rp_placeholder_repl, NULL},
    {"match_opts", match_opts, NULL},
    {"match_cycle", match_cycle, NULL},
    {"rp_nomatch", rp_nomatch, NULL},
    {"rp_backtrack_bug", rp_backtrack_bug, NULL},
    {"rp_same_target_twice", rp_same_target_twice, NULL},
    {"rp_method_attr", rp_method_attr, NULL},
    {"rp_default_args", rp_default_args, NULL},
    {"rp_wildcard_reuse", rp_wildcard_reuse, NULL},
    {"rp_const_bind", rp_const_bind, NULL},
    {"rp_users_order", rp_users_order, NULL},
    {"rp_graphmodule_pattern", rp_graphmodule_pattern, NULL},
    {"rp_meta", rp_meta, NULL},
    {0},
};
