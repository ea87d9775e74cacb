/* same.h: whether two neighbouring blocks are the same: their nodes' kinds, targets below their own
 * paths, layers, arguments and results; and what the second gets from outside is either what the
 * first gets too (a mask), or what the first gives, which it does get. Where sizes may vary, so may
 * the sizes of tensors, results that are ints, and those arguments of layers and functions that
 * are sizes, and the chances of dropout (same_sizes.c); and a list may be longer by what the first
 * block gives (the concatenation of a dense block, whose layers grow with it). */
#ifndef FXS_PASS_SAME_H
#define FXS_PASS_SAME_H

#include "pass/outline.h"

enum { FXS_MOST_CALLS = 4 }; /* in a block */

/* One call, or a few neighbouring ones of the same parent. */
typedef struct fxs_block {
    size_t calls[FXS_MOST_CALLS], n;
    size_t first, last; /* positions of its nodes */
} fxs_block;

/* Which nodes of a block the next one gets, as positions in the block, in the order of its
 * arguments: that is the same all along a run. */
typedef struct fxs_chain {
    size_t *items, n, cap;
    bool known; /* by the first two blocks */
} fxs_chain;

typedef struct fxs_comparison {
    const fxs_outline_plan *p;
    const fxs_block *a, *b; /* b comes directly behind a */
    bool sizes;             /* may vary */
    bool layers;            /* so may those of layers, also where no list gets longer, and all
                               floats that are arguments */
    fxs_chain *chain;
    size_t linked; /* of the chain */
    bool varies;   /* some number does */
    bool reals;    /* some number that is no size does */
    bool resized;  /* some size of a layer or of an attribute does */
    bool grows;    /* some list does */
    bool out_of_memory;
} fxs_comparison;

bool fxs_same_block(fxs_comparison *c);

/* same_weights.c: whose weights those of `times` blocks are that follow one another, each `length`
 * nodes long, the first one's at position `first`. */
fxs_status fxs_same_weights(const fxs_outline_plan *p, size_t first, size_t length, size_t times,
                            fxs_sharing *out);

/* What may differ in a value. */
enum { FXS_VARY_TENSORS = 1, FXS_VARY_INTS = 2, FXS_VARY_REALS = 4 };
/* Is v the same as w but for what may vary; notes what does. Nodes, tensors and texts as the two
 * blocks have them. */
bool fxs_same_value(fxs_comparison *c, const fxs_value *v, const fxs_value *w, unsigned vary);

/* same_sizes.c: the arguments of two layers of one class, and of two nodes with one target. */
bool fxs_same_layer_args(fxs_comparison *c, const fxs_module *a, const fxs_module *b);
bool fxs_same_args(fxs_comparison *c, const fxs_node *x, const fxs_node *y);

#endif
