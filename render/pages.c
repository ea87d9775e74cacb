/* pages.c: see pages.h. Called by canvas_pdf.c. */
#include "pages.h"

#include <math.h>
#include <string.h>

#include "cuts.h"

fxs_area fxs_pages_inside(double w, double h) {
    double margin = fmin(FXS_PAGE_MARGIN, fmin(w, h) / 20), border = margin + FXS_PAGE_ZONE;
    return (fxs_area){{border, border}, {w - border, h - border - FXS_PAGE_FOOT}};
}

size_t fxs_page_number(const fxs_pages *p, size_t page) { return page + (p->n > 1 ? 2 : 1); }

/* ---- parts of the picture
 * ------------------------------------------------------------------------------------ */

/* What the scene shows within an area; empty when it is blank there. */
static fxs_area shown_in(const fxs_scene *s, const fxs_area *in) {
    fxs_area e = fxs_area_none();
    FXS_AREAS_EACH (i, s->node_areas, *in)
        fxs_area_join(&e, &s->node_areas.level[0][i]);
    FXS_AREAS_EACH (i, s->frame_areas, *in)
        fxs_area_join(&e, &s->frames[i]);
    FXS_AREAS_EACH (i, s->edge_areas, *in) {
        const fxs_curve *c = &s->curves[i];
        for (size_t k = 0; k + 3 < c->n; k += 3) {
            fxs_area piece = fxs_area_none();
            for (size_t j = 0; j < 4; j++)
                fxs_area_reach(&piece, c->points[k + j].x, c->points[k + j].y);
            if (fxs_area_touches(&piece, in))
                fxs_area_join(&e, &piece);
        }
        if (fxs_label_shown(s, i)) {
            fxs_area label = fxs_scene_label(s, i);
            if (fxs_area_touches(&label, in))
                fxs_area_join(&e, &label);
        }
    }
    fxs_area other;
    for (size_t i = 0; fxs_scene_other(s, i, &other); i++)
        if (fxs_area_touches(&other, in))
            fxs_area_join(&e, &other);
    return e;
}

/* The part of a band that is not blank, across it; all of it when that fits on one page, so that
 * what is straight stays so from page to page. */
static fxs_area trim_band(const fxs_scene *s, bool lr, fxs_area band, double room) {
    double all = lr ? s->h : s->w;
    if (all <= room)
        return band;
    fxs_area e = shown_in(s, &band);
    if (e.low.x > e.high.x)
        return band;
    if (lr) {
        band.low.y = fmax(e.low.y - FXS_PAGES_AROUND, 0);
        band.high.y = fmin(e.high.y + FXS_PAGES_AROUND, s->h);
    } else {
        band.low.x = fmax(e.low.x - FXS_PAGES_AROUND, 0);
        band.high.x = fmin(e.high.x + FXS_PAGES_AROUND, s->w);
    }
    return band;
}

static bool is_blank(const fxs_scene *s, const fxs_area *a) {
    fxs_area in = fxs_area_grown(*a, -1), e = shown_in(s, &in);
    return e.low.x > e.high.x;
}

static bool add_page(fxs_pages *p, size_t *room, fxs_page page) {
    if (p->n == *room) {
        size_t more = 2 * *room + 16;
        fxs_page *list = FXS_NEW_N(&p->arena, fxs_page, more);
        if (!list)
            return false;
        if (p->n)
            memcpy(list, p->pages, p->n * sizeof *list);
        p->pages = list;
        *room = more;
    }
    p->pages[p->n++] = page;
    return true;
}

/* Bands along the flow first, then each of them across. */
static fxs_status cut_pages(fxs_pages *p) {
    const fxs_scene *s = p->scene;
    bool lr = s->view->lr;
    fxs_area all = {{0, 0}, {s->w, s->h}};
    double w = (p->inside.high.x - p->inside.low.x) / p->scale,
           h = (p->inside.high.y - p->inside.low.y) / p->scale, *bands, *cuts;
    size_t boxes, n, room = 0;
    FXS_TRY(fxs_cut_pieces(s, lr, &all, lr ? w : h, &p->arena, &bands, &p->nbands, &boxes));
    for (size_t b = 0; b < p->nbands; b++) {
        fxs_area band = lr ? (fxs_area){{bands[b], 0}, {bands[b + 1], s->h}}
                           : (fxs_area){{0, bands[b]}, {s->w, bands[b + 1]}};
        band = trim_band(s, lr, band, lr ? h : w);
        FXS_TRY(fxs_cut_pieces(s, !lr, &band, lr ? h : w, &p->arena, &cuts, &n, &boxes));
        p->wide = n > p->wide ? n : p->wide;
        for (size_t c = 0; c < n; c++) {
            fxs_page page = {.area = band, .band = b};
            *(lr ? &page.area.low.y : &page.area.low.x) = cuts[c];
            *(lr ? &page.area.high.y : &page.area.high.x) = cuts[c + 1];
            if (p->nbands * n > 1 && is_blank(s, &page.area))
                continue;
            if (!add_page(p, &room, page))
                return FXS_ENOMEM;
        }
    }
    return FXS_OK;
}

/* The first page that does not end before that place along the flow. */
static size_t first_page(const fxs_pages *p, double along) {
    bool lr = p->scene->view->lr;
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const fxs_point *end = &p->pages[middle].area.high;
        if ((lr ? end->x : end->y) < along)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The page that most of a box is on: that of its middle. */
static fxs_status find_pages(fxs_pages *p) {
    const fxs_scene *s = p->scene;
    p->page_of = FXS_NEW_N(&p->arena, size_t, s->view->nnodes);
    p->names = FXS_NEW_N(&p->arena, const char *, s->view->nnodes);
    if (!p->page_of || !p->names)
        return FXS_ENOMEM;
    for (size_t i = 0; i < s->view->nnodes; i++) {
        fxs_area box = fxs_scene_box(s, i);
        fxs_point m = {(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2};
        for (size_t k = first_page(p, s->view->lr ? m.x : m.y); k < p->n; k++) {
            const fxs_area *a = &p->pages[k].area;
            if (m.x >= a->low.x && m.x <= a->high.x && m.y >= a->low.y && m.y <= a->high.y) {
                p->page_of[i] = k;
                break;
            }
        }
    }
    return FXS_OK;
}

/* A page reaches over to its neighbours for boxes of its own that lie over its border, as far as
 * there is room. */
static void reach_over(fxs_pages *p) {
    const fxs_scene *s = p->scene;
    double w = (p->inside.high.x - p->inside.low.x) / p->scale,
           h = (p->inside.high.y - p->inside.low.y) / p->scale;
    for (size_t i = 0; i < s->view->nnodes && p->n; i++) {
        fxs_area *page = &p->pages[p->page_of[i]].area, wider = *page,
                 box = fxs_area_grown(fxs_scene_box(s, i), FXS_CUT_NEAR);
        fxs_area_reach(&wider, fmax(box.low.x, 0), fmax(box.low.y, 0));
        fxs_area_reach(&wider, fmin(box.high.x, s->w), fmin(box.high.y, s->h));
        if (wider.high.x - wider.low.x <= w && wider.high.y - wider.low.y <= h)
            *page = wider;
        else
            p->boxes++;
    }
}

fxs_point fxs_page_place(const fxs_pages *p, size_t page, fxs_point at) {
    const fxs_area *a = &p->pages[page].area, *in = &p->inside;
    double left = (in->low.x + in->high.x - (a->high.x - a->low.x) * p->scale) / 2;
    return (fxs_point){left + (at.x - a->low.x) * p->scale,
                       in->low.y + (at.y - a->low.y) * p->scale};
}

/* A line for each of the frames that may be around a place, so that all can be named above a
 * page; fewer on small pages, which are for the picture. */
static int frame_lines(const fxs_view *v, double h) {
    const int most = (int)fmin(5, h / 8 / FXS_PAGE_LINE);
    int deepest = 0;
    for (size_t i = 1; i < v->nclusters; i++) {
        int depth = 0;
        for (size_t c = i; c && depth < most; c = v->clusters[c].parent)
            depth++;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

fxs_status fxs_pages_make(const fxs_scene *s, double scale, double w, double h, fxs_pages *out) {
    *out = (fxs_pages){.scene = s, .scale = scale, .w = w, .h = h};
    out->inside = fxs_pages_inside(w, h);
    out->frame_lines = frame_lines(s->view, out->inside.high.y - out->inside.low.y);
    out->inside.low.y += out->frame_lines * FXS_PAGE_LINE;
    FXS_TRY(cut_pages(out));
    FXS_TRY(find_pages(out));
    reach_over(out);
    FXS_TRY(fxs_page_pieces(out));
    return fxs_page_refs(out);
}

void fxs_pages_free(fxs_pages *p) { fxs_arena_clear(&p->arena); }
