/* layers_rank.h: what layers_rank.c and layers_tight.c share. */
#ifndef FXS_RENDER_LAYERS_RANK_H
#define FXS_RENDER_LAYERS_RANK_H

#include "layers.h"

typedef struct fxs_ranker {
    fxs_layers *g;
    size_t *in_start, *ins, *out_start, *outs; /* strands by their ends */
    size_t *sorted;                            /* vertices, sources first */
} fxs_ranker;

/* The least ranks from one end to the other. */
static inline int fxs_strand_length(const fxs_strand *s) { return s->labelled ? 2 : 1; }

static inline bool fxs_is_port(const fxs_vertex *v) {
    return v->kind == FXS_VERTEX_IN || v->kind == FXS_VERTEX_OUT;
}

/* layers_tight.c: ranks with which strands are as short as they can be, from ranks that are good
 * already, in a graph without ports. */
fxs_status fxs_layers_tighten(const fxs_ranker *w);

#endif
