/* crossings.c: where curves cross a line; see cuts.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuts.h"

static double along(fxs_point p, bool x) { return x ? p.x : p.y; }
static double across(fxs_point p, bool x) { return x ? p.y : p.x; }

/* ---- curves
 * ------------------------------------------------------------------------------------------------
 */

static double cubic(const double v[4], double t) {
    double u = 1 - t;
    return u * u * u * v[0] + 3 * t * u * u * v[1] + 3 * t * t * u * v[2] + t * t * t * v[3];
}

/* Where the curve turns around, within 0 and 1; ascending. */
static size_t find_turns(const double v[4], double t[2]) {
    double a = v[3] - 3 * v[2] + 3 * v[1] - v[0], b = 2 * (v[2] - 2 * v[1] + v[0]), c = v[1] - v[0],
           roots[2];
    size_t n = 0, kept = 0;
    if (fabs(a) < 1e-9) {
        if (fabs(b) > 1e-9)
            roots[n++] = -c / b;
    } else {
        double d = b * b - 4 * a * c;
        if (d > 0) {
            d = sqrt(d);
            roots[n++] = fmin((-b - d) / (2 * a), (-b + d) / (2 * a));
            roots[n++] = fmax((-b - d) / (2 * a), (-b + d) / (2 * a));
        }
    }
    for (size_t i = 0; i < n; i++)
        if (roots[i] > 0 && roots[i] < 1)
            t[kept++] = roots[i];
    return kept;
}

/* The root within a stretch that only rises or only falls, from the value at its begin to that at
 * its end: Newton's steps from where a straight line has it, halves where one leads out. */
static double find_root(const double v[4], double low, double high, double first, double last) {
    enum { MOST_STEPS = 60 };
    double t = low + (high - low) * (first / (first - last));
    for (int step = 0; step < MOST_STEPS; step++) {
        double u = 1 - t, value = cubic(v, t);
        double slope =
            3 * (u * u * (v[1] - v[0]) + 2 * t * u * (v[2] - v[1]) + t * t * (v[3] - v[2]));
        *((value >= 0) == (first >= 0) ? &low : &high) = t;
        double next = t - value / slope;
        if (!(next >= low && next <= high))
            next = (low + high) / 2;
        if (fabs(next - t) < 1e-14)
            break;
        t = next;
    }
    return t;
}

/* All four values are on one side of 0. */
static bool is_aside(const double v[4]) {
    bool above = v[0] >= 0;
    return (v[1] >= 0) == above && (v[2] >= 0) == above && (v[3] >= 0) == above;
}

size_t fxs_bezier_crossings(const fxs_point p[4], bool along_x, double at, double t[3]) {
    double v[4], stop[4] = {0}, turns[2];
    for (int i = 0; i < 4; i++)
        v[i] = along(p[i], along_x) - at;
    if (is_aside(v))
        return 0;
    size_t n = 0, pieces = find_turns(v, turns);
    for (size_t i = 0; i < pieces; i++)
        stop[i + 1] = turns[i];
    stop[++pieces] = 1;
    for (size_t i = 0; i < pieces; i++) {
        double low = stop[i], high = stop[i + 1];
        double first = i ? cubic(v, low) : v[0], last = i + 1 < pieces ? cubic(v, high) : v[3];
        if ((first >= 0) != (last >= 0))
            t[n++] = find_root(v, low, high, first, last);
    }
    return n;
}

static fxs_point between(fxs_point a, fxs_point b, double t) {
    return (fxs_point){a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
}

void fxs_bezier_split(const fxs_point p[4], double t, fxs_point first[4], fxs_point second[4]) {
    fxs_point a = between(p[0], p[1], t), b = between(p[1], p[2], t), c = between(p[2], p[3], t);
    fxs_point d = between(a, b, t), e = between(b, c, t), middle = between(d, e, t);
    fxs_point begin = p[0], end = p[3];
    first[0] = begin, first[1] = a, first[2] = d, first[3] = middle;
    second[0] = middle, second[1] = e, second[2] = c, second[3] = end;
}

/* ---- what crosses
 * ------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const fxs_crossing *p = a, *q = b;
    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    return p->edge < q->edge ? -1 : p->edge > q->edge;
}

typedef struct crossings {
    fxs_arena *arena;
    fxs_crossing *list;
    size_t n, room;
} crossings;

static bool add_crossing(crossings *c, fxs_crossing one) {
    if (c->n == c->room) {
        size_t more = 2 * c->room + 32;
        fxs_crossing *list = fxs_arena_alloc_raw(c->arena, more, sizeof *list);
        if (!list)
            return false;
        if (c->n)
            memcpy(list, c->list, c->n * sizeof *list);
        c->list = list;
        c->room = more;
    }
    c->list[c->n++] = one;
    return true;
}

/* The crossings of one curve, arrow included. False: memory is out. */
static bool cross_curve(const fxs_curve *c, size_t edge, bool x, double at, const fxs_area *in,
                        crossings *out) {
    double low = along(c->area.low, x), high = along(c->area.high, x), t[3];
    if (!c->n || at < low || at > high)
        return true;
    for (size_t k = 0; k < c->n; k += 3) {
        fxs_point end = c->points[k], first[4], second[4];
        fxs_point tip[4] = {end, between(end, c->tip, 1 / 3.0), between(end, c->tip, 2 / 3.0),
                            c->tip};
        const fxs_point *piece = k + 1 < c->n ? &c->points[k] : tip;
        size_t found = fxs_bezier_crossings(piece, x, at, t);
        for (size_t i = 0; i < found; i++) {
            fxs_bezier_split(piece, t[i], first, second);
            double place = across(second[0], x);
            if (place >= across(in->low, x) && place <= across(in->high, x) &&
                !add_crossing(
                    out, (fxs_crossing){place, edge, along(first[2], x) < along(second[1], x)}))
                return false;
        }
    }
    return true;
}

fxs_status fxs_cut_crossings(const fxs_scene *s, bool along_x, double at, const fxs_area *in,
                             fxs_arena *a, fxs_crossing **out, size_t *n) {
    crossings c = {.arena = a};
    fxs_area cut = *in; /* the line itself */
    *(along_x ? &cut.low.x : &cut.low.y) = *(along_x ? &cut.high.x : &cut.high.y) = at;
    FXS_AREAS_EACH (e, s->edge_areas, cut)
        if (!cross_curve(&s->curves[e], e, along_x, at, in, &c))
            return FXS_ENOMEM;
    if (c.n)
        qsort(c.list, c.n, sizeof *c.list, by_place);
    *out = c.list;
    *n = c.n;
    return FXS_OK;
}

size_t fxs_cut_lines(const fxs_crossing *c, size_t n) {
    size_t lines = 0, first = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || c[i].at - c[first].at > FXS_SAME_LINE) {
            first = i;
            lines++;
        }
    return lines;
}
