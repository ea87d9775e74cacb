/* mem.h: every allocation of the library goes through here, so that overflow is checked in one
 * place and tests can make the n-th allocation fail. Knows nothing of what is allocated. */
#ifndef FXS_BASE_MEM_H
#define FXS_BASE_MEM_H

#include "fxscope.h"

/* Like malloc, calloc and realloc over n items of `size` bytes; NULL when memory is out or n * size
 * overflows. */
FXS_API void *fxs_alloc(size_t n, size_t size);
FXS_API void *fxs_alloc0(size_t n, size_t size);
FXS_API void *fxs_realloc(void *p, size_t n, size_t size);
/* A heap copy of n bytes with a NUL behind them. */
FXS_API char *fxs_memdup0(const char *s, size_t n);

/* For tests: the allocation after `n` successful ones fails, and so do all later ones; -1 switches
 * this off. Returns how many were made since the last call. */
long fxs_alloc_fail_after(long n);
/* True when a test's limit is reached; storage.c asks too. Counts the call. */
bool fxs_alloc_refused(void);

#endif
