/* sink.h: where the bytes of a picture or of weights go: into memory, or into a file that appears
 * only when all of it is written. Keeps the first error, so that writers need not ask after each
 * piece. */
#ifndef FXS_BASE_SINK_H
#define FXS_BASE_SINK_H

#include "base/ctx.h"

struct fxs_mapping;
struct fxs_unfinished;

typedef struct fxs_sink {
    const char *path; /* as given; NULL: memory */
    char *target;     /* the file that is replaced in the end; NULL: it is written directly */
    char *temporary;  /* written until then, its place's; NULL: none, or already in place */
    struct fxs_unfinished *place;
    int fd;      /* -1: none */
    bool held;   /* a file that no other can take the place of: all is in buf until it is whole */
    int error;   /* errno of the first failure */
    fxs_buf buf; /* memory: all of it; file: what is not written yet */
} fxs_sink;

/* write(2) until all is written. */
bool fxs_write_all(int fd, const void *data, size_t n);

void fxs_sink_memory(fxs_sink *s);
/* Opens a file beside the path, or the path itself when it is a device, a pipe, or in a folder
 * where no file can be made. A file there keeps what it has until fxs_sink_commit. fxs_sink_close
 * also after an error. */
fxs_status fxs_sink_open(fxs_ctx *ctx, const char *path, fxs_sink *s);
void fxs_sink_write(fxs_sink *s, const void *data, size_t n);
/* Writes the rest and tells whether all went well: FXS_EIO with path and reason, or FXS_ENOMEM. */
fxs_status fxs_sink_finish(fxs_ctx *ctx, fxs_sink *s);
/* Whether the bytes will be written into that very file, not into one that takes its place. */
bool fxs_sink_overwrites(const fxs_sink *s, const struct fxs_mapping *file);
/* Puts a finished file in place. */
fxs_status fxs_sink_commit(fxs_ctx *ctx, fxs_sink *s);
/* Frees all; a file that is not in place is removed. */
void fxs_sink_close(fxs_sink *s);

#endif
