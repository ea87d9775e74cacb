/* fxprofile.h: how long a model takes, and how much memory: the public interface of measuring.
 *
 * A profile is made by running a model several times; it holds the least time of each node and of
 * each operator, so that what else the machine does counts as little as possible. Times are
 * seconds, sizes are bytes. */
#ifndef FXPROFILE_H
#define FXPROFILE_H

#include "fxscope.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fxs_profile fxs_profile;

typedef enum fxs_profile_clock {
    FXS_CLOCK_ELAPSED,
    FXS_CLOCK_PROCESSOR /* of all threads together: with one thread, what other programs do counts
                           less */
} fxs_profile_clock;

/* All zero is a good default. */
typedef struct fxs_profile_options {
    fxs_run_mode mode; /* FXS_RUN_META: how long shapes take; there are no statistics then */
    fxs_profile_clock clock;
    unsigned rounds; /* how often the model is run after the first time, with and without value
                        statistics each; 0: 5 */
    bool train;
    /* Called after each run with how many of how many are done; may be NULL. */
    void (*progress)(void *user, size_t done, size_t total);
    void *user;
} fxs_profile_options;

/* A node, or all nodes of one operator. */
typedef struct fxs_profile_row {
    const char *name; /* the node's; the operator's, or what kind of node it is */
    const char *operator_name;
    size_t calls;          /* nodes that are counted here */
    double seconds, share; /* least time of the later runs; share of the sum, 0 to 1 */
    double flops, bytes;   /* bytes that are read and written */
} fxs_profile_row;

typedef struct fxs_profile_totals {
    unsigned rounds;
    size_t nodes, failed; /* failed: nodes without a result */
    double first;         /* the first run, statistics recorded; making parameters is not counted */
    double steady;        /* the fastest later run, statistics recorded */
    double plain;         /* the fastest later run, no statistics */
    double seconds;       /* the sum of the nodes' least times */
    double flops, bytes;
    double activations; /* memory that results take, at most at one time, kept blocks included */
    double least; /* what they would take if every result went with its last use, and a pointwise
                     operator's result took its input's place when that goes */
} fxs_profile_totals;

/* Runs m on the inputs (`in` may be NULL) and measures. m's nodes hold what the last run recorded,
 * as after fxs_run; nodes that fail are as they are there. *out is the caller's. */
FXS_API fxs_status fxs_profile_run(fxs_module *m, const fxs_inputs *in,
                                   const fxs_profile_options *opt, fxs_profile **out);
FXS_API void fxs_profile_free(fxs_profile *p);
FXS_API const fxs_profile_totals *fxs_profile_all(const fxs_profile *p);

typedef enum fxs_profile_by { FXS_BY_OPERATOR, FXS_BY_NODE } fxs_profile_by;
/* Rows by time, the longest first; borrowed from p. */
FXS_API const fxs_profile_row *fxs_profile_rows(const fxs_profile *p, fxs_profile_by by, size_t *n);
/* The rows and, in text and Markdown, the totals under them. In JSON everything, whatever `by` is.
 */
FXS_API fxs_status fxs_profile_print(const fxs_profile *p, fxs_profile_by by,
                                     fxs_table_format format, char **text, size_t *len);

#ifdef __cplusplus
}
#endif
#endif
