/* conv.c: convolutions of one to three dimensions and their transposes: arguments, shapes, costs,
 * and the layers. The arithmetic is behind fxs_conv_run (conv_run.c). */
#include "kernels/conv.h"
#include "kernels/iterate.h"

#include <stdio.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

/* Positions in the schemas; the transposed ones have their own order behind PADDING. */
enum { INPUT, WEIGHT, BIAS, STRIDE, PADDING, DILATION, GROUPS, MODE };
enum { T_OUTPUT_PADDING = PADDING + 1, T_GROUPS, T_DILATION };

static const char *const padding_modes[] = {"zeros", "reflect", "replicate", "circular"};

/* ---- checks
 * -----------------------------------------------------------------------------------------------
 */

/* PyTorch computes nothing of an input without elements, and so checks less. */
static bool is_empty(const fxs_call *c) { return fxs_tensor_numel(fxs_arg_tensor(c, INPUT)) == 0; }

/* PyTorch hands convolutions of float32 to oneDNN where it expects that to be faster, on one
 * thread. */
static bool goes_to_onednn(const fxs_conv *v, int dims) {
    const fxs_window *w = &v->window;
    const int64_t *in = w->in + (dims < 3);
    bool moves = v->batch >= 16 || w->kernel[1] != 1 || w->kernel[2] != 1;
    for (int i = 0; i < 3; i++)
        moves |= w->stride[i] != 1 || w->dilation[i] != 1;
    bool large = (double)v->batch * (double)v->cin * (double)in[0] * (double)in[1] > 20480;
    return moves &&
           (v->groups > 1 || v->batch > 1 || large || (w->kernel[1] > 3 && w->kernel[2] > 3));
}

/* PyTorch's own loops: for types that oneDNN does not have, and where it would not be faster. */
static bool takes_plain_loops(const fxs_call *c, const fxs_conv *v, int dims) {
    fxs_dtype d = fxs_arg_tensor(c, INPUT)->dtype;
    return d != FXS_BFLOAT16 && d != FXS_FLOAT16 && (d != FXS_FLOAT32 || !goes_to_onednn(v, dims));
}

/* PyTorch's plain loops start from the bias, whatever its type is; conv2d alone looks at it before,
 * unless its padding is a name. */
static bool starts_from_bias(const fxs_call *c, const fxs_conv *v, int dims) {
    bool looks = dims == 2 && c->spelling && c->arg[PADDING].tag != FXS_V_STR;
    return !v->transposed && !looks && takes_plain_loops(c, v, dims);
}

static fxs_status check_types(fxs_call *c, const fxs_conv *v, int dims) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *bias = fxs_arg_tensor(c, BIAS);
    const fxs_tensor *weight = fxs_arg_tensor(c, WEIGHT);
    if (x->dtype == FXS_FLOAT32 && weight->dtype == FXS_FLOAT32 &&
        (!bias || bias->dtype == FXS_FLOAT32))
        return FXS_OK; /* as most are */
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS));
    FXS_TRY(fxs_check_same_dtype(c, x, weight, "weight"));
    return starts_from_bias(c, v, dims) ? FXS_OK : fxs_check_same_dtype(c, x, bias, "bias");
}

/* To a result without elements the bias is added. */
static fxs_status check_types_of_nothing(fxs_call *c, const fxs_conv *v, int dims) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *bias = fxs_arg_tensor(c, BIAS);
    const fxs_tensor *weight = fxs_arg_tensor(c, WEIGHT);
    fxs_dtype d = fxs_promote(x->dtype, weight->dtype);
    if (!bias)
        return FXS_OK;
    if (dims == 2 && !v->transposed && x->dtype != FXS_BFLOAT16 && c->arg[PADDING].tag != FXS_V_STR)
        FXS_TRY(fxs_check_same_dtype(c, x, bias, "bias"));
    return fxs_dtype_keeps(d, fxs_promote(d, bias->dtype))
               ? FXS_OK
               : fxs_check_same_dtype(c, x, bias, "bias");
}

/* Only a batch or channels may be none; the product that PyTorch makes of an input without a batch
 * needs a weight. */
static fxs_status check_nothing(fxs_call *c, const fxs_conv *v) {
    char text[FXS_SIZES_TEXT];
    if (v->batch && v->cin)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "only zero batch or zero channel inputs are supported, but got %s",
                          fxs_sizes_text(fxs_arg_tensor(c, INPUT), text));
    if (v->cin && fxs_tensor_numel(fxs_arg_tensor(c, WEIGHT)) == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "the weight has no elements");
    return FXS_OK;
}

static fxs_status check_ranks(fxs_call *c, int dims) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT);
    char text[FXS_SIZES_TEXT];
    if (weight->ndim != dims + 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected weight of %d dimensions, but got weight of shape %s", dims + 2,
                          fxs_sizes_text(weight, text));
    if (x->ndim != dims + 1 && x->ndim != dims + 2)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected %dD (unbatched) or %dD (batched) input, but got input of shape %s", dims + 1,
            dims + 2, fxs_sizes_text(x, text));
    return FXS_OK;
}

static fxs_status check_channels(fxs_call *c, const fxs_conv *v) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT),
                     *bias = fxs_arg_tensor(c, BIAS);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (weight->sizes[0] < v->groups || weight->sizes[0] % v->groups != 0)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "given groups=%lld, expected weight to be divisible by %lld at dimension "
                          "0, but got weight of "
                          "shape %s",
                          (long long)v->groups, (long long)v->groups, fxs_sizes_text(weight, a));
    int64_t want = v->transposed ? weight->sizes[0] : weight->sizes[1] * v->groups;
    if (v->cin != want)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected input with %lld channels for weight of shape %s%s, but got input of shape %s",
            (long long)want, fxs_sizes_text(weight, a), v->groups > 1 ? " and these groups" : "",
            fxs_sizes_text(x, b));
    if (bias && (bias->ndim != 1 || bias->sizes[0] != v->cout))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "given weight of shape %s, expected bias of shape [%lld], but got %s",
                          fxs_sizes_text(weight, a), (long long)v->cout, fxs_sizes_text(bias, b));
    return FXS_OK;
}

/* ---- geometry
 * --------------------------------------------------------------------------------------------- */

/* padding='same' or 'valid'; the odd cell of 'same' goes behind. */
static fxs_status named_padding(fxs_call *c, fxs_window *w) {
    const char *name = fxs_arg_str(c, PADDING);
    if (strcmp(name, "valid") == 0)
        return FXS_OK;
    if (strcmp(name, "same") != 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "invalid padding string: '%s' ('same' and 'valid' are known)", name);
    for (int d = 0; d < 3; d++) {
        if (w->stride[d] != 1)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "padding='same' is not supported for strided convolutions");
        int64_t total = fxs_window_extent(w, d) - 1;
        w->before[d] = total / 2;
        w->after[d] = total - total / 2;
    }
    return FXS_OK;
}

static fxs_status too_large(fxs_call *c) { return FXS_REFUSE(c, FXS_ELIMIT, "sizes beyond 2^63"); }

/* out = (in + padding - extent) / stride + 1 */
static fxs_status forward_sizes(fxs_call *c, fxs_window *w) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int64_t padded[3] = {1, 1, 1}, extent[3] = {1, 1, 1};
    int first = 3 - w->dims; /* what is in front is one place */
    for (int d = first; d < 3; d++) {
        extent[d] = fxs_window_extent(w, d);
        if (__builtin_add_overflow(w->in[d], w->before[d], &padded[d]) ||
            __builtin_add_overflow(padded[d], w->after[d], &padded[d]))
            return too_large(c);
    }
    for (int d = first; d < 3; d++)
        if (padded[d] < extent[d])
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "calculated padded input size per channel: %s. Kernel size: %s. "
                              "Kernel size can't be "
                              "greater than actual input size",
                              fxs_window_text(w, padded, a), fxs_window_text(w, extent, b));
    for (int d = first; d < 3; d++)
        w->out[d] = fxs_steps(padded[d] - extent[d], w->stride[d]) + 1;
    return FXS_OK;
}

/* The window slides over the result: in = (out - 1) * stride - padding + extent + output_padding */
static fxs_status transposed_sizes(fxs_call *c, fxs_window *w, const int64_t extra[3]) {
    char text[FXS_SIZES_TEXT];
    for (int d = 0; d < 3; d++) {
        int64_t n;
        if (extra[d] < 0 ||
            (extra[d] >= w->stride[d] && extra[d] >= w->dilation[d] && !is_empty(c)))
            return FXS_REFUSE(
                c, FXS_EINVAL,
                "output padding must be smaller than either stride or dilation, but got %s",
                fxs_window_text(w, extra, text));
        if (__builtin_mul_overflow(w->out[d] - 1, w->stride[d], &n) ||
            __builtin_add_overflow(n, fxs_window_extent(w, d) + extra[d], &n) ||
            __builtin_sub_overflow(n, w->before[d], &n) ||
            __builtin_sub_overflow(n, w->after[d], &n))
            return too_large(c);
        w->in[d] = n;
    }
    for (int d = 0; d < 3; d++)
        if (w->in[d] < (is_empty(c) ? 0 : 1))
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "calculated output size per channel: %s. Output size is too small",
                              fxs_window_text(w, w->in, text));
    return FXS_OK;
}

static fxs_status read_mode(fxs_call *c, fxs_conv *v) {
    if (c->nargs <= MODE) /* zeros */
        return FXS_OK;
    const char *name = fxs_arg_str(c, MODE);
    for (size_t i = 0; i < sizeof padding_modes / sizeof *padding_modes; i++) {
        if (strcmp(name, padding_modes[i]) == 0) {
            v->padding = (fxs_padding)i;
            return FXS_OK;
        }
    }
    return FXS_REFUSE(c, FXS_EINVAL, "invalid padding mode: '%s'", name);
}

/* Reflected and wrapped padding must find its values inside of the input. */
static fxs_status check_mode(fxs_call *c, const fxs_conv *v) {
    const fxs_window *w = &v->window;
    if (v->padding == FXS_PAD_ZEROS)
        return FXS_OK;
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    for (int d = 0; d < 3; d++) {
        int64_t most = w->before[d] > w->after[d] ? w->before[d] : w->after[d];
        bool ok = most == 0 || (v->padding == FXS_PAD_REFLECT    ? most < w->in[d]
                                : v->padding == FXS_PAD_CIRCULAR ? most <= w->in[d]
                                                                 : w->in[d] > 0);
        if (!ok)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "padding %s with padding_mode '%s' is too large for input of size %s",
                              fxs_window_text(w, w->before, a), padding_modes[v->padding],
                              fxs_window_text(w, w->in, b));
    }
    return FXS_OK;
}

static void read_channels(const fxs_call *c, int groups, fxs_conv *v) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT);
    bool batched = x->ndim == weight->ndim;
    v->groups = fxs_arg_int(c, groups);
    v->batch = batched ? x->sizes[0] : 1;
    v->cin = x->sizes[batched ? 1 : 0];
    v->cout = v->transposed ? weight->sizes[1] * v->groups : weight->sizes[0];
}

/* What both kinds have; `groups` and `dilation` are the places of those arguments. */
static fxs_status read_common(fxs_call *c, int dims, bool transposed, int groups, int dilation,
                              fxs_conv *v) {
    fxs_window *w = &v->window;
    fxs_window_clear(w, dims);
    v->padding = FXS_PAD_ZEROS;
    v->transposed = transposed;
    FXS_TRY(check_ranks(c, dims));
    fxs_window_read(c, dilation, w, w->dilation);
    read_channels(c, groups, v);
    if (v->groups < 1)
        return FXS_REFUSE(c, FXS_EINVAL, "non-positive groups is not supported, but got %lld",
                          (long long)v->groups);
    fxs_window_sizes(w, fxs_arg_tensor(c, WEIGHT), w->kernel);
    fxs_window_sizes(w, fxs_arg_tensor(c, INPUT), transposed ? w->out : w->in);
    fxs_window_read(c, STRIDE, w, w->stride);
    return (is_empty(c) ? check_types_of_nothing : check_types)(c, v, dims);
}

/* Where nothing is computed a kernel may have no size, any dilation will do, and padding may be
 * negative when it is transposed. */
static fxs_status check_window(fxs_call *c, const fxs_window *w) {
    if (!is_empty(c))
        return fxs_window_check(c, w);
    fxs_window some = *w;
    for (int d = 0; d < 3; d++)
        some.kernel[d] = some.dilation[d] = 1;
    return fxs_window_check(c, &some);
}

/* The whole call as numbers, checked. */
static fxs_status read_conv(fxs_call *c, int dims, fxs_conv *v) {
    fxs_window *w = &v->window;
    FXS_TRY(read_common(c, dims, false, GROUPS, DILATION, v));
    if (fxs_value_text(&c->arg[PADDING])) {
        FXS_TRY(named_padding(c, w));
    } else {
        fxs_window_read(c, PADDING, w, w->before);
        memcpy(w->after, w->before, sizeof w->after);
    }
    FXS_TRY(check_window(c, w));
    FXS_TRY(read_mode(c, v));
    FXS_TRY(check_channels(c, v));
    if (is_empty(c))
        FXS_TRY(check_nothing(c, v));
    FXS_TRY(check_mode(c, v));
    return forward_sizes(c, w);
}

static fxs_status read_transposed(fxs_call *c, int dims, fxs_conv *v) {
    int64_t extra[3] = {0};
    fxs_window *w = &v->window;
    FXS_TRY(read_common(c, dims, true, T_GROUPS, T_DILATION, v));
    fxs_window_read(c, PADDING, w, w->before);
    fxs_window_read(c, T_OUTPUT_PADDING, w, extra);
    memcpy(w->after, w->before, sizeof w->after);
    FXS_TRY(check_window(c, w));
    FXS_TRY(check_channels(c, v));
    if (is_empty(c))
        FXS_TRY(check_nothing(c, v));
    else if (fxs_arg_numel(c, WEIGHT) == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "the weight has no elements");
    return transposed_sizes(c, w, extra);
}

/* ---- results
 * ---------------------------------------------------------------------------------------------- */

/* unsqueeze(-2) */
static void add_row(fxs_tensor *t) {
    int last = t->ndim - 1;
    t->sizes[t->ndim] = t->sizes[last];
    t->strides[t->ndim++] = t->strides[last];
    t->strides[last] *= t->sizes[last];
    t->sizes[last] = 1;
}

/* The plain loops compute group by group, and the results joined lie as each of them does: of one
 * channel with one place that is no layout at all. */
static bool joins_single_places(const fxs_call *c, const fxs_conv *v) {
    const int64_t *out = v->window.out;
    return v->groups > 1 && v->cout == v->groups && out[1] == 1 && out[2] == 1 &&
           takes_plain_loops(c, v, v->window.dims);
}

/* torch gives channels_last where input or weight is, in two dimensions only; an unbatched input is
 * judged with a dimension of size 1 in front. */
static bool wants_channels_last(const fxs_call *c, const fxs_conv *v) {
    if (v->window.dims == 2 && !v->transposed && v->padding == FXS_PAD_ZEROS && v->groups == 1 &&
        fxs_arg_tensor(c, INPUT)->ndim == 4) /* as most are: nothing to put right first */
        return fxs_suggests_channels_last(fxs_arg_tensor(c, INPUT)) ||
               fxs_suggests_channels_last(fxs_arg_tensor(c, WEIGHT));
    fxs_tensor x = *fxs_arg_tensor(c, INPUT);
    fxs_tensor weight = *fxs_arg_tensor(c, WEIGHT);
    if (v->window.dims > 2 || v->transposed || joins_single_places(c, v))
        return false;
    if (v->padding != FXS_PAD_ZEROS ||
        (v->window.dims == 1 && !fxs_tensor_is_contiguous(&x))) /* a dense copy */
        fxs_strides_of(x.ndim, x.sizes, NULL, x.strides);
    if (v->window.dims == 1) { /* an image of one row */
        add_row(&x);
        add_row(&weight);
    }
    if (x.ndim == 3) {
        memmove(x.sizes + 1, x.sizes, 3 * sizeof *x.sizes);
        memmove(x.strides + 1, x.strides, 3 * sizeof *x.strides);
        x.sizes[0] = 1;
        x.strides[0] = x.sizes[1] * x.strides[1];
        x.ndim = 4;
    }
    return fxs_suggests_channels_last(&x) || fxs_suggests_channels_last(&weight);
}

/* PyTorch's plain loops of dilated and transposed convolutions know int64 alone of the integers. */
static fxs_status check_whole(fxs_call *c, const fxs_conv *v) {
    fxs_dtype d = fxs_arg_tensor(c, INPUT)->dtype;
    bool dilated = false;
    for (int i = 0; i < 3; i++)
        dilated |= v->window.dilation[i] > 1;
    if (fxs_is_integral(d) && d != FXS_INT64 && (dilated || v->transposed) && !is_empty(c))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    return FXS_OK;
}

static fxs_status make_result(fxs_call *c, const fxs_conv *v) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_dtype dtype = x->dtype;
    const int64_t *spatial = v->transposed ? v->window.in : v->window.out;
    int dims = v->window.dims, skip = x->ndim == dims + 1;
    int64_t sizes[5] = {v->batch, v->cout}, strides[5];
    memcpy(sizes + 2, spatial + 3 - dims, (size_t)dims * sizeof *sizes);
    if (v->cin == 0)
        sizes[1] = 0;
    if (is_empty(c)) {
        fxs_tensor number = {.dtype = fxs_arg_tensor(c, WEIGHT)->dtype};
        fxs_operands o = {.n = 2, .v = {fxs_of_tensor((fxs_tensor *)x), fxs_of_tensor(&number)}};
        dtype = fxs_common_type(&o);
    }
    bool grad = false, even;
    for (int i = INPUT; i <= BIAS; i++)
        grad |= fxs_arg_tensor(c, i) && fxs_arg_tensor(c, i)->requires_grad;
    if (grad && fxs_is_complex(dtype))
        return FXS_REFUSE(c, FXS_EINVAL, "complex results can't be differentiated");
    even = memcmp(v->window.before, v->window.after, sizeof v->window.before) == 0;
    if (is_empty(c) && v->cin && even &&
        memcmp(sizes + skip, x->sizes, (size_t)x->ndim * sizeof *sizes) == 0)
        return fxs_out_with_number(c, x, dtype); /* it is the input times a weight */
    if (is_empty(c))
        fxs_strides_of(dims + 2, sizes, NULL, strides);
    else if (dims == 1 && wants_channels_last(c, v))
        strides[0] = sizes[1] * sizes[2], strides[1] = 1, strides[2] = sizes[1];
    else if (wants_channels_last(c, v))
        fxs_channels_last_strides(dims + 2, sizes, strides);
    else
        fxs_strides_of(dims + 2, sizes, NULL, strides);
    return fxs_out_new(c, dtype, dims + 2 - skip, sizes + skip, strides + skip);
}

typedef fxs_status read_fn(fxs_call *c, int dims, fxs_conv *v);

static bool is_transposed(const fxs_call *c) { return strstr(c->op->name, "transpose") != NULL; }

/* Complex numbers: three convolutions of real ones, as PyTorch makes them. */
static void make_complex(fxs_compose *k) {
    const fxs_call *c = k->call;
    fxs_value part[3][3], args[FXS_MAX_ARGS], i = {.tag = FXS_V_COMPLEX, .u.c = {0, 1}};
    fxs_tensor *y[3];
    size_t nargs = (size_t)(is_transposed(c) || c->nargs <= MODE ? c->nargs : MODE);
    for (int a = 0; a < 3; a++) {
        fxs_value v = c->arg[a];
        bool some = v.tag == FXS_V_TENSOR;
        part[0][a] = some ? fxs_t(FXS_DO(k, "real", v)) : v;
        part[1][a] = some ? fxs_t(FXS_DO(k, "imag", v)) : v;
        part[2][a] = some ? fxs_t(FXS_DO(k, "add", part[0][a], part[1][a])) : v;
    }
    part[1][BIAS] = fxs_none();
    for (int n = 0; n < 3; n++) {
        memcpy(args, c->arg, nargs * sizeof *args);
        memcpy(args, part[n], sizeof part[n]);
        y[n] = fxs_do(k, c->op->name, nargs, args);
    }
    fxs_tensor *re = FXS_DO(k, "sub", fxs_t(y[0]), fxs_t(y[1]));
    fxs_tensor *im = FXS_DO(k, "sub", fxs_t(y[2]), fxs_t(y[0]));
    im = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "sub", fxs_t(im), fxs_t(y[1]))), i);
    fxs_give(k, FXS_DO(k, "add", fxs_t(re), fxs_t(im)));
}

static bool meets_complex(const fxs_call *c) {
    if (!fxs_is_complex(fxs_arg_tensor(c, INPUT)->dtype))
        return false;
    return !is_empty(c) || (strcmp(c->op->name, "conv_transpose2d") != 0 &&
                            strcmp(c->op->name, "conv_transpose3d") != 0);
}

/* Padding modes but zeros are the layers', which have no complex weights here. */
static fxs_status infer_complex(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    if (strcmp(c->op->name, "conv_transpose2d") == 0 ||
        strcmp(c->op->name, "conv_transpose3d") == 0)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    FXS_TRY(fxs_check_same_dtype(c, x, fxs_arg_tensor(c, WEIGHT), "weight"));
    FXS_TRY(fxs_check_same_dtype(c, x, fxs_arg_tensor(c, BIAS), "bias"));
    return fxs_compose_infer(c, make_complex);
}

static fxs_status infer_with(fxs_call *c, read_fn *read, int dims) {
    fxs_conv v;
    if (meets_complex(c))
        return infer_complex(c);
    FXS_TRY(read(c, dims, &v));
    FXS_TRY(check_whole(c, &v));
    return make_result(c, &v);
}

static fxs_status run_with(fxs_call *c, read_fn *read, int dims) {
    fxs_conv v;
    if (meets_complex(c))
        return fxs_compose_run(c, make_complex);
    FXS_TRY(read(c, dims, &v));
    return fxs_conv_run(c, &v, fxs_arg_tensor(c, INPUT), fxs_arg_tensor(c, WEIGHT),
                        fxs_arg_tensor(c, BIAS));
}

/* 2 K for each element of the result, K = weights that meet there = (cin / groups) * kernel; a sum
 * more with a bias */
static fxs_cost cost_conv(const fxs_call *c) {
    const fxs_tensor *weight = fxs_arg_tensor(c, WEIGHT);
    double out = (double)fxs_tensor_numel(c->out[0]);
    double k = weight->sizes[0] ? (double)fxs_tensor_numel(weight) / (double)weight->sizes[0] : 0;
    return (fxs_cost){.flops = 2 * k * out + (fxs_arg_tensor(c, BIAS) ? out : 0)};
}

/* 2 K for each element of the input, K = weights that it meets = (cout / groups) * kernel; a sum
 * for each bias added */
static fxs_cost cost_transposed(const fxs_call *c) {
    const fxs_tensor *weight = fxs_arg_tensor(c, WEIGHT);
    double in = (double)fxs_arg_numel(c, INPUT), out = (double)fxs_tensor_numel(c->out[0]);
    double k = weight->sizes[0] ? (double)fxs_tensor_numel(weight) / (double)weight->sizes[0] : 0;
    return (fxs_cost){.flops = 2 * k * in + (fxs_arg_tensor(c, BIAS) ? out : 0)};
}

static fxs_status infer_conv1(fxs_call *c) { return infer_with(c, read_conv, 1); }
static fxs_status infer_conv2(fxs_call *c) { return infer_with(c, read_conv, 2); }
static fxs_status infer_conv3(fxs_call *c) { return infer_with(c, read_conv, 3); }
static fxs_status run_conv1(fxs_call *c) { return run_with(c, read_conv, 1); }
static fxs_status run_conv2(fxs_call *c) { return run_with(c, read_conv, 2); }
static fxs_status run_conv3(fxs_call *c) { return run_with(c, read_conv, 3); }
static fxs_status infer_transposed1(fxs_call *c) { return infer_with(c, read_transposed, 1); }
static fxs_status infer_transposed2(fxs_call *c) { return infer_with(c, read_transposed, 2); }
static fxs_status infer_transposed3(fxs_call *c) { return infer_with(c, read_transposed, 3); }
static fxs_status run_transposed1(fxs_call *c) { return run_with(c, read_transposed, 1); }
static fxs_status run_transposed2(fxs_call *c) { return run_with(c, read_transposed, 2); }
static fxs_status run_transposed3(fxs_call *c) { return run_with(c, read_transposed, 3); }

/* Layers may pad otherwise than by zeros, torch's functions may not: two rows of one name, and the
 * layers' comes first, as it is they who look an operator up by name. */
#define CONV_SCHEMA(n)                                                                             \
    "(Tensor input, Tensor weight, Tensor? bias=None, int[" #n "] stride=1, int[" #n               \
    "]|str padding=0, int[" #n "] dilation=1, int groups=1"
#define CONV(n)                                                                                    \
    {.name = "conv" #n "d",                                                                        \
     .schema = CONV_SCHEMA(n) ", *, str padding_mode='zeros') -> Tensor",                          \
     .infer = infer_conv##n,                                                                       \
     .kernel = run_conv##n,                                                                        \
     .cost = cost_conv},                                                                           \
    {                                                                                              \
        .name = "conv" #n "d", .schema = CONV_SCHEMA(n) ") -> Tensor",                             \
        .torch = "torch.conv" #n "d torch.nn.functional.conv" #n "d", .infer = infer_conv##n,      \
        .kernel = run_conv##n, .cost = cost_conv, .flags = FXS_OP_NO_INPLACE                       \
    }
#define TRANSPOSED(n)                                                                              \
    {                                                                                              \
        .name = "conv_transpose" #n "d",                                                           \
        .schema = "(Tensor input, Tensor weight, Tensor? bias=None, int[" #n "] stride=1, int[" #n \
                  "] padding=0, int[" #n "] output_padding=0, int groups=1, int[" #n               \
                  "] dilation=1) -> Tensor",                                                       \
        .torch = "torch.conv_transpose" #n "d torch.nn.functional.conv_transpose" #n "d",          \
        .infer = infer_transposed##n, .kernel = run_transposed##n, .cost = cost_transposed,        \
        .flags = FXS_OP_NO_INPLACE                                                                 \
    }

const fxs_op fxs_ops_conv[] = {CONV(1),       CONV(2),       CONV(3), TRANSPOSED(1),
                               TRANSPOSED(2), TRANSPOSED(3), {0}};

/* kernel_size is a tuple of one number a dimension, as print(model) shows it. */
#define CONV_LAYER(n)                                                                              \
    {                                                                                              \
        .name = "Conv" #n "d",                                                                     \
        .hyper = "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, "       \
                 "groups=1, bias=True, "                                                           \
                 "padding_mode='zeros'",                                                           \
        .state = "weight[out_channels, in_channels / groups, *kernel_size] = fan_in(weight); "     \
                 "bias[out_channels] = fan_in(weight) if bias",                                    \
        .repr = "in_channels, out_channels, kernel_size(" #n ")=, stride(" #n ")=, padding(" #n    \
                ")=?, dilation(" #n ")=?, groups=?, bias=?, padding_mode=?",                       \
        .call = "conv" #n "d(input, weight, bias, stride=stride, padding=padding, "                \
                "dilation=dilation, groups=groups, "                                               \
                "padding_mode=padding_mode)",                                                      \
        .trace = "torch.conv" #n "d(input, weight, bias, stride(" #n "), padding(" #n              \
                 "), dilation(" #n "), groups)"                                                    \
    }
#define TRANSPOSED_LAYER(n)                                                                        \
    {                                                                                              \
        .name = "ConvTranspose" #n "d",                                                            \
        .hyper = "in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, " \
                 "groups=1, bias=True, "                                                           \
                 "dilation=1, padding_mode='zeros'",                                               \
        .state = "weight[in_channels, out_channels / groups, *kernel_size] = fan_in(weight); "     \
                 "bias[out_channels] = fan_in(weight) if bias",                                    \
        .repr =                                                                                    \
            "in_channels, out_channels, kernel_size(" #n ")=, stride(" #n ")=, padding(" #n        \
            ")=?, dilation(" #n ")=?, output_padding(" #n ")=?, groups=?, bias=?, padding_mode=?", \
        .call = "conv_transpose" #n "d(input, weight, bias, stride=stride, padding=padding, "      \
                "output_padding=output_padding, groups=groups, dilation=dilation)",                \
        .trace = "torch.conv_transpose" #n "d(input, weight, bias, stride(" #n "), padding(" #n    \
                 "), output_padding(" #n "), groups, dilation(" #n "))"                            \
    }

const fxs_module_row fxs_modules_conv[] = {
    CONV_LAYER(1),       CONV_LAYER(2),       CONV_LAYER(3), TRANSPOSED_LAYER(1),
    TRANSPOSED_LAYER(2), TRANSPOSED_LAYER(3), {0},
};
