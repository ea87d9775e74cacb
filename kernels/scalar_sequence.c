/* scalar_sequence.c: Python's lists, tuples, torch.Size, dicts and strings in graphs: getitem, len,
 * contains, min, max, sum, tuple, list, math.prod. Tensors are items here like any other. */
#include <string.h>

#include "kernels/python.h"

static bool is_seq(const fxs_value *v) { return v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE; }

/* ---- getitem
 * ------------------------------------------------------------------------------------------- */

static fxs_status give_item(fxs_call *c, const fxs_value *v) {
    return fxs_out_value(c, fxs_value_ref(*v));
}

static fxs_status at_int(fxs_call *c, const fxs_value *seq, int64_t i) {
    int64_t n = (int64_t)fxs_value_len(seq);
    if (i < -n || i >= n)
        return FXS_REFUSE(c, FXS_EINDEX, "%s index %lld is out of range: there are %lld items",
                          seq->tag == FXS_V_LIST ? "list" : "tuple", (long long)i, (long long)n);
    return give_item(c, fxs_value_item(seq, (size_t)(i < 0 ? i + n : i)));
}

static fxs_status bound(fxs_call *c, const fxs_value *v, int64_t otherwise, int64_t *out) {
    fxs_number n;
    *out = otherwise;
    if (v->tag == FXS_V_NONE)
        return FXS_OK;
    if (!fxs_number_of(v, &n) || n.real)
        return FXS_REFUSE(c, FXS_ETYPE, "slice indices must be integers or None, not %s",
                          fxs_value_type_name(v));
    *out = n.i;
    return FXS_OK;
}

static int64_t clip(int64_t x, int64_t low, int64_t high, int64_t n) {
    if (x < 0)
        x = x < -n ? low : x + n;
    return x < low ? low : x > high ? high : x;
}

/* A slice's first index, step and number of items, as Python's slice.indices says. */
static fxs_status slice_range(fxs_call *c, const fxs_value *slice, int64_t n, int64_t *start,
                              int64_t *step, int64_t *count) {
    int64_t stop;
    FXS_TRY(bound(c, fxs_value_item(slice, 2), 1, step));
    if (*step == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "slice step cannot be zero");
    bool down = *step < 0;
    FXS_TRY(bound(c, fxs_value_item(slice, 0), down ? INT64_MAX : 0, start));
    *start = down ? clip(*start, -1, n - 1, n) : clip(*start, 0, n, n);
    FXS_TRY(bound(c, fxs_value_item(slice, 1), down ? -1 - n : INT64_MAX, &stop));
    stop = down ? clip(stop, -1, n - 1, n) : clip(stop, 0, n, n);
    int64_t span = down ? *start - stop : stop - *start;
    uint64_t width = down ? 0 - (uint64_t)*step : (uint64_t)*step;
    *count = span > 0 ? (int64_t)(((uint64_t)span - 1) / width) + 1 : 0;
    return FXS_OK;
}

static fxs_status at_slice(fxs_call *c, const fxs_value *seq, const fxs_value *slice) {
    int64_t start, step, count;
    fxs_value out;
    FXS_TRY(slice_range(c, slice, (int64_t)fxs_value_len(seq), &start, &step, &count));
    FXS_TRY(fxs_make_seq(c->ctx, NULL, seq->tag, (size_t)count, &out));
    out.u.seq->kind = seq->u.seq->kind == FXS_TUPLE_SIZE ? FXS_TUPLE_SIZE : FXS_TUPLE_PLAIN;
    for (int64_t i = 0; i < count; i++, start += i < count ? step : 0)
        out.u.seq->items[i] = fxs_value_ref(seq->u.seq->items[start]);
    return fxs_out_value(c, out);
}

static fxs_status text_at(fxs_call *c, const fxs_value *text, const fxs_value *index) {
    int64_t start, step = 1, count = 1, n = (int64_t)text->u.s->len;
    fxs_value out;
    if (index->tag == FXS_V_SLICE) {
        FXS_TRY(slice_range(c, index, n, &start, &step, &count));
    } else {
        FXS_TRY(bound(c, index, 0, &start));
        if (start < -n || start >= n)
            return FXS_REFUSE(c, FXS_EINDEX,
                              "string index %lld is out of range: there are %lld bytes",
                              (long long)start, (long long)n);
        start += start < 0 ? n : 0;
    }
    FXS_TRY(fxs_make_text(c->ctx, NULL, FXS_V_STR, text->u.s->text, (size_t)count, &out));
    for (int64_t i = 0; i < count; i++)
        out.u.s->text[i] = text->u.s->text[start + i * step];
    return fxs_out_value(c, out);
}

static const fxs_value *find_key(const fxs_value *dict, const fxs_value *key) {
    for (size_t i = 0; i < fxs_value_len(dict); i++)
        if (fxs_python_equal(fxs_value_key(dict, i), key))
            return fxs_value_item(dict, i);
    return NULL;
}

static fxs_status missing_key(fxs_call *c, const fxs_value *key) {
    fxs_buf b = {0};
    fxs_buf_repr(&b, key, &(fxs_repr){0});
    fxs_status s = b.failed ? fxs_fail_memory(c->ctx)
                            : FXS_REFUSE(c, FXS_ENOTFOUND, "the dict has no key %s", b.data);
    fxs_buf_free(&b);
    return s;
}

static fxs_status infer_getitem(fxs_call *c) {
    const fxs_value *a = &c->arg[0], *index = &c->arg[1];
    fxs_number n;
    if (index->tag == FXS_V_UNKNOWN || (index->tag == FXS_V_TENSOR && !index->u.tensor->storage))
        return FXS_REFUSE(c, FXS_EUNKNOWN, "the index is not known without computing it");
    if (a->tag == FXS_V_DICT) {
        const fxs_value *v = find_key(a, index);
        return v ? give_item(c, v) : missing_key(c, index);
    }
    if (a->tag == FXS_V_STR)
        return text_at(c, a, index);
    if (!is_seq(a))
        return FXS_REFUSE(c, FXS_ETYPE, "'%s' object is not subscriptable", fxs_value_type_name(a));
    if (index->tag == FXS_V_SLICE)
        return at_slice(c, a, index);
    if (!fxs_number_of(index, &n) || n.real)
        return FXS_REFUSE(c, FXS_ETYPE, "indices must be integers or slices, not %s",
                          fxs_value_type_name(index));
    return at_int(c, a, n.i);
}

/* ---- len, contains, tuple, list
 * ------------------------------------------------------------------------ */

static fxs_status infer_len(fxs_call *c) {
    const fxs_value *v = &c->arg[0];
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    if (t && t->ndim == 0)
        return FXS_REFUSE(c, FXS_ETYPE, "len() of a 0-d tensor");
    if (t)
        return fxs_out_int(c, t->sizes[0]);
    if (v->tag == FXS_V_STR)
        return fxs_out_int(c, (int64_t)v->u.s->len);
    if (!is_seq(v) && v->tag != FXS_V_DICT)
        return FXS_REFUSE(c, FXS_ETYPE, "object of type '%s' has no len()", fxs_value_type_name(v));
    return fxs_out_int(c, (int64_t)fxs_value_len(v));
}

static fxs_status infer_contains(fxs_call *c) {
    const fxs_value *a = &c->arg[0], *b = &c->arg[1];
    if (a->tag == FXS_V_STR && b->tag == FXS_V_STR)
        return fxs_out_bool(c, strstr(a->u.s->text, b->u.s->text) != NULL);
    if (a->tag == FXS_V_DICT)
        return fxs_out_bool(c, find_key(a, b) != NULL);
    if (!is_seq(a))
        return FXS_REFUSE(c, FXS_ETYPE, "argument of type '%s' is not iterable",
                          fxs_value_type_name(a));
    for (size_t i = 0; i < fxs_value_len(a); i++)
        if (fxs_python_equal(fxs_value_item(a, i), b))
            return fxs_out_bool(c, true);
    return fxs_out_bool(c, false);
}

static fxs_status need_seq(fxs_call *c, const fxs_value *v) {
    if (!is_seq(v))
        return FXS_REFUSE(c, FXS_ETYPE, "'%s' object is not iterable", fxs_value_type_name(v));
    return FXS_OK;
}

static fxs_status copy_as(fxs_call *c, fxs_tag tag, fxs_tuple_kind kind) {
    const fxs_value *v = &c->arg[0];
    size_t n = fxs_value_len(v);
    fxs_value out;
    bool keys = v->tag == FXS_V_DICT;
    if (!keys)
        FXS_TRY(need_seq(c, v));
    FXS_TRY(fxs_make_seq(c->ctx, NULL, tag, n, &out));
    out.u.seq->kind = kind;
    for (size_t i = 0; i < n; i++)
        out.u.seq->items[i] = fxs_value_ref(keys ? *fxs_value_key(v, i) : *fxs_value_item(v, i));
    return fxs_out_value(c, out);
}

static fxs_status infer_tuple(fxs_call *c) { return copy_as(c, FXS_V_TUPLE, FXS_TUPLE_PLAIN); }
static fxs_status infer_list(fxs_call *c) { return copy_as(c, FXS_V_LIST, FXS_TUPLE_PLAIN); }

static fxs_status infer_size(fxs_call *c) {
    const fxs_value *v = &c->arg[0];
    for (size_t i = 0; i < fxs_value_len(v); i++)
        if (fxs_value_item(v, i)->tag != FXS_V_INT)
            return FXS_REFUSE(c, FXS_ETYPE,
                              "torch.Size() takes an iterable of 'int' (item %d is '%s')", (int)i,
                              fxs_value_type_name(fxs_value_item(v, i)));
    return copy_as(c, FXS_V_TUPLE, FXS_TUPLE_SIZE);
}

/* ---- reductions
 * ---------------------------------------------------------------------------------------- */

/* max(a, b, ...) or max([a, b, ...]): the first of the largest. */
static fxs_status best_of(fxs_call *c, int want) {
    const fxs_value *items = &c->arg[0], *best = NULL;
    if (fxs_value_len(items) == 1 && is_seq(fxs_value_item(items, 0)))
        items = fxs_value_item(items, 0);
    for (size_t i = 0; i < fxs_value_len(items); i++) {
        const fxs_value *v = fxs_value_item(items, i);
        int order = want;
        bool unordered = false;
        if (best)
            FXS_TRY(fxs_python_compare(c, v, best, &order, &unordered));
        if (!best || (!unordered && order * want > 0))
            best = v;
    }
    return best ? give_item(c, best) : FXS_REFUSE(c, FXS_EINVAL, "arg is an empty sequence");
}

static fxs_status infer_max(fxs_call *c) { return best_of(c, 1); }
static fxs_status infer_min(fxs_call *c) { return best_of(c, -1); }

static fxs_status fold(fxs_call *c, const fxs_value *start, bool product) {
    fxs_number all, n;
    FXS_TRY(need_seq(c, &c->arg[0]));
    if (!fxs_number_of(start, &all))
        return FXS_REFUSE(c, FXS_ETYPE, "start must be a number, not %s",
                          fxs_value_type_name(start));
    for (size_t i = 0; i < fxs_value_len(&c->arg[0]); i++) {
        const fxs_value *v = fxs_value_item(&c->arg[0], i);
        if (!fxs_number_of(v, &n))
            return FXS_REFUSE(c, FXS_ETYPE, "unsupported operand type: '%s'",
                              fxs_value_type_name(v));
        all.f = product ? all.f * n.f : all.f + n.f;
        all.real |= n.real;
        if (!all.real && (product ? __builtin_mul_overflow(all.i, n.i, &all.i)
                                  : __builtin_add_overflow(all.i, n.i, &all.i)))
            return FXS_REFUSE(c, FXS_ELIMIT, "the result is an integer of more than 64 bits");
    }
    return all.real ? fxs_out_float(c, all.f) : fxs_out_int(c, all.i);
}

static fxs_status infer_sum(fxs_call *c) { return fold(c, &c->arg[1], false); }
static fxs_status infer_prod(fxs_call *c) { return fold(c, &c->arg[1], true); }

#define ROW(name, schema, spellings, infer)                                                        \
    { name, schema, spellings, infer, NULL, NULL, FXS_OP_NO_INPLACE }

const fxs_op fxs_ops_scalar_sequence[] = {
    ROW("python_getitem", "(any a, any b) -> any", "operator.getitem", infer_getitem),
    ROW("len", "(any obj) -> int", "builtins.len Tensor.__len__", infer_len),
    ROW("length_hint", "(any obj, int default=0) -> int", "operator.length_hint", infer_len),
    ROW("contains", "(any a, any b) -> bool", "operator.contains", infer_contains),
    ROW("tuple", "(any iterable=[]) -> any", "builtins.tuple", infer_tuple),
    ROW("list", "(any iterable=[]) -> any", "builtins.list", infer_list),
    ROW("size_of_list", "(int[] sizes=[]) -> any", "torch.Size", infer_size),
    ROW("python_max", "(any... args) -> any", "builtins.max", infer_max),
    ROW("python_min", "(any... args) -> any", "builtins.min", infer_min),
    ROW("python_sum", "(any iterable, any start=0) -> any", "builtins.sum", infer_sum),
    ROW("python_prod", "(any iterable, *, any start=1) -> any", "math.prod", infer_prod),
    {0},
};
#undef ROW
