/* embed.h: the interpreter inside the command. */
#ifndef FXPY_EMBED_H
#define FXPY_EMBED_H

#include "front/python/fxpy.h"
#include "front/python/plugin.h"

/* Generated at build time: the modules under lib/, compiled. */
extern const struct _frozen fxpy_frozen[];

/* Starts Python: no site, no environment variables, our modules before all others. `folder` (may
 * be NULL) is searched for imports first. 0, or -1 with a message on standard error. */
int fxpy_start(fxs_ctx *ctx, int argc, char **argv, const char *folder,
               const fxs_python_options *options);
/* A script as __main__; the result is the exit status. */
int fxpy_run_script(fxs_ctx *ctx, int argc, char **argv, const fxs_python_options *options);

#endif
