/* calls.h: the calls of modules behind a graph, as a tree: which nodes one run of a module's
 * forward recorded. Made from the scopes of a traced graph; a graph that was read from text has
 * none, and the paths of its layers and attributes say as much as can be known. */
#ifndef FXS_PASS_CALLS_H
#define FXS_PASS_CALLS_H

#include "ir/module.h"

typedef struct fxs_module_call {
    size_t parent;          /* index; entry 0 is the root, its own parent */
    const char *path;       /* "layer1.0"; "" for the root */
    const char *class_name; /* "" when it is not known */
    size_t first, last;     /* positions of its first and last node; everything between is its own
                               or an inner call's */
    size_t depth;           /* 0 for the root */
    size_t nth;             /* the how many-th call of that path, from 0 */
    size_t times;           /* equal calls that it stands for already, */
    fxs_sharing weights;    /* and whose weights they have */
} fxs_module_call;

typedef struct fxs_module_calls {
    fxs_arena arena;
    fxs_module_call *items; /* a call comes after its parent, in the order of their nodes */
    size_t n;
    size_t *of;     /* by position of a node (node->index): its innermost call */
    size_t guessed; /* nodes that calls_blocks.c gave to a block */
} fxs_module_calls;

/* Numbers the graph's nodes. whole_blocks: functions between equal blocks of a graph without scopes
 * are given to the blocks (calls_blocks.c), which is a guess. To be freed with
 * fxs_module_calls_free, also after an error. */
fxs_status fxs_module_calls_make(const fxs_module *m, bool whole_blocks, fxs_module_calls *out);
/* calls_blocks.c: changes the paths (by position) of functions between equal blocks, and counts
 * them in calls->guessed. false: out of memory. */
bool fxs_module_calls_adopt(const fxs_module *m, fxs_module_calls *calls, fxs_arena *scratch,
                            const char **paths);
void fxs_module_calls_free(fxs_module_calls *c);
/* Whether call `inner` is `outer` or inside of it. */
bool fxs_module_call_within(const fxs_module_calls *c, size_t inner, size_t outer);

#endif
