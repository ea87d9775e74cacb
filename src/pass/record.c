/* record.c: fxs_run: the interpreter with the recording observers; what torch.fx calls ShapeProp,
 * and the article ResultProbe. */
#include "pass/record.h"

#include <string.h>

#include "fxtrace.h"
#include "run/inputs.h"

static fxs_status to_meta(void *user, const fxs_value *leaf, fxs_value *out) {
    fxs_ctx *ctx = user;
    fxs_tensor *t;
    if (leaf->tag == FXS_V_TENSOR) {
        FXS_TRY(fxs_tensor_to_meta(ctx, leaf->u.tensor, &t));
        *out = fxs_of_tensor(t);
        return FXS_OK;
    }
    if (fxs_value_text(leaf))
        return fxs_make_text(ctx, NULL, leaf->tag, leaf->u.s->text, leaf->u.s->len, out);
    *out = fxs_value_ref(*leaf);
    return FXS_OK;
}

/* A tensor without values that nobody else has, or that the node wrote in place, need not be
 * copied: the interpreter sees to it that the record stays as it is. */
static bool may_share(const fxs_node *n, const fxs_value *v) {
    const fxs_tensor *t = v->u.tensor;
    if (v->tag != FXS_V_TENSOR || t->storage)
        return false;
    const fxs_value *first = n->ninputs ? &n->inputs[0]->meta.result : NULL;
    return t->refs == 1 || (first && first->tag == FXS_V_TENSOR && first->u.tensor == t);
}

fxs_status fxs_record_meta(void *user, fxs_node *n, const fxs_step *step) {
    fxs_ctx *ctx = user;
    fxs_value_unref(&n->meta.result);
    n->meta = (fxs_meta){.outcome = step->outcome,
                         .message = step->message,
                         .culprit = step->culprit,
                         .parameters = step->parameters,
                         .flops = step->cost.flops,
                         .bytes_read = step->cost.bytes_read,
                         .bytes_written = step->cost.bytes_written,
                         .seconds = step->seconds};
    if (may_share(n, step->result)) {
        fxs_tensor_ref(step->result->u.tensor);
        fxs_value_move(&n->meta.result, step->result);
    } else {
        FXS_TRY(fxs_value_map(ctx, NULL, step->result, to_meta, ctx, &n->meta.result));
    }
    n->meta.type_name = fxs_value_type_name(&n->meta.result);
    n->meta.has_tensor =
        n->meta.result.tag == FXS_V_TENSOR || fxs_value_has_tensor(&n->meta.result);
    return FXS_OK;
}

typedef struct sum_up {
    fxs_run_summary *s;
    const fxs_run_options *opt;
    bool failed_first; /* s->first is a failure, not merely unknown */
} sum_up;

static fxs_status count_node(void *user, fxs_node *n, const fxs_step *step) {
    sum_up *u = user;
    fxs_run_summary *s = u->s;
    s->nodes++;
    s->flops += step->cost.flops;
    s->seconds += step->seconds;
    s->failed += step->outcome == FXS_FAILED;
    s->unknown += step->outcome == FXS_UNKNOWN;
    s->blocked += step->outcome == FXS_BLOCKED;
    if (step->outcome == FXS_FAILED && !u->failed_first) {
        s->first = n;
        u->failed_first = true;
    } else if (step->outcome == FXS_UNKNOWN && !s->first) {
        s->first = n;
    }
    if (u->opt->progress)
        u->opt->progress(u->opt->user, step->index + 1, step->total);
    return FXS_OK;
}

fxs_status fxs_run(fxs_module *m, const fxs_inputs *in, const fxs_run_options *opt,
                   fxs_run_summary *summary) {
    fxs_run_summary own = {0};
    fxs_run_options defaults = {0};
    sum_up u = {.s = &own, .opt = opt ? opt : &defaults};
    fxs_observer observers[3] = {
        {fxs_record_meta, m->ctx}, {count_node, &u}, {fxs_record_stats, m->ctx}};
    fxs_value *inputs;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s has no graph to run", m->class_name);
    FXS_TRY(fxs_inputs_bind(in, m->graph, u.opt->mode, &inputs));
    fxs_interpret how = {.mode = u.opt->mode,
                         .train = u.opt->train,
                         .timed = u.opt->mode == FXS_RUN_EXECUTE,
                         .inputs = inputs,
                         .observers = observers,
                         .nobservers = u.opt->stats && u.opt->mode == FXS_RUN_EXECUTE ? 3 : 2};
    fxs_status s = fxs_interpret_graph(m, &how);
    fxs_input_values_free(inputs, m->graph);
    own.parameters = fxs_module_parameter_count(m);
    if (summary)
        *summary = own;
    return s;
}

/* One input ends at a blank, but several as one value ({ids: 2x50, mask: 2x50}) have blanks inside
 * their brackets. */
static size_t spec_length(const char *spec) {
    size_t n = strcspn(spec, " ="), depth = 0;
    n = spec[n] == '=' ? n + 1 : 0;
    if (!spec[n] || !strchr("[({", spec[n]))
        return strcspn(spec, " ");
    for (; spec[n] && (depth || spec[n] != ' '); n++) {
        if (strchr("[({", spec[n]))
            depth++;
        else if (strchr("])}", spec[n]) && depth)
            depth--;
    }
    return n;
}

fxs_status fxs_run_text(fxs_module *m, const char *inputs, const fxs_run_options *opt,
                        fxs_run_summary *summary) {
    fxs_inputs *in;
    FXS_TRY(fxs_inputs_new(m->ctx, &in));
    fxs_status s = FXS_OK;
    inputs = inputs ? inputs : "";
    for (inputs += strspn(inputs, " "); *inputs && s == FXS_OK; inputs += strspn(inputs, " ")) {
        size_t n = spec_length(inputs);
        char *spec = fxs_memdup0(inputs, n);
        s = spec ? fxs_inputs_add(in, spec) : fxs_fail_memory(m->ctx);
        fxs_free(spec);
        inputs += n;
    }
    if (s == FXS_OK)
        s = fxs_run(m, in, opt, summary);
    fxs_inputs_free(in);
    return s;
}
