/* calls.c: see calls.h. Each node has a chain of frames, from the outermost module that was running
 * to the innermost; a call is a run of neighbours that agree in the chain up to there. */
#include "pass/calls.h"

#include <string.h>

/* One module that was running: a scope, or a prefix of a path. */
typedef struct frame {
    const fxs_scope *scope; /* NULL: from a path */
    const char *path;
    size_t len;
} frame;

typedef struct maker {
    const fxs_module *m;
    fxs_module_calls *calls;
    fxs_arena scratch;
    frame *chain; /* of the node in hand */
    size_t nchain;
    size_t *open; /* the calls that it is in, outermost first; the root is not among them */
    size_t nopen;
    const char **paths;       /* by position: the path of the innermost module; NULL: not known */
    const fxs_scope **scopes; /* the same for a traced graph */
    bool traced;
    size_t cap;
    fxs_map counts; /* path -> how many calls there were, as a pointer */
} maker;

/* ---- what is known of a node by itself ---- */

/* The module that a layer or attribute belongs to: "a.b" of "a.b.weight". */
static const char *holder_of(maker *k, const char *target) {
    const char *dot = strrchr(target, '.');
    return fxs_arena_dup(&k->scratch, target, dot ? (size_t)(dot - target) : 0);
}

static bool note_node(maker *k, const fxs_node *n) {
    bool at_root = n->kind == FXS_PLACEHOLDER || n->kind == FXS_OUTPUT;
    bool has_path = n->kind == FXS_CALL_MODULE || n->kind == FXS_GET_ATTR;
    k->scopes[n->index] = n->scope;
    if (!at_root && !has_path)
        return true;
    return (k->paths[n->index] = holder_of(k, at_root ? "" : n->target)) != NULL;
}

/* ---- what neighbours tell of a node: the innermost module that holds both ---- */

static size_t common_path(const char *a, const char *b) {
    size_t common = 0;
    for (size_t i = 0;; i++) {
        bool ends_a = a[i] == '.' || !a[i], ends_b = b[i] == '.' || !b[i];
        if (ends_a && ends_b)
            common = i;
        if (a[i] != b[i] || !a[i])
            return common;
    }
}

static const fxs_scope *common_scope(const fxs_scope *a, const fxs_scope *b) {
    for (; a; a = a->outer)
        for (const fxs_scope *s = b; s; s = s->outer)
            if (s == a)
                return a;
    return NULL;
}

static bool fill_paths(maker *k, size_t n) {
    const char **next = FXS_NEW_N(&k->scratch, const char *, n + 1), *before = "";
    if (!next)
        return false;
    next[n] = "";
    for (size_t i = n; i-- > 0;)
        next[i] = k->paths[i] ? k->paths[i] : next[i + 1];
    for (size_t i = 0; i < n; i++) {
        if (!k->paths[i])
            k->paths[i] = fxs_arena_dup(&k->scratch, before, common_path(before, next[i]));
        else
            before = k->paths[i];
        if (!k->paths[i])
            return false;
    }
    return true;
}

static bool fill_scopes(maker *k, size_t n) {
    const fxs_scope **next = FXS_NEW_N(&k->scratch, const fxs_scope *, n + 1), *before = NULL;
    if (!next)
        return false;
    for (size_t i = n; i-- > 0;)
        next[i] = k->scopes[i] ? k->scopes[i] : next[i + 1];
    for (size_t i = 0; i < n; i++) {
        if (!k->scopes[i])
            k->scopes[i] = common_scope(before, next[i]);
        else
            before = k->scopes[i];
    }
    return true;
}

/* ---- chains ---- */

static bool push_frame(maker *k, frame f) {
    if (k->nchain == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 16;
        frame *chain = FXS_NEW_N(&k->scratch, frame, cap);
        size_t *open = FXS_NEW_N(&k->scratch, size_t, cap);
        if (!chain || !open)
            return false;
        if (k->cap) {
            memcpy(chain, k->chain, k->nchain * sizeof *chain);
            memcpy(open, k->open, k->nopen * sizeof *open);
        }
        k->chain = chain;
        k->open = open;
        k->cap = cap;
    }
    k->chain[k->nchain++] = f;
    return true;
}

/* A list or dict of modules is a place in the tree, and never called. */
static bool is_called(const maker *k, const char *path, size_t len) {
    char *name = fxs_arena_dup(&k->calls->arena, path, len);
    const fxs_module *m = name ? fxs_module_find(k->m, name) : NULL;
    return !m ||
           (strcmp(m->class_name, "ModuleList") != 0 && strcmp(m->class_name, "ModuleDict") != 0);
}

static bool chain_of_path(maker *k, const char *path) {
    for (size_t i = 1; *path && i <= strlen(path); i++)
        if ((path[i] == '.' || !path[i]) && is_called(k, path, i) &&
            !push_frame(k, (frame){.path = path, .len = i}))
            return false;
    return true;
}

static bool chain_of_scope(maker *k, const fxs_scope *s) {
    if (!s || !s->outer) /* the root itself */
        return true;
    return chain_of_scope(k, s->outer) &&
           push_frame(k, (frame){.scope = s, .path = s->path, .len = strlen(s->path)});
}

/* ---- calls ---- */

static bool is_frame(const maker *k, size_t call, const frame *f, const fxs_scope *const *scope) {
    const fxs_module_call *c = &k->calls->items[call];
    if (f->scope)
        return scope[call] == f->scope;
    return strlen(c->path) == f->len && memcmp(c->path, f->path, f->len) == 0;
}

typedef struct opened {
    const fxs_scope **scope; /* by call */
    size_t cap;
} opened;

static bool room_for_call(maker *k, opened *o) {
    fxs_module_calls *c = k->calls;
    if (c->n < o->cap)
        return true;
    size_t cap = o->cap ? 2 * o->cap : 32;
    fxs_module_call *items = FXS_NEW_N(&c->arena, fxs_module_call, cap);
    const fxs_scope **scope = FXS_NEW_N(&k->scratch, const fxs_scope *, cap);
    if (!items || !scope)
        return false;
    if (c->n) {
        memcpy(items, c->items, c->n * sizeof *items);
        memcpy(scope, o->scope, c->n * sizeof *scope);
    }
    c->items = items;
    o->scope = scope;
    o->cap = cap;
    return true;
}

static bool open_call(maker *k, opened *o, const frame *f, size_t at) {
    fxs_module_calls *c = k->calls;
    char *path = fxs_arena_dup(&c->arena, f->path, f->len);
    if (!path || !room_for_call(k, o))
        return false;
    const fxs_module *m = fxs_module_find(k->m, path);
    const char *name = f->scope ? f->scope->class_name : m ? m->class_name : "";
    size_t nth = (size_t)(uintptr_t)fxs_map_get(&k->counts, path);
    if (!(name = fxs_arena_dup(&c->arena, name, strlen(name))) ||
        !fxs_map_put(&k->counts, path, f->len, (void *)(uintptr_t)(nth + 1)))
        return false;
    size_t parent = k->nopen ? k->open[k->nopen - 1] : 0;
    o->scope[c->n] = f->scope;
    c->items[c->n] =
        (fxs_module_call){.parent = parent,
                          .path = path,
                          .class_name = name,
                          .first = at,
                          .depth = k->nopen + 1,
                          .nth = nth,
                          .times = f->scope && f->scope->times > 1 ? f->scope->times : 1,
                          .weights = f->scope ? f->scope->weights : FXS_SHARING_NONE};
    k->open[k->nopen++] = c->n++;
    return true;
}

static bool enter_node(maker *k, opened *o, const fxs_node *n) {
    k->nchain = 0;
    if (!(k->traced ? chain_of_scope(k, k->scopes[n->index])
                    : chain_of_path(k, k->paths[n->index])))
        return false;
    size_t same = 0;
    while (same < k->nopen && same < k->nchain &&
           is_frame(k, k->open[same], &k->chain[same], o->scope))
        same++;
    for (k->nopen = same; same < k->nchain; same++)
        if (!open_call(k, o, &k->chain[same], n->index))
            return false;
    for (size_t i = 0; i < k->nopen; i++)
        k->calls->items[k->open[i]].last = n->index;
    k->calls->of[n->index] = k->nopen ? k->open[k->nopen - 1] : 0;
    return true;
}

static bool read_nodes(maker *k) {
    const fxs_graph *g = k->m->graph;
    k->paths = FXS_NEW_N(&k->scratch, const char *, g->len);
    k->scopes = FXS_NEW_N(&k->scratch, const fxs_scope *, g->len);
    if (!k->paths || !k->scopes)
        return false;
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        k->traced = k->traced || n->scope;
        if (!note_node(k, n))
            return false;
    }
    return k->traced ? fill_scopes(k, g->len) : fill_paths(k, g->len);
}

static bool make(maker *k) {
    const fxs_graph *g = k->m->graph;
    opened o = {0};
    k->calls->n = k->nopen = 0;
    k->calls->of = FXS_NEW_N(&k->calls->arena, size_t, g->len);
    if (!k->calls->of || !room_for_call(k, &o))
        return false;
    k->calls->items[k->calls->n++] = (fxs_module_call){
        .path = "", .class_name = k->m->class_name, .last = g->len ? g->len - 1 : 0};
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (!enter_node(k, &o, n))
            return false;
    return true;
}

fxs_status fxs_module_calls_make(const fxs_module *m, bool whole_blocks, fxs_module_calls *out) {
    maker k = {.m = m, .calls = out};
    *out = (fxs_module_calls){0};
    fxs_graph_number(m->graph);
    bool ok = read_nodes(&k) && make(&k);
    if (ok && whole_blocks && !k.traced) {
        ok = fxs_module_calls_adopt(m, out, &k.scratch, k.paths);
        fxs_map_free(&k.counts);
        k.counts = (fxs_map){0};
        ok = ok && make(&k);
    }
    fxs_arena_clear(&k.scratch);
    fxs_map_free(&k.counts);
    return ok ? FXS_OK : fxs_fail_memory(m->ctx);
}

void fxs_module_calls_free(fxs_module_calls *c) { fxs_arena_clear(&c->arena); }

bool fxs_module_call_within(const fxs_module_calls *c, size_t inner, size_t outer) {
    while (inner > outer)
        inner = c->items[inner].parent;
    return inner == outer;
}
