/* mobilenet_v2.c: MobileNetV2 as torchvision writes it. */
#include "sample.h"

static fxs_module *sequential(fxs_ctx *ctx, const char *class_name) {
    fxs_module *m = fxs_nn(ctx, "%s", class_name);
    fxs_nn_forward(m, "input", fxs_forward_sequential, NULL);
    return m;
}

static fxs_module *conv_norm(fxs_ctx *ctx, int in, int out, int kernel, int stride, int groups) {
    fxs_module *m = sequential(ctx, "Conv2dNormActivation");
    fxs_nn_add(m, NULL, "Conv2d(%d, %d, %d, %d, %d, groups=%d, bias=False)", in, out, kernel,
               stride, (kernel - 1) / 2, groups);
    fxs_nn_add(m, NULL, "BatchNorm2d(%d)", out);
    fxs_nn_add(m, NULL, "ReLU6(inplace=True)");
    return m;
}

/* user: whether input and output have the same shape. */
static fxs_proxy inverted_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy y = fxs_call(self, "conv", x[0]);
    return fxs_user(self) ? fxs_add(x[0], y) : y;
}

static fxs_module *inverted_residual(fxs_ctx *ctx, int in, int out, int stride, int expand) {
    static int same;
    int hidden = in * expand;
    fxs_module *m = fxs_nn(ctx, "InvertedResidual");
    fxs_nn_forward(m, "x: torch.Tensor", inverted_forward, stride == 1 && in == out ? &same : NULL);
    fxs_module *conv = fxs_nn_add(m, "conv", "Sequential()");
    if (expand != 1)
        fxs_nn_put(conv, NULL, conv_norm(ctx, in, hidden, 1, 1, 1));
    fxs_nn_put(conv, NULL, conv_norm(ctx, hidden, hidden, 3, stride, hidden));
    fxs_nn_add(conv, NULL, "Conv2d(%d, %d, 1, bias=False)", hidden, out);
    fxs_nn_add(conv, NULL, "BatchNorm2d(%d)", out);
    return m;
}

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_call(self, "features", in[0]);
    x = fxs_adaptive_avg_pool2d(x, FXS_INTS(1, 1));
    return fxs_call(self, "classifier", fxs_flatten(x, fxs_i(1)));
}

static fxs_module *build(fxs_ctx *ctx) {
    static const struct {
        int expand, out, times, stride;
    } steps[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int in = 32;
    fxs_module *m = fxs_nn(ctx, "MobileNetV2");
    fxs_nn_forward(m, "x: torch.Tensor -> torch.Tensor", forward, NULL);
    fxs_module *features = fxs_nn_add(m, "features", "Sequential()");
    fxs_nn_put(features, NULL, conv_norm(ctx, 3, in, 3, 2, 1));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (int k = 0; k < steps[i].times; k++, in = steps[i].out)
            fxs_nn_put(
                features, NULL,
                inverted_residual(ctx, in, steps[i].out, k ? 1 : steps[i].stride, steps[i].expand));
    }
    fxs_nn_put(features, NULL, conv_norm(ctx, in, 1280, 1, 1, 1));
    fxs_module *classifier = fxs_nn_add(m, "classifier", "Sequential()");
    fxs_nn_add(classifier, NULL, "Dropout(0.2)");
    fxs_nn_add(classifier, NULL, "Linear(1280, 1000)");
    return m;
}

int main(int argc, char **argv) { return sample_main(argc, argv, build, "x=1x3x224x224"); }
