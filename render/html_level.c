/* html_level.c: one level of a page as numbers: its boxes with their labels, its edges. Called by
 * canvas_html.c for each level; docs/page-format.md says what the numbers are. */
#include <math.h>

#include "fxoutline.h"
#include "html.h"

/* A curve is drawn to a tenth of a point. */
static long long tenths(double x) { return llround(x * 10); }

static size_t cell_text(fxs_html *h, const fxs_cell *c) {
    for (size_t i = 0; i < c->nlines; i++) {
        if (i)
            fxs_buf_putc(&h->clean, '\n');
        fxs_buf_add(&h->clean, c->lines[i].text, c->lines[i].len);
    }
    size_t text = fxs_html_text(h, h->clean.data ? h->clean.data : "", h->clean.len);
    h->failed |= h->clean.failed;
    fxs_buf_cut(&h->clean, 0);
    return text;
}

/* rows, then for each its ink (of the last cell; plus 8 for two cells) and its texts */
static void put_label(fxs_html *h, const fxs_label *l) {
    fxs_html_int(h, llround(l->w));
    fxs_html_int(h, llround(l->h));
    fxs_html_int(h, llround(l->split));
    fxs_html_int(h, (long long)l->nrows);
    for (size_t i = 0; i < l->nrows; i++) {
        const fxs_label_row *row = &l->rows[i];
        fxs_html_int(h, (int)row->cell[row->ncells - 1].ink + (row->ncells == 2 ? 8 : 0));
        for (int k = 0; k < row->ncells; k++)
            fxs_html_int(h, (long long)cell_text(h, &row->cell[k]));
    }
}

static void put_items(fxs_html *h, const fxs_module *root, const fxs_scene *s,
                      const fxs_level_node *what) {
    const fxs_view *v = s->view;
    for (size_t i = 0; i < v->nnodes; i++) {
        const fxs_view_node *n = &v->nodes[i];
        const fxs_level_node *is = &what[n->node->index];
        fxs_html_int(h, (int)is->part + (n->reference ? 4 : 0));
        fxs_html_int(h, (long long)is->at);
        fxs_html_int(h, (int)n->style);
        fxs_html_int(h, llround(s->boxes[i].x));
        fxs_html_int(h, llround(s->boxes[i].y));
        put_label(h, &n->label);
        if (is->part == FXS_LEVEL_BOX && !n->reference)
            fxs_html_facts(h, root, n->node);
        fxs_html_flush(h, 1 << 16);
    }
}

/* Each point as the way from the one before. */
static void put_curve(fxs_html *h, const fxs_curve *c) {
    long long x = 0, y = 0;
    fxs_html_int(h, (long long)c->n);
    for (size_t i = 0; i <= c->n; i++) {
        const fxs_point *p = i < c->n ? &c->points[i] : &c->tip;
        fxs_html_int(h, tenths(p->x) - x);
        fxs_html_int(h, tenths(p->y) - y);
        x = tenths(p->x);
        y = tenths(p->y);
    }
}

/* Its text, and where it begins. */
static void put_edge_label(fxs_html *h, const fxs_line *label, const fxs_curve *c) {
    fxs_html_int(h, (long long)fxs_html_text(h, label->text, label->len));
    fxs_html_int(h, tenths(c->label.x));
    fxs_html_int(h, tenths(c->label.y));
}

static void put_edges(fxs_html *h, const fxs_scene *s) {
    for (size_t i = 0; i < s->view->nedges; i++) {
        const fxs_view_edge *e = &s->view->edges[i];
        if (s->curves[i].n == 0)
            continue;
        fxs_html_int(h, (long long)e->from);
        fxs_html_int(h, (long long)e->to);
        bool labelled = fxs_label_shown(s, i);
        fxs_html_int(h, e->tensor + (labelled ? 2 : 0));
        put_curve(h, &s->curves[i]);
        if (labelled)
            put_edge_label(h, &e->label, &s->curves[i]);
        fxs_html_flush(h, 1 << 16);
    }
}

void fxs_html_level(fxs_html *h, const fxs_module *root, const fxs_scene *s,
                    const struct fxs_level_node *what) {
    fxs_html_puts(h, "[");
    fxs_html_int(h, llround(s->w));
    fxs_html_int(h, llround(s->h));
    fxs_html_int(h, s->over);
    fxs_html_puts(h, "],[");
    put_items(h, root, s, what);
    fxs_html_puts(h, "],[");
    put_edges(h, s);
    fxs_html_puts(h, "]");
}
