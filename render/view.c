/* view.c: module + meta become a view: every node with its table, every use of a value as an edge.
 * Called by draw.c. */
#include "view.h"

#include <string.h>

#include "emit/facts.h"
#include "emit/format.h"
#include "escape.h"
#include "overlay.h"
#include "ranks.h"

enum { DEFAULT_HUB_USES = 32 };

/* ---- edges
 * -----------------------------------------------------------------------------------------------
 */

typedef struct edge_walk {
    fxs_view *view; /* edges NULL: count only */
    size_t to, n;
    size_t *last, *uses; /* by source: which target used it last (plus one), and how often */
} edge_walk;

static bool is_nontensor(const fxs_node *n) {
    return n->meta.outcome == FXS_DONE && !n->meta.has_tensor;
}

/* Which element of the source's result the target is: getitem(lstm, 0), getattr(max_1, 'indices').
 * The result of a box may be a tuple of several nodes' results, of which the target indexes one. */
static size_t item_of(const fxs_node *source, const fxs_node *target) {
    const fxs_value *whole = &source->meta.result, *of = fxs_value_item(&target->args, 0),
                    *which = fxs_value_item(&target->args, 1);
    size_t n = fxs_value_len(whole), at = FXS_NO_ITEM;
    if (target->kind != FXS_CALL_FUNCTION || source->meta.inside ||
        source->meta.outcome != FXS_DONE || !of || !which || of->tag != FXS_V_NODE ||
        of->u.node != source)
        return FXS_NO_ITEM;
    bool tuple = whole->tag == FXS_V_TUPLE || whole->tag == FXS_V_LIST;
    if (strcmp(target->target, "builtins.getattr") == 0 && which->tag == FXS_V_STR)
        at = fxs_named_field(whole, fxs_value_text(which));
    else if (strcmp(target->target, "operator.getitem") != 0)
        return FXS_NO_ITEM;
    else if (tuple && which->tag == FXS_V_INT)
        at = (size_t)(which->u.i < 0 ? which->u.i + (int64_t)n : which->u.i);
    for (size_t i = 0; i < n && whole->tag == FXS_V_DICT; i++)
        at = fxs_value_equal(fxs_value_key(whole, i), which) ? i : at;
    return at < n ? at : FXS_NO_ITEM;
}

static bool add_edge(void *user, const fxs_value *leaf) {
    edge_walk *w = user;
    const fxs_node *source = leaf->u.node;
    if (leaf->tag != FXS_V_NODE || source->graph != w->view->nodes[w->to].node->graph)
        return true; /* a graph that lint would refuse is drawn as far as it goes */
    size_t from = source->index;
    if (w->view->edges) {
        if (w->last[from] != w->to + 1) {
            w->last[from] = w->to + 1;
            w->uses[from] = 0;
        }
        bool tensor = !is_nontensor(source) && !is_nontensor(w->view->nodes[w->to].node);
        w->view->edges[w->n] = (fxs_view_edge){.from = from,
                                               .to = w->to,
                                               .use = w->uses[from]++,
                                               .item = item_of(source, w->view->nodes[w->to].node),
                                               .tensor = tensor};
    }
    w->n++;
    return true;
}

static size_t walk_edges(fxs_view *v, edge_walk *w) {
    for (w->to = 0; w->to < v->nnodes; w->to++) {
        fxs_value_visit(&v->nodes[w->to].node->args, add_edge, w);
        fxs_value_visit(&v->nodes[w->to].node->kwargs, add_edge, w);
    }
    return w->n;
}

static bool make_edges(fxs_view *v) {
    edge_walk count = {.view = v}, fill = {.view = v};
    v->nedges = walk_edges(v, &count);
    v->edges = FXS_NEW_N(&v->arena, fxs_view_edge, v->nedges);
    fill.last = FXS_NEW_N(&v->arena, size_t, v->nnodes);
    fill.uses = FXS_NEW_N(&v->arena, size_t, v->nnodes);
    if (!v->edges || !fill.last || !fill.uses)
        return false;
    walk_edges(v, &fill);
    return true;
}

/* ---- texts
 * -----------------------------------------------------------------------------------------------
 */

static bool keep_clean(fxs_view *v, fxs_buf *raw, size_t max, bool lines, fxs_line *out) {
    fxs_buf clean = {0};
    fxs_clean(&clean, raw->data ? raw->data : "", raw->len, max, lines);
    fxs_buf_add(&clean, "", 0);
    bool ok = !raw->failed && !clean.failed;
    if (ok) {
        out->text = fxs_arena_dup(&v->arena, clean.data, clean.len);
        out->len = clean.len;
    }
    fxs_buf_free(&clean);
    fxs_buf_free(raw);
    return ok && out->text;
}

/* A clean name is the id as it is. Another, or one longer than Graphviz reads, is cut and cleaned,
 * and has its place behind it; "@@" is in no other id. */
static bool make_name(fxs_view *v, fxs_view_node *n) {
    const char *name = n->node->name;
    fxs_buf raw = {0}, id = {0};
    fxs_line line;
    fxs_buf_puts(&raw, name);
    if (!keep_clean(v, &raw, FXS_TIP_CHARS, false, &line))
        return false;
    n->id = n->name = line.text;
    if (*name && !strchr(name, '@') && strcmp(name, line.text) == 0)
        return true;
    fxs_buf_printf(&id, "%s@@%zu", line.text, v->nnodes);
    n->id = id.failed ? NULL : fxs_arena_dup(&v->arena, id.data, id.len);
    fxs_buf_free(&id);
    return n->id;
}

/* The node as format_node prints it, then its result or what went wrong. */
static bool make_tip(fxs_view *v, fxs_view_node *n) {
    fxs_buf raw = {0};
    const fxs_meta *meta = &n->node->meta;
    fxs_buf_node_line(&raw, n->node, 0);
    if (meta->outcome == FXS_DONE) {
        fxs_buf_puts(&raw, "\n= ");
        fxs_buf_node_result(&raw, meta);
    } else if (meta->outcome == FXS_BLOCKED) {
        fxs_buf_printf(&raw, "\nblocked: needs the result of %s",
                       meta->culprit ? meta->culprit->name : "another node");
    } else if (meta->outcome != FXS_NOT_RUN) {
        fxs_buf_printf(&raw, "\n%s: %s", meta->outcome == FXS_FAILED ? "failed" : "unknown",
                       meta->message ? meta->message : "no reason recorded");
    }
    return keep_clean(v, &raw, FXS_TIP_CHARS, true, &n->tip);
}

static void describe_inputs(fxs_buf *raw, const fxs_view *v) {
    size_t n = 0;
    for (size_t i = 0; i < v->nnodes; i++) {
        const fxs_node *node = v->nodes[i].node;
        if (node->kind != FXS_PLACEHOLDER)
            continue;
        if (++n > 8) {
            fxs_buf_puts(raw, ", ...");
            return;
        }
        fxs_buf_printf(raw, "%s%s", n == 1 ? ", inputs " : ", ", node->name);
        if (node->meta.outcome == FXS_DONE) {
            fxs_buf_putc(raw, ' ');
            fxs_buf_node_result(raw, &node->meta);
        }
    }
}

static bool describe(fxs_view *v) {
    size_t bad[FXS_OUTCOME_COUNT] = {0};
    for (size_t i = 0; i < v->nnodes; i++)
        bad[v->nodes[i].node->meta.outcome]++;
    fxs_buf raw = {0};
    fxs_line line = {0};
    fxs_buf_printf(&raw, "%s: a graph of %zu node%s and %zu edge%s", v->name, v->nnodes,
                   v->nnodes == 1 ? "" : "s", v->nedges, v->nedges == 1 ? "" : "s");
    describe_inputs(&raw, v);
    if (bad[FXS_FAILED] + bad[FXS_UNKNOWN] + bad[FXS_BLOCKED])
        fxs_buf_printf(&raw, "; %zu failed, %zu unknown, %zu blocked", bad[FXS_FAILED],
                       bad[FXS_UNKNOWN], bad[FXS_BLOCKED]);
    fxs_buf_putc(&raw, '.');
    bool ok = keep_clean(v, &raw, FXS_TIP_CHARS, false, &line);
    v->description = line.text;
    return ok;
}

static bool make_titles(fxs_view *v, const fxs_module *m, const char *title) {
    fxs_buf raw = {0};
    fxs_line line = {0};
    fxs_buf_puts(&raw, m->class_name);
    if (!keep_clean(v, &raw, FXS_CELL_CHARS, false, &line))
        return false;
    v->name = line.text;
    if (!title || !*title)
        return true;
    fxs_buf_puts(&raw, title);
    return keep_clean(v, &raw, FXS_CELL_CHARS, false, &v->title) &&
           fxs_fonts_width(v->fonts, FXS_INK_TITLE, v->title.text, v->title.len, &v->title.width);
}

/* ---- clusters: the modules that recorded the nodes ---- */

static bool put_cluster_label(fxs_view *v, const fxs_scope *s, fxs_line *out) {
    fxs_buf raw = {0};
    fxs_buf_printf(&raw, "%s  %s", s->path, s->class_name);
    if (s->call)
        fxs_buf_printf(&raw, "  (call %u)", s->call + 1);
    if (s->times > 1)
        fxs_buf_putc(&raw, ' '); /* two between the parts of a frame's name */
    fxs_buf_times(&raw, s->times, s->weights);
    return keep_clean(v, &raw, FXS_CELL_CHARS, false, out) &&
           fxs_fonts_width(v->fonts, FXS_INK_KEY, out->text, out->len, &out->width);
}

typedef struct cluster_walk {
    fxs_view *v;
    fxs_map known;            /* bytes of a scope's address -> its cluster */
    const fxs_scope **scopes; /* borrowed keys, by cluster */
} cluster_walk;

/* The cluster of a scope; 0 for the root. False: memory is out. */
static bool cluster_of(cluster_walk *w, const fxs_scope *s, size_t *out) {
    *out = 0;
    if (!s || !s->outer)
        return true;
    void **known = fxs_map_at(&w->known, (const char *)&s, sizeof s);
    if (known) {
        *out = (size_t)(uintptr_t)*known;
        return true;
    }
    size_t parent, at;
    if (!cluster_of(w, s->outer, &parent))
        return false;
    at = w->v->nclusters++;
    w->scopes[at] = s;
    w->v->clusters[at].parent = parent;
    *out = at;
    return put_cluster_label(w->v, s, &w->v->clusters[at].label) &&
           fxs_map_put(&w->known, (const char *)&w->scopes[at], sizeof s, (void *)(uintptr_t)at);
}

static size_t count_scopes(const fxs_view *v) {
    size_t n = 1;
    for (size_t i = 0; i < v->nnodes; i++)
        for (const fxs_scope *s = v->nodes[i].node->scope; s; s = s->outer)
            n++;
    return n;
}

static bool make_clusters(fxs_view *v) {
    cluster_walk w = {.v = v};
    size_t most = count_scopes(v);
    v->clusters = FXS_NEW_N(&v->arena, fxs_view_cluster, most);
    w.scopes = FXS_NEW_N(&v->arena, const fxs_scope *, most);
    v->nclusters = 1;
    bool ok = v->clusters && w.scopes;
    for (size_t i = 0; ok && i < v->nnodes; i++)
        ok = cluster_of(&w, v->nodes[i].node->scope, &v->nodes[i].cluster);
    fxs_map_free(&w.known);
    return ok;
}

/* ---- the view
 * -------------------------------------------------------------------------------------------- */

static fxs_status make_nodes(const fxs_module *m, unsigned rows, fxs_view *v) {
    fxs_graph_number(m->graph);
    v->nodes = FXS_NEW_N(&v->arena, fxs_view_node, m->graph->len);
    if (!v->nodes)
        return fxs_fail_memory(m->ctx);
    for (const fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        fxs_view_node *out = &v->nodes[v->nnodes++];
        out->node = n;
        if (!make_name(v, out))
            return fxs_fail_memory(m->ctx);
        out->style = fxs_style_of(n->kind, n->meta.outcome);
        FXS_TRY(fxs_label_make(v, m, rows, out));
        if (!make_tip(v, out))
            return fxs_fail_memory(m->ctx);
    }
    return FXS_OK;
}

fxs_status fxs_view_make(const fxs_module *m, const fxs_draw_options *opt, fxs_fonts *fonts,
                         fxs_view *v) {
    *v = (fxs_view){.fonts = fonts, .theme = fxs_theme_find(opt->theme)};
    v->lr = opt->direction && strcmp(opt->direction, "LR") == 0;
    v->marks_nonfinite = fxs_overlay_marks(m, opt);
    FXS_TRY(make_nodes(m, opt->rows ? opt->rows : FXS_ROW_DEFAULT, v));
    if (!make_edges(v) || (opt->clusters && !make_clusters(v)) || !fxs_ranks_spine(v) ||
        !make_titles(v, m, opt->title) || !describe(v))
        return fxs_fail_memory(m->ctx);
    FXS_TRY(fxs_view_mark_hubs(v, opt->hub_uses ? opt->hub_uses : DEFAULT_HUB_USES));
    if (opt->edge_shapes && !fxs_view_label_edges(v))
        return fxs_fail_memory(m->ctx);
    return fxs_overlay_apply(v, m, opt);
}

void fxs_view_free(fxs_view *v) { fxs_arena_clear(&v->arena); }
