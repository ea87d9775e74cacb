/* cmd_check.c: `fxscope check`: is the graph well-formed, and do the shapes fit? One line an issue.
 */
#include "session.h"

static const cli_option options[] = {
    CLI_INPUT_ROW, CLI_WEIGHTS_ROW, CLI_TRAIN_ROW, CLI_THREADS_ROW, CLI_HELP_ROW, {0},
};

static cli_exit lint(cli_session *w) {
    fxs_status status = fxs_graph_lint(fxs_module_graph(w->model));
    if (status == FXS_OK)
        return CLI_OK;
    cli_error("%s: %s", w->path, fxs_ctx_error(w->ctx));
    fxs_ctx_clear(w->ctx);
    return status == FXS_ENOMEM ? CLI_FAILURE : CLI_FINDINGS;
}

static cli_exit run_check(const cli_settings *s) {
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
    .details = "Computes shapes only. Prints one line on standard error for each issue: a name "
               "that is used twice or "
               "before its definition, a target that is not there, an operator that is not known, "
               "an input that is "
               "missing, a node that refuses its arguments. Silent when all is well.",
    .example = "fxscope check model.fx -i 1x3x224x224 && echo fine",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_check,
};
