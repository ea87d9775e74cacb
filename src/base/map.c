/* map.c: open addressing with linear probing, at most two thirds full; nothing is ever removed, as
 * names never are. */
#include "base/map.h"

#include <string.h>

uint64_t fxs_hash(const char *s, size_t len) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h ^ (h >> 32);
}

/* Of eight bytes at a time: keys are hashed at every step of a run. */
static uint32_t hash_key(const char *s, size_t len) {
    const uint64_t k = 0x9e3779b97f4a7c15u;
    uint64_t h = len * k, w;
    for (; len >= 8; s += 8, len -= 8) {
        memcpy(&w, s, 8);
        h = (h ^ w) * k;
        h ^= h >> 32;
    }
    for (w = 0; len > 0; len--)
        w = w << 8 | (unsigned char)s[len - 1];
    h = (h ^ w) * k;
    return (uint32_t)(h ^ (h >> 29));
}

static fxs_map_slot *find_slot(const fxs_map *m, const char *key, size_t len, uint32_t hash) {
    size_t i = hash & (m->cap - 1);
    for (;; i = (i + 1) & (m->cap - 1)) {
        fxs_map_slot *s = &m->slots[i];
        if (!s->key || (s->hash == hash && s->len == len && memcmp(s->key, key, len) == 0))
            return s;
    }
}

void **fxs_map_at(const fxs_map *m, const char *key, size_t len) {
    if (!m->cap || len > UINT32_MAX)
        return NULL;
    fxs_map_slot *s = find_slot(m, key, len, hash_key(key, len));
    return s->key ? &s->value : NULL;
}

void *fxs_map_get(const fxs_map *m, const char *key) {
    void **at = fxs_map_at(m, key, strlen(key));
    return at ? *at : NULL;
}

static bool grow_to(fxs_map *m, size_t cap) {
    fxs_map bigger = {.cap = cap, .count = m->count};
    bigger.slots = fxs_alloc0(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->cap; i++) {
        const fxs_map_slot *s = &m->slots[i];
        if (s->key)
            *find_slot(&bigger, s->key, s->len, s->hash) = *s;
    }
    fxs_free(m->slots);
    *m = bigger;
    return true;
}

bool fxs_map_reserve(fxs_map *m, size_t count) {
    size_t cap = m->cap ? m->cap : 16;
    while (cap / 3 * 2 < count)
        cap *= 2;
    return cap == m->cap || grow_to(m, cap);
}

fxs_map_slot *fxs_map_place(fxs_map *m, const char *key, size_t len) {
    if (len > UINT32_MAX || !fxs_map_reserve(m, m->count + 1))
        return NULL;
    uint32_t hash = hash_key(key, len);
    fxs_map_slot *s = find_slot(m, key, len, hash);
    if (!s->key)
        s->len = (uint32_t)len, s->hash = hash;
    return s;
}

void fxs_map_fill(fxs_map *m, fxs_map_slot *s, const char *key, void *value) {
    m->count += !s->key;
    s->key = key;
    s->value = value;
}

bool fxs_map_put(fxs_map *m, const char *key, size_t len, void *value) {
    fxs_map_slot *s = fxs_map_place(m, key, len);
    if (s)
        fxs_map_fill(m, s, s->key ? s->key : key, value);
    return s != NULL;
}

void fxs_map_free(fxs_map *m) {
    fxs_free(m->slots);
    *m = (fxs_map){0};
}
