/* outline.c: see fxoutline.h. First every call of a module gets a plan (open, box, gone, folded),
 * then the graph is written anew. The nodes of a call are neighbours, so that a box stands where
 * they stood and no order is upset. */
#include "pass/outline.h"

#include <fnmatch.h>
#include <string.h>

#include "pass/near.h"
#include "pass/pattern.h"

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

/* The first pattern that was of no use; NULL: all were. */
static const char *unused(const char *const *patterns, uint64_t used) {
    for (size_t i = 0; patterns && patterns[i] && i < 64; i++)
        if (!(used >> i & 1))
            return patterns[i];
    return NULL;
}

static fxs_status no_match(fxs_ctx *ctx, const char *what, const fxs_near *near) {
    fxs_buf names = {0};
    fxs_near_put(near, &names);
    fxs_status s = names.failed ? fxs_fail_memory(ctx)
                                : fxs_fail(ctx, FXS_ENOTFOUND, "no %s matches '%s'%s", what,
                                           near->wanted, names.data);
    fxs_buf_free(&names);
    return s;
}

static fxs_status check_calls(const fxs_outline_plan *p, const char *const *patterns,
                              uint64_t used) {
    fxs_near near = {.wanted = unused(patterns, used)};
    if (!near.wanted)
        return FXS_OK;
    for (size_t i = 1; i < p->calls.n; i++) {
        fxs_near_offer(&near, p->calls.items[i].class_name);
        fxs_near_offer(&near, p->calls.items[i].path);
    }
    return no_match(p->m->ctx, "module that is called", &near);
}

static bool is_deep(const fxs_outline_options *o, size_t depth) {
    return o->depth > 0 && depth >= (size_t)o->depth;
}

bool fxs_outline_closes(const fxs_outline_options *o, const char *path, const char *class_name,
                        size_t depth) {
    uint64_t used = 0;
    return (listed(o->collapse, path, class_name, &used) || is_deep(o, depth)) &&
           !listed(o->expand, path, class_name, &used);
}

/* ---- the plan ---- */

/* What becomes of call i, when that is known of its parent. Depth counts from what is in focus. */
static fxs_call_plan plan_of(const fxs_outline_plan *p, size_t i, bool closed, bool opened) {
    const fxs_module_call *c = &p->calls.items[i];
    const fxs_call_plan *outer = &p->plan[c->parent];
    fxs_call_plan plan = p->plan[i];
    size_t base = p->focus ? p->calls.items[p->focus].depth : 0;
    if (p->focus && !fxs_module_call_within(&p->calls, i, p->focus)) {
        plan.state = FXS_CALL_GONE;
    } else if (outer->state == FXS_CALL_BOX || outer->state == FXS_CALL_INSIDE) {
        plan.state = FXS_CALL_INSIDE;
        plan.box = outer->state == FXS_CALL_BOX ? c->parent : outer->box;
    } else if ((closed || is_deep(p->opt, c->depth - base)) && !opened) {
        plan.state = FXS_CALL_BOX;
    }
    return plan;
}

static fxs_status plan_boxes(fxs_outline_plan *p) {
    const fxs_outline_options *o = p->opt;
    uint64_t collapse = 0, expand = 0;
    if (p->focus)
        p->plan[0].state = FXS_CALL_GONE;
    for (size_t i = 1; i < p->calls.n; i++) {
        const fxs_module_call *c = &p->calls.items[i];
        bool opened = listed(o->expand, c->path, c->class_name, &expand);
        bool closed = listed(o->collapse, c->path, c->class_name, &collapse);
        p->plan[i] = plan_of(p, i, closed, opened);
    }
    FXS_TRY(check_calls(p, o->collapse, collapse));
    FXS_TRY(check_calls(p, o->expand, expand));
    if (p->focus && p->plan[p->focus].state != FXS_CALL_OPEN)
        return fxs_fail(p->m->ctx, FXS_EINVAL, "'%s' is in focus and collapsed at once", o->focus);
    return FXS_OK;
}

fxs_status fxs_outline_plan_begin(fxs_outline_plan *p) {
    FXS_TRY(fxs_module_calls_make(p->m, p->opt && p->opt->fold, &p->calls));
    p->plan = FXS_NEW_N(&p->arena, fxs_call_plan, p->calls.n);
    p->node = FXS_NEW_N(&p->arena, fxs_node *, p->m->graph->len);
    if (!p->plan || !p->node)
        return fxs_fail_memory(p->m->ctx);
    for (size_t i = 0; i < p->calls.n; i++) {
        p->plan[i].times = i ? p->calls.items[i].times : 1;
        p->plan[i].weights = p->calls.items[i].weights;
    }
    for (fxs_node *n = fxs_graph_first(p->m->graph); n; n = fxs_node_next(n))
        p->node[n->index] = n;
    return FXS_OK;
}

static fxs_status make_plan(fxs_outline_plan *p) {
    FXS_TRY(fxs_outline_plan_begin(p));
    FXS_TRY(fxs_outline_find_focus(p));
    FXS_TRY(plan_boxes(p));
    if (p->opt->fold)
        FXS_TRY(fxs_outline_fold(p));
    return fxs_outline_link(p);
}

/* ---- what becomes of a node ---- */

static fxs_call_state state_of(const fxs_outline_writing *w, const fxs_node *n) {
    return w->p->plan[w->p->calls.of[n->index]].state;
}

static size_t box_of(const fxs_outline_writing *w, const fxs_node *n) {
    size_t call = w->p->calls.of[n->index];
    return w->p->plan[call].state == FXS_CALL_BOX ? call : w->p->plan[call].box;
}

/* ---- nodes that are left out ---- */

static const char *last_part(const char *target) {
    const char *dot = strrchr(target, '.');
    return dot ? dot + 1 : target;
}

/* What a pattern of `hide` may match: a layer's class and path, a function's whole name and its
 * end.
 */
static void hidden_by(const fxs_outline_plan *p, const fxs_node *n, const char *name[2]) {
    const fxs_module *m = n->kind == FXS_CALL_MODULE ? fxs_module_find(p->m, n->target) : NULL;
    name[0] = m ? m->class_name : n->target;
    name[1] = m ? n->target : last_part(n->target);
}

bool fxs_outline_hides(const fxs_outline_plan *p, const fxs_node *n, uint64_t *used) {
    if (n->kind == FXS_PLACEHOLDER || n->kind == FXS_OUTPUT)
        return false;
    if (p->opt->only_tensors && n->meta.outcome == FXS_DONE && !n->meta.has_tensor)
        return true;
    const char *name[2];
    hidden_by(p, n, name);
    return listed(p->opt->hide, name[0], name[1], used);
}

static fxs_status check_hidden(const fxs_outline_writing *w) {
    fxs_near near = {.wanted = unused(w->p->opt->hide, w->hidden)};
    const char *name[2];
    if (!near.wanted)
        return FXS_OK;
    for (size_t i = 0; i < w->p->m->graph->len; i++) {
        const fxs_node *n = w->p->node[i];
        if (n->kind == FXS_PLACEHOLDER || n->kind == FXS_OUTPUT || state_of(w, n) == FXS_CALL_GONE)
            continue;
        hidden_by(w->p, n, name);
        fxs_near_offer(&near, name[0]);
        if (n->kind != FXS_CALL_MODULE)
            fxs_near_offer(&near, name[1]);
    }
    return no_match(w->g->ctx, "node", &near);
}

/* A value that is known stands for itself; else who used the node uses what it got first. */
static fxs_status hide(fxs_outline_writing *w, const fxs_node *n) {
    fxs_value *to = &w->as[n->index];
    w->nhidden++;
    *to = fxs_none();
    if (n->meta.outcome == FXS_DONE && !n->meta.has_tensor && w->p->opt->only_tensors)
        return fxs_value_copy(w->g->ctx, &w->g->arena, &n->meta.result, to);
    return n->ninputs ? fxs_outline_stand_for(w, n->inputs[0], to) : FXS_OK;
}

/* ---- the graph ---- */

/* In focus, what others use is what the module returns. */
static fxs_status write_output(fxs_outline_writing *w) {
    fxs_outline_found outputs = {0};
    fxs_value v;
    for (size_t i = 0; i < w->p->m->graph->len; i++) {
        const fxs_node *n = w->p->node[i];
        for (size_t k = 0; k < n->nusers && state_of(w, n) != FXS_CALL_GONE; k++)
            if (state_of(w, n->users[k]) == FXS_CALL_GONE) {
                FXS_TRY(fxs_outline_stand_for(w, (fxs_node *)n, &v));
                if (v.tag == FXS_V_NODE)
                    FXS_TRY(fxs_outline_find_once(w, &outputs, v));
                break;
            }
    }
    return fxs_outline_write_output(w, &outputs, NULL);
}

static fxs_status write_one(fxs_outline_writing *w, const fxs_node *n) {
    /* In a box, too, the name is one; out of focus it is not. */
    bool hidden = state_of(w, n) != FXS_CALL_GONE && fxs_outline_hides(w->p, n, &w->hidden);
    switch (state_of(w, n)) {
    case FXS_CALL_GONE:
        return FXS_OK;
    case FXS_CALL_FOLDED:
        w->nfolded++;
        return FXS_OK;
    case FXS_CALL_BOX:
    case FXS_CALL_INSIDE:
        return w->as[n->index].tag == FXS_V_UNKNOWN ? fxs_outline_write_box(w, box_of(w, n))
                                                    : FXS_OK;
    case FXS_CALL_OPEN:
        return hidden ? hide(w, n) : fxs_outline_write_node(w, n);
    }
    return FXS_OK;
}

static fxs_status write_graph(fxs_outline_writing *w) {
    const fxs_graph *from = w->p->m->graph;
    w->as = FXS_NEW_N(&w->p->arena, fxs_value, from->len);
    if (!w->as)
        return fxs_fail_memory(w->g->ctx);
    for (size_t i = 0; i < from->len; i++)
        w->as[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    w->focused = w->p->focus > 0;
    for (const fxs_node *n = fxs_graph_first(from); n; n = fxs_node_next(n))
        FXS_TRY(write_one(w, n));
    FXS_TRY(check_hidden(w));
    return w->focused ? write_output(w) : FXS_OK;
}

/* ---- the whole ---- */

static void tell(const fxs_outline_writing *w, fxs_buf *notes) {
    if (w->nboxes)
        fxs_buf_printf(notes, "%zu module%s drawn as one box%s\n", w->nboxes,
                       w->nboxes == 1 ? " is" : "s are", w->nboxes == 1 ? "" : " each");
    if (w->p->calls.guessed)
        fxs_buf_printf(notes,
                       "%zu function%s between equal blocks %s drawn in them: the text does "
                       "not say to which module %s\n",
                       w->p->calls.guessed, w->p->calls.guessed == 1 ? "" : "s",
                       w->p->calls.guessed == 1 ? "is" : "are",
                       w->p->calls.guessed == 1 ? "it belongs" : "they belong");
    if (w->nhidden)
        fxs_buf_printf(notes, "%zu node%s left out\n", w->nhidden,
                       w->nhidden == 1 ? " is" : "s are");
    if (w->nfolded)
        fxs_buf_printf(notes, "%zu node%s of blocks that are like one before %s not repeated\n",
                       w->nfolded, w->nfolded == 1 ? "" : "s", w->nfolded == 1 ? "is" : "are");
}

static fxs_status outline(fxs_outline_plan *p, fxs_module **out) {
    fxs_outline_writing w = {.p = p};
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

static fxs_status fold_patterns(fxs_outline_plan *p, fxs_module **out) {
    for (size_t i = 0; i < p->opt->npatterns; i++) {
        fxs_module *folded;
        size_t count;
        FXS_TRY(
            fxs_need_text(p->m->ctx, p->opt->patterns[i].name, "fxs_outline: a pattern's name"));
        FXS_TRY(fxs_need(p->m->ctx, p->opt->patterns[i].graph, "fxs_outline: a pattern's graph"));
        FXS_TRY(fxs_pattern_fold(*out, &p->opt->patterns[i], &folded, &count));
        fxs_module_unref(*out);
        *out = folded;
        if (count)
            fxs_buf_printf(&p->notes, "%zu place%s with the pattern %s %s one box%s\n", count,
                           count == 1 ? "" : "s", p->opt->patterns[i].name,
                           count == 1 ? "is" : "are", count == 1 ? "" : " each");
        else
            fxs_buf_printf(&p->notes, "the pattern %s is nowhere\n", p->opt->patterns[i].name);
    }
    return FXS_OK;
}

fxs_status fxs_outline(const fxs_module *m, const fxs_outline_options *opt, fxs_module **out,
                       char **notes) {
    static const fxs_outline_options nothing;
    fxs_outline_plan p = {.m = m, .opt = opt ? opt : &nothing};
    *out = NULL;
    if (notes)
        *notes = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "%s has no graph to outline", m->class_name);
    fxs_status s = outline(&p, out);
    if (s == FXS_OK)
        s = fold_patterns(&p, out);
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
