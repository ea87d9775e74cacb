/* dot.h: the view in the DOT language. The same attributes steer the layout in layout_dot.c, so
 * that stock dot arranges the text as fxscope arranges the picture. Needs no Graphviz header. */
#ifndef FXS_RENDER_DOT_H
#define FXS_RENDER_DOT_H

#include "view.h"

typedef enum fxs_dot_class { FXS_DOT_GRAPH, FXS_DOT_NODE, FXS_DOT_EDGE } fxs_dot_class;

/* What decides about places, ended by a row without name. */
typedef struct fxs_dot_attribute {
    fxs_dot_class class;
    const char *name, *value;
} fxs_dot_attribute;
extern const fxs_dot_attribute fxs_dot_layout[];

/* Of the edges of the main path, which dot keeps straight then. Edges that are not drawn between
 * the nodes that everything passes, with ten times the weight, made pictures wider on every network
 * (ResNet-50 by a quarter), and dot slower. */
#define FXS_DOT_SPINE_WEIGHT "10"

enum { FXS_POINTS_PER_INCH = 72 };

/* Writes the whole file. Node sizes are the labels' sizes. */
void fxs_dot_write(const fxs_view *v, fxs_buf *out);

#endif
