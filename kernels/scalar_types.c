/* scalar_types.c: questions about types and shapes that models ask: promote_types result_type
 * can_cast is_same_size is_nonzero. */
#include "kernels/iterate.h"
#include "kernels/python.h"

static fxs_status out_dtype(fxs_call *c, fxs_dtype d) {
    return fxs_out_value(c, (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d});
}

static fxs_status infer_promote_types(fxs_call *c) {
    return out_dtype(c, fxs_promote(c->arg[0].u.dtype, c->arg[1].u.dtype));
}

/* result_type(a, b): of tensors and numbers */
static fxs_status infer_result_type(fxs_call *c) {
    fxs_operands o = fxs_operands_of(c, 0, 2);
    return out_dtype(c, fxs_common_type(&o));
}

/* can_cast(from, to): not to a lower kind */
static fxs_status infer_can_cast(fxs_call *c) {
    return fxs_out_bool(c, fxs_dtype_keeps(c->arg[1].u.dtype, c->arg[0].u.dtype));
}

static fxs_status infer_is_same_size(fxs_call *c) {
    const fxs_tensor *a = fxs_arg_tensor(c, 0), *b = fxs_arg_tensor(c, 1);
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < a->ndim; i++)
        same = a->sizes[i] == b->sizes[i];
    return fxs_out_bool(c, same);
}

/* is_nonzero(x): Python's bool(x) */
static fxs_status infer_is_nonzero(fxs_call *c) {
    bool truth;
    if (fxs_arg_numel(c, 0) == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "the truth of a tensor without elements is not defined");
    FXS_TRY(fxs_truth(c, &c->arg[0], &truth));
    return fxs_out_bool(c, truth);
}

#define FACT(name, schema, spellings)                                                              \
    { #name, schema, spellings, infer_##name, NULL, NULL, FXS_OP_NO_INPLACE | FXS_OP_COMPLEX }
#define RESULT(schema) FACT(result_type, schema, "torch.result_type")

const fxs_op fxs_ops_scalar_types[] = {
    FACT(promote_types, "(dtype type1, dtype type2) -> dtype", "torch.promote_types"),
    RESULT("(Tensor tensor, Tensor other) -> dtype"),
    RESULT("(Scalar scalar, Tensor tensor) -> dtype"),
    RESULT("(Tensor tensor, Scalar other) -> dtype"),
    RESULT("(Scalar scalar1, Scalar scalar2) -> dtype"),
    FACT(can_cast, "(dtype from, dtype to) -> bool", "torch.can_cast"),
    FACT(is_same_size, "(Tensor self, Tensor other) -> bool",
         "torch.is_same_size Tensor.is_same_size"),
    FACT(is_nonzero, "(Tensor self) -> bool", "torch.is_nonzero Tensor.is_nonzero"),
    {0},
};
#undef FACT
#undef RESULT
