/* columns.c: see columns.h. All is computed as if ranks went downwards: `flow` turns points of a
 * picture that goes to the right. Called by draw.c. */
#include "columns.h"

#include <math.h>
#include <string.h>

#include "cuts.h"

enum {
    TRIED = 64,    /* places for each cut, the nearest to where columns would be equal */
    SPARE = 12,    /* free before a cut's first track, between a track and a column */
    TRACK = 8,     /* from track to track */
    ROUND = 6,     /* radius of corners */
    NEEDED = 12,   /* length of a gap: an arrow stays whole */
    FRAME_COST = 2 /* lines that are rather cut than a frame */
};
#define REACH 0.35 /* of a column's length, that a cut may be away from where it should be */
#define UNEVEN_COST 50.0

/* A cut, and the lines through it: `at` of each, ascending. */
typedef struct cut {
    double at;
    double *lines;
    size_t n;
} cut;

typedef struct column {
    double low, high;  /* along the flow, where it was; the first and the last are not bounded */
    fxs_area area;     /* what its boxes, frames and curves cover, in flow coordinates */
    double head, foot; /* room for frames before and behind the cuts */
    double dx, dy;     /* how far it moves, whole points */
} column;

typedef struct columns {
    fxs_scene *s;
    bool lr;
    cut *cuts;
    column *columns;
    size_t n;          /* columns; one cut less */
    fxs_arena scratch; /* dies with the work; what the scene keeps is in its own arena */
    fxs_view *view;    /* of the result */
    size_t *part;      /* cluster and column -> cluster of the result, 0: none */
    size_t *part_column;
    size_t nparts;
    fxs_area *frames;
    fxs_point *points; /* of the curve that is made */
    size_t npoints, room;
    bool failed;
} columns;

static fxs_point flow(const columns *c, fxs_point p) { return c->lr ? (fxs_point){p.y, p.x} : p; }

static fxs_area flow_area(const columns *c, fxs_area a) {
    return (fxs_area){flow(c, a.low), flow(c, a.high)};
}

static size_t column_at(const columns *c, double y) {
    size_t k = 0;
    while (k + 1 < c->n && y >= c->cuts[k].at)
        k++;
    return k;
}

/* ---- where to cut
 * ------------------------------------------------------------------------------------------- */

static fxs_status cost_of(columns *c, double at, double wanted, double length, double *cost) {
    fxs_crossing *list;
    fxs_arena work = {0};
    size_t n;
    fxs_area all = {{-INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    double away = (at - wanted) / length;
    fxs_status status = fxs_cut_crossings(c->s, c->lr, at, &all, &work, &list, &n);
    if (status == FXS_OK)
        *cost = (double)fxs_cut_lines(list, n) + UNEVEN_COST * away * away +
                FRAME_COST * (double)fxs_cut_frames(c->s, c->lr, at, &all);
    fxs_arena_clear(&work);
    return status;
}

static bool is_usable(const fxs_gap *g, double after, double wanted, double length) {
    return g->high - g->low >= NEEDED && g->low > after && fabs(g->low - wanted) < REACH * length;
}

/* The gap nearest to `wanted` that is no nearer than `beyond`. */
static size_t nearest(const fxs_gap *gaps, size_t n, double after, double wanted, double length,
                      double beyond) {
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (is_usable(&gaps[i], after, wanted, length) && fabs(gaps[i].low - wanted) > beyond &&
            (best == n || fabs(gaps[i].low - wanted) < fabs(gaps[best].low - wanted)))
            best = i;
    return best;
}

/* Few lines and frames are cut, and the columns are about equal. */
static fxs_status choose_cut(columns *c, const fxs_gap *gaps, size_t n, double after, double wanted,
                             double length, double *at) {
    double best = INFINITY, beyond = -1;
    *at = NAN;
    for (int i = 0; i < TRIED; i++) {
        size_t g = nearest(gaps, n, after, wanted, length, beyond);
        if (g == n)
            break;
        double cost = INFINITY, place = gaps[g].low + 0.25;
        FXS_TRY(cost_of(c, place, wanted, length, &cost));
        if (cost < best) {
            best = cost;
            *at = place;
        }
        beyond = fabs(gaps[g].low - wanted);
    }
    return FXS_OK;
}

static fxs_status choose_cuts(columns *c, size_t n) {
    fxs_area all = {{-INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    fxs_gap *gaps;
    size_t ngaps;
    FXS_TRY(fxs_cut_gaps(c->s, c->lr, &all, &c->scratch, &gaps, &ngaps));
    c->cuts = FXS_NEW_N(&c->scratch, cut, n);
    if (!c->cuts)
        return FXS_ENOMEM;
    double after = INFINITY, end = -INFINITY;
    for (size_t i = 0; i < c->s->view->nnodes; i++) {
        fxs_area box = flow_area(c, fxs_scene_box(c->s, i));
        after = fmin(after, box.low.y);
        end = fmax(end, box.high.y);
    }
    c->n = 1;
    for (size_t k = 1; k < n; k++) {
        double length = (end - after) / (double)(n - k + 1), at;
        FXS_TRY(choose_cut(c, gaps, ngaps, after, after + length, length, &at));
        if (isnan(at))
            continue;
        c->cuts[c->n++ - 1].at = after = at;
    }
    return FXS_OK;
}

static fxs_status find_lines(columns *c) {
    fxs_area all = {{-INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    for (size_t k = 0; k + 1 < c->n; k++) {
        cut *t = &c->cuts[k];
        fxs_crossing *list;
        size_t n;
        FXS_TRY(fxs_cut_crossings(c->s, c->lr, t->at, &all, &c->scratch, &list, &n));
        t->lines = FXS_NEW_N(&c->scratch, double, n + 1);
        if (!t->lines)
            return FXS_ENOMEM;
        for (size_t i = 0; i < n; i++)
            if (i == 0 || list[i].at - t->lines[t->n - 1] > FXS_SAME_LINE)
                t->lines[t->n++] = list[i].at;
    }
    return FXS_OK;
}

/* ---- frames
 * ------------------------------------------------------------------------------------------------
 */

static size_t *part_of(const columns *c, size_t cluster, size_t k) {
    return &c->part[cluster * c->n + k];
}

static bool continued(columns *c, const fxs_line *label, fxs_line *out) {
    fxs_buf text = {0};
    *out = *label;
    if (!label->len)
        return true;
    fxs_buf_add(&text, label->text, label->len);
    fxs_buf_puts(&text, " (continued)");
    bool ok = !text.failed;
    if (ok) {
        out->len = text.len;
        out->text = fxs_arena_dup(&c->s->arena, text.data, text.len);
        ok = out->text &&
             fxs_fonts_width(c->view->fonts, FXS_INK_KEY, out->text, out->len, &out->width);
    }
    fxs_buf_free(&text);
    return ok;
}

/* Which clusters have members in which columns; a cluster of the result for each. */
static fxs_status make_parts(columns *c) {
    const fxs_view *old = c->s->view;
    size_t all = old->nclusters * c->n;
    c->part = FXS_NEW_N(&c->scratch, size_t, all);
    c->part_column = FXS_NEW_N(&c->scratch, size_t, all + 1);
    c->view->clusters = FXS_NEW_N(&c->s->arena, fxs_view_cluster, all + 1);
    c->frames = FXS_NEW_N(&c->s->arena, fxs_area, all + 1);
    if (!c->part || !c->part_column || !c->view->clusters || !c->frames)
        return FXS_ENOMEM;
    for (size_t i = 0; i < old->nnodes; i++) {
        fxs_area box = flow_area(c, fxs_scene_box(c->s, i));
        size_t k = column_at(c, box.low.y);
        for (size_t p = old->nodes[i].cluster; p; p = old->clusters[p].parent)
            *part_of(c, p, k) = 1;
    }
    c->nparts = 1;
    for (size_t p = 1; p < old->nclusters; p++) {
        bool first = true;
        for (size_t k = 0; k < c->n; k++) {
            size_t *part = part_of(c, p, k), parent = old->clusters[p].parent;
            if (!*part)
                continue;
            *part = c->nparts++;
            c->part_column[*part] = k;
            fxs_view_cluster *new = &c->view->clusters[*part];
            *new = old->clusters[p];
            new->parent = parent ? *part_of(c, parent, k) : 0;
            if (!first && !continued(c, &old->clusters[p].label, &new->label))
                return FXS_ENOMEM;
            first = false;
        }
    }
    c->view->nclusters = c->nparts;
    for (size_t i = 0; i < old->nnodes; i++) {
        size_t k = column_at(c, flow_area(c, fxs_scene_box(c->s, i)).low.y);
        if (old->nodes[i].cluster)
            c->view->nodes[i].cluster = *part_of(c, old->nodes[i].cluster, k);
    }
    return FXS_OK;
}

/* Whether the cluster has members in a column before (after) column k. */
static bool has_part(const columns *c, size_t cluster, size_t k, bool before) {
    for (size_t i = before ? 0 : k + 1; i < (before ? k : c->n); i++)
        if (*part_of(c, cluster, i))
            return true;
    return false;
}

/* Keeps a continued frame's label off the lines that enter: the frame grows to the left (the label
 * is at its left end) until no line is in the way. */
static double clear_of_lines(const cut *t, double left, double width) {
    for (size_t i = t->n; i-- > 0;)
        if (t->lines[i] > left - 2 && t->lines[i] < left + width + 2 * FXS_PAD_X)
            left = floor(t->lines[i] - width - 2 * FXS_PAD_X - 2);
    return left;
}

/* Whether a frame may have that area, too: no box of the column that is not its own, and no other
 * frame, is there. */
static bool is_free(const columns *c, size_t part, fxs_area grown) {
    size_t k = c->part_column[part];
    for (size_t i = 0; i < c->view->nnodes; i++) {
        fxs_area box = flow_area(c, fxs_scene_box(c->s, i));
        if (column_at(c, box.low.y) == k && fxs_area_touches(&box, &grown))
            return false;
    }
    for (size_t p = 1; p < c->nparts; p++) {
        bool outer = false;
        for (size_t q = part; q && !outer; q = c->view->clusters[q].parent)
            outer = q == p;
        if (!outer && c->part_column[p] == k && fxs_frame_shown(&c->frames[p]) &&
            fxs_area_touches(&c->frames[p], &grown))
            return false;
    }
    return true;
}

/* Whether a frame may grow to the left and to the right, and those around it with it, which are
 * longer. */
static bool may_grow(const columns *c, size_t part, double left, double right) {
    for (; part; part = c->view->clusters[part].parent) {
        fxs_area now = c->frames[part], more[2] = {fxs_area_grown(now, FXS_FRAME_PAD)};
        if (!fxs_frame_shown(&now))
            continue;
        left -= FXS_FRAME_PAD;
        right += FXS_FRAME_PAD;
        more[1] = more[0];
        more[0].low.x = left;
        more[0].high.x = now.low.x - 1;
        more[1].low.x = now.high.x + 1;
        more[1].high.x = right;
        if ((left < now.low.x && !is_free(c, part, more[0])) ||
            (right > now.high.x && !is_free(c, part, more[1])))
            return false;
    }
    return true;
}

/* The frame around what its parts hold in the column, when a cut goes through it. */
static void close_part(columns *c, size_t cluster, size_t k) {
    size_t part = *part_of(c, cluster, k);
    const column *col = &c->columns[k];
    fxs_area *f = &c->frames[part];
    fxs_line *label = &c->view->clusters[part].label;
    bool before = has_part(c, cluster, k, true), after = has_part(c, cluster, k, false);
    double head = c->lr ? FXS_FRAME_PAD : label->len ? FXS_FRAME_HEAD : FXS_FRAME_PAD;
    if (before)
        f->low.y = fmin(f->low.y, col->low) - head;
    if (after)
        f->high.y = fmax(f->high.y, col->high) + FXS_FRAME_PAD;
    if (before && !c->lr && label->len) {
        double left = clear_of_lines(&c->cuts[k - 1], f->low.x, label->width);
        double right = left + ceil(label->width) + 2 * FXS_PAD_X;
        if (may_grow(c, part, left, right)) {
            f->low.x = fmin(f->low.x, left);
            f->high.x = fmax(f->high.x, right);
        } else
            label->len = 0; /* its first part says what it is */
    }
    double needed = f->low.y + ceil(label->width) + 2 * FXS_PAD_X;
    if (c->lr && label->len && after)
        f->high.y = fmax(f->high.y, needed);
    else if (c->lr && needed > f->high.y)
        label->len = 0;
}

/* A frame around one that grew: where the outer one is cut too, close_part adds the distance. */
static void enclose(const columns *c, size_t k, const fxs_area *in, fxs_area *out) {
    bool cut_after = out->high.y == c->columns[k].high;
    out->low.x = fmin(out->low.x, in->low.x - FXS_FRAME_PAD);
    out->high.x = fmax(out->high.x, in->high.x + FXS_FRAME_PAD);
    out->low.y = fmin(out->low.y, in->low.y);
    if (in->high.y > c->columns[k].high)
        out->high.y = fmax(out->high.y, in->high.y + (cut_after ? 0 : FXS_FRAME_PAD));
}

/* Frames of the parts, from the innermost ones outwards, still where the picture was. */
static void frame_parts(columns *c) {
    const fxs_view *old = c->s->view;
    for (size_t p = 1; p < old->nclusters; p++)
        for (size_t k = 0; k < c->n; k++) {
            size_t part = *part_of(c, p, k);
            fxs_area f = flow_area(c, c->s->frames[p]);
            if (!part || !fxs_frame_shown(&c->s->frames[p]))
                continue;
            if (has_part(c, p, k, true))
                f.low.y = c->columns[k].low;
            if (has_part(c, p, k, false))
                f.high.y = c->columns[k].high;
            c->frames[part] = f;
        }
    for (size_t p = old->nclusters; p-- > 1;)
        for (size_t k = 0; k < c->n; k++) {
            size_t part = *part_of(c, p, k), outer = part ? c->view->clusters[part].parent : 0;
            if (!part || !fxs_frame_shown(&c->frames[part]))
                continue;
            close_part(c, p, k);
            for (; outer && !fxs_frame_shown(&c->frames[outer]);)
                outer = c->view->clusters[outer].parent;
            if (outer)
                enclose(c, k, &c->frames[part], &c->frames[outer]);
        }
}

/* ---- curves
 * ------------------------------------------------------------------------------------------------
 */

static void add_point(columns *c, double x, double y) {
    if (c->npoints == c->room) {
        size_t room = 2 * c->room + 64;
        fxs_point *more = fxs_realloc(c->points, room, sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->points = more;
        c->room = room;
    }
    c->points[c->npoints++] = (fxs_point){x, y};
}

static void curve_to(columns *c, fxs_point a, fxs_point b, fxs_point to) {
    add_point(c, a.x, a.y);
    add_point(c, b.x, b.y);
    add_point(c, to.x, to.y);
}

static void line_to(columns *c, double x, double y) {
    if (c->failed || c->npoints == 0)
        return;
    fxs_point from = c->points[c->npoints - 1];
    if (hypot(from.x - x, from.y - y) > 0.01)
        curve_to(c, (fxs_point){from.x + (x - from.x) / 3, from.y + (y - from.y) / 3},
                 (fxs_point){from.x + (x - from.x) * 2 / 3, from.y + (y - from.y) * 2 / 3},
                 (fxs_point){x, y});
}

/* Straight to where the corner at `at` begins, then around it, towards `next`. */
static void turn_at(columns *c, fxs_point at, fxs_point next, double radius) {
    enum { FLAT = 45 }; /* percent of the radius that control points stay away from the corner */
    fxs_point from = c->npoints ? c->points[c->npoints - 1] : at;
    double in = hypot(at.x - from.x, at.y - from.y), out = hypot(next.x - at.x, next.y - at.y);
    double r = fmin(radius, fmin(in, out) / 2);
    if (c->failed || r < 0.01) {
        line_to(c, at.x, at.y);
        return;
    }
    fxs_point a = {(from.x - at.x) / in, (from.y - at.y) / in},
              b = {(next.x - at.x) / out, (next.y - at.y) / out};
    double k = r * FLAT / 100;
    line_to(c, at.x + a.x * r, at.y + a.y * r);
    if (!c->failed)
        curve_to(c, (fxs_point){at.x + a.x * k, at.y + a.y * k},
                 (fxs_point){at.x + b.x * k, at.y + b.y * k},
                 (fxs_point){at.x + b.x * r, at.y + b.y * r});
}

static double track_step(const cut *t) { return t->n > 24 ? 4 : t->n > 12 ? 6 : TRACK; }

static double tracks_room(const cut *t) {
    return t->n ? SPARE + (double)(t->n - 1) * track_step(t) : 0;
}

/* From one column to the next: down to the track, through the space between, down again. The last
 * line has the first track, so that tracks don't cross. `back`: the other way around. */
static void cross_over(columns *c, size_t k, double x, bool back) {
    const cut *t = &c->cuts[k];
    const column *a = &c->columns[k], *b = &c->columns[k + 1];
    size_t line = 0;
    for (size_t i = 1; i < t->n; i++)
        if (fabs(t->lines[i] - x) < fabs(t->lines[line] - x))
            line = i;
    double step = track_step(t), i = (double)(t->n - 1 - line), x0 = t->lines[line];
    double bottom = a->high + a->dy + a->foot + SPARE + i * step;
    double side = a->area.high.x + a->dx + SPARE + i * step;
    double top = b->low + b->dy - b->head - tracks_room(t) + i * step;
    fxs_point way[6] = {{x0 + a->dx, a->high + a->dy},
                        {x0 + a->dx, bottom},
                        {side, bottom},
                        {side, top},
                        {x0 + b->dx, top},
                        {x0 + b->dx, b->low + b->dy}};
    fxs_point p[6];
    for (int j = 0; j < 6; j++)
        p[j] = way[back ? 5 - j : j];
    line_to(c, p[0].x, p[0].y);
    for (int j = 1; j < 5; j++)
        turn_at(c, p[j], p[j + 1], ROUND);
    line_to(c, p[5].x, p[5].y);
}

typedef void piece_fn(columns *c, size_t k, const fxs_point p[4]);

static void measure_piece(columns *c, size_t k, const fxs_point p[4]) {
    for (int i = 0; i < 4; i++)
        fxs_area_reach(&c->columns[k].area, p[i].x, p[i].y);
}

static void move_piece(columns *c, size_t k, const fxs_point p[4]) {
    const column *col = &c->columns[k];
    if (c->npoints == 0)
        add_point(c, p[0].x + col->dx, p[0].y + col->dy);
    if (!c->failed)
        curve_to(c, (fxs_point){p[1].x + col->dx, p[1].y + col->dy},
                 (fxs_point){p[2].x + col->dx, p[2].y + col->dy},
                 (fxs_point){p[3].x + col->dx, p[3].y + col->dy});
}

/* Hands out the pieces of one cubic curve, cut at the cuts; *k is the column that it is in. */
static void cut_piece(columns *c, const fxs_point piece[4], size_t *k, piece_fn *fn) {
    fxs_point rest[4], first[4], second[4];
    memcpy(rest, piece, sizeof rest);
    for (size_t guard = 0; guard < 3 * c->n; guard++) {
        double t = 2, found[3];
        bool up = false;
        for (int way = 0; way < 2; way++) { /* the cut ahead, the cut behind */
            if (way ? *k == 0 : *k + 1 == c->n)
                continue;
            size_t n = fxs_bezier_crossings(rest, false, c->cuts[*k - (size_t)way].at, found);
            if (n && found[0] < t) {
                t = found[0];
                up = way == 1;
            }
        }
        if (t > 1)
            break;
        fxs_bezier_split(rest, t, first, second);
        size_t cut_index = up ? *k - 1 : *k;
        first[3].y = c->cuts[cut_index].at;
        fn(c, *k, first);
        if (fn == move_piece)
            cross_over(c, cut_index, first[3].x, up);
        *k = up ? *k - 1 : *k + 1;
        /* The rest begins clearly on its side, so that the same crossing is not found again. */
        second[0].y = up ? nextafter(c->cuts[cut_index].at, -INFINITY) : c->cuts[cut_index].at;
        memcpy(rest, second, sizeof rest);
    }
    fn(c, *k, rest);
}

static size_t cut_curve(columns *c, const fxs_curve *curve, piece_fn *fn) {
    size_t k = column_at(c, flow(c, curve->points[0]).y);
    for (size_t i = 0; i + 3 < curve->n; i += 3) {
        fxs_point p[4];
        for (size_t j = 0; j < 4; j++)
            p[j] = flow(c, curve->points[i + j]);
        cut_piece(c, p, &k, fn);
    }
    return k;
}

/* ---- places
 * ------------------------------------------------------------------------------------------------
 */

static void reach_area(column *k, const fxs_area *a) {
    fxs_area_reach(&k->area, a->low.x, a->low.y);
    fxs_area_reach(&k->area, a->high.x, a->high.y);
}

/* What each column covers. */
static void measure(columns *c) {
    const fxs_scene *s = c->s;
    for (size_t k = 0; k < c->n; k++) {
        column *col = &c->columns[k];
        col->area = fxs_area_none();
        col->head = col->foot = 0;
    }
    for (size_t i = 0; i < s->view->nnodes; i++) {
        fxs_area box = flow_area(c, fxs_scene_box(s, i));
        reach_area(&c->columns[column_at(c, box.low.y)], &box);
    }
    for (size_t e = 0; e < s->view->nedges; e++) {
        if (s->curves[e].n)
            cut_curve(c, &s->curves[e], measure_piece);
        if (fxs_label_shown(s, e)) {
            fxs_area label = flow_area(c, fxs_scene_label(s, e));
            reach_area(&c->columns[column_at(c, label.low.y)], &label);
        }
    }
    for (size_t p = 1; p < c->nparts; p++)
        if (fxs_frame_shown(&c->frames[p]))
            reach_area(&c->columns[c->part_column[p]], &c->frames[p]);
    for (size_t k = 0; k < c->n; k++) {
        column *col = &c->columns[k];
        if (k == 0)
            col->low = col->area.low.y;
        if (k + 1 == c->n)
            col->high = col->area.high.y;
        col->head = fmax(0, col->low - col->area.low.y);
        col->foot = fmax(0, col->area.high.y - col->high);
    }
}

static void place(columns *c) {
    double top = 0, x = 0;
    for (size_t k = 1; k < c->n; k++)
        top = fmax(top, c->columns[k].head + tracks_room(&c->cuts[k - 1]));
    for (size_t k = 0; k < c->n; k++) {
        column *col = &c->columns[k];
        const cut *t = k ? &c->cuts[k - 1] : NULL;
        if (t)
            x += 2 * SPARE + (t->n ? (double)(t->n - 1) * track_step(t) : 0);
        col->dx = ceil(x - col->area.low.x);
        col->dy = ceil(top - col->low);
        x = col->area.high.x + col->dx;
    }
}

static fxs_status move_curves(columns *c) {
    fxs_scene *s = c->s;
    for (size_t e = 0; e < s->view->nedges; e++) {
        fxs_curve *curve = &s->curves[e];
        if (!curve->n)
            continue;
        c->npoints = 0;
        const column *last = &c->columns[cut_curve(c, curve, move_piece)];
        fxs_point tip = flow(c, curve->tip);
        if (fxs_label_shown(s, e)) {
            const column *col =
                &c->columns[column_at(c, flow_area(c, fxs_scene_label(s, e)).low.y)];
            fxs_point at = flow(c, curve->label);
            curve->label = flow(c, (fxs_point){at.x + col->dx, at.y + col->dy});
        }
        curve->tip = flow(c, (fxs_point){tip.x + last->dx, tip.y + last->dy});
        if (!c->failed)
            curve->points = FXS_NEW_N(&s->arena, fxs_point, c->npoints);
        if (c->failed || !curve->points)
            return FXS_ENOMEM;
        curve->n = c->npoints;
        for (size_t i = 0; i < c->npoints; i++)
            curve->points[i] = flow(c, c->points[i]);
    }
    return FXS_OK;
}

/* Curves first: where boxes were decides which column things are in. */
static fxs_status move_all(columns *c) {
    fxs_scene *s = c->s;
    FXS_TRY(move_curves(c));
    for (size_t p = 1; p < c->nparts; p++) {
        const column *col = &c->columns[c->part_column[p]];
        fxs_area f = c->frames[p];
        if (!fxs_frame_shown(&f))
            continue;
        f = (fxs_area){{f.low.x + col->dx, f.low.y + col->dy},
                       {f.high.x + col->dx, f.high.y + col->dy}};
        c->frames[p] = flow_area(c, f);
    }
    for (size_t i = 0; i < s->view->nnodes; i++) {
        const column *col = &c->columns[column_at(c, flow_area(c, fxs_scene_box(s, i)).low.y)];
        fxs_point at = flow(c, (fxs_point){s->boxes[i].x, s->boxes[i].y});
        at = flow(c, (fxs_point){at.x + col->dx, at.y + col->dy});
        s->boxes[i] = (fxs_box){at.x, at.y};
    }
    if (s->view->nclusters) {
        s->frames = c->frames;
        c->frames[0] = (fxs_area){{0, 0}, {0, 0}};
    }
    s->view = c->view;
    return fxs_scene_finish(s);
}

static fxs_status copy_view(columns *c) {
    const fxs_view *old = c->s->view;
    c->view = FXS_NEW(&c->s->arena, fxs_view);
    if (!c->view)
        return FXS_ENOMEM;
    *c->view = *old;
    if (!old->nclusters)
        return FXS_OK;
    c->view->nodes = FXS_NEW_N(&c->s->arena, fxs_view_node, old->nnodes);
    if (!c->view->nodes)
        return FXS_ENOMEM;
    memcpy(c->view->nodes, old->nodes, old->nnodes * sizeof *old->nodes);
    FXS_TRY(make_parts(c));
    frame_parts(c);
    return FXS_OK;
}

static fxs_status wrap(columns *c, size_t n) {
    FXS_TRY(choose_cuts(c, n));
    if (c->n == 1)
        return FXS_OK;
    c->columns = FXS_NEW_N(&c->scratch, column, c->n);
    if (!c->columns)
        return FXS_ENOMEM;
    for (size_t k = 0; k < c->n; k++) {
        c->columns[k].low = k ? c->cuts[k - 1].at : -INFINITY;
        c->columns[k].high = k + 1 < c->n ? c->cuts[k].at : INFINITY;
    }
    FXS_TRY(find_lines(c));
    FXS_TRY(copy_view(c));
    measure(c);
    place(c);
    return move_all(c);
}

fxs_status fxs_columns(fxs_ctx *ctx, size_t n, fxs_scene *s, fxs_buf *notes) {
    columns c = {.s = s, .lr = s->view->lr, .nparts = 0};
    if (n < 2 || s->view->nnodes == 0)
        return FXS_OK;
    fxs_status status = wrap(&c, n);
    if (status == FXS_OK && c.n < n)
        fxs_buf_printf(notes,
                       "columns: %zu, not %zu: there are no more places to cut between nodes\n",
                       c.n, n);
    fxs_free(c.points);
    fxs_arena_clear(&c.scratch);
    return status == FXS_OK ? FXS_OK : fxs_fail_memory(ctx);
}
