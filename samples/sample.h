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

static const fxs_run_options sample_meta = {.mode = FXS_RUN_META};

static fxs_status sample_draw(fxs_module *m, const char *inputs, const char *path) {
#ifdef FXS_HAVE_RENDER
    char *notes = NULL;
    fxs_status s = fxs_run_text(m, inputs, &sample_meta, NULL);
    if (s == FXS_OK)
        s = fxs_draw(m, NULL, &path, 1, &notes);
    if (notes)
        fputs(notes, stderr);
    fxs_free(notes);
    return s;
#else
    (void)m, (void)inputs;
    fprintf(stderr, "%s: this build has no pictures\n", path);
    return FXS_EUNKNOWN;
#endif
}

static fxs_status sample_show(fxs_module *root, fxs_module *traced, const char *inputs,
                              const char *what, const char *path) {
    if (strcmp(what, "--graph") == 0)
        return fxs_module_write(traced, "graph", stdout);
    if (strcmp(what, "--code") == 0)
        return fxs_module_write(traced, "code", stdout);
    if (strcmp(what, "--modules") == 0)
        return fxs_module_write(root, "modules", stdout);
    if (strcmp(what, "--file") == 0)
        return fxs_module_write(traced, "file", stdout);
    if (strcmp(what, "-o") == 0 && path)
        return sample_draw(traced, inputs, path);
    if (strcmp(what, "--table") != 0) {
        fprintf(stderr, "usage: [--graph | --code | --modules | --file | --table | -o FILE]\n");
        return FXS_EINVAL;
    }
    fxs_status s = fxs_run_text(traced, inputs, &sample_meta, NULL);
    return s ? s : fxs_module_write(traced, "table", stdout);
}

static int sample_main(int argc, char **argv, sample_build *build, const char *inputs) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *traced = NULL;
    if (!ctx)
        return 1;
    fxs_module *root = build(ctx);
    fxs_status s = fxs_trace(ctx, root, NULL, &traced);
    if (s == FXS_OK)
        s = sample_show(root, traced, inputs, argc > 1 ? argv[1] : "--graph",
                        argc > 2 ? argv[2] : NULL);
    if (*fxs_ctx_error(ctx))
        fprintf(stderr, "%s: %s\n", argv[0], fxs_ctx_error(ctx));
    fxs_module_unref(traced);
    fxs_module_unref(root);
    fxs_ctx_free(ctx);
    return s == FXS_OK ? 0 : 1;
}

#endif
