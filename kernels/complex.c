/* complex.c: complex tensors: views as pairs of real numbers and back, parts, conj, angles, polar.
 * Plain loops in double: networks use them for a rotation or a spectrum, and little else. What
 * works element by element is with its real kin (FXS_OP_COMPLEX, fxs_loops). */
#include "kernels/complex.h"

#include <math.h>
#include <string.h>

#include "kernels/families.h"

/* Strides of a tensor that is stretched to out's shape. */
static void stretched(const fxs_tensor *out, const fxs_tensor *t, int64_t *strides) {
    for (int i = 0; i < out->ndim; i++) {
        int at = i - (out->ndim - t->ndim);
        strides[i] = at < 0 || t->sizes[at] == 1 ? 0 : t->strides[at];
    }
}

typedef struct operand {
    const fxs_tensor *t; /* NULL: a number */
    int64_t strides[FXS_MAX_DIM];
    double number[2];
} operand;

static operand operand_of(const fxs_call *c, int i) {
    const fxs_value *v = &c->arg[i];
    operand o = {0};
    if (v->tag == FXS_V_TENSOR) {
        o.t = v->u.tensor;
        stretched(c->out[0], o.t, o.strides);
    } else if (v->tag == FXS_V_COMPLEX) {
        memcpy(o.number, v->u.c, sizeof o.number);
    } else {
        o.number[0] = fxs_arg_float(c, i);
    }
    return o;
}

static void read_at(const operand *o, const int64_t *place, int ndim, double z[2]) {
    int64_t at = 0;
    if (!o->t) {
        memcpy(z, o->number, 2 * sizeof *z);
        return;
    }
    for (int i = 0; i < ndim; i++)
        at += place[i] * o->strides[i];
    fxs_load_complex(o->t, at, z);
}

/* ---- one tensor to another of its shape
 * ------------------------------------------------------------------------ */

typedef void part_fn(const double x[2], double z[2]);

static void run_each(fxs_call *c, part_fn *fn) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_tensor *out = c->out[0];
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++) {
        int64_t rest = i, from = 0, to = 0;
        double x[2], z[2] = {0};
        for (int k = t->ndim - 1; k >= 0; k--) {
            from += rest % t->sizes[k] * t->strides[k];
            to += rest % t->sizes[k] * out->strides[k];
            rest /= t->sizes[k];
        }
        fxs_load_complex(t, from, x);
        fn(x, z);
        fxs_store_complex(out, to, z);
    }
}

static void absolute(const double x[2], double z[2]) { z[0] = hypot(x[0], x[1]); }
static void conjugate(const double x[2], double z[2]) { z[0] = x[0], z[1] = -x[1]; }
static void angle(const double x[2], double z[2]) { z[0] = isnan(x[0]) ? x[0] : atan2(x[1], x[0]); }

fxs_status fxs_complex_abs_infer(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (c->in_place)
        return FXS_REFUSE(c, FXS_ETYPE, "in-place abs is not supported for complex tensors");
    int64_t strides[FXS_MAX_DIM];
    fxs_strides_like(t, strides);
    return fxs_out_new(c, fxs_real_of(t->dtype), t->ndim, t->sizes, strides);
}

fxs_status fxs_complex_abs_run(fxs_call *c) {
    run_each(c, absolute);
    return FXS_OK;
}

/* conj(x): of a real tensor x itself. PyTorch turns signs when the values are read, of a view; here
 * they are turned at once, of a copy with the view's strides. */
static fxs_status infer_conj(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    return fxs_is_complex(t->dtype) ? fxs_out_new(c, t->dtype, t->ndim, t->sizes, t->strides)
                                    : fxs_out_same(c, t);
}

static fxs_status infer_conj_physical(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    return fxs_is_complex(t->dtype) ? fxs_out_like(c, t, t->dtype) : fxs_out_same(c, t);
}

void fxs_conjugate(fxs_tensor *t) {
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++) {
        int64_t rest = i, at = 0;
        double z[2], turned[2];
        for (int k = t->ndim - 1; k >= 0; k--) {
            at += rest % t->sizes[k] * t->strides[k];
            rest /= t->sizes[k];
        }
        fxs_load_complex(t, at, z);
        conjugate(z, turned);
        fxs_store_complex(t, at, turned);
    }
}

static fxs_status run_conj(fxs_call *c) {
    run_each(c, conjugate);
    return FXS_OK;
}

static fxs_status infer_angle(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    fxs_operands o = fxs_operands_of(c, 0, 1);
    if (fxs_is_complex(t->dtype))
        return fxs_out_new(c, fxs_real_of(t->dtype), t->ndim, t->sizes, NULL);
    return fxs_out_like(c, t, fxs_common_float(&o));
}

static void half_turn(const double x[2], double z[2]) {
    z[0] = isnan(x[0]) ? x[0] : x[0] < 0 ? acos(-1) : 0;
}

static fxs_status run_angle(fxs_call *c) {
    run_each(c, fxs_is_complex(fxs_arg_tensor(c, 0)->dtype) ? angle : half_turn);
    return FXS_OK;
}

/* ---- views
 * ----------------------------------------------------------------------------------------------------
 */

static fxs_status pairs_of(fxs_call *c, fxs_tensor *t, fxs_tensor **out) {
    FXS_TRY(fxs_out_view(c, t, out));
    (*out)->dtype = fxs_real_of(t->dtype);
    (*out)->offset *= 2;
    for (int i = 0; i < t->ndim; i++)
        (*out)->strides[i] *= 2;
    return FXS_OK;
}

static fxs_status infer_view_as_real(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    if (!fxs_is_complex(t->dtype) || t->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ETYPE, "is only supported for complex tensors, not torch.%s",
                          fxs_dtype_name(t->dtype));
    FXS_TRY(pairs_of(c, t, &v));
    v->sizes[v->ndim] = 2;
    v->strides[v->ndim++] = 1;
    return FXS_OK;
}

static fxs_status infer_view_as_complex(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    char text[FXS_SIZES_TEXT];
    if (t->dtype != FXS_FLOAT32 && t->dtype != FXS_FLOAT64)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "is only supported for floating point tensors, not torch.%s",
                          fxs_dtype_name(t->dtype));
    if (t->ndim == 0 || t->sizes[t->ndim - 1] != 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "tensor must have a last dimension of size 2, but its shape is %s",
                          fxs_sizes_text(t, text));
    bool even = t->offset % 2 == 0;
    for (int i = 0; i < t->ndim - 1; i++)
        even &= t->strides[i] % 2 == 0;
    if (t->strides[t->ndim - 1] != 1 || !even)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "tensor must have a last dimension with stride 1, and other strides and "
                          "an offset that 2 "
                          "divides");
    FXS_TRY(fxs_out_view(c, t, &v));
    v->dtype = fxs_complex_of(t->dtype);
    v->offset /= 2;
    v->ndim--;
    for (int i = 0; i < v->ndim; i++)
        v->strides[i] /= 2;
    return FXS_OK;
}

static fxs_status infer_real(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    return fxs_is_complex(t->dtype) ? pairs_of(c, t, &v) : fxs_out_same(c, t);
}

static fxs_status infer_imag(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0), *v;
    if (!fxs_is_complex(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "is not implemented for tensors with non-complex dtypes");
    FXS_TRY(pairs_of(c, t, &v));
    v->offset++;
    return FXS_OK;
}

/* ---- from two real tensors
 * ------------------------------------------------------------------------------------- */

static fxs_status infer_two(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    fxs_dtype a = fxs_arg_tensor(c, 0)->dtype, b = fxs_arg_tensor(c, 1)->dtype;
    if (a != b || (a != FXS_FLOAT32 && a != FXS_FLOAT64))
        return FXS_REFUSE(
            c, FXS_ETYPE,
            "expected both inputs to be float32 or float64, but got torch.%s and torch.%s",
            fxs_dtype_name(a), fxs_dtype_name(b));
    return fxs_out_pointwise(c, &o, fxs_complex_of(a));
}

static fxs_status run_pairs(fxs_call *c, bool polar) {
    fxs_tensor *out = c->out[0];
    operand a = operand_of(c, 0), b = operand_of(c, 1);
    int64_t place[FXS_MAX_DIM] = {0};
    for (int64_t i = 0, n = fxs_tensor_numel(out); i < n; i++) {
        double x[2], y[2], z[2];
        int64_t at = 0;
        read_at(&a, place, out->ndim, x);
        read_at(&b, place, out->ndim, y);
        z[0] = polar ? x[0] * cos(y[0]) : x[0];
        z[1] = polar ? x[0] * sin(y[0]) : y[0];
        for (int k = 0; k < out->ndim; k++)
            at += place[k] * out->strides[k];
        fxs_store_complex(out, at, z);
        for (int k = out->ndim - 1; k >= 0 && ++place[k] == out->sizes[k]; k--)
            place[k] = 0;
    }
    return FXS_OK;
}

static fxs_status run_complex(fxs_call *c) { return run_pairs(c, false); }
static fxs_status run_polar(fxs_call *c) { return run_pairs(c, true); }

#define PURE FXS_OP_NO_INPLACE

const fxs_op fxs_ops_complex[] = {
    {"view_as_real", "(Tensor self) -> Tensor", "torch.view_as_real", infer_view_as_real, NULL,
     NULL, PURE},
    {"view_as_complex", "(Tensor self) -> Tensor", "torch.view_as_complex", infer_view_as_complex,
     NULL, NULL, PURE},
    {"real", "(Tensor self) -> Tensor", "torch.real", infer_real, NULL, NULL, PURE},
    {"imag", "(Tensor self) -> Tensor", "torch.imag", infer_imag, NULL, NULL, PURE},
    {"conj", "(Tensor self) -> Tensor", "torch.conj Tensor.conj", infer_conj, run_conj, NULL, PURE},
    {"conj_physical", "(Tensor self) -> Tensor", "torch.conj_physical Tensor.conj_physical",
     infer_conj_physical, run_conj, NULL, 0},
    {"angle", "(Tensor self) -> Tensor", "torch.angle Tensor.angle", infer_angle, run_angle,
     fxs_cost_one, PURE},
    {"complex", "(Tensor real, Tensor imag) -> Tensor", "torch.complex", infer_two, run_complex,
     NULL, PURE},
    {"polar", "(Tensor abs, Tensor angle) -> Tensor", "torch.polar", infer_two, run_polar,
     fxs_cost_one, PURE},
    {0},
};
#undef PURE
