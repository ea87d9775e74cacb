/* shuffle.c: operators that move whole elements between channels and places: pixel_shuffle,
 * pixel_unshuffle, channel_shuffle, fold and unfold; and their layers. The moves of fold and unfold
 * are in window.c. */
#include <string.h>

#include "base/pool.h"
#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/window.h"
#include "kernels/work.h"

/* ---- pixel_shuffle, pixel_unshuffle, channel_shuffle
 * ------------------------------------------------------ */

enum { INPUT, FACTOR };

static fxs_status check_factor(fxs_call *c, const fxs_tensor *x, int least, const char *name) {
    char text[FXS_SIZES_TEXT];
    if (x->ndim < least)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expects input to have at least %d dimensions, but got input of shape %s",
                          least, fxs_sizes_text(x, text));
    int64_t f = fxs_arg_int(c, FACTOR);
    if (f < 1 || f > INT32_MAX)
        return FXS_REFUSE(c, FXS_EINVAL, "expects a positive %s, but got %lld", name, (long long)f);
    return FXS_OK;
}

static fxs_status infer_pixels(fxs_call *c, bool up) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    char text[FXS_SIZES_TEXT];
    FXS_TRY(check_factor(c, x, 3, up ? "upscale_factor" : "downscale_factor"));
    int64_t f = fxs_arg_int(c, FACTOR), sizes[FXS_MAX_DIM], *last = sizes + x->ndim - 3;
    memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof *sizes);
    bool fits = up ? last[0] % (f * f) == 0 : last[1] % f == 0 && last[2] % f == 0;
    if (!fits)
        return FXS_REFUSE(c, FXS_ESHAPE, "input of shape %s can't be divided by a factor of %lld",
                          fxs_sizes_text(x, text), (long long)f);
    if (!up && fxs_tensor_numel(x) == 0) { /* PyTorch gives back what is empty */
        int64_t strides[FXS_MAX_DIM];
        fxs_strides_like(x, strides);
        return fxs_out_new(c, x->dtype, x->ndim, x->sizes, strides);
    }
    if (x->ndim == 5 && fxs_tensor_numel(x) && fxs_suggests_channels_last(x))
        return FXS_REFUSE(c, FXS_ESHAPE, "channels_last_3d is not supported");
    if (!up && __builtin_mul_overflow(last[0], f * f, &last[0]))
        return FXS_REFUSE(c, FXS_ELIMIT, "sizes beyond 2^63");
    if (up && (__builtin_mul_overflow(last[1], f, &last[1]) ||
               __builtin_mul_overflow(last[2], f, &last[2])))
        return FXS_REFUSE(c, FXS_ELIMIT, "sizes beyond 2^63");
    if (up)
        last[0] /= f * f;
    else
        last[1] /= f, last[2] /= f;
    return fxs_out_format(c, x->dtype, x->ndim, sizes,
                          x->ndim == 4 && fxs_suggests_channels_last(x));
}

/* Both shuffles split dimensions and exchange the parts: copies between two views of more
 * dimensions. `fine` is the side with many places, `deep` the one with many channels. */
static void split_pixels(const fxs_tensor *fine, const fxs_tensor *deep, int64_t f, fxs_tensor *fv,
                         fxs_tensor *dv) {
    int n =
        fine->ndim -
        3; /* [..., C, H, f, W, f] and [..., C, f, f, H, W] in one order: [..., C, H, W, f, f] */
    *fv = *fine, *dv = *deep;
    const int64_t *fs = fine->strides + n, *ds = deep->strides + n;
    int64_t h = deep->sizes[n + 1], w = deep->sizes[n + 2];
    const int64_t sizes[] = {fine->sizes[n], h, w, f, f};
    const int64_t fine_strides[] = {fs[0], fs[1] * f, fs[2] * f, fs[1], fs[2]};
    const int64_t deep_strides[] = {ds[0] * f * f, ds[1], ds[2], ds[0] * f, ds[0]};
    fv->ndim = dv->ndim = n + 5;
    memcpy(fv->sizes + n, sizes, sizeof sizes);
    memcpy(dv->sizes + n, sizes, sizeof sizes);
    memcpy(fv->strides + n, fine_strides, sizeof fine_strides);
    memcpy(dv->strides + n, deep_strides, sizeof deep_strides);
}

static fxs_status infer_shuffle(fxs_call *c) { return infer_pixels(c, true); }
static fxs_status infer_unshuffle(fxs_call *c) { return infer_pixels(c, false); }

static fxs_status run_shuffle(fxs_call *c) {
    fxs_tensor fine, deep;
    split_pixels(c->out[0], fxs_arg_tensor(c, INPUT), fxs_arg_int(c, FACTOR), &fine, &deep);
    fxs_tensor_copy(c->ctx, &fine, &deep);
    return FXS_OK;
}

static fxs_status run_unshuffle(fxs_call *c) {
    fxs_tensor fine, deep;
    if (fxs_tensor_numel(c->out[0]) == 0)
        return FXS_OK;
    split_pixels(fxs_arg_tensor(c, INPUT), c->out[0], fxs_arg_int(c, FACTOR), &fine, &deep);
    fxs_tensor_copy(c->ctx, &deep, &fine);
    return FXS_OK;
}

static fxs_status infer_channels(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    char text[FXS_SIZES_TEXT];
    bool native = c->spelling && strstr(c->spelling, "native_");
    FXS_TRY(check_factor(c, x, native ? 2 : 3, "groups"));
    if (x->requires_grad && fxs_is_complex(x->dtype) && !native)
        return FXS_REFUSE(c, FXS_ETYPE, "PyTorch can't differentiate by complex numbers");
    if (x->sizes[1] % fxs_arg_int(c, FACTOR) != 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "number of channels must be divisible by groups, but got input of shape "
                          "%s and %lld groups",
                          fxs_sizes_text(x, text), (long long)fxs_arg_int(c, FACTOR));
    if (fxs_tensor_numel(x) == 0 && !native)
        return fxs_out_same(c, fxs_arg_tensor(c, INPUT));
    return fxs_out_format(c, x->dtype, x->ndim, x->sizes, fxs_suggests_channels_last(x));
}

/* t's channels [C] as [outer, C / outer], or exchanged */
static fxs_tensor split_channels(const fxs_tensor *t, int64_t outer, bool exchanged) {
    fxs_tensor v = *t;
    int64_t inner = t->sizes[1] / outer;
    for (int i = v.ndim++; i > 2; i--)
        v.sizes[i] = t->sizes[i - 1], v.strides[i] = t->strides[i - 1];
    int a = exchanged ? 2 : 1, b = exchanged ? 1 : 2;
    v.sizes[a] = outer, v.strides[a] = t->strides[1] * inner;
    v.sizes[b] = inner, v.strides[b] = t->strides[1];
    return v;
}

static fxs_status run_channels(fxs_call *c) {
    const fxs_tensor *in = fxs_arg_tensor(c, INPUT);
    int64_t groups = fxs_arg_int(c, FACTOR);
    if (fxs_tensor_numel(in) == 0)
        return FXS_OK;
    fxs_tensor from = split_channels(in, groups, true),
               to = split_channels(c->out[0], in->sizes[1] / groups, false);
    fxs_tensor_copy(c->ctx, &to, &from);
    return FXS_OK;
}

/* ---- unfold and fold
 * -------------------------------------------------------------------------------------- */

enum { U_INPUT, U_KERNEL, U_DILATION, U_PADDING, U_STRIDE };
enum { F_INPUT, F_SIZE, F_KERNEL, F_DILATION, F_PADDING, F_STRIDE };

static fxs_status read_window(fxs_call *c, fxs_window *w, int first) {
    fxs_window_read(c, first, w, w->kernel);
    fxs_window_read(c, first + 1, w, w->dilation);
    fxs_window_read(c, first + 2, w, w->before);
    fxs_window_read(c, first + 3, w, w->stride);
    memcpy(w->after, w->before, sizeof w->after);
    return fxs_window_check(c, w);
}

/* Fills out from in. */
static fxs_status count_blocks(fxs_call *c, fxs_window *w) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    for (int d = 0; d < 3; d++) {
        int64_t room, extent = fxs_window_extent(w, d);
        if (__builtin_add_overflow(w->in[d], 2 * w->before[d], &room) || extent == INT64_MAX)
            return FXS_REFUSE(c, FXS_ELIMIT, "sizes beyond 2^63");
        w->out[d] = room < extent ? 0 : (room - extent) / w->stride[d] + 1;
    }
    for (int d = 0; d < 3; d++)
        if (w->out[d] < 1)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "given spatial size %s, the calculated shape of the array of sliding "
                              "blocks is %s, but its "
                              "components must be at least one",
                              fxs_window_text(w, w->in, a), fxs_window_text(w, w->out, b));
    return FXS_OK;
}

/* Is a dimension from `first` on empty? */
static bool has_nothing(const fxs_tensor *x, int first) {
    for (int i = first; i < x->ndim; i++)
        if (x->sizes[i] == 0)
            return true;
    return false;
}

static fxs_status read_unfold(fxs_call *c, fxs_window *w) {
    const fxs_tensor *x = fxs_arg_tensor(c, U_INPUT);
    char text[FXS_SIZES_TEXT];
    *w = fxs_window_new(2);
    if (!fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    if ((x->ndim != 3 && x->ndim != 4) || has_nothing(x, x->ndim - 3))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected 3D or 4D (batch mode) input, of which only the batch may be "
                          "empty, but got input of shape %s",
                          fxs_sizes_text(x, text));
    FXS_TRY(read_window(c, w, U_KERNEL));
    fxs_window_sizes(w, x, w->in);
    return count_blocks(c, w);
}

static fxs_status infer_unfold(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, U_INPUT);
    fxs_window w;
    int64_t sizes[3] = {x->ndim > 3 ? x->sizes[0] : 1};
    FXS_TRY(read_unfold(c, &w));
    if (__builtin_mul_overflow(x->sizes[x->ndim - 3], w.kernel[1], &sizes[1]) ||
        __builtin_mul_overflow(sizes[1], w.kernel[2], &sizes[1]) ||
        __builtin_mul_overflow(w.out[1], w.out[2], &sizes[2]))
        return FXS_REFUSE(c, FXS_ELIMIT, "sizes beyond 2^63");
    return fxs_out_new(c, x->dtype, x->ndim - 1, sizes + (x->ndim == 3), NULL);
}

static fxs_status run_unfold(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, U_INPUT);
    fxs_window window;
    FXS_TRY(read_unfold(c, &window));
    fxs_work w = fxs_work_begin(c, x->dtype);
    const void *from = fxs_work_data(&w, x);
    fxs_tensor *y = fxs_work_out(&w, c->out[0]);
    /* [N, C, H, W] -> [N, C * kernel, blocks] */
    int64_t channels = x->sizes[x->ndim - 3];
    size_t in = (size_t)(channels * fxs_volume(window.in)) * fxs_dtype_size(w.dtype);
    size_t out = (size_t)(channels * fxs_volume(window.kernel) * fxs_volume(window.out)) *
                 fxs_dtype_size(w.dtype);
    for (int64_t n = 0; w.status == FXS_OK && n < (x->ndim > 3 ? x->sizes[0] : 1); n++)
        fxs_window_gather(&window, w.dtype, channels, (const char *)from + (size_t)n * in,
                          (char *)fxs_tensor_data(y) + (size_t)n * out);
    return fxs_work_end(&w);
}

static fxs_status read_fold(fxs_call *c, fxs_window *w) {
    const fxs_tensor *x = fxs_arg_tensor(c, F_INPUT);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    *w = fxs_window_new(2);
    if (!fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    if ((x->ndim != 2 && x->ndim != 3) || has_nothing(x, x->ndim - 2))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected 2D or 3D (batch mode) input, of which only the batch may be "
                          "empty, but got input of shape %s",
                          fxs_sizes_text(x, a));
    FXS_TRY(read_window(c, w, F_KERNEL));
    fxs_window_read(c, F_SIZE, w, w->in);
    FXS_TRY(count_blocks(c, w));
    int64_t kernel, blocks;
    if (__builtin_mul_overflow(w->kernel[1], w->kernel[2], &kernel) ||
        x->sizes[x->ndim - 2] % kernel != 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected size of input's channel dimension to be divisible by the "
                          "product of kernel_size %s, but "
                          "got input of shape %s",
                          fxs_window_text(w, w->kernel, b), fxs_sizes_text(x, a));
    if (__builtin_mul_overflow(w->out[1], w->out[2], &blocks) || x->sizes[x->ndim - 1] != blocks)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected %s sliding blocks, but got input of shape %s",
                          fxs_window_text(w, w->out, b), fxs_sizes_text(x, a));
    return FXS_OK;
}

static fxs_status infer_fold(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, F_INPUT);
    fxs_window w;
    FXS_TRY(read_fold(c, &w));
    int64_t sizes[] = {x->ndim > 2 ? x->sizes[0] : 1,
                       x->sizes[x->ndim - 2] / (w.kernel[1] * w.kernel[2]), w.in[1], w.in[2]};
    return fxs_out_new(c, x->dtype, x->ndim + 1, sizes + (x->ndim == 2), NULL);
}

static fxs_status run_fold(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, F_INPUT);
    fxs_window window;
    FXS_TRY(read_fold(c, &window));
    fxs_work w = fxs_work_begin(c, x->dtype);
    const void *from = fxs_work_data(&w, x);
    fxs_tensor *y = fxs_work_out(&w, c->out[0]);
    int64_t channels = c->out[0]->sizes[c->out[0]->ndim - 3];
    size_t image = (size_t)(channels * fxs_volume(window.in)) * fxs_dtype_size(w.dtype);
    size_t blocks = (size_t)(channels * fxs_volume(window.kernel) * fxs_volume(window.out)) *
                    fxs_dtype_size(w.dtype);
    for (int64_t n = 0; w.status == FXS_OK && n < (x->ndim > 2 ? x->sizes[0] : 1); n++)
        fxs_window_scatter(&window, w.dtype, channels, (const char *)from + (size_t)n * blocks,
                           (char *)fxs_tensor_data(y) + (size_t)n * image);
    return fxs_work_end(&w);
}

/* every element of the blocks is added once */
static fxs_cost cost_fold(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, F_INPUT)};
}

const fxs_op fxs_ops_shuffle[] = {
    {.name = "pixel_shuffle",
     .schema = "(Tensor input, int upscale_factor) -> Tensor",
     .torch = "torch.pixel_shuffle torch.nn.functional.pixel_shuffle",
     .infer = infer_shuffle,
     .kernel = run_shuffle,
     .flags = FXS_OP_NO_INPLACE},
    {.name = "pixel_unshuffle",
     .schema = "(Tensor input, int downscale_factor) -> Tensor",
     .torch = "torch.pixel_unshuffle torch.nn.functional.pixel_unshuffle",
     .infer = infer_unshuffle,
     .kernel = run_unshuffle,
     .flags = FXS_OP_NO_INPLACE},
    {.name = "channel_shuffle",
     .schema = "(Tensor input, int groups) -> Tensor",
     .torch =
         "torch.channel_shuffle torch.native_channel_shuffle torch.nn.functional.channel_shuffle",
     .infer = infer_channels,
     .kernel = run_channels,
     .flags = FXS_OP_NO_INPLACE},
    {.name = "unfold_image",
     .schema = "(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] "
               "stride=1) -> Tensor",
     .torch = "torch.nn.functional.unfold torch._C._nn.im2col",
     .infer = infer_unfold,
     .kernel = run_unfold,
     .flags = FXS_OP_COMPLEX},
    {.name = "fold",
     .schema = "(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] "
               "padding=0, "
               "int[2] stride=1) -> Tensor",
     .torch = "torch.nn.functional.fold torch._C._nn.col2im",
     .infer = infer_fold,
     .kernel = run_fold,
     .cost = cost_fold,
     .flags = FXS_OP_COMPLEX},
    {0},
};

const fxs_module_row fxs_modules_shuffle[] = {
    {.name = "PixelShuffle",
     .hyper = "upscale_factor",
     .repr = "upscale_factor=",
     .call = "pixel_shuffle(input, upscale_factor)"},
    {.name = "PixelUnshuffle",
     .hyper = "downscale_factor",
     .repr = "downscale_factor=",
     .call = "pixel_unshuffle(input, downscale_factor)"},
    {.name = "ChannelShuffle",
     .hyper = "groups",
     .repr = "groups=",
     .call = "channel_shuffle(input, groups)"},
    {.name = "Unfold",
     .hyper = "kernel_size, dilation=1, padding=0, stride=1",
     .repr = "kernel_size=, dilation=, padding=, stride=",
     .call = "unfold_image(input, kernel_size, dilation, padding, stride)"},
    {.name = "Fold",
     .hyper = "output_size, kernel_size, dilation=1, padding=0, stride=1",
     .repr = "output_size=, kernel_size=, dilation=, padding=, stride=",
     .call = "fold(input, output_size, kernel_size, dilation, padding, stride)"},
    {0},
};
