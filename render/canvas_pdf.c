/* canvas_pdf.c: the scene as a PDF of one page, with real text. The creation date is fixed
 * (SOURCE_DATE_EPOCH, or a constant), so that equal input gives equal bytes. Called through its row
 * in draw.c. */
#include <cairo-pdf.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "canvas.h"
#include "canvas_cairo.h"

enum { MAX_SIDE = 14400 }; /* points: viewers show no larger page */

static cairo_status_t write_sink(void *sink, const unsigned char *data, unsigned n) {
    fxs_sink_write(sink, data, n);
    return CAIRO_STATUS_SUCCESS; /* the sink keeps the error, and its text is better than cairo's */
}

static void set_date(cairo_surface_t *surface) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t seconds = epoch ? (time_t)strtoll(epoch, NULL, 10) : 946684800; /* 2000-01-01 */
    char text[40];
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        return;
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, text);
}

fxs_status fxs_canvas_pdf(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    double scale = fxs_canvas_scale(s, opt, 0.75, "pdf");
    scale = fmin(scale, MAX_SIDE / fmax(s->w, s->h));
    const fxs_view *v = s->view;
    if (scale < 1)
        fxs_buf_printf(opt->notes,
                       "pdf: scaled to %.3g of its size, to fit a page of %d points (200 inches)\n",
                       scale, MAX_SIDE);
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(write_sink, out, s->w * scale, s->h * scale);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
                                   v->title.len ? v->title.text : v->name);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, v->description);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "fxscope " FXS_VERSION);
    set_date(surface);
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    fxs_paint(cr, s, &(fxs_area){{0, 0}, {s->w, s->h}}, false);
    cairo_show_page(cr);
    cairo_status_t drawn = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    cairo_status_t written = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (drawn == CAIRO_STATUS_SUCCESS && written == CAIRO_STATUS_SUCCESS)
        return FXS_OK;
    return fxs_fail(ctx, FXS_ENOMEM, "pdf: %s", cairo_status_to_string(drawn ? drawn : written));
}
