/* loss.c: losses that compare element by element (mse l1 smooth_l1 huber bce kl_div and their
 * like): each is a formula of other operators, then a mean or a sum. Those of distances are in
 * loss_distance.c, those of classes in loss_class.c. */
#include "kernels/loss.h"

#include <math.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/iterate.h"

/* ---- what losses share
 * ------------------------------------------------------------------------------------ */

/* size_average and reduce, which stand before `reduction` in losses of old, win over it when they
 * are given. */
static const char *reduction_at(const fxs_call *c, int i) {
    bool apart = strcmp(c->op->name, "poisson_nll_loss") == 0; /* eps stands between the two */
    if (strcmp(c->op->name, "gaussian_nll_loss") == 0) /* has neither; its eps may be a bool */
        return fxs_arg_str(c, i);
    int first = apart ? i - 3 : i - 2;
    bool reduce = c->arg[i - 1].tag == FXS_V_BOOL, average = c->arg[first].tag == FXS_V_BOOL;
    if (c->arg[i - 1].tag != FXS_V_NONE && !reduce) /* a loss without them */
        return fxs_arg_str(c, i);
    if (!reduce && !average)
        return fxs_arg_str(c, i);
    if (reduce && !fxs_arg_bool(c, i - 1))
        return "none";
    return average && !fxs_arg_bool(c, first) ? "sum" : "mean";
}

fxs_loss_kind fxs_loss_reduction(fxs_compose *k, int i) {
    const char *s = reduction_at(k->call, i);
    if (strcmp(s, "none") == 0)
        return FXS_LOSS_EACH;
    if (strcmp(s, "mean") != 0 && strcmp(s, "sum") != 0)
        fxs_stop(k, FXS_EINVAL, "%s is not a valid value for reduction", s);
    return strcmp(s, "sum") == 0 ? FXS_LOSS_SUM : FXS_LOSS_MEAN;
}

void fxs_give_loss(fxs_compose *k, fxs_tensor *x, int i) {
    fxs_loss_kind kind = fxs_loss_reduction(k, i);
    if (kind != FXS_LOSS_EACH)
        x = FXS_DO(k, kind == FXS_LOSS_SUM ? "sum" : "mean", fxs_t(x));
    fxs_give(k, x);
}

enum { A, B }; /* the two arguments that nearly every loss begins with */

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static double number(const fxs_compose *k, int i) { return fxs_arg_float(k->call, i); }

static fxs_tensor *times(fxs_compose *k, fxs_tensor *x, double y) {
    return FXS_DO(k, "mul", fxs_t(x), fxs_float(y));
}

static fxs_tensor *plus(fxs_compose *k, fxs_tensor *x, double y) {
    return FXS_DO(k, "add", fxs_t(x), fxs_float(y));
}

/* Both are stretched before their types are compared, so that none counts as a number. */
static fxs_tensor *broadcast_difference(fxs_compose *k) {
    fxs_tensor *both[] = {arg(k, A), arg(k, B)};
    fxs_do(k, "broadcast_tensors", 2, (fxs_value[]){fxs_t(both[0]), fxs_t(both[1])});
    both[0] = fxs_do_item(k, 0), both[1] = fxs_do_item(k, 1);
    if (k->status != FXS_OK)
        return NULL;
    fxs_dtype d = fxs_promote(both[0]->dtype, both[1]->dtype);
    for (int i = 0; i < 2; i++)
        if (both[i]->dtype == FXS_BOOL && d != FXS_BOOL)
            both[i] =
                FXS_DO(k, "to", fxs_t(both[i]), ((fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d}));
    return FXS_DO(k, "sub", fxs_t(both[0]), fxs_t(both[1]));
}

/* Differences, as losses take them: floating point alone. */
static fxs_tensor *real_difference(fxs_compose *k) {
    fxs_tensor *d = broadcast_difference(k);
    if (d && !fxs_is_floating(d->dtype))
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(d->dtype));
    return d;
}

static void same_sizes(fxs_compose *k, const fxs_tensor *a, const fxs_tensor *b) {
    char s[FXS_SIZES_TEXT], t[FXS_SIZES_TEXT];
    bool same =
        a->ndim == b->ndim &&
        (a->ndim == 0 || memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0);
    if (!same)
        fxs_stop(k, FXS_ESHAPE, "target size %s must be the same as input size %s",
                 fxs_sizes_text(b, t), fxs_sizes_text(a, s));
}

/* How much a type holds: bools, whole numbers, real, complex. */
static int kind_of(fxs_dtype d) {
    return fxs_is_complex(d) ? 3 : fxs_is_floating(d) ? 2 : d == FXS_BOOL ? 0 : 1;
}

/* What PyTorch computes into a tensor of its own: of its type and shape, which must take the
 * result, and its strides. */
static fxs_tensor *into(fxs_compose *k, fxs_tensor *x, fxs_tensor *own) {
    if (k->status != FXS_OK)
        return NULL;
    same_sizes(k, own, x);
    if (kind_of(x->dtype) > kind_of(own->dtype))
        fxs_stop(k, FXS_ETYPE, "torch.%s can't be written into torch.%s", fxs_dtype_name(x->dtype),
                 fxs_dtype_name(own->dtype));
    if (k->status == FXS_OK && x->dtype == own->dtype && x->requires_grad == own->requires_grad &&
        memcmp(x->strides, own->strides, (size_t)x->ndim * sizeof *x->strides) == 0)
        return x; /* the step's own memory will do */
    return FXS_DO(k, "copy_", fxs_t(own), fxs_t(x));
}

static void no_grad_for(fxs_compose *k, int i, const char *name) {
    if (k->status == FXS_OK && arg(k, i) && arg(k, i)->requires_grad)
        fxs_stop(k, FXS_EINVAL,
                 "is not differentiable with respect to argument '%s', which requires grad", name);
}

/* ---- differences
 * ------------------------------------------------------------------------------------------- */

/* mse_loss(input, target, size_average, reduce, reduction) */
static void make_mse_loss(fxs_compose *k) {
    fxs_tensor *d = real_difference(k);
    /* it lies as the difference does */
    fxs_give_loss(k, FXS_DO(k, "copy_", fxs_t(d), fxs_t(FXS_DO(k, "mul", fxs_t(d), fxs_t(d)))), 4);
}

static void make_l1_loss(fxs_compose *k) {
    if (arg(k, A)->dtype == FXS_BOOL || arg(k, B)->dtype == FXS_BOOL)
        fxs_stop(k, FXS_ETYPE, "subtraction with a bool tensor is not supported");
    fxs_give_loss(k, FXS_DO(k, "abs", fxs_t(broadcast_difference(k))), 4);
}

/* Within `beta` of 0 a parabola, beyond it a line: slope 1 (smooth_l1) or beta (huber). */
static fxs_tensor *rounded(fxs_compose *k, double beta, double slope) {
    fxs_tensor *way = real_difference(k), *d = FXS_DO(k, "abs", fxs_t(way));
    if (beta == 0 && slope == 1)
        return d;
    fxs_tensor *near = FXS_DO(k, "lt", fxs_t(d), fxs_float(beta));
    fxs_tensor *inner =
        times(k, FXS_DO(k, "mul", fxs_t(d), fxs_t(d)), slope == 1 ? 0.5 / beta : 0.5);
    fxs_tensor *outer = times(k, plus(k, d, -0.5 * beta), slope);
    d = FXS_DO(k, "where", fxs_t(near), fxs_t(inner), fxs_t(outer));
    return FXS_DO(k, "copy_", fxs_t(way), fxs_t(d)); /* it lies as the difference does */
}

/* smooth_l1_loss(input, target, size_average, reduce, reduction, beta) */
static void make_smooth_l1_loss(fxs_compose *k) {
    double beta = number(k, 5);
    if (beta < 0)
        fxs_stop(k, FXS_EINVAL, "does not support negative values for beta");
    fxs_give_loss(k, rounded(k, beta, 1), 4);
}

/* huber_loss(input, target, reduction, delta) */
static void make_huber_loss(fxs_compose *k) {
    double delta = number(k, 3);
    if (!(delta > 0))
        fxs_stop(k, FXS_EINVAL, "does not support non-positive values for delta");
    fxs_tensor *x = rounded(k, delta, delta);
    FXS_DO(k, "broadcast_tensors", fxs_t(arg(k, A)), fxs_t(arg(k, B)));
    fxs_tensor *like = FXS_DO(k, "zeros_like", fxs_t(fxs_do_item(k, 0)));
    fxs_give_loss(k, into(k, x, like), 2); /* it lies as the input, and is of its type */
}

/* ---- probabilities
 * ------------------------------------------------------------------------------------------ */

static fxs_tensor *weighted(fxs_compose *k, fxs_tensor *x, int weight) {
    return arg(k, weight) ? FXS_DO(k, "mul", fxs_t(x), fxs_t(arg(k, weight))) : x;
}

/* binary_cross_entropy(input, target, weight, size_average, reduce, reduction): logarithms end at
 * -100 */
static void make_binary_cross_entropy(fxs_compose *k) {
    fxs_tensor *p = arg(k, A), *y = arg(k, B);
    same_sizes(k, p, y);
    if (p->dtype != y->dtype || !fxs_is_floating(p->dtype))
        fxs_stop(
            k, FXS_ETYPE,
            "expected input and target of one floating point type, but got torch.%s and torch.%s",
            fxs_dtype_name(p->dtype), fxs_dtype_name(y->dtype));
    fxs_tensor *yes = FXS_DO(k, "clamp_min", fxs_t(FXS_DO(k, "log", fxs_t(p))), fxs_int(-100));
    fxs_tensor *rest = FXS_DO(k, "rsub", fxs_t(p), fxs_int(1));
    fxs_tensor *no = FXS_DO(k, "clamp_min", fxs_t(FXS_DO(k, "log", fxs_t(rest))), fxs_int(-100));
    fxs_tensor *other = FXS_DO(k, "add", fxs_t(y), fxs_int(-1));
    fxs_tensor *x = FXS_DO(k, "mul", fxs_t(no), fxs_t(other));
    x = FXS_DO(k, "sub", fxs_t(x), fxs_t(FXS_DO(k, "mul", fxs_t(yes), fxs_t(y))));
    if (k->status == FXS_OK && kind_of(x->dtype) <= kind_of(p->dtype))
        x = into(k, x, FXS_DO(k, "empty_like", fxs_t(p)));
    no_grad_for(k, 2, "weight");
    fxs_give_loss(k, arg(k, 2) ? into(k, weighted(k, x, 2), x) : x, 5);
}

/* x = op(x, other) in place. */
static fxs_tensor *onto(fxs_compose *k, const char *op, fxs_tensor *x, fxs_tensor *other) {
    return into(k, other ? FXS_DO(k, op, fxs_t(x), fxs_t(other)) : FXS_DO(k, op, fxs_t(x)), x);
}

/* log(exp(-most) + exp(-x - most)), where most = max(-x, 0): log(1 + exp(-x)) without it. Step by
 * step as PyTorch has it, whose types round each. */
static fxs_tensor *log_of_both(fxs_compose *k, fxs_tensor *less, fxs_tensor *most) {
    fxs_tensor *one = onto(k, "exp", FXS_DO(k, "neg", fxs_t(most)), NULL);
    fxs_tensor *other = onto(k, "exp", FXS_DO(k, "sub", fxs_t(less), fxs_t(most)), NULL);
    return onto(k, "log", onto(k, "add", one, other), NULL);
}

/* binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction,
 * pos_weight): (1 - y) x + (1 + (pos_weight - 1) y) log(1 + exp(-x)) */
static void make_bce_with_logits(fxs_compose *k) {
    fxs_tensor *x = arg(k, A), *y = arg(k, B), *loss;
    same_sizes(k, x, y);
    fxs_tensor *less = FXS_DO(k, "neg", fxs_t(x));
    fxs_tensor *most = into(k, FXS_DO(k, "clamp_min", fxs_t(less), fxs_int(0)), less);
    fxs_tensor *soft = log_of_both(k, less, most);
    loss = FXS_DO(k, "rsub", fxs_t(y), fxs_int(1));
    loss = into(k, loss, FXS_DO(k, "empty_like", fxs_t(y))); /* it lies as the target does */
    loss = onto(k, "mul", loss, x);
    if (arg(k, 6)) {
        fxs_tensor *more = FXS_DO(k, "sub", fxs_t(arg(k, 6)), fxs_int(1));
        more = FXS_DO(k, "mul", fxs_t(more), fxs_t(y));
        more = into(k, FXS_DO(k, "add", fxs_t(more), fxs_int(1)), more);
        loss = onto(k, "add", loss, onto(k, "mul", more, onto(k, "add", soft, most)));
    } else {
        loss = onto(k, "add", onto(k, "add", loss, most), soft);
    }
    no_grad_for(k, 2, "weight");
    no_grad_for(k, 6, "pos_weight");
    fxs_give_loss(k, arg(k, 2) ? into(k, weighted(k, loss, 2), loss) : loss, 5);
}

/* kl_div(input, target, size_average, reduce, reduction, log_target): input is a logarithm already
 */
static void make_kl_div(fxs_compose *k) {
    fxs_tensor *x = arg(k, A), *y = arg(k, B), *d;
    if (!fxs_is_floating(x->dtype) || !fxs_is_floating(y->dtype))
        fxs_stop(k, FXS_ETYPE, "integral inputs are not supported");
    /* The older arguments decide how to reduce, and yet `batchmean` divides. */
    bool batch = strcmp(fxs_arg_str(k->call, 4), "batchmean") == 0,
         sums = strcmp(reduction_at(k->call, 4), "batchmean") == 0;
    fxs_loss_kind kind = sums ? FXS_LOSS_SUM : fxs_loss_reduction(k, 4);
    if (fxs_arg_bool(k->call, 5)) {
        d = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "exp", fxs_t(y))),
                   fxs_t(FXS_DO(k, "sub", fxs_t(y), fxs_t(x))));
    } else {
        fxs_tensor *own = FXS_DO(k, "xlogy", fxs_t(y), fxs_t(y));
        d = FXS_DO(k, "sub", fxs_t(own), fxs_t(FXS_DO(k, "mul", fxs_t(y), fxs_t(x))));
    }
    if (kind != FXS_LOSS_EACH)
        d = FXS_DO(k, kind == FXS_LOSS_SUM ? "sum" : "mean", fxs_t(d));
    fxs_give(k, batch && x->ndim ? FXS_DO(k, "div", fxs_t(d), fxs_int(x->sizes[0])) : d);
}

/* poisson_nll_loss(input, target, log_input, full, size_average, eps, reduce, reduction) */
static void make_poisson_nll_loss(fxs_compose *k) {
    fxs_tensor *x = arg(k, A), *y = arg(k, B), *loss;
    if (fxs_arg_bool(k->call, 2)) {
        loss = FXS_DO(k, "sub", fxs_t(FXS_DO(k, "exp", fxs_t(x))),
                      fxs_t(FXS_DO(k, "mul", fxs_t(y), fxs_t(x))));
    } else {
        fxs_tensor *l = FXS_DO(k, "log", fxs_t(plus(k, x, number(k, 5))));
        loss = FXS_DO(k, "sub", fxs_t(x), fxs_t(FXS_DO(k, "mul", fxs_t(y), fxs_t(l))));
    }
    if (fxs_arg_bool(k->call, 3)) { /* Stirling's formula, for targets above 1 */
        fxs_tensor *s = FXS_DO(k, "xlogy", fxs_t(y), fxs_t(y));
        s = FXS_DO(k, "sub", fxs_t(s), fxs_t(y));
        fxs_tensor *half = times(k, FXS_DO(k, "log", fxs_t(times(k, y, 6.283185307179586))), 0.5);
        s = FXS_DO(k, "add", fxs_t(s), fxs_t(half));
        s = FXS_DO(k, "masked_fill", fxs_t(s), fxs_t(FXS_DO(k, "le", fxs_t(y), fxs_int(1))),
                   fxs_int(0));
        loss = into(k, FXS_DO(k, "add", fxs_t(loss), fxs_t(s)), loss);
    }
    fxs_give_loss(k, loss, 7);
}

/* One for each element, or for each row: with the last dimension 1, or without it. */
static fxs_tensor *variances(fxs_compose *k) {
    fxs_tensor *x = arg(k, A), *v = arg(k, 2);
    int n = x->ndim, rows = n ? n - 1 : 0;
    bool fits = v->ndim >= rows && memcmp(v->sizes, x->sizes, (size_t)rows * sizeof *x->sizes) == 0;
    if (fits && v->ndim == rows && n)
        return FXS_DO(k, "unsqueeze", fxs_t(v), fxs_int(-1));
    bool same = v->ndim == n && (n == 0 || v->sizes[n - 1] == x->sizes[n - 1]);
    fits = fits && (same || (v->ndim == rows + 1 && v->sizes[rows] == 1));
    if (!fits)
        fxs_stop(k, FXS_ESHAPE, "var is of incorrect size");
    return v;
}

/* gaussian_nll_loss(input, target, var, full, eps, reduction) */
static void make_gaussian_nll_loss(fxs_compose *k) {
    fxs_tensor *v = variances(k), *d = FXS_DO(k, "sub", fxs_t(arg(k, A)), k->call->arg[B]);
    const fxs_value *eps = &k->call->arg[4];
    bool whole = eps->tag == FXS_V_INT || eps->tag == FXS_V_BOOL;
    if (v && !fxs_is_floating(v->dtype) && !(fxs_is_integral(v->dtype) && whole))
        fxs_stop(k, FXS_ETYPE, "a variance of torch.%s can't be clamped", fxs_dtype_name(v->dtype));
    if (!k->meta && k->status == FXS_OK && fxs_tensor_numel(v)) {
        fxs_tensor *least = FXS_DO(k, "min", fxs_t(v));
        if (least && least->storage && fxs_load_double(least->dtype, fxs_tensor_data(least)) < 0)
            fxs_stop(k, FXS_EINVAL, "var has negative entry/entries");
    }
    v = FXS_DO(k, "clamp_min", fxs_t(v), eps->tag == FXS_V_BOOL ? fxs_int(eps->u.b) : *eps);
    d = FXS_DO(k, "div", fxs_t(FXS_DO(k, "mul", fxs_t(d), fxs_t(d))), fxs_t(v));
    fxs_tensor *x = times(k, FXS_DO(k, "add", fxs_t(FXS_DO(k, "log", fxs_t(v))), fxs_t(d)), 0.5);
    fxs_give_loss(k, fxs_arg_bool(k->call, 3) ? plus(k, x, 0.9189385332046727) : x, 5);
}

/* ---- margins
 * ------------------------------------------------------------------------------------------------
 */

/* soft_margin_loss(input, target, size_average, reduce, reduction): log(1 + exp(-target input)) */
static void make_soft_margin_loss(fxs_compose *k) {
    fxs_tensor *own = FXS_DO(k, "neg", fxs_t(arg(k, A)));
    fxs_tensor *x = into(k, FXS_DO(k, "mul", fxs_t(own), fxs_t(arg(k, B))), own);
    no_grad_for(k, B, "target");
    if (x && fxs_is_complex(x->dtype))
        no_grad_for(k, A, "input");
    if (x && !fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype))
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    fxs_tensor *e = plus(k, FXS_DO(k, "exp", fxs_t(x)), 1);
    fxs_give_loss(k, FXS_DO(k, "log", fxs_t(e)), 4);
}

FXS_COMPOSED(mse_loss)
FXS_COMPOSED(l1_loss)
FXS_COMPOSED(smooth_l1_loss)
FXS_COMPOSED(huber_loss)
FXS_COMPOSED(binary_cross_entropy)
FXS_COMPOSED(bce_with_logits)
FXS_COMPOSED(kl_div)
FXS_COMPOSED(poisson_nll_loss)
FXS_COMPOSED(gaussian_nll_loss)
FXS_COMPOSED(soft_margin_loss)

/* ---- rows
 * ----------------------------------------------------------------------------------------------------
 */

#define ROW(op, names)                                                                             \
    {                                                                                              \
#op, "(" names ") -> Tensor", "torch.nn.functional." #op, infer_##op, run_##op, cost_##op, \
            FXS_OP_NO_INPLACE                                                                      \
    }
#define PAIR "Tensor input, Tensor target"
#define REDUCTION FXS_LOSS_ARGUMENTS

const fxs_op fxs_ops_loss[] = {
    ROW(mse_loss, PAIR REDUCTION),
    ROW(l1_loss, PAIR REDUCTION),
    ROW(smooth_l1_loss, PAIR REDUCTION ", number beta=1.0"),
    ROW(huber_loss, PAIR ", str reduction='mean', number delta=1.0"),
    ROW(binary_cross_entropy, PAIR ", Tensor? weight=None" REDUCTION),
    {"bce_with_logits",
     "(" PAIR ", Tensor? weight=None" REDUCTION ", Tensor? pos_weight=None) -> Tensor",
     "torch.nn.functional.binary_cross_entropy_with_logits", infer_bce_with_logits,
     run_bce_with_logits, cost_bce_with_logits, FXS_OP_NO_INPLACE | FXS_OP_REAL_GRAD},
    ROW(kl_div, PAIR REDUCTION ", bool log_target=False"),
    ROW(poisson_nll_loss,
        PAIR ", bool log_input=True, bool full=False, bool? size_average=None, number eps=1e-08, "
             "bool? reduce=None, str reduction='mean'"),
    ROW(gaussian_nll_loss, "Tensor input, Tensor|Scalar target, Tensor var, bool full=False, "
                           "number|bool eps=1e-06, str reduction='mean'"),
    ROW(soft_margin_loss, PAIR REDUCTION),
    {0},
};
#undef ROW
#undef PAIR
#undef REDUCTION

/* print(model) shows no argument of a loss: they are as their constructor has them, or as a program
 * gave them. */
#define PAIR_LAYER(title, op)                                                                      \
    {                                                                                              \
        .name = title, .hyper = FXS_LOSS_OLD, .repr = "",                                          \
        .call = op "(input, target, " FXS_LOSS_HOW ")", .forward = "input, target"                 \
    }

const fxs_module_row fxs_modules_loss[] = {
    PAIR_LAYER("MSELoss", "mse_loss"),
    PAIR_LAYER("L1Loss", "l1_loss"),
    PAIR_LAYER("SoftMarginLoss", "soft_margin_loss"),
    {.name = "SmoothL1Loss",
     .hyper = FXS_LOSS_OLD ", beta=1.0",
     .call = "smooth_l1_loss(input, target, " FXS_LOSS_HOW ", beta)",
     .repr = "",
     .forward = "input, target"},
    {.name = "HuberLoss",
     .hyper = "reduction='mean', delta=1.0",
     .call = "huber_loss(input, target, reduction, delta)",
     .repr = "",
     .forward = "input, target"},
    {.name = "BCELoss",
     .hyper = "weight=None, " FXS_LOSS_OLD,
     .call = "binary_cross_entropy(input, target, weight, " FXS_LOSS_HOW ")",
     .repr = "",
     .forward = "input, target"},
    {.name = "BCEWithLogitsLoss",
     .hyper = "weight=None, " FXS_LOSS_OLD ", pos_weight=None",
     .call = "bce_with_logits(input, target, weight, " FXS_LOSS_HOW ", pos_weight)",
     .repr = "",
     .forward = "input, target"},
    {.name = "KLDivLoss",
     .hyper = FXS_LOSS_OLD ", log_target=False",
     .call = "kl_div(input, target, " FXS_LOSS_HOW ", log_target)",
     .repr = "",
     .forward = "input, target"},
    {0},
};
#undef PAIR_LAYER
