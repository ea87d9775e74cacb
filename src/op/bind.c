/* bind.c: puts a call's positional and keyword arguments into the order of a schema, checks types,
 * fills defaults. */
#include <string.h>

#include "op/schema.h"

typedef struct binding {
    fxs_ctx *ctx;
    fxs_arena *arena;
    const char *op;
    const char *spelling; /* NULL: called by the row's name */
    const fxs_schema *schema;
    fxs_value *out;
    bool raw;    /* nodes are values that are not known yet, and everything stays as it was given */
    bool strict; /* no tensor stands for a number */
    bool quiet;  /* an overload is only tried: what does not fit needs no words */
    bool given[FXS_MAX_ARGS];
} binding;

static bool is_method(const binding *b) {
    return b->spelling && strncmp(b->spelling, "Tensor.", 7) == 0;
}

#define REFUSE(b, status, ...) ((b)->quiet ? (status) : fxs_fail((b)->ctx, status, __VA_ARGS__))

/* PyTorch takes a bool for a float or a number, but not for an int. */
static bool is_int(const fxs_value *v) { return v->tag == FXS_V_INT; }
static bool is_whole(const fxs_value *v) { return is_int(v) || v->tag == FXS_V_BOOL; }

/* A tensor of one integer element is an int where torch takes one (x.view(n) with n =
 * torch.tensor(3)). */
static bool is_int_like(const fxs_value *v) {
    return is_int(v) ||
           (v->tag == FXS_V_TENSOR && v->u.tensor->storage && fxs_tensor_numel(v->u.tensor) == 1 &&
            !fxs_is_floating(v->u.tensor->dtype));
}

static bool is_list(const fxs_value *v) { return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE; }

/* PyTorch looks at the first item of a list to see whether it is one of ints, and takes a bool for
 * an int behind it. */
static bool all_ints(const fxs_value *v) {
    if (!is_list(v))
        return false;
    for (size_t i = 0; i < v->u.seq->len; i++)
        if (!is_int_like(&v->u.seq->items[i]) && (i == 0 || v->u.seq->items[i].tag != FXS_V_BOOL))
            return false;
    return true;
}

static bool all_tensors(const fxs_value *v) {
    if (!is_list(v))
        return false;
    for (size_t i = 0; i < v->u.seq->len; i++)
        if (v->u.seq->items[i].tag != FXS_V_TENSOR && v->u.seq->items[i].tag != FXS_V_NONE)
            return false;
    return true;
}

/* PyTorch reads a number off a tensor that has no dimensions and no gradient; an int off one of
 * integers. */
static bool is_number_tensor(const fxs_value *v, fxs_type t) {
    const fxs_tensor *x = v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
    if (!x || x->ndim > 0 || x->requires_grad)
        return false;
    return t == FXS_T_SCALAR || t == FXS_T_NUMBER || t == FXS_T_FLOAT ||
           (t == FXS_T_INT && fxs_is_integral(x->dtype));
}

static bool fits_type(const fxs_value *v, fxs_type t, const fxs_param *p) {
    switch (t) {
    case FXS_T_TENSOR:
        return v->tag == FXS_V_TENSOR;
    case FXS_T_TENSORS:
        return all_tensors(v);
    case FXS_T_INT:
        return is_int(v);
    case FXS_T_INTS:
        return (p->count && is_int_like(v)) || all_ints(v);
    case FXS_T_FLOAT:
        return is_whole(v) || v->tag == FXS_V_FLOAT;
    case FXS_T_SCALAR:
        return is_whole(v) || v->tag == FXS_V_FLOAT || v->tag == FXS_V_COMPLEX;
    case FXS_T_NUMBER:
        return is_whole(v) || v->tag == FXS_V_FLOAT;
    case FXS_T_BOOL:
        return v->tag == FXS_V_BOOL;
    case FXS_T_STR:
        return v->tag == FXS_V_STR ||
               v->tag == FXS_V_DEVICE; /* a bare word cpu reads as a device */
    case FXS_T_DTYPE:
        return v->tag == FXS_V_DTYPE;
    case FXS_T_DEVICE:
        return v->tag == FXS_V_DEVICE || v->tag == FXS_V_STR;
    case FXS_T_LAYOUT:
        return v->tag == FXS_V_LAYOUT;
    case FXS_T_MEMORY_FORMAT:
        return v->tag == FXS_V_MEMORY_FORMAT;
    case FXS_T_ANY:
        return true;
    default:
        return false;
    }
}

static void type_text(const fxs_param *p, fxs_buf *b) {
    static const char *const names[] = {"Tensor",
                                        "list of Tensors",
                                        "int",
                                        "list of ints",
                                        "float",
                                        "number",
                                        "number",
                                        "bool",
                                        "str",
                                        "torch.dtype",
                                        "torch.device",
                                        "torch.layout",
                                        "torch.memory_format",
                                        "anything"};
    bool first = true;
    for (int t = 0; t < FXS_T_COUNT; t++) {
        if (!(p->types & 1u << t))
            continue;
        fxs_buf_printf(b, first ? "%s" : " or %s", names[t]);
        first = false;
    }
    if (p->optional)
        fxs_buf_puts(b, " or None");
}

static fxs_status wrong_type(binding *b, int i, const fxs_value *v) {
    fxs_buf want = {0}, have = {0};
    if (b->quiet)
        return FXS_ETYPE;
    type_text(&b->schema->params[i], &want);
    fxs_buf_puts(&have, fxs_value_type_name(v));
    if (v->tag == FXS_V_TENSOR || v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE ||
        v->tag == FXS_V_STR) {
        fxs_buf_putc(&have, ' ');
        fxs_buf_repr(&have, v, &(fxs_repr){0});
    }
    fxs_status s = want.failed || have.failed
                       ? fxs_fail_memory(b->ctx)
                       : REFUSE(b, FXS_ETYPE, "%s: argument '%s' must be %s, not %s", b->op,
                                b->schema->params[i].name, want.data, have.data);
    fxs_buf_free(&want);
    fxs_buf_free(&have);
    return s;
}

static int64_t int_of(const fxs_value *v) {
    if (v->tag == FXS_V_TENSOR)
        return fxs_load_int(v->u.tensor->dtype, fxs_tensor_data(v->u.tensor));
    return v->tag == FXS_V_BOOL ? v->u.b : v->u.i;
}

/* One int for int[N] becomes N of them; tensors of one element become ints. */
static fxs_status normal_ints(binding *b, int i, const fxs_value *v) {
    const fxs_param *p = &b->schema->params[i];
    bool one = is_int_like(v);
    size_t n = one ? (size_t)p->count : fxs_value_len(v);
    if (p->count && !one && n == 1) { /* (3,) counts as 3, as in torch */
        v = fxs_value_item(v, 0);
        one = true;
        n = (size_t)p->count;
    }
    if (p->count && n != (size_t)p->count)
        return REFUSE(b, FXS_ETYPE, "%s: argument '%s' must have %d items, not %d", b->op, p->name,
                      p->count, (int)n);
    FXS_TRY(fxs_make_seq(b->ctx, b->arena, FXS_V_LIST, n, &b->out[i]));
    for (size_t k = 0; k < n; k++)
        b->out[i].u.seq->items[k] = fxs_int(int_of(one ? v : fxs_value_item(v, k)));
    return FXS_OK;
}

/* The number that a tensor without dimensions holds. */
static fxs_status read_number(binding *b, int i, fxs_type t) {
    const fxs_tensor *x = b->out[i].u.tensor;
    double z[2];
    if (!x->storage)
        return REFUSE(b, FXS_EUNKNOWN, "%s: argument '%s' is not known without computing values",
                      b->op, b->schema->params[i].name);
    const void *at = fxs_tensor_data(x);
    fxs_load_pair(x->dtype, at, z);
    if (fxs_is_complex(x->dtype) && (t == FXS_T_FLOAT || t == FXS_T_NUMBER) && z[1] != 0)
        return REFUSE(b, FXS_ETYPE, "%s: argument '%s' is complex", b->op,
                      b->schema->params[i].name);
    if (fxs_is_complex(x->dtype) && t == FXS_T_SCALAR)
        b->out[i] = (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {z[0], z[1]}};
    else if (x->dtype == FXS_BOOL)
        b->out[i] = fxs_bool(fxs_load_int(x->dtype, at) != 0);
    else
        b->out[i] =
            fxs_is_integral(x->dtype) ? fxs_int(fxs_load_int(x->dtype, at)) : fxs_float(z[0]);
    return FXS_OK;
}

static bool is_known(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_NODE;
}

static fxs_status put(binding *b, int i, const fxs_value *v) {
    const fxs_param *p = &b->schema->params[i];
    b->given[i] = true;
    b->out[i] = *v;
    if (b->raw && !fxs_value_visit(v, is_known, NULL))
        return FXS_OK;
    if (v->tag == FXS_V_UNKNOWN)
        return REFUSE(b, FXS_EUNKNOWN, "%s: argument '%s' is unknown", b->op, p->name);
    if (v->tag == FXS_V_NONE && p->optional)
        return FXS_OK;
    for (int t = 0; t < FXS_T_COUNT; t++) {
        if (!(p->types & 1u << t) || !fits_type(v, (fxs_type)t, p))
            continue;
        return t == FXS_T_INTS && !b->raw ? normal_ints(b, i, v) : FXS_OK;
    }
    for (int t = 0; t < FXS_T_COUNT && !b->strict; t++)
        if (p->types & 1u << t && is_number_tensor(v, (fxs_type)t))
            return b->raw ? FXS_OK : read_number(b, i, (fxs_type)t);
    return wrong_type(b, i, v);
}

/* x.view(2, -1): the rest of the positional arguments are the list, unless the one argument is a
 * list itself. */
static fxs_status put_variadic(binding *b, int i, const fxs_value *args, size_t from, size_t n) {
    const fxs_value *first = fxs_value_item(args, from);
    if (n - from == 1 && (is_list(first) || first->tag == FXS_V_NONE))
        return put(b, i, first);
    fxs_value list;
    FXS_TRY(fxs_make_seq(b->ctx, b->arena, FXS_V_LIST, n - from, &list));
    for (size_t k = from; k < n; k++)
        list.u.seq->items[k - from] = *fxs_value_item(args, k);
    return put(b, i, &list);
}

/* Parameters that the row has for some of its spellings: PyTorch's functionals wrap operators and
 * add to them. */
static bool has_param(const binding *b, int i) {
    static const struct {
        const char *param, *spelling;
        bool has; /* only spellings with this part have it; else all but these */
    } some[] = {{"inplace", "torch.nn.functional.", true},
                {"return_indices", "torch.nn.functional.", true},
                {"cudnn_enable", "torch.nn.functional.", false},
                {"cudnn_enabled", "torch.nn.functional.", false},
                {"rounding_mode", "true_divide", false},
                {"recompute_scale_factor", ".upsample", false},
                {"antialias", ".upsample", false},
                {"device", "Tensor.cpu", false},
                {"non_blocking", "Tensor.cpu", false},
                {"pin_memory", "Tensor.new_tensor", false}};
    /* torchvision's functions share their rows with none of PyTorch's. */
    if (!b->spelling || strncmp(b->spelling, "torchvision.", 12) == 0)
        return true;
    if (strcmp(b->schema->params[i].name, "inplace") == 0 &&
        b->spelling[strlen(b->spelling) - 1] == '_')
        return false;
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        if (strcmp(some[k].param, b->schema->params[i].name) == 0 &&
            (strstr(b->spelling, some[k].spelling) != NULL) != some[k].has)
            return false;
    return true;
}

/* A method of a list of numbers alone takes them as separate arguments too, and when the first is a
 * list PyTorch looks at no other: x.permute((1, 0), 7). */
static bool passes_over(const binding *b, const fxs_value *first) {
    return is_list(first) && b->schema->nparams == 2 && is_method(b) &&
           b->schema->params[1].types & 1u << FXS_T_INTS;
}

/* x.permute(1, 0), torch.zeros(2, 3), but torch.permute(x, (1, 0)) alone: a function takes separate
 * numbers where it takes nothing else. */
static bool takes_separate(const binding *b, int i) {
    const fxs_param *p = &b->schema->params[i];
    return p->variadic &&
           (i == 0 || !b->spelling || is_method(b) || !(p->types & 1u << FXS_T_INTS));
}

static fxs_status put_positional(binding *b, const fxs_value *args) {
    size_t n = fxs_value_len(args);
    if (n > 2 && passes_over(b, fxs_value_item(args, 1)))
        n = 2;
    for (size_t k = 0; k < n; k++) {
        int i = (int)k;
        if (i >= b->schema->nparams || b->schema->params[i].keyword_only || !has_param(b, i))
            return REFUSE(b, FXS_ETYPE, "%s: takes at most %d positional arguments, not %d", b->op,
                          i, (int)n);
        if (takes_separate(b, i))
            return put_variadic(b, i, args, k, n);
        FXS_TRY(put(b, i, fxs_value_item(args, k)));
    }
    return FXS_OK;
}

/* torch.f(input=x) and x.f() are one schema, and axis and keepdims are numpy's names, which torch
 * takes too. */
static int other_name(const binding *b, const char *name) {
    static const char *const names[][2] = {
        {"input", "self"}, {"axis", "dim"}, {"keepdims", "keepdim"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int at = strcmp(names[i][0], name) == 0 ? fxs_schema_index(b->schema, names[i][1]) : -1;
        if (at >= 0 && !b->given[at] && (i > 0 || at == 0))
            return at;
    }
    return -1;
}

static fxs_status put_keywords(binding *b, const fxs_value *kwargs) {
    for (size_t k = 0; k < fxs_value_len(kwargs); k++) {
        const char *name = fxs_value_text(fxs_value_key(kwargs, k));
        int i = name ? fxs_schema_index(b->schema, name) : -1;
        if (i < 0 && name)
            i = other_name(b, name);
        if (i < 0 || !has_param(b, i))
            return REFUSE(b, FXS_ETYPE, "%s: unknown argument '%s'", b->op, name ? name : "?");
        if (b->given[i])
            return REFUSE(b, FXS_ETYPE, "%s: argument '%s' is given twice", b->op, name);
        FXS_TRY(put(b, i, fxs_value_item(kwargs, k)));
    }
    return FXS_OK;
}

static fxs_status bind(binding *b, const fxs_value *args, const fxs_value *kwargs) {
    FXS_TRY(put_positional(b, args));
    return kwargs ? put_keywords(b, kwargs) : FXS_OK;
}

static fxs_status missing(const binding *b, int i) {
    return REFUSE(b, FXS_ETYPE, "%s: argument '%s' is missing", b->op, b->schema->params[i].name);
}

static fxs_status bind_all(binding *b, const fxs_value *args, const fxs_value *kwargs) {
    const fxs_schema *s = b->schema;
    FXS_TRY(bind(b, args, kwargs));
    for (int i = 0; i < s->nparams; i++) {
        if (b->given[i])
            continue;
        if (!s->params[i].has_default)
            return missing(b, i);
        if (s->params[i].fallback.tag == FXS_V_NONE)
            b->out[i] = fxs_none();
        else
            FXS_TRY(put(b, i, &s->params[i].fallback));
    }
    if (is_method(b) && s->nparams && !b->raw && b->out[0].tag != FXS_V_TENSOR &&
        b->out[0].tag != FXS_V_NODE && b->out[0].tag != FXS_V_UNKNOWN)
        return REFUSE(b, FXS_ETYPE, "%s: a method of tensors can't be called on %s", b->op,
                      fxs_value_type_name(&b->out[0]));
    return FXS_OK;
}

fxs_status fxs_schema_bind(fxs_ctx *ctx, fxs_arena *a, const char *op_name, const char *spelling,
                           const fxs_schema *s, const fxs_value *args, const fxs_value *kwargs,
                           fxs_value *out) {
    binding b = {
        .ctx = ctx, .arena = a, .op = op_name, .spelling = spelling, .schema = s, .out = out};
    return bind_all(&b, args, kwargs);
}

fxs_status fxs_schema_try(fxs_ctx *ctx, fxs_arena *a, const char *spelling, bool strict,
                          const fxs_schema *s, const fxs_value *args, const fxs_value *kwargs,
                          fxs_value *out) {
    binding b = {.ctx = ctx,
                 .arena = a,
                 .spelling = spelling,
                 .schema = s,
                 .out = out,
                 .strict = strict,
                 .quiet = true};
    return bind_all(&b, args, kwargs);
}

fxs_status fxs_schema_put(fxs_ctx *ctx, fxs_arena *a, const char *op_name, const fxs_schema *s,
                          int i, const fxs_value *v, fxs_value *out) {
    if (v->tag == FXS_V_TENSOR && s->params[i].types & 1u << FXS_T_TENSOR) {
        out[i] = *v;
        return FXS_OK;
    }
    binding b = {.ctx = ctx, .arena = a, .op = op_name, .schema = s, .out = out, .quiet = !op_name};
    return put(&b, i, v);
}

const char *fxs_schema_missing(const fxs_schema *s, const fxs_value *args,
                               const fxs_value *kwargs) {
    binding b = {.schema = s};
    size_t n = fxs_value_len(args);
    for (int i = 0; i < s->nparams && (size_t)i < n && !s->params[i].keyword_only; i++)
        b.given[i] = true;
    for (size_t k = 0; k < fxs_value_len(kwargs); k++) {
        const char *name = fxs_value_text(fxs_value_key(kwargs, k));
        int i = name ? fxs_schema_index(s, name) : -1;
        if (i < 0 && name)
            i = other_name(&b, name);
        if (i >= 0)
            b.given[i] = true;
    }
    for (int i = 0; i < s->nparams; i++)
        if (!b.given[i] && !s->params[i].has_default)
            return s->params[i].name;
    return NULL;
}

fxs_status fxs_schema_place(fxs_ctx *ctx, fxs_arena *a, const char *op_name, const char *spelling,
                            const fxs_schema *s, const fxs_value *args, const fxs_value *kwargs,
                            fxs_value *out, bool *given) {
    binding b = {.ctx = ctx,
                 .arena = a,
                 .op = op_name,
                 .spelling = spelling,
                 .schema = s,
                 .out = out,
                 .raw = true};
    FXS_TRY(bind(&b, args, kwargs));
    for (int i = 0; i < s->nparams; i++) {
        if (!b.given[i] && !s->params[i].has_default)
            return missing(&b, i);
        if (!b.given[i])
            out[i] = s->params[i].fallback;
        given[i] = b.given[i];
    }
    return FXS_OK;
}
