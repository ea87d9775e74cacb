/* canvas_cairo.h: a scene painted with cairo, for PNG and PDF: the same places, colours and texts
 * as the SVG. */
#ifndef FXS_RENDER_CANVAS_CAIRO_H
#define FXS_RENDER_CANVAS_CAIRO_H

#include <cairo.h>

#include "pictures_library.h"
#include "scene.h"

typedef enum fxs_paint_as {
    FXS_PAINT_VECTORS,
    FXS_PAINT_PIXELS, /* lines of tables are moved to whole pixels of the device */
    FXS_PAINT_SMALL   /* vectors without texts, for where these can't be read */
} fxs_paint_as;

/* Paints what touches `seen` with cr's transformation. */
void fxs_paint(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, fxs_paint_as as);

#endif
