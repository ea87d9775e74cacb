/* value.c: see value.h; how values are written is in pytext.c. */
#include "base/value.h"

#include <string.h>

static void *make_block(fxs_arena *a, size_t head, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, head, &bytes))
        return NULL;
    return a ? fxs_arena_alloc(a, 1, bytes) : fxs_alloc0(1, bytes);
}

fxs_status fxs_make_text(fxs_ctx *ctx, fxs_arena *a, fxs_tag tag, const char *s, size_t len,
                         fxs_value *out) {
    *out = fxs_none();
    if (len == SIZE_MAX)
        return fxs_fail_memory(ctx);
    fxs_string *t = make_block(a, sizeof *t, len + 1, 1);
    if (!t)
        return fxs_fail_memory(ctx);
    t->refs = a ? 0 : 1;
    t->len = len;
    if (len)
        memcpy(t->text, s, len);
    *out = (fxs_value){.tag = tag, .u.s = t};
    return FXS_OK;
}

fxs_status fxs_make_seq(fxs_ctx *ctx, fxs_arena *a, fxs_tag tag, size_t len, fxs_value *out) {
    *out = fxs_none();
    fxs_seq *q = make_block(a, sizeof *q, len, sizeof *q->items);
    if (!q)
        return fxs_fail_memory(ctx);
    q->refs = a ? 0 : 1;
    q->len = len;
    *out = (fxs_value){.tag = tag, .u.seq = q};
    return FXS_OK;
}

fxs_status fxs_make_dict(fxs_ctx *ctx, fxs_arena *a, size_t len, fxs_value *out) {
    *out = fxs_none();
    fxs_dict *d = make_block(a, sizeof *d, len, sizeof *d->pairs);
    if (!d)
        return fxs_fail_memory(ctx);
    d->refs = a ? 0 : 1;
    d->len = len;
    *out = (fxs_value){.tag = FXS_V_DICT, .u.dict = d};
    return FXS_OK;
}

fxs_status fxs_make_size(fxs_ctx *ctx, int ndim, const int64_t *sizes, fxs_value *out) {
    FXS_TRY(fxs_make_seq(ctx, NULL, FXS_V_TUPLE, (size_t)ndim, out));
    out->u.seq->kind = FXS_TUPLE_SIZE;
    for (int i = 0; i < ndim; i++)
        out->u.seq->items[i] = fxs_int(sizes[i]);
    return FXS_OK;
}

fxs_status fxs_value_str(fxs_ctx *ctx, const char *s, fxs_value *out) {
    *out = fxs_none();
    FXS_TRY(fxs_need(ctx, s, "fxs_value_str: the text"));
    return fxs_make_text(ctx, NULL, FXS_V_STR, s, strlen(s), out);
}

static fxs_status heap_sequence(fxs_ctx *ctx, fxs_tag tag, size_t n, const fxs_value *items,
                                fxs_value *out) {
    FXS_TRY(fxs_make_seq(ctx, NULL, tag, n, out));
    for (size_t i = 0; i < n; i++)
        out->u.seq->items[i] = fxs_value_ref(items[i]);
    return FXS_OK;
}

fxs_status fxs_value_tuple(fxs_ctx *ctx, size_t n, const fxs_value *items, fxs_value *out) {
    return heap_sequence(ctx, FXS_V_TUPLE, n, items, out);
}

fxs_status fxs_value_list(fxs_ctx *ctx, size_t n, const fxs_value *items, fxs_value *out) {
    return heap_sequence(ctx, FXS_V_LIST, n, items, out);
}

fxs_status fxs_value_slice(fxs_ctx *ctx, fxs_value start, fxs_value stop, fxs_value step,
                           fxs_value *out) {
    return heap_sequence(ctx, FXS_V_SLICE, 3, (fxs_value[]){start, stop, step}, out);
}

fxs_status fxs_value_dict_of(fxs_ctx *ctx, size_t n, const fxs_value *keys, const fxs_value *values,
                             fxs_value *out) {
    FXS_TRY(fxs_make_dict(ctx, NULL, n, out));
    for (size_t i = 0; i < n; i++)
        out->u.dict->pairs[i] = (fxs_pair){fxs_value_ref(keys[i]), fxs_value_ref(values[i])};
    return FXS_OK;
}

fxs_status fxs_value_dict(fxs_ctx *ctx, size_t n, const char *const *keys, const fxs_value *values,
                          fxs_value *out) {
    FXS_TRY(fxs_make_dict(ctx, NULL, n, out));
    for (size_t i = 0; i < n; i++) {
        fxs_pair *p = &out->u.dict->pairs[i];
        fxs_status s = fxs_need(ctx, keys[i], "fxs_value_dict: a key");
        if (s == FXS_OK)
            s = fxs_value_str(ctx, keys[i], &p->key);
        if (s != FXS_OK) {
            fxs_value_unref(out);
            return s;
        }
        p->value = fxs_value_ref(values[i]);
    }
    return FXS_OK;
}

/* The counter of what is counted, but of tensors. */
static int *refs_of(fxs_value *v) {
    switch (v->tag) {
    case FXS_V_STR:
    case FXS_V_DEVICE:
    case FXS_V_LAYOUT:
    case FXS_V_FUNCTION:
    case FXS_V_OPAQUE:
        return &v->u.s->refs;
    case FXS_V_SLICE:
    case FXS_V_LIST:
    case FXS_V_TUPLE:
        return &v->u.seq->refs;
    case FXS_V_DICT:
        return &v->u.dict->refs;
    case FXS_V_OBJECT:
        return &v->u.object->refs;
    default:
        return NULL;
    }
}

void fxs_value_count(const fxs_value *v) {
    int *refs = refs_of((fxs_value *)v);
    if (refs && *refs > 0)
        ++*refs;
}

static void free_items(fxs_value *v) {
    if (v->tag == FXS_V_DICT) {
        for (size_t i = 0; i < v->u.dict->len; i++) {
            fxs_value_unref(&v->u.dict->pairs[i].key);
            fxs_value_unref(&v->u.dict->pairs[i].value);
        }
    } else if (v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_SLICE) {
        for (size_t i = 0; i < v->u.seq->len; i++)
            fxs_value_unref(&v->u.seq->items[i]);
    } else if (v->tag == FXS_V_OBJECT && v->u.object->type->free) {
        v->u.object->type->free(v->u.object->data);
    }
}

void fxs_value_release(fxs_value *v) {
    int *refs = refs_of(v);
    if (refs && *refs > 0 && --*refs == 0) {
        free_items(v);
        fxs_free(v->tag == FXS_V_DICT     ? (void *)v->u.dict
                 : v->tag == FXS_V_OBJECT ? (void *)v->u.object
                 : v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_SLICE
                     ? (void *)v->u.seq
                     : (void *)v->u.s);
    }
}

const fxs_value *fxs_value_key(const fxs_value *v, size_t i) {
    return v->tag == FXS_V_DICT && i < v->u.dict->len ? &v->u.dict->pairs[i].key : NULL;
}

const char *fxs_value_text(const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_STR:
    case FXS_V_DEVICE:
    case FXS_V_LAYOUT:
    case FXS_V_FUNCTION:
    case FXS_V_OPAQUE:
        return v->u.s->text;
    default:
        return NULL;
    }
}

static fxs_status map_seq(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_map_fn *fn,
                          void *user, fxs_value *out) {
    FXS_TRY(fxs_make_seq(ctx, a, v->tag, v->u.seq->len, out));
    out->u.seq->kind = v->u.seq->kind;
    out->u.seq->type_name = v->u.seq->type_name;
    out->u.seq->fields = v->u.seq->fields;
    for (size_t i = 0; i < v->u.seq->len; i++)
        FXS_TRY(fxs_value_map(ctx, a, &v->u.seq->items[i], fn, user, &out->u.seq->items[i]));
    return FXS_OK;
}

static fxs_status map_dict(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_map_fn *fn,
                           void *user, fxs_value *out) {
    FXS_TRY(fxs_make_dict(ctx, a, v->u.dict->len, out));
    for (size_t i = 0; i < v->u.dict->len; i++) {
        FXS_TRY(fxs_value_copy(ctx, a, &v->u.dict->pairs[i].key, &out->u.dict->pairs[i].key));
        FXS_TRY(fxs_value_map(ctx, a, &v->u.dict->pairs[i].value, fn, user,
                              &out->u.dict->pairs[i].value));
    }
    return FXS_OK;
}

fxs_status fxs_value_map(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_map_fn *fn, void *user,
                         fxs_value *out) {
    fxs_status s;
    switch (v->tag) {
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_SLICE:
        s = map_seq(ctx, a, v, fn, user, out);
        break;
    case FXS_V_DICT:
        s = map_dict(ctx, a, v, fn, user, out);
        break;
    default:
        *out = *v;
        s = fn(user, v, out);
        if (s != FXS_OK)
            *out = fxs_none();
        return s;
    }
    if (s != FXS_OK)
        fxs_value_unref(out);
    return s;
}

typedef struct copy_user {
    fxs_ctx *ctx;
    fxs_arena *arena;
} copy_user;

static fxs_status copy_leaf(void *user, const fxs_value *leaf, fxs_value *out) {
    copy_user *u = user;
    if (fxs_value_text(leaf))
        return fxs_make_text(u->ctx, u->arena, leaf->tag, leaf->u.s->text, leaf->u.s->len, out);
    *out = fxs_value_ref(*leaf);
    return FXS_OK;
}

fxs_status fxs_value_copy(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_value *out) {
    copy_user u = {ctx, a};
    return fxs_value_map(ctx, a, v, copy_leaf, &u, out);
}

static bool is_container(const fxs_value *v) {
    return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_SLICE ||
           v->tag == FXS_V_DICT;
}

bool fxs_value_visit(const fxs_value *v, fxs_visit_fn *fn, void *user) {
    size_t n = fxs_value_len(v), step = 1;
    if (!is_container(v) || (n == 0 && v->tag == FXS_V_SLICE))
        return fn(user, v);
    const fxs_value *item = v->u.seq->items;
    if (v->tag == FXS_V_DICT) { /* from value to value */
        item = &v->u.dict->pairs[0].value;
        step = sizeof(fxs_pair) / sizeof *item;
    }
    for (size_t i = 0; i < n; i++, item += step)
        if (!(is_container(item) ? fxs_value_visit(item, fn, user) : fn(user, item)))
            return false;
    return true;
}

static bool no_tensor(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_TENSOR;
}

bool fxs_value_has_tensor(const fxs_value *v) { return !fxs_value_visit(v, no_tensor, NULL); }

static bool no_node(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_NODE;
}

bool fxs_value_has_node(const fxs_value *v) { return !fxs_value_visit(v, no_node, NULL); }

static bool is_number(const fxs_value *v) {
    return v->tag == FXS_V_BOOL || v->tag == FXS_V_INT || v->tag == FXS_V_FLOAT;
}

static double number_of(const fxs_value *v) {
    return v->tag == FXS_V_FLOAT ? v->u.f : v->tag == FXS_V_INT ? (double)v->u.i : (double)v->u.b;
}

static bool items_equal(const fxs_value *a, const fxs_value *b) {
    size_t n = fxs_value_len(a);
    if (n != fxs_value_len(b))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (a->tag == FXS_V_DICT && !fxs_value_equal(fxs_value_key(a, i), fxs_value_key(b, i)))
            return false;
        if (!fxs_value_equal(fxs_value_item(a, i), fxs_value_item(b, i)))
            return false;
    }
    return true;
}

bool fxs_value_equal(const fxs_value *a, const fxs_value *b) {
    if (is_number(a) && is_number(b)) {
        if (a->tag == FXS_V_INT && b->tag == FXS_V_INT)
            return a->u.i == b->u.i;
        return number_of(a) == number_of(b);
    }
    if (a->tag != b->tag)
        return false;
    switch (a->tag) {
    case FXS_V_NONE:
    case FXS_V_ELLIPSIS:
        return true;
    case FXS_V_COMPLEX:
        return a->u.c[0] == b->u.c[0] && a->u.c[1] == b->u.c[1];
    case FXS_V_DTYPE:
        return a->u.dtype == b->u.dtype;
    case FXS_V_MEMORY_FORMAT:
        return a->u.format == b->u.format;
    case FXS_V_NODE:
        return a->u.node == b->u.node;
    case FXS_V_TENSOR:
        return a->u.tensor == b->u.tensor;
    case FXS_V_OBJECT:
        return a->u.object == b->u.object;
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_SLICE:
    case FXS_V_DICT:
        return items_equal(a, b);
    default:
        return fxs_value_text(a) && a->u.s->len == b->u.s->len &&
               memcmp(a->u.s->text, b->u.s->text, a->u.s->len) == 0;
    }
}

const char *fxs_value_type_name(const fxs_value *v) {
    static const char *const names[] = {
        [FXS_V_NONE] = "NoneType",
        [FXS_V_BOOL] = "bool",
        [FXS_V_INT] = "int",
        [FXS_V_FLOAT] = "float",
        [FXS_V_COMPLEX] = "complex",
        [FXS_V_STR] = "str",
        [FXS_V_DTYPE] = "torch.dtype",
        [FXS_V_DEVICE] = "torch.device",
        [FXS_V_LAYOUT] = "torch.layout",
        [FXS_V_MEMORY_FORMAT] = "torch.memory_format",
        [FXS_V_ELLIPSIS] = "ellipsis",
        [FXS_V_SLICE] = "slice",
        [FXS_V_LIST] = "list",
        [FXS_V_TUPLE] = "tuple",
        [FXS_V_DICT] = "dict",
        [FXS_V_NODE] = "torch.fx.node.Node",
        [FXS_V_TENSOR] = "torch.Tensor",
        [FXS_V_FUNCTION] = "function",
        [FXS_V_OPAQUE] = "object",
        [FXS_V_OBJECT] = "object",
        [FXS_V_UNKNOWN] = "?",
    };
    if (v->tag == FXS_V_TENSOR && v->u.tensor->is_parameter)
        return "torch.nn.parameter.Parameter";
    if (v->tag == FXS_V_OBJECT)
        return v->u.object->type->name;
    if (v->tag == FXS_V_TUPLE && v->u.seq->kind == FXS_TUPLE_SIZE)
        return "torch.Size";
    if (v->tag == FXS_V_TUPLE && v->u.seq->kind == FXS_TUPLE_NAMED && v->u.seq->type_name)
        return v->u.seq->type_name;
    return names[v->tag];
}
