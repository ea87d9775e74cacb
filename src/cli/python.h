/* python.h: the Python front, which is a plug-in: opened when a command needs it. */
#ifndef CLI_PYTHON_H
#define CLI_PYTHON_H

#include "front/python/plugin.h"
#include "limit.h"
#include "say.h"

/* The plug-in's table, NULL after a message. Stays open until the process ends. */
const fxs_python_plugin *cli_python_open(void);
/* What the settings say of Python. seconds: the time limit where none is given. */
fxs_python_options cli_python_options(const cli_settings *s, double seconds);
/* FILE.py, FILE.py:EXPR */
bool cli_is_python(const char *model);

#define CLI_PATH_ROW                                                                               \
    {                                                                                              \
        "path", 0, "DIR", "a folder that Python's imports look in too; may be repeated", CLI_LIST, \
            CLI_AT(paths)                                                                          \
    }
#define CLI_ISOLATED_ROW                                                                           \
    {                                                                                              \
        "isolated", 0, NULL,                                                                       \
            "imports find the standard library, the file's folder and --path alone", CLI_FLAG,     \
            CLI_AT(isolated)                                                                       \
    }
#define CLI_ALLOW_ROW                                                                              \
    {                                                                                              \
        "allow", 0, "LIST", "what the file may do although it is refused by default", CLI_WORDS,   \
            CLI_AT(allow), cli_python_actions                                                      \
    }
/* Seconds that a model file has where no limit is given; a script has no limit. */
#define CLI_PYTHON_SECONDS 60
#define CLI_TEXT_OF_(x) #x
#define CLI_TEXT_OF(x) CLI_TEXT_OF_(x)
#define CLI_TRACEBACK_ROW                                                                          \
    {                                                                                              \
        "traceback", 0, NULL, "show all frames of an exception, also fxscope's own", CLI_FLAG,     \
            CLI_AT(traceback)                                                                      \
    }
#define CLI_PYTHON_ROWS                                                                             \
    {"arg",                                                                                         \
     0,                                                                                             \
     "NAME=VALUE",                                                                                  \
     "of FILE.py: an argument of the model's constructor, a Python "                                \
     "expression; may be repeated",                                                                 \
     CLI_LIST,                                                                                      \
     CLI_AT(arguments)},                                                                            \
        {"trace",                                                                                   \
         0,                                                                                         \
         "HOW",                                                                                     \
         "of FILE.py: plain is torch.fx's; hinted knows the inputs' values "                        \
         "where the program asks for them; concrete makes sizes plain numbers "                     \
         "(default: the first that works)",                                                         \
         CLI_TEXT,                                                                                  \
         CLI_AT(tier),                                                                              \
         cli_python_tiers},                                                                         \
        {"symbolic", 0, NULL, "of FILE.py: the same as --trace plain", CLI_FLAG, CLI_AT(symbolic)}, \
        {"concrete",      0, NULL, "of FILE.py: the same as --trace concrete", CLI_FLAG,            \
         CLI_AT(concrete)},                                                                         \
        {"strict", 0, NULL, "of FILE.py: refuse what torch.fx refuses", CLI_FLAG, CLI_AT(strict)},  \
        CLI_PATH_ROW, CLI_ISOLATED_ROW, CLI_ALLOW_ROW,                                              \
        CLI_TIMEOUT_ROW(CLI_TEXT_OF(CLI_PYTHON_SECONDS),                                            \
                        " for reading a Python file, none for the rest"),                           \
        CLI_MAX_MEMORY_ROW, CLI_TRACEBACK_ROW
extern const char *const cli_python_actions[], *const cli_python_tiers[];

#endif
