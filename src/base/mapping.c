/* mapping.c: see mapping.h. Pages come from the file when they are touched first, and cost no copy.
 */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"

static fxs_status map_file(fxs_ctx *ctx, const char *path, int fd, fxs_mapping *m) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be read: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fxs_fail(ctx, FXS_EIO, "%s: can't be read: it is no regular file", path);
    m->len = (size_t)st.st_size;
    m->device = st.st_dev;
    m->inode = st.st_ino;
    if (m->len == 0) /* nothing can't be mapped */
        return FXS_OK;
    void *at = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be read: %s", path, strerror(errno));
    m->data = at;
    return FXS_OK;
}

fxs_status fxs_mapping_open(fxs_ctx *ctx, const char *path, fxs_mapping **out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *out = NULL;
    if (fd < 0)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be opened: %s", path, strerror(errno));
    fxs_mapping *m = fxs_alloc0(1, sizeof *m);
    if (!m) {
        close(fd);
        return fxs_fail_memory(ctx);
    }
    m->refs = 1;
    fxs_status s = map_file(ctx, path, fd, m);
    close(fd);
    if (s == FXS_OK)
        *out = m;
    else
        fxs_mapping_unref(m);
    return s;
}

typedef struct pages {
    const volatile char *first;
    size_t page;
} pages;

/* A page that the system has mapped may still have to be found by the processor: a virtual machine
 * whose host keeps page tables of its own fills them in at the first touch, which then takes longer
 * than all that a kernel does with the page. */
static void touch(void *user, int64_t begin, int64_t end, int thread) {
    const pages *p = user;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        (void)p->first[(size_t)i * p->page];
}

enum { TOUCHED_AT_ONCE = 64 };

void fxs_mapping_read(fxs_ctx *ctx, const void *data, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data & ~(page - 1);
    uintptr_t end = (uintptr_t)data + bytes;
    if (bytes == 0)
        return;
#ifdef MADV_POPULATE_READ
    if (bytes >= page) /* small ones share their pages with others */
        madvise((void *)at, end - at, MADV_POPULATE_READ);
#endif
    pages p = {(const volatile char *)at, page};
    fxs_parallel(ctx, (int64_t)((end - at + page - 1) / page), TOUCHED_AT_ONCE, touch, &p);
}

fxs_mapping *fxs_mapping_ref(fxs_mapping *m) {
    m->refs++;
    return m;
}

void fxs_mapping_unref(fxs_mapping *m) {
    if (!m || --m->refs > 0)
        return;
    if (m->data)
        munmap(m->data, m->len);
    fxs_free(m);
}
