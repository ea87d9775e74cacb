/* outline.c: see fxoutline.h. First every call of a module gets a plan (open, box, gone, folded),
 * then the graph is written anew. The nodes of a call are neighbours, so that a box stands where
 * they stood and no order is upset. */
#include "pass/outline.h"

#include <fnmatch.h>
#include <string.h>

/* ---- patterns ---- */

static bool matches(const char *pattern, const char *text) {
    return text && *text && fnmatch(pattern, text, 0) == 0;
}

/* Marks what was of use in `used` (a bit a pattern, for the first 64 of them). */
static bool listed(const char *const *patterns, const char *a, const char *b, uint64_t *used) {
    bool found = false;
    for (size_t i = 0; patterns && patterns[i]; i++)
        if (matches(patterns[i], a) || matches(patterns[i], b)) {
            found = true;
            *used |= i < 64 ? (uint64_t)1 << i : 0;
        }
    return found;
}

static fxs_status check_used(fxs_ctx *ctx, const char *const *patterns, uint64_t used,
                             const char *what) {
    for (size_t i = 0; patterns && patterns[i] && i < 64; i++)
        if (!(used >> i & 1))
            return fxs_fail(ctx, FXS_ENOTFOUND, "no %s matches '%s'", what, patterns[i]);
    return FXS_OK;
}

/* ---- the plan ---- */

static fxs_status plan_boxes(fxs_outline_plan *p) {
    const fxs_outline_options *o = p->opt;
    uint64_t collapse = 0, expand = 0;
    for (size_t i = 1; i < p->calls.n; i++) {
        const fxs_module_call *c = &p->calls.items[i];
        const fxs_call_plan *outer = &p->plan[c->parent];
        bool opened = listed(o->expand, c->path, c->class_name, &expand);
        bool closed = listed(o->collapse, c->path, c->class_name, &collapse) ||
                      (o->depth > 0 && c->depth >= (size_t)o->depth);
        if (outer->state == FXS_CALL_BOX || outer->state == FXS_CALL_INSIDE) {
            p->plan[i].state = FXS_CALL_INSIDE;
            p->plan[i].box = outer->state == FXS_CALL_BOX ? c->parent : outer->box;
        } else if (closed && !opened) {
            p->plan[i].state = FXS_CALL_BOX;
        }
    }
    FXS_TRY(check_used(p->m->ctx, o->collapse, collapse, "module that is called"));
    return check_used(p->m->ctx, o->expand, expand, "module that is called");
}

/* Which call is in focus; 0: all. */
static fxs_status plan_focus(fxs_outline_plan *p) {
    size_t focus = 0;
    if (!p->opt->focus || !*p->opt->focus)
        return FXS_OK;
    for (size_t i = 1; i < p->calls.n && !focus; i++)
        if (strcmp(p->calls.items[i].path, p->opt->focus) == 0)
            focus = i;
    if (!focus)
        return fxs_fail(p->m->ctx, FXS_ENOTFOUND,
                        "no module '%s' is called that holds nodes of this graph", p->opt->focus);
    for (size_t i = 0; i < p->calls.n; i++)
        if (!fxs_module_call_within(&p->calls, i, focus))
            p->plan[i].state = FXS_CALL_GONE;
    for (size_t i = focus; i; i = p->calls.items[i].parent)
        p->plan[p->calls.items[i].parent].state = FXS_CALL_GONE;
    if (p->plan[focus].state != FXS_CALL_OPEN)
        return fxs_fail(p->m->ctx, FXS_EINVAL, "'%s' is in focus and collapsed at once",
                        p->opt->focus);
    return FXS_OK;
}

static fxs_status make_plan(fxs_outline_plan *p) {
    FXS_TRY(fxs_module_calls_make(p->m, &p->calls));
    p->plan = FXS_NEW_N(&p->arena, fxs_call_plan, p->calls.n);
    p->node = FXS_NEW_N(&p->arena, fxs_node *, p->m->graph->len);
    if (!p->plan || !p->node)
        return fxs_fail_memory(p->m->ctx);
    for (size_t i = 0; i < p->calls.n; i++)
        p->plan[i].times = 1;
    for (fxs_node *n = fxs_graph_first(p->m->graph); n; n = fxs_node_next(n))
        p->node[n->index] = n;
    FXS_TRY(plan_boxes(p));
    FXS_TRY(plan_focus(p));
    return p->opt->fold ? fxs_outline_fold(p) : FXS_OK;
}

/* ---- writing the graph ---- */

typedef struct writing {
    fxs_outline_plan *p;
    fxs_graph *g;
    fxs_value *as; /* by position: what stands for the node; FXS_V_UNKNOWN: nothing yet */
    uint64_t hidden;
    size_t nhidden, nfolded, nboxes;
    bool focused;
} writing;

static fxs_call_state state_of(const writing *w, const fxs_node *n) {
    return w->p->plan[w->p->calls.of[n->index]].state;
}

static size_t box_of(const writing *w, const fxs_node *n) {
    size_t call = w->p->calls.of[n->index];
    return w->p->plan[call].state == FXS_CALL_BOX ? call : w->p->plan[call].box;
}

/* Names that stay as they are: node names are unique already. */
static fxs_status new_node(writing *w, fxs_kind kind, const char *target, const fxs_value *args,
                           const char *name, fxs_node **out) {
    return fxs_graph_create_node(w->g, kind, target, args, NULL, name, NULL, out);
}

/* What stands for a node that comes from out of focus: a placeholder with its facts. */
static fxs_status enter_from_outside(writing *w, const fxs_node *n, fxs_value *to) {
    fxs_node *made;
    FXS_TRY(new_node(w, FXS_PLACEHOLDER, n->name, NULL, n->name, &made));
    FXS_TRY(fxs_node_copy_meta(made, n));
    *to = fxs_of_node(made);
    return FXS_OK;
}

static fxs_status stand_for(void *user, fxs_node *from, fxs_value *to) {
    writing *w = user;
    const fxs_node *n = fxs_outline_like(w->p, from);
    fxs_value *known = &w->as[n->index];
    if (known->tag == FXS_V_UNKNOWN) {
        if (!w->focused)
            return fxs_fail(w->g->ctx, FXS_EINVAL, "node %s is used before it is made", n->name);
        FXS_TRY(enter_from_outside(w, n, known));
    }
    *to = fxs_value_ref(*known);
    return FXS_OK;
}

/* ---- nodes that are left out ---- */

static const char *last_part(const char *target) {
    const char *dot = strrchr(target, '.');
    return dot ? dot + 1 : target;
}

static bool is_hidden(writing *w, const fxs_node *n) {
    if (n->kind == FXS_PLACEHOLDER || n->kind == FXS_OUTPUT)
        return false;
    if (w->p->opt->only_tensors && n->meta.outcome == FXS_DONE && !n->meta.has_tensor)
        return true;
    const fxs_module *m = n->kind == FXS_CALL_MODULE ? fxs_module_find(w->p->m, n->target) : NULL;
    return listed(w->p->opt->hide, m ? m->class_name : n->target,
                  m ? n->target : last_part(n->target), &w->hidden);
}

/* A value that is known stands for itself; else who used the node uses what it got first. */
static fxs_status hide(writing *w, const fxs_node *n) {
    fxs_value *to = &w->as[n->index];
    w->nhidden++;
    *to = fxs_none();
    if (n->meta.outcome == FXS_DONE && !n->meta.has_tensor && w->p->opt->only_tensors)
        return fxs_value_copy(w->g->ctx, &w->g->arena, &n->meta.result, to);
    return n->ninputs ? stand_for(w, n->inputs[0], to) : FXS_OK;
}

/* ---- boxes ---- */

/* Distinct things in order of discovery. */
typedef struct found {
    fxs_value *items;
    size_t n, cap;
} found;

static fxs_status find_once(writing *w, found *f, fxs_value v) {
    for (size_t i = 0; i < f->n; i++)
        if (f->items[i].tag == v.tag && f->items[i].u.node == v.u.node)
            return FXS_OK;
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 8;
        fxs_value *items = FXS_NEW_N(&w->p->arena, fxs_value, cap);
        if (!items)
            return fxs_fail_memory(w->g->ctx);
        if (f->n)
            memcpy(items, f->items, f->n * sizeof *items);
        f->items = items;
        f->cap = cap;
    }
    f->items[f->n++] = v;
    return FXS_OK;
}

static bool is_outside(const fxs_module_call *c, const fxs_node *n) {
    return n->index < c->first || n->index > c->last;
}

static fxs_status box_ends(writing *w, const fxs_module_call *c, found *inputs, found *outputs) {
    for (size_t i = c->first; i <= c->last; i++) {
        const fxs_node *n = w->p->node[i];
        for (size_t k = 0; k < n->ninputs; k++)
            if (is_outside(c, n->inputs[k])) {
                fxs_value v;
                FXS_TRY(stand_for(w, n->inputs[k], &v));
                if (v.tag == FXS_V_NODE)
                    FXS_TRY(find_once(w, inputs, v));
            }
        for (size_t k = 0; k < n->nusers; k++)
            if (is_outside(c, n->users[k])) {
                FXS_TRY(find_once(w, outputs, fxs_of_node((fxs_node *)n)));
                break;
            }
    }
    return FXS_OK;
}

/* Costs add up; the worst of the outcomes is the box's, with the message of the first such node. */
static fxs_status sum_up(writing *w, const fxs_module_call *c, fxs_node *box) {
    static const int severity[FXS_OUTCOME_COUNT] = {
        [FXS_DONE] = 1, [FXS_BLOCKED] = 2, [FXS_UNKNOWN] = 3, [FXS_FAILED] = 4};
    fxs_meta *sum = &box->meta;
    const fxs_node *worst = NULL;
    for (size_t i = c->first; i <= c->last; i++) {
        const fxs_meta *one = &w->p->node[i]->meta;
        sum->flops += one->flops;
        sum->bytes_read += one->bytes_read;
        sum->bytes_written += one->bytes_written;
        sum->seconds += one->seconds;
        if (!worst || severity[one->outcome] > severity[worst->meta.outcome])
            worst = w->p->node[i];
    }
    sum->outcome = worst->meta.outcome;
    const fxs_module *m = fxs_module_find(w->p->m, c->path);
    sum->parameters = m ? fxs_module_parameter_count(m) : 0;
    sum->inside = c->last - c->first + 1;
    if (!worst->meta.message)
        return FXS_OK;
    fxs_buf text = {0};
    fxs_buf_printf(&text, "%s: %s", worst->name, worst->meta.message);
    sum->message = text.failed ? NULL : fxs_arena_dup(&box->graph->arena, text.data, text.len);
    fxs_buf_free(&text);
    return sum->message ? FXS_OK : fxs_fail_memory(w->g->ctx);
}

/* What leaves the box: one result, or a tuple of them. */
static fxs_status box_result(writing *w, fxs_node *box, const found *outputs) {
    fxs_meta *to = &box->meta;
    for (size_t i = 0; i < outputs->n; i++)
        to->has_tensor = to->has_tensor || outputs->items[i].u.node->meta.has_tensor;
    if (outputs->n == 1) {
        const fxs_node *only = outputs->items[0].u.node;
        to->type_name = only->meta.type_name;
        FXS_TRY(fxs_node_copy_stats(box, only));
        return fxs_value_copy(w->g->ctx, NULL, &only->meta.result, &to->result);
    }
    to->type_name = "tuple";
    FXS_TRY(fxs_make_seq(w->g->ctx, NULL, FXS_V_TUPLE, outputs->n, &to->result));
    for (size_t i = 0; i < outputs->n; i++)
        FXS_TRY(fxs_value_copy(w->g->ctx, NULL, &outputs->items[i].u.node->meta.result,
                               &to->result.u.seq->items[i]));
    return FXS_OK;
}

/* "layer1.0" -> layer1_0 */
static const char *box_name(writing *w, const fxs_module_call *c) {
    char *name = fxs_arena_dup(&w->p->arena, c->path, strlen(c->path));
    for (char *s = name; s && *s; s++)
        *s = *s == '.' ? '_' : *s;
    return name;
}

static fxs_status enclosing_scope(writing *w, size_t call, const fxs_scope **out) {
    const fxs_module_call *c = &w->p->calls.items[call];
    const fxs_scope *outer = NULL;
    if (call)
        FXS_TRY(enclosing_scope(w, c->parent, &outer));
    FXS_TRY(fxs_graph_scope(w->g, outer, c->path, c->class_name, (unsigned)c->nth, out));
    ((fxs_scope *)*out)->times = (unsigned)w->p->plan[call].times; /* w->g is still ours alone */
    return FXS_OK;
}

static fxs_status write_box(writing *w, size_t call) {
    const fxs_module_call *c = &w->p->calls.items[call];
    found inputs = {0}, outputs = {0};
    fxs_value args;
    fxs_node *box;
    const char *name = box_name(w, c);
    if (!name)
        return fxs_fail_memory(w->g->ctx);
    FXS_TRY(box_ends(w, c, &inputs, &outputs));
    FXS_TRY(fxs_make_seq(w->g->ctx, &w->g->arena, FXS_V_TUPLE, inputs.n, &args));
    if (inputs.n)
        memcpy(args.u.seq->items, inputs.items, inputs.n * sizeof *inputs.items);
    /* As its type it has the class that ran: a traced module may stand in a tree of plain ones. */
    FXS_TRY(fxs_graph_create_node(w->g, FXS_CALL_MODULE, c->path, &args, NULL, name,
                                  *c->class_name ? c->class_name : NULL, &box));
    FXS_TRY(sum_up(w, c, box));
    FXS_TRY(box_result(w, box, &outputs));
    FXS_TRY(enclosing_scope(w, c->parent, &box->scope));
    box->meta.times = w->p->plan[call].times;
    w->nboxes++;
    for (size_t i = c->first; i <= c->last; i++)
        w->as[i] = fxs_of_node(box);
    return FXS_OK;
}

/* ---- nodes that are shown ---- */

static fxs_status write_node(writing *w, const fxs_node *n) {
    fxs_node *made;
    FXS_TRY(fxs_graph_node_copy(w->g, n, stand_for, w, &made));
    FXS_TRY(fxs_node_copy_stats(made, n));
    FXS_TRY(enclosing_scope(w, w->p->calls.of[n->index], &made->scope));
    w->as[n->index] = fxs_of_node(made);
    return FXS_OK;
}

/* In focus, what others use is what the module returns. */
static fxs_status write_output(writing *w) {
    found outputs = {0};
    fxs_value v;
    fxs_node *out;
    for (size_t i = 0; i < w->p->m->graph->len; i++) {
        const fxs_node *n = w->p->node[i];
        for (size_t k = 0; k < n->nusers && state_of(w, n) != FXS_CALL_GONE; k++)
            if (state_of(w, n->users[k]) == FXS_CALL_GONE) {
                FXS_TRY(stand_for(w, (fxs_node *)n, &v));
                if (v.tag == FXS_V_NODE)
                    FXS_TRY(find_once(w, &outputs, v));
                break;
            }
    }
    FXS_TRY(fxs_make_seq(w->g->ctx, &w->g->arena, FXS_V_TUPLE, outputs.n, &v));
    if (outputs.n)
        memcpy(v.u.seq->items, outputs.items, outputs.n * sizeof *outputs.items);
    if (outputs.n == 1)
        v = outputs.items[0];
    return fxs_graph_output(w->g, &v, &out);
}

static fxs_status write_one(writing *w, const fxs_node *n) {
    switch (state_of(w, n)) {
    case FXS_CALL_GONE:
        return FXS_OK;
    case FXS_CALL_FOLDED:
        w->nfolded++;
        return FXS_OK;
    case FXS_CALL_BOX:
    case FXS_CALL_INSIDE:
        return w->as[n->index].tag == FXS_V_UNKNOWN ? write_box(w, box_of(w, n)) : FXS_OK;
    case FXS_CALL_OPEN:
        return is_hidden(w, n) ? hide(w, n) : write_node(w, n);
    }
    return FXS_OK;
}

static fxs_status write_graph(writing *w) {
    const fxs_graph *from = w->p->m->graph;
    w->as = FXS_NEW_N(&w->p->arena, fxs_value, from->len);
    if (!w->as)
        return fxs_fail_memory(w->g->ctx);
    for (size_t i = 0; i < from->len; i++)
        w->as[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    w->focused = w->p->opt->focus && *w->p->opt->focus;
    for (const fxs_node *n = fxs_graph_first(from); n; n = fxs_node_next(n))
        FXS_TRY(write_one(w, n));
    FXS_TRY(check_used(w->g->ctx, w->p->opt->hide, w->hidden, "node"));
    return w->focused ? write_output(w) : FXS_OK;
}

/* ---- the whole ---- */

static void tell(const writing *w, fxs_buf *notes) {
    if (w->nboxes)
        fxs_buf_printf(notes, "%zu module%s drawn as one box%s\n", w->nboxes,
                       w->nboxes == 1 ? " is" : "s are", w->nboxes == 1 ? "" : " each");
    if (w->nhidden)
        fxs_buf_printf(notes, "%zu node%s left out\n", w->nhidden,
                       w->nhidden == 1 ? " is" : "s are");
    if (w->nfolded)
        fxs_buf_printf(notes, "%zu node%s of blocks that equal the one before %s not repeated\n",
                       w->nfolded, w->nfolded == 1 ? "" : "s", w->nfolded == 1 ? "is" : "are");
}

static fxs_status outline(fxs_outline_plan *p, fxs_module **out) {
    writing w = {.p = p};
    FXS_TRY(make_plan(p));
    FXS_TRY(fxs_graph_new(p->m->ctx, &w.g));
    fxs_status s = write_graph(&w);
    if (s == FXS_OK)
        s = fxs_module_with_graph(p->m, p->m->class_name, w.g, out);
    if (s != FXS_OK) {
        fxs_graph_free(w.g);
        return s;
    }
    tell(&w, &p->notes);
    return FXS_OK;
}

fxs_status fxs_outline(const fxs_module *m, const fxs_outline_options *opt, fxs_module **out,
                       char **notes) {
    fxs_outline_plan p = {.m = m, .opt = opt};
    *out = NULL;
    if (notes)
        *notes = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "%s has no graph to outline", m->class_name);
    fxs_status s = outline(&p, out);
    if (s == FXS_OK && notes)
        s = fxs_buf_give(m->ctx, &p.notes, notes, NULL);
    if (s != FXS_OK) {
        fxs_module_unref(*out);
        *out = NULL;
    }
    fxs_buf_free(&p.notes);
    fxs_module_calls_free(&p.calls);
    fxs_arena_clear(&p.arena);
    return s;
}
