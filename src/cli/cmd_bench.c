/* cmd_bench.c: `fxscope bench`: runs a model several times, prints where the time goes, by operator
 * and by node. */
#include <string.h>

#include "limit.h"
#include "session.h"

#include "render/fxrender.h"

static const char *const formats[] = {
#define X(name, text) text,
    FXS_TABLE_MAP(X)
#undef X
        NULL};
enum { BY_BOTH, BY_OPERATOR, BY_NODE };
static const char *const groupings[] = {"both", "operator", "node", NULL};

static const cli_option options[] = {
    CLI_INPUT_ROW,
    {"by", 0, "WHAT", "what a row of the table is (default: both, one table each)", CLI_INDEX,
     CLI_AT(bench_by), groupings},
    {"rounds", 0, "N",
     "how often the model is run after the first time, with and without statistics each; the "
     "least time counts (default: 5)",
     CLI_INT, CLI_AT(rounds), NULL, 1, 100000},
    {"output", 'o', "FILE",
     "picture to write, one bar a row: .svg, .png, .pdf or .tex; by operator, unless --by node is "
     "given; "
     "may be repeated",
     CLI_LIST, CLI_AT(outputs)},
    {"format", 0, "FORMAT", "format of the table (default: text)", CLI_INDEX, CLI_AT(table_format),
     formats},
    {"meta", 0, NULL, "measure how long shapes take, without values", CLI_FLAG, CLI_AT(meta)},
    {"processor-time", 0, NULL,
     "count the processor time of all threads, not the time that passes: with one thread the "
     "steadier figure on a busy machine",
     CLI_FLAG, CLI_AT(processor_time)},
    CLI_WEIGHTS_ROW,
    CLI_TRAIN_ROW,
    CLI_SEED_ROW,
    CLI_THREADS_ROW,
    CLI_LIMIT_ROWS,
    CLI_HELP_ROW,
    {0},
};

static cli_exit print_by(cli_session *w, const fxs_profile *p, fxs_profile_by by,
                         fxs_table_format format) {
    char *text;
    size_t len;
    if (fxs_profile_print(p, by, format, &text, &len) != FXS_OK)
        return cli_session_fail(w);
    cli_out_bytes(text, len);
    fxs_free(text);
    return CLI_OK;
}

/* JSON holds both, whatever is asked for. */
static cli_exit print_profile(cli_session *w, const cli_settings *s, const fxs_profile *p) {
    fxs_table_format format = (fxs_table_format)s->table_format;
    cli_exit e = CLI_OK;
    if (format == FXS_TABLE_JSON)
        return print_by(w, p, FXS_BY_OPERATOR, format);
    if (s->bench_by != BY_NODE)
        e = print_by(w, p, FXS_BY_OPERATOR, format);
    if (s->bench_by == BY_BOTH)
        cli_out("\n");
    if (e == CLI_OK && s->bench_by != BY_OPERATOR)
        e = print_by(w, p, FXS_BY_NODE, format);
    return e;
}

#ifdef FXS_HAVE_RENDER
static cli_exit draw_profile(cli_session *w, const cli_settings *s, const fxs_profile *p) {
    if (s->outputs.len == 0)
        return CLI_OK;
    cli_doing("drawing");
    fxs_status status = fxs_draw_profile(w->model, p, s->bench_by == BY_NODE, NULL,
                                         s->outputs.items, s->outputs.len, NULL);
    cli_exit e = status == FXS_OK ? CLI_OK : cli_session_fail(w);
    return status == FXS_EINVAL ? CLI_USAGE : e;
}
#else
static cli_exit draw_profile(cli_session *w, const cli_settings *s, const fxs_profile *p) {
    (void)w, (void)p;
    if (s->outputs.len == 0)
        return CLI_OK;
    cli_error("this fxscope was built without pictures: build it again with meson setup "
              "-Drender=enabled");
    return CLI_FAILURE;
}
#endif

/* What is known before the work. */
static cli_exit check_outputs(const cli_settings *s) {
    for (size_t i = 0; i < s->outputs.len; i++) {
        const char *dot = strrchr(s->outputs.items[i], '.');
        if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0 &&
                     strcmp(dot, ".pdf") != 0 && strcmp(dot, ".tex") != 0))
            return cli_usage_error("bench",
                                   "%s: what kind of picture? Name it .svg, .png, .pdf or .tex",
                                   s->outputs.items[i]);
    }
    return CLI_OK;
}

static cli_exit measure(cli_session *w, const cli_settings *s) {
    cli_progress progress;
    fxs_profile *p;
    fxs_profile_options how = {.mode = s->meta ? FXS_RUN_META : FXS_RUN_EXECUTE,
                               .clock = s->processor_time ? FXS_CLOCK_PROCESSOR : FXS_CLOCK_ELAPSED,
                               .rounds = (unsigned)s->rounds,
                               .train = s->train,
                               .progress = cli_progress_begin(&progress),
                               .user = &progress};
    cli_doing("running the model");
    fxs_status status = fxs_profile_run(w->model, w->inputs, &how, &p);
    cli_progress_end(&progress);
    if (status == FXS_EINVAL)
        return cli_usage_error(w->command, "%s: %s", w->path, fxs_ctx_error(w->ctx));
    if (status != FXS_OK)
        return cli_session_fail(w);
    cli_exit findings = cli_report(w), e = print_profile(w, s, p);
    if (e == CLI_OK)
        e = draw_profile(w, s, p);
    fxs_profile_free(p);
    return e != CLI_OK ? e : findings;
}

static cli_exit run_bench(const cli_settings *s) {
    cli_session w = {0};
    cli_exit e = check_outputs(s);
    if (e != CLI_OK)
        return e;
    e = cli_session_open(&w, &cli_bench, s);
    if (e == CLI_OK)
        e = measure(&w, s);
    cli_session_close(&w);
    return e;
}

const cli_command cli_bench = {
    .name = "bench",
    .usage = "MODEL [-i SPEC]... [--by WHAT] [--rounds N] [-o FILE]...",
    .summary = "measure a model: where its time goes, by operator and by node",
    .details =
        "Runs the model several times on the inputs given, and prints for each operator and each "
        "node the least time that it took, its share of the whole, and how many operations and "
        "bytes a second that is; the longest first. Under a table: the whole run without and with "
        "statistics, the first run, and the memory of the results.",
    .example = "fxscope bench resnet18.fx -i 1x3x224x224 --threads 1\n"
               "fxscope bench resnet18.fx -i 1x3x224x224 --by node -o resnet18.svg",
    .options = options,
    .operand = CLI_MODEL_FILE,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_bench,
};
