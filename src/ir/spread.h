/* spread.h: what is kept with a node that is drawn for several: see fxs_spread. Made by pass/,
 * shared by the copies of the node. */
#ifndef FXS_IR_SPREAD_H
#define FXS_IR_SPREAD_H

#include "ir/graph.h"

/* An empty one, which the caller holds; its texts go to *arena, its values are counted. NULL when
 * memory is out. */
fxs_spread *fxs_spread_new(fxs_arena **arena);
/* NULL does nothing. */
void fxs_spread_ref(const fxs_spread *s);
void fxs_spread_unref(const fxs_spread *s);

/* The result with the least (or greatest) sizes: the node's own where it stands for itself. */
static inline const fxs_value *fxs_meta_extreme(const fxs_meta *m, bool most) {
    return !m->spread ? &m->result : most ? &m->spread->most : &m->spread->least;
}

/* Of each of the innermost runs that a node is in the last block's result leaves it: how many
 * results leave runs of `runs` blocks in all; 0: not known. */
static inline size_t fxs_meta_leaving(const fxs_meta *m, size_t runs) {
    size_t n = m->spread ? m->spread->neach : 0;
    return runs && n % runs == 0 ? n / runs : 0;
}
/* The i-th of them. */
static inline const fxs_value *fxs_meta_leaves(const fxs_meta *m, size_t runs, size_t i) {
    return &m->spread->each[(i + 1) * runs - 1];
}
/* Blocks of the runs that n is in, or is the box of, and that are not around a node of scope `to`
 * of the same graph. */
size_t fxs_runs_left(const fxs_node *n, const fxs_scope *to);
/* Does n get the results of several blocks that are drawn as one: "[%x, %a × 3]"? Then these are
 * what goes to it, and not the last one's alone. */
static inline bool fxs_joins_blocks(const fxs_node *n) {
    return n->meta.spread && n->meta.spread->fewest_inputs > n->ninputs;
}

/* "3…12"; "12" where both are the same, and "≈12" where they only print alike. */
void fxs_buf_least_most(fxs_buf *b, double least, double most, void (*put)(fxs_buf *b, double x));

/* One text of several that differ in numbers alone: each that varies becomes a range, with four
 * digits where it is no whole number. False, and nothing is written, when they differ in more. */
FXS_API bool fxs_buf_ranges(fxs_buf *b, const char *const *texts, size_t n);

#endif
