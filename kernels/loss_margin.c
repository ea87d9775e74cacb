/* loss_margin.c: losses with margins between classes: multi_margin_loss, multilabel_margin_loss,
 * multilabel_soft_margin_loss, triplet_margin_with_distance_loss. */
#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/loss.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* ---- multi_margin_loss(input, target, p, margin, weight, ...)
 * --------------------------------------------------- */

static bool check_margins(fxs_compose *k, const fxs_tensor *x, const fxs_tensor *y) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    double p = fxs_arg_float(k->call, 2);
    const fxs_tensor *w = arg(k, 4);
    int64_t rows = x->ndim == 2 ? x->sizes[0] : 1, own = fxs_tensor_numel(y);
    if (p != 1 && p != 2)
        fxs_stop(k, FXS_EINVAL, "only p == 1 and p == 2 are supported, not %g", p);
    if (x->ndim > 2 || y->ndim > 1 || own != rows || (x->ndim && !x->sizes[x->ndim - 1]))
        fxs_stop(k, FXS_ESHAPE, "inconsistent target size: input %s, target %s",
                 fxs_sizes_text(x, a), fxs_sizes_text(y, b));
    if (y->dtype != FXS_INT64)
        fxs_stop(k, FXS_ETYPE, "expected a target of type int64, but got torch.%s",
                 fxs_dtype_name(y->dtype));
    if (w && (w->ndim != 1 || w->sizes[0] != (x->ndim ? x->sizes[x->ndim - 1] : 1)))
        fxs_stop(k, FXS_ESHAPE, "inconsistent weight size: %s", fxs_sizes_text(w, a));
    if (w && w->requires_grad)
        fxs_stop(k, FXS_EINVAL,
                 "is not differentiable with respect to argument 'weight', which requires grad");
    if (!fxs_is_floating(x->dtype) || (w && w->dtype != x->dtype))
        fxs_stop(k, FXS_ETYPE, "expected floating point values, and a weight of their type");
    return k->status == FXS_OK;
}

static void make_multi_margin_loss(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *y = arg(k, 1), *w = arg(k, 4);
    fxs_value p = k->call->arg[2], margin = k->call->arg[3];
    if (!check_margins(k, x, y))
        return;
    int64_t classes = x->ndim ? x->sizes[x->ndim - 1] : 1, rows = x->ndim == 2 ? x->sizes[0] : 1;
    bool batched = y->ndim == 1;
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, rows, classes));
    fxs_tensor *at = FXS_DO(k, "reshape", fxs_t(y), FXS_INTS(k, rows, 1));
    fxs_tensor *own = FXS_DO(k, "gather", fxs_t(x), fxs_int(1), fxs_t(at));
    fxs_tensor *m = FXS_DO(k, "sub", fxs_t(x), fxs_t(own));
    m = FXS_DO(k, "clamp_min", fxs_t(FXS_DO(k, "add", fxs_t(m), margin)), fxs_int(0));
    m = FXS_DO(k, "pow", fxs_t(m), p);
    if (w) {
        w = FXS_DO(k, "index_select", fxs_t(w), fxs_int(0),
                   fxs_t(FXS_DO(k, "reshape", fxs_t(y), FXS_INTS(k, rows))));
        m = FXS_DO(k, "mul", fxs_t(m), fxs_t(FXS_DO(k, "unsqueeze", fxs_t(w), fxs_int(1))));
    }
    m = FXS_DO(k, "scatter", fxs_t(m), fxs_int(1), fxs_t(at), fxs_int(0));
    m = FXS_DO(k, "sum", fxs_t(m), fxs_int(1));
    m = FXS_DO(k, "div", fxs_t(m), fxs_int(classes));
    if (!batched)
        m = FXS_DO(k, "squeeze", fxs_t(m), fxs_int(0));
    fxs_give_loss(k, m, 7);
}

/* ---- multilabel_soft_margin_loss(input, target, weight, ...)
 * ---------------------------------------------------- */

/* 1 - y, where y may be a number: Python subtracts then. */
static fxs_value from_one(fxs_compose *k, fxs_value y) {
    if (y.tag == FXS_V_TENSOR)
        return fxs_t(FXS_DO(k, "rsub", y, fxs_int(1)));
    if (y.tag == FXS_V_COMPLEX)
        return (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {1 - y.u.c[0], -y.u.c[1]}};
    return y.tag == FXS_V_FLOAT ? fxs_float(1 - y.u.f) : fxs_int(1 - fxs_arg_int(k->call, 1));
}

static void make_multilabel_soft_margin_loss(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    fxs_value y = k->call->arg[1];
    fxs_tensor *yes = FXS_DO(k, "log_sigmoid", fxs_t(x));
    fxs_tensor *no = FXS_DO(k, "log_sigmoid", fxs_t(FXS_DO(k, "neg", fxs_t(x))));
    yes = FXS_DO(k, "mul", y, fxs_t(yes));
    no = FXS_DO(k, "mul", from_one(k, y), fxs_t(no));
    fxs_tensor *loss = FXS_DO(k, "neg", fxs_t(FXS_DO(k, "add", fxs_t(yes), fxs_t(no))));
    if (!fxs_arg_is_none(k->call, 2))
        loss = FXS_DO(k, "mul", fxs_t(loss), k->call->arg[2]);
    if (x->ndim == 0)
        fxs_stop(k, FXS_ESHAPE, "expected an input with classes in its last dimension");
    if (k->status != FXS_OK)
        return;
    int64_t classes = x->sizes[x->ndim - 1];
    /* The dimension is counted in the input, also where a weight has made the loss wider. */
    loss = FXS_DO(k, "sum", fxs_t(loss), fxs_int(x->ndim - 1));
    fxs_give_loss(k, FXS_DO(k, "div", fxs_t(loss), fxs_int(classes)), 5);
}

/* ---- triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function, margin,
 * swap, ...) ------ */

static fxs_tensor *distance(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    const fxs_value *f = &k->call->arg[3];
    const char *name = f->tag == FXS_V_NONE ? "pairwise_distance" : fxs_value_text(f);
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!name) {
        fxs_stop(k, FXS_EUNKNOWN, "distance_function must be a function of torch");
        return NULL;
    }
    return FXS_DO(k, dot ? dot + 1 : name, fxs_t(a), fxs_t(b));
}

static void make_triplet_margin_with_distance_loss(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *p = arg(k, 1), *n = arg(k, 2);
    fxs_tensor *near = distance(k, a, p), *far = distance(k, a, n);
    if (fxs_arg_bool(k->call, 5))
        far = FXS_DO(k, "minimum", fxs_t(far), fxs_t(distance(k, p, n)));
    fxs_tensor *d = FXS_DO(k, "sub", fxs_t(near), fxs_t(far));
    d = FXS_DO(k, "add", fxs_t(d), k->call->arg[4]);
    /* There are no names of old before its reduction. */
    fxs_value how[] = {fxs_none(), fxs_none(), k->call->arg[6]};
    fxs_call view = *k->call;
    view.arg = how;
    fxs_compose reader = {.call = &view, .status = k->status};
    fxs_loss_kind kind = fxs_loss_reduction(&reader, 2);
    k->status = reader.status;
    d = FXS_DO(k, "clamp_min", fxs_t(d), fxs_int(0));
    fxs_give(k, kind == FXS_LOSS_EACH ? d
                                      : FXS_DO(k, kind == FXS_LOSS_SUM ? "sum" : "mean", fxs_t(d)));
}

FXS_COMPOSED(multi_margin_loss)
FXS_COMPOSED(multilabel_soft_margin_loss)
FXS_COMPOSED(triplet_margin_with_distance_loss)

/* ---- multilabel_margin_loss(input, target, ...): a row's classes end with the first -1
 * --------------------------- */

static fxs_loss_kind kind_of(fxs_call *c, fxs_status *s) {
    fxs_compose k = {.call = c};
    fxs_loss_kind kind = fxs_loss_reduction(&k, 4);
    *s = k.status;
    return kind;
}

static fxs_status infer_multilabel_margin_loss(fxs_call *c) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0), *y = fxs_arg_tensor(c, 1);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    fxs_status s;
    fxs_loss_kind kind = kind_of(c, &s);
    FXS_TRY(s);
    FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    bool one = fxs_tensor_numel(x) == 1 && fxs_tensor_numel(y) == 1 && x->ndim < 2 && y->ndim < 2;
    bool same = x->ndim == y->ndim && x->ndim <= 2;
    for (int i = 0; same && i < x->ndim; i++)
        same = x->sizes[i] == y->sizes[i];
    if (!(same || one) || (x->ndim && !x->sizes[x->ndim - 1]))
        return FXS_REFUSE(c, FXS_ESHAPE, "inconsistent target size: input %s, target %s",
                          fxs_sizes_text(x, a), fxs_sizes_text(y, b));
    if (y->dtype != FXS_INT64)
        return FXS_REFUSE(c, FXS_ETYPE, "expected a target of type int64, but got torch.%s",
                          fxs_dtype_name(y->dtype));
    return fxs_out_new(c, x->dtype, kind == FXS_LOSS_EACH && x->ndim == 2, x->sizes, NULL);
}

static double row_loss(const double *x, const double *y, int64_t classes, double *is_target) {
    double sum = 0;
    int64_t n = 0;
    for (; n < classes && y[n] >= 0; n++)
        is_target[(int64_t)y[n]] = 1;
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < classes; i++)
            if (!(is_target[i] > 0))
                sum += fmax(0, 1 - (x[(int64_t)y[t]] - x[i]));
    return sum / (double)classes;
}

static fxs_status run_multilabel_margin_loss(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t classes = t->ndim ? t->sizes[t->ndim - 1] : 1, rows = t->ndim == 2 ? t->sizes[0] : 1;
    fxs_status s;
    fxs_loss_kind kind = kind_of(c, &s);
    fxs_work w = fxs_work_begin(c, FXS_FLOAT64);
    const double *x = fxs_work_data(&w, t), *y = fxs_work_data(&w, fxs_arg_tensor(c, 1));
    double *is_target = fxs_work_scratch(&w, classes, sizeof(double)), all = 0;
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    for (int64_t i = 0; w.status == FXS_OK && i < rows; i++) {
        const double *own = y + i * classes;
        for (int64_t j = 0; j < classes; j++) /* also behind the first -1 */
            if (own[j] < -1 || own[j] >= (double)classes)
                w.status = FXS_REFUSE(c, FXS_EINDEX, "target %g is out of range: there are %lld",
                                      own[j], (long long)classes);
        if (w.status != FXS_OK)
            break;
        memset(is_target, 0, (size_t)classes * sizeof *is_target);
        double loss = row_loss(x + i * classes, own, classes, is_target);
        if (kind == FXS_LOSS_EACH)
            ((double *)fxs_tensor_data(out))[i] = loss;
        all += loss;
    }
    if (w.status == FXS_OK && kind != FXS_LOSS_EACH)
        *(double *)fxs_tensor_data(out) = kind == FXS_LOSS_SUM ? all : all / (double)rows;
    return fxs_work_end(&w);
}

/* At most C^2 comparisons a row, with a subtraction and an addition each. */
static fxs_cost cost_multilabel_margin_loss(const fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    double classes = t->ndim ? (double)t->sizes[t->ndim - 1] : 1;
    return (fxs_cost){.flops = 2 * classes * (double)fxs_tensor_numel(t)};
}

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

#define ROW(op, names)                                                                             \
    {                                                                                              \
#op, "(" names ") -> Tensor", "torch.nn.functional." #op, infer_##op, run_##op, cost_##op, \
            FXS_OP_NO_INPLACE                                                                      \
    }
#define PAIR "Tensor input, Tensor target"
#define REDUCTION FXS_LOSS_ARGUMENTS

const fxs_op fxs_ops_loss_margin[] = {
    ROW(multi_margin_loss, PAIR ", number p=1, number margin=1.0, Tensor? weight=None" REDUCTION),
    ROW(multilabel_margin_loss, PAIR REDUCTION),
    ROW(multilabel_soft_margin_loss,
        "Tensor input, Tensor|Scalar target, Tensor|Scalar? weight=None" REDUCTION),
    ROW(triplet_margin_with_distance_loss,
        "Tensor anchor, Tensor positive, Tensor negative, *, any distance_function=None, "
        "number margin=1.0, bool swap=False, str reduction='mean'"),
    {0},
};

const fxs_module_row fxs_modules_loss_margin[] = {
    {.name = "MultiMarginLoss",
     .repr = "",
     .hyper = "p=1, margin=1.0, weight=None, " FXS_LOSS_OLD,
     .call = "multi_margin_loss(input, target, p, margin, weight, " FXS_LOSS_HOW ")",
     .forward = "input, target"},
    {.name = "MultiLabelMarginLoss",
     .repr = "",
     .hyper = FXS_LOSS_OLD,
     .call = "multilabel_margin_loss(input, target, " FXS_LOSS_HOW ")",
     .forward = "input, target"},
    {.name = "MultiLabelSoftMarginLoss",
     .repr = "",
     .hyper = "weight=None, " FXS_LOSS_OLD,
     .call = "multilabel_soft_margin_loss(input, target, weight, " FXS_LOSS_HOW ")",
     .forward = "input, target"},
    {.name = "TripletMarginWithDistanceLoss",
     .repr = "",
     .hyper = "distance_function=None, margin=1.0, swap=False, reduction='mean'",
     .call = "triplet_margin_with_distance_loss(anchor, positive, negative, "
             "distance_function=distance_function, margin=margin, swap=swap, reduction=reduction)",
     .forward = "anchor, positive, negative"},
    {0},
};
