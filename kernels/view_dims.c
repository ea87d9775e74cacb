/* view_dims.c: views that reorder, add and drop dimensions: permute transpose movedim squeeze
 * unsqueeze and the attributes T and mT. No memory moves. */
#include "kernels/view_dims.h"
#include "kernels/complex.h"

#include <string.h>

/* Output: dimension i of the view is dimension perm[i] of t. */
static fxs_status out_permuted(fxs_call *c, fxs_tensor *t, const int *perm) {
    fxs_tensor *v;
    FXS_TRY(fxs_out_view(c, t, &v));
    for (int i = 0; i < t->ndim; i++) {
        v->sizes[i] = t->sizes[perm[i]];
        v->strides[i] = t->strides[perm[i]];
    }
    return FXS_OK;
}

static fxs_status out_swapped(fxs_call *c, fxs_tensor *t, int a, int b) {
    int perm[FXS_MAX_DIM] = {0};
    for (int i = 0; i < t->ndim; i++)
        perm[i] = i == a ? b : i == b ? a : i;
    return out_permuted(c, t, perm);
}

fxs_status fxs_look_of_self(fxs_call *c) {
    fxs_tensor *self = fxs_arg_tensor(c, 0), *v = c->out[0];
    if (!c->in_place)
        return FXS_OK;
    self->ndim = v->ndim;
    memcpy(self->sizes, v->sizes, sizeof self->sizes);
    memcpy(self->strides, v->strides, sizeof self->strides);
    self->offset = v->offset;
    c->out[0] = fxs_tensor_ref(self);
    fxs_tensor_unref(v);
    return FXS_OK;
}

static fxs_status infer_permute(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t dims[FXS_MAX_DIM];
    int perm[FXS_MAX_DIM] = {0}, n = fxs_arg_ints(c, 1, dims, FXS_MAX_DIM);
    bool seen[FXS_MAX_DIM] = {false};
    if (n != t->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE, "the tensor has %d dimensions, but the ordering has %d",
                          t->ndim, n);
    for (int i = 0; i < n; i++) {
        FXS_TRY(fxs_wrap_dim(c, dims[i], n, &perm[i]));
        if (seen[perm[i]])
            return FXS_REFUSE(c, FXS_EINVAL, "dimension %d stands twice in the ordering", perm[i]);
        seen[perm[i]] = true;
    }
    return out_permuted(c, t, perm);
}

static fxs_status infer_transpose(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int a, b;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), t->ndim, &a));
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 2), t->ndim, &b));
    FXS_TRY(out_swapped(c, t, a, b));
    return fxs_look_of_self(c);
}

/* t(): a matrix is transposed, a vector stays. */
static fxs_status infer_t(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t->ndim > 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "expects a tensor with <= 2 dimensions, but it has %d",
                          t->ndim);
    FXS_TRY(out_swapped(c, t, 0, t->ndim - 1));
    return fxs_look_of_self(c);
}

fxs_status fxs_out_reversed_dims(fxs_call *c, fxs_tensor *t) {
    int perm[FXS_MAX_DIM] = {0};
    for (int i = 0; i < t->ndim; i++)
        perm[i] = t->ndim - 1 - i;
    return out_permuted(c, t, perm);
}

fxs_status fxs_out_matrix_transposed(fxs_call *c, fxs_tensor *t) {
    if (t->ndim == 0)
        return fxs_out_view(c, t, NULL);
    if (t->ndim < 2)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "mT is only supported on matrices or batches of matrices, not on %d dimensions",
            t->ndim);
    return out_swapped(c, t, t->ndim - 2, t->ndim - 1);
}

/* PyTorch turns the signs of complex numbers when the view is read; here a copy has its strides. */
fxs_status fxs_adjoint_infer(fxs_call *c) {
    FXS_TRY(fxs_out_matrix_transposed(c, fxs_arg_tensor(c, 0)));
    fxs_tensor *view = c->out[0];
    if (!fxs_is_complex(view->dtype))
        return FXS_OK;
    c->nout = 0;
    fxs_status s = fxs_out_new(c, view->dtype, view->ndim, view->sizes, view->strides);
    fxs_tensor_unref(view);
    return s;
}

fxs_status fxs_adjoint_run(fxs_call *c) {
    fxs_tensor *out = c->out[0], turned = *fxs_arg_tensor(c, 0);
    if (!fxs_is_complex(out->dtype))
        return FXS_OK;
    memcpy(turned.sizes, out->sizes, sizeof turned.sizes);
    for (int i = 0, n = turned.ndim; n > 1 && i < 2; i++)
        turned.strides[n - 2 + i] = fxs_arg_tensor(c, 0)->strides[n - 1 - i];
    fxs_tensor_copy(c->ctx, out, &turned);
    fxs_conjugate(out);
    return FXS_OK;
}

/* movedim(source, destination): the others keep their order. */
static fxs_status infer_movedim(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t from[FXS_MAX_DIM], to[FXS_MAX_DIM];
    int perm[FXS_MAX_DIM] = {0}, n = fxs_arg_ints(c, 1, from, FXS_MAX_DIM), at = 0;
    bool taken[FXS_MAX_DIM] = {false}, moved[FXS_MAX_DIM] = {false};
    if (n != fxs_arg_ints(c, 2, to, FXS_MAX_DIM) || n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "source and destination must have the same number of dimensions");
    for (int i = 0; i < n; i++) {
        int a, b;
        FXS_TRY(fxs_wrap_dim(c, from[i], t->ndim, &a));
        FXS_TRY(fxs_wrap_dim(c, to[i], t->ndim, &b));
        if (moved[a] || taken[b])
            return FXS_REFUSE(c, FXS_EINVAL, "a dimension stands twice in source or destination");
        moved[a] = taken[b] = true;
        perm[b] = a;
    }
    for (int i = 0; i < t->ndim; i++) {
        if (moved[i])
            continue;
        while (taken[at])
            at++;
        perm[at++] = i;
    }
    return out_permuted(c, t, perm);
}

/* ---- squeeze and unsqueeze
 * ----------------------------------------------------------------------------- */

static fxs_status infer_squeeze(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    int dim = -1;
    if (!fxs_arg_is_none(c, 1))
        FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), t->ndim, &dim));
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (t->sizes[i] == 1 && (dim < 0 || dim == i))
            continue;
        v->sizes[v->ndim] = t->sizes[i];
        v->strides[v->ndim++] = t->strides[i];
    }
    return fxs_look_of_self(c);
}

static fxs_status infer_unsqueeze(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), t->ndim + 1, &dim));
    if (t->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim++;
    for (int i = t->ndim; i > dim; i--) {
        v->sizes[i] = t->sizes[i - 1];
        v->strides[i] = t->strides[i - 1];
    }
    v->sizes[dim] = 1;
    v->strides[dim] = dim < t->ndim ? t->sizes[dim] * t->strides[dim] : 1;
    return fxs_look_of_self(c);
}

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_view_dims[] = {
    {"permute", "(Tensor self, int... dims) -> Tensor", "Tensor.permute torch.permute",
     infer_permute, NULL, NULL, PURE},
    {"transpose", "(Tensor self, int dim0, int dim1) -> Tensor",
     "Tensor.transpose torch.transpose Tensor.swapaxes torch.swapaxes Tensor.swapdims "
     "torch.swapdims",
     infer_transpose, NULL, NULL, 0},
    {"t", "(Tensor self) -> Tensor", "Tensor.t torch.t", infer_t, NULL, NULL, 0},
    {"adjoint", "(Tensor self) -> Tensor", "Tensor.adjoint torch.adjoint", fxs_adjoint_infer,
     fxs_adjoint_run, NULL, PURE | FXS_OP_COMPLEX},
    {"movedim", "(Tensor self, int|int[] source, int|int[] destination) -> Tensor",
     "Tensor.movedim torch.movedim Tensor.moveaxis torch.moveaxis", infer_movedim, NULL, NULL,
     PURE},
    {"squeeze", "(Tensor self) -> Tensor", "Tensor.squeeze torch.squeeze", infer_squeeze, NULL,
     NULL, 0},
    {"squeeze", "(Tensor self, int dim) -> Tensor", "Tensor.squeeze torch.squeeze", infer_squeeze,
     NULL, NULL, 0},
    {"unsqueeze", "(Tensor self, int dim) -> Tensor", "Tensor.unsqueeze torch.unsqueeze",
     infer_unsqueeze, NULL, NULL, 0},
    {0},
};
#undef PURE
