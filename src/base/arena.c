/* arena.c: chunks of growing size, bumped. With -Ddebug_arena=true every item is a chunk of its
 * own, so that AddressSanitizer sees writes past an item. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGN = 16,
    WIDE_ALIGN = 64,
    WIDE_FROM = 1024,
    FIRST_CHUNK = 4096,
    FAST_GROWTH = 1 << 17,
    LAST_GROWTH = 4 << 20
};

struct fxs_arena_chunk {
    fxs_arena_chunk *next;
    size_t size, used;
    char *base;
};

static fxs_arena_chunk *chunk_new(size_t size) {
    fxs_arena_chunk *c = fxs_alloc(1, sizeof *c);
    if (!c)
        return NULL;
    char *base = fxs_alloc_data(size);
    if (!base) {
        free(c);
        return NULL;
    }
    *c = (fxs_arena_chunk){.size = size, .base = base};
    return c;
}

static size_t next_chunk_size(const fxs_arena *a, size_t want) {
#ifdef FXS_DEBUG_ARENA
    (void)a;
    return want;
#else
    /* Pages that are touched first cost more than what is done there: what has become large is soon
     * of huge pages. */
    size_t last = a->chunks ? a->chunks->size : 0;
    size_t grow = !last ? FIRST_CHUNK : last < FAST_GROWTH ? last * 2 : last * 4;
    if (grow > LAST_GROWTH)
        grow = LAST_GROWTH;
    if (!a->chunks && a->reserve)
        grow = a->reserve;
    if (want > grow)
        grow = want;
    /* What has not been touched costs nothing: the chunk of a large scratch serves for all rounds.
     */
    return grow >= FAST_GROWTH && grow < a->room ? a->room : grow;
#endif
}

void *fxs_arena_alloc_raw(fxs_arena *a, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX / 2)
        return NULL;
    size_t align = bytes >= WIDE_FROM ? WIDE_ALIGN : ALIGN;
    fxs_arena_chunk *c = a->chunks;
    size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
    if (!c || at > c->size || c->size - at < bytes) {
        size_t usual = next_chunk_size(a, bytes);
        c = chunk_new(usual);
        if (!c && usual == a->room)
            c = chunk_new(bytes);
        if (!c)
            return NULL;
        c->next = a->chunks;
        a->chunks = c;
        at = 0;
    }
    c->used = at + bytes;
    return c->base + at;
}

void *fxs_arena_alloc(fxs_arena *a, size_t n, size_t size) {
    void *p = fxs_arena_alloc_raw(a, n, size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

char *fxs_arena_dup(fxs_arena *a, const char *s, size_t n) {
    char *p = n == SIZE_MAX ? NULL : fxs_arena_alloc_raw(a, n + 1, 1);
    if (!p)
        return NULL;
    if (n)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

static void chunk_free(fxs_arena_chunk *c) {
    free(c->base);
    free(c);
}

#ifndef FXS_DEBUG_ARENA
/* The largest chunk, when all that is there would fit into it. */
static fxs_arena_chunk *chunk_for_all(const fxs_arena *a) {
    fxs_arena_chunk *largest = a->chunks;
    size_t total = 0;
    for (fxs_arena_chunk *c = a->chunks; c; c = c->next) {
        total += c->used;
        largest = c->size > largest->size ? c : largest;
    }
    return largest && total <= largest->size ? largest : NULL;
}

static size_t size_of_all(const fxs_arena *a) {
    size_t total = 0;
    for (const fxs_arena_chunk *c = a->chunks; c; c = c->next)
        total += c->size;
    return total;
}
#endif

void fxs_arena_reset(fxs_arena *a) {
#ifdef FXS_DEBUG_ARENA
    fxs_arena_clear(a);
#else
    if (a->chunks && !a->chunks->next) { /* as behind almost every node of a run */
        a->chunks->used = 0;
        a->reserve = 0;
        return;
    }
    fxs_arena_chunk *keep = a->chunks && a->chunks->next ? chunk_for_all(a) : a->chunks;
    size_t reserve = keep ? 0 : size_of_all(a);
    for (fxs_arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        if (c != keep)
            chunk_free(c);
    }
    a->chunks = keep;
    a->reserve = reserve;
    if (keep) {
        keep->used = 0;
        keep->next = NULL;
    }
#endif
}

void fxs_arena_clear(fxs_arena *a) {
    for (fxs_arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        chunk_free(c);
    }
    a->chunks = NULL;
    a->reserve = 0;
}
