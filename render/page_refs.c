/* page_refs.c: where lines that leave a page go on, and which frames go on on it: their marks at
 * its border, and the texts beside them; see pages.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuts.h"
#include "escape.h"
#include "pages.h"

enum { NAME_CHARS = 40, TEXT_GAP = 5, MARK_WIDTH = 5, CLEAR = 1 };
#define FRAME_HALF 0.4  /* of the width of its line */
#define LEAST_HALF 0.6  /* of an arrow's width */
#define LEAST_APART 1.6 /* on paper: lines that are closer have one reference */

/* ---- which lines
 * ------------------------------------------------------------------------------------------------
 */

static size_t far_end(const fxs_pages *p, size_t edge, bool leaves) {
    const fxs_view_edge *e = &p->scene->view->edges[edge];
    return leaves ? e->to : e->from;
}

typedef struct finder {
    fxs_pages *p;
    fxs_page *page;
    size_t room;
    fxs_arena scratch; /* crossings of a side */
    size_t *counted;   /* by node: the last reference that counts it */
    size_t refs;
} finder;

/* Crossings of one direction that are seen as one line. */
static fxs_page_ref make_ref(finder *f, const fxs_crossing *c, size_t n, fxs_page_side side,
                             bool leaves) {
    const fxs_pages *p = f->p;
    fxs_page_ref out = {.side = side, .at = c->at, .until = c[n - 1].at, .leaves = leaves};
    out.node = far_end(p, c->edge, leaves);
    f->counted[out.node] = ++f->refs;
    for (size_t i = 1; i < n; i++) {
        size_t node = far_end(p, c[i].edge, leaves);
        if (f->counted[node] == f->refs)
            continue;
        f->counted[node] = f->refs;
        out.others++;
        size_t page = p->page_of[node], best = p->page_of[out.node];
        if (leaves ? page < best : page > best)
            out.node = node;
    }
    out.page = p->page_of[out.node];
    return out;
}

static bool add_ref(finder *f, fxs_page_ref ref) {
    if (f->page->nrefs == f->room) {
        size_t more = 2 * f->room + 8;
        fxs_page_ref *list = FXS_NEW_N(&f->p->arena, fxs_page_ref, more);
        if (!list)
            return false;
        if (f->page->nrefs)
            memcpy(list, f->page->refs, f->page->nrefs * sizeof *list);
        f->page->refs = list;
        f->room = more;
    }
    f->page->refs[f->page->nrefs++] = ref;
    return true;
}

/* As far as that from the first one lines have one reference: those that are seen as one, and on a
 * side with very many all that are too close for marks of their own. */
static double apart(const fxs_pages *p, const fxs_crossing *c, size_t n) {
    enum { MANY = 100 };
    return fxs_cut_lines(c, n) <= MANY ? FXS_SAME_LINE
                                       : fmax(FXS_SAME_LINE, LEAST_APART / p->scale);
}

static fxs_status find_side(finder *f, fxs_page_side side) {
    const fxs_area *area = &f->page->area;
    bool x = side == FXS_PAGE_LEFT || side == FXS_PAGE_RIGHT;
    bool outward = side == FXS_PAGE_BOTTOM || side == FXS_PAGE_RIGHT;
    double at = side == FXS_PAGE_TOP      ? area->low.y
                : side == FXS_PAGE_BOTTOM ? area->high.y
                : side == FXS_PAGE_LEFT   ? area->low.x
                                          : area->high.x;
    fxs_crossing *c;
    size_t count;
    FXS_TRY(fxs_cut_crossings(f->p->scene, x, at, area, &f->scratch, &c, &count));
    for (int leaves = 0; leaves < 2; leaves++) {
        fxs_crossing *same = FXS_NEW_N(&f->scratch, fxs_crossing, count + 1);
        size_t n = 0;
        if (!same)
            return FXS_ENOMEM;
        for (size_t i = 0; i < count; i++)
            if ((c[i].forward == outward) == leaves)
                same[n++] = c[i];
        double most = apart(f->p, same, n);
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && same[end].at - same[i].at <= most;)
                end++;
            if (!add_ref(f, make_ref(f, same + i, end - i, side, leaves)))
                return FXS_ENOMEM;
        }
    }
    return FXS_OK;
}

/* Frames that begin above a page or on its left are named there, since their own names are not on
 * it. */
static fxs_status find_frames(finder *f) {
    enum { LEAST = 4 }; /* of a frame that is worth a name */
    const fxs_scene *s = f->p->scene;
    const fxs_area *in = &f->page->area;
    FXS_AREAS_EACH (i, s->frame_areas, *in) {
        const fxs_area *frame = &s->frames[i];
        bool above = frame->low.y < in->low.y - FXS_SAME_LINE,
             left = frame->low.x < in->low.x - FXS_SAME_LINE;
        if ((!above && !left) || !s->view->clusters[i].label.len ||
            fmin(frame->high.x, in->high.x) - fmax(frame->low.x, in->low.x) < LEAST ||
            fmin(frame->high.y, in->high.y) - fmax(frame->low.y, in->low.y) < LEAST)
            continue;
        fxs_page_ref ref = {.frame = i, .side = above ? FXS_PAGE_TOP : FXS_PAGE_LEFT};
        ref.at = ref.until = above ? fmax(frame->low.x, in->low.x) : fmax(frame->low.y, in->low.y);
        if (!add_ref(f, ref))
            return FXS_ENOMEM;
    }
    return FXS_OK;
}

/* ---- texts
 * ------------------------------------------------------------------------------------------------
 */

static bool keep_name(fxs_pages *p, size_t node) {
    fxs_buf clean = {0};
    const char *name = p->scene->view->nodes[node].node->name;
    if (p->names[node])
        return true;
    fxs_clean(&clean, name, strlen(name), NAME_CHARS, false);
    fxs_buf_add(&clean, "", 0);
    if (!clean.failed)
        p->names[node] = fxs_arena_dup(&p->arena, clean.data, clean.len);
    fxs_buf_free(&clean);
    return p->names[node];
}

/* The first part of a frame's name says which module it is; what kind it is of stands behind. */
static void frame_text(const fxs_pages *p, const fxs_page_ref *r, int form, fxs_buf *text) {
    const fxs_line *label = &p->scene->view->clusters[r->frame].label;
    const char *kind = memmem(label->text, label->len, "  ", 2);
    fxs_buf_add(text, label->text, form && kind ? (size_t)(kind - label->text) : label->len);
    fxs_buf_puts(text, " (continued)");
}

void fxs_page_ref_text(const fxs_pages *p, const fxs_page_ref *r, int form, fxs_buf *text) {
    size_t number = fxs_page_number(p, r->page);
    fxs_buf_cut(text, 0);
    if (r->frame) {
        frame_text(p, r, form, text);
        return;
    }
    if (form) {
        fxs_buf_printf(text, "%zu", number);
        return;
    }
    fxs_buf_printf(text, "%s page %zu: %s", r->leaves ? "to" : "from", number, p->names[r->node]);
    if (r->others)
        fxs_buf_printf(text, " and %zu more", r->others);
}

/* ---- where they stand
 * ----------------------------------------------------------------------------------------- */

double fxs_page_line_at(int line) { return FXS_PAGE_TICK - 1 + (line + 0.5) * FXS_PAGE_LINE; }

/* What is given along a side and outwards from it. */
static fxs_area on_paper(const fxs_pages *p, size_t page, fxs_page_side side, double from,
                         double to, double near, double far) {
    fxs_point low = fxs_page_place(p, page, p->pages[page].area.low),
              high = fxs_page_place(p, page, p->pages[page].area.high);
    switch (side) {
    case FXS_PAGE_TOP:
        return (fxs_area){{from, low.y - far}, {to, low.y - near}};
    case FXS_PAGE_BOTTOM:
        return (fxs_area){{from, high.y + near}, {to, high.y + far}};
    case FXS_PAGE_LEFT:
        return (fxs_area){{low.x - far, from}, {low.x - near, to}};
    default:
        return (fxs_area){{high.x + near, from}, {high.x + far, to}};
    }
}

fxs_ref_shape fxs_page_ref_shape(const fxs_pages *p, size_t page, const fxs_page_ref *r) {
    double x = r->place, tip = FXS_PAGE_TICK + FXS_PAGE_ARROW, middle = fxs_page_line_at(r->line);
    fxs_ref_shape s = {on_paper(p, page, r->side, x - r->half, x + r->half, 0, tip),
                       fxs_area_none(), fxs_area_none()};
    if (r->line > 0)
        s.leader = on_paper(p, page, r->side, x, x, tip, middle);
    if (r->line >= 0)
        s.text = on_paper(p, page, r->side, r->text_at, r->text_at + r->width,
                          middle - FXS_PAGE_LINE / 2.0, middle + FXS_PAGE_LINE / 2.0);
    return s;
}

static int by_side(const void *a, const void *b) {
    const fxs_page_ref *r = a, *s = b;
    if (r->side != s->side)
        return r->side < s->side ? -1 : 1;
    if (r->at != s->at)
        return r->at < s->at ? -1 : 1;
    return (int)r->leaves - (int)s->leaves;
}

/* The references of one side, in their order, and how far their texts may go. */
typedef struct row {
    fxs_page_ref *refs;
    size_t n;
    double low, high;
    int lines;
} row;

static bool meets(double low, double high, double at, double around) {
    return at + around > low && at - around < high;
}

/* Whether a text may stand in that line: it covers no mark, no line to another text and no text,
 * and the line to it covers no text. */
static bool is_free(const row *w, const fxs_page_ref *ref, int line, double start, double end) {
    if (start < w->low || end > w->high)
        return false;
    for (size_t i = 0; i < w->n; i++) {
        const fxs_page_ref *r = &w->refs[i];
        if (r == ref)
            continue;
        if ((line == 0 || r->line >= line) && meets(start, end, r->place, r->half + CLEAR))
            return false;
        double text_end = r->text_at + r->width;
        if (r->line == line && start < text_end + TEXT_GAP && end + TEXT_GAP > r->text_at)
            return false;
        if (r->line > 0 && r->line <= line && meets(r->text_at, text_end, ref->place, CLEAR))
            return false;
    }
    return true;
}

static bool try_place(const row *w, fxs_page_ref *r, double width, int line, bool before) {
    double start = before ? r->place - MARK_WIDTH - width : r->place + MARK_WIDTH;
    if (!is_free(w, r, line, start, start + width))
        return false;
    r->line = line;
    r->text_at = start;
    r->width = width;
    return true;
}

/* Beside its mark, or in the first line that is free, behind the mark: a text further out and
 * before it is in the way of those whose marks come before, so that is the last that is tried. */
static bool find_place(const row *w, fxs_page_ref *r, double width) {
    for (int before = 0; before < 2; before++)
        if (try_place(w, r, width, 0, before))
            return true;
    for (int before = 0; before < 2; before++)
        for (int line = 1; line < w->lines; line++)
            if (try_place(w, r, width, line, before))
                return true;
    return false;
}

static bool place_text(const fxs_pages *p, const row *w, fxs_page_ref *r, fxs_buf *text) {
    bool ok = true;
    for (int form = 0; form < 2 && r->line < 0 && ok; form++) {
        double width;
        fxs_page_ref_text(p, r, form, text);
        ok = !text->failed &&
             fxs_fonts_width(p->scene->view->fonts, FXS_INK_KEY, text->data, text->len, &width);
        if (ok && find_place(w, r, width * FXS_PAGE_TEXT))
            r->form = form;
    }
    return ok;
}

/* From the last mark to the first: a text that goes on below the marks behind its own finds those
 * settled. Frames come before lines, of which there may be more than there is room for. */
static bool place_texts(const fxs_pages *p, row *w) {
    fxs_buf text = {0};
    bool ok = true;
    for (int lines = 0; lines < 2; lines++)
        for (size_t i = w->n; i-- > 0 && ok;)
            if ((w->refs[i].frame == 0) == lines)
                ok = place_text(p, w, &w->refs[i], &text);
    fxs_buf_free(&text);
    return ok;
}

/* Marks where the lines are; those that are close to each other are narrow. */
static void place_marks(const fxs_pages *p, size_t page, row *w) {
    for (size_t i = 0; i < w->n; i++) {
        fxs_page_ref *r = &w->refs[i];
        bool x = r->side == FXS_PAGE_LEFT || r->side == FXS_PAGE_RIGHT;
        fxs_point at = fxs_page_place(p, page, (fxs_point){r->at, r->at});
        r->place = x ? at.y : at.x;
        r->half = r->frame ? FRAME_HALF : FXS_PAGE_ARROW / 2.0;
        r->line = -1;
        double gap = i ? r->place - r[-1].place : INFINITY;
        if (gap > FXS_SAME_LINE) {
            r->half = fmin(r->half, fmax(gap / 2 - 0.1, LEAST_HALF));
            if (i)
                r[-1].half = fmin(r[-1].half, r->half);
        }
    }
}

static fxs_status place_row(const fxs_pages *p, size_t page, row *w) {
    bool x = w->refs->side == FXS_PAGE_LEFT || w->refs->side == FXS_PAGE_RIGHT;
    double margin = p->inside.low.x - FXS_PAGE_ZONE;
    fxs_point low = fxs_page_place(p, page, p->pages[page].area.low),
              high = fxs_page_place(p, page, p->pages[page].area.high);
    /* Corners belong to the texts above and below. */
    w->low = x ? low.y : margin;
    w->high = x ? high.y : p->w - margin;
    w->lines = FXS_PAGE_LINES + (w->refs->side == FXS_PAGE_TOP ? p->frame_lines : 0);
    place_marks(p, page, w);
    return place_texts(p, w) ? FXS_OK : FXS_ENOMEM;
}

static fxs_status find_page_refs(finder *f) {
    f->room = 0;
    for (int side = 0; side < FXS_PAGE_SIDES; side++) {
        FXS_TRY(find_side(f, (fxs_page_side)side));
        fxs_arena_reset(&f->scratch);
    }
    FXS_TRY(find_frames(f));
    fxs_page_ref *refs = f->page->refs;
    size_t n = f->page->nrefs, page = (size_t)(f->page - f->p->pages);
    if (n)
        qsort(refs, n, sizeof *refs, by_side);
    for (size_t i = 0; i < n; i++)
        if (!refs[i].frame && !keep_name(f->p, refs[i].node))
            return FXS_ENOMEM;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && refs[end].side == refs[i].side;)
            end++;
        FXS_TRY(place_row(f->p, page, &(row){.refs = refs + i, .n = end - i}));
    }
    return FXS_OK;
}

fxs_status fxs_page_refs(fxs_pages *p) {
    finder f = {.p = p};
    fxs_arena counted = {0};
    fxs_status status = FXS_OK;
    f.counted = FXS_NEW_N(&counted, size_t, p->scene->view->nnodes + 1);
    if (!f.counted)
        return FXS_ENOMEM;
    for (size_t i = 0; i < p->n && status == FXS_OK; i++) {
        f.page = &p->pages[i];
        status = find_page_refs(&f);
    }
    fxs_arena_clear(&f.scratch);
    fxs_arena_clear(&counted);
    return status;
}
