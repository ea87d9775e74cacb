/* user_meta.c: torch.fx's node.meta: values of the user's own with a node, by key. Each set makes a
 * new dict on the heap, so that copies of a node share theirs; the graph drops all of them, since a
 * node that was erased keeps its own. */
#include <string.h>

#include "ir/graph.h"

struct fxs_user_meta {
    fxs_value dict;
    struct fxs_user_meta *next; /* of the graph's, in no order */
};

void fxs_graph_free_user_meta(fxs_graph *g) {
    for (fxs_user_meta *m = g->user_meta; m; m = m->next)
        fxs_value_unref(&m->dict);
}

/* Takes the dict over, also when it fails. */
static fxs_status give(fxs_node *n, fxs_value dict) {
    fxs_graph *g = n->graph;
    if (!n->user_meta) {
        n->user_meta = FXS_NEW(&g->arena, fxs_user_meta);
        if (!n->user_meta) {
            fxs_value_unref(&dict);
            return fxs_fail_memory(g->ctx);
        }
        *n->user_meta = (fxs_user_meta){.dict = fxs_none(), .next = g->user_meta};
        g->user_meta = n->user_meta;
    }
    fxs_value_unref(&n->user_meta->dict);
    n->user_meta->dict = dict;
    return FXS_OK;
}

static bool is_no_node(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_NODE;
}

/* n's dict with that key set to v at its place or behind all others, or without it (NULL). */
static fxs_status change(const fxs_node *n, const char *key, const fxs_value *v, fxs_value *out) {
    const fxs_value *old = n->user_meta ? &n->user_meta->dict : NULL;
    fxs_ctx *ctx = n->graph->ctx;
    size_t have = old ? fxs_value_len(old) : 0, count = 0;
    fxs_value *pairs = fxs_alloc0(2 * (have + 1), sizeof *pairs), text = fxs_none();
    fxs_value *keys = pairs, *values = pairs ? pairs + have + 1 : NULL;
    fxs_status s = pairs ? fxs_value_str(ctx, key, &text) : fxs_fail_memory(ctx);
    bool placed = !v;
    for (size_t i = 0; s == FXS_OK && i < have; i++) {
        bool same = strcmp(fxs_value_text(fxs_value_key(old, i)), key) == 0;
        if (same && !v)
            continue;
        keys[count] = *fxs_value_key(old, i);
        values[count++] = same ? *v : *fxs_value_item(old, i);
        placed = placed || same;
    }
    if (s == FXS_OK && !placed) {
        keys[count] = text;
        values[count++] = *v;
    }
    s = s ? s : fxs_value_dict_of(ctx, count, keys, values, out);
    fxs_value_unref(&text);
    fxs_free(pairs);
    return s;
}

fxs_status fxs_node_set_user_meta(fxs_node *n, const char *key, const fxs_value *v) {
    fxs_value dict, copy = fxs_none();
    FXS_TRY(fxs_need_text(n->graph->ctx, key, "fxs_node_set_user_meta: the key"));
    if (v && !fxs_value_visit(v, is_no_node, NULL))
        return fxs_fail(n->graph->ctx, FXS_EINVAL,
                        "Node %s: a node can't be kept under '%s': it may go before this one",
                        n->name, key);
    if (v) /* what stands in a graph's arena goes with that graph */
        FXS_TRY(fxs_value_copy(n->graph->ctx, NULL, v, &copy));
    fxs_status s = change(n, key, v ? &copy : NULL, &dict);
    fxs_value_unref(&copy);
    return s ? s : give(n, dict);
}

const fxs_value *fxs_node_user_meta(const fxs_node *n, const char *key) {
    const fxs_value *dict = n->user_meta ? &n->user_meta->dict : NULL;
    if (!key)
        return dict;
    for (size_t i = 0; dict && i < fxs_value_len(dict); i++)
        if (strcmp(fxs_value_text(fxs_value_key(dict, i)), key) == 0)
            return fxs_value_item(dict, i);
    return NULL;
}

fxs_status fxs_node_copy_user_meta(fxs_node *to, const fxs_node *from) {
    return from->user_meta ? give(to, fxs_value_ref(from->user_meta->dict)) : FXS_OK;
}

fxs_status fxs_node_inherit_user_meta(fxs_node *to, const fxs_node *from) {
    const fxs_value *dict = fxs_node_user_meta(from, NULL);
    for (size_t i = 0; dict && i < fxs_value_len(dict); i++) {
        const char *key = fxs_value_text(fxs_value_key(dict, i));
        if (!fxs_node_user_meta(to, key))
            FXS_TRY(fxs_node_set_user_meta(to, key, fxs_value_item(dict, i)));
    }
    return FXS_OK;
}
