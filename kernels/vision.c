/* vision.c: what else torchvision's functions and layers compute, each made of other operators:
 * frozen batch normalisation, DropBlock, the focal loss, boxes that are large enough, nms by class.
 */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/work.h"
#include "op/module_row.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

static fxs_tensor *two(fxs_compose *k, const char *op, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, op, fxs_t(a), fxs_t(b));
}

/* 1 - t */
static fxs_tensor *rest(fxs_compose *k, fxs_tensor *t) {
    return FXS_DO(k, "rsub", fxs_t(t), fxs_int(1));
}

/* ---- remove_small_boxes(boxes, min_size) ---- */

static void make_remove_small_boxes(fxs_compose *k) {
    fxs_tensor *large[2];
    fxs_value boxes = k->call->arg[0];
    for (int i = 0; i < 2; i++) {
        fxs_tensor *first = FXS_DO(k, "select", boxes, fxs_int(1), fxs_int(i));
        large[i] = two(k, "sub", FXS_DO(k, "select", boxes, fxs_int(1), fxs_int(2 + i)), first);
        large[i] = FXS_DO(k, "ge", fxs_t(large[i]), k->call->arg[1]);
    }
    FXS_DO(k, "where_nonzero", fxs_t(two(k, "bitwise_and", large[0], large[1])));
    fxs_give(k, fxs_do_item(k, 0));
}

/* ---- batched_nms(boxes, scores, idxs, iou_threshold) ---- */

enum { MANY_NUMBERS = 4000 };

/* Boxes of different classes are moved apart, so that they do not overlap. torchvision does so
 * where there are few of them; where there are many it takes class by class, which is what float64
 * has digits for. */
static void make_batched_nms(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_value boxes = a[0], scores = a[1];
    if (fxs_tensor_numel(arg(k, 0)) == 0) {
        fxs_give(k, FXS_DO_NAMED(k, "new_zeros", "dtype", fxs_of_dtype(FXS_INT64), boxes,
                                 FXS_INTS(k, 0)));
        return;
    }
    if (fxs_tensor_numel(arg(k, 0)) > MANY_NUMBERS) {
        k->status = fxs_check_same_dtype(k->call, arg(k, 0), arg(k, 1), "scores");
        if (k->status == FXS_OK)
            k->status = fxs_check_dtype(k->call, arg(k, 0), FXS_TAKES_FLOATS);
        if (fxs_is_complex(arg(k, 2)->dtype)) /* classes are sorted there */
            fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s",
                     fxs_dtype_name(arg(k, 2)->dtype));
        boxes = fxs_t(FXS_DO(k, "to", boxes, fxs_of_dtype(FXS_FLOAT64)));
        scores = fxs_t(FXS_DO(k, "to", scores, fxs_of_dtype(FXS_FLOAT64)));
    }
    fxs_tensor *step = FXS_DO(k, "add", fxs_t(FXS_DO(k, "amax", boxes)), fxs_int(1));
    fxs_tensor *by = FXS_DO(k, "to", a[2], fxs_of_dtype(k->status == FXS_OK ? step->dtype : 0));
    by = FXS_DO(k, "unsqueeze", fxs_t(two(k, "mul", by, step)), fxs_int(1));
    fxs_give(k, FXS_DO(k, "nms", fxs_t(FXS_DO(k, "add", boxes, fxs_t(by))), scores, a[3]));
}

/* ---- frozen_batch_norm(x, weight, bias, running_mean, running_var, eps) ---- */

/* [c] as [1, c, 1, 1] */
static fxs_tensor *by_channel(fxs_compose *k, int i) {
    return FXS_DO(k, "reshape", fxs_t(arg(k, i)), FXS_INTS(k, 1, -1, 1, 1));
}

static void make_frozen_batch_norm(fxs_compose *k) {
    fxs_tensor *w = by_channel(k, 1), *b = by_channel(k, 2), *mean = by_channel(k, 3);
    fxs_tensor *scale = FXS_DO(k, "add", fxs_t(by_channel(k, 4)), k->call->arg[5]);
    scale = two(k, "mul", w, FXS_DO(k, "rsqrt", fxs_t(scale)));
    b = two(k, "sub", b, two(k, "mul", mean, scale));
    fxs_give(k, two(k, "add", two(k, "mul", arg(k, 0), scale), b));
}

/* ---- drop_block(input, p, block_size, inplace, eps, training), of two or three dimensions ---- */

static bool blocks_drop(const fxs_call *c) {
    return fxs_arg_float(c, 1) != 0 && fxs_arg_bool(c, 5);
}

/* Where a block begins: 1, elsewhere 0. The image's edge leaves room for a whole block. */
static fxs_tensor *beginnings(fxs_compose *k, int rank, int64_t block) {
    const fxs_tensor *x = arg(k, 0);
    int64_t sizes[5];
    double p = fxs_arg_float(k->call, 1);
    for (int i = 0; i < x->ndim; i++) {
        sizes[i] = i < 2 ? x->sizes[i] : x->sizes[i] - block + 1;
        if (i >= 2)
            p *= (double)x->sizes[i] / (double)block / (double)sizes[i];
    }
    if (!(p <= 1))
        fxs_stop(k, FXS_EINVAL, "blocks of %lld would have to begin with probability %g",
                 (long long)block, p);
    fxs_tensor *t = FXS_DO(k, "new_zeros", fxs_t(arg(k, 0)), fxs_ints(k, rank + 2, sizes));
    return FXS_DO(k, "bernoulli", fxs_t(t), fxs_float(p));
}

static void make_drop_block(fxs_compose *k, int rank) {
    fxs_tensor *x = arg(k, 0);
    int64_t block = fxs_arg_int(k->call, 2), pads[6], kernel[3], ones[3] = {1, 1, 1}, half[3];
    for (int i = 2; i < x->ndim; i++)
        block = x->sizes[i] < block ? x->sizes[i] : block;
    if (block < 1) {
        fxs_stop(k, FXS_EINVAL, "blocks must have a size above 0");
        return;
    }
    for (int i = 0; i < rank; i++) {
        kernel[i] = block;
        half[i] = pads[2 * i] = pads[2 * i + 1] = block / 2;
    }
    fxs_tensor *kept = beginnings(k, rank, block);
    kept = FXS_DO(k, "pad", fxs_t(kept), fxs_ints(k, 2 * rank, pads));
    kept = FXS_DO(k, rank == 2 ? "max_pool2d" : "max_pool3d", fxs_t(kept),
                  fxs_ints(k, rank, kernel), fxs_ints(k, rank, ones), fxs_ints(k, rank, half));
    kept = rest(k, kept);
    fxs_tensor *sum = FXS_DO(k, "add", fxs_t(FXS_DO(k, "sum", fxs_t(kept))), k->call->arg[4]);
    fxs_tensor *scale = FXS_DO(k, "reciprocal", fxs_t(sum));
    scale =
        FXS_DO(k, "mul", fxs_t(scale), fxs_int(k->status == FXS_OK ? fxs_tensor_numel(kept) : 0));
    fxs_give(k, two(k, "mul", two(k, "mul", x, kept), scale));
}

static void make_drop_block2d(fxs_compose *k) { make_drop_block(k, 2); }
static void make_drop_block3d(fxs_compose *k) { make_drop_block(k, 3); }

static fxs_status check_blocks(fxs_call *c, int rank) {
    double p = fxs_arg_float(c, 1);
    const fxs_tensor *x = fxs_arg_tensor(c, 0);
    if (!(p >= 0 && p <= 1))
        return FXS_REFUSE(c, FXS_EINVAL, "drop probability has to be between 0 and 1, but got %g",
                          p);
    if (x->ndim != rank + 2)
        return FXS_REFUSE(c, FXS_ESHAPE, "input should be %d dimensional, got %d dimensions",
                          rank + 2, x->ndim);
    return FXS_OK;
}

static fxs_status infer_drop_block(fxs_call *c, int rank, fxs_compose_fn *how) {
    FXS_TRY(check_blocks(c, rank));
    return blocks_drop(c) ? fxs_compose_infer(c, how) : fxs_out_same(c, fxs_arg_tensor(c, 0));
}
static fxs_status infer_drop_block2d(fxs_call *c) {
    return infer_drop_block(c, 2, make_drop_block2d);
}
static fxs_status infer_drop_block3d(fxs_call *c) {
    return infer_drop_block(c, 3, make_drop_block3d);
}
/* Outside training the result is the input itself, and no kernel runs. */
static fxs_status run_drop_block2d(fxs_call *c) { return fxs_compose_run(c, make_drop_block2d); }
static fxs_status run_drop_block3d(fxs_call *c) { return fxs_compose_run(c, make_drop_block3d); }
static fxs_cost cost_drop_block2d(const fxs_call *c) {
    return blocks_drop(c) ? fxs_compose_cost(c, make_drop_block2d) : (fxs_cost){0};
}
static fxs_cost cost_drop_block3d(const fxs_call *c) {
    return blocks_drop(c) ? fxs_compose_cost(c, make_drop_block3d) : (fxs_cost){0};
}

/* ---- sigmoid_focal_loss(inputs, targets, alpha, gamma, reduction) ---- */

/* a where the target is 1, b where it is 0 */
static fxs_tensor *by_target(fxs_compose *k, fxs_value a, fxs_value b) {
    fxs_tensor *t = arg(k, 1);
    fxs_tensor *one = FXS_DO(k, "mul", a, fxs_t(t)),
               *other = FXS_DO(k, "mul", b, fxs_t(rest(k, t)));
    return two(k, "add", one, other);
}

static void make_sigmoid_focal_loss(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    double alpha = fxs_arg_float(k->call, 2);
    const char *reduction = fxs_arg_str(k->call, 4);
    fxs_tensor *p = FXS_DO(k, "sigmoid", a[0]);
    fxs_tensor *loss =
        FXS_DO_NAMED(k, "bce_with_logits", "reduction", fxs_word(k, "none"), a[0], a[1]);
    fxs_tensor *hit = by_target(k, fxs_t(p), fxs_t(rest(k, p)));
    hit = FXS_DO(k, "pow", fxs_t(rest(k, hit)), a[3]);
    loss = two(k, "mul", loss, hit);
    if (alpha >= 0)
        loss = two(k, "mul", by_target(k, a[2], fxs_float(1 - alpha)), loss);
    if (strcmp(reduction, "mean") == 0 || strcmp(reduction, "sum") == 0)
        loss = FXS_DO(k, reduction, fxs_t(loss));
    fxs_give(k, loss);
}

/* Both say how many there are when they are computed. */
static fxs_status infer_remove_small_boxes(fxs_call *c) {
    return fxs_compose_infer_values(c, make_remove_small_boxes);
}
static fxs_status infer_batched_nms(fxs_call *c) {
    return fxs_compose_infer_values(c, make_batched_nms);
}
static fxs_cost cost_remove_small_boxes(const fxs_call *c) {
    return fxs_compose_cost(c, make_remove_small_boxes);
}
static fxs_cost cost_batched_nms(const fxs_call *c) {
    return fxs_compose_cost(c, make_batched_nms);
}
FXS_COMPOSED(frozen_batch_norm)
FXS_COMPOSED(sigmoid_focal_loss)

#define BLOCKS                                                                                     \
    "(Tensor input, float p, int block_size, bool inplace=False, float eps=1e-06, bool "           \
    "training=True) -> Tensor"
#define DROP_BLOCK(op)                                                                             \
    {                                                                                              \
#op, BLOCKS, "torchvision.ops.drop_block." #op " torchvision.ops." #op, infer_##op,        \
            run_##op, cost_##op, FXS_OP_RANDOM | FXS_OP_IDLE_IN_EVAL                               \
    }
const fxs_op fxs_ops_vision[] = {
    {"frozen_batch_norm",
     "(Tensor x, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var, float eps) "
     "-> Tensor",
     NULL, infer_frozen_batch_norm, run_frozen_batch_norm, cost_frozen_batch_norm,
     FXS_OP_NO_INPLACE},
    DROP_BLOCK(drop_block2d),
    DROP_BLOCK(drop_block3d),
    {"remove_small_boxes", "(Tensor boxes, float min_size) -> Tensor",
     "torchvision.ops.boxes.remove_small_boxes torchvision.ops.remove_small_boxes",
     infer_remove_small_boxes, NULL, cost_remove_small_boxes, FXS_OP_NO_INPLACE},
    {"batched_nms", "(Tensor boxes, Tensor scores, Tensor idxs, float iou_threshold) -> Tensor",
     "torchvision.ops.boxes.batched_nms torchvision.ops.batched_nms", infer_batched_nms, NULL,
     cost_batched_nms, FXS_OP_NO_INPLACE},
    {"sigmoid_focal_loss",
     "(Tensor inputs, Tensor targets, float alpha=0.25, float gamma=2, str reduction='none') -> "
     "Tensor",
     "torchvision.ops.focal_loss.sigmoid_focal_loss torchvision.ops.sigmoid_focal_loss",
     infer_sigmoid_focal_loss, run_sigmoid_focal_loss, cost_sigmoid_focal_loss, FXS_OP_NO_INPLACE},
    {0},
};
#undef BLOCKS
#undef DROP_BLOCK

#define BLOCK_LAYER(title, op)                                                                     \
    {                                                                                              \
        .name = title, .hyper = "p, block_size, inplace=False, eps=1e-06",                         \
        .repr = "p=, block_size=, inplace=",                                                       \
        .call = op "(input, p, block_size, inplace=inplace, eps=eps, training=training)"           \
    }
const fxs_module_row fxs_modules_vision[] = {
    {.name = "FrozenBatchNorm2d",
     .hyper = "num_features, eps=1e-05",
     .state = "buffer weight[num_features] = ones; buffer bias[num_features] = zeros; "
              "buffer running_mean[num_features] = zeros; buffer running_var[num_features] = ones",
     .repr = "num_features, eps=",
     .forward = "x",
     .call = "frozen_batch_norm(x, weight, bias, running_mean, running_var, eps)"},
    BLOCK_LAYER("DropBlock2d", "drop_block2d"),
    BLOCK_LAYER("DropBlock3d", "drop_block3d"),
    {0},
};
#undef BLOCK_LAYER
