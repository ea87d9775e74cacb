/* attention_layer.c: multi-head attention, as the layer and as the function it calls: projections,
 * heads, masks, weights, composed of other operators. What attends itself stands in attention.c;
 * this one also gives the weights. */
#include <math.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/work.h"

/* What the layer and the function have in common, wherever it stands among their arguments. */
typedef struct heads {
    fxs_tensor *query, *key, *value, *padding, *mask;
    fxs_tensor *in_weight, *in_bias, *q_weight, *k_weight, *v_weight, *out_weight, *out_bias;
    fxs_tensor *bias_k, *bias_v;     /* one more place of key and value, after projection */
    fxs_tensor *static_k, *static_v; /* in place of the projections: [B * heads, S, E / heads] */
    bool zero_place;                 /* a last place of zeros, after the split into heads */
    int64_t count, targets, sources, batch,
        width; /* heads; lengths of query and key; width: the embedding */
    double dropout;
    bool need_weights, average, batched;
} heads;

/* Rows i of a third of the joint projection. */
static fxs_tensor *third(fxs_compose *k, fxs_tensor *t, int i, int64_t n) {
    return t ? FXS_DO(k, "narrow", fxs_t(t), fxs_int(0), fxs_int(i * n), fxs_int(n)) : NULL;
}

/* [T, B, .] -> [T, B, E] */
static fxs_tensor *project(fxs_compose *k, const heads *h, fxs_tensor *x, int i) {
    fxs_tensor *own = i == 0 ? h->q_weight : i == 1 ? h->k_weight : h->v_weight;
    fxs_tensor *weight = h->in_weight ? third(k, h->in_weight, i, h->width) : own;
    if (!weight) {
        fxs_stop(k, FXS_EUNKNOWN, "the projections' weights are not there");
        return NULL;
    }
    return FXS_DO(k, "linear", fxs_t(x), fxs_t(weight), fxs_t(third(k, h->in_bias, i, h->width)));
}

/* [T, B, E] -> [B * heads, T, E / heads] */
static fxs_tensor *split_heads(fxs_compose *k, const heads *h, fxs_tensor *x) {
    x = FXS_DO(k, "contiguous", fxs_t(x));
    x = FXS_DO(k, "view", fxs_t(x),
               FXS_INTS(k, x ? x->sizes[0] : 0, h->batch * h->count, h->width / h->count));
    return FXS_DO(k, "transpose", fxs_t(x), fxs_int(0), fxs_int(1));
}

static fxs_tensor *join_along(fxs_compose *k, fxs_tensor *a, fxs_tensor *b, int dim) {
    return FXS_DO(k, "cat", fxs_tensors(k, 2, (fxs_tensor *[]){a, b}), fxs_int(dim));
}

/* bias [1, 1, E] behind x [S, B, E] */
static fxs_tensor *with_bias(fxs_compose *k, const heads *h, fxs_tensor *x, fxs_tensor *bias) {
    if (!bias)
        return x;
    return join_along(k, x, FXS_DO(k, "repeat", fxs_t(bias), FXS_INTS(k, 1, h->batch, 1)), 0);
}

/* A place of zeros behind x [B * heads, S, E / heads] */
static fxs_tensor *with_zeros(fxs_compose *k, fxs_tensor *x) {
    if (!x || k->status != FXS_OK)
        return NULL;
    fxs_value sizes = FXS_INTS(k, x->sizes[0], 1, x->sizes[2]);
    return join_along(k, x, FXS_DO(k, "new_zeros", fxs_t(x), sizes), 1);
}

/* One more place that no mask hides. */
static void widen_masks(fxs_compose *k, heads *h) {
    if (h->mask)
        h->mask = FXS_DO(k, "pad", fxs_t(h->mask), FXS_INTS(k, 0, 1));
    if (h->padding)
        h->padding = FXS_DO(k, "pad", fxs_t(h->padding), FXS_INTS(k, 0, 1));
    h->sources++;
}

static void project_sources(fxs_compose *k, heads *h, fxs_tensor **key, fxs_tensor **value) {
    if ((h->bias_k || h->bias_v) && (!h->bias_k || !h->bias_v || h->static_k || h->static_v))
        fxs_stop(k, FXS_EINVAL, "bias_k and bias_v come together, and without static_k, static_v");
    *key = with_bias(k, h, project(k, h, h->key, 1), h->bias_k);
    *value = with_bias(k, h, project(k, h, h->value, 2), h->bias_v);
    if (h->bias_k)
        widen_masks(k, h);
    *key = h->static_k ? h->static_k : split_heads(k, h, *key);
    *value = h->static_v ? h->static_v : split_heads(k, h, *value);
    if (h->zero_place) {
        *key = with_zeros(k, *key);
        *value = with_zeros(k, *value);
        widen_masks(k, h);
    }
    if (k->status == FXS_OK)
        h->sources = (*key)->sizes[1];
}

/* A mask of bools hides, one of numbers is added, and does not widen the scores. */
static fxs_tensor *hide(fxs_compose *k, fxs_tensor *scores, fxs_tensor *mask) {
    if (!mask || k->status != FXS_OK)
        return scores;
    if (mask->dtype == FXS_UINT8)
        mask = FXS_DO(k, "to", fxs_t(mask), fxs_of_dtype(FXS_BOOL));
    if (mask && scores && fxs_promote(mask->dtype, scores->dtype) != scores->dtype)
        mask = FXS_DO(k, "to", fxs_t(mask), fxs_of_dtype(scores->dtype));
    fxs_last(k, scores);
    if (mask && mask->dtype == FXS_BOOL)
        return FXS_DO(k, "masked_fill", fxs_t(scores), fxs_t(mask), fxs_float(-INFINITY));
    return FXS_DO(k, "add", fxs_t(scores), fxs_t(mask));
}

static fxs_tensor *hide_padding(fxs_compose *k, const heads *h, fxs_tensor *scores) {
    fxs_tensor *m = h->padding;
    if (!m)
        return scores;
    m = FXS_DO(k, "view", fxs_t(m), FXS_INTS(k, h->batch, 1, 1, h->sources));
    m = FXS_DO(k, "expand", fxs_t(m), FXS_INTS(k, h->batch, h->count, 1, h->sources));
    m = FXS_DO(k, "reshape", fxs_t(m), FXS_INTS(k, h->batch * h->count, 1, h->sources));
    return hide(k, scores, m);
}

static void give_weights(fxs_compose *k, const heads *h, fxs_tensor *scores) {
    scores =
        FXS_DO(k, "view", fxs_t(scores), FXS_INTS(k, h->batch, h->count, h->targets, h->sources));
    if (h->average)
        scores = FXS_DO(k, "mean", fxs_t(scores), fxs_int(1));
    if (!h->batched)
        scores = FXS_DO(k, "squeeze", fxs_t(scores), fxs_int(0));
    fxs_give(k, scores);
}

/* query, key and value have time in front: [T, B, E]. The result too. What a step is the last to
 * need makes room for what follows: scores are the largest thing of a network. */
static fxs_tensor *attend(fxs_compose *k, heads *h, fxs_tensor **weights) {
    fxs_tensor *q = split_heads(k, h, project(k, h, h->query, 0)), *key, *v;
    project_sources(k, h, &key, &v);
    fxs_last(k, q);
    q = FXS_DO(k, "mul", fxs_t(q), fxs_float(1 / sqrt((double)(h->width / h->count))));
    key = FXS_DO(k, "transpose", fxs_t(key), fxs_int(-2), fxs_int(-1));
    fxs_last(k, q);
    fxs_last(k, key);
    fxs_tensor *scores = FXS_DO(k, "bmm", fxs_t(q), fxs_t(key)); /* [B * heads, T, S] */
    scores = hide_padding(k, h, hide(k, scores, h->mask));
    fxs_last(k, scores);
    scores = FXS_DO(k, "softmax", fxs_t(scores), fxs_int(-1));
    if (h->dropout > 0) {
        fxs_last(k, scores);
        scores = FXS_DO(k, "dropout", fxs_t(scores), fxs_float(h->dropout), fxs_bool(true));
    }
    *weights = h->need_weights ? scores : NULL;
    fxs_last(k, v);
    fxs_last(k, *weights ? NULL : scores);
    fxs_tensor *x = FXS_DO(k, "bmm", fxs_t(scores), fxs_t(v));
    x = FXS_DO(k, "transpose", fxs_t(x), fxs_int(0), fxs_int(1));
    fxs_last(k, x);
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, h->targets * h->batch, h->width));
    fxs_last(k, x);
    x = FXS_DO(k, "linear", fxs_t(x), fxs_t(h->out_weight), fxs_t(h->out_bias));
    return FXS_DO(k, "view", fxs_t(x), FXS_INTS(k, h->targets, h->batch, h->width));
}

static void check_shapes(fxs_compose *k, heads *h) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    const fxs_tensor *q = h->query, *key = h->key;
    if (k->status != FXS_OK)
        return;
    h->batched = q->ndim == 3;
    if ((q->ndim != 2 && q->ndim != 3) || key->ndim != q->ndim || h->value->ndim != q->ndim)
        fxs_stop(k, FXS_ESHAPE,
                 "expected query and key of 3 dimensions (2 without a batch), but got %s and %s",
                 fxs_sizes_text(q, a), fxs_sizes_text(key, b));
    else if (h->count < 1 || q->sizes[q->ndim - 1] % h->count)
        fxs_stop(k, FXS_EINVAL, "an embedding of %lld is no multiple of %lld heads",
                 (long long)q->sizes[q->ndim - 1], (long long)h->count);
}

static void check_masks(fxs_compose *k, const heads *h) {
    char a[FXS_SIZES_TEXT];
    const fxs_tensor *m = h->mask, *p = h->padding;
    int64_t matrices = h->batch * h->count;
    if (p && !fxs_is_floating(p->dtype) && p->dtype != FXS_BOOL)
        fxs_stop(k, FXS_ETYPE, "key_padding_mask must be of floats or bool, not torch.%s",
                 fxs_dtype_name(p->dtype));
    if (m && !fxs_is_floating(m->dtype) && m->dtype != FXS_BOOL && m->dtype != FXS_UINT8)
        fxs_stop(k, FXS_ETYPE, "attn_mask must be of floats, uint8 or bool, not torch.%s",
                 fxs_dtype_name(m->dtype));
    if (m && (m->ndim < 2 || m->ndim > 3 || m->sizes[m->ndim - 2] != h->targets ||
              m->sizes[m->ndim - 1] != h->sources || (m->ndim == 3 && m->sizes[0] != matrices)))
        fxs_stop(k, FXS_ESHAPE,
                 "attn_mask must have shape [%lld, %lld], or three dimensions and %lld of these, "
                 "but its shape is %s",
                 (long long)h->targets, (long long)h->sources, (long long)matrices,
                 fxs_sizes_text(m, a));
    if (p && (p->ndim != 1 + h->batched || p->sizes[p->ndim - 1] != h->sources ||
              (h->batched && p->sizes[0] != h->batch)))
        fxs_stop(k, FXS_ESHAPE,
                 "key_padding_mask must be [%lld, %lld], without the first when there is no batch, "
                 "but its shape is %s",
                 (long long)h->batch, (long long)h->sources, fxs_sizes_text(p, a));
}

static void lengths(fxs_compose *k, heads *h) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (k->status != FXS_OK)
        return;
    h->targets = h->query->sizes[0], h->batch = h->query->sizes[1], h->width = h->query->sizes[2];
    h->sources = h->key->sizes[0];
    if (h->key->sizes[1] != h->batch || h->value->sizes[1] != h->batch ||
        h->value->sizes[0] != h->sources)
        fxs_stop(k, FXS_ESHAPE,
                 "query, key and value must agree in batch and length, but got %s and %s",
                 fxs_sizes_text(h->query, a), fxs_sizes_text(h->key, b));
    else if (!h->out_weight)
        fxs_stop(k, FXS_EUNKNOWN, "out_proj.weight is not there");
    else
        check_masks(k, h);
}

static fxs_tensor *swap(fxs_compose *k, fxs_tensor *t) {
    return FXS_DO(k, "transpose", fxs_t(t), fxs_int(0), fxs_int(1));
}

/* From what either form has, with the batch in front when batch_first. */
static void make(fxs_compose *k, heads *h, bool batch_first) {
    fxs_tensor *weights = NULL;
    check_shapes(k, h);
    if (k->status != FXS_OK)
        return;
    if (!h->batched) {
        h->query = FXS_DO(k, "unsqueeze", fxs_t(h->query), fxs_int(1));
        h->key = FXS_DO(k, "unsqueeze", fxs_t(h->key), fxs_int(1));
        h->value = FXS_DO(k, "unsqueeze", fxs_t(h->value), fxs_int(1));
    } else if (batch_first) {
        h->query = swap(k, h->query), h->key = swap(k, h->key), h->value = swap(k, h->value);
    }
    lengths(k, h);
    fxs_tensor *x = attend(k, h, &weights);
    if (!h->batched)
        x = FXS_DO(k, "squeeze", fxs_t(x), fxs_int(1));
    else if (batch_first)
        x = swap(k, x);
    fxs_give(k, x);
    if (h->need_weights)
        give_weights(k, h, weights);
}

static bool yes_or_none(const fxs_call *c, int i) {
    return fxs_arg_is_none(c, i) || fxs_arg_bool(c, i);
}

/* ---- the layer
 * ------------------------------------------------------------------------------------------- */

enum {
    QUERY,
    KEY,
    VALUE,
    PADDING,
    NEED_WEIGHTS,
    MASK,
    AVERAGE,
    HEADS,
    BATCH_FIRST,
    DROPOUT,
    TRAINING,
    IN_WEIGHT,
    IN_BIAS,
    Q_WEIGHT,
    K_WEIGHT,
    V_WEIGHT,
    OUT_WEIGHT,
    OUT_BIAS,
    BIAS_K,
    ZERO_ATTENTION,
    BIAS_V
};

/* print(model) shows neither the number of heads nor batch_first. Shapes do not depend on the
 * first, but for weights that are not averaged; and batch_first is taken for true, as torchvision
 * has it. */
static void make_layer(fxs_compose *k) {
    const fxs_call *c = k->call;
    heads h = {.query = fxs_arg_tensor(c, QUERY),
               .key = fxs_arg_tensor(c, KEY),
               .value = fxs_arg_tensor(c, VALUE),
               .padding = fxs_arg_tensor(c, PADDING),
               .mask = fxs_arg_tensor(c, MASK),
               .in_weight = fxs_arg_tensor(c, IN_WEIGHT),
               .in_bias = fxs_arg_tensor(c, IN_BIAS),
               .q_weight = fxs_arg_tensor(c, Q_WEIGHT),
               .k_weight = fxs_arg_tensor(c, K_WEIGHT),
               .v_weight = fxs_arg_tensor(c, V_WEIGHT),
               .out_weight = fxs_arg_tensor(c, OUT_WEIGHT),
               .out_bias = fxs_arg_tensor(c, OUT_BIAS),
               .count = fxs_arg_is_none(c, HEADS) ? 1 : fxs_arg_int(c, HEADS),
               .dropout = fxs_arg_bool(c, TRAINING) ? fxs_arg_float(c, DROPOUT) : 0,
               .need_weights = yes_or_none(c, NEED_WEIGHTS),
               .average = yes_or_none(c, AVERAGE)};
    h.bias_k = fxs_arg_tensor(c, BIAS_K), h.bias_v = fxs_arg_tensor(c, BIAS_V);
    h.zero_place = fxs_arg_bool(c, ZERO_ATTENTION);
    if (h.need_weights && !h.average && fxs_arg_is_none(c, HEADS))
        fxs_stop(k, FXS_EUNKNOWN,
                 "the shape of unaveraged weights needs num_heads, which is not known");
    make(k, &h, yes_or_none(c, BATCH_FIRST));
}

FXS_COMPOSED(layer)

/* Without weights the second item is None. */
static fxs_status infer_mha(fxs_call *c) {
    fxs_value pair;
    FXS_TRY(infer_layer(c));
    if (c->nout == 2)
        return FXS_OK;
    FXS_TRY(fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, 2, &pair));
    pair.u.seq->items[0] = fxs_of_tensor(fxs_tensor_ref(c->out[0]));
    return fxs_out_value(c, pair);
}

static fxs_status run_mha(fxs_call *c) {
    if (fxs_arg_is_none(c, HEADS))
        return FXS_REFUSE(
            c, FXS_EUNKNOWN,
            "values of a MultiheadAttention layer can't be computed: its number of heads is not in "
            "print(model); shapes can (--meta)");
    return run_layer(c);
}

/* ---- torch.nn.functional.multi_head_attention_forward
 * ------------------------------------------------------ */

enum {
    F_WIDTH = 3,
    F_HEADS,
    F_IN_WEIGHT,
    F_IN_BIAS,
    F_BIAS_K,
    F_BIAS_V,
    F_ZERO,
    F_DROPOUT,
    F_OUT_WEIGHT,
    F_OUT_BIAS,
    F_TRAINING,
    F_PADDING,
    F_NEED_WEIGHTS,
    F_MASK,
    F_SEPARATE,
    F_Q_WEIGHT,
    F_K_WEIGHT,
    F_V_WEIGHT,
    F_STATIC_K,
    F_STATIC_V,
    F_AVERAGE
};

static void make_function(fxs_compose *k) {
    const fxs_call *c = k->call;
    heads h = {.query = fxs_arg_tensor(c, QUERY),
               .key = fxs_arg_tensor(c, KEY),
               .value = fxs_arg_tensor(c, VALUE),
               .padding = fxs_arg_tensor(c, F_PADDING),
               .mask = fxs_arg_tensor(c, F_MASK),
               .in_weight = fxs_arg_bool(c, F_SEPARATE) ? NULL : fxs_arg_tensor(c, F_IN_WEIGHT),
               .in_bias = fxs_arg_tensor(c, F_IN_BIAS),
               .q_weight = fxs_arg_tensor(c, F_Q_WEIGHT),
               .k_weight = fxs_arg_tensor(c, F_K_WEIGHT),
               .v_weight = fxs_arg_tensor(c, F_V_WEIGHT),
               .out_weight = fxs_arg_tensor(c, F_OUT_WEIGHT),
               .out_bias = fxs_arg_tensor(c, F_OUT_BIAS),
               .count = fxs_arg_int(c, F_HEADS),
               .dropout = fxs_arg_bool(c, F_TRAINING) ? fxs_arg_float(c, F_DROPOUT) : 0,
               .need_weights = fxs_arg_bool(c, F_NEED_WEIGHTS),
               .average = fxs_arg_bool(c, F_AVERAGE)};
    h.bias_k = fxs_arg_tensor(c, F_BIAS_K), h.bias_v = fxs_arg_tensor(c, F_BIAS_V);
    h.static_k = fxs_arg_tensor(c, F_STATIC_K), h.static_v = fxs_arg_tensor(c, F_STATIC_V);
    h.zero_place = fxs_arg_bool(c, F_ZERO);
    if (fxs_arg_int(c, F_WIDTH) != h.query->sizes[h.query->ndim ? h.query->ndim - 1 : 0])
        fxs_stop(k, FXS_ESHAPE, "was expecting embedding dimension of %lld, but got %lld",
                 (long long)fxs_arg_int(c, F_WIDTH),
                 (long long)h.query->sizes[h.query->ndim ? h.query->ndim - 1 : 0]);
    make(k, &h, false);
}

FXS_COMPOSED(function)

static fxs_status infer_forward(fxs_call *c) {
    fxs_value pair;
    FXS_TRY(infer_function(c));
    if (c->nout == 2)
        return FXS_OK;
    FXS_TRY(fxs_make_seq(c->ctx, NULL, FXS_V_TUPLE, 2, &pair));
    pair.u.seq->items[0] = fxs_of_tensor(fxs_tensor_ref(c->out[0]));
    return fxs_out_value(c, pair);
}

/* ---- rows
 * -------------------------------------------------------------------------------------------------
 */

/* [rows, columns], uniform within Glorot's bound */
static fxs_status add_projection(fxs_layer *l, const char *name, int64_t rows, int64_t columns) {
    fxs_state w = {.name = name,
                   .dtype = FXS_FLOAT32,
                   .ndim = 2,
                   .sizes = {rows, columns},
                   .init = FXS_INIT_UNIFORM,
                   .bound = sqrt(6 / ((double)rows + (double)columns))};
    return fxs_layer_add(l, &w);
}

static fxs_status add_bias_kv(fxs_layer *l, int64_t e) {
    static const char *const names[] = {"bias_k", "bias_v"};
    for (int i = 0; i < 2; i++) {
        fxs_state b = {.name = names[i],
                       .dtype = FXS_FLOAT32,
                       .ndim = 3,
                       .sizes = {1, 1, e},
                       .init = FXS_INIT_UNIFORM,
                       .bound = sqrt(3 / (double)e)};
        FXS_TRY(fxs_layer_add(l, &b));
    }
    return FXS_OK;
}

/* The layer's own state where its arguments are known; the rest is its child's, out_proj. */
static fxs_status expand_mha(fxs_layer *l) {
    int64_t e = fxs_layer_int(l, "embed_dim", 0);
    int64_t kdim = fxs_layer_int(l, "kdim", e), vdim = fxs_layer_int(l, "vdim", e);
    if (e <= 0 || e > INT64_MAX / 3)
        return FXS_OK;
    if (kdim == e && vdim == e) {
        FXS_TRY(add_projection(l, "in_proj_weight", 3 * e, e));
    } else {
        FXS_TRY(add_projection(l, "q_proj_weight", e, e));
        FXS_TRY(add_projection(l, "k_proj_weight", e, kdim));
        FXS_TRY(add_projection(l, "v_proj_weight", e, vdim));
    }
    fxs_state b = {.name = "in_proj_bias",
                   .dtype = FXS_FLOAT32,
                   .ndim = 1,
                   .sizes = {3 * e},
                   .init = FXS_INIT_ZEROS};
    if (fxs_layer_int(l, "bias", 1))
        FXS_TRY(fxs_layer_add(l, &b));
    return fxs_layer_int(l, "add_bias_kv", 0) ? add_bias_kv(l, e) : FXS_OK;
}

const fxs_op fxs_ops_attention_layer[] = {
    {"multi_head_attention",
     "(Tensor query, Tensor key, Tensor value, Tensor? key_padding_mask=None, bool? "
     "need_weights=None, "
     "Tensor? attn_mask=None, bool? average_attn_weights=None, int? num_heads=None, bool? "
     "batch_first=None, "
     "float dropout=0.0, bool training=False, Tensor? in_proj_weight=None, Tensor? "
     "in_proj_bias=None, "
     "Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, "
     "Tensor? out_proj_weight=None, Tensor? out_proj_bias=None, Tensor? bias_k=None, bool "
     "add_zero_attn=False, Tensor? bias_v=None) -> "
     "(Tensor, Tensor?)",
     NULL, infer_mha, run_mha, cost_layer, FXS_OP_RANDOM | FXS_OP_NO_INPLACE},
    {"multi_head_attention_forward",
     "(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int|bool num_heads, Tensor? "
     "in_proj_weight, "
     "Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, "
     "Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? "
     "key_padding_mask=None, "
     "bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, "
     "Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? "
     "static_k=None, "
     "Tensor? static_v=None, bool average_attn_weights=True) -> (Tensor, Tensor?)",
     "torch.nn.functional.multi_head_attention_forward", infer_forward, run_function, cost_function,
     FXS_OP_RANDOM | FXS_OP_NO_INPLACE},
    {0},
};

const fxs_module_row fxs_modules_attention_layer[] = {
    {.name = "MultiheadAttention",
     .hyper = "embed_dim=None, num_heads=None, dropout=0.0, bias=True, add_bias_kv=False, "
              "add_zero_attn=False, kdim=None, "
              "vdim=None, batch_first=None",
     .call = "multi_head_attention(query, key, value, key_padding_mask, need_weights, attn_mask, "
             "average_attn_weights, "
             "num_heads, batch_first, dropout, training, in_proj_weight, in_proj_bias, "
             "q_proj_weight, k_proj_weight, "
             "v_proj_weight, out_proj.weight, out_proj.bias, bias_k, add_zero_attn, bias_v)",
     .forward =
         "query, key, value, key_padding_mask?, need_weights?, attn_mask?, average_attn_weights?",
     .repr = "",
     .children = "out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias)",
     .expand = expand_mha},
    {0},
};
