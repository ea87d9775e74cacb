/* profile.h: what the files that make and print a profile share. */
#ifndef FXS_PASS_PROFILE_H
#define FXS_PASS_PROFILE_H

#include "fxprofile.h"
#include "run/interpret.h"

struct fxs_profile {
    fxs_ctx *ctx;
    fxs_arena arena; /* rows and names */
    fxs_profile_totals totals;
    fxs_profile_row *nodes, *operators; /* by time */
    size_t nnodes, noperators;
};

/* profile_least.c: the least memory that results need. An observer of one whole run. */
typedef struct fxs_least fxs_least;
fxs_status fxs_least_new(fxs_ctx *ctx, const fxs_graph *g, fxs_least **out);
void fxs_least_free(fxs_least *l);
/* An fxs_observer's function; user: the fxs_least. */
fxs_status fxs_least_after(void *user, fxs_node *n, const fxs_step *step);
double fxs_least_bytes(const fxs_least *l);

/* profile_json.c */
fxs_status fxs_profile_json(const fxs_profile *p, fxs_buf *b);

#endif
