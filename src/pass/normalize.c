/* normalize.c: a call's arguments by the names of its schema: torch.fx's normalized_arguments, and
 * the pass that gives them to all nodes. Knows no operator: schemas and layer rows say the names.
 */
#include <string.h>

#include "ir/subst.h"
#include "pass/effect.h"
#include "pass/opt.h"

/* Arguments in the order of their names. */
typedef struct named {
    size_t n, npositional; /* given by position */
    const char *name[FXS_MAX_ARGS];
    const fxs_value *value[FXS_MAX_ARGS]; /* NULL: not given */
} named;

/* ---- names
 * ---------------------------------------------------------------------------------------------- */

/* Python's own functions take no keywords. */
static bool takes_keywords(const char *target) {
    static const char *const prefixes[] = {"operator.", "_operator.", "builtins.", "math."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(target, prefixes[i], strlen(prefixes[i])) == 0)
            return false;
    return true;
}

/* torch.nn.functional's functions write in place on request; torch's own, which share their rows,
 * know no such argument. */
static bool lacks_inplace(const char *target) {
    static const char functional[] = "torch.nn.functional.";
    return strncmp(target, "torch.", 6) == 0 &&
           strncmp(target, functional, sizeof functional - 1) != 0;
}

/* A positional list of numbers, as in torch.permute(x, 0, 1), goes by one name: it counts as one
 * argument. */
static void name_function(const fxs_node_call *c, const fxs_node *n, unsigned flags, named *out) {
    size_t given = fxs_value_len(&n->args);
    for (int i = 0; i < c->schema->nparams; i++) {
        const fxs_param *p = &c->schema->params[i];
        out->name[i] = strcmp(p->name, "self") == 0 ? "input" : p->name;
        bool there = strcmp(p->name, "inplace") != 0 || !lacks_inplace(n->target);
        if (c->given[i] || (flags & FXS_NORMALIZE_DEFAULTS && there))
            out->value[i] = &c->arg[i];
        out->npositional += (size_t)i < given && !p->keyword_only;
    }
    out->n = (size_t)c->schema->nparams;
}

/* The names of a layer's forward, cut out of its row. */
static fxs_status layer_names(const fxs_module *m, fxs_arena *a, named *out) {
    const char *s = m->row->forward ? m->row->forward : "input";
    while (*s && out->n < FXS_MAX_ARGS) {
        s += strspn(s, ", ");
        size_t len = strcspn(s, ", =?:");
        out->name[out->n] = fxs_arena_dup(a, s, len);
        if (!out->name[out->n++])
            return fxs_fail_memory(m->ctx);
        s += strcspn(s, ",");
    }
    return FXS_OK;
}

static bool place_layer_arguments(const fxs_node *n, named *out) {
    out->npositional = fxs_value_len(&n->args);
    if (out->npositional > out->n)
        return false;
    for (size_t i = 0; i < out->npositional; i++)
        out->value[i] = fxs_value_item(&n->args, i);
    for (size_t k = 0; k < fxs_value_len(&n->kwargs); k++) {
        size_t i = 0;
        while (i < out->n &&
               strcmp(out->name[i], fxs_value_text(fxs_value_key(&n->kwargs, k))) != 0)
            i++;
        if (i == out->n || out->value[i])
            return false;
        out->value[i] = fxs_value_item(&n->kwargs, k);
    }
    return true;
}

/* ---- the result
 * ----------------------------------------------------------------------------------------- */

static fxs_status give(fxs_graph *g, const named *by, unsigned flags, fxs_value *args,
                       fxs_value *kwargs) {
    size_t positional = flags & FXS_NORMALIZE_KEYWORDS ? 0 : by->npositional, count = 0;
    for (size_t i = positional; i < by->n; i++)
        count += by->value[i] != NULL;
    FXS_TRY(fxs_make_seq(g->ctx, &g->arena, FXS_V_TUPLE, positional, args));
    FXS_TRY(fxs_make_dict(g->ctx, &g->arena, count, kwargs));
    for (size_t i = 0; i < positional; i++)
        FXS_TRY(fxs_value_copy(g->ctx, &g->arena, by->value[i], &args->u.seq->items[i]));
    fxs_pair *p = kwargs->u.dict->pairs;
    for (size_t i = positional; i < by->n; i++) {
        if (!by->value[i])
            continue;
        FXS_TRY(
            fxs_make_text(g->ctx, &g->arena, FXS_V_STR, by->name[i], strlen(by->name[i]), &p->key));
        FXS_TRY(fxs_value_copy(g->ctx, &g->arena, by->value[i], &p->value));
        p++;
    }
    return FXS_OK;
}

static fxs_status normal_function(const fxs_node *n, fxs_arena *a, unsigned flags, named *by,
                                  bool *known) {
    fxs_node_call *call = FXS_NEW(a, fxs_node_call);
    if (!call)
        return fxs_fail_memory(n->graph->ctx);
    FXS_TRY(fxs_node_call_of(n, a, call));
    *known = call->ops != NULL;
    if (*known)
        name_function(call, n, flags, by);
    return FXS_OK;
}

static fxs_status normal_layer(const fxs_node *n, fxs_arena *a, named *by, bool *known) {
    const fxs_module *root = n->graph->owner, *m = root ? fxs_module_find(root, n->target) : NULL;
    if (!m)
        return fxs_fail(n->graph->ctx, FXS_ENOTFOUND,
                        "Tried to normalize node with target %s but root did not have that target!",
                        n->target);
    if (!m->row || m->graph)
        return FXS_OK;
    FXS_TRY(layer_names(m, a, by));
    *known = place_layer_arguments(n, by);
    return FXS_OK;
}

fxs_status fxs_node_normalized_arguments(const fxs_node *n, unsigned flags, fxs_value *args,
                                         fxs_value *kwargs, bool *known) {
    fxs_arena a = {0};
    named by = {0};
    fxs_status s = FXS_OK;
    *known = false;
    if (n->kind == FXS_CALL_FUNCTION && takes_keywords(n->target))
        s = normal_function(n, &a, flags, &by, known);
    else if (n->kind == FXS_CALL_MODULE)
        s = normal_layer(n, &a, &by, known);
    if (s == FXS_OK)
        s = give(n->graph, *known ? &by : &(named){0}, flags, args, kwargs);
    fxs_arena_clear(&a);
    return s;
}

/* ---- the pass
 * ------------------------------------------------------------------------------------------- */

typedef struct new_arguments {
    fxs_value args, kwargs;
    bool set;
} new_arguments;

static fxs_status normalize_all(fxs_graph *g, new_arguments *of, bool *changed) {
    uint64_t stamp = fxs_graph_stamp(g);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        new_arguments *to = &of[n->index];
        if (!fxs_value_len(&n->args))
            continue;
        FXS_TRY(fxs_node_normalized_arguments(n, FXS_NORMALIZE_KEYWORDS, &to->args, &to->kwargs,
                                              &to->set));
        if (to->set)
            n->mark = stamp;
        *changed |= to->set;
    }
    fxs_graph_detach(g, stamp);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (of[n->index].set)
            FXS_TRY(fxs_node_adopt_args(n, &of[n->index].args, &of[n->index].kwargs));
    return FXS_OK;
}

/* Defaults are not filled in: rows may have parameters that torch's functions lack. */
fxs_status fxs_pass_normalize_args(fxs_module *m, bool *changed) {
    fxs_arena a = {0};
    new_arguments *of = FXS_NEW_N(&a, new_arguments, m->graph->len);
    fxs_graph_number(m->graph);
    fxs_status s = of ? normalize_all(m->graph, of, changed) : fxs_fail_memory(m->ctx);
    fxs_arena_clear(&a);
    return s;
}
