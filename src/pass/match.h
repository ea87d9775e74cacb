/* match.h: what the parts of the matcher share: a pattern made ready for the search, and the list
 * of what was found. match_plan.c makes the plan, match.c searches, replace.c uses both. */
#ifndef FXS_PASS_MATCH_H
#define FXS_PASS_MATCH_H

#include "ir/graph.h"

/* A node that the pattern returns and does not use itself: the search goes from there towards the
 * inputs. */
typedef struct fxs_plan_anchor {
    size_t node; /* position in the pattern */
    /* A way from a node that earlier anchors bind (`from`) down to this one: positions of the nodes
     * behind `from`, this one last. Candidates are found along it. npath 0: there is none, and the
     * whole graph is looked through. */
    size_t from, npath;
    const size_t *path;
} fxs_plan_anchor;

typedef struct fxs_plan {
    const fxs_graph *pattern;
    size_t n;               /* nodes of the pattern */
    const fxs_node **nodes; /* by position */
    size_t *position;       /* by node id */
    bool *returned;         /* by position */
    const fxs_node *output;
    size_t *returning, nreturning; /* positions, each once, in the order of the output's value */
    size_t *placeholders, nplaceholders; /* positions */
    fxs_plan_anchor *anchors;
    size_t nanchors;
} fxs_plan;

/* Checks the pattern, and plans the search; everything lives in `a`. With match_output the output
 * is the anchor. */
fxs_status fxs_plan_make(fxs_arena *a, const fxs_graph *pattern, bool match_output, fxs_plan *out);

struct fxs_matches {
    fxs_ctx *ctx;
    fxs_arena arena;
    fxs_match *items;
    size_t len, cap;
};

/* The search. g is numbered (node->index) by it. */
fxs_status fxs_match_search(fxs_graph *g, const fxs_plan *plan, const fxs_match_options *opt,
                            fxs_matches **out);

#endif
