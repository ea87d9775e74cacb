/* module.h: the module tree. A module has a class, the arguments that print(model) shows,
 * parameters, buffers, children, and perhaps a graph. Parameters get their values when they are
 * read, never before. */
#ifndef FXS_IR_MODULE_H
#define FXS_IR_MODULE_H

#include "ir/graph.h"
#include "op/module_row.h"

/* A parameter or buffer; counted, so that several modules may share one. */
typedef struct fxs_parameter {
    int refs;
    bool is_buffer, implied; /* implied: follows from the layer's class and arguments */
    bool declared;    /* implied, but declared with another precision: a file has to say so */
    bool given;       /* the values were given, and can't be made again */
    bool counted;     /* seen, while parameters are counted */
    bool here;        /* its values were read or made before, and are in memory */
    fxs_tensor *spec; /* meta tensor: dtype, sizes, requires_grad */
    fxs_tensor *data; /* NULL until it is read */
    fxs_init init;
    double bound;
    uint64_t seed;              /* from the name under which it was made */
    const fxs_module *made_for; /* names it in messages; not counted; NULL once it is gone */
} fxs_parameter;

typedef struct fxs_attribute {
    char *name;
    fxs_parameter *param;
} fxs_attribute;

typedef struct fxs_child {
    char *name;
    fxs_module *module;
} fxs_child;

struct fxs_module {
    int refs;
    fxs_ctx *ctx;
    uint64_t id; /* no other module of the context ever has it */
    char *class_name;
    fxs_value args, kwargs; /* on the heap: a tuple and a dict */
    char *extra; /* lines of extra_repr that are no argument list, each with '\n' behind; NULL: none
                  */
    size_t nhidden;            /* of the kwargs, the last ones, which print(model) does not show */
    bool eval;                 /* it was told train(False): traces of its forward see that */
    const fxs_module_row *row; /* NULL: the class is not known */
    fxs_attribute *attributes;
    size_t nattributes, attributes_cap;
    fxs_child *children;
    size_t nchildren, children_cap;
    fxs_map child_names, attribute_names; /* name -> index + 1 */
    fxs_graph *graph;                     /* owned */
    struct fxs_layer_plan *plans[2]; /* owned: in evaluation, in training (layer_plan.h); made when
                                        it is called */
    struct fxs_forward
        *forward; /* owned: what a trace runs for it (front/trace.h); NULL: it is a layer */
    void (*forward_free)(struct fxs_forward *f);
};

/* A parameter that is declared, and whose initialiser nobody knows: uniform within this. */
#define FXS_DECLARED_BOUND 0.05

/* A module without the state that its class implies. */
fxs_status fxs_module_new_bare(fxs_ctx *ctx, const char *class_name, fxs_module **out);
/* Puts a tensor that is there already under a name that is free; counts it. */
fxs_status fxs_module_add_constant(fxs_module *m, const char *name, fxs_tensor *t);
/* Whether a child can be put under that name: a legal name, and m is not in it. */
fxs_status fxs_module_check_child(const fxs_module *m, const char *name, const fxs_module *child);
/* fxs_module_add_child without those checks but that the name is free: for a module that nobody
 * holds yet, and a name that another module gave. */
fxs_status fxs_module_adopt_child(fxs_module *m, const char *name, fxs_module *child);
/* A child by name (no dots); NULL when it is not there. */
fxs_module *fxs_module_child(const fxs_module *m, const char *name, size_t len);
fxs_parameter *fxs_module_attribute(const fxs_module *m, const char *name, size_t len);
/* Follows a dotted path as far as it goes. Gives the module (all parts are modules), or the
 * parameter (the last part is one); where neither is there, *missing is the part that was not found
 * and *parent the module it was looked for in. */
typedef struct fxs_lookup {
    fxs_module *module;
    fxs_parameter *param;
    const fxs_module *parent;
    const char *missing;
    size_t missing_len, prefix_len; /* of the path before the missing part, without its dot */
} fxs_lookup;
fxs_lookup fxs_module_lookup(const fxs_module *m, const char *path);
/* The same for n's target below its graph's root; a module that was found is remembered in n. */
fxs_lookup fxs_module_lookup_target(const fxs_module *root, fxs_node *n);

/* The module that n's target named when it was last looked up below that root, while nothing but a
 * removal could have taken it from there; NULL: it is to be looked up. */
static inline fxs_module *fxs_module_remembered(const fxs_module *root, const fxs_node *n) {
    const fxs_found *f = &n->found;
    bool same = f->target == n->target && f->root == root->id && f->removals == root->ctx->removals;
    return same ? f->module : NULL;
}

/* Binds a module's arguments to its row (row must not be NULL); names go to `a`. */
fxs_status fxs_module_layer(const fxs_module *m, fxs_arena *a, fxs_layer *out);
/* Puts an existing parameter under a second name: tied weights. */
fxs_status fxs_module_share(fxs_module *m, const char *name, fxs_parameter *p);
/* The same at a dotted path; plain modules are made on the way. */
fxs_status fxs_module_share_at(fxs_module *m, const char *path, fxs_parameter *p);
/* The values: made now if they were not there. Borrowed from p. */
fxs_status fxs_parameter_read(fxs_ctx *ctx, fxs_parameter *p, fxs_tensor **out);
/* Drops values that can be made again. */
void fxs_parameter_drop(fxs_parameter *p);
/* Sets seeds from dotted names, so that values do not depend on the order of construction. Call
 * once on the root. */
fxs_status fxs_module_name_parameters(fxs_module *root);

/* A module of that class with m's own children and tensors (the same objects) and another graph,
 * which it takes over. After an error *out is NULL, and g is still the caller's. */
fxs_status fxs_module_with_graph(const fxs_module *m, const char *class_name, fxs_graph *g,
                                 fxs_module **out);
/* Calls fn for m and everything below, parents first; path is dotted ("" for m). Stops at the first
 * bad status. */
typedef fxs_status fxs_module_fn(void *user, const char *path, fxs_module *m);
fxs_status fxs_module_walk(fxs_module *m, fxs_module_fn *fn, void *user);
/* Elements of the parameters of several modules, NULLs among them, each parameter once. */
int64_t fxs_modules_parameter_count(const fxs_module *const *m, size_t n);
/* Elements of m's own parameters (no children, no buffers). */
int64_t fxs_module_own_parameters(const fxs_module *m);

#endif
