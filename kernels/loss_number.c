/* loss_number.c: the losses under torch's own names, which the functions of torch.nn.functional
 * call: their reduction is a number (0 none, 1 mean, 2 sum; left out it is 0, whatever PyTorch's
 * signature says). With them are embedding and instance_norm, whose arguments stand in another
 * order there. Each is the named row with its arguments in place. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

static fxs_value given(const fxs_compose *k, int i) { return k->call->arg[i]; }
static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* Any other number reduces nothing. */
static fxs_value reduction(fxs_compose *k, int i) {
    int64_t n = fxs_arg_int(k->call, i);
    return fxs_word(k, n == 1 ? "mean" : n == 2 ? "sum" : "none");
}

/* The loss of the row's name behind "torch_", whose first arguments are the same, `n` of them. */
static void make_loss(fxs_compose *k, size_t n) {
    const char *op = k->call->op->name + strlen("torch_");
    fxs_value args[FXS_MAX_ARGS], how = reduction(k, (int)n);
    k->own_grad = true;            /* what the named loss says */
    for (size_t i = 0; i < n; i++) /* a bool counts as a number here */
        args[i] = given(k, (int)i).tag == FXS_V_BOOL && i != 6
                      ? fxs_float(fxs_arg_float(k->call, (int)i))
                      : given(k, (int)i);
    fxs_give(k, fxs_do_named(k, op, "reduction", how, n, args));
}
static void make_torch_cosine_embedding_loss(fxs_compose *k) { make_loss(k, 4); }
static void make_torch_hinge_embedding_loss(fxs_compose *k) { make_loss(k, 3); }
static void make_torch_triplet_margin_loss(fxs_compose *k) { make_loss(k, 7); }

/* margin_ranking_loss(input1, input2, target, margin, reduction): of any dimensions that broadcast
 */
static void make_torch_margin_ranking_loss(fxs_compose *k) {
    fxs_tensor *away = FXS_DO(k, "neg", given(k, 2));
    fxs_tensor *x = FXS_DO(k, "sub", given(k, 0), given(k, 1));
    x = FXS_DO(k, "mul", fxs_t(away), fxs_t(x));
    x = FXS_DO(k, "add", fxs_t(x), fxs_float(fxs_arg_float(k->call, 3)));
    fxs_tensor *cut = FXS_DO(k, "clamp_min", fxs_t(x), fxs_int(0));
    x = FXS_DO(k, "copy_", fxs_t(x), fxs_t(cut)); /* it lies as the sum does */
    int64_t how = fxs_arg_int(k->call, 4);
    fxs_give(k, how == 1 || how == 2 ? FXS_DO(k, how == 1 ? "mean" : "sum", fxs_t(x)) : x);
}

/* kl_div(self, target, reduction, *, log_target) */
static void make_torch_kl_div(fxs_compose *k) {
    fxs_value none = fxs_none();
    fxs_give(
        k, FXS_DO(k, "kl_div", given(k, 0), given(k, 1), none, none, reduction(k, 2), given(k, 3)));
}

/* poisson_nll_loss(input, target, log_input, full, eps, reduction) */
static void make_torch_poisson_nll_loss(fxs_compose *k) {
    fxs_value none = fxs_none();
    fxs_give(k, FXS_DO(k, "poisson_nll_loss", given(k, 0), given(k, 1), given(k, 2), given(k, 3),
                       none, given(k, 4), none, reduction(k, 5)));
}

/* binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction): the input may be
 * stretched to the target */
static void make_torch_bce_with_logits(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *y = arg(k, 1);
    fxs_value none = fxs_none();
    bool same =
        x->ndim == y->ndim && memcmp(x->sizes, y->sizes, (size_t)x->ndim * sizeof *x->sizes) == 0;
    if (!same)
        x = FXS_DO(k, "expand_as", fxs_t(x), fxs_t(y));
    fxs_give(k, FXS_DO(k, "bce_with_logits", fxs_t(x), fxs_t(y), given(k, 2), none, none,
                       reduction(k, 4), given(k, 3)));
}

/* embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse): the last three are for
 * gradients alone */
static void make_torch_embedding(fxs_compose *k) {
    fxs_give(k, FXS_DO(k, "embedding", given(k, 1), given(k, 0)));
}

/* instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
 * cudnn_enabled) */
static void make_torch_instance_norm(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    int64_t sizes[FXS_MAX_DIM], area = 1;
    for (int i = 0; i < x->ndim; i++) {
        sizes[i] = x->sizes[i];
        area *= i > 1 ? sizes[i] : 1;
    }
    bool alone = area == 1 && x->ndim >= 2 && x->ndim < FXS_MAX_DIM;
    if (alone) { /* the named row refuses images of one element: here is each twice */
        sizes[x->ndim] = 2;
        x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(-1));
        x = FXS_DO(k, "expand", fxs_t(x), fxs_ints(k, arg(k, 0)->ndim + 1, sizes));
    }
    x = FXS_DO(k, "instance_norm", fxs_t(x), given(k, 3), given(k, 4), given(k, 1), given(k, 2),
               given(k, 5), given(k, 6), given(k, 7));
    fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
    if (alone)
        x = FXS_DO_NAMED(k, "clone", "memory_format", format,
                         fxs_t(FXS_DO(k, "select", fxs_t(x), fxs_int(-1), fxs_int(0))));
    fxs_give(k, x);
}

FXS_COMPOSED(torch_margin_ranking_loss)
FXS_COMPOSED(torch_cosine_embedding_loss)
FXS_COMPOSED(torch_hinge_embedding_loss)
FXS_COMPOSED(torch_triplet_margin_loss)
FXS_COMPOSED(torch_kl_div)
FXS_COMPOSED(torch_poisson_nll_loss)
FXS_COMPOSED(torch_bce_with_logits)
FXS_COMPOSED_FREE(torch_embedding)
FXS_COMPOSED(torch_instance_norm)

#define ROW(op, name, arguments)                                                                   \
    {                                                                                              \
        "torch_" #op, "(" arguments ") -> Tensor", "torch." name, infer_torch_##op,                \
            run_torch_##op, cost_torch_##op, FXS_OP_NO_INPLACE                                     \
    }
#define PAIR "Tensor self, Tensor target"
#define THREE "Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=0"

const fxs_op fxs_ops_loss_number[] = {
    ROW(margin_ranking_loss, "margin_ranking_loss", THREE),
    ROW(cosine_embedding_loss, "cosine_embedding_loss", THREE),
    ROW(hinge_embedding_loss, "hinge_embedding_loss", PAIR ", float margin=1.0, int reduction=0"),
    ROW(triplet_margin_loss, "triplet_margin_loss",
        "Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "
        "float eps=1e-06, bool swap=False, int reduction=0"),
    ROW(kl_div, "kl_div", PAIR ", int reduction=0, *, bool log_target=False"),
    ROW(poisson_nll_loss, "poisson_nll_loss",
        "Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction"),
    ROW(bce_with_logits, "binary_cross_entropy_with_logits",
        PAIR ", Tensor? weight=None, Tensor? pos_weight=None, int reduction=0"),
    {"torch_embedding",
     "(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool "
     "sparse=False) -> Tensor",
     "torch.embedding", infer_torch_embedding, run_torch_embedding, NULL,
     FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    ROW(instance_norm, "instance_norm",
        "Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool use_input_stats, float momentum, float eps, bool cudnn_enabled"),
    {0},
};
#undef ROW
#undef PAIR
#undef THREE
