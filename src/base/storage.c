/* storage.c: best fit within twice the size. */
#include "base/storage.h"

#include <stdlib.h>

#include "base/mapping.h"

enum { MAX_CACHED = 64, ALIGN = 64 };

typedef struct block {
    void *data;
    size_t capacity;
} block;

struct fxs_blocks {
    int refs;
    int count;
    block cached[MAX_CACHED];
    size_t held, peak; /* bytes of all blocks; the most at one time */
};

static void block_free(fxs_blocks *b, block k) {
    b->held -= k.capacity;
    free(k.data);
}

size_t fxs_blocks_peak(const fxs_blocks *b) { return b->peak; }
void fxs_blocks_forget_peak(fxs_blocks *b) { b->peak = b->held; }

fxs_blocks *fxs_blocks_new(void) {
    fxs_blocks *b = fxs_alloc0(1, sizeof *b);
    if (b)
        b->refs = 1;
    return b;
}

void fxs_blocks_unref(fxs_blocks *b) {
    if (!b || --b->refs > 0)
        return;
    for (int i = 0; i < b->count; i++)
        block_free(b, b->cached[i]);
    fxs_free(b);
}

static bool take_cached(fxs_blocks *b, size_t bytes, block *out) {
    int best = -1;
    for (int i = 0; i < b->count; i++) {
        size_t c = b->cached[i].capacity;
        if (c >= bytes && c / 2 <= bytes && (best < 0 || c < b->cached[best].capacity))
            best = i;
    }
    if (best < 0)
        return false;
    *out = b->cached[best];
    b->cached[best] = b->cached[--b->count];
    return true;
}

static bool make_block(fxs_blocks *b, size_t bytes, block *out) {
    if (bytes > PTRDIFF_MAX - ALIGN)
        return false;
    out->capacity = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    out->data = fxs_alloc_data(out->capacity);
    if (!out->data)
        return false;
    b->held += out->capacity;
    b->peak = b->held > b->peak ? b->held : b->peak;
    return true;
}

fxs_storage *fxs_storage_new(fxs_blocks *b, size_t bytes) {
    fxs_storage *s = fxs_alloc(1, sizeof *s);
    block blk;
    if (!s)
        return NULL;
    if (!take_cached(b, bytes, &blk) && !make_block(b, bytes, &blk)) {
        fxs_free(s);
        return NULL;
    }
    *s = (fxs_storage){
        .refs = 1, .bytes = bytes, .data = blk.data, .blocks = b, .capacity = blk.capacity};
    b->refs++;
    return s;
}

fxs_storage *fxs_storage_map(fxs_mapping *file, void *data, size_t bytes) {
    fxs_storage *s = fxs_alloc(1, sizeof *s);
    if (s)
        *s = (fxs_storage){.refs = 1, .bytes = bytes, .data = data, .file = fxs_mapping_ref(file)};
    return s;
}

fxs_storage *fxs_storage_borrow(void *data, size_t bytes, void (*release)(void *owner),
                                void *owner) {
    fxs_storage *s = fxs_alloc(1, sizeof *s);
    if (s)
        *s = (fxs_storage){
            .refs = 1, .bytes = bytes, .data = data, .release = release, .owner = owner};
    return s;
}

fxs_storage *fxs_storage_ref(fxs_storage *s) {
    s->refs++;
    return s;
}

void fxs_storage_unref(fxs_storage *s) {
    if (!s || --s->refs > 0)
        return;
    fxs_blocks *b = s->blocks;
    if (!b) {
        if (s->file)
            fxs_mapping_unref(s->file);
        else
            s->release(s->owner);
        fxs_free(s);
        return;
    }
    block blk = {.data = s->data, .capacity = s->capacity};
    if (b->refs > 1 && b->count < MAX_CACHED)
        b->cached[b->count++] = blk;
    else
        block_free(b, blk);
    fxs_free(s);
    fxs_blocks_unref(b);
}
