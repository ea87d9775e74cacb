/* loss_distance.c: the distances of vectors, and the losses that compare distances with a margin:
 * cosine_similarity pairwise_distance triplet_margin_loss and their like. */
#include <math.h>

#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/loss.h"

enum { A, B }; /* the two arguments that nearly every loss begins with */

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static double number(const fxs_compose *k, int i) { return fxs_arg_float(k->call, i); }

static fxs_tensor *plus(fxs_compose *k, fxs_tensor *x, double y) {
    return FXS_DO(k, "add", fxs_t(x), fxs_float(y));
}

/* Of the first three arguments. */
static void same_rank(fxs_compose *k) {
    int a = arg(k, 0)->ndim, b = arg(k, 1)->ndim, c = arg(k, 2)->ndim;
    if (a != b || a != c)
        fxs_stop(k, FXS_ESHAPE,
                 "all inputs should have the same number of dimensions, but have %d, %d and %d", a,
                 b, c);
}

/* margin_ranking_loss(input1, input2, target, margin, size_average, reduce, reduction) */
static void make_margin_ranking_loss(fxs_compose *k) {
    same_rank(k);
    fxs_tensor *x = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "neg", fxs_t(arg(k, 2)))),
                           fxs_t(FXS_DO(k, "sub", fxs_t(arg(k, 0)), fxs_t(arg(k, 1)))));
    x = plus(k, x, number(k, 3));
    fxs_tensor *cut = FXS_DO(k, "clamp_min", fxs_t(x), fxs_int(0));
    fxs_give_loss(k, FXS_DO(k, "copy_", fxs_t(x), fxs_t(cut)), 6); /* it lies as the sum does */
}

/* hinge_embedding_loss(input, target, margin, size_average, reduce, reduction): targets are 1 and
 * -1 */
static void make_hinge_embedding_loss(fxs_compose *k) {
    k->own_grad = true;
    fxs_tensor *x = arg(k, A), *y = arg(k, B), *zero = FXS_DO(k, "zeros_like", fxs_t(x));
    fxs_tensor *margin = FXS_DO(k, "full_like", fxs_t(x), fxs_float(number(k, 2)));
    fxs_tensor *m =
        FXS_DO(k, "clamp_min", fxs_t(FXS_DO(k, "sub", fxs_t(margin), fxs_t(x))), fxs_int(0));
    fxs_tensor *far =
        FXS_DO(k, "where", fxs_t(FXS_DO(k, "ne", fxs_t(y), fxs_int(1))), fxs_t(m), fxs_t(zero));
    fxs_tensor *near =
        FXS_DO(k, "where", fxs_t(FXS_DO(k, "ne", fxs_t(y), fxs_int(-1))), fxs_t(x), fxs_t(zero));
    fxs_give_loss(k, FXS_DO(k, "add", fxs_t(far), fxs_t(near)), 5);
}

/* cosine_similarity(x1, x2, dim, eps) of two tensors that broadcast: each norm is at least eps */
static fxs_tensor *cosine(fxs_compose *k, fxs_tensor *a, fxs_tensor *b, int64_t dim, double eps) {
    fxs_tensor *product =
                   FXS_DO(k, "sum", fxs_t(FXS_DO(k, "mul", fxs_t(a), fxs_t(b))), fxs_int(dim)),
               *norm[2];
    if (k->status == FXS_OK && fxs_tensor_numel(a) == 0) /* sums of nothing: no norm divides them */
        return product;
    fxs_tensor *of[] = {a, b};
    for (int i = 0; i < 2; i++) {
        norm[i] = FXS_DO(k, "linalg_vector_norm", fxs_t(of[i]), fxs_int(2), fxs_int(dim));
        norm[i] = FXS_DO(k, "clamp_min", fxs_t(norm[i]), fxs_float(fabs(eps)));
    }
    return FXS_DO(k, "div", fxs_t(product),
                  fxs_t(FXS_DO(k, "mul", fxs_t(norm[0]), fxs_t(norm[1]))));
}

static void make_cosine_similarity(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1), *both[2];
    FXS_DO(k, "broadcast_tensors", fxs_t(a), fxs_t(b));
    both[0] = fxs_do_item(k, 0), both[1] = fxs_do_item(k, 1);
    fxs_operands given = fxs_operands_of(k->call, 0, 2);
    fxs_dtype common = fxs_common_type(&given);
    if (!fxs_is_floating(common))
        fxs_stop(k, FXS_ETYPE, "expected floating point inputs, but got torch.%s",
                 fxs_dtype_name(a->dtype));
    for (int i = 0; i < 2; i++)
        both[i] =
            FXS_DO(k, "to", fxs_t(both[i]), (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = common});
    fxs_give(k, cosine(k, both[0], both[1], fxs_arg_int(k->call, 2), number(k, 3)));
}

/* pairwise_distance(x1, x2, p, eps, keepdim) */
static fxs_tensor *distance(fxs_compose *k, fxs_tensor *a, fxs_tensor *b, double p, double eps,
                            bool keepdim) {
    fxs_tensor *d = plus(k, FXS_DO(k, "sub", fxs_t(a), fxs_t(b)), eps);
    bool none = d && fxs_tensor_numel(d) == 0; /* of nothing it is 0, whatever the order */
    return FXS_DO(k, none ? "norm" : "linalg_vector_norm", fxs_t(d), fxs_float(p), fxs_int(-1),
                  fxs_bool(keepdim));
}

static void make_pairwise_distance(fxs_compose *k) {
    fxs_give(
        k, distance(k, arg(k, 0), arg(k, 1), number(k, 2), number(k, 3), fxs_arg_bool(k->call, 4)));
}

/* Sums of products by the root of the product of the sums of squares, which are a little more than
 * they are: 1e-12 as a float32. */
static fxs_tensor *embedding_cosine(fxs_compose *k, fxs_tensor *a, fxs_tensor *b, int dim) {
    fxs_tensor *pair[3][2] = {{a, b}, {a, a}, {b, b}}, *sum[3];
    for (int i = 0; i < 3; i++) {
        sum[i] = FXS_DO(k, "mul", fxs_t(pair[i][0]), fxs_t(pair[i][1]));
        sum[i] = FXS_DO(k, "sum", fxs_t(sum[i]), FXS_INTS(k, dim));
        if (i)
            sum[i] = plus(k, sum[i], (double)1e-12f);
    }
    fxs_tensor *both = FXS_DO(k, "mul", fxs_t(sum[1]), fxs_t(sum[2]));
    return FXS_DO(k, "div", fxs_t(sum[0]), fxs_t(FXS_DO(k, "sqrt", fxs_t(both))));
}

/* cosine_embedding_loss(input1, input2, target, margin, size_average, reduce, reduction) */
static void make_cosine_embedding_loss(fxs_compose *k) {
    k->own_grad = true;
    if (arg(k, 2)->ndim + 1 != arg(k, 0)->ndim)
        fxs_stop(k, FXS_ESHAPE, "a target of %d dimensions expects inputs of %d, but got %d",
                 arg(k, 2)->ndim, arg(k, 2)->ndim + 1, arg(k, 0)->ndim);
    if (arg(k, 2)->ndim > 1)
        fxs_stop(k, FXS_ESHAPE, "a target of 0 or 1 dimensions is expected, but it has %d",
                 arg(k, 2)->ndim);
    fxs_tensor *y = arg(k, 2), *cos = embedding_cosine(k, arg(k, 0), arg(k, 1), y->ndim);
    fxs_tensor *zero = FXS_DO(k, "zeros_like", fxs_t(cos)),
               *near = FXS_DO(k, "rsub", fxs_t(cos), fxs_int(1));
    fxs_tensor *far = FXS_DO(k, "clamp_min", fxs_t(plus(k, cos, -number(k, 3))), fxs_int(0));
    near =
        FXS_DO(k, "where", fxs_t(FXS_DO(k, "eq", fxs_t(y), fxs_int(1))), fxs_t(near), fxs_t(zero));
    far =
        FXS_DO(k, "where", fxs_t(FXS_DO(k, "eq", fxs_t(y), fxs_int(-1))), fxs_t(far), fxs_t(zero));
    fxs_give_loss(k, FXS_DO(k, "add", fxs_t(near), fxs_t(far)), 6);
}

/* triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, size_average, reduce,
 * reduction) */
static void make_triplet_margin_loss(fxs_compose *k) {
    same_rank(k);
    double p = number(k, 4), eps = number(k, 5);
    fxs_tensor *near = distance(k, arg(k, 0), arg(k, 1), p, eps, false);
    fxs_tensor *far = distance(k, arg(k, 0), arg(k, 2), p, eps, false);
    if (fxs_arg_bool(k->call, 6))
        far = FXS_DO(k, "minimum", fxs_t(far),
                     fxs_t(distance(k, arg(k, 1), arg(k, 2), p, eps, false)));
    fxs_tensor *d = plus(k, FXS_DO(k, "sub", fxs_t(near), fxs_t(far)), number(k, 3));
    fxs_give_loss(k, FXS_DO(k, "clamp_min", fxs_t(d), fxs_int(0)), 9);
}

FXS_COMPOSED(margin_ranking_loss)
FXS_COMPOSED(hinge_embedding_loss)
FXS_COMPOSED(cosine_similarity)
FXS_COMPOSED(pairwise_distance)
FXS_COMPOSED(cosine_embedding_loss)
FXS_COMPOSED(triplet_margin_loss)

#define ROW(op, names)                                                                             \
    {                                                                                              \
#op, "(" names ") -> Tensor", "torch.nn.functional." #op, infer_##op, run_##op, cost_##op, \
            FXS_OP_NO_INPLACE                                                                      \
    }
#define PAIR "Tensor input, Tensor target"
#define REDUCTION FXS_LOSS_ARGUMENTS

const fxs_op fxs_ops_loss_distance[] = {
    ROW(margin_ranking_loss,
        "Tensor input1, Tensor input2, Tensor target, number margin=0" REDUCTION),
    ROW(hinge_embedding_loss, PAIR ", number margin=1.0" REDUCTION),
    {"cosine_similarity", "(Tensor x1, Tensor x2, int dim=1, number eps=1e-08) -> Tensor",
     "torch.cosine_similarity torch.nn.functional.cosine_similarity", infer_cosine_similarity,
     run_cosine_similarity, cost_cosine_similarity, FXS_OP_NO_INPLACE},
    {"pairwise_distance",
     "(Tensor x1, Tensor x2, number p=2.0, number eps=1e-06, bool keepdim=False) -> Tensor",
     "torch.pairwise_distance torch.nn.functional.pairwise_distance", infer_pairwise_distance,
     run_pairwise_distance, cost_pairwise_distance, FXS_OP_NO_INPLACE},
    ROW(cosine_embedding_loss,
        "Tensor input1, Tensor input2, Tensor target, number margin=0" REDUCTION),
    ROW(triplet_margin_loss,
        "Tensor anchor, Tensor positive, Tensor negative, number margin=1.0, number p=2, "
        "number eps=1e-06, bool swap=False" REDUCTION),
    {0},
};
#undef ROW
#undef PAIR
#undef REDUCTION

const fxs_module_row fxs_modules_loss_distance[] = {
    {.name = "MarginRankingLoss",
     .hyper = "margin=0.0, " FXS_LOSS_OLD,
     .call = "margin_ranking_loss(input1, input2, target, margin, " FXS_LOSS_HOW ")",
     .repr = "",
     .forward = "input1, input2, target"},
    {.name = "HingeEmbeddingLoss",
     .hyper = "margin=1.0, " FXS_LOSS_OLD,
     .call = "hinge_embedding_loss(input, target, margin, " FXS_LOSS_HOW ")",
     .repr = "",
     .forward = "input, target"},
    {.name = "CosineEmbeddingLoss",
     .hyper = "margin=0.0, " FXS_LOSS_OLD,
     .call = "cosine_embedding_loss(input1, input2, target, margin, " FXS_LOSS_HOW ")",
     .repr = "",
     .forward = "input1, input2, target"},
    {.name = "TripletMarginLoss",
     .hyper = "margin=1.0, p=2.0, eps=1e-06, swap=False, " FXS_LOSS_OLD,
     .call =
         "triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, " FXS_LOSS_HOW ")",
     .repr = "",
     .forward = "anchor, positive, negative"},
    {.name = "CosineSimilarity",
     .hyper = "dim=1, eps=1e-08",
     .call = "cosine_similarity(x1, x2, dim, eps)",
     .repr = "",
     .forward = "x1, x2"},
    {.name = "PairwiseDistance",
     .hyper = "p=2.0, eps=1e-06, keepdim=False",
     .call = "pairwise_distance(x1, x2, p, eps, keepdim)",
     .repr = "",
     .forward = "x1, x2"},
    {0},
};
