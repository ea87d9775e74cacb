/* layers_levels.c: see layers_levels.h. Called by layout_layered.c. */
#include "layers_levels.h"

#include <stdlib.h>
#include <string.h>

/* ---- clusters
 * ---------------------------------------------------------------------------------------------- */

static size_t shown_around(const fxs_levels *l, size_t cluster) {
    while (cluster && !l->shown[cluster])
        cluster = l->view->clusters[cluster].parent;
    return cluster;
}

static size_t around(const fxs_levels *l, size_t cluster) {
    return l->cluster[l->view->nnodes + cluster];
}

static int depth_of(const fxs_levels *l, size_t cluster) {
    int depth = 0;
    for (; cluster; cluster = around(l, cluster))
        depth++;
    return depth;
}

static void find_clusters(fxs_levels *l) {
    const fxs_view *v = l->view;
    for (size_t i = 0; i < v->nnodes; i++)
        l->cluster[i] = v->nclusters ? shown_around(l, v->nodes[i].cluster) : 0;
    for (size_t c = 1; c < v->nclusters; c++)
        l->cluster[v->nnodes + c] = shown_around(l, v->clusters[c].parent);
}

/* ---- cycles
 * ------------------------------------------------------------------------------------------------
 */

typedef struct visit {
    size_t node, next; /* place in the list of edges */
} visit;

/* Edges to a node from which the way came. A graph that lint accepts has none. */
static void mark_back(fxs_levels *l, const size_t *start, const size_t *list, visit *stack,
                      char *state) {
    const fxs_view *v = l->view;
    enum { NEW, ON_THE_WAY, DONE };
    for (size_t root = 0; root < v->nnodes; root++) {
        size_t depth = 0;
        if (state[root] == NEW) {
            stack[depth++] = (visit){root, start[root]};
            state[root] = ON_THE_WAY;
        }
        while (depth) {
            visit *top = &stack[depth - 1];
            if (top->next == start[top->node + 1]) {
                state[top->node] = DONE;
                depth--;
                continue;
            }
            size_t e = list[top->next++], to = v->edges[e].to;
            l->back[e] = state[to] == ON_THE_WAY;
            if (state[to] == NEW) {
                state[to] = ON_THE_WAY;
                stack[depth++] = (visit){to, start[to]};
            }
        }
    }
}

static bool find_back(fxs_levels *l) {
    const fxs_view *v = l->view;
    size_t *start = FXS_NEW_N(&l->arena, size_t, v->nnodes + 1),
           *filled = FXS_NEW_N(&l->arena, size_t, v->nnodes),
           *list = FXS_NEW_N(&l->arena, size_t, v->nedges);
    visit *stack = FXS_NEW_N(&l->arena, visit, v->nnodes);
    char *state = FXS_NEW_N(&l->arena, char, v->nnodes);
    l->back = FXS_NEW_N(&l->arena, bool, v->nedges);
    if (!start || !filled || !list || !stack || !state || !l->back)
        return false;
    for (size_t e = 0; e < v->nedges; e++)
        start[v->edges[e].from]++;
    fxs_sum_up(start, v->nnodes);
    for (size_t e = 0; e < v->nedges; e++)
        list[start[v->edges[e].from] + filled[v->edges[e].from]++] = e;
    mark_back(l, start, list, stack, state);
    return true;
}

/* ---- ports and wires
 * ---------------------------------------------------------------------------------------- */

typedef struct maker {
    fxs_levels *l;
    size_t *table, table_size; /* ports by cluster, value and side */
    size_t wires_room, ports_room, path_room, npath;
    const size_t *drawn_as; /* by port, from the first time; NULL: this is it */
    const bool *bundle;     /* by port, likewise: others are drawn as this one */
    bool failed;
} maker;

/* Fewer values than these have a port each. */
enum { MANY_VALUES = 4 };

static bool grow(maker *m, void **list, size_t n, size_t *room, size_t size) {
    if (n < *room)
        return true;
    size_t more = 2 * *room;
    void *p = fxs_arena_alloc(&m->l->arena, more, size);
    if (!p) {
        m->failed = true;
        return false;
    }
    memcpy(p, *list, n * size);
    *list = p;
    *room = more;
    return true;
}

static size_t hash_port(const fxs_port *p) {
    uint64_t h = ((uint64_t)p->cluster * 0x9e3779b97f4a7c15u) ^ ((uint64_t)p->value << 1 | p->out) ^
                 ((uint64_t)p->item << 40);
    h *= 0xbf58476d1ce4e5b9u;
    return (size_t)(h ^ h >> 31);
}

static void put_port(maker *m, size_t port) {
    const fxs_port *p = &m->l->ports[port];
    size_t at = hash_port(p) & (m->table_size - 1);
    while (m->table[at])
        at = (at + 1) & (m->table_size - 1);
    m->table[at] = port + 1;
}

static bool grow_table(maker *m) {
    if (m->table && 2 * m->l->nports < m->table_size)
        return true;
    m->table_size = m->table_size ? 2 * m->table_size : 64;
    m->table = FXS_NEW_N(&m->l->arena, size_t, m->table_size);
    if (!m->table) {
        m->failed = true;
        return false;
    }
    for (size_t i = 0; i < m->l->nports; i++)
        put_port(m, i);
    return true;
}

/* The port of what an edge carries, made when it is new. */
static size_t find_port(maker *m, size_t cluster, const fxs_view_edge *e, bool out) {
    fxs_levels *l = m->l;
    fxs_port new = {.cluster = cluster,
                    .value = e->from,
                    .item = fxs_edge_row(l->view, e) ? e->item : FXS_NO_ITEM,
                    .out = out,
                    .inner = FXS_NO_INDEX,
                    .outer = FXS_NO_INDEX};
    if (!grow_table(m))
        return 0;
    for (size_t at = hash_port(&new) & (m->table_size - 1); m->table[at];
         at = (at + 1) & (m->table_size - 1)) {
        const fxs_port *p = &l->ports[m->table[at] - 1];
        if (p->cluster == cluster && p->value == e->from && p->item == new.item && p->out == out)
            return m->table[at] - 1;
    }
    if (!grow(m, (void **)&l->ports, l->nports, &m->ports_room, sizeof *l->ports))
        return 0;
    new.drawn_as = m->drawn_as ? m->drawn_as[l->nports] : l->nports;
    l->ports[l->nports] = new;
    put_port(m, l->nports);
    return l->nports++;
}

static void add_to_path(maker *m, size_t wire) {
    fxs_levels *l = m->l;
    if (grow(m, (void **)&l->path, m->npath, &m->path_room, sizeof *l->path))
        l->path[m->npath++] = wire;
}

static size_t add_wire(maker *m, const fxs_level_wire *w) {
    fxs_levels *l = m->l;
    if (!grow(m, (void **)&l->wires, l->nwires, &m->wires_room, sizeof *l->wires))
        return 0;
    l->wires[l->nwires] = *w;
    return l->nwires++;
}

/* A piece of edge e within a level; to a port (to_item: of the port, or the cluster whose port it
 * is) all edges of the value share it, and `shared` is where the port keeps it. */
static void pass(maker *m, size_t e, const fxs_level_wire *piece, size_t *shared) {
    bool spine = m->l->view->edges[e].spine;
    if (m->failed)
        return;
    size_t at = shared ? *shared : FXS_NO_INDEX;
    if (at == FXS_NO_INDEX) {
        at = add_wire(m, piece);
        if (shared)
            *shared = at;
    }
    if (m->failed)
        return;
    m->l->wires[at].spine |= spine;
    add_to_path(m, at);
}

/* Down from level `c`, where the wire comes from `piece`, to the edge's target; the levels are
 * stacked as they are met upwards. */
static void go_down(maker *m, size_t e, fxs_level_wire *piece, const size_t *inner, int n) {
    fxs_levels *l = m->l;
    const fxs_view_edge *edge = &l->view->edges[e];
    size_t nodes = l->view->nnodes, clusters = l->view->nclusters;
    size_t joined = FXS_NO_INDEX; /* the port of many values that the piece comes from */
    while (n > 0 && !m->failed) {
        size_t c = inner[--n], port = find_port(m, c, edge, false);
        if (m->failed)
            return;
        size_t as = l->ports[port].drawn_as;
        piece->to = nodes + c;
        piece->to_port = as;
        pass(m, e, piece, joined != FXS_NO_INDEX ? &l->ports[joined].inner : &l->ports[port].outer);
        joined = m->bundle && m->bundle[as] ? as : FXS_NO_INDEX;
        *piece = (fxs_level_wire){.level = c,
                                  .from = nodes + clusters + as,
                                  .from_port = FXS_NO_INDEX,
                                  .to_port = FXS_NO_INDEX,
                                  .edge = e};
    }
    piece->to = edge->to;
    piece->to_port = FXS_NO_INDEX;
    piece->labelled = edge->label.len > 0;
    pass(m, e, piece, joined != FXS_NO_INDEX ? &l->ports[joined].inner : NULL);
}

/* All pieces of an edge from its source to its target. */
static void add_edge(maker *m, size_t e, size_t *inner) {
    fxs_levels *l = m->l;
    const fxs_view_edge *edge = &l->view->edges[e];
    size_t nodes = l->view->nnodes, clusters = l->view->nclusters;
    size_t c = l->cluster[edge->from], to = l->cluster[edge->to];
    int deep = depth_of(l, c), to_deep = depth_of(l, to), n = 0;
    fxs_level_wire piece = {.level = c,
                            .from = edge->from,
                            .from_port = FXS_NO_INDEX,
                            .to_port = FXS_NO_INDEX,
                            .edge = e};
    while (to_deep > deep) {
        inner[n++] = to;
        to = around(l, to);
        to_deep--;
    }
    while (c != to && !m->failed) {
        if (deep == to_deep) {
            inner[n++] = to;
            to = around(l, to);
            to_deep--;
        }
        size_t port = find_port(m, c, edge, true);
        if (m->failed)
            return;
        piece.to = nodes + clusters + port;
        pass(m, e, &piece, &l->ports[port].inner);
        piece = (fxs_level_wire){.level = around(l, c),
                                 .from = nodes + c,
                                 .from_port = port,
                                 .to_port = FXS_NO_INDEX,
                                 .edge = e};
        c = around(l, c);
        deep--;
    }
    go_down(m, e, &piece, inner, n);
}

static bool make_wires(fxs_levels *l, const size_t *drawn_as, const bool *bundle) {
    const fxs_view *v = l->view;
    maker m = {.l = l,
               .drawn_as = drawn_as,
               .bundle = bundle,
               .wires_room = v->nedges + 1,
               .ports_room = 16,
               .path_room = v->nedges + 1};
    l->wires = FXS_NEW_N(&l->arena, fxs_level_wire, m.wires_room);
    l->ports = FXS_NEW_N(&l->arena, fxs_port, m.ports_room);
    l->path = FXS_NEW_N(&l->arena, size_t, m.path_room);
    l->path_start = FXS_NEW_N(&l->arena, size_t, v->nedges + 1);
    size_t *inner = FXS_NEW_N(&l->arena, size_t, v->nclusters + 1);
    if (!l->wires || !l->ports || !l->path || !l->path_start || !inner)
        return false;
    for (size_t e = 0; e < v->nedges && !m.failed; e++) {
        l->path_start[e] = m.npath;
        if (!l->back[e])
            add_edge(&m, e, inner);
    }
    l->path_start[v->nedges] = m.npath;
    return !m.failed;
}

/* ---- ports of many values
 * --------------------------------------------------------------------------------------- */

typedef struct joiner {
    fxs_levels *l;
    size_t *drawn_as; /* by port */
    bool *bundle;
    size_t *target,
        *to_port; /* by port: the only item that it goes to inside; FXS_NO_INDEX: more */
    size_t *by_level, *listed; /* ports in, by cluster */
    size_t *first, *count;     /* by item: the first port that goes to it alone, and how many */
} joiner;

static bool prepare_joiner(joiner *j) {
    fxs_levels *l = j->l;
    size_t items = l->view->nnodes + l->view->nclusters + l->nports;
    j->drawn_as = FXS_NEW_N(&l->arena, size_t, l->nports);
    j->bundle = FXS_NEW_N(&l->arena, bool, l->nports);
    j->target = FXS_NEW_N(&l->arena, size_t, l->nports);
    j->to_port = FXS_NEW_N(&l->arena, size_t, l->nports);
    j->by_level = FXS_NEW_N(&l->arena, size_t, l->nlevels + 2);
    j->listed = FXS_NEW_N(&l->arena, size_t, l->nports);
    j->first = FXS_NEW_N(&l->arena, size_t, items);
    j->count = FXS_NEW_N(&l->arena, size_t, items);
    return j->drawn_as && j->bundle && j->target && j->to_port && j->by_level && j->listed &&
           j->first && j->count;
}

static bool find_targets(joiner *j) {
    fxs_levels *l = j->l;
    size_t before = l->view->nnodes + l->view->nclusters;
    bool *seen = FXS_NEW_N(&l->arena, bool, l->nports);
    if (!seen)
        return false;
    for (size_t i = 0; i < l->nports; i++) {
        j->drawn_as[i] = i;
        j->target[i] = FXS_NO_INDEX;
        if (!l->ports[i].out)
            j->by_level[l->ports[i].cluster + 2]++;
    }
    for (size_t c = 1; c <= l->nlevels; c++)
        j->by_level[c + 1] += j->by_level[c];
    for (size_t i = 0; i < l->nports; i++)
        if (!l->ports[i].out)
            j->listed[j->by_level[l->ports[i].cluster + 1]++] = i;
    for (size_t i = 0; i < l->nwires; i++) {
        const fxs_level_wire *w = &l->wires[i];
        if (w->from < before || l->ports[w->from - before].out)
            continue;
        size_t p = w->from - before;
        j->target[p] = seen[p] ? FXS_NO_INDEX : w->to;
        j->to_port[p] = w->to_port;
        seen[p] = true;
    }
    return true;
}

/* Whether both ports go to one place of the item that they go to. */
static bool go_together(const joiner *j, size_t p, size_t q) {
    size_t a = j->to_port[p], b = j->to_port[q];
    return a == b || (a != FXS_NO_INDEX && b != FXS_NO_INDEX && j->drawn_as[a] == j->drawn_as[b]);
}

/* A concatenation takes a bundle of any size as what it is. */
static size_t many_for(const fxs_levels *l, size_t item) {
    const fxs_node *n = item < l->view->nnodes ? l->view->nodes[item].node : NULL;
    return n && n->target && strcmp(n->target, "torch.cat") == 0 ? 2 : MANY_VALUES;
}

/* Ports of one cluster; those of the clusters inside are known. */
static bool join_level(joiner *j, size_t c) {
    enum { APART = 1 << 30 };
    bool any = false;
    for (size_t i = j->by_level[c]; i < j->by_level[c + 1]; i++) {
        size_t p = j->listed[i], to = j->target[p];
        if (to == FXS_NO_INDEX)
            continue;
        if (j->count[to]++ == 0)
            j->first[to] = p;
        else if (!go_together(j, p, j->first[to]))
            j->count[to] = APART;
    }
    for (size_t i = j->by_level[c]; i < j->by_level[c + 1]; i++) {
        size_t p = j->listed[i], to = j->target[p];
        if (to == FXS_NO_INDEX || j->count[to] < many_for(j->l, to) || j->count[to] >= APART)
            continue;
        j->drawn_as[p] = j->first[to];
        j->bundle[j->first[to]] = true;
        any = true;
    }
    for (size_t i = j->by_level[c]; i < j->by_level[c + 1]; i++)
        if (j->target[j->listed[i]] != FXS_NO_INDEX)
            j->count[j->target[j->listed[i]]] = 0;
    return any;
}

/* The values of a concatenation enter the cluster around it as one bundle. */
static bool join_ports(fxs_levels *l) {
    joiner j = {.l = l};
    bool any = false;
    if (!prepare_joiner(&j) || !find_targets(&j))
        return false;
    for (size_t c = l->nlevels; c-- > 1;)
        any |= join_level(&j, c);
    if (!any)
        return true;
    l->nports = l->nwires = 0;
    return make_wires(l, j.drawn_as, j.bundle);
}

/* ---- items
 * --------------------------------------------------------------------------------------------------
 */

/* Items of every level: ports in, then nodes and clusters in the view's order, then ports out. */
static void list_item(fxs_levels *l, size_t *filled, size_t level, size_t item) {
    if (filled)
        l->items[l->levels[level].first_item + filled[level]++] = item;
    else
        l->levels[level].nitems++;
}

static void walk_items(fxs_levels *l, size_t *filled, bool *seen, size_t *inner) {
    const fxs_view *v = l->view;
    memset(seen, 0, l->nlevels * sizeof *seen);
    for (size_t i = 0; i < l->nports; i++)
        if (!l->ports[i].out && l->ports[i].drawn_as == i)
            list_item(l, filled, l->ports[i].cluster, v->nnodes + v->nclusters + i);
    for (size_t i = 0; i < v->nnodes; i++) {
        int n = 0;
        for (size_t c = l->cluster[i]; c && !seen[c]; c = around(l, c)) {
            seen[c] = true;
            inner[n++] = c;
        }
        while (n-- > 0)
            list_item(l, filled, around(l, inner[n]), v->nnodes + inner[n]);
        list_item(l, filled, l->cluster[i], i);
    }
    for (size_t i = 0; i < l->nports; i++)
        if (l->ports[i].out)
            list_item(l, filled, l->ports[i].cluster, v->nnodes + v->nclusters + i);
}

static bool list_items(fxs_levels *l) {
    const fxs_view *v = l->view;
    size_t n = v->nnodes + v->nclusters + l->nports;
    bool *seen = FXS_NEW_N(&l->arena, bool, l->nlevels);
    size_t *inner = FXS_NEW_N(&l->arena, size_t, l->nlevels);
    size_t *filled = FXS_NEW_N(&l->arena, size_t, l->nlevels);
    l->items = FXS_NEW_N(&l->arena, size_t, n);
    l->graph_of = FXS_NEW_N(&l->arena, size_t, n);
    l->as = FXS_NEW_N(&l->arena, size_t, n);
    l->sorted = FXS_NEW_N(&l->arena, size_t, l->nwires);
    /* A component of the picture has an item of it. */
    l->graphs = FXS_NEW_N(&l->arena, fxs_layers, v->nnodes + v->nclusters + 1);
    if (!seen || !inner || !filled || !l->items || !l->graph_of || !l->as || !l->sorted ||
        !l->graphs)
        return false;
    walk_items(l, NULL, seen, inner);
    for (size_t i = 0; i < l->nwires; i++)
        l->levels[l->wires[i].level].nwires++;
    for (size_t c = 1; c < l->nlevels; c++) {
        l->levels[c].first_item = l->levels[c - 1].first_item + l->levels[c - 1].nitems;
        l->levels[c].first_wire = l->levels[c - 1].first_wire + l->levels[c - 1].nwires;
    }
    walk_items(l, filled, seen, inner);
    memset(filled, 0, l->nlevels * sizeof *filled);
    for (size_t i = 0; i < l->nwires; i++) {
        size_t level = l->wires[i].level;
        l->sorted[l->levels[level].first_wire + filled[level]++] = i;
    }
    return true;
}

fxs_status fxs_levels_make(fxs_levels *l) {
    const fxs_view *v = l->view;
    l->nlevels = v->nclusters ? v->nclusters : 1;
    l->ngraphs = l->nports = l->nwires = 0;
    l->levels = FXS_NEW_N(&l->arena, fxs_level, l->nlevels);
    l->cluster = FXS_NEW_N(&l->arena, size_t, v->nnodes + l->nlevels);
    if (!l->levels || !l->cluster)
        return FXS_ENOMEM;
    find_clusters(l);
    return find_back(l) && make_wires(l, NULL, NULL) && join_ports(l) && list_items(l) ? FXS_OK
                                                                                       : FXS_ENOMEM;
}

/* ---- working graphs
 * ----------------------------------------------------------------------------------------- */

static size_t root_of(size_t *parent, size_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* The number of each item's working graph; returns how many there are. In a cluster all stand
 * between the same ports, so that is one graph. */
static size_t find_components(fxs_levels *l, size_t level) {
    const fxs_level *v = &l->levels[level];
    const size_t *items = l->items + v->first_item;
    size_t n = 0, *parent = l->as, *graph = l->graph_of; /* `as` is not set yet */
    for (size_t i = 0; i < v->nitems; i++)
        parent[items[i]] = level ? items[0] : items[i];
    for (size_t i = v->first_wire; i < v->first_wire + v->nwires; i++) {
        const fxs_level_wire *w = &l->wires[l->sorted[i]];
        size_t a = root_of(parent, w->from), b = root_of(parent, w->to);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < v->nitems; i++)
        graph[items[i]] = FXS_NO_INDEX;
    for (size_t i = 0; i < v->nitems; i++) {
        size_t root = root_of(parent, items[i]);
        if (graph[root] == FXS_NO_INDEX)
            graph[root] = n++;
        graph[items[i]] = graph[root];
    }
    return n;
}

static fxs_vertex vertex_of(const fxs_levels *l, size_t item) {
    const fxs_view *v = l->view;
    if (item < v->nnodes) {
        const fxs_label *label = &v->nodes[item].label;
        double w = v->lr ? label->h : label->w;
        return (fxs_vertex){.kind = FXS_VERTEX_NODE,
                            .of = item,
                            .left = w / 2,
                            .right = w / 2,
                            .h = v->lr ? label->w : label->h};
    }
    item -= v->nnodes;
    if (item < v->nclusters) {
        const fxs_level *c = &l->levels[item];
        return (fxs_vertex){.kind = FXS_VERTEX_CLUSTER,
                            .of = item,
                            .left = c->line - c->left,
                            .right = c->right - c->line,
                            .h = c->height};
    }
    item -= v->nclusters;
    return (fxs_vertex){.kind = l->ports[item].out ? FXS_VERTEX_OUT : FXS_VERTEX_IN,
                        .of = item,
                        .left = FXS_BEND_WIDTH / 2.0,
                        .right = FXS_BEND_WIDTH / 2.0};
}

static double offset_of(const fxs_levels *l, size_t port) {
    if (port == FXS_NO_INDEX)
        return 0;
    return l->ports[port].x - l->levels[l->ports[port].cluster].line;
}

/* The middle of the row where a wire of a node begins. */
static double row_of(const fxs_levels *l, const fxs_level_wire *w) {
    const fxs_label_row *row =
        w->from < l->view->nnodes ? fxs_edge_row(l->view, &l->view->edges[w->edge]) : NULL;
    return row ? row->cell[0].y + row->cell[0].h / 2 : 0;
}

static void add_vertices(fxs_levels *l, size_t level, fxs_layers *graphs) {
    const fxs_level *v = &l->levels[level];
    for (size_t i = v->first_item; i < v->first_item + v->nitems; i++) {
        size_t item = l->items[i];
        fxs_layers *g = &graphs[l->graph_of[item]];
        l->as[item] = g->nitems;
        l->graph_of[item] += v->first_graph;
        g->vertices[g->nitems++] = vertex_of(l, item);
        g->nvertices = g->nitems;
    }
}

/* Wires by target, and within one in the order in which they come. */
static bool add_wires(fxs_levels *l, size_t level) {
    const fxs_level *v = &l->levels[level];
    size_t *start = FXS_NEW_N(&l->arena, size_t, v->nitems + 1), *at = start, base = 0;
    if (!start)
        return false;
    for (size_t k = 0; k < v->ngraphs; k++) { /* each graph has its part of `start` */
        fxs_layers *g = &l->graphs[v->first_graph + k];
        g->x = (double)base;
        base += g->nitems;
    }
    for (size_t i = v->first_wire; i < v->first_wire + v->nwires; i++) {
        const fxs_level_wire *w = &l->wires[l->sorted[i]];
        at[(size_t)l->graphs[l->graph_of[w->to]].x + l->as[w->to]]++;
    }
    base = 0;
    for (size_t k = 0; k < v->ngraphs; k++) {
        fxs_layers *g = &l->graphs[v->first_graph + k];
        for (size_t i = 0; i < g->nitems; i++, base++) {
            size_t n = start[base];
            start[base] = g->nwires;
            g->nwires += n;
        }
        g->wires = FXS_NEW_N(&l->arena, fxs_wire, g->nwires);
        if (!g->wires)
            return false;
    }
    for (size_t i = v->first_wire; i < v->first_wire + v->nwires; i++) {
        fxs_level_wire *w = &l->wires[l->sorted[i]];
        fxs_layers *g = &l->graphs[w->in_graph = l->graph_of[w->to]];
        w->as = start[(size_t)g->x + l->as[w->to]]++;
        g->wires[w->as] = (fxs_wire){.from = l->as[w->from],
                                     .to = l->as[w->to],
                                     .from_off = offset_of(l, w->from_port),
                                     .to_off = offset_of(l, w->to_port),
                                     .row = row_of(l, w),
                                     .edge = w->edge,
                                     .spine = w->spine,
                                     .labelled = w->labelled};
    }
    return true;
}

/* Whether the label stands above what is inside, where values come in. */
static bool has_head(const fxs_levels *l, size_t level) {
    return level && !l->view->lr && l->view->clusters[level].label.len;
}

fxs_status fxs_levels_graphs(fxs_levels *l, size_t level, double deadline) {
    fxs_level *v = &l->levels[level];
    v->first_graph = l->ngraphs;
    v->ngraphs = find_components(l, level);
    fxs_layers *graphs = &l->graphs[v->first_graph];
    l->ngraphs += v->ngraphs;
    for (size_t i = 0; i < v->nitems; i++)
        graphs[l->graph_of[l->items[v->first_item + i]]].nitems++;
    for (size_t i = 0; i < v->ngraphs; i++) {
        size_t n = graphs[i].nitems;
        /* Room for junctions, of which there is one for each item at most. */
        graphs[i] = (fxs_layers){.arena = &l->arena,
                                 .view = l->view,
                                 .deadline = deadline,
                                 .head = has_head(l, level) ? FXS_FRAME_HEAD : 0,
                                 .vertices = FXS_NEW_N(&l->arena, fxs_vertex, 2 * n)};
        if (!graphs[i].vertices)
            return FXS_ENOMEM;
    }
    add_vertices(l, level, graphs);
    return add_wires(l, level) ? FXS_OK : FXS_ENOMEM;
}
