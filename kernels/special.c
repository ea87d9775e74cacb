/* special.c: torch.special's functions of one tensor: digamma, i0 and its kin, Bessel and Airy
 * functions, the normal distribution, and sinc. The mathematics is in special_math.c. */
#include <complex.h>
#include <math.h>

#include "kernels/families.h"
#include "kernels/loops.h"
#include "kernels/special_math.h"

static double entropy(double x) {
    return isnan(x) ? x : x > 0 ? -x * log(x) : x == 0 ? 0 : -INFINITY;
}
static double sinc(double x) { return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x); }
static double spherical_j0(double x) { return isinf(x) ? 0 : x == 0 ? 1 : sin(x) / x; }

#define FLOATS(op, expr)                                                                           \
    FXS_LOOP1(op##_f32, float, float, void, (float)(expr))                                         \
    FXS_LOOP1(op##_f64, double, double, void, expr)                                                \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, NULL, false};                         \
    FXS_KERNEL(op, 1, fxs_common_float)

FLOATS(digamma, fxs_digamma((double)x))
FLOATS(i0, fxs_bessel_i(0, (double)x, 0))
FLOATS(i0e, fxs_bessel_i(0, (double)x, 1))
FLOATS(i1, fxs_bessel_i(1, (double)x, 0))
FLOATS(i1e, fxs_bessel_i(1, (double)x, 1))
FLOATS(bessel_j0, isinf(x) ? NAN : j0((double)x)) /* PyTorch's are NaN at infinity */
FLOATS(bessel_j1, isinf(x) ? NAN : j1((double)x))
FLOATS(bessel_y0, isinf(x) ? NAN : y0((double)x))
FLOATS(bessel_y1, isinf(x) ? NAN : y1((double)x))
FLOATS(modified_bessel_k0, fxs_bessel_k(0, (double)x, 0))
FLOATS(modified_bessel_k1, fxs_bessel_k(1, (double)x, 0))
FLOATS(scaled_modified_bessel_k0, fxs_bessel_k(0, (double)x, 1))
FLOATS(scaled_modified_bessel_k1, fxs_bessel_k(1, (double)x, 1))
FLOATS(spherical_bessel_j0, spherical_j0((double)x))
FLOATS(airy_ai, fxs_airy_ai((double)x))
FLOATS(entr, entropy((double)x))
FLOATS(erfcx, fxs_erfcx((double)x))
FLOATS(ndtr, erfc(-(double)x *M_SQRT1_2) / 2)
FLOATS(log_ndtr, fxs_log_ndtr((double)x))
FLOATS(ndtri, fxs_ndtri((double)x))
#undef FLOATS

static double complex complex_sinc(double complex x) {
    return x == 0 ? 1 : csin(M_PI * x) / (M_PI * x);
}
FXS_LOOP1(sinc_f32, float, float, void, (float)sinc((double)x))
FXS_LOOP1(sinc_f64, double, double, void, sinc(x))
FXS_LOOP1(sinc_c128, double complex, double complex, void, complex_sinc(x))
static const fxs_loops sinc_loops = {sinc_f32, sinc_f64, NULL, false, sinc_c128};
FXS_KERNEL(sinc, 1, fxs_common_float)

static fxs_status infer_float(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_out_like(c, fxs_arg_tensor(c, 0), fxs_common_float(&o));
}

/* Those that only torch.special has, and those that are older. */
#define SPECIAL(op) ROW(op, "", FXS_OP_NO_INPLACE)
#define UNDERIVED(op) ROW(op, "", UNDERIVED_FLAGS) /* PyTorch has no derivative of it */
#define UNDERIVED_FLAGS (FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD)
#define ROW(op, spellings, flags)                                                                  \
    {                                                                                              \
#op, "(Tensor self) -> Tensor", "torch._C._special.special_" #op spellings, infer_float,   \
            run_##op, fxs_cost_one, FXS_OP_POINTWISE | (flags)                                     \
    }

const fxs_op fxs_ops_special[] = {
    ROW(digamma, " torch.digamma Tensor.digamma torch._C._special.special_psi", 0),
    ROW(i0, " torch.i0 Tensor.i0", 0),
    ROW(sinc, " torch.sinc Tensor.sinc", FXS_OP_COMPLEX),
    SPECIAL(i0e),
    SPECIAL(i1),
    SPECIAL(i1e),
    UNDERIVED(bessel_j0),
    UNDERIVED(bessel_j1),
    UNDERIVED(bessel_y0),
    UNDERIVED(bessel_y1),
    {"modified_bessel_i0", "(Tensor self) -> Tensor",
     "torch._C._special.special_modified_bessel_i0", infer_float, run_i0, fxs_cost_one,
     FXS_OP_POINTWISE | UNDERIVED_FLAGS},
    {"modified_bessel_i1", "(Tensor self) -> Tensor",
     "torch._C._special.special_modified_bessel_i1", infer_float, run_i1, fxs_cost_one,
     FXS_OP_POINTWISE | UNDERIVED_FLAGS},
    UNDERIVED(modified_bessel_k0),
    UNDERIVED(modified_bessel_k1),
    UNDERIVED(scaled_modified_bessel_k0),
    UNDERIVED(scaled_modified_bessel_k1),
    UNDERIVED(spherical_bessel_j0),
    UNDERIVED(airy_ai),
    SPECIAL(entr),
    SPECIAL(erfcx),
    SPECIAL(ndtr),
    SPECIAL(log_ndtr),
    SPECIAL(ndtri),
    {0},
};
#undef SPECIAL
#undef UNDERIVED
#undef UNDERIVED_FLAGS
#undef ROW
