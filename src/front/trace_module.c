/* trace_module.c: modules inside a forward: calling them, their attributes and children. */
#include <string.h>

#include "front/trace.h"

static fxs_proxy module_proxy(fxs_tracer *t, fxs_module *m) {
    return (fxs_proxy){.tracer = t, .kind = FXS_P_MODULE, .u.module = m};
}

fxs_module *fxs_module_of(fxs_proxy self) {
    return self.kind == FXS_P_MODULE ? self.u.module : NULL;
}

void *fxs_user(fxs_proxy self) {
    fxs_module *m = fxs_module_of(self);
    return m && m->forward ? m->forward->user : NULL;
}

bool fxs_training(fxs_proxy self) {
    const fxs_module *m = fxs_module_of(self);
    return m && !m->eval;
}

/* ---- paths
 * ------------------------------------------------------------------------------------------------------------
 */

bool fxs_tracer_path(fxs_tracer *t, const fxs_module *m, const char **path) {
    void **at = fxs_map_at(&t->paths, (const char *)&m, sizeof m);
    *path = at ? *at : NULL;
    if (t->opt.path_of_module)
        *path = t->opt.path_of_module(t->opt.user, m, *path);
    if (!*path)
        fxs_tracer_fail(t, FXS_ENOTFOUND, "%s: module is not installed as a submodule",
                        m->class_name);
    return *path != NULL;
}

/* ---- calling
 * ------------------------------------------------------------------------------------------------------------
 */

/* Runs f with m as self. */
static fxs_proxy run_forward(fxs_tracer *t, fxs_module *m, const char *path,
                             const struct fxs_forward *f, const fxs_proxy *x) {
    const fxs_scope *outer = t->scope;
    fxs_status s =
        t->depth >= FXS_MAX_DEPTH
            ? fxs_fail(t->ctx, FXS_ELIMIT, "forwards call each other deeper than %d", FXS_MAX_DEPTH)
            : fxs_graph_scope_next(t->graph, outer, path, m->class_name, &t->scope);
    if (s != FXS_OK)
        return fxs_tracer_failed(t, s);
    t->depth++;
    fxs_proxy result = f->fn(module_proxy(t, m), x);
    t->depth--;
    t->scope = outer;
    return t->failed ? fxs_poison(t) : result;
}

static bool is_leaf(const fxs_tracer *t, const fxs_module *m, const char *path) {
    bool usual = !fxs_forward_of(m) && !m->graph;
    return t->opt.is_leaf_module ? t->opt.is_leaf_module(t->opt.user, m, path, usual) : usual;
}

static fxs_proxy call_node(fxs_tracer *t, const char *path, size_t n, const fxs_proxy *p) {
    fxs_value args, kwargs;
    fxs_node *node;
    if (!fxs_proxy_arguments(t, n, p, &args, &kwargs))
        return fxs_poison(t);
    fxs_status s = fxs_tracer_node(t, FXS_CALL_MODULE, path, &args, &kwargs, NULL, &node);
    fxs_arena_reset(&t->scratch);
    return s == FXS_OK ? fxs_made(t, fxs_of_node(node)) : fxs_tracer_failed(t, s);
}

static fxs_proxy call_forward(fxs_tracer *t, fxs_module *m, const char *path,
                              const struct fxs_forward *f, size_t n, const fxs_proxy *p) {
    fxs_proxy x[FXS_MAX_ARGS];
    return fxs_forward_bind(t, f, m->class_name, n, p, x) ? run_forward(t, m, path, f, x)
                                                          : fxs_poison(t);
}

/* With a forward that is made anew: of a graph, of a layer with layers in it. */
static fxs_proxy call_made(fxs_tracer *t, fxs_module *m, const char *path, size_t n,
                           const fxs_proxy *p) {
    struct fxs_forward *f;
    fxs_status s =
        m->graph ? fxs_forward_of_graph(t->ctx, m, &f) : fxs_forward_of_layer(t->ctx, m, &f);
    if (s != FXS_OK)
        return fxs_tracer_failed(t, s);
    fxs_proxy out = call_forward(t, m, path, f, n, p);
    fxs_forward_free(f);
    return out;
}

static fxs_proxy call_module(fxs_tracer *t, fxs_module *m, size_t n, const fxs_proxy *p) {
    fxs_value args, kwargs;
    const char *path;
    const struct fxs_forward *f = fxs_forward_of(m);
    if (!fxs_tracer_path(t, m, &path))
        return fxs_poison(t);
    if (is_leaf(t, m, path))
        return call_node(t, path, n, p);
    if (f)
        return call_forward(t, m, path, f, n, p);
    if (m->graph || fxs_forward_of_parts(m))
        return call_made(t, m, path, n, p);
    return fxs_proxy_arguments(t, n, p, &args, &kwargs) ? fxs_tracer_layer(t, m, &args, &kwargs)
                                                        : fxs_poison(t);
}

fxs_proxy fxs_record_apply(fxs_place at, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    if (!t || t->failed)
        return fxs_poison_of(at, n, p);
    if (p[0].kind != FXS_P_MODULE)
        return fxs_tracer_fail(t, FXS_ETYPE, "fxs_apply: the first argument must be a module");
    return call_module(t, p[0].u.module, n - 1, p + 1);
}

/* The child, parameter or buffer of that dotted name below self. False: an error is set. */
static bool look_up(fxs_tracer *t, const fxs_proxy *self, const char *name, fxs_lookup *out) {
    if (self->kind != FXS_P_MODULE || !self->u.module) {
        fxs_tracer_fail(t, FXS_ETYPE, "'%s' was looked for in what is no module",
                        name ? name : "?");
        return false;
    }
    if (!name || !*name) {
        fxs_tracer_fail(t, FXS_EINVAL, "the name of a module or tensor expected behind self");
        return false;
    }
    *out = fxs_module_lookup(self->u.module, name);
    if (!out->module && !out->param)
        fxs_tracer_fail(t, FXS_ENOTFOUND, "'%s' object has no attribute '%.*s'",
                        out->parent->class_name, (int)out->missing_len, out->missing);
    return !t->failed;
}

fxs_proxy fxs_record_call(fxs_place at, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    const char *name = n > 1 && p[1].kind == FXS_P_TEXT ? p[1].u.text : NULL;
    fxs_lookup found;
    if (!t || t->failed || !look_up(t, &p[0], name, &found))
        return fxs_poison_of(at, n, p);
    if (!found.module)
        return fxs_tracer_fail(t, FXS_ETYPE, "'%s' is a tensor, which can't be called", name);
    return call_module(t, found.module, n - 2, p + 2);
}

/* ---- attributes
 * ------------------------------------------------------------------------------------------------------------
 */

fxs_proxy fxs_record_attr(fxs_place at, fxs_proxy self, const char *name) {
    fxs_tracer *t = fxs_tracer_of(at, 1, &self);
    fxs_lookup found;
    fxs_node *node;
    if (!t || t->failed || !look_up(t, &self, name, &found))
        return fxs_poison_of(at, 1, &self);
    if (found.module)
        return module_proxy(t, found.module);
    fxs_traced_tensor *of = fxs_tracer_tensor(t, found.param->spec);
    if (!of)
        return fxs_tracer_fail(t, FXS_ENOTFOUND, "%s: parameter is not a member of this module",
                               name);
    if (found.param->is_buffer &&
        !t->opt.proxy_buffers) /* a tensor, which is a node only where it is used */
        return fxs_made(t, (fxs_value){.tag = FXS_V_TENSOR, .u.tensor = found.param->spec});
    fxs_status s = fxs_tracer_get_attr(t, of, &node);
    return s == FXS_OK ? fxs_made(t, fxs_of_node(node)) : fxs_tracer_failed(t, s);
}

size_t fxs_children(fxs_proxy self) {
    fxs_module *m = fxs_module_of(self);
    return m ? m->nchildren : 0;
}

fxs_proxy fxs_record_child_at(fxs_place at, fxs_proxy self, size_t i) {
    fxs_tracer *t = fxs_tracer_of(at, 1, &self);
    fxs_module *m = fxs_module_of(self);
    if (!t || t->failed)
        return fxs_poison(t);
    if (!m || i >= m->nchildren)
        return fxs_tracer_fail(t, FXS_EINDEX, "there is no child %zu", i);
    return module_proxy(t, m->children[i].module);
}

bool fxs_has(fxs_proxy self, const char *name) {
    fxs_module *m = fxs_module_of(self);
    if (!m || !name || !*name)
        return false;
    fxs_lookup found = fxs_module_lookup(m, name);
    return found.module || found.param;
}

fxs_proxy fxs_forward_sequential(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = x[0];
    fxs_module *m = fxs_module_of(self);
    for (size_t i = 0; m && i < m->nchildren && !self.tracer->failed; i++)
        y = call_module(self.tracer, m->children[i].module, 1, &y);
    return y;
}
