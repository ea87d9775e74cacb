/* spread.c: see spread.h. Called by outline_box.c, with the chains that repeat.c made. */
#include "pass/spread.h"

#include <string.h>

#include "emit/facts.h"
#include "emit/format.h"
#include "ir/spread.h"
#include "pass/sum.h"

/* Texts of all that something is drawn for, to become one with ranges. */
typedef struct texts {
    fxs_arena arena;
    const char **items;
    size_t n, cap;
    bool failed;
} texts;

static void add_text(texts *t, fxs_buf *b) {
    const char *text = b->failed ? NULL : fxs_arena_dup(&t->arena, b->data ? b->data : "", b->len);
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 16;
        const char **items = FXS_NEW_N(&t->arena, const char *, cap);
        if (items && t->n)
            memcpy(items, t->items, t->n * sizeof *items);
        t->failed = t->failed || !items;
        t->items = items ? items : t->items;
        t->cap = items ? cap : t->cap;
    }
    t->failed = t->failed || !text;
    if (!t->failed)
        t->items[t->n++] = text;
    fxs_buf_free(b);
}

static bool are_equal(const texts *t) {
    for (size_t i = 1; i < t->n; i++)
        if (strcmp(t->items[0], t->items[i]) != 0)
            return false;
    return true;
}

/* One text in `arena`, the first one's where they have no ranges; empties t. */
static const char *join_texts(texts *t, fxs_arena *arena) {
    fxs_buf b = {0};
    const char *joined = NULL;
    if (!t->failed && t->n) {
        if (!fxs_buf_ranges(&b, t->items, t->n))
            fxs_buf_puts(&b, t->items[0]);
        joined = b.failed ? NULL : fxs_arena_dup(arena, b.data ? b.data : "", b.len);
    }
    fxs_buf_free(&b);
    fxs_arena_clear(&t->arena);
    *t = (texts){0};
    return joined;
}

/* ---- the least and the greatest of results ---- */

typedef struct leaves {
    const fxs_value **items;
    size_t n, cap, at;
    fxs_ctx *ctx;
    bool most;
} leaves;

static bool add_leaf(void *user, const fxs_value *leaf) {
    leaves *l = user;
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 8;
        const fxs_value **items = fxs_realloc(l->items, cap, sizeof *items);
        if (!items)
            return false;
        l->items = items;
        l->cap = cap;
    }
    l->items[l->n++] = leaf;
    return true;
}

static fxs_status find_leaves(leaves *l, const fxs_value *v) {
    return fxs_value_visit(v, add_leaf, l) ? FXS_OK : fxs_fail_memory(l->ctx);
}

static int64_t pick(int64_t a, int64_t b, bool most) { return (a < b) == most ? b : a; }

static fxs_status extreme_tensor(const leaves *l, fxs_tensor *a, const fxs_tensor *b,
                                 fxs_value *out) {
    fxs_tensor *t;
    *out = fxs_value_ref(*out);
    if (a->ndim != b->ndim ||
        (memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0 &&
         memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides) == 0))
        return FXS_OK;
    fxs_value_unref(out);
    FXS_TRY(fxs_tensor_to_meta(l->ctx, a, &t));
    for (int i = 0; i < t->ndim; i++) {
        t->sizes[i] = pick(a->sizes[i], b->sizes[i], l->most);
        t->strides[i] = pick(a->strides[i], b->strides[i], l->most);
    }
    *out = fxs_of_tensor(t);
    return FXS_OK;
}

static fxs_status extreme_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    leaves *l = user;
    const fxs_value *other = l->at < l->n ? l->items[l->at++] : leaf;
    if (leaf->tag == FXS_V_TENSOR && other->tag == FXS_V_TENSOR)
        return extreme_tensor(l, leaf->u.tensor, other->u.tensor, out);
    *out = fxs_value_ref(*leaf);
    if (leaf->tag == FXS_V_INT && other->tag == FXS_V_INT)
        out->u.i = pick(leaf->u.i, other->u.i, l->most);
    return FXS_OK;
}

/* *out, which is counted, becomes the least or greatest of itself and one more. */
static fxs_status merge(fxs_ctx *ctx, const fxs_value *one, bool most, fxs_value *out) {
    leaves l = {.ctx = ctx, .most = most};
    fxs_value merged = fxs_none();
    fxs_status s = find_leaves(&l, one);
    if (s == FXS_OK)
        s = fxs_value_map(ctx, NULL, out, extreme_leaf, &l, &merged);
    fxs_free(l.items);
    fxs_value_unref(out);
    *out = merged;
    return s;
}

fxs_status fxs_spread_extreme(const fxs_outline_plan *p, const fxs_node *n, bool most,
                              fxs_value *out) {
    fxs_ctx *ctx = p->m->ctx;
    FXS_TRY(fxs_value_copy(ctx, NULL, fxs_meta_extreme(&n->meta, most), out));
    for (size_t i = p->next_node[n->index]; i; i = p->next_node[i])
        FXS_TRY(merge(ctx, fxs_meta_extreme(&p->node[i]->meta, most), most, out));
    return FXS_OK;
}

/* ---- sums ---- */

static void add_each(fxs_spread *s, bool first, double flops, int64_t parameters) {
    s->flops[0] = first || flops < s->flops[0] ? flops : s->flops[0];
    s->flops[1] = first || flops > s->flops[1] ? flops : s->flops[1];
    s->parameters[0] = first || parameters < s->parameters[0] ? parameters : s->parameters[0];
    s->parameters[1] = first || parameters > s->parameters[1] ? parameters : s->parameters[1];
}

/* Statistics of several tensors as if they were one. */
static void add_stats(fxs_stats *to, const fxs_stats *one) {
    double have = (double)(to->numel - to->nan - to->inf),
           more = (double)(one->numel - one->nan - one->inf);
    double all = (double)to->numel + (double)one->numel;
    if (more > 0) {
        to->mean = have > 0 ? (to->mean * have + one->mean * more) / (have + more) : one->mean;
        to->min = have > 0 && to->min < one->min ? to->min : one->min;
        to->max = have > 0 && to->max > one->max ? to->max : one->max;
    }
    if (all > 0)
        to->zeros = (to->zeros * (double)to->numel + one->zeros * (double)one->numel) / all;
    to->nan += one->nan;
    to->inf += one->inf;
    to->numel += one->numel;
}

fxs_status fxs_spread_stats(const fxs_outline_plan *p, const fxs_node *n, fxs_node *to) {
    size_t before = to->meta.nstats;
    FXS_TRY(fxs_node_copy_stats(to, n));
    fxs_stats *stats = (fxs_stats *)to->meta.stats; /* new, and to's alone */
    for (size_t i = p->next_node[n->index]; i; i = p->next_node[i])
        for (size_t k = 0; k < n->meta.nstats && k < p->node[i]->meta.nstats; k++)
            add_stats(&stats[before + k], &p->node[i]->meta.stats[k]);
    return FXS_OK;
}

/* ---- parameters ---- */

static size_t chain_length(const size_t *next, size_t from) {
    size_t n = 1;
    for (size_t i = next[from]; i; i = next[i])
        n++;
    return n;
}

/* The module of a call; of a group that an outline made, those of the calls just inside. *out NULL:
 * only counts them. */
static size_t modules_of(const fxs_outline_plan *p, size_t call, const fxs_module **out) {
    const fxs_module_calls *c = &p->calls;
    const fxs_module *m = fxs_module_find(p->m, c->items[call].path);
    size_t n = 0;
    if (m && out)
        *out = m;
    if (m)
        return 1;
    for (size_t i = call + 1; i < c->n && fxs_module_call_within(c, i, call); i++)
        if (c->items[i].parent == call && out)
            out[n++] = fxs_module_find(p->m, c->items[i].path);
        else
            n += c->items[i].parent == call;
    return n;
}

fxs_status fxs_spread_parameters(const fxs_outline_plan *p, size_t call, int64_t *count) {
    size_t n = 0, most = 0;
    fxs_arena scratch = {0};
    for (size_t i = call, first = 1; first || i; i = p->next_call[i], first = 0)
        most += modules_of(p, i, NULL);
    const fxs_module **modules = FXS_NEW_N(&scratch, const fxs_module *, most + 1);
    if (!modules)
        return fxs_fail_memory(p->m->ctx);
    for (size_t i = call, first = 1; first || i; i = p->next_call[i], first = 0)
        n += modules_of(p, i, modules + n);
    *count = fxs_modules_parameter_count(modules, n);
    fxs_arena_clear(&scratch);
    return FXS_OK;
}

static int64_t own_parameters(const fxs_outline_plan *p, const fxs_node *n) {
    const fxs_module *m = n->kind == FXS_CALL_MODULE ? fxs_module_find(p->m, n->target) : NULL;
    return m ? fxs_module_parameter_count(m) : n->meta.parameters;
}

static const fxs_parameter *attribute_of(const fxs_outline_plan *p, size_t at) {
    return fxs_module_lookup(p->m, p->node[at]->target).param;
}

/* Of attributes: that of the first node of the chain that names the same one is counted. */
static bool is_counted(const fxs_outline_plan *p, size_t from, size_t at) {
    const fxs_parameter *a = attribute_of(p, at);
    for (size_t i = from; a && i != at; i = p->next_node[i])
        if (attribute_of(p, i) == a)
            return true;
    return false;
}

static fxs_status node_parameters(const fxs_outline_plan *p, const fxs_node *n, int64_t *sum) {
    size_t count = 0, most = chain_length(p->next_node, n->index);
    fxs_arena scratch = {0};
    const fxs_module **modules = FXS_NEW_N(&scratch, const fxs_module *, most);
    size_t i = n->index;
    *sum = 0;
    if (!modules)
        return fxs_fail_memory(p->m->ctx);
    for (size_t k = 0; k < most; k++, i = p->next_node[i]) {
        const fxs_node *one = p->node[i];
        const fxs_module *m =
            one->kind == FXS_CALL_MODULE ? fxs_module_find(p->m, one->target) : NULL;
        if (m)
            modules[count++] = m;
        else if (one->kind != FXS_GET_ATTR || !is_counted(p, n->index, i))
            *sum += one->meta.parameters;
    }
    *sum += fxs_modules_parameter_count(modules, count);
    fxs_arena_clear(&scratch);
    return FXS_OK;
}

/* ---- a node ---- */

static const char *layer_text(const fxs_outline_plan *p, const fxs_node *n, fxs_arena *arena) {
    texts t = {0};
    for (size_t i = n->index, first = 1; first || i; i = p->next_node[i], first = 0) {
        const fxs_module *m = fxs_module_find(p->m, p->node[i]->target);
        fxs_buf b = {0};
        if (m)
            fxs_buf_layer(&b, m);
        add_text(&t, &b);
    }
    return join_texts(&t, arena);
}

typedef struct arguments {
    fxs_ctx *ctx;
    fxs_arena *arena;
} arguments;

/* "[%x, ... 3 in all]" for a list that is longer in other blocks. */
static fxs_status long_list(const arguments *k, const fxs_value *made, size_t n, fxs_value *out) {
    fxs_buf b = {0};
    fxs_buf_arg(&b, made, 0);
    if (b.len && b.data[b.len - 1] == ']')
        fxs_buf_cut(&b, b.len - 1);
    fxs_buf_printf(&b, ", ... %zu in all]", n);
    fxs_status s = b.failed ? fxs_fail_memory(k->ctx)
                            : fxs_make_text(k->ctx, k->arena, FXS_V_STR, b.data, b.len, out);
    fxs_buf_free(&b);
    return s;
}

static bool is_container(const fxs_value *v) {
    return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_SLICE;
}

static fxs_status as_drawn(const arguments *k, const fxs_value *made, const fxs_value *one,
                           bool longer, fxs_value *out);

static fxs_status dict_as_drawn(const arguments *k, const fxs_value *made, const fxs_value *one,
                                bool longer, fxs_value *out) {
    size_t n = fxs_value_len(one);
    FXS_TRY(fxs_make_dict(k->ctx, k->arena, n, out));
    for (size_t i = 0; i < n; i++) {
        out->u.dict->pairs[i].key = *fxs_value_key(one, i);
        FXS_TRY(as_drawn(k, fxs_value_item(made, i), fxs_value_item(one, i), longer,
                         &out->u.dict->pairs[i].value));
    }
    return FXS_OK;
}

/* The arguments of one of the nodes, with what is drawn in the place of the nodes in them. */
static fxs_status as_drawn(const arguments *k, const fxs_value *made, const fxs_value *one,
                           bool longer, fxs_value *out) {
    size_t n = fxs_value_len(one);
    *out = one->tag == FXS_V_NODE ? *made : *one;
    if (one->tag == FXS_V_DICT && made->tag == FXS_V_DICT && n == fxs_value_len(made))
        return dict_as_drawn(k, made, one, longer, out);
    if (!is_container(one) || made->tag != one->tag)
        return FXS_OK;
    if (longer && n && fxs_value_item(one, 0)->tag == FXS_V_NODE && one->tag == FXS_V_LIST)
        return long_list(k, made, n, out);
    if (n != fxs_value_len(made))
        return FXS_OK;
    FXS_TRY(fxs_make_seq(k->ctx, k->arena, one->tag, n, out));
    out->u.seq->kind = one->u.seq->kind;
    for (size_t i = 0; i < n; i++)
        FXS_TRY(as_drawn(k, fxs_value_item(made, i), fxs_value_item(one, i), longer,
                         &out->u.seq->items[i]));
    return FXS_OK;
}

/* NULL in *out: as the node's own. */
static fxs_status args_text(const fxs_outline_plan *p, const fxs_node *n, const fxs_value *made,
                            fxs_arena *arena, bool longer, const char **out) {
    bool keywords = made->tag == FXS_V_DICT;
    texts t = {0};
    fxs_status s = FXS_OK;
    for (size_t i = n->index, first = 1; s == FXS_OK && (first || i);
         i = p->next_node[i], first = 0) {
        arguments k = {p->m->ctx, &t.arena};
        fxs_value v;
        fxs_buf b = {0};
        s = as_drawn(&k, made, keywords ? &p->node[i]->kwargs : &p->node[i]->args, longer, &v);
        if (s == FXS_OK)
            fxs_buf_arg(&b, &v, 0);
        add_text(&t, &b);
    }
    bool equal = are_equal(&t);
    const char *text = join_texts(&t, arena);
    if (s == FXS_OK && !text)
        s = fxs_fail_memory(p->m->ctx);
    *out = equal ? NULL : text;
    return s;
}

static bool same_leaf(const fxs_value *a, const fxs_value *b) {
    if (a->tag == FXS_V_TENSOR && b->tag == FXS_V_TENSOR)
        return memcmp(a->u.tensor->sizes, b->u.tensor->sizes,
                      (size_t)a->u.tensor->ndim * sizeof *a->u.tensor->sizes) == 0;
    return a->tag != FXS_V_INT || a->u.i == b->u.i;
}

/* Notes in s whether its results or the number of its inputs vary. */
static fxs_status note_ranges(fxs_ctx *ctx, fxs_spread *s) {
    leaves a = {.ctx = ctx}, b = {.ctx = ctx};
    fxs_status status = find_leaves(&a, &s->least);
    if (status == FXS_OK)
        status = find_leaves(&b, &s->most);
    s->varies = s->most_inputs != s->fewest_inputs;
    for (size_t i = 0; status == FXS_OK && i < a.n && i < b.n; i++)
        s->varies = s->varies || !same_leaf(a.items[i], b.items[i]);
    fxs_free(a.items);
    fxs_free(b.items);
    return status;
}

static fxs_status count_node(const fxs_outline_plan *p, const fxs_node *n, fxs_node *made,
                             fxs_spread *s) {
    fxs_meta *to = &made->meta;
    to->flops = to->bytes_read = to->bytes_written = to->seconds = to->overlay = 0;
    for (size_t i = n->index, first = 1; first || i; i = p->next_node[i], first = 0) {
        const fxs_node *one = p->node[i];
        fxs_meta_add_costs(to, &one->meta);
        add_each(s, first, one->meta.flops, own_parameters(p, one));
        s->bytes += fxs_result_bytes(&one->meta);
        s->fewest_inputs =
            first || one->ninputs < s->fewest_inputs ? one->ninputs : s->fewest_inputs;
        s->most_inputs = first || one->ninputs > s->most_inputs ? one->ninputs : s->most_inputs;
        s->nodes++;
    }
    FXS_TRY(node_parameters(p, n, &to->parameters));
    FXS_TRY(fxs_spread_extreme(p, n, false, &s->least));
    FXS_TRY(fxs_spread_extreme(p, n, true, &s->most));
    return note_ranges(p->m->ctx, s);
}

static fxs_status write_texts(const fxs_outline_plan *p, const fxs_node *n, const fxs_node *made,
                              fxs_spread *s, fxs_arena *arena) {
    if (n->kind == FXS_CALL_MODULE && fxs_module_find(p->m, n->target) &&
        !(s->layer = layer_text(p, n, arena)))
        return fxs_fail_memory(p->m->ctx);
    bool longer = s->most_inputs != s->fewest_inputs;
    FXS_TRY(args_text(p, n, &made->args, arena, longer, &s->args));
    return args_text(p, n, &made->kwargs, arena, longer, &s->kwargs);
}

fxs_status fxs_spread_node(fxs_outline_writing *w, const fxs_node *n, fxs_node *made) {
    const fxs_outline_plan *p = w->p;
    fxs_arena *arena;
    if (!p->next_node[n->index])
        return FXS_OK;
    fxs_spread *s = fxs_spread_new(&arena);
    if (!s)
        return fxs_fail_memory(w->g->ctx);
    fxs_spread_unref(made->meta.spread);
    made->meta.spread = s;
    FXS_TRY(count_node(p, n, made, s));
    FXS_TRY(fxs_spread_each(p, n, s, arena));
    return write_texts(p, n, made, s, arena);
}

/* ---- lists of results that are drawn as one ---- */

/* Is item i of the list the same as the one before, for another node? */
static bool is_again(const fxs_value *made, const fxs_value *from, size_t i) {
    if (i == 0 || i >= fxs_value_len(made) || made->tag != FXS_V_LIST ||
        fxs_value_len(made) != fxs_value_len(from))
        return false;
    const fxs_value *x = fxs_value_item(made, i - 1), *y = fxs_value_item(made, i);
    return x->tag == FXS_V_NODE && y->tag == FXS_V_NODE && x->u.node == y->u.node &&
           fxs_value_item(from, i - 1)->u.node != fxs_value_item(from, i)->u.node;
}

static size_t count_again(const fxs_value *made, const fxs_value *from) {
    size_t n = 0;
    for (size_t i = 1; i < fxs_value_len(made); i++)
        n += is_again(made, from, i);
    return n;
}

/* The list with each once, and its text: "[%x, %a \303\227 3]". */
static fxs_status join_list(fxs_graph *g, const fxs_value *made, const fxs_value *from,
                            fxs_value *list, fxs_value *text) {
    size_t n = fxs_value_len(made), k = 0;
    fxs_buf b = {0};
    FXS_TRY(fxs_make_seq(g->ctx, &g->arena, FXS_V_LIST, n - count_again(made, from), list));
    for (size_t i = 0; i < n;) {
        size_t times = 1;
        list->u.seq->items[k++] = *fxs_value_item(made, i);
        fxs_buf_puts(&b, i ? ", " : "[");
        fxs_buf_arg(&b, fxs_value_item(made, i++), 0);
        for (; is_again(made, from, i); i++)
            times++;
        if (times > 1)
            fxs_buf_printf(&b, " \303\227 %zu", times); /* a multiplication sign */
    }
    fxs_buf_putc(&b, ']');
    fxs_status s = b.failed ? fxs_fail_memory(g->ctx)
                            : fxs_make_text(g->ctx, &g->arena, FXS_V_STR, b.data, b.len, text);
    fxs_buf_free(&b);
    return s;
}

static fxs_status say_arguments(const fxs_node *n, fxs_node *made, const fxs_value *said) {
    fxs_arena *arena;
    fxs_buf b = {0};
    fxs_spread *s = fxs_spread_new(&arena);
    made->meta.spread = s;
    fxs_buf_arg(&b, said, 0);
    if (s && !b.failed)
        s->args = fxs_arena_dup(arena, b.data, b.len);
    fxs_buf_free(&b);
    if (!s || !s->args)
        return fxs_fail_memory(made->graph->ctx);
    s->nodes = 1;
    s->fewest_inputs = s->most_inputs = n->ninputs;
    FXS_TRY(fxs_value_copy(made->graph->ctx, NULL, &made->meta.result, &s->least));
    return fxs_value_copy(made->graph->ctx, NULL, &made->meta.result, &s->most);
}

fxs_status fxs_spread_join(fxs_outline_writing *w, const fxs_node *n, fxs_node *made) {
    size_t nargs = fxs_value_len(&made->args);
    fxs_value args, said;
    bool any = false;
    for (size_t i = 0; i < nargs && fxs_value_len(&n->args) == nargs; i++)
        any = any || count_again(fxs_value_item(&made->args, i), fxs_value_item(&n->args, i));
    if (!any || w->p->next_node[n->index])
        return FXS_OK;
    FXS_TRY(fxs_make_seq(w->g->ctx, &w->g->arena, FXS_V_TUPLE, nargs, &args));
    FXS_TRY(fxs_make_seq(w->g->ctx, &w->g->arena, FXS_V_TUPLE, nargs, &said));
    for (size_t i = 0; i < nargs; i++) {
        const fxs_value *v = fxs_value_item(&made->args, i), *from = fxs_value_item(&n->args, i);
        args.u.seq->items[i] = said.u.seq->items[i] = *v;
        if (count_again(v, from))
            FXS_TRY(join_list(w->g, v, from, &args.u.seq->items[i], &said.u.seq->items[i]));
    }
    FXS_TRY(fxs_node_adopt_args(made, &args, &made->kwargs));
    return say_arguments(n, made, &said);
}

/* ---- a box ---- */

static fxs_status join_extremes(fxs_outline_writing *w, const fxs_outline_found *outputs, bool most,
                                fxs_value *out) {
    if (outputs->n == 1)
        return fxs_spread_extreme(w->p, outputs->items[0].u.node, most, out);
    FXS_TRY(fxs_make_seq(w->g->ctx, NULL, FXS_V_TUPLE, outputs->n, out));
    for (size_t i = 0; i < outputs->n; i++)
        FXS_TRY(fxs_spread_extreme(w->p, outputs->items[i].u.node, most, &out->u.seq->items[i]));
    return FXS_OK;
}

/* The nodes outside of a call that it gets results from, each once. */
static fxs_status find_inputs(fxs_outline_writing *w, size_t call, fxs_outline_found *inputs) {
    const fxs_module_call *c = &w->p->calls.items[call];
    for (size_t i = c->first; i <= c->last; i++)
        for (size_t k = 0; k < w->p->node[i]->ninputs; k++) {
            fxs_node *from = w->p->node[i]->inputs[k];
            if (from->index < c->first || from->index > c->last)
                FXS_TRY(fxs_outline_find_once(w, inputs, fxs_of_node(from)));
        }
    return FXS_OK;
}

static void add_result(texts *t, const fxs_node *n) {
    for (int most = 0; most < 2; most++) {
        fxs_buf b = {0};
        fxs_buf_result(&b, fxs_meta_extreme(&n->meta, most));
        add_text(t, &b);
    }
}

/* The i-th input of all calls, or where some have more than others all of them, as one text; "":
 * none is known; NULL: memory is out. */
static const char *input_text(const fxs_spread *s, const fxs_outline_found *inputs, size_t i,
                              bool alike, fxs_arena *arena) {
    texts t = {0};
    fxs_buf b = {0};
    for (size_t k = 0; k < s->nodes; k++)
        for (size_t at = i; at < inputs[k].n; at += alike ? inputs[k].n : 1)
            if (inputs[k].items[at].u.node->meta.outcome == FXS_DONE)
                add_result(&t, inputs[k].items[at].u.node);
    bool none = !t.n && !t.failed;
    const char *text = join_texts(&t, arena);
    if (none || !text || alike)
        return none ? "" : text;
    fxs_buf_printf(&b, "%zu", s->fewest_inputs);
    if (s->fewest_inputs != s->most_inputs)
        fxs_buf_printf(&b, "\xe2\x80\xa6%zu", s->most_inputs); /* an ellipsis */
    fxs_buf_printf(&b, " results, %s", text);
    text = b.failed ? NULL : fxs_arena_dup(arena, b.data, b.len);
    fxs_buf_free(&b);
    return text;
}

static fxs_status write_inputs(fxs_outline_writing *w, const fxs_node *box, fxs_spread *s,
                               fxs_arena *arena, const fxs_outline_found *inputs) {
    bool alike =
        s->fewest_inputs == s->most_inputs && (s->nodes > 1 || s->most_inputs == box->ninputs);
    size_t n = alike ? s->most_inputs : 1;
    const char **all = FXS_NEW_N(arena, const char *, n + 1);
    for (size_t i = 0; all && i < n; i++) {
        const char *text = input_text(s, inputs, i, alike, arena);
        if (!text)
            return fxs_fail_memory(w->g->ctx);
        if (*text)
            all[s->ninputs++] = text;
    }
    s->inputs = all;
    return all ? FXS_OK : fxs_fail_memory(w->g->ctx);
}

static double flops_in(const fxs_outline_plan *p, size_t call) {
    double flops = 0;
    for (size_t i = p->calls.items[call].first; i <= p->calls.items[call].last; i++)
        flops += p->node[i]->meta.flops;
    return flops;
}

static fxs_status count_calls(fxs_outline_writing *w, size_t call, fxs_spread *s,
                              fxs_outline_found *inputs) {
    const fxs_outline_plan *p = w->p;
    for (size_t i = call, first = 1; first || i; i = p->next_call[i], first = 0) {
        const fxs_module *m = fxs_module_find(p->m, p->calls.items[i].path);
        fxs_outline_found *in = &inputs[s->nodes++];
        FXS_TRY(find_inputs(w, i, in));
        s->fewest_inputs = first || in->n < s->fewest_inputs ? in->n : s->fewest_inputs;
        s->most_inputs = first || in->n > s->most_inputs ? in->n : s->most_inputs;
        add_each(s, first, flops_in(p, i), m ? fxs_module_parameter_count(m) : 0);
    }
    return FXS_OK;
}

static double chain_bytes(const fxs_outline_plan *p, const fxs_node *n) {
    double bytes = 0;
    for (size_t i = n->index, first = 1; first || i; i = p->next_node[i], first = 0)
        bytes += fxs_result_bytes(&p->node[i]->meta);
    return bytes;
}

/* Does it get a result of a block that is not drawn? */
static bool gets_folded(const fxs_outline_plan *p, size_t call) {
    const fxs_module_call *c = &p->calls.items[call];
    for (size_t i = c->first; p->opt->fold && i <= c->last; i++)
        for (size_t k = 0; k < p->node[i]->ninputs; k++)
            if (fxs_outline_like(p, p->node[i]->inputs[k]) != p->node[i]->inputs[k])
                return true;
    return false;
}

fxs_status fxs_spread_box(fxs_outline_writing *w, size_t call, fxs_node *box,
                          const fxs_outline_found *outputs) {
    fxs_arena *arena, scratch = {0};
    size_t n = chain_length(w->p->next_call, call);
    if (n == 1 && !gets_folded(w->p, call))
        return FXS_OK;
    fxs_spread *s = fxs_spread_new(&arena);
    fxs_outline_found *inputs = FXS_NEW_N(&scratch, fxs_outline_found, n);
    box->meta.spread = s;
    fxs_status status = s && inputs ? count_calls(w, call, s, inputs) : fxs_fail_memory(w->g->ctx);
    if (status == FXS_OK)
        status = write_inputs(w, box, s, arena, inputs);
    fxs_arena_clear(&scratch);
    FXS_TRY(status);
    for (size_t i = 0; i < outputs->n; i++)
        s->bytes += chain_bytes(w->p, outputs->items[i].u.node);
    if (n > 1)
        FXS_TRY(fxs_spread_each_box(w->p, outputs, n, s, arena));
    FXS_TRY(join_extremes(w, outputs, false, &s->least));
    FXS_TRY(join_extremes(w, outputs, true, &s->most));
    return note_ranges(w->g->ctx, s);
}

static fxs_status join_known(fxs_ctx *ctx, const fxs_spread *s, bool most, fxs_value *out) {
    FXS_TRY(fxs_value_copy(ctx, NULL, &s->each[0], out));
    for (size_t i = 1; i < s->neach; i++)
        FXS_TRY(merge(ctx, &s->each[i], most, out));
    return FXS_OK;
}

static fxs_status join_again(fxs_ctx *ctx, const fxs_spread *s, const fxs_leaving *outputs,
                             size_t n, bool most, fxs_value *out) {
    if (s->neach)
        return join_known(ctx, s, most, out);
    if (n == 1)
        return fxs_value_copy(ctx, NULL, fxs_meta_extreme(&outputs[0].node->meta, most), out);
    FXS_TRY(fxs_make_seq(ctx, NULL, FXS_V_TUPLE, n, out));
    for (size_t i = 0; i < n; i++)
        FXS_TRY(fxs_value_copy(ctx, NULL, fxs_meta_extreme(&outputs[i].node->meta, most),
                               &out->u.seq->items[i]));
    return FXS_OK;
}

/* What each block has is known where all have the same. */
fxs_status fxs_spread_again(const fxs_sum *sum, const fxs_leaving *outputs, size_t n) {
    fxs_meta *box = &sum->box->meta;
    fxs_ctx *ctx = sum->box->graph->ctx;
    fxs_arena *arena;
    if (sum->blocks < 2 || box->spread)
        return FXS_OK;
    fxs_spread *s = fxs_spread_new(&arena);
    box->spread = s;
    if (!s)
        return fxs_fail_memory(ctx);
    s->nodes = sum->blocks;
    if (sum->flops_each[0] == sum->flops_each[1])
        s->flops[0] = s->flops[1] = sum->flops_each[0];
    if (sum->parameters_each[0] == sum->parameters_each[1])
        s->parameters[0] = s->parameters[1] = sum->parameters_each[0];
    for (size_t i = 0; i < n; i++)
        s->bytes += fxs_result_bytes(&outputs[i].node->meta);
    FXS_TRY(fxs_spread_each_again(ctx, outputs, n, s, arena));
    FXS_TRY(join_again(ctx, s, outputs, n, false, &s->least));
    FXS_TRY(join_again(ctx, s, outputs, n, true, &s->most));
    return note_ranges(ctx, s);
}
