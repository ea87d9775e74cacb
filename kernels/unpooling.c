/* unpooling.c: max_unpool, which puts values back where a max_pool found them, and
 * fractional_max_pool, whose windows lie at places drawn at random. Planes are taken as [depth,
 * height, width]. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/families.h"
#include "kernels/work.h"

typedef struct planes {
    int dims;
    bool keep;                    /* channels_last stays so */
    int64_t count, in[3], out[3]; /* planes; sizes, 1 in front where there are fewer dimensions */
} planes;

static fxs_status read_planes(fxs_call *c, const fxs_tensor *x, int dims, planes *p) {
    char text[FXS_SIZES_TEXT];
    *p = (planes){.dims = dims, .count = 1, .in = {1, 1, 1}, .out = {1, 1, 1}};
    if (x->ndim != dims + 1 && x->ndim != dims + 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected an input of %d or %d dimensions, but got shape %s", dims + 1,
                          dims + 2, fxs_sizes_text(x, text));
    for (int i = 0; i < x->ndim - dims; i++)
        p->count *= x->sizes[i];
    for (int i = 0; i < dims; i++) {
        p->in[3 - dims + i] = x->sizes[x->ndim - dims + i];
        if (x->sizes[x->ndim - dims + i] == 0)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "expected non-zero sizes for non-batch dimensions, but got shape %s",
                              fxs_sizes_text(x, text));
    }
    return FXS_OK;
}

static fxs_status out_planes(fxs_call *c, const planes *p, fxs_dtype d) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    int64_t sizes[5];
    memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof *sizes);
    memcpy(sizes + x->ndim - p->dims, p->out + 3 - p->dims, (size_t)p->dims * sizeof *sizes);
    return fxs_out_format(c, d, x->ndim, sizes, p->keep && fxs_suggests_channels_last(x));
}

static int64_t volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

/* ---- max_unpool(input, indices, kernel_size, stride, padding, output_size)
 * ------------------------------------- */

enum { INPUT, INDICES, KERNEL, STRIDE, PADDING, OUTPUT_SIZE };

/* One number for all dimensions, or one for each. A bool is a number for Python, which computes the
 * result's size. */
static int read_each(const fxs_call *c, int i, int dims, int64_t out[3]) {
    int n = fxs_arg_ints(c, i, out, 3);
    for (int d = 1; n == 1 && d < dims; d++)
        out[d] = out[0];
    return n;
}

/* What the pool's input must have been: by its arguments, or as is given, less than a stride away
 * from that. */
static fxs_status unpooled_sizes(fxs_call *c, planes *p) {
    int64_t kernel[3], stride[3], pad[3], given[5];
    bool is_given = !fxs_arg_is_none(c, OUTPUT_SIZE);
    int n = is_given ? fxs_arg_ints(c, OUTPUT_SIZE, given, 5) : 0;
    read_each(c, KERNEL, p->dims, kernel);
    if (fxs_arg_is_none(c, STRIDE) || read_each(c, STRIDE, p->dims, stride) == 0)
        memcpy(stride, kernel, sizeof stride);
    read_each(c, PADDING, p->dims, pad);
    if (is_given && n != p->dims && n != p->dims + 2)
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "output_size should be a sequence containing %d or %d elements, but it has %d", p->dims,
            p->dims + 2, n);
    for (int i = 0; i < p->dims; i++) {
        int64_t usual = (p->in[3 - p->dims + i] - 1) * stride[i] - 2 * pad[i] + kernel[i];
        int64_t size = n ? given[n - p->dims + i] : usual;
        if (n && !(size > usual - stride[i] && size < usual + stride[i]))
            return FXS_REFUSE(
                c, FXS_EINVAL,
                "invalid output_size %lld at dimension %d: it must be between %lld and %lld",
                (long long)size, i, (long long)(usual - stride[i]), (long long)(usual + stride[i]));
        if (size < 0)
            return FXS_REFUSE(c, FXS_ESHAPE, "output size %lld is too small", (long long)size);
        if (p->dims == 3 && stride[i] < 1)
            return FXS_REFUSE(c, FXS_EINVAL, "stride should be greater than zero, but got %lld",
                              (long long)stride[i]);
        p->out[3 - p->dims + i] = size;
    }
    return FXS_OK;
}

static fxs_status read_unpool(fxs_call *c, int dims, planes *p) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *index = fxs_arg_tensor(c, INDICES);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    FXS_TRY(read_planes(c, x, dims, p));
    if (index->dtype != FXS_INT64)
        return FXS_REFUSE(c, FXS_ETYPE, "elements in indices should be type int64 but got: %s",
                          fxs_dtype_name(index->dtype));
    if (index->ndim != x->ndim ||
        memcmp(index->sizes, x->sizes, (size_t)x->ndim * sizeof *x->sizes) != 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected indices of the input's shape %s, but got %s",
                          fxs_sizes_text(x, a), fxs_sizes_text(index, b));
    if (x->ndim == dims + 2 && x->sizes[1] == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected an input with channels, but got shape %s",
                          fxs_sizes_text(x, a));
    FXS_TRY(unpooled_sizes(c, p));
    return p->count * volume(p->out) > 0 ? fxs_check_dtype(c, x, FXS_TAKES_FLOATS) : FXS_OK;
}

/* PyTorch unpools one dimension as two, of which the last has one place. */
static bool looks_channels_last(const fxs_tensor *x, int dims) {
    fxs_tensor t = *x;
    if (dims == 1 && x->ndim == 3)
        t.ndim = 4, t.sizes[3] = t.strides[3] = 1;
    return dims < 3 && t.ndim == 4 && fxs_suggests_channels_last(&t);
}

static fxs_status infer_unpool(fxs_call *c, int dims) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    planes p;
    FXS_TRY(read_unpool(c, dims, &p));
    p.keep = looks_channels_last(x, dims);
    if (dims == 2 || !p.keep)
        return out_planes(c, &p, x->dtype);
    int64_t sizes[] = {x->sizes[0], x->sizes[1], p.out[2]}, step = sizes[1] > 1 ? sizes[1] : 1;
    int64_t strides[] = {step * (p.out[2] > 1 ? p.out[2] : 1), 1, step};
    return fxs_out_new(c, x->dtype, 3, sizes, strides);
}

static fxs_status run_unpool(fxs_call *c, int dims) {
    planes p;
    FXS_TRY(read_unpool(c, dims, &p));
    if (fxs_tensor_numel(c->out[0]) == 0)
        return FXS_OK;
    fxs_work w = fxs_work_begin(c, fxs_arg_tensor(c, INPUT)->dtype),
             ints = fxs_work_begin(c, FXS_INT64);
    const char *x = fxs_work_data(&w, fxs_arg_tensor(c, INPUT));
    const int64_t *index = fxs_work_data(&ints, fxs_arg_tensor(c, INDICES));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    size_t size = fxs_dtype_size(w.dtype);
    int64_t from = volume(p.in), to = volume(p.out);
    if (w.status == FXS_OK && ints.status == FXS_OK) {
        char *y = fxs_tensor_data(out);
        memset(y, 0, (size_t)(p.count * to) * size);
        for (int64_t i = 0; i < p.count * from && w.status == FXS_OK; i++) {
            if (index[i] < 0 || index[i] >= to)
                w.status = FXS_REFUSE(c, FXS_EINDEX,
                                      "found an invalid max index: %lld (output of %lld places)",
                                      (long long)index[i], (long long)to);
            else
                memcpy(y + (size_t)(i / from * to + index[i]) * size, x + (size_t)i * size, size);
        }
    }
    fxs_status s = fxs_work_end(&ints);
    return s != FXS_OK ? s : fxs_work_end(&w);
}

/* ---- fractional_max_pool(input, kernel_size, output_size, output_ratio, return_indices,
 * _random_samples) --------- */

enum { F_INPUT, F_KERNEL, F_SIZE, F_RATIO, F_INDICES, F_SAMPLES };

static fxs_status read_fractional(fxs_call *c, int dims, planes *p, int64_t kernel[3]) {
    const fxs_tensor *samples = fxs_arg_tensor(c, F_SAMPLES), *x = fxs_arg_tensor(c, F_INPUT);
    int64_t own[3] = {1, 1, 1};
    char text[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    FXS_TRY(read_planes(c, x, dims, p));
    kernel[0] = kernel[1] = kernel[2] = 1;
    fxs_arg_ints(c, F_KERNEL, own, 3);
    if (fxs_arg_is_none(c, F_SIZE) == fxs_arg_is_none(c, F_RATIO))
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "requires specifying either an output_size or an output_ratio, and not both");
    for (int i = 0; i < dims; i++) {
        int at = 3 - dims + i;
        kernel[at] = own[i];
        const fxs_value *v = &c->arg[fxs_arg_is_none(c, F_SIZE) ? F_RATIO : F_SIZE];
        const fxs_value *each =
            v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE ? fxs_value_item(v, (size_t)i) : v;
        double number = !each                      ? 0
                        : each->tag == FXS_V_FLOAT ? each->u.f
                        : each->tag == FXS_V_INT   ? (double)each->u.i
                                                   : 0;
        p->out[at] = (int64_t)(fxs_arg_is_none(c, F_SIZE) ? (double)p->in[at] * number : number);
        int64_t room = p->in[at] - (dims == 3); /* volumes need one place more */
        if (p->out[at] < 0 || p->out[at] + kernel[at] - 1 > room)
            return FXS_REFUSE(
                c, FXS_EINVAL,
                "pool size %lld and output size %lld are too large for an input of %lld",
                (long long)kernel[at], (long long)p->out[at], (long long)p->in[at]);
    }
    if (samples &&
        (samples->ndim != 3 || samples->sizes[2] != dims ||
         samples->sizes[0] * samples->sizes[1] != p->count || samples->dtype != x->dtype))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "random samples must be %d numbers for each plane, but their shape is %s",
                          dims, fxs_sizes_text(samples, text));
    return FXS_OK;
}

static fxs_status infer_fractional(fxs_call *c, int dims, bool both) {
    int64_t kernel[3];
    planes p;
    FXS_TRY(read_fractional(c, dims, &p, kernel));
    FXS_TRY(out_planes(c, &p, fxs_arg_tensor(c, F_INPUT)->dtype));
    return both ? out_planes(c, &p, FXS_INT64) : FXS_OK;
}

/* Where window i begins: they are spread evenly, but for a shift by `sample`, and the last ends at
 * the end. */
static int64_t window_start(int64_t i, int64_t in, int64_t out, int64_t kernel, double sample,
                            bool single) {
    if (i == out - 1)
        return in - kernel;
    if (single) {
        float alpha = (float)(in - kernel) / (float)(out - 1);
        return (int64_t)(((float)i + (float)sample) * alpha) - (int64_t)((float)sample * alpha);
    }
    double alpha = (double)(in - kernel) / (double)(out - 1);
    return (int64_t)(((double)i + sample) * alpha) - (int64_t)(sample * alpha);
}

typedef struct fractional {
    planes p;
    int64_t kernel[3];
    fxs_dtype dtype;
    const char *x;
    char *y;
    int64_t *index; /* NULL: not asked for */
} fractional;

/* The greatest of one window; a NaN is greater than any number. */
static void take_greatest(const fractional *f, const char *plane, const int64_t at[3],
                          int64_t out) {
    const int64_t *in = f->p.in;
    size_t size = fxs_dtype_size(f->dtype);
    double best = -INFINITY;
    int64_t where = (at[0] * in[1] + at[1]) * in[2] + at[2];
    for (int64_t z = at[0]; z < at[0] + f->kernel[0]; z++)
        for (int64_t y = at[1]; y < at[1] + f->kernel[1]; y++)
            for (int64_t x = at[2]; x < at[2] + f->kernel[2]; x++) {
                int64_t place = (z * in[1] + y) * in[2] + x;
                double v = fxs_load_double(f->dtype, plane + (size_t)place * size);
                if (v > best || isnan(v)) {
                    best = v;
                    where = place;
                }
            }
    fxs_store_double(f->dtype, f->y + (size_t)out * size, best);
    if (f->index)
        f->index[out] = where;
}

/* Samples are width first for images, depth first for volumes. */
static double sample_of(const fxs_call *c, const fractional *f, const char *samples, int64_t plane,
                        int axis) {
    int k = f->p.dims == 3 ? axis : 2 - axis;
    int64_t at = plane * f->p.dims + k;
    return samples ? fxs_load_double(f->dtype, samples + (size_t)at * fxs_dtype_size(f->dtype))
                   : (double)fxs_random_unit(c->seed, (uint64_t)at);
}

static void pool_plane(const fxs_call *c, const fractional *f, const char *samples, int64_t plane) {
    const int64_t *in = f->p.in, *out = f->p.out;
    const char *x = f->x + (size_t)(plane * volume(in)) * fxs_dtype_size(f->dtype);
    double sample[3] = {0};
    for (int i = 3 - f->p.dims; i < 3; i++)
        sample[i] = sample_of(c, f, samples, plane, i);
    for (int64_t i = 0; i < volume(out); i++) {
        int64_t at[3], place[3] = {i / (out[1] * out[2]), i / out[2] % out[1], i % out[2]};
        for (int k = 0; k < 3; k++)
            at[k] = k < 3 - f->p.dims ? 0
                                      : window_start(place[k], in[k], out[k], f->kernel[k],
                                                     sample[k], f->dtype == FXS_FLOAT32);
        take_greatest(f, x, at, plane * volume(out) + i);
    }
}

static fxs_status run_fractional(fxs_call *c, int dims) {
    fractional f = {0};
    FXS_TRY(read_fractional(c, dims, &f.p, f.kernel));
    fxs_work w = fxs_work_begin(c, fxs_arg_tensor(c, F_INPUT)->dtype);
    f.dtype = w.dtype;
    f.x = fxs_work_data(&w, fxs_arg_tensor(c, F_INPUT));
    const char *samples = fxs_work_data(&w, fxs_arg_tensor(c, F_SAMPLES));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK) {
        f.y = fxs_tensor_data(out);
        f.index = c->nout > 1 ? fxs_tensor_data(c->out[1]) : NULL;
        for (int64_t i = 0; i < f.p.count; i++)
            pool_plane(c, &f, samples, i);
    }
    return fxs_work_end(&w);
}

/* a comparison for each element of each window */
static fxs_cost cost_fractional(const fxs_call *c) {
    int64_t kernel[3] = {1, 1, 1};
    int n = fxs_arg_ints(c, F_KERNEL, kernel, 3);
    return (fxs_cost){.flops = (double)fxs_tensor_numel(c->out[0]) * (double)kernel[0] *
                               (double)kernel[n > 1] * (double)kernel[n > 2 ? 2 : 0]};
}

/* ---- rows
 * --------------------------------------------------------------------------------------------------------
 */

#define UNPOOL(n)                                                                                  \
    static fxs_status infer_unpool##n(fxs_call *c) { return infer_unpool(c, n); }                  \
    static fxs_status run_unpool##n(fxs_call *c) { return run_unpool(c, n); }
UNPOOL(1)
UNPOOL(2)
UNPOOL(3)
#define FRACTIONAL(n)                                                                              \
    static fxs_status infer_fractional##n(fxs_call *c) {                                           \
        return infer_fractional(c, n, fxs_arg_bool(c, F_INDICES));                                 \
    }                                                                                              \
    static fxs_status infer_fractional_pair##n(fxs_call *c) {                                      \
        return infer_fractional(c, n, true);                                                       \
    }                                                                                              \
    static fxs_status run_fractional##n(fxs_call *c) { return run_fractional(c, n); }
FRACTIONAL(2)
FRACTIONAL(3)
#undef UNPOOL
#undef FRACTIONAL

#define F "torch.nn.functional."
#define UNPOOL(n, or_bool)                                                                         \
    {                                                                                              \
        "max_unpool" #n "d",                                                                       \
            "(Tensor input, Tensor indices, " or_bool "int[" #n "] kernel_size, " or_bool          \
            "int[" #n "]? stride=None, " or_bool "int[" #n                                         \
            "] padding=0, int[]? output_size=None) -> Tensor",                                     \
            F "max_unpool" #n "d", infer_unpool##n, run_unpool##n, NULL, FXS_OP_NO_INPLACE         \
    }
#define FRACTIONAL(n, name, infer)                                                                 \
    {                                                                                              \
        name,                                                                                      \
            "(Tensor input, int[" #n                                                               \
            "] kernel_size, any output_size=None, any output_ratio=None, "                         \
            "bool return_indices=False, Tensor? _random_samples=None) -> Tensor",                  \
            F name, infer##n, run_fractional##n, cost_fractional,                                  \
            FXS_OP_NO_INPLACE | FXS_OP_RANDOM                                                      \
    }

const fxs_op fxs_ops_unpooling[] = {
    UNPOOL(1, "bool|"),
    UNPOOL(2, "bool|"),
    UNPOOL(3, ""),
    FRACTIONAL(2, "fractional_max_pool2d", infer_fractional),
    FRACTIONAL(3, "fractional_max_pool3d", infer_fractional),
    FRACTIONAL(2, "fractional_max_pool2d_with_indices", infer_fractional_pair),
    FRACTIONAL(3, "fractional_max_pool3d_with_indices", infer_fractional_pair),
    {0},
};
#undef UNPOOL
#undef FRACTIONAL
#undef F

#define UNPOOL(n)                                                                                  \
    {                                                                                              \
        .name = "MaxUnpool" #n "d", .hyper = "kernel_size, stride=None, padding=0",                \
        .repr = "kernel_size(" #n ")=, stride(" #n ")|kernel_size=, padding(" #n ")=",             \
        .call = "max_unpool" #n "d(input, indices, kernel_size, stride, padding, output_size)",    \
        .forward = "input, indices, output_size?: typing.Optional[typing.List[int]]"               \
    }
#define FRACTIONAL(n)                                                                              \
    {                                                                                              \
        .name = "FractionalMaxPool" #n "d",                                                        \
        .hyper = "kernel_size, output_size=None, output_ratio=None, return_indices=False, "        \
                 "_random_samples=None",                                                           \
        .repr = "",                                                                                \
        .trace = "torch.nn.functional.fractional_max_pool" #n "d(input, kernel_size(" #n           \
                 "), output_size(" #n "), output_ratio(" #n "), return_indices)",                  \
        .call = "fractional_max_pool" #n                                                           \
                "d(input, kernel_size, output_size, output_ratio, return_indices, "                \
                "_random_samples)"                                                                 \
    }

const fxs_module_row fxs_modules_unpooling[] = {
    UNPOOL(1), UNPOOL(2), UNPOOL(3), FRACTIONAL(2), FRACTIONAL(3), {0},
};
#undef UNPOOL
#undef FRACTIONAL
