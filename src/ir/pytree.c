/* pytree.c: the trees that a graph's callers pass and get where its placeholders are their leaves:
 * how many leaves there are, flat lists from trees and back. Called by the tracer, the interpreter
 * and the printer of code. torch's trees have lists, tuples and dicts; a slice is a leaf. */
#include "ir/pytree.h"

#include <string.h>

bool fxs_pytree_container(const fxs_value *v) {
    return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_DICT;
}

size_t fxs_pytree_leaves(const fxs_value *v) {
    size_t n = 0;
    if (!fxs_pytree_container(v))
        return 1;
    for (size_t i = 0; i < fxs_value_len(v); i++)
        n += fxs_pytree_leaves(fxs_value_item(v, i));
    return n;
}

static void put_leaves(const fxs_value *v, fxs_value *items, size_t *n) {
    if (!fxs_pytree_container(v)) {
        items[(*n)++] = *v;
        return;
    }
    for (size_t i = 0; i < fxs_value_len(v); i++)
        put_leaves(fxs_value_item(v, i), items, n);
}

fxs_status fxs_pytree_flat(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_value *out) {
    size_t n = 0;
    FXS_TRY(fxs_make_seq(ctx, a, FXS_V_LIST, fxs_pytree_leaves(v), out));
    put_leaves(v, out->u.seq->items, &n);
    return FXS_OK;
}

/* ---- the spec of a tree
 * ---------------------------------------------------------------------------------------------- */

fxs_status fxs_pytree_spec(fxs_graph *g, const fxs_value *v, fxs_value *out) {
    if (!fxs_pytree_container(v))
        return fxs_make_text(g->ctx, &g->arena, FXS_V_STR, "*", 1, out);
    size_t n = fxs_value_len(v);
    if (v->tag != FXS_V_DICT) {
        FXS_TRY(fxs_make_seq(g->ctx, &g->arena, v->tag, n, out));
        for (size_t i = 0; i < n; i++)
            FXS_TRY(fxs_pytree_spec(g, fxs_value_item(v, i), &out->u.seq->items[i]));
        return FXS_OK;
    }
    FXS_TRY(fxs_make_dict(g->ctx, &g->arena, n, out));
    for (size_t i = 0; i < n; i++) {
        fxs_pair *p = &out->u.dict->pairs[i];
        FXS_TRY(fxs_value_copy(g->ctx, &g->arena, fxs_value_key(v, i), &p->key));
        FXS_TRY(fxs_pytree_spec(g, fxs_value_item(v, i), &p->value));
    }
    return FXS_OK;
}

fxs_status fxs_pytree_new(fxs_graph *g, size_t nparams, fxs_pytree **out) {
    fxs_pytree *t = FXS_NEW(&g->arena, fxs_pytree);
    *out = t;
    if (!t)
        return fxs_fail_memory(g->ctx);
    t->nparams = nparams;
    t->params = FXS_NEW_N(&g->arena, const char *, nparams);
    if (nparams && !t->params)
        return fxs_fail_memory(g->ctx);
    return fxs_make_seq(g->ctx, &g->arena, FXS_V_TUPLE, nparams, &t->inputs);
}

fxs_status fxs_pytree_copy(fxs_graph *to, const fxs_graph *from) {
    const fxs_pytree *t = from->pytree;
    fxs_pytree *copy;
    if (!t)
        return FXS_OK;
    FXS_TRY(fxs_pytree_new(to, t->nparams, &copy));
    copy->bound = t->bound;
    for (size_t i = 0; i < t->nparams; i++) {
        copy->params[i] = fxs_arena_dup(&to->arena, t->params[i], strlen(t->params[i]));
        if (!copy->params[i])
            return fxs_fail_memory(to->ctx);
    }
    FXS_TRY(fxs_value_copy(to->ctx, &to->arena, &t->inputs, &copy->inputs));
    FXS_TRY(fxs_value_copy(to->ctx, &to->arena, &t->output, &copy->output));
    to->pytree = copy;
    return FXS_OK;
}

/* ---- flat lists
 * ------------------------------------------------------------------------------------------------------
 */

/* One argument against its spec; its leaves are counted into items[*n...]. */
typedef struct flattener {
    fxs_ctx *ctx;
    const char *param;
    fxs_value *items;
    size_t n;
} flattener;

/* As torch's tree_flatten_spec: dicts by the spec's keys, sequences by index; what the spec does
 * not have is passed over. */
static fxs_status part_of(const flattener *f, const fxs_value *spec, const fxs_value *v, size_t i,
                          const fxs_value **out) {
    const fxs_value *key = fxs_value_key(spec, i);
    *out = key ? NULL : fxs_value_item(v, i);
    for (size_t k = 0; key && !*out && k < fxs_value_len(v); k++)
        if (fxs_value_equal(fxs_value_key(v, k), key))
            *out = fxs_value_item(v, k);
    if (*out)
        return FXS_OK;
    if (!key)
        return fxs_fail(f->ctx, FXS_EINDEX, "input '%s': item %zu of %zu is missing", f->param, i,
                        fxs_value_len(spec));
    fxs_buf b = {0};
    fxs_buf_repr(&b, key, &(fxs_repr){0});
    fxs_status s = fxs_buf_status(f->ctx, &b);
    if (s == FXS_OK)
        s = fxs_fail(f->ctx, FXS_ENOTFOUND, "input '%s': key %s is missing", f->param, b.data);
    fxs_buf_free(&b);
    return s;
}

static fxs_status flatten(flattener *f, const fxs_value *spec, const fxs_value *v) {
    if (!fxs_pytree_container(spec)) {
        f->items[f->n++] = fxs_value_ref(*v);
        return FXS_OK;
    }
    bool dict = spec->tag == FXS_V_DICT, given = v->tag != FXS_V_UNKNOWN;
    if (given && (!fxs_pytree_container(v) || dict != (v->tag == FXS_V_DICT)))
        return fxs_fail(f->ctx, FXS_ETYPE, "input '%s': a %s expected, found %s", f->param,
                        dict                       ? "dict"
                        : spec->tag == FXS_V_TUPLE ? "tuple"
                                                   : "list",
                        fxs_value_type_name(v));
    for (size_t i = 0; i < fxs_value_len(spec); i++) {
        const fxs_value *part = v;
        if (given)
            FXS_TRY(part_of(f, spec, v, i, &part));
        FXS_TRY(flatten(f, fxs_value_item(spec, i), part));
    }
    return FXS_OK;
}

/* Nothing given is a tree, and some parameter is one: the call was written for the placeholders. */
static bool flat_already(const fxs_pytree *t, const fxs_value *args, size_t nargs) {
    bool tree = nargs > t->nparams;
    for (size_t i = 0; i < nargs; i++) {
        if (fxs_pytree_container(&args[i]))
            return false;
        tree = tree || fxs_pytree_container(fxs_value_item(&t->inputs, i));
    }
    return tree;
}

fxs_status fxs_pytree_flatten(const fxs_graph *g, const fxs_value *args, size_t nargs,
                              fxs_value *flat) {
    const fxs_pytree *t = g->pytree;
    size_t n = 0;
    for (size_t i = 0; i < nargs; i++)
        n += fxs_pytree_leaves(fxs_value_item(&t->inputs, i));
    FXS_TRY(fxs_make_seq(g->ctx, NULL, FXS_V_LIST, n, flat));
    flattener f = {.ctx = g->ctx, .items = flat->u.seq->items};
    fxs_status s = FXS_OK;
    for (size_t i = 0; i < nargs && s == FXS_OK; i++) {
        f.param = t->params[i];
        s = flatten(&f, fxs_value_item(&t->inputs, i), &args[i]);
    }
    if (s != FXS_OK)
        fxs_value_unref(flat);
    return s;
}

fxs_status fxs_graph_flatten_inps(const fxs_graph *g, const fxs_value *args, size_t nargs,
                                  fxs_value *flat) {
    const fxs_pytree *t = g->pytree;
    *flat = fxs_none();
    if (!t || flat_already(t, args, nargs))
        return fxs_value_list(g->ctx, nargs, args, flat);
    if (nargs > t->nparams)
        return fxs_fail(g->ctx, FXS_ETYPE, "forward takes %zu inputs, but %zu were given",
                        t->nparams, nargs);
    return fxs_pytree_flatten(g, args, nargs, flat);
}

typedef struct filler {
    const fxs_value *flat;
    size_t at;
} filler;

static fxs_status fill_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    filler *f = user;
    (void)leaf;
    *out = fxs_value_ref(*fxs_value_item(f->flat, f->at++));
    return FXS_OK;
}

fxs_status fxs_graph_unflatten_outs(const fxs_graph *g, const fxs_value *flat, fxs_value *out) {
    *out = fxs_none();
    if (!g->pytree) {
        *out = fxs_value_ref(*flat);
        return FXS_OK;
    }
    size_t want = fxs_pytree_leaves(&g->pytree->output), have = fxs_value_len(flat);
    if (flat->tag != FXS_V_LIST || have != want)
        return fxs_fail(g->ctx, FXS_EINVAL,
                        "a list of %zu values expected, which the output's tree is made of, found "
                        "%s of %zu",
                        want, fxs_value_type_name(flat), have);
    return fxs_value_map(g->ctx, NULL, &g->pytree->output, fill_leaf, &(filler){.flat = flat}, out);
}
