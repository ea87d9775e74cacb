/* areas.h: points and areas of a picture, and which of many areas touch a part of it: found without
 * a look at all of them, since numbers that are close are mostly close in the picture too. */
#ifndef FXS_RENDER_AREAS_H
#define FXS_RENDER_AREAS_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct fxs_point {
    double x, y;
} fxs_point;

typedef struct fxs_area {
    fxs_point low, high;
} fxs_area;

/* An area without a point, an area with one more point, an area with all of another, an area with a
 * margin; whether two touch. */
fxs_area fxs_area_none(void);
void fxs_area_reach(fxs_area *a, double x, double y);
void fxs_area_join(fxs_area *a, const fxs_area *other);
fxs_area fxs_area_grown(fxs_area a, double by);
bool fxs_area_touches(const fxs_area *a, const fxs_area *b);

enum { FXS_AREAS_BLOCK = 16, FXS_AREAS_LEVELS = 16 };

/* Areas by number, then what blocks of them cover, then blocks of blocks. All zero: there are none.
 */
typedef struct fxs_areas {
    fxs_area *level[FXS_AREAS_LEVELS]; /* level 0: the areas themselves */
    size_t n, nlevels;
} fxs_areas;

/* Room for n areas, which the caller writes into level[0]; fxs_areas_close after that. False when
 * memory is out. */
bool fxs_areas_open(fxs_areas *t, size_t n, fxs_arena *a);
void fxs_areas_close(fxs_areas *t);
/* The first number from `from` on whose area touches `in`; t->n: there is none. So all of them, in
 * their order: FXS_AREAS_EACH. */
size_t fxs_areas_next(const fxs_areas *t, const fxs_area *in, size_t from);

/* for each number i, ascending, whose area of t touches `in` */
#define FXS_AREAS_EACH(i, t, in)                                                                   \
    for (size_t i = fxs_areas_next(&(t), &(in), 0); i < (t).n;                                     \
         i = fxs_areas_next(&(t), &(in), i + 1))

#endif
