/* cmd_rewrite.c: `fxscope rewrite`: replaces a pattern in a model's graph, and writes the model.
 * Runs nothing. */
#include "limit.h"
#include "session.h"

static const cli_option options[] = {
    {"pattern", 'p', "FILE", "graph to look for", CLI_TEXT, CLI_AT(pattern)},
    {"replacement", 'r', "FILE", "graph to put in its place", CLI_TEXT, CLI_AT(replacement)},
    {"output", 'o', "FILE", "file to write; '-' is standard output (default: -)", CLI_TEXT,
     CLI_AT(output)},
    CLI_SAVE_WEIGHTS_ROW,
    CLI_WEIGHTS_ROW,
    CLI_LIMIT_ROWS,
    CLI_HELP_ROW,
    {0},
};

static cli_exit read_graph(cli_session *w, const char *path, fxs_module **out) {
    if (fxs_load(w->ctx, path, NULL, out) != FXS_OK)
        return cli_session_fail(w);
    if (fxs_module_graph(*out))
        return CLI_OK;
    cli_error("%s: there is no graph in it", path);
    return CLI_FAILURE;
}

static cli_exit replace(cli_session *w, const fxs_module *pattern, const fxs_module *replacement) {
    size_t count;
    cli_doing("replacing the pattern");
    if (fxs_replace_pattern(w->model, fxs_module_graph(pattern), fxs_module_graph(replacement),
                            replacement, NULL, NULL, &count) != FXS_OK)
        return cli_session_fail(w);
    if (count)
        cli_note("%zu match%s of the pattern replaced", count, count == 1 ? "" : "es");
    else
        cli_note("nothing matches the pattern");
    return CLI_OK;
}

static cli_exit run_rewrite(const cli_settings *s) {
    cli_session w = {0};
    fxs_module *pattern = NULL, *replacement = NULL;
    if (!s->pattern || !s->replacement)
        return cli_usage_error("rewrite", "option --%s is missing",
                               s->pattern ? "replacement" : "pattern");
    cli_exit e = cli_session_open(&w, &cli_rewrite, s);
    if (e == CLI_OK)
        e = read_graph(&w, s->pattern, &pattern);
    if (e == CLI_OK)
        e = read_graph(&w, s->replacement, &replacement);
    if (e == CLI_OK)
        e = replace(&w, pattern, replacement);
    if (e == CLI_OK)
        e = cli_session_write(&w, s);
    fxs_module_unref(pattern);
    fxs_module_unref(replacement);
    cli_session_close(&w);
    return e;
}

const cli_command cli_rewrite = {
    .name = "rewrite",
    .usage = "MODEL --pattern FILE --replacement FILE [-o FILE]",
    .summary = "replace a pattern in a model's graph by another",
    .details =
        "Finds every place where the pattern's calls stand, and puts a copy of the replacement "
        "there, as "
        "torch.fx's replace_pattern does. Pattern and replacement are files with a graph, as "
        "models are. Their "
        "placeholders belong together in order, and stand for any value; their outputs too. The "
        "pattern's call_module[target=class:Conv*] stands for any layer of such a class.\n"
        "Layers and parameters that the replacement needs and the model lacks come from the "
        "replacement's module "
        "tree; layers that nobody needs any more go. The model is written as one file that fxscope "
        "reads.",
    .example = "fxscope rewrite model.fx --pattern relu.fx --replacement gelu.fx -o new.fx",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_rewrite,
};
