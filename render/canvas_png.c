/* canvas_png.c: the scene as PNG, drawn in bands: a small image surface is painted, turned into
 * rows and handed to libpng, then used again, so that memory stays small and neither side is bound
 * to cairo's 32767 pixels. Called through its row in draw.c. */
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "canvas.h"
#include "canvas_cairo.h"
#include "cuts.h"

enum {
    OVERLAP = 32,       /* pixels that tiles share */
    MAX_SIDE = 1000000, /* libpng's own limit */
    MAX_BAND = 512      /* rows */
};
#define MAX_PIXELS 4e9

typedef struct png {
    fxs_ctx *ctx;
    const fxs_scene *scene;
    fxs_sink *out;
    double scale;     /* pixels a point */
    double left, top; /* of the part that is drawn, in pixels of the whole */
    uint32_t w, h, band, tile;
    cairo_surface_t *surface; /* tile x band */
    unsigned char *rows;      /* w x band, 3 bytes a pixel */
    png_structp write;
    png_infop info;
} png;

/* ---- size
 * --------------------------------------------------------------------------------------------------
 */

/* Scaled until it fits; what that makes of the text is said, or is too little. */
static fxs_status scale_down(fxs_ctx *ctx, const fxs_canvas_options *opt, double factor,
                             double *scale) {
    *scale *= factor;
    double text = fxs_faces[FXS_INK_TEXT].size * *scale;
    if (fxs_canvas_unreadable(*scale) && !opt->force)
        return fxs_fail(ctx, FXS_ELIMIT,
                        "png: scaled to fit %.0f x %.0f pixels, text would be %.2g pixels high, "
                        "which can't be read; use strips, tiles or columns, or force it (force, "
                        "--force)",
                        opt->most_w, opt->most_h, text);
    fxs_buf_printf(opt->notes,
                   "png: scaled to %.3g of its size (%.3g dpi, text %.2g pixels high), to fit %.0f "
                   "x %.0f pixels\n",
                   factor, *scale * 72, text, opt->most_w, opt->most_h);
    return FXS_OK;
}

/* What the width or the resolution that was asked for makes of the text: no program can make it
 * larger again. */
static fxs_status check_text(fxs_ctx *ctx, const fxs_canvas_options *opt, double scale) {
    if (opt->force || !fxs_canvas_unreadable(scale))
        return FXS_OK;
    return fxs_fail(ctx, FXS_ELIMIT,
                    "png: at this %s text would be %.2g pixels high, which can't be read; use a "
                    "larger one, columns, svg or pdf, or force it (force, --force)",
                    opt->width.value > 0 ? "width" : "resolution",
                    fxs_faces[FXS_INK_TEXT].size * scale);
}

/* The scale, and the size in pixels; whether that is more than a file may have. */
static fxs_status choose_scale(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                               double *scale, double *w, double *h, bool *parts) {
    *scale = opt->dpi / 72 * fxs_canvas_scale(s, opt, 72 / opt->dpi, "png");
    FXS_TRY(check_text(ctx, opt, *scale));
    *w = fmax(ceil(s->w * *scale - 1e-6), 1);
    *h = fmax(ceil(s->h * *scale - 1e-6), 1);
    *parts = *w > opt->most_w || *h > opt->most_h;
    if (*parts && opt->fit == FXS_FIT_ERROR)
        return fxs_fail(ctx, FXS_ELIMIT,
                        "png: %.0f x %.0f pixels at %g dpi; more than %.0f x %.0f are not allowed",
                        *w, *h, opt->dpi, opt->most_w, opt->most_h);
    if (*parts && opt->fit == FXS_FIT_SCALE) {
        FXS_TRY(scale_down(
            ctx, opt, fmin(opt->most_w / (s->w * *scale), opt->most_h / (s->h * *scale)), scale));
        *w = fmax(fmin(ceil(s->w * *scale), opt->most_w), 1);
        *h = fmax(fmin(ceil(s->h * *scale), opt->most_h), 1);
        *parts = false;
    }
    return FXS_OK;
}

static fxs_status check_size(fxs_ctx *ctx, const fxs_canvas_options *opt, double w, double h,
                             bool too_large) {
    if (w > MAX_SIDE || h > MAX_SIDE || w * h > MAX_PIXELS)
        return fxs_fail(ctx, FXS_ELIMIT,
                        "png: %.0f x %.0f pixels at %g dpi are too many; use a smaller dpi, tiles, "
                        "or svg",
                        w, h, opt->dpi);
    if (too_large)
        fxs_buf_printf(opt->notes,
                       "png: %.0f x %.0f pixels; some programs open no more than %.0f a side\n", w,
                       h, fmax(opt->most_w, opt->most_h));
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
        cairo_translate(cr, -(p->left + x), -(p->top + y));
        cairo_scale(cr, p->scale, p->scale);
        fxs_area seen = {{(p->left + x) / p->scale, (p->top + y) / p->scale},
                         {(p->left + x + w) / p->scale, (p->top + y + h) / p->scale}};
        fxs_paint(cr, p->scene, &seen, FXS_PAINT_PIXELS);
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

/* One file: the part of the scaled picture from left, top on. */
static fxs_status draw_part(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                            double scale, fxs_area pixels, fxs_sink *out) {
    png p = {.ctx = ctx, .scene = s, .out = out, .scale = scale};
    p.left = pixels.low.x;
    p.top = pixels.low.y;
    p.w = (uint32_t)(pixels.high.x - pixels.low.x);
    p.h = (uint32_t)(pixels.high.y - pixels.low.y);
    p.tile = p.w < opt->tile ? p.w : opt->tile;
    double rows = (double)opt->band_bytes / (3.0 * p.w + 4.0 * p.tile);
    p.band = (uint32_t)fmin(fmax(rows, 1), fmin(MAX_BAND, p.h));
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

/* ---- several files
 * ------------------------------------------------------------------------------------------- */

/* Where the files begin and end along one side, in pixels. Within the last half of what a file may
 * hold, where the fewest boxes are cut. */
typedef struct sides {
    double *cuts; /* n + 1 */
    size_t n, boxes;
} sides;

static fxs_status cut_side(const fxs_scene *s, bool x, double scale, double size, double most,
                           fxs_arena *a, sides *out) {
    fxs_area all = {{0, 0}, {s->w, s->h}};
    FXS_TRY(fxs_cut_pieces(s, x, &all, (most - 2) / scale, a, &out->cuts, &out->n, &out->boxes));
    for (size_t i = 0; i <= out->n; i++)
        out->cuts[i] = i == out->n ? size : floor(out->cuts[i] * scale);
    return FXS_OK;
}

static void tell_parts(const fxs_canvas_options *opt, const char *what, size_t n, double w,
                       double h, size_t boxes) {
    fxs_buf_printf(opt->notes, "png: %.0f x %.0f pixels in %zu %s: %s to %s\n", w, h, n, what,
                   opt->parts->first->path, opt->parts->last->path);
    if (boxes)
        fxs_buf_printf(opt->notes, "png: %zu boxes or labels are larger than a file and are cut\n",
                       boxes);
}

/* Rows and columns of files; strips are one of them. */
static fxs_status draw_parts(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                             double scale, double w, double h, const sides *x, const sides *y) {
    bool tiles = opt->fit == FXS_FIT_TILE;
    double more = tiles ? OVERLAP / 2 : 0;
    for (size_t r = 0; r < y->n; r++)
        for (size_t c = 0; c < x->n; c++) {
            char suffix[64];
            fxs_sink *out;
            if (tiles)
                snprintf(suffix, sizeof suffix, "-r%zu-c%zu", r + 1, c + 1);
            else
                snprintf(suffix, sizeof suffix, "-%zu", r + c + 1);
            fxs_area part = {{fmax(x->cuts[c] - more, 0), fmax(y->cuts[r] - more, 0)},
                             {fmin(x->cuts[c + 1] + more, w), fmin(y->cuts[r + 1] + more, h)}};
            FXS_TRY(fxs_parts_next(ctx, opt->parts, suffix, &out));
            FXS_TRY(draw_part(ctx, s, opt, scale, part, out));
        }
    tell_parts(opt, tiles ? "tiles" : "strips", x->n * y->n, w, h, x->boxes + y->boxes);
    return FXS_OK;
}

static fxs_status draw_several(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                               double scale, double w, double h) {
    bool tiles = opt->fit == FXS_FIT_TILE;
    double more = tiles ? OVERLAP : 0;
    sides x, y;
    if (!tiles && w > opt->most_w && h > opt->most_h)
        return fxs_fail(
            ctx, FXS_ELIMIT,
            "png: %.0f x %.0f pixels: strips of at most %.0f x %.0f would be cut across "
            "too; use tiles",
            w, h, opt->most_w, opt->most_h);
    if (!opt->parts || !opt->parts->path)
        return fxs_parts_next(ctx, &(fxs_parts){0}, "", &(fxs_sink *){NULL});
    fxs_arena a = {0};
    fxs_status status =
        cut_side(s, true, scale, w, w > opt->most_w ? opt->most_w - more : w + 3, &a, &x);
    if (status == FXS_OK)
        status = cut_side(s, false, scale, h, h > opt->most_h ? opt->most_h - more : h + 3, &a, &y);
    status = status == FXS_OK ? draw_parts(ctx, s, opt, scale, w, h, &x, &y) : fxs_fail_memory(ctx);
    fxs_arena_clear(&a);
    return status;
}

fxs_status fxs_canvas_png(fxs_ctx *ctx, const fxs_scene *s, const fxs_canvas_options *opt,
                          fxs_sink *out) {
    double scale, w, h;
    bool too_large;
    FXS_TRY(fxs_pictures_need(ctx));
    FXS_TRY(choose_scale(ctx, s, opt, &scale, &w, &h, &too_large));
    if (too_large && (opt->fit == FXS_FIT_TILE || opt->fit == FXS_FIT_STRIP))
        return draw_several(ctx, s, opt, scale, w, h);
    FXS_TRY(check_size(ctx, opt, w, h, too_large));
    return draw_part(ctx, s, opt, scale, (fxs_area){{0, 0}, {w, h}}, out);
}
