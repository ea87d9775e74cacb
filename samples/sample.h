/* sample.h: the command line that all samples share: they build a network, trace it, and print or
 * draw what came out.
 *   --graph    print(graph), as when nothing is said     --code     the graph as Python
 *   --modules  print(model)                              --file     the model as a file that
 * fxscope reads
 *   --table    shapes node by node, for the sample's inputs
 *   -o FILE    draw it: .svg, .png, .pdf, .dot */
#ifndef FXS_SAMPLE_H
#define FXS_SAMPLE_H

#include <stdio.h>
#include <string.h>

#include "fxops.h"
#ifdef FXS_HAVE_RENDER
#include "fxrender.h"
#endif

/* Builds the network; NULL after an error, which the context keeps. */
typedef fxs_module *sample_build(fxs_ctx *ctx);

static fxs_status sample_print(fxs_status s, char **text) {
    if (s == FXS_OK)
        fputs(*text, stdout);
    fxs_free(*text);
    return s;
}

/* Infers every node's result for inputs of these shapes (separated by blanks). */
static fxs_status sample_run(fxs_ctx *ctx, fxs_module *m, const char *inputs) {
    fxs_inputs *in = NULL;
    fxs_status s = fxs_inputs_new(ctx, &in);
    for (char spec[200]; s == FXS_OK && sscanf(inputs, "%199s", spec) == 1;) {
        inputs = strstr(inputs, spec) + strlen(spec);
        s = fxs_inputs_add(in, spec);
    }
    if (s == FXS_OK)
        s = fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL);
    fxs_inputs_free(in);
    return s;
}

static fxs_status sample_draw(fxs_ctx *ctx, fxs_module *m, const char *inputs, const char *path) {
#ifdef FXS_HAVE_RENDER
    char *notes = NULL;
    fxs_status s = sample_run(ctx, m, inputs);
    if (s == FXS_OK)
        s = fxs_draw(m, NULL, &path, 1, &notes);
    if (notes)
        fputs(notes, stderr);
    fxs_free(notes);
    return s;
#else
    (void)ctx, (void)m, (void)inputs;
    fprintf(stderr, "%s: this build has no pictures\n", path);
    return FXS_EUNKNOWN;
#endif
}

static fxs_status sample_show(fxs_ctx *ctx, fxs_module *root, fxs_module *traced,
                              const char *inputs, const char *what, const char *path) {
    char *text = NULL;
    if (strcmp(what, "--graph") == 0)
        return sample_print(fxs_graph_print(fxs_module_graph(traced), 0, &text, NULL), &text);
    if (strcmp(what, "--code") == 0)
        return sample_print(fxs_graph_python_code(fxs_module_graph(traced), 0, &text, NULL), &text);
    if (strcmp(what, "--modules") == 0)
        return sample_print(fxs_module_print(root, &text, NULL), &text);
    if (strcmp(what, "--file") == 0)
        return sample_print(fxs_module_print_file(traced, 0, &text, NULL), &text);
    if (strcmp(what, "-o") == 0 && path)
        return sample_draw(ctx, traced, inputs, path);
    if (strcmp(what, "--table") != 0) {
        fprintf(stderr, "usage: [--graph | --code | --modules | --file | --table | -o FILE]\n");
        return FXS_EINVAL;
    }
    fxs_status s = sample_run(ctx, traced, inputs);
    return s == FXS_OK
               ? sample_print(fxs_module_print_table(traced, FXS_TABLE_TEXT, &text, NULL), &text)
               : s;
}

static int sample_main(int argc, char **argv, sample_build *build, const char *inputs) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *traced = NULL;
    if (!ctx)
        return 1;
    fxs_module *root = build(ctx);
    fxs_status s = fxs_trace(ctx, root, NULL, &traced);
    if (s == FXS_OK)
        s = sample_show(ctx, root, traced, inputs, argc > 1 ? argv[1] : "--graph",
                        argc > 2 ? argv[2] : NULL);
    if (*fxs_ctx_error(ctx))
        fprintf(stderr, "%s: %s\n", argv[0], fxs_ctx_error(ctx));
    fxs_module_unref(traced);
    fxs_module_unref(root);
    fxs_ctx_free(ctx);
    return s == FXS_OK ? 0 : 1;
}

#endif
