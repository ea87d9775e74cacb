/* blocks.h: where the memory of tensors comes from. A context takes few large slabs from the system
 * and cuts blocks from them; what is dropped is joined with what is free beside it, so that tensors
 * of any size can lie there next: a fresh page costs more than the arithmetic on it, and blocks
 * kept for their own size alone are twice the memory that a network needs. */
#ifndef FXS_BASE_BLOCKS_H
#define FXS_BASE_BLOCKS_H

#include "base/mem.h"

typedef struct fxs_blocks fxs_blocks; /* counted by the context and by every storage */
typedef struct fxs_block fxs_block;   /* a piece of a slab; NULL for what is too small for one */

typedef struct fxs_piece {
    void *data; /* 64-byte aligned; not zeroed */
    size_t capacity;
    fxs_block *block;
} fxs_piece;

FXS_API fxs_blocks *fxs_blocks_new(void);
fxs_blocks *fxs_blocks_ref(fxs_blocks *b);
FXS_API void fxs_blocks_unref(fxs_blocks *b);
/* False when memory is out. */
FXS_API bool fxs_blocks_take(fxs_blocks *b, size_t bytes, fxs_piece *out);
FXS_API void fxs_blocks_give(fxs_blocks *b, const fxs_piece *p);
/* Bytes that have ever been cut from slabs, and small ones in use: the most since the last
 * fxs_blocks_forget_peak. */
FXS_API size_t fxs_blocks_peak(const fxs_blocks *b);
FXS_API void fxs_blocks_forget_peak(fxs_blocks *b);

#endif
