/* session.c: see session.h; and what the library's status means for the exit status. */
#include <string.h>

#include "fxfile.h"
#include "heap.h"
#include "limit.h"
#include "python.h"
#include "session.h"

static cli_exit refuse_input(const cli_session *w, const char *spec) {
    const char *message = fxs_ctx_error(w->ctx);
    if (strstr(message, spec))
        return cli_usage_error(w->command, "%s", message);
    return cli_usage_error(w->command, "input '%s': %s", spec, message);
}

static cli_exit read_inputs(cli_session *w, const cli_settings *s) {
    if (fxs_inputs_new(w->ctx, &w->inputs) != FXS_OK)
        return cli_session_fail(w);
    for (size_t i = 0; i < s->inputs.len; i++) {
        fxs_status status = fxs_inputs_add(w->inputs, s->inputs.items[i]);
        if (status == FXS_EIO || status == FXS_ENOMEM || status == FXS_EPARSE)
            return cli_session_fail(w);
        if (status != FXS_OK)
            return refuse_input(w, s->inputs.items[i]);
    }
    return CLI_OK;
}

/* Names that only one of the two has are worth a line each, and no more. */
static cli_exit read_weights(cli_session *w, const char *path) {
    char *notes = NULL;
    if (path && fxs_module_load_weights(w->model, path, &notes) != FXS_OK)
        return cli_session_fail(w);
    for (char *line = notes, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        cli_error("%s", line);
    }
    fxs_free(notes);
    return CLI_OK;
}

/* The plug-in says what is wrong. */
static cli_exit read_python(cli_session *w, const cli_settings *s) {
    if ((s->tier != NULL) + s->symbolic + s->concrete > 1)
        return cli_usage_error(w->command, "of --symbolic, --concrete and --trace one is enough");
    const fxs_python_plugin *python = cli_python_open();
    fxs_python_options o = cli_python_options(s, CLI_PYTHON_SECONDS);
    o.guarded = true;
    cli_limits_python();
    int bad = python ? python->load(w->ctx, w->path, &o, &w->model) : -1;
    cli_catch_signals();
    return bad ? CLI_FAILURE : CLI_OK;
}

static cli_exit read_model(cli_session *w, const cli_settings *s) {
    cli_doing("reading the model");
    cli_heap_for(w->path);
    if (cli_is_python(w->path))
        return read_python(w, s);
    if (fxs_load(w->ctx, w->path, NULL, &w->model) != FXS_OK)
        return cli_session_fail(w);
    if (fxs_module_graph(w->model))
        return CLI_OK;
    cli_error("%s: there is no graph in it: add what Python's print(model.graph) gives", w->path);
    return CLI_FAILURE;
}

/* Before the work is done that is to be written there. */
static cli_exit check_file(cli_session *w, const char *path) {
    if (!path || strcmp(path, "-") == 0 || fxs_check_file(w->ctx, path) == FXS_OK)
        return CLI_OK;
    return cli_session_fail(w);
}

static cli_exit check_files(cli_session *w, const cli_settings *s) {
    cli_exit e = check_file(w, s->output);
    if (e == CLI_OK)
        e = check_file(w, s->save_weights);
    for (size_t i = 0; i < s->outputs.len && e == CLI_OK; i++)
        e = check_file(w, s->outputs.items[i]);
    return e;
}

cli_exit cli_session_begin(cli_session *w, const cli_command *c, const cli_settings *s) {
    *w = (cli_session){.command = c->name, .path = s->operands.items[0], .ctx = fxs_ctx_new()};
    if (!w->ctx)
        return cli_no_memory();
    fxs_ctx_set_seed(w->ctx, s->seed);
    if (fxs_ctx_set_threads(w->ctx, s->threads) != FXS_OK)
        return cli_session_fail(w);
    cli_exit e = check_files(w, s);
    return e == CLI_OK ? cli_limits_begin(c, s, true) : e;
}

cli_exit cli_session_read(cli_session *w, const cli_settings *s) {
    cli_doing("reading the inputs");
    cli_exit e = read_inputs(w, s);
    if (e == CLI_OK)
        e = cli_session_patterns(w, s);
    if (e == CLI_OK)
        e = read_model(w, s);
    cli_doing("reading the weights");
    return e == CLI_OK ? read_weights(w, s->weights) : e;
}

cli_exit cli_session_open(cli_session *w, const cli_command *c, const cli_settings *s) {
    cli_exit e = cli_session_begin(w, c, s);
    return e == CLI_OK ? cli_session_read(w, s) : e;
}

/* A command that closes its session ends, and the system takes the memory back at once: to walk
 * over a large graph once more for it takes a tenth of the time that its check takes. Leaks are
 * looked for where all is given back; so are those of what Python made. */
#ifdef __SANITIZE_ADDRESS__
enum { FREES_MODEL = true };
#else
enum { FREES_MODEL = false };
#endif

void cli_session_close(cli_session *w) {
    cli_session_free_outline(w);
    cli_session_free_patterns(w);
    fxs_inputs_free(w->inputs);
    fxs_numbers_free(w->numbers);
    if (FREES_MODEL || cli_is_python(w->path)) {
        fxs_module_unref(w->model);
        fxs_ctx_free(w->ctx);
    }
}

cli_exit cli_session_fail(cli_session *w) {
    const char *message = fxs_ctx_error(w->ctx);
    if (strstr(message, fxs_status_text(FXS_ENOMEM)))
        cli_memory_error(message);
    else
        cli_error("%s", message);
    fxs_ctx_clear(w->ctx);
    return CLI_FAILURE;
}

cli_exit cli_session_run(cli_session *w, const cli_settings *s, fxs_run_mode mode, bool stats) {
    cli_progress progress;
    fxs_run_options how = {.mode = mode,
                           .train = s->train,
                           .stats = stats,
                           .progress = cli_progress_begin(&progress),
                           .user = &progress};
    cli_doing("running the model");
    fxs_status status = fxs_run(w->model, w->inputs, &how, NULL);
    cli_progress_end(&progress);
    if (status == FXS_OK)
        return CLI_OK;
    if (status ==
        FXS_EINVAL) /* an input that the model does not have; a missing one is a node that failed */
        return cli_usage_error(w->command, "%s: %s", w->path, fxs_ctx_error(w->ctx));
    return cli_session_fail(w);
}

cli_exit cli_session_save(cli_session *w, const cli_settings *s) {
    if (s->save_weights && fxs_module_save_weights(w->model, s->save_weights, true) != FXS_OK)
        return cli_session_fail(w);
    return CLI_OK;
}

cli_exit cli_session_write(cli_session *w, const cli_settings *s) {
    char *text;
    size_t len, given = fxs_module_given_tensors(w->model);
    cli_doing("writing the model");
    if (cli_session_save(w, s) != CLI_OK)
        return CLI_FAILURE;
    if (given && !s->save_weights)
        cli_note("%zu tensor%s values that were given or computed, which a model file can't keep: "
                 "read back, %s made from the seed; --save-weights FILE.safetensors keeps them",
                 given, given == 1 ? " has" : "s have", given == 1 ? "it is" : "they are");
    if (fxs_module_print_file(w->model, 0, &text, &len) != FXS_OK)
        return cli_session_fail(w);
    cli_exit e = cli_write(w->ctx, s->output, text, len);
    fxs_free(text);
    return e;
}
