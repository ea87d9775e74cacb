/* cmd_table.c: `fxscope table`: runs a model and prints, node by node, what was recorded. */
#include "python.h"
#include "session.h"

static const char *const formats[] = {
#define X(name, text) text,
    FXS_TABLE_MAP(X)
#undef X
        NULL};

static const cli_option options[] = {
    CLI_INPUT_ROW,
    {"output", 'o', "FILE", "file to write; '-' is standard output (default: -)", CLI_TEXT,
     CLI_AT(output)},
    {"format", 0, "FORMAT", "format of the table (default: text)", CLI_INDEX, CLI_AT(table_format),
     formats},
    CLI_META_ROW,
    {"stats", 0, NULL, "record least, greatest and mean value, zeros, NaN and Inf of every result",
     CLI_FLAG, CLI_AT(stats)},
    CLI_OUTLINE_ROWS,
    CLI_WEIGHTS_ROW,
    CLI_TRAIN_ROW,
    CLI_SEED_ROW,
    CLI_THREADS_ROW,
    CLI_PYTHON_ROWS,
    CLI_HELP_ROW,
    {0},
};

static cli_exit run_and_print(cli_session *w, const cli_settings *s) {
    char *text = NULL;
    size_t len = 0;
    cli_exit e = cli_session_run(w, s, s->meta ? FXS_RUN_META : FXS_RUN_EXECUTE, s->stats);
    if (e != CLI_OK)
        return e;
    cli_exit findings = cli_report(w);
    e = cli_session_outline(w, s, false);
    if (e != CLI_OK)
        return e;
    cli_doing("writing the table");
    if (fxs_module_print_table(w->model, (fxs_table_format)s->table_format, &text, &len) != FXS_OK)
        return cli_session_fail(w);
    e = cli_write(w->ctx, s->output, text, len);
    fxs_free(text);
    return e != CLI_OK ? e : findings;
}

static cli_exit run_table(const cli_settings *s) {
    cli_session w = {0};
    if (s->meta && s->stats)
        return cli_usage_error("table", "with --meta there are no values for --stats");
    cli_exit e = cli_session_open(&w, &cli_table, s);
    if (e == CLI_OK)
        e = run_and_print(&w, s);
    cli_session_close(&w);
    return e;
}

const cli_command cli_table = {
    .name = "table",
    .usage = "MODEL [-i SPEC]... [--format FORMAT] [-o FILE]",
    .summary = "run a model, and print a table of what every node computes",
    .details = "Runs the model node by node on the inputs given, and prints for each node its "
               "result's dtype and shape, "
               "parameters, floating point operations, bytes moved and time.",
    .example = "fxscope table resnet18.fx -i 1x3x224x224\n"
               "fxscope table resnet18.fx -i 1x3x224x224 --format json -o resnet18.json",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_table,
};
