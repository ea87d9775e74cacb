/* facts.h: what follows from a node's recorded facts, for pictures and tables. */
#ifndef FXS_EMIT_FACTS_H
#define FXS_EMIT_FACTS_H

#include "ir/module.h"

/* Bytes of all tensors in the result, each as if it were contiguous. */
FXS_API double fxs_result_bytes(const fxs_meta *m);

/* True for containers that are shown item by item. A torch.Size, or a list of numbers, is one text.
 */
FXS_API bool fxs_result_is_split(const fxs_value *v);
/* What stands before item i of such a container: its key, its field's name, or its number. */
FXS_API void fxs_buf_item_key(fxs_buf *b, const fxs_value *v, size_t i);

/* Whether NaN or Inf is in what a node gave. Needs value statistics; a node without is finite. */
typedef enum fxs_nonfinite {
    FXS_FINITE,
    FXS_NONFINITE_FIRST,    /* it is, and in nothing that the node gets: it begins here */
    FXS_NONFINITE_INHERITED /* it is, and in an input too */
} fxs_nonfinite;
FXS_API fxs_nonfinite fxs_node_nonfinite(const fxs_node *n);
/* The first node of the graph, in its order, where it begins; NULL: nowhere. *n (may be NULL) is
 * the number of such nodes. */
FXS_API const fxs_node *fxs_graph_nonfinite(const fxs_graph *g, size_t *n);

#endif
