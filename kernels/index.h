/* index.h: Python's x[...] as a view and a list of index tensors: what getitem and setitem share.
 */
#ifndef FXS_KERNELS_INDEX_H
#define FXS_KERNELS_INDEX_H

#include "op/op.h"

/* One index tensor for one dimension of the view. */
typedef struct fxs_index {
    int dim, ndim;
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM];
    fxs_dtype dtype;
    const void *data; /* NULL in META mode */
} fxs_index;

/* x after the ints, slices, Nones and the ellipsis of an index; the index tensors are left to be
 * applied. */
typedef struct fxs_indexing {
    fxs_tensor view; /* a struct over the storage of x; not counted */
    int nindex;
    fxs_index index[FXS_MAX_DIM];
    /* The result of applying them: the index tensors' common shape stands at `at`, in the place of
     * their dimensions. */
    int ndim, at, common_ndim;
    int64_t sizes[FXS_MAX_DIM], common[FXS_MAX_DIM];
} fxs_indexing;

/* Reads an index as it stands in Python's brackets. */
fxs_status fxs_read_index(fxs_call *c, fxs_tensor *x, const fxs_value *index, fxs_indexing *out);
/* Strides of the result of x[index] with index tensors, as TensorIterator gives them. */
void fxs_indexed_strides(const fxs_indexing *ix, int64_t *strides);
/* Copies between view[index] and `other`, which has the result's shape: into `other`, or out of it
 * when `put`. */
fxs_status fxs_index_copy(fxs_call *c, fxs_indexing *ix, fxs_tensor *other, bool put);

/* ---- unique_consecutive, as torch.functional has it: which results it gives is decided by the
 * places where other arguments stand; of what was not asked for it gives an empty tensor, or along
 * a dimension what it is. */
typedef enum fxs_unique_how {
    FXS_UNIQUE_NAMED,   /* as asked: return_inverse and return_counts have their names */
    FXS_UNIQUE_COUNTS,  /* return_inverse without a name, return_counts with one: that decides */
    FXS_UNIQUE_INVERSE, /* return_inverse without a name alone: asks for counts */
    FXS_UNIQUE_PLACED   /* both without names: each asks for the other's */
} fxs_unique_how;

/* ROW(arguments, how) for each, in the order of the kinds: rows of those with and without a dim. */
#define FXS_CONSECUTIVE_FUNCTIONS(ROW)                                                             \
    ROW("*, bool return_inverse=False, bool return_counts=False, ", consecutive)                   \
    ROW("bool return_inverse, *, bool return_counts, ", consecutive_counts)                        \
    ROW("bool return_inverse, *, ", consecutive_inverse)                                           \
    ROW("bool return_inverse, bool return_counts, ", consecutive_placed)

typedef struct fxs_unique_want {
    bool inverse, counts; /* results that are given */
    bool unasked;         /* one, which was not asked for */
} fxs_unique_want;

/* The flags stand at `at` and behind it. */
fxs_unique_want fxs_unique_wanted(const fxs_call *c, fxs_unique_how how, int at);

#endif
