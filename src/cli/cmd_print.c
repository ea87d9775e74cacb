/* cmd_print.c: `fxscope print`: a model's graph or modules as PyTorch prints them. Runs nothing. */
#include "session.h"

typedef enum form { FORM_GRAPH, FORM_TABULAR, FORM_MODULES, FORM_FILE } form;

static const char *const forms[] = {"graph", "tabular", "modules", "file", NULL}; /* in the order of form */

static const cli_option options[] = {
    {"format", 0, "FORM",
     "what to print: print(graph), graph.print_tabular(), print(model), or all of it as a file that fxscope reads "
     "(default: graph)",
     CLI_INDEX, CLI_AT(print_format), forms},
    {"torch2", 0, NULL, "write num_users as PyTorch 2 does; without, #users", CLI_FLAG, CLI_AT(torch2)},
    CLI_HELP_ROW,
    {0},
};

static fxs_status print(const cli_session *w, form as, unsigned flags, char **text, size_t *len) {
    switch (as) {
    case FORM_GRAPH:
        return fxs_graph_print(fxs_module_graph(w->model), flags, text, len);
    case FORM_TABULAR:
        return fxs_graph_print_tabular(fxs_module_graph(w->model), text, len);
    case FORM_MODULES:
        return fxs_module_print(w->model, text, len);
    case FORM_FILE:
        return fxs_module_print_file(w->model, flags, text, len);
    }
    return FXS_EINVAL; /* the parser gives no other */
}

static cli_exit run_print(const cli_settings *s) {
    cli_session w = {0};
    char *text = NULL;
    size_t len = 0;
    cli_exit e = cli_session_open(&w, &cli_print, s);
    if (e == CLI_OK && print(&w, (form)s->print_format, s->torch2 ? FXS_PRINT_TORCH2 : 0, &text, &len) != FXS_OK)
        e = cli_session_fail(&w);
    if (e == CLI_OK)
        cli_out_bytes(text, len);
    fxs_free(text);
    cli_session_close(&w);
    return e;
}

const cli_command cli_print = {
    .name = "print",
    .usage = "MODEL [--format FORM]",
    .summary = "print a model's graph or modules as PyTorch prints them",
    .details = "Prints to standard output, byte for byte what Python's print gives. The form 'file' holds the module "
               "tree, the parameters that no layer implies, and the graph, and reads back as the same model.",
    .example = "fxscope print resnet18.fx --format tabular\n"
               "fxscope print dump.txt --format file > model.fx",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_print,
};
