/* cmd_check.c: `fxscope check`: is the graph well-formed, and do the shapes fit? One line an issue.
 */
#include "python.h"
#include "session.h"

static const cli_option options[] = {
    CLI_INPUT_ROW,  CLI_WEIGHTS_ROW, CLI_TRAIN_ROW, CLI_THREADS_ROW,
    CLI_LIMIT_ROWS, CLI_HELP_ROW,    {0},
};

static cli_exit lint(cli_session *w) {
    fxs_status status = fxs_graph_lint(fxs_module_graph(w->model));
    if (status == FXS_OK)
        return CLI_OK;
    cli_error("%s: %s", w->path, fxs_ctx_error(w->ctx));
    fxs_ctx_clear(w->ctx);
    return status == FXS_ENOMEM ? CLI_FAILURE : CLI_FINDINGS;
}

/* Of Python source: the names of torch that it uses. */
static cli_exit check_python(const cli_settings *s) {
    const fxs_python_plugin *python = cli_python_open();
    fxs_ctx *ctx = python ? fxs_ctx_new() : NULL;
    fxs_python_options o = cli_python_options(s, 0);
    char *text = NULL;
    if (!ctx)
        return python ? cli_no_memory() : CLI_FAILURE;
    if (cli_limits_begin(&cli_check, s, true) != CLI_OK) {
        fxs_ctx_free(ctx);
        return CLI_FAILURE;
    }
    cli_doing("reading the file");
    int bad = python->check(ctx, s->operands.items[0], &o, &text);
    if (text)
        cli_out("%s", text);
    fxs_free(text);
    fxs_ctx_free(ctx);
    return bad < 0 ? CLI_FAILURE : bad ? CLI_FINDINGS : CLI_OK;
}

static cli_exit run_check(const cli_settings *s) {
    if (cli_is_python(s->operands.items[0]))
        return check_python(s);
    cli_session w = {0};
    cli_exit e = cli_session_open(&w, &cli_check, s), shapes;
    if (e == CLI_OK) {
        e = lint(&w);
        shapes = cli_session_run(&w, s, FXS_RUN_META, false);
        if (shapes == CLI_OK)
            shapes = cli_report_lines(&w);
        if (shapes != CLI_OK)
            e = shapes;
    }
    cli_session_close(&w);
    return e;
}

const cli_command cli_check = {
    .name = "check",
    .usage = "MODEL [-i SPEC]...",
    .summary = "check that a graph is well-formed and its shapes fit",
    .details =
        "Computes shapes only. Prints one line on standard error for each issue: a name "
        "that is used twice or "
        "before its definition, a target that is not there, an operator that is not known, "
        "an input that is "
        "missing, a node that refuses its arguments. Silent when all is well.\n"
        "Of a Python file it says which names of PyTorch it uses that fxscope does not have, "
        "with their lines; the file is not run.",
    .example = "fxscope check model.fx -i 1x3x224x224 && echo fine",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_check,
};
