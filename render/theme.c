/* theme.c: see theme.h. Colours are quiet and light enough that black print on them stays readable
 * on paper; "grey" needs no colour at all. */
#include "theme.h"

#include <string.h>

static const fxs_theme themes[] = {
    {.name = "light",
     .background = 0xffffff,
     .body = 0xffffff,
     .ink = {[FXS_INK_NAME] = 0x1b1f24,
             [FXS_INK_TEXT] = 0x24292f,
             [FXS_INK_KEY] = 0x646d76,
             [FXS_INK_ERROR] = 0xb3261e,
             [FXS_INK_TITLE] = 0x1b1f24},
     .edge = 0x4b535c,
     .nontensor = 0xbcc2c9,
     .style = {[FXS_STYLE_PLACEHOLDER] = {0xdcefdc, 0x79a37b},
               [FXS_STYLE_GET_ATTR] = {0xf6ebcf, 0xb89f62},
               [FXS_STYLE_CALL_FUNCTION] = {0xe4e9f0, 0x8a97a8},
               [FXS_STYLE_CALL_MODULE] = {0xd6e6f7, 0x6f97c2},
               [FXS_STYLE_CALL_METHOD] = {0xe9e3f4, 0x9a89bd},
               [FXS_STYLE_OUTPUT] = {0xd5eeee, 0x68a2a4},
               [FXS_STYLE_FAILED] = {0xfbd5d2, 0xc4352b},
               [FXS_STYLE_UNKNOWN] = {0xe6e6e6, 0x8f8f8f},
               [FXS_STYLE_BLOCKED] = {0xeeeeee, 0xb0b0b0}}},
    {.name = "dark",
     .background = 0x16191d,
     .body = 0x1f2429,
     .ink = {[FXS_INK_NAME] = 0xf0f3f6,
             [FXS_INK_TEXT] = 0xd5dae0,
             [FXS_INK_KEY] = 0x98a2ad,
             [FXS_INK_ERROR] = 0xff9d94,
             [FXS_INK_TITLE] = 0xf0f3f6},
     .edge = 0x9aa4af,
     .nontensor = 0x515962,
     .style = {[FXS_STYLE_PLACEHOLDER] = {0x2c4a30, 0x5d8a62},
               [FXS_STYLE_GET_ATTR] = {0x4f4426, 0x94803f},
               [FXS_STYLE_CALL_FUNCTION] = {0x333c47, 0x687687},
               [FXS_STYLE_CALL_MODULE] = {0x21405f, 0x4f7fb0},
               [FXS_STYLE_CALL_METHOD] = {0x40375a, 0x7d6ba6},
               [FXS_STYLE_OUTPUT] = {0x1f4a4c, 0x4d8a8c},
               [FXS_STYLE_FAILED] = {0x6b231e, 0xe06055},
               [FXS_STYLE_UNKNOWN] = {0x3a3a3a, 0x7c7c7c},
               [FXS_STYLE_BLOCKED] = {0x2e2e2e, 0x5c5c5c}}},
    {.name = "grey",
     .background = 0xffffff,
     .body = 0xffffff,
     .ink = {[FXS_INK_NAME] = 0x000000,
             [FXS_INK_TEXT] = 0x111111,
             [FXS_INK_KEY] = 0x555555,
             [FXS_INK_ERROR] = 0x000000,
             [FXS_INK_TITLE] = 0x000000},
     .edge = 0x333333,
     .nontensor = 0xa0a0a0,
     .style = {[FXS_STYLE_PLACEHOLDER] = {0xffffff, 0x000000},
               [FXS_STYLE_GET_ATTR] = {0xd0d0d0, 0x606060},
               [FXS_STYLE_CALL_FUNCTION] = {0xf2f2f2, 0x808080},
               [FXS_STYLE_CALL_MODULE] = {0xe2e2e2, 0x606060},
               [FXS_STYLE_CALL_METHOD] = {0xf8f8f8, 0x909090},
               [FXS_STYLE_OUTPUT] = {0xffffff, 0x000000},
               [FXS_STYLE_FAILED] = {0xb0b0b0, 0x000000},
               [FXS_STYLE_UNKNOWN] = {0xc4c4c4, 0x808080},
               [FXS_STYLE_BLOCKED] = {0xdcdcdc, 0xb0b0b0}}},
};

const fxs_theme *fxs_theme_find(const char *name) {
    if (!name)
        return &themes[0];
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++)
        if (strcmp(themes[i].name, name) == 0)
            return &themes[i];
    return NULL;
}

const char *fxs_theme_names(void) { return "light, dark, grey"; }

const char *fxs_style_class(fxs_style s) {
    static const char *const classes[] = {
#define X(name, text) text,
        FXS_STYLE_MAP(X)
#undef X
    };
    return classes[s];
}

fxs_style fxs_style_of(fxs_kind kind, fxs_outcome outcome) {
    static const fxs_style bad[FXS_OUTCOME_COUNT] = {[FXS_FAILED] = FXS_STYLE_FAILED,
                                                     [FXS_UNKNOWN] = FXS_STYLE_UNKNOWN,
                                                     [FXS_BLOCKED] = FXS_STYLE_BLOCKED};
    return (unsigned)outcome < FXS_OUTCOME_COUNT && bad[outcome] ? bad[outcome] : (fxs_style)kind;
}
