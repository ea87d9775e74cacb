/* interpret.h: the loop over a graph's nodes: resolves arguments, computes, tells observers, drops
 * what is no longer needed. The only place where nodes are run; ShapeProp, statistics, profiles are
 * observers of it. */
#ifndef FXS_RUN_INTERPRET_H
#define FXS_RUN_INTERPRET_H

#include "fxprofile.h"
#include "ir/module.h"
#include "op/registry.h"

/* What became of one node, for observers; borrowed for the call. */
typedef struct fxs_step {
    fxs_outcome outcome;
    const fxs_value *result; /* FXS_V_UNKNOWN unless outcome is FXS_DONE */
    const char *message;     /* why not; NULL when done or blocked */
    const fxs_node *culprit;
    const fxs_op *op; /* NULL when no operator was called */
    fxs_cost cost;
    double seconds;
    double making; /* seconds more, in which parameters got their values */
    int64_t parameters;
    size_t index, total; /* this is node `index` of `total` */
} fxs_step;

typedef struct fxs_observer {
    /* Anything but FXS_OK ends the run. */
    fxs_status (*after)(void *user, fxs_node *n, const fxs_step *step);
    void *user;
} fxs_observer;

typedef struct fxs_interpret {
    fxs_run_mode mode;
    fxs_profile_clock clock; /* of the steps' seconds */
    bool train;
    bool timed;           /* steps have seconds: asking the clock takes as long as a node in META */
    bool keep_parameters; /* values that were made stay for the next run */
    const fxs_value
        *inputs; /* one a placeholder, in order; FXS_V_UNKNOWN: not given. NULL: none is given */
    const fxs_observer *observers;
    size_t nobservers;
} fxs_interpret;

fxs_status fxs_interpret_graph(fxs_module *m, const fxs_interpret *how);

#endif
