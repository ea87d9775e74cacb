/* limit.h: --timeout and --max-memory hold for all that a command does, whatever it reads and
 * writes. The library never ends a program; the command ends itself here. */
#ifndef CLI_LIMIT_H
#define CLI_LIMIT_H

#include "cli.h"

/* Limits the memory, and starts the clock when `clock` is true (a script of Python has one of its
 * own). CLI_FAILURE after a message. */
cli_exit cli_limits_begin(const cli_command *c, const cli_settings *s, bool clock);
/* Seconds of --timeout that are left for a part; what was asked for when nothing is limited. */
double cli_limits_left(const cli_settings *s, double otherwise);
/* All is done: the clock is stopped. */
void cli_limits_end(void);

/* What the command does from now on, "running the model": a text that stays. Messages of limits
 * name it. The second is for fxs_draw_options.doing. */
void cli_doing(const char *what);
void cli_drawing_does(void *user, const char *what);
/* Python source is read, and run when the model runs: it is stopped by a clock of its own, which
 * knows its lines, and the command has a few seconds more to tell that. */
void cli_limits_python(void);

/* Says that memory is out, and where. */
void cli_memory_error(const char *message);

/* Files that are not complete are removed when a signal ends the command. Again after Python, which
 * takes signals for itself. */
void cli_catch_signals(void);

#define CLI_TIMEOUT_TEXT                                                                           \
    "how long the command may take: reading, running, drawing and writing; 0 is for ever "
#define CLI_TIMEOUT_ROW(fallback, more)                                                            \
    {                                                                                              \
        "timeout", 0, "SECONDS", CLI_TIMEOUT_TEXT "(default: " fallback ")" more, CLI_REAL,        \
            CLI_AT(python_seconds), NULL, 0, 1e6                                                   \
    }
#define CLI_MAX_MEMORY_ROW                                                                         \
    {                                                                                              \
        "max-memory", 0, "MB",                                                                     \
            "how much memory the command may take, in megabytes; 0 is no limit (default: 0)",      \
            CLI_INT, CLI_AT(max_memory), NULL, 0, 1 << 30                                          \
    }
#define CLI_LIMIT_ROWS CLI_TIMEOUT_ROW("0", ""), CLI_MAX_MEMORY_ROW

#endif
