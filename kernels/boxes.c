/* boxes.c: what torchvision's Python functions do with boxes (x1, y1, x2, y2), each made of other
 * operators: their areas, how far they overlap, their notations; and pooling by boxes in the form
 * in which torch.fx records it, which regions.c and regions_place.c compute. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "op/module_row.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

static fxs_tensor *two(fxs_compose *k, const char *op, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, op, fxs_t(a), fxs_t(b));
}

/* Coordinate i of each box [n]. */
static fxs_tensor *edge(fxs_compose *k, fxs_tensor *boxes, int i) {
    return FXS_DO(k, "select", fxs_t(boxes), fxs_int(1), fxs_int(i));
}

/* Types whose products may not fit become wider ones. */
static fxs_tensor *upcast(fxs_compose *k, fxs_tensor *t) {
    fxs_dtype d = k->status == FXS_OK ? t->dtype : FXS_FLOAT32;
    fxs_dtype wide = fxs_is_floating(d) ? d == FXS_FLOAT64 ? d : FXS_FLOAT32
                     : d == FXS_INT64   ? d
                                        : FXS_INT32;
    return d == wide ? t : FXS_DO(k, "to", fxs_t(t), fxs_of_dtype(wide));
}

/* ---- areas and overlaps
 * ------------------------------------------------------------------------------------- */

static fxs_tensor *area(fxs_compose *k, fxs_tensor *boxes) {
    boxes = upcast(k, boxes);
    fxs_tensor *w = two(k, "sub", edge(k, boxes, 2), edge(k, boxes, 0));
    return two(k, "mul", w, two(k, "sub", edge(k, boxes, 3), edge(k, boxes, 1)));
}

static void make_box_area(fxs_compose *k) { fxs_give(k, area(k, arg(k, 0))); }

/* Columns 0 and 1, or those behind. */
static fxs_tensor *columns(fxs_compose *k, fxs_tensor *boxes, int from) {
    int64_t n = from ? boxes->sizes[1] - from : 2;
    return FXS_DO(k, "narrow", fxs_t(boxes), fxs_int(1), fxs_int(from), fxs_int(n));
}

/* The first or the last corner of each pair of boxes, [n, 1, 2] and [m, 2], by `choose`. */
static fxs_tensor *corner(fxs_compose *k, const char *choose, int from) {
    if (k->status != FXS_OK)
        return NULL;
    fxs_tensor *a = columns(k, arg(k, 0), from), *b = columns(k, arg(k, 1), from);
    return two(k, choose, FXS_DO(k, "unsqueeze", fxs_t(a), fxs_int(1)), b);
}

/* [n, m]: the area between two corners of each pair. */
static fxs_tensor *between(fxs_compose *k, fxs_tensor *first, fxs_tensor *last) {
    fxs_tensor *size = upcast(k, two(k, "sub", last, first));
    size = FXS_DO(k, "clamp", fxs_t(size), fxs_int(0));
    fxs_tensor *w = FXS_DO(k, "select", fxs_t(size), fxs_int(2), fxs_int(0));
    return two(k, "mul", w, FXS_DO(k, "select", fxs_t(size), fxs_int(2), fxs_int(1)));
}

/* What each pair has in common, and what it covers together. */
static void overlap(fxs_compose *k, fxs_tensor **common, fxs_tensor **together) {
    for (int i = 0; i < 2; i++)
        if (arg(k, i)->ndim < 2 || arg(k, i)->sizes[1] < 4)
            fxs_stop(k, FXS_ESHAPE, "boxes must have 4 numbers each, in 2 dimensions");
    fxs_tensor *a = FXS_DO(k, "unsqueeze", fxs_t(area(k, arg(k, 0))), fxs_int(1));
    fxs_tensor *both = two(k, "add", a, area(k, arg(k, 1)));
    *common = between(k, corner(k, "maximum", 0), corner(k, "minimum", 2));
    *together = two(k, "sub", both, *common);
}

static void make_box_iou(fxs_compose *k) {
    fxs_tensor *common, *together;
    overlap(k, &common, &together);
    fxs_give(k, two(k, "div", common, together));
}

/* Less what the smallest box around both has besides. */
static void make_generalized_box_iou(fxs_compose *k) {
    fxs_tensor *common, *together;
    overlap(k, &common, &together);
    fxs_tensor *around = between(k, corner(k, "minimum", 0), corner(k, "maximum", 2));
    fxs_tensor *rest = two(k, "div", two(k, "sub", around, together), around);
    fxs_give(k, two(k, "sub", two(k, "div", common, together), rest));
}

/* ---- notations
 * ---------------------------------------------------------------------------------------------- */

static fxs_tensor *part(fxs_compose *k, fxs_tensor *t, int i) {
    return FXS_DO(k, "select", fxs_t(t), fxs_int(-1), fxs_int(i));
}

static fxs_tensor *times(fxs_compose *k, fxs_tensor *t, double by) {
    return FXS_DO(k, "mul", fxs_t(t), fxs_float(by));
}

/* A corner, or a middle, and sizes -> two corners. */
static fxs_tensor *to_corners(fxs_compose *k, fxs_tensor *t, bool middle) {
    fxs_tensor *out[4];
    for (int i = 0; i < 2; i++) {
        fxs_tensor *at = part(k, t, i), *size = part(k, t, 2 + i);
        out[i] = middle ? two(k, "sub", at, times(k, size, 0.5)) : at;
        out[2 + i] = two(k, "add", at, middle ? times(k, size, 0.5) : size);
    }
    return FXS_DO(k, "stack", fxs_tensors(k, 4, out), fxs_int(-1));
}

/* Two corners -> a corner, or the middle, and sizes. */
static fxs_tensor *to_sizes(fxs_compose *k, fxs_tensor *t, bool middle) {
    fxs_tensor *out[4];
    for (int i = 0; i < 2; i++) {
        fxs_tensor *first = part(k, t, i), *last = part(k, t, 2 + i);
        out[2 + i] = two(k, "sub", last, first);
        out[i] = middle ? FXS_DO(k, "div", fxs_t(two(k, "add", first, last)), fxs_int(2)) : first;
    }
    return FXS_DO(k, "stack", fxs_tensors(k, 4, out), fxs_int(-1));
}

static const char *const notations[] = {"xyxy", "xywh", "cxcywh"};

static int notation(fxs_compose *k, int i) {
    const char *name = fxs_arg_str(k->call, i);
    for (int n = 0; n < 3; n++)
        if (strcmp(name, notations[n]) == 0)
            return n;
    fxs_stop(k, FXS_EINVAL, "there is no notation of boxes '%s'", name);
    return 0;
}

static void make_box_convert(fxs_compose *k) {
    fxs_tensor *t = arg(k, 0);
    int from = notation(k, 1), to = notation(k, 2);
    if (from == to) {
        fxs_give(k, FXS_DO(k, "clone", fxs_t(t)));
        return;
    }
    if (t->ndim < 1 || t->sizes[t->ndim - 1] != 4)
        fxs_stop(k, FXS_ESHAPE, "boxes must have 4 numbers each");
    t = from ? to_corners(k, t, from == 2) : t;
    fxs_give(k, to ? to_sizes(k, t, to == 2) : t);
}

/* clip_boxes_to_image(boxes, (height, width)) */
static void make_clip_boxes(fxs_compose *k) {
    fxs_tensor *t = arg(k, 0), *out[2];
    fxs_value step = fxs_int(2);
    int64_t size[2] = {0, 0};
    int last = t->ndim - 1;
    if (last < 0 || fxs_arg_ints(k->call, 1, size, 2) != 2) {
        fxs_stop(k, FXS_ESHAPE, "boxes must have a dimension, and size must be (height, width)");
        return;
    }
    for (int i = 0; i < 2; i++) {
        out[i] = FXS_DO(k, "slice_copy", fxs_t(t), fxs_int(last), fxs_int(i), fxs_none(), step);
        out[i] = FXS_DO(k, "clamp", fxs_t(out[i]), fxs_int(0), fxs_int(size[1 - i]));
    }
    t = FXS_DO(k, "stack", fxs_tensors(k, 2, out), fxs_int(last + 1));
    fxs_give(k, FXS_DO(k, "reshape", fxs_t(t), fxs_ints(k, arg(k, 0)->ndim, arg(k, 0)->sizes)));
}

/* ---- nms of boxes
 * ------------------------------------------------------------------------------------------- */

static void make_nms_of_boxes(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_give(k, FXS_DO(k, "nms", a[0], a[1], a[2]));
}

/* ---- pooling by boxes
 * --------------------------------------------------------------------------------------- */

enum { INPUT, BOXES, SIZE, SCALE, SAMPLES, ALIGNED };

/* [n, 5]: in front of the boxes of each image stands its number. */
static fxs_tensor *numbered(fxs_compose *k) {
    int n = fxs_arg_len(k->call, BOXES);
    fxs_tensor **boxes = FXS_NEW_N(k->call->scratch, fxs_tensor *, n + 1),
               **numbers = FXS_NEW_N(k->call->scratch, fxs_tensor *, n + 1);
    if (!boxes || !numbers) {
        k->status = fxs_fail_memory(k->call->ctx);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        boxes[i] = fxs_arg_tensor_at(k->call, BOXES, i);
        if (boxes[i]->ndim < 2 || boxes[i]->sizes[1] != 4)
            fxs_stop(k, FXS_ESHAPE, "the boxes of an image must be [n, 4]");
        numbers[i] = FXS_DO(k, "narrow", fxs_t(boxes[i]), fxs_int(1), fxs_int(0), fxs_int(1));
        numbers[i] = FXS_DO(k, "full_like", fxs_t(numbers[i]), fxs_int(i));
    }
    fxs_tensor *both[] = {FXS_DO(k, "cat", fxs_tensors(k, n, numbers), fxs_int(0)),
                          FXS_DO(k, "cat", fxs_tensors(k, n, boxes), fxs_int(0))};
    return FXS_DO(k, "cat", fxs_tensors(k, 2, both), fxs_int(1));
}

/* The first arguments of the compiled operators. */
static void pooling_arguments(fxs_compose *k, fxs_value out[5]) {
    fxs_tensor *rois = arg(k, BOXES);
    int64_t size[2] = {0, 0};
    if (rois && (rois->ndim < 2 || rois->sizes[1] != 5))
        fxs_stop(k, FXS_ESHAPE, "boxes of one tensor must be [n, 5], with their image's number");
    rois = rois ? rois : numbered(k);
    fxs_arg_ints(k->call, SIZE, size, 2);
    out[0] = k->call->arg[INPUT];
    out[1] = fxs_t(rois);
    out[2] = k->call->arg[SCALE];
    out[3] = fxs_int(size[0]);
    out[4] = fxs_int(size[1]);
}

static void pool_by(fxs_compose *k, const char *op, int more) {
    fxs_value a[7];
    pooling_arguments(k, a);
    for (int i = 0; i < more; i++)
        a[5 + i] = k->call->arg[SAMPLES + i];
    fxs_tensor *y = fxs_do(k, op, (size_t)(5 + more), a);
    fxs_give(k, more == 2 ? y : fxs_do_item(k, 0));
}

static void make_roi_align_boxes(fxs_compose *k) { pool_by(k, "roi_align", 2); }
static void make_roi_pool_boxes(fxs_compose *k) { pool_by(k, "roi_pool", 0); }
static void make_ps_roi_align_boxes(fxs_compose *k) { pool_by(k, "ps_roi_align", 1); }
static void make_ps_roi_pool_boxes(fxs_compose *k) { pool_by(k, "ps_roi_pool", 0); }

FXS_COMPOSED(box_area)
FXS_COMPOSED(box_iou)
FXS_COMPOSED(generalized_box_iou)
FXS_COMPOSED(box_convert)
FXS_COMPOSED(clip_boxes)
FXS_COMPOSED(nms_of_boxes)
FXS_COMPOSED(roi_align_boxes)
FXS_COMPOSED(roi_pool_boxes)
FXS_COMPOSED(ps_roi_align_boxes)
FXS_COMPOSED(ps_roi_pool_boxes)

#define FUNCTION(op, name, file, schema)                                                           \
    {                                                                                              \
#op, schema " -> Tensor", "torchvision.ops." file "." name " torchvision.ops." name,       \
            infer_##op, run_##op, cost_##op, FXS_OP_NO_INPLACE                                     \
    }
#define POOLED "(Tensor input, Tensor|Tensor[] boxes, int[2] output_size, float spatial_scale=1.0"

const fxs_op fxs_ops_boxes[] = {
    FUNCTION(box_area, "box_area", "boxes", "(Tensor boxes)"),
    FUNCTION(box_iou, "box_iou", "boxes", "(Tensor boxes1, Tensor boxes2)"),
    FUNCTION(generalized_box_iou, "generalized_box_iou", "boxes", "(Tensor boxes1, Tensor boxes2)"),
    FUNCTION(box_convert, "box_convert", "boxes", "(Tensor boxes, str in_fmt, str out_fmt)"),
    FUNCTION(clip_boxes, "clip_boxes_to_image", "boxes", "(Tensor boxes, int[] size)"),
    FUNCTION(nms_of_boxes, "nms", "boxes", "(Tensor boxes, Tensor scores, float iou_threshold)"),
    FUNCTION(roi_align_boxes, "roi_align", "roi_align",
             POOLED ", int sampling_ratio=-1, bool aligned=False)"),
    FUNCTION(roi_pool_boxes, "roi_pool", "roi_pool", POOLED ")"),
    FUNCTION(ps_roi_align_boxes, "ps_roi_align", "ps_roi_align", POOLED ", int sampling_ratio=-1)"),
    FUNCTION(ps_roi_pool_boxes, "ps_roi_pool", "ps_roi_pool", POOLED ")"),
    {0},
};
#undef FUNCTION
#undef POOLED

#define POOL_LAYER(title, more, shown, operator, arguments)                                        \
    {                                                                                              \
        .name = title, .hyper = "output_size, spatial_scale" more,                                 \
        .repr = "output_size=, spatial_scale=" shown, .forward = "input, rois",                    \
        .call = operator"_boxes(input, rois, output_size, spatial_scale" arguments ")"             \
    }
const fxs_module_row fxs_modules_boxes[] = {
    POOL_LAYER("RoIAlign", ", sampling_ratio, aligned=False",
               ", sampling_ratio=, aligned=", "roi_align", ", sampling_ratio, aligned"),
    POOL_LAYER("RoIPool", "", "", "roi_pool", ""),
    POOL_LAYER("PSRoIAlign", ", sampling_ratio", ", sampling_ratio=", "ps_roi_align",
               ", sampling_ratio"),
    POOL_LAYER("PSRoIPool", "", "", "ps_roi_pool", ""),
    {0},
};
#undef POOL_LAYER
