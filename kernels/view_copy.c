/* view_copy.c: what views show, as tensors of their own: view_copy transpose_copy select_copy and
 * the like, which PyTorch puts in the place of views where no memory may be shared. Each takes the
 * arguments of its view, whose row makes it. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/iterate.h"

/* slice_copy(self, dim, start, end, step): a view that only x[start:end:step] has otherwise */
static fxs_tensor *slice(fxs_compose *k) {
    const fxs_call *c = k->call;
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM], step = fxs_arg_int(c, 4);
    int dim = 0;
    if (t->ndim == 0)
        fxs_stop(k, FXS_ESHAPE, "a 0-dim tensor has no slices");
    if (step <= 0)
        fxs_stop(k, FXS_EINVAL, "the step must be positive, but is %lld", (long long)step);
    if (k->status == FXS_OK)
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(c, 1), t->ndim, &dim);
    if (k->status != FXS_OK)
        return NULL;
    int64_t size = t->sizes[dim], bound[2] = {0, size};
    for (int i = 0; i < 2; i++) {
        int64_t x = fxs_arg_is_none(c, 2 + i) ? bound[i] : fxs_arg_int(c, 2 + i);
        x = x < 0 ? x + size : x;
        bound[i] = x < 0 ? 0 : x > size ? size : x;
    }
    memcpy(sizes, t->sizes, sizeof sizes);
    memcpy(strides, t->strides, sizeof strides);
    sizes[dim] = bound[1] > bound[0] ? (bound[1] - bound[0] - 1) / step + 1 : 0;
    int64_t offset = t->offset + bound[0] * strides[dim];
    if (__builtin_mul_overflow(strides[dim], step, &strides[dim]))
        strides[dim] = t->strides[dim]; /* one element: the stride is never taken */
    return FXS_DO(k, "as_strided", fxs_t(t), fxs_ints(k, t->ndim, sizes),
                  fxs_ints(k, t->ndim, strides), fxs_int(offset));
}

/* The row whose view is copied, and how many of the arguments it takes. What view can't show as it
 * lies is copied anyway: reshape. */
static const char *view_of(const fxs_call *c, char *name, size_t *nargs) {
    size_t n = strlen(c->op->name) - strlen("_copy");
    memcpy(name, c->op->name, n);
    name[n] = '\0';
    bool stretches = strcmp(name, "expand") == 0; /* `implicit` says nothing about the result */
    *nargs = stretches ? 2 : (size_t)c->nargs;
    return strcmp(name, "view") == 0 && c->arg[1].tag != FXS_V_DTYPE ? "reshape" : name;
}

enum { NAME = 48 }; /* longer than any row's name here */

/* The view, or several: fxs_do_item. */
static fxs_tensor *look(fxs_compose *k) {
    const fxs_call *c = k->call;
    char name[NAME];
    size_t n;
    if (strcmp(c->op->name, "slice_copy") == 0)
        return slice(k);
    if (strcmp(c->op->name, "alias_copy") == 0 || strcmp(c->op->name, "detach_copy") == 0)
        return fxs_arg_tensor(c, 0);
    const char *op = view_of(c, name, &n);
    return fxs_do(k, op, n, c->arg);
}

static fxs_status end(fxs_compose *k, fxs_status s) {
    if (k->status != FXS_OK && k->status != FXS_ENOMEM)
        fxs_fail_where(k->call->ctx, "%s", k->call->op->name);
    fxs_status own = fxs_compose_end(k);
    return own != FXS_OK ? own : s;
}

static fxs_status promise(fxs_call *c, const fxs_tensor *v) {
    int64_t strides[FXS_MAX_DIM];
    fxs_strides_like(v, strides);
    return fxs_out_new(c, v->dtype, v->ndim, v->sizes, strides);
}

/* PyTorch knows no gradient of a complex copy, but that of detach_copy, which is a copy like any.
 */
static fxs_status infer_copy(fxs_call *c) {
    fxs_compose k = {.call = c, .meta = true};
    const fxs_tensor *v = look(&k);
    if (v && k.status == FXS_OK && fxs_is_complex(v->dtype) &&
        strcmp(c->op->name, "detach_copy") != 0 && fxs_arg_tensor(c, 0)->requires_grad)
        fxs_stop(&k, FXS_ETYPE, "does not support gradients of torch.%s", fxs_dtype_name(v->dtype));
    return end(&k, v && k.status == FXS_OK ? promise(c, v) : FXS_OK);
}

static fxs_status run_copy(fxs_call *c) {
    fxs_compose k = {.call = c};
    const fxs_tensor *v = look(&k);
    if (v && k.status == FXS_OK)
        fxs_tensor_copy(c->ctx, c->out[0], v);
    return end(&k, FXS_OK);
}

/* The same of views that come as a list. */
static fxs_status infer_copies(fxs_call *c) {
    fxs_compose k = {.call = c, .meta = true};
    fxs_status s = FXS_OK;
    const fxs_tensor *v;
    look(&k);
    for (int i = 0; s == FXS_OK && (v = fxs_do_item(&k, i)); i++)
        s = promise(c, v);
    c->out_tuple = true;
    return end(&k, s);
}

static fxs_status run_copies(fxs_call *c) {
    fxs_compose k = {.call = c};
    look(&k);
    for (int i = 0; k.status == FXS_OK && i < c->nout; i++)
        fxs_tensor_copy(c->ctx, c->out[i], fxs_do_item(&k, i));
    return end(&k, FXS_OK);
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)
#define ROW(name, arguments)                                                                       \
    { #name, "(" arguments ") -> Tensor", "torch." #name, infer_copy, run_copy, NULL, PURE }
#define LIST(name, arguments)                                                                      \
    { #name, "(" arguments ") -> Tensor[]", "torch." #name, infer_copies, run_copies, NULL, PURE }

const fxs_op fxs_ops_view_copy[] = {
    ROW(alias_copy, "Tensor self"),
    ROW(detach_copy, "Tensor self"),
    {"view_copy", "(Tensor self, dtype dtype) -> Tensor", "torch.view_copy", infer_copy, run_copy,
     NULL, PURE | FXS_OP_NO_GRAD},
    ROW(view_copy, "Tensor self, int[] size"),
    ROW(expand_copy, "Tensor self, int[] size, *, bool implicit=False"),
    ROW(permute_copy, "Tensor self, int[] dims"),
    ROW(transpose_copy, "Tensor self, int dim0, int dim1"),
    ROW(t_copy, "Tensor self"),
    ROW(squeeze_copy, "Tensor self"),
    ROW(squeeze_copy, "Tensor self, int dim"),
    ROW(unsqueeze_copy, "Tensor self, int dim"),
    ROW(select_copy, "Tensor self, int dim, int index"),
    ROW(slice_copy, "Tensor self, int dim=0, int? start=None, int? end=None, int step=1"),
    ROW(diagonal_copy, "Tensor self, int offset=0, int dim1=0, int dim2=1"),
    ROW(unfold_copy, "Tensor self, int dimension, int size, int step"),
    ROW(as_strided_copy, "Tensor self, int[] size, int[] stride, int? storage_offset=None"),
    ROW(view_as_real_copy, "Tensor self"),
    ROW(view_as_complex_copy, "Tensor self"),
    LIST(split_copy, "Tensor self, int split_size, int dim=0"),
    LIST(split_with_sizes_copy, "Tensor self, int[] split_sizes, int dim=0"),
    LIST(unbind_copy, "Tensor self, int dim=0"),
    {0},
};
#undef PURE
#undef ROW
#undef LIST
