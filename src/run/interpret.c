/* interpret.c: see interpret.h. A node that fails or is unknown gives an unknown result; nodes that need it are
 * blocked, and all others go on. */
#include "run/interpret.h"

#include <string.h>
#include <time.h>

typedef struct machine {
    fxs_module *root;
    fxs_graph *graph;
    fxs_ctx *ctx;
    const fxs_interpret *how;
    fxs_value *values;   /* by node index */
    size_t *last_use;    /* by node index: index of the last user; SIZE_MAX: none */
    fxs_map module_uses; /* call_module target -> its last node: its parameters are dropped behind it */
    fxs_arena scratch;
    size_t placeholder;
    double making; /* seconds that this node's parameters took to be made: no part of its own time */
} machine;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- arguments -------------------------------------------------------------------------------------------- */

static fxs_status resolve_node(void *user, const fxs_value *leaf, fxs_value *out) {
    machine *m = user;
    if (leaf->tag == FXS_V_NODE)
        *out = m->values[leaf->u.node->index];
    return FXS_OK;
}

/* Arguments with results in the place of nodes. Containers live in the scratch arena, what they hold is borrowed. */
static fxs_status resolve(machine *m, const fxs_value *v, fxs_value *out) {
    return fxs_value_map(m->ctx, &m->scratch, v, resolve_node, m, out);
}

static const fxs_node *unknown_input(const machine *m, const fxs_node *n) {
    for (size_t i = 0; i < n->ninputs; i++)
        if (m->values[n->inputs[i]->index].tag == FXS_V_UNKNOWN || n->inputs[i]->index >= n->index)
            return n->inputs[i];
    return NULL;
}

/* ---- the kinds of nodes ------------------------------------------------------------------------------------ */

static fxs_status call_op(machine *m, const fxs_node *n, const fxs_candidate *ops, const fxs_value *args,
                          const fxs_value *kwargs, fxs_step *step, fxs_value *result) {
    fxs_apply how = {.meta = m->how->mode == FXS_RUN_META,
                     .train = m->how->train,
                     .seed = m->ctx->seed ^ fxs_hash(n->name, strlen(n->name)),
                     .scratch = &m->scratch};
    fxs_applied done;
    fxs_status s = fxs_op_apply(m->ctx, ops, args, kwargs, &how, &done);
    *result = done.result;
    step->op = done.op;
    step->cost = done.cost;
    return s;
}

static fxs_status call_function(machine *m, const fxs_node *n, fxs_step *step, fxs_value *result) {
    const fxs_candidate *ops;
    fxs_value args, kwargs;
    FXS_TRY(fxs_registry_find(m->ctx, n->target, &ops));
    if (!ops)
        return fxs_fail(m->ctx, FXS_EUNKNOWN, "there is no operator %s here", n->target);
    FXS_TRY(resolve(m, &n->args, &args));
    FXS_TRY(resolve(m, &n->kwargs, &kwargs));
    return call_op(m, n, ops, &args, &kwargs, step, result);
}

/* x.view(...) is Tensor.view, size.numel() is torch.Size.numel: by the type of the first argument. */
static fxs_status find_method(machine *m, const fxs_node *n, const fxs_value *args, const fxs_candidate **ops) {
    const fxs_value *self = fxs_value_item(args, 0);
    fxs_buf name = {0};
    if (!self)
        return fxs_fail(m->ctx, FXS_ETYPE, "method %s is called on nothing", n->target);
    const char *type = self->tag == FXS_V_TENSOR ? "Tensor" : fxs_value_type_name(self);
    fxs_buf_printf(&name, "%s.%s", type, n->target);
    fxs_status s = name.failed ? fxs_fail_memory(m->ctx) : fxs_registry_find(m->ctx, name.data, ops);
    if (s == FXS_OK && !*ops)
        s = fxs_fail(m->ctx, FXS_EUNKNOWN, "there is no method %s here", name.data);
    fxs_buf_free(&name);
    return s;
}

static fxs_status call_method(machine *m, const fxs_node *n, fxs_step *step, fxs_value *result) {
    const fxs_candidate *ops;
    fxs_value args, kwargs;
    FXS_TRY(resolve(m, &n->args, &args));
    FXS_TRY(resolve(m, &n->kwargs, &kwargs));
    FXS_TRY(find_method(m, n, &args, &ops));
    return call_op(m, n, ops, &args, &kwargs, step, result);
}

static fxs_status read_parameter(machine *m, fxs_parameter *p, fxs_value *out) {
    fxs_tensor *t;
    if (m->how->mode == FXS_RUN_META) {
        FXS_TRY(fxs_tensor_to_meta(m->ctx, p->spec, &t));
        *out = fxs_of_tensor(t);
        return FXS_OK;
    }
    double start = now();
    FXS_TRY(fxs_parameter_read(m->ctx, p, &t));
    m->making += now() - start;
    *out = fxs_of_tensor(fxs_tensor_ref(t));
    return FXS_OK;
}

static fxs_status missing_target(machine *m, const fxs_node *n, const fxs_lookup *at) {
    return fxs_fail(m->ctx, FXS_ENOTFOUND, "there is no '%.*s' in %s, which %s needs", (int)at->missing_len,
                    at->missing, at->parent->class_name, n->target);
}

static fxs_status get_attr(machine *m, const fxs_node *n, fxs_step *step, fxs_value *result) {
    fxs_lookup at = fxs_module_lookup(m->root, n->target);
    if (at.module)
        return fxs_make_text(m->ctx, NULL, FXS_V_OPAQUE, at.module->class_name, strlen(at.module->class_name), result);
    if (!at.param)
        return missing_target(m, n, &at);
    if (!at.param->is_buffer)
        step->parameters = fxs_tensor_numel(at.param->spec);
    return read_parameter(m, at.param, result);
}

/* A reference that ends with the call. */
typedef struct held {
    fxs_value value;
    struct held *next;
} held;

typedef struct state_user {
    machine *m;
    const fxs_module *module;
    held *held;
} state_user;

static fxs_status fetch_state(void *user, const char *name, fxs_value *out) {
    state_user *u = user;
    fxs_parameter *p = fxs_module_lookup(u->module, name).param;
    *out = fxs_none();
    if (!p)
        return FXS_OK;
    held *h = FXS_NEW(&u->m->scratch, held);
    if (!h)
        return fxs_fail_memory(u->m->ctx);
    FXS_TRY(read_parameter(u->m, p, out));
    *h = (held){.value = *out, .next = u->held};
    u->held = h;
    return FXS_OK;
}

static fxs_status call_layer(machine *m, const fxs_node *n, fxs_module *module, state_user *u, fxs_step *step,
                             fxs_value *result) {
    const fxs_candidate *ops;
    const char *op;
    fxs_value given, kwgiven, args, kwargs;
    fxs_layer *layer = FXS_NEW(&m->scratch, fxs_layer);
    if (!layer)
        return fxs_fail_memory(m->ctx);
    FXS_TRY(fxs_module_layer(module, &m->scratch, layer));
    FXS_TRY(resolve(m, &n->args, &given));
    FXS_TRY(resolve(m, &n->kwargs, &kwgiven));
    FXS_TRY(fxs_layer_call(layer, &m->scratch, &given, &kwgiven, m->how->train, fetch_state, u, &op, &args, &kwargs));
    FXS_TRY(fxs_registry_find_op(m->ctx, op, &ops));
    if (!ops)
        return fxs_fail(m->ctx, FXS_EUNKNOWN, "there is no operator %s here", op);
    return call_op(m, n, ops, &args, &kwargs, step, result);
}

static void drop_parameters(fxs_module *module) {
    for (size_t i = 0; i < module->nattributes; i++)
        fxs_parameter_drop(module->attributes[i].param);
}

static fxs_status call_module(machine *m, const fxs_node *n, fxs_step *step, fxs_value *result) {
    fxs_lookup at = fxs_module_lookup(m->root, n->target);
    if (!at.module)
        return missing_target(m, n, &at);
    step->parameters = fxs_module_parameter_count(at.module);
    if (!at.module->row)
        return fxs_fail(m->ctx, FXS_EUNKNOWN, "there is no layer %s here", at.module->class_name);
    state_user u = {.m = m, .module = at.module};
    fxs_status s = call_layer(m, n, at.module, &u, step, result);
    for (held *h = u.held; h; h = h->next)
        fxs_value_unref(&h->value);
    if (fxs_map_get(&m->module_uses, n->target) == n)
        drop_parameters(at.module);
    return s;
}

static fxs_status placeholder(machine *m, const fxs_node *n, fxs_value *result) {
    const fxs_value *given = m->how->inputs ? &m->how->inputs[m->placeholder] : NULL;
    const fxs_value *fallback = fxs_value_item(&n->args, 0);
    m->placeholder++;
    if (given && given->tag != FXS_V_UNKNOWN) {
        *result = fxs_value_ref(*given);
        return FXS_OK;
    }
    if (fallback)
        return fxs_value_copy(m->ctx, NULL, fallback, result);
    return fxs_fail(m->ctx, FXS_EINVAL, "no input was given for '%s': its shape is needed", n->target);
}

static fxs_status output(machine *m, const fxs_node *n, fxs_value *result) {
    const fxs_value *v = fxs_value_item(&n->args, 0);
    fxs_value borrowed;
    if (!v)
        return FXS_OK;
    FXS_TRY(resolve(m, v, &borrowed));
    return fxs_value_copy(m->ctx, NULL, &borrowed, result);
}

static fxs_status run_node(machine *m, const fxs_node *n, fxs_step *step, fxs_value *result) {
    switch (n->kind) {
    case FXS_PLACEHOLDER:
        return placeholder(m, n, result);
    case FXS_GET_ATTR:
        return get_attr(m, n, step, result);
    case FXS_CALL_FUNCTION:
        return call_function(m, n, step, result);
    case FXS_CALL_METHOD:
        return call_method(m, n, step, result);
    case FXS_CALL_MODULE:
        return call_module(m, n, step, result);
    default:
        return output(m, n, result);
    }
}

/* ---- the loop ------------------------------------------------------------------------------------------------- */

static fxs_status note_failure(machine *m, fxs_status s, fxs_step *step) {
    const char *message = fxs_ctx_error(m->ctx);
    step->outcome = s == FXS_EUNKNOWN ? FXS_UNKNOWN : FXS_FAILED;
    step->message = fxs_arena_dup(&m->graph->arena, message, strlen(message));
    fxs_ctx_clear(m->ctx);
    return step->message ? FXS_OK : fxs_fail_memory(m->ctx);
}

static fxs_status tell_observers(machine *m, fxs_node *n, const fxs_step *step) {
    for (size_t i = 0; i < m->how->nobservers; i++)
        FXS_TRY(m->how->observers[i].after(m->how->observers[i].user, n, step));
    return FXS_OK;
}

static void drop_dead(machine *m, const fxs_node *n) {
    for (size_t i = 0; i < n->ninputs; i++)
        if (m->last_use[n->inputs[i]->index] == n->index)
            fxs_value_unref(&m->values[n->inputs[i]->index]);
    if (m->last_use[n->index] == SIZE_MAX)
        fxs_value_unref(&m->values[n->index]);
}

static fxs_status step_node(machine *m, fxs_node *n) {
    fxs_step step = {.outcome = FXS_DONE, .index = n->index, .total = m->graph->len};
    fxs_value *result = &m->values[n->index], value = fxs_none();
    step.culprit = unknown_input(m, n);
    if (step.culprit) {
        step.outcome = FXS_BLOCKED;
    } else {
        double start = now();
        m->making = 0;
        fxs_status s = run_node(m, n, &step, &value);
        step.seconds = now() - start - m->making;
        if (s != FXS_OK) {
            fxs_value_unref(&value);
            FXS_TRY(note_failure(m, s, &step));
        }
    }
    *result = step.outcome == FXS_DONE ? value : (fxs_value){.tag = FXS_V_UNKNOWN};
    step.result = result;
    FXS_TRY(tell_observers(m, n, &step));
    drop_dead(m, n);
    fxs_arena_reset(&m->scratch);
    return FXS_OK;
}

static fxs_status prepare(machine *m) {
    size_t len = m->graph->len;
    fxs_graph_number(m->graph);
    m->values = fxs_alloc0(len, sizeof *m->values);
    m->last_use = fxs_alloc(len, sizeof *m->last_use);
    if (!m->values || !m->last_use)
        return fxs_fail_memory(m->ctx);
    for (size_t i = 0; i < len; i++)
        m->last_use[i] = SIZE_MAX;
    for (fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        for (size_t i = 0; i < n->ninputs; i++)
            m->last_use[n->inputs[i]->index] = n->index;
        if (n->kind == FXS_CALL_MODULE && !fxs_map_put(&m->module_uses, n->target, strlen(n->target), n))
            return fxs_fail_memory(m->ctx);
    }
    return FXS_OK;
}

static fxs_status drop_module(void *user, const char *path, fxs_module *module) {
    (void)user;
    (void)path;
    drop_parameters(module);
    return FXS_OK;
}

fxs_status fxs_interpret_graph(fxs_module *root, const fxs_interpret *how) {
    machine m = {.root = root, .graph = root->graph, .ctx = root->ctx, .how = how};
    fxs_status s = prepare(&m);
    for (fxs_node *n = fxs_graph_first(m.graph); n && s == FXS_OK; n = fxs_node_next(n))
        s = step_node(&m, n);
    for (size_t i = 0; m.values && i < m.graph->len; i++)
        fxs_value_unref(&m.values[i]);
    fxs_free(m.values);
    fxs_free(m.last_use);
    fxs_map_free(&m.module_uses);
    fxs_arena_clear(&m.scratch);
    if (s == FXS_OK)
        s = fxs_module_walk(root, drop_module, NULL);
    return s;
}
