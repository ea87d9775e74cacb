/* module_edit.c: changing a module tree: putting and deleting submodules by dotted path, tensors
 * with given values. Passes and rewriting call it. Nodes that name what is gone are lint's
 * business. */
#include <string.h>

#include "ir/module.h"

/* ---- children
 * ------------------------------------------------------------------------------------------- */

static void **child_place(const fxs_module *m, const char *name, size_t len) {
    return fxs_map_at(&m->child_names, name, len);
}

static fxs_status set_child(fxs_module *m, const char *name, fxs_module *child) {
    void **at = child_place(m, name, strlen(name));
    if (!at)
        return fxs_module_add_child(m, name, child);
    fxs_child *c = &m->children[(size_t)*at - 1];
    fxs_module *old = c->module;
    c->module = fxs_module_ref(child);
    m->ctx->removals++;
    fxs_module_unref(old);
    return FXS_OK;
}

/* Drops the children whose place in `drop` is true. */
static fxs_status drop_children(fxs_module *m, const bool *drop) {
    fxs_map names = {0};
    size_t kept = 0;
    for (size_t i = 0; i < m->nchildren; i++) {
        const char *name = m->children[i].name;
        if (!drop[i] && !fxs_map_put(&names, name, strlen(name), (void *)++kept)) {
            fxs_map_free(&names);
            return fxs_fail_memory(m->ctx);
        }
    }
    fxs_map_free(&m->child_names);
    m->child_names = names;
    m->ctx->removals++;
    kept = 0;
    for (size_t i = 0; i < m->nchildren; i++) {
        if (!drop[i]) {
            m->children[kept++] = m->children[i];
            continue;
        }
        fxs_free(m->children[i].name);
        fxs_module_unref(m->children[i].module);
    }
    m->nchildren = kept;
    return FXS_OK;
}

/* ---- by dotted path
 * ------------------------------------------------------------------------------------- */

static fxs_status plain_child(fxs_module *m, const char *name, size_t len, fxs_module **out) {
    char *key = fxs_memdup0(name, len);
    fxs_module *child = NULL;
    fxs_status s =
        key ? fxs_module_new(m->ctx, "Module", NULL, NULL, &child) : fxs_fail_memory(m->ctx);
    if (s == FXS_OK)
        s = fxs_module_add_child(m, key, child);
    fxs_module_unref(child); /* the tree counts it */
    fxs_free(key);
    *out = child;
    return s;
}

/* Checked as a whole, before anything is made for its first part. */
static fxs_status check_path(const fxs_module *m, const char *path) {
    for (const char *at = path;; at++) {
        size_t len = strcspn(at, ".");
        if (len == 0)
            return fxs_fail(m->ctx, FXS_EINVAL, "'%s' is no path of a submodule or tensor", path);
        at += len;
        if (!*at)
            return FXS_OK;
    }
}

/* The module that holds a path's last part; plain modules are made for parts that are missing. Only
 * the first missing part can be a tensor's name, so that nothing is made before it is refused. */
static fxs_status holder_of(fxs_module *m, const char *path, fxs_module **holder,
                            const char **last) {
    for (const char *at = path;;) {
        size_t len = strcspn(at, ".");
        if (len == 0)
            return fxs_fail(m->ctx, FXS_EINVAL, "'%s' is no path of a submodule or tensor", path);
        if (!at[len]) {
            *holder = m;
            *last = at;
            return FXS_OK;
        }
        fxs_module *child = fxs_module_child(m, at, len);
        if (!child && fxs_module_attribute(m, at, len))
            return fxs_fail(m->ctx, FXS_EINVAL, "'%.*s' is a tensor: it can't hold '%s'",
                            (int)(at + len - path), path, at + len + 1);
        if (!child)
            FXS_TRY(plain_child(m, at, len, &child));
        m = child;
        at += len + 1;
    }
}

fxs_status fxs_module_add_submodule(fxs_module *m, const char *path, fxs_module *child) {
    fxs_module *holder;
    const char *last;
    FXS_TRY(fxs_need_text(m->ctx, path, "fxs_module_add_submodule: path"));
    fxs_lookup there = fxs_module_lookup(m, path);
    if (there.param)
        return fxs_fail(m->ctx, FXS_EINVAL, "'%s' is a tensor: no module can be put there", path);
    FXS_TRY(check_path(m, path));
    FXS_TRY(fxs_module_check_child(m, "child", child));
    FXS_TRY(holder_of(m, path, &holder, &last));
    return set_child(holder, last, child);
}

fxs_status fxs_module_share_at(fxs_module *m, const char *path, fxs_parameter *p) {
    fxs_module *holder;
    const char *last;
    fxs_lookup there = fxs_module_lookup(m, path);
    if (there.module)
        return fxs_fail(m->ctx, FXS_EINVAL, "'%s' is a module: no tensor can be put there", path);
    FXS_TRY(holder_of(m, path, &holder, &last));
    return fxs_module_share(holder, last, p);
}

fxs_status fxs_module_delete_submodule(fxs_module *m, const char *path) {
    FXS_TRY(fxs_need_text(m->ctx, path, "fxs_module_delete_submodule: path"));
    const char *dot = strrchr(path, '.'), *last = dot ? dot + 1 : path;
    char *parent_path = fxs_memdup0(path, dot ? (size_t)(dot - path) : 0);
    if (!parent_path)
        return fxs_fail_memory(m->ctx);
    fxs_module *parent = fxs_module_find(m, parent_path);
    fxs_free(parent_path);
    void **at = parent ? child_place(parent, last, strlen(last)) : NULL;
    if (!at)
        return fxs_fail(m->ctx, FXS_ENOTFOUND, "there is no submodule '%s'", path);
    bool *drop = fxs_alloc0(parent->nchildren, sizeof *drop);
    if (!drop)
        return fxs_fail_memory(m->ctx);
    drop[(size_t)*at - 1] = true;
    fxs_status s = drop_children(parent, drop);
    fxs_free(drop);
    return s;
}

/* ---- what a graph does not need
 * ------------------------------------------------------------------------- */

typedef enum need { ON_THE_WAY = 1, WHOLE = 2 } need;

typedef struct pruning {
    fxs_map needed; /* path -> need */
    fxs_buf path;
    size_t deleted;
} pruning;

static fxs_status note_target(pruning *p, const fxs_node *n) {
    const char *target = n->target;
    for (size_t len = strcspn(target, ".");; len += 1 + strcspn(target + len + 1, ".")) {
        need kind = target[len] ? ON_THE_WAY : WHOLE;
        void **at = fxs_map_at(&p->needed, target, len);
        if (!at && !fxs_map_put(&p->needed, target, len, (void *)(uintptr_t)kind))
            return fxs_fail_memory(n->graph->ctx);
        if (at && kind == WHOLE)
            *at = (void *)(uintptr_t)WHOLE;
        if (!target[len])
            return FXS_OK;
    }
}

static fxs_status prune(pruning *p, fxs_module *m) {
    size_t len = p->path.len;
    bool *drop = fxs_alloc0(m->nchildren, sizeof *drop);
    fxs_status s = drop ? FXS_OK : fxs_fail_memory(m->ctx);
    for (size_t i = 0; i < m->nchildren && s == FXS_OK; i++) {
        if (len)
            fxs_buf_putc(&p->path, '.');
        fxs_buf_puts(&p->path, m->children[i].name);
        s = fxs_buf_status(m->ctx, &p->path);
        void **at = s == FXS_OK ? fxs_map_at(&p->needed, p->path.data, p->path.len) : NULL;
        drop[i] = !at;
        p->deleted += !at;
        if (at && (uintptr_t)*at == ON_THE_WAY)
            s = prune(p, m->children[i].module);
        fxs_buf_cut(&p->path, len);
    }
    if (s == FXS_OK)
        s = drop_children(m, drop);
    fxs_free(drop);
    return s;
}

fxs_status fxs_module_delete_all_unused_submodules(fxs_module *m, size_t *deleted) {
    pruning p = {0};
    fxs_status s = FXS_OK;
    if (deleted)
        *deleted = 0;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL,
                        "module %s has no graph that could say which submodules it needs",
                        m->class_name);
    for (fxs_node *n = fxs_graph_first(m->graph); n && s == FXS_OK; n = fxs_node_next(n))
        if (n->kind == FXS_GET_ATTR || n->kind == FXS_CALL_MODULE)
            s = note_target(&p, n);
    if (s == FXS_OK)
        s = prune(&p, m);
    if (deleted)
        *deleted = p.deleted;
    fxs_map_free(&p.needed);
    fxs_buf_free(&p.path);
    return s;
}

/* ---- given values
 * --------------------------------------------------------------------------------------- */

fxs_status fxs_module_put_tensor(fxs_module *m, const char *name, bool is_buffer, fxs_tensor *t) {
    fxs_tensor *spec;
    FXS_TRY(fxs_need_text(m->ctx, name, "fxs_module_put_tensor: name"));
    FXS_TRY(fxs_need(m->ctx, t, "fxs_module_put_tensor: the tensor"));
    const fxs_parameter *old = fxs_module_attribute(m, name, strlen(name));
    if (!t->storage)
        return fxs_fail(m->ctx, FXS_EINVAL, "'%s' is to get a tensor without values", name);
    if (strchr(name, '.') || fxs_module_child(m, name, strlen(name)))
        return fxs_fail(m->ctx, FXS_EINVAL, "a tensor can't be named '%s' in %s", name,
                        m->class_name);
    FXS_TRY(fxs_tensor_to_meta(m->ctx, t, &spec));
    fxs_parameter *p = fxs_alloc0(1, sizeof *p);
    if (!p) {
        fxs_tensor_unref(spec);
        return fxs_fail_memory(m->ctx);
    }
    spec->is_parameter = !is_buffer;
    bool implied =
        old && old->implied && old->is_buffer == is_buffer && old->spec->dtype == spec->dtype &&
        old->spec->ndim == spec->ndim &&
        memcmp(old->spec->sizes, spec->sizes, (size_t)spec->ndim * sizeof *spec->sizes) == 0;
    *p = (fxs_parameter){.is_buffer = is_buffer,
                         .implied = implied,
                         .given = true,
                         .spec = spec,
                         .data = fxs_tensor_ref(t),
                         .made_for = m};
    return fxs_module_share(m, name, p);
}

static fxs_status count_given(void *user, const char *path, fxs_module *m) {
    (void)path;
    for (size_t i = 0; i < m->nattributes; i++)
        *(size_t *)user += m->attributes[i].param->given;
    return FXS_OK;
}

size_t fxs_module_given_tensors(const fxs_module *m) {
    size_t n = 0;
    fxs_module_walk((fxs_module *)m, count_given, &n);
    return n;
}

static fxs_status adopt_members(fxs_module *to, const fxs_module *from) {
    for (size_t i = 0; i < from->nchildren; i++)
        FXS_TRY(fxs_module_adopt_child(to, from->children[i].name, from->children[i].module));
    for (size_t i = 0; i < from->nattributes; i++)
        FXS_TRY(fxs_module_share(to, from->attributes[i].name, from->attributes[i].param));
    return FXS_OK;
}

fxs_status fxs_module_with_graph(const fxs_module *m, const char *class_name, fxs_graph *g,
                                 fxs_module **out) {
    FXS_TRY(fxs_module_new_bare(m->ctx, class_name, out));
    fxs_status s = adopt_members(*out, m);
    if (s != FXS_OK) {
        fxs_module_unref(*out);
        *out = NULL;
        return s;
    }
    fxs_module_set_graph(*out, g);
    return FXS_OK;
}
