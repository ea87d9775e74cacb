/* create_data.c: tensor, as_tensor, asarray, new_tensor, scalar_tensor: tensors from Python's
 * numbers and lists of them. */
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "kernels/python.h"
#include "kernels/work.h"

static bool is_list(const fxs_value *v) { return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE; }

typedef struct nest {
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    fxs_dtype dtype; /* of all the numbers together */
    bool any;
} nest;

static fxs_status look(fxs_call *c, const fxs_value *v, int depth, nest *n) {
    if (is_list(v)) {
        if (depth == FXS_MAX_DIM)
            return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
        if (depth == n->ndim && !n->any)
            n->sizes[n->ndim++] = (int64_t)fxs_value_len(v);
        if (depth >= n->ndim || n->sizes[depth] != (int64_t)fxs_value_len(v))
            return FXS_REFUSE(c, FXS_EINVAL, "expected sequences of equal length at dim %d", depth);
        for (size_t i = 0; i < fxs_value_len(v); i++)
            FXS_TRY(look(c, fxs_value_item(v, i), depth + 1, n));
        n->any |= fxs_value_len(v) == 0;
        return FXS_OK;
    }
    fxs_operands one = {.n = 1, .v = {*v}};
    fxs_number number;
    if (depth != n->ndim)
        return FXS_REFUSE(c, FXS_EINVAL, "expected a sequence of length %lld at dim %d",
                          (long long)n->sizes[depth], depth);
    if (v->tag == FXS_V_UNKNOWN || (v->tag == FXS_V_TENSOR && !v->u.tensor->storage))
        return FXS_REFUSE(c, FXS_EUNKNOWN, "a value is not known without computing it");
    if (!fxs_number_of(v, &number) && v->tag != FXS_V_COMPLEX)
        return FXS_REFUSE(c, FXS_ETYPE, "could not infer dtype of %s", fxs_value_type_name(v));
    fxs_dtype d = fxs_common_type(&one);
    n->dtype = n->any ? fxs_promote(n->dtype, d) : d;
    n->any = true;
    return FXS_OK;
}

static void put(const fxs_value *v, fxs_tensor *t, int64_t *at) {
    char *p = (char *)fxs_tensor_data(t) + *at * (int64_t)fxs_dtype_size(t->dtype);
    for (size_t i = 0; is_list(v) && i < fxs_value_len(v); i++)
        put(fxs_value_item(v, i), t, at);
    if (!is_list(v) && fxs_store_value(t->dtype, p, v))
        ++*at;
}

/* The values are known in META mode too, and so is the tensor: it is filled here, and needs no
 * kernel. */
static fxs_status out_data(fxs_call *c, const fxs_value *data, int dtype_at, fxs_dtype otherwise) {
    nest n = {.dtype = FXS_FLOAT32};
    int64_t at = 0;
    FXS_TRY(look(c, data, 0, &n));
    fxs_dtype d = fxs_dtype_arg(c, dtype_at, otherwise == FXS_DTYPE_COUNT ? n.dtype : otherwise);
    FXS_TRY(fxs_check_computable(c, d));
    FXS_TRY(fxs_out_new(c, d, n.ndim, n.sizes, NULL));
    FXS_TRY(fxs_tensor_allocate(c->ctx, c->out[0]));
    put(data, c->out[0], &at);
    return FXS_OK;
}

/* tensor(data, dtype): of a tensor a copy. */
static fxs_status infer_tensor(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t)
        return fxs_out_new(c, fxs_dtype_arg(c, 1, t->dtype), t->ndim, t->sizes, NULL);
    return out_data(c, &c->arg[0], 1, FXS_DTYPE_COUNT);
}

/* as_tensor(data, dtype): a tensor of that type stays itself. */
static fxs_status infer_as_tensor(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t && fxs_dtype_arg(c, 1, t->dtype) == t->dtype)
        return fxs_out_same(c, t);
    return infer_tensor(c);
}

/* asarray(obj, *, dtype, device, copy, requires_grad): a view of a tensor of that type, which
 * requires grad only when that is asked for; else a copy that lies as it does. */
static fxs_status infer_asarray(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    int64_t strides[FXS_MAX_DIM];
    bool must = c->arg[3].tag == FXS_V_BOOL && c->arg[3].u.b,
         never = c->arg[3].tag == FXS_V_BOOL && !must;
    if (!t && never)
        return FXS_REFUSE(c, FXS_EINVAL, "can't alias a sequence into a tensor");
    if (!t)
        return out_data(c, &c->arg[0], 1, FXS_DTYPE_COUNT);
    fxs_dtype d = fxs_dtype_arg(c, 1, t->dtype);
    if (d != t->dtype && never)
        return FXS_REFUSE(c, FXS_EINVAL, "can't alias a tensor of torch.%s into torch.%s",
                          fxs_dtype_name(t->dtype), fxs_dtype_name(d));
    if (d != t->dtype || must) {
        fxs_strides_like(t, strides);
        return fxs_out_new(c, d, t->ndim, t->sizes, strides);
    }
    FXS_TRY(fxs_out_view(c, t, &v));
    v->requires_grad = false;
    return FXS_OK;
}

/* new_tensor(self, data, dtype) */
static fxs_status infer_new_tensor(fxs_call *c) {
    return out_data(c, &c->arg[1], 2, fxs_arg_tensor(c, 0)->dtype);
}

static fxs_status infer_scalar_tensor(fxs_call *c) {
    FXS_TRY(fxs_check_fits(c, 0, fxs_dtype_arg(c, 1, FXS_FLOAT32)));
    return out_data(c, &c->arg[0], 1, FXS_FLOAT32);
}

static fxs_status run_tensor(fxs_call *c) {
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    return FXS_OK;
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD | FXS_OP_COMPLEX)
#define OPTIONS                                                                                    \
    "dtype? dtype=None, device? device=None, bool requires_grad=False, bool? pin_memory=False) "   \
    "-> Tensor"

const fxs_op fxs_ops_create_data[] = {
    {"tensor", "(any data, *, " OPTIONS, "torch.tensor", infer_tensor, run_tensor, NULL, PURE},
    {"as_tensor", "(any data, *, dtype? dtype=None, device? device=None) -> Tensor",
     "torch.as_tensor", infer_as_tensor, run_tensor, NULL, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"asarray",
     "(any obj, *, dtype? dtype=None, device? device=None, bool? copy=None, bool "
     "requires_grad=False) -> Tensor",
     "torch.asarray", infer_asarray, run_tensor, NULL, PURE},
    {"new_tensor", "(Tensor self, any data, *, " OPTIONS, "Tensor.new_tensor", infer_new_tensor,
     NULL, NULL, PURE},
    {"scalar_tensor", "(Scalar s, *, " OPTIONS, "torch.scalar_tensor", infer_scalar_tensor, NULL,
     NULL, PURE},
    {0},
};
#undef PURE
#undef OPTIONS
