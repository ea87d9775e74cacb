/* map.h: a hash map from text to pointers (or small integers). Keys are borrowed: they must live as
 * long as it. */
#ifndef FXS_BASE_MAP_H
#define FXS_BASE_MAP_H

#include "base/mem.h"

typedef struct fxs_map_slot {
    const char *key; /* NULL: free */
    void *value;
    uint32_t len, hash; /* small slots: a map of many names is the larger part of a first touch */
} fxs_map_slot;

typedef struct fxs_map {
    fxs_map_slot *slots;
    size_t count, cap;
} fxs_map;

/* The value's place, or NULL when the key is not there. */
FXS_API void **fxs_map_at(const fxs_map *m, const char *key, size_t len);
/* The value of a NUL-terminated key, NULL when it is not there. */
FXS_API void *fxs_map_get(const fxs_map *m, const char *key);
/* Puts or replaces; false when memory is out. */
FXS_API bool fxs_map_put(fxs_map *m, const char *key, size_t len, void *value);
/* For keys that are copied only where they are new: the place of the key, with key NULL where it is
 * not there yet; then it may be filled, as the next thing that is done to the map, with a key of
 * the same text. NULL when memory is out. */
fxs_map_slot *fxs_map_place(fxs_map *m, const char *key, size_t len);
void fxs_map_fill(fxs_map *m, fxs_map_slot *s, const char *key, void *value);
/* Makes room for that many keys in all; false when memory is out. */
bool fxs_map_reserve(fxs_map *m, size_t count);
FXS_API void fxs_map_free(fxs_map *m);
/* FNV-1a of 64 bits: the same everywhere and always, since it seeds parameters by name. */
FXS_API uint64_t fxs_hash(const char *s, size_t len);

#endif
