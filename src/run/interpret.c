/* interpret.c: see interpret.h: the interpreter driven for recording. A node that fails or is
 * unknown gives an unknown result; nodes that need it are blocked, and all others go on. */
#include "run/interpret.h"

#include <string.h>

#include "run/interpreter.h"

static const fxs_node *unknown_input(const fxs_interpreter *it, const fxs_node *n) {
    for (size_t i = 0; i < n->ninputs; i++)
        if (!fxs_value_of(it, n->inputs[i]) || n->inputs[i]->index >= n->index)
            return n->inputs[i];
    return NULL;
}

static fxs_status note_failure(fxs_interpreter *it, fxs_status s, fxs_step *step) {
    const char *message = fxs_ctx_error(it->ctx);
    step->outcome = s == FXS_EUNKNOWN ? FXS_UNKNOWN : FXS_FAILED;
    step->message = fxs_arena_dup(&it->graph->arena, message, strlen(message));
    fxs_ctx_clear(it->ctx);
    return step->message ? FXS_OK : fxs_fail_memory(it->ctx);
}

static fxs_status tell_observers(const fxs_interpret *how, fxs_node *n, const fxs_step *step) {
    const fxs_observer *end = how->observers + how->nobservers;
    for (const fxs_observer *o = how->observers; o < end; o++)
        FXS_TRY(o->after(o->user, n, step));
    return FXS_OK;
}

/* Runs the node and says in *step what became of it. */
static fxs_status run_node(fxs_interpreter *it, fxs_node *n, fxs_step *step, fxs_value *value) {
    double start = it->timed ? fxs_now(it->clock) : 0;
    it->op = NULL;
    it->cost = (fxs_cost){0};
    it->parameters = 0;
    it->making = 0;
    fxs_status s = it->methods.run_node(it, n, value);
    step->seconds = it->timed ? fxs_now(it->clock) - start - it->making : 0;
    step->making = it->making;
    step->op = it->op;
    step->cost = it->cost;
    step->parameters = it->parameters;
    if (s == FXS_OK)
        return FXS_OK;
    fxs_value_unref(value);
    return note_failure(it, s, step);
}

static fxs_status step_node(fxs_interpreter *it, const fxs_interpret *how, fxs_node *n) {
    fxs_step step = {.outcome = FXS_DONE, .index = n->index, .total = it->graph->len};
    fxs_value *result = &it->env[n->index], value = fxs_none();
    step.culprit = unknown_input(it, n);
    if (step.culprit && step.culprit->index >= n->index) {
        fxs_fail(it->ctx, FXS_ELINT,
                 "%%%s is used before it has been defined: the nodes are not in order",
                 step.culprit->name);
        step.culprit = NULL;
        FXS_TRY(note_failure(it, FXS_ELINT, &step));
    } else if (step.culprit) {
        step.outcome = FXS_BLOCKED;
    } else {
        FXS_TRY(run_node(it, n, &step, &value));
    }
    if (step.outcome == FXS_DONE)
        fxs_value_move(result, &value);
    else
        *result = (fxs_value){.tag = FXS_V_UNKNOWN};
    step.result = result;
    FXS_TRY(tell_observers(how, n, &step));
    fxs_interpreter_drop_dead(it, n);
    if (it->last_use[n->index] == SIZE_MAX)
        fxs_value_unref(result);
    fxs_arena_reset(&it->scratch);
    return FXS_OK;
}

fxs_status fxs_interpret_graph(fxs_module *root, const fxs_interpret *how) {
    fxs_interpreter *it;
    FXS_TRY(fxs_interpreter_new(
        root, &(fxs_interpreter_options){.mode = how->mode, .train = how->train}, &it));
    fxs_status s = FXS_OK;
    it->keep_parameters = how->keep_parameters;
    it->clock = how->clock;
    it->timed = how->timed;
    it->args = how->inputs;
    it->nargs = how->inputs ? it->graph->placeholders : 0;
    for (fxs_node *n = fxs_graph_first(it->graph); n && s == FXS_OK; n = fxs_node_next(n))
        s = step_node(it, how, n);
    fxs_interpreter_free(it);
    return s;
}
