/* iterate.h: the machinery of operators that work element by element: the common type of tensors
 * and numbers, the broadcast shape, the strides that PyTorch's TensorIterator gives the result, and
 * the loop that runs a function over chunks of operands. Called by the families of pointwise
 * operators; knows none of them. */
#ifndef FXS_KERNELS_ITERATE_H
#define FXS_KERNELS_ITERATE_H

#include "base/vector.h"
#include "op/op.h"

enum { FXS_MAX_OPERANDS = 4 };

/* Tensors, and numbers that count as tensors without dimensions. Borrowed. */
typedef struct fxs_operands {
    int n;
    fxs_value v[FXS_MAX_OPERANDS];
} fxs_operands;

/* Arguments first to first + n - 1. */
fxs_operands fxs_operands_of(const fxs_call *c, int first, int n);

/* ---- for infer
 * ---------------------------------------------------------------------------------------- */

/* torch.result_type: tensors with dimensions outrank those without, and these outrank numbers. */
fxs_dtype fxs_common_type(const fxs_operands *o);
/* The same, but an integer or bool type becomes float32. */
fxs_dtype fxs_common_float(const fxs_operands *o);
/* Refuses types that kernels can't read: quantised ones, and complex ones where the row is not
 * marked FXS_OP_COMPLEX. */
fxs_status fxs_check_computable(fxs_call *c, fxs_dtype d);
/* The common shape of the operands. */
fxs_status fxs_broadcast(fxs_call *c, const fxs_operands *o, int *ndim, int64_t *sizes);
/* The common shape of two shapes; `what` as in "tensor a" and "tensor b" is added by the message.
 */
fxs_status fxs_broadcast_sizes(fxs_call *c, int *ndim, int64_t *sizes, int other_ndim,
                               const int64_t *other);
/* A new output of the common shape, with the strides that TensorIterator chooses. */
fxs_status fxs_out_pointwise(fxs_call *c, const fxs_operands *o, fxs_dtype dtype);
/* The order of dimensions that TensorIterator derives from n operands' strides (of the common
 * shape; 0 where they are broadcast), as strides of a new tensor. */
void fxs_iterator_strides(int ndim, const int64_t *sizes, int n, int64_t (*operands)[FXS_MAX_DIM],
                          int64_t *strides);
/* The same strides for a shape that is known: t's sizes and strides as one operand alone. */
fxs_status fxs_out_like(fxs_call *c, const fxs_tensor *t, fxs_dtype dtype);
/* The same as fxs_out_like, of an operation of t with a number that PyTorch makes a tensor of. */
fxs_status fxs_out_with_number(fxs_call *c, const fxs_tensor *t, fxs_dtype dtype);
/* The strides that fxs_out_like, or fxs_out_with_number, would give: of what PyTorch computes on
 * the way. */
fxs_status fxs_iterated_strides(fxs_call *c, const fxs_tensor *t, bool with_number,
                                int64_t *strides);
/* Strides of empty_like(t): t's own when they are dense, else the same order of dimensions made
 * dense. */
void fxs_strides_like(const fxs_tensor *t, int64_t *strides);
/* t's elements fill a block of memory, each once, in whatever order. */
bool fxs_is_dense(const fxs_tensor *t);

/* ---- for kernels
 * -------------------------------------------------------------------------------------- */

/* out[i] = f(in[0][i], in[1][i], ...) for n elements in a row. out may be one of the inputs. */
typedef void fxs_loop_fn(int64_t n, void *out, const void *const *in, const void *user);

/* A function in the types that computing is done in: float for float32, float16 and bfloat16;
 * double for float64; int64_t for integers and bool; double complex for complex64 and complex128,
 * of rows that are marked FXS_OP_COMPLEX. NULL where the common type can't be one. A predicate
 * writes uint8_t. */
typedef struct fxs_loops {
    fxs_loop_fn *f32, *f64, *i64;
    bool predicate;
    fxs_loop_fn *c128;
} fxs_loops;

/* Converts the operands to `common`, runs the function of its type, and converts to out's type. */
fxs_status fxs_loop_run(fxs_call *c, fxs_tensor *out, const fxs_loops *loops,
                        const fxs_operands *in, fxs_dtype common, const void *user);

/* What elements of a type are computed in: FXS_FLOAT32, FXS_FLOAT64, FXS_INT64 or FXS_COMPLEX128.
 */
fxs_dtype fxs_compute_type(fxs_dtype d);
/* n elements of type t that lie `step` bytes apart, converted to such a type, into a buffer. */
void fxs_load_chunk(fxs_dtype compute, void *buffer, fxs_dtype t, const char *s, int64_t step,
                    int64_t n);

/* One FLOP for each element of the output. */
fxs_cost_fn fxs_cost_one;

#endif
