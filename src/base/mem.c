/* mem.c: see mem.h. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_limit = -1;
static atomic_long made;

bool fxs_alloc_refused(void) {
    long n = atomic_fetch_add(&made, 1);
    long limit = atomic_load_explicit(&fail_limit, memory_order_relaxed);
    return limit >= 0 && n >= limit;
}

long fxs_alloc_fail_after(long n) {
    atomic_store(&fail_limit, n);
    return atomic_exchange(&made, 0);
}

static bool total_bytes(size_t n, size_t size, size_t *out) {
    if (__builtin_mul_overflow(n, size, out) || *out > PTRDIFF_MAX)
        return false;
    if (*out == 0)
        *out = 1;
    return true;
}

void *fxs_alloc(size_t n, size_t size) {
    size_t bytes;
    if (!total_bytes(n, size, &bytes) || fxs_alloc_refused())
        return NULL;
    return malloc(bytes);
}

void *fxs_alloc0(size_t n, size_t size) {
    size_t bytes;
    if (!total_bytes(n, size, &bytes) || fxs_alloc_refused())
        return NULL;
    return calloc(1, bytes);
}

void *fxs_realloc(void *p, size_t n, size_t size) {
    size_t bytes;
    if (!total_bytes(n, size, &bytes) || fxs_alloc_refused())
        return NULL;
    return realloc(p, bytes);
}

char *fxs_memdup0(const char *s, size_t n) {
    char *p = n == SIZE_MAX ? NULL : fxs_alloc(n + 1, 1);
    if (!p)
        return NULL;
    if (n)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

void fxs_free(void *p) { free(p); }
