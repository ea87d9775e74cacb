/* input_spec.c: see input_spec.h. */
#include "run/input_spec.h"

#include <math.h>
#include <string.h>

#include "base/pytext.h"
#include "base/rng.h"
#include "ir/pytree.h"
#include "run/inputs.h"

struct fxs_input_spec {
    fxs_value value; /* FXS_V_UNKNOWN: a shape to be filled; a container's is empty */
    fxs_dtype dtype;
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    bool ranged;
    double low, high;
    bool container; /* value.tag says which */
    fxs_input_spec **items;
    fxs_value *keys; /* of a dict */
    size_t n, cap;
};

bool fxs_input_spec_is_tree(const fxs_input_spec *s) {
    return s->container || fxs_pytree_container(&s->value);
}

typedef struct parser {
    fxs_ctx *ctx;
    const char *whole;
} parser;

fxs_status fxs_input_refuse(fxs_ctx *ctx, const char *whole, const char *what) {
    return fxs_fail(ctx, FXS_EINVAL,
                    "input '%s': %s; an input is [NAME=]SHAPE[:DTYPE[:LOW..HIGH]] as x=1x3x224x224 "
                    "or tokens=2x50:int64:0..999, "
                    "NAME=@FILE.npy, or int:3, float:0.5, bool:true, str:TEXT, none; or several as "
                    "[1x3, 1x4], (1x3, none), {ids: 2x50:int64, mask: 2x50}",
                    whole, what);
}

static fxs_status bad(parser *p, const char *what) {
    return fxs_input_refuse(p->ctx, p->whole, what);
}

void fxs_input_spec_free(fxs_input_spec *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        fxs_input_spec_free(s->items[i]);
        fxs_value_unref(&s->keys[i]);
    }
    fxs_free(s->items);
    fxs_free(s->keys);
    fxs_value_unref(&s->value);
    fxs_free(s);
}

fxs_input_spec *fxs_input_spec_of(fxs_value v) {
    fxs_input_spec *s = fxs_alloc0(1, sizeof *s);
    if (s)
        s->value = v;
    else
        fxs_value_unref(&v);
    return s;
}

/* ---- one value
 * ---------------------------------------------------------------------------------------- */

static fxs_status parse_shape(parser *p, fxs_input_spec *i, const char *s, size_t len) {
    if (len == 6 && memcmp(s, "scalar", 6) == 0)
        return FXS_OK;
    for (const char *end = s + len; s < end;) {
        size_t digits = strspn(s, "0123456789");
        if (i->ndim == FXS_MAX_DIM)
            return bad(p, "it has too many dimensions");
        if (digits == 0 || !fxs_read_int(s, digits, &i->sizes[i->ndim]))
            return bad(p, digits ? "a size is too large" : "its shape can't be read");
        i->ndim++;
        s += digits;
        if (s < end && ((*s != 'x' && *s != ',') || ++s == end))
            return bad(p, "its shape can't be read");
    }
    return i->ndim ? FXS_OK : bad(p, "its shape is empty");
}

/* True when an integer or bool type has the whole number x. */
static bool holds(fxs_dtype d, double x) {
    int64_t stored = 0;
    if (fabs(x) > 9e18)
        return false;
    fxs_store_int(d, &stored, (int64_t)x);
    return fxs_load_int(d, &stored) == (int64_t)x;
}

static fxs_status parse_range(parser *p, fxs_input_spec *i, const char *s) {
    const char *dots = strstr(s, "..");
    if (!dots || !fxs_read_float(s, (size_t)(dots - s), &i->low) ||
        !fxs_read_float(dots + 2, strlen(dots + 2), &i->high) || !isfinite(i->low) ||
        !isfinite(i->high))
        return bad(p, "its range must be LOW..HIGH");
    if (i->low > i->high)
        return bad(p, "its range is empty: LOW is above HIGH");
    if (!fxs_is_floating(i->dtype) &&
        (!holds(i->dtype, ceil(i->low)) || !holds(i->dtype, floor(i->high))))
        return bad(p, "its dtype can't hold its range");
    if (!fxs_is_floating(i->dtype) && ceil(i->low) > floor(i->high))
        return bad(p, "there is no whole number in its range");
    i->ranged = true;
    return FXS_OK;
}

static fxs_status parse_tensor(parser *p, fxs_input_spec *i, const char *s) {
    size_t shape = strcspn(s, ":");
    i->value.tag = FXS_V_UNKNOWN;
    i->dtype = FXS_FLOAT32;
    FXS_TRY(parse_shape(p, i, s, shape));
    if (s[shape] == ':') {
        const char *dtype = s + shape + 1;
        size_t n = strcspn(dtype, ":");
        if (!fxs_dtype_find(dtype, n, &i->dtype))
            return bad(p, "its dtype is not known");
        if (!fxs_is_computable(i->dtype))
            return bad(p, "tensors of its dtype can't be filled");
        if (dtype[n] == ':')
            FXS_TRY(parse_range(p, i, dtype + n + 1));
    }
    fxs_tensor *probe; /* the sizes must multiply to something that can exist */
    if (fxs_tensor_new_meta(p->ctx, i->dtype, i->ndim, i->sizes, &probe) != FXS_OK)
        return fxs_fail_where(p->ctx, "input '%s'", p->whole);
    fxs_tensor_unref(probe);
    return FXS_OK;
}

static fxs_status parse_plain(parser *p, fxs_input_spec *i, const char *s, bool *is_plain) {
    *is_plain = true;
    if (strcmp(s, "none") == 0) {
        i->value = fxs_none();
    } else if (strncmp(s, "int:", 4) == 0) {
        i->value.tag = FXS_V_INT;
        if (!fxs_read_int(s + 4, strlen(s + 4), &i->value.u.i))
            return bad(p, "int: wants a whole number");
    } else if (strncmp(s, "float:", 6) == 0) {
        i->value.tag = FXS_V_FLOAT;
        if (!fxs_read_float(s + 6, strlen(s + 6), &i->value.u.f))
            return bad(p, "float: wants a number");
    } else if (strncmp(s, "bool:", 5) == 0) {
        bool yes =
            strcmp(s + 5, "true") == 0 || strcmp(s + 5, "True") == 0 || strcmp(s + 5, "1") == 0;
        if (!yes && strcmp(s + 5, "false") != 0 && strcmp(s + 5, "False") != 0 &&
            strcmp(s + 5, "0") != 0)
            return bad(p, "bool: wants true or false");
        i->value = fxs_bool(yes);
    } else if (strncmp(s, "str:", 4) == 0) {
        return fxs_make_text(p->ctx, NULL, FXS_V_STR, s + 4, strlen(s + 4), &i->value);
    } else {
        *is_plain = false;
    }
    return FXS_OK;
}

static fxs_status parse_leaf(parser *p, fxs_input_spec *i, const char *s) {
    bool is_plain;
    fxs_tensor *t;
    FXS_TRY(parse_plain(p, i, s, &is_plain));
    if (is_plain)
        return FXS_OK;
    if (*s != '@')
        return parse_tensor(p, i, s);
    if (!s[1])
        return bad(p, "the name of a .npy file is missing behind '@'");
    FXS_TRY(fxs_npy_read(p->ctx, s + 1, &t));
    i->value = fxs_of_tensor(t);
    return FXS_OK;
}

/* ---- several
 * ------------------------------------------------------------------------------------------ */

static const char *skip(const char *s) { return s + strspn(s, " "); }

/* Behind the text that begins with a quote; NULL: it does not end. */
static const char *end_of_quoted(const char *s) {
    const char *end = strchr(s + 1, *s);
    return end ? end + 1 : NULL;
}

static fxs_status parse_value(parser *p, const char **s, int depth, fxs_input_spec *to);

/* A key: a word, a whole number, or a text in quotes; *s is behind its ':' then. */
static fxs_status parse_key(parser *p, const char **s, fxs_value *key) {
    const char *at = *s, *end = at + strcspn(at, ":,{}[]() ");
    int64_t number;
    if (*at == '\'' || *at == '"') {
        end = end_of_quoted(at);
        if (!end)
            return bad(p, "a quote does not end");
        FXS_TRY(fxs_make_text(p->ctx, NULL, FXS_V_STR, at + 1, (size_t)(end - at - 2), key));
    } else if (end == at) {
        return bad(p, "a key is missing");
    } else if (fxs_read_int(at, (size_t)(end - at), &number)) {
        *key = fxs_int(number);
    } else {
        FXS_TRY(fxs_make_text(p->ctx, NULL, FXS_V_STR, at, (size_t)(end - at), key));
    }
    end = skip(end);
    if (*end != ':')
        return bad(p, "a key has no ':' behind it");
    *s = skip(end + 1);
    return FXS_OK;
}

/* Room for one more item, which is there then. */
static fxs_status add_item(parser *p, fxs_input_spec *to, fxs_input_spec **item) {
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 4;
        fxs_input_spec **items = fxs_realloc(to->items, cap, sizeof *items);
        to->items = items ? items : to->items;
        fxs_value *keys = items ? fxs_realloc(to->keys, cap, sizeof *keys) : NULL;
        if (!keys)
            return fxs_fail_memory(p->ctx);
        to->keys = keys;
        to->cap = cap;
    }
    *item = fxs_input_spec_of(fxs_none());
    if (!*item)
        return fxs_fail_memory(p->ctx);
    to->keys[to->n] = fxs_none();
    to->items[to->n++] = *item;
    return FXS_OK;
}

static fxs_status check_key(parser *p, const fxs_input_spec *in) {
    for (size_t i = 0; i + 1 < in->n; i++)
        if (fxs_value_equal(&in->keys[i], &in->keys[in->n - 1]))
            return bad(p, "a key is there twice");
    return FXS_OK;
}

/* *s is behind the opening bracket. */
static fxs_status parse_items(parser *p, const char **s, char close, int depth,
                              fxs_input_spec *to) {
    if (depth == 0)
        return bad(p, "it is nested too deeply");
    *s = skip(*s);
    while (**s != close) {
        fxs_input_spec *item;
        FXS_TRY(add_item(p, to, &item));
        if (close == '}') {
            FXS_TRY(parse_key(p, s, &to->keys[to->n - 1]));
            FXS_TRY(check_key(p, to));
        }
        FXS_TRY(parse_value(p, s, depth - 1, item));
        *s = skip(*s);
        if (**s != ',' && **s != close)
            return bad(p, "a bracket does not end");
        if (**s == ',')
            *s = skip(*s + 1);
    }
    ++*s;
    return FXS_OK;
}

/* The end of a value inside brackets: str:'a, b' may hold anything in quotes. */
static const char *end_of_leaf(const char *s) {
    if (strncmp(s, "str:", 4) == 0 && (s[4] == '\'' || s[4] == '"'))
        return end_of_quoted(s + 4);
    const char *end = s + strcspn(s, ",]})");
    while (end > s && end[-1] == ' ')
        end--;
    return end;
}

static fxs_status parse_inner_leaf(parser *p, const char **s, fxs_input_spec *to) {
    const char *end = end_of_leaf(*s);
    if (!end)
        return bad(p, "a quote does not end");
    if (strncmp(*s, "str:", 4) == 0 && end > *s + 5 && ((*s)[4] == '\'' || (*s)[4] == '"')) {
        FXS_TRY(fxs_make_text(p->ctx, NULL, FXS_V_STR, *s + 5, (size_t)(end - *s - 6), &to->value));
        *s = end;
        return FXS_OK;
    }
    char *leaf = fxs_memdup0(*s, (size_t)(end - *s));
    if (!leaf)
        return fxs_fail_memory(p->ctx);
    fxs_status status = parse_leaf(p, to, leaf);
    fxs_free(leaf);
    *s = end;
    return status;
}

static fxs_status parse_value(parser *p, const char **s, int depth, fxs_input_spec *to) {
    static const char open[] = "[({", close[] = "])}";
    static const fxs_tag tags[] = {FXS_V_LIST, FXS_V_TUPLE, FXS_V_DICT};
    const char *which = **s ? strchr(open, **s) : NULL;
    if (!which)
        return parse_inner_leaf(p, s, to);
    to->container = true;
    to->value = fxs_none();
    fxs_value empty;
    if (tags[which - open] == FXS_V_DICT)
        FXS_TRY(fxs_make_dict(p->ctx, NULL, 0, &empty));
    else
        FXS_TRY(fxs_make_seq(p->ctx, NULL, tags[which - open], 0, &empty));
    to->value = empty;
    ++*s;
    return parse_items(p, s, close[which - open], depth, to);
}

fxs_status fxs_input_parse(fxs_ctx *ctx, const char *whole, const char *text,
                           fxs_input_spec **out) {
    parser p = {ctx, whole};
    *out = fxs_input_spec_of(fxs_none());
    if (!*out)
        return fxs_fail_memory(ctx);
    if (!*text || !strchr("[({", *text))
        return parse_leaf(&p, *out, text);
    FXS_TRY(parse_value(&p, &text, 16, *out));
    return *skip(text) ? bad(&p, "something is behind its last bracket") : FXS_OK;
}

/* ---- making them
 * -------------------------------------------------------------------------------------- */

static fxs_status fill(fxs_ctx *ctx, const fxs_input_spec *i, const char *name, fxs_tensor *t) {
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

static fxs_status make_leaf(fxs_ctx *ctx, const fxs_input_spec *i, const char *name,
                            fxs_run_mode mode, fxs_value *out) {
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

fxs_status fxs_input_make(fxs_ctx *ctx, const fxs_input_spec *s, const char *name,
                          fxs_run_mode mode, fxs_value *out) {
    if (!s->container)
        return make_leaf(ctx, s, name, mode, out);
    bool dict = s->value.tag == FXS_V_DICT;
    if (dict)
        FXS_TRY(fxs_make_dict(ctx, NULL, s->n, out));
    else
        FXS_TRY(fxs_make_seq(ctx, NULL, s->value.tag, s->n, out));
    fxs_status status = FXS_OK;
    for (size_t i = 0; i < s->n && status == FXS_OK; i++) {
        fxs_buf inner = {0}; /* "batch[ids]": each has numbers of its own */
        fxs_buf_printf(&inner, "%s[", name);
        if (dict)
            fxs_buf_str(&inner, &s->keys[i], &(fxs_repr){0});
        else
            fxs_buf_printf(&inner, "%zu", i);
        fxs_buf_putc(&inner, ']');
        fxs_value item = fxs_none();
        status = inner.failed ? fxs_fail_memory(ctx)
                              : fxs_input_make(ctx, s->items[i], inner.data, mode, &item);
        fxs_buf_free(&inner);
        if (dict) {
            out->u.dict->pairs[i].key = fxs_value_ref(s->keys[i]);
            out->u.dict->pairs[i].value = item;
        } else {
            out->u.seq->items[i] = item;
        }
    }
    if (status != FXS_OK)
        fxs_value_unref(out);
    return status;
}
