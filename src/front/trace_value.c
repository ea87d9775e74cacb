/* trace_value.c: from proxies to values, and from values to what may stand in a node's arguments:
 * torch.fx's create_arg. */
#include <string.h>

#include "front/trace.h"

/* ---- the trace's errors
 * --------------------------------------------------------------------------------------------
 */

fxs_proxy fxs_tracer_failed(fxs_tracer *t, fxs_status s) {
    (void)s; /* the context keeps it */
    if (!t->failed && t->ctx->status != FXS_ENOMEM) {
        const fxs_scope *in = t->scope;
        if (in && *in->path)
            fxs_fail_where(t->ctx, "in %s.forward of '%s'", in->class_name, in->path);
        else if (in)
            fxs_fail_where(t->ctx, "in %s.forward", in->class_name);
        if (t->at.file)
            fxs_fail_where(t->ctx, "%s:%d", t->at.file, t->at.line);
    }
    t->failed = true;
    return fxs_poison(t);
}

fxs_proxy fxs_tracer_fail(fxs_tracer *t, fxs_status s, const char *fmt, ...) {
    fxs_buf b = {0};
    va_list ap;
    if (t->failed)
        return fxs_poison(t);
    va_start(ap, fmt);
    fxs_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    s = b.failed ? fxs_fail_memory(t->ctx) : fxs_fail(t->ctx, s, "%s", b.data);
    fxs_buf_free(&b);
    return fxs_tracer_failed(t, s);
}

fxs_tracer *fxs_tracer_of(fxs_place at, size_t n, const fxs_proxy *p) {
    for (size_t i = 0; i < n; i++) {
        if (!p[i].tracer)
            continue;
        if (!p[i].tracer->failed)
            p[i].tracer->at = at;
        return p[i].tracer;
    }
    return NULL;
}

fxs_proxy fxs_poison_of(fxs_place at, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    if (t)
        return fxs_poison(t);
    for (size_t i = 0; i < n; i++)
        if (p[i].kind == FXS_P_POISON)
            return (fxs_proxy){.kind = FXS_P_POISON, .n = p[i].n, .u.text = p[i].u.text};
    return (fxs_proxy){.kind = FXS_P_POISON, .n = (unsigned)at.line, .u.text = at.file};
}

/* ---- the root's tensors
 * -----------------------------------------------------------------------------------------------
 */

fxs_traced_tensor *fxs_tracer_tensor(const fxs_tracer *t, const fxs_tensor *tensor) {
    void **at = fxs_map_at(&t->tensors, (const char *)&tensor, sizeof tensor);
    return at ? *at : NULL;
}

fxs_status fxs_tracer_add_tensor(fxs_tracer *t, const fxs_tensor *tensor, const char *path,
                                 fxs_parameter *p) {
    fxs_traced_tensor *e = FXS_NEW(&t->arena, fxs_traced_tensor);
    const fxs_tensor **key = FXS_NEW(&t->arena, const fxs_tensor *);
    char *copy = fxs_arena_dup(&t->arena, path, strlen(path));
    if (!e || !key || !copy)
        return fxs_fail_memory(t->ctx);
    *key = tensor;
    *e = (fxs_traced_tensor){.path = copy, .param = p};
    return fxs_map_put(&t->tensors, (const char *)key, sizeof *key, e) ? FXS_OK
                                                                       : fxs_fail_memory(t->ctx);
}

/* ---- proxies to values
 * ----------------------------------------------------------------------------------------------------
 */

static fxs_status items_value(fxs_tracer *t, fxs_arena *a, const fxs_proxy *p, int depth,
                              fxs_value *out);

/* Such a call has no context that could keep the error: the first that meets its result does. */
static fxs_status unknown_trace(fxs_tracer *t, const fxs_proxy *p) {
    static const char why[] = "constants alone do not know of a trace: compute with them in C, or "
                              "give fxs_function the module or a proxy first";
    if (!p->u.text)
        return fxs_fail(t->ctx, FXS_EINVAL, "an argument was computed from constants; %s", why);
    return fxs_fail(t->ctx, FXS_EINVAL, "an argument was computed from constants at %s:%u; %s",
                    p->u.text, p->n, why);
}

static fxs_status to_value(fxs_tracer *t, fxs_arena *a, const fxs_proxy *p, int depth,
                           fxs_value *out) {
    *out = fxs_none();
    if (p->tracer && p->tracer != t)
        return fxs_fail(t->ctx, FXS_EINVAL,
                        "Found multiple different tracers while trying to trace operations");
    switch ((fxs_proxy_kind)p->kind) {
    case FXS_P_VALUE:
        *out = p->u.value;
        return FXS_OK;
    case FXS_P_TEXT:
        FXS_TRY(p->tag == FXS_V_DEVICE ? fxs_need_text(t->ctx, p->u.text, "the name of a device")
                                       : fxs_need(t->ctx, p->u.text, "the text of an argument"));
        return fxs_make_text(t->ctx, a, (fxs_tag)p->tag, p->u.text, strlen(p->u.text), out);
    case FXS_P_INTS:
        FXS_TRY(fxs_make_seq(t->ctx, a, FXS_V_TUPLE, p->n, out));
        for (unsigned i = 0; i < p->n; i++)
            out->u.seq->items[i] = fxs_int(p->u.ints[i]);
        return FXS_OK;
    case FXS_P_ITEMS:
        return items_value(t, a, p, depth, out);
    case FXS_P_MODULE:
        return fxs_fail(t->ctx, FXS_ETYPE, "a module was given where a value is expected");
    case FXS_P_ABSENT:
        return fxs_fail(t->ctx, FXS_EINVAL,
                        "an argument has no value: a proxy was used before it was set");
    default:
        return unknown_trace(t, p);
    }
}

/* A list, a tuple, a slice of three, or a dict of pairs. */
static fxs_status check_items(fxs_ctx *ctx, const fxs_proxy *p) {
    static const char what[] = "fxs_sequence_of";
    if (p->tag != FXS_V_LIST && p->tag != FXS_V_TUPLE && p->tag != FXS_V_SLICE &&
        p->tag != FXS_V_DICT)
        return fxs_fail(ctx, FXS_EINVAL,
                        "%s: the tag must be that of a list, tuple, slice or dict, not %d", what,
                        (int)p->tag);
    if (p->n && !p->u.items)
        return fxs_fail(ctx, FXS_EINVAL, "%s: the items are NULL", what);
    if (p->tag == FXS_V_SLICE && p->n != 3)
        return fxs_fail(ctx, FXS_EINVAL, "%s: a slice has start, stop and step, not %u items", what,
                        p->n);
    if (p->tag == FXS_V_DICT && p->n % 2)
        return fxs_fail(ctx, FXS_EINVAL,
                        "%s: a dict has keys and values in turn, and the last of %u items is a key "
                        "without a value",
                        what, p->n);
    return FXS_OK;
}

static fxs_status dict_value(fxs_tracer *t, fxs_arena *a, const fxs_proxy *p, int depth,
                             fxs_value *out) {
    FXS_TRY(fxs_make_dict(t->ctx, a, p->n / 2, out));
    for (unsigned i = 0; i < p->n / 2; i++) {
        fxs_pair *pair = &out->u.dict->pairs[i];
        FXS_TRY(to_value(t, a, &p->u.items[2 * i], depth + 1, &pair->key));
        FXS_TRY(to_value(t, a, &p->u.items[2 * i + 1], depth + 1, &pair->value));
        if (fxs_value_has_node(&pair->key)) {
            fxs_buf b = {0};
            fxs_buf_repr(&b, &pair->key, &(fxs_repr){.node = fxs_node_put_name});
            fxs_status s = fxs_fail(
                t->ctx, FXS_ETYPE,
                "Keys for dictionaries used as an argument cannot contain a Node. Got key: %s",
                b.data ? b.data : "?");
            fxs_buf_free(&b);
            return s;
        }
    }
    return FXS_OK;
}

static fxs_status items_value(fxs_tracer *t, fxs_arena *a, const fxs_proxy *p, int depth,
                              fxs_value *out) {
    FXS_TRY(check_items(t->ctx, p));
    if (depth > FXS_MAX_DEPTH)
        return fxs_fail(t->ctx, FXS_ELIMIT, "containers are nested deeper than %d", FXS_MAX_DEPTH);
    if (p->tag == FXS_V_DICT)
        return dict_value(t, a, p, depth, out);
    FXS_TRY(fxs_make_seq(t->ctx, a, (fxs_tag)p->tag, p->n, out));
    for (unsigned i = 0; i < p->n; i++)
        FXS_TRY(to_value(t, a, &p->u.items[i], depth + 1, &out->u.seq->items[i]));
    return FXS_OK;
}

bool fxs_proxy_value(fxs_tracer *t, fxs_arena *a, const fxs_proxy *p, fxs_value *out) {
    fxs_status s = t->failed ? FXS_EINVAL : to_value(t, a, p, 0, out);
    if (s != FXS_OK)
        fxs_tracer_failed(t, s);
    return s == FXS_OK;
}

static fxs_status arguments(fxs_tracer *t, size_t n, const fxs_proxy *p, fxs_value *args,
                            fxs_value *kwargs) {
    size_t named = 0, i_args = 0, i_kwargs = 0;
    for (size_t i = 0; i < n; i++)
        named += p[i].keyword != NULL;
    FXS_TRY(fxs_make_seq(t->ctx, &t->scratch, FXS_V_TUPLE, n - named, args));
    FXS_TRY(fxs_make_dict(t->ctx, &t->scratch, named, kwargs));
    for (size_t i = 0; i < n; i++) {
        fxs_value v;
        FXS_TRY(to_value(t, &t->scratch, &p[i], 0, &v));
        if (p[i].keyword && !*p[i].keyword)
            return fxs_fail(t->ctx, FXS_EINVAL, "the keyword of an argument is NULL or empty");
        if (!p[i].keyword) {
            args->u.seq->items[i_args++] = v;
            continue;
        }
        fxs_pair *pair = &kwargs->u.dict->pairs[i_kwargs++];
        pair->value = v;
        FXS_TRY(fxs_make_text(t->ctx, &t->scratch, FXS_V_STR, p[i].keyword, strlen(p[i].keyword),
                              &pair->key));
    }
    return FXS_OK;
}

bool fxs_proxy_arguments(fxs_tracer *t, size_t n, const fxs_proxy *p, fxs_value *args,
                         fxs_value *kwargs) {
    if (t->failed)
        return false;
    fxs_status s = arguments(t, n, p, args, kwargs);
    if (s != FXS_OK)
        fxs_tracer_failed(t, s);
    return s == FXS_OK;
}

fxs_proxy fxs_sequence_of(fxs_tag tag, size_t n, const fxs_proxy *items) {
    fxs_proxy p = {.kind = FXS_P_ITEMS,
                   .tag = (unsigned char)((unsigned)tag < FXS_V_UNKNOWN ? tag : FXS_V_UNKNOWN),
                   .n = (unsigned)n,
                   .u.items = items};
    fxs_tracer *t = NULL;
    fxs_value v;
    for (size_t i = 0; items && i < n && !t; i++)
        t = items[i].tracer;
    if (!t)
        return p; /* constants alone: borrowed */
    return fxs_proxy_value(t, &t->arena, &p, &v) ? fxs_made(t, v) : fxs_poison(t);
}

/* ---- values to arguments
 * ---------------------------------------------------------------------------------------------------
 */

/* A tensor that the root does not have becomes an attribute of it: the first free
 * _tensor_constantN. */
static fxs_status name_constant(fxs_tracer *t, fxs_tensor *tensor, fxs_traced_tensor **out) {
    fxs_buf name = {0};
    do {
        fxs_buf_cut(&name, 0);
        fxs_buf_printf(&name, "_tensor_constant%zu", t->nconstants++);
    } while (!name.failed && (fxs_module_attribute(t->root, name.data, name.len) ||
                              fxs_module_child(t->root, name.data, name.len)));
    fxs_status s = fxs_buf_status(t->ctx, &name);
    if (s == FXS_OK)
        s = fxs_module_add_constant(t->root, name.data, tensor);
    if (s == FXS_OK)
        s = fxs_tracer_add_tensor(t, tensor, name.data,
                                  fxs_module_attribute(t->root, name.data, name.len));
    fxs_buf_free(&name);
    *out = fxs_tracer_tensor(t, tensor);
    return s;
}

static fxs_status argument_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    fxs_tracer *t = user;
    fxs_node *node;
    *out = *leaf;
    if (leaf->tag == FXS_V_OBJECT || leaf->tag == FXS_V_UNKNOWN)
        return fxs_fail(t->ctx, FXS_ETYPE, "argument of type: <class '%s'>",
                        fxs_value_type_name(leaf));
    if (leaf->tag == FXS_V_NODE && leaf->u.node->graph != t->graph)
        return fxs_fail(t->ctx, FXS_EINVAL, "Node %s is of another graph", leaf->u.node->name);
    if (leaf->tag != FXS_V_TENSOR)
        return FXS_OK;
    fxs_traced_tensor *of = fxs_tracer_tensor(t, leaf->u.tensor);
    if (!of)
        FXS_TRY(name_constant(t, leaf->u.tensor, &of));
    /* It was not read through its module: a node at each use, also for a parameter. */
    FXS_TRY(fxs_tracer_node(t, FXS_GET_ATTR, of->path, NULL, NULL, NULL, &node));
    *out = fxs_of_node(node);
    return FXS_OK;
}

fxs_status fxs_tracer_arg(fxs_tracer *t, const fxs_value *v, fxs_value *out) {
    return fxs_value_map(t->ctx, &t->scratch, v, argument_leaf, t, out);
}
