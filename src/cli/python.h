/* python.h: the Python front, which is a plug-in: opened when a command needs it. */
#ifndef CLI_PYTHON_H
#define CLI_PYTHON_H

#include "front/python/plugin.h"
#include "say.h"

/* The plug-in's table, NULL after a message. Stays open until the process ends. */
const fxs_python_plugin *cli_python_open(void);
/* What the settings say of Python. */
fxs_python_options cli_python_options(const cli_settings *s);

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

#endif
