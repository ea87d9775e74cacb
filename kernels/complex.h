/* complex.h: arithmetic of complex tensors, which arithmetic.c hands over when an operand is
 * complex. */
#ifndef FXS_KERNELS_COMPLEX_H
#define FXS_KERNELS_COMPLEX_H

#include "kernels/iterate.h"

typedef enum fxs_complex_op {
    FXS_COMPLEX_ADD,
    FXS_COMPLEX_SUB,
    FXS_COMPLEX_MUL,
    FXS_COMPLEX_DIV
} fxs_complex_op;

/* Is the common type of arguments 0 and 1 complex? */
bool fxs_is_complex_call(const fxs_call *c);
fxs_status fxs_complex_infer(fxs_call *c);
/* Of add and sub, argument 1 is multiplied by the real number alpha before. */
fxs_status fxs_complex_run(fxs_call *c, fxs_complex_op op, double alpha);
/* |x| of a complex tensor: float32 or float64. */
fxs_status fxs_complex_abs_infer(fxs_call *c);
fxs_status fxs_complex_abs_run(fxs_call *c);

/* Element at an offset of a tensor of any type. */
static inline void fxs_load_complex(const fxs_tensor *t, int64_t at, double z[2]) {
    const char *p = (const char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype);
    if (t->dtype == FXS_COMPLEX64) {
        z[0] = (double)((const float *)(const void *)p)[0],
        z[1] = (double)((const float *)(const void *)p)[1];
    } else if (t->dtype == FXS_COMPLEX128) {
        z[0] = ((const double *)(const void *)p)[0], z[1] = ((const double *)(const void *)p)[1];
    } else {
        z[0] = fxs_load_double(t->dtype, p), z[1] = 0;
    }
}

/* The same for writing; of a real tensor the real part. */
static inline void fxs_store_complex(fxs_tensor *t, int64_t at, const double z[2]) {
    char *p = (char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype);
    if (t->dtype == FXS_COMPLEX64) {
        ((float *)(void *)p)[0] = (float)z[0], ((float *)(void *)p)[1] = (float)z[1];
    } else if (t->dtype == FXS_COMPLEX128) {
        ((double *)(void *)p)[0] = z[0], ((double *)(void *)p)[1] = z[1];
    } else {
        fxs_store_double(t->dtype, p, z[0]);
    }
}

static inline fxs_dtype fxs_complex_of(fxs_dtype d) {
    return fxs_is_complex(d) ? d : d == FXS_FLOAT64 ? FXS_COMPLEX128 : FXS_COMPLEX64;
}
static inline fxs_dtype fxs_real_of(fxs_dtype d) {
    return d == FXS_COMPLEX128 ? FXS_FLOAT64 : d == FXS_COMPLEX64 ? FXS_FLOAT32 : d;
}

#endif
