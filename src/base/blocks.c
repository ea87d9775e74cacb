/* blocks.c: best fit over the free pieces of slabs, joined when they lie side by side. A slab is
 * used from its start on, and what lies behind its top has never been touched: it costs addresses,
 * not memory. With -Ddebug_arena=true every piece is an allocation of its own, so that
 * AddressSanitizer sees writes past it. */
#include "base/blocks.h"

#include <stdlib.h>

#include "base/thread_room.h"

#define MIB ((size_t)1 << 20)

enum {
    ALIGN = 64,
    SMALL = 4096, /* below it, malloc does well */
    SMALL_BLOCK = 64 << 10,
    FIRST_SLAB = 256 << 10, /* enough for small networks, which need no huge page then */
    SLAB_MIB = 64
};

typedef struct slab {
    struct slab *next;
    char *base;
    size_t size, top;
    bool spare;      /* base is a spare room */
    fxs_block *last; /* the one that ends at top */
} slab;

struct fxs_block {
    slab *in;
    fxs_block *before, *after; /* its neighbours in the slab */
    fxs_block *newer, *older;  /* in the list of the free ones */
    size_t at, size;
    bool free;
};

struct fxs_blocks {
    int refs;
    slab *slabs;       /* newest first */
    fxs_block *free;   /* newest first */
    bool has_spare;    /* one of the slabs */
    size_t held, peak; /* bytes below the tops, and small ones; the most at one time */
};

fxs_blocks *fxs_blocks_new(void) {
    fxs_blocks *b = fxs_alloc0(1, sizeof *b);
    if (b)
        b->refs = 1;
    return b;
}

fxs_blocks *fxs_blocks_ref(fxs_blocks *b) {
    b->refs++;
    return b;
}

static void slab_free(slab *s) {
    for (fxs_block *k = s->last, *before; k; k = before) {
        before = k->before;
        fxs_free(k);
    }
    if (s->spare)
        fxs_spare_room_give(s->base);
    else
        free(s->base);
    fxs_free(s);
}

void fxs_blocks_unref(fxs_blocks *b) {
    if (!b || --b->refs > 0)
        return;
    for (slab *s = b->slabs, *next; s; s = next) {
        next = s->next;
        slab_free(s);
    }
    fxs_free(b);
}

size_t fxs_blocks_peak(const fxs_blocks *b) { return b->peak; }
void fxs_blocks_forget_peak(fxs_blocks *b) { b->peak = b->held; }

static void hold(fxs_blocks *b, size_t bytes) {
    b->held += bytes;
    b->peak = b->held > b->peak ? b->held : b->peak;
}

/* ---- the list of the free ones
 * ------------------------------------------------------------------------------------------------
 */

static void list_free(fxs_blocks *b, fxs_block *k) {
    k->free = true;
    k->newer = NULL;
    k->older = b->free;
    if (b->free)
        b->free->newer = k;
    b->free = k;
}

static void unlist_free(fxs_blocks *b, fxs_block *k) {
    k->free = false;
    if (k->newer)
        k->newer->older = k->older;
    else
        b->free = k->older;
    if (k->older)
        k->older->newer = k->newer;
}

static fxs_block *best_fit(const fxs_blocks *b, size_t bytes) {
    fxs_block *best = NULL;
    for (fxs_block *k = b->free; k; k = k->older)
        if (k->size >= bytes && (!best || k->size < best->size))
            best = k;
    return best;
}

/* ---- slabs
 * ------------------------------------------------------------------------------------------------
 */

static slab *slab_of(fxs_blocks *b, size_t size, bool spare) {
    slab *s = fxs_alloc(1, sizeof *s);
    char *base = !s ? NULL : spare ? fxs_spare_room() : fxs_alloc_data(size);
    if (!base) {
        fxs_free(s);
        return NULL;
    }
    *s = (slab){.base = base, .size = size, .spare = spare, .next = b->slabs};
    b->slabs = s;
    return s;
}

static slab *slab_new(fxs_blocks *b, size_t bytes) {
    size_t usual = !b->slabs && bytes <= SMALL_BLOCK ? FIRST_SLAB : SLAB_MIB * MIB;
    slab *s = bytes < usual ? slab_of(b, usual, false) : NULL;
    return s ? s : slab_of(b, bytes, false);
}

/* How much must be cut behind the top for `bytes` more in one piece. */
static size_t growth(const slab *s, size_t bytes) {
    return s->last && s->last->free ? bytes - s->last->size : bytes;
}

/* A spare room, once there is one, for small blocks: its pages need not be asked for. */
static slab *spare_slab(fxs_blocks *b, size_t bytes) {
    if (b->has_spare || bytes > SMALL_BLOCK)
        return NULL;
    slab *s = slab_of(b, FXS_THREAD_ROOM, true);
    b->has_spare = s != NULL;
    return s;
}

/* The slab that has room behind its top. A free piece before the top becomes part of the block. */
static slab *slab_with_room(fxs_blocks *b, size_t bytes) {
    slab *best = spare_slab(b, bytes);
    if (best)
        return best;
    for (slab *s = b->slabs; s; s = s->next)
        if (s->size - s->top >= growth(s, bytes) &&
            (!best || growth(s, bytes) < growth(best, bytes)))
            best = s;
    return best ? best : slab_new(b, bytes);
}

static fxs_block *cut_behind_top(fxs_blocks *b, size_t bytes) {
    slab *s = slab_with_room(b, bytes);
    if (!s)
        return NULL;
    size_t more = growth(s, bytes);
    fxs_block *k = s->last;
    if (more < bytes || (k && k->free)) {
        unlist_free(b, k);
        k->size += more;
    } else {
        k = fxs_alloc(1, sizeof *k);
        if (!k)
            return NULL;
        *k = (fxs_block){.in = s, .before = s->last, .at = s->top, .size = more};
        if (s->last)
            s->last->after = k;
        s->last = k;
    }
    s->top += more;
    hold(b, more);
    return k;
}

/* Leaves what k has beyond `bytes` as a free piece behind it. */
static bool split(fxs_blocks *b, fxs_block *k, size_t bytes) {
    if (k->size - bytes < SMALL)
        return true;
    fxs_block *rest = fxs_alloc(1, sizeof *rest);
    if (!rest)
        return false;
    *rest = (fxs_block){
        .in = k->in, .before = k, .after = k->after, .at = k->at + bytes, .size = k->size - bytes};
    if (k->after)
        k->after->before = rest;
    else
        k->in->last = rest;
    k->after = rest;
    k->size = bytes;
    list_free(b, rest);
    return true;
}

static fxs_block *cut(fxs_blocks *b, size_t bytes) {
    fxs_block *k = best_fit(b, bytes);
    if (!k)
        return cut_behind_top(b, bytes);
    if (!split(b, k, bytes))
        return NULL;
    unlist_free(b, k);
    return k;
}

/* Joins k and the free one behind it; both are in no list. */
static void join(fxs_block *k) {
    fxs_block *gone = k->after;
    k->size += gone->size;
    k->after = gone->after;
    if (k->after)
        k->after->before = k;
    else
        k->in->last = k;
    fxs_free(gone);
}

static void put_back(fxs_blocks *b, fxs_block *k) {
    if (k->after && k->after->free) {
        unlist_free(b, k->after);
        join(k);
    }
    if (k->before && k->before->free) {
        k = k->before;
        unlist_free(b, k);
        join(k);
    }
    list_free(b, k);
}

/* ---- taking and giving
 * ------------------------------------------------------------------------------------------------
 */

static bool is_apart(size_t capacity) {
#ifdef FXS_DEBUG_ARENA
    (void)capacity;
    return true;
#else
    return capacity < SMALL;
#endif
}

bool fxs_blocks_take(fxs_blocks *b, size_t bytes, fxs_piece *out) {
    if (bytes > PTRDIFF_MAX - ALIGN)
        return false;
    size_t capacity = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    *out = (fxs_piece){.capacity = capacity};
    if (is_apart(capacity)) {
        out->data = fxs_alloc_data(capacity);
        if (out->data)
            hold(b, capacity);
        return out->data != NULL;
    }
    out->block = cut(b, capacity);
    if (!out->block)
        return false;
    out->data = out->block->in->base + out->block->at;
    out->capacity = out->block->size;
    return true;
}

void fxs_blocks_give(fxs_blocks *b, const fxs_piece *p) {
    if (p->block) {
        put_back(b, p->block);
        return;
    }
    b->held -= p->capacity;
    free(p->data);
}
