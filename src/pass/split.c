/* split.c: torch.fx's split_module: the calls of a graph, spread over parts, become GraphModules
 * that a new graph calls one after the other. Names, order and targets are torch's: parts are named
 * submod_PART, their parameters after the nodes that give them, the layers in them by their paths
 * with '_' for '.'. A part that nobody needs returns None, where torch.fx 1.13 raises an
 * IndexError. */
#include <stdio.h>
#include <string.h>

#include "ir/module.h"

typedef struct node_set {
    fxs_node **items;
    size_t n;
} node_set;

typedef struct part part;

struct part {
    int64_t id;
    node_set inputs, outputs; /* nodes of the whole, in order of discovery */
    part **after;             /* parts that need this one */
    size_t nafter, waits;     /* waits: for how many parts that are not placed yet */
    fxs_graph *graph;         /* owned by module */
    fxs_module *module;       /* counted */
    fxs_val_map *map;         /* node of the whole -> node of graph */
    char name[32];
};

typedef struct splitting {
    fxs_ctx *ctx;
    fxs_module *gm;
    fxs_graph *g;
    fxs_arena arena;
    part **of; /* by node index; NULL: of none */
    part **parts, **order;
    fxs_map by_id, pairs; /* id -> part; what was noted already */
    size_t nparts;
    fxs_module *out;
    fxs_graph *base;  /* owned by out */
    fxs_val_map *map; /* node of the whole -> value in base */
} splitting;

/* ---- what each part needs
 * ------------------------------------------------------------------------------- */

/* Arrays grow by doubling in the arena: the length says when. */
static bool grow_set(fxs_arena *a, void ***items, size_t n) {
    if (n & (n - 1))
        return true;
    void **grown = FXS_NEW_N(a, void *, n ? 2 * n : 1);
    if (grown && n)
        memcpy(grown, *items, n * sizeof *grown);
    if (grown)
        *items = grown;
    return grown != NULL;
}

/* *first: this pair comes for the first time. */
static fxs_status note_pair(splitting *s, const void *a, const void *b, bool *first) {
    const void *pair[2] = {a, b};
    *first = !fxs_map_at(&s->pairs, (const char *)pair, sizeof pair);
    if (!*first)
        return FXS_OK;
    char *key = fxs_arena_dup(&s->arena, (const char *)pair, sizeof pair);
    return key && fxs_map_put(&s->pairs, key, sizeof pair, key) ? FXS_OK : fxs_fail_memory(s->ctx);
}

static fxs_status add_node(splitting *s, node_set *set, fxs_node *n) {
    bool first;
    FXS_TRY(note_pair(s, set, n, &first));
    if (!first)
        return FXS_OK;
    if (!grow_set(&s->arena, (void ***)&set->items, set->n))
        return fxs_fail_memory(s->ctx);
    set->items[set->n++] = n;
    return FXS_OK;
}

static fxs_status add_edge(splitting *s, part *from, part *to) {
    bool first;
    FXS_TRY(note_pair(s, from, to, &first));
    if (!first)
        return FXS_OK;
    if (!grow_set(&s->arena, (void ***)&from->after, from->nafter))
        return fxs_fail_memory(s->ctx);
    from->after[from->nafter++] = to;
    to->waits++;
    return FXS_OK;
}

static fxs_status part_with(splitting *s, int64_t id, part **out) {
    void **at = fxs_map_at(&s->by_id, (const char *)&id, sizeof id);
    *out = at ? *at : NULL;
    if (at)
        return FXS_OK;
    part *p = *out = FXS_NEW(&s->arena, part);
    if (!p || !grow_set(&s->arena, (void ***)&s->parts, s->nparts))
        return fxs_fail_memory(s->ctx);
    p->id = id;
    snprintf(p->name, sizeof p->name, "submod_%lld", (long long)id);
    if (!fxs_map_put(&s->by_id, (const char *)&p->id, sizeof p->id, p))
        return fxs_fail_memory(s->ctx);
    s->parts[s->nparts++] = p;
    return FXS_OK;
}

static fxs_status note_uses(splitting *s, const fxs_node *n, part *user) {
    for (size_t i = 0; i < n->ninputs; i++) {
        part *from = s->of[n->inputs[i]->index];
        if (from == user)
            continue;
        if (from)
            FXS_TRY(add_node(s, &from->outputs, n->inputs[i]));
        if (user)
            FXS_TRY(add_node(s, &user->inputs, n->inputs[i]));
        if (from && user)
            FXS_TRY(add_edge(s, from, user));
    }
    return FXS_OK;
}

static fxs_status find_parts(splitting *s, fxs_partition_fn *part_of, void *user) {
    fxs_graph_number(s->g);
    s->of = FXS_NEW_N(&s->arena, part *, s->g->len);
    if (!s->of)
        return fxs_fail_memory(s->ctx);
    for (fxs_node *n = fxs_graph_first(s->g); n; n = fxs_node_next(n)) {
        int64_t id;
        if (n->kind == FXS_PLACEHOLDER || n->kind == FXS_GET_ATTR)
            continue;
        if (n->kind != FXS_OUTPUT) {
            FXS_TRY(part_of(user, n, &id));
            FXS_TRY(part_with(s, id, &s->of[n->index]));
        }
        FXS_TRY(note_uses(s, n, s->of[n->index]));
    }
    return FXS_OK;
}

/* torch's order: a stack of the parts that wait for none. */
static fxs_status order_parts(splitting *s) {
    part **stack = FXS_NEW_N(&s->arena, part *, s->nparts);
    size_t depth = 0, n = 0;
    s->order = FXS_NEW_N(&s->arena, part *, s->nparts);
    if (!stack || !s->order)
        return fxs_fail_memory(s->ctx);
    for (size_t i = 0; i < s->nparts; i++)
        if (!s->parts[i]->waits)
            stack[depth++] = s->parts[i];
    while (depth) {
        part *p = stack[--depth];
        s->order[n++] = p;
        for (size_t i = 0; i < p->nafter; i++)
            if (--p->after[i]->waits == 0)
                stack[depth++] = p->after[i];
    }
    return n == s->nparts ? FXS_OK
                          : fxs_fail(s->ctx, FXS_EINVAL, "cycle exists between partitions!");
}

/* ---- the parts' graphs
 * ---------------------------------------------------------------------------------- */

static fxs_status look_up(void *user, fxs_node *from, fxs_value *to) {
    const fxs_val_map *map = user;
    const fxs_value *v = fxs_val_map_get(map, from);
    if (!v)
        return fxs_fail(from->graph->ctx, FXS_ELINT, "Node %s is used before its part gives it",
                        from->name);
    *to = fxs_value_ref(*v);
    return FXS_OK;
}

static fxs_status begin_part(splitting *s, part *p) {
    FXS_TRY(fxs_module_new(s->ctx, "GraphModule", NULL, NULL, &p->module));
    FXS_TRY(fxs_graph_new(s->ctx, &p->graph));
    fxs_module_set_graph(p->module, p->graph);
    FXS_TRY(fxs_val_map_new(s->g, &p->map));
    for (size_t i = 0; i < p->inputs.n; i++) {
        fxs_node *from = p->inputs.items[i], *n;
        FXS_TRY(fxs_graph_create_node(p->graph, FXS_PLACEHOLDER, from->name, NULL, NULL, NULL,
                                      from->type, &n));
        FXS_TRY(fxs_val_map_set(p->map, from, fxs_of_node(n)));
    }
    return FXS_OK;
}

/* layer1.0.conv is layer1_0_conv in the part. */
static fxs_status flat_target(splitting *s, part *p, const fxs_node *n, const char **out) {
    char *flat = fxs_arena_dup(&s->arena, n->target, strlen(n->target));
    fxs_module *m = fxs_module_find(s->gm, n->target);
    *out = flat;
    if (!flat)
        return fxs_fail_memory(s->ctx);
    for (char *c = flat; *c; c++)
        if (*c == '.')
            *c = '_';
    return m ? fxs_module_add_submodule(p->module, flat, m)
             : fxs_fail(s->ctx, FXS_ENOTFOUND, "there is no module '%s', which Node %s calls",
                        n->target, n->name);
}

/* The name is made anew, from the target. */
static fxs_status copy_call(splitting *s, part *p, fxs_node *n) {
    const char *target = n->target;
    fxs_node *copy;
    if (n->kind == FXS_CALL_MODULE)
        FXS_TRY(flat_target(s, p, n, &target));
    FXS_TRY(fxs_graph_node_copy_as(p->graph, n, target, NULL, look_up, p->map, &copy));
    return fxs_val_map_set(p->map, n, fxs_of_node(copy));
}

/* One value, or a tuple of them. */
static fxs_status end_part(splitting *s, part *p) {
    fxs_value result = fxs_none();
    fxs_node *n;
    if (p->outputs.n > 1)
        FXS_TRY(fxs_make_seq(s->ctx, &p->graph->arena, FXS_V_TUPLE, p->outputs.n, &result));
    for (size_t i = 0; i < p->outputs.n; i++) {
        fxs_value *to = p->outputs.n > 1 ? &result.u.seq->items[i] : &result;
        FXS_TRY(look_up(p->map, p->outputs.items[i], to));
    }
    return fxs_graph_output(p->graph, &result, &n);
}

/* ---- the graph that calls them
 * -------------------------------------------------------------------------- */

static fxs_status put_attribute(splitting *s, const char *path) {
    fxs_lookup at = fxs_module_lookup(s->gm, path);
    if (at.param)
        return fxs_module_share_at(s->out, path, at.param);
    if (at.module)
        return fxs_module_add_submodule(s->out, path, at.module);
    return fxs_fail(s->ctx, FXS_ENOTFOUND, "there is no '%s', which the graph gets", path);
}

static fxs_status begin_base(splitting *s) {
    FXS_TRY(fxs_module_new(s->ctx, "GraphModule", NULL, NULL, &s->out));
    FXS_TRY(fxs_graph_new(s->ctx, &s->base));
    fxs_module_set_graph(s->out, s->base);
    FXS_TRY(fxs_val_map_new(s->g, &s->map));
    for (fxs_node *n = fxs_graph_first(s->g); n; n = fxs_node_next(n)) {
        fxs_node *copy;
        if (n->kind != FXS_PLACEHOLDER && n->kind != FXS_GET_ATTR)
            continue;
        if (n->kind == FXS_GET_ATTR)
            FXS_TRY(put_attribute(s, n->target));
        FXS_TRY(fxs_graph_node_copy_as(s->base, n, n->target, NULL, look_up, s->map, &copy));
        FXS_TRY(fxs_val_map_set(s->map, n, fxs_of_node(copy)));
    }
    return FXS_OK;
}

static fxs_status unpack(splitting *s, part *p, fxs_node *call) {
    for (size_t i = 0; i < p->outputs.n; i++) {
        fxs_node *item = call;
        if (p->outputs.n > 1) {
            fxs_value args;
            FXS_TRY(fxs_make_seq(s->ctx, &s->base->arena, FXS_V_TUPLE, 2, &args));
            args.u.seq->items[0] = fxs_of_node(call);
            args.u.seq->items[1] = fxs_int((int64_t)i);
            FXS_TRY(fxs_graph_call_function(s->base, "operator.getitem", &args, NULL, &item));
        }
        FXS_TRY(fxs_val_map_set(s->map, p->outputs.items[i], fxs_of_node(item)));
    }
    return FXS_OK;
}

static fxs_status call_part(splitting *s, part *p) {
    fxs_value args;
    fxs_node *call;
    FXS_TRY(fxs_module_add_submodule(s->out, p->name, p->module));
    FXS_TRY(fxs_make_seq(s->ctx, &s->base->arena, FXS_V_TUPLE, p->inputs.n, &args));
    for (size_t i = 0; i < p->inputs.n; i++)
        FXS_TRY(look_up(s->map, p->inputs.items[i], &args.u.seq->items[i]));
    FXS_TRY(fxs_graph_call_module(s->base, p->name, &args, NULL, &call));
    return unpack(s, p, call);
}

static fxs_status split(splitting *s, fxs_partition_fn *part_of, void *user) {
    if (!s->g)
        return fxs_fail(s->ctx, FXS_EINVAL, "module %s has no graph", s->gm->class_name);
    FXS_TRY(fxs_graph_lint(s->g));
    FXS_TRY(find_parts(s, part_of, user));
    FXS_TRY(order_parts(s));
    for (size_t i = 0; i < s->nparts; i++)
        FXS_TRY(begin_part(s, s->order[i]));
    for (fxs_node *n = fxs_graph_first(s->g); n; n = fxs_node_next(n))
        if (s->of[n->index])
            FXS_TRY(copy_call(s, s->of[n->index], n));
    FXS_TRY(begin_base(s));
    for (size_t i = 0; i < s->nparts; i++) {
        FXS_TRY(end_part(s, s->order[i]));
        FXS_TRY(call_part(s, s->order[i]));
    }
    for (fxs_node *n = fxs_graph_first(s->g); n; n = fxs_node_next(n)) {
        fxs_node *copy;
        if (n->kind == FXS_OUTPUT)
            FXS_TRY(fxs_graph_node_copy_as(s->base, n, n->target, NULL, look_up, s->map, &copy));
    }
    return fxs_graph_lint(s->base);
}

fxs_status fxs_split_module(fxs_module *gm, fxs_partition_fn *part_of, void *user,
                            fxs_module **out) {
    splitting s = {.ctx = gm->ctx, .gm = gm, .g = gm->graph};
    fxs_status status = split(&s, part_of, user);
    for (size_t i = 0; i < s.nparts; i++) {
        fxs_module_unref(s.parts[i]->module); /* the result counts it */
        fxs_val_map_free(s.parts[i]->map);
    }
    fxs_val_map_free(s.map);
    fxs_map_free(&s.by_id);
    fxs_map_free(&s.pairs);
    fxs_arena_clear(&s.arena);
    *out = NULL;
    if (status == FXS_OK)
        *out = s.out;
    else
        fxs_module_unref(s.out);
    return status;
}
