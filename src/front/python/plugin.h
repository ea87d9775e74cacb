/* plugin.h: what the command and the Python front's plug-in know of each other. The command opens
 * libfxscope-python.so only when it needs Python, and asks it for this table. */
#ifndef FXPY_PLUGIN_H
#define FXPY_PLUGIN_H

#include "fxscope.h"

enum { FXS_PYTHON_ABI = 1 };

typedef struct fxs_python_options {
    const char *allow;        /* "net,exec,write"; NULL: nothing */
    const char *const *paths; /* more folders for imports */
    size_t npaths;
    double timeout;           /* seconds; 0: none */
    uint64_t max_memory;      /* bytes; 0: no limit */
    bool traceback, isolated; /* all frames; nothing but the standard library and the paths */
    bool guarded;             /* the seat belt is on: `allow` lifts parts of it */
} fxs_python_options;

typedef struct fxs_python_plugin {
    int abi; /* FXS_PYTHON_ABI */
    /* Runs a script as __main__ with argv (argv[0] is the script), as python3 would; the result is
     * the exit status. What it has to say it says on standard error. The context is used for all
     * that Python makes, and outlives the process's use of Python. */
    int (*run)(fxs_ctx *ctx, int argc, char **argv, const fxs_python_options *options);
} fxs_python_plugin;

#define FXS_PYTHON_SYMBOL "fxs_python_plugin_get"
typedef const fxs_python_plugin *fxs_python_plugin_fn(void);
FXS_API fxs_python_plugin_fn fxs_python_plugin_get;

#endif
