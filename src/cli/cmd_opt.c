/* cmd_opt.c: `fxscope opt`: runs passes over a model's graph, one after the other, and writes the
 * model. */
#include <string.h>

#include "session.h"

static const char *const passes[] = {
#define X(id, name, text) name,
    FXS_PASS_MAP(X)
#undef X
        NULL};

static const cli_option options[] = {
    {"pass", 'p', "NAME", "pass to run; may be repeated", CLI_LIST, CLI_AT(passes), passes},
    {"dump-after", 0, "NAME",
     "print the graph to standard output after that pass, and the model only where --output says; "
     "may be repeated",
     CLI_LIST, CLI_AT(dump_after), passes},
    CLI_INPUT_ROW,
    {"output", 'o', "FILE", "file to write; '-' is standard output (default: -)", CLI_TEXT,
     CLI_AT(output)},
    CLI_SAVE_WEIGHTS_ROW,
    CLI_WEIGHTS_ROW,
    CLI_SEED_ROW,
    CLI_HELP_ROW,
    {0},
};

static bool is_in(const cli_list *list, const char *name) {
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

static cli_exit dump(cli_session *w) {
    char *text;
    size_t len;
    if (fxs_graph_print(fxs_module_graph(w->model), 0, &text, &len) != FXS_OK)
        return cli_session_fail(w);
    cli_out_bytes(text, len);
    fxs_free(text);
    return CLI_OK;
}

static cli_exit run_passes(cli_session *w, const cli_settings *s) {
    cli_exit e = CLI_OK;
    for (size_t i = 0; i < s->passes.len && e == CLI_OK; i++) {
        const char *name = s->passes.items[i];
        size_t before = fxs_graph_len(fxs_module_graph(w->model));
        bool changed;
        if (fxs_pass_run(w->model, name, &changed) != FXS_OK)
            return cli_session_fail(w);
        if (changed)
            cli_note("%s: %zu nodes became %zu", name, before,
                     fxs_graph_len(fxs_module_graph(w->model)));
        else
            cli_note("%s: there was nothing to do", name);
        if (is_in(&s->dump_after, name))
            e = dump(w);
    }
    return e;
}

static cli_exit write_model(cli_session *w, const cli_settings *s) {
    if (s->dump_after.len && !s->output)
        return cli_session_save(w, s);
    return cli_session_write(w, s);
}

static cli_exit check(cli_session *w, const cli_settings *s) {
    if (!s->inputs.len)
        return CLI_OK;
    cli_exit e = cli_session_run(w, s, FXS_RUN_META, false);
    return e == CLI_OK ? cli_report(w) : e;
}

static cli_exit run_opt(const cli_settings *s) {
    cli_session w = {0};
    if (!s->passes.len)
        return cli_usage_error("opt", "no pass is given: --pass NAME");
    cli_exit e = cli_session_open(&w, &cli_opt, s);
    if (e == CLI_OK)
        e = run_passes(&w, s);
    if (e == CLI_OK)
        e = write_model(&w, s);
    if (e == CLI_OK)
        e = check(&w, s);
    cli_session_close(&w);
    return e;
}

const cli_command cli_opt = {
    .name = "opt",
    .usage = "MODEL --pass NAME... [-i SPEC]... [-o FILE]",
    .summary = "run passes over a model's graph",
    .details = "Passes are run in the order given, and the graph is checked after each. The model "
               "is written as one "
               "file that fxscope reads. With inputs the result is then run for its shapes, and "
               "what fails is told.\n"
#define X(id, name, text) "Pass " name ": " text ".\n"
    FXS_PASS_MAP(X)
#undef X
        "A model file declares tensors, and does not hold their values: what constant-fold and "
        "fuse-conv-bn computed is lost with the end of the command, unless --save-weights writes "
        "it.",
    .example = "fxscope opt model.fx --pass cse --pass dead-code -o smaller.fx\n"
               "fxscope opt resnet18.fx --pass fuse-conv-bn -i 1x3x224x224 -o fused.fx "
               "--save-weights fused.safetensors",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_opt,
};
