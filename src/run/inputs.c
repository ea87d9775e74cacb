/* inputs.c: input specifications as the command line takes them, and their binding to placeholders.
 */
#include "run/inputs.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/pytext.h"
#include "base/rng.h"

typedef struct input {
    char *spec, *name; /* name NULL: by position */
    fxs_value value;   /* FXS_V_UNKNOWN: a shape to be filled */
    fxs_dtype dtype;
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    bool ranged;
    double low, high;
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
    fxs_free(i->spec);
    fxs_free(i->name);
    fxs_value_unref(&i->value);
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

/* ---- specifications
 * --------------------------------------------------------------------------------------- */

static fxs_status bad(fxs_inputs *in, const input *i, const char *what) {
    return fxs_fail(in->ctx, FXS_EINVAL,
                    "input '%s': %s; an input is [NAME=]SHAPE[:DTYPE[:LOW..HIGH]] as x=1x3x224x224 "
                    "or tokens=2x50:int64:0..999, "
                    "NAME=@FILE.npy, or int:3, float:0.5, bool:true, str:TEXT, none",
                    i->spec, what);
}

static fxs_status parse_shape(fxs_inputs *in, input *i, const char *s, size_t len) {
    if (len == 6 && memcmp(s, "scalar", 6) == 0)
        return FXS_OK;
    for (const char *end = s + len; s < end;) {
        size_t digits = strspn(s, "0123456789");
        if (i->ndim == FXS_MAX_DIM)
            return bad(in, i, "it has too many dimensions");
        if (digits == 0 || !fxs_read_int(s, digits, &i->sizes[i->ndim]))
            return bad(in, i, digits ? "a size is too large" : "its shape can't be read");
        i->ndim++;
        s += digits;
        if (s < end && ((*s != 'x' && *s != ',') || ++s == end))
            return bad(in, i, "its shape can't be read");
    }
    return i->ndim ? FXS_OK : bad(in, i, "its shape is empty");
}

/* True when an integer or bool type has the whole number x. */
static bool holds(fxs_dtype d, double x) {
    int64_t stored = 0;
    if (fabs(x) > 9e18)
        return false;
    fxs_store_int(d, &stored, (int64_t)x);
    return fxs_load_int(d, &stored) == (int64_t)x;
}

static fxs_status parse_range(fxs_inputs *in, input *i, const char *s) {
    const char *dots = strstr(s, "..");
    if (!dots || !fxs_read_float(s, (size_t)(dots - s), &i->low) ||
        !fxs_read_float(dots + 2, strlen(dots + 2), &i->high) || !isfinite(i->low) ||
        !isfinite(i->high))
        return bad(in, i, "its range must be LOW..HIGH");
    if (i->low > i->high)
        return bad(in, i, "its range is empty: LOW is above HIGH");
    if (!fxs_is_floating(i->dtype) &&
        (!holds(i->dtype, ceil(i->low)) || !holds(i->dtype, floor(i->high))))
        return bad(in, i, "its dtype can't hold its range");
    if (!fxs_is_floating(i->dtype) && ceil(i->low) > floor(i->high))
        return bad(in, i, "there is no whole number in its range");
    i->ranged = true;
    return FXS_OK;
}

static fxs_status parse_tensor(fxs_inputs *in, input *i, const char *s) {
    size_t shape = strcspn(s, ":");
    i->value.tag = FXS_V_UNKNOWN;
    i->dtype = FXS_FLOAT32;
    FXS_TRY(parse_shape(in, i, s, shape));
    if (s[shape] == ':') {
        const char *dtype = s + shape + 1;
        size_t n = strcspn(dtype, ":");
        if (!fxs_dtype_find(dtype, n, &i->dtype))
            return bad(in, i, "its dtype is not known");
        if (!fxs_is_computable(i->dtype))
            return bad(in, i, "tensors of its dtype can't be filled");
        if (dtype[n] == ':')
            FXS_TRY(parse_range(in, i, dtype + n + 1));
    }
    fxs_tensor *probe; /* the sizes must multiply to something that can exist */
    if (fxs_tensor_new_meta(in->ctx, i->dtype, i->ndim, i->sizes, &probe) != FXS_OK)
        return fxs_fail_where(in->ctx, "input '%s'", i->spec);
    fxs_tensor_unref(probe);
    return FXS_OK;
}

static fxs_status parse_plain(fxs_inputs *in, input *i, const char *s, bool *is_plain) {
    *is_plain = true;
    if (strcmp(s, "none") == 0) {
        i->value = fxs_none();
    } else if (strncmp(s, "int:", 4) == 0) {
        i->value.tag = FXS_V_INT;
        if (!fxs_read_int(s + 4, strlen(s + 4), &i->value.u.i))
            return bad(in, i, "int: wants a whole number");
    } else if (strncmp(s, "float:", 6) == 0) {
        i->value.tag = FXS_V_FLOAT;
        if (!fxs_read_float(s + 6, strlen(s + 6), &i->value.u.f))
            return bad(in, i, "float: wants a number");
    } else if (strncmp(s, "bool:", 5) == 0) {
        bool yes =
            strcmp(s + 5, "true") == 0 || strcmp(s + 5, "True") == 0 || strcmp(s + 5, "1") == 0;
        if (!yes && strcmp(s + 5, "false") != 0 && strcmp(s + 5, "False") != 0 &&
            strcmp(s + 5, "0") != 0)
            return bad(in, i, "bool: wants true or false");
        i->value = fxs_bool(yes);
    } else if (strncmp(s, "str:", 4) == 0) {
        return fxs_make_text(in->ctx, NULL, FXS_V_STR, s + 4, strlen(s + 4), &i->value);
    } else {
        *is_plain = false;
    }
    return FXS_OK;
}

static fxs_status parse_spec(fxs_inputs *in, input *i, const char *spec) {
    i->spec = fxs_memdup0(spec, strlen(spec));
    if (!i->spec)
        return fxs_fail_memory(in->ctx);
    size_t name = 0;
    while (isalnum((unsigned char)spec[name]) || spec[name] == '_' || spec[name] == '*')
        name++;
    if (spec[name] == '=') {
        if (name == 0)
            return bad(in, i, "its name is empty");
        i->name = fxs_memdup0(spec, name);
        if (!i->name)
            return fxs_fail_memory(in->ctx);
        spec += name + 1;
    }
    bool is_plain;
    FXS_TRY(parse_plain(in, i, spec, &is_plain));
    if (is_plain)
        return FXS_OK;
    if (*spec != '@')
        return parse_tensor(in, i, spec);
    fxs_tensor *t;
    if (!spec[1])
        return bad(in, i, "the name of a .npy file is missing behind '@'");
    FXS_TRY(fxs_npy_read(in->ctx, spec + 1, &t));
    i->value = fxs_of_tensor(t);
    return FXS_OK;
}

fxs_status fxs_inputs_add(fxs_inputs *in, const char *spec) {
    input i = {0};
    FXS_TRY(fxs_need_text(in->ctx, spec, "fxs_inputs_add: the input"));
    fxs_status s = parse_spec(in, &i, spec);
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
    input i = {.value = v,
               .name = name ? fxs_memdup0(name, strlen(name)) : NULL,
               .spec = fxs_memdup0("value", 5)};
    if (!i.spec || (name && !i.name)) {
        free_input(&i);
        return fxs_fail_memory(in->ctx);
    }
    return push(in, &i);
}

/* ---- binding
 * ---------------------------------------------------------------------------------------------- */

static fxs_status fill(fxs_ctx *ctx, const input *i, const char *name, fxs_tensor *t) {
    uint64_t seed = ctx->seed * 0x9e3779b97f4a7c15u ^ fxs_hash(name, strlen(name));
    FXS_TRY(fxs_tensor_allocate(ctx, t));
    if (fxs_is_floating(t->dtype)) {
        if (i->ranged)
            fxs_fill_uniform(ctx, t, seed, i->low, i->high);
        else
            fxs_fill_normal(ctx, t, seed, 0, 1); /* torch.randn */
    } else { /* 0 and 1 are valid indices and masks for nearly everything */
        fxs_fill_integers(ctx, t, seed, i->ranged ? (int64_t)ceil(i->low) : 0,
                          i->ranged ? (int64_t)floor(i->high) : 1);
    }
    return FXS_OK;
}

/* A copy with the same strides: a network may write its inputs in place, and the next run wants
 * them as they were. */
static fxs_status copy_tensor(fxs_ctx *ctx, const fxs_tensor *from, fxs_value *out) {
    fxs_tensor *t;
    FXS_TRY(fxs_tensor_make(ctx, from->dtype, from->ndim, from->sizes, from->strides, &t));
    t->requires_grad = from->requires_grad;
    fxs_status s = fxs_tensor_allocate(ctx, t);
    if (s != FXS_OK) {
        fxs_tensor_unref(t);
        return s;
    }
    fxs_tensor_copy(ctx, t, from);
    *out = fxs_of_tensor(t);
    return FXS_OK;
}

static fxs_status value_of(fxs_ctx *ctx, const input *i, const char *name, fxs_run_mode mode,
                           fxs_value *out) {
    fxs_tensor *t;
    if (i->value.tag == FXS_V_TENSOR && mode == FXS_RUN_EXECUTE && i->value.u.tensor->storage)
        return copy_tensor(ctx, i->value.u.tensor, out);
    if (i->value.tag != FXS_V_UNKNOWN && i->value.tag != FXS_V_TENSOR) {
        *out = fxs_value_ref(i->value);
        return FXS_OK;
    }
    if (i->value.tag == FXS_V_TENSOR) {
        FXS_TRY(fxs_tensor_to_meta(ctx, i->value.u.tensor, &t));
        *out = fxs_of_tensor(t);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_new_meta(ctx, i->dtype, i->ndim, i->sizes, &t));
    fxs_status s = mode == FXS_RUN_EXECUTE ? fill(ctx, i, name, t) : FXS_OK;
    if (s != FXS_OK) {
        fxs_tensor_unref(t);
        return s;
    }
    *out = fxs_of_tensor(t);
    return FXS_OK;
}

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
    fxs_status s;
    if (names.failed)
        s = fxs_fail_memory(in->ctx);
    else if (i->name)
        s = fxs_fail(in->ctx, FXS_EINVAL, "the model has no input '%s'; its inputs are: %s",
                     i->name, count ? names.data : "none");
    else
        s = fxs_fail(in->ctx, FXS_EINVAL, "input '%s' is one too many; the model's inputs are: %s",
                     i->spec, count ? names.data : "none");
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
        FXS_TRY(value_of(in->ctx, &in->items[i], in->items[i].spec, mode, &out->u.seq->items[k++]));
    }
    return FXS_OK;
}

static fxs_status bind_one(const fxs_inputs *in, const fxs_node *n, fxs_run_mode mode, bool *used,
                           fxs_value *out) {
    for (size_t i = 0; i < in->n; i++) {
        if (used[i] || !names_placeholder(&in->items[i], n))
            continue;
        used[i] = true;
        return value_of(in->ctx, &in->items[i], n->target, mode, out);
    }
    if (n->target[0] == '*')
        return bind_star(in, n, mode, used, out);
    for (size_t i = 0; i < in->n; i++) {
        if (used[i] || in->items[i].name)
            continue;
        used[i] = true;
        return value_of(in->ctx, &in->items[i], n->target, mode, out);
    }
    return FXS_OK;
}

static fxs_status bind_all(const fxs_inputs *in, const fxs_graph *g, fxs_run_mode mode, bool *used,
                           fxs_value *values) {
    size_t k = 0;
    for (const fxs_node *n = next_placeholder(fxs_graph_first(g)); n;
         n = next_placeholder(fxs_node_next(n)), k++)
        FXS_TRY(bind_one(in, n, mode, used, &values[k]));
    for (size_t i = 0; i < in->n; i++)
        if (!used[i])
            return refuse_input(in, g, &in->items[i]);
    return FXS_OK;
}

void fxs_input_values_free(fxs_value *values, const fxs_graph *g) {
    for (size_t i = 0, n = fxs_graph_count(g, FXS_PLACEHOLDER); values && i < n; i++)
        fxs_value_unref(&values[i]);
    fxs_free(values);
}

fxs_status fxs_inputs_bind(const fxs_inputs *in, const fxs_graph *g, fxs_run_mode mode,
                           fxs_value **out) {
    size_t n = fxs_graph_count(g, FXS_PLACEHOLDER);
    fxs_inputs none = {.ctx = g->ctx};
    in = in ? in : &none;
    *out = fxs_alloc0(n, sizeof **out);
    bool *used = fxs_alloc0(in->n, sizeof *used);
    fxs_status s = *out && used ? FXS_OK : fxs_fail_memory(g->ctx);
    for (size_t i = 0; s == FXS_OK && i < n; i++)
        (*out)[i].tag = FXS_V_UNKNOWN;
    if (s == FXS_OK)
        s = bind_all(in, g, mode, used, *out);
    fxs_free(used);
    if (s != FXS_OK) {
        fxs_input_values_free(*out, g);
        *out = NULL;
    }
    return s;
}
