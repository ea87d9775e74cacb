/* embedding.c: rows of a table by index: embedding, and one_hot; with the layer of the first.
 * Indices are checked in the kernels, as shapes are inferred without reading values. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "kernels/embedding.h"
#include "kernels/families.h"
#include "kernels/work.h"

/* ---- embedding
 * -------------------------------------------------------------------------------------------- */

enum { INPUT, WEIGHT, PADDING_IDX, MAX_NORM, NORM_TYPE };

static fxs_status check_index_type(fxs_call *c, const fxs_tensor *t) {
    if (t->dtype == FXS_INT64 || t->dtype == FXS_INT32)
        return FXS_OK;
    return FXS_REFUSE(c, FXS_ETYPE, "expected indices of type int64 or int32, but got %s",
                      fxs_dtype_name(t->dtype));
}

static fxs_status infer_embedding(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT);
    int64_t sizes[FXS_MAX_DIM];
    char text[FXS_SIZES_TEXT];
    FXS_TRY(check_index_type(c, x));
    if (weight->ndim != 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "'weight' must be 2-D, but its shape is %s",
                          fxs_sizes_text(weight, text));
    if (x->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "a result of more than %d dimensions", FXS_MAX_DIM);
    if (!fxs_arg_is_none(c, PADDING_IDX)) {
        int64_t idx = fxs_arg_int(c, PADDING_IDX);
        if ((idx > 0 && idx >= weight->sizes[0]) || idx < -weight->sizes[0])
            return FXS_REFUSE(c, FXS_EINDEX,
                              "padding_idx must be within num_embeddings, but it is %lld of %lld",
                              (long long)idx, (long long)weight->sizes[0]);
    }
    if (fxs_is_complex(weight->dtype) && weight->requires_grad)
        return FXS_REFUSE(c, FXS_EINVAL, "complex numbers can't be differentiated");
    if (!fxs_arg_is_none(c, MAX_NORM) && fxs_tensor_numel(x) && !fxs_is_complex(weight->dtype))
        FXS_TRY(fxs_check_dtype(c, weight, FXS_TAKES_FLOATS));
    memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof *sizes);
    sizes[x->ndim] = weight->sizes[1];
    return fxs_out_new(c, weight->dtype, x->ndim + 1, sizes, NULL);
}

fxs_status fxs_norm_scale(fxs_call *c, const fxs_tensor *weight, fxs_dtype d, const char *row,
                          double p, double most, double *scale) {
    double sum = 0;
    int64_t n = weight->sizes[1];
    for (int64_t i = 0; i < n; i++) {
        double x = fabs(fxs_load_double(d, row + (size_t)i * fxs_dtype_size(d)));
        sum = isinf(p) ? fmax(sum, x) : sum + (p == 0 ? x != 0 : pow(x, p));
    }
    double norm = isinf(p) || p == 0 ? sum : pow(sum, 1 / p);
    *scale = norm > most ? most / (norm + 1e-7) : 1;
    if (norm > most && n > 1 && weight->strides[1] == 0)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "a row of one element in %lld places can't be scaled: clone the weight",
                          (long long)n);
    return FXS_OK;
}

/* Scales a row whose norm is too large. PyTorch scales the row of the weight itself; here the
 * weight, which may be a file's, stays as it is. */
static fxs_status limit_norm(fxs_call *c, const fxs_tensor *weight, char *row) {
    fxs_dtype d = weight->dtype;
    size_t size = fxs_dtype_size(d);
    double scale;
    FXS_TRY(fxs_norm_scale(c, weight, d, row, fxs_arg_float(c, NORM_TYPE),
                           fxs_arg_float(c, MAX_NORM), &scale));
    for (int64_t i = 0; i < weight->sizes[1] && scale != 1; i++)
        fxs_store_double(d, row + (size_t)i * size,
                         fxs_load_double(d, row + (size_t)i * size) * scale);
    return FXS_OK;
}

/* Rows of any type are copied as bytes. */
static fxs_status run_embedding(fxs_call *c) {
    fxs_tensor *weight = fxs_arg_tensor(c, WEIGHT);
    fxs_work ints = fxs_work_begin(c, FXS_INT64);
    const int64_t *index = fxs_work_data(&ints, fxs_arg_tensor(c, INPUT));
    fxs_tensor *table;
    if (ints.status == FXS_OK)
        ints.status = fxs_tensor_contiguous(c->ctx, weight, &table);
    if (ints.status != FXS_OK)
        return fxs_work_end(&ints);
    size_t row = (size_t)weight->sizes[1] * fxs_dtype_size(weight->dtype);
    char *y = fxs_tensor_data(c->out[0]);
    const char *from = fxs_tensor_data(table);
    for (int64_t i = 0; i < fxs_arg_numel(c, INPUT) && ints.status == FXS_OK; i++) {
        if (index[i] < 0 || index[i] >= weight->sizes[0])
            ints.status = FXS_REFUSE(
                c, FXS_EINDEX, "index out of range: index %lld, but there are %lld embeddings",
                (long long)index[i], (long long)weight->sizes[0]);
        else
            memcpy(y + (size_t)i * row, from + (size_t)index[i] * row, row);
        if (ints.status == FXS_OK && !fxs_arg_is_none(c, MAX_NORM))
            ints.status = limit_norm(c, weight, y + (size_t)i * row);
    }
    fxs_tensor_unref(table);
    return fxs_work_end(&ints);
}

/* moves rows, computes nothing; reads only the rows that it takes */
static fxs_cost cost_embedding(const fxs_call *c) {
    double out = (double)fxs_tensor_numel(c->out[0]) * (double)fxs_dtype_size(c->out[0]->dtype);
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    double index = (double)fxs_tensor_numel(x) * (double)fxs_dtype_size(x->dtype);
    return (fxs_cost){.bytes_read = out + index, .bytes_written = out};
}

/* ---- one_hot
 * ---------------------------------------------------------------------------------------------- */

enum { H_INPUT, H_CLASSES };

/* num_classes = -1 asks for one more than the largest value: the one shape here that values decide.
 */
static fxs_status count_classes(fxs_call *c, fxs_tensor *x, int64_t *out) {
    *out = fxs_arg_int(c, H_CLASSES);
    if (*out != -1)
        return *out >= 1
                   ? FXS_OK
                   : FXS_REFUSE(c, FXS_EINVAL, "num_classes should be positive, but it is %lld",
                                (long long)*out);
    if (fxs_tensor_numel(x) == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "can not infer total number of classes from empty tensor");
    if (!x->storage)
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "num_classes=-1 needs the values of the input, which are not computed");
    fxs_work w = fxs_work_begin(c, FXS_INT64);
    const int64_t *v = fxs_work_data(&w, x);
    int64_t most = 0;
    for (int64_t i = 0; v && i < fxs_tensor_numel(x); i++)
        most = v[i] > most ? v[i] : most;
    *out = most < INT64_MAX ? most + 1 : most;
    return fxs_work_end(&w);
}

static fxs_status infer_one_hot(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, H_INPUT);
    int64_t sizes[FXS_MAX_DIM];
    if (x->dtype != FXS_INT64)
        return FXS_REFUSE(c, FXS_ETYPE, "one_hot is only applicable to index tensor, not to %s",
                          fxs_dtype_name(x->dtype));
    if (x->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "a result of more than %d dimensions", FXS_MAX_DIM);
    memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof *sizes);
    FXS_TRY(count_classes(c, x, &sizes[x->ndim]));
    return fxs_out_new(c, FXS_INT64, x->ndim + 1, sizes, NULL);
}

static fxs_status run_one_hot(fxs_call *c) {
    fxs_tensor *out = c->out[0];
    int64_t classes = out->sizes[out->ndim - 1], *y = fxs_tensor_data(out);
    fxs_work w = fxs_work_begin(c, FXS_INT64);
    const int64_t *v = fxs_work_data(&w, fxs_arg_tensor(c, H_INPUT));
    if (w.status == FXS_OK)
        memset(y, 0, (size_t)fxs_tensor_numel(out) * sizeof *y);
    for (int64_t i = 0; v && i < fxs_arg_numel(c, H_INPUT) && w.status == FXS_OK; i++) {
        if (v[i] < 0 || v[i] >= classes)
            w.status =
                FXS_REFUSE(c, FXS_EINDEX,
                           "class values must be non-negative and smaller than num_classes, but "
                           "%lld is not in 0 to %lld",
                           (long long)v[i], (long long)classes - 1);
        else
            y[i * classes + v[i]] = 1;
    }
    return fxs_work_end(&w);
}

const fxs_op fxs_ops_embedding[] = {
    {.name = "embedding",
     .schema = "(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float "
               "norm_type=2.0, "
               "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
     .torch = "torch.nn.functional.embedding",
     .infer = infer_embedding,
     .kernel = run_embedding,
     .cost = cost_embedding},
    {.name = "one_hot",
     .schema = "(Tensor input, int num_classes=-1) -> Tensor",
     .torch = "torch._C._nn.one_hot torch.nn.functional.one_hot",
     .infer = infer_one_hot,
     .kernel = run_one_hot},
    {0},
};

const fxs_module_row fxs_modules_embedding[] = {
    {.name = "Embedding",
     .hyper = "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, "
              "scale_grad_by_freq=False, sparse=False",
     .state = "weight[num_embeddings, embedding_dim] = normal",
     .repr =
         "num_embeddings, embedding_dim, padding_idx-num_embeddings=?, max_norm=?, norm_type=?, "
         "scale_grad_by_freq=?, sparse=?",
     .call =
         "embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)"},
    {0},
};
