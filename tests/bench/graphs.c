/* graphs.c: what editing large graphs costs: builds, lints, copies, prints, cleans and rewrites
 * graphs of 10,000, 100,000 and 1,000,000 nodes, and prints microseconds of processor time a node
 * for each step. Run by `./dev bench --graphs`; links the public library. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fxscope.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* what other programs do counts less */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(fxs_ctx *ctx, fxs_status s) {
    if (s == FXS_OK)
        return;
    fprintf(stderr, "graphs: %s\n", fxs_ctx_error(ctx));
    exit(1);
}

/* A chain in which every node also uses the input (a hub), and every third node's value is used by
 * nobody else. */
static fxs_graph *build(fxs_ctx *ctx, size_t n) {
    fxs_graph *g;
    fxs_node *x, *last, *node;
    must(ctx, fxs_graph_new(ctx, &g));
    must(ctx, fxs_graph_placeholder(g, "x", NULL, &x));
    fxs_value pair[2];
    last = x;
    fxs_value args;
    must(ctx, fxs_value_tuple(ctx, 2, (fxs_value[]){fxs_of_node(x), fxs_of_node(x)}, &args));
    for (size_t i = 0; i < n; i++) {
        pair[0] = fxs_of_node(last);
        pair[1] = fxs_of_node(x);
        fxs_value_unref(&args);
        must(ctx, fxs_value_tuple(ctx, 2, pair, &args));
        must(ctx, fxs_graph_call_function(g, "torch.add", &args, NULL, &node));
        if (i % 3)
            last = node;
    }
    fxs_value_unref(&args);
    fxs_value v = fxs_of_node(last);
    must(ctx, fxs_graph_output(g, &v, &node));
    return g;
}

/* A graph of one call with two parameters, as pattern or replacement. */
static fxs_graph *call_of(fxs_ctx *ctx, const char *target) {
    fxs_graph *g;
    fxs_node *a, *b, *call;
    fxs_value args;
    must(ctx, fxs_graph_new(ctx, &g));
    must(ctx, fxs_graph_placeholder(g, "a", NULL, &a));
    must(ctx, fxs_graph_placeholder(g, "b", NULL, &b));
    must(ctx, fxs_value_tuple(ctx, 2, (fxs_value[]){fxs_of_node(a), fxs_of_node(b)}, &args));
    must(ctx, fxs_graph_call_function(g, target, &args, NULL, &call));
    fxs_value_unref(&args);
    fxs_value v = fxs_of_node(call);
    must(ctx, fxs_graph_output(g, &v, &call));
    return g;
}

static void measure(size_t n) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_graph *copy, *pattern = call_of(ctx, "torch.add"), *replacement = call_of(ctx, "torch.sub");
    fxs_module *m;
    char *text;
    size_t erased, replaced;
    double t[9];
    t[0] = now();
    fxs_graph *g = build(ctx, n);
    t[1] = now();
    must(ctx, fxs_graph_lint(g));
    t[2] = now();
    must(ctx, fxs_graph_deep_copy(g, &copy));
    t[3] = now();
    must(ctx, fxs_graph_print(g, 0, &text, NULL));
    t[4] = now();
    must(ctx, fxs_graph_eliminate_dead_code(g, &erased));
    t[5] = now();
    must(ctx, fxs_module_new(ctx, "Module", NULL, NULL, &m));
    fxs_module_set_graph(m, g);
    must(ctx, fxs_pass_run(m, "cse", NULL));
    t[6] = now();
    must(ctx, fxs_replace_pattern(m, pattern, replacement, NULL, NULL, NULL, &replaced));
    t[7] = now();
    fxs_graph_free(copy);
    fxs_module_unref(m);
    t[8] = now();
    printf("%9zu", n);
    for (int i = 0; i < 8; i++)
        printf("  %8.3f", (t[i + 1] - t[i]) * 1e6 / (double)n);
    printf("  (%zu erased, %zu replaced)\n", erased, replaced);
    fxs_graph_free(pattern);
    fxs_graph_free(replacement);
    fxs_free(text);
    fxs_ctx_free(ctx);
}

int main(void) {
    printf("microseconds a node\n    nodes     build      lint      copy     print      dead       "
           "cse   replace      "
           "free\n");
    measure(10000);
    measure(100000);
    measure(1000000);
    return 0;
}
