/* cast.c: clone contiguous detach to float long cpu cuda type_as ...: copies in another type or
 * memory format, or the tensor itself when it has both already. Devices are one: a move to another
 * is no move. */
#include <string.h>

#include <stdio.h>

#include "kernels/format.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

/* ---- memory formats
 * ------------------------------------------------------------------------------------ */

fxs_memory_format fxs_suggested_format(const fxs_tensor *t) {
    if (!fxs_suggests_channels_last(t))
        return FXS_CONTIGUOUS;
    return t->ndim == 4 ? FXS_CHANNELS_LAST : FXS_CHANNELS_LAST_3D;
}

fxs_status fxs_format_strides(fxs_call *c, fxs_memory_format f, int ndim, const int64_t *sizes,
                              int64_t *strides) {
    int want = f == FXS_CHANNELS_LAST ? 4 : f == FXS_CHANNELS_LAST_3D ? 5 : ndim;
    if (ndim != want)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "required rank %d tensor to use the %s format, but it has rank %d", want,
                          want == 4 ? "channels_last" : "channels_last_3d", ndim);
    if (f == FXS_CHANNELS_LAST || f == FXS_CHANNELS_LAST_3D)
        fxs_channels_last_strides(ndim, sizes, strides);
    else
        fxs_strides_of(ndim, sizes, NULL, strides);
    return FXS_OK;
}

/* Without elements strides alone decide. */
static bool lies_last(const fxs_tensor *t) {
    int64_t step = 1;
    bool last = fxs_tensor_numel(t) == 0;
    for (int i = 0; last && i < t->ndim; i++) {
        int d = i == 0 ? 1 : i == t->ndim - 1 ? 0 : t->ndim - i;
        last = t->sizes[d] == 1 || t->strides[d] == step;
        step *= t->sizes[d];
    }
    return last || fxs_tensor_is_channels_last(t);
}

bool fxs_has_format(const fxs_tensor *t, fxs_memory_format f) {
    if (f == FXS_CHANNELS_LAST)
        return t->ndim == 4 && lies_last(t);
    if (f == FXS_CHANNELS_LAST_3D)
        return t->ndim == 5 && lies_last(t);
    return fxs_tensor_is_contiguous(t);
}

fxs_status fxs_out_formatted(fxs_call *c, const fxs_tensor *t, fxs_dtype dtype,
                             fxs_memory_format f) {
    int64_t strides[FXS_MAX_DIM];
    if (f == FXS_PRESERVE)
        fxs_strides_like(t, strides);
    else
        FXS_TRY(fxs_format_strides(c, f, t->ndim, t->sizes, strides));
    return fxs_out_new(c, dtype, t->ndim, t->sizes, strides);
}

fxs_status fxs_copy_first(fxs_call *c) {
    fxs_tensor_copy(c->ctx, c->out[0], fxs_arg_tensor(c, 0));
    return FXS_OK;
}

/* The memory format in argument i, `otherwise` when it is None. */
static fxs_memory_format format_in(const fxs_call *c, int i, fxs_memory_format otherwise) {
    return c->arg[i].tag == FXS_V_MEMORY_FORMAT ? c->arg[i].u.format : otherwise;
}

/* ---- copies
 * -------------------------------------------------------------------------------------------- */

static fxs_status infer_contiguous(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_memory_format f = format_in(c, 1, FXS_CONTIGUOUS);
    if (f == FXS_PRESERVE && !fxs_tensor_is_contiguous(t))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "preserve memory format is unsupported by the contiguous operator");
    return fxs_has_format(t, f) ? fxs_out_same(c, t) : fxs_out_formatted(c, t, t->dtype, f);
}

static fxs_status infer_clone(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    return fxs_out_formatted(c, t, t->dtype, format_in(c, 1, FXS_PRESERVE));
}

static fxs_status infer_detach(fxs_call *c) {
    fxs_tensor *v;
    FXS_TRY(fxs_out_view(c, fxs_arg_tensor(c, 0), &v));
    v->requires_grad = false;
    return FXS_OK;
}

static fxs_status infer_alias(fxs_call *c) { return fxs_out_view(c, fxs_arg_tensor(c, 0), NULL); }
static fxs_status infer_self(fxs_call *c) { return fxs_out_same(c, fxs_arg_tensor(c, 0)); }

static fxs_status infer_requires_grad(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (!fxs_is_floating(t->dtype) && !fxs_is_complex(t->dtype) && fxs_arg_bool(c, 1))
        return FXS_REFUSE(
            c, FXS_ETYPE,
            "only tensors of floating point dtype can require gradients, not torch.%s",
            fxs_dtype_name(t->dtype));
    t->requires_grad = fxs_arg_bool(c, 1);
    return fxs_out_same(c, t);
}

/* ---- conversions
 * --------------------------------------------------------------------------------------- */

/* The tensor itself when there is nothing to convert and no copy is asked for. Where
 * preserve_format can't keep the strides, the guess of the format decides, not the order of strides
 * as in clone. */
static fxs_status convert(fxs_call *c, fxs_dtype d, bool copy, fxs_memory_format f) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (d == t->dtype && !copy && (f == FXS_PRESERVE || f == fxs_suggested_format(t)))
        return fxs_out_same(c, t);
    if (d != t->dtype) {
        FXS_TRY(fxs_check_computable(c, t->dtype));
        FXS_TRY(fxs_check_computable(c, d));
    }
    if (f == FXS_PRESERVE && !fxs_is_dense(t))
        f = fxs_suggested_format(t);
    return fxs_out_formatted(c, t, d, f);
}

static fxs_dtype own_type(const fxs_call *c) { return fxs_arg_tensor(c, 0)->dtype; }

/* to(dtype, non_blocking, copy, memory_format) */
static fxs_status infer_to_dtype(fxs_call *c) {
    return convert(c, c->arg[1].u.dtype, fxs_arg_bool(c, 3), format_in(c, 4, FXS_PRESERVE));
}

/* "cpu", "cuda:0" and the like: a name that PyTorch knows, and perhaps a number. */
fxs_status fxs_check_device(fxs_call *c, int i) {
    static const char *const names[] = {"cpu",    "cuda",   "ipu",    "xpu",          "mkldnn",
                                        "opengl", "ideep",  "hip",    "ve",           "fpga",
                                        "ort",    "xla",    "lazy",   "mps",          "hpu",
                                        "meta",   "vulkan", "opencl", "privateuseone"};
    const char *s = fxs_arg_str(c, i);
    size_t n = strcspn(s, ":");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k]) == n && strncmp(names[k], s, n) == 0)
            return FXS_OK;
    return FXS_REFUSE(c, FXS_EINVAL, "there is no device '%s'", s);
}

/* to(device, dtype, non_blocking, copy, memory_format) */
static fxs_status infer_to_device(fxs_call *c) {
    if (!fxs_arg_is_none(c, 1))
        FXS_TRY(fxs_check_device(c, 1));
    fxs_dtype d = fxs_arg_is_none(c, 2) ? own_type(c) : c->arg[2].u.dtype;
    return convert(c, d, fxs_arg_bool(c, 4), format_in(c, 5, FXS_PRESERVE));
}

/* to(other, non_blocking, copy, memory_format) */
static fxs_status infer_to_other(fxs_call *c) {
    return convert(c, fxs_arg_tensor(c, 1)->dtype, fxs_arg_bool(c, 3),
                   format_in(c, 4, FXS_PRESERVE));
}

static fxs_status infer_type_as(fxs_call *c) {
    return convert(c, fxs_arg_tensor(c, 1)->dtype, false, FXS_PRESERVE);
}

/* x.type() is the name of its old class. */
static fxs_status infer_type_name(fxs_call *c) {
    static const struct {
        fxs_dtype dtype;
        const char *name;
    } names[] = {
        {FXS_FLOAT32, "Float"},
        {FXS_FLOAT64, "Double"},
        {FXS_FLOAT16, "Half"},
        {FXS_BFLOAT16, "BFloat16"},
        {FXS_INT64, "Long"},
        {FXS_INT32, "Int"},
        {FXS_INT16, "Short"},
        {FXS_INT8, "Char"},
        {FXS_UINT8, "Byte"},
        {FXS_BOOL, "Bool"},
        {FXS_COMPLEX64, "ComplexFloat"},
        {FXS_COMPLEX128, "ComplexDouble"},
        {FXS_COMPLEX32, "ComplexHalf"},
    };
    char text[64] = "";
    fxs_value v;
    if (!fxs_arg_is_none(c, 1))
        return FXS_REFUSE(c, FXS_ETYPE, "dtype must be a dtype, not %s",
                          fxs_value_type_name(&c->arg[1]));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].dtype == fxs_arg_tensor(c, 0)->dtype)
            snprintf(text, sizeof text, "torch.%sTensor", names[i].name);
    if (!*text)
        return FXS_REFUSE(c, FXS_EUNKNOWN, "torch.%s has no class of old",
                          fxs_dtype_name(fxs_arg_tensor(c, 0)->dtype));
    FXS_TRY(fxs_value_str(c->ctx, text, &v));
    return fxs_out_value(c, v);
}

/* type(dtype) */
static fxs_status infer_type(fxs_call *c) {
    return convert(c, c->arg[1].u.dtype, false, FXS_PRESERVE);
}

/* x.cuda() and x.cpu(): a format may be asked for, the device is the same. */
static fxs_status infer_move(fxs_call *c) {
    return convert(c, own_type(c), false, format_in(c, 3, FXS_PRESERVE));
}

#define METHODS(X)                                                                                 \
    X(float, FXS_FLOAT32)                                                                          \
    X(double, FXS_FLOAT64)                                                                         \
    X(half, FXS_FLOAT16)                                                                           \
    X(bfloat16, FXS_BFLOAT16)                                                                      \
    X(long, FXS_INT64)                                                                             \
    X(int, FXS_INT32)                                                                              \
    X(short, FXS_INT16)                                                                            \
    X(char, FXS_INT8)                                                                              \
    X(byte, FXS_UINT8)                                                                             \
    X(bool, FXS_BOOL)                                                                              \
    X(cfloat, FXS_COMPLEX64)                                                                       \
    X(cdouble, FXS_COMPLEX128)
#define X(name, d)                                                                                 \
    static fxs_status infer_##name(fxs_call *c) {                                                  \
        return convert(c, d, false, format_in(c, 1, FXS_PRESERVE));                                \
    }
METHODS(X)
#undef X

/* dequantize(): nothing is quantized here, and of what is not PyTorch gives float32. */
static fxs_status infer_dequantize(fxs_call *c) {
    return convert(c, FXS_FLOAT32, false, FXS_PRESERVE);
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)
#define FORMAT "*, memory_format? memory_format=None) -> Tensor"

const fxs_op fxs_ops_cast[] = {
    {"contiguous", "(Tensor self, *, memory_format memory_format=contiguous_format) -> Tensor",
     "Tensor.contiguous torch.contiguous", infer_contiguous, fxs_copy_first, NULL, PURE},
    {"clone", "(Tensor self, " FORMAT,
     "Tensor.clone torch.clone Tensor.__copy__ Tensor.__deepcopy__", infer_clone, fxs_copy_first,
     NULL, PURE},
    {"detach", "(Tensor self) -> Tensor", "Tensor.detach torch.detach Tensor.detach_ torch.detach_",
     infer_detach, NULL, NULL, PURE | FXS_OP_NO_GRAD},
    {"alias", "(Tensor self) -> Tensor", "torch.alias", infer_alias, NULL, NULL, PURE},
    {"lift", "(Tensor self) -> Tensor",
     "torch.resolve_conj torch.resolve_neg Tensor.resolve_conj Tensor.resolve_neg "
     "Tensor.share_memory_ Tensor.pin_memory",
     infer_self, NULL, NULL, PURE},
    {"dequantize", "(Tensor self) -> Tensor", "torch.dequantize Tensor.dequantize",
     infer_dequantize, fxs_copy_first, NULL, PURE},
    {"requires_grad_", "(Tensor self, bool requires_grad=True) -> Tensor", "Tensor.requires_grad_",
     infer_requires_grad, NULL, NULL, PURE | FXS_OP_NO_GRAD},
    {"to", "(Tensor self, dtype dtype, bool non_blocking=False, bool copy=False, " FORMAT,
     "Tensor.to", infer_to_dtype, fxs_copy_first, NULL, PURE},
    {"to",
     "(Tensor self, device? device=None, dtype? dtype=None, bool non_blocking=False, bool "
     "copy=False, " FORMAT,
     "Tensor.to", infer_to_device, fxs_copy_first, NULL, PURE},
    {"to", "(Tensor self, Tensor tensor, bool non_blocking=False, bool copy=False, " FORMAT,
     "Tensor.to", infer_to_other, fxs_copy_first, NULL, PURE | FXS_OP_GRAD_OF_SELF},
    {"type_as", "(Tensor self, Tensor other) -> Tensor", "Tensor.type_as", infer_type_as,
     fxs_copy_first, NULL, PURE | FXS_OP_GRAD_OF_SELF},
    {"type", "(Tensor self, dtype dtype, bool non_blocking=False) -> Tensor", "Tensor.type",
     infer_type, fxs_copy_first, NULL, PURE},
    {"type", "(Tensor self, any dtype=None, bool non_blocking=False) -> str", "Tensor.type",
     infer_type_name, NULL, NULL, PURE},
    {"cuda", "(Tensor self, int|device? device=None, bool non_blocking=False, " FORMAT,
     "Tensor.cuda Tensor.cpu", infer_move, fxs_copy_first, NULL, PURE},
#define X(name, d)                                                                                 \
    {#name, "(Tensor self, " FORMAT, "Tensor." #name, infer_##name, fxs_copy_first, NULL, PURE},
    METHODS(X)
#undef X
        {0},
};
#undef PURE
#undef FORMAT
#undef METHODS
