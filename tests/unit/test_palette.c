/* test_palette.c: the palettes are what palette.h says: computed again from its formulas, their
 * lightness in order, texts readable on each colour, and neighbours apart as people see them who
 * see no red or no green. Also which family an operator belongs to. */
#include "testing.h"

#include "op/group.h"
#include "render/palette.h"

/* ---- CIELAB (D65), from the definitions ---- */

typedef struct lab {
    double l, a, b;
} lab;
typedef struct rgb {
    double r, g, b; /* linear, 0 to 1 */
} rgb;

static const double white[3] = {0.95047, 1, 1.08883};

static double linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }
static double coded(double c) {
    return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

static rgb of_color(fxs_color c) {
    return (rgb){linear((c >> 16 & 0xff) / 255.0), linear((c >> 8 & 0xff) / 255.0),
                 linear((c & 0xff) / 255.0)};
}

static double forth(double t) {
    const double d = 6.0 / 29;
    return t > d * d * d ? cbrt(t) : t / (3 * d * d) + 4.0 / 29;
}
static double back(double t) {
    const double d = 6.0 / 29;
    return t > d ? t * t * t : 3 * d * d * (t - 4.0 / 29);
}

static lab to_lab(rgb c) {
    double x = forth((0.4124564 * c.r + 0.3575761 * c.g + 0.1804375 * c.b) / white[0]),
           y = forth((0.2126729 * c.r + 0.7151522 * c.g + 0.0721750 * c.b) / white[1]),
           z = forth((0.0193339 * c.r + 0.1191920 * c.g + 0.9503041 * c.b) / white[2]);
    return (lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double clipped(double x) { return fmin(fmax(x, 0), 1); }

static void of_lch(double l, double c, double h, double out[3]) {
    double f = (l + 16) / 116, angle = h * 3.14159265358979323846 / 180;
    double x = white[0] * back(f + c * cos(angle) / 500), y = white[1] * back(f),
           z = white[2] * back(f - c * sin(angle) / 200);
    out[0] = 255 * coded(clipped(3.2404542 * x - 1.5371385 * y - 0.4985314 * z));
    out[1] = 255 * coded(clipped(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z));
    out[2] = 255 * coded(clipped(0.0556434 * x - 0.2040259 * y + 1.0572252 * z));
}

/* How a colour looks: to all, to protanopes, to deuteranopes. The last two by Machado, Oliveira and
 * Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), full
 * severity, on linear components. */
enum { SIGHTS = 3 };
static lab seen(fxs_color color, int sight) {
    static const double m[SIGHTS][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                        {0.152286, 1.052583, -0.204868, 0.114503, 0.786281,
                                         0.099216, -0.003882, -0.048116, 1.051998},
                                        {0.367322, 0.860646, -0.227968, 0.280085, 0.672501,
                                         0.047413, -0.011820, 0.042940, 0.968881}};
    const double *k = m[sight];
    rgb c = of_color(color);
    return to_lab((rgb){clipped(k[0] * c.r + k[1] * c.g + k[2] * c.b),
                        clipped(k[3] * c.r + k[4] * c.g + k[5] * c.b),
                        clipped(k[6] * c.r + k[7] * c.g + k[8] * c.b)});
}

static double apart(fxs_color a, fxs_color b, int sight) {
    lab x = seen(a, sight), y = seen(b, sight);
    return sqrt(pow(x.l - y.l, 2) + pow(x.a - y.a, 2) + pow(x.b - y.b, 2));
}

static const char *const palette_names[] = {"safe", "dark", "grey"};
static const fxs_palette *palette(int i) {
    const fxs_palette *p = fxs_palette_find(palette_names[i], NULL);
    assert_non_null(p);
    return p;
}

/* ---- scales ---- */

static void scales_follow_their_formulas(void **state) {
    (void)state;
    static const double at[3][6] = {/* L, C and h at t = 0, and what is added up to t = 1 */
                                    {95, -63, 22, 10, 100, 175},
                                    {32, 60, 24, 8, 275, -175},
                                    {94, -70, 0, 0, 0, 0}};
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < FXS_PALETTE_STEPS; i++) {
            double t = (double)i / (FXS_PALETTE_STEPS - 1), c[3];
            fxs_color step = palette(p)->step[i];
            of_lch(at[p][0] + at[p][1] * t, at[p][2] + at[p][3] * t, at[p][4] + at[p][5] * t, c);
            assert_near(step >> 16 & 0xff, c[0], 0.51);
            assert_near(step >> 8 & 0xff, c[1], 0.51);
            assert_near(step & 0xff, c[2], 0.51);
        }
}

/* Printed without colour, or seen without red or green, a scale still goes one way, and each step
 * can be told from the next. */
static void scales_are_ordered_for_all(void **state) {
    (void)state;
    for (int p = 0; p < 3; p++) {
        double way = p == 1 ? 1 : -1; /* on a dark page bright is much */
        for (int sight = 0; sight < SIGHTS; sight++)
            for (int i = 1; i < FXS_PALETTE_STEPS; i++) {
                const fxs_color *s = palette(p)->step;
                double by = way * (seen(s[i], sight).l - seen(s[i - 1], sight).l);
                if (by < 4 || apart(s[i], s[i - 1], sight) < 4.5)
                    fail_msg("%s, step %d, sight %d: lighter by %g, apart %g", palette_names[p], i,
                             sight, by, apart(s[i], s[i - 1], sight));
            }
    }
}

static void no_value_is_no_step(void **state) {
    (void)state;
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < FXS_PALETTE_STEPS; i++)
            for (int sight = 0; sight < SIGHTS; sight++)
                assert_true(apart(palette(p)->none, palette(p)->step[i], sight) > 4.5);
}

/* ---- families, NaN ---- */

static void families_are_apart(void **state) {
    (void)state;
    static const double least[3][SIGHTS] = {{24, 12, 12}, {24, 12, 12}, {4.5, 4.5, 4.5}};
    for (int p = 0; p < 3; p++)
        for (int sight = 0; sight < SIGHTS; sight++)
            for (int a = 0; a < FXS_GROUP_COUNT; a++) {
                const fxs_palette *c = palette(p);
                for (int b = 0; b < a; b++)
                    if (apart(c->family[a], c->family[b], sight) < least[p][sight])
                        fail_msg("%s, sight %d: %s and %s are %g apart", palette_names[p], sight,
                                 fxs_group_class((fxs_group)a), fxs_group_class((fxs_group)b),
                                 apart(c->family[a], c->family[b], sight));
                assert_true(apart(c->family[a], c->none, sight) > 4.5);
            }
}

static void nan_is_plain_to_see(void **state) {
    (void)state;
    for (int p = 0; p < 3; p++)
        for (int sight = 0; sight < SIGHTS; sight++) {
            const fxs_palette *c = palette(p);
            assert_true(apart(c->first, c->none, sight) > 40);
            assert_true(apart(c->first, c->inherited, sight) > 30);
            assert_true(apart(c->inherited, c->none, sight) > 15);
            assert_true(apart(c->first, c->none, sight) > apart(c->inherited, c->none, sight));
        }
}

/* ---- texts ---- */

static void readable(fxs_color fill) {
    double by = fxs_contrast(fill, fxs_ink_on(fill));
    if (by < 4.5)
        fail_msg("#%06x: contrast %g", fill, by);
}

static void texts_are_readable_everywhere(void **state) {
    (void)state;
    assert_near(fxs_contrast(0, 0xffffff), 21, 1e-9);
    assert_near(fxs_contrast(0x777777, 0xffffff), 4.478, 1e-3); /* WCAG's well-known example */
    for (int p = 0; p < 3; p++) {
        const fxs_palette *c = palette(p);
        for (int i = 0; i < FXS_PALETTE_STEPS; i++)
            readable(c->step[i]);
        for (int i = 0; i < FXS_GROUP_COUNT; i++)
            readable(c->family[i]);
        readable(c->none), readable(c->first), readable(c->inherited);
    }
    static const char *const themes[] = {"light", "dark", "grey"};
    for (int i = 0; i < 3; i++) {
        const fxs_theme *t = fxs_theme_find(themes[i]);
        for (int ink = 0; ink < FXS_INK_COUNT; ink++) {
            assert_true(fxs_contrast(t->ink[ink], t->background) >= 4.5);
            assert_true(fxs_contrast(t->ink[ink], t->body) >= 4.5);
        }
        for (int s = 0; s < FXS_STYLE_COUNT; s++)
            assert_true(fxs_contrast(t->ink[FXS_INK_NAME], t->style[s].head) >= 4.5);
        assert_non_null(fxs_palette_find(NULL, t));
    }
}

/* ---- families of operators ---- */

static void operators_have_families(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *name;
        fxs_group group;
    } ops[] = {{"torch.conv2d", FXS_GROUP_CONVOLUTION},
               {"torch._C._nn.linear", FXS_GROUP_LINEAR},
               {"Tensor.matmul", FXS_GROUP_LINEAR},
               {"torch.nn.functional.relu", FXS_GROUP_ACTIVATION},
               {"torch.tanh", FXS_GROUP_ACTIVATION},
               {"Tensor.softmax", FXS_GROUP_ACTIVATION},
               {"torch.nn.functional.layer_norm", FXS_GROUP_NORM},
               {"torch.nn.functional.interpolate", FXS_GROUP_POOLING},
               {"torch.flatten", FXS_GROUP_SHAPE},
               {"torch.cat", FXS_GROUP_SHAPE},
               {"operator.add", FXS_GROUP_ELEMENTWISE},
               {"Tensor.mean", FXS_GROUP_REDUCE},
               {"operator.getitem", FXS_GROUP_INDEX},
               {"torch.zeros", FXS_GROUP_CREATE},
               {"torch.nn.functional.cross_entropy", FXS_GROUP_LOSS},
               {"torch.fft.fft", FXS_GROUP_OTHER},
               {"no.such.operator", FXS_GROUP_OTHER}},
      classes[] = {
          {"Conv2d", FXS_GROUP_CONVOLUTION},    {"Linear", FXS_GROUP_LINEAR},
          {"BatchNorm2d", FXS_GROUP_NORM},      {"RMSNorm", FXS_GROUP_NORM},
          {"GELU", FXS_GROUP_ACTIVATION},       {"MaxPool2d", FXS_GROUP_POOLING},
          {"LSTM", FXS_GROUP_ATTENTION},        {"MultiheadAttention", FXS_GROUP_ATTENTION},
          {"Embedding", FXS_GROUP_INDEX},       {"Flatten", FXS_GROUP_SHAPE},
          {"CrossEntropyLoss", FXS_GROUP_LOSS}, {"NoSuchLayer", FXS_GROUP_OTHER}};
    fxs_group g;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        assert_ok(ctx, fxs_group_of_spelling(ctx, ops[i].name, &g));
        if (g != ops[i].group)
            fail_msg("%s is %s", ops[i].name, fxs_group_class(g));
    }
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        assert_ok(ctx, fxs_group_of_class(ctx, classes[i].name, &g));
        if (g != classes[i].group)
            fail_msg("%s is %s", classes[i].name, fxs_group_class(g));
    }
}

/* Few operators belong nowhere, and every family has some. */
static void most_operators_are_somewhere(void **state) {
    (void)state;
    size_t count[FXS_GROUP_COUNT] = {0}, all = 0;
    for (const fxs_family *f = fxs_families; f->name; f++)
        for (const fxs_op *op = f->ops; op && op->name; op++, all++)
            count[fxs_group_of_op(op)]++;
    for (int g = 0; g < FXS_GROUP_COUNT; g++)
        assert_true(count[g] > 0);
    assert_true(count[FXS_GROUP_OTHER] * 4 < all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_follow_their_formulas),
        cmocka_unit_test(scales_are_ordered_for_all),
        cmocka_unit_test(no_value_is_no_step),
        cmocka_unit_test(families_are_apart),
        cmocka_unit_test(nan_is_plain_to_see),
        cmocka_unit_test(texts_are_readable_everywhere),
        cmocka_unit_test_setup_teardown(operators_have_families, new_ctx, free_ctx),
        cmocka_unit_test(most_operators_are_somewhere),
    };
    return cmocka_run_group_tests_name("palette", tests, NULL, NULL);
}
