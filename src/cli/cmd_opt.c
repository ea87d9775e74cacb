/* cmd_opt.c: `fxscope opt`: runs passes over a model's graph, one after the other, and writes the
 * model. */
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "session.h"

static const char *const passes[] = {
#define X(id, name, text) name,
    FXS_PASS_MAP(X)
#undef X
        "split",
    NULL};

static const cli_option options[] = {
    {"pass", 'p', "NAME", "pass to run; may be repeated", CLI_LIST, CLI_AT(passes), passes},
    {"dump-after", 0, "NAME",
     "print the graph to standard output after that pass, and the model only where --output says; "
     "may be repeated",
     CLI_LIST, CLI_AT(dump_after), passes},
    {"split-at", 0, "NODE",
     "where pass split begins a part: a node's name, or a module's path for the first node in it; "
     "may be repeated",
     CLI_LIST, CLI_AT(split_at)},
    CLI_INPUT_ROW,
    {"output", 'o', "FILE", "file to write; '-' is standard output (default: -)", CLI_TEXT,
     CLI_AT(output)},
    CLI_SAVE_WEIGHTS_ROW,
    CLI_WEIGHTS_ROW,
    CLI_SEED_ROW,
    CLI_LIMIT_ROWS,
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

/* ---- split
 * ---------------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *module) {
    size_t n = strlen(module);
    return strncmp(path, module, n) == 0 && (path[n] == '\0' || path[n] == '.');
}

/* Whether the part begins at that node: it has the name, or comes from the module. */
static bool begins_at(const fxs_node *n, const char *at) {
    fxs_kind kind = fxs_node_kind(n);
    if (kind == FXS_PLACEHOLDER || kind == FXS_GET_ATTR || kind == FXS_OUTPUT)
        return false;
    if (strcmp(fxs_node_name(n), at) == 0 ||
        (kind == FXS_CALL_MODULE && is_below(fxs_node_target(n), at)))
        return true;
    for (const fxs_scope *s = fxs_node_scope(n); s; s = s->outer)
        if (*s->path && is_below(s->path, at))
            return true;
    return false;
}

typedef struct splitting {
    const cli_list *at;
    bool *begun; /* of each of them */
    const fxs_node *last;
    int64_t part;
} splitting;

/* Nodes come in the order of the graph, perhaps more than once each. */
static fxs_status part_of(void *user, const fxs_node *n, int64_t *part) {
    splitting *s = user;
    bool begins = false;
    for (size_t i = 0; i < s->at->len && s->last != n; i++) {
        if (s->begun[i] || !begins_at(n, s->at->items[i]))
            continue;
        s->begun[i] = true;
        begins = true;
    }
    s->part += begins;
    s->last = n;
    *part = s->part;
    return FXS_OK;
}

static cli_exit check_split(cli_session *w, const splitting *s) {
    for (size_t i = 0; i < s->at->len; i++)
        if (!s->begun[i])
            return cli_error(
                       "%s: there is no call of that name or in that module to split at: '%s'",
                       w->path, s->at->items[i]),
                   CLI_USAGE;
    return CLI_OK;
}

static cli_exit split(cli_session *w, const cli_settings *settings) {
    splitting s = {.at = &settings->split_at};
    fxs_module *parts;
    s.begun = calloc(s.at->len + 1, sizeof *s.begun);
    if (!s.begun)
        return cli_no_memory();
    fxs_status status = fxs_split_module(w->model, part_of, &s, &parts);
    cli_exit e = status == FXS_OK ? check_split(w, &s) : cli_session_fail(w);
    free(s.begun);
    if (e != CLI_OK) {
        fxs_module_unref(parts);
        return e;
    }
    cli_note("split: %zu nodes became parts 0 to %lld", fxs_graph_len(fxs_module_graph(w->model)),
             (long long)s.part);
    fxs_module_unref(w->model);
    w->model = parts;
    return CLI_OK;
}

/* ---- passes
 * --------------------------------------------------------------------------------------------- */

static cli_exit run_pass(cli_session *w, const char *name) {
    size_t before = fxs_graph_len(fxs_module_graph(w->model));
    bool changed;
    if (fxs_pass_run(w->model, name, &changed) != FXS_OK)
        return cli_session_fail(w);
    if (changed)
        cli_note("%s: %zu nodes became %zu", name, before,
                 fxs_graph_len(fxs_module_graph(w->model)));
    else
        cli_note("%s: there was nothing to do", name);
    return CLI_OK;
}

static cli_exit run_passes(cli_session *w, const cli_settings *s) {
    cli_exit e = CLI_OK;
    cli_doing("running the passes");
    for (size_t i = 0; i < s->passes.len && e == CLI_OK; i++) {
        const char *name = s->passes.items[i];
        e = strcmp(name, "split") == 0 ? split(w, s) : run_pass(w, name);
        if (e == CLI_OK && is_in(&s->dump_after, name))
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
    if (is_in(&s->passes, "split") != (s->split_at.len > 0))
        return cli_usage_error("opt", s->split_at.len ? "--split-at is for --pass split"
                                                      : "pass split needs --split-at NODE");
    for (size_t i = 0; i < s->dump_after.len; i++)
        if (!is_in(&s->passes, s->dump_after.items[i]))
            return cli_usage_error("opt", "--dump-after %s: that pass is not run: add --pass %s",
                                   s->dump_after.items[i], s->dump_after.items[i]);
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
        "Pass split: one submodule submod_N for the calls up to each --split-at, and a graph that "
        "calls them in turn; their layers get other names, and so other values from the seed.\n"
        "A model file declares tensors, and does not hold their values: what constant-fold and "
        "fuse-conv-bn computed is lost with the end of the command, unless --save-weights writes "
        "it.",
    .example = "fxscope opt model.fx --pass cse --pass dead-code -o smaller.fx\n"
               "fxscope opt resnet18.fx --pass fuse-conv-bn -i 1x3x224x224 -o fused.fx "
               "--save-weights fused.safetensors\n"
               "fxscope opt resnet18.fx --pass split --split-at layer2 --split-at layer4 -o "
               "parts.fx",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_opt,
};
