/* trace_operator.c: Python's operators on proxies, indexing and unpacking, and what can't be
 * traced: truth, length and loops. */
#include <stdio.h>
#include <string.h>

#include "front/trace.h"

/* A concrete tensor on the left answers itself, so that the operator becomes one of its methods. */
static const char *tensor_method(const char *operator_name) {
    static const char *const names[][2] = {{"add", "add"},
                                           {"sub", "sub"},
                                           {"mul", "mul"},
                                           {"truediv", "div"},
                                           {"floordiv", "__floordiv__"},
                                           {"mod", "remainder"},
                                           {"pow", "pow"},
                                           {"matmul", "matmul"},
                                           {"eq", "eq"},
                                           {"ne", "ne"},
                                           {"lt", "lt"},
                                           {"gt", "gt"},
                                           {"le", "le"},
                                           {"ge", "ge"},
                                           {"and_", "__and__"},
                                           {"or_", "__or__"},
                                           {"xor", "__xor__"},
                                           {"lshift", "__lshift__"},
                                           {"rshift", "__rshift__"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], operator_name) == 0)
            return names[i][1];
    return NULL;
}

fxs_proxy fxs_record_operator(fxs_place at, const char *name, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    fxs_value args, kwargs;
    char target[40];
    if (!t || t->failed)
        return fxs_poison_of(at, n, p);
    if (!name || !*name || strlen(name) > 30)
        return fxs_tracer_fail(t, FXS_EINVAL,
                               "fxs_record_operator: the name of an operator expected");
    if (!n)
        return fxs_tracer_fail(t, FXS_EINVAL, "operator.%s has no operands", name);
    if (!fxs_proxy_arguments(t, n, p, &args, &kwargs))
        return fxs_poison(t);
    const char *method = args.u.seq->items[0].tag == FXS_V_TENSOR && fxs_value_has_node(&args)
                             ? tensor_method(name)
                             : NULL;
    if (method)
        return fxs_tracer_method(t, method, &args, &kwargs);
    snprintf(target, sizeof target, "operator.%s", name);
    return fxs_tracer_function(t, target, &args, &kwargs);
}

/* ---- indexing
 * --------------------------------------------------------------------------------------------------------
 */

/* Item of a container that is there, as Python takes it: an int, or a string of a dict. False when
 * it is no such index.
 */
static bool plain_item(fxs_tracer *t, const fxs_value *of, const fxs_value *index, fxs_proxy *out) {
    size_t n = fxs_value_len(of);
    if ((of->tag == FXS_V_LIST || of->tag == FXS_V_TUPLE) && index->tag == FXS_V_INT) {
        int64_t i = index->u.i < 0 ? index->u.i + (int64_t)n : index->u.i;
        if (i < 0 || i >= (int64_t)n)
            *out =
                fxs_tracer_fail(t, FXS_EINDEX, "%s index out of range: %lld of %zu",
                                of->tag == FXS_V_LIST ? "list" : "tuple", (long long)index->u.i, n);
        else
            *out = fxs_made(t, of->u.seq->items[i]);
        return true;
    }
    if (of->tag != FXS_V_DICT)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!fxs_value_equal(&of->u.dict->pairs[i].key, index))
            continue;
        *out = fxs_made(t, of->u.dict->pairs[i].value);
        return true;
    }
    *out = fxs_tracer_fail(t, FXS_ENOTFOUND, "a dict has no such key");
    return true;
}

fxs_proxy fxs_record_index(fxs_place at, size_t n, const fxs_proxy *p) {
    fxs_tracer *t = fxs_tracer_of(at, n, p);
    fxs_proxy both[2], out;
    fxs_value args, kwargs;
    if (!t || t->failed)
        return fxs_poison_of(at, n, p);
    if (n < 2)
        return fxs_tracer_fail(t, FXS_EINVAL,
                               "fxs_index: a proxy, then at least one index expected");
    both[0] = p[0];
    both[1] = n == 2 ? p[1]
                     : (fxs_proxy){.kind = FXS_P_ITEMS,
                                   .tag = FXS_V_TUPLE,
                                   .n = (unsigned)(n - 1),
                                   .u.items = p + 1};
    if (!fxs_proxy_arguments(t, 2, both, &args, &kwargs))
        return fxs_poison(t);
    const fxs_value *of = &args.u.seq->items[0], *index = &args.u.seq->items[1];
    if (plain_item(t, of, index, &out))
        return out;
    if (of->tag == FXS_V_TENSOR &&
        fxs_value_has_node(index)) { /* as Tensor.__getitem__ hands it on: always a tuple */
        fxs_value tuple;
        if (index->tag != FXS_V_TUPLE) {
            fxs_status s = fxs_make_seq(t->ctx, &t->scratch, FXS_V_TUPLE, 1, &tuple);
            if (s != FXS_OK)
                return fxs_tracer_failed(t, s);
            tuple.u.seq->items[0] = *index;
            args.u.seq->items[1] = tuple;
        }
        return fxs_tracer_method(t, "__getitem__", &args, &kwargs);
    }
    return fxs_tracer_function(t, "operator.getitem", &args, &kwargs);
}

void fxs_record_unpack(fxs_place at, fxs_proxy x, size_t n, fxs_proxy *out) {
    fxs_tracer *t = fxs_tracer_of(at, 1, &x);
    fxs_value v;
    for (size_t i = 0; i < n; i++)
        out[i] = fxs_poison_of(at, 1, &x);
    if (!t || t->failed || !fxs_proxy_value(t, &t->arena, &x, &v))
        return;
    size_t have = fxs_value_len(&v);
    if (v.tag != FXS_V_NODE && have != n) {
        fxs_tracer_fail(t, FXS_EINVAL,
                        have < n ? "not enough values to unpack (expected %zu, got %zu)"
                                 : "too many values to unpack (expected %zu, got %zu)",
                        n, have);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        fxs_proxy p[] = {x, fxs_i((int64_t)i)};
        out[i] =
            v.tag == FXS_V_NODE ? fxs_record_index(at, 2, p) : fxs_made(t, *fxs_value_item(&v, i));
    }
}

/* ---- what can't be traced
 * ------------------------------------------------------------------------------------------------
 */

static const char no_control_flow[] =
    "symbolically traced variables cannot be used as inputs to control flow";
static const char no_len[] =
    "'len' is not supported in symbolic tracing by default. If you want this call to be "
    "recorded, call fxs_function(self, \"builtins.len\", x)";
static const char no_iteration[] = "Proxy object cannot be iterated. This can be attempted when "
                                   "the Proxy is used in a loop or as a *args or **kwargs "
                                   "function argument. Where the number of items is known, "
                                   "fxs_unpack records one getitem for each";

/* The value of a constant, container or module; false (and an error) when it is a node. */
static bool concrete(fxs_place at, const fxs_proxy *x, const char *refusal, fxs_tracer **t,
                     fxs_value *v) {
    *v = fxs_none();
    *t = fxs_tracer_of(at, 1, x);
    if (!*t && (x->kind == FXS_P_POISON || (x->kind == FXS_P_TEXT && !x->u.text)))
        return false;
    if (!*t) { /* a constant without containers that need a trace's memory */
        *v = x->kind == FXS_P_VALUE
                 ? x->u.value
                 : fxs_int(x->kind == FXS_P_TEXT ? (int64_t)strlen(x->u.text) : x->n);
        return true;
    }
    if ((*t)->failed || !fxs_proxy_value(*t, &(*t)->arena, x, v))
        return false;
    if (v->tag == FXS_V_NODE || v->tag == FXS_V_TENSOR)
        fxs_tracer_fail(*t, FXS_EINVAL, "%s", refusal);
    return !(*t)->failed;
}

bool fxs_record_truth(fxs_place at, fxs_proxy x) {
    fxs_tracer *t;
    fxs_value v;
    if (x.kind == FXS_P_MODULE)
        return true;
    if (!concrete(at, &x, no_control_flow, &t, &v))
        return false;
    switch (v.tag) {
    case FXS_V_NONE:
        return false;
    case FXS_V_BOOL:
        return v.u.b;
    case FXS_V_INT:
        return v.u.i != 0;
    case FXS_V_FLOAT:
        return v.u.f != 0;
    case FXS_V_STR:
        return v.u.s->len != 0;
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_DICT:
        return fxs_value_len(&v) != 0;
    default:
        return true;
    }
}

size_t fxs_record_len(fxs_place at, fxs_proxy x) {
    fxs_tracer *t;
    fxs_value v;
    if (x.kind == FXS_P_MODULE)
        return fxs_children(x);
    if (!concrete(at, &x, no_len, &t, &v))
        return 0;
    if (!t && x.kind != FXS_P_VALUE)
        return x.kind == FXS_P_TEXT ? strlen(x.u.text) : x.tag == FXS_V_DICT ? x.n / 2 : x.n;
    return v.tag == FXS_V_STR ? v.u.s->len : fxs_value_len(&v);
}

fxs_proxy fxs_record_iter(fxs_place at, fxs_proxy x, size_t i) {
    fxs_tracer *t;
    fxs_value v;
    if (x.kind == FXS_P_MODULE)
        return fxs_record_child_at(at, x, i);
    if (!x.tracer)
        return x.kind == FXS_P_ITEMS && i < x.n  ? x.u.items[i]
               : x.kind == FXS_P_INTS && i < x.n ? fxs_i(x.u.ints[i])
                                                 : fxs_poison_of(at, 1, &x);
    if (!concrete(at, &x, no_iteration, &t, &v))
        return fxs_poison(t);
    const fxs_value *item = v.tag == FXS_V_DICT ? fxs_value_key(&v, i) : fxs_value_item(&v, i);
    return item ? fxs_made(t, *item) : fxs_tracer_fail(t, FXS_EINDEX, "there is no item %zu", i);
}

void fxs_record_assert(fxs_place at, fxs_proxy x) {
    fxs_tracer *t = fxs_tracer_of(at, 1, &x);
    fxs_value args, kwargs;
    if (!t || t->failed)
        return;
    if (!t->opt.trace_asserts || x.kind != FXS_P_VALUE || x.u.value.tag != FXS_V_NODE) {
        if (!fxs_record_truth(at, x) && !t->failed)
            fxs_tracer_fail(t, FXS_EINVAL, "AssertionError");
    } else if (fxs_proxy_arguments(t, 1, &x, &args, &kwargs)) {
        fxs_tracer_function(t, "torch.fx.proxy.assert_fn", &args, &kwargs);
    }
}

fxs_proxy fxs_record_annotate(fxs_place at, fxs_proxy x, const char *type) {
    fxs_tracer *t = fxs_tracer_of(at, 1, &x);
    if (!t || t->failed || x.kind != FXS_P_VALUE || x.u.value.tag != FXS_V_NODE)
        return x;
    fxs_node *n = x.u.value.u.node;
    if (!type || !*type)
        return fxs_tracer_fail(t, FXS_EINVAL, "fxs_annotate: a type expected");
    if (n->type)
        return fxs_tracer_fail(
            t, FXS_EINVAL,
            "Tried to annotate a value that already had a type on it! Existing type is %s and new "
            "type is %s.",
            n->type, type);
    n->type = fxs_arena_dup(&t->graph->arena, type, strlen(type));
    return n->type ? x : fxs_tracer_failed(t, fxs_fail_memory(t->ctx));
}
