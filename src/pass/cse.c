/* cse.c: common subexpressions: a call with the target and arguments of an earlier one gives that
 * one's result. As in torch.fx, placeholders, get_attr nodes and outputs are never merged. Only
 * pure calls are, and none whose result may be written in place, or that has a write between it and
 * the earlier one. opt.c lists it. */
#include <string.h>

#include "ir/subst.h"
#include "pass/effect.h"
#include "pass/opt.h"

typedef struct merging {
    fxs_graph *g;
    fxs_effects effects;
    fxs_subst subst;
    fxs_map seen; /* key -> node */
    fxs_arena arena;
    size_t writes; /* so far */
} merging;

/* In a key, a node is its index: that of the node that it was merged into. */
static void put_index(const fxs_node *n, fxs_buf *b) { fxs_buf_printf(b, "%%%zu", n->index); }
static void put_address(const fxs_tensor *t, fxs_buf *b) {
    fxs_buf_printf(b, "tensor %p", (const void *)t);
}

/* Its text does not tell one from another. */
static bool has_identity(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_OPAQUE && leaf->tag != FXS_V_OBJECT && leaf->tag != FXS_V_UNKNOWN;
}

static bool may_merge(const merging *m, const fxs_node *n) {
    if (n->kind != FXS_CALL_FUNCTION && n->kind != FXS_CALL_METHOD && n->kind != FXS_CALL_MODULE)
        return false;
    return m->effects.of[n->index] == FXS_PURE && !m->effects.written[n->index] &&
           fxs_value_visit(&n->args, has_identity, NULL) &&
           fxs_value_visit(&n->kwargs, has_identity, NULL);
}

/* Repr tells 1 from True and 1.0, and 'x' from a device. The number of writes keeps both sides of a
 * write apart. */
static fxs_status make_key(merging *m, const fxs_node *n, fxs_buf *key) {
    fxs_repr how = {.node = put_index, .tensor = put_address};
    fxs_buf_cut(key, 0);
    fxs_buf_printf(key, "%d %zu %s ", (int)n->kind, m->writes, n->target);
    fxs_buf_repr(key, &n->args, &how);
    fxs_buf_repr(key, &n->kwargs, &how);
    return fxs_buf_status(m->g->ctx, key);
}

static fxs_status merge_node(merging *m, fxs_node *n, fxs_buf *key, bool *changed) {
    FXS_TRY(make_key(m, n, key));
    void **at = fxs_map_at(&m->seen, key->data, key->len);
    if (!at) {
        char *kept = fxs_arena_dup(&m->arena, key->data, key->len);
        return kept && fxs_map_put(&m->seen, kept, key->len, n) ? FXS_OK
                                                                : fxs_fail_memory(m->g->ctx);
    }
    fxs_node *first = *at;
    fxs_value v = fxs_of_node(first);
    FXS_TRY(fxs_subst_set(&m->subst, n, &v));
    fxs_subst_erase(&m->subst, n);
    n->index = first->index;
    *changed = true;
    return FXS_OK;
}

static fxs_status merge_all(merging *m, fxs_module *gm, bool *changed) {
    fxs_buf key = {0};
    fxs_status s = FXS_OK;
    FXS_TRY(fxs_graph_lint(m->g));
    FXS_TRY(fxs_effects_find(gm, &m->arena, &m->effects));
    FXS_TRY(fxs_subst_init(&m->subst, m->g));
    for (fxs_node *n = fxs_graph_first(m->g); n && s == FXS_OK; n = fxs_node_next(n)) {
        m->writes +=
            m->effects.of[n->index] == FXS_WRITES || m->effects.of[n->index] == FXS_MAY_WRITE;
        if (may_merge(m, n))
            s = merge_node(m, n, &key, changed);
    }
    fxs_buf_free(&key);
    return s == FXS_OK && *changed ? fxs_subst_apply(&m->subst) : s;
}

fxs_status fxs_pass_cse(fxs_module *gm, bool *changed) {
    merging m = {.g = gm->graph};
    fxs_status s = merge_all(&m, gm, changed);
    fxs_map_free(&m.seen);
    fxs_subst_free(&m.subst);
    fxs_arena_clear(&m.arena);
    return s;
}
