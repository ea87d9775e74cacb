/* complex.h: elements of complex tensors one at a time, and what gives real numbers of them. */
#ifndef FXS_KERNELS_COMPLEX_H
#define FXS_KERNELS_COMPLEX_H

#include <complex.h>
#include <math.h>

#include "kernels/iterate.h"

/* |x| of a complex tensor: float32 or float64. */
fxs_status fxs_complex_abs_infer(fxs_call *c);
fxs_status fxs_complex_abs_run(fxs_call *c);

/* Element at an offset of a tensor of any type. */
static inline void fxs_load_complex(const fxs_tensor *t, int64_t at, double z[2]) {
    fxs_load_pair(t->dtype,
                  (const char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype), z);
}

/* The same for writing; of a real tensor the real part. */
static inline void fxs_store_complex(fxs_tensor *t, int64_t at, const double z[2]) {
    fxs_store_pair(t->dtype, (char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype),
                   z);
}

static inline fxs_dtype fxs_complex_of(fxs_dtype d) {
    return fxs_is_complex(d) ? d : d == FXS_FLOAT64 ? FXS_COMPLEX128 : FXS_COMPLEX64;
}
static inline fxs_dtype fxs_real_of(fxs_dtype d) {
    return d == FXS_COMPLEX128 ? FXS_FLOAT64 : d == FXS_COMPLEX64 ? FXS_FLOAT32 : d;
}

/* a / b by Smith's formula, which PyTorch uses: by 0 it is NaN, and infinities are not put right
 * behind it, as C does. */
static inline double complex fxs_complex_quotient(double complex a, double complex b) {
    double c = creal(b), d = cimag(b);
    bool real = fabs(c) >= fabs(d);
    double rest = real ? d / c : c / d, scale = 1 / (real ? c + d * rest : c * rest + d);
    return real ? CMPLX((creal(a) + cimag(a) * rest) * scale, (cimag(a) - creal(a) * rest) * scale)
                : CMPLX((creal(a) * rest + cimag(a)) * scale, (cimag(a) * rest - creal(a)) * scale);
}

/* Turns the signs of the imaginary parts of t's own elements. */
void fxs_conjugate(fxs_tensor *t);

#endif
