/* storage.c: see storage.h. */
#include "base/storage.h"

#include "base/mapping.h"

fxs_storage *fxs_storage_new(fxs_blocks *b, size_t bytes) {
    fxs_storage *s = fxs_alloc(1, sizeof *s);
    fxs_piece piece;
    if (!s)
        return NULL;
    if (!fxs_blocks_take(b, bytes, &piece)) {
        fxs_free(s);
        return NULL;
    }
    *s = (fxs_storage){
        .refs = 1, .bytes = bytes, .data = piece.data, .blocks = fxs_blocks_ref(b), .piece = piece};
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
    fxs_blocks_give(b, &s->piece);
    fxs_free(s);
    fxs_blocks_unref(b);
}
