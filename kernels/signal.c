/* signal.c: what signal processing makes of Fourier transforms: hfft and ihfft, frequencies,
 * shifts, and the short-time transform with its inverse. */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* ---- hfft: of half a signal, whose spectrum is real: an inverse transform, scaled the other way
 * --------------------- */

static fxs_value other_way(fxs_compose *k, const fxs_value *norm) {
    const char *name = norm->tag == FXS_V_NONE ? "backward" : fxs_value_text(norm);
    if (strcmp(name, "ortho") == 0)
        return *norm;
    if (strcmp(name, "forward") != 0 && strcmp(name, "backward") != 0)
        fxs_stop(k, FXS_EINVAL, "invalid normalization mode: '%s'", name);
    return fxs_word(k, strcmp(name, "backward") == 0 ? "forward" : "backward");
}

static fxs_tensor *conjugate(fxs_compose *k, fxs_tensor *t) {
    return t && fxs_is_complex(t->dtype) ? FXS_DO(k, "conj_physical", fxs_t(t)) : t;
}

static void make_half(fxs_compose *k, const char *op, bool inverse) {
    const fxs_value *a = k->call->arg;
    fxs_value norm = other_way(k, &a[3]);
    fxs_tensor *x = arg(k, 0);
    if (!inverse)
        x = conjugate(k, x);
    x = FXS_DO(k, op, fxs_t(x), a[1], a[2], norm);
    fxs_give(k, inverse ? conjugate(k, x) : x);
}

static void make_hfft(fxs_compose *k) { make_half(k, "fft_irfft", false); }
static void make_hfft2(fxs_compose *k) { make_half(k, "fft_irfft2", false); }
static void make_hfftn(fxs_compose *k) { make_half(k, "fft_irfftn", false); }
static void make_ihfft(fxs_compose *k) { make_half(k, "fft_rfft", true); }
static void make_ihfft2(fxs_compose *k) { make_half(k, "fft_rfft2", true); }
static void make_ihfftn(fxs_compose *k) { make_half(k, "fft_rfftn", true); }

/* ---- frequencies and shifts
 * --------------------------------------------------------------------------------- */

/* fftfreq(n, d, *, dtype, ...): 0, 1, ..., and from the middle on the negative ones */
static void make_frequencies(fxs_compose *k, bool half) {
    int64_t n = fxs_arg_int(k->call, 0), positive = half ? n / 2 + 1 : (n + 1) / 2;
    double d = fxs_arg_float(k->call, 1);
    fxs_dtype type = fxs_arg_is_none(k->call, 2) ? FXS_FLOAT32 : k->call->arg[2].u.dtype;
    if (!fxs_is_floating(type) && !fxs_is_complex(type))
        fxs_stop(k, FXS_ETYPE, "requires a floating point or complex dtype");
    if (n <= 0 && k->status == FXS_OK)
        fxs_stop(k, FXS_EINVAL, "expected a number of frequencies above 0, but got %lld",
                 (long long)n);
    fxs_tensor *x =
        FXS_DO_NAMED(k, "arange", "dtype", fxs_of_dtype(type), fxs_int(0), fxs_int(positive));
    if (!half && n > 1) {
        fxs_tensor *rest =
            FXS_DO_NAMED(k, "arange", "dtype", fxs_of_dtype(type), fxs_int(-(n / 2)), fxs_int(0));
        x = FXS_DO(k, "cat", fxs_tensors(k, 2, (fxs_tensor *[]){x, rest}), fxs_int(0));
    }
    fxs_give(k, FXS_DO(k, "mul", fxs_t(x), fxs_float(1 / ((double)n * d))));
}

static void make_fftfreq(fxs_compose *k) { make_frequencies(k, false); }
static void make_rfftfreq(fxs_compose *k) { make_frequencies(k, true); }

/* fftshift(x, dim): the middle to the front, or back */
static void make_shift(fxs_compose *k, bool back) {
    fxs_tensor *x = arg(k, 0);
    int64_t dims[FXS_MAX_DIM], shifts[FXS_MAX_DIM];
    int n = fxs_arg_is_none(k->call, 1) ? x->ndim : fxs_arg_ints(k->call, 1, dims, FXS_MAX_DIM);
    for (int i = 0; i < n && k->status == FXS_OK; i++) {
        int dim = i;
        if (!fxs_arg_is_none(k->call, 1))
            k->status = fxs_wrap_dim(k->call, dims[i], x->ndim, &dim);
        dims[i] = dim;
        shifts[i] = k->status == FXS_OK ? (x->sizes[dim] + back) / 2 : 0;
    }
    fxs_give(k, FXS_DO(k, "roll", fxs_t(x), fxs_ints(k, n, shifts), fxs_ints(k, n, dims)));
}

static void make_fftshift(fxs_compose *k) { make_shift(k, false); }
static void make_ifftshift(fxs_compose *k) { make_shift(k, true); }

/* ---- short-time transforms
 * ---------------------------------------------------------------------------------- */

typedef struct frames {
    int64_t size, hop, window; /* n_fft, hop_length, win_length */
    fxs_tensor *shape;         /* the window [n_fft], NULL: ones */
} frames;

/* n_fft, hop_length, win_length and window from argument i on */
static bool read_frames(fxs_compose *k, int i, frames *f) {
    const fxs_call *c = k->call;
    f->size = fxs_arg_int(c, i);
    f->hop = fxs_arg_is_none(c, i + 1) ? f->size / 4 : fxs_arg_int(c, i + 1);
    f->window = fxs_arg_is_none(c, i + 2) ? f->size : fxs_arg_int(c, i + 2);
    f->shape = fxs_arg_tensor(c, i + 3);
    if (f->size <= 0 || f->hop <= 0 || f->window <= 0 || f->window > f->size)
        fxs_stop(k, FXS_EINVAL,
                 "expected hop_length > 0 and 0 < win_length <= n_fft, but got %lld, %lld, %lld",
                 (long long)f->hop, (long long)f->window, (long long)f->size);
    if (f->shape && (f->shape->ndim != 1 || f->shape->sizes[0] != f->window))
        fxs_stop(k, FXS_ESHAPE, "expected a window of %lld places", (long long)f->window);
    int64_t left = (f->size - f->window) / 2;
    if (k->status != FXS_OK || f->window == f->size)
        return k->status == FXS_OK;
    fxs_tensor *like = f->shape ? f->shape : arg(k, 0);
    fxs_dtype d = fxs_is_complex(like->dtype) ? FXS_FLOAT32 : like->dtype;
    if (!f->shape)
        f->shape = FXS_DO_NAMED(k, "ones", "dtype", fxs_of_dtype(d), FXS_INTS(k, f->window));
    f->shape = FXS_DO(k, "pad", fxs_t(f->shape), FXS_INTS(k, left, f->size - f->window - left));
    return k->status == FXS_OK;
}

/* Reflected (or filled) by half a frame at both ends: [B, L] -> [B, L + n_fft] */
static fxs_tensor *centred(fxs_compose *k, const frames *f, fxs_tensor *x, fxs_value mode) {
    int64_t half = f->size / 2;
    x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0));
    x = FXS_DO(k, "pad", fxs_t(x), FXS_INTS(k, half, half), mode);
    return FXS_DO(k, "squeeze", fxs_t(x), fxs_int(0));
}

/* stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
 * return_complex) -> [B, frequencies, frames] */
static void make_stft(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_tensor *x = arg(k, 0);
    frames f;
    if (x->ndim < 1 || x->ndim > 2 || (!fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype)))
        fxs_stop(k, FXS_ESHAPE,
                 "expected a tensor of floating point or complex values of one or "
                 "two dimensions");
    if (!read_frames(k, 1, &f))
        return;
    bool one = x->ndim == 1,
         complex = fxs_is_complex(x->dtype) || (f.shape && fxs_is_complex(f.shape->dtype));
    bool onesided = fxs_arg_is_none(k->call, 8) ? !complex : fxs_arg_bool(k->call, 8);
    bool as_complex = fxs_arg_is_none(k->call, 9) ? complex : fxs_arg_bool(k->call, 9);
    if (one)
        x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0));
    if (fxs_arg_bool(k->call, 5))
        x = centred(k, &f, x, a[6]);
    if (k->status == FXS_OK && f.size > x->sizes[1])
        fxs_stop(k, FXS_EINVAL, "expected 0 < n_fft <= %lld, but got %lld", (long long)x->sizes[1],
                 (long long)f.size);
    x = FXS_DO(k, "unfold", fxs_t(x), fxs_int(1), fxs_int(f.size), fxs_int(f.hop));
    if (f.shape)
        x = FXS_DO(k, "mul", fxs_t(x), fxs_t(f.shape));
    x = FXS_DO(k, onesided ? "fft_rfft" : "fft_fft", fxs_t(x), fxs_none(), fxs_int(-1),
               fxs_arg_bool(k->call, 7) ? fxs_word(k, "ortho") : fxs_none());
    x = FXS_DO(k, "transpose", fxs_t(x), fxs_int(1), fxs_int(2));
    if (one)
        x = FXS_DO(k, "squeeze", fxs_t(x), fxs_int(0));
    fxs_give(k, as_complex ? x : FXS_DO(k, "view_as_real", fxs_t(x)));
}

/* Frames [B, n, n_fft] added up where they overlap: [B, n_fft + (n - 1) hop] */
static fxs_tensor *overlapped(fxs_compose *k, const frames *f, fxs_tensor *x) {
    if (k->status != FXS_OK)
        return NULL;
    int64_t total = f->size + (x->sizes[1] - 1) * f->hop, batch = x->sizes[0];
    x = FXS_DO(k, "transpose", fxs_t(x), fxs_int(1), fxs_int(2));
    x = FXS_DO(k, "fold", fxs_t(x), FXS_INTS(k, 1, total), FXS_INTS(k, 1, f->size),
               FXS_INTS(k, 1, 1), FXS_INTS(k, 0, 0), FXS_INTS(k, 1, f->hop));
    return FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, batch, total));
}

/* istft(input [B, frequencies, frames], n_fft, hop_length, win_length, window, center, normalized,
 * onesided, length, return_complex) */
static void make_istft(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *weight;
    frames f;
    if (fxs_is_floating(x->dtype) && x->ndim > 2 && x->sizes[x->ndim - 1] == 2) { /* as of old */
        fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
        x = FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(x));
        x = FXS_DO(k, "view_as_complex", fxs_t(x));
    }
    if (!x || !fxs_is_complex(x->dtype) || x->ndim < 2 || x->ndim > 3)
        fxs_stop(k, FXS_ESHAPE, "expected a complex tensor of 2 or 3 dimensions");
    if (k->status == FXS_OK && fxs_tensor_numel(x) == 0)
        fxs_stop(k, FXS_ESHAPE, "the input can't be empty");
    bool pairs = fxs_arg_bool(k->call, 9);
    if (arg(k, 4) && fxs_is_complex(arg(k, 4)->dtype) && !pairs)
        fxs_stop(k, FXS_ETYPE, "complex windows need return_complex");
    if (!read_frames(k, 1, &f))
        return;
    if (f.hop > f.window)
        fxs_stop(k, FXS_EINVAL, "expected a hop_length of at most win_length %lld, not %lld",
                 (long long)f.window, (long long)f.hop);
    bool one = x->ndim == 2;
    bool onesided =
        fxs_arg_is_none(k->call, 7) ? x->sizes[x->ndim - 2] != f.size : fxs_arg_bool(k->call, 7);
    if (pairs && onesided)
        fxs_stop(k, FXS_EINVAL, "a onesided input gives real numbers, without return_complex");
    if (x->sizes[x->ndim - 2] != (onesided ? f.size / 2 + 1 : f.size))
        fxs_stop(k, FXS_ESHAPE, "expected %lld frequencies, but got %lld",
                 (long long)(onesided ? f.size / 2 + 1 : f.size), (long long)x->sizes[x->ndim - 2]);
    if (one)
        x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0));
    x = FXS_DO(k, "transpose", fxs_t(x), fxs_int(1), fxs_int(2));
    fxs_value norm = fxs_arg_bool(k->call, 6) ? fxs_word(k, "ortho") : fxs_none();
    if (!pairs) /* the half that a real signal has, also where both are given */
        x = FXS_DO(k, "narrow", fxs_t(x), fxs_int(-1), fxs_int(0), fxs_int(f.size / 2 + 1));
    x = FXS_DO(k, pairs ? "fft_ifft" : "fft_irfft", fxs_t(x), fxs_int(f.size), fxs_int(-1), norm);
    if (k->status != FXS_OK)
        return;
    weight = f.shape
                 ? f.shape
                 : FXS_DO_NAMED(k, "ones", "dtype", fxs_of_dtype(x->dtype), FXS_INTS(k, f.size));
    x = FXS_DO(k, "mul", fxs_t(x), fxs_t(weight));
    fxs_tensor *square = FXS_DO(k, "mul", fxs_t(weight), fxs_t(weight));
    square = FXS_DO(k, "expand", fxs_t(square),
                    FXS_INTS(k, 1, k->status == FXS_OK ? x->sizes[1] : 1, f.size));
    x = overlapped(k, &f, x);
    square = overlapped(k, &f, square);
    if (k->status != FXS_OK)
        return;
    int64_t total = x->sizes[1], start = fxs_arg_bool(k->call, 5) ? f.size / 2 : 0,
            end = fxs_arg_bool(k->call, 5) ? total - f.size / 2 : total;
    if (!fxs_arg_is_none(k->call, 8))
        end = start + fxs_arg_int(k->call, 8);
    if (end < 0) /* counts from the end, as that of a slice */
        end += total;
    int64_t have = end < total ? end : total;
    if (have <= start)
        fxs_stop(k, FXS_ESHAPE, "there is nothing to give of %lld samples from %lld on",
                 (long long)total, (long long)start);
    x = FXS_DO(k, "narrow", fxs_t(x), fxs_int(1), fxs_int(start), fxs_int(have - start));
    square = FXS_DO(k, "narrow", fxs_t(square), fxs_int(1), fxs_int(start), fxs_int(have - start));
    x = FXS_DO(k, "div", fxs_t(x), fxs_t(square));
    if (end > total)
        x = FXS_DO(k, "pad", fxs_t(x), FXS_INTS(k, 0, end - total));
    fxs_give(k, one ? FXS_DO(k, "squeeze", fxs_t(x), fxs_int(0)) : x);
}

#define EACH(macro)                                                                                \
    macro(hfft) macro(hfft2) macro(hfftn) macro(ihfft) macro(ihfft2) macro(ihfftn) macro(fftfreq)  \
        macro(rfftfreq) macro(fftshift) macro(ifftshift) macro(stft) macro(istft)
EACH(FXS_COMPOSED)
#undef EACH

#define FFT(name) "torch._C._fft.fft_" name " torch.fft." name
#define PURE FXS_OP_NO_INPLACE
#define ROW(op, args)                                                                              \
    { "fft_" #op, "(" args ") -> Tensor", FFT(#op), infer_##op, run_##op, cost_##op, PURE }
#define ONE "Tensor self, int? n=None, int dim=-1, str? norm=None"
#define TWO "Tensor self, int|int[]? s=None, int|int[] dim=[-2, -1], str? norm=None"
#define MANY "Tensor self, int|int[]? s=None, int|int[]? dim=None, str? norm=None"
#define FREQUENCIES                                                                                \
    "int n, number d=1.0, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "  \
    "pin_memory=None, bool requires_grad=False"
#define SHIFT "Tensor self, int|int[]? dim=None"

const fxs_op fxs_ops_signal[] = {
    ROW(hfft, ONE),
    ROW(hfft2, TWO),
    ROW(hfftn, MANY),
    ROW(ihfft, ONE),
    ROW(ihfft2, TWO),
    ROW(ihfftn, MANY),
    ROW(fftfreq, FREQUENCIES),
    ROW(rfftfreq, FREQUENCIES),
    ROW(fftshift, SHIFT),
    ROW(ifftshift, SHIFT),
    {"stft",
     "(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
     "bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? "
     "return_complex=None) -> Tensor",
     "torch.functional.stft torch.stft Tensor.stft", infer_stft, run_stft, cost_stft, PURE},
    {"istft",
     "(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
     "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool "
     "return_complex=False) -> Tensor",
     "torch.istft Tensor.istft", infer_istft, run_istft, cost_istft, PURE},
    {0},
};
