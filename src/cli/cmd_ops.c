/* cmd_ops.c: `fxscope ops`: the operators and layers that fxscope can compute. */
#include "say.h"

static const cli_option options[] = {
    {"coverage", 0, "FILE",
     "tell which names of a list can be computed: PyTorch's names, one a line or in a JSON list",
     CLI_TEXT, CLI_AT(coverage)},
    CLI_HELP_ROW,
    {0}};

static cli_exit run_ops(const cli_settings *s) {
    const char *filter = s->operands.len ? s->operands.items[0] : NULL;
    char *text = NULL;
    size_t len = 0;
    cli_exit e = CLI_OK;
    if (filter && s->coverage)
        return cli_usage_error("ops",
                               "'%s' picks operators of the list, which --coverage does not "
                               "print: give one of them",
                               filter);
    fxs_ctx *ctx = fxs_ctx_new();
    if (!ctx)
        return cli_no_memory();
    if ((s->coverage ? fxs_print_coverage(ctx, s->coverage, &text, &len)
                     : fxs_print_ops(ctx, filter, &text, &len)) != FXS_OK) {
        cli_error("%s", fxs_ctx_error(ctx));
        e = CLI_FAILURE;
    } else {
        cli_out_bytes(text, len);
    }
    fxs_free(text);
    fxs_ctx_free(ctx);
    return e;
}

const cli_command cli_ops = {
    .name = "ops",
    .usage = "[FILTER | --coverage FILE]",
    .summary = "list the operators and layers that can be computed",
    .details = "Prints each operator's name, the types that some tensor argument may have (float: "
               "float32 and float64, half: float16 and bfloat16; -: it has none, or takes "
               "any object), the modes that it runs in (EXECUTE alone: "
               "sizes depend on values), its schema, and the names under which a graph may call "
               "it; then the layer classes. With FILTER, only lines that contain it.",
    .example = "fxscope ops conv2d",
    .options = options,
    .operand = CLI_ANY_TEXT,
    .min_operands = 0,
    .max_operands = 1,
    .run = run_ops,
};
