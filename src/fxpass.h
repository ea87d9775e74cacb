/* fxpass.h: graphs that change as a whole: patterns that are found and replaced, passes, normalised
 * arguments, splitting. fxscope.h includes it at its end; what one node at a time needs is there.
 */
#ifndef FXPASS_H
#define FXPASS_H

#include "fxscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Patterns
 * ---------------------------------------------------------------------------------------------- */

/* A node of a pattern, and what stands for it: a node of the graph, or a literal where a
 * placeholder met one. */
typedef struct fxs_match_pair {
    const fxs_node *pattern;
    fxs_value target;
} fxs_match_pair;

/* A place where a pattern was found; its arrays live as long as the fxs_matches. */
typedef struct fxs_match {
    const fxs_node *const *anchors; /* of the pattern: what it returns and does not use itself */
    const fxs_match_pair *nodes;    /* in order of discovery: from an anchor towards its inputs */
    const fxs_value
        *placeholders;          /* for each of the pattern's; FXS_V_UNKNOWN: it is not used there */
    const fxs_value *returning; /* for each value that the pattern returns */
    size_t nanchors, nnodes, nplaceholders, nreturning;
} fxs_match;

typedef struct fxs_match_options {
    bool match_output;      /* the pattern's output is part of it, and must be the graph's */
    bool match_placeholder; /* a placeholder of the pattern stands for a placeholder only, not for
                               any value */
    const fxs_module
        *modules;          /* whose layers the graph calls: `class:GLOB` (* ? [...]) as the target
                              of the pattern's call_module is any layer whose class matches;
                              NULL: there is no such spelling. fxs_replace_pattern takes gm. */
    bool keep_overlapping; /* also places that share nodes with one that was found before */
} fxs_match_options;

typedef struct fxs_matches fxs_matches;
FXS_API void fxs_matches_free(fxs_matches *m);
FXS_API size_t fxs_matches_count(const fxs_matches *m);
/* Borrowed; NULL when i is out of range. Nodes that were replaced are erased, but can still be
 * asked for their names.
 */
FXS_API const fxs_match *fxs_matches_at(const fxs_matches *m, size_t i);

/* torch.fx's SubgraphMatcher: all places where `pattern` stands in g, in g's order. opt NULL: the
 * defaults. An empty pattern, and one with dead code or without a computation, is FXS_EINVAL; *out
 * is the caller's. */
FXS_API fxs_status fxs_graph_match(fxs_graph *g, const fxs_graph *pattern,
                                   const fxs_match_options *opt, fxs_matches **out);
/* Whether both graphs compute the same, up to names: torch.fx's compare_graphs. */
FXS_API fxs_status fxs_graph_same(fxs_graph *g, const fxs_graph *other, bool *same);
/* torch.fx's replace_pattern: a copy of `replacement` takes the place of each match in gm's graph.
 * Both graphs have the same number of placeholders, which belong together in order, and return as
 * many values. `from` (may be NULL) is the module of the replacement: submodules, parameters and
 * buffers that gm lacks are put in from there (the same objects, not copies; gm's own win), and
 * submodules that are no longer used go. *out (may be NULL) is the caller's. Everything is checked
 * first: gm is unchanged when anything but FXS_ENOMEM is returned. */
FXS_API fxs_status fxs_replace_pattern(fxs_module *gm, const fxs_graph *pattern,
                                       const fxs_graph *replacement, const fxs_module *from,
                                       const fxs_match_options *opt, fxs_matches **out,
                                       size_t *count);

/* X(identifier, name, what it does) */
#define FXS_PASS_MAP(X)                                                                            \
    X(dead_code, "dead-code", "erase nodes whose results nobody uses")                             \
    X(cse, "cse", "compute equal expressions once")                                                \
    X(constant_fold, "constant-fold",                                                              \
      "compute what depends on parameters alone, and keep it as a buffer")                         \
    X(fuse_conv_bn, "fuse-conv-bn",                                                                \
      "fold batch normalisation, in eval mode, into the convolution before it")                    \
    X(remove_identity, "remove-identity",                                                          \
      "take out what does nothing in eval mode: Identity, Dropout")                                \
    X(normalize_args, "normalize-args",                                                            \
      "give all arguments of functions and layers by their names")                                 \
    X(legalize, "legalize", "bring the nodes into topological order")                              \
    X(unused_modules, "unused-modules", "delete submodules that no node needs")

/* The i-th pass's name and what it does; NULL when there is none. */
FXS_API const char *fxs_pass_name(size_t i);
FXS_API const char *fxs_pass_text(size_t i);
/* Runs a pass over gm's graph, and lints the result. *changed (may be NULL) tells whether anything
 * was done. A name that is not known is FXS_ENOTFOUND. */
FXS_API fxs_status fxs_pass_run(fxs_module *gm, const char *name, bool *changed);

enum {
    FXS_NORMALIZE_KEYWORDS = 1, /* all by name; else as many stay positional as are */
    FXS_NORMALIZE_DEFAULTS =
        2 /* arguments that are not given too, with the defaults of the operator's schema */
};
/* torch.fx's Node.normalized_arguments, by the operator's schema or the layer's forward. args
 * becomes a tuple and kwargs a dict in n's graph. *known is false, and both are empty, for what has
 * no parameters with names: methods, Python's builtins and operators, unknown functions and layers.
 */
FXS_API fxs_status fxs_node_normalized_arguments(const fxs_node *n, unsigned flags, fxs_value *args,
                                                 fxs_value *kwargs, bool *known);

/* Says which part a call_* node belongs to. */
typedef fxs_status fxs_partition_fn(void *user, const fxs_node *n, int64_t *part);
/* torch.fx's split_module: *out is a new GraphModule that calls one GraphModule submod_PART for
 * each part; the layers are gm's own. Parts that need each other are FXS_EINVAL. */
FXS_API fxs_status fxs_split_module(fxs_module *gm, fxs_partition_fn *part_of, void *user,
                                    fxs_module **out);

#ifdef __cplusplus
}
#endif
#endif
