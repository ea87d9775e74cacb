/* fxoutline.h: a model made small enough to be read: modules as single boxes, equal blocks once,
 * nodes that say nothing left out. The result is a model of its own, for pictures and tables: its
 * nodes carry what the last run recorded, but it can not be run. */
#ifndef FXOUTLINE_H
#define FXOUTLINE_H

#include "fxscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Patterns are globs (* ? [...]; a star matches dots too) over a module's path ("layer1.*") or its
 * class ("BasicBlock"); NULL-terminated lists, NULL: none. All zero leaves the graph as it is. */
typedef struct fxs_outline_options {
    int depth;                   /* modules that are this deep become one box; 0: none */
    const char *const *collapse; /* modules that become one box */
    const char *const *expand;   /* modules that stay open all the same */
    const char *const *hide;     /* nodes that are left out, what they get goes to who uses them: by
                                    target ("torch.flatten"), its last part ("getitem"), or class
                                    ("Dropout") */
    const char *focus;           /* path of the only module that is shown; NULL: the whole */
    bool only_tensors; /* nodes without tensors are left out, their values stand as numbers */
    bool fold;         /* of equal neighbours only the first is shown, with their number */
} fxs_outline_options;

/* *out is a model with the outlined graph, the caller's; it shares m's modules. Its nodes have the
 * recorded facts of m's, those of a box summed up (fxs_meta.inside nodes; fxs_meta.times equal
 * ones). *notes (may be NULL; yours to fxs_free) says what is not shown, one a line, "" when there
 * is nothing. A pattern that matches nothing is FXS_ENOTFOUND. */
FXS_API fxs_status fxs_outline(const fxs_module *m, const fxs_outline_options *opt,
                               fxs_module **out, char **notes);

#ifdef __cplusplus
}
#endif
#endif
