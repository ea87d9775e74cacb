/* library.h: libraries that only few calls need are opened at the first of those: to load cairo,
 * pango, Graphviz and OpenBLAS takes longer than most commands do. A list of names (*.names)
 * becomes a table of pointers at build time (library.py), and macros by which sources call through
 * it as if they were linked with the library. */
#ifndef FXS_BASE_LIBRARY_H
#define FXS_BASE_LIBRARY_H

#include <stdatomic.h>

#include "base/ctx.h"

typedef struct fxs_library {
    const char *const *files; /* as the linker found them; NULL behind the last */
    const char *const *names; /* NULL behind the last */
    void *table;              /* a pointer for each name, filled when it is opened */
    atomic_bool open;         /* once it is, for ever */
} fxs_library;

/* Opens it where it is not yet; any thread may. False: `why` gets the loader's words, which name
 * the file or the name that is missing; the next call tries again. */
bool fxs_library_open(fxs_library *l, fxs_buf *why);
/* The same; FXS_EIO: "NAME can't be opened: " and the loader's words. */
fxs_status fxs_library_need(fxs_ctx *ctx, fxs_library *l, const char *name);
static inline bool fxs_library_is_open(fxs_library *l) {
    return atomic_load_explicit(&l->open, memory_order_acquire);
}

#endif
