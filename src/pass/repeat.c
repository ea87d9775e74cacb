/* repeat.c: runs of equal blocks. Two neighbouring calls are equal when they record the same nodes:
 * kinds, targets below their own paths, layers, arguments and results; and when what the second
 * gets from outside is either what the first gets too (a mask), or what the first gives, which it
 * does get. */
#include "pass/outline.h"

#include <string.h>

/* Whose weights those of equal blocks are. */
typedef struct weights {
    bool own, shared; /* some are another's, some the same */
    bool unknown;     /* a layer is not in the module tree */
} weights;

typedef struct comparison {
    const fxs_outline_plan *p;
    const fxs_module_call *a, *b; /* b comes directly behind a */
    weights w;                    /* b's, beside a's */
    bool chained;                 /* b gets something that a gives */
} comparison;

/* ---- values ---- */

static bool same_tensor(const fxs_tensor *a, const fxs_tensor *b) {
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
}

/* What b gets in the place of what a gets. */
static bool same_source(comparison *c, const fxs_node *x, const fxs_node *y) {
    bool inside_a = x->index >= c->a->first && x->index <= c->a->last;
    bool inside_b = y->index >= c->b->first && y->index <= c->b->last;
    if (inside_a || inside_b)
        return inside_a && inside_b && x->index - c->a->first == y->index - c->b->first;
    bool given = y->index >= c->a->first && y->index <= c->a->last;
    c->chained = c->chained || given;
    return given || x == y;
}

static bool is_named(const fxs_node *n, const char *name, size_t len) {
    return strncmp(n->name, name, len) == 0 && !n->name[len];
}

/* "... got Proxy(getattr_4)": messages of assertions name the nodes that they are about. */
static bool same_proxy(comparison *c, const char *x, size_t nx, const char *y, size_t ny) {
    for (size_t i = 0; i <= c->a->last - c->a->first; i++)
        if (is_named(c->p->node[c->a->first + i], x, nx))
            return is_named(c->p->node[c->b->first + i], y, ny);
    return nx == ny && memcmp(x, y, nx) == 0;
}

static bool same_text(comparison *c, const char *x, const char *y) {
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

static bool same_value(comparison *c, const fxs_value *x, const fxs_value *y) {
    size_t n = fxs_value_len(x);
    if (x->tag != y->tag || n != fxs_value_len(y))
        return false;
    switch (x->tag) {
    case FXS_V_STR:
    case FXS_V_OPAQUE:
        return same_text(c, fxs_value_text(x), fxs_value_text(y));
    case FXS_V_NODE:
        return same_source(c, x->u.node, y->u.node);
    case FXS_V_TENSOR:
        return same_tensor(x->u.tensor, y->u.tensor);
    case FXS_V_OBJECT:
        return x->u.object->data == y->u.object->data;
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_SLICE:
    case FXS_V_DICT:
        for (size_t i = 0; i < n; i++)
            if (!same_value(c, fxs_value_item(x, i), fxs_value_item(y, i)) ||
                (x->tag == FXS_V_DICT &&
                 !fxs_value_equal(fxs_value_key(x, i), fxs_value_key(y, i))))
                return false;
        return true;
    case FXS_V_UNKNOWN:
        return true;
    default:
        return fxs_value_equal(x, y);
    }
}

/* ---- layers ---- */

static void note_weights(comparison *c, const fxs_parameter *a, const fxs_parameter *b) {
    c->w.own = c->w.own || a != b;
    c->w.shared = c->w.shared || (a && a == b);
    c->w.unknown = c->w.unknown || (!a && !b);
}

static bool same_layer(comparison *c, const fxs_module *a, const fxs_module *b) {
    if (a == b) {
        c->w.unknown = c->w.unknown || !a;
        c->w.shared = c->w.shared || (a && fxs_module_parameter_count(a) > 0);
        return true;
    }
    if (!a || !b || strcmp(a->class_name, b->class_name) != 0 ||
        !same_value(c, &a->args, &b->args) || !same_value(c, &a->kwargs, &b->kwargs) ||
        a->nchildren != b->nchildren || a->nattributes != b->nattributes)
        return false;
    for (size_t i = 0; i < a->nattributes; i++) {
        const fxs_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        if (strcmp(x->name, y->name) != 0 || !same_tensor(x->param->spec, y->param->spec))
            return false;
        note_weights(c, x->param, y->param);
    }
    for (size_t i = 0; i < a->nchildren; i++)
        if (strcmp(a->children[i].name, b->children[i].name) != 0 ||
            !same_layer(c, a->children[i].module, b->children[i].module))
            return false;
    return true;
}

/* The part of a target below a call's own path; the target itself when it lies elsewhere. */
static const char *below(const char *target, const char *path) {
    size_t n = strlen(path);
    return strncmp(target, path, n) == 0 && target[n] == '.' ? target + n + 1 : target;
}

static bool same_target(comparison *c, const fxs_node *x, const fxs_node *y) {
    bool has_path = x->kind == FXS_CALL_MODULE || x->kind == FXS_GET_ATTR;
    if (!has_path)
        return strcmp(x->target, y->target) == 0;
    if (strcmp(below(x->target, c->a->path), below(y->target, c->b->path)) != 0)
        return false;
    if (x->kind == FXS_GET_ATTR) { /* its shape is its result's */
        note_weights(c, fxs_module_lookup(c->p->m, x->target).param,
                     fxs_module_lookup(c->p->m, y->target).param);
        return true;
    }
    return same_layer(c, fxs_module_find(c->p->m, x->target), fxs_module_find(c->p->m, y->target));
}

/* What is left out need not be equal: only what it hands on. */
static bool both_hidden(comparison *c, const fxs_node *x, const fxs_node *y) {
    uint64_t used = 0;
    if (!fxs_outline_hides(c->p, x, &used) || !fxs_outline_hides(c->p, y, &used) ||
        x->ninputs != y->ninputs)
        return false;
    for (size_t i = 0; i < x->ninputs; i++)
        if (!same_source(c, x->inputs[i], y->inputs[i]))
            return false;
    return same_value(c, &x->meta.result, &y->meta.result);
}

static bool same_node(comparison *c, const fxs_node *x, const fxs_node *y) {
    if (both_hidden(c, x, y))
        return true;
    return x->kind == y->kind && x->meta.outcome == y->meta.outcome && same_target(c, x, y) &&
           same_value(c, &x->args, &y->args) && same_value(c, &x->kwargs, &y->kwargs) &&
           same_value(c, &x->meta.result, &y->meta.result);
}

static bool same_call(comparison *c) {
    size_t n = c->a->last - c->a->first;
    if (c->b->first != c->a->last + 1 || c->b->last - c->b->first != n ||
        strcmp(c->a->class_name, c->b->class_name) != 0)
        return false;
    for (size_t i = 0; i <= n; i++)
        if (!same_node(c, c->p->node[c->a->first + i], c->p->node[c->b->first + i]))
            return false;
    return c->chained; /* blocks side by side, which get the same, are no run */
}

/* ---- runs ---- */

static bool is_shown(const fxs_outline_plan *p, size_t call) {
    return p->plan[call].state == FXS_CALL_OPEN || p->plan[call].state == FXS_CALL_BOX;
}

/* The call behind `call` that has the same parent; 0: there is none. */
static size_t next_sibling(const fxs_outline_plan *p, size_t call) {
    for (size_t i = call + 1; i < p->calls.n; i++) {
        if (p->calls.items[i].depth < p->calls.items[call].depth)
            return 0;
        if (p->calls.items[i].parent == p->calls.items[call].parent)
            return i;
    }
    return 0;
}

static void fold_call(fxs_outline_plan *p, size_t call, size_t like) {
    for (size_t i = call; i < p->calls.n && fxs_module_call_within(&p->calls, i, call); i++)
        p->plan[i] = (fxs_call_plan){.state = FXS_CALL_FOLDED, .like = like, .times = 1};
}

static void tell_run(fxs_outline_plan *p, size_t first, size_t last, const weights *w) {
    const fxs_module_call *a = &p->calls.items[first], *b = &p->calls.items[last];
    fxs_buf_printf(&p->notes, "%s stands for %zu equal blocks", a->path, p->plan[first].times);
    if (strcmp(a->path, b->path) != 0)
        fxs_buf_printf(&p->notes, ", up to %s", b->path);
    fxs_buf_printf(&p->notes, ", %s\n",
                   w->own && w->shared ? "which share some of their weights"
                   : w->own            ? "each with weights of its own"
                   : w->shared         ? "which share their weights"
                   : w->unknown        ? "whose layers are not in the module tree"
                                       : "which have no weights");
}

static void fold_run(fxs_outline_plan *p, size_t first) {
    size_t last = first, next;
    weights w = {0};
    while ((next = next_sibling(p, last)) && is_shown(p, next)) {
        comparison c = {.p = p, .a = &p->calls.items[last], .b = &p->calls.items[next]};
        if (!same_call(&c))
            break;
        w.own = w.own || c.w.own;
        w.shared = w.shared || c.w.shared;
        w.unknown = w.unknown || c.w.unknown;
        p->plan[first].times++;
        last = next;
    }
    for (size_t i = first; i != last;) {
        i = next_sibling(p, i);
        fold_call(p, i, first);
    }
    if (last != first)
        tell_run(p, first, last, &w);
}

fxs_status fxs_outline_fold(fxs_outline_plan *p) {
    for (size_t i = 1; i < p->calls.n; i++)
        if (is_shown(p, i))
            fold_run(p, i);
    return p->notes.failed ? fxs_fail_memory(p->m->ctx) : FXS_OK;
}

const fxs_node *fxs_outline_like(const fxs_outline_plan *p, const fxs_node *n) {
    size_t call = p->calls.of[n->index];
    while (p->plan[call].state == FXS_CALL_FOLDED) {
        size_t like = p->plan[call].like, top = call;
        while (p->plan[p->calls.items[top].parent].state == FXS_CALL_FOLDED &&
               p->plan[p->calls.items[top].parent].like == like)
            top = p->calls.items[top].parent;
        n = p->node[p->calls.items[like].first + (n->index - p->calls.items[top].first)];
        call = p->calls.of[n->index];
    }
    return n;
}
