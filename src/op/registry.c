/* registry.c: built once a context, at the first question, from the tables in kernels/families.c.
 */
#include "op/registry.h"

#include <string.h>

#include "base/map.h"

typedef struct fxs_registry {
    fxs_arena arena;
    fxs_map spellings; /* spelling -> fxs_candidate */
    fxs_map ops;       /* row name -> fxs_candidate */
    fxs_map modules;   /* class name -> fxs_module_row */
    fxs_map schemas;   /* the op's address -> fxs_schema */
} fxs_registry;

static void registry_free(fxs_registry *r) {
    fxs_map_free(&r->spellings);
    fxs_map_free(&r->ops);
    fxs_map_free(&r->modules);
    fxs_map_free(&r->schemas);
    fxs_arena_clear(&r->arena);
    fxs_free(r);
}

/* Appends to the chain under a key, so that the tables' order is the overloads' order. */
static bool add_candidate(fxs_registry *r, fxs_map *m, const char *key, const fxs_op *op,
                          bool in_place) {
    fxs_candidate *c = FXS_NEW(&r->arena, fxs_candidate);
    if (!c)
        return false;
    *c = (fxs_candidate){.op = op,
                         .spelling = m == &r->spellings ? key : NULL,
                         .in_place = in_place,
                         .underscored = key[strlen(key) - 1] == '_'};
    void **at = fxs_map_at(m, key, strlen(key));
    if (!at)
        return fxs_map_put(m, key, strlen(key), c);
    fxs_candidate *last = *at;
    while (last->next)
        last = (fxs_candidate *)last->next;
    last->next = c;
    return true;
}

static bool has_in_place_form(const fxs_op *op, const char *s, size_t n) {
    if (op->flags & FXS_OP_NO_INPLACE || s[n - 1] == '_')
        return false;
    return strncmp(s, "Tensor.", 7) == 0 || strncmp(s, "torch.", 6) == 0;
}

static bool add_spelling(fxs_registry *r, const fxs_op *op, const char *s, size_t n) {
    if (s[n - 1] == '!') {
        char *marked = fxs_arena_dup(&r->arena, s, n - 1);
        return marked && add_candidate(r, &r->spellings, marked, op, true);
    }
    char *key = fxs_arena_dup(&r->arena, s, n);
    if (!key || !add_candidate(r, &r->spellings, key, op, false))
        return false;
    if (!has_in_place_form(op, s, n))
        return true;
    char *with = FXS_NEW_N(&r->arena, char, n + 2);
    if (!with)
        return false;
    memcpy(with, s, n);
    with[n] = '_';
    return add_candidate(r, &r->spellings, with, op, true);
}

static bool add_op(fxs_registry *r, const fxs_op *op) {
    if (!add_candidate(r, &r->ops, op->name, op, false))
        return false;
    for (const char *s = op->torch ? op->torch : ""; *s;) {
        size_t n = strcspn(s, " ");
        if (n && !add_spelling(r, op, s, n))
            return false;
        s += n + (s[n] == ' ');
    }
    return true;
}

static bool add_family(fxs_registry *r, const fxs_family *f) {
    for (const fxs_op *op = f->ops; op && op->name; op++)
        if (!add_op(r, op))
            return false;
    for (const fxs_module_row *m = f->modules; m && m->name; m++)
        if (!fxs_map_put(&r->modules, m->name, strlen(m->name), (void *)m))
            return false;
    return true;
}

static fxs_status get_registry(fxs_ctx *ctx, fxs_registry **out) {
    *out = ctx->registry;
    if (*out)
        return FXS_OK;
    fxs_registry *r = fxs_alloc0(1, sizeof *r);
    if (!r)
        return fxs_fail_memory(ctx);
    for (const fxs_family *f = fxs_families; f->name; f++) {
        if (!add_family(r, f)) {
            registry_free(r);
            return fxs_fail_memory(ctx);
        }
    }
    ctx->registry = r;
    ctx->registry_free = registry_free;
    *out = r;
    return FXS_OK;
}

fxs_status fxs_registry_find(fxs_ctx *ctx, const char *spelling, const fxs_candidate **out) {
    fxs_registry *r;
    *out = NULL;
    FXS_TRY(get_registry(ctx, &r));
    *out = fxs_map_get(&r->spellings, spelling);
    return FXS_OK;
}

fxs_status fxs_registry_find_op(fxs_ctx *ctx, const char *name, const fxs_candidate **out) {
    fxs_registry *r;
    *out = NULL;
    FXS_TRY(get_registry(ctx, &r));
    *out = fxs_map_get(&r->ops, name);
    return FXS_OK;
}

fxs_status fxs_registry_find_module(fxs_ctx *ctx, const char *class_name,
                                    const fxs_module_row **out) {
    fxs_registry *r;
    *out = NULL;
    FXS_TRY(get_registry(ctx, &r));
    *out = fxs_map_get(&r->modules, class_name);
    return FXS_OK;
}

fxs_status fxs_registry_schema(fxs_ctx *ctx, const fxs_op *op, const fxs_schema **out) {
    fxs_registry *r;
    FXS_TRY(get_registry(ctx, &r));
    void **at = fxs_map_at(&r->schemas, (const char *)&op, sizeof op);
    if (at) {
        *out = *at;
        return FXS_OK;
    }
    fxs_schema *s = FXS_NEW(&r->arena, fxs_schema);
    char *key = fxs_arena_dup(&r->arena, (const char *)&op, sizeof op);
    if (!s || !key)
        return fxs_fail_memory(ctx);
    FXS_TRY(fxs_schema_parse(ctx, &r->arena, op->schema, s));
    if (!fxs_map_put(&r->schemas, key, sizeof op, s))
        return fxs_fail_memory(ctx);
    *out = s;
    return FXS_OK;
}

const fxs_family *fxs_registry_family(const fxs_op *op) {
    for (const fxs_family *f = fxs_families; f->name; f++)
        for (const fxs_op *o = f->ops; o && o->name; o++)
            if (o == op)
                return f;
    return NULL;
}
