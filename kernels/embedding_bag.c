/* embedding_bag.c: sums, means or maxima of rows of a table, bag by bag, and its layer. */
#include <math.h>
#include <string.h>

#include "kernels/embedding.h"
#include "kernels/families.h"
#include "kernels/work.h"

enum {
    INPUT,
    WEIGHT,
    OFFSETS,
    MAX_NORM,
    NORM_TYPE,
    SCALE_GRAD,
    MODE,
    SPARSE,
    SAMPLES,
    LAST_OFFSET,
    PADDING
};
typedef enum mode { SUM, MEAN, MAX, NMODES } mode;

typedef struct bags {
    mode mode;
    int64_t count, width, padding; /* padding: a row that is left out; -1: none */
    bool limited;                  /* rows whose norm is too large are scaled */
} bags;

static bool is_index(const fxs_tensor *t) { return t->dtype == FXS_INT64 || t->dtype == FXS_INT32; }

static fxs_status read_bags(fxs_call *c, bags *b) {
    static const char *const modes[] = {"sum", "mean", "max"};
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT), *w = fxs_arg_tensor(c, WEIGHT),
                     *o = fxs_arg_tensor(c, OFFSETS);
    char text[FXS_SIZES_TEXT];
    *b = (bags){.mode = NMODES, .padding = -1};
    for (int i = 0; i < NMODES; i++)
        if (strcmp(fxs_arg_str(c, MODE), modes[i]) == 0)
            b->mode = (mode)i;
    if (b->mode == NMODES)
        return FXS_REFUSE(c, FXS_EINVAL, "mode has to be one of sum, mean or max, not '%s'",
                          fxs_arg_str(c, MODE));
    if (w->ndim != 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "weight has to be a 2D tensor, but its shape is %s",
                          fxs_sizes_text(w, text));
    FXS_TRY(fxs_check_dtype(c, w, FXS_TAKES_FLOATS));
    /* of two types, the wider one counts */
    if (!is_index(x) &&
        (!o || !is_index(o) || (!fxs_is_integral(x->dtype) && x->dtype != FXS_BOOL)))
        return FXS_REFUSE(c, FXS_ETYPE, "expected indices of type int64 or int32, but got %s",
                          fxs_dtype_name(x->dtype));
    if (o && !fxs_is_integral(o->dtype) && o->dtype != FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "expected offsets of an integer type, but got %s",
                          fxs_dtype_name(o->dtype));
    if ((x->ndim == 2) == (o != NULL) || (x->ndim != 1 && x->ndim != 2) || (o && o->ndim != 1))
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "input has to be 2D without offsets, or 1D with 1D offsets, but its shape is %s",
            fxs_sizes_text(x, text));
    if (fxs_arg_tensor(c, SAMPLES) && b->mode != SUM)
        return FXS_REFUSE(c, FXS_EINVAL, "per_sample_weights is only supported for mode='sum'");
    if (b->mode == MAX && fxs_arg_bool(c, SCALE_GRAD))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "max mode does not support scaling the gradient by the frequency");
    if (b->mode == MAX && fxs_arg_bool(c, SPARSE))
        return FXS_REFUSE(c, FXS_EINVAL, "max mode does not support sparse weights");
    if (x->ndim == 2 && x->sizes[1] == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "bags of no index at all");
    if (!fxs_arg_is_none(c, PADDING)) {
        int64_t row = fxs_arg_int(c, PADDING);
        if (row < -w->sizes[0] || row >= w->sizes[0])
            return FXS_REFUSE(c, FXS_EINDEX,
                              "padding_idx must be within num_embeddings, but it is %lld of %lld",
                              (long long)row, (long long)w->sizes[0]);
        b->padding = row < 0 ? row + w->sizes[0] : row;
    }
    b->limited = !fxs_arg_is_none(c, MAX_NORM);
    if (b->limited && !is_index(x)) /* what scales the rows has no wider offsets to go by */
        return FXS_REFUSE(c, FXS_ETYPE,
                          "with max_norm expected indices of type int64 or int32, but got %s",
                          fxs_dtype_name(x->dtype));
    const fxs_tensor *samples = fxs_arg_tensor(c, SAMPLES);
    FXS_TRY(fxs_check_same_dtype(c, w, samples, "per_sample_weights"));
    bool each = !samples || samples->ndim == x->ndim;
    for (int i = 0; samples && each && i < x->ndim; i++)
        each = samples->sizes[i] == x->sizes[i];
    if (!each)
        return FXS_REFUSE(c, FXS_ESHAPE, "per_sample_weights must have the shape of the input, %s",
                          fxs_sizes_text(x, text));
    b->count = (o ? o->sizes[0] : x->sizes[0]) - fxs_arg_bool(c, LAST_OFFSET);
    b->width = w->sizes[1];
    return b->count < 0 ? FXS_REFUSE(c, FXS_EINVAL, "include_last_offset needs at least one offset")
                        : FXS_OK;
}

static fxs_status infer_embedding_bag(fxs_call *c) {
    bags b;
    FXS_TRY(read_bags(c, &b));
    return fxs_out_new(c, fxs_arg_tensor(c, WEIGHT)->dtype, 2, (int64_t[]){b.count, b.width}, NULL);
}

typedef struct arrays {
    fxs_dtype dtype;
    const int64_t *index, *offset;
    const char *table, *sample;
    int64_t rows, entries;
} arrays;

static fxs_status fill_bag(fxs_call *c, const bags *b, const arrays *a, int64_t from, int64_t to,
                           int64_t beyond, double *sum) {
    int64_t n = 0;
    size_t size = fxs_dtype_size(a->dtype);
    for (int64_t k = 0; k < b->width; k++)
        sum[k] = 0;
    for (int64_t i = from; i < to; i++) {
        int64_t row = a->index[i];
        if (row < 0 || row >= a->rows)
            return FXS_REFUSE(c, FXS_EINDEX,
                              "index out of range: index %lld, but there are %lld embeddings",
                              (long long)row, (long long)a->rows);
        if (row == b->padding)
            continue;
        double w = a->sample ? fxs_load_double(a->dtype, a->sample + (size_t)i * size) : 1, scale;
        if (b->limited) {
            FXS_TRY(fxs_norm_scale(
                c, fxs_arg_tensor(c, WEIGHT), a->dtype, a->table + (size_t)(row * b->width) * size,
                fxs_arg_float(c, NORM_TYPE), fxs_arg_float(c, MAX_NORM), &scale));
            w *= scale;
        }
        for (int64_t k = 0; k < b->width; k++) {
            double x = fxs_load_double(a->dtype, a->table + (size_t)(row * b->width + k) * size);
            sum[k] = b->mode != MAX ? sum[k] + w * x : n == 0 || w * x > sum[k] ? w * x : sum[k];
        }
        n++;
    }
    n += n ? beyond : 0;
    for (int64_t k = 0; b->mode == MEAN && n > 1 && k < b->width; k++)
        sum[k] /= (double)n;
    return FXS_OK;
}

static fxs_status fill_all(fxs_call *c, const bags *b, const arrays *a, int64_t each, double *sum,
                           char *y) {
    for (int64_t i = 0; i < b->count; i++) {
        int64_t from = a->offset ? a->offset[i] : i * each, to = (i + 1) * each;
        if (a->offset)
            to = i + 1 < b->count || fxs_arg_bool(c, LAST_OFFSET) ? a->offset[i + 1] : a->entries;
        if (from < 0 || to > a->entries || (i == 0 && from != 0))
            return FXS_REFUSE(c, FXS_EINVAL,
                              "offsets must begin with 0 and stay within the %lld entries",
                              (long long)a->entries);
        /* PyTorch counts what is behind the last offset, but does not add it up */
        FXS_TRY(fill_bag(c, b, a, from, to, i + 1 == b->count ? a->entries - to : 0, sum));
        for (int64_t k = 0; k < b->width; k++, y += fxs_dtype_size(a->dtype))
            fxs_store_double(a->dtype, y, sum[k]);
    }
    return FXS_OK;
}

static fxs_status run_embedding_bag(fxs_call *c) {
    fxs_tensor *x = fxs_arg_tensor(c, INPUT), *weight = fxs_arg_tensor(c, WEIGHT);
    bags b;
    FXS_TRY(read_bags(c, &b));
    fxs_work ints = fxs_work_begin(c, FXS_INT64), w = fxs_work_begin(c, weight->dtype);
    arrays a = {.dtype = w.dtype, .rows = weight->sizes[0], .entries = fxs_tensor_numel(x)};
    a.index = fxs_work_data(&ints, x);
    a.offset = fxs_work_data(&ints, fxs_arg_tensor(c, OFFSETS));
    a.table = fxs_work_data(&w, weight);
    a.sample = fxs_work_data(&w, fxs_arg_tensor(c, SAMPLES));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    double *sum = fxs_work_scratch(&w, b.width, sizeof *sum);
    if (w.status == FXS_OK && ints.status == FXS_OK)
        w.status = fill_all(c, &b, &a, x->ndim == 2 ? x->sizes[1] : 0, sum, fxs_tensor_data(out));
    fxs_status s = fxs_work_end(&ints);
    return s != FXS_OK ? s : fxs_work_end(&w);
}

/* one for each element of each row */
static fxs_cost cost_embedding_bag(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, INPUT) *
                               (double)fxs_arg_tensor(c, WEIGHT)->sizes[1]};
}

const fxs_op fxs_ops_embedding_bag[] = {
    {"embedding_bag",
     "(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, "
     "bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? "
     "per_sample_weights=None, "
     "bool include_last_offset=False, int? padding_idx=None) -> Tensor",
     "torch.nn.functional.embedding_bag", infer_embedding_bag, run_embedding_bag,
     cost_embedding_bag, FXS_OP_NO_INPLACE},
    {0},
};

const fxs_module_row fxs_modules_embedding_bag[] = {
    {.name = "EmbeddingBag",
     .hyper = "num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, "
              "scale_grad_by_freq=False, mode='mean', "
              "sparse=False, include_last_offset=False, padding_idx=None",
     .state = "weight[num_embeddings, embedding_dim] = normal",
     .call = "embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, "
             "sparse, "
             "per_sample_weights, include_last_offset, padding_idx)",
     .repr = "num_embeddings, embedding_dim, max_norm=?, norm_type=?, scale_grad_by_freq=?, mode=, "
             "padding_idx-num_embeddings=?",
     .forward = "input, offsets?, per_sample_weights?"},
    {0},
};
