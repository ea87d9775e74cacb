/* trace_transformer.c: what the decoder layers of nn.Transformer do with the layers in them, for a
 * trace that goes through one. torch.fx can't go through the encoder's: they look at their input.
 * Called by trace_layer.c, which finds them by their class. */
#include <string.h>

#include "front/trace.h"

enum { TGT, MEMORY, TGT_MASK, MEMORY_MASK, TGT_PADDING, MEMORY_PADDING };

/* The value of a constructor's argument that print(model) does not show; NULL: not given. */
static const fxs_value *hidden(fxs_proxy self, const char *name) {
    const fxs_value *kwargs = &fxs_module_of(self)->kwargs;
    for (size_t i = 0; i < fxs_value_len(kwargs); i++)
        if (strcmp(fxs_value_text(fxs_value_key(kwargs, i)), name) == 0)
            return fxs_value_item(kwargs, i);
    return NULL;
}

static fxs_proxy attention(fxs_proxy self, const char *name, const char *dropout, fxs_proxy query,
                           fxs_proxy key, fxs_proxy mask, fxs_proxy padding) {
    fxs_proxy y = fxs_call(self, name, query, key, key, FXS_KW("attn_mask", mask),
                           FXS_KW("key_padding_mask", padding), FXS_KW("need_weights", fxs_b(0)));
    return fxs_call(self, dropout, fxs_index(y, 0));
}

static fxs_proxy feed_forward(fxs_proxy self, fxs_proxy x) {
    const fxs_value *activation = hidden(self, "activation");
    bool gelu = activation && activation->tag == FXS_V_STR &&
                strcmp(fxs_value_text(activation), "gelu") == 0;
    x = fxs_function(self, gelu ? "F.gelu" : "F.relu", fxs_call(self, "linear1", x));
    return fxs_call(self, "dropout3", fxs_call(self, "linear2", fxs_call(self, "dropout", x)));
}

/* One of three steps: what it adds to x, and the norm before or behind. */
static fxs_proxy step(fxs_proxy self, const fxs_proxy *in, int i, fxs_proxy x) {
    if (i == 0)
        return attention(self, "self_attn", "dropout1", x, x, in[TGT_MASK], in[TGT_PADDING]);
    if (i == 1)
        return attention(self, "multihead_attn", "dropout2", x, in[MEMORY], in[MEMORY_MASK],
                         in[MEMORY_PADDING]);
    return feed_forward(self, x);
}

static fxs_proxy decoder_layer(fxs_proxy self, const fxs_proxy *in) {
    static const char *const norms[] = {"norm1", "norm2", "norm3"};
    const fxs_value *first = hidden(self, "norm_first");
    bool norm_first = first && first->tag == FXS_V_BOOL && first->u.b;
    fxs_proxy x = in[TGT];
    for (int i = 0; i < 3; i++) {
        fxs_proxy y = norm_first ? fxs_call(self, norms[i], x) : x;
        x = fxs_add(x, step(self, in, i, y));
        x = norm_first ? x : fxs_call(self, norms[i], x);
    }
    return x;
}

static fxs_proxy decoder(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy layers = fxs_attr(self, "layers"), x = in[TGT];
    for (size_t i = 0; i < fxs_children(layers); i++)
        x = fxs_apply(fxs_child_at(layers, i), x, in[MEMORY], FXS_KW("tgt_mask", in[TGT_MASK]),
                      FXS_KW("memory_mask", in[MEMORY_MASK]),
                      FXS_KW("tgt_key_padding_mask", in[TGT_PADDING]),
                      FXS_KW("memory_key_padding_mask", in[MEMORY_PADDING]));
    return fxs_has(self, "norm") ? fxs_call(self, "norm", x) : x;
}

fxs_forward_fn *fxs_forward_of_parts(const fxs_module *m) {
    if (m->row && m->nchildren && strcmp(m->class_name, "TransformerDecoderLayer") == 0)
        return decoder_layer;
    if (m->row && m->nchildren && strcmp(m->class_name, "TransformerDecoder") == 0)
        return decoder;
    return NULL;
}
