/* cmd_run.c: `fxscope run`: runs a Python script whose torch is ours. */
#include "python.h"

static const cli_option options[] = {
    CLI_PATH_ROW,
    CLI_ISOLATED_ROW,
    {"guard", 0, NULL, "refuse the network, other programs, and writing of files", CLI_FLAG,
     CLI_AT(guard)},
    CLI_ALLOW_ROW,
    CLI_LIMIT_ROWS,
    CLI_TRACEBACK_ROW,
    CLI_HELP_ROW,
    {0},
};

static cli_exit run_script(const cli_settings *s) {
    const fxs_python_plugin *python = cli_python_open();
    fxs_ctx *ctx = python ? fxs_ctx_new() : NULL;
    fxs_python_options o = cli_python_options(s, 0);
    if (!python)
        return CLI_FAILURE;
    if (!ctx)
        return cli_no_memory();
    fxs_ctx_set_threads(ctx, 0);
    cli_exit e = cli_limits_begin(&cli_run, s, false);
    if (e != CLI_OK) {
        fxs_ctx_free(ctx);
        return e;
    }
    int status = python->run(ctx, (int)s->operands.len, (char **)s->operands.items, &o);
    fxs_ctx_free(ctx);
    return (cli_exit)status;
}

const cli_command cli_run = {
    .name = "run",
    .usage = "[OPTION]... SCRIPT [ARGUMENT]...",
    .summary = "run a Python script with fxscope's torch, without PyTorch",
    .details = "Runs the script as python3 would, but 'import torch' finds fxscope's own modules: "
               "torch.nn, torch.fx and the functions that models use, computed on the processor. "
               "Neither PyTorch nor python3 has to be installed, only Python's standard library. "
               "Options before the script are fxscope's, those behind it are its own. The exit "
               "status is the script's.\n"
               "A script is a program: it is run with your rights. Do not run what you do not "
               "trust.",
    .example = "fxscope run probe.py\nfxscope run --path src train.py --epochs 0",
    .options = options,
    .operand = CLI_SCRIPT_FILE,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run_script,
};
