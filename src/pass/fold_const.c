/* fold_const.c: constant folding: what depends on parameters, buffers and literals alone is
 * computed once, and becomes a buffer, or a literal where the result is no tensor. The values are
 * those of the context's seed, and can't be made again: see fxs_module_put_tensor. opt.c lists it.
 */
#include <string.h>

#include "ir/subst.h"
#include "pass/effect.h"
#include "pass/opt.h"
#include "run/interpret.h"

typedef struct folding {
    fxs_module *m;
    fxs_graph *g;
    fxs_arena arena;
    fxs_effects effects;
    bool *constant;     /* by node index */
    fxs_node **from;    /* by index in the graph that is run: the node it is a copy of */
    fxs_value *results; /* the same; FXS_V_UNKNOWN: not wanted, or not computed; counted */
    size_t n;
    fxs_module *run; /* m's modules and tensors, with the constant part of its graph */
    fxs_subst subst;
} folding;

/* ---- what is constant
 * ----------------------------------------------------------------------------------- */

static bool is_constant(const folding *f, const fxs_node *n) {
    if (f->effects.of[n->index] != FXS_PURE || f->effects.written[n->index])
        return false;
    if (n->kind == FXS_GET_ATTR)
        return fxs_module_lookup(f->m, n->target).param != NULL;
    if (n->kind != FXS_CALL_FUNCTION && n->kind != FXS_CALL_METHOD)
        return false;
    for (size_t i = 0; i < n->ninputs; i++)
        if (!f->constant[n->inputs[i]->index])
            return false;
    return true;
}

/* Its result is used by what can't be folded. */
static bool is_wanted(const folding *f, const fxs_node *n) {
    if (n->kind == FXS_GET_ATTR)
        return false;
    for (size_t i = 0; i < n->nusers; i++)
        if (!f->constant[n->users[i]->index])
            return true;
    return false;
}

static fxs_status find_constants(folding *f) {
    bool any = false;
    f->constant = FXS_NEW_N(&f->arena, bool, f->g->len);
    if (!f->constant)
        return fxs_fail_memory(f->g->ctx);
    FXS_TRY(fxs_effects_find(f->m, &f->arena, &f->effects));
    for (fxs_node *n = fxs_graph_first(f->g); n; n = fxs_node_next(n)) {
        f->constant[n->index] = is_constant(f, n);
        f->n += f->constant[n->index];
        any |= f->constant[n->index] && n->kind != FXS_GET_ATTR;
    }
    if (!any)
        f->n = 0;
    return FXS_OK;
}

/* ---- computing them
 * ------------------------------------------------------------------------------------- */

static fxs_status copy_node(void *user, fxs_node *from, fxs_value *to) {
    const fxs_val_map *map = user;
    const fxs_value *v = fxs_val_map_get(map, from);
    if (v)
        *to = *v;
    return FXS_OK;
}

static fxs_status copy_constants(folding *f, fxs_graph *g, fxs_val_map *map) {
    size_t at = 0;
    for (fxs_node *n = fxs_graph_first(f->g); n; n = fxs_node_next(n)) {
        fxs_node *copy;
        if (!f->constant[n->index])
            continue;
        FXS_TRY(fxs_graph_node_copy(g, n, copy_node, map, &copy));
        FXS_TRY(fxs_val_map_set(map, n, fxs_of_node(copy)));
        f->from[at++] = n;
    }
    return FXS_OK;
}

static fxs_status make_run(folding *f) {
    fxs_graph *g;
    fxs_val_map *map;
    FXS_TRY(fxs_graph_new(f->m->ctx, &g));
    fxs_status made = fxs_module_with_graph(f->m, "Module", g, &f->run);
    if (made != FXS_OK) {
        fxs_graph_free(g);
        return made;
    }
    FXS_TRY(fxs_val_map_new(f->g, &map));
    fxs_status s = copy_constants(f, g, map);
    fxs_val_map_free(map);
    return s;
}

static fxs_status keep_result(void *user, fxs_node *n, const fxs_step *step) {
    folding *f = user;
    if (step->outcome != FXS_DONE || !is_wanted(f, f->from[n->index]))
        return FXS_OK;
    if (step->result->tag == FXS_V_TENSOR || !fxs_value_has_tensor(step->result))
        f->results[n->index] = fxs_value_ref(*step->result);
    return FXS_OK;
}

static fxs_status compute(folding *f) {
    fxs_observer observer = {keep_result, f};
    fxs_interpret how = {.mode = FXS_RUN_EXECUTE, .observers = &observer, .nobservers = 1};
    f->from = FXS_NEW_N(&f->arena, fxs_node *, f->n);
    f->results = FXS_NEW_N(&f->arena, fxs_value, f->n);
    if (!f->from || !f->results) {
        f->n = 0;
        return fxs_fail_memory(f->g->ctx);
    }
    for (size_t i = 0; i < f->n; i++)
        f->results[i] = (fxs_value){.tag = FXS_V_UNKNOWN};
    FXS_TRY(make_run(f));
    return fxs_interpret_graph(f->run, &how);
}

/* ---- putting them in
 * ------------------------------------------------------------------------------------ */

/* A name that nothing in the module has yet. */
static fxs_status free_name(folding *f, const fxs_node *n, fxs_buf *name) {
    for (size_t i = 0;; i++) {
        fxs_buf_cut(name, 0);
        fxs_buf_printf(name, "_folded_%s", n->name);
        if (i)
            fxs_buf_printf(name, "_%zu", i);
        FXS_TRY(fxs_buf_status(f->g->ctx, name));
        if (!fxs_module_attribute(f->m, name->data, name->len) &&
            !fxs_module_child(f->m, name->data, name->len))
            return FXS_OK;
    }
}

/* A view, so that the buffer is no Parameter even where the operator gave its argument itself. */
static fxs_status put_buffer(folding *f, const char *name, fxs_tensor *result) {
    fxs_tensor *t;
    FXS_TRY(fxs_tensor_view(f->g->ctx, result, &t));
    t->is_parameter = false;
    t->requires_grad = result->requires_grad;
    fxs_status s = fxs_module_put_tensor(f->m, name, true, t);
    fxs_tensor_unref(t);
    return s;
}

static fxs_status replace_by_buffer(folding *f, fxs_node *n, fxs_tensor *result) {
    fxs_buf name = {0};
    fxs_node *attr = NULL;
    fxs_insert_point was;
    fxs_status s = free_name(f, n, &name);
    if (s == FXS_OK)
        s = put_buffer(f, name.data, result);
    if (s == FXS_OK)
        s = fxs_graph_inserting_before(f->g, n, &was);
    if (s == FXS_OK) {
        s = fxs_graph_get_attr(f->g, name.data, &attr);
        fxs_graph_restore_insert_point(f->g, was);
    }
    fxs_buf_free(&name);
    fxs_value v = fxs_of_node(attr);
    return s == FXS_OK ? fxs_subst_set(&f->subst, n, &v) : s;
}

static fxs_status replace_results(folding *f, bool *changed) {
    FXS_TRY(fxs_subst_init(&f->subst, f->g));
    for (size_t i = 0; i < f->n; i++) {
        if (f->results[i].tag == FXS_V_UNKNOWN)
            continue;
        *changed = true;
        if (f->results[i].tag == FXS_V_TENSOR)
            FXS_TRY(replace_by_buffer(f, f->from[i], f->results[i].u.tensor));
        else
            FXS_TRY(fxs_subst_set(&f->subst, f->from[i], &f->results[i]));
    }
    return *changed ? fxs_subst_apply(&f->subst) : FXS_OK;
}

static fxs_status fold(folding *f, bool *changed) {
    FXS_TRY(fxs_graph_lint(f->g));
    FXS_TRY(find_constants(f));
    if (!f->n)
        return FXS_OK;
    FXS_TRY(compute(f));
    FXS_TRY(replace_results(f, changed));
    for (size_t i = f->n; *changed && i-- > 0;) /* what was only needed for them */
        if (!f->from[i]->nusers)
            FXS_TRY(fxs_graph_erase_node(f->g, f->from[i]));
    return FXS_OK;
}

fxs_status fxs_pass_constant_fold(fxs_module *m, bool *changed) {
    folding f = {.m = m, .g = m->graph};
    fxs_status s = fold(&f, changed);
    for (size_t i = 0; f.results && i < f.n; i++)
        fxs_value_unref(&f.results[i]);
    fxs_module_unref(f.run);
    fxs_subst_free(&f.subst);
    fxs_arena_clear(&f.arena);
    return s;
}
