/* outline.h: what the parts of the outline share: which call of a module becomes what. */
#ifndef FXS_PASS_OUTLINE_H
#define FXS_PASS_OUTLINE_H

#include "fxoutline.h"
#include "pass/calls.h"

typedef enum fxs_call_state {
    FXS_CALL_OPEN,   /* its nodes are shown */
    FXS_CALL_BOX,    /* it is one node */
    FXS_CALL_INSIDE, /* in a box */
    FXS_CALL_GONE,   /* out of focus */
    FXS_CALL_FOLDED  /* equal to one before it, which is shown in its place */
} fxs_call_state;

typedef struct fxs_call_plan {
    fxs_call_state state;
    size_t box;   /* FXS_CALL_INSIDE: which */
    size_t like;  /* FXS_CALL_FOLDED, and all inside of it: the call that it is equal to */
    size_t times; /* how many it stands for; 1: itself */
    bool in_run;  /* it is of the first block of a run */
    size_t group; /* in a run of blocks of several calls: the first call of the block; 0: none */
    size_t period,
        repeats; /* of that call: how many calls a block has, how many blocks there are */
    fxs_sharing weights, group_weights; /* of those that it stands for, and of those blocks */
} fxs_call_plan;

typedef struct fxs_outline_plan {
    const fxs_module *m;
    const fxs_outline_options *opt;
    fxs_module_calls calls;
    fxs_call_plan *plan;           /* by call */
    fxs_node **node;               /* by position */
    size_t *next_node, *next_call; /* by position and by call: the next one that what is drawn is
                                      drawn for; 0: no more */
    fxs_arena arena;
    fxs_buf notes;
    size_t focus; /* the call that alone is shown; 0: the whole */
} fxs_outline_plan;

/* A graph that is being written, and what stands in it for the nodes of the model's. */
typedef struct fxs_outline_writing {
    fxs_outline_plan *p;
    fxs_graph *g;
    fxs_value *as; /* by position: what stands for the node; FXS_V_UNKNOWN: nothing yet */
    uint64_t hidden;
    size_t nhidden, nfolded, nboxes;
    bool focused; /* what comes from out of the graph becomes a placeholder */
} fxs_outline_writing;

/* Distinct things in order of discovery; all zero is empty. */
typedef struct fxs_outline_found {
    fxs_value *items;
    size_t n, cap;
} fxs_outline_found;

/* Is the node left out (by the options hide and only_tensors); sets the bits of the patterns that
 * were of use. */
bool fxs_outline_hides(const fxs_outline_plan *p, const fxs_node *n, uint64_t *used);
/* outline_box.c. `user` is the writing: what stands for a node, as fxs_graph_node_copy asks it. */
fxs_status fxs_outline_stand_for(void *user, fxs_node *from, fxs_value *to);
fxs_status fxs_outline_find_once(fxs_outline_writing *w, fxs_outline_found *f, fxs_value v);
/* Appends the node as it is, or the call as one box. */
fxs_status fxs_outline_write_node(fxs_outline_writing *w, const fxs_node *n);
fxs_status fxs_outline_write_box(fxs_outline_writing *w, size_t call);
/* Appends an output of those nodes of w->g, with their results as its own: of runs that are not
 * around `scope` (NULL: of all) what the last block gives. */
fxs_status fxs_outline_write_output(fxs_outline_writing *w, const fxs_outline_found *outputs,
                                    const fxs_scope *scope);
/* The scope of a call in w->g, or the one that a box of it stands in. */
fxs_status fxs_outline_scope(fxs_outline_writing *w, size_t call, bool around,
                             const fxs_scope **out);

/* focus.c: which call is in focus; FXS_ENOTFOUND tells what there is. */
fxs_status fxs_outline_find_focus(fxs_outline_plan *p);
/* repeat.c: finds runs of equal blocks and marks all but the first of each as folded. */
fxs_status fxs_outline_fold(fxs_outline_plan *p);
/* Fills p->next_node and p->next_call, when it is known what is folded. */
fxs_status fxs_outline_link(fxs_outline_plan *p);
/* Lists the calls and nodes of p->m, each call open and drawn once. */
fxs_status fxs_outline_plan_begin(fxs_outline_plan *p);
/* The node at the same place of the call that `n`'s call is folded into; n itself when it is not
 * folded. */
const fxs_node *fxs_outline_like(const fxs_outline_plan *p, const fxs_node *n);

#endif
