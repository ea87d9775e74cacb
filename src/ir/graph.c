/* graph.c: the list of nodes, and the users of each node. */
#include "ir/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/spread.h"

static const char *const kind_names[] = {
#define X(name, text) text,
    FXS_KIND_MAP(X)
#undef X
};

const char *fxs_kind_name(fxs_kind k) { return (unsigned)k < FXS_KIND_COUNT ? kind_names[k] : "?"; }

fxs_status fxs_graph_new(fxs_ctx *ctx, fxs_graph **out) {
    fxs_graph *g = *out = fxs_alloc0(1, sizeof *g);
    if (!g)
        return fxs_fail_memory(ctx);
    g->ctx = ctx;
    g->root.graph = g;
    g->root.kind = FXS_KIND_COUNT;
    g->root.name = "";
    g->root.prev = g->root.next = &g->root;
    g->insert_at = &g->root;
    return FXS_OK;
}

static bool drop_tensor(void *user, const fxs_value *leaf) {
    (void)user;
    if (leaf->tag == FXS_V_TENSOR)
        fxs_tensor_unref(leaf->u.tensor);
    else if (leaf->tag == FXS_V_OBJECT) {
        fxs_value v = *leaf;
        fxs_value_unref(&v);
    }
    return true;
}

void fxs_graph_free(fxs_graph *g) {
    if (!g)
        return;
    for (fxs_node *n = g->root.next; n != &g->root; n = n->next) {
        fxs_value_visit(&n->args, drop_tensor,
                        NULL); /* containers are the arena's, tensors are counted */
        fxs_value_visit(&n->kwargs, drop_tensor, NULL);
        fxs_node_clear_meta(n);
    }
    fxs_graph_free_user_meta(g);
    fxs_map_free(&g->names);
    fxs_map_free(&g->scopes);
    fxs_arena_clear(&g->arena);
    fxs_free(g);
}

fxs_ctx *fxs_graph_ctx(const fxs_graph *g) { return g->ctx; }
size_t fxs_graph_len(const fxs_graph *g) { return g->len; }
fxs_node *fxs_graph_first(const fxs_graph *g) {
    return g->root.next == &g->root ? NULL : g->root.next;
}

uint64_t fxs_graph_stamp(const fxs_graph *g) { return ++g->ctx->stamp; }

void fxs_graph_number(fxs_graph *g) {
    size_t i = 0;
    for (fxs_node *n = g->root.next; n != &g->root; n = n->next)
        n->index = i++;
}

fxs_node *fxs_graph_find(const fxs_graph *g, const char *name) {
    for (fxs_node *n = g->root.next; n != &g->root; n = n->next)
        if (strcmp(n->name, name) == 0)
            return n;
    return NULL;
}

/* ---- users
 * --------------------------------------------------------------------------------------------- */

/* Most nodes have one user: its place is in the node. */
static fxs_status add_user(fxs_node *of, fxs_node *user) {
    if (of->users_cap == 0) {
        of->users = &of->one_user;
        of->users_cap = 1;
    } else if (of->nusers == of->users_cap) {
        size_t cap = of->users_cap * 2;
        fxs_node **p = FXS_NEW_N(&of->graph->arena, fxs_node *, cap);
        if (!p)
            return fxs_fail_memory(of->graph->ctx);
        if (of->nusers)
            memcpy(p, of->users, of->nusers * sizeof *p);
        of->users = p;
        of->users_cap = cap;
    }
    of->users[of->nusers++] = user;
    return FXS_OK;
}

/* From the end: dead code is removed backwards, and then the user to remove is the last one. */
static void remove_user(fxs_node *of, const fxs_node *user) {
    for (size_t i = of->nusers; i-- > 0;) {
        if (of->users[i] != user)
            continue;
        memmove(&of->users[i], &of->users[i + 1], (of->nusers - i - 1) * sizeof *of->users);
        of->nusers--;
        return;
    }
}

typedef struct collect {
    const fxs_graph *graph;
    uint64_t stamp;
    fxs_node **out;
    size_t n, room;          /* what has no room is counted only */
    const fxs_node *foreign; /* of another graph; ends the walk */
} collect;

static bool collect_input(void *user, const fxs_value *leaf) {
    collect *c = user;
    if (leaf->tag != FXS_V_NODE || leaf->u.node->mark == c->stamp)
        return true;
    if (leaf->u.node->graph != c->graph) {
        c->foreign = leaf->u.node;
        return false;
    }
    leaf->u.node->mark = c->stamp;
    if (c->n < c->room)
        c->out[c->n] = leaf->u.node;
    c->n++;
    return true;
}

static collect collect_inputs(const fxs_graph *g, const fxs_value *args, const fxs_value *kwargs,
                              fxs_node **out, size_t room) {
    collect c = {.graph = g, .stamp = fxs_graph_stamp(g), .out = out, .room = room};
    if (fxs_value_visit(args, collect_input, &c))
        fxs_value_visit(kwargs, collect_input, &c);
    return c;
}

fxs_status fxs_graph_copy_args(fxs_graph *g, const fxs_value *args, const fxs_value *kwargs,
                               fxs_value *a, fxs_value *k) {
    if (args && args->tag != FXS_V_TUPLE)
        return fxs_fail(g->ctx, FXS_EINVAL, "args must be a tuple");
    if (kwargs && kwargs->tag != FXS_V_DICT)
        return fxs_fail(g->ctx, FXS_EINVAL, "kwargs must be a dict");
    for (size_t i = 0; kwargs && i < fxs_value_len(kwargs); i++)
        if (fxs_value_key(kwargs, i)->tag != FXS_V_STR)
            return fxs_fail(g->ctx, FXS_EINVAL, "keys of kwargs must be names");
    if (args)
        FXS_TRY(fxs_value_copy(g->ctx, &g->arena, args, a));
    else
        FXS_TRY(fxs_graph_no_args(g, a));
    if (kwargs && fxs_value_len(kwargs))
        return fxs_value_copy(g->ctx, &g->arena, kwargs, k);
    return fxs_graph_no_kwargs(g, k);
}

fxs_status fxs_graph_no_args(fxs_graph *g, fxs_value *out) {
    if (g->no_args.tag != FXS_V_TUPLE)
        FXS_TRY(fxs_make_seq(g->ctx, &g->arena, FXS_V_TUPLE, 0, &g->no_args));
    *out = g->no_args;
    return FXS_OK;
}

fxs_status fxs_graph_no_kwargs(fxs_graph *g, fxs_value *out) {
    if (g->no_kwargs.tag != FXS_V_DICT)
        FXS_TRY(fxs_make_dict(g->ctx, &g->arena, 0, &g->no_kwargs));
    *out = g->no_kwargs;
    return FXS_OK;
}

/* Calls of one function follow each other: they share its name. */
static const char *target_text(fxs_graph *g, const char *target, size_t len) {
    if (!g->last_target || g->last_target_len != len || memcmp(g->last_target, target, len) != 0) {
        g->last_target = fxs_arena_dup(&g->arena, target, len);
        g->last_target_len = len;
    }
    return g->last_target;
}

/* torch.fx takes nodes of another graph and lets lint complain. Here it would be a pointer into
 * memory that may go first, so that it is refused at once, with lint's words. */
static fxs_status refuse_foreign(const fxs_node *n, const fxs_node *foreign) {
    return fxs_fail(n->graph->ctx, FXS_ELINT,
                    "Argument '%s' of Node '%s' does not belong to this Graph, but was used as an "
                    "argument! If you are "
                    "copying nodes from another graph, map them in fxs_graph_node_copy",
                    foreign->name, n->name);
}

/* Most nodes have one input: its place is in the node. */
static fxs_node **room_for_inputs(fxs_node *n, size_t count) {
    return count <= 1 ? &n->one_input : FXS_NEW_N(&n->graph->arena, fxs_node *, count);
}

fxs_status fxs_node_adopt_args(fxs_node *n, const fxs_value *args, const fxs_value *kwargs) {
    fxs_node *few[8];
    collect c = collect_inputs(n->graph, args, kwargs, few, sizeof few / sizeof *few);
    if (c.foreign)
        return refuse_foreign(n, c.foreign);
    for (size_t i = 0; i < n->ninputs; i++)
        remove_user(n->inputs[i], n);
    n->ninputs = 0;
    fxs_value_visit(&n->args, drop_tensor, NULL);
    fxs_value_visit(&n->kwargs, drop_tensor, NULL);
    n->args = *args;
    n->kwargs = *kwargs;
    n->plan = NULL;
    n->inputs = room_for_inputs(n, c.n);
    if (!n->inputs)
        return fxs_fail_memory(n->graph->ctx);
    if (c.n <= c.room)
        memcpy(n->inputs, few, c.n * sizeof *few);
    else
        collect_inputs(n->graph, args, kwargs, n->inputs, c.n);
    for (size_t i = 0; i < c.n; i++) {
        FXS_TRY(add_user(n->inputs[i], n));
        n->ninputs = i + 1;
    }
    return FXS_OK;
}

fxs_status fxs_node_set_args(fxs_node *n, const fxs_value *args, const fxs_value *kwargs) {
    fxs_value a, k;
    FXS_TRY(fxs_graph_copy_args(n->graph, args, kwargs, &a, &k));
    return fxs_node_adopt_args(n, &a, &k);
}

/* ---- nodes
 * -----------------------------------------------------------------------------------------------
 */

static void link_before(fxs_node *n, fxs_node *at) {
    n->prev = at->prev;
    n->next = at;
    at->prev->next = n;
    at->prev = n;
}

/* The node that a new one goes before. An erased anchor still knows its neighbours. */
static fxs_node *insert_place(fxs_graph *g) {
    fxs_node *at = g->insert_after ? g->insert_at->next : g->insert_at;
    while (at->erased)
        at = at->next;
    return at;
}

/* A text of a node that is being made: `len` bytes. */
typedef struct text_part {
    const char *s;
    size_t len;
} text_part;

static text_part whole_text(const char *s) { return (text_part){s, s ? strlen(s) : 0}; }

/* Nodes lie side by side, each from the start of a line of the cache on. */
static fxs_node *room_for_node(fxs_graph *g) {
    enum { LINE = 64, MOST = 32 };
    const size_t size = (sizeof(fxs_node) + LINE - 1) / LINE * LINE;
    if (g->block_nodes == 0) {
        size_t n = g->len < MOST ? g->len + 4 : MOST;
#ifdef FXS_DEBUG_ARENA
        n = 1;
#endif
        g->block = fxs_arena_alloc(&g->arena, n, size);
        if (!g->block)
            return NULL;
        g->block_nodes = n;
    }
    fxs_node *n = (fxs_node *)(void *)g->block;
    g->block += size;
    g->block_nodes--;
    return n;
}

/* A node without arguments that is in no list yet. name and type may be NULL. */
static fxs_status new_node(fxs_graph *g, fxs_kind kind, text_part target, text_part name,
                           text_part type, fxs_node **out) {
    fxs_node *n = room_for_node(g);
    if (!n)
        return fxs_fail_memory(g->ctx);
    n->graph = g;
    n->kind = kind;
    n->target = target_text(g, target.s, target.len);
    n->type = type.s ? fxs_arena_dup(&g->arena, type.s, type.len) : NULL;
    if (!n->target || (type.s && !n->type))
        return fxs_fail_memory(g->ctx);
    FXS_TRY(name.s ? fxs_name_create(n, name.s, name.len) : fxs_name_from_target(n));
    *out = n;
    return FXS_OK;
}

static void put_node(fxs_node *n, fxs_node **out) {
    fxs_graph *g = n->graph;
    n->id = g->next_id++;
    link_before(n, insert_place(g));
    g->len++;
    g->placeholders += n->kind == FXS_PLACEHOLDER;
    *out = n;
}

fxs_status fxs_graph_create_node(fxs_graph *g, fxs_kind kind, const char *target,
                                 const fxs_value *args, const fxs_value *kwargs, const char *name,
                                 const char *type, fxs_node **out) {
    fxs_node *n = NULL;
    *out = NULL;
    if ((unsigned)kind >= FXS_KIND_COUNT)
        return fxs_fail(g->ctx, FXS_EINVAL, "%d is no kind of a node", (int)kind);
    FXS_TRY(fxs_need_text(g->ctx, target, "the target of a node"));
    if (type && !*type)
        return fxs_fail(g->ctx, FXS_EINVAL, "the type of a node is empty; NULL leaves it out");
    FXS_TRY(new_node(g, kind, whole_text(target), whole_text(name), whole_text(type), &n));
    FXS_TRY(fxs_node_set_args(n, args, kwargs));
    put_node(n, out);
    return FXS_OK;
}

fxs_status fxs_graph_adopt_node(fxs_graph *g, fxs_kind kind, const char *target,
                                const fxs_value *args, const fxs_value *kwargs, const char *name,
                                const char *type, fxs_node **out) {
    fxs_node *n = NULL;
    *out = NULL;
    FXS_TRY(new_node(g, kind, whole_text(target), whole_text(name), whole_text(type), &n));
    FXS_TRY(fxs_node_adopt_args(n, args, kwargs));
    put_node(n, out);
    return FXS_OK;
}

fxs_status fxs_graph_bare_node(fxs_graph *g, fxs_kind kind, const char *target, size_t target_len,
                               const char *name, size_t name_len, const char *type, size_t type_len,
                               fxs_node **out) {
    fxs_node *n = NULL;
    *out = NULL;
    if (target_len == 0)
        return fxs_need_text(g->ctx, "", "the target of a node");
    FXS_TRY(new_node(g, kind, (text_part){target, target_len}, (text_part){name, name_len},
                     (text_part){type, type_len}, &n));
    FXS_TRY(fxs_graph_no_args(g, &n->args));
    FXS_TRY(fxs_graph_no_kwargs(g, &n->kwargs));
    put_node(n, out);
    return FXS_OK;
}

/* Steps over erased nodes, and ends at the sentinel. */
fxs_node *fxs_node_next(const fxs_node *n) {
    fxs_node *next = n->next;
    while (next->erased)
        next = next->next;
    return next == &n->graph->root ? NULL : next;
}

fxs_node *fxs_node_prev(const fxs_node *n) {
    fxs_node *prev = n->prev;
    while (prev->erased)
        prev = prev->prev;
    return prev == &n->graph->root ? NULL : prev;
}

fxs_kind fxs_node_kind(const fxs_node *n) { return n->kind; }
const char *fxs_node_name(const fxs_node *n) { return n->name; }
const char *fxs_node_target(const fxs_node *n) { return n->target; }
const char *fxs_node_type(const fxs_node *n) { return n->type; }
fxs_graph *fxs_node_graph(const fxs_node *n) { return n->graph; }
const fxs_scope *fxs_node_scope(const fxs_node *n) { return n->scope; }
fxs_place fxs_node_place(const fxs_node *n) {
    return (fxs_place){.file = n->file, .line = n->file ? n->line : 0};
}

/* ---- scopes ---- */

enum { MAX_CALL_DIGITS = 16 };

/* Key of a call of a module in graph->scopes; the first call's is the path itself. */
static char *scope_key(fxs_arena *a, const char *path, const char *suffix) {
    size_t n = strlen(path), k = strlen(suffix);
    char *key = fxs_arena_alloc(a, n + k + 1, 1);
    if (key) {
        memcpy(key, path, n);
        memcpy(key + n, suffix, k + 1);
    }
    return key;
}

static void call_suffix(unsigned call, char suffix[MAX_CALL_DIGITS]) {
    snprintf(suffix, MAX_CALL_DIGITS, call ? "@%u" : "", call);
}

fxs_status fxs_graph_scope(fxs_graph *g, const fxs_scope *outer, const char *path,
                           const char *class_name, unsigned call, const fxs_scope **out) {
    const fxs_scope like = {.path = path, .call = call};
    *out = fxs_graph_scope_find(g, &like);
    if (*out)
        return FXS_OK;
    char suffix[MAX_CALL_DIGITS];
    call_suffix(call, suffix);
    fxs_scope *s = FXS_NEW(&g->arena, fxs_scope);
    char *key = scope_key(&g->arena, path, suffix);
    char *name = fxs_arena_dup(&g->arena, class_name, strlen(class_name));
    char *text = call ? fxs_arena_dup(&g->arena, path, strlen(path)) : key;
    if (!s || !key || !name || !text || !fxs_map_put(&g->scopes, key, strlen(key), s))
        return fxs_fail_memory(g->ctx);
    *s = (fxs_scope){.outer = outer, .path = text, .class_name = name, .call = call};
    *out = s;
    return FXS_OK;
}

fxs_status fxs_graph_scope_next(fxs_graph *g, const fxs_scope *outer, const char *path,
                                const char *class_name, const fxs_scope **out) {
    char *latest = scope_key(&g->arena, path, "@");
    if (!latest)
        return fxs_fail_memory(g->ctx);
    const fxs_scope *before = fxs_map_get(&g->scopes, latest);
    FXS_TRY(fxs_graph_scope(g, outer, path, class_name, before ? before->call + 1 : 0, out));
    if (!fxs_map_put(&g->scopes, latest, strlen(latest), (void *)*out))
        return fxs_fail_memory(g->ctx);
    return FXS_OK;
}

const fxs_scope *fxs_graph_scope_find(const fxs_graph *g, const fxs_scope *like) {
    if (!like->call)
        return fxs_map_get(&g->scopes, like->path);
    fxs_arena scratch = {0};
    char suffix[MAX_CALL_DIGITS];
    call_suffix(like->call, suffix);
    char *key = scope_key(&scratch, like->path, suffix);
    const fxs_scope *found = key ? fxs_map_get(&g->scopes, key) : NULL;
    fxs_arena_clear(&scratch);
    return found;
}

void fxs_buf_stack_line(fxs_buf *b, const char *file, int line) {
    fxs_buf_printf(b, "  File \"%s\", line %d, in forward\n", file, line);
}

const char *fxs_node_stack_trace(const fxs_node *n) { return n->stack_trace; }
fxs_module *fxs_graph_owning_module(const fxs_graph *g) { return g->owner; }
const fxs_value *fxs_node_args(const fxs_node *n) { return &n->args; }
const fxs_value *fxs_node_kwargs(const fxs_node *n) { return &n->kwargs; }
const fxs_meta *fxs_node_meta(const fxs_node *n) { return &n->meta; }

void fxs_node_set_overlay(fxs_node *n, double value) {
    n->meta.has_overlay = !isnan(value);
    n->meta.overlay = n->meta.has_overlay ? value : 0;
}

static size_t give_nodes(fxs_node *const *from, size_t n, fxs_node **out, size_t max) {
    if (n && max)
        memcpy(out, from, (n < max ? n : max) * sizeof *out);
    return n;
}

size_t fxs_node_inputs(const fxs_node *n, fxs_node **out, size_t max) {
    return give_nodes(n->inputs, n->ninputs, out, max);
}
size_t fxs_node_users(const fxs_node *n, fxs_node **out, size_t max) {
    return give_nodes(n->users, n->nusers, out, max);
}

void fxs_node_put_name(const fxs_node *n, fxs_buf *out) { fxs_buf_puts(out, n->name); }

void fxs_node_clear_meta(fxs_node *n) {
    fxs_value_unref(&n->meta.result);
    fxs_spread_unref(n->meta.spread);
    n->meta = (fxs_meta){0};
}
