/* unfinished.c: see unfinished.h. Called by sinks. A signal handler or another thread may look at
 * the list at any moment: places are never freed but used again, and who takes a name out of its
 * place owns it. */
#include "base/unfinished.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

struct fxs_unfinished {
    _Atomic(char *) name;
    atomic_bool taken;
    fxs_unfinished *next; /* never changes */
};

static _Atomic(fxs_unfinished *) first;

static fxs_unfinished *new_place(void) {
    for (fxs_unfinished *u = atomic_load(&first); u; u = u->next)
        if (!atomic_exchange(&u->taken, true))
            return u;
    fxs_unfinished *u = fxs_alloc0(1, sizeof *u);
    if (!u)
        return NULL;
    atomic_init(&u->taken, true);
    u->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &u->next, u))
        ;
    return u;
}

fxs_unfinished *fxs_unfinished_add(char *name) {
    fxs_unfinished *u = new_place();
    if (u)
        atomic_store(&u->name, name);
    return u;
}

void fxs_unfinished_done(fxs_unfinished *u) {
    if (!u)
        return;
    fxs_free(atomic_exchange(&u->name, NULL)); /* NULL: it was discarded, and is in use there */
    atomic_store(&u->taken, false);
}

void fxs_discard_unfinished(void) {
    for (fxs_unfinished *u = atomic_load(&first); u; u = u->next) {
        const char *name = atomic_exchange(&u->name, NULL);
        if (name)
            unlink(name);
    }
}
