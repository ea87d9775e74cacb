/* interpreter.h: the machine that runs nodes: torch.fx's Interpreter. interpret.c drives it for
 * recording, and goes on behind nodes that fail; fxs_interpreter_run drives it strictly;
 * transform.c makes it write a new graph. */
#ifndef FXS_RUN_INTERPRETER_H
#define FXS_RUN_INTERPRETER_H

#include "fxprofile.h"
#include "ir/module.h"
#include "op/registry.h"

/* Which node calls: for fxs_apply. */
typedef struct fxs_call_site {
    const fxs_interpreter *it;
    const fxs_node *node;
} fxs_call_site;

struct fxs_interpreter {
    fxs_module *root;
    fxs_graph *graph;
    fxs_ctx *ctx;
    fxs_interpreter_methods methods; /* all set: the defaults where the user gave none */
    fxs_run_mode mode;
    fxs_profile_clock clock;
    bool train, keep_values, keep_parameters, flat;
    bool timed;       /* each node takes its time; else no clock is asked */
    size_t len;       /* of the graph; it must not change while it is run */
    fxs_value *env;   /* by node index; FXS_V_UNKNOWN: not there */
    bool *given;      /* by node index: by the user, for the next run */
    size_t *last_use; /* by node index: index of the last user; SIZE_MAX: none */
    fxs_map
        module_uses; /* call_module target -> its last node: its parameters are dropped behind it */
    fxs_arena scratch; /* reset after each node */
    fxs_call_site site;
    fxs_apply apply;       /* of the node at site */
    const fxs_value *args; /* of the run; FXS_V_UNKNOWN: not given */
    size_t nargs, next_arg;
    fxs_graph *target; /* a Transformer's new graph, else NULL */
    bool transformed;  /* it has run, and given that graph away */
    /* what the last call was, for those who record */
    const fxs_op *op;
    fxs_cost cost;
    int64_t parameters;
    double making; /* seconds that its parameters took to be made: no part of its own time */
    bool ready;    /* the memory that products work in is there */
};

/* fxs_interpreter_env, inlined. */
static inline const fxs_value *fxs_value_of(const fxs_interpreter *it, const fxs_node *n) {
    const fxs_value *v = &it->env[n->index];
    return n->graph == it->graph && v->tag != FXS_V_UNKNOWN ? v : NULL;
}

/* How an operator is to be applied for a node; holds until the next call. */
const fxs_apply *fxs_interpreter_apply(fxs_interpreter *it, const fxs_node *n);
/* The parameter's tensor, counted for the caller; without values in META. */
fxs_status fxs_interpreter_parameter(fxs_interpreter *it, fxs_parameter *p, fxs_value *out);
/* Environment, last uses: once, before nodes are run. */
fxs_status fxs_interpreter_prepare(fxs_interpreter *it);
/* Drops values whose last use n was. */
void fxs_interpreter_drop_dead(fxs_interpreter *it, const fxs_node *n);
/* fxs_interpreter_run over the placeholders themselves, also where the graph's callers pass trees.
 */
fxs_status fxs_interpreter_run_flat(fxs_interpreter *it, const fxs_value *args, size_t nargs,
                                    fxs_value *result);
/* Drops the values that m's and its submodules' parameters were given from the seed. */
void fxs_drop_parameters(fxs_module *m);
double fxs_now(fxs_profile_clock c);

#endif
