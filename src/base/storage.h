/* storage.h: counted memory of tensors. Blocks that are dropped wait in the context's cache for the
 * next tensor of about their size: a fresh page costs more than the arithmetic on it. */
#ifndef FXS_BASE_STORAGE_H
#define FXS_BASE_STORAGE_H

#include "base/mem.h"

struct fxs_mapping;

typedef struct fxs_blocks fxs_blocks; /* the cache; counted by the context and by every storage */

typedef struct fxs_storage {
    int refs;
    size_t bytes;       /* as asked for */
    void *data;         /* 64-byte aligned; not zeroed */
    fxs_blocks *blocks; /* where the block goes back */
    size_t capacity;
    struct fxs_mapping *file;     /* instead of blocks: data lies in it; counted */
    void (*release)(void *owner); /* instead of both: somebody else's memory, any alignment */
    void *owner;
} fxs_storage;

fxs_blocks *fxs_blocks_new(void);
void fxs_blocks_unref(fxs_blocks *b);
/* Bytes of all blocks, in use or waiting: the most since the last fxs_blocks_forget_peak. */
size_t fxs_blocks_peak(const fxs_blocks *b);
void fxs_blocks_forget_peak(fxs_blocks *b);
/* NULL when memory is out. */
FXS_API fxs_storage *fxs_storage_new(fxs_blocks *b, size_t bytes);
/* Bytes of a mapped file, which it counts. NULL when memory is out. */
fxs_storage *fxs_storage_map(struct fxs_mapping *file, void *data, size_t bytes);
/* Somebody else's memory, which stays until release(owner) is called. NULL when memory is out. */
FXS_API fxs_storage *fxs_storage_borrow(void *data, size_t bytes, void (*release)(void *owner),
                                        void *owner);
FXS_API fxs_storage *fxs_storage_ref(fxs_storage *s);
FXS_API void fxs_storage_unref(fxs_storage *s);

#endif
