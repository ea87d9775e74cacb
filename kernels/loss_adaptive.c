/* loss_adaptive.c: adaptive softmax (Grave et al. 2017): frequent classes are scored by the head,
 * rare ones by a cluster each of their own, which the head scores as one. The layer is one
 * operator on the weights of its children. */
#include <math.h>

#include "base/buf.h"
#include "kernels/compose.h"
#include "kernels/families.h"

enum { INPUT, TARGET, HEAD, HEAD_BIAS, TAIL };

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* The tail's weights: two for each cluster. */
static int clusters(const fxs_compose *k) { return fxs_arg_len(k->call, TAIL) / 2; }
static fxs_tensor *tail(const fxs_compose *k, int i, int which) {
    return fxs_arg_tensor_at(k->call, TAIL, 2 * i + which);
}

static void check(fxs_compose *k, int64_t *shortlist) {
    const fxs_tensor *x = arg(k, INPUT), *y = arg(k, TARGET);
    bool whole = fxs_arg_len(k->call, TAIL) % 2 == 0;
    if (y->ndim > 1)
        fxs_stop(k, FXS_ESHAPE, "0D or 1D target tensor expected, multi-target not supported");
    if (x->ndim != y->ndim + 1)
        fxs_stop(k, FXS_ESHAPE, "a target of %d dimensions expects inputs of %d, but got %d",
                 y->ndim, y->ndim + 1, x->ndim);
    if (k->status == FXS_OK && y->ndim && x->sizes[0] != y->sizes[0])
        fxs_stop(k, FXS_ESHAPE,
                 "input and target should have the same size in the batch dimension, but have %lld "
                 "and %lld",
                 (long long)x->sizes[0], (long long)y->sizes[0]);
    if (y->dtype != FXS_INT64)
        fxs_stop(k, FXS_ETYPE, "expected a target of torch.int64, but got torch.%s",
                 fxs_dtype_name(y->dtype));
    for (int i = 0; i < clusters(k); i++)
        for (int w = 0; w < 2; w++)
            whole &= tail(k, i, w) && tail(k, i, w)->ndim == 2;
    if (!whole || arg(k, HEAD)->ndim != 2 || arg(k, HEAD)->sizes[0] < clusters(k)) {
        fxs_stop(k, FXS_ESHAPE, "the weights of the head and of the clusters don't fit together");
        return;
    }
    *shortlist = arg(k, HEAD)->sizes[0] - clusters(k);
}

static void check_classes(fxs_compose *k, fxs_tensor *y, int64_t count) {
    if (k->meta || k->status != FXS_OK || fxs_tensor_numel(y) == 0)
        return;
    fxs_tensor *ends[] = {FXS_DO(k, "min", fxs_t(y)), FXS_DO(k, "max", fxs_t(y))};
    for (int i = 0; i < 2 && k->status == FXS_OK; i++) {
        int64_t class = fxs_load_int(FXS_INT64, fxs_tensor_data(ends[i]));
        if (class < 0 || class >= count)
            fxs_stop(k, FXS_EINDEX, "target values should be in [0, %lld], but there is %lld",
                     (long long)count - 1, (long long)class);
    }
}

/* The numbers of the rows whose class is from `low` to below `high`. */
static fxs_tensor *rows_of(fxs_compose *k, fxs_tensor *y, int64_t low, int64_t high) {
    fxs_tensor *from = FXS_DO(k, "ge", fxs_t(y), fxs_int(low)),
               *to = FXS_DO(k, "lt", fxs_t(y), fxs_int(high));
    fxs_tensor *rows =
        FXS_DO(k, "nonzero", fxs_t(FXS_DO(k, "logical_and", fxs_t(from), fxs_t(to))));
    return FXS_DO(k, "select", fxs_t(rows), fxs_int(1), fxs_int(0));
}

/* log_softmax of the linear map, then of each row the column that `at` says. */
static fxs_tensor *picked(fxs_compose *k, fxs_tensor *scores, fxs_tensor *at) {
    at = FXS_DO(k, "unsqueeze", fxs_t(at), fxs_int(1));
    return FXS_DO(k, "squeeze", fxs_t(FXS_DO(k, "gather", fxs_t(scores), fxs_int(1), fxs_t(at))),
                  fxs_int(1));
}

static fxs_tensor *cluster_scores(fxs_compose *k, fxs_tensor *x, int i) {
    for (int w = 0; w < 2; w++)
        x = FXS_DO(k, "linear", fxs_t(x), fxs_t(tail(k, i, w)));
    return FXS_DO(k, "log_softmax", fxs_t(x), fxs_int(1));
}

/* Adds what cluster i says of the rows whose class it has. Without values every row counts as one
 * of its own: the cost is the most that it can be. */
static fxs_tensor *with_cluster(fxs_compose *k, fxs_tensor *out, fxs_tensor *x, fxs_tensor *y,
                                fxs_tensor *head, int i, int64_t low, int64_t shortlist) {
    int64_t high = low + tail(k, i, 1)->sizes[0];
    if (k->meta) {
        cluster_scores(k, x, i);
        return out;
    }
    fxs_tensor *rows = rows_of(k, y, low, high);
    if (k->status != FXS_OK || fxs_tensor_numel(rows) == 0)
        return out;
    fxs_value zero = fxs_int(0);
    x = FXS_DO(k, "index_select", fxs_t(x), zero, fxs_t(rows));
    y = FXS_DO(k, "sub", fxs_t(FXS_DO(k, "index_select", fxs_t(y), zero, fxs_t(rows))),
               fxs_int(low));
    fxs_tensor *score = picked(k, cluster_scores(k, x, i), y);
    fxs_tensor *own = FXS_DO(k, "select", fxs_t(head), fxs_int(1), fxs_int(shortlist + i));
    own = FXS_DO(k, "index_select", fxs_t(own), zero, fxs_t(rows));
    score = FXS_DO(k, "add", fxs_t(score), fxs_t(own));
    return FXS_DO(k, "index_copy", fxs_t(out), zero, fxs_t(rows), fxs_t(score));
}

/* adaptive_log_softmax(input, target, head, head_bias, tail): the logarithm of each target's
 * probability, and the mean of their negatives */
static void make_adaptive_log_softmax(fxs_compose *k) {
    fxs_tensor *x = arg(k, INPUT), *y = arg(k, TARGET), *out;
    int64_t shortlist = 0, low;
    bool one = y->ndim == 0;
    check(k, &shortlist);
    if (one) {
        x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0));
        y = FXS_DO(k, "unsqueeze", fxs_t(y), fxs_int(0));
    }
    low = shortlist;
    for (int i = 0; k->status == FXS_OK && i < clusters(k); i++)
        low += tail(k, i, 1)->sizes[0];
    check_classes(k, y, low);
    fxs_tensor *head = FXS_DO(k, "linear", fxs_t(x), fxs_t(arg(k, HEAD)), fxs_t(arg(k, HEAD_BIAS)));
    head = FXS_DO(k, "log_softmax", fxs_t(head), fxs_int(1));
    if (k->status != FXS_OK)
        return;
    /* a class of a cluster has no column in the head: what is taken for it here is replaced */
    fxs_tensor *at = FXS_DO(k, "clamp", fxs_t(y), fxs_int(0), fxs_int(head->sizes[1] - 1));
    out = picked(k, head, at);
    low = shortlist;
    for (int i = 0; k->status == FXS_OK && i < clusters(k); i++) {
        out = with_cluster(k, out, x, y, head, i, low, shortlist);
        low += tail(k, i, 1)->sizes[0];
    }
    fxs_tensor *loss = FXS_DO(k, "mean", fxs_t(FXS_DO(k, "neg", fxs_t(out))));
    fxs_give(k, one ? FXS_DO(k, "squeeze", fxs_t(out), fxs_int(0)) : out);
    fxs_give(k, loss);
}

static fxs_status infer_adaptive_log_softmax(fxs_call *c) {
    c->tuple_name = "torch.nn.modules.adaptive._ASMoutput";
    return fxs_compose_infer(c, make_adaptive_log_softmax);
}
static fxs_status run_adaptive_log_softmax(fxs_call *c) {
    return fxs_compose_run(c, make_adaptive_log_softmax);
}
static fxs_cost cost_adaptive_log_softmax(const fxs_call *c) {
    return fxs_compose_cost(c, make_adaptive_log_softmax);
}

const fxs_op fxs_ops_loss_adaptive[] = {
    {"adaptive_log_softmax",
     "(Tensor input, Tensor target, Tensor head, Tensor? head_bias, Tensor[] tail) -> (Tensor, "
     "Tensor)",
     NULL, infer_adaptive_log_softmax, run_adaptive_log_softmax, cost_adaptive_log_softmax,
     FXS_OP_NO_INPLACE},
    {0},
};

/* ---- the layer
 * -------------------------------------------------------------------------------------------- */

/* The children that follow from the layer's arguments: cluster i gets in_features / div_value^(i +
 * 1) numbers. */
static fxs_status plan_adaptive(const fxs_layer *l, fxs_buf *b) {
    const fxs_value *cutoffs = fxs_layer_hyper(l, "cutoffs"),
                    *div = fxs_layer_hyper(l, "div_value");
    int64_t in = fxs_layer_int(l, "in_features", 0), classes = fxs_layer_int(l, "n_classes", 0);
    size_t n = cutoffs && cutoffs->tag != FXS_V_NONE ? fxs_value_len(cutoffs) : 0;
    double by = div->tag == FXS_V_FLOAT ? div->u.f : (double)fxs_layer_int(l, "div_value", 4);
    if (in <= 0 || !(by > 0))
        return fxs_fail(l->ctx, FXS_EINVAL, "%s: in_features and div_value must be above 0",
                        l->row->name);
    bool fits = n > 0;
    for (size_t i = 0; fits && i < n; i++) {
        const fxs_value *v = fxs_value_item(cutoffs, i);
        fits = v->tag == FXS_V_INT && v->u.i > (i ? fxs_value_item(cutoffs, i - 1)->u.i : 0) &&
               v->u.i < classes;
    }
    if (!fits)
        return fxs_fail(l->ctx, FXS_EINVAL,
                        "%s: cutoffs should be a sequence of unique, positive integers sorted in "
                        "an increasing order, where each value is between 1 and n_classes-1",
                        l->row->name);
    fxs_buf_printf(b, "head = Linear(%lld, %lld, bias=%s); tail = ModuleList()", (long long)in,
                   (long long)(fxs_value_item(cutoffs, 0)->u.i + (int64_t)n),
                   fxs_layer_int(l, "head_bias", 0) ? "True" : "False");
    for (size_t i = 0; i < n; i++) {
        int64_t from = fxs_value_item(cutoffs, i)->u.i,
                to = i + 1 < n ? fxs_value_item(cutoffs, i + 1)->u.i : classes;
        long long width = (long long)floor((double)in / pow(by, (double)i + 1));
        fxs_buf_printf(b,
                       "; tail.%zu = Sequential(); tail.%zu.0 = Linear(%lld, %lld, bias=False); "
                       "tail.%zu.1 = Linear(%lld, %lld, bias=False)",
                       i, i, (long long)in, width, i, width, (long long)(to - from));
    }
    return FXS_OK;
}

const fxs_module_row fxs_modules_loss_adaptive[] = {
    {.name = "AdaptiveLogSoftmaxWithLoss",
     .hyper = "in_features=None, n_classes=None, cutoffs=None, div_value=4.0, head_bias=False",
     .call = "adaptive_log_softmax(input, target, head.weight, head.bias, tail.#{0.weight "
             "1.weight})",
     .repr = "",
     .forward = "input, target",
     .plan = plan_adaptive},
    {0},
};
