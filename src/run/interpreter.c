/* interpreter.c: see interpreter.h: each kind of node, and the strict run. */
#include "run/interpreter.h"

#include "base/thread_room.h"
#include "ir/layer_plan.h"
#include "ir/node_plan.h"
#include "run/planned.h"

#include <string.h>
#include <time.h>

enum { SCRATCH_ROOM_MIB = 32, LARGE_SCRATCH = 1 << 17, LARGE_WEIGHT = 1 << 14 };

double fxs_now(fxs_profile_clock c) {
    struct timespec t;
    clock_gettime(c == FXS_CLOCK_PROCESSOR ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- arguments
 * -------------------------------------------------------------------------------------------- */

static fxs_status resolve_node(void *user, const fxs_value *leaf, fxs_value *out) {
    fxs_interpreter *it = user;
    if (leaf->tag != FXS_V_NODE)
        return FXS_OK;
    const fxs_value *v = fxs_value_of(it, leaf->u.node);
    if (!v)
        return fxs_fail(
            it->ctx, FXS_EINVAL,
            "a node references nonexistent value %s! Run fxs_graph_lint to diagnose such issues",
            leaf->u.node->name);
    *out = *v;
    return FXS_OK;
}

/* Arguments with values in the place of nodes. Containers live in the scratch arena, what they hold
 * is borrowed. */
static fxs_status resolve(fxs_interpreter *it, const fxs_value *v, fxs_value *out) {
    if (fxs_value_len(v) == 0 && (v->tag == FXS_V_DICT || v->tag == FXS_V_TUPLE)) {
        *out = *v;
        return FXS_OK;
    }
    return fxs_value_map(it->ctx, &it->scratch, v, resolve_node, it, out);
}

static fxs_status resolve_both(fxs_interpreter *it, const fxs_node *n, fxs_value *args,
                               fxs_value *kwargs) {
    FXS_TRY(resolve(it, &n->args, args));
    return resolve(it, &n->kwargs, kwargs);
}

/* ---- the kinds of nodes
 * ------------------------------------------------------------------------------------ */

/* The environment alone holds it, and drops it behind this node. */
static bool is_last_use(const void *user, const fxs_tensor *t) {
    const fxs_call_site *at = user;
    const fxs_interpreter *it = at->it;
    if (it->keep_values || t->refs != 1 || t->storage->refs != 1 || at->node->graph != it->graph)
        return false;
    for (size_t i = 0; i < at->node->ninputs; i++) {
        size_t index = at->node->inputs[i]->index;
        const fxs_value *v = &it->env[index];
        if (v->tag == FXS_V_TENSOR && v->u.tensor == t)
            return it->last_use[index] == at->node->index;
    }
    return false;
}

/* A shape that was recorded is the result itself where nobody else had it (pass/record.c): what it
 * was is kept when it changes. */
static fxs_status keep_records(const void *user, fxs_tensor *t, const fxs_tensor *before) {
    const fxs_call_site *at = user;
    for (fxs_node *n = fxs_graph_first(at->it->graph); n && n != at->node; n = fxs_node_next(n)) {
        fxs_value *v = &n->meta.result;
        if (v->tag != FXS_V_TENSOR || v->u.tensor != t)
            continue;
        fxs_tensor *was;
        FXS_TRY(fxs_tensor_to_meta(at->it->ctx, before, &was));
        fxs_value_unref(v);
        *v = fxs_of_tensor(was);
    }
    return FXS_OK;
}

/* Once: it is the same for all nodes but the name. */
static fxs_apply apply_of(fxs_interpreter *it) {
    return (fxs_apply){.meta = it->mode == FXS_RUN_META,
                       .train = it->train,
                       .scratch = &it->scratch,
                       .is_last_use = is_last_use,
                       .changed = it->mode == FXS_RUN_META ? keep_records : NULL,
                       .user = &it->site};
}

const fxs_apply *fxs_interpreter_apply(fxs_interpreter *it, const fxs_node *n) {
    it->site.node = n;
    it->apply.name = n->name;
    it->apply.seed = it->ctx->seed;
    return &it->apply;
}

static fxs_status call_op(fxs_interpreter *it, const fxs_node *n, const fxs_candidate *ops,
                          const fxs_value *args, const fxs_value *kwargs, fxs_value *result) {
    fxs_applied done;
    fxs_status s = fxs_op_apply(it->ctx, ops, args, kwargs, fxs_interpreter_apply(it, n), &done);
    *result = done.result;
    it->op = done.op;
    it->cost = done.cost;
    return s;
}

fxs_status fxs_interpreter_call_function(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                         const fxs_value *kwargs, fxs_value *result) {
    const fxs_candidate *ops;
    const fxs_host *host = it->ctx->host;
    FXS_TRY(fxs_registry_find(it->ctx, n->target, &ops));
    if (host && (!ops || fxs_args_have_object(args)))
        return host->call_function(host->user, n->target, args, kwargs, it->mode == FXS_RUN_META,
                                   result);
    if (!ops)
        return fxs_fail(it->ctx, FXS_EUNKNOWN, "there is no operator %s here", n->target);
    return call_op(it, n, ops, args, kwargs, result);
}

static const char *self_type(const fxs_value *args) {
    const fxs_value *self = fxs_value_item(args, 0);
    return self->tag == FXS_V_TENSOR ? "Tensor" : fxs_value_type_name(self);
}

/* x.view(...) is Tensor.view, size.numel() is torch.Size.numel: by the type of the first argument.
 */
static fxs_status find_method(fxs_interpreter *it, const fxs_node *n, const fxs_value *args,
                              const fxs_candidate **ops) {
    const fxs_value *self = fxs_value_item(args, 0);
    fxs_buf name = {0};
    if (!self)
        return fxs_fail(it->ctx, FXS_ETYPE, "method %s is called on nothing", n->target);
    fxs_buf_printf(&name, "%s.%s", self_type(args), n->target);
    fxs_status s =
        name.failed ? fxs_fail_memory(it->ctx) : fxs_registry_find(it->ctx, name.data, ops);
    fxs_buf_free(&name);
    return s;
}

fxs_status fxs_interpreter_call_method(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                       const fxs_value *kwargs, fxs_value *result) {
    const fxs_candidate *ops = NULL;
    const fxs_host *host = it->ctx->host;
    if (!host || !fxs_args_have_object(args))
        FXS_TRY(find_method(it, n, args, &ops));
    if (!ops && host)
        return host->call_method(host->user, n->target, args, kwargs, it->mode == FXS_RUN_META,
                                 result);
    if (!ops)
        return fxs_fail(it->ctx, FXS_EUNKNOWN, "there is no method %s.%s here", self_type(args),
                        n->target);
    return call_op(it, n, ops, args, kwargs, result);
}

/* A large weight will be a side of a product: what that works in is there before, so that its time
 * is that of the product. */
static void make_ready(fxs_interpreter *it, const fxs_tensor *weight) {
    if (it->ready || fxs_tensor_numel(weight) < LARGE_WEIGHT)
        return;
    it->ready = true;
    fxs_thread_room_ready();
    volatile char *scratch = fxs_arena_alloc_raw(&it->scratch, 1, LARGE_SCRATCH);
    if (scratch)
        *scratch = 0;
}

fxs_status fxs_interpreter_parameter(fxs_interpreter *it, fxs_parameter *p, fxs_value *out) {
    fxs_tensor *t;
    if (it->mode == FXS_RUN_META) {
        FXS_TRY(fxs_tensor_to_meta(it->ctx, p->spec, &t));
        *out = fxs_of_tensor(t);
        return FXS_OK;
    }
    double start = fxs_now(it->clock);
    FXS_TRY(fxs_parameter_read(it->ctx, p, &t));
    make_ready(it, t);
    it->making += fxs_now(it->clock) - start;
    *out = fxs_of_tensor(fxs_tensor_ref(t));
    return FXS_OK;
}

static fxs_status missing_target(fxs_interpreter *it, const fxs_node *n, const fxs_lookup *at) {
    return fxs_fail(it->ctx, FXS_ENOTFOUND, "there is no '%.*s' in %s, which %s needs",
                    (int)at->missing_len, at->missing, at->parent->class_name, n->target);
}

fxs_status fxs_interpreter_get_attr(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                    const fxs_value *kwargs, fxs_value *result) {
    fxs_lookup at = fxs_module_lookup(it->root, n->target);
    (void)args;
    (void)kwargs;
    if (at.module)
        return fxs_make_text(it->ctx, NULL, FXS_V_OPAQUE, at.module->class_name,
                             strlen(at.module->class_name), result);
    if (!at.param)
        return missing_target(it, n, &at);
    if (!at.param->is_buffer)
        it->parameters = fxs_tensor_numel(at.param->spec);
    return fxs_interpreter_parameter(it, at.param, result);
}

/* A reference that ends with the call. */
typedef struct held {
    fxs_value value;
    struct held *next;
} held;

typedef struct state_user {
    fxs_interpreter *it;
    const fxs_module *module;
    held *held;
} state_user;

/* An argument of a child, at a dotted name. */
static fxs_status child_argument(state_user *u, const char *name, fxs_value *out) {
    const char *dot = strrchr(name, '.');
    char *path = dot ? fxs_arena_dup(&u->it->scratch, name, (size_t)(dot - name)) : NULL;
    const fxs_module *child = path ? fxs_module_lookup(u->module, path).module : NULL;
    fxs_layer *layer = child && child->row ? FXS_NEW(&u->it->scratch, fxs_layer) : NULL;
    if (!layer)
        return FXS_OK;
    FXS_TRY(fxs_module_layer(child, &u->it->scratch, layer));
    const fxs_value *v = fxs_layer_hyper(layer, dot + 1);
    if (v)
        *out = *v;
    return FXS_OK;
}

static fxs_status fetch_state(void *user, const char *name, fxs_value *out) {
    state_user *u = user;
    fxs_parameter *p = fxs_module_lookup(u->module, name).param;
    *out = fxs_none();
    if (!p)
        return child_argument(u, name, out);
    held *h = FXS_NEW(&u->it->scratch, held);
    if (!h)
        return fxs_fail_memory(u->it->ctx);
    FXS_TRY(fxs_interpreter_parameter(u->it, p, out));
    *h = (held){.value = *out, .next = u->held};
    u->held = h;
    return FXS_OK;
}

static fxs_status call_layer(fxs_interpreter *it, const fxs_node *n, state_user *u,
                             const fxs_value *args, const fxs_value *kwargs, fxs_value *result) {
    const fxs_candidate *ops;
    const char *op;
    fxs_value op_args, op_kwargs;
    fxs_layer *layer = FXS_NEW(&it->scratch, fxs_layer);
    if (!layer)
        return fxs_fail_memory(it->ctx);
    FXS_TRY(fxs_module_layer(u->module, &it->scratch, layer));
    FXS_TRY(fxs_layer_call(layer, &it->scratch, args, kwargs, it->train, fetch_state, u, &op,
                           &op_args, &op_kwargs));
    FXS_TRY(fxs_registry_find_op(it->ctx, op, &ops));
    if (!ops)
        return fxs_fail(it->ctx, FXS_EUNKNOWN, "there is no operator %s here", op);
    return call_op(it, n, ops, &op_args, &op_kwargs, result);
}

/* A GraphModule inside this one: run as a whole, with the default methods. */
static fxs_status call_graph(fxs_interpreter *it, fxs_module *module, const fxs_value *args,
                             const fxs_value *kwargs, fxs_value *result) {
    fxs_interpreter *inner;
    fxs_interpreter_options opt = {.mode = it->mode, .train = it->train};
    if (fxs_value_len(kwargs))
        return fxs_fail(it->ctx, FXS_ETYPE, "%s: a graph takes its inputs by position",
                        module->class_name);
    FXS_TRY(fxs_interpreter_new(module, &opt, &inner));
    fxs_status s = fxs_interpreter_run(inner, args->u.seq->items, fxs_value_len(args), result);
    fxs_interpreter_free(inner);
    return s;
}

static void drop_parameters(fxs_module *module) {
    for (size_t i = 0; i < module->nattributes; i++)
        fxs_parameter_drop(module->attributes[i].param);
}

/* A named tuple of the front end's, such as a packed sequence: no layer of ours takes one. */
static bool takes_structure(const fxs_value *args) {
    const fxs_value *v = fxs_value_item(args, 0);
    return v && v->tag == FXS_V_TUPLE && v->u.seq->kind == FXS_TUPLE_NAMED && v->u.seq->fields;
}

/* Binds the call of a layer as any other; args NULL: they are yet to be resolved. */
static fxs_status bind_layer(fxs_interpreter *it, const fxs_node *n, fxs_module *m,
                             const fxs_value *args, const fxs_value *kwargs, fxs_value *result) {
    state_user u = {.it = it, .module = m};
    fxs_value a, k;
    if (!args) {
        FXS_TRY(resolve_both(it, n, &a, &k));
        args = &a;
        kwargs = &k;
    }
    fxs_status s = call_layer(it, n, &u, args, kwargs, result);
    for (held *h = u.held; h; h = h->next)
        fxs_value_unref(&h->value);
    return s;
}

/* A layer of ours. args may hold nodes where they are not `resolved`. */
static fxs_status run_layer(fxs_interpreter *it, const fxs_node *n, fxs_module *m,
                            const fxs_value *args, const fxs_value *kwargs, bool resolved,
                            fxs_value *result) {
    fxs_call_plan *plan =
        fxs_value_len(kwargs) ? NULL : fxs_layer_plan_of(m, fxs_value_len(args), it->train);
    bool done = plan != NULL;
    fxs_status s = FXS_OK;
    it->parameters = plan ? plan->parameters : fxs_module_parameter_count(m);
    if (plan)
        s = fxs_run_plan(it, n, plan, args, &done, result);
    if (!done)
        s = bind_layer(it, n, m, resolved ? args : NULL, kwargs, result);
    if (it->mode != FXS_RUN_META && !it->keep_parameters &&
        fxs_map_get(&it->module_uses, n->target) == n)
        drop_parameters(m);
    return s;
}

fxs_status fxs_interpreter_call_module(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                       const fxs_value *kwargs, fxs_value *result) {
    fxs_lookup at = fxs_module_lookup_target(it->root, n);
    if (!at.module)
        return missing_target(it, n, &at);
    if (!at.module->row)
        it->parameters = fxs_module_parameter_count(at.module);
    if (at.module->graph)
        return call_graph(it, at.module, args, kwargs, result);
    const fxs_host *host = it->ctx->host;
    if (host && (!at.module->row || takes_structure(args)))
        return host->call_module(host->user, n->target, args, kwargs, it->mode == FXS_RUN_META,
                                 result);
    if (!at.module->row)
        return fxs_fail(it->ctx, FXS_EUNKNOWN, "there is no layer %s here", at.module->class_name);
    return run_layer(it, n, at.module, args, kwargs, true, result);
}

/* *args takes what is left, **kwargs too, as in torch.fx. */
static fxs_status rest_of_inputs(fxs_interpreter *it, fxs_value *result) {
    size_t n = it->next_arg < it->nargs ? it->nargs - it->next_arg : 0;
    FXS_TRY(fxs_make_seq(it->ctx, NULL, FXS_V_LIST, n, result));
    for (size_t i = 0; i < n; i++)
        result->u.seq->items[i] = fxs_value_ref(it->args[it->next_arg + i]);
    it->next_arg = it->nargs;
    return FXS_OK;
}

fxs_status fxs_interpreter_placeholder(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                       const fxs_value *kwargs, fxs_value *result) {
    const fxs_value *given = it->next_arg < it->nargs ? &it->args[it->next_arg] : NULL;
    const fxs_value *fallback = fxs_value_item(args, 0);
    (void)kwargs;
    if (n->target[0] == '*' && !(given && (given->tag == FXS_V_TUPLE || given->tag == FXS_V_DICT)))
        return rest_of_inputs(it, result);
    it->next_arg++;
    if (given && given->tag != FXS_V_UNKNOWN) {
        *result = fxs_value_ref(*given);
        return FXS_OK;
    }
    if (fallback)
        return fxs_value_copy(it->ctx, NULL, fallback, result);
    return fxs_fail(it->ctx, FXS_EINVAL, "no input was given for '%s': its shape is needed",
                    n->target);
}

fxs_status fxs_interpreter_output(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                  const fxs_value *kwargs, fxs_value *result) {
    const fxs_value *v = fxs_value_item(args, 0);
    (void)n;
    (void)kwargs;
    return v ? fxs_value_copy(it->ctx, NULL, v, result) : FXS_OK;
}

/* The call of a layer of ours by what was bound before, without looking at its arguments anew;
 * *done is false where that is not to be had, and nothing was done. */
static fxs_status run_bound_layer(fxs_interpreter *it, fxs_node *n, bool *done, fxs_value *result) {
    fxs_module *m = fxs_module_remembered(it->root, n);
    if (!m)
        m = fxs_module_lookup_target(it->root, n).module;
    if (it->ctx->host || !m || m->graph || !m->row)
        return FXS_OK;
    *done = true;
    return run_layer(it, n, m, &n->args, &n->kwargs, false, result);
}

/* The same of a function and a method. */
static fxs_status run_bound(fxs_interpreter *it, fxs_node *n, bool *done, fxs_value *result) {
    fxs_call_plan *plan = fxs_node_plan_of(n);
    return plan ? fxs_run_plan(it, n, plan, NULL, done, result) : FXS_OK;
}

static fxs_status run_resolved(fxs_interpreter *it, fxs_node *n, fxs_value *result) {
    const fxs_interpreter_methods *m = &it->methods;
    fxs_step_fn *const methods[] = {
        [FXS_PLACEHOLDER] = m->placeholder,     [FXS_GET_ATTR] = m->get_attr,
        [FXS_CALL_FUNCTION] = m->call_function, [FXS_CALL_MODULE] = m->call_module,
        [FXS_CALL_METHOD] = m->call_method,     [FXS_OUTPUT] = m->output,
    };
    fxs_value args, kwargs;
    FXS_TRY(resolve_both(it, n, &args, &kwargs));
    return methods[n->kind](it, n, &args, &kwargs, result);
}

fxs_status fxs_interpreter_run_node(fxs_interpreter *it, fxs_node *n, fxs_value *result) {
    const fxs_interpreter_methods *m = &it->methods;
    bool done = false;
    fxs_status s = FXS_OK;
    *result = fxs_none();
    if (n->kind == FXS_CALL_MODULE && m->call_module == fxs_interpreter_call_module)
        s = run_bound_layer(it, n, &done, result);
    else if ((n->kind == FXS_CALL_FUNCTION && m->call_function == fxs_interpreter_call_function) ||
             (n->kind == FXS_CALL_METHOD && m->call_method == fxs_interpreter_call_method))
        s = run_bound(it, n, &done, result);
    return done ? s : run_resolved(it, n, result);
}

/* ---- the machine
 * -------------------------------------------------------------------------------------------- */

static void fill_methods(fxs_interpreter_methods *m) {
    m->run_node = m->run_node ? m->run_node : fxs_interpreter_run_node;
    m->placeholder = m->placeholder ? m->placeholder : fxs_interpreter_placeholder;
    m->get_attr = m->get_attr ? m->get_attr : fxs_interpreter_get_attr;
    m->call_function = m->call_function ? m->call_function : fxs_interpreter_call_function;
    m->call_method = m->call_method ? m->call_method : fxs_interpreter_call_method;
    m->call_module = m->call_module ? m->call_module : fxs_interpreter_call_module;
    m->output = m->output ? m->output : fxs_interpreter_output;
}

/* Kernels pad, pack and transform in scratch: its pages are too dear to be asked for in every run.
 */
static void take_scratch(fxs_interpreter *it) {
    it->scratch = it->ctx->scratch; /* nothing, where another interpreter has it */
    it->ctx->scratch = (fxs_arena){0};
    it->scratch.room = it->mode == FXS_RUN_EXECUTE ? (size_t)SCRATCH_ROOM_MIB << 20 : 0;
}

static void give_scratch_back(fxs_interpreter *it) {
    fxs_arena_reset(&it->scratch);
    fxs_arena_clear(&it->ctx->scratch);
    it->ctx->scratch = it->scratch;
}

fxs_status fxs_interpreter_new(fxs_module *m, const fxs_interpreter_options *opt,
                               fxs_interpreter **out) {
    fxs_interpreter_options defaults = {0};
    *out = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s has no graph to run", m->class_name);
    opt = opt ? opt : &defaults;
    fxs_interpreter *it = fxs_alloc0(1, sizeof *it);
    if (!it)
        return fxs_fail_memory(m->ctx);
    *it = (fxs_interpreter){
        .root = fxs_module_ref(m), .graph = m->graph, .ctx = m->ctx, .methods = opt->methods};
    it->mode = opt->mode;
    take_scratch(it);
    it->train = opt->train;
    it->keep_values = opt->keep_values;
    it->flat = opt->flat;
    it->site.it = it;
    it->apply = apply_of(it);
    fill_methods(&it->methods);
    fxs_status s = fxs_interpreter_prepare(it);
    if (s != FXS_OK) {
        fxs_interpreter_free(it);
        return s;
    }
    *out = it;
    return FXS_OK;
}

fxs_status fxs_interpreter_prepare(fxs_interpreter *it) {
    size_t len = it->len = it->graph->len;
    fxs_graph_number(it->graph);
    it->env = fxs_alloc(len, sizeof *it->env);
    it->last_use = fxs_alloc(len, sizeof *it->last_use);
    it->given = fxs_alloc0(len, sizeof *it->given);
    for (size_t i = 0; it->env && i < len; i++)
        it->env[i].tag = FXS_V_UNKNOWN;
    if (!it->env || !it->last_use || !it->given)
        return fxs_fail_memory(it->ctx);
    memset(it->last_use, 0xff, len * sizeof *it->last_use); /* SIZE_MAX */
    for (fxs_node *n = fxs_graph_first(it->graph); n; n = fxs_node_next(n)) {
        for (size_t i = 0; i < n->ninputs; i++)
            it->last_use[n->inputs[i]->index] = n->index;
        if (n->kind == FXS_CALL_MODULE && it->mode != FXS_RUN_META && /* that reads none */
            !fxs_map_put(&it->module_uses, n->target, strlen(n->target), n))
            return fxs_fail_memory(it->ctx);
    }
    return FXS_OK;
}

/* No walk with paths: giving back must not need memory. */
void fxs_drop_parameters(fxs_module *m) {
    drop_parameters(m);
    for (size_t i = 0; i < m->nchildren; i++)
        fxs_drop_parameters(m->children[i].module);
}

void fxs_interpreter_free(fxs_interpreter *it) {
    if (!it)
        return;
    for (size_t i = 0; it->env && i < it->len; i++)
        fxs_value_unref(&it->env[i]);
    fxs_free(it->env);
    fxs_free(it->given);
    fxs_free(it->last_use);
    fxs_map_free(&it->module_uses);
    give_scratch_back(it);
    if (!it->keep_parameters)
        fxs_drop_parameters(it->root);
    fxs_module_unref(it->root);
    fxs_graph_free(it->target);
    fxs_free(it);
}

void *fxs_interpreter_user(const fxs_interpreter *it) { return it->methods.user; }
fxs_ctx *fxs_interpreter_ctx(const fxs_interpreter *it) { return it->ctx; }

const fxs_value *fxs_interpreter_env(const fxs_interpreter *it, const fxs_node *n) {
    return fxs_value_of(it, n);
}

fxs_status fxs_interpreter_set_env(fxs_interpreter *it, const fxs_node *n, fxs_value v) {
    if (n->graph != it->graph)
        return fxs_fail(it->ctx, FXS_EINVAL, "Node %s is not of the graph that is run", n->name);
    fxs_value_unref(&it->env[n->index]);
    it->env[n->index] = v;
    it->given[n->index] = true;
    return FXS_OK;
}

void fxs_interpreter_drop_dead(fxs_interpreter *it, const fxs_node *n) {
    for (size_t i = 0; i < n->ninputs; i++) {
        size_t index = n->inputs[i]->index;
        if (it->last_use[index] != n->index)
            continue;
        fxs_value_unref(&it->env[index]);
        it->env[index].tag = FXS_V_UNKNOWN;
    }
}

static fxs_status annotate(fxs_interpreter *it, const fxs_node *n, fxs_status s) {
    char *line = NULL,
         *message = fxs_memdup0(fxs_ctx_error(it->ctx), strlen(fxs_ctx_error(it->ctx)));
    fxs_ctx_clear(it->ctx);
    if (message && fxs_node_format(n, 0, &line) == FXS_OK)
        fxs_fail(it->ctx, s, "%s\n\nWhile executing %s", message, line);
    else
        fxs_fail_memory(it->ctx);
    fxs_free(message);
    fxs_free(line);
    return fxs_ctx_status(it->ctx);
}

/* What a run before this one left; what was given since stays. */
static void clear_env(fxs_interpreter *it) {
    for (size_t i = 0; i < it->len; i++) {
        if (it->given[i])
            continue;
        fxs_value_unref(&it->env[i]);
        it->env[i].tag = FXS_V_UNKNOWN;
    }
    memset(it->given, 0, it->len * sizeof *it->given);
}

fxs_status fxs_interpreter_run_flat(fxs_interpreter *it, const fxs_value *args, size_t nargs,
                                    fxs_value *result) {
    *result = fxs_none();
    clear_env(it);
    it->args = args;
    it->nargs = nargs;
    it->next_arg = 0;
    for (fxs_node *n = fxs_graph_first(it->graph); n; n = fxs_node_next(n)) {
        fxs_value v;
        if (fxs_value_of(it, n)) /* given as initial environment */
            continue;
        fxs_status s = it->methods.run_node(it, n, &v);
        fxs_arena_reset(&it->scratch);
        if (s != FXS_OK) {
            fxs_value_unref(&v);
            return annotate(it, n, s);
        }
        if (n->kind == FXS_OUTPUT) {
            *result = v;
            return FXS_OK;
        }
        it->env[n->index] = v;
        if (!it->keep_values)
            fxs_interpreter_drop_dead(it, n);
    }
    return FXS_OK;
}

fxs_status fxs_interpreter_run(fxs_interpreter *it, const fxs_value *args, size_t nargs,
                               fxs_value *result) {
    fxs_value in, out;
    *result = fxs_none();
    if (!it->graph->pytree || it->flat)
        return fxs_interpreter_run_flat(it, args, nargs, result);
    FXS_TRY(fxs_graph_flatten_inps(it->graph, args, nargs, &in));
    fxs_status s = fxs_interpreter_run_flat(it, in.u.seq->items, fxs_value_len(&in), &out);
    if (s == FXS_OK)
        s = fxs_graph_unflatten_outs(it->graph, &out, result);
    fxs_value_unref(&out);
    fxs_value_unref(&in);
    it->args = NULL;
    it->nargs = 0;
    return s;
}
