/* canvas_cairo.h: a scene painted with cairo, for PNG and PDF: the same places, colours and texts
 * as the SVG. */
#ifndef FXS_RENDER_CANVAS_CAIRO_H
#define FXS_RENDER_CANVAS_CAIRO_H

#include <cairo.h>

#include "pictures_library.h"
#include "scene.h"

/* Paints what touches `seen` with cr's transformation. `crisp` moves the lines of tables to whole
 * pixels of the device.
 */
void fxs_paint(cairo_t *cr, const fxs_scene *s, const fxs_area *seen, bool crisp);

#endif
