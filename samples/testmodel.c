/* testmodel.c: two branches of different sizes, added: the model in the first picture of the
 * manual. */
#include "sample.h"

static fxs_proxy forward(fxs_proxy self, const fxs_proxy *in) {
    fxs_proxy x = fxs_call(self, "main", in[0]);
    fxs_proxy y = fxs_add(fxs_call(self, "skip", in[1]), fxs_attr(self, "bias"));
    y = fxs_method(y, "clamp", 0, 1);
    fxs_proxy size = fxs_index(fxs_method(x, "size"), FXS_SLICE(-2, FXS_NONE, FXS_NONE));
    y = fxs_interpolate(y, size, .mode = fxs_s("bilinear"), .align_corners = fxs_b(false));
    return fxs_add(fxs_sigmoid(x), y);
}

static fxs_module *build(fxs_ctx *ctx) {
    fxs_module *m = fxs_nn(ctx, "TestModel");
    fxs_nn_forward(m, "x, y", forward, NULL);
    fxs_nn_parameter(m, "bias", "float32[1]");
    fxs_module *main_branch = fxs_nn_add(m, "main", "Sequential()");
    fxs_nn_add(main_branch, NULL, "Conv2d(3, 4, 1)");
    fxs_nn_add(main_branch, NULL, "ReLU(True)");
    fxs_nn_add(m, "skip", "Conv2d(2, 4, 3, stride=1, padding=1)");
    return m;
}

int main(int argc, char **argv) { return sample_main(argc, argv, build, "x=1x3x16x16 y=1x2x8x8"); }
