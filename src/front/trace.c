/* trace.c: a trace from beginning to end: the root's modules and tensors get their paths, its
 * forward runs once over placeholders, and the graph that was recorded becomes a GraphModule. */
#include "front/trace.h"

#include <string.h>

/* ---- what the root has
 * ---------------------------------------------------------------------------------------------------
 */

static fxs_status index_tensors(fxs_tracer *t, const char *path, const fxs_module *m) {
    fxs_buf name = {0};
    fxs_status s = FXS_OK;
    for (size_t i = 0; s == FXS_OK && i < m->nattributes; i++) {
        fxs_parameter *p = m->attributes[i].param;
        if (fxs_tracer_tensor(t, p->spec)) /* shared: the first name wins */
            continue;
        fxs_buf_cut(&name, 0);
        fxs_buf_printf(&name, "%s%s%s", path, *path ? "." : "", m->attributes[i].name);
        s = name.failed ? fxs_fail_memory(t->ctx) : fxs_tracer_add_tensor(t, p->spec, name.data, p);
        if (s == FXS_OK && p->data) /* the same tensor, when it is met as a constant */
            s = fxs_tracer_add_tensor(t, p->data, name.data, p);
    }
    fxs_buf_free(&name);
    return s;
}

static fxs_status index_module(void *user, const char *path, fxs_module *m) {
    fxs_tracer *t = user;
    if (fxs_map_at(&t->paths, (const char *)&m, sizeof m))
        return FXS_OK;
    fxs_module **key = FXS_NEW(&t->arena, fxs_module *);
    char *copy = fxs_arena_dup(&t->arena, path, strlen(path));
    if (!key || !copy)
        return fxs_fail_memory(t->ctx);
    *key = m;
    if (!fxs_map_put(&t->paths, (const char *)key, sizeof *key, copy))
        return fxs_fail_memory(t->ctx);
    return index_tensors(t, path, m);
}

/* ---- running
 * --------------------------------------------------------------------------------------------------------------
 */

static fxs_status run(fxs_tracer *t, const struct fxs_forward *f) {
    fxs_proxy x[FXS_MAX_ARGS];
    fxs_value args, kwargs;
    fxs_proxy result;
    FXS_TRY(fxs_graph_scope_next(t->graph, NULL, "", t->root->class_name, &t->scope));
    FXS_TRY(fxs_trace_inputs(t, f, x));
    if (f->fn) {
        result = f->fn((fxs_proxy){.tracer = t, .kind = FXS_P_MODULE, .u.module = t->root}, x);
    } else if (fxs_proxy_arguments(t, (size_t)f->nparams, x, &args, &kwargs)) {
        result = fxs_tracer_layer(t, t->root, &args, &kwargs);
    } else {
        return t->ctx->status;
    }
    if (t->failed)
        return t->ctx->status;
    return fxs_trace_output(t, f, &result);
}

static fxs_status run_root(fxs_tracer *t, const struct fxs_forward *f) {
    struct fxs_forward *made = NULL;
    FXS_TRY(fxs_module_name_parameters(t->root));
    FXS_TRY(fxs_module_walk(t->root, index_module, t));
    f = f ? f : fxs_forward_of(t->root);
    if (!f && !t->root->graph && (!t->root->row || !t->root->row->call))
        return fxs_fail(t->ctx, FXS_EINVAL,
                        "Module [%s] is missing the required \"forward\" function",
                        t->root->class_name);
    if (!f)
        FXS_TRY(t->root->graph ? fxs_forward_of_graph(t->ctx, t->root, &made)
                               : fxs_forward_of_layer(t->ctx, t->root, &made));
    fxs_status s = run(t, f ? f : made);
    if (s != FXS_OK && !t->failed)
        fxs_tracer_failed(t, s);
    fxs_forward_free(made);
    return s;
}

static void free_tracer(fxs_tracer *t) {
    for (size_t i = 0; i < t->nheld; i++)
        fxs_value_unref(&t->held[i]);
    fxs_free(t->held);
    fxs_map_free(&t->paths);
    fxs_map_free(&t->tensors);
    fxs_arena_clear(&t->scratch);
    fxs_arena_clear(&t->arena);
}

/* f NULL: root's own. */
static fxs_status trace(fxs_ctx *ctx, fxs_module *root, const struct fxs_forward *f,
                        const fxs_trace_options *opt, fxs_module **out) {
    fxs_tracer t = {.ctx = ctx,
                    .root = root,
                    .module = f ? NULL : root,
                    .opt = opt ? *opt : (fxs_trace_options){0}};
    fxs_status s = fxs_graph_new(ctx, &t.graph);
    if (s == FXS_OK)
        s = run_root(&t, f);
    free_tracer(&t);
    if (s == FXS_OK)
        s = fxs_graph_module_new(root, t.graph, NULL, out);
    if (s != FXS_OK)
        fxs_graph_free(t.graph);
    return s;
}

fxs_status fxs_trace(fxs_ctx *ctx, fxs_module *root, const fxs_trace_options *opt,
                     fxs_module **out) {
    *out = NULL;
    if (ctx->status != FXS_OK) /* of the building of the modules */
        return ctx->status;
    if (!root)
        return fxs_fail(ctx, FXS_EINVAL, "there is no module to trace");
    return trace(ctx, root, NULL, opt, out);
}

fxs_status fxs_trace_function(fxs_ctx *ctx, const char *name, const char *signature,
                              fxs_forward_fn *fn, void *user, const fxs_trace_options *opt,
                              fxs_module **out) {
    fxs_module *root;
    *out = NULL;
    if (ctx->status != FXS_OK)
        return ctx->status;
    FXS_TRY(fxs_need_text(ctx, name, "fxs_trace_function: name"));
    FXS_TRY(fxs_module_new_bare(ctx, name, &root));
    fxs_status s = fxs_nn_forward(root, signature, fn, user);
    if (s == FXS_OK)
        s = trace(ctx, root, root->forward, opt, out);
    fxs_module_unref(root);
    return s;
}
