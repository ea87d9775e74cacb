/* spread.h: what is kept with a node that is drawn for several: see fxs_spread. Made by pass/,
 * shared by the copies of the node. */
#ifndef FXS_IR_SPREAD_H
#define FXS_IR_SPREAD_H

#include "base/value.h"

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

/* One text of several that differ in whole numbers alone: each that varies becomes a range. False,
 * and nothing is written, when they differ in more. */
FXS_API bool fxs_buf_ranges(fxs_buf *b, const char *const *texts, size_t n);

#endif
