/* lines.h: work along one dimension: each line of a tensor is copied out, worked on, and what it
 * gives is put at its place in the outputs. Shared by max with indices, sort, median and the
 * running sums. */
#ifndef FXS_KERNELS_LINES_H
#define FXS_KERNELS_LINES_H

#include "kernels/iterate.h"

/* One element and where it was: f of float types, i of the others, so that both are exact. */
typedef struct fxs_entry {
    double f;
    int64_t i, index;
} fxs_entry;

typedef struct fxs_lines fxs_lines;
/* Works on the n entries of a line and puts results with fxs_put_entry. */
typedef void fxs_line_fn(const fxs_lines *l, fxs_entry *e, int64_t n, int64_t line);

struct fxs_lines {
    const fxs_tensor *in;
    fxs_tensor *values, *indices; /* outputs; either may be NULL */
    int dim;                      /* -1: the whole tensor is one line */
    bool real;                    /* entries are in f: input and values are floats */
    bool descending;
    int64_t k; /* how many results a line has; for those who need it */
    fxs_line_fn *fn;
    fxs_entry *scratch; /* of each thread, `step` entries apart */
    int64_t step;
    int64_t n;
};

/* Fills in, real, n and scratch, and runs l->fn over every line of argument 0, in parallel. */
fxs_status fxs_lines_run(fxs_call *c, fxs_lines *l);
/* Puts an entry as result j of a line. */
void fxs_put_entry(const fxs_lines *l, int64_t line, int64_t j, const fxs_entry *e);
/* Above 0 when a is greater; a NaN is greater than any number. */
int fxs_entry_order(const fxs_lines *l, const fxs_entry *a, const fxs_entry *b);
/* Sorts by value, then by index; descending when the lines say so. */
void fxs_sort_entries(const fxs_lines *l, fxs_entry *e, int64_t n);
/* The dimension in argument i; a tensor without dimensions has one for it. */
fxs_status fxs_line_dim(fxs_call *c, int i, int *dim);

#endif
