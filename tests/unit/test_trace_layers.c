/* test_trace_layers.c: every layer, built from a line of text as PyTorch's constructor takes it:
 * what print(model) shows, parameters and buffers, and the graph that a trace of the layer itself
 * gives, as tests/golden/trace/layers.txt has them from torch 1.13 (layers.py there). With an
 * argument, the program prints what it has in place of testing, in the form of that file. */
#include "tracing.h"
#include "unit.h"

static fxs_status put_state(void *user, const char *path, fxs_module *m, bool buffers) {
    fxs_buf *b = user;
    for (size_t i = 0; i < m->nattributes; i++) {
        const fxs_parameter *p = m->attributes[i].param;
        if (p->is_buffer != buffers)
            continue;
        fxs_buf_printf(b, "%s %s%s%s: torch.%s[", buffers ? "buffer" : "parameter", path,
                       *path ? "." : "", m->attributes[i].name, fxs_dtype_name(p->spec->dtype));
        for (int d = 0; d < p->spec->ndim; d++)
            fxs_buf_printf(b, "%s%lld", d ? ", " : "", (long long)p->spec->sizes[d]);
        fxs_buf_puts(b, "]\n");
    }
    return FXS_OK;
}

static fxs_status put_parameters(void *user, const char *path, fxs_module *m) {
    return put_state(user, path, m, false);
}

static fxs_status put_buffers(void *user, const char *path, fxs_module *m) {
    return put_state(user, path, m, true);
}

/* What the file has behind "=== LINE". */
static void describe(fxs_ctx *ctx, const char *line, fxs_buf *b) {
    fxs_module *m = fxs_nn(ctx, "%s", line), *traced = NULL;
    char *text = NULL;
    if (!m) {
        fxs_buf_printf(b, "not built: %s\n", fxs_ctx_error(ctx));
        fxs_ctx_clear(ctx);
        return;
    }
    assert_ok(ctx, fxs_module_print(m, &text, NULL));
    fxs_buf_puts(b, text);
    fxs_free(text);
    fxs_buf_puts(b, "--- state\n");
    assert_ok(ctx, fxs_module_walk(m, put_parameters, b));
    assert_ok(ctx, fxs_module_walk(m, put_buffers, b));
    fxs_buf_puts(b, "--- graph\n");
    if (fxs_trace(ctx, m, NULL, &traced) == FXS_OK) {
        assert_ok(ctx, fxs_graph_print(traced->graph, 0, &text, NULL));
        fxs_buf_puts(b, text);
        fxs_free(text);
    } else {
        fxs_buf_printf(b, "not traced: %s\n", fxs_ctx_error(ctx));
        fxs_ctx_clear(ctx);
    }
    fxs_module_unref(traced);
    fxs_module_unref(m);
}

/* Calls fn for each "=== LINE" of the file, with what stands behind it up to the next. */
static void for_each_layer(fxs_ctx *ctx, void (*fn)(fxs_ctx *, const char *, const char *)) {
    char *all = read_test_file("golden/trace/layers.txt", NULL);
    for (char *at = all; at && *at;) {
        char *line = at + 4, *end = strchr(line, '\n'), *next = strstr(end, "\n=== ");
        *end = '\0';
        if (next)
            next[1] = '\0';
        fn(ctx, line, end + 1);
        if (next)
            next[1] = '=';
        at = next ? next + 1 : NULL;
    }
    fxs_free(all);
}

static void print_layer(fxs_ctx *ctx, const char *line, const char *want) {
    fxs_buf b = {0};
    (void)want;
    describe(ctx, line, &b);
    printf("=== %s\n%s", line, b.data);
    fxs_buf_free(&b);
}

/* What torch.fx can't trace, because forward looks at its input, may be a graph here. */
static void check_layer(fxs_ctx *ctx, const char *line, const char *want) {
    fxs_buf b = {0};
    const char *untraced = strstr(want, "--- graph\nnot traced: ");
    size_t n = untraced ? (size_t)(untraced - want) + 10 : strlen(want);
    describe(ctx, line, &b);
    if (strncmp(b.data, want, n) != 0 || (!untraced && b.len != n))
        fprintf(stderr, "%s:\nhave %s\nwant %s", line, b.data, want);
    assert_int_equal(strncmp(b.data, want, n), 0);
    assert_true(untraced || b.len == n);
    fxs_buf_free(&b);
}

static void test_layers(void **state) { for_each_layer(*state, check_layer); }

static void put_file_and_state(fxs_module *m, fxs_buf *b) {
    char *text;
    assert_ok(m->ctx, fxs_module_print_file(m, 0, &text, NULL));
    fxs_buf_puts(b, text);
    fxs_free(text);
    assert_ok(m->ctx, fxs_module_walk(m, put_parameters, b));
    assert_ok(m->ctx, fxs_module_walk(m, put_buffers, b));
}

/* A file tells what print(model) does not: it reads back as the same layer. */
static void check_file(fxs_ctx *ctx, const char *line, const char *want) {
    fxs_buf before = {0}, after = {0};
    fxs_module *m = fxs_nn(ctx, "M"), *read;
    fxs_graph *g;
    fxs_node *x, *n;
    char *text;
    size_t len;
    (void)want;
    assert_non_null(fxs_nn_add(m, "layer", "%s", line));
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    assert_ok(ctx, fxs_graph_placeholder(g, "x", NULL, &x));
    assert_ok(ctx, fxs_graph_output(g, &(fxs_value){.tag = FXS_V_NODE, .u.node = x}, &n));
    fxs_module_set_graph(m, g);
    put_file_and_state(m, &before);
    assert_ok(ctx, fxs_module_print_file(m, 0, &text, &len));
    assert_ok(ctx, fxs_load_text(ctx, line, text, len, &read));
    put_file_and_state(read, &after);
    assert_string_equal(after.data, before.data);
    fxs_buf_free(&before);
    fxs_buf_free(&after);
    fxs_free(text);
    fxs_module_unref(read);
    fxs_module_unref(m);
}

static void test_files(void **state) { for_each_layer(*state, check_file); }

/* Each row is among them, but for layers that torch.nn 1.13 does not have
 * (torchvision's are among them), and TripletMarginWithDistanceLoss, whose distance function is a
 * layer of its own there. */
static void test_all_are_there(void **state) {
    static const char later[] = " DropPath LayerNorm2d RMSNorm StochasticDepth ZeroPad1d ZeroPad3d "
                                "CircularPad1d CircularPad2d CircularPad3d "
                                "DeformConv2d DropBlock2d DropBlock3d PSRoIAlign PSRoIPool "
                                "RoIAlign RoIPool FrozenBatchNorm2d "
                                "TripletMarginWithDistanceLoss ";
    char *text, *file = read_test_file("golden/trace/layers.txt", NULL), *save = NULL;
    int rows = 0;
    assert_ok(*state, fxs_print_ops(*state, NULL, &text, NULL));
    char *table = strstr(text, "\n\nfamily "), *column = strstr(table, " layer ") + 1;
    size_t at = (size_t)(column - table) - 2;
    for (char *line = strtok_r(column, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char name[80];
        if (strlen(line) < at || line[0] == '-' || line[0] <= '9' ||
            strncmp(line, "layer  ", 7) == 0)
            continue;
        int n = (int)strcspn(line + at, " ");
        snprintf(name, sizeof name, "\n=== %.*s(", n, line + at);
        bool first = strncmp(file, name + 1, strlen(name) - 1) == 0;
        snprintf(name, sizeof name, first ? "\n=== " : "\n=== %.*s(", n, line + at);
        if (!strstr(file, name)) {
            snprintf(name, sizeof name, " %.*s ", n, line + at);
            if (!strstr(later, name))
                fprintf(stderr, "layers.txt lacks%s\n", name);
            assert_non_null(strstr(later, name));
        }
        rows++;
    }
    assert_true(rows >= 128);
    fxs_free(text);
    fxs_free(file);
}

/* In training, which modules begin in, and in eval. */
static void test_training(void **state) {
    fxs_ctx *ctx = *state;
    for (int eval = 0; eval < 2; eval++) {
        char *text;
        fxs_module *m = fxs_nn(ctx, "Dropout(0.2)");
        fxs_nn_train(m, !eval);
        m = trace_module(ctx, m, NULL);
        assert_ok(ctx, fxs_graph_print(m->graph, 0, &text, NULL));
        assert_non_null(strstr(text, eval ? "training: False" : "training: True"));
        fxs_free(text);
        fxs_module_unref(m);
    }
    fxs_module *m = fxs_nn(ctx, "InstanceNorm2d(3)"); /* has no running statistics to use */
    fxs_nn_train(m, false);
    m = trace_module(ctx, m, NULL);
    char *text;
    assert_ok(ctx, fxs_graph_print(m->graph, 0, &text, NULL));
    assert_non_null(strstr(text, "use_input_stats: True"));
    fxs_free(text);
    fxs_module_unref(m);
}

static fxs_proxy cell_forward(fxs_proxy self, const fxs_proxy *x) {
    return fxs_call(self, "cell", x[0]);
}

/* The layer's own words decide what it computes. */
static void test_relu_cell(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = fxs_nn(ctx, "M");
    fxs_inputs *in;
    fxs_nn_add(m, "cell", "RNNCell(3, 50, nonlinearity='relu')");
    fxs_nn_forward(m, "x", cell_forward, NULL);
    m = trace_module(ctx, m, NULL);
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "20x3"));
    assert_ok(ctx,
              fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_EXECUTE, .stats = true}, NULL));
    const fxs_meta *meta = fxs_node_meta(m->graph->root.prev);
    assert_int_equal(meta->outcome, FXS_DONE);
    assert_true(meta->stats[0].min == 0);
    assert_true(meta->stats[0].max > 0);
    fxs_inputs_free(in);
    fxs_module_unref(m);
}

static void test_refusals(void **state) {
    static const char *const pairs[][2] = {
        {"TransformerEncoder(num_layers=2)",
         "TransformerEncoder: argument 'encoder_layer' is missing"},
        {"TransformerEncoder(TransformerEncoderLayer(8, 2), 100000)",
         "TransformerEncoder: argument 'num_layers' must be an int from 0 to 10000"},
        {"TransformerEncoder(TransformerEncoderLayer(8, 2))",
         "TransformerEncoder: argument 'num_layers' must be an int from 0 to 10000"},
        {"TransformerDecoderLayer(8, 2, dim_feed=3)",
         "TransformerDecoderLayer: there is no argument 'dim_feed'"},
    };
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_null(fxs_nn(ctx, "%s", pairs[i][0]));
        assert_string_equal(fxs_ctx_error(ctx), pairs[i][1]);
        fxs_ctx_clear(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layers, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_files, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_all_are_there, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_training, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_relu_cell, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(test_refusals, new_ctx, free_ctx),
    };
    if (!unit_argument)
        return cmocka_run_group_tests(tests, NULL, NULL);
    fxs_ctx *ctx = fxs_ctx_new();
    for_each_layer(ctx, print_layer);
    fxs_ctx_free(ctx);
    return 0;
}
