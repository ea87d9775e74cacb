/* fxfile.h: files that are there as a whole or not at all: the public interface of writing them,
 * for programs that put files beside those of the library. */
#ifndef FXFILE_H
#define FXFILE_H

#include "fxscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a file that appears only when all of it is written; a file that is there keeps what it has
 * until then. Errors: FXS_EIO with path and reason, FXS_ENOMEM. */
FXS_API fxs_status fxs_write_file(fxs_ctx *ctx, const char *path, const char *bytes, size_t len);
/* Whether fxs_write_file could begin now: before work whose result goes there. Nothing is left
 * behind; of what is no file (a pipe, a device) nothing is told. */
FXS_API fxs_status fxs_check_file(fxs_ctx *ctx, const char *path);
/* For a program that is to end in the middle of a call, by a signal or from another thread: removes
 * the files that the library writes and that are not in place yet. Safe in a signal handler; the
 * calls that wrote them fail. */
FXS_API void fxs_discard_unfinished(void);

#ifdef __cplusplus
}
#endif

#endif
