/* canvas_pages.h: paints a picture on pages: an overview, the pages with their references and feet,
 * bookmarks of modules. */
#ifndef FXS_RENDER_CANVAS_PAGES_H
#define FXS_RENDER_CANVAS_PAGES_H

#include <cairo-pdf.h>

#include "pages.h"
#include "pictures_library.h"

/* All pages; the surface has the size of the paper. False: memory is out. */
bool fxs_paint_pages(cairo_t *cr, const fxs_pages *p);
/* Bookmarks of the modules that the nodes belong to. `place` tells page (from 1 on) and place of a
 * node. False: memory is out. */
typedef fxs_point fxs_place_fn(const void *user, size_t node, size_t *page);
bool fxs_add_bookmarks(cairo_surface_t *pdf, const fxs_scene *s, fxs_place_fn *place,
                       const void *user);

#endif
