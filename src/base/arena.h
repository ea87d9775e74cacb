/* arena.h: memory that dies together. Graphs keep nodes, arguments and names in one; kernels get
 * one as scratch. */
#ifndef FXS_BASE_ARENA_H
#define FXS_BASE_ARENA_H

#include "base/mem.h"

typedef struct fxs_arena_chunk fxs_arena_chunk;
typedef struct fxs_arena {
    fxs_arena_chunk *chunks; /* newest first */
    size_t reserve;          /* size of the next first chunk, 0: as usual */
    size_t room;             /* of scratch: the chunk to make when it gets large, 0: as it grows */
} fxs_arena;

/* Zeroed memory for n items of `size` bytes, aligned for any type (64 bytes from 1 KiB on, for
 * vector loads); NULL when memory is out. A zeroed fxs_arena is empty and ready. */
FXS_API void *fxs_arena_alloc(fxs_arena *a, size_t n, size_t size);
/* The same, but the bytes are not zeroed: for scratch that a kernel fills. */
FXS_API void *fxs_arena_alloc_raw(fxs_arena *a, size_t n, size_t size);
/* A copy of n bytes with a NUL behind them. */
FXS_API char *fxs_arena_dup(fxs_arena *a, const char *s, size_t n);
/* Drops all items; keeps a chunk that has room for as much again, or makes one for the next ones.
 */
FXS_API void fxs_arena_reset(fxs_arena *a);
/* Drops all memory. */
FXS_API void fxs_arena_clear(fxs_arena *a);

#define FXS_NEW(arena, type) ((type *)fxs_arena_alloc((arena), 1, sizeof(type)))
#define FXS_NEW_N(arena, type, n) ((type *)fxs_arena_alloc((arena), (n), sizeof(type)))
#define FXS_SCRATCH(arena, type, n) ((type *)fxs_arena_alloc_raw((arena), (n), sizeof(type)))

#endif
