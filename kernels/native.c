/* native.c: functions of networks under the names that lie below the ones people use, with all
 * their arguments in a row: convolution, native_layer_norm and its kin, grid_sampler;
 * norms by old names; layers whose forward is a few steps. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/embedding.h"
#include "kernels/families.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static fxs_value given(const fxs_compose *k, int i) { return k->call->arg[i]; }

/* ---- convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
 * groups)
 * --------------------------------------------------------------------------------------- */

/* A list of one stands for all dimensions. */
static fxs_value spread(fxs_compose *k, int i, int rank, bool positive, const char *name) {
    int64_t list[FXS_MAX_DIM];
    int n = fxs_arg_ints(k->call, i, list, FXS_MAX_DIM);
    if (n != 1 && n != rank)
        fxs_stop(k, FXS_EINVAL, "expected %s to be one value or a list of %d, but got %d", name,
                 rank, n);
    for (int d = 0; d < n && d < FXS_MAX_DIM; d++)
        if (list[d] < positive)
            fxs_stop(k, FXS_EINVAL, "%s must be %s, but is %lld", name,
                     positive ? "above 0" : "0 or more", (long long)list[d]);
    for (int d = n; n == 1 && d < rank; d++)
        list[d] = list[0];
    return fxs_ints(k, rank, list);
}

static void make_convolution(fxs_compose *k) {
    static const char *const names[2][3] = {
        {"conv1d", "conv2d", "conv3d"},
        {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}};
    fxs_tensor *x = arg(k, 0), *w = arg(k, 1);
    int rank = w->ndim - 2;
    if (rank < 1 || rank > 3 || x->ndim != w->ndim)
        fxs_stop(k, FXS_ESHAPE,
                 "expected input and weight of 3 to 5 dimensions, as many as each other, but got "
                 "%d and %d",
                 x->ndim, w->ndim);
    if (k->status != FXS_OK)
        return;
    if (fxs_is_complex(x->dtype) && fxs_tensor_numel(x))
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    bool transposed = fxs_arg_bool(k->call, 6);
    fxs_value stride = spread(k, 3, rank, true, "stride"),
              padding = spread(k, 4, rank, false, "padding"),
              dilation = spread(k, 5, rank, true, "dilation"),
              more = spread(k, 7, rank, false, "output_padding");
    const char *name = names[transposed][rank - 1];
    fxs_give(k, transposed ? FXS_DO(k, name, fxs_t(x), fxs_t(w), given(k, 2), stride, padding, more,
                                    given(k, 8), dilation)
                           : FXS_DO(k, name, fxs_t(x), fxs_t(w), given(k, 2), stride, padding,
                                    dilation, given(k, 8)));
}
FXS_COMPOSED(convolution)

/* ---- native_layer_norm, native_group_norm, native_batch_norm, native_dropout
 * ------------------------------------------------------ */

/* Mean and 1 / sqrt(variance + eps) over dims of x. */
static void moments(fxs_compose *k, fxs_tensor *x, fxs_value dims, bool keep, double eps,
                    fxs_tensor **mean, fxs_tensor **rstd) {
    if (k->status != FXS_OK)
        return;
    FXS_DO(k, "var_mean", fxs_t(x), dims, fxs_bool(false), fxs_bool(keep));
    fxs_tensor *var = fxs_do_item(k, 0);
    *mean = fxs_do_item(k, 1);
    *rstd = FXS_DO(k, "rsqrt", fxs_t(FXS_DO(k, "add", fxs_t(var), fxs_float(eps))));
}

static fxs_tensor *without_grad(fxs_compose *k, fxs_tensor *t) {
    return FXS_DO(k, "detach", fxs_t(t));
}

/* native_layer_norm(input, normalized_shape, weight, bias, eps) */
static void make_native_layer_norm(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *mean = NULL, *rstd = NULL;
    int64_t shape[FXS_MAX_DIM], dims[FXS_MAX_DIM];
    int n = fxs_arg_ints(k->call, 1, shape, FXS_MAX_DIM);
    fxs_tensor *y =
        FXS_DO(k, "layer_norm", fxs_t(x), given(k, 1), given(k, 2), given(k, 3), given(k, 4));
    for (int i = 0; i < n && i < FXS_MAX_DIM; i++)
        dims[i] = i - n;
    fxs_give(k, y);
    moments(k, x, fxs_ints(k, n, dims), true, fxs_arg_float(k->call, 4), &mean, &rstd);
    fxs_give(k, without_grad(k, mean));
    fxs_give(k, without_grad(k, rstd));
}
FXS_COMPOSED(native_layer_norm)

/* x's memory as [N, C, HxW], whatever its shape: where the channels lie innermost, as [N, HxW, C].
 */
static fxs_tensor *as_planes(fxs_compose *k, fxs_tensor *x, int64_t n, int64_t channels,
                             int64_t area) {
    if (k->status != FXS_OK || !fxs_suggests_channels_last(x))
        return FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, n, channels, area));
    x = FXS_DO(k, "movedim", fxs_t(x), fxs_int(1), fxs_int(-1));
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, n, area, channels));
    return FXS_DO(k, "transpose", fxs_t(x), fxs_int(1), fxs_int(2));
}

/* The other way round: y in the shape and the layout of x. */
static fxs_tensor *as_before(fxs_compose *k, fxs_tensor *y, fxs_tensor *x) {
    if (k->status != FXS_OK || !fxs_suggests_channels_last(x))
        return FXS_DO(k, "view_as", fxs_t(y), fxs_t(x));
    fxs_tensor *moved = FXS_DO(k, "movedim", fxs_t(x), fxs_int(1), fxs_int(-1));
    y = FXS_DO(k, "transpose", fxs_t(y), fxs_int(1), fxs_int(2));
    y = FXS_DO(k, "reshape", fxs_t(y), fxs_ints(k, x->ndim, moved ? moved->sizes : x->sizes));
    return FXS_DO(k, "movedim", fxs_t(y), fxs_int(-1), fxs_int(1));
}

/* y in the memory format of x, which decides where either would do. */
static fxs_tensor *as_formatted(fxs_compose *k, fxs_tensor *y, const fxs_tensor *x) {
    fxs_value format = {.tag = FXS_V_MEMORY_FORMAT,
                        .u.format = x->ndim == 5 ? FXS_CHANNELS_LAST_3D : FXS_CHANNELS_LAST};
    return fxs_suggests_channels_last(x)
               ? FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(y))
               : y;
}

/* Groups of one element, of which group_norm itself makes nothing: their difference from their mean
 * is 0, which leaves the bias of each channel of [1, C, 1, ...]. */
static fxs_tensor *bias_alone(fxs_compose *k, fxs_tensor *y) {
    int64_t sizes[FXS_MAX_DIM];
    fxs_tensor *bias = fxs_arg_tensor(k->call, 2);
    for (int i = 0; y && i < y->ndim; i++)
        sizes[i] = i == 1 ? -1 : 1;
    fxs_tensor *zero = FXS_DO(k, "sub", fxs_t(y), fxs_t(y));
    if (!bias || !zero)
        return zero;
    bias = FXS_DO(k, "reshape", fxs_t(bias), fxs_ints(k, zero->ndim, sizes));
    return FXS_DO(k, "add", fxs_t(zero), fxs_t(bias));
}

/* native_group_norm(input, weight, bias, N, C, HxW, group, eps) */
static void make_native_group_norm(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *mean = NULL, *rstd = NULL;
    int64_t n = fxs_arg_int(k->call, 3), channels = fxs_arg_int(k->call, 4),
            area = fxs_arg_int(k->call, 5), groups = fxs_arg_int(k->call, 6), numel = 0;
    if (n < 0 || channels < 0 || area < 0 || groups <= 0 ||
        __builtin_mul_overflow(n, channels, &numel) ||
        __builtin_mul_overflow(numel, area, &numel) || numel != fxs_tensor_numel(x))
        fxs_stop(k, FXS_ESHAPE, "N, C and HxW do not belong to the input");
    k->any_grad = true;
    if (k->status == FXS_OK && !fxs_tensor_is_contiguous(x) && !fxs_suggests_channels_last(x))
        fxs_stop(k, FXS_EINVAL, "expected a contiguous input");
    bool as_said = x->ndim > 1 && x->sizes[0] == n && x->sizes[1] == channels;
    fxs_tensor *y = as_said ? x : as_planes(k, x, n, channels, area), *planes = y;
    y = numel == groups && numel
            ? bias_alone(k, y)
            : FXS_DO(k, "group_norm", fxs_t(y), given(k, 6), given(k, 1), given(k, 2), given(k, 7));
    fxs_give(k, as_formatted(k, as_said ? y : as_before(k, y, x), x));
    if (k->status != FXS_OK)
        return;
    x = as_said ? x : planes;
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, n, groups, channels / groups * area));
    moments(k, x, fxs_int(2), false, fxs_arg_float(k->call, 7), &mean, &rstd);
    fxs_give(k, mean);
    fxs_give(k, rstd);
}
FXS_COMPOSED(native_group_norm)

/* native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps) */
static void make_native_batch_norm(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *mean = NULL, *rstd = NULL;
    int64_t dims[FXS_MAX_DIM];
    int n = 0;
    fxs_give(k, FXS_DO(k, "batch_norm", given(k, 0), given(k, 3), given(k, 4), given(k, 1),
                       given(k, 2), given(k, 5), given(k, 6), given(k, 7)));
    if (!fxs_arg_bool(k->call, 5)) {
        mean = FXS_DO_NAMED(k, "zeros", "dtype", fxs_of_dtype(x->dtype), FXS_INTS(k, 0));
        fxs_give(k, mean);
        fxs_give(k, mean);
        return;
    }
    for (int i = 0; i < x->ndim; i++)
        if (i != 1)
            dims[n++] = i;
    moments(k, x, fxs_ints(k, n, dims), false, fxs_arg_float(k->call, 7), &mean, &rstd);
    fxs_give(k, without_grad(k, mean));
    fxs_give(k, without_grad(k, rstd));
}
FXS_COMPOSED(native_batch_norm)

/* native_dropout(input, p, train) */
static void make_native_dropout(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *kept;
    double p = fxs_arg_float(k->call, 1);
    bool train = fxs_arg_is_none(k->call, 2) || fxs_arg_bool(k->call, 2);
    if (!(p >= 0 && p <= 1) && train)
        fxs_stop(k, FXS_EINVAL, "dropout probability has to be between 0 and 1, but got %g", p);
    if (fxs_tensor_numel(x) == 0) {
        fxs_give(k, x);
        fxs_give(k, FXS_DO(k, "empty_like", fxs_t(without_grad(k, x))));
        return;
    }
    if (fxs_is_complex(x->dtype) && x->requires_grad)
        fxs_stop(k, FXS_ETYPE, "does not support gradients of complex types");
    if (!train) {
        fxs_give(k, FXS_DO(k, "clone", fxs_t(x)));
        fxs_give(k, FXS_DO_NAMED(k, "ones_like", "dtype", fxs_of_dtype(FXS_BOOL), fxs_t(x)));
        return;
    }
    if (!fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype))
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    kept = FXS_DO_NAMED(k, "rand_like", "dtype", fxs_of_dtype(FXS_FLOAT32), fxs_t(x));
    kept = FXS_DO(k, "ge", fxs_t(kept), fxs_float(p));
    kept = FXS_DO(k, "copy_",
                  fxs_t(FXS_DO_NAMED(k, "empty_like", "dtype", fxs_of_dtype(FXS_BOOL), fxs_t(x))),
                  fxs_t(kept));
    x = FXS_DO(k, "mul", fxs_t(x), fxs_t(kept));
    fxs_give(k, FXS_DO(k, "mul", fxs_t(x), fxs_float(p < 1 ? 1 / (1 - p) : 0)));
    fxs_give(k, kept);
}
FXS_COMPOSED(native_dropout)

/* ---- grids
 * --------------------------------------------------------------------------------------------------------
 */

/* grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners): modes by number */
static void make_sampler(fxs_compose *k, int rank) {
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"}, *const paddings[] = {
                                                                               "zeros", "border",
                                                                               "reflection"};
    int64_t mode = fxs_arg_int(k->call, 2), padding = fxs_arg_int(k->call, 3);
    if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
        fxs_stop(k, FXS_EINVAL, "modes are 0 to 2, but got %lld and %lld", (long long)mode,
                 (long long)padding);
    if (rank && arg(k, 0)->ndim != rank + 2)
        fxs_stop(k, FXS_ESHAPE, "expected an input of %d dimensions, but it has %d", rank + 2,
                 arg(k, 0)->ndim);
    if (k->status == FXS_OK)
        fxs_give(k, FXS_DO(k, "grid_sample", given(k, 0), given(k, 1), fxs_word(k, modes[mode]),
                           fxs_word(k, paddings[padding]), given(k, 4)));
}
static void make_grid_sampler(fxs_compose *k) { make_sampler(k, 0); }
static void make_grid_sampler_2d(fxs_compose *k) { make_sampler(k, 2); }
static void make_grid_sampler_3d(fxs_compose *k) { make_sampler(k, 3); }
FXS_COMPOSED(grid_sampler)
FXS_COMPOSED(grid_sampler_2d)
FXS_COMPOSED(grid_sampler_3d)

/* ---- norms by old names
 * ----------------------------------------------------------------------------------------------------
 */

/* nuclear_norm(self, keepdim), nuclear_norm(self, dim, keepdim) */
static void make_nuclear_norm(fxs_compose *k) {
    bool dims = k->call->nargs == 3;
    if (!dims && arg(k, 0)->ndim != 2)
        fxs_stop(k, FXS_ESHAPE, "expected a tensor with 2 dimensions, but got one with %d",
                 arg(k, 0)->ndim);
    fxs_give(k, FXS_DO(k, "linalg_matrix_norm", given(k, 0), fxs_word(k, "nuc"),
                       dims ? given(k, 1) : FXS_INTS(k, -2, -1), given(k, dims ? 2 : 1)));
}

/* frobenius_norm(self), frobenius_norm(self, dim, keepdim) */
static void make_frobenius_norm(fxs_compose *k) {
    int64_t dims[FXS_MAX_DIM];
    bool some = k->call->nargs == 3;
    if (some && fxs_arg_ints(k->call, 1, dims, FXS_MAX_DIM) > 2)
        fxs_stop(k, FXS_EINVAL, "expected at most 2 dimensions");
    fxs_give(
        k, some ? FXS_DO(k, "linalg_vector_norm", given(k, 0), fxs_int(2), given(k, 1), given(k, 2))
                : FXS_DO(k, "linalg_vector_norm", given(k, 0), fxs_int(2)));
}

/* norm_except_dim(v, pow, dim): a norm for each place along dim, -1: of all */
static void make_norm_except_dim(fxs_compose *k) {
    fxs_tensor *v = arg(k, 0);
    int64_t sizes[FXS_MAX_DIM], dim = fxs_arg_int(k->call, 2);
    if (dim == -1) {
        fxs_give(k, FXS_DO(k, "norm", fxs_t(v), given(k, 1)));
        return;
    }
    if (dim < -1)
        dim += v->ndim;
    if (dim < 0 || dim >= v->ndim) {
        fxs_stop(k, FXS_EINDEX, "dimension %lld is out of range", (long long)dim);
        return;
    }
    for (int i = 0; i < v->ndim; i++)
        sizes[i] =
            i == (dim == v->ndim - 1 && fxs_arg_int(k->call, 2) > 0 ? dim : 0) ? v->sizes[dim] : 1;
    int ndim = v->ndim;
    bool last = dim == ndim - 1 && dim > 0 && fxs_arg_int(k->call, 2) > 0, inner = dim > 0 && !last;
    if (inner)
        v = FXS_DO(k, "transpose", fxs_t(v), fxs_int(0), fxs_int(dim));
    v = FXS_DO(k, "contiguous", fxs_t(v));
    v = FXS_DO(k, "view", fxs_t(v), last ? FXS_INTS(k, -1, sizes[dim]) : FXS_INTS(k, sizes[0], -1));
    v = FXS_DO(k, "norm", fxs_t(v), given(k, 1), fxs_int(last ? 0 : 1));
    v = FXS_DO(k, "view", fxs_t(v), fxs_ints(k, ndim, sizes));
    fxs_give(k, inner ? FXS_DO(k, "transpose", fxs_t(v), fxs_int(0), fxs_int(dim)) : v);
}
FXS_COMPOSED(nuclear_norm)
FXS_COMPOSED(frobenius_norm)
FXS_COMPOSED(norm_except_dim)

/* ---- torch.special
 * ----------------------------------------------------------------------------------------------------------
 */

/* softmax(self, dim, *, dtype): in the dtype, if there is one */
static void make_softmax(fxs_compose *k, const char *op) {
    fxs_tensor *x = arg(k, 0);
    if (!fxs_arg_is_none(k->call, 2))
        x = FXS_DO(k, "to", fxs_t(x), given(k, 2));
    int dim;
    if (k->status == FXS_OK && fxs_tensor_numel(x) == 0 && fxs_is_complex(x->dtype)) {
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 1), x->ndim, &dim);
        if (x->requires_grad)
            fxs_stop(k, FXS_ETYPE, "does not support gradients of complex types");
        fxs_give(k, FXS_DO(k, "empty_like", fxs_t(x)));
        return;
    }
    fxs_give(k, FXS_DO(k, op, fxs_t(x), given(k, 1)));
}
static void make_special_softmax(fxs_compose *k) { make_softmax(k, "softmax"); }
static void make_special_log_softmax(fxs_compose *k) { make_softmax(k, "log_softmax"); }
FXS_COMPOSED(special_softmax)
FXS_COMPOSED(special_log_softmax)

/* ---- CrossMapLRN2d(size, alpha, beta, k): its window goes (size - 1) / 2 channels to both sides,
 * and keeps the first channel for good
 * ----------------------------------------------------------------------------------------- */

static void make_cross_map_lrn(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    int64_t size = fxs_arg_int(k->call, 1), half = size > 0 ? (size - 1) / 2 : 0;
    double alpha = fxs_arg_float(k->call, 2) / (double)(size ? size : 1);
    if (x->ndim != 4 || x->sizes[1] == 0 || size < 1)
        fxs_stop(k, FXS_ESHAPE,
                 "expected an input of 4 dimensions with channels, and a size above "
                 "0");
    if (k->status != FXS_OK)
        return;
    int64_t channels = x->sizes[1], reach = half < channels ? half : channels;
    fxs_tensor *square = FXS_DO(k, "mul", fxs_t(x), fxs_t(x));
    fxs_tensor *sum =
        FXS_DO(k, "constant_pad_nd", fxs_t(square), FXS_INTS(k, 0, 0, 0, 0, reach, reach));
    sum = FXS_DO(k, "unfold", fxs_t(sum), fxs_int(1), fxs_int(2 * reach + 1), fxs_int(1));
    sum = FXS_DO(k, "sum", fxs_t(sum), fxs_int(-1));
    if (half + 1 < channels) { /* what the first channel adds where the window has left it */
        fxs_tensor *first = FXS_DO(k, "narrow", fxs_t(square), fxs_int(1), fxs_int(0), fxs_int(1));
        fxs_tensor *rest = FXS_DO(k, "narrow", fxs_t(sum), fxs_int(1), fxs_int(half + 1),
                                  fxs_int(channels - half - 1));
        fxs_tensor *near =
            FXS_DO(k, "narrow", fxs_t(sum), fxs_int(1), fxs_int(0), fxs_int(half + 1));
        fxs_tensor *both[] = {near, FXS_DO(k, "add", fxs_t(rest), fxs_t(first))};
        sum = FXS_DO(k, "cat", fxs_tensors(k, 2, both), fxs_int(1));
    }
    sum = FXS_DO(k, "add", fxs_t(FXS_DO(k, "mul", fxs_t(sum), fxs_float(alpha))), given(k, 4));
    sum = FXS_DO(k, "pow", fxs_t(sum), fxs_float(-fxs_arg_float(k->call, 3)));
    fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
    fxs_give(k, FXS_DO_NAMED(k, "clone", "memory_format", format,
                             fxs_t(FXS_DO(k, "mul", fxs_t(sum), fxs_t(x)))));
}
FXS_COMPOSED(cross_map_lrn)

/* ---- embedding_renorm_(self, indices, max_norm, norm_type)
 * ------------------------------------------------------------------------------------- */

static fxs_status infer_embedding_renorm(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0), *index = fxs_arg_tensor(c, 1);
    bool any = fxs_tensor_numel(index) == 0; /* no row is scaled */
    if (t->ndim != 2 || (!any && !fxs_is_floating(t->dtype) && !fxs_is_complex(t->dtype)))
        return FXS_REFUSE(c, FXS_ESHAPE, "expected a floating point matrix of weights");
    if (index->dtype != FXS_INT64 && index->dtype != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE, "expected indices of type int32 or int64, not torch.%s",
                          fxs_dtype_name(index->dtype));
    return fxs_out_same(c, fxs_arg_tensor(c, 0));
}

static void make_embedding_renorm(fxs_compose *k) {
    fxs_tensor *w = arg(k, 0), *rows = FXS_DO(k, "unique", given(k, 1));
    fxs_tensor *some = FXS_DO(k, "index_select", fxs_t(w), fxs_int(0), fxs_t(rows));
    some = FXS_DO(k, "renorm", fxs_t(some), given(k, 3), fxs_int(0), given(k, 2));
    FXS_DO(k, "copy_", fxs_t(w),
           fxs_t(FXS_DO(k, "index_copy", fxs_t(w), fxs_int(0),
                        fxs_t(FXS_DO(k, "long", fxs_t(rows))), fxs_t(some))));
}

/* Rows of one element that would be scaled are refused. */
static fxs_status check_stretched(fxs_call *c) {
    const fxs_tensor *w = fxs_arg_tensor(c, 0);
    fxs_work ints = fxs_work_begin(c, FXS_INT64), table = fxs_work_begin(c, w->dtype);
    const int64_t *index = fxs_work_data(&ints, fxs_arg_tensor(c, 1));
    const char *rows = fxs_work_data(&table, fxs_arg_tensor(c, 0));
    size_t size = (size_t)w->sizes[1] * fxs_dtype_size(table.dtype);
    for (int64_t i = 0; i < fxs_arg_numel(c, 1) && ints.status == FXS_OK && table.status == FXS_OK;
         i++) {
        double scale;
        if (index[i] >= 0 && index[i] < w->sizes[0])
            ints.status = fxs_norm_scale(c, w, table.dtype, rows + (size_t)index[i] * size,
                                         fxs_arg_float(c, 3), fxs_arg_float(c, 2), &scale);
    }
    fxs_status s = fxs_work_end(&ints);
    return s != FXS_OK ? s : fxs_work_end(&table);
}

static fxs_status run_embedding_renorm(fxs_call *c) {
    const fxs_tensor *w = fxs_arg_tensor(c, 0);
    if (w->sizes[1] > 1 && w->strides[1] == 0 && fxs_is_floating(w->dtype))
        FXS_TRY(check_stretched(c));
    return fxs_arg_numel(c, 1) ? fxs_compose_run(c, make_embedding_renorm) : FXS_OK;
}

#define PURE FXS_OP_NO_INPLACE
#define ROW(op, schema, spellings)                                                                 \
    { #op, schema, spellings, infer_##op, run_##op, cost_##op, PURE }
#define SAMPLER(op)                                                                                \
    ROW(op,                                                                                        \
        "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "              \
        "align_corners) -> Tensor",                                                                \
        "torch." #op)
#define SOFTMAX(op)                                                                                \
    ROW(op, "(Tensor self, int dim, *, dtype? dtype=None) -> Tensor", "torch._C._special." #op)

const fxs_op fxs_ops_native[] = {
    ROW(convolution,
        "(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
        "bool transposed, int[] output_padding, int groups) -> Tensor",
        "torch.convolution"),
    ROW(native_layer_norm,
        "(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
        "(Tensor, Tensor, Tensor)",
        "torch.native_layer_norm"),
    ROW(native_group_norm,
        "(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) "
        "-> (Tensor, Tensor, Tensor)",
        "torch.native_group_norm"),
    ROW(native_batch_norm,
        "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "torch.native_batch_norm"),
    {"native_dropout", "(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
     "torch.native_dropout", infer_native_dropout, run_native_dropout, cost_native_dropout,
     PURE | FXS_OP_RANDOM},
    SAMPLER(grid_sampler),
    SAMPLER(grid_sampler_2d),
    SAMPLER(grid_sampler_3d),
    ROW(nuclear_norm, "(Tensor self, bool keepdim=False) -> Tensor", "torch.nuclear_norm"),
    ROW(nuclear_norm, "(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
        "torch.nuclear_norm"),
    ROW(frobenius_norm, "(Tensor self) -> Tensor", "torch.frobenius_norm"),
    ROW(frobenius_norm, "(Tensor self, int|int[] dim, bool keepdim=False) -> Tensor",
        "torch.frobenius_norm"),
    ROW(norm_except_dim, "(Tensor v, int pow=2, int dim=0) -> Tensor", "torch.norm_except_dim"),
    SOFTMAX(special_softmax),
    SOFTMAX(special_log_softmax),
    ROW(cross_map_lrn, "(Tensor input, int size, float alpha, float beta, float k) -> Tensor",
        NULL),
    {"embedding_renorm_",
     "(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
     "torch.embedding_renorm_", infer_embedding_renorm, run_embedding_renorm, NULL,
     PURE | FXS_OP_WRITES_SELF | FXS_OP_COMPLEX},
    {0},
};
#undef PURE
#undef ROW
#undef SAMPLER
#undef SOFTMAX

const fxs_module_row fxs_modules_native[] = {
    {.name = "CrossMapLRN2d",
     .hyper = "size, alpha=0.0001, beta=0.75, k=1",
     .call = "cross_map_lrn(input, size, alpha, beta, k)",
     .repr = "size, alpha=, beta=, k="},
    {.name = "GaussianNLLLoss",
     .hyper = "full=False, eps=1e-06, reduction='mean'",
     .call = "gaussian_nll_loss(input, target, var, full=full, eps=eps, reduction=reduction)",
     .repr = "",
     .forward = "input, target, var"},
    {.name = "PoissonNLLLoss",
     .hyper = "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, "
              "reduction='mean'",
     .call = "poisson_nll_loss(log_input, target, log_input=self.log_input, full=full, "
             "size_average=size_average, eps=eps, reduce=reduce, reduction=reduction)",
     .repr = "",
     .forward = "log_input, target"},
    {0},
};
