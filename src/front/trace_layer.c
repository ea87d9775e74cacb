/* trace_layer.c: what a layer computes, as nodes: for a layer that is the root of a trace, or that
 * is_leaf_module wants traced through. The layer's row says which operator its forward is. */
#include <string.h>

#include "front/trace.h"

typedef struct fetcher {
    fxs_tracer *t;
    const fxs_module *m;
} fetcher;

/* A parameter is a node, a buffer the tensor itself, as fxs_attr gives them. */
static fxs_status fetch_state(void *user, const char *name, fxs_value *out) {
    fetcher *f = user;
    fxs_parameter *p = fxs_module_attribute(f->m, name, strlen(name));
    fxs_traced_tensor *of = p ? fxs_tracer_tensor(f->t, p->spec) : NULL;
    fxs_node *n;
    *out = fxs_none();
    if (!of)
        return FXS_OK;
    *out = (fxs_value){.tag = FXS_V_TENSOR, .u.tensor = p->spec};
    if (p->is_buffer && !f->t->opt.proxy_buffers)
        return FXS_OK;
    FXS_TRY(fxs_tracer_get_attr(f->t, of, &n));
    *out = fxs_of_node(n);
    return FXS_OK;
}

/* The name under which Python's layer calls the operator: the functional where there is one. */
static const char *spelling_of(fxs_arena *a, const fxs_candidate *ops, const fxs_op **op) {
    const char *found = NULL;
    for (; ops && !found; ops = ops->next) {
        *op = ops->op;
        found = ops->op->torch ? strstr(ops->op->torch, "torch.nn.functional.") : NULL;
        found = found || !ops->op->torch ? found : ops->op->torch;
    }
    return found && *found ? fxs_arena_dup(a, found, strcspn(found, " ")) : NULL;
}

/* Rows of layers may hand on more than the function has (padding_mode): that part is not the
 * function's. */
static void drop_unknown(const fxs_schema *s, fxs_value *kwargs) {
    size_t kept = 0;
    for (size_t i = 0; i < kwargs->u.dict->len; i++)
        if (fxs_schema_index(s, fxs_value_text(&kwargs->u.dict->pairs[i].key)) >= 0)
            kwargs->u.dict->pairs[kept++] = kwargs->u.dict->pairs[i];
    kwargs->u.dict->len = kept;
}

static fxs_status layer_call(fxs_tracer *t, fxs_module *m, const fxs_value *args,
                             const fxs_value *kwargs, const char **name, fxs_value *a,
                             fxs_value *k) {
    fxs_layer *layer = FXS_NEW(&t->scratch, fxs_layer);
    fetcher f = {.t = t, .m = m};
    const fxs_candidate *ops;
    const fxs_schema *schema;
    const fxs_op *op = NULL;
    const char *row_name;
    if (!layer)
        return fxs_fail_memory(t->ctx);
    FXS_TRY(fxs_module_layer(m, &t->scratch, layer));
    FXS_TRY(
        fxs_layer_call(layer, &t->scratch, args, kwargs, false, fetch_state, &f, &row_name, a, k));
    FXS_TRY(fxs_registry_find_op(t->ctx, row_name, &ops));
    *name = spelling_of(&t->scratch, ops, &op);
    if (!*name)
        return fxs_fail(t->ctx, FXS_EUNKNOWN, "%s has no function that it could be traced into",
                        m->class_name);
    FXS_TRY(fxs_registry_schema(t->ctx, op, &schema));
    drop_unknown(schema, k);
    return FXS_OK;
}

fxs_proxy fxs_tracer_layer(fxs_tracer *t, fxs_module *m, const fxs_value *args,
                           const fxs_value *kwargs) {
    const char *name;
    fxs_value a, k;
    if (!m->row || !m->row->call)
        return fxs_tracer_fail(t, FXS_EUNKNOWN,
                               "Module [%s] is missing the required \"forward\" function",
                               m->class_name);
    fxs_status s = layer_call(t, m, args, kwargs, &name, &a, &k);
    return s == FXS_OK ? fxs_tracer_function(t, name, &a, &k) : fxs_tracer_failed(t, s);
}
