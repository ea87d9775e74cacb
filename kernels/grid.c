/* grid.c: grid_sample, which reads an image at places that a grid names, and affine_grid, which
 * makes such grids. Places are -1 to 1 across the image; what lies outside is as the padding mode
 * says. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "kernels/families.h"
#include "kernels/work.h"

enum { INPUT, GRID, MODE, PADDING, CORNERS };
typedef enum padding { ZEROS, BORDER, REFLECTION } padding;
typedef enum mode { BILINEAR, NEAREST, BICUBIC } mode;

/* [N, C, D, H, W] and [N, D', H', W', 2 or 3]; images have D = 1. */
typedef struct sampler {
    mode mode;
    padding padding;
    bool corners;
    int dims;
    int64_t n, c, in[3], out[3]; /* in and out: depth, height, width */
    fxs_dtype dtype;
    const char *x, *grid;
    char *y;
} sampler;

static int word_of(const char *s, const char *const *words, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(s, words[i]) == 0)
            return i;
    return -1;
}

static fxs_status read_sampler(fxs_call *c, sampler *s) {
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"}, *const paddings[] = {
                                                                               "zeros", "border",
                                                                               "reflection"};
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *g = fxs_arg_tensor(c, GRID);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int m = word_of(fxs_arg_str(c, MODE), modes, 3),
        p = word_of(fxs_arg_str(c, PADDING), paddings, 3);
    if (m < 0 || p < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "mode '%s' with padding_mode '%s' is not known",
                          fxs_arg_str(c, MODE), fxs_arg_str(c, PADDING));
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_check_same_dtype(c, x, g, "grid"));
    int dims = x->ndim - 2;
    if ((dims != 2 && dims != 3) || g->ndim != x->ndim || g->sizes[g->ndim - 1] != dims ||
        x->sizes[0] != g->sizes[0])
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected an input of 4 or 5 dimensions and a grid of as many, with the "
                          "same batch and places "
                          "of as many numbers as the image has dimensions, but got %s and %s",
                          fxs_sizes_text(x, a), fxs_sizes_text(g, b));
    if (dims == 3 && m == BICUBIC)
        return FXS_REFUSE(c, FXS_EINVAL, "bicubic interpolation only supports 4-dimensional input");
    *s = (sampler){.mode = (mode)m,
                   .padding = (padding)p,
                   .corners = fxs_arg_bool(c, CORNERS),
                   .dims = dims,
                   .n = x->sizes[0],
                   .c = x->sizes[1],
                   .in = {1},
                   .out = {1}};
    for (int i = 0; i < dims; i++) {
        s->in[3 - dims + i] = x->sizes[2 + i];
        s->out[3 - dims + i] = g->sizes[1 + i];
        if (x->sizes[2 + i] == 0)
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "expected input to have non-empty spatial dimensions, but its shape is %s",
                fxs_sizes_text(x, a));
    }
    return FXS_OK;
}

static fxs_status infer_grid_sample(fxs_call *c) {
    sampler s;
    FXS_TRY(read_sampler(c, &s));
    int64_t sizes[5] = {s.n, s.c};
    memcpy(sizes + 2, s.out + 3 - s.dims, (size_t)s.dims * sizeof *sizes);
    return fxs_out_new(c, fxs_arg_tensor(c, INPUT)->dtype, s.dims + 2, sizes, NULL);
}

/* -1 to 1 as a place among n pixels. */
static double to_pixels(const sampler *s, double v, int64_t n) {
    return s->corners ? (v + 1) / 2 * (double)(n - 1) : ((v + 1) * (double)n - 1) / 2;
}

/* Mirrored at both ends until it is inside: ends are pixel centres (corners) or edges. */
static double reflect(double v, double low, double high) {
    double span = high - low;
    if (span <= 0)
        return 0;
    v = fabs(v - low);
    double extra = fmod(v, span);
    return (int64_t)floor(v / span) % 2 == 0 ? extra + low : span - extra + low;
}

static double clip(double v, int64_t n) {
    return !(v > 0) ? 0 : v < (double)(n - 1) ? v : (double)(n - 1);
}

static double padded(const sampler *s, double v, int64_t n) {
    if (s->padding == ZEROS)
        return v;
    if (s->padding == REFLECTION)
        v = s->corners ? reflect(v, 0, (double)(n - 1)) : reflect(v, -0.5, (double)n - 0.5);
    return clip(v, n);
}

static double pixel(const sampler *s, const char *plane, const int64_t at[3]) {
    for (int i = 0; i < 3; i++)
        if (at[i] < 0 || at[i] >= s->in[i])
            return 0;
    int64_t k = (at[0] * s->in[1] + at[1]) * s->in[2] + at[2];
    return fxs_load_double(s->dtype, plane + (size_t)k * fxs_dtype_size(s->dtype));
}

/* Far places must not overflow when they become integers. */
static int64_t whole(double v) {
    return !(v > -1e9) ? -1000000000 : v < 1e9 ? (int64_t)v : 1000000000;
}

static double linear(const sampler *s, const char *plane, const double v[3]) {
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int64_t at[3];
        for (int i = 0; i < 3; i++) {
            double low = floor(v[i]), part = v[i] - low;
            int up = corner >> i & 1;
            at[i] = whole(low) + up;
            weight *= up ? part : 1 - part;
        }
        if (weight != 0)
            sum += weight * pixel(s, plane, at);
    }
    return sum;
}

static double nearest(const sampler *s, const char *plane, const double v[3]) {
    int64_t at[3];
    for (int i = 0; i < 3; i++)
        at[i] = whole(s->dims == 3 ? round(v[i]) : nearbyint(v[i])); /* as PyTorch has it */
    return pixel(s, plane, at);
}

static void cubic(double t, double w[4]) {
    const double a = -0.75;
    for (int i = 0; i < 4; i++) {
        double d = fabs(t + 1 - i);
        w[i] = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1
                      : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    }
}

/* Padding is of each pixel here, not of the place. */
static double bicubic(const sampler *s, const char *plane, const double v[3]) {
    double wy[4], wx[4], sum = 0, y = floor(v[1]), x = floor(v[2]);
    cubic(v[1] - y, wy);
    cubic(v[2] - x, wx);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int64_t at[3] = {0, whole(padded(s, y - 1 + i, s->in[1])),
                             whole(padded(s, x - 1 + j, s->in[2]))};
            sum += wy[i] * wx[j] * pixel(s, plane, at);
        }
    return sum;
}

/* Long because every place is worked out once and read in all channels. */
static void sample(void *user, int64_t begin, int64_t end) {
    const sampler *s = user;
    size_t size = fxs_dtype_size(s->dtype);
    int64_t places = s->out[0] * s->out[1] * s->out[2], plane = s->in[0] * s->in[1] * s->in[2];
    for (int64_t i = begin; i < end; i++) {
        int64_t n = i / places;
        double v[3] = {0};
        for (int k = 0; k < s->dims; k++) { /* the grid says x first */
            int axis = 2 - k;
            double g = fxs_load_double(s->dtype, s->grid + (size_t)(i * s->dims + k) * size);
            v[axis] = to_pixels(s, g, s->in[axis]);
            if (s->mode != BICUBIC)
                v[axis] = padded(s, v[axis], s->in[axis]);
        }
        for (int64_t c = 0; c < s->c; c++) {
            const char *from = s->x + (size_t)((n * s->c + c) * plane) * size;
            double y = s->mode == BILINEAR  ? linear(s, from, v)
                       : s->mode == NEAREST ? nearest(s, from, v)
                                            : bicubic(s, from, v);
            fxs_store_double(s->dtype, s->y + (size_t)((n * s->c + c) * places + i % places) * size,
                             y);
        }
    }
}

static fxs_status run_grid_sample(fxs_call *c) {
    sampler s;
    FXS_TRY(read_sampler(c, &s));
    fxs_work w = fxs_work_begin(c, fxs_arg_tensor(c, INPUT)->dtype);
    s.dtype = w.dtype;
    s.x = fxs_work_data(&w, fxs_arg_tensor(c, INPUT));
    s.grid = fxs_work_data(&w, fxs_arg_tensor(c, GRID));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK) {
        s.y = fxs_tensor_data(out);
        sample(&s, 0, s.n * s.out[0] * s.out[1] * s.out[2]);
    }
    return fxs_work_end(&w);
}

/* 2 for each pixel that an output is made of */
static fxs_cost cost_grid_sample(const fxs_call *c) {
    sampler s;
    if (read_sampler((fxs_call *)c, &s) != FXS_OK)
        return (fxs_cost){0};
    double taps = s.mode == NEAREST ? 0.5 : s.mode == BICUBIC ? 16 : s.dims == 3 ? 8 : 4;
    return (fxs_cost){.flops = 2 * taps * (double)fxs_tensor_numel(c->out[0])};
}

/* ---- affine_grid(theta [N, 2, 3] or [N, 3, 4], size, align_corners)
 * ------------------------------------------ */

enum { THETA, SIZE, A_CORNERS };

static fxs_status read_size(fxs_call *c, int *dims, int64_t size[5]) {
    const fxs_tensor *t = fxs_arg_tensor(c, THETA);
    char text[FXS_SIZES_TEXT];
    int n = fxs_arg_ints(c, SIZE, size, 5);
    if (!fxs_is_complex(t->dtype)) /* the function has refused them, its generator takes them */
        FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS));
    *dims = n - 2;
    if ((n != 4 && n != 5) || t->ndim != 3 || t->sizes[1] != n - 2 || t->sizes[2] != n - 1 ||
        t->sizes[0] != size[0])
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected a batch of %dx%d matrices for a size of %d numbers, but got shape %s", n - 2,
            n - 1, n, fxs_sizes_text(t, text));
    for (int i = 0; i < n; i++)
        if (size[i] <= 0)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "expected non-zero, positive output size, but got %lld",
                              (long long)size[i]);
    return FXS_OK;
}

static fxs_status infer_generator(fxs_call *c) {
    int64_t size[5], sizes[5];
    int dims;
    FXS_TRY(read_size(c, &dims, size));
    sizes[0] = size[0];
    memcpy(sizes + 1, size + 2, (size_t)dims * sizeof *sizes);
    sizes[dims + 1] = dims;
    return fxs_out_new(c, fxs_arg_tensor(c, THETA)->dtype, dims + 2, sizes, NULL);
}

static fxs_status infer_affine_grid(fxs_call *c) {
    FXS_TRY(fxs_check_dtype(c, fxs_arg_tensor(c, THETA), FXS_TAKES_FLOATS));
    return infer_generator(c);
}

static double place(int64_t i, int64_t n, bool corners) {
    double v = n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : 0;
    return corners ? v : v * (double)(n - 1) / (double)n;
}

static fxs_status run_affine_grid(fxs_call *c) {
    int64_t size[5];
    int dims;
    FXS_TRY(read_size(c, &dims, size));
    fxs_work w = fxs_work_begin(c, fxs_arg_tensor(c, THETA)->dtype);
    const char *theta = fxs_work_data(&w, fxs_arg_tensor(c, THETA));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    size_t bytes = fxs_dtype_size(w.dtype);
    bool corners = fxs_arg_bool(c, A_CORNERS);
    char *y = w.status == FXS_OK ? fxs_tensor_data(out) : NULL;
    int64_t places = 1;
    for (int i = 0; i < dims; i++)
        places *= size[2 + i];
    for (int64_t i = 0; y && i < size[0] * places; i++) {
        double at[4] = {0};
        int64_t rest = i % places;
        for (int k = 0; k < dims; k++) { /* x first */
            int64_t n = size[1 + dims - k];
            at[k] = place(rest % n, n, corners);
            rest /= n;
        }
        at[dims] = 1;
        for (int r = 0; r < dims; r++, y += bytes) {
            double sum[2] = {0, 0}, z[2];
            for (int k = 0; k <= dims; k++) {
                fxs_load_pair(
                    w.dtype, theta + (size_t)((i / places * dims + r) * (dims + 1) + k) * bytes, z);
                sum[0] += at[k] * z[0];
                sum[1] += at[k] * z[1];
            }
            fxs_store_pair(w.dtype, y, sum);
        }
    }
    return fxs_work_end(&w);
}

/* a product with a small matrix for each place */
static fxs_cost cost_affine_grid(const fxs_call *c) {
    const fxs_tensor *o = c->out[0];
    return (fxs_cost){.flops =
                          2 * (double)fxs_tensor_numel(o) * (double)(o->sizes[o->ndim - 1] + 1)};
}

const fxs_op fxs_ops_grid[] = {
    {"grid_sample",
     "(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? "
     "align_corners=None) -> Tensor",
     "torch.nn.functional.grid_sample", infer_grid_sample, run_grid_sample, cost_grid_sample,
     FXS_OP_NO_INPLACE},
    {"affine_grid", "(Tensor theta, int[] size, bool? align_corners=None) -> Tensor",
     "torch.nn.functional.affine_grid", infer_affine_grid, run_affine_grid, cost_affine_grid,
     FXS_OP_NO_INPLACE},
    {"affine_grid_generator", "(Tensor theta, int[] size, bool align_corners) -> Tensor",
     "torch.affine_grid_generator", infer_generator, run_affine_grid, cost_affine_grid,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {0},
};
