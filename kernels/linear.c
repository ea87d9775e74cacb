/* linear.c: affine maps of the last dimension: linear and bilinear, and their layers. The products
 * are in product.c and gemm.c; the bias is laid down first and added to. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/create.h"
#include "kernels/families.h"
#include "kernels/gemm.h"
#include "kernels/product.h"

enum { INPUT, WEIGHT, BIAS };

/* The weight [out, in] as the right operand [in, out]; a vector stays as it is. */
static fxs_tensor transposed(const fxs_tensor *weight) {
    fxs_tensor t = *weight;
    if (t.ndim == 2) {
        t.sizes[0] = weight->sizes[1], t.sizes[1] = weight->sizes[0];
        t.strides[0] = weight->strides[1], t.strides[1] = weight->strides[0];
    }
    return t;
}

/* Matrices, and dense batches of them, PyTorch multiplies and adds in one step, of one type. */
static bool in_one_step(const fxs_tensor *x, const fxs_tensor *bias) {
    return bias && (x->ndim == 2 || (x->ndim == 3 && fxs_tensor_is_contiguous(x)));
}

static fxs_status check_linear(fxs_call *c, const fxs_tensor *x, const fxs_tensor *weight,
                               const fxs_tensor *bias) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    bool nothing = weight->ndim == 2 && weight->sizes[0] == 0; /* to give */
    for (int i = 0; i + 1 < x->ndim; i++)
        nothing = nothing || x->sizes[i] == 0;
    if (x->ndim > (weight->ndim == 1) && x->sizes[x->ndim - 1] == 0) /* to add up */
        nothing = nothing || !in_one_step(x, bias);
    FXS_TRY(fxs_check_dtype(
        c, x, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS | (nothing ? FXS_TAKES_BOOL : 0)));
    if (!nothing || bias) /* without one it is a product, which looks at no type for nothing */
        FXS_TRY(fxs_check_same_dtype(c, x, weight, "weight"));
    FXS_TRY(fxs_check_same_dtype(c, x, bias, "bias"));
    if (weight->ndim != 2 && weight->ndim != 1)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "argument 'weight' must have 2 dimensions, but its shape is %s",
                          fxs_sizes_text(weight, b));
    if (weight->ndim == 1 && in_one_step(x, bias))
        return FXS_REFUSE(c, FXS_ESHAPE, "with a bias, the weight must be a matrix");
    if (x->ndim == 0 || x->sizes[x->ndim - 1] != weight->sizes[weight->ndim - 1])
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected input with %lld features in its last dimension for weight of "
                          "shape %s, but got "
                          "input of shape %s",
                          (long long)weight->sizes[weight->ndim - 1], fxs_sizes_text(weight, b),
                          fxs_sizes_text(x, a));
    return FXS_OK;
}

/* The bias stretched to the result: PyTorch adds it to rows [n, features] of a matrix or of a dense
 * batch of them, and to the result as it is otherwise. False: it does not fit. */
static bool stretch_bias(const fxs_tensor *x, const fxs_tensor *out, const fxs_tensor *bias,
                         fxs_tensor *view) {
    fxs_tensor rows = *out;
    if (x->ndim == 3 && fxs_tensor_is_contiguous(x) && out->ndim == 3) {
        rows.ndim = 2;
        rows.sizes[0] = out->sizes[0] * out->sizes[1];
        rows.sizes[1] = out->sizes[2];
    }
    *view = *bias;
    view->ndim = rows.ndim;
    for (int i = rows.ndim - 1, k = bias->ndim - 1; i >= 0; i--, k--) {
        if (k >= 0 && bias->sizes[k] != 1 && bias->sizes[k] != rows.sizes[i])
            return false;
        view->strides[i] = k < 0 || bias->sizes[k] == 1 ? 0 : bias->strides[k];
        view->sizes[i] = rows.sizes[i];
    }
    return bias->ndim <= rows.ndim;
}

/* Of other ranks the product comes first, and what it leaves takes a bias of another type. */
static bool in_two_steps(const fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT),
                     *bias = fxs_arg_tensor(c, BIAS);
    bool one_step = in_one_step(x, bias);
    if (one_step || !bias || bias->dtype == x->dtype)
        return !one_step && x->dtype != weight->dtype && fxs_tensor_numel(x) == 0;
    return x->dtype == weight->dtype || fxs_tensor_numel(x) == 0;
}

/* How much a type holds: bools, whole numbers, real, complex. */
static int kind_of(fxs_dtype d) {
    return fxs_is_complex(d) ? 3 : fxs_is_floating(d) ? 2 : d == FXS_BOOL ? 0 : 1;
}

static void make_two_steps(fxs_compose *k) {
    fxs_tensor *weight = fxs_arg_tensor(k->call, WEIGHT), *bias = fxs_arg_tensor(k->call, BIAS);
    fxs_value right = fxs_t(FXS_DO(k, "t", fxs_t(weight)));
    fxs_tensor *y = FXS_DO(k, "matmul", fxs_t(fxs_arg_tensor(k->call, INPUT)), right);
    k->any_grad = true;
    if (y && bias && kind_of(bias->dtype) > kind_of(y->dtype))
        fxs_stop(k, FXS_ETYPE, "a bias of torch.%s can't be added in place to torch.%s",
                 fxs_dtype_name(bias->dtype), fxs_dtype_name(y->dtype));
    if (y && bias)
        FXS_DO(k, "copy_", fxs_t(y), fxs_t(FXS_DO(k, "add", fxs_t(y), fxs_t(bias))));
    fxs_give(k, y);
}

static fxs_status infer_linear(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT),
                     *bias = fxs_arg_tensor(c, BIAS);
    if (in_two_steps(c))
        return fxs_compose_infer(c, make_two_steps);
    FXS_TRY(check_linear(c, x, weight, bias));
    fxs_tensor right = transposed(weight), view;
    int64_t sizes[FXS_MAX_DIM];
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    int ndim;
    FXS_TRY(fxs_product_sizes(c, x, &right, &ndim, sizes));
    FXS_TRY(fxs_out_new(c, x->dtype, ndim, sizes, NULL));
    if (bias && !stretch_bias(x, c->out[0], bias, &view))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "a bias of shape %s can't be added to a result of shape %s",
                          fxs_sizes_text(bias, a), fxs_sizes_text(c->out[0], b));
    return FXS_OK;
}

/* out[r, :] = bias for every row */
static void lay_bias(fxs_work *w, const fxs_tensor *out, fxs_tensor *bias, int64_t features) {
    const char *b = fxs_work_data(w, bias);
    size_t size = fxs_dtype_size(w->dtype), row = size * (size_t)features;
    int64_t n = fxs_tensor_numel(out);
    if (w->status != FXS_OK || n == 0)
        return;
    char *o = fxs_tensor_data(out);
    if (bias->sizes[0] == features) {
        for (int64_t r = 0; r < n / features; r++)
            memcpy(o + (size_t)r * row, b, row);
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(o + (size_t)i * size, b, size);
    }
}

static fxs_status run_linear(fxs_call *c) {
    fxs_tensor *weight = fxs_arg_tensor(c, WEIGHT), *bias = fxs_arg_tensor(c, BIAS),
               right = transposed(weight), view, rows;
    if (in_two_steps(c))
        return fxs_compose_run(c, make_two_steps);
    if (c->out[0]->dtype == FXS_BOOL) { /* of nothing: there are no products of bools */
        fxs_fill_tensor(c, c->out[0], &(fxs_value){.tag = FXS_V_BOOL});
        if (bias && stretch_bias(fxs_arg_tensor(c, INPUT), c->out[0], bias, &view))
            fxs_tensor_copy(c->ctx, c->out[0], &view);
        return FXS_OK;
    }
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (bias && bias->ndim == 1 && weight->ndim == 2) {
        lay_bias(&w, out, bias, weight->sizes[0]);
    } else if (bias && w.status == FXS_OK) {
        stretch_bias(fxs_arg_tensor(c, INPUT), c->out[0], bias, &view);
        rows = *out;
        rows.ndim = view.ndim;
        memcpy(rows.sizes, view.sizes, sizeof rows.sizes);
        fxs_strides_of(rows.ndim, rows.sizes, NULL, rows.strides);
        fxs_tensor_copy(c->ctx, &rows, &view);
    }
    fxs_product(&w, fxs_arg_tensor(c, INPUT), &right, out, bias != NULL);
    return fxs_work_end(&w);
}

/* 2 N in out, and a sum an element with a bias */
static fxs_cost cost_linear(const fxs_call *c) {
    double n = (double)fxs_tensor_numel(c->out[0]);
    return (fxs_cost){.flops = fxs_product_flops(fxs_arg_tensor(c, INPUT), c->out[0]) +
                               (fxs_arg_tensor(c, BIAS) ? n : 0)};
}

/* ---- bilinear: y[n, o] = x1[n, i] weight[o, i, j] x2[n, j] + bias[o]
 * -------------------------------------- */

enum { B_INPUT1, B_INPUT2, B_WEIGHT, B_BIAS };

/* A bias that is no vector of the product's type is added as any tensor; complex numbers are
 * multiplied by sums over their labels. */
static bool is_plain(const fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, B_INPUT1), *bias = fxs_arg_tensor(c, B_BIAS);
    bool nothing = bias && fxs_tensor_numel(x) == 0; /* its bias is added as any tensor */
    return !nothing && !fxs_is_complex(x->dtype) &&
           (!bias || (bias->ndim == 1 && bias->dtype == x->dtype));
}

static void make_bilinear(fxs_compose *k) {
    fxs_tensor *x = fxs_arg_tensor(k->call, B_INPUT1), *y = fxs_arg_tensor(k->call, B_INPUT2),
               *weight = fxs_arg_tensor(k->call, B_WEIGHT), *bias = fxs_arg_tensor(k->call, B_BIAS);
    int64_t sizes[FXS_MAX_DIM];
    int ndim = x->ndim;
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[ndim - 1] = weight->sizes[0];
    if (fxs_is_complex(x->dtype)) {
        x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, -1, weight->sizes[1]));
        y = FXS_DO(k, "reshape", fxs_t(y), FXS_INTS(k, -1, weight->sizes[2]));
        x = FXS_DO(k, "einsum", fxs_word(k, "ni,oij,nj->no"), fxs_t(x), fxs_t(weight), fxs_t(y));
        x = FXS_DO(k, "reshape", fxs_t(x), fxs_ints(k, ndim, sizes));
    } else {
        x = FXS_DO(k, "bilinear", fxs_t(x), fxs_t(y), fxs_t(weight));
    }
    fxs_give(k, bias ? FXS_DO(k, "add", fxs_t(x), fxs_t(bias)) : x);
}

static fxs_status infer_bilinear(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, B_INPUT1), *y = fxs_arg_tensor(c, B_INPUT2),
                     *weight = fxs_arg_tensor(c, B_WEIGHT), *bias = fxs_arg_tensor(c, B_BIAS);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT], d[FXS_SIZES_TEXT];
    int64_t sizes[FXS_MAX_DIM];
    bool some = fxs_tensor_numel(x) && (weight->ndim != 3 || weight->sizes[0]);
    unsigned nothing = some ? 0 : FXS_TAKES_BOOL;
    if (!fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS | nothing));
    if (fxs_tensor_numel(x)) {
        FXS_TRY(fxs_check_same_dtype(c, x, y, "input2"));
        FXS_TRY(fxs_check_same_dtype(c, x, weight, "weight"));
    }
    bool ok = weight->ndim == 3 && x->ndim == y->ndim && x->ndim > 0 &&
              x->sizes[x->ndim - 1] == weight->sizes[1] &&
              y->sizes[y->ndim - 1] == weight->sizes[2];
    for (int i = 0; ok && i < x->ndim - 1; i++)
        ok = (sizes[i] = x->sizes[i]) == y->sizes[i];
    if (!ok)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "inputs of shapes %s and %s do not fit a weight of shape %s",
                          fxs_sizes_text(x, a), fxs_sizes_text(y, b), fxs_sizes_text(weight, d));
    if (weight->sizes[1] == 0 || weight->sizes[2] == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "inputs without features have no number of rows");
    if (bias && (bias->ndim == 0 || bias->sizes[0] != weight->sizes[0]))
        return FXS_REFUSE(c, FXS_ESHAPE, "expected bias of shape [%lld], but got bias of shape %s",
                          (long long)weight->sizes[0], fxs_sizes_text(bias, a));
    for (int i = B_INPUT1; fxs_is_complex(x->dtype) && i <= B_WEIGHT; i++)
        FXS_TRY(fxs_check_no_grad(c, i, i == B_WEIGHT ? "weight" : i ? "input2" : "input1"));
    if (!is_plain(c))
        return fxs_compose_infer(c, make_bilinear);
    sizes[x->ndim - 1] = weight->sizes[0];
    return fxs_out_new(c, x->dtype, x->ndim, sizes, NULL);
}

static fxs_status run_bilinear(fxs_call *c) {
    fxs_tensor *weight = fxs_arg_tensor(c, B_WEIGHT), *bias = fxs_arg_tensor(c, B_BIAS);
    if (fxs_tensor_numel(c->out[0]) == 0)
        return FXS_OK;
    if (!is_plain(c))
        return fxs_compose_run(c, make_bilinear);
    int64_t no = weight->sizes[0], ni = weight->sizes[1], nj = weight->sizes[2];
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    const char *x = fxs_work_data(&w, fxs_arg_tensor(c, B_INPUT1)),
               *y = fxs_work_data(&w, fxs_arg_tensor(c, B_INPUT2)), *v = fxs_work_data(&w, weight);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    int64_t rows = no ? fxs_tensor_numel(c->out[0]) / no : 0;
    void *half = fxs_work_scratch(&w, rows * no * nj, fxs_dtype_size(w.dtype)); /* [rows, o, j] */
    if (bias)
        lay_bias(&w, out, bias, no);
    if (w.status == FXS_OK && rows * no > 0) {
        fxs_gemm left = fxs_gemm_dense(w.dtype, rows, nj, ni, x, v, half);
        left.c_row = no * nj;
        left.batch_ndim = 1, left.batch[0] = no, left.b_batch[0] = ni * nj, left.c_batch[0] = nj;
        w.status = fxs_gemm_run(c->ctx, &left);
        fxs_gemm right = fxs_gemm_dense(w.dtype, no, 1, nj, half, y, fxs_tensor_data(out));
        right.accumulate = bias != NULL;
        right.batch_ndim = 1, right.batch[0] = rows;
        right.a_batch[0] = no * nj, right.b_batch[0] = nj, right.c_batch[0] = no;
        if (w.status == FXS_OK)
            w.status = fxs_gemm_run(c->ctx, &right);
    }
    return fxs_work_end(&w);
}

/* 2 N out (in1 in2 + in2), and a sum an element with a bias */
static fxs_cost cost_bilinear(const fxs_call *c) {
    const fxs_tensor *weight = fxs_arg_tensor(c, B_WEIGHT);
    double n = (double)fxs_tensor_numel(c->out[0]), i = (double)weight->sizes[1],
           j = (double)weight->sizes[2];
    return (fxs_cost){.flops = 2 * n * (i * j + j) + (fxs_arg_tensor(c, B_BIAS) ? n : 0)};
}

const fxs_op fxs_ops_linear[] = {
    {.name = "linear",
     .schema = "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
     .torch = "torch._C._nn.linear torch.nn.functional.linear",
     .infer = infer_linear,
     .kernel = run_linear,
     .cost = cost_linear,
     .flags = FXS_OP_COMPLEX},
    {.name = "bilinear",
     .schema = "(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
     .torch = "torch.bilinear torch.nn.functional.bilinear",
     .infer = infer_bilinear,
     .kernel = run_bilinear,
     .cost = cost_bilinear,
     .flags = FXS_OP_NO_INPLACE},
    {0},
};

#define LINEAR_ROW                                                                                 \
    .hyper = "in_features, out_features, bias=True",                                               \
    .state = "weight[out_features, in_features] = fan_in(weight); bias[out_features] = "           \
             "fan_in(weight) if bias",                                                             \
    .repr = "in_features=, out_features=, bias=", .call = "linear(input, weight, bias)"

const fxs_module_row fxs_modules_linear[] = {
    {.name = "Linear", LINEAR_ROW},
    {.name = "NonDynamicallyQuantizableLinear", LINEAR_ROW},
    {.name = "Bilinear",
     .hyper = "in1_features, in2_features, out_features, bias=True",
     .state = "weight[out_features, in1_features, in2_features] = uniform(in1_features); "
              "bias[out_features] = uniform(in1_features) if bias",
     .repr = "in1_features=, in2_features=, out_features=, bias=",
     .call = "bilinear(input1, input2, weight, bias)",
     .forward = "input1, input2"},
    {0},
};
