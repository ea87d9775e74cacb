/* linalg_norm.c: norms of matrices: linalg_matrix_norm, and linalg_norm, which is that or a
 * vector's norm. Sums are reductions; the norms of order 2, -2 and 'nuc' are made of singular
 * values. */
#include "kernels/linalg_norm.h"

#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/linalg.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

fxs_status fxs_check_order_dtype(fxs_call *c, const fxs_tensor *t, const fxs_value *dtype) {
    if (!fxs_is_floating(t->dtype) && !fxs_is_complex(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected a floating point or complex tensor as input, got torch.%s",
                          fxs_dtype_name(t->dtype));
    if (dtype->tag != FXS_V_DTYPE)
        return FXS_OK;
    fxs_dtype d = dtype->u.dtype;
    if (fxs_is_complex(d) != fxs_is_complex(t->dtype) || fxs_promote(t->dtype, d) != d)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "torch.%s can't hold the norm of torch.%s without narrowing",
                          fxs_dtype_name(d), fxs_dtype_name(t->dtype));
    return FXS_OK;
}

/* How singular values make a norm; NULL: they do not. */
static const char *fold_of_values(const char *name, double order) {
    if (name)
        return strcmp(name, "nuc") == 0 ? "sum" : NULL;
    return order == 2 ? "amax" : order == -2 ? "amin" : NULL;
}

/* The two dimensions are moved to the end; what is left of them, when it is kept, back. */
static fxs_tensor *by_values(fxs_compose *k, fxs_tensor *x, const char *fold, const int *dim,
                             bool keep) {
    int64_t order[FXS_MAX_DIM], back[FXS_MAX_DIM];
    int n = 0, ndim = x->ndim;
    for (int i = 0; i < ndim; i++)
        if (i != dim[0] && i != dim[1])
            order[n++] = i;
    order[n++] = dim[0], order[n++] = dim[1];
    for (int i = 0; i < ndim; i++)
        back[order[i]] = i;
    x = FXS_DO(k, "permute", fxs_t(x), fxs_ints(k, ndim, order));
    x = FXS_DO(k, "linalg_svdvals", fxs_t(x));
    x = FXS_DO(k, fold, fxs_t(x), fxs_int(-1), fxs_bool(keep));
    if (!keep)
        return x;
    x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(-1));
    return FXS_DO(k, "permute", fxs_t(x), fxs_ints(k, ndim, back));
}

/* The largest or smallest sum of absolute values along one dimension. */
static fxs_tensor *by_sums(fxs_compose *k, fxs_tensor *x, double order, const int *dim, bool keep) {
    int along = isinf(order) ? dim[1] : dim[0], across = isinf(order) ? dim[0] : dim[1];
    if (across > along && !keep)
        across--;
    x = FXS_DO(k, "linalg_vector_norm", fxs_t(x), fxs_int(1), fxs_ints(k, 1, (int64_t[]){along}),
               fxs_bool(keep));
    return FXS_DO(k, order > 0 ? "amax" : "amin", fxs_t(x), fxs_int(across), fxs_bool(keep));
}

static bool read_dims(fxs_compose *k, const fxs_tensor *x, const fxs_value *dims, int *dim) {
    for (size_t i = 0; i < 2 && k->status == FXS_OK; i++) {
        const fxs_value *v = fxs_value_item(dims, i);
        k->status = fxs_wrap_dim(k->call, v && v->tag == FXS_V_INT ? v->u.i : 0, x->ndim, &dim[i]);
    }
    if (k->status == FXS_OK && dim[0] == dim[1])
        fxs_stop(k, FXS_EINVAL, "dims must be different");
    return k->status == FXS_OK;
}

/* A's norm of that order over two dimensions. */
static fxs_tensor *matrix_norm(fxs_compose *k, fxs_tensor *x, const fxs_value *ord,
                               const fxs_value *dims, bool keep, const fxs_value *dtype) {
    const char *name = fxs_value_text(ord);
    double order = ord->tag == FXS_V_INT       ? (double)ord->u.i
                   : ord->tag == FXS_V_FLOAT   ? ord->u.f
                   : ord->tag == FXS_V_COMPLEX ? ord->u.c[0]
                                               : ord->tag == FXS_V_BOOL && ord->u.b;
    int dim[2];
    if (x->ndim < 2 || (!fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype)))
        fxs_stop(k, FXS_ETYPE,
                 "expected matrices of a floating point or complex type, but got torch.%s of %d "
                 "dimensions",
                 fxs_dtype_name(x->dtype), x->ndim);
    if (ord->tag == FXS_V_COMPLEX && ord->u.c[1] != 0)
        fxs_stop(k, FXS_ETYPE, "the order can't be complex");
    if (k->status == FXS_OK)
        k->status = fxs_check_order_dtype(k->call, x, dtype);
    if (fxs_value_len(dims) != 2)
        fxs_stop(k, FXS_EINVAL, "dim must be a 2-tuple");
    if (k->status != FXS_OK || !read_dims(k, x, dims, dim))
        return NULL;
    if (dtype->tag == FXS_V_DTYPE)
        x = FXS_DO(k, "to", fxs_t(x), *dtype);
    if (name && strcmp(name, "fro") == 0)
        return FXS_DO(k, "linalg_vector_norm", fxs_t(x), fxs_int(2), FXS_INTS(k, dim[0], dim[1]),
                      fxs_bool(keep));
    const char *fold = fold_of_values(name, order);
    if (fold && k->status == FXS_OK)
        return by_values(k, x, fold, dim, keep);
    if (!name && (fabs(order) == 1 || isinf(order)) && k->status == FXS_OK)
        return by_sums(k, x, order, dim, keep);
    if (name)
        fxs_stop(k, FXS_EINVAL, "order '%s' is not supported", name);
    else
        fxs_stop(k, FXS_EINVAL, "order %g is not supported", order);
    return NULL;
}

/* (self, ord='fro', dim=[-2, -1], keepdim, dtype) */
static void make_linalg_matrix_norm(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_give(k, matrix_norm(k, arg(k, 0), &a[1], &a[2], fxs_arg_bool(k->call, 3), &a[4]));
}

/* (self, ord=None, dim=None, keepdim, dtype): a matrix's when two dimensions and an order are meant
 */
static void make_linalg_norm(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_tensor *x = arg(k, 0);
    bool given = a[2].tag != FXS_V_NONE, ordered = a[1].tag != FXS_V_NONE;
    size_t dims = a[2].tag == FXS_V_INT ? 1 : given ? fxs_value_len(&a[2]) : (size_t)x->ndim;
    if (ordered && given && dims != 1 && dims != 2)
        fxs_stop(k, FXS_EINVAL, "if dim is specified, it must be of length 1 or 2, not %zu", dims);
    if (ordered && !given && dims != 1 && dims != 2)
        fxs_stop(k, FXS_EINVAL,
                 "if dim is not specified but ord is, the input must be 1D or 2D, not %dD",
                 x->ndim);
    if (ordered && (dims == 2 || fxs_value_text(&a[1]))) {
        fxs_value both = FXS_INTS(k, 0, 1);
        fxs_give(k, k->status == FXS_OK ? matrix_norm(k, x, &a[1], given ? &a[2] : &both,
                                                      fxs_arg_bool(k->call, 3), &a[4])
                                        : NULL);
        return;
    }
    fxs_value order = ordered ? a[1] : fxs_int(2);
    fxs_give(k, FXS_DO_NAMED(k, "linalg_vector_norm", "dtype", a[4], fxs_t(x), order, a[2], a[3]));
}

/* torch.norm(self, 'nuc', dim, keepdim, [out,] dtype) */
static void make_nuclear(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_value nuclear = fxs_word(k, "nuc"), both = FXS_INTS(k, 0, 1), none = fxs_none();
    fxs_tensor *x = arg(k, 0);
    if (k->call->nargs && a[k->call->nargs - 1].tag == FXS_V_DTYPE)
        fxs_stop(k, FXS_EINVAL, "the nuclear norm takes no dtype");
    if (k->status == FXS_OK && a[2].tag == FXS_V_NONE && x->ndim != 2)
        fxs_stop(k, FXS_ESHAPE, "expected a tensor with 2 dimensions, but got %d", x->ndim);
    if (k->status == FXS_OK)
        fxs_give(k, matrix_norm(k, x, &nuclear, a[2].tag == FXS_V_NONE ? &both : &a[2],
                                fxs_arg_bool(k->call, 3),
                                k->call->nargs ? &a[k->call->nargs - 1] : &none));
}

FXS_COMPOSED(linalg_matrix_norm)
FXS_COMPOSED(linalg_norm)
FXS_COMPOSED_FREE(nuclear)

fxs_status fxs_nuclear_infer(fxs_call *c) { return infer_nuclear(c); }
fxs_status fxs_nuclear_run(fxs_call *c) { return run_nuclear(c); }

#define LINALG(name) "torch._C._linalg.linalg_" name

const fxs_op fxs_ops_linalg_norm[] = {
    {"linalg_matrix_norm",
     "(Tensor self, Scalar|str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, dtype? "
     "dtype=None) -> Tensor",
     LINALG("matrix_norm"), infer_linalg_matrix_norm, run_linalg_matrix_norm,
     cost_linalg_matrix_norm, FXS_OP_NO_INPLACE},
    {"linalg_norm",
     "(Tensor self, Scalar|str? ord=None, int|int[]? dim=None, bool keepdim=False, *, dtype? "
     "dtype=None) -> Tensor",
     LINALG("norm"), infer_linalg_norm, run_linalg_norm, cost_linalg_norm, FXS_OP_NO_INPLACE},
    {0},
};
