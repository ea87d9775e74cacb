/* scene.h: what is drawn and where: boxes that point to their tables, curves, title, size. Made by
 * a layout engine, read by the canvases. Points, y downwards, the picture's top left corner at 0, 0
 * once fxs_scene_finish was called. */
#ifndef FXS_RENDER_SCENE_H
#define FXS_RENDER_SCENE_H

#include "areas.h"
#include "view.h"

typedef struct fxs_box {
    double x, y; /* top left corner; the size is the label's */
} fxs_box;

/* A chain of cubic Bezier curves (3k + 1 points; 0: not drawn), then an arrow from the last point
 * to the tip. */
typedef struct fxs_curve {
    fxs_point *points;
    size_t n;
    fxs_point tip;
    fxs_point label; /* left end of the baseline of the edge's label; x is NAN when it is not shown,
                        as where edges run in one line and the first one shows it */
    fxs_area area;   /* what it covers, arrow and line width included; by fxs_scene_finish */
} fxs_curve;

/* A text that belongs to no node. */
typedef struct fxs_note {
    fxs_ink ink;
    fxs_line line;
    fxs_point at; /* left end of the baseline */
} fxs_note;

typedef struct fxs_scene {
    fxs_arena arena;
    const fxs_view *view;
    fxs_box *boxes;    /* one for each node of the view */
    fxs_curve *curves; /* one for each edge of the view */
    fxs_area *frames;  /* one for each cluster of the view; the first, and that of a cluster for
                          which there is no frame, are empty: low is high */
    bool over;         /* edges are drawn over boxes, not under them */
    fxs_area *bars;    /* of a chart, which has no nodes */
    fxs_note *notes;
    size_t nbars, nnotes;
    fxs_area *swatches;      /* one for each piece of the legend; empty: it has none, */
    fxs_point *swatch_texts; /* and the left ends of their texts' baselines */
    double w, h;
    fxs_point title;  /* left end of the baseline */
    fxs_area heading; /* title and legend; empty: low is high */
    /* Where each node, edge (its label included) and cluster's frame is, by fxs_scene_finish. */
    fxs_areas node_areas, edge_areas, frame_areas;
} fxs_scene;

/* Starts a scene with all places zero; fxs_scene_free also after an error. */
fxs_status fxs_scene_new(const fxs_view *v, fxs_scene *s);
void fxs_scene_free(fxs_scene *s);
/* An engine's coordinates become the picture's: margin, room for the title, size. What is moved
 * after that needs it again. FXS_OK or FXS_ENOMEM. */
fxs_status fxs_scene_finish(fxs_scene *s);
/* What stands in the picture beside nodes, edges and frames, one for each i: the heading, bars and
 * notes of a chart; false behind the last. */
bool fxs_scene_other(const fxs_scene *s, size_t i, fxs_area *out);
/* Where a node's box is, where an edge's label is. */
fxs_area fxs_scene_box(const fxs_scene *s, size_t node);
fxs_area fxs_scene_label(const fxs_scene *s, size_t edge);
bool fxs_label_shown(const fxs_scene *s, size_t edge);
bool fxs_frame_shown(const fxs_area *frame);
/* Left end of the baseline of a frame's label. */
fxs_point fxs_frame_label(const fxs_area *frame);
enum { FXS_FRAME_PAD = 8, FXS_FRAME_HEAD = 18 }; /* free inside of a frame; above, for its label */

/* The nearest coordinate at which a line of one pixel covers whole pixels, when a point is `scale`
 * pixels. */
double fxs_grid(double x, double scale);
/* The three corners of a curve's arrow: tip, then the two ends of its base. */
void fxs_curve_arrow(const fxs_curve *c, fxs_point corner[3]);
enum { FXS_ARROW_LENGTH = 7 }; /* what dot leaves free with arrowsize 0.7 */

#endif
