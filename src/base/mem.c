/* mem.c: see mem.h. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DATA_ALIGN = 64, HUGE_PAGE = 1 << 21 };

static atomic_long fail_limit = -1;
static atomic_long made;

/* True when a test's limit is reached. Counts the call where there is one. */
static bool refused(void) {
    long limit = atomic_load_explicit(&fail_limit, memory_order_relaxed);
    return limit >= 0 && atomic_fetch_add(&made, 1) >= limit;
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
    if (!total_bytes(n, size, &bytes) || refused())
        return NULL;
    return malloc(bytes);
}

void *fxs_alloc0(size_t n, size_t size) {
    size_t bytes;
    if (!total_bytes(n, size, &bytes) || refused())
        return NULL;
    return calloc(1, bytes);
}

static bool beyond_memory(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && bytes / (size_t)page > (size_t)pages;
}

void *fxs_alloc_data(size_t bytes) {
    bool huge = bytes >= HUGE_PAGE;
    size_t align = huge ? HUGE_PAGE : DATA_ALIGN;
    void *p;
    if (bytes > PTRDIFF_MAX - align || refused() || (huge && beyond_memory(bytes)) ||
        posix_memalign(&p, align, bytes ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (huge) /* only whole huge pages, so that the tail costs no memory */
        madvise(p, bytes & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return p;
}

void *fxs_realloc(void *p, size_t n, size_t size) {
    size_t bytes;
    if (!total_bytes(n, size, &bytes) || refused())
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
