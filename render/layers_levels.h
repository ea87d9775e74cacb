/* layers_levels.h: a view as levels: the picture, and each cluster that has a frame. An edge that
 * goes from one level into another passes a port in the side of every frame on its way. */
#ifndef FXS_RENDER_LAYERS_LEVELS_H
#define FXS_RENDER_LAYERS_LEVELS_H

#include "layers.h"

/* A value that enters or leaves a cluster. */
typedef struct fxs_port {
    size_t cluster, value, item; /* value: node of the view; item: as of its edges */
    bool out;
    size_t inner, outer; /* wires in the cluster's level and in the one around; of several that go
                            on from a port inside, any */
    size_t drawn_as;     /* many values that all go to one item inside enter through one port */
    double x;            /* in the cluster's level */
} fxs_port;

/* What stands at a level, by one number: nodes of the view first, then clusters, then ports. */
typedef struct fxs_level_wire {
    size_t level, from, to;
    size_t from_port, to_port; /* of clusters; FXS_NO_INDEX: none */
    size_t edge;
    bool spine, labelled;
    size_t in_graph, as; /* the working graph that it is a wire of, and as which one */
} fxs_level_wire;

typedef struct fxs_level {
    size_t first_item, nitems, first_wire, nwires; /* in `items` and in `sorted` */
    size_t first_graph, ngraphs;
    double left, right, height; /* as of a working graph */
    double line;                /* x in this level at which the level around holds it */
    double x, y;                /* where 0, 0 is in the picture */
} fxs_level;

typedef struct fxs_levels {
    const fxs_view *view;
    fxs_arena arena;
    bool *back;      /* by edge: it closes a cycle, and is no wire */
    bool *shown;     /* by cluster: it has a frame; without, its members belong to the one around */
    size_t *cluster; /* by node and by cluster: the one with a frame around it */
    fxs_level *levels; /* by cluster */
    size_t nlevels;
    fxs_port *ports;
    size_t nports;
    size_t *items;
    fxs_level_wire *wires;
    size_t nwires;
    size_t *sorted;        /* wires by level */
    size_t *path;          /* wires of each edge, from its source to its target: */
    size_t *path_start;    /* path[path_start[e]] to path[path_start[e + 1] - 1] */
    size_t *graph_of, *as; /* by item: its working graph, and its vertex there */
    fxs_layers *graphs;
    size_t ngraphs;
} fxs_levels;

/* Levels, ports and wires of a view. l->shown is set already. */
fxs_status fxs_levels_make(fxs_levels *l);
/* Working graphs of one level, items and wires only: one for each component of the picture, and one
 * for all of a cluster. The places of inner clusters are known already. */
fxs_status fxs_levels_graphs(fxs_levels *l, size_t level, double deadline);

#endif
