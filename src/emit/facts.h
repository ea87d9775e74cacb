/* facts.h: what follows from a node's recorded facts, for pictures and tables. */
#ifndef FXS_EMIT_FACTS_H
#define FXS_EMIT_FACTS_H

#include "ir/module.h"

/* Bytes of all tensors in the result, each as if it were contiguous; of a node that is drawn for
 * several, of all their results. */
FXS_API double fxs_result_bytes(const fxs_meta *m);

/* A result: the same value twice, or, of a node that is drawn for several, those with the least and
 * the greatest sizes. */
typedef struct fxs_range {
    const fxs_value *least, *most;
} fxs_range;
FXS_API fxs_range fxs_meta_range(const fxs_meta *m);
fxs_range fxs_range_item(fxs_range r, size_t i);
/* One text of what `put` writes for both, with ranges where numbers differ. */
typedef void fxs_put_value(fxs_buf *b, const fxs_value *v);
void fxs_buf_range(fxs_buf *b, fxs_range r, fxs_put_value *put);
/* The same of what goes from one node to another: what leaves a run is the last block's. */
void fxs_buf_carried(fxs_buf *b, const fxs_node *from, const fxs_node *to, fxs_put_value *put);
/* The result as fxs_buf_result writes it; a layer; arguments: of all that the node is drawn for. */
void fxs_buf_node_result(fxs_buf *b, const fxs_meta *m);
void fxs_buf_node_layer(fxs_buf *b, const fxs_node *n, const fxs_module *layer);
/* How many nodes it gets results from, "1…6", where that is not how many edges there are; else
 * nothing. */
bool fxs_buf_node_inputs(fxs_buf *b, const fxs_node *n);
/* " (12 each)", " (3…12 each)" behind a sum over several that differs from what one has:
 * numbers as `put` writes them. */
void fxs_buf_each(fxs_buf *b, double sum, double least, double most,
                  void (*put)(fxs_buf *b, double x));

/* Whose weights blocks have that are drawn as one: "own", "shared", "partly shared"; NULL: there
 * are none, or it is not known. */
const char *fxs_sharing_word(fxs_sharing s);
/* " × 12, own weights" behind what is drawn for several blocks; else nothing. */
void fxs_buf_times(fxs_buf *b, size_t times, fxs_sharing weights);

/* "(12, 4, 1), channels_last": strides, and the memory format where it is not contiguous. */
void fxs_buf_stride(fxs_buf *b, const fxs_tensor *t);

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
