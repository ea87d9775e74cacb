/* trace.h: what the parts of the tracer share: the tracer's state, forwards and their signatures,
 * and the steps from proxies to a node. Proxies become values (containers and texts in an arena,
 * tensors as themselves), values become arguments (tensors as get_attr nodes), arguments become a
 * node. */
#ifndef FXS_FRONT_TRACE_H
#define FXS_FRONT_TRACE_H

#include "front/text.h"
#include "fxtrace.h"
#include "op/registry.h"

/* ---- forwards (trace_signature.c)
 * --------------------------------------------------------------------------- */

typedef struct fxs_forward_param {
    const char *name, *type; /* type NULL: none */
    int stars;               /* 1: *args, 2: **kwargs */
    bool keyword_only, has_default;
    fxs_value fallback;
} fxs_forward_param;

struct fxs_forward {
    fxs_arena arena;
    fxs_forward_fn *fn;
    void *user;
    const char *returns; /* type of the result; NULL: none */
    int nparams;
    fxs_forward_param params[FXS_MAX_ARGS];
};

fxs_status fxs_forward_new(fxs_ctx *ctx, const char *signature, fxs_forward_fn *fn, void *user,
                           struct fxs_forward **out);
void fxs_forward_free(struct fxs_forward *f);
/* The forward that a trace goes through: m's own, or that of Sequential; NULL: m is a layer. */
const struct fxs_forward *fxs_forward_of(const fxs_module *m);
/* The same for a layer: its row's parameters, with their types. Without a function where the layer
 * is one call: that is fxs_tracer_layer's (trace_layer.c). */
fxs_status fxs_forward_of_layer(fxs_ctx *ctx, const fxs_module *m, struct fxs_forward **out);
/* The same for a module that is a graph; made anew, since graphs change (trace_graph.c). */
fxs_status fxs_forward_of_graph(fxs_ctx *ctx, const fxs_module *m, struct fxs_forward **out);
fxs_proxy fxs_forward_graph(fxs_proxy self, const fxs_proxy *x);
/* Arguments of a call by position and keyword, as the parameters x[nparams]. Python's words when
 * they do not fit. */
bool fxs_forward_bind(fxs_tracer *t, const struct fxs_forward *f, const char *class_name, size_t n,
                      const fxs_proxy *p, fxs_proxy *x);

/* ---- the tracer
 * ------------------------------------------------------------------------------------------------
 */

struct fxs_tracer {
    fxs_ctx *ctx;
    fxs_trace_options opt;
    fxs_module *root;
    fxs_graph *graph;
    fxs_arena arena;   /* what proxies hold; as long as the trace */
    fxs_arena scratch; /* for one call */
    fxs_map paths;     /* bytes of a module's address -> its first dotted path */
    fxs_map tensors; /* bytes of a parameter's spec or a constant's address -> fxs_traced_tensor */
    const fxs_scope *scope;
    const fxs_module *module; /* whose forward runs */
    fxs_place at;
    bool failed;
    int depth;
    fxs_value *held; /* counted results of what was computed during the trace */
    size_t nheld, held_cap;
    size_t nconstants;
};

/* A tensor that the root holds under a name. */
typedef struct fxs_traced_tensor {
    const char *path;
    fxs_parameter *param;
    fxs_node *node; /* of a parameter that was read: its one get_attr node */
} fxs_traced_tensor;

/* Sets the error, with place and module before it, and poisons the trace. */
fxs_proxy fxs_tracer_fail(fxs_tracer *t, fxs_status s, const char *fmt, ...) FXS_PRINTF(3, 4);
/* The same for an error that is kept already. */
fxs_proxy fxs_tracer_failed(fxs_tracer *t, fxs_status s);
static inline fxs_proxy fxs_poison(fxs_tracer *t) {
    return (fxs_proxy){.tracer = t, .kind = FXS_P_POISON};
}
/* What a call gives in which nothing knows of a trace: its place is kept for whoever meets it, and
 * so is that of a proxy among p that came about so. */
fxs_proxy fxs_poison_of(fxs_place at, size_t n, const fxs_proxy *p);
static inline fxs_proxy fxs_made(fxs_tracer *t, fxs_value v) {
    return (fxs_proxy){.tracer = t, .kind = FXS_P_VALUE, .u.value = v};
}
/* The first tracer among proxies, NULL when all are constants. Notes the place. */
fxs_tracer *fxs_tracer_of(fxs_place at, size_t n, const fxs_proxy *p);
/* Path of a module: the first under the root, or what the hook says. False: an error is set. */
bool fxs_tracer_path(fxs_tracer *t, const fxs_module *m, const char **path);
/* The root's names of its tensors. */
fxs_traced_tensor *fxs_tracer_tensor(const fxs_tracer *t, const fxs_tensor *tensor);
fxs_status fxs_tracer_add_tensor(fxs_tracer *t, const fxs_tensor *tensor, const char *path,
                                 fxs_parameter *p);

/* ---- from proxies to values (trace_value.c)
 * --------------------------------------------------------------------- */

/* A proxy as a value whose containers are in `a`. False: the trace is poisoned. */
bool fxs_proxy_value(fxs_tracer *t, fxs_arena *a, const fxs_proxy *p, fxs_value *out);
/* Positional arguments and keywords as a tuple and a dict in the scratch arena. */
bool fxs_proxy_arguments(fxs_tracer *t, size_t n, const fxs_proxy *p, fxs_value *args,
                         fxs_value *kwargs);
/* create_arg: tensors become get_attr nodes. */
fxs_status fxs_tracer_arg(fxs_tracer *t, const fxs_value *v, fxs_value *out);

/* ---- from values to nodes (trace_record.c)
 * ------------------------------------------------------------------------
 */

/* A node, with scope and source. */
fxs_status fxs_tracer_node(fxs_tracer *t, fxs_kind kind, const char *target, const fxs_value *args,
                           const fxs_value *kwargs, const char *type, fxs_node **out);
/* A call as torch.fx records it; what has no node in it is computed. */
fxs_proxy fxs_tracer_function(fxs_tracer *t, const char *name, const fxs_value *args,
                              const fxs_value *kwargs);
fxs_proxy fxs_tracer_method(fxs_tracer *t, const char *name, const fxs_value *args,
                            const fxs_value *kwargs);
/* The get_attr node of a tensor that the root holds. */
fxs_status fxs_tracer_get_attr(fxs_tracer *t, fxs_traced_tensor *of, fxs_node **out);

/* ---- how functions are spelled (trace_spelling.c)
 * -------------------------------------------------------------------
 */

typedef struct fxs_spelled {
    const char *target;
    bool method; /* it is a call_method */
    fxs_value args, kwargs;
} fxs_spelled;
/* What torch.fx sees when `name` is called so: F.relu(x) is torch.nn.functional.relu with all
 * keywords. */
FXS_API fxs_status fxs_spell(fxs_ctx *ctx, fxs_arena *a, const char *name, const fxs_value *args,
                             const fxs_value *kwargs, fxs_spelled *out);

/* ---- layers (trace_layer.c, trace_repr.c)
 * ---------------------------------------------------------------------------- */

/* What a layer's forward computes, for layers that are no leaves. */
fxs_proxy fxs_tracer_layer(fxs_tracer *t, fxs_module *m, const fxs_value *args,
                           const fxs_value *kwargs);
/* The forward of a layer that calls the layers in it; its parameters are its row's. NULL: it is one
 * call (trace_transformer.c). */
fxs_forward_fn *fxs_forward_of_parts(const fxs_module *m);
/* A module from one line in the style of its constructor, printing as print(model) shows it. */
fxs_status fxs_module_from_line(fxs_ctx *ctx, const char *text, size_t len, fxs_module **out);
fxs_status fxs_layer_from_constructor(fxs_text *t, const fxs_module_row *row, const fxs_value *args,
                                      const fxs_value *kwargs, fxs_module **out);
/* Puts under m what its row's .children says (trace_children.c). */
fxs_status fxs_layer_children(fxs_text *t, const fxs_layer *layer, fxs_module *m);

/* ---- the trace (trace_inputs.c)
 * ----------------------------------------------------------------------------------------- */

/* Placeholders for a forward's parameters, and what is passed for them: x[nparams]. */
fxs_status fxs_trace_inputs(fxs_tracer *t, const struct fxs_forward *f, fxs_proxy *x);
/* The output node, of the type that f returns: flat when the inputs were trees. */
fxs_status fxs_trace_output(fxs_tracer *t, const struct fxs_forward *f, const fxs_proxy *result);

#endif
