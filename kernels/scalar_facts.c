/* scalar_facts.c: questions about tensors and shapes whose answer is a Python value: is_conj
 * is_pinned is_set_to and the like, broadcast_shapes; and the reflected operators that are written
 * as methods. None of them computes. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/format.h"
#include "kernels/python.h"

/* What no tensor is here: conjugated or negated by a mark, in inference mode, distributed, pinned,
 * shared, named. */
static fxs_status infer_false(fxs_call *c) { return fxs_out_bool(c, false); }

/* A device may be its number. */
static fxs_status infer_is_pinned(fxs_call *c) {
    if (c->arg[1].tag == FXS_V_INT && fxs_arg_int(c, 1) < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "device index must not be negative");
    if (fxs_value_text(&c->arg[1]))
        FXS_TRY(fxs_check_device(c, 1));
    return fxs_out_bool(c, false);
}

/* is_set_to(tensor): the same elements of the same memory */
static fxs_status infer_is_set_to(fxs_call *c) {
    const fxs_tensor *a = fxs_arg_tensor(c, 0), *b = fxs_arg_tensor(c, 1);
    if (a != b && (!a->storage || !b->storage))
        return FXS_REFUSE(c, FXS_EUNKNOWN,
                          "whether two tensors share memory is not known without computing them");
    return fxs_out_bool(c, a == b || fxs_tensor_same_place(a, b));
}

/* broadcast_shapes(*shapes): each a number or a list of them. One list is one shape, so that they
 * are arguments of their own. */
static fxs_status infer_broadcast_shapes(fxs_call *c) {
    int64_t sizes[FXS_MAX_DIM], one;
    int ndim = 0;
    fxs_value out;
    for (int i = 0; i < c->nargs && c->arg[i].tag != FXS_V_NONE; i++) {
        const fxs_value *shape = &c->arg[i];
        bool is_list = shape->tag == FXS_V_LIST || shape->tag == FXS_V_TUPLE;
        int n = is_list ? (int)fxs_value_len(shape) : 1;
        if (n > FXS_MAX_DIM)
            return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
        for (; ndim < n; ndim++) { /* sizes are counted from the last one */
            memmove(sizes + 1, sizes, (size_t)ndim * sizeof *sizes);
            sizes[0] = 1;
        }
        for (int d = 0; d < n; d++) {
            const fxs_value *v = is_list ? fxs_value_item(shape, (size_t)d) : shape;
            int64_t *have = &sizes[ndim - n + d];
            fxs_number size;
            if (!fxs_number_of(v, &size) || size.real)
                return FXS_REFUSE(c, FXS_ETYPE, "a shape is made of whole numbers, not of %s",
                                  fxs_value_type_name(v));
            one = size.i;
            if (one < 0)
                return FXS_REFUSE(c, FXS_ESHAPE, "negative dimension %lld in shape %d",
                                  (long long)one, i);
            if (one != 1 && *have != 1 && one != *have)
                return FXS_REFUSE(c, FXS_ESHAPE,
                                  "shapes cannot be broadcast to a single shape: %lld and %lld",
                                  (long long)*have, (long long)one);
            *have = one == 1 ? *have : one;
        }
    }
    FXS_TRY(fxs_make_size(c->ctx, ndim, sizes, &out));
    return fxs_out_value(c, out);
}

/* ---- written as methods
 * ------------------------------------------------------------------------------------------- */

/* reversed(x): along the first dimension */
static void make_reversed(fxs_compose *k) {
    fxs_tensor *t = fxs_arg_tensor(k->call, 0);
    fxs_give(k, FXS_DO(k, "flip", fxs_t(t), fxs_ints(k, t->ndim > 0, (int64_t[]){0})));
}

/* x.__rlshift__(y): y << x */
static void make_rlshift(fxs_compose *k) {
    fxs_give(k, FXS_DO(k, "shift_left", k->call->arg[1], k->call->arg[0]));
}
static void make_rrshift(fxs_compose *k) {
    fxs_give(k, FXS_DO(k, "shift_right", k->call->arg[1], k->call->arg[0]));
}
static fxs_status infer_reversed(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    return t->ndim ? fxs_compose_infer(c, make_reversed) : fxs_out_same(c, t);
}
static fxs_status run_reversed(fxs_call *c) { return fxs_compose_run(c, make_reversed); }
FXS_COMPOSED(rlshift)
FXS_COMPOSED(rrshift)

#define ROW(name, schema, spellings, infer)                                                        \
    { name, schema, spellings, infer, NULL, NULL, FXS_OP_NO_INPLACE }
#define NOT(name, spellings) ROW(name, "(Tensor self) -> bool", spellings, infer_false)
#define SHAPES(n)                                                                                  \
    "any " #n "0=None, any " #n "1=None, any " #n "2=None, any " #n "3=None, any " #n "4=None"
#define SHIFT(name)                                                                                \
    {                                                                                              \
#name, "(Tensor self, Tensor|Scalar other) -> Tensor", "Tensor.__" #name "__",             \
            infer_##name, run_##name, cost_##name, FXS_OP_NO_INPLACE                               \
    }

const fxs_op fxs_ops_scalar_facts[] = {
    NOT("is_conj", "torch.is_conj Tensor.is_conj"),
    NOT("is_neg", "torch.is_neg Tensor.is_neg"),
    NOT("is_inference", "torch.is_inference Tensor.is_inference"),
    NOT("is_distributed", "torch.is_distributed Tensor.is_distributed"),
    NOT("is_shared", "Tensor.is_shared"),
    NOT("has_names", "Tensor.has_names"),
    ROW("is_pinned", "(Tensor self, int|device? device=None) -> bool", "Tensor.is_pinned",
        infer_is_pinned),
    ROW("is_set_to", "(Tensor self, Tensor tensor) -> bool", "Tensor.is_set_to", infer_is_set_to),
    ROW("broadcast_shapes", "(" SHAPES(shape) ", " SHAPES(more) ", " SHAPES(rest) ") -> any",
        "torch.functional.broadcast_shapes torch.broadcast_shapes", infer_broadcast_shapes),
    {"reversed", "(Tensor self) -> Tensor", "Tensor.__reversed__", infer_reversed, run_reversed,
     NULL, FXS_OP_NO_INPLACE},
    SHIFT(rlshift),
    SHIFT(rrshift),
    {0},
};
#undef ROW
#undef NOT
#undef SHIFT
#undef SHAPES
