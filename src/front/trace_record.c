/* trace_record.c: one call on proxies becomes one node; a call on constants alone is computed. */
#include "front/trace.h"

#include <stdio.h>
#include <string.h>

/* ---- nodes
 * ------------------------------------------------------------------------------------------------------
 */

/* Functions of other modules than torch's are recorded by torch.fx only when torch.fx.wrap was told
 * of them. */
static bool needs_wrap(fxs_kind kind, const char *target) {
    return kind == FXS_CALL_FUNCTION && strncmp(target, "torch.", 6) != 0 &&
           strncmp(target, "operator.", 9) != 0 && strcmp(target, "builtins.getattr") != 0;
}

/* File and line on the node, and the stack trace that verbose code shows. */
static fxs_status remember_source(fxs_tracer *t, fxs_node *n) {
    fxs_buf b = {0};
    if (!t->opt.record_source || !t->at.file)
        return FXS_OK;
    fxs_buf_stack_line(&b, t->at.file, t->at.line);
    n->line = t->at.line;
    n->file = fxs_arena_dup(&t->graph->arena, t->at.file, strlen(t->at.file));
    n->stack_trace = b.failed ? NULL : fxs_arena_dup(&t->graph->arena, b.data, b.len);
    fxs_buf_free(&b);
    return n->file && n->stack_trace ? FXS_OK : fxs_fail_memory(t->ctx);
}

fxs_status fxs_tracer_node(fxs_tracer *t, fxs_kind kind, const char *target, const fxs_value *args,
                           const fxs_value *kwargs, const char *type, fxs_node **out) {
    fxs_value a, k;
    if (args)
        FXS_TRY(fxs_tracer_arg(t, args, &a));
    if (kwargs)
        FXS_TRY(fxs_tracer_arg(t, kwargs, &k));
    FXS_TRY(fxs_graph_create_node(t->graph, kind, target, args ? &a : NULL, kwargs ? &k : NULL,
                                  NULL, type, out));
    (*out)->scope = t->scope;
    (*out)->wrapped = needs_wrap(kind, target);
    return remember_source(t, *out);
}

fxs_status fxs_tracer_get_attr(fxs_tracer *t, fxs_traced_tensor *of, fxs_node **out) {
    bool once = !of->param->is_buffer || t->opt.proxy_buffers;
    *out = once ? of->node : NULL;
    if (*out)
        return FXS_OK;
    FXS_TRY(fxs_tracer_node(t, FXS_GET_ATTR, of->path, NULL, NULL, NULL, out));
    if (once)
        of->node = *out;
    return FXS_OK;
}

static fxs_proxy node_proxy(fxs_tracer *t, fxs_kind kind, const char *target, const fxs_value *args,
                            const fxs_value *kwargs) {
    fxs_node *n;
    fxs_status s = fxs_tracer_node(t, kind, target, args, kwargs, NULL, &n);
    fxs_arena_reset(&t->scratch);
    return s == FXS_OK ? fxs_made(t, fxs_of_node(n)) : fxs_tracer_failed(t, s);
}

/* ---- computing at once
 * ------------------------------------------------------------------------------------------------
 */

static fxs_status hold(fxs_tracer *t, fxs_value v) {
    if (t->nheld == t->held_cap) {
        size_t cap = t->held_cap ? t->held_cap * 2 : 8;
        fxs_value *p = fxs_realloc(t->held, cap, sizeof *p);
        if (!p) {
            fxs_value_unref(&v);
            return fxs_fail_memory(t->ctx);
        }
        t->held = p;
        t->held_cap = cap;
    }
    t->held[t->nheld++] = v;
    return FXS_OK;
}

/* Parameters and buffers travel as their meta tensors; their values are needed now. */
static fxs_status read_tensor(void *user, const fxs_value *leaf, fxs_value *out) {
    fxs_tracer *t = user;
    fxs_traced_tensor *of = leaf->tag == FXS_V_TENSOR ? fxs_tracer_tensor(t, leaf->u.tensor) : NULL;
    *out = *leaf;
    return of ? fxs_parameter_read(t->ctx, of->param, &out->u.tensor) : FXS_OK;
}

/* What Python would compute while it runs the forward. */
static fxs_status compute(fxs_tracer *t, const fxs_candidate *ops, const fxs_value *args,
                          const fxs_value *kwargs, fxs_value *out) {
    fxs_arena scratch = {0};
    fxs_applied applied = {0};
    fxs_value a, k;
    fxs_apply how = {.seed = t->ctx->seed + t->nheld, .scratch = &scratch};
    fxs_status s = fxs_value_map(t->ctx, &scratch, args, read_tensor, t, &a);
    if (s == FXS_OK)
        s = fxs_value_map(t->ctx, &scratch, kwargs, read_tensor, t, &k);
    if (s == FXS_OK)
        s = fxs_op_apply(t->ctx, ops, &a, &k, &how, &applied);
    if (s == FXS_OK)
        s = hold(t, applied.result);
    *out = s == FXS_OK ? applied.result : fxs_none();
    fxs_arena_clear(&scratch);
    return s;
}

/* Computes the call when nothing in it is a node and the library knows it; *done says whether it
 * did. */
static fxs_status try_compute(fxs_tracer *t, const char *prefix, const char *name,
                              const fxs_value *args, const fxs_value *kwargs, bool *done,
                              fxs_proxy *out) {
    char spelling[256];
    const fxs_candidate *ops = NULL;
    fxs_value v;
    *done = false;
    if (fxs_value_has_node(args) || fxs_value_has_node(kwargs) || strlen(name) > 200)
        return FXS_OK;
    snprintf(spelling, sizeof spelling, "%s%s", prefix, name);
    FXS_TRY(fxs_registry_find(t->ctx, spelling, &ops));
    if (!ops)
        return FXS_OK;
    FXS_TRY(compute(t, ops, args, kwargs, &v));
    *out = fxs_made(t, v);
    *done = true;
    return FXS_OK;
}

/* ---- functions and methods
 * ------------------------------------------------------------------------------------------------
 */

static fxs_proxy finish(fxs_tracer *t, fxs_status s, bool done, fxs_proxy made, fxs_kind kind,
                        const char *target, const fxs_value *args, const fxs_value *kwargs) {
    if (s == FXS_OK && !done)
        return node_proxy(t, kind, target, args, kwargs);
    fxs_arena_reset(&t->scratch);
    return s == FXS_OK ? made : fxs_tracer_failed(t, s);
}

/* Functions that write in place, by their names. */
static bool writes_in_place(fxs_ctx *ctx, const char *target) {
    const fxs_candidate *c = NULL;
    return fxs_registry_find(ctx, target, &c) == FXS_OK && c && c->in_place;
}

/* Python calls the function while it traces, and a call that lacks an argument fails there. Of a
 * function that has several rows one must fit; the message is about the first. */
static fxs_status check_given(fxs_tracer *t, const char *target, const fxs_value *args,
                              const fxs_value *kwargs) {
    const fxs_candidate *c;
    const char *first = NULL;
    FXS_TRY(fxs_registry_find(t->ctx, target, &c));
    for (; c; c = c->next) {
        const fxs_schema *s;
        FXS_TRY(fxs_registry_schema(t->ctx, c->op, &s));
        const char *missing = fxs_schema_missing(s, args, kwargs);
        if (!missing)
            return FXS_OK;
        first = first ? first : missing;
    }
    return first ? fxs_fail(t->ctx, FXS_ETYPE, "%s() missing a required argument: '%s'", target,
                            first)
                 : FXS_OK;
}

fxs_proxy fxs_tracer_function(fxs_tracer *t, const char *name, const fxs_value *args,
                              const fxs_value *kwargs) {
    fxs_spelled as;
    fxs_proxy made = fxs_poison(t);
    bool done = false;
    fxs_status s = fxs_spell(t->ctx, &t->scratch, name, args, kwargs, &as);
    if (s != FXS_OK)
        return finish(t, s, false, made, FXS_CALL_FUNCTION, name, args, kwargs);
    if (t->opt.refuse_mutation && !as.method && writes_in_place(t->ctx, as.target))
        return fxs_tracer_fail(
            t, FXS_EINVAL,
            "Tried to trace mutable operation %s. FX only supports functional code, so operations "
            "that mutate operands in-place (e.g. via `out` arguments) are not supported",
            as.target);
    if (!as.method)
        s = check_given(t, as.target, &as.args, &as.kwargs);
    if (s == FXS_OK)
        s = try_compute(t, as.method ? "Tensor." : "", as.target, &as.args, &as.kwargs, &done,
                        &made);
    return finish(t, s, done, made, as.method ? FXS_CALL_METHOD : FXS_CALL_FUNCTION, as.target,
                  &as.args, &as.kwargs);
}

/* A parameter whose shape is asked for, where that is a value (torch's ParameterProxy): it takes
 * the place of its node, and the call is computed at once. */
static void know_shape(const fxs_tracer *t, const char *name, const fxs_value *args) {
    static const char *const known[] = {"shape", "ndim", "size", "dim", "numel", "nelement"};
    fxs_value *self = args->tag == FXS_V_TUPLE ? (fxs_value *)fxs_value_item(args, 0) : NULL;
    bool asked = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        asked = asked || strcmp(name, known[i]) == 0;
    if (!t->opt.param_shapes_constant || !asked || !self || self->tag != FXS_V_NODE ||
        self->u.node->kind != FXS_GET_ATTR)
        return;
    fxs_parameter *p = fxs_module_lookup(t->root, self->u.node->target).param;
    if (p && !p->is_buffer)
        *self = (fxs_value){.tag = FXS_V_TENSOR, .u.tensor = p->spec};
}

fxs_proxy fxs_tracer_method(fxs_tracer *t, const char *name, const fxs_value *args,
                            const fxs_value *kwargs) {
    know_shape(t, name, args);
    fxs_proxy made = fxs_poison(t);
    bool done = false;
    fxs_status s = try_compute(t, "Tensor.", name, args, kwargs, &done, &made);
    return finish(t, s, done, made, FXS_CALL_METHOD, name, args, kwargs);
}

/* The text of an argument that names something. */
static const char *name_of(const fxs_proxy *p) {
    return p->kind == FXS_P_TEXT    ? p->u.text
           : p->kind == FXS_P_VALUE ? fxs_value_text(&p->u.value)
                                    : NULL;
}

fxs_proxy fxs_record_function(fxs_place at, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    const char *name = n > 1 ? name_of(&p[1]) : NULL;
    fxs_value args, kwargs;
    if (!t || t->failed)
        return fxs_poison_of(at, n, p);
    if (!name || !*name)
        return fxs_tracer_fail(
            t, FXS_EINVAL, "fxs_function: a module or proxy, then the name of a function expected");
    return fxs_proxy_arguments(t, n - 2, p + 2, &args, &kwargs)
               ? fxs_tracer_function(t, name, &args, &kwargs)
               : fxs_poison(t);
}

fxs_proxy fxs_record_method(fxs_place at, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    const char *name = n > 1 ? name_of(&p[1]) : NULL;
    fxs_value args, kwargs;
    if (!t || t->failed)
        return fxs_poison_of(at, n, p);
    if (!name || !*name)
        return fxs_tracer_fail(t, FXS_EINVAL,
                               "fxs_method: a proxy, then the name of a method expected");
    fxs_proxy *all = FXS_NEW_N(&t->scratch, fxs_proxy, n);
    if (!all)
        return fxs_tracer_failed(t, fxs_fail_memory(t->ctx));
    all[0] = p[0];
    memcpy(all + 1, p + 2, (n - 2) * sizeof *all);
    return fxs_proxy_arguments(t, n - 1, all, &args, &kwargs)
               ? fxs_tracer_method(t, name, &args, &kwargs)
               : fxs_poison(t);
}

static size_t count_words(const char *s) {
    size_t n = 0;
    for (; *s; n++) {
        s += strcspn(s, " ");
        s += *s == ' ';
    }
    return n;
}

/* Positional fields up to the first that is absent, then the named ones that are there, as proxies
 * of one call. */
static fxs_status given_fields(fxs_tracer *t, const char *names, size_t positional,
                               const fxs_proxy *fields, fxs_proxy *given, size_t *count) {
    for (*count = 0; *count < positional && fields[*count].kind != FXS_P_ABSENT; ++*count)
        given[*count] = fields[*count];
    for (size_t i = positional; *names; i++) {
        size_t n = strcspn(names, " ");
        if (fields[i].kind != FXS_P_ABSENT) {
            given[*count] = fields[i];
            given[*count].keyword = fxs_arena_dup(&t->scratch, names, n);
            if (!given[(*count)++].keyword)
                return fxs_fail_memory(t->ctx);
        }
        names += n + (names[n] == ' ');
    }
    return FXS_OK;
}

/* A number that stands where a proxy belongs, fxs_softmax(x, 1) for fxs_softmax(x, fxs_i(1)): C
 * takes it, with no more than a warning, for the proxy's first pointers. */
static bool is_bare_number(const fxs_proxy *p) {
    enum { NEAR = 1 << 20 };
    intptr_t v = (intptr_t)p->tracer;
    return p->kind == FXS_P_ABSENT ? p->tracer || p->keyword : v && v > -NEAR && v < NEAR;
}

/* Refuses the first of them at the place of the call; true where there is one. */
static bool refuse_bare_number(fxs_place at, const char *spelling, size_t n,
                               const fxs_proxy *fields) {
    size_t bad = 0, good = 0;
    while (bad < n && !is_bare_number(&fields[bad]))
        bad++;
    while (good < n && (is_bare_number(&fields[good]) || !fields[good].tracer))
        good++;
    if (bad == n)
        return false;
    fxs_tracer *t = good < n ? fxs_tracer_of(at, 1, &fields[good]) : NULL;
    if (t && !t->failed)
        fxs_tracer_fail(t, FXS_EINVAL,
                        "%s: a number can't be an argument as it is: write fxs_i(2), fxs_f(0.5) or "
                        "fxs_b(true)",
                        spelling);
    return true;
}

fxs_proxy fxs_record_fields(fxs_place at, const char *spelling, const char *names,
                            size_t positional, const fxs_proxy *fields) {
    size_t n = positional + count_words(names ? names : ""), count = 0;
    if (refuse_bare_number(at, spelling ? spelling : "", n, fields))
        return (fxs_proxy){.kind = FXS_P_POISON, .n = (unsigned)at.line, .u.text = at.file};
    fxs_tracer *t = fxs_tracer_of(at, n, fields);
    fxs_value args, kwargs;
    if (!t || t->failed)
        return fxs_poison_of(at, n, fields);
    if (!spelling || !*spelling)
        return fxs_tracer_fail(t, FXS_EINVAL, "fxs_record_fields: the name of a function expected");
    bool method = strncmp(spelling, "Tensor.", 7) == 0;
    names = names ? names : "";
    fxs_proxy *given = FXS_NEW_N(&t->scratch, fxs_proxy, n);
    fxs_status s =
        given ? given_fields(t, names, positional, fields, given, &count) : fxs_fail_memory(t->ctx);
    if (s != FXS_OK)
        return fxs_tracer_failed(t, s);
    if (!fxs_proxy_arguments(t, count, given, &args, &kwargs))
        return fxs_poison(t);
    if (method)
        return fxs_tracer_method(t, spelling + 7, &args, &kwargs);
    return fxs_tracer_function(t, spelling, &args, &kwargs);
}

fxs_proxy fxs_record_getattr(fxs_place at, fxs_proxy x, const char *name) {
    fxs_tracer *t = fxs_tracer_of(at, 1, &x);
    fxs_proxy p[] = {x, fxs_s(name)};
    fxs_value args, kwargs;
    if (!t || t->failed)
        return fxs_poison_of(at, 1, &x);
    if (!name || !*name)
        return fxs_tracer_fail(t, FXS_EINVAL, "fxs_getattr: the name of an attribute expected");
    if (!fxs_proxy_arguments(t, 2, p, &args, &kwargs))
        return fxs_poison(t);
    know_shape(t, name, &args);
    return fxs_tracer_function(t, "builtins.getattr", &args, &kwargs);
}
