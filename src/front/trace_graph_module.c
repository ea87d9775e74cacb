/* trace_graph_module.c: a graph becomes a GraphModule: the modules, parameters and buffers that its
 * nodes name are shared with the root that it was traced from, and nothing else is. */
#include <string.h>

#include "front/trace.h"

typedef struct builder {
    fxs_ctx *ctx;
    const fxs_module *root;
    fxs_module *into;
    fxs_map called; /* targets of call_module nodes: these are shared whole, also when a parameter
                       of theirs comes first */
} builder;

static fxs_status not_there(const builder *b, const fxs_node *n, const fxs_lookup *at) {
    return fxs_fail(b->ctx, FXS_ENOTFOUND, "Node %s: '%s' object has no attribute '%.*s'", n->name,
                    at->parent->class_name, (int)at->missing_len, at->missing);
}

/* The module under `name` in `at`: root's own when it is called or is the last part, a bare one
 * where a path only leads through it. */
static fxs_status step_into(builder *b, fxs_module *at, const char *target, size_t upto,
                            const char *name, size_t len, bool share, fxs_module **out) {
    fxs_buf key = {0};
    fxs_module *made = NULL;
    *out = fxs_module_child(at, name, len);
    if (*out)
        return FXS_OK;
    fxs_buf_add(&key, target, upto);
    fxs_status s = fxs_buf_status(b->ctx, &key);
    if (s == FXS_OK && (share || fxs_map_at(&b->called, key.data, upto)))
        made = fxs_module_ref(fxs_module_find(b->root, key.data));
    else if (s == FXS_OK)
        s = fxs_module_new_bare(b->ctx, "Module", &made);
    fxs_buf_cut(&key, 0);
    fxs_buf_add(&key, name, len);
    if (s == FXS_OK)
        s = fxs_buf_status(b->ctx, &key);
    if (s == FXS_OK)
        s = fxs_module_add_child(at, key.data, made);
    *out = made;
    fxs_module_unref(made); /* the parent counts it */
    fxs_buf_free(&key);
    return s;
}

static fxs_status share_target(builder *b, const fxs_node *n) {
    fxs_lookup found = fxs_module_lookup(b->root, n->target);
    fxs_module *at = b->into;
    const char *part = n->target;
    const fxs_module *original = b->root;
    if (!found.module && !found.param)
        return not_there(b, n, &found);
    for (;;) {
        size_t len = strcspn(part, "."), upto = (size_t)(part - n->target) + len;
        bool last = part[len] == '\0';
        if (last && found.param)
            return fxs_module_attribute(at, part, len) ? FXS_OK
                                                       : fxs_module_share(at, part, found.param);
        FXS_TRY(step_into(b, at, n->target, upto, part, len, last, &at));
        original = fxs_module_child(original, part, len);
        if (last || at == original) /* shared from here on */
            return FXS_OK;
        part += len + 1;
    }
}

static bool has_target(const fxs_node *n) {
    return (n->kind == FXS_CALL_MODULE || n->kind == FXS_GET_ATTR) && *n->target;
}

static fxs_status share_all(builder *b, const fxs_graph *g) {
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (n->kind == FXS_CALL_MODULE && !fxs_map_put(&b->called, n->target, strlen(n->target), b))
            return fxs_fail_memory(b->ctx);
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (has_target(n))
            FXS_TRY(share_target(b, n));
    return FXS_OK;
}

fxs_status fxs_graph_module_new(fxs_module *root, fxs_graph *g, const char *class_name,
                                fxs_module **out) {
    builder b = {.ctx = g->ctx, .root = root};
    *out = NULL;
    FXS_TRY(fxs_need(g->ctx, root, "fxs_graph_module_new: root"));
    FXS_TRY(fxs_module_new_bare(g->ctx, class_name ? class_name : root->class_name, &b.into));
    b.into->eval = root->eval;
    fxs_status s = share_all(&b, g);
    fxs_map_free(&b.called);
    if (s != FXS_OK) {
        fxs_module_unref(b.into);
        return s;
    }
    fxs_module_set_graph(b.into, g);
    *out = b.into;
    return FXS_OK;
}
