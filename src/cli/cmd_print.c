/* cmd_print.c: `fxscope print`: a model's graph, modules or code as PyTorch prints them. Computes
 * nothing but, with
 * --verbose, shapes. */
#include "python.h"
#include "session.h"

typedef enum form {
    FORM_GRAPH,
    FORM_TABULAR,
    FORM_MODULES,
    FORM_FILE,
    FORM_CODE,
    FORM_PYTHON
} form;

static const char *const forms[] = {"graph", "tabular", "modules", "file",
                                    "code",  "python",  NULL}; /* in the order of form */

static const cli_option options[] = {
    {"format", 0, "FORM",
     "what to print: print(graph), graph.print_tabular(), print(model), all of it as a file that "
     "fxscope reads, "
     "GraphModule.code, or a Python file that runs with PyTorch (default: graph)",
     CLI_INDEX, CLI_AT(print_format), forms},
    {"torch2", 0, NULL,
     "write num_users as PyTorch 2 does, not #users; in code, free values that nobody uses",
     CLI_FLAG, CLI_AT(torch2)},
    {"verbose", 0, NULL,
     "in code, as print_readable() does: the class, where each statement was traced, and the shape "
     "of its result",
     CLI_FLAG, CLI_AT(verbose)},
    CLI_INPUT_ROW,
    CLI_PYTHON_ROWS,
    CLI_HELP_ROW,
    {0},
};

static fxs_status print(const cli_session *w, const cli_settings *s, char **text, size_t *len) {
    unsigned flags = s->torch2 ? FXS_PRINT_TORCH2 : 0;
    unsigned code =
        (s->torch2 ? FXS_CODE_TORCH2 : 0) | (s->verbose ? FXS_CODE_VERBOSE | FXS_CODE_SHAPES : 0);
    switch ((form)s->print_format) {
    case FORM_GRAPH:
        return fxs_graph_print(fxs_module_graph(w->model), flags, text, len);
    case FORM_TABULAR:
        return fxs_graph_print_tabular(fxs_module_graph(w->model), text, len);
    case FORM_MODULES:
        return fxs_module_print(w->model, text, len);
    case FORM_FILE:
        return fxs_module_print_file(w->model, flags, text, len);
    case FORM_CODE:
        return s->verbose ? fxs_module_print_readable(w->model, code, text, len)
                          : fxs_graph_python_code(fxs_module_graph(w->model), code, text, len);
    case FORM_PYTHON:
        return fxs_module_python_file(w->model, code, text, len);
    }
    return FXS_EINVAL; /* the parser gives no other */
}

/* Python's print(gm.code) ends the line; the code itself ends in the blanks of its last one. */
static void put_text(const cli_settings *s, const char *text, size_t len) {
    cli_out_bytes(text, len);
    if (s->print_format == FORM_CODE)
        cli_out_bytes("\n", 1);
}

static cli_exit run_print(const cli_settings *s) {
    cli_session w = {0};
    char *text = NULL;
    size_t len = 0;
    bool code = s->print_format == FORM_CODE || s->print_format == FORM_PYTHON;
    bool traced = cli_is_python(s->operands.items[0]); /* tracing may look at the inputs */
    if (!code && (s->verbose || (s->inputs.len && !traced)))
        return cli_usage_error("print", "%s goes with --format code or python",
                               s->verbose ? "--verbose" : "an input");
    if (s->inputs.len && !s->verbose && !traced)
        return cli_usage_error("print", "inputs go with --verbose, which computes shapes, or with "
                                        "a Python file");
    cli_exit e = cli_session_open(&w, &cli_print, s), findings = CLI_OK;
    if (e == CLI_OK && s->verbose) {
        e = cli_session_run(&w, s, FXS_RUN_META, false);
        findings = e == CLI_OK ? cli_report(&w) : e;
    }
    if (e == CLI_OK && print(&w, s, &text, &len) != FXS_OK)
        e = cli_session_fail(&w);
    if (e == CLI_OK)
        put_text(s, text, len);
    fxs_free(text);
    cli_session_close(&w);
    return e == CLI_OK ? findings : e;
}

const cli_command cli_print = {
    .name = "print",
    .usage = "MODEL [--format FORM]",
    .summary = "print a model's graph, modules or code as PyTorch prints them",
    .details = "Prints to standard output, byte for byte what Python's print gives. The form "
               "'file' holds the module "
               "tree, the parameters that no layer implies, and the graph, and reads back as the "
               "same model. The form "
               "'code' is forward as Python source; 'python' is a whole file with a class that "
               "builds the layers, too.",
    .example = "fxscope print resnet18.fx --format tabular\n"
               "fxscope print dump.txt --format file > model.fx\n"
               "fxscope print resnet18.fx --format code --verbose -i 1x3x224x224",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_print,
};
