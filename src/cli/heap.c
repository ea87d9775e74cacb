/* heap.c: a large model is ten thousands of small allocations, and at the first touch of each page
 * the system takes longer than what is done there (in a virtual machine ten microseconds). So the
 * heap grows in steps of huge pages, as glibc.malloc.hugetlb=1 would have it, which must be set
 * before the process begins. The command may decide that; the library must not. */
#include "heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)
/* A graph as text takes some twelve times as much in memory; what is not touched takes none. */
enum { LARGE_FILE = 1 << 18, PAGE = 1 << 21, TIMES = 16, MOST = 16 * PAGE };

static uintptr_t heap_end(void) { return ((uintptr_t)sbrk(0) + PAGE - 1) / PAGE * PAGE; }

void cli_heap_for(const char *path) {
    static void *volatile head; /* up to where a huge page can begin; never touched */
    struct stat s;
    if (head || stat(path, &s) != 0 || s.st_size < LARGE_FILE)
        return;
    int step = s.st_size < MOST / TIMES ? (int)s.st_size * TIMES : MOST;
    uintptr_t from = heap_end();
    mallopt(M_TOP_PAD, step);
    mallopt(M_MMAP_THRESHOLD, 2 * PAGE);
    head = malloc(from - (uintptr_t)sbrk(0) + 1);
    if (!head) /* little memory: what is needed may be there yet */
        mallopt(M_TOP_PAD, 0);
    uintptr_t to = (uintptr_t)sbrk(0) / PAGE * PAGE;
    if (to > from) /* only advice: without it the pages are small */
        madvise((void *)from, to - from, MADV_HUGEPAGE);
}
#else
void cli_heap_for(const char *path) { (void)path; }
#endif
