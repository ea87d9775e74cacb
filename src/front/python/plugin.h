/* plugin.h: what the command and the Python front's plug-in know of each other. The command opens
 * libfxscope-python.so only when it needs Python, and asks it for this table. */
#ifndef FXPY_PLUGIN_H
#define FXPY_PLUGIN_H

#include "fxscope.h"

enum { FXS_PYTHON_ABI = 3 };

typedef struct fxs_python_list {
    const char *const *items;
    size_t len;
} fxs_python_list;

typedef struct fxs_python_options {
    fxs_python_list paths;     /* more folders for imports */
    fxs_python_list arguments; /* NAME=VALUE for the model's constructor */
    fxs_python_list inputs;    /* example inputs as the command line has them */
    const char *tier;          /* how to trace: plain, hinted, concrete; NULL: as far as needed */
    const char *allow;         /* "net,exec,write": parts of the seat belt that are off */
    double timeout;            /* seconds; 0: none */
    bool guarded;              /* the seat belt is on */
    bool isolated;             /* imports find the standard library and the paths alone */
    bool traceback;            /* show all frames of an exception */
    bool strict;               /* refuse what torch.fx refuses */
} fxs_python_options;

/* Each starts Python, so that only one of them can be called in a process. What they have to say
 * they say on standard error. The context is used for all that Python makes, and outlives it. */
typedef struct fxs_python_plugin {
    int abi; /* FXS_PYTHON_ABI */
    /* Runs a script as __main__ with argv (argv[0] is the script), as python3 would; the result is
     * the exit status. */
    int (*run)(fxs_ctx *ctx, int argc, char **argv, const fxs_python_options *options);
    /* Builds and traces what FILE.py or FILE.py:EXPR names. *out is yours to unref. 0, or -1 after
     * a message. */
    int (*load)(fxs_ctx *ctx, const char *spec, const fxs_python_options *options,
                fxs_module **out);
    /* Which names of torch a file uses, and which of them are not supported: *text is yours to
     * fxs_free. How many are not, or -1 after a message. The file is not run. */
    int (*check)(fxs_ctx *ctx, const char *file, const fxs_python_options *options, char **text);
} fxs_python_plugin;

#define FXS_PYTHON_SYMBOL "fxs_python_plugin_get"
typedef const fxs_python_plugin *fxs_python_plugin_fn(void);
FXS_API fxs_python_plugin_fn fxs_python_plugin_get;

#endif
