/* canvas_pdf.c: the scene as a PDF of one page or several, with real text and bookmarks. The
 * creation date is fixed (SOURCE_DATE_EPOCH, or a constant), so that equal input gives equal bytes.
 * Called through its row in draw.c. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "canvas.h"
#include "canvas_cairo.h"
#include "canvas_pages.h"

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

static fxs_point place_on_one(const void *user, size_t node, size_t *page) {
    const fxs_pages *p = user;
    const fxs_box *b = &p->scene->boxes[node];
    *page = 1;
    return (fxs_point){b->x * p->scale, b->y * p->scale};
}

static fxs_point place_on_pages(const void *user, size_t node, size_t *page) {
    const fxs_pages *p = user;
    const fxs_box *b = &p->scene->boxes[node];
    *page = fxs_page_number(p, p->page_of[node]);
    return fxs_page_place(p, p->page_of[node], (fxs_point){b->x, b->y});
}

/* One page as large as the picture when there is no plan for more. */
static bool paint(cairo_t *cr, const fxs_pages *p) {
    const fxs_scene *s = p->scene;
    if (p->n)
        return fxs_paint_pages(cr, p);
    cairo_scale(cr, p->scale, p->scale);
    fxs_paint(cr, s, &(fxs_area){{0, 0}, {s->w, s->h}}, FXS_PAINT_VECTORS);
    cairo_show_page(cr);
    return true;
}

static fxs_status write_pdf(fxs_ctx *ctx, const fxs_pages *p, fxs_sink *out) {
    const fxs_scene *s = p->scene;
    const fxs_view *v = s->view;
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(write_sink, out, p->w, p->h);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
                                   v->title.len ? v->title.text : v->name);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, v->description);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "fxscope " FXS_VERSION);
    set_date(surface);
    cairo_t *cr = cairo_create(surface);
    bool whole =
        paint(cr, p) && fxs_add_bookmarks(surface, s, p->n ? place_on_pages : place_on_one, p);
    cairo_status_t drawn = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    cairo_status_t written = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (drawn == CAIRO_STATUS_SUCCESS && written == CAIRO_STATUS_SUCCESS)
        return whole ? FXS_OK : fxs_fail_memory(ctx);
    return fxs_fail(ctx, FXS_ENOMEM, "pdf: %s", cairo_status_to_string(drawn ? drawn : written));
}

static void tell_pages(const fxs_pages *p, const fxs_canvas_options *opt) {
    const fxs_scene *s = p->scene;
    if (!opt->page_w && p->n > 1)
        fxs_buf_printf(
            opt->notes,
            "pdf: %.0f x %.0f points are more than a page can have (%d, 200 inches): %zu "
            "pages, after an overview\n",
            s->w * p->scale, s->h * p->scale, MAX_SIDE, p->n);
    if (opt->page_w && p->wide > 1 && !s->view->lr && opt->width.value == 0)
        fxs_buf_printf(
            opt->notes,
            "pdf: the picture is %.0f points wide and a page has room for %.0f, so pages "
            "stand side by side; a width of 'page' scales it\n",
            s->w * p->scale, p->inside.high.x - p->inside.low.x);
    if (p->boxes)
        fxs_buf_printf(opt->notes, "pdf: %zu boxes or labels do not fit on a page and are cut\n",
                       p->boxes);
}

/* Pages follow each other as the picture goes on, and columns don't: a page for a part of each
 * column is one that nobody reads. So all columns stand on one page. */
static fxs_status check_columns(fxs_ctx *ctx, const fxs_pages *p, const fxs_canvas_options *opt) {
    const fxs_scene *s = p->scene;
    if (!opt->page_w || p->n < 2 || !s->view->nnodes || !opt->draw || opt->draw->columns < 2)
        return FXS_OK;
    return fxs_fail(ctx, FXS_EINVAL,
                    "pdf: columns go together with pages where all of them fit on one: they need "
                    "%.0f x %.0f points, and a page has room for %.0f x %.0f. Use columns without "
                    "pages, pages without columns (with a width of 'page' they follow each other), "
                    "or other numbers and sizes",
                    s->w * p->scale, s->h * p->scale, p->inside.high.x - p->inside.low.x,
                    p->inside.high.y - p->inside.low.y);
}

enum { MAX_PAGES = 20000 };

static fxs_status write_pages(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                              double scale, double w, double h, fxs_sink *out) {
    fxs_pages p;
    fxs_area inside = fxs_pages_inside(w, h);
    double pages = s->w * scale / (inside.high.x - inside.low.x) * s->h * scale /
                   (inside.high.y - inside.low.y);
    if (pages > MAX_PAGES)
        return fxs_fail(ctx, FXS_ELIMIT,
                        "pdf: %.0f pages of that size are too many (%d): use a larger page, a "
                        "width to scale to, or no pages",
                        pages, MAX_PAGES);
    fxs_status status = fxs_pages_make(s, scale, w, h, &p);
    if (status != FXS_OK)
        fxs_fail_memory(ctx);
    if (status == FXS_OK)
        status = check_columns(ctx, &p, opt);
    if (status == FXS_OK) {
        tell_pages(&p, opt);
        status = write_pdf(ctx, &p, out);
    }
    fxs_pages_free(&p);
    return status;
}

/* As wide as a page has room for, and not larger than it is. */
static double page_scale(const fxs_scene *s, const fxs_canvas_options *opt) {
    fxs_area inside = fxs_pages_inside(opt->page_w, opt->page_h);
    fxs_canvas_options fit = *opt;
    fit.width = (fxs_length){.value = fmin(inside.high.x - inside.low.x, s->w)};
    return fxs_canvas_scale(s, &fit, 1, "pdf");
}

fxs_status fxs_canvas_pdf(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    double scale = opt->width.page ? page_scale(s, opt) : fxs_canvas_scale(s, opt, 0.75, "pdf");
    double w = s->w * scale, h = s->h * scale, border = 2 * (FXS_PAGE_MARGIN + FXS_PAGE_ZONE);
    FXS_TRY(fxs_pictures_need(ctx));
    if (opt->page_w > 0)
        return write_pages(ctx, s, opt, scale, opt->page_w, opt->page_h, out);
    if (w > MAX_SIDE || h > MAX_SIDE)
        return write_pages(ctx, s, opt, scale, fmin(w + border, MAX_SIDE),
                           fmin(h + border + FXS_PAGE_FOOT, MAX_SIDE), out);
    return write_pdf(ctx, &(fxs_pages){.scene = s, .scale = scale, .w = w, .h = h}, out);
}
