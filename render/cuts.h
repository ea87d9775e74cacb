/* cuts.h: where a picture can be cut: the gaps between boxes, the curves that cross a line, and
 * good places for cuts. Knows no engine, reads places alone. Used by columns.c, canvas_png.c and
 * pages.c. Along y when `along_x` is false: a cut is then a horizontal line. */
#ifndef FXS_RENDER_CUTS_H
#define FXS_RENDER_CUTS_H

#include "scene.h"

/* A stretch along which no box and no label is. */
typedef struct fxs_gap {
    double low, high;
} fxs_gap;

typedef struct fxs_crossing {
    double at; /* across the cut: x for a horizontal one */
    size_t edge;
    bool forward; /* towards greater coordinates */
} fxs_crossing;

/* The gaps of what lies in the area, in their order, between its first and last box or label. They
 * live in the arena, as all results here. */
fxs_status fxs_cut_gaps(const fxs_scene *s, bool along_x, const fxs_area *in, fxs_arena *a,
                        fxs_gap **out, size_t *n);
/* Where curves cross the cut at `at` within the area, in the order of `at`, then of edges. */
fxs_status fxs_cut_crossings(const fxs_scene *s, bool along_x, double at, const fxs_area *in,
                             fxs_arena *a, fxs_crossing **out, size_t *n);
/* How many lines are seen there: curves that share a line count once. */
size_t fxs_cut_lines(const fxs_crossing *c, size_t n);
/* How many frames begin before and end behind it. */
size_t fxs_cut_frames(const fxs_scene *s, bool along_x, double at, const fxs_area *in);
/* Cuts the area into pieces of at most `limit`: where the fewest boxes are cut, then where few
 * lines are, then as late as possible. *cuts is n + 1 places, the area's ends included, for n
 * pieces; *boxes gets how many boxes and labels are cut in spite of that. */
fxs_status fxs_cut_pieces(const fxs_scene *s, bool along_x, const fxs_area *in, double limit,
                          fxs_arena *a, double **cuts, size_t *n, size_t *boxes);

/* The parameters at which a cubic curve crosses the line, ascending; at most 3. */
size_t fxs_bezier_crossings(const fxs_point p[4], bool along_x, double at, double t[3]);
/* Splits a cubic curve in two, which may lie over p. */
void fxs_bezier_split(const fxs_point p[4], double t, fxs_point first[4], fxs_point second[4]);

/* Points behind a box, where lines still run straight. Cuts are at no round place: lines and boxes
 * are, and none shall run along a cut. */
#define FXS_CUT_NEAR 0.87
#define FXS_SAME_LINE 0.5 /* points: curves as near as that are seen as one line */

#endif
