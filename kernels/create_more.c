/* create_more.c: logspace, range, the windows of signal processing, the indices of triangles,
 * tensors with given strides, asarray. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/create.h"
#include "kernels/iterate.h"
#include "kernels/python.h"
#include "kernels/special_math.h"
#include "kernels/work.h"

static char *nth(const fxs_tensor *t, int64_t i) {
    return (char *)fxs_tensor_data(t) + i * (int64_t)fxs_dtype_size(t->dtype);
}

/* dtype stands before layout, device, pin_memory and requires_grad. */
static int dtype_at(const fxs_call *c) { return c->nargs - 5; }

bool fxs_type_holds(fxs_dtype d, const fxs_value *v) {
    int bits = (int)fxs_dtype_size(d) * 8 - (d != FXS_UINT8);
    double most = ldexp(1, bits) - 1, least = d == FXS_UINT8 ? 0 : -most - 1;
    if (!fxs_is_integral(d))
        return true;
    if (v->tag == FXS_V_FLOAT)
        return v->u.f >= least && v->u.f <= most;
    return v->tag != FXS_V_INT || bits == 63 ||
           ((double)v->u.i <= most && (double)v->u.i >= (d == FXS_UINT8 ? -most : least));
}

/* ---- logspace(start, end, steps, base)
 * ------------------------------------------------------------------------------ */

static fxs_status infer_logspace(fxs_call *c) {
    int64_t steps = fxs_arg_int(c, 2);
    fxs_dtype d = fxs_dtype_arg(c, dtype_at(c), FXS_FLOAT32);
    if (steps < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "number of steps must be non-negative");
    FXS_TRY(fxs_check_computable(c, d));
    if (d == FXS_BOOL && steps > 1)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    if (steps > 1 && (!fxs_type_holds(d, &c->arg[0]) || !fxs_type_holds(d, &c->arg[1])))
        return FXS_REFUSE(c, FXS_EINVAL, "start and end can't be converted to torch.%s",
                          fxs_dtype_name(d));
    return fxs_out_new(c, d, 1, &steps, NULL);
}

/* base to the power of x, as the type has it: of complex numbers even powers of 0 are what
 * logarithms leave. */
static void store_power(fxs_dtype d, char *p, double base, double x) {
    double y = pow(base, x);
    if (fxs_is_complex(d)) {
        double complex z = d == FXS_COMPLEX64 ? cpowf((float)base, (float)x) : cpow(base, x);
        fxs_store_pair(d, p, (double[]){creal(z), cimag(z)});
    } else if (!fxs_is_integral(d)) {
        fxs_store_double(d, p, y);
    } else {
        fxs_store_int(d, p,
                      fabs(y) < 0x1p63         ? (int64_t)y
                      : fxs_dtype_size(d) == 8 ? INT64_MIN
                                               : INT32_MIN);
    }
}

/* An end of integers is a whole number, for uint8 a byte. */
static double whole_end(fxs_dtype d, double x) {
    return d == FXS_UINT8 ? (double)(uint8_t)(int64_t)x : trunc(x);
}

/* Powers, counted from the nearer end; those of integers from whole ends, and one alone must fit.
 */
static fxs_status run_logspace(fxs_call *c) {
    fxs_tensor *t = c->out[0];
    int64_t n = t->sizes[0];
    double start = fxs_arg_float(c, 0), end = fxs_arg_float(c, 1), base = fxs_arg_float(c, 3);
    fxs_value one = fxs_float(pow(base, start));
    if (fxs_is_integral(t->dtype) && n > 1)
        start = whole_end(t->dtype, start), end = whole_end(t->dtype, end);
    else if (n == 1 && t->dtype != FXS_BOOL && !fxs_type_holds(t->dtype, &one))
        return FXS_REFUSE(c, FXS_EINVAL, "%g can't be converted to torch.%s without overflow",
                          one.u.f, fxs_dtype_name(t->dtype));
    double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        store_power(t->dtype, nth(t, i), base,
                    i < n / 2 || n == 1 ? start + step * (double)i
                                        : end - step * (double)(n - 1 - i));
    return FXS_OK;
}

/* ---- range(start, end, step): the end is in
 * ------------------------------------------------------------------------------ */

static fxs_status infer_range(fxs_call *c) {
    double start = fxs_arg_float(c, 0), end = fxs_arg_float(c, 1), step = fxs_arg_float(c, 2);
    fxs_dtype d = fxs_dtype_arg(c, dtype_at(c), FXS_FLOAT32);
    FXS_TRY(fxs_check_computable(c, d));
    for (int i = 0; i < 3; i++)
        FXS_TRY(fxs_check_number(c, i, d));
    if (d == FXS_BOOL || d == FXS_FLOAT16)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    if (!fxs_is_floating(d) && fabs(start) < 0x1p63 && fabs(step) < 0x1p63)
        start = trunc(start), end = trunc(end), step = trunc(step);
    if (!(step != 0))
        return FXS_REFUSE(c, FXS_EINVAL, "step must be nonzero");
    if (!isfinite(start) || !isfinite(end))
        return FXS_REFUSE(c, FXS_EINVAL, "unsupported range: %g -> %g", start, end);
    if (step > 0 ? end < start : end > start)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "upper bound and larger bound inconsistent with step sign");
    double count = floor((end - start) / step + 1);
    if (!(count < 0x1p62))
        return FXS_REFUSE(c, FXS_ELIMIT, "invalid size, possible overflow?");
    return fxs_out_new(c, d, 1, (int64_t[]){(int64_t)count}, NULL);
}

static fxs_status run_range(fxs_call *c) {
    fxs_tensor *t = c->out[0];
    double start = fxs_arg_float(c, 0), step = fxs_arg_float(c, 2);
    if (!fxs_is_floating(t->dtype))
        start = trunc(start), step = trunc(step);
    for (int64_t i = 0; i < t->sizes[0]; i++)
        fxs_store_double(t->dtype, nth(t, i), start + step * (double)i);
    return FXS_OK;
}

/* ---- windows(window_length, periodic, ...)
 * -------------------------------------------------------------------------------- */

static fxs_status infer_window(fxs_call *c) {
    int64_t n = fxs_arg_int(c, 0);
    fxs_dtype d = fxs_dtype_arg(c, dtype_at(c), FXS_FLOAT32);
    if (n < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "requires non-negative window_length, got %lld",
                          (long long)n);
    if (!fxs_is_floating(d) && !(fxs_is_complex(d) && n < 2))
        return FXS_REFUSE(c, FXS_ETYPE, "expects floating point dtypes, got torch.%s",
                          fxs_dtype_name(d));
    return fxs_out_new(c, d, 1, &n, NULL);
}

/* A window's value at `at`, which goes from 0 to 1; a and b are the window's own numbers. */
typedef double window_fn(double at, double a, double b);

static double hann(double at, double a, double b) {
    (void)a, (void)b;
    double s = sin(M_PI * at);
    return s * s;
}
static double hamming(double at, double a, double b) { return a - b * cos(2 * M_PI * at); }
static double blackman(double at, double a, double b) {
    (void)a, (void)b;
    return 0.42 - 0.5 * cos(2 * M_PI * at) + 0.08 * cos(4 * M_PI * at);
}
static double bartlett(double at, double a, double b) {
    (void)a, (void)b;
    return at < 0.5 ? 2 * at : 2 - 2 * at;
}
static double kaiser(double at, double a, double b) {
    double x = 2 * at - 1, root = x * x < 1 ? sqrt(1 - x * x) : 0;
    (void)b;
    return fxs_bessel_i(0, a * root, 0) / fxs_bessel_i(0, a, 0);
}

/* A periodic window is the front of one that is longer by one. */
static fxs_status run_window(fxs_call *c, window_fn *fn, double a, double b) {
    fxs_tensor *t = c->out[0];
    bool periodic = dtype_at(c) < 2 || fxs_arg_bool(c, 1);
    int64_t n = t->sizes[0], last = periodic ? n : n - 1;
    for (int64_t i = 0; i < n; i++)
        fxs_store_double(t->dtype, nth(t, i), n == 1 ? 1 : fn((double)i / (double)last, a, b));
    return FXS_OK;
}

static double number_or(const fxs_call *c, int i, double otherwise) {
    return i < dtype_at(c) ? fxs_arg_float(c, i) : otherwise;
}

static fxs_status run_hann_window(fxs_call *c) { return run_window(c, hann, 0, 0); }
static fxs_status run_blackman_window(fxs_call *c) { return run_window(c, blackman, 0, 0); }
static fxs_status run_bartlett_window(fxs_call *c) { return run_window(c, bartlett, 0, 0); }
static fxs_status run_hamming_window(fxs_call *c) {
    return run_window(c, hamming, number_or(c, 2, 0.54), number_or(c, 3, 0.46));
}
static fxs_status run_kaiser_window(fxs_call *c) {
    return run_window(c, kaiser, number_or(c, 2, 12), 0);
}

/* ---- tril_indices(row, col, offset)
 * --------------------------------------------------------------------------------- */

/* An offset beyond the corners changes nothing more. */
static int64_t clip(int64_t offset, int64_t rows, int64_t columns) {
    return offset < -rows ? -rows : offset > columns ? columns : offset;
}

/* Columns of row i from *from to before *to. */
static void triangle_row(bool upper, int64_t i, int64_t columns, int64_t offset, int64_t *from,
                         int64_t *to) {
    int64_t edge = i + offset + !upper;
    edge = edge < 0 ? 0 : edge > columns ? columns : edge;
    *from = upper ? edge : 0;
    *to = upper ? columns : edge;
}

/* Elements of a lower triangle: none in the first rows, then one more in each, then all. */
static int64_t triangle_count(int64_t rows, int64_t columns, int64_t offset) {
    int64_t first = offset < 0 ? -offset : 0, full = columns - offset;
    first = first > rows ? rows : first;
    full = full < first ? first : full > rows ? rows : full;
    int64_t n = full - first;
    return n * (first + offset + 1) + n * (n - 1) / 2 + (rows - full) * columns;
}

static fxs_status infer_triangle(fxs_call *c, bool upper) {
    int64_t rows = fxs_arg_int(c, 0), columns = fxs_arg_int(c, 1), offset = fxs_arg_int(c, 2);
    fxs_dtype d = fxs_dtype_arg(c, dtype_at(c), FXS_INT64);
    if (rows < 0 || columns < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "row and col must be non-negative, got %lld and %lld",
                          (long long)rows, (long long)columns);
    FXS_TRY(fxs_check_computable(c, d));
    if (d != FXS_INT64 && d != FXS_INT32)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    if (rows && columns && (rows > INT32_MAX || columns > INT32_MAX))
        return FXS_REFUSE(c, FXS_ELIMIT, "more than 2^31 rows or columns");
    int64_t n = 0;
    offset = clip(offset, rows, columns);
    if (rows && columns) /* an upper one is what the lower one that ends before it leaves */
        n = upper ? rows * columns - triangle_count(rows, columns, offset - 1)
                  : triangle_count(rows, columns, offset);
    return fxs_out_new(c, d, 2, (int64_t[]){2, n}, NULL);
}

static fxs_status run_triangle(fxs_call *c, bool upper) {
    fxs_tensor *t = c->out[0];
    int64_t columns = fxs_arg_int(c, 1), n = t->sizes[1], at = 0,
            offset = clip(fxs_arg_int(c, 2), fxs_arg_int(c, 0), columns);
    for (int64_t i = 0; at < n; i++) {
        int64_t from, to;
        triangle_row(upper, i, columns, offset, &from, &to);
        for (int64_t j = from; j < to && at < n; j++, at++) {
            fxs_store_int(t->dtype, nth(t, at), i);
            fxs_store_int(t->dtype, nth(t, n + at), j);
        }
    }
    return FXS_OK;
}

static fxs_status infer_tril_indices(fxs_call *c) { return infer_triangle(c, false); }
static fxs_status infer_triu_indices(fxs_call *c) { return infer_triangle(c, true); }
static fxs_status run_tril_indices(fxs_call *c) { return run_triangle(c, false); }
static fxs_status run_triu_indices(fxs_call *c) { return run_triangle(c, true); }

/* ---- empty_strided(size, stride), new_empty_strided(self, size, stride)
 * -------------------------------------------------------- */

static fxs_status out_strided(fxs_call *c, int at, fxs_dtype otherwise) {
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, at, sizes, FXS_MAX_DIM),
        m = fxs_arg_ints(c, at + 1, strides, FXS_MAX_DIM);
    fxs_dtype d = fxs_dtype_arg(c, dtype_at(c), otherwise);
    if (n != m || n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "dimensionality of sizes (%d) must match dimensionality of strides (%d)",
                          n, m);
    for (int i = 0; i < n; i++)
        if (strides[i] < 0)
            return FXS_REFUSE(c, FXS_EINVAL, "negative strides are not supported, got %lld",
                              (long long)strides[i]);
    FXS_TRY(fxs_check_computable(c, d));
    return fxs_out_new(c, d, n, sizes, strides);
}

static fxs_status infer_empty_strided(fxs_call *c) { return out_strided(c, 0, FXS_FLOAT32); }
static fxs_status infer_new_empty_strided(fxs_call *c) {
    return out_strided(c, 1, fxs_arg_tensor(c, 0)->dtype);
}
/* Storage that nobody filled would make runs differ: it is zero here. */
static fxs_status run_empty(fxs_call *c) {
    memset(c->out[0]->storage->data, 0, c->out[0]->storage->bytes);
    return FXS_OK;
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_NO_GRAD)
#define OPTIONS                                                                                    \
    "*, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "     \
    "bool requires_grad=False) -> Tensor"
#define WINDOW(name, parameters)                                                                   \
    {                                                                                              \
#name "_window", "(int window_length, " parameters OPTIONS, "torch." #name "_window",      \
            infer_window, run_##name##_window, NULL, PURE                                          \
    }
#define TRIANGLE(name)                                                                             \
    {                                                                                              \
#name, "(int row, int col, int offset=0, " OPTIONS, "torch." #name, infer_##name,          \
            run_##name, NULL, PURE                                                                 \
    }

const fxs_op fxs_ops_create_more[] = {
    {"logspace", "(Scalar start, Scalar end, int steps, float base=10.0, " OPTIONS,
     "torch.logspace", infer_logspace, run_logspace, fxs_cost_one, PURE | FXS_OP_COMPLEX},
    {"range", "(Scalar start, Scalar end, Scalar step=1, " OPTIONS, "torch.range", infer_range,
     run_range, NULL, PURE},
    WINDOW(hann, ""),
    WINDOW(hann, "bool periodic, "),
    WINDOW(blackman, ""),
    WINDOW(blackman, "bool periodic, "),
    WINDOW(bartlett, ""),
    WINDOW(bartlett, "bool periodic, "),
    WINDOW(hamming, ""),
    WINDOW(hamming, "bool periodic, "),
    WINDOW(hamming, "bool periodic, float alpha, "),
    WINDOW(hamming, "bool periodic, float alpha, float beta, "),
    WINDOW(kaiser, ""),
    WINDOW(kaiser, "bool periodic, "),
    WINDOW(kaiser, "bool periodic, float beta, "),
    TRIANGLE(tril_indices),
    TRIANGLE(triu_indices),
    {"empty_strided", "(int[] size, int[] stride, " OPTIONS, "torch.empty_strided",
     infer_empty_strided, run_empty, NULL, PURE | FXS_OP_COMPLEX},
    {"new_empty_strided", "(Tensor self, int[] size, int[] stride, " OPTIONS,
     "Tensor.new_empty_strided", infer_new_empty_strided, run_empty, NULL, PURE | FXS_OP_COMPLEX},
    {0},
};
#undef PURE
#undef OPTIONS
#undef WINDOW
#undef TRIANGLE
