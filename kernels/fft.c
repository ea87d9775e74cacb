/* fft.c: the discrete Fourier transforms of torch.fft, line by line. kissfft does those of float32
 * where it was found (it computes in float32); the others, and those without it, are done by a
 * plain recursion in double. */
#include <math.h>
#include <string.h>
#ifdef FXS_HAVE_KISSFFT
#include <kissfft/kiss_fft.h>
#endif

#include "kernels/complex.h"
#include "kernels/families.h"
#include "kernels/work.h"

typedef enum kind { COMPLEX, REAL_IN, REAL_OUT } form;

/* One transform: which dimensions, how long each is before it, how it is scaled. */
typedef struct plan {
    form kind;
    bool inverse, single; /* single: float32 */
    int n, dim[FXS_MAX_DIM];
    int64_t length[FXS_MAX_DIM];
    double scale;
} plan;

/* ---- arguments: (self, n or s, dim or dims, norm)
 * -------------------------------------------------------------- */

static fxs_status read_scale(fxs_call *c, plan *p) {
    const char *norm = fxs_arg_is_none(c, 3) ? "backward" : fxs_arg_str(c, 3);
    double n = 1;
    for (int i = 0; i < p->n; i++)
        n *= (double)p->length[i];
    if (strcmp(norm, "ortho") == 0)
        p->scale = 1 / sqrt(n);
    else if (strcmp(norm, p->inverse ? "backward" : "forward") == 0)
        p->scale = 1 / n;
    else if (strcmp(norm, "backward") == 0 || strcmp(norm, "forward") == 0)
        p->scale = 1;
    else
        return FXS_REFUSE(c, FXS_EINVAL, "invalid normalization mode: '%s'", norm);
    return FXS_OK;
}

static fxs_status read_dims(fxs_call *c, const fxs_tensor *t, plan *p, const fxs_value *lengths) {
    int64_t dims[FXS_MAX_DIM];
    int nlengths = lengths->tag == FXS_V_NONE
                       ? -1
                       : (int)(lengths->tag == FXS_V_INT ? 1 : fxs_value_len(lengths));
    if (fxs_arg_is_none(c, 2)) { /* all, or the last ones that have a length */
        p->n = nlengths < 0 ? t->ndim : nlengths;
        for (int i = 0; i < p->n && i < FXS_MAX_DIM; i++)
            dims[i] = t->ndim - p->n + i;
    } else {
        p->n = fxs_arg_ints(c, 2, dims, FXS_MAX_DIM);
    }
    if (p->n > t->ndim || (nlengths >= 0 && nlengths != p->n))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "%d dimensions are to be transformed, but there are %d, and %d lengths",
                          p->n, t->ndim, nlengths);
    for (int i = 0; i < p->n; i++) {
        FXS_TRY(fxs_wrap_dim(c, dims[i], t->ndim, &p->dim[i]));
        for (int k = 0; k < i; k++)
            if (p->dim[k] == p->dim[i])
                return FXS_REFUSE(c, FXS_EINVAL, "the dimensions to transform must be unique");
    }
    return FXS_OK;
}

/* What is made longer is padded, and PyTorch pads nothing that has no elements. */
static fxs_status check_padding(fxs_call *c, const fxs_tensor *t, const plan *p) {
    bool longer = false, nothing = false;
    for (int i = 0; i < t->ndim; i++) {
        int64_t size = t->sizes[i];
        for (int k = 0; k < p->n; k++)
            if (p->dim[k] == i) {
                int64_t wants =
                    p->kind == REAL_OUT && k == p->n - 1 ? p->length[k] / 2 + 1 : p->length[k];
                longer |= wants > size;
                size = wants;
            }
        nothing |= size == 0;
    }
    return longer && nothing
               ? FXS_REFUSE(c, FXS_EINVAL, "an input without elements can't be made longer")
               : FXS_OK;
}

static fxs_status read_plan(fxs_call *c, form kind, bool inverse, plan *p) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    const fxs_value *lengths = &c->arg[1];
    char last = c->op->name[strlen(c->op->name) - 1]; /* fft2, fftn: an int is a list of one */
    bool is_list = lengths->tag != FXS_V_INT || last == '2' || last == 'n';
    *p = (plan){
        .kind = kind, .inverse = inverse, .single = fxs_complex_of(t->dtype) == FXS_COMPLEX64};
    if (t->dtype == FXS_FLOAT16 || t->dtype == FXS_BFLOAT16 || t->dtype == FXS_COMPLEX32)
        return FXS_REFUSE(c, FXS_ETYPE, "unsupported dtype torch.%s", fxs_dtype_name(t->dtype));
    if (kind == REAL_IN && fxs_is_complex(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "expects a real input tensor, but got torch.%s",
                          fxs_dtype_name(t->dtype));
    FXS_TRY(read_dims(c, t, p, lengths));
    if (p->n == 0 && (kind != COMPLEX || t->ndim == 0))
        return FXS_REFUSE(c, FXS_EINVAL, "must transform at least one axis");
    for (int i = 0; i < p->n; i++) {
        int64_t own = t->ndim ? t->sizes[p->dim[i]] : 1;
        if (kind == REAL_OUT && i == p->n - 1)
            own = 2 * (own - 1);
        const fxs_value *given =
            lengths->tag == FXS_V_INT ? lengths : fxs_value_item(lengths, (size_t)i);
        bool own_length = given && given->tag == FXS_V_INT && given->u.i == -1 && is_list;
        p->length[i] =
            given && given->tag == FXS_V_INT && !own_length ? given->u.i : own; /* -1 of a list */
        if (p->length[i] < 1 || p->length[i] > INT32_MAX)
            return FXS_REFUSE(c, FXS_EINVAL, "invalid number of data points (%lld) specified",
                              (long long)p->length[i]);
    }
    FXS_TRY(check_padding(c, t, p));
    return read_scale(c, p);
}

static fxs_status infer_plan(fxs_call *c, form kind, bool inverse) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    plan p;
    FXS_TRY(read_plan(c, kind, inverse, &p));
    int64_t sizes[FXS_MAX_DIM];
    memcpy(sizes, t->sizes, sizeof sizes);
    for (int i = 0; i < p.n; i++)
        sizes[p.dim[i]] = kind == REAL_IN && i == p.n - 1 ? p.length[i] / 2 + 1 : p.length[i];
    fxs_dtype d = fxs_complex_of(t->dtype);
    return fxs_out_new(c, kind == REAL_OUT ? fxs_real_of(d) : d, t->ndim, sizes, NULL);
}

/* ---- lines
 * ------------------------------------------------------------------------------------------------------
 */

/* x is n pairs that lie `step` pairs apart, y is n pairs: by the smallest factor p of n, p
 * transforms of n / p places each, then their sums. Work is n times the sum of n's prime factors.
 */
static void transform(int64_t n, int64_t step, int sign, const double *x, double *y,
                      double *spare) {
    int64_t p = 2;
    if (n == 1) {
        y[0] = x[0], y[1] = x[1];
        return;
    }
    while (n % p && p * p <= n)
        p++;
    if (n % p)
        p = n;
    int64_t m = n / p;
    for (int64_t r = 0; r < p; r++)
        transform(m, step * p, sign, x + 2 * r * step, y + 2 * r * m, spare);
    for (int64_t k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (int64_t r = 0; r < p; r++) {
            const double *part = y + 2 * (r * m + k % m);
            double a = sign * 2 * 3.14159265358979323846 * (double)(r * k % n) / (double)n;
            re += part[0] * cos(a) - part[1] * sin(a);
            im += part[0] * sin(a) + part[1] * cos(a);
        }
        spare[2 * k] = re, spare[2 * k + 1] = im;
    }
    memcpy(y, spare, (size_t)n * 2 * sizeof *y);
}

static fxs_status transform_plainly(fxs_call *c, int64_t n, bool inverse, int64_t lines,
                                    const double *x, double *y) {
    double *spare = fxs_alloc((size_t)n, 2 * sizeof *spare);
    if (!spare)
        return fxs_fail_memory(c->ctx);
    for (int64_t i = 0; i < lines; i++)
        transform(n, 1, inverse ? 1 : -1, x + 2 * i * n, y + 2 * i * n, spare);
    fxs_free(spare);
    return FXS_OK;
}

#ifdef FXS_HAVE_KISSFFT
static fxs_status transform_single(fxs_call *c, int64_t n, bool inverse, int64_t lines,
                                   const double *x, double *y) {
    kiss_fft_cfg cfg = kiss_fft_alloc((int)n, inverse, NULL, NULL);
    kiss_fft_cpx *from = fxs_alloc((size_t)n, sizeof *from), *to = fxs_alloc((size_t)n, sizeof *to);
    fxs_status s = cfg && from && to ? FXS_OK : fxs_fail_memory(c->ctx);
    for (int64_t i = 0; s == FXS_OK && i < lines; i++, x += 2 * n, y += 2 * n) {
        for (int64_t k = 0; k < n; k++)
            from[k] = (kiss_fft_cpx){(float)x[2 * k], (float)x[2 * k + 1]};
        kiss_fft(cfg, from, to);
        for (int64_t k = 0; k < n; k++)
            y[2 * k] = (double)to[k].r, y[2 * k + 1] = (double)to[k].i;
    }
    fxs_free(from);
    fxs_free(to);
    kiss_fft_free(cfg);
    return s;
}
#else
#define transform_single transform_plainly
#endif

/* ---- dimensions
 * ----------------------------------------------------------------------------------------------------
 */

/* A contiguous complex128 tensor. */
static fxs_status new_spectrum(fxs_call *c, int ndim, const int64_t *sizes, fxs_tensor **out) {
    FXS_TRY(fxs_tensor_make(c->ctx, FXS_COMPLEX128, ndim, sizes, NULL, out));
    return fxs_tensor_allocate(c->ctx, *out);
}

static int64_t step_of(const fxs_tensor *t, int dim) { return t->ndim ? t->strides[dim] : 1; }
static int64_t size_of(const fxs_tensor *t, int dim) { return t->ndim ? t->sizes[dim] : 1; }

/* First place of line i: the dimension itself at 0. */
static int64_t line_start(const fxs_tensor *t, int dim, int64_t i) {
    int64_t at = 0;
    for (int k = t->ndim - 1; k >= 0; k--) {
        if (k == dim)
            continue;
        at += i % t->sizes[k] * t->strides[k];
        i /= t->sizes[k];
    }
    return at;
}

/* Half a spectrum, of a real signal, made whole: place i and place n - i are conjugates. */
static void read_line(const fxs_tensor *t, int dim, int64_t line, int64_t n, bool half, double *x) {
    int64_t start = line_start(t, dim, line), have = size_of(t, dim), step = step_of(t, dim);
    memset(x, 0, (size_t)n * 2 * sizeof *x);
    for (int64_t i = 0; i < n && i < have; i++) {
        if (half && i > n / 2)
            break;
        fxs_load_complex(t, start + i * step, x + 2 * i);
        if (half && (i == 0 || 2 * i == n))
            x[2 * i + 1] = 0;
        if (half && i > 0 && 2 * i < n) {
            x[2 * (n - i)] = x[2 * i];
            x[2 * (n - i) + 1] = -x[2 * i + 1];
        }
    }
}

/* t transformed along one dimension of length n, into a new tensor that keeps `keep` places of it.
 */
static fxs_status along(fxs_call *c, const plan *p, const fxs_tensor *t, int dim, int64_t n,
                        int64_t keep, bool half, fxs_tensor **out) {
    int64_t sizes[FXS_MAX_DIM], lines = 1;
    memcpy(sizes, t->sizes, sizeof sizes);
    sizes[dim] = keep;
    for (int i = 0; i < t->ndim; i++)
        lines *= i == dim ? 1 : t->sizes[i];
    FXS_TRY(new_spectrum(c, t->ndim, sizes, out));
    double *x = fxs_alloc((size_t)lines * (size_t)n, 2 * sizeof *x),
           *y = fxs_alloc((size_t)lines * (size_t)n, 2 * sizeof *y);
    fxs_status s = lines && (!x || !y) ? fxs_fail_memory(c->ctx) : FXS_OK;
    for (int64_t i = 0; s == FXS_OK && i < lines; i++)
        read_line(t, dim, i, n, half, x + 2 * i * n);
    if (s == FXS_OK)
        s = (p->single ? transform_single : transform_plainly)(c, n, p->inverse, lines, x, y);
    for (int64_t i = 0; s == FXS_OK && i < lines; i++)
        for (int64_t k = 0; k < keep; k++)
            fxs_store_complex(*out, line_start(*out, dim, i) + k * step_of(*out, dim),
                              y + 2 * (i * n + k));
    fxs_free(x);
    fxs_free(y);
    return s;
}

static void finish(const plan *p, const fxs_tensor *t, fxs_tensor *out) {
    for (int64_t i = 0, n = fxs_tensor_numel(out); i < n; i++) {
        double z[2];
        int64_t rest = i, from = 0, to = 0;
        for (int k = out->ndim - 1; k >= 0; k--) {
            from += rest % out->sizes[k] * t->strides[k];
            to += rest % out->sizes[k] * out->strides[k];
            rest /= out->sizes[k];
        }
        fxs_load_complex(t, from, z);
        z[0] *= p->scale, z[1] *= p->scale;
        fxs_store_complex(out, to, z);
    }
}

/* Real input is transformed along its last dimension first, when half of the result is enough; a
 * real result likewise last. */
static fxs_status run_plan(fxs_call *c, form kind, bool inverse) {
    plan p;
    FXS_TRY(read_plan(c, kind, inverse, &p));
    fxs_tensor *t = fxs_tensor_ref(fxs_arg_tensor(c, 0)), *next;
    fxs_status s = FXS_OK;
    for (int k = 0; k < p.n && s == FXS_OK; k++) {
        int i = kind == REAL_IN ? p.n - 1 - k : k;
        bool last = i == p.n - 1, half = kind == REAL_OUT && last;
        int64_t keep = kind == REAL_IN && last ? p.length[i] / 2 + 1 : p.length[i];
        s = along(c, &p, t, p.dim[i], p.length[i], keep, half, &next);
        fxs_tensor_unref(t);
        t = s == FXS_OK ? next : NULL;
    }
    if (s == FXS_OK)
        finish(&p, t, c->out[0]);
    fxs_tensor_unref(t);
    return s;
}

/* 5 n log2(n) for each line, as FFTs are counted */
static fxs_cost cost_fft(const fxs_call *c) {
    double n = (double)fxs_tensor_numel(c->out[0]);
    return (fxs_cost){.flops = n > 1 ? 5 * n * log2(n) : 0};
}

#define FORM(name, kind, inverse)                                                                  \
    static fxs_status infer_##name(fxs_call *c) { return infer_plan(c, kind, inverse); }           \
    static fxs_status run_##name(fxs_call *c) { return run_plan(c, kind, inverse); }
FORM(fft, COMPLEX, false)
FORM(ifft, COMPLEX, true)
FORM(rfft, REAL_IN, false)
FORM(irfft, REAL_OUT, true)
#undef FORM

#define SPELLED(name) "torch._C._fft.fft_" name " torch.fft." name
#define ROWS(name)                                                                                 \
    {"fft_" #name,     "(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",         \
     SPELLED(#name),   infer_##name,                                                               \
     run_##name,       cost_fft,                                                                   \
     FXS_OP_NO_INPLACE},                                                                           \
        {"fft_" #name "2",                                                                         \
         "(Tensor self, int|int[]? s=None, int|int[] dim=[-2, -1], str? norm=None) -> Tensor",     \
         SPELLED(#name "2"),                                                                       \
         infer_##name,                                                                             \
         run_##name,                                                                               \
         cost_fft,                                                                                 \
         FXS_OP_NO_INPLACE},                                                                       \
    {                                                                                              \
        "fft_" #name "n",                                                                          \
            "(Tensor self, int|int[]? s=None, int|int[]? dim=None, str? norm=None) -> Tensor",     \
            SPELLED(#name "n"), infer_##name, run_##name, cost_fft, FXS_OP_NO_INPLACE              \
    }

const fxs_op fxs_ops_fft[] = {
    ROWS(fft), ROWS(ifft), ROWS(rfft), ROWS(irfft), {0},
};
#undef ROWS
#undef SPELLED
