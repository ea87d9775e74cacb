/* layout_dot.c: the engine "dot": Graphviz gives the places. It runs in a child (child.h), since
 * libgvc can exit, abort, hang and leaks; its nodes are plain boxes of fixed size without text, so
 * no font and no label parser is touched. The places come back as a checked list of numbers. The
 * only file that may include Graphviz headers. */
#include <math.h>
#include <string.h>

#include <graphviz/gvc.h>

#include "child.h"
#include "dot.h"
#include "graphviz_library.h"
#include "layout.h"

/* The answer: `header`, then a point for each node (its centre), then for each edge a count, its
 * points, the tip and the middle of its label, then two corners of each cluster. */
typedef struct header {
    uint32_t magic, nodes, edges, points;
} header;

enum { MAGIC = 0x46585331, MAX_POINTS = 50000, MAX_COORDINATE = 100000000 };

/* ---- in the child
 * ---------------------------------------------------------------------------------------- */

/* cgraph takes texts that it does not change as char *. */
static char *plain(const char *s) { return (char *)(uintptr_t)s; }

static void set_default(Agraph_t *g, int kind, const char *name, const char *value) {
    agattr(g, kind, plain(name), plain(value));
}

static void set_number(void *object, const char *name, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.4f", value);
    agsafeset(object, plain(name), text, plain(""));
}

/* Room for a text, which is not given: a table without one, so that no font is asked. */
static void set_room(Agraph_t *g, void *object, double w, double h) {
    char text[200];
    snprintf(text, sizeof text,
             "<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\" "
             "fixedsize=\"true\" width=\"%.0f\" height=\"%.0f\"><tr><td></td></tr></table>",
             ceil(w), ceil(h));
    char *room = agstrdup_html(g, text);
    if (room)
        agset(object, plain("label"), room);
}

/* A subgraph for each cluster, within that of its parent. */
static bool build_clusters(const fxs_view *v, Agraph_t *g, Agnode_t **nodes, Agraph_t **clusters) {
    char name[32];
    if (!v->nclusters)
        return true;
    set_default(g, AGRAPH, "label", "");
    set_default(g, AGRAPH, "margin", "0");
    clusters[0] = g;
    for (size_t c = 1; c < v->nclusters; c++) {
        snprintf(name, sizeof name, "cluster%zu", c);
        clusters[c] = agsubg(clusters[v->clusters[c].parent], name, 1);
        if (!clusters[c])
            return false;
        set_number(clusters[c], "margin", FXS_FRAME_PAD);
        if (v->clusters[c].label.len)
            set_room(g, clusters[c], v->clusters[c].label.width + FXS_PAD_X, FXS_FRAME_HEAD - 8);
    }
    for (size_t i = 0; i < v->nnodes; i++)
        if (v->nodes[i].cluster && !agsubnode(clusters[v->nodes[i].cluster], nodes[i], 1))
            return false;
    return true;
}

static Agraph_t *build(const fxs_view *v, Agnode_t **nodes, Agedge_t **edges, Agraph_t **clusters) {
    Agraph_t *g = agopen(plain("view"), Agdirected, NULL);
    if (!g)
        return NULL;
    set_default(g, AGRAPH, "rankdir", v->lr ? "LR" : "TB");
    set_default(g, AGNODE, "label", "");
    set_default(g, AGEDGE, "label", "");
    set_default(g, AGNODE, "width", "1");
    set_default(g, AGNODE, "height", "1");
    for (const fxs_dot_attribute *a = fxs_dot_layout; a->name; a++) {
        static const int kinds[] = {
            [FXS_DOT_GRAPH] = AGRAPH, [FXS_DOT_NODE] = AGNODE, [FXS_DOT_EDGE] = AGEDGE};
        set_default(g, kinds[a->class], a->name, a->value);
    }
    for (size_t i = 0; i < v->nnodes; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%zu", i);
        nodes[i] = agnode(g, name, 1);
        if (!nodes[i])
            return NULL;
        set_number(nodes[i], "width", v->nodes[i].label.w / FXS_POINTS_PER_INCH);
        set_number(nodes[i], "height", v->nodes[i].label.h / FXS_POINTS_PER_INCH);
    }
    for (size_t i = 0; i < v->nedges; i++) {
        edges[i] = agedge(g, nodes[v->edges[i].from], nodes[v->edges[i].to], NULL, 1);
        if (!edges[i])
            return NULL;
        if (v->edges[i].spine)
            agsafeset(edges[i], plain("weight"), plain(FXS_DOT_SPINE_WEIGHT), plain("1"));
        if (v->edges[i].label.len)
            set_room(g, edges[i], v->edges[i].label.width + FXS_PAD_X, fxs_faces[FXS_INK_KEY].line);
    }
    return build_clusters(v, g, nodes, clusters) ? g : NULL;
}

static void put(fxs_buf *out, const void *data, size_t n) { fxs_buf_add(out, data, n); }

static void put_point(fxs_buf *out, pointf p, double top) {
    fxs_point q = {p.x, top - p.y}; /* dot's y goes up */
    put(out, &q, sizeof q);
}

static uint32_t put_edge(fxs_buf *out, Agedge_t *e, double top) {
    const splines *all = ED_spl(e);
    uint32_t n = all && all->size == 1 ? (uint32_t)all->list[0].size : 0;
    put(out, &n, sizeof n);
    for (uint32_t k = 0; k < n; k++)
        put_point(out, all->list[0].list[k], top);
    if (n) {
        put_point(out, all->list[0].eflag ? all->list[0].ep : all->list[0].list[n - 1], top);
        pointf label = {0, top};
        put_point(out, ED_label(e) ? ED_label(e)->pos : label, top);
    }
    return n;
}

static void put_answer(const fxs_view *v, Agraph_t *g, Agnode_t **nodes, Agedge_t **edges,
                       Agraph_t **clusters, fxs_buf *out) {
    header h = {.magic = MAGIC, .nodes = (uint32_t)v->nnodes, .edges = (uint32_t)v->nedges};
    double top = GD_bb(g).UR.y;
    put(out, &h, sizeof h);
    for (size_t i = 0; i < v->nnodes; i++)
        put_point(out, ND_coord(nodes[i]), top);
    for (size_t i = 0; i < v->nedges; i++)
        h.points += put_edge(out, edges[i], top);
    for (size_t c = 0; c < v->nclusters; c++) {
        put_point(out, GD_bb(clusters[c]).LL, top);
        put_point(out, GD_bb(clusters[c]).UR, top);
    }
    if (!out->failed)
        memcpy(out->data, &h, sizeof h);
}

/* What is made here dies with the child. */
static bool run_dot(int fd, const void *arg) {
    const fxs_view *v = arg;
    Agnode_t **nodes = fxs_alloc(v->nnodes, sizeof *nodes);
    Agedge_t **edges = fxs_alloc(v->nedges, sizeof *edges);
    Agraph_t **clusters = fxs_alloc(v->nclusters, sizeof *clusters);
    Agraph_t *g = nodes && edges && clusters ? build(v, nodes, edges, clusters) : NULL;
    GVC_t *gvc = g ? gvContext() : NULL;
    if (!gvc || gvLayout(gvc, g, "dot") != 0)
        return false;
    fxs_buf out = {0};
    put_answer(v, g, nodes, edges, clusters, &out);
    return !out.failed && fxs_write_all(fd, out.data, out.len);
}

/* ---- in the parent
 * --------------------------------------------------------------------------------------- */

typedef struct reader {
    const char *data;
    size_t left;
    bool bad;
} reader;

static void take(reader *r, void *out, size_t n) {
    if (r->bad || r->left < n) {
        r->bad = true;
        memset(out, 0, n);
        return;
    }
    memcpy(out, r->data, n);
    r->data += n;
    r->left -= n;
}

static fxs_point take_point(reader *r) {
    fxs_point p;
    take(r, &p, sizeof p);
    if (!(fabs(p.x) < MAX_COORDINATE && fabs(p.y) < MAX_COORDINATE)) {
        r->bad = true;
        return (fxs_point){0, 0};
    }
    return p;
}

static fxs_status take_curve(reader *r, fxs_scene *s, size_t edge) {
    fxs_curve *c = &s->curves[edge];
    const fxs_face *face = &fxs_faces[FXS_INK_KEY];
    uint32_t n;
    take(r, &n, sizeof n);
    if (n > MAX_POINTS || n % 3 != 1) /* 3k + 1 points: every edge has at least one curve */
        r->bad = true;
    if (r->bad)
        return FXS_OK;
    c->points = FXS_NEW_N(&s->arena, fxs_point, n);
    if (!c->points)
        return FXS_ENOMEM;
    c->n = n;
    for (uint32_t k = 0; k < n; k++)
        c->points[k] = take_point(r);
    c->tip = take_point(r);
    fxs_point middle = take_point(r);
    c->label = (fxs_point){middle.x - s->view->edges[edge].label.width / 2,
                           middle.y - face->line / 2 + face->baseline};
    return FXS_OK;
}

static fxs_status read_answer(const fxs_buf *answer, const fxs_view *v, fxs_scene *s,
                              fxs_buf *why) {
    reader r = {.data = answer->data, .left = answer->len};
    header h;
    take(&r, &h, sizeof h);
    r.bad |= h.magic != MAGIC || h.nodes != v->nnodes || h.edges != v->nedges;
    for (size_t i = 0; i < v->nnodes && !r.bad; i++) {
        const fxs_label *l = &v->nodes[i].label;
        fxs_point centre = take_point(&r);
        s->boxes[i] = (fxs_box){round(centre.x - l->w / 2), round(centre.y - l->h / 2)};
    }
    for (size_t i = 0; i < v->nedges && !r.bad; i++)
        FXS_TRY(take_curve(&r, s, i));
    for (size_t c = 0; c < v->nclusters && !r.bad; c++) {
        fxs_point a = take_point(&r), b = take_point(&r);
        if (c && a.x < b.x) /* a cluster without members has no box */
            s->frames[c] = (fxs_area){{a.x, b.y}, {b.x, a.y}};
    }
    if (r.bad || r.left) {
        fxs_buf_puts(why, "gave an answer that makes no sense");
        return FXS_ELIMIT;
    }
    s->over = true; /* arrows come in at all angles, and a box would cover half of a flat one */
    return FXS_OK;
}

static fxs_status layout_dot(const fxs_view *v, double seconds, fxs_scene *s, fxs_buf *why) {
    fxs_buf answer = {0};
    size_t room = sizeof(header) + v->nnodes * sizeof(fxs_point) +
                  (v->nedges * (MAX_POINTS + 3) + 2 * v->nclusters) * sizeof(fxs_point);
    if (!fxs_library_open(&fxs_graphviz_library, why))
        return FXS_EIO;
    fxs_status status = fxs_child_run(run_dot, v, seconds, room + 16, &answer, why);
    if (status == FXS_OK)
        status = read_answer(&answer, v, s, why);
    fxs_buf_free(&answer);
    return status;
}

const fxs_engine fxs_engine_dot = {.name = "dot", .run = layout_dot, .limit = 25000};
