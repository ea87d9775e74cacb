/* resize.c: what changes the sizes of a tensor itself, or what memory it looks at: resize_
 * resize_as_ set_. What PyTorch leaves unwritten when memory grows is 0 here. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/format.h"
#include "kernels/view.h"
#include "kernels/view_dims.h"

/* ---- sizes
 * ---------------------------------------------------------------------------------------------------
 */

/* Memory for all that t reaches: what it has, or more with the same start. Memory that other
 * tensors look at can't move. */
static fxs_status reach(fxs_call *c, fxs_tensor *t) {
    int64_t last = t->offset;
    size_t size = fxs_dtype_size(t->dtype);
    if (!t->storage || fxs_tensor_numel(t) == 0)
        return FXS_OK;
    for (int i = 0; i < t->ndim; i++)
        last += (t->sizes[i] - 1) * t->strides[i];
    size_t need = ((size_t)last + 1) * size, have = t->storage->bytes;
    if (need <= have)
        return FXS_OK;
    if (t->storage->refs > 1)
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "%zu bytes are more than the %zu of the tensor's memory, which can't grow "
            "while other tensors are views of it: clone() the tensor before",
            need, have);
    fxs_storage *more = fxs_storage_new(c->ctx->blocks, need);
    if (!more)
        return fxs_fail_memory(c->ctx);
    memcpy(more->data, t->storage->data, have);
    memset((char *)more->data + have, 0, need - have);
    fxs_storage_unref(t->storage);
    t->storage = more;
    return FXS_OK;
}

/* self gets sizes, lying row by row or as the format says; what has them already stays as it lies
 * when there is no format. */
static fxs_status resize(fxs_call *c, int ndim, const int64_t *sizes, fxs_value format) {
    fxs_tensor *self = fxs_arg_tensor(c, 0), *made, before = *self;
    bool same = self->ndim == ndim &&
                (ndim == 0 || memcmp(self->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0);
    if (self->requires_grad)
        return FXS_REFUSE(c, FXS_EINVAL, "cannot resize variables that require grad");
    FXS_TRY(fxs_tensor_make(c->ctx, self->dtype, ndim, sizes, NULL, &made));
    fxs_status s = FXS_OK;
    if (format.tag == FXS_V_MEMORY_FORMAT)
        s = fxs_format_strides(c, format.u.format, ndim, sizes, made->strides);
    if (s == FXS_OK && (!same || format.tag == FXS_V_MEMORY_FORMAT)) {
        self->ndim = ndim;
        memcpy(self->sizes, made->sizes, sizeof self->sizes);
        memcpy(self->strides, made->strides, sizeof self->strides);
        s = reach(c, self);
    }
    fxs_tensor_unref(made);
    if (s == FXS_OK)
        return fxs_out_same(c, self);
    self->ndim = before.ndim; /* it is what it was */
    memcpy(self->sizes, before.sizes, sizeof self->sizes);
    memcpy(self->strides, before.strides, sizeof self->strides);
    return s;
}

/* resize_(size, *, memory_format) */
static fxs_status infer_resize_(fxs_call *c) {
    fxs_shape s;
    FXS_TRY(fxs_arg_shape(c, 1, &s));
    if (c->arg[2].tag == FXS_V_MEMORY_FORMAT && c->arg[2].u.format == FXS_PRESERVE)
        return FXS_REFUSE(c, FXS_EINVAL, "torch.preserve_format says nothing of new sizes");
    return resize(c, s.ndim, s.sizes, c->arg[2]);
}

/* resize_as_(the_template, *, memory_format): preserve_format is that of the template */
static fxs_status infer_resize_as_(fxs_call *c) {
    const fxs_tensor *like = fxs_arg_tensor(c, 1);
    fxs_value format = c->arg[2];
    if (format.tag == FXS_V_MEMORY_FORMAT && format.u.format == FXS_PRESERVE)
        format.u.format = fxs_suggested_format(like);
    return resize(c, like->ndim, like->sizes, format);
}

/* ---- set_
 * -----------------------------------------------------------------------------------------------------
 */

/* self looks at what the tensor looks at; it keeps whether it requires grad, and gains it. */
static fxs_status look_at(fxs_call *c, const fxs_tensor *t) {
    fxs_tensor *self = fxs_arg_tensor(c, 0);
    fxs_storage *old = self->storage;
    if (t->dtype != self->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "a tensor of torch.%s can't look at one of torch.%s",
                          fxs_dtype_name(self->dtype), fxs_dtype_name(t->dtype));
    self->storage = t->storage ? fxs_storage_ref(t->storage) : NULL;
    self->ndim = t->ndim;
    self->offset = t->offset;
    self->requires_grad |= t->requires_grad;
    memcpy(self->sizes, t->sizes, sizeof self->sizes);
    memcpy(self->strides, t->strides, sizeof self->strides);
    if (old)
        fxs_storage_unref(old);
    return fxs_out_same(c, self);
}

static fxs_status infer_set(fxs_call *c) { return look_at(c, fxs_arg_tensor(c, 1)); }

/* set_(): nothing is left. */
static fxs_status infer_set_nothing(fxs_call *c) {
    fxs_tensor *empty, *self = fxs_arg_tensor(c, 0);
    bool already = self->ndim == 1 && self->sizes[0] == 0; /* then its stride stays */
    FXS_TRY(fxs_tensor_make(c->ctx, self->dtype, 1, (int64_t[]){0}, already ? self->strides : NULL,
                            &empty));
    fxs_status s = self->storage ? fxs_tensor_allocate(c->ctx, empty) : FXS_OK;
    if (s == FXS_OK)
        s = look_at(c, empty);
    fxs_tensor_unref(empty);
    return s;
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)
#define FORMAT ", *, memory_format? memory_format=None) -> Tensor"

const fxs_op fxs_ops_resize[] = {
    {"resize_", "(Tensor self, int... size" FORMAT, "Tensor.resize_!", infer_resize_, NULL, NULL,
     PURE},
    {"resize_as_", "(Tensor self, Tensor the_template" FORMAT,
     "Tensor.resize_as_! torch.resize_as_!", infer_resize_as_, NULL, NULL,
     PURE | FXS_OP_GRAD_OF_SELF},
    {"set_", "(Tensor self, Tensor source) -> Tensor", "Tensor.set_!", infer_set, NULL, NULL, PURE},
    {"set_", "(Tensor self) -> Tensor", "Tensor.set_!", infer_set_nothing, NULL, NULL, PURE},
    {0},
};
#undef PURE
#undef FORMAT
