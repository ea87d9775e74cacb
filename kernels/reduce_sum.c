/* reduce_sum.c: sum mean prod any all count_nonzero amax amin and the norms: folds to one value.
 * Floats are added in double precision. var and std are in reduce_var.c, what gives indices in
 * reduce_arg.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/complex.h"
#include "kernels/linalg_norm.h"
#include "kernels/reduce.h"
#include "kernels/work.h"

/* ---- folds
 * --------------------------------------------------------------------------------------------- */

/* Eight sums side by side, so that the loop becomes vector code. */
#define SUM(name, type, term)                                                                      \
    FXS_VECTOR static void name(fxs_acc *acc, const type *p, int64_t n, const void *user) {        \
        double s[8] = {0}, all = 0;                                                                \
        int64_t i = 0;                                                                             \
        (void)user;                                                                                \
        for (; i + 8 <= n; i += 8)                                                                 \
            for (int k = 0; k < 8; k++) {                                                          \
                double x = (double)p[i + k];                                                       \
                s[k] += term;                                                                      \
            }                                                                                      \
        for (; i < n; i++) {                                                                       \
            double x = (double)p[i];                                                               \
            all += term;                                                                           \
        }                                                                                          \
        for (int k = 0; k < 8; k++)                                                                \
            all += s[k];                                                                           \
        acc->a += all;                                                                             \
    }
SUM(sum_f32, float, x)
SUM(sum_f64, double, x)
SUM(abs_f32, float, fabs(x))
SUM(abs_f64, double, fabs(x))
SUM(square_f32, float, x *x)
SUM(square_f64, double, x *x)
#undef SUM

#define FOLD(name, type, statement)                                                                \
    static void name(fxs_acc *acc, const type *p, int64_t n, const void *user) {                   \
        (void)user;                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x = p[i];                                                                         \
            statement;                                                                             \
        }                                                                                          \
    }
#define FOLD_ALL(name, float_statement, int_statement)                                             \
    FOLD(name##_f32, float, float_statement)                                                       \
    FOLD(name##_f64, double, float_statement)                                                      \
    FOLD(name##_i64, int64_t, int_statement)
FOLD(sum_i64, int64_t, acc->i = (int64_t)((uint64_t)acc->i + (uint64_t)x))
FOLD_ALL(prod, acc->a *= (double)x, acc->i = (int64_t)((uint64_t)acc->i * (uint64_t)x))
FOLD_ALL(any, acc->i |= x != 0, acc->i |= x != 0)
FOLD_ALL(all, acc->i &= x != 0, acc->i &= x != 0)
FOLD_ALL(count, acc->i += x != 0, acc->i += x != 0)
/* A NaN is the largest and the smallest. */
FOLD_ALL(amax, acc->a = (double)x > acc->a || x != x ? (double)x : acc->a,
         acc->i = x > acc->i ? x : acc->i)
FOLD_ALL(amin, acc->a = (double)x < acc->a || x != x ? (double)x : acc->a,
         acc->i = x < acc->i ? x : acc->i)
FOLD(abs_max_f64, double, acc->a = fabs(x) > acc->a || x != x ? fabs(x) : acc->a)
FOLD(abs_min_f64, double, acc->a = fabs(x) < acc->a || x != x ? fabs(x) : acc->a)
#undef FOLD
#undef FOLD_ALL

static void power_f64(fxs_acc *acc, const double *p, int64_t n, const void *user) {
    double exponent = *(const double *)user;
    for (int64_t i = 0; i < n; i++)
        acc->a += pow(fabs(p[i]), exponent);
}

/* Of complex numbers; m is the absolute value. */
#define FOLD(name, statement)                                                                      \
    static void name##_c128(fxs_acc *acc, const double *p, int64_t n, const void *user) {          \
        (void)user;                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            double x = p[2 * i], y = p[2 * i + 1], m = hypot(x, y);                                \
            (void)m;                                                                               \
            statement;                                                                             \
        }                                                                                          \
    }
FOLD(sum, acc->a += x; acc->b += y)
FOLD(prod, double re = acc->a * x - acc->b * y; acc->b = acc->a * y + acc->b * x; acc->a = re)
/* As a bool a complex number is what its real part is. */
FOLD(any, (void)y; acc->i |= x != 0)
FOLD(all, (void)y; acc->i &= x != 0)
FOLD(count, acc->i += x != 0 || y != 0)
FOLD(abs, acc->a += m)
FOLD(square, acc->a += x * x + y * y)
FOLD(abs_max, acc->a = m > acc->a || m != m ? m : acc->a)
FOLD(abs_min, acc->a = m < acc->a || m != m ? m : acc->a)
FOLD(power, acc->a += pow(m, *(const double *)user))
#undef FOLD

static void put_pair(const fxs_acc *acc, fxs_tensor *t, int64_t at, double scale) {
    fxs_store_pair(t->dtype, (char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype),
                   (const double[2]){acc->a * scale, acc->b * scale});
}

static void store_value(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user) {
    (void)user;
    if (fxs_is_complex(out[0]->dtype))
        put_pair(acc, out[0], at, 1);
    else if (fxs_is_floating(out[0]->dtype))
        fxs_put_double(out[0], at, acc->a);
    else
        fxs_put_int(out[0], at, acc->i);
}

static void store_int(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user) {
    (void)user;
    fxs_put_int(out[0], at, acc->i);
}

static void store_mean(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user) {
    (void)user;
    if (fxs_is_complex(out[0]->dtype))
        put_pair(acc, out[0], at, 1 / (double)acc->n);
    else
        fxs_put_double(out[0], at, acc->a / (double)acc->n);
}

static void store_least(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user) {
    (void)user;
    fxs_put_double(out[0], at, acc->n ? acc->a : 0);
}

static void store_root(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user) {
    (void)user;
    fxs_put_double(out[0], at, sqrt(acc->a));
}

/* PyTorch sums powers in the type itself: those of the small types overflow. */
static void store_power_root(const fxs_acc *acc, fxs_tensor *const *out, int64_t at,
                             const void *user) {
    double most = out[0]->dtype == FXS_FLOAT16 ? 65504 : FLT_MAX, p = *(const double *)user;
    bool beyond = fxs_compute_dtype(out[0]->dtype) != out[0]->dtype && acc->a > most;
    fxs_put_double(out[0], at, pow(beyond ? INFINITY : acc->a, 1 / p));
}

static const fxs_fold
    sum_fold = {sum_f32, sum_f64, sum_i64, store_value, {0}, sum_c128},
    mean_fold = {sum_f32, sum_f64, NULL, store_mean, {0}, sum_c128},
    prod_fold = {prod_f32, prod_f64, prod_i64, store_value, {.a = 1, .i = 1}, prod_c128},
    any_fold = {any_f32, any_f64, any_i64, store_int, {0}, any_c128},
    all_fold = {all_f32, all_f64, all_i64, store_int, {.i = 1}, all_c128},
    count_fold = {count_f32, count_f64, count_i64, store_int, {0}, count_c128},
    amax_fold = {amax_f32, amax_f64, amax_i64, store_value, {.a = -INFINITY, .i = INT64_MIN}},
    amin_fold = {amin_f32, amin_f64, amin_i64, store_value, {.a = INFINITY, .i = INT64_MAX}};

/* ---- infer
 * --------------------------------------------------------------------------------------------- */

/* (self, ...) folds all, (self, dim, keepdim, ...) some dimensions. */
static fxs_status read(fxs_call *c, fxs_reduction *r) {
    static const fxs_value all = {0};
    bool some = c->nargs > 2;
    return fxs_read_reduction(c, fxs_arg_tensor(c, 0), some ? &c->arg[1] : &all,
                              some && fxs_arg_bool(c, 2), r);
}

static fxs_status check_types(fxs_call *c, fxs_dtype d) {
    FXS_TRY(fxs_check_computable(c, fxs_arg_tensor(c, 0)->dtype));
    return fxs_check_computable(c, d);
}

/* The dtype in argument i, else what the input's type adds up in. */
static fxs_dtype sum_type(const fxs_call *c, int i) {
    fxs_dtype d = fxs_arg_tensor(c, 0)->dtype;
    if (!fxs_arg_is_none(c, i))
        return c->arg[i].u.dtype;
    return fxs_is_integral(d) || d == FXS_BOOL ? FXS_INT64 : d;
}

/* sum(self, dtype), sum(self, dim, keepdim, dtype) */
static fxs_status infer_sum(fxs_call *c) {
    fxs_reduction r;
    FXS_TRY(read(c, &r));
    FXS_TRY(check_types(c, sum_type(c, c->nargs - 1)));
    return fxs_out_reduced(c, &r, sum_type(c, c->nargs - 1));
}

static fxs_status infer_mean(fxs_call *c) {
    int at = c->nargs - 1;
    fxs_dtype d = fxs_arg_is_none(c, at) ? fxs_arg_tensor(c, 0)->dtype : c->arg[at].u.dtype;
    fxs_reduction r;
    if (!fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "could not infer output dtype: input dtype must be either a floating "
                          "point or complex dtype, "
                          "got torch.%s",
                          fxs_dtype_name(d));
    FXS_TRY(read(c, &r));
    FXS_TRY(check_types(c, d));
    return fxs_out_reduced(c, &r, d);
}

/* any(self, dim, keepdim): uint8 answers with uint8, for old times' sake. */
static fxs_status infer_any(fxs_call *c) {
    fxs_reduction r;
    FXS_TRY(read(c, &r));
    FXS_TRY(fxs_check_computable(c, r.in->dtype));
    return fxs_out_reduced(c, &r, r.in->dtype == FXS_UINT8 ? FXS_UINT8 : FXS_BOOL);
}

static fxs_status infer_count(fxs_call *c) {
    fxs_reduction r;
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[1], false, &r));
    FXS_TRY(fxs_check_computable(c, r.in->dtype));
    return fxs_out_reduced(c, &r, FXS_INT64);
}

/* Complex numbers have no order. */
static fxs_status check_ordered(fxs_call *c) {
    fxs_dtype d = fxs_arg_tensor(c, 0)->dtype;
    if (fxs_is_complex(d) && fxs_arg_numel(c, 0))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d));
    return fxs_check_computable(c, d);
}

static fxs_status infer_extreme(fxs_call *c) {
    fxs_reduction r;
    FXS_TRY(read(c, &r));
    FXS_TRY(check_ordered(c));
    FXS_TRY(fxs_need_elements(c, &r));
    FXS_TRY(fxs_out_reduced(c, &r, r.in->dtype));
    return fxs_check_real_grad(c);
}

/* max(self) and min(self): no dimension to name. */
static fxs_status infer_full_extreme(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(check_ordered(c));
    if (fxs_tensor_numel(t) == 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "expected reduction dim to be specified for input.numel() == 0");
    return fxs_out_new(c, t->dtype, 0, NULL, NULL);
}

/* ---- kernels
 * ------------------------------------------------------------------------------------------- */

static fxs_status run_fold(fxs_call *c, const fxs_fold *fold, fxs_dtype common) {
    fxs_reduction r;
    FXS_TRY(read(c, &r));
    fxs_reduce_run(c, &r, common, fold, NULL);
    return FXS_OK;
}

static fxs_dtype own_type(const fxs_call *c) { return fxs_arg_tensor(c, 0)->dtype; }

/* Sums and products of bools are whether any, or all, are not 0. */
static fxs_status run_sum(fxs_call *c) {
    return c->out[0]->dtype == FXS_BOOL ? run_fold(c, &any_fold, own_type(c))
                                        : run_fold(c, &sum_fold, c->out[0]->dtype);
}
static fxs_status run_mean(fxs_call *c) { return run_fold(c, &mean_fold, c->out[0]->dtype); }
static fxs_status run_prod(fxs_call *c) {
    return c->out[0]->dtype == FXS_BOOL ? run_fold(c, &all_fold, own_type(c))
                                        : run_fold(c, &prod_fold, c->out[0]->dtype);
}
static fxs_status run_any(fxs_call *c) { return run_fold(c, &any_fold, own_type(c)); }
static fxs_status run_all(fxs_call *c) { return run_fold(c, &all_fold, own_type(c)); }
static fxs_status run_count(fxs_call *c) {
    fxs_reduction r;
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[1], false, &r));
    fxs_reduce_run(c, &r, own_type(c), &count_fold, NULL);
    return FXS_OK;
}
static fxs_status run_amax(fxs_call *c) { return run_fold(c, &amax_fold, own_type(c)); }
static fxs_status run_amin(fxs_call *c) { return run_fold(c, &amin_fold, own_type(c)); }

/* ---- norms
 * --------------------------------------------------------------------------------------------- */

/* The order of a norm: a number, or 'fro' and None, which are 2 over all the dimensions. */
static fxs_status norm_order(fxs_call *c, const fxs_value *p, double *out) {
    const char *text = fxs_value_text(p);
    *out = 2;
    if (p->tag == FXS_V_INT || p->tag == FXS_V_BOOL)
        *out = p->tag == FXS_V_INT ? (double)p->u.i : (double)p->u.b;
    else if (p->tag == FXS_V_FLOAT)
        *out = p->u.f;
    else if (p->tag == FXS_V_COMPLEX && p->u.c[1] != 0)
        return FXS_REFUSE(c, FXS_ETYPE, "the order can't be complex");
    else if (p->tag == FXS_V_COMPLEX)
        *out = p->u.c[0];
    else if (text && strcmp(text, "inf") == 0)
        *out = INFINITY;
    else if (text && strcmp(text, "-inf") == 0)
        *out = -INFINITY;
    else if (text && strcmp(text, "fro") != 0)
        return FXS_REFUSE(c, FXS_EUNKNOWN, "the norm '%s' is not supported", text);
    return FXS_OK;
}

static fxs_status infer_norm_over(fxs_call *c, const fxs_value *dims, bool keep, int dtype_at) {
    fxs_dtype d = own_type(c);
    fxs_reduction r;
    double p;
    FXS_TRY(norm_order(c, &c->arg[1], &p));
    if (!fxs_arg_is_none(c, dtype_at))
        d = c->arg[dtype_at].u.dtype;
    if (!fxs_is_floating(d) && !fxs_is_complex(d))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected a floating point or complex tensor as input, got torch.%s",
                          fxs_dtype_name(d));
    FXS_TRY(check_types(c, d));
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), dims, keep, &r));
    return fxs_out_reduced(c, &r, fxs_arg_is_none(c, dtype_at) ? fxs_real_of(d) : d);
}

static fxs_status run_fold_norm(fxs_call *c) {
    fxs_fold fold = {.f64 = power_f64, .store = store_power_root, .c128 = power_c128};
    bool pairs = fxs_is_complex(own_type(c));
    fxs_dtype common = FXS_FLOAT64;
    fxs_reduction r;
    double p;
    FXS_TRY(norm_order(c, &c->arg[1], &p));
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[2], fxs_arg_bool(c, 3), &r));
    if (p == 2) {
        fold = (fxs_fold){
            .f32 = square_f32, .f64 = square_f64, .store = store_root, .c128 = square_c128};
        common = c->out[0]->dtype;
    } else if (p == 1) {
        fold = (fxs_fold){.f32 = abs_f32, .f64 = abs_f64, .store = store_value, .c128 = abs_c128};
        common = c->out[0]->dtype;
    } else if (p == 0) {
        fold = (fxs_fold){.f64 = count_f64, .store = store_int, .c128 = count_c128};
    } else if (p == INFINITY) {
        fold = (fxs_fold){.f64 = abs_max_f64, .store = store_value, .c128 = abs_max_c128};
    } else if (p == -INFINITY) {
        fold = (fxs_fold){.f64 = abs_min_f64,
                          .store = store_least,
                          .start = {.a = INFINITY},
                          .c128 = abs_min_c128};
    }
    fxs_reduce_run(c, &r, pairs ? own_type(c) : common, &fold, &p);
    return FXS_OK;
}

/* The one norm that is no fold. */
static bool is_nuclear(const fxs_call *c) {
    const char *name = fxs_value_text(&c->arg[1]);
    return name && strcmp(name, "nuc") == 0;
}

/* norm(self, p, dim, keepdim, ...); 'fro' and 'nuc' are meant for matrices. */
static fxs_status infer_any_norm(fxs_call *c, int dtype_at) {
    size_t dims = fxs_value_len(&c->arg[2]);
    if (is_nuclear(c))
        return fxs_nuclear_infer(c);
    if (fxs_value_text(&c->arg[1]) && !fxs_arg_is_none(c, dtype_at))
        return FXS_REFUSE(c, FXS_EINVAL, "dtype is not supported with the Frobenius norm");
    if (fxs_value_text(&c->arg[1]) && dims > 2)
        return FXS_REFUSE(c, FXS_EINVAL, "expected at most 2 dimensions, but got %zu", dims);
    FXS_TRY(infer_norm_over(c, &c->arg[2], fxs_arg_bool(c, 3), dtype_at));
    if (strcmp(c->op->name, "norm") != 0)
        return FXS_OK;
    if (c->arg[1].tag == FXS_V_BOOL && fxs_arg_numel(c, 0))
        return FXS_REFUSE(c, FXS_ETYPE, "expected p to be an integer or a float, not a bool");
    return fxs_check_real_grad(c);
}

static fxs_status infer_norm(fxs_call *c) { return infer_any_norm(c, 4); }

/* torch.norm(self, p, dim, keepdim, out, dtype) */
static fxs_status infer_function_norm(fxs_call *c) { return infer_any_norm(c, 5); }

/* linalg_vector_norm(x, ord, dim, keepdim, dtype): the largest of nothing is refused. */
static fxs_status infer_vector_norm(fxs_call *c) {
    fxs_reduction r;
    double p;
    FXS_TRY(fxs_check_order_dtype(c, fxs_arg_tensor(c, 0), &c->arg[4]));
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &c->arg[2], fxs_arg_bool(c, 3), &r));
    FXS_TRY(norm_order(c, &c->arg[1], &p));
    if (p < 0 || isinf(p))
        FXS_TRY(fxs_need_elements(c, &r));
    FXS_TRY(infer_norm(c));
    c->out[0]->dtype = fxs_real_of(c->out[0]->dtype);
    return FXS_OK;
}

/* A norm is real: where a complex type was asked for, it is converted in the end. */
static fxs_status run_norm(fxs_call *c) {
    fxs_tensor *out = c->out[0], *real = NULL, *whole = fxs_arg_tensor(c, 0);
    if (is_nuclear(c))
        return fxs_nuclear_run(c);
    if (!fxs_is_complex(out->dtype) && fxs_is_complex(whole->dtype) &&
        !fxs_arg_is_none(c, c->nargs - 1)) { /* converted to a real type, which takes real parts */
        fxs_tensor part = *whole;
        part.dtype = fxs_real_of(whole->dtype);
        part.offset *= 2;
        for (int i = 0; i < part.ndim; i++)
            part.strides[i] *= 2;
        fxs_value args[8];
        fxs_call real_call = *c;
        memcpy(args, c->arg, (size_t)c->nargs * sizeof *args);
        args[0].u.tensor = &part;
        real_call.arg = args;
        return run_fold_norm(&real_call);
    }
    if (!fxs_is_complex(out->dtype))
        return run_fold_norm(c);
    FXS_TRY(fxs_tensor_new(c->ctx, fxs_real_of(out->dtype), out->ndim, out->sizes, &real));
    c->out[0] = real;
    fxs_status s = run_fold_norm(c);
    c->out[0] = out;
    if (s == FXS_OK)
        fxs_tensor_copy(c->ctx, out, real);
    fxs_tensor_unref(real);
    return s;
}

/* A multiply and an add for each element. */
static fxs_cost cost_two(const fxs_call *c) {
    return (fxs_cost){.flops = 2 * (double)fxs_arg_numel(c, 0)};
}

#define ROW(name, args, spellings, infer, run, cost)                                               \
    {                                                                                              \
        name, "(Tensor self" args ") -> Tensor", spellings, infer, run, cost,                      \
            FXS_OP_NO_INPLACE | FXS_OP_COMPLEX                                                     \
    }

const fxs_op fxs_ops_reduce_sum[] = {
    ROW("sum", ", *, dtype? dtype=None", "torch.sum Tensor.sum", infer_sum, run_sum,
        fxs_cost_input),
    ROW("sum", ", int|int[]? dim, bool keepdim=False, *, dtype? dtype=None", "torch.sum Tensor.sum",
        infer_sum, run_sum, fxs_cost_input),
    ROW("mean", ", *, dtype? dtype=None", "torch.mean Tensor.mean", infer_mean, run_mean,
        fxs_cost_input),
    ROW("mean", ", int|int[]? dim, bool keepdim=False, *, dtype? dtype=None",
        "torch.mean Tensor.mean", infer_mean, run_mean, fxs_cost_input),
    ROW("prod", ", *, dtype? dtype=None", "torch.prod Tensor.prod", infer_sum, run_prod,
        fxs_cost_input),
    ROW("prod", ", int dim, bool keepdim=False, *, dtype? dtype=None", "torch.prod Tensor.prod",
        infer_sum, run_prod, fxs_cost_input),
    ROW("any", "", "torch.any Tensor.any", infer_any, run_any, fxs_cost_input),
    ROW("any", ", int dim, bool keepdim=False", "torch.any Tensor.any", infer_any, run_any,
        fxs_cost_input),
    ROW("all", "", "torch.all Tensor.all", infer_any, run_all, fxs_cost_input),
    ROW("all", ", int dim, bool keepdim=False", "torch.all Tensor.all", infer_any, run_all,
        fxs_cost_input),
    ROW("count_nonzero", ", int|int[]? dim=None", "torch.count_nonzero Tensor.count_nonzero",
        infer_count, run_count, fxs_cost_input),
    ROW("amax", ", int|int[]? dim=[], bool keepdim=False", "torch.amax Tensor.amax", infer_extreme,
        run_amax, fxs_cost_input),
    ROW("amin", ", int|int[]? dim=[], bool keepdim=False", "torch.amin Tensor.amin", infer_extreme,
        run_amin, fxs_cost_input),
    ROW("max", "", "torch.max Tensor.max", infer_full_extreme, run_amax, fxs_cost_input),
    ROW("min", "", "torch.min Tensor.min", infer_full_extreme, run_amin, fxs_cost_input),
    ROW("norm", ", Scalar|str? p='fro', int|int[]? dim=None, bool keepdim=False, dtype? dtype=None",
        "Tensor.norm", infer_norm, run_norm, cost_two),
    ROW("norm",
        ", Scalar|str? p='fro', int|int[]? dim=None, bool keepdim=False, Tensor? out=None, dtype? "
        "dtype=None",
        "torch.functional.norm torch.norm", infer_function_norm, run_norm, cost_two),
    ROW("linalg_vector_norm",
        ", Scalar ord=2, int|int[]? dim=None, bool keepdim=False, *, dtype? dtype=None",
        "torch._C._linalg.linalg_vector_norm", infer_vector_norm, run_norm, cost_two),
    {0},
};
#undef ROW
