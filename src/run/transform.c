/* transform.c: torch.fx's Transformer: an interpreter whose values are nodes of a new graph.
 * Overridden methods say what each node becomes; by default, itself. */
#include <string.h>

#include "ir/pytree.h"
#include "run/interpreter.h"

static fxs_status new_node(fxs_interpreter *it, const fxs_node *n, const fxs_value *args,
                           const fxs_value *kwargs, fxs_value *result) {
    fxs_node *node;
    const char *name = n->kind == FXS_PLACEHOLDER ? n->name : NULL;
    FXS_TRY(fxs_graph_create_node(it->target, n->kind, n->target, args, kwargs, name, NULL, &node));
    *result = fxs_of_node(node);
    return FXS_OK;
}

static fxs_status no_target(const fxs_interpreter *it) {
    return fxs_fail(it->ctx, FXS_EINVAL,
                    it->transformed
                        ? "this transformer has run, and its graph belongs to the module that came "
                          "of it: make another one"
                        : "this interpreter computes; fxs_transformer_new makes one that records");
}

fxs_status fxs_transformer_record(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                                  const fxs_value *kwargs, fxs_value *result) {
    if (!it->target)
        return no_target(it);
    return new_node(it, n, args, kwargs, result);
}

fxs_graph *fxs_transformer_graph(const fxs_interpreter *it) { return it->target; }

fxs_status fxs_transformer_new(fxs_module *m, const fxs_interpreter_options *opt,
                               fxs_interpreter **out) {
    fxs_interpreter_options own = opt ? *opt : (fxs_interpreter_options){0};
    fxs_interpreter_methods *x = &own.methods;
    x->placeholder = x->placeholder ? x->placeholder : fxs_transformer_record;
    x->get_attr = x->get_attr ? x->get_attr : fxs_transformer_record;
    x->call_function = x->call_function ? x->call_function : fxs_transformer_record;
    x->call_method = x->call_method ? x->call_method : fxs_transformer_record;
    x->call_module = x->call_module ? x->call_module : fxs_transformer_record;
    FXS_TRY(fxs_interpreter_new(m, &own, out));
    fxs_status s = fxs_graph_new(m->ctx, &(*out)->target);
    if (s == FXS_OK)
        s = fxs_pytree_copy((*out)->target, m->graph);
    if (s != FXS_OK) {
        fxs_interpreter_free(*out);
        *out = NULL;
    }
    return s;
}

fxs_status fxs_transformer_run(fxs_interpreter *it, fxs_module **out) {
    fxs_value result;
    fxs_node *output;
    *out = NULL;
    if (!it->target)
        return no_target(it);
    FXS_TRY(fxs_interpreter_run_flat(it, NULL, 0, &result));
    fxs_status s = FXS_OK;
    if (result.tag != FXS_V_NONE) /* as in torch.fx, None makes a graph without output */
        s = fxs_graph_output(it->target, &result, &output);
    fxs_value_unref(&result);
    if (s == FXS_OK)
        s = fxs_module_with_graph(it->root, "GraphModule", it->target, out);
    if (s != FXS_OK) {
        fxs_module_unref(*out);
        *out = NULL;
        return s;
    }
    it->target = NULL; /* the module owns it now */
    it->transformed = true;
    return FXS_OK;
}
