/* trace_inputs.c: the placeholders of a trace, with arguments that are fixed and trees that are
 * taken apart, and its output. Follows torch.fx's create_args_for_root. */
#include <stdio.h>
#include <string.h>

#include "front/trace.h"
#include "ir/pytree.h"

/* ---- what was given as concrete arguments
 * ----------------------------------------------------------------------------- */

typedef struct concrete {
    int n; /* how many were given */
    int positional;
    size_t ntensors;                /* of the options', how many have been used */
    fxs_value values[FXS_MAX_ARGS]; /* by parameter; FXS_V_UNKNOWN: not given */
} concrete;

static bool is_word(const fxs_value *v, const char *word) {
    return v->tag == FXS_V_OPAQUE && strcmp(v->u.s->text, word) == 0;
}

static bool is_ph(const fxs_value *v) { return is_word(v, "PH"); }

typedef struct putting {
    const fxs_tracer *t;
    concrete *c;
} putting;

/* Tensors in the place of their words. */
static fxs_status put_tensor(void *user, const fxs_value *leaf, fxs_value *out) {
    const putting *p = user;
    const fxs_trace_options *opt = &p->t->opt;
    *out = *leaf;
    if (!is_word(leaf, "TENSOR"))
        return FXS_OK;
    if (p->c->ntensors == opt->nconcrete_tensors)
        return fxs_fail(p->t->ctx, FXS_EINVAL,
                        "concrete_args has more TENSORs than concrete_tensors has tensors: %zu",
                        opt->nconcrete_tensors);
    fxs_tensor *tensor = opt->concrete_tensors ? opt->concrete_tensors[p->c->ntensors] : NULL;
    if (!tensor || !fxs_tensor_data(tensor))
        return fxs_fail(p->t->ctx, FXS_EINVAL, "concrete_tensors[%zu] is %s", p->c->ntensors,
                        tensor ? "without values" : "NULL");
    p->c->ntensors++;
    *out = (fxs_value){.tag = FXS_V_TENSOR, .u.tensor = tensor};
    return FXS_OK;
}

static fxs_status one_concrete(fxs_tracer *t, fxs_text *x, const struct fxs_forward *f,
                               concrete *c) {
    size_t len = fxs_word_len(x->at);
    const char *name = x->at;
    fxs_value read, v;
    bool named = len && x->at[len] == '=';
    if (named)
        x->at += len + 1;
    FXS_TRY(fxs_text_value(x, FXS_IN_REPR, 0, &read));
    FXS_TRY(fxs_value_map(t->ctx, &t->arena, &read, put_tensor, &(putting){t, c}, &v));
    int at = named ? -1 : c->positional++;
    for (int i = 0; named && i < f->nparams; i++)
        if (!f->params[i].stars && strlen(f->params[i].name) == len &&
            memcmp(f->params[i].name, name, len) == 0)
            at = i;
    c->n++;
    if (at >= 0 && at < FXS_MAX_ARGS)
        c->values[at] =
            v; /* names that the signature does not have are passed over, as in torch.fx */
    return FXS_OK;
}

static fxs_status read_concrete(fxs_tracer *t, const struct fxs_forward *f, concrete *c) {
    const char *text = t->opt.concrete_args;
    fxs_text x = {.ctx = t->ctx, .file = "concrete_args", .arena = &t->arena};
    int plain = 0;
    for (int i = 0; i < FXS_MAX_ARGS; i++)
        c->values[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    if (!text && t->opt.nconcrete_tensors)
        return fxs_fail(t->ctx, FXS_EINVAL, "concrete_tensors are given, but no concrete_args");
    if (!text)
        return FXS_OK;
    x.begin = x.at = fxs_arena_dup(&t->arena, text, strlen(text));
    if (!x.at)
        return fxs_fail_memory(t->ctx);
    x.end = x.at + strlen(x.at);
    while (*x.at) {
        FXS_TRY(one_concrete(t, &x, f, c));
        if (*x.at && !fxs_text_accept(&x, ", "))
            return fxs_text_expected(&x, "', '");
    }
    if (c->ntensors != t->opt.nconcrete_tensors)
        return fxs_fail(t->ctx, FXS_EINVAL,
                        "concrete_args has %zu TENSORs for %zu concrete_tensors", c->ntensors,
                        t->opt.nconcrete_tensors);
    for (int i = 0; i < f->nparams; i++)
        plain += !f->params[i].stars;
    if (c->positional && c->positional != plain)
        return fxs_fail(t->ctx, FXS_EINVAL,
                        "Tracing expected %d arguments but got %d concrete arguments", plain,
                        c->positional);
    return FXS_OK;
}

/* ---- placeholders
 * ------------------------------------------------------------------------------------------------------
 */

typedef struct inputs {
    fxs_tracer *t;
    const fxs_forward_param *param;
    int leaves; /* of this parameter's tree */
    bool trees; /* some parameter is more than one leaf */
} inputs;

static fxs_status placeholder(fxs_tracer *t, const char *target, const char *type,
                              const fxs_forward_param *p, fxs_node **out) {
    fxs_value args;
    FXS_TRY(fxs_make_seq(t->ctx, &t->scratch, FXS_V_TUPLE, p->has_default ? 1 : 0, &args));
    if (p->has_default)
        args.u.seq->items[0] = p->fallback;
    return fxs_tracer_node(t, FXS_PLACEHOLDER, target, &args, NULL, type, out);
}

static fxs_status call(fxs_tracer *t, const char *target, fxs_value a, fxs_value b,
                       fxs_node **out) {
    fxs_value args;
    FXS_TRY(fxs_make_seq(t->ctx, &t->scratch, FXS_V_TUPLE, 2, &args));
    args.u.seq->items[0] = a;
    args.u.seq->items[1] = b;
    return fxs_tracer_node(t, FXS_CALL_FUNCTION, target, &args, NULL, NULL, out);
}

/* A fixed value is still an input, which the graph checks. */
static fxs_status check_value(inputs *in, fxs_node *given, const fxs_value *want) {
    fxs_tracer *t = in->t;
    fxs_buf text = {0};
    fxs_value message;
    fxs_node *eq;
    fxs_buf_printf(&text, "%s has been specialized to have value ", in->param->name);
    fxs_buf_str(&text, want, &(fxs_repr){0});
    fxs_buf_puts(&text, " but got another value");
    fxs_status s =
        text.failed ? fxs_fail_memory(t->ctx)
                    : fxs_make_text(t->ctx, &t->scratch, FXS_V_STR, text.data, text.len, &message);
    fxs_buf_free(&text);
    FXS_TRY(s);
    if (want->tag == FXS_V_NONE)
        return call(t, "torch.fx._symbolic_trace._assert_is_none", fxs_of_node(given), message,
                    &eq);
    FXS_TRY(call(t, "operator.eq", fxs_of_node(given), *want, &eq));
    return call(t, "torch._assert", fxs_of_node(eq), message, &eq);
}

/* torch.fx compares plain values only; what a slice, a function or a tensor was can't be checked.
 */
static bool is_checked(const fxs_value *v) {
    return v->tag != FXS_V_TENSOR && v->tag != FXS_V_SLICE && v->tag != FXS_V_ELLIPSIS &&
           v->tag != FXS_V_FUNCTION && v->tag != FXS_V_OPAQUE;
}

/* Leaves as they are: what the trace's arena holds is not counted. */
static fxs_status borrow(void *user, const fxs_value *leaf, fxs_value *out) {
    (void)user;
    *out = *leaf;
    return FXS_OK;
}

/* A parameter's tree: a placeholder for each leaf; *out is what the forward gets. */
static fxs_status tree_input(inputs *in, const fxs_value *fixed, fxs_value *out) {
    fxs_tracer *t = in->t;
    fxs_node *n;
    char name[300];
    if (fxs_pytree_container(fixed)) {
        FXS_TRY(fxs_value_map(t->ctx, &t->arena, fixed, borrow, NULL, out));
        for (size_t i = 0; i < fxs_value_len(fixed); i++)
            FXS_TRY(tree_input(in, fxs_value_item(fixed, i), (fxs_value *)fxs_value_item(out, i)));
        return FXS_OK;
    }
    snprintf(name, sizeof name, "%.200s_%d", in->param->name, ++in->leaves);
    FXS_TRY(placeholder(t, name, NULL, in->param, &n));
    *out = is_ph(fixed) ? fxs_of_node(n) : *fixed;
    return !is_ph(fixed) && is_checked(fixed) ? check_value(in, n, fixed) : FXS_OK;
}

static fxs_status param_input(inputs *in, const fxs_value *fixed, fxs_proxy *x) {
    fxs_tracer *t = in->t;
    const fxs_forward_param *p = in->param;
    char target[300];
    fxs_node *n;
    fxs_value v;
    if (fixed->tag == FXS_V_UNKNOWN) {
        snprintf(target, sizeof target, "%.*s%.250s", p->stars, "**", p->name);
        FXS_TRY(placeholder(t, target, p->type, p, &n));
        *x = fxs_made(t, fxs_of_node(n));
        return FXS_OK;
    }
    in->leaves = 0;
    FXS_TRY(tree_input(in, fixed, &v));
    in->trees = in->trees || fxs_pytree_container(fixed);
    *x = fxs_made(t, v);
    return FXS_OK;
}

/* How calls of this graph look: for those who write code for it, and who run it. */
static fxs_status remember_trees(fxs_tracer *t, const struct fxs_forward *f, const concrete *c) {
    fxs_graph *g = t->graph;
    fxs_pytree *tree;
    size_t n = 0;
    FXS_TRY(fxs_pytree_new(g, (size_t)f->nparams, &tree));
    tree->bound = t->module != NULL;
    for (int stars = 0; stars <= 2; stars++) { /* in the order of the placeholders */
        for (int i = 0; i < f->nparams; i++) {
            const fxs_forward_param *p = &f->params[i];
            char name[300];
            if (p->stars != stars)
                continue;
            snprintf(name, sizeof name, "%.*s%.250s", stars, "**", p->name);
            tree->params[n] = fxs_arena_dup(&g->arena, name, strlen(name));
            if (!tree->params[n])
                return fxs_fail_memory(t->ctx);
            FXS_TRY(fxs_pytree_spec(g, &c->values[i], &tree->inputs.u.seq->items[n++]));
        }
    }
    g->pytree = tree;
    return FXS_OK;
}

fxs_status fxs_trace_inputs(fxs_tracer *t, const struct fxs_forward *f, fxs_proxy *x) {
    concrete *c = FXS_NEW(&t->arena, concrete);
    inputs in = {.t = t};
    if (!c)
        return fxs_fail_memory(t->ctx);
    memset(x, 0, FXS_MAX_ARGS * sizeof *x);
    FXS_TRY(read_concrete(t, f, c));
    for (int stars = 0; stars <= 2;
         stars++) { /* named parameters first, then *args, then **kwargs */
        for (int i = 0; i < f->nparams; i++) {
            if (f->params[i].stars != stars)
                continue;
            in.param = &f->params[i];
            FXS_TRY(param_input(&in, &c->values[i], &x[i]));
        }
    }
    fxs_arena_reset(&t->scratch);
    return in.trees ? remember_trees(t, f, c) : FXS_OK;
}

/* ---- output
 * --------------------------------------------------------------------------------------------------------------
 */

fxs_status fxs_trace_output(fxs_tracer *t, const struct fxs_forward *f, const fxs_proxy *result) {
    fxs_value v, args;
    fxs_node *n;
    if (!fxs_proxy_value(t, &t->scratch, result, &v))
        return t->ctx->status;
    if (t->graph->pytree) {
        fxs_value tree = v;
        FXS_TRY(fxs_pytree_spec(t->graph, &tree, &t->graph->pytree->output));
        FXS_TRY(fxs_pytree_flat(t->ctx, &t->scratch, &tree, &v));
    }
    FXS_TRY(fxs_make_seq(t->ctx, &t->scratch, FXS_V_TUPLE, 1, &args));
    args.u.seq->items[0] = v;
    /* The list that torch.fx returns in the place of a tree has no annotation. */
    const char *type = t->graph->pytree ? NULL : f->returns;
    return fxs_tracer_node(t, FXS_OUTPUT, "output", &args, NULL, type, &n);
}
