/* cuts.c: see cuts.h. */
#include "cuts.h"

#include <math.h>
#include <stdlib.h>

static double along(fxs_point p, bool x) { return x ? p.x : p.y; }

/* ---- what is in the way
 * ------------------------------------------------------------------------------------ */

static fxs_area frame_head(const fxs_scene *s, size_t cluster) {
    const fxs_area *f = &s->frames[cluster];
    return (fxs_area){
        f->low,
        {f->low.x + s->view->clusters[cluster].label.width + FXS_PAD_X, f->low.y + FXS_FRAME_HEAD}};
}

static int by_low(const void *a, const void *b) {
    const fxs_gap *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return p->high < q->high ? -1 : p->high > q->high;
}

typedef struct covers {
    const fxs_area *in;
    bool x;
    fxs_gap *list; /* NULL: counts only */
    size_t n;
} covers;

static void cover(covers *c, fxs_area o) {
    if (!fxs_area_touches(&o, c->in))
        return;
    if (c->list)
        c->list[c->n] = (fxs_gap){along(o.low, c->x), along(o.high, c->x)};
    c->n++;
}

/* What boxes, labels of edges, heads of frames, the heading and charts cover. */
static void cover_all(const fxs_scene *s, covers *c) {
    const fxs_view *v = s->view;
    FXS_AREAS_EACH (i, s->node_areas, *c->in)
        cover(c, fxs_scene_box(s, i));
    FXS_AREAS_EACH (i, s->edge_areas, *c->in)
        if (fxs_label_shown(s, i))
            cover(c, fxs_scene_label(s, i));
    FXS_AREAS_EACH (i, s->frame_areas, *c->in)
        if (v->clusters[i].label.len)
            cover(c, frame_head(s, i));
    fxs_area other;
    for (size_t i = 0; fxs_scene_other(s, i, &other); i++)
        cover(c, other);
}

/* What is covered in the area, sorted and not merged. */
static fxs_status find_covers(const fxs_scene *s, bool x, const fxs_area *in, fxs_arena *a,
                              fxs_gap **out, size_t *n) {
    covers c = {.in = in, .x = x};
    cover_all(s, &c);
    if (!(*out = c.list = FXS_NEW_N(a, fxs_gap, c.n + 1)))
        return FXS_ENOMEM;
    c.n = 0;
    cover_all(s, &c);
    *n = c.n;
    qsort(*out, *n, sizeof **out, by_low);
    return FXS_OK;
}

/* Covers become the gaps between them, in place. */
static size_t find_gaps(fxs_gap *list, size_t n) {
    size_t gaps = 0;
    double end = n ? list[0].high : 0;
    for (size_t i = 1; i < n; i++) {
        fxs_gap next = list[i];
        if (next.low > end)
            list[gaps++] = (fxs_gap){end, next.low};
        end = fmax(end, next.high);
    }
    return gaps;
}

fxs_status fxs_cut_gaps(const fxs_scene *s, bool along_x, const fxs_area *in, fxs_arena *a,
                        fxs_gap **out, size_t *n) {
    FXS_TRY(find_covers(s, along_x, in, a, out, n));
    *n = find_gaps(*out, *n);
    return FXS_OK;
}

size_t fxs_cut_frames(const fxs_scene *s, bool along_x, double at, const fxs_area *in) {
    size_t n = 0;
    FXS_AREAS_EACH (i, s->frame_areas, *in) {
        const fxs_area *f = &s->frames[i];
        n += along(f->low, along_x) < at && along(f->high, along_x) > at;
    }
    return n;
}

/* ---- pieces
 * ------------------------------------------------------------------------------------------------
 */

enum {
    TRIED = 48,     /* places for a cut, the last ones of those that there are */
    BOX_COST = 100, /* lines that are rather cut than a box */
    TOO_LARGE_COST = 100000
};
#define MUCH_WORK 2e6 /* crossings looked at in all; one place is tried for each cut then */

typedef struct cutter {
    const fxs_scene *s;
    bool x;
    const fxs_area *in;
    fxs_arena scratch;
    fxs_gap *covers, *gaps;
    size_t ncovers, ngaps;
    double work; /* crossings looked at */
    double room; /* what a piece may cover, with all of the boxes whose middle is in it */
    double low;  /* where those of the piece that is looked for begin */
} cutter;

static size_t covers_cut(const cutter *c, double at) {
    size_t n = 0;
    for (size_t i = 0; i < c->ncovers && c->covers[i].low < at; i++)
        n += c->covers[i].high > at;
    return n;
}

/* Boxes that the cut goes through belong to the piece that their middle is in. */
static double middle_of(const fxs_gap *cover) { return (cover->low + cover->high) / 2; }

/* Where the boxes of a piece end that ends at a cut; and where those of the one behind it begin. */
static double high_before(const cutter *c, double at) {
    double high = at;
    for (size_t i = 0; i < c->ncovers && c->covers[i].low < at; i++)
        if (c->covers[i].high > high && middle_of(&c->covers[i]) < at)
            high = c->covers[i].high;
    return high;
}

static double low_behind(const cutter *c, double at) {
    double low = at;
    for (size_t i = 0; i < c->ncovers && c->covers[i].low < low; i++)
        if (middle_of(&c->covers[i]) >= at)
            low = c->covers[i].low;
    return low;
}

typedef struct choice {
    double at, cost;
    size_t boxes;
} choice;

static fxs_status consider(cutter *c, double at, size_t boxes, double start, double limit,
                           choice *best) {
    fxs_crossing *list;
    size_t n;
    double late = 1 - (at - start) / limit, cost = (double)boxes * BOX_COST +
                                                   (double)fxs_cut_frames(c->s, c->x, at, c->in) +
                                                   40 * late * late;
    double high = boxes ? high_before(c, at) : at;
    if (high - c->low + 2 * FXS_CUT_NEAR > c->room) /* not all of its boxes would be whole */
        cost += TOO_LARGE_COST;
    if (cost >= best->cost)
        return FXS_OK;
    fxs_status status = fxs_cut_crossings(c->s, c->x, at, c->in, &c->scratch, &list, &n);
    c->work += (double)n;
    if (status == FXS_OK && cost + (double)fxs_cut_lines(list, n) < best->cost)
        *best = (choice){at, cost + (double)fxs_cut_lines(list, n), boxes};
    fxs_arena_reset(&c->scratch);
    return status;
}

/* Gaps in the second half of what a piece may cover; where there is none, places at equal
 * distances. */
static fxs_status choose(cutter *c, double start, double limit, choice *best) {
    size_t tried = 0, most = c->work > MUCH_WORK ? 1 : TRIED;
    *best = (choice){start + limit, INFINITY, 0};
    for (size_t i = c->ngaps; i-- > 0 && tried < most;) {
        double room = c->gaps[i].high - c->gaps[i].low,
               at = c->gaps[i].low + fmin(FXS_CUT_NEAR, room / 2);
        if (at <= start + limit / 3)
            break;
        if (at > start + limit)
            continue;
        tried++;
        FXS_TRY(consider(c, at, 0, start, limit, best));
    }
    for (size_t i = 0; !tried && i < most; i++) {
        double at = floor(start + limit * (1 - (double)i / (2.0 * (double)most))) - 0.13;
        FXS_TRY(consider(c, at, covers_cut(c, at), start, limit, best));
    }
    return FXS_OK;
}

static fxs_status cut_all(cutter *c, double limit, double *cuts, size_t room, size_t *n,
                          size_t *boxes) {
    double start = along(c->in->low, c->x), end = along(c->in->high, c->x);
    cuts[0] = start;
    c->low = start;
    for (*n = 0; end - c->low > limit + 1e-6 && *n + 2 < room;) {
        choice best;
        FXS_TRY(choose(c, start, fmin(limit, end - start - 1), &best));
        *boxes += best.boxes;
        cuts[++*n] = start = best.at;
        c->low = best.boxes ? low_behind(c, start) : start;
    }
    cuts[++*n] = end;
    return FXS_OK;
}

fxs_status fxs_cut_pieces(const fxs_scene *s, bool along_x, const fxs_area *in, double limit,
                          fxs_arena *a, double **cuts, size_t *n, size_t *boxes) {
    cutter c = {.s = s, .x = along_x, .in = in, .room = limit};
    double length = along(in->high, along_x) - along(in->low, along_x);
    double pieces = ceil(length / limit - 1e-9);
    if (pieces > 1) /* about equal ones */
        limit = fmin(limit, length / pieces * 1.15);
    size_t room = (size_t)(3 * fmax(length, 0) / limit) + 4;
    *boxes = 0;
    *cuts = FXS_NEW_N(a, double, room);
    if (!*cuts)
        return FXS_ENOMEM;
    fxs_status status = find_covers(s, along_x, in, &c.scratch, &c.covers, &c.ncovers);
    fxs_arena kept = c.scratch;
    c.scratch = (fxs_arena){0};
    if (status == FXS_OK)
        status = fxs_cut_gaps(s, along_x, in, &kept, &c.gaps, &c.ngaps);
    if (status == FXS_OK)
        status = cut_all(&c, limit, *cuts, room, n, boxes);
    fxs_arena_clear(&c.scratch);
    fxs_arena_clear(&kept);
    return status;
}
