/* layers.h: the working graph of the engine "layered": what stands at one level of the picture
 * (nodes, inner clusters, the ports of the cluster around them) and what connects it, rank by rank.
 * layout_layered.c makes one for each level and each component, ranks.c gives ranks, layers_bus.c
 * gathers dense concatenations, layers_build.c adds the bends of long wires, layers_order.c orders
 * each rank, layers_rows.c finds ways out of tables' rows, layers_place.c gives x, layers_route.c y
 * and curves. Ranks go downwards here also when the picture goes to the right; widths are across
 * the ranks. */
#ifndef FXS_RENDER_LAYERS_H
#define FXS_RENDER_LAYERS_H

#include "layout.h"

#define FXS_NO_INDEX SIZE_MAX

typedef enum fxs_vertex_kind {
    FXS_VERTEX_NODE,     /* of: node of the view */
    FXS_VERTEX_CLUSTER,  /* of: cluster of the view */
    FXS_VERTEX_IN,       /* a port in the upper side of the cluster around; of: the port */
    FXS_VERTEX_OUT,      /* the same, lower side */
    FXS_VERTEX_JUNCTION, /* of a bus */
    FXS_VERTEX_LABEL,    /* of: edge of the view */
    FXS_VERTEX_BEND
} fxs_vertex_kind;

typedef struct fxs_vertex {
    fxs_vertex_kind kind;
    size_t of;
    int rank;
    bool sinks;            /* is computed from no input: stands above its first user */
    size_t place;          /* in its rank */
    double left, right, h; /* size: left and right of x */
    double room[2];        /* beside it, for what leaves at its left and at its right side */
    double x;
} fxs_vertex;

/* A run of strands. */
typedef struct fxs_strands {
    size_t first, count;
} fxs_strands;

/* What goes from one item to another: an edge of the view, or, where it enters or leaves a cluster,
 * all edges of one value. */
typedef struct fxs_wire {
    size_t from, to;         /* vertices */
    double from_off, to_off; /* from their x: the port of a cluster */
    double row;              /* as of a link */
    size_t edge;             /* of the view, the first */
    bool spine;              /* on the main path */
    bool labelled;           /* has its edge's label in its middle */
    fxs_strands part[3];     /* itself; in a bus: to it, along it, from it */
} fxs_wire;

/* What is drawn once: a wire, or a part of a bus that wires share. Without links it runs in a lane
 * beside everything. */
typedef struct fxs_strand {
    size_t from, to;
    double from_off, to_off, row;
    size_t edge;
    bool spine, labelled, trunk;
    size_t first, count; /* of links, from top to bottom */
    double lane;         /* x of the lane */
    size_t straight;     /* the last one of the strands from here on that are one straight line */
} fxs_strand;

/* A piece of a strand from one rank to the next. */
typedef struct fxs_link {
    size_t up, down;         /* vertices */
    double up_off, down_off; /* where it leaves and arrives, from their x */
    double row;              /* the middle of the row of the table where it begins, from the table's
                                top; 0: it begins at no row */
    int side;                /* -1 and 1: it leaves at the left and the right side, */
    size_t lane;             /* the first, second, ... of those that go down there */
    double weight;           /* how much it wants to be straight */
    bool spine, trunk;
    bool tensor; /* false: one end is known to hold no tensor */
    bool free;   /* its place at the lower end is to be found */
} fxs_link;

typedef struct fxs_layers {
    fxs_arena *arena;
    const fxs_view *view;
    double deadline; /* fxs_clock */
    fxs_vertex *vertices;
    size_t nitems, nvertices; /* items come first, then junctions, labels and bends */
    fxs_wire *wires;          /* by target, then in the order of arguments */
    size_t nwires;
    fxs_strand *strands;
    size_t nstrands;
    fxs_link *links;
    size_t nlinks;
    int nranks;
    size_t *start; /* rank r is order[start[r]] to order[start[r + 1] - 1] */
    size_t *order;
    size_t *up_start, *ups;     /* links that arrive at a vertex from above */
    size_t *down_start, *downs; /* links that leave it downwards */
    double *top, *bottom;       /* of each rank */
    double left, right, height; /* what is covered: x from left to right, y from 0 to height */
    double x, y;                /* where 0, 0 is in the level */
    double head;                /* what a label takes of the first gap, in a frame */
} fxs_layers;

/* A run of ranks that begins and ends with the graph or at a rank of one vertex, through which all
 * passes: what is inside can be arranged apart from the rest. */
typedef struct fxs_stretch {
    int first, last;
    size_t twin; /* an earlier one that is equal, FXS_NO_INDEX: none */
} fxs_stretch;

/* All answer FXS_OK, FXS_ENOMEM, FXS_EINVAL for a cycle through clusters, FXS_ELIMIT when time is
 * up. */

/* Strands of the wires; wires that grow by concatenation become a bus with junctions. */
fxs_status fxs_layers_gather(fxs_layers *g);
/* Ranks of the items and junctions. *stuck is a cluster's vertex in a cycle after FXS_EINVAL. */
fxs_status fxs_layers_rank(fxs_layers *g, size_t *stuck);
/* Links, bends, labels, and the lists of them. */
fxs_status fxs_layers_build(fxs_layers *g);
/* The vertices of each rank as a walk through the graph, down or up, meets them. */
fxs_status fxs_layers_walk(fxs_layers *g, bool up);
/* Whether the rank has one vertex. */
bool fxs_layers_cut(const fxs_layers *g, int r);
/* The stretches from top to bottom, equal ones found. */
fxs_status fxs_layers_stretches(fxs_layers *g, fxs_stretch **list, size_t *n);
/* Few crossings in each stretch. */
fxs_status fxs_layers_order(fxs_layers *g, const fxs_stretch *list, size_t n);
/* Which side of its table each link leaves that begins at a row. */
fxs_status fxs_layers_rows(fxs_layers *g);
/* How often what leaves a vertex crosses itself, since it must begin at rows; to *swaps are added
 * pairs of rows that go to places in the other order, to *pairs all of them. */
double fxs_rows_crossings(const fxs_layers *g, size_t v, double *swaps, double *pairs);
/* How far from its vertex' x a link that begins at a row goes down. */
double fxs_row_way_out(const fxs_layers *g, const fxs_link *l);
/* x of every vertex. */
fxs_status fxs_layers_place(fxs_layers *g, const fxs_stretch *list, size_t n);
/* Where wires arrive, lanes, top and bottom of every rank. */
fxs_status fxs_layers_finish(fxs_layers *g);
/* A curve while it is made; `points` is to be freed. */
typedef struct fxs_path {
    fxs_point *points;
    size_t n, room;
    fxs_point tip, label;
    size_t labelled; /* the edge whose label was passed last */
    bool failed;     /* out of memory */
} fxs_path;

/* Goes on with a path along a wire; dx, dy: where the component's 0, 0 is. */
void fxs_layers_follow(const fxs_layers *g, const fxs_wire *w, double dx, double dy, fxs_path *p);
/* Upper side of a vertex's box in the component. */
double fxs_vertex_top(const fxs_layers *g, const fxs_vertex *v);

enum { FXS_BEND_WIDTH = 4 };

/* How far from the middle of its box, across the ranks, the row is where a link begins: there it
 * leaves when ranks go to the right; when they go down, elements come in that order. */
static inline double fxs_row_off(const fxs_layers *g, const fxs_link *l) {
    const fxs_vertex *v = &g->vertices[l->up];
    double w = v->left + v->right, h = g->view->lr ? w : v->h;
    return l->row > 0 ? (l->row / h - 0.5) * w : 0;
}

/* Counts become starts; start has n + 1 places and the last one gets the total. */
void fxs_sum_up(size_t *start, size_t n);

#endif
