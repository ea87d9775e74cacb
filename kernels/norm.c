/* norm.c: see norm.h. Called by norm_batch.c, norm_layer.c and norm_local.c. */
#include "kernels/norm.h"

#include "base/vector.h"

#define T float
#define NAME(x) x##_float
#include "kernels/norm_rows.h"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_double
#include "kernels/norm_rows.h"
#undef T
#undef NAME

double fxs_row_sum(fxs_dtype d, const void *x, int64_t n) {
    return d == FXS_FLOAT32 ? row_sum_float(x, n) : row_sum_double(x, n);
}

double fxs_row_squares(fxs_dtype d, const void *x, int64_t n, double mean) {
    return d == FXS_FLOAT32 ? row_squares_float(x, n, mean) : row_squares_double(x, n, mean);
}

void fxs_row_scale(fxs_dtype d, const void *x, int64_t n, double scale, double shift, void *y) {
    if (d == FXS_FLOAT32)
        row_scale_float(x, n, (float)scale, (float)shift, y);
    else
        row_scale_double(x, n, scale, shift, y);
}

void fxs_row_affine(fxs_dtype d, const void *x, int64_t n, double mean, double scale,
                    const void *weight, const void *bias, void *y) {
    if (d == FXS_FLOAT32)
        row_affine_float(x, n, (float)mean, (float)scale, weight, bias, y);
    else
        row_affine_double(x, n, mean, scale, weight, bias, y);
}

fxs_status fxs_check_norm_dtype(fxs_call *c, const fxs_tensor *x, const fxs_tensor *t,
                                const char *name) {
    if (t && t->dtype == FXS_FLOAT32 && fxs_compute_dtype(x->dtype) == FXS_FLOAT32)
        return FXS_OK;
    return fxs_check_same_dtype(c, x, t, name);
}

fxs_status fxs_check_vector(fxs_call *c, const fxs_tensor *t, int64_t n, const char *name) {
    char text[FXS_SIZES_TEXT];
    if (!t || (t->ndim == 1 && t->sizes[0] == n))
        return FXS_OK;
    return FXS_REFUSE(c, FXS_ESHAPE, "%s should contain %lld elements, but its shape is %s", name,
                      (long long)n, fxs_sizes_text(t, text));
}
