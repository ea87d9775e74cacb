/* micro.h: the innermost loop of float32 products: a few rows times one panel of columns, in
 * registers. There is one for each kind of vectors; the processor decides. Called by panels.c. */
#ifndef FXS_KERNELS_MICRO_H
#define FXS_KERNELS_MICRO_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FXS_MICRO_DEPTH = 256,                 /* most steps of one call */
    FXS_MICRO_STEP = FXS_MICRO_DEPTH + 16, /* from row to row of `a`: no power of two, so that
                                              the rows do not share places in the cache */
    FXS_MICRO_ROWS = 12,
    FXS_MICRO_TILE = 32 /* of the largest one */
};

/* c[r, i] (+)= sum over k < depth of a[r * FXS_MICRO_STEP + k] * panel[k * tile + i]; i counts to
 * the tile, or to its half. */
typedef void fxs_micro_fn(const float *a, const float *panel, int64_t depth, float *c,
                          int64_t c_row, bool add);

/* out[r] = sum over k < depth of a[r * FXS_MICRO_STEP + k] * x[k], r < rows: one column. */
typedef void fxs_dots_fn(const float *a, const float *x, int64_t rows, int64_t depth, float *out);

typedef struct fxs_micro {
    int rows, tile;                /* most rows at once; columns of a panel */
    fxs_micro_fn *const (*run)[2]; /* [rows - 1][whole tile] */
    fxs_dots_fn *dots;             /* any number of rows */
    bool (*here)(void);            /* can this processor do it? */
} fxs_micro;

/* From the fastest to the one that every processor can do; ends with a row without functions. */
extern const fxs_micro fxs_micros[];
/* The fastest that this processor can do. */
const fxs_micro *fxs_micro_here(void);
/* For tests: the one that is used from now on; NULL: the fastest again. */
void fxs_micro_use(const fxs_micro *m);

#endif
