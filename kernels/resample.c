/* resample.c: interpolate, by all its modes, and the Upsample layers: arguments and shapes. The
 * arithmetic is in resample_run.c. */
#include "kernels/resample.h"

#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/pooling.h"

enum { INPUT, SIZE, FACTOR, MODE, ALIGN, RECOMPUTE, ANTIALIAS };

static const struct mode {
    const char *name;
    fxs_filter filter;
    int dims; /* of the input; 0: any */
} modes[] = {{"nearest", FXS_NEAREST, 0},  {"nearest-exact", FXS_NEAREST_EXACT, 0},
             {"linear", FXS_LINEAR, 3},    {"bilinear", FXS_LINEAR, 4},
             {"trilinear", FXS_LINEAR, 5}, {"bicubic", FXS_CUBIC, 4},
             {"area", FXS_AREA, 0}};

static fxs_status read_mode(fxs_call *c, const fxs_tensor *x, fxs_resample *r) {
    const char *name = fxs_arg_str(c, MODE);
    const struct mode *m = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, name) == 0)
            m = &modes[i];
    if (!m || x->ndim < 3 || x->ndim > 5)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "only 3D, 4D and 5D input tensors are supported (got %dD) for the modes "
                          "nearest, linear, "
                          "bilinear, bicubic, trilinear, area and nearest-exact (got %s)",
                          x->ndim, name);
    if (m->dims && m->dims != x->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE, "got %dD input, but %s mode needs %dD input", x->ndim,
                          name, m->dims);
    r->filter = m->filter;
    r->dims = x->ndim - 2;
    r->align_corners = fxs_arg_bool(c, ALIGN);
    r->antialias = fxs_arg_bool(c, ANTIALIAS);
    if (!m->dims && !fxs_arg_is_none(c, ALIGN))
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "align_corners can only be set with the modes linear, bilinear, bicubic and trilinear");
    if (r->antialias && (x->ndim != 4 || (m->filter != FXS_LINEAR && m->filter != FXS_CUBIC)))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "anti-alias option is only supported for bilinear and bicubic modes");
    return FXS_OK;
}

/* Number k of a number or list; false when it is no number. Sizes are ints, and bools behind the
 * first of a list, as in each list of ints. */
static bool number_at(const fxs_value *v, bool size, int k, double *out) {
    bool list = v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE;
    v = list ? fxs_value_item(v, (size_t)k) : v;
    bool flag = v && v->tag == FXS_V_BOOL;
    if (!v || (!flag && v->tag != FXS_V_INT && (size || v->tag != FXS_V_FLOAT)))
        return false;
    if (size && flag && (!list || k == 0))
        return false;
    *out = v->tag == FXS_V_FLOAT ? v->u.f : v->tag == FXS_V_INT ? (double)v->u.i : v->u.b;
    return true;
}

static fxs_status check_count(fxs_call *c, const fxs_resample *r, int i, const char *name) {
    const fxs_value *v = &c->arg[i];
    bool list = v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE;
    if (list && fxs_value_len(v) != (size_t)r->dims)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "input and %s must have the same number of spatial dimensions, but got %d and %d", name,
            r->dims, (int)fxs_value_len(v));
    return FXS_OK;
}

static fxs_status read_sizes(fxs_call *c, fxs_resample *r) {
    bool by_size = !fxs_arg_is_none(c, SIZE), by_factor = !fxs_arg_is_none(c, FACTOR);
    if (by_size == by_factor)
        return FXS_REFUSE(c, FXS_EINVAL,
                          by_size ? "only one of size or scale_factor should be defined"
                                  : "either size or scale_factor should be defined");
    if (by_size && fxs_arg_bool(c, RECOMPUTE))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "recompute_scale_factor is not meaningful with an explicit size");
    FXS_TRY(check_count(c, r, by_size ? SIZE : FACTOR, by_size ? "output size" : "scale_factor"));
    for (int k = 0; k < r->dims; k++) {
        int d = 3 - r->dims + k;
        double v;
        if (!number_at(&c->arg[by_size ? SIZE : FACTOR], by_size, k, &v))
            return FXS_REFUSE(c, FXS_ETYPE, "%s must be %s", by_size ? "size" : "scale_factor",
                              by_size ? "an int or a list of ints"
                                      : "a number or a list of numbers");
        double n = by_size ? v : floor((double)r->in[d] * v);
        if (!(n < 9e15))
            return FXS_REFUSE(c, FXS_ELIMIT, "an output size beyond 2^53");
        r->out[d] = n < 1 ? 0 : (int64_t)n;
        r->factor[d] = by_factor && !fxs_arg_bool(c, RECOMPUTE) ? v : 0;
    }
    return FXS_OK;
}

static fxs_status read_resample(fxs_call *c, fxs_resample *r) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    *r = (fxs_resample){0};
    FXS_TRY(read_mode(c, x, r));
    bool bytes =
        x->dtype == FXS_UINT8 && (r->filter == FXS_NEAREST || r->filter == FXS_NEAREST_EXACT);
    fxs_window w = fxs_window_new(r->dims);
    fxs_window_sizes(&w, x, w.in);
    memcpy(r->in, w.in, sizeof r->in);
    memcpy(r->out, w.out, sizeof r->out);
    r->planes = x->sizes[0] * x->sizes[1];
    FXS_TRY(read_sizes(c, r));
    bool volume = r->dims == 3, empty = r->planes == 0;
    for (int d = 0; d < 3; d++)
        empty |= r->out[d] == 0;
    if (r->filter != FXS_AREA || volume || !empty) /* to which adaptive_avg_pool takes any type */
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS | (bytes ? FXS_TAKES_INTEGERS : 0)));
    if (x->sizes[1] == 0 && (r->filter != FXS_AREA || volume))
        return FXS_REFUSE(c, FXS_ESHAPE, "non-empty input expected, but got input of shape %s",
                          fxs_sizes_text(x, a));
    for (int d = 0; d < 3; d++)
        if (r->in[d] < 1 || r->out[d] < (r->filter == FXS_AREA ? 0 : 1))
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "input and output sizes should be greater than 0, but got input %s output %s",
                fxs_window_text(&w, r->in, a), fxs_window_text(&w, r->out, b));
    return FXS_OK;
}

/* torch keeps channels_last, but not for cubic, and for area as adaptive_avg_pool does, which it
 * is. */
static fxs_status infer_resample(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_resample r;
    FXS_TRY(read_resample(c, &r));
    if (r.filter == FXS_AREA)
        return fxs_pooling_result(c, x, r.dims, r.out, true, false);
    int64_t sizes[5] = {x->sizes[0], x->sizes[1]};
    memcpy(sizes + 2, r.out + 3 - r.dims, (size_t)r.dims * sizeof *sizes);
    bool keep = r.dims > 1 && r.filter != FXS_CUBIC;
    return fxs_out_format(c, x->dtype, x->ndim, sizes, keep && fxs_suggests_channels_last(x));
}

static fxs_status run_resample(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_resample r;
    FXS_TRY(read_resample(c, &r));
    fxs_work w = fxs_work_begin(c, x->dtype);
    const void *from = fxs_work_data(&w, x);
    fxs_tensor *y = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK && fxs_tensor_numel(y) > 0)
        fxs_resample_run(&w, &r, from, fxs_tensor_data(y));
    return fxs_work_end(&w);
}

/* a product and a sum for each weight of each dimension, for each element of the result; nearest
 * computes nothing */
static fxs_cost cost_resample(const fxs_call *c) {
    static const double weights[] = {[FXS_NEAREST] = 0,
                                     [FXS_NEAREST_EXACT] = 0,
                                     [FXS_LINEAR] = 2,
                                     [FXS_CUBIC] = 4,
                                     [FXS_AREA] = 0};
    double out = (double)fxs_tensor_numel(c->out[0]), in = (double)fxs_arg_numel(c, INPUT),
           each = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, fxs_arg_str(c, MODE)) != 0)
            continue;
        if (modes[i].filter == FXS_AREA)
            return (fxs_cost){.flops = in + out};
        each = 2 * weights[modes[i].filter] * (c->out[0]->ndim - 2);
    }
    return (fxs_cost){.flops = each * out};
}

const fxs_op fxs_ops_resample[] = {
    {.name = "interpolate",
     .schema = "(Tensor input, any size=None, any scale_factor=None, str mode='nearest', bool? "
               "align_corners=None, "
               "bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
     .torch = "torch.nn.functional.interpolate torch.nn.functional.upsample",
     .infer = infer_resample,
     .kernel = run_resample,
     .cost = cost_resample},
    {0},
};

const fxs_module_row fxs_modules_resample[] = {
    {.name = "Upsample",
     .hyper = "size=None, scale_factor=None, mode='nearest', align_corners=None, "
              "recompute_scale_factor=None",
     .repr = "scale_factor=?f, size=?, mode=",
     .call = "interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)"},
    {.name = "UpsamplingNearest2d",
     .hyper = "size=None, scale_factor=None",
     .repr = "scale_factor=?f, size=?, :mode=nearest",
     .call = "interpolate(input, size, scale_factor)"},
    {.name = "UpsamplingBilinear2d",
     .hyper = "size=None, scale_factor=None",
     .repr = "scale_factor=?f, size=?, :mode=bilinear",
     .call = "interpolate(input, size, scale_factor, 'bilinear', True)"},
    {0},
};
