/* module.c: the module tree: children, look-up by dotted path. Parameters are in param.c. */
#include "ir/module.h"

#include <string.h>

#include "ir/layer_plan.h"
#include "op/registry.h"

fxs_module *fxs_module_ref(fxs_module *m) {
    if (m)
        m->refs++;
    return m;
}

static void free_param(fxs_parameter *p) {
    if (!p || --p->refs > 0)
        return;
    fxs_tensor_unref(p->spec);
    fxs_tensor_unref(p->data);
    fxs_free(p);
}

void fxs_module_unref(fxs_module *m) {
    if (!m || --m->refs > 0)
        return;
    for (size_t i = 0; i < m->nattributes; i++) {
        if (m->attributes[i].param->made_for ==
            m) /* another module may share it, and live longer */
            m->attributes[i].param->made_for = NULL;
        fxs_free(m->attributes[i].name);
        free_param(m->attributes[i].param);
    }
    for (size_t i = 0; i < m->nchildren; i++) {
        fxs_free(m->children[i].name);
        fxs_module_unref(m->children[i].module);
    }
    fxs_graph_free(m->graph);
    if (m->forward)
        m->forward_free(m->forward);
    fxs_layer_plan_forget(m);
    fxs_map_free(&m->child_names);
    fxs_map_free(&m->attribute_names);
    fxs_free(m->attributes);
    fxs_free(m->children);
    fxs_value_unref(&m->args);
    fxs_value_unref(&m->kwargs);
    fxs_free(m->class_name);
    fxs_free(m->extra);
    fxs_free(m);
}

const char *fxs_module_class(const fxs_module *m) { return m->class_name; }
fxs_graph *fxs_module_graph(const fxs_module *m) { return m->graph; }

void fxs_module_set_graph(fxs_module *m, fxs_graph *g) {
    if (m->graph == g)
        return;
    if (g && g->owner) /* a graph has one owner: it moves */
        g->owner->graph = NULL;
    fxs_graph_free(m->graph);
    m->graph = g;
    if (g)
        g->owner = m;
}

static fxs_parameter *new_param(fxs_module *m, const fxs_state *s) {
    fxs_parameter *p = fxs_alloc0(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (fxs_parameter){
        .refs = 1, .is_buffer = s->is_buffer, .init = s->init, .bound = s->bound, .made_for = m};
    if (fxs_tensor_make(m->ctx, s->dtype, s->ndim, s->sizes, NULL, &p->spec) != FXS_OK) {
        fxs_free(p);
        return NULL;
    }
    p->spec->is_parameter = !s->is_buffer;
    p->spec->requires_grad =
        !s->is_buffer && (fxs_is_floating(s->dtype) || fxs_is_complex(s->dtype));
    return p;
}

/* Takes p over, also when it fails. */
static fxs_status put_attribute(fxs_module *m, const char *name, fxs_parameter *p) {
    if (m->nattributes == m->attributes_cap) {
        size_t cap = m->attributes_cap ? m->attributes_cap * 2 : 2;
        fxs_attribute *grown = fxs_realloc(m->attributes, cap, sizeof *grown);
        if (!grown) {
            free_param(p);
            return fxs_fail_memory(m->ctx);
        }
        m->attributes = grown;
        m->attributes_cap = cap;
    }
    char *key = fxs_memdup0(name, strlen(name));
    if (!key || !fxs_map_put(&m->attribute_names, key, strlen(key), (void *)(m->nattributes + 1))) {
        fxs_free(key);
        free_param(p);
        return fxs_fail_memory(m->ctx);
    }
    m->attributes[m->nattributes++] = (fxs_attribute){.name = key, .param = p};
    fxs_layer_plan_forget(m);
    return FXS_OK;
}

static fxs_status add_implied_state(fxs_module *m) {
    fxs_arena a = {0};
    fxs_layer *layer = FXS_NEW(&a, fxs_layer);
    fxs_status s = layer ? fxs_module_layer(m, &a, layer) : fxs_fail_memory(m->ctx);
    if (s == FXS_OK)
        s = fxs_layer_bind_state(layer);
    for (int i = 0; s == FXS_OK && i < layer->nstate; i++) {
        fxs_parameter *p = new_param(m, &layer->state[i]);
        if (!p) {
            s = m->ctx->status ? m->ctx->status : fxs_fail_memory(m->ctx);
            break;
        }
        p->implied = true;
        s = put_attribute(m, layer->state[i].name, p);
    }
    fxs_arena_clear(&a);
    return s;
}

static fxs_status fill_module(fxs_module *m, const char *class_name, const fxs_value *args,
                              const fxs_value *kwargs, bool bare) {
    m->class_name = fxs_memdup0(class_name, strlen(class_name));
    if (!m->class_name)
        return fxs_fail_memory(m->ctx);
    if (args)
        FXS_TRY(fxs_value_copy(m->ctx, NULL, args, &m->args));
    else
        FXS_TRY(fxs_make_seq(m->ctx, NULL, FXS_V_TUPLE, 0, &m->args));
    if (kwargs)
        FXS_TRY(fxs_value_copy(m->ctx, NULL, kwargs, &m->kwargs));
    else
        FXS_TRY(fxs_make_dict(m->ctx, NULL, 0, &m->kwargs));
    if (bare)
        return FXS_OK;
    FXS_TRY(fxs_registry_find_module(m->ctx, class_name, &m->row));
    return m->row ? add_implied_state(m) : FXS_OK;
}

static fxs_status new_module(fxs_ctx *ctx, const char *class_name, const fxs_value *args,
                             const fxs_value *kwargs, bool bare, fxs_module **out) {
    *out = NULL;
    FXS_TRY(fxs_need_text(ctx, class_name, "the class of a module"));
    fxs_module *m = *out = fxs_alloc0(1, sizeof *m);
    if (!m)
        return fxs_fail_memory(ctx);
    m->refs = 1;
    m->ctx = ctx;
    m->id = ++ctx->stamp;
    fxs_status s = fill_module(m, class_name, args, kwargs, bare);
    if (s != FXS_OK) {
        fxs_module_unref(m);
        *out = NULL;
    }
    return s;
}

fxs_status fxs_module_new(fxs_ctx *ctx, const char *class_name, const fxs_value *args,
                          const fxs_value *kwargs, fxs_module **out) {
    return new_module(ctx, class_name, args, kwargs, false, out);
}

fxs_status fxs_module_new_bare(fxs_ctx *ctx, const char *class_name, fxs_module **out) {
    return new_module(ctx, class_name, NULL, NULL, true, out);
}

fxs_status fxs_module_layer(const fxs_module *m, fxs_arena *a, fxs_layer *out) {
    return fxs_layer_bind(m->ctx, a, m->row, &m->args, &m->kwargs, out);
}

/* A part of a dotted path that a model file can hold. */
static fxs_status check_name(const fxs_module *m, const char *name, const char *what) {
    if (!name)
        return fxs_fail(m->ctx, FXS_EINVAL, "%s name is NULL", what);
    if (!*name)
        return fxs_fail(m->ctx, FXS_EINVAL, "%s name can't be empty string \"\"", what);
    for (const char *s = name; *s; s++)
        if (*s == '.' || (unsigned char)*s < ' ')
            return fxs_fail(m->ctx, FXS_EINVAL,
                            "%s name can't contain \".\" or control characters, got: %s", what,
                            name);
    return FXS_OK;
}

static bool holds(const fxs_module *m, const fxs_module *inner) {
    for (size_t i = 0; i < m->nchildren; i++)
        if (m->children[i].module == inner || holds(m->children[i].module, inner))
            return true;
    return m == inner;
}

fxs_status fxs_module_check_child(const fxs_module *m, const char *name, const fxs_module *child) {
    FXS_TRY(check_name(m, name, "module"));
    FXS_TRY(fxs_need(m->ctx, child, "the module to put there"));
    if (child->nchildren ? holds(child, m) : child == m)
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s can't be put below itself, as '%s'",
                        m->class_name, name);
    return FXS_OK;
}

fxs_status fxs_module_add_child(fxs_module *m, const char *name, fxs_module *child) {
    FXS_TRY(fxs_module_check_child(m, name, child));
    return fxs_module_adopt_child(m, name, child);
}

fxs_status fxs_module_adopt_child(fxs_module *m, const char *name, fxs_module *child) {
    size_t len = strlen(name);
    if (fxs_module_child(m, name, len))
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s has two children named '%s'", m->class_name,
                        name);
    if (m->nchildren == m->children_cap) {
        size_t cap = m->children_cap ? m->children_cap * 2 : 4;
        fxs_child *grown = fxs_realloc(m->children, cap, sizeof *grown);
        if (!grown)
            return fxs_fail_memory(m->ctx);
        m->children = grown;
        m->children_cap = cap;
    }
    char *key = fxs_memdup0(name, len);
    if (!key || !fxs_map_put(&m->child_names, key, len, (void *)(m->nchildren + 1))) {
        fxs_free(key);
        return fxs_fail_memory(m->ctx);
    }
    m->children[m->nchildren++] = (fxs_child){.name = key, .module = fxs_module_ref(child)};
    return FXS_OK;
}

/* A layer implies float32; model.half() and model.double() declare what they made of it. */
static bool only_precision_differs(const fxs_parameter *p, const fxs_state *s) {
    return p->is_buffer == s->is_buffer && p->implied && fxs_is_floating(p->spec->dtype) &&
           fxs_is_floating(s->dtype) && p->spec->ndim == s->ndim &&
           memcmp(p->spec->sizes, s->sizes, (size_t)s->ndim * sizeof *s->sizes) == 0;
}

static fxs_status declare_known(fxs_module *m, const char *name, fxs_parameter *p,
                                const fxs_state *s) {
    if (p->spec->dtype != s->dtype && only_precision_differs(p, s)) {
        p->spec->dtype = s->dtype;
        p->declared = true;
        return FXS_OK;
    }
    fxs_tensor *spec;
    char want[FXS_SIZES_TEXT], have[FXS_SIZES_TEXT];
    FXS_TRY(fxs_tensor_make(m->ctx, s->dtype, s->ndim, s->sizes, NULL, &spec));
    bool same = p->is_buffer == s->is_buffer && p->spec->dtype == s->dtype &&
                p->spec->ndim == s->ndim &&
                memcmp(p->spec->sizes, s->sizes, (size_t)s->ndim * sizeof *s->sizes) == 0;
    fxs_status status = FXS_OK;
    if (!same)
        status = fxs_fail(m->ctx, FXS_ESHAPE,
                          "%s implies %s %s: torch.%s%s, but it is declared as %s torch.%s%s",
                          m->class_name, p->is_buffer ? "buffer" : "parameter", name,
                          fxs_dtype_name(p->spec->dtype), fxs_sizes_text(p->spec, want),
                          s->is_buffer ? "buffer" : "parameter", fxs_dtype_name(s->dtype),
                          fxs_sizes_text(spec, have));
    fxs_tensor_unref(spec);
    return status;
}

fxs_status fxs_module_add_tensor(fxs_module *m, const char *name, bool is_buffer, fxs_dtype dtype,
                                 int ndim, const int64_t *sizes) {
    fxs_state s = {
        .name = name, .is_buffer = is_buffer, .dtype = dtype, .ndim = ndim, .init = FXS_INIT_ZEROS};
    FXS_TRY(check_name(m, name, is_buffer ? "buffer" : "parameter"));
    if (ndim < 0 || (ndim && !sizes))
        return fxs_fail(m->ctx, FXS_EINVAL, "'%s' has no sizes", name);
    if (ndim > FXS_MAX_DIM)
        return fxs_fail(m->ctx, FXS_ELIMIT, "'%s' has %d dimensions; at most %d are supported",
                        name, ndim, FXS_MAX_DIM);
    if (ndim)
        memcpy(s.sizes, sizes, (size_t)ndim * sizeof *sizes);
    fxs_parameter *known = fxs_module_attribute(m, name, strlen(name));
    if (known)
        return declare_known(m, name, known, &s);
    if (!is_buffer) /* no initialiser is known: small and not constant, as most networks choose */
        s.init = FXS_INIT_UNIFORM, s.bound = FXS_DECLARED_BOUND;
    fxs_parameter *p = new_param(m, &s);
    if (!p)
        return m->ctx->status ? m->ctx->status : fxs_fail_memory(m->ctx);
    return put_attribute(m, name, p);
}

fxs_status fxs_module_add_constant(fxs_module *m, const char *name, fxs_tensor *t) {
    fxs_parameter *p = fxs_alloc0(1, sizeof *p);
    if (!p)
        return fxs_fail_memory(m->ctx);
    *p = (fxs_parameter){.refs = 1, .is_buffer = true, .given = true, .made_for = m};
    if (fxs_tensor_to_meta(m->ctx, t, &p->spec) != FXS_OK) {
        fxs_free(p);
        return m->ctx->status;
    }
    p->data = fxs_tensor_ref(t);
    return put_attribute(m, name, p);
}

fxs_status fxs_module_share(fxs_module *m, const char *name, fxs_parameter *p) {
    fxs_parameter *old = fxs_module_attribute(m, name, strlen(name));
    p->refs++;
    if (!old)
        return put_attribute(m, name, p);
    size_t i = (size_t)*fxs_map_at(&m->attribute_names, name, strlen(name)) - 1;
    m->attributes[i].param = p;
    fxs_layer_plan_forget(m);
    free_param(old);
    return FXS_OK;
}

fxs_module *fxs_module_child(const fxs_module *m, const char *name, size_t len) {
    void **at = fxs_map_at(&m->child_names, name, len);
    return at ? m->children[(size_t)*at - 1].module : NULL;
}

fxs_parameter *fxs_module_attribute(const fxs_module *m, const char *name, size_t len) {
    void **at = fxs_map_at(&m->attribute_names, name, len);
    return at ? m->attributes[(size_t)*at - 1].param : NULL;
}

fxs_lookup fxs_module_lookup(const fxs_module *m, const char *path) {
    fxs_lookup r = {.module = (fxs_module *)m, .parent = m};
    if (!*path)
        return r;
    for (const char *at = path;;) {
        size_t len = strcspn(at, ".");
        fxs_module *child = fxs_module_child(r.module, at, len);
        fxs_parameter *p = child ? NULL : fxs_module_attribute(r.module, at, len);
        if (!child && p && at[len] == '\0') {
            r.param = p;
            r.parent = r.module;
            r.module = NULL;
            return r;
        }
        if (!child) {
            r.parent = r.module;
            r.module = NULL;
            r.missing = at;
            r.missing_len = len;
            r.prefix_len = at == path ? 0 : (size_t)(at - path) - 1;
            return r;
        }
        r.module = child;
        if (at[len] == '\0')
            return r;
        at += len + 1;
    }
}

/* Nothing but a removal takes a module from where it was found. */
fxs_lookup fxs_module_lookup_target(const fxs_module *root, fxs_node *n) {
    fxs_module *m = fxs_module_remembered(root, n);
    if (m)
        return (fxs_lookup){.module = m};
    fxs_lookup at = fxs_module_lookup(root, n->target);
    n->found = (fxs_found){.module = at.module,
                           .target = n->target,
                           .root = root->id,
                           .removals = root->ctx->removals};
    return at;
}

fxs_module *fxs_module_find(const fxs_module *m, const char *path) {
    return path ? fxs_module_lookup(m, path).module : NULL;
}

typedef struct walk {
    fxs_module_fn *fn;
    void *user;
    fxs_buf path;
} walk;

static fxs_status walk_below(walk *w, fxs_module *m) {
    if (w->path.failed)
        return fxs_fail_memory(m->ctx);
    FXS_TRY(w->fn(w->user, w->path.data ? w->path.data : "", m));
    size_t len = w->path.len;
    for (size_t i = 0; i < m->nchildren; i++) {
        if (len)
            fxs_buf_putc(&w->path, '.');
        fxs_buf_puts(&w->path, m->children[i].name);
        FXS_TRY(walk_below(w, m->children[i].module));
        fxs_buf_cut(&w->path, len);
    }
    return FXS_OK;
}

fxs_status fxs_module_walk(fxs_module *m, fxs_module_fn *fn, void *user) {
    walk w = {.fn = fn, .user = user};
    fxs_status s = walk_below(&w, m);
    fxs_buf_free(&w.path);
    return s;
}
