/* storage.h: counted memory of tensors. */
#ifndef FXS_BASE_STORAGE_H
#define FXS_BASE_STORAGE_H

#include "base/blocks.h"

struct fxs_mapping;

typedef struct fxs_storage {
    int refs;
    size_t bytes;       /* as asked for */
    void *data;         /* of a piece: 64-byte aligned; not zeroed */
    fxs_blocks *blocks; /* where the piece goes back */
    fxs_piece piece;
    struct fxs_mapping *file;     /* instead of blocks: data lies in it; counted */
    void (*release)(void *owner); /* instead of both: somebody else's memory, any alignment */
    void *owner;
} fxs_storage;

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
