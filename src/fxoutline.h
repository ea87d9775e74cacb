/* fxoutline.h: a model made small enough to be read: modules as single boxes, equal blocks once,
 * nodes that say nothing left out. The result is a model of its own, for pictures and tables: its
 * nodes carry what the last run recorded, but it can not be run. */
#ifndef FXOUTLINE_H
#define FXOUTLINE_H

#include "fxscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A small graph, as fxs_graph_match takes it; each place where it stands becomes one box with that
 * name. `class:GLOB` as the target of a layer's call stands for any layer of such a class. */
typedef struct fxs_outline_pattern {
    const char *name;
    const fxs_graph *graph;
} fxs_outline_pattern;

/* Which blocks in a row are drawn once, with their number. Blocks are equal when they are the same
 * in structure, arguments and shapes; similar when they may differ in sizes: those of tensors, and
 * the arguments of layers and functions that are sizes (channels, features, a shape), and in
 * floats, but in no kernel, stride or other int. The node that is drawn has ranges then
 * (fxs_meta.spread). */
typedef enum fxs_fold {
    FXS_FOLD_NONE,
    FXS_FOLD_AUTO,   /* equal ones; of what is left, similar ones whose layers are the same but for
                        the chance of dropout and stochastic depth, and the layers of a dense
                        block, which grow with what they concatenate */
    FXS_FOLD_EQUAL,  /* equal ones only */
    FXS_FOLD_SIMILAR /* the longest rows of similar ones, some of which may be equal */
} fxs_fold;

/* Patterns are globs (* ? [...]; a star matches dots too) over a module's path ("layer1.*") or its
 * class ("BasicBlock"); NULL-terminated lists, NULL: none. All zero leaves the graph as it is. */
typedef struct fxs_outline_options {
    int depth;                   /* modules that are this deep become one box; 0: none */
    const char *const *collapse; /* modules that become one box */
    const char *const *expand;   /* modules that stay open all the same */
    const char *const *hide;     /* nodes that are left out, what they get goes to who uses them: by
                                    target ("torch.flatten"), its last part ("getitem"), or class
                                    ("Dropout") */
    const char *focus; /* the only module that is shown: its path, whose first call it is, or
                          "path#2" for the second; depth counts from there. NULL: the whole */
    bool only_tensors; /* nodes without tensors are left out, their values stand as numbers */
    const fxs_outline_pattern *patterns; /* looked for one after another in what is still shown */
    size_t npatterns;
    /* A block is one module, or two to four that repeat in turns. In a graph without scopes,
     * functions between the blocks (x + block(x)) are taken for parts of them. */
    fxs_fold fold;
} fxs_outline_options;

/* opt may be NULL. *out is a model with the outlined graph, the caller's; it shares m's modules.
 * Its nodes have the recorded facts of m's, those of a box summed up (fxs_meta.inside nodes;
 * fxs_meta.times equal ones). *notes (may be NULL; yours to fxs_free) says what is not shown, one a
 * line, "" when there is nothing. A pattern that matches nothing is FXS_ENOTFOUND. */
FXS_API fxs_status fxs_outline(const fxs_module *m, const fxs_outline_options *opt,
                               fxs_module **out, char **notes);

/* Whether that call (from 0) of a path is what opt's focus names. */
FXS_API bool fxs_outline_in_focus(const fxs_outline_options *opt, const char *path, size_t nth);
/* Whether opt's depth, collapse and expand make one box of a module that stands in an open one so
 * deep (the model's own are 1 deep). */
FXS_API bool fxs_outline_closes(const fxs_outline_options *opt, const char *path,
                                const char *class_name, size_t depth);

/* ---- Levels: the same, one module at a time
 *
 * A level is one call of a module that holds nodes: its own nodes, a box for each inner level, a
 * placeholder for each value that comes from outside, and an output of what is used outside. Level
 * 0 is the model. Each node of the model's graph is a node of exactly one level, so that all of
 * them together are as large as the graph. A call that holds a
 * single node is no level: the node stands for it. */
typedef struct fxs_levels fxs_levels;

typedef struct fxs_level {
    size_t parent;                 /* of level 0: 0 */
    const char *path, *class_name; /* "layer1.0", "BasicBlock"; "" when it is not known */
    size_t nth;                    /* the how many-th call of that path, from 0 */
    size_t first, last;            /* positions of its nodes in the model's graph */
    bool group; /* of modules that repeat in turns, which fold put a frame around: no module */
} fxs_level;

/* What a node of a level's graph is. */
typedef enum fxs_level_part {
    FXS_LEVEL_NODE,  /* the model's node at position `at` */
    FXS_LEVEL_BOX,   /* level `at` */
    FXS_LEVEL_INPUT, /* the value of the model's node at position `at`, which is outside */
    FXS_LEVEL_OUTPUT /* what is used outside; the root has its own output node */
} fxs_level_part;

typedef struct fxs_level_node {
    fxs_level_part part;
    size_t at;
} fxs_level_node;

/* The levels of m's graph, which must not change while they are in use. A level comes after its
 * parent. Free them with fxs_levels_free. FXS_EINVAL for a module without a graph. */
FXS_API fxs_status fxs_levels_new(const fxs_module *m, fxs_levels **out);
FXS_API void fxs_levels_free(fxs_levels *l);
FXS_API size_t fxs_levels_count(const fxs_levels *l);
/* Borrowed from l. */
FXS_API const fxs_level *fxs_levels_at(const fxs_levels *l, size_t level);
/* *out is a model with the level's graph, the caller's, as fxs_outline gives one; *nodes (may be
 * NULL) says what each of its nodes is, in order, and is l's until the next call. */
FXS_API fxs_status fxs_levels_model(fxs_levels *l, size_t level, fxs_module **out,
                                    const fxs_level_node **nodes);

/* ---- Numbers of the user's own ----
 *
 * A CSV file with lines `node,number`, by the names that the table prints; a first line whose
 * second field is no number is a heading. "nan" is no number for that node, and no error. */

typedef struct fxs_numbers fxs_numbers;
/* Reads the file. What is wrong is an FXS_EINVAL with file and line: a field too many, a text that
 * is no number, a node that has a number already. */
FXS_API fxs_status fxs_numbers_read(fxs_ctx *ctx, const char *path, fxs_numbers **out);
FXS_API void fxs_numbers_free(fxs_numbers *o);
/* The second heading; NULL: there is none. */
FXS_API const char *fxs_numbers_title(const fxs_numbers *o);
/* fxs_node_set_overlay for each node of m that has a number, once: after a run, and again for the
 * boxes that fxs_outline made, whose names may be in the file too. */
FXS_API fxs_status fxs_numbers_give(fxs_numbers *o, fxs_module *m);
/* Boxes of m that are named in the file get its numbers instead of the sums of what is in them, as
 * often as they are there: for the levels of a model that was given its numbers. */
FXS_API void fxs_numbers_give_boxes(const fxs_numbers *o, fxs_module *m);
/* FXS_ENOTFOUND, with file and line, for the first name that no model had. */
FXS_API fxs_status fxs_numbers_check(const fxs_numbers *o);

#ifdef __cplusplus
}
#endif
#endif
