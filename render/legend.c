/* legend.c: see legend.h. Called by overlay.c and scene.c. */
#include "legend.h"

#include <math.h>
#include <string.h>

#include "escape.h"

enum {
    SWATCH = 12, /* width of one with a text, and height of all */
    STEP = 16,   /* width of a scale's step */
    NEAR = 4,    /* between a swatch and its text */
    GAP = 14,    /* between pieces */
    LINE = 18,
    MAX_TITLE = 120
};

static void add(fxs_legend_builder *b, fxs_legend_item item) {
    fxs_buf clean = {0};
    fxs_clean(&clean, b->text.data ? b->text.data : "", b->text.len, MAX_TITLE, false);
    fxs_buf_add(&clean, "", 0);
    b->failed |= b->text.failed || clean.failed;
    fxs_buf_cut(&b->text, 0);
    if (!b->failed && b->n < sizeof b->items / sizeof *b->items) {
        item.text.text = fxs_arena_dup(&b->v->arena, clean.data, clean.len);
        item.text.len = clean.len;
        b->failed |= !item.text.text || !fxs_fonts_width(b->v->fonts, item.ink, item.text.text,
                                                         item.text.len, &item.text.width);
        b->items[b->n++] = item;
    }
    fxs_buf_free(&clean);
}

void fxs_legend_title(fxs_legend_builder *b) { add(b, (fxs_legend_item){.ink = FXS_INK_NAME}); }
void fxs_legend_text(fxs_legend_builder *b) { add(b, (fxs_legend_item){.ink = FXS_INK_KEY}); }

void fxs_legend_swatch(fxs_legend_builder *b, fxs_color fill, fxs_color line) {
    add(b, (fxs_legend_item){.ink = FXS_INK_KEY, .swatch = true, .fill = fill, .line = line});
}

void fxs_legend_step(fxs_legend_builder *b, fxs_color fill) {
    fxs_buf_cut(&b->text, 0);
    add(b, (fxs_legend_item){
               .ink = FXS_INK_KEY, .swatch = true, .step = true, .fill = fill, .line = fill});
}

bool fxs_legend_finish(fxs_legend_builder *b) {
    fxs_legend *to = &b->v->legend;
    fxs_legend_item *items = FXS_NEW_N(&b->v->arena, fxs_legend_item, to->n + b->n);
    fxs_buf_free(&b->text);
    if (b->failed || !items)
        return false;
    if (to->n)
        memcpy(items, to->items, to->n * sizeof *items);
    if (b->n)
        memcpy(items + to->n, b->items, b->n * sizeof *items);
    *to = (fxs_legend){items, to->n + b->n};
    return true;
}

/* ---- places ---- */

static double width_of(const fxs_legend_item *i) {
    if (i->step)
        return STEP;
    return (i->swatch ? SWATCH + NEAR : 0) + ceil(i->text.width);
}

/* Steps, and the numbers at both ends of them, stay together. */
static bool is_bound(const fxs_legend *l, size_t i) {
    bool after = i && l->items[i - 1].step && (l->items[i].step || !l->items[i].swatch);
    return after || (l->items[i].step && i);
}

static double run_width(const fxs_legend *l, size_t from, size_t *end) {
    double w = width_of(&l->items[from]);
    for (*end = from + 1; *end < l->n && is_bound(l, *end); ++*end) {
        bool joined = l->items[*end].step && l->items[*end - 1].step;
        w += (joined ? 0 : NEAR) + width_of(&l->items[*end]);
    }
    return w;
}

static void place_item(fxs_scene *s, size_t i, double x, double y) {
    const fxs_legend_item *item = &s->view->legend.items[i];
    const fxs_face *face = &fxs_faces[item->ink];
    double top = y + (LINE - SWATCH) / 2.0, w = item->step ? STEP : SWATCH;
    s->swatches[i] = item->swatch ? (fxs_area){{x, top}, {x + w, top + SWATCH}} : fxs_area_none();
    s->swatch_texts[i] = (fxs_point){x + (item->swatch ? SWATCH + NEAR : 0),
                                     y + (LINE - face->line) / 2 + face->baseline};
}

fxs_point fxs_legend_place(fxs_scene *s, double room) {
    const fxs_legend *l = &s->view->legend;
    double x = 0, y = 0, widest = 0;
    for (size_t i = 0, end; i < l->n; i = end) {
        double w = run_width(l, i, &end);
        if (x > 0 && x + w > room) {
            x = 0;
            y += LINE;
        }
        for (size_t k = i; k < end; k++) {
            bool joined = l->items[k].step && l->items[k - 1].step;
            x += k == i || joined ? 0 : NEAR;
            place_item(s, k, x, y);
            x += width_of(&l->items[k]);
        }
        widest = fmax(widest, x);
        x += GAP;
    }
    return (fxs_point){widest, l->n ? y + LINE : 0};
}

void fxs_legend_shift(fxs_scene *s, double dx, double dy) {
    for (size_t i = 0; i < s->view->legend.n; i++) {
        fxs_area *a = &s->swatches[i];
        *a = (fxs_area){{a->low.x + dx, a->low.y + dy}, {a->high.x + dx, a->high.y + dy}};
        s->swatch_texts[i].x += dx;
        s->swatch_texts[i].y += dy;
    }
}
