/* place.h: positions of nodes that stay right while nodes are put in: node->index counts in steps
 * of 2^24, and a new node gets a number between its neighbours'. replace.c asks which of two nodes
 * stands first. */
#ifndef FXS_PASS_PLACE_H
#define FXS_PASS_PLACE_H

#include "ir/subst.h"

/* Numbers all nodes with room between them. */
void fxs_place_all(fxs_graph *g);
/* Numbers the nodes that were put in between `before` (the sentinel: none) and `at`. */
void fxs_place_new(fxs_graph *g, fxs_node *before, fxs_node *at);

/* Room for fxs_place_forward: one entry a node. */
typedef struct fxs_placer {
    const fxs_subst *subst; /* what stands for a node that will go */
    fxs_node **nodes;
    size_t n, cap;
} fxs_placer;

/* Finds what a new node before `at` would need and stands behind `at`: inputs[ninputs], and what
 * they need themselves. *possible is false when one of them needs `at` or a node whose mark is
 * `stamp`. */
fxs_status fxs_place_find(fxs_placer *p, const fxs_value *inputs, size_t ninputs, fxs_node *at,
                          uint64_t stamp, bool *possible);
/* Moves what was found to before `at`, in its order. */
fxs_status fxs_place_move(fxs_placer *p, fxs_node *at);

#endif
