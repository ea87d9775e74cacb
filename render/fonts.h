/* fonts.h: widths of texts, and painting them. Pango with its own font map: 72 dpi, no hinting,
 * exact advances, so that a text is as wide in every canvas as it was when it was measured. With
 * `fixed` set no font is touched: each character has one width, for pictures that must be the same
 * on every machine. */
#ifndef FXS_RENDER_FONTS_H
#define FXS_RENDER_FONTS_H

#include "base/ctx.h"
#include "theme.h"

struct _cairo;
typedef struct fxs_fonts fxs_fonts;

/* A text's ink as points: size, height of a line, baseline under the line's top. */
typedef struct fxs_face {
    bool bold;
    double size, line, baseline;
} fxs_face;
extern const fxs_face fxs_faces[FXS_INK_COUNT];
#define FXS_FONT_FAMILY "DejaVu Sans"

/* Opens cairo and pango. Before anything of theirs is called; fxs_fonts_new asks unless `fixed`. */
fxs_status fxs_pictures_need(fxs_ctx *ctx);
fxs_status fxs_fonts_new(fxs_ctx *ctx, bool fixed, fxs_fonts **out);
void fxs_fonts_free(fxs_fonts *f);
/* Width in points of n bytes of clean UTF-8. Remembered, so that equal texts are measured once;
 * *width is 0 and the answer false when memory is out. */
bool fxs_fonts_width(fxs_fonts *f, fxs_ink ink, const char *s, size_t n, double *width);
/* Paints the text in cr's colour with the left end of its baseline at x, y. */
void fxs_fonts_show(fxs_fonts *f, struct _cairo *cr, fxs_ink ink, const char *s, size_t n, double x,
                    double y);

#endif
