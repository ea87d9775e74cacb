/* write.c: see write.h. */
#include "write.h"

#include <math.h>
#include <stdlib.h>

void fxs_put_number(fxs_buf *b, double x) {
    long n = lround(x * 1000);
    fxs_buf_printf(b, "%s%ld", n < 0 ? "-" : "", labs(n) / 1000);
    n = labs(n) % 1000;
    if (n == 0)
        return;
    int digits = n % 100 == 0 ? 1 : n % 10 == 0 ? 2 : 3;
    fxs_buf_printf(b, ".%0*ld", digits, digits == 1 ? n / 100 : digits == 2 ? n / 10 : n);
}

void fxs_flush(fxs_buf *b, fxs_sink *out, size_t over) {
    if (b->failed)
        out->buf.failed = true;
    if (b->len <= over || b->failed)
        return;
    fxs_sink_write(out, b->data, b->len);
    fxs_buf_cut(b, 0);
}

fxs_point fxs_curve_at(const fxs_point *p, double t) {
    double u = 1 - t;
    const double f[] = {u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
    fxs_point at = {0, 0};
    for (int i = 0; i < 4; i++)
        at = (fxs_point){at.x + f[i] * p[i].x, at.y + f[i] * p[i].y};
    return at;
}

bool fxs_is_straight(const fxs_point *p) {
    double dx = p[3].x - p[0].x, dy = p[3].y - p[0].y, len = hypot(dx, dy);
    for (int i = 1; i < 3; i++)
        if (fabs((p[i].x - p[0].x) * dy - (p[i].y - p[0].y) * dx) > 0.01 * len)
            return false;
    return true;
}

/* ---- nesting
 * ----------------------------------------------------------------------------------------------
 */

/* Lists of nodes and of clusters by the cluster around them: first, then next; numbers from 1 on, 0
 * ends a list. */
typedef struct tree {
    size_t *first_node, *next_node, *first_cluster, *next_cluster;
} tree;

static bool make_tree(const fxs_view *v, size_t nclusters, tree *t) {
    size_t n = v->nnodes + 1, c = nclusters;
    t->first_node = fxs_alloc0(n + 3 * c, sizeof *t->first_node);
    if (!t->first_node)
        return false;
    t->first_cluster = t->first_node + c;
    t->next_cluster = t->first_node + 2 * c;
    t->next_node = t->first_node + 3 * c;
    for (size_t i = v->nnodes; i-- > 0;) {
        size_t around = v->nclusters ? v->nodes[i].cluster : 0;
        t->next_node[i] = t->first_node[around];
        t->first_node[around] = i + 1;
    }
    for (size_t i = c; i-- > 1;) {
        t->next_cluster[i] = t->first_cluster[v->clusters[i].parent];
        t->first_cluster[v->clusters[i].parent] = i + 1;
    }
    return true;
}

static void enter(const fxs_nesting *f, const tree *t, size_t cluster, void *user) {
    if (cluster && f->open)
        f->open(user, cluster);
    for (size_t i = t->first_node[cluster]; i && f->node; i = t->next_node[i - 1])
        f->node(user, i - 1);
}

bool fxs_nest(const fxs_view *v, const fxs_nesting *f, void *user) {
    tree t;
    if (!make_tree(v, v->nclusters ? v->nclusters : 1, &t))
        return false;
    enter(f, &t, 0, user);
    for (size_t c = t.first_cluster[0]; c;) {
        enter(f, &t, c - 1, user);
        if (t.first_cluster[c - 1]) {
            c = t.first_cluster[c - 1];
            continue;
        }
        for (; c; c = v->clusters[c - 1].parent ? v->clusters[c - 1].parent + 1 : 0) {
            if (f->close)
                f->close(user, c - 1);
            if (t.next_cluster[c - 1]) {
                c = t.next_cluster[c - 1];
                break;
            }
        }
    }
    fxs_free(t.first_node);
    return true;
}
