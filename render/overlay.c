/* overlay.c: see overlay.h. Numbers get one of the palette's steps, words one colour each. A node
 * that failed keeps the colour that says so. Called by view.c and draw.c. */
#include "overlay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emit/facts.h"
#include "escape.h"
#include "ir/family.h"
#include "legend.h"
#include "op/group.h"
#include "palette.h"
#include "units.h"

/* From this ratio of the largest to the smallest number on, a linear scale would show one colour.
 */
enum { WIDE = 100 };

/* ---- what nodes are coloured by ---- */

static double or_none(double x) { return x > 0 ? x : NAN; }
static double flops_of(const fxs_meta *m) { return or_none(m->flops); }
static double params_of(const fxs_meta *m) { return or_none((double)m->parameters); }
static double memory_of(const fxs_meta *m) { return or_none(fxs_result_bytes(m)); }
static double time_of(const fxs_meta *m) { return or_none(m->seconds * 1e9); }
static double overlay_of(const fxs_meta *m) { return m->has_overlay ? m->overlay : NAN; }

typedef struct measure {
    const char *name, *title;
    double (*of)(const fxs_meta *m); /* NAN: the node has none */
    const char *const *units;        /* NULL: plain numbers */
} measure;

static const measure measures[] = {
    {"flops", "FLOPs", flops_of, fxs_units_flops},
    {"params", "parameters", params_of, fxs_units_count},
    {"memory", "memory of the result", memory_of, fxs_units_bytes},
    {"time", "time", time_of, fxs_units_time},
    {"overlay", "value", overlay_of, NULL},
};
static const char names[] = "kind, family, flops, params, memory, time, nan, overlay";

static const measure *find_measure(const char *name) {
    for (size_t i = 0; name && i < sizeof measures / sizeof *measures; i++)
        if (strcmp(measures[i].name, name) == 0)
            return &measures[i];
    return NULL;
}

static bool is(const char *name, const char *what) { return name && strcmp(name, what) == 0; }

static bool is_known(const char *name) {
    return !name || find_measure(name) || is(name, "kind") || is(name, "family") || is(name, "nan");
}

static bool has_values(const fxs_module *m, const char *by) {
    bool found = false;
    for (const fxs_node *n = fxs_graph_first(m->graph); n && !found; n = fxs_node_next(n))
        found = is(by, "nan") ? n->meta.nstats > 0 : n->meta.seconds > 0;
    return found;
}

fxs_status fxs_overlay_check(fxs_ctx *ctx, const fxs_draw_options *o) {
    const char *by = o->color_by;
    if (!is_known(by))
        return fxs_fail(ctx, FXS_EINVAL, "nodes can't be coloured by '%s' (known: %s)", by, names);
    if (o->palette && !fxs_palette_find(o->palette, NULL))
        return fxs_fail(ctx, FXS_EINVAL, "there is no palette '%s' (known: %s)", o->palette,
                        fxs_palette_names());
    if ((unsigned)o->color_scale > FXS_SCALE_LOG)
        return fxs_fail(ctx, FXS_EINVAL, "there is no scale %d of colours", (int)o->color_scale);
    return FXS_OK;
}

fxs_status fxs_overlay_fits(const fxs_module *m, const fxs_draw_options *o) {
    const char *by = o->color_by;
    fxs_ctx *ctx = m->ctx;
    if (is(by, "time") && !has_values(m, by))
        return fxs_fail(ctx, FXS_EINVAL,
                        "no node has a time to be coloured by: run the model "
                        "with values");
    if (is(by, "nan") && !has_values(m, by))
        return fxs_fail(ctx, FXS_EINVAL,
                        "no node has value statistics to tell NaN by: run the "
                        "model with values and statistics");
    return FXS_OK;
}

bool fxs_overlay_marks(const fxs_module *m, const fxs_draw_options *o) {
    return (is(o->color_by, "nan") || o->rows & FXS_ROW_STATS) && has_values(m, "nan");
}

/* ---- painting ---- */

typedef struct painter {
    fxs_view *v;
    fxs_ctx *ctx;
    const fxs_palette *palette;
    const fxs_theme *kinds;
} painter;

static void paint(const painter *p, fxs_view_node *n, fxs_color head) {
    n->head = head;
    n->line = fxs_color_between(head, p->v->theme->edge);
    n->ink = fxs_ink_on(head);
    n->inked = true;
}

static void paint_kind(const painter *p, fxs_view_node *n) {
    n->head = p->kinds->style[n->style].head;
    n->line = p->kinds->style[n->style].line;
    n->inked = p->kinds != p->v->theme;
    n->ink = fxs_ink_on(n->head);
}

static bool is_bad(const fxs_view_node *n) { return n->style >= FXS_STYLE_FAILED; }

/* One more class of SVG and DOT. False: memory is out. */
static bool add_class(const painter *p, fxs_view_node *n, const char *prefix, const char *word) {
    fxs_buf b = {0};
    fxs_buf_printf(&b, "%s%s%s%s", n->classes ? n->classes : "", n->classes ? " " : "", prefix,
                   word);
    n->classes = b.failed ? NULL : fxs_arena_dup(&p->v->arena, b.data, b.len);
    fxs_buf_free(&b);
    return n->classes;
}

/* ---- numbers ---- */

typedef struct range {
    double low, high;
    size_t n, none, refused; /* nodes with a number, without, and below a logarithm */
    bool log;
} range;

static range find_range(const fxs_view *v, const measure *by, fxs_color_scale scale) {
    range r = {INFINITY, -INFINITY, 0, 0, 0, false};
    double least = INFINITY; /* of the positive ones */
    for (size_t i = 0; i < v->nnodes; i++) {
        double x = by->of(&v->nodes[i].node->meta);
        r.none += isnan(x);
        if (isnan(x))
            continue;
        r.n++;
        r.low = fmin(r.low, x);
        r.high = fmax(r.high, x);
        least = x > 0 ? fmin(least, x) : least;
    }
    r.log = scale == FXS_SCALE_LOG ||
            (scale == FXS_SCALE_AUTO && r.n && r.low > 0 && r.high / r.low >= WIDE);
    if (r.log)
        r.low = least;
    return r;
}

static int step_of(const range *r, double x) {
    double low = r->log ? log10(r->low) : r->low, high = r->log ? log10(r->high) : r->high;
    double at = ((r->log ? log10(x) : x) - low) / (high - low) * FXS_PALETTE_STEPS;
    if (!(high > low))
        return FXS_PALETTE_STEPS / 2;
    return at < 0 ? 0 : at < FXS_PALETTE_STEPS ? (int)at : FXS_PALETTE_STEPS - 1;
}

static void put_value(fxs_buf *out, const measure *by, double x) {
    if (by->units)
        fxs_put_unit(out, x, by->units);
    else
        fxs_buf_printf(out, "%.4g", x);
}

static void scale_legend(const painter *p, const measure *by, const char *title, const range *r) {
    fxs_legend_builder b = {.v = p->v};
    bool one = !(r->high > r->low);
    fxs_buf_printf(&b.text, "%s%s", title, one ? "" : r->log ? ", log scale" : ", linear scale");
    fxs_legend_title(&b);
    put_value(&b.text, by, r->low);
    fxs_legend_text(&b);
    for (int i = 0; i < FXS_PALETTE_STEPS; i++)
        if (!one || i == FXS_PALETTE_STEPS / 2)
            fxs_legend_step(&b, p->palette->step[i]);
    if (!one) {
        put_value(&b.text, by, r->high);
        fxs_legend_text(&b);
    }
    if (r->none + r->refused) {
        fxs_buf_puts(&b.text, "no value");
        fxs_legend_swatch(&b, p->palette->none,
                          fxs_color_between(p->palette->none, p->v->theme->edge));
    }
    fxs_legend_finish(&b);
}

static bool tell(fxs_view *v, const char *format, const char *what, size_t n) {
    fxs_buf b = {0};
    fxs_buf_printf(&b, format, what, n);
    v->note = b.failed ? NULL : fxs_arena_dup(&v->arena, b.data, b.len);
    fxs_buf_free(&b);
    return v->note;
}

static bool color_by_number(const painter *p, const measure *by, const fxs_draw_options *o) {
    fxs_view *v = p->v;
    const char *title = by->units || !o->overlay_title ? by->title : o->overlay_title;
    range r = find_range(v, by, o->color_scale);
    bool ok = true;
    for (size_t i = 0; i < v->nnodes && ok; i++) {
        fxs_view_node *n = &v->nodes[i];
        double x = by->of(&n->node->meta);
        bool shown = !isnan(x) && !(r.log && x <= 0);
        char word[16];
        r.refused += !isnan(x) && !shown;
        int step = shown ? step_of(&r, x) : -1;
        snprintf(word, sizeof word, "%d", step + 1);
        ok = shown ? add_class(p, n, "heat-", word) : add_class(p, n, "no-value", "");
        if (!is_bad(n))
            paint(p, n, shown ? p->palette->step[step] : p->palette->none);
    }
    if (!ok)
        return false;
    if (r.n == r.refused)
        return tell(v, "no node has a number to be coloured by: %s%.0zu\n", title, 0);
    scale_legend(p, by, title, &r);
    return !r.refused ||
           tell(v, "%s: a logarithm has no place for 0 and less: %zu nodes have no colour\n", title,
                r.refused);
}

/* ---- words ---- */

static fxs_status color_by_family(const painter *p, const fxs_module *m) {
    size_t count[FXS_GROUP_COUNT] = {0}, nnone = 0;
    bool boxes = false;
    fxs_view *v = p->v;
    for (size_t i = 0; i < v->nnodes; i++) {
        fxs_group g;
        bool none;
        FXS_TRY(fxs_node_family(v->nodes[i].node, m, &none, &g));
        if (!add_class(p, &v->nodes[i], "family-", none ? "none" : fxs_group_class(g)))
            return fxs_fail_memory(p->ctx);
        if (is_bad(&v->nodes[i]))
            continue;
        paint(p, &v->nodes[i], none ? p->palette->none : p->palette->family[g]);
        count[g] += !none;
        nnone += none;
        boxes = boxes || (!none && v->nodes[i].node->meta.inside);
    }
    fxs_legend_builder b = {.v = v};
    for (int k = 1; k <= FXS_GROUP_COUNT; k++) { /* "other" comes last */
        fxs_group g = (fxs_group)(k % FXS_GROUP_COUNT);
        if (!count[g])
            continue;
        fxs_buf_puts(&b.text, fxs_group_text(g));
        fxs_legend_swatch(&b, p->palette->family[g],
                          fxs_color_between(p->palette->family[g], v->theme->edge));
    }
    if (nnone) {
        fxs_buf_puts(&b.text, "no single operator");
        fxs_legend_swatch(&b, p->palette->none,
                          fxs_color_between(p->palette->none, v->theme->edge));
    }
    if (boxes) {
        fxs_buf_puts(&b.text, "of a module: most FLOPs in it");
        fxs_legend_text(&b);
    }
    return fxs_legend_finish(&b) ? FXS_OK : fxs_fail_memory(p->ctx);
}

static bool color_by_kind(const painter *p) {
    bool there[FXS_STYLE_COUNT] = {false};
    fxs_legend_builder b = {.v = p->v};
    for (size_t i = 0; i < p->v->nnodes; i++) {
        paint_kind(p, &p->v->nodes[i]);
        there[p->v->nodes[i].style] = true;
    }
    for (int s = 0; s < FXS_STYLE_COUNT; s++) {
        if (!there[s])
            continue;
        fxs_buf_puts(&b.text, s < FXS_STYLE_FAILED ? fxs_kind_name((fxs_kind)s)
                                                   : fxs_style_class((fxs_style)s));
        fxs_legend_swatch(&b, p->kinds->style[s].head, p->kinds->style[s].line);
    }
    return fxs_legend_finish(&b);
}

/* ---- NaN and Inf ---- */

static bool mark_nonfinite(const painter *p, bool color_all, bool color_marked) {
    static const char *const texts[] = {"finite", "NaN or Inf begins here",
                                        "NaN or Inf from an input"};
    static const char *const classes[] = {NULL, "nonfinite-first", "nonfinite-inherited"};
    const fxs_color fills[] = {p->palette->none, p->palette->first, p->palette->inherited};
    bool there[3] = {false}, ok = true;
    fxs_legend_builder b = {.v = p->v};
    for (size_t i = 0; i < p->v->nnodes && ok; i++) {
        fxs_view_node *n = &p->v->nodes[i];
        fxs_nonfinite what = fxs_node_nonfinite(n->node);
        there[what] = true;
        if (what != FXS_FINITE)
            ok = add_class(p, n, classes[what], "");
        if (!is_bad(n) && (color_all || (color_marked && what != FXS_FINITE)))
            paint(p, n, fills[what]);
    }
    for (int i = 1; i <= 3 && ok && (color_all || (color_marked && (there[1] || there[2]))); i++) {
        int what = i % 3;
        if (!there[what] || (what == FXS_FINITE && !color_all))
            continue;
        fxs_buf_puts(&b.text, texts[what]);
        fxs_legend_swatch(&b, fills[what], fxs_color_between(fills[what], p->v->theme->edge));
    }
    return fxs_legend_finish(&b) && ok;
}

/* ---- all of it ---- */

/* The legend in words, for those who do not see it. */
static bool describe(fxs_view *v) {
    fxs_buf b = {0};
    fxs_buf_puts(&b, v->description);
    for (size_t i = 0, n = 0; i < v->legend.n; i++)
        if (v->legend.items[i].text.len)
            fxs_buf_printf(&b, "%s%s", n++ ? ", " : " Colours: ", v->legend.items[i].text.text);
    fxs_buf_putc(&b, '.');
    v->description = b.failed ? NULL : fxs_arena_dup(&v->arena, b.data, b.len);
    fxs_buf_free(&b);
    return v->description;
}

fxs_status fxs_overlay_apply(fxs_view *v, const fxs_module *m, const fxs_draw_options *o) {
    painter p = {.v = v, .ctx = m->ctx, .palette = fxs_palette_find(o->palette, v->theme)};
    const measure *by = find_measure(o->color_by);
    p.kinds = o->palette && is(o->color_by, "kind") ? fxs_theme_find(p.palette->kinds) : v->theme;
    bool ok = true;
    for (size_t i = 0; i < v->nnodes; i++)
        paint_kind(&p, &v->nodes[i]);
    if (by)
        ok = color_by_number(&p, by, o);
    else if (is(o->color_by, "family"))
        FXS_TRY(color_by_family(&p, m));
    else if (is(o->color_by, "kind"))
        ok = color_by_kind(&p);
    if (ok && v->marks_nonfinite)
        ok = mark_nonfinite(&p, is(o->color_by, "nan"), !o->color_by);
    if (ok && v->legend.n)
        ok = describe(v);
    return ok ? FXS_OK : fxs_fail_memory(m->ctx);
}
