/* softmax.c: softmax, log_softmax, softmin and logsumexp, and their layers. Every line along the
 * dimension is shifted by its maximum first. Exponentials of float32 are computed in float, sums in
 * double. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/softmax.h"
#include "kernels/vecmath.h"
#include "kernels/work.h"

typedef enum variant { SOFTMAX, LOG_SOFTMAX, SOFTMIN, LOGSUMEXP } variant;

/* Rows of n elements; logsumexp gives one number a row, the others n. */
typedef struct job {
    variant kind;
    const void *x;
    void *y;
    int64_t n;
} job;

/* ---- rows
 * -------------------------------------------------------------------------------------------------
 */

FXS_VECTOR static float largest(const float *x, int64_t n, float sign) {
    float lane[8], most = -INFINITY;
    int64_t i = 0;
    for (int k = 0; k < 8; k++)
        lane[k] = -INFINITY;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            lane[k] = sign * x[i + k] > lane[k] ? sign * x[i + k] : lane[k];
    for (; i < n; i++)
        most = sign * x[i] > most ? sign * x[i] : most;
    for (int k = 0; k < 8; k++)
        most = lane[k] > most ? lane[k] : most;
    return most; /* NaN is passed over here, and comes back through the exponentials */
}

enum { CHUNK = 256 };

/* y = exp(sign * x - most) for a chunk */
FXS_VECTOR_WIDE static void exponentials(const float *x, int64_t n, float sign, float most,
                                         float *y) {
    FXS_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = fxs_vec_exp(sign * x[i] - most);
}

FXS_VECTOR static double sum_of(const float *x, int64_t n) {
    double lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            lane[k] += (double)x[i + k];
    for (; i < n; i++)
        lane[0] += (double)x[i];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* Sum of exp(sign * x - most); the exponentials go to y unless it is NULL. */
static double sum_exponentials(const float *x, int64_t n, float sign, float most, float *y) {
    float spare[CHUNK];
    double sum = 0;
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = n - i < CHUNK ? n - i : CHUNK;
        float *to = y ? y + i : spare;
        exponentials(x + i, count, sign, most, to);
        sum += sum_of(to, count);
    }
    return sum;
}

FXS_VECTOR static void finish(variant kind, const float *x, int64_t n, float most, double sum,
                              float *y) {
    float factor = (float)(1 / sum), shift = most + (float)log(sum);
    if (kind == LOG_SOFTMAX) {
        FXS_INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] - shift;
    } else
        for (int64_t i = 0; i < n; i++)
            y[i] *= factor;
}

static void float_rows(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    float sign = j->kind == SOFTMIN ? -1 : 1;
    (void)thread;
    for (int64_t r = begin; r < end; r++) {
        const float *x = (const float *)j->x + r * j->n;
        float *y = (float *)j->y + r * j->n, most = largest(x, j->n, sign);
        bool single = j->kind == LOGSUMEXP, keep = j->kind == SOFTMAX || j->kind == SOFTMIN;
        if (single && isinf(most))
            most = 0; /* inf - inf would be NaN */
        double sum = sum_exponentials(x, j->n, sign, most, keep ? y : NULL);
        if (single)
            ((float *)j->y)[r] = most + (float)log(sum);
        else
            finish(j->kind, x, j->n, most, sum, y);
    }
}

static void double_rows(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    double sign = j->kind == SOFTMIN ? -1 : 1;
    (void)thread;
    for (int64_t r = begin; r < end; r++) {
        const double *x = (const double *)j->x + r * j->n;
        double *y = (double *)j->y + r * j->n, most = -INFINITY, sum = 0;
        for (int64_t i = 0; i < j->n; i++)
            most = sign * x[i] > most ? sign * x[i] : most;
        if (j->kind == LOGSUMEXP && isinf(most))
            most = 0;
        for (int64_t i = 0; i < j->n; i++)
            sum += exp(sign * x[i] - most);
        if (j->kind == LOGSUMEXP)
            ((double *)j->y)[r] = most + log(sum);
        else
            for (int64_t i = 0; i < j->n; i++)
                y[i] =
                    j->kind == LOG_SOFTMAX ? x[i] - most - log(sum) : exp(sign * x[i] - most) / sum;
    }
}

static void run_job(fxs_ctx *ctx, fxs_dtype d, int64_t rows, job *j) {
    fxs_parallel(ctx, rows, 1 + 4096 / (j->n + 1), d == FXS_FLOAT64 ? double_rows : float_rows, j);
}

void fxs_softmax_rows(fxs_ctx *ctx, fxs_dtype d, int64_t rows, int64_t n, const void *x, void *y) {
    job j = {.kind = SOFTMAX, .x = x, .y = y, .n = n};
    run_job(ctx, d, rows, &j);
}

/* x and y have the dimensions of a row behind; they are views on the caller's stack. */
static fxs_status run_rows(fxs_call *c, variant kind, fxs_tensor *x, fxs_tensor *y, int64_t n) {
    fxs_work w = fxs_work_begin(c, y->dtype);
    fxs_tensor *from = fxs_work_in(&w, x), *to = fxs_work_out(&w, y);
    if (w.status == FXS_OK && fxs_tensor_numel(y) > 0) {
        job j = {.kind = kind, .x = fxs_tensor_data(from), .y = fxs_tensor_data(to), .n = n};
        int64_t rows = kind == LOGSUMEXP ? fxs_tensor_numel(y) : fxs_tensor_numel(y) / n;
        run_job(c->ctx, w.dtype, rows, &j);
    }
    return fxs_work_end(&w);
}

/* ---- softmax and its like
 * --------------------------------------------------------------------------------- */

enum { INPUT, DIM, DTYPE };        /* torch.softmax, Tensor.softmax */
enum { F_STACK = 2, F_DTYPE = 3 }; /* torch.nn.functional.softmax */

/* torch's guess when dim is None */
static int64_t implied_dim(int ndim) { return ndim == 0 || ndim == 1 || ndim == 3 ? 0 : 1; }

static fxs_status read_dim(fxs_call *c, const fxs_tensor *x, int *dim) {
    int64_t given = fxs_arg_is_none(c, DIM) ? implied_dim(x->ndim) : fxs_arg_int(c, DIM);
    return fxs_wrap_dim(c, given, x->ndim, dim);
}

static fxs_status infer_softmax(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    const fxs_value *dtype = &c->arg[c->nargs > F_DTYPE ? F_DTYPE : DTYPE];
    fxs_tensor as = *x;
    int dim;
    if (dtype->tag == FXS_V_DTYPE)
        as.dtype = dtype->u.dtype;
    if (!fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS | FXS_TAKES_BOOL));
    if (fxs_tensor_numel(x)) /* what is converted is a complex number's real part */
        FXS_TRY(fxs_check_dtype(c, &as, FXS_TAKES_FLOATS));
    FXS_TRY(read_dim(c, x, &dim));
    FXS_TRY(fxs_out_new(c, as.dtype, x->ndim, x->sizes, NULL));
    return fxs_check_real_grad(c);
}

/* t with dimension `dim` behind all others */
static fxs_tensor moved_behind(const fxs_tensor *t, int dim) {
    fxs_tensor v = *t;
    for (int i = dim; i + 1 < t->ndim; i++)
        v.sizes[i] = t->sizes[i + 1], v.strides[i] = t->strides[i + 1];
    if (t->ndim > 0)
        v.sizes[t->ndim - 1] = t->sizes[dim], v.strides[t->ndim - 1] = t->strides[dim];
    return v;
}

static fxs_status run_softmax(fxs_call *c, variant kind) {
    const fxs_tensor *input = fxs_arg_tensor(c, INPUT);
    int dim = 0;
    FXS_TRY(read_dim(c, input, &dim));
    fxs_tensor x = moved_behind(input, dim), y = moved_behind(c->out[0], dim);
    return run_rows(c, kind, &x, &y, input->ndim ? input->sizes[dim] : 1);
}

static fxs_status run_plain(fxs_call *c) { return run_softmax(c, SOFTMAX); }
static fxs_status run_log(fxs_call *c) { return run_softmax(c, LOG_SOFTMAX); }

/* Integers are negated as what they are: unsigned ones wrap around. */
static void make_min(fxs_compose *k) {
    const fxs_call *c = k->call;
    fxs_give(k, FXS_DO(k, "softmax", fxs_t(FXS_DO(k, "neg", c->arg[INPUT])), c->arg[DIM],
                       c->arg[F_STACK], c->arg[F_DTYPE]));
}
static bool is_whole(const fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    return c->spelling && (fxs_is_integral(x->dtype) || x->dtype == FXS_BOOL);
}
static fxs_status infer_min(fxs_call *c) {
    return is_whole(c) ? fxs_compose_infer(c, make_min) : infer_softmax(c);
}
static fxs_status run_min(fxs_call *c) {
    return is_whole(c) ? fxs_compose_run(c, make_min) : run_softmax(c, SOFTMIN);
}

/* a comparison, a difference, an exponential, a sum and a division (or difference) an element */
static fxs_cost cost_softmax(const fxs_call *c) {
    return (fxs_cost){.flops = 5 * (double)fxs_tensor_numel(c->out[0])};
}

/* Softmax2d takes [C, H, W] and [N, C, H, W], and works along the channels. */
static fxs_status infer_softmax2d(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    char text[FXS_SIZES_TEXT];
    if (x->ndim != 3 && x->ndim != 4)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected 3D or 4D input, but got input of shape %s",
                          fxs_sizes_text(x, text));
    return infer_softmax(c);
}

/* ---- logsumexp
 * -------------------------------------------------------------------------------------------- */

enum { L_INPUT, L_DIM, L_KEEPDIM };

/* Which dimensions are summed; none named: all. */
static fxs_status read_dims(fxs_call *c, const fxs_tensor *x, bool summed[FXS_MAX_DIM]) {
    int64_t dims[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, L_DIM, dims, FXS_MAX_DIM), dim;
    for (int i = 0; i < FXS_MAX_DIM; i++)
        summed[i] = n == 0;
    for (int i = 0; i < n && i < FXS_MAX_DIM; i++) {
        FXS_TRY(fxs_wrap_dim(c, dims[i], x->ndim, &dim));
        if (summed[dim])
            return FXS_REFUSE(c, FXS_EINVAL, "dim %d appears multiple times in the list of dims",
                              dim);
        summed[dim] = true;
    }
    return FXS_OK;
}

static fxs_status infer_logsumexp(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, L_INPUT);
    bool summed[FXS_MAX_DIM], keep = fxs_arg_bool(c, L_KEEPDIM);
    int64_t sizes[FXS_MAX_DIM];
    int ndim = 0;
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS | FXS_TAKES_BOOL));
    FXS_TRY(read_dims(c, x, summed));
    if (fxs_arg_ints(c, L_DIM, sizes, FXS_MAX_DIM) == 0 && !keep && x->ndim &&
        fxs_tensor_numel(x)) /* it leaves the largest element with all its dimensions */
        return FXS_REFUSE(c, FXS_ESHAPE, "without dimensions to sum over, keepdim must be true");
    for (int i = 0; i < x->ndim; i++)
        if (!summed[i] || keep)
            sizes[ndim++] = summed[i] ? 1 : x->sizes[i];
    return fxs_out_new(c, fxs_is_floating(x->dtype) ? x->dtype : FXS_FLOAT32, ndim, sizes, NULL);
}

static fxs_status run_logsumexp(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, L_INPUT);
    bool summed[FXS_MAX_DIM];
    fxs_tensor rows = *x;
    int64_t n = 1;
    int at = 0;
    FXS_TRY(read_dims(c, x, summed));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < x->ndim; i++) {
            if (summed[i] != (pass == 1))
                continue;
            rows.sizes[at] = x->sizes[i];
            rows.strides[at++] = x->strides[i];
            n *= pass ? x->sizes[i] : 1;
        }
    return run_rows(c, LOGSUMEXP, &rows, c->out[0], n);
}

/* a comparison, a difference, an exponential and a sum for each element of the input, a logarithm
 * and a sum for each of the result */
static fxs_cost cost_logsumexp(const fxs_call *c) {
    return (fxs_cost){.flops = 4 * (double)fxs_arg_numel(c, L_INPUT) +
                               2 * (double)fxs_tensor_numel(c->out[0])};
}

#define BUILTIN_SCHEMA "(Tensor input, int dim, dtype? dtype=None) -> Tensor"
#define FUNCTIONAL_SCHEMA                                                                          \
    "(Tensor input, int? dim=None, int _stacklevel=3, dtype? dtype=None) -> Tensor"
#define BUILTIN(title, run_fn)                                                                     \
    {                                                                                              \
        .name = title, .schema = BUILTIN_SCHEMA, .torch = "torch." title " Tensor." title,         \
        .infer = infer_softmax, .kernel = run_fn, .cost = cost_softmax,                            \
        .flags = FXS_OP_NO_INPLACE | FXS_OP_OVER_INPUT                                             \
    }
#define FUNCTIONAL(title, infer_fn, run_fn)                                                        \
    {                                                                                              \
        .name = title, .schema = FUNCTIONAL_SCHEMA, .torch = "torch.nn.functional." title,         \
        .infer = infer_fn, .kernel = run_fn, .cost = cost_softmax,                                 \
        .flags = FXS_OP_NO_INPLACE | FXS_OP_OVER_INPUT                                             \
    }

/* The functional rows come first, as layers look operators up by name and may leave dim open. */
const fxs_op fxs_ops_softmax[] = {
    FUNCTIONAL("softmax", infer_softmax, run_plain),
    FUNCTIONAL("log_softmax", infer_softmax, run_log),
    FUNCTIONAL("softmin", infer_min, run_min),
    BUILTIN("softmax", run_plain),
    BUILTIN("log_softmax", run_log),
    {.name = "softmax2d",
     .schema = "(Tensor input, int dim=-3, dtype? dtype=None) -> Tensor",
     .infer = infer_softmax2d,
     .kernel = run_plain,
     .cost = cost_softmax},
    {.name = "logsumexp",
     .schema = "(Tensor input, int|int[] dim, bool keepdim=False) -> Tensor",
     .torch = "torch.logsumexp Tensor.logsumexp torch.special.logsumexp "
              "torch._C._special.special_logsumexp",
     .infer = infer_logsumexp,
     .kernel = run_logsumexp,
     .cost = cost_logsumexp,
     .flags = FXS_OP_NO_INPLACE},
    {0},
};

const fxs_module_row fxs_modules_softmax[] = {
    {.name = "Softmax",
     .hyper = "dim=None",
     .repr = "dim=",
     .call = "softmax(input, dim)",
     .trace = "torch.nn.functional.softmax(input, dim, _stacklevel=5)"},
    {.name = "LogSoftmax",
     .hyper = "dim=None",
     .repr = "dim=",
     .call = "log_softmax(input, dim)",
     .trace = "torch.nn.functional.log_softmax(input, dim, _stacklevel=5)"},
    {.name = "Softmin",
     .hyper = "dim=None",
     .repr = "dim=",
     .call = "softmin(input, dim)",
     .trace = "torch.nn.functional.softmin(input, dim, _stacklevel=5)"},
    {.name = "Softmax2d",
     .repr = "",
     .call = "softmax2d(input)",
     .trace = "torch.nn.functional.softmax(input, -3, _stacklevel=5)"},
    {0},
};
