/* tracing.h: what the tests of the tracer share: networks traced from a function or a module,
 * compared with what torch.fx printed for the same one (tests/golden/trace, one file a script of
 * several graphs). */
#ifndef FXS_TESTS_TRACING_H
#define FXS_TESTS_TRACING_H

#include "golden.h"

#include "fxops.h"
#include "ir/module.h"
#include "ir/pytree.h"

/* The k-th graph in a golden file, from "graph():" to its return. */
static inline char *golden_graph(const char *name, int k) {
    char path[200];
    snprintf(path, sizeof path, "golden/trace/%s.txt", name);
    char *all = read_test_file(path, NULL), *at = all;
    fxs_buf b = {0};
    for (int i = 0; (at = strstr(at, "graph():\n")) && i < k; i++)
        at++;
    assert_non_null(at);
    for (bool last = false; !last && *at;) {
        size_t n = strcspn(at, "\n");
        last = strncmp(at, "    return", 10) == 0;
        fxs_buf_add(&b, at, n);
        fxs_buf_putc(&b, '\n');
        at += n + (at[n] == '\n');
    }
    fxs_free(all);
    return fxs_buf_take(&b, NULL);
}

static inline void assert_text(const fxs_graph *g, const char *want) {
    char *text;
    assert_ok(g->ctx, fxs_graph_print(g, 0, &text, NULL));
    assert_string_equal(text, want);
    fxs_free(text);
}

/* Where the code stands directly behind the k-th graph of the file, m's is the same. */
static inline void assert_code_behind(const fxs_module *m, const char *name, int k) {
    char path[200], *code;
    snprintf(path, sizeof path, "golden/trace/%s.txt", name);
    char *all = read_test_file(path, NULL), *at = all;
    for (int i = 0; (at = strstr(at, "graph():")) && i < k; i++)
        at++;
    assert_non_null(at);
    while ((at = strchr(at, '\n')) && strncmp(at, "\n    ", 5) == 0)
        at++;
    while (at && *at == '\n')
        at++;
    if (at && (strncmp(at, "def forward(", 12) == 0 || strncmp(at, "torch.fx._sym", 13) == 0)) {
        assert_ok(m->ctx, fxs_graph_python_code(m->graph, 0, &code, NULL));
        const char *text = code + strspn(code, "\n");
        size_t n = strlen(text);
        if (strncmp(at, text, n) != 0 || at[n] != '\n')
            fprintf(stderr, "%s, graph %d:\n%s\nwant:\n%.*s\n", name, k, text, (int)n, at);
        assert_memory_equal(at, text, n);
        assert_int_equal(at[n], '\n');
        fxs_free(code);
    }
    fxs_free(all);
}

/* The graph of m is the k-th of the file, and of a script tr_* so is its code where the file has it
 * (test_fx compares that of the others); m is dropped. */
static inline void assert_golden(fxs_module *m, const char *name, int k) {
    char *want = golden_graph(name, k);
    assert_ok(m->ctx, fxs_graph_lint(m->graph));
    assert_text(m->graph, want);
    fxs_free(want);
    if (strncmp(name, "tr_", 3) == 0)
        assert_code_behind(m, name, k);
    fxs_module_unref(m);
}

/* The k-th "def forward" in a golden file, to the blanks of its last line. */
static inline char *golden_code(const char *name, int k) {
    char path[200];
    snprintf(path, sizeof path, "golden/trace/%s.txt", name);
    char *all = read_test_file(path, NULL), *at = all;
    fxs_buf b = {0};
    for (int i = 0; (at = strstr(at, "def forward(")) && i < k; i++)
        at++;
    assert_non_null(at);
    char *end = strstr(at, "\n    \n");
    assert_non_null(end);
    fxs_buf_add(&b, at, (size_t)(end - at) + 5);
    fxs_free(all);
    return fxs_buf_take(&b, NULL);
}

/* m's code from "def" on is that text. */
static inline void assert_code(const fxs_module *m, const char *want) {
    char *text;
    assert_ok(m->ctx, fxs_graph_python_code(m->graph, 0, &text, NULL));
    assert_non_null(strstr(text, "def forward("));
    assert_string_equal(strstr(text, "def forward("), want);
    fxs_free(text);
}

/* The graph of m is the k-th of the file, its code the c-th; m is dropped. */
static inline void assert_golden_code(fxs_module *m, const char *name, int k, int c) {
    char *want = golden_code(name, c);
    assert_code(m, want);
    fxs_free(want);
    assert_golden(m, name, k);
}

static inline fxs_module *trace_fn(fxs_ctx *ctx, const char *signature, fxs_forward_fn *fn) {
    fxs_module *m;
    assert_ok(ctx, fxs_trace_function(ctx, "f", signature, fn, NULL, NULL, &m));
    return m;
}

static inline fxs_module *trace_with(fxs_ctx *ctx, const char *signature, fxs_forward_fn *fn,
                                     const fxs_trace_options *opt) {
    fxs_module *m;
    assert_ok(ctx, fxs_trace_function(ctx, "f", signature, fn, NULL, opt, &m));
    return m;
}

/* root is dropped. */
static inline fxs_module *trace_module(fxs_ctx *ctx, fxs_module *root,
                                       const fxs_trace_options *opt) {
    fxs_module *m;
    assert_ok(ctx, fxs_trace(ctx, root, opt, &m));
    fxs_module_unref(root);
    return m;
}

/* The trace fails with a message that ends in `message`. */
static inline void assert_refusal(fxs_ctx *ctx, const char *signature, fxs_forward_fn *fn,
                                  const fxs_trace_options *opt, const char *message) {
    fxs_module *m;
    fxs_status s = fxs_trace_function(ctx, "f", signature, fn, NULL, opt, &m);
    const char *have = fxs_ctx_error(ctx);
    size_t n = strlen(have), k = strlen(message);
    if (s == FXS_OK || n < k || strcmp(have + n - k, message) != 0)
        fprintf(stderr, "message: %s\n", have);
    assert_int_not_equal(s, FXS_OK);
    assert_null(m);
    assert_true(n >= k);
    assert_string_equal(have + n - k, message);
    fxs_ctx_clear(ctx);
}

/* ---- TestModel, the network that most documents about torch.fx show
 * ------------------------------------------------------ */

static inline fxs_proxy test_model_forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_call(self, "main", in[0]);
    fxs_proxy y = fxs_add(fxs_call(self, "skip", in[1]), fxs_attr(self, "bias"));
    y = fxs_method(y, "clamp", 0, 1);
    fxs_proxy size = fxs_index(fxs_method(x, "size"), FXS_SLICE(-2, FXS_NONE, FXS_NONE));
    y = fxs_interpolate(y, size, .mode = fxs_s("bilinear"), .align_corners = fxs_b(false));
    return fxs_add(fxs_sigmoid(x), y);
}

static inline fxs_module *test_model(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "TestModel");
    fxs_nn_forward(m, "x, y", test_model_forward, NULL);
    fxs_nn_parameter(m, "bias", "float32[1]");
    fxs_module *branch = fxs_nn_add(m, "main", "Sequential()");
    fxs_nn_add(branch, NULL, "Conv2d(3, 4, 1)");
    fxs_nn_add(branch, NULL, "ReLU(True)");
    fxs_nn_add(m, "skip", "Conv2d(2, 4, 3, stride=1, padding=1)");
    return m;
}

#endif
