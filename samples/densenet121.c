/* densenet121.c: DenseNet-121 as torchvision writes it: in a block, every layer gets all results
 * before it. */
#include "sample.h"

enum { GROWTH = 32, MAX_LAYERS = 24 };

/* x[0] is the list of all results so far. */
static fxs_proxy layer_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_cat(x[0], fxs_i(1));
    y = fxs_call(self, "norm1", y);
    y = fxs_call(self, "conv1", fxs_call(self, "relu1", y));
    y = fxs_call(self, "norm2", y);
    return fxs_call(self, "conv2", fxs_call(self, "relu2", y));
}

static fxs_module *dense_layer(fxs_ctx *ctx, int in) {
    fxs_module *m = fxs_nn(ctx, "_DenseLayer");
    fxs_nn_forward(m, "input: torch.Tensor", layer_forward, NULL);
    fxs_nn_add(m, "norm1", "BatchNorm2d(%d)", in);
    fxs_nn_add(m, "relu1", "ReLU(inplace=True)");
    fxs_nn_add(m, "conv1", "Conv2d(%d, %d, 1, bias=False)", in, 4 * GROWTH);
    fxs_nn_add(m, "norm2", "BatchNorm2d(%d)", 4 * GROWTH);
    fxs_nn_add(m, "relu2", "ReLU(inplace=True)");
    fxs_nn_add(m, "conv2", "Conv2d(%d, %d, 3, padding=1, bias=False)", 4 * GROWTH, GROWTH);
    return m;
}

static fxs_proxy block_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy results[MAX_LAYERS + 1] = {x[0]};
    size_t n = fxs_children(self);
    for (size_t i = 0; i < n; i++)
        results[i + 1] =
            fxs_apply(fxs_child_at(self, i), fxs_sequence_of(FXS_V_LIST, i + 1, results));
    return fxs_cat(fxs_sequence_of(FXS_V_LIST, n + 1, results), fxs_i(1));
}

static fxs_module *dense_block(fxs_ctx *ctx, int in, int layers) {
    char name[32];
    fxs_module *m = fxs_nn(ctx, "_DenseBlock");
    fxs_nn_forward(m, "init_features: torch.Tensor", block_forward, NULL);
    for (int i = 0; i < layers; i++) {
        snprintf(name, sizeof name, "denselayer%d", i + 1);
        fxs_nn_put(m, name, dense_layer(ctx, in + i * GROWTH));
    }
    return m;
}

static fxs_module *transition(fxs_ctx *ctx, int in) {
    fxs_module *m = fxs_nn(ctx, "_Transition");
    fxs_nn_forward(m, "input", fxs_forward_sequential, NULL);
    fxs_nn_add(m, "norm", "BatchNorm2d(%d)", in);
    fxs_nn_add(m, "relu", "ReLU(inplace=True)");
    fxs_nn_add(m, "conv", "Conv2d(%d, %d, 1, bias=False)", in, in / 2);
    fxs_nn_add(m, "pool", "AvgPool2d(2, stride=2)");
    return m;
}

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_call(self, "features", in[0]);
    x = fxs_relu(x, .inplace = fxs_b(true));
    x = fxs_adaptive_avg_pool2d(x, FXS_INTS(1, 1));
    return fxs_call(self, "classifier", fxs_flatten(x, fxs_i(1)));
}

static fxs_module *build(fxs_ctx *ctx) {
    static const int layers[] = {6, 12, 24, 16};
    int in = 64;
    char name[32];
    fxs_module *m = fxs_nn(ctx, "DenseNet");
    fxs_nn_forward(m, "x: torch.Tensor -> torch.Tensor", forward, NULL);
    fxs_module *features = fxs_nn_add(m, "features", "Sequential()");
    fxs_nn_add(features, "conv0", "Conv2d(3, %d, 7, stride=2, padding=3, bias=False)", in);
    fxs_nn_add(features, "norm0", "BatchNorm2d(%d)", in);
    fxs_nn_add(features, "relu0", "ReLU(inplace=True)");
    fxs_nn_add(features, "pool0", "MaxPool2d(3, stride=2, padding=1)");
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "denseblock%d", i + 1);
        fxs_nn_put(features, name, dense_block(ctx, in, layers[i]));
        in += layers[i] * GROWTH;
        if (i == 3)
            break;
        snprintf(name, sizeof name, "transition%d", i + 1);
        fxs_nn_put(features, name, transition(ctx, in));
        in /= 2;
    }
    fxs_nn_add(features, "norm5", "BatchNorm2d(%d)", in);
    fxs_nn_add(m, "classifier", "Linear(%d, 1000)", in);
    return m;
}

int main(int argc, char **argv) { return sample_main(argc, argv, build, "x=1x3x224x224"); }
