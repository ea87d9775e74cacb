/* scalar_tensor.c: facts of tensors as Python values: size dim numel stride item tolist, the
 * attributes that graphs read with getattr, torch._assert and isinstance. None of them computes. */
#include <string.h>

#include "kernels/complex.h"
#include "kernels/format.h"
#include "kernels/python.h"
#include "kernels/view_dims.h"

/* ---- methods
 * ------------------------------------------------------------------------------------------- */

static fxs_status give_shape(fxs_call *c, const fxs_tensor *t) {
    fxs_value v;
    FXS_TRY(fxs_make_size(c->ctx, t->ndim, t->sizes, &v));
    return fxs_out_value(c, v);
}

static fxs_status give_text(fxs_call *c, fxs_tag tag, const char *text) {
    fxs_value v;
    FXS_TRY(fxs_make_text(c->ctx, NULL, tag, text, strlen(text), &v));
    return fxs_out_value(c, v);
}

/* A dimension of a tensor that has any. */
static fxs_status dim_in(fxs_call *c, int i, int *dim) {
    if (fxs_arg_tensor(c, 0)->ndim == 0)
        return FXS_REFUSE(c, FXS_EINDEX, "dimension specified as %lld but tensor has no dimensions",
                          (long long)fxs_arg_int(c, i));
    return fxs_wrap_dim(c, fxs_arg_int(c, i), fxs_arg_tensor(c, 0)->ndim, dim);
}

static fxs_status infer_size(fxs_call *c) {
    int dim;
    if (fxs_arg_is_none(c, 1))
        return give_shape(c, fxs_arg_tensor(c, 0));
    FXS_TRY(dim_in(c, 1, &dim));
    return fxs_out_int(c, fxs_arg_tensor(c, 0)->sizes[dim]);
}

static fxs_status infer_stride(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_value v;
    int dim;
    if (!fxs_arg_is_none(c, 1)) {
        FXS_TRY(dim_in(c, 1, &dim));
        return fxs_out_int(c, t->strides[dim]);
    }
    FXS_TRY(fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, (size_t)t->ndim, &v));
    for (int i = 0; i < t->ndim; i++)
        v.u.seq->items[i] = fxs_int(t->strides[i]);
    return fxs_out_value(c, v);
}

static fxs_status infer_is_contiguous(fxs_call *c) {
    fxs_memory_format f = c->arg[1].u.format;
    return fxs_out_bool(c, fxs_has_format(fxs_arg_tensor(c, 0), f));
}

static fxs_status infer_item(fxs_call *c) {
    fxs_value v;
    FXS_TRY(fxs_item(c, fxs_arg_tensor(c, 0), &v));
    return fxs_out_value(c, v);
}

/* int(x) and float(x) of a tensor of one element. */
static fxs_status infer_int(fxs_call *c) {
    fxs_value v;
    FXS_TRY(fxs_item(c, fxs_arg_tensor(c, 0), &v));
    if (v.tag == FXS_V_COMPLEX && v.u.c[1] != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "a complex number can't be converted to int");
    if (v.tag == FXS_V_COMPLEX)
        v = fxs_float(v.u.c[0]);
    return fxs_out_int(c, v.tag == FXS_V_FLOAT  ? (int64_t)v.u.f
                          : v.tag == FXS_V_BOOL ? v.u.b
                                                : v.u.i);
}

static fxs_status infer_float(fxs_call *c) {
    fxs_number n = {0};
    fxs_value v;
    FXS_TRY(fxs_item(c, fxs_arg_tensor(c, 0), &v));
    if (v.tag == FXS_V_COMPLEX && v.u.c[1] != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "a complex number can't be converted to float");
    if (v.tag == FXS_V_COMPLEX)
        v = fxs_float(v.u.c[0]);
    fxs_number_of(&v, &n);
    return fxs_out_float(c, n.f);
}

static fxs_status to_list(fxs_call *c, const fxs_tensor *t, int dim, int64_t offset,
                          fxs_value *out) {
    fxs_tensor element = *t;
    if (dim == t->ndim) {
        element.ndim = 0;
        element.offset = offset;
        return fxs_item(c, &element, out);
    }
    FXS_TRY(fxs_make_seq(c->ctx, NULL, FXS_V_LIST, (size_t)t->sizes[dim], out));
    for (int64_t i = 0; i < t->sizes[dim]; i++) {
        fxs_status s = to_list(c, t, dim + 1, offset + i * t->strides[dim], &out->u.seq->items[i]);
        if (s != FXS_OK) {
            fxs_value_unref(out);
            return s;
        }
    }
    return FXS_OK;
}

static fxs_status infer_tolist(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_value v;
    if (!t->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "the values of the tensor are not known without computing them");
    FXS_TRY(to_list(c, t, 0, t->offset, &v));
    return fxs_out_value(c, v);
}

/* ---- facts that are methods, functions and attributes at once
 * ------------------------------------------ */

typedef fxs_status fact(fxs_call *c, fxs_tensor *t);

static fxs_status give_dim(fxs_call *c, fxs_tensor *t) { return fxs_out_int(c, t->ndim); }
static fxs_status give_numel(fxs_call *c, fxs_tensor *t) {
    return fxs_out_int(c, fxs_tensor_numel(t));
}
static fxs_status give_itemsize(fxs_call *c, fxs_tensor *t) {
    return fxs_out_int(c, (int64_t)fxs_dtype_size(t->dtype));
}
static fxs_status give_offset(fxs_call *c, fxs_tensor *t) { return fxs_out_int(c, t->offset); }
static fxs_status give_floating(fxs_call *c, fxs_tensor *t) {
    return fxs_out_bool(c, fxs_is_floating(t->dtype));
}
static fxs_status give_complex(fxs_call *c, fxs_tensor *t) {
    return fxs_out_bool(c, fxs_is_complex(t->dtype));
}
static fxs_status give_grad_flag(fxs_call *c, fxs_tensor *t) {
    return fxs_out_bool(c, t->requires_grad);
}
static fxs_status give_leaf(fxs_call *c, fxs_tensor *t) {
    return fxs_out_bool(c, !t->requires_grad || t->is_parameter);
}
static fxs_status give_signed(fxs_call *c, fxs_tensor *t) {
    return fxs_out_bool(c, t->dtype != FXS_BOOL && t->dtype != FXS_UINT8);
}
static fxs_status give_dtype(fxs_call *c, fxs_tensor *t) {
    return fxs_out_value(c, (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = t->dtype});
}
static fxs_status give_device(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return give_text(c, FXS_V_DEVICE, "cpu");
}
static fxs_status give_layout(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return give_text(c, FXS_V_LAYOUT, "torch.strided");
}
static fxs_status give_false(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return fxs_out_bool(c, false);
}
static fxs_status give_true(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return fxs_out_bool(c, true);
}
static fxs_status give_none(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return fxs_out_value(c, fxs_none());
}
static fxs_status give_no_device(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return fxs_out_int(c, -1);
}
static fxs_status give_size(fxs_call *c, fxs_tensor *t) { return give_shape(c, t); }
/* Real and imaginary parts lie in turn. */
static fxs_status give_part(fxs_call *c, fxs_tensor *t, int part) {
    fxs_tensor *v;
    FXS_TRY(fxs_out_view(c, t, &v));
    v->dtype = fxs_real_of(t->dtype);
    v->offset = 2 * t->offset + part;
    for (int i = 0; i < t->ndim; i++)
        v->strides[i] = 2 * t->strides[i];
    return FXS_OK;
}
static fxs_status give_real(fxs_call *c, fxs_tensor *t) {
    return fxs_is_complex(t->dtype) ? give_part(c, t, 0) : fxs_out_same(c, t);
}
static fxs_status give_imag(fxs_call *c, fxs_tensor *t) {
    return fxs_is_complex(t->dtype)
               ? give_part(c, t, 1)
               : FXS_REFUSE(c, FXS_ETYPE, "imag is of complex tensors alone, not of torch.%s",
                            fxs_dtype_name(t->dtype));
}
static fxs_status give_nbytes(fxs_call *c, fxs_tensor *t) {
    return fxs_out_int(c, fxs_tensor_numel(t) * (int64_t)fxs_dtype_size(t->dtype));
}
static fxs_status give_adjoint(fxs_call *c, fxs_tensor *t) {
    if (t->ndim != 2 && t->ndim != 0)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "tensor.H is only supported on matrices (2-D tensors), not on %d dimensions", t->ndim);
    return fxs_adjoint_infer(c);
}
static fxs_status give_adjoints(fxs_call *c, fxs_tensor *t) {
    (void)t;
    return fxs_adjoint_infer(c);
}
static fxs_status give_data(fxs_call *c, fxs_tensor *t) {
    fxs_tensor *v;
    FXS_TRY(fxs_out_view(c, t, &v));
    c->constants = 1;
    v->requires_grad = false;
    return FXS_OK;
}

static const struct {
    const char *name;
    fact *give;
} attributes[] = {
    {"shape", give_size},
    {"dtype", give_dtype},
    {"device", give_device},
    {"ndim", give_dim},
    {"T", fxs_out_reversed_dims},
    {"mT", fxs_out_matrix_transposed},
    {"H", give_adjoint},
    {"mH", give_adjoints},
    {"layout", give_layout},
    {"data", give_data},
    {"grad", give_none},
    {"grad_fn", give_none},
    {"requires_grad", give_grad_flag},
    {"is_leaf", give_leaf},
    {"is_cuda", give_false},
    {"is_cpu", give_true},
    {"is_meta", give_false},
    {"is_quantized", give_false},
    {"is_sparse", give_false},
    {"is_mkldnn", give_false},
    {"is_mps", give_false},
    {"is_nested", give_false},
    {"is_xpu", give_false},
    {"is_ipu", give_false},
    {"is_ort", give_false},
    {"is_vulkan", give_false},
    {"is_sparse_csr", give_false},
    {"retains_grad", give_false},
    {"volatile", give_false},
    {"name", give_none},
    {"real", give_real},
    {"imag", give_imag},
    {"nbytes", give_nbytes},
    {"itemsize", give_itemsize},
};

#define FACT(name)                                                                                 \
    static fxs_status infer_##name(fxs_call *c) { return give_##name(c, fxs_arg_tensor(c, 0)); }
FACT(dim)
FACT(numel)
FACT(itemsize)
FACT(offset)
FACT(floating)
FACT(complex)
FACT(signed)
FACT(no_device)
#undef FACT

/* ---- getattr
 * ------------------------------------------------------------------------------------------- */

static const fxs_value *named_field(const fxs_value *v, const char *name) {
    size_t k = fxs_named_field(v, name);
    return k == SIZE_MAX ? NULL : fxs_value_item(v, k);
}

/* Of all attributes those of complex matrices alone are computed. */
static fxs_status run_getattr(fxs_call *c) {
    const char *name = fxs_arg_str(c, 1);
    bool adjoint = fxs_arg_tensor(c, 0) && (strcmp(name, "H") == 0 || strcmp(name, "mH") == 0);
    return adjoint ? fxs_adjoint_run(c) : FXS_OK;
}

/* getattr(obj, name[, default]) */
static fxs_status infer_getattr(fxs_call *c) {
    const char *name = fxs_arg_str(c, 1);
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    for (size_t i = 0; t && i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(attributes[i].name, name) == 0)
            return attributes[i].give(c, t);
    const fxs_value *field = named_field(&c->arg[0], name);
    if (field)
        return fxs_out_value(c, fxs_value_ref(*field));
    if (c->arg[0].tag == FXS_V_DEVICE && (strcmp(name, "type") == 0 || strcmp(name, "index") == 0))
        return name[0] == 't' ? give_text(c, FXS_V_STR, "cpu") : fxs_out_value(c, fxs_none());
    if (c->arg[0].tag == FXS_V_DTYPE && strcmp(name, "is_floating_point") == 0)
        return fxs_out_bool(c, fxs_is_floating(c->arg[0].u.dtype));
    if (c->arg[2].tag != FXS_V_OPAQUE && c->arg[2].tag != FXS_V_NONE)
        return fxs_out_value(c, fxs_value_ref(c->arg[2]));
    return FXS_REFUSE(c, FXS_ENOTFOUND, "'%s' object has no attribute '%s'",
                      fxs_value_type_name(&c->arg[0]), name);
}

/* ---- questions
 * ----------------------------------------------------------------------------------------- */

static fxs_status infer_is_tensor(fxs_call *c) {
    return fxs_out_bool(c, c->arg[0].tag == FXS_V_TENSOR);
}

/* What the tracer records of an argument that is fixed to None. */
static fxs_status infer_assert_is_none(fxs_call *c) {
    if (c->arg[0].tag == FXS_V_NONE)
        return fxs_out_value(c, fxs_none());
    return FXS_REFUSE(c, FXS_EINVAL, "%s",
                      fxs_value_text(&c->arg[1]) ? fxs_arg_str(c, 1) : "the value is not None");
}

static fxs_status infer_assert(fxs_call *c) {
    bool holds;
    FXS_TRY(fxs_truth(c, &c->arg[0], &holds));
    if (!holds)
        return FXS_REFUSE(c, FXS_EINVAL, "%s",
                          fxs_value_text(&c->arg[1]) ? fxs_arg_str(c, 1) : "the assertion failed");
    return fxs_out_value(c, fxs_none());
}

/* "builtins.int" and "int" are the type "int"; torch.Tensor covers parameters. */
static bool is_instance(const fxs_value *v, const fxs_value *type) {
    const char *want = fxs_value_text(type), *have = fxs_value_type_name(v);
    if (type->tag == FXS_V_TUPLE || type->tag == FXS_V_LIST) {
        for (size_t i = 0; i < fxs_value_len(type); i++)
            if (is_instance(v, fxs_value_item(type, i)))
                return true;
        return false;
    }
    if (!want)
        return false;
    if (strncmp(want, "builtins.", 9) == 0)
        want += 9;
    if (strcmp(want, "int") == 0 && v->tag == FXS_V_BOOL)
        return true;
    if (strcmp(want, "tuple") == 0 && v->tag == FXS_V_TUPLE)
        return true;
    if ((strcmp(want, "torch.Tensor") == 0 || strcmp(want, "torch._tensor.Tensor") == 0) &&
        v->tag == FXS_V_TENSOR)
        return true;
    return strcmp(want, have) == 0;
}

static fxs_status infer_isinstance(fxs_call *c) {
    return fxs_out_bool(c, is_instance(&c->arg[0], &c->arg[1]));
}

static fxs_status infer_hasattr(fxs_call *c) {
    const char *name = fxs_arg_str(c, 1);
    bool has = named_field(&c->arg[0], name) != NULL;
    for (size_t i = 0; fxs_arg_tensor(c, 0) && i < sizeof attributes / sizeof *attributes; i++)
        has |= strcmp(attributes[i].name, name) == 0;
    return fxs_out_bool(c, has);
}

#define ROW(name, schema, spellings, infer)                                                        \
    { name, schema, spellings, infer, NULL, NULL, FXS_OP_NO_INPLACE }
#define FACT(name, spellings, infer) ROW(name, "(Tensor self) -> any", spellings, infer)

const fxs_op fxs_ops_scalar_tensor[] = {
    ROW("size", "(Tensor self, int dim=None) -> any", "Tensor.size", infer_size),
    ROW("stride", "(Tensor self, int dim=None) -> any", "Tensor.stride", infer_stride),
    FACT("dim", "Tensor.dim Tensor.ndimension Tensor.ndim", infer_dim),
    FACT("numel", "Tensor.numel Tensor.nelement torch.numel", infer_numel),
    FACT("element_size", "Tensor.element_size", infer_itemsize),
    FACT("storage_offset", "Tensor.storage_offset", infer_offset),
    FACT("is_floating_point", "Tensor.is_floating_point torch.is_floating_point", infer_floating),
    FACT("is_complex", "Tensor.is_complex torch.is_complex", infer_complex),
    FACT("is_signed", "Tensor.is_signed torch.is_signed", infer_signed),
    FACT("get_device", "Tensor.get_device torch.get_device", infer_no_device),
    ROW("is_contiguous", "(Tensor self, *, memory_format memory_format=contiguous_format) -> bool",
        "Tensor.is_contiguous", infer_is_contiguous),
    FACT("item", "Tensor.item", infer_item),
    FACT("int_item", "Tensor.__int__ Tensor.__long__", infer_int),
    FACT("float_item", "Tensor.__float__", infer_float),
    FACT("tolist", "Tensor.tolist", infer_tolist),
    {"getattr", "(any obj, str name, any default=None) -> any", "builtins.getattr", infer_getattr,
     run_getattr, NULL, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    ROW("hasattr", "(any obj, str name) -> bool", "builtins.hasattr", infer_hasattr),
    ROW("isinstance", "(any obj, any class_or_tuple) -> bool", "builtins.isinstance",
        infer_isinstance),
    ROW("is_tensor", "(any obj) -> bool", "torch.is_tensor", infer_is_tensor),
    ROW("assert", "(any condition, any message) -> None", "torch._assert", infer_assert),
    ROW("assert_is_none", "(any value, any msg) -> None",
        "torch.fx._symbolic_trace._assert_is_none", infer_assert_is_none),
    {0},
};
#undef ROW
#undef FACT
