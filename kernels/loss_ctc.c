/* loss_ctc.c: connectionist temporal classification: how likely a sequence of labels is, over all
 * the ways in which it lies along time, with blanks between. Sums of probabilities in logarithms.
 */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/index_walk.h"
#include "kernels/loss.h"
#include "kernels/work.h"

enum { LOG_PROBS, TARGETS, INPUT_LENGTHS, TARGET_LENGTHS, BLANK, REDUCTION, ZERO_INFINITY };

/* torch.ctc_loss says the reduction as a number (none when it is left out, whatever its
 * documentation says), torch.nn.functional.ctc_loss as a word. */
static fxs_status kind_of(fxs_call *c, fxs_loss_kind *kind) {
    const char *name = fxs_value_text(&c->arg[REDUCTION]);
    int64_t number = name ? -1 : fxs_arg_int(c, REDUCTION);
    if (number == 1 || (name && strcmp(name, "mean") == 0))
        *kind = FXS_LOSS_MEAN;
    else if (number == 2 || (name && strcmp(name, "sum") == 0))
        *kind = FXS_LOSS_SUM;
    else if (!name || strcmp(name, "none") == 0) /* any other number */
        *kind = FXS_LOSS_EACH;
    else
        return FXS_REFUSE(c, FXS_EINVAL, "%s is not a valid value for reduction", name);
    return FXS_OK;
}

static int64_t count_of(const fxs_call *c, int i) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    if (t)
        return fxs_tensor_numel(t);
    return (int64_t)fxs_value_len(&c->arg[i]);
}

static int64_t length_at(const fxs_call *c, int i, int64_t at) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    const fxs_value *v = &c->arg[i];
    if (t) /* of any dimensions: lengths are its elements row by row */
        return fxs_load_int(t->dtype, (char *)fxs_tensor_data(t) +
                                          fxs_offset_at(t->ndim, t->sizes, t->strides, at, -1) *
                                              (int64_t)fxs_dtype_size(t->dtype));
    v = fxs_value_item(v, (size_t)at);
    return v && v->tag == FXS_V_INT ? v->u.i : 0;
}

/* Lengths as far as they are known: times that are there, and as many labels as targets hold. */
static fxs_status check_lengths(fxs_call *c, int64_t batch, int64_t times) {
    const fxs_tensor *y = fxs_arg_tensor(c, TARGETS), *in = fxs_arg_tensor(c, INPUT_LENGTHS),
                     *out = fxs_arg_tensor(c, TARGET_LENGTHS);
    int64_t all = 0, wide = y->sizes[y->ndim - 1];
    const fxs_tensor *lengths[] = {in, out};
    for (int i = 0; i < 2; i++)
        if (lengths[i] && !fxs_is_integral(lengths[i]->dtype))
            return FXS_REFUSE(c, FXS_ETYPE, "lengths must be of an integer type, not torch.%s",
                              fxs_dtype_name(lengths[i]->dtype));
    for (int64_t i = 0; (!out || out->storage) && i < batch; i++) {
        int64_t n = length_at(c, TARGET_LENGTHS, i);
        all += n;
        if (y->ndim == 2 && n > wide)
            return FXS_REFUSE(c, FXS_ESHAPE, "targets hold %lld labels each, not %lld",
                              (long long)wide, (long long)n);
    }
    if (y->ndim == 1 && (!out || out->storage) && all != wide)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected targets of size %lld, the sum of their lengths, "
                          "but got %lld",
                          (long long)all, (long long)wide);
    for (int64_t i = 0; (!in || in->storage) && i < batch; i++)
        if (length_at(c, INPUT_LENGTHS, i) > times)
            return FXS_REFUSE(c, FXS_EINVAL, "input_lengths asks for %lld times of %lld",
                              (long long)length_at(c, INPUT_LENGTHS, i), (long long)times);
    return FXS_OK;
}

static fxs_status infer_ctc(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, LOG_PROBS), *y = fxs_arg_tensor(c, TARGETS);
    char text[FXS_SIZES_TEXT];
    fxs_loss_kind kind = FXS_LOSS_EACH;
    FXS_TRY(kind_of(c, &kind));
    if (x->dtype != FXS_FLOAT32 && x->dtype != FXS_FLOAT64)
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    if ((x->ndim != 3 && x->ndim != 2) || y->ndim < 1 || y->ndim > 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected log_probs [T, N, C] or [T, C], but got %s",
                          fxs_sizes_text(x, text));
    int64_t batch = x->ndim == 3 ? x->sizes[1] : 1, classes = x->sizes[x->ndim - 1];
    if (!fxs_arg_tensor(c, INPUT_LENGTHS) != !fxs_arg_tensor(c, TARGET_LENGTHS))
        return FXS_REFUSE(c, FXS_ETYPE, "both lengths must be tensors, or both lists");
    if (x->sizes[0] == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected log_probs of at least one time, but got %s",
                          fxs_sizes_text(x, text));
    if (count_of(c, INPUT_LENGTHS) != batch || count_of(c, TARGET_LENGTHS) != batch)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "input_lengths and target_lengths must be of size %lld, the batch",
                          (long long)batch);
    if (y->ndim == 2 && y->sizes[0] != batch)
        return FXS_REFUSE(c, FXS_ESHAPE, "targets must be of size %lld in front, the batch",
                          (long long)batch);
    if (fxs_arg_int(c, BLANK) < 0 || fxs_arg_int(c, BLANK) >= classes)
        return FXS_REFUSE(c, FXS_EINVAL, "blank must be in label range");
    FXS_TRY(check_lengths(c, batch, x->sizes[0]));
    return fxs_out_new(c, x->dtype, kind == FXS_LOSS_EACH && x->ndim == 3, &batch, NULL);
}

static double log_add(double a, double b) {
    double most = fmax(a, b);
    return isinf(most) ? most : most + log(exp(a - most) + exp(b - most));
}

typedef struct sequence {
    const double *x; /* [T, N, C] of this member of the batch: rows are `step` apart */
    int64_t step, times, blank, n;
    const int64_t *labels;
} sequence;

/* Label at place s of the sequence with a blank before, between and behind the labels. */
static int64_t label_at(const sequence *q, int64_t s) {
    return s % 2 ? q->labels[s / 2] : q->blank;
}

/* -log of the probability. alpha: 2 n + 1 numbers, twice. */
static double sequence_loss(const sequence *q, double *alpha) {
    int64_t places = 2 * q->n + 1;
    double *now = alpha, *before = alpha + places;
    if (q->times == 0)
        return q->n == 0 ? 0 : INFINITY;
    for (int64_t s = 0; s < places; s++)
        now[s] = s < 2 ? q->x[label_at(q, s)] : -INFINITY;
    for (int64_t t = 1; t < q->times; t++) {
        double *other = now;
        now = before, before = other;
        for (int64_t s = 0; s < places; s++) {
            double sum = before[s];
            if (s > 0)
                sum = log_add(sum, before[s - 1]);
            if (s > 1 && s % 2 && label_at(q, s) != label_at(q, s - 2))
                sum = log_add(sum, before[s - 2]);
            now[s] = sum + q->x[t * q->step + label_at(q, s)];
        }
    }
    return -(places > 1 ? log_add(now[places - 1], now[places - 2]) : now[0]);
}

/* Labels of one member: a row of targets, or the next ones of all. */
static fxs_status read_labels(fxs_call *c, int64_t row, int64_t from, int64_t n, int64_t classes,
                              int64_t *labels) {
    const fxs_tensor *y = fxs_arg_tensor(c, TARGETS);
    int64_t size = (int64_t)fxs_dtype_size(y->dtype), wide = y->sizes[y->ndim - 1];
    if (n < 0 || (y->ndim == 2 ? n : from + n) > wide)
        return FXS_REFUSE(c, FXS_EINVAL,
                          "targets hold %lld labels, but target_lengths asks for more",
                          (long long)wide);
    for (int64_t i = 0; i < n; i++) {
        /* PyTorch steps by the stride within a member alone: where one begins it counts elements */
        int64_t step = y->strides[y->ndim - 1];
        int64_t at = y->ndim == 2 ? row * y->strides[0] + i * step : step ? from + i * step : 0;
        const char *p = (char *)fxs_tensor_data(y) + at * size;
        labels[i] = fxs_is_floating(y->dtype) ? (int64_t)fxs_load_double(y->dtype, p)
                                              : fxs_load_int(y->dtype, p);
        if (labels[i] < 0 || labels[i] >= classes)
            return FXS_REFUSE(c, FXS_EINDEX, "label %lld is out of range: there are %lld classes",
                              (long long)labels[i], (long long)classes);
    }
    return FXS_OK;
}

typedef struct totals {
    double sum, mean;
} totals;

static fxs_status run_batch(fxs_call *c, fxs_work *w, const double *x, fxs_loss_kind kind,
                            double *out, totals *all) {
    const fxs_tensor *t = fxs_arg_tensor(c, LOG_PROBS), *y = fxs_arg_tensor(c, TARGETS);
    int64_t batch = t->ndim == 3 ? t->sizes[1] : 1, classes = t->sizes[t->ndim - 1], from = 0,
            most = y->sizes[y->ndim - 1];
    int64_t *labels = fxs_work_scratch(w, most + 1, sizeof *labels);
    double *alpha = fxs_work_scratch(w, 2 * (2 * most + 1), sizeof *alpha);
    for (int64_t i = 0; w->status == FXS_OK && i < batch; i++) {
        int64_t times = length_at(c, INPUT_LENGTHS, i), n = length_at(c, TARGET_LENGTHS, i);
        if (times < 0 || times > t->sizes[0])
            return FXS_REFUSE(c, FXS_EINVAL,
                              "expected input_lengths to have value at most %lld, but got %lld",
                              (long long)t->sizes[0], (long long)times);
        FXS_TRY(read_labels(c, i, from, n, classes, labels));
        sequence q = {.x = x + i * classes,
                      .step = batch * classes,
                      .times = times,
                      .blank = fxs_arg_int(c, BLANK),
                      .n = n,
                      .labels = labels};
        double loss = sequence_loss(&q, alpha);
        if (isinf(loss) && fxs_arg_bool(c, ZERO_INFINITY))
            loss = 0;
        if (kind == FXS_LOSS_EACH)
            out[i] = loss;
        all->sum += loss;
        all->mean += loss / (double)(n > 1 ? n : 1) / (double)batch;
        from += n;
    }
    return w->status;
}

static fxs_status run_ctc(fxs_call *c) {
    fxs_loss_kind kind = FXS_LOSS_EACH;
    totals all = {0};
    FXS_TRY(kind_of(c, &kind));
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64);
    const double *x = fxs_work_data(&w, fxs_arg_tensor(c, LOG_PROBS));
    fxs_tensor *result = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK) {
        const fxs_tensor *t = fxs_arg_tensor(c, LOG_PROBS);
        int64_t batch = t->ndim == 3 ? t->sizes[1] : 1;
        double *out = fxs_tensor_data(result);
        w.status = run_batch(c, &w, x, kind, out, &all);
        if (kind != FXS_LOSS_EACH)
            *out = kind == FXS_LOSS_SUM ? all.sum : batch ? all.mean : NAN;
    }
    return fxs_work_end(&w);
}

/* Each place of the sequence at each time: three terms, an exp each, and a log. */
static fxs_cost cost_ctc(const fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, LOG_PROBS), *y = fxs_arg_tensor(c, TARGETS);
    double batch = x->ndim == 3 ? (double)x->sizes[1] : 1;
    return (fxs_cost){.flops = 8 * batch * (double)x->sizes[0] *
                               (2 * (double)y->sizes[y->ndim - 1] + 1)};
}

#define ARGUMENTS                                                                                  \
    "(Tensor log_probs, Tensor targets, Tensor|int[] input_lengths, Tensor|int[] "                 \
    "target_lengths, int blank=0, "

const fxs_op fxs_ops_loss_ctc[] = {
    {"ctc_loss", ARGUMENTS "str reduction='mean', bool zero_infinity=False) -> Tensor",
     "torch.nn.functional.ctc_loss", infer_ctc, run_ctc, cost_ctc,
     FXS_OP_NO_INPLACE | FXS_OP_GRAD_OF_SELF},
    {"torch_ctc_loss", ARGUMENTS "int reduction=0, bool zero_infinity=False) -> Tensor",
     "torch.ctc_loss", infer_ctc, run_ctc, cost_ctc, FXS_OP_NO_INPLACE | FXS_OP_GRAD_OF_SELF},
    {0},
};
#undef ARGUMENTS

const fxs_module_row fxs_modules_loss_ctc[] = {
    {.name = "CTCLoss",
     .repr = "",
     .hyper = "blank=0, reduction='mean', zero_infinity=False",
     .call = "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, "
             "zero_infinity)",
     .forward = "log_probs, targets, input_lengths, target_lengths"},
    {0},
};
