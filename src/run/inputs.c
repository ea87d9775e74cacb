/* inputs.c: inputs by name or in order, and their binding to placeholders. */
#include "run/inputs.h"

#include <string.h>

#include "base/pytext.h"
#include "ir/pytree.h"
#include "run/input_spec.h"

typedef struct input {
    char *text, *name; /* name NULL: by position */
    fxs_input_spec *spec;
} input;

struct fxs_inputs {
    fxs_ctx *ctx;
    input *items;
    size_t n, cap;
};

fxs_status fxs_inputs_new(fxs_ctx *ctx, fxs_inputs **out) {
    *out = fxs_alloc0(1, sizeof **out);
    if (!*out)
        return fxs_fail_memory(ctx);
    (*out)->ctx = ctx;
    return FXS_OK;
}

static void free_input(input *i) {
    fxs_free(i->text);
    fxs_free(i->name);
    fxs_input_spec_free(i->spec);
}

void fxs_inputs_free(fxs_inputs *in) {
    if (!in)
        return;
    for (size_t i = 0; i < in->n; i++)
        free_input(&in->items[i]);
    fxs_free(in->items);
    fxs_free(in);
}

/* Takes the item over, also when it fails. */
static fxs_status push(fxs_inputs *in, input *item) {
    for (size_t i = 0; item->name && i < in->n; i++) {
        if (in->items[i].name && strcmp(in->items[i].name, item->name) == 0) {
            fxs_status s = fxs_fail(in->ctx, FXS_EINVAL, "input '%s' is given twice", item->name);
            free_input(item);
            return s;
        }
    }
    if (in->n == in->cap) {
        size_t cap = in->cap ? in->cap * 2 : 4;
        input *p = fxs_realloc(in->items, cap, sizeof *p);
        if (!p) {
            free_input(item);
            return fxs_fail_memory(in->ctx);
        }
        in->items = p;
        in->cap = cap;
    }
    in->items[in->n++] = *item;
    return FXS_OK;
}

/* [NAME=]SPEC */
static fxs_status parse(fxs_inputs *in, input *i, const char *spec) {
    size_t name = 0;
    i->text = fxs_memdup0(spec, strlen(spec));
    if (!i->text)
        return fxs_fail_memory(in->ctx);
    while (fxs_is_name_byte(spec[name]) || spec[name] == '*')
        name++;
    if (spec[name] == '=') {
        if (name == 0)
            return fxs_input_refuse(in->ctx, spec, "its name is empty");
        i->name = fxs_memdup0(spec, name);
        if (!i->name)
            return fxs_fail_memory(in->ctx);
        spec += name + 1;
    }
    return fxs_input_parse(in->ctx, i->text, spec, &i->spec);
}

fxs_status fxs_inputs_add(fxs_inputs *in, const char *spec) {
    input i = {0};
    FXS_TRY(fxs_need_text(in->ctx, spec, "fxs_inputs_add: the input"));
    fxs_status s = parse(in, &i, spec);
    if (s != FXS_OK) {
        free_input(&i);
        return s;
    }
    return push(in, &i);
}

fxs_status fxs_inputs_add_value(fxs_inputs *in, const char *name, fxs_value v) {
    if (name && !*name) {
        fxs_value_unref(&v);
        return fxs_need_text(in->ctx, name, "fxs_inputs_add_value: name");
    }
    input i = {.spec = fxs_input_spec_of(v),
               .name = name ? fxs_memdup0(name, strlen(name)) : NULL,
               .text = fxs_memdup0("value", 5)};
    if (!i.spec || !i.text || (name && !i.name)) {
        free_input(&i);
        return fxs_fail_memory(in->ctx);
    }
    return push(in, &i);
}

/* ---- binding
 * ---------------------------------------------------------------------------------------------- */

static const char *bare_name(const fxs_node *n) { return n->target + strspn(n->target, "*"); }

static bool names_placeholder(const input *i, const fxs_node *n) {
    return i->name && (strcmp(i->name, n->name) == 0 || strcmp(i->name, bare_name(n)) == 0 ||
                       strcmp(i->name, n->target) == 0);
}

static const fxs_node *next_placeholder(const fxs_node *n) {
    while (n && n->kind != FXS_PLACEHOLDER)
        n = fxs_node_next(n);
    return n;
}

static fxs_status refuse_input(const fxs_inputs *in, const fxs_graph *g, const input *i) {
    fxs_buf names = {0};
    size_t count = 0;
    for (const fxs_node *n = next_placeholder(fxs_graph_first(g)); n;
         n = next_placeholder(fxs_node_next(n)))
        fxs_buf_printf(&names, count++ ? ", %s" : "%s", n->target);
    for (size_t k = 0; g->pytree && k < g->pytree->nparams; k++)
        fxs_buf_printf(&names, k ? ", %s" : ", or with trees %s", g->pytree->params[k]);
    fxs_status s;
    if (names.failed)
        s = fxs_fail_memory(in->ctx);
    else if (i->name)
        s = fxs_fail(in->ctx, FXS_EINVAL, "the model has no input '%s'; its inputs are: %s",
                     i->name, count ? names.data : "none");
    else
        s = fxs_fail(in->ctx, FXS_EINVAL, "input '%s' is one too many; the model's inputs are: %s",
                     i->text, count ? names.data : "none");
    fxs_buf_free(&names);
    return s;
}

/* *args takes all inputs by position that are left, **kwargs none. */
static fxs_status bind_star(const fxs_inputs *in, const fxs_node *n, fxs_run_mode mode, bool *used,
                            fxs_value *out) {
    if (n->target[1] == '*')
        return fxs_make_dict(in->ctx, NULL, 0, out);
    size_t count = 0;
    for (size_t i = 0; i < in->n; i++)
        count += !used[i] && !in->items[i].name;
    FXS_TRY(fxs_make_seq(in->ctx, NULL, FXS_V_TUPLE, count, out));
    for (size_t i = 0, k = 0; i < in->n; i++) {
        if (used[i] || in->items[i].name)
            continue;
        used[i] = true;
        FXS_TRY(fxs_input_make(in->ctx, in->items[i].spec, in->items[i].text, mode,
                               &out->u.seq->items[k++]));
    }
    return FXS_OK;
}

static fxs_status bind_one(const fxs_inputs *in, const fxs_node *n, fxs_run_mode mode, bool *used,
                           fxs_value *out) {
    for (size_t i = 0; i < in->n; i++) {
        if (used[i] || !names_placeholder(&in->items[i], n))
            continue;
        used[i] = true;
        return fxs_input_make(in->ctx, in->items[i].spec, n->target, mode, out);
    }
    if (n->target[0] == '*')
        return bind_star(in, n, mode, used, out);
    for (size_t i = 0; i < in->n; i++) {
        if (used[i] || in->items[i].name)
            continue;
        used[i] = true;
        return fxs_input_make(in->ctx, in->items[i].spec, n->target, mode, out);
    }
    return FXS_OK;
}

/* ---- trees: an input by the name of a parameter of forward, whose leaves are placeholders */

static bool gives_tree_by_position(const fxs_inputs *in) {
    for (size_t i = 0; i < in->n; i++)
        if (!in->items[i].name && fxs_input_spec_is_tree(in->items[i].spec))
            return true;
    return false;
}

/* The input that is a parameter's; in->n: none. */
static size_t find_parameter(const fxs_inputs *in, const char *param, bool by_position,
                             const bool *used) {
    size_t first = in->n;
    param += strspn(param, "*");
    for (size_t i = in->n; i-- > 0;) {
        if (used[i])
            continue;
        if (in->items[i].name && strcmp(in->items[i].name, param) == 0)
            return i;
        if (!in->items[i].name && by_position)
            first = i;
    }
    return first;
}

static fxs_status make_parameters(const fxs_inputs *in, const fxs_pytree *t, fxs_run_mode mode,
                                  bool *used, fxs_value *args) {
    bool by_position = gives_tree_by_position(in);
    for (size_t i = 0; i < t->nparams; i++) {
        size_t k = find_parameter(in, t->params[i], by_position, used);
        args[i].tag = FXS_V_UNKNOWN;
        if (k == in->n)
            continue;
        used[k] = true;
        FXS_TRY(fxs_input_make(in->ctx, in->items[k].spec, t->params[i], mode, &args[i]));
    }
    return FXS_OK;
}

/* values: one a placeholder; what is not given as part of a tree stays unknown. */
static fxs_status bind_trees(const fxs_inputs *in, const fxs_graph *g, fxs_run_mode mode,
                             bool *used, fxs_value *values, size_t n) {
    const fxs_pytree *t = g->pytree;
    fxs_value *args = fxs_alloc0(t->nparams, sizeof *args), flat = fxs_none();
    if (!args)
        return fxs_fail_memory(g->ctx);
    fxs_status s = make_parameters(in, t, mode, used, args);
    s = s ? s : fxs_pytree_flatten(g, args, t->nparams, &flat);
    for (size_t i = 0; i < n && i < fxs_value_len(&flat); i++)
        values[i] = fxs_value_ref(*fxs_value_item(&flat, i));
    fxs_value_unref(&flat);
    for (size_t i = 0; i < t->nparams; i++)
        fxs_value_unref(&args[i]);
    fxs_free(args);
    return s;
}

static fxs_status bind_all(const fxs_inputs *in, const fxs_graph *g, fxs_run_mode mode, bool *used,
                           fxs_value *values, size_t count) {
    size_t k = 0;
    if (g->pytree)
        FXS_TRY(bind_trees(in, g, mode, used, values, count));
    for (const fxs_node *n = next_placeholder(fxs_graph_first(g)); n;
         n = next_placeholder(fxs_node_next(n)), k++)
        if (values[k].tag == FXS_V_UNKNOWN)
            FXS_TRY(bind_one(in, n, mode, used, &values[k]));
    for (size_t i = 0; i < in->n; i++)
        if (!used[i])
            return refuse_input(in, g, &in->items[i]);
    return FXS_OK;
}

void fxs_input_values_free(fxs_value *values, const fxs_graph *g) {
    for (size_t i = 0, n = g->placeholders; values && i < n; i++)
        fxs_value_unref(&values[i]);
    fxs_free(values);
}

fxs_status fxs_inputs_bind(const fxs_inputs *in, const fxs_graph *g, fxs_run_mode mode,
                           fxs_value **out) {
    size_t n = g->placeholders;
    fxs_inputs none = {.ctx = g->ctx};
    in = in ? in : &none;
    *out = fxs_alloc0(n, sizeof **out);
    bool *used = fxs_alloc0(in->n, sizeof *used);
    fxs_status s = *out && used ? FXS_OK : fxs_fail_memory(g->ctx);
    for (size_t i = 0; s == FXS_OK && i < n; i++)
        (*out)[i].tag = FXS_V_UNKNOWN;
    if (s == FXS_OK)
        s = bind_all(in, g, mode, used, *out, n);
    fxs_free(used);
    if (s != FXS_OK) {
        fxs_input_values_free(*out, g);
        *out = NULL;
    }
    return s;
}
