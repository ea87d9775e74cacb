/* palette.c: see palette.h. Called by overlay.c. */
#include "palette.h"

#include <math.h>
#include <string.h>

static const fxs_palette palettes[] = {
    {.name = "safe",
     .kinds = "light",
     .step = {0xfaf1c7, 0xdde5b9, 0xbfd8ae, 0xa0cba7, 0x82bda3, 0x65afa0, 0x48a09e, 0x2a909c,
              0x0a8099, 0x006f93, 0x0c5e8a, 0x224d7d},
     .family = {[FXS_GROUP_OTHER] = 0xd9dcdf,
                [FXS_GROUP_CONVOLUTION] = 0x82bffc,
                [FXS_GROUP_LINEAR] = 0x9092f0,
                [FXS_GROUP_NORM] = 0xd2f8b7,
                [FXS_GROUP_ACTIVATION] = 0xf9b08b,
                [FXS_GROUP_POOLING] = 0x6ecbae,
                [FXS_GROUP_ATTENTION] = 0xe077bb,
                [FXS_GROUP_ELEMENTWISE] = 0xfee983,
                [FXS_GROUP_SHAPE] = 0xa29b7e,
                [FXS_GROUP_REDUCE] = 0x03b5cd,
                [FXS_GROUP_INDEX] = 0xf9cbfe,
                [FXS_GROUP_CREATE] = 0x7da75d,
                [FXS_GROUP_LOSS] = 0xbd953b},
     .none = 0xf3f4f6,
     .first = 0xd9480f,
     .inherited = 0xfbd9c0},
    {.name = "dark",
     .kinds = "dark",
     .step = {0x334c71, 0x2d5c7f, 0x266d8a, 0x267d93, 0x308d98, 0x439c9b, 0x5bab9c, 0x76b99c,
              0x93c79c, 0xb3d39e, 0xd3dfa3, 0xf4e9ab},
     .family = {[FXS_GROUP_OTHER] = 0x4a5057,
                [FXS_GROUP_CONVOLUTION] = 0x0ca5eb,
                [FXS_GROUP_LINEAR] = 0x025293,
                [FXS_GROUP_NORM] = 0x1b8169,
                [FXS_GROUP_ACTIVATION] = 0xd38b53,
                [FXS_GROUP_POOLING] = 0x4a6d1f,
                [FXS_GROUP_ATTENTION] = 0xd56b8d,
                [FXS_GROUP_ELEMENTWISE] = 0x9a936d,
                [FXS_GROUP_SHAPE] = 0x4c3c0e,
                [FXS_GROUP_REDUCE] = 0x87423d,
                [FXS_GROUP_INDEX] = 0x9270be,
                [FXS_GROUP_CREATE] = 0x61265f,
                [FXS_GROUP_LOSS] = 0x9599bb},
     .none = 0x272c32,
     .first = 0xff8a4c,
     .inherited = 0x6b4128},
    {.name = "grey",
     .kinds = "grey",
     .step = {0xeeeeee, 0xdcdcdc, 0xcacaca, 0xb8b8b8, 0xa7a7a7, 0x969696, 0x868686, 0x767676,
              0x666666, 0x565656, 0x474747, 0x393939},
     /* L = 94 - 62 t in 12 steps; families that often stand side by side are far apart */
     .family = {[FXS_GROUP_OTHER] = 0x646464,
                [FXS_GROUP_CONVOLUTION] = 0x4b4b4b,
                [FXS_GROUP_LINEAR] = 0x717171,
                [FXS_GROUP_NORM] = 0xb4b4b4,
                [FXS_GROUP_ACTIVATION] = 0xd1d1d1,
                [FXS_GROUP_POOLING] = 0x7e7e7e,
                [FXS_GROUP_ATTENTION] = 0x575757,
                [FXS_GROUP_ELEMENTWISE] = 0x989898,
                [FXS_GROUP_SHAPE] = 0xeeeeee,
                [FXS_GROUP_REDUCE] = 0x8b8b8b,
                [FXS_GROUP_INDEX] = 0xdfdfdf,
                [FXS_GROUP_CREATE] = 0xc2c2c2,
                [FXS_GROUP_LOSS] = 0xa6a6a6},
     .none = 0xffffff,
     .first = 0x1a1a1a,
     .inherited = 0xbdbdbd},
};
enum { NPALETTES = sizeof palettes / sizeof *palettes };

const fxs_palette *fxs_palette_find(const char *name, const fxs_theme *theme) {
    for (size_t i = 0; i < NPALETTES; i++)
        if (strcmp(name ? palettes[i].name : palettes[i].kinds, name ? name : theme->name) == 0)
            return &palettes[i];
    return NULL;
}

const char *fxs_palette_names(void) { return "safe, dark, grey"; }

/* sRGB's transfer function, then the luminance of ITU-R BT.709's primaries. */
static double linear(unsigned byte) {
    double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(fxs_color c) {
    return 0.2126 * linear(c >> 16 & 0xff) + 0.7152 * linear(c >> 8 & 0xff) +
           0.0722 * linear(c & 0xff);
}

double fxs_contrast(fxs_color a, fxs_color b) {
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

fxs_color fxs_ink_on(fxs_color fill) {
    return fxs_contrast(fill, 0x000000) >= fxs_contrast(fill, 0xffffff) ? 0x000000 : 0xffffff;
}

fxs_color fxs_color_between(fxs_color a, fxs_color b) {
    return ((a & 0xfefefe) >> 1) + ((b & 0xfefefe) >> 1);
}
