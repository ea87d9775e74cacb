/* palette.h: the colours that say something of a node: a scale for numbers, one for each family of
 * operators, what is said where there is nothing to say. A palette is one const row.
 *
 * The scales are even steps through CIELAB (D65) along
 *     safe: L = 95 - 63 t, C = 22 + 10 t, h = 100 + 175 t degrees: pale yellow, green, blue
 *     dark: L = 32 + 60 t, C = 24 +  8 t, h = 275 - 175 t: the same way back, bright is much
 *     grey: L = 94 - 70 t, C = 0
 * with t = 0 to 1, a = C cos h, b = C sin h, clipped to sRGB. Lightness alone orders them, and the
 * hues lie on the way that protanopes and deuteranopes see. The families' colours were searched for
 * the greatest least distance between two of them, as all three see them. Tests compute both. */
#ifndef FXS_RENDER_PALETTE_H
#define FXS_RENDER_PALETTE_H

#include "op/op.h"
#include "theme.h"

enum { FXS_PALETTE_STEPS = 12 };

typedef struct fxs_palette {
    const char *name;
    const char *kinds; /* the theme whose colours kinds of nodes have */
    fxs_color step[FXS_PALETTE_STEPS];
    fxs_color family[FXS_GROUP_COUNT];
    fxs_color none;             /* of a node without a number or family */
    fxs_color first, inherited; /* NaN or Inf begins there, came from there */
} fxs_palette;

/* NULL: the one that goes with the theme; NULL is returned for a name that is not known. */
FXS_API const fxs_palette *fxs_palette_find(const char *name, const fxs_theme *theme);
/* "safe, dark, grey" */
const char *fxs_palette_names(void);

/* Ratio of luminances as WCAG 2 defines it, 1 to 21. */
FXS_API double fxs_contrast(fxs_color a, fxs_color b);
/* Black or white, whichever is easier to read on the colour. The ratio is never below 4.58. */
FXS_API fxs_color fxs_ink_on(fxs_color fill);
/* The middle between two colours. */
fxs_color fxs_color_between(fxs_color a, fxs_color b);

#endif
