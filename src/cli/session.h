/* session.h: one model with its inputs: read, run, and what became of its nodes told on standard
 * error. The commands that work on a model share it. It knows the library, and no option's row. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "fxoutline.h"
#include "say.h"

typedef struct cli_session {
    const char *command, *path;
    fxs_ctx *ctx;
    fxs_inputs *inputs;
    fxs_module *model;                    /* has a graph */
    struct fxs_outline_pattern *patterns; /* of --pattern, */
    fxs_module **pattern_files;           /* and what their graphs are of */
    size_t npatterns;
    fxs_numbers *numbers;      /* of --overlay; NULL: none */
    fxs_outline_options shown; /* what the options ask for, its lists the session's own */
    fxs_module *page; /* for pages that begin with boxes: the same with all of them open; or NULL */
} cli_session;

/* Makes a context as the settings say, understands the inputs and reads the model: what a user can
 * get wrong in a second before what takes a minute. Prints what is wrong. Close the session either
 * way. */
cli_exit cli_session_open(cli_session *w, const cli_command *c, const cli_settings *s);
/* The same in two steps, for what is to be checked before anything is read: makes the context, and
 * finds out whether the files can be written that the settings name; then reads. */
cli_exit cli_session_begin(cli_session *w, const cli_command *c, const cli_settings *s);
cli_exit cli_session_read(cli_session *w, const cli_settings *s);
void cli_session_close(cli_session *w);

/* Prints the context's error, which `status` gave, and forgets it; gives CLI_FAILURE. */
cli_exit cli_session_fail(cli_session *w);

/* Writes the model's values where --save-weights says; nothing without it. */
cli_exit cli_session_save(cli_session *w, const cli_settings *s);
/* The same, and then the model as one file that fxscope reads, where --output says; values that are
 * lost with that are told. */
cli_exit cli_session_write(cli_session *w, const cli_settings *s);

/* Runs the model. CLI_OK also when nodes failed: see cli_report. CLI_USAGE: an input is not the
 * model's. */
cli_exit cli_session_run(cli_session *w, const cli_settings *s, fxs_run_mode mode, bool stats);

/* outline.c: reads the files of --pattern, and frees them. */
cli_exit cli_session_patterns(cli_session *w, const cli_settings *s);
void cli_session_free_patterns(cli_session *w);
/* outline.c: puts the outline that the options ask for in the model's place, once it has run. A
 * graph that was read from text gets its modules with that, which `modules` asks for alone. */
cli_exit cli_session_outline(cli_session *w, const cli_settings *s, bool modules);
/* Before that, for a page in which the outline's modules open: makes w->page when there are any. */
cli_exit cli_session_outline_page(cli_session *w, const cli_settings *s);
void cli_session_free_outline(cli_session *w);

/* Tells which inputs are missing and which nodes failed or are unknown: the first of each, and how
 * many more. CLI_FINDINGS when there was anything to tell. */
cli_exit cli_report(const cli_session *w);
/* The same, one line each and all of them. */
cli_exit cli_report_lines(const cli_session *w);

/* ---- progress.c: one line on a terminal, for work of more than half a second ---- */

typedef struct cli_progress {
    bool visible;
    double start, last; /* seconds; when the run began, when the line was written */
} cli_progress;

/* Gives fxs_run_options.progress, whose user is the cli_progress: NULL where no terminal shows it,
 * since to ask for the time takes as long as many a node's shapes. */
typedef void cli_progress_fn(void *user, size_t done, size_t total);
cli_progress_fn *cli_progress_begin(cli_progress *p);
/* Takes the line away. */
void cli_progress_end(cli_progress *p);
/* The same around work that tells no steps: layout and drawing. */
void cli_drawing_begin(void);
void cli_drawing_end(void);

#endif
