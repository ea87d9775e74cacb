/* op.h: the operator row, the single source of truth of an operator, and the call that its
 * functions work on. Rows stand at the bottom of the files in kernels/, in tables that
 * kernels/families.c lists. Nothing else knows an operator: adding one touches one file. Must not
 * know nodes or graphs. */
#ifndef FXS_OP_OP_H
#define FXS_OP_OP_H

#include "base/ctx.h"
#include "base/tensor.h"
#include "base/value.h"

typedef struct fxs_op fxs_op;
typedef struct fxs_call fxs_call;

/* Formulas stand beside each cost function. A multiply and an add are two FLOPs; a comparison, an
 * exp or a division is one. */
typedef struct fxs_cost {
    double flops;
    double bytes_read, bytes_written; /* filled by the caller from the tensors when both are 0 */
} fxs_cost;

typedef fxs_status fxs_infer_fn(fxs_call *c);
typedef fxs_status fxs_kernel_fn(fxs_call *c);
typedef fxs_cost fxs_cost_fn(const fxs_call *c);

enum {
    FXS_OP_NO_GRAD =
        1, /* results never require grad (detach, comparisons need no mark: they are bool) */
    FXS_OP_POINTWISE = 2, /* out[i] depends on in[i] alone: the kernel may run with an output in the
                             place of an input */
    FXS_OP_RANDOM = 4,    /* draws from c->seed */
    FXS_OP_NO_INPLACE = 8, /* there is no form with a trailing underscore */
    FXS_OP_WRITES_SELF =
        16, /* writes its first argument whatever its spelling (setitem, copy_): infer returns it */
    FXS_OP_IDLE_IN_EVAL = 32, /* outside training its result is its first argument (dropout) */
    FXS_OP_GRAD_OF_SELF =
        64, /* only the first argument can make results require grad (x.expand_as(y)) */
    FXS_OP_GRAD_EACH =
        128, /* result i requires grad when tensor i of the first argument does (meshgrid) */
    FXS_OP_OVER_INPUT =
        256,              /* the kernel may write its output over its first argument, row by row */
    FXS_OP_COMPLEX = 512, /* computes complex64 and complex128 too */
    FXS_OP_STRETCHED = 1024, /* in place it takes a stretched tensor too */
    FXS_OP_RESIZES = 2048,   /* in place it gives the tensor the shape of the result */
    FXS_OP_REAL_GRAD = 4096  /* PyTorch can't differentiate it by complex numbers */
};
/* Two flags with one bit would say of an operator what is not so: all thirteen add up to all
 * thirteen bits.
 */
_Static_assert(FXS_OP_NO_GRAD + FXS_OP_POINTWISE + FXS_OP_RANDOM + FXS_OP_NO_INPLACE +
                       FXS_OP_WRITES_SELF + FXS_OP_IDLE_IN_EVAL + FXS_OP_GRAD_OF_SELF +
                       FXS_OP_GRAD_EACH + FXS_OP_OVER_INPUT + FXS_OP_COMPLEX + FXS_OP_STRETCHED +
                       FXS_OP_RESIZES + FXS_OP_REAL_GRAD ==
                   8191,
               "each flag has a bit of its own");

/* One operator.
 *   .schema  PyTorch's signature syntax, e.g. "(Tensor input, int[2] stride=1, *, bool
 * inplace=False) -> Tensor". Types: Tensor Tensor[] int int[] int[N] float Scalar bool str dtype
 * device layout memory_format any number; T? may be None; A|B either; `int... name` an int[] that
 * may also be given as separate arguments, as in x.view(2, -1). int[N] given one int is N times
 * that int. "Scalar" is a bool, int, float or complex; "number" the same without bool or complex.
 * A default of None where T is not optional: the argument may be left out, but None is not taken.
 * An argument named `inplace` makes the call in-place when true. .torch   Every spelling under
 * which a graph may call it, separated by spaces: qualified names as torch.fx prints them
 * (torch.conv2d, torch._C._nn.linear, operator.add, builtins.getattr), and Tensor.NAME for methods.
 *            For each Tensor.NAME and torch.NAME the in-place form with a trailing underscore is
 * understood too. A spelling that is in place without an underscore is marked: operator.iadd!
 *            Several rows may share a spelling (overloads): they are tried in the order of the
 * tables, and the first whose schema fits is taken. */
struct fxs_op {
    const char *name, *schema, *torch;
    fxs_infer_fn *infer;
    fxs_kernel_fn *kernel; /* NULL: a pure view, or a result without tensors */
    fxs_cost_fn *cost;     /* NULL: moves or looks, but computes nothing (0 FLOPs) */
    unsigned flags;
};

enum { FXS_MAX_ARGS = 32 };

struct fxs_call {
    fxs_ctx *ctx;
    const fxs_op *op;
    const char *spelling; /* how it was called; NULL: by the row's name, as layers do */
    const fxs_value *
        arg; /* bound and defaulted, in the schema's order; int[N] are lists of N ints. Borrowed. */
    int nargs;
    bool meta;          /* tensors may lack storage; the kernel will not run */
    bool train;         /* modules behave as in train mode */
    bool in_place;      /* the output is to be the first argument itself */
    bool wants_grad;    /* requires_grad=True was given */
    uint64_t seed;      /* for FXS_OP_RANDOM: differs from node to node */
    fxs_arena *scratch; /* reset after the call */

    /* What infer fills, by fxs_out_*: tensors in order; or `result` for everything else. */
    fxs_tensor **out;
    fxs_tensor *few[4]; /* where out lies while that is enough */
    int nout, out_cap;
    bool out_list;          /* several outputs come as a list, not a tuple */
    bool out_tuple;         /* a tuple even when there is one output or none (chunk, unbind) */
    unsigned constants;     /* a bit for each output that never requires grad, whatever goes in */
    const char *tuple_name; /* as a named tuple: "torch.return_types.max" */
    fxs_value
        result; /* set by infer when the result is no tensor and no plain sequence of tensors */
    bool has_result;
    bool knows_grad; /* infer has marked which outputs require grad */
};

/* ---- for infer
 * ---------------------------------------------------------------------------------------- */

/* A new output, strides NULL: contiguous. requires_grad is set by the caller of infer. */
fxs_status fxs_out_new(fxs_call *c, fxs_dtype dtype, int ndim, const int64_t *sizes,
                       const int64_t *strides);
/* A view of t as an output: change sizes, strides and offset of *view (may be NULL when there is
 * nothing to change). */
fxs_status fxs_out_view(fxs_call *c, fxs_tensor *t, fxs_tensor **view);
/* t itself as an output (x.contiguous() of a contiguous x). */
fxs_status fxs_out_same(fxs_call *c, fxs_tensor *t);
/* A result that is no tensor. Takes over the reference. */
fxs_status fxs_out_value(fxs_call *c, fxs_value v);
/* fxs_fail with the operator's name in front. */
#define FXS_REFUSE(c, status, ...) fxs_op_refuse((c), (status), __VA_ARGS__)
fxs_status fxs_op_refuse(fxs_call *c, fxs_status s, const char *fmt, ...) FXS_PRINTF(3, 4);
/* dim counted from the end when negative; refuses what is not in -ndim..ndim-1 (ndim 0 counts as
 * 1). */
fxs_status fxs_wrap_dim(fxs_call *c, int64_t dim, int ndim, int *out);

/* ---- arguments (i is the position in the schema); the schema has checked the types
 * ---------------------- */

static inline bool fxs_arg_is_none(const fxs_call *c, int i) { return c->arg[i].tag == FXS_V_NONE; }
/* NULL when the argument is None or no tensor. */
static inline fxs_tensor *fxs_arg_tensor(const fxs_call *c, int i) {
    return c->arg[i].tag == FXS_V_TENSOR ? c->arg[i].u.tensor : NULL;
}
bool fxs_arg_bool(const fxs_call *c, int i);
/* Was it called as torch.nn.functional does, or by a layer? Functionals check more than operators.
 */
bool fxs_is_functional(const fxs_call *c);
int64_t fxs_arg_int(const fxs_call *c, int i);
double fxs_arg_float(const fxs_call *c, int i); /* of a bool, int or float; a None is 0 */
const char *fxs_arg_str(const fxs_call *c, int i);
/* Copies an int list (an int counts as a list of one); returns the number of items, at most max are
 * copied. */
int fxs_arg_ints(const fxs_call *c, int i, int64_t *out, int max);
/* Item k of a Tensor[] argument; NULL when it is None. */
fxs_tensor *fxs_arg_tensor_at(const fxs_call *c, int i, int k);
int fxs_arg_len(const fxs_call *c, int i);
/* Tensor elements: numel of an argument, 0 when it is no tensor. */
int64_t fxs_arg_numel(const fxs_call *c, int i);

/* ---- tables
 * -------------------------------------------------------------------------------------------- */

/* What a reader of a picture tells apart; op/group.c says which a node belongs to. X(NAME, class in
 * pictures, what legends say) */
#define FXS_GROUP_MAP(X)                                                                           \
    X(OTHER, "other", "other")                                                                     \
    X(CONVOLUTION, "convolution", "convolution")                                                   \
    X(LINEAR, "linear", "linear, matmul")                                                          \
    X(NORM, "norm", "normalisation")                                                               \
    X(ACTIVATION, "activation", "activation")                                                      \
    X(POOLING, "pooling", "pooling, resampling")                                                   \
    X(ATTENTION, "attention", "attention, recurrent")                                              \
    X(ELEMENTWISE, "elementwise", "elementwise")                                                   \
    X(SHAPE, "shape", "shape, view")                                                               \
    X(REDUCE, "reduce", "reduction")                                                               \
    X(INDEX, "index", "index, embedding")                                                          \
    X(CREATE, "create", "creation, random")                                                        \
    X(LOSS, "loss", "loss")

typedef enum fxs_group {
#define X(name, class, text) FXS_GROUP_##name,
    FXS_GROUP_MAP(X)
#undef X
        FXS_GROUP_COUNT
} fxs_group;

typedef struct fxs_module_row fxs_module_row;
typedef struct fxs_family {
    const char *name;              /* "convolution": for `fxscope ops` */
    const fxs_op *ops;             /* ends with a row without name; may be NULL */
    const fxs_module_row *modules; /* the same */
    fxs_group group;               /* of all its rows but the few that op/group.c lists */
} fxs_family;

/* Ends with a family without name; defined in kernels/families.c. */
FXS_API extern const fxs_family fxs_families[];

#endif
