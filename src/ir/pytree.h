/* pytree.h: how a graph is called whose placeholders are the leaves of trees. The tracer makes it
 * from its concrete arguments; printers of code and the interpreter read it. */
#ifndef FXS_IR_PYTREE_H
#define FXS_IR_PYTREE_H

#include "ir/graph.h"

/* Leaves of a spec are the string "*". Lives in the graph's arena. */
struct fxs_pytree {
    bool bound; /* it is a method: self is flattened too */
    size_t nparams;
    const char **params; /* as the signature has them: "x", "*args"; in the order of their leaves */
    fxs_value inputs, output; /* a tuple with one tree a parameter; the tree of the output */
};

/* A list, tuple or dict. */
bool fxs_pytree_container(const fxs_value *v);
size_t fxs_pytree_leaves(const fxs_value *v);
/* The leaves of v in a list in `a`; references are not counted. */
fxs_status fxs_pytree_flat(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_value *out);
/* v with "*" for its leaves, in g's arena. */
fxs_status fxs_pytree_spec(fxs_graph *g, const fxs_value *v, fxs_value *out);
/* In g's arena, with room for the names and trees of its parameters. */
fxs_status fxs_pytree_new(fxs_graph *g, size_t nparams, fxs_pytree **out);
/* One argument a parameter (FXS_V_UNKNOWN: not given) as a list of one value a placeholder; those
 * of what was not given are FXS_V_UNKNOWN. g has trees, and nargs parameters or more. */
fxs_status fxs_pytree_flatten(const fxs_graph *g, const fxs_value *args, size_t nargs,
                              fxs_value *flat);
/* Gives `to` the trees that `from` has, if any. */
fxs_status fxs_pytree_copy(fxs_graph *to, const fxs_graph *from);

#endif
