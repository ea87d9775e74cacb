/* module_row.h: a leaf layer as a row: how its line in print(model) reads, which parameters and
 * buffers it has, and which operator call its forward is. Rows stand beside the operators they
 * call, in kernels/. */
#ifndef FXS_OP_MODULE_ROW_H
#define FXS_OP_MODULE_ROW_H

#include "op/op.h"

/* .hyper  The layer's own arguments in the order of its constructor, with the defaults that its
 * repr leaves out: "in_channels, out_channels, kernel_size, stride, padding=0, bias=True". A name
 * without default must be there; "*": any, which mean nothing. .state  Parameters and buffers that
 * it implies, separated by ';': [buffer] [dtype] name[shape] = init [if CONDITION] shape:
 * comma-separated products and quotients of hyper names and integers, *name splices a tuple:
 * "weight[out_channels, in_channels / groups, *kernel_size] = fan_in(weight); bias[out_channels] =
 * fan_in(weight) if bias" init: zeros, ones, normal, fan_in(NAME): uniform within 1/sqrt(fan-in of
 * that parameter), uniform(HYPER): uniform within 1/sqrt(HYPER). CONDITION: a hyper name that must
 * be true, "not NAME", or NAME == 'text'. .call   The operator call of forward, in Python's syntax
 * with one level: "conv2d(input, weight, bias, stride=stride)". Names are, in this order:
 * parameters of forward (those of .forward), state, hyper names, `training`. A parameter or buffer
 * that is not there is None. {A B} is a list of state, layers.#{A B} that of the children layers.0,
 * layers.1, ... in one list; layers.0.nhead is a child's argument. self.NAME is a hyper name where
 * a parameter of forward has the same. Literals: None True False, numbers, 'text'. .trace  What
 * tracing through forward records, where that is not .call with its operator's name: a call by
 * qualified name ("Tensor.NAME" is a method), or "input" alone. NAME(N): a number as a tuple of N;
 * NAME(f): an int as a float. .forward Parameters of forward, separated by commas: NAME, or NAME?
 * when it may be left out, and perhaps ": TYPE" behind it. "input" when NULL. .children What the
 * constructor puts under the layer, separated by ';': NAME = CLASS(...) with hyper names in it;
 * NAME[HYPER]: a ModuleList of that many. What is None is not there. .plan writes more such
 * entries, where names alone can't say them; their NAME may be a path (tail.0.1), and CLASS
 * ModuleList or Sequential. .repr   How print(model) shows the arguments, for layers that are built
 * from their constructor: names separated by commas, "kernel_size(2)=" by keyword, without "=" by
 * position. (N): an int is shown as N of them. |OTHER: None is shown as OTHER's value. -OTHER: a
 * negative number counts from OTHER's value. Behind "=": ? only when it is not the default, !
 * strings in quotes, f an int as a float. :TEXT is shown as it stands. NULL: as they were given.
 * .expand For layers whose state or call depends on more than this syntax can say (recurrent
 * layers); may be NULL. */
typedef struct fxs_layer fxs_layer;

struct fxs_module_row {
    const char *name, *hyper, *state, *call, *forward, *repr, *trace, *children;
    fxs_status (*expand)(fxs_layer *layer); /* adds state with fxs_layer_add */
    fxs_status (*plan)(const fxs_layer *layer, fxs_buf *entries); /* "NAME = CLASS(...); ..." */
};

typedef enum fxs_init { FXS_INIT_ZEROS, FXS_INIT_ONES, FXS_INIT_NORMAL, FXS_INIT_UNIFORM } fxs_init;

/* One implied parameter or buffer. */
typedef struct fxs_state {
    const char *name;
    bool is_buffer;
    fxs_dtype dtype;
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    fxs_init init;
    double bound; /* of FXS_INIT_UNIFORM: -bound to bound */
} fxs_state;

enum { FXS_MAX_HYPER = 24, FXS_MAX_STATE = 1 << 16 };

/* A layer's arguments bound to its row, and the state that follows. */
struct fxs_layer {
    fxs_ctx *ctx;
    fxs_arena *arena;
    const fxs_module_row *row;
    int nhyper;
    const char *hyper_names[FXS_MAX_HYPER];
    fxs_value hyper[FXS_MAX_HYPER];
    int nstate, state_cap;
    fxs_state *state; /* empty until fxs_layer_bind_state */
};

/* Binds positional and keyword arguments as they stand in print(model). Names and values go to `a`.
 * Enough for the forward call; the state that follows is worked out by fxs_layer_bind_state. */
FXS_API fxs_status fxs_layer_bind(fxs_ctx *ctx, fxs_arena *a, const fxs_module_row *row,
                                  const fxs_value *args, const fxs_value *kwargs, fxs_layer *out);
FXS_API fxs_status fxs_layer_bind_state(fxs_layer *layer);
/* For .expand: adds one state entry. */
fxs_status fxs_layer_add(fxs_layer *layer, const fxs_state *s);
/* The value of a hyper-parameter, NULL when the row has none of that name. */
FXS_API const fxs_value *fxs_layer_hyper(const fxs_layer *layer, const char *name);
/* The int value of a hyper-parameter (bools count), or `otherwise`. */
FXS_API int64_t fxs_layer_int(const fxs_layer *layer, const char *name, int64_t otherwise);

/* The forward call as operator arguments. `given` and `kwgiven` are what the graph passes; `fetch`
 * gives the state by name, of children at dotted names, and children's arguments likewise (NONE
 * when it is not there). args becomes a tuple and kwargs a dict in `a`; *op is the operator's name.
 */
typedef fxs_status fxs_fetch_fn(void *user, const char *name, fxs_value *out);
fxs_status fxs_layer_call(fxs_layer *layer, fxs_arena *a, const fxs_value *given,
                          const fxs_value *kwgiven, bool train, fxs_fetch_fn *fetch, void *user,
                          const char **op, fxs_value *args, fxs_value *kwargs);
/* The same call as .trace has it, in a layer that has one; *op is NULL, and args the value, where
 * forward gives back what it is given. */
fxs_status fxs_layer_traced_call(fxs_layer *layer, fxs_arena *a, const fxs_value *given,
                                 const fxs_value *kwgiven, bool train, fxs_fetch_fn *fetch,
                                 void *user, const char **op, fxs_value *args, fxs_value *kwargs);
/* An int (or float) as a tuple of n of them, a list as a tuple; other values stay. */
fxs_status fxs_layer_ntuple(fxs_ctx *ctx, fxs_arena *a, int n, fxs_value *v);

#endif
