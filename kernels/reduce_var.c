/* reduce_var.c: var, std, var_mean, std_mean: mean and squared deviations in one pass, chunk by
 * chunk, merged by the parallel-variance rule, in double precision. */
#include <math.h>

#include "kernels/complex.h"
#include "kernels/reduce.h"

/* acc: a is the mean so far, b the sum of squared deviations from it, n the count (of which the
 * caller keeps track). */
static void merge(fxs_acc *acc, double mean, double deviation, int64_t n) {
    double all = (double)(acc->n + n), delta = mean - acc->a;
    acc->b += deviation + delta * delta * (double)acc->n * (double)n / all;
    acc->a += delta * (double)n / all;
}

#define DEVIATE(name, type)                                                                        \
    static void name(fxs_acc *acc, const type *p, int64_t n, const void *user) {                   \
        enum { PART = 512 };                                                                       \
        int64_t before = acc->n;                                                                   \
        (void)user;                                                                                \
        for (int64_t begin = 0; begin < n; begin += PART) {                                        \
            int64_t m = n - begin < PART ? n - begin : PART;                                       \
            double sum = 0, square = 0;                                                            \
            for (int64_t i = 0; i < m; i++)                                                        \
                sum += (double)p[begin + i];                                                       \
            double mean = sum / (double)m;                                                         \
            for (int64_t i = 0; i < m; i++)                                                        \
                square += ((double)p[begin + i] - mean) * ((double)p[begin + i] - mean);           \
            merge(acc, mean, square, m);                                                           \
            acc->n += m;                                                                           \
        }                                                                                          \
        acc->n = before;                                                                           \
    }
DEVIATE(deviate_f32, float)
DEVIATE(deviate_f64, double)
#undef DEVIATE

/* Of complex numbers: the variances of both parts together; a and d are the mean. */
static void deviate_c128(fxs_acc *acc, const double *p, int64_t n, const void *user) {
    (void)user;
    for (int64_t i = 0; i < n; i++) {
        double x = p[2 * i] - acc->a, y = p[2 * i + 1] - acc->d, all = (double)(acc->n + i + 1);
        acc->a += x / all;
        acc->d += y / all;
        acc->b += x * (p[2 * i] - acc->a) + y * (p[2 * i + 1] - acc->d);
    }
}

typedef struct how {
    double correction;
    bool root;
} how;

static void store(const fxs_acc *acc, fxs_tensor *const *out, int64_t at, const void *user) {
    const how *h = user;
    double divisor = (double)acc->n - h->correction;
    double var = acc->n ? acc->b / (divisor > 0 ? divisor : 0) : NAN; /* none left: 0 / 0 is NaN */
    fxs_put_double(out[0], at, h->root ? sqrt(var) : var);
}

static void store_with_mean(const fxs_acc *acc, fxs_tensor *const *out, int64_t at,
                            const void *user) {
    store(acc, out, at, user);
    fxs_store_pair(out[1]->dtype,
                   (char *)fxs_tensor_data(out[1]) + at * (int64_t)fxs_dtype_size(out[1]->dtype),
                   (const double[2]){acc->n ? acc->a : NAN, acc->n ? acc->d : NAN});
}

/* The three overloads, as (dims, correction, keepdim). */
typedef struct request {
    fxs_value dims;
    double correction;
    bool keep;
} request;

/* (self, unbiased) */
static request ask_all(const fxs_call *c) { return (request){.correction = fxs_arg_bool(c, 1)}; }
/* (self, dim, unbiased, keepdim) */
static request ask_dims(const fxs_call *c) {
    return (request){
        .dims = c->arg[1], .correction = fxs_arg_bool(c, 2), .keep = fxs_arg_bool(c, 3)};
}
/* (self, dim, *, correction, keepdim) */
static request ask_correction(const fxs_call *c) {
    double correction = fxs_arg_is_none(c, 2) ? 1 : fxs_arg_float(c, 2);
    return (request){.dims = c->arg[1], .correction = correction, .keep = fxs_arg_bool(c, 3)};
}

static fxs_status infer(fxs_call *c, request q, bool mean) {
    fxs_reduction r;
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (!fxs_is_floating(t->dtype) && !fxs_is_complex(t->dtype))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "only floating point and complex dtypes are supported, not torch.%s",
                          fxs_dtype_name(t->dtype));
    FXS_TRY(fxs_check_computable(c, t->dtype));
    FXS_TRY(fxs_read_reduction(c, t, &q.dims, q.keep, &r));
    FXS_TRY(fxs_out_reduced(c, &r, fxs_real_of(t->dtype)));
    return mean ? fxs_out_reduced(c, &r, t->dtype) : FXS_OK;
}

static fxs_status run(fxs_call *c, request q, bool root) {
    fxs_fold fold = {.f32 = deviate_f32,
                     .f64 = deviate_f64,
                     .store = c->nout > 1 ? store_with_mean : store,
                     .c128 = deviate_c128};
    how h = {.correction = q.correction, .root = root};
    fxs_reduction r;
    FXS_TRY(fxs_read_reduction(c, fxs_arg_tensor(c, 0), &q.dims, q.keep, &r));
    fxs_reduce_run(c, &r, r.in->dtype, &fold, &h);
    return FXS_OK;
}

/* Functions for each way to ask and each result. */
#define WAY(ask)                                                                                   \
    static fxs_status infer_##ask(fxs_call *c) { return infer(c, ask_##ask(c), false); }           \
    static fxs_status infer_mean_##ask(fxs_call *c) { return infer(c, ask_##ask(c), true); }       \
    static fxs_status run_var_##ask(fxs_call *c) { return run(c, ask_##ask(c), false); }           \
    static fxs_status run_std_##ask(fxs_call *c) { return run(c, ask_##ask(c), true); }
WAY(all)
WAY(dims)
WAY(correction)
#undef WAY

/* Mean, difference, square and sum: four FLOPs for each element. */
static fxs_cost cost_var(const fxs_call *c) {
    return (fxs_cost){.flops = 4 * (double)fxs_arg_numel(c, 0)};
}

#define ROWS(op, spellings, infer, run)                                                            \
    {op,                                                                                           \
     "(Tensor self, bool unbiased=True) -> Tensor",                                                \
     spellings,                                                                                    \
     infer##_all,                                                                                  \
     run##_all,                                                                                    \
     cost_var,                                                                                     \
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},                                                          \
        {op,                                                                                       \
         "(Tensor self, int|int[]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",        \
         spellings,                                                                                \
         infer##_dims,                                                                             \
         run##_dims,                                                                               \
         cost_var,                                                                                 \
         FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},                                                      \
        {op,                                                                                       \
         "(Tensor self, int|int[]? dim, *, int? correction, bool keepdim=False) -> "               \
         "Tensor",                                                                                 \
         spellings,                                                                                \
         infer##_correction,                                                                       \
         run##_correction,                                                                         \
         cost_var,                                                                                 \
         FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},

const fxs_op fxs_ops_reduce_var[] = {
    ROWS("var", "torch.var Tensor.var", infer, run_var)
        ROWS("std", "torch.std Tensor.std", infer, run_std)
            ROWS("var_mean", "torch.var_mean", infer_mean, run_var)
                ROWS("std_mean", "torch.std_mean", infer_mean, run_std){0},
};
#undef ROWS
