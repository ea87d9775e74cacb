/* copy.c: copies of nodes and graphs, into the same graph or another. */
#include <string.h>

#include "ir/pytree.h"
#include "ir/spread.h"

struct fxs_val_map {
    fxs_ctx *ctx;
    const fxs_graph *of;
    fxs_value *values; /* by node id; FXS_V_UNKNOWN: none */
    size_t cap;
};

fxs_status fxs_val_map_new(const fxs_graph *of, fxs_val_map **out) {
    *out = fxs_alloc0(1, sizeof **out);
    if (!*out)
        return fxs_fail_memory(of->ctx);
    (*out)->ctx = of->ctx;
    (*out)->of = of;
    return FXS_OK;
}

void fxs_val_map_free(fxs_val_map *m) {
    if (!m)
        return;
    for (size_t i = 0; i < m->cap; i++)
        fxs_value_unref(&m->values[i]);
    fxs_free(m->values);
    fxs_free(m);
}

fxs_status fxs_val_map_set(fxs_val_map *m, const fxs_node *from, fxs_value to) {
    if (from->graph != m->of)
        return fxs_fail(m->ctx, FXS_EINVAL, "Node %s is not of the graph that this map is for",
                        from->name);
    if (from->id >= m->cap) {
        size_t cap = m->of->next_id > from->id ? m->of->next_id : from->id + 1;
        fxs_value *p = fxs_realloc(m->values, cap, sizeof *p);
        if (!p)
            return fxs_fail_memory(m->ctx);
        for (size_t i = m->cap; i < cap; i++)
            p[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
        m->values = p;
        m->cap = cap;
    }
    fxs_value_unref(&m->values[from->id]);
    m->values[from->id] = fxs_value_ref(to);
    return FXS_OK;
}

const fxs_value *fxs_val_map_get(const fxs_val_map *m, const fxs_node *from) {
    if (from->graph != m->of || from->id >= m->cap || m->values[from->id].tag == FXS_V_UNKNOWN)
        return NULL;
    return &m->values[from->id];
}

/* ---- one node
 * --------------------------------------------------------------------------------------------------
 */

typedef struct mapping {
    fxs_graph *into;
    fxs_node_map_fn *map;
    void *user;
} mapping;

static fxs_status map_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    const mapping *m = user;
    if (leaf->tag == FXS_V_NODE)
        return m->map ? m->map(m->user, leaf->u.node, out) : FXS_OK;
    if (fxs_value_text(leaf))
        return fxs_make_text(m->into->ctx, &m->into->arena, leaf->tag, leaf->u.s->text,
                             leaf->u.s->len, out);
    *out = fxs_value_ref(*leaf);
    return FXS_OK;
}

static fxs_status map_value(const mapping *m, const fxs_value *v, fxs_value *out) {
    return fxs_value_map(m->into->ctx, &m->into->arena, v, map_leaf, (void *)m, out);
}

/* The scope with that path, and all outside of it, in g. */
fxs_status fxs_graph_scope_copy(fxs_graph *g, const fxs_scope *from, const fxs_scope **to) {
    const fxs_scope *outer = NULL;
    *to = NULL;
    if (!from)
        return FXS_OK;
    *to = fxs_graph_scope_find(g, from);
    if (*to)
        return FXS_OK;
    FXS_TRY(fxs_graph_scope_copy(g, from->outer, &outer));
    FXS_TRY(fxs_graph_scope(g, outer, from->path, from->class_name, from->call, to));
    ((fxs_scope *)*to)->times = from->times; /* g's own, and new */
    ((fxs_scope *)*to)->weights = from->weights;
    return FXS_OK;
}

/* Statistics stay with the node that was run. */
fxs_status fxs_node_copy_meta(fxs_node *to, const fxs_node *from) {
    fxs_graph *g = to->graph;
    to->meta = from->meta;
    to->meta.stats = NULL;
    to->meta.nstats = 0;
    to->meta.culprit = NULL;
    to->meta.result = fxs_none();
    fxs_spread_ref(to->meta.spread);
    if (from->meta.message) {
        to->meta.message = fxs_arena_dup(&g->arena, from->meta.message, strlen(from->meta.message));
        if (!to->meta.message)
            return fxs_fail_memory(g->ctx);
    }
    return fxs_value_copy(g->ctx, NULL, &from->meta.result, &to->meta.result);
}

fxs_status fxs_node_copy_stats(fxs_node *to, const fxs_node *from) {
    size_t have = to->meta.nstats, more = from->meta.nstats;
    if (!more)
        return FXS_OK;
    fxs_stats *stats = FXS_NEW_N(&to->graph->arena, fxs_stats, have + more);
    if (!stats)
        return fxs_fail_memory(to->graph->ctx);
    if (have)
        memcpy(stats, to->meta.stats, have * sizeof *stats);
    memcpy(stats + have, from->meta.stats, more * sizeof *stats);
    to->meta.stats = stats;
    to->meta.nstats = have + more;
    return FXS_OK;
}

/* The same facts, but for statistics. */
static fxs_status copy_facts(fxs_node *to, const fxs_node *from) {
    fxs_graph *g = to->graph;
    to->line = from->line;
    to->wrapped = from->wrapped;
    if (from->stack_trace) {
        to->stack_trace = fxs_arena_dup(&g->arena, from->stack_trace, strlen(from->stack_trace));
        if (!to->stack_trace)
            return fxs_fail_memory(g->ctx);
    }
    FXS_TRY(fxs_graph_scope_copy(g, from->scope, &to->scope));
    if (from->file) {
        to->file = fxs_arena_dup(&g->arena, from->file, strlen(from->file));
        if (!to->file)
            return fxs_fail_memory(g->ctx);
    }
    FXS_TRY(fxs_node_copy_user_meta(to, from));
    return fxs_node_copy_meta(to, from);
}

fxs_status fxs_graph_node_copy_as(fxs_graph *g, const fxs_node *n, const char *target,
                                  const char *name, fxs_node_map_fn *map, void *user,
                                  fxs_node **out) {
    mapping m = {.into = g, .map = map, .user = user};
    fxs_value args, kwargs;
    *out = NULL;
    FXS_TRY(map_value(&m, &n->args, &args));
    if (fxs_value_len(&n->kwargs))
        FXS_TRY(map_value(&m, &n->kwargs, &kwargs));
    else
        FXS_TRY(fxs_graph_no_kwargs(g, &kwargs));
    FXS_TRY(fxs_graph_adopt_node(g, n->kind, target, &args, &kwargs, name, n->type, out));
    return copy_facts(*out, n);
}

fxs_status fxs_graph_node_copy(fxs_graph *g, const fxs_node *n, fxs_node_map_fn *map, void *user,
                               fxs_node **out) {
    return fxs_graph_node_copy_as(g, n, n->target, n->name, map, user, out);
}

/* ---- graphs
 * --------------------------------------------------------------------------------------------------------
 */

static fxs_status look_up(void *user, fxs_node *from, fxs_value *to) {
    const fxs_val_map *m = user;
    const fxs_value *v = fxs_val_map_get(m, from);
    if (!v)
        return fxs_fail(m->ctx, FXS_EINVAL, "Node %s is used before it has been copied",
                        from->name);
    *to = fxs_value_ref(*v);
    return FXS_OK;
}

fxs_status fxs_graph_copy_into(fxs_graph *g, const fxs_graph *from, fxs_val_map *map,
                               fxs_value *output) {
    mapping m = {.into = g, .map = look_up, .user = map};
    *output = fxs_none();
    for (fxs_node *n = fxs_graph_first(from); n; n = fxs_node_next(n)) {
        fxs_node *copy;
        if (fxs_val_map_get(map, n))
            continue;
        if (n->kind == FXS_OUTPUT) {
            const fxs_value *v = fxs_value_item(&n->args, 0);
            return v ? map_value(&m, v, output) : FXS_OK;
        }
        FXS_TRY(fxs_graph_node_copy(g, n, look_up, map, &copy));
        FXS_TRY(fxs_val_map_set(map, n, fxs_of_node(copy)));
    }
    return FXS_OK;
}

static fxs_status copy_all(const fxs_graph *g, fxs_graph *copy, fxs_val_map *map) {
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        fxs_node *c;
        FXS_TRY(fxs_graph_node_copy(copy, n, look_up, map, &c));
        FXS_TRY(fxs_val_map_set(map, n, fxs_of_node(c)));
    }
    return FXS_OK;
}

fxs_status fxs_graph_deep_copy(const fxs_graph *g, fxs_graph **out) {
    fxs_val_map *map = NULL;
    FXS_TRY(fxs_graph_new(g->ctx, out));
    fxs_status s = fxs_val_map_new(g, &map);
    if (s == FXS_OK && !fxs_map_reserve(&(*out)->names, g->len))
        s = fxs_fail_memory(g->ctx);
    if (s == FXS_OK)
        s = copy_all(g, *out, map);
    if (s == FXS_OK)
        s = fxs_pytree_copy(*out, g);
    fxs_val_map_free(map);
    if (s != FXS_OK) {
        fxs_graph_free(*out);
        *out = NULL;
    }
    return s;
}
