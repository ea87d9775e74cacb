/* newer.c: functions that PyTorch has had since its version 2, as its documentation defines them:
 * attention of grouped queries, unravel_index, and functions of numbers that may be symbols in
 * exported graphs (sym_max sym_int and the like). */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/python.h"

/* ---- grouped queries
 * ------------------------------------------------------------------------------------------- */

/* As many heads as the query has: each is repeated for a group of queries. */
static fxs_tensor *repeated(fxs_compose *k, int i) {
    const fxs_tensor *q = fxs_arg_tensor(k->call, 0);
    fxs_tensor *t = fxs_arg_tensor(k->call, i);
    if (q->ndim < 3 || t->ndim < 3) {
        fxs_stop(k, FXS_ESHAPE, "grouped queries need tensors of at least 3 dimensions");
        return NULL;
    }
    int64_t want = q->sizes[q->ndim - 3], have = t->sizes[t->ndim - 3];
    if (have == 0 || want % have != 0) {
        fxs_stop(k, FXS_ESHAPE,
                 "the heads of the query must be a multiple of those of key and value, but they "
                 "are %lld and %lld",
                 (long long)want, (long long)have);
        return NULL;
    }
    return want == have
               ? t
               : FXS_DO(k, "repeat_interleave", fxs_t(t), fxs_int(want / have), fxs_int(-3));
}

/* scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *, scale,
 * enable_gqa) */
static void make_attention_of_groups(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    bool groups = fxs_arg_bool(k->call, 7);
    fxs_tensor *key = groups ? repeated(k, 1) : fxs_arg_tensor(k->call, 1),
               *value = groups ? repeated(k, 2) : fxs_arg_tensor(k->call, 2);
    fxs_give(k, FXS_DO_NAMED(k, "scaled_dot_product_attention", "scale", a[6], a[0], fxs_t(key),
                             fxs_t(value), a[3], a[4], a[5]));
}
FXS_COMPOSED(attention_of_groups)

/* ---- unravel_index(indices, shape)
 * ------------------------------------------------------------------------------ */

static fxs_status infer_unravel_index(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t shape[FXS_MAX_DIM];
    int n = fxs_arg_ints(c, 1, shape, FXS_MAX_DIM);
    if (!fxs_is_integral(t->dtype) || t->dtype == FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "expected indices of an integer type, but got torch.%s",
                          fxs_dtype_name(t->dtype));
    if (n > FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    c->out_tuple = true;
    for (int i = 0; i < n; i++) {
        if (shape[i] < 0)
            return FXS_REFUSE(c, FXS_EINVAL, "'shape' cannot have negative values, but has %lld",
                              (long long)shape[i]);
        FXS_TRY(fxs_out_new(c, FXS_INT64, t->ndim, t->sizes, NULL));
    }
    return FXS_OK;
}

static fxs_status run_unravel_index(fxs_call *c) {
    int64_t shape[FXS_MAX_DIM], step = 1;
    int n = fxs_arg_ints(c, 1, shape, FXS_MAX_DIM);
    fxs_compose k = {.call = c};
    for (int i = n - 1; i >= 0 && k.status == FXS_OK; i--) {
        fxs_tensor *x = FXS_DO(&k, "long", c->arg[0]);
        if (step && shape[i]) {
            x = FXS_DO_NAMED(&k, "div", "rounding_mode", fxs_word(&k, "floor"), fxs_t(x),
                             fxs_int(step));
            x = FXS_DO(&k, "remainder", fxs_t(x), fxs_int(shape[i]));
        }
        if (k.status == FXS_OK)
            fxs_tensor_copy(c->ctx, c->out[i], x);
        if (__builtin_mul_overflow(step, shape[i], &step))
            step = 0; /* no index reaches so far */
    }
    return fxs_compose_end(&k);
}

/* ---- numbers that may be symbols
 * -------------------------------------------------------------------------------- */

static fxs_status number(fxs_call *c, int i, fxs_number *n) {
    return fxs_number_of(&c->arg[i], n) ? FXS_OK
                                        : FXS_REFUSE(c, FXS_ETYPE, "expected a number, but got %s",
                                                     fxs_value_type_name(&c->arg[i]));
}

/* sym_int(x): towards 0, as Python's int */
static fxs_status infer_sym_int(fxs_call *c) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    if (n.real && !(fabs(n.f) < 9.2e18))
        return FXS_REFUSE(c, FXS_ELIMIT, "%g is no integer of 64 bits", n.f);
    return fxs_out_int(c, n.real ? (int64_t)n.f : n.i);
}

static fxs_status infer_sym_float(fxs_call *c) {
    fxs_number n;
    FXS_TRY(number(c, 0, &n));
    return fxs_out_float(c, n.f);
}

static fxs_status infer_sym_not(fxs_call *c) {
    bool holds;
    FXS_TRY(fxs_truth(c, &c->arg[0], &holds));
    return fxs_out_bool(c, !holds);
}

/* sym_max, sym_min: a float when one of the two is one */
static fxs_status extreme(fxs_call *c, bool most) {
    fxs_number a, b;
    FXS_TRY(number(c, 0, &a));
    FXS_TRY(number(c, 1, &b));
    if (a.real || b.real)
        return fxs_out_float(c, most ? fmax(a.f, b.f) : fmin(a.f, b.f));
    return fxs_out_int(c, (a.i > b.i) == most ? a.i : b.i);
}
static fxs_status infer_sym_max(fxs_call *c) { return extreme(c, true); }
static fxs_status infer_sym_min(fxs_call *c) { return extreme(c, false); }

/* sym_ite(condition, then, else) */
static fxs_status infer_sym_ite(fxs_call *c) {
    bool holds;
    FXS_TRY(fxs_truth(c, &c->arg[0], &holds));
    return fxs_out_value(c, fxs_value_ref(c->arg[holds ? 1 : 2]));
}

/* _check(condition, message): the message is a function there, or nothing */
static fxs_status infer_check(fxs_call *c) {
    bool holds;
    FXS_TRY(fxs_truth(c, &c->arg[0], &holds));
    return holds ? fxs_out_value(c, fxs_none())
                 : FXS_REFUSE(c, FXS_EINVAL, "the condition does not hold");
}

/* _shape_as_tensor(x): the sizes as a tensor, which are known without values */
static fxs_status infer_shape_as_tensor(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    FXS_TRY(fxs_out_new(c, FXS_INT64, 1, (int64_t[]){t->ndim}, NULL));
    FXS_TRY(fxs_tensor_allocate(c->ctx, c->out[0]));
    memcpy(fxs_tensor_data(c->out[0]), t->sizes, (size_t)t->ndim * sizeof *t->sizes);
    return FXS_OK;
}

#define PURE FXS_OP_NO_INPLACE
#define SYM(name, arguments)                                                                       \
    { #name, "(" arguments ") -> any", "torch." #name, infer_##name, NULL, NULL, PURE }

const fxs_op fxs_ops_newer[] = {
    {"attention_of_groups",
     "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
     "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     "torch._C._nn.scaled_dot_product_attention torch.nn.functional.scaled_dot_product_attention",
     infer_attention_of_groups, run_attention_of_groups, cost_attention_of_groups,
     PURE | FXS_OP_RANDOM},
    {"unravel_index", "(Tensor indices, int|int[] shape) -> Tensor[]",
     "torch.functional.unravel_index torch.unravel_index", infer_unravel_index, run_unravel_index,
     NULL, PURE},
    SYM(sym_int, "any a"),
    SYM(sym_float, "any a"),
    SYM(sym_not, "any a"),
    SYM(sym_max, "any a, any b"),
    SYM(sym_min, "any a, any b"),
    SYM(sym_ite, "any b, any t, any f"),
    {"check", "(any cond, any message=None) -> None", "torch._check", infer_check, NULL, NULL,
     PURE},
    {"shape_as_tensor", "(Tensor self) -> Tensor", "torch._shape_as_tensor", infer_shape_as_tensor,
     NULL, NULL, PURE | FXS_OP_NO_GRAD},
    {0},
};
#undef PURE
#undef SYM
