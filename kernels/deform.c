/* deform.c: convolution whose points move, by torchvision's names: each point of the kernel reads
 * the image at its own place plus an offset, and perhaps times a mask. Such reads make the matrix
 * of columns that a convolution multiplies by its weight. */
#include <math.h>

#include "base/pool.h"
#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/window.h"
#include "kernels/work.h"
#include "op/module_row.h"

/* ---- deform_columns(input, offset, mask, kernel, stride, padding, dilation, offset_groups) ----
 */

enum { INPUT, OFFSET, MASK, KERNEL, STRIDE, PADDING, DILATION, GROUPS };

/* x [n, c, in...], offset [n, groups * kernel points * 2, out...], mask [n, groups * kernel points,
 * out...] or NULL, y [n, c * kernel points, out...]. */
typedef struct deforming {
    fxs_window window;
    fxs_dtype dtype;
    const void *x, *offset, *mask;
    void *y;
    int64_t n, c, groups;
} deforming;

static fxs_status check_moved(fxs_call *c, const deforming *d, int i, const char *name,
                              int64_t numbers) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    const int64_t *out = d->window.out;
    char text[FXS_SIZES_TEXT];
    int64_t channels;
    if (!t)
        return FXS_OK;
    FXS_TRY(fxs_check_same_dtype(c, fxs_arg_tensor(c, INPUT), t, name));
    bool fits = t->ndim == 4 && !__builtin_mul_overflow(numbers, d->groups, &channels) &&
                t->sizes[0] == d->n && t->sizes[1] == channels && t->sizes[2] == out[1] &&
                t->sizes[3] == out[2];
    return fits ? FXS_OK
                : FXS_REFUSE(c, FXS_ESHAPE, "%s must be [%lld, %lld * %lld, %lld, %lld], but is %s",
                             name, (long long)d->n, (long long)d->groups, (long long)numbers,
                             (long long)out[1], (long long)out[2], fxs_sizes_text(t, text));
}

static fxs_status out_sizes(fxs_call *c, fxs_window *w) {
    FXS_TRY(fxs_window_check(c, w));
    for (int i = 1; i < 3; i++) {
        int64_t room;
        if (__builtin_add_overflow(w->in[i], 2 * w->before[i], &room) ||
            room < fxs_window_extent(w, i))
            return FXS_REFUSE(c, FXS_ESHAPE, "the kernel is larger than the padded input");
        w->out[i] = fxs_steps(room - fxs_window_extent(w, i), w->stride[i]) + 1;
    }
    return FXS_OK;
}

static fxs_status read_deforming(fxs_call *c, deforming *d) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_window *w = &d->window;
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    if (x->ndim != 4)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected input of 4 dimensions, got %d", x->ndim);
    fxs_window_clear(w, 2);
    fxs_window_sizes(w, x, w->in);
    fxs_window_read(c, KERNEL, w, w->kernel);
    fxs_window_read(c, STRIDE, w, w->stride);
    fxs_window_read(c, PADDING, w, w->before);
    fxs_window_read(c, DILATION, w, w->dilation);
    FXS_TRY(out_sizes(c, w));
    d->n = x->sizes[0];
    d->c = x->sizes[1];
    d->groups = fxs_arg_int(c, GROUPS);
    if (d->groups < 1 || d->c % d->groups != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "%lld channels can't be divided into %lld offset groups",
                          (long long)d->c, (long long)d->groups);
    int64_t points = fxs_volume(w->kernel);
    FXS_TRY(check_moved(c, d, OFFSET, "offset", 2 * points));
    return check_moved(c, d, MASK, "mask", points);
}

static fxs_status infer_deform_columns(fxs_call *c) {
    deforming d = {0};
    FXS_TRY(read_deforming(c, &d));
    int64_t sizes[] = {d.n, d.c, d.window.out[1] * d.window.out[2]};
    if (__builtin_mul_overflow(d.c, fxs_volume(d.window.kernel), &sizes[1]))
        return FXS_REFUSE(c, FXS_ELIMIT, "the columns are too many");
    return fxs_out_new(c, fxs_arg_tensor(c, INPUT)->dtype, 3, sizes, NULL);
}

/* Four neighbours and what each counts for; those outside count for 0. */
typedef struct corners {
    int64_t at[4];
    double part[4];
} corners;

static corners corners_of(const deforming *d, double y, double x, double mask) {
    int64_t h = d->window.in[1], w = d->window.in[2];
    corners s = {{0}, {0}};
    if (!(y > -1 && y < (double)h && x > -1 && x < (double)w))
        return s;
    int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
    double down = y - (double)top, right = x - (double)left;
    for (int i = 0; i < 4; i++) {
        int64_t row = top + i / 2, column = left + i % 2;
        if (row < 0 || row >= h || column < 0 || column >= w)
            continue;
        s.at[i] = row * w + column;
        s.part[i] = (i / 2 ? down : 1 - down) * (i % 2 ? right : 1 - right) * mask;
    }
    return s;
}

static double element(fxs_dtype d, const void *data, int64_t i) {
    return d == FXS_FLOAT64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

/* The corners that a kernel's point reads in image n for place (row, column) of the result. */
static corners corners_at(const deforming *d, int64_t group_point, int64_t n, int64_t row,
                          int64_t column) {
    const fxs_window *w = &d->window;
    int64_t points = fxs_volume(w->kernel), point = group_point % points;
    int64_t area = w->out[1] * w->out[2], place = row * w->out[2] + column;
    int64_t at = n * d->groups * points + group_point;
    double y = element(d->dtype, d->offset, 2 * at * area + place),
           x = element(d->dtype, d->offset, (2 * at + 1) * area + place);
    y += (double)(row * w->stride[1] - w->before[1] + point / w->kernel[2] * w->dilation[1]);
    x += (double)(column * w->stride[2] - w->before[2] + point % w->kernel[2] * w->dilation[2]);
    return corners_of(d, y, x, d->mask ? element(d->dtype, d->mask, at * area + place) : 1);
}

static void read_corners(const deforming *d, const corners *s, int64_t plane, int64_t to) {
    double sum = 0;
    for (int i = 0; i < 4; i++)
        if (s->part[i] != 0)
            sum += s->part[i] * element(d->dtype, d->x, plane + s->at[i]);
    if (d->dtype == FXS_FLOAT64)
        ((double *)d->y)[to] = sum;
    else
        ((float *)d->y)[to] = (float)sum;
}

/* Items are points of the kernel, in the offset groups, in the images: all channels of a group read
 * at the same places. */
static void columns(void *user, int64_t begin, int64_t end, int thread) {
    const deforming *d = user;
    const fxs_window *w = &d->window;
    int64_t points = fxs_volume(w->kernel), each = d->c / d->groups;
    int64_t area = w->out[1] * w->out[2], plane = w->in[1] * w->in[2];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t n = i / (d->groups * points), group_point = i % (d->groups * points);
        int64_t first = n * d->c + group_point / points * each;
        for (int64_t place = 0; place < area; place++) {
            corners s = corners_at(d, group_point, n, place / w->out[2], place % w->out[2]);
            for (int64_t c = first; c < first + each; c++)
                read_corners(d, &s, c * plane, (c * points + group_point % points) * area + place);
        }
    }
}

static fxs_status run_deform_columns(fxs_call *c) {
    deforming d = {0};
    FXS_TRY(read_deforming(c, &d));
    fxs_work w = fxs_work_begin(c, fxs_compute_dtype(fxs_arg_tensor(c, INPUT)->dtype));
    d.dtype = w.dtype;
    d.x = fxs_work_data(&w, fxs_arg_tensor(c, INPUT));
    d.offset = fxs_work_data(&w, fxs_arg_tensor(c, OFFSET));
    d.mask = fxs_work_data(&w, fxs_arg_tensor(c, MASK));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK) {
        d.y = fxs_tensor_data(out);
        fxs_parallel(c->ctx, d.n * d.groups * fxs_volume(d.window.kernel), 1, columns, &d);
    }
    return fxs_work_end(&w);
}

/* 7 for the four neighbours, and 11 for where they are, which the channels of a group share. */
static fxs_cost cost_deform_columns(const fxs_call *c) {
    double each = (double)fxs_arg_tensor(c, INPUT)->sizes[1] / (double)fxs_arg_int(c, GROUPS);
    return (fxs_cost){.flops = (double)fxs_tensor_numel(c->out[0]) * (7 + 11 / fmax(each, 1))};
}

/* ---- deform_conv2d ---- */

/* What a call says, in either form. */
typedef struct moved {
    fxs_tensor *input, *weight, *offset, *mask, *bias;
    fxs_value stride, padding, dilation;
    int64_t groups, offset_groups;
} moved;

static fxs_value sizes_of(fxs_compose *k, int64_t a, int64_t b, int64_t c, int64_t d) {
    return FXS_INTS(k, a, b, c, d);
}

/* columns [n, groups, cin / groups * points, area] by weight [groups, cout / groups, the same] */
static void give_products(fxs_compose *k, const moved *m, fxs_tensor *columns,
                          const int64_t out[2]) {
    const fxs_tensor *w = m->weight;
    int64_t g = m->groups, n = m->input->sizes[0], cout = w->sizes[0];
    int64_t depth = w->sizes[1] * w->sizes[2] * w->sizes[3];
    fxs_tensor *y = FXS_DO(k, "reshape", fxs_t(columns), sizes_of(k, n, g, depth, out[0] * out[1]));
    fxs_tensor *by = FXS_DO(k, "reshape", fxs_t(m->weight), FXS_INTS(k, g, cout / g, depth));
    y = FXS_DO(k, "matmul", fxs_t(by), fxs_t(y));
    y = FXS_DO(k, "reshape", fxs_t(y), sizes_of(k, n, cout, out[0], out[1]));
    if (m->bias)
        y = FXS_DO(k, "add", fxs_t(y),
                   fxs_t(FXS_DO(k, "reshape", fxs_t(m->bias), sizes_of(k, 1, cout, 1, 1))));
    fxs_give(k, y);
}

static void give_convolution(fxs_compose *k, const moved *m) {
    const fxs_tensor *x = m->input, *w = m->weight;
    if (x->ndim != 4 || w->ndim != 4 || m->offset->ndim != 4) {
        fxs_stop(k, FXS_ESHAPE, "input, offset and weight must have 4 dimensions");
        return;
    }
    k->status = fxs_check_same_dtype(k->call, x, w, "weight");
    if (m->groups < 1 || x->sizes[1] % m->groups != 0 || x->sizes[1] / m->groups != w->sizes[1] ||
        w->sizes[0] % m->groups != 0)
        fxs_stop(k, FXS_ESHAPE,
                 "weight of %lld groups does not fit %lld channels: it has [%lld, %lld, ...]",
                 (long long)m->groups, (long long)x->sizes[1], (long long)w->sizes[0],
                 (long long)w->sizes[1]);
    fxs_tensor *columns = FXS_DO(k, "deform_columns", fxs_t(m->input), fxs_t(m->offset),
                                 fxs_t(m->mask), FXS_INTS(k, w->sizes[2], w->sizes[3]), m->stride,
                                 m->padding, m->dilation, fxs_int(m->offset_groups));
    if (k->status == FXS_OK)
        give_products(k, m, columns, m->offset->sizes + 2);
}

/* torchvision's own operator: (input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w,
 * dilation_h, dilation_w, groups, offset_groups, use_mask) */
static void make_deform_conv2d_split(fxs_compose *k) {
    const fxs_call *c = k->call;
    int64_t n[8];
    k->any_grad = true; /* a mask that is not used counts too */
    k->status = fxs_check_same_dtype(k->call, fxs_arg_tensor(c, 0), fxs_arg_tensor(c, 3), "mask");
    for (int i = 0; i < 8; i++)
        n[i] = fxs_arg_int(c, 5 + i);
    give_convolution(k, &(moved){.input = fxs_arg_tensor(c, 0),
                                 .weight = fxs_arg_tensor(c, 1),
                                 .offset = fxs_arg_tensor(c, 2),
                                 .mask = fxs_arg_bool(c, 13) ? fxs_arg_tensor(c, 3) : NULL,
                                 .bias = fxs_arg_tensor(c, 4),
                                 .stride = FXS_INTS(k, n[0], n[1]),
                                 .padding = FXS_INTS(k, n[2], n[3]),
                                 .dilation = FXS_INTS(k, n[4], n[5]),
                                 .groups = n[6],
                                 .offset_groups = n[7]});
}

/* torchvision's function, and the layer: (input, offset, weight, bias, stride, padding, dilation,
 * mask). The groups follow from the sizes. */
static void make_deform_conv2d(fxs_compose *k) {
    const fxs_call *c = k->call;
    moved m = {.input = fxs_arg_tensor(c, 0),
               .offset = fxs_arg_tensor(c, 1),
               .weight = fxs_arg_tensor(c, 2),
               .bias = fxs_arg_tensor(c, 3),
               .stride = c->arg[4],
               .padding = c->arg[5],
               .dilation = c->arg[6],
               .mask = fxs_arg_tensor(c, 7)};
    const fxs_tensor *w = m.weight;
    int64_t points = w->ndim == 4 ? w->sizes[2] * w->sizes[3] : 0;
    if (points && m.offset->ndim > 1)
        m.offset_groups = m.offset->sizes[1] / (2 * points);
    if (m.input->ndim == 4 && w->ndim == 4 && w->sizes[1])
        m.groups = m.input->sizes[1] / w->sizes[1];
    if (m.offset_groups == 0)
        fxs_stop(k, FXS_ESHAPE,
                 "the offset must have a multiple of 2 * weight.size[2] * weight.size[3] channels");
    give_convolution(k, &m);
}

FXS_COMPOSED(deform_conv2d)
FXS_COMPOSED(deform_conv2d_split)

const fxs_op fxs_ops_deform[] = {
    {"deform_columns",
     "(Tensor input, Tensor offset, Tensor? mask, int[2] kernel, int[2] stride, int[2] padding, "
     "int[2] dilation, int offset_groups) -> Tensor",
     NULL, infer_deform_columns, run_deform_columns, cost_deform_columns, FXS_OP_NO_INPLACE},
    {"deform_conv2d_split",
     "(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int "
     "stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int "
     "offset_groups, bool use_mask) -> Tensor",
     "torch.ops.torchvision.deform_conv2d", infer_deform_conv2d_split, run_deform_conv2d_split,
     cost_deform_conv2d_split, FXS_OP_NO_INPLACE},
    {"deform_conv2d",
     "(Tensor input, Tensor offset, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] "
     "padding=0, int[2] dilation=1, Tensor? mask=None) -> Tensor",
     "torchvision.ops.deform_conv.deform_conv2d torchvision.ops.deform_conv2d", infer_deform_conv2d,
     run_deform_conv2d, cost_deform_conv2d, FXS_OP_NO_INPLACE},
    {0},
};

const fxs_module_row fxs_modules_deform[] = {
    {.name = "DeformConv2d",
     .hyper = "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, "
              "bias=True",
     .state = "weight[out_channels, in_channels / groups, *kernel_size] = fan_in(weight); "
              "bias[out_channels] = fan_in(weight) if bias",
     .repr = "in_channels, out_channels, kernel_size(2)=, stride(2)=, padding(2)=?, "
             "dilation(2)=?, groups=?, bias=?",
     .forward = "input, offset, mask?",
     .call = "deform_conv2d(input, offset, weight, bias, stride=stride, padding=padding, "
             "dilation=dilation, mask=mask)"},
    {0},
};
