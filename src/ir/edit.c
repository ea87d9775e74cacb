/* edit.c: changing a graph: insert points, moving, erasing, replacing uses. Keeps links and users
 * right, as graph.c does. */
#include <string.h>

#include "ir/module.h"
#include "ir/spread.h"
#include "ir/subst.h"

/* ---- the six kinds
 * --------------------------------------------------------------------------------------- */

static fxs_status one_argument(fxs_graph *g, const fxs_value *v, fxs_value *args) {
    FXS_TRY(fxs_make_seq(g->ctx, &g->arena, FXS_V_TUPLE, v ? 1 : 0, args));
    if (v)
        args->u.seq->items[0] = *v;
    return FXS_OK;
}

fxs_status fxs_graph_placeholder(fxs_graph *g, const char *name, const fxs_value *fallback,
                                 fxs_node **out) {
    fxs_value args;
    FXS_TRY(one_argument(g, fallback, &args));
    return fxs_graph_create_node(g, FXS_PLACEHOLDER, name, &args, NULL, NULL, NULL, out);
}

fxs_status fxs_graph_get_attr(fxs_graph *g, const char *path, fxs_node **out) {
    return fxs_graph_create_node(g, FXS_GET_ATTR, path, NULL, NULL, NULL, NULL, out);
}

fxs_status fxs_graph_call_function(fxs_graph *g, const char *name, const fxs_value *args,
                                   const fxs_value *kwargs, fxs_node **out) {
    return fxs_graph_create_node(g, FXS_CALL_FUNCTION, name, args, kwargs, NULL, NULL, out);
}

fxs_status fxs_graph_call_method(fxs_graph *g, const char *method, const fxs_value *args,
                                 const fxs_value *kwargs, fxs_node **out) {
    return fxs_graph_create_node(g, FXS_CALL_METHOD, method, args, kwargs, NULL, NULL, out);
}

fxs_status fxs_graph_call_module(fxs_graph *g, const char *path, const fxs_value *args,
                                 const fxs_value *kwargs, fxs_node **out) {
    return fxs_graph_create_node(g, FXS_CALL_MODULE, path, args, kwargs, NULL, NULL, out);
}

fxs_status fxs_graph_output(fxs_graph *g, const fxs_value *value, fxs_node **out) {
    fxs_value args;
    FXS_TRY(one_argument(g, value, &args));
    return fxs_graph_create_node(g, FXS_OUTPUT, "output", &args, NULL, NULL, NULL, out);
}

/* ---- insert points
 * ------------------------------------------------------------------------------------------ */

static fxs_status set_insert_point(fxs_graph *g, fxs_node *n, bool after,
                                   fxs_insert_point *before) {
    if (n && n->graph != g)
        return fxs_fail(g->ctx, FXS_EINVAL, "Node to insert %s is not in graph.",
                        after ? "after" : "before");
    if (before)
        *before = (fxs_insert_point){.at = g->insert_at, .after = g->insert_after};
    g->insert_after =
        n ? after : !after; /* before nothing is behind the sentinel, and the other way round */
    g->insert_at = n ? n : &g->root;
    return FXS_OK;
}

fxs_status fxs_graph_inserting_before(fxs_graph *g, fxs_node *n, fxs_insert_point *before) {
    return set_insert_point(g, n, false, before);
}

fxs_status fxs_graph_inserting_after(fxs_graph *g, fxs_node *n, fxs_insert_point *before) {
    return set_insert_point(g, n, true, before);
}

void fxs_graph_restore_insert_point(fxs_graph *g, fxs_insert_point p) {
    if (p.at && p.at->graph != g) /* not a point of g: nothing is restored */
        return;
    g->insert_at = p.at ? p.at : &g->root;
    g->insert_after = p.at && p.after;
}

/* ---- moving and erasing
 * --------------------------------------------------------------------------------------- */

static void unlink_node(fxs_node *n) {
    n->prev->next = n->next;
    n->next->prev = n->prev;
}

static fxs_status move_before(fxs_node *at, fxs_node *x) {
    if (x->graph != at->graph)
        return fxs_fail(at->graph->ctx, FXS_EINVAL,
                        "Attempting to move a Node into a different Graph");
    if (x->erased || at->erased)
        return fxs_fail(at->graph->ctx, FXS_EINVAL, "Node %s is erased: it has no place",
                        x->erased ? x->name : at->name);
    if (x == at)
        return FXS_OK;
    unlink_node(x);
    x->prev = at->prev;
    x->next = at;
    at->prev->next = x;
    at->prev = x;
    return FXS_OK;
}

fxs_status fxs_node_prepend(fxs_node *n, fxs_node *x) { return move_before(n, x); }
fxs_status fxs_node_append(fxs_node *n, fxs_node *x) {
    return move_before(n->erased ? n : n->next, x);
}

static fxs_status none_for_nodes(void *user, const fxs_value *leaf, fxs_value *out) {
    (void)user;
    *out = leaf->tag == FXS_V_NODE ? fxs_none() : fxs_value_ref(*leaf);
    return FXS_OK;
}

static fxs_status still_used(const fxs_node *n) {
    fxs_buf names = {0};
    for (size_t i = 0; i < n->nusers && i < 20; i++)
        fxs_buf_printf(&names, i ? ", %s: None" : "%s: None", n->users[i]->name);
    fxs_status s =
        names.failed
            ? fxs_fail_memory(n->graph->ctx)
            : fxs_fail(n->graph->ctx, FXS_EINVAL,
                       "Tried to erase Node %s but it still had %zu users in the graph: {%s}!",
                       n->name, n->nusers, names.data);
    fxs_buf_free(&names);
    return s;
}

fxs_status fxs_graph_erase_node(fxs_graph *g, fxs_node *n) {
    fxs_value args, kwargs;
    if (n->graph != g)
        return fxs_fail(g->ctx, FXS_EINVAL, "Attempting to remove %s from wrong graph!", n->name);
    if (n->erased)
        return fxs_fail(g->ctx, FXS_EINVAL, "Node %s is erased already", n->name);
    if (n->nusers)
        return still_used(n);
    FXS_TRY(fxs_value_map(g->ctx, &g->arena, &n->args, none_for_nodes, NULL, &args));
    FXS_TRY(fxs_value_map(g->ctx, &g->arena, &n->kwargs, none_for_nodes, NULL, &kwargs));
    FXS_TRY(fxs_node_adopt_args(n, &args, &kwargs));
    unlink_node(n);
    n->erased = true;
    g->len--;
    g->placeholders -= n->kind == FXS_PLACEHOLDER;
    return FXS_OK;
}

/* ---- arguments
 * ----------------------------------------------------------------------------------------------------
 */

fxs_status fxs_node_update_arg(fxs_node *n, int64_t i, const fxs_value *v) {
    fxs_graph *g = n->graph;
    fxs_value args, kwargs;
    int64_t len = (int64_t)fxs_value_len(&n->args), at = i < 0 ? i + len : i;
    FXS_TRY(fxs_need(g->ctx, v, "fxs_node_update_arg: the value"));
    if (at < 0 || at >= len)
        return fxs_fail(g->ctx, FXS_EINDEX,
                        "Node %s has %lld arguments, so there is no argument %lld", n->name,
                        (long long)len, (long long)i);
    FXS_TRY(fxs_graph_copy_args(g, &n->args, &n->kwargs, &args, &kwargs));
    fxs_value_unref(&args.u.seq->items[at]);
    FXS_TRY(fxs_value_copy(g->ctx, &g->arena, v, &args.u.seq->items[at]));
    return fxs_node_adopt_args(n, &args, &kwargs);
}

fxs_status fxs_node_set_target(fxs_node *n, const char *target) {
    fxs_graph *g = n->graph;
    FXS_TRY(fxs_need_text(g->ctx, target, "fxs_node_set_target: target"));
    char *copy = fxs_arena_dup(&g->arena, target, strlen(target));
    if (!copy)
        return fxs_fail_memory(g->ctx);
    n->target = copy;
    n->plan = NULL;
    return FXS_OK;
}

fxs_status fxs_node_update_kwarg(fxs_node *n, const char *name, const fxs_value *v) {
    fxs_graph *g = n->graph;
    fxs_value args, old, kwargs;
    size_t len = fxs_value_len(&n->kwargs), at = 0;
    FXS_TRY(fxs_need_text(g->ctx, name, "fxs_node_update_kwarg: name"));
    FXS_TRY(fxs_need(g->ctx, v, "fxs_node_update_kwarg: the value"));
    FXS_TRY(fxs_graph_copy_args(g, &n->args, &n->kwargs, &args, &old));
    while (at < len && strcmp(fxs_value_text(fxs_value_key(&old, at)), name) != 0)
        at++;
    FXS_TRY(fxs_make_dict(g->ctx, &g->arena, at == len ? len + 1 : len, &kwargs));
    if (len)
        memcpy(kwargs.u.dict->pairs, old.u.dict->pairs, len * sizeof *kwargs.u.dict->pairs);
    fxs_pair *p = &kwargs.u.dict->pairs[at];
    if (at == len)
        FXS_TRY(fxs_make_text(g->ctx, &g->arena, FXS_V_STR, name, strlen(name), &p->key));
    else
        fxs_value_unref(&p->value);
    FXS_TRY(fxs_value_copy(g->ctx, &g->arena, v, &p->value));
    return fxs_node_adopt_args(n, &args, &kwargs);
}

/* ---- replacing
 * ------------------------------------------------------------------------------------------------------
 */

typedef struct replacement {
    const fxs_node *from;
    fxs_node *to; /* NULL: None */
} replacement;

static fxs_status replace_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    const replacement *r = user;
    if (leaf->tag == FXS_V_NODE && leaf->u.node == r->from)
        *out = r->to ? fxs_of_node(r->to) : fxs_none();
    else
        *out = fxs_value_ref(*leaf);
    return FXS_OK;
}

static fxs_status rewrite(fxs_node *n, const replacement *r) {
    fxs_graph *g = n->graph;
    fxs_value args, kwargs;
    FXS_TRY(fxs_value_map(g->ctx, &g->arena, &n->args, replace_leaf, (void *)r, &args));
    FXS_TRY(fxs_value_map(g->ctx, &g->arena, &n->kwargs, replace_leaf, (void *)r, &kwargs));
    return fxs_node_adopt_args(n, &args, &kwargs);
}

fxs_status fxs_node_replace_input_with(fxs_node *n, fxs_node *old, fxs_node *with) {
    return rewrite(n, &(replacement){.from = old, .to = with});
}

static fxs_status inherit_meta(fxs_node *to, const fxs_node *from) {
    if (to->meta.outcome != FXS_NOT_RUN || from->meta.outcome == FXS_NOT_RUN)
        return FXS_OK;
    to->meta = from->meta;
    to->meta.stats = NULL;
    to->meta.nstats = 0;
    to->meta.message = NULL;
    to->meta.culprit = NULL;
    to->meta.result = fxs_none();
    fxs_spread_ref(to->meta.spread);
    return fxs_value_copy(to->graph->ctx, NULL, &from->meta.result, &to->meta.result);
}

fxs_status fxs_node_replace_all_uses_with(fxs_node *n, fxs_node *with, fxs_user_filter *filter,
                                          void *user, bool copy_meta, size_t *changed) {
    fxs_graph *g = n->graph;
    size_t count = n->nusers, done = 0;
    if (changed)
        *changed = 0;
    if (with == n)
        return fxs_fail(g->ctx, FXS_EINVAL, "Node %s can't be replaced by itself", n->name);
    if (with && (with->graph != g || with->erased))
        return fxs_fail(g->ctx, FXS_EINVAL, "Node %s can't stand for %s: it is not in its graph",
                        with->name, n->name);
    fxs_node **users = FXS_NEW_N(&g->arena, fxs_node *, count);
    if (!users)
        return fxs_fail_memory(g->ctx);
    if (count)
        memcpy(users, n->users, count * sizeof *users);
    /* All of n's users are taken away at once and the kept ones put back: one by one would be
     * quadratic. */
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (filter && !filter(user, users[i]))
            n->users[kept++] = users[i];
        else
            users[done++] = users[i];
    }
    n->nusers = kept;
    for (size_t i = 0; i < done; i++) {
        fxs_status s = rewrite(users[i], &(replacement){.from = n, .to = with});
        if (s != FXS_OK) { /* those that still use n are its users again: there is room for them */
            memcpy(n->users + n->nusers, users + i, (done - i) * sizeof *users);
            n->nusers += done - i;
            return s;
        }
    }
    if (changed)
        *changed = done;
    if (!copy_meta || !with)
        return FXS_OK;
    FXS_TRY(fxs_node_inherit_user_meta(with, n));
    return inherit_meta(with, n);
}

/* ---- purity
 * -----------------------------------------------------------------------------------------------------------
 */

/* torch.fx 1.13's set of functions with side effects. */
static bool has_side_effect(const char *target) {
    static const char *const impure[] = {"torch._assert",
                                         "torch.ops.profiler._record_function_enter",
                                         "torch.ops.profiler._record_function_enter_new",
                                         "torch.ops.profiler._record_function_exit"};
    for (size_t i = 0; i < sizeof impure / sizeof *impure; i++)
        if (strcmp(impure[i], target) == 0)
            return true;
    return false;
}

fxs_status fxs_node_is_impure(const fxs_node *n, bool *out) {
    *out = n->kind == FXS_PLACEHOLDER || n->kind == FXS_OUTPUT ||
           (n->kind == FXS_CALL_FUNCTION && has_side_effect(n->target));
    if (n->kind == FXS_CALL_MODULE && !n->graph->owner)
        return fxs_fail(n->graph->ctx, FXS_EINVAL,
                        "graph.owning_module not set for purity check of Node %s", n->name);
    return FXS_OK;
}

/* Marks from the end what nobody that stays uses. */
static fxs_status find_dead(fxs_graph *g, fxs_subst *dead, size_t *live_users, size_t *count) {
    for (fxs_node *n = g->root.prev; n != &g->root; n = n->prev)
        live_users[n->id] = n->nusers;
    for (fxs_node *n = g->root.prev; n != &g->root; n = n->prev) {
        bool impure;
        if (live_users[n->id])
            continue;
        FXS_TRY(fxs_node_is_impure(n, &impure));
        if (impure)
            continue;
        fxs_subst_erase(dead, n);
        ++*count;
        for (size_t i = 0; i < n->ninputs; i++)
            live_users[n->inputs[i]->id]--;
    }
    return FXS_OK;
}

fxs_status fxs_graph_eliminate_dead_code(fxs_graph *g, size_t *erased) {
    size_t count = 0, *live_users = NULL;
    fxs_subst dead;
    FXS_TRY(fxs_graph_lint(g));
    FXS_TRY(fxs_subst_init(&dead, g));
    live_users = fxs_alloc(g->next_id, sizeof *live_users);
    fxs_status s = live_users ? find_dead(g, &dead, live_users, &count) : fxs_fail_memory(g->ctx);
    if (s == FXS_OK && count)
        s = fxs_subst_apply(&dead);
    fxs_subst_free(&dead);
    fxs_free(live_users);
    if (erased)
        *erased = s == FXS_OK ? count : 0;
    return s;
}
