/* native_quantize.c: fake_quantize_per_tensor_affine and fake_quantize_per_channel_affine: what
 * numbers are after they were integers of a few bits. */
#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static fxs_value given(const fxs_compose *k, int i) { return k->call->arg[i]; }

/* ---- fake_quantize_per_tensor_affine, fake_quantize_per_channel_affine
 * ------------------------------------------------------------- */

/* What x is after it was an integer from low to high: (clamp(round(x / scale) + zero) - zero) *
 * scale. The numbers are floats even for wider x, as PyTorch's are. */
static fxs_tensor *quantized(fxs_compose *k, fxs_tensor *x, fxs_value scale, fxs_value inverse,
                             fxs_value zero, int low_at) {
    int64_t low = fxs_arg_int(k->call, low_at), high = fxs_arg_int(k->call, low_at + 1);
    fxs_dtype d = x->dtype;
    if (!fxs_is_floating(d))
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    if (low > high)
        fxs_stop(k, FXS_EINVAL, "quant_min (%lld) must be at most quant_max (%lld)", (long long)low,
                 (long long)high);
    if (d == FXS_FLOAT16 || d == FXS_BFLOAT16)
        x = FXS_DO(k, "float", fxs_t(x));
    x = FXS_DO(k, "mul", fxs_t(x), inverse);
    bool whole = zero.tag != FXS_V_TENSOR || !fxs_is_floating(zero.u.tensor->dtype);
    if (whole) /* a zero that is a float is added before rounding */
        x = FXS_DO(k, "round", fxs_t(x));
    x = FXS_DO(k, "add", fxs_t(x), zero);
    x = whole ? x : FXS_DO(k, "round", fxs_t(x));
    x = FXS_DO(k, "clamp", fxs_t(x), fxs_int(low), fxs_int(high));
    x = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "sub", fxs_t(x), zero)), scale);
    k->any_grad = true;
    return FXS_DO(k, "copy_", fxs_t(FXS_DO(k, "empty_like", fxs_t(arg(k, 0)))), fxs_t(x));
}

static void make_fake_quantize(fxs_compose *k) {
    float scale = (float)fxs_arg_float(k->call, 1);
    int64_t zero = fxs_arg_int(k->call, 2);
    if (zero < fxs_arg_int(k->call, 3) || zero > fxs_arg_int(k->call, 4))
        fxs_stop(k, FXS_EINVAL, "zero_point must be between quant_min and quant_max");
    fxs_give(k, quantized(k, arg(k, 0), fxs_float((double)scale), fxs_float((double)(1 / scale)),
                          fxs_int(zero), 3));
}

/* Scale and zero point are arguments 1 and 2. */
static void check_no_grad(fxs_compose *k) {
    if (arg(k, 1)->requires_grad || arg(k, 2)->requires_grad)
        fxs_stop(k, FXS_EINVAL, "is not differentiable with respect to scale and zero_point");
}

static void check_scales(fxs_compose *k) {
    const fxs_tensor *scale = arg(k, 1), *zero = arg(k, 2);
    check_no_grad(k);
    if (scale->dtype != FXS_FLOAT32)
        fxs_stop(k, FXS_ETYPE, "scale must be torch.float32, but found torch.%s",
                 fxs_dtype_name(scale->dtype));
    if (zero->dtype != FXS_INT32 && zero->dtype != FXS_FLOAT32 && zero->dtype != FXS_FLOAT16)
        fxs_stop(k, FXS_ETYPE, "zero_point must be torch.int32, float or half, but found torch.%s",
                 fxs_dtype_name(zero->dtype));
}

/* Scale and zero point as tensors of one element. */
static void make_fake_quantize_tensors(fxs_compose *k) {
    fxs_tensor *both[2];
    check_no_grad(k);
    for (int i = 0; i < 2; i++) {
        if (k->status == FXS_OK && fxs_tensor_numel(arg(k, 1 + i)) != 1)
            fxs_stop(k, FXS_ESHAPE, "scale and zero_point must have one element");
        if (fxs_is_complex(arg(k, 1 + i)->dtype))
            fxs_stop(k, FXS_ETYPE, "scale and zero_point must be real");
        both[i] = FXS_DO(k, i ? "long" : "float", given(k, 1 + i));
        both[i] = FXS_DO(k, "reshape", fxs_t(both[i]), fxs_ints(k, 0, NULL));
    }
    fxs_tensor *inverse = FXS_DO(k, "reciprocal", fxs_t(both[0]));
    fxs_give(k, quantized(k, arg(k, 0), fxs_t(both[0]), fxs_t(inverse), fxs_t(both[1]), 3));
}

/* fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max) */
static void make_fake_quantize_channels(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *both[2] = {arg(k, 1), arg(k, 2)};
    int64_t sizes[FXS_MAX_DIM], axis = fxs_arg_int(k->call, 3);
    check_scales(k);
    if (axis < 0 || axis >= (x->ndim ? x->ndim : 1))
        fxs_stop(k, FXS_EINDEX, "axis must be between 0 and the number of dimensions of input");
    if (k->status == FXS_OK && fxs_tensor_numel(both[0]) == 0)
        fxs_stop(k, FXS_ESHAPE, "expected at least one channel");
    for (int i = 0; i < 2 && k->status == FXS_OK; i++)
        if (both[i]->ndim != 1 || x->ndim == 0 || both[i]->sizes[0] != x->sizes[axis])
            fxs_stop(k, FXS_ESHAPE,
                     "scale and zero_point must be vectors with an element for each channel");
    if (k->status != FXS_OK)
        return;
    for (int i = 0; i < x->ndim; i++)
        sizes[i] = i == axis ? -1 : 1;
    for (int i = 0; i < 2; i++)
        both[i] = FXS_DO(k, "reshape", fxs_t(both[i]), fxs_ints(k, x->ndim, sizes));
    for (int64_t i = 0; both[1] && both[1]->storage && i < both[1]->sizes[axis]; i++) {
        double zero =
            fxs_load_double(both[1]->dtype, (const char *)fxs_tensor_data(both[1]) +
                                                i * both[1]->strides[axis] *
                                                    (int64_t)fxs_dtype_size(both[1]->dtype));
        if (zero < fxs_arg_float(k->call, 4) || zero > fxs_arg_float(k->call, 5))
            fxs_stop(k, FXS_EINVAL, "zero_point %g is not between quant_min and quant_max", zero);
    }
    fxs_tensor *inverse = FXS_DO(k, "reciprocal", fxs_t(both[0]));
    fxs_give(k, quantized(k, x, fxs_t(both[0]), fxs_t(inverse), fxs_t(both[1]), 4));
}
FXS_COMPOSED(fake_quantize)
FXS_COMPOSED(fake_quantize_tensors)
FXS_COMPOSED(fake_quantize_channels)

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_native_quantize[] = {
    {"fake_quantize_tensors",
     "(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> Tensor",
     "torch.fake_quantize_per_tensor_affine", infer_fake_quantize_tensors,
     run_fake_quantize_tensors, cost_fake_quantize_tensors, PURE | FXS_OP_GRAD_OF_SELF},
    {"fake_quantize",
     "(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor",
     "torch.fake_quantize_per_tensor_affine", infer_fake_quantize, run_fake_quantize,
     cost_fake_quantize, PURE},
    {"fake_quantize_channels",
     "(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> "
     "Tensor",
     "torch.fake_quantize_per_channel_affine", infer_fake_quantize_channels,
     run_fake_quantize_channels, cost_fake_quantize_channels, PURE | FXS_OP_GRAD_OF_SELF},
    {0},
};
#undef PURE
