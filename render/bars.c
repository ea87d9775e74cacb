/* bars.c: see bars.h. The columns of texts are as wide as their widest text, so that none leaves
 * its place. Called by draw.c. */
#include "bars.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = 16,
    GAP = 8,       /* between a bar and the texts beside it */
    LINE = 18,     /* from bar to bar */
    BAR = 12,      /* thickness */
    LONGEST = 320, /* bar */
    MAX_BARS = 50
};

static fxs_status add_line(fxs_view *v, fxs_ink ink, const char *text, fxs_line *out) {
    size_t len = strlen(text);
    *out = (fxs_line){.text = fxs_arena_dup(&v->arena, text, len), .len = len};
    if (!out->text || !fxs_fonts_width(v->fonts, ink, text, len, &out->width))
        return FXS_ENOMEM;
    return FXS_OK;
}

static fxs_status add_figures(fxs_view *v, const fxs_profile_row *r, fxs_line *out) {
    char text[120];
    int n = snprintf(text, sizeof text, "%.3f ms  %.1f%%", r->seconds * 1e3, r->share * 100);
    if (r->flops > 0 && r->seconds > 0)
        snprintf(text + n, sizeof text - (size_t)n, "  %.1f GFLOP/s", r->flops / r->seconds * 1e-9);
    return add_line(v, FXS_INK_KEY, text, out);
}

static fxs_status set_texts(const fxs_module *m, const fxs_chart *c, const fxs_draw_options *opt,
                            size_t rows, fxs_view *v) {
    const fxs_profile_totals *t = fxs_profile_all(c->profile);
    const char *what = c->by == FXS_BY_NODE ? "node" : "operator";
    char text[300];
    v->name = m->class_name;
    snprintf(text, sizeof text, "%.100s: %.3f ms by %s, the %zu longest of %zu nodes in all",
             m->class_name, t->seconds * 1e3, what, rows, t->nodes);
    v->description = fxs_arena_dup(&v->arena, text, strlen(text));
    snprintf(text, sizeof text, "%.100s: %.3f ms by %s", m->class_name, t->seconds * 1e3, what);
    return v->description ? add_line(v, FXS_INK_TITLE, opt->title ? opt->title : text, &v->title)
                          : FXS_ENOMEM;
}

/* Notes 2i and 2i + 1 are name and figures of bar i. */
static fxs_status write_rows(const fxs_profile_row *rows, fxs_view *v, fxs_scene *s, double *names,
                             double *figures) {
    for (size_t i = 0; i < s->nbars; i++) {
        fxs_note *name = &s->notes[2 * i], *figure = name + 1;
        *name = (fxs_note){.ink = FXS_INK_TEXT};
        *figure = (fxs_note){.ink = FXS_INK_KEY};
        FXS_TRY(add_line(v, FXS_INK_TEXT, rows[i].name, &name->line));
        FXS_TRY(add_figures(v, &rows[i], &figure->line));
        *names = fmax(*names, name->line.width);
        *figures = fmax(*figures, figure->line.width);
    }
    return FXS_OK;
}

static void place_rows(const fxs_profile_row *rows, fxs_scene *s, double names) {
    double left = MARGIN + ceil(names) + GAP, top = MARGIN + fxs_faces[FXS_INK_TITLE].line + GAP;
    for (size_t i = 0; i < s->nbars; i++, top += LINE) {
        double share = rows[0].seconds > 0 ? rows[i].seconds / rows[0].seconds : 0,
               length = fmax(round(share * LONGEST), 1), middle = top + LINE / 2.0;
        double baseline =
            middle - fxs_faces[FXS_INK_TEXT].line / 2 + fxs_faces[FXS_INK_TEXT].baseline;
        s->bars[i] = (fxs_area){{left, middle - BAR / 2.0}, {left + length, middle + BAR / 2.0}};
        fxs_note *name = &s->notes[2 * i], *figure = name + 1;
        name->at = (fxs_point){left - GAP - name->line.width, baseline};
        figure->at = (fxs_point){left + length + GAP, baseline};
    }
    s->h = top + MARGIN;
}

static fxs_status make(const fxs_module *m, const fxs_chart *c, const fxs_draw_options *opt,
                       fxs_view *v, fxs_scene *s) {
    size_t n;
    double names = 0, figures = 0;
    const fxs_profile_row *rows = fxs_profile_rows(c->profile, c->by, &n);
    FXS_TRY(fxs_scene_new(v, s));
    s->nbars = n < MAX_BARS ? n : MAX_BARS;
    s->nnotes = 2 * s->nbars;
    s->bars = FXS_NEW_N(&s->arena, fxs_area, s->nbars);
    s->notes = FXS_NEW_N(&s->arena, fxs_note, s->nnotes);
    if (!s->bars || !s->notes)
        return FXS_ENOMEM;
    FXS_TRY(set_texts(m, c, opt, s->nbars, v));
    FXS_TRY(write_rows(rows, v, s, &names, &figures));
    place_rows(rows, s, names);
    s->w = fmax(MARGIN + ceil(names) + GAP + LONGEST + GAP + ceil(figures) + MARGIN,
                v->title.width + 2 * MARGIN);
    s->title = (fxs_point){MARGIN, MARGIN + fxs_faces[FXS_INK_TITLE].baseline};
    return FXS_OK;
}

fxs_status fxs_bars_make(const fxs_module *m, const fxs_chart *c, const fxs_draw_options *opt,
                         fxs_fonts *fonts, fxs_view *v, fxs_scene *s) {
    *v = (fxs_view){.fonts = fonts, .theme = fxs_theme_find(opt->theme)};
    *s = (fxs_scene){.view = v};
    return make(m, c, opt, v, s) == FXS_OK ? FXS_OK : fxs_fail_memory(m->ctx);
}
