/* pictures.h: golden networks laid out with clusters and labels that are made up, and what every
 * picture must be. For the tests of layouts and of what is done with them. */
#ifndef FXS_TESTS_PICTURES_H
#define FXS_TESTS_PICTURES_H

#include "geometry.h"
#include "golden.h"
#include "render_testing.h"

#include "render/layout.h"

typedef struct picture {
    fxs_fonts *fonts;
    fxs_view view;
    fxs_scene scene;
    fxs_buf notes;
} picture;

/* ---- views with clusters and labels
 * ---------------------------------------------------------------------------- */

static inline fxs_line line_of(fxs_view *v, const char *text, size_t len) {
    fxs_line l = {.text = fxs_arena_dup(&v->arena, text, len), .len = len};
    assert_non_null(l.text);
    assert_true(fxs_fonts_width(v->fonts, FXS_INK_KEY, l.text, len, &l.width));
    return l;
}

static inline size_t find_cluster(fxs_view *v, size_t parent, const char *name, size_t len) {
    for (size_t c = 1; c < v->nclusters; c++) {
        const fxs_line *l = &v->clusters[c].label;
        if (v->clusters[c].parent == parent && l->len == len && memcmp(l->text, name, len) == 0)
            return c;
    }
    v->clusters[v->nclusters] =
        (fxs_view_cluster){.parent = parent, .label = line_of(v, name, len)};
    return v->nclusters++;
}

/* A cluster for each part of the layers' paths but the last. What is no layer belongs where the
 * node before it does. */
static inline void add_clusters(fxs_view *v) {
    size_t at = 0;
    v->clusters = FXS_NEW_N(&v->arena, fxs_view_cluster, 4 * v->nnodes + 1);
    assert_non_null(v->clusters);
    v->nclusters = 1;
    for (size_t i = 0; i < v->nnodes; i++) {
        const fxs_node *n = v->nodes[i].node;
        if (n->kind == FXS_PLACEHOLDER || n->kind == FXS_OUTPUT)
            continue;
        const char *path = n->target, *dot;
        if (n->kind == FXS_CALL_MODULE)
            for (at = 0; (dot = strchr(path, '.')); path = dot + 1)
                at = find_cluster(v, at, path, (size_t)(dot - path));
        v->nodes[i].cluster = at;
    }
}

static inline void add_labels(fxs_view *v) {
    for (size_t i = 0; i < v->nedges; i++)
        if (i % 3)
            v->edges[i].label = line_of(v, "1 x 64 x 56 x 56", 16);
}

enum { CLUSTERS = 1, LABELS = 2, LR = 4, VARIANTS = 8 };
#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 7 }; /* sanitized layouts are slow, and these two take all the paths */
#else
enum { STEP = 1 };
#endif

static inline void lay_out(fxs_module *m, int variant, picture *p) {
    *p = (picture){0};
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &p->fonts));
    fxs_draw_options opt = {.direction = variant & LR ? "LR" : "TB"};
    assert_ok(m->ctx, fxs_view_make(m, &opt, p->fonts, &p->view));
    if (variant & CLUSTERS)
        add_clusters(&p->view);
    if (variant & LABELS)
        add_labels(&p->view);
    assert_ok(m->ctx, fxs_layout(m->ctx, &p->view, "layered", 60, NULL, &p->scene, &p->notes));
    assert_int_equal(p->notes.len, 0);
}

static inline void drop(picture *p) {
    fxs_buf_free(&p->notes);
    fxs_scene_free(&p->scene);
    fxs_view_free(&p->view);
    fxs_fonts_free(p->fonts);
}

static inline void check_picture(const char *name, int variant, const fxs_scene *s) {
    char what[300] = "";
    int faults = geo_overlaps(s, what, sizeof what) + geo_passes(s, what, sizeof what) +
                 geo_labels(s, what, sizeof what);
    if (faults)
        fail_msg("%s, variant %d: %d faults, the first: %s", name, variant, faults, what);
    for (size_t i = 0; i < s->view->nedges; i++)
        assert_true(s->curves[i].n >= 4 && s->curves[i].n % 3 == 1);
    for (size_t i = 0; i < s->view->nnodes; i++)
        assert_true(s->boxes[i].x == floor(s->boxes[i].x) && s->boxes[i].y == floor(s->boxes[i].y));
}

#endif
