/* outline_box.c: a node, or a whole call as one box, written into the graph of an outline or of a
 * level. Called by outline.c and levels.c, which say which of the two. */
#include "pass/outline.h"

#include <string.h>

#include "ir/spread.h"
#include "pass/spread.h"
#include "pass/sum.h"

/* ---- what stands for a node ---- */

/* Names that stay as they are: node names are unique already. */
static fxs_status new_node(fxs_outline_writing *w, fxs_kind kind, const char *target,
                           const fxs_value *args, const char *name, fxs_node **out) {
    return fxs_graph_create_node(w->g, kind, target, args, NULL, name, NULL, out);
}

/* What stands for a node that comes from out of focus: a placeholder with its facts. */
static fxs_status enter_from_outside(fxs_outline_writing *w, const fxs_node *n, fxs_value *to) {
    fxs_node *made;
    FXS_TRY(new_node(w, FXS_PLACEHOLDER, n->name, NULL, n->name, &made));
    FXS_TRY(fxs_node_copy_meta(made, n));
    *to = fxs_of_node(made);
    return FXS_OK;
}

fxs_status fxs_outline_stand_for(void *user, fxs_node *from, fxs_value *to) {
    fxs_outline_writing *w = user;
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

/* ---- boxes ---- */

fxs_status fxs_outline_find_once(fxs_outline_writing *w, fxs_outline_found *f, fxs_value v) {
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

static fxs_status box_ends(fxs_outline_writing *w, const fxs_module_call *c,
                           fxs_outline_found *inputs, fxs_outline_found *outputs) {
    for (size_t i = c->first; i <= c->last; i++) {
        const fxs_node *n = w->p->node[i];
        for (size_t k = 0; k < n->ninputs; k++)
            if (is_outside(c, n->inputs[k])) {
                fxs_value v;
                FXS_TRY(fxs_outline_stand_for(w, n->inputs[k], &v));
                if (v.tag == FXS_V_NODE)
                    FXS_TRY(fxs_outline_find_once(w, inputs, v));
            }
        for (size_t k = 0; k < n->nusers; k++)
            if (is_outside(c, n->users[k])) {
                FXS_TRY(fxs_outline_find_once(w, outputs, fxs_of_node((fxs_node *)n)));
                break;
            }
    }
    return FXS_OK;
}

/* How many equal nodes the one at `at` stands for in a box of that call: the graph may have been
 * folded before. */
static size_t times_in(const fxs_outline_plan *p, size_t call, size_t at) {
    size_t own = p->node[at]->meta.times, times = own > 1 ? own : 1;
    for (size_t i = p->calls.of[at]; i != call; i = p->calls.items[i].parent)
        times *= p->calls.items[i].times;
    return times;
}

/* In a graph that was folded before, the parameters of the blocks that are not drawn. */
static int64_t folded_parameters(const fxs_outline_plan *p, const fxs_module_call *c) {
    int64_t count = 0;
    for (size_t i = c->first; i <= c->last; i++) {
        const fxs_node *n = p->node[i];
        const fxs_module *m = n->kind == FXS_CALL_MODULE ? fxs_module_find(p->m, n->target) : NULL;
        if (n->meta.spread && (m || n->kind == FXS_GET_ATTR))
            count += n->meta.parameters -
                     (m ? fxs_module_parameter_count(m) : n->meta.spread->parameters[0]);
    }
    return count;
}

/* The costs of all calls that the box is drawn for; what is in it, of one. */
static fxs_status sum_up(const fxs_outline_plan *p, size_t call, fxs_sum *sum) {
    for (size_t k = call, first = 1; first || k; k = p->next_call[k], first = 0)
        for (size_t i = p->calls.items[k].first; i <= p->calls.items[k].last; i++)
            FXS_TRY(fxs_sum_add(sum, p->node[i], first ? times_in(p, call, i) : 0));
    FXS_TRY(fxs_spread_parameters(p, call, &sum->box->meta.parameters));
    sum->box->meta.parameters += folded_parameters(p, &p->calls.items[call]);
    return fxs_sum_finish(sum);
}

/* What it has together where it is drawn for several, and each of them. */
static fxs_status spread_box(fxs_outline_writing *w, size_t call, const fxs_sum *sum,
                             const fxs_outline_found *outputs, const fxs_leaving *leaving) {
    FXS_TRY(fxs_spread_box(w, call, sum->box, outputs));
    return fxs_spread_again(sum, leaving, outputs->n);
}

static fxs_leaving *new_leaving(fxs_outline_writing *w, const fxs_outline_found *outputs) {
    fxs_leaving *out = FXS_NEW_N(&w->p->arena, fxs_leaving, outputs->n + 1);
    for (size_t i = 0; out && i < outputs->n; i++)
        out[i].node = outputs->items[i].u.node;
    return out;
}

/* What leaves the box or the graph: one result, or a tuple of them. */
static fxs_status join_results(fxs_outline_writing *w, fxs_node *n, const fxs_leaving *out,
                               size_t nout) {
    fxs_meta *to = &n->meta;
    for (size_t i = 0; i < nout; i++)
        to->has_tensor = to->has_tensor || out[i].node->meta.has_tensor;
    if (nout == 1) {
        to->type_name = out[0].node->meta.type_name;
        return fxs_value_copy(w->g->ctx, NULL, fxs_leaving_first(out), &to->result);
    }
    to->type_name = "tuple";
    FXS_TRY(fxs_make_seq(w->g->ctx, NULL, FXS_V_TUPLE, nout, &to->result));
    for (size_t i = 0; i < nout; i++)
        FXS_TRY(fxs_value_copy(w->g->ctx, NULL, fxs_leaving_first(&out[i]),
                               &to->result.u.seq->items[i]));
    return FXS_OK;
}

static fxs_status join_stats(const fxs_outline_plan *p, fxs_node *box,
                             const fxs_outline_found *outputs) {
    for (size_t i = 0; i < outputs->n; i++)
        FXS_TRY(fxs_spread_stats(p, outputs->items[i].u.node, box));
    return FXS_OK;
}

/* "layer1.0" -> layer1_0 */
static const char *box_name(fxs_outline_writing *w, const fxs_module_call *c) {
    char *name = fxs_arena_dup(&w->p->arena, c->path, strlen(c->path));
    for (char *s = name; s && *s; s++)
        *s = *s == '.' ? '_' : *s;
    return name;
}

/* The graph that is written is still ours alone. */
static void say_times(const fxs_scope *s, size_t times, fxs_sharing weights) {
    ((fxs_scope *)s)->times = (unsigned)times;
    ((fxs_scope *)s)->weights = weights;
}

/* The scope of a block of several calls, around theirs: "layers.0, layers.1". */
static fxs_status group_scope(fxs_outline_writing *w, size_t call, const fxs_scope *outer,
                              const fxs_scope **out) {
    static const char *const words[] = {"", "", "2 blocks", "3 blocks", "4 blocks"};
    const fxs_module_call *items = w->p->calls.items;
    const fxs_call_plan *first = &w->p->plan[w->p->plan[call].group];
    fxs_buf path = {0};
    size_t left = first->period;
    for (size_t i = first->group; left; i++)
        if (items[i].parent == items[first->group].parent) {
            fxs_buf_printf(&path, "%s%s", path.len ? ", " : "", items[i].path);
            left--;
        }
    fxs_status s = path.failed ? fxs_fail_memory(w->g->ctx)
                               : fxs_graph_scope(w->g, outer, path.data, words[first->period],
                                                 (unsigned)items[first->group].nth, out);
    fxs_buf_free(&path);
    if (s == FXS_OK)
        say_times(*out, first->repeats, first->group_weights);
    return s;
}

static fxs_status enclosing_scope(fxs_outline_writing *w, size_t call, const fxs_scope **out) {
    const fxs_module_call *c = &w->p->calls.items[call];
    const fxs_scope *outer = NULL;
    if (call)
        FXS_TRY(enclosing_scope(w, c->parent, &outer));
    if (w->p->plan[call].group)
        FXS_TRY(group_scope(w, call, outer, &outer));
    FXS_TRY(fxs_graph_scope(w->g, outer, c->path, c->class_name, (unsigned)c->nth, out));
    say_times(*out, w->p->plan[call].times, w->p->plan[call].weights);
    return FXS_OK;
}

/* The scope that a box of the call stands in. */
static fxs_status scope_around(fxs_outline_writing *w, size_t call, const fxs_scope **out) {
    FXS_TRY(enclosing_scope(w, w->p->calls.items[call].parent, out));
    return w->p->plan[call].group ? group_scope(w, call, *out, out) : FXS_OK;
}

fxs_status fxs_outline_write_box(fxs_outline_writing *w, size_t call) {
    const fxs_module_call *c = &w->p->calls.items[call];
    fxs_outline_found inputs = {0}, outputs = {0};
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
    fxs_sum sum = {.m = w->p->m, .box = box};
    FXS_TRY(sum_up(w->p, call, &sum));
    FXS_TRY(join_stats(w->p, box, &outputs));
    fxs_leaving *leaving = new_leaving(w, &outputs);
    if (!leaving)
        return fxs_fail_memory(w->g->ctx);
    for (size_t i = 0; i < outputs.n; i++)
        leaving[i].runs = times_in(w->p, call, leaving[i].node->index);
    FXS_TRY(spread_box(w, call, &sum, &outputs, leaving));
    FXS_TRY(join_results(w, box, leaving, outputs.n));
    FXS_TRY(scope_around(w, call, &box->scope));
    box->meta.times = w->p->plan[call].times;
    box->meta.weights = w->p->plan[call].weights;
    box->meta.nth = c->nth;
    w->nboxes++;
    for (size_t i = c->first; i <= c->last; i++)
        w->as[i] = fxs_of_node(box);
    return FXS_OK;
}

/* ---- a node ---- */

fxs_status fxs_outline_write_node(fxs_outline_writing *w, const fxs_node *n) {
    fxs_node *made;
    const fxs_scope *scope; /* made before the copy makes it, where a group is around it */
    FXS_TRY(enclosing_scope(w, w->p->calls.of[n->index], &scope));
    FXS_TRY(fxs_graph_node_copy(w->g, n, fxs_outline_stand_for, w, &made));
    FXS_TRY(fxs_spread_stats(w->p, n, made));
    FXS_TRY(fxs_spread_join(w, n, made));
    FXS_TRY(fxs_spread_node(w, n, made));
    made->scope = scope;
    w->as[n->index] = fxs_of_node(made);
    return FXS_OK;
}

/* ---- the end of a part ---- */

static fxs_outcome outcome_of(const fxs_outline_found *outputs) {
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->items[i].u.node->meta.outcome != FXS_DONE)
            return FXS_NOT_RUN;
    return FXS_DONE;
}

fxs_status fxs_outline_scope(fxs_outline_writing *w, size_t call, bool around,
                             const fxs_scope **out) {
    return around ? scope_around(w, call, out) : enclosing_scope(w, call, out);
}

fxs_status fxs_outline_write_output(fxs_outline_writing *w, const fxs_outline_found *outputs,
                                    const fxs_scope *scope) {
    fxs_value v;
    fxs_node *out;
    FXS_TRY(fxs_make_seq(w->g->ctx, &w->g->arena, FXS_V_TUPLE, outputs->n, &v));
    if (outputs->n)
        memcpy(v.u.seq->items, outputs->items, outputs->n * sizeof *outputs->items);
    FXS_TRY(fxs_graph_output(w->g, outputs->n == 1 ? &outputs->items[0] : &v, &out));
    out->scope = scope;
    out->meta.outcome = outcome_of(outputs);
    fxs_leaving *leaving = new_leaving(w, outputs);
    if (!leaving)
        return fxs_fail_memory(w->g->ctx);
    for (size_t i = 0; i < outputs->n; i++)
        leaving[i].runs = fxs_runs_left(leaving[i].node, scope);
    return out->meta.outcome == FXS_DONE ? join_results(w, out, leaving, outputs->n) : FXS_OK;
}
