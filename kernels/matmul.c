/* matmul.c: products of matrices and vectors by all their names: matmul, mm, bmm, mv, dot,
 * and those that add to a scaled tensor (addmm, addmv, baddbmm). The multiplying itself is in
 * product.c and gemm.c. */
#include <complex.h>
#include <string.h>

#include "kernels/create.h"
#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/product.h"

/* PyTorch looks at the types where there is something to multiply. */
static fxs_status check_pair(fxs_call *c, const fxs_tensor *a, const fxs_tensor *b, bool any) {
    if (!any)
        return FXS_OK;
    FXS_TRY(fxs_check_dtype(c, a, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS));
    if (a->dtype != b->dtype)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected both arguments to have the same dtype, but got %s and %s",
                          fxs_dtype_name(a->dtype), fxs_dtype_name(b->dtype));
    return FXS_OK;
}

static fxs_status check_rank(fxs_call *c, int i, const char *name, int rank) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    char text[FXS_SIZES_TEXT];
    return t->ndim == rank
               ? FXS_OK
               : FXS_REFUSE(c, FXS_ESHAPE,
                            "argument '%s' must have %d dimension%s, but its shape is %s", name,
                            rank, rank == 1 ? "" : "s", fxs_sizes_text(t, text));
}

/* Does PyTorch make one matrix of a batch that meets a matrix? Not of three dimensions whose last
 * two are transposed. */
static bool folds(const fxs_tensor *t) {
    return t->ndim != 3 || t->strides[2] == 1 || t->strides[0] != t->sizes[1] * t->sizes[2];
}

/* A vector or matrix times a batch: PyTorch multiplies the transposed ones the other way round
 * where the batch folds into rows, and turns the result back. Where that copies nothing, its
 * strides stay. */
static void turn_strides(const fxs_tensor *a, const fxs_tensor *b, int ndim, const int64_t *sizes,
                         int64_t *strides) {
    fxs_tensor out = {.ndim = ndim};
    fxs_strides_of(ndim, sizes, NULL, strides);
    if (a->ndim != 2 || b->ndim < 3 || !folds(b))
        return;
    memcpy(out.sizes, sizes, (size_t)ndim * sizeof *sizes);
    out.sizes[ndim - 2] = sizes[ndim - 1], out.sizes[ndim - 1] = sizes[ndim - 2];
    fxs_strides_of(ndim, out.sizes, NULL, out.strides);
    int64_t last = out.strides[ndim - 1];
    out.strides[ndim - 1] = out.strides[ndim - 2], out.strides[ndim - 2] = last;
    memcpy(out.sizes, sizes, (size_t)ndim * sizeof *sizes);
    if (fxs_tensor_is_contiguous(&out))
        memcpy(strides, out.strides, (size_t)ndim * sizeof *strides);
}

static fxs_status infer_product(fxs_call *c, const fxs_tensor *a, const fxs_tensor *b) {
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM], count = 1;
    int ndim;
    FXS_TRY(fxs_product_sizes(c, a, b, &ndim, sizes));
    for (int i = 0; i < ndim; i++)
        count *= sizes[i];
    bool dot = a->ndim == 1 && b->ndim == 1;
    FXS_TRY(check_pair(c, a, b, dot || (count && a->sizes[a->ndim - 1])));
    turn_strides(a, b, ndim, sizes, strides);
    /* of two types, where there is nothing to multiply, it is that of the folded one, or the
     * vector's, or of two batches the second one's */
    bool second =
        (b->ndim == 1 && !dot) || (a->ndim > 1 && b->ndim > 2) || (b->ndim == 2 && !folds(a));
    return fxs_out_new(c, second ? b->dtype : a->dtype, ndim, sizes, strides);
}

static fxs_status run_product(fxs_call *c, fxs_tensor *a, fxs_tensor *b) {
    if (c->out[0]->dtype == FXS_BOOL) { /* of nothing: there are no products of bools */
        fxs_fill_tensor(c, c->out[0], &(fxs_value){.tag = FXS_V_BOOL});
        return FXS_OK;
    }
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    fxs_product(&w, a, b, out, false);
    return fxs_work_end(&w);
}

static fxs_status infer_matmul(fxs_call *c) {
    return infer_product(c, fxs_arg_tensor(c, 0), fxs_arg_tensor(c, 1));
}
static fxs_status run_matmul(fxs_call *c) {
    return run_product(c, fxs_arg_tensor(c, 0), fxs_arg_tensor(c, 1));
}
/* 2 M N K for each matrix */
static fxs_cost cost_matmul(const fxs_call *c) {
    return (fxs_cost){.flops = fxs_product_flops(fxs_arg_tensor(c, 0), c->out[0])};
}

static fxs_status infer_rmatmul(fxs_call *c) {
    return infer_product(c, fxs_arg_tensor(c, 1), fxs_arg_tensor(c, 0));
}
static fxs_status run_rmatmul(fxs_call *c) {
    return run_product(c, fxs_arg_tensor(c, 1), fxs_arg_tensor(c, 0));
}
static fxs_cost cost_rmatmul(const fxs_call *c) {
    return (fxs_cost){.flops = fxs_product_flops(fxs_arg_tensor(c, 1), c->out[0])};
}

static fxs_status infer_mm(fxs_call *c) {
    FXS_TRY(check_rank(c, 0, "input", 2));
    FXS_TRY(check_rank(c, 1, "mat2", 2));
    return infer_matmul(c);
}

static fxs_status infer_mv(fxs_call *c) {
    FXS_TRY(check_rank(c, 0, "input", 2));
    FXS_TRY(check_rank(c, 1, "vec", 1));
    return infer_matmul(c);
}

static fxs_status infer_dot(fxs_call *c) {
    FXS_TRY(check_rank(c, 0, "input", 1));
    FXS_TRY(check_rank(c, 1, "tensor", 1));
    return infer_matmul(c);
}

/* Unlike matmul, bmm does not broadcast. */
static fxs_status check_batches(fxs_call *c, const fxs_tensor *a, const fxs_tensor *b) {
    if (a->sizes[0] != b->sizes[0] || a->sizes[2] != b->sizes[1])
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: "
            "[%lld, %lld]",
            (long long)a->sizes[0], (long long)a->sizes[2], (long long)b->sizes[0],
            (long long)b->sizes[1]);
    return FXS_OK;
}

static fxs_status infer_bmm(fxs_call *c) {
    FXS_TRY(check_rank(c, 0, "input", 3));
    FXS_TRY(check_rank(c, 1, "mat2", 3));
    FXS_TRY(check_batches(c, fxs_arg_tensor(c, 0), fxs_arg_tensor(c, 1)));
    return infer_matmul(c);
}

/* ---- beta * input + alpha * (a @ b)
 * ----------------------------------------------------------------------- */

enum { ADD_INPUT, ADD_A, ADD_B, ADD_BETA, ADD_ALPHA };

static double complex number_at(const fxs_call *c, int i) {
    return c->arg[i].tag == FXS_V_COMPLEX ? CMPLX(c->arg[i].u.c[0], c->arg[i].u.c[1])
                                          : fxs_arg_float(c, i);
}

/* How much a value can say: bools less than integers, those less than floats, complex ones most. */
static int kind_of_number(fxs_tag tag) {
    return tag == FXS_V_BOOL ? 0 : tag == FXS_V_INT ? 1 : tag == FXS_V_COMPLEX ? 3 : 2;
}

fxs_status fxs_check_beta_alone(fxs_call *c, int i, fxs_dtype d) {
    int most = d == FXS_BOOL ? 0 : fxs_is_complex(d) ? 3 : fxs_is_floating(d) ? 2 : 1;
    if (number_at(c, i) != 0 && kind_of_number(c->arg[i].tag) > most)
        return FXS_REFUSE(c, FXS_ETYPE, "a result of beta's type can't be cast to torch.%s",
                          fxs_dtype_name(d));
    return FXS_OK;
}

/* A complex number whose imaginary part is 0 is its real part. */
static fxs_status check_scale(fxs_call *c, int i, fxs_dtype d) {
    return cimag(number_at(c, i)) == 0 && c->arg[i].tag == FXS_V_COMPLEX
               ? FXS_OK
               : fxs_check_number(c, i, d);
}

/* PyTorch looks at numbers where it multiplies by them: at alpha when there are products, at beta
 * when there is a result. addmv makes beta a tensor of its type first. */
static fxs_status check_scales(fxs_call *c) {
    const fxs_tensor *out = c->out[0];
    if (fxs_tensor_numel(fxs_arg_tensor(c, ADD_A))) {
        if (!fxs_tensor_numel(out))
            return FXS_OK;
        FXS_TRY(check_scale(c, ADD_BETA, out->dtype));
        return check_scale(c, ADD_ALPHA, out->dtype);
    }
    if (fxs_arg_tensor(c, ADD_B)->ndim == 1) /* bool takes any number */
        return out->dtype == FXS_BOOL ? FXS_OK : check_scale(c, ADD_BETA, out->dtype);
    return fxs_tensor_numel(out) ? fxs_check_beta_alone(c, ADD_BETA, out->dtype) : FXS_OK;
}

static fxs_status infer_added(fxs_call *c) {
    fxs_tensor *input = fxs_arg_tensor(c, ADD_INPUT);
    char have[FXS_SIZES_TEXT], want[FXS_SIZES_TEXT];
    FXS_TRY(infer_product(c, fxs_arg_tensor(c, ADD_A), fxs_arg_tensor(c, ADD_B)));
    FXS_TRY(check_scales(c));
    const fxs_tensor *out = c->out[0];
    bool fits = input->ndim <= out->ndim;
    for (int i = 0; fits && i < input->ndim; i++) {
        int64_t n = out->sizes[out->ndim - input->ndim + i];
        fits = input->sizes[i] == n || input->sizes[i] == 1;
    }
    return fits ? FXS_OK
                : FXS_REFUSE(
                      c, FXS_ESHAPE,
                      "argument 'input' of shape %s can't be expanded to the result's shape %s",
                      fxs_sizes_text(input, have), fxs_sizes_text(out, want));
}

static fxs_status infer_addmm(fxs_call *c) {
    FXS_TRY(check_rank(c, ADD_A, "mat1", 2));
    FXS_TRY(check_rank(c, ADD_B, "mat2", 2));
    FXS_TRY(infer_added(c));
    return fxs_check_same_dtype(c, fxs_arg_tensor(c, ADD_A), fxs_arg_tensor(c, ADD_INPUT), "input");
}

/* In place the product's type must be the input's. */
static fxs_status check_own_type(fxs_call *c) {
    return c->in_place ? fxs_check_same_dtype(c, c->out[0], fxs_arg_tensor(c, ADD_INPUT), "input")
                       : FXS_OK;
}

/* Of a matrix without elements addmv gives beta * input as it is: with the input's own shape. */
static bool takes_shape(const fxs_call *c) {
    return !c->in_place && fxs_tensor_numel(fxs_arg_tensor(c, ADD_A)) == 0 &&
           number_at(c, ADD_BETA) != 0;
}

static fxs_status take_shape(fxs_call *c) {
    const fxs_tensor *input = fxs_arg_tensor(c, ADD_INPUT);
    fxs_tensor *out = c->out[0];
    if (fxs_promote(input->dtype, out->dtype) != out->dtype &&
        (fxs_is_complex(input->dtype) || !fxs_is_floating(out->dtype)))
        return FXS_REFUSE(c, FXS_ETYPE, "torch.%s can't be cast to torch.%s",
                          fxs_dtype_name(input->dtype), fxs_dtype_name(out->dtype));
    out->ndim = input->ndim;
    memcpy(out->sizes, input->sizes, sizeof input->sizes);
    fxs_strides_of(out->ndim, out->sizes, NULL, out->strides);
    return FXS_OK;
}

static fxs_status infer_addmv(fxs_call *c) {
    FXS_TRY(check_rank(c, ADD_A, "mat", 2));
    FXS_TRY(check_rank(c, ADD_B, "vec", 1));
    FXS_TRY(infer_added(c));
    FXS_TRY(check_own_type(c));
    return takes_shape(c) ? take_shape(c) : FXS_OK;
}

static fxs_status infer_baddbmm(fxs_call *c) {
    FXS_TRY(check_rank(c, ADD_A, "batch1", 3));
    FXS_TRY(check_rank(c, ADD_B, "batch2", 3));
    FXS_TRY(check_batches(c, fxs_arg_tensor(c, ADD_A), fxs_arg_tensor(c, ADD_B)));
    FXS_TRY(infer_added(c));
    return check_own_type(c);
}

static void scale_floats(const fxs_call *c, fxs_tensor *product, const fxs_tensor *input,
                         int64_t n) {
    double beta = creal(number_at(c, ADD_BETA)), alpha = creal(number_at(c, ADD_ALPHA));
    size_t size = fxs_dtype_size(product->dtype);
    char *p = fxs_tensor_data(product), *q = fxs_tensor_data(input);
    for (int64_t i = 0; i < n; i++, p += size, q += size) {
        double x = alpha * fxs_load_double(product->dtype, p);
        fxs_store_double(product->dtype, p,
                         beta == 0 ? x : x + beta * fxs_load_double(product->dtype, q));
    }
}

/* In whole numbers; of any number but 0 bool makes 1. */
static uint64_t whole_number_at(const fxs_call *c, int i, fxs_dtype d) {
    if (d == FXS_BOOL)
        return creal(number_at(c, i)) != 0;
    return c->arg[i].tag == FXS_V_COMPLEX ? (uint64_t)(int64_t)c->arg[i].u.c[0]
                                          : (uint64_t)fxs_arg_int(c, i);
}

static void scale_integers(const fxs_call *c, fxs_tensor *product, const fxs_tensor *input,
                           int64_t n) {
    uint64_t beta = whole_number_at(c, ADD_BETA, product->dtype),
             alpha = whole_number_at(c, ADD_ALPHA, product->dtype);
    size_t size = fxs_dtype_size(product->dtype);
    char *p = fxs_tensor_data(product), *q = fxs_tensor_data(input);
    for (int64_t i = 0; i < n; i++, p += size, q += size) {
        uint64_t x = (uint64_t)fxs_load_int(product->dtype, p),
                 y = (uint64_t)fxs_load_int(product->dtype, q);
        fxs_store_int(product->dtype, p, (int64_t)(alpha * x + beta * y));
    }
}

static void scale_pairs(const fxs_call *c, fxs_tensor *product, const fxs_tensor *input,
                        int64_t n) {
    double complex beta = number_at(c, ADD_BETA), alpha = number_at(c, ADD_ALPHA);
    size_t size = fxs_dtype_size(product->dtype);
    char *p = fxs_tensor_data(product), *q = fxs_tensor_data(input);
    for (int64_t i = 0; i < n; i++, p += size, q += size) {
        double z[2], y[2];
        fxs_load_pair(product->dtype, p, z);
        fxs_load_pair(product->dtype, q, y);
        double complex x = alpha * CMPLX(z[0], z[1]);
        x = beta == 0 ? x : x + beta * CMPLX(y[0], y[1]);
        fxs_store_pair(product->dtype, p, (const double[2]){creal(x), cimag(x)});
    }
}

static fxs_status run_added(fxs_call *c) {
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype);
    fxs_tensor expanded = *fxs_arg_tensor(c, ADD_INPUT);
    int missing = c->out[0]->ndim - expanded.ndim;
    for (int i = c->out[0]->ndim - 1; i >= 0; i--) {
        int at = i - missing;
        expanded.strides[i] = at < 0 || expanded.sizes[at] == 1 ? 0 : expanded.strides[at];
        expanded.sizes[i] = c->out[0]->sizes[i];
    }
    expanded.ndim = c->out[0]->ndim;
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    bool nothing = fxs_tensor_numel(fxs_arg_tensor(c, ADD_A)) == 0;
    if (out && nothing) /* whose shape may be the input's */
        memset(fxs_tensor_data(out), 0, (size_t)fxs_tensor_numel(out) * fxs_dtype_size(out->dtype));
    else
        fxs_product(&w, fxs_arg_tensor(c, ADD_A), fxs_arg_tensor(c, ADD_B), out, false);
    fxs_tensor *added = fxs_work_in(&w, &expanded);
    if (added)
        (fxs_is_complex(w.dtype)    ? scale_pairs
         : fxs_is_floating(w.dtype) ? scale_floats
                                    : scale_integers)(c, out, added, fxs_tensor_numel(out));
    return fxs_work_end(&w);
}

/* 2 M N K for each matrix, and two products and a sum an element */
static fxs_cost cost_added(const fxs_call *c) {
    double n = (double)fxs_tensor_numel(c->out[0]);
    return (fxs_cost){.flops = fxs_product_flops(fxs_arg_tensor(c, ADD_A), c->out[0]) + 3 * n};
}

const fxs_op fxs_ops_matmul[] = {
    {.name = "matmul",
     .schema = "(Tensor input, Tensor other) -> Tensor",
     .torch = "torch.matmul operator.matmul operator.imatmul Tensor.matmul Tensor.__matmul__ "
              "torch._C._linalg.linalg_matmul",
     .infer = infer_matmul,
     .kernel = run_matmul,
     .cost = cost_matmul,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {.name = "rmatmul",
     .schema = "(Tensor self, Tensor other) -> Tensor",
     .torch = "Tensor.__rmatmul__",
     .infer = infer_rmatmul,
     .kernel = run_rmatmul,
     .cost = cost_rmatmul,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {.name = "mm",
     .schema = "(Tensor input, Tensor mat2) -> Tensor",
     .torch = "torch.mm Tensor.mm",
     .infer = infer_mm,
     .kernel = run_matmul,
     .cost = cost_matmul,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {.name = "bmm",
     .schema = "(Tensor input, Tensor mat2) -> Tensor",
     .torch = "torch.bmm Tensor.bmm",
     .infer = infer_bmm,
     .kernel = run_matmul,
     .cost = cost_matmul,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {.name = "mv",
     .schema = "(Tensor input, Tensor vec) -> Tensor",
     .torch = "torch.mv Tensor.mv",
     .infer = infer_mv,
     .kernel = run_matmul,
     .cost = cost_matmul,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {.name = "dot",
     .schema = "(Tensor input, Tensor tensor) -> Tensor",
     .torch = "torch.dot torch.vdot Tensor.dot Tensor.vdot",
     .infer = infer_dot,
     .kernel = run_matmul,
     .cost = cost_matmul,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {.name = "addmm",
     .schema =
         "(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .torch = "torch.addmm Tensor.addmm",
     .infer = infer_addmm,
     .kernel = run_added,
     .cost = cost_added,
     .flags = FXS_OP_COMPLEX},
    {.name = "addmv",
     .schema = "(Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .torch = "torch.addmv Tensor.addmv",
     .infer = infer_addmv,
     .kernel = run_added,
     .cost = cost_added,
     .flags = FXS_OP_COMPLEX},
    {.name = "baddbmm",
     .schema =
         "(Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .torch = "torch.baddbmm Tensor.baddbmm",
     .infer = infer_baddbmm,
     .kernel = run_added,
     .cost = cost_added,
     .flags = FXS_OP_COMPLEX},
    {0},
};
