/* match_search.h: the state of one search for a pattern, shared by match.c, which goes through
 * candidates and judges complete matches, and match_walk.c, which compares from an anchor towards
 * its inputs. */
#ifndef FXS_PASS_MATCH_SEARCH_H
#define FXS_PASS_MATCH_SEARCH_H

#include "pass/match.h"

typedef struct fxs_search_level {
    size_t *candidates, n, cap, next; /* positions in the graph */
    bool shared;                      /* candidates are those of the whole graph */
    size_t trail;                     /* how much was bound before this level */
} fxs_search_level;

typedef struct fxs_search_pair {
    const fxs_value *pattern, *target;
    bool strict; /* a list is no tuple */
} fxs_search_pair;

typedef struct fxs_search {
    fxs_ctx *ctx;
    fxs_graph *g;
    const fxs_plan *plan;
    const fxs_match_options *opt;
    fxs_arena arena;
    fxs_node **by_index;
    fxs_value *bound; /* by pattern position; FXS_V_UNKNOWN: not yet */
    fxs_value *kept;  /* by pattern position: what the match that is being kept holds */
    size_t *trail, ntrail;
    size_t *role; /* by target index: pattern position + 1 */
    bool *taken;  /* by target index: it computes in a match that is kept */
    fxs_search_level *levels,
        *whole; /* whole: for each anchor, the candidates of the whole graph */
    fxs_search_pair *stack;
    size_t depth, cap;
    fxs_node **walk; /* room for each node */
    size_t steps;
    fxs_matches *out;
} fxs_search;

/* Not a placeholder or an output. */
static inline bool fxs_search_computes(const fxs_node *pattern_node) {
    return pattern_node->kind != FXS_PLACEHOLDER && pattern_node->kind != FXS_OUTPUT;
}

/* Whether t may stand for the pattern's node p, by kind and target alone. */
bool fxs_search_fits(const fxs_search *s, const fxs_node *p, const fxs_node *t);
/* Binds `target` to the anchor at a position, and all that the anchor needs to what the target
 * needs. What was bound stays bound when it does not fit. */
fxs_status fxs_search_walk(fxs_search *s, size_t anchor, fxs_node *target, bool *fits);
/* Takes back what was bound since the trail had that length. */
void fxs_search_unbind(fxs_search *s, size_t ntrail);

#endif
