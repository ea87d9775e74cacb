/* compose.h: operators that are made of other operators, as PyTorch makes them in Python: a loss is
 * a subtraction, a square and a mean. One function says how; the facts, the values and the cost all
 * follow from it. */
#ifndef FXS_KERNELS_COMPOSE_H
#define FXS_KERNELS_COMPOSE_H

#include "op/op.h"

/* One composition at work. Errors stick: a failed step gives NULL, later steps do nothing. */
typedef struct fxs_compose {
    fxs_call *call;
    bool meta;     /* shapes alone */
    bool any_grad; /* results require grad when any argument does, whatever the steps say */
    fxs_status status;
    double flops;
    bool view;     /* the outputs are views of arguments, as the last steps gave them */
    bool own_grad; /* outputs require grad as their steps say, not as any argument does */
    int nout;
    fxs_tensor
        *out[4]; /* what fxs_give was given; NULL: None. Borrowed from the steps or the arguments */
    struct fxs_step_result *steps;
    const struct fxs_storage *dying[2]; /* what the next step is the last to read */
} fxs_compose;

/* Says how an operator is made. */
typedef void fxs_compose_fn(fxs_compose *k);

/* The result of an operator (by its row's name), which lives as long as the composition. */
fxs_tensor *fxs_do(fxs_compose *k, const char *op, size_t n, const fxs_value *args);
#define FXS_DO(k, op, ...)                                                                         \
    fxs_do((k), (op), sizeof((fxs_value[]){__VA_ARGS__}) / sizeof(fxs_value),                      \
           (fxs_value[]){__VA_ARGS__})
/* The same with one argument by its name behind them. */
fxs_tensor *fxs_do_named(fxs_compose *k, const char *op, const char *name, fxs_value value,
                         size_t n, const fxs_value *args);
#define FXS_DO_NAMED(k, op, name, value, ...)                                                      \
    fxs_do_named((k), (op), (name), (value),                                                       \
                 sizeof((fxs_value[]){__VA_ARGS__}) / sizeof(fxs_value),                           \
                 (fxs_value[]){__VA_ARGS__})
/* The next step is the last that needs t, or any other view of its memory: its result may lie
 * there, and the memory of steps' results is free behind it. At most two a step; nothing for an
 * argument.
 */
void fxs_last(fxs_compose *k, const fxs_tensor *t);
/* Tensor i of the result of the last fxs_do that gave several. */
fxs_tensor *fxs_do_item(fxs_compose *k, int i);
/* The next output. */
void fxs_give(fxs_compose *k, fxs_tensor *t);
/* Refuses with the composed operator's name in front; the first error stays. */
void fxs_stop(fxs_compose *k, fxs_status s, const char *fmt, ...) FXS_PRINTF(3, 4);

/* Arguments of steps. A NULL tensor is None. */
static inline fxs_value fxs_of_dtype(fxs_dtype d) {
    return (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d};
}
static inline fxs_value fxs_t(fxs_tensor *t) { return t ? fxs_of_tensor(t) : fxs_none(); }
fxs_value fxs_ints(fxs_compose *k, int n, const int64_t *ints);
#define FXS_INTS(k, ...)                                                                           \
    fxs_ints((k), (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                       \
             (int64_t[]){__VA_ARGS__})
fxs_value fxs_word(fxs_compose *k, const char *s);
fxs_value fxs_tensors(fxs_compose *k, int n, fxs_tensor *const *t);

/* Drops what the steps gave; gives the status. For those who compose without the functions below.
 */
fxs_status fxs_compose_end(fxs_compose *k);

/* The three functions of a row. */
fxs_status fxs_compose_infer(fxs_call *c, fxs_compose_fn *how);
/* Where sizes depend on values: in EXECUTE infer computes the steps, and the outputs are their
 * results; the row has no kernel. */
fxs_status fxs_compose_infer_values(fxs_call *c, fxs_compose_fn *how);
fxs_status fxs_compose_run(fxs_call *c, fxs_compose_fn *how);
fxs_cost fxs_compose_cost(const fxs_call *c, fxs_compose_fn *how);
/* What moves elements and computes nothing has no cost. */
#define FXS_COMPOSED_FREE(name)                                                                    \
    static fxs_status infer_##name(fxs_call *c) { return fxs_compose_infer(c, make_##name); }      \
    static fxs_status run_##name(fxs_call *c) { return fxs_compose_run(c, make_##name); }
#define FXS_COMPOSED(name)                                                                         \
    FXS_COMPOSED_FREE(name)                                                                        \
    static fxs_cost cost_##name(const fxs_call *c) { return fxs_compose_cost(c, make_##name); }

#endif
