/* page_pieces.c: pieces of boxes that are whole on another page and reach into this one: what is
 * shown of each, and the text that says where it is; see pages.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pages.h"

enum { AROUND = 2 /* paper, on both sides of a text */ };
#define LINE 0.6 /* of a box's line, outside of it */

/* Along the flow of a text, and across it. */
static bool has_room(const fxs_page_piece *piece, double width, bool turned) {
    double w = piece->at.high.x - piece->at.low.x, h = piece->at.high.y - piece->at.low.y;
    return (turned ? h : w) >= width + 2 * AROUND && (turned ? w : h) >= FXS_PAGE_LINE;
}

size_t fxs_page_piece_text(const fxs_pages *p, const fxs_page_piece *piece, bool number, char *out,
                           size_t room) {
    size_t page = fxs_page_number(p, p->page_of[piece->node]);
    int n = snprintf(out, room, number ? "%zu" : "page %zu", page);
    return n < 0 ? 0 : (size_t)n;
}

/* The longest text that has room: level, then turned, then the same for the number alone. */
static bool choose_form(const fxs_pages *p, fxs_page_piece *piece) {
    for (int number = 0; number < 2; number++) {
        char text[40];
        size_t len = fxs_page_piece_text(p, piece, number, text, sizeof text);
        double width;
        if (!fxs_fonts_width(p->scene->view->fonts, FXS_INK_KEY, text, len, &width))
            return false;
        width *= FXS_PAGE_TEXT;
        for (int turned = 0; turned < 2; turned++)
            if (piece->form == FXS_PIECE_HIDDEN && has_room(piece, width, turned)) {
                piece->form = number ? FXS_PIECE_NUMBER : FXS_PIECE_PAGE;
                piece->turned = turned;
                piece->width = width;
            }
    }
    return true;
}

/* Whether a line begins or ends in that part of the box: it would come from nowhere. */
static bool has_line(const fxs_scene *s, size_t node, const fxs_area *seen) {
    fxs_area in = fxs_area_grown(*seen, 1);
    FXS_AREAS_EACH (e, s->edge_areas, in) {
        const fxs_curve *c = &s->curves[e];
        const fxs_view_edge *edge = &s->view->edges[e];
        for (int end = 0; end < 2 && c->n; end++) {
            fxs_point at = end ? c->tip : c->points[0];
            fxs_area point = {at, at};
            if ((end ? edge->to : edge->from) == node && fxs_area_touches(&point, &in))
                return true;
        }
    }
    return false;
}

/* False: the box belongs here, is not whole where it belongs, or nothing of it is here. */
static bool find_piece(const fxs_pages *p, size_t page, size_t node, fxs_page_piece *out) {
    const fxs_area *area = &p->pages[page].area, *own = &p->pages[p->page_of[node]].area;
    fxs_area box = fxs_scene_box(p->scene, node), edge = fxs_area_grown(box, LINE);
    fxs_area seen = {{fmax(edge.low.x, area->low.x), fmax(edge.low.y, area->low.y)},
                     {fmin(edge.high.x, area->high.x), fmin(edge.high.y, area->high.y)}};
    if (p->page_of[node] == page || box.low.x < own->low.x || box.low.y < own->low.y ||
        box.high.x > own->high.x || box.high.y > own->high.y || seen.high.x <= seen.low.x ||
        seen.high.y <= seen.low.y)
        return false;
    *out = (fxs_page_piece){.node = node, .seen = seen};
    out->at = (fxs_area){fxs_page_place(p, page, seen.low), fxs_page_place(p, page, seen.high)};
    return true;
}

static fxs_status find_pieces(fxs_pages *p, size_t page, fxs_page_piece *scratch) {
    fxs_page *of = &p->pages[page];
    size_t n = 0;
    FXS_AREAS_EACH (i, p->scene->node_areas, of->area)
        n += find_piece(p, page, i, &scratch[n]);
    for (size_t i = 0; i < n; i++) {
        if (!choose_form(p, &scratch[i]))
            return FXS_ENOMEM;
        if (scratch[i].form == FXS_PIECE_HIDDEN &&
            has_line(p->scene, scratch[i].node, &scratch[i].seen))
            scratch[i].form = FXS_PIECE_OUTLINE;
    }
    of->pieces = FXS_NEW_N(&p->arena, fxs_page_piece, n + 1);
    if (!of->pieces)
        return FXS_ENOMEM;
    if (n)
        memcpy(of->pieces, scratch, n * sizeof *scratch);
    of->npieces = n;
    return FXS_OK;
}

fxs_status fxs_page_pieces(fxs_pages *p) {
    fxs_arena scratch = {0};
    fxs_page_piece *list = FXS_NEW_N(&scratch, fxs_page_piece, p->scene->view->nnodes + 1);
    fxs_status status = list ? FXS_OK : FXS_ENOMEM;
    for (size_t i = 0; i < p->n && status == FXS_OK; i++)
        status = find_pieces(p, i, list);
    fxs_arena_clear(&scratch);
    return status;
}
