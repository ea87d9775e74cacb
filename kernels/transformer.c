/* transformer.c: the layers nn.Transformer is made of, where a graph calls them whole. print(model)
 * shows their parts, but not the number of heads, the activation, or the order of norm and
 * attention: so shapes follow, values do not. */
#include "kernels/families.h"
#include "kernels/work.h"

enum { TARGET, MEMORY, WEIGHT };

/* (target, memory, one of the layer's weights): the result is like the target, which a
 * normalisation made contiguous.
 */
static fxs_status infer_transformer(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, TARGET), *m = fxs_arg_tensor(c, MEMORY);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, t, FXS_TAKES_FLOATS));
    if (t->ndim != 2 && t->ndim != 3)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected an input of 2 or 3 dimensions, but its shape is %s",
                          fxs_sizes_text(t, a));
    const fxs_tensor *w = fxs_arg_tensor(c, WEIGHT);
    if (w && w->ndim == 1 && w->sizes[0] != t->sizes[t->ndim - 1])
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "expected an embedding of %lld, but the input has shape %s",
                          (long long)w->sizes[0], fxs_sizes_text(t, a));
    if (m && (m->ndim != t->ndim || m->sizes[m->ndim - 1] != t->sizes[t->ndim - 1]))
        return FXS_REFUSE(c, FXS_ESHAPE, "expected a memory like the target, but got %s and %s",
                          fxs_sizes_text(m, a), fxs_sizes_text(t, b));
    return fxs_out_new(c, t->dtype, t->ndim, t->sizes, NULL);
}

static fxs_status run_transformer(fxs_call *c) {
    return FXS_REFUSE(c, FXS_EUNKNOWN,
                      "values of transformer layers can't be computed: their number of heads and "
                      "activation are not in "
                      "print(model); shapes can (--meta)");
}

const fxs_op fxs_ops_transformer[] = {
    {"transformer", "(Tensor target, Tensor? memory=None, Tensor? weight=None) -> Tensor", NULL,
     infer_transformer, run_transformer, NULL, FXS_OP_NO_INPLACE},
    {0},
};

#define HYPER                                                                                      \
    "d_model=None, nhead=None, dim_feedforward=2048, dropout=0.1, activation=None, "               \
    "layer_norm_eps=1e-05, "                                                                       \
    "batch_first=False, norm_first=False"
#define SRC "src, src_mask?, src_key_padding_mask?, is_causal?"
#define TGT "tgt, memory, tgt_mask?, memory_mask?, tgt_key_padding_mask?, memory_key_padding_mask?"
#define ATTENTION "MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first)"
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
     .call = "transformer(src, None, norm1.weight)",
     .forward = SRC,
     .repr = "",
     .children = "self_attn = " ATTENTION "; " FEED_FORWARD
                 "dropout1 = Dropout(dropout); dropout2 = Dropout(dropout)"},
    {.name = "TransformerDecoderLayer",
     .hyper = HYPER,
     .call = "transformer(tgt, memory, norm1.weight)",
     .forward = TGT,
     .repr = "",
     .children = "self_attn = " ATTENTION "; multihead_attn = " ATTENTION "; " FEED_FORWARD
                 "norm3 = " NORM "; dropout1 = Dropout(dropout); dropout2 = Dropout(dropout); "
                 "dropout3 = Dropout(dropout)"},
    {.name = "TransformerEncoder",
     .hyper = "encoder_layer=None, num_layers=None, norm=None, enable_nested_tensor=True, "
              "mask_check=True",
     .call = "transformer(src, None, layers.0.norm1.weight)",
     .forward = "src, mask?, src_key_padding_mask?, is_causal?",
     .repr = "",
     .children = "layers[num_layers] = encoder_layer; norm = norm"},
    {.name = "TransformerDecoder",
     .hyper = "decoder_layer=None, num_layers=None, norm=None",
     .call = "transformer(tgt, memory, layers.0.norm1.weight)",
     .forward = TGT,
     .repr = "",
     .children = "layers[num_layers] = decoder_layer; norm = norm"},
    {.name = "Transformer",
     .hyper = "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, "
              "dim_feedforward=2048, dropout=0.1, "
              "activation=None, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05, "
              "batch_first=False, "
              "norm_first=False",
     .call = "transformer(tgt, src, encoder.layers.0.norm1.weight)",
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
#undef ATTENTION
#undef NORM
#undef FEED_FORWARD
#undef PART
