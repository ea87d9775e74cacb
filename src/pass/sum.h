/* sum.h: what a box has of the nodes in it: costs, the worst outcome, a family of operators. */
#ifndef FXS_PASS_SUM_H
#define FXS_PASS_SUM_H

#include "ir/family.h"

typedef struct fxs_sum {
    const fxs_module *m; /* whose graph has the members */
    fxs_node *box;
    const fxs_node *worst; /* the first member with the worst outcome */
    double flops[FXS_GROUP_COUNT];
    size_t count[FXS_GROUP_COUNT];
    /* Of members that are drawn for several (fxs_meta.spread): for how many blocks, and what these
     * have, least and greatest. */
    size_t blocks;
    double flops_each[2];
    int64_t parameters_each[2];
} fxs_sum;

/* FLOPs, bytes, time and the user's number of one more node. */
void fxs_meta_add_costs(fxs_meta *to, const fxs_meta *one);
/* Adds a member's costs to the box's; not the parameters, which several calls may share. `times`:
 * as how many nodes it counts, 0 for those of blocks that the box is drawn for as well. */
fxs_status fxs_sum_add(fxs_sum *sum, const fxs_node *member, size_t times);
/* Outcome, message and family of the box, when all members are added. A class that is a layer of
 * PyTorch has the layer's family, any other box the one with most FLOPs in it, or, where nothing
 * counts any, with most nodes. */
fxs_status fxs_sum_finish(fxs_sum *sum);

#endif
