/* select.c: operators of three operands: where, masked_fill, clamp and its one-sided forms, lerp,
 * addcmul, addcdiv; and nan_to_num. Choosing between elements costs nothing, comparing and
 * computing do. */
#include <complex.h>
#include <float.h>
#include <math.h>

#include "kernels/complex.h"
#include "kernels/loops.h"
#include "kernels/work.h"

/* ---- elements
 * ------------------------------------------------------------------------------------------ */

typedef struct extra {
    double f;
    float f32;
    int64_t i;
    double complex c;
} extra;

#define THREE(op, expr32, expr64, int_expr)                                                        \
    FXS_LOOP3(op##_f32, float, float, extra, expr32)                                               \
    FXS_LOOP3(op##_f64, double, double, extra, expr64)                                             \
    FXS_LOOP3(op##_i64, int64_t, int64_t, extra, int_expr)                                         \
    static const fxs_loops op##_loops = {op##_f32, op##_f64, op##_i64, false, op##_c128};
/* A NaN among element and bounds is the result. */
#define UP(a, b) ((a) < (b) || (b) != (b) ? (b) : (a))
#define DOWN(a, b) ((a) > (b) || (b) != (b) ? (b) : (a))
FXS_LOOP3(where_c128, double complex, double complex, extra, x != 0 ? y : z)
FXS_LOOP3(addcmul_c128, double complex, double complex, extra, x + p->c * (y * z))
#define clamp_c128 NULL /* complex numbers have no order */
THREE(where, x != 0 ? y : z, x != 0 ? y : z, x != 0 ? y : z)
THREE(clamp, DOWN(UP(x, y), z), DOWN(UP(x, y), z), x < y ? (z < y ? z : y) : (z < x ? z : x))
THREE(addcmul, x + p->f32 * (y * z), x + p->f * (y * z),
      (int64_t)((uint64_t)x + (uint64_t)p->i * ((uint64_t)y * (uint64_t)z)))
#undef THREE
FXS_LOOP3(addcdiv_f32, float, float, extra, x + p->f32 * (y / z))
FXS_LOOP3(addcdiv_f64, double, double, extra, x + p->f * (y / z))
FXS_LOOP3(addcdiv_c128, double complex, double complex, extra,
          x + p->c * fxs_complex_quotient(y, z))
FXS_LOOP3(lerp_c128, double complex, double complex, void,
          cabs(z) < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))
FXS_LOOP3(lerp_f32, float, float, void,
          fabsf(z) < 0.5f ? x + z * (y - x) : y - (y - x) * (1.0f - z))
FXS_LOOP3(lerp_f64, double, double, void, fabs(z) < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))
static const fxs_loops addcdiv_loops = {addcdiv_f32, addcdiv_f64, NULL, false, addcdiv_c128},
                       lerp_loops = {lerp_f32, lerp_f64, NULL, false, lerp_c128};

/* ---- where and masked_fill
 * ----------------------------------------------------------------------------- */

static fxs_status check_mask(fxs_call *c, const fxs_tensor *mask, const char *name) {
    if (mask->dtype != FXS_BOOL && mask->dtype != FXS_UINT8)
        return FXS_REFUSE(
            c, FXS_ETYPE,
            "expected %s to be a boolean tensor, but got a tensor with dtype torch.%s", name,
            fxs_dtype_name(mask->dtype));
    return FXS_OK;
}

static fxs_dtype where_type(const fxs_operands *o) {
    fxs_operands chosen = {.n = 2, .v = {o->v[1], o->v[2]}};
    return fxs_common_type(&chosen);
}

static fxs_status infer_choice(fxs_call *c, const fxs_operands *o) {
    FXS_TRY(check_mask(c, o->v[0].u.tensor, "condition"));
    fxs_dtype d = where_type(o);
    fxs_tensor like[3];
    fxs_operands all = *o;
    FXS_TRY(fxs_check_computable(c, d));
    for (int i = 0; i < 3; i++) { /* of two types, both are made of one type first */
        fxs_tensor *t = o->v[i].tag == FXS_V_TENSOR ? o->v[i].u.tensor : NULL;
        if (!t || t->dtype == d)
            continue;
        like[i] = *t;
        like[i].dtype = d;
        if (i > 0) /* the condition stays as it is */
            fxs_strides_like(t, like[i].strides);
        all.v[i].u.tensor = &like[i];
    }
    return fxs_out_pointwise(c, &all, d);
}

static fxs_status run_choice(fxs_call *c, const fxs_operands *o) {
    return fxs_loop_run(c, c->out[0], &where_loops, o, where_type(o), NULL);
}

/* torch.where(condition, self, other) */
static fxs_operands function_order(const fxs_call *c) { return fxs_operands_of(c, 0, 3); }
static fxs_status infer_where(fxs_call *c) {
    fxs_operands o = function_order(c);
    return infer_choice(c, &o);
}
static fxs_status run_where(fxs_call *c) {
    fxs_operands o = function_order(c);
    return run_choice(c, &o);
}

/* self.where(condition, other) */
static fxs_operands method_order(const fxs_call *c) {
    return (fxs_operands){.n = 3, .v = {c->arg[1], c->arg[0], c->arg[2]}};
}
static fxs_status infer_where_method(fxs_call *c) {
    fxs_operands o = method_order(c);
    return infer_choice(c, &o);
}
static fxs_status run_where_method(fxs_call *c) {
    fxs_operands o = method_order(c);
    return run_choice(c, &o);
}

/* masked_fill(self, mask, value): the result is contiguous, whatever self is. */
static fxs_status infer_masked_fill(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    const fxs_tensor *self = fxs_arg_tensor(c, 0), *value = fxs_arg_tensor(c, 2);
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    FXS_TRY(check_mask(c, fxs_arg_tensor(c, 1), "mask"));
    FXS_TRY(fxs_check_mask_bytes(c, fxs_arg_tensor(c, 1)));
    FXS_TRY(fxs_check_computable(c, self->dtype));
    if (value && value->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE, "only a value of 0 dimensions is supported, but it has %d",
                          value->ndim);
    FXS_TRY(fxs_check_fits(c, 2, self->dtype));
    FXS_TRY(fxs_broadcast(c, &o, &ndim, sizes));
    return fxs_out_new(c, self->dtype, ndim, sizes, NULL);
}

static fxs_status run_masked_fill(fxs_call *c) {
    fxs_operands o = {.n = 3, .v = {c->arg[1], c->arg[2], c->arg[0]}};
    fxs_value value = fxs_known_number(&c->arg[2]);
    if (fxs_arg_tensor(c, 0)->dtype == FXS_BOOL && value.tag == FXS_V_FLOAT)
        o.v[1] = fxs_bool(value.u.f != 0);
    return fxs_loop_run(c, c->out[0], &where_loops, &o, fxs_arg_tensor(c, 0)->dtype, NULL);
}

/* ---- clamp
 * --------------------------------------------------------------------------------------------- */

/* self and the bounds that are there; a one-sided operator has one bound only. */
static fxs_operands clamp_given(const fxs_call *c) {
    fxs_operands o = {.n = 1, .v = {c->arg[0]}};
    for (int i = 1; i < c->nargs; i++)
        if (!fxs_arg_is_none(c, i))
            o.v[o.n++] = c->arg[i];
    return o;
}

/* Smallest and largest of an integer type. */
static void int_limits(fxs_dtype d, int64_t *low, int64_t *high) {
    int bits = (int)fxs_dtype_size(d) * 8 - (d == FXS_UINT8 ? 0 : 1);
    *high = bits == 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    *low = d == FXS_UINT8 ? 0 : -*high - 1;
}

static fxs_status check_bounds(fxs_call *c, const fxs_operands *o, fxs_dtype d) {
    int64_t low, high;
    int_limits(d, &low, &high);
    for (int i = 1; i < o->n && fxs_is_integral(d); i++)
        if (o->v[i].tag == FXS_V_INT &&
            (o->v[i].u.i < (d == FXS_UINT8 ? -high : low) || o->v[i].u.i > high))
            return FXS_REFUSE(c, FXS_EINVAL,
                              "value cannot be converted to type %s without overflow: %lld",
                              fxs_dtype_name(d), (long long)o->v[i].u.i);
    return FXS_OK;
}

static fxs_status infer_clamp(fxs_call *c) {
    fxs_operands o = clamp_given(c);
    fxs_dtype d = fxs_common_type(&o);
    bool tensors = false;
    if (o.n == 1)
        return FXS_REFUSE(c, FXS_EINVAL, "at least one of 'min' or 'max' must not be None");
    FXS_TRY(fxs_check_computable(c, d));
    for (int i = 1; i < o.n; i++)
        tensors |= o.v[i].tag == FXS_V_TENSOR;
    for (int i = 1; i < o.n; i++) /* one tensor with dimensions asks for two */
        if (tensors && o.v[i].tag != FXS_V_TENSOR && o.v[3 - i].u.tensor->ndim > 0)
            return FXS_REFUSE(c, FXS_ETYPE, "min and max must both be tensors, or both be numbers");
    if (d == FXS_BOOL &&
        !(tensors && o.n == 2)) /* with one tensor it is maximum or minimum, which take bool */
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    FXS_TRY(check_bounds(c, &o, d));
    if (!tensors)
        return fxs_out_like(c, fxs_arg_tensor(c, 0), d);
    return fxs_out_pointwise(c, &o, d);
}

static fxs_status run_between(fxs_call *c, fxs_value low, fxs_value high) {
    fxs_operands given = clamp_given(c);
    fxs_dtype d = fxs_common_type(&given);
    int64_t least = 0, most = 1;
    if (d != FXS_BOOL && !fxs_is_floating(d))
        int_limits(d, &least, &most);
    if (low.tag == FXS_V_NONE)
        low = fxs_is_floating(d) ? fxs_float(-INFINITY) : fxs_int(least);
    if (high.tag == FXS_V_NONE)
        high = fxs_is_floating(d) ? fxs_float(INFINITY) : fxs_int(most);
    fxs_operands o = {.n = 3, .v = {c->arg[0], low, high}};
    return fxs_loop_run(c, c->out[0], &clamp_loops, &o, d, NULL);
}

static fxs_status run_clamp(fxs_call *c) { return run_between(c, c->arg[1], c->arg[2]); }
static fxs_status run_clamp_min(fxs_call *c) { return run_between(c, c->arg[1], fxs_none()); }
static fxs_status run_clamp_max(fxs_call *c) { return run_between(c, fxs_none(), c->arg[1]); }

/* ---- lerp, addcmul, addcdiv
 * ---------------------------------------------------------------------------- */

static fxs_status infer_lerp(fxs_call *c) {
    bool scalar = c->arg[2].tag != FXS_V_TENSOR;
    fxs_operands o = fxs_operands_of(c, 0, scalar ? 2 : 3);
    const fxs_tensor *self = fxs_arg_tensor(c, 0);
    for (int i = 1; i < o.n; i++)
        if (o.v[i].u.tensor->dtype != self->dtype)
            return FXS_REFUSE(
                c, FXS_ETYPE, "expected dtype torch.%s for argument %d but got dtype torch.%s",
                fxs_dtype_name(self->dtype), i + 1, fxs_dtype_name(o.v[i].u.tensor->dtype));
    if (!fxs_is_floating(self->dtype) && !fxs_is_complex(self->dtype))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s",
                          fxs_dtype_name(self->dtype));
    FXS_TRY(fxs_check_computable(c, self->dtype));
    return fxs_out_pointwise(c, &o, self->dtype);
}

static fxs_status run_lerp(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 3);
    return fxs_loop_run(c, c->out[0], &lerp_loops, &o, c->out[0]->dtype, NULL);
}

static fxs_status infer_addcmul(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 3);
    FXS_TRY(fxs_check_computable(c, fxs_common_type(&o)));
    if (fxs_common_type(&o) == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.bool");
    FXS_TRY(fxs_check_number(c, 3, fxs_common_type(&o)));
    return fxs_out_pointwise(c, &o, fxs_common_type(&o));
}

static fxs_status infer_addcdiv(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 1, 2);
    fxs_dtype d = fxs_promote(o.v[0].u.tensor->dtype, o.v[1].u.tensor->dtype);
    if (!fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "integer division with addcdiv is no longer supported: tensor1 and "
                          "tensor2 are integers");
    return infer_addcmul(c);
}

static fxs_status run_scaled(fxs_call *c, const fxs_loops *loops) {
    fxs_operands o = fxs_operands_of(c, 0, 3);
    bool pair = c->arg[3].tag == FXS_V_COMPLEX;
    double f = pair ? c->arg[3].u.c[0] : fxs_arg_float(c, 3);
    extra e = {.f = f,
               .f32 = (float)f,
               .i = pair ? 0 : fxs_arg_int(c, 3),
               .c = CMPLX(f, pair ? c->arg[3].u.c[1] : 0)};
    return fxs_loop_run(c, c->out[0], loops, &o, fxs_common_type(&o), &e);
}

static fxs_status run_addcmul(fxs_call *c) { return run_scaled(c, &addcmul_loops); }
static fxs_status run_addcdiv(fxs_call *c) { return run_scaled(c, &addcdiv_loops); }

/* ---- nan_to_num
 * ---------------------------------------------------------------------------------------- */

typedef struct stand_in {
    double nan, plus, minus;
} stand_in;

#define REPLACED(x)                                                                                \
    ((x) != (x)                 ? p->nan                                                           \
     : (x) == (double)INFINITY  ? p->plus                                                          \
     : (x) == (double)-INFINITY ? p->minus                                                         \
                                : (x))
FXS_LOOP1(nan_to_num_f32, float, float, stand_in, REPLACED((double)x))
FXS_LOOP1(nan_to_num_f64, double, double, stand_in, REPLACED(x))
FXS_LOOP1(nan_to_num_i64, int64_t, int64_t, stand_in, x)
#undef REPLACED
static const fxs_loops nan_to_num_loops = {nan_to_num_f32, nan_to_num_f64, nan_to_num_i64, false};

static double largest(fxs_dtype d) {
    static const struct {
        fxs_dtype dtype;
        double max;
    } limits[] = {{FXS_FLOAT32, (double)FLT_MAX},
                  {FXS_FLOAT16, 65504},
                  {FXS_BFLOAT16, 3.3895313892515355e38}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].dtype == d)
            return limits[i].max;
    return DBL_MAX;
}

static fxs_status infer_nan_to_num(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    FXS_TRY(fxs_check_computable(c, t->dtype));
    fxs_strides_like(t, strides);
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, strides);
}

static fxs_status run_nan_to_num(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 1);
    double max = largest(c->out[0]->dtype);
    stand_in s = {.nan = fxs_arg_float(c, 1),
                  .plus = fxs_arg_is_none(c, 2) ? max : fxs_arg_float(c, 2),
                  .minus = fxs_arg_is_none(c, 3) ? -max : fxs_arg_float(c, 3)};
    return fxs_loop_run(c, c->out[0], &nan_to_num_loops, &o, c->out[0]->dtype, &s);
}

/* lerp: a subtraction, a multiply, an add. */
static fxs_cost cost_three(const fxs_call *c) {
    fxs_cost cost = fxs_cost_one(c);
    cost.flops *= 3;
    return cost;
}

/* Two comparisons for two bounds, one for one. */
static fxs_cost cost_clamp(const fxs_call *c) {
    fxs_cost cost = fxs_cost_one(c);
    cost.flops *= clamp_given(c).n - 1;
    return cost;
}

const fxs_op fxs_ops_select[] = {
    {"where", "(Tensor condition, Tensor input, Tensor|Scalar other) -> Tensor", "torch.where",
     infer_where, run_where, NULL, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"where", "(Tensor condition, Scalar self, Tensor|Scalar other) -> Tensor", "torch.where",
     infer_where, run_where, NULL, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"where_method", "(Tensor self, Tensor condition, Tensor|Scalar other) -> Tensor",
     "Tensor.where", infer_where_method, run_where_method, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {"masked_fill", "(Tensor self, Tensor mask, Tensor|Scalar value) -> Tensor",
     "torch.masked_fill Tensor.masked_fill", infer_masked_fill, run_masked_fill, NULL,
     FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"clamp", "(Tensor self, Tensor|Scalar? min=None, Tensor|Scalar? max=None) -> Tensor",
     "torch.clamp Tensor.clamp torch.clip Tensor.clip", infer_clamp, run_clamp, cost_clamp,
     FXS_OP_POINTWISE},
    {"clamp_min", "(Tensor self, Tensor|Scalar min) -> Tensor", "torch.clamp_min Tensor.clamp_min",
     infer_clamp, run_clamp_min, cost_clamp, FXS_OP_POINTWISE},
    {"clamp_max", "(Tensor self, Tensor|Scalar max) -> Tensor", "torch.clamp_max Tensor.clamp_max",
     infer_clamp, run_clamp_max, cost_clamp, FXS_OP_POINTWISE},
    {"lerp", "(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor", "torch.lerp Tensor.lerp",
     infer_lerp, run_lerp, cost_three, FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"addcmul", "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     "torch.addcmul Tensor.addcmul", infer_addcmul, run_addcmul, cost_three,
     FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"addcdiv", "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     "torch.addcdiv Tensor.addcdiv", infer_addcdiv, run_addcdiv, cost_three,
     FXS_OP_POINTWISE | FXS_OP_COMPLEX},
    {"nan_to_num",
     "(Tensor self, float? nan=0.0, float? posinf=None, float? neginf=None) -> Tensor",
     "torch.nan_to_num Tensor.nan_to_num", infer_nan_to_num, run_nan_to_num, fxs_cost_one,
     FXS_OP_POINTWISE},
    {0},
};
