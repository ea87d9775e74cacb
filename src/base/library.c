/* library.c: see library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static void tell(fxs_buf *why) {
    const char *error = dlerror();
    fxs_buf_puts(why, error ? error : "there is no reason given");
}

static bool open_files(const fxs_library *l, void **handles, fxs_buf *why) {
    for (size_t i = 0; l->files[i]; i++) {
        handles[i] = dlopen(l->files[i], RTLD_LAZY | RTLD_LOCAL);
        if (!handles[i]) {
            tell(why);
            return false;
        }
    }
    return true;
}

/* In the first file that has it. What a file needs itself is found through it, too. */
static bool look_up(const fxs_library *l, void *const *handles, const char *name, void **out,
                    fxs_buf *why) {
    *out = NULL;
    for (size_t i = 0; l->files[i] && !*out; i++)
        *out = dlsym(handles[i], name);
    if (!*out)
        tell(why);
    return *out != NULL;
}

enum { MAX_FILES = 16 };

static bool fill(fxs_library *l, fxs_buf *why) {
    void *handles[MAX_FILES], *found;
    if (!open_files(l, handles, why))
        return false;
    for (size_t i = 0; l->names[i]; i++) {
        if (!look_up(l, handles, l->names[i], &found, why))
            return false;
        memcpy((char *)l->table + i * sizeof found, &found, sizeof found);
    }
    atomic_store_explicit(&l->open, true, memory_order_release);
    return true;
}

/* Files stay open, also those of a library that lacks a name: threads of theirs may run. */
bool fxs_library_open(fxs_library *l, fxs_buf *why) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    if (fxs_library_is_open(l))
        return true;
    pthread_mutex_lock(&one_at_a_time);
    bool ok = fxs_library_is_open(l) || fill(l, why);
    pthread_mutex_unlock(&one_at_a_time);
    return ok;
}

fxs_status fxs_library_need(fxs_ctx *ctx, fxs_library *l, const char *name) {
    fxs_buf why = {0};
    if (fxs_library_open(l, &why))
        return FXS_OK;
    fxs_status s = why.failed ? fxs_fail_memory(ctx)
                              : fxs_fail(ctx, FXS_EIO, "%s can't be opened: %s", name, why.data);
    fxs_buf_free(&why);
    return s;
}
