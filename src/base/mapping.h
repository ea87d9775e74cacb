/* mapping.h: a file in memory, counted by all who look at it. Private: writing there does not
 * change the file. */
#ifndef FXS_BASE_MAPPING_H
#define FXS_BASE_MAPPING_H

#include "base/ctx.h"

typedef struct fxs_mapping {
    int refs;
    char *data;
    size_t len;
    uint64_t device, inode; /* which file it is */
} fxs_mapping;

/* Refuses what is no regular file, with its name and the reason. */
fxs_status fxs_mapping_open(fxs_ctx *ctx, const char *path, fxs_mapping **out);
/* Brings bytes of a mapped file into memory, all at once: page by page, where they are touched
 * first, takes several times as long. Nothing is said of what goes wrong: touching them will. */
void fxs_mapping_read(fxs_ctx *ctx, const void *data, size_t bytes);
fxs_mapping *fxs_mapping_ref(fxs_mapping *m);
void fxs_mapping_unref(fxs_mapping *m);

#endif
