/* same_weights.c: whose weights those of the blocks of a run are. All blocks are looked at, not
 * neighbours alone: where blocks take two sets of weights in turns, no neighbours share any.
 * Buffers are no weights. Called by repeat.c. */
#include "pass/same.h"

/* In how many blocks a parameter is. */
typedef struct usage {
    const fxs_parameter *p;
    struct usage *next;
    size_t blocks, last; /* last: the last one of them, from 1 */
} usage;

typedef struct tally {
    const fxs_outline_plan *plan;
    fxs_arena arena;
    fxs_map known; /* bytes of a parameter's address -> its usage */
    usage *all;
    size_t block; /* that is being read, from 1 */
    bool unknown; /* a layer is not in the module tree */
} tally;

static usage *usage_of(tally *t, const fxs_parameter *p) {
    void **known = fxs_map_at(&t->known, (const char *)&p, sizeof p);
    if (known)
        return *known;
    usage *made = FXS_NEW(&t->arena, usage);
    if (!made)
        return NULL;
    *made = (usage){.p = p, .next = t->all};
    if (!fxs_map_put(&t->known, (const char *)&made->p, sizeof made->p, made))
        return NULL;
    return t->all = made;
}

/* The functions below are false when memory is out. */

static bool count_parameter(tally *t, const fxs_parameter *p) {
    if (p->is_buffer)
        return true;
    usage *u = usage_of(t, p);
    if (u && u->last != t->block) {
        u->last = t->block;
        u->blocks++;
    }
    return u != NULL;
}

static bool count_layer(tally *t, const fxs_module *m) {
    for (size_t i = 0; i < m->nattributes; i++)
        if (!count_parameter(t, m->attributes[i].param))
            return false;
    for (size_t i = 0; i < m->nchildren; i++)
        if (!count_layer(t, m->children[i].module))
            return false;
    return true;
}

static bool count_node(tally *t, const fxs_node *n) {
    if (n->kind != FXS_CALL_MODULE && n->kind != FXS_GET_ATTR)
        return true;
    fxs_lookup found = fxs_module_lookup(t->plan->m, n->target);
    t->unknown = t->unknown || (!found.module && !found.param);
    if (found.param)
        return count_parameter(t, found.param);
    return !found.module || count_layer(t, found.module);
}

static fxs_sharing sharing_of(const tally *t, size_t times) {
    bool own = true, shared = true;
    for (const usage *u = t->all; u; u = u->next) {
        own = own && u->blocks == 1;
        shared = shared && u->blocks == times;
    }
    if (!t->all)
        return t->unknown ? FXS_SHARING_UNKNOWN : FXS_SHARING_NONE;
    return own ? FXS_SHARING_OWN : shared ? FXS_SHARING_ALL : FXS_SHARING_SOME;
}

fxs_status fxs_same_weights(const fxs_outline_plan *p, size_t first, size_t length, size_t times,
                            fxs_sharing *out) {
    tally t = {.plan = p};
    bool ok = true;
    for (size_t i = 0; ok && i < length * times; i++) {
        t.block = i / length + 1;
        ok = count_node(&t, p->node[first + i]);
    }
    *out = sharing_of(&t, times);
    fxs_map_free(&t.known);
    fxs_arena_clear(&t.arena);
    return ok ? FXS_OK : fxs_fail_memory(p->m->ctx);
}
