/* hubs.c: a value that is used in very many places (a mask, position ids) is drawn as a small
 * reference box at each use but the first, where its edges would cover the picture. Called by
 * view.c when nodes and edges are made. */
#include <string.h>

#include "view.h"

/* A concatenation of many values is no reason for a box: layouts draw it as a bus. */
enum { MANY_INPUTS = 8 };
#define NONE SIZE_MAX

typedef struct hubs {
    fxs_view *v;
    size_t limit, nreferences;
    size_t *inputs;       /* by node: edges that arrive */
    size_t *places;       /* by node: nodes that use it */
    size_t *first, *last; /* by node: who used it first and last, NONE: nobody yet */
    size_t *box, *number; /* by node: its last reference, and its own place, among the new nodes */
    size_t *source;       /* by edge: the reference that it comes from, NONE: the node itself */
} hubs;

static bool counts(const hubs *h, const fxs_view_edge *e) {
    return h->inputs[e->to] <= MANY_INPUTS && e->from < e->to && !e->spine;
}

static void count_places(hubs *h) {
    fxs_view *v = h->v;
    for (size_t i = 0; i < v->nedges; i++)
        h->inputs[v->edges[i].to]++;
    for (size_t i = 0; i < v->nedges; i++) {
        const fxs_view_edge *e = &v->edges[i];
        if (!counts(h, e) || h->last[e->from] == e->to)
            continue;
        h->last[e->from] = e->to;
        if (h->places[e->from]++ == 0)
            h->first[e->from] = e->to;
    }
    for (size_t i = 0; i < v->nnodes; i++)
        if (h->places[i] > h->limit) {
            h->nreferences += h->places[i] - 1;
            v->hub = v->nhubs++ ? v->hub : v->nodes[i].node;
        }
}

static fxs_status make_reference(hubs *h, const fxs_view_node *hub, const fxs_view_node *user,
                                 fxs_view_node *out) {
    fxs_buf id = {0};
    fxs_buf_printf(&id, "%s@%s", hub->id, user->id);
    *out = (fxs_view_node){.node = hub->node,
                           .reference = true,
                           .name = hub->name,
                           .cluster = user->cluster,
                           .style = hub->style,
                           .tip = hub->tip};
    out->id = id.failed ? NULL : fxs_arena_dup(&h->v->arena, id.data, id.len);
    fxs_buf_free(&id);
    return out->id ? fxs_label_reference(h->v, out) : fxs_fail_memory(hub->node->graph->ctx);
}

/* The new nodes: a reference stands just before its user. */
static fxs_status put_references(hubs *h, fxs_view_node *nodes) {
    fxs_view *v = h->v;
    size_t n = 0, e = 0;
    for (size_t i = 0; i < v->nnodes; i++)
        h->last[i] = NONE;
    for (size_t i = 0; i < v->nnodes; i++) {
        for (; e < v->nedges && v->edges[e].to == i; e++) {
            size_t from = v->edges[e].from;
            h->source[e] = NONE;
            if (h->places[from] <= h->limit || !counts(h, &v->edges[e]) || h->first[from] == i)
                continue;
            if (h->last[from] != i) {
                FXS_TRY(make_reference(h, &v->nodes[from], &v->nodes[i], &nodes[n]));
                h->box[from] = n++;
                h->last[from] = i;
            }
            h->source[e] = h->box[from];
        }
        h->number[i] = n;
        nodes[n++] = v->nodes[i];
    }
    for (e = 0; e < v->nedges; e++) {
        fxs_view_edge *edge = &v->edges[e];
        edge->from = h->source[e] == NONE ? h->number[edge->from] : h->source[e];
        edge->to = h->number[edge->to];
    }
    v->nodes = nodes;
    v->nnodes = n;
    return FXS_OK;
}

fxs_status fxs_view_mark_hubs(fxs_view *v, size_t limit) {
    size_t n = v->nnodes;
    size_t *room = n ? fxs_alloc0(7 * n + v->nedges, sizeof *room) : NULL;
    if (!n)
        return FXS_OK;
    fxs_ctx *ctx = v->nodes[0].node->graph->ctx;
    if (!room)
        return fxs_fail_memory(ctx);
    hubs h = {.v = v,
              .limit = limit,
              .inputs = room,
              .places = room + n,
              .first = room + 2 * n,
              .last = room + 3 * n,
              .box = room + 4 * n,
              .number = room + 5 * n,
              .source = room + 6 * n};
    for (size_t i = 0; i < n; i++)
        h.last[i] = NONE;
    count_places(&h);
    fxs_status status = FXS_OK;
    if (v->nhubs) {
        fxs_view_node *nodes = FXS_NEW_N(&v->arena, fxs_view_node, n + h.nreferences);
        status = nodes ? put_references(&h, nodes) : fxs_fail_memory(ctx);
    }
    fxs_free(room);
    return status;
}
