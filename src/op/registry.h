/* registry.h: finds operators by spelling and layers by class name; parses each schema once. */
#ifndef FXS_OP_REGISTRY_H
#define FXS_OP_REGISTRY_H

#include "op/module_row.h"
#include "op/schema.h"

/* One operator under one of its spellings. */
typedef struct fxs_candidate {
    const fxs_op *op;
    const char *spelling;             /* NULL: found by the row's name */
    bool in_place;                    /* the spelling has the trailing underscore */
    bool underscored;                 /* the same, or the row itself is of that name: resize_ */
    const struct fxs_candidate *next; /* the next overload */
} fxs_candidate;

/* spelling: "torch.flatten", "operator.add", "Tensor.view"; NULL when there is none (no error is
 * set then). */
FXS_API fxs_status fxs_registry_find(fxs_ctx *ctx, const char *spelling, const fxs_candidate **out);
/* By the row's own name: what a layer's .call says. */
FXS_API fxs_status fxs_registry_find_op(fxs_ctx *ctx, const char *name, const fxs_candidate **out);
FXS_API fxs_status fxs_registry_find_module(fxs_ctx *ctx, const char *class_name,
                                            const fxs_module_row **out);
FXS_API fxs_status fxs_registry_schema(fxs_ctx *ctx, const fxs_op *op, const fxs_schema **out);
/* The family of an operator, NULL when it is in no table. */
FXS_API const fxs_family *fxs_registry_family(const fxs_op *op);

/* ---- one call, from arguments to results
 * ---------------------------------------------------------------- */

typedef struct fxs_apply {
    bool meta, train;
    uint64_t seed;
    const char
        *name; /* of the call: makes its draws others than those of other calls; NULL: none */
    fxs_arena *scratch; /* reset by the caller */
    /* Is the call the last that looks at the tensor and its storage? Then a result may take its
     * place. NULL: never. */
    bool (*is_last_use)(const void *user, const fxs_tensor *t);
    /* A call in place has changed shape, strides or requires_grad of a tensor: `before` has those
     * that it had. NULL: nobody has to know. */
    fxs_status (*changed)(const void *user, fxs_tensor *t, const fxs_tensor *before);
    const void *user;
} fxs_apply;

typedef struct fxs_applied {
    fxs_value result; /* counted for the caller */
    const fxs_op *op;
    fxs_cost cost;
} fxs_applied;

/* Binds, infers, allocates and computes. Overloads are tried in order; when none fits, the error is
 * that of the first, which is the one that users know. Outputs' requires_grad follows torch's rule.
 * In-place calls give the argument itself. */
FXS_API fxs_status fxs_op_apply(fxs_ctx *ctx, const fxs_candidate *ops, const fxs_value *args,
                                const fxs_value *kwargs, const fxs_apply *how, fxs_applied *out);
/* The same with arguments that are bound to op's schema already. */
fxs_status fxs_op_apply_bound(fxs_ctx *ctx, const fxs_candidate *op, const fxs_schema *schema,
                              fxs_value *bound, const fxs_apply *how, fxs_applied *out);

#endif
