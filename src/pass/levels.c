/* levels.c: see fxoutline.h. The calls of modules become levels, and a level's graph is written
 * when it is asked for, in time that grows with the level and what is in its boxes. */
#include <string.h>

#include "ir/spread.h"
#include "pass/outline.h"

static const fxs_outline_options no_options;

struct fxs_levels {
    fxs_outline_plan p;
    fxs_level *items;
    size_t n;
    size_t *level_of, *call_of; /* call -> level, level -> call */
    fxs_value *as;              /* by position; all unknown between two levels */
    size_t *known;              /* positions of those that are not */
    size_t nknown;
    fxs_level_node *nodes; /* of the last level that was made */
    size_t nnodes;
};

/* ---- all levels ---- */

/* A call of one node is shown as that node. */
static bool is_level(const fxs_module_call *c) { return c->last > c->first; }

/* "layers.0, layers.1", as outline_box.c names them. */
static bool is_group(const fxs_module *m, const char *path) {
    return strstr(path, ", ") && !fxs_module_find(m, path);
}

static fxs_status make_levels(fxs_levels *l) {
    const fxs_module_calls *c = &l->p.calls;
    fxs_arena *arena = &l->p.arena;
    size_t nnodes = l->p.m->graph->len;
    l->items = FXS_NEW_N(arena, fxs_level, c->n);
    l->level_of = FXS_NEW_N(arena, size_t, c->n);
    l->call_of = FXS_NEW_N(arena, size_t, c->n);
    l->as = FXS_NEW_N(arena, fxs_value, nnodes + 1);
    l->known = FXS_NEW_N(arena, size_t, nnodes + 1);
    l->nodes = FXS_NEW_N(arena, fxs_level_node, 2 * nnodes + 2);
    if (!l->items || !l->level_of || !l->call_of || !l->as || !l->known || !l->nodes)
        return fxs_fail_memory(l->p.m->ctx);
    for (size_t i = 0; i <= nnodes; i++)
        l->as[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    for (size_t i = 0; i < c->n; i++) {
        const fxs_module_call *call = &c->items[i];
        l->level_of[i] = l->level_of[call->parent];
        if (i && !is_level(call))
            continue;
        l->items[l->n] = (fxs_level){.parent = l->level_of[call->parent],
                                     .path = call->path,
                                     .class_name = call->class_name,
                                     .nth = call->nth,
                                     .first = call->first,
                                     .last = call->last,
                                     .group = is_group(l->p.m, call->path)};
        l->call_of[l->n] = i;
        l->level_of[i] = l->n++;
    }
    return FXS_OK;
}

static fxs_status make_plan(fxs_levels *l) {
    FXS_TRY(fxs_outline_plan_begin(&l->p));
    FXS_TRY(fxs_outline_link(&l->p));
    return make_levels(l);
}

fxs_status fxs_levels_new(const fxs_module *m, fxs_levels **out) {
    *out = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "%s has no graph to show in levels", m->class_name);
    fxs_levels *l = fxs_alloc0(1, sizeof *l);
    if (!l)
        return fxs_fail_memory(m->ctx);
    l->p = (fxs_outline_plan){.m = m, .opt = &no_options};
    fxs_status s = make_plan(l);
    if (s != FXS_OK) {
        fxs_levels_free(l);
        return s;
    }
    *out = l;
    return FXS_OK;
}

void fxs_levels_free(fxs_levels *l) {
    if (!l)
        return;
    fxs_module_calls_free(&l->p.calls);
    fxs_arena_clear(&l->p.arena);
    fxs_free(l);
}

size_t fxs_levels_count(const fxs_levels *l) { return l->n; }
const fxs_level *fxs_levels_at(const fxs_levels *l, size_t level) { return &l->items[level]; }

/* ---- one level ---- */

typedef struct level_writing {
    fxs_outline_writing w; /* first: fxs_outline_stand_for gets a pointer to it */
    fxs_levels *l;
    size_t level;
} level_writing;

static void note(level_writing *k, fxs_level_part part, size_t at) {
    k->l->nodes[k->l->nnodes++] = (fxs_level_node){part, at};
}

static void now_known(level_writing *k, size_t position) { k->l->known[k->l->nknown++] = position; }

/* Placeholders for what [first, last] gets from outside, so that each is noted where it is made. */
static fxs_status enter_inputs(level_writing *k, size_t first, size_t last) {
    const fxs_level *level = &k->l->items[k->level];
    fxs_value v;
    for (size_t i = first; i <= last; i++) {
        const fxs_node *n = k->l->p.node[i];
        for (size_t a = 0; a < n->ninputs; a++) {
            size_t at = n->inputs[a]->index;
            if ((at >= level->first && at <= level->last) || k->l->as[at].tag != FXS_V_UNKNOWN)
                continue;
            FXS_TRY(fxs_outline_stand_for(&k->w, n->inputs[a], &v));
            if (v.tag == FXS_V_NODE) /* the runs that it comes from */
                FXS_TRY(fxs_graph_scope_copy(k->w.g, n->inputs[a]->scope, &v.u.node->scope));
            now_known(k, at);
            note(k, FXS_LEVEL_INPUT, at);
        }
    }
    return FXS_OK;
}

/* The call just inside of the level's that node `at` is in, when that is a level; 0: none. */
static size_t inner_call(const level_writing *k, size_t at) {
    const fxs_levels *l = k->l;
    size_t level = l->level_of[l->p.calls.of[at]];
    if (level == k->level)
        return 0;
    while (l->items[level].parent != k->level)
        level = l->items[level].parent;
    return l->call_of[level];
}

static fxs_status write_part(level_writing *k, size_t *at) {
    fxs_levels *l = k->l;
    size_t call = inner_call(k, *at), last = call ? l->p.calls.items[call].last : *at;
    FXS_TRY(enter_inputs(k, *at, last));
    FXS_TRY(call ? fxs_outline_write_box(&k->w, call)
                 : fxs_outline_write_node(&k->w, l->p.node[*at]));
    note(k, call ? FXS_LEVEL_BOX : FXS_LEVEL_NODE, call ? l->level_of[call] : *at);
    for (; *at <= last; (*at)++)
        now_known(k, *at);
    return FXS_OK;
}

static bool is_used_outside(const fxs_level *level, const fxs_node *n) {
    for (size_t i = 0; i < n->nusers; i++)
        if (n->users[i]->index < level->first || n->users[i]->index > level->last)
            return true;
    return false;
}

/* Is what leaves the level joined outside with the results of all other blocks of its run? Then
 * that is what leaves it, and not the last block's alone. */
static bool is_joined_outside(const fxs_level *level, const fxs_node *n) {
    for (size_t i = 0; i < n->nusers; i++)
        if ((n->users[i]->index < level->first || n->users[i]->index > level->last) &&
            fxs_joins_blocks(n->users[i]))
            return true;
    return false;
}

static fxs_status write_result(level_writing *k) {
    const fxs_level *level = &k->l->items[k->level];
    fxs_outline_writing *w = &k->w;
    fxs_outline_found outputs = {0};
    const fxs_scope *scope;
    bool joined = false;
    for (size_t i = level->first; i <= level->last; i++)
        if (is_used_outside(level, w->p->node[i])) {
            joined = joined || is_joined_outside(level, w->p->node[i]);
            FXS_TRY(fxs_outline_find_once(w, &outputs, k->l->as[i]));
        }
    if (outputs.n == 0)
        return FXS_OK;
    FXS_TRY(fxs_outline_scope(w, k->l->call_of[k->level], !joined, &scope));
    FXS_TRY(fxs_outline_write_output(w, &outputs, scope));
    note(k, FXS_LEVEL_OUTPUT, 0);
    return FXS_OK;
}

static fxs_status write_level(level_writing *k) {
    const fxs_level *level = &k->l->items[k->level];
    k->l->nnodes = 0;
    if (k->l->p.m->graph->len == 0)
        return FXS_OK;
    for (size_t at = level->first; at <= level->last;)
        FXS_TRY(write_part(k, &at));
    return k->level ? write_result(k) : FXS_OK;
}

static void forget(fxs_levels *l) {
    while (l->nknown)
        l->as[l->known[--l->nknown]] = (fxs_value){.tag = FXS_V_UNKNOWN};
}

fxs_status fxs_levels_model(fxs_levels *l, size_t level, fxs_module **out,
                            const fxs_level_node **nodes) {
    const fxs_module *m = l->p.m;
    level_writing k = {
        .w = {.p = &l->p, .as = l->as, .focused = level > 0}, .l = l, .level = level};
    *out = NULL;
    FXS_TRY(fxs_graph_new(m->ctx, &k.w.g));
    fxs_status s = write_level(&k);
    forget(l);
    if (s == FXS_OK)
        s = fxs_module_with_graph(m, level ? l->items[level].class_name : m->class_name, k.w.g,
                                  out);
    if (s != FXS_OK) {
        fxs_graph_free(k.w.g);
        return s;
    }
    if (nodes)
        *nodes = l->nodes;
    return FXS_OK;
}
