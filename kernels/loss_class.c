/* loss_class.c: losses of classes: nll_loss, which picks one score for each target, and
 * cross_entropy, which is composed of it and log_softmax. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/loss.h"
#include "kernels/work.h"

enum { INPUT, TARGET, WEIGHT, SIZE_AVERAGE, IGNORE, REDUCE, REDUCTION, SMOOTHING };

/* nll_loss has ignore_index between the names of old; fxs_loss_reduction looks at the two before
 * the reduction. */
static fxs_loss_kind reduction_of(fxs_call *c, fxs_status *s) {
    fxs_value old[] = {c->arg[SIZE_AVERAGE], c->arg[REDUCE], c->arg[REDUCTION]};
    fxs_call view = *c;
    view.arg = old;
    fxs_compose k = {.call = &view};
    fxs_loss_kind kind = fxs_loss_reduction(&k, 2);
    *s = k.status;
    return kind;
}

/* ---- nll_loss: -weight[target] * input[target]
 * ------------------------------------------------------------- */

typedef struct picks {
    const fxs_tensor *x, *target, *weight;
    int64_t classes, batch, inner; /* x is [batch, classes, inner] */
    int64_t ignore;
    fxs_loss_kind kind;
} picks;

/* Scores of one item with a vector of targets. */
static bool is_vector(const picks *p) { return p->x->ndim == 1 && p->target->ndim == 1; }

static fxs_status check_target(fxs_call *c, const picks *p) {
    const fxs_tensor *x = p->x, *t = p->target;
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    bool same = t->ndim == (x->ndim ? x->ndim - 1 : 0);
    if (x->ndim == 3 || x->ndim > 4) /* PyTorch makes images of them, of nothing empty ones */
        same = same && (fxs_tensor_numel(x) || !fxs_tensor_numel(t));
    if (is_vector(p)) /* the first target is all that is looked at */
        same = x->sizes[0] == t->sizes[0] && t->sizes[0];
    for (int i = 0; same && !is_vector(p) && i < t->ndim; i++)
        same = t->sizes[i] == x->sizes[i == 0 ? 0 : i + 1];
    if (!same)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "input of shape %s and target of shape %s do not belong together",
                          fxs_sizes_text(x, a), fxs_sizes_text(t, b));
    bool nothing = p->kind != FXS_LOSS_EACH && fxs_tensor_numel(t) == 0; /* no element is read */
    if (!nothing && t->dtype != FXS_INT64 && (t->dtype != FXS_UINT8 || x->ndim > 2))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "expected a target of type int64 or uint8, but got torch.%s",
                          fxs_dtype_name(t->dtype));
    bool flat = x->ndim < 3; /* of more dimensions PyTorch counts the weights alone */
    if (p->weight && ((flat && p->weight->ndim != 1) || fxs_tensor_numel(p->weight) != p->classes))
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "weight must have one element for each of %lld classes, but its shape is %s",
            (long long)p->classes, fxs_sizes_text(p->weight, a));
    return fxs_check_same_dtype(c, x, p->weight, "weight");
}

static fxs_status read_picks(fxs_call *c, picks *p) {
    fxs_status s;
    *p = (picks){.x = fxs_arg_tensor(c, INPUT),
                 .target = fxs_arg_tensor(c, TARGET),
                 .weight = fxs_arg_tensor(c, WEIGHT),
                 .ignore = fxs_arg_int(c, IGNORE),
                 .inner = 1,
                 .batch = 1};
    p->kind = reduction_of(c, &s);
    if (s != FXS_OK)
        return fxs_fail_where(c->ctx, "%s", c->op->name);
    FXS_TRY(fxs_check_dtype(c, p->x, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_check_no_grad(c, WEIGHT, "weight"));
    if (p->x->ndim == 0)
        return FXS_REFUSE(c, FXS_ESHAPE, "expected an input of 1 or more dimensions");
    p->classes = p->x->sizes[p->x->ndim > 1];
    if (p->x->ndim > 1)
        p->batch = p->x->sizes[0];
    for (int i = 2; i < p->x->ndim; i++)
        p->inner *= p->x->sizes[i];
    return check_target(c, p);
}

static fxs_status infer_nll_loss(fxs_call *c) {
    picks p;
    FXS_TRY(read_picks(c, &p));
    return p.kind == FXS_LOSS_EACH && !is_vector(&p)
               ? fxs_out_new(c, p.x->dtype, p.target->ndim, p.target->sizes, NULL)
               : fxs_out_new(c, p.x->dtype, 0, NULL, NULL);
}

static fxs_status pick(fxs_call *c, const picks *p, fxs_dtype d, const void *x, const void *weight,
                       void *out) {
    const fxs_tensor *t = p->target;
    double sum = 0, total = 0;
    size_t size = fxs_dtype_size(d);
    for (int64_t i = 0, n = p->batch * p->inner; i < n; i++) {
        int64_t rest = i, at = 0;
        for (int k = t->ndim - 1; k >= 0; k--) {
            at += rest % t->sizes[k] * t->strides[k];
            rest /= t->sizes[k];
        }
        int64_t class = fxs_load_int(t->dtype, (char *)fxs_tensor_data(t) +
                                                   at * (int64_t)fxs_dtype_size(t->dtype));
        double loss = 0, w = 0;
        if (class != p->ignore) {
            if (class < 0 || class >= p->classes)
                return FXS_REFUSE(c, FXS_EINDEX,
                                  "target %lld is out of bounds: there are %lld classes",
                                  (long long)class, (long long)p->classes);
            int64_t from = (i / p->inner * p->classes + class) * p->inner + i % p->inner;
            w = weight ? fxs_load_double(d, (const char *)weight + (size_t) class * size) : 1;
            loss = -w * fxs_load_double(d, (const char *)x + (size_t)from * size);
        }
        if (p->kind == FXS_LOSS_EACH)
            fxs_store_double(d, (char *)out + (size_t)i * size, loss);
        sum += loss;
        total += w;
    }
    if (p->kind != FXS_LOSS_EACH)
        fxs_store_double(d, out, p->kind == FXS_LOSS_SUM ? sum : sum / total);
    return FXS_OK;
}

static fxs_status run_nll_loss(fxs_call *c) {
    picks p;
    FXS_TRY(read_picks(c, &p));
    fxs_work w = fxs_work_begin(c, p.x->dtype);
    const void *x = fxs_work_data(&w, fxs_arg_tensor(c, INPUT)),
               *weight = fxs_work_data(&w, fxs_arg_tensor(c, WEIGHT));
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK)
        w.status = pick(c, &p, w.dtype, x, weight, fxs_tensor_data(out));
    return fxs_work_end(&w);
}

/* 2 for each target: weighted and added */
static fxs_cost cost_nll_loss(const fxs_call *c) {
    return (fxs_cost){.flops = 2 * (double)fxs_arg_numel(c, TARGET)};
}

/* ---- cross_entropy
 * ------------------------------------------------------------------------------------------ */

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

static void finish(fxs_compose *k, fxs_loss_kind kind, fxs_tensor *x, fxs_tensor *count) {
    if (kind != FXS_LOSS_EACH)
        x = FXS_DO(k, "sum", fxs_t(x));
    fxs_give(k, kind == FXS_LOSS_MEAN ? FXS_DO(k, "div", fxs_t(x), fxs_t(count)) : x);
}

/* -(x * weight by class), summed over the classes */
static fxs_tensor *over_classes(fxs_compose *k, fxs_tensor *x, int dim) {
    fxs_tensor *w = arg(k, WEIGHT);
    if (w && k->status == FXS_OK) {
        int64_t sizes[FXS_MAX_DIM];
        for (int i = 0; i < x->ndim; i++)
            sizes[i] = i == dim ? -1 : 1;
        x = FXS_DO(k, "mul", fxs_t(x),
                   fxs_t(FXS_DO(k, "view", fxs_t(w), fxs_ints(k, x->ndim, sizes))));
    }
    return FXS_DO(k, "neg", fxs_t(FXS_DO(k, "sum", fxs_t(x), fxs_int(dim))));
}

/* A part `smoothing` of the target is spread over all classes. */
static fxs_tensor *smooth(fxs_compose *k, fxs_loss_kind kind, fxs_tensor *x, int dim) {
    fxs_tensor *ignored = FXS_DO(k, "eq", fxs_t(arg(k, TARGET)), k->call->arg[IGNORE]),
               *weight = arg(k, WEIGHT), *count;
    fxs_tensor *each =
        FXS_DO(k, "masked_fill", fxs_t(over_classes(k, x, dim)), fxs_t(ignored), fxs_int(0));
    if (kind == FXS_LOSS_EACH)
        return each;
    each = FXS_DO(k, "sum", fxs_t(each));
    if (kind == FXS_LOSS_SUM)
        return each;
    count = FXS_DO(k, "logical_not", fxs_t(ignored));
    if (weight) {
        fxs_tensor *place =
            FXS_DO(k, "masked_fill", fxs_t(arg(k, TARGET)), fxs_t(ignored), fxs_int(0));
        place = FXS_DO(k, "take", fxs_t(weight), fxs_t(FXS_DO(k, "long", fxs_t(place))));
        count = FXS_DO(k, "mul", fxs_t(place), fxs_t(count));
    }
    return FXS_DO(k, "div", fxs_t(each), fxs_t(FXS_DO(k, "sum", fxs_t(count))));
}

static void by_index(fxs_compose *k, fxs_loss_kind kind, fxs_tensor *x, int dim) {
    static const char *const names[] = {"none", "sum", "mean"};
    double s = fxs_arg_float(k->call, SMOOTHING);
    fxs_tensor *loss =
        FXS_DO(k, "nll_loss", fxs_t(x), fxs_t(arg(k, TARGET)), fxs_t(arg(k, WEIGHT)), fxs_none(),
               k->call->arg[IGNORE], fxs_none(), fxs_word(k, names[kind]));
    const fxs_tensor *w = arg(k, WEIGHT); /* which stands along the classes by its first size */
    if (s > 0 && w && w->ndim && w->sizes[0] != fxs_tensor_numel(w))
        fxs_stop(k, FXS_ESHAPE, "a weight of more than one dimension can't smooth labels");
    if (s > 0 && k->status == FXS_OK) {
        fxs_tensor *spread = smooth(k, kind, x, dim);
        loss = FXS_DO(k, "mul", fxs_t(loss), fxs_float(1 - s));
        spread = FXS_DO(k, "mul", fxs_t(spread), fxs_float(s / (double)x->sizes[dim]));
        loss = FXS_DO(k, "add", fxs_t(loss), fxs_t(spread));
    }
    fxs_give(k, loss);
}

/* The target is a probability for each class. */
static void by_probability(fxs_compose *k, fxs_loss_kind kind, fxs_tensor *x, int dim) {
    double s = fxs_arg_float(k->call, SMOOTHING);
    fxs_tensor *y = arg(k, TARGET);
    if (k->status != FXS_OK)
        return;
    int64_t classes = x->sizes[dim];
    const fxs_tensor *w = arg(k, WEIGHT);
    if (w && (w->ndim != 1 || w->sizes[0] != classes))
        fxs_stop(k, FXS_ESHAPE, "weight must have one element for each of %lld classes",
                 (long long)classes);
    if (s > 0) {
        y = FXS_DO(k, "mul", fxs_t(y), fxs_float(1 - s));
        y = FXS_DO(k, "add", fxs_t(y), fxs_float(s / (double)classes));
    }
    fxs_tensor *each = over_classes(k, FXS_DO(k, "mul", fxs_t(x), fxs_t(y)), dim);
    if (kind != FXS_LOSS_MEAN) {
        finish(k, kind, each, NULL);
        return;
    }
    each = FXS_DO(k, "sum", fxs_t(each));
    int64_t n = fxs_tensor_numel(x) / (classes ? classes : 1);
    fxs_give(k, FXS_DO(k, "div", fxs_t(each), fxs_int(n)));
}

static void make_cross_entropy(fxs_compose *k) {
    fxs_tensor *x = arg(k, INPUT), *y = arg(k, TARGET);
    int dim = x->ndim > 1 ? 1 : 0;
    double s = fxs_arg_float(k->call, SMOOTHING);
    bool probabilities = x->ndim > 0 && x->ndim == y->ndim;
    for (int i = 0; probabilities && i < x->ndim; i++)
        probabilities = x->sizes[i] == y->sizes[i];
    fxs_loss_kind kind = reduction_of(k->call, &k->status);
    if (x->ndim == 0)
        fxs_stop(k, FXS_ESHAPE, "expected an input of 1 or more dimensions");
    if (s > 1)
        fxs_stop(k, FXS_EINVAL, "label_smoothing must be between 0.0 and 1.0, but is %g", s);
    if (probabilities && !fxs_is_floating(y->dtype))
        fxs_stop(k, FXS_ETYPE,
                 "expected a floating point type for a target with class probabilities, but got "
                 "torch.%s",
                 fxs_dtype_name(y->dtype));
    if (probabilities && fxs_arg_int(k->call, IGNORE) >= 0)
        fxs_stop(k, FXS_EINVAL, "ignore_index is not supported for floating point target");
    x = FXS_DO(k, "log_softmax", fxs_t(x), fxs_int(dim));
    if (probabilities)
        by_probability(k, kind, x, dim);
    else
        by_index(k, kind, x, dim);
}

FXS_COMPOSED(cross_entropy)

/* ---- rows
 * ----------------------------------------------------------------------------------------------------
 */

#define NAMES                                                                                      \
    "(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int "             \
    "ignore_index=-100, "                                                                          \
    "bool? reduce=None, str reduction='mean'"

const fxs_op fxs_ops_loss_class[] = {
    {"nll_loss", NAMES ") -> Tensor", "torch.nn.functional.nll_loss", infer_nll_loss, run_nll_loss,
     cost_nll_loss, FXS_OP_NO_INPLACE},
    {"cross_entropy", NAMES ", float label_smoothing=0.0) -> Tensor",
     "torch.nn.functional.cross_entropy", infer_cross_entropy, run_cross_entropy,
     cost_cross_entropy, FXS_OP_NO_INPLACE},
    {0},
};
#undef NAMES

#define HYPER "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'"
#define GIVEN "(input, target, weight, size_average, ignore_index, reduce, reduction"

const fxs_module_row fxs_modules_loss_class[] = {
    {.name = "NLLLoss",
     .hyper = HYPER,
     .repr = "",
     .call = "nll_loss" GIVEN ")",
     .forward = "input, target"},
    {.name = "NLLLoss2d",
     .hyper = HYPER,
     .repr = "",
     .call = "nll_loss" GIVEN ")",
     .forward = "input, target"},
    {.name = "CrossEntropyLoss",
     .hyper = HYPER ", label_smoothing=0.0",
     .repr = "",
     .call = "cross_entropy" GIVEN ", label_smoothing)",
     .forward = "input, target"},
    {0},
};
#undef HYPER
#undef GIVEN
