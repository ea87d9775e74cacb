/* same.c: see same.h. Called by repeat.c. */
#include "pass/same.h"

#include <math.h>
#include <string.h>

/* ---- what nodes get ---- */

static bool is_in(const fxs_block *b, const fxs_node *n) {
    return n->index >= b->first && n->index <= b->last;
}

static bool room_for_link(fxs_comparison *c) {
    fxs_chain *chain = c->chain;
    if (chain->n < chain->cap)
        return true;
    size_t cap = chain->cap ? 2 * chain->cap : 8;
    size_t *items = fxs_realloc(chain->items, cap, sizeof *items);
    c->out_of_memory = !items;
    if (!items)
        return false;
    chain->items = items;
    chain->cap = cap;
    return true;
}

/* y is given by a, which it is in: by the same node as all along the run? */
static bool link(fxs_comparison *c, const fxs_node *y) {
    fxs_chain *chain = c->chain;
    size_t at = y->index - c->a->first;
    if (chain->known)
        return c->linked < chain->n && chain->items[c->linked++] == at;
    if (!room_for_link(c))
        return false;
    chain->items[chain->n++] = at;
    c->linked++;
    return true;
}

/* What b gets in the place of what a gets. */
static bool same_source(fxs_comparison *c, const fxs_node *x, const fxs_node *y) {
    bool inside_a = is_in(c->a, x), inside_b = is_in(c->b, y);
    if (inside_a || inside_b)
        return inside_a && inside_b && x->index - c->a->first == y->index - c->b->first;
    return is_in(c->a, y) ? link(c, y) : x == y;
}

static bool is_nodes(const fxs_value *v) {
    for (size_t i = 0; i < fxs_value_len(v); i++)
        if (fxs_value_item(v, i)->tag != FXS_V_NODE)
            return false;
    return true;
}

static const fxs_node *node_at(const fxs_value *v, size_t i) {
    return fxs_value_item(v, i)->u.node;
}

/* [x, a's, inside] and [x, a's, b's, inside]: what w has more than v comes from a. */
static bool same_but_longer(fxs_comparison *c, const fxs_value *v, const fxs_value *w) {
    size_t n = fxs_value_len(v), more = fxs_value_len(w) - n, i = 0;
    while (i < n && node_at(v, i) == node_at(w, i) && !is_in(c->a, node_at(v, i)))
        i++;
    for (size_t k = 0; k < more; k++)
        if (!is_in(c->a, node_at(w, i + k)) || !link(c, node_at(w, i + k)))
            return false;
    for (; i < n; i++)
        if (!same_source(c, node_at(v, i), node_at(w, i + more)))
            return false;
    c->grows = c->varies = true;
    return true;
}

/* ---- values ---- */

static bool same_tensor(fxs_comparison *c, const fxs_tensor *a, const fxs_tensor *b, bool vary) {
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    bool equal = memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
    c->varies = c->varies || !equal;
    return equal || vary;
}

static bool is_named(const fxs_node *n, const char *name, size_t len) {
    return strncmp(n->name, name, len) == 0 && !n->name[len];
}

/* "... got Proxy(getattr_4)": messages of assertions name the nodes that they are about. */
static bool same_proxy(fxs_comparison *c, const char *x, size_t nx, const char *y, size_t ny) {
    for (size_t i = 0; i <= c->a->last - c->a->first; i++)
        if (is_named(c->p->node[c->a->first + i], x, nx))
            return is_named(c->p->node[c->b->first + i], y, ny);
    return nx == ny && memcmp(x, y, nx) == 0;
}

static bool same_text(fxs_comparison *c, const char *x, const char *y) {
    static const char mark[] = "Proxy(";
    const size_t n = sizeof mark - 1;
    const char *in_x, *in_y;
    while ((in_x = strstr(x, mark)) && (in_y = strstr(y, mark))) {
        in_x += n;
        in_y += n;
        size_t nx = strcspn(in_x, ")"), ny = strcspn(in_y, ")");
        if (in_x - x != in_y - y || memcmp(x, y, (size_t)(in_x - x)) != 0 ||
            !same_proxy(c, in_x, nx, in_y, ny))
            return false;
        x = in_x + nx;
        y = in_y + ny;
    }
    return strcmp(x, y) == 0;
}

/* One that varies becomes a range, which begins with a digit. */
static bool same_real(fxs_comparison *c, double a, double b, bool vary) {
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    bool may = vary && isfinite(a) && isfinite(b) && !signbit(a) && !signbit(b);
    c->varies = c->varies || may;
    c->reals = c->reals || may;
    return may;
}

static bool same_items(fxs_comparison *c, const fxs_value *v, const fxs_value *w, unsigned vary) {
    size_t n = fxs_value_len(v);
    if (n != fxs_value_len(w))
        return c->sizes && n && n < fxs_value_len(w) && is_nodes(v) && is_nodes(w) &&
               same_but_longer(c, v, w);
    for (size_t i = 0; i < n; i++)
        if (!fxs_same_value(c, fxs_value_item(v, i), fxs_value_item(w, i), vary) ||
            (v->tag == FXS_V_DICT && !fxs_value_equal(fxs_value_key(v, i), fxs_value_key(w, i))))
            return false;
    return true;
}

bool fxs_same_value(fxs_comparison *c, const fxs_value *v, const fxs_value *w, unsigned vary) {
    if (v->tag != w->tag)
        return false;
    switch (v->tag) {
    case FXS_V_STR:
    case FXS_V_OPAQUE:
        return same_text(c, fxs_value_text(v), fxs_value_text(w));
    case FXS_V_NODE:
        return same_source(c, v->u.node, w->u.node);
    case FXS_V_TENSOR:
        return same_tensor(c, v->u.tensor, w->u.tensor, vary & FXS_VARY_TENSORS);
    case FXS_V_OBJECT:
        return v->u.object->data == w->u.object->data;
    case FXS_V_INT:
        c->varies = c->varies || v->u.i != w->u.i;
        return v->u.i == w->u.i || vary & FXS_VARY_INTS;
    case FXS_V_FLOAT:
        return same_real(c, v->u.f, w->u.f, vary & FXS_VARY_REALS);
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_SLICE:
    case FXS_V_DICT:
        return same_items(c, v, w, vary);
    case FXS_V_UNKNOWN:
        return true;
    default:
        return fxs_value_equal(v, w);
    }
}

/* What a run recorded: all its sizes are sizes. */
static bool same_result(fxs_comparison *c, const fxs_node *x, const fxs_node *y) {
    return fxs_same_value(c, &x->meta.result, &y->meta.result,
                          c->sizes ? FXS_VARY_TENSORS | FXS_VARY_INTS : 0);
}

/* ---- layers ---- */

static bool same_state(fxs_comparison *c, const fxs_tensor *a, const fxs_tensor *b) {
    bool varies = c->varies;
    c->varies = false;
    bool same = same_tensor(c, a, b, c->sizes);
    c->resized = c->resized || c->varies;
    c->varies = c->varies || varies;
    return same;
}

static bool same_layer(fxs_comparison *c, const fxs_module *a, const fxs_module *b) {
    if (a == b)
        return true;
    if (!a || !b || strcmp(a->class_name, b->class_name) != 0 || !fxs_same_layer_args(c, a, b) ||
        a->nchildren != b->nchildren || a->nattributes != b->nattributes)
        return false;
    for (size_t i = 0; i < a->nattributes; i++) {
        const fxs_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        if (strcmp(x->name, y->name) != 0 || !same_state(c, x->param->spec, y->param->spec))
            return false;
    }
    for (size_t i = 0; i < a->nchildren; i++)
        if (strcmp(a->children[i].name, b->children[i].name) != 0 ||
            !same_layer(c, a->children[i].module, b->children[i].module))
            return false;
    return true;
}

/* ---- nodes ---- */

/* Path of the call of the block that the node is in. */
static const char *path_of(const fxs_comparison *c, const fxs_block *b, const fxs_node *n) {
    const fxs_module_call *items = c->p->calls.items;
    size_t i = 0;
    while (i + 1 < b->n && n->index > items[b->calls[i]].last)
        i++;
    return items[b->calls[i]].path;
}

/* The part of a target below a call's own path; the target itself when it lies elsewhere. */
static const char *below(const char *target, const char *path) {
    size_t n = strlen(path);
    return strncmp(target, path, n) == 0 && target[n] == '.' ? target + n + 1 : target;
}

/* Where none is in the module tree, the results are compared all the same. */
static bool same_attribute(fxs_comparison *c, const fxs_parameter *a, const fxs_parameter *b) {
    return !a || !b || a == b || same_state(c, a->spec, b->spec);
}

static bool same_target(fxs_comparison *c, const fxs_node *x, const fxs_node *y) {
    bool has_path = x->kind == FXS_CALL_MODULE || x->kind == FXS_GET_ATTR;
    if (!has_path)
        return strcmp(x->target, y->target) == 0;
    if (strcmp(below(x->target, path_of(c, c->a, x)), below(y->target, path_of(c, c->b, y))) != 0)
        return false;
    if (x->kind == FXS_GET_ATTR)
        return same_attribute(c, fxs_module_lookup(c->p->m, x->target).param,
                              fxs_module_lookup(c->p->m, y->target).param);
    return same_layer(c, fxs_module_find(c->p->m, x->target), fxs_module_find(c->p->m, y->target));
}

/* What is left out need not be equal: only what it hands on. */
static bool both_hidden(fxs_comparison *c, const fxs_node *x, const fxs_node *y) {
    uint64_t used = 0;
    if (!fxs_outline_hides(c->p, x, &used) || !fxs_outline_hides(c->p, y, &used) ||
        x->ninputs != y->ninputs)
        return false;
    for (size_t i = 0; i < x->ninputs; i++)
        if (!same_source(c, x->inputs[i], y->inputs[i]))
            return false;
    return same_result(c, x, y);
}

static bool same_node(fxs_comparison *c, const fxs_node *x, const fxs_node *y) {
    size_t linked = c->linked, known = c->chain->n;
    if (both_hidden(c, x, y))
        return true;
    c->linked = linked; /* what it took for links is looked at once more */
    c->chain->n = c->chain->known ? c->chain->n : known;
    return x->kind == y->kind && x->meta.outcome == y->meta.outcome && same_target(c, x, y) &&
           fxs_same_args(c, x, y) && same_result(c, x, y);
}

static bool same_calls(const fxs_comparison *c) {
    const fxs_module_call *items = c->p->calls.items;
    for (size_t i = 0; i < c->a->n; i++) {
        const fxs_module_call *x = &items[c->a->calls[i]], *y = &items[c->b->calls[i]];
        if (strcmp(x->class_name, y->class_name) != 0 || x->last - x->first != y->last - y->first)
            return false;
    }
    return c->b->first == c->a->last + 1 && c->b->last - c->b->first == c->a->last - c->a->first;
}

bool fxs_same_block(fxs_comparison *c) {
    if (!same_calls(c))
        return false;
    for (size_t i = 0; i <= c->a->last - c->a->first; i++)
        if (!same_node(c, c->p->node[c->a->first + i], c->p->node[c->b->first + i]))
            return false;
    if (c->resized && !c->grows && !c->layers)
        return false;
    c->chain->known = true;
    return c->linked > 0 && c->linked == c->chain->n; /* blocks side by side are no run */
}
