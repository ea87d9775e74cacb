/* text_encoder.c: a transformer's encoder written out: embedding, attention by matmul, layer norm,
 * GELU. */
#include <math.h>

#include "sample.h"

enum { VOCABULARY = 1000, DIM = 128, HEADS = 4, LAYERS = 3, LENGTH = 64 };

static fxs_proxy attention(fxs_proxy self, fxs_proxy x, fxs_proxy mask) {
    fxs_proxy qkv[3];
    fxs_proxy b = fxs_m_size(x, fxs_i(0));
    fxs_proxy n = fxs_m_size(x, fxs_i(1));
    fxs_proxy y = fxs_call(self, "qkv", fxs_call(self, "norm1", x));
    y = fxs_method(y, "reshape", b, n, 3, HEADS, -1);
    y = fxs_method(fxs_method(y, "permute", 2, 0, 3, 1, 4), "unbind", 0);
    fxs_unpack(y, 3, qkv);
    fxs_proxy scores = fxs_matmul(qkv[0], fxs_method(qkv[1], "transpose", -2, -1));
    scores = fxs_mul(scores, pow(DIM / HEADS, -0.5));
    fxs_proxy hidden = fxs_eq(fxs_index(mask, FXS_ALL, FXS_NONE, FXS_NONE, FXS_ALL), 0);
    scores = fxs_method(scores, "masked_fill", hidden, -INFINITY);
    y = fxs_matmul(fxs_softmax(scores, .dim = fxs_i(-1)), qkv[2]);
    return fxs_call(self, "proj", fxs_method(fxs_method(y, "transpose", 1, 2), "flatten", 2));
}

static fxs_proxy block_forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_add(in[0], attention(self, in[0], in[1]));
    return fxs_add(x, fxs_call(self, "mlp", fxs_call(self, "norm2", x)));
}

static fxs_module *block(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "EncoderBlock");
    fxs_nn_forward(m, "x, mask", block_forward, NULL);
    fxs_nn_add(m, "norm1", "LayerNorm(%d)", DIM);
    fxs_nn_add(m, "norm2", "LayerNorm(%d)", DIM);
    fxs_nn_add(m, "qkv", "Linear(%d, %d)", DIM, 3 * DIM);
    fxs_nn_add(m, "proj", "Linear(%d, %d)", DIM, DIM);
    fxs_module *mlp = fxs_nn_add(m, "mlp", "Sequential()");
    fxs_nn_add(mlp, NULL, "Linear(%d, %d)", DIM, 4 * DIM);
    fxs_nn_add(mlp, NULL, "GELU()");
    fxs_nn_add(mlp, NULL, "Dropout(0.1)");
    fxs_nn_add(mlp, NULL, "Linear(%d, %d)", 4 * DIM, DIM);
    return m;
}

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy tokens = in[0], mask = in[1], blocks = fxs_attr(self, "blocks");
    fxs_proxy x = fxs_call(self, "token", tokens);
    fxs_proxy position = fxs_attr(self, "position");
    fxs_proxy n = fxs_m_size(tokens, fxs_i(1));
    x = fxs_add(x, fxs_index(position, FXS_ALL, FXS_SLICE(FXS_NONE, n, FXS_NONE)));
    for (size_t i = 0; i < LAYERS; i++)
        x = fxs_apply(fxs_child_at(blocks, i), x, mask);
    return fxs_m_log_softmax(fxs_call(self, "head", fxs_call(self, "norm", x)), .dim = fxs_i(-1));
}

static fxs_module *build(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "TextEncoder");
    fxs_nn_forward(m, "tokens, mask", forward, NULL);
    fxs_nn_add(m, "token", "Embedding(%d, %d)", VOCABULARY, DIM);
    fxs_nn_parameter(m, "position", "float32[1, %d, %d]", LENGTH, DIM);
    fxs_module *blocks = fxs_nn_add(m, "blocks", "ModuleList()");
    for (int i = 0; i < LAYERS; i++)
        fxs_nn_put(blocks, NULL, block(ctx));
    fxs_nn_add(m, "norm", "LayerNorm(%d)", DIM);
    fxs_nn_add(m, "head", "Linear(%d, %d)", DIM, VOCABULARY);
    return m;
}

int main(int argc, char **argv) {
    return sample_main(argc, argv, build, "tokens=2x50:int64:0..999 mask=2x50:int64:1..1");
}
