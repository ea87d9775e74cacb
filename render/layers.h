/* layers.h: the working graph of the engine "simple": nodes and the bends of long edges, rank by
 * rank. layout_simple.c makes it, layers_order.c orders each rank, layers_place.c gives
 * coordinates, layers_route.c curves. Ranks go downwards here also when the picture goes to the
 * right; widths are across the ranks. */
#ifndef FXS_RENDER_LAYERS_H
#define FXS_RENDER_LAYERS_H

#include "layout.h"

typedef struct fxs_vertex {
    int rank;
    bool bend;      /* of an edge; the first vertices are the view's nodes */
    size_t place;   /* in its rank */
    double x, w, h; /* centre and size */
} fxs_vertex;

/* A piece of an edge from one rank to the next. */
typedef struct fxs_segment {
    size_t up, down;     /* vertices */
    bool spine;          /* of an edge on the main path */
    double weight;       /* how much it wants to be straight */
    double up_x, down_x; /* where it leaves and arrives */
} fxs_segment;

typedef struct fxs_layers {
    const fxs_view *view;
    fxs_arena arena;
    fxs_vertex *vertices;
    fxs_segment *segments;
    size_t nvertices, nsegments;
    size_t *first; /* first segment of each edge of the view, NONE for an edge that is drawn without
                      bends */
    size_t *count; /* its number of segments */
    int nranks;
    size_t *start; /* rank r is order[start[r]] to order[start[r + 1] - 1] */
    size_t *order;
    size_t *up_start, *ups;     /* segments that arrive at a vertex from above */
    size_t *down_start, *downs; /* segments that leave it downwards */
    double *top, *bottom;       /* of each rank */
} fxs_layers;

#define FXS_NO_SEGMENT SIZE_MAX

/* Few crossings: barycentre sweeps, the best order is kept. false when memory is out, as below. */
bool fxs_layers_order(fxs_layers *g);
/* x of every vertex, top and bottom of every rank. */
bool fxs_layers_place(fxs_layers *g);
/* Boxes and curves. */
bool fxs_layers_route(fxs_layers *g, fxs_scene *s);

#endif
