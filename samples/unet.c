/* unet.c: a U-Net: four steps down, four up, and what went down beside what comes up. */
#include "sample.h"

enum { WIDTH = 32, DEPTH = 4 };

/* A class that derives from Sequential: it has Sequential's forward. */
static fxs_module *double_conv(fxs_ctx *ctx, int in, int out) {
    fxs_module *m = fxs_nn(ctx, "DoubleConv");
    fxs_nn_forward(m, "input", fxs_forward_sequential, NULL);
    for (int i = 0; i < 2; i++) {
        fxs_nn_add(m, NULL, "Conv2d(%d, %d, 3, padding=1, bias=False)", i ? out : in, out);
        fxs_nn_add(m, NULL, "BatchNorm2d(%d)", out);
        fxs_nn_add(m, NULL, "ReLU(inplace=True)");
    }
    return m;
}

static fxs_proxy up_forward(fxs_proxy self, const fxs_proxy *x) {
    fxs_proxy low = fxs_call(self, "up", x[0]), skip = x[1];
    return fxs_call(self, "conv", fxs_cat(FXS_LIST(skip, low), .dim = fxs_i(1)));
}

static fxs_module *up(fxs_ctx *ctx, int in, int out) {
    fxs_module *m = fxs_nn(ctx, "Up");
    fxs_nn_forward(m, "low, skip", up_forward, NULL);
    fxs_nn_add(m, "up", "ConvTranspose2d(%d, %d, 2, stride=2)", in, in / 2);
    fxs_nn_put(m, "conv", double_conv(ctx, in, out));
    return m;
}

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy down = fxs_attr(self, "down"), ups = fxs_attr(self, "up"), skips[DEPTH + 1];
    skips[0] = fxs_call(self, "stem", in[0]);
    for (size_t i = 0; i < DEPTH; i++)
        skips[i + 1] = fxs_apply(fxs_child_at(down, i), skips[i]);
    fxs_proxy x = skips[DEPTH];
    for (size_t i = 0; i < DEPTH; i++)
        x = fxs_apply(fxs_child_at(ups, i), x, skips[DEPTH - 1 - i]);
    return fxs_call(self, "head", x);
}

static fxs_module *build(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "UNet");
    fxs_nn_forward(m, "x", forward, NULL);
    fxs_nn_put(m, "stem", double_conv(ctx, 3, WIDTH));
    fxs_module *down = fxs_nn_add(m, "down", "ModuleList()");
    for (int i = 0; i < DEPTH; i++) {
        fxs_module *step = fxs_nn_add(down, NULL, "Sequential()");
        fxs_nn_add(step, NULL, "MaxPool2d(2)");
        fxs_nn_put(step, NULL, double_conv(ctx, WIDTH << i, WIDTH << (i + 1)));
    }
    fxs_module *ups = fxs_nn_add(m, "up", "ModuleList()");
    for (int i = DEPTH; i > 0; i--)
        fxs_nn_put(ups, NULL, up(ctx, WIDTH << i, WIDTH << (i - 1)));
    fxs_nn_add(m, "head", "Conv2d(%d, 2, 1)", WIDTH);
    return m;
}

int main(int argc, char **argv) { return sample_main(argc, argv, build, "x=1x3x208x208"); }
