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

/* Bytes aligned to 64 for data; from 2 MiB on to huge pages, which are asked for: a page of 4 KiB
 * costs more to get than the arithmetic on it. Freed by free. NULL when memory is out, or where the
 * machine has less: the system might promise it and end the process later. */
void *fxs_alloc_data(size_t bytes);

/* For tests: the allocation after `n` successful ones fails, and so do all later ones; -1 switches
 * this off. Returns how many were made since the last call, if that had set a limit. */
long fxs_alloc_fail_after(long n);

#endif
