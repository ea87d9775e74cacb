/* subst.h: many replacements at once: which value stands for which node, and which nodes go.
 * Applied in time linear in the graph, where replacing and erasing one by one would be quadratic as
 * soon as a node has many users. */
#ifndef FXS_IR_SUBST_H
#define FXS_IR_SUBST_H

#include "ir/graph.h"

typedef struct fxs_subst {
    fxs_graph *graph;
    size_t n;      /* of nodes that were there at the start, by id; later ones are never replaced */
    fxs_value *to; /* FXS_V_UNKNOWN: the node stays; literals are counted */
    bool *erase;
} fxs_subst;

fxs_status fxs_subst_init(fxs_subst *s, fxs_graph *g);
void fxs_subst_free(fxs_subst *s);
/* From now on v, a node of the graph or a literal, stands for n. */
fxs_status fxs_subst_set(fxs_subst *s, const fxs_node *n, const fxs_value *v);
/* n goes with fxs_subst_apply. By then it must have no users but such as go too, or it must have
 * been replaced. */
static inline void fxs_subst_erase(fxs_subst *s, const fxs_node *n) { s->erase[n->id] = true; }
static inline bool fxs_subst_erases(const fxs_subst *s, const fxs_node *n) {
    return n->id < s->n && s->erase[n->id];
}
/* What stands for n in the end, through all steps. Borrowed, until the next set. */
fxs_value fxs_subst_get(const fxs_subst *s, fxs_node *n);
/* A copy of v, in the graph's arena, with what stands for its nodes. */
fxs_status fxs_subst_value(const fxs_subst *s, const fxs_value *v, fxs_value *out);
/* Rewrites all arguments, then erases. A node that can't be erased is FXS_EINVAL. */
fxs_status fxs_subst_apply(fxs_subst *s);

/* Takes all nodes whose mark is `stamp` out of the users of their inputs, in one walk;
 * fxs_node_adopt_args follows for each. */
void fxs_graph_detach(fxs_graph *g, uint64_t stamp);

#endif
