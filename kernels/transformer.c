/* transformer.c: the layers nn.Transformer is made of: encoder, decoder, each as one layer or as a
 * stack of them, and both together. They are composed of multi-head attention, linear layers and
 * normalisations. print(model) does not show the number of heads: without it shapes follow, values
 * do not. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

/* What all layers of a stack have in common. */
typedef struct style {
    fxs_value heads, activation, eps, dropout;
    bool batch_first, norm_first, train;
} style;

enum { ATTENTION = 4, ENCODER = 12, DECODER = 18, HEADS_UNKNOWN = 1 };

/* Where the style stands among the arguments. */
static style style_at(const fxs_call *c, int i) {
    return (style){.heads = c->arg[i],
                   .activation = c->arg[i + 1],
                   .eps = c->arg[i + 2],
                   .batch_first = fxs_arg_bool(c, i + 3),
                   .norm_first = fxs_arg_bool(c, i + 4),
                   .dropout = c->arg[i + 5],
                   .train = fxs_arg_bool(c, i + 6)};
}
#define STYLE                                                                                      \
    "int? nhead, any activation, float? layer_norm_eps, bool? batch_first, bool? norm_first, "     \
    "float? dropout, bool training"

static fxs_tensor *drop(fxs_compose *k, const style *s, fxs_tensor *x) {
    if (!s->train || s->dropout.tag == FXS_V_NONE)
        return x;
    return FXS_DO(k, "dropout", fxs_t(x), s->dropout, fxs_bool(true));
}

static fxs_tensor *normalise(fxs_compose *k, fxs_value eps, fxs_tensor *x, fxs_tensor *weight,
                             fxs_tensor *bias) {
    if (!weight) {
        fxs_stop(k, FXS_EUNKNOWN, "the weights of a normalisation are not there");
        return NULL;
    }
    eps = eps.tag == FXS_V_NONE ? fxs_float(1e-5) : eps;
    return FXS_DO(k, "layer_norm", fxs_t(x), fxs_ints(k, 1, weight->sizes), fxs_t(weight),
                  fxs_t(bias), eps);
}

static fxs_tensor *add(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    return FXS_DO(k, "add", fxs_t(a), fxs_t(b));
}

/* w: in_proj_weight in_proj_bias out_proj.weight out_proj.bias */
static fxs_tensor *attend(fxs_compose *k, const style *s, fxs_tensor *x, fxs_tensor *memory,
                          fxs_tensor *mask, fxs_tensor *padding, fxs_tensor *const *w) {
    fxs_value heads = s->heads, none = fxs_none();
    if (heads.tag == FXS_V_NONE)
        heads = fxs_int(HEADS_UNKNOWN);
    FXS_DO(k, "multi_head_attention", fxs_t(x), fxs_t(memory), fxs_t(memory), fxs_t(padding),
           fxs_bool(false), fxs_t(mask), none, heads, fxs_bool(s->batch_first),
           s->dropout.tag == FXS_V_NONE ? fxs_float(0) : s->dropout, fxs_bool(s->train),
           fxs_t(w[0]), fxs_t(w[1]), none, none, none, fxs_t(w[2]), fxs_t(w[3]));
    return drop(k, s, fxs_do_item(k, 0));
}

/* The name of an activation: a word, or a function whose name ends with it. */
static const char *activation_of(fxs_compose *k, const style *s) {
    const char *name = s->activation.tag == FXS_V_NONE ? "relu" : fxs_value_text(&s->activation);
    const char *dot = name ? strrchr(name, '.') : NULL;
    name = dot ? dot + 1 : name;
    if (name && (strcmp(name, "relu") == 0 || strcmp(name, "gelu") == 0))
        return name;
    fxs_stop(k, FXS_EUNKNOWN, "activation should be relu or gelu, not %s", name ? name : "a layer");
    return NULL;
}

/* w: linear1.weight linear1.bias linear2.weight linear2.bias */
static fxs_tensor *feed_forward(fxs_compose *k, const style *s, fxs_tensor *x,
                                fxs_tensor *const *w) {
    const char *activation = activation_of(k, s);
    if (!w[0] || !w[2])
        fxs_stop(k, FXS_EUNKNOWN, "the weights of linear1 and linear2 are not there");
    if (!activation || k->status != FXS_OK)
        return NULL;
    x = FXS_DO(k, "linear", fxs_t(x), fxs_t(w[0]), fxs_t(w[1]));
    x = drop(k, s, FXS_DO(k, activation, fxs_t(x)));
    x = FXS_DO(k, "linear", fxs_t(x), fxs_t(w[2]), fxs_t(w[3]));
    return drop(k, s, x);
}

/* One residual step: x + f(norm(x)), or norm(x + f(x)). `part` is f of the next step. */
typedef fxs_tensor *part_fn(fxs_compose *k, const style *s, fxs_tensor *x, const void *user);

static fxs_tensor *residual(fxs_compose *k, const style *s, fxs_tensor *x, fxs_tensor *const *norm,
                            part_fn *part, const void *user) {
    if (s->norm_first)
        return add(k, x, part(k, s, normalise(k, s->eps, x, norm[0], norm[1]), user));
    return normalise(k, s->eps, add(k, x, part(k, s, x, user)), norm[0], norm[1]);
}

typedef struct attention {
    fxs_tensor *memory, *mask, *padding; /* memory NULL: the target itself */
    fxs_tensor *const *w;
} attention;

static fxs_tensor *attention_part(fxs_compose *k, const style *s, fxs_tensor *x, const void *user) {
    const attention *a = user;
    return attend(k, s, x, a->memory ? a->memory : x, a->mask, a->padding, a->w);
}

static fxs_tensor *forward_part(fxs_compose *k, const style *s, fxs_tensor *x, const void *user) {
    return feed_forward(k, s, x, user);
}

/* w: self_attn (4), linear1 and linear2 (4), norm1, norm2 */
static fxs_tensor *encode(fxs_compose *k, const style *s, fxs_tensor *x, fxs_tensor *mask,
                          fxs_tensor *padding, fxs_tensor *const *w) {
    attention own = {.mask = mask, .padding = padding, .w = w};
    x = residual(k, s, x, w + 8, attention_part, &own);
    return residual(k, s, x, w + 10, forward_part, w + ATTENTION);
}

/* w: self_attn (4), multihead_attn (4), linear1 and linear2 (4), norm1, norm2, norm3 */
static fxs_tensor *decode(fxs_compose *k, const style *s, fxs_tensor *x, const attention *own,
                          const attention *other, fxs_tensor *const *w) {
    attention a = *own, b = *other;
    a.w = w, b.w = w + ATTENTION;
    x = residual(k, s, x, w + 12, attention_part, &a);
    x = residual(k, s, x, w + 14, attention_part, &b);
    return residual(k, s, x, w + 16, forward_part, w + 2 * ATTENTION);
}

/* ---- checks
 * -------------------------------------------------------------------------------------------------
 */

static void check_input(fxs_compose *k, const fxs_tensor *x, const fxs_tensor *memory) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (!fxs_is_floating(x->dtype))
        fxs_stop(k, FXS_ETYPE, "not implemented for type %s", fxs_dtype_name(x->dtype));
    if (x->ndim != 2 && x->ndim != 3)
        fxs_stop(k, FXS_ESHAPE, "expected an input of 2 or 3 dimensions, but its shape is %s",
                 fxs_sizes_text(x, a));
    if (memory && x->ndim && /* fxs_stop only notes what is wrong: this is reached all the same */
        (memory->ndim != x->ndim || memory->sizes[memory->ndim - 1] != x->sizes[x->ndim - 1]))
        fxs_stop(k, FXS_ESHAPE, "expected a memory like the target, but got %s and %s",
                 fxs_sizes_text(memory, a), fxs_sizes_text(x, b));
}

/* The tensors of layer i, of `each` tensors a layer. */
static fxs_tensor *const *weights_of(fxs_compose *k, int arg, int each, int i, fxs_tensor **w) {
    for (int j = 0; j < each; j++)
        w[j] = fxs_arg_tensor_at(k->call, arg, i * each + j);
    return w;
}

static int layers_in(fxs_compose *k, int arg, int each) {
    int n = fxs_arg_len(k->call, arg);
    if (n % each)
        fxs_stop(k, FXS_EINVAL, "expected %d tensors a layer, but there are %d", each, n);
    return n / each;
}

/* ---- the operators
 * ------------------------------------------------------------------------------------------ */

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

static fxs_tensor *encode_all(fxs_compose *k, const style *s, fxs_tensor *x, fxs_tensor *mask,
                              fxs_tensor *padding, int at) {
    fxs_tensor *w[ENCODER];
    for (int i = 0, n = layers_in(k, at, ENCODER); i < n && k->status == FXS_OK; i++)
        x = encode(k, s, x, mask, padding, weights_of(k, at, ENCODER, i, w));
    fxs_tensor *norm = arg(k, at + 1);
    return norm ? normalise(k, k->call->arg[at + 3], x, norm, arg(k, at + 2)) : x;
}

static fxs_tensor *decode_all(fxs_compose *k, const style *s, fxs_tensor *x, const attention *own,
                              const attention *other, int at) {
    fxs_tensor *w[DECODER];
    for (int i = 0, n = layers_in(k, at, DECODER); i < n && k->status == FXS_OK; i++)
        x = decode(k, s, x, own, other, weights_of(k, at, DECODER, i, w));
    fxs_tensor *norm = arg(k, at + 1);
    return norm ? normalise(k, k->call->arg[at + 3], x, norm, arg(k, at + 2)) : x;
}

/* (src, mask, padding, style..., layers, norm weight, bias, eps) */
static void make_encoder(fxs_compose *k) {
    style s = style_at(k->call, 3);
    check_input(k, arg(k, 0), NULL);
    if (k->status == FXS_OK)
        fxs_give(k, encode_all(k, &s, arg(k, 0), arg(k, 1), arg(k, 2), 10));
}

/* (tgt, memory, tgt_mask, memory_mask, tgt_padding, memory_padding, style..., layers, norm...) */
static void make_decoder(fxs_compose *k) {
    style s = style_at(k->call, 6);
    attention own = {.mask = arg(k, 2), .padding = arg(k, 4)},
              other = {.memory = arg(k, 1), .mask = arg(k, 3), .padding = arg(k, 5)};
    check_input(k, arg(k, 0), arg(k, 1));
    if (k->status == FXS_OK)
        fxs_give(k, decode_all(k, &s, arg(k, 0), &own, &other, 13));
}

/* (src, tgt, src_mask, tgt_mask, memory_mask, src_, tgt_, memory_padding, style..., encoder's
 * layers, norm..., decoder's layers, norm...) */
static void make_transformer(fxs_compose *k) {
    style s = style_at(k->call, 8);
    check_input(k, arg(k, 0), NULL);
    check_input(k, arg(k, 1), arg(k, 0));
    if (k->status == FXS_OK && arg(k, 0)->ndim == 3) {
        int batch = s.batch_first ? 0 : 1;
        if (arg(k, 0)->sizes[batch] != arg(k, 1)->sizes[batch])
            fxs_stop(k, FXS_ESHAPE, "the batch number of src and tgt must be equal");
    }
    if (k->status != FXS_OK)
        return;
    fxs_tensor *memory = encode_all(k, &s, arg(k, 0), arg(k, 2), arg(k, 5), 15);
    attention own = {.mask = arg(k, 3), .padding = arg(k, 6)},
              other = {.memory = memory, .mask = arg(k, 4), .padding = arg(k, 7)};
    if (k->status == FXS_OK)
        fxs_give(k, decode_all(k, &s, arg(k, 1), &own, &other, 19));
}

FXS_COMPOSED(encoder)
FXS_COMPOSED(decoder)
FXS_COMPOSED(transformer)

/* Values need the number of heads. */
static fxs_status with_heads(fxs_call *c, int at, fxs_kernel_fn *run) {
    if (!fxs_arg_is_none(c, at))
        return run(c);
    return FXS_REFUSE(c, FXS_EUNKNOWN,
                      "values of transformer layers can't be computed: their number of heads is "
                      "not in print(model); put a line d_model=..., nhead=... into the layer, or "
                      "infer shapes alone (--meta)");
}
static fxs_status run_known_encoder(fxs_call *c) { return with_heads(c, 3, run_encoder); }
static fxs_status run_known_decoder(fxs_call *c) { return with_heads(c, 6, run_decoder); }
static fxs_status run_known_transformer(fxs_call *c) { return with_heads(c, 8, run_transformer); }

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

#define LAYERS(name)                                                                               \
    "Tensor[] " name "layers, Tensor? " name "norm_weight=None, Tensor? " name                     \
    "norm_bias=None, float? " name "norm_eps=None"
#define FLAGS (FXS_OP_RANDOM | FXS_OP_NO_INPLACE)

const fxs_op fxs_ops_transformer[] = {
    {"transformer_encoder",
     "(Tensor src, Tensor? mask, Tensor? src_key_padding_mask, " STYLE
     ", " LAYERS("") ") -> Tensor",
     NULL, infer_encoder, run_known_encoder, cost_encoder, FLAGS},
    {"transformer_decoder",
     "(Tensor tgt, Tensor memory, Tensor? tgt_mask, Tensor? memory_mask, Tensor? "
     "tgt_key_padding_mask, Tensor? memory_key_padding_mask, " STYLE ", " LAYERS("") ") -> Tensor",
     NULL, infer_decoder, run_known_decoder, cost_decoder, FLAGS},
    {"transformer",
     "(Tensor src, Tensor tgt, Tensor? src_mask, Tensor? tgt_mask, Tensor? memory_mask, Tensor? "
     "src_key_padding_mask, Tensor? tgt_key_padding_mask, Tensor? memory_key_padding_mask, " STYLE
     ", " LAYERS("encoder_") ", " LAYERS("decoder_") ") -> Tensor",
     NULL, infer_transformer, run_known_transformer, cost_transformer, FLAGS},
    {0},
};

#define HYPER                                                                                      \
    "d_model=None, nhead=None, dim_feedforward=2048, dropout=0.1, activation=None, "               \
    "layer_norm_eps=1e-05, batch_first=False, norm_first=False"
#define SELF                                                                                       \
    "self_attn.in_proj_weight self_attn.in_proj_bias self_attn.out_proj.weight "                   \
    "self_attn.out_proj.bias "
#define OTHER                                                                                      \
    "multihead_attn.in_proj_weight multihead_attn.in_proj_bias multihead_attn.out_proj.weight "    \
    "multihead_attn.out_proj.bias "
#define FORWARD "linear1.weight linear1.bias linear2.weight linear2.bias "
#define NORMS "norm1.weight norm1.bias norm2.weight norm2.bias"
#define ENCODER_STATE "{" SELF FORWARD NORMS "}"
#define DECODER_STATE "{" SELF OTHER FORWARD NORMS " norm3.weight norm3.bias}"
#define OWN_STYLE "nhead, activation, layer_norm_eps, batch_first, norm_first, dropout, training"
#define CHILD_STYLE(p)                                                                             \
    p "nhead, " p "activation, " p "layer_norm_eps, " p "batch_first, " p "norm_first, " p         \
      "dropout, training"
#define TGT_NAMES                                                                                  \
    "tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask"
#define SRC "src, src_mask?, src_key_padding_mask?, is_causal?"
#define TGT "tgt, memory, tgt_mask?, memory_mask?, tgt_key_padding_mask?, memory_key_padding_mask?"
#define ATTENTION_LAYER                                                                            \
    "MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first)"
#define NORM "LayerNorm(d_model, eps=layer_norm_eps)"
#define FEED_FORWARD                                                                               \
    "linear1 = Linear(d_model, dim_feedforward); dropout = Dropout(dropout); "                     \
    "linear2 = Linear(dim_feedforward, d_model); norm1 = " NORM "; norm2 = " NORM "; "
/* The layers that a Transformer makes. */
#define PART(kind)                                                                                 \
    "Transformer" kind "Layer(d_model, nhead, dim_feedforward, dropout, activation, "              \
    "layer_norm_eps, batch_first, norm_first)"

const fxs_module_row fxs_modules_transformer[] = {
    {.name = "TransformerEncoderLayer",
     .hyper = HYPER,
     .call = "transformer_encoder(src, src_mask, src_key_padding_mask, " OWN_STYLE
             ", " ENCODER_STATE ")",
     .forward = SRC,
     .repr = "",
     .children = "self_attn = " ATTENTION_LAYER "; " FEED_FORWARD
                 "dropout1 = Dropout(dropout); dropout2 = Dropout(dropout)"},
    {.name = "TransformerDecoderLayer",
     .hyper = HYPER,
     .call = "transformer_decoder(" TGT_NAMES ", " OWN_STYLE ", " DECODER_STATE ")",
     .forward = TGT,
     .repr = "",
     .children =
         "self_attn = " ATTENTION_LAYER "; multihead_attn = " ATTENTION_LAYER "; " FEED_FORWARD
         "norm3 = " NORM "; dropout1 = Dropout(dropout); dropout2 = Dropout(dropout); "
         "dropout3 = Dropout(dropout)"},
    {.name = "TransformerEncoder",
     .hyper = "encoder_layer=None, num_layers=None, norm=None, enable_nested_tensor=True, "
              "mask_check=True",
     .call = "transformer_encoder(src, mask, src_key_padding_mask, " CHILD_STYLE(
         "layers.0.") ", layers.#" ENCODER_STATE ", norm.weight, norm.bias, norm.eps)",
     .forward = "src, mask?, src_key_padding_mask?, is_causal?",
     .repr = "",
     .children = "layers[num_layers] = encoder_layer; norm = norm"},
    {.name = "TransformerDecoder",
     .hyper = "decoder_layer=None, num_layers=None, norm=None",
     .call = "transformer_decoder(" TGT_NAMES ", " CHILD_STYLE(
         "layers.0.") ", layers.#" DECODER_STATE ", norm.weight, norm.bias, norm.eps)",
     .forward = TGT,
     .repr = "",
     .children = "layers[num_layers] = decoder_layer; norm = norm"},
    {.name = "Transformer",
     .hyper = "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, "
              "dim_feedforward=2048, dropout=0.1, "
              "activation=None, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05, "
              "batch_first=False, "
              "norm_first=False",
     .call = "transformer(src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, "
             "tgt_key_padding_mask, memory_key_padding_mask, " CHILD_STYLE(
                 "encoder.layers.0.") ", encoder.layers.#" ENCODER_STATE
                                      ", encoder.norm.weight, encoder.norm.bias, layer_norm_eps, "
                                      "decoder.layers.#" DECODER_STATE
                                      ", decoder.norm.weight, decoder.norm.bias, layer_norm_eps)",
     .forward = "src, tgt, src_mask?, tgt_mask?, memory_mask?, src_key_padding_mask?, "
                "tgt_key_padding_mask?, memory_key_padding_mask?",
     .repr = "",
     .children = "encoder = TransformerEncoder(" PART(
         "Encoder") ", num_encoder_layers, " NORM "); "
                    "decoder = TransformerDecoder(" PART("Decoder") ", num_decoder_layers, " NORM
                                                                    ")"},
    {0},
};
#undef HYPER
#undef SRC
#undef TGT
#undef ATTENTION_LAYER
#undef NORM
#undef FEED_FORWARD
#undef PART
