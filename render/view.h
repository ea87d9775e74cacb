/* view.h: what is drawn, before anything has a place: nodes with their tables, edges, title. Made
 * once for each drawing by view.c and label.c from a module and what a run recorded; read by the
 * DOT writer, the layout engines and the canvases. */
#ifndef FXS_RENDER_VIEW_H
#define FXS_RENDER_VIEW_H

#include "fonts.h"
#include "fxrender.h"
#include "ir/module.h"

/* One line of clean text. */
typedef struct fxs_line {
    const char *text;
    size_t len;
    double width; /* points, as all lengths here */
} fxs_line;

typedef struct fxs_cell {
    fxs_ink ink;
    fxs_line *lines;
    size_t nlines;
    double x, y, w, h; /* from the label's top left corner */
} fxs_cell;

typedef struct fxs_label_row {
    fxs_cell cell[2];
    int ncells; /* 1: it spans both columns */
} fxs_label_row;

/* A node's table: the first row is its head. Width, height and the place of the column line are
 * whole points. */
typedef struct fxs_label {
    fxs_label_row *rows;
    size_t nrows;
    size_t first_item, nitems; /* rows that show the first elements of a result with several */
    double w, h, split;
    bool columns; /* some row has two cells */
} fxs_label;

enum { FXS_PAD_X = 6, FXS_PAD_Y = 3 }; /* inside a cell */

/* A group of nodes that gets a frame with a name: a module that stays open. Entry 0 of a view's
 * clusters is the picture itself and has no frame; a cluster comes after its parent. A frame holds
 * the boxes of its members and of its inner clusters, and nothing else. */
typedef struct fxs_view_cluster {
    size_t parent;  /* its index; 0: the picture itself */
    fxs_line label; /* FXS_INK_KEY; len 0: none */
} fxs_view_cluster;

typedef struct fxs_view_node {
    const fxs_node *node;
    const char *id;   /* clean, unique among the nodes of the view */
    const char *name; /* the node's, clean */
    bool reference;   /* a small box that stands for the node at one of its uses */
    size_t cluster;   /* the innermost one that it is a member of; 0: none */
    fxs_style style;
    fxs_color head, line; /* fill of the name's row, colour of the table's lines */
    fxs_color ink;        /* of the texts in the name's row, when `inked` */
    bool inked;
    const char *classes; /* more words for SVG and DOT, NULL: none */
    fxs_label label;
    fxs_line tip; /* one clean text, may hold newlines; width is not measured */
} fxs_view_node;

typedef struct fxs_view_edge {
    size_t from, to; /* indices of nodes */
    size_t use;      /* 0 for the first edge between the two, then 1, ... */
    size_t item;     /* the element of the source's result that the target is, FXS_NO_ITEM: none */
    bool tensor;     /* false: one end is known to hold no tensor */
    bool spine;      /* on the main path */
    fxs_line label;  /* FXS_INK_KEY, beside the edge; len 0: none */
} fxs_view_edge;

#define FXS_NO_ITEM SIZE_MAX

/* A piece of the legend: a swatch with a text, a step of a scale, or a text alone. */
typedef struct fxs_legend_item {
    bool swatch, step;
    fxs_color fill, line; /* of the swatch */
    fxs_ink ink;
    fxs_line text; /* len 0: none */
} fxs_legend_item;

typedef struct fxs_legend {
    const fxs_legend_item *items;
    size_t n;
} fxs_legend;

typedef struct fxs_view {
    fxs_arena arena;
    fxs_fonts *fonts; /* borrowed */
    const fxs_theme *theme;
    bool lr;                 /* left to right */
    const char *name;        /* class of the module, clean */
    fxs_line title;          /* len 0: none */
    const char *description; /* one sentence of prose */
    fxs_view_node *nodes;
    size_t nnodes;
    fxs_view_edge *edges; /* by target, then in the order of arguments */
    size_t nedges;
    fxs_view_cluster *clusters; /* NULL while there is none; else the first is the picture */
    size_t nclusters;
    fxs_legend legend;    /* what colours mean */
    double heading_room;  /* points across which title and legend may be written; 0: as wide as the
                             picture */
    bool marks_nonfinite; /* nodes say where NaN and Inf begin */
    const char *note;     /* what the user should know, a line; NULL: nothing */
    size_t nhubs;         /* values that have references, */
    const fxs_node *hub;  /* and the first of them */
} fxs_view;

/* Fills *v (to be freed with fxs_view_free, also after an error). `opt` is checked already. */
fxs_status fxs_view_make(const fxs_module *m, const fxs_draw_options *opt, fxs_fonts *fonts,
                         fxs_view *v);
void fxs_view_free(fxs_view *v);

/* shapes.c: writes what goes along each edge beside it. False: memory is out. */
bool fxs_view_label_edges(fxs_view *v);
/* hubs.c: gives values that are used at more than `limit` places references. */
fxs_status fxs_view_mark_hubs(fxs_view *v, size_t limit);
/* label.c: the label of a reference: the name of what it stands for. */
fxs_status fxs_label_reference(fxs_view *v, fxs_view_node *n);
/* label.c: the label becomes the node's name and nothing else. */
fxs_status fxs_label_name(fxs_view *v, fxs_view_node *n);

/* label.c: fills n->label from n->node: the rows that are asked for and that have something to say.
 */
fxs_status fxs_label_make(fxs_view *v, const fxs_module *root, unsigned rows, fxs_view_node *n);

/* The row of its source's table that shows what an edge carries, where that edge begins; NULL: the
 * table has no row for it alone. */
static inline const fxs_label_row *fxs_edge_row(const fxs_view *v, const fxs_view_edge *e) {
    const fxs_label *l = &v->nodes[e->from].label;
    return e->item < l->nitems ? &l->rows[l->first_item + e->item] : NULL;
}

/* What a text in row `row` of a node is written in. */
static inline fxs_color fxs_view_ink(const fxs_view *v, const fxs_view_node *n, size_t row,
                                     fxs_ink ink) {
    return row == 0 && n->inked ? n->ink : v->theme->ink[ink];
}

#endif
