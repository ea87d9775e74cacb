/* canvas_pages.c: see canvas_pages.h. Called by canvas_pdf.c. */
#include "canvas_pages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "canvas_cairo.h"
#include "cuts.h"

enum { OVERVIEW_GAP = 14 };
#define LEAST_TEXT 0.8 /* points: smaller ones are specks */
#define TEXT_DOWN 2.4  /* from the middle of a line to its baseline */

static void set_color(cairo_t *cr, fxs_color c, double alpha) {
    cairo_set_source_rgba(cr, (c >> 16 & 0xff) / 255.0, (c >> 8 & 0xff) / 255.0, (c & 0xff) / 255.0,
                          alpha);
}

/* A text with the left end of its baseline at x, y. */
static void show(cairo_t *cr, const fxs_view *v, double size, fxs_ink ink, const char *text,
                 size_t len, double x, double y) {
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, size, size);
    fxs_fonts_show(v->fonts, cr, ink, text, len, 0, 0);
    cairo_restore(cr);
}

static double text_width(const fxs_view *v, fxs_ink ink, const char *text, size_t len, bool *ok) {
    double w;
    *ok &= fxs_fonts_width(v->fonts, ink, text, len, &w);
    return w;
}

static void paint_paper(cairo_t *cr, const fxs_view *v) {
    set_color(cr, v->theme->background, 1);
    cairo_paint(cr);
}

static void name_page(cairo_t *cr, size_t number) {
    char attributes[40];
    snprintf(attributes, sizeof attributes, "name='page-%zu'", number);
    cairo_tag_begin(cr, CAIRO_TAG_DEST, attributes);
    cairo_tag_end(cr, CAIRO_TAG_DEST);
}

/* Whole numbers: what cairo reads must not depend on the locale. */
static void link_to(cairo_t *cr, size_t number, fxs_area a) {
    char attributes[160];
    snprintf(attributes, sizeof attributes, "dest='page-%zu' rect=[%ld %ld %ld %ld]", number,
             lround(a.low.x), lround(a.low.y), lround(a.high.x - a.low.x),
             lround(a.high.y - a.low.y));
    cairo_tag_begin(cr, CAIRO_TAG_LINK, attributes);
    cairo_tag_end(cr, CAIRO_TAG_LINK);
}

/* ---- foot ---- */

/* *ok becomes false when memory is out, here and below. */
static void paint_foot(cairo_t *cr, const fxs_pages *p, size_t number, size_t of, bool *ok) {
    const fxs_view *v = p->scene->view;
    double margin = p->inside.low.x - FXS_PAGE_ZONE, y = p->h - margin - 2;
    char text[80];
    int n = snprintf(text, sizeof text, "page %zu of %zu", number, of);
    double w = text_width(v, FXS_INK_KEY, text, (size_t)n, ok) * FXS_PAGE_TEXT,
           room = p->w - 2 * margin - w - 2 * FXS_PAGE_LINE;
    set_color(cr, v->theme->ink[FXS_INK_KEY], 1);
    show(cr, v, FXS_PAGE_TEXT, FXS_INK_KEY, text, (size_t)n, p->w - margin - w, y);
    const char *name = v->title.len ? v->title.text : v->name;
    size_t len = strlen(name);
    cairo_save(cr);
    cairo_rectangle(cr, margin, y - 2 * FXS_PAGE_LINE, fmax(room, 0), 3 * FXS_PAGE_LINE);
    cairo_clip(cr);
    show(cr, v, FXS_PAGE_TEXT, FXS_INK_KEY, name, len, margin, y);
    cairo_restore(cr);
}

/* ---- references ---- */

/* In the coordinates of a side: x along it, y away from the picture. */
static void turn_to_side(cairo_t *cr, const fxs_pages *p, size_t page, fxs_page_side side) {
    fxs_point low = fxs_page_place(p, page, p->pages[page].area.low),
              high = fxs_page_place(p, page, p->pages[page].area.high);
    cairo_matrix_t top = {1, 0, 0, -1, 0, low.y}, bottom = {1, 0, 0, 1, 0, high.y},
                   left = {0, 1, -1, 0, low.x, 0}, right = {0, 1, 1, 0, high.x, 0};
    cairo_transform(cr, side == FXS_PAGE_TOP      ? &top
                        : side == FXS_PAGE_BOTTOM ? &bottom
                        : side == FXS_PAGE_LEFT   ? &left
                                                  : &right);
}

/* The line goes on a little; its arrow points where it goes. */
static void paint_mark(cairo_t *cr, const fxs_theme *t, const fxs_page_ref *r) {
    double x = r->place, end = FXS_PAGE_TICK + FXS_PAGE_ARROW,
           base = r->leaves ? FXS_PAGE_TICK : end, tip = r->leaves ? end : FXS_PAGE_TICK;
    set_color(cr, t->edge, 1);
    cairo_set_line_width(cr, fmin(1, r->half));
    cairo_move_to(cr, x, 0);
    cairo_line_to(cr, x, FXS_PAGE_TICK);
    cairo_stroke(cr);
    cairo_move_to(cr, x, tip);
    cairo_line_to(cr, x - r->half, base);
    cairo_line_to(cr, x + r->half, base);
    cairo_close_path(cr);
    cairo_fill(cr);
}

/* From the mark to a text further out. */
static void paint_leader(cairo_t *cr, const fxs_theme *t, const fxs_page_ref *r) {
    double x = r->place, middle = fxs_page_line_at(r->line);
    set_color(cr, r->frame ? t->nontensor : t->ink[FXS_INK_KEY], 1);
    cairo_set_line_width(cr, 0.4);
    cairo_move_to(cr, x, r->frame ? 0 : FXS_PAGE_TICK + FXS_PAGE_ARROW);
    cairo_line_to(cr, x, middle);
    cairo_line_to(cr, r->text_at > x ? r->text_at - 1 : r->text_at + r->width + 1, middle);
    cairo_stroke(cr);
}

static void paint_ref_text(cairo_t *cr, const fxs_pages *p, const fxs_page_ref *r, fxs_area at,
                           fxs_buf *text) {
    const fxs_view *v = p->scene->view;
    cairo_save(cr);
    set_color(cr, v->theme->ink[FXS_INK_KEY], 1);
    if (r->side == FXS_PAGE_LEFT || r->side == FXS_PAGE_RIGHT) { /* read from below */
        cairo_translate(cr, (at.low.x + at.high.x) / 2 + TEXT_DOWN, at.high.y);
        cairo_rotate(cr, -acos(-1) / 2);
    } else {
        cairo_translate(cr, at.low.x, (at.low.y + at.high.y) / 2 + TEXT_DOWN);
    }
    show(cr, v, FXS_PAGE_TEXT, FXS_INK_KEY, text->data, text->len, 0, 0);
    cairo_restore(cr);
}

static void paint_ref(cairo_t *cr, const fxs_pages *p, size_t page, const fxs_page_ref *r,
                      fxs_buf *text, bool *ok) {
    fxs_ref_shape shape = fxs_page_ref_shape(p, page, r);
    fxs_area where = shape.mark;
    cairo_save(cr);
    turn_to_side(cr, p, page, r->side);
    if (!r->frame)
        paint_mark(cr, p->scene->view->theme, r);
    if (r->frame ? r->line >= 0 : r->line > 0)
        paint_leader(cr, p->scene->view->theme, r);
    cairo_restore(cr);
    if (r->line < 0)
        return;
    fxs_page_ref_text(p, r, r->form, text);
    *ok &= !text->failed;
    if (!*ok)
        return;
    paint_ref_text(cr, p, r, shape.text, text);
    fxs_area_join(&where, &shape.text);
    if (!r->frame)
        link_to(cr, fxs_page_number(p, r->page), where);
}

static void paint_refs(cairo_t *cr, const fxs_pages *p, size_t page, bool *ok) {
    fxs_buf text = {0};
    for (size_t i = 0; i < p->pages[page].nrefs && *ok; i++)
        paint_ref(cr, p, page, &p->pages[page].refs[i], &text, ok);
    fxs_buf_free(&text);
}

/* ---- pages ---- */

static void paint_part(cairo_t *cr, const fxs_pages *p, const fxs_area *area, fxs_point to,
                       double scale) {
    cairo_save(cr);
    cairo_translate(cr, to.x, to.y);
    cairo_scale(cr, scale, scale);
    cairo_translate(cr, -area->low.x, -area->low.y);
    cairo_rectangle(cr, area->low.x, area->low.y, area->high.x - area->low.x,
                    area->high.y - area->low.y);
    cairo_clip(cr);
    bool small = scale * fxs_faces[FXS_INK_KEY].size < LEAST_TEXT;
    fxs_paint(cr, p->scene, area, small ? FXS_PAINT_SMALL : FXS_PAINT_VECTORS);
    cairo_restore(cr);
}

static void rectangle(cairo_t *cr, fxs_area a) {
    cairo_rectangle(cr, a.low.x, a.low.y, a.high.x - a.low.x, a.high.y - a.low.y);
}

static void paint_piece_text(cairo_t *cr, const fxs_pages *p, const fxs_page_piece *piece) {
    char text[40];
    size_t len = fxs_page_piece_text(p, piece, piece->form == FXS_PIECE_NUMBER, text, sizeof text);
    cairo_save(cr);
    cairo_translate(cr, (piece->at.low.x + piece->at.high.x) / 2,
                    (piece->at.low.y + piece->at.high.y) / 2);
    if (piece->turned)
        cairo_rotate(cr, -acos(-1) / 2);
    set_color(cr, p->scene->view->theme->ink[FXS_INK_KEY], 1);
    show(cr, p->scene->view, FXS_PAGE_TEXT, FXS_INK_KEY, text, len, -piece->width / 2, TEXT_DOWN);
    cairo_restore(cr);
}

/* With the half pixels of the picture behind the place where the page ends. */
static fxs_area piece_cover(const fxs_area *page, const fxs_page_piece *piece) {
    fxs_area out = piece->at;
    out.low.x -= piece->seen.low.x > page->low.x ? 0 : 0.5;
    out.low.y -= piece->seen.low.y > page->low.y ? 0 : 0.5;
    out.high.x += piece->seen.high.x < page->high.x ? 0 : 0.5;
    out.high.y += piece->seen.high.y < page->high.y ? 0 : 0.5;
    return out;
}

/* Over the piece that was painted with the picture. Its outline is that of the whole box, so it has
 * no line where the page ends. */
static void paint_piece(cairo_t *cr, const fxs_pages *p, size_t page, const fxs_page_piece *piece) {
    const fxs_theme *t = p->scene->view->theme;
    fxs_area box = fxs_scene_box(p->scene, piece->node);
    box = (fxs_area){fxs_page_place(p, page, box.low), fxs_page_place(p, page, box.high)};
    cairo_save(cr);
    rectangle(cr, piece_cover(&p->pages[page].area, piece));
    cairo_clip(cr);
    set_color(cr, t->background, 1);
    cairo_paint(cr);
    if (piece->form != FXS_PIECE_HIDDEN) {
        set_color(cr, t->nontensor, 1);
        cairo_set_line_width(cr, 0.75);
        cairo_set_dash(cr, (double[]){3, 2}, 2, 0);
        rectangle(cr, box);
        cairo_stroke(cr);
    }
    cairo_restore(cr);
    if (piece->form >= FXS_PIECE_NUMBER)
        paint_piece_text(cr, p, piece);
    if (piece->form != FXS_PIECE_HIDDEN)
        link_to(cr, fxs_page_number(p, p->page_of[piece->node]), piece->at);
}

static void paint_pieces(cairo_t *cr, const fxs_pages *p, size_t page) {
    for (size_t i = 0; i < p->pages[page].npieces; i++)
        paint_piece(cr, p, page, &p->pages[page].pieces[i]);
}

/* ---- overview ---- */

/* The picture in strips beside each other, of whole bands: as large as it can be. */
typedef struct overview {
    size_t each; /* bands of a strip */
    double scale;
} overview;

static double band_length(const fxs_pages *p, size_t first, size_t end, bool lr) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->n; i++)
        if (p->pages[i].band >= first && p->pages[i].band < end) {
            const fxs_area *a = &p->pages[i].area;
            low = fmin(low, lr ? a->low.x : a->low.y);
            high = fmax(high, lr ? a->high.x : a->high.y);
        }
    return high > low ? high - low : 0;
}

static double across(const fxs_scene *s) { return s->view->lr ? s->h : s->w; }

static overview choose_overview(const fxs_pages *p) {
    const fxs_scene *s = p->scene;
    bool lr = s->view->lr;
    double w = p->inside.high.x - p->inside.low.x, h = p->inside.high.y - p->inside.low.y;
    double along = lr ? w : h, side = lr ? h : w;
    overview best = {p->nbands, 0};
    for (size_t strips = 1; strips <= p->nbands && strips <= 60; strips++) {
        size_t each = (p->nbands + strips - 1) / strips;
        double longest = 1, room = side - (double)(strips - 1) * OVERVIEW_GAP;
        for (size_t b = 0; b < p->nbands; b += each)
            longest = fmax(longest, band_length(p, b, b + each, lr));
        double scale = fmin(along / longest, room / ((double)strips * across(s)));
        if (scale > best.scale)
            best = (overview){each, scale};
    }
    best.scale = fmin(best.scale, p->scale);
    return best;
}

static void paint_page_frame(cairo_t *cr, const fxs_pages *p, size_t page, fxs_area a, bool *ok) {
    const fxs_view *v = p->scene->view;
    char text[24];
    int n = snprintf(text, sizeof text, "%zu", fxs_page_number(p, page));
    double w = text_width(v, FXS_INK_NAME, text, (size_t)n, ok), h = fxs_faces[FXS_INK_NAME].line,
           x = a.high.x - w - 6, y = a.low.y;
    cairo_rectangle(cr, a.low.x, a.low.y, a.high.x - a.low.x, a.high.y - a.low.y);
    set_color(cr, v->theme->style[FXS_STYLE_CALL_MODULE].line, 1);
    cairo_set_line_width(cr, 0.75);
    cairo_stroke(cr);
    cairo_rectangle(cr, x, y, w + 6, h + 2);
    set_color(cr, v->theme->background, 0.85);
    cairo_fill_preserve(cr);
    set_color(cr, v->theme->style[FXS_STYLE_CALL_MODULE].line, 1);
    cairo_stroke(cr);
    set_color(cr, v->theme->ink[FXS_INK_NAME], 1);
    fxs_fonts_show(v->fonts, cr, FXS_INK_NAME, text, (size_t)n, x + 3,
                   y + 1 + fxs_faces[FXS_INK_NAME].baseline);
    link_to(cr, fxs_page_number(p, page), a);
}

/* Where the strip begins along the flow whose first page that is. */
static double strip_begin(const fxs_pages *p, const overview *o, size_t first) {
    bool lr = p->scene->view->lr;
    size_t strip = p->pages[first].band / o->each;
    double begin = INFINITY;
    for (size_t k = first; k < p->n && p->pages[k].band / o->each == strip; k++)
        begin = fmin(begin, lr ? p->pages[k].area.low.x : p->pages[k].area.low.y);
    return begin;
}

static void paint_overview(cairo_t *cr, const fxs_pages *p, bool *ok) {
    bool lr = p->scene->view->lr;
    overview o = choose_overview(p);
    double step = across(p->scene) * o.scale + OVERVIEW_GAP;
    for (int pass = 0; pass < 2; pass++) { /* numbers are over everything */
        double begin = 0;
        for (size_t i = 0; i < p->n; i++) {
            const fxs_page *page = &p->pages[i];
            size_t strip = page->band / o.each;
            if (i == 0 || p->pages[i - 1].band / o.each != strip)
                begin = strip_begin(p, &o, i);
            double x = lr ? (page->area.low.x - begin) * o.scale
                          : (double)strip * step + page->area.low.x * o.scale;
            double y = lr ? (double)strip * step + page->area.low.y * o.scale
                          : (page->area.low.y - begin) * o.scale;
            fxs_point at = {p->inside.low.x + x, p->inside.low.y + y};
            fxs_area a = {at,
                          {at.x + (page->area.high.x - page->area.low.x) * o.scale,
                           at.y + (page->area.high.y - page->area.low.y) * o.scale}};
            if (pass)
                paint_page_frame(cr, p, i, a, ok);
            else
                paint_part(cr, p, &page->area, at, o.scale);
        }
    }
}

bool fxs_paint_pages(cairo_t *cr, const fxs_pages *p) {
    bool ok = true;
    size_t all = p->n + (p->n > 1);
    if (p->n > 1) {
        paint_paper(cr, p->scene->view);
        name_page(cr, 1);
        paint_overview(cr, p, &ok);
        paint_foot(cr, p, 1, all, &ok);
        cairo_show_page(cr);
    }
    for (size_t i = 0; i < p->n; i++) {
        const fxs_page *page = &p->pages[i];
        paint_paper(cr, p->scene->view);
        name_page(cr, fxs_page_number(p, i));
        paint_part(cr, p, &page->area, fxs_page_place(p, i, page->area.low), p->scale);
        paint_pieces(cr, p, i);
        paint_refs(cr, p, i, &ok);
        paint_foot(cr, p, fxs_page_number(p, i), all, &ok);
        cairo_show_page(cr);
    }
    return ok;
}
