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
} fxs_call_plan;

typedef struct fxs_outline_plan {
    const fxs_module *m;
    const fxs_outline_options *opt;
    fxs_module_calls calls;
    fxs_call_plan *plan; /* by call */
    fxs_node **node;     /* by position */
    fxs_arena arena;
    fxs_buf notes;
} fxs_outline_plan;

/* repeat.c: finds runs of equal calls and marks all but the first of each as folded. */
fxs_status fxs_outline_fold(fxs_outline_plan *p);
/* The node at the same place of the call that `n`'s call is folded into; n itself when it is not
 * folded. */
const fxs_node *fxs_outline_like(const fxs_outline_plan *p, const fxs_node *n);

#endif
