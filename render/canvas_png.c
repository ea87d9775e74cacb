/* canvas_png.c: the scene as PNG, drawn in bands: a small image surface is painted, turned into
 * rows and handed to libpng, then used again, so that memory stays small and neither side is bound
 * to cairo's 32767 pixels. Called through its row in draw.c. */
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "canvas.h"
#include "canvas_cairo.h"

enum {
    FIT_SIDE = 32767,   /* what other programs open */
    MAX_SIDE = 1000000, /* libpng's own limit */
    MAX_BAND = 512      /* rows */
};
#define MAX_PIXELS 4e9

typedef struct png {
    fxs_ctx *ctx;
    const fxs_scene *scene;
    fxs_sink *out;
    double scale; /* pixels a point */
    uint32_t w, h, band, tile;
    cairo_surface_t *surface; /* tile x band */
    unsigned char *rows;      /* w x band, 3 bytes a pixel */
    png_structp write;
    png_infop info;
} png;

/* ---- size
 * --------------------------------------------------------------------------------------------------
 */

static fxs_status choose_size(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                              png *p) {
    p->scale = opt->dpi / 72;
    double w = ceil(s->w * p->scale), h = ceil(s->h * p->scale), side = fmax(w, h);
    if (side > FIT_SIDE && opt->fit == FXS_FIT_ERROR)
        return fxs_fail(ctx, FXS_ELIMIT,
                        "png: %.0f x %.0f pixels at %g dpi; more than %d a side is not allowed", w,
                        h, opt->dpi, FIT_SIDE);
    if (side > FIT_SIDE && opt->fit == FXS_FIT_SCALE) {
        double factor = FIT_SIDE / (fmax(s->w, s->h) * p->scale);
        p->scale *= factor;
        fxs_buf_printf(opt->notes,
                       "png: scaled to %.3g of its size (%.3g dpi), to fit %d pixels a side\n",
                       factor, opt->dpi * factor, FIT_SIDE);
        w = fmin(ceil(s->w * p->scale), FIT_SIDE);
        h = fmin(ceil(s->h * p->scale), FIT_SIDE);
    } else if (side > MAX_SIDE || w * h > MAX_PIXELS) {
        return fxs_fail(ctx, FXS_ELIMIT,
                        "png: %.0f x %.0f pixels at %g dpi are too many; use a smaller dpi, or svg",
                        w, h, opt->dpi);
    } else if (side > FIT_SIDE) {
        fxs_buf_printf(opt->notes,
                       "png: %.0f x %.0f pixels; some programs open no more than %d a side\n", w, h,
                       FIT_SIDE);
    }
    p->w = (uint32_t)fmax(w, 1);
    p->h = (uint32_t)fmax(h, 1);
    p->tile = p->w < opt->tile ? p->w : opt->tile;
    double rows = (double)opt->band_bytes / (3.0 * p->w + 4.0 * p->tile);
    p->band = (uint32_t)fmin(fmax(rows, 1), fmin(MAX_BAND, p->h));
    return FXS_OK;
}

/* ---- pixels
 * ------------------------------------------------------------------------------------------------
 */

/* cairo's native-endian xRGB becomes the bytes R, G, B in the band's rows, from column x on. */
static void copy_tile(const png *p, uint32_t x, uint32_t w, uint32_t h) {
    size_t stride = (size_t)cairo_image_surface_get_stride(p->surface);
    const unsigned char *from = cairo_image_surface_get_data(p->surface);
    for (uint32_t y = 0; y < h; y++) {
        const unsigned char *line = from + y * stride;
        unsigned char *out = p->rows + ((size_t)y * p->w + x) * 3;
        for (uint32_t i = 0; i < w; i++) {
            uint32_t pixel;
            memcpy(&pixel, line + (size_t)i * 4, 4);
            out[3 * i] = (unsigned char)(pixel >> 16);
            out[3 * i + 1] = (unsigned char)(pixel >> 8);
            out[3 * i + 2] = (unsigned char)pixel;
        }
    }
}

static fxs_status paint_band(png *p, uint32_t y, uint32_t h) {
    for (uint32_t x = 0; x < p->w; x += p->tile) {
        uint32_t w = p->w - x < p->tile ? p->w - x : p->tile;
        cairo_t *cr = cairo_create(p->surface);
        cairo_translate(cr, -(double)x, -(double)y);
        cairo_scale(cr, p->scale, p->scale);
        fxs_area seen = {{x / p->scale, y / p->scale}, {(x + w) / p->scale, (y + h) / p->scale}};
        fxs_paint(cr, p->scene, &seen, true);
        cairo_status_t status = cairo_status(cr);
        cairo_destroy(cr);
        if (status != CAIRO_STATUS_SUCCESS)
            return fxs_fail(p->ctx, FXS_ENOMEM, "png: %s", cairo_status_to_string(status));
        cairo_surface_flush(p->surface);
        copy_tile(p, x, w, h);
    }
    return FXS_OK;
}

/* ---- libpng
 * ------------------------------------------------------------------------------------------------
 */

static void on_error(png_structp write, png_const_charp text) {
    png *p = png_get_error_ptr(write);
    fxs_fail(p->ctx, FXS_EIO, "png: %s", text);
    longjmp(*png_set_longjmp_fn(write, longjmp, sizeof(jmp_buf)), 1);
}

static void on_warning(png_structp write, png_const_charp text) {
    (void)write;
    (void)text;
}

static void on_write(png_structp write, png_bytep data, size_t n) {
    fxs_sink_write(png_get_io_ptr(write), data, n);
}
static void on_flush(png_structp write) { (void)write; }

static void put_header(png *p) {
    const fxs_view *v = p->scene->view;
    png_set_write_fn(p->write, p->out, on_write, on_flush);
    png_set_IHDR(p->write, p->info, p->w, p->h, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    /* Flat colours: filters cost much time and gain nothing. */
    png_set_filter(p->write, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_compression_level(p->write, 6);
    uint32_t per_metre = (uint32_t)lround(p->scale * 72 / 0.0254);
    png_set_pHYs(p->write, p->info, per_metre, per_metre, PNG_RESOLUTION_METER);
    char key[] = "Title";
    png_text title = {.compression = PNG_ITXT_COMPRESSION_NONE,
                      .key = key,
                      .text = (char *)(v->title.len ? v->title.text : v->name)};
    png_set_text(p->write, p->info, &title, 1);
    png_write_info(p->write, p->info);
}

/* Everything between setjmp and a jump; whatever is owned is in *p, so that nothing is lost. */
static fxs_status encode(png *p) {
    if (setjmp(png_jmpbuf(p->write)))
        return fxs_ctx_status(p->ctx);
    put_header(p);
    for (uint32_t y = 0; y < p->h; y += p->band) {
        uint32_t h = p->h - y < p->band ? p->h - y : p->band;
        FXS_TRY(paint_band(p, y, h));
        for (uint32_t i = 0; i < h; i++)
            png_write_row(p->write, p->rows + (size_t)i * p->w * 3);
        if (p->out->error) /* the rest would be drawn for nothing */
            return FXS_OK;
    }
    png_write_end(p->write, p->info);
    return FXS_OK;
}

fxs_status fxs_canvas_png(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    png p = {.ctx = ctx, .scene = s, .out = out};
    FXS_TRY(choose_size(ctx, s, opt, &p));
    p.rows = fxs_alloc((size_t)p.w * p.band, 3);
    p.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)p.tile, (int)p.band);
    p.write = png_create_write_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    p.info = p.write ? png_create_info_struct(p.write) : NULL;
    fxs_status status = FXS_ENOMEM;
    if (p.rows && p.info && cairo_surface_status(p.surface) == CAIRO_STATUS_SUCCESS)
        status = encode(&p);
    else
        fxs_fail_memory(ctx);
    png_destroy_write_struct(&p.write, &p.info);
    cairo_surface_destroy(p.surface);
    fxs_free(p.rows);
    return status;
}
