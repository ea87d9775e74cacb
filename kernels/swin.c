/* swin.c: the functions of torchvision's Swin transformer, which torch.fx leaves whole: attention
 * within shifted windows, the bias by relative position, and the four neighbours of patch merging.
 * Composed of other operators. */
#include <math.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/work.h"

enum {
    INPUT,
    QKV_WEIGHT,
    PROJ_WEIGHT,
    BIAS,
    WINDOW,
    HEADS,
    SHIFT,
    ATTENTION_DROPOUT,
    DROPOUT,
    QKV_BIAS,
    PROJ_BIAS,
    LOGIT_SCALE
};

typedef struct windows {
    int64_t batch, height, width, channels; /* of the input */
    int64_t size[2], shift[2], count[2];    /* of windows: their sizes, shifts, how many */
    int64_t heads, head_width, tokens;      /* tokens: places of a window */
} windows;

static void read_windows(fxs_compose *k, windows *w) {
    const fxs_call *c = k->call;
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    w->heads = fxs_arg_int(c, HEADS);
    fxs_arg_ints(c, WINDOW, w->size, 2);
    fxs_arg_ints(c, SHIFT, w->shift, 2);
    if (x->ndim != 4) {
        fxs_stop(k, FXS_ESHAPE, "input must have 4 dimensions, but has %d", x->ndim);
        return;
    }
    w->batch = x->sizes[0], w->height = x->sizes[1], w->width = x->sizes[2],
    w->channels = x->sizes[3];
    if (w->size[0] < 1 || w->size[1] < 1 || w->size[0] > 4096 || w->size[1] > 4096 ||
        w->heads < 1 || w->channels % w->heads) {
        fxs_stop(k, FXS_EINVAL,
                 "windows must be 1 to 4096 wide, and %lld channels be a multiple of %lld heads",
                 (long long)w->channels, (long long)w->heads);
        return;
    }
    w->head_width = w->channels / w->heads;
    w->tokens = w->size[0] * w->size[1];
    w->count[0] = (w->height + w->size[0] - 1) / w->size[0];
    w->count[1] = (w->width + w->size[1] - 1) / w->size[1];
    for (int i = 0; i < 2; i++)
        if (w->count[i] <= 1) /* one window needs no shift */
            w->shift[i] = 0;
}

static bool shifts(const windows *w) { return w->shift[0] + w->shift[1] > 0; }

static fxs_tensor *roll(fxs_compose *k, fxs_tensor *x, const windows *w, int sign) {
    return FXS_DO(k, "roll", fxs_t(x), FXS_INTS(k, sign * w->shift[0], sign * w->shift[1]),
                  FXS_INTS(k, 1, 2));
}

/* [B, H, W, C] -> [B * windows, tokens, C] */
static fxs_tensor *partition(fxs_compose *k, fxs_tensor *x, const windows *w) {
    x = FXS_DO(
        k, "view", fxs_t(x),
        FXS_INTS(k, w->batch, w->count[0], w->size[0], w->count[1], w->size[1], w->channels));
    x = FXS_DO(k, "permute", fxs_t(x), FXS_INTS(k, 0, 1, 3, 2, 4, 5));
    return FXS_DO(k, "reshape", fxs_t(x),
                  FXS_INTS(k, w->batch * w->count[0] * w->count[1], w->tokens, w->channels));
}

/* Which of three bands a row of the shifted map came from: those from different places do not see
 * each other. */
static int64_t band(int64_t at, int64_t n, int64_t size, int64_t shift) {
    return at < n - size ? 0 : shift == 0 || at < n - shift ? 1 : 2;
}

/* 0 or -100 for each pair of places of each window: [1, windows, 1, tokens, tokens] */
static fxs_tensor *mask(fxs_compose *k, fxs_tensor *x, const windows *w) {
    int64_t nwindows = w->count[0] * w->count[1], n = w->tokens;
    fxs_tensor *m = FXS_DO(k, "new_zeros", fxs_t(x), FXS_INTS(k, 1, nwindows, 1, n, n));
    if (!m || !m->storage)
        return m;
    char *p = fxs_tensor_data(m);
    size_t size = fxs_dtype_size(m->dtype);
    for (int64_t v = 0; v < nwindows; v++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++, p += size) {
                int64_t region[2];
                for (int e = 0; e < 2; e++) {
                    int64_t at = e ? j : i;
                    int64_t row = v / w->count[1] * w->size[0] + at / w->size[1],
                            column = v % w->count[1] * w->size[1] + at % w->size[1];
                    region[e] = 3 * band(row, w->count[0] * w->size[0], w->size[0], w->shift[0]) +
                                band(column, w->count[1] * w->size[1], w->size[1], w->shift[1]);
                }
                fxs_store_double(m->dtype, p, region[0] == region[1] ? 0 : -100);
            }
    return m;
}

static fxs_tensor *turned(fxs_compose *k, fxs_tensor *x) {
    return FXS_DO(k, "transpose", fxs_t(x), fxs_int(-2), fxs_int(-1));
}

/* Version 2 compares directions: cosines, scaled by what was learned. */
static fxs_tensor *cosines(fxs_compose *k, fxs_tensor *q, fxs_tensor *key) {
    fxs_tensor *scale = fxs_arg_tensor(k->call, LOGIT_SCALE);
    q = FXS_DO(k, "normalize", fxs_t(q), fxs_float(2), fxs_int(-1));
    key = FXS_DO(k, "normalize", fxs_t(key), fxs_float(2), fxs_int(-1));
    scale = FXS_DO(k, "clamp_max", fxs_t(scale), fxs_float(log(100)));
    scale = FXS_DO(k, "exp", fxs_t(scale));
    return FXS_DO(k, "mul", fxs_t(FXS_DO(k, "matmul", fxs_t(q), fxs_t(turned(k, key)))),
                  fxs_t(scale));
}

static fxs_tensor *scores(fxs_compose *k, fxs_tensor *q, fxs_tensor *key, fxs_tensor *x,
                          const windows *w) {
    int64_t rows = w->batch * w->count[0] * w->count[1], n = w->tokens;
    fxs_tensor *a;
    if (fxs_arg_tensor(k->call, LOGIT_SCALE)) {
        a = cosines(k, q, key);
    } else {
        q = FXS_DO(k, "mul", fxs_t(q), fxs_float(1 / sqrt((double)w->head_width)));
        a = FXS_DO(k, "matmul", fxs_t(q), fxs_t(turned(k, key)));
    }
    a = FXS_DO(k, "add", fxs_t(a), fxs_t(fxs_arg_tensor(k->call, BIAS)));
    if (shifts(w)) {
        int64_t nwindows = w->count[0] * w->count[1];
        a = FXS_DO(k, "view", fxs_t(a), FXS_INTS(k, w->batch, nwindows, w->heads, n, n));
        a = FXS_DO(k, "add", fxs_t(a), fxs_t(mask(k, x, w)));
        a = FXS_DO(k, "view", fxs_t(a), FXS_INTS(k, rows, w->heads, n, n));
    }
    return FXS_DO(k, "softmax", fxs_t(a), fxs_int(-1));
}

/* torchvision calls dropout without `training`: it drops whatever the mode. */
static fxs_tensor *drop(fxs_compose *k, fxs_tensor *x, int i) {
    return FXS_DO(k, "dropout", fxs_t(x), fxs_float(fxs_arg_float(k->call, i)), fxs_bool(true));
}

/* Keys have no bias of their own in version 2. */
static fxs_tensor *qkv_bias(fxs_compose *k) {
    fxs_tensor *b = fxs_arg_tensor(k->call, QKV_BIAS), *parts[3];
    if (!b || !fxs_arg_tensor(k->call, LOGIT_SCALE))
        return b;
    FXS_DO(k, "chunk", fxs_t(b), fxs_int(3));
    for (int i = 0; i < 3; i++)
        parts[i] = fxs_do_item(k, i);
    parts[1] = FXS_DO(k, "zeros_like", fxs_t(parts[1]));
    return FXS_DO(k, "cat", fxs_tensors(k, 3, parts));
}

static fxs_tensor *attend(fxs_compose *k, fxs_tensor *x, const windows *w) {
    int64_t rows = w->batch * w->count[0] * w->count[1], n = w->tokens;
    fxs_tensor *part[3],
        *qkv = FXS_DO(k, "linear", fxs_t(x), k->call->arg[QKV_WEIGHT], fxs_t(qkv_bias(k)));
    qkv = FXS_DO(k, "reshape", fxs_t(qkv), FXS_INTS(k, rows, n, 3, w->heads, w->head_width));
    qkv = FXS_DO(k, "permute", fxs_t(qkv), FXS_INTS(k, 2, 0, 3, 1, 4));
    for (int i = 0; i < 3; i++)
        part[i] = FXS_DO(k, "select", fxs_t(qkv), fxs_int(0), fxs_int(i));
    fxs_tensor *a = drop(k, scores(k, part[0], part[1], x, w), ATTENTION_DROPOUT);
    a = FXS_DO(k, "matmul", fxs_t(a), fxs_t(part[2]));
    a = FXS_DO(k, "transpose", fxs_t(a), fxs_int(1), fxs_int(2));
    a = FXS_DO(k, "reshape", fxs_t(a), FXS_INTS(k, rows, n, w->channels));
    return drop(k,
                FXS_DO(k, "linear", fxs_t(a), k->call->arg[PROJ_WEIGHT], k->call->arg[PROJ_BIAS]),
                DROPOUT);
}

static void make_window_attention(fxs_compose *k) {
    windows w = {0};
    read_windows(k, &w);
    int64_t height = w.count[0] * w.size[0], width = w.count[1] * w.size[1];
    fxs_tensor *x = FXS_DO(k, "pad", k->call->arg[INPUT],
                           FXS_INTS(k, 0, 0, 0, width - w.width, 0, height - w.height));
    if (shifts(&w))
        x = roll(k, x, &w, -1);
    x = attend(k, partition(k, x, &w), &w);
    x = FXS_DO(k, "view", fxs_t(x),
               FXS_INTS(k, w.batch, w.count[0], w.count[1], w.size[0], w.size[1], w.channels));
    x = FXS_DO(k, "permute", fxs_t(x), FXS_INTS(k, 0, 1, 3, 2, 4, 5));
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, w.batch, height, width, w.channels));
    if (shifts(&w))
        x = roll(k, x, &w, 1);
    x = FXS_DO(k, "narrow", fxs_t(x), fxs_int(1), fxs_int(0), fxs_int(w.height));
    x = FXS_DO(k, "narrow", fxs_t(x), fxs_int(2), fxs_int(0), fxs_int(w.width));
    fxs_give(k, FXS_DO(k, "contiguous", fxs_t(x)));
}

/* (table [places, heads], index [tokens^2], window_size) -> [1, heads, tokens, tokens] */
static void make_position_bias(fxs_compose *k) {
    int64_t size[2] = {0};
    fxs_arg_ints(k->call, 2, size, 2);
    if (size[0] < 0 || size[1] < 0 || size[0] > 4096 || size[1] > 4096)
        fxs_stop(k, FXS_EINVAL, "windows must be at most 4096 wide");
    int64_t n = size[0] * size[1];
    fxs_tensor *x = FXS_DO(k, "getitem", k->call->arg[0], k->call->arg[1]);
    x = FXS_DO(k, "view", fxs_t(x), FXS_INTS(k, n, n, -1));
    x = FXS_DO(k, "permute", fxs_t(x), FXS_INTS(k, 2, 0, 1));
    x = FXS_DO(k, "contiguous", fxs_t(x));
    fxs_give(k, FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0)));
}

/* Every second place of a dimension, from the first or the second on. */
static fxs_tensor *every_second(fxs_compose *k, fxs_tensor *x, int dim, int64_t from) {
    if (k->status != FXS_OK || x->sizes[x->ndim + dim] == 0)
        return x;
    x = FXS_DO(k, "narrow", fxs_t(x), fxs_int(dim), fxs_int(from),
               fxs_int(x->sizes[x->ndim + dim] - from));
    fxs_tensor *v = FXS_DO(k, "unfold", fxs_t(x), fxs_int(dim), fxs_int(1), fxs_int(2));
    return FXS_DO(k, "squeeze", fxs_t(v), fxs_int(-1));
}

/* [..., H, W, C] -> [..., H / 2, W / 2, 4 C] */
static void make_patch_merging(fxs_compose *k) {
    fxs_tensor *x = fxs_arg_tensor(k->call, 0), *part[4];
    if (x->ndim < 3) {
        fxs_stop(k, FXS_ESHAPE, "input must have at least 3 dimensions, but has %d", x->ndim);
        return;
    }
    int64_t h = x->sizes[x->ndim - 3], w = x->sizes[x->ndim - 2];
    x = FXS_DO(k, "pad", fxs_t(x), FXS_INTS(k, 0, 0, 0, w % 2, 0, h % 2));
    for (int i = 0; i < 4; i++)
        part[i] = every_second(k, every_second(k, x, -3, i % 2), -2, i / 2);
    fxs_give(k, FXS_DO(k, "cat", fxs_tensors(k, 4, part), fxs_int(-1)));
}

FXS_COMPOSED(window_attention)
FXS_COMPOSED_FREE(position_bias)
FXS_COMPOSED_FREE(patch_merging)

#define SWIN "torchvision.models.swin_transformer."

const fxs_op fxs_ops_swin[] = {
    {"shifted_window_attention",
     "(Tensor input, Tensor qkv_weight, Tensor proj_weight, Tensor relative_position_bias, int[2] "
     "window_size, "
     "int num_heads, int[2] shift_size, float attention_dropout=0.0, float dropout=0.0, Tensor? "
     "qkv_bias=None, "
     "Tensor? proj_bias=None, Tensor? logit_scale=None, any training=True) -> Tensor",
     SWIN "shifted_window_attention", infer_window_attention, run_window_attention,
     cost_window_attention, FXS_OP_NO_INPLACE | FXS_OP_RANDOM},
    {"relative_position_bias",
     "(Tensor relative_position_bias_table, Tensor relative_position_index, int[2] window_size) -> "
     "Tensor",
     SWIN "_get_relative_position_bias", infer_position_bias, run_position_bias, NULL,
     FXS_OP_NO_INPLACE},
    {"patch_merging_pad", "(Tensor x) -> Tensor", SWIN "_patch_merging_pad", infer_patch_merging,
     run_patch_merging, NULL, FXS_OP_NO_INPLACE},
    {0},
};
#undef SWIN
