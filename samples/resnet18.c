/* resnet18.c: ResNet-18 as torchvision writes it. */
#include "sample.h"

static fxs_proxy block_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy out = fxs_call(self, "bn1", fxs_call(self, "conv1", x[0]));
    out = fxs_call(self, "conv2", fxs_call(self, "relu", out));
    out = fxs_call(self, "bn2", out);
    fxs_proxy identity = fxs_has(self, "downsample") ? fxs_call(self, "downsample", x[0]) : x[0];
    return fxs_call(self, "relu", fxs_add(out, identity));
}

static fxs_module *block(fxs_ctx *ctx, int in, int out, int stride) {
    fxs_module *m = fxs_nn(ctx, "BasicBlock");
    fxs_nn_forward(m, "x", block_forward, NULL);
    fxs_nn_add(m, "conv1", "Conv2d(%d, %d, 3, stride=%d, padding=1, bias=False)", in, out, stride);
    fxs_nn_add(m, "bn1", "BatchNorm2d(%d)", out);
    fxs_nn_add(m, "relu", "ReLU(inplace=True)");
    fxs_nn_add(m, "conv2", "Conv2d(%d, %d, 3, padding=1, bias=False)", out, out);
    fxs_nn_add(m, "bn2", "BatchNorm2d(%d)", out);
    if (stride != 1) {
        fxs_module *down = fxs_nn_add(m, "downsample", "Sequential()");
        fxs_nn_add(down, NULL, "Conv2d(%d, %d, 1, stride=%d, bias=False)", in, out, stride);
        fxs_nn_add(down, NULL, "BatchNorm2d(%d)", out);
    }
    return m;
}

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *in) {
    static const char *const steps[] = {"conv1",  "bn1",    "relu",   "maxpool", "layer1",
                                        "layer2", "layer3", "layer4", "avgpool"};
    fxs_proxy x = in[0];
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        x = fxs_call(self, steps[i], x);
    return fxs_call(self, "fc", fxs_flatten(x, fxs_i(1)));
}

static fxs_module *build(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "ResNet");
    fxs_nn_forward(m, "x: torch.Tensor -> torch.Tensor", forward, NULL);
    fxs_nn_add(m, "conv1", "Conv2d(3, 64, 7, stride=2, padding=3, bias=False)");
    fxs_nn_add(m, "bn1", "BatchNorm2d(64)");
    fxs_nn_add(m, "relu", "ReLU(inplace=True)");
    fxs_nn_add(m, "maxpool", "MaxPool2d(3, stride=2, padding=1)");
    for (int i = 0, in = 64; i < 4; i++) {
        int out = 64 << i;
        char name[] = {'l', 'a', 'y', 'e', 'r', (char)('1' + i), '\0'};
        fxs_module *layer = fxs_nn_add(m, name, "Sequential()");
        fxs_nn_put(layer, NULL, block(ctx, in, out, i ? 2 : 1));
        fxs_nn_put(layer, NULL, block(ctx, out, out, 1));
        in = out;
    }
    fxs_nn_add(m, "avgpool", "AdaptiveAvgPool2d((1, 1))");
    fxs_nn_add(m, "fc", "Linear(512, 1000)");
    return m;
}

int main(int argc, char **argv) { return sample_main(argc, argv, build, "x=1x3x224x224"); }
