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

/* The operator of .call, by the name that Python's layer calls it. */
static fxs_status untraced_call(fxs_tracer *t, fxs_layer *layer, const fxs_value *args,
                                const fxs_value *kwargs, fetcher *f, const char **name,
                                fxs_value *a, fxs_value *k) {
    const fxs_candidate *ops;
    const fxs_schema *schema;
    const fxs_op *op = NULL;
    const char *row_name;
    FXS_TRY(fxs_layer_call(layer, &t->scratch, args, kwargs, !f->m->eval, fetch_state, f, &row_name,
                           a, k));
    FXS_TRY(fxs_registry_find_op(t->ctx, row_name, &ops));
    *name = spelling_of(&t->scratch, ops, &op);
    if (!*name)
        return fxs_fail(t->ctx, FXS_EUNKNOWN, "%s has no function that it could be traced into",
                        f->m->class_name);
    FXS_TRY(fxs_registry_schema(t->ctx, op, &schema));
    drop_unknown(schema, k);
    return FXS_OK;
}

/* ---- padding that is no zeros
 * ------------------------------------------------------------------------------------------------
 */

/* How much is put around, from the last dimension to the first, before and behind each: a tuple
 * from numbers, a list from 'same' and 'valid', as the layer's constructor keeps them. */
static fxs_status padding_around(fxs_tracer *t, const fxs_layer *layer, size_t rank,
                                 fxs_value *out) {
    fxs_value padding = *fxs_layer_hyper(layer, "padding"), kernel, dilation;
    const char *word = fxs_value_text(&padding);
    kernel = *fxs_layer_hyper(layer, "kernel_size");
    dilation = *fxs_layer_hyper(layer, "dilation");
    FXS_TRY(fxs_layer_ntuple(t->ctx, &t->scratch, (int)rank, &padding));
    FXS_TRY(fxs_layer_ntuple(t->ctx, &t->scratch, (int)rank, &dilation));
    FXS_TRY(fxs_make_seq(t->ctx, &t->scratch, word ? FXS_V_LIST : FXS_V_TUPLE, 2 * rank, out));
    for (size_t i = 0; i < rank; i++) {
        fxs_value *at = &out->u.seq->items[2 * (rank - 1 - i)];
        const fxs_value *k = fxs_value_item(&kernel, i), *d = fxs_value_item(&dilation, i);
        bool same = word && strcmp(word, "same") == 0;
        int64_t total = same && k && d ? d->u.i * (k->u.i - 1) : 0;
        at[0] = fxs_int(total / 2);
        at[1] = fxs_int(total - total / 2);
        if (!word && fxs_value_item(&padding, i))
            at[0] = at[1] = *fxs_value_item(&padding, i);
    }
    return FXS_OK;
}

/* Convolutions pad their input first, and then by nothing. */
static fxs_status pad_first(fxs_tracer *t, const fxs_layer *layer, fxs_value *a) {
    enum { INPUT, PADDING = 4 };
    const fxs_value *mode = fxs_layer_hyper(layer, "padding_mode");
    size_t rank = fxs_value_len(fxs_value_item(a, PADDING - 1));
    fxs_value args, kwargs, padded;
    if (!mode || mode->tag != FXS_V_STR || strcmp(mode->u.s->text, "zeros") == 0)
        return FXS_OK;
    FXS_TRY(fxs_make_seq(t->ctx, &t->scratch, FXS_V_TUPLE, 2, &args));
    FXS_TRY(fxs_make_dict(t->ctx, &t->scratch, 1, &kwargs));
    args.u.seq->items[0] = a->u.seq->items[INPUT];
    FXS_TRY(padding_around(t, layer, rank, &args.u.seq->items[1]));
    FXS_TRY(fxs_make_text(t->ctx, &t->scratch, FXS_V_STR, "mode", 4, &kwargs.u.dict->pairs[0].key));
    kwargs.u.dict->pairs[0].value = *mode;
    fxs_node *n;
    FXS_TRY(
        fxs_tracer_node(t, FXS_CALL_FUNCTION, "torch.nn.functional.pad", &args, &kwargs, NULL, &n));
    padded = fxs_of_node(n);
    a->u.seq->items[INPUT] = padded;
    a->u.seq->items[PADDING] = fxs_int(0);
    return fxs_layer_ntuple(t->ctx, &t->scratch, (int)rank, &a->u.seq->items[PADDING]);
}

/* ---- the call
 * ------------------------------------------------------------------------------------------------
 */

static fxs_status layer_call(fxs_tracer *t, fxs_module *m, const fxs_value *args,
                             const fxs_value *kwargs, const char **name, fxs_value *a,
                             fxs_value *k) {
    fxs_layer *layer = FXS_NEW(&t->scratch, fxs_layer);
    fetcher f = {.t = t, .m = m};
    if (!layer)
        return fxs_fail_memory(t->ctx);
    FXS_TRY(fxs_module_layer(m, &t->scratch, layer));
    if (!m->row->trace)
        return untraced_call(t, layer, args, kwargs, &f, name, a, k);
    FXS_TRY(fxs_layer_traced_call(layer, &t->scratch, args, kwargs, !m->eval, fetch_state, &f, name,
                                  a, k));
    return *name && strncmp(*name, "torch.conv", 10) == 0 ? pad_first(t, layer, a) : FXS_OK;
}

fxs_status fxs_forward_of_layer(fxs_ctx *ctx, const fxs_module *m, struct fxs_forward **out) {
    fxs_buf signature = {0};
    const char *names = m->row->forward ? m->row->forward : "input";
    for (const char *s = names; *s;) {
        s += strspn(s, ", ");
        size_t n = strcspn(s, ",?:"), end = strcspn(s, ",");
        bool optional = s[n] == '?', typed = end > n + optional && s[n + optional] == ':';
        fxs_buf_printf(&signature, "%s%.*s: ", s == names ? "" : ", ", (int)n, s);
        if (typed)
            fxs_buf_add(&signature, s + n + optional + 2, end - n - optional - 2);
        else
            fxs_buf_puts(&signature, optional ? "typing.Optional[torch.Tensor]" : "torch.Tensor");
        fxs_buf_puts(&signature, optional ? " = None" : "");
        s += end;
    }
    fxs_buf_puts(&signature, " -> torch.Tensor");
    fxs_status status = fxs_buf_status(ctx, &signature);
    if (status == FXS_OK)
        status = fxs_forward_new(ctx, signature.data, fxs_forward_of_parts(m), NULL, out);
    fxs_buf_free(&signature);
    return status;
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
    if (s != FXS_OK)
        return fxs_tracer_failed(t, s);
    if (!name)
        return fxs_made(t, a);
    if (strncmp(name, "Tensor.", 7) == 0)
        return fxs_tracer_method(t, name + 7, &a, &k);
    return fxs_tracer_function(t, name, &a, &k);
}
