/* effect.h: what a node does besides giving its result, as far as its arguments tell without a run;
 * and the operator that a call stands for. Passes ask before they merge, move or drop nodes.
 * Modules are taken as in eval mode. */
#ifndef FXS_PASS_EFFECT_H
#define FXS_PASS_EFFECT_H

#include "ir/module.h"
#include "op/registry.h"

typedef enum fxs_effect {
    FXS_PURE,     /* the same arguments give the same result */
    FXS_IMPURE,   /* random numbers, an assertion: not to be merged, but it writes nothing */
    FXS_WRITES,   /* writes into a tensor that it is given */
    FXS_MAY_WRITE /* there is no such operator here: it may do anything */
} fxs_effect;

/* A call_function or call_method by the schema of its operator. */
typedef struct fxs_node_call {
    const fxs_candidate *ops; /* the overload that takes the arguments; NULL: none does, or the
                                 target is not known */
    const fxs_schema *schema;
    fxs_value arg[FXS_MAX_ARGS]; /* in the schema's order, nodes as nodes; lists that were made live
                                    in the arena */
    bool given[FXS_MAX_ARGS];
} fxs_node_call;
fxs_status fxs_node_call_of(const fxs_node *n, fxs_arena *a, fxs_node_call *out);
/* The argument of that name; NULL when the schema has none. */
const fxs_value *fxs_node_call_arg(const fxs_node_call *c, const char *name);
/* The operator that a called layer's forward is; NULL when the layer is not known here, or none. */
fxs_status fxs_layer_op(const fxs_module *m, const fxs_op **out);

/* For all nodes of m's graph, by node->index, which it numbers. */
typedef struct fxs_effects {
    fxs_effect *of;
    bool *written; /* a node writes into it, or into what may look at the same storage */
} fxs_effects;
fxs_status fxs_effects_find(fxs_module *m, fxs_arena *a, fxs_effects *out);

#endif
