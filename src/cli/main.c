/* main.c: the command fxscope: finds the command's row, has its options parsed, runs it, and sees
 * to it that standard output arrived. It knows the table of commands and nothing of what they do.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "limit.h"
#include "say.h"

const cli_command *const cli_commands[] = {
    &cli_draw, &cli_print, &cli_table, &cli_bench,      &cli_check, &cli_ops, &cli_rewrite,
    &cli_opt,  &cli_run,   &cli_help,  &cli_completion, &cli_man,   NULL};

static const cli_option options[] = {
    CLI_HELP_ROW,
    {"version", 0, NULL, "print the version and exit", CLI_FLAG, CLI_AT(version)},
    {0},
};

static cli_exit run_bare(const cli_settings *s) {
    if (!s->version)
        return cli_usage_error(NULL, "no command is given");
    cli_out("fxscope %s\n", fxs_version());
    return CLI_OK;
}

const cli_command cli_main = {
    .usage = "COMMAND [ARGUMENT]...",
    .summary = "draw neural networks, and show what every node computes",
    .details =
        "fxscope reads a model as PyTorch prints it, or its PyTorch source, runs it node by node "
        "on the processor, and draws its graph with the dtype and shape of every result. "
        "PyTorch is not needed.\n"
        "Options and other arguments may come in any order; '--' ends the options.",
    .options = options,
    .operand = CLI_COMMAND_NAME,
    .min_operands = 0,
    .max_operands = 0,
    .run = run_bare,
};

const cli_command *cli_command_find(const char *name) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static cli_exit parse_and_run(const cli_command *c, int argc, char **argv) {
    cli_settings s = {.python_seconds = -1};
    cli_exit e = cli_parse(c, argc, argv, &s);
    if (e == CLI_OK && s.help)
        cli_print_help(c);
    else if (e == CLI_OK)
        e = c->run(&s);
    cli_settings_free(&s);
    return e;
}

static cli_exit dispatch(int argc, char **argv) {
    if (argc < 2)
        return run_bare(&(cli_settings){0});
    if (argv[1][0] == '-' && argv[1][1])
        return parse_and_run(&cli_main, 2,
                             argv); /* what follows --help or --version does not matter */
    const cli_command *c = cli_command_find(argv[1]);
    if (!c)
        return cli_usage_error(NULL, "there is no command '%s'", argv[1]);
    return parse_and_run(c, argc - 1, argv + 1);
}

/* A file that is opened must not become a standard stream that the caller had closed: each gets a
 * descriptor that fails. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(CLI_FAILURE);
}

/* All is written. What libraries have registered for the end is left out: threads of theirs that
 * want memory, where there is a limit, try for ever, and they would wait for them. A sanitizer
 * looks for leaks then. */
static int leave(cli_exit e) {
#ifndef __SANITIZE_ADDRESS__
    fflush(NULL);
    _exit(e);
#endif
    return e;
}

/* Where addresses are limited, every thread's own heap would reserve 64 MiB of them and leave no
 * room for the next one's stack. */
static void save_addresses(void) {
#ifdef __GLIBC__
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        mallopt(M_ARENA_MAX, 1);
#endif
}

int main(int argc, char **argv) {
    save_addresses();
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, which cli_out_end sees */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    cli_catch_signals();
    cli_exit e = dispatch(argc, argv);
    cli_exit out = cli_out_end();
    cli_limits_end();
    return leave(out != CLI_OK && e != CLI_USAGE ? out : e);
}
